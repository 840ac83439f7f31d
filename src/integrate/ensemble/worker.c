/* One thread of an ensemble: takes members, runs four at once or one alone, keeps their records. */
#include "integrate/ensemble/ensemble.h"

#include <math.h>
#include <string.h>

/* ---- creation ---- */

/* What members give is held, as `--at` does it. */
static hm_status create_sim(const hmi_pool *pool, hm_sim **out)
{
    const hm_ensemble_members *m = pool->members;
    hm_status status = hm_sim_create(pool->system, out);
    for (size_t c = 0; c < m->column_count && status == HM_OK; c++) {
        hm_column_kind kind = m->columns[c].kind;
        if (kind == HM_COLUMN_COORDINATE || kind == HM_COLUMN_VELOCITY)
            hm_sim_hold(*out, m->columns[c].index, kind == HM_COLUMN_VELOCITY, true);
    }
    return status;
}

hm_status hmi_worker_init(hmi_worker *w, hmi_pool *pool)
{
    *w = (hmi_worker){.pool = pool};
    return create_sim(pool, &w->starter);
}

void hmi_worker_release(hmi_worker *w)
{
    hmi_batch_destroy(w->batch);
    hm_sim_destroy(w->starter);
    hm_sim_destroy(w->single);
    hmi_pool_release_spare(w->pool, w->spare);
    for (size_t k = 0; k <= HMI_LANES; k++)
        hmi_array_release(w->pool->allocator, &w->rows[k]);
}

/* ---- a member's values ---- */

static void set_value(hm_sim *sim, const hm_ensemble_column *column, double value)
{
    size_t i = column->index;
    switch (column->kind) {
    case HM_COLUMN_PARAM:
        sim->given.params[i] = value;
        sim->given.param_set[i] = true;
        sim->tapes.prepared = false;
        return;
    case HM_COLUMN_COORDINATE:
        sim->state.q[i] = value;
        return;
    case HM_COLUMN_VELOCITY:
        sim->state.v[i] = value;
        return;
    case HM_COLUMN_STATE:
        sim->state.z[i] = value;
        return;
    case HM_COLUMN_INPUT:
        sim->given.inputs[0][i] = value;
        sim->given.inputs[1][i] = sim->given.inputs[2][i] = 0;
        sim->given.input_set[i] = true;
        return;
    }
}

static void set_values(const hmi_worker *w, hm_sim *sim, size_t member, bool params)
{
    const hm_ensemble_members *m = w->pool->members;
    for (size_t c = 0; c < m->column_count; c++)
        if ((m->columns[c].kind == HM_COLUMN_PARAM) == params)
            set_value(sim, &m->columns[c], m->values[member * m->column_count + c]);
}

/* An implicit law may start from the reactions of the last state: here there was none. */
static void forget_reactions(hm_sim *sim)
{
    size_t n = sim->system->derived.n;
    memset(sim->last.reaction, 0, n * sizeof *sim->last.reaction);
    memset(sim->last.total_reaction, 0, n * sizeof *sim->last.total_reaction);
}

static hm_status check_start(const hm_sim *sim)
{
    const hm_model *model = sim->system->model;
    for (size_t i = 0; i < model->coords.count; i++)
        if (!isfinite(sim->state.q[i]) || !isfinite(sim->state.v[i])) {
            hmi_error(sim->context, hmi_no_span, NULL,
                      "the initial value of '%s%s' is not a finite number",
                      model->coords.data[i].name, isfinite(sim->state.q[i]) ? "'" : "");
            return HM_ERR_INPUT;
        }
    for (size_t i = 0; i < model->states.count; i++)
        if (!isfinite(sim->state.z[i])) {
            hmi_error(sim->context, hmi_no_span, NULL,
                      "the initial value of '%s' is not a finite number",
                      model->states.data[i].name);
            return HM_ERR_INPUT;
        }
    return HM_OK;
}

