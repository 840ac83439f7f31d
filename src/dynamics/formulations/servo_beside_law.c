/* Servos beside a law that uses reactions: u changes the reactions, these change the law's forces, and these what
 * u has to do. Of all u on the actuators that lead to the servo rows, these effects included, the one of least cost
 * u^T M^-1 u is wanted (servo.c), not the one that is cheapest while the law's forces stand still.
 *
 * The law linearised where it is told tau: with f = (Q, C) there, P the passive system's answer to forces and T the
 * multipliers of the answers to df/dtau,
 *     d tau = (I - T)^-1 (multipliers under f and u  -  tau),     x = x0 + G w:
 * again a motion that is linear in the forces w of the actuators, with which servo.c finds the cheapest. That is
 * repeated where the law is then told, until nothing moves (a fixed point satisfies the conditions of a constrained
 * minimum exactly). Laws have |reaction| in them, so that there may be several minima: signs of tau are turned in
 * every pattern to start with, and the cheapest is kept.
 * Verified by minimisation without this theory: test/unit/dynamics/test_servo_law.c
 */
#include "dynamics/formulations/laws.h"

/* The law linearised, and where it was. */
typedef struct linear_law {
    double *slopes;        /* size x 2n: d(Q, C)/dtau */
    double *answers;       /* size x n: x under them */
    double *S;             /* size x size: I - T, factored */
    double *column_answer; /* columns x n: of the passive system alone, */
    double *column_told;   /* columns x size: and its multipliers, as the law is told them */
    double *offset;        /* size: d tau without control forces */
} linear_law;

/* One solution of the whole. */
typedef struct candidate {
    double *told, *u; /* size, servos x n */
    double cost;
} candidate;

typedef struct search {
    hmi_law_loop *p;
    linear_law law;
    double scale;
    double *none, *rest;  /* m and n zeros */
    candidate best, next; /* next: under way */
    int solutions;        /* 0, 1, or 2: as cheap as each other */
    double open;          /* the least cost that a start without an end came to */
} search;

/* ---- the linear motion ----------------------------------------------------------------------- */

/* told := multipliers (l of the ideal part, extra of C) laid out as the law is told them */
static void lay_out_told(const hmi_law_loop *p, const double *l, const double *extra, double *told)
{
    int rank = p->d->rank;
    if (p->ideal)
        hmi_copy(rank, l, told);
    for (int k = 0; p->total && k < rank; k++)
        told[(p->ideal ? rank : 0) + k] = l[k] + extra[k];
}

/* The passive system under a unit force on every actuator: once for all. */
static void answer_actuators(search *s)
{
    hmi_dynamics *d = s->p->d;
    size_t mark = d->scratch_used;
    double *unit = hmi_take(d, (size_t)d->n), *l = hmi_take(d, (size_t)d->m);
    for (int c = 0; c < d->servo.columns; c++) {
        hmi_zero(d->n, unit);
        unit[d->servo.coordinate[c]] = 1;
        hmi_solve_scaled(d, unit, s->none, s->law.column_answer + hmi_area(c, d->n), l);
        lay_out_told(s->p, l, s->none, s->law.column_told + hmi_area(c, s->p->size));
    }
    d->scratch_used = mark;
}

/* answers, S: what the passive system makes of the slopes. False where the feedback is singular. */
static bool answer_slopes(search *s)
{
    hmi_dynamics *d = s->p->d;
    linear_law *law = &s->law;
    size_t mark = d->scratch_used;
    int size = s->p->size, n = d->n;
    double *l = hmi_take(d, (size_t)d->m), *extra = hmi_take(d, (size_t)d->m);
    double *x = hmi_take(d, (size_t)n), *column = hmi_take(d, (size_t)size);
    for (int k = 0; k < size; k++) {
        const double *slope = law->slopes + hmi_area(k, 2 * n);
        hmi_solve_scaled(d, slope, s->none, law->answers + hmi_area(k, n), l);
        hmi_solve_scaled(d, slope + n, s->none, x, extra);
        hmi_axpy(n, 1, x, law->answers + hmi_area(k, n));
        lay_out_told(s->p, l, extra, column);
        for (int i = 0; i < size; i++)
            law->S[hmi_area(i, size) + (size_t)k] = (i == k) - column[i];
    }
    d->scratch_used = mark;
    return hmi_all_finite(size * size, law->S) && hmi_lu(size, law->S, d->law_ints, 1e-13);
}

/* x += what the law adds when it is told `change` more */
static void add_law(const search *s, const double *change, double *x)
{
    int n = s->p->d->n;
    for (int k = 0; k < s->p->size; k++)
        hmi_axpy(n, change[k], s->law.answers + hmi_area(k, n), x);
}

