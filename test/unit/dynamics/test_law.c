/* Non-ideal constraints: laws in the reaction, explicit and implicit, and Painleve's verdicts. */
#include "unit/dynamics/helpers.h"

static hmi_solution s;

static hm_status solve(int n, int m, const hmi_equations *equations, hmi_effort effort)
{
    static hmi_dynamics *d;
    hmi_dynamics_destroy(d);
    d = NULL;
    if (n == 0)
        return HM_OK;
    d = make_workspace(n, m, equations->servo_count, equations->servo_count ? 4 : 0);
    hmi_options options = hmi_options_default();
    options.effort = effort;
    return hmi_dynamics_solve(d, equations, &options, &s);
}

static int forget(void **state)
{
    (void)state;
    return solve(0, 0, NULL, HMI_ANSWER);
}

/* ---- Coulomb friction under the ideal reaction ----------------------------------------------- */

/* user: mu times the direction of sliding; coordinate 1 is normal to the plane */
static int coulomb(void *user, const hmi_reactions *r, double *Q, double *C)
{
    (void)Q;
    C[0] = -*(double *)user * fabs(r->reaction[1]);
    return 0;
}

static void block_on_incline(void **state)
{
    (void)state;
    double m = 2, g = 9.81, angle = 0.6, mu = 0.3, M[4] = {m, 0, 0, m}, A[2] = {0, 1}, b[1] = {0};
    double Q[2] = {m * g * sin(angle), -m * g * cos(angle)};
    hmi_reaction_law law = {coulomb, &mu, true, false};
    hmi_equations equations = {.M = M, .Q = Q, .A = A, .b = b, .law = &law};
    assert_int_equal(solve(2, 1, &equations, HMI_COMPARE), HM_OK);
    double down[2] = {g * (sin(angle) - mu * cos(angle)), 0};
    assert_close(2, s.qdd, down, 1e-14);
    double friction[2] = {-mu * m * g * cos(angle), 0};
    assert_close(2, s.C, friction, 1e-14);
    assert_close(2, s.Qni, friction, 1e-14);
    mu = -mu; /* sliding up */
    assert_int_equal(solve(2, 1, &equations, HMI_COMPARE), HM_OK);
    double up[2] = {g * (sin(angle) - mu * cos(angle)), 0};
    assert_close(2, s.qdd, up, 1e-14);
}

/* ---- friction under the total reaction: lambda + k |lambda| = e ------------------------------ */

/* user: (k, c): C = |lambda| (-c, k), which presses on the constraint y'' = b */
static int pressing(void *user, const hmi_reactions *r, double *Q, double *C)
{
    const double *p = user;
    (void)Q;
    C[0] = -p[1] * fabs(r->total_multiplier[0]);
    C[1] = p[0] * fabs(r->total_reaction[1]);
    return 0;
}

static hm_status press(double k, double e, hmi_effort effort)
{
    static double M[4] = {1, 0, 0, 1}, A[2] = {0, 1}, b[1], Q[2] = {1, 0}, user[2];
    static hmi_reaction_law law = {pressing, user, false, true};
    static hmi_equations equations = {.M = M, .Q = Q, .A = A, .b = b, .law = &law};
    b[0] = e;
    user[0] = k;
    user[1] = 0.25;
    return solve(2, 1, &equations, effort);
}

static void total_reaction_is_implicit(void **state)
{
    (void)state;
    static const double cases[][2] = {{0.5, 3},   {0.5, -3}, {-0.5, 3},
                                      {-0.9, -1}, {0, 2},    {0.99, 1}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        double k = cases[i][0], e = cases[i][1], lambda = e / (1 + (e > 0 ? k : -k));
        for (int effort = HMI_ANSWER; effort <= HMI_COMPARE; effort++) {
            assert_int_equal(press(k, e, (hmi_effort)effort), HM_OK);
            assert_close(1, s.total_lambda, &lambda, 1e-13);
            assert_close(1, s.lambda, &e, 1e-13); /* Qi does not depend on C */
            double qdd[2] = {1 - 0.25 * fabs(lambda), e};
            assert_close(2, s.qdd, qdd, 1e-13);
            assert_int_equal(s.verdict.law_solutions, 1);
        }
    }
}

