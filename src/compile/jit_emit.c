/* Register allocation and arithmetic: see jit.h.
 *
 * One pass in the order of execution. A value lives in a register, in memory, or both; where no
 * register is free the one read furthest ahead gives way, those that lie in memory anyway first. A
 * temporary is stored only when it must give way; an output once, where it is computed. Operands are
 * read from memory by the instruction that needs them.
 *
 * Every pattern reads all its operands before it writes its result, or writes the result last: the
 * result may take the register of an operand that dies.
 */
#include "compile/jit_emit.h"

#include <string.h>

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

void hmi_emitter_drop_home(hmi_emitter *e, uint32_t v)
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

void hmi_emitter_save(hmi_emitter *e, uint32_t v)
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

static int free_register(const hmi_emitter *e)
{
    for (int reg = 0; reg < HMI_JIT_REGISTERS; reg++)
        if (e->held[reg] == HMI_JIT_NONE)
            return reg;
    return -1;
}

static int take_register(hmi_emitter *e, size_t position, uint32_t pinned)
{
    int reg = free_register(e);
    if (reg >= 0)
        return reg;
    reg = register_to_free(e, position, pinned);
    hmi_emitter_save(e, e->held[reg]);
    hmi_emitter_value(e, e->held[reg])->reg = -1;
    e->held[reg] = HMI_JIT_NONE;
    return reg;
}

static void hold(hmi_emitter *e, uint32_t v, int reg)
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
        hold(e, v, reg);
}

/* ---- operands of a node ---- */

typedef struct site {
    hmi_emitter *e;
    const hmi_jit_node *node;
    size_t position;
    uint32_t pinned; /* registers that this node reads */
} site;

/* Operand k in a register: its own, else a free one if it is read again, else the scratch one. */
static int fetch(site *s, int k)
{
    hmi_emitter *e = s->e;
    hmi_x86_operand operand = hmi_emitter_operand(e, s->node->operand[k]);
    if (operand.is_register)
        return operand.number;
    int reg = s->node->next_use[k] != HMI_JIT_NONE ? free_register(e) : -1;
    hmi_x86_load(&e->x, reg >= 0 ? reg : HMI_JIT_SCRATCH, operand);
    if (reg >= 0)
        hold(e, s->node->operand[k], reg);
    return reg >= 0 ? reg : HMI_JIT_SCRATCH;
}

/* Operand k in a register that is not the scratch one. */
static int fetch_to_keep(site *s, int k)
{
    hmi_emitter *e = s->e;
    hmi_x86_operand operand = hmi_emitter_operand(e, s->node->operand[k]);
    int reg = operand.number;
    if (!operand.is_register) {
        reg = take_register(e, s->position, s->pinned);
        operand = hmi_emitter_operand(e, s->node->operand[k]);
        hmi_x86_load(&e->x, reg, operand);
        hold(e, s->node->operand[k], reg);
    }
    s->pinned |= 1u << reg;
    return reg;
}

static hmi_x86_operand operand_of(site *s, int k)
{
    return hmi_emitter_operand(s->e, s->node->operand[k]);
}

static bool in_register(const site *s, int k)
{
    return hmi_emitter_value(s->e, s->node->operand[k])->reg >= 0;
}

/* The node reads its operands here: registers of those that are dead after it are free. */
static void consume(site *s)
{
    for (int k = 0; k < s->node->row.operands; k++)
        hmi_emitter_value(s->e, s->node->operand[k])->next_use = s->node->next_use[k];
    for (int k = 0; k < s->node->row.operands; k++) {
        const hmi_jit_value *value = hmi_emitter_value(s->e, s->node->operand[k]);
        if (value->next_use == HMI_JIT_NONE && value->reg >= 0)
            s->e->held[value->reg] = HMI_JIT_NONE;
    }
}

/* Homes of dead operands are given back only after the node (emit_node): taking a register may store
 * to a free home before the node reads its memory operand. */
static int result_register(site *s)
{
    consume(s);
    return take_register(s->e, s->position, 0);
}

/* ---- patterns ---- */

/* Constants that lie before the code, each of four doubles. */
enum { SIGN_BITS = 0, OTHER_BITS = 32, ONES = 64, ZEROS = 96 };
_Static_assert(ZEROS + 32 == (int)HMI_JIT_ENTRY, "the code follows its constants");

