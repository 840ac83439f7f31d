/* The normal form: the best form of an expression, built as one tree for one formula, with products
 * and sums in the order of display, from the left.
 *
 * Forms found on different ways may read alike and yet be different nodes, (a b) c and a (b c).
 * Built in one order they are one node, which named parts and equality tests then see.
 */
#include "expr/normal/poly.h"

enum { MOST_FACTORS = 64, MOST_SORTED = 100 };

/* A product: sign, numbers, and factors in order. */
typedef struct product {
    bool negative;
    hmi_coefficient number;
    hmi_display_factor factors[MOST_FACTORS];
    size_t count;
} product;

static hmi_expr tidy(hmi_normal *s, hmi_expr e, int depth);

static bool is_product(const hmi_normal *s, hmi_expr e)
{
    hmi_op op = hmi_op_of(s->graph, e);
    return op == HMI_MUL || op == HMI_DIV || op == HMI_NEG || op == HMI_POWI;
}

/* ---- taking apart ---- */

static bool times_number(hmi_normal *s, product *p, hmi_expr e, int32_t power)
{
    hmi_coefficient c;
    if (!hmi_coefficient_of(hmi_constant_of(s->graph, e), &c) || c.n == 0 ||
        power > HMI_MOST_POWER || power < -HMI_MOST_POWER)
        return false;
    if (power < 0)
        c = hmi_coefficient_inverse(c);
    for (int32_t i = power < 0 ? -power : power; i > 0; i--)
        p->number = hmi_coefficient_mul(s, p->number, c);
    return true;
}

/* Equal bases above, or below, the line become one power. */
static bool times_factor(product *p, hmi_expr e, int32_t power)
{
    for (size_t i = 0; i < p->count; i++)
        if (p->factors[i].e == e && (p->factors[i].power > 0) == (power > 0)) {
            p->factors[i].power += power;
            return true;
        }
    if (p->count == MOST_FACTORS)
        return false;
    p->factors[p->count++] = (hmi_display_factor){e, power};
    return true;
}

/* Parts of a product onto the stack; false where e is a factor. */
static bool open_product(const hmi_normal *s, hmi_display_factor f, product *p,
                         hmi_display_factor *stack, size_t *count)
{
    const hmi_node *node = hmi_node_at(s->graph, f.e);
    if (node->op == HMI_POWI) {
        double power = hmi_constant_of(s->graph, node->b)->value * f.power;
        if (power > HMI_MOST_POWER || power < -HMI_MOST_POWER || is_product(s, node->a))
            return false;
        stack[(*count)++] = (hmi_display_factor){node->a, (int32_t)power};
        return true;
    }
    if (node->op != HMI_MUL && node->op != HMI_DIV && node->op != HMI_NEG)
        return false;
    if (node->op == HMI_NEG && f.power % 2)
        p->negative = !p->negative;
    if (node->op != HMI_NEG)
        stack[(*count)++] = (hmi_display_factor){node->b, node->op == HMI_MUL ? f.power : -f.power};
    stack[(*count)++] = (hmi_display_factor){node->a, f.power};
    return true;
}

/* Takes a factor, after tidying it (not where depth is -1: then it is tidy already). A power of a
 * product, (x y)^2, keeps its bracket. */
static bool take_factor(hmi_normal *s, hmi_display_factor f, int depth, product *p)
{
    const hmi_node node = *hmi_node_at(s->graph, f.e);
    if (node.op == HMI_POWI) {
        double power = hmi_constant_of(s->graph, node.b)->value * f.power;
        if (power > INT32_MAX || power < -INT32_MAX)
            return false;
        f = (hmi_display_factor){node.a, (int32_t)power};
    }
    hmi_expr base = depth < 0 ? f.e : tidy(s, f.e, depth + 1);
    return base != HMI_NONE && times_factor(p, base, f.power);
}

static bool take_apart(hmi_normal *s, hmi_expr e, int depth, product *p)
{
    hmi_display_factor stack[MOST_FACTORS + 4];
    size_t count = 1;
    stack[0] = (hmi_display_factor){e, 1};
    *p = (product){.number = hmi_coefficient_one};
    while (count) {
        hmi_display_factor f = stack[--count];
        if (count > MOST_FACTORS)
            return false;
        if (open_product(s, f, p, stack, &count) ||
            (hmi_is_const(s->graph, f.e) && times_number(s, p, f.e, f.power)))
            continue;
        if (!take_factor(s, f, depth, p))
            return false;
    }
    hmi_display_sort_factors(s->graph, p->factors, p->count);
    return hmi_normal_forgive(s);
}

/* ---- putting together ---- */

