/* From operations to instructions: see jit.h. What becomes what is the table in call.c.
 *
 * Operands are read from memory by the instruction that needs them. Every pattern reads all its
 * operands before it writes its result, or writes the result last: the result may take the register
 * of an operand that dies.
 */
#include "compile/jit/emit.h"

#include <string.h>

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
    int reg = s->node->next_use[k] != HMI_JIT_NONE ? hmi_emitter_free_register(e) : -1;
    hmi_x86_load(&e->x, reg >= 0 ? reg : HMI_JIT_SCRATCH, operand);
    if (reg >= 0)
        hmi_emitter_hold(e, s->node->operand[k], reg);
    return reg >= 0 ? reg : HMI_JIT_SCRATCH;
}

/* Operand k in a register that is not the scratch one. */
static int fetch_to_keep(site *s, int k)
{
    hmi_emitter *e = s->e;
    hmi_x86_operand operand = hmi_emitter_operand(e, s->node->operand[k]);
    int reg = operand.number;
    if (!operand.is_register) {
        reg = hmi_emitter_take_register(e, s->position, s->pinned);
        operand = hmi_emitter_operand(e, s->node->operand[k]);
        hmi_x86_load(&e->x, reg, operand);
        hmi_emitter_hold(e, s->node->operand[k], reg);
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

/* Homes of dead operands are given back only after the node (hmi_emitter_arithmetic): taking a register may store
 * to a free home before the node reads its memory operand. */
static int result_register(site *s)
{
    consume(s);
    return hmi_emitter_take_register(s->e, s->position, 0);
}

/* ---- patterns ---- */

void hmi_emitter_put_constants(hmi_emitter *e)
{
    const double one = 1;
    uint64_t bits[4] = {(uint64_t)1 << 63, UINT64_MAX >> 1, 0, 0};
    memcpy(&bits[2], &one, sizeof one);
    for (int k = 0; k < 4; k++)
        for (int lane = 0; lane < 4; lane++)
            hmi_x86_bytes(&e->x, &bits[k], sizeof bits[k]);
    hmi_emitter_put_sincos_numbers(e);
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
        hmi_x86_load(x, dst, constant(HMI_JIT_ONES));
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
        hmi_x86_load(x, HMI_JIT_SCRATCH, constant(HMI_JIT_ONES));
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
                    constant(negate ? HMI_JIT_SIGN_BITS : HMI_JIT_OTHER_BITS));
    return dst;
}

/* (x > 0) - (x < 0) */
static int emit_sign(site *s)
{
    hmi_x86 *x = &s->e->x;
    int a = fetch_to_keep(s, 0), dst = result_register(s);
    hmi_x86_compare(x, HMI_X86_GREATER, HMI_JIT_SCRATCH, a, constant(HMI_JIT_ZEROS));
    hmi_x86_compare(x, HMI_X86_LESS, dst, a, constant(HMI_JIT_ZEROS));
    hmi_x86_bitwise(x, HMI_X86_AND, HMI_JIT_SCRATCH, HMI_JIT_SCRATCH, constant(HMI_JIT_ONES));
    hmi_x86_bitwise(x, HMI_X86_AND, dst, dst, constant(HMI_JIT_ONES));
    hmi_x86_arithmetic(x, HMI_X86_SUB, dst, HMI_JIT_SCRATCH, hmi_x86_register(dst));
    return dst;
}

static int emit_compare(site *s)
{
    hmi_x86 *x = &s->e->x;
    bool with_zero = s->node->row.pattern == HMI_JIT_NOT;
    int a = fetch(s, 0);
    hmi_x86_operand b = with_zero ? constant(HMI_JIT_ZEROS) : operand_of(s, 1);
    int dst = result_register(s);
    hmi_x86_compare(x, s->node->row.opcode, dst, a, b);
    hmi_x86_bitwise(x, HMI_X86_AND, dst, dst, constant(HMI_JIT_ONES));
    return dst;
}

static int emit_logic(site *s)
{
    hmi_x86 *x = &s->e->x;
    int a = fetch_to_keep(s, 0), b = fetch_to_keep(s, 1), dst = result_register(s);
    hmi_x86_compare(x, HMI_X86_NOT_EQUAL, HMI_JIT_SCRATCH, a, constant(HMI_JIT_ZEROS));
    hmi_x86_compare(x, HMI_X86_NOT_EQUAL, dst, b, constant(HMI_JIT_ZEROS));
    hmi_x86_bitwise(x, s->node->row.opcode, dst, dst, hmi_x86_register(HMI_JIT_SCRATCH));
    hmi_x86_bitwise(x, HMI_X86_AND, dst, dst, constant(HMI_JIT_ONES));
    return dst;
}

static int emit_select(site *s)
{
    hmi_x86 *x = &s->e->x;
    int condition = fetch_to_keep(s, 0), yes = fetch_to_keep(s, 1), no = fetch_to_keep(s, 2);
    hmi_x86_compare(x, HMI_X86_NOT_EQUAL, HMI_JIT_SCRATCH, condition, constant(HMI_JIT_ZEROS));
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

void hmi_emitter_arithmetic(hmi_emitter *e, size_t position)
{
    site s = {.e = e, .node = hmi_jit_node_at(e->program, position), .position = position};
    if (s.node->row.pattern == HMI_JIT_COPY)
        emit_copy(&s);
    else
        hmi_emitter_define(e, s.node->result[0], emit_pattern(&s));
    for (int k = 0; k < s.node->row.operands; k++) {
        uint32_t v = s.node->operand[k];
        if (hmi_emitter_value(e, v)->next_use == HMI_JIT_NONE) {
            hmi_emitter_free_spill(e, v);
            hmi_emitter_value(e, v)->reg = -1;
        }
    }
}
