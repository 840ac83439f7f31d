/* Array code, third part: the schedule of blocks, their places, and segments.
 *
 * A block of a run may be computed when the blocks that hold its operands have been. Runs whose
 * values leave (outputs, operands of the late part) are advanced together, block by block, each
 * drawing what it needs just before: pieces of the system are worked off one group after the other.
 * Blocks of temporaries take their places from a stack and return them after the last use. Inputs
 * and outputs of a large system come from memory: whatever segment touches a block of them first
 * prefetches the block that follows.
 */
#include "compile/array/build.h"

#include <string.h>

enum { BLOCK = HMI_ARRAY_CODE_BLOCK };

typedef struct task {
    uint32_t run, block;
} task;

typedef struct scheduler {
    hmi_array_code_builder *b;
    hmi_arena arena;
    HMI_ARRAY(task) tasks;
    size_t late_tasks;  /* tasks from here on are late */
    uint32_t blocks;    /* of all runs */
    bool *done;         /* by block: scheduled */
    uint32_t *last_use; /* by block: the last task that reads it */
    uint32_t *chunk;    /* by block: where it is, + 1; 0: no place */
    HMI_ARRAY(uint32_t) free_chunks;
    uint32_t chunks; /* most in use at one time */
    bool *prefetched_in,
        *prefetched_out; /* by line of inputs, of outputs; NULL: all is in a cache */
    bool failed;
} scheduler;

static uint32_t block_count(const hmi_op_run *run)
{
    return (run->count + BLOCK - 1) / BLOCK;
}

static uint32_t smaller(uint32_t x, uint32_t y)
{
    return x < y ? x : y;
}

static int run_arity(const hmi_array_code_builder *b, const hmi_op_run *run)
{
    return hmi_array_code_arity(&b->ops.data[b->op_at.data[run->start - b->fixed_end]]);
}

/* Virtual place of operand k of the i-th operation of a run. */
static uint32_t operand_place(const hmi_array_code_builder *b, const hmi_op_run *run, uint32_t i,
                              int k)
{
    if (!run->listed)
        return run->first[k] + (uint32_t)run->step[k] * i;
    return hmi_array_code_place(b, &b->ops.data[b->op_at.data[run->start - b->fixed_end + i]], k);
}

/* ---- visiting the operands of a block ---- */

typedef void (*visitor)(scheduler *s, uint32_t run, uint32_t block, uint32_t now);

static void visit_place(scheduler *s, uint32_t place, visitor visit, uint32_t now,
                        uint32_t *last_run, uint32_t *last_block)
{
    const hmi_array_code_builder *b = s->b;
    if (place < b->fixed_end)
        return;
    uint32_t run = b->run_at.data[place - b->fixed_end];
    uint32_t block = (place - b->runs.data[run].start) / BLOCK;
    if (run == *last_run && block == *last_block)
        return;
    visit(s, run, block, now);
    *last_run = run;
    *last_block = block;
}

/* Calls visit for every block that operations first .. end-1 of a run read. */
static void visit_operands(scheduler *s, uint32_t run_index, uint32_t first, uint32_t end,
                           visitor visit, uint32_t now)
{
    const hmi_op_run run = s->b->runs.data[run_index];
    int arity = run_arity(s->b, &run);
    for (int k = 0; k < arity; k++) {
        uint32_t last_run = UINT32_MAX, last_block = UINT32_MAX;
        bool one = !run.listed && run.step[k] == 0;
        for (uint32_t i = first; i < (one ? first + 1 : end); i++)
            visit_place(s, operand_place(s->b, &run, i, k), visit, now, &last_run, &last_block);
    }
}

/* ---- order ---- */

/* Recurses over levels, of which there are few (find_runs.c). */
static void advance(scheduler *s, uint32_t run_index, uint32_t block, uint32_t unused)
{
    hmi_array_code_builder *b = s->b;
    const hmi_op_run *run = &b->runs.data[run_index];
    const task next = {run_index, block};
    (void)unused;
    if (s->failed || s->done[run->block + block])
        return;
    s->done[run->block + block] = true;
    visit_operands(s, run_index, block * BLOCK, smaller((block + 1) * BLOCK, run->count), advance,
                   0);
    s->failed |= !hmi_array_push(b->allocator, &s->tasks, next);
}

