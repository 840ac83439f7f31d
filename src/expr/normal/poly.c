/* Monomials and polynomials over atoms: order, arithmetic, exact division, content. */
#include "expr/normal/poly.h"

#include <assert.h>
#include <string.h>

/* ---- monomials ---- */

const hmi_monomial hmi_monomial_one = {NULL, 0};

/* Lexicographic: at the first atom whose powers differ the higher power is greater. */
int hmi_monomial_compare(hmi_monomial a, hmi_monomial b)
{
    uint32_t i = 0, j = 0;
    while (i < a.count || j < b.count) {
        uint32_t x = i < a.count ? a.factors[i].atom : UINT32_MAX;
        uint32_t y = j < b.count ? b.factors[j].atom : UINT32_MAX;
        int32_t p = x <= y ? a.factors[i].power : 0;
        int32_t q = y <= x ? b.factors[j].power : 0;
        if (p != q)
            return p > q ? 1 : -1;
        i++;
        j++;
    }
    return 0;
}

int32_t hmi_monomial_power(hmi_monomial m, uint32_t atom)
{
    for (uint32_t i = 0; i < m.count; i++)
        if (m.factors[i].atom == atom)
            return m.factors[i].power;
    return 0;
}

/* Powers that cancelled are left out. */
static void push_factor(hmi_factor *factors, uint32_t *count, uint32_t atom, int32_t power)
{
    if (power)
        factors[(*count)++] = (hmi_factor){atom, power};
}

static bool power_too_high(hmi_normal *s, const hmi_factor *factors, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++)
        if (factors[i].power > 8 * HMI_MOST_POWER || factors[i].power < -8 * HMI_MOST_POWER)
            return s->exceeded = true;
    return false;
}

bool hmi_monomial_mul(hmi_normal *s, hmi_monomial a, hmi_monomial b, int k, hmi_monomial *out)
{
    if (b.count == 0 || k == 0) {
        *out = a;
        return true;
    }
    hmi_factor *factors = hmi_normal_alloc(s, (a.count + b.count) * sizeof *factors);
    if (!factors)
        return false;
    uint32_t i = 0, j = 0, count = 0;
    while (i < a.count || j < b.count) {
        uint32_t x = i < a.count ? a.factors[i].atom : UINT32_MAX;
        uint32_t y = j < b.count ? b.factors[j].atom : UINT32_MAX;
        int32_t power = (x <= y ? a.factors[i].power : 0) + (y <= x ? k * b.factors[j].power : 0);
        push_factor(factors, &count, x <= y ? x : y, power);
        i += x <= y;
        j += y <= x;
    }
    *out = (hmi_monomial){factors, count};
    return !power_too_high(s, factors, count);
}

bool hmi_monomial_with(hmi_normal *s, hmi_monomial m, uint32_t atom, int32_t power,
                       hmi_monomial *out)
{
    hmi_factor change = {atom, power - hmi_monomial_power(m, atom)};
    if (change.power == 0) {
        *out = m;
        return true;
    }
    return hmi_monomial_mul(s, m, (hmi_monomial){&change, 1}, 1, out);
}

/* ---- making polynomials ---- */

static const hmi_poly *make(hmi_normal *s, const hmi_poly_term *terms, size_t count)
{
    if (count > HMI_MOST_TERMS) {
        s->exceeded = true;
        return NULL;
    }
    hmi_poly *poly = hmi_normal_alloc(s, sizeof *poly);
    if (!poly || s->exceeded)
        return NULL;
    *poly = (hmi_poly){terms, (uint32_t)count};
    return poly;
}

const hmi_poly *hmi_poly_of_term(hmi_normal *s, hmi_coefficient c, hmi_monomial m)
{
    if (c.n == 0)
        return make(s, NULL, 0);
    hmi_poly_term *term = hmi_normal_alloc(s, sizeof *term);
    if (!term)
        return NULL;
    *term = (hmi_poly_term){c, m};
    return make(s, term, 1);
}

const hmi_poly *hmi_poly_atom(hmi_normal *s, uint32_t atom, int32_t power)
{
    hmi_factor *factor = hmi_normal_alloc(s, sizeof *factor);
    if (!factor || atom == UINT32_MAX)
        return NULL;
    *factor = (hmi_factor){atom, power};
    return hmi_poly_of_term(s, hmi_coefficient_one, (hmi_monomial){factor, power ? 1 : 0});
}

bool hmi_poly_equal(const hmi_poly *a, const hmi_poly *b)
{
    if (a->count != b->count)
        return false;
    for (uint32_t i = 0; i < a->count; i++) {
        const hmi_poly_term *x = &a->terms[i], *y = &b->terms[i];
        if (x->coefficient.n != y->coefficient.n || x->coefficient.d != y->coefficient.d ||
            hmi_monomial_compare(x->monomial, y->monomial) != 0)
            return false;
    }
    return true;
}

