/* The invariants of the expression graph (graph.h), executed: see base/verify.h.
 * Takes linear time and no memory. Verified: test/unit/expr/test_verify.c
 */
#ifndef HMI_EXPR_GRAPH_VERIFY_H
#define HMI_EXPR_GRAPH_VERIFY_H

#include "base/verify.h"
#include "expr/graph/graph.h"

/* NULL for a graph that has failed (graph->status), too: it is not used any more. */
const char *hmi_graph_verify(const hmi_graph *graph, hmi_violation *violation);

/* How many symbols of each kind there are, for graphs whose symbols count something. */
typedef struct hmi_symbol_counts {
    size_t of[HMI_SYM_KIND_COUNT];
} hmi_symbol_counts;

/* Symbols stand for something that exists. */
const char *hmi_graph_verify_symbols(const hmi_graph *graph, const hmi_symbol_counts *counts,
                                     hmi_violation *violation);
/* Handles of nodes; HMI_NONE is allowed where `optional`. `what` names the list in the message. */
const char *hmi_graph_verify_handles(const hmi_graph *graph, const hmi_expr *list, size_t count,
                                     bool optional, const char *what, hmi_violation *violation);

#endif