/* Parameters first: what is not given follows from them, as where a model is read. */
static hm_status load_member(hmi_worker *w, hm_sim *sim, size_t member)
{
    const hm_model *model = w->pool->system->model;
    hm_status status = HM_OK;
    forget_reactions(sim);
    if (w->pool->sets_params) {
        set_values(w, sim, member, true);
        status = hmi_system_evaluate_params(w->pool->system, sim->given.param_set,
                                            sim->given.params);
        if (status == HM_OK)
            status = hmi_model_initial_under(model, sim->given.params, sim->state.q, sim->state.v,
                                             sim->state.z);
        if (status != HM_OK)
            return status;
    } else {
        hm_model_initial(model, sim->state.q, sim->state.v, sim->state.z);
    }
    set_values(w, sim, member, false);
    return check_start(sim);
}

/* ---- to and from the pool ---- */

static bool take_member(hmi_worker *w, size_t *member)
{
    if (w->next == w->end)
        w->next = hmi_pool_take(w->pool, &w->end);
    *member = w->next;
    if (w->next == w->end || atomic_load_explicit(&w->pool->stop, memory_order_relaxed))
        return false;
    w->next++;
    return true;
}

static void deliver(hmi_worker *w, bool wait)
{
    if (w->done_count && hmi_pool_deliver(w->pool, w->done, w->done_count, wait, &w->spare))
        w->done_count = 0;
}

/* With the frames of the present slot. Goes out with some others. */
static void keep_result(hmi_worker *w, const hm_member_result *result)
{
    hmi_member_record *record = hmi_pool_record(w->pool, result, &w->rows[w->slot], &w->spare);
    if (!record)
        return;
    w->done[w->done_count++] = record;
    if (w->done_count >= HMI_DELIVERY)
        deliver(w, w->done_count == HMI_MOST_WAITING);
}

/* ---- frames ---- */

static bool keep_frame(void *user, const hm_frame *frame)
{
    hmi_worker *w = user;
    if (!hmi_pool_keep_frame(w->pool, &w->rows[w->slot], frame))
        hmi_pool_fail(w->pool, HM_ERR_NOMEM);
    return !atomic_load(&w->pool->stop);
}

static bool look_up(hmi_worker *w)
{
    enum { OFTEN = 256 };
    if (++w->ticks % OFTEN == 0) {
        deliver(w, false);
        hmi_pool_poll(w->pool);
    }
    return !atomic_load_explicit(&w->pool->stop, memory_order_relaxed);
}

static bool on_progress(void *user, double t, double part)
{
    (void)t;
    (void)part;
    return look_up(user);
}

/* Where the span depends on parameters: the member's own, as far as the options leave it open. */
static hm_status take_own_span(const hmi_pool *pool, const double *params, hm_run_options *options)
{
    double start, end, every;
    hm_status status = hmi_model_span_under(pool->system->model, params, &start, &end, &every);
    if (isnan(options->start))
        options->start = start;
    if (isnan(options->end))
        options->end = end;
    if (isnan(options->every))
        options->every = every;
    return status;
}

static hm_run_options run_options(hmi_worker *w)
{
    hm_run_options options = w->pool->options.run;
    options.on_frame = w->pool->options.on_frame ? keep_frame : NULL;
    options.on_progress = on_progress;
    options.user = w;
    return options;
}

/* ---- a member by hm_sim_run ---- */

static const char *first_error(const hm_context *context)
{
    for (size_t i = 0; i < context->diagnostics.count; i++)
        if (context->diagnostics.data[i].severity == HM_SEVERITY_ERROR)
            return context->diagnostics.data[i].message;
    return NULL;
}

static const char *explain(const hmi_worker *w, hm_status status, const char *message)
{
    const char *error = w->single ? first_error(w->single->context) : NULL;
    if (message && message[0])
        return message;
    return error ? error : status == HM_OK ? "" : hm_status_text(status);
}

