/* Properties of the solve over thousands of random systems, against 256 bits.           (issue B)
 *
 * Errors are measured in units of condition x epsilon (random_systems.h); what is asserted is a
 * small multiple of that, per component of q'' and of the constraint force.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

#include "dynamics/formulations/dynamics.h"
#include "linalg/linalg.h"
#include "physics/random_systems.h"

#ifdef HAMEL_SANITIZE
enum { SYSTEMS = 60 };
#else
enum { SYSTEMS = 600 };
#endif

static test_system sys;
static answer ideal, extra;

static hmi_dynamics *workspace(int n, int m)
{
    hm_allocator allocator = hm_allocator_default();
    hmi_dynamics_size size = {n, m, 0, 0, true};
    hmi_dynamics *d = NULL;
    assert_int_equal(hmi_dynamics_create(&allocator, &size, &d), HM_OK);
    return d;
}

static hmi_equations equations_of(const test_system *s)
{
    return (hmi_equations){.M = s->M, .Q = s->Q, .A = s->A, .b = s->b, .C = s->C};
}

/* Largest error of x = expected (+ expected2) in units of condition x epsilon. */
static double excess(int n, const double *x, const double *y, const double *y2, const double *c,
                     const double *c2)
{
    double worst = 0;
    for (int i = 0; i < n; i++) {
        double unit = (c[i] + (c2 ? c2[i] : 0)) * EPSILON;
        double error = fabs(x[i] - (y[i] + (y2 ? y2[i] : 0)));
        if (!isfinite(x[i]))
            return INFINITY;
        if (error > 0)
            worst = fmax(worst, error / unit);
    }
    return worst;
}

typedef struct record {
    double qdd, force, lambda, disagreement;
    int systems, by_formulation[HMI_FORMULATIONS];
} record;

static void check_solution(const hmi_solution *s, record *r)
{
    static double Qni[MOST_N];
    int n = sys.n;
    for (int i = 0; i < n; i++)
        Qni[i] = sys.C[i] + extra.f[i];
    r->qdd = fmax(r->qdd, excess(n, s->qdd, ideal.x, extra.x, ideal.cx, extra.cx));
    double unit[MOST_N];
    for (int i = 0; i < n; i++)
        unit[i] = extra.cf[i] + fabs(sys.C[i]);
    r->force = fmax(r->force, excess(n, s->Qi, ideal.f, NULL, ideal.cf, NULL));
    r->force = fmax(r->force, excess(n, s->Qni, Qni, NULL, unit, NULL));
    r->lambda = fmax(r->lambda, excess(sys.m, s->lambda, ideal.lambda, NULL, ideal.clambda, NULL));
    r->disagreement = fmax(r->disagreement, s->disagreement);
    for (int f = 0; f < HMI_FORMULATIONS; f++)
        r->by_formulation[f] += (s->formulations >> f & 1) != 0;
    r->systems++;
}

static void check_verdict(const hmi_solution *s, mass_kind kind)
{
    assert_int_equal(s->verdict.rank_A, sys.rank);
    assert_true(s->verdict.consistent && s->verdict.unique_acceleration);
    assert_int_equal(s->verdict.unique_multipliers, sys.rank == sys.m);
    int redundant = 0;
    for (int i = 0; i < sys.m; i++)
        redundant += s->verdict.redundant[i];
    assert_int_equal(redundant, sys.m - sys.rank);
    if (kind <= MASS_ILL || sys.rank == 0)
        assert_int_equal(s->verdict.mass, HMI_DEFINITE);
    else if (kind == MASS_SINGULAR)
        assert_int_equal(s->verdict.mass, HMI_SEMIDEFINITE);
    if (kind <= MASS_SINGULAR)
        assert_int_equal(s->verdict.rank_MA, sys.n);
}

/* Every formulation that applies, by itself. */
static void check_formulations(hmi_dynamics *d, const hmi_equations *e, record *r)
{
    for (int f = HM_FORMULATION_UK; f < HMI_FORMULATIONS; f++) {
        hmi_options options = hmi_options_default();
        hmi_solution s;
        options.formulation = (hm_formulation)f;
        hm_status status = hmi_dynamics_solve(d, e, &options, &s);
        if (status == HM_ERR_USAGE)
            continue;
        assert_int_equal(status, HM_OK);
        double before = r->qdd;
        check_solution(&s, r);
        if (r->qdd > 64 && r->qdd > before)
            print_message("%s: %g (n %d m %d rank %d)\n", hm_formulation_name(s.formulation),
                          r->qdd, sys.n, sys.m, sys.rank);
    }
}