static void painleve(void **state)
{
    (void)state;
    assert_int_equal(press(2, 1, HMI_VERDICT), HM_ERR_UNDETERMINED); /* 1/3 and -1 */
    assert_int_equal(s.verdict.law_solutions, 2);
    double lambda = s.total_lambda[0];
    assert_true(fabs(lambda - 1.0 / 3) < 1e-13 || fabs(lambda + 1) < 1e-13);
    assert_int_equal(press(2, -1, HMI_VERDICT), HM_ERR_UNDETERMINED); /* none */
    assert_int_equal(s.verdict.law_solutions, 0);
    assert_int_equal(press(2, -1, HMI_ANSWER), HM_ERR_UNDETERMINED);
    assert_int_equal(press(-2, 1, HMI_VERDICT), HM_ERR_UNDETERMINED); /* none */
    assert_int_equal(s.verdict.law_solutions, 0);
    assert_int_equal(press(-2, -1, HMI_VERDICT), HM_ERR_UNDETERMINED);
    assert_int_equal(s.verdict.law_solutions, 2);
    assert_true(s.verdict.law_starts > 1);
}

/* The rod of Painleve: length 2, slides at angle th with friction mu on the ground.
 *     normal: (1/m + cos th (cos th - mu sin th)/I) lambda = ...; it may have no solution. */
static double rod[3];

static int rod_friction(void *user, const hmi_reactions *r, double *Q, double *C)
{
    double mu = rod[0], th = rod[1], N = fabs(r->total_multiplier[0]);
    (void)user;
    (void)Q;
    C[0] = -mu * N;
    C[1] = 0;
    C[2] = -mu * N * sin(th); /* moment of the friction at the tip about the centre */
    return 0;
}

static hm_status slide(double mu, double th, double omega)
{
    static double M[9] = {1, 0, 0, 0, 1, 0, 0, 0, 1.0 / 3}, Q[3] = {0, -9.81, 0}, A[3], b[1];
    static hmi_reaction_law law = {rod_friction, NULL, false, true};
    static hmi_equations equations = {.M = M, .Q = Q, .A = A, .b = b, .law = &law};
    rod[0] = mu;
    rod[1] = th;
    /* tip height y - sin th = 0 */
    A[0] = 0;
    A[1] = 1;
    A[2] = -cos(th);
    b[0] = -omega * omega * sin(th);
    return solve(3, 1, &equations, HMI_VERDICT);
}

static void painleve_rod(void **state)
{
    (void)state;
    assert_int_equal(slide(0.1, 0.8, 0), HM_OK);
    double th = 0.8, mu = 0.1;
    double p = 1 + 3 * cos(th) * (cos(th) + mu * sin(th)), lambda = 9.81 / p;
    assert_close(1, s.total_lambda, &lambda, 1e-13);
    /* with mu large enough the coefficient turns negative: both branches for one sign of the right
     * side, none for the other */
    assert_int_equal(slide(-3, 1.2, 0), HM_ERR_UNDETERMINED);
    int at_rest = s.verdict.law_solutions;
    assert_int_equal(slide(-3, 1.2, 10), HM_ERR_UNDETERMINED);
    int turning = s.verdict.law_solutions;
    assert_true((at_rest == 0 && turning == 2) || (at_rest == 2 && turning == 0));
}

/* ---- several constraints, smooth laws, forces ------------------------------------------------ */

static int creep(void *user, const hmi_reactions *r, double *Q, double *C)
{
    (void)user;
    Q[0] += 0.3 * tanh(r->total_multiplier[1]);
    for (int i = 0; i < 4; i++)
        C[i] = -0.2 * tanh(r->total_reaction[i]) + 0.05 * r->reaction[(i + 1) % 4];
    return 0;
}

static double M4[16] = {4, 1, 0, 0, 1, 3, 0.5, 0, 0, 0.5, 5, 1, 0, 0, 1, 2};
static double A4[8] = {1, 2, 0, -1, 0, 1, 1, 3};