static const double *final_outputs(hmi_worker *w, hm_sim *sim)
{
    hm_frame frame;
    bool wanted = (w->pool->options.run.content & HM_FRAME_CONTENT_FORCES) && w->pool->outputs;
    return wanted && hm_sim_frame(sim, HM_FRAME_CONTENT_FORCES, &frame) == HM_OK ? frame.outputs
                                                                                 : NULL;
}

static hm_member_result result_of_run(hmi_worker *w, hm_status status, const hm_run_result *run)
{
    double start = w->pool->options.run.start;
    hm_member_result r = {.status = run->status};
    r.t_end = isnan(start) ? w->pool->system->model->simulate.start : start;
    if (!run->q)
        return r;
    r.t_end = run->t_end;
    r.outputs = final_outputs(w, w->single);
    hm_sim_state(w->single, NULL, NULL, NULL);
    r.q = run->q;
    r.v = run->v;
    r.z = run->z;
    r.steps = run->steps;
    r.rejected = run->rejected;
    r.evaluations = run->evaluations;
    for (size_t k = 0; k < run->constraints; k++)
        if (!(run->violation[k] <= r.violation))
            r.violation = run->violation[k];
    r.has_total = run->has_total;
    r.energy_initial = run->energy_initial;
    r.energy_final = run->energy_final;
    r.balance_error = run->balance_error;
    r.events = run->events;
    r.event_count = run->event_count;
    r.events_dropped = run->events_dropped;
    (void)status;
    return r;
}

/* What a run compiled for one state does not serve another: results must not depend on the order. */
static void forget_shift(hm_sim *sim)
{
    const hmi_run *d = hmi_run_of(sim);
    if (d && d->motion && d->motion->shifted)
        sim->extras.run_destroy(sim->extras.run);
}

static hm_status run_member(hmi_worker *w, size_t member, hm_run_result *run)
{
    *run = (hm_run_result){.status = HM_RUN_FAILED, .message = ""};
    hm_status status = w->single ? HM_OK : create_sim(w->pool, &w->single);
    if (status != HM_OK)
        return status;
    forget_shift(w->single);
    hm_run_options options = run_options(w);
    status = load_member(w, w->single, member);
    if (status == HM_OK && w->pool->own_span)
        status = take_own_span(w->pool, w->single->given.params, &options);
    return status == HM_OK ? hm_sim_run(w->single, &options, run) : status;
}

static void run_alone(hmi_worker *w, size_t member)
{
    hm_run_result run;
    w->slot = HMI_LANES;
    w->rows[w->slot].count = 0;
    if (w->single)
        hm_context_clear(w->single->context);
    hm_status status = run_member(w, member, &run);
    if (status == HM_ERR_NOMEM)
        hmi_pool_fail(w->pool, status);
    if (status == HM_ERR_NOMEM || run.status == HM_RUN_INTERRUPTED)
        return;
    hm_member_result result = result_of_run(w, status, &run);
    result.member = member;
    result.message = explain(w, status, run.message);
    keep_result(w, &result);
    deliver(w, false);
}

/* ---- members on lanes ---- */

hm_status hmi_worker_start(hmi_worker *w, size_t member)
{
    hm_run_options options = run_options(w);
    hm_status status = load_member(w, w->starter, member);
    if (status == HM_OK && w->pool->own_span)
        status = take_own_span(w->pool, w->starter->given.params, &options);
    if (status == HM_OK)
        status = hm_sim_start(w->starter, &options);
    return w->starter->context->out_of_memory ? HM_ERR_NOMEM : status;
}

hm_status hmi_worker_make_batch(hmi_worker *w)
{
    return hmi_batch_create(hmi_run_of(w->starter), &w->pool->code, &w->batch);
}

/* The starter takes over a lane, its parameters included. */
static void show_lane(hmi_worker *w, size_t l)
{
    hmi_batch *b = w->batch;
    hm_sim *sim = w->starter;
    for (size_t i = 0; i < w->pool->system->model->params.count && w->pool->sets_params; i++) {
        sim->given.params[i] = b->params[HMI_LANES * i + l];
        sim->tapes.prepared = false;
    }
    hmi_run_enter(b->d);
    hmi_batch_show(b, l);
}

