/* An integral in numbers of a form that is integrable, but for which no integral was found in
 * symbols.
 *
 * The leaves of an integrable form omega are surfaces f = constant. Let z0 = (q0, t0) be the
 * initial state and p a coordinate with omega_p not 0 there. From a point z we stay on its leaf
 * while the other coordinates move along the straight line to those of z0,
 *     dz_p/ds = - sum_{j != p} omega_j (z0 - z)_j / omega_p,
 * and f(z) is the z_p at the end of that line. f is constant on every leaf, and df is not 0.
 * The form must be integrable off the position constraints, too, since the line leaves them.
 * Verified: test/unit/analyse/test_numeric_integral.c
 */
#ifndef HMI_ANALYSE_INTEGRALS_NUMERIC_INTEGRAL_H
#define HMI_ANALYSE_INTEGRALS_NUMERIC_INTEGRAL_H

#include "analyse/forms/forms.h"

typedef struct hmi_numeric_integral {
    const hm_allocator *allocator;
    size_t n, p;
    hmi_tape tape;  /* omega, n + 1 components */
    double *center; /* q0, t0 */
    double *params;
} hmi_numeric_integral;

/* The integral keeps its memory in `arena`. HM_ERR_NUMERIC: every component of the form is 0 at the
 * initial state, or depends on more than q, t and parameters. */
hm_status hmi_numeric_integral_init(hmi_numeric_integral *in, hmi_arena *arena, hmi_forms *forms,
                                    const hmi_form *form, const double *q0, double t0);
void hmi_numeric_integral_release(hmi_numeric_integral *in);
/* f(q, t). HM_ERR_NUMERIC: the leaf through (q, t) cannot be followed to the initial
 * coordinates. */
hm_status hmi_numeric_integral_value(const hmi_numeric_integral *in, const double *q, double t,
                                     double *f);

#endif
