/* Power series of expressions in ball arithmetic: see jet.h.
 *
 * A slot is one series. Operations of the graph whose recurrence needs a second series (sin needs
 * cos, atan needs 1/(1 + x^2)) get further slots. With x' the derivative by s, the recurrences are
 *     y' = w x'     y_k = (1/k) sum_{j=1..k} j x_j w_{k-j}        [Griewank & Walther 2008, 13.2]
 * where w may be a later slot, since only its lower orders are used.
 */
#include "analyse/jet.h"

#include <math.h>

/* Slots beyond the operations of the graph. Their y' = w x' is in slot_integral. */
enum {
    SLOT_LEAF = HMI_OP_COUNT,
    SLOT_CONST,    /* a: handle of the constant */
    SLOT_INTEGRAL, /* y' = w x': a = x, b = w, c = the operation that gives order 0 */
    SLOT_ANGLE,    /* atan2(y, x): a = y, b = x, c = the slot of 1/(x^2 + y^2) */
    SLOT_POWER,    /* a^b, b constant */
};

void hmi_jet_init(hmi_jet *jet, const hm_allocator *allocator, const hm_model *model,
                  const hmi_graph *graph)
{
    *jet = (hmi_jet){.allocator = allocator, .graph = graph, .model = model};
}

void hmi_jet_release(hmi_jet *jet)
{
    if (jet->value)
        _arb_vec_clear(jet->value, (slong)jet->value_count);
    hmi_array_release(jet->allocator, &jet->slots);
    hmi_array_release(jet->allocator, &jet->leaves);
    hmi_array_release(jet->allocator, &jet->slot_of);
    hmi_array_release(jet->allocator, &jet->stack);
    hmi_array_release(jet->allocator, &jet->roots);
    *jet = (hmi_jet){.allocator = jet->allocator};
}

/* ---- from nodes to slots ---- */

static hm_status push(hmi_jet *jet, int op, uint32_t a, uint32_t b, uint32_t c, bool constant,
                      uint32_t *slot)
{
    hmi_jet_slot new = {.op = (uint8_t)op, .constant = constant, .a = a, .b = b, .c = c};
    *slot = (uint32_t)jet->slots.count;
    return hmi_array_push(jet->allocator, &jet->slots, new) ? HM_OK : HM_ERR_NOMEM;
}

static bool is_constant(const hmi_jet *jet, uint32_t slot)
{
    return jet->slots.data[slot].constant;
}

/* Two operands, or one given twice. */
static hm_status push_op(hmi_jet *jet, hmi_op op, uint32_t a, uint32_t b, uint32_t *slot)
{
    return push(jet, (int)op, a, b, 0, is_constant(jet, a) && is_constant(jet, b), slot);
}

static hm_status push_one(hmi_jet *jet, uint32_t *slot)
{
    return push(jet, SLOT_CONST, jet->graph->one, 0, 0, true, slot);
}

/* Is it p/q pi with a small ratio, as pi/2 and 2*pi/3 are after folding? */
static bool multiple_of_pi(double value, long *p, long *q)
{
    const double pi = acos(-1.0);
    for (*q = 1; *q <= 360; (*q)++) {
        double over = round(value * (double)*q / pi);
        if (over == 0 || fabs(over) > 3600)
            continue;
        *p = (long)over;
        if (over * pi / (double)*q == value || over / (double)*q * pi == value)
            return true;
    }
    return false;
}

static hm_status push_constant(hmi_jet *jet, hmi_expr e, uint32_t *slot)
{
    long p, q;
    const hmi_constant *c = hmi_constant_of(jet->graph, e);
    if (!c->denominator && c->value != round(c->value) && !multiple_of_pi(c->value, &p, &q))
        jet->inexact = true;
    return push(jet, SLOT_CONST, e, 0, 0, true, slot);
}

