/* Fractions to expressions: tries the forms people use and keeps the shortest.
 *
 *   squares:  as reduced (sin^2 only), with sin^2 and cos^2 as they fit, with angles joined,
 *             over a common denominator;
 *   brackets: none, what all terms share in front, groups with common factors, factors that are
 *             sums.
 */
#include "expr/normal/poly.h"

/* ---- forms of one numerator over given divisors ---- */

typedef enum pulled { PULL_NOTHING, PULL_SHARED, PULL_LOWEST } pulled;

typedef struct form {
    const hmi_poly *numerator;
    pulled pull;
    hmi_sum_form sum;
} form;

/* numerator = c * m * inside, as far as the form pulls factors out. */
static const hmi_poly *inside_of(hmi_normal *s, const form *f, hmi_coefficient *c, hmi_monomial *m)
{
    hmi_monomial inverse;
    *c = hmi_coefficient_one;
    *m = hmi_monomial_one;
    if (f->pull == PULL_NOTHING)
        return f->numerator;
    if (!hmi_poly_numeric_content(s, f->numerator, c) ||
        !hmi_poly_content(s, f->numerator,
                          f->pull == PULL_SHARED ? HMI_CONTENT_SHARED : HMI_CONTENT_LOWEST, m) ||
        !hmi_monomial_mul(s, hmi_monomial_one, *m, -1, &inverse))
        return NULL;
    if (hmi_poly_reads_negative(s, f->numerator))
        *c = hmi_coefficient_negate(*c);
    return hmi_poly_scale(s, f->numerator, hmi_coefficient_inverse(*c), inverse);
}

static const hmi_piece no_piece = {.e = HMI_NONE, .length = {.cost = UINT32_MAX / 8}};

static hmi_piece form_piece(hmi_normal *s, const form *f, hmi_monomial divisors, bool dry)
{
    hmi_coefficient c;
    hmi_monomial m;
    const hmi_poly *inside = inside_of(s, f, &c, &m);
    if (!inside)
        return no_piece;
    if (inside->count == 1 && inside->terms[0].monomial.count == 0) {
        c = hmi_coefficient_mul(s, c, inside->terms[0].coefficient);
        return hmi_piece_product(s, c, m, NULL, divisors, dry);
    }
    hmi_piece inner = hmi_piece_sum(s, inside, f->sum, dry);
    bool bare = f->pull == PULL_NOTHING && divisors.count == 0;
    return bare ? inner : hmi_piece_product(s, c, m, &inner, divisors, dry);
}

/* Keeps the cheaper of what was found and the forms of this numerator. */
static void try_forms(hmi_normal *s, const hmi_poly *numerator, hmi_monomial divisors, form *best,
                      uint32_t *best_cost)
{
    static const struct {
        pulled pull;
        hmi_sum_form sum;
    } tried[] = {{PULL_SHARED, HMI_SUM_PLAIN},    {PULL_SHARED, HMI_SUM_GROUPED},
                 {PULL_SHARED, HMI_SUM_SPLIT},    {PULL_NOTHING, HMI_SUM_PLAIN},
                 {PULL_NOTHING, HMI_SUM_GROUPED}, {PULL_LOWEST, HMI_SUM_PLAIN},
                 {PULL_LOWEST, HMI_SUM_GROUPED}};
    for (size_t k = 0; numerator && k < sizeof tried / sizeof *tried; k++) {
        form f = {numerator, tried[k].pull, tried[k].sum};
        hmi_piece piece = form_piece(s, &f, divisors, true);
        uint32_t cost = piece.length.cost + piece.negative;
        if (!hmi_normal_forgive(s))
            return;
        if (cost < *best_cost) {
            *best = f;
            *best_cost = cost;
        }
    }
}

/* Clearing negative powers may let an identity apply that did not before: 1 + sin^2/cos^2. */
static const hmi_poly *over_common_denominator(hmi_normal *s, const hmi_poly *a)
{
    hmi_monomial low, inverse;
    if (!a || !hmi_poly_content(s, a, HMI_CONTENT_LOWEST, &low) ||
        !hmi_monomial_mul(s, hmi_monomial_one, low, -1, &inverse))
        return NULL;
    a = hmi_poly_reduce(s, hmi_poly_scale(s, a, hmi_coefficient_one, inverse));
    a = hmi_poly_shorten(s, a);
    return a ? hmi_poly_scale(s, a, hmi_coefficient_one, low) : NULL;
}

