/* Verdicts: ranks, redundancy in the order of declaration, contradictions, undetermined directions,
 * and the edges of sizes. Never a NaN. */
#include "unit/dynamics/helpers.h"

static hmi_solution s;

/* Solves with full effort in a workspace that lives until the next call. */
static hm_status solve(int n, int m, const double *M, const double *Q, const double *A,
                       const double *b)
{
    static hmi_dynamics *d;
    hmi_equations equations = {.M = M, .Q = Q, .A = A, .b = b};
    hmi_options options = full_effort();
    hmi_dynamics_destroy(d);
    d = NULL;
    if (n == 0)
        return HM_OK;
    d = make_workspace(n, m, 0, 0);
    return hmi_dynamics_solve(d, &equations, &options, &s);
}

static int forget(void **state)
{
    (void)state;
    (void)solve(0, 0, NULL, NULL, NULL, NULL);
    return 0;
}

static void contradiction(void **state)
{
    (void)state;
    double M[1] = {2}, Q[1] = {3}, A[2] = {1, 1}, b[2] = {1, 2}, half[2] = {-0.5, 0.5};
    assert_int_equal(solve(1, 2, M, Q, A, b), HM_ERR_INCONSISTENT);
    double mean = 1.5; /* least squares, as the pseudo-inverse has it */
    assert_close(1, s.qdd, &mean, 1e-15);
    assert_false(s.verdict.consistent);
    assert_false(s.verdict.redundant[0]);
    assert_true(s.verdict.redundant[1]);
    assert_false(s.verdict.inconsistent[0]);
    assert_true(s.verdict.inconsistent[1]);
    double one = 1;
    assert_close(1, s.verdict.discrepancy + 1, &one, 1e-15);
    assert_close(2, s.verdict.residual, half, 1e-15);
}

/* x'' = 1 weighs more when it is written 10 x'' = 10: the pseudo-inverse is not invariant there. */
static void contradiction_least_squares(void **state)
{
    (void)state;
    double M[4] = {1, 0, 0, 1}, Q[2] = {0, 7}, A[4] = {10, 0, 1, 0}, b[2] = {10, 2};
    assert_int_equal(solve(2, 2, M, Q, A, b), HM_ERR_INCONSISTENT);
    double expected[2] = {102.0 / 101, 7};
    assert_close(2, s.qdd, expected, 1e-14);
}

static void contradiction_at_zero(void **state)
{
    (void)state;
    double M[1] = {1}, Q[1] = {3}, A[1] = {0}, b[1] = {1};
    assert_int_equal(solve(1, 1, M, Q, A, b), HM_ERR_INCONSISTENT);
    assert_close(1, s.qdd, Q, 0);
    assert_true(s.verdict.inconsistent[0]);
    assert_close(1, s.verdict.discrepancy, b, 0);
    assert_close(1, s.lambda, A, 0);
}

static void redundancy_follows_declaration(void **state)
{
    (void)state;
    /* rows: x, 1e-9 x, x + y (large), y: the second and the fourth depend on those before */
    double M[9] = {1, 0, 0, 0, 1, 0, 0, 0, 1}, Q[3] = {1, 2, 3};
    double A[12] = {1, 0, 0, 1e-9, 0, 0, 1e6, 1e6, 0, 0, 1, 0}, b[4] = {5, 5e-9, 7e6, 2};
    assert_int_equal(solve(3, 4, M, Q, A, b), HM_OK);
    bool expected[4] = {false, true, false, true};
    for (int i = 0; i < 4; i++)
        assert_int_equal(s.verdict.redundant[i], expected[i]);
    double qdd[3] = {5, 2, 3};
    assert_close(3, s.qdd, qdd, 1e-13);
    assert_int_equal(s.verdict.rank_A, 2);
    assert_false(s.verdict.unique_multipliers);
    for (int i = 0; i < 4; i++)
        assert_false(s.verdict.multiplier_unique[i]);
    assert_true(s.verdict.consistent);
    assert_true(s.disagreement <= 1e-12);
}

static void multipliers_one_by_one(void **state)
{
    (void)state;
    double M[4] = {1, 0, 0, 1}, Q[2] = {1, 2}, A[6] = {1, 0, 2, 0, 0, 3}, b[3] = {0, 0, 0};
    assert_int_equal(solve(2, 3, M, Q, A, b), HM_OK);
    assert_false(s.verdict.multiplier_unique[0]);
    assert_false(s.verdict.multiplier_unique[1]);
    assert_true(s.verdict.multiplier_unique[2]);
    double lambda[3] = {-0.2, -0.4, -2.0 / 3};
    assert_close(3, s.lambda, lambda, 1e-15);
}

