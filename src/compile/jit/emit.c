/* Register allocation, and the function around the instructions: see jit.h.
 *
 * One pass in the order of execution. A value lives in a register, in memory, or both; where no
 * register is free the one read furthest ahead gives way, those that lie in memory anyway first. A
 * temporary is stored only when it must give way; an output once, where it is computed.
 */
#include "compile/jit/emit.h"

/* ---- places in memory ---- */

static int32_t bytes_of(const hmi_emitter *e, uint32_t index)
{
    return (int32_t)(index * e->lanes * sizeof(double));
}

hmi_x86_operand hmi_emitter_place(hmi_emitter *e, unsigned base, uint32_t index)
{
    if (base == HMI_JIT_WORK)
        return hmi_x86_memory(e->work_base, bytes_of(e, index));
    if (base == HMI_JIT_SPILLED)
        return hmi_x86_memory(e->spill_base, e->spill_offset + bytes_of(e, index));
    unsigned kind = base - HMI_JIT_INPUT;
    int pointer = e->pointer_register[kind];
    if (pointer == HMI_RAX || !(e->pointers >> kind & 1))
        hmi_x86_load_pointer(&e->x, pointer,
                             hmi_x86_memory(e->values_base, (int32_t)(kind * sizeof(double *))));
    e->pointers |= 1u << kind;
    return hmi_x86_memory(pointer, bytes_of(e, index));
}

hmi_x86_operand hmi_emitter_operand(hmi_emitter *e, uint32_t v)
{
    const hmi_jit_value *value = hmi_emitter_value(e, v);
    return value->reg >= 0 ? hmi_x86_register(value->reg)
                           : hmi_emitter_place(e, value->base, value->index);
}

/* ---- spill slots ---- */

/* They are handed out eight at a time, so that blocks of results stay aligned to 64 bytes. */
static uint32_t more_slots(hmi_emitter *e)
{
    uint32_t first = e->spill_slots;
    e->spill_slots += 8;
    if (!hmi_array_push(e->allocator, &e->block_live, 0))
        e->x.failed = true;
    return first;
}

static uint32_t new_single(hmi_emitter *e)
{
    if (e->free_singles.count)
        return e->free_singles.data[--e->free_singles.count];
    uint32_t first = more_slots(e);
    for (uint32_t k = 7; k > 0; k--)
        if (!hmi_array_push(e->allocator, &e->free_singles, first + k))
            e->x.failed = true;
    return first;
}

uint32_t hmi_emitter_new_block(hmi_emitter *e)
{
    if (e->free_blocks.count)
        return e->free_blocks.data[--e->free_blocks.count];
    return more_slots(e);
}

void hmi_emitter_free_spill(hmi_emitter *e, uint32_t v)
{
    hmi_jit_value *value = hmi_emitter_value(e, v);
    bool pushed = true;
    if (value->base != HMI_JIT_SPILLED || e->x.failed)
        return;
    value->base = HMI_JIT_NOWHERE;
    if (value->block == HMI_JIT_NONE)
        pushed = hmi_array_push(e->allocator, &e->free_singles, value->index);
    else if (--e->block_live.data[value->block / 8] == 0)
        pushed = hmi_array_push(e->allocator, &e->free_blocks, value->block);
    e->x.failed |= !pushed;
}

/* ---- registers ---- */

void hmi_emitter_spill(hmi_emitter *e, uint32_t v)
{
    hmi_jit_value *value = hmi_emitter_value(e, v);
    if (value->base != HMI_JIT_NOWHERE)
        return;
    value->base = HMI_JIT_SPILLED;
    value->index = new_single(e);
    hmi_x86_store(&e->x, hmi_emitter_place(e, value->base, value->index), value->reg);
}

/* The one read furthest ahead; a value that lies in memory costs half as much to lose. */
static int register_to_free(const hmi_emitter *e, size_t position, uint32_t pinned)
{
    int best = 0;
    uint64_t best_distance = 0;
    for (int reg = 0; reg < HMI_JIT_REGISTERS; reg++) {
        const hmi_jit_value *value = hmi_emitter_value(e, e->held[reg]);
        uint64_t distance = value->next_use - position + 1;
        distance <<= value->base != HMI_JIT_NOWHERE;
        if (!(pinned >> reg & 1) && distance > best_distance) {
            best = reg;
            best_distance = distance;
        }
    }
    return best;
}

int hmi_emitter_free_register(const hmi_emitter *e)
{
    for (int reg = 0; reg < HMI_JIT_REGISTERS; reg++)
        if (e->held[reg] == HMI_JIT_NONE)
            return reg;
    return -1;
}

int hmi_emitter_take_register(hmi_emitter *e, size_t position, uint32_t pinned)
{
    int reg = hmi_emitter_free_register(e);
    if (reg >= 0)
        return reg;
    reg = register_to_free(e, position, pinned);
    hmi_emitter_spill(e, e->held[reg]);
    hmi_emitter_value(e, e->held[reg])->reg = -1;
    e->held[reg] = HMI_JIT_NONE;
    return reg;
}

void hmi_emitter_hold(hmi_emitter *e, uint32_t v, int reg)
{
    e->held[reg] = v;
    hmi_emitter_value(e, v)->reg = (int8_t)reg;
}

void hmi_emitter_define(hmi_emitter *e, uint32_t v, int reg)
{
    hmi_jit_value *value = hmi_emitter_value(e, v);
    if (value->output != HMI_JIT_NONE) {
        value->base = HMI_JIT_WORK;
        value->index = value->output;
        hmi_x86_store(&e->x, hmi_emitter_place(e, value->base, value->index), reg);
    }
    if (value->next_use != HMI_JIT_NONE)
        hmi_emitter_hold(e, v, reg);
}

/* ---- the function ---- */

