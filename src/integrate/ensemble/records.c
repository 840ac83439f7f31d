/* What a member leaves until its turn comes: its frames as rows, its result in one block of memory. */
#include "integrate/ensemble/ensemble.h"

#include <math.h>
#include <string.h>

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

bool hmi_pool_give_row(const hmi_pool *pool, size_t member, const double *row)
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
    size_t doubles = 2 * pool->n + pool->states + pool->outputs +
                     (pool->work ? pool->work->reduced : 0);
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
    record->reduced = at;
    at += pool->work ? pool->work->reduced : 0;
    hm_run_event *event = (hm_run_event *)at;
    for (size_t i = 0; i < events; i++)
        event[i] = result->events[i];
    record->result.events = events ? event : NULL;
    record->result.message = memcpy(event + events, result->message, text);
    memcpy(&record->rows, rows, sizeof *rows);
    memset(rows, 0, sizeof *rows);
    return record;
}

size_t hmi_pool_record_size(const hmi_member_record *record)
{
    return record->bytes + record->rows.capacity * sizeof *record->rows.data;
}

void hmi_pool_release_record(hmi_pool *pool, hmi_member_record *record)
{
    if (!record)
        return;
    hmi_array_release(pool->allocator, &record->rows);
    hmi_free(pool->allocator, record, record->bytes);
}

/* The next record without a message may use it. */
void hmi_pool_keep_block(hmi_pool *pool, hmi_member_record *record)
{
    if (record->bytes != record_bytes(pool, 0, 1)) {
        hmi_pool_release_record(pool, record);
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
