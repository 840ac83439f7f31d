/* Combinations of the constraints that are integrable though no single one is: the derived flag,
 *
 *     I_0 = span of the forms,   I_{j+1} = { eta in I_j : d eta = 0 mod I_j },
 *
 * which ends with the largest integrable system in I_0 [Bryant et al. 1991]. Coefficients are
 * found symbolically: sum_i c_i d omega_i(N_a, N_b) = 0 for a basis N of the directions that I_j
 * leaves, pivots chosen in ball arithmetic, and the result is proved like any other form.
 * Verified: test/cases/classify/hidden*.hamel
 */
#ifndef HMI_ANALYSE_CLASSIFY_HIDDEN_H
#define HMI_ANALYSE_CLASSIFY_HIDDEN_H

#include "analyse/classify/analysis.h"

/* Fills in set.combinations from these rows of the forms; none where they would be too long. */
hm_status hmi_analyse_hidden(hmi_analysis *a, const size_t *list, size_t count);

#endif
