/* Calls of transcendental functions from machine code: see jit.h.
 *
 * A call keeps no vector register: what is read later and lies nowhere else is stored first. Of one
 * value the scalar function is called; of two to four its four-lane form, whose lanes agree with it
 * bit by bit (test/unit/compile/test_engine.c). Arguments are gathered in registers, since a load of
 * four doubles that were stored one by one waits for all of them.
 */
#include "compile/jit/emit.h"

#include "expr/graph/math.h"

/* ---- the functions ---- */

#if defined(__x86_64__)
/* Only their addresses are used here; SLEEF's header would need code compiled for AVX2. */
#define DECLARE(name, accuracy)                                                                    \
    void Sleef_finz_##name##d1_##accuracy##purecfma(void);                                         \
    void Sleef_finz_##name##d4_##accuracy##avx2(void);
void hmi_math_fused_sincos(void);
void hmi_math_fused_sincos4(void);
HMI_MATH_FUNCTIONS(DECLARE, DECLARE)

#define ADDRESSES(name, accuracy)                                                                  \
    (uint64_t)(uintptr_t) Sleef_finz_##name##d1_##accuracy##purecfma,                              \
        (uint64_t)(uintptr_t)Sleef_finz_##name##d4_##accuracy##avx2
#define SINCOS_ADDRESSES                                                                           \
    (uint64_t)(uintptr_t) hmi_math_fused_sincos, (uint64_t)(uintptr_t)hmi_math_fused_sincos4
#else
#define ADDRESSES(name, accuracy) 0, 0
#define SINCOS_ADDRESSES          0, 0
#endif

/* Numbers in the order of expr/graph/math.h. */
enum {
    CALL_SINCOS = HMI_JIT_SINCOS,
#define NUMBER(name, accuracy) CALL_##name,
    HMI_MATH_FUNCTIONS(NUMBER, NUMBER) CALL_FLOOR,
    CALL_CEIL,
    CALL_TABLE,
    CALL_LOOKUP,
    CALL_TABLE2,
    CALL_LOOKUP2,
    CALL_COUNT
};
_Static_assert((int)CALL_COUNT <= (int)HMI_JIT_MOST_FUNCTIONS, "calls are sorted by number");

