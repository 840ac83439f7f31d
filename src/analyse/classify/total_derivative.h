/* Constraints on accelerations that are the derivative of a function of velocities,
 *
 *     h = A(q, q', t) q'' - b(q, q', t) = 0,    mu h = d psi / dt,    so that psi(q, q', t) = c,
 *
 * as Zhao's (19), x'' + 2 y y'' + z'' = -2 y'^2, the second derivative of x + y^2 + z. The factor mu is 1, 1/A_j or a
 * denominator of some A_j. psi is integrated by the rules of hmi_find_potential, once over velocities and
 * once over coordinates, and verified by differentiation in ball arithmetic.
 * Verified: test/cases/classify/acceleration*.hamel
 */
#ifndef HMI_ANALYSE_CLASSIFY_TOTAL_DERIVATIVE_H
#define HMI_ANALYSE_CLASSIFY_TOTAL_DERIVATIVE_H

#include "analyse/balls/sample.h"

/* *psi is HMI_NONE where none was found. *linear: it is affine in the velocities. */
hm_status hmi_integrate_acceleration(hmi_sampler *sampler, hmi_expr h, hmi_expr *psi, bool *linear);

#endif
