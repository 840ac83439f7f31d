/* The hot loop: the same answers as the full solve, wherever it hands over. */
#include "unit/dynamics/helpers.h"

#include <stdlib.h>

/* Solves both ways and compares. */
static void compare(int n, int m, const double *M, const double *Q, const double *A,
                    const double *b, double tolerance, hm_status expected)
{
    double qdd[32], lambda[32], alone[32];
    hmi_dynamics *d = make_workspace(n, m, 0, 0);
    hmi_equations equations = {.M = M, .Q = Q, .A = A, .b = b};
    hmi_options options = full_effort();
    hmi_solution s;
    assert_int_equal(hmi_accelerate(d, M, Q, A, b, qdd, lambda), expected);
    assert_int_equal(hmi_accelerate(d, M, Q, A, b, alone, NULL), expected);
    assert_int_equal(hmi_dynamics_solve(d, &equations, &options, &s), expected);
    assert_close(n, qdd, s.qdd, tolerance);
    assert_close(n, alone, s.qdd, tolerance);
    assert_close(m, lambda, s.lambda, tolerance);
    hmi_dynamics_destroy(d);
}

static const double M3[9] = {1, 0, -0.06, 0, 1, 0.29, -0.06, 0.29, 0.5}, Q3[3] = {0.1, 0.2, 0.3};

static void well_conditioned(void **state)
{
    (void)state;
    double A[6] = {-0.19, 0.98, 0, 1, 1, 1}, b[2] = {0.3, 2};
    compare(3, 0, M3, Q3, NULL, NULL, 1e-14, HM_OK);
    compare(3, 1, M3, Q3, A, b, 1e-14, HM_OK);
    compare(3, 2, M3, Q3, A, b, 1e-14, HM_OK);
}

static void redundant(void **state)
{
    (void)state;
    double A[6] = {-0.19, 0.98, 0, -0.38, 1.96, 0}, b[2] = {0.3, 0.6};
    compare(3, 2, M3, Q3, A, b, 1e-12, HM_OK);
    b[1] = 0.7;
    compare(3, 2, M3, Q3, A, b, 1e-12, HM_ERR_INCONSISTENT);
}

/* A quaternion: M = 4 E^T J E has rank 3, the norm constraint holds the fourth direction. */
static void turn(double inertia)
{
    double e[4] = {0.5, -0.5, 0.1, 0.7}, J[3] = {inertia, 2 * inertia, 3 * inertia}, M[16] = {0},
           Q[4] = {0.3, 1, -2, 0.4};
    double E[3][4] = {
        {-e[1], e[0], e[3], -e[2]}, {-e[2], -e[3], e[0], e[1]}, {-e[3], e[2], -e[1], e[0]}};
    double A[4], b[1] = {-0.8};
    for (int i = 0; i < 4; i++) {
        A[i] = 2 * e[i];
        for (int j = 0; j < 4; j++)
            for (int k = 0; k < 3; k++)
                M[4 * i + j] += 4 * J[k] * E[k][i] * E[k][j];
    }
    for (int i = 0; i < 4; i++)
        Q[i] *= inertia;
    compare(4, 1, M, Q, A, b, 1e-13, HM_OK);
}

static void quaternion(void **state)
{
    (void)state;
    turn(1);
    turn(1e-9);
    turn(1e9);
}

static void indefinite(void **state)
{
    (void)state;
    double M[4] = {1, 0, 0, -1}, Q[2] = {1, 2}, A[2] = {1, 2}, b[1] = {0.5};
    compare(2, 1, M, Q, A, b, 1e-14, HM_OK);
    A[1] = 1;
    compare(2, 1, M, Q, A, b, 1e-14, HM_ERR_UNDETERMINED);
}

/* Units over forty decades do not make a system ill-conditioned. */
static void units(void **state)
{
    (void)state;
    double M[4] = {1e-20, 3e-11, 3e-11, 1}, Q[2] = {1e-10, 1}, A[2] = {1e10, 1e20}, b[1] = {1e20};
    compare(2, 1, M, Q, A, b, 1e-13, HM_OK);
}

static void not_finite(void **state)
{
    (void)state;
    double Q[3] = {NAN, 0, 0}, A[3] = {1, 0, 0}, b[1] = {INFINITY};
    compare(3, 1, M3, Q, A, (double[]){1}, 0, HM_ERR_NUMERIC);
    compare(3, 1, M3, Q3, A, b, 0, HM_ERR_NUMERIC);
    compare(3, 0, M3, Q, NULL, NULL, 0, HM_ERR_NUMERIC);
}

/* No allocation in an evaluation. */
static int allocations;

static void *counting(void *user, void *ptr, size_t old_size, size_t new_size)
{
    hm_allocator usual = hm_allocator_default();
    (void)user;
    allocations++;
    return usual.resize(usual.user, ptr, old_size, new_size);
}

static void no_allocation(void **state)
{
    (void)state;
    hm_allocator allocator = {counting, NULL};
    hmi_dynamics_size size = {3, 2, 0, 0, true};
    hmi_dynamics *d = NULL;
    double A[6] = {-0.19, 0.98, 0, -0.38, 1.96, 0}, b[2] = {0.3, 0.6}, qdd[3], lambda[2];
    assert_int_equal(hmi_dynamics_create(&allocator, &size, &d), HM_OK);
    hmi_equations equations = {.M = M3, .Q = Q3, .A = A, .b = b, .C = Q3};
    hmi_options options = full_effort();
    hmi_solution s;
    allocations = 0;
    assert_int_equal(hmi_accelerate(d, M3, Q3, A, b, qdd, lambda), HM_OK);
    assert_int_equal(hmi_dynamics_solve(d, &equations, &options, &s), HM_OK);
    assert_int_equal(allocations, 0);
    hmi_dynamics_destroy(d);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(well_conditioned),
        cmocka_unit_test(redundant),
        cmocka_unit_test(quaternion),
        cmocka_unit_test(indefinite),
        cmocka_unit_test(units),
        cmocka_unit_test(not_finite),
        cmocka_unit_test(no_allocation),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
