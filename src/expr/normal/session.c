/* The session of normal forms: its memory, its limits, and what is known of each expression.
 *
 * This is the ground of the folder: it calls nothing else of it.
 */
#include "expr/normal/poly.h"

#include <string.h>

enum { MOST_KEPT_BYTES = 16 << 20 };

/* ---- memory and limits ---- */

void *hmi_normal_alloc(hmi_normal *s, size_t size)
{
    void *memory = s->status == HM_OK ? hmi_arena_alloc(&s->arena, size) : NULL;
    if (!memory)
        s->status = HM_ERR_NOMEM;
    s->arena_used += size;
    return memory;
}

bool hmi_normal_go(hmi_normal *s, size_t work)
{
    s->work += work;
    if (s->work > s->most_work)
        s->exceeded = true;
    return !s->exceeded && s->status == HM_OK;
}

bool hmi_normal_forgive(hmi_normal *s)
{
    s->exceeded = s->work > s->most_work;
    return !s->exceeded && s->status == HM_OK;
}

/* ---- creation ---- */

static const hmi_poly zero = {NULL, 0};
static const hmi_poly_term unit = {{1, 1, false}, {NULL, 0}};
static const hmi_poly one = {&unit, 1};

hmi_normal *hmi_normal_create(hmi_graph *graph)
{
    hmi_normal *s = hmi_alloc(graph->allocator, sizeof *s);
    if (!s)
        return NULL;
    *s = (hmi_normal){.graph = graph,
                      .allocator = graph->allocator,
                      .most_work = HMI_MOST_WORK,
                      .zero = &zero,
                      .one = &one};
    hmi_arena_init(&s->arena, graph->allocator);
    hmi_walk_init(&s->walk, graph->allocator);
    return s;
}

void hmi_normal_hurry(hmi_normal *s)
{
    s->most_work = HMI_LEAST_WORK;
}

void hmi_normal_destroy(hmi_normal *s)
{
    if (!s)
        return;
    hmi_arena_release(&s->arena);
    hmi_walk_release(&s->walk);
    hmi_array_release(s->allocator, &s->atoms);
    hmi_array_release(s->allocator, &s->records);
    hmi_array_release(s->allocator, &s->record_of);
    hmi_array_release(s->allocator, &s->length);
    hmi_free(s->allocator, s, sizeof *s);
}

hm_status hmi_normal_status(const hmi_normal *s)
{
    return s->status != HM_OK ? s->status : hmi_graph_status(s->graph);
}

/* Starts a new call with no work done. What is known is forgotten where it takes much memory, and where
 * the last call was cut short by the limit of work, since this one may do better. */
bool hmi_normal_begin(hmi_normal *s)
{
    bool cut_short = s->work > s->most_work;
    s->work = 0;
    s->exceeded = false;
    if (s->arena_used > MOST_KEPT_BYTES || cut_short) {
        hmi_arena_release(&s->arena);
        hmi_arena_init(&s->arena, s->allocator);
        s->arena_used = 0;
        for (size_t i = 0; i < s->records.count; i++)
            s->record_of.data[s->records.data[i].e] = 0;
        s->records.count = s->atoms.count = 0;
    }
    return hmi_normal_status(s) == HM_OK;
}

/* ---- what is known of each expression ---- */

/* Room for all nodes of the graph, zero where new. */
static bool cover_graph(hmi_normal *s)
{
    size_t missing = s->graph->nodes.count - s->record_of.count;
    if (s->graph->nodes.count <= s->record_of.count)
        return true;
    if (!hmi_array_reserve(s->allocator, &s->record_of, missing)) {
        s->status = HM_ERR_NOMEM;
        return false;
    }
    memset(s->record_of.data + s->record_of.count, 0, missing * sizeof *s->record_of.data);
    s->record_of.count = s->graph->nodes.count;
    return true;
}

hmi_normal_entry *hmi_normal_entry_of(hmi_normal *s, hmi_expr e)
{
    if (!cover_graph(s))
        return NULL;
    if (s->record_of.data[e] == 0) {
        hmi_normal_entry fresh = {.e = e, .best = HMI_NONE, .tidy = HMI_NONE, .atom = UINT32_MAX};
        if (!hmi_array_push(s->allocator, &s->records, fresh)) {
            s->status = HM_ERR_NOMEM;
            return NULL;
        }
        s->record_of.data[e] = (uint32_t)s->records.count;
    }
    return &s->records.data[s->record_of.data[e] - 1];
}
