/* The expression DAG: storage, and finding an equal node again.
 *
 * Leaves are found by hash in a table of their own, which is small. An operation is filed under its
 * anchor, the latest of its operands that is not a number: it stands in the list of what has this
 * anchor. The anchor was made or looked at just before, so that its list is at hand, where one large
 * table would be a wait for memory at every look. Where a list grows beyond FEW it is dissolved:
 * what has such an anchor is found by hash, and so is what is made of numbers alone.
 */
#include "expr/graph/graph.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { FEW = 8 };
#define DISSOLVED HMI_NONE

/* ---- storage ---- */

hm_status hmi_graph_init(hmi_graph *graph, const hm_allocator *allocator)
{
    *graph = (hmi_graph){.allocator = allocator, .status = HM_OK};
    hmi_hash_init(&graph->leaves, allocator);
    hmi_hash_init(&graph->others, allocator);
    graph->zero = hmi_number(graph, 0);
    graph->one = hmi_number(graph, 1);
    graph->two = hmi_number(graph, 2);
    graph->minus_one = hmi_number(graph, -1);
    graph->half = hmi_ratio(graph, 1, 2);
    return graph->status;
}

void hmi_graph_release(hmi_graph *graph)
{
    if (!graph->allocator)
        return;
    hmi_array_release(graph->allocator, &graph->nodes);
    hmi_array_release(graph->allocator, &graph->links);
    hmi_array_release(graph->allocator, &graph->constants);
    hmi_hash_release(&graph->leaves);
    hmi_hash_release(&graph->others);
}

hm_status hmi_graph_status(const hmi_graph *graph)
{
    return graph->status;
}

static hmi_expr fail(hmi_graph *graph, hm_status status)
{
    if (graph->status == HM_OK)
        graph->status = status;
    return HMI_NONE;
}

static hmi_expr append(hmi_graph *graph, const hmi_node *node)
{
    if (graph->nodes.count >= HMI_MOST_NODES)
        return fail(graph, HM_ERR_LIMIT);
    if (!hmi_array_reserve(graph->allocator, &graph->nodes, 1) ||
        !hmi_array_push(graph->allocator, &graph->links, (hmi_graph_link){0}))
        return fail(graph, HM_ERR_NOMEM);
    graph->nodes.data[graph->nodes.count] = *node;
    return (hmi_expr)graph->nodes.count++;
}

static hmi_expr append_to(hmi_graph *graph, hmi_hash *table, uint32_t hash, const hmi_node *node)
{
    hmi_expr e = append(graph, node);
    if (e != HMI_NONE && !hmi_hash_add(table, hash, e))
        return fail(graph, HM_ERR_NOMEM);
    return e;
}

/* ---- operations ---- */

static bool commutes(uint8_t op)
{
    const uint64_t commuting = UINT64_C(1) << HMI_ADD | UINT64_C(1) << HMI_MUL |
                               UINT64_C(1) << HMI_MIN | UINT64_C(1) << HMI_MAX |
                               UINT64_C(1) << HMI_HYPOT | UINT64_C(1) << HMI_EQ |
                               UINT64_C(1) << HMI_AND | UINT64_C(1) << HMI_OR;
    _Static_assert(HMI_OP_COUNT <= 64, "one bit per operation");
    return commuting >> op & 1;
}

/* Not for constants, which are found by value. */
static uint32_t hash_node(const hmi_node *node)
{
    uint64_t a = node->a, b = node->b;
    if (commutes(node->op) && a > b) {
        a = node->b;
        b = node->a;
    }
    return hmi_hash_fold(
        hmi_hash_mix(hmi_hash_mix(0, a << 32 | b), (uint64_t)node->c << 8 | node->op));
}

static bool same_node(const hmi_node *x, const hmi_node *y)
{
    if (x->op != y->op || x->c != y->c)
        return false;
    if (x->a == y->a && x->b == y->b)
        return true;
    return x->a == y->b && x->b == y->a && commutes(x->op);
}

static bool same_node_by_number(const void *wanted, uint32_t number, const void *nodes)
{
    return same_node((const hmi_node *)nodes + number, wanted);
}

/* Symbols, and operations that are in no list. */
static hmi_expr intern_by_hash(hmi_graph *graph, hmi_hash *table, const hmi_node *node)
{
    uint32_t hash = hash_node(node);
    hmi_expr e = hmi_hash_find(table, hash, same_node_by_number, node, graph->nodes.data);
    return e != HMI_HASH_NONE ? e : append_to(graph, table, hash, node);
}

/* The list of an anchor grows long: what is in it is found by hash from now on. */
static bool dissolve_list(hmi_graph *graph, hmi_expr anchor)
{
    hmi_expr e = graph->links.data[anchor].first;
    graph->links.data[anchor].first = DISSOLVED;
    for (; e; e = graph->links.data[e].next)
        if (!hmi_hash_add(&graph->others, hash_node(&graph->nodes.data[e]), e))
            return false;
    return true;
}

static hmi_expr intern_by_anchor(hmi_graph *graph, hmi_expr anchor, const hmi_node *node)
{
    int length = 0;
    hmi_expr first = graph->links.data[anchor].first;
    if (first == DISSOLVED)
        return intern_by_hash(graph, &graph->others, node);
    for (hmi_expr e = first; e; e = graph->links.data[e].next, length++)
        if (same_node(&graph->nodes.data[e], node))
            return e;
    if (length >= FEW)
        return dissolve_list(graph, anchor) ? intern_by_hash(graph, &graph->others, node)
                                            : fail(graph, HM_ERR_NOMEM);
    hmi_expr e = append(graph, node);
    if (e == HMI_NONE)
        return HMI_NONE;
    graph->links.data[e].next = first;
    graph->links.data[anchor].first = e;
    return e;
}

