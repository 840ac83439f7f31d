/* Every state of cases.json, given M, Q, A, b, C: forces, accelerations, multipliers, geometry. */
#include <hamel/linalg.h>
#include "unit/dynamics/helpers.h"

#include "linalg/linalg.h"

static double worst_error, worst_disagreement;
static int states;

static void check(const json_t *expected, const char *key, int n, const double *x, double tolerance,
                  const char *id)
{
    static numbers e;
    if (!read_numbers(expected, key, &e))
        return;
    assert_int_equal(e.count, n);
    double error = error_of(n, x, e.x);
    worst_error = fmax(worst_error, error);
    if (!(error <= tolerance))
        fail_msg("%s: %s is off by %.3g", id, key, error);
}

/* The equations in one JSON object, the expected answers in another. */
static void check_state(const json_t *given, const json_t *expected, const char *force,
                        double tolerance, const char *id)
{
    static numbers M, Q, A, b, C;
    assert_true(read_numbers(given, "M", &M) && read_numbers(given, force, &Q));
    read_numbers(given, "A", &A);
    read_numbers(given, "b", &b);
    bool has_C = read_numbers(given, "C", &C);
    int n = Q.count, m = b.count;
    hmi_dynamics *d = make_workspace(n, m, 0, 0);
    hmi_equations equations = {.M = M.x, .Q = Q.x, .A = A.x, .b = b.x, .C = has_C ? C.x : NULL};
    for (int f = HM_FORMULATION_AUTO; f < HMI_FORMULATIONS; f++) {
        hmi_options options = full_effort();
        hmi_solution s;
        options.formulation = (hm_formulation)f;
        hm_status status = hmi_dynamics_solve(d, &equations, &options, &s);
        if (status == HM_ERR_USAGE) {
            assert_int_not_equal(f, HM_FORMULATION_AUTO);
            continue;
        }
        if (status != HM_OK)
            fail_msg("%s: %s: %s", id, hm_formulation_name((hm_formulation)f),
                     hm_status_text(status));
        check(expected, "qdd", n, s.qdd, tolerance, id);
        check(expected, "Qi", n, s.Qi, tolerance, id);
        check(expected, "Qni", n, s.Qni, tolerance, id);
        check(expected, "Qc", n, s.Qc, tolerance, id);
        check(expected, "lambda", m, s.lambda, tolerance, id);
        if (s.a) {
            check(expected, "a", n, s.a, tolerance, id);
            check(expected, "e", m, s.e, tolerance, id);
        }
        worst_disagreement = fmax(worst_disagreement, s.disagreement);
        if (s.disagreement > 1e-10)
            fail_msg("%s: formulations disagree by %.3g", id, s.disagreement);
        hmi_checks checks;
        hmi_dynamics_check(d, &equations, &s, &checks);
        double worst = fmax(fmax(checks.constraint, checks.balance), checks.ideal);
        worst = fmax(worst, fmax(checks.work, checks.projection));
        if (worst > 1e-12)
            fail_msg("%s: checks fail by %.3g", id, worst);
    }
    static double qdd[64], lambda[64];
    if (!has_C) {
        assert_int_equal(hmi_accelerate(d, M.x, Q.x, A.x, b.x, qdd, lambda), HM_OK);
        check(expected, "qdd", n, qdd, tolerance, id);
        check(expected, "lambda", m, lambda, tolerance, id);
    }
    hmi_dynamics_destroy(d);
    states++;
}

static void all_cases(void **state)
{
    (void)state;
    json_t *root = read_cases();
    const json_t *cases = json_object_get(root, "cases");
    for (size_t i = 0; i < json_array_size(cases); i++) {
        const json_t *c = json_array_get(cases, i), *points = json_object_get(c, "points");
        const char *id = json_string_value(json_object_get(c, "id"));
        for (size_t k = 0; k < json_array_size(points); k++) {
            const json_t *expected = json_object_get(json_array_get(points, k), "expected");
            if (json_object_get(expected, "M"))
                check_state(expected, expected, "Q", 1e-11, id);
        }
    }
    print_message("%d states, worst error %.2g, worst disagreement %.2g\n", states, worst_error,
                  worst_disagreement);
    json_decref(root);
}

static void singular_mass(void **state)
{
    (void)state;
    json_t *root = read_cases();
    const json_t *points = json_object_get(find_case(root, "002-singular-mass"), "points");
    for (size_t k = 0; k < json_array_size(points); k++) {
        const json_t *point = json_array_get(points, k);
        check_state(json_object_get(point, "inputs"), json_object_get(point, "expected"), "F",
                    1e-12, "002-singular-mass");
    }
    json_decref(root);
}

