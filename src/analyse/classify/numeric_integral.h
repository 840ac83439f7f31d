/* Integrated forms in numbers, where none is found in symbols.
 *
 * The leaves of an integrable form omega are surfaces f = constant. Let z0 = (q0, t0) be the initial
 * state and p a coordinate with omega_p not 0 there. From a point z the leaf is followed over a
 * straight line of the other coordinates to those of z0,
 *     dz_p/ds = - sum_{j != p} omega_j (z0 - z)_j / omega_p,
 * and f(z) is the z_p where it arrives: constant on every leaf, df not 0.
 * Only forms that are integrable off the position constraints, too.
 * Verified: test/unit/analyse/test_leaf.c
 */
#ifndef HMI_ANALYSE_CLASSIFY_NUMERIC_INTEGRAL_H
#define HMI_ANALYSE_CLASSIFY_NUMERIC_INTEGRAL_H

#include "analyse/forms/forms.h"

typedef struct hmi_leaf {
    const hm_allocator *allocator;
    size_t n, p;
    hmi_tape tape;  /* omega, n + 1 components */
    double *center; /* q0, t0 */
    double *params;
} hmi_leaf;

/* omega: n + 1 components, in memory of `arena` with the leaf's own. HM_ERR_NUMERIC: no component
 * has a value that is not 0 there. */
hm_status hmi_leaf_init(hmi_leaf *leaf, hmi_arena *arena, hmi_forms *forms, const hmi_form *form,
                        const double *q0, double t0);
void hmi_leaf_release(hmi_leaf *leaf);
/* f(q, t). HM_ERR_NUMERIC: the leaf cannot be followed to there. */
hm_status hmi_leaf_value(const hmi_leaf *leaf, const double *q, double t, double *f);

#endif
