/* The pool of an ensemble: what the columns of its table mean, members handed out to workers, results given
 * in the order of the members. */
#include "base/argument.h"
#include "integrate/ensemble/ensemble.h"

#include "base/clock.h"

#include <math.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

/* ---- columns ---- */

static hm_status found(hm_ensemble_column *column, hm_column_kind kind, size_t index)
{
    *column = (hm_ensemble_column){kind, index};
    return HM_OK;
}

static hm_status find_param(hm_context *context, const hm_model *model, const char *name,
                            hm_ensemble_column *column)
{
    for (size_t i = 0; i < model->params.count; i++) {
        if (strcmp(model->params.data[i].name, name) != 0)
            continue;
        if (!model->params.data[i].structural)
            return found(column, HM_COLUMN_PARAM, i);
        hmi_error(context, hmi_no_span, "set it when the model is read (--set)",
                  "parameter '%s' sets a size and cannot differ between members", name);
        return HM_ERR_USAGE;
    }
    hmi_error(context, hmi_no_span,
              "a column is named after a parameter, coordinate, velocity, state or input",
              "there is no '%s' in the model", name);
    return HM_ERR_USAGE;
}

/* "x'" is the velocity of x. */
static bool is_velocity_of(const char *name, const char *coordinate)
{
    size_t length = strlen(coordinate);
    return strncmp(name, coordinate, length) == 0 && strcmp(name + length, "'") == 0;
}

hm_status hm_ensemble_find_column(hm_context *context, const hm_model *model, const char *name,
                                  hm_ensemble_column *column)
{
    HMI_ARGUMENT(context, context && model && name && column, "a model and a name are needed");
    for (size_t i = 0; i < model->coords.count; i++) {
        if (strcmp(model->coords.data[i].name, name) == 0)
            return found(column, HM_COLUMN_COORDINATE, i);
        if (is_velocity_of(name, model->coords.data[i].name))
            return found(column, HM_COLUMN_VELOCITY, i);
    }
    for (size_t i = 0; i < model->states.count; i++)
        if (strcmp(model->states.data[i].name, name) == 0)
            return found(column, HM_COLUMN_STATE, i);
    for (size_t i = 0; i < model->inputs.count; i++)
        if (strcmp(model->inputs.data[i].name, name) == 0)
            return hmi_model_input_is_free(context, model, i, hmi_no_span)
                       ? found(column, HM_COLUMN_INPUT, i)
                       : HM_ERR_USAGE;
    return find_param(context, model, name, column);
}

hm_ensemble_options hm_ensemble_options_default(const hm_model *model)
{
    if (!model)
        return (hm_ensemble_options){0};
    hm_ensemble_options options = {.run = hm_run_options_default(model)};
    if (hmi_model_span_varies(model))
        options.run.start = options.run.end = options.run.every = NAN;
    return options;
}

/* ---- frames as rows ---- */

enum {
    ROW_REASON,
    ROW_EVENT,
    ROW_TIME,
    ROW_KINETIC,
    ROW_POTENTIAL,
    ROW_TOTAL,
    ROW_BALANCE,
    ROW_HEAD
};

static double *append(double *at, const double *values, size_t count)
{
    for (size_t i = 0; i < count; i++)
        at[i] = values ? values[i] : NAN;
    return at + count;
}

bool hmi_pool_keep_frame(hmi_pool *pool, hmi_frame_rows *rows, const hm_frame *frame)
{
    if (!hmi_array_reserve(pool->allocator, rows, pool->row_size))
        return false;
    double *row = rows->data + rows->count;
    row[ROW_REASON] = (double)frame->reason;
    row[ROW_EVENT] = (double)frame->event;
    row[ROW_TIME] = frame->t;
    row[ROW_KINETIC] = frame->kinetic;
    row[ROW_POTENTIAL] = frame->potential;
    row[ROW_TOTAL] = frame->total;
    row[ROW_BALANCE] = frame->balance;
    double *at = append(row + ROW_HEAD, frame->q, pool->n);
    at = append(at, frame->v, pool->n);
    at = append(at, frame->z, pool->states);
    append(at, frame->outputs, pool->outputs);
    rows->count += pool->row_size;
    return true;
}

