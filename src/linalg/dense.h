/* Loops over short vectors and row-major matrices: what the kernels of linalg/ are made of. */
#ifndef HMI_LINALG_DENSE_H
#define HMI_LINALG_DENSE_H

#include <math.h>
#include <string.h>

#define HMI_EPSILON 2.220446049250313e-16

/* How many entries a matrix has, and where a row of it begins. */
static inline size_t hmi_area(int rows, int cols)
{
    return (size_t)rows * (size_t)cols;
}

static inline double hmi_dot(int n, const double *x, const double *y)
{
    double s = 0;
    for (int i = 0; i < n; i++)
        s += x[i] * y[i];
    return s;
}

/* y += t x */
static inline void hmi_axpy(int n, double t, const double *restrict x, double *restrict y)
{
    for (int i = 0; i < n; i++)
        y[i] += t * x[i];
}

static inline void hmi_copy(int n, const double *x, double *y)
{
    if (n > 0)
        memcpy(y, x, (size_t)n * sizeof *y);
}

static inline void hmi_zero(int n, double *x)
{
    for (int i = 0; i < n; i++)
        x[i] = 0;
}

/* z = x y, element by element */
static inline void hmi_times(int n, const double *x, const double *y, double *z)
{
    for (int i = 0; i < n; i++)
        z[i] = x[i] * y[i];
}

static inline double hmi_max_abs(int n, const double *x)
{
    double s = 0;
    for (int i = 0; i < n; i++)
        s = fabs(x[i]) > s ? fabs(x[i]) : s;
    return s;
}

static inline double hmi_norm(int n, const double *x)
{
    return sqrt(hmi_dot(n, x, x));
}

/* NaN and infinities fail. */
static inline int hmi_all_finite(int n, const double *x)
{
    double s = 0;
    for (int i = 0; i < n; i++)
        s += x[i] * 0;
    return s == 0;
}

/* y = A x, A rows x cols */
static inline void hmi_matvec(int rows, int cols, const double *A, const double *x, double *y)
{
    for (int i = 0; i < rows; i++)
        y[i] = hmi_dot(cols, A + (size_t)i * (size_t)cols, x);
}

/* y += t A^T x, A rows x cols */
static inline void hmi_mul_transposed(int rows, int cols, double t, const double *A,
                                      const double *x, double *y)
{
    for (int i = 0; i < rows; i++)
        hmi_axpy(cols, t * x[i], A + (size_t)i * (size_t)cols, y);
}

#endif