static void check_geometry(const json_t *point)
{
    static numbers M, Q, A, b, C;
    static double B[64], Bp[64], T[64], N[64], v[8][8];
    const json_t *inputs = json_object_get(point, "inputs");
    const json_t *e = json_object_get(point, "expected");
    read_numbers(inputs, "M", &M);
    read_numbers(inputs, "Q", &Q);
    read_numbers(inputs, "A", &A);
    read_numbers(inputs, "b", &b);
    read_numbers(inputs, "C", &C);
    int n = Q.count, m = b.count;
    hmi_dynamics *d = make_workspace(n, m, 0, 0);
    hmi_equations equations = {.M = M.x, .Q = Q.x, .A = A.x, .b = b.x, .C = C.x};
    hmi_options options = full_effort();
    hmi_solution s;
    assert_int_equal(hmi_dynamics_solve(d, &equations, &options, &s), HM_OK);
    assert_int_equal(s.verdict.rank_A, json_integer_value(json_object_get(e, "rank_A")));
    hmi_geometry g = {.B = B, .B_plus = Bp, .T = T, .N = N, .a_s = v[0], .c_s = v[1]};
    g.qdd_s = v[2], g.B_plus_b = v[3], g.B_plus_e = v[4];
    g.T_a_s = v[5], g.N_a_s = v[6], g.N_c_s = v[7];
    assert_int_equal(hmi_dynamics_geometry(d, &equations, &s, &g), HM_OK);
    const char *id = "000-linalg";
    check(e, "B", m * n, B, 1e-12, id);
    check(e, "Bplus", n * m, Bp, 1e-12, id);
    check(e, "T_proj", n * n, T, 1e-12, id);
    check(e, "N_proj", n * n, N, 1e-12, id);
    const char *keys[8] = {"a_s", "c_s", "qdd_s", "Bplus_b", "Bplus_e", "T_as", "N_as", "N_cs"};
    for (int i = 0; i < 8; i++)
        check(e, keys[i], n, v[i], 1e-12, id);
    hmi_dynamics_destroy(d);
}

static void geometry(void **state)
{
    (void)state;
    json_t *root = read_cases();
    const json_t *points = json_object_get(find_case(root, "000-linalg-results1to6"), "points");
    for (size_t k = 0; k < json_array_size(points); k++) {
        const json_t *point = json_array_get(points, k);
        check_state(json_object_get(point, "inputs"), json_object_get(point, "expected"), "Q",
                    1e-12, "000-linalg");
        check_geometry(point);
    }
    json_decref(root);
}

static void moore_penrose(void **state)
{
    (void)state;
    json_t *root = read_cases();
    const json_t *points = json_object_get(find_case(root, "001-moore-penrose"), "points");
    for (size_t k = 0; k < json_array_size(points); k++) {
        static numbers W;
        static double plus[64], work[512];
        int ints[64];
        const json_t *point = json_array_get(points, k), *inputs = json_object_get(point, "inputs");
        const json_t *e = json_object_get(point, "expected"), *w = json_object_get(inputs, "W");
        read_numbers(inputs, "W", &W);
        int rows = (int)json_array_size(w), cols = W.count / rows;
        assert_true(hmi_pseudo_inverse_doubles(rows, cols) <= 512);
        int rank = hmi_pseudo_inverse(rows, cols, W.x, -1, plus, work, ints);
        assert_int_equal(rank, json_integer_value(json_object_get(e, "rank")));
        check(e, "Wplus", rows * cols, plus, 1e-12, "001-moore-penrose");
        hm_context *context = hm_context_create(NULL); /* the public routine */
        size_t public_rank = 0;
        assert_int_equal(
            hm_pseudo_inverse(context, (size_t)rows, (size_t)cols, W.x, plus, &public_rank), HM_OK);
        assert_int_equal(public_rank, rank);
        check(e, "Wplus", rows * cols, plus, 1e-12, "001-moore-penrose, public");
        W.x[0] = NAN;
        assert_int_equal(hm_pseudo_inverse(context, (size_t)rows, (size_t)cols, W.x, plus, NULL),
                         HM_ERR_NUMERIC);
        hm_context_destroy(context);
    }
    json_decref(root);
}

