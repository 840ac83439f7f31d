/* Eigenvalues and modes of a real matrix, with what rounding can do to each eigenvalue.
 *
 * LAPACK's dgeevx balances (so units do not matter), and gives the condition number s of every
 * eigenvalue: an error of the matrix of relative size eps moves it by about eps |A| / s, which is
 * what decides whether an eigenvalue, or its real part, is zero.     [Anderson et al. 1999, 4.8]
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

/* A is row-major, size x size; memory from the arena. HM_ERR_NUMERIC: the iteration failed. */
HM_MUST_CHECK hm_status hmi_spectrum_of(hmi_spectrum *s, hmi_arena *arena, size_t size,
                                        const double *A);

#endif