static hm_status push_leaf(hmi_jet *jet, const hmi_node *node, uint32_t *slot)
{
    const uint16_t known = HMI_DEP(HMI_SYM_TIME) | HMI_DEP(HMI_SYM_COORD) |
                           HMI_DEP(HMI_SYM_VELOCITY) | HMI_DEP(HMI_SYM_ACCELERATION) |
                           HMI_DEP(HMI_SYM_STATE) | HMI_DEP(HMI_SYM_INPUT) |
                           HMI_DEP(HMI_SYM_INPUT_RATE) | HMI_DEP(HMI_SYM_INPUT_RATE2);
    if (!(known & HMI_DEP(node->a)))
        return HM_ERR_LIMIT;
    hmi_jet_leaf leaf = {(hmi_symbol_kind)node->a, node->b, (uint32_t)jet->slots.count};
    if (!hmi_array_push(jet->allocator, &jet->leaves, leaf))
        return HM_ERR_NOMEM;
    return push(jet, SLOT_LEAF, 0, 0, 0, false, slot);
}

/* x^2 + y^2 */
static hm_status push_squares(hmi_jet *jet, uint32_t x, uint32_t y, uint32_t *slot)
{
    uint32_t xx, yy;
    hm_status status = push_op(jet, HMI_MUL, x, x, &xx);
    if (status == HM_OK)
        status = push_op(jet, HMI_MUL, y, y, &yy);
    return status == HM_OK ? push_op(jet, HMI_ADD, xx, yy, slot) : status;
}

/* sin, cos, sinh, cosh: the partner stands right after, so that b of both is the other. */
static hm_status push_pair(hmi_jet *jet, hmi_op op, uint32_t x, uint32_t *slot)
{
    hmi_op partner = op == HMI_SIN    ? HMI_COS
                     : op == HMI_COS  ? HMI_SIN
                     : op == HMI_SINH ? HMI_COSH
                                      : HMI_SINH;
    uint32_t other, here = (uint32_t)jet->slots.count;
    hm_status status = push(jet, SLOT_INTEGRAL, x, here + 1, op, is_constant(jet, x), slot);
    if (status == HM_OK)
        status = push(jet, SLOT_INTEGRAL, x, here, partner, is_constant(jet, x), &other);
    return status;
}

/* tan' = (1 + tan^2) x', tanh' = (1 - tanh^2) x': w comes after y, as the square of it. */
static hm_status push_tangent(hmi_jet *jet, hmi_op op, uint32_t x, uint32_t *slot)
{
    uint32_t one, here, square, w;
    hm_status status = push_one(jet, &one);
    here = (uint32_t)jet->slots.count;
    if (status == HM_OK)
        status = push(jet, SLOT_INTEGRAL, x, here + 2, op, is_constant(jet, x), slot);
    if (status == HM_OK)
        status = push_op(jet, HMI_MUL, here, here, &square);
    return status == HM_OK
               ? push_op(jet, op == HMI_TAN ? HMI_ADD : HMI_SUB, one, square, &w)
               : status;
}

/* atan, asin, acos: w = 1/(1 + x^2), 1/sqrt(1 - x^2). */
static hm_status push_inverse(hmi_jet *jet, hmi_op op, uint32_t x, uint32_t *slot)
{
    uint32_t one, square, w;
    hm_status status = push_one(jet, &one);
    if (status == HM_OK)
        status = push_op(jet, HMI_MUL, x, x, &square);
    if (status == HM_OK)
        status = push_op(jet, op == HMI_ATAN ? HMI_ADD : HMI_SUB, one, square, &w);
    if (status == HM_OK && op != HMI_ATAN)
        status = push_op(jet, HMI_SQRT, w, w, &w);
    if (status == HM_OK)
        status = push_op(jet, HMI_DIV, one, w, &w);
    if (status == HM_OK && op == HMI_ACOS)
        status = push_op(jet, HMI_NEG, w, w, &w);
    return status == HM_OK ? push(jet, SLOT_INTEGRAL, x, w, op, is_constant(jet, x), slot) : status;
}

static hm_status push_angle(hmi_jet *jet, uint32_t y, uint32_t x, uint32_t *slot)
{
    uint32_t one, r2;
    hm_status status = push_one(jet, &one);
    if (status == HM_OK)
        status = push_squares(jet, x, y, &r2);
    if (status == HM_OK)
        status = push_op(jet, HMI_DIV, one, r2, &r2);
    bool constant = is_constant(jet, x) && is_constant(jet, y);
    return status == HM_OK ? push(jet, SLOT_ANGLE, y, x, r2, constant, slot) : status;
}

