/* psi = 0 solved for a velocity that occurs once in it, by inverting one operation after the other. */
#ifndef HMI_ANALYSE_CLASSIFY_SOLVE_FOR_H
#define HMI_ANALYSE_CLASSIFY_SOLVE_FOR_H

#include "analyse/balls/series.h"
#include "analyse/forms/forms.h"

/* R with q'_p = R(q, other q', t); of several branches (even powers, abs) the one that holds at the initial
 * state. HMI_NONE: it occurs not at all or more than once, or an operation has no inverse here. */
hmi_expr hmi_solve_for(hmi_forms *forms, hmi_expr psi, uint32_t p, const hmi_series_state *initial);

/* The same for all velocities together, which may occur as often as they like: e with e = 0 where psi = 0,
 * affine in the velocities. Operations are taken off from the root; a quotient N/D = y becomes N - y D, and
 * f(a) = f(b) becomes a = b. HMI_NONE: this leads to no such e. */
hmi_expr hmi_take_off(hmi_forms *forms, hmi_expr psi, const hmi_series_state *initial);

#endif
