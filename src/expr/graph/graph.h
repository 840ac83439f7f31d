/* The expression DAG: interned nodes with by-value handles.
 *
 * Everything symbolic is a node of a graph: a constant, a symbol, or an operation of ops.def on at
 * most three nodes. A node is named by its number (hmi_expr); graphs only grow, so a number stays
 * good, and a copy of a graph (copy.c) understands the numbers of the original. What is made twice
 * is found again (intern.c), so that common subexpressions are shared without anyone looking for
 * them, and two expressions that were built alike are equal where their numbers are.
 *
 * A typical stage makes expressions by hmi_add, hmi_mul, hmi_apply..., which simplify a little
 * (simplify.c) and never fail by themselves, checks the status once, and walks over what it needs by
 * hmi_walk. Derivatives (diff.h), normal forms (expr/normal) and printing (expr/print) work on graphs;
 * tapes are compiled from them.
 *
 * Invariants (executed by verify.h)
 *   1. Operands come before the nodes that use them: ascending handles are a topological order.
 *   2. Equal expressions are one node. a+b and b+a are one node too, shown as first written.
 *   3. A node's `deps` is the union of what its leaves depend on.
 *   4. Constructors simplify (simplify.c); they never grow an expression.
 *   5. Errors are sticky: after a failed allocation or past HMI_MOST_NODES constructors return
 *      HMI_NONE, which every function takes and passes on; check hmi_graph_status once per stage.
 *   6. No function here recurses over the depth of an expression.
 */
#ifndef HMI_EXPR_GRAPH_GRAPH_H
#define HMI_EXPR_GRAPH_GRAPH_H

#include "base/hash.h"

#include <assert.h>

typedef uint32_t hmi_expr;
#define HMI_NONE UINT32_MAX

enum { HMI_MOST_NODES = 1 << 27 };

typedef enum hmi_op {
    HMI_CONST,  /* a: index into the constants */
    HMI_SYMBOL, /* a: hmi_symbol_kind, b: index within its kind */
#define OP(name, arity, text, value, ddx, ddy) HMI_##name,
#include "expr/graph/ops.def"
#undef OP
    HMI_OP_COUNT,
    HMI_PLAIN_OPS_END =
        HMI_TABLE /* operations from here on take a view of a table, not just numbers */
} hmi_op;

/* What a leaf stands for. The index counts within the kind. */
typedef enum hmi_symbol_kind {
    HMI_SYM_TIME,
    HMI_SYM_PARAM,
    HMI_SYM_COORD,
    HMI_SYM_VELOCITY,
    HMI_SYM_ACCELERATION,
    HMI_SYM_STATE,       /* auxiliary first-order state */
    HMI_SYM_INPUT,       /* input signal u */
    HMI_SYM_INPUT_RATE,  /* u' */
    HMI_SYM_INPUT_RATE2, /* u'' */
    HMI_SYM_REACTION,    /* component of the ideal constraint force Qi */
    HMI_SYM_MULTIPLIER,  /* of Qi */
    HMI_SYM_TOTAL_REACTION,
    HMI_SYM_TOTAL_MULTIPLIER,
    HMI_SYM_ENERGY,
    HMI_SYM_MATRIX, /* an entry of a named matrix in closed forms; display only */
    HMI_SYM_MODE,   /* the branch of a function that is not smooth, held during a step */
    HMI_SYM_KIND_COUNT
} hmi_symbol_kind;

#define HMI_DEP(kind) ((uint16_t)(1u << (kind)))
/* Symbols that stand for constraint forces: known only after the solve. */
#define HMI_DEP_FORCES                                                                             \
    (HMI_DEP(HMI_SYM_REACTION) | HMI_DEP(HMI_SYM_MULTIPLIER) | HMI_DEP(HMI_SYM_TOTAL_REACTION) |   \
     HMI_DEP(HMI_SYM_TOTAL_MULTIPLIER))

typedef struct hmi_node {
    uint8_t op;
    uint8_t unused;
    uint16_t deps; /* HMI_DEP bits */
    uint32_t a, b, c;
} hmi_node;

/* A constant: its double, and where it is a ratio of small whole numbers, that ratio exactly. */
typedef struct hmi_constant {
    double value;
    int32_t numerator, denominator; /* denominator 0: not a ratio */
} hmi_constant;

/* Of a node: the newest that is filed under it, and the next of the list it is in itself; 0: none,
 * HMI_NONE: they are found by hash. */
typedef struct hmi_graph_link {
    hmi_expr first, next;
} hmi_graph_link;

typedef struct hmi_graph {
    const hm_allocator *allocator;
    HMI_ARRAY(hmi_node) nodes;
    HMI_ARRAY(hmi_constant) constants;
    HMI_ARRAY(hmi_graph_link) links; /* by node */
    hmi_hash leaves, others;         /* how nodes are found that are in no list: see intern.c */
    hm_status status;
    bool interpreted; /* tapes of this graph stay with the interpreter (compile/tape/tape.h) */
    hmi_expr zero, one, two, minus_one, half; /* always present */
} hmi_graph;

hm_status hmi_graph_init(hmi_graph *graph, const hm_allocator *allocator);
void hmi_graph_release(hmi_graph *graph);
hm_status hmi_graph_status(const hmi_graph *graph);
/* Release `to` also after a failure. */
hm_status hmi_graph_copy(hmi_graph *to, const hmi_graph *from);
/* Expressions of one graph made in another, in place; HMI_NONE stays. Symbols keep kind and index. */
hm_status hmi_graph_transplant(hmi_graph *to, const hmi_graph *from, hmi_expr *list, size_t count);

