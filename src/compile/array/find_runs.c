/* Array code, second part: like operations get consecutive places.
 *
 * Level by level, operations are sorted by a key that is equal where operands lie at the same
 * distances from one another: x2 - x1, x3 - x2, ... have one key and follow each other by the place
 * of their first operand. From this order runs are taken whose operands proceed by constant steps,
 * and get consecutive places, which makes regular what uses them in turn. What is left of an
 * operation forms one run whose operands are listed.
 */
#include "compile/array/build.h"

#include "base/hash.h"
#include "base/sort.h"

#include <string.h>

enum {
    MOST_LEVELS = 1000, /* the schedule recurses over them */
    SHARED = 16,        /* an operand used this often is one place for many, not a stream */
    SHORTEST = 4,       /* runs below it are listed */
    FEW = 64,           /* entries that are sorted by comparison */
    DIGIT = 11
};

typedef struct entry {
    uint32_t key, primary, op;
} entry;

typedef HMI_ARRAY(entry) entries;

/* ---- levels ---- */

static hm_status count_levels(const hmi_array_code_builder *b, uint32_t levels[2])
{
    levels[0] = levels[1] = 0;
    for (size_t i = 0; i < b->ops.count; i++) {
        const hmi_array_code_op *op = &b->ops.data[i];
        if (op->level >= levels[op->late])
            levels[op->late] = op->level + 1;
    }
    return levels[0] + levels[1] <= MOST_LEVELS ? HM_OK : HM_ERR_LIMIT;
}

/* ---- keys ---- */

static bool is_shared(const hmi_array_code_builder *b, hmi_expr e)
{
    return b->uses.data[e] >= SHARED;
}

static entry describe(const hmi_array_code_builder *b, uint32_t index)
{
    const hmi_array_code_op *op = &b->ops.data[index];
    int arity = hmi_array_code_arity(op);
    uint32_t primary = op->output != HMI_ARRAY_CODE_NO_OUTPUT ? op->output : index;
    for (int k = arity - 1; k >= 0; k--)
        if (!is_shared(b, op->operand[k]))
            primary = hmi_array_code_place(b, op, k);
    uint64_t key = hmi_hash_mix(
        op->op, op->output != HMI_ARRAY_CODE_NO_OUTPUT ? op->output - primary : 1u << 31);
    for (int k = 0; k < arity; k++) {
        uint32_t place = hmi_array_code_place(b, op, k);
        bool shared = is_shared(b, op->operand[k]);
        key = hmi_hash_mix(hmi_hash_mix(key, shared ? 1 : 2), shared ? place : place - primary);
    }
    return (entry){hmi_hash_fold(key), primary, index};
}

static int compare_entries(const void *x, const void *y)
{
    const entry *a = x, *b = y;
    if (a->key != b->key)
        return a->key < b->key ? -1 : 1;
    if (a->primary != b->primary)
        return a->primary < b->primary ? -1 : 1;
    return a->op < b->op ? -1 : a->op > b->op;
}

/* One pass of a radix sort by `shift` bits of the key or the primary; false: nothing to do. */
static bool sort_pass(entry *from, entry *to, size_t count, bool by_key, int shift)
{
    size_t start[1 << DIGIT] = {0};
    const uint32_t mask = (1u << DIGIT) - 1;
    for (size_t i = 0; i < count; i++)
        start[(by_key ? from[i].key : from[i].primary) >> shift & mask]++;
    if (start[(by_key ? from[0].key : from[0].primary) >> shift & mask] == count)
        return false;
    size_t sum = 0;
    for (size_t d = 0; d <= mask; d++) {
        size_t next = sum + start[d];
        start[d] = sum;
        sum = next;
    }
    for (size_t i = 0; i < count; i++)
        to[start[(by_key ? from[i].key : from[i].primary) >> shift & mask]++] = from[i];
    return true;
}

