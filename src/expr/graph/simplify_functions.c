/* Constructors of functions (sqrt, sin, min, ...) with simplification, by the rules of simplify.c. */
#include "expr/graph/fold.h"

#include <math.h>

static hmi_expr exact_at_zero(hmi_graph *g, hmi_op op)
{
    switch (op) {
    case HMI_SIN:
    case HMI_TAN:
    case HMI_ASIN:
    case HMI_ATAN:
    case HMI_SINH:
    case HMI_TANH:
    case HMI_SQRT:
        return g->zero;
    case HMI_COS:
    case HMI_COSH:
    case HMI_EXP:
        return g->one;
    default:
        return HMI_NONE;
    }
}

typedef enum parity { NO_PARITY, ODD, EVEN } parity;

static parity parity_of(hmi_op op)
{
    switch (op) {
    case HMI_SIN:
    case HMI_TAN:
    case HMI_ASIN:
    case HMI_ATAN:
    case HMI_SINH:
    case HMI_TANH:
    case HMI_SIGN:
        return ODD;
    case HMI_COS:
    case HMI_COSH:
    case HMI_ABS:
        return EVEN;
    default:
        return NO_PARITY;
    }
}

/* sin and cos of k pi/2, as on paper: pi/2 is written as the double next to it, and cos(pi/2) means
 * 0, not 6e-17, which would also hide that an entry of a rotation vanishes. HMI_NONE: none of these. */
static hmi_expr at_right_angles(hmi_graph *g, hmi_op op, double x)
{
    const double right_angle = 1.5707963267948966;
    double turns = nearbyint(x / right_angle);
    if ((op != HMI_SIN && op != HMI_COS) || fabs(turns) > 64 || x != turns * right_angle)
        return HMI_NONE;
    int quarter = ((int)turns % 4 + 4) % 4; /* sin 0, 1, 0, -1; cos a quarter ahead */
    quarter = (quarter + (op == HMI_COS)) % 4;
    return quarter % 2 == 0 ? g->zero : quarter == 1 ? g->one : g->minus_one;
}

/* A function of a number is folded only where the result is exact; sqrt(2) stays sqrt(2). */
static hmi_expr function_of_number(hmi_graph *g, hmi_op op, hmi_expr a)
{
    double x = value_of(g, a);
    hmi_expr exact = x == 0 ? exact_at_zero(g, op) : at_right_angles(g, op, x);
    if (exact != HMI_NONE)
        return exact;
    double value = hmi_op_value(op, x, 0, 0);
    if (op == HMI_ABS || op == HMI_SIGN || op == HMI_FLOOR || op == HMI_CEIL || op == HMI_NOT ||
        (op == HMI_LOG && x == 1) ||
        (op == HMI_SQRT && value == floor(value) && value * value == x))
        return hmi_number(g, value);
    return hmi_intern(g, op, a, 0, 0);
}

/* The argument of an odd or even function with its sign taken off: -x gives x, and y - x gives
 * x - y where x is the older, so that cos(x - y) and cos(y - x) are one. HMI_NONE: no sign. */
static hmi_expr unsigned_argument(hmi_graph *g, hmi_expr a)
{
    const hmi_node node = *hmi_node_at(g, a);
    if (node.op == HMI_SUB && node.b < node.a)
        return hmi_sub(g, node.b, node.a);
    return hmi_without_minus(g, a);
}

static hmi_expr unary(hmi_graph *g, hmi_op op, hmi_expr a)
{
    if (bad2(g, a, a))
        return HMI_NONE;
    parity symmetry = parity_of(op);
    hmi_expr positive = symmetry ? unsigned_argument(g, a) : HMI_NONE;
    if (positive != HMI_NONE) {
        hmi_expr e = hmi_apply(g, op, positive, 0, 0);
        return symmetry == ODD ? hmi_neg(g, e) : e;
    }
    if (hmi_is_const(g, a))
        return function_of_number(g, op, a);
    return hmi_intern(g, op, a, 0, 0);
}

static hmi_expr binary(hmi_graph *g, hmi_op op, hmi_expr a, hmi_expr b)
{
    if (bad2(g, a, b))
        return HMI_NONE;
    bool exact = op != HMI_ATAN2 && op != HMI_HYPOT;
    if (exact && both_const(g, a, b))
        return hmi_fold(g, op, a, b);
    if (a == b && (op == HMI_MIN || op == HMI_MAX))
        return a;
    if (op == HMI_HYPOT && (a == g->zero || b == g->zero))
        return unary(g, HMI_ABS, a == g->zero ? b : a);
    return intern2(g, op, a, b);
}

static hmi_expr choose(hmi_graph *g, hmi_expr condition, hmi_expr a, hmi_expr b)
{
    if (bad2(g, condition, a) || b == HMI_NONE)
        return HMI_NONE;
    if (hmi_is_const(g, condition))
        return value_of(g, condition) != 0 ? a : b;
    return a == b ? a : hmi_intern(g, HMI_SELECT, condition, a, b);
}

/* Of two arguments and a table. */
static hmi_expr ternary(hmi_graph *g, hmi_op op, hmi_expr a, hmi_expr b, hmi_expr c)
{
    if (bad2(g, a, b) || c == HMI_NONE)
        return HMI_NONE;
    if (both_const(g, a, b) && hmi_is_const(g, c)) {
        double value = hmi_op_value(op, value_of(g, a), value_of(g, b), value_of(g, c));
        if (isfinite(value))
            return hmi_number(g, value);
    }
    return hmi_intern(g, op, a, b, c);
}

hmi_expr hmi_apply(hmi_graph *g, hmi_op op, hmi_expr a, hmi_expr b, hmi_expr c)
{
    switch (op) {
    case HMI_ADD:
        return hmi_add(g, a, b);
    case HMI_SUB:
        return hmi_sub(g, a, b);
    case HMI_MUL:
        return hmi_mul(g, a, b);
    case HMI_DIV:
        return hmi_div(g, a, b);
    case HMI_NEG:
        return hmi_neg(g, a);
    case HMI_POW:
    case HMI_POWI:
        return hmi_pow(g, a, b);
    case HMI_SELECT:
        return choose(g, a, b, c);
    case HMI_TABLE2:
    case HMI_LOOKUP2:
        return ternary(g, op, a, b, c);
    default:
        return hmi_op_arity(op) == 1 ? unary(g, op, a) : binary(g, op, a, b);
    }
}
