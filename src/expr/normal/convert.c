/* Expressions to fractions of polynomials.
 *
 * One pass over the nodes, operands first. What is too long to expand stays closed: it takes part
 * in what is built on it as one atom, in its own best form.
 */
#include "expr/normal/poly.h"

#include <math.h>

static const hmi_fraction *atom_fraction(hmi_normal *s, hmi_expr e)
{
    return hmi_fraction_of(s, hmi_poly_atom(s, hmi_atom_of(s, e), 1));
}

/* A constant, or the constant itself as an atom where it is no short ratio. */
static const hmi_fraction *constant_fraction(hmi_normal *s, hmi_expr e)
{
    hmi_coefficient c;
    if (!hmi_coefficient_of(hmi_constant_of(s->graph, e), &c))
        return atom_fraction(s, e);
    return hmi_fraction_of(s, hmi_poly_of_term(s, c, hmi_monomial_one));
}

/* The fraction of an operand; closed where it was too long. */
static const hmi_fraction *operand_fraction(hmi_normal *s, hmi_expr e, int k)
{
    hmi_expr operand = hmi_operand(s->graph, e, k);
    const hmi_normal_entry *record = hmi_normal_entry_of(s, operand);
    if (!record)
        return NULL;
    if (record->fraction)
        return record->fraction;
    return atom_fraction(s, hmi_normal_best(s, operand, 0));
}

static const hmi_fraction *power_fraction(hmi_normal *s, hmi_expr e)
{
    const hmi_constant *exponent = hmi_constant_of(s->graph, hmi_operand(s->graph, e, 1));
    if (fabs(exponent->value) > HMI_MOST_POWER) {
        hmi_expr base = hmi_normal_best(s, hmi_operand(s->graph, e, 0), 0);
        hmi_expr power = hmi_operand(s->graph, e, 1);
        return atom_fraction(s, hmi_intern(s->graph, HMI_POWI, base, power, 0));
    }
    return hmi_fraction_pow(s, operand_fraction(s, e, 0), (int32_t)exponent->value);
}

static const hmi_fraction *arithmetic(hmi_normal *s, hmi_expr e, hmi_op op)
{
    const hmi_fraction *a = operand_fraction(s, e, 0);
    if (op == HMI_NEG)
        return hmi_fraction_negate(s, a);
    const hmi_fraction *b = operand_fraction(s, e, 1);
    switch (op) {
    case HMI_ADD:
        return hmi_fraction_add(s, a, b, hmi_coefficient_one);
    case HMI_SUB:
        return hmi_fraction_add(s, a, b, hmi_coefficient_negate(hmi_coefficient_one));
    case HMI_MUL:
        return hmi_fraction_mul(s, a, b);
    default:
        return hmi_fraction_mul(s, a, hmi_fraction_inverse(s, b));
    }
}

/* ---- functions ---- */

static bool is_odd(hmi_op op)
{
    return op == HMI_SIN || op == HMI_TAN || op == HMI_ASIN || op == HMI_ATAN || op == HMI_SINH ||
           op == HMI_TANH || op == HMI_SIGN;
}

static bool is_even(hmi_op op)
{
    return op == HMI_COS || op == HMI_COSH || op == HMI_ABS;
}

static bool is_number(const hmi_poly *a)
{
    return a->count == 0 || (a->count == 1 && a->terms[0].monomial.count == 0);
}

/* sqrt(u)^2 = u and |u|^2 = u^2, where u is not itself a fraction. */
static void remember_square(hmi_normal *s, uint32_t atom, hmi_op op, const hmi_fraction *a)
{
    if (atom == UINT32_MAX || a->divisors.count || s->atoms.data[atom].square)
        return;
    if (op == HMI_SQRT)
        s->atoms.data[atom].square = a->numerator;
    if (op == HMI_ABS)
        s->atoms.data[atom].square = hmi_poly_reduce(s,
                                                     hmi_poly_mul(s, a->numerator, a->numerator));
}

/* f(number): whatever the constructors make of it. */
static const hmi_fraction *function_of_number(hmi_normal *s, hmi_op op, const hmi_fraction *a)
{
    hmi_expr e = hmi_apply(s->graph, op, hmi_fraction_display(s, a), 0, 0);
    if (e == HMI_NONE)
        return NULL;
    if (hmi_is_const(s->graph, e))
        return constant_fraction(s, e);
    bool negative = hmi_op_of(s->graph, e) == HMI_NEG;
    uint32_t atom = hmi_atom_of(s, negative ? hmi_operand(s->graph, e, 0) : e);
    remember_square(s, atom, op, a);
    const hmi_fraction *f = hmi_fraction_of(s, hmi_poly_atom(s, atom, 1));
    return negative ? hmi_fraction_negate(s, f) : f;
}

