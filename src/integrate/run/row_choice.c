/* Rows that depend on others wherever the constraints hold: see driver.h.
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
#include "integrate/run/driver.h"

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

hm_status hmi_row_choice_init(hmi_driver *d)
{
    size_t m = d->residuals.count, n = d->ode.n;
    hmi_row_choice *c = &d->rows;
    if (m < 2 || !d->sim->dense.dynamics ||
        d->sim->solve.compiled) /* dense algebra: not for large systems */
        return HM_OK;
    c->left_out = hmi_arena_alloc(&d->arena, m);
    c->trial = hmi_arena_alloc(&d->arena, m);
    c->done = hmi_arena_alloc(&d->arena, m);
    c->unit = hmi_arena_alloc(&d->arena, m * n * sizeof(double));
    c->rest = hmi_arena_alloc(&d->arena, m * n * sizeof(double));
    c->y = hmi_arena_alloc(&d->arena, (d->ode.size + n + m) * sizeof(double));
    return c->left_out && c->trial && c->done && c->unit && c->rest && c->y ? HM_OK : HM_ERR_NOMEM;
}

/* ---- angles ---- */

/* Rows at a state, of unit length in units of the coordinates' inertias (those of the call
 * before where rows are to be compared). */
static bool take_rows(hmi_driver *d, const hmi_point *at, double *unit)
{
    int n = (int)d->ode.n, m = (int)d->residuals.count;
    double *D = d->rows.y + d->ode.size, *R = D + n;
    hmi_sim_evaluate(d->sim, at);
    hmi_sim_scatter(d->sim);
    if (!hmi_all_finite(n * n, d->sim->dense.M) || !hmi_all_finite(m * n, d->sim->dense.A))
        return false;
    if (!d->rows.scaled)
        hmi_equilibrate(n, m, d->sim->dense.M, d->sim->dense.A, D, R);
    for (int i = 0; i < m; i++) {
        double *row = unit + (size_t)i * (size_t)n;
        for (int j = 0; j < n; j++)
            row[j] = d->sim->dense.A[(size_t)i * (size_t)n + (size_t)j] * D[j] * R[i];
        double length = hmi_norm(n, row);
        for (int j = 0; j < n && length > 0; j++)
            row[j] /= length;
    }
    return true;
}

/* The row of `allowed` (NULL: of all), of that level, not done, that is longest; m: none. */
static size_t longest(const hmi_driver *d, const bool *allowed, hm_level level, double *length)
{
    size_t n = d->ode.n, m = d->residuals.count, best = m;
    *length = 0;
    for (size_t i = 0; i < m; i++) {
        if (d->rows.done[i] || d->residuals.level[i] != level || (allowed && !allowed[i]))
            continue;
        double size = hmi_norm((int)n, d->rows.rest + i * n);
        if (size > *length) {
            *length = size;
            best = i;
        }
    }
    return best;
}

/* Takes the direction of row i from all that are left, twice so that it is gone. */
static void take_direction(hmi_driver *d, size_t i, double length)
{
    size_t n = d->ode.n, m = d->residuals.count;
    double *e = d->rows.rest + i * n;
    for (size_t j = 0; j < n; j++)
        e[j] /= length;
    for (size_t k = 0; k < m; k++)
        for (int pass = 0; pass < 2 && !d->rows.done[k]; pass++)
            hmi_axpy((int)n, -hmi_dot((int)n, e, d->rows.rest + k * n), e, d->rows.rest + k * n);
}

/* Independent rows among `allowed`, the best first within a level; *least: the smallest sine. What is
 * left of the others stays in `rest`. */
static size_t select_rows(hmi_driver *d, const bool *allowed, double least_sine, double *least)
{
    static const hm_level levels[] = {HM_LEVEL_POSITION, HM_LEVEL_VELOCITY, HM_LEVEL_ACCELERATION};
    size_t n = d->ode.n, m = d->residuals.count, count = 0;
    double length;
    memcpy(d->rows.rest, d->rows.unit, m * n * sizeof(double));
    memset(d->rows.done, 0, m * sizeof(bool));
    *least = 1;
    for (int k = 0; k < 3; k++)
        for (size_t i = longest(d, allowed, levels[k], &length); i < m && length > least_sine;
             i = longest(d, allowed, levels[k], &length)) {
            d->rows.done[i] = true;
            take_direction(d, i, length);
            *least = fmin(*least, length);
            count++;
        }
    return count;
}

/* Of rows that are not done, after select_rows. */
static double largest_rest(const hmi_driver *d)
{
    size_t n = d->ode.n;
    double largest = 0;
    for (size_t i = 0; i < d->residuals.count; i++)
        if (!d->rows.done[i])
            largest = fmax(largest, hmi_norm((int)n, d->rows.rest + i * n));
    return largest;
}

/* ---- taking a choice up ---- */

