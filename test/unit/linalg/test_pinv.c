/* The Moore-Penrose inverse: its four conditions, checked in 256 bits, for any rank and scaling;
 * and the equilibration it and everything else decides ranks on. */
#include "unit/linalg/helpers.h"

#include <arb_mat.h>

enum { BITS = 256 };

static void load(arb_mat_t to, int rows, int cols, const double *x)
{
    for (int i = 0; i < rows; i++)
        for (int j = 0; j < cols; j++)
            arb_set_d(arb_mat_entry(to, i, j), x[i * cols + j]);
}

static void magnitudes(arb_mat_t to, arb_mat_t from)
{
    for (int i = 0; i < arb_mat_nrows(from); i++)
        for (int j = 0; j < arb_mat_ncols(from); j++)
            arb_abs(arb_mat_entry(to, i, j), arb_mat_entry(from, i, j));
}

static double at(arb_mat_t X, int i, int j)
{
    return arf_get_d(arb_midref(arb_mat_entry(X, i, j)), ARF_RND_NEAR);
}

/* Largest |A B A - A| in units of |A| |B| |A| epsilon. */
static double penrose_product(int rows, int cols, const double *a, const double *b)
{
    double worst = 0;
    arb_mat_t A, B, AB, ABA, sizes;
    arb_mat_init(A, rows, cols);
    arb_mat_init(B, cols, rows);
    arb_mat_init(AB, rows, rows);
    arb_mat_init(ABA, rows, cols);
    arb_mat_init(sizes, rows, cols);
    load(A, rows, cols, a);
    load(B, cols, rows, b);
    arb_mat_approx_mul(AB, A, B, BITS);
    arb_mat_approx_mul(ABA, AB, A, BITS);
    magnitudes(A, A);
    magnitudes(B, B);
    arb_mat_approx_mul(AB, A, B, BITS);
    arb_mat_approx_mul(sizes, AB, A, BITS);
    for (int i = 0; i < rows; i++)
        for (int j = 0; j < cols; j++)
            if (at(sizes, i, j) > 0)
                worst = fmax(worst, fabs(at(ABA, i, j) - a[i * cols + j]) /
                                        (at(sizes, i, j) * HMI_EPSILON));
    arb_mat_clear(A);
    arb_mat_clear(B);
    arb_mat_clear(AB);
    arb_mat_clear(ABA);
    arb_mat_clear(sizes);
    return worst;
}

/* Largest |A B - (A B)^T| in units of (|A| |B| + transposed) epsilon. */
static double penrose_symmetry(int rows, int cols, const double *a, const double *b)
{
    double worst = 0;
    arb_mat_t A, B, AB, sizes;
    arb_mat_init(A, rows, cols);
    arb_mat_init(B, cols, rows);
    arb_mat_init(AB, rows, rows);
    arb_mat_init(sizes, rows, rows);
    load(A, rows, cols, a);
    load(B, cols, rows, b);
    arb_mat_approx_mul(AB, A, B, BITS);
    magnitudes(A, A);
    magnitudes(B, B);
    arb_mat_approx_mul(sizes, A, B, BITS);
    for (int i = 0; i < rows; i++)
        for (int j = 0; j < i; j++) {
            double size = at(sizes, i, j) + at(sizes, j, i);
            if (size > 0)
                worst = fmax(worst, fabs(at(AB, i, j) - at(AB, j, i)) / (size * HMI_EPSILON));
        }
    arb_mat_clear(A);
    arb_mat_clear(B);
    arb_mat_clear(AB);
    arb_mat_clear(sizes);
    return worst;
}

static double worst[4];

/* W^+ of a random matrix whose rows and columns are scaled by powers of ten up to these. */
static void try_matrix(double row_decades, double col_decades)
{
    int rows = random_int(1, SIZE), cols = random_int(1, SIZE), ints[4 * SIZE];
    int rank = random_int(0, rows < cols ? rows : cols);
    double W[SIZE * SIZE], plus[SIZE * SIZE], work[8 * SIZE * SIZE];
    fill_rank(rows, cols, rank, W);
    for (int i = 0; i < rows; i++) {
        double scale = pow(10, row_decades * random_real());
        for (int j = 0; j < cols; j++)
            W[i * cols + j] *= scale;
    }
    for (int j = 0; j < cols; j++) {
        double scale = pow(10, col_decades * random_real());
        for (int i = 0; i < rows; i++)
            W[i * cols + j] *= scale;
    }
    assert_true(hmi_pseudo_inverse_doubles(rows, cols) <= sizeof work / sizeof *work);
    assert_true(hmi_pseudo_inverse_ints(rows, cols) <= sizeof ints / sizeof *ints);
    assert_int_equal(hmi_pseudo_inverse(rows, cols, W, -1, plus, work, ints), rank);
    worst[0] = fmax(worst[0], penrose_product(rows, cols, W, plus));
    worst[1] = fmax(worst[1], penrose_product(cols, rows, plus, W));
    worst[2] = fmax(worst[2], penrose_symmetry(rows, cols, W, plus));
    worst[3] = fmax(worst[3], penrose_symmetry(cols, rows, plus, W));
}

static void report(const char *name, double most)
{
    print_message("%s: Penrose conditions in epsilon: %.2g %.2g %.2g %.2g\n", name, worst[0],
                  worst[1], worst[2], worst[3]);
    for (int i = 0; i < 4; i++) {
        assert_true(worst[i] <= most);
        worst[i] = 0;
    }
}