static void rows_of_zeros(void **state)
{
    (void)state;
    double M[4] = {1, 0, 0, 1}, Q[2] = {1, 2}, A[6] = {0, 0, 1, 1, 0, 0}, b[3] = {0, 1, 0};
    assert_int_equal(solve(2, 3, M, Q, A, b), HM_OK);
    double qdd[2] = {0, 1}, lambda[3] = {0, -1, 0};
    assert_close(2, s.qdd, qdd, 1e-15);
    assert_close(3, s.lambda, lambda, 1e-15);
    assert_int_equal(s.verdict.rank_A, 1);
    assert_true(s.verdict.redundant[0] && !s.verdict.redundant[1] && s.verdict.redundant[2]);
}

/* A row that is zero up to rounding, where the caller knows the size of its terms. */
static void row_of_rounding_errors(void **state)
{
    (void)state;
    double M[4] = {1, 0, 0, 1}, Q[2] = {1, 2}, A[2] = {1e-16, 0}, b[1] = {0}, error[2] = {2e-16, 0};
    hmi_dynamics *d = make_workspace(2, 1, 0, 0);
    hmi_equations equations = {.M = M, .Q = Q, .A = A, .b = b, .A_error = error};
    hmi_options options = full_effort();
    hmi_solution found;
    assert_int_equal(hmi_dynamics_solve(d, &equations, &options, &found), HM_OK);
    assert_int_equal(found.verdict.rank_A, 0);
    assert_close(2, found.qdd, Q, 0);
    equations.A_error = NULL;
    assert_int_equal(hmi_dynamics_solve(d, &equations, &options, &found), HM_OK);
    assert_int_equal(found.verdict.rank_A, 1);
    hmi_dynamics_destroy(d);
}

static void more_rows_than_coordinates(void **state)
{
    (void)state;
    double M[4] = {2, 1, 1, 2}, Q[2] = {1, 2}, A[10] = {1, 2, 3, -1, 4, 1, -2, 3, 0.5, 0.5}, b[5];
    double qdd[2] = {0.25, -3};
    for (int i = 0; i < 5; i++)
        b[i] = A[2 * i] * qdd[0] + A[2 * i + 1] * qdd[1];
    assert_int_equal(solve(2, 5, M, Q, A, b), HM_OK);
    assert_close(2, s.qdd, qdd, 1e-14);
    assert_int_equal(s.freedom, 0);
    b[3] += 1e-3;
    assert_int_equal(solve(2, 5, M, Q, A, b), HM_ERR_INCONSISTENT);
    assert_true(s.verdict.inconsistent[3]);
    double amount = 1e-3;
    assert_close(1, s.verdict.discrepancy + 3, &amount, 1e-14);
}

static void no_constraints(void **state)
{
    (void)state;
    double M[4] = {2, 0, 0, 4}, Q[2] = {1, 2}, qdd[2] = {0.5, 0.5}, zero[2] = {0};
    assert_int_equal(solve(2, 0, M, Q, NULL, NULL), HM_OK);
    assert_close(2, s.qdd, qdd, 0);
    assert_close(2, s.Qc, zero, 0);
    assert_close(2, s.a, qdd, 0);
    assert_int_equal(s.freedom, 2);
    assert_true(s.verdict.unique_multipliers);
    assert_int_equal(s.formulations, 0xfe);
}

static void one_coordinate(void **state)
{
    (void)state;
    double M[1] = {4}, Q[1] = {2}, A[1] = {2}, b[1] = {6}, qdd[1] = {3}, lambda[1] = {5};
    assert_int_equal(solve(1, 1, M, Q, A, b), HM_OK);
    assert_close(1, s.qdd, qdd, 0);
    assert_close(1, s.lambda, lambda, 0);
    double none[1] = {0};
    assert_int_equal(solve(1, 1, none, Q, A, b), HM_OK); /* no mass, but held */
    assert_close(1, s.qdd, qdd, 0);
    assert_int_equal(s.verdict.mass, HMI_SEMIDEFINITE);
    assert_int_equal(s.verdict.rank_M, 0);
}

/* A massless coordinate that nothing holds: no acceleration under a force, any without one. */
static void massless_and_free(void **state)
{
    (void)state;
    double M[4] = {1, 0, 0, 0}, Q[2] = {1, 0}, qdd[2] = {1, 0};
    assert_int_equal(solve(2, 0, M, Q, NULL, NULL), HM_ERR_UNDETERMINED);
    assert_false(s.verdict.unique_acceleration);
    assert_true(s.verdict.solvable);
    assert_int_equal(s.verdict.undetermined, 1);
    double direction[2] = {0, 1};
    assert_close(2, s.verdict.directions, direction, 0);
    assert_close(2, s.qdd, qdd, 1e-15);
    Q[1] = 1;
    assert_int_equal(solve(2, 0, M, Q, NULL, NULL), HM_ERR_UNDETERMINED);
    assert_false(s.verdict.solvable);
}