static hmi_jit_function function_at(unsigned number)
{
    switch (number) {
#define ROW1(name, accuracy)                                                                       \
    case CALL_##name:                                                                              \
        return (hmi_jit_function){1, ADDRESSES(name, accuracy)};
#define ROW2(name, accuracy)                                                                       \
    case CALL_##name:                                                                              \
        return (hmi_jit_function){2, ADDRESSES(name, accuracy)};
        HMI_MATH_FUNCTIONS(ROW1, ROW2)
#define OWN(name)                                                                                  \
    case CALL_##name:                                                                              \
        return hmi_jit_own_function(HMI_##name);
        OWN(FLOOR)
        OWN(CEIL)
        OWN(TABLE)
        OWN(LOOKUP)
        OWN(TABLE2)
        OWN(LOOKUP2)
    default:
        return (hmi_jit_function){1, SINCOS_ADDRESSES};
    }
}

/* ---- the table of operations ---- */

#define T(name) [HMI_TAPE_FIRST_OF_TABLE + HMI_##name]

hmi_jit_row hmi_jit_row_at(uint32_t op)
{
    static const hmi_jit_row rows[HMI_TAPE_FIRST_OF_TABLE + HMI_OP_COUNT] = {
        [HMI_TAPE_COPY] = {HMI_JIT_COPY, 1, 0},
        [HMI_TAPE_SINCOS] = {HMI_JIT_CALL, 1, CALL_SINCOS},
        [HMI_TAPE_SQUARE] = {HMI_JIT_SQUARE, 1, 0},
        [HMI_TAPE_CUBE] = {HMI_JIT_CUBE, 1, 0},
        [HMI_TAPE_MUL_ADD] = {HMI_JIT_PRODUCT_FIRST, 3, HMI_X86_ADD},
        [HMI_TAPE_MUL_SUB] = {HMI_JIT_PRODUCT_FIRST, 3, HMI_X86_SUB},
        [HMI_TAPE_SUB_MUL] = {HMI_JIT_PRODUCT_LAST, 3, HMI_X86_SUB},
        T(ADD) = {HMI_JIT_SWAPPABLE, 2, HMI_X86_ADD},
        T(SUB) = {HMI_JIT_BINARY, 2, HMI_X86_SUB},
        T(MUL) = {HMI_JIT_SWAPPABLE, 2, HMI_X86_MUL},
        T(DIV) = {HMI_JIT_BINARY, 2, HMI_X86_DIV},
        T(NEG) = {HMI_JIT_NEGATE, 1, 0},
        T(POW) = {HMI_JIT_CALL, 2, CALL_pow},
        T(POWI) = {HMI_JIT_POWER, 1, 0},
        T(SQRT) = {HMI_JIT_SQRT, 1, 0},
        T(SIN) = {HMI_JIT_CALL, 1, CALL_SINCOS},
        T(COS) = {HMI_JIT_CALL, 1, CALL_SINCOS},
        T(TAN) = {HMI_JIT_CALL, 1, CALL_tan},
        T(ASIN) = {HMI_JIT_CALL, 1, CALL_asin},
        T(ACOS) = {HMI_JIT_CALL, 1, CALL_acos},
        T(ATAN) = {HMI_JIT_CALL, 1, CALL_atan},
        T(ATAN2) = {HMI_JIT_CALL, 2, CALL_atan2},
        T(SINH) = {HMI_JIT_CALL, 1, CALL_sinh},
        T(COSH) = {HMI_JIT_CALL, 1, CALL_cosh},
        T(TANH) = {HMI_JIT_CALL, 1, CALL_tanh},
        T(EXP) = {HMI_JIT_CALL, 1, CALL_exp},
        T(LOG) = {HMI_JIT_CALL, 1, CALL_log},
        T(HYPOT) = {HMI_JIT_CALL, 2, CALL_hypot},
        T(ABS) = {HMI_JIT_ABSOLUTE, 1, 0},
        T(SIGN) = {HMI_JIT_SIGN, 1, 0},
        T(MIN) = {HMI_JIT_REVERSED, 2, HMI_X86_MIN}, /* (y < x) ? y : x */
        T(MAX) = {HMI_JIT_REVERSED, 2, HMI_X86_MAX}, /* (y > x) ? y : x */
        T(LT) = {HMI_JIT_COMPARE, 2, HMI_X86_LESS},
        T(LE) = {HMI_JIT_COMPARE, 2, HMI_X86_LESS_EQUAL},
        T(EQ) = {HMI_JIT_COMPARE, 2, HMI_X86_EQUAL},
        T(AND) = {HMI_JIT_LOGIC, 2, HMI_X86_AND},
        T(OR) = {HMI_JIT_LOGIC, 2, HMI_X86_OR},
        T(NOT) = {HMI_JIT_NOT, 1, HMI_X86_EQUAL},
        T(SELECT) = {HMI_JIT_SELECT, 3, 0},
        T(FLOOR) = {HMI_JIT_CALL, 1, CALL_FLOOR},
        T(CEIL) = {HMI_JIT_CALL, 1, CALL_CEIL},
        T(TABLE) = {HMI_JIT_CALL, 2, CALL_TABLE},
        T(LOOKUP) = {HMI_JIT_CALL, 2, CALL_LOOKUP},
        T(TABLE2) = {HMI_JIT_CALL, 3, CALL_TABLE2},
        T(LOOKUP2) = {HMI_JIT_CALL, 3, CALL_LOOKUP2},
    };
    return op < sizeof rows / sizeof *rows ? rows[op] : (hmi_jit_row){0};
}

/* ---- arguments ---- */

typedef struct call_site {
    hmi_emitter *e;
    const hmi_jit_node *nodes[4];
    size_t count;
    uint32_t occupied; /* registers that hold arguments, or are taken for gathering */
} call_site;

static int spare_register(call_site *c)
{
    int reg = 0;
    while (c->occupied >> reg & 1)
        reg++;
    c->occupied |= 1u << reg;
    return reg;
}

static hmi_x86_operand argument(call_site *c, size_t call, int k)
{
    return hmi_emitter_operand(c->e, c->nodes[call < c->count ? call : c->count - 1]->operand[k]);
}

/* Four arguments that lie side by side are one load. */
static bool side_by_side(const call_site *c, int k)
{
    const hmi_jit_value *first = hmi_emitter_value(c->e, c->nodes[0]->operand[k]);
    for (size_t call = 0; call < 4; call++) {
        if (call >= c->count)
            return false;
        const hmi_jit_value *value = hmi_emitter_value(c->e, c->nodes[call]->operand[k]);
        if (value->reg >= 0 || value->base != first->base || value->index != first->index + call)
            return false;
        if (value->base == HMI_JIT_SPILLED && value->block == HMI_JIT_NONE)
            return false; /* stored one by one just now */
    }
    return true;
}

/* Arguments `call` and the one after it. */
static int gather_pair(call_site *c, size_t call, int k)
{
    hmi_x86 *x = &c->e->x;
    int dst = spare_register(c);
    hmi_x86_operand low = argument(c, call, k);
    if (!low.is_register)
        hmi_x86_load_one(x, dst, low);
    hmi_x86_operand high = argument(c, call + 1, k);
    hmi_x86_pair(x, dst, low.is_register ? low.number : dst, high);
    return dst;
}

/* Operand k of all calls in one register. */
static int gather(call_site *c, int k)
{
    hmi_x86 *x = &c->e->x;
    if (c->count == 1) {
        hmi_x86_operand only = argument(c, 0, k);
        int reg = only.is_register ? only.number : spare_register(c);
        if (!only.is_register)
            hmi_x86_load(x, reg, only);
        return reg;
    }
    if (side_by_side(c, k)) {
        int reg = spare_register(c);
        hmi_x86_load_four(x, reg, argument(c, 0, k));
        return reg;
    }
    int low = gather_pair(c, 0, k), high = c->count > 2 ? gather_pair(c, 2, k) : low;
    hmi_x86_join(x, low, low, high);
    return low;
}

static void move_unless_there(call_site *c, int dst, int src)
{
    bool wide = c->e->lanes == 4 || c->count > 1;
    if (dst != src)
        hmi_x86_move(&c->e->x, wide, dst, src);
}

/* A third argument waits where the first two do not go. */
static int out_of_the_way(call_site *c, int reg)
{
    if (reg > 1)
        return reg;
    c->occupied |= 3;
    int other = spare_register(c);
    move_unless_there(c, other, reg);
    return other;
}

static void pass_arguments(call_site *c, int arity)
{
    for (size_t call = 0; call < c->count; call++)
        for (int k = 0; k < arity; k++) {
            int reg = hmi_emitter_value(c->e, c->nodes[call]->operand[k])->reg;
            if (reg >= 0)
                c->occupied |= 1u << reg;
        }
    int first = gather(c, 0), second = arity > 1 ? gather(c, 1) : first;
    int third = arity > 2 ? out_of_the_way(c, gather(c, 2)) : first;
    if (arity > 1)
        move_unless_there(c, HMI_JIT_SCRATCH, second);
    move_unless_there(c, 0, first);
    if (arity > 1)
        move_unless_there(c, 1, HMI_JIT_SCRATCH);
    if (arity > 2)
        move_unless_there(c, 2, third);
}

/* ---- around the call ---- */

/* From here on next uses are those after the calls. */
static void pass_time(call_site *c, int arity)
{
    for (size_t call = 0; call < c->count; call++)
        for (int k = 0; k < arity; k++)
            hmi_emitter_value(c->e, c->nodes[call]->operand[k])->next_use =
                c->nodes[call]->next_use[k];
}

static void save_live(hmi_emitter *e)
{
    for (int reg = 0; reg < HMI_JIT_REGISTERS; reg++)
        if (e->held[reg] != HMI_JIT_NONE &&
            hmi_emitter_value(e, e->held[reg])->next_use != HMI_JIT_NONE)
            hmi_emitter_spill(e, e->held[reg]);
}

static void forget_registers(hmi_emitter *e, bool keeps_pointers)
{
    for (int reg = 0; reg < HMI_JIT_REGISTERS; reg++) {
        if (e->held[reg] != HMI_JIT_NONE)
            hmi_emitter_value(e, e->held[reg])->reg = -1;
        e->held[reg] = HMI_JIT_NONE;
    }
    if (!keeps_pointers)
        e->pointers = 0;
}

static void drop_arguments(call_site *c, int arity)
{
    for (size_t call = 0; call < c->count; call++)
        for (int k = 0; k < arity; k++)
            if (hmi_emitter_value(c->e, c->nodes[call]->operand[k])->next_use == HMI_JIT_NONE)
                hmi_emitter_free_spill(c->e, c->nodes[call]->operand[k]);
}

/* ---- results ---- */

/* Result `slot` of a block is value v. */
static void define_in_block(hmi_emitter *e, uint32_t v, uint32_t block, uint32_t slot)
{
    hmi_jit_value *value = hmi_emitter_value(e, v);
    if (value->output != HMI_JIT_NONE) {
        hmi_x86_load(&e->x, HMI_JIT_SCRATCH, hmi_emitter_place(e, HMI_JIT_SPILLED, slot));
        hmi_x86_store(&e->x, hmi_emitter_place(e, HMI_JIT_WORK, value->output), HMI_JIT_SCRATCH);
    }
    if (value->next_use == HMI_JIT_NONE)
        return;
    value->base = HMI_JIT_SPILLED;
    value->index = slot;
    value->block = block;
    if (!e->x.failed)
        e->block_live.data[block / 8]++;
}

static void define_results(call_site *c, uint32_t block)
{
    uint32_t stride = c->e->lanes == 4 ? 1 : 4; /* from a sine to its cosine, in slots */
    for (size_t call = 0; call < c->count; call++)
        for (uint32_t k = 0; k < 2; k++)
            if (c->nodes[call]->result[k] != HMI_JIT_NONE)
                define_in_block(c->e, c->nodes[call]->result[k], block,
                                block + k * stride + (uint32_t)call);
}

/* Nothing of the block is read: it is free. */
static void free_unread_block(hmi_emitter *e, uint32_t block)
{
    if (!e->x.failed && e->block_live.data[block / 8] == 0)
        e->x.failed = !hmi_array_push(e->allocator, &e->free_blocks, block);
}

/* As instructions; wide results as the function of four leaves them. */
static void emit_pair(hmi_emitter *e, hmi_x86_operand results, const hmi_jit_function *function)
{
    if (e->program->inline_sincos) {
        hmi_emitter_sincos(e, true, results, function);
        hmi_x86_store_four(&e->x, results, 0);
        results.displacement += 32;
        hmi_x86_store_four(&e->x, results, 1);
        return;
    }
    hmi_x86_store_four(&e->x, results, 0); /* in place, where RDI points */
    hmi_x86_address(&e->x, HMI_RDI, results);
    hmi_x86_call(&e->x, function->four);
}

/* Four at once, or a called pair of sine and cosine in four lanes: results go through memory. */
static void call_to_block(call_site *c, const hmi_jit_function *function, bool pair)
{
    hmi_emitter *e = c->e;
    uint32_t block = hmi_emitter_new_block(e);
    hmi_x86_operand results = hmi_emitter_place(e, HMI_JIT_SPILLED, block);
    if (pair)
        emit_pair(e, results, function);
    else {
        hmi_x86_call(&e->x, function->four);
        hmi_x86_store_four(&e->x, results, 0);
    }
    e->wide = true;
    define_results(c, block);
    free_unread_block(e, block);
}

/* A pair that stays in registers; four lanes need room for the moment. */
static void inline_pair(hmi_emitter *e, const hmi_jit_function *function)
{
    if (e->lanes == 1) {
        hmi_emitter_sincos(e, false, hmi_x86_register(0), function);
        return;
    }
    uint32_t room = hmi_emitter_new_block(e);
    hmi_emitter_sincos(e, true, hmi_emitter_place(e, HMI_JIT_SPILLED, room), function);
    free_unread_block(e, room);
}

static void call_to_registers(call_site *c, const hmi_jit_function *function, bool pair)
{
    hmi_emitter *e = c->e;
    if (pair && e->program->inline_sincos)
        inline_pair(e, function);
    else
        hmi_x86_call(&e->x, e->lanes == 4 ? function->four : function->one);
    for (int k = 0; k < 2; k++)
        if (c->nodes[0]->result[k] != HMI_JIT_NONE)
            hmi_emitter_define(e, c->nodes[0]->result[k], k);
}

void hmi_emitter_call(hmi_emitter *e, size_t first, size_t count)
{
    call_site c = {.e = e, .count = count};
    for (size_t call = 0; call < count; call++)
        c.nodes[call] = hmi_jit_node_at(e->program, first + call);
    unsigned number = c.nodes[0]->row.opcode;
    hmi_jit_function function = function_at(number);
    bool pair = number == CALL_SINCOS, inlined = pair && e->program->inline_sincos;
    pass_time(&c, function.arity);
    save_live(e);
    pass_arguments(&c, function.arity);
    forget_registers(e, inlined);
    if (count > 1 || (e->lanes == 4 && pair && !inlined))
        call_to_block(&c, &function, pair);
    else
        call_to_registers(&c, &function, pair);
    drop_arguments(&c, function.arity);
}
