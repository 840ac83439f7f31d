/* Friction along u/|u| as people write it: however |u| is spelt, the body comes to rest where, and when,
 * it must; and quotients that look like a direction without being one are integrated as they stand.
 * Exact solutions throughout. See src/integrate/events/friction_find.c. */
#include "support/check.h"
#include "support/motion.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* ---- |u| in other words ---- */

#define FREE "param k = 4; coord x, y, z; kinetic (x'^2 + y'^2 + z'^2)/2\n"

/* Friction 2 on a body of mass 1 with speed 2 along (0.6, -0.8): at rest from t = 1 on, 1 away. */
static const char *const spellings[] = {
    "let s = sqrt(x'*x' + y'*y'); force x = -2*x'/s, y = -2*y'/s\n",
    "let s = sqrt(k*x'^2 + y'^2*k); force x = -2*sqrt(k)*x'/s, y = -2*sqrt(k)*y'/s\n",
    "let s = sqrt((x'^2 + y'^2)/k); force x = -2*x'/(2*s), y = -2*y'/(s*2)\n",
    "let s = sqrt(x'^2/k + y'^2/k); force x = 2*x'/(-2*s), y = 2*y'/(-s*2)\n",
    "let s = hypot(-x', y'); force x = -2*x'/s, y = -2*y'/s\n",
    "let s = hypot(x', -y'); force x = 2*(-x')/s, y = 2*(-y')/s\n",
    "let s = hypot(x' - z', y'); force x = 2*(z' - x')/s, y = -2*y'/s\n",
    "let s = hypot(hypot(x', y'), z'); force x = -2*x'/s, y = -2*y'/s, z = -2*z'/s\n",
    "let s = hypot(x', hypot(y', z')); force x = -2*x'/s, y = -2*y'/s, z = -2*z'/s\n",
    "let s = sqrt(x'^2 + y'^2 + z'^2); force x = -2*x'/s, y = -2*y'/s, z = -2*z'/s\n",
    "let s = hypot(x', y'); force x = -(2 + s^2)*x'/(s*(1 + s^2/2)), y = -2*y'/s\n",
    "let s = hypot(x', y'); force x = -2*x'*cos(z)/(s*cos(z)), y = -2*y'/s\n",
    "let s = norm([x', y']); force x = -2*x'/s, y = -2*y'/s\n",
};

static void check_spelling(const char *spelling)
{
    char text[1000];
    snprintf(text, sizeof text, "%s%sinitial x' = 1.2, y' = -1.6; simulate 0 .. 3", FREE, spelling);
    motion *m = motion_text(text);
    motion_must(m);
    check_number(spelling, motion_value(m, "x"), 0.6, 1e-8);
    check_number(spelling, motion_value(m, "y"), -0.8, 1e-8);
    assert_true(fabs(motion_value(m, "x'")) + fabs(motion_value(m, "y'")) < 1e-12);
    check_number("work", m->result.work.impressed, -2, 1e-8);
    motion_close(m);
}

static void test_spellings(void **state)
{
    (void)state;
    for (size_t k = 0; k < sizeof spellings / sizeof *spellings; k++)
        check_spelling(spellings[k]);
}

/* One velocity twice: |u| = sqrt(2) |x'|. */
static void test_one_velocity_twice(void **state)
{
    (void)state;
    motion *m = motion_text("coord x; kinetic x'^2/2; force x = -2*sqrt(2)*x'/hypot(x', x')\n"
                            "initial x' = 2; simulate 0 .. 3");
    motion_must(m);
    check_number("x", motion_value(m, "x"), 1, 1e-9);
    assert_true(fabs(motion_value(m, "x'")) < 1e-12);
    motion_close(m);
}

/* ---- quotients without a direction ---- */

static void check_velocity(const char *text, double expected)
{
    motion *m = motion_text(text);
    motion_must(m);
    check_number(text, motion_value(m, "x'"), expected, 1e-8);
    motion_close(m);
}

#define PLANE "coord x, y; kinetic (x'^2 + y'^2)/2; simulate 0 .. 0.5\n"

static void test_not_a_norm(void **state)
{
    (void)state;
    /* velocities multiplied: v^(1/2) v' = -1 */
    check_velocity(PLANE "force x = -y'/sqrt(x'*y'); initial x' = 1, y' = 1", pow(0.25, 2.0 / 3));
    /* fourth powers, with y' = 0: v' = -v */
    check_velocity(PLANE "force x = -x'^3/sqrt(x'^4 + y'^4); initial x' = 1", exp(-0.5));
    /* a velocity below: v' = -1 */
    check_velocity(PLANE "force x = -x'/sqrt(x'^2/(1 + y'^2)); initial x' = 1", 0.5);
    check_velocity(PLANE "force x = -x'/sqrt(x'^2 + y'^2/(1 + y'^2)); initial x' = 1", 0.5);
    /* no square at all: exp(v/2)' = -1/2 */
    check_velocity(PLANE "force x = -1/sqrt(exp(x')); initial x' = 1", 2 * log(exp(0.5) - 0.25));
    check_velocity(PLANE "force x = -1/sqrt(exp(x') + x'^2*0); initial x' = 1",
                   2 * log(exp(0.5) - 0.25));
    /* nothing of u above: v v' = -1 */
    check_velocity(PLANE "force x = -1/hypot(x', y'); initial x' = 2", sqrt(4 - 1));
    check_velocity(PLANE "force x = -1/(2*hypot(x', y')); initial x' = 2", sqrt(4 - 0.5));
    /* a hypotenuse with a side that does not move */
    check_velocity(PLANE "force x = -x'/hypot(x', 1e-200); initial x' = 1", 0.5);
    check_velocity(PLANE "force x = -x'/hypot(1e-200, hypot(x', y')); initial x' = 1", 0.5);
    check_velocity(PLANE "force x = -x'/hypot(hypot(x', 1e-200), y'); initial x' = 1", 0.5);
}

