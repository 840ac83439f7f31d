/* psi = 0 solved for a velocity that occurs once in it, by inverting one operation after the other. */
#ifndef HMI_ANALYSE_CLASSIFY_SOLVE_FOR_H
#define HMI_ANALYSE_CLASSIFY_SOLVE_FOR_H

#include "analyse/balls/series.h"
#include "analyse/forms/forms.h"

/* R with q'_p = R(q, other q', t); of several branches (even powers, abs) the one that holds at the initial
 * state. HMI_NONE: it occurs not at all or more than once, or an operation has no inverse here. */
hmi_expr hmi_solve_for(hmi_forms *forms, hmi_expr psi, uint32_t p, const hmi_series_state *initial);

#endif
