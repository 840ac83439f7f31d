/* Rows that depend on others wherever the constraints hold.
 *
 * An overconstrained loop (Bricard's mechanism) has a redundant row on its manifold only: at a stage
 * of a step, beside the manifold by e, the row is independent with a singular value of about e, and a
 * solve with all rows divides by it. The rank that counts is that on the manifold. It is found at
 * consistent states: at the start and, so that a start in a singular position does not deceive, at a
 * state a little further along the motion, brought back by the rows kept alone. From then on solves
 * of stages, of drift control, of Jacobians and series, and the compiled motion go without the rows
 * that depend. Which rows these are may turn with the motion: of the three rows that let a ball roll in
 * a cylinder two are one row times the sine and the cosine of an angle. So entries are measured against
 * the largest that they have been, or against the terms they are the difference of, if these are
 * larger (a row of rounding errors is no row), and rows are chosen anew where those kept become short
 * or nearly dependent while others are better: at the end of a step before drift control uses them,
 * and ahead of a step in which they would.
 *
 * Rows of position level are taken before those of velocity and acceleration level, so that each
 * level of drift control keeps its rank.
 * Verified: test/physics/test_redundant.c
 */
#include "integrate/rank/guard.h"

#include "dynamics/sim/rounding.h"
#include "linalg/linalg.h"

#include <math.h>
#include <string.h>

/* Sines of angles: below HMI_DEPENDENT_SINE a row depends on others; above, one that did does not any more; rows kept
 * below POOR are exchanged where there are ones BETTER times as good; how far rows turn on the way to
 * the second state. */
#define RISEN  1e-6
#define POOR   0.02
#define BETTER 4
#define TURN   1e-3
/* How far ahead rows are looked at, in steps like the last. */
#define AHEAD 2

hm_status hmi_row_choice_init(hmi_guard *g)
{
    size_t m = g->projection->residuals->count, n = g->ode->n;
    const hm_sim *sim = g->ode->sim;
    hmi_row_choice *c = &g->rows;
    if (m == 0 || !sim->dense.dynamics || sim->solve.compiled || sim->contacts)
        return HM_OK;
    c->m = m;
    c->n = n;
    c->level = g->projection->residuals->level;
    c->left_out = hmi_arena_alloc(g->arena, m);
    c->trial = hmi_arena_alloc(g->arena, m);
    c->done = hmi_arena_alloc(g->arena, m);
    bool failed = false;
    c->unit = hmi_arena_doubles(g->arena, m * n, &failed);
    c->rest = hmi_arena_doubles(g->arena, m * n, &failed);
    c->next = hmi_arena_doubles(g->arena, g->ode->size, &failed);
    c->D = hmi_arena_doubles(g->arena, n, &failed);
    c->R = hmi_arena_doubles(g->arena, m, &failed);
    c->M_most = hmi_arena_doubles(g->arena, n * n, &failed);
    c->A_most = hmi_arena_doubles(g->arena, m * n, &failed);
    c->terms = hmi_arena_doubles(g->arena, m, &failed);
    c->borrowed = hmi_arena_alloc(g->arena, m);
    bool good = c->left_out && c->trial && c->done && c->borrowed && !failed;
    return good ? HM_OK : HM_ERR_NOMEM;
}

/* ---- angles ---- */

/* M and A at a point, dense in the sim; false where they are not finite. */
static bool evaluate(hmi_guard *g, const hmi_point *at)
{
    hm_sim *sim = g->ode->sim;
    int n = (int)g->rows.n, m = (int)g->rows.m;
    hmi_sim_evaluate(sim, at);
    hmi_sim_scatter(sim);
    return hmi_all_finite(n * n, sim->dense.M) && hmi_all_finite(m * n, sim->dense.A);
}

/* All rows at a point, in units in which none has been longer than 1. */
static bool take_rows(hmi_guard *g, const hmi_point *at, double *unit)
{
    const hmi_row_choice *c = &g->rows;
    if (!evaluate(g, at))
        return false;
    for (size_t i = 0; i < c->m; i++)
        for (size_t j = 0; j < c->n; j++)
            unit[i * c->n + j] = g->ode->sim->dense.A[i * c->n + j] * c->D[j] * c->R[i];
    return true;
}

