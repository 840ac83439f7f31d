/* Inverts the operations from the root of an expression down to one velocity (solve_for.h). */
#include "analyse/classify/solve_for.h"

#include <math.h>

enum { DEEPEST = 60 };

typedef struct solver {
    hmi_forms *forms;
    hmi_expr target; /* the symbol */
    const hmi_series_state *initial;
} solver;

/* How often the symbol occurs, counting paths, up to 2. */
static int occurrences(const solver *s, hmi_expr e, int depth)
{
    const hmi_graph *g = &s->forms->graph;
    int sum = 0;
    if (e == s->target)
        return 1;
    if (!(hmi_deps(g, e) & HMI_DEP(HMI_SYM_VELOCITY)))
        return 0;
    if (depth > DEEPEST)
        return 2;
    for (int k = 0; k < hmi_op_arity(hmi_op_of(g, e)) && sum < 2; k++)
        sum += occurrences(s, hmi_operand(g, e, k), depth + 1);
    return sum;
}

static hmi_expr apply(hmi_graph *g, hmi_op op, hmi_expr x)
{
    return hmi_apply(g, op, x, HMI_NONE, HMI_NONE);
}

/* The sign of an expression at the initial state, as a number. */
static double sign_at_start(const solver *s, hmi_expr e)
{
    double value = 0;
    hmi_forms *f = s->forms;
    if (hmi_series_value(f->allocator, f->model, &f->graph, e, s->initial, &value) != HM_OK)
        return 1;
    return value < 0 ? -1 : 1;
}

/* y = f(x), solved for x. */
static hmi_expr inverse(const solver *s, hmi_op op, hmi_expr x, hmi_expr y)
{
    hmi_graph *g = &s->forms->graph;
    hmi_expr one = g->one;
    switch (op) {
    case HMI_NEG:
        return hmi_neg(g, y);
    case HMI_SQRT:
        return hmi_mul(g, y, y);
    case HMI_EXP:
        return apply(g, HMI_LOG, y);
    case HMI_LOG:
        return apply(g, HMI_EXP, y);
    case HMI_ATAN:
        return apply(g, HMI_TAN, y);
    case HMI_TAN:
        return apply(g, HMI_ATAN, y);
    case HMI_ASIN:
        return apply(g, HMI_SIN, y);
    case HMI_SIN:
        return apply(g, HMI_ASIN, y);
    case HMI_ACOS:
        return apply(g, HMI_COS, y);
    case HMI_COS:
        return hmi_mul(g, hmi_number(g, sign_at_start(s, x)), apply(g, HMI_ACOS, y));
    case HMI_TANH:
        return hmi_mul(g, g->half,
                       apply(g, HMI_LOG, hmi_div(g, hmi_add(g, one, y), hmi_sub(g, one, y))));
    case HMI_SINH:
        return apply(g, HMI_LOG,
                     hmi_add(g, y, apply(g, HMI_SQRT, hmi_add(g, hmi_mul(g, y, y), one))));
    case HMI_ABS:
        return hmi_mul(g, hmi_number(g, sign_at_start(s, x)), y);
    default:
        return HMI_NONE;
    }
}

/* x^n = y: of the sign that x has at the start. */
static hmi_expr root(const solver *s, hmi_expr x, hmi_expr exponent, hmi_expr y)
{
    hmi_graph *g = &s->forms->graph;
    if (!hmi_is_const(g, exponent))
        return HMI_NONE;
    double n = hmi_constant_of(g, exponent)->value, sign = sign_at_start(s, x);
    hmi_expr factor = hmi_number(g, sign);
    if (n == 0)
        return HMI_NONE;
    if (sign < 0 && fmod(fabs(n), 2) == 1)
        y = hmi_neg(g, y); /* odd powers keep the sign */
    return hmi_mul(g, factor, hmi_pow(g, y, hmi_div(g, g->one, exponent)));
}

/* x o y = z with the symbol in operand `at`. */
static hmi_expr other_operand(const solver *s, hmi_op op, hmi_expr x, hmi_expr y, int at,
                              hmi_expr z)
{
    hmi_graph *g = &s->forms->graph;
    switch (op) {
    case HMI_ADD:
        return hmi_sub(g, z, at ? x : y);
    case HMI_SUB:
        return at ? hmi_sub(g, x, z) : hmi_add(g, z, y);
    case HMI_MUL:
        return hmi_div(g, z, at ? x : y);
    case HMI_DIV:
        return at ? hmi_div(g, x, z) : hmi_mul(g, z, y);
    case HMI_ATAN2: /* atan2(x, y) = z */
        return at ? hmi_div(g, x, apply(g, HMI_TAN, z)) : hmi_mul(g, y, apply(g, HMI_TAN, z));
    case HMI_POW:
    case HMI_POWI:
        return at ? HMI_NONE : root(s, x, y, z);
    default:
        return HMI_NONE;
    }
}

