/* The saddle-point solver: by factors and by the inverse it gives what LU gives for the whole system;
 * singular M that is positive on the null space of A is shifted; rows that are left out do not count;
 * what is ill conditioned is refused. */
#include "linalg/saddle.h"
#include "unit/linalg/helpers.h"

enum { MOST = 2 * SIZE };

typedef struct problem {
    int n, m;
    bool left_out[SIZE];
    double M[SIZE * SIZE], A[SIZE * SIZE], right[MOST];
} problem;

/* M = B B^T of the given rank, plus the identity where that is full. */
static void make(problem *p, int n, int m, int rank)
{
    double B[SIZE * SIZE];
    *p = (problem){.n = n, .m = m};
    fill(n * rank, B);
    fill(m * n, p->A);
    fill(n + m, p->right);
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++)
            p->M[i * n + j] = hmi_dot(rank, B + i * rank, B + j * rank) + (rank == n && i == j);
}

/* [M -A^T; A 0] by LU; a row that is left out says lambda = 0. */
static void solve_by_lu(const problem *p, double *answer)
{
    int n = p->n, size = p->n + p->m, pivots[MOST];
    double P[MOST * MOST] = {0};
    for (int i = 0; i < n; i++)
        hmi_copy(n, p->M + i * n, P + i * size);
    for (int k = 0; k < p->m; k++)
        for (int j = 0; j < n && !p->left_out[k]; j++) {
            P[(n + k) * size + j] = p->A[k * n + j];
            P[j * size + n + k] = -p->A[k * n + j];
        }
    hmi_copy(size, p->right, answer);
    for (int k = 0; k < p->m; k++)
        if (p->left_out[k]) {
            P[(n + k) * size + n + k] = 1;
            answer[n + k] = 0;
        }
    assert_true(hmi_lu(size, P, pivots, 0));
    hmi_lu_solve(size, P, pivots, answer);
}

static void place(hmi_saddle *s, const problem *p, bool many, double *memory)
{
    hmi_saddle_place(s, p->n, p->m, many, memory);
    s->A = p->A;
    s->left_out = p->left_out;
}

static void check_answer(const problem *p, const hmi_saddle *s, const double *answer,
                         const double *expected)
{
    int n = p->n;
    double size = 1 + hmi_norm(n + p->m, expected);
    assert_true(hmi_saddle_accepts(s, p->M, p->right + n, answer, answer + n));
    assert_true(distance(n + p->m, answer, expected) < 1e-9 * size);
}

/* By factors for one right side, for many (the same bits), and by the inverse. */
static void check(const problem *p, bool shifted)
{
    static double memory[2][8 * MOST * MOST];
    double expected[MOST], one[MOST], many[MOST], inverse[MOST];
    int n = p->n, size = p->n + p->m;
    hmi_saddle s[2];
    solve_by_lu(p, expected);
    for (int k = 0; k < 2; k++) {
        assert_true(hmi_saddle_doubles(n, p->m, k) <= 8 * MOST * MOST);
        place(&s[k], p, k, memory[k]);
        assert_true(hmi_saddle_factor(&s[k], p->M));
        assert_int_equal(s[k].shifted, shifted);
        hmi_saddle_solve(&s[k], p->right, p->right + n, k ? many : one, (k ? many : one) + n);
    }
    check_answer(p, &s[0], one, expected);
    assert_memory_equal(one, many, (size_t)size * sizeof *one);
    assert_int_equal(s[1].padded > 0, size <= HMI_SADDLE_MOST_INVERTED);
    if (!s[1].padded)
        return;
    assert_true(hmi_saddle_invert(&s[1], p->M) && s[1].inverted);
    assert_int_equal(s[1].shifted, shifted);
    hmi_saddle_multiply(&s[1], p->right, inverse);
    check_answer(p, &s[1], inverse, expected);
}

static void test_solves(void **state)
{
    problem p;
    (void)state;
    for (int trial = 0; trial < 300; trial++) {
        int n = random_int(1, 20), m = random_int(0, n / 2);
        make(&p, n, m, n);
        if (m > 1 && trial % 3 == 0)
            p.left_out[random_int(0, m - 1)] = true;
        check(&p, false);
    }
}

/* M does not see one direction, which a row holds. */
static void test_shift(void **state)
{
    problem p;
    (void)state;
    for (int trial = 0; trial < 100; trial++) {
        int n = random_int(2, 14), m = random_int(1, n / 2);
        make(&p, n, m, n);
        for (int j = 0; j < n; j++)
            p.M[j] = p.M[j * n] = p.A[j] = 0;
        p.A[0] = 2;
        check(&p, true);
    }
}

/* Rows of A that depend on each other; M that no row completes. */
static void test_refusals(void **state)
{
    double memory[8 * MOST];
    problem p;
    hmi_saddle s;
    (void)state;
    make(&p, 4, 2, 4);
    for (int j = 0; j < 4; j++)
        p.A[4 + j] = p.A[j] * (1 + (j == 0) * 1e-9);
    place(&s, &p, true, memory);
    assert_false(hmi_saddle_factor(&s, p.M));
    assert_false(hmi_saddle_invert(&s, p.M));
    assert_false(s.inverted);
    make(&p, 3, 0, 2);
    place(&s, &p, true, memory);
    assert_false(hmi_saddle_factor(&s, p.M));
    assert_false(hmi_saddle_invert(&s, p.M));
}

/* An answer that misses a row, or is not finite, is not accepted; rows left out are not looked at. */
static void test_acceptance(void **state)
{
    double memory[8 * MOST], answer[MOST];
    problem p;
    hmi_saddle s;
    (void)state;
    make(&p, 5, 2, 5);
    place(&s, &p, false, memory);
    assert_true(hmi_saddle_factor(&s, p.M));
    hmi_saddle_solve(&s, p.right, p.right + 5, answer, answer + 5);
    assert_true(hmi_saddle_accepts(&s, p.M, p.right + 5, answer, answer + 5));
    answer[0] += 1e-6;
    assert_false(hmi_saddle_accepts(&s, p.M, p.right + 5, answer, answer + 5));
    p.left_out[0] = p.left_out[1] = true;
    assert_true(hmi_saddle_accepts(&s, p.M, p.right + 5, answer, answer + 5));
    answer[6] = NAN;
    assert_false(hmi_saddle_accepts(&s, p.M, p.right + 5, answer, answer + 5));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_solves),
        cmocka_unit_test(test_shift),
        cmocka_unit_test(test_refusals),
        cmocka_unit_test(test_acceptance),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
