/* Consistent initial states: values given by `=` stay, the others move as little as possible.
 *
 * Position level: the nearest q to q0 in the norm (q - q0)^T M (q - q0) with phi(q) = 0, over the
 * free coordinates f only. Each step solves
 *     M_ff d = M_ff (q0 - q)_f + A_f^T l,   A_f d = -phi(q)
 * that is, the fundamental equation again, with Q = M_ff (q0 - q), as far as phi follows its tangents
 * and has values. The last steps leave Q out and go for phi alone. Then velocities in the same way
 * with phi' and psi.
 * Verified: test/unit/integrate/test_consistent.c
 */
#ifndef HMI_INTEGRATE_DRIFT_CONSISTENT_H
#define HMI_INTEGRATE_DRIFT_CONSISTENT_H

#include "integrate/drift/projection.h"

typedef struct hmi_consistent {
    hmi_projection *projection;
    /* By row of the model: rows that need not hold, on positions and on velocities; NULL: all do. */
    const bool *skip_position, *skip_velocity;
    double tolerance;        /* a residual this many times the size of its terms is met; 1e-9 */
    size_t worst_row;        /* after a failure: the row that is violated most, */
    double violated_by;      /* by this much, */
    hm_level violated_level; /* at this level */
} hmi_consistent;

/* fixed_q, fixed_v: n flags. Moves y = (q, v, z) at time t. HM_ERR_INCONSISTENT: it cannot be done,
 * see worst_row; HM_ERR_NUMERIC: something is not finite; HM_ERR_NOMEM. Not for the hot path: it
 * allocates. */
hm_status hmi_make_consistent(hmi_consistent *c, double t, double *y, const bool *fixed_q,
                              const bool *fixed_v);

#endif
