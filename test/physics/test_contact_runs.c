/* Motions with contacts: what the laws of impact, complementarity and friction say, against closed forms and
 * against the same motion written in another way. */
#include "support/check.h"
#include "support/motion.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define BLOCK                                                                                      \
    "param g = 10\n"                                                                               \
    "coord x, y\n"                                                                                 \
    "kinetic (x'^2 + y'^2)/2\n"                                                                    \
    "potential g*y\n"

/* The motion of a text to its end; values by name afterwards. */
static motion *moved(const char *text)
{
    motion *m = motion_text(text);
    motion_must(m);
    return m;
}

static void close_to(const motion *m, const char *name, double expected, double tolerance)
{
    double value = motion_value(m, name);
    if (!(fabs(value - expected) <= tolerance))
        fail_msg("%s = %.17g, expected %.17g", name, value, expected);
}

/* The sum of energies lost is what the ledger says, and the balance closes. */
static void test_ledger(void **state)
{
    (void)state;
    motion *m = moved(BLOCK "constraint c: y >= 0 restitution 0.5\ninitial y = 1\n"
                            "simulate 0 .. 3");
    double lost = 0;
    for (size_t i = 0; i < m->result.impact_count; i++)
        lost += m->result.impacts[i].energy_lost;
    assert_true(fabs(lost + m->result.work.impacts) < 1e-9);
    assert_true(fabs(lost - 10) < 1e-6);
    assert_true(m->result.balance_error < 1e-8);
    assert_int_equal(m->result.accumulation_count, 1);
    assert_true(m->result.event_count == 0);
    motion_close(m);
}

/* A start inside of the floor is moved out, one above it stays; a fixed one is refused by how much. */
static void test_start(void **state)
{
    (void)state;
    motion *m = moved(BLOCK "constraint c: y >= 1\ninitial y ~ 0.25\nsimulate 0 .. 1");
    close_to(m, "y", 1, 1e-12);
    motion_close(m);
    m = moved(BLOCK "constraint c: y >= 1\ninitial y ~ 3\nsimulate 0 .. 0.1");
    close_to(m, "y", 3 - 0.05, 1e-9);
    motion_close(m);
    m = motion_text(BLOCK "constraint c: y >= 1\ninitial y = 0.25\nsimulate 0 .. 1");
    assert_int_equal(motion_run(m), HM_ERR_INPUT);
    assert_true(motion_says(m, "constraint 'c' is violated by -0.75"));
    motion_close(m);
}

/* An impact at the start: the state given falls onto the floor. */
static void test_impact_at_start(void **state)
{
    (void)state;
    motion *m = moved(BLOCK "constraint c: y >= 0 restitution 0.5\ninitial y = 0, y' = -2\n"
                            "simulate 0 .. 0.1");
    close_to(m, "y", 1 * 0.1 - 5 * 0.01, 1e-9);
    assert_int_equal(m->result.impact_count, 1);
    assert_true(m->result.impacts[0].t == 0);
    assert_true(fabs(m->result.impacts[0].energy_lost - 1.5) < 1e-12);
    motion_close(m);
}

/* Four legs on the floor, three of which would do: the motion is unique, forces of least norm. */
static void test_redundant(void **state)
{
    (void)state;
    motion *m = moved("param g = 10\ncoord z, a, b\n"
                      "kinetic z'^2/2 + a'^2/10 + b'^2/10\npotential g*z\n"
                      "constraint leg1: z + a + b >= 0\nconstraint leg2: z - a + b >= 0\n"
                      "constraint leg3: z + a - b >= 0\nconstraint leg4: z - a - b >= 0\n"
                      "output f = total_multiplier(leg1)\ninitial z = 0\nsimulate 0 .. 1");
    hm_frame frame;
    close_to(m, "z", 0, 1e-12);
    assert_int_equal(hm_sim_frame(m->sim, HM_FRAME_CONTENT_FORCES, &frame), HM_OK);
    assert_true(fabs(frame.outputs[0] - 2.5) < 1e-9);
    motion_close(m);
}

/* Painleve's rod: no force, or several motions, and nothing is made up. */
static void test_painleve(void **state)
{
    (void)state;
    const char *rod = "param l = 1, g = 9.81, mu = 2, w = 0\ncoord x, y, a\n"
                      "kinetic (x'^2 + y'^2)/2 + l^2/6*a'^2\npotential g*y\n"
                      "constraint tip: y - l*sin(a) >= 0\n"
                      "friction rub: (x - l*cos(a))' on tip with mu\n"
                      "initial a = 0.9, x' = -1, y = l*sin(0.9)\nsimulate 0 .. 1";
    motion *m = motion_text(rod);
    assert_int_equal(motion_run(m), HM_ERR_UNDETERMINED);
    assert_int_equal(m->result.status, HM_RUN_FAILED);
    assert_true(motion_says(m, "'tip'"));
    assert_true(motion_says(m, "0 solutions"));
    motion_close(m);
}

/* A row that is driven into a fixed one. */
static void test_driven_into_contact(void **state)
{
    (void)state;
    motion *m = motion_text(BLOCK "constraint press: y = 1 - t\nconstraint c: y >= 0.5\n"
                                  "initial y ~ 1, y' ~ -1\nsimulate 0 .. 1");
    assert_true(motion_run(m) != HM_OK);
    assert_int_equal(m->result.status, HM_RUN_FAILED);
    assert_true(fabs(m->result.t_end - 0.5) < 1e-6);
    motion_close(m);
}

