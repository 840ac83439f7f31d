/* Runs of systems beyond the dense solve: energy and constraints are kept, initial states are moved,
 * redundant rows and inputs of parameters work, what does not apply is refused; the compiled solve
 * of systems of middle size gives the motion that the dense one gives. */
#include "support/check.h"
#include "support/motion.h"

#include "dynamics/sim/sim.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define CHAIN(count, start)                                                                        \
    "param N = " #count ", m = 1, l = 1, g = 9.81\n"                                               \
    "coord x[1..N], y[1..N], z[1..N]\n"                                                            \
    "for i = 1..N { kinetic m/2*(x[i]'^2 + y[i]'^2 + z[i]'^2)\n  potential m*g*z[i]\n"             \
    "  initial " start " }\n"                                                                      \
    "constraint rod[1]: x[1]^2 + y[1]^2 + z[1]^2 = l^2\n"                                          \
    "for i = 2..N {\n"                                                                             \
    "  constraint rod[i]: (x[i]-x[i-1])^2 + (y[i]-y[i-1])^2 + (z[i]-z[i-1])^2 = l^2 }\n"           \
    "simulate 0 .. 0.2\n"

#define STRAIGHT "x[i] = i*l"
#define WAVY     "x[i] ~ i*l, y[i] ~ 0.02*sin(i), x[i]' ~ 0.1*sin(2*i)"

/* 3000 coordinates, from a state that is not on the constraints. */
static void test_chain(void **state)
{
    (void)state;
    motion *m = motion_text(CHAIN(1000, WAVY));
    m->options.rtol = 1e-9;
    motion_must(m);
    assert_in_range(m->result.moved_count, 2000, 6000);
    assert_true(motion_violation(m) < 1e-11);
    assert_true(fabs(m->result.balance_error) < 1e-6); /* where m g l N is 1e4 */
    motion_close(m);
}

#define SPIRAL "x[i] ~ 3*i*cos(i), z[i] ~ 3*i*sin(i)"
#define ARCH   "x[i] ~ i/10, z[i] ~ sqrt(i)"

/* Rods of length one between points that are up to 3000 apart; and a motion whose drift control has to
 * do with a few rods only, the others being far away. */
static void test_far_chain(void **state)
{
    (void)state;
    motion *m = motion_text(CHAIN(500, SPIRAL));
    m->options.end = 0.01;
    motion_must(m);
    assert_true(motion_violation(m) < 1e-11);
    motion_close(m);
    m = motion_text(CHAIN(1000, ARCH));
    motion_must(m);
    assert_true(motion_violation(m) < 1e-11);
    assert_true(m->result.rejected < 5);
    motion_close(m);
}

/* Without constraints to hold it back the end falls freely for a while; z = -g t^2/2 there: rods
 * that are straight along x carry no force at first order. */
static void test_fall(void **state)
{
    (void)state;
    motion *m = motion_text(CHAIN(200, STRAIGHT));
    m->options.end = 0.05;
    motion_must(m);
    assert_true(fabs(motion_value(m, "z[200]") + 9.81 * 0.05 * 0.05 / 2) < 1e-9);
    motion_close(m);
}

/* Every rod twice, once as a velocity constraint. */
static void test_redundant(void **state)
{
    (void)state;
    motion *m = motion_text(CHAIN(
        140, STRAIGHT) "for i = 2..N { constraint w[i]: (x[i]-x[i-1])*(x[i]'-x[i-1]') + "
                       "(y[i]-y[i-1])*(y[i]'-y[i-1]') + (z[i]-z[i-1])*(z[i]'-z[i-1]') = 0 }\n");
    motion *plain = motion_text(CHAIN(140, STRAIGHT));
    motion_must(m);
    motion_must(plain);
    assert_true(motion_violation(m) < 1e-11);
    check_close("q", m->n, m->sim->state.q, plain->sim->state.q, 1e-7);
    motion_close(m);
    motion_close(plain);
}

/* 90 coordinates: the compiled solve is used, and gives the motion of the dense one. */
static void test_middle(void **state)
{
    (void)state;
    motion *fast = motion_text(CHAIN(30, WAVY)), *dense = motion_text(CHAIN(30, WAVY));
    fast->options.rtol = dense->options.rtol = 1e-10;
    dense->options.formulation = HM_FORMULATION_UK;
    assert_non_null(fast->sim->solve.compiled);
    motion_must(fast);
    motion_must(dense);
    check_close("q", fast->n, fast->sim->state.q, dense->sim->state.q, 1e-8);
    check_close("v", fast->n, fast->sim->state.v, dense->sim->state.v, 1e-7);
    motion_close(fast);
    motion_close(dense);
}

/* A rheonomic constraint does work, which the ledger finds though the compiled solve leaves M and Q
 * of another state behind. */
static void test_work(void **state)
{
    (void)state;
    motion *m = motion_text("param N = 100\ncoord x[1..N]\n"
                            "for i = 1..N { kinetic 1/2*x[i]'^2\n potential x[i]^2/2\n"
                            "  initial x[i] = 0, x[i]' ~ 0 }\n"
                            "for i = 1..N { constraint c[i]: x[i] = i/N*sin(t) }\n"
                            "simulate 0 .. 2\n");
    assert_non_null(m->sim->solve.compiled);
    motion_must(m);
    assert_true(fabs(m->result.balance_error) < 1e-8);
    assert_true(fabs(motion_value(m, "x[100]") - sin(2)) < 1e-12);
    motion_close(m);
}

static void test_refusals(void **state)
{
    (void)state;
    static const char *const methods[] = {"radau", "rattle", "midpoint", "dla"};
    for (size_t k = 0; k < sizeof methods / sizeof *methods; k++) {
        motion *m = motion_text(CHAIN(140, STRAIGHT));
        m->options.method = methods[k];
        m->options.step = 0.01;
        assert_int_not_equal(motion_run(m), HM_OK);
        assert_true(motion_says(m, "beyond 400 coordinates"));
        motion_close(m);
    }
    motion *m = motion_text(CHAIN(140, STRAIGHT));
    m->options.formulation = HM_FORMULATION_UK;
    assert_int_not_equal(motion_run(m), HM_OK);
    assert_true(motion_says(m, "not available beyond"));
    motion_close(m);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_chain),    cmocka_unit_test(test_far_chain),
        cmocka_unit_test(test_fall),     cmocka_unit_test(test_redundant),
        cmocka_unit_test(test_middle),   cmocka_unit_test(test_work),
        cmocka_unit_test(test_refusals),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
