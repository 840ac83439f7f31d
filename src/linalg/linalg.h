/* Small dense kernels. They allocate nothing and decide nothing about units: what they are given is
 * equilibrated by scale.c first, so that a tolerance means the same for every row and column.
 *
 * Storage. Matrices are row-major. The QR family works on columns that are contiguous in memory
 * (column j of an r x c matrix X starts at X + j r): a row-major A is, as it stands, A^T in that
 * storage, which is the matrix whose columns are the rows of A.
 */
#ifndef HMI_LINALG_LINALG_H
#define HMI_LINALG_LINALG_H

#include "linalg/tolerances.h"

#include <stdbool.h>
#include <stddef.h>

/* ---- scale.c --------------------------------------------------------------------------------- */

/* The power of two that brings x > 0 into [1/2, 1); 1 for x = 0. */
double hmi_power_of_two(double x);

/* Powers of two D with |D M D| of about unit diagonal (M symmetric), and R with rows of R A D of
 * length in [1/2, 1). Rows of zeros get R = 1; coordinates without inertia take their unit from
 * the rows that hold them. */
void hmi_equilibrate(int n, int m, const double *M, const double *A, double *D, double *R);
/* R alone, for given D > 0. */
void hmi_equilibrate_rows(int n, int m, const double *A, const double *D, double *R);

/* ---- cholesky.c: M = L L^T ------------------------------------------------------------------- */

/* Replaces the lower triangle of M by L. false when a pivot is not above `tolerance`. */
bool hmi_cholesky(int n, double *M, double tolerance);
/* The rank of M >= 0 by diagonal pivoting, -1 where M is indefinite; M is destroyed. */
int hmi_positive_rank(int n, double *M, double tolerance);
/* x := L^-1 x and x := L^-T x */
void hmi_lower_solve(int n, const double *L, double *x);
void hmi_lower_solve_transposed(int n, const double *L, double *x);

/* ---- ldlt.c: P M P^T = L D L^T, M symmetric indefinite (Bunch-Kaufman) ----------------------- */

/* Replaces the lower triangle of M; pivots[n]. false when a pivot block is below `tolerance`. */
bool hmi_ldlt(int n, double *M, int *pivots, double tolerance);
void hmi_ldlt_solve(int n, const double *M, const int *pivots, double *x);
/* Numbers of positive and negative eigenvalues. */
void hmi_ldlt_inertia(int n, const double *M, const int *pivots, int *positive, int *negative);

/* ---- lu.c: P M = L U with partial pivoting --------------------------------------------------- */

bool hmi_lu(int n, double *M, int *pivots, double tolerance);
void hmi_lu_solve(int n, const double *M, const int *pivots, double *x);

/* ---- qr.c: X P = U R by Householder reflections, X rows x cols with contiguous columns ------- */

/* Pivots on the longest remaining column, stops before one not longer than `tolerance` or after
 * `most` columns; returns the rank found. tau[min(rows, cols)], order[cols] (column k of the
 * factored matrix was column order[k]). X keeps R above and the reflectors below the diagonal. */
int hmi_qr(int rows, int cols, double *X, double *tau, int *order, int most, double tolerance);
/* y := U^T y and y := U y with the first `rank` reflectors; y has `rows` elements. */
void hmi_qr_multiply_transposed(int rows, int rank, const double *X, const double *tau, double *y);
void hmi_qr_multiply(int rows, int rank, const double *X, const double *tau, double *y);
/* The columns of U as the rows of U (count x rows): the first `rank` span the columns of X, the
 * others its orthogonal complement. */
void hmi_qr_basis(int rows, int rank, const double *X, const double *tau, int count, double *U);
/* x := R^-1 x and x := R^-T x with the leading rank x rank triangle */
void hmi_qr_solve(int rows, int rank, const double *X, double *x);
void hmi_qr_solve_transposed(int rows, int rank, const double *X, double *x);

/* ---- cod.c: complete orthogonal decomposition, X = U T^T V^T of rank r ----------------------- */

