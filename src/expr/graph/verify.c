/* The checks of verify.h, node by node. */
#include "expr/graph/verify.h"

#include <math.h>

/* ---- nodes ---- */

static const char *verify_constant(const hmi_graph *graph, hmi_expr e, hmi_violation *violation)
{
    const hmi_node *node = hmi_node_at(graph, e);
    if (node->a >= graph->constants.count || node->b || node->c)
        return hmi_violated(violation, "%%%u is a constant that does not exist", e);
    const hmi_constant *c = hmi_constant_of(graph, e);
    if (c->value == 0 && signbit(c->value))
        return hmi_violated(violation, "%%%u is -0", e);
    if (c->denominator == 0)
        return NULL;
    if (c->denominator < 0 || hmi_gcd(c->numerator, c->denominator) != 1)
        return hmi_violated(violation, "%%%u is %d/%d, which is not in lowest terms", e,
                            c->numerator, c->denominator);
    if (c->value != (double)c->numerator / c->denominator)
        return hmi_violated(violation, "%%%u has the value %g, but is %d/%d", e, c->value,
                            c->numerator, c->denominator);
    return NULL;
}

static const char *verify_symbol(const hmi_graph *graph, hmi_expr e, hmi_violation *violation)
{
    const hmi_node *node = hmi_node_at(graph, e);
    return node->a < HMI_SYM_KIND_COUNT && node->c == 0
               ? NULL
               : hmi_violated(violation, "%%%u is a symbol of no kind", e);
}

static const char *verify_operation(const hmi_graph *graph, hmi_expr e, hmi_violation *violation)
{
    const hmi_node *node = hmi_node_at(graph, e);
    for (int k = 0; k < 3; k++) {
        hmi_expr operand = hmi_operand(graph, e, k);
        bool used = k < hmi_op_arity((hmi_op)node->op);
        if (used ? operand >= e : operand != 0)
            return hmi_violated(violation, "operand %d of %%%u (%s) is %%%u", k + 1, e,
                                hmi_op_text((hmi_op)node->op), operand);
    }
    if (node->op != HMI_POWI)
        return NULL;
    double power = hmi_is_const(graph, node->b) ? hmi_constant_of(graph, node->b)->value : NAN;
    return power == floor(power)
               ? NULL
               : hmi_violated(violation, "%%%u is a whole power, but its exponent is not", e);
}

static uint16_t expected_deps(const hmi_graph *graph, hmi_expr e)
{
    const hmi_node *node = hmi_node_at(graph, e);
    uint16_t deps = node->op == HMI_SYMBOL ? HMI_DEP(node->a) : 0;
    for (int k = 0; k < hmi_op_arity((hmi_op)node->op); k++)
        deps |= hmi_deps(graph, hmi_operand(graph, e, k));
    return deps;
}

static const char *verify_node(const hmi_graph *graph, hmi_expr e, hmi_violation *violation)
{
    const hmi_node *node = hmi_node_at(graph, e);
    if (node->op >= HMI_OP_COUNT)
        return hmi_violated(violation, "%%%u has the operation %u, which does not exist", e,
                            node->op);
    const char *found = node->op == HMI_CONST    ? verify_constant(graph, e, violation)
                        : node->op == HMI_SYMBOL ? verify_symbol(graph, e, violation)
                                                 : verify_operation(graph, e, violation);
    if (found)
        return found;
    if (node->deps != expected_deps(graph, e))
        return hmi_violated(violation, "%%%u says that it depends on %#x, its operands on %#x", e,
                            node->deps, expected_deps(graph, e));
    hmi_expr same = hmi_graph_find(graph, e);
    if (same == HMI_NONE)
        return hmi_violated(violation, "%%%u is not found again", e);
    return same == e ? NULL : hmi_violated(violation, "%%%u and %%%u are equal", same, e);
}

/* ---- the graph ---- */

static const char *verify_table(const hmi_graph *graph, const hmi_hash *table,
                                hmi_violation *violation)
{
    size_t taken = 0;
    for (size_t i = 0; i < table->size; i++) {
        taken += table->slots[i].entry != 0;
        if (table->slots[i].entry > graph->nodes.count)
            return hmi_violated(violation, "a hash table has %%%u, which does not exist",
                                table->slots[i].entry - 1);
    }
    return taken == table->count && 2 * taken <= table->size
               ? NULL
               : hmi_violated(violation, "a hash table with %zu of %zu slots taken counts %zu",
                              taken, table->size, table->count);
}

static const char *verify_number(const hmi_graph *graph, hmi_expr e, double value,
                                 hmi_violation *violation)
{
    return e < graph->nodes.count && hmi_is_const(graph, e) &&
                   hmi_constant_of(graph, e)->value == value
               ? NULL
               : hmi_violated(violation, "%%%u should be the number %g", e, value);
}

const char *hmi_graph_verify(const hmi_graph *graph, hmi_violation *violation)
{
    if (graph->status != HM_OK)
        return NULL;
    if (graph->links.count != graph->nodes.count)
        return hmi_violated(violation, "the graph has %zu nodes and %zu links", graph->nodes.count,
                            graph->links.count);
    const char *found = verify_table(graph, &graph->leaves, violation);
    if (!found)
        found = verify_table(graph, &graph->others, violation);
    for (hmi_expr e = 0; !found && e < graph->nodes.count; e++)
        found = verify_node(graph, e, violation);
    const struct {
        hmi_expr e;
        double value;
    } numbers[] = {{graph->zero, 0},
                   {graph->one, 1},
                   {graph->two, 2},
                   {graph->minus_one, -1},
                   {graph->half, 0.5}};
    for (size_t i = 0; !found && i < sizeof numbers / sizeof *numbers; i++)
        found = verify_number(graph, numbers[i].e, numbers[i].value, violation);
    return found;
}

/* ---- what else is made of a graph ---- */

const char *hmi_graph_verify_symbols(const hmi_graph *graph, const hmi_symbol_counts *counts,
                                     hmi_violation *violation)
{
    for (hmi_expr e = 0; e < graph->nodes.count; e++) {
        const hmi_node *node = hmi_node_at(graph, e);
        if (node->op == HMI_SYMBOL && node->b >= counts->of[node->a])
            return hmi_violated(violation, "%%%u is number %u of %zu symbols of kind %u", e,
                                node->b, counts->of[node->a], node->a);
    }
    return NULL;
}

const char *hmi_graph_verify_handles(const hmi_graph *graph, const hmi_expr *list, size_t count,
                                     bool optional, const char *what, hmi_violation *violation)
{
    for (size_t i = 0; i < count; i++)
        if (list[i] >= graph->nodes.count && !(optional && list[i] == HMI_NONE))
            return hmi_violated(violation, "%s %zu is %%%u, which does not exist", what, i,
                                list[i]);
    return NULL;
}
