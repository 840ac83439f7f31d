/* Machine code of jets at orders above 0: what interpreter.c interprets, with the same bits.
 * Verified: test/unit/compile/test_jet.c
 */
#include "compile/jet/emit.h"

enum { LEFT = HMI_JET_LEFT, RIGHT = HMI_JET_RIGHT };

typedef hmi_jet_emitter emitter;
#define read        hmi_jet_read
#define in_register hmi_jet_in_register

/* ---- numbers ---- */

/* x_k and x_0 of a place. */
static uint32_t coefficient(uint32_t place)
{
    return place + 1;
}

static uint32_t zeroth(uint32_t place)
{
    return place;
}

static uint32_t scale(const emitter *e, hmi_jet_scale which)
{
    return hmi_jet_scale_number(e, which);
}

static void finish(hmi_jet_emitter *e, uint32_t number, int opcode, int a, hmi_x86_operand b)
{
    int r = hmi_jet_result(e);
    hmi_x86_arithmetic(&e->x, opcode, r, a, b);
    hmi_jet_close(e, number, r);
}

/* register := register op operand */
static void apply(emitter *e, int opcode, int r, hmi_x86_operand operand)
{
    hmi_x86_arithmetic(&e->x, opcode, r, r, operand);
}

static void clear(emitter *e, int r)
{
    hmi_x86_bitwise(&e->x, HMI_X86_XOR, r, r, hmi_x86_register(r));
}

/* Factors: *second is in a register, this one if neither was. Returns the other. */
static hmi_x86_operand factors(emitter *e, uint32_t x, uint32_t y, int otherwise, int *second)
{
    hmi_x86_operand a = read(e, x), b = read(e, y);
    if (a.is_register && !b.is_register) {
        *second = a.number;
        return b;
    }
    *second = b.is_register ? b.number : otherwise;
    if (!b.is_register)
        hmi_x86_load_one(&e->x, otherwise, b);
    return a;
}

/* number := x y */
static void finish_product(emitter *e, uint32_t number, uint32_t x, uint32_t y)
{
    int second;
    hmi_x86_operand first = factors(e, x, y, LEFT, &second);
    finish(e, number, HMI_X86_MUL, second, first);
}

/* r := r + x y */
static void add_product(emitter *e, int r, uint32_t x, uint32_t y)
{
    int second;
    hmi_x86_operand first = factors(e, x, y, RIGHT, &second);
    hmi_x86_fused(&e->x, HMI_X86_FMADD231, r, second, first);
}

/* ---- sums, products ---- */

static bool is_one(const emitter *e, uint32_t place)
{
    return place == 2 * e->jet->one;
}

static bool is_minus_one(const emitter *e, uint32_t place)
{
    return place == 2 * e->jet->minus_one;
}

/* q c_k in a register: that of c_k, or this one. */
static int scaled(emitter *e, uint32_t q, uint32_t c, int otherwise)
{
    int second;
    if (is_one(e, q))
        return in_register(e, coefficient(c), otherwise);
    hmi_x86_operand first = factors(e, zeroth(q), coefficient(c), otherwise, &second);
    hmi_x86_arithmetic(&e->x, HMI_X86_MUL, otherwise, second, first);
    return otherwise;
}

/* dst := q c_k + p value, with p neither 1 nor -1: rounded once. */
static void add_fused(emitter *e, const hmi_jet_code *ip, int value)
{
    int r = hmi_jet_open(e), other = scaled(e, ip->q, ip->c, r);
    if (other != r)
        hmi_x86_move(&e->x, false, r, other);
    hmi_x86_fused(&e->x, ip->op == HMI_JET_LINEAR_SUB ? HMI_X86_FNMADD231 : HMI_X86_FMADD231, r,
                  value, read(e, zeroth(ip->p)));
    hmi_jet_close(e, coefficient(ip->dst), r);
}

