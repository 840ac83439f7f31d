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
    hmi_row_choice *c = &g->rows;
    if (m < 2 || !g->ode->sim->dynamics ||
        g->ode->sim->fast) /* dense algebra: not for large systems */
        return HM_OK;
    c->left_out = hmi_arena_alloc(g->arena, m);
    c->trial = hmi_arena_alloc(g->arena, m);
    c->done = hmi_arena_alloc(g->arena, m);
    c->unit = hmi_arena_alloc(g->arena, m * n * sizeof(double));
    c->rest = hmi_arena_alloc(g->arena, m * n * sizeof(double));
    c->start = hmi_arena_alloc(g->arena, g->ode->size * sizeof(double));
    c->next = hmi_arena_alloc(g->arena, g->ode->size * sizeof(double));
    c->by_inertia = hmi_arena_alloc(g->arena, (n + m) * sizeof(double));
    bool good = c->left_out && c->trial && c->done && c->unit && c->rest && c->start && c->next &&
                c->by_inertia;
    return good ? HM_OK : HM_ERR_NOMEM;
}

/* ---- angles ---- */

/* Rows at the sim's state, of unit length in units of the coordinates' inertias (those of the call
 * before where rows are to be compared). */
static bool take_rows(hmi_guard *g, double *unit)
{
    int n = (int)g->ode->n, m = (int)g->projection->residuals->count;
    double *D = g->rows.by_inertia, *R = D + n;
    hm_sim_evaluate_fast(g->ode->sim);
    hmi_sim_scatter(g->ode->sim);
    if (!hmi_all_finite(n * n, g->ode->sim->M) || !hmi_all_finite(m * n, g->ode->sim->A))
        return false;
    if (!g->rows.scaled)
        hmi_equilibrate(n, m, g->ode->sim->M, g->ode->sim->A, D, R);
    for (int i = 0; i < m; i++) {
        double *row = unit + (size_t)i * (size_t)n;
        for (int j = 0; j < n; j++)
            row[j] = g->ode->sim->A[(size_t)i * (size_t)n + (size_t)j] * D[j] * R[i];
        double length = hmi_norm(n, row);
        for (int j = 0; j < n && length > 0; j++)
            row[j] /= length;
    }
    return true;
}

/* The row of `allowed` (NULL: of all), of that level, not done, that is longest; m: none. */
static size_t longest(const hmi_guard *g, const bool *allowed, hm_level level, double *length)
{
    size_t n = g->ode->n, m = g->projection->residuals->count, best = m;
    *length = 0;
    for (size_t i = 0; i < m; i++) {
        if (g->rows.done[i] || g->projection->residuals->level[i] != level ||
            (allowed && !allowed[i]))
            continue;
        double size = hmi_norm((int)n, g->rows.rest + i * n);
        if (size > *length) {
            *length = size;
            best = i;
        }
    }
    return best;
}

/* Takes the direction of row i from all that are left, twice so that it is gone. */
static void take_direction(hmi_guard *g, size_t i, double length)
{
    size_t n = g->ode->n, m = g->projection->residuals->count;
    double *e = g->rows.rest + i * n;
    for (size_t j = 0; j < n; j++)
        e[j] /= length;
    for (size_t k = 0; k < m; k++)
        for (int pass = 0; pass < 2 && !g->rows.done[k]; pass++)
            hmi_axpy((int)n, -hmi_dot((int)n, e, g->rows.rest + k * n), e, g->rows.rest + k * n);
}

/* Independent rows among `allowed`, the best first within a level; *least: the smallest sine. What is
 * left of the others stays in `rest`. */
static size_t select_rows(hmi_guard *g, const bool *allowed, double least_sine, double *least)
{
    static const hm_level levels[] = {HM_LEVEL_POSITION, HM_LEVEL_VELOCITY, HM_LEVEL_ACCELERATION};
    size_t n = g->ode->n, m = g->projection->residuals->count, count = 0;
    double length;
    memcpy(g->rows.rest, g->rows.unit, m * n * sizeof(double));
    memset(g->rows.done, 0, m * sizeof(bool));
    *least = 1;
    for (int k = 0; k < 3; k++)
        for (size_t i = longest(g, allowed, levels[k], &length); i < m && length > least_sine;
             i = longest(g, allowed, levels[k], &length)) {
            g->rows.done[i] = true;
            take_direction(g, i, length);
            *least = fmin(*least, length);
            count++;
        }
    return count;
}

/* Of rows that are not done, after select_rows. */
static double largest_rest(const hmi_guard *g)
{
    size_t n = g->ode->n;
    double largest = 0;
    for (size_t i = 0; i < g->projection->residuals->count; i++)
        if (!g->rows.done[i])
            largest = fmax(largest, hmi_norm((int)n, g->rows.rest + i * n));
    return largest;
}