/* servo.G := the answers to unit forces on actuators, the law's reaction included */
static void answer_with_law(search *s)
{
    hmi_dynamics *d = s->p->d;
    size_t mark = d->scratch_used;
    int size = s->p->size, n = d->n;
    double *change = hmi_take(d, (size_t)size);
    for (int c = 0; c < d->servo.columns; c++) {
        double *G = d->servo.G + hmi_area(c, n);
        hmi_copy(n, s->law.column_answer + hmi_area(c, n), G);
        hmi_copy(size, s->law.column_told + hmi_area(c, size), change);
        hmi_lu_solve(size, s->law.S, d->law_ints, change);
        add_law(s, change, G);
    }
    d->scratch_used = mark;
}

/* Linearises where the law is told s->next.told; x0: the linear motion without control forces. */
static bool linearise(search *s, double *x0)
{
    hmi_law_loop *p = s->p;
    hmi_dynamics *d = p->d;
    if (!hmi_law_slopes(p, s->next.told, s->scale, s->law.slopes) || !answer_slopes(s))
        return false;
    hmi_move_under(d, s->rest);
    hmi_read_told(p, s->law.offset);
    hmi_axpy(p->size, -1, s->next.told, s->law.offset);
    hmi_lu_solve(p->size, s->law.S, d->law_ints, s->law.offset);
    hmi_copy(d->n, d->motion.ideal, x0);
    hmi_axpy(d->n, 1, d->motion.extra, x0);
    add_law(s, s->law.offset, x0);
    answer_with_law(s);
    hmi_servo_find_reach(d);
    return hmi_all_finite(d->n, x0);
}

/* ---- a step ---------------------------------------------------------------------------------- */

/* change := what the law is told more when these control forces act, by the linear law */
static void tell_forces(search *s, const double *u, double *change)
{
    hmi_dynamics *d = s->p->d;
    const hmi_servo_space *space = &d->servo;
    int size = s->p->size;
    hmi_zero(size, change);
    for (int t = 0; t < space->count; t++) {
        int group = space->group[t];
        for (int c = space->first_column[group]; c < space->first_column[group + 1]; c++)
            hmi_axpy(size, u[hmi_area(t, d->n) + (size_t)space->coordinate[c]],
                     s->law.column_told + hmi_area(c, size), change);
    }
    hmi_lu_solve(size, s->law.S, d->law_ints, change);
    hmi_axpy(size, 1, s->law.offset, change);
}

/* The cheapest forces of the linear motion, and what the law is told then. *moved: by how much both changed,
 * relative to their size. */
static bool step(search *s, double part, double *moved)
{
    hmi_dynamics *d = s->p->d;
    size_t mark = d->scratch_used;
    int size = s->p->size, forces = d->servo.count * d->n;
    double *x0 = hmi_take(d, (size_t)d->n), *u = hmi_take(d, (size_t)forces);
    double *change = hmi_take(d, (size_t)size);
    bool good = linearise(s, x0);
    if (good) {
        hmi_servo_forces(d, s->p->e, x0, u);
        tell_forces(s, u, change);
        double width = hmi_max_abs(size, change), large = s->scale;
        for (int i = 0; i < forces; i++)
            width = fmax(width, fabs(u[i] - s->next.u[i]));
        large = fmax(large, fmax(hmi_max_abs(size, s->next.told), hmi_max_abs(forces, u)));
        *moved = width > 0 ? width / large : 0;
        hmi_copy(forces, u, s->next.u);
        hmi_axpy(size, part, change, s->next.told);
        s->next.cost = hmi_servo_cost(d, u);
        good = hmi_all_finite(forces, u) && hmi_all_finite(size, s->next.told);
    }
    d->scratch_used = mark;
    return good;
}

/* Steps from s->next.told until nothing moves; steps that do not become smaller are shortened. False: no end. */
static bool settle(search *s)
{
    enum { MOST_STEPS = 80 };
    double last = INFINITY, moved = INFINITY, part = 1;
    hmi_zero(s->p->d->servo.count * s->p->d->n, s->next.u);
    for (int k = 0; k < MOST_STEPS; k++) {
        if (!step(s, part, &moved)) {
            s->next.cost = INFINITY;
            return false;
        }
        if (moved <= 1e-14 || (moved <= 1e-11 && moved >= 0.5 * last))
            return true;
        if (k > 3 && moved > 0.7 * last)
            part = fmax(0.05, 0.7 * part);
        last = moved;
    }
    return moved <= 1e-10;
}