static void leave_out(hmi_driver *d, const bool *rows)
{
    d->sim->solve.left_out = rows;
    hmi_dynamics_leave_out(d->sim->dense.dynamics, rows);
    if (d->projection.position.count)
        hmi_subproblem_leave_out(d->projection.position.subproblem, rows);
    if (d->projection.velocity.count)
        hmi_subproblem_leave_out(d->projection.velocity.subproblem, rows);
}

void hmi_driver_use_rows(hmi_driver *d, bool all)
{
    if (d->rows.any)
        leave_out(d, all ? NULL : d->rows.left_out);
}

/* left_out := the rows that select_rows did not take */
static void keep_choice(hmi_driver *d, size_t count)
{
    size_t m = d->residuals.count;
    for (size_t i = 0; i < m; i++)
        d->rows.left_out[i] = !d->rows.done[i];
    d->rows.any = count < m;
    leave_out(d, d->rows.any ? d->rows.left_out : NULL);
}

/* ---- the second state ---- */

/* y := the present state moved on for the time h with constant q''. */
static void move_on(hmi_driver *d, double h, double *y)
{
    const double *v = d->sim->state.v, *qdd = d->sim->last.qdd;
    size_t n = d->ode.n;
    hmi_ode_load(&d->ode, y);
    for (size_t i = 0; i < n; i++) {
        y[i] += h * (v[i] + 0.5 * h * qdd[i]);
        y[n + i] += h * qdd[i];
    }
}

static double turned(const hmi_driver *d, const double *unit)
{
    size_t n = d->ode.n, m = d->residuals.count;
    double largest = 0;
    for (size_t i = 0; i < m * n; i++)
        largest = fmax(largest, fabs(unit[i] - d->rows.unit[i]));
    return largest;
}

/* d->rows.y := a state of the motion where rows have turned by TURN; false: there is none. */
static bool find_second_state(hmi_driver *d, double *h)
{
    d->rows.scaled = true;
    for (*h = 1e-12; *h < 1e8; *h *= 4) {
        move_on(d, *h, d->rows.y);
        const hmi_point at = hmi_ode_point(&d->ode, d->sim->state.at.t + *h, d->rows.y);
        if (!take_rows(d, &at, d->rows.rest))
            return false;
        if (turned(d, d->rows.rest) >= TURN)
            return true;
    }
    return false;
}

/* Do the rows left out still depend on the others a little later, and hold with them? */
static bool stay_dependent(hmi_driver *d)
{
    size_t m = d->residuals.count;
    double h, least;
    bool stay = true;
    if (find_second_state(d, &h)) {
        const hmi_point at = hmi_ode_point(&d->ode, d->sim->state.at.t + h, d->rows.y);
        stay = d->drift != HMI_DRIFT_PROJECT ||
               hmi_project(&d->projection, at.t, d->rows.y) == HM_OK;
        for (size_t i = 0; i < m; i++)
            d->rows.trial[i] = !d->rows.left_out[i];
        stay = stay && take_rows(d, &at, d->rows.unit);
        if (stay) {
            select_rows(d, d->rows.trial, 0, &least);
            stay = largest_rest(d) < HMI_DEPENDENT_SINE;
        }
    }
    return stay;
}

void hmi_driver_choose_rows(hmi_driver *d)
{
    double least;
    if (!d->rows.left_out || d->ode.dirac || d->options.keep_initial ||
        !take_rows(d, hmi_sim_present(d->sim), d->rows.unit))
        return;
    size_t count = select_rows(d, NULL, HMI_DEPENDENT_SINE, &least);
    if (count == d->residuals.count)
        return;
    keep_choice(d, count);
    long projections = d->projection.count;
    bool stay = stay_dependent(d);
    d->rows.scaled = false;
    if (!stay) {
        d->rows.any = false;
        leave_out(d, NULL);
    }
    d->projection.count = projections;
}

/* ---- while the motion goes on ---- */

bool hmi_driver_watch_rows(hmi_driver *d)
{
    double kept, best;
    size_t m = d->residuals.count;
    const hmi_point at = hmi_driver_point(d);
    if (!d->rows.any || d->rows.exchanges >= MOST_EXCHANGES || !take_rows(d, &at, d->rows.unit))
        return false;
    for (size_t i = 0; i < m; i++)
        d->rows.trial[i] = !d->rows.left_out[i];
    select_rows(d, d->rows.trial, 0, &kept);
    bool risen = d->drift == HMI_DRIFT_PROJECT && largest_rest(d) > RISEN && kept > POOR;
    if (kept > POOR && !risen)
        return false;
    size_t count = select_rows(d, NULL, HMI_DEPENDENT_SINE, &best);
    if (!risen && best < BETTER * kept)
        return false;
    keep_choice(d, count);
    d->rows.exchanges++;
    return true;
}
