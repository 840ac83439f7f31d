/* Drift control: back onto the constraints, in the mass metric.
 *
 * Position level: the nearest q + d with phi(q + d) = 0 in the norm d^T M d, by simplified Newton
 * steps                                                         [HW96, VII.2; Lubich et al. 1995]
 *     M d = A^T l,   A d = -phi(q)
 * with M and A of the first state. Each is the fundamental equation with Q = 0 and b = -phi, so the
 * solve of dynamics/ serves, redundant rows and singular M (M + A^T V A) included. Velocity level
 * likewise with phi' and psi in place of phi; only psi that is nonlinear needs a second step. Where
 * the rows are independent and M is positive a compiled solve gives d (compile/solve/projector.h).
 * Verified: test/unit/integrate/test_projection.c
 */
#ifndef HMI_INTEGRATE_DRIFT_PROJECTION_H
#define HMI_INTEGRATE_DRIFT_PROJECTION_H

#include "dynamics/sim/subproblem.h"
#include "dynamics/sim/projector.h"
#include "integrate/ode/ode.h"
#include "integrate/ode/residuals.h"

/* Most simplified Newton steps of one level. */
enum { HMI_MOST_APPROACHES = 12 };

/* The rows of one level (position; position and velocity) as a problem of their own. */
typedef struct hmi_projection_level {
    size_t count;
    size_t *row; /* of the model */
    hmi_subproblem *subproblem;
    hmi_sim_projector *projector; /* NULL: part solves */
    double *b;                    /* count */
} hmi_projection_level;

typedef struct hmi_projection {
    hmi_ode *ode;
    hmi_residuals *residuals;
    hmi_projection_level position, velocity;
    double *zero, *step; /* n */
    double *size;        /* rows: natural size of the terms of a residual */
    double *best;        /* n */
    double *moved;       /* 2n: q and v on their way */
    bool keep_rows;      /* somebody looks afterwards at */
    const double *rows;  /* the velocity level's rows before the projection, dense; NULL: sparse */
    double *row_memory;
    double left_out; /* the largest residual of rows left out, as last measured */
    long count;      /* states that were moved */
} hmi_projection;

/* Projectors that are there already (of an earlier run) serve again; otherwise *p is zero. */
hm_status hmi_projection_init(hmi_projection *p, hmi_ode *ode, hmi_residuals *residuals,
                              hmi_arena *arena);
/* Compiles the solves, where they apply and are not there already. source: as for the motion. */
hm_status hmi_projection_compile(hmi_projection *p, const hmi_motion_source *source);
/* From now on p->rows are kept. */
hm_status hmi_projection_keep_rows(hmi_projection *p, hmi_arena *arena);
void hmi_projection_release(hmi_projection *p);

/* Moves y onto the constraints at t. HM_ERR_INCONSISTENT: it does not converge; y is then as near
 * as it came. HM_ERR_NUMERIC: something is not finite. */
hm_status hmi_project(hmi_projection *p, double t, double *y);

/* Drift control at the end of a step: onto the constraints where ode->kept, and velocities of
 * degenerate Lagrangians to what they are. */
hm_status hmi_settle(hmi_projection *p, double t, double *y);

/* Takes from e, two vectors like q and q', what the projection at (t, y) would take: normal parts. */
void hmi_project_error(hmi_projection *p, double t, const double *y, double *e);

/* How small a residual of a row of the model can be made: a few roundings of its terms. */
double hmi_rounding_of_row(const hm_sim *sim, size_t row, const double *x);

#endif