/* most := the larger of both; true where one has become much larger. */
static bool note_largest(size_t count, const double *now, double *most)
{
    bool grown = false;
    for (size_t i = 0; i < count; i++) {
        double size = fabs(now[i]);
        grown |= size > 2 * most[i];
        most[i] = fmax(most[i], size);
    }
    return grown;
}

/* Entries at a state of the motion, as last evaluated, and units that follow from the largest so far:
 * of an inertia or a row that vanishes for a moment they are those of before. */
static void note_entries(hmi_guard *g)
{
    hmi_row_choice *c = &g->rows;
    bool grown = note_largest(c->n * c->n, g->ode->sim->dense.M, c->M_most);
    grown |= note_largest(c->m * c->n, g->ode->sim->dense.A, c->A_most);
    if (grown)
        hmi_equilibrate((int)c->n, (int)c->m, c->M_most, c->A_most, c->D, c->R);
}

/* The terms that entries at the present state are made of: their errors are these times some
 * roundings. */
static hm_status note_terms(hmi_guard *g)
{
    hm_sim *sim = g->ode->sim;
    hmi_row_choice *c = &g->rows;
    const hmi_expr_matrix *A = &sim->system->derived.constraints.A;
    const double *error;
    hm_status status = hmi_sim_row_terms(sim, hmi_sim_present(sim), c->terms);
    if (status == HM_OK)
        status = hmi_sim_bound(sim, hmi_sim_present(sim), &error);
    if (status != HM_OK)
        return status;
    error += sim->system->at.A;
    memset(c->M_most, 0, c->n * c->n * sizeof(double));
    memset(c->A_most, 0, c->m * c->n * sizeof(double));
    for (size_t i = 0; i < c->m; i++)
        for (size_t k = A->start[i]; k < A->start[i + 1]; k++)
            c->A_most[i * c->n + A->column.data[k]] =
                isfinite(error[k]) ? error[k] / (HMI_TERM_ROUNDINGS * HMI_EPSILON) : 0;
    return HM_OK;
}

/* The row of `allowed` (NULL: of all), of that level, not done, that is longest; m: none. */
static size_t longest(const hmi_row_choice *c, const bool *allowed, hm_level level, double *length)
{
    size_t best = c->m;
    *length = 0;
    for (size_t i = 0; i < c->m; i++) {
        if (c->done[i] || c->level[i] != level || (allowed && !allowed[i]))
            continue;
        double size = hmi_norm((int)c->n, c->rest + i * c->n);
        if (size > *length) {
            *length = size;
            best = i;
        }
    }
    return best;
}

/* Takes the direction of row i from all that are left, twice so that it is gone. */
static void take_direction(hmi_row_choice *c, size_t i, double length)
{
    size_t n = c->n;
    double *e = c->rest + i * n;
    for (size_t j = 0; j < n; j++)
        e[j] /= length;
    for (size_t k = 0; k < c->m; k++)
        for (int pass = 0; pass < 2 && !c->done[k]; pass++)
            hmi_axpy((int)n, -hmi_dot((int)n, e, c->rest + k * n), e, c->rest + k * n);
}

/* Independent rows among `allowed`, at most so many, the best first within a level; *least: the smallest
 * sine. What is left of the others stays in `rest`. */
static size_t select_rows(hmi_row_choice *c, const bool *allowed, size_t most, double least_sine,
                          double *least)
{
    static const hm_level levels[] = {HM_LEVEL_POSITION, HM_LEVEL_VELOCITY, HM_LEVEL_ACCELERATION};
    size_t count = 0;
    double length;
    memcpy(c->rest, c->unit, c->m * c->n * sizeof(double));
    memset(c->done, 0, c->m * sizeof(bool));
    *least = 1;
    for (int k = 0; k < 3; k++)
        for (size_t i = longest(c, allowed, levels[k], &length);
             i < c->m && length > least_sine && count < most;
             i = longest(c, allowed, levels[k], &length)) {
            c->done[i] = true;
            take_direction(c, i, length);
            *least = fmin(*least, length);
            count++;
        }
    return count;
}

