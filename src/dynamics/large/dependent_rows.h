/* Rows of the compiled constraint problem that depend on others (compiled.h).
 *
 * The Gram matrix G = A M^-1 A^T squares angles: a pivot that is rounding may belong to a row that
 * follows from others, or to one at an angle of 1e-8 to them. So a set of dropped rows serves only after
 * each of them was put together from the others without squaring:
 *
 *     a_k = Sum w_i a_i,   L^T w = row k of L       (w is short where dependencies are local)
 *
 * Along the motion what a dropped row leaves of its right side is watched, y_k = (L^-1 r)_k, in units of
 * the energy that the others spend: y_k^2 / G_kk against y_i^2 / pivot_i. Where a row does not agree any
 * more, or other rows are dropped, the general solve answers, and the choice is made again.
 * Verified: test/unit/dynamics/test_scaling.c
 */
#ifndef HMI_DYNAMICS_LARGE_DEPENDENT_ROWS_H
#define HMI_DYNAMICS_LARGE_DEPENDENT_ROWS_H

#include "compile/solve/block_schur.h"
#include "dynamics/large/sparse_solve.h"
#include "linalg/sparse.h"

/* Numbers are by place in the order of G's rows. */
typedef struct hmi_dependent_rows {
    size_t m;
    bool allowed;       /* rows are dropped where their pivots vanish */
    bool doubtful;      /* some that were dropped last are not confirmed */
    size_t dropped;     /* in the last solve */
    uint8_t *may_drop;  /* m: 1 */
    uint8_t *confirmed; /* m */
    double *x;          /* m: zero between calls */
    double *rest;       /* n: zero between calls */
    size_t *entry;      /* where the entries of a row of L are, beside ldlt.column; NULL: a band */
} hmi_dependent_rows;

/* ldlt NULL: G is a band. */
bool hmi_dependent_rows_init(hmi_dependent_rows *rows, hmi_arena *arena,
                             const hmi_block_schur *schur, const hmi_ldlt_sparse *ldlt);

/* y = L^-1 r, by rows: do those that were dropped (inverse 0) agree, and are they confirmed? */
bool hmi_dependent_rows_agree(hmi_dependent_rows *rows, const double *inverse, const double *y,
                              const double *diagonal, const size_t *diagonal_at);

/* The factor of the last solve. */
typedef struct hmi_gram_factor {
    const hmi_block_schur *schur;
    const hmi_ldlt_sparse *ldlt; /* where G is not banded */
    const double *band, *inverse;
} hmi_gram_factor;

/* Confirms the rows dropped last that follow from others, with the numbers of A and M there. */
void hmi_dependent_rows_confirm(hmi_dependent_rows *rows, const hmi_gram_factor *factor,
                                const hmi_sparse_shape *shape, const double *M, const double *A);

#endif