/* Errata 2.9: rank [M | A^T] = n, and yet not unique, for indefinite M. */
static void indefinite_and_not_unique(void **state)
{
    (void)state;
    double M[4] = {1, 0, 0, -1}, Q[2] = {1, 1}, A[2] = {1, 1}, b[1] = {0};
    assert_int_equal(solve(2, 1, M, Q, A, b), HM_ERR_UNDETERMINED);
    assert_int_equal(s.verdict.rank_MA, 2);
    assert_int_equal(s.verdict.rank_M, 2);
    assert_int_equal(s.verdict.mass, HMI_INDEFINITE);
    assert_int_equal(s.verdict.undetermined, 1);
    double direction[2] = {1, -1};
    assert_close(2, s.verdict.directions, direction, 1e-14);
    A[1] = 2; /* unique now, without a root of M */
    assert_int_equal(solve(2, 1, M, Q, A, b), HM_OK);
    assert_int_equal(s.formulation, HM_FORMULATION_KKT);
    assert_true(s.disagreement <= 1e-14);
    assert_non_null(s.a); /* M is not singular, only indefinite */
}

/* x = y = z without mass: two directions, readable. */
static void directions_are_readable(void **state)
{
    (void)state;
    double M[16] = {0}, Q[4] = {0}, A[4] = {1, 1, 1, 0}, b[1] = {0};
    M[15] = 5;
    assert_int_equal(solve(4, 1, M, Q, A, b), HM_ERR_UNDETERMINED);
    assert_int_equal(s.verdict.undetermined, 2);
    for (int k = 0; k < 2; k++) {
        const double *v = s.verdict.directions + 4 * k;
        assert_true(fabs(v[0] + v[1] + v[2]) < 1e-14 && v[3] == 0);
        int ones = 0;
        for (int i = 0; i < 3; i++)
            ones += fabs(fabs(v[i]) - 1) < 1e-14 || v[i] == 0;
        assert_int_equal(ones, 3);
    }
}

/* Nothing but NaN and infinity is an error; nothing of them comes back. */
static void not_finite(void **state)
{
    (void)state;
    double M[1] = {1}, Q[1] = {NAN}, A[1] = {1}, b[1] = {INFINITY}, one[1] = {1}, zero[1] = {0};
    assert_int_equal(solve(1, 1, M, Q, A, one), HM_ERR_NUMERIC);
    assert_close(1, s.qdd, zero, 0);
    assert_int_equal(solve(1, 1, M, one, A, b), HM_ERR_NUMERIC);
    assert_int_equal(solve(1, 1, Q, one, A, one), HM_ERR_NUMERIC);
    double tiny[1] = {1e-300}, huge[1] = {1e300};
    assert_int_equal(solve(1, 0, tiny, huge, NULL, NULL), HM_ERR_NUMERIC); /* overflows */
    assert_close(1, s.qdd, zero, 0);
    assert_int_equal(solve(1, 0, tiny, tiny, NULL, NULL), HM_OK);
    assert_close(1, s.qdd, one, 0);
}

static void formulations_by_name(void **state)
{
    (void)state;
    hm_formulation f = HM_FORMULATION_AUTO;
    for (int i = 0; i < HMI_FORMULATIONS; i++) {
        assert_true(hm_formulation_find(hm_formulation_name((hm_formulation)i), &f));
        assert_int_equal(f, i);
    }
    assert_false(hm_formulation_find("newton", &f));
}

/* No root of M, no geometry. Multipliers that feed back on themselves may have no derivative. */
static void what_has_no_answer(void **state)
{
    (void)state;
    double M[4] = {1, 0, 0, 0}, Q[2] = {1, 1}, A[2] = {0, 1}, b[1] = {1}, d1[2] = {1, 1},
           d2[1] = {1};
    double feedback[2] = {0, -1}, dqdd[2];
    hmi_dynamics *d = make_workspace(2, 1, 0, 0);
    hmi_equations equations = {.M = M, .Q = Q, .A = A, .b = b};
    hmi_options options = full_effort();
    hmi_solution found;
    hmi_geometry geometry = {0};
    assert_int_equal(hmi_dynamics_solve(d, &equations, &options, &found), HM_OK);
    assert_int_equal(hmi_dynamics_geometry(d, &equations, &found, &geometry), HM_ERR_UNDETERMINED);
    hmi_directions directions = {1, d1, d2, NULL, feedback};
    assert_int_equal(hmi_dynamics_derivative(d, &directions, dqdd, NULL), HM_ERR_NUMERIC);
    hmi_dynamics_destroy(d);
}