static hmi_piece shortest_piece(hmi_normal *s, const hmi_poly *numerator, hmi_monomial divisors)
{
    form best = {numerator, PULL_NOTHING, HMI_SUM_PLAIN};
    uint32_t cost = UINT32_MAX;
    const hmi_poly *shorter = hmi_poly_shorten(s, numerator);
    const hmi_poly *forms[4] = {shorter, numerator, hmi_poly_join_angles(s, shorter),
                                over_common_denominator(s, numerator)};
    hmi_normal_forgive(s);
    for (int i = 0; i < 4; i++) {
        forms[i] = hmi_poly_join_exponentials(s, forms[i]);
        bool known = !forms[i];
        for (int k = 0; k < i && !known; k++)
            known = forms[k] && hmi_poly_equal(forms[k], forms[i]);
        if (!known)
            try_forms(s, forms[i], divisors, &best, &cost);
    }
    return form_piece(s, &best, divisors, false);
}

/* ---- divisors ---- */

/* Divisors get their expression when they are first shown, with the sign that reads best. */
static bool show_divisors(hmi_normal *s, hmi_monomial divisors)
{
    for (uint32_t i = 0; i < divisors.count; i++) {
        uint32_t atom = divisors.factors[i].atom;
        if (s->atoms.data[atom].e != HMI_NONE)
            continue;
        const hmi_poly *divisor = s->atoms.data[atom].divisor;
        bool negated = hmi_poly_is_negative(s, divisor);
        if (negated)
            divisor = hmi_poly_sub(s, s->zero, divisor);
        hmi_piece piece = divisor ? shortest_piece(s, divisor, hmi_monomial_one) : no_piece;
        s->atoms.data[atom].e = piece.e;
        s->atoms.data[atom].negated = negated != piece.negative;
        if (piece.e == HMI_NONE)
            return false;
    }
    return true;
}

/* ---- a minus in front ---- */

/* -e where a bracket a - b can take the sign: -k (x - y) is k (y - x). HMI_NONE where none can.
 * Factors of products nest at most `depth` deep here. */
static hmi_expr absorbed(hmi_normal *s, hmi_expr e, int depth)
{
    const hmi_node node = *hmi_node_at(s->graph, e);
    if (node.op == HMI_SUB && !hmi_is_sum(s->graph, node.a) && !hmi_is_sum(s->graph, node.b))
        return hmi_intern(s->graph, HMI_SUB, node.b, node.a, 0);
    if ((node.op != HMI_MUL && node.op != HMI_DIV) || depth == 0)
        return HMI_NONE;
    hmi_expr a = absorbed(s, node.a, depth - 1);
    if (a != HMI_NONE)
        return hmi_intern(s->graph, (hmi_op)node.op, a, node.b, 0);
    hmi_expr b = node.op == HMI_MUL ? absorbed(s, node.b, depth - 1) : HMI_NONE;
    return b != HMI_NONE ? hmi_intern(s->graph, (hmi_op)node.op, node.a, b, 0) : HMI_NONE;
}

static hmi_expr negated(hmi_normal *s, hmi_expr e)
{
    enum { MOST_FACTORS = 8 };
    hmi_expr other = e == HMI_NONE ? HMI_NONE : absorbed(s, e, MOST_FACTORS);
    return other != HMI_NONE ? other : hmi_intern(s->graph, HMI_NEG, e, 0, 0);
}

static hmi_expr shown(hmi_normal *s, const hmi_fraction *a)
{
    hmi_piece piece = shortest_piece(s, a->numerator, a->divisors);
    if (s->exceeded)
        return HMI_NONE;
    return piece.negative ? negated(s, piece.e) : piece.e;
}

/* n/d = q + r/d: where the whole part is long, that reads better. HMI_NONE where there is none. */
static hmi_expr shown_with_whole_part(hmi_normal *s, const hmi_fraction *a)
{
    if (a->divisors.count != 1 || a->divisors.factors[0].power != 1 || a->numerator->count < 4)
        return HMI_NONE;
    const hmi_poly *divisor = s->atoms.data[a->divisors.factors[0].atom].divisor, *rest;
    const hmi_poly *whole = hmi_poly_divide_with_rest(s, a->numerator, divisor, &rest);
    if (!hmi_normal_forgive(s) || !whole || whole->count == 0 || rest->count == 0)
        return HMI_NONE;
    hmi_fraction left = {rest, a->divisors}, q = {whole, hmi_monomial_one};
    hmi_expr x = shown(s, &q), y = shown(s, &left);
    return hmi_add(s->graph, x, y);
}

hmi_expr hmi_fraction_display(hmi_normal *s, const hmi_fraction *a)
{
    const hmi_fraction *lowest = a ? hmi_fraction_lowest(s, a) : NULL;
    if (!lowest || !show_divisors(s, lowest->divisors))
        return HMI_NONE;
    hmi_expr e = shown(s, lowest);
    if (e == HMI_NONE)
        return e;
    hmi_expr other = shown_with_whole_part(s, lowest);
    hmi_normal_forgive(s);
    if (other == HMI_NONE)
        return e;
    return hmi_normal_cost(s, other) < hmi_normal_cost(s, e) ? other : e;
}
