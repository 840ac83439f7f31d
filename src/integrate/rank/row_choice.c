/* Rows that depend on others wherever the constraints hold.
 *
 * An overconstrained loop (Bricard's mechanism) has a redundant row on its manifold only: at a stage
 * of a step, beside the manifold by e, the row is independent with a singular value of about e, and a
 * solve with all rows divides by it. The rank that counts is that on the manifold. It is found at
 * consistent states: at the start and, so that a start in a singular position does not deceive, at a
 * state a little further along the motion, brought back by the rows kept alone. From then on solves
 * of stages, of drift control, of Jacobians and series, and the compiled motion go without the rows
 * that depend; these are watched at every accepted step, and chosen anew where those kept become
 * nearly dependent while others are better.
 *
 * Rows of position level are taken before those of velocity and acceleration level, so that each
 * level of drift control keeps its rank.
 * Verified: test/physics/test_redundant.c
 */
#include "integrate/rank/guard.h"

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

enum { MOST_EXCHANGES = 100 };

hm_status hmi_row_choice_init(hmi_guard *g)
{
    size_t m = g->projection->residuals->count, n = g->ode->n;
    const hm_sim *sim = g->ode->sim;
    hmi_row_choice *c = &g->rows;
    if (m < 2 || !sim->dense.dynamics || sim->solve.compiled || sim->contacts) /* dense algebra */
        return HM_OK;
    c->m = m;
    c->n = n;
    c->level = g->projection->residuals->level;
    c->left_out = hmi_arena_alloc(g->arena, m);
    c->trial = hmi_arena_alloc(g->arena, m);
    c->done = hmi_arena_alloc(g->arena, m);
    c->unit = hmi_arena_alloc(g->arena, m * n * sizeof(double));
    c->rest = hmi_arena_alloc(g->arena, m * n * sizeof(double));
    c->next = hmi_arena_alloc(g->arena, g->ode->size * sizeof(double));
    c->by_inertia = hmi_arena_alloc(g->arena, (n + m) * sizeof(double));
    bool good = c->left_out && c->trial && c->done && c->unit && c->rest && c->next &&
                c->by_inertia;
    return good ? HM_OK : HM_ERR_NOMEM;
}

/* ---- angles ---- */

/* Rows at a point, of unit length in units of the coordinates' inertias (those of the call
 * before where rows are to be compared). */
static bool take_rows(hmi_guard *g, const hmi_point *at, double *unit)
{
    hm_sim *sim = g->ode->sim;
    int n = (int)g->rows.n, m = (int)g->rows.m;
    double *D = g->rows.by_inertia, *R = D + n;
    hmi_sim_evaluate(sim, at);
    hmi_sim_scatter(sim);
    if (!hmi_all_finite(n * n, sim->dense.M) || !hmi_all_finite(m * n, sim->dense.A))
        return false;
    if (!g->rows.scaled)
        hmi_equilibrate(n, m, sim->dense.M, sim->dense.A, D, R);
    for (int i = 0; i < m; i++) {
        double *row = unit + (size_t)i * (size_t)n;
        for (int j = 0; j < n; j++)
            row[j] = sim->dense.A[(size_t)i * (size_t)n + (size_t)j] * D[j] * R[i];
        double length = hmi_norm(n, row);
        for (int j = 0; j < n && length > 0; j++)
            row[j] /= length;
    }
    return true;
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

/* Independent rows among `allowed`, the best first within a level; *least: the smallest sine. What is
 * left of the others stays in `rest`. */
static size_t select_rows(hmi_row_choice *c, const bool *allowed, double least_sine, double *least)
{
    static const hm_level levels[] = {HM_LEVEL_POSITION, HM_LEVEL_VELOCITY, HM_LEVEL_ACCELERATION};
    size_t count = 0;
    double length;
    memcpy(c->rest, c->unit, c->m * c->n * sizeof(double));
    memset(c->done, 0, c->m * sizeof(bool));
    *least = 1;
    for (int k = 0; k < 3; k++)
        for (size_t i = longest(c, allowed, levels[k], &length); i < c->m && length > least_sine;
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

/* The smallest sine among the rows that are kept; what is left of the others stays in `rest`. */
static double least_of_kept(hmi_row_choice *c)
{
    double least;
    for (size_t i = 0; i < c->m; i++)
        c->trial[i] = !c->left_out[i];
    select_rows(c, c->trial, 0, &least);
    return least;
}

/* ---- taking a choice up ---- */

static void leave_out(hmi_guard *g, const bool *rows)
{
    g->ode->sim->solve.left_out = rows;
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

hm_status hmi_guard_solve_all(hmi_guard *g, double t, const double *y, hmi_solution *solution)
{
    hm_sim *sim = g->ode->sim;
    hmi_guard_use_rows(g, true);
    sim->solve.rank_tolerance = g->rows.any ? HMI_DEPENDENT_SINE : 0;
    hm_status status = hmi_ode_forces(g->ode, t, y, solution);
    sim->solve.rank_tolerance = 0;
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
    g->rows.scaled = true;
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
    (void)least_of_kept(&g->rows);
    return largest_rest(&g->rows) < HMI_DEPENDENT_SINE;
}

void hmi_guard_choose_rows(hmi_guard *g)
{
    double least;
    if (!g->rows.left_out || g->ode->dirac ||
        !take_rows(g, hmi_sim_present(g->ode->sim), g->rows.unit))
        return;
    size_t count = select_rows(&g->rows, NULL, HMI_DEPENDENT_SINE, &least);
    if (count == g->rows.m)
        return;
    keep_choice(g, count);
    long projections = g->projection->count;
    bool stay = stay_dependent(g);
    g->rows.scaled = false;
    if (!stay) {
        g->rows.any = false;
        leave_out(g, NULL);
    }
    g->projection->count = projections;
}

/* ---- while the motion goes on ---- */

bool hmi_guard_watch_rows(hmi_guard *g)
{
    hmi_row_choice *c = &g->rows;
    const hmi_point at = hmi_stepper_point(g->stepper);
    if (!c->any || c->exchanges >= MOST_EXCHANGES || !take_rows(g, &at, c->unit))
        return false;
    double best, kept = least_of_kept(c);
    bool risen = g->ode->kept && largest_rest(c) > RISEN && kept > POOR;
    if (kept > POOR && !risen)
        return false;
    size_t count = select_rows(c, NULL, HMI_DEPENDENT_SINE, &best);
    if (!risen && best < BETTER * kept)
        return false;
    keep_choice(g, count);
    c->exchanges++;
    return true;
}
