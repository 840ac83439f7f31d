/* Pieces of display: products, sums, and sums with common factors pulled out.
 *
 * A dry run only counts what would be printed, so that many forms can be compared without leaving
 * nodes behind in the graph. Costs are those of hmi_normal_cost.
 */
#include "expr/normal/poly.h"

enum { MOST_FACTORED = 120, MOST_FACTOR_DEPTH = 6, MOST_FACTORS = 64 };

static hmi_piece leaf(hmi_expr e)
{
    return (hmi_piece){.e = e, .length = {.cost = 1}};
}

static const hmi_piece hopeless = {.e = HMI_NONE, .length = {.cost = UINT32_MAX / 8}};

static hmi_expr build(hmi_normal *s, hmi_op op, hmi_expr a, hmi_expr b, bool dry)
{
    return dry ? HMI_NONE : hmi_intern(s->graph, op, a, b, 0);
}

static hmi_length in_brackets(hmi_piece a)
{
    return a.is_sum ? hmi_in_brackets(a.length) : a.length;
}

/* Without its sign, which the caller writes. */
static hmi_piece combine(hmi_normal *s, hmi_op op, hmi_piece a, hmi_piece b, bool dry)
{
    hmi_length own = {.cost = 1, .quotients = op == HMI_DIV};
    hmi_length both = hmi_length_add(in_brackets(a), in_brackets(b));
    return (hmi_piece){.e = build(s, op, a.e, b.e, dry), .length = hmi_length_add(own, both)};
}

/* ---- products ---- */

/* The product of a chain, empty so far where count is 0. */
typedef struct chain {
    hmi_piece piece;
    int count;
} chain;

static void times(hmi_normal *s, chain *product, hmi_piece factor, bool dry)
{
    product->piece = product->count ? combine(s, HMI_MUL, product->piece, factor, dry) : factor;
    product->count++;
}

static hmi_piece powered(hmi_normal *s, hmi_piece base, int32_t power, bool dry)
{
    if (power == 1)
        return base;
    hmi_expr exponent = dry ? HMI_NONE : hmi_number(s->graph, power);
    return (hmi_piece){.e = build(s, HMI_POWI, base.e, exponent, dry),
                       .length = hmi_length_add(in_brackets(base), (hmi_length){.cost = 1})};
}

static hmi_piece atom_piece(hmi_normal *s, hmi_expr e)
{
    hmi_op op = e == HMI_NONE ? HMI_CONST : hmi_op_of(s->graph, e);
    return (hmi_piece){
        .e = e, .length = hmi_normal_length(s, e), .is_sum = op == HMI_ADD || op == HMI_SUB};
}

static void times_number(hmi_normal *s, chain *product, double value, bool dry)
{
    if (value != 1)
        times(s, product, leaf(dry ? HMI_NONE : hmi_number(s->graph, value)), dry);
}

/* The atoms of one sign of power, in the order of display. */
static void times_monomial(hmi_normal *s, chain *product, hmi_monomial m, int sign, bool dry)
{
    hmi_display_factor sorted[MOST_FACTORS];
    size_t count = 0;
    for (uint32_t i = 0; i < m.count && count < MOST_FACTORS; i++)
        if (m.factors[i].power * sign > 0)
            sorted[count++] = (hmi_display_factor){s->atoms.data[m.factors[i].atom].e,
                                                   m.factors[i].power * sign};
    if (!dry)
        hmi_display_sort_factors(s->graph, sorted, count);
    for (size_t i = 0; i < count; i++) {
        hmi_piece base = atom_piece(s, sorted[i].e);
        times(s, product, powered(s, base, sorted[i].power, dry), dry);
    }
}

/* Divisors are shown with the sign that reads best; returns whether that changes the sign. */
static bool times_divisors(hmi_normal *s, chain *product, hmi_monomial divisors, bool dry)
{
    bool negative = false;
    for (uint32_t i = 0; i < divisors.count; i++) {
        hmi_factor factor = divisors.factors[i];
        if (s->atoms.data[factor.atom].negated && factor.power % 2)
            negative = !negative;
        hmi_piece base = atom_piece(s, s->atoms.data[factor.atom].e);
        times(s, product, powered(s, base, factor.power, dry), dry);
    }
    return negative;
}

