/* The motion under forces that may depend on constraint forces.
 *
 * 1. Q and C given:   M x = Q + u + A^T l  (ideal),   M x' = C + A^T l', A x' = 0  (what C adds);
 *    by linearity q'' is the sum. Qi comes from the first, Qni = C + A^T l' from the second, the
 *    projection of C where M > 0.                                                  [UK02 (37), (38)]
 * 2. C depends on Qi (friction under the normal reaction): two passes; Qi does not depend on C.
 * 3. Laws in the total reaction, or in Qi where a servo reacts to C, are implicit. With rho the
 *    multipliers the law is told, rho -> Q, C -> motion -> multipliers closes a loop:
 *        F(rho) = multipliers(rho) - rho = 0,
 *    solved by Newton's method with difference quotients. Such laws have |rho| in them: starts with
 *    every pattern of signs find further solutions, or show that none is reached (Painleve 1895).
 *    Verified: test/unit/dynamics/test_law.c
 */
#include "dynamics/formulations/workspace.h"

/* ---- 1. the motion --------------------------------------------------------------------------- */

static void add_servos(hmi_dynamics *d, const hmi_equations *e, const double *none)
{
    size_t mark = d->scratch_used;
    int n = d->n;
    hmi_motion *motion = &d->motion;
    double *x = hmi_take(d, (size_t)n), *l = hmi_take(d, (size_t)d->m);
    double *sum = hmi_take(d, (size_t)n);
    hmi_copy(n, motion->ideal, x);
    hmi_axpy(n, 1, motion->extra, x);
    hmi_servo_forces(d, e, x, motion->u);
    hmi_zero(n, sum);
    for (int i = 0; i < e->servo_count; i++)
        hmi_axpy(n, 1, motion->u + hmi_area(i, n), sum);
    hmi_solve_scaled(d, sum, none, x, l);
    hmi_axpy(n, 1, x, motion->ideal);
    hmi_axpy(d->rank, 1, l, motion->ideal_l);
    d->scratch_used = mark;
}

