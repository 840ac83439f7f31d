/* Orders of elimination: approximate minimum degree, reverse Cuthill-McKee. */
#include "linalg/order.h"

#include <string.h>

#define NOBODY UINT32_MAX

/* ---- minimum degree ---- */

/* Eliminated nodes are elements: cliques of the nodes that were their neighbours. The list of a
 * node that is still there holds elements first, then nodes, in the space of its first neighbours:
 * it never grows, since an element takes the place of at least one of its parts. */
typedef struct degrees {
    const hm_allocator *allocator;
    const hmi_pattern *pattern;
    size_t first_waiting;
    uint32_t *list;           /* by pattern->start */
    uint32_t *elements, *all; /* by node: how many of its list are elements; how many there are */
    HMI_ARRAY(uint32_t) pool; /* members of elements */
    size_t *member;           /* by element: where they start, */
    uint32_t *members;        /* and how many */
    uint32_t *outside;        /* by element: members not in the newest element, + stamp */
    uint32_t *mark;           /* by node: stamp of the last element it was seen in */
    uint32_t *degree, *next, *previous, *head; /* nodes by degree */
    uint32_t *waiting;                         /* neighbours that must come first */
    uint8_t *state;
    uint32_t lowest;
} degrees;

enum { IS_NODE, IS_ELEMENT, IS_ABSORBED };

static void unlist(degrees *d, uint32_t i)
{
    if (d->previous[i] != NOBODY)
        d->next[d->previous[i]] = d->next[i];
    else
        d->head[d->degree[i]] = d->next[i];
    if (d->next[i] != NOBODY)
        d->previous[d->next[i]] = d->previous[i];
}

static void enlist(degrees *d, uint32_t i)
{
    uint32_t degree = d->degree[i];
    d->previous[i] = NOBODY;
    d->next[i] = d->head[degree];
    if (d->head[degree] != NOBODY)
        d->previous[d->head[degree]] = i;
    d->head[degree] = i;
    if (degree < d->lowest)
        d->lowest = degree;
}

static bool is_free(const degrees *d, uint32_t i)
{
    return d->waiting[i] == 0;
}

/* Adds node i to the newest element, once. */
static bool join(degrees *d, uint32_t p, uint32_t i)
{
    if (d->state[i] != IS_NODE || d->mark[i] == p + 1)
        return true;
    d->mark[i] = p + 1;
    return hmi_array_push(d->allocator, &d->pool, i);
}

/* Node p becomes an element; the elements it knew are absorbed. */
static bool eliminate(degrees *d, uint32_t p)
{
    uint32_t *list = d->list + d->pattern->start[p];
    d->member[p] = d->pool.count;
    d->state[p] = IS_ELEMENT;
    for (uint32_t k = 0; k < d->elements[p]; k++) {
        uint32_t e = list[k];
        for (uint32_t i = 0; i < d->members[e]; i++)
            if (!join(d, p, d->pool.data[d->member[e] + i]))
                return false;
        d->state[e] = IS_ABSORBED;
    }
    for (uint32_t k = d->elements[p]; k < d->all[p]; k++)
        if (!join(d, p, list[k]))
            return false;
    d->members[p] = (uint32_t)(d->pool.count - d->member[p]);
    return true;
}

/* outside[e] := |e \ p| for every element e that shares nodes with p. Where the loop meets e for
 * the first time the count starts from the number of members that are nodes still. */
static void count_outside(degrees *d, uint32_t p, uint32_t *seen)
{
    for (uint32_t k = 0; k < d->members[p]; k++) {
        uint32_t i = d->pool.data[d->member[p] + k];
        const uint32_t *list = d->list + d->pattern->start[i];
        for (uint32_t j = 0; j < d->elements[i]; j++) {
            uint32_t e = list[j];
            if (d->state[e] != IS_ELEMENT)
                continue;
            if (seen[e] != p + 1) {
                seen[e] = p + 1;
                d->outside[e] = d->members[e];
            }
            d->outside[e] -= d->outside[e] > 0;
        }
    }
}

/* Cleans the list of a member of p, with p as its new element, and finds its degree. */
static void update(degrees *d, uint32_t p, uint32_t i)
{
    uint32_t *list = d->list + d->pattern->start[i], kept = 0, degree = d->members[p] - 1;
    uint32_t old = d->elements[i];
    for (uint32_t k = 0; k < old; k++)
        if (d->state[list[k]] == IS_ELEMENT) {
            degree += d->outside[list[k]];
            list[kept++] = list[k];
        }
    uint32_t elements = kept, moved = NOBODY;
    for (uint32_t k = old; k < d->all[i]; k++) {
        uint32_t j = list[k];
        if (d->state[j] != IS_NODE || d->mark[j] == p + 1)
            continue;
        degree++;
        list[kept++] = j;
    }
    /* p goes behind the other elements; the node that was there goes to the end */
    if (kept > elements)
        moved = list[elements];
    list[elements] = p;
    if (moved != NOBODY)
        list[kept] = moved;
    d->elements[i] = elements + 1;
    d->all[i] = kept + 1;
    uint32_t most = (uint32_t)d->pattern->count - 1;
    if (is_free(d, i))
        unlist(d, i);
    d->degree[i] = degree < most ? degree : most;
    if (is_free(d, i))
        enlist(d, i);
}

/* Nodes that waited for p, as the pattern has it. */
static void release_waiting(degrees *d, uint32_t p)
{
    if (p >= d->first_waiting)
        return;
    for (size_t k = d->pattern->start[p]; k < d->pattern->start[p + 1]; k++) {
        uint32_t i = d->pattern->neighbour[k];
        if (i >= d->first_waiting && --d->waiting[i] == 0 && d->state[i] == IS_NODE)
            enlist(d, i);
    }
}

