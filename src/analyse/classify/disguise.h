/* Nonlinear constraints that are a linear one in disguise: x'/y' = 1, exp(x' - y') = 1, x'^3 = y'^3.
 *
 * The zeros of such a psi in velocity space are, near the initial state, a piece of a hyperplane whose
 * coefficients depend on q and t alone. Candidates for it are found in three ways,
 *     psi = 0 solved for a velocity that occurs once:  q'_p = R, and R affine in the others
 *     ratios of d psi/dq' that do not depend on velocities, as of psi = f(u) with u linear
 *     psi of velocities alone: its gradient at the initial state, a vector of numbers
 * and none is believed: a candidate counts where it holds at the initial state and psi vanishes in random
 * states that satisfy it, in ball arithmetic. Another branch may exist elsewhere (x'^4 = y'^4).
 * Verified: test/cases/classify/disguise*.hamel
 */
#ifndef HMI_ANALYSE_CLASSIFY_DISGUISE_H
#define HMI_ANALYSE_CLASSIFY_DISGUISE_H

#include "analyse/classify/quadratic.h"

/* Studies constraint k, which is not quadratic, or not seen to be linear by that. */
hm_status hmi_study_disguise(hmi_sampler *sampler, size_t k, const hmi_series_state *initial,
                             hmi_quadratic *result);

#endif
