/* Addition theorems of sine and cosine on polynomials: joining for display, splitting for proofs
 * of zero.
 */
#include "expr/normal/poly.h"

enum { MOST_JOINED_TERMS = 150, MOST_MULTIPLE = 6 };

static bool is_circular(const hmi_normal *s, uint32_t atom)
{
    hmi_op op = hmi_atom_op(s, atom);
    return (op == HMI_SIN || op == HMI_COS) && s->atoms.data[atom].argument;
}

/* An atom for a function whose argument is known as a fraction. Here joining, which display.c does,
 * needs display again, for an argument that is smaller than what is being displayed. */
static uint32_t function_atom(hmi_normal *s, hmi_op op, const hmi_fraction *argument)
{
    hmi_expr operand = argument ? hmi_fraction_display(s, argument) : HMI_NONE;
    uint32_t atom = hmi_atom_of(s, hmi_intern(s->graph, op, operand, 0, 0));
    if (atom != UINT32_MAX && !s->atoms.data[atom].argument)
        s->atoms.data[atom].argument = argument;
    return atom;
}

/* op(argument) as a polynomial: +-atom, the argument's leading sign taken out. */
static const hmi_poly *function_poly(hmi_normal *s, hmi_op op, const hmi_fraction *argument)
{
    if (!argument)
        return NULL;
    if (argument->numerator->count == 0)
        return op == HMI_SIN ? s->zero : s->one;
    bool negative = hmi_poly_is_negative(s, argument->numerator);
    if (negative)
        argument = hmi_fraction_negate(s, argument);
    const hmi_poly *f = hmi_poly_atom(s, function_atom(s, op, argument), 1);
    return negative && op == HMI_SIN ? hmi_poly_sub(s, s->zero, f) : f;
}

/* ---- joining ---- */

static const hmi_poly_term *find_term(const hmi_poly *a, hmi_monomial m)
{
    uint32_t low = 0, high = a->count;
    while (low < high) {
        uint32_t middle = (low + high) / 2;
        int order = hmi_monomial_compare(a->terms[middle].monomial, m);
        if (order == 0)
            return &a->terms[middle];
        if (order > 0)
            low = middle + 1;
        else
            high = middle;
    }
    return NULL;
}

/* Cosine for sine and sine for cosine of the same argument. */
static bool swapped(hmi_normal *s, uint32_t atom, uint32_t *other)
{
    *other = hmi_atom_partner(s, atom, hmi_atom_op(s, atom) == HMI_SIN ? HMI_COS : HMI_SIN);
    return *other != UINT32_MAX;
}

/* m with one power less of x and y. */
static bool without(hmi_normal *s, hmi_monomial m, uint32_t x, uint32_t y, hmi_monomial *rest)
{
    return hmi_monomial_with(s, m, x, hmi_monomial_power(m, x) - 1, rest) &&
           hmi_monomial_with(s, *rest, y, hmi_monomial_power(*rest, y) - 1, rest);
}

static bool times(hmi_normal *s, hmi_monomial m, uint32_t x, uint32_t y, hmi_monomial *product)
{
    return hmi_monomial_with(s, m, x, hmi_monomial_power(m, x) + 1, product) &&
           hmi_monomial_with(s, *product, y, hmi_monomial_power(*product, y) + 1, product);
}

/* c rest f(a) g(b) + ratio * c rest f~(a) g~(b), where ~ swaps sine and cosine. The sum is
 *   cos a cos b + r sin a sin b = cos(a - r b),   sin a cos b + r cos a sin b = sin(a + r b). */
static const hmi_poly *joined(hmi_normal *s, uint32_t x, uint32_t y, int ratio)
{
    bool x_is_sine = hmi_atom_op(s, x) == HMI_SIN, y_is_sine = hmi_atom_op(s, y) == HMI_SIN;
    const hmi_fraction *a = s->atoms.data[x].argument, *b = s->atoms.data[y].argument;
    if (x_is_sine == y_is_sine) {
        hmi_coefficient k = {-ratio, 1, false};
        const hmi_poly *f = function_poly(s, HMI_COS, hmi_fraction_add(s, a, b, k));
        /* sin a sin b + r cos a cos b = r cos(a - r b) */
        return x_is_sine && ratio < 0 ? hmi_poly_sub(s, s->zero, f) : f;
    }
    if (y_is_sine)
        return joined(s, y, x, ratio);
    hmi_coefficient k = {ratio, 1, false};
    return function_poly(s, HMI_SIN, hmi_fraction_add(s, a, b, k));
}