static bool give_row(const hmi_pool *pool, size_t member, const double *row)
{
    const hm_ensemble_options *o = &pool->options;
    const hmi_derived *derived = &pool->system->derived;
    bool energy = o->run.content & HM_FRAME_CONTENT_ENERGY,
         forces = o->run.content & HM_FRAME_CONTENT_FORCES;
    const double *q = row + ROW_HEAD, *v = q + pool->n, *z = v + pool->n;
    hm_frame frame = {.reason = (hm_frame_reason)row[ROW_REASON],
                      .event = (size_t)row[ROW_EVENT],
                      .t = row[ROW_TIME],
                      .q = q,
                      .v = v,
                      .z = z,
                      .outputs = forces && pool->outputs ? z + pool->states : NULL,
                      .has_energy = energy && derived->kinetic != HMI_NONE,
                      .has_total = energy && derived->total != HMI_NONE,
                      .kinetic = row[ROW_KINETIC],
                      .potential = row[ROW_POTENTIAL],
                      .total = row[ROW_TOTAL],
                      .balance = row[ROW_BALANCE]};
    return o->on_frame(o->user, member, &frame);
}

/* ---- records ---- */

static const double *copy_to(double **at, const double *from, size_t count)
{
    double *to = *at;
    if (!from)
        return NULL;
    memcpy(to, from, count * sizeof *to);
    *at += count;
    return to;
}

/* Of a record with so many events and a message of so many characters, its end included. */
static size_t record_bytes(const hmi_pool *pool, size_t events, size_t text)
{
    size_t doubles = 2 * pool->n + pool->states + pool->outputs;
    return sizeof(hmi_member_record) + doubles * sizeof(double) + events * sizeof(hm_run_event) +
           text;
}

hmi_member_record *hmi_pool_record(hmi_pool *pool, const hm_member_result *result,
                                   hmi_frame_rows *rows, hmi_member_record **spare)
{
    size_t text = strlen(result->message) + 1, events = result->event_count;
    size_t bytes = record_bytes(pool, events, text);
    hmi_member_record *record = bytes == record_bytes(pool, 0, 1) ? *spare : NULL;
    if (record)
        *spare = record->next;
    else
        record = hmi_alloc(pool->allocator, bytes);
    if (!record) {
        hmi_pool_fail(pool, HM_ERR_NOMEM);
        return NULL;
    }
    double *at = (double *)(record + 1);
    *record = (hmi_member_record){.result = *result, .bytes = bytes};
    record->result.q = copy_to(&at, result->q, pool->n);
    record->result.v = copy_to(&at, result->v, pool->n);
    record->result.z = copy_to(&at, result->z, pool->states);
    record->result.outputs = copy_to(&at, result->outputs, pool->outputs);
    hm_run_event *event = (hm_run_event *)at;
    for (size_t i = 0; i < events; i++)
        event[i] = result->events[i];
    record->result.events = events ? event : NULL;
    record->result.message = memcpy(event + events, result->message, text);
    memcpy(&record->rows, rows, sizeof *rows);
    memset(rows, 0, sizeof *rows);
    return record;
}

static void release_record(hmi_pool *pool, hmi_member_record *record)
{
    if (!record)
        return;
    hmi_array_release(pool->allocator, &record->rows);
    hmi_free(pool->allocator, record, record->bytes);
}

/* The next record without a message may use it. */
static void keep_block(hmi_pool *pool, hmi_member_record *record)
{
    if (record->bytes != record_bytes(pool, 0, 1)) {
        release_record(pool, record);
        return;
    }
    hmi_array_release(pool->allocator, &record->rows);
    record->next = pool->spare;
    pool->spare = record;
}