/* ---- arithmetic ---- */

/* The terms of both are in the same order, so that one merge adds them. Each term of b is multiplied by
 * c*m. */
const hmi_poly *hmi_poly_add_scaled(hmi_normal *s, const hmi_poly *a, const hmi_poly *b,
                                    hmi_coefficient c, hmi_monomial m)
{
    if (!a || !b || !hmi_normal_go(s, a->count + b->count))
        return NULL;
    hmi_poly_term *terms = hmi_normal_alloc(s, (a->count + b->count) * sizeof *terms);
    if (!terms)
        return NULL;
    size_t count = 0;
    uint32_t i = 0;
    for (uint32_t j = 0; j < b->count; j++) {
        hmi_poly_term term = {hmi_coefficient_mul(s, c, b->terms[j].coefficient), {NULL, 0}};
        if (!hmi_monomial_mul(s, b->terms[j].monomial, m, 1, &term.monomial))
            return NULL;
        int order = 1;
        while (i < a->count &&
               (order = hmi_monomial_compare(a->terms[i].monomial, term.monomial)) > 0)
            terms[count++] = a->terms[i++];
        if (i < a->count && order == 0)
            term.coefficient = hmi_coefficient_add(s, a->terms[i++].coefficient, term.coefficient);
        if (term.coefficient.n)
            terms[count++] = term;
    }
    while (i < a->count)
        terms[count++] = a->terms[i++];
    return make(s, terms, count);
}

const hmi_poly *hmi_poly_add(hmi_normal *s, const hmi_poly *a, const hmi_poly *b)
{
    return hmi_poly_add_scaled(s, a, b, hmi_coefficient_one, hmi_monomial_one);
}

const hmi_poly *hmi_poly_sub(hmi_normal *s, const hmi_poly *a, const hmi_poly *b)
{
    return hmi_poly_add_scaled(s, a, b, hmi_coefficient_negate(hmi_coefficient_one),
                               hmi_monomial_one);
}

const hmi_poly *hmi_poly_scale(hmi_normal *s, const hmi_poly *a, hmi_coefficient c, hmi_monomial m)
{
    return hmi_poly_add_scaled(s, s->zero, a, c, m);
}

const hmi_poly *hmi_poly_mul(hmi_normal *s, const hmi_poly *a, const hmi_poly *b)
{
    if (!a || !b)
        return NULL;
    if (a->count > b->count)
        return hmi_poly_mul(s, b, a);
    const hmi_poly *product = s->zero;
    for (uint32_t i = 0; i < a->count; i++)
        product = hmi_poly_add_scaled(s, product, b, a->terms[i].coefficient, a->terms[i].monomial);
    return product;
}

const hmi_poly *hmi_poly_pow(hmi_normal *s, const hmi_poly *a, uint32_t power)
{
    const hmi_poly *result = s->one;
    for (uint32_t i = 0; i < power; i++)
        result = hmi_poly_mul(s, result, a);
    return result;
}

/* ---- content ---- */

/* What two powers of one atom have in common (0 where an atom is absent). */
static int32_t common_power(int32_t p, int32_t q, hmi_content_kind kind)
{
    if (kind == HMI_CONTENT_LOWEST)
        return p < q ? p : q;
    if ((p > 0) != (q > 0))
        return 0;
    bool p_is_nearer = p > 0 ? p < q : p > q;
    return p_is_nearer ? p : q;
}

static uint32_t merge_common(hmi_monomial a, hmi_monomial b, hmi_content_kind kind,
                             hmi_factor *merged)
{
    uint32_t i = 0, j = 0, count = 0;
    while (i < a.count || j < b.count) {
        uint32_t x = i < a.count ? a.factors[i].atom : UINT32_MAX;
        uint32_t y = j < b.count ? b.factors[j].atom : UINT32_MAX;
        int32_t p = x <= y ? a.factors[i].power : 0, q = y <= x ? b.factors[j].power : 0;
        push_factor(merged, &count, x <= y ? x : y, common_power(p, q, kind));
        i += x <= y;
        j += y <= x;
    }
    return count;
}

bool hmi_poly_content(hmi_normal *s, const hmi_poly *a, hmi_content_kind kind, hmi_monomial *out)
{
    *out = a->count ? a->terms[0].monomial : hmi_monomial_one;
    for (uint32_t i = 1; i < a->count; i++) {
        hmi_monomial m = a->terms[i].monomial;
        hmi_factor *merged = hmi_normal_alloc(s, (out->count + m.count) * sizeof *merged);
        if (!merged)
            return false;
        uint32_t count = merge_common(*out, m, kind, merged);
        *out = (hmi_monomial){merged, count};
    }
    return true;
}

