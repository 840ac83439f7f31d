/* Derivatives of the equations of motion, as sparse symbolic matrices.
 *
 * The equations are differentiated, not their solution: with q'' and lambda held fixed as symbols,
 *     E = Q - M q'' + A^T lambda,    G = b - A q''
 * and one reverse sweep per row and kind of symbol gives dE/ds and dG/ds for every direction s: what
 * hmi_dynamics_derivative (dynamics/formulations/dynamics.h) needs. No third derivative of L is formed that the
 * motion does not need, and shared pieces are shared on the DAG.
 *
 * The discrete methods (integrate/implicit/dla_step.c) work with momenta instead: p = dL/dq' and
 *     g = dL/dq + impressed + dissipation + gyroscopic + C,    p' = g + A^T lambda.
 * Verified: test/unit/integrate/test_implicit_jacobian.c
 */
#ifndef HMI_DERIVE_EQUATION_DERIVATIVES_H
#define HMI_DERIVE_EQUATION_DERIVATIVES_H

#include "derive/derived.h"

/* Groups of rows. */
typedef enum hmi_block {
    HMI_BLOCK_FORCE,      /* n: E */
    HMI_BLOCK_NONIDEAL,   /* n: C */
    HMI_BLOCK_REACTION,   /* n: A^T lambda, where laws use constraint forces; else no rows */
    HMI_BLOCK_CONSTRAINT, /* m: G */
    HMI_BLOCK_STATE,      /* states: z' */
    HMI_BLOCK_INPUT,      /* 3 x inputs: defaults of u, u', u'' */
    HMI_BLOCK_MOMENTUM,   /* n: p */
    HMI_BLOCK_DRIVE,      /* n: g */
    HMI_BLOCK_POSITION,   /* m: phi, 0 for other levels */
    HMI_BLOCK_VELOCITY,   /* m: phi' or psi, 0 for acceleration level */
    HMI_BLOCK_COUNT
} hmi_block;

/* What is differentiated, by what. */
typedef enum hmi_jacobian_kind {
    HMI_JACOBIAN_STATE,    /* E, C, G, z', residuals by q, v, z, t */
    HMI_JACOBIAN_PARAM,    /* the same by parameters, each component by itself */
    HMI_JACOBIAN_INPUT,    /* the same by u, u', u'' of all inputs, the state held fixed */
    HMI_JACOBIAN_DISCRETE, /* p, g, residuals by q, v */
    HMI_JACOBIAN_KINDS
} hmi_jacobian_kind;

/* Where the symbols of a kind start among the columns. The `free` columns come first: the
 * directions asked for. Inputs and constraint forces, which depend on those, follow. SIZE_MAX: the
 * kind has no columns. */
typedef struct hmi_columns {
    size_t start[HMI_SYM_KIND_COUNT];
    size_t free, count;
} hmi_columns;

typedef struct hmi_derived_jacobian {
    hmi_derived eq; /* the graph extended; everything else borrowed */
    hmi_columns columns;
    hmi_expr *rows[HMI_BLOCK_COUNT];
    hmi_expr_matrix by[HMI_BLOCK_COUNT];
} hmi_derived_jacobian;

/* The q'' held fixed are HMI_SYM_ACCELERATION, the lambda HMI_SYM_MATRIX (force laws may use the
 * symbols of multipliers themselves). Release also after failure. */
hm_status hmi_derive_jacobian(hmi_derived_jacobian *j, const hmi_derived *eq,
                              hmi_jacobian_kind kind);
void hmi_derived_jacobian_release(hmi_derived_jacobian *j);

#endif
