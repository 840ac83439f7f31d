/* exp(a) exp(b) = exp(a + b), for display: each term gets at most one exponential.
 *
 * Splitting is not done anywhere: exp(a - b) may be small where exp(a) overflows.
 */
#include "expr/normal/poly.h"

static bool is_exponential(const hmi_normal *s, hmi_factor factor)
{
    return hmi_atom_op(s, factor.atom) == HMI_EXP && s->atoms.data[factor.atom].argument;
}

static uint32_t count_exponentials(const hmi_normal *s, hmi_monomial m)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < m.count; i++)
        count += is_exponential(s, m.factors[i]);
    return count;
}

/* exp(sum) as a polynomial: exp(u) or 1/exp(-u), whichever argument does not read negative. */
static const hmi_poly *exponential(hmi_normal *s, const hmi_fraction *sum)
{
    if (!sum || sum->numerator->count == 0)
        return sum ? s->one : NULL;
    bool negative = hmi_poly_is_negative(s, sum->numerator);
    if (negative)
        sum = hmi_fraction_negate(s, sum);
    hmi_expr operand = sum ? hmi_fraction_display(s, sum) : HMI_NONE;
    uint32_t atom = hmi_atom_of(s, hmi_intern(s->graph, HMI_EXP, operand, 0, 0));
    if (atom == UINT32_MAX)
        return NULL;
    s->atoms.data[atom].argument = sum;
    return hmi_poly_atom(s, atom, negative ? -1 : 1);
}

static const hmi_poly *joined_term(hmi_normal *s, const hmi_poly_term *term)
{
    const hmi_fraction *sum = hmi_fraction_of(s, s->zero);
    hmi_monomial rest = term->monomial;
    for (uint32_t i = 0; i < term->monomial.count && sum; i++) {
        hmi_factor factor = term->monomial.factors[i];
        if (!is_exponential(s, factor))
            continue;
        hmi_coefficient times = {factor.power, 1, false};
        sum = hmi_fraction_add(s, sum, s->atoms.data[factor.atom].argument, times);
        if (!hmi_monomial_with(s, rest, factor.atom, 0, &rest))
            return NULL;
    }
    const hmi_poly *f = exponential(s, sum);
    return f ? hmi_poly_scale(s, f, term->coefficient, rest) : NULL;
}

const hmi_poly *hmi_poly_join_exponentials(hmi_normal *s, const hmi_poly *a)
{
    const hmi_poly *sum = a;
    for (uint32_t i = 0; a && i < a->count && sum; i++) {
        const hmi_poly_term *term = &a->terms[i];
        if (count_exponentials(s, term->monomial) < 2)
            continue;
        hmi_coefficient minus = hmi_coefficient_negate(term->coefficient);
        sum = hmi_poly_add_scaled(s, sum, s->one, minus, term->monomial);
        sum = hmi_poly_add(s, sum, joined_term(s, term));
    }
    return hmi_normal_forgive(s) && sum ? sum : a;
}