/* Five kinds of inputs have a register for their pointer, more share RAX. */
static void assign_pointers(hmi_emitter *e)
{
    static const uint8_t registers[] = {HMI_RCX, HMI_R8, HMI_R9, HMI_R10, HMI_R11};
    size_t used = 0;
    for (int kind = 0; kind < HMI_SYM_KIND_COUNT; kind++)
        if (e->program->kinds >> kind & 1)
            e->pointer_register[kind] = used < sizeof registers ? registers[used++] : HMI_RAX;
}

/* Loads the pointers; where one is NULL the code goes to its end. */
static size_t emit_pointers(hmi_emitter *e, size_t *jumps)
{
    size_t count = 0;
    e->values_base = HMI_RSI;
    for (unsigned kind = 0; kind < HMI_SYM_KIND_COUNT; kind++)
        if (e->program->kinds >> kind & 1) {
            hmi_emitter_place(e, HMI_JIT_INPUT + kind, 0);
            jumps[count++] = hmi_x86_jump_if_null(&e->x, e->pointer_register[kind]);
        }
    return count;
}

/* There the fallback runs instead. */
static void emit_fallback(hmi_emitter *e, const size_t *jumps, size_t count, uint64_t fallback)
{
    for (size_t i = 0; i < count; i++)
        hmi_x86_land(&e->x, jumps[i]);
    if (count)
        hmi_x86_jump(&e->x, fallback);
}

static void emit_entry(hmi_emitter *e, size_t work_size)
{
    hmi_x86 *x = &e->x;
    e->work_base = e->spill_base = HMI_RDX;
    e->spill_offset = bytes_of(e, (uint32_t)work_size);
    if (!e->program->has_calls)
        return;
    hmi_x86_push(x, HMI_RBX);
    hmi_x86_push(x, HMI_RBP);
    hmi_x86_push(x, HMI_R14); /* and the stack is aligned to 16 bytes for calls */
    hmi_x86_copy_pointer(x, HMI_RBX, HMI_RDX);
    hmi_x86_copy_pointer(x, HMI_RBP, HMI_RSI);
    hmi_x86_address(x, HMI_R14, hmi_x86_memory(HMI_RDX, e->spill_offset + 63));
    hmi_x86_and(x, HMI_R14, -64);
    e->work_base = HMI_RBX;
    e->values_base = HMI_RBP;
    e->spill_base = HMI_R14;
    e->spill_offset = 0;
}

static void emit_exit(hmi_emitter *e)
{
    hmi_x86 *x = &e->x;
    if (e->wide)
        hmi_x86_zero_upper(x);
    if (e->program->has_calls) {
        hmi_x86_pop(x, HMI_R14);
        hmi_x86_pop(x, HMI_RBP);
        hmi_x86_pop(x, HMI_RBX);
    }
    hmi_x86_return(x);
}

/* How many calls of one function follow each other on one level, at most four. */
static size_t calls_together(const hmi_emitter *e, size_t first)
{
    const hmi_jit_node *node = hmi_jit_node_at(e->program, first), *next;
    size_t count = 1, most = e->lanes == 1 ? 4 : 1;
    for (; count < most && first + count < e->program->node_count; count++) {
        next = hmi_jit_node_at(e->program, first + count);
        if (next->row.pattern != HMI_JIT_CALL || next->row.opcode != node->row.opcode ||
            next->level != node->level)
            break;
    }
    return count;
}

static void emit_body(hmi_emitter *e)
{
    for (size_t i = 0; i < e->program->node_count && !e->x.failed;) {
        if (hmi_jit_node_at(e->program, i)->row.pattern != HMI_JIT_CALL) {
            hmi_emitter_arithmetic(e, i++);
            continue;
        }
        size_t count = calls_together(e, i);
        hmi_emitter_call(e, i, count);
        i += count;
    }
}

/* Functions begin with a line of the cache. */
static void align_code(hmi_emitter *e)
{
    static const uint8_t zeros[64];
    hmi_x86_bytes(&e->x, zeros, (64 - e->x.code.count % 64) % 64);
}

static void emit_function(hmi_emitter *e, const hmi_tape *tape, hmi_tape_function *fallback)
{
    for (int reg = 0; reg < HMI_JIT_REGISTERS; reg++)
        e->held[reg] = HMI_JIT_NONE;
    if (e->x.code.count == 0)
        hmi_emitter_put_constants(e);
    align_code(e);
    assign_pointers(e);
    size_t jumps[HMI_SYM_KIND_COUNT], count = emit_pointers(e, jumps);
    emit_entry(e, tape->work_size);
    emit_body(e);
    emit_exit(e);
    emit_fallback(e, jumps, count, (uint64_t)(uintptr_t)fallback);
}

hm_status hmi_jit_emit(hmi_jit_program *program, const hmi_tape *tape, unsigned lanes,
                       hmi_tape_function *fallback, hmi_x86 *x, size_t *spill_doubles)
{
    hmi_emitter e = {.x = *x,
                     .program = program,
                     .allocator = tape->allocator,
                     .lanes = lanes,
                     .wide = lanes == 4};
    e.x.allocator = tape->allocator;
    e.x.four = lanes == 4;
    if (!hmi_array_reserve(e.allocator, &e.x.code, 12 * program->node_count + 512))
        e.x.failed = true;
    else
        emit_function(&e, tape, fallback);
    *spill_doubles = e.spill_slots ? (size_t)e.spill_slots * lanes + 8 : 0;
    hmi_array_release(e.allocator, &e.free_singles);
    hmi_array_release(e.allocator, &e.free_blocks);
    hmi_array_release(e.allocator, &e.block_live);
    *x = e.x;
    return e.x.failed ? HM_ERR_NOMEM : HM_OK;
}