hmi_expr hmi_solve_for(hmi_forms *forms, hmi_expr psi, uint32_t p, const hmi_series_state *initial)
{
    hmi_graph *g = &forms->graph;
    solver s = {forms, hmi_symbol(g, HMI_SYM_VELOCITY, p), initial};
    hmi_expr e = psi, value = g->zero;
    if (occurrences(&s, psi, 0) != 1)
        return HMI_NONE;
    while (e != s.target && value != HMI_NONE) {
        hmi_op op = hmi_op_of(g, e);
        int arity = hmi_op_arity(op), at = 0;
        while (at + 1 < arity && occurrences(&s, hmi_operand(g, e, at), 0) == 0)
            at++;
        hmi_expr inner = hmi_operand(g, e, at);
        value = arity == 1 ? inverse(&s, op, inner, value)
                : arity == 2
                    ? other_operand(&s, op, hmi_operand(g, e, 0), hmi_operand(g, e, 1), at, value)
                    : HMI_NONE;
        e = inner;
    }
    return value;
}

/* ---- all velocities together ---- */

static bool moves(const hmi_graph *g, hmi_expr e)
{
    return hmi_deps(g, e) & HMI_DEP(HMI_SYM_VELOCITY);
}

static bool is_affine(hmi_forms *f, hmi_expr e)
{
    if (hmi_gradient(&f->adjoint, &f->graph, e, HMI_SYM_VELOCITY) != HM_OK)
        return false;
    for (size_t i = 0; i < f->adjoint.partials.count; i++)
        if (moves(&f->graph, f->adjoint.partials.data[i].value))
            return false;
    return true;
}

/* Does f(x) = f(y) say that x = y? */
static bool is_injective(hmi_op op)
{
    return op == HMI_EXP || op == HMI_LOG || op == HMI_SQRT || op == HMI_ATAN || op == HMI_ASIN ||
           op == HMI_ACOS || op == HMI_SINH || op == HMI_TANH;
}

/* a = b as x = y where both are the same function; HMI_NONE: they are not. */
static hmi_expr without_function(hmi_graph *g, hmi_expr a, hmi_expr b)
{
    hmi_op op = hmi_op_of(g, a);
    bool power = op == HMI_POW || op == HMI_POWI;
    if (op != hmi_op_of(g, b) || !(power || is_injective(op)))
        return HMI_NONE;
    hmi_expr n = hmi_operand(g, a, 1);
    if (power && (n != hmi_operand(g, b, 1) || !hmi_is_const(g, n) ||
                  fmod(fabs(hmi_constant_of(g, n)->value), 2) != 1))
        return HMI_NONE;
    return hmi_sub(g, hmi_operand(g, a, 0), hmi_operand(g, b, 0));
}

/* a o b = y with velocities in both, as an expression that is 0. */
static hmi_expr joined(const solver *s, hmi_op op, hmi_expr a, hmi_expr b, hmi_expr y)
{
    hmi_graph *g = &s->forms->graph;
    switch (op) {
    case HMI_DIV:
        return hmi_sub(g, a, hmi_mul(g, y, b));
    case HMI_ATAN2:
        return hmi_sub(g, a, hmi_mul(g, apply(g, HMI_TAN, y), b));
    case HMI_SUB:
        return y == g->zero ? without_function(g, a, b) : HMI_NONE;
    default:
        return HMI_NONE;
    }
}

hmi_expr hmi_take_off(hmi_forms *forms, hmi_expr psi, const hmi_series_state *initial)
{
    hmi_graph *g = &forms->graph;
    solver s = {forms, HMI_NONE, initial};
    hmi_expr e = psi, y = g->zero;
    for (int k = 0; k < DEEPEST && e != HMI_NONE && y != HMI_NONE && moves(g, e); k++) {
        hmi_op op = hmi_op_of(g, e);
        int arity = hmi_op_arity(op);
        if (is_affine(forms, e))
            return hmi_sub(g, e, y);
        if (arity != 1 && arity != 2)
            return HMI_NONE;
        hmi_expr a = hmi_operand(g, e, 0), b = arity == 2 ? hmi_operand(g, e, 1) : HMI_NONE;
        bool second = arity == 2 && moves(g, b);
        if (moves(g, a) && second) {
            e = joined(&s, op, a, b, y);
            y = g->zero;
        } else {
            y = arity == 1 ? inverse(&s, op, a, y) : other_operand(&s, op, a, b, second, y);
            e = second ? b : a;
        }
    }
    return HMI_NONE;
}
