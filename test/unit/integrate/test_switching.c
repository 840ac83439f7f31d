/* Events and switchings in unusual places: at the start, at zero, at rest, without a rate, without end;
 * resets of states, against constraints, and one of several. Exact solutions throughout. */
#include "support/check.h"
#include "support/motion.h"

#include <math.h>
#include <string.h>

static motion *run(const char *text)
{
    motion *m = motion_text(text);
    motion_must(m);
    return m;
}

static double state_of(const motion *m)
{
    double z;
    hm_sim_state(m->sim, NULL, NULL, &z);
    return z;
}

/* ---- events at zero at the start ---- */

/* The side of an event that starts at zero is where it goes: leaving is no crossing. */
static void test_starts_at_zero(void **state)
{
    (void)state;
    motion *m = run("coord x, y; kinetic (x'^2 + y'^2)/2; potential (x^2 + y^2)/2\n"
                    "initial x' = 1, y' = -1; event up: x = 0 rising record\n"
                    "event down: y = 0 falling record; event any: x = 0 record; simulate 0 .. 7");
    assert_int_equal(m->result.event_count, 4); /* x = sin t = -y: any at pi; all at 2 pi */
    assert_string_equal(m->result.events[0].name, "any");
    check_number("any", m->result.events[0].t, M_PI, 1e-9);
    for (int k = 1; k < 4; k++)
        check_number("at the end of the period", m->result.events[k].t, 2 * M_PI, 1e-8);
    motion_close(m);
}

/* x = t^2 - t^3 starts at zero with no speed, grows and falls through zero at t = 1, all within one
 * step: the start is not the crossing. */
static void test_leaves_zero_and_returns(void **state)
{
    (void)state;
    motion *m = motion_text("coord x; kinetic x'^2/2; force x = 2 - 6*t\n"
                            "event back: x = 0 falling stop; simulate 0 .. 4");
    m->options.step = 3.9;
    motion_must(m);
    assert_int_equal(m->result.event_count, 1);
    check_number("back", m->result.t_end, 1, 1e-9);
    check_number("x'", motion_value(m, "x'"), -1, 1e-8);
    motion_close(m);
}

/* It starts at zero, at rest, and falls: that is a crossing, at once. */
static void test_falls_from_zero(void **state)
{
    (void)state;
    motion *m = run("coord x; kinetic x'^2/2; force x = -2; event edge: x = 0 falling record\n"
                    "simulate 0 .. 3");
    assert_int_equal(m->result.event_count, 1);
    assert_true(m->result.events[0].t < 1e-12);
    check_number("x", motion_value(m, "x"), -9, 1e-10);
    motion_close(m);
}

/* ---- resets ---- */

/* One event acts, the other waits; a reset of a state; what starts at zero after a reset. */
static void test_one_of_several(void **state)
{
    (void)state;
    motion *m = run("coord x; state w' = 1; kinetic x'^2/2; initial x' = 1\n"
                    "event clock: w = 2 rising set w = 0\n"
                    "event wall: x = 3 rising set x' = -x', w = 1\n"
                    "event never: x = 9 rising set x' = 7; simulate 0 .. 4.5");
    /* clock at 2; wall at 3 puts it to 1; clock at 4 */
    assert_int_equal(m->result.event_count, 3);
    check_number("first", m->result.events[0].t, 2, 1e-12);
    check_number("wall", m->result.events[1].t, 3, 1e-12);
    check_number("third", m->result.events[2].t, 4, 1e-12);
    check_number("w", state_of(m), 0.5, 1e-12);
    check_number("x", motion_value(m, "x"), 1.5, 1e-12);
    motion_close(m);
}

/* A reset onto the zero of another event: it has its side from where it goes. */
static void test_reset_onto_zero(void **state)
{
    (void)state;
    motion *m = run("coord x, y; kinetic (x'^2 + y'^2)/2; initial x = 1, x' = 1, y = 5, y' = -1\n"
                    "event jump: t = 1 rising set x = 0, y = 0\n"
                    "event up: x = 0 rising record; event down: y = 0 falling record\n"
                    "event through: x = 0.5 rising record; simulate 0 .. 3");
    assert_int_equal(m->result.event_count, 2); /* jump, through */
    assert_string_equal(m->result.events[1].name, "through");
    check_number("through", m->result.events[1].t, 1.5, 1e-12);
    check_number("y", motion_value(m, "y"), -2, 1e-12);
    motion_close(m);
}

/* x' and y' of a rod given both, and not along it: moved to the nearest, and said so. */
static void test_reset_against_a_constraint(void **state)
{
    (void)state;
    motion *m = run("coord x, y; kinetic (x'^2 + y'^2)/2; constraint rod: x^2 + y^2 = 1\n"
                    "initial x = 1, y = 0, y' = 1\n"
                    "event kick: t = 0.5 rising set x' = 3*cos(t), y' = 3*sin(t)\n"
                    "simulate 0 .. 0.75");
    assert_true(motion_says(m, "violates constraint 'rod'"));
    assert_true(fabs(motion_value(m, "x'")) < 1e-9); /* all of it was along the rod */
    check_number("angle", atan2(motion_value(m, "y"), motion_value(m, "x")), 0.5, 1e-9);
    motion_close(m);
}

/* ---- many events ---- */

