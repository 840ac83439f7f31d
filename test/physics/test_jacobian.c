/* Exact derivatives of q'' and lambda against central differences in 256 bits.
 *
 * Everything depends on s: M, Q, the independent rows A_r and b_r, and the matrix F that mixes them
 * into all rows, A = F A_r, b = F b_r: redundant rows stay redundant and consistent while they
 * turn.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

#include "dynamics/formulations/dynamics.h"
#include "physics/random_systems.h"

#ifdef HAMEL_SANITIZE
enum { SYSTEMS = 40 };
#else
enum { SYSTEMS = 300 };
#endif

/* A system and its rate of change with s. */
static test_system sys, rate;
static double feedback[MOST_N * MOST_M]; /* H: C = H lambda */
static bool with_feedback;

static void arb_at(arb_t to, double value, double slope, const arb_t s)
{
    arb_t t;
    arb_init(t);
    arb_set_d(t, slope);
    arb_mul(t, t, s, BITS);
    arb_set_d(to, value);
    arb_add(to, to, t, BITS);
    arb_clear(t);
}

/* K z = right at s, z = (x, l) */
static void load_at(const arb_t s, arb_mat_t K, arb_mat_t right)
{
    int n = sys.n, r = sys.rank;
    arb_t h;
    arb_init(h);
    arb_mat_zero(K);
    for (int i = 0; i < n; i++) {
        arb_at(arb_mat_entry(right, i, 0), sys.Q[i] + (with_feedback ? 0 : sys.C[i]),
               rate.Q[i] + (with_feedback ? 0 : rate.C[i]), s);
        for (int j = 0; j < n; j++)
            arb_at(arb_mat_entry(K, i, j), sys.M[i * n + j], rate.M[i * n + j], s);
        for (int k = 0; k < r; k++) {
            arb_at(arb_mat_entry(K, n + k, i), sys.Ar[k * n + i], rate.Ar[k * n + i], s);
            arb_neg(arb_mat_entry(K, i, n + k), arb_mat_entry(K, n + k, i));
            arb_set_d(h, feedback[i * sys.m + k]);
            if (with_feedback)
                arb_sub(arb_mat_entry(K, i, n + k), arb_mat_entry(K, i, n + k), h, BITS);
        }
    }
    for (int k = 0; k < r; k++)
        arb_at(arb_mat_entry(right, n + k, 0), sys.br[k], rate.br[k], s);
    arb_clear(h);
}

/* lambda := F (F^T F)^-1 l at s */
static void mix_at(const arb_t s, arb_mat_t z, arb_mat_t lambda)
{
    int m = sys.m, r = sys.rank;
    arb_mat_t F, Ft, G, l, y;
    arb_mat_init(F, m, r);
    arb_mat_init(Ft, r, m);
    arb_mat_init(G, r, r);
    arb_mat_init(l, r, 1);
    arb_mat_init(y, r, 1);
    for (int k = 0; k < r; k++) {
        arb_set(arb_mat_entry(l, k, 0), arb_mat_entry(z, sys.n + k, 0));
        for (int i = 0; i < m; i++)
            arb_at(arb_mat_entry(F, i, k), sys.F[i * r + k], rate.F[i * r + k], s);
    }
    arb_mat_transpose(Ft, F);
    arb_mat_approx_mul(G, Ft, F, BITS);
    if (r > 0 && !arb_mat_approx_solve(y, G, l, BITS))
        abort();
    arb_mat_approx_mul(lambda, F, y, BITS);
    arb_mat_clear(F);
    arb_mat_clear(Ft);
    arb_mat_clear(G);
    arb_mat_clear(l);
    arb_mat_clear(y);
}