static void smooth_law_of_both(void **state)
{
    (void)state;
    double Q[4] = {1, -2, 3, 0.5}, b[2] = {0.3, -1}, check[4], total[4], Q2[4], C2[4] = {0};
    hmi_reaction_law law = {creep, NULL, true, true};
    hmi_equations equations = {.M = M4, .Q = Q, .A = A4, .b = b, .law = &law};
    assert_int_equal(solve(4, 2, &equations, HMI_COMPARE), HM_OK);
    assert_int_equal(s.verdict.law_solutions, 1);
    for (int i = 0; i < 4; i++) {
        total[i] = A4[i] * s.total_lambda[0] + A4[4 + i] * s.total_lambda[1];
        check[i] = -s.Q[i] - s.C[i] - total[i];
        for (int j = 0; j < 4; j++)
            check[i] += M4[4 * i + j] * s.qdd[j];
    }
    double zero[4] = {0};
    assert_close(4, check, zero, 1e-13);
    memcpy(Q2, Q, sizeof Q);
    hmi_reactions r = {s.Qi, s.lambda, total, s.total_lambda};
    assert_int_equal(creep(NULL, &r, Q2, C2), 0);
    assert_close(4, Q2, s.Q, 1e-13);
    assert_close(4, C2, s.C, 1e-13);
    assert_true(s.disagreement <= 1e-13);
}

/* Redundant rows: the law sees the same reaction. */
static void redundant_rows(void **state)
{
    (void)state;
    double Q[4] = {1, -2, 3, 0.5}, b[3] = {0.3, -1, 0.6}, qdd[4], A[12];
    hmi_reaction_law law = {creep, NULL, true, true};
    hmi_equations equations = {.M = M4, .Q = Q, .A = A4, .b = b, .law = &law};
    memcpy(A, A4, sizeof A4);
    for (int i = 0; i < 4; i++)
        A[8 + i] = 2 * A4[i];
    assert_int_equal(solve(4, 2, &equations, HMI_ANSWER), HM_OK);
    memcpy(qdd, s.qdd, sizeof qdd);
    equations.A = A;
    assert_int_equal(solve(4, 3, &equations, HMI_COMPARE), HM_OK);
    assert_close(4, s.qdd, qdd, 1e-13);
}

/* A servo reacts to friction that reacts to the servo. */
static void servo_and_friction(void **state)
{
    (void)state;
    double mu = 0.4, M[4] = {1, 0.3, 0.3, 2}, Q[2] = {1, -9.81}, A[2] = {0, 1}, b[1] = {0};
    double As[2] = {1, 0}, bs[1] = {2};
    hmi_reaction_law law = {coulomb, &mu, true, false};
    hmi_servo servo = {1, As, bs, NULL, NULL, NULL};
    hmi_equations equations = {
        .M = M, .Q = Q, .A = A, .b = b, .law = &law, .servos = &servo, .servo_count = 1};
    assert_int_equal(solve(2, 1, &equations, HMI_COMPARE), HM_OK);
    double qdd[2] = {2, 0}, friction = -mu * fabs(s.Qi[1]);
    assert_close(2, s.qdd, qdd, 1e-13);
    assert_close(1, s.C, &friction, 1e-13);
    for (int i = 0; i < 2; i++) {
        double left = M[2 * i] * s.qdd[0] + M[2 * i + 1] * s.qdd[1] - s.Q[i] - s.u[i] - s.Qc[i];
        assert_true(fabs(left) < 1e-13);
    }
}

static int refuses(void *user, const hmi_reactions *r, double *Q, double *C)
{
    (void)user;
    (void)Q;
    C[0] = sqrt(-1 - r->reaction[0] * r->reaction[0]);
    return *(int *)user;
}

static void law_that_fails(void **state)
{
    (void)state;
    double M[1] = {1}, Q[1] = {1}, A[1] = {1}, b[1] = {0}, zero[1] = {0};
    for (int fails = 0; fails < 2; fails++)
        for (int total = 0; total < 2; total++) {
            hmi_reaction_law law = {refuses, &fails, !total, total};
            hmi_equations equations = {.M = M, .Q = Q, .A = A, .b = b, .law = &law};
            assert_int_equal(solve(1, 1, &equations, HMI_VERDICT), HM_ERR_NUMERIC);
            assert_close(1, s.qdd, zero, 0);
        }
}

/* ---- laws without a value at some reactions --------------------------------------------------- */

/* On a floor y = 0 under the load W a creep law pulls down: N = W + p(N). */
typedef enum creep_kind {
    CUBE_ROOT,
    QUOTIENT,
    LOGARITHM,
    ROOT_OF_REST,
    STEEP,
    CREEP_KINDS
} creep_kind;