/* Entries come in ascending order of operations, and the radix sort is stable. */
static void sort_entries(entries *list, entries *spare)
{
    if (list->count <= FEW) {
        hmi_sort(list->data, list->count, sizeof *list->data, compare_entries);
        return;
    }
    for (int pass = 0; pass < 6; pass++)
        if (sort_pass(list->data, spare->data, list->count, pass >= 3, pass % 3 * DIGIT)) {
            entries kept = *list;
            list->data = spare->data;
            list->capacity = spare->capacity;
            spare->data = kept.data;
            spare->capacity = kept.capacity;
        }
}

/* ---- runs ---- */

static bool place_op(hmi_array_code_builder *b, uint32_t index)
{
    const hmi_array_code_op *op = &b->ops.data[index];
    uint32_t place = b->fixed_end + (uint32_t)b->op_at.count;
    if (op->result != HMI_NONE && op->recomputed)
        b->late_place.data[op->result] = place + 1;
    else if (op->result != HMI_NONE)
        b->place.data[op->result] = place + 1;
    return hmi_array_push(b->allocator, &b->op_at, index) &&
           hmi_array_push(b->allocator, &b->run_at, (uint32_t)b->runs.count);
}

static hmi_op_run begin_run(const hmi_array_code_builder *b, const hmi_array_code_op *op)
{
    hmi_op_run run = {.op = op->op,
                      .late = op->late,
                      .is_output = op->output != HMI_ARRAY_CODE_NO_OUTPUT,
                      .start = b->fixed_end + (uint32_t)b->op_at.count,
                      .output = op->output};
    for (int k = 0; k < hmi_array_code_arity(op); k++)
        run.first[k] = hmi_array_code_place(b, op, k);
    return run;
}

/* How the second operation proceeds from the first. */
static void find_steps(const hmi_array_code_builder *b, const hmi_array_code_op *next,
                       hmi_op_run *run)
{
    for (int k = 0; k < hmi_array_code_arity(next); k++)
        run->step[k] = (int32_t)(hmi_array_code_place(b, next, k) - run->first[k]);
    if (run->is_output)
        run->output_step = (int32_t)(next->output - run->output);
}

/* A run ends where an operand leaves the run it comes from: then blocks of both lie side by side. */
static bool same_source(const hmi_array_code_builder *b, uint32_t x, uint32_t y)
{
    return x < b->fixed_end || y < b->fixed_end
               ? x < b->fixed_end && y < b->fixed_end
               : b->run_at.data[x - b->fixed_end] == b->run_at.data[y - b->fixed_end];
}

static bool continues(const hmi_array_code_builder *b, const hmi_op_run *run, uint32_t k,
                      const hmi_array_code_op *op)
{
    if (op->op != run->op || (op->output != HMI_ARRAY_CODE_NO_OUTPUT) != run->is_output)
        return false;
    for (int i = 0; i < hmi_array_code_arity(op); i++)
        if (hmi_array_code_place(b, op, i) != run->first[i] + (uint32_t)run->step[i] * k ||
            !same_source(b, run->first[i], hmi_array_code_place(b, op, i)))
            return false;
    return !run->is_output || op->output == run->output + (uint32_t)run->output_step * k;
}

/* How many of the sorted entries from i on form a run; *run describes it. */
static uint32_t measure_run(const hmi_array_code_builder *b, const entries *list, size_t i,
                            hmi_op_run *run)
{
    const hmi_array_code_op *ops = b->ops.data;
    *run = begin_run(b, &ops[list->data[i].op]);
    if (i + 1 == list->count || ops[list->data[i + 1].op].op != run->op)
        return 1;
    find_steps(b, &ops[list->data[i + 1].op], run);
    uint32_t count = 1;
    while (i + count < list->count && continues(b, run, count, &ops[list->data[i + count].op]))
        count++;
    return count;
}

static bool add_runs(hmi_array_code_builder *b, const entries *list, entries *rest)
{
    rest->count = 0;
    for (size_t i = 0; i < list->count;) {
        hmi_op_run run;
        run.count = measure_run(b, list, i, &run);
        if (run.count < SHORTEST) {
            const hmi_array_code_op *op = &b->ops.data[list->data[i].op];
            entry left = {(uint32_t)op->op * 2 + (op->output != HMI_ARRAY_CODE_NO_OUTPUT),
                          list->data[i].op, list->data[i].op};
            rest->data[rest->count++] = left;
            i++;
            continue;
        }
        for (uint32_t k = 0; k < run.count; k++)
            if (!place_op(b, list->data[i + k].op))
                return false;
        if (!hmi_array_push(b->allocator, &b->runs, run))
            return false;
        i += run.count;
    }
    return true;
}