void hmi_pool_release_spare(hmi_pool *pool, hmi_member_record *spare)
{
    while (spare) {
        hmi_member_record *next = spare->next;
        hmi_free(pool->allocator, spare, spare->bytes);
        spare = next;
    }
}

static void count_result(hmi_pool *pool, const hm_member_result *r)
{
    pool->given++;
    pool->result->ok += r->status == HM_RUN_OK;
    pool->result->events += r->status == HM_RUN_EVENT;
    pool->result->failed += r->status == HM_RUN_FAILED;
    pool->result->batched += r->batched;
}

/* A callback said stop: no call follows. */
static void cancel(hmi_pool *pool)
{
    pool->cancelled = true;
    atomic_store(&pool->stop, true);
}

/* To the user, frames first; what the user was not told of does not count. */
static void give_record(hmi_pool *pool, hmi_member_record *record)
{
    const hm_ensemble_options *o = &pool->options;
    bool wanted = true;
    if (pool->cancelled)
        return;
    for (size_t i = 0; i < record->rows.count && wanted; i += pool->row_size)
        wanted = give_row(pool, record->result.member, record->rows.data + i);
    if (wanted)
        count_result(pool, &record->result);
    if (wanted && o->on_member)
        wanted = o->on_member(o->user, &record->result);
    if (!wanted)
        cancel(pool);
}

static void tell_progress(hmi_pool *pool)
{
    const hm_ensemble_options *o = &pool->options;
    if (!pool->cancelled && !o->on_progress(o->user, pool->done, pool->members->count))
        cancel(pool);
}

bool hmi_pool_deliver(hmi_pool *pool, hmi_member_record **records, size_t count, bool wait,
                      hmi_member_record **spare)
{
    if (wait)
        pthread_mutex_lock(&pool->lock);
    else if (pthread_mutex_trylock(&pool->lock) != 0)
        return false;
    for (size_t i = 0; i < count; i++) {
        pool->records[records[i]->result.member] = records[i];
        pool->done++;
    }
    while (pool->cursor < pool->members->count && pool->records[pool->cursor]) {
        give_record(pool, pool->records[pool->cursor]);
        keep_block(pool, pool->records[pool->cursor]);
        pool->records[pool->cursor++] = NULL;
    }
    if (!*spare) {
        *spare = pool->spare;
        pool->spare = NULL;
    }
    pthread_mutex_unlock(&pool->lock);
    return true;
}

/* What is done behind members that are not. */
static void give_rest(hmi_pool *pool)
{
    for (size_t i = pool->cursor; i < pool->members->count; i++) {
        if (pool->records[i] && pool->status == HM_OK)
            give_record(pool, pool->records[i]);
        release_record(pool, pool->records[i]);
    }
}

size_t hmi_pool_take(hmi_pool *pool, size_t *end)
{
    enum { MOST = 16, PARTS = 8 };
    size_t count = pool->members->count, next = atomic_load(&pool->next);
    size_t part = next < count ? (count - next) / (PARTS * pool->result->jobs) : 0;
    part = part > MOST ? MOST : part ? part : 1;
    *end = count;
    if (next >= count || atomic_load(&pool->stop))
        return count;
    next = atomic_fetch_add(&pool->next, part);
    if (next < count && part < count - next)
        *end = next + part;
    return next < count ? next : count;
}

void hmi_pool_poll(hmi_pool *pool)
{
    if (!pool->options.on_progress)
        return;
    pthread_mutex_lock(&pool->lock);
    tell_progress(pool);
    pthread_mutex_unlock(&pool->lock);
}

void hmi_pool_fail(hmi_pool *pool, hm_status status)
{
    pthread_mutex_lock(&pool->lock);
    pool->status = status;
    pthread_mutex_unlock(&pool->lock);
    atomic_store(&pool->stop, true);
}

/* ---- the pool ---- */

static hm_status refuse(hm_context *context, const char *format, size_t a, size_t b)
{
    hmi_error(context, hmi_no_span, NULL, format, a, b);
    return HM_ERR_USAGE;
}