/* x^n by repeated squaring: exact at x = 0, where the recurrence of powers divides. */
static hm_status push_whole_power(hmi_jet *jet, uint32_t x, long n, uint32_t *slot)
{
    uint32_t one, square = x, result = UINT32_MAX;
    hm_status status = push_one(jet, &one);
    for (unsigned long k = (unsigned long)labs(n); status == HM_OK && k; k >>= 1) {
        if (k & 1)
            status = result == UINT32_MAX ? (result = square, HM_OK)
                                          : push_op(jet, HMI_MUL, result, square, &result);
        if (status == HM_OK && k > 1)
            status = push_op(jet, HMI_MUL, square, square, &square);
    }
    *slot = result == UINT32_MAX ? one : result;
    return status == HM_OK && n < 0 ? push_op(jet, HMI_DIV, one, *slot, slot) : status;
}

static hm_status push_power(hmi_jet *jet, hmi_expr e, uint32_t x, uint32_t y, uint32_t *slot)
{
    hmi_expr exponent = hmi_operand(jet->graph, e, 1);
    if (hmi_is_const(jet->graph, exponent)) {
        double n = hmi_constant_of(jet->graph, exponent)->value;
        if (n == round(n) && fabs(n) <= 64)
            return push_whole_power(jet, x, (long)n, slot);
    }
    if (is_constant(jet, y))
        return push(jet, SLOT_POWER, x, y, 0, is_constant(jet, x), slot);
    hm_status status = push_op(jet, HMI_LOG, x, x, slot);
    if (status == HM_OK)
        status = push_op(jet, HMI_MUL, *slot, y, slot);
    return status == HM_OK ? push_op(jet, HMI_EXP, *slot, *slot, slot) : status;
}

static hm_status push_node(hmi_jet *jet, hmi_expr e, const uint32_t x[3], uint32_t *slot)
{
    hmi_op op = hmi_op_of(jet->graph, e);
    switch (op) {
    case HMI_SIN:
    case HMI_COS:
    case HMI_SINH:
    case HMI_COSH:
        return push_pair(jet, op, x[0], slot);
    case HMI_TAN:
    case HMI_TANH:
        return push_tangent(jet, op, x[0], slot);
    case HMI_ATAN:
    case HMI_ASIN:
    case HMI_ACOS:
        return push_inverse(jet, op, x[0], slot);
    case HMI_ATAN2:
        return push_angle(jet, x[0], x[1], slot);
    case HMI_POW:
    case HMI_POWI:
        return push_power(jet, e, x[0], x[1], slot);
    case HMI_HYPOT: {
        hm_status status = push_squares(jet, x[0], x[1], slot);
        return status == HM_OK ? push_op(jet, HMI_SQRT, *slot, *slot, slot) : status;
    }
    default: {
        bool constant = true;
        for (int k = 0; k < hmi_op_arity(op); k++)
            constant = constant && is_constant(jet, x[k]);
        return push(jet, (int)op, x[0], x[1], x[2], constant, slot);
    }
    }
}

/* What must be there before e; a parameter stands for its value's expression. */
static int operands_of(const hmi_jet *jet, hmi_expr e, hmi_expr list[3])
{
    const hmi_node *node = hmi_node_at(jet->graph, e);
    if (node->op == HMI_SYMBOL && node->a == HMI_SYM_PARAM) {
        list[0] = jet->model->params.data[node->b].value_expr;
        return 1;
    }
    int arity = hmi_op_arity((hmi_op)node->op);
    for (int k = 0; k < arity; k++)
        list[k] = hmi_operand(jet->graph, e, k);
    return arity;
}

static hm_status visit(hmi_jet *jet, hmi_expr e)
{
    hmi_expr operand[3];
    uint32_t x[3] = {0, 0, 0}, slot = 0;
    const hmi_node *node = hmi_node_at(jet->graph, e);
    int count = operands_of(jet, e, operand);
    size_t before = jet->stack.count;
    for (int k = 0; k < count; k++)
        if (!jet->slot_of.data[operand[k]] &&
            !hmi_array_push(jet->allocator, &jet->stack, operand[k]))
            return HM_ERR_NOMEM;
    if (jet->stack.count > before)
        return HM_OK; /* again when they are done */
    jet->stack.count--;
    if (jet->slot_of.data[e])
        return HM_OK;
    for (int k = 0; k < count; k++)
        x[k] = jet->slot_of.data[operand[k]] - 1;
    hm_status status = HM_OK;
    if (node->op == HMI_CONST)
        status = push_constant(jet, e, &slot);
    else if (node->op == HMI_SYMBOL && node->a == HMI_SYM_PARAM)
        slot = x[0];
    else if (node->op == HMI_SYMBOL)
        status = push_leaf(jet, node, &slot);
    else
        status = push_node(jet, e, x, &slot);
    jet->slot_of.data[e] = slot + 1;
    return status;
}

