/* Cholesky: M = L L^T for M > 0.
 *
 * Row by row, so that every sum runs over contiguous memory. A pivot is what is left of a diagonal
 * element; it bounds the smallest eigenvalue from above, so a small one proves M nearly singular.
 */
#include "linalg/linalg.h"

bool hmi_cholesky(int n, double *M, double tolerance)
{
    for (int i = 0; i < n; i++) {
        double *row = M + (size_t)i * (size_t)n;
        for (int j = 0; j < i; j++) {
            const double *other = M + (size_t)j * (size_t)n;
            row[j] = (row[j] - hmi_dot(j, row, other)) / other[j];
        }
        double pivot = row[i] - hmi_dot(i, row, row);
        if (!(pivot > tolerance))
            return false;
        row[i] = sqrt(pivot);
    }
    return true;
}

void hmi_lower_solve(int n, const double *L, double *x)
{
    for (int i = 0; i < n; i++) {
        const double *row = L + (size_t)i * (size_t)n;
        x[i] = (x[i] - hmi_dot(i, row, x)) / row[i];
    }
}

void hmi_lower_solve_transposed(int n, const double *L, double *x)
{
    for (int i = n - 1; i >= 0; i--) {
        const double *row = L + (size_t)i * (size_t)n;
        x[i] /= row[i];
        hmi_axpy(i, -x[i], row, x);
    }
}
