/* The fundamental equation of a large sparse system, as numbers:
 *
 *     [ M  A^T ] [  x ]   [ F ]
 *     [ A   0  ] [ -l ] = [ b ]
 *
 * by L D L^T without pivoting for size: an order for little fill is found once, in which each
 * multiplier comes after the coordinates of its row; where M > 0, coordinates then have positive and
 * multipliers negative pivots. A multiplier whose pivot vanishes belongs to a row that depends on
 * others: it is dropped (its multiplier is 0), and the answer is put into the dropped rows to see
 * whether they agree. Refinement brings back the digits that small pivots cost.
 *
 * Where M is not positive, M + A^T V A takes its place (as in accelerate.c); its larger pattern is
 * made when it is first needed: the only allocation after creation.
 *
 * Decisions: a pivot below 1e-11 of its terms is dropped, so rows whose angle to the span of the
 * others is below 3e-6 count as dependent; should b then not fit, the angle is computed without
 * squaring (hmi_sparse_angle), and above 1e-9 it is a failure that is reported as such.
 * Verified: test/unit/dynamics/test_sparse.c
 */
#ifndef HMI_DYNAMICS_LARGE_SPARSE_SOLVE_H
#define HMI_DYNAMICS_LARGE_SPARSE_SOLVE_H

#include "linalg/sparse.h"

/* M's lower triangle and A by rows, columns ascending. */
typedef struct hmi_sparse_shape {
    size_t n, m;
    const size_t *M_start;
    const uint32_t *M_column;
    const size_t *A_start;
    const uint32_t *A_column;
} hmi_sparse_shape;

typedef struct hmi_sparse_solver hmi_sparse_solver;

/* The arrays of the shape stay the caller's and must live as long. HM_ERR_NOMEM; HM_ERR_LIMIT where
 * the factor would be too large. */
HM_MUST_CHECK hm_status hmi_sparse_create(const hm_allocator *allocator,
                                          const hmi_sparse_shape *shape, hmi_sparse_solver **out);
void hmi_sparse_destroy(hmi_sparse_solver *s);

/* Takes the numbers of M and A (kept: they must live until the last solve) and factors.
 *   HM_ERR_UNDETERMINED  M is not positive on what A allows, as far as this can tell:
 *                        hmi_sparse_suspect names a coordinate;
 *   HM_ERR_NUMERIC       something is not finite; HM_ERR_NOMEM, HM_ERR_LIMIT: see above. */
HM_MUST_CHECK hm_status hmi_sparse_factor(hmi_sparse_solver *s, const double *M, const double *A);

/* x (n) and lambda (m; NULL: not wanted) under force F and right side b.
 *   HM_ERR_INCONSISTENT  a dropped row is not met: x meets the others;
 *   HM_ERR_NUMERIC       refinement does not reach 1e-9 of the terms, or something is not finite. */
HM_MUST_CHECK hm_status hmi_sparse_solve(hmi_sparse_solver *s, const double *F, const double *b,
                                         double *x, double *lambda);

/* After hmi_sparse_factor. */
size_t hmi_sparse_rank(const hmi_sparse_solver *s); /* rows kept */
bool hmi_sparse_is_dropped(const hmi_sparse_solver *s, size_t row);
size_t hmi_sparse_suspect(const hmi_sparse_solver *s);
/* The smallest pivot that was kept, relative to its terms; and after a solve what refinement left of the
 * equations, relative to theirs. */
double hmi_sparse_smallest(const hmi_sparse_solver *s);
double hmi_sparse_left(const hmi_sparse_solver *s);
/* By how much the last solution misses a row, b_i - A_i x, and the size of its terms. */
double hmi_sparse_miss(const hmi_sparse_solver *s, size_t row, const double *b, const double *x,
                       double *size);
/* How much of a dropped row the rows kept do not make up, relative to its largest entry, and the
 * coefficients w (m) of the combination that is nearest in the metric M^-1. */
double hmi_sparse_angle(hmi_sparse_solver *s, size_t row, double *w);

#endif
