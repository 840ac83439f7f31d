/* Bunch-Kaufman: P M P^T = L D L^T for a symmetric indefinite matrix, D of 1x1 and 2x2 blocks.
 *
 * Each step takes a diagonal element as pivot where it is large against its column, else a 2x2
 * block that is [Bunch & Kaufman 1977, diagonal pivoting, lower triangle]. By Sylvester's law the
 * signs of D are the signs of the eigenvalues of M; a 2x2 block has one of each.
 *
 * pivots[k] = p >= 0: 1x1 block, rows k and p were exchanged;
 * pivots[k] = pivots[k + 1] = -1 - p: 2x2 block, rows k + 1 and p were exchanged.
 */
#include "linalg/linalg.h"

#define AT(i, j) M[(size_t)(i) * (size_t)n + (size_t)(j)]

static void swap(double *x, double *y)
{
    double t = *x;
    *x = *y;
    *y = t;
}

/* Exchanges rows and columns j and p > j of the trailing matrix that starts at k. */
static void exchange(int n, double *M, int k, int j, int p)
{
    if (p == j)
        return;
    swap(&AT(j, j), &AT(p, p));
    for (int i = k; i < j; i++)
        swap(&AT(j, i), &AT(p, i));
    for (int i = j + 1; i < p; i++)
        swap(&AT(i, j), &AT(p, i));
    for (int i = p + 1; i < n; i++)
        swap(&AT(i, j), &AT(i, p));
}

/* Row of the largest element of column k below the diagonal. */
static int largest_in_column(int n, const double *M, int k)
{
    int best = k + 1;
    for (int i = k + 2; i < n; i++)
        if (fabs(AT(i, k)) > fabs(AT(best, k)))
            best = i;
    return best;
}

/* Largest off-diagonal element of row and column r in the trailing matrix. */
static double largest_around(int n, const double *M, int k, int r)
{
    double largest = 0;
    for (int j = k; j < r; j++)
        largest = fmax(largest, fabs(AT(r, j)));
    for (int i = r + 1; i < n; i++)
        largest = fmax(largest, fabs(AT(i, r)));
    return largest;
}

/* 1 or 2, the size of the block at k; *p is the row to exchange with row k, or k + 1 for 2. */
static int choose_block(int n, const double *M, int k, int *p)
{
    const double alpha = 0.6403882032022076; /* (1 + sqrt 17)/8 */
    *p = k;
    if (k == n - 1)
        return 1;
    int r = largest_in_column(n, M, k);
    double below = fabs(AT(r, k)), own = fabs(AT(k, k));
    if (own >= alpha * below)
        return 1;
    double around = largest_around(n, M, k, r);
    if (own * around >= alpha * below * below)
        return 1;
    *p = r;
    return fabs(AT(r, r)) >= alpha * around ? 1 : 2;
}

static bool eliminate_one(int n, double *M, int k, double tolerance)
{
    if (!(fabs(AT(k, k)) > tolerance))
        return false;
    for (int i = k + 1; i < n; i++) {
        double t = AT(i, k) / AT(k, k);
        for (int j = k + 1; j <= i; j++)
            AT(i, j) -= t * AT(j, k);
    }
    for (int i = k + 1; i < n; i++)
        AT(i, k) /= AT(k, k);
    return true;
}

/* (x, y) := D^-1 (x, y) for the 2x2 block at k, scaled by its off-diagonal element, its largest */
static void solve_two(int n, const double *M, int k, double *x, double *y)
{
    double c = AT(k + 1, k), a = AT(k, k) / c, b = AT(k + 1, k + 1) / c;
    double u = *x / c, v = *y / c, det = a * b - 1;
    *x = (b * u - v) / det;
    *y = (a * v - u) / det;
}

static bool eliminate_two(int n, double *M, int k, double tolerance)
{
    if (!(fabs(AT(k + 1, k)) > tolerance))
        return false;
    for (int i = k + 2; i < n; i++) {
        double s = AT(i, k), t = AT(i, k + 1);
        solve_two(n, M, k, &s, &t);
        for (int j = i; j < n; j++)
            AT(j, i) -= s * AT(j, k) + t * AT(j, k + 1);
        AT(i, k) = s;
        AT(i, k + 1) = t;
    }
    return true;
}

bool hmi_ldlt(int n, double *M, int *pivots, double tolerance)
{
    for (int k = 0; k < n;) {
        int p, size = choose_block(n, M, k, &p);
        exchange(n, M, k, k + size - 1, p == k ? k + size - 1 : p);
        if (!(size == 1 ? eliminate_one : eliminate_two)(n, M, k, tolerance))
            return false;
        pivots[k] = size == 1 ? p : -1 - p;
        if (size == 2)
            pivots[k + 1] = -1 - p;
        k += size;
    }
    return true;
}

static void exchange_elements(double *x, int i, int j)
{
    double t = x[i];
    x[i] = x[j];
    x[j] = t;
}

/* x := D^-1 L^-1 P x */
static void solve_forward(int n, const double *M, const int *pivots, double *x)
{
    for (int k = 0; k < n;) {
        int size = pivots[k] >= 0 ? 1 : 2;
        exchange_elements(x, k + size - 1, size == 1 ? pivots[k] : -1 - pivots[k]);
        for (int i = k + size; i < n; i++)
            for (int j = k; j < k + size; j++)
                x[i] -= AT(i, j) * x[j];
        if (size == 1)
            x[k] /= AT(k, k);
        else
            solve_two(n, M, k, &x[k], &x[k + 1]);
        k += size;
    }
}

void hmi_ldlt_solve(int n, const double *M, const int *pivots, double *x)
{
    solve_forward(n, M, pivots, x);
    for (int k = n - 1; k >= 0;) {
        int size = pivots[k] >= 0 ? 1 : 2, first = k - size + 1;
        for (int j = first; j <= k; j++)
            for (int i = k + 1; i < n; i++)
                x[j] -= AT(i, j) * x[i];
        exchange_elements(x, k, size == 1 ? pivots[k] : -1 - pivots[k]);
        k -= size;
    }
}

void hmi_ldlt_inertia(int n, const double *M, const int *pivots, int *positive, int *negative)
{
    *positive = *negative = 0;
    for (int k = 0; k < n;) {
        if (pivots[k] < 0) {
            ++*positive;
            ++*negative;
            k += 2;
        } else {
            ++*(AT(k, k) > 0 ? positive : negative);
            k++;
        }
    }
}
