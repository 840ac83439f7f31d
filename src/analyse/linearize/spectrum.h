/* Eigenvalues and modes of a real matrix, with what rounding can do to each eigenvalue.
 *
 * LAPACK's dgeevx balances (so units do not matter), and gives the condition number s of every
 * eigenvalue: an error of the matrix of relative size eps moves it by about eps |A| / s, which is
 * what decides whether an eigenvalue, or its real part, is zero. What is known of the errors of the
 * entries themselves, E, adds |y|^T E |x| / |y^H x| with the left and right vectors y and x.
 *                                                                     [Anderson et al. 1999, 4.8]
 * Multiple eigenvalues may have s = 0, and the bound says nothing. Those that rounding cannot tell
 * apart are then taken together (cluster.c).
 * Verified: test/unit/analyse/test_spectrum.c
 */
#ifndef HMI_ANALYSE_LINEARIZE_SPECTRUM_H
#define HMI_ANALYSE_LINEARIZE_SPECTRUM_H

#include "base/memory.h"

typedef struct hmi_spectrum {
    size_t size;
    double *re, *im; /* real part falling; of a pair the positive imaginary part first */
    double *error;   /* bound of each eigenvalue */
    double *modes_re, *modes_im; /* row k over the variables; the largest entry is 1 */
} hmi_spectrum;

/* A is row-major, size x size, and so are bounds E of the errors of its entries (NULL: none beside
 * rounding); memory from the arena. HM_ERR_NUMERIC: the iteration failed. */
HM_MUST_CHECK hm_status hmi_spectrum_of(hmi_spectrum *s, hmi_arena *arena, size_t size,
                                        const double *A, const double *E);

/* Lowers the bounds of eigenvalues (re, im)[k] that errors E and of `rounding` times the norm can make
 * equal to others. */
HM_MUST_CHECK hm_status hmi_bound_clusters(hmi_arena *arena, size_t size, const double *A,
                                           const double *E, double rounding, const double *re,
                                           const double *im, double *error);

#endif