static size_t column_limit(const hm_model *model, hm_column_kind kind)
{
    const size_t limits[] = {model->params.count, model->coords.count, model->coords.count,
                             model->states.count, model->inputs.count};
    return (size_t)kind < sizeof limits / sizeof *limits ? limits[kind] : 0;
}

static hm_status check_members(hm_context *context, const hm_system *system,
                               const hm_ensemble_members *m)
{
    for (size_t c = 0; c < m->column_count; c++) {
        const hm_ensemble_column *column = &m->columns[c];
        if (column->index >= column_limit(system->model, column->kind))
            return refuse(context, "column %zu sets number %zu, which does not exist", c,
                          column->index);
        if (column->kind == HM_COLUMN_PARAM && system->model->params.data[column->index].structural)
            return refuse(context, "column %zu sets structural parameter number %zu", c,
                          column->index);
    }
    for (size_t i = 0; i < m->count * m->column_count; i++)
        if (!isfinite(m->values[i]))
            return refuse(context, "member %zu, column %zu: the value is not finite",
                          i / m->column_count, i % m->column_count);
    return HM_OK;
}

static void init_pool(hmi_pool *pool)
{
    const hm_model *model = pool->system->model;
    pool->n = model->coords.count;
    pool->states = model->states.count;
    pool->outputs = model->outputs.count;
    pool->row_size = ROW_HEAD + 2 * pool->n + pool->states + pool->outputs;
    for (size_t c = 0; c < pool->members->column_count; c++)
        pool->sets_params |= pool->members->columns[c].kind == HM_COLUMN_PARAM;
    const hm_run_options *run = &pool->options.run;
    pool->own_span = pool->sets_params && hmi_model_span_varies(model) &&
                     (isnan(run->start) || isnan(run->end) || isnan(run->every));
    pthread_mutex_init(&pool->lock, NULL);
    atomic_init(&pool->next, 0);
    atomic_init(&pool->stop, false);
    pool->allocator = pool->system->allocator;
}

/* Options that are wrong for one member are for all: what errors say goes to the caller. */
static void pass_on(const hm_context *from, hm_context *to)
{
    for (size_t i = 0; i < from->diagnostics.count; i++)
        if (from->diagnostics.data[i].severity == HM_SEVERITY_ERROR)
            hmi_error(to, hmi_no_span, NULL, "%s", from->diagnostics.data[i].message);
}

/* The first of some members that starts is the one that everything is compiled at. */
static hm_status find_reference(hmi_pool *pool, hmi_worker *first)
{
    enum { MOST_TRIES = 16 };
    size_t count = pool->members->count;
    for (size_t i = 0; i < count && i < MOST_TRIES; i++) {
        hm_status status = hmi_worker_start(first, i);
        if (status == HM_ERR_USAGE)
            pass_on(first->starter->context, pool->context);
        hm_context_clear(first->starter->context);
        if (status == HM_ERR_NOMEM || status == HM_ERR_USAGE)
            return status;
        if (status != HM_OK)
            continue;
        const char *why = pool->own_span ? "the time span depends on the parameters"
                                         : hmi_batch_refusal(hmi_run_of(first->starter));
        snprintf(pool->result->why_not, sizeof pool->result->why_not, "%s", why ? why : "");
        pool->batched = !why;
        pool->reference = i;
        return HM_OK;
    }
    snprintf(pool->result->why_not, sizeof pool->result->why_not, "no member can be started");
    return HM_OK;
}

/* Once for all workers. */
static hm_status compile_batches(hmi_pool *pool, const hmi_worker *first)
{
    enum { MANY = 64 };
    return hmi_batch_compile(hmi_run_of(first->starter), pool->members->count >= MANY, &pool->code);
}

