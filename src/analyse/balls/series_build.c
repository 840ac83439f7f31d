/* Turns nodes of the graph into slots of a series. Operations whose recurrence needs a second
 * series get further slots. */
#include "analyse/balls/series_slots.h"

#include <math.h>
#include <stdlib.h>

/* ---- from nodes to slots ---- */

static hm_status push(hmi_series *jet, int op, uint32_t a, uint32_t b, uint32_t c, bool constant,
                      uint32_t *slot)
{
    hmi_series_slot new = {.op = (uint8_t)op, .constant = constant, .a = a, .b = b, .c = c};
    *slot = (uint32_t)jet->slots.count;
    return hmi_array_push(jet->allocator, &jet->slots, new) ? HM_OK : HM_ERR_NOMEM;
}

static bool is_constant(const hmi_series *jet, uint32_t slot)
{
    return jet->slots.data[slot].constant;
}

/* y' = w x', y by `op` at order 0. */
static hm_status push_integral(hmi_series *jet, hmi_op op, uint32_t x, uint32_t w, uint32_t *slot)
{
    uint32_t *slope = &jet->slots.data[x].slope;
    if (!*slope)
        *slope = (uint32_t)++jet->slopes;
    return push(jet, SLOT_INTEGRAL, x, w, op, is_constant(jet, x), slot);
}

/* Two operands, or one given twice. */
static hm_status push_op(hmi_series *jet, hmi_op op, uint32_t a, uint32_t b, uint32_t *slot)
{
    return push(jet, (int)op, a, b, 0, is_constant(jet, a) && is_constant(jet, b), slot);
}

static hm_status push_one(hmi_series *jet, uint32_t *slot)
{
    return push(jet, SLOT_CONST, jet->graph->one, 0, 0, true, slot);
}

static hm_status push_constant(hmi_series *jet, hmi_expr e, uint32_t *slot)
{
    if (!hmi_series_exact(hmi_constant_of(jet->graph, e)))
        jet->inexact = true;
    return push(jet, SLOT_CONST, e, 0, 0, true, slot);
}

static hm_status push_leaf(hmi_series *jet, const hmi_node *node, uint32_t *slot)
{
    const uint16_t known = HMI_DEP(HMI_SYM_TIME) | HMI_DEP(HMI_SYM_COORD) |
                           HMI_DEP(HMI_SYM_VELOCITY) | HMI_DEP(HMI_SYM_ACCELERATION) |
                           HMI_DEP(HMI_SYM_STATE) | HMI_DEP(HMI_SYM_INPUT) |
                           HMI_DEP(HMI_SYM_INPUT_RATE) | HMI_DEP(HMI_SYM_INPUT_RATE2);
    if (!(known & HMI_DEP(node->a)))
        return HM_ERR_LIMIT;
    hmi_series_leaf leaf = {(hmi_symbol_kind)node->a, node->b, (uint32_t)jet->slots.count};
    if (!hmi_array_push(jet->allocator, &jet->leaves, leaf))
        return HM_ERR_NOMEM;
    return push(jet, SLOT_LEAF, 0, 0, 0, false, slot);
}

/* x^2 + y^2 */
static hm_status push_squares(hmi_series *jet, uint32_t x, uint32_t y, uint32_t *slot)
{
    uint32_t xx, yy;
    hm_status status = push_op(jet, HMI_MUL, x, x, &xx);
    if (status == HM_OK)
        status = push_op(jet, HMI_MUL, y, y, &yy);
    return status == HM_OK ? push_op(jet, HMI_ADD, xx, yy, slot) : status;
}

/* sin, cos, sinh, cosh: the partner stands right after, b of each is the other one, and expressions
 * that use both share them. */
static hm_status push_pair(hmi_series *jet, hmi_op op, uint32_t x, uint32_t *slot)
{
    uint32_t known = jet->slots.data[x].pair;
    for (uint32_t k = 0; known && k < 2; k++)
        if (jet->slots.data[known - 1 + k].c == (uint32_t)op) {
            *slot = known - 1 + k;
            return HM_OK;
        }
    hmi_op partner = op == HMI_SIN    ? HMI_COS
                     : op == HMI_COS  ? HMI_SIN
                     : op == HMI_SINH ? HMI_COSH
                                      : HMI_SINH;
    uint32_t other, here = (uint32_t)jet->slots.count;
    jet->slots.data[x].pair = here + 1;
    hm_status status = push_integral(jet, op, x, here + 1, slot);
    if (status == HM_OK)
        status = push_integral(jet, partner, x, here, &other);
    return status;
}

/* tan' = (1 + tan^2) x', tanh' = (1 - tanh^2) x': w comes after y, as the square of it. */
static hm_status push_tangent(hmi_series *jet, hmi_op op, uint32_t x, uint32_t *slot)
{
    uint32_t one, here, square, w;
    hm_status status = push_one(jet, &one);
    here = (uint32_t)jet->slots.count;
    if (status == HM_OK)
        status = push_integral(jet, op, x, here + 2, slot);
    if (status == HM_OK)
        status = push_op(jet, HMI_MUL, here, here, &square);
    return status == HM_OK ? push_op(jet, op == HMI_TAN ? HMI_ADD : HMI_SUB, one, square, &w)
                           : status;
}

/* atan, asin, acos: w = 1/(1 + x^2), 1/sqrt(1 - x^2). */
static hm_status push_inverse(hmi_series *jet, hmi_op op, uint32_t x, uint32_t *slot)
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
    return status == HM_OK ? push_integral(jet, op, x, w, slot) : status;
}

static hm_status push_angle(hmi_series *jet, uint32_t y, uint32_t x, uint32_t *slot)
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
static hm_status push_whole_power(hmi_series *jet, uint32_t x, long n, uint32_t *slot)
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

static hm_status push_power(hmi_series *jet, hmi_expr e, uint32_t x, uint32_t y, uint32_t *slot)
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

static hm_status push_node(hmi_series *jet, hmi_expr e, const uint32_t x[3], uint32_t *slot)
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

/* Pushes the operands that must have slots before e. A parameter is replaced by the expression of
 * its value. */
static int operands_of(const hmi_series *jet, hmi_expr e, hmi_expr list[3])
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

static hm_status visit(hmi_series *jet, hmi_expr e)
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

hm_status hmi_series_add(hmi_series *jet, hmi_expr root)
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