/* Notes an operand: what it depends on, and whether it is the anchor; 0, which is a number, is none. */
static void note_operand(const hmi_graph *graph, hmi_expr operand, hmi_node *node, hmi_expr *anchor)
{
    const hmi_node *known = &graph->nodes.data[operand];
    node->deps |= known->deps;
    if (known->op > HMI_CONST && operand > *anchor)
        *anchor = operand;
}

hmi_expr hmi_intern(hmi_graph *graph, hmi_op op, hmi_expr a, hmi_expr b, hmi_expr c)
{
    int arity = hmi_op_arity(op);
    hmi_node node = {.op = (uint8_t)op, .a = a, .b = arity > 1 ? b : 0, .c = arity > 2 ? c : 0};
    if (graph->status != HM_OK || a == HMI_NONE || node.b == HMI_NONE || node.c == HMI_NONE)
        return HMI_NONE;
    hmi_expr anchor = 0;
    note_operand(graph, a, &node, &anchor);
    if (arity > 1)
        note_operand(graph, b, &node, &anchor);
    if (arity > 2)
        note_operand(graph, c, &node, &anchor);
    return anchor ? intern_by_anchor(graph, anchor, &node)
                  : intern_by_hash(graph, &graph->others, &node);
}

/* ---- leaves ---- */

hmi_expr hmi_symbol(hmi_graph *graph, hmi_symbol_kind kind, uint32_t index)
{
    if (graph->status != HM_OK)
        return HMI_NONE;
    const hmi_node node = {.op = HMI_SYMBOL, .deps = HMI_DEP(kind), .a = kind, .b = index};
    return intern_by_hash(graph, &graph->leaves, &node);
}

static uint64_t bits_of(double value)
{
    uint64_t bits;
    memcpy(&bits, &value, sizeof bits);
    return bits;
}

/* A ratio and a decimal of the same value are two constants: they are shown differently. */
static bool same_constant(const void *wanted, uint32_t number, const void *of_graph)
{
    const hmi_graph *graph = of_graph;
    if (!hmi_is_const(graph, number))
        return false;
    const hmi_constant *x = wanted, *y = hmi_constant_of(graph, number);
    return bits_of(x->value) == bits_of(y->value) && (x->denominator == 0) == (y->denominator == 0);
}

static uint32_t hash_constant(const hmi_constant *constant)
{
    return hmi_hash_fold(hmi_hash_mix(bits_of(constant->value), constant->denominator == 0));
}

static hmi_expr intern_constant(hmi_graph *graph, hmi_constant constant)
{
    if (graph->status != HM_OK)
        return HMI_NONE;
    uint32_t hash = hash_constant(&constant);
    hmi_expr e = hmi_hash_find(&graph->leaves, hash, same_constant, &constant, graph);
    if (e != HMI_HASH_NONE)
        return e;
    if (!hmi_array_push(graph->allocator, &graph->constants, constant))
        return fail(graph, HM_ERR_NOMEM);
    const hmi_node node = {.op = HMI_CONST, .a = (uint32_t)graph->constants.count - 1};
    return append_to(graph, &graph->leaves, hash, &node);
}

int64_t hmi_gcd(int64_t a, int64_t b)
{
    while (b) {
        int64_t r = a % b;
        a = b;
        b = r;
    }
    return a < 0 ? -a : a;
}

hmi_expr hmi_ratio(hmi_graph *graph, int64_t numerator, int64_t denominator)
{
    if (denominator == 1)
        return hmi_number(graph, (double)numerator);
    assert(denominator != 0);
    int64_t divisor = hmi_gcd(numerator, denominator);
    if (denominator < 0)
        divisor = -divisor;
    numerator /= divisor;
    denominator /= divisor;
    hmi_constant constant = {.value = (double)numerator / (double)denominator};
    if (llabs(numerator) <= INT32_MAX && denominator <= INT32_MAX) {
        constant.numerator = (int32_t)numerator;
        constant.denominator = (int32_t)denominator;
    }
    return intern_constant(graph, constant);
}

hmi_expr hmi_number(hmi_graph *graph, double value)
{
    if (value == floor(value) && fabs(value) <= INT32_MAX)
        return intern_constant(graph, (hmi_constant){value + 0.0, (int32_t)value, 1});
    return intern_constant(graph, (hmi_constant){value, 0, 0});
}

/* ---- finding again ---- */

hmi_expr hmi_graph_find(const hmi_graph *graph, hmi_expr wanted)
{
    hmi_node node = graph->nodes.data[wanted];
    if (node.op == HMI_CONST) {
        const hmi_constant *constant = hmi_constant_of(graph, wanted);
        return hmi_hash_find(&graph->leaves, hash_constant(constant), same_constant, constant,
                             graph);
    }
    hmi_expr anchor = 0;
    for (int k = 0; k < hmi_op_arity((hmi_op)node.op); k++)
        note_operand(graph, hmi_operand(graph, wanted, k), &node, &anchor);
    hmi_expr e = graph->links.data[anchor].first;
    if (!anchor || e == DISSOLVED)
        return hmi_hash_find(node.op == HMI_SYMBOL ? &graph->leaves : &graph->others,
                             hash_node(&node), same_node_by_number, &node, graph->nodes.data);
    for (int length = 0; e && e < graph->nodes.count && length <= FEW; length++) {
        if (same_node(&graph->nodes.data[e], &node))
            return e;
        e = graph->links.data[e].next;
    }
    return HMI_NONE;
}
