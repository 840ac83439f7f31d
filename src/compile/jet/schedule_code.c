/* The schedule of a program's instructions in machine code. What the next order waits for longest comes
 * first. The orders of a power series form a circle,
 *     first half -> sums, matrix -> late rows -> second half -> links and inner sums -> first half,
 * and the height of an instruction is the time, in cycles, from it to the sums after it. Instructions
 * are sorted by falling height.
 * Verified: test/unit/compile/test_jet.c
 */
#include "compile/jet/emit.h"

#include <string.h>

/* Latencies in cycles; that of memory is for a store and a load. */
enum { SUMS = 20, ADDITION = 3, FUSED = 4, OTHER = 16, BLOCK = 12, MEMORY = 12 };
/* Beyond this instructions stay where they are. */
enum { MOST_HEIGHT = 1 << 14 };

typedef struct orderer {
    hmi_jet_emitter *e;
    const hmi_jet_program *program;
    uint32_t *need;      /* by number: the height of what reads it, */
    uint32_t *writer;    /* of what writes it next, */
    uint32_t *next_need; /* and, at the next order, of what reads it */
    uint32_t *height;    /* by instruction of a segment */
    uint32_t most;
} orderer;

static uint32_t latency_of(const hmi_jet_code *ip)
{
    switch ((hmi_jet_op)ip->op) {
    case HMI_JET_SCALED:
    case HMI_JET_INNER:
        return ADDITION;
    case HMI_JET_LINEAR:
    case HMI_JET_LINEAR_SUB:
    case HMI_JET_TIMES:
    case HMI_JET_HALF:
        return FUSED;
    case HMI_JET_PRODUCT:
    case HMI_JET_HALF_PRODUCT:
    case HMI_JET_INNER_PRODUCT:
        return FUSED + ADDITION;
    default:
        return OTHER;
    }
}

static void raise(uint32_t *a, uint32_t b)
{
    *a = *a > b ? *a : b;
}

/* ---- what comes after a segment ---- */

static void need_of_sums(orderer *o)
{
    for (size_t i = 0; i < o->program->list_count; i++) {
        const hmi_jet_list *list = &o->program->lists[i];
        const uint32_t places[3] = {list->value, list->less, list->rise};
        for (int k = 0; k < 3; k++)
            if (places[k] != HMI_JET_NO_PLACE)
                raise(&o->need[places[k] + 1], FUSED + SUMS);
    }
}

static void need_of_tasks(orderer *o)
{
    const hmi_jet *jet = o->e->jet;
    for (size_t i = 0; i < o->program->link_count; i++) {
        const hmi_jet_link *link = &o->program->links[i];
        if (link->row != HMI_JET_NO_PLACE)
            raise(&o->need[2 * link->source + 1],
                  o->next_need[2 * link->row + 1] + ADDITION + MEMORY);
    }
    for (size_t i = 0; o->program->handoff && i < jet->pairs.count; i++) {
        const hmi_jet_pair *pair = &jet->pairs.data[i];
        raise(&o->need[pair->x + 1], o->next_need[pair->inner] + BLOCK + MEMORY);
        raise(&o->need[pair->y + 1], o->next_need[pair->inner] + BLOCK + MEMORY);
    }
}

/* ---- heights ---- */

/* None is lower than one that needs it, or that overwrites what it reads or writes. Accesses stand in the
 * order of instructions; *end: of them, moves back to those of the instruction before. */
static uint32_t height_of(orderer *o, const hmi_jet_code *ip, uint32_t instruction, size_t *end)
{
    const hmi_jet_access *list = o->e->accesses.data, *last = list + *end, *first = last;
    uint32_t height = 0;
    for (; first > list && first[-1].instruction == instruction; first--) {
        raise(&height, o->writer[first[-1].number]);
        if (first[-1].write)
            raise(&height, o->need[first[-1].number]);
    }
    height += latency_of(ip);
    for (const hmi_jet_access *a = first; a < last; a++)
        if (a->write) {
            o->writer[a->number] = height;
            o->need[a->number] = 0;
        }
    for (const hmi_jet_access *a = first; a < last; a++)
        if (!a->write)
            raise(&o->need[a->number], height);
    *end = (size_t)(first - list);
    return height;
}

