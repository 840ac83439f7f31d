/* Differentiation on the DAG, forward and in reverse, and substitution. The partial derivatives are
 * those of ops.def. */
#include "expr/graph/diff.h"
#include "expr/graph/table.h"

#include "base/sort.h"

#include <string.h>

/* ---- partial derivatives from the table ---- */

#define ZERO            g->zero
#define ONE             g->one
#define TWO             g->two
#define ADD(a, b)       hmi_add(g, a, b)
#define SUB(a, b)       hmi_sub(g, a, b)
#define MUL(a, b)       hmi_mul(g, a, b)
#define DIV(a, b)       hmi_div(g, a, b)
#define NEG(a)          hmi_neg(g, a)
#define POW(a, b)       hmi_pow(g, a, b)
#define SQR(a)          hmi_pow(g, a, g->two)
#define SQRT(a)         hmi_apply(g, HMI_SQRT, a, 0, 0)
#define SIN(a)          hmi_apply(g, HMI_SIN, a, 0, 0)
#define COS(a)          hmi_apply(g, HMI_COS, a, 0, 0)
#define SINH(a)         hmi_apply(g, HMI_SINH, a, 0, 0)
#define COSH(a)         hmi_apply(g, HMI_COSH, a, 0, 0)
#define LOG(a)          hmi_apply(g, HMI_LOG, a, 0, 0)
#define SIGN(a)         hmi_apply(g, HMI_SIGN, a, 0, 0)
#define LT(a, b)        hmi_apply(g, HMI_LT, a, b, 0)
#define SELECT(c, a, b) hmi_apply(g, HMI_SELECT, c, a, b)
#define TABLE_SLOPE(k)  table_slope(g, R, k)

/* The table of R differentiated once more by operand k. */
static hmi_expr table_slope(hmi_graph *g, hmi_expr R, int k)
{
    const hmi_node node = *hmi_node_at(g, R);
    bool two = node.op == HMI_TABLE2;
    double address = hmi_constant_of(g, two ? node.c : node.b)->value;
    const hmi_table_view *slope = hmi_table_slope(hmi_table_view_at(address), k);
    if (!slope)
        return g->zero;
    hmi_expr view = hmi_number(g, hmi_table_address(slope));
    return two ? hmi_apply(g, HMI_TABLE2, node.a, node.b, view)
               : hmi_apply(g, HMI_TABLE, node.a, view, 0);
}

/* d(R)/d(operand k), R = op(X, Y, Z). */
static hmi_expr partial(hmi_graph *g, hmi_expr R, int k)
{
    const hmi_node node = *hmi_node_at(g, R);
    hmi_expr X = node.a, Y = node.b;
    if (node.op == HMI_SELECT)
        return k == 0 ? ZERO : k == 1 ? SELECT(X, ONE, ZERO) : SELECT(X, ZERO, ONE);
    switch ((hmi_op)node.op) {
#define OP(name, arity, text, value, ddx, ddy)                                                     \
    case HMI_##name:                                                                               \
        return k == 0 ? (ddx) : (ddy);
#include "expr/graph/ops.def"
#undef OP
    default:
        return ZERO;
    }
}

/* An array by handle, zero-filled up to the present size of the graph. */
static bool cover_graph(const hm_allocator *allocator, hmi_expr **data, size_t *count,
                        size_t *capacity, size_t nodes)
{
    if (nodes <= *count)
        return true;
    if (!hmi_array_grow(allocator, (void **)data, capacity, *count, nodes - *count, sizeof **data))
        return false;
    memset(*data + *count, 0, (nodes - *count) * sizeof **data);
    *count = nodes;
    return true;
}

static hmi_expr fail_memory(hmi_graph *g)
{
    if (g->status == HM_OK)
        g->status = HM_ERR_NOMEM;
    return HMI_NONE;
}

/* ---- a memoised bottom-up rewrite, shared by the tangent and by substitution ---- */

