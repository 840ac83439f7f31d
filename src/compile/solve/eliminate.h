/* Symmetric linear systems solved symbolically: LDL^T of a matrix of expressions, unrolled on its
 * sparsity.
 *
 *     P S P^T = L E L^T,  one reciprocal for each pivot, no square roots
 *
 * Rows are eliminated in the order of least degree (number of neighbours that are left), so that
 * chains and trees cost O(n); among equals the row whose pivot depends on parameters alone comes
 * first, since the tape hoists it. Every entry is one node of the graph whose operands are nodes:
 * nothing is ever expanded.
 *
 * No pivoting by size happens here. What comes out is right while every pivot is a positive part of
 * the diagonal element it is left of: `margin` is positive while each of them is more than
 * `least_ratio` of it.
 *
 * Products and sums made here round as written: a product with a reciprocal does not become a
 * quotient again, as the simplifier would have it.
 * Verified: test/unit/compile/test_motion.c
 */
#ifndef HMI_COMPILE_SOLVE_ELIMINATE_H
#define HMI_COMPILE_SOLVE_ELIMINATE_H

#include "expr/graph/graph.h"

/* Structural zeros vanish, ones disappear, signs move outwards; numbers are folded. */
hmi_expr hmi_plain_mul(hmi_graph *g, hmi_expr a, hmi_expr b);
hmi_expr hmi_plain_add(hmi_graph *g, hmi_expr a, hmi_expr b);
hmi_expr hmi_plain_sub(hmi_graph *g, hmi_expr a, hmi_expr b);
/* 1/x; HMI_NONE for the number 0. */
hmi_expr hmi_plain_reciprocal(hmi_graph *g, hmi_expr x);

/* Positive while all of `value` given so far are; those of parameters apart, to be hoisted. */
typedef struct hmi_margin {
    hmi_expr fixed, moving; /* HMI_NONE: none yet */
    bool failed;            /* one of them is a number that is not positive */
} hmi_margin;

void hmi_margin_init(hmi_margin *margin);
void hmi_margin_add(hmi_graph *g, hmi_margin *margin, hmi_expr value);
/* The least of all; the number 1 where there are none. */
hmi_expr hmi_margin_value(hmi_graph *g, const hmi_margin *margin);

typedef struct hmi_elimination {
    size_t n;
    hmi_expr *S;        /* n x n, symmetric, of which L replaces what was eliminated: column p of L
                           is S[i n + p] for the rows i eliminated after p */
    hmi_expr *diagonal; /* as it was */
    hmi_expr *pivot, *inverse;
    size_t *order;   /* order[k]: the row eliminated k-th */
    size_t *rank_of; /* its inverse; n while not eliminated */
    size_t *degree;
    size_t most_nodes; /* of the graph */
} hmi_elimination;

/* S is zero; memory from the arena. */
hm_status hmi_elimination_init(hmi_elimination *e, hmi_graph *g, hmi_arena *arena, size_t n,
                               size_t most_nodes);
/* HM_ERR_USAGE: a pivot is a structural zero or a number that is not positive; HM_ERR_LIMIT: the
 * graph would grow beyond most_nodes. */
hm_status hmi_eliminate(hmi_elimination *e, hmi_graph *g, double least_ratio, hmi_margin *margin);
/* x := L^-1 x,  x := L^-T x; x[i] belongs to row i of S. */
void hmi_eliminate_forward(const hmi_elimination *e, hmi_graph *g, hmi_expr *x);
void hmi_eliminate_backward(const hmi_elimination *e, hmi_graph *g, hmi_expr *x);
/* x := S^-1 x */
void hmi_eliminate_solve(const hmi_elimination *e, hmi_graph *g, hmi_expr *x);

#endif
