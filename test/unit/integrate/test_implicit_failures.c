/* Implicit methods where their equations have no solution, or the motion ends: the run stops at the last
 * good state with a reason. Limits on steps, first steps, dependent rows, forces that stick. */
#include "support/check.h"
#include "support/motion.h"

#include <math.h>
#include <string.h>

static motion *prepare(const char *text, const char *method, double step)
{
    motion *m = motion_text(text);
    m->options.method = method;
    m->options.step = step;
    return m;
}

static void check_failed(motion *m, const char *reason)
{
    assert_int_not_equal(motion_run(m), HM_OK);
    assert_int_equal(m->result.status, HM_RUN_FAILED);
    if (!motion_says(m, reason))
        fail_msg("'%s' does not say '%s'", m->result.message, reason);
    assert_true(isfinite(motion_value(m, "x")) && isfinite(motion_value(m, "x'")));
}

/* ---- equations of a step without a solution ---- */

/* x'' = 6 x^2 with x = (1 - t)^-2: at t = 1 there is no motion, nor a solution of the step's equations
 * a little before. */
static void test_blow_up(void **state)
{
    (void)state;
    static const struct {
        const char *method;
        double step;
    } cases[] = {
        {"midpoint", 0.02}, {"rattle", 0.02}, {"dla", 0.02},
#ifdef HAMEL_SUNDIALS
        {"cvode", 0},       {"ida", 0},
#endif
    };
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        motion *m = prepare("coord x; kinetic x'^2/2; potential -2*x^3; initial x = 1, x' = 2\n"
                            "simulate 0 .. 3",
                            cases[k].method, cases[k].step);
        check_failed(m, "stopped at t = ");
        check_number(cases[k].method, m->result.t_end, 1, 0.15);
        motion_close(m);
    }
}

/* Equations that have no value beyond t = 1. */
static void test_no_value(void **state)
{
    (void)state;
    static const char *const methods[] = {
        "midpoint", "rattle", "dla", "radau",
#ifdef HAMEL_SUNDIALS
        "cvode",    "ida",
#endif
    };
    for (size_t k = 0; k < sizeof methods / sizeof *methods; k++) {
        motion *m = prepare("coord x; kinetic x'^2/2; potential -x*sqrt(1 - t)\n"
                            "simulate 0 .. 2",
                            methods[k], 0.03);
        check_failed(m, "stopped at t = ");
        double left = fmax(1 - m->result.t_end, 0);
        check_number(methods[k], m->result.t_end, 1, 0.05);
        check_number("x'", motion_value(m, "x'"), 2.0 / 3 * (1 - pow(left, 1.5)), 2e-3);
        motion_close(m);
    }
}

/* The same for what only constraints and their right-hand sides know. */
static void test_constraint_ends(void **state)
{
    (void)state;
    static const char *const methods[] = {"midpoint", "rattle", "dla", "radau", "dop853"};
    for (size_t k = 0; k < sizeof methods / sizeof *methods; k++) {
        motion *m = prepare("coord x, y; kinetic (x'^2 + y'^2)/2\n"
                            "constraint c: y = sqrt(1.005 - t)^3; initial x = 0, x' = 1, y ~ 1\n"
                            "simulate 0 .. 2",
                            methods[k], 0.01);
        check_failed(m, "stopped at t = ");
        check_number(methods[k], m->result.t_end, 1.005, 0.02);
        check_number("x", motion_value(m, "x"), m->result.t_end, 1e-9);
        motion_close(m);
    }
}

/* ---- stiff and nonlinear steps ---- */

/* A hard spring with steps a tenth of its period: the iteration needs its Jacobian anew, and the
 * energy of the midpoint rule stays within bounds. */
static void test_hard_spring(void **state)
{
    (void)state;
    motion *m = prepare("coord x; kinetic x'^2/2; potential 50*x^4; initial x = 1\n"
                        "simulate 0 .. 5",
                        "midpoint", 0.05);
    motion_must(m);
    check_number("energy", m->result.energy_final, 50, 0.1);
    assert_int_equal(m->result.steps, 100);
    motion_close(m);
}

/* ---- options of steps ---- */