hm_status hmi_jet_add(hmi_jet *jet, hmi_expr root)
{
    hm_status status = HM_OK;
    if (root == HMI_NONE)
        root = jet->graph->zero;
    while (jet->slot_of.count < jet->graph->nodes.count)
        if (!hmi_array_push(jet->allocator, &jet->slot_of, 0))
            return HM_ERR_NOMEM;
    jet->stack.count = 0;
    if (!hmi_array_push(jet->allocator, &jet->stack, root))
        return HM_ERR_NOMEM;
    while (status == HM_OK && jet->stack.count)
        status = visit(jet, jet->stack.data[jet->stack.count - 1]);
    if (status == HM_OK &&
        !hmi_array_push(jet->allocator, &jet->roots, jet->slot_of.data[root] - 1))
        status = HM_ERR_NOMEM;
    return status;
}

void hmi_jet_start(hmi_jet *jet, size_t orders, slong precision)
{
    if (jet->value)
        _arb_vec_clear(jet->value, (slong)jet->value_count);
    jet->orders = orders;
    jet->precision = precision;
    jet->failed = false;
    jet->value_count = jet->slots.count * orders;
    jet->value = _arb_vec_init((slong)jet->value_count);
}

/* ---- order by order ---- */

static arb_ptr series(const hmi_jet *jet, uint32_t slot)
{
    return jet->value + (size_t)slot * jet->orders;
}

arb_ptr hmi_jet_leaf_value(hmi_jet *jet, size_t leaf, size_t k)
{
    return series(jet, jet->leaves.data[leaf].slot) + k;
}

arb_srcptr hmi_jet_root(const hmi_jet *jet, size_t root, size_t k)
{
    return series(jet, jet->roots.data[root]) + k;
}

static void constant_value(hmi_jet *jet, hmi_expr e, arb_t out)
{
    long p, q;
    const hmi_constant *c = hmi_constant_of(jet->graph, e);
    if (c->denominator) {
        arb_set_si(out, c->numerator);
        arb_div_si(out, out, c->denominator, jet->precision);
    } else if (c->value != round(c->value) && multiple_of_pi(c->value, &p, &q)) {
        arb_const_pi(out, jet->precision);
        arb_mul_si(out, out, p, jet->precision);
        arb_div_si(out, out, q, jet->precision);
    } else {
        arb_set_d(out, c->value);
    }
}

static void function_value(hmi_op op, arb_t y, const arb_t x, slong precision)
{
    switch (op) {
    case HMI_SIN: arb_sin(y, x, precision); break;
    case HMI_COS: arb_cos(y, x, precision); break;
    case HMI_SINH: arb_sinh(y, x, precision); break;
    case HMI_COSH: arb_cosh(y, x, precision); break;
    case HMI_TAN: arb_tan(y, x, precision); break;
    case HMI_TANH: arb_tanh(y, x, precision); break;
    case HMI_ATAN: arb_atan(y, x, precision); break;
    case HMI_ASIN: arb_asin(y, x, precision); break;
    default: arb_acos(y, x, precision); break;
    }
}

/* (1/k) sum_{j=1..last} j x_j w_{k-j}, added to out (or subtracted). */
static void add_weighted(arb_t out, arb_srcptr x, arb_srcptr w, size_t k, size_t last, bool minus,
                         slong precision)
{
    arb_t sum, term;
    arb_init(sum);
    arb_init(term);
    for (size_t j = 1; j <= last; j++) {
        arb_mul_ui(term, x + j, j, precision);
        arb_addmul(sum, term, w + (k - j), precision);
    }
    arb_div_ui(sum, sum, k, precision);
    if (minus)
        arb_sub(out, out, sum, precision);
    else
        arb_add(out, out, sum, precision);
    arb_clear(sum);
    arb_clear(term);
}

