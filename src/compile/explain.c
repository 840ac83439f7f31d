/* What is not finite at a state? Evaluates the graph node by node and names the smallest expression
 * whose operands are finite and which itself is not: "division by zero: x". Not on any fast path.
 */
#include "compile/system.h"

#include <math.h>

static double leaf_value(const hmi_graph *g, hmi_expr e, const hmi_tape_values *values)
{
    const hmi_node *node = hmi_node_at(g, e);
    if (node->op == HMI_CONST)
        return hmi_constant_of(g, e)->value;
    const double *from = values->by_kind[node->a];
    return from ? from[node->b] : 0;
}

/* Values of every node; they are in topological order. */
static double *evaluate_all(const hm_system *system, const hmi_tape_values *values)
{
    const hmi_graph *g = &system->derived.graph;
    double *value = hmi_alloc(system->allocator, g->nodes.count * sizeof *value);
    for (hmi_expr e = 0; value && e < g->nodes.count; e++) {
        const hmi_node *node = hmi_node_at(g, e);
        int arity = hmi_op_arity((hmi_op)node->op);
        if (arity == 0)
            value[e] = leaf_value(g, e, values);
        else
            value[e] = hmi_op_value((hmi_op)node->op, value[node->a],
                                    arity > 1 ? value[node->b] : 0, arity > 2 ? value[node->c] : 0);
    }
    return value;
}

static const char *reason(hmi_op op)
{
    switch (op) {
    case HMI_DIV:
        return "a division by zero";
    case HMI_SQRT:
        return "the square root of a negative number";
    case HMI_LOG:
        return "the logarithm of a number that is not positive";
    case HMI_ASIN:
    case HMI_ACOS:
        return "an inverse sine or cosine outside -1 .. 1";
    case HMI_POW:
        return "a power that is not defined";
    default:
        return "a value too large";
    }
}

/* Names of the symbols inside, at most a few, so that a person can find the place. */
static void list_symbols(const hm_system *system, hmi_expr e, hmi_text *text)
{
    const hmi_graph *g = &system->derived.graph;
    hmi_walk walk;
    int listed = 0;
    hmi_walk_init(&walk, system->allocator);
    if (hmi_walk_begin(&walk, g) == HM_OK && hmi_walk_add(&walk, g, e, 0xFFFF) == HM_OK)
        for (size_t i = 0; i < walk.order.count && listed < 4; i++) {
            const hmi_node *node = hmi_node_at(g, walk.order.data[i]);
            if (node->op != HMI_SYMBOL)
                continue;
            const char *name = hmi_model_symbol_name(system->model, (hmi_symbol_kind)node->a,
                                                     node->b);
            hmi_text_addf(text, "%s%s", listed++ ? ", " : "", name ? name : "?");
        }
    hmi_walk_release(&walk);
}

static void report(const hm_system *system, hmi_expr e)
{
    const hmi_graph *g = &system->derived.graph;
    const hmi_node *node = hmi_node_at(g, e);
    hmi_text symbols;
    hmi_text_init(&symbols, system->allocator);
    list_symbols(system, node->op == HMI_DIV ? node->b : node->a, &symbols);
    hmi_error(system->model->context, hmi_no_span, NULL,
              "the equations are not finite at this state: %s%s%s", reason((hmi_op)node->op),
              symbols.length ? ", in an expression of " : "", hmi_text_view(&symbols));
    hmi_text_release(&symbols);
}

void hmi_system_explain(const hm_system *system, const hmi_tape_values *values)
{
    const hmi_graph *g = &system->derived.graph;
    double *value = evaluate_all(system, values);
    hmi_expr culprit = HMI_NONE;
    for (hmi_expr e = 0; value && e < g->nodes.count && culprit == HMI_NONE; e++) {
        const hmi_node *node = hmi_node_at(g, e);
        int arity = hmi_op_arity((hmi_op)node->op);
        bool operands = (arity < 1 || isfinite(value[node->a])) &&
                        (arity < 2 || isfinite(value[node->b])) &&
                        (arity < 3 || isfinite(value[node->c]));
        if (arity > 0 && operands && !isfinite(value[e]))
            culprit = e;
    }
    if (culprit != HMI_NONE)
        report(system, culprit);
    else
        hmi_error(system->model->context, hmi_no_span, NULL,
                  "the equations are not finite at this state");
    hmi_free(system->allocator, value, g->nodes.count * sizeof *value);
}
