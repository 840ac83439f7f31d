/* The models whose cost must have no cliffs: the fast solve against the dense, rank-revealing one, at
 * sizes on either side of where engines change. Quantities: q'' and the constraint forces that follow
 * from it, Qc = M q'' - Q, which is all that the dense solve says of them that does not depend on the
 * choice of multipliers. */
#include "support/check.h"
#include "support/probe.h"

#include "dynamics/formulations/dynamics.h"
#include "dynamics/large/compiled.h"
#include "dynamics/sim/evaluation.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A closed loop of bars: G has entries that never change. */
static const char loop[] =
    "param N = 10, m = 1, l = 1, g = 9.81\n"
    "coord x[1..N], y[1..N], a[1..N]\n"
    "let tip(i) = [x[i],y[i]] + l/2*[cos(a[i]),sin(a[i])]\n"
    "let tail(i) = [x[i],y[i]] - l/2*[cos(a[i]),sin(a[i])]\n"
    "param rad = l/(2*sin(pi/N))\n"
    "for i = 1..N { body b[i] { mass m  inertia m*l^2/12  at [x[i],y[i]]  angle a[i] }\n"
    "  initial a[i] ~ 2*pi*i/N + pi/2, x[i] ~ rad*cos(pi/N)*cos(2*pi*i/N),\n"
    "    y[i] ~ rad*cos(pi/N)*sin(2*pi*i/N) }\n"
    "constraint base: tail(1) = [rad*cos(2*pi/N-pi/N), rad*sin(2*pi/N-pi/N)]\n"
    "for i = 2..N { constraint j[i]: tail(i) = tip(i-1) }\n"
    "constraint close: tip(N) = tail(1)\n"
    "gravity [0,-g]\n";

/* Every rod twice, in other units. */
static const char redundant[] =
    "param N = 10, g = 9.81\n"
    "coord x[1..N], y[1..N]\n"
    "for i = 1..N { kinetic (x[i]'^2 + y[i]'^2)/2; potential g*y[i]\n"
    "  initial x[i] = i*0.6, y[i] = i*0.8 }\n"
    "constraint rod[1]: x[1]^2 + y[1]^2 = 1\n"
    "constraint rodd[1]: 2*x[1]^2 + 2*y[1]^2 = 2\n"
    "for i = 2..N { constraint rod[i]: (x[i]-x[i-1])^2 + (y[i]-y[i-1])^2 = 1\n"
    "  constraint rodd[i]: 2*(x[i]-x[i-1])^2 + 2*(y[i]-y[i-1])^2 = 2 }\n";

/* The same, with the copies after all others: G is no band. */
static const char copied[] =
    "param N = 10, g = 9.81\n"
    "coord x[1..N], y[1..N]\n"
    "for i = 1..N { kinetic (1 + i/N)*(x[i]'^2 + y[i]'^2)/2; potential g*y[i]\n"
    "  initial x[i] = i*0.6, y[i] = i*0.8 }\n"
    "constraint rod[1]: x[1]^2 + y[1]^2 = 1\n"
    "for i = 2..N { constraint rod[i]: (x[i]-x[i-1])^2 + (y[i]-y[i-1])^2 = 1 }\n"
    "for i = 2..N { constraint rodd[i]: 3*(x[i]-x[i-1])^2 + 3*(y[i]-y[i-1])^2 = 3 }\n"
    "for i = 3..N { constraint sum[i]: (x[i]-x[i-1])^2 + (y[i]-y[i-1])^2 + (x[i-1]-x[i-2])^2 +\n"
    "    (y[i-1]-y[i-2])^2 = 2 }\n";

