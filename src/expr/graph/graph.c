/* The table of operations, walks over the DAG, and values of expressions of parameters. */
#include "expr/graph/graph.h"
#include "expr/graph/math.h"
#include "expr/graph/table.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- the table of operations ---- */

const hmi_op_row hmi_op_table[HMI_OP_COUNT] = {
    [HMI_CONST] = {0, "constant"},
    [HMI_SYMBOL] = {0, "symbol"},
#define OP(name, arity, text, value, ddx, ddy) [HMI_##name] = {arity, text},
#include "expr/graph/ops.def"
#undef OP
};

double hmi_powi(double x, double n)
{
    if (fabs(n) > 64)
        return hmi_math_pow(x, n);
    int exponent = abs((int)n);
    double result = 1, square = x;
    for (; exponent; exponent >>= 1, square *= square)
        if (exponent & 1)
            result *= square;
    return n < 0 ? 1 / result : result;
}

double hmi_op_value(hmi_op op, double x, double y, double z)
{
    (void)z;
    switch (op) {
#define OP(name, arity, text, value, ddx, ddy)                                                     \
    case HMI_##name:                                                                               \
        return value;
#include "expr/graph/ops.def"
#undef OP
    default:
        return NAN;
    }
}

/* ---- traversal ---- */

void hmi_walk_init(hmi_walk *walk, const hm_allocator *allocator)
{
    *walk = (hmi_walk){.allocator = allocator};
}

void hmi_walk_release(hmi_walk *walk)
{
    if (!walk->allocator)
        return;
    hmi_array_release(walk->allocator, &walk->order);
    hmi_array_release(walk->allocator, &walk->stack);
    hmi_array_release(walk->allocator, &walk->mark);
}

hm_status hmi_walk_begin(hmi_walk *walk, const hmi_graph *graph)
{
    size_t missing = graph->nodes.count - walk->mark.count;
    if (graph->nodes.count > walk->mark.count) {
        if (!hmi_array_reserve(walk->allocator, &walk->mark, missing))
            return HM_ERR_NOMEM;
        memset(walk->mark.data + walk->mark.count, 0, missing * sizeof *walk->mark.data);
        walk->mark.count = graph->nodes.count;
    }
    if (walk->last > UINT32_MAX - HMI_MOST_NODES) {
        memset(walk->mark.data, 0, walk->mark.count * sizeof *walk->mark.data);
        walk->last = 0;
    }
    walk->base = walk->last;
    walk->order.count = 0;
    return HM_OK;
}

static bool has_reached(const hmi_walk *walk, hmi_expr e)
{
    return walk->mark.data[e] > walk->base;
}

/* Its operands have been reached: the node takes its place in the order. */
static void finish_node(hmi_walk *walk, hmi_expr e)
{
    walk->mark.data[e] = ++walk->last;
    walk->order.data[walk->order.count++] = e;
}

/* The first operand that the walk has to go through before e, or HMI_NONE; leaves are taken on the way
 * to it. */
static hmi_expr next_below(hmi_walk *walk, const hmi_graph *graph, hmi_expr e, uint16_t deps_mask)
{
    const hmi_node *nodes = graph->nodes.data;
    int arity = hmi_op_arity((hmi_op)nodes[e].op);
    for (int k = 0; k < arity; k++) {
        hmi_expr operand = hmi_operand(graph, e, k);
        if (has_reached(walk, operand) ||
            (deps_mask != 0xFFFF && !(nodes[operand].deps & deps_mask)))
            continue;
        if (nodes[operand].op > HMI_SYMBOL)
            return operand;
        finish_node(walk, operand);
    }
    return HMI_NONE;
}

/* The stack holds the way from the root to where the walk is. */
hm_status hmi_walk_add(hmi_walk *walk, const hmi_graph *graph, hmi_expr root, uint16_t deps_mask)
{
    walk->stack.count = 0;
    if (root == HMI_NONE || has_reached(walk, root) ||
        (deps_mask != 0xFFFF && !(hmi_deps(graph, root) & deps_mask)))
        return HM_OK;
    if (!hmi_array_push(walk->allocator, &walk->stack, root))
        return HM_ERR_NOMEM;
    while (walk->stack.count) {
        if (!hmi_array_reserve(walk->allocator, &walk->stack, 1) ||
            !hmi_array_reserve(walk->allocator, &walk->order, 4)) /* a node, its operands */
            return HM_ERR_NOMEM;
        hmi_expr e = walk->stack.data[walk->stack.count - 1];
        hmi_expr below = next_below(walk, graph, e, deps_mask);
        if (below != HMI_NONE) {
            walk->stack.data[walk->stack.count++] = below;
        } else {
            finish_node(walk, e);
            walk->stack.count--;
        }
    }
    return HM_OK;
}