/* Advances the runs with a flag together: each by its share. */
static void advance_all(scheduler *s, const bool *wanted)
{
    const hmi_array_code_builder *b = s->b;
    uint32_t rounds = 0;
    for (size_t r = 0; r < b->runs.count; r++)
        if (wanted[r] && block_count(&b->runs.data[r]) > rounds)
            rounds = block_count(&b->runs.data[r]);
    for (uint32_t i = 0; i < rounds && !s->failed; i++)
        for (size_t r = 0; r < b->runs.count; r++) {
            uint64_t blocks = wanted[r] ? block_count(&b->runs.data[r]) : 0;
            for (uint64_t k = blocks * i / rounds; k < blocks * (i + 1) / rounds; k++)
                advance(s, (uint32_t)r, (uint32_t)k, 0);
        }
}

static void note_leaving(scheduler *s, uint32_t run, uint32_t block, uint32_t now)
{
    (void)block, (void)now;
    s->last_use[run] = 1;
}

/* Which early runs does the late part read, or the caller? */
static hm_status order_blocks(scheduler *s)
{
    const hmi_array_code_builder *b = s->b;
    size_t count = b->runs.count;
    for (size_t r = 0; r < count; r++) {
        b->runs.data[r].block = s->blocks;
        s->blocks += block_count(&b->runs.data[r]);
    }
    bool *wanted = hmi_arena_alloc(&s->arena, count + 1);
    s->done = hmi_arena_alloc(&s->arena, s->blocks + 1);
    s->last_use = hmi_arena_alloc(&s->arena, (count + 1) * sizeof *s->last_use);
    if (!wanted || !s->last_use || !s->done)
        return HM_ERR_NOMEM;
    for (size_t r = 0; r < count; r++)
        if (b->runs.data[r].late)
            visit_operands(s, (uint32_t)r, 0, b->runs.data[r].count, note_leaving, 0);
    for (size_t r = 0; r < count; r++)
        wanted[r] = !b->runs.data[r].late && (b->runs.data[r].is_output || s->last_use[r]);
    advance_all(s, wanted);
    s->late_tasks = s->tasks.count;
    for (size_t r = 0; r < count; r++)
        wanted[r] = b->runs.data[r].late && b->runs.data[r].is_output;
    advance_all(s, wanted);
    return s->failed ? HM_ERR_NOMEM : HM_OK;
}

/* ---- places ---- */

static void note_use(scheduler *s, uint32_t run, uint32_t block, uint32_t now)
{
    s->last_use[s->b->runs.data[run].block + block] = now;
}

static hm_status find_last_uses(scheduler *s)
{
    hmi_array_code_builder *b = s->b;
    s->last_use = hmi_arena_alloc(&s->arena, (s->blocks + 1) * sizeof *s->last_use);
    s->chunk = hmi_arena_alloc(&s->arena, (s->blocks + 1) * sizeof *s->chunk);
    if (!s->last_use || !s->chunk)
        return HM_ERR_NOMEM;
    for (size_t i = 0; i < s->tasks.count; i++) {
        const task *t = &s->tasks.data[i];
        uint32_t first = t->block * BLOCK;
        visit_operands(s, t->run, first, smaller(first + BLOCK, b->runs.data[t->run].count),
                       note_use, (uint32_t)i);
    }
    return HM_OK;
}

static void take_chunk(scheduler *s, uint32_t block)
{
    uint32_t chunk = s->free_chunks.count ? s->free_chunks.data[--s->free_chunks.count]
                                          : s->chunks++;
    s->chunk[block] = chunk + 1;
}

static void drop_use(scheduler *s, uint32_t run, uint32_t block, uint32_t now)
{
    uint32_t index = s->b->runs.data[run].block + block;
    if (s->b->runs.data[run].is_output || s->last_use[index] != now || !s->chunk[index])
        return;
    uint32_t chunk = s->chunk[index] - 1;
    s->last_use[index] = UINT32_MAX; /* once */
    s->failed |= !hmi_array_push(s->b->allocator, &s->free_chunks, chunk);
}

/* Where a virtual place is, and how many follow it one by one (1 where they do not). Outputs are
 * known by index until the temporaries are counted: see OUTPUTS. */
#define OUTPUTS 0x80000000u