/* y' = w x'; cos and its kin carry the sign of their derivative here. */
static void integral_order(hmi_jet *jet, const hmi_jet_slot *slot, arb_ptr y, size_t k)
{
    arb_srcptr x = series(jet, slot->a), w = series(jet, slot->b);
    if (k == 0)
        function_value((hmi_op)slot->c, y, x, jet->precision);
    else
        add_weighted(y + k, x, w, k, k, slot->c == HMI_COS, jet->precision);
}

/* atan2(y, x)' = (x y' - y x') / (x^2 + y^2). w is known to order k only after this slot's operands
 * are, which they are: it stands before. */
static void angle_order(hmi_jet *jet, const hmi_jet_slot *slot, arb_ptr out, size_t k)
{
    arb_srcptr y = series(jet, slot->a), x = series(jet, slot->b), w = series(jet, slot->c);
    if (k == 0) {
        arb_atan2(out, y, x, jet->precision);
        return;
    }
    arb_ptr wx = _arb_vec_init((slong)k), wy = _arb_vec_init((slong)k);
    for (size_t j = 0; j < k; j++) {
        arb_dot(wx + j, NULL, 0, w, 1, x + j, -1, (slong)j + 1, jet->precision);
        arb_dot(wy + j, NULL, 0, w, 1, y + j, -1, (slong)j + 1, jet->precision);
    }
    add_weighted(out + k, y, wx, k, k, false, jet->precision);
    add_weighted(out + k, x, wy, k, k, true, jet->precision);
    _arb_vec_clear(wx, (slong)k);
    _arb_vec_clear(wy, (slong)k);
}

/* y = x^p: x y' = p y x'. */
static void power_order(hmi_jet *jet, const hmi_jet_slot *slot, arb_ptr y, size_t k)
{
    arb_srcptr x = series(jet, slot->a), p = series(jet, slot->b);
    arb_t factor, term;
    if (k == 0) {
        arb_pow(y, x, p, jet->precision);
        return;
    }
    arb_init(factor);
    arb_init(term);
    for (size_t j = 1; j <= k; j++) {
        arb_mul_ui(factor, p, j, jet->precision);
        arb_sub_ui(factor, factor, k - j, jet->precision);
        arb_mul(term, x + j, y + (k - j), jet->precision);
        arb_addmul(y + k, factor, term, jet->precision);
    }
    arb_div_ui(y + k, y + k, k, jet->precision);
    arb_div(y + k, y + k, x, jet->precision);
    arb_clear(factor);
    arb_clear(term);
}

static void sqrt_order(arb_srcptr x, arb_ptr y, size_t k, slong precision)
{
    if (k == 0) {
        arb_sqrt(y, x, precision);
        return;
    }
    arb_dot(y + k, x + k, 1, y + 1, 1, y + (k - 1), -1, (slong)k - 1, precision);
    arb_div(y + k, y + k, y, precision);
    arb_mul_2exp_si(y + k, y + k, -1);
}

/* exp, log */
static void growth_order(hmi_op op, arb_srcptr x, arb_ptr y, size_t k, slong precision)
{
    if (op == HMI_EXP) {
        if (k == 0)
            arb_exp(y, x, precision);
        else
            add_weighted(y + k, x, y, k, k, false, precision);
        return;
    }
    if (k == 0) {
        arb_log(y, x, precision);
        return;
    }
    arb_set(y + k, x + k); /* x y' = x' */
    add_weighted(y + k, y, x, k, k - 1, true, precision);
    arb_div(y + k, y + k, x, precision);
}

static void divide_order(arb_srcptr a, arb_srcptr b, arb_ptr y, size_t k, slong precision)
{
    arb_dot(y + k, a + k, 1, y, 1, b + k, -1, (slong)k, precision);
    arb_div(y + k, y + k, b, precision);
}

/* -1, 0, 1 where a < b, equal, greater for certain; else the jet fails. */
static int compare(hmi_jet *jet, arb_srcptr a, arb_srcptr b)
{
    if (arb_lt(a, b))
        return -1;
    if (arb_gt(a, b))
        return 1;
    if (!arb_eq(a, b))
        jet->failed = true;
    return 0;
}

