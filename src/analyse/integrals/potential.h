/* Integrated forms: f with df = omega, and integrating factors mu with d(mu omega) = 0. */
#ifndef HMI_ANALYSE_INTEGRALS_POTENTIAL_H
#define HMI_ANALYSE_INTEGRALS_POTENTIAL_H

#include "analyse/integrability/flag.h"

/* f with df = form, verified by differentiation in ball arithmetic; HMI_NONE where none is
 * found. */
hm_status hmi_find_potential(hmi_sampler *sampler, const hmi_form *form, hmi_expr *f);

/* The same by the rules alone, not verified. */
hmi_expr hmi_guess_potential(hmi_forms *forms, const hmi_form *form);

/* mu with d(mu omega) = 0 in the ambient space, verified likewise, and mu omega; HMI_NONE where
 * none is found among products of powers of coordinates, of factors that occur in the form, of sums
 * of squares, and exponentials of coordinates. */
hm_status hmi_find_integrating_factor(hmi_sampler *sampler, const hmi_form *form, hmi_expr *mu,
                                      hmi_form *scaled);

#endif