/* sin(2000 t) has its upward zeros at k pi/1000: beyond 10 000 they are counted, not kept. */
static void test_very_many(void **state)
{
    (void)state;
    motion *m = motion_text("coord x; kinetic x'^2/2; force x = 1\n"
                            "event tick: sin(2000*t) = 0 rising record; simulate 0 .. 31.5");
    m->options.method = "rk5";
    m->options.largest_step = 0.0031;
    motion_must(m);
    assert_int_equal(m->result.event_count, 10000);
    assert_int_equal(m->result.events_dropped, floor(31.5 * 1000 / M_PI) - 10000);
    check_number("the last kept", m->result.events[9999].t, 10 * M_PI, 1e-9);
    motion_close(m);
}

static bool ignore(void *user, const hm_frame *frame)
{
    (void)user;
    return frame->outputs != NULL;
}

/* Warnings are kept up to twenty; then one says that there were more. */
static void test_many_warnings(void **state)
{
    (void)state;
    motion *m = motion_text("coord x; kinetic x'^2/2; for i = 1..30 { output o[i] = i*(x/x) }\n"
                            "simulate 0 .. 1");
    motion_must(m);
    assert_int_equal(m->result.warning_count, 0); /* nobody asked for outputs */
    m->options.on_frame = ignore;
    motion_must(m);
    assert_int_equal(m->result.warning_count, 21);
    assert_true(motion_says(m, "output 'o[20]' has no finite value"));
    assert_true(motion_says(m, "there were more warnings"));
    motion_close(m);
}

/* ---- switchings ---- */

/* A function of the constraint force has no rate before the forces are known. The load on the floor
 * is cos t: the friction mu |cos t| of the block slows it as sin t, then as 2 - sin t. */
static void test_switch_of_a_multiplier(void **state)
{
    (void)state;
    motion *m = motion_text("param mu = 0.5; coord x, y; kinetic (x'^2 + y'^2)/2\n"
                            "constraint floor: y = 0; force y = -cos(t)\n"
                            "nonideal x = -mu*abs(multiplier(floor)); initial x' = 3\n"
                            "simulate 0 .. 3");
    motion_must(m);
    check_number("x'", motion_value(m, "x'"), 3 - 0.5 * (2 - sin(3)), 1e-8);
    motion_close(m);
}

/* Both sides lead away: it takes one of them and stays there. */
static void test_leads_away(void **state)
{
    (void)state;
    motion *m = run("coord x; state w' = sign(w); kinetic x'^2/2; simulate 0 .. 2");
    check_number("|w|", fabs(state_of(m)), 2, 1e-12);
    motion_close(m);
    m = run("coord x; state w' = sign(w - t) + 1; kinetic x'^2/2; simulate 0 .. 2");
    check_number("w", state_of(m), 4, 1e-12); /* above the line it is at twice the speed */
    motion_close(m);
}

/* The same switching written the other way round is one switching. */
static void test_written_both_ways(void **state)
{
    (void)state;
    motion *m = run("coord x; kinetic x'^2/2; initial x' = 1\n"
                    "force x = max(x, 2) - max(2, x) + min(2, x) - min(x, 2)\n"
                    "force x = if(x < 1, 0, 1) - if(1 < x, 1, 0) + if(1 <= x, 2, 0)\n"
                    "simulate 0 .. 2");
    check_number("x'", motion_value(m, "x'"), 3, 1e-10);
    check_number("x", motion_value(m, "x"), 1 + 1 + 1, 1e-10);
    motion_close(m);
}

/* Conditions joined by and, or, not; and of equality. */
static void test_conditions(void **state)
{
    (void)state;
    motion *m = run("coord x; kinetic x'^2/2; initial x' = 1\n"
                    "force x = if(t > 1 and t < 2, 3, if(t >= 3 or x < -1, -1, 0))\n"
                    "force x = if(not t < 3.5, 1, 0) + if(t == 0.7, 5, 0); simulate 0 .. 4");
    check_number("x'", motion_value(m, "x'"), 1 + 3 - 1 + 0.5, 1e-10);
    motion_close(m);
}

/* Two switches that slide at once, and one of them gives way. */
static void test_two_slide(void **state)
{
    (void)state;
    motion *m = run("coord x, y; kinetic (x'^2 + y'^2)/2\n"
                    "force x = t - 2*sign(x'), y = t/2 - 2*sign(y'); simulate 0 .. 5");
    check_number("x", motion_value(m, "x"), 27.0 / 6, 1e-8); /* loose at 2, */
    check_number("y", motion_value(m, "y"), 1.0 / 12, 1e-8); /* and at 4 */
    motion_close(m);
}

/* A switch that no mode can hold, as it does not act on its function: it goes through. */
static void test_switch_without_effect(void **state)
{
    (void)state;
    motion *m = run("coord x, y; kinetic (x'^2 + y'^2)/2; initial x = -1, x' = 1\n"
                    "force y = sign(x); simulate 0 .. 3");
    check_number("y'", motion_value(m, "y'"), -1 + 2, 1e-11);
    motion_close(m);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_starts_at_zero),
        cmocka_unit_test(test_leaves_zero_and_returns),
        cmocka_unit_test(test_falls_from_zero),
        cmocka_unit_test(test_one_of_several),
        cmocka_unit_test(test_reset_onto_zero),
        cmocka_unit_test(test_reset_against_a_constraint),
        cmocka_unit_test(test_very_many),
        cmocka_unit_test(test_many_warnings),
        cmocka_unit_test(test_switch_of_a_multiplier),
        cmocka_unit_test(test_leads_away),
        cmocka_unit_test(test_written_both_ways),
        cmocka_unit_test(test_conditions),
        cmocka_unit_test(test_two_slide),
        cmocka_unit_test(test_switch_without_effect),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
