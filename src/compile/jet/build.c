/* Tapes -> jets.
 *
 * Every instruction of a tape becomes one at order 0, which computes the value, and one for the orders
 * above, which is chosen by what changes in time among the operands. Equal instructions exist once, so
 * that the derivatives of sinh and cosh, each of which is the other, come to an end.
 */
#include "compile/jet/code.h"
#include "compile/jet/verify.h"

#include <string.h>

#define NO_ROW UINT32_MAX

#define TABLE(op) ((uint32_t)(HMI_TAPE_FIRST_OF_TABLE + (op)))

static void fail(hmi_jet *jet)
{
    jet->status = HM_ERR_NOMEM;
}

/* ---- instructions ---- */

static void emit(hmi_jet *jet, uint32_t op, uint32_t dst, uint32_t a, uint32_t b, uint32_t c)
{
    const hmi_jet_code code = {op, dst, a, b, c, 0, 0, 0};
    if (!hmi_array_push(jet->allocator, &jet->code, code))
        fail(jet);
}

/* p a + q c, without the term that vanishes. */
static hmi_jet_code linear(const hmi_jet *jet, uint32_t dst, uint32_t p, uint32_t a, uint32_t q,
                           uint32_t c)
{
    if (c == jet->zero_row)
        return (hmi_jet_code){HMI_JET_SCALED, dst, a, 0, 0, p, 0, 0};
    if (a == jet->zero_row)
        return (hmi_jet_code){HMI_JET_SCALED, dst, c, 0, 0, q, 0, 0};
    return (hmi_jet_code){HMI_JET_LINEAR, dst, a, 0, c, p, q, 0};
}

static void emit_linear(hmi_jet *jet, uint32_t dst, uint32_t p, uint32_t a, uint32_t q, uint32_t c)
{
    if (!hmi_array_push(jet->allocator, &jet->code, linear(jet, dst, p, a, q, c)))
        fail(jet);
}

static bool fixed(const hmi_jet *jet, uint32_t row)
{
    return jet->constant.data[row];
}

/* ---- products and sums ---- */

/* How x*y enters at orders above 0. */
typedef enum product { NO_PRODUCT, SCALED, CONVOLVED } product;

static product product_of(const hmi_jet *jet, uint32_t *x, uint32_t *y)
{
    if (fixed(jet, *x)) { /* the constant second */
        uint32_t swap = *x;
        *x = *y;
        *y = swap;
    }
    return fixed(jet, *x) ? NO_PRODUCT : fixed(jet, *y) ? SCALED : CONVOLVED;
}

/* x*y, and the sums of MUL_ADD, MUL_SUB, SUB_MUL with z (NO_ROW: x*y alone). */
static void emit_product(hmi_jet *jet, uint32_t op, uint32_t r, uint32_t x, uint32_t y, uint32_t z)
{
    bool moving_z = z != NO_ROW && !fixed(jet, z);
    product kind = product_of(jet, &x, &y);
    uint32_t other = moving_z ? z : jet->zero_row;
    uint32_t sign = op == HMI_TAPE_SUB_MUL ? jet->minus_one : jet->one;
    uint32_t other_sign = op == HMI_TAPE_MUL_SUB ? jet->minus_one : jet->one;
    hmi_jet_code code = {HMI_JET_PRODUCT, r, x, y, other, sign, other_sign, 0};
    if (kind == CONVOLVED && !moving_z && op != HMI_TAPE_SUB_MUL)
        code.op = HMI_JET_TIMES;
    else if (kind == SCALED && op == HMI_TAPE_SUB_MUL)
        code = (hmi_jet_code){HMI_JET_LINEAR_SUB, r, x, 0, other, y, jet->one, 0};
    else if (kind == SCALED)
        code = linear(jet, r, y, x, other_sign, other);
    else if (kind == NO_PRODUCT)
        code = linear(jet, r, jet->one, jet->zero_row, other_sign, other);
    if (!hmi_array_push(jet->allocator, &jet->code, code))
        fail(jet);
}

