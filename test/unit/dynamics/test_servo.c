/* Servo constraints: full and partial actuation, beside passive constraints, and out of reach. */
#include "unit/dynamics/helpers.h"

#include "linalg/linalg.h"

static hmi_solution s;

static hm_status solve(int n, int m, const hmi_equations *equations)
{
    static hmi_dynamics *d;
    hmi_dynamics_destroy(d);
    d = NULL;
    if (n == 0)
        return HM_OK;
    int rows = 0;
    for (int i = 0; i < equations->servo_count; i++)
        rows += equations->servos[i].rows;
    d = make_workspace(n, m, equations->servo_count, rows);
    hmi_options options = full_effort();
    return hmi_dynamics_solve(d, equations, &options, &s);
}

static int forget(void **state)
{
    (void)state;
    return solve(0, 0, NULL);
}

static double M4[16] = {4, 1, 0, 0, 1, 3, 0.5, 0, 0, 0.5, 5, 1, 0, 0, 1, 2};
static double Q4[4] = {1, -2, 3, 0.5};
static double rows[8] = {1, 2, 0, -1, 0, 1, 1, 3};
static double right[2] = {0.3, -1};

/* M q'' = Q + Sum u + Qc */
static void check_balance(int n, int servos, const double *M)
{
    for (int i = 0; i < n; i++) {
        double left = -s.Q[i] - s.Qc[i], size = 1;
        for (int k = 0; k < servos; k++)
            left -= s.u[k * n + i];
        for (int j = 0; j < n; j++) {
            left += M[n * i + j] * s.qdd[j];
            size += fabs(M[n * i + j] * s.qdd[j]);
        }
        assert_true(fabs(left) <= 1e-13 * size);
    }
}

/* All coordinates actuated, nothing passive: the ideal constraint force itself. */
static void full_actuation(void **state)
{
    (void)state;
    double qdd[4], force[4];
    hmi_equations passive = {.M = M4, .Q = Q4, .A = rows, .b = right};
    assert_int_equal(solve(4, 2, &passive), HM_OK);
    memcpy(qdd, s.qdd, sizeof qdd);
    memcpy(force, s.Qi, sizeof force);
    hmi_servo servo = {2, rows, right, NULL, NULL, NULL};
    hmi_equations equations = {.M = M4, .Q = Q4, .servos = &servo, .servo_count = 1};
    assert_int_equal(solve(4, 0, &equations), HM_OK);
    assert_close(4, s.qdd, qdd, 1e-13);
    assert_close(4, s.u, force, 1e-13);
    assert_true(s.disagreement <= 1e-13);
}

/* Two servos with the same actuators: the same motion, each credited with its own rows. */
static void two_servos(void **state)
{
    (void)state;
    double qdd[4], lambda[2], force[4];
    hmi_equations passive = {.M = M4, .Q = Q4, .A = rows, .b = right};
    assert_int_equal(solve(4, 2, &passive), HM_OK);
    memcpy(qdd, s.qdd, sizeof qdd);
    memcpy(lambda, s.lambda, sizeof lambda);
    hmi_servo servos[2] = {{1, rows, right, NULL, NULL, NULL},
                           {1, rows + 4, right + 1, NULL, NULL, NULL}};
    hmi_equations equations = {.M = M4, .Q = Q4, .servos = servos, .servo_count = 2};
    assert_int_equal(solve(4, 0, &equations), HM_OK);
    assert_close(4, s.qdd, qdd, 1e-13);
    for (int i = 0; i < 4; i++)
        force[i] = rows[i] * lambda[0];
    assert_close(4, s.u, force, 1e-13);
    for (int i = 0; i < 4; i++)
        force[i] = rows[4 + i] * lambda[1];
    assert_close(4, s.u + 4, force, 1e-13);
    check_balance(4, 2, M4);
}

/* u^T M^-1 u of forces on the actuated coordinates */
static double cost(const double *u)
{
    double L[16], y[4];
    memcpy(L, M4, sizeof L);
    assert_true(hmi_cholesky(4, L, 0));
    memcpy(y, u, sizeof y);
    hmi_lower_solve(4, L, y);
    return hmi_dot(4, y, y);
}