static uint32_t locate(const scheduler *s, uint32_t place, uint32_t *extent)
{
    const hmi_array_code_builder *b = s->b;
    if (place < b->fixed_end) {
        *extent = b->fixed_end - place;
        return place;
    }
    const hmi_op_run *run = &b->runs.data[b->run_at.data[place - b->fixed_end]];
    uint32_t i = place - run->start;
    if (!run->is_output) {
        *extent = smaller(BLOCK - i % BLOCK, run->count - i);
        return b->fixed_end + (s->chunk[run->block + i / BLOCK] - 1) * BLOCK + i % BLOCK;
    }
    *extent = !run->listed && run->output_step == 1 ? run->count - i : 1;
    return OUTPUTS + b->ops.data[b->op_at.data[place - b->fixed_end]].output;
}

/* ---- segments ---- */

typedef struct piece {
    const hmi_op_run *run;
    uint32_t first, count; /* operations of the run */
} piece;

static bool steps_by_one(const hmi_op_run *run, int k)
{
    return !run->listed && run->step[k] == 1;
}

/* Shortens a piece so that consecutive operands stay in one place. */
static void cut(const scheduler *s, piece *p, int arity)
{
    uint32_t extent;
    for (int k = 0; k < arity; k++) {
        if (!steps_by_one(p->run, k))
            continue;
        locate(s, operand_place(s->b, p->run, p->first, k), &extent);
        if (extent > 1 && extent < p->count)
            p->count = extent;
    }
}

static uint32_t list_places(scheduler *s, const piece *p, int k)
{
    hmi_array_code *code = s->b->code;
    uint32_t start = (uint32_t)code->index.count, extent;
    for (uint32_t i = 0; i < p->count && !s->failed; i++) {
        uint32_t place = k < 0 ? p->run->start + p->first + i
                               : operand_place(s->b, p->run, p->first + i, k);
        s->failed |= !hmi_array_push(s->b->allocator, &code->index, locate(s, place, &extent));
    }
    return start;
}

/* How the piece reads operand k (-1: writes its results). */
static uint32_t access(scheduler *s, const piece *p, int k, uint8_t *mode)
{
    uint32_t extent;
    uint32_t place = k < 0 ? p->run->start + p->first : operand_place(s->b, p->run, p->first, k);
    uint32_t slot = locate(s, place, &extent);
    bool by_one = k < 0 || steps_by_one(p->run, k);
    *mode = HMI_ACCESS_VECTOR;
    if (p->count == 1 || (by_one && extent >= p->count))
        return slot;
    if (k >= 0 && !p->run->listed && p->run->step[k] == 0) {
        *mode = HMI_ACCESS_SCALAR;
        return slot;
    }
    *mode = HMI_ACCESS_LIST;
    return list_places(s, p, k);
}

/* ---- prefetching ---- */

enum { LINE = 8 }; /* doubles of a cache line */

static hm_status begin_prefetching(scheduler *s)
{
    size_t in = s->b->fixed_end, out = s->b->code->output_count;
    if (in + out <= HMI_ARRAY_CODE_CACHED)
        return HM_OK;
    s->prefetched_in = hmi_arena_alloc(&s->arena, in / LINE + 1);
    s->prefetched_out = hmi_arena_alloc(&s->arena, out / LINE + 1);
    return s->prefetched_in && s->prefetched_out ? HM_OK : HM_ERR_NOMEM;
}

static void forget_prefetched(scheduler *s)
{
    if (!s->prefetched_in)
        return;
    memset(s->prefetched_in, 0, s->b->fixed_end / LINE + 1);
    memset(s->prefetched_out, 0, s->b->code->output_count / LINE + 1);
}

/* Is the block after this one of inputs or outputs still to be prefetched? Then it is, now. */
static bool wants_prefetch(scheduler *s, uint8_t mode, uint32_t slot, uint32_t count)
{
    bool out = slot >= OUTPUTS, new = false;
    size_t first = (out ? slot - OUTPUTS : slot) + (size_t)BLOCK, end = first + count;
    if (!s->prefetched_in || mode != HMI_ACCESS_VECTOR ||
        end > (out ? s->b->code->output_count : s->b->fixed_end))
        return false;
    bool *prefetched = out ? s->prefetched_out : s->prefetched_in;
    for (size_t line = first / LINE + 1; line < end / LINE; line++) {
        new |= !prefetched[line];
        prefetched[line] = true;
    }
    return new;
}

