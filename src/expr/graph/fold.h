/* What the constructors of the DAG (simplify.c) share: looking at operands, arithmetic of constants. */
#ifndef HMI_EXPR_GRAPH_FOLD_H
#define HMI_EXPR_GRAPH_FOLD_H

#include "expr/graph/graph.h"

/* Both operands constant: exact for ratios of small whole numbers. A result that is not finite stays an
 * operation, to be met (and reported) where it is evaluated. */
hmi_expr hmi_fold(hmi_graph *g, hmi_op op, hmi_expr a, hmi_expr b);
/* |b| where b is -c*x or -x or a negative number, so that a + b reads a - |b|; else HMI_NONE (simplify.c). */
hmi_expr hmi_without_minus(hmi_graph *g, hmi_expr b);

static inline double value_of(const hmi_graph *g, hmi_expr e)
{
    return hmi_constant_of(g, e)->value;
}

static inline bool is_value(const hmi_graph *g, hmi_expr e, double value)
{
    return hmi_is_const(g, e) && value_of(g, e) == value;
}

static inline bool is_whole(const hmi_graph *g, hmi_expr e)
{
    return hmi_is_const(g, e) && hmi_constant_of(g, e)->denominator == 1;
}

static inline bool both_const(const hmi_graph *g, hmi_expr a, hmi_expr b)
{
    return hmi_is_const(g, a) && hmi_is_const(g, b);
}

/* e = coefficient * rest; the coefficient is 1 where none is written. */
static inline hmi_expr split_coefficient(const hmi_graph *g, hmi_expr e, hmi_expr *rest)
{
    const hmi_node *node = hmi_node_at(g, e);
    *rest = e;
    if (node->op == HMI_MUL && hmi_is_const(g, node->a)) {
        *rest = node->b;
        return node->a;
    }
    if (node->op == HMI_NEG) {
        *rest = node->a;
        return g->minus_one;
    }
    return g->one;
}

static inline hmi_expr intern2(hmi_graph *g, hmi_op op, hmi_expr a, hmi_expr b)
{
    return hmi_intern(g, op, a, b, 0);
}

static inline bool is_op(const hmi_graph *g, hmi_expr e, hmi_op op)
{
    return g->nodes.data[e].op == op;
}

static inline bool bad2(const hmi_graph *g, hmi_expr a, hmi_expr b)
{
    return g->status != HM_OK || a == HMI_NONE || b == HMI_NONE;
}

#endif
