#include "support/solve.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* The rows of [A | b], n + 1 wide. */
static long double *augmented(size_t n, const double *A, const double *b)
{
    long double *rows = malloc(n * (n + 1) * sizeof *rows + 1);
    for (size_t i = 0; rows && i < n; i++) {
        for (size_t j = 0; j < n; j++)
            rows[i * (n + 1) + j] = A[i * n + j];
        rows[i * (n + 1) + n] = b[i];
    }
    return rows;
}

static void swap_rows(long double *rows, size_t width, size_t i, size_t k)
{
    for (size_t j = 0; i != k && j < width; j++) {
        long double kept = rows[i * width + j];
        rows[i * width + j] = rows[k * width + j];
        rows[k * width + j] = kept;
    }
}

static bool eliminate(size_t n, long double *rows)
{
    size_t width = n + 1;
    for (size_t k = 0; k < n; k++) {
        size_t pivot = k;
        for (size_t i = k + 1; i < n; i++)
            if (fabsl(rows[i * width + k]) > fabsl(rows[pivot * width + k]))
                pivot = i;
        if (rows[pivot * width + k] == 0)
            return false;
        swap_rows(rows, width, k, pivot);
        for (size_t i = k + 1; i < n; i++) {
            long double factor = rows[i * width + k] / rows[k * width + k];
            for (size_t j = k; j < width; j++)
                rows[i * width + j] -= factor * rows[k * width + j];
        }
    }
    return true;
}

/* Leaves the solution in the last column. */
static void substitute_back(size_t n, long double *rows)
{
    size_t width = n + 1;
    for (size_t i = n; i-- > 0;) {
        long double sum = rows[i * width + n];
        for (size_t j = i + 1; j < n; j++)
            sum -= rows[i * width + j] * rows[j * width + n];
        rows[i * width + n] = sum / rows[i * width + i];
    }
}

bool solve_dense(size_t n, const double *A, const double *b, double *x)
{
    long double *rows = augmented(n, A, b);
    bool solved = rows && eliminate(n, rows);
    if (solved)
        substitute_back(n, rows);
    for (size_t i = 0; solved && i < n; i++)
        x[i] = (double)rows[i * (n + 1) + n];
    free(rows);
    return solved;
}

void subtract_product(size_t m, size_t n, const double *b, const double *A, const double *x,
                      double *out)
{
    for (size_t i = 0; i < m; i++) {
        long double sum = b[i];
        for (size_t j = 0; j < n; j++)
            sum -= (long double)A[i * n + j] * x[j];
        out[i] = (double)sum;
    }
}