/* Of rows that are not done, after select_rows. */
static double largest_rest(const hmi_row_choice *c)
{
    double largest = 0;
    for (size_t i = 0; i < c->m; i++)
        if (!c->done[i])
            largest = fmax(largest, hmi_norm((int)c->n, c->rest + i * c->n));
    return largest;
}

/* The smallest sine among the rows that are not left out, 0 where one is gone; what is left of the
 * others stays in `rest`. */
static double least_without(hmi_row_choice *c, const bool *left_out)
{
    double least;
    size_t wanted = 0;
    for (size_t i = 0; i < c->m; i++) {
        c->trial[i] = !left_out[i];
        wanted += c->trial[i];
    }
    return select_rows(c, c->trial, c->m, 0, &least) == wanted ? least : 0;
}

/* ---- taking a choice up ---- */

static void leave_out(hmi_guard *g, const bool *rows)
{
    g->ode->sim->solve.left_out = rows;
    g->ode->sim->solve.row_terms = rows ? g->rows.terms : NULL;
    hmi_dynamics_leave_out(g->ode->sim->dense.dynamics, rows);
    if (g->projection->position.count)
        hmi_subproblem_leave_out(g->projection->position.subproblem, rows);
    if (g->projection->velocity.count)
        hmi_subproblem_leave_out(g->projection->velocity.subproblem, rows);
}

void hmi_guard_use_rows(hmi_guard *g, bool all)
{
    if (g->rows.any)
        leave_out(g, all ? NULL : g->rows.left_out);
}

/* What the state leaves of the constraints, relative to their terms: rows that depend on others agree
 * with them no better than that, times how fast they turn and how well the others determine them. */
#define MAGNIFIED 1e6

static double consistency_of(hmi_guard *g, double t, const double *y)
{
    hmi_residuals *r = g->projection->residuals;
    const hmi_point at = hmi_ode_point(g->ode, t, y);
    double worst = 0;
    hmi_residuals_evaluate(r, &at);
    for (size_t k = 0; k < g->projection->velocity.count; k++) {
        size_t row = g->projection->velocity.row[k];
        double terms = hmi_row_terms(g->ode->sim, row, at.v);
        if (fabs(r->velocity[row]) > worst * terms && terms > 0)
            worst = fabs(r->velocity[row]) / terms;
    }
    return fmax(HMI_CONTRADICTION, MAGNIFIED * fmax(worst, HMI_EPSILON));
}

hm_status hmi_guard_solve_all(hmi_guard *g, double t, const double *y, hmi_solution *solution)
{
    hmi_sim_solve *solve = &g->ode->sim->solve;
    if (!g->rows.any)
        return hmi_ode_forces(g->ode, t, y, solution);
    hmi_guard_use_rows(g, true);
    solve->rank_tolerance = HMI_DEPENDENT_SINE;
    solve->most_rank = g->rows.kept;
    solve->consistency_tolerance = consistency_of(g, t, y);
    hm_status status = hmi_ode_forces(g->ode, t, y, solution);
    solve->rank_tolerance = solve->consistency_tolerance = 0;
    solve->most_rank = 0;
    hmi_guard_use_rows(g, false);
    return status;
}

/* left_out := the rows that select_rows did not take */
static void keep_choice(hmi_guard *g, size_t count)
{
    hmi_row_choice *c = &g->rows;
    for (size_t i = 0; i < c->m; i++)
        c->left_out[i] = !c->done[i];
    c->any = count < c->m;
    c->kept = count;
    c->angle = c->before = 1;
    leave_out(g, c->any ? c->left_out : NULL);
}

/* ---- the second state ---- */

/* y := the present state moved on for the time h with constant q''. */
static void move_on(hmi_guard *g, double h, double *y)
{
    const double *v = g->ode->sim->state.v, *qdd = g->ode->sim->last.qdd;
    size_t n = g->ode->n;
    hmi_ode_load(g->ode, y);
    for (size_t i = 0; i < n; i++) {
        y[i] += h * (v[i] + 0.5 * h * qdd[i]);
        y[n + i] += h * qdd[i];
    }
}