static void formulation_that_does_not_apply(void **state)
{
    (void)state;
    double M[1] = {0}, Q[1] = {1}, A[1] = {1}, b[1] = {1};
    hmi_dynamics *d = make_workspace(1, 1, 0, 0);
    hmi_equations equations = {.M = M, .Q = Q, .A = A, .b = b};
    hmi_options options = hmi_options_default();
    hmi_solution found;
    options.formulation = HM_FORMULATION_UK;
    assert_int_equal(hmi_dynamics_solve(d, &equations, &options, &found), HM_ERR_USAGE);
    options.formulation = HM_FORMULATION_GAUSS;
    assert_int_equal(hmi_dynamics_solve(d, &equations, &options, &found), HM_OK);
    hmi_dynamics_destroy(d);
}

/* The angle between two rods closes and opens: the rank falls at an instant, the motion goes on. */
static void rank_changes_along_a_motion(void **state)
{
    (void)state;
    double M[4] = {1, 0, 0, 1}, Q[2] = {1, 2}, b[2] = {0, 0}, zero[2] = {0};
    for (int k = -40; k <= 40; k++) {
        double angle = k ? copysign(pow(10, -0.5 * abs(k)), k) : 0;
        double A[4] = {1, 0, cos(angle), sin(angle)};
        assert_int_equal(solve(2, 2, M, Q, A, b), HM_OK);
        if (fabs(angle) > 1e-12) {
            assert_int_equal(s.verdict.rank_A, 2);
            assert_close(2, s.qdd, zero, 1e-15);
        } else if (fabs(angle) < 1e-14) {
            double along[2] = {0, 2};
            assert_int_equal(s.verdict.rank_A, 1);
            assert_close(2, s.qdd, along, 1e-12);
        }
    }
}

static void sizes_and_memory(void **state)
{
    (void)state;
    hm_allocator allocator = hm_allocator_default();
    hmi_dynamics *d = NULL;
    hmi_dynamics_size bad = {0, 1, 0, 0, false}, negative = {1, -1, 0, 0, false};
    assert_int_equal(hmi_dynamics_create(&allocator, &bad, &d), HM_ERR_USAGE);
    assert_int_equal(hmi_dynamics_create(&allocator, &negative, &d), HM_ERR_USAGE);
    assert_null(d);
    hmi_dynamics_destroy(NULL);
}

/* Fails the k-th allocation. */
static int left_to_give;

static void *failing(void *user, void *ptr, size_t old_size, size_t new_size)
{
    hm_allocator usual = hm_allocator_default();
    (void)user;
    if (new_size && left_to_give-- == 0)
        return NULL;
    return usual.resize(usual.user, ptr, old_size, new_size);
}

static void out_of_memory(void **state)
{
    (void)state;
    hm_allocator allocator = {failing, NULL};
    hmi_dynamics_size size = {3, 2, 1, 1, true};
    hmi_dynamics *d = NULL;
    for (int k = 0; k < 2; k++) {
        left_to_give = k;
        assert_int_equal(hmi_dynamics_create(&allocator, &size, &d), HM_ERR_NOMEM);
        assert_null(d);
    }
    left_to_give = 2;
    assert_int_equal(hmi_dynamics_create(&allocator, &size, &d), HM_OK);
    hmi_dynamics_destroy(d);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(contradiction),
        cmocka_unit_test(contradiction_least_squares),
        cmocka_unit_test(contradiction_at_zero),
        cmocka_unit_test(redundancy_follows_declaration),
        cmocka_unit_test(multipliers_one_by_one),
        cmocka_unit_test(rows_of_zeros),
        cmocka_unit_test(row_of_rounding_errors),
        cmocka_unit_test(more_rows_than_coordinates),
        cmocka_unit_test(no_constraints),
        cmocka_unit_test(one_coordinate),
        cmocka_unit_test(massless_and_free),
        cmocka_unit_test(indefinite_and_not_unique),
        cmocka_unit_test(directions_are_readable),
        cmocka_unit_test(not_finite),
        cmocka_unit_test(formulations_by_name),
        cmocka_unit_test(what_has_no_answer),
        cmocka_unit_test(formulation_that_does_not_apply),
        cmocka_unit_test(rank_changes_along_a_motion),
        cmocka_unit_test(sizes_and_memory),
        cmocka_unit_test(out_of_memory),
    };
    return cmocka_run_group_tests(tests, NULL, forget);
}