static bool truth(hmi_jet *jet, arb_srcptr a)
{
    if (arb_contains_zero(a) && !arb_is_zero(a))
        jet->failed = true;
    return !arb_contains_zero(a);
}

/* Comparisons and logic: numbers that do not change along the curve. */
static void logic_order(hmi_jet *jet, const hmi_jet_slot *slot, arb_ptr y, size_t k)
{
    arb_srcptr a = series(jet, slot->a), b = series(jet, slot->b);
    bool value = false;
    if (k > 0) {
        arb_zero(y + k);
        return;
    }
    switch (slot->op) {
    case HMI_LT: value = compare(jet, a, b) < 0; break;
    case HMI_LE: value = compare(jet, a, b) <= 0; break;
    case HMI_EQ: value = compare(jet, a, b) == 0; break;
    case HMI_AND: value = truth(jet, a) && truth(jet, b); break;
    case HMI_OR: value = truth(jet, a) || truth(jet, b); break;
    default: value = !truth(jet, a); break;
    }
    arb_set_si(y, value);
}

/* abs, sign, min, max, if: the branch at order 0 holds for all. */
static void branch_order(hmi_jet *jet, const hmi_jet_slot *slot, arb_ptr y, size_t k)
{
    arb_srcptr a = series(jet, slot->a), b = series(jet, slot->b);
    arb_t zero;
    arb_init(zero);
    switch (slot->op) {
    case HMI_ABS:
        arb_mul_si(y + k, a + k, compare(jet, a, zero), jet->precision);
        break;
    case HMI_SIGN:
        arb_set_si(y + k, k == 0 ? compare(jet, a, zero) : 0);
        break;
    case HMI_MIN:
        arb_set(y + k, compare(jet, b, a) < 0 ? b + k : a + k);
        break;
    case HMI_MAX:
        arb_set(y + k, compare(jet, a, b) < 0 ? b + k : a + k);
        break;
    default:
        arb_set(y + k, truth(jet, a) ? b + k : series(jet, slot->c) + k);
        break;
    }
    arb_clear(zero);
}

static void slot_order(hmi_jet *jet, const hmi_jet_slot *slot, arb_ptr y, size_t k)
{
    arb_srcptr a = slot->op == SLOT_CONST ? NULL : series(jet, slot->a);
    arb_srcptr b = slot->op == SLOT_CONST ? NULL : series(jet, slot->b);
    slong precision = jet->precision;
    switch (slot->op) {
    case SLOT_CONST: constant_value(jet, slot->a, y); break;
    case SLOT_INTEGRAL: integral_order(jet, slot, y, k); break;
    case SLOT_ANGLE: angle_order(jet, slot, y, k); break;
    case SLOT_POWER: power_order(jet, slot, y, k); break;
    case HMI_ADD: arb_add(y + k, a + k, b + k, precision); break;
    case HMI_SUB: arb_sub(y + k, a + k, b + k, precision); break;
    case HMI_NEG: arb_neg(y + k, a + k); break;
    case HMI_MUL: arb_dot(y + k, NULL, 0, a, 1, b + k, -1, (slong)k + 1, precision); break;
    case HMI_DIV: divide_order(a, b, y, k, precision); break;
    case HMI_SQRT: sqrt_order(a, y, k, precision); break;
    case HMI_EXP:
    case HMI_LOG: growth_order((hmi_op)slot->op, a, y, k, precision); break;
    case HMI_ABS:
    case HMI_SIGN:
    case HMI_MIN:
    case HMI_MAX:
    case HMI_SELECT: branch_order(jet, slot, y, k); break;
    default: logic_order(jet, slot, y, k); break;
    }
}

void hmi_jet_extend(hmi_jet *jet, size_t k)
{
    for (size_t i = 0; i < jet->slots.count; i++) {
        const hmi_jet_slot *slot = &jet->slots.data[i];
        if (slot->op != SLOT_LEAF && !(k > 0 && slot->constant))
            slot_order(jet, slot, series(jet, (uint32_t)i), k);
    }
    for (size_t i = 0; i < jet->roots.count; i++)
        jet->failed |= !arb_is_finite(hmi_jet_root(jet, i, k));
}
