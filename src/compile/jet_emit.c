/* Machine code of jets at orders above 0: what jet_run.c interprets, with the same bits. Coefficients of
 * the order at work are stored when they are found and stay in registers as long as there is room.
 * Verified: test/unit/compile/test_jet.c
 */
#include "compile/jet_emit.h"

enum {
    LEFT = HMI_JET_LEFT,
    RIGHT = HMI_JET_RIGHT,
    FIRST_HELD = HMI_JET_FIRST_HELD,
    HELD = HMI_JET_HELD
};

typedef hmi_jet_emitter emitter;
#define word        hmi_jet_number
#define zeroth      hmi_jet_zeroth
#define scale       hmi_jet_scale_operand
#define coefficient hmi_jet_coefficient
#define in_register hmi_jet_in_register
#define finish      hmi_jet_finish

/* ---- registers ---- */

hmi_x86_operand hmi_jet_coefficient(const hmi_jet_emitter *e, uint32_t place)
{
    for (int i = 0; i < HELD; i++)
        if (e->held[i] == place)
            return hmi_x86_register(FIRST_HELD + i);
    return word(HMI_RDI, place + 1);
}

int hmi_jet_in_register(hmi_jet_emitter *e, uint32_t place, int otherwise)
{
    hmi_x86_operand operand = coefficient(e, place);
    if (operand.is_register)
        return operand.number;
    hmi_x86_load(&e->x, otherwise, operand);
    return otherwise;
}

void hmi_jet_free_register(hmi_jet_emitter *e, int number)
{
    e->held[number - FIRST_HELD] = HMI_JET_NO_PLACE;
}

int hmi_jet_take_register(hmi_jet_emitter *e, uint32_t place)
{
    for (int i = 0; i < HELD; i++)
        if (e->held[i] == place)
            e->held[i] = HMI_JET_NO_PLACE;
    unsigned r = e->next++ % HELD;
    e->held[r] = place;
    return FIRST_HELD + (int)r;
}

void hmi_jet_finish(hmi_jet_emitter *e, uint32_t place, int opcode, int a, hmi_x86_operand b)
{
    int r = hmi_jet_take_register(e, place);
    hmi_x86_arithmetic(&e->x, opcode, r, a, b);
    hmi_x86_store(&e->x, word(HMI_RDI, place + 1), r);
}

static void arithmetic(emitter *e, int opcode, int dst, int a, int b)
{
    hmi_x86_arithmetic(&e->x, opcode, dst, a, hmi_x86_register(b));
}

/* register := register op operand */
static void apply(emitter *e, int opcode, int r, hmi_x86_operand operand)
{
    hmi_x86_arithmetic(&e->x, opcode, r, r, operand);
}

/* r := r + x_0 y_k */
static void add_product(emitter *e, int r, uint32_t x, uint32_t y)
{
    hmi_x86_fused(&e->x, HMI_X86_FMADD231, r, in_register(e, y, RIGHT), zeroth(x));
}

/* A register for the result, which no operand is in: sums grow there. */
static int open_register(emitter *e, const hmi_jet_code *ip)
{
    for (;;) {
        unsigned r = e->next++ % HELD;
        uint32_t place = e->held[r];
        if (place != ip->a && place != ip->b && place != ip->c && place != ip->dst) {
            e->held[r] = HMI_JET_NO_PLACE;
            return FIRST_HELD + (int)r;
        }
    }
}

/* It holds the coefficient k of `place` now. */
static void close_register(emitter *e, uint32_t place, int r)
{
    for (int i = 0; i < HELD; i++)
        if (e->held[i] == place)
            e->held[i] = HMI_JET_NO_PLACE;
    e->held[r - FIRST_HELD] = place;
    hmi_x86_store(&e->x, word(HMI_RDI, place + 1), r);
}

/* ---- instructions ---- */

static bool is_one(const emitter *e, uint32_t place)
{
    return place == 2 * e->jet->one;
}

static bool is_minus_one(const emitter *e, uint32_t place)
{
    return place == 2 * e->jet->minus_one;
}

/* p a_k in a register: that of a_k, or this one. */
static int scaled(emitter *e, uint32_t p, uint32_t a, int otherwise)
{
    if (is_one(e, p))
        return in_register(e, a, otherwise);
    hmi_x86_load(&e->x, otherwise, zeroth(p));
    apply(e, HMI_X86_MUL, otherwise, coefficient(e, a));
    return otherwise;
}

