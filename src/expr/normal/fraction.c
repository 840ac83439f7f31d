/* Fractions: a numerator over a product of known divisors.
 *
 * Divisors are not factored, but each new one is first divided by those already known, and the
 * numerator by all of its divisors after every operation: what elimination produces cancels again.
 */
#include "expr/normal/poly.h"

static const hmi_fraction *make(hmi_normal *s, const hmi_poly *numerator, hmi_monomial divisors)
{
    hmi_fraction *fraction = numerator ? hmi_normal_alloc(s, sizeof *fraction) : NULL;
    if (fraction)
        *fraction = (hmi_fraction){numerator, numerator->count ? divisors : hmi_monomial_one};
    return fraction;
}

const hmi_fraction *hmi_fraction_of(hmi_normal *s, const hmi_poly *numerator)
{
    return make(s, numerator, hmi_monomial_one);
}

/* Cancels where a division is exact; the search may fail without harm. */
static const hmi_poly *try_divide(hmi_normal *s, const hmi_poly *a, const hmi_poly *by)
{
    const hmi_poly *quotient = hmi_poly_divide(s, a, by);
    return hmi_normal_forgive(s) ? quotient : NULL;
}

static const hmi_fraction *cancel(hmi_normal *s, const hmi_poly *numerator, hmi_monomial divisors)
{
    hmi_monomial left = divisors;
    for (uint32_t i = 0; i < divisors.count && numerator && numerator->count; i++) {
        uint32_t atom = divisors.factors[i].atom;
        int32_t power = divisors.factors[i].power;
        for (; power > 0; power--) {
            const hmi_poly *quotient = try_divide(s, numerator, s->atoms.data[atom].divisor);
            if (!quotient)
                break;
            numerator = quotient;
        }
        if (!hmi_monomial_with(s, left, atom, power, &left))
            return NULL;
    }
    return make(s, numerator, left);
}

/* ---- negative powers of roots: 1/sqrt(u)^2 = 1/u ---- */

static int32_t least_power(const hmi_poly *a, uint32_t atom)
{
    int32_t least = 0;
    for (uint32_t i = 0; i < a->count; i++) {
        int32_t power = hmi_monomial_power(a->terms[i].monomial, atom);
        least = power < least ? power : least;
    }
    return least;
}

/* An atom with a known square that occurs to the power -2 or below; UINT32_MAX where none does. */
static uint32_t divided_square(const hmi_normal *s, const hmi_poly *a)
{
    for (uint32_t i = 0; i < a->count; i++)
        for (uint32_t k = 0; k < a->terms[i].monomial.count; k++) {
            hmi_factor factor = a->terms[i].monomial.factors[k];
            if (factor.power <= -2 && s->atoms.data[factor.atom].square)
                return factor.atom;
        }
    return UINT32_MAX;
}

static const hmi_fraction *simplified(hmi_normal *s, const hmi_poly *numerator,
                                      hmi_monomial divisors)
{
    numerator = hmi_poly_reduce(s, numerator);
    uint32_t atom = numerator ? divided_square(s, numerator) : UINT32_MAX;
    if (atom == UINT32_MAX)
        return cancel(s, numerator, divisors);
    int32_t squares = -least_power(numerator, atom) / 2;
    const hmi_poly *raised = hmi_poly_mul(s, numerator, hmi_poly_atom(s, atom, 2 * squares));
    const hmi_fraction *rest = simplified(s, raised, divisors);
    const hmi_fraction *square = hmi_fraction_of(s, s->atoms.data[atom].square);
    return hmi_fraction_mul(s, rest, hmi_fraction_pow(s, square, -squares));
}

/* ---- arithmetic ---- */

/* What a's divisors lack of the common ones, multiplied out. */
static const hmi_poly *missing(hmi_normal *s, hmi_monomial common, hmi_monomial divisors)
{
    const hmi_poly *product = s->one;
    for (uint32_t i = 0; i < common.count; i++) {
        uint32_t atom = common.factors[i].atom;
        int32_t power = common.factors[i].power - hmi_monomial_power(divisors, atom);
        product = hmi_poly_mul(s, product,
                               hmi_poly_pow(s, s->atoms.data[atom].divisor, (uint32_t)power));
    }
    return product;
}

static bool least_common(hmi_normal *s, hmi_monomial a, hmi_monomial b, hmi_monomial *out)
{
    *out = a;
    for (uint32_t i = 0; i < b.count; i++)
        if (b.factors[i].power > hmi_monomial_power(*out, b.factors[i].atom) &&
            !hmi_monomial_with(s, *out, b.factors[i].atom, b.factors[i].power, out))
            return false;
    return true;
}

