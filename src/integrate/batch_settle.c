/* Four members at once: drift control, rank, violations, energies. See batch.h. */
#include "integrate/batch.h"

#include "dynamics/part.h"
#include "linalg/dense.h"

#include <math.h>
#include <string.h>

#define EACH_LANE for (size_t l = 0; l < HMI_LANES; l++)

/* As in projection.c. */
enum { MOST_STEPS = 12 };

/* The projection of one lane onto one level. */
typedef struct passage {
    bool going, steps; /* a step is to be made */
    double last;
} passage;

/* b := -residual of all lanes */
static void take_residual(hmi_batch *b, hmi_lane_level *level, const double *residual)
{
    hmi_batch_point(b, b->t, b->trial);
    hmi_batch_run(b, &b->residuals);
    for (size_t k = 0; k < level->count; k++)
        EACH_LANE level->b[HMI_LANES * k + l] = -residual[HMI_LANES * level->row[k] + l];
}

/* The step for level->b with M and A of the states before drift control. */
static void find_step(hmi_batch *b, hmi_lane_level *level, passage *lanes)
{
    hmi_batch_point(b, b->t, b->first);
    b->values.by_kind[HMI_SYM_MULTIPLIER] = level->b;
    hmi_batch_run(b, &level->tape);
    const double *margin = level->tape.out + HMI_LANES * level->margin;
    EACH_LANE
    if (lanes[l].steps && !(margin[l] > 0)) {
        b->lane[l].lost = true;
        lanes[l].going = lanes[l].steps = false;
    }
}

static void take_sizes(hmi_lane_level *level)
{
    const double *sizes = level->tape.out + HMI_LANES * level->sizes;
    for (size_t i = 0; i < HMI_LANES * level->count; i++)
        level->size[i] = hmi_larger(2 * HMI_EPSILON * sizes[i], 1e-16);
}

/* The largest residual relative to what rounding allows; infinity where one is not finite. */
static double measure(const hmi_lane_level *level, size_t l)
{
    double largest = 0, sum = 0;
    for (size_t i = l; i < HMI_LANES * level->count; i += HMI_LANES) {
        sum += 0 * level->b[i];
        largest = hmi_larger(largest, fabs(level->b[i]) / hmi_larger(level->size[i], 1e-300));
    }
    return sum == 0 ? largest : INFINITY;
}

static void copy_lane(size_t n, size_t l, const double *from, double *to)
{
    for (size_t i = l; i < HMI_LANES * n; i += HMI_LANES)
        to[i] = from[i];
}

/* The decisions of project_level in projection.c: is there a step to be made? */
static void judge(hmi_batch *b, const hmi_lane_level *level, double *x, int i, size_t l, passage *a)
{
    double now = measure(level, l);
    bool good = true;
    a->steps = false;
    if (now <= 1)
        a->going = false;
    else if (!(now < a->last)) {
        copy_lane(b->n, l, b->best, x);
        b->measured = false;
        good = a->last < 1e4;
        a->going = false;
    } else if (i == MOST_STEPS || (now > 0.25 * a->last && now < 64)) {
        good = now < 1e4;
        a->going = false;
    } else {
        copy_lane(b->n, l, x, b->best);
        a->last = now;
        a->steps = true;
    }
    b->lane[l].lost |= !good;
}

static bool any_steps(const passage *lanes)
{
    return lanes[0].steps || lanes[1].steps || lanes[2].steps || lanes[3].steps;
}

static void project_level(hmi_batch *b, hmi_lane_level *level, double *x, const double *residual)
{
    passage lanes[HMI_LANES];
    EACH_LANE
    {
        bool going = b->lane[l].passing && !b->lane[l].lost;
        lanes[l] = (passage){.going = going, .steps = going, .last = INFINITY};
    }
    for (int i = 0; any_steps(lanes); i++) {
        take_residual(b, level, residual);
        if (i == 0) {
            find_step(b, level, lanes);
            take_sizes(level);
        }
        EACH_LANE
        if (lanes[l].going)
            judge(b, level, x, i, l, &lanes[l]);
        if (i > 0 && any_steps(lanes))
            find_step(b, level, lanes);
        EACH_LANE
        for (size_t k = l; k < HMI_LANES * b->n && lanes[l].steps; k += HMI_LANES)
            x[k] += level->tape.out[k];
    }
}

