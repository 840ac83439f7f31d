/* Adds rows to an echelon one by one, and bounds balls by powers of two (echelon.h).
 * Verified: test/unit/analyse/test_echelon.c */
#include "analyse/balls/echelon.h"

#include <math.h>

double hmi_log2_above(const arb_t x)
{
    arf_t bound;
    arf_init(bound);
    arb_get_abs_ubound_arf(bound, x, 30);
    double size = arf_is_zero(bound)  ? -INFINITY
                  : arf_is_nan(bound) ? NAN
                  : arf_is_inf(bound) ? INFINITY
                                      : (double)fmpz_get_si(ARF_EXPREF(bound));
    if (isfinite(size)) {
        arf_mul_2exp_si(bound, bound, -(slong)size);
        size += log2(arf_get_d(bound, ARF_RND_UP));
    }
    arf_clear(bound);
    return size;
}

double hmi_log2_below(const arb_t x)
{
    arf_t bound;
    double size = -INFINITY;
    if (!arb_is_finite(x) || arb_contains_zero(x))
        return size;
    arf_init(bound);
    arb_get_abs_lbound_arf(bound, x, 30);
    if (!arf_is_zero(bound)) {
        size = (double)fmpz_get_si(ARF_EXPREF(bound));
        arf_mul_2exp_si(bound, bound, -(slong)size);
        size += log2(arf_get_d(bound, ARF_RND_DOWN));
    }
    arf_clear(bound);
    return size;
}

double hmi_zero_tolerance(slong precision, bool inexact)
{
    return inexact ? -43 : -0.625 * (double)precision;
}

hm_status hmi_echelon_init(hmi_echelon *e, const hm_allocator *allocator, size_t columns,
                           size_t most, slong precision, bool inexact)
{
    *e = (hmi_echelon){.allocator = allocator,
                       .columns = columns,
                       .most = most,
                       .precision = precision,
                       .tolerance = hmi_zero_tolerance(precision, inexact),
                       .inexact = inexact,
                       .zero = -INFINITY,
                       .nonzero = INFINITY};
    e->pivot = hmi_alloc(allocator, (most + 1) * sizeof *e->pivot);
    if (!e->pivot)
        return HM_ERR_NOMEM;
    e->row = _arb_vec_init((slong)(most * columns));
    e->work = _arb_vec_init((slong)columns);
    return HM_OK;
}

void hmi_echelon_release(hmi_echelon *e)
{
    if (e->row)
        _arb_vec_clear(e->row, (slong)(e->most * e->columns));
    if (e->work)
        _arb_vec_clear(e->work, (slong)e->columns);
    if (e->pivot)
        hmi_free(e->allocator, e->pivot, (e->most + 1) * sizeof *e->pivot);
    *e = (hmi_echelon){0};
}

static void reduce(hmi_echelon *e)
{
    arb_t factor;
    arb_init(factor);
    for (size_t r = 0; r < e->rank; r++) {
        arb_srcptr by = e->row + r * e->columns;
        if (arb_is_zero(e->work + e->pivot[r]))
            continue;
        arb_set(factor, e->work + e->pivot[r]);
        for (size_t j = 0; j < e->columns; j++)
            if (!arb_is_zero(by + j))
                arb_submul(e->work + j, factor, by + j, e->precision);
        arb_zero(e->work + e->pivot[r]); /* it is exactly 0 by construction */
    }
    arb_clear(factor);
}

static void keep(hmi_echelon *e, size_t pivot)
{
    arb_ptr row = e->row + e->rank * e->columns;
    for (size_t j = 0; j < e->columns; j++)
        arb_div(row + j, e->work + j, e->work + pivot, e->precision);
    arb_one(row + pivot);
    e->pivot[e->rank++] = pivot;
}

hmi_dependence hmi_echelon_add(hmi_echelon *e, arb_srcptr row, size_t step)
{
    double scale = -INFINITY, above = -INFINITY, below = -INFINITY;
    size_t pivot = 0;
    for (size_t j = 0; j < e->columns; j++) {
        arb_set(e->work + j, row + j * step);
        scale = fmax(scale, hmi_log2_above(e->work + j));
    }
    if (scale == -INFINITY)
        return HMI_DEPENDENT;
    reduce(e);
    for (size_t j = 0; j < e->columns; j++) {
        double low = hmi_log2_below(e->work + j);
        if (!arb_is_finite(e->work + j))
            return HMI_UNDECIDED;
        above = fmax(above, hmi_log2_above(e->work + j));
        if (low > below) {
            below = low;
            pivot = j;
        }
    }
    bool tiny = above <= scale + e->tolerance;
    if (tiny && (e->inexact || below == -INFINITY)) {
        e->zero = fmax(e->zero, above - scale);
        return HMI_DEPENDENT;
    }
    if (below == -INFINITY || (e->inexact && below <= scale + e->tolerance))
        return HMI_UNDECIDED;
    e->nonzero = fmin(e->nonzero, below - scale);
    if (e->rank < e->most)
        keep(e, pivot);
    return HMI_INDEPENDENT;
}