static void run_systems(mass_kind kind, double decades, double most, const char *name)
{
    record all = {0}, each = {0};
    hmi_options options = hmi_options_default();
    options.effort = HMI_COMPARE;
    random_state = 100 + (uint64_t)kind;
    for (int k = 0; k < SYSTEMS; k++) {
        hmi_solution s;
        random_system(kind, k % 4 ? 16 : MOST_N, decades, &sys);
        solve_exactly(&sys, sys.Q, sys.br, &ideal);
        solve_exactly(&sys, sys.C, NULL, &extra);
        hmi_dynamics *d = workspace(sys.n, sys.m);
        hmi_equations e = equations_of(&sys);
        assert_int_equal(hmi_dynamics_solve(d, &e, &options, &s), HM_OK);
        check_solution(&s, &all);
        check_verdict(&s, kind);
        hmi_checks checks;
        hmi_dynamics_check(d, &e, &s, &checks);
        assert_true(checks.balance < 1e-12 && checks.ideal < 1e-11 && checks.work < 1e-11);
        assert_true(checks.constraint < 1e-11);
        check_formulations(d, &e, &each);
        hmi_dynamics_destroy(d);
    }
    print_message("%-12s %d systems, %d answers: errors in condition x epsilon: q'' %.2g, Qi and "
                  "Qni %.2g, lambda %.2g; disagreement %.2g\n",
                  name, all.systems, each.systems, fmax(all.qdd, each.qdd),
                  fmax(all.force, each.force), fmax(all.lambda, each.lambda), all.disagreement);
    assert_true(fmax(all.qdd, each.qdd) <= most);
    assert_true(fmax(all.force, each.force) <= most);
    assert_true(fmax(all.lambda, each.lambda) <= 10 * most);
}

static void definite(void **state)
{
    (void)state;
    run_systems(MASS_DEFINITE, 6, 16, "M > 0");
}

static void ill_conditioned(void **state)
{
    (void)state;
    run_systems(MASS_ILL, 6, 16, "cond M 1e12");
}

static void singular(void **state)
{
    (void)state;
    run_systems(MASS_SINGULAR, 6, 16, "M >= 0");
}

static void indefinite(void **state)
{
    (void)state;
    run_systems(MASS_INDEFINITE, 6, 16, "M indefinite");
}

/* Each factorisation stands on its own: without refinement, errors stay near condition x epsilon
 * where things are well conditioned. A formulation that leant on refinement would show here. */
static void without_refinement(void **state)
{
    (void)state;
    double worst[HMI_FORMULATIONS] = {0}, disagreement = 0;
    random_state = 5;
    for (int k = 0; k < SYSTEMS; k++) {
        static const mass_kind kinds[3] = {MASS_DEFINITE, MASS_SINGULAR, MASS_INDEFINITE};
        random_system(kinds[k % 3], 16, 6, &sys);
        solve_exactly(&sys, sys.Q, sys.br, &ideal);
        solve_exactly(&sys, sys.C, NULL, &extra);
        hmi_dynamics *d = workspace(sys.n, sys.m);
        hmi_equations e = equations_of(&sys);
        for (int f = HM_FORMULATION_UK; f < HMI_FORMULATIONS; f++) {
            hmi_options options = hmi_options_default();
            hmi_solution s;
            double error = 0, condition = 0;
            options.formulation = (hm_formulation)f;
            options.refinements = 0;
            options.effort = HMI_COMPARE;
            if (hmi_dynamics_solve(d, &e, &options, &s) == HM_ERR_USAGE)
                continue;
            for (int i = 0; i < sys.n; i++) {
                error = fmax(error, fabs(s.qdd[i] - ideal.x[i] - extra.x[i]));
                condition = fmax(condition, ideal.cx[i] + extra.cx[i]);
            }
            worst[f] = fmax(worst[f], error / (condition * EPSILON));
            disagreement = fmax(disagreement, s.disagreement);
        }
        hmi_dynamics_destroy(d);
    }
    for (int f = HM_FORMULATION_UK; f < HMI_FORMULATIONS; f++) {
        print_message("%s %.2g, ", hm_formulation_name((hm_formulation)f), worst[f]);
        assert_true(worst[f] > 0 && worst[f] < 1e4);
    }
    print_message("disagreement %.2g\n", disagreement);
    assert_true(disagreement > 0 && disagreement < 1e-8);
}