/* dst := q c_k + p value, which is not in RIGHT. */
static void add_scaled(emitter *e, const hmi_jet_code *ip, int value)
{
    bool sign = is_one(e, ip->p) || is_minus_one(e, ip->p);
    bool plus = is_one(e, ip->p) == (ip->op != HMI_JET_LINEAR_SUB);
    uint32_t dst = coefficient(ip->dst);
    if (!sign) {
        add_fused(e, ip, value);
    } else if (plus && is_minus_one(e, ip->q)) {
        finish(e, dst, HMI_X86_SUB, value, read(e, coefficient(ip->c)));
    } else if (plus && is_one(e, ip->q)) {
        finish(e, dst, HMI_X86_ADD, value, read(e, coefficient(ip->c)));
    } else if (ip->c == 2 * e->jet->zero_row && is_one(e, ip->q)) {
        clear(e, RIGHT);
        finish(e, dst, HMI_X86_SUB, RIGHT, hmi_x86_register(value));
    } else {
        int other = scaled(e, ip->q, ip->c, RIGHT);
        finish(e, dst, plus ? HMI_X86_ADD : HMI_X86_SUB, other, hmi_x86_register(value));
    }
}

static void emit_linear(emitter *e, const hmi_jet_code *ip)
{
    if (ip->op == HMI_JET_SCALED)
        finish_product(e, coefficient(ip->dst), zeroth(ip->p), coefficient(ip->a));
    else
        add_scaled(e, ip, in_register(e, coefficient(ip->a), LEFT));
}

/* a b in a register. */
static void multiply(emitter *e, const hmi_jet_code *ip, int r)
{
    hmi_x86_load(&e->x, r, hmi_jet_inner_sum(e, ip->inner));
    if (ip->op == HMI_JET_TIMES || ip->op == HMI_JET_PRODUCT)
        add_product(e, r, zeroth(ip->a), coefficient(ip->b));
    if (ip->op != HMI_JET_INNER && ip->op != HMI_JET_INNER_PRODUCT)
        add_product(e, r, zeroth(ip->b), coefficient(ip->a));
}

static void emit_product(emitter *e, const hmi_jet_code *ip)
{
    if (ip->op == HMI_JET_TIMES || ip->op == HMI_JET_HALF || ip->op == HMI_JET_INNER) {
        int r = hmi_jet_open(e);
        multiply(e, ip, r);
        hmi_jet_close(e, coefficient(ip->dst), r);
    } else {
        multiply(e, ip, LEFT);
        add_scaled(e, ip, LEFT);
    }
}

/* ---- others ---- */

/* LEFT := a_k - inner */
static void subtract_inner(emitter *e, const hmi_jet_code *ip)
{
    int a = in_register(e, coefficient(ip->a), LEFT);
    hmi_x86_arithmetic(&e->x, HMI_X86_SUB, LEFT, a, hmi_jet_inner_sum(e, ip->inner));
}

static void emit_quotient(emitter *e, const hmi_jet_code *ip)
{
    if (ip->op == HMI_JET_DIV_CONST) {
        finish_product(e, coefficient(ip->dst), coefficient(ip->a), zeroth(ip->p));
        return;
    }
    if (ip->op == HMI_JET_CONST_DIV) {
        hmi_x86_load(&e->x, LEFT, hmi_jet_inner_sum(e, ip->inner));
        add_product(e, LEFT, zeroth(ip->dst), coefficient(ip->b));
        apply(e, HMI_X86_MUL, LEFT, read(e, zeroth(2 * e->jet->minus_one)));
    } else {
        subtract_inner(e, ip);
        hmi_x86_fused(&e->x, HMI_X86_FNMADD231, LEFT, in_register(e, coefficient(ip->b), RIGHT),
                      read(e, zeroth(ip->dst)));
    }
    finish(e, coefficient(ip->dst), HMI_X86_MUL, LEFT, read(e, zeroth(ip->p)));
}

static void emit_root(emitter *e, const hmi_jet_code *ip)
{
    subtract_inner(e, ip);
    finish(e, coefficient(ip->dst), HMI_X86_MUL, LEFT, read(e, zeroth(ip->p)));
}