static void four_conditions(void **state)
{
    (void)state;
    for (int trial = 0; trial < 500; trial++)
        try_matrix(0, 0);
    report("plain", 50);
    for (int trial = 0; trial < 500; trial++)
        try_matrix(6, 0);
    report("rows over 12 decades", 100);
    for (int trial = 0; trial < 500; trial++)
        try_matrix(0, 6);
    report("columns over 12 decades", 1e3);
}

static void extreme_sizes(void **state)
{
    (void)state;
    double W[4] = {1, 0, 0, 1e-20}, plus[4], work[64];
    int ints[16];
    assert_int_equal(hmi_pseudo_inverse(2, 2, W, -1, plus, work, ints), 2);
    assert_true(plus[0] == 1 && fabs(plus[3] * 1e-20 - 1) < 1e-15);
    double zero[2] = {0, 0};
    assert_int_equal(hmi_pseudo_inverse(1, 2, zero, -1, plus, work, ints), 0);
    assert_true(plus[0] == 0 && plus[1] == 0);
    double rows[4] = {1, 1, 1, 1 + 1e-9}; /* forced to rank one */
    assert_int_equal(hmi_pseudo_inverse(2, 2, rows, 1, plus, work, ints), 1);
    for (int i = 0; i < 4; i++)
        assert_true(fabs(plus[i] - 0.25) < 1e-8);
}

static void scales(void **state)
{
    (void)state;
    assert_true(hmi_power_of_two(0) == 1 && hmi_power_of_two(1) == 0.5);
    assert_true(hmi_power_of_two(0.75) == 1 && hmi_power_of_two(1e300) * 1e300 < 1);
    assert_true(isfinite(hmi_power_of_two(1e-320)) && hmi_power_of_two(1.7e308) > 0);
    /* a heavy and a light coordinate, a massless one held by a row, a row of zeros */
    double M[9] = {1e12, 0, 0, 0, 1e-12, 0, 0, 0, 0}, A[9] = {1e6, 1e-6, 0, 0, 1, 1e9, 0, 0, 0};
    double D[3], R[3];
    hmi_equilibrate(3, 3, M, A, D, R);
    for (int i = 0; i < 2; i++) {
        double unit = M[4 * i] * D[i] * D[i], length = 0;
        assert_true(unit >= 0.5 && unit <= 2);
        for (int j = 0; j < 3; j++)
            length += pow(A[3 * i + j] * D[j] * R[i], 2);
        assert_true(length >= 0.25 && length <= 1);
    }
    assert_true(D[2] > 0 && R[2] == 1);
}

/* Indefinite M with small diagonals, a block without one, and nothing at all. */
static void scales_of_odd_masses(void **state)
{
    (void)state;
    double M[4] = {1e-10, 1, 1, 1e-10}, D[2], R[1];
    hmi_equilibrate(2, 0, M, NULL, D, R);
    for (int i = 0; i < 2; i++)
        for (int j = 0; j < 2; j++)
            assert_true(fabs(M[2 * i + j]) * D[i] * D[j] <= 2);
    double swap[4] = {0, 1e8, 1e8, 0}, none[4] = {0};
    hmi_equilibrate(2, 0, swap, NULL, D, R);
    assert_true(1e8 * D[0] * D[1] > 0.25 && 1e8 * D[0] * D[1] < 2);
    hmi_equilibrate(2, 0, none, NULL, D, R);
    assert_true(D[0] == 1 && D[1] == 1);
}

/* A point and a massless unit vector (x, u, w): the point is on the line normal to the vector, the
 * vector has length one. Its component along w almost vanishes in the row of the point. */
static void scales_without_inertia(void **state)
{
    (void)state;
    double M[25] = {[0] = 1}, D[5], R[3];
    double A[15] = {1, 0.9, 1e-20, 0.3, 0, 0, 1, 0.7, 0.5, 0.6, 0, 2, 1e-19, 0.1, 0.5};
    hmi_equilibrate(5, 3, M, A, D, R);
    for (int j = 0; j < 5; j++)
        assert_true(D[j] >= 1e-3 && D[j] <= 1e3);
    for (int i = 0; i < 3; i++) /* another unit for that component: no other number changes */
        A[5 * i + 2] *= 0x1p40;
    double D2[5], R2[3];
    hmi_equilibrate(5, 3, M, A, D2, R2);
    assert_true(D2[2] * 0x1p40 >= 1e-3 && D2[2] * 0x1p40 <= 1e3);
    /* coordinates that only rows of their own know, and one whose unit cannot be told */
    double alone[4] = {1, 1e-31, 1e-31, 1}, none[4] = {0}, tiny[4] = {1e-200, 1e200, 0, 0};
    hmi_equilibrate(2, 2, none, alone, D, R);
    assert_true(D[0] == 1 && D[1] > 0 && R[0] > 0 && R[1] > 0);
    hmi_equilibrate(2, 2, none, tiny, D, R);
    assert_true(D[0] > 0 && D[1] > 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(four_conditions),
        cmocka_unit_test(extreme_sizes),
        cmocka_unit_test(scales),
        cmocka_unit_test(scales_of_odd_masses),
        cmocka_unit_test(scales_without_inertia),
    };
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    flint_cleanup();
    return failed;
}
