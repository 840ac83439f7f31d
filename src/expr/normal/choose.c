/* The best form of an expression: as given, collected, or through its fraction.
 *
 * hmi_normal_best compares what display.c makes of the expanded fraction with what it makes of the
 * partly collected form, in which brackets stay and like terms are taken together.
 */
#include "expr/normal/poly.h"

enum { MOST_STACK = 256 };

/* ---- partly collected form: brackets stay, like terms are taken together ---- */

typedef struct pending {
    hmi_expr e;
    int32_t power;
    bool shown; /* already in its best form */
} pending;

/* A factor that is neither product, quotient, power nor sum. */
static const hmi_poly *plain_factor(hmi_normal *s, pending p)
{
    const hmi_normal_entry *record = p.shown ? NULL : hmi_normal_entry_of(s, p.e);
    hmi_coefficient c;
    if (hmi_is_const(s->graph, p.e) && hmi_coefficient_of(hmi_constant_of(s->graph, p.e), &c)) {
        if (c.n == 0 || p.power > HMI_MOST_POWER || p.power < -HMI_MOST_POWER)
            return NULL;
        const hmi_poly *number = hmi_poly_of_term(s, p.power < 0 ? hmi_coefficient_inverse(c) : c,
                                                  hmi_monomial_one);
        return hmi_poly_pow(s, number, (uint32_t)(p.power < 0 ? -p.power : p.power));
    }
    const hmi_fraction *f = record ? record->fraction : NULL;
    if (f && f->divisors.count == 0 && f->numerator->count == 1) {
        f = hmi_fraction_pow(s, f, p.power); /* 1/sqrt(u)^2 is 1/u, which is no term */
        return f && f->divisors.count == 0 ? f->numerator : NULL;
    }
    return hmi_poly_atom(s, hmi_atom_of(s, p.e), p.power);
}

/* Pushes the parts of a product; false where e is a factor by itself. */
static bool push_parts(const hmi_graph *g, pending p, pending *stack, size_t *count)
{
    const hmi_node *node = hmi_node_at(g, p.e);
    switch ((hmi_op)node->op) {
    case HMI_NEG:
        stack[(*count)++] = (pending){g->minus_one, p.power, true};
        stack[(*count)++] = (pending){node->a, p.power, p.shown};
        return true;
    case HMI_MUL:
    case HMI_DIV:
        stack[(*count)++] = (pending){node->a, p.power, p.shown};
        stack[(*count)++] = (pending){node->b, node->op == HMI_MUL ? p.power : -p.power, p.shown};
        return true;
    case HMI_POWI: {
        double power = hmi_constant_of(g, node->b)->value * p.power;
        if (power > HMI_MOST_POWER || power < -HMI_MOST_POWER)
            return false;
        stack[(*count)++] = (pending){node->a, (int32_t)power, p.shown};
        return true;
    }
    default:
        return false;
    }
}

/* One term: number times powers of atoms, brackets among them. NULL where that fails. */
static const hmi_poly *collected_term(hmi_normal *s, hmi_expr e, int depth)
{
    pending stack[MOST_STACK];
    size_t count = 1;
    stack[0] = (pending){e, 1, false};
    const hmi_poly *term = s->one;
    while (count && term) {
        pending p = stack[--count];
        if (count + 2 > MOST_STACK || !hmi_normal_go(s, 1))
            return NULL;
        if (push_parts(s->graph, p, stack, &count))
            continue;
        if (hmi_is_sum(s->graph, p.e) && !p.shown) {
            p.e = hmi_normal_best(s, p.e, depth + 1);
            if (p.e == HMI_NONE)
                return NULL;
            stack[count++] = (pending){p.e, p.power, true};
            continue;
        }
        term = hmi_poly_mul(s, term, plain_factor(s, p));
    }
    return term;
}

static const hmi_poly *collected_sum(hmi_normal *s, hmi_expr e, int depth)
{
    struct {
        hmi_expr e;
        int sign;
    } stack[MOST_STACK];
    size_t count = 1;
    stack[0].e = e;
    stack[0].sign = 1;
    const hmi_poly *sum = s->zero;
    while (count && sum) {
        hmi_expr top = stack[--count].e;
        int sign = stack[count].sign;
        const hmi_node node = *hmi_node_at(s->graph, top);
        if (count + 2 > MOST_STACK)
            return NULL;
        if (node.op == HMI_ADD || node.op == HMI_SUB) {
            stack[count].sign = node.op == HMI_ADD ? sign : -sign;
            stack[count++].e = node.b;
        }
        if (node.op == HMI_ADD || node.op == HMI_SUB || node.op == HMI_NEG) {
            stack[count].sign = node.op == HMI_NEG ? -sign : sign;
            stack[count++].e = node.a;
            continue;
        }
        hmi_coefficient c = {sign, 1, false};
        sum = hmi_poly_add_scaled(s, sum, collected_term(s, top, depth), c, hmi_monomial_one);
    }
    return sum;
}

/* ---- the choice ---- */

static hmi_expr shorter(hmi_normal *s, hmi_expr a, hmi_expr b)
{
    if (a == HMI_NONE || b == HMI_NONE)
        return a == HMI_NONE ? b : a;
    return hmi_normal_cost(s, b) < hmi_normal_cost(s, a) ? b : a;
}

static hmi_expr choose(hmi_normal *s, hmi_expr e, int depth)
{
    const hmi_normal_entry *record = hmi_normal_entry_of(s, e);
    if (!record || !record->converted)
        return record ? e : HMI_NONE;
    hmi_expr best = record->fraction ? hmi_fraction_display(s, record->fraction) : HMI_NONE;
    if (!hmi_normal_forgive(s))
        return s->status == HM_OK ? e : HMI_NONE;
    const hmi_poly *collected = depth < HMI_NORMAL_MOST_DEPTH ? collected_sum(s, e, depth) : NULL;
    if (collected && hmi_normal_forgive(s))
        best = shorter(s, best, hmi_fraction_display(s, hmi_fraction_of(s, collected)));
    hmi_normal_forgive(s);
    return shorter(s, best, e);
}

hmi_expr hmi_normal_best(hmi_normal *s, hmi_expr e, int depth)
{
    const hmi_normal_entry *known = hmi_normal_entry_of(s, e);
    if (!known || known->best != HMI_NONE)
        return known ? known->best : HMI_NONE;
    hmi_expr best = choose(s, e, depth);
    hmi_normal_entry *record = hmi_normal_entry_of(s, e);
    if (hmi_normal_status(s) != HM_OK || !record)
        return HMI_NONE;
    return record->best = best;
}
