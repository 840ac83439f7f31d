/* The equations of constrained motion solved on the graph, by the Gram matrix of the constraints.
 *
 * The idea. Where the structure of M and A is known, the solve for accelerations is a fixed sequence of
 * arithmetic. It is written as expressions behind those of M, Q, A and b, so that one tape leads from
 * the state to q'': zeros of the matrices cost nothing, factors that depend on parameters alone are
 * hoisted, and what the solve has in common with the equations is computed once.
 *
 *     M = L E L^T,   W = L^-1 A^T,   G = W^T E^-1 W,
 *     G lambda = b - W^T E^-1 L^-1 Q,   x = L^-T E^-1 (L^-1 Q + W lambda)
 *
 * This is the arithmetic of linalg/saddle.c, unrolled on the sparsity of M, A and G
 * (eliminate.h). Two things are done as a person does them on paper, so that sin^2 + cos^2 becomes 1:
 *   - a numeric factor of a whole row is divided out of it;
 *   - where all inertias that constraints touch are one expression, G is formed without them and lambda
 *     is measured in it; otherwise terms of equal inertia are added first.
 *
 * Where M is not positive, rows flagged in `shift` add A^T V A to it and A^T V b to Q, which changes
 * nothing where A x = b:  V_i = Sum M_jj / Sum A_ij^2 over the coordinates of the row: as much as the
 * inertias it holds, also where one of them passes through 0 (a quaternion at 1, 0, 0, 0).
 *
 * For trees of bodies M is never formed: L and E come from the recursion of velocities (recursion.h).
 *
 * The answer is good while `margin` is positive. Pivots of M and of G each lose digits: where M is
 * diagonal, or where there are no constraints, pivots must be above 1e-5 of their diagonal elements, and
 * otherwise above 3e-3, so that both together lose as many. With a shift A x = b is checked as well.
 * Verified: test/unit/compile/test_motion.c, test/unit/dynamics/test_motion.c
 */
#ifndef HMI_COMPILE_SOLVE_SCHUR_H
#define HMI_COMPILE_SOLVE_SCHUR_H

#include "compile/solve/recursion.h"
#include "derive/derived.h"

/* The matrices: patterns of the derived equations with values of any graph. */
typedef struct hmi_schur_input {
    size_t n, m;
    const hmi_expr_matrix *M_pattern, *A_pattern;
    const hmi_expr *M, *A;
    const size_t *rows;        /* m rows of A_pattern; NULL: all */
    const bool *shift;         /* by row of A_pattern; NULL: M as it is */
    const hmi_tree_form *tree; /* M along the recursion of velocities; NULL: as above */
    const double *inertia; /* with a tree, by row of A_pattern: Sum M_jj of shifted rows, about */
} hmi_schur_input;

typedef struct hmi_schur {
    hmi_graph *graph;
    hmi_arena *arena;
    size_t n, m;
    hmi_expr *A;          /* m x n, rows without their numeric factor, */
    hmi_expr *factor;     /* m: which is here */
    bool *shifted;        /* m */
    hmi_expr *held;       /* m: inertias that shifted rows hold, where M is not formed */
    hmi_expr *weight;     /* m: V of shifted rows */
    hmi_elimination M, G; /* M with its shift */
    hmi_recursion tree;   /* in place of M's factor, */
    bool by_tree;         /* where this is set; M has the pivots then */
    hmi_expr *W;          /* m x n: rows of W^T */
    hmi_expr unit;        /* the inertia that lambda is measured in; HMI_NONE: not at all */
    bool has_shift;
    hmi_margin margin;
    hmi_expr *scratch; /* n + m */
} hmi_schur;

/* HM_ERR_USAGE: no positive pivots; HM_ERR_LIMIT: the graph would grow beyond most_nodes. Release also
 * after a failure. */
void hmi_schur_release(hmi_schur *s);
hm_status hmi_schur_init(hmi_schur *s, hmi_graph *graph, hmi_arena *arena,
                         const hmi_schur_input *input, size_t most_nodes);
/* b := b without the factors of the rows (m). */
void hmi_schur_scale(const hmi_schur *s, hmi_expr *b);
/* From Q (n) and the scaled b (m, NULL: zero): a (n) = E^-1 L^-1 Q with its shift, and lambda (m)
 * in the units of the Gram matrix. */
hm_status hmi_schur_multipliers(hmi_schur *s, const hmi_expr *Q, const hmi_expr *b, hmi_expr *a,
                                hmi_expr *lambda);
/* x (n) from a and lambda, which may be sums of several. */
void hmi_schur_accelerations(hmi_schur *s, const hmi_expr *a, const hmi_expr *lambda, hmi_expr *x);
/* With a shift: A x = b has to be met to 1e-11 of its terms, or to 1e-13 of what the motion a, x (as
 * of hmi_schur_accelerations) may be in that row. */
void hmi_schur_check(hmi_schur *s, const hmi_expr *b, const hmi_expr *a, const hmi_expr *x);
/* The margin plus 0 times the sum of the outputs: NaN where one of them is not finite. */
hmi_expr hmi_schur_finite_margin(hmi_schur *s, const hmi_expr *outputs, size_t count);
/* Multipliers of the rows without factors, and of the rows as given. */
hmi_expr hmi_schur_plain_multiplier(const hmi_schur *s, hmi_expr lambda);
hmi_expr hmi_schur_model_multiplier(const hmi_schur *s, size_t i, hmi_expr lambda);

#endif
