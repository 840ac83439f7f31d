/* Least squares with rows of very different size: X Pi = V T, rows sorted.
 *
 * Householder QR with rows sorted by decreasing size and columns pivoted makes an error in each row
 * that is small relative to that row [Cox & Higham 1998]. Multipliers of constraints whose rows
 * differ by twelve decades, and residuals of such rows, keep their digits this way.
 */
#include "linalg/linalg.h"

size_t hmi_graded_doubles(int rows, int cols)
{
    return (size_t)rows * (size_t)cols + (size_t)cols + (size_t)rows;
}

size_t hmi_graded_ints(int rows, int cols)
{
    return (size_t)rows + (size_t)cols;
}

/* order := rows by decreasing largest element; equal ones stay in order */
static void sort_rows(int rows, int cols, const double *X, double *size, int *order)
{
    for (int i = 0; i < rows; i++) {
        size[i] = hmi_max_abs(cols, X + (size_t)i * (size_t)cols);
        int k = i;
        for (; k > 0 && size[order[k - 1]] < size[i]; k--)
            order[k] = order[k - 1];
        order[k] = i;
    }
}

void hmi_graded_factor(hmi_graded *g, int rows, int cols, const double *X, double *doubles,
                       int *ints)
{
    *g = (hmi_graded){.rows = rows, .cols = cols, .X = doubles, .row_order = ints};
    g->tau = g->X + (size_t)rows * (size_t)cols;
    g->scratch = g->tau + cols;
    g->col_order = ints + rows;
    sort_rows(rows, cols, X, g->scratch, g->row_order);
    for (int j = 0; j < cols; j++)
        for (int i = 0; i < rows; i++)
            g->X[(size_t)j * (size_t)rows + (size_t)i] =
                X[(size_t)g->row_order[i] * (size_t)cols + (size_t)j];
    g->cols = hmi_qr(rows, cols, g->X, g->tau, g->col_order, cols, 0);
}

static void sort(const hmi_graded *g, const double *y)
{
    for (int i = 0; i < g->rows; i++)
        g->scratch[i] = y[g->row_order[i]];
}

static void unsort(const hmi_graded *g, double *y)
{
    for (int i = 0; i < g->rows; i++)
        y[g->row_order[i]] = g->scratch[i];
}

void hmi_graded_project(const hmi_graded *g, double *y)
{
    sort(g, y);
    hmi_qr_multiply_transposed(g->rows, g->cols, g->X, g->tau, g->scratch);
    hmi_zero(g->rows - g->cols, g->scratch + g->cols);
    hmi_qr_multiply(g->rows, g->cols, g->X, g->tau, g->scratch);
    unsort(g, y);
}

void hmi_graded_solve_transposed(const hmi_graded *g, const double *z, double *x)
{
    hmi_zero(g->rows, g->scratch);
    for (int k = 0; k < g->cols; k++)
        g->scratch[k] = z[g->col_order[k]];
    hmi_qr_solve_transposed(g->rows, g->cols, g->X, g->scratch);
    hmi_qr_multiply(g->rows, g->cols, g->X, g->tau, g->scratch);
    unsort(g, x);
}

/* x := X^+ of the vector in scratch */
static void solve_sorted(const hmi_graded *g, double *x)
{
    hmi_qr_multiply_transposed(g->rows, g->cols, g->X, g->tau, g->scratch);
    hmi_qr_solve(g->rows, g->cols, g->X, g->scratch);
    for (int k = 0; k < g->cols; k++)
        x[g->col_order[k]] = g->scratch[k];
}

void hmi_graded_solve(const hmi_graded *g, const double *y, double *x)
{
    sort(g, y);
    solve_sorted(g, x);
}

void hmi_graded_solve_unit(const hmi_graded *g, int i, double *x)
{
    for (int k = 0; k < g->rows; k++)
        g->scratch[k] = g->row_order[k] == i;
    solve_sorted(g, x);
}

void hmi_graded_basis(const hmi_graded *g, double *V)
{
    for (int k = 0; k < g->cols; k++) {
        hmi_zero(g->rows, g->scratch);
        g->scratch[k] = 1;
        hmi_qr_multiply(g->rows, g->cols, g->X, g->tau, g->scratch);
        unsort(g, V + (size_t)k * (size_t)g->rows);
    }
}