typedef struct rewrite {
    hmi_walk *walk; /* its stack is used */
    hmi_expr *memo; /* result + 1 by handle, 0 = unknown */
    size_t *count, *capacity;
    uint16_t deps;
    hmi_expr (*combine)(hmi_graph *g, hmi_expr e, const hmi_expr *results, void *user);
    void *user;
} rewrite;

/* The result for an operand whose deps lie outside is given by `outside`. */
typedef hmi_expr (*outside_value)(const hmi_graph *g, hmi_expr e);

static hmi_expr known_result(const rewrite *r, const hmi_graph *g, hmi_expr e,
                             outside_value outside)
{
    if (!(hmi_deps(g, e) & r->deps))
        return outside(g, e);
    return r->memo[e] ? r->memo[e] - 1 : HMI_NONE;
}

/* Pushes the operands that have no result yet; true when there are none. */
static bool operands_ready(const rewrite *r, const hmi_graph *g, hmi_expr e, hmi_expr *results,
                           outside_value outside)
{
    bool ready = true;
    for (int k = hmi_op_arity(hmi_op_of(g, e)) - 1; k >= 0; k--) {
        hmi_expr operand = hmi_operand(g, e, k);
        results[k] = known_result(r, g, operand, outside);
        if (results[k] == HMI_NONE) {
            r->walk->stack.data[r->walk->stack.count++] = operand;
            ready = false;
        }
    }
    return ready;
}

static hmi_expr rewrite_run(rewrite *r, hmi_graph *g, hmi_expr root, outside_value outside)
{
    const hm_allocator *allocator = r->walk->allocator;
    if (root == HMI_NONE || g->status != HM_OK)
        return HMI_NONE;
    if (!(hmi_deps(g, root) & r->deps))
        return outside(g, root);
    if (root < *r->count && r->memo[root])
        return r->memo[root] - 1;
    if (!cover_graph(allocator, &r->memo, r->count, r->capacity, g->nodes.count))
        return fail_memory(g);
    r->walk->stack.count = 0;
    if (!hmi_array_push(allocator, &r->walk->stack, root))
        return fail_memory(g);
    while (r->walk->stack.count) {
        if (!hmi_array_reserve(allocator, &r->walk->stack, 3))
            return fail_memory(g);
        hmi_expr e = r->walk->stack.data[r->walk->stack.count - 1], results[3];
        if (r->memo[e]) {
            r->walk->stack.count--;
        } else if (operands_ready(r, g, e, results, outside)) {
            hmi_expr result = r->combine(g, e, results, r->user);
            if (result == HMI_NONE)
                return HMI_NONE;
            r->memo[e] = result + 1;
            r->walk->stack.count--;
        }
    }
    return r->memo[root] - 1;
}

/* ---- forward ---- */

void hmi_tangent_init(hmi_tangent *tangent, const hm_allocator *allocator, hmi_leaf_tangent leaf,
                      void *user, uint16_t deps)
{
    *tangent = (hmi_tangent){.leaf = leaf, .user = user, .deps = deps, .refused = HMI_NONE};
    hmi_walk_init(&tangent->walk, allocator);
}

void hmi_tangent_release(hmi_tangent *tangent)
{
    if (!tangent->walk.allocator)
        return;
    hmi_array_release(tangent->walk.allocator, &tangent->memo);
    hmi_walk_release(&tangent->walk);
}

static hmi_expr zero_outside(const hmi_graph *g, hmi_expr e)
{
    (void)e;
    return g->zero;
}

static hmi_expr tangent_combine(hmi_graph *g, hmi_expr e, const hmi_expr *dot, void *user)
{
    hmi_tangent *tangent = user;
    const hmi_node node = *hmi_node_at(g, e);
    if (node.op == HMI_SYMBOL) {
        hmi_expr result = tangent->leaf(g, e, tangent->user);
        if (result == HMI_NONE)
            tangent->refused = e;
        return result;
    }
    if (node.op == HMI_SELECT)
        return SELECT(node.a, dot[1], dot[2]);
    if (node.op == HMI_MIN || node.op == HMI_MAX) {
        hmi_expr second = node.op == HMI_MIN ? LT(node.b, node.a) : LT(node.a, node.b);
        return SELECT(second, dot[1], dot[0]);
    }
    hmi_expr sum = ZERO;
    for (int k = 0; k < hmi_op_arity((hmi_op)node.op); k++)
        if (dot[k] != ZERO)
            sum = ADD(sum, MUL(partial(g, e, k), dot[k]));
    return sum;
}

