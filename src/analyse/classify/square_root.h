/* Constraints with one square root of velocities,
 *
 *     a(q, t) sqrt(S(q, q', t)) + b(q, q', t) = 0    <=>    a^2 S = b^2  and  -b/a >= 0
 *
 * as the coin's sqrt(x'^2 + y'^2) = R theta', which is Flannery's (57) with theta' >= 0. abs and
 * hypot are such roots.                                   Verified: test/cases/classify/coin-root.hamel
 */
#ifndef HMI_ANALYSE_CLASSIFY_SQUARE_ROOT_H
#define HMI_ANALYSE_CLASSIFY_SQUARE_ROOT_H

#include "analyse/forms/forms.h"

/* *squared = a^2 S - b^2 and *side = -b/a, which must not be negative; HMI_NONE where psi is not of
 * this kind. */
hm_status hmi_clear_square_root(hmi_forms *forms, hmi_expr psi, hmi_expr *squared, hmi_expr *side);

#endif
