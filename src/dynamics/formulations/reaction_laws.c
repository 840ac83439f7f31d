/* The motion under forces that may depend on constraint forces.
 *
 * 1. Q and C given:   M x = Q + u + A^T l  (ideal),   M x' = C + A^T l', A x' = 0  (what C adds);
 *    by linearity q'' is the sum. Qi comes from the first, Qni = C + A^T l' from the second, the
 *    projection of C where M > 0.                                                  [UK02 (37), (38)]
 * 2. C depends on Qi (friction under the normal reaction): two passes; Qi does not depend on C.
 * 3. Laws in the total reaction are implicit: implicit_law.c.
 * 4. Control forces change the reactions, and so the law, and so what they have to do:
 *    servo_beside_law.c.
 *    Verified: test/unit/dynamics/test_law.c
 */
#include "dynamics/formulations/laws.h"

/* ---- 1. the motion --------------------------------------------------------------------------- */

void hmi_move_under(hmi_dynamics *d, const double *u)
{
    size_t mark = d->scratch_used;
    hmi_motion *motion = &d->motion;
    double *none = hmi_take(d, (size_t)d->m), *Q = hmi_take(d, (size_t)d->n);
    hmi_zero(d->m, none);
    hmi_copy(d->n, motion->Q, Q);
    hmi_axpy(d->n, 1, u, Q);
    hmi_solve_scaled(d, Q, d->b, motion->ideal, motion->ideal_l);
    hmi_zero(d->n, motion->extra);
    hmi_zero(d->rank, motion->extra_l);
    if (hmi_max_abs(d->n, motion->C) > 0)
        hmi_solve_scaled(d, motion->C, none, motion->extra, motion->extra_l);
    d->scratch_used = mark;
}

/* Servos lead the motion just found: their forces, and what the passive constraints make of them. */
static void add_servos(hmi_dynamics *d, const hmi_equations *e)
{
    size_t mark = d->scratch_used;
    int n = d->n;
    hmi_motion *motion = &d->motion;
    double *x = hmi_take(d, (size_t)n), *l = hmi_take(d, (size_t)d->m);
    double *sum = hmi_take(d, (size_t)n), *none = hmi_take(d, (size_t)d->m);
    hmi_zero(d->m, none);
    hmi_copy(n, motion->ideal, x);
    hmi_axpy(n, 1, motion->extra, x);
    hmi_servo_forces(d, e, x, motion->u);
    hmi_servo_limit(d, e, motion->u);
    hmi_zero(n, sum);
    for (int i = 0; i < e->servo_count; i++)
        hmi_axpy(n, 1, motion->u + hmi_area(i, n), sum);
    hmi_solve_scaled(d, sum, none, x, l);
    hmi_axpy(n, 1, x, motion->ideal);
    hmi_axpy(d->rank, 1, l, motion->ideal_l);
    d->scratch_used = mark;
}

/* ---- the law --------------------------------------------------------------------------------- */

/* force[n], lambda[m]: the reaction A^T lambda and its multipliers, as the model sees them */
static void model_reaction(hmi_dynamics *d, const double *l, double *force, double *lambda)
{
    hmi_zero(d->n, force);
    hmi_row_force(d, l, force);
    for (int i = 0; i < d->n; i++)
        force[i] /= d->D[i];
    hmi_model_multipliers(d, l, lambda);
}

static void load_forces(hmi_dynamics *d, const double *Q, const double *C)
{
    hmi_times(d->n, Q, d->D, d->motion.Q);
    if (C)
        hmi_times(d->n, C, d->D, d->motion.C);
    else
        hmi_zero(d->n, d->motion.C);
}

/* Q and C between the equations without the law and those with it. */
static void take_share(const hmi_law_loop *p, double *Q, double *C)
{
    for (int i = 0; i < p->d->n; i++) {
        double Q0 = p->e->Q[i], C0 = p->e->C ? p->e->C[i] : 0;
        Q[i] = Q0 + p->share * (Q[i] - Q0);
        C[i] = C0 + p->share * (C[i] - C0);
    }
}

