/* Intervals that enclose the values of operations, with their rates along a path.
 *
 * An enclosure says: at every point of a piece of the path the value lies in [lo, hi] and its
 * derivative along the path in [rate_lo, rate_hi]. Results are widened by a few units in the last
 * place, which covers the rounding of the operation itself (at most 1 ulp, expr/graph/math.h) and of
 * the bounds. Where an operation has no value on a part of its operands (a division by an interval
 * that holds 0, a logarithm of something negative) the result is everything; nothing is ever lost.
 * Verified: test/unit/compile/test_enclosure.c
 */
#ifndef HMI_COMPILE_TAPE_INTERVAL_H
#define HMI_COMPILE_TAPE_INTERVAL_H

#include <math.h>
#include <stdbool.h>

typedef struct hmi_interval {
    double lo, hi;
} hmi_interval;

typedef struct hmi_enclosure {
    hmi_interval value, rate;
} hmi_enclosure;

static const hmi_interval hmi_everything = {-INFINITY, INFINITY};

static inline bool hmi_interval_has(hmi_interval x, double value)
{
    return x.lo <= value && value <= x.hi;
}

static inline hmi_interval hmi_interval_hull(hmi_interval x, hmi_interval y)
{
    return (hmi_interval){fmin(x.lo, y.lo), fmax(x.hi, y.hi)};
}

/* Outwards by some units in the last place; a bound that is not finite: everything. */
static inline hmi_interval hmi_interval_widen(double lo, double hi)
{
    const double ulps = 4 * 0x1p-53, least = 0x1p-1000;
    if (!(lo <= hi) || !isfinite(lo) || !isfinite(hi))
        return hmi_everything;
    return (hmi_interval){lo - (fabs(lo) * ulps + least), hi + (fabs(hi) * ulps + least)};
}

hmi_interval hmi_interval_add(hmi_interval x, hmi_interval y);
hmi_interval hmi_interval_sub(hmi_interval x, hmi_interval y);
hmi_interval hmi_interval_mul(hmi_interval x, hmi_interval y);
hmi_interval hmi_interval_div(hmi_interval x, hmi_interval y);
hmi_interval hmi_interval_square(hmi_interval x);
/* The function, with the result of any operation of the table (HMI_ADD ...) on enclosures. */
hmi_enclosure hmi_enclose_op(int op, hmi_enclosure x, hmi_enclosure y, hmi_enclosure z);
/* Sine and cosine of one argument. */
void hmi_enclose_sincos(hmi_enclosure x, hmi_enclosure *sine, hmi_enclosure *cosine);

#endif