/* How far the rows in `rest` are from those in `unit`. */
static double turned(const hmi_row_choice *c)
{
    double largest = 0;
    for (size_t i = 0; i < c->m * c->n; i++)
        largest = fmax(largest, fabs(c->rest[i] - c->unit[i]));
    return largest;
}

/* g->rows.next := a state of the motion where rows have turned by TURN; *at: the same. false: there is
 * none. */
static bool find_second_state(hmi_guard *g, hmi_point *at)
{
    double t = g->ode->sim->state.at.t;
    for (double h = 1e-12; h < 1e8; h *= 4) {
        move_on(g, h, g->rows.next);
        *at = hmi_ode_point(g->ode, t + h, g->rows.next);
        if (!take_rows(g, at, g->rows.rest))
            return false;
        if (turned(&g->rows) >= TURN)
            return true;
    }
    return false;
}

/* Do the rows left out still depend on the others a little later, and hold with them? */
static bool stay_dependent(hmi_guard *g)
{
    hmi_point at;
    if (!find_second_state(g, &at))
        return true;
    if (g->ode->kept && hmi_project(g->projection, at.t, g->rows.next) != HM_OK)
        return false;
    if (!take_rows(g, &at, g->rows.unit))
        return false;
    (void)least_without(&g->rows, g->rows.left_out);
    return largest_rest(&g->rows) < HMI_DEPENDENT_SINE;
}

/* c->unit := rows at the start, in their units. */
static hm_status look_at_rows(hmi_guard *g)
{
    const hmi_point *at = hmi_sim_present(g->ode->sim);
    if (!evaluate(g, at))
        return HM_ERR_NUMERIC;
    hm_status status = note_terms(g);
    if (status != HM_OK)
        return status;
    note_entries(g);
    return take_rows(g, at, g->rows.unit) ? HM_OK : HM_ERR_NUMERIC;
}

hm_status hmi_guard_choose_rows(hmi_guard *g)
{
    hmi_row_choice *c = &g->rows;
    double least;
    if (!c->left_out || g->ode->dirac)
        return HM_OK;
    hm_status status = look_at_rows(g);
    size_t count = status == HM_OK ? select_rows(c, NULL, c->m, HMI_DEPENDENT_SINE, &least) : c->m;
    if (count == c->m)
        return status == HM_ERR_NOMEM ? status : HM_OK;
    keep_choice(g, count);
    long projections = g->projection->count;
    if (!stay_dependent(g)) {
        c->any = false;
        leave_out(g, NULL);
    }
    g->projection->count = projections;
    return HM_OK;
}

/* ---- while the motion goes on ---- */

/* The best of as many rows as are kept, at c->unit, into `left_out`. */
static double find_better(hmi_row_choice *c, bool *left_out)
{
    double best;
    size_t count = select_rows(c, NULL, c->kept, HMI_DEPENDENT_SINE, &best);
    for (size_t i = 0; i < c->m; i++)
        left_out[i] = !c->done[i];
    return count == c->kept ? best : 0;
}

static void exchange(hmi_guard *g, const bool *left_out)
{
    hmi_row_choice *c = &g->rows;
    memcpy(c->left_out, left_out, c->m * sizeof *left_out);
    leave_out(g, c->left_out);
    c->changed = true;
    g->ode->sim->motion.used = NULL; /* it has other rows */
}

void hmi_guard_renew_rows(hmi_guard *g, double t, const double *y)
{
    hmi_row_choice *c = &g->rows;
    const hmi_point at = hmi_ode_point(g->ode, t, y);
    if (!c->any || !take_rows(g, &at, c->unit))
        return;
    double kept = least_without(c, c->left_out), better = 0;
    c->risen = largest_rest(c);
    if (kept < POOR)
        better = find_better(c, c->borrowed);
    if (better > BETTER * kept)
        exchange(g, c->borrowed);
    c->before = c->angle;
    c->angle = fmax(kept, better);
    c->looked = true;
}