static void emit_sum(hmi_jet *jet, hmi_op op, uint32_t r, uint32_t x, uint32_t y)
{
    uint32_t sign = op == HMI_ADD ? jet->one : jet->minus_one;
    emit_linear(jet, r, jet->one, fixed(jet, x) ? jet->zero_row : x, sign,
                fixed(jet, y) ? jet->zero_row : y);
}

/* With p = 1/b, or of a root 1/(2 r): a division would be waited for at every order. */
static void emit_divided(hmi_jet *jet, uint32_t op, uint32_t r, uint32_t a, uint32_t b)
{
    bool known, root = op == HMI_JET_SQRT;
    uint32_t x = root ? r : b, kind = root ? HMI_JET_HALF_RECIPROCAL : HMI_JET_RECIPROCAL;
    const hmi_jet_code code = {
        op, r, a, b, 0, hmi_jet_intern(jet, kind, x, 0, 0, fixed(jet, x), &known), 0, 0};
    if (!hmi_array_push(jet->allocator, &jet->code, code))
        fail(jet);
}

static void emit_quotient(hmi_jet *jet, uint32_t r, uint32_t x, uint32_t y)
{
    emit_divided(jet,
                 fixed(jet, y)   ? HMI_JET_DIV_CONST
                 : fixed(jet, x) ? HMI_JET_CONST_DIV
                                 : HMI_JET_DIV,
                 r, x, y);
}

/* ---- chains: r' = r_x x' + r_y y' with the derivatives of the table ---- */

#define apply hmi_jet_apply

static uint32_t rate_of(hmi_jet *jet, uint32_t x)
{
    bool known;
    uint32_t row = hmi_jet_intern(jet, HMI_JET_RATE_OF, x, 0, 0, false, &known);
    if (!known)
        emit(jet, HMI_JET_RATE, row, x, 0, 0);
    return row;
}

#define ZERO      NO_ROW
#define ONE       jet->one
#define TWO       jet->two
#define ADD(a, b) apply(jet, HMI_ADD, a, b, 0)
#define SUB(a, b) apply(jet, HMI_SUB, a, b, 0)
#define MUL(a, b) apply(jet, HMI_MUL, a, b, 0)
#define DIV(a, b) apply(jet, HMI_DIV, a, b, 0)
#define NEG(a)    apply(jet, HMI_NEG, a, 0, 0)
#define POW(a, b) apply(jet, HMI_POW, a, b, 0)
#define SQR(a)    apply(jet, HMI_MUL, a, a, 0)
#define SQRT(a)   apply(jet, HMI_SQRT, a, 0, 0)
#define SIN(a)    apply(jet, HMI_SIN, a, 0, 0)
#define COS(a)    apply(jet, HMI_COS, a, 0, 0)
#define SINH(a)   apply(jet, HMI_SINH, a, 0, 0)
#define COSH(a)   apply(jet, HMI_COSH, a, 0, 0)
#define LOG(a)    apply(jet, HMI_LOG, a, 0, 0)
#define SIGN(a)   apply(jet, HMI_SIGN, a, 0, 0)
#define LT(a, b)  apply(jet, HMI_LT, a, b, 0)
/* series go by the pieces that are held (integrate/events) */
#define TABLE_SLOPE(k) ((void)(k), jet->status = HM_ERR_USAGE, NO_ROW)
/* only with 0 and 1, in the derivatives of min and max */
#define SELECT(c, a, b) ((a) == NO_ROW ? apply(jet, HMI_NOT, c, 0, 0) : (c))

/* d op/d operand k at operands X, Y and result R; NO_ROW: it vanishes. POW and POWI, whose
 * derivatives do not end, have recurrences of their own. */
static uint32_t partial(hmi_jet *jet, hmi_op op, int k, uint32_t X, uint32_t Y, uint32_t R)
{
    (void)R;
    switch (op) {
#define OP(name, arity, text, value, ddx, ddy)                                                     \
    case HMI_##name:                                                                               \
        return k == 0 ? (ddx) : (ddy);
#include "expr/graph/ops.def"
#undef OP
    default:
        return NO_ROW;
    }
}

