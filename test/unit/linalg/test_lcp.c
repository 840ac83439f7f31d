/* Linear complementarity against enumeration of all sets of active rows: random, degenerate (many zeros
 * in q) and redundant (W = B B^T with dependent rows of B) problems, and such without a solution. */
#include "linalg/lcp.h"
#include "linalg/dense.h"
#include "unit/linalg/helpers.h"

#include <stdlib.h>

enum { MOST = 8, WIDE = 6 };

typedef struct problem {
    int n, k;
    double B[MOST * WIDE], W[MOST * MOST], q[MOST];
} problem;

/* Small whole numbers make ties; repeated rows make redundancy. */
static void make(problem *p, int kind)
{
    *p = (problem){.n = random_int(1, MOST), .k = random_int(1, WIDE)};
    double a[WIDE];
    for (int i = 0; i < p->n * p->k; i++)
        p->B[i] = kind % 2 ? random_int(-2, 2) : random_real();
    for (int i = 1; i < p->n; i++)
        if (kind % 3 == 2 && random_int(0, 2) == 0) {
            int from = random_int(0, i - 1), times = random_int(1, 3);
            for (int j = 0; j < p->k; j++)
                p->B[i * p->k + j] = times * p->B[from * p->k + j];
        }
    for (int j = 0; j < p->k; j++)
        a[j] = kind % 2 ? random_int(-2, 2) : random_real();
    for (int i = 0; i < p->n; i++) {
        for (int j = 0; j < p->n; j++)
            p->W[i * p->n + j] = hmi_dot(p->k, p->B + i * p->k, p->B + j * p->k);
        p->q[i] = hmi_dot(p->k, p->B + i * p->k, a);
        if (kind % 5 == 4 && random_int(0, 1)) /* then B x + q >= 0 may have no answer */
            p->q[i] -= 0.5;
    }
}

/* The answer by enumeration: the first set of active rows whose least-squares forces are an answer.
 * W z = w - q of every answer is the same. *largest: of its forces. */
static bool enumerate(const problem *p, double *w, double *largest)
{
    int n = p->n;
    double doubles[4 * MOST * MOST + 40];
    int ints[4 * MOST];
    for (int set = 0; set < 1 << n; set++) {
        double X[MOST * MOST], y[MOST], z[MOST];
        int list[MOST], count = 0;
        for (int i = 0; i < n; i++)
            if (set >> i & 1)
                list[count++] = i;
        for (int i = 0; i < count; i++) {
            y[i] = -p->q[list[i]];
            for (int j = 0; j < count; j++)
                X[i * count + j] = p->W[list[i] * n + list[j]];
        }
        hmi_cod cod;
        if (count) {
            hmi_cod_factor(&cod, count, count, X, count, 1e-10, doubles, ints);
            hmi_cod_solve(&cod, y, z);
        }
        bool good = true;
        for (int i = 0; i < count; i++)
            good &= z[i] >= -1e-9;
        for (int i = 0; i < n; i++) {
            w[i] = p->q[i];
            for (int j = 0; j < count; j++)
                w[i] += p->W[i * n + list[j]] * z[j];
            good &= w[i] >= -1e-9 && (!(set >> i & 1) || fabs(w[i]) < 1e-9);
        }
        *largest = count ? hmi_max_abs(count, z) : 0;
        if (good)
            return true;
    }
    *largest = 0;
    return false;
}

static void show(const problem *p, const double *z, const double *w)
{
    for (int i = 0; i < p->n; i++) {
        double value = p->q[i] + hmi_dot(p->n, p->W + i * p->n, z);
        for (int j = 0; j < p->k; j++)
            print_error("%.17g ", p->B[i * p->k + j]);
        print_error("| q %.17g z %.17g w %.17g, by enumeration %.17g\n", p->q[i], z[i], value,
                    w[i]);
    }
}

/* Is z an answer? Enumeration overlooks some whose active rows are nearly dependent. */
static bool obeys(const problem *p, const double *z)
{
    bool good = true;
    for (int i = 0; i < p->n; i++) {
        double value = p->q[i] + hmi_dot(p->n, p->W + i * p->n, z);
        good &= z[i] >= 0 && value > -1e-10 && fabs(value * z[i]) < 1e-7;
    }
    return good;
}

