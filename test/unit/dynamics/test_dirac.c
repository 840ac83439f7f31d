/* Degenerate Lagrangians: velocities determined without accelerations. */
#include "unit/dynamics/helpers.h"

static hmi_dirac_velocity v;
static double qdot[8];

static hm_status solve(int n, int m, const hmi_dirac_balance *balance)
{
    static hmi_dynamics *d;
    hmi_dynamics_destroy(d);
    d = NULL;
    if (n == 0)
        return HM_OK;
    d = make_workspace(n, m, 0, 0);
    return hmi_dirac_solve(d, balance, qdot, &v);
}

static int forget(void **state)
{
    (void)state;
    return solve(0, 0, NULL);
}

/* Point vortices: L = Sum G_i x_i y_i' - H, H = -1/(4 pi) Sum G_i G_j log r_ij^2. The balance along
 * x_i is G_i y_i' - dH/dx_i, along y_i it is -G_i x_i' - dH/dy_i. */
static void point_vortices(void **state)
{
    (void)state;
    double G[2] = {2, 1e-3}, x[2] = {0, 1}, y[2] = {0, 0.5};
    double dx = x[1] - x[0], dy = y[1] - y[0], r2 = dx * dx + dy * dy, pi = acos(-1);
    double force = G[0] * G[1] / (2 * pi * r2); /* -dH/dx_1 = force dx */
    double M[16] = {0}, J[16] = {0}, rho[4], start[4] = {9, -9, 3, 1};
    double H_x[2] = {force * dx, -force * dx}, H_y[2] = {force * dy, -force * dy};
    for (int i = 0; i < 2; i++) { /* coordinates x1 y1 x2 y2 */
        J[4 * (2 * i) + 2 * i + 1] = G[i];
        J[4 * (2 * i + 1) + 2 * i] = -G[i];
        rho[2 * i] = G[i] * start[2 * i + 1] - H_x[i];
        rho[2 * i + 1] = -G[i] * start[2 * i] - H_y[i];
    }
    hmi_dirac_balance balance = {.M = M, .rho = rho, .J = J, .v = start};
    assert_int_equal(solve(4, 0, &balance), HM_OK);
    double expected[4] = {-H_y[0] / G[0], H_x[0] / G[0], -H_y[1] / G[1], H_x[1] / G[1]};
    assert_close(4, qdot, expected, 1e-13);
    assert_int_equal(v.fast, 4);
    assert_true(v.determined && v.change > 0.1);
}

/* Lotka-Volterra in logarithms u, w of the populations: L = (u w' - w u')/2 - H,
 * H = e^u - a u + e^w - c w, so that w' = dH/du, u' = -dH/dw. */
static void lotka_volterra(void **state)
{
    (void)state;
    double u = 0.3, w = -0.2, a = 1.5, c = 0.7, H_u = exp(u) - a, H_w = exp(w) - c;
    double M[4] = {0}, J[4] = {0, 1, -1, 0}, start[2] = {0, 0}, rho[2] = {-H_u, -H_w};
    hmi_dirac_balance balance = {.M = M, .rho = rho, .J = J, .v = start};
    assert_int_equal(solve(2, 0, &balance), HM_OK);
    double expected[2] = {-H_w, H_u};
    assert_close(2, qdot, expected, 1e-14);
}

/* L = m x'^2/2 + k y z' - V: x'' is determined as usual, y' and z' by the two-form. x' is kept. */
static void mixed(void **state)
{
    (void)state;
    double M[9] = {2, 0, 0, 0, 0, 0, 0, 0, 0}, k = 3, V_y = 0.4, V_z = -0.9, start[3] = {7, 0, 0};
    double J[9] = {0, 0, 0, 0, 0, k, 0, -k, 0}, rho[3] = {1, -V_y, -V_z};
    hmi_dirac_balance balance = {.M = M, .rho = rho, .J = J, .v = start};
    assert_int_equal(solve(3, 0, &balance), HM_OK);
    double expected[3] = {7, -V_z / k, V_y / k};
    assert_close(3, qdot, expected, 1e-14);
    assert_int_equal(v.fast, 2);

    /* at these velocities the balance can be met, and gives x'' */
    double at[3] = {1, k * expected[2] - V_y, -k * expected[1] - V_z};
    hmi_dynamics *d = make_workspace(3, 0, 0, 0);
    hmi_equations equations = {.M = M, .Q = at};
    hmi_options options = full_effort();
    hmi_solution s;
    assert_int_equal(hmi_dynamics_solve(d, &equations, &options, &s), HM_ERR_UNDETERMINED);
    assert_true(s.verdict.solvable);
    double half = 0.5;
    assert_close(1, s.qdd, &half, 1e-14);
    hmi_dynamics_destroy(d);
}

