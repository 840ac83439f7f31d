/* The linear complementarity problem
 *
 *     w = W z + q,   w >= 0,   z >= 0,   w.z = 0
 *
 * by Lemke's method with lexicographic pivoting, which cannot cycle.       [Cottle, Pang, Stone 1992, 4.4]
 * Where W is positive semidefinite (contacts without friction) it ends with a solution, or with a
 * ray, and then there is none. Where W is not, a ray proves nothing.
 *
 * For W = B B^T, w is the same for every solution, and z is not where rows of B depend on each other:
 * hmi_least_forces finds the one of least norm.
 * Verified: test/unit/linalg/test_lcp.c, against enumeration
 */
#ifndef HMI_LINALG_LCP_H
#define HMI_LINALG_LCP_H

#include <stdbool.h>
#include <stddef.h>

typedef enum hmi_lcp_result {
    HMI_LCP_SOLVED,
    HMI_LCP_RAY,    /* no solution, if W is positive semidefinite */
    HMI_LCP_GAVE_UP /* more pivots than there should be: rounding errors lead it astray */
} hmi_lcp_result;

/* Doubles and ints that problems of up to n rows need. */
size_t hmi_lcp_doubles(int n);
size_t hmi_lcp_ints(int n);

/* W: n x n, row-major. z of a solution. Rows and columns may have any units: they are equilibrated by
 * the diagonal. A q that is negative by no more than `noise` (n; NULL: zero) counts as zero. */
hmi_lcp_result hmi_lcp_solve(int n, const double *W, const double *q, const double *noise,
                             double *z, double *doubles, int *ints);

/* z := the vector of least norm with W z as it is, z >= 0 where `one_sided` (NULL: everywhere), and
 * z = 0 where `free` says so (n flags; NULL: nowhere). W is symmetric and positive semidefinite, z
 * feasible. The memory is that of hmi_lcp_solve. */
void hmi_least_forces(int n, const double *W, const bool *one_sided, const bool *free, double *z,
                      double *doubles, int *ints);

#endif
