/* Positive banded systems, factored and solved at once, from both ends where the band is narrow. */
#include "linalg/sparse.h"

#include <math.h>
#include <string.h>

/* Elimination on its way from one end of a tridiagonal matrix: the pivot and y = D^-1 L^-1 b of the
 * last row. */
typedef struct front {
    double pivot, y;
} front;

/* The next row, with `link` to the last one: link becomes that of L. A division by the pivot itself
 * rather than a product with its inverse keeps the way from pivot to pivot short. False: small. */
static inline bool eliminate(front *f, double diagonal, double *link, double b, double least)
{
    double e = *link, l = e / f->pivot;
    f->pivot = diagonal - l * e;
    f->y = (b - e * f->y) / f->pivot;
    *link = l;
    return f->pivot > least * diagonal;
}

/* The row in the middle, from either side. */
static void join(const front *f, double *link, double *pivot, double *value)
{
    double e = *link, l = e / f->pivot;
    *pivot -= l * e;
    *value -= e * f->y;
    *link = l;
}

/* w = 1: rows 0 .. middle-1 downwards, rows count-1 .. middle+1 upwards, the middle row last. The
 * two ways do not depend on each other, so one computes while the other waits. What makes a long
 * chain ill-conditioned, as 1/count^2, shows in the middle pivot alone, as 1/count: it is allowed to
 * be smaller. e[k] joins rows k-1 and k and becomes L's; the way back needs nothing else. */
static bool solve_tridiagonal(size_t count, const double *restrict d, double *restrict e,
                              double least, const double *restrict b, double *restrict x)
{
    size_t middle = count / 2, last = count - 1;
    front top = {d[0], b[0] / d[0]}, bottom = {d[last], b[last] / d[last]};
    bool good = d[0] > 0 && d[last] > 0;
    x[0] = top.y;
    x[last] = bottom.y;
    for (size_t k = 1; k < middle; k++) { /* below the middle there are as many rows, or one less */
        size_t h = last - k;
        good &= eliminate(&top, d[k], &e[k], b[k], least);
        x[k] = top.y;
        if (h == middle)
            break;
        good &= eliminate(&bottom, d[h], &e[h + 1], b[h], least);
        x[h] = bottom.y;
    }
    double pivot = d[middle], value = b[middle];
    if (middle > 0)
        join(&top, &e[middle], &pivot, &value);
    if (middle < last)
        join(&bottom, &e[middle + 1], &pivot, &value);
    good &= pivot > least * d[middle] * (count > 100 ? 100 / (double)count : 1);
    double up = value / pivot, down = up;
    x[middle] = up;
    for (size_t k = 1; k <= middle || middle + k < count; k++) {
        if (k <= middle) {
            size_t i = middle - k;
            x[i] = up = x[i] - e[i + 1] * up;
        }
        if (middle + k < count) {
            size_t i = middle + k;
            x[i] = down = x[i] - e[i] * down;
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

void hmi_band_backward(size_t count, size_t width, const double *band, const double *inverse,
                       double *x)
{
    for (size_t k = 0; k < count; k++)
        x[k] *= inverse[k];
    for (size_t k = count; k-- > 0;)
        for (size_t d = 1; d <= width && d <= k; d++)
            x[k - d] -= band[d * count + k] * x[k];
}

bool hmi_band_factor_dropping(size_t count, size_t width, double *band, double *inverse,
                              double least, double drop, const double *restrict b,
                              double *restrict x)
{
    memcpy(x, b, count * sizeof *x);
    for (size_t k = 0; k < count; k++) {
        bool good = factor_row(k, count, width, band, inverse, least);
        if (!good) {
            if (!(fabs(1 / inverse[k]) <= drop * band[k]))
                return false;
            inverse[k] = 0;
        }
        for (size_t d = 1; d <= width && d <= k; d++)
            x[k] -= band[d * count + k] * x[k - d];
    }
    return true;
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
    hmi_band_backward(count, width, band, inverse, x);
    return good;
}