const hmi_fraction *hmi_fraction_add(hmi_normal *s, const hmi_fraction *a, const hmi_fraction *b,
                                     hmi_coefficient c)
{
    hmi_monomial common;
    if (!a || !b || !least_common(s, a->divisors, b->divisors, &common))
        return NULL;
    if (common.count == 0)
        return make(s, hmi_poly_add_scaled(s, a->numerator, b->numerator, c, hmi_monomial_one),
                    common);
    const hmi_poly *x = hmi_poly_mul(s, a->numerator, missing(s, common, a->divisors));
    const hmi_poly *y = hmi_poly_mul(s, b->numerator, missing(s, common, b->divisors));
    return simplified(s, hmi_poly_add_scaled(s, x, y, c, hmi_monomial_one), common);
}

const hmi_fraction *hmi_fraction_mul(hmi_normal *s, const hmi_fraction *a, const hmi_fraction *b)
{
    if (!a || !b)
        return NULL;
    /* Crosswise first: the product may then be short enough. */
    const hmi_fraction *x = cancel(s, a->numerator, b->divisors);
    const hmi_fraction *y = cancel(s, b->numerator, a->divisors);
    hmi_monomial divisors;
    if (!x || !y || !hmi_monomial_mul(s, x->divisors, y->divisors, 1, &divisors))
        return NULL;
    return simplified(s, hmi_poly_mul(s, x->numerator, y->numerator), divisors);
}

const hmi_fraction *hmi_fraction_negate(hmi_normal *s, const hmi_fraction *a)
{
    return a ? make(s, hmi_poly_sub(s, s->zero, a->numerator), a->divisors) : NULL;
}

const hmi_fraction *hmi_fraction_pow(hmi_normal *s, const hmi_fraction *a, int32_t power)
{
    const hmi_fraction *base = power < 0 ? hmi_fraction_inverse(s, a) : a;
    const hmi_fraction *result = hmi_fraction_of(s, s->one);
    for (int32_t i = power < 0 ? -power : power; i > 0; i--)
        result = hmi_fraction_mul(s, result, base);
    return result;
}

/* ---- division ---- */

/* The atom of a primitive polynomial with at least two terms. */
static uint32_t divisor_atom(hmi_normal *s, const hmi_poly *divisor)
{
    for (uint32_t i = 0; i < s->atoms.count; i++)
        if (s->atoms.data[i].divisor && hmi_poly_equal(s->atoms.data[i].divisor, divisor))
            return i;
    hmi_atom atom = {.e = HMI_NONE, .divisor = divisor};
    if (!hmi_array_push(s->allocator, &s->atoms, atom)) {
        s->status = HM_ERR_NOMEM;
        return UINT32_MAX;
    }
    return (uint32_t)s->atoms.count - 1;
}

static bool is_one(const hmi_poly *a)
{
    return a->count == 1 && a->terms[0].monomial.count == 0;
}

static bool add_divisor(hmi_normal *s, hmi_monomial *divisors, uint32_t atom)
{
    return atom != UINT32_MAX &&
           hmi_monomial_with(s, *divisors, atom, hmi_monomial_power(*divisors, atom) + 1, divisors);
}

/* A primitive polynomial as a product of known divisors and at most one new one. */
static bool split_divisor(hmi_normal *s, const hmi_poly *a, hmi_monomial *divisors)
{
    size_t known = s->atoms.count;
    for (uint32_t i = 0; i < known && !is_one(a); i++) {
        const hmi_poly *quotient = NULL;
        while (s->atoms.data[i].divisor && s->atoms.data[i].divisor->count <= a->count + 1 &&
               (quotient = try_divide(s, a, s->atoms.data[i].divisor))) {
            a = quotient;
            if (!add_divisor(s, divisors, i))
                return false;
            if (is_one(a))
                return true;
        }
    }
    hmi_coefficient c;
    hmi_monomial m;
    a = hmi_poly_primitive(s, a, &c, &m);
    return a && (is_one(a) || add_divisor(s, divisors, divisor_atom(s, a)));
}

/* a = c m p with p primitive and in reduced form. Squares are gathered before the monomial is
 * taken out, for 1 - sin^2 divides as cos^2. */