static void put_constants(hmi_x86 *x)
{
    const double one = 1;
    uint64_t bits[4] = {(uint64_t)1 << 63, UINT64_MAX >> 1, 0, 0};
    memcpy(&bits[2], &one, sizeof one);
    for (int k = 0; k < 4; k++)
        for (int lane = 0; lane < 4; lane++)
            hmi_x86_bytes(x, &bits[k], sizeof bits[k]);
}

static hmi_x86_operand constant(int which)
{
    return hmi_x86_memory(HMI_IN_CODE, which);
}

static int emit_binary(site *s)
{
    hmi_x86 *x = &s->e->x;
    int first = s->node->row.pattern == HMI_JIT_REVERSED;
    if (s->node->row.pattern == HMI_JIT_SWAPPABLE && !in_register(s, 0) && in_register(s, 1))
        first = 1;
    int a = fetch(s, first);
    hmi_x86_operand b = operand_of(s, !first);
    int dst = result_register(s);
    hmi_x86_arithmetic(x, s->node->row.opcode, dst, a, b);
    return dst;
}

static int emit_square(site *s)
{
    int a = fetch(s, 0), dst = result_register(s);
    hmi_x86_arithmetic(&s->e->x, HMI_X86_MUL, dst, a, hmi_x86_register(a));
    return dst;
}

static int emit_cube(site *s)
{
    int a = fetch_to_keep(s, 0), dst = result_register(s);
    hmi_x86_arithmetic(&s->e->x, HMI_X86_MUL, HMI_JIT_SCRATCH, a, hmi_x86_register(a));
    hmi_x86_arithmetic(&s->e->x, HMI_X86_MUL, dst, a, hmi_x86_register(HMI_JIT_SCRATCH));
    return dst;
}

/* hmi_powi unrolled: the squares in the scratch register. */
static int emit_power(site *s)
{
    hmi_x86 *x = &s->e->x;
    int n = s->node->exponent, left = n < 0 ? -n : n;
    int a = fetch(s, 0), dst = result_register(s);
    bool started = false;
    if (a != HMI_JIT_SCRATCH)
        hmi_x86_move(x, x->four, HMI_JIT_SCRATCH, a);
    if (left == 0)
        hmi_x86_load(x, dst, constant(ONES));
    for (; left; left >>= 1) {
        hmi_x86_operand square = hmi_x86_register(HMI_JIT_SCRATCH);
        if (left & 1 && started)
            hmi_x86_arithmetic(x, HMI_X86_MUL, dst, dst, square);
        else if (left & 1)
            hmi_x86_move(x, x->four, dst, HMI_JIT_SCRATCH);
        started |= left & 1;
        if (left > 1)
            hmi_x86_arithmetic(x, HMI_X86_MUL, HMI_JIT_SCRATCH, HMI_JIT_SCRATCH, square);
    }
    if (n < 0) {
        hmi_x86_load(x, HMI_JIT_SCRATCH, constant(ONES));
        hmi_x86_arithmetic(x, HMI_X86_DIV, dst, HMI_JIT_SCRATCH, hmi_x86_register(dst));
    }
    return dst;
}

static int emit_sqrt(site *s)
{
    int a = fetch(s, 0), dst = result_register(s);
    /* of four it has two operands, and the field for the other must be empty */
    hmi_x86_arithmetic(&s->e->x, HMI_X86_SQRT, dst, s->e->x.four ? 0 : a, hmi_x86_register(a));
    return dst;
}

static int emit_bits(site *s)
{
    bool negate = s->node->row.pattern == HMI_JIT_NEGATE;
    int a = fetch(s, 0), dst = result_register(s);
    hmi_x86_bitwise(&s->e->x, negate ? HMI_X86_XOR : HMI_X86_AND, dst, a,
                    constant(negate ? SIGN_BITS : OTHER_BITS));
    return dst;
}

