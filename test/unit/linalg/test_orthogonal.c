/* QR, complete orthogonal decomposition, graded least squares: against LAPACK's gelsy. */
#include "unit/linalg/helpers.h"

void dgelsy_(const int *m, const int *n, const int *nrhs, double *A, const int *lda, double *B,
             const int *ldb, int *jpvt, const double *rcond, int *rank, double *work,
             const int *lwork, int *info);

/* x[cols] := X^+ y by LAPACK; X by columns */
static int lapack_least_squares(int rows, int cols, const double *X, const double *y, double *x)
{
    double A[SIZE * SIZE], b[SIZE], work[64 * SIZE], rcond = 1e-12;
    int one = 1, larger = rows > cols ? rows : cols, rank, info, lwork = 64 * SIZE,
        jpvt[SIZE] = {0};
    hmi_copy(rows * cols, X, A);
    hmi_zero(SIZE, b);
    hmi_copy(rows, y, b);
    dgelsy_(&rows, &cols, &one, A, &rows, b, &larger, jpvt, &rcond, &rank, work, &lwork, &info);
    assert_int_equal(info, 0);
    hmi_copy(cols, b, x);
    return rank;
}

static void qr_of_any_rank(void **state)
{
    (void)state;
    for (int trial = 0; trial < 500; trial++) {
        int rows = random_int(1, SIZE), cols = random_int(1, SIZE), order[SIZE];
        int rank = random_int(0, rows < cols ? rows : cols);
        double A[SIZE * SIZE], X[SIZE * SIZE], tau[SIZE], U[SIZE * SIZE], column[SIZE];
        fill_rank(cols, rows, rank, A); /* rows of A are the columns of the matrix */
        hmi_copy(rows * cols, A, X);
        assert_int_equal(hmi_qr(rows, cols, X, tau, order, cols, 1e-12), rank);
        hmi_qr_basis(rows, rank, X, tau, rows, U);
        for (int i = 0; i < rows; i++)
            for (int j = 0; j < rows; j++)
                assert_true(fabs(hmi_dot(rows, U + i * rows, U + j * rows) - (i == j)) < 1e-14);
        for (int j = 0; j < cols; j++) { /* U R = X P */
            hmi_zero(rows, column);
            for (int k = 0; k < rank && k <= j; k++)
                hmi_axpy(rows, X[j * rows + k], U + k * rows, column);
            assert_true(distance(rows, column, A + order[j] * rows) < 1e-13);
        }
        for (int k = 1; k < rank; k++) /* pivots fall */
            assert_true(fabs(X[k * rows + k]) <= fabs(X[(k - 1) * rows + k - 1]) * (1 + 1e-14));
    }
}

static void cod_is_least_squares(void **state)
{
    (void)state;
    for (int trial = 0; trial < 500; trial++) {
        int rows = random_int(1, SIZE), cols = random_int(1, SIZE), ints[2 * SIZE];
        int rank = random_int(0, rows < cols ? rows : cols);
        double A[SIZE * SIZE], At[SIZE * SIZE], X[SIZE * SIZE], y[SIZE], x[SIZE], expected[SIZE];
        double work[SIZE * SIZE + 8 * SIZE];
        fill_rank(cols, rows, rank, A);
        fill(rows, y);
        hmi_copy(rows * cols, A, X);
        hmi_cod cod;
        assert_true(hmi_cod_doubles(rows, cols) <= sizeof work / sizeof *work);
        assert_true(hmi_cod_ints(rows, cols) <= sizeof ints / sizeof *ints);
        hmi_cod_factor(&cod, rows, cols, X, cols, 1e-12, work, ints);
        assert_int_equal(cod.rank, rank);
        hmi_cod_solve(&cod, y, x);
        int lapack_rank = lapack_least_squares(rows, cols, A, y, expected);
        if (lapack_rank == rank)
            assert_true(distance(cols, x, expected) < 1e-9 * (1 + hmi_max_abs(cols, x)));
        fill(cols, y);
        hmi_cod_solve_transposed(&cod, y, x);
        transpose(cols, rows, A, At);
        lapack_rank = lapack_least_squares(cols, rows, At, y, expected);
        if (lapack_rank == rank)
            assert_true(distance(rows, x, expected) < 1e-9 * (1 + hmi_max_abs(rows, x)));
    }
}

