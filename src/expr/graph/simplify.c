/* Constructors of the DAG with simplification.
 *
 * Every rule looks at most two levels down, so a constructor costs O(1); every rule is an identity
 * on the domain of the original, except that 0*x becomes 0 and sqrt(x)^2 becomes x, as on paper.
 * x/x is left alone: it hides a division by zero.
 *
 * Normal shapes the rules rely on:
 *   a numeric factor stands first in a product and at its top:   2*(x*y), never (2*x)*y;
 *   a quotient by a whole number is a ratio times x:             x/3 is (1/3)*x;
 *   a whole power is POWI with exponent >= 2; 1/x^n is a quotient;
 *   a minus sign is pulled out of products and quotients.
 * Verified: test/unit/expr/test_graph.c, and by value over random expressions in
 * test/unit/expr/test_derivatives.c.
 */
#include "expr/graph/fold.h"

#include <math.h>

/* ---- sums ---- */

/* e = factor * f(u)^2 for f = op; HMI_NONE when it is not. */
static hmi_expr square_of(const hmi_graph *g, hmi_expr e, hmi_op op, hmi_expr *factor)
{
    *factor = g->one;
    if (is_op(g, e, HMI_MUL)) {
        *factor = hmi_node_at(g, e)->a;
        e = hmi_node_at(g, e)->b;
    }
    if (!is_op(g, e, HMI_POWI) || !is_value(g, hmi_node_at(g, e)->b, 2))
        return HMI_NONE;
    hmi_expr base = hmi_node_at(g, e)->a;
    return is_op(g, base, op) ? hmi_node_at(g, base)->a : HMI_NONE;
}

/* k sin(u)^2 + k cos(u)^2 = k, or HMI_NONE. */
static hmi_expr pythagoras(const hmi_graph *g, hmi_expr a, hmi_expr b)
{
    hmi_expr ka, kb;
    for (int swap = 0; swap < 2; swap++) {
        hmi_expr u = square_of(g, swap ? b : a, HMI_SIN, &ka);
        if (u != HMI_NONE && u == square_of(g, swap ? a : b, HMI_COS, &kb) && ka == kb)
            return ka;
    }
    return HMI_NONE;
}

/* a + sign*b where both are multiples of one expression; HMI_NONE when they are not. */
static hmi_expr like_terms(hmi_graph *g, hmi_op op, hmi_expr a, hmi_expr b)
{
    hmi_expr xa, xb;
    hmi_expr ca = split_coefficient(g, a, &xa), cb = split_coefficient(g, b, &xb);
    if (xa != xb)
        return HMI_NONE;
    return hmi_mul(g, hmi_fold(g, op, ca, cb), xa);
}

/* (l + r) op b where r and b are like terms: the pattern of long sums. */
static hmi_expr like_last_term(hmi_graph *g, hmi_op op, hmi_expr a, hmi_expr b)
{
    const hmi_node node = *hmi_node_at(g, a);
    if (node.op != HMI_ADD && node.op != HMI_SUB)
        return HMI_NONE;
    hmi_expr x, y;
    hmi_expr cr = split_coefficient(g, node.b, &x), cb = split_coefficient(g, b, &y);
    if (both_const(g, node.b, b)) {
        x = y = g->one;
        cr = node.b;
        cb = b;
    }
    if (x != y)
        return HMI_NONE;
    if (node.op == HMI_SUB)
        cr = hmi_fold(g, HMI_MUL, g->minus_one, cr);
    return hmi_add(g, node.a, hmi_mul(g, hmi_fold(g, op, cr, cb), x));
}

/* a/d op b/d = (a op b)/d. */
static hmi_expr common_denominator(hmi_graph *g, hmi_op op, hmi_expr a, hmi_expr b)
{
    const hmi_node x = *hmi_node_at(g, a), y = *hmi_node_at(g, b);
    if (x.op != HMI_DIV || y.op != HMI_DIV || x.b != y.b)
        return HMI_NONE;
    return hmi_div(g, hmi_apply(g, op, x.a, y.a, 0), x.b);
}