/* dst := q c_k + p value: rounded once where p is not 1 or -1. */
static void add_scaled(emitter *e, const hmi_jet_code *ip, hmi_x86_operand value)
{
    bool sign = is_one(e, ip->p) || is_minus_one(e, ip->p);
    bool plus = is_one(e, ip->p) == (ip->op != HMI_JET_LINEAR_SUB);
    if (sign && plus && is_minus_one(e, ip->q) && value.is_register) {
        finish(e, ip->dst, HMI_X86_SUB, value.number, coefficient(e, ip->c));
        return;
    }
    if (ip->c == 2 * e->jet->zero_row && is_one(e, ip->q) && is_minus_one(e, ip->p) &&
        ip->op != HMI_JET_LINEAR_SUB) {
        hmi_x86_bitwise(&e->x, HMI_X86_XOR, LEFT, LEFT, hmi_x86_register(LEFT));
        finish(e, ip->dst, HMI_X86_SUB, LEFT, value);
        return;
    }
    if (sign) {
        int other = scaled(e, ip->q, ip->c, LEFT);
        finish(e, ip->dst, plus ? HMI_X86_ADD : HMI_X86_SUB, other, value);
        return;
    }
    if (!value.is_register) {
        hmi_x86_load(&e->x, RIGHT, value);
        value = hmi_x86_register(RIGHT);
    }
    int r = open_register(e, ip), other = scaled(e, ip->q, ip->c, r);
    if (other != r)
        hmi_x86_move(&e->x, false, r, other);
    hmi_x86_fused(&e->x, ip->op == HMI_JET_LINEAR_SUB ? HMI_X86_FNMADD231 : HMI_X86_FMADD231, r,
                  value.number, zeroth(ip->p));
    close_register(e, ip->dst, r);
}

static void emit_linear(emitter *e, const hmi_jet_code *ip)
{
    if (ip->op == HMI_JET_SCALED) {
        hmi_x86_load(&e->x, LEFT, zeroth(ip->p));
        finish(e, ip->dst, HMI_X86_MUL, LEFT, coefficient(e, ip->a));
    } else {
        add_scaled(e, ip, coefficient(e, ip->a));
    }
}

static void emit_product(emitter *e, const hmi_jet_code *ip)
{
    int r = open_register(e, ip);
    hmi_x86_load(&e->x, r, zeroth(ip->inner));
    if (ip->op == HMI_JET_TIMES || ip->op == HMI_JET_PRODUCT)
        add_product(e, r, ip->a, ip->b);
    if (ip->op != HMI_JET_INNER && ip->op != HMI_JET_INNER_PRODUCT)
        add_product(e, r, ip->b, ip->a);
    if (ip->op == HMI_JET_TIMES || ip->op == HMI_JET_HALF || ip->op == HMI_JET_INNER)
        close_register(e, ip->dst, r);
    else
        add_scaled(e, ip, hmi_x86_register(r));
}

static void emit_quotient(emitter *e, const hmi_jet_code *ip)
{
    if (ip->op == HMI_JET_DIV_CONST) {
        finish(e, ip->dst, HMI_X86_MUL, in_register(e, ip->a, LEFT), zeroth(ip->p));
        return;
    }
    if (ip->op == HMI_JET_CONST_DIV) {
        hmi_x86_load(&e->x, LEFT, zeroth(ip->inner));
        add_product(e, LEFT, ip->dst, ip->b);
        apply(e, HMI_X86_MUL, LEFT, zeroth(2 * e->jet->minus_one));
    } else {
        int a = in_register(e, ip->a, LEFT);
        hmi_x86_arithmetic(&e->x, HMI_X86_SUB, LEFT, a, zeroth(ip->inner));
        hmi_x86_fused(&e->x, HMI_X86_FNMADD231, LEFT, in_register(e, ip->b, RIGHT),
                      zeroth(ip->dst));
    }
    finish(e, ip->dst, HMI_X86_MUL, LEFT, zeroth(ip->p));
}

static void emit_root(emitter *e, const hmi_jet_code *ip)
{
    int a = in_register(e, ip->a, LEFT);
    hmi_x86_arithmetic(&e->x, HMI_X86_SUB, LEFT, a, zeroth(ip->inner));
    finish(e, ip->dst, HMI_X86_MUL, LEFT, zeroth(ip->p));
}