/* A largest step holds for methods of other libraries too; a first step is taken as given. */
static void test_largest_step(void **state)
{
    (void)state;
    static const char *const methods[] = {
        "dop853", "rk5", "radau", "taylor",
#ifdef HAMEL_SUNDIALS
        "cvode",  "ida",
#endif
    };
    for (size_t k = 0; k < sizeof methods / sizeof *methods; k++) {
        motion *m = prepare("coord x; kinetic x'^2/2; potential x^2/2; initial x = 1\n"
                            "simulate 0 .. 2",
                            methods[k], 1e-3);
        m->options.largest_step = 0.05;
        m->options.rtol = 1e-5;
        motion_must(m);
        assert_true(m->result.steps >= 40);
        check_number(methods[k], motion_value(m, "x"), cos(2), 1e-3);
        motion_close(m);
    }
}

/* ---- what implicit methods cannot follow ---- */

/* Friction that sticks: from the start, or from t = 1 on, where the block comes to rest. Constraints,
 * of which there are none, are not to blame. */
static void check_sticks(const char *method, double speed)
{
    motion *m = prepare("coord x; kinetic x'^2/2; force x = -2*sign(x'); simulate 0 .. 3", method,
                        0.01);
    hm_sim_set_state(m->sim, 0, NULL, &speed, NULL);
    check_failed(m, "a force sticks at a discontinuity here, which this method cannot follow");
    assert_false(motion_says(m, "lose rank"));
    check_number(method, m->result.t_end, speed / 2, 1e-6);
    check_number("x", motion_value(m, "x"), speed * speed / 4, 1e-5);
    motion_close(m);
}

static void test_sticks(void **state)
{
    (void)state;
    check_sticks("dla", 0);
    check_sticks("rattle", 0);
#ifdef HAMEL_SUNDIALS
    check_sticks("ida", 0);
    check_sticks("ida", 2);
#endif
}

/* Events restart methods that keep a history: bounces at 1, 3, 5 of x = 1 - t^2, elastic. */
static void test_bounces(void **state)
{
    (void)state;
    static const char *const methods[] = {
        "midpoint", "rattle", "dla", "radau",
#ifdef HAMEL_SUNDIALS
        "cvode",    "ida",
#endif
    };
    for (size_t k = 0; k < sizeof methods / sizeof *methods; k++) {
        motion *m = prepare("coord x; kinetic x'^2/2; force x = -2; initial x = 1\n"
                            "event floor: x = 0 falling set x' = -x'; simulate 0 .. 6",
                            methods[k], 0.02);
        motion_must(m);
        assert_int_equal(m->result.event_count, 3);
        for (int i = 0; i < 3; i++)
            check_number(methods[k], m->result.events[i].t, 1 + 2 * i, 1e-6);
        check_number("x", motion_value(m, "x"), 1, 1e-5);
        motion_close(m);
    }
}

#ifdef HAMEL_SUNDIALS
/* ida solves for multipliers: rows that depend on each other are not for it. */
static void test_dependent_rows(void **state)
{
    (void)state;
    motion *m = prepare("coord x, y; kinetic (x'^2 + y'^2)/2; potential 9.81*y\n"
                        "constraint one: x^2 + y^2 = 1; constraint two: 2*x^2 + 2*y^2 = 2\n"
                        "initial x = 1, y = 0; simulate 0 .. 1",
                        "ida", 0);
    assert_int_equal(motion_run(m), HM_ERR_USAGE);
    assert_true(motion_says(m, "ida needs independent constraints"));
    motion_close(m);
    m = prepare("coord x, y; kinetic (x'^2 + y'^2)/2; potential 9.81*y\n"
                "constraint one: x^2 + y^2 = 1; initial x = 1, y = 0; simulate 0 .. 1",
                "ida", 0);
    motion_must(m);
    assert_true(m->result.balance_error < 1e-5);
    assert_true(motion_violation(m) < 1e-6);
    motion_close(m);
}
#endif

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_blow_up),         cmocka_unit_test(test_no_value),
        cmocka_unit_test(test_constraint_ends), cmocka_unit_test(test_hard_spring),
        cmocka_unit_test(test_largest_step),    cmocka_unit_test(test_sticks),
        cmocka_unit_test(test_bounces),
#ifdef HAMEL_SUNDIALS
        cmocka_unit_test(test_dependent_rows),
#endif
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
