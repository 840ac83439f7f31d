/* Differentiation on the DAG: derivatives are nodes of the same graph and share its structure.
 *
 * Forward (tangent): the derivative of an expression along a direction given at the leaves.
 * Reverse (adjoint): seeds at several expressions give all partial derivatives at once, at a small
 * multiple of the size of what is differentiated.              [Griewank & Walther 2008, ch. 3]
 */
#ifndef HMI_EXPR_GRAPH_DIFF_H
#define HMI_EXPR_GRAPH_DIFF_H

#include "expr/graph/graph.h"

/* ---- forward ---- */

/* The tangent of a leaf; HMI_NONE where it may not be differentiated (see hmi_tangent.refused). */
typedef hmi_expr (*hmi_leaf_tangent)(hmi_graph *graph, hmi_expr leaf, void *user);

/* A direction with its memo: differentiating shared pieces twice costs nothing. */
typedef struct hmi_tangent {
    hmi_leaf_tangent leaf;
    void *user;
    uint16_t deps; /* leaves outside these kinds have tangent zero; not asked */
    hmi_walk walk;
    HMI_ARRAY(hmi_expr) memo; /* derivative + 1 by handle, 0 = unknown */
    hmi_expr refused;         /* a leaf whose tangent the callback refused, else HMI_NONE */
} hmi_tangent;

void hmi_tangent_init(hmi_tangent *tangent, const hm_allocator *allocator, hmi_leaf_tangent leaf,
                      void *user, uint16_t deps);
void hmi_tangent_release(hmi_tangent *tangent);
/* Says what the tangent of an expression is, unless that is known already. false: no memory. */
bool hmi_tangent_know(hmi_tangent *tangent, const hmi_graph *graph, hmi_expr e, hmi_expr value);
/* HMI_NONE on failure: no memory (graph status) or a refused leaf. */
hmi_expr hmi_tangent_of(hmi_tangent *tangent, hmi_graph *graph, hmi_expr e);

/* Kinds of leaves that change with time. */
#define HMI_DEP_MOVING                                                                             \
    (HMI_DEP(HMI_SYM_TIME) | HMI_DEP(HMI_SYM_COORD) | HMI_DEP(HMI_SYM_VELOCITY) |                  \
     HMI_DEP(HMI_SYM_STATE) | HMI_DEP(HMI_SYM_INPUT) | HMI_DEP(HMI_SYM_INPUT_RATE))
/* The time derivative of a leaf: q -> q' -> q'', an input -> its rates, t -> 1. HMI_NONE for states,
 * whose rates the model gives, and for kinds that have none. */
hmi_expr hmi_leaf_rate(hmi_graph *graph, hmi_expr leaf);

/* ---- reverse ---- */

/* One sweep: gradient of sum_k seed_k * root_k by every symbol of the kind `by`. The seeds are
 * held fixed. Results are a sparse list, ascending by symbol index. */
typedef struct hmi_partial {
    uint32_t index;
    hmi_expr value;
} hmi_partial;

typedef struct hmi_adjoint {
    hmi_walk walk;
    HMI_ARRAY(hmi_expr) bar; /* by handle; valid for nodes of the current walk */
    HMI_ARRAY(hmi_partial) partials;
} hmi_adjoint;

void hmi_adjoint_init(hmi_adjoint *adjoint, const hm_allocator *allocator);
void hmi_adjoint_release(hmi_adjoint *adjoint);
hm_status hmi_adjoint_sweep(hmi_adjoint *adjoint, hmi_graph *graph, const hmi_expr *roots,
                            const hmi_expr *seeds, size_t count, hmi_symbol_kind by);
/* The gradient of one expression (seed 1). */
hm_status hmi_gradient(hmi_adjoint *adjoint, hmi_graph *graph, hmi_expr root, hmi_symbol_kind by);

/* ---- substitution ---- */

/* Replaces leaves: the callback gives the new expression for a leaf (or the leaf itself). Memo and
 * cost as for the tangent. */
typedef hmi_expr (*hmi_leaf_replacement)(hmi_graph *graph, hmi_expr leaf, void *user);
typedef struct hmi_substitution {
    hmi_leaf_replacement leaf;
    void *user;
    uint16_t deps; /* expressions without these kinds are left as they are */
    hmi_walk walk;
    HMI_ARRAY(hmi_expr) memo;
} hmi_substitution;

void hmi_substitution_init(hmi_substitution *substitution, const hm_allocator *allocator,
                           hmi_leaf_replacement leaf, void *user, uint16_t deps);
void hmi_substitution_release(hmi_substitution *substitution);
hmi_expr hmi_substitute(hmi_substitution *substitution, hmi_graph *graph, hmi_expr e);

#endif