hmi_piece hmi_piece_product(hmi_normal *s, hmi_coefficient c, hmi_monomial m,
                            const hmi_piece *inner, hmi_monomial divisors, bool dry)
{
    chain over = {.count = 0}, under = {.count = 0};
    double number_over, number_under;
    hmi_coefficient_shown(c, &number_over, &number_under);
    if (m.count > MOST_FACTORS) {
        s->exceeded = true;
        return hopeless;
    }
    times_number(s, &over, number_over, dry);
    times_monomial(s, &over, m, 1, dry);
    if (inner)
        times(s, &over, *inner, dry);
    if (over.count == 0)
        over.piece = leaf(s->graph->one);
    times_number(s, &under, number_under, dry);
    times_monomial(s, &under, m, -1, dry);
    bool negative = times_divisors(s, &under, divisors, dry);
    hmi_piece result = over.piece;
    if (under.count) {
        result = combine(s, HMI_DIV, over.piece, under.piece, dry);
        result.length.cost += under.count > 1;
    }
    result.negative = (c.n < 0) != negative;
    if (inner)
        result.negative = result.negative != inner->negative;
    return result;
}

/* ---- sums ---- */

static hmi_piece add(hmi_normal *s, hmi_piece a, hmi_piece b, bool dry)
{
    if (a.negative && !b.negative) {
        hmi_piece swap = a;
        a = b;
        b = swap;
    }
    /* -a - b is kept as minus (a + b), so that the caller may put the sign elsewhere. */
    hmi_op op = a.negative == b.negative ? HMI_ADD : HMI_SUB;
    hmi_length both = hmi_length_add(a.length, b.length);
    return (hmi_piece){.e = build(s, op, a.e, b.e, dry),
                       .length = hmi_length_add(both, (hmi_length){.cost = 1}),
                       .is_sum = true,
                       .negative = a.negative && b.negative};
}

static hmi_piece term_piece(hmi_normal *s, const hmi_poly_term *term, bool dry)
{
    return hmi_piece_product(s, term->coefficient, term->monomial, NULL, hmi_monomial_one, dry);
}

static hmi_piece plain_sum(hmi_normal *s, const hmi_poly *a, bool dry)
{
    if (a->count == 0)
        return leaf(s->graph->zero);
    hmi_piece sum = term_piece(s, &a->terms[0], dry);
    for (uint32_t i = 1; i < a->count; i++)
        sum = add(s, sum, term_piece(s, &a->terms[i], dry), dry);
    return sum;
}

/* ---- common factors of groups ---- */

static bool is_parameter(const hmi_normal *s, uint32_t atom)
{
    uint16_t constant = HMI_DEP(HMI_SYM_PARAM) | HMI_DEP(HMI_SYM_MATRIX);
    return !(hmi_deps(s->graph, s->atoms.data[atom].e) & ~constant);
}

/* Does a power of the atom go together with `power`? Powers of a variable stay apart: nobody
 * writes a x + b x^2 as x (a + b x) within a longer sum. */
static bool alike(const hmi_normal *s, uint32_t atom, int32_t power, int32_t other)
{
    return is_parameter(s, atom) ? (int64_t)power * other > 0 : power == other;
}

/* Terms with and without a power of the atom like the given one. */
static bool partition(hmi_normal *s, const hmi_poly *a, hmi_factor factor, hmi_poly *with,
                      hmi_poly *rest)
{
    hmi_poly_term *terms = hmi_normal_alloc(s, 2 * a->count * sizeof *terms);
    if (!terms || !hmi_normal_go(s, a->count))
        return false;
    *with = (hmi_poly){terms, 0};
    *rest = (hmi_poly){terms + a->count, 0};
    for (uint32_t i = 0; i < a->count; i++) {
        int32_t power = hmi_monomial_power(a->terms[i].monomial, factor.atom);
        if (alike(s, factor.atom, factor.power, power))
            terms[with->count++] = a->terms[i];
        else
            terms[a->count + rest->count++] = a->terms[i];
    }
    return true;
}