/* (x > 0) - (x < 0) */
static int emit_sign(site *s)
{
    hmi_x86 *x = &s->e->x;
    int a = fetch_to_keep(s, 0), dst = result_register(s);
    hmi_x86_compare(x, HMI_X86_GREATER, HMI_JIT_SCRATCH, a, constant(ZEROS));
    hmi_x86_compare(x, HMI_X86_LESS, dst, a, constant(ZEROS));
    hmi_x86_bitwise(x, HMI_X86_AND, HMI_JIT_SCRATCH, HMI_JIT_SCRATCH, constant(ONES));
    hmi_x86_bitwise(x, HMI_X86_AND, dst, dst, constant(ONES));
    hmi_x86_arithmetic(x, HMI_X86_SUB, dst, HMI_JIT_SCRATCH, hmi_x86_register(dst));
    return dst;
}

static int emit_compare(site *s)
{
    hmi_x86 *x = &s->e->x;
    bool with_zero = s->node->row.pattern == HMI_JIT_NOT;
    int a = fetch(s, 0);
    hmi_x86_operand b = with_zero ? constant(ZEROS) : operand_of(s, 1);
    int dst = result_register(s);
    hmi_x86_compare(x, s->node->row.opcode, dst, a, b);
    hmi_x86_bitwise(x, HMI_X86_AND, dst, dst, constant(ONES));
    return dst;
}

static int emit_logic(site *s)
{
    hmi_x86 *x = &s->e->x;
    int a = fetch_to_keep(s, 0), b = fetch_to_keep(s, 1), dst = result_register(s);
    hmi_x86_compare(x, HMI_X86_NOT_EQUAL, HMI_JIT_SCRATCH, a, constant(ZEROS));
    hmi_x86_compare(x, HMI_X86_NOT_EQUAL, dst, b, constant(ZEROS));
    hmi_x86_bitwise(x, s->node->row.opcode, dst, dst, hmi_x86_register(HMI_JIT_SCRATCH));
    hmi_x86_bitwise(x, HMI_X86_AND, dst, dst, constant(ONES));
    return dst;
}

static int emit_select(site *s)
{
    hmi_x86 *x = &s->e->x;
    int condition = fetch_to_keep(s, 0), yes = fetch_to_keep(s, 1), no = fetch_to_keep(s, 2);
    hmi_x86_compare(x, HMI_X86_NOT_EQUAL, HMI_JIT_SCRATCH, condition, constant(ZEROS));
    int dst = result_register(s);
    hmi_x86_blend(x, dst, no, yes, HMI_JIT_SCRATCH);
    return dst;
}

/* a*b + c, a*b - c, c - a*b: the product is rounded in the scratch register. */
static int emit_with_product(site *s)
{
    hmi_x86 *x = &s->e->x;
    int first = !in_register(s, 0) && in_register(s, 1);
    int a = fetch(s, first);
    hmi_x86_arithmetic(x, HMI_X86_MUL, HMI_JIT_SCRATCH, a, operand_of(s, !first));
    hmi_x86_operand c = operand_of(s, 2);
    int dst = result_register(s);
    if (s->node->row.pattern == HMI_JIT_PRODUCT_FIRST) {
        hmi_x86_arithmetic(x, s->node->row.opcode, dst, HMI_JIT_SCRATCH, c);
        return dst;
    }
    if (!c.is_register)
        hmi_x86_load(x, dst, c);
    hmi_x86_arithmetic(x, s->node->row.opcode, dst, c.is_register ? c.number : dst,
                       hmi_x86_register(HMI_JIT_SCRATCH));
    return dst;
}

/* A second place for a value; nothing reads it from there. */
static void emit_copy(site *s)
{
    uint32_t slot = hmi_emitter_value(s->e, s->node->result[0])->output;
    int a = fetch(s, 0);
    hmi_x86_store(&s->e->x, hmi_emitter_place(s->e, HMI_JIT_WORK, slot), a);
    consume(s);
}

static int emit_pattern(site *s)
{
    switch ((hmi_jit_pattern)s->node->row.pattern) {
    case HMI_JIT_SQUARE:
        return emit_square(s);
    case HMI_JIT_CUBE:
        return emit_cube(s);
    case HMI_JIT_POWER:
        return emit_power(s);
    case HMI_JIT_SQRT:
        return emit_sqrt(s);
    case HMI_JIT_NEGATE:
    case HMI_JIT_ABSOLUTE:
        return emit_bits(s);
    case HMI_JIT_SIGN:
        return emit_sign(s);
    case HMI_JIT_COMPARE:
    case HMI_JIT_NOT:
        return emit_compare(s);
    case HMI_JIT_LOGIC:
        return emit_logic(s);
    case HMI_JIT_SELECT:
        return emit_select(s);
    case HMI_JIT_PRODUCT_FIRST:
    case HMI_JIT_PRODUCT_LAST:
        return emit_with_product(s);
    default:
        return emit_binary(s);
    }
}

