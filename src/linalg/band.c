/* Positive banded systems: see sparse.h. */
#include "linalg/sparse.h"

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
 * be smaller. */
static bool solve_tridiagonal(size_t count, const double *restrict d, const double *restrict e,
                              double *restrict inverse, double least, double *restrict x)
{
    size_t middle = count / 2, low = 0, high = count - 1;
    double top = d[0], bottom = d[high], x_top = x[0], x_bottom = x[high];
    bool good = top > 0 && bottom > 0;
    inverse[0] = 1 / top;
    inverse[high] = 1 / bottom;
    double inv_top = inverse[0], inv_bottom = inverse[high];
    while (low + 1 < middle || high > middle + 1) {
        if (low + 1 < middle) {
            low++;
            double pivot = d[low], value = x[low];
            inv_top = eliminate(e[low], inv_top, x_top, &pivot, &value);
            good &= pivot > least * d[low];
            inverse[low] = inv_top;
            x[low] = x_top = value;
        }
        if (high > middle + 1) {
            high--;
            double pivot = d[high], value = x[high];
            inv_bottom = eliminate(e[high + 1], inv_bottom, x_bottom, &pivot, &value);
            good &= pivot > least * d[high];
            inverse[high] = inv_bottom;
            x[high] = x_bottom = value;
        }
    }
    double pivot = d[middle], value = x[middle];
    if (middle > 0)
        eliminate(e[middle], inverse[middle - 1], x[middle - 1], &pivot, &value);
    if (middle + 1 < count)
        eliminate(e[middle + 1], inverse[middle + 1], x[middle + 1], &pivot, &value);
    good &= pivot > least * d[middle] * (count > 100 ? 100 / (double)count : 1);
    x[middle] = value / pivot;
    double up = x[middle], down = x[middle];
    for (size_t k = 1; k <= middle || middle + k < count; k++) {
        if (k <= middle) {
            size_t i = middle - k;
            up = (x[i] - e[i + 1] * up) * inverse[i];
            x[i] = up;
        }
        if (middle + k < count) {
            size_t i = middle + k;
            down = (x[i] - e[i] * down) * inverse[i];
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
                    double *restrict x)
{
    if (count == 0)
        return true;
    if (width == 1)
        return solve_tridiagonal(count, band, band + count, inverse, least, x);
    bool good = true;
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