/* Sizes and indices are short expressions of parameters, so plain recursion with a budget mostly
 * does; what it does not reach is evaluated with a stack and a memo. */
static bool evaluate_shallow(const hmi_graph *graph, hmi_expr e, const double *params, int *budget,
                             double *value)
{
    if (--*budget < 0)
        return false;
    const hmi_node *node = hmi_node_at(graph, e);
    if (node->op == HMI_CONST) {
        *value = hmi_constant_of(graph, e)->value;
        return true;
    }
    if (node->op == HMI_SYMBOL) {
        *value = node->a == HMI_SYM_PARAM ? params[node->b] : NAN;
        return true;
    }
    double operand[3] = {0};
    for (int k = 0; k < hmi_op_arity((hmi_op)node->op); k++)
        if (!evaluate_shallow(graph, hmi_operand(graph, e, k), params, budget, &operand[k]))
            return false;
    *value = hmi_op_value((hmi_op)node->op, operand[0], operand[1], operand[2]);
    return true;
}

void hmi_constants_init(hmi_constants *constants, const hm_allocator *allocator)
{
    *constants = (hmi_constants){.allocator = allocator};
}

void hmi_constants_release(hmi_constants *constants)
{
    if (!constants->allocator)
        return;
    hmi_array_release(constants->allocator, &constants->values);
    hmi_array_release(constants->allocator, &constants->known);
    hmi_array_release(constants->allocator, &constants->stack);
}

static bool cover(hmi_constants *c, hmi_expr e)
{
    size_t old = c->known.count, wanted = (size_t)e + 1;
    if (wanted <= old)
        return true;
    if (!hmi_array_reserve(c->allocator, &c->known, wanted - old) ||
        !hmi_array_reserve(c->allocator, &c->values, wanted - old))
        return false;
    memset(c->known.data + old, 0, wanted - old);
    c->known.count = c->values.count = wanted;
    return true;
}

/* Pushes the operands whose values are not known; true when there are none. */
static bool operands_known(hmi_constants *c, const hmi_graph *graph, hmi_expr e)
{
    bool ready = true;
    for (int k = 0; k < hmi_op_arity(hmi_op_of(graph, e)); k++) {
        hmi_expr operand = hmi_operand(graph, e, k);
        if (!c->known.data[operand]) {
            c->stack.data[c->stack.count++] = operand;
            ready = false;
        }
    }
    return ready;
}

static hm_status evaluate_deep(hmi_constants *c, const hmi_graph *graph, hmi_expr e,
                               const double *params, double *value)
{
    c->stack.count = 0;
    if (!cover(c, e) || !hmi_array_push(c->allocator, &c->stack, e))
        return HM_ERR_NOMEM;
    while (c->stack.count) {
        hmi_expr top = c->stack.data[c->stack.count - 1];
        if (!hmi_array_reserve(c->allocator, &c->stack, 3))
            return HM_ERR_NOMEM;
        if (!c->known.data[top] && !operands_known(c, graph, top))
            continue;
        c->stack.count--;
        if (c->known.data[top])
            continue;
        const hmi_node *node = hmi_node_at(graph, top);
        int arity = hmi_op_arity((hmi_op)node->op), budget = 1;
        const double *v = c->values.data;
        if (arity == 0)
            evaluate_shallow(graph, top, params, &budget, &c->values.data[top]);
        else
            c->values.data[top] = hmi_op_value((hmi_op)node->op, v[node->a],
                                               arity > 1 ? v[node->b] : 0,
                                               arity > 2 ? v[node->c] : 0);
        c->known.data[top] = 1;
    }
    *value = c->values.data[e];
    return HM_OK;
}

hm_status hmi_constants_value(hmi_constants *constants, const hmi_graph *graph, hmi_expr e,
                              const double *params, double *value)
{
    int budget = 64;
    if (e == HMI_NONE)
        return HM_ERR_NOMEM;
    if (evaluate_shallow(graph, e, params, &budget, value))
        return HM_OK;
    return evaluate_deep(constants, graph, e, params, value);
}

hm_status hmi_evaluate_constant(const hmi_graph *graph, hmi_expr e, const double *params,
                                double *value)
{
    hmi_constants constants;
    hmi_constants_init(&constants, graph->allocator);
    hm_status status = hmi_constants_value(&constants, graph, e, params, value);
    hmi_constants_release(&constants);
    return status;
}