/* Central differences of q'' and lambda with the step 2^-60: right to about 36 digits. */
static void differentiate(double *dx, double *dlambda)
{
    int size = sys.n + sys.rank;
    arb_mat_t K, right, z[2], lambda[2];
    arb_t s, d;
    arb_init(s);
    arb_init(d);
    arb_mat_init(K, size, size);
    arb_mat_init(right, size, 1);
    for (int side = 0; side < 2; side++) {
        arb_mat_init(z[side], size, 1);
        arb_mat_init(lambda[side], sys.m, 1);
        arb_set_d(s, side ? 0x1p-60 : -0x1p-60);
        load_at(s, K, right);
        if (!arb_mat_approx_solve(z[side], K, right, BITS))
            abort();
        mix_at(s, z[side], lambda[side]);
    }
    for (int i = 0; i < sys.n + sys.m; i++) {
        arb_mat_t *v = i < sys.n ? z : lambda;
        int k = i < sys.n ? i : i - sys.n;
        arb_sub(d, arb_mat_entry(v[1], k, 0), arb_mat_entry(v[0], k, 0), BITS);
        arb_mul_2exp_si(d, d, 59);
        *(i < sys.n ? dx + k : dlambda + k) = to_double(d);
    }
    for (int side = 0; side < 2; side++) {
        arb_mat_clear(z[side]);
        arb_mat_clear(lambda[side]);
    }
    arb_mat_clear(K);
    arb_mat_clear(right);
    arb_clear(s);
    arb_clear(d);
}

/* rate.A, rate.b: of the mixed rows */
static void mix_rates(void)
{
    int n = sys.n, r = sys.rank;
    for (int i = 0; i < sys.m; i++) {
        rate.b[i] = 0;
        for (int j = 0; j < n; j++)
            rate.A[i * n + j] = 0;
        for (int k = 0; k < r; k++) {
            double f = sys.F[i * r + k], df = rate.F[i * r + k];
            rate.b[i] += f * rate.br[k] + df * sys.br[k];
            for (int j = 0; j < n; j++)
                rate.A[i * n + j] += f * rate.Ar[k * n + j] + df * sys.Ar[k * n + j];
        }
    }
}

static void random_rates(mass_kind kind)
{
    random_system(kind, 12, 0.5, &sys);
    rate = sys; /* sizes */
    for (int i = 0; i < sys.n; i++)
        for (int j = 0; j <= i; j++)
            rate.M[i * sys.n + j] = rate.M[j * sys.n + i] = random_real();
    for (int i = 0; i < MOST_N; i++) {
        rate.Q[i] = random_real();
        rate.C[i] = random_real();
        rate.br[i] = random_real();
    }
    for (int i = 0; i < sys.rank * sys.n; i++)
        rate.Ar[i] = random_real();
    for (int i = 0; i < sys.m * sys.rank; i++)
        rate.F[i] = sys.F[i] * random_real();
    mix_rates();
}

/* The right sides of the differentiated equations at the solution. */
static void right_sides(const hmi_solution *s, const double *w, double *force, double *constraint,
                        double *turning)
{
    int n = sys.n;
    for (int i = 0; i < n; i++) {
        force[i] = rate.Q[i] + (with_feedback ? 0 : rate.C[i]);
        for (int j = 0; j < n; j++)
            force[i] -= rate.M[i * n + j] * s->qdd[j];
        for (int k = 0; k < sys.m; k++)
            force[i] += rate.A[k * n + i] * s->total_lambda[k];
    }
    for (int k = 0; k < sys.m; k++) {
        constraint[k] = rate.b[k];
        turning[k] = 0;
        for (int j = 0; j < n; j++) {
            constraint[k] -= rate.A[k * n + j] * s->qdd[j];
            turning[k] += rate.A[k * n + j] * w[j];
        }
    }
}

static double relative_error(int n, const double *x, const double *y)
{
    double error = 0, size = 1;
    for (int i = 0; i < n; i++) {
        error = fmax(error, fabs(x[i] - y[i]));
        size = fmax(size, fabs(y[i]));
    }
    return error / size;
}

static int linear_law(void *user, const hmi_reactions *r, double *Q, double *C)
{
    (void)user;
    (void)Q;
    for (int i = 0; i < sys.n; i++) {
        C[i] = 0;
        for (int k = 0; k < sys.m; k++)
            C[i] += feedback[i * sys.m + k] * r->total_multiplier[k];
    }
    return 0;
}

