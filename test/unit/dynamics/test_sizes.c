/* Every function of the workspace over all shapes: memory suffices, results are finite, the
 * identities of the geometry hold. (The workspace asserts its own bounds; sanitizers watch the
 * rest.) */
#include "unit/dynamics/helpers.h"

#include <stdlib.h>

#include "linalg/linalg.h"

enum { N = 10, M_MOST = 16 };

static unsigned long seed = 42;

static double next(void)
{
    seed = seed * 6364136223846793005ul + 1442695040888963407ul;
    return (double)(seed >> 11) * 0x1p-52 - 1;
}

static double M[N * N], Q[N], A[M_MOST * N], b[M_MOST], C[N], As[M_MOST * N], bs[M_MOST],
    rate[M_MOST * N];

/* kind 0: M > 0; 1: M = 0; 2: M indefinite; rows of A repeat when there are many */
static void make_system(int n, int m, int kind)
{
    for (int i = 0; i < n; i++) {
        Q[i] = next();
        C[i] = next();
        for (int j = 0; j <= i; j++)
            M[i * n + j] = M[j * n + i] = kind == 1 ? 0 : (i == j) * (2 + n) + next();
        if (kind == 2 && i % 2)
            M[i * n + i] = -M[i * n + i];
    }
    for (int i = 0; i < m; i++) {
        for (int j = 0; j < n; j++)
            A[i * n + j] = i % 3 == 2 ? 2 * A[(i - 2) * n + j] : next();
        b[i] = i % 3 == 2 ? 2 * b[i - 2] : i < n ? next() : 0;
    }
    for (int i = 0; i < M_MOST; i++)
        bs[i] = next();
    for (int i = 0; i < M_MOST * n; i++)
        As[i] = next();
}

static int law(void *user, const hmi_reactions *r, double *force, double *nonideal)
{
    int n = *(int *)user;
    for (int i = 0; i < n; i++) {
        force[i] += 0.01 * r->total_reaction[i];
        nonideal[i] = 0.01 * tanh(r->reaction[i]);
    }
    return 0;
}

static void assert_finite(const hmi_solution *s, int n, int m, int servos)
{
    const double *vectors[] = {s->qdd, s->Qi, s->Qni, s->Qc, s->Q, s->C};
    for (size_t k = 0; k < sizeof vectors / sizeof *vectors; k++)
        assert_true(hmi_all_finite(n, vectors[k]));
    assert_true(hmi_all_finite(m, s->lambda) && hmi_all_finite(m, s->total_lambda));
    if (servos)
        assert_true(hmi_all_finite(servos * n, s->u));
}

/* (43), (45), (46) and the projectors */
static void check_geometry(hmi_dynamics *d, int n, int m, const hmi_equations *e,
                           const hmi_solution *s)
{
    double T[N * N], P[N * N], v[8][N], B[M_MOST * N], Bp[M_MOST * N], root[N * N], inverse[N * N];
    hmi_geometry g = {.root = root, .inverse_root = inverse, .B = B, .B_plus = Bp, .T = T, .N = P};
    g.a_s = v[0], g.c_s = v[1], g.qdd_s = v[2], g.B_plus_b = v[3], g.B_plus_e = v[4];
    g.T_a_s = v[5], g.N_a_s = v[6], g.N_c_s = v[7];
    assert_int_equal(hmi_dynamics_geometry(d, e, s, &g), HM_OK);
    for (int i = 0; i < n; i++) {
        assert_true(fabs(v[2][i] - (v[6][i] + v[7][i] + v[3][i])) < 1e-10);
        assert_true(fabs(v[2][i] - v[0][i] - (v[4][i] + v[7][i])) < 1e-10);
        assert_true(fabs(v[3][i] - (v[4][i] + v[5][i])) < 1e-10);
        for (int j = 0; j < n; j++) {
            double TN = 0;
            for (int k = 0; k < n; k++)
                TN += T[i * n + k] * P[k * n + j];
            assert_true(fabs(TN) < 1e-10);
        }
    }
    (void)m;
    hmi_geometry none = {0};
    assert_int_equal(hmi_dynamics_geometry(d, e, s, &none), HM_OK);
}

static void check_derivatives(hmi_dynamics *d, int n, int m, const hmi_solution *s)
{
    double w[N], dqdd[2 * N], dlambda[2 * M_MOST];
    hmi_dynamics_preimage(d, s, w);
    for (int i = 0; i < M_MOST * N; i++)
        rate[i] = 0.001 * next();
    for (int k = 0; k < 2; k++) {
        hmi_directions directions = {2, rate, rate, rate, k ? rate : NULL};
        assert_int_equal(hmi_dynamics_derivative(d, &directions, dqdd, dlambda), HM_OK);
        assert_true(hmi_all_finite(2 * n, dqdd) && hmi_all_finite(2 * m, dlambda));
    }
}

