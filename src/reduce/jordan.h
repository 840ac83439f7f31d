/* Gauss-Jordan elimination of symbolic linear systems, by pivots that are numbers or made of parameters alone and
 * not zero: what they give is regular at every state. */
#ifndef HMI_REDUCE_JORDAN_H
#define HMI_REDUCE_JORDAN_H

#include "reduce/reduce.h"

typedef struct hmi_jordan {
    hmi_reduce *r;
    size_t rows, unknowns, columns; /* columns: unknowns, then right-hand sides */
    hmi_expr *w;                    /* rows x columns */
    uint32_t *pivot;                /* by row: its unknown, HMI_NONE: none yet */
    bool *solved;                   /* by unknown */
} hmi_jordan;

bool hmi_jordan_init(hmi_jordan *x, hmi_reduce *r, size_t rows, size_t unknowns, size_t columns);
static inline hmi_expr *hmi_jordan_at(hmi_jordan *x, size_t i, size_t j)
{
    return &x->w[i * x->columns + j];
}
/* Takes the unknown out of all other rows. */
void hmi_jordan_take(hmi_jordan *x, size_t row, size_t unknown);
/* One constant pivot, that which fills in least; false: there is none. */
bool hmi_jordan_take_constant(hmi_jordan *x);

#endif
