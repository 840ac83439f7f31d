/* Degenerate Lagrangians in first-order form: for runs and every method.
 *
 * Where M vanishes on virtual displacements (point vortices, Lotka-Volterra, L linear in velocities)
 * q' is determined by the Dirac form (hmi_dirac_solve) and q'' is not. The layout y = (q, v, z) stays
 * as it is, so that output, events and all methods work unchanged; with ode->dirac set,
 *
 *     q' = V(t, q, v),  z' = rates at V,  v' = q'', or 0 where M sees no virtual displacement at all
 *
 * and v is a state only in those components that M sees; the others are results. What a run does:
 *
 *   1. At the start, where hmi_sim_accelerate says HM_ERR_UNDETERMINED: hmi_ode_try_dirac(ode, t, y, &why).
 *      HM_OK: ode->dirac is set, and the motion is determined. Else the message is in `why`. Before a
 *      method's memory_size is asked for.
 *   2. hmi_ode_evaluate begins with `if (ode->dirac) return ode->last = hmi_ode_dirac(ode, t, y, dy)`.
 *   3. hmi_ode_settle(ode, t, y) puts v := q': at the start (initial velocities are results), after
 *      every accepted step in place of the projection of velocities, and on interpolated states
 *      before they are shown. Projection of positions is as ever.
 *   4. Values and rates of events are taken after hmi_ode_dirac_forces instead of hmi_ode_forces, at
 *      the point that it leaves.
 *
 * rattle and dla do not apply then; rk5, dop853, radau and midpoint do.
 */
#ifndef HMI_INTEGRATE_ODE_DEGENERATE_H
#define HMI_INTEGRATE_ODE_DEGENERATE_H

#include "integrate/ode/method.h"

/* Decides at (t, y), where v := q'. HM_ERR_UNDETERMINED: q' is not determined either (the free
 * directions are not named here: hm_sim_evaluate does). HM_ERR_USAGE: servos or laws of constraint
 * forces, which are not supported. */
HM_MUST_CHECK hm_status hmi_ode_try_dirac(hmi_ode *ode, double t, double *y, const char **why);
HM_MUST_CHECK hm_status hmi_ode_dirac(hmi_ode *ode, double t, const double *y, double *dy);
/* at->v becomes q' (in memory of the sim), and sim->last has q'' there, which of coordinates without
 * mass is the rate of q': for functions of these (events). */
HM_MUST_CHECK hm_status hmi_ode_dirac_forces(hmi_ode *ode, hmi_point *at);
/* v := q'. Does nothing unless ode->dirac. */
HM_MUST_CHECK hm_status hmi_ode_settle(hmi_ode *ode, double t, double *y);

#endif