static void check_shape(int n, int m, int kind, int servos, bool with_law)
{
    bool actuated[N];
    hmi_servo servo[3];
    hmi_reaction_law friction = {law, &n, true, true};
    hmi_equations e = {.M = M, .Q = Q, .A = A, .b = b, .C = C, .servos = servo};
    hmi_options options = full_effort();
    hmi_solution s;
    hmi_checks checks;
    make_system(n, m, kind);
    e.servo_count = servos;
    e.law = with_law ? &friction : NULL;
    for (int i = 0; i < n; i++)
        actuated[i] = i % 2 == 0;
    for (int i = 0; i < servos; i++)
        servo[i] = (hmi_servo){
            2, As + 2 * i * n, bs + 2 * i, i == 1 ? bs + 8 : NULL, i == 2 ? NULL : actuated, NULL};
    hmi_dynamics *d = make_workspace(n, m, servos, 2 * servos);
    hm_status status = hmi_dynamics_solve(d, &e, &options, &s);
    assert_true(status != HM_ERR_USAGE && status != HM_ERR_NUMERIC);
    assert_finite(&s, n, m, servos);
    hmi_dynamics_check(d, &e, &s, &checks);
    if (s.verdict.unique_acceleration)
        check_derivatives(d, n, m, &s);
    if (kind == 0 && !servos && !with_law && status == HM_OK)
        check_geometry(d, n, m, &e, &s);
    double qdot[N];
    hmi_dirac_velocity velocity;
    hmi_dirac_balance balance = {.M = M, .rho = Q, .J = As, .A = A, .c = m ? b : NULL, .v = C};
    status = hmi_dirac_solve(d, &balance, qdot, &velocity);
    assert_true(status != HM_ERR_NUMERIC && hmi_all_finite(n, qdot));
    hmi_dynamics_destroy(d);
}

static void all_shapes(void **state)
{
    (void)state;
    for (int n = 1; n <= N; n += n < 4 ? 1 : 3)
        for (int m = 0; m <= M_MOST; m += m < 4 ? 1 : 3)
            for (int kind = 0; kind < 3; kind++)
                for (int servos = 0; servos <= 3; servos++)
                    for (int with_law = 0; with_law < 2 && (m < 5 || !with_law); with_law++)
                        check_shape(n, m, kind, servos, with_law);
}

/* Zero, one, something, tiny, huge: in any place. */
static double strange(void)
{
    int kind = (int)(4 * (next() + 1));
    if (kind < 3)
        return 0;
    if (kind < 5)
        return kind == 3 ? 1 : -1;
    return kind < 7 ? next() : next() * pow(10, 30 * next());
}

/* Never a NaN, whatever comes in. */
static void strange_numbers(void **state)
{
    (void)state;
    int count[16] = {0};
    for (int trial = 0; trial < 20000; trial++) {
        int n = 1 + trial % 5, m = trial / 5 % 7;
        hmi_equations e = {.M = M, .Q = Q, .A = A, .b = b, .C = C};
        hmi_options options = full_effort();
        hmi_solution s;
        double qdd[N], lambda[M_MOST];
        for (int i = 0; i < n; i++) {
            Q[i] = strange();
            C[i] = strange();
            for (int j = 0; j <= i; j++)
                M[i * n + j] = M[j * n + i] = strange();
        }
        for (int i = 0; i < m; i++)
            b[i] = strange();
        for (int i = 0; i < m * n; i++)
            A[i] = strange();
        hmi_dynamics *d = make_workspace(n, m, 0, 0);
        hm_status status = hmi_dynamics_solve(d, &e, &options, &s);
        count[status]++;
        assert_finite(&s, n, m, 0);
        assert_true(isfinite(s.disagreement));
        if (status == HM_OK)
            assert_true(s.verdict.unique_acceleration && s.verdict.consistent);
        (void)!hmi_accelerate(d, M, Q, A, b, qdd, lambda);
        assert_true(hmi_all_finite(n, qdd) && hmi_all_finite(m, lambda));
        hmi_dynamics_destroy(d);
    }
    print_message("ok %d, undetermined %d, inconsistent %d, numeric %d\n", count[HM_OK],
                  count[HM_ERR_UNDETERMINED], count[HM_ERR_INCONSISTENT], count[HM_ERR_NUMERIC]);
}

/* A hundred coordinates, more rows than that, half of them redundant. */
static void large(void **state)
{
    (void)state;
    int n = 100, m = 120;
    double *big = calloc((size_t)(n * n + 2 * n + m * n + m), sizeof *big);
    assert_non_null(big);
    double *mass = big, *force = mass + n * n, *rows = force + n, *right = rows + m * n;
    for (int i = 0; i < n; i++) {
        force[i] = next();
        for (int j = 0; j <= i; j++)
            mass[i * n + j] = mass[j * n + i] = (i == j) * n + next();
    }
    for (int i = 0; i < m; i++) {
        for (int j = 0; j < n; j++)
            rows[i * n + j] = i < 60 ? next() : 3 * rows[(i - 60) * n + j];
        right[i] = i < 60 ? next() : 3 * right[i - 60];
    }
    hmi_dynamics *d = make_workspace(n, m, 0, 0);
    hmi_equations e = {.M = mass, .Q = force, .A = rows, .b = right};
    hmi_options options = full_effort();
    hmi_solution s;
    assert_int_equal(hmi_dynamics_solve(d, &e, &options, &s), HM_OK);
    assert_int_equal(s.verdict.rank_A, 60);
    assert_true(s.disagreement < 1e-12);
    for (int i = 0; i < m; i++)
        assert_int_equal(s.verdict.redundant[i], i >= 60);
    hmi_dynamics_destroy(d);
    free(big);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(all_shapes),
                                       cmocka_unit_test(strange_numbers), cmocka_unit_test(large)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