/* Does the table say that op is piecewise constant? (SELECT has a rule of its own.) */
bool hmi_jet_is_flat(hmi_op op)
{
    switch (op) {
    case HMI_SIGN:
    case HMI_FLOOR:
    case HMI_CEIL:
    case HMI_LOOKUP:
    case HMI_LOOKUP2:
    case HMI_LT:
    case HMI_LE:
    case HMI_EQ:
    case HMI_AND:
    case HMI_OR:
    case HMI_NOT:
        return true;
    default:
        return false;
    }
}

/* One term of the chain, written at place `at` of the code, which is kept free for it. */
static void write_term(hmi_jet *jet, size_t at, uint32_t r, uint32_t x, uint32_t rate, uint32_t D,
                       bool first)
{
    hmi_jet_code code = {first ? HMI_JET_CHAIN : HMI_JET_CHAIN_ADD, r, rate, D, 0, 0, 0, 0};
    if (fixed(jet, D))
        code = linear(jet, r, D, x, jet->one, first ? jet->zero_row : r);
    if (jet->status == HM_OK)
        jet->code.data[at] = code;
}

/* Derivatives come after r, on which they may depend: they are needed up to order k - 1 only. */
static void emit_chain(hmi_jet *jet, hmi_op op, uint32_t r, uint32_t x, uint32_t y)
{
    const uint32_t operand[2] = {x, y};
    uint32_t rate[2] = {0, 0};
    bool first = true;
    int arity = hmi_op_arity(op);
    for (int k = 0; k < arity; k++)
        if (!fixed(jet, operand[k]))
            rate[k] = rate_of(jet, operand[k]);
    size_t at = jet->code.count;
    for (int k = 0; k < arity; k++)
        emit(jet, HMI_JET_NOTHING, r, 0, 0, 0);
    for (int k = 0; k < arity; k++) {
        uint32_t D = fixed(jet, operand[k]) ? NO_ROW : partial(jet, op, k, x, y, r);
        if (D == NO_ROW || jet->status != HM_OK)
            continue;
        write_term(jet, at + (size_t)k, r, operand[k], rate[k], D, first);
        first = false;
    }
}

/* sin and cos of one argument together. */
static uint32_t apply_sincos(hmi_jet *jet, hmi_op op, uint32_t x)
{
    bool known;
    uint32_t sine = hmi_jet_intern(jet, TABLE(HMI_SIN), x, 0, 0, fixed(jet, x), &known);
    uint32_t cosine = hmi_jet_intern(jet, TABLE(HMI_COS), x, 0, 0, fixed(jet, x), &known);
    if (!known && !fixed(jet, x) && !hmi_jet_make_sincos_by_rate(jet, x, sine, cosine)) {
        uint32_t rate = rate_of(jet, x);
        emit(jet, HMI_JET_SINCOS, sine, rate, 0, cosine);
    }
    return op == HMI_SIN ? sine : cosine;
}

/* x^y with y that changes: exp(y log x), the recurrences of which end. */
static void emit_power(hmi_jet *jet, uint32_t r, uint32_t x, uint32_t y)
{
    if (fixed(jet, y)) {
        emit(jet, HMI_JET_POWER, r, x, y, rate_of(jet, x));
        return;
    }
    uint32_t rate = rate_of(jet, MUL(y, LOG(x)));
    emit(jet, HMI_JET_CHAIN, r, rate, r, 0);
}

static void emit_orders(hmi_jet *jet, hmi_op op, uint32_t r, uint32_t x, uint32_t y, uint32_t z)
{
    switch (op) {
    case HMI_ADD:
    case HMI_SUB:
        emit_sum(jet, op, r, x, y);
        break;
    case HMI_MUL:
        emit_product(jet, 0, r, x, y, NO_ROW);
        break;
    case HMI_DIV:
        emit_quotient(jet, r, x, y);
        break;
    case HMI_NEG:
        emit_linear(jet, r, jet->minus_one, x, jet->one, jet->zero_row);
        break;
    case HMI_SQRT:
        emit_divided(jet, HMI_JET_SQRT, r, x, 0);
        break;
    case HMI_POW:
    case HMI_POWI:
        emit_power(jet, r, x, y);
        break;
    case HMI_SELECT:
        emit(jet, HMI_JET_SELECT, r, x, y, z);
        break;
    default:
        emit_chain(jet, op, r, x, y);
    }
}

