/* What series.c and series_build.c share: the kinds of slots. */
#ifndef HMI_ANALYSE_BALLS_SERIES_SLOTS_H
#define HMI_ANALYSE_BALLS_SERIES_SLOTS_H

#include "analyse/balls/series.h"

/* Slots beyond the operations of the graph. */
enum {
    SLOT_LEAF = HMI_OP_COUNT,
    SLOT_CONST,    /* a: handle of the constant */
    SLOT_INTEGRAL, /* y' = w x': a = x, b = w, c = the operation that gives order 0 */
    SLOT_ANGLE,    /* atan2(y, x): a = y, b = x, c = the slot of 1/(x^2 + y^2) */
    SLOT_POWER,    /* a^b, b constant */
};

/* Is the number known exactly: a ratio, a decimal of at most 15 digits, a multiple of pi? */
bool hmi_series_exact(const hmi_constant *constant);

/* series_table.c: order k of a table of the model. */
void hmi_series_table(hmi_series *jet, const hmi_series_slot *slot, arb_ptr y, size_t k);

#endif