/* A term that the other side takes away again: (x + y) - x, x - (x + y), x + (y - x). */
static hmi_expr cancel(hmi_graph *g, hmi_op op, hmi_expr a, hmi_expr b)
{
    const hmi_node x = *hmi_node_at(g, a), y = *hmi_node_at(g, b);
    if (op == HMI_SUB && x.op == HMI_ADD && (x.a == b || x.b == b))
        return x.a == b ? x.b : x.a;
    if (op == HMI_SUB && x.op == HMI_SUB && x.a == b)
        return hmi_neg(g, x.b);
    if (op == HMI_SUB && y.op == HMI_ADD && (y.a == a || y.b == a))
        return hmi_neg(g, y.a == a ? y.b : y.a);
    if (op == HMI_SUB && y.op == HMI_SUB && y.a == a)
        return y.b;
    if (op == HMI_ADD && x.op == HMI_SUB && x.b == b)
        return x.a;
    if (op == HMI_ADD && y.op == HMI_SUB && y.b == a)
        return y.a;
    return HMI_NONE;
}

static hmi_expr combine_terms(hmi_graph *g, hmi_op op, hmi_expr a, hmi_expr b)
{
    hmi_expr e = like_terms(g, op, a, b);
    if (e == HMI_NONE)
        e = cancel(g, op, a, b);
    if (e == HMI_NONE)
        e = like_last_term(g, op, a, b);
    if (e == HMI_NONE)
        e = common_denominator(g, op, a, b);
    if (e == HMI_NONE && op == HMI_ADD)
        e = pythagoras(g, a, b);
    return e;
}

hmi_expr hmi_without_minus(hmi_graph *g, hmi_expr b)
{
    const hmi_node node = *hmi_node_at(g, b);
    if (node.op == HMI_NEG)
        return node.a;
    if (node.op == HMI_CONST && value_of(g, b) < 0)
        return hmi_fold(g, HMI_MUL, g->minus_one, b);
    if (node.op == HMI_MUL && hmi_is_const(g, node.a) && value_of(g, node.a) < 0)
        return hmi_mul(g, hmi_fold(g, HMI_MUL, g->minus_one, node.a), node.b);
    return HMI_NONE;
}

hmi_expr hmi_add(hmi_graph *g, hmi_expr a, hmi_expr b)
{
    if (bad2(g, a, b))
        return HMI_NONE;
    if (a == g->zero)
        return b;
    if (b == g->zero)
        return a;
    if (both_const(g, a, b))
        return hmi_fold(g, HMI_ADD, a, b);
    hmi_expr combined = combine_terms(g, HMI_ADD, a, b);
    if (combined != HMI_NONE || g->status != HM_OK)
        return combined;
    hmi_expr positive = hmi_without_minus(g, b);
    if (positive != HMI_NONE)
        return hmi_sub(g, a, positive);
    positive = hmi_without_minus(g, a);
    if (positive != HMI_NONE && !hmi_is_const(g, a))
        return hmi_sub(g, b, positive);
    return intern2(g, HMI_ADD, a, b);
}

hmi_expr hmi_sub(hmi_graph *g, hmi_expr a, hmi_expr b)
{
    if (bad2(g, a, b))
        return HMI_NONE;
    if (b == g->zero)
        return a;
    if (a == g->zero)
        return hmi_neg(g, b);
    if (both_const(g, a, b))
        return hmi_fold(g, HMI_SUB, a, b);
    hmi_expr combined = combine_terms(g, HMI_SUB, a, b);
    if (combined != HMI_NONE || g->status != HM_OK)
        return combined;
    hmi_expr positive = hmi_without_minus(g, b);
    if (positive != HMI_NONE)
        return hmi_add(g, a, positive);
    return intern2(g, HMI_SUB, a, b);
}

