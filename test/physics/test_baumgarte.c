/* Drift control by feedback: rows of every level, by every method that takes it; exact motions.
 * Position rows obey phi'' + 2a phi' + b^2 phi = 0, velocity rows psi' + a psi = 0. */
#include "support/check.h"
#include "support/motion.h"

#include <math.h>
#include <string.h>

static const char *const methods[] = {"dop853", "rk5", "taylor", "radau"};
enum { METHODS = sizeof methods / sizeof *methods };

static motion *prepare(const char *text, const char *method)
{
    motion *m = motion_text(text);
    m->options.method = method;
    m->options.drift = "baumgarte";
    return m;
}

/* A blade that turns at 2 rad/s with speed 1.5 runs round a circle of radius 0.75. */
static void test_blade(void **state)
{
    (void)state;
    for (int k = 0; k < METHODS; k++) {
        motion *m = prepare("coord x, y, th; kinetic (x'^2 + y'^2 + th'^2)/2\n"
                            "constraint blade: y'*cos(th) = x'*sin(th)\n"
                            "initial x' = 1.5, y' = 0, th' = 2; simulate 0 .. 5",
                            methods[k]);
        motion_must(m);
        check_number(methods[k], motion_value(m, "x"), 0.75 * sin(10), 1e-6);
        check_number("y", motion_value(m, "y"), 0.75 * (1 - cos(10)), 1e-6);
        assert_string_equal(m->result.drift, "baumgarte");
        assert_true(motion_violation(m) < 1e-6);
        motion_close(m);
    }
}

/* Rows of all levels at once: a rod of length 1 that turns at 3 rad/s, a wheel that rolls, and an
 * acceleration that is given. */
static void test_all_levels(void **state)
{
    (void)state;
    for (int k = 0; k < METHODS; k++) {
        motion *m = prepare("coord x, y, s, f, z; kinetic (x'^2 + y'^2 + s'^2 + f'^2 + z'^2)/2\n"
                            "constraint rod: x^2 + y^2 = 1; constraint roll: s' = 0.5*f'\n"
                            "constraint push: z'' = cos(t)\n"
                            "initial x = 1, y = 0, y' = 3, f' = 2, s' ~ 1, z' = 0\n"
                            "simulate 0 .. 2",
                            methods[k]);
        motion_must(m);
        check_number(methods[k], motion_value(m, "x"), cos(6), 1e-6);
        check_number("y", motion_value(m, "y"), sin(6), 1e-6);
        check_number("s", motion_value(m, "s"), 2, 1e-8);
        check_number("z", motion_value(m, "z"), 1 - cos(2), 1e-8);
        motion_close(m);
    }
}

/* Twice with one sim: what was made for the first run serves the second. */
static void test_again(void **state)
{
    (void)state;
    for (int k = 0; k < METHODS; k++) {
        motion *m = prepare("param w = 1; coord x, y; kinetic (x'^2 + y'^2)/2\n"
                            "constraint rod: x^2 + y^2 = 1; initial x = 1, y = 0, y' = w\n"
                            "simulate 0 .. 1",
                            methods[k]);
        for (double w = 1; w < 4; w++) {
            hm_sim_set_state(m->sim, 0, (const double[]){1, 0}, (const double[]){0, w}, NULL);
            motion_must(m);
            check_number(methods[k], motion_value(m, "x"), cos(w), 1e-6);
        }
        m->options.drift = "project"; /* and another drift control after it */
        hm_sim_set_state(m->sim, 0, (const double[]){1, 0}, (const double[]){0, 2}, NULL);
        motion_must(m);
        check_number("projected", motion_value(m, "x"), cos(2), 1e-8);
        motion_close(m);
    }
}

/* Gains are those of the model, or of the options: stiffer springs leave less. */
static void test_gains(void **state)
{
    (void)state;
    double violation[2];
    for (int k = 0; k < 2; k++) {
        motion *m = motion_text("coord x, y; kinetic (x'^2 + y'^2)/2; potential 9.81*y\n"
                                "constraint rod: x^2 + y^2 = 1; initial x = 1, y = 0\n"
                                "simulate 0 .. 10 drift baumgarte(1, 1) rtol 1e-6 method dop853");
        check_number("gain", m->options.drift_gain[0], 1, 0);
        if (k == 1)
            m->options.drift_gain[0] = m->options.drift_gain[1] = 20;
        motion_must(m);
        violation[k] = motion_violation(m);
        motion_close(m);
    }
    print_message("violation %.1e, %.1e\n", violation[0], violation[1]);
    assert_true(violation[1] < 0.5 * violation[0]);
}

/* Gains of nothing are no drift control. */
static void test_no_gain(void **state)
{
    (void)state;
    double x[2];
    for (int k = 0; k < 2; k++) {
        motion *m = prepare("coord x, y; kinetic (x'^2 + y'^2)/2; potential 9.81*y\n"
                            "constraint rod: x^2 + y^2 = 1; initial x = 1, y = 0; simulate 0 .. 2",
                            "dop853");
        m->options.drift_gain[0] = m->options.drift_gain[1] = 0;
        if (k == 1)
            m->options.drift = "none";
        motion_must(m);
        x[k] = motion_value(m, "x");
        motion_close(m);
    }
    check_number("x", x[0], x[1], 1e-12);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_blade),   cmocka_unit_test(test_all_levels),
        cmocka_unit_test(test_again),   cmocka_unit_test(test_gains),
        cmocka_unit_test(test_no_gain),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