void hmi_guard_borrow_rows(hmi_guard *g, double t, const double *y)
{
    hmi_row_choice *c = &g->rows;
    const hmi_point at = hmi_ode_point(g->ode, t, y);
    if (!c->any || !take_rows(g, &at, c->unit))
        return;
    double kept = least_without(c, c->left_out);
    if (kept < POOR && find_better(c, c->borrowed) > BETTER * kept)
        leave_out(g, c->borrowed);
}

/* c->next := the present state as far ahead as the next step may come, by q''. */
static hmi_point look_ahead(hmi_guard *g)
{
    const hmi_stepper *s = g->stepper;
    size_t n = g->ode->n;
    double h = AHEAD * (s->t - s->t_old), *y = g->rows.next;
    memcpy(y, s->y, s->size * sizeof *y);
    for (size_t i = 0; i < n; i++) {
        double qdd = s->f_valid ? s->f[n + i] : 0;
        y[i] += h * (s->y[n + i] + 0.5 * h * qdd);
        y[n + i] += h * qdd;
    }
    return hmi_ode_point(g->ode, s->t + h, y);
}

/* Rows that are poor on the way ahead are exchanged for ones that are good there and here. */
static void prepare_ahead(hmi_guard *g)
{
    hmi_row_choice *c = &g->rows;
    const hmi_point now = hmi_stepper_point(g->stepper), ahead = look_ahead(g);
    if (!take_rows(g, &ahead, c->unit))
        return;
    double kept = least_without(c, c->left_out);
    if (kept >= POOR || find_better(c, c->borrowed) <= BETTER * kept)
        return;
    double here = take_rows(g, &now, c->unit) ? least_without(c, c->borrowed) : 0;
    if (here > BETTER * kept && here > 0.5 * POOR)
        exchange(g, c->borrowed);
}

/* Rows left out that do not follow from the others any more take part again. */
static void raise_rows(hmi_guard *g)
{
    hmi_row_choice *c = &g->rows;
    const hmi_point at = hmi_stepper_point(g->stepper);
    double best, kept = take_rows(g, &at, c->unit) ? least_without(c, c->left_out) : 0;
    if (!(kept > POOR) || largest_rest(c) <= RISEN)
        return;
    keep_choice(g, select_rows(c, NULL, c->m, HMI_DEPENDENT_SINE, &best));
    c->changed = true;
}

double hmi_guard_best_angle(hmi_guard *g)
{
    const hmi_point at = hmi_stepper_point(g->stepper);
    return take_rows(g, &at, g->rows.unit) ? find_better(&g->rows, g->rows.borrowed) : 0;
}

bool hmi_guard_watch_best_rows(hmi_guard *g, double t, const double *y)
{
    hmi_row_choice *c = &g->rows;
    hmi_rank_watch *w = &g->rank;
    const hmi_point at = hmi_ode_point(g->ode, t, y);
    if (!take_rows(g, &at, c->unit))
        return false;
    (void)find_better(c, c->borrowed);
    w->count = 0;
    for (size_t k = 0; k < w->m; k++)
        if (!c->borrowed[g->projection->velocity.row[k]])
            w->row[w->count++] = k;
    return true;
}

/* May they become poor in the next step, if they go on as in the last? */
static bool may_become_poor(const hmi_row_choice *c)
{
    return c->angle - 2 * AHEAD * fmax(c->before - c->angle, 0) < POOR;
}

bool hmi_guard_watch_rows(hmi_guard *g)
{
    hmi_row_choice *c = &g->rows;
    if (!c->any)
        return false;
    if (!c->looked)
        hmi_guard_renew_rows(g, g->stepper->t, g->stepper->y);
    c->looked = false;
    const hmi_point at = hmi_stepper_point(g->stepper);
    if (evaluate(g, &at))
        note_entries(g);
    if (may_become_poor(c))
        prepare_ahead(g);
    if (g->ode->kept && !c->changed && c->risen > RISEN)
        raise_rows(g);
    bool changed = c->changed;
    c->changed = false;
    return changed;
}