uint32_t hmi_jet_apply(hmi_jet *jet, hmi_op op, uint32_t x, uint32_t y, uint32_t z)
{
    int arity = hmi_op_arity(op);
    bool known, constant = hmi_jet_is_flat(op) || (fixed(jet, x) && (arity < 2 || fixed(jet, y)) &&
                                                   (arity < 3 || fixed(jet, z)));
    if (jet->status != HM_OK)
        return 0;
    if (op == HMI_SIN || op == HMI_COS)
        return apply_sincos(jet, op, x);
    uint32_t r = hmi_jet_intern(jet, TABLE(op), x, arity > 1 ? y : 0, arity > 2 ? z : 0, constant,
                                &known);
    if (!known && !constant)
        emit_orders(jet, op, r, x, y, z);
    return r;
}

/* x^n by multiplication, which x_0 = 0 does not disturb. */
static uint32_t whole_power(hmi_jet *jet, uint32_t x, unsigned n)
{
    uint32_t result = NO_ROW;
    for (; n > 0; n >>= 1) {
        if (n & 1)
            result = result == NO_ROW ? x : MUL(result, x);
        if (n > 1)
            x = MUL(x, x);
    }
    return result;
}

/* ---- tapes ---- */

typedef struct importer {
    hmi_jet *jet;
    const hmi_tape *tape;
    const double *work;
    uint32_t *row; /* by place of the tape; NO_ROW: not read yet */
} importer;

static uint32_t read_source(importer *in, uint32_t slot)
{
    hmi_jet *jet = in->jet;
    uint32_t row = hmi_jet_new_row(jet, true);
    if (jet->status != HM_OK || !hmi_array_push(jet->allocator, &jet->source_row, row) ||
        !hmi_array_push(jet->allocator, &jet->source, in->work + slot))
        fail(jet);
    return row;
}

/* The row of a place as it stands now. */
static uint32_t row_at(importer *in, uint32_t slot)
{
    if (in->row[slot] != NO_ROW)
        return in->row[slot];
    for (size_t i = in->tape->param_inputs; i < in->tape->inputs.count; i++) {
        const hmi_tape_input *input = &in->tape->inputs.data[i];
        if (slot >= input->slot && slot < input->slot + input->count)
            return in->row[slot] = hmi_jet_row_of(in->jet, input->kind,
                                                  input->first + (slot - input->slot));
    }
    return in->row[slot] = read_source(in, slot);
}

/* a*b + c and the like. */
static uint32_t import_fused(importer *in, const hmi_instruction *ip)
{
    hmi_jet *jet = in->jet;
    uint32_t x = row_at(in, ip->a), y = row_at(in, ip->b), z = row_at(in, ip->c);
    if (jet->status != HM_OK)
        return 0;
    if (hmi_jet_is_rate_product(jet, x, y)) { /* the product is wanted by itself */
        uint32_t xy = MUL(x, y);
        return ip->op == HMI_TAPE_MUL_ADD   ? ADD(xy, z)
               : ip->op == HMI_TAPE_MUL_SUB ? SUB(xy, z)
                                            : SUB(z, xy);
    }
    bool known, constant = fixed(jet, x) && fixed(jet, y) && fixed(jet, z);
    uint32_t r = hmi_jet_intern(jet, ip->op, x, y, z, constant, &known);
    if (!known && !constant)
        emit_product(jet, ip->op, r, x, y, z);
    return r;
}

static uint32_t import_whole_power(importer *in, const hmi_instruction *ip)
{
    hmi_jet *jet = in->jet;
    uint32_t x = row_at(in, ip->a);
    double n = ip->b < in->tape->constants.count ? in->tape->constants.data[ip->b] : 0;
    if (n == 0 || n > 64 || n < -64)
        return apply(jet, HMI_POWI, x, row_at(in, ip->b), 0);
    uint32_t power = whole_power(jet, x, (unsigned)(n < 0 ? -n : n));
    return n < 0 ? DIV(ONE, power) : power;
}

