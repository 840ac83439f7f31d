/* Four members at once: one attempt at a step, from its length to acceptance. */
#include "integrate/ensemble/batch.h"

#define EACH_LANE for (size_t l = 0; l < HMI_LANES; l++)

/* ---- evaluation ---- */

void hmi_batch_run(const hmi_batch *b, const hmi_lane_tape *tape)
{
    hmi_tape_run_lanes(tape->lanes, &b->values, tape->work);
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

void hmi_batch_point(hmi_batch *b, const hmi_four *t, const double *y)
{
    size_t n = HMI_LANES * b->x->n;
    b->values.by_kind[HMI_SYM_TIME] = t->of;
    b->values.by_kind[HMI_SYM_COORD] = y;
    b->values.by_kind[HMI_SYM_VELOCITY] = y + n;
    b->values.by_kind[HMI_SYM_STATE] = y + 2 * n;
    if (b->inputs.lanes)
        run_inputs(b);
}

/* q'' and what else the motion tape gives, at x->at. */
static void evaluate(hmi_batch *b, const double *y)
{
    hmi_batch_point(b, &b->x->at, y);
    hmi_batch_run(b, &b->motion);
}

/* ---- one attempt ---- */

static double *last_rates(const hmi_lane_data *x)
{
    return x->K + (size_t)x->table->stages * HMI_LANES * x->stride;
}

static void interpret_stages(hmi_batch *b)
{
    hmi_lane_data *x = b->x;
    int stages = x->table->stages;
    for (int i = 1; i < stages; i++) {
        double *y = i == stages - 1 ? x->before : x->trial;
        b->kernels->stage(x, i, y);
        evaluate(b, y);
    }
}

static void run_stages(hmi_batch *b)
{
    hmi_lane_data *x = b->x;
    int stages = x->table->stages, evaluations = stages - 1;
    if (x->stage_h) {
        b->kernels->load(x);
        for (int i = 1; i <= stages; i++)
            b->code->stages.run[i](b->code->stages.motion, &b->values, b->stage_work);
    } else
        interpret_stages(b);
    b->kernels->finish(x);
    if (x->table->error_uses_last) {
        evaluate(b, x->trial);
        b->kernels->rates(x, x->trial, last_rates(x));
        evaluations++;
    }
    b->kernels->count(x, &x->busy, evaluations);
}

/* f at the new states, where it is not known already. */
static void find_new_rates(hmi_batch *b)
{
    hmi_lane_data *x = b->x;
    hmi_four lanes;
    if (!b->kernels->needy(x, &lanes))
        return;
    evaluate(b, x->trial);
    b->kernels->rates(x, x->trial, x->table->error_uses_last ? x->r : last_rates(x));
    if (x->table->error_uses_last)
        b->kernels->select(&lanes, x->width, x->r, last_rates(x));
    b->kernels->count(x, &lanes, 1);
}

int hmi_batch_try(hmi_batch *b)
{
    hmi_lane_data *x = b->x;
    b->kernels->begin(x);
    run_stages(b);
    b->kernels->errors(x);
    b->measured = false;
    if (b->velocity.passage)
        hmi_batch_settle(b);
    find_new_rates(b);
    if (b->kernels->conclude(x))
        hmi_batch_observe(b);
    return b->kernels->wanting(x);
}