/* Everything that follows from motion->Q and motion->C. */
static void find_motion(hmi_dynamics *d, const hmi_equations *e)
{
    size_t mark = d->scratch_used;
    hmi_motion *motion = &d->motion;
    double *none = hmi_take(d, (size_t)d->m);
    hmi_zero(d->m, none);
    hmi_solve_scaled(d, motion->Q, d->b, motion->ideal, motion->ideal_l);
    hmi_zero(d->n, motion->extra);
    hmi_zero(d->rank, motion->extra_l);
    if (hmi_max_abs(d->n, motion->C) > 0)
        hmi_solve_scaled(d, motion->C, none, motion->extra, motion->extra_l);
    if (e->servo_count > 0)
        add_servos(d, e, none);
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

/* motion->Q, C := the law under these multipliers (scaled, of the independent rows). */
static bool apply_law(hmi_dynamics *d, const hmi_equations *e, const double *ideal_l,
                      const double *total_l)
{
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
    if (good)
        load_forces(d, Q, C);
    d->scratch_used = mark;
    return good;
}

/* ---- 3. implicit laws ------------------------------------------------------------------------ */

/* The loop: unknowns rho = (ideal_l if told, total_l if told). */
typedef struct loop {
    hmi_dynamics *d;
    const hmi_equations *e;
    bool ideal, total;
    int size;
    double *none; /* m zeros */
} loop;

/* next := multipliers(rho) */
static bool go_round(loop *p, const double *rho, double *next)
{
    hmi_dynamics *d = p->d;
    const double *total = p->total ? rho + (p->ideal ? d->rank : 0) : p->none;
    if (!apply_law(d, p->e, p->ideal ? rho : p->none, total))
        return false;
    find_motion(d, p->e);
    if (p->ideal)
        hmi_copy(d->rank, d->motion.ideal_l, next);
    for (int k = 0; p->total && k < d->rank; k++)
        next[(p->ideal ? d->rank : 0) + k] = d->motion.ideal_l[k] + d->motion.extra_l[k];
    return true;
}

/* F := multipliers(rho) - rho */
static bool defect(loop *p, const double *rho, double *F)
{
    if (!go_round(p, rho, F))
        return false;
    hmi_axpy(p->size, -1, rho, F);
    return true;
}

/* J := dF/drho by differences, row-major */
static bool differences(loop *p, double *rho, const double *F, double scale, double *J)
{
    size_t mark = p->d->scratch_used;
    double *other = hmi_take(p->d, (size_t)p->size);
    bool good = true;
    for (int j = 0; good && j < p->size; j++) {
        double kept = rho[j], step = 1e-7 * fmax(fabs(kept), 1e-3 * scale);
        rho[j] = kept + step;
        step = rho[j] - kept;
        good = defect(p, rho, other);
        rho[j] = kept;
        for (int i = 0; good && i < p->size; i++)
            J[hmi_area(i, p->size) + (size_t)j] = (other[i] - F[i]) / step;
    }
    p->d->scratch_used = mark;
    return good;
}

/* Tries rho + t step for t = 1, 1/2, ..., 1/64 and keeps the best; false when none is better. */
static bool search_line(loop *p, double *rho, double *F, const double *step)
{
    size_t mark = p->d->scratch_used, size = (size_t)p->size;
    double *trial = hmi_take(p->d, size), *G = hmi_take(p->d, size);
    double *best = hmi_take(p->d, size), least = hmi_max_abs(p->size, F), t = 1;
    bool better = false;
    hmi_copy(p->size, rho, best);
    for (int k = 0; k < 7; k++, t /= 2) {
        hmi_copy(p->size, rho, trial);
        hmi_axpy(p->size, t, step, trial);
        if (!defect(p, trial, G) || !(hmi_max_abs(p->size, G) < least))
            continue;
        least = hmi_max_abs(p->size, G);
        hmi_copy(p->size, trial, best);
        hmi_copy(p->size, G, F);
        better = true;
        if (k == 0)
            break;
    }
    hmi_copy(p->size, best, rho);
    p->d->scratch_used = mark;
    return better;
}

/* Newton's method from rho; true when the loop closes to rounding. */
static bool close_loop(loop *p, double *rho, double scale)
{
    size_t mark = p->d->scratch_used, size = (size_t)p->size;
    double *F = hmi_take(p->d, size), *step = hmi_take(p->d, size),
           *J = hmi_take(p->d, size * size);
    int *pivots = p->d->law_ints;
    bool good = defect(p, rho, F);
    for (int k = 0; good && k < 40; k++) {
        if (hmi_max_abs(p->size, F) <= 1e-14 * fmax(scale, hmi_max_abs(p->size, rho)))
            break;
        if (!differences(p, rho, F, scale, J) || !hmi_lu(p->size, J, pivots, 1e-300))
            break;
        for (int i = 0; i < p->size; i++)
            step[i] = -F[i];
        hmi_lu_solve(p->size, J, pivots, step);
        if (!hmi_all_finite(p->size, step) || !search_line(p, rho, F, step))
            break;
    }
    good = good && hmi_max_abs(p->size, F) <= 1e-10 * fmax(scale, hmi_max_abs(p->size, rho));
    p->d->scratch_used = mark;
    return good;
}

/* Start number k: the ideal solution, then its signs turned in every pattern (up to six unknowns;
 * beyond, one sign at a time and all of them). False when there are no more. */
static bool choose_start(const loop *p, int k, const double *base, double scale, double *rho)
{
    int patterns = p->size <= 6 ? 1 << p->size : p->size + 2;
    if (k > patterns)
        return false;
    hmi_copy(p->size, base, rho);
    for (int i = 0; k > 0 && i < p->size; i++) {
        int bits = k - 1;
        bool turn = p->size <= 6 ? (bits >> i & 1) != 0 : bits == i || bits == p->size;
        double size = fmax(fabs(base[i]), 0.1 * scale);
        rho[i] = (base[i] < 0) != turn ? -size : size;
    }
    return true;
}

static bool differs(int size, const double *x, const double *y, double scale)
{
    for (int i = 0; i < size; i++)
        if (fabs(x[i] - y[i]) > 1e-6 * scale)
            return true;
    return false;
}

/* Solves the loop, counts solutions from all starts (or stops at the first). A start or a step
 * where the law cannot be evaluated leads nowhere; others may. */
static void search_solutions(loop *p, const double *base, bool all, double *rho,
                             hmi_verdict *verdict)
{
    size_t mark = p->d->scratch_used;
    double *trial = hmi_take(p->d, (size_t)p->size);
    double scale = fmax(hmi_max_abs(p->size, base), hmi_max_abs(p->d->n, p->d->motion.Q));
    scale = fmax(scale, hmi_max_abs(p->d->rank, p->d->b));
    verdict->law_solutions = verdict->law_starts = 0;
    for (int k = 0; choose_start(p, k, base, scale, trial); k++) {
        verdict->law_starts++;
        if (!close_loop(p, trial, scale))
            continue;
        if (verdict->law_solutions == 0) {
            hmi_copy(p->size, trial, rho);
            verdict->law_solutions = 1;
        } else if (differs(p->size, trial, rho, fmax(scale, hmi_max_abs(p->size, rho)))) {
            verdict->law_solutions = 2;
        }
        if (!all || verdict->law_solutions == 2)
            break;
    }
    p->d->scratch_used = mark;
}

static hm_status move_implicitly(loop *p, hmi_effort effort, hmi_verdict *verdict)
{
    hmi_dynamics *d = p->d;
    double *base = hmi_take(d, (size_t)p->size), *rho = hmi_take(d, (size_t)p->size);
    double *next = hmi_take(d, (size_t)p->size);
    /* the ideal motion, with the law told that there are no reactions (if it can stand that) */
    if (!apply_law(d, p->e, p->none, p->none))
        load_forces(d, p->e->Q, NULL);
    hmi_zero(d->n, d->motion.C);
    find_motion(d, p->e);
    for (int k = 0; k < p->size; k++)
        base[k] = d->motion.ideal_l[k % d->rank];
    hmi_copy(p->size, base, rho);
    search_solutions(p, base, effort >= HMI_VERDICT, rho, verdict);
    if (!go_round(p, rho, next))
        return HM_ERR_NUMERIC;
    return verdict->law_solutions == 1 ? HM_OK : HM_ERR_UNDETERMINED;
}

/* ---- the three ways -------------------------------------------------------------------------- */

static hm_status move_in_two_passes(hmi_dynamics *d, const hmi_equations *e, const double *none)
{
    load_forces(d, e->Q, NULL);
    if (e->law->uses_ideal)
        find_motion(d, e);
    else
        hmi_zero(d->rank, d->motion.ideal_l);
    if (!apply_law(d, e, d->motion.ideal_l, none))
        return HM_ERR_NUMERIC;
    find_motion(d, e);
    return HM_OK;
}

hm_status hmi_move(hmi_dynamics *d, const hmi_equations *equations, hmi_effort effort,
                   hmi_verdict *verdict)
{
    size_t mark = d->scratch_used;
    const hmi_reaction_law *law = equations->law;
    verdict->law_solutions = 1;
    verdict->law_starts = 0;
    if (!law) {
        load_forces(d, equations->Q, equations->C);
        find_motion(d, equations);
        return HM_OK;
    }
    loop p = {.d = d, .e = equations, .none = hmi_take(d, (size_t)d->m)};
    hmi_zero(d->m, p.none);
    p.total = law->uses_total;
    p.ideal = law->uses_ideal && (law->uses_total || equations->servo_count > 0);
    p.size = d->rank * (p.total + p.ideal);
    hm_status status = p.size > 0 ? move_implicitly(&p, effort, verdict)
                                  : move_in_two_passes(d, equations, p.none);
    d->scratch_used = mark;
    return status;
}