static int symbols_in(hmi_monomial m)
{
    int symbols = 0;
    for (uint32_t i = 0; i < m.count; i++)
        symbols += 2 + (m.factors[i].power != 1 && m.factors[i].power != -1);
    return symbols;
}

typedef struct group {
    hmi_poly with, rest;
    hmi_monomial common;
    int saving;
} group;

/* What is saved by writing the common factor of the terms with `atom` once. */
static bool consider(hmi_normal *s, const hmi_poly *a, hmi_factor factor, group *best)
{
    group g;
    if (!partition(s, a, factor, &g.with, &g.rest) ||
        !hmi_poly_content(s, &g.with, HMI_CONTENT_SHARED, &g.common))
        return false;
    g.saving = ((int)g.with.count - 1) * symbols_in(g.common) - 1;
    if (g.with.count > 1 && g.saving > best->saving)
        *best = g;
    return true;
}

static bool seen_before(const hmi_normal *s, const hmi_poly *a, uint32_t before, hmi_factor factor)
{
    for (uint32_t i = 0; i < before; i++)
        if (alike(s, factor.atom, factor.power,
                  hmi_monomial_power(a->terms[i].monomial, factor.atom)))
            return true;
    return false;
}

static bool best_group(hmi_normal *s, const hmi_poly *a, group *best)
{
    *best = (group){.saving = 0};
    for (uint32_t i = 0; i < a->count; i++)
        for (uint32_t k = 0; k < a->terms[i].monomial.count; k++) {
            hmi_factor factor = a->terms[i].monomial.factors[k];
            if (!seen_before(s, a, i, factor) && !consider(s, a, factor, best))
                return false;
        }
    return best->saving > 0;
}

/* How a polynomial is to be written, and how deep in brackets it stands. */
typedef struct manner {
    hmi_sum_form form;
    int depth;
    bool dry;
} manner;

static hmi_piece write_sum(hmi_normal *s, const hmi_poly *a, manner how);

/* common * (with / common). */
static hmi_piece group_piece(hmi_normal *s, const group *g, manner how)
{
    hmi_coefficient c;
    hmi_monomial inverse;
    const hmi_poly *inside = NULL;
    if (hmi_poly_numeric_content(s, &g->with, &c) &&
        hmi_monomial_mul(s, hmi_monomial_one, g->common, -1, &inverse)) {
        if (hmi_poly_reads_negative(s, &g->with))
            c = hmi_coefficient_negate(c);
        inside = hmi_poly_scale(s, &g->with, hmi_coefficient_inverse(c), inverse);
    }
    if (!inside)
        return hopeless;
    how.depth++;
    hmi_piece inner = write_sum(s, inside, how);
    return hmi_piece_product(s, c, g->common, &inner, hmi_monomial_one, how.dry);
}

/* The most rewarding group first, then the next, until nothing is saved. */
static hmi_piece grouped_sum(hmi_normal *s, const hmi_poly *a, manner how)
{
    hmi_piece sum = {.e = HMI_NONE};
    hmi_poly left = *a;
    group best;
    for (bool first = true; left.count && how.depth <= MOST_FACTOR_DEPTH; first = false) {
        if (!best_group(s, &left, &best))
            break;
        hmi_piece piece = group_piece(s, &best, how);
        sum = first ? piece : add(s, sum, piece, how.dry);
        left = best.rest;
    }
    if (left.count == 0 && a->count)
        return sum;
    hmi_piece rest = plain_sum(s, &left, how.dry);
    return left.count == a->count ? rest : add(s, sum, rest, how.dry);
}

/* ---- factors that are sums ---- */

