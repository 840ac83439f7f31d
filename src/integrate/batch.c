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

/* y' at (b->t, y) of all lanes; bad: those without an answer get bits there. */
static void evaluate(hmi_batch *b, const double *y, double *dy)
{
    hmi_batch_point(b, b->t, y);
    hmi_batch_run(b, &b->motion);
    b->kernels->rates(b->n, b->width, y + HMI_LANES * b->n, b->motion.out,
                      b->motion.out + HMI_LANES * b->margin, dy, b->bad);
}

static void clear_bad(hmi_batch *b)
{
    memset(b->bad, 0, HMI_LANES * sizeof *b->bad);
}

/* After evaluations: lanes that had no answer are lost, of those that they were for. */
static void find_lost(hmi_batch *b, bool of_passing, long evaluations)
{
    uint64_t bad[HMI_LANES];
    memcpy(bad, b->bad, sizeof bad);
    EACH_LANE
    {
        hmi_lane *lane = &b->lane[l];
        if (of_passing ? lane->passing : hmi_lane_works(lane)) {
            lane->evaluations += evaluations;
            lane->lost |= bad[l] != 0;
        }
    }
}

/* ---- one attempt ---- */

/* The length of the step, as in hmi_rk_step. */
static void choose_length(hmi_batch *b, size_t l)
{
    hmi_lane *lane = &b->lane[l];
    double end = b->d->options.end, h = hmi_smaller(lane->h, b->d->s.largest), t = lane->t + h;
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
    double t[HMI_LANES];
    EACH_LANE t[l] = b->lane[l].t;
    clear_bad(b);
    b->kernels->copy(b->width, b->f, b->K);
    for (int i = 1; i < table->stages; i++) {
        double *at = i == table->stages - 1 ? b->before : b->trial;
        b->kernels->advance(&b->rows.A[i], b->K, b->width, b->y, b->h, at);
        EACH_LANE b->t[l] = t[l] + table->c[i] * b->h[l];
        evaluate(b, at, b->K + (size_t)i * row);
    }
    b->kernels->advance(&b->rows.b, b->K, b->width, b->y, b->h, b->trial);
    EACH_LANE b->t[l] = b->lane[l].t_new;
    if (table->error_uses_last)
        evaluate(b, b->trial, b->K + (size_t)table->stages * row);
    find_lost(b, false, table->stages - 1 + table->error_uses_last);
}

/* As norm_of_works in rk.c. */
static double norm_of_works(const hmi_batch *b, size_t l)
{
    double largest = 0;
    for (size_t i = b->size; i < b->width; i++) {
        double y = fabs(b->trial[HMI_LANES * i + l]), e = fabs(b->r[HMI_LANES * i + l]);
        double size = b->d->s.atol + b->d->s.rtol * hmi_larger(b->lane[l].work_scale, y);
        largest = hmi_larger(largest, e / (100 * size));
    }
    return largest;
}

/* Errors of the works, where there are any. */
static void add_work_errors(hmi_batch *b)
{
    double works[HMI_LANES][2] = {{0}};
    for (int k = 0; k < b->table->errors; k++) {
        b->kernels->combine(&b->rows.estimate[k], b->K, b->width, b->h, b->r);
        EACH_LANE works[l][k] = norm_of_works(b, l);
    }
    EACH_LANE b->lane[l].error = hmi_larger(b->lane[l].error,
                                            hmi_rk_join_estimates(b->table, works[l]));
}

static void estimate_errors(hmi_batch *b)
{
    const hmi_stepper *s = &b->d->s;
    const double tolerance[2] = {s->atol, s->rtol};
    if (b->table->errors == 2)
        b->kernels->error(b->rows.estimate, b->K, b->width, b->h, b->y, b->trial, b->size,
                          tolerance, b->sums);
    else {
        b->kernels->combine(&b->rows.estimate[0], b->K, b->width, b->h, b->r);
        b->kernels->scaled(b->r, b->y, b->trial, b->size, s->atol, s->rtol, b->sums);
        EACH_LANE b->sums[l] = sqrt(b->sums[l] / (double)b->size);
    }
    EACH_LANE b->lane[l].error = b->sums[l];
    if (b->works)
        add_work_errors(b);
    EACH_LANE b->lane[l].passing = hmi_lane_works(&b->lane[l]) && b->lane[l].error < 1;
}

