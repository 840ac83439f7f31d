/* Greatest common divisors of polynomials in several atoms, by the primitive Euclidean algorithm in
 * one atom after the other [Knuth, TAOCP 2, 4.6.1, algorithm E]. Meant for the short polynomials
 * that people read: past a small share of the work allowed the answer is 1, which is always safe.
 */
#include "expr/normal/poly.h"

enum { MOST_DEGREE = 24, MOST_ATOMS = 16, MOST_GCD_WORK = HMI_LEAST_WORK / 2, MOST_SPLIT = 40 };

/* A polynomial as coefficients of the powers of one atom. */
typedef struct univariate {
    const hmi_poly *of[MOST_DEGREE + 1];
    int degree; /* -1 for zero */
} univariate;

static const hmi_poly *gcd_within(hmi_normal *s, const hmi_poly *a, const hmi_poly *b, int depth);

static bool is_constant(const hmi_poly *a)
{
    return a->count == 0 || (a->count == 1 && a->terms[0].monomial.count == 0);
}

static int degree_in(const hmi_poly *a, uint32_t atom)
{
    int degree = 0;
    for (uint32_t i = 0; i < a->count; i++) {
        int power = hmi_monomial_power(a->terms[i].monomial, atom);
        degree = power > degree ? power : degree;
    }
    return degree;
}

/* The terms with one given power of the atom, which is left out; they stay in order. */
static const hmi_poly *coefficient_at(hmi_normal *s, const hmi_poly *a, uint32_t atom, int power)
{
    hmi_poly_term *terms = hmi_normal_alloc(s, a->count * sizeof *terms);
    hmi_poly *poly = hmi_normal_alloc(s, sizeof *poly);
    if (!terms || !poly)
        return NULL;
    uint32_t count = 0;
    for (uint32_t i = 0; i < a->count; i++) {
        if (hmi_monomial_power(a->terms[i].monomial, atom) != power)
            continue;
        terms[count] = a->terms[i];
        if (!hmi_monomial_with(s, a->terms[i].monomial, atom, 0, &terms[count].monomial))
            return NULL;
        count++;
    }
    *poly = (hmi_poly){terms, count};
    return poly;
}

static bool split(hmi_normal *s, const hmi_poly *a, uint32_t atom, univariate *out)
{
    if (!a || !hmi_normal_go(s, a->count))
        return false;
    out->degree = a->count ? degree_in(a, atom) : -1;
    if (out->degree > MOST_DEGREE)
        return false;
    for (int k = 0; k <= out->degree; k++)
        if (!(out->of[k] = coefficient_at(s, a, atom, k)))
            return false;
    return true;
}

static const hmi_poly *unsplit(hmi_normal *s, const univariate *a, uint32_t atom)
{
    const hmi_poly *sum = s->zero;
    for (int k = 0; k <= a->degree; k++) {
        hmi_factor power = {atom, k};
        sum = hmi_poly_add_scaled(s, sum, a->of[k], hmi_coefficient_one,
                                  (hmi_monomial){&power, k ? 1 : 0});
    }
    return sum;
}

/* The common divisor of the coefficients, from `g` on. */
static const hmi_poly *content_from(hmi_normal *s, const univariate *a, const hmi_poly *g,
                                    int depth)
{
    for (int k = a->degree; k >= 0 && g && (!is_constant(g) || g->count == 0); k--)
        if (a->of[k]->count)
            g = gcd_within(s, g, a->of[k], depth + 1);
    return g;
}

static bool divide_all(hmi_normal *s, univariate *a, const hmi_poly *by)
{
    for (int k = 0; k <= a->degree; k++)
        if (a->of[k]->count && !(a->of[k] = hmi_poly_divide(s, a->of[k], by)))
            return false;
    return true;
}

/* Whole numbers without a common divisor: remainders would soon outgrow 64 bits. */
static bool make_whole(hmi_normal *s, univariate *a)
{
    int64_t n = 0, d = 1;
    for (int k = 0; k <= a->degree; k++) {
        hmi_coefficient c;
        if (!hmi_poly_numeric_content(s, a->of[k], &c))
            return false;
        n = a->of[k]->count ? hmi_gcd(n, c.n) : n;
        if (__builtin_mul_overflow(d, c.d / hmi_gcd(d, c.d), &d))
            return false;
    }
    hmi_coefficient scale = {d, n ? n : 1, false};
    for (int k = 0; k <= a->degree; k++)
        if (!(a->of[k] = hmi_poly_scale(s, a->of[k], scale, hmi_monomial_one)))
            return false;
    return true;
}

/* Divides out what the coefficients share; *content gets it where asked for. */
static bool make_primitive(hmi_normal *s, univariate *a, int depth, const hmi_poly **content)
{
    const hmi_poly *g = content_from(s, a, s->zero, depth);
    if (!g || (g->count && !divide_all(s, a, g)))
        return false;
    if (content)
        *content = g;
    return make_whole(s, a);
}

/* a := lead(b) a - lead(a) x^k b, until its degree is below that of b. */
static bool pseudo_remainder(hmi_normal *s, univariate *a, const univariate *b)
{
    while (a->degree >= b->degree) {
        const hmi_poly *lead = a->of[a->degree], *factor = b->of[b->degree];
        int shift = a->degree - b->degree;
        for (int k = 0; k < a->degree; k++) {
            a->of[k] = hmi_poly_mul(s, factor, a->of[k]);
            if (k >= shift)
                a->of[k] = hmi_poly_sub(s, a->of[k], hmi_poly_mul(s, lead, b->of[k - shift]));
            if (!a->of[k])
                return false;
        }
        do
            a->degree--;
        while (a->degree >= 0 && a->of[a->degree]->count == 0);
    }
    return true;
}