static void emit_power(emitter *e, const hmi_jet_code *ip)
{
    hmi_x86_load(&e->x, LEFT, zeroth(ip->b));
    hmi_x86_arithmetic(&e->x, HMI_X86_ADD, RIGHT, LEFT, zeroth(2 * e->jet->one));
    apply(e, HMI_X86_MUL, RIGHT, zeroth(ip->inner));
    apply(e, HMI_X86_MUL, LEFT, scale(e, HMI_JET_K));
    apply(e, HMI_X86_MUL, LEFT, coefficient(e, ip->a));
    apply(e, HMI_X86_MUL, LEFT, zeroth(ip->dst));
    hmi_jet_free_register(e, FIRST_HELD); /* a third register */
    hmi_x86_load(&e->x, FIRST_HELD, scale(e, HMI_JET_K));
    apply(e, HMI_X86_MUL, FIRST_HELD, zeroth(ip->inner + 1));
    arithmetic(e, HMI_X86_SUB, RIGHT, RIGHT, FIRST_HELD);
    arithmetic(e, HMI_X86_ADD, LEFT, LEFT, RIGHT);
    hmi_x86_load(&e->x, RIGHT, scale(e, HMI_JET_K));
    apply(e, HMI_X86_MUL, RIGHT, zeroth(ip->a));
    finish(e, ip->dst, HMI_X86_DIV, LEFT, hmi_x86_register(RIGHT));
}

/* LEFT := a_k b_0 + inner */
static void chain(emitter *e, uint32_t a, uint32_t b, uint32_t inner)
{
    hmi_x86_load(&e->x, LEFT, zeroth(inner));
    add_product(e, LEFT, b, a);
}

static void emit_sincos(emitter *e, const hmi_jet_code *ip)
{
    chain(e, ip->a, ip->c, ip->inner);
    finish(e, ip->dst, HMI_X86_MUL, LEFT, scale(e, HMI_JET_INVERSE));
    chain(e, ip->a, ip->dst, ip->inner + 1);
    apply(e, HMI_X86_MUL, LEFT, scale(e, HMI_JET_INVERSE));
    finish(e, ip->c, HMI_X86_MUL, LEFT, zeroth(2 * e->jet->minus_one));
}

static void emit_chain(emitter *e, const hmi_jet_code *ip)
{
    chain(e, ip->a, ip->b, ip->inner);
    if (ip->op == HMI_JET_CHAIN) {
        finish(e, ip->dst, HMI_X86_MUL, LEFT, scale(e, HMI_JET_INVERSE));
        return;
    }
    apply(e, HMI_X86_MUL, LEFT, scale(e, HMI_JET_INVERSE));
    finish(e, ip->dst, HMI_X86_ADD, LEFT, coefficient(e, ip->dst));
}

static void emit_select(emitter *e, const hmi_jet_code *ip)
{
    hmi_x86_load(&e->x, LEFT, zeroth(ip->a));
    hmi_x86_bitwise(&e->x, HMI_X86_XOR, RIGHT, RIGHT, hmi_x86_register(RIGHT));
    hmi_x86_compare(&e->x, HMI_X86_NOT_EQUAL, RIGHT, LEFT, hmi_x86_register(RIGHT));
    int no = in_register(e, ip->c, LEFT), yes = in_register(e, ip->b, FIRST_HELD);
    if (yes == FIRST_HELD)
        hmi_jet_free_register(e, FIRST_HELD);
    hmi_x86_blend(&e->x, LEFT, no, yes, RIGHT);
    finish(e, ip->dst, HMI_X86_MUL, LEFT, zeroth(2 * e->jet->one));
}

void hmi_jet_emit_instruction(hmi_jet_emitter *e, const hmi_jet_code *ip)
{
    switch ((hmi_jet_op)ip->op) {
    case HMI_JET_SCALED:
    case HMI_JET_LINEAR:
    case HMI_JET_LINEAR_SUB:
        emit_linear(e, ip);
        break;
    case HMI_JET_TIMES:
    case HMI_JET_PRODUCT:
    case HMI_JET_HALF:
    case HMI_JET_HALF_PRODUCT:
    case HMI_JET_INNER:
    case HMI_JET_INNER_PRODUCT:
        emit_product(e, ip);
        break;
    case HMI_JET_DIV:
    case HMI_JET_DIV_CONST:
    case HMI_JET_CONST_DIV:
        emit_quotient(e, ip);
        break;
    case HMI_JET_SQRT:
        emit_root(e, ip);
        break;
    case HMI_JET_RATE:
        finish(e, ip->dst, HMI_X86_MUL, in_register(e, ip->a, LEFT), scale(e, HMI_JET_K));
        break;
    case HMI_JET_SINCOS:
        emit_sincos(e, ip);
        break;
    case HMI_JET_CHAIN:
    case HMI_JET_CHAIN_ADD:
        emit_chain(e, ip);
        break;
    case HMI_JET_SELECT:
        emit_select(e, ip);
        break;
    case HMI_JET_POWER:
        emit_power(e, ip);
        break;
    default: /* the end of a segment */
        break;
    }
}