/* ---- the cheapest ---------------------------------------------------------------------------- */

static bool same_as_best(const search *s)
{
    const hmi_dynamics *d = s->p->d;
    int forces = d->servo.count * d->n;
    double large = fmax(s->scale, hmi_max_abs(forces, s->best.u));
    return !hmi_told_differ(forces, s->next.u, s->best.u, large);
}

static void keep_cheapest(search *s)
{
    double near = 1e-9 * fmax(s->best.cost, s->next.cost);
    if (s->solutions > 0 && same_as_best(s))
        return;
    if (s->solutions > 0 && fabs(s->next.cost - s->best.cost) <= near) {
        s->solutions = 2;
    } else if (s->solutions == 0 || s->next.cost < s->best.cost) {
        candidate kept = s->best;
        s->best = s->next;
        s->next = kept;
        s->solutions = 1;
    }
}

static void lay_out(search *s)
{
    hmi_dynamics *d = s->p->d;
    size_t size = (size_t)s->p->size, n = (size_t)d->n, columns = (size_t)d->servo.columns;
    size_t forces = (size_t)d->servo.count * n;
    s->law = (linear_law){.slopes = hmi_take(d, 2 * n * size),
                          .answers = hmi_take(d, n * size),
                          .S = hmi_take(d, size * size),
                          .column_answer = hmi_take(d, columns * n),
                          .column_told = hmi_take(d, columns * size),
                          .offset = hmi_take(d, size)};
    s->best = (candidate){hmi_take(d, size), hmi_take(d, forces), INFINITY};
    s->next = (candidate){hmi_take(d, size), hmi_take(d, forces), INFINITY};
    s->none = hmi_take(d, (size_t)d->m);
    s->rest = hmi_take(d, n);
    hmi_zero(d->m, s->none);
    hmi_zero(d->n, s->rest);
}

/* All starts; every effort needs them, since the same state has the same answer. */
static void search_starts(search *s, hmi_verdict *verdict)
{
    hmi_dynamics *d = s->p->d;
    size_t mark = d->scratch_used;
    double *base = hmi_take(d, (size_t)s->p->size);
    s->scale = fmax(hmi_ideal_start(s->p, base), hmi_max_abs(d->servo.rows, d->servo.b));
    s->scale = s->scale > 0 ? s->scale : 1; /* everything is at rest: any width will do */
    s->open = INFINITY;
    answer_actuators(s);
    for (int k = 0; hmi_choose_start(s->p, k, base, s->scale, s->next.told); k++) {
        verdict->law_starts++;
        if (settle(s))
            keep_cheapest(s);
        else
            s->open = fmin(s->open, s->next.cost);
    }
    d->scratch_used = mark;
}

/* The motion with the control forces found, the loop of the law closed once more under them. */
static hm_status move_with(search *s, hmi_effort effort, hmi_verdict *verdict)
{
    hmi_law_loop *p = s->p;
    hmi_dynamics *d = p->d;
    int n = d->n, starts = verdict->law_starts;
    double *sum = hmi_take(d, (size_t)n);
    hm_status status = HM_OK;
    hmi_copy(d->servo.count * n, s->best.u, d->motion.u);
    hmi_zero(n, sum);
    for (int t = 0; t < d->servo.count; t++)
        hmi_axpy(n, 1, d->motion.u + hmi_area(t, n), sum);
    p->u = sum;
    if (p->total) {
        status = hmi_close_law(p, s->best.told, effort, verdict);
    } else {
        if (!hmi_tell_law(p, s->best.told))
            return HM_ERR_NUMERIC;
        hmi_move_under(d, sum);
    }
    verdict->law_starts += starts;
    return status;
}

/* A start that did not come to an end at a cost below the best may hide a cheaper minimum, at a kink of the law:
 * then nothing is claimed. */
hm_status hmi_servos_beside_law(hmi_law_loop *p, hmi_effort effort, hmi_verdict *verdict)
{
    search s = {.p = p};
    lay_out(&s);
    search_starts(&s, verdict);
    if (s.solutions == 1 && s.open < s.best.cost * (1 - 1e-9))
        s.solutions = 0;
    if (s.solutions == 0) {
        hmi_copy(p->size, p->nothing, s.best.told);
        hmi_zero(p->d->servo.count * p->d->n, s.best.u);
    }
    hm_status status = move_with(&s, effort, verdict);
    if (s.solutions == 1)
        return status;
    verdict->law_solutions = s.solutions;
    return status == HM_ERR_NUMERIC ? status : HM_ERR_UNDETERMINED;
}