/* Friction made smooth, sqrt(v^2 + e^2) v' = -2 v: F(v0) - F(v) = 2 x with
 * F = (v sqrt(v^2 + e^2) + e^2 asinh(v/e))/2. */
static void test_made_smooth(void **state)
{
    (void)state;
    motion *m = motion_text("coord x; kinetic x'^2/2; force x = -2*x'/sqrt(x'^2 + 0.01)\n"
                            "initial x' = 2; simulate 0 .. 1.02");
    motion_must(m);
    double F[2], v[2] = {2, motion_value(m, "x'")}, e = 0.1;
    for (int k = 0; k < 2; k++)
        F[k] = (v[k] * hypot(v[k], e) + e * e * asinh(v[k] / e)) / 2;
    assert_true(v[1] > 0 && v[1] < 0.1);
    check_number("x", motion_value(m, "x"), (F[0] - F[1]) / 2, 1e-8);
    motion_close(m);
}

/* More velocities than a direction may have: as it stands, before rest. */
static void test_many_velocities(void **state)
{
    (void)state;
    motion *m = motion_text("coord x, q[1..11]; kinetic x'^2/2 + sum(i = 1..11, q[i]'^2)/2\n"
                            "let s = sqrt(x'^2 + sum(i = 1..11, q[i]'^2))\n"
                            "force x = -2*x'/s; for i = 1..11 { force q[i] = -2*q[i]'/s }\n"
                            "initial x' = 1, q[3]' = 1, q[7]' = 1, q[11]' = -1\n"
                            "simulate 0 .. 0.5"); /* speed 2 - 2 t */
    motion_must(m);
    check_number("x'", motion_value(m, "x'"), 0.5, 1e-9);
    check_number("q[11]'", motion_value(m, "q[11]'"), -0.5, 1e-9);
    motion_close(m);
}

/* ---- rest ---- */

/* A force that grows breaks a block on a line loose at t = 2, and it then moves for good. */
static void test_line_breaks_loose(void **state)
{
    (void)state;
    motion *m = motion_text("coord x; kinetic x'^2/2; force x = t - 2*x'/abs(x'); simulate 0 .. 5");
    motion_must(m);
    check_number("x", motion_value(m, "x"), 27.0 / 6, 1e-8);
    check_number("x'", motion_value(m, "x'"), 4.5, 1e-8);
    motion_close(m);
}

/* An event gives what sticks a velocity: it moves, and comes to rest again. */
static void test_pushed_out_of_rest(void **state)
{
    (void)state;
    motion *m = motion_text(
        "coord x, y; kinetic (x'^2 + y'^2)/2; let s = hypot(x', y')\n"
        "force x = -2*x'/s, y = -2*y'/s; initial x' = 2\n"
        "event kick: t = 2 rising set y' = -4; event late: t = 2.5 rising record\n"
        "simulate 0 .. 6");
    motion_must(m);
    assert_int_equal(m->result.event_count, 2);
    check_number("x", motion_value(m, "x"), 1, 1e-8);
    check_number("y", motion_value(m, "y"), -4, 1e-8);
    check_number("reset", m->result.work.reset, 8, 1e-8);
    assert_true(fabs(motion_value(m, "y'")) < 1e-12);
    motion_close(m);
}

/* Friction of no strength holds nothing: from rest the body follows the force. */
static void test_no_friction(void **state)
{
    (void)state;
    motion *m = motion_text("param mu = 0; coord x, y; kinetic (x'^2 + y'^2)/2\n"
                            "let s = hypot(x', y'); force x = 1 - mu*x'/s, y = -mu*y'/s\n"
                            "simulate 0 .. 2");
    motion_must(m);
    check_number("x", motion_value(m, "x"), 2, 1e-9);
    motion_close(m);
}

/* Two directions, one at rest while the other moves; outputs with directions of their own. */
typedef struct outputs {
    double value[3];
} outputs;

static bool keep_outputs(void *user, const hm_frame *frame)
{
    memcpy(((outputs *)user)->value, frame->outputs, sizeof(outputs));
    return true;
}

static void test_two_directions(void **state)
{
    (void)state;
    motion *m = motion_text("coord x, y, z; kinetic (x'^2 + y'^2 + z'^2)/2\n"
                            "let s = hypot(x', y')\n"
                            "force x = -2*x'/s, y = -2*y'/s, z = -z'/abs(z')\n"
                            "output heading = z'/abs(z'); output way = abs(z - 20)\n"
                            "output wild = y'/abs(y' + z')\n"
                            "initial x' = 1.2, y' = -1.6, z' = 4; simulate 0 .. 3");
    outputs last = {{0}};
    m->options.on_frame = keep_outputs;
    m->options.user = &last;
    motion_must(m);
    check_number("x", motion_value(m, "x"), 0.6, 1e-8);
    check_number("z", motion_value(m, "z"), 12 - 4.5, 1e-9);
    check_number("heading", last.value[0], 1, 1e-12);
    check_number("way", last.value[1], 20 - 7.5, 1e-9);
    check_number("wild", last.value[2], 0, 1e-9);
    motion_close(m);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_spellings),          cmocka_unit_test(test_one_velocity_twice),
        cmocka_unit_test(test_not_a_norm),         cmocka_unit_test(test_made_smooth),
        cmocka_unit_test(test_many_velocities),    cmocka_unit_test(test_line_breaks_loose),
        cmocka_unit_test(test_pushed_out_of_rest), cmocka_unit_test(test_no_friction),
        cmocka_unit_test(test_two_directions),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