static bool add_listed(hmi_array_code_builder *b, const entries *rest)
{
    for (size_t i = 0; i < rest->count;) {
        hmi_op_run run = begin_run(b, &b->ops.data[rest->data[i].op]);
        uint32_t key = rest->data[i].key;
        run.listed = true;
        for (; i < rest->count && rest->data[i].key == key; i++, run.count++)
            if (!place_op(b, rest->data[i].op))
                return false;
        if (!hmi_array_push(b->allocator, &b->runs, run))
            return false;
    }
    return true;
}

/* ---- the whole ---- */

/* Operations by part and level: start[l] .. start[l + 1]. */
static bool sort_by_level(const hmi_array_code_builder *b, const uint32_t levels[2],
                          uint32_t *start, uint32_t *sorted)
{
    for (size_t i = 0; i < b->ops.count; i++) {
        const hmi_array_code_op *op = &b->ops.data[i];
        start[(op->late ? levels[0] : 0) + op->level + 1]++;
    }
    for (uint32_t l = 0; l < levels[0] + levels[1]; l++)
        start[l + 1] += start[l];
    for (size_t i = 0; i < b->ops.count; i++) {
        const hmi_array_code_op *op = &b->ops.data[i];
        sorted[start[(op->late ? levels[0] : 0) + op->level]++] = (uint32_t)i;
    }
    for (uint32_t l = levels[0] + levels[1]; l > 0; l--)
        start[l] = start[l - 1];
    start[0] = 0;
    return true;
}

static hm_status find_runs(hmi_array_code_builder *b, uint32_t levels, const uint32_t *start,
                           const uint32_t *sorted, entries *list, entries *spare)
{
    for (uint32_t l = 0; l < levels; l++) {
        list->count = 0;
        for (uint32_t i = start[l]; i < start[l + 1]; i++)
            list->data[list->count++] = describe(b, sorted[i]);
        sort_entries(list, spare);
        if (!add_runs(b, list, spare))
            return HM_ERR_NOMEM;
        entries rest = *spare;
        sort_entries(&rest, list);
        bool good = add_listed(b, &rest);
        if (rest.data != spare->data) { /* the sort changed places */
            list->data = spare->data;
            list->capacity = spare->capacity;
            spare->data = rest.data;
            spare->capacity = rest.capacity;
        }
        if (!good)
            return HM_ERR_NOMEM;
    }
    return HM_OK;
}

hm_status hmi_array_code_find_runs(hmi_array_code_builder *b)
{
    uint32_t levels[2];
    hm_status status = count_levels(b, levels);
    if (status != HM_OK)
        return status;
    size_t count = b->ops.count;
    hmi_arena arena;
    hmi_arena_init(&arena, b->allocator);
    entries list = {0}, spare = {0};
    uint32_t all = levels[0] + levels[1];
    uint32_t *start = hmi_arena_alloc(&arena, (all + 2) * sizeof *start);
    uint32_t *sorted = hmi_arena_alloc(&arena, (count + 1) * sizeof *sorted);
    bool good = start && sorted && hmi_array_reserve(b->allocator, &list, count + 1) &&
                hmi_array_reserve(b->allocator, &spare, count + 1) &&
                hmi_array_reserve(b->allocator, &b->op_at, count + 1) &&
                hmi_array_reserve(b->allocator, &b->run_at, count + 1) &&
                sort_by_level(b, levels, start, sorted);
    status = good ? find_runs(b, all, start, sorted, &list, &spare) : HM_ERR_NOMEM;
    hmi_array_release(b->allocator, &list);
    hmi_array_release(b->allocator, &spare);
    hmi_arena_release(&arena);
    return status;
}
