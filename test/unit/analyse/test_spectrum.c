/* Eigenvalues and their error bounds (src/analyse/linearize/spectrum.c, cluster.c): the truth lies
 * within the bound, for simple, multiple and defective eigenvalues in any units, and the bound is of
 * use. */
#include "support/check.h"

#include "analyse/linearize/spectrum.h"

#include <math.h>
#include <string.h>

enum { MOST = 8 };

/* Every eigenvalue is real, and known; returns the largest bound. */
static double check_bounds(const char *what, size_t n, const double *A, const double *E,
                           const double *truth)
{
    hmi_arena arena;
    hmi_spectrum s;
    bool used[MOST] = {false};
    double largest = 0;
    const hm_allocator heap = hm_allocator_default();
    hmi_arena_init(&arena, &heap);
    assert_int_equal(hmi_spectrum_of(&s, &arena, n, A, E), HM_OK);
    for (size_t k = 0; k < n; k++) {
        size_t best = n;
        for (size_t i = 0; i < n; i++)
            if (!used[i] && (best == n || fabs(s.re[k] - truth[i]) < fabs(s.re[k] - truth[best])))
                best = i;
        used[best] = true;
        double miss = hypot(s.re[k] - truth[best], s.im[k]);
        if (!(miss <= s.error[k]))
            fail_msg("%s: %.17g is off by %g, bound %g", what, s.re[k], miss, s.error[k]);
        largest = fmax(largest, s.error[k]);
    }
    hmi_arena_release(&arena);
    return largest;
}

/* A Jordan block of size m with eigenvalue a. */
static void jordan(size_t m, double a, double *A)
{
    memset(A, 0, m * m * sizeof *A);
    for (size_t i = 0; i < m; i++) {
        A[i * m + i] = a;
        if (i + 1 < m)
            A[i * m + i + 1] = 1;
    }
}

static void test_defective(void **state)
{
    (void)state;
    for (size_t m = 1; m <= 5; m++) {
        double A[MOST * MOST], truth[MOST];
        jordan(m, -1, A);
        for (size_t i = 0; i < m; i++)
            truth[i] = -1;
        double bound = check_bounds("Jordan", m, A, NULL, truth);
        /* (1000 eps)^(1/m), with a few units of the norm */
        assert_true(bound <= 8 * pow(1e3 * 2.3e-16, 1.0 / (double)m));
    }
}

/* B = S J S^-1 with an integer unimodular S has the eigenvalues of J; rounding splits them. Rows and
 * columns in other units do not matter. */
static void test_similar(void **state)
{
    (void)state;
    random_source random = {7};
    for (int trial = 0; trial < 200; trial++) {
        enum { N = 4 };
        double J[N * N] = {0}, truth[N] = {-1, -1, 2, -3}, unit[N];
        for (size_t i = 0; i < N; i++)
            J[i * N + i] = truth[i];
        J[0 * N + 1] = trial % 2;
        for (int k = 0; k < 3; k++) { /* row i += c row j, column j -= c column i */
            size_t i = (size_t)random_between(&random, 0, N), j = (i + 1 + (size_t)k % (N - 1)) % N;
            double c = floor(random_between(&random, -1, 2));
            for (size_t l = 0; l < N; l++)
                J[i * N + l] += c * J[j * N + l];
            for (size_t l = 0; l < N; l++)
                J[l * N + j] -= c * J[l * N + i];
        }
        for (size_t i = 0; i < N; i++)
            unit[i] = ldexp(1, (int)random_between(&random, -20, 20));
        for (size_t i = 0; i < N * N; i++)
            J[i] *= unit[i / N] / unit[i % N];
        double bound = check_bounds("similar", N, J, NULL, truth);
        if (!(bound < 1e-2)) {
            for (int i = 0; i < 16; i++)
                print_message("%g ", J[i] * unit[i % N] / unit[i / N]);
            fail_msg("trial %d: bound %g", trial, bound);
        }
    }
}

/* Errors of entries move eigenvalues by no more than the bound. */
static void test_given_errors(void **state)
{
    (void)state;
    random_source random = {11};
    for (int trial = 0; trial < 300; trial++) {
        enum { N = 3 };
        double A[N * N] = {-1, 2, 0.5, 0, -2, 1, 0, 0, 3}, E[N * N];
        const double truth[N] = {-1, -2, 3};
        for (size_t i = 0; i < N * N; i++) {
            E[i] = pow(10, random_between(&random, -12, -6));
            A[i] += random_between(&random, -E[i], E[i]);
        }
        assert_true(check_bounds("errors", N, A, E, truth) < 1e-4);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_defective),
        cmocka_unit_test(test_similar),
        cmocka_unit_test(test_given_errors),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