/* Rows at an angle of 1e-8 are independent: a decision on the Gram matrix could not see it. */
static void nearly_dependent(void **state)
{
    (void)state;
    record all = {0};
    hmi_options options = hmi_options_default();
    random_state = 7;
    for (int k = 0; k < SYSTEMS; k++) {
        hmi_solution s;
        random_system(MASS_DEFINITE, 16, 6, &sys);
        bring_rows_together(&sys, 1e-8);
        solve_exactly(&sys, sys.Q, sys.br, &ideal);
        solve_exactly(&sys, sys.C, NULL, &extra);
        hmi_dynamics *d = workspace(sys.n, sys.m);
        hmi_equations e = equations_of(&sys);
        assert_int_equal(hmi_dynamics_solve(d, &e, &options, &s), HM_OK);
        assert_int_equal(s.verdict.rank_A, sys.rank);
        check_solution(&s, &all);
        hmi_dynamics_destroy(d);
    }
    print_message("rows at 1e-8: errors in condition x epsilon: q'' %.2g, force %.2g\n", all.qdd,
                  all.force);
    assert_true(all.qdd <= 16 && all.force <= 16);
}

/* Another system: rows scaled by powers of two, coordinates in other units. */
static test_system other;

static void change_units(void)
{
    double unit[MOST_N], row[MOST_M];
    other = sys;
    for (int j = 0; j < sys.n; j++)
        unit[j] = ldexp(1, random_int(-20, 20));
    for (int i = 0; i < sys.m; i++)
        row[i] = ldexp(1, random_int(-40, 40));
    for (int i = 0; i < sys.n; i++) {
        other.Q[i] *= unit[i];
        other.C[i] *= unit[i];
        for (int j = 0; j < sys.n; j++) {
            other.M[i * sys.n + j] *= unit[i] * unit[j];
            for (int k = 0; k < sys.m && i == 0; k++)
                other.A[k * sys.n + j] *= unit[j] * row[k];
        }
    }
    for (int k = 0; k < sys.m; k++)
        other.b[k] *= row[k];
    memcpy(other.br, unit, sizeof unit); /* kept for the comparison */
}

/* Powers of two change nothing at all: the same bits. */
static void units_do_not_matter(void **state)
{
    (void)state;
    hmi_options options = hmi_options_default();
    options.effort = HMI_COMPARE;
    random_state = 11;
    for (int k = 0; k < SYSTEMS; k++) {
        static double qdd[MOST_N];
        hmi_solution s;
        random_system((mass_kind)(k % 3), 16, 3, &sys);
        change_units();
        hmi_dynamics *d = workspace(sys.n, sys.m);
        hmi_equations e = equations_of(&sys), o = equations_of(&other);
        assert_int_equal(hmi_dynamics_solve(d, &e, &options, &s), HM_OK);
        memcpy(qdd, s.qdd, sizeof(double) * (size_t)sys.n);
        assert_int_equal(hmi_dynamics_solve(d, &o, &options, &s), HM_OK);
        for (int i = 0; i < sys.n; i++)
            assert_true(s.qdd[i] * other.br[i] == qdd[i]);
        hmi_dynamics_destroy(d);
    }
}

