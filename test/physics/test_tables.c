/* Tables, floor, ceil and mod in runs, by every method, against closed forms and against the same
 * piecewise polynomials written with `if`. */
#include "support/check.h"
#include "support/motion.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static const char *const methods[] = {"auto",     "rk5", "dop853", "taylor", "radau", "rattle",
                                      "midpoint", "dla", "cvode",  "ida",    NULL};

static bool is_fixed(const char *method)
{
    return !strcmp(method, "dla") || !strcmp(method, "rattle") || !strcmp(method, "midpoint");
}

static void check_end(const char *text, const char *name, double expected, double tolerance)
{
    for (size_t k = 0; methods[k]; k++) {
        motion *m = motion_text(text);
        m->options.method = methods[k];
        m->options.rtol = 1e-9;
        m->options.atol = 1e-11;
        if (is_fixed(methods[k]))
            m->options.step = 0.002;
        motion_must(m);
        check_number(methods[k], motion_value(m, name), expected,
                     is_fixed(methods[k]) ? 2e-4 : tolerance);
        motion_close(m);
    }
}

/* x'' = u(t), from rest at 0 to t = 3: x = int (3 - s) u(s) ds. A jump by 1 at k gives (3 - k)^2/2. */
static void test_inputs(void **state)
{
    (void)state;
    const struct {
        const char *table, *input;
        double x;
    } cases[] = {{"table f(s) = [[0, 0], [1, 1], [3, -1]] linear", "f(t)", 7.0 / 6 + 2.0 / 3},
                 {"table f(s) = [[0, 0], [1, 1]] linear hold", "f(t)", 7.0 / 6 + 2},
                 {"table f(s) = [[0, 0], [1, 1]] linear extend", "f(t)", 4.5},
                 {"table f(s) = [[0, 0], [1, 1], [2, 0]] linear periodic", "f(t)",
                  7.0 / 6 + 5.0 / 6 + 1.0 / 6},
                 {"", "floor(t)", 2.5},
                 {"", "ceil(t)", 4.5 + 2.5},
                 {"", "mod(t, 1)", 4.5 - 2.5},
                 {"", "floor(2*t)", 0.5 * (6.25 + 4 + 2.25 + 1 + 0.25)}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char text[400];
        snprintf(text, sizeof text,
                 "%s\ncoord x; kinetic x'^2/2; input u = %s; force x = u; simulate 0 .. 3 every 1",
                 cases[i].table, cases[i].input);
        check_end(text, "x", cases[i].x, 1e-8);
    }
}

/* The same cubic pieces by `if`: f on [0, 1] and [1, 2] is the natural spline through 0, 1, 0, that is
 * (3 s - s^3)/2 and its mirror image. */
static void test_cubic_force(void **state)
{
    (void)state;
    static const char *const body = "coord x; kinetic x'^2/2; initial x = 0.2, x' = 0.7; "
                                    "simulate 0 .. 6 every 1; force x = ";
    char by_table[400], by_if[400];
    snprintf(by_table, sizeof by_table,
             "table f(s) = [[0, 0], [1, 1], [2, 0]] cubic extend\n%s-f(x) + 0.3", body);
    snprintf(by_if, sizeof by_if,
             "let p(s) = (3*s - s^3)/2\nlet g(s) = if(s < 0, 1.5*s, if(s < 1, p(s), if(s < 2, "
             "p(2 - s), -1.5*(s - 2))))\n%s-g(x) + 0.3",
             body);
    motion *m = motion_text(by_if);
    m->options.method = "taylor";
    m->options.rtol = 1e-13;
    m->options.atol = 1e-15;
    motion_must(m);
    double expected = motion_value(m, "x");
    motion_close(m);
    check_end(by_table, "x", expected, 2e-8);
}

/* A potential well: the natural spline through 1, 0, 1 is (3 s^2 - s^3)/2 with s = |x|, and goes on with
 * slope 3/2. Energy is 1.75 for a start at rest at 1.5. */
static double well(double x)
{
    double s = fabs(x);
    return s < 1 ? (3 * s * s - s * s * s) / 2 : 1 + 1.5 * (s - 1);
}