static void dirac_skate(void **state)
{
    (void)state;
    json_t *root = read_cases();
    const json_t *points = json_object_get(find_case(root, "004-dirac-skate"), "points");
    for (size_t k = 0; k < json_array_size(points); k++) {
        static numbers v, F, p, qdot, pdot, EL, direction;
        const json_t *point = json_array_get(points, k), *in = json_object_get(point, "inputs");
        const json_t *e = json_object_get(point, "expected");
        double m = json_number_value(json_object_get(in, "m"));
        double I = json_number_value(json_object_get(in, "I"));
        double th = json_number_value(json_object_get(in, "theta"));
        double lambda = json_number_value(json_object_get(e, "lambda"));
        read_numbers(in, "v", &v);
        read_numbers(in, "F_ext", &F);
        read_numbers(e, "p", &p);
        read_numbers(e, "qdot", &qdot);
        read_numbers(e, "pdot", &pdot);
        read_numbers(e, "EL_covector", &EL);
        read_numbers(e, "annihilator_direction", &direction);
        double A[3] = {-sin(th), cos(th), 0}, L_v[3] = {m * v.x[0], m * v.x[1], I * v.x[2]};
        double zero[3] = {0}, kin[3], mom[3], con[1], cov[3], out[3], l[1];
        hmi_dirac_state s = {v.x, p.x, qdot.x, pdot.x, zero, L_v, F.x, A, NULL};
        hmi_dirac_residual r = {kin, mom, con, cov, out, l};
        hmi_dynamics *d = make_workspace(3, 1, 0, 0);
        assert_int_equal(hmi_dirac_inclusion(d, &s, &r), HM_OK);
        assert_close(3, kin, zero, 1e-12);
        assert_close(3, mom, zero, 1e-12);
        assert_close(1, con, zero, 1e-12);
        assert_close(3, out, zero, 1e-12);
        assert_close(3, cov, EL.x, 1e-12);
        assert_close(3, A, direction.x, 1e-15);
        assert_close(1, l, &lambda, 1e-12);

        /* and the motion itself, by the Dirac formulation: vdot */
        double M[9] = {m, 0, 0, 0, m, 0, 0, 0, I};
        double b = v.x[2] * (v.x[0] * cos(th) + v.x[1] * sin(th));
        hmi_equations equations = {.M = M, .Q = F.x, .A = A, .b = &b};
        hmi_options options = full_effort();
        hmi_solution solution;
        options.formulation = HM_FORMULATION_DIRAC;
        assert_int_equal(hmi_dynamics_solve(d, &equations, &options, &solution), HM_OK);
        check(e, "vdot", 3, solution.qdd, 1e-12, "004-dirac-skate");
        check(e, "lambda", 1, solution.lambda, 1e-12, "004-dirac-skate");
        hmi_dynamics_destroy(d);
    }
    json_decref(root);
}

static void cross_matrix(const double *c, double S[3][3])
{
    double rows[3][3] = {{0, -c[2], c[1]}, {c[2], 0, -c[0]}, {-c[1], c[0], 0}};
    memcpy(S, rows, sizeof rows);
}

static void cross(const double *a, const double *b, double *c)
{
    c[0] = a[1] * b[2] - a[2] * b[1];
    c[1] = a[2] * b[0] - a[0] * b[2];
    c[2] = a[0] * b[1] - a[1] * b[0];
}

/* (37) as corrected by errata 1.6, as M q'' = Q with q'' = (a_P, alpha) */
static void newton_euler(void **state)
{
    (void)state;
    json_t *root = read_cases();
    const json_t *points = json_object_get(find_case(root, "001-newton-euler"), "points");
    for (size_t k = 0; k < json_array_size(points); k++) {
        static numbers omega, alpha, a_P, F, tau, c, I;
        const json_t *point = json_array_get(points, k), *in = json_object_get(point, "inputs");
        const json_t *e = json_object_get(point, "expected");
        double m = json_number_value(json_object_get(e, "mass")), S[3][3], J[3][3], M[36] = {0};
        read_numbers(in, "omega", &omega);
        read_numbers(in, "alpha", &alpha);
        read_numbers(in, "a_P", &a_P);
        read_numbers(e, "F", &F);
        read_numbers(e, "tau_P", &tau);
        read_numbers(e, "c", &c);
        read_numbers(e, "I_cm", &I);
        cross_matrix(c.x, S);
        for (int i = 0; i < 3; i++) {
            M[7 * i] = m;
            for (int j = 0; j < 3; j++) {
                J[i][j] = I.x[3 * i + j];
                for (int l = 0; l < 3; l++)
                    J[i][j] -= m * S[i][l] * S[l][j];
                M[6 * i + 3 + j] = -m * S[i][j];
                M[6 * (3 + i) + j] = m * S[i][j];
                M[6 * (3 + i) + 3 + j] = J[i][j];
            }
        }
        double w[3], ww[3], Jw[3], bias[3], Q[6];
        cross(omega.x, c.x, w);
        cross(omega.x, w, ww);
        for (int i = 0; i < 3; i++)
            Jw[i] = J[i][0] * omega.x[0] + J[i][1] * omega.x[1] + J[i][2] * omega.x[2];
        cross(omega.x, Jw, bias);
        for (int i = 0; i < 3; i++) {
            Q[i] = F.x[i] - m * ww[i];
            Q[3 + i] = tau.x[i] - bias[i];
        }
        hmi_dynamics *d = make_workspace(6, 0, 0, 0);
        hmi_equations equations = {.M = M, .Q = Q};
        hmi_options options = full_effort();
        hmi_solution s;
        assert_int_equal(hmi_dynamics_solve(d, &equations, &options, &s), HM_OK);
        assert_close(3, s.qdd, a_P.x, 1e-12);
        assert_close(3, s.qdd + 3, alpha.x, 1e-12);
        assert_true(s.disagreement <= 1e-12);
        hmi_dynamics_destroy(d);
    }
    json_decref(root);
}