/* Three coordinates cannot carry a nondegenerate two-form: one direction is free, and named. */
static void odd_number(void **state)
{
    (void)state;
    double M[9] = {0}, J[9] = {0, 1, 0, -1, 0, 0, 0, 0, 0}, rho[3] = {1, 2, 0},
           start[3] = {0, 0, 5};
    hmi_dirac_balance balance = {.M = M, .rho = rho, .J = J, .v = start};
    assert_int_equal(solve(3, 0, &balance), HM_ERR_UNDETERMINED);
    assert_false(v.determined);
    assert_int_equal(v.undetermined, 1);
    double direction[3] = {0, 0, 1}, expected[3] = {2, -1, 5};
    assert_close(3, v.directions, direction, 1e-14);
    assert_close(3, qdot, expected, 1e-14);
}

/* A velocity constraint takes one direction out: z' = x' + 1 makes the odd system determined. */
static void with_constraint(void **state)
{
    (void)state;
    double M[9] = {0}, J[9] = {0, 1, 0, -1, 0, 0, 0, 0, 0}, rho[3] = {1, 2, 0},
           start[3] = {0, 0, 5};
    double A[3] = {-1, 0, 1}, c[1] = {1};
    hmi_dirac_balance balance = {.M = M, .rho = rho, .J = J, .A = A, .c = c, .v = start};
    assert_int_equal(solve(3, 1, &balance), HM_OK);
    double expected[3] = {2, -1, 3};
    assert_close(3, qdot, expected, 1e-13);
    assert_int_equal(v.fast, 2);
    assert_true(v.discrepancy < 1e-14);
}

/* M > 0: nothing to determine, the velocities stay. */
static void regular(void **state)
{
    (void)state;
    double M[4] = {1, 0, 0, 1}, J[4] = {0}, rho[2] = {1, 2}, start[2] = {3, 4};
    hmi_dirac_balance balance = {.M = M, .rho = rho, .J = J, .v = start};
    assert_int_equal(solve(2, 0, &balance), HM_OK);
    assert_int_equal(v.fast, 0);
    assert_close(2, qdot, start, 0);
    assert_true(v.change == 0);
    rho[0] = NAN;
    assert_int_equal(solve(2, 0, &balance), HM_ERR_NUMERIC);
    assert_close(2, qdot, start, 0);
}

/* Redundant rows and an affine constraint: multipliers of minimum norm, nothing outside. */
static void inclusion_with_redundant_rows(void **state)
{
    (void)state;
    double A[6] = {1, 1, 0, 2, 2, 0}, c[2] = {3, 6}, vel[3] = {1, 2, 5}, p[3] = {1, 4, 5};
    double L_v[3] = {1, 4, 4}, L_q[3] = {0.5, 0, 0}, pdot[3] = {1.5, 1, 2};
    double kin[3], mom[3], con[2], cov[3], out[3], lambda[2];
    hmi_dirac_state state_ = {vel, p, vel, pdot, L_q, L_v, NULL, A, c};
    hmi_dirac_residual residual = {kin, mom, con, cov, out, lambda};
    hmi_dynamics *d = make_workspace(3, 2, 0, 0);
    assert_int_equal(hmi_dirac_inclusion(d, &state_, &residual), HM_OK);
    double zero[3] = {0}, expected_mom[3] = {0, 0, 1}, expected_cov[3] = {1, 1, 2};
    double expected_out[3] = {0, 0, 2}, expected_lambda[2] = {0.2, 0.4};
    assert_close(3, kin, zero, 0);
    assert_close(3, mom, expected_mom, 0);
    assert_close(2, con, zero, 0);
    assert_close(3, cov, expected_cov, 0);
    assert_close(3, out, expected_out, 1e-15);
    assert_close(2, lambda, expected_lambda, 1e-15);
    pdot[0] = INFINITY;
    assert_int_equal(hmi_dirac_inclusion(d, &state_, &residual), HM_ERR_NUMERIC);
    hmi_dynamics_destroy(d);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(point_vortices),
        cmocka_unit_test(lotka_volterra),
        cmocka_unit_test(mixed),
        cmocka_unit_test(odd_number),
        cmocka_unit_test(with_constraint),
        cmocka_unit_test(regular),
        cmocka_unit_test(inclusion_with_redundant_rows),
    };
    return cmocka_run_group_tests(tests, NULL, forget);
}
