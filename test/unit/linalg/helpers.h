/* Shared by the tests of linalg/: random matrices and products. */
#ifndef TEST_UNIT_LINALG_HELPERS_H
#define TEST_UNIT_LINALG_HELPERS_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

#include "linalg/linalg.h"

enum { SIZE = 24 };

static uint64_t seed = 1;

/* in [-1, 1), splitmix64 */
static inline double random_real(void)
{
    uint64_t z = (seed += 0x9e3779b97f4a7c15u);
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return (double)(int64_t)(z ^ (z >> 31)) * 0x1p-63;
}

static inline int random_int(int lo, int hi)
{
    return lo + (int)((random_real() + 1) / 2 * (hi - lo + 1) * 0.999999);
}

static inline void fill(int count, double *x)
{
    for (int i = 0; i < count; i++)
        x[i] = random_real();
}

/* X (rows x cols, row-major) of the given rank */
static inline void fill_rank(int rows, int cols, int rank, double *X)
{
    double left[SIZE * SIZE], right[SIZE * SIZE];
    fill(rows * rank, left);
    fill(rank * cols, right);
    for (int i = 0; i < rows; i++)
        for (int j = 0; j < cols; j++) {
            X[i * cols + j] = 0;
            for (int k = 0; k < rank; k++)
                X[i * cols + j] += left[i * rank + k] * right[k * cols + j];
        }
}

static inline void transpose(int rows, int cols, const double *X, double *Xt)
{
    for (int i = 0; i < rows; i++)
        for (int j = 0; j < cols; j++)
            Xt[j * rows + i] = X[i * cols + j];
}

static inline double distance(int n, const double *x, const double *y)
{
    double largest = 0;
    for (int i = 0; i < n; i++)
        largest = isfinite(x[i]) ? fmax(largest, fabs(x[i] - y[i])) : INFINITY;
    return largest;
}

#endif