/* (72) as corrected: links only, virtual control; u against u_72_corrected, beta' = -beta/P */
static void manipulator(void **state)
{
    (void)state;
    json_t *root = read_cases();
    const json_t *points = json_object_get(find_case(root, "001-manipulator"), "points");
    for (size_t k = 0; k < json_array_size(points); k++) {
        static numbers D, cor, G, u;
        const json_t *point = json_array_get(points, k), *e = json_object_get(point, "expected");
        const json_t *q = json_object_get(point, "q"), *par = json_object_get(point, "params");
        double P = json_number_value(json_object_get(json_object_get(point, "inputs"), "P"));
        double beta = json_number_value(json_object_get(e, "beta"));
        read_numbers(e, "D", &D);
        read_numbers(e, "Coriolis_vector", &cor);
        read_numbers(e, "G", &G);
        read_numbers(e, "u_72_corrected", &u);
        double Kq[2] = {json_number_value(json_object_get(par, "K1")) *
                            json_number_value(json_object_get(q, "q2")),
                        json_number_value(json_object_get(par, "K2")) *
                            json_number_value(json_object_get(q, "q4"))};
        double Q[2], A[2] = {1, 1}, b[1] = {-beta / P}, b_free[1] = {0};
        for (int i = 0; i < 2; i++)
            Q[i] = -cor.x[i] - G.x[i] - Kq[i];
        hmi_servo servo = {1, A, b, b_free, NULL, NULL};
        hmi_equations equations = {.M = D.x, .Q = Q, .servos = &servo, .servo_count = 1};
        hmi_dynamics *d = make_workspace(2, 0, 1, 1);
        hmi_options options = full_effort();
        hmi_solution s;
        assert_int_equal(hmi_dynamics_solve(d, &equations, &options, &s), HM_OK);
        check(e, "u_72_corrected", 2, s.u, 1e-12, "001-manipulator");
        check(e, "loopA_q1dd_virtual_control_Kq2_is_u72", 2, s.qdd, 1e-12, "001-manipulator");
        hmi_dynamics_destroy(d);
    }
    json_decref(root);
}

/* b - k beta with ideal servos on all coordinates */
static void swarm(void **state)
{
    (void)state;
    json_t *root = read_cases();
    const json_t *points = json_object_get(find_case(root, "001-swarm"), "points");
    for (size_t k = 0; k < json_array_size(points); k++) {
        static numbers M, Q, A, b, beta;
        static double wanted[64];
        const json_t *e = json_object_get(json_array_get(points, k), "expected");
        read_numbers(e, "M", &M);
        read_numbers(e, "Q", &Q);
        read_numbers(e, "A", &A);
        read_numbers(e, "b", &b);
        if (!read_numbers(e, "beta", &beta))
            continue;
        int n = Q.count, rows = b.count;
        static const double gains[3] = {1, 5, 10};
        static const char *qdd_keys[3] = {"qdd_stabilised_k1", "qdd_stabilised_k5",
                                          "qdd_stabilised_k10"};
        static const char *u_keys[3] = {"Fc_stabilised_k1", "Fc_stabilised_k5",
                                        "Fc_stabilised_k10"};
        for (int g = 0; g < 3; g++) {
            for (int i = 0; i < rows; i++)
                wanted[i] = b.x[i] - gains[g] * beta.x[i];
            hmi_servo servo = {rows, A.x, wanted, NULL, NULL, NULL};
            hmi_equations equations = {.M = M.x, .Q = Q.x, .servos = &servo, .servo_count = 1};
            hmi_dynamics *d = make_workspace(n, 0, 1, rows);
            hmi_options options = full_effort();
            hmi_solution s;
            assert_int_equal(hmi_dynamics_solve(d, &equations, &options, &s), HM_OK);
            check(e, qdd_keys[g], n, s.qdd, 1e-11, "001-swarm");
            check(e, u_keys[g], n, s.u, 1e-11, "001-swarm");
            hmi_dynamics_destroy(d);
        }
    }
    json_decref(root);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(all_cases),   cmocka_unit_test(singular_mass),
        cmocka_unit_test(geometry),    cmocka_unit_test(moore_penrose),
        cmocka_unit_test(dirac_skate), cmocka_unit_test(newton_euler),
        cmocka_unit_test(manipulator), cmocka_unit_test(swarm),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
