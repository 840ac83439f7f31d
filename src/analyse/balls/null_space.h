/* Null vectors of what an echelon holds, as exact numbers where they are simple ratios. */
#ifndef HMI_ANALYSE_BALLS_NULL_SPACE_H
#define HMI_ANALYSE_BALLS_NULL_SPACE_H

#include "analyse/balls/echelon.h"
#include "expr/graph/graph.h"

#include <arb_mat.h>

/* Initialises the matrix with one vector per row, (columns - rank) x columns: each has 1 or -1 in
 * one column without pivot and 0 in the other columns without pivot; its last nonzero element is
 * positive. The rows of the echelon are reduced further. */
void hmi_null_space(hmi_echelon *e, arb_mat_t vectors);

/* A number for the graph: p/q with q <= 360 where the ball is that within 2^tolerance, else the
 * nearest double and *exact = false. */
hmi_expr hmi_ball_number(hmi_graph *graph, const arb_t x, double tolerance, bool *exact);

#endif
