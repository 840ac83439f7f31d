/* Expressions of a graph in ball arithmetic, written for tests and for them alone: a reference for
 * rounding errors and ranks that shares no code with the library. */
#ifndef TEST_SUPPORT_BALL_GRAPH_H
#define TEST_SUPPORT_BALL_GRAPH_H

#include "expr/graph/graph.h"

#include <arb.h>

enum { BALL_BITS = 256 };

/* The doubles that symbols stand for, by kind. */
typedef struct ball_symbols {
    const double *by_kind[HMI_SYM_KIND_COUNT];
} ball_symbols;

/* values[nodes of the graph], initialised by the caller: all nodes up to `last`, in their order. */
void ball_evaluate(const hmi_graph *graph, hmi_expr last, const ball_symbols *symbols,
                   arb_ptr values);

#endif
