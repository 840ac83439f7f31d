/* Sine and cosine as instructions in the code: see jit.h, expr/graph/sincos.h.
 *
 * The instructions are those of hmi_math_fused_sincos in another order, so that results agree bit by
 * bit; arguments beyond its bound go to it. Around them no vector register is live but the argument,
 * in register 0; the general registers that hold pointers survive.
 */
#include "compile/jit/emit.h"

#include "expr/graph/sincos.h"

enum {
#define INDEX(name, value) AT_##name,
    HMI_SINCOS_NUMBERS(INDEX) NUMBER_COUNT
};
_Static_assert(HMI_JIT_SINCOS_NUMBERS + 32 * NUMBER_COUNT <= HMI_CODE_ENTRY, "room for them");

void hmi_emitter_put_sincos_numbers(hmi_emitter *e)
{
    static const double numbers[] = {
#define NUMBER(name, value) value,
        HMI_SINCOS_NUMBERS(NUMBER)};
    for (int k = 0; k < (HMI_CODE_ENTRY - HMI_JIT_SINCOS_NUMBERS) / 32; k++)
        for (int lane = 0; lane < 4; lane++)
            hmi_x86_bytes(&e->x, &numbers[k < NUMBER_COUNT ? k : 0], sizeof *numbers);
}

static hmi_x86_operand at(int place)
{
    return hmi_x86_memory(HMI_IN_CODE, place);
}

#define N(name) at(HMI_JIT_SINCOS_NUMBERS + 32 * AT_##name)
#define R(reg)  hmi_x86_register(reg)

/* reg_m = m, reg_r = r, reg_l = l; t1 and the argument in register 0 are lost. */
static void emit_reduction(hmi_x86 *x, int reg_m, int reg_r, int reg_l, int t1)
{
    hmi_x86_load(x, reg_m, N(MAGIC));
    hmi_x86_fused(x, HMI_X86_FMADD231, reg_m, 0, N(TWO_BY_PI));
    hmi_x86_arithmetic(x, HMI_X86_SUB, t1, reg_m, N(MAGIC));
    hmi_x86_fused(x, HMI_X86_FNMADD231, 0, t1, N(P1));
    hmi_x86_move(x, x->four, reg_r, 0);
    hmi_x86_fused(x, HMI_X86_FNMADD231, reg_r, t1, N(P2));
    hmi_x86_arithmetic(x, HMI_X86_SUB, reg_l, 0, R(reg_r));
    hmi_x86_fused(x, HMI_X86_FNMADD231, reg_l, t1, N(P2));
    hmi_x86_fused(x, HMI_X86_FNMADD231, reg_l, t1, N(P3));
}

/* dst = low + high z. */
static void emit_pair(hmi_x86 *x, int dst, int z, hmi_x86_operand high, hmi_x86_operand low)
{
    hmi_x86_load(x, dst, high);
    hmi_x86_fused(x, HMI_X86_FMADD213, dst, z, low);
}

static void emit_polynomials(hmi_x86 *x, int z, int w, int p, int q, int t1, int t2)
{
    emit_pair(x, p, z, N(S6), N(S5));
    emit_pair(x, q, z, N(C6), N(C5));
    emit_pair(x, t1, z, N(S4), N(S3));
    emit_pair(x, t2, z, N(C4), N(C3));
    hmi_x86_fused(x, HMI_X86_FMADD213, p, w, R(t1));
    hmi_x86_fused(x, HMI_X86_FMADD213, q, w, R(t2));
    emit_pair(x, t1, z, N(S2), N(S1));
    emit_pair(x, t2, z, N(C2), N(C1));
    hmi_x86_fused(x, HMI_X86_FMADD213, p, w, R(t1));
    hmi_x86_fused(x, HMI_X86_FMADD213, q, w, R(t2));
}

/* Registers 0 and 1 = the sine s and the cosine c of r + l, turned by the integer of m. */
static void emit_turn(hmi_x86 *x, int m, int s, int c, int t1, int t2)
{
    hmi_x86_shift_left(x, t1, m, 63);
    hmi_x86_shift_left(x, t2, m, 62);
    hmi_x86_blend(x, 0, s, c, t1);
    hmi_x86_blend(x, 1, c, s, t1);
    hmi_x86_bitwise(x, HMI_X86_XOR, t1, t1, R(t2));
    hmi_x86_bitwise(x, HMI_X86_AND, t2, t2, at(HMI_JIT_SIGN_BITS));
    hmi_x86_bitwise(x, HMI_X86_AND, t1, t1, at(HMI_JIT_SIGN_BITS));
    hmi_x86_bitwise(x, HMI_X86_XOR, 0, 0, R(t2));
    hmi_x86_bitwise(x, HMI_X86_XOR, 1, 1, R(t1));
}