/* Bodies by Euler parameters: M is singular. */
static const char quaternions[] =
    "param N = 10, m = 1, l = 1, g = 9.81\n"
    "coord x[1..N], y[1..N], z[1..N], e0[1..N], e1[1..N], e2[1..N], e3[1..N]\n"
    "let P(i) = [x[i], y[i], z[i]]\n"
    "let R(i) = quat(e0[i], e1[i], e2[i], e3[i])\n"
    "for i = 1..N {\n"
    "  body b[i] { mass m  inertia diag(0.1, 0.09, 0.01)  at P(i)  frame R(i) }\n"
    "  initial e0[i] = 1, x[i] ~ 0, y[i] ~ 0, z[i] ~ -(i-1/2)*l, e1[i]' = 0.3, x[i]' ~ 0 }\n"
    "gravity [1, 0, -g]\n"
    "constraint pin[1]: P(1) + R(1)*[0,0,l/2] = 0\n"
    "for i = 2..N { constraint pin[i]: P(i) + R(i)*[0,0,l/2] = P(i-1) - R(i-1)*[0,0,l/2] }\n";

/* Friction by the ideal reactions, and inertias that couple neighbours. */
static const char rough[] =
    "param N = 10, mu = 0.1, R = 1, k = 1\n"
    "coord x[1..N], y[1..N]\n"
    "for i = 1..N { kinetic (x[i]'^2 + y[i]'^2)/2\n"
    "  constraint hoop[i]: x[i]^2 + y[i]^2 = R^2\n"
    "  let F = mu*hypot(reaction(x[i]), reaction(y[i]))/hypot(x[i]', y[i]')\n"
    "  nonideal x[i] = -F*x[i]', y[i] = -F*y[i]'\n"
    "  initial x[i] = R*cos(0.3*i), y[i] ~ R*sin(0.3*i), x[i]' ~ -3*sin(0.3*i),\n"
    "    y[i]' ~ 3*cos(0.3*i) }\n"
    "for i = 2..N { potential k/2*((x[i]-x[i-1])^2+(y[i]-y[i-1])^2)\n"
    "  kinetic (x[i]' - x[i-1]')^2/5 }\n";

static probe *open_size(const char *text, int N)
{
    char value[32];
    snprintf(value, sizeof value, "%d", N);
    const hm_override override = {"N", value};
    return probe_text_with(text, &override, 1);
}

/* The dense solve of any size, with the numbers of the present state. */
static void solve_dense(probe *p, double *qdd)
{
    const hmi_dynamics_size size = {.n = (int)p->n, .m = (int)p->m};
    const hmi_derived *d = &p->system->derived;
    double *M = calloc(p->n * p->n + 1, sizeof *M), *A = calloc(p->m * p->n + 1, sizeof *A);
    hmi_dynamics *dense;
    hmi_solution solution;
    assert_true(M && A);
    hm_sim_evaluate_fast(p->sim);
    hmi_scatter_entries(&d->M, hmi_sim_mass_entries(p->sim), true, M);
    hmi_scatter_entries(&d->constraints.A, hmi_sim_row_entries(p->sim), false, A);
    const double *out = hmi_sim_dynamics(p->sim);
    const hmi_equations equations = {
        .M = M, .A = A, .Q = out + p->system->at.Q, .b = out + p->system->at.b};
    hmi_options options = hmi_options_default();
    options.refinements = 2;
    hm_allocator allocator = hm_allocator_default();
    assert_int_equal(hmi_dynamics_create(&allocator, &size, &dense), HM_OK);
    assert_int_equal(hmi_dynamics_solve(dense, &equations, &options, &solution), HM_OK);
    memcpy(qdd, solution.qdd, p->n * sizeof *qdd);
    hmi_dynamics_destroy(dense);
    free(M);
    free(A);
}

static void check_size(const char *text, int N, bool compiled)
{
    probe *p = open_size(text, N);
    double *fast = malloc(p->n * sizeof *fast), *dense = malloc(p->n * sizeof *dense);
    assert_true(fast && dense);
    assert_int_equal(hm_sim_make_consistent(p->sim, false, NULL, NULL), HM_OK);
    for (int i = 0; i < 4; i++) /* the first calls choose rows; entries of G must outlive a solve */
        assert_int_equal(hm_sim_accelerate(p->sim, fast), HM_OK);
    if (compiled)
        assert_true(hmi_sim_accelerate_compiled(p->sim, hmi_sim_present(p->sim)));
    solve_dense(p, dense);
    check_close("q''", p->n, fast, dense, 1e-10 * fmax(1, max_norm(p->n, dense)));
    free(fast);
    free(dense);
    probe_close(p);
}

