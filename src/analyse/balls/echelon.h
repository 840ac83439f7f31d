/* Rank in ball arithmetic: rows are added one by one and reduced by those before.
 *
 * A row is independent where a reduced element is proved to be nonzero, dependent where all balls
 * contain 0 and are smaller than the tolerance relative to the row; in between, more bits are
 * needed. Where numbers are known to double precision only (inexact), what is below the tolerance
 * counts as zero even where it is proved nonzero.
 */
#ifndef HMI_ANALYSE_BALLS_ECHELON_H
#define HMI_ANALYSE_BALLS_ECHELON_H

#include "base/memory.h"

#include <arb.h>

typedef enum hmi_dependence { HMI_DEPENDENT, HMI_INDEPENDENT, HMI_UNDECIDED } hmi_dependence;

typedef struct hmi_echelon {
    const hm_allocator *allocator;
    size_t columns, rank, most;
    arb_ptr row;   /* rank x columns, reduced, 1 at the pivot */
    size_t *pivot; /* column of each */
    arb_ptr work;  /* columns */
    slong precision;
    double tolerance; /* log2 of what is zero, relative to the row */
    bool inexact;
    double zero;    /* log2 of the largest relative size that was taken for zero; -inf: exact */
    double nonzero; /* log2 of the smallest relative size that was proved nonzero */
} hmi_echelon;

/* Room for `most` independent rows. */
hm_status hmi_echelon_init(hmi_echelon *e, const hm_allocator *allocator, size_t columns,
                           size_t most, slong precision, bool inexact);
void hmi_echelon_release(hmi_echelon *e);
/* row: `columns` balls, `step` apart. */
hmi_dependence hmi_echelon_add(hmi_echelon *e, arb_srcptr row, size_t step);

/* What is zero at this precision, log2: five eighths of the bits, or 1e-13 where numbers are known to
 * double precision only. */
double hmi_zero_tolerance(slong precision, bool inexact);

/* log2 of an upper bound of |x|; -inf for 0. */
double hmi_log2_above(const arb_t x);
/* log2 of a lower bound of |x|; -inf where the ball contains 0. */
double hmi_log2_below(const arb_t x);

#endif