/* Rows repeated, with factors: the motion of the independent ones. */
static void repetition_does_not_matter(void **state)
{
    (void)state;
    hmi_options options = hmi_options_default();
    record all = {0};
    random_state = 13;
    for (int k = 0; k < SYSTEMS; k++) {
        hmi_solution s;
        random_system((mass_kind)(k % 3), 16, 0, &sys);
        for (int extra_rows = random_int(1, 6); extra_rows && sys.rank; extra_rows--, sys.m++) {
            int from = random_int(0, sys.m - 1);
            double factor = pow(10, 6 * random_real());
            for (int j = 0; j < sys.n; j++)
                sys.A[sys.m * sys.n + j] = factor * sys.A[from * sys.n + j];
            for (int j = 0; j < sys.rank; j++)
                sys.F[sys.m * sys.rank + j] = factor * sys.F[from * sys.rank + j];
            sys.b[sys.m] = factor * sys.b[from];
        }
        solve_exactly(&sys, sys.Q, sys.br, &ideal);
        solve_exactly(&sys, sys.C, NULL, &extra);
        hmi_dynamics *d = workspace(sys.n, sys.m);
        hmi_equations e = equations_of(&sys);
        assert_int_equal(hmi_dynamics_solve(d, &e, &options, &s), HM_OK);
        check_solution(&s, &all);
        hmi_dynamics_destroy(d);
    }
    assert_true(all.qdd <= 16 && all.force <= 16 && all.lambda <= 100);
}

/* (q'' - a)^T M (q'' - a) grows along every virtual displacement. */
static double gauss_function(const test_system *s, const double *x, double *size)
{
    double sum = 0;
    *size = 0;
    for (int i = 0; i < s->n; i++) {
        sum -= x[i] * (s->Q[i] + s->C[i]);
        *size += fabs(x[i] * (s->Q[i] + s->C[i]));
        for (int j = 0; j < s->n; j++) {
            sum += 0.5 * x[i] * s->M[i * s->n + j] * x[j];
            *size += fabs(x[i] * s->M[i * s->n + j] * x[j]);
        }
    }
    return sum;
}

static void gauss_is_optimal(void **state)
{
    (void)state;
    hmi_options options = hmi_options_default();
    random_state = 17;
    for (int k = 0; k < SYSTEMS; k++) {
        hmi_solution s;
        double x[MOST_N];
        random_system(k % 2 ? MASS_DEFINITE : MASS_SINGULAR, 16, 6, &sys);
        hmi_dynamics *d = workspace(sys.n, sys.m);
        hmi_equations e = equations_of(&sys);
        options.formulation = HM_FORMULATION_GAUSS;
        assert_int_equal(hmi_dynamics_solve(d, &e, &options, &s), HM_OK);
        double size, least = gauss_function(&sys, s.qdd, &size);
        for (int c = 0; c < s.freedom; c++)
            for (int sign = -1; sign <= 1; sign += 2) {
                for (int i = 0; i < sys.n; i++)
                    x[i] = s.qdd[i] + sign * 1e-3 * s.virtual_displacements[c * sys.n + i];
                assert_true(gauss_function(&sys, x, &size) >= least - 1e-14 * size);
            }
        hmi_dynamics_destroy(d);
    }
}

/* The fast path is right where it is taken, and hands over where it is not. */
static void fast_path(void **state)
{
    (void)state;
    double worst = 0;
    random_state = 19;
    for (int k = 0; k < SYSTEMS; k++) {
        static double qdd[MOST_N], lambda[MOST_M];
        random_system((mass_kind)(k % 4), 16, 6, &sys);
        solve_exactly(&sys, sys.Q, sys.br, &ideal);
        hmi_dynamics *d = workspace(sys.n, sys.m);
        assert_int_equal(hmi_accelerate(d, sys.M, sys.Q, sys.A, sys.b, qdd, lambda), HM_OK);
        double error = 0, size = 0;
        for (int i = 0; i < sys.n; i++) {
            error = fmax(error, fabs(qdd[i] - ideal.x[i]));
            size = fmax(size, fmax(fabs(ideal.x[i]), EPSILON * ideal.cx[i] / 1e-11));
        }
        worst = fmax(worst, error / size);
        hmi_dynamics_destroy(d);
    }
    print_message("fast path: relative error %.2g\n", worst);
    assert_true(worst < 1e-10);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(definite),
        cmocka_unit_test(ill_conditioned),
        cmocka_unit_test(singular),
        cmocka_unit_test(indefinite),
        cmocka_unit_test(without_refinement),
        cmocka_unit_test(nearly_dependent),
        cmocka_unit_test(units_do_not_matter),
        cmocka_unit_test(repetition_does_not_matter),
        cmocka_unit_test(gauss_is_optimal),
        cmocka_unit_test(fast_path),
    };
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    flint_cleanup();
    return failed;
}