/* A factor of a product, with the sign that reads best. */
static hmi_piece bracket(hmi_normal *s, const hmi_poly *a, manner how)
{
    bool negative = hmi_poly_reads_negative(s, a);
    if (negative)
        a = hmi_poly_sub(s, s->zero, a);
    how.depth++;
    hmi_piece piece = a ? write_sum(s, a, how) : hopeless;
    piece.negative = piece.negative != negative;
    return piece;
}

/* a = c m (factor) (cofactor), or in groups where it does not split. */
static hmi_piece split_sum(hmi_normal *s, const hmi_poly *a, manner how)
{
    hmi_coefficient c;
    hmi_monomial m;
    const hmi_poly *p = hmi_poly_primitive(s, a, &c, &m);
    const hmi_poly *factor = p ? hmi_poly_common_factor(s, p) : NULL;
    const hmi_poly *cofactor = factor ? hmi_poly_divide(s, p, factor) : NULL;
    if (!cofactor)
        return grouped_sum(s, a, how);
    /* 1 - sin^2 may have come out as a factor */
    factor = hmi_poly_shorten(s, factor);
    cofactor = hmi_poly_shorten(s, cofactor);
    if (!factor || !cofactor)
        return hopeless;
    hmi_piece x = bracket(s, factor, how), y = bracket(s, cofactor, how);
    hmi_piece inner = combine(s, HMI_MUL, x, y, how.dry);
    inner.negative = x.negative != y.negative;
    return hmi_piece_product(s, c, m, &inner, hmi_monomial_one, how.dry);
}

/* ---- squares of two terms ---- */

static int64_t whole_root(int64_t x)
{
    int64_t root = 0;
    while (root < 1000 && root * root < x)
        root++;
    return root * root == x ? root : 0;
}

/* The root of a term that is a square; NULL where it is none. */
static const hmi_poly *root_of_term(hmi_normal *s, const hmi_poly_term *term)
{
    hmi_coefficient c = term->coefficient;
    hmi_factor *factors = hmi_normal_alloc(s, (term->monomial.count + 1) * sizeof *factors);
    c.n = whole_root(c.n);
    c.d = whole_root(c.d);
    if (!factors || c.n == 0 || c.d == 0)
        return NULL;
    for (uint32_t i = 0; i < term->monomial.count; i++) {
        factors[i] = term->monomial.factors[i];
        if (factors[i].power % 2)
            return NULL;
        factors[i].power /= 2;
    }
    return hmi_poly_of_term(s, c, (hmi_monomial){factors, term->monomial.count});
}

/* x + y or x - y with that square; NULL where there is none. */
static const hmi_poly *root_of_square(hmi_normal *s, const hmi_poly *a)
{
    for (int middle = 0; middle < 3 && a->count == 3; middle++) {
        const hmi_poly *x = root_of_term(s, &a->terms[middle == 0 ? 1 : 0]);
        const hmi_poly *y = root_of_term(s, &a->terms[middle == 2 ? 1 : 2]);
        const hmi_poly *roots[] = {hmi_poly_add(s, x, y), hmi_poly_sub(s, x, y)};
        for (int k = 0; k < 2; k++) {
            const hmi_poly *square = hmi_poly_mul(s, roots[k], roots[k]);
            if (square && hmi_poly_equal(square, a))
                return roots[k];
        }
    }
    return NULL;
}

static hmi_piece write_sum(hmi_normal *s, const hmi_poly *a, manner how)
{
    if (how.form == HMI_SUM_PLAIN || a->count < 2 || a->count > MOST_FACTORED)
        return plain_sum(s, a, how.dry);
    const hmi_poly *root = root_of_square(s, a);
    if (root)
        return powered(s, plain_sum(s, root, how.dry), 2, how.dry);
    if (how.form == HMI_SUM_GROUPED || how.depth > MOST_FACTOR_DEPTH || a->count < 4)
        return grouped_sum(s, a, how);
    return split_sum(s, a, how);
}

hmi_piece hmi_piece_sum(hmi_normal *s, const hmi_poly *a, hmi_sum_form form, bool dry)
{
    return write_sum(s, a, (manner){.form = form, .dry = dry});
}