static void test_potential(void **state)
{
    (void)state;
    const char *const text = "table V(s) = [[-1, 1], [0, 0], [1, 1]] cubic extend\n"
                             "coord x; kinetic x'^2/2; potential V(x); initial x = 1.5; "
                             "simulate 0 .. 20 every 1";
    for (size_t k = 0; methods[k]; k++) {
        motion *m = motion_text(text);
        m->options.method = methods[k];
        m->options.rtol = 1e-10;
        m->options.atol = 1e-12;
        if (is_fixed(methods[k]))
            m->options.step = 0.002;
        motion_must(m);
        double v = motion_value(m, "x'"), x = motion_value(m, "x");
        check_number(methods[k], v * v / 2 + well(x), 1.75, is_fixed(methods[k]) ? 1e-4 : 1e-7);
        motion_close(m);
    }
}

/* A point follows a cam: y = f(x), x turning evenly. */
static void test_cam(void **state)
{
    (void)state;
    const char *const text =
        "table lift(a) = [[0, 0], [1, 0.5], [2, 0.2], [3, 0.9], [4, 0]] cubic periodic\n"
        "coord a, y; kinetic (a'^2 + y'^2)/2; constraint turn: a = t; constraint cam: y = lift(a)\n"
        "initial a = 0, y ~ 0; simulate 0 .. 6.5 every 0.5\noutput push = multiplier(cam)";
    /* scipy.interpolate.CubicSpline([0, 1, 2, 3, 4], [0, .5, .2, .9, 0], bc_type='periodic')(2.5) */
    check_end(text, "y", 0.60625, 1e-8);
}

/* Two arguments: bilinear is exact for x y. */
static void test_grid(void **state)
{
    (void)state;
    const char *const text =
        "table f(x, y) = [[0,0,0],[0,1,0],[0,3,0],[1,0,0],[1,1,1],[1,3,3],[2,0,0],[2,1,2],[2,3,6]] "
        "linear extend\n"
        "coord x, y; kinetic (x'^2 + y'^2)/2; potential f(x, y); initial x = 1.5, y = 1.3\n"
        "simulate 0 .. 2 every 1";
    /* x'' = -y, y'' = -x: (x + y) = 2.8 cos t, (x - y) = 0.2 cosh t */
    check_end(text, "x", 1.4 * cos(2.0) + 0.1 * cosh(2.0), 1e-7);
    check_end(text, "y", 1.4 * cos(2.0) - 0.1 * cosh(2.0), 1e-7);
}

/* A floor of the velocity slides: v' = -1 - 2 floor(v) is +1 below 0 and -1 above it. */
static void test_sliding(void **state)
{
    (void)state;
    motion *m = motion_text("coord x; kinetic x'^2/2; force x = -1 - 2*floor(x'); "
                            "initial x' = 0.5; simulate 0 .. 3 every 1");
    motion_must(m);
    check_number("v", motion_value(m, "x'"), 0, 1e-10);
    check_number("x", motion_value(m, "x"), 0.125, 1e-9);
    motion_close(m);
}

/* A run that leaves a table says when and which. */
static void test_left(void **state)
{
    (void)state;
    motion *m = motion_text("table push(s) = [[-1, 1], [0, 1], [2, 1]] linear\n"
                            "coord x; kinetic x'^2/2; force x = push(x) - 1; "
                            "initial x' = 1; simulate 0 .. 5 every 1");
    assert_int_not_equal(motion_run(m), HM_OK);
    check_number("time", m->result.t_end, 2, 1e-9);
    assert_true(motion_says(m, "table 'push' has no value above 2"));
    motion_close(m);
    m = motion_text("table push(s) = [[0, 1], [5, 1]] linear\n" /* the end itself is inside */
                    "coord x; kinetic x'^2/2; force x = push(t); simulate 0 .. 5 every 1");
    motion_must(m);
    check_number("x", motion_value(m, "x"), 12.5, 1e-9);
    motion_close(m);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_inputs),    cmocka_unit_test(test_cubic_force),
        cmocka_unit_test(test_potential), cmocka_unit_test(test_cam),
        cmocka_unit_test(test_grid),      cmocka_unit_test(test_sliding),
        cmocka_unit_test(test_left)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