/* Rows over many decades: the least-squares problem of one large and many small rows. */
static void graded_rows_keep_their_digits(void **state)
{
    (void)state;
    for (int trial = 0; trial < 300; trial++) {
        int cols = random_int(1, 8), rows = cols, ints[2 * SIZE];
        double X[SIZE * SIZE], plain[SIZE * SIZE], scale[SIZE], x[SIZE], y[SIZE], z[SIZE];
        double work[SIZE * SIZE];
        fill(rows * cols, plain);
        for (int i = 0; i < rows; i++) {
            plain[i * cols + i] += 4;
            scale[i] = ldexp(1, random_int(-60, 60));
            for (int j = 0; j < cols; j++)
                X[i * cols + j] = plain[i * cols + j] * scale[i];
        }
        fill(cols, x);
        for (int i = 0; i < rows; i++)
            y[i] = scale[i] * hmi_dot(cols, plain + i * cols, x);
        hmi_graded g;
        hmi_graded_factor(&g, rows, cols, X, work, ints);
        hmi_graded_solve(&g, y, z);
        assert_true(distance(cols, x, z) < 1e-12);
        hmi_graded_project(&g, y); /* square: nothing changes, row by row */
        for (int i = 0; i < rows; i++)
            assert_true(fabs(y[i] / scale[i] - hmi_dot(cols, plain + i * cols, x)) < 1e-12);
        fill(rows, y); /* X^T (y / scale) */
        hmi_zero(cols, z);
        for (int i = 0; i < rows; i++)
            hmi_axpy(cols, y[i] / scale[i], X + i * cols, z);
        hmi_graded_solve_transposed(&g, z, x);
        for (int i = 0; i < rows; i++)
            assert_true(fabs(x[i] * scale[i] - y[i]) < 1e-12);
    }
}

static void graded_is_least_squares(void **state)
{
    (void)state;
    for (int trial = 0; trial < 300; trial++) {
        int rows = random_int(2, SIZE), cols = random_int(1, rows / 2), ints[2 * SIZE];
        double X[SIZE * SIZE], Xt[SIZE * SIZE], y[SIZE], p[SIZE], x[SIZE], expected[SIZE];
        double work[SIZE * SIZE + 4 * SIZE], V[SIZE * SIZE];
        fill(rows * cols, X);
        fill(rows, y);
        hmi_graded g;
        hmi_graded_factor(&g, rows, cols, X, work, ints);
        hmi_graded_solve(&g, y, x);
        transpose(rows, cols, X, Xt);
        (void)lapack_least_squares(rows, cols, Xt, y, expected);
        assert_true(distance(cols, x, expected) < 1e-10 * (1 + hmi_max_abs(cols, x)));
        hmi_copy(rows, y, p);
        hmi_graded_project(&g, p);
        for (int i = 0; i < rows; i++)
            assert_true(fabs(p[i] - hmi_dot(cols, X + i * cols, x)) <
                        1e-11 * (1 + hmi_max_abs(cols, x)));
        hmi_graded_basis(&g, V);
        for (int i = 0; i < cols; i++)
            for (int j = 0; j < cols; j++)
                assert_true(fabs(hmi_dot(rows, V + i * rows, V + j * rows) - (i == j)) < 1e-14);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(qr_of_any_rank),
        cmocka_unit_test(cod_is_least_squares),
        cmocka_unit_test(graded_rows_keep_their_digits),
        cmocka_unit_test(graded_is_least_squares),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
