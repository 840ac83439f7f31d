/* Sparse and banded symmetric factorisations G = L D L^T with a pattern that does not change:
 * symbolic work once, numbers as often as wanted without allocation.
 *
 * A pivot is compared with the size of the terms it is the difference of, which does not depend on
 * units. Its expected sign (+1 or -1) is given; where it is too small or of the wrong sign it is
 * dropped or refused:
 *     ratio = sign * pivot / (|diagonal| + Sum |terms|)
 * A dropped pivot has the inverse 0: its row and column take no part, the unknown is 0.
 * Verified: test/unit/linalg/test_sparse.c
 */
#ifndef HMI_LINALG_SPARSE_H
#define HMI_LINALG_SPARSE_H

#include "base/memory.h"

/* ---- general patterns ---- */

/* The lower triangle by rows, diagonal included (last in its row), columns ascending. */
typedef struct hmi_lower {
    size_t count;
    const size_t *start;
    const uint32_t *column;
} hmi_lower;

typedef struct hmi_ldlt_sparse {
    size_t count;
    hmi_lower G;
    size_t *column_start; /* L by columns, strictly below the diagonal, */
    uint32_t *row;
    double *value;
    size_t *row_start; /* and the columns of each row, ascending */
    uint32_t *column;
    double *inverse;     /* of the pivots; 0 where dropped */
    double *accumulator; /* count, zero between calls */
    size_t *fill;        /* entries of each column so far */
} hmi_ldlt_sparse;

/* Memory comes from the arena; the pattern stays the caller's and must live as long. HM_ERR_NOMEM;
 * HM_ERR_LIMIT where L would have more than `most` entries. */
HM_MUST_CHECK hm_status hmi_ldlt_sparse_init(hmi_ldlt_sparse *f, const hm_allocator *allocator,
                                             hmi_arena *arena, const hmi_lower *G, size_t most);

/* What to do with pivots. Those with sign[k] < 0 are expected negative; NULL: all positive. */
typedef struct hmi_pivoting {
    const int8_t *sign;
    double drop;             /* ratios below it are dropped where may_drop says so, */
    double refuse;           /* and make the factorisation fail where not */
    const uint8_t *may_drop; /* NULL: none */
    double smallest;         /* out: the smallest ratio that was kept */
    size_t dropped;          /* out: how many */
    size_t refused;          /* out: which pivot failed */
} hmi_pivoting;

/* values: of the lower triangle. False: a pivot was refused. */
bool hmi_ldlt_sparse_factor(hmi_ldlt_sparse *f, const double *values, hmi_pivoting *pivoting);
/* x := (L D L^T)^-1 x, and its halves: x := L^-1 x, x := L^-T D^-1 x. */
void hmi_ldlt_sparse_solve(const hmi_ldlt_sparse *f, double *x);
void hmi_ldlt_sparse_forward(const hmi_ldlt_sparse *f, double *x);
void hmi_ldlt_sparse_backward(const hmi_ldlt_sparse *f, double *x);

/* ---- bands ---- */

enum { HMI_WIDEST_BAND = 8 };

/* Positive G of half width w by diagonals: band[d*count + k] = G[k][k-d]. Factors (the band is
 * overwritten) and solves for one right side b at once, from both ends towards the middle where
 * w = 1, which halves the waiting for reciprocals. False where a pivot is not above `least` times
 * its diagonal element. */
bool hmi_band_solve(size_t count, size_t width, double *band, double *inverse, double least,
                    const double *restrict b, double *restrict x);

/* The same where rows may depend on those before them, for any width: a pivot not above `least` of its
 * diagonal element is dropped where it is below `drop` of it (inverse 0, unknown 0); between the two is
 * no answer. The band becomes L, with the diagonal kept as it was. x is L^-1 b: hmi_band_backward makes
 * it the solution. */
bool hmi_band_factor_dropping(size_t count, size_t width, double *band, double *inverse,
                              double least, double drop, const double *restrict b,
                              double *restrict x);
void hmi_band_backward(size_t count, size_t width, const double *band, const double *inverse,
                       double *x);

#endif