static hmi_expr multiply(hmi_normal *s, hmi_expr a, hmi_expr b)
{
    return a == HMI_NONE ? b : hmi_intern(s->graph, HMI_MUL, a, b, 0);
}

/* The factors on one side of the line; HMI_NONE where there are none. */
static hmi_expr side(hmi_normal *s, const product *p, double number, bool above)
{
    hmi_expr e = number != 1 ? hmi_number(s->graph, number) : HMI_NONE;
    for (size_t i = 0; i < p->count; i++) {
        int32_t power = above ? p->factors[i].power : -p->factors[i].power;
        if (power < 1)
            continue;
        hmi_expr factor = p->factors[i].e;
        if (power > 1)
            factor = hmi_intern(s->graph, HMI_POWI, factor, hmi_number(s->graph, power), 0);
        e = multiply(s, e, factor);
    }
    return e;
}

/* Without its sign. */
static hmi_expr put_together(hmi_normal *s, const product *p)
{
    double over, under;
    if (p->count == 0 && !p->number.decimal)
        return hmi_ratio(s->graph, p->number.n < 0 ? -p->number.n : p->number.n, p->number.d);
    hmi_coefficient_shown(p->number, &over, &under);
    hmi_expr above = side(s, p, over, true), below = side(s, p, under, false);
    if (above == HMI_NONE)
        above = s->graph->one;
    return below == HMI_NONE ? above : hmi_intern(s->graph, HMI_DIV, above, below, 0);
}

static hmi_expr tidy_product(hmi_normal *s, hmi_expr e, int depth)
{
    product *p = hmi_normal_alloc(s, sizeof *p);
    if (!p || !take_apart(s, e, depth, p))
        return e;
    bool negative = p->negative != (p->number.n < 0);
    hmi_expr result = put_together(s, p);
    return negative ? hmi_intern(s->graph, HMI_NEG, result, 0, 0) : result;
}

/* ---- sums ---- */

typedef struct term {
    product *product; /* NULL: not taken apart, stays behind the others */
    hmi_expr e;       /* without its sign */
    bool negative;
} term;

static bool before(const hmi_normal *s, const term *a, const term *b)
{
    if (!a->product || !b->product)
        return a->product && !b->product;
    return hmi_display_compare_terms(s->graph, a->product->factors, a->product->count,
                                     b->product->factors, b->product->count) < 0;
}

static void sort(const hmi_normal *s, term *terms, size_t count)
{
    for (size_t i = 1; i < count && count <= MOST_SORTED; i++) {
        term moved = terms[i];
        size_t k = i;
        for (; k > 0 && before(s, &moved, &terms[k - 1]); k--)
            terms[k] = terms[k - 1];
        terms[k] = moved;
    }
}

static term tidy_term(hmi_normal *s, hmi_expr e, bool negative, int depth)
{
    hmi_expr whole = tidy(s, e, depth + 1);
    term t = {hmi_normal_alloc(s, sizeof *t.product), whole, negative};
    if (!t.product || whole == HMI_NONE || !take_apart(s, whole, -1, t.product)) {
        t.product = NULL;
        return t;
    }
    t.negative = negative != (t.product->negative != (t.product->number.n < 0));
    t.e = put_together(s, t.product);
    return t;
}

/* The terms of a sum, at most HMI_MOST_TERMS; 0 where there are more. */
static size_t collect(hmi_normal *s, hmi_expr e, int depth, term *terms)
{
    struct {
        hmi_expr e;
        bool negative;
    } stack[HMI_MOST_TERMS];
    size_t waiting = 1, count = 0;
    stack[0].e = e;
    stack[0].negative = false;
    while (waiting) {
        hmi_expr top = stack[--waiting].e;
        bool negative = stack[waiting].negative;
        const hmi_node node = *hmi_node_at(s->graph, top);
        if (waiting + 2 > HMI_MOST_TERMS || count == HMI_MOST_TERMS)
            return 0;
        if (hmi_is_sum(s->graph, top)) {
            stack[waiting].e = node.b;
            stack[waiting++].negative = negative != (node.op == HMI_SUB);
            stack[waiting].e = node.a;
            stack[waiting++].negative = negative;
        } else {
            terms[count++] = tidy_term(s, top, negative, depth);
        }
    }
    return count;
}

static bool are_alike(const term *a, const term *b)
{
    if (!a->product || !b->product || a->product->count != b->product->count)
        return false;
    for (size_t i = 0; i < a->product->count; i++)
        if (a->product->factors[i].e != b->product->factors[i].e ||
            a->product->factors[i].power != b->product->factors[i].power)
            return false;
    return true;
}

