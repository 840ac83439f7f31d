/* Velocities of degenerate Lagrangians.
 *
 * Where M vanishes on virtual displacements W, the balance of forces along them,
 *     W^T rho(q, q', t) = 0,   rho = Q + C,   A q' = c,
 * determines q' itself (hmi_dirac_solve); for L linear in the velocities one Newton step does.
 *                                             [Lagrange-d'Alembert chapter, Dirac structures]
 * Verified: test/unit/dynamics/test_dirac.c, test/unit/dynamics/test_degenerate.c
 */
#ifndef HMI_DYNAMICS_SIM_DIRAC_H
#define HMI_DYNAMICS_SIM_DIRAC_H

#include "dynamics/sim/motion_derivatives.h"

/* qdot (n) := q' at the point's t, q, z, starting from its v; the same is then in
 * sim->dense.velocity. Needs hmi_sim_prepare_derivatives(sim, HMI_JACOBIAN_STATE).
 * HM_ERR_UNDETERMINED: q' is not determined either; HM_ERR_NUMERIC: no convergence. */
HM_MUST_CHECK hm_status hmi_sim_determine_velocity(hm_sim *sim, const hmi_point *at, double *qdot,
                                                   hmi_dirac_velocity *velocity);

#endif
