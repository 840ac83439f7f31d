/* Householder QR with column pivoting: X P = U R.
 *
 * Each step reflects the longest remaining column on the next axis, H = I - tau v v^T with v_k = 1.
 * Lengths are recomputed, not downdated: a rank is decided on them. With columns of unit length the
 * length of a remaining column is its distance from the span of those taken, so `tolerance` is an
 * angle. R falls along its diagonal. [Businger & Golub 1965]
 */
#include "linalg/linalg.h"

static double *column(int rows, double *X, int j)
{
    return X + (size_t)j * (size_t)rows;
}

static void swap_columns(int rows, double *X, int *order, int j, int k)
{
    if (j == k)
        return;
    double *x = column(rows, X, j), *y = column(rows, X, k);
    for (int i = 0; i < rows; i++) {
        double t = x[i];
        x[i] = y[i];
        y[i] = t;
    }
    int t = order[j];
    order[j] = order[k];
    order[k] = t;
}

/* The longest of columns k.. below row k; its length goes to *length. */
static int longest_column(int rows, int cols, double *X, int k, double *length)
{
    int best = k;
    *length = -1;
    for (int j = k; j < cols; j++) {
        const double *x = column(rows, X, j) + k;
        double square = hmi_dot(rows - k, x, x);
        if (square > *length) {
            *length = square;
            best = j;
        }
    }
    *length = sqrt(*length > 0 ? *length : 0);
    return best;
}

/* Turns x (count elements, length > 0) into (beta, v_1, ...), v_0 = 1 understood; returns tau. */
static double make_reflector(int count, double *x, double length)
{
    double beta = x[0] > 0 ? -length : length, v0 = x[0] - beta;
    for (int i = 1; i < count; i++)
        x[i] /= v0;
    x[0] = beta;
    return -v0 / beta;
}

/* y := (I - tau v v^T) y */
static void reflect(int count, const double *v, double tau, double *y)
{
    double t = tau * (y[0] + hmi_dot(count - 1, v + 1, y + 1));
    y[0] -= t;
    hmi_axpy(count - 1, -t, v + 1, y + 1);
}

int hmi_qr(int rows, int cols, double *X, double *tau, int *order, int most, double tolerance)
{
    int limit = rows < cols ? rows : cols;
    if (most < limit)
        limit = most;
    for (int j = 0; j < cols; j++)
        order[j] = j;
    for (int k = 0; k < limit; k++) {
        double length;
        int longest = longest_column(rows, cols, X, k, &length);
        swap_columns(rows, X, order, k, longest);
        if (!(length > tolerance))
            return k;
        double *v = column(rows, X, k) + k;
        tau[k] = make_reflector(rows - k, v, length);
        for (int j = k + 1; j < cols; j++)
            reflect(rows - k, v, tau[k], column(rows, X, j) + k);
    }
    return limit;
}

void hmi_qr_multiply_transposed(int rows, int rank, const double *X, const double *tau, double *y)
{
    for (int k = 0; k < rank; k++)
        reflect(rows - k, X + (size_t)k * (size_t)rows + k, tau[k], y + k);
}

void hmi_qr_multiply(int rows, int rank, const double *X, const double *tau, double *y)
{
    for (int k = rank - 1; k >= 0; k--)
        reflect(rows - k, X + (size_t)k * (size_t)rows + k, tau[k], y + k);
}

void hmi_qr_basis(int rows, int rank, const double *X, const double *tau, int count, double *U)
{
    for (int k = 0; k < count; k++) {
        double *u = column(rows, U, k);
        hmi_zero(rows, u);
        u[k] = 1;
        hmi_qr_multiply(rows, rank, X, tau, u);
    }
}

void hmi_qr_solve(int rows, int rank, const double *X, double *x)
{
    for (int j = rank - 1; j >= 0; j--) {
        const double *r = X + (size_t)j * (size_t)rows;
        x[j] /= r[j];
        hmi_axpy(j, -x[j], r, x);
    }
}

void hmi_qr_solve_transposed(int rows, int rank, const double *X, double *x)
{
    for (int j = 0; j < rank; j++) {
        const double *r = X + (size_t)j * (size_t)rows;
        x[j] = (x[j] - hmi_dot(j, r, x)) / r[j];
    }
}