static void check(const problem *p, int *solved, int *without)
{
    int n = p->n, ints[100];
    double w[MOST], z[MOST], doubles[1000];
    assert_true(hmi_lcp_doubles(n) < 1000 && hmi_lcp_ints(n) < 100);
    double largest;
    bool there = enumerate(p, w, &largest);
    hmi_lcp_result result = hmi_lcp_solve(n, p->W, p->q, NULL, z, doubles, ints);
    if (fmax(largest, hmi_max_abs(n, z)) > 1e6) /* rows so nearly dependent that rounding decides */
        return;
    if (there && result != HMI_LCP_SOLVED)
        show(p, z, w);
    assert_int_equal(result, there || obeys(p, z) ? HMI_LCP_SOLVED : HMI_LCP_RAY);
    *(there ? solved : without) += 1;
    for (int i = 0; i < n && there; i++) {
        double value = p->q[i] + hmi_dot(n, p->W + i * n, z);
        assert_true(z[i] >= 0);
        double terms =
            0; /* forces of 1e6 leave errors in both: rounding, times a condition of 1e6 */
        for (int j = 0; j < n; j++)
            terms += fabs(p->W[i * n + j] * z[j]);
        bool unique = fabs(value - w[i]) < 1e-8 + 1e-11 * terms;
        if (!unique)
            show(p, z, w);
        assert_true(unique);
        assert_true(value * z[i] < 1e-8 + 1e-11 * terms * z[i]);
    }
}

static void test_against_enumeration(void **state)
{
    (void)state;
    const char *size = getenv("HAMEL_LCP_CASES");
    int cases = size ? atoi(size) : 3000, solved = 0, without = 0;
    for (int i = 0; i < cases; i++) {
        problem p;
        make(&p, i % 30);
        check(&p, &solved, &without);
    }
    assert_true(solved > cases / 2);
    assert_true(without > cases / 100);
}

/* Least forces: feasible, the same W z, and no other feasible z on random lines is shorter. */
static void test_least_forces(void **state)
{
    (void)state;
    int shorter = 0;
    for (int i = 0; i < 1000; i++) {
        problem p;
        double z[MOST], before[MOST], doubles[1000];
        int ints[100];
        make(&p, i % 2 ? 2 : 5);
        int n = p.n;
        if (hmi_lcp_solve(n, p.W, p.q, NULL, z, doubles, ints) != HMI_LCP_SOLVED)
            continue;
        hmi_copy(n, z, before);
        hmi_least_forces(n, p.W, NULL, NULL, z, doubles, ints);
        for (int k = 0; k < n; k++) {
            double change = hmi_dot(n, p.W + k * n, z) - hmi_dot(n, p.W + k * n, before);
            assert_true(fabs(change) < 1e-8);
            assert_true(z[k] >= -1e-12);
        }
        assert_true(hmi_norm(n, z) <= hmi_norm(n, before) + 1e-9);
        shorter += hmi_norm(n, z) < 0.99 * hmi_norm(n, before);
        for (int trial = 0; trial < 50; trial++) { /* z + null vector, as far as it is feasible */
            double d[MOST], X[MOST * MOST], Xd[MOST], part[MOST];
            fill(n, d);
            hmi_cod cod;
            hmi_copy(n * n, p.W, X);
            hmi_cod_factor(&cod, n, n, X, n, 1e-9, doubles, ints);
            hmi_matvec(n, n, p.W, d, Xd);
            hmi_cod_solve(&cod, Xd, part);
            double most = 0.1;
            for (int k = 0; k < n; k++) {
                d[k] -= part[k];
                if (d[k] < -1e-12)
                    most = fmin(most, fmax(z[k], 0) / -d[k]);
            }
            double length = 0;
            for (int k = 0; k < n; k++)
                length += (z[k] + most * d[k]) * (z[k] + most * d[k]);
            assert_true(sqrt(length) >= hmi_norm(n, z) - 1e-8);
        }
    }
    assert_true(shorter > 20);
}

/* Two equal contacts under one weight: half each. */
static void test_two_legs(void **state)
{
    (void)state;
    const double W[] = {1, 1, 1, 1}, q[] = {-9, -9};
    double z[2], doubles[100];
    int ints[40];
    assert_int_equal(hmi_lcp_solve(2, W, q, NULL, z, doubles, ints), HMI_LCP_SOLVED);
    hmi_least_forces(2, W, NULL, NULL, z, doubles, ints);
    assert_true(fabs(z[0] - 4.5) < 1e-12 && fabs(z[1] - 4.5) < 1e-12);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_against_enumeration),
        cmocka_unit_test(test_least_forces),
        cmocka_unit_test(test_two_legs),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