/* u = u + (w^2 q + (w q1 + (1 - u - z/2 - r l))), u = 1 - z/2; e is lost, and w and q. */
static void emit_kernel(hmi_x86 *x)
{
    enum { Z, W, M, RR, L, P, Q, U, E, T1, T2 }; /* registers */
    emit_reduction(x, M, RR, L, T1);
    hmi_x86_arithmetic(x, HMI_X86_MUL, Z, RR, R(RR));
    hmi_x86_arithmetic(x, HMI_X86_MUL, W, Z, R(Z));
    emit_polynomials(x, Z, W, P, Q, T1, T2);
    hmi_x86_load(x, U, at(HMI_JIT_ONES));
    hmi_x86_fused(x, HMI_X86_FNMADD231, U, Z, N(HALF));
    hmi_x86_load(x, E, at(HMI_JIT_ONES));
    hmi_x86_arithmetic(x, HMI_X86_SUB, E, E, R(U));
    hmi_x86_fused(x, HMI_X86_FNMADD231, E, Z, N(HALF));
    hmi_x86_fused(x, HMI_X86_FNMADD231, E, RR, R(L));
    hmi_x86_fused(x, HMI_X86_FMADD231, E, W, R(Q));
    hmi_x86_arithmetic(x, HMI_X86_MUL, Z, Z, R(RR));
    hmi_x86_fused(x, HMI_X86_FMADD213, Z, P, R(L));
    hmi_x86_bitwise(x, HMI_X86_AND, T1, RR, at(HMI_JIT_SIGN_BITS));
    hmi_x86_arithmetic(x, HMI_X86_ADD, RR, RR, R(Z));
    hmi_x86_arithmetic(x, HMI_X86_ADD, U, U, R(E));
    hmi_x86_bitwise(x, HMI_X86_OR, RR, RR, R(T1));
    emit_turn(x, M, RR, U, T1, T2);
}

/* Jumps where the argument, or all four, are within the bound: one by its exponent. */
static size_t emit_test(hmi_x86 *x)
{
    if (!x->four)
        return hmi_x86_jump_if_exponent_below(x, 0, HMI_SINCOS_EXPONENT);
    hmi_x86_bitwise(x, HMI_X86_AND, 1, 0, at(HMI_JIT_OTHER_BITS));
    hmi_x86_compare(x, HMI_X86_LESS, 1, 1, N(BOUND));
    return hmi_x86_jump_if_all(x, 1);
}

/* The call for large arguments: pointers are kept, the stack is aligned. */
static void emit_call(hmi_emitter *e, uint64_t function)
{
    static const uint8_t kept[] = {HMI_RCX, HMI_RDX, HMI_RSI, HMI_R8,
                                   HMI_R9,  HMI_R10, HMI_R11, HMI_RAX};
    size_t count = e->program->has_calls ? 8 : 7; /* there the stack is aligned, else not */
    for (size_t k = 0; k < count; k++)
        hmi_x86_push(&e->x, kept[k]);
    hmi_x86_call(&e->x, function);
    for (size_t k = count; k-- > 0;)
        hmi_x86_pop(&e->x, kept[k]);
}

/* The call for large arguments; of four through memory. */
static void emit_large(hmi_emitter *e, hmi_x86_operand room, const hmi_jit_function *function)
{
    hmi_x86 *x = &e->x;
    if (!x->four) {
        emit_call(e, function->one);
        return;
    }
    hmi_x86_store_four(x, room, 0);
    hmi_x86_address(x, HMI_RDI, room);
    emit_call(e, function->four);
    hmi_x86_load_four(x, 0, room);
    room.displacement += 32;
    hmi_x86_load_four(x, 1, room);
}

void hmi_emitter_sincos(hmi_emitter *e, bool wide, hmi_x86_operand room,
                        const hmi_jit_function *function)
{
    hmi_x86 *x = &e->x;
    bool four = x->four;
    x->four = wide;
    size_t simple = emit_test(x);
    emit_large(e, room, function);
    size_t done = hmi_x86_jump_ahead(x);
    hmi_x86_land(x, simple);
    emit_kernel(x);
    hmi_x86_land(x, done);
    x->four = four;
}
