/* Sparse and banded factorisations against dense elimination in long double. */
#include "support/check.h"
#include "support/solve.h"

#include "linalg/sparse.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { N = 60 };

/* ---- bands ---- */

static void check_band(size_t count, size_t width, uint64_t seed)
{
    random_source random = {seed};
    double *dense = calloc(count * count, sizeof *dense);
    double *band = calloc((width + 1) * count, sizeof *band);
    double b[N], x[N], expected[N], inverse[N];
    assert_true(dense && band);
    for (size_t i = 0; i < count; i++)
        for (size_t d = 0; d <= width && d <= i; d++) {
            double value = d ? random_between(&random, -1, 1) : 2.1 * (double)width + 0.1;
            band[d * count + i] = dense[i * count + i - d] = dense[(i - d) * count + i] = value;
        }
    random_fill(&random, -1, 1, count, b);
    assert_true(solve_dense(count, dense, b, expected));
    assert_true(hmi_band_solve(count, width, band, inverse, 1e-5, b, x));
    check_close("x", count, x, expected, 1e-14);
    free(dense);
    free(band);
}

static void test_bands(void **state)
{
    (void)state;
    for (size_t count = 1; count <= N; count++)
        for (size_t width = 1; width <= HMI_WIDEST_BAND && width <= count; width++)
            check_band(count, width, count * 100 + width);
}

/* A free chain has G = tridiag(-1, 2, -1) with ends 1 and 1: singular. With one end 2 it is not. */
static void test_singular_band(void **state)
{
    (void)state;
    for (size_t count = 2; count < N; count++) {
        double band[2 * N], inverse[N], b[N], x[N];
        for (int singular = 0; singular < 2; singular++) {
            for (size_t i = 0; i < count; i++) {
                band[i] = 2;
                band[count + i] = -1;
                b[i] = 1;
            }
            band[0] = 1;
            band[count - 1] = singular ? 1 : 2;
            assert_int_equal(hmi_band_solve(count, 1, band, inverse, 1e-5, b, x), !singular);
        }
    }
}

/* ---- general patterns ---- */

typedef struct matrix {
    double dense[N * N];
    size_t start[N + 1];
    uint32_t column[N * N];
    double value[N * N];
} matrix;

static void compress(matrix *m)
{
    size_t at = 0;
    for (size_t i = 0; i < N; i++) {
        m->start[i] = at;
        for (size_t j = 0; j <= i; j++)
            if (m->dense[i * N + j] != 0 || i == j) {
                m->column[at] = (uint32_t)j;
                m->value[at++] = m->dense[i * N + j];
            }
    }
    m->start[N] = at;
}

static void set(matrix *m, size_t i, size_t j, double value)
{
    m->dense[i * N + j] = m->dense[j * N + i] = value;
}

static bool factor(matrix *m, hmi_ldlt_sparse *f, hmi_arena *arena, hmi_pivoting *pivoting)
{
    static hm_allocator allocator;
    allocator = hm_allocator_default();
    compress(m);
    const hmi_lower lower = {N, m->start, m->column};
    hmi_arena_init(arena, &allocator);
    assert_int_equal(hmi_ldlt_sparse_init(f, &allocator, arena, &lower, N * N), HM_OK);
    bool good = hmi_ldlt_sparse_factor(f, m->value, pivoting);
    assert_int_equal(good, hmi_ldlt_sparse_factor(f, m->value, pivoting)); /* again */
    return good;
}

static void test_positive(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= 40; seed++) {
        static matrix m;
        random_source random = {seed};
        hmi_ldlt_sparse f;
        hmi_arena arena;
        hmi_pivoting pivoting = {.refuse = 1e-5};
        double b[N], x[N], expected[N];
        memset(&m, 0, sizeof m);
        for (size_t i = 0; i < N; i++) {
            for (int k = 0; k < 3 && i > 0; k++)
                set(&m, i, (size_t)random_between(&random, 0, (double)i),
                    random_between(&random, -1, 1));
            set(&m, i, i, 12);
        }
        random_fill(&random, -1, 1, N, b);
        memcpy(x, b, sizeof x);
        assert_true(factor(&m, &f, &arena, &pivoting));
        assert_int_equal(pivoting.dropped, 0);
        hmi_ldlt_sparse_solve(&f, x);
        assert_true(solve_dense(N, m.dense, b, expected));
        check_close("x", N, x, expected, 1e-13);
        hmi_arena_release(&arena);
    }
}

/* [1 A^T; A 0] with rows that repeat: the repeated ones are dropped, their unknowns are 0, the
 * others solve the system. A wrong sign on a coordinate is refused. */
static void test_dropping(void **state)
{
    (void)state;
    enum { ROWS = 20, COORDS = N - ROWS };
    static matrix m;
    random_source random = {7};
    hmi_ldlt_sparse f;
    hmi_arena arena;
    int8_t sign[N];
    uint8_t may_drop[N];
    double b[N], x[N], rest[N];
    memset(&m, 0, sizeof m);
    for (size_t i = 0; i < N; i++) {
        sign[i] = i < COORDS ? 1 : -1;
        may_drop[i] = i >= COORDS;
        if (i < COORDS)
            set(&m, i, i, 1);
    }
    for (size_t r = 0; r < ROWS; r++)
        for (size_t j = 0; j < COORDS; j++)
            if (r % 5 == 4) /* the difference of the two rows before it */
                set(&m, COORDS + r, j,
                    m.dense[(COORDS + r - 1) * N + j] - m.dense[(COORDS + r - 2) * N + j]);
            else if (random_between(&random, 0, 1) < 0.2)
                set(&m, COORDS + r, j, random_between(&random, -1, 1));
    random_fill(&random, -1, 1, N, b);
    for (size_t r = 4; r < ROWS; r += 5)
        b[COORDS + r] = b[COORDS + r - 1] - b[COORDS + r - 2];
    memcpy(x, b, sizeof x);
    hmi_pivoting pivoting = {.sign = sign, .may_drop = may_drop, .drop = 1e-11, .refuse = 1e-10};
    assert_true(factor(&m, &f, &arena, &pivoting));
    assert_int_equal(pivoting.dropped, ROWS / 5);
    hmi_ldlt_sparse_solve(&f, x);
    for (size_t r = 4; r < ROWS; r += 5)
        assert_true(x[COORDS + r] == 0);
    subtract_product(N, N, b, m.dense, x, rest);
    assert_true(max_norm(N, rest) < 1e-12);
    hmi_arena_release(&arena);

    set(&m, 3, 3, -1);
    assert_false(factor(&m, &f, &arena, &pivoting));
    hmi_arena_release(&arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_bands),
        cmocka_unit_test(test_singular_band),
        cmocka_unit_test(test_positive),
        cmocka_unit_test(test_dropping),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