static void choose_prefetches(scheduler *s, hmi_segment *g, int arity)
{
    if (wants_prefetch(s, g->dst_access, g->dst, g->count))
        g->prefetch |= HMI_PREFETCH_DST;
    if (arity > 0 && wants_prefetch(s, g->a_access, g->a, g->count))
        g->prefetch |= HMI_PREFETCH_A;
    if (arity > 1 && wants_prefetch(s, g->b_access, g->b, g->count))
        g->prefetch |= HMI_PREFETCH_B;
    if (arity > 2 && wants_prefetch(s, g->c_access, g->c, g->count))
        g->prefetch |= HMI_PREFETCH_C;
}

static void emit_piece(scheduler *s, const piece *p, int arity)
{
    hmi_segment segment = {.op = p->run->op, .count = (uint16_t)p->count};
    segment.dst = access(s, p, -1, &segment.dst_access);
    if (arity > 0)
        segment.a = access(s, p, 0, &segment.a_access);
    if (arity > 1)
        segment.b = access(s, p, 1, &segment.b_access);
    if (arity > 2)
        segment.c = access(s, p, 2, &segment.c_access);
    choose_prefetches(s, &segment, arity);
    s->failed |= !hmi_array_push(s->b->allocator, &s->b->code->code, segment);
}

static void emit_task(scheduler *s, uint32_t index)
{
    const task t = s->tasks.data[index];
    const hmi_op_run *run = &s->b->runs.data[t.run];
    uint32_t first = t.block * BLOCK, end = smaller(first + BLOCK, run->count);
    int arity = run_arity(s->b, run);
    if (!run->is_output)
        take_chunk(s, run->block + t.block);
    while (first < end && !s->failed) {
        piece p = {run, first, end - first};
        cut(s, &p, arity);
        emit_piece(s, &p, arity);
        first += p.count;
    }
    visit_operands(s, t.run, t.block * BLOCK, end, drop_use, index);
}

/* ---- outputs get their places behind the temporaries ---- */

static void relocate(uint32_t *slot, size_t output_slot)
{
    if (*slot >= OUTPUTS)
        *slot = (uint32_t)(*slot - OUTPUTS + output_slot);
}

static hm_status place_outputs(scheduler *s)
{
    hmi_array_code *code = s->b->code;
    size_t end = (size_t)s->b->fixed_end + (size_t)s->chunks * BLOCK;
    code->output_slot = (end + 7) / 8 * 8;
    code->work_size = code->output_slot + code->output_count;
    if (code->work_size >= OUTPUTS || code->index.count >= OUTPUTS)
        return HM_ERR_LIMIT;
    for (size_t i = 0; i < code->code.count; i++) {
        hmi_segment *segment = &code->code.data[i];
        if (segment->dst_access != HMI_ACCESS_LIST)
            relocate(&segment->dst, code->output_slot);
        if (segment->a_access != HMI_ACCESS_LIST)
            relocate(&segment->a, code->output_slot);
        if (segment->b_access != HMI_ACCESS_LIST)
            relocate(&segment->b, code->output_slot);
        if (segment->c_access != HMI_ACCESS_LIST)
            relocate(&segment->c, code->output_slot);
    }
    for (size_t i = 0; i < code->index.count; i++)
        relocate(&code->index.data[i], code->output_slot);
    return HM_OK;
}

hm_status hmi_array_code_schedule(hmi_array_code_builder *b)
{
    scheduler s = {.b = b};
    hmi_arena_init(&s.arena, b->allocator);
    hm_status status = order_blocks(&s);
    if (status == HM_OK)
        status = find_last_uses(&s);
    if (status == HM_OK)
        status = begin_prefetching(&s);
    for (size_t i = 0; i < s.tasks.count && status == HM_OK; i++) {
        if (i == s.late_tasks) {
            b->code->late_code = b->code->code.count;
            forget_prefetched(&s);
        }
        emit_task(&s, (uint32_t)i);
        if (s.failed)
            status = HM_ERR_NOMEM;
    }
    if (s.late_tasks == s.tasks.count)
        b->code->late_code = b->code->code.count;
    if (status == HM_OK)
        status = place_outputs(&s);
    hmi_array_release(b->allocator, &s.tasks);
    hmi_array_release(b->allocator, &s.free_chunks);
    hmi_arena_release(&s.arena);
    return status;
}
