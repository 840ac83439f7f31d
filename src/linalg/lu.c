/* LU with partial pivoting: P M = L U for a general square matrix. */
#include "linalg/linalg.h"

static void swap_rows(int n, double *M, int i, int k)
{
    for (int j = 0; j < n && i != k; j++) {
        double t = M[(size_t)i * (size_t)n + (size_t)j];
        M[(size_t)i * (size_t)n + (size_t)j] = M[(size_t)k * (size_t)n + (size_t)j];
        M[(size_t)k * (size_t)n + (size_t)j] = t;
    }
}

static int largest_below(int n, const double *M, int k)
{
    int best = k;
    for (int i = k + 1; i < n; i++)
        if (fabs(M[(size_t)i * (size_t)n + (size_t)k]) >
            fabs(M[(size_t)best * (size_t)n + (size_t)k]))
            best = i;
    return best;
}

bool hmi_lu(int n, double *M, int *pivots, double tolerance)
{
    for (int k = 0; k < n; k++) {
        pivots[k] = largest_below(n, M, k);
        swap_rows(n, M, k, pivots[k]);
        const double *pivot_row = M + (size_t)k * (size_t)n;
        if (!(fabs(pivot_row[k]) > tolerance))
            return false;
        for (int i = k + 1; i < n; i++) {
            double *row = M + (size_t)i * (size_t)n;
            if (row[k] == 0)
                continue;
            row[k] /= pivot_row[k];
            hmi_axpy(n - k - 1, -row[k], pivot_row + k + 1, row + k + 1);
        }
    }
    return true;
}

void hmi_lu_solve(int n, const double *M, const int *pivots, double *x)
{
    for (int k = 0; k < n; k++) {
        double t = x[pivots[k]];
        x[pivots[k]] = x[k];
        x[k] = t;
    }
    for (int i = 1; i < n; i++)
        x[i] -= hmi_dot(i, M + (size_t)i * (size_t)n, x);
    for (int i = n - 1; i >= 0; i--) {
        const double *row = M + (size_t)i * (size_t)n;
        x[i] = (x[i] - hmi_dot(n - i - 1, row + i + 1, x + i + 1)) / row[i];
    }
}