static hm_status prepare_worker(hmi_pool *pool, hmi_worker *worker, bool first)
{
    hm_status status = hmi_worker_init(worker, pool);
    if (status != HM_OK || pool->options.one_by_one)
        return status;
    if (first)
        status = find_reference(pool, worker);
    else if (pool->batched)
        status = hmi_worker_start(worker, pool->reference);
    if (status == HM_OK && first && pool->batched)
        status = compile_batches(pool, worker);
    return status == HM_OK && pool->batched ? hmi_worker_make_batch(worker) : status;
}

static void *run_thread(void *user)
{
    hmi_pool *pool = user;
    hmi_worker worker;
    hm_status status = prepare_worker(pool, &worker, false);
    if (status == HM_OK)
        hmi_worker_run(&worker);
    else
        hmi_pool_fail(pool, status);
    hmi_worker_release(&worker);
    return NULL;
}

enum { MOST_JOBS = 256 };

/* The calling thread is a worker too. A thread that cannot be made is one less. */
static void run_workers(hmi_pool *pool, hmi_worker *first)
{
    pthread_t threads[MOST_JOBS];
    unsigned more = pool->result->jobs - 1, started = 0;
    while (started < more && pthread_create(&threads[started], NULL, run_thread, pool) == 0)
        started++;
    hmi_worker_run(first);
    for (unsigned k = 0; k < started; k++)
        pthread_join(threads[k], NULL);
}

static unsigned choose_jobs(const hmi_pool *pool)
{
    long processors = sysconf(_SC_NPROCESSORS_ONLN);
    unsigned jobs = pool->options.jobs;
    if (jobs == 0)
        jobs = processors > 0 ? (unsigned)processors : 1;
    size_t most = (pool->members->count + HMI_LANES - 1) / HMI_LANES;
    if (jobs > MOST_JOBS)
        jobs = MOST_JOBS;
    return jobs < most ? jobs : most ? (unsigned)most : 1;
}

static hm_status run_pool(hmi_pool *pool)
{
    hmi_worker first;
    hm_status status = prepare_worker(pool, &first, true);
    if (status == HM_OK)
        run_workers(pool, &first);
    hmi_batch_code_release(&pool->code);
    hmi_worker_release(&first);
    return status != HM_OK ? status : pool->status;
}

static hm_status run_all(hmi_pool *pool)
{
    const hm_allocator *heap = pool->system->allocator;
    size_t bytes = (pool->members->count + 1) * sizeof *pool->records;
    pool->result->jobs = choose_jobs(pool);
    pool->records = hmi_alloc(heap, bytes);
    if (!pool->records)
        return HM_ERR_NOMEM;
    memset(pool->records, 0, bytes);
    hm_status status = run_pool(pool);
    give_rest(pool);
    hmi_pool_release_spare(pool, pool->spare);
    hmi_free(heap, pool->records, bytes);
    return status;
}

static bool members_are_valid(const hm_ensemble_members *m)
{
    return m && (m->columns || m->column_count == 0) &&
           (m->column_count == 0 || m->count <= SIZE_MAX / 16 / m->column_count) &&
           (m->values || m->count == 0 || m->column_count == 0) && m->count <= SIZE_MAX / 16;
}

hm_status hm_ensemble_run(hm_context *context, const hm_system *system,
                          const hm_ensemble_members *members, const hm_ensemble_options *options,
                          hm_ensemble_result *result)
{
    HMI_ARGUMENT(context, context && system && result && members_are_valid(members),
                 "members with columns and values are needed");
    double start = hmi_wall_clock();
    *result = (hm_ensemble_result){.members = members->count};
    hmi_pool pool = {.context = context,
                     .system = system,
                     .members = members,
                     .options = options ? *options : hm_ensemble_options_default(system->model),
                     .result = result,
                     .reference = members->count};
    hm_status status = hmi_run_check_options(context, &pool.options.run);
    if (status == HM_OK)
        status = check_members(context, system, members);
    if (status != HM_OK)
        return status;
    init_pool(&pool);
    status = run_all(&pool);
    pthread_mutex_destroy(&pool.lock);
    result->interrupted = members->count - pool.given;
    result->wall_s = hmi_wall_clock() - start;
    return status;
}