static void find_heights(orderer *o, const hmi_jet_segment *segment, size_t *end)
{
    memset(o->writer, 0, o->e->numbers * sizeof *o->writer);
    o->most = 0;
    for (size_t i = segment->end; i > segment->first; i--) {
        uint32_t height = height_of(o, &o->e->jet->code.data[i - 1], (uint32_t)(i - 1), end);
        o->height[i - 1 - segment->first] = height;
        raise(&o->most, height);
    }
}

/* The highest first, equal ones as they were. */
static hm_status sort(orderer *o, const hmi_jet_segment *segment)
{
    const hm_allocator *allocator = o->e->jet->allocator;
    size_t count = segment->end - segment->first, bytes = (o->most + 2) * sizeof(uint32_t);
    uint32_t *start = hmi_alloc(allocator, bytes);
    uint32_t *sequence = o->e->sequence.data + o->e->sequence.count;
    if (!start)
        return HM_ERR_NOMEM;
    memset(start, 0, bytes);
    for (size_t i = 0; i < count; i++)
        start[o->most - o->height[i] + 1]++;
    for (size_t h = 0; h <= o->most; h++)
        start[h + 1] += start[h];
    for (size_t i = 0; i < count; i++)
        sequence[start[o->most - o->height[i]]++] = (uint32_t)(segment->first + i);
    o->e->sequence.count += count;
    hmi_free(allocator, start, bytes);
    return HM_OK;
}

static hm_status order_segment(orderer *o, const hmi_jet_segment *segment)
{
    if (o->most <= MOST_HEIGHT)
        return sort(o, segment);
    for (size_t i = segment->first; i < segment->end; i++)
        o->e->sequence.data[o->e->sequence.count++] = (uint32_t)i;
    return HM_OK;
}

/* ---- a program ---- */

static size_t size_of(const hmi_jet_segment *segment)
{
    return segment ? segment->end - segment->first : 0;
}

static hm_status order_halves(orderer *o)
{
    const hmi_jet_segment *first = o->program->segment, *second = o->program->second;
    size_t numbers = o->e->numbers, end = o->e->accesses.count, before = end;
    hm_status status = HM_OK;
    while (before > 0 && second && o->e->accesses.data[before - 1].instruction >= second->first)
        before--;
    need_of_sums(o);
    if (first) {
        find_heights(o, first, &before);
        status = order_segment(o, first);
    }
    memcpy(o->next_need, o->need, numbers * sizeof *o->need);
    memset(o->need, 0, numbers * sizeof *o->need);
    need_of_tasks(o);
    if (second && status == HM_OK) {
        find_heights(o, second, &end);
        status = order_segment(o, second);
    }
    return status;
}

void hmi_jet_schedule_program(hmi_jet_emitter *e, const hmi_jet_program *program)
{
    const hm_allocator *allocator = e->jet->allocator;
    size_t count = size_of(program->segment) + size_of(program->second);
    size_t bytes = (3 * e->numbers + count + 1) * sizeof(uint32_t);
    orderer o = {.e = e, .program = program, .need = hmi_alloc(allocator, bytes)};
    bool failed = !o.need || !hmi_array_reserve(allocator, &e->sequence, count + 1);
    if (!failed) {
        memset(o.need, 0, bytes);
        o.writer = o.need + e->numbers;
        o.next_need = o.writer + e->numbers;
        o.height = o.next_need + e->numbers;
        failed = order_halves(&o) != HM_OK;
    }
    e->x.failed |= failed;
    hmi_free(allocator, o.need, bytes);
}