/* A state that drift control moved far fails. */
static void settle_steps(hmi_batch *b)
{
    if (b->velocity.count)
        hmi_batch_settle(b);
    EACH_LANE
    {
        hmi_lane *lane = &b->lane[l];
        if (lane->passing && lane->moved > HMI_MOST_MOVED) {
            lane->error = lane->moved / HMI_MOST_MOVED;
            lane->passing = lane->error < 1;
        }
    }
}

static void select_passing(const hmi_batch *b, const double *from, double *to)
{
    double mask[HMI_LANES] __attribute__((aligned(32)));
    EACH_LANE mask[l] = b->lane[l].passing ? 1 : 0;
    b->kernels->select(mask, b->width, from, to);
}

/* f at the new states, where it is not known already. */
static void find_new_rates(hmi_batch *b)
{
    double *f_new = b->K + (size_t)b->table->stages * HMI_LANES * b->width;
    bool passing[HMI_LANES], any = false;
    EACH_LANE
    {
        hmi_lane *lane = &b->lane[l];
        passing[l] = lane->passing;
        lane->passing &= !b->table->error_uses_last || lane->moved > HMI_MOVED;
        any |= lane->passing;
    }
    clear_bad(b);
    if (any) {
        evaluate(b, b->trial, b->table->error_uses_last ? b->r : f_new);
        find_lost(b, true, 1);
    }
    if (b->table->error_uses_last)
        select_passing(b, b->r, f_new);
    EACH_LANE b->lane[l].passing = passing[l];
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

/* The new states of lanes that are accepted become the present ones. */
static void advance_states(hmi_batch *b, const double *f_new)
{
    double mask[HMI_LANES] __attribute__((aligned(32)));
    EACH_LANE mask[l] = b->lane[l].accepted ? 1 : 0;
    b->kernels->select(mask, b->width, b->y, b->y_old);
    b->kernels->select(mask, b->width, b->trial, b->y);
    b->kernels->select(mask, b->width, f_new, b->f);
}

static void accept(const hmi_batch *b, hmi_lane *lane)
{
    double factor = hmi_rk_step_factor(b->table, lane->last_log, lane->error, &lane->last_log);
    lane->t_old = lane->t;
    lane->t = lane->t_new;
    lane->h_done = lane->h;
    lane->h = lane->h_done * (lane->just_rejected ? hmi_smaller(factor, 1) : factor);
    if (lane->h_done < lane->wanted && lane->wanted > lane->h)
        lane->h = lane->wanted; /* a step cut short says nothing about the next */
    lane->just_rejected = false;
    lane->steps++;
}

static void reject(const hmi_batch *b, hmi_lane *lane)
{
    lane->rejected++;
    lane->just_rejected = true;
    lane->h *= hmi_rk_reject_factor(b->table, lane->error);
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
            accept(b, lane);
            lane->lost |= is_crawling(b, lane) ||
                          (most && lane->steps >= most && lane->t < b->d->options.end);
        } else if (hmi_lane_works(lane))
            reject(b, lane);
    }
    advance_states(b, f_new);
}

static void begin_steps(hmi_batch *b)
{
    b->measured = false;
    EACH_LANE
    {
        b->h[l] = 0;
        b->lane[l].moved = 0;
        b->lane[l].passing = b->lane[l].accepted = false;
        if (hmi_lane_works(&b->lane[l]))
            choose_length(b, l);
    }
}

void hmi_batch_try(hmi_batch *b)
{
    begin_steps(b);
    run_stages(b);
    estimate_errors(b);
    settle_steps(b);
    find_new_rates(b);
    conclude_steps(b);
    hmi_batch_observe(b);
}
