/* Cholesky, Bunch-Kaufman and LU: solutions and inertia, against LAPACK where it knows better. */
#include "unit/linalg/helpers.h"

void dsyev_(const char *job, const char *uplo, const int *n, double *A, const int *lda, double *w,
            double *work, const int *lwork, int *info);

static void fill_symmetric(int n, double *M)
{
    for (int i = 0; i < n; i++)
        for (int j = 0; j <= i; j++)
            M[i * n + j] = M[j * n + i] = random_real();
}

static void cholesky(void **state)
{
    (void)state;
    for (int n = 1; n <= SIZE; n++) {
        double G[SIZE * SIZE], M[SIZE * SIZE], L[SIZE * SIZE], x[SIZE], y[SIZE];
        fill(n * n, G);
        fill(n, x);
        for (int i = 0; i < n; i++)
            for (int j = 0; j < n; j++)
                M[i * n + j] = (i == j) + hmi_dot(n, G + i * n, G + j * n);
        hmi_matvec(n, n, M, x, y);
        hmi_copy(n * n, M, L);
        assert_true(hmi_cholesky(n, L, 0));
        hmi_lower_solve(n, L, y);
        hmi_lower_solve_transposed(n, L, y);
        assert_true(distance(n, x, y) < 1e-13);
        M[n * n - 1] = -1;
        assert_false(hmi_cholesky(n, M, 0));
    }
}

static int count_eigenvalues(int n, const double *M, int sign)
{
    double A[SIZE * SIZE], w[SIZE], work[4 * SIZE];
    int lwork = 4 * SIZE, info, count = 0;
    hmi_copy(n * n, M, A);
    dsyev_("N", "L", &n, A, &n, w, work, &lwork, &info);
    for (int i = 0; i < n; i++)
        count += sign * w[i] > 0;
    return count;
}

static void bunch_kaufman(void **state)
{
    (void)state;
    for (int trial = 0; trial < 2000; trial++) {
        int n = random_int(1, SIZE), pivots[SIZE], positive, negative;
        double M[SIZE * SIZE], K[SIZE * SIZE], x[SIZE], y[SIZE], r[SIZE];
        fill_symmetric(n, M);
        for (int i = 0; i < n && trial % 2; i++) /* zero diagonals force 2x2 blocks */
            M[i * n + i] = 0;
        if (n == 1)
            M[0] = -3;
        fill(n, x);
        hmi_matvec(n, n, M, x, y);
        hmi_copy(n, y, r);
        hmi_copy(n * n, M, K);
        if (!hmi_ldlt(n, K, pivots, 0))
            continue;
        hmi_ldlt_solve(n, K, pivots, y);
        double back[SIZE];
        hmi_matvec(n, n, M, y, back);
        assert_true(distance(n, back, r) < 1e-12 * (1 + hmi_max_abs(n, y)));
        hmi_ldlt_inertia(n, K, pivots, &positive, &negative);
        assert_int_equal(positive, count_eigenvalues(n, M, 1));
        assert_int_equal(negative, count_eigenvalues(n, M, -1));
    }
}

static void bunch_kaufman_singular(void **state)
{
    (void)state;
    double zero[4] = {0}, one[4] = {1, 1, 1, 1}, swap[4] = {0, 1, 1, 0}, x[2] = {3, 4};
    int pivots[2], positive, negative;
    assert_false(hmi_ldlt(2, zero, pivots, 1e-15));
    assert_false(hmi_ldlt(2, one, pivots, 1e-15));
    assert_true(hmi_ldlt(2, swap, pivots, 1e-15));
    hmi_ldlt_solve(2, swap, pivots, x);
    assert_true(x[0] == 4 && x[1] == 3);
    hmi_ldlt_inertia(2, swap, pivots, &positive, &negative);
    assert_true(positive == 1 && negative == 1);
}

static void lu(void **state)
{
    (void)state;
    for (int trial = 0; trial < 1000; trial++) {
        int n = random_int(1, SIZE), pivots[SIZE];
        double M[SIZE * SIZE], K[SIZE * SIZE], x[SIZE], y[SIZE], back[SIZE];
        fill(n * n, M);
        fill(n, x);
        hmi_matvec(n, n, M, x, y);
        hmi_copy(n * n, M, K);
        assert_true(hmi_lu(n, K, pivots, 0));
        hmi_copy(n, y, x);
        hmi_lu_solve(n, K, pivots, x);
        hmi_matvec(n, n, M, x, back);
        assert_true(distance(n, back, y) < 1e-12 * (1 + hmi_max_abs(n, x)));
    }
    double zero[4] = {1, 2, 2, 4};
    int pivots[2];
    assert_false(hmi_lu(2, zero, pivots, 1e-15));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(cholesky),
        cmocka_unit_test(bunch_kaufman),
        cmocka_unit_test(bunch_kaufman_singular),
        cmocka_unit_test(lu),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