/* ---- taking a choice up ---- */

static void leave_out(hmi_guard *g, const bool *rows)
{
    g->ode->sim->left_out = rows;
    hmi_dynamics_leave_out(g->ode->sim->dynamics, rows);
    if (g->projection->position.count)
        hmi_part_leave_out(g->projection->position.part, rows);
    if (g->projection->velocity.count)
        hmi_part_leave_out(g->projection->velocity.part, rows);
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
    sim->rank_tolerance = g->rows.any ? HMI_DEPENDENT_SINE : 0;
    hm_status status = hmi_ode_forces(g->ode, t, y, solution);
    sim->rank_tolerance = 0;
    hmi_guard_use_rows(g, false);
    return status;
}

/* left_out := the rows that select_rows did not take */
static void keep_choice(hmi_guard *g, size_t count)
{
    size_t m = g->projection->residuals->count;
    for (size_t i = 0; i < m; i++)
        g->rows.left_out[i] = !g->rows.done[i];
    g->rows.any = count < m;
    leave_out(g, g->rows.any ? g->rows.left_out : NULL);
}

/* ---- the second state ---- */

/* y := the state moved on for the time h with constant q''. */
static void move_on(hmi_guard *g, double h, double *y)
{
    const hm_sim *sim = g->ode->sim;
    size_t n = g->ode->n;
    hmi_ode_load(g->ode, y);
    for (size_t i = 0; i < n; i++) {
        y[i] += h * (sim->v[i] + 0.5 * h * sim->qdd[i]);
        y[n + i] += h * sim->qdd[i];
    }
}

static double turned(const hmi_guard *g, const double *unit)
{
    size_t n = g->ode->n, m = g->projection->residuals->count;
    double largest = 0;
    for (size_t i = 0; i < m * n; i++)
        largest = fmax(largest, fabs(unit[i] - g->rows.unit[i]));
    return largest;
}

/* g->rows.next := a state of the motion where rows have turned by TURN; false: there is none. */
static bool find_second_state(hmi_guard *g, const double *y0, double t0, double *h)
{
    hm_sim *sim = g->ode->sim;
    g->rows.scaled = true;
    for (*h = 1e-12; *h < 1e8; *h *= 4) {
        move_on(g, *h, g->rows.next);
        hmi_ode_store(g->ode, t0 + *h, g->rows.next);
        bool good = take_rows(g, g->rows.rest);
        hm_sim_set_state(sim, t0, y0, y0 + g->ode->n, y0 + 2 * g->ode->n);
        if (!good)
            return false;
        if (turned(g, g->rows.rest) >= TURN)
            return true;
    }
    return false;
}

/* Do the rows left out still depend on the others a little later, and hold with them? */
static bool stay_dependent(hmi_guard *g)
{
    const hm_sim *sim = g->ode->sim;
    size_t m = g->projection->residuals->count;
    double h, least, t0 = sim->t, *y0 = g->rows.start;
    hmi_ode_load(g->ode, y0);
    bool stay = true;
    if (find_second_state(g, y0, t0, &h)) {
        stay = !g->ode->kept || hmi_project(g->projection, t0 + h, g->rows.next) == HM_OK;
        hmi_ode_store(g->ode, t0 + h, g->rows.next);
        for (size_t i = 0; i < m; i++)
            g->rows.trial[i] = !g->rows.left_out[i];
        stay = stay && take_rows(g, g->rows.unit);
        if (stay) {
            select_rows(g, g->rows.trial, 0, &least);
            stay = largest_rest(g) < HMI_DEPENDENT_SINE;
        }
    }
    hmi_ode_store(g->ode, t0, y0);
    return stay;
}

void hmi_guard_choose_rows(hmi_guard *g)
{
    double least;
    if (!g->rows.left_out || g->ode->dirac || !take_rows(g, g->rows.unit))
        return;
    size_t count = select_rows(g, NULL, HMI_DEPENDENT_SINE, &least);
    if (count == g->projection->residuals->count)
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
    double kept, best;
    size_t m = g->projection->residuals->count;
    if (!g->rows.any || g->rows.exchanges >= MOST_EXCHANGES || !take_rows(g, g->rows.unit))
        return false;
    for (size_t i = 0; i < m; i++)
        g->rows.trial[i] = !g->rows.left_out[i];
    select_rows(g, g->rows.trial, 0, &kept);
    bool risen = g->ode->kept && largest_rest(g) > RISEN && kept > POOR;
    if (kept > POOR && !risen)
        return false;
    size_t count = select_rows(g, NULL, HMI_DEPENDENT_SINE, &best);
    if (!risen && best < BETTER * kept)
        return false;
    keep_choice(g, count);
    g->rows.exchanges++;
    return true;
}
