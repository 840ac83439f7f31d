/* Four members at once: the steps. See batch.h. */
#include "integrate/batch.h"

#include <math.h>
#include <string.h>

#define EACH_LANE for (size_t l = 0; l < HMI_LANES; l++)

/* ---- evaluation ---- */

void hmi_batch_run(const hmi_batch *b, const hmi_lane_tape *tape)
{
    hmi_tape_run_lanes(&tape->lanes, &b->values, tape->work);
}

/* Inputs that no member gave follow the model. */
static void run_inputs(hmi_batch *b)
{
    size_t count = b->d->model->inputs.count;
    hmi_batch_run(b, &b->inputs);
    for (size_t k = 0; k < count; k++)
        for (size_t order = 0; order < 3; order++)
            EACH_LANE
    if (!b->input_set[HMI_LANES * k + l])
        b->input[order][HMI_LANES * k + l] = b->inputs.out[HMI_LANES * (order * count + k) + l];
}

void hmi_batch_point(hmi_batch *b, const double *t, const double *y)
{
    b->values.by_kind[HMI_SYM_TIME] = t;
    b->values.by_kind[HMI_SYM_COORD] = y;
    b->values.by_kind[HMI_SYM_VELOCITY] = y + HMI_LANES * b->n;
    b->values.by_kind[HMI_SYM_STATE] = y + HMI_LANES * 2 * b->n;
    if (b->inputs.used)
        run_inputs(b);
}

void hmi_batch_evaluate(hmi_batch *b, const double *t, const double *y, bool of_passing, double *dy)
{
    size_t n = HMI_LANES * b->n;
    hmi_batch_point(b, t, y);
    hmi_batch_run(b, &b->motion);
    memcpy(dy, y + n, n * sizeof *dy);
    memcpy(dy + n, b->motion.out, (HMI_LANES * b->width - n) * sizeof *dy);
    const double *margin = b->motion.out + HMI_LANES * b->margin;
    EACH_LANE
    {
        hmi_lane *lane = &b->lane[l];
        bool meant = of_passing ? lane->passing : hmi_lane_works(lane);
        lane->evaluations += meant;
        lane->lost |= meant && !(margin[l] > 0);
    }
}

/* ---- one attempt ---- */

/* The length of the step, as in hmi_rk_step. */
static void choose_length(hmi_batch *b, size_t l)
{
    hmi_lane *lane = &b->lane[l];
    double end = b->d->options.end, h = fmin(lane->h, b->d->s.largest), t = lane->t + h;
    lane->wanted = lane->h;
    if (lane->t + 1.01 * h >= end) {
        h = end - lane->t;
        t = end;
    }
    lane->lost |= hmi_rk_too_small(h, lane->t, end);
    lane->h = h;
    lane->t_new = t;
    b->h[l] = h;
}

static void run_stages(hmi_batch *b)
{
    const hmi_rk_table *table = b->table;
    size_t row = HMI_LANES * b->width;
    memcpy(b->K, b->f, row * sizeof *b->K);
    for (int i = 1; i < table->stages; i++) {
        double *at = i == table->stages - 1 ? b->before : b->trial;
        b->kernels->advance(&b->rows.A[i], b->K, b->width, b->y, b->h, at);
        EACH_LANE b->t[l] = b->lane[l].t + table->c[i] * b->h[l];
        hmi_batch_evaluate(b, b->t, at, false, b->K + (size_t)i * row);
    }
    b->kernels->advance(&b->rows.b, b->K, b->width, b->y, b->h, b->trial);
    EACH_LANE b->t[l] = b->lane[l].t_new;
    if (table->error_uses_last)
        hmi_batch_evaluate(b, b->t, b->trial, false, b->K + (size_t)table->stages * row);
}

/* As norm_of_works in rk.c. */
static double norm_of_works(const hmi_batch *b, size_t l)
{
    double largest = 0;
    for (size_t i = b->size; i < b->width; i++) {
        double y = fabs(b->trial[HMI_LANES * i + l]), e = fabs(b->r[HMI_LANES * i + l]);
        double size = b->d->s.atol + b->d->s.rtol * fmax(b->lane[l].work_scale, y);
        largest = fmax(largest, e / (100 * size));
    }
    return largest;
}

static double root_mean(const hmi_batch *b, double sum)
{
    return b->size ? sqrt(sum / (double)b->size) : 0;
}

static void estimate_errors(hmi_batch *b)
{
    double e[HMI_LANES][2] = {{0}}, works[HMI_LANES][2] = {{0}};
    for (int k = 0; k < b->table->errors; k++) {
        b->kernels->combine(&b->rows.estimate[k], b->K, b->width, b->h, b->r);
        b->kernels->scaled(b->r, b->y, b->trial, b->size, b->d->s.atol, b->d->s.rtol, b->sums);
        EACH_LANE
        {
            e[l][k] = root_mean(b, b->sums[l]);
            works[l][k] = b->works ? norm_of_works(b, l) : 0;
        }
    }
    EACH_LANE
    {
        hmi_lane *lane = &b->lane[l];
        lane->error = fmax(hmi_rk_join_estimates(b->table, e[l]),
                           hmi_rk_join_estimates(b->table, works[l]));
        lane->passing = hmi_lane_works(lane) && lane->error < 1;
    }
}