typedef struct hmi_cod {
    int rows, cols, rank;
    double *X, *tau;   /* rows x cols and its reflectors: U */
    double *W, *omega; /* cols x rank and its reflectors: V */
    int *order;        /* columns of X */
    int *turn;         /* columns of W */
    double *scratch;   /* rows + cols */
} hmi_cod;

/* Doubles and ints that a decomposition needs beside X. */
size_t hmi_cod_doubles(int rows, int cols);
size_t hmi_cod_ints(int rows, int cols);
/* Decomposes X in place, in memory of these sizes. most, tolerance: as for hmi_qr. */
void hmi_cod_factor(hmi_cod *cod, int rows, int cols, double *X, int most, double tolerance,
                    double *doubles, int *ints);
/* x[cols] = X^+ y[rows]: least squares, minimum norm */
void hmi_cod_solve(const hmi_cod *cod, const double *y, double *x);
/* y[rows] = (X^T)^+ x[cols] */
void hmi_cod_solve_transposed(const hmi_cod *cod, const double *x, double *y);
/* x[cols] := vector k of an orthonormal basis of X x = 0, k < cols - rank */
void hmi_cod_null(const hmi_cod *cod, int k, double *x);

/* ---- graded.c: least squares with rows of very different size -------------------------------- */

/* X Pi = V T of full column rank, rows sorted by size: the error of a row is relative to it. */
typedef struct hmi_graded {
    int rows, cols;
    double *X, *tau;
    int *row_order, *col_order;
    double *scratch; /* rows */
} hmi_graded;

size_t hmi_graded_doubles(int rows, int cols);
size_t hmi_graded_ints(int rows, int cols);
/* Copies X (rows x cols, row-major) into the given memory and factors it. */
void hmi_graded_factor(hmi_graded *g, int rows, int cols, const double *X, double *doubles,
                       int *ints);
/* y := V V^T y, the projection on the columns of X */
void hmi_graded_project(const hmi_graded *g, double *y);
/* x[rows] of minimum norm with X^T x = z[cols] */
void hmi_graded_solve_transposed(const hmi_graded *g, const double *z, double *x);
/* x[cols] = X^+ y[rows] */
void hmi_graded_solve(const hmi_graded *g, const double *y, double *x);
/* The same for y = the unit vector of row i: column i of X^+ */
void hmi_graded_solve_unit(const hmi_graded *g, int i, double *x);
/* V (cols x rows): an orthonormal basis of the columns of X, one a row */
void hmi_graded_basis(const hmi_graded *g, double *V);

/* ---- eigen.c, svd.c: Jacobi rotations, for verdicts and geometry ----------------------------- */

/* M symmetric: values[n] and orthonormal vectors (row k belongs to values[k]). M is destroyed. */
void hmi_eigen(int n, double *M, double *values, double *vectors);

/* X (rows x cols, contiguous columns) = U S V^T: X becomes U S column by column, singular values
 * fall; V (cols x cols) has row k = the right vector of sigma[k]. One-sided rotations keep high
 * relative accuracy for columns of different size. */
void hmi_svd(int rows, int cols, double *X, double *sigma, double *V);

/* ---- pinv.c ---------------------------------------------------------------------------------- */

size_t hmi_pseudo_inverse_doubles(int rows, int cols);
size_t hmi_pseudo_inverse_ints(int rows, int cols);
/* W (rows x cols) -> W_plus (cols x rows). The rank is that of W with rows and columns
 * equilibrated, or `rank` where that is not negative; returned. */
int hmi_pseudo_inverse(int rows, int cols, const double *W, int rank, double *W_plus,
                       double *doubles, int *ints);

/* ---- accurate.c: sums of products as if in twice the precision ------------------------------- */

/* A sum s + e held without rounding error. */
typedef struct hmi_sum {
    double s, e;
} hmi_sum;

void hmi_sum_add(hmi_sum *sum, double x);
/* sum += t x.y */
void hmi_sum_dot(hmi_sum *sum, double t, int n, const double *x, int step_x, const double *y);

#endif
