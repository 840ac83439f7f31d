/* The Moore-Penrose inverse of a matrix of any rank.                 [Zhao 2018 (30)-(35)]
 *
 * The rank r is decided on W with rows and columns equilibrated. With Z an orthonormal basis of the
 * row space (from r independent rows) and F = W Z of full column rank,
 *     W^+ = Z F^+.
 * Both factors come from QR with sorted rows (graded.c), so that rows and columns of very different
 * size keep their digits. Verified: test/unit/linalg/test_pinv.c
 */
#include "linalg/linalg.h"

static size_t product(int a, int b)
{
    return (size_t)a * (size_t)b;
}

static int smaller(int a, int b)
{
    return a < b ? a : b;
}

static size_t larger(size_t a, size_t b)
{
    return a > b ? a : b;
}

/* First the scaled matrix and its reflectors; then Z, F (or the independent rows), one column, and
 * the graded factors. */
size_t hmi_pseudo_inverse_doubles(int rows, int cols)
{
    int k = smaller(rows, cols);
    size_t decide = product(rows, cols) + (size_t)k;
    size_t solve = product(k, cols) + larger(product(cols, k), product(rows, k)) + (size_t)k +
                   larger(hmi_graded_doubles(rows, k), hmi_graded_doubles(cols, k));
    return larger(decide, solve);
}

size_t hmi_pseudo_inverse_ints(int rows, int cols)
{
    return (size_t)rows + (size_t)(rows > cols ? rows : cols) + (size_t)smaller(rows, cols);
}

/* S := R W C of rows and columns of about unit length */
static void equilibrate(int rows, int cols, const double *W, double *S)
{
    hmi_copy(rows * cols, W, S);
    for (int pass = 0; pass < 3; pass++) {
        for (int i = 0; i < rows; i++) {
            double r = hmi_power_of_two(hmi_max_abs(cols, S + product(i, cols)));
            for (int j = 0; j < cols; j++)
                S[product(i, cols) + (size_t)j] *= r;
        }
        for (int j = 0; j < cols; j++) {
            double largest = 0;
            for (int i = 0; i < rows; i++)
                largest = fmax(largest, fabs(S[product(i, cols) + (size_t)j]));
            double c = hmi_power_of_two(largest);
            for (int i = 0; i < rows; i++)
                S[product(i, cols) + (size_t)j] *= c;
        }
    }
}

/* The rank, and in `order` first that many independent rows. */
static int find_rank(int rows, int cols, const double *W, int rank, double *doubles, int *order)
{
    double *S = doubles, *tau = S + product(rows, cols);
    equilibrate(rows, cols, W, S);
    double tolerance = rank < 0 ? hmi_rank_tolerance(rows, cols) : 0;
    return hmi_qr(cols, rows, S, tau, order, rank < 0 ? rows : rank, tolerance);
}

/* Z (rank x cols): an orthonormal basis of the row space */
static void row_space(int cols, int rank, const double *W, const int *order, double *Z,
                      double *doubles, int *ints)
{
    double *X = doubles; /* cols x rank: the independent rows, of about unit length, as columns */
    for (int k = 0; k < rank; k++) {
        const double *row = W + product(order[k], cols);
        double scale = hmi_power_of_two(hmi_max_abs(cols, row));
        for (int j = 0; j < cols; j++)
            X[product(j, rank) + (size_t)k] = row[j] * scale;
    }
    hmi_graded g;
    hmi_graded_factor(&g, cols, rank, X, doubles + product(cols, rank), ints);
    hmi_graded_basis(&g, Z);
}

int hmi_pseudo_inverse(int rows, int cols, const double *W, int rank, double *W_plus,
                       double *doubles, int *ints)
{
    int *order = ints, r = find_rank(rows, cols, W, rank, doubles, order);
    double *Z = doubles, *F = Z + product(r, cols), *f = F + product(rows, r), *work = f + r;
    row_space(cols, r, W, order, Z, F, ints + rows); /* F is scratch here */
    for (int i = 0; i < rows; i++)
        hmi_matvec(r, cols, Z, W + product(i, cols), F + product(i, r));
    hmi_graded g;
    hmi_graded_factor(&g, rows, r, F, work, ints + rows);
    for (int i = 0; i < rows; i++) {
        hmi_graded_solve_unit(&g, i, f);
        for (int j = 0; j < cols; j++) {
            double s = 0;
            for (int k = 0; k < r; k++)
                s += Z[product(k, cols) + (size_t)j] * f[k];
            W_plus[product(j, rows) + (size_t)i] = s;
        }
    }
    return r;
}