hmi_expr hmi_tangent_of(hmi_tangent *tangent, hmi_graph *graph, hmi_expr e)
{
    rewrite r = {.walk = &tangent->walk,
                 .memo = tangent->memo.data,
                 .count = &tangent->memo.count,
                 .capacity = &tangent->memo.capacity,
                 .deps = tangent->deps,
                 .combine = tangent_combine,
                 .user = tangent};
    tangent->refused = HMI_NONE;
    hmi_expr result = rewrite_run(&r, graph, e, zero_outside);
    tangent->memo.data = r.memo;
    return result;
}

bool hmi_tangent_know(hmi_tangent *tangent, const hmi_graph *graph, hmi_expr e, hmi_expr value)
{
    if (e == HMI_NONE || value == HMI_NONE)
        return true; /* the graph has failed */
    if (!cover_graph(tangent->walk.allocator, &tangent->memo.data, &tangent->memo.count,
                     &tangent->memo.capacity, graph->nodes.count))
        return false;
    if (!tangent->memo.data[e])
        tangent->memo.data[e] = value + 1;
    return true;
}

/* ---- substitution ---- */

void hmi_substitution_init(hmi_substitution *substitution, const hm_allocator *allocator,
                           hmi_leaf_replacement leaf, void *user, uint16_t deps)
{
    *substitution = (hmi_substitution){.leaf = leaf, .user = user, .deps = deps};
    hmi_walk_init(&substitution->walk, allocator);
}

void hmi_substitution_release(hmi_substitution *substitution)
{
    if (!substitution->walk.allocator)
        return;
    hmi_array_release(substitution->walk.allocator, &substitution->memo);
    hmi_walk_release(&substitution->walk);
}

static hmi_expr itself_outside(const hmi_graph *g, hmi_expr e)
{
    (void)g;
    return e;
}

static hmi_expr substitution_combine(hmi_graph *g, hmi_expr e, const hmi_expr *results, void *user)
{
    const hmi_substitution *substitution = user;
    if (hmi_op_of(g, e) == HMI_SYMBOL)
        return substitution->leaf(g, e, substitution->user);
    return hmi_apply(g, hmi_op_of(g, e), results[0], results[1], results[2]);
}

hmi_expr hmi_substitute(hmi_substitution *substitution, hmi_graph *graph, hmi_expr e)
{
    rewrite r = {.walk = &substitution->walk,
                 .memo = substitution->memo.data,
                 .count = &substitution->memo.count,
                 .capacity = &substitution->memo.capacity,
                 .deps = substitution->deps,
                 .combine = substitution_combine,
                 .user = substitution};
    hmi_expr result = rewrite_run(&r, graph, e, itself_outside);
    substitution->memo.data = r.memo;
    return result;
}

hmi_expr hmi_leaf_rate(hmi_graph *graph, hmi_expr leaf)
{
    const hmi_node node = *hmi_node_at(graph, leaf);
    switch ((hmi_symbol_kind)node.a) {
    case HMI_SYM_TIME:
        return graph->one;
    case HMI_SYM_COORD:
        return hmi_symbol(graph, HMI_SYM_VELOCITY, node.b);
    case HMI_SYM_VELOCITY:
        return hmi_symbol(graph, HMI_SYM_ACCELERATION, node.b);
    case HMI_SYM_INPUT:
        return hmi_symbol(graph, HMI_SYM_INPUT_RATE, node.b);
    case HMI_SYM_INPUT_RATE:
        return hmi_symbol(graph, HMI_SYM_INPUT_RATE2, node.b);
    default:
        return HMI_NONE;
    }
}

/* ---- reverse ---- */

void hmi_adjoint_init(hmi_adjoint *adjoint, const hm_allocator *allocator)
{
    *adjoint = (hmi_adjoint){0};
    hmi_walk_init(&adjoint->walk, allocator);
}