static uint32_t import_table(importer *in, const hmi_instruction *ip)
{
    if (ip->op < HMI_TAPE_FIRST_OF_TABLE) { /* not an operation that has jets */
        in->jet->status = HM_ERR_USAGE;
        return 0;
    }
    hmi_op op = (hmi_op)(ip->op - HMI_TAPE_FIRST_OF_TABLE);
    int arity = hmi_op_arity(op);
    uint32_t x = row_at(in, ip->a), y = arity > 1 ? row_at(in, ip->b) : 0;
    uint32_t z = arity > 2 ? row_at(in, ip->c) : 0;
    return in->jet->status == HM_OK ? apply(in->jet, op, x, y, z) : 0;
}

static void import_instruction(importer *in, const hmi_instruction *ip)
{
    hmi_jet *jet = in->jet;
    uint32_t x = row_at(in, ip->a), r;
    if (jet->status != HM_OK)
        return;
    switch (ip->op) {
    case HMI_TAPE_COPY:
        r = x;
        break;
    case HMI_TAPE_SINCOS:
        r = apply(jet, HMI_SIN, x, 0, 0);
        in->row[ip->b] = apply(jet, HMI_COS, x, 0, 0);
        break;
    case HMI_TAPE_SQUARE:
        r = MUL(x, x);
        break;
    case HMI_TAPE_CUBE:
        r = MUL(x, MUL(x, x));
        break;
    case HMI_TAPE_MUL_ADD:
    case HMI_TAPE_MUL_SUB:
    case HMI_TAPE_SUB_MUL:
        r = import_fused(in, ip);
        break;
    case HMI_TAPE_FIRST_OF_TABLE + HMI_POWI:
        r = import_whole_power(in, ip);
        break;
    default:
        r = import_table(in, ip);
    }
    in->row[ip->dst] = r;
}

static void import_tape(importer *in, hmi_jet_segment *segment)
{
    hmi_jet *jet = in->jet;
    const hmi_tape *tape = in->tape;
    for (size_t i = 0; i + 1 < tape->body.count && jet->status == HM_OK; i++)
        import_instruction(in, &tape->body.data[i]);
    segment->output = jet->outputs.count;
    for (size_t i = 0; i < tape->output_count && jet->status == HM_OK; i++)
        if (!hmi_array_push(jet->allocator, &jet->outputs,
                            row_at(in, (uint32_t)(tape->output_slot + i))))
            fail(jet);
}

hm_status hmi_jet_add(hmi_jet *jet, const hmi_tape *tape, const double *work,
                      hmi_jet_segment *segment)
{
    importer in = {.jet = jet, .tape = tape, .work = work};
    size_t bytes = (tape->work_size + 1) * sizeof *in.row;
    in.row = hmi_alloc(jet->allocator, bytes);
    if (!in.row)
        fail(jet);
    if (jet->status != HM_OK) {
        hmi_free(jet->allocator, in.row, bytes);
        return jet->status;
    }
    memset(in.row, 0xFF, bytes);
    *segment = (hmi_jet_segment){.zero_first = jet->zero.count,
                                 .first = jet->code.count,
                                 .first_source = jet->source.count,
                                 .work = work};
    import_tape(&in, segment);
    hmi_free(jet->allocator, in.row, bytes);
    segment->zero_end = jet->zero.count;
    segment->end_source = jet->source.count;
    if (jet->status == HM_OK)
        hmi_jet_schedule(jet, segment->first);
    segment->end = jet->code.count;
    emit(jet, HMI_JET_NOTHING, 0, 0, 0, 0); /* ends the last run */
    if (jet->status == HM_OK)
        HMI_VERIFY(hmi_jet_segments_verify(jet, &(hmi_jet_segment){.end = jet->code.count}, 1,
                                           &(hmi_violation){.text = ""}));
    return jet->status;
}
