/* Inputs, powers and constraints that are not smooth, by every method, against closed forms.
 *
 * Adaptive methods agree to their tolerance; fixed steps to the square of theirs. */
#include "support/check.h"
#include "support/motion.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static const char *const methods[] = {"auto",     "rk5", "dop853", "taylor", "radau", "rattle",
                                      "midpoint", "dla", "cvode",  "ida",    NULL};

static bool is_discrete(const char *method)
{
    return !strcmp(method, "dla") || !strcmp(method, "rattle");
}

static bool is_fixed(const char *method)
{
    return !strcmp(method, "midpoint") || is_discrete(method);
}

static motion *open_with(const char *text, const char *method)
{
    motion *m = motion_text(text);
    m->options.method = method;
    if (is_fixed(method))
        m->options.step = 0.004;
    return m;
}

/* One value at the end, by all methods; steps stay few. */
static void check_end(const char *text, const char *name, double expected, double tolerance)
{
    for (size_t k = 0; methods[k]; k++) {
        if (is_discrete(methods[k]) && strstr(text, "state"))
            continue; /* they do not apply */
        motion *m = open_with(text, methods[k]);
        motion_must(m);
        check_number(methods[k], motion_value(m, name), expected,
                     is_fixed(methods[k]) ? 2e-4 : tolerance);
        assert_true(m->result.steps + m->result.rejected < 8000);
        motion_close(m);
    }
}

/* ---- inputs ---------------------------------------------------------------------------------- */

static void test_inputs(void **state)
{
    (void)state;
    const struct {
        const char *input;
        double x; /* at t = 3, from rest at 0 */
    } cases[] = {{"if(t < 1, 0, 1)", 2},         {"max(0, t - 1)", 8.0 / 6},
                 {"sign(t - 1)", -0.5},          {"abs(t - 1)", 1.0 / 3 + 4.0 / 3 + 1},
                 {"min(t, 2)", 8.0 / 6 + 2 + 1}, {"if(t < 1, 0, if(t < 2, 1, -1))", 0.5 + 1 - 0.5}};
    char text[300];
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const char *const uses[] = {"force x = u", "potential -u*x"};
        for (int k = 0; k < 2; k++) {
            snprintf(text, sizeof text,
                     "coord x; kinetic x'^2/2; input u = %s; %s; simulate 0 .. 3 every 1",
                     cases[i].input, uses[k]);
            check_end(text, "x", cases[i].x, 1e-7);
        }
    }
}

/* Of coordinates and velocities, in forces and in rates of states: x = t. */
static void test_inputs_of_the_motion(void **state)
{
    (void)state;
    check_end("coord x, y; kinetic (x'^2 + y'^2)/2; initial x' = 1; input u = max(0, x - 1)\n"
              "force y = u; simulate 0 .. 3 every 1",
              "y", 8.0 / 6, 1e-7);
    check_end("coord x, y; kinetic (x'^2 + y'^2)/2; force x = 1; input u = if(x' > 1, 1, 0)\n"
              "force y = u; simulate 0 .. 3 every 1",
              "y", 2, 1e-7);
    check_end("coord x, y; kinetic (x'^2 + y'^2)/2; input u = if(cos(2*t) > 0.9, 10, 0)\n"
              "state z' = u; force y = z; simulate 0 .. pi every 1",
              "y'", 10 * acos(0.9) * M_PI / 2, 1e-6);
}

/* ---- powers ---------------------------------------------------------------------------------- */

/* x_max/v times this is the time from contact to rest of x'' = -k x^1.5:
 * int_0^1 du/sqrt(1 - u^2.5) = sqrt(pi) gamma(1.4)/gamma(0.9). */
static double quarter(void)
{
    return sqrt(M_PI) * tgamma(1.4) / tgamma(0.9);
}

/* A ball meets an elastic half-space at t = 0.1 and leaves with the speed it had. */
static void test_hertz(void **state)
{
    (void)state;
    const char *const forces[] = {"1000*max(0, -x)^1.5", "if(x < 0, 1000*(-x)^1.5, 0)",
                                  "1000*sqrt(max(0, -x))^3", "if(-x > 0, 1000*sqrt(-x)^3, 0)"};
    double deepest = pow(5.0 / 4000, 0.4), contact = 2 * deepest * quarter();
    char text[300];
    for (int i = 0; i < 4; i++) {
        snprintf(text, sizeof text,
                 "coord x; kinetic x'^2/2; force x = %s; initial x = 0.1, x' = -1\n"
                 "simulate 0 .. 0.6 every 1",
                 forces[i]);
        check_end(text, "x", 0.6 - 0.1 - contact, 1e-7);
        check_end(text, "x'", 1, 1e-7);
    }
}

