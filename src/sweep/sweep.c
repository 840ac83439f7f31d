/* Runs the points of a plan in chunks, each of which is an ensemble, and hands out rows in order. Memory does
 * not grow with the number of points: only the values of one chunk are laid out at a time.
 * Verified: test/unit/sweep/test_sweep.c
 */
#include "base/argument.h"
#include "base/clock.h"
#include "model/model.h"
#include "sweep/measure.h"
#include "sweep/plan.h"

#include <math.h>
#include <string.h>

/* Points of a chunk: few at first, then so many that one takes CHUNK_SECONDS. */
enum { FIRST_CHUNK = 1024, MOST_CHUNK = 1 << 16 };
#define CHUNK_SECONDS 2.0

typedef struct sweep {
    hm_context *context;
    const hm_system *system;
    const hm_sweep_plan *plan;
    const hm_sweep_options *options;
    hm_sweep_result *result;
    hmi_measuring measuring;
    hm_ensemble_column *columns;
    double *values; /* of a chunk */
    double *measures;
    size_t first, count; /* of the chunk */
    size_t width;        /* columns */
    bool stopped;
} sweep;

hm_sweep_options hm_sweep_options_default(const hm_model *model, const hm_sweep_plan *plan)
{
    if (!model || !plan)
        return (hm_sweep_options){0};
    return (hm_sweep_options){.run = hm_run_options_default(model),
                              .end = hm_sweep_plan_points(plan)};
}

/* ---- callbacks of the ensemble: once the user has said stop, nothing more is said to them ---- */

static bool on_frame(void *user, size_t member, const hm_frame *frame)
{
    sweep *s = user;
    const hm_sweep_options *o = s->options;
    if (s->stopped)
        return false;
    hmi_measuring_add(&s->measuring, frame);
    if (o->on_frame && !o->on_frame(o->user, s->first + member, frame))
        s->stopped = true;
    return !s->stopped && !s->measuring.failed;
}

static bool on_member(void *user, const hm_member_result *r)
{
    sweep *s = user;
    const hm_sweep_options *o = s->options;
    if (s->stopped)
        return false;
    hmi_measuring_end(&s->measuring, r, s->measures);
    hmi_measuring_begin(&s->measuring);
    s->result->done++;
    s->result->failed += r->status == HM_RUN_FAILED;
    const hm_sweep_row row = {.point = s->first + r->member,
                              .values = s->values + r->member * s->width,
                              .measures = s->measures,
                              .status = r->status,
                              .message = r->message};
    if (o->on_row && !o->on_row(o->user, &row))
        s->stopped = true;
    return !s->stopped;
}

static bool on_progress(void *user, size_t done, size_t count)
{
    sweep *s = user;
    const hm_sweep_options *o = s->options;
    size_t before = s->first - o->first;
    (void)count;
    if (!s->stopped && o->on_progress && !o->on_progress(o->user, before + done, o->end - o->first))
        s->stopped = true;
    return !s->stopped;
}

/* ---- chunks ---- */

static hm_status run_chunk(sweep *s)
{
    const hm_sweep_options *o = s->options;
    hm_ensemble_options options = hm_ensemble_options_default(s->plan->model);
    hm_ensemble_result result;
    const hm_ensemble_members members = {
        .count = s->count, .column_count = s->width, .columns = s->columns, .values = s->values};
    for (size_t i = 0; i < s->count; i++)
        hm_sweep_plan_point(s->plan, s->first + i, s->values + i * s->width);
    options.run = o->run;
    if (s->measuring.measures->outputs || o->on_frame)
        options.run.content |= HM_FRAME_CONTENT_FORCES;
    options.jobs = o->jobs;
    options.on_member = on_member;
    if (o->on_frame || hmi_measures_need_frames(s->measuring.measures))
        options.on_frame = on_frame;
    options.on_progress = on_progress;
    options.user = s;
    hmi_measuring_begin(&s->measuring);
    hm_status status = hm_ensemble_run(s->context, s->system, &members, &options, &result);
    return status == HM_OK && s->measuring.failed ? HM_ERR_NOMEM : status;
}

