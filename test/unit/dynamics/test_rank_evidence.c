/* What is said of a rank (rank_evidence.c), and an answer without one (weighted.c). */
#include "dynamics/formulations/workspace.h"
#include "helpers.h"

static hmi_solution found;
static double found_qdd[10]; /* outlives the workspace */

/* M = 1, Q = 1, 2, 3 ... */
static hm_status solve(int n, int m, const double *A, const double *b, const double *A_error)
{
    static double M[100], Q[10];
    for (int i = 0; i < n; i++) {
        Q[i] = i + 1;
        for (int j = 0; j < n; j++)
            M[i * n + j] = i == j;
    }
    hmi_dynamics *d = make_workspace(n, m, 0, 0);
    hmi_equations equations = {.M = M, .Q = Q, .A = A, .b = b, .A_error = A_error};
    hmi_options options = full_effort();
    hm_status status = hmi_dynamics_solve(d, &equations, &options, &found);
    for (int i = 0; i < n; i++)
        found_qdd[i] = found.qdd[i];
    hmi_dynamics_destroy(d);
    return status;
}

static hm_rank_verdict verdict_of_rows(void)
{
    return found.verdict.evidence_A.verdict;
}

static void full_rank_is_proved(void **state)
{
    (void)state;
    const double A[6] = {1, 0, 1, 0, 2, 1}, b[2] = {0, 0},
                 error[6] = {1e-16, 0, 1e-16, 0, 2e-16, 0};
    assert_int_equal(solve(3, 2, A, b, error), HM_OK);
    assert_int_equal(found.verdict.rank_A, 2);
    assert_int_equal(verdict_of_rows(), HM_RANK_VERDICT_PROVED);
    assert_int_equal(found.verdict.evidence_M.verdict, HM_RANK_VERDICT_PROVED);
    assert_true(found.verdict.evidence_A.kept > 0.1 && found.verdict.evidence_A.bound < 1e-12);
}

static void zeros_in_their_places_are_structure(void **state)
{
    (void)state;
    const double A[9] = {1, 0, 0, 2, 0, 0, 0, 1, 1}, b[3] = {0, 0, 0};
    assert_int_equal(solve(3, 3, A, b, NULL), HM_OK);
    assert_int_equal(found.verdict.rank_A, 2);
    assert_int_equal(verdict_of_rows(), HM_RANK_VERDICT_STRUCTURAL);
}

static void equal_rows_are_not_proved(void **state)
{
    (void)state;
    const double A[4] = {1, 2, 2, 4}, b[2] = {1, 2};
    assert_int_equal(solve(2, 2, A, b, NULL), HM_OK);
    assert_int_equal(found.verdict.rank_A, 1);
    assert_int_equal(verdict_of_rows(), HM_RANK_VERDICT_UNDECIDED);
}

/* The same numbers are a constraint, or the rounding errors of one that is not there. Rows and errors
 * are of any size: units do not matter. */
static void noise_is_no_row(void **state)
{
    (void)state;
    for (int k = -40; k <= 40; k += 8) {
        double unit = pow(10, k);
        const double A[4] = {1, 0, 1.4e-17 * unit, 3e-17 * unit}, b[2] = {0, 0};
        const double noise[4] = {0, 0, 1e-16 * unit, 1e-16 * unit}, sharp[4] = {0, 0, 0, 0};
        assert_int_equal(solve(2, 2, A, b, noise), HM_OK);
        assert_int_equal(found.verdict.rank_A, 1);
        assert_true(found_qdd[1] == 2 && found.disagreement < 1e-12);
        assert_int_equal(solve(2, 2, A, b, sharp), HM_OK);
        assert_int_equal(found.verdict.rank_A, 2);
        assert_true(fabs(found_qdd[1]) < 1e-15 && found.disagreement < 1e-12);
    }
}

/* A row half of whose digits are noise is one all the same, and what depends on it to that accuracy
 * depends on it. */
static void noisy_rows_count(void **state)
{
    (void)state;
    const double A[6] = {1, 1, 0, 1, 1 + 3e-9, 2e-9}, b[2] = {1, 1};
    const double error[6] = {0, 0, 0, 1e-8, 1e-8, 1e-8};
    assert_int_equal(solve(3, 2, A, b, error), HM_OK);
    assert_int_equal(found.verdict.rank_A, 1);
    const double other[6] = {1, 1, 0, 1, -1, 2e-9};
    assert_int_equal(solve(3, 2, other, b, error), HM_OK);
    assert_int_equal(found.verdict.rank_A, 2);
    assert_int_equal(verdict_of_rows(), HM_RANK_VERDICT_PROVED);
}

/* 0 = 1e-9 where b is known to 1e-8: no contradiction; where it is known exactly it is one. */
static void right_sides_have_errors(void **state)
{
    (void)state;
    double M[1] = {1}, Q[1] = {1}, A[2] = {1, 1}, b[2] = {1, 1 + 1e-8}, error[2] = {0, 1e-8};
    hmi_dynamics *d = make_workspace(1, 2, 0, 0);
    hmi_equations equations = {.M = M, .Q = Q, .A = A, .b = b, .b_error = error};
    hmi_options options = full_effort();
    assert_int_equal(hmi_dynamics_solve(d, &equations, &options, &found), HM_OK);
    equations.b_error = NULL;
    assert_int_equal(hmi_dynamics_solve(d, &equations, &options, &found), HM_ERR_INCONSISTENT);
    hmi_dynamics_destroy(d);
}

/* What the other formulations share is wrong: the row of noise is taken for one. The answer that rests on
 * no rank says so. */
static void a_shared_mistake_is_seen(void **state)
{
    (void)state;
    double M[1] = {1}, Q[1] = {1}, A[1] = {1e-17}, b[1] = {0}, error[1] = {1e-16};
    hmi_dynamics *d = make_workspace(1, 1, 0, 0);
    const hmi_equations blind = {.M = M, .Q = Q, .A = A, .b = b};
    const hmi_equations known = {.M = M, .Q = Q, .A = A, .b = b, .A_error = error};
    hmi_options options = full_effort();
    assert_int_equal(hmi_dynamics_solve(d, &blind, &options, &found), HM_OK);
    assert_true(found.qdd[0] == 0);
    double force = 1, wrong = 0;
    assert_true(hmi_weighted_difference(d, &known, &force, &wrong, 1) > 0.5);
    assert_true(hmi_weighted_difference(d, &blind, &force, &wrong, 1) < 1e-12);
    hmi_dynamics_destroy(d);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(full_rank_is_proved),
        cmocka_unit_test(zeros_in_their_places_are_structure),
        cmocka_unit_test(equal_rows_are_not_proved),
        cmocka_unit_test(noise_is_no_row),
        cmocka_unit_test(noisy_rows_count),
        cmocka_unit_test(right_sides_have_errors),
        cmocka_unit_test(a_shared_mistake_is_seen),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