static const hmi_poly *primitive_divisor(hmi_normal *s, const hmi_poly *a, hmi_coefficient *c,
                                         hmi_monomial *m)
{
    hmi_monomial low, more, inverse;
    hmi_coefficient scale;
    if (!a || !hmi_poly_content(s, a, HMI_CONTENT_LOWEST, &low) ||
        !hmi_monomial_mul(s, hmi_monomial_one, low, -1, &inverse))
        return NULL;
    a = hmi_poly_reduce(s, hmi_poly_scale(s, a, hmi_coefficient_one, inverse));
    a = hmi_poly_primitive(s, hmi_poly_shorten(s, a), c, &more);
    a = hmi_poly_reduce(s, a);
    if (!a || !hmi_monomial_mul(s, low, more, 1, m))
        return NULL;
    a = hmi_poly_primitive(s, a, &scale, &more); /* reducing may have changed the leading sign */
    *c = hmi_coefficient_mul(s, *c, scale);
    return hmi_monomial_mul(s, *m, more, 1, m) ? a : NULL;
}

const hmi_fraction *hmi_fraction_inverse(hmi_normal *s, const hmi_fraction *a)
{
    hmi_coefficient c;
    hmi_monomial m, inverse, divisors = hmi_monomial_one;
    if (!a || a->numerator->count == 0)
        return NULL;
    const hmi_poly *p = primitive_divisor(s, a->numerator, &c, &m);
    if (!p || p->count == 0 || !hmi_monomial_mul(s, hmi_monomial_one, m, -1, &inverse) ||
        !split_divisor(s, p, &divisors))
        return NULL;
    const hmi_poly *numerator = missing(s, a->divisors, hmi_monomial_one);
    numerator = hmi_poly_scale(s, numerator, hmi_coefficient_inverse(c), inverse);
    return simplified(s, numerator, divisors);
}

/* ---- lowest terms ---- */

static const hmi_fraction *replace_divisor(hmi_normal *s, const hmi_fraction *a, uint32_t atom,
                                           const hmi_poly *common)
{
    const hmi_poly *quotient = try_divide(s, a->numerator, common);
    const hmi_poly *rest = try_divide(s, s->atoms.data[atom].divisor, common);
    hmi_monomial divisors;
    if (!quotient || !rest ||
        !hmi_monomial_with(s, a->divisors, atom, hmi_monomial_power(a->divisors, atom) - 1,
                           &divisors) ||
        !split_divisor(s, rest, &divisors))
        return a;
    return make(s, quotient, divisors);
}

/* x * sqrt(u) / u = x / sqrt(u): shown as on paper. */
static const hmi_fraction *absorb_roots(hmi_normal *s, const hmi_fraction *a)
{
    hmi_monomial shared;
    if (!hmi_poly_content(s, a->numerator, HMI_CONTENT_SHARED, &shared))
        return a;
    for (uint32_t i = 0; i < shared.count; i++) {
        hmi_factor factor = shared.factors[i];
        const hmi_poly *square = s->atoms.data[factor.atom].square;
        for (uint32_t k = 0; k < a->divisors.count && square && factor.power == 1; k++) {
            uint32_t divisor = a->divisors.factors[k].atom;
            if (!hmi_poly_equal(s->atoms.data[divisor].divisor, square))
                continue;
            hmi_factor lower = {factor.atom, -2};
            hmi_monomial divisors;
            if (!hmi_monomial_with(s, a->divisors, divisor, a->divisors.factors[k].power - 1,
                                   &divisors))
                return a;
            return make(
                s, hmi_poly_scale(s, a->numerator, hmi_coefficient_one, (hmi_monomial){&lower, 1}),
                divisors);
        }
    }
    return a;
}

const hmi_fraction *hmi_fraction_lowest(hmi_normal *s, const hmi_fraction *a)
{
    for (uint32_t i = 0; a && i < a->divisors.count && a->numerator->count; i++) {
        hmi_coefficient c;
        hmi_monomial m;
        uint32_t atom = a->divisors.factors[i].atom;
        const hmi_poly *p = hmi_poly_primitive(s, a->numerator, &c, &m);
        const hmi_poly *common = p ? hmi_poly_gcd(s, p, s->atoms.data[atom].divisor) : NULL;
        if (common && !is_one(common)) {
            const hmi_fraction *lower = replace_divisor(s, a, atom, common);
            if (lower && lower != a) {
                a = lower;
                i = UINT32_MAX; /* the divisors changed: from the start */
            }
        }
    }
    return a ? absorb_roots(s, a) : NULL;
}
