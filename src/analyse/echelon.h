/* Rank in ball arithmetic: rows are added one by one and reduced by those before.
 *
 * A row is independent where a reduced element is proved to be nonzero, dependent where all are
 * zero to within the tolerance relative to the row; in between, more bits are needed.
 */
#ifndef HMI_ANALYSE_ECHELON_H
#define HMI_ANALYSE_ECHELON_H

#include "base/memory.h"

#include <arb.h>

typedef enum hmi_verdict { HMI_DEPENDENT, HMI_INDEPENDENT, HMI_UNDECIDED } hmi_verdict;

typedef struct hmi_echelon {
    const hm_allocator *allocator;
    size_t columns, rank, most;
    arb_ptr row;   /* rank x columns, reduced, 1 at the pivot */
    size_t *pivot; /* column of each */
    arb_ptr work;  /* columns */
    slong precision;
    double tolerance; /* log2 of what is zero, relative to the row */
    double zero;      /* log2 of the largest relative size that was taken for zero; -inf: exact */
    double nonzero;   /* log2 of the smallest relative size that was proved nonzero */
} hmi_echelon;

/* Room for `most` independent rows. */
hm_status hmi_echelon_init(hmi_echelon *e, const hm_allocator *allocator, size_t columns,
                           size_t most, slong precision, double tolerance);
void hmi_echelon_release(hmi_echelon *e);
/* row: `columns` balls, `step` apart. */
hmi_verdict hmi_echelon_add(hmi_echelon *e, arb_srcptr row, size_t step);

/* log2 of an upper bound of |x|; -inf for 0. */
double hmi_log2_above(const arb_t x);
/* log2 of a lower bound of |x|; -inf where the ball contains 0. */
double hmi_log2_below(const arb_t x);

#endif