static void emit_power(emitter *e, const hmi_jet_code *ip)
{
    int third = hmi_jet_open(e);
    hmi_x86_operand k = read(e, scale(e, HMI_JET_K));
    int power = in_register(e, zeroth(ip->b), LEFT);
    hmi_x86_arithmetic(&e->x, HMI_X86_ADD, RIGHT, power, read(e, zeroth(2 * e->jet->one)));
    apply(e, HMI_X86_MUL, RIGHT, hmi_jet_inner_sum(e, ip->inner));
    hmi_x86_arithmetic(&e->x, HMI_X86_MUL, LEFT, power, k);
    apply(e, HMI_X86_MUL, LEFT, read(e, coefficient(ip->a)));
    apply(e, HMI_X86_MUL, LEFT, read(e, zeroth(ip->dst)));
    hmi_x86_load(&e->x, third, hmi_jet_inner_sum(e, ip->inner + 1));
    apply(e, HMI_X86_MUL, third, k);
    apply(e, HMI_X86_SUB, RIGHT, hmi_x86_register(third));
    apply(e, HMI_X86_ADD, LEFT, hmi_x86_register(RIGHT));
    int x = in_register(e, zeroth(ip->a), RIGHT);
    hmi_x86_arithmetic(&e->x, HMI_X86_MUL, RIGHT, x, k);
    hmi_jet_leave(e, third);
    finish(e, coefficient(ip->dst), HMI_X86_DIV, LEFT, hmi_x86_register(RIGHT));
}

/* LEFT := a_k b_0 + inner */
static void chain(emitter *e, uint32_t a, uint32_t b, uint32_t sum)
{
    hmi_x86_load(&e->x, LEFT, hmi_jet_inner_sum(e, sum));
    add_product(e, LEFT, zeroth(b), coefficient(a));
}

static void emit_sincos(emitter *e, const hmi_jet_code *ip)
{
    uint32_t k = scale(e, HMI_JET_K);
    chain(e, ip->a, ip->c, ip->inner);
    finish(e, coefficient(ip->dst), HMI_X86_DIV, LEFT, read(e, k));
    e->time++;
    chain(e, ip->a, ip->dst, ip->inner + 1);
    apply(e, HMI_X86_DIV, LEFT, read(e, k));
    finish(e, coefficient(ip->c), HMI_X86_MUL, LEFT, read(e, zeroth(2 * e->jet->minus_one)));
}

static void emit_chain(emitter *e, const hmi_jet_code *ip)
{
    uint32_t dst = coefficient(ip->dst);
    chain(e, ip->a, ip->b, ip->inner);
    if (ip->op == HMI_JET_CHAIN) {
        finish(e, dst, HMI_X86_DIV, LEFT, read(e, scale(e, HMI_JET_K)));
        return;
    }
    apply(e, HMI_X86_DIV, LEFT, read(e, scale(e, HMI_JET_K)));
    finish(e, dst, HMI_X86_ADD, LEFT, read(e, dst));
}

static void emit_select(emitter *e, const hmi_jet_code *ip)
{
    int third = hmi_jet_open(e);
    int condition = in_register(e, zeroth(ip->a), LEFT);
    clear(e, RIGHT);
    hmi_x86_compare(&e->x, HMI_X86_NOT_EQUAL, RIGHT, condition, hmi_x86_register(RIGHT));
    int no = in_register(e, coefficient(ip->c), LEFT);
    int yes = in_register(e, coefficient(ip->b), third);
    hmi_x86_blend(&e->x, LEFT, no, yes, RIGHT);
    hmi_jet_leave(e, third);
    finish(e, coefficient(ip->dst), HMI_X86_MUL, LEFT, read(e, zeroth(2 * e->jet->one)));
}

void hmi_jet_emit_instruction(hmi_jet_emitter *e, const hmi_jet_code *ip)
{
    e->time++;
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
        finish_product(e, coefficient(ip->dst), coefficient(ip->a), scale(e, HMI_JET_K));
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
