/* Cholesky: M = L L^T for M > 0.
 *
 * Row by row, so that every sum runs over contiguous memory. A pivot is what is left of a diagonal
 * element; it bounds the smallest eigenvalue from above, so a small one proves M nearly singular. A
 * large one proves nothing where a leading block is ill-conditioned: hmi_positive_rank takes the
 * largest pivot first, and so tells definite, semidefinite and indefinite apart (Higham 1990).
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

#define AT(i, j) M[(size_t)(i) * (size_t)n + (size_t)(j)]

/* Exchanges rows and columns k and p > k of the lower triangle from k on. */
static void exchange(int n, double *M, int k, int p)
{
    double t = AT(k, k);
    AT(k, k) = AT(p, p);
    AT(p, p) = t;
    for (int i = k + 1; i < n; i++) {
        if (i == p)
            continue;
        double *x = &AT(i, k), *y = i < p ? &AT(p, i) : &AT(i, p);
        t = *x;
        *x = *y;
        *y = t;
    }
}

static int largest_diagonal(int n, const double *M, int k)
{
    int best = k;
    for (int i = k + 1; i < n; i++)
        if (AT(i, i) > AT(best, best))
            best = i;
    return best;
}

static double largest_left(int n, const double *M, int k)
{
    double largest = 0;
    for (int i = k; i < n; i++)
        largest = fmax(largest, hmi_max_abs(i - k + 1, &AT(i, k)));
    return largest;
}

int hmi_positive_rank(int n, double *M, double tolerance)
{
    for (int k = 0; k < n; k++) {
        int p = largest_diagonal(n, M, k);
        if (!(AT(p, p) > tolerance))
            return largest_left(n, M, k) <= 16 * tolerance ? k : -1;
        if (p != k)
            exchange(n, M, k, p);
        for (int i = k + 1; i < n; i++) {
            double t = AT(i, k) / AT(k, k);
            for (int j = k + 1; j <= i; j++)
                AT(i, j) -= t * AT(j, k);
        }
    }
    return n;
}