/* Joins one term with its counterpart by the pair of factors x, y; NULL where there is none. */
static const hmi_poly *join_pair(hmi_normal *s, const hmi_poly *a, const hmi_poly_term *term,
                                 uint32_t x, uint32_t y)
{
    hmi_monomial rest, counterpart;
    uint32_t x2, y2;
    if (!swapped(s, x, &x2) || !swapped(s, y, &y2) || !without(s, term->monomial, x, y, &rest) ||
        !times(s, rest, x2, y2, &counterpart))
        return NULL;
    const hmi_poly_term *other = find_term(a, counterpart);
    hmi_coefficient c = term->coefficient;
    if (!other || other->coefficient.d != c.d ||
        (other->coefficient.n != c.n && other->coefficient.n != -c.n))
        return NULL;
    int ratio = other->coefficient.n == c.n ? 1 : -1;
    const hmi_poly *sum = hmi_poly_add_scaled(s, a, s->one, hmi_coefficient_negate(c),
                                              term->monomial);
    sum = hmi_poly_add_scaled(s, sum, s->one, hmi_coefficient_negate(other->coefficient),
                              counterpart);
    return hmi_poly_add_scaled(s, sum, joined(s, x, y, ratio), c, rest);
}

static const hmi_poly *join_term(hmi_normal *s, const hmi_poly *a, const hmi_poly_term *term)
{
    hmi_monomial m = term->monomial;
    for (uint32_t i = 0; i < m.count; i++) {
        if (m.factors[i].power < 1 || !is_circular(s, m.factors[i].atom))
            continue;
        for (uint32_t j = i + 1; j < m.count; j++) {
            uint32_t x = m.factors[i].atom, y = m.factors[j].atom;
            if (m.factors[j].power < 1 || !is_circular(s, y) ||
                hmi_operand(s->graph, s->atoms.data[x].e, 0) ==
                    hmi_operand(s->graph, s->atoms.data[y].e, 0))
                continue;
            const hmi_poly *sum = join_pair(s, a, term, x, y);
            if (sum)
                return sum;
        }
    }
    return NULL;
}

const hmi_poly *hmi_poly_join_angles(hmi_normal *s, const hmi_poly *a)
{
    if (!a || a->count > MOST_JOINED_TERMS)
        return a;
    for (uint32_t i = 0; i < a->count;) {
        const hmi_poly *sum = join_term(s, a, &a->terms[i]);
        if (!hmi_normal_forgive(s))
            return NULL;
        i = sum ? 0 : i + 1;
        a = sum ? sum : a;
    }
    return a;
}

/* ---- splitting ---- */

typedef struct sine_cosine {
    const hmi_poly *sine, *cosine;
} sine_cosine;

static sine_cosine add_angles(hmi_normal *s, sine_cosine a, sine_cosine b)
{
    return (sine_cosine){
        hmi_poly_add(s, hmi_poly_mul(s, a.sine, b.cosine), hmi_poly_mul(s, a.cosine, b.sine)),
        hmi_poly_sub(s, hmi_poly_mul(s, a.cosine, b.cosine), hmi_poly_mul(s, a.sine, b.sine))};
}

/* Of p/q x: p times the angle x/q, where p is small. */
static sine_cosine of_multiple(hmi_normal *s, const hmi_poly_term *term)
{
    hmi_coefficient c = term->coefficient;
    int64_t times_taken = c.n < 0 ? -c.n : c.n;
    if (times_taken > MOST_MULTIPLE)
        times_taken = 1;
    else
        c.n = c.n < 0 ? -1 : 1;
    const hmi_fraction *angle = hmi_fraction_of(s, hmi_poly_of_term(s, c, term->monomial));
    sine_cosine one = {function_poly(s, HMI_SIN, angle), function_poly(s, HMI_COS, angle)};
    sine_cosine sum = {s->zero, s->one};
    while (times_taken--)
        sum = add_angles(s, sum, one);
    return sum;
}

static sine_cosine of_sum(hmi_normal *s, const hmi_poly *angle)
{
    sine_cosine sum = {s->zero, s->one};
    for (uint32_t i = 0; i < angle->count; i++)
        sum = add_angles(s, sum, of_multiple(s, &angle->terms[i]));
    return sum;
}

static const hmi_poly *split_term(hmi_normal *s, const hmi_poly_term *term)
{
    const hmi_poly *product = hmi_poly_of_term(s, term->coefficient, hmi_monomial_one);
    for (uint32_t i = 0; i < term->monomial.count; i++) {
        hmi_factor factor = term->monomial.factors[i];
        const hmi_poly *f = hmi_poly_atom(s, factor.atom, factor.power);
        if (is_circular(s, factor.atom) && factor.power > 0 &&
            s->atoms.data[factor.atom].argument->divisors.count == 0) {
            sine_cosine both = of_sum(s, s->atoms.data[factor.atom].argument->numerator);
            f = hmi_atom_op(s, factor.atom) == HMI_SIN ? both.sine : both.cosine;
            f = hmi_poly_pow(s, f, (uint32_t)factor.power);
        }
        product = hmi_poly_mul(s, product, f);
    }
    return product;
}

const hmi_poly *hmi_poly_split_angles(hmi_normal *s, const hmi_poly *a)
{
    const hmi_poly *sum = s->zero;
    for (uint32_t i = 0; a && i < a->count; i++)
        sum = hmi_poly_add(s, sum, split_term(s, &a->terms[i]));
    return hmi_poly_reduce(s, a ? sum : NULL);
}
