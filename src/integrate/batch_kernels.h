/* Loops over four lanes: value i of lane l is at [4 i + l], aligned to 32 bytes. Each lane gets the
 * bits that the loops of rk.c give for its values alone, with AVX2 or without. */
#ifndef HMI_INTEGRATE_BATCH_KERNELS_H
#define HMI_INTEGRATE_BATCH_KERNELS_H

#include "integrate/rk.h"

typedef struct hmi_batch_kernels {
    /* out = y + h sum_j w_j K_j, or without y; width components a stage */
    void (*advance)(const hmi_rk_terms *row, const double *K, size_t width, const double *y,
                    const double *h, double *out);
    void (*combine)(const hmi_rk_terms *row, const double *K, size_t width, const double *h,
                    double *out);
    /* dy = (v, out): y' from a state's velocities and the motion tape's outputs; lanes whose margin is
     * not positive get bits in bad. */
    void (*rates)(size_t n, size_t width, const double *v, const double *out, const double *margin,
                  double *dy, double *bad);
    /* The error of a step by its two estimates, as hmi_scaled_norm and hmi_rk_join_estimates give it */
    void (*error)(const hmi_rk_terms *estimate, const double *K, size_t width, const double *h,
                  const double *y, const double *next, size_t size, const double tolerance[2],
                  double *error);
    /* Sums over lanes of hmi_scaled_norm, before the root: x[i] / (atol + rtol max(|y1|, |y2|)) */
    void (*scaled)(const double *x, const double *y1, const double *y2, size_t size, double atol,
                   double rtol, double *sum);
    /* |a - b|^2 of the first size components */
    void (*distance)(const double *a, const double *b, size_t size, double *sum);
    void (*copy)(size_t size, const double *from, double *to);
    /* to = from on the lanes whose mask is not 0 */
    void (*select)(const double *mask, size_t size, const double *from, double *to);
} hmi_batch_kernels;

const hmi_batch_kernels *hmi_batch_kernels_here(void);
/* Those for every processor. */
extern const hmi_batch_kernels hmi_batch_kernels_portable;

#endif