/* The node that interning makes of the operation, the symbol or the number of this one: itself, as long
 * as the graph is sound. HMI_NONE where it finds none. */
hmi_expr hmi_graph_find(const hmi_graph *graph, hmi_expr e);

/* Leaves. */
hmi_expr hmi_number(hmi_graph *graph, double value);
hmi_expr hmi_ratio(hmi_graph *graph, int64_t numerator, int64_t denominator);
/* The greatest common divisor, never negative. */
int64_t hmi_gcd(int64_t a, int64_t b);
hmi_expr hmi_symbol(hmi_graph *graph, hmi_symbol_kind kind, uint32_t index);

/* Any operation of the table, simplified. Unused operands are ignored. */
hmi_expr hmi_apply(hmi_graph *graph, hmi_op op, hmi_expr a, hmi_expr b, hmi_expr c);
/* The same without simplification (interning only). */
hmi_expr hmi_intern(hmi_graph *graph, hmi_op op, hmi_expr a, hmi_expr b, hmi_expr c);

hmi_expr hmi_add(hmi_graph *graph, hmi_expr a, hmi_expr b);
hmi_expr hmi_sub(hmi_graph *graph, hmi_expr a, hmi_expr b);
hmi_expr hmi_mul(hmi_graph *graph, hmi_expr a, hmi_expr b);
hmi_expr hmi_div(hmi_graph *graph, hmi_expr a, hmi_expr b);
hmi_expr hmi_neg(hmi_graph *graph, hmi_expr a);
hmi_expr hmi_pow(hmi_graph *graph, hmi_expr a, hmi_expr b);

/* Reading. */
static inline const hmi_node *hmi_node_at(const hmi_graph *graph, hmi_expr e)
{
    return &graph->nodes.data[e];
}
static inline hmi_op hmi_op_of(const hmi_graph *graph, hmi_expr e)
{
    return (hmi_op)graph->nodes.data[e].op;
}
/* 0 for HMI_NONE. */
static inline uint16_t hmi_deps(const hmi_graph *graph, hmi_expr e)
{
    return e == HMI_NONE ? 0 : graph->nodes.data[e].deps;
}
static inline bool hmi_is_const(const hmi_graph *graph, hmi_expr e)
{
    return e != HMI_NONE && graph->nodes.data[e].op == HMI_CONST;
}
static inline bool hmi_is_sum(const hmi_graph *graph, hmi_expr e)
{
    return graph->nodes.data[e].op == HMI_ADD || graph->nodes.data[e].op == HMI_SUB;
}
static inline const hmi_constant *hmi_constant_of(const hmi_graph *graph, hmi_expr e)
{
    assert(graph->nodes.data[e].op == HMI_CONST);
    return &graph->constants.data[graph->nodes.data[e].a];
}
static inline hmi_expr hmi_operand(const hmi_graph *graph, hmi_expr e, int k)
{
    const hmi_node *node = &graph->nodes.data[e];
    return k == 0 ? node->a : k == 1 ? node->b : node->c;
}

/* The table of operations. */
typedef struct hmi_op_row {
    int arity;        /* 0 for leaves */
    const char *text; /* as written in the language */
} hmi_op_row;
extern const hmi_op_row hmi_op_table[HMI_OP_COUNT];
static inline int hmi_op_arity(hmi_op op)
{
    return hmi_op_table[op].arity;
}
static inline const char *hmi_op_text(hmi_op op)
{
    return hmi_op_table[op].text;
}
/* The value of an operation at operand values; the one definition all engines agree with. */
double hmi_op_value(hmi_op op, double x, double y, double z);
/* x^n for whole n by repeated squaring; n beyond +-64 falls back to pow. */
double hmi_powi(double x, double n);

/* Nodes reachable from the roots, operands first. Stops at nodes whose deps miss `deps_mask`
 * (pass 0xFFFF for all). The walk owns its memory; reuse one for many traversals. */
typedef struct hmi_walk {
    const hm_allocator *allocator;
    HMI_ARRAY(hmi_expr) order;
    HMI_ARRAY(hmi_expr) stack;
    HMI_ARRAY(uint32_t) mark; /* by node: base + its position + 1 where this walk has been */
    uint32_t base, last;      /* marks of earlier walks end at base, those of this one at last */
} hmi_walk;

void hmi_walk_init(hmi_walk *walk, const hm_allocator *allocator);
void hmi_walk_release(hmi_walk *walk);
hm_status hmi_walk_begin(hmi_walk *walk, const hmi_graph *graph);
hm_status hmi_walk_add(hmi_walk *walk, const hmi_graph *graph, hmi_expr root, uint16_t deps_mask);
/* Where a node that the walk has reached stands in its order. */
static inline uint32_t hmi_walk_position(const hmi_walk *walk, hmi_expr e)
{
    assert(walk->mark.data[e] > walk->base);
    return walk->mark.data[e] - walk->base - 1;
}

/* Numerical value of an expression that depends on parameters only (params[index]); NaN where it
 * depends on more. */
hm_status hmi_evaluate_constant(const hmi_graph *graph, hmi_expr e, const double *params,
                                double *value);

/* The same with a memo, for many evaluations with parameters that do not change. */
typedef struct hmi_constants {
    const hm_allocator *allocator;
    HMI_ARRAY(double) values; /* by handle, where known */
    HMI_ARRAY(uint8_t) known;
    HMI_ARRAY(hmi_expr) stack;
} hmi_constants;

void hmi_constants_init(hmi_constants *constants, const hm_allocator *allocator);
void hmi_constants_release(hmi_constants *constants);
hm_status hmi_constants_value(hmi_constants *constants, const hmi_graph *graph, hmi_expr e,
                              const double *params, double *value);

#endif