static void test_loop(void **state)
{
    (void)state;
    const int sizes[] = {18, 20, 22, 24, 130, 132, 134, 136};
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++)
        check_size(loop, sizes[i], sizes[i] > 20);
}

static void test_redundant(void **state)
{
    (void)state;
    const int sizes[] = {6, 27, 30, 31, 33, 36, 100, 199, 201};
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++)
        check_size(redundant, sizes[i], sizes[i] > 30);
}

static void test_copied(void **state)
{
    (void)state;
    const int sizes[] = {27, 30, 31, 36, 90, 150};
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++)
        check_size(copied, sizes[i], sizes[i] > 30);
}

static void test_quaternions(void **state)
{
    (void)state;
    const int sizes[] = {7, 8, 9, 10, 30, 57, 58, 59};
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++)
        check_size(quaternions, sizes[i], sizes[i] > 8);
}

/* The same law by multipliers that a hand can find: beads apart, on hoops of their own, with
 * v^2 + lambda 2 R = 0: |Qi| = v^2/R, and so q'' = -v^2/R n - mu v^2/R t. */
static void test_rough_alone(void **state)
{
    (void)state;
    const int sizes[] = {3, 10, 30, 33, 199, 201, 300};
    for (size_t s = 0; s < sizeof sizes / sizeof *sizes; s++) {
        const char *text =
            "param N = 10, mu = 0.1\ncoord x[1..N], y[1..N]\n"
            "for i = 1..N { kinetic (1 + i/N)*(x[i]'^2 + y[i]'^2)/2\n"
            "  constraint hoop[i]: x[i]^2 + y[i]^2 = 1\n"
            "  let F = mu*hypot(reaction(x[i]), reaction(y[i]))/hypot(x[i]', y[i]')\n"
            "  nonideal x[i] = -F*x[i]', y[i] = -F*y[i]'\n"
            "  initial x[i] = cos(0.3*i), y[i] = sin(0.3*i), x[i]' = -3*sin(0.3*i),\n"
            "    y[i]' = 3*cos(0.3*i) }\n";
        probe *p = open_size(text, sizes[s]);
        size_t N = p->n / 2;
        double *qdd = malloc(p->n * sizeof *qdd);
        assert_non_null(qdd);
        for (int k = 0; k < 3; k++)
            assert_int_equal(hm_sim_accelerate(p->sim, qdd), HM_OK);
        for (size_t i = 0; i < N; i++) {
            double a = 0.3 * (double)(i + 1), v2 = 9, mu = 0.1;
            assert_true(fabs(qdd[i] - (-v2 * cos(a) + mu * v2 * sin(a))) < 1e-12);
            assert_true(fabs(qdd[N + i] - (-v2 * sin(a) - mu * v2 * cos(a))) < 1e-12);
        }
        free(qdd);
        probe_close(p);
    }
}

/* Joined: the sparse solve against the dense one, which evaluations up to 400 coordinates use; beyond,
 * what is evaluated fits the equations. */
static void test_rough(void **state)
{
    (void)state;
    const int sizes[] = {5, 20, 30, 33, 100, 199, 200, 201, 250};
    for (size_t s = 0; s < sizeof sizes / sizeof *sizes; s++) {
        probe *p = open_size(rough, sizes[s]);
        double *qdd = malloc(p->n * sizeof *qdd);
        assert_non_null(qdd);
        assert_int_equal(hm_sim_make_consistent(p->sim, false, NULL, NULL), HM_OK);
        for (int k = 0; k < 3; k++)
            assert_int_equal(hm_sim_accelerate(p->sim, qdd), HM_OK);
        probe_evaluate(p);
        assert_int_equal(p->status, HM_OK);
        check_close("q''", p->n, qdd, p->at.qdd, 1e-10 * fmax(1, max_norm(p->n, qdd)));
        assert_true(p->at.check.balance < 1e-12 && p->at.check.constraint < 1e-11);
        free(qdd);
        probe_close(p);
    }
}