static uint32_t take_lowest(degrees *d)
{
    while (d->head[d->lowest] == NOBODY)
        d->lowest++;
    uint32_t p = d->head[d->lowest];
    unlist(d, p);
    return p;
}

static bool begin(degrees *d, hmi_arena *arena)
{
    size_t count = d->pattern->count, entries = d->pattern->start[count];
    uint32_t **lists[] = {&d->elements, &d->all,  &d->members,  &d->outside, &d->mark,
                          &d->degree,   &d->next, &d->previous, &d->head,    &d->waiting};
    for (size_t i = 0; i < sizeof lists / sizeof *lists; i++)
        if (!(*lists[i] = hmi_arena_alloc(arena, (count + 1) * sizeof(uint32_t))))
            return false;
    d->member = hmi_arena_alloc(arena, (count + 1) * sizeof *d->member);
    d->state = hmi_arena_alloc(arena, count + 1);
    d->list = hmi_arena_alloc(arena, (entries + 1) * sizeof *d->list);
    if (!d->member || !d->state || !d->list)
        return false;
    memcpy(d->list, d->pattern->neighbour, entries * sizeof *d->list);
    memset(d->head, 0xFF, (count + 1) * sizeof *d->head);
    for (size_t i = count; i-- > 0;) {
        size_t first = d->pattern->start[i], end = d->pattern->start[i + 1];
        d->all[i] = d->degree[i] = (uint32_t)(end - first);
        for (size_t k = first; i >= d->first_waiting && k < end; k++)
            d->waiting[i] += d->pattern->neighbour[k] < d->first_waiting;
        if (is_free(d, (uint32_t)i))
            enlist(d, (uint32_t)i);
    }
    return true;
}

hm_status hmi_order_minimum_degree(const hm_allocator *allocator, const hmi_pattern *pattern,
                                   size_t first_waiting, uint32_t *order)
{
    degrees d = {.allocator = allocator, .pattern = pattern, .first_waiting = first_waiting};
    hmi_arena arena;
    hmi_arena_init(&arena, allocator);
    uint32_t *seen = hmi_arena_alloc(&arena, (pattern->count + 1) * sizeof *seen);
    bool good = seen && begin(&d, &arena);
    for (size_t k = 0; k < pattern->count && good; k++) {
        uint32_t p = take_lowest(&d);
        order[k] = p;
        good = eliminate(&d, p);
        if (!good)
            break;
        count_outside(&d, p, seen);
        for (uint32_t i = 0; i < d.members[p]; i++)
            update(&d, p, d.pool.data[d.member[p] + i]);
        release_waiting(&d, p);
    }
    hmi_array_release(allocator, &d.pool);
    hmi_arena_release(&arena);
    return good ? HM_OK : HM_ERR_NOMEM;
}

/* ---- a narrow band ---- */

/* Breadth first from `root`, appended to order from `first` on; returns the end. Neighbours of
 * lower degree come first. */
static size_t sweep(const hmi_pattern *p, uint32_t root, size_t first, uint32_t *order,
                    uint8_t *seen)
{
    size_t end = first;
    order[end++] = root;
    seen[root] = 1;
    for (size_t k = first; k < end; k++) {
        size_t begin_new = end, node = order[k];
        for (size_t i = p->start[node]; i < p->start[node + 1]; i++) {
            uint32_t j = p->neighbour[i];
            if (seen[j])
                continue;
            seen[j] = 1;
            size_t degree = p->start[j + 1] - p->start[j], at = end++;
            for (; at > begin_new; at--) {
                uint32_t before = order[at - 1];
                if (p->start[before + 1] - p->start[before] <= degree)
                    break;
                order[at] = before;
            }
            order[at] = j;
        }
    }
    return end;
}

hm_status hmi_order_band(const hm_allocator *allocator, const hmi_pattern *p, uint32_t *order)
{
    uint8_t *seen = hmi_alloc(allocator, p->count + 1);
    if (!seen)
        return HM_ERR_NOMEM;
    memset(seen, 0, p->count + 1);
    for (size_t root = 0, end = 0; root < p->count; root++) {
        if (seen[root])
            continue;
        size_t first = end;
        uint32_t from = (uint32_t)root;
        for (int i = 0; i < 3; i++) { /* the last node found is at the edge */
            if (i > 0)
                for (size_t k = first; k < end; k++)
                    seen[order[k]] = 0;
            end = sweep(p, from, first, order, seen);
            from = order[end - 1];
        }
    }
    for (size_t i = 0, j = p->count; i + 1 < j; i++) {
        uint32_t kept = order[i];
        order[i] = order[--j];
        order[j] = kept;
    }
    hmi_free(allocator, seen, p->count + 1);
    return HM_OK;
}

hm_status hmi_order_width(const hm_allocator *allocator, const hmi_pattern *p,
                          const uint32_t *order, size_t *width)
{
    uint32_t *at = hmi_alloc(allocator, (p->count + 1) * sizeof *at);
    if (!at)
        return HM_ERR_NOMEM;
    for (size_t k = 0; k < p->count; k++)
        at[order ? order[k] : k] = (uint32_t)k;
    *width = 0;
    for (size_t i = 0; i < p->count; i++)
        for (size_t k = p->start[i]; k < p->start[i + 1]; k++) {
            uint32_t x = at[i], y = at[p->neighbour[k]], distance = x > y ? x - y : y - x;
            *width = distance > *width ? distance : *width;
        }
    hmi_free(allocator, at, (p->count + 1) * sizeof *at);
    return HM_OK;
}