/* ---- rank ---- */

/* The rows of the velocity level before drift control, of one lane, dense. */
static const double *rows_of_lane(const hmi_batch *b, size_t l)
{
    const hm_system *system = b->d->sim->system;
    const hmi_sparse *A = &system->derived.constraints.A;
    const double *entry = b->dynamics.out + HMI_LANES * system->at.A + l;
    memset(b->rows_dense, 0, b->velocity.count * b->n * sizeof(double));
    for (size_t i = 0; i < b->velocity.count; i++) {
        size_t row = b->velocity.row[i];
        for (size_t k = A->start[row]; k < A->start[row + 1]; k++)
            b->rows_dense[i * b->n + A->column.data[k]] = entry[HMI_LANES * k];
    }
    return b->rows_dense;
}

/* Constraints that lose rank need the care of the driver. */
static void watch_rank(hmi_batch *b)
{
    size_t n = b->n;
    double *y = b->lane_y, *qdd = y + b->width;
    hmi_batch_point(b, b->t, b->first);
    hmi_batch_run(b, &b->dynamics);
    EACH_LANE
    {
        hmi_lane *lane = &b->lane[l];
        if (!lane->accepted)
            continue;
        for (size_t i = 0; i < 2 * n; i++)
            y[i] = b->y[HMI_LANES * i + l];
        for (size_t i = 0; i < n; i++)
            qdd[i] = b->f[HMI_LANES * (n + i) + l];
        lane->lost |= hmi_rank_watch_step(&lane->rank, rows_of_lane(b, l), lane->t, y, qdd);
    }
}

void hmi_batch_settle(hmi_batch *b)
{
    size_t bytes = HMI_LANES * b->size * sizeof(double), n = HMI_LANES * b->n;
    size_t rows = b->d->residuals.count * HMI_LANES;
    memcpy(b->first, b->trial, bytes);
    b->measured = true;
    if (b->position.count)
        project_level(b, &b->position, b->trial, b->residuals.out);
    project_level(b, &b->velocity, b->trial + n, b->residuals.out + rows);
    for (size_t i = 0; i < HMI_LANES * b->size; i++)
        b->r[i] = b->first[i] - b->trial[i];
    b->kernels->scaled(b->r, b->trial, b->trial, b->size, b->d->s.atol, b->d->s.rtol, b->sums);
    EACH_LANE b->lane[l].moved = sqrt(b->sums[l] / (double)b->size);
}

/* ---- violations and energies ---- */

static void keep_largest(double *largest, double value)
{
    if (!(fabs(value) <= *largest))
        *largest = fabs(value);
}

/* As hmi_driver_observe. */
static void observe_energy(hmi_batch *b, size_t l)
{
    hmi_lane *lane = &b->lane[l];
    double work = 0;
    lane->energy = b->total.out[l];
    lane->work_scale = hmi_larger(lane->work_scale, fabs(lane->energy));
    for (size_t i = b->size; i < b->width; i++)
        work += b->y[HMI_LANES * i + l];
    keep_largest(&lane->balance_error, lane->energy - lane->energy_start - 0.0 - work);
}

void hmi_batch_observe(hmi_batch *b)
{
    size_t rows = 2 * b->d->residuals.count;
    bool any = false;
    EACH_LANE
    {
        b->t[l] = b->lane[l].t;
        any |= b->lane[l].accepted;
    }
    if (!any)
        return;
    if (b->dynamics.used)
        watch_rank(b);
    hmi_batch_point(b, b->t, b->y);
    if (rows && !b->measured)
        hmi_batch_run(b, &b->residuals);
    if (b->total.used)
        hmi_batch_run(b, &b->total);
    EACH_LANE
    {
        for (size_t k = 0; k < rows && b->lane[l].accepted; k++)
            keep_largest(&b->lane[l].violation, b->residuals.out[HMI_LANES * k + l]);
        if (b->total.used && b->lane[l].accepted)
            observe_energy(b, l);
    }
}