/* Drift control: A d = r for an r that there is. */
static void check_projection(const char *text, int N)
{
    probe *p = open_size(text, N);
    const hmi_expr_matrix *A = &p->system->derived.constraints.A;
    double *d = malloc(p->n * sizeof *d), *r = calloc(p->m, sizeof *r), *qdd = malloc(p->n * 8);
    assert_true(d && r && qdd);
    assert_int_equal(hm_sim_make_consistent(p->sim, false, NULL, NULL), HM_OK);
    for (int i = 0; i < 4; i++)
        assert_int_equal(hm_sim_accelerate(p->sim, qdd), HM_OK);
    hm_sim_evaluate_fast(p->sim);
    const double *a = hmi_sim_row_entries(p->sim);
    for (int t = 0; t < 3; t++) {
        double worst = 0, largest = 0;
        for (size_t i = 0; i < p->m; i++) {
            r[i] = 0;
            for (size_t k = A->start[i]; k < A->start[i + 1]; k++)
                r[i] += a[k] * 1e-9 * sin(t + 1.7 * A->column.data[k]);
            largest = fmax(largest, fabs(r[i]));
        }
        assert_true(hmi_sim_factor_compiled(p->sim, hmi_sim_present(p->sim)));
        assert_true(hmi_sim_project_compiled(p->sim, hmi_sim_present(p->sim), r, d));
        for (size_t i = 0; i < p->m; i++) {
            double rest = -r[i];
            for (size_t k = A->start[i]; k < A->start[i + 1]; k++)
                rest += a[k] * d[A->column.data[k]];
            worst = fmax(worst, fabs(rest));
        }
        if (!(worst <= 1e-8 * largest))
            fail_msg("N = %d, pass %d: %g of %g is left", N, t, worst, largest);
        check_close("q''", p->n, p->sim->last.qdd, qdd, 0);
    }
    free(d);
    free(r);
    free(qdd);
    probe_close(p);
}

static void test_projection(void **state)
{
    (void)state;
    check_projection(loop, 30);
    check_projection(quaternions, 12);
    check_projection(redundant, 40);
    check_projection(copied, 40);
    check_projection(loop, 200);
}

/* Rows that are nearly dependent are no dependent rows: 1e-7 is beyond what G can tell, which squares
 * it, and the dense solve tells it well. */
static void test_nearly_dependent(void **state)
{
    (void)state;
    static const char text[] =
        "param N = 40\n"
        "coord x[1..N], y[1..N]\n"
        "for i = 1..N { kinetic (x[i]'^2 + y[i]'^2)/2; potential 9.81*y[i]\n"
        "  initial x[i] = i*0.6, y[i] = i*0.8 }\n"
        "constraint first: x[1] = 0.6\nconstraint foot: y[1] = 0.8\n"
        "for i = 2..N { constraint rod[i]: (x[i]-x[i-1])^2 + (y[i]-y[i-1])^2 = 1\n"
        "  constraint near[i]: (x[i]-x[i-1])^2 + (y[i]-y[i-1])^2 + 1e-7*(x[i] - 0.6*i) = 1 }\n";
    check_size(text, 40, false);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_loop),        cmocka_unit_test(test_redundant),
        cmocka_unit_test(test_copied),      cmocka_unit_test(test_quaternions),
        cmocka_unit_test(test_rough_alone), cmocka_unit_test(test_rough),
        cmocka_unit_test(test_projection),  cmocka_unit_test(test_nearly_dependent),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