static void emit_node(hmi_emitter *e, size_t position)
{
    site s = {.e = e, .node = &e->program->nodes[position], .position = position};
    if (s.node->row.pattern == HMI_JIT_COPY)
        emit_copy(&s);
    else
        hmi_emitter_define(e, s.node->result[0], emit_pattern(&s));
    for (int k = 0; k < s.node->row.operands; k++) {
        uint32_t v = s.node->operand[k];
        if (hmi_emitter_value(e, v)->next_use == HMI_JIT_NONE) {
            hmi_emitter_drop_home(e, v);
            hmi_emitter_value(e, v)->reg = -1;
        }
    }
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

/* Loads the pointers; where one is NULL the fallback runs instead. */
static void emit_pointers(hmi_emitter *e, uint64_t fallback)
{
    size_t jumps[HMI_SYM_KIND_COUNT], count = 0;
    hmi_x86 *x = &e->x;
    e->values_base = HMI_RSI;
    for (unsigned kind = 0; kind < HMI_SYM_KIND_COUNT; kind++)
        if (e->program->kinds >> kind & 1) {
            hmi_emitter_place(e, HMI_JIT_INPUT + kind, 0);
            jumps[count++] = hmi_x86_jump_if_null(x, e->pointer_register[kind]);
        }
    if (count == 0)
        return;
    hmi_x86_bytes(x, "\xEB\x0C", 2); /* over the jump to the fallback */
    for (size_t i = 0; i < count; i++)
        hmi_x86_land(x, jumps[i]);
    hmi_x86_jump(x, fallback);
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
    const hmi_jit_node *nodes = e->program->nodes;
    size_t count = 1, most = e->lanes == 1 ? 4 : 1;
    while (count < most && first + count < e->program->node_count &&
           nodes[first + count].row.pattern == HMI_JIT_CALL &&
           nodes[first + count].row.opcode == nodes[first].row.opcode &&
           nodes[first + count].level == nodes[first].level)
        count++;
    return count;
}

static void emit_body(hmi_emitter *e)
{
    for (size_t i = 0; i < e->program->node_count && !e->x.failed;) {
        if (e->program->nodes[i].row.pattern != HMI_JIT_CALL) {
            emit_node(e, i++);
            continue;
        }
        size_t count = calls_together(e, i);
        hmi_emitter_call(e, i, count);
        i += count;
    }
}

static void emit_function(hmi_emitter *e, const hmi_tape *tape, hmi_tape_function *fallback)
{
    for (int reg = 0; reg < HMI_JIT_REGISTERS; reg++)
        e->held[reg] = HMI_JIT_NONE;
    put_constants(&e->x);
    assign_pointers(e);
    emit_pointers(e, (uint64_t)(uintptr_t)fallback);
    emit_entry(e, tape->work_size);
    emit_body(e);
    emit_exit(e);
}

hm_status hmi_jit_emit(hmi_jit_program *program, const hmi_tape *tape, unsigned lanes,
                       hmi_tape_function *fallback, hmi_x86 *out, size_t *spill_doubles)
{
    hmi_emitter e = {.x = {.allocator = tape->allocator, .four = lanes == 4},
                     .program = program,
                     .allocator = tape->allocator,
                     .lanes = lanes,
                     .wide = lanes == 4};
    if (!hmi_array_reserve(e.allocator, &e.x.code, 12 * program->node_count + 512))
        e.x.failed = true;
    else
        emit_function(&e, tape, fallback);
    *spill_doubles = e.spill_slots ? (size_t)e.spill_slots * lanes + 8 : 0;
    hmi_array_release(e.allocator, &e.free_singles);
    hmi_array_release(e.allocator, &e.free_blocks);
    hmi_array_release(e.allocator, &e.block_live);
    *out = e.x;
    return e.x.failed ? HM_ERR_NOMEM : HM_OK;
}