bool hmi_tell_law(hmi_law_loop *p, const double *told)
{
    hmi_dynamics *d = p->d;
    const hmi_equations *e = p->e;
    const double *ideal_l = p->ideal ? told : p->nothing;
    const double *total_l = p->total ? told + (p->ideal ? d->rank : 0) : p->nothing;
    size_t mark = d->scratch_used, n = (size_t)d->n, m = (size_t)d->m;
    double *ideal = hmi_take(d, n), *total = hmi_take(d, n);
    double *ideal_lambda = hmi_take(d, m), *total_lambda = hmi_take(d, m);
    double *Q = hmi_take(d, n), *C = hmi_take(d, n);
    model_reaction(d, ideal_l, ideal, ideal_lambda);
    model_reaction(d, total_l, total, total_lambda);
    hmi_copy(d->n, e->Q, Q);
    hmi_zero(d->n, C);
    if (e->C)
        hmi_copy(d->n, e->C, C);
    hmi_reactions reactions = {ideal, ideal_lambda, total, total_lambda};
    bool good = e->law->evaluate(e->law->user, &reactions, Q, C) == 0 && hmi_all_finite(d->n, Q) &&
                hmi_all_finite(d->n, C);
    if (good && p->share < 1)
        take_share(p, Q, C);
    if (good)
        load_forces(d, Q, C);
    d->scratch_used = mark;
    return good;
}

void hmi_read_told(const hmi_law_loop *p, double *told)
{
    const hmi_motion *motion = &p->d->motion;
    int rank = p->d->rank;
    if (p->ideal)
        hmi_copy(rank, motion->ideal_l, told);
    for (int k = 0; p->total && k < rank; k++)
        told[(p->ideal ? rank : 0) + k] = motion->ideal_l[k] + motion->extra_l[k];
}

double hmi_ideal_start(hmi_law_loop *p, double *told)
{
    hmi_dynamics *d = p->d;
    load_forces(d, p->e->Q, NULL);
    hmi_move_under(d, p->u);
    hmi_read_told(p, told);
    double scale = fmax(hmi_max_abs(p->size, told), hmi_max_abs(d->n, d->motion.Q));
    return fmax(scale, hmi_max_abs(d->rank, d->b));
}

bool hmi_choose_start(const hmi_law_loop *p, int k, const double *base, double scale, double *told)
{
    int patterns = p->size <= 6 ? 1 << p->size : p->size + 2;
    if (k > patterns)
        return false;
    hmi_copy(p->size, base, told);
    for (int i = 0; k > 0 && i < p->size; i++) {
        int bits = k - 1;
        bool turn = p->size <= 6 ? (bits >> i & 1) != 0 : bits == i || bits == p->size;
        double size = fmax(fabs(base[i]), 0.1 * scale);
        told[i] = (base[i] < 0) != turn ? -size : size;
    }
    return true;
}

bool hmi_told_differ(int size, const double *x, const double *y, double scale)
{
    for (int i = 0; i < size; i++)
        if (fabs(x[i] - y[i]) > 1e-6 * scale)
            return true;
    return false;
}

/* ---- 2. two passes --------------------------------------------------------------------------- */

static hm_status move_in_two_passes(hmi_law_loop *p)
{
    hmi_dynamics *d = p->d;
    double *told = hmi_take(d, (size_t)p->size);
    hmi_ideal_start(p, told);
    if (!hmi_tell_law(p, told))
        return HM_ERR_NUMERIC;
    hmi_move_under(d, p->u);
    return HM_OK;
}

/* ---- all of them ----------------------------------------------------------------------------- */

static hm_status move_by_law(hmi_law_loop *p, hmi_effort effort, hmi_verdict *verdict)
{
    bool servos = p->e->servo_count > 0;
    if (servos && p->size > 0)
        return hmi_servos_beside_law(p, effort, verdict);
    hm_status status = p->total && p->size > 0 ? hmi_close_law(p, NULL, effort, verdict)
                                               : move_in_two_passes(p);
    if (servos && status == HM_OK)
        add_servos(p->d, p->e);
    return status;
}

hm_status hmi_move(hmi_dynamics *d, const hmi_equations *equations, hmi_effort effort,
                   hmi_verdict *verdict)
{
    size_t mark = d->scratch_used;
    const hmi_reaction_law *law = equations->law;
    double *rest = hmi_take(d, (size_t)d->n);
    hm_status status = HM_OK;
    hmi_zero(d->n, rest);
    verdict->law_solutions = 1;
    verdict->law_starts = 0;
    if (!law) {
        load_forces(d, equations->Q, equations->C);
        hmi_move_under(d, rest);
        if (equations->servo_count > 0)
            add_servos(d, equations);
    } else {
        hmi_law_loop p = {.d = d, .e = equations, .u = rest, .share = 1};
        p.ideal = law->uses_ideal;
        p.total = law->uses_total;
        p.size = d->rank * (p.total + p.ideal);
        p.nothing = hmi_take(d, (size_t)d->m);
        hmi_zero(d->m, p.nothing);
        status = move_by_law(&p, effort, verdict);
    }
    d->scratch_used = mark;
    return status;
}
