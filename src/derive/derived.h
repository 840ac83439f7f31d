/* Model -> symbolic equations of motion.
 *
 *     M q'' = Q + Qc,    A q'' = b                                            [UK02 (1), (4)]
 *
 * with M = d2L/dq'2,  Q = impressed - (d/dt dL/dq' - dL/dq at q'' = 0): p = dL/dq' is one reverse
 * sweep of L, M its derivatives by q', and the bias one directional derivative of p along the
 * motion with q'' = 0; no n x n mixed Hessian is formed. Constraints are differentiated along the
 * motion: position level twice, velocity level once.
 *
 * Derivation goes on in the graph: the equations share what they have in common, and nothing is
 * evaluated. Signs and names are those of the papers; what a row of A means for the motion (holonomic
 * or not, redundant, contradictory) is for later stages to say, at a state or in general.
 *
 * Invariants (executed by verify.h)
 *   1. Everything is a node of `graph`, a copy of the model's graph that derivation extends.
 *   2. Matrices are sparse: entries that are structurally zero are not there. M keeps its lower
 *      triangle (column <= row); rows ascend, columns ascend within a row.
 *   3. A, b hold passive constraints in declaration order; servos have rows of their own.
 * Verified: test/cases (all oracle cases), test/unit/derive.
 */
#ifndef HMI_DERIVE_DERIVED_H
#define HMI_DERIVE_DERIVED_H

#include "expr/graph/diff.h"
#include "model/model.h"

/* Compressed rows. */
typedef struct hmi_expr_matrix {
    size_t rows, columns;
    size_t *start; /* rows + 1 */
    HMI_ARRAY(uint32_t) column;
    HMI_ARRAY(hmi_expr) value;
} hmi_expr_matrix;

/* Constraint rows and their residuals: position level phi and phi', velocity level psi. Where a
 * level has no residual the entry is HMI_NONE. */
typedef struct hmi_rows {
    size_t count;
    hmi_expr_matrix A;
    hmi_expr *b;
    hmi_expr *position_residual; /* phi */
    hmi_expr *velocity_residual; /* phi' or psi */
} hmi_rows;

/* By row of servos: which derivative of lhs - rhs its actuators change (relative_degree.c). */
typedef struct hmi_servo_degrees {
    unsigned *degree; /* position level 2, velocity level 1, acceleration level 0, or higher */
    bool *implied;    /* the closed loops of other rows imply that of this one */
    bool raised;      /* some row is of higher degree than its level says */
    const char
        *refusal;   /* why rows that the actuators do not reach were left as they are; or NULL */
    size_t refused; /* the first of them */
} hmi_servo_degrees;

typedef struct hmi_derived {
    const hm_model *model;
    const hm_allocator *allocator;
    hm_context *context; /* what the derivation has to say; NULL afterwards */
    hmi_graph graph;
    hmi_arena arena;
    size_t n;

    hmi_expr lagrangian; /* L, constant `mass` entries included */
    hmi_expr *momentum;  /* p = dL/dq' */
    hmi_expr *dL_dq;
    hmi_expr_matrix M; /* lower triangle */
    bool quadratic;    /* L is quadratic in the velocities: M does not depend on them */
    hmi_expr *Q;       /* impressed + dissipation + gyroscopic - bias */
    hmi_expr *impressed, *dissipation, *gyroscopic;
    hmi_expr *bias; /* d/dt dL/dq' - dL/dq at q'' = 0 */
    hmi_expr *C;    /* non-ideal; zero where none */
    bool has_nonideal;
    uint16_t force_symbols; /* HMI_DEP_FORCES bits that occur in Q and C */

    hmi_rows constraints;
    hmi_rows
        servos; /* b with the gain terms; A, b of the derivative of beta that actuators change */
    hmi_servo_degrees degrees;
    hmi_rows tangents; /* sliding velocities of frictions: A = dU/dq', b = -dU/dt at q'' = 0 */

    hmi_expr kinetic, potential, total; /* HMI_NONE where not defined */
    struct {
        hmi_expr impressed, dissipation, gyroscopic, explicit_time;
    } power;

    hmi_expr *outputs, *events, *drawings; /* of the model, with the quantities put in */
    hmi_expr *state_rates;                 /* z' */
    hmi_expr *input_values[3]; /* defaults of u, u', u''; HMI_NONE where not differentiable */
} hmi_derived;

/* The equations keep a pointer to the model, which must outlive them; diagnostics go into the context.
 * Release also after failure. */
hm_status hmi_derive_model(hmi_derived *eq, const hm_model *model, hm_context *context);
void hmi_derived_release(hmi_derived *eq);

/* F_i of  p' = F + A^T lambda:  dL/dq + all forces but the ideal ones of constraints. The graph is that of the
 * equations or a copy of it. */
hmi_expr hmi_momentum_rate(const hmi_derived *eq, hmi_graph *graph, size_t i);

/* The terms of a component of Q that use no constraint forces (free_force.c). Only grows the graph. */
hmi_expr hmi_free_of_reactions(hmi_graph *graph, hmi_expr force);

/* Entry (i, j) of a sparse matrix; `zero` where it is not stored. */
hmi_expr hmi_expr_matrix_entry(const hmi_expr_matrix *matrix, size_t i, size_t j, hmi_expr zero);
/* Entry (i, j) of the symmetric M. */
hmi_expr hmi_mass_entry(const hmi_derived *eq, size_t i, size_t j);

#endif