/* Actuators 1, 2, 4 (more than rows) beside a passive constraint: right, supported, cheapest. */
static void partial_actuation(void **state)
{
    (void)state;
    bool actuated[4] = {true, true, false, true};
    double A[4] = {1, 1, 1, 0}, b[1] = {0.5}, want[1] = {2};
    hmi_servo servo = {1, rows, want, NULL, actuated, NULL};
    hmi_equations equations = {
        .M = M4, .Q = Q4, .A = A, .b = b, .servos = &servo, .servo_count = 1};
    assert_int_equal(solve(4, 1, &equations), HM_OK);
    double reached = hmi_dot(4, rows, s.qdd), held = hmi_dot(4, A, s.qdd), u[4], least;
    assert_close(1, &reached, want, 1e-13);
    assert_close(1, &held, b, 1e-13);
    assert_true(s.u[2] == 0);
    check_balance(4, 1, M4);
    memcpy(u, s.u, sizeof u);
    least = cost(u);

    /* other forces on the same actuators that reach the row too: bend u, solve for the rest */
    for (int k = 0; k < 20; k++) {
        double bent[4], Q[4], other[4];
        for (int i = 0; i < 4; i++) {
            bent[i] = actuated[i] ? 0.1 * sin(7 * k + i) : 0;
            Q[i] = Q4[i] + bent[i];
        }
        equations.Q = Q;
        assert_int_equal(solve(4, 1, &equations), HM_OK);
        for (int i = 0; i < 4; i++)
            other[i] = s.u[i] + bent[i];
        assert_true(cost(other) >= least - 1e-13);
    }
}

/* A motor behind a spring: its torque has no part in the acceleration of the link. */
static void out_of_reach(void **state)
{
    (void)state;
    bool motor[2] = {false, true};
    double M[4] = {1, 0, 0, 1}, Q[2] = {3, -3}, As[2] = {1, 0}, bs[1] = {1}, missing = -2;
    hmi_servo servo = {1, As, bs, NULL, motor, NULL};
    hmi_equations equations = {.M = M, .Q = Q, .servos = &servo, .servo_count = 1};
    assert_int_equal(solve(2, 0, &equations), HM_ERR_INCONSISTENT);
    assert_false(s.verdict.servo_reached);
    assert_close(1, s.verdict.servo_residual, &missing, 1e-15);
    double none[2] = {0, 0};
    assert_close(2, s.u, none, 0);
    bs[0] = 3; /* holds by itself */
    assert_int_equal(solve(2, 0, &equations), HM_OK);
    assert_true(s.verdict.servo_reached);
}

/* A servo row that passive constraints decide already. */
static void against_passive(void **state)
{
    (void)state;
    double M[4] = {1, 0, 0, 1}, Q[2] = {3, -3}, A[2] = {1, 1}, b[1] = {0};
    double As[2] = {2, 2}, bs[1] = {0};
    hmi_servo servo = {1, As, bs, NULL, NULL, NULL};
    hmi_equations equations = {.M = M, .Q = Q, .A = A, .b = b, .servos = &servo, .servo_count = 1};
    assert_int_equal(solve(2, 1, &equations), HM_OK);
    bs[0] = 1;
    assert_int_equal(solve(2, 1, &equations), HM_ERR_INCONSISTENT);
    double missing = 1;
    assert_close(1, s.verdict.servo_residual, &missing, 1e-14);
}

/* Each servo has its own actuator: both reach, each on its own. */
static void different_actuators(void **state)
{
    (void)state;
    bool first[4] = {true, false, false, false}, last[4] = {false, false, true, true};
    hmi_servo servos[2] = {{1, rows, right, NULL, first, NULL},
                           {1, rows + 4, right + 1, NULL, last, NULL}};
    hmi_equations equations = {.M = M4, .Q = Q4, .servos = servos, .servo_count = 2};
    assert_int_equal(solve(4, 0, &equations), HM_OK);
    for (int k = 0; k < 2; k++) {
        double reached = hmi_dot(4, rows + 4 * k, s.qdd);
        assert_close(1, &reached, right + k, 1e-13);
    }
    assert_true(s.u[1] == 0 && s.u[2] == 0 && s.u[3] == 0);
    assert_true(s.u[4] == 0 && s.u[5] == 0);
    check_balance(4, 2, M4);
}

/* Redundant and badly scaled servo rows change nothing. */
static void redundant_servo_rows(void **state)
{
    (void)state;
    double A[12], b[3], u[4];
    hmi_servo servo = {2, rows, right, NULL, NULL, NULL};
    hmi_equations equations = {.M = M4, .Q = Q4, .servos = &servo, .servo_count = 1};
    assert_int_equal(solve(4, 0, &equations), HM_OK);
    memcpy(u, s.u, sizeof u);
    for (int i = 0; i < 4; i++) {
        A[i] = 1e6 * rows[i];
        A[4 + i] = rows[4 + i];
        A[8 + i] = 1e-6 * (rows[i] - rows[4 + i]);
    }
    b[0] = 1e6 * right[0];
    b[1] = right[1];
    b[2] = 1e-6 * (right[0] - right[1]);
    servo = (hmi_servo){3, A, b, NULL, NULL, NULL};
    assert_int_equal(solve(4, 0, &equations), HM_OK);
    assert_close(4, s.u, u, 1e-13);
}

