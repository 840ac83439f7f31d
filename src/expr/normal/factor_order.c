/* The order in which factors, and terms of sums, are written on paper. */
#include "expr/normal/normal.h"

enum { MOST_COMPARED_DEPTH = 6, MOST_SORTED = 1000 };

/* Kinds as they follow each other in a product on paper. */
static int rank_of_kind(uint32_t kind)
{
    static const int8_t rank[HMI_SYM_KIND_COUNT] = {
        [HMI_SYM_PARAM] = 1,        [HMI_SYM_MATRIX] = 2,          [HMI_SYM_TIME] = 3,
        [HMI_SYM_COORD] = 4,        [HMI_SYM_STATE] = 5,           [HMI_SYM_INPUT] = 6,
        [HMI_SYM_VELOCITY] = 7,     [HMI_SYM_INPUT_RATE] = 8,      [HMI_SYM_ACCELERATION] = 9,
        [HMI_SYM_INPUT_RATE2] = 10, [HMI_SYM_ENERGY] = 11,         [HMI_SYM_REACTION] = 12,
        [HMI_SYM_MULTIPLIER] = 13,  [HMI_SYM_TOTAL_REACTION] = 14, [HMI_SYM_TOTAL_MULTIPLIER] = 15,
    };
    return rank[kind];
}

enum { RANK_NUMBER, RANK_SYMBOL, RANK_BRACKET, RANK_ROOT, RANK_FUNCTION };

static int rank_of(hmi_op op)
{
    switch (op) {
    case HMI_CONST:
        return RANK_NUMBER;
    case HMI_SYMBOL:
        return RANK_SYMBOL;
    case HMI_ADD:
    case HMI_SUB:
    case HMI_MUL:
    case HMI_DIV:
    case HMI_NEG:
        return RANK_BRACKET;
    case HMI_SQRT:
    case HMI_ABS:
        return RANK_ROOT;
    default:
        return RANK_FUNCTION;
    }
}

static int compare_values(double a, double b)
{
    return (a > b) - (a < b);
}

static int compare_symbols(const hmi_node *a, const hmi_node *b)
{
    int difference = rank_of_kind(a->a) - rank_of_kind(b->a);
    return difference ? difference : (a->b > b->b) - (a->b < b->b);
}

/* Strips a whole power; what is left is what the order looks at first. */
static double power_and_base(const hmi_graph *graph, hmi_expr *e)
{
    const hmi_node *node = hmi_node_at(graph, *e);
    if (node->op != HMI_POWI)
        return 1;
    *e = node->a;
    return hmi_constant_of(graph, node->b)->value;
}

/* Functions of one argument stay together: sin(x) cos(x) sin(y) cos(y). */
static int compare_within(const hmi_graph *graph, hmi_expr a, hmi_expr b, int depth)
{
    if (a == b)
        return 0;
    double p = power_and_base(graph, &a), q = power_and_base(graph, &b);
    if (a == b)
        return compare_values(q, p);
    if (depth == 0)
        return a < b ? -1 : 1;
    const hmi_node *x = hmi_node_at(graph, a), *y = hmi_node_at(graph, b);
    int difference = rank_of((hmi_op)x->op) - rank_of((hmi_op)y->op);
    if (difference)
        return difference;
    if (x->op == HMI_CONST)
        return compare_values(hmi_constant_of(graph, a)->value, hmi_constant_of(graph, b)->value);
    if (x->op == HMI_SYMBOL)
        return compare_symbols(x, y);
    difference = compare_within(graph, x->a, y->a, depth - 1);
    if (difference == 0)
        difference = (int)x->op - (int)y->op;
    if (difference == 0 && hmi_op_arity((hmi_op)x->op) > 1)
        difference = compare_within(graph, x->b, y->b, depth - 1);
    return difference ? difference : (a < b ? -1 : 1);
}

/* < 0 when a is written before b. */
static int compare_factors(const hmi_graph *graph, hmi_expr a, hmi_expr b)
{
    return compare_within(graph, a, b, MOST_COMPARED_DEPTH);
}

/* ---- terms of a sum ---- */

/* Numbers and parameters do not count: I + m s^2 comes before k x, and k x before k x^3. */
static int64_t degree_of(const hmi_graph *graph, const hmi_display_factor *factors, size_t count)
{
    const uint16_t constant = HMI_DEP(HMI_SYM_PARAM) | HMI_DEP(HMI_SYM_MATRIX);
    int64_t degree = 0;
    for (size_t i = 0; i < count; i++)
        if (factors[i].power > 0 && (hmi_deps(graph, factors[i].e) & ~constant))
            degree += factors[i].power;
    return degree;
}

int hmi_display_compare_terms(const hmi_graph *graph, const hmi_display_factor *a, size_t a_count,
                              const hmi_display_factor *b, size_t b_count)
{
    int64_t m = degree_of(graph, a, a_count), n = degree_of(graph, b, b_count);
    if (m != n)
        return m < n ? -1 : 1;
    for (size_t i = 0; i < a_count && i < b_count; i++) {
        int order = compare_factors(graph, a[i].e, b[i].e);
        if (order)
            return order;
        if (a[i].power != b[i].power)
            return a[i].power > b[i].power ? -1 : 1;
    }
    return (a_count > b_count) - (a_count < b_count);
}

/* Insertion: products are short and mostly in order already; a very long one stays as it is. */
void hmi_display_sort_factors(const hmi_graph *graph, hmi_display_factor *factors, size_t count)
{
    if (count > MOST_SORTED)
        return;
    for (size_t i = 1; i < count; i++) {
        hmi_display_factor factor = factors[i];
        size_t k = i;
        for (; k > 0; k--) {
            bool after = (factors[k - 1].power > 0) == (factor.power > 0)
                             ? compare_factors(graph, factors[k - 1].e, factor.e) > 0
                             : factor.power > 0;
            if (!after)
                break;
            factors[k] = factors[k - 1];
        }
        factors[k] = factor;
    }
}