static size_t next_count(size_t count, double seconds)
{
    double wanted = seconds > 0 ? (double)count * CHUNK_SECONDS / seconds : MOST_CHUNK;
    return (size_t)fmin(fmax(fmin(wanted, 8.0 * (double)count), 64), MOST_CHUNK);
}

static hm_status run_chunks(sweep *s)
{
    const hm_sweep_options *o = s->options;
    size_t wanted = FIRST_CHUNK;
    for (s->first = o->first; s->first < o->end && !s->stopped; s->first += s->count) {
        double begin = hmi_wall_clock();
        s->count = o->end - s->first < wanted ? o->end - s->first : wanted;
        hm_status status = run_chunk(s);
        if (status != HM_OK)
            return status;
        wanted = next_count(s->count, hmi_wall_clock() - begin);
    }
    s->result->interrupted = s->stopped;
    return HM_OK;
}

/* ---- the whole ---- */

static bool has_event(const hm_model *model, const char *name)
{
    for (size_t i = 0; i < model->events.count; i++)
        if (strcmp(model->events.data[i].name, name) == 0)
            return true;
    return false;
}

static hm_status check_events(hm_context *context, const hm_model *model,
                              const hm_measures *measures)
{
    for (size_t i = 0; i < measures->all.count; i++) {
        const char *event = measures->all.data[i].event;
        if (!event || has_event(model, event))
            continue;
        hmi_error(context, hmi_no_span, "declare it: event NAME: expression = 0 record",
                  "measure '%s': the model has no event '%s'", measures->all.data[i].name, event);
        return HM_ERR_USAGE;
    }
    return HM_OK;
}

static hm_status check_options(hm_context *context, const hm_sweep_plan *plan,
                               const hm_measures *measures, const hm_sweep_options *o)
{
    size_t points = hm_sweep_plan_points(plan);
    if (o->first > o->end || o->end > points) {
        hmi_error(context, hmi_no_span, NULL, "points %zu to %zu of %zu cannot be run", o->first,
                  o->end, points);
        return HM_ERR_USAGE;
    }
    if (measures->outputs > hm_model_output_count(plan->model)) {
        hmi_error(context, hmi_no_span, "give hm_measures_statements to hm_model_options.more",
                  "the model was read without the outputs that the measures need");
        return HM_ERR_USAGE;
    }
    return HM_OK;
}

static hm_status allocate(sweep *s, hmi_arena *arena)
{
    bool failed = false;
    s->columns = hmi_arena_alloc(arena, (s->width + 1) * sizeof *s->columns);
    s->values = hmi_arena_doubles(arena, (size_t)MOST_CHUNK * s->width, &failed);
    s->measures = hmi_arena_doubles(arena, hm_measures_count(s->measuring.measures), &failed);
    for (size_t i = 0; s->columns && i < s->width; i++)
        s->columns[i] = s->plan->columns.data[i].sets;
    return failed || !s->columns ? HM_ERR_NOMEM : HM_OK;
}

hm_status hm_sweep_run(hm_context *context, const hm_system *system, const hm_sweep_plan *plan,
                       const hm_measures *measures, const hm_sweep_options *options,
                       hm_sweep_result *result)
{
    HMI_ARGUMENT(context, context && system && plan && measures && options && result,
                 "a system, a plan, measures and options are needed");
    sweep s = {.context = context, .system = system, .plan = plan, .options = options};
    const hm_allocator *allocator = &context->allocator;
    hmi_arena arena;
    double begin = hmi_wall_clock();
    *result = (hm_sweep_result){.points = options->end - options->first};
    hm_status status = check_options(context, plan, measures, options);
    if (status == HM_OK)
        status = check_events(context, plan->model, measures);
    if (status != HM_OK)
        return status;
    s.result = result;
    s.width = plan->columns.count;
    hmi_arena_init(&arena, allocator);
    status = hmi_measuring_init(&s.measuring, measures, plan->model, allocator);
    if (status == HM_OK)
        status = allocate(&s, &arena);
    if (status == HM_OK)
        status = run_chunks(&s);
    hmi_measuring_release(&s.measuring);
    hmi_arena_release(&arena);
    result->wall_s = hmi_wall_clock() - begin;
    return status;
}
