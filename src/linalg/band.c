/* Positive banded systems: see sparse.h. */
#include "linalg/sparse.h"

#include <string.h>

/* One row from its neighbour nearer the end: pivot and right side; returns the pivot's inverse. */
static inline double eliminate(double e, double near_inverse, double near_x, double *d, double *x)
{
    double t = e * near_inverse;
    *d -= t * e;
    *x -= t * near_x;
    return 1 / *d;
}

/* w = 1: rows 0 .. middle-1 downwards, rows count-1 .. middle+1 upwards, the middle row last. The
 * two ways do not depend on each other, so one computes while the other waits. What makes a long
 * chain ill-conditioned, as 1/count^2, shows in the middle pivot alone, as 1/count: it is allowed to
 * be smaller. Inverse pivots take the places of d: memory is what long chains wait for. */
static bool solve_tridiagonal(size_t count, double *restrict d, const double *restrict e,
                              double least, const double *restrict b, double *restrict x)
{
    size_t middle = count / 2, low = 0, high = count - 1;
    double x_top = b[0], x_bottom = b[high], inv_top = 1 / d[0], inv_bottom = 1 / d[high];
    bool good = d[0] > 0 && d[high] > 0;
    x[0] = x_top;
    x[high] = x_bottom;
    double only = d[middle]; /* where there is one row or two, it is an end, too */
    if (middle > 0)
        d[0] = inv_top;
    if (high > middle)
        d[high] = inv_bottom;
    while (low + 1 < middle || high > middle + 1) {
        if (low + 1 < middle) {
            low++;
            double pivot = d[low], value = b[low];
            inv_top = eliminate(e[low], inv_top, x_top, &pivot, &value);
            good &= pivot > least * d[low];
            d[low] = inv_top;
            x[low] = x_top = value;
        }
        if (high > middle + 1) {
            high--;
            double pivot = d[high], value = b[high];
            inv_bottom = eliminate(e[high + 1], inv_bottom, x_bottom, &pivot, &value);
            good &= pivot > least * d[high];
            d[high] = inv_bottom;
            x[high] = x_bottom = value;
        }
    }
    double pivot = only, value = b[middle];
    if (middle > 0)
        eliminate(e[middle], d[middle - 1], x[middle - 1], &pivot, &value);
    if (middle + 1 < count)
        eliminate(e[middle + 1], d[middle + 1], x[middle + 1], &pivot, &value);
    good &= pivot > least * only * (count > 100 ? 100 / (double)count : 1);
    x[middle] = value / pivot;
    double up = x[middle], down = x[middle];
    for (size_t k = 1; k <= middle || middle + k < count; k++) {
        if (k <= middle) {
            size_t i = middle - k;
            up = (x[i] - e[i + 1] * up) * d[i];
            x[i] = up;
        }
        if (middle + k < count) {
            size_t i = middle + k;
            down = (x[i] - e[i] * down) * d[i];
            x[i] = down;
        }
    }
    return good;
}

/* Row k: its entries become those of L, from the farthest to the nearest. */
static bool factor_row(size_t k, size_t count, size_t width, double *restrict band,
                       double *restrict inverse, double least)
{
    double diagonal = band[k], pivot = diagonal, row[HMI_WIDEST_BAND + 1]; /* row: L D */
    size_t reach = k < width ? k : width;
    for (size_t d = reach; d > 0; d--) {
        size_t j = k - d;
        double y = band[d * count + k];
        size_t more = j < width - d ? j : width - d; /* columns before j that rows k and j share */
        for (size_t s = 1; s <= more; s++)
            y -= row[d + s] * band[s * count + j];
        double l = y * inverse[j];
        row[d] = y;
        pivot -= l * y;
        band[d * count + k] = l;
    }
    inverse[k] = 1 / pivot;
    return pivot > least * diagonal;
}

bool hmi_band_solve(size_t count, size_t width, double *band, double *inverse, double least,
                    const double *restrict b, double *restrict x)
{
    if (count == 0)
        return true;
    if (width == 1)
        return solve_tridiagonal(count, band, band + count, least, b, x);
    bool good = true;
    memcpy(x, b, count * sizeof *x);
    for (size_t k = 0; k < count; k++) {
        good &= factor_row(k, count, width, band, inverse, least);
        for (size_t d = 1; d <= width && d <= k; d++)
            x[k] -= band[d * count + k] * x[k - d];
    }
    for (size_t k = 0; k < count; k++)
        x[k] *= inverse[k];
    for (size_t k = count; k-- > 0;)
        for (size_t d = 1; d <= width && d <= k; d++)
            x[k - d] -= band[d * count + k] * x[k];
    return good;
}
