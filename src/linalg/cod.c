/* Complete orthogonal decomposition: X P = U Pi T^T V^T, from two pivoted QR factorisations.
 *
 *     X P = U R (R is rank x cols),   R^T Pi = V T (T upper triangular, rank x rank)
 *     X^+ = P V T^-T Pi^T U^T,        (X^T)^+ = U Pi T^-1 V^T P^T
 *
 * The pseudo-inverse without an SVD: a solution is least squares and of minimum norm.
 */
#include "linalg/linalg.h"

static int smaller(int a, int b)
{
    return a < b ? a : b;
}

size_t hmi_cod_doubles(int rows, int cols)
{
    size_t k = (size_t)smaller(rows, cols);
    return k * ((size_t)cols + 2) + (size_t)rows + (size_t)cols;
}

size_t hmi_cod_ints(int rows, int cols)
{
    return (size_t)cols + (size_t)smaller(rows, cols);
}

/* W := R^T, column by column */
static void transpose_triangle(const hmi_cod *cod)
{
    for (int i = 0; i < cod->rank; i++)
        for (int j = 0; j < cod->cols; j++)
            cod->W[(size_t)i * (size_t)cod->cols + (size_t)j] =
                j < i ? 0 : cod->X[(size_t)j * (size_t)cod->rows + (size_t)i];
}

void hmi_cod_factor(hmi_cod *cod, int rows, int cols, double *X, int most, double tolerance,
                    double *doubles, int *ints)
{
    size_t k = (size_t)smaller(rows, cols);
    *cod = (hmi_cod){.rows = rows, .cols = cols, .X = X, .order = ints, .turn = ints + cols};
    cod->tau = doubles;
    cod->omega = cod->tau + k;
    cod->W = cod->omega + k;
    cod->scratch = cod->W + k * (size_t)cols;
    cod->rank = hmi_qr(rows, cols, X, cod->tau, cod->order, most, tolerance);
    transpose_triangle(cod);
    cod->rank = hmi_qr(cols, cod->rank, cod->W, cod->omega, cod->turn, cod->rank, 0);
}

void hmi_cod_solve(const hmi_cod *cod, const double *y, double *x)
{
    double *u = cod->scratch, *v = cod->scratch + cod->rows;
    hmi_copy(cod->rows, y, u);
    hmi_qr_multiply_transposed(cod->rows, cod->rank, cod->X, cod->tau, u);
    for (int k = 0; k < cod->rank; k++)
        v[k] = u[cod->turn[k]];
    hmi_zero(cod->cols - cod->rank, v + cod->rank);
    hmi_qr_solve_transposed(cod->cols, cod->rank, cod->W, v);
    hmi_qr_multiply(cod->cols, cod->rank, cod->W, cod->omega, v);
    for (int k = 0; k < cod->cols; k++)
        x[cod->order[k]] = v[k];
}

void hmi_cod_solve_transposed(const hmi_cod *cod, const double *x, double *y)
{
    double *v = cod->scratch + cod->rows;
    for (int k = 0; k < cod->cols; k++)
        v[k] = x[cod->order[k]];
    hmi_qr_multiply_transposed(cod->cols, cod->rank, cod->W, cod->omega, v);
    hmi_qr_solve(cod->cols, cod->rank, cod->W, v);
    hmi_zero(cod->rows, y);
    for (int k = 0; k < cod->rank; k++)
        y[cod->turn[k]] = v[k];
    hmi_qr_multiply(cod->rows, cod->rank, cod->X, cod->tau, y);
}

void hmi_cod_null(const hmi_cod *cod, int k, double *x)
{
    double *v = cod->scratch + cod->rows;
    hmi_zero(cod->cols, v);
    v[cod->rank + k] = 1;
    hmi_qr_multiply(cod->cols, cod->rank, cod->W, cod->omega, v);
    for (int i = 0; i < cod->cols; i++)
        x[cod->order[i]] = v[i];
}