hmi_expr hmi_neg(hmi_graph *g, hmi_expr a)
{
    if (bad2(g, a, a))
        return HMI_NONE;
    const hmi_node node = *hmi_node_at(g, a);
    if (node.op == HMI_CONST)
        return hmi_fold(g, HMI_MUL, g->minus_one, a);
    if (node.op == HMI_NEG)
        return node.a;
    if (node.op == HMI_SUB)
        return hmi_sub(g, node.b, node.a);
    if (node.op == HMI_MUL && hmi_is_const(g, node.a))
        return hmi_mul(g, hmi_fold(g, HMI_MUL, g->minus_one, node.a), node.b);
    return hmi_intern(g, HMI_NEG, a, 0, 0);
}

/* ---- products ---- */

/* e = base^n with n >= 1. */
static double power_of(const hmi_graph *g, hmi_expr e, hmi_expr *base)
{
    *base = e;
    if (!is_op(g, e, HMI_POWI))
        return 1;
    *base = hmi_node_at(g, e)->a;
    return value_of(g, hmi_node_at(g, e)->b);
}

/* x^m * x^n = x^(m+n); HMI_NONE for different bases. */
static hmi_expr like_powers(hmi_graph *g, hmi_expr a, hmi_expr b)
{
    hmi_expr x, y;
    double m = power_of(g, a, &x), n = power_of(g, b, &y);
    return x == y ? hmi_pow(g, x, hmi_number(g, m + n)) : HMI_NONE;
}

/* (l*r)*b with b alike one of the factors. */
static hmi_expr like_factor(hmi_graph *g, hmi_expr a, hmi_expr b)
{
    const hmi_node node = *hmi_node_at(g, a);
    if (node.op != HMI_MUL)
        return HMI_NONE;
    hmi_expr e = like_powers(g, node.b, b);
    if (e != HMI_NONE)
        return hmi_mul(g, node.a, e);
    e = like_powers(g, node.a, b);
    return e != HMI_NONE ? hmi_mul(g, e, node.b) : HMI_NONE;
}

/* A folded result that did not overflow; HMI_NONE is passed on. */
static bool is_number(const hmi_graph *g, hmi_expr e)
{
    return e == HMI_NONE || hmi_is_const(g, e);
}

/* One operand is a number. */
static hmi_expr scale(hmi_graph *g, hmi_expr number, hmi_expr e)
{
    if (is_value(g, number, 0))
        return g->zero;
    if (is_value(g, number, 1))
        return e;
    hmi_expr rest, coefficient = split_coefficient(g, e, &rest);
    if (coefficient != g->one) {
        hmi_expr product = hmi_fold(g, HMI_MUL, number, coefficient);
        return is_number(g, product) ? hmi_mul(g, product, rest) : intern2(g, HMI_MUL, number, e);
    }
    if (is_value(g, number, -1))
        return hmi_neg(g, e);
    return intern2(g, HMI_MUL, number, e);
}

static hmi_expr multiply_plain(hmi_graph *g, hmi_expr a, hmi_expr b)
{
    hmi_expr e = like_powers(g, a, b);
    if (e == HMI_NONE)
        e = like_factor(g, a, b);
    if (e == HMI_NONE)
        e = like_factor(g, b, a);
    if (e != HMI_NONE || g->status != HM_OK)
        return e;
    const hmi_node x = *hmi_node_at(g, a), y = *hmi_node_at(g, b);
    if (x.op == HMI_MUL && y.op == HMI_SYMBOL && b < x.b && is_op(g, x.b, HMI_SYMBOL))
        return hmi_mul(g, hmi_mul(g, x.a, b), x.b); /* symbols in order: k*u*v = k*v*u */
    if (x.op == HMI_DIV)
        return hmi_div(g, hmi_mul(g, x.a, b), x.b);
    if (y.op == HMI_DIV)
        return hmi_div(g, hmi_mul(g, a, y.a), y.b);
    return intern2(g, HMI_MUL, a, b);
}