/* Frames at output times within the last step. */
static void give_frames(hmi_worker *w, size_t l)
{
    hmi_run *d = w->batch->d;
    hmi_lane_data *x = w->batch->x;
    if (x->t.of[l] < x->next_output.of[l])
        return;
    show_lane(w, l);
    w->slot = l;
    long before = d->ode.evaluations;
    (void)!hmi_run_give_outputs(d);
    hmi_batch_note_outputs(w->batch, l, d->recorder.outputs);
    x->evaluations.of[l] += (double)(d->ode.evaluations - before);
}

/* The member that the run has restarted with. */
static void put_on_lane(hmi_worker *w, size_t l, size_t member)
{
    hmi_batch *b = w->batch;
    bool fresh = w->pool->sets_params || !w->has_params[l];
    w->has_params[l] = true;
    w->slot = l;
    w->rows[l].count = 0;
    if (b->d->options.on_frame)
        (void)!hmi_run_give_outputs(b->d);
    hmi_batch_put(b, l, member, fresh);
}

/* The next member that starts, onto a lane; those that do not start are run alone. */
static void fill_lane(hmi_worker *w, size_t l)
{
    size_t member;
    hmi_lane_mark(&w->batch->x->busy, l, false);
    while (take_member(w, &member)) {
        hm_status status = load_member(w, w->starter, member);
        if (status == HM_OK)
            status = hmi_run_restart(w->batch->d);
        if (status == HM_OK) {
            put_on_lane(w, l, member);
            return;
        }
        run_alone(w, member);
    }
}

static void finish_lane(hmi_worker *w, size_t l)
{
    hmi_run *d = w->batch->d;
    const hmi_lane_data *x = w->batch->x;
    size_t n = d->ode.n;
    show_lane(w, l);
    w->slot = l;
    if (d->options.on_frame)
        (void)!hmi_run_give_end(d);
    hm_member_result result = {.member = w->batch->member[l],
                               .status = HM_RUN_OK,
                               .message = "",
                               .batched = true,
                               .t_end = x->t.of[l],
                               .q = d->s.y,
                               .v = d->s.y + n,
                               .z = d->s.y + 2 * n,
                               .outputs = final_outputs(w, w->starter),
                               .steps = (long)x->steps.of[l],
                               .rejected = (long)x->rejected.of[l],
                               .evaluations = (long)x->evaluations.of[l],
                               .violation = x->violation.of[l],
                               .has_total = d->recorder.energy.known,
                               .energy_initial = x->energy_start.of[l],
                               .energy_final = x->energy.of[l],
                               .balance_error = x->balance_error.of[l]};
    keep_result(w, &result);
}

/* A lane that is lost, or arrived somewhere: what is finished makes room. */
static void tend_lane(hmi_worker *w, size_t l)
{
    const hmi_lane_data *x = w->batch->x;
    if (!hmi_lane_in(&x->lost, l)) {
        give_frames(w, l);
        if (x->t.of[l] < x->end)
            return;
        finish_lane(w, l);
    } else
        run_alone(w, w->batch->member[l]);
    fill_lane(w, l);
}

static bool any_busy(const hmi_lane_data *x)
{
    bool any = false;
    for (size_t l = 0; l < HMI_LANES; l++)
        any |= hmi_lane_in(&x->busy, l);
    return any;
}

static void run_batches(hmi_worker *w)
{
    for (size_t l = 0; l < HMI_LANES; l++)
        fill_lane(w, l);
    while (any_busy(w->batch->x) && look_up(w)) {
        int wanting = hmi_batch_try(w->batch);
        for (size_t l = 0; wanting; wanting >>= 1, l++)
            if (wanting & 1)
                tend_lane(w, l);
    }
}

void hmi_worker_run(hmi_worker *w)
{
    size_t member;
    if (w->batch)
        run_batches(w);
    while (take_member(w, &member))
        run_alone(w, member);
    deliver(w, true);
}