void hmi_adjoint_release(hmi_adjoint *adjoint)
{
    if (!adjoint->walk.allocator)
        return;
    hmi_array_release(adjoint->walk.allocator, &adjoint->bar);
    hmi_array_release(adjoint->walk.allocator, &adjoint->partials);
    hmi_walk_release(&adjoint->walk);
}

static void accumulate(hmi_adjoint *adjoint, hmi_graph *g, hmi_expr at, hmi_expr value)
{
    hmi_expr *bar = &adjoint->bar.data[at];
    *bar = *bar == HMI_NONE ? value : ADD(*bar, value);
}

/* Collects the nodes between the roots and the leaves of interest and seeds the roots. */
static hm_status prepare_sweep(hmi_adjoint *adjoint, hmi_graph *g, const hmi_expr *roots,
                               const hmi_expr *seeds, size_t count, hmi_symbol_kind by)
{
    const hm_allocator *allocator = adjoint->walk.allocator;
    hm_status status = hmi_walk_begin(&adjoint->walk, g);
    for (size_t i = 0; i < count && status == HM_OK; i++)
        status = hmi_walk_add(&adjoint->walk, g, roots[i], HMI_DEP(by));
    if (status != HM_OK)
        return status;
    if (!cover_graph(allocator, &adjoint->bar.data, &adjoint->bar.count, &adjoint->bar.capacity,
                     g->nodes.count))
        return HM_ERR_NOMEM;
    for (size_t i = 0; i < adjoint->walk.order.count; i++)
        adjoint->bar.data[adjoint->walk.order.data[i]] = HMI_NONE;
    for (size_t i = 0; i < count; i++)
        if (hmi_deps(g, roots[i]) & HMI_DEP(by))
            accumulate(adjoint, g, roots[i], seeds[i]);
    return g->status;
}

static void propagate(hmi_adjoint *adjoint, hmi_graph *g, hmi_expr e, hmi_symbol_kind by)
{
    hmi_expr bar = adjoint->bar.data[e];
    if (bar == HMI_NONE || bar == ZERO)
        return;
    int arity = hmi_op_arity(hmi_op_of(g, e));
    for (int k = 0; k < arity; k++) {
        hmi_expr operand = hmi_operand(g, e, k);
        if (hmi_deps(g, operand) & HMI_DEP(by))
            accumulate(adjoint, g, operand, MUL(bar, partial(g, e, k)));
    }
}

static int compare_partials(const void *a, const void *b)
{
    uint32_t x = ((const hmi_partial *)a)->index, y = ((const hmi_partial *)b)->index;
    return (x > y) - (x < y);
}

hm_status hmi_adjoint_sweep(hmi_adjoint *adjoint, hmi_graph *g, const hmi_expr *roots,
                            const hmi_expr *seeds, size_t count, hmi_symbol_kind by)
{
    adjoint->partials.count = 0;
    if (g->status != HM_OK)
        return g->status;
    hm_status status = prepare_sweep(adjoint, g, roots, seeds, count, by);
    if (status != HM_OK)
        return status;
    for (size_t i = adjoint->walk.order.count; i-- > 0;) {
        hmi_expr e = adjoint->walk.order.data[i];
        if (hmi_op_of(g, e) != HMI_SYMBOL) {
            propagate(adjoint, g, e, by);
            continue;
        }
        hmi_partial found = {hmi_node_at(g, e)->b, adjoint->bar.data[e]};
        if (found.value == HMI_NONE || found.value == ZERO)
            continue;
        if (!hmi_array_push(adjoint->walk.allocator, &adjoint->partials, found))
            return HM_ERR_NOMEM;
    }
    hmi_sort(adjoint->partials.data, adjoint->partials.count, sizeof *adjoint->partials.data,
             compare_partials);
    return g->status;
}

hm_status hmi_gradient(hmi_adjoint *adjoint, hmi_graph *graph, hmi_expr root, hmi_symbol_kind by)
{
    return hmi_adjoint_sweep(adjoint, graph, &root, &graph->one, 1, by);
}
