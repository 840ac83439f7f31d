/* Eigenvalues and singular values by Jacobi rotations; sums in twice the precision. */
#include "unit/linalg/helpers.h"

void dsyev_(const char *job, const char *uplo, const int *n, double *A, const int *lda, double *w,
            double *work, const int *lwork, int *info);
void dgesvd_(const char *jobu, const char *jobv, const int *m, const int *n, double *A,
             const int *lda, double *s, double *U, const int *ldu, double *Vt, const int *ldvt,
             double *work, const int *lwork, int *info);

static void sort_down(int n, double *x)
{
    for (int i = 1; i < n; i++)
        for (int k = i; k > 0 && x[k] > x[k - 1]; k--) {
            double t = x[k];
            x[k] = x[k - 1];
            x[k - 1] = t;
        }
}

static void eigenvalues(void **state)
{
    (void)state;
    for (int trial = 0; trial < 300; trial++) {
        int n = random_int(1, SIZE), lwork = 4 * SIZE, info;
        double M[SIZE * SIZE], copy[SIZE * SIZE], V[SIZE * SIZE], w[SIZE], expected[SIZE], y[SIZE];
        double work[4 * SIZE];
        for (int i = 0; i < n; i++)
            for (int j = 0; j <= i; j++)
                M[i * n + j] = M[j * n + i] = random_real();
        hmi_copy(n * n, M, copy);
        hmi_eigen(n, copy, w, V);
        for (int k = 0; k < n; k++) {
            hmi_matvec(n, n, M, V + k * n, y);
            hmi_axpy(n, -w[k], V + k * n, y);
            assert_true(hmi_max_abs(n, y) < 1e-13);
            for (int i = 0; i < n; i++)
                assert_true(fabs(hmi_dot(n, V + k * n, V + i * n) - (i == k)) < 1e-13);
        }
        hmi_copy(n * n, M, copy);
        dsyev_("N", "L", &n, copy, &n, expected, work, &lwork, &info);
        sort_down(n, w);
        sort_down(n, expected);
        assert_true(distance(n, w, expected) < 1e-13);
    }
}

/* M > 0 in bad units: small eigenvalues to their own last digits. D M D with M = [1 1/2; 1/2 1]. */
static void small_eigenvalues_are_accurate(void **state)
{
    (void)state;
    double d = 0x1p-40, M[4] = {1, 0.5 * d, 0.5 * d, d * d}, w[2], V[4];
    hmi_eigen(2, M, w, V);
    double small = fmin(w[0], w[1]), expected = 0.75 * d * d; /* det/trace, up to d^2 */
    assert_true(fabs(small / expected - 1) < 1e-14);
}

static void singular_values(void **state)
{
    (void)state;
    for (int trial = 0; trial < 300; trial++) {
        int rows = random_int(1, SIZE), cols = random_int(1, rows), lwork = 16 * SIZE, info,
            one = 1;
        double X[SIZE * SIZE], US[SIZE * SIZE], V[SIZE * SIZE], s[SIZE], expected[SIZE], none[1];
        double work[16 * SIZE], back[SIZE];
        fill_rank(cols, rows, random_int(1, cols), X);
        hmi_copy(rows * cols, X, US);
        hmi_svd(rows, cols, US, s, V);
        for (int j = 0; j < cols; j++) { /* X = U S V^T */
            hmi_zero(rows, back);
            for (int k = 0; k < cols; k++)
                hmi_axpy(rows, V[k * cols + j], US + k * rows, back);
            assert_true(distance(rows, back, X + j * rows) < 1e-13);
        }
        dgesvd_("N", "N", &rows, &cols, X, &rows, expected, none, &one, none, &one, work, &lwork,
                &info);
        assert_true(distance(cols, s, expected) < 1e-12);
        for (int k = 1; k < cols; k++)
            assert_true(s[k] <= s[k - 1] * (1 + 1e-13) + 1e-14);
    }
}

static void small_singular_values_are_accurate(void **state)
{
    (void)state;
    double d = 0x1p-50, X[4] = {1, 1, d, -d}, s[2], V[4]; /* orthogonal columns */
    hmi_svd(2, 2, X, s, V);
    assert_true(fabs(s[0] - sqrt(2)) < 1e-15 && fabs(s[1] / (d * sqrt(2)) - 1) < 1e-15);
    double Y[4] = {d, -d, 1, 1};
    hmi_svd(2, 2, Y, s, V);
    assert_true(s[0] > s[1] && fabs(s[1] / (d * sqrt(2)) - 1) < 1e-15);
}

static void exact_sums(void **state)
{
    (void)state;
    double x[4] = {1e16, 1, -1e16, 3}, y[4] = {1, 1, 1, 1}, a = 1 + 0x1p-30, b = 1 - 0x1p-30;
    hmi_sum sum = {0, 0};
    hmi_sum_dot(&sum, 1, 4, x, 1, y);
    assert_true(sum.s + sum.e == 4);
    sum = (hmi_sum){-1, 0};
    hmi_sum_dot(&sum, 1, 1, &a, 1, &b); /* 1 - 2^-60 - 1 */
    assert_true(sum.s + sum.e == -0x1p-60);
    sum = (hmi_sum){4, 0};
    hmi_sum_dot(&sum, -1, 2, x + 1, 2, y); /* every second: 1, 3 */
    assert_true(sum.s + sum.e == 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(eigenvalues),     cmocka_unit_test(small_eigenvalues_are_accurate),
        cmocka_unit_test(singular_values), cmocka_unit_test(small_singular_values_are_accurate),
        cmocka_unit_test(exact_sums),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
