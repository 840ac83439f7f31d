/* LU of a complex matrix held as two real ones: C's complex product guards against infinities at a
 * cost that does not pay here. */
#include "integrate/implicit/newton.h"

#include <math.h>

static void swap_rows(int n, double *x, int i, int k)
{
    double *a = x + (size_t)i * (size_t)n, *b = x + (size_t)k * (size_t)n;
    for (int j = 0; j < n && i != k; j++) {
        double t = a[j];
        a[j] = b[j];
        b[j] = t;
    }
}

static int largest_below(int n, const double *re, const double *im, int k)
{
    int best = k;
    double largest = -1;
    for (int i = k; i < n; i++) {
        size_t at = (size_t)i * (size_t)n + (size_t)k;
        double size = fabs(re[at]) + fabs(im[at]);
        if (size > largest) {
            largest = size;
            best = i;
        }
    }
    return best;
}

/* x -= t y over `count` elements */
static void subtract(int count, double t_re, double t_im, const double *restrict y_re,
                     const double *restrict y_im, double *restrict x_re, double *restrict x_im)
{
    for (int j = 0; j < count; j++) {
        x_re[j] -= t_re * y_re[j] - t_im * y_im[j];
        x_im[j] -= t_re * y_im[j] + t_im * y_re[j];
    }
}

bool hmi_complex_lu(int n, double *re, double *im, int *pivots)
{
    for (int k = 0; k < n; k++) {
        pivots[k] = largest_below(n, re, im, k);
        swap_rows(n, re, k, pivots[k]);
        swap_rows(n, im, k, pivots[k]);
        const double *p_re = re + (size_t)k * (size_t)n, *p_im = im + (size_t)k * (size_t)n;
        double square = p_re[k] * p_re[k] + p_im[k] * p_im[k];
        if (!(square > 0))
            return false;
        for (int i = k + 1; i < n; i++) {
            double *a = re + (size_t)i * (size_t)n, *b = im + (size_t)i * (size_t)n;
            double t_re = (a[k] * p_re[k] + b[k] * p_im[k]) / square;
            double t_im = (b[k] * p_re[k] - a[k] * p_im[k]) / square;
            a[k] = t_re;
            b[k] = t_im;
            if (t_re != 0 || t_im != 0)
                subtract(n - k - 1, t_re, t_im, p_re + k + 1, p_im + k + 1, a + k + 1, b + k + 1);
        }
    }
    return true;
}

/* (x, y)_i -= Sum over j in [from, to) of row i times (x, y)_j */
static void subtract_row(const double *re, const double *im, int from, int to, int i, double *x,
                         double *y)
{
    for (int j = from; j < to; j++) {
        x[i] -= re[j] * x[j] - im[j] * y[j];
        y[i] -= re[j] * y[j] + im[j] * x[j];
    }
}

void hmi_complex_lu_solve(int n, const double *re, const double *im, const int *pivots, double *x,
                          double *y)
{
    for (int k = 0; k < n; k++) {
        double t = x[pivots[k]], u = y[pivots[k]];
        x[pivots[k]] = x[k];
        y[pivots[k]] = y[k];
        x[k] = t;
        y[k] = u;
    }
    for (int i = 1; i < n; i++)
        subtract_row(re + (size_t)i * (size_t)n, im + (size_t)i * (size_t)n, 0, i, i, x, y);
    for (int i = n - 1; i >= 0; i--) {
        const double *a = re + (size_t)i * (size_t)n, *b = im + (size_t)i * (size_t)n;
        subtract_row(a, b, i + 1, n, i, x, y);
        double square = a[i] * a[i] + b[i] * b[i], t = x[i], u = y[i];
        x[i] = (t * a[i] + u * b[i]) / square;
        y[i] = (u * a[i] - t * b[i]) / square;
    }
}
