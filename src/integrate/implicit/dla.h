/* One step of the discrete Lagrange-d'Alembert principle; rattle and dla are made of it.
 *
 * With the discrete Lagrangian  L_d = h/2 (L(q0, w, t0) + L(q1, w, t1)),  w = (q1 - q0)/h,  and
 * forces alike, g = dL/dq + forces, p = dL/dv:
 *
 *     (p(q0, w) + p(q1, w))/2 = p0 + h/2 g(q0, w) + A(q0)^T L0
 *     position rows  phi(q1, t1) = 0,     velocity rows  psi((q0 + q1)/2, w, t + h/2) = 0
 *     p(q1, v1) = (p(q0, w) + p(q1, w))/2 + h/2 g(q1, w) + A(q1)^T L1,    phi', psi(q1, v1, t1) = 0
 *
 * For constant M and holonomic constraints this is RATTLE [Andersen 1983; Leimkuhler & Skeel 1994];
 * for M(q) it is the variational method with the same quadrature, momenta continued by both discrete
 * Legendre transforms [Marsden & West 2001, 1.5, 3.4, 3.5]. With velocity rows it is the discrete
 * Lagrange-d'Alembert method [Cortes & Martinez 2001 (3.3); McLachlan & Perlmutter 2006, 4]: A(q0)^T
 * (L1 of the step before + L0) is its one multiplier at q0, split so that v meets the constraint
 * exactly at every step. Symmetric, of order 2.
 *
 * Redundant rows: a maximal independent set, chosen anew at each step (pivoted QR); the others hold
 * with them. Newton's iteration is with exact derivatives, to rounding error.
 */
#ifndef HMI_INTEGRATE_IMPLICIT_DLA_H
#define HMI_INTEGRATE_IMPLICIT_DLA_H

#include "integrate/implicit/fixed_step.h"

size_t hmi_dla_memory_size(const hmi_method *method, const hmi_ode *ode);
hm_status hmi_dla_start(hmi_stepper *s);
hm_status hmi_dla_step(hmi_stepper *s, double t_limit);
void hmi_dla_interpolate(const hmi_stepper *s, double t, double *y);
/* What both methods ask for; constraints are looked at by each. */
hm_status hmi_dla_applies(const hmi_ode *ode, const char **why);

#endif
