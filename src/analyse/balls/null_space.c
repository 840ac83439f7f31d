/* Reads the null vectors off an echelon, and recognises simple ratios.
 * Verified: test/unit/analyse/test_null_space.c */
#include "analyse/balls/null_space.h"

#include <math.h>

enum { MOST_DENOMINATOR = 360 };

/* Makes the elements above the pivots zero, too. */
static void reduce_upwards(hmi_echelon *e)
{
    arb_t factor;
    arb_init(factor);
    for (size_t r = e->rank; r-- > 0;) {
        arb_srcptr by = e->row + r * e->columns;
        for (size_t i = 0; i < r; i++) {
            arb_ptr row = e->row + i * e->columns;
            arb_set(factor, row + e->pivot[r]);
            if (arb_is_zero(factor))
                continue;
            for (size_t j = 0; j < e->columns; j++)
                if (!arb_is_zero(by + j))
                    arb_submul(row + j, factor, by + j, e->precision);
            arb_zero(row + e->pivot[r]);
        }
    }
    arb_clear(factor);
}

static bool is_pivot(const hmi_echelon *e, size_t column)
{
    for (size_t r = 0; r < e->rank; r++)
        if (e->pivot[r] == column)
            return true;
    return false;
}

/* Makes the last nonzero element positive, which gives the usual form x p_y - y p_x. */
static void orient(arb_mat_t vectors, slong row)
{
    for (slong j = arb_mat_ncols(vectors); j-- > 0;) {
        arb_srcptr x = arb_mat_entry(vectors, row, j);
        if (arb_contains_zero(x))
            continue;
        if (arb_is_negative(x))
            _arb_vec_neg(arb_mat_entry(vectors, row, 0), arb_mat_entry(vectors, row, 0),
                         arb_mat_ncols(vectors));
        return;
    }
}

void hmi_null_space(hmi_echelon *e, arb_mat_t vectors)
{
    slong next = 0;
    arb_mat_init(vectors, (slong)(e->columns - e->rank), (slong)e->columns);
    reduce_upwards(e);
    for (size_t j = 0; j < e->columns; j++) {
        if (is_pivot(e, j))
            continue;
        for (size_t r = 0; r < e->rank; r++)
            arb_neg(arb_mat_entry(vectors, next, (slong)e->pivot[r]), e->row + r * e->columns + j);
        arb_one(arb_mat_entry(vectors, next, (slong)j));
        orient(vectors, next++);
    }
}

hmi_expr hmi_ball_number(hmi_graph *graph, const arb_t x, double tolerance, bool *exact)
{
    arb_t scaled, rest;
    fmpz_t whole;
    hmi_expr number = HMI_NONE;
    bool found = false;
    arb_init(scaled);
    arb_init(rest);
    fmpz_init(whole);
    for (ulong q = 1; q <= MOST_DENOMINATOR && !found; q++) {
        arb_mul_ui(scaled, x, q, 400);
        arf_get_fmpz(whole, arb_midref(scaled), ARF_RND_NEAR);
        arb_sub_fmpz(rest, scaled, whole, 400);
        found = hmi_log2_above(rest) < tolerance && fmpz_bits(whole) < 50;
        if (found)
            number = hmi_ratio(graph, fmpz_get_si(whole), (int64_t)q);
    }
    if (!found) {
        *exact = false;
        number = hmi_number(graph, arf_get_d(arb_midref(x), ARF_RND_NEAR));
    }
    arb_clear(scaled);
    arb_clear(rest);
    fmpz_clear(whole);
    return number;
}
