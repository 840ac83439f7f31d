/* Exact derivatives of the motion at a point.
 *
 *     d(q'', z')/d(q, v, z, t),   d(q'', z')/d(parameters)   and   d(q'', z')/d(u, u', u'')
 *
 * by differentiating the equations (derive/equation_derivatives.h) and solving them again with the factorisation
 * of the motion (hmi_dynamics_derivative): redundant constraints, singular M, non-ideal forces and
 * laws that use constraint forces included.
 *
 * Laws. C(reaction): the problem without C is differentiated first, its dQi/ds and dlambda/ds enter
 * by the chain rule. Laws of total reactions enter as feedback. Exact in both cases. Servos, and
 * laws that use ideal and total reactions together, fall back to differences (central, extrapolated
 * once: about ten digits).
 *
 * Invariants
 *   1. Tapes are compiled at the first use (or by hmi_sim_prepare_derivatives) and belong to the
 *      sim; no call allocates after that.
 *   2. A call leaves parameters as they were; q'' and reactions of the sim are those of the point.
 * Verified: test/unit/integrate/test_implicit_jacobian.c
 */
#ifndef HMI_DYNAMICS_SIM_MOTION_DERIVATIVES_H
#define HMI_DYNAMICS_SIM_MOTION_DERIVATIVES_H

#include "compile/system/derivative_tape.h"
#include "dynamics/sim/sim.h"

/* A compiled Jacobian with the memory to run it. */
typedef struct hmi_slopes {
    hmi_jacobian *jacobian;
    double *work;
    double *params; /* those in the prologue */
    bool prepared;
    double *inputs; /* 3 inputs x free: du/ds of defaults, 0 where a program set the input */
    double *force, *constraint, *dqdd, *dlambda, *reaction, *rates; /* free x n or m */
    double *by_reaction, *by_multiplier, *feedback;  /* n x n, n x m, n x m; laws only */
    double *acceleration, *lambda, *right, *right_n; /* n, m, m, n */
    double *moved;                                   /* a state */
    int *pivots;                                     /* n */
} hmi_slopes;

typedef struct hmi_sim_derivatives {
    hmi_arena arena;
    hmi_slopes by[HMI_JACOBIAN_KINDS];
} hmi_sim_derivatives;

HM_MUST_CHECK hm_status hmi_sim_prepare_derivatives(hm_sim *sim, hmi_jacobian_kind kind);
void hmi_sim_derivatives_destroy(hmi_sim_derivatives *derivatives);

/* J, dense and row-major: rows q'' (n) and z'; columns q (n), v (n), z, t. gains (NULL: none) are
 * (a, b) of Baumgarte: position rows have b - 2a phi' - b^2 phi in place of b, velocity rows
 * b - a psi (not where differences are taken). Inputs with defaults follow the state;
 * those that a program set are constant. Statuses are those of hmi_sim_accelerate; HM_ERR_NUMERIC
 * where a derivative is not finite. By parameters: hm_sim_param_derivatives. */
HM_MUST_CHECK hm_status hmi_sim_jacobian(hm_sim *sim, const hmi_point *at, const double *gains,
                                         double *J);
/* false: J is found by differences, to about ten digits. */
bool hmi_sim_jacobian_is_exact(const hm_sim *sim);
/* The same by inputs, held (hmi_sim_hold_inputs): columns u, u', u'' of all of them. */
HM_MUST_CHECK hm_status hmi_sim_input_jacobian(hm_sim *sim, const hmi_point *at, double *J);
/* Residuals of the constraints (2m: phi, then phi' or psi; 0 where a row has none) and, where it is
 * not NULL, their derivatives (2m x columns of J, row-major) at the point. */
HM_MUST_CHECK hm_status hmi_sim_residual_jacobian(hm_sim *sim, const hmi_point *at,
                                                  double *residual, double *C);
/* C by inputs. */
HM_MUST_CHECK hm_status hmi_sim_residual_by_inputs(hm_sim *sim, const hmi_point *at,
                                                   double *residual, double *C);

/* Runs the tape at the point (inputs as last refreshed) with these q'' and lambda (NULL where the
 * blocks do not use them); the outputs. The kind must have been prepared. */
const double *hmi_sim_run_slopes(hm_sim *sim, const hmi_point *at, hmi_jacobian_kind kind,
                                 const double *acceleration, const double *lambda);

#endif