static const hmi_fraction *function_fraction(hmi_normal *s, hmi_expr e, hmi_op op)
{
    const hmi_fraction *a = operand_fraction(s, e, 0);
    if (!a)
        return NULL;
    if (a->divisors.count == 0 && is_number(a->numerator))
        return function_of_number(s, op, a);
    bool symmetric = is_odd(op) || is_even(op) || op == HMI_EXP;
    bool negative = symmetric && hmi_poly_is_negative(s, a->numerator);
    if (negative)
        a = hmi_fraction_negate(s, a);
    hmi_expr operand = negative ? hmi_fraction_display(s, a)
                                : hmi_normal_best(s, hmi_operand(s->graph, e, 0), 0);
    uint32_t atom = hmi_atom_of(s, hmi_intern(s->graph, op, operand, 0, 0));
    if (!a || atom == UINT32_MAX)
        return NULL;
    s->atoms.data[atom].argument = a;
    remember_square(s, atom, op, a);
    const hmi_poly *f = hmi_poly_atom(s, atom, negative && op == HMI_EXP ? -1 : 1);
    if (negative && is_odd(op))
        f = hmi_poly_sub(s, s->zero, f);
    return hmi_fraction_of(s, f);
}

/* Several operands, each in its best form. */
static const hmi_fraction *opaque_fraction(hmi_normal *s, hmi_expr e, hmi_op op)
{
    hmi_expr operand[3] = {0, 0, 0};
    for (int k = 0; k < hmi_op_arity(op); k++)
        operand[k] = hmi_normal_best(s, hmi_operand(s->graph, e, k), 0);
    if (op == HMI_SELECT && operand[1] == operand[2])
        return operand_fraction(s, e, 1);
    uint32_t atom = hmi_atom_of(s, hmi_intern(s->graph, op, operand[0], operand[1], operand[2]));
    const hmi_fraction *a = operand_fraction(s, e, 0);
    const hmi_fraction *b = op == HMI_HYPOT ? operand_fraction(s, e, 1) : NULL;
    if (atom != UINT32_MAX && a && b && !a->divisors.count && !b->divisors.count)
        s->atoms.data[atom].square = hmi_poly_reduce(
            s, hmi_poly_add(s, hmi_poly_mul(s, a->numerator, a->numerator),
                            hmi_poly_mul(s, b->numerator, b->numerator)));
    return hmi_fraction_of(s, hmi_poly_atom(s, atom, 1));
}

static const hmi_fraction *fraction_of_node(hmi_normal *s, hmi_expr e)
{
    hmi_op op = hmi_op_of(s->graph, e);
    switch (op) {
    case HMI_CONST:
        return constant_fraction(s, e);
    case HMI_SYMBOL:
        return atom_fraction(s, e);
    case HMI_ADD:
    case HMI_SUB:
    case HMI_MUL:
    case HMI_DIV:
    case HMI_NEG:
        return arithmetic(s, e, op);
    case HMI_POWI:
        return power_fraction(s, e);
    default:
        return hmi_op_arity(op) == 1 ? function_fraction(s, e, op) : opaque_fraction(s, e, op);
    }
}

static bool convert_node(hmi_normal *s, hmi_expr e)
{
    const hmi_normal_entry *known = hmi_normal_entry_of(s, e);
    if (!known || known->converted)
        return known != NULL;
    const hmi_fraction *fraction = fraction_of_node(s, e);
    hmi_normal_forgive(s);
    hmi_normal_entry *record = hmi_normal_entry_of(s, e); /* the records may have moved */
    if (!record || s->status != HM_OK)
        return false;
    record->converted = true;
    record->fraction = fraction;
    return true;
}

bool hmi_normal_convert(hmi_normal *s, hmi_expr e)
{
    if (hmi_walk_begin(&s->walk, s->graph) || hmi_walk_add(&s->walk, s->graph, e, 0xFFFF)) {
        s->status = HM_ERR_NOMEM;
        return false;
    }
    if (s->walk.order.count > HMI_MOST_DISPLAYED)
        return true;
    for (size_t i = 0; i < s->walk.order.count; i++)
        if (!convert_node(s, s->walk.order.data[i]))
            return false;
    return true;
}
