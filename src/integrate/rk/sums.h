/* Sums over the stages of a Runge-Kutta method, for the components of one run. */
#ifndef HMI_INTEGRATE_RK_SUMS_H
#define HMI_INTEGRATE_RK_SUMS_H

#include "integrate/rk/rk.h"

/* out = y + h sum_j w_j K_j, or h sum_j w_j K_j where y is NULL; K_j has n components. */
typedef void hmi_rk_sums(const hmi_rk_terms *row, const double *K, size_t n, const double *y,
                         double h, double *restrict out);

/* The fastest for this processor; all give the same bits. */
hmi_rk_sums *hmi_rk_sums_here(void);

#endif