static double creep_pull(creep_kind kind, double N)
{
    switch (kind) {
    case CUBE_ROOT:
        return 2 * pow(N, 1.0 / 3); /* none for N < 0 */
    case QUOTIENT:
        return 3 * fabs(N) / N + 5 / N; /* none for N = 0 */
    case LOGARITHM:
        return 4 * log(N);
    case ROOT_OF_REST:
        return -sqrt(N - 2) - 1; /* none for N < 2 */
    default:
        return 40 / (N * N * N);
    }
}

static int creep_law(void *user, const hmi_reactions *r, double *Q, double *C)
{
    double pull = -creep_pull(*(creep_kind *)user, r->total_multiplier[0]);
    (void)C;
    Q[1] += pull;
    return isfinite(pull) ? 0 : 1;
}

static void laws_without_value(void **state)
{
    (void)state;
    double M[4] = {2, 0, 0, 2}, Q[2] = {0, -10}, A[2] = {0, 1}, b[1] = {0};
    for (creep_kind kind = CUBE_ROOT; kind < CREEP_KINDS; kind++) {
        hmi_reaction_law law = {creep_law, &kind, false, true};
        hmi_equations equations = {.M = M, .Q = Q, .A = A, .b = b, .law = &law};
        assert_int_equal(solve(2, 1, &equations, HMI_ANSWER), HM_OK);
        double N = s.total_lambda[0], needed = 10 + creep_pull(kind, N);
        assert_close(1, &N, &needed, 1e-13);
        assert_true(N > 0);
    }
}

/* Where the ideal problem has no reaction at all, the reaction of the last state shows the way. */
static void law_from_last_state(void **state)
{
    (void)state;
    creep_kind kind = CUBE_ROOT;
    double M[4] = {2, 0, 0, 2}, Q[2] = {0, 1e-3}, A[2] = {0, 1}, b[1] = {0}, last[2] = {0, 2.5};
    hmi_reaction_law law = {creep_law, &kind, false, true};
    hmi_equations equations = {
        .M = M, .Q = Q, .A = A, .b = b, .law = &law, .last_total_reaction = last};
    assert_int_equal(solve(2, 1, &equations, HMI_ANSWER), HM_OK);
    double N = s.total_lambda[0], needed = 2 * pow(N, 1.0 / 3) - 1e-3;
    assert_true(N > 1);
    assert_close(1, &N, &needed, 1e-13);
}

/* A law that uses no reaction is just a law. */
static int drag(void *user, const hmi_reactions *r, double *Q, double *C)
{
    (void)user;
    (void)r;
    Q[0] -= 1;
    C[0] = -2;
    return 0;
}

static void law_without_reactions(void **state)
{
    (void)state;
    double M[4] = {1, 0, 0, 1}, Q[2] = {5, 2}, A[2] = {0, 1}, b[1] = {0}, qdd[2] = {2, 0};
    hmi_reaction_law law = {drag, NULL, false, false};
    hmi_equations equations = {.M = M, .Q = Q, .A = A, .b = b, .law = &law};
    assert_int_equal(solve(2, 1, &equations, HMI_COMPARE), HM_OK);
    assert_close(2, s.qdd, qdd, 0);
}

/* Without constraints there is no reaction to depend on. */
static void law_without_constraints(void **state)
{
    (void)state;
    double mu = 0.5, M[4] = {1, 0, 0, 1}, Q[2] = {1, 2};
    hmi_reaction_law law = {coulomb, &mu, true, true};
    hmi_equations equations = {.M = M, .Q = Q, .law = &law};
    assert_int_equal(solve(2, 0, &equations, HMI_COMPARE), HM_OK);
    assert_close(2, s.qdd, Q, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(block_on_incline),
        cmocka_unit_test(total_reaction_is_implicit),
        cmocka_unit_test(painleve),
        cmocka_unit_test(painleve_rod),
        cmocka_unit_test(smooth_law_of_both),
        cmocka_unit_test(redundant_rows),
        cmocka_unit_test(servo_and_friction),
        cmocka_unit_test(law_that_fails),
        cmocka_unit_test(laws_without_value),
        cmocka_unit_test(law_from_last_state),
        cmocka_unit_test(law_without_reactions),
        cmocka_unit_test(law_without_constraints),
    };
    return cmocka_run_group_tests(tests, NULL, forget);
}