/* Both contain the atom. */
static const hmi_poly *gcd_by_atom(hmi_normal *s, const hmi_poly *a, const hmi_poly *b,
                                   uint32_t atom, int depth)
{
    univariate x, y;
    const hmi_poly *cx, *cy;
    if (!split(s, a, atom, &x) || !split(s, b, atom, &y) || !make_primitive(s, &x, depth, &cx) ||
        !make_primitive(s, &y, depth, &cy))
        return NULL;
    const hmi_poly *content = gcd_within(s, cx, cy, depth + 1);
    while (y.degree > 0) {
        if (!pseudo_remainder(s, &x, &y) || !make_primitive(s, &x, depth, NULL))
            return NULL;
        univariate swap = x;
        x = y;
        y = swap;
    }
    /* y is a nonzero constant: nothing in common but the content. */
    return y.degree == 0 ? content : hmi_poly_mul(s, content, unsplit(s, &x, atom));
}

static bool seen_before(const hmi_poly *a, uint32_t before, uint32_t atom)
{
    for (uint32_t i = 0; i < before; i++)
        if (hmi_monomial_power(a->terms[i].monomial, atom))
            return true;
    return false;
}

/* An atom of a that b lacks, or else the shared one of least degree. */
static uint32_t choose_atom(const hmi_poly *a, const hmi_poly *b, bool *shared)
{
    uint32_t best = UINT32_MAX;
    int best_degree = MOST_DEGREE + 1;
    for (uint32_t i = 0; i < a->count; i++) {
        hmi_monomial m = a->terms[i].monomial;
        for (uint32_t k = 0; k < m.count; k++) {
            if (seen_before(a, i, m.factors[k].atom))
                continue;
            int in_a = degree_in(a, m.factors[k].atom), in_b = degree_in(b, m.factors[k].atom);
            int degree = in_a > in_b ? in_a : in_b;
            *shared = in_b > 0;
            if (!*shared)
                return m.factors[k].atom;
            if (degree < best_degree) {
                best_degree = degree;
                best = m.factors[k].atom;
            }
        }
    }
    return best;
}

static const hmi_poly *gcd_within(hmi_normal *s, const hmi_poly *a, const hmi_poly *b, int depth)
{
    hmi_coefficient c;
    hmi_monomial m;
    if (!a || !b || depth > MOST_ATOMS)
        return NULL;
    if (a->count == 0)
        return hmi_poly_primitive(s, b, &c, &m) ? b : NULL;
    if (b->count == 0)
        return a;
    if (is_constant(a) || is_constant(b))
        return s->one;
    if (hmi_poly_equal(a, b))
        return a;
    bool shared;
    uint32_t atom = choose_atom(a, b, &shared);
    if (atom == UINT32_MAX)
        return NULL;
    if (shared && choose_atom(b, a, &shared) != UINT32_MAX && !shared)
        return gcd_within(s, b, a, depth);
    if (shared)
        return gcd_by_atom(s, a, b, atom, depth);
    univariate x;
    return split(s, a, atom, &x) ? content_from(s, &x, b, depth) : NULL;
}

/* A search that may fail without harm, with a small share of the work. */
typedef struct search {
    size_t work;
    bool open;
} search;

static search begin_search(hmi_normal *s)
{
    const size_t limit = s->most_work - MOST_GCD_WORK;
    search state = {s->work, !s->exceeded && s->work <= limit};
    if (state.open)
        s->work = limit;
    return state;
}

static void end_search(hmi_normal *s, search state)
{
    if (!state.open)
        return;
    s->work = state.work + (s->work - (s->most_work - MOST_GCD_WORK));
    hmi_normal_forgive(s);
}

const hmi_poly *hmi_poly_gcd(hmi_normal *s, const hmi_poly *a, const hmi_poly *b)
{
    hmi_coefficient c;
    hmi_monomial m;
    search state = begin_search(s);
    const hmi_poly *g = state.open ? hmi_poly_primitive(s, gcd_within(s, a, b, 0), &c, &m) : NULL;
    end_search(s, state);
    return g ? g : s->one;
}

/* ---- factors ---- */

static const hmi_poly *content_in(hmi_normal *s, const hmi_poly *a, uint32_t atom)
{
    univariate x;
    hmi_coefficient c;
    hmi_monomial m;
    if (!split(s, a, atom, &x))
        return NULL;
    return hmi_poly_primitive(s, content_from(s, &x, s->zero, 0), &c, &m);
}

const hmi_poly *hmi_poly_common_factor(hmi_normal *s, const hmi_poly *a)
{
    search state = begin_search(s);
    const hmi_poly *factor = NULL;
    for (uint32_t i = 0; i < a->count && state.open && a->count <= MOST_SPLIT; i++)
        for (uint32_t k = 0; k < a->terms[i].monomial.count && !factor; k++) {
            uint32_t atom = a->terms[i].monomial.factors[k].atom;
            factor = seen_before(a, i, atom) ? NULL : content_in(s, a, atom);
            if (factor && (is_constant(factor) || factor->count < 2))
                factor = NULL;
        }
    end_search(s, state);
    return factor;
}