/* A constraint that begins to hold where its position is off is refused, by how much. */
static void test_position_off(void **state)
{
    (void)state;
    motion *m = motion_text(BLOCK "constraint c: x = 2 when t > 0.5\ninitial x' = 1, y = 0\n"
                                  "simulate 0 .. 1");
    assert_int_equal(motion_run(m), HM_ERR_INCONSISTENT);
    assert_true(motion_says(m, "constraint 'c' begins to hold, but its position is off by -1.5"));
    motion_close(m);
}

/* A condition that the row itself keeps at zero stays true. */
static void test_kept_condition(void **state)
{
    (void)state;
    motion *m = moved(BLOCK "constraint stop: y = 0 when y <= 0\ninitial y = 1\nsimulate 0 .. 2");
    close_to(m, "y", 0, 1e-10);
    close_to(m, "y'", 0, 1e-10);
    assert_int_equal(m->result.impact_count, 1);
    motion_close(m);
}

/* Friction on a two-sided row: sliding, rest, and the form written by hand with sign. */
static void test_friction_by_hand(void **state)
{
    (void)state;
    motion *m = moved(BLOCK "constraint c: y = 0\nfriction f: x' on c with 0.3\n"
                            "force x = 2*sin(3*t)\ninitial x' = 2\nsimulate 0 .. 3");
    motion *hand = moved(BLOCK "constraint c: y = 0\n"
                               "nonideal x = -0.3*abs(total_multiplier(c))*sign(x')\n"
                               "force x = 2*sin(3*t)\ninitial x' = 2\nsimulate 0 .. 3");
    close_to(m, "x", motion_value(hand, "x"), 1e-7);
    close_to(m, "x'", 0, 1e-10); /* 2 < 0.3 g: it stays at rest */
    motion_close(m);
    motion_close(hand);
}

/* Slope: it slides up, turns and slides down; or it stays. */
static void test_slope(void **state)
{
    (void)state;
    const char *slope = "param a = 0.3, g = 10, mu = %s\ncoord x, y\nkinetic (x'^2 + y'^2)/2\n"
                        "potential g*(y*cos(a) + x*sin(a))\nconstraint c: y >= 0\n"
                        "friction f: x' on c with mu\ninitial x' = 2, y = 0\nsimulate 0 .. 2";
    char text[600];
    double s = 10 * sin(0.3), N = 10 * cos(0.3);
    snprintf(text, sizeof text, slope, "0.2");
    motion *m = moved(text);
    double up = 2 / (s + 0.2 * N), down = s - 0.2 * N;
    close_to(m, "x'", -down * (2 - up), 1e-8);
    motion_close(m);
    snprintf(text, sizeof text, slope, "0.5");
    m = moved(text);
    close_to(m, "x", 2 / (s + 0.5 * N), 1e-8);
    close_to(m, "x'", 0, 1e-12);
    motion_close(m);
}

/* A ball with friction strikes the floor: it sticks and rolls, or slides through the impact. */
static void test_impulse_of_friction(void **state)
{
    (void)state;
    const char *ball = "param r = 1, J = 0.4, mu = %s\ncoord x, y, a\n"
                       "kinetic (x'^2 + y'^2)/2 + J/2*a'^2\nconstraint c: y >= r restitution 0.5\n"
                       "friction f: x' + r*a' on c with mu\n"
                       "initial y = r, y' = -1, x' = 1\nsimulate 0 .. 0.1";
    char text[400];
    snprintf(text, sizeof text, ball, "0.9"); /* sticks: the impulse is 2/7 < 0.9 * 1.5 */
    motion *m = moved(text);
    close_to(m, "x'", 5.0 / 7, 1e-12);
    close_to(m, "a'", -5.0 / 7, 1e-12);
    motion_close(m);
    snprintf(text, sizeof text, ball, "0.1"); /* slides: 0.1 * 1.5 */
    m = moved(text);
    close_to(m, "x'", 1 - 0.15, 1e-12);
    close_to(m, "a'", -0.15 / 0.4, 1e-12);
    close_to(m, "y'", 0.5, 1e-12);
    motion_close(m);
}

/* Both engines, bit by bit. */
static void test_engines(void **state)
{
    (void)state;
    double value[2];
    for (int k = 0; k < 2; k++) {
        setenv("HAMEL_ENGINE", k ? "interp" : "jit", 1);
        motion *m = motion_file("examples/stick-slip.hamel", NULL, 0);
        motion_must(m);
        value[k] = motion_value(m, "x");
        motion_close(m);
    }
    unsetenv("HAMEL_ENGINE");
    assert_memory_equal(&value[0], &value[1], sizeof *value);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_ledger),
        cmocka_unit_test(test_start),
        cmocka_unit_test(test_impact_at_start),
        cmocka_unit_test(test_redundant),
        cmocka_unit_test(test_painleve),
        cmocka_unit_test(test_driven_into_contact),
        cmocka_unit_test(test_position_off),
        cmocka_unit_test(test_kept_condition),
        cmocka_unit_test(test_friction_by_hand),
        cmocka_unit_test(test_slope),
        cmocka_unit_test(test_impulse_of_friction),
        cmocka_unit_test(test_engines),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
