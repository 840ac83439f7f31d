/* Ball arithmetic over a graph: nodes come after their operands, so that one pass does. */
#include "support/ball_graph.h"

#include <math.h>

static int sign_of(const arb_t x)
{
    return arb_is_positive(x) ? 1 : arb_is_negative(x) ? -1 : 0;
}

static bool is_less(const arb_t x, const arb_t y)
{
    return arf_cmp(arb_midref(x), arb_midref(y)) < 0;
}

/* clang-format off */
static void apply_one(hmi_op op, arb_t z, const arb_t x)
{
    switch (op) {
    case HMI_NEG: arb_neg(z, x); break;
    case HMI_SQRT: arb_sqrt(z, x, BALL_BITS); break;
    case HMI_SIN: arb_sin(z, x, BALL_BITS); break;
    case HMI_COS: arb_cos(z, x, BALL_BITS); break;
    case HMI_TAN: arb_tan(z, x, BALL_BITS); break;
    case HMI_ASIN: arb_asin(z, x, BALL_BITS); break;
    case HMI_ACOS: arb_acos(z, x, BALL_BITS); break;
    case HMI_ATAN: arb_atan(z, x, BALL_BITS); break;
    case HMI_SINH: arb_sinh(z, x, BALL_BITS); break;
    case HMI_COSH: arb_cosh(z, x, BALL_BITS); break;
    case HMI_TANH: arb_tanh(z, x, BALL_BITS); break;
    case HMI_EXP: arb_exp(z, x, BALL_BITS); break;
    case HMI_LOG: arb_log(z, x, BALL_BITS); break;
    case HMI_ABS: arb_abs(z, x); break;
    case HMI_SIGN: arb_set_si(z, sign_of(x)); break;
    case HMI_FLOOR: arb_floor(z, x, BALL_BITS); break;
    case HMI_CEIL: arb_ceil(z, x, BALL_BITS); break;
    case HMI_NOT: arb_set_si(z, arb_is_zero(x)); break;
    default: arb_indeterminate(z);
    }
}

static void apply_two(hmi_op op, arb_t z, const arb_t x, const arb_t y)
{
    switch (op) {
    case HMI_ADD: arb_add(z, x, y, BALL_BITS); break;
    case HMI_SUB: arb_sub(z, x, y, BALL_BITS); break;
    case HMI_MUL: arb_mul(z, x, y, BALL_BITS); break;
    case HMI_DIV: arb_div(z, x, y, BALL_BITS); break;
    case HMI_POW:
    case HMI_POWI: arb_pow(z, x, y, BALL_BITS); break;
    case HMI_ATAN2: arb_atan2(z, x, y, BALL_BITS); break;
    case HMI_HYPOT:
        arb_mul(z, x, x, BALL_BITS);
        arb_addmul(z, y, y, BALL_BITS);
        arb_sqrt(z, z, BALL_BITS);
        break;
    case HMI_MIN: arb_min(z, x, y, BALL_BITS); break;
    case HMI_MAX: arb_max(z, x, y, BALL_BITS); break;
    case HMI_LT: arb_set_si(z, is_less(x, y)); break;
    case HMI_LE: arb_set_si(z, !is_less(y, x)); break;
    case HMI_EQ: arb_set_si(z, !is_less(x, y) && !is_less(y, x)); break;
    case HMI_AND: arb_set_si(z, !arb_is_zero(x) && !arb_is_zero(y)); break;
    case HMI_OR: arb_set_si(z, !arb_is_zero(x) || !arb_is_zero(y)); break;
    default: arb_indeterminate(z);
    }
}

/* clang-format on */

static void set_leaf(const hmi_graph *graph, hmi_expr e, const ball_symbols *symbols, arb_t z)
{
    const hmi_node *node = hmi_node_at(graph, e);
    if (node->op == HMI_CONST)
        arb_set_d(z, hmi_constant_of(graph, e)->value);
    else if (symbols->by_kind[node->a])
        arb_set_d(z, symbols->by_kind[node->a][node->b]);
    else
        arb_zero(z);
}

void ball_evaluate(const hmi_graph *graph, hmi_expr last, const ball_symbols *symbols,
                   arb_ptr values)
{
    for (hmi_expr e = 0; e <= last; e++) {
        const hmi_node *node = hmi_node_at(graph, e);
        hmi_op op = (hmi_op)node->op;
        int arity = hmi_op_arity(op);
        if (arity == 0)
            set_leaf(graph, e, symbols, values + e);
        else if (arity == 1)
            apply_one(op, values + e, values + node->a);
        else if (arity == 2)
            apply_two(op, values + e, values + node->a, values + node->b);
        else
            arb_set(values + e, values + (arb_is_zero(values + node->a) ? node->c : node->b));
    }
}