/* Largest relative errors of dqdd and dlambda for one system. */
static void check_system(double *worst_x, double *worst_lambda)
{
    static double force[2 * MOST_N], constraint[2 * MOST_M], turning[2 * MOST_M], w[MOST_N];
    static double dqdd[2 * MOST_N], dlambda[2 * MOST_M], dx[MOST_N], dl[MOST_M];
    hm_allocator allocator = hm_allocator_default();
    hmi_dynamics_size size = {sys.n, sys.m, 0, 0, true};
    hmi_dynamics *d = NULL;
    hmi_reaction_law law = {linear_law, NULL, false, true};
    hmi_equations e = {.M = sys.M, .Q = sys.Q, .A = sys.A, .b = sys.b};
    hmi_options options = hmi_options_default();
    hmi_solution s;
    if (with_feedback)
        e.law = &law;
    else
        e.C = sys.C;
    options.effort = HMI_COMPARE;
    assert_int_equal(hmi_dynamics_create(&allocator, &size, &d), HM_OK);
    assert_int_equal(hmi_dynamics_solve(d, &e, &options, &s), HM_OK);
    hmi_dynamics_preimage(d, &s, w);
    right_sides(&s, w, force, constraint, turning);
    hmi_directions directions = {1, force, constraint, turning, with_feedback ? feedback : NULL};
    assert_int_equal(hmi_dynamics_derivative(d, &directions, dqdd, dlambda), HM_OK);
    differentiate(dx, dl);
    *worst_x = fmax(*worst_x, relative_error(sys.n, dqdd, dx));
    *worst_lambda = fmax(*worst_lambda, relative_error(sys.m, dlambda, dl));
    hmi_dynamics_destroy(d);
}

static void derivatives(void **state)
{
    (void)state;
    double worst_x = 0, worst_lambda = 0;
    random_state = 31;
    with_feedback = false;
    for (int k = 0; k < SYSTEMS; k++) {
        random_rates((mass_kind)(k % 4 == 1 ? 0 : k % 4));
        check_system(&worst_x, &worst_lambda);
    }
    print_message("derivatives: relative error of q'' %.2g, of lambda %.2g\n", worst_x,
                  worst_lambda);
    assert_true(worst_x < 1e-10 && worst_lambda < 1e-10);
}

/* Implicit laws: C = H lambda_total, full rank. */
static void derivatives_of_implicit_laws(void **state)
{
    (void)state;
    double worst_x = 0, worst_lambda = 0;
    random_state = 37;
    with_feedback = true;
    for (int k = 0; k < SYSTEMS; k++) {
        do
            random_rates(MASS_DEFINITE);
        while (sys.m != sys.rank || sys.rank == 0);
        /* unmixed: the law sees the multipliers of the independent rows */
        memset(rate.F, 0, sizeof rate.F);
        memset(sys.F, 0, sizeof sys.F);
        for (int i = 0; i < sys.m; i++)
            sys.F[i * sys.rank + i] = 1;
        mix_rows(&sys);
        mix_rates();
        for (int i = 0; i < sys.n * sys.m; i++)
            feedback[i] = 0.1 * random_real() / sys.n;
        check_system(&worst_x, &worst_lambda);
    }
    print_message("implicit laws: relative error of q'' %.2g, of lambda %.2g\n", worst_x,
                  worst_lambda);
    assert_true(worst_x < 1e-10 && worst_lambda < 1e-10);
}

/* Several directions at once, lambda not wanted, no constraints at all. */
static void simple_directions(void **state)
{
    (void)state;
    double M[4] = {2, 0, 0, 4}, Q[2] = {1, 1}, force[4] = {2, 4, 1, 0}, dqdd[4];
    hm_allocator allocator = hm_allocator_default();
    hmi_dynamics_size size = {2, 0, 0, 0, false};
    hmi_dynamics *d = NULL;
    hmi_equations e = {.M = M, .Q = Q};
    hmi_options options = hmi_options_default();
    hmi_solution s;
    assert_int_equal(hmi_dynamics_create(&allocator, &size, &d), HM_OK);
    assert_int_equal(hmi_dynamics_solve(d, &e, &options, &s), HM_OK);
    hmi_directions directions = {2, force, NULL, NULL, NULL};
    assert_int_equal(hmi_dynamics_derivative(d, &directions, dqdd, NULL), HM_OK);
    double expected[4] = {1, 1, 0.5, 0};
    assert_true(relative_error(4, dqdd, expected) == 0);
    hmi_dynamics_destroy(d);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(derivatives),
        cmocka_unit_test(derivatives_of_implicit_laws),
        cmocka_unit_test(simple_directions),
    };
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    flint_cleanup();
    return failed;
}
