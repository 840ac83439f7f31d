/* The expression DAG: storage, interning, traversal. See graph.h; simplification is simplify.c. */
#include "expr/graph.h"
#include "expr/math.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- the table of operations ---- */

const hmi_op_row hmi_op_table[HMI_OP_COUNT] = {
    [HMI_CONST] = {0, "constant"},
    [HMI_SYMBOL] = {0, "symbol"},
#define OP(name, arity, text, value, ddx, ddy) [HMI_##name] = {arity, text},
#include "expr/ops.def"
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
#include "expr/ops.def"
#undef OP
    default:
        return NAN;
    }
}

/* ---- storage and interning ---- */

enum { FIRST_TABLE = 1024 };

hm_status hmi_graph_init(hmi_graph *graph, const hm_allocator *allocator)
{
    *graph = (hmi_graph){.allocator = allocator, .status = HM_OK};
    graph->table = hmi_alloc(allocator, FIRST_TABLE * sizeof *graph->table);
    if (!graph->table)
        return graph->status = HM_ERR_NOMEM;
    graph->table_size = FIRST_TABLE;
    memset(graph->table, 0, FIRST_TABLE * sizeof *graph->table);
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
    hmi_array_release(graph->allocator, &graph->constants);
    hmi_free(graph->allocator, graph->table, graph->table_size * sizeof *graph->table);
    graph->table = NULL;
    graph->table_size = 0;
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

static bool commutes(hmi_op op)
{
    return op == HMI_ADD || op == HMI_MUL || op == HMI_MIN || op == HMI_MAX || op == HMI_HYPOT ||
           op == HMI_EQ || op == HMI_AND || op == HMI_OR;
}

static uint64_t mix(uint64_t h)
{
    h ^= h >> 32;
    h *= 0x9E3779B97F4A7C15u;
    return h ^ h >> 29;
}

static uint64_t bits_of(double value)
{
    uint64_t bits;
    memcpy(&bits, &value, sizeof bits);
    return bits;
}

static uint64_t hash_constant(const hmi_constant *constant)
{
    return mix(bits_of(constant->value) + (constant->denominator == 0));
}

/* Not for constants, which are found by value. */
static uint64_t hash_node(const hmi_node *node)
{
    uint64_t a = node->a, b = node->b;
    if (commutes((hmi_op)node->op) && a > b) {
        a = node->b;
        b = node->a;
    }
    return mix(mix(a << 32 | b) + ((uint64_t)node->c << 8 | node->op));
}

static bool same_node(const hmi_node *x, const hmi_node *y)
{
    if (x->op != y->op || x->c != y->c)
        return false;
    if (x->a == y->a && x->b == y->b)
        return true;
    return commutes((hmi_op)x->op) && x->a == y->b && x->b == y->a;
}

static bool grow_table(hmi_graph *graph)
{
    size_t size = graph->table_size * 2;
    hmi_graph_slot *table = hmi_alloc(graph->allocator, size * sizeof *table);
    if (!table)
        return false;
    memset(table, 0, size * sizeof *table);
    for (size_t i = 0; i < graph->table_size; i++) {
        hmi_graph_slot entry = graph->table[i];
        if (!entry.node)
            continue;
        size_t slot = entry.hash & (size - 1);
        while (table[slot].node)
            slot = (slot + 1) & (size - 1);
        table[slot] = entry;
    }
    hmi_free(graph->allocator, graph->table, graph->table_size * sizeof *table);
    graph->table = table;
    graph->table_size = size;
    return true;
}

static hmi_expr append(hmi_graph *graph, hmi_node node, size_t slot, uint32_t hash)
{
    if (graph->nodes.count >= HMI_MOST_NODES)
        return fail(graph, HM_ERR_LIMIT);
    if (!hmi_array_push(graph->allocator, &graph->nodes, node))
        return fail(graph, HM_ERR_NOMEM);
    graph->table[slot] = (hmi_graph_slot){hash, (uint32_t)graph->nodes.count};
    if (graph->nodes.count * 10 > graph->table_size * 6 && !grow_table(graph))
        return fail(graph, HM_ERR_NOMEM);
    return (hmi_expr)graph->nodes.count - 1;
}

static hmi_expr intern_node(hmi_graph *graph, hmi_node node)
{
    size_t mask = graph->table_size - 1;
    uint32_t hash = (uint32_t)hash_node(&node);
    size_t slot = hash & mask;
    for (; graph->table[slot].node; slot = (slot + 1) & mask) {
        hmi_graph_slot entry = graph->table[slot];
        if (entry.hash == hash && same_node(&graph->nodes.data[entry.node - 1], &node))
            return entry.node - 1;
    }
    return append(graph, node, slot, hash);
}

hmi_expr hmi_intern(hmi_graph *graph, hmi_op op, hmi_expr a, hmi_expr b, hmi_expr c)
{
    int arity = hmi_op_arity(op);
    hmi_node node = {.op = (uint8_t)op, .a = a, .b = arity > 1 ? b : 0, .c = arity > 2 ? c : 0};
    if (graph->status != HM_OK || a == HMI_NONE || node.b == HMI_NONE || node.c == HMI_NONE)
        return HMI_NONE;
    node.deps = graph->nodes.data[a].deps;
    if (arity > 1)
        node.deps |= graph->nodes.data[b].deps;
    if (arity > 2)
        node.deps |= graph->nodes.data[c].deps;
    return intern_node(graph, node);
}

static hmi_expr intern_constant(hmi_graph *graph, hmi_constant constant)
{
    if (graph->status != HM_OK)
        return HMI_NONE;
    size_t mask = graph->table_size - 1;
    uint32_t hash = (uint32_t)hash_constant(&constant);
    size_t slot = hash & mask;
    for (; graph->table[slot].node; slot = (slot + 1) & mask) {
        hmi_expr e = graph->table[slot].node - 1;
        if (graph->table[slot].hash != hash || !hmi_is_const(graph, e))
            continue;
        const hmi_constant *known = hmi_constant_of(graph, e);
        if (bits_of(known->value) == bits_of(constant.value) &&
            (known->denominator == 0) == (constant.denominator == 0))
            return e;
    }
    if (!hmi_array_push(graph->allocator, &graph->constants, constant))
        return fail(graph, HM_ERR_NOMEM);
    hmi_node node = {.op = HMI_CONST, .a = (uint32_t)graph->constants.count - 1};
    return append(graph, node, slot, hash);
}

static int64_t gcd(int64_t a, int64_t b)
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
    int64_t divisor = gcd(numerator, denominator);
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

hmi_expr hmi_symbol(hmi_graph *graph, hmi_symbol_kind kind, uint32_t index)
{
    if (graph->status != HM_OK)
        return HMI_NONE;
    hmi_node node = {.op = HMI_SYMBOL, .deps = HMI_DEP(kind), .a = kind, .b = index};
    return intern_node(graph, node);
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
    if (++walk->stamp == 0) {
        memset(walk->mark.data, 0, walk->mark.count * sizeof *walk->mark.data);
        walk->stamp = 1;
    }
    walk->order.count = 0;
    return HM_OK;
}

/* Stack entries carry one extra bit: set when the operands have been pushed. */
hm_status hmi_walk_add(hmi_walk *walk, const hmi_graph *graph, hmi_expr root, uint16_t deps_mask)
{
    walk->stack.count = 0;
    if (root == HMI_NONE || !hmi_array_push(walk->allocator, &walk->stack, root << 1))
        return root == HMI_NONE ? HM_OK : HM_ERR_NOMEM;
    while (walk->stack.count) {
        hmi_expr top = walk->stack.data[--walk->stack.count], e = top >> 1;
        if (top & 1) {
            if (!hmi_array_push(walk->allocator, &walk->order, e))
                return HM_ERR_NOMEM;
            continue;
        }
        if (walk->mark.data[e] == walk->stamp ||
            (deps_mask != 0xFFFF && !(graph->nodes.data[e].deps & deps_mask)))
            continue;
        walk->mark.data[e] = walk->stamp;
        if (!hmi_array_reserve(walk->allocator, &walk->stack, 4))
            return HM_ERR_NOMEM;
        walk->stack.data[walk->stack.count++] = e << 1 | 1;
        for (int k = hmi_op_arity(hmi_op_of(graph, e)) - 1; k >= 0; k--)
            walk->stack.data[walk->stack.count++] = hmi_operand(graph, e, k) << 1;
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