hmi_expr hmi_mul(hmi_graph *g, hmi_expr a, hmi_expr b)
{
    if (bad2(g, a, b))
        return HMI_NONE;
    if (both_const(g, a, b))
        return hmi_fold(g, HMI_MUL, a, b);
    if (hmi_is_const(g, a))
        return scale(g, a, b);
    if (hmi_is_const(g, b))
        return scale(g, b, a);
    hmi_expr x, y;
    hmi_expr ca = split_coefficient(g, a, &x), cb = split_coefficient(g, b, &y);
    if (ca != g->one || cb != g->one) {
        hmi_expr product = hmi_fold(g, HMI_MUL, ca, cb);
        return is_number(g, product) ? hmi_mul(g, product, hmi_mul(g, x, y))
                                     : intern2(g, HMI_MUL, a, b);
    }
    return multiply_plain(g, a, b);
}

/* x / number: a ratio becomes a factor, so that x/2 + x/2 = x; a decimal stays as written. */
static hmi_expr divide_by_number(hmi_graph *g, hmi_expr a, hmi_expr b)
{
    if (is_value(g, b, 0))
        return intern2(g, HMI_DIV, a, b);
    if (hmi_constant_of(g, b)->denominator)
        return hmi_mul(g, hmi_fold(g, HMI_DIV, g->one, b), a);
    hmi_expr rest, coefficient = split_coefficient(g, a, &rest);
    if (coefficient != g->one)
        return hmi_mul(g, coefficient, intern2(g, HMI_DIV, rest, b));
    return intern2(g, HMI_DIV, a, b);
}

hmi_expr hmi_div(hmi_graph *g, hmi_expr a, hmi_expr b)
{
    if (bad2(g, a, b))
        return HMI_NONE;
    if (both_const(g, a, b))
        return hmi_fold(g, HMI_DIV, a, b);
    if (hmi_is_const(g, b))
        return divide_by_number(g, a, b);
    if (a == g->zero)
        return a;
    hmi_expr x, y;
    hmi_expr ca = split_coefficient(g, a, &x), cb = split_coefficient(g, b, &y);
    if (hmi_is_const(g, a)) {
        ca = g->one;
        x = a;
    }
    if (ca != g->one || cb == g->minus_one || (cb != g->one && hmi_constant_of(g, cb)->denominator))
        return hmi_mul(g, hmi_fold(g, HMI_DIV, ca, cb), hmi_div(g, x, y));
    const hmi_node node = *hmi_node_at(g, a);
    if (node.op == HMI_DIV)
        return hmi_div(g, node.a, hmi_mul(g, node.b, b));
    return intern2(g, HMI_DIV, a, b);
}

/* ---- powers ---- */

static hmi_expr whole_power(hmi_graph *g, hmi_expr a, hmi_expr b)
{
    double n = value_of(g, b);
    if (n == 0)
        return g->one;
    if (n == 1)
        return a;
    if (n < 0)
        return hmi_div(g, g->one, hmi_pow(g, a, hmi_number(g, -n)));
    const hmi_node node = *hmi_node_at(g, a);
    bool even = fmod(n, 2) == 0;
    if (node.op == HMI_NEG || (node.op == HMI_ABS && even)) {
        hmi_expr e = hmi_pow(g, node.a, b);
        return even ? e : hmi_neg(g, e);
    }
    if (node.op == HMI_SQRT && even)
        return hmi_pow(g, node.a, hmi_number(g, n / 2));
    if (node.op == HMI_POWI)
        return hmi_pow(g, node.a, hmi_fold(g, HMI_MUL, node.b, b));
    return intern2(g, HMI_POWI, a, b);
}

hmi_expr hmi_pow(hmi_graph *g, hmi_expr a, hmi_expr b)
{
    if (bad2(g, a, b))
        return HMI_NONE;
    if (is_whole(g, b)) {
        if (hmi_is_const(g, a) && (value_of(g, a) != 0 || value_of(g, b) >= 0))
            return hmi_fold(g, HMI_POWI, a, b);
        return whole_power(g, a, b);
    }
    if (is_value(g, b, 0.5))
        return hmi_apply(g, HMI_SQRT, a, 0, 0);
    if (both_const(g, a, b))
        return hmi_fold(g, HMI_POW, a, b);
    return intern2(g, HMI_POW, a, b);
}