static hmi_coefficient signed_number(const term *t)
{
    hmi_coefficient c = t->product->number;
    return (c.n < 0) != t->negative ? hmi_coefficient_negate(c) : c;
}

/* b becomes part of a; false where their numbers cannot be added exactly. */
static bool absorb(hmi_normal *s, term *a, const term *b)
{
    hmi_coefficient sum = hmi_coefficient_add(s, signed_number(a), signed_number(b));
    if (!hmi_normal_forgive(s))
        return false;
    a->negative = sum.n < 0;
    a->product->number = a->negative ? hmi_coefficient_negate(sum) : sum;
    a->product->negative = false;
    a->e = sum.n ? put_together(s, a->product) : s->graph->zero;
    return true;
}

/* Adds like terms, which are neighbours once the terms are sorted: 2 x^2 - x^2 is x^2. Returns how many
 * terms are left. */
static size_t merge(hmi_normal *s, term *terms, size_t count)
{
    size_t kept = 0;
    for (size_t i = 0; i < count; i++) {
        if (kept && are_alike(&terms[kept - 1], &terms[i]) &&
            absorb(s, &terms[kept - 1], &terms[i]))
            kept -= terms[kept - 1].e == s->graph->zero;
        else
            terms[kept++] = terms[i];
    }
    return kept;
}

static hmi_expr tidy_sum(hmi_normal *s, hmi_expr e, int depth)
{
    term *terms = hmi_normal_alloc(s, HMI_MOST_TERMS * sizeof *terms);
    size_t count = terms ? collect(s, e, depth, terms) : 0;
    if (count == 0)
        return e;
    sort(s, terms, count);
    count = merge(s, terms, count);
    if (count == 0)
        return s->graph->zero;
    size_t first = 0; /* a sum begins with a positive term where it has one */
    while (first + 1 < count && terms[first].negative)
        first++;
    if (terms[first].negative)
        first = 0;
    hmi_expr sum = terms[first].negative ? hmi_intern(s->graph, HMI_NEG, terms[first].e, 0, 0)
                                         : terms[first].e;
    for (size_t i = 0; i < count; i++)
        if (i != first)
            sum = hmi_intern(s->graph, terms[i].negative ? HMI_SUB : HMI_ADD, sum, terms[i].e, 0);
    return sum;
}

static hmi_expr tidy_function(hmi_normal *s, hmi_expr e, int depth)
{
    hmi_op op = hmi_op_of(s->graph, e);
    hmi_expr operand[3] = {0, 0, 0};
    for (int k = 0; k < hmi_op_arity(op); k++)
        operand[k] = tidy(s, hmi_operand(s->graph, e, k), depth + 1);
    return hmi_intern(s->graph, op, operand[0], operand[1], operand[2]);
}

static hmi_expr tidy(hmi_normal *s, hmi_expr e, int depth)
{
    if (e == HMI_NONE || depth > HMI_NORMAL_MOST_DEPTH || hmi_op_arity(hmi_op_of(s->graph, e)) == 0)
        return e;
    const hmi_normal_entry *known = hmi_normal_entry_of(s, e);
    if (!known || known->tidy != HMI_NONE)
        return known ? known->tidy : HMI_NONE;
    hmi_expr result = hmi_is_sum(s->graph, e) ? tidy_sum(s, e, depth)
                      : is_product(s, e)      ? tidy_product(s, e, depth)
                                              : tidy_function(s, e, depth);
    hmi_normal_entry *record = hmi_normal_entry_of(s, e);
    return record ? record->tidy = result : HMI_NONE;
}

hmi_expr hmi_normal_tidy(hmi_normal *s, hmi_expr e)
{
    hmi_expr result = tidy(s, e, 0);
    return hmi_normal_status(s) == HM_OK ? result : HMI_NONE;
}

hmi_expr hmi_normal_form(hmi_normal *s, hmi_expr e)
{
    if (e == HMI_NONE || !hmi_normal_begin(s) || !hmi_normal_convert(s, e))
        return HMI_NONE;
    return hmi_normal_tidy(s, hmi_normal_best(s, e, 0));
}

bool hmi_normal_relate(hmi_normal *s, hmi_expr symbol, hmi_expr square)
{
    if (!hmi_normal_begin(s) || !hmi_normal_convert(s, square))
        return false;
    const hmi_normal_entry *record = hmi_normal_entry_of(s, square);
    const hmi_fraction *value = record ? record->fraction : NULL;
    uint32_t atom = hmi_atom_of(s, symbol);
    if (!value || value->divisors.count || atom == UINT32_MAX)
        return false;
    s->atoms.data[atom].square = value->numerator;
    return true;
}