/* x'' = -|x|^1.5 sign x from x = 0: back at 0 after 2 quarters, with -x'; four of them are a period. */
static void test_stiffening_spring(void **state)
{
    (void)state;
    const char *const springs[] = {"force x = -abs(x)^1.5*sign(x)", "potential abs(x)^2.5/2.5",
                                   "force x = -x*sqrt(abs(x))"};
    double farthest = pow(1.25, 0.4), period = 4 * farthest * quarter();
    char text[300];
    for (int i = 0; i < 3; i++) {
        snprintf(text, sizeof text,
                 "coord x; kinetic x'^2/2; %s; initial x' = 1; simulate 0 .. %.17g every 1",
                 springs[i], 1.5 * period);
        check_end(text, "x", 0, 2e-7);
        check_end(text, "x'", -1, 2e-7);
    }
}

/* x'' = -|x'|^1.5 sign x' without and with a force that turns it round: 1/sqrt(v) grows with t/2. */
static void test_drag(void **state)
{
    (void)state;
    check_end("coord x; kinetic x'^2/2; force x = -abs(x')^1.5*sign(x'); initial x' = 1\n"
              "simulate 0 .. 5 every 1",
              "x'", 1 / (3.5 * 3.5), 1e-7);
    /* turned round: from rest after int_0^1 dv/(1 + v^1.5), then towards -1 */
    motion *reference = open_with("coord x; kinetic x'^2/2; force x = -1 + (-x')^1.5\n"
                                  "initial x' = -1e-14; simulate 0 .. 2 every 1",
                                  "dop853");
    reference->options.rtol = 1e-12;
    motion_must(reference);
    double turn = 0;
    for (int i = 0; i < 20000; i++) /* midpoint rule in v = u^2, which makes it smooth */ {
        double u = (i + 0.5) / 20000;
        turn += 2 * u / (1 + u * u * u) / 20000;
    }
    char text[200];
    snprintf(text, sizeof text,
             "coord x; kinetic x'^2/2; force x = -1 - abs(x')^1.5*sign(x'); initial x' = 1\n"
             "simulate 0 .. %.17g every 1",
             turn + 2);
    check_end(text, "x'", motion_value(reference, "x'"), 1e-6);
    motion_close(reference);
}

/* ---- constraints ----------------------------------------------------------------------------- */

/* Once differentiable, by t and by a coordinate: all methods pass them. */
static void test_smooth_constraints(void **state)
{
    (void)state;
    check_end("coord x, y; kinetic (x'^2 + y'^2)/2; constraint x = if(t < 1, 0, (t - 1)^2)\n"
              "simulate 0 .. 3 every 1",
              "x", 4, 1e-7);
    check_end("coord x, y; kinetic (x'^2 + y'^2)/2; input u = max(0, t - 1)^2; constraint x = u\n"
              "simulate 0 .. 3 every 1",
              "x'", 4, 1e-7);
    /* a bead on a straight wire that becomes a parabola: its way has the length t */
    double y = 2, length = y * sqrt(1 + 4 * y * y) / 2 + asinh(2 * y) / 4;
    char text[200];
    snprintf(text, sizeof text,
             "coord x, y; kinetic (x'^2 + y'^2)/2; initial y' = 1\n"
             "constraint x = max(0, y - 1)^2; simulate 0 .. %.17g every 1",
             1 + length);
    check_end(text, "y", 3, 1e-6);
}

/* A corner or a jump needs an impact: nobody runs over it without a word. */
static void test_constraints_that_jump(void **state)
{
    (void)state;
    const char *const constraints[] = {"x = if(t < 1, 0, t - 1)", "x = if(t < 1, 0, 1)",
                                       "x = max(0, y - 1)", "x = abs(y - 1)"};
    char text[200];
    for (int i = 0; i < 4; i++)
        for (size_t k = 0; methods[k]; k++) {
            snprintf(text, sizeof text,
                     "coord x, y; kinetic (x'^2 + y'^2)/2; initial y' = 1; constraint %s\n"
                     "simulate 0 .. 3 every 1",
                     constraints[i]);
            motion *m = open_with(text, methods[k]);
            assert_int_not_equal(motion_run(m), HM_OK);
            assert_true(motion_says(m, "constraint 'c1' jumps there"));
            assert_true(motion_says(m, "only an impact could follow it"));
            motion_close(m);
        }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_inputs),
        cmocka_unit_test(test_inputs_of_the_motion),
        cmocka_unit_test(test_hertz),
        cmocka_unit_test(test_stiffening_spring),
        cmocka_unit_test(test_drag),
        cmocka_unit_test(test_smooth_constraints),
        cmocka_unit_test(test_constraints_that_jump),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