bool hmi_poly_numeric_content(hmi_normal *s, const hmi_poly *a, hmi_coefficient *out)
{
    int64_t n = 0, d = 1;
    bool decimal = false;
    for (uint32_t i = 0; i < a->count; i++) {
        hmi_coefficient c = a->terms[i].coefficient;
        n = hmi_gcd(n, c.n);
        if (__builtin_mul_overflow(d, c.d / hmi_gcd(d, c.d), &d) || d > INT64_C(1) << 61) {
            s->exceeded = true;
            return false;
        }
        decimal = decimal || c.decimal;
    }
    *out = (hmi_coefficient){n ? n : 1, d, decimal};
    return true;
}

const hmi_poly *hmi_poly_primitive(hmi_normal *s, const hmi_poly *a, hmi_coefficient *c,
                                   hmi_monomial *m)
{
    *c = hmi_coefficient_one;
    *m = hmi_monomial_one;
    if (!a || !hmi_poly_numeric_content(s, a, c) || !hmi_poly_content(s, a, HMI_CONTENT_LOWEST, m))
        return NULL;
    if (a->count && a->terms[0].coefficient.n < 0)
        *c = hmi_coefficient_negate(*c);
    hmi_monomial inverse;
    if (!hmi_monomial_mul(s, hmi_monomial_one, *m, -1, &inverse))
        return NULL;
    return hmi_poly_scale(s, a, hmi_coefficient_inverse(*c), inverse);
}

/* ---- exact division ---- */

static bool has_negative_power(hmi_monomial m)
{
    for (uint32_t i = 0; i < m.count; i++)
        if (m.factors[i].power < 0)
            return true;
    return false;
}

/* Long division by leading terms; both without negative powers. What cannot be divided goes into
 * *rest; where rest is NULL that is a failure. */
static const hmi_poly *long_division(hmi_normal *s, const hmi_poly *a, const hmi_poly *b,
                                     const hmi_poly **rest)
{
    const hmi_poly_term lead = b->terms[0];
    hmi_coefficient inverse = hmi_coefficient_inverse(lead.coefficient);
    const hmi_poly *left = a, *quotient = s->zero;
    while (left && left->count) {
        hmi_monomial m;
        const hmi_poly_term top = left->terms[0];
        if (!hmi_monomial_mul(s, top.monomial, lead.monomial, -1, &m))
            return NULL;
        if (has_negative_power(m) && !rest)
            return NULL;
        hmi_coefficient c = hmi_coefficient_mul(s, top.coefficient, inverse);
        if (has_negative_power(m)) {
            *rest = hmi_poly_add_scaled(s, *rest, s->one, top.coefficient, top.monomial);
            left = hmi_poly_add_scaled(s, left, s->one, hmi_coefficient_negate(top.coefficient),
                                       top.monomial);
        } else {
            quotient = hmi_poly_add_scaled(s, quotient, s->one, c, m);
            left = hmi_poly_add_scaled(s, left, b, hmi_coefficient_negate(c), m);
        }
    }
    return left ? quotient : NULL;
}

/* A divisor without monomial factor divides a exactly where it divides a's primitive part. */
const hmi_poly *hmi_poly_divide(hmi_normal *s, const hmi_poly *a, const hmi_poly *b)
{
    if (!a || !b)
        return NULL;
    assert(b->count > 0);
    hmi_coefficient ca, cb;
    hmi_monomial ma, mb, shift;
    const hmi_poly *pa = hmi_poly_primitive(s, a, &ca, &ma);
    const hmi_poly *pb = hmi_poly_primitive(s, b, &cb, &mb);
    if (!pa || !pb)
        return NULL;
    const hmi_poly *quotient = long_division(s, pa, pb, NULL);
    if (!quotient || !hmi_monomial_mul(s, ma, mb, -1, &shift))
        return NULL;
    return hmi_poly_scale(s, quotient, hmi_coefficient_mul(s, ca, hmi_coefficient_inverse(cb)),
                          shift);
}

const hmi_poly *hmi_poly_divide_with_rest(hmi_normal *s, const hmi_poly *a, const hmi_poly *b,
                                          const hmi_poly **rest)
{
    hmi_coefficient c;
    hmi_monomial m;
    const hmi_poly *p = hmi_poly_primitive(s, a, &c, &m), *left = s->zero;
    const hmi_poly *quotient = p ? long_division(s, p, b, &left) : NULL;
    *rest = quotient ? hmi_poly_scale(s, left, c, m) : NULL;
    return *rest ? hmi_poly_scale(s, quotient, c, m) : NULL;
}