/* A state that drift control moved far fails; f at the new states. */
static void finish_steps(hmi_batch *b)
{
    double *f_new = b->K + (size_t)b->table->stages * HMI_LANES * b->width;
    bool needed = false;
    if (b->velocity.count)
        hmi_batch_settle(b);
    EACH_LANE
    {
        hmi_lane *lane = &b->lane[l];
        if (lane->passing && lane->moved > HMI_MOST_MOVED) {
            lane->error = lane->moved / HMI_MOST_MOVED;
            lane->passing = lane->error < 1;
        }
        needed |= lane->passing && (!b->table->error_uses_last || lane->moved > HMI_MOVED);
    }
    if (!needed)
        return;
    if (!b->table->error_uses_last) {
        hmi_batch_evaluate(b, b->t, b->trial, true, f_new);
        return;
    }
    hmi_batch_evaluate(b, b->t, b->trial, true, b->r);
    EACH_LANE
    if (b->lane[l].passing && b->lane[l].moved > HMI_MOVED)
        for (size_t i = l; i < HMI_LANES * b->width; i += HMI_LANES)
            f_new[i] = b->r[i];
}

/* ---- after it ---- */

/* As look_for_stiffness in rk.c. */
static void look_for_stiffness(hmi_batch *b, size_t l, double above, double below)
{
    hmi_lane *lane = &b->lane[l];
    if (below <= 0 || lane->h * sqrt(above / below) <= b->table->stiff_limit) {
        if (lane->suspicious > 0 && ++lane->smooth >= HMI_SMOOTH_STEPS)
            lane->suspicious = lane->smooth = 0;
        return;
    }
    lane->smooth = 0;
    if (++lane->suspicious >= HMI_STIFF_STEPS)
        lane->stiff = true;
    lane->lost |= lane->stiff && b->automatic;
}

static void accept(hmi_batch *b, size_t l)
{
    hmi_lane *lane = &b->lane[l];
    const double *f_new = b->K + (size_t)b->table->stages * HMI_LANES * b->width;
    for (size_t i = l; i < HMI_LANES * b->width; i += HMI_LANES) {
        b->y_old[i] = b->y[i];
        b->y[i] = b->trial[i];
        b->f[i] = f_new[i];
    }
    double factor = hmi_rk_step_factor(b->table, lane->last_error, lane->error);
    lane->t_old = lane->t;
    lane->t = lane->t_new;
    lane->h_done = lane->h;
    lane->h = lane->h_done * (lane->just_rejected ? fmin(factor, 1) : factor);
    if (lane->h_done < lane->wanted && lane->wanted > lane->h)
        lane->h = lane->wanted; /* a step cut short says nothing about the next */
    lane->last_error = fmax(lane->error, 1e-4);
    lane->just_rejected = false;
    lane->steps++;
}

static void reject(const hmi_batch *b, hmi_lane *lane)
{
    double factor = isfinite(lane->error)
                        ? b->table->safety * pow(lane->error, -1.0 / b->table->order)
                        : 0.25;
    lane->rejected++;
    lane->just_rejected = true;
    lane->h *= fmin(1, fmax(b->table->least_factor, factor));
}

/* As watch_pace in run.c. */
static bool is_crawling(const hmi_batch *b, hmi_lane *lane)
{
    long steps = lane->steps - lane->pace_steps;
    if (steps < HMI_PACE_STEPS)
        return false;
    double advanced = lane->t - lane->pace_t;
    lane->pace_t = lane->t;
    lane->pace_steps = lane->steps;
    return (b->d->options.end - lane->t) * (double)steps > HMI_MOST_STEPS_LEFT * advanced;
}

static void conclude_steps(hmi_batch *b)
{
    const double *f_new = b->K + (size_t)b->table->stages * HMI_LANES * b->width;
    const double *f_last = f_new - HMI_LANES * b->width;
    long most = b->d->options.most_steps;
    double below[HMI_LANES] __attribute__((aligned(32)));
    b->kernels->distance(f_new, f_last, b->size, b->sums);
    b->kernels->distance(b->trial, b->before, b->size, below);
    EACH_LANE
    {
        hmi_lane *lane = &b->lane[l];
        lane->accepted = lane->passing && !lane->lost;
        if (lane->accepted) {
            look_for_stiffness(b, l, b->sums[l], below[l]);
            accept(b, l);
            lane->lost |= is_crawling(b, lane) ||
                          (most && lane->steps >= most && lane->t < b->d->options.end);
        } else if (hmi_lane_works(lane))
            reject(b, lane);
    }
}

void hmi_batch_try(hmi_batch *b)
{
    EACH_LANE
    {
        b->h[l] = 0;
        b->lane[l].moved = 0;
        b->lane[l].passing = b->lane[l].accepted = false;
        if (hmi_lane_works(&b->lane[l]))
            choose_length(b, l);
    }
    run_stages(b);
    estimate_errors(b);
    finish_steps(b);
    conclude_steps(b);
    hmi_batch_observe(b);
}