/* Singular M (a massless coordinate tied to another): the servo works through the tie. */
static void singular_mass(void **state)
{
    (void)state;
    double M[4] = {2, 0, 0, 0}, Q[2] = {1, 0}, A[2] = {1, -1}, b[1] = {0}, As[2] = {0, 1},
           bs[1] = {5};
    hmi_servo servo = {1, As, bs, NULL, NULL, NULL};
    hmi_equations equations = {.M = M, .Q = Q, .A = A, .b = b, .servos = &servo, .servo_count = 1};
    assert_int_equal(solve(2, 1, &equations), HM_OK);
    double qdd[2] = {5, 5}, total = 9;
    assert_close(2, s.qdd, qdd, 1e-13);
    double sum = s.u[0] + s.u[1];
    assert_close(1, &sum, &total, 1e-13);
    check_balance(2, 1, M);
}

/* Gain terms by `law lyapunov`: the rows are reached, and fully actuated u = ideal + M As^+ D. */
static void lyapunov(void **state)
{
    (void)state;
    double with_gain[2] = {right[0] - 0.7, right[1] + 0.4}, ideal[4], plus[8], work[200], delta[4];
    double want[2] = {-0.7, 0.4};
    int ints[32];
    hmi_servo servo = {2, rows, right, NULL, NULL, NULL};
    hmi_equations equations = {.M = M4, .Q = Q4, .servos = &servo, .servo_count = 1};
    assert_int_equal(solve(4, 0, &equations), HM_OK);
    memcpy(ideal, s.u, sizeof ideal);
    assert_int_equal(hmi_pseudo_inverse(2, 4, rows, -1, plus, work, ints), 2);
    hmi_matvec(4, 2, plus, want, delta);
    for (int i = 0; i < 4; i++)
        ideal[i] += hmi_dot(4, M4 + 4 * i, delta);
    servo.b = with_gain;
    servo.b_free = right;
    assert_int_equal(solve(4, 0, &equations), HM_OK);
    assert_close(4, s.u, ideal, 1e-13);
    check_balance(4, 1, M4);
}

/* The same beside a passive constraint and with few actuators: reached, held, supported. */
static void lyapunov_partial(void **state)
{
    (void)state;
    bool actuated[4] = {true, true, false, false};
    double A[4] = {0, 0, 1, 1}, b[1] = {0.5}, free_right[1] = {0}, want[1] = {2};
    hmi_servo servo = {1, rows, want, free_right, actuated, NULL};
    hmi_equations equations = {
        .M = M4, .Q = Q4, .A = A, .b = b, .servos = &servo, .servo_count = 1};
    assert_int_equal(solve(4, 1, &equations), HM_OK);
    double reached = hmi_dot(4, rows, s.qdd), held = hmi_dot(4, A, s.qdd);
    assert_close(1, &reached, want, 1e-13);
    assert_close(1, &held, b, 1e-13);
    assert_true(s.u[2] == 0 && s.u[3] == 0);
    check_balance(4, 1, M4);
}

static void too_many_servos(void **state)
{
    (void)state;
    hmi_servo servo = {2, rows, right, NULL, NULL, NULL};
    hmi_equations equations = {.M = M4, .Q = Q4, .servos = &servo, .servo_count = 1};
    hmi_dynamics *d = make_workspace(4, 0, 1, 1);
    hmi_options options = full_effort();
    assert_int_equal(hmi_dynamics_solve(d, &equations, &options, &s), HM_ERR_USAGE);
    servo.rows = 1;
    double bad[1] = {NAN};
    servo.b = bad;
    assert_int_equal(hmi_dynamics_solve(d, &equations, &options, &s), HM_ERR_NUMERIC);
    hmi_dynamics_destroy(d);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(full_actuation),
        cmocka_unit_test(two_servos),
        cmocka_unit_test(partial_actuation),
        cmocka_unit_test(out_of_reach),
        cmocka_unit_test(against_passive),
        cmocka_unit_test(different_actuators),
        cmocka_unit_test(redundant_servo_rows),
        cmocka_unit_test(singular_mass),
        cmocka_unit_test(lyapunov),
        cmocka_unit_test(lyapunov_partial),
        cmocka_unit_test(too_many_servos),
    };
    return cmocka_run_group_tests(tests, NULL, forget);
}
