/* Arithmetic of constants: exact for ratios of small whole numbers. */
#include "expr/graph/fold.h"

#include <math.h>
#include <stdlib.h>

static hmi_expr fold_inexact(hmi_graph *g, hmi_op op, hmi_expr a, hmi_expr b)
{
    double value = hmi_op_value(op, value_of(g, a), value_of(g, b), 0);
    return isfinite(value) ? hmi_number(g, value) : hmi_intern(g, op, a, b, 0);
}

/* (p/q)^n exactly while it stays small. */
static hmi_expr fold_power(hmi_graph *g, hmi_expr a, hmi_expr b)
{
    const hmi_constant x = *hmi_constant_of(g, a);
    double n = value_of(g, b);
    int64_t numerator = 1, denominator = 1;
    if (n < 0 || n > 64)
        return fold_inexact(g, HMI_POWI, a, b);
    for (int k = 0; k < n; k++) {
        numerator *= x.numerator;
        denominator *= x.denominator;
        if (llabs(numerator) > INT32_MAX || denominator > INT32_MAX)
            return fold_inexact(g, HMI_POWI, a, b);
    }
    return hmi_ratio(g, numerator, denominator);
}

hmi_expr hmi_fold(hmi_graph *g, hmi_op op, hmi_expr a, hmi_expr b)
{
    const hmi_constant x = *hmi_constant_of(g, a), y = *hmi_constant_of(g, b);
    if (!x.denominator || !y.denominator)
        return fold_inexact(g, op, a, b);
    int64_t xn = x.numerator, xd = x.denominator, yn = y.numerator, yd = y.denominator;
    switch (op) {
    case HMI_ADD:
    case HMI_SUB:
        if (xd > 30000 || yd > 30000)
            return fold_inexact(g, op, a, b);
        return hmi_ratio(g, op == HMI_ADD ? xn * yd + yn * xd : xn * yd - yn * xd, xd * yd);
    case HMI_MUL:
        if (a == g->one || b == g->one) /* most coefficients are */
            return a == g->one ? b : a;
        return hmi_ratio(g, xn * yn, xd * yd);
    case HMI_DIV:
        return yn ? hmi_ratio(g, xn * yd, xd * yn) : hmi_intern(g, op, a, b, 0);
    case HMI_MIN:
    case HMI_MAX:
        return (x.value < y.value) == (op == HMI_MIN) ? a : b;
    case HMI_POWI:
        return fold_power(g, a, b);
    default:
        return fold_inexact(g, op, a, b);
    }
}
