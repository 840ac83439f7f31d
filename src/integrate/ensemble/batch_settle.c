/* Four members at once: drift control within a step, then rank, violations and energies after it. */
#include "integrate/ensemble/batch.h"

#include "linalg/dense.h"

#include <math.h>
#include <string.h>

/* ---- drift control ---- */

static void take_residual(hmi_batch *b, hmi_lane_level *level, const double *residual)
{
    hmi_batch_point(b, &b->x->at, b->x->trial);
    hmi_batch_run(b, &b->residuals);
    b->kernels->residuals(level->passage, residual);
}

/* The step for the residuals with M and A of the states before drift control. */
static void find_step(hmi_batch *b, hmi_lane_level *level)
{
    const double *margin = level->tape.out + HMI_LANES * level->margin;
    hmi_batch_point(b, &b->x->at, b->x->first);
    b->values.by_kind[HMI_SYM_MULTIPLIER] = level->passage->b;
    hmi_batch_run(b, &level->tape);
    b->kernels->answers(b->x, level->passage, margin);
}

/* z: coordinates or velocities of `trial`. */
static void project_level(hmi_batch *b, hmi_lane_level *level, double *z, const double *residual)
{
    hmi_lane_passage *p = level->passage;
    bool undone = false;
    int going = b->kernels->enter(b->x, p);
    for (int i = 0; going; i++) {
        take_residual(b, level, residual);
        if (i == 0) {
            find_step(b, level);
            b->kernels->sizes(p, level->tape.out + HMI_LANES * level->sizes);
        }
        going = b->kernels->judge(b->x, p, z, i == HMI_MOST_APPROACHES, &undone);
        if (going && i > 0)
            find_step(b, level);
        if (going)
            b->kernels->move(b->x, p, level->tape.out, z);
    }
    b->measured &= !undone;
}

void hmi_batch_settle(hmi_batch *b)
{
    hmi_lane_data *x = b->x;
    size_t n = HMI_LANES * x->n, rows = HMI_LANES * b->d->residuals.count;
    memcpy(x->first, x->trial, HMI_LANES * x->size * sizeof(double));
    b->measured = true;
    if (b->position.passage)
        project_level(b, &b->position, x->trial, b->residuals.out);
    project_level(b, &b->velocity, x->trial + n, b->residuals.out + rows);
    b->kernels->moved(x, b->position.passage ? 0 : x->n, 2 * x->n);
}

/* ---- rank ---- */

/* At the first step of a lane: rows that depend on each other need the care of a single run. */
static void look_for_dependence(hmi_batch *b, size_t l)
{
    const hmi_lane_rank *w = b->rank;
    double *rows = b->rows.end;
    for (size_t i = 0; i < w->m * w->n; i++)
        rows[i] = w->now[HMI_LANES * i + l];
    if (!hmi_rank_rows_independent(&b->rows, rows))
        hmi_lane_mark(&b->x->lost, l, true);
}

static bool any_lane(const hmi_four *mask)
{
    bool any = false;
    for (size_t l = 0; l < HMI_LANES; l++)
        any |= hmi_lane_in(mask, l);
    return any;
}

/* Near a drop errors of velocities count together: the inertias are needed. */
static void relate_velocities(hmi_batch *b)
{
    b->x->least = NULL;
    if (!any_lane(&b->rank->close))
        return;
    hmi_batch_point(b, &b->x->t, b->x->y);
    hmi_batch_run(b, &b->dynamics);
    b->kernels->relate(b->x, b->rank, b->dynamics.out + HMI_LANES * b->d->sim->system->at.M);
    b->x->least = b->rank->least;
}

/* Constraints that lose rank need the care of a single run. */
static void watch_rank(hmi_batch *b)
{
    const double *entries = b->velocity.tape.out + HMI_LANES * b->velocity.rows;
    int dependent = b->kernels->watch(b->x, b->rank, entries);
    for (size_t l = 0; dependent; dependent >>= 1, l++)
        if (dependent & 1)
            look_for_dependence(b, l);
    if (b->dynamics.lanes)
        relate_velocities(b);
}

void hmi_batch_observe(hmi_batch *b)
{
    size_t rows = 2 * b->d->residuals.count;
    if (b->rank)
        watch_rank(b);
    hmi_batch_point(b, &b->x->t, b->x->y);
    if (rows && !b->measured)
        hmi_batch_run(b, &b->residuals);
    if (b->total.lanes)
        hmi_batch_run(b, &b->total);
    b->kernels->observe(b->x, b->residuals.out, rows, b->total.lanes ? b->total.out : NULL);
}
