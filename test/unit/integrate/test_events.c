/* Events: found to rounding, in order, acting; switchings; Zeno. */
#include "support/check.h"
#include "support/motion.h"
#include "support/probe.h"

#include <math.h>
#include <string.h>

static void check_event(const motion *m, size_t k, const char *name, double t, double tolerance)
{
    assert_true(k < m->result.event_count);
    assert_string_equal(m->result.events[k].name, name);
    check_number(name, m->result.events[k].t, t, tolerance);
}

static void test_directions(void **state)
{
    (void)state;
    motion *m = motion_text("coord x; kinetic x'^2/2; potential x^2/2; initial x' = 1\n"
                            "event up: x = 0.5 rising record; event down: x = 0.5 falling record\n"
                            "event any: x = -0.5 record; simulate 0 .. 6.5");
    m->options.rtol = 1e-12;
    m->options.atol = 1e-14;
    motion_must(m);
    assert_int_equal(m->result.event_count, 4);
    check_event(m, 0, "up", asin(0.5), 1e-11);
    check_event(m, 1, "down", M_PI - asin(0.5), 1e-11);
    check_event(m, 2, "any", M_PI + asin(0.5), 1e-11);
    check_event(m, 3, "any", 2 * M_PI - asin(0.5), 1e-11);
    motion_close(m);
}

static void test_stop(void **state)
{
    (void)state;
    motion *m = motion_text("coord x; kinetic x'^2/2; force x = 2; event there: x = 9 stop\n"
                            "simulate 0 .. 10");
    motion_must(m);
    assert_int_equal(m->result.status, HM_RUN_EVENT);
    check_number("t", m->result.t_end, 3, 1e-12);
    check_number("x", motion_value(m, "x"), 9, 1e-11);
    motion_close(m);
}

/* A program that steps is told, and may go on. */
static void test_stop_noted(void **state)
{
    (void)state;
    hm_run_result result;
    probe *p = probe_text("coord x; kinetic x'^2/2; force x = 2; event there: x = 9 stop\n");
    assert_int_equal(hm_sim_start(p->sim, NULL), HM_OK);
    assert_int_equal(hm_sim_advance(p->sim, 2.5), HM_OK);
    assert_int_equal(hm_sim_result(p->sim, &result), HM_OK);
    assert_int_equal(result.status, HM_RUN_OK);
    assert_int_equal(hm_sim_advance(p->sim, 4), HM_OK);
    assert_int_equal(hm_sim_result(p->sim, &result), HM_OK);
    assert_int_equal(result.status, HM_RUN_EVENT);
    assert_string_equal(result.message, "event 'there' at t = 3");
    check_number("x", result.q[0], 16, 1e-11);
    probe_close(p);
}

typedef struct last_row {
    double t, v;
    hm_frame_reason reason;
} last_row;

static bool keep_row(void *user, const hm_frame *frame)
{
    *(last_row *)user = (last_row){frame->t, frame->v[0], frame->reason};
    return true;
}

/* The last row of a run that an event stops is at the event. */
static void test_last_row_of_a_stopped_run(void **state)
{
    (void)state;
    last_row row = {0};
    motion *m = motion_text("coord x; kinetic x'^2/2; force x = 2; event there: x = 9 stop\n"
                            "simulate 0 .. 10 every 0.8");
    m->options.on_frame = keep_row;
    m->options.user = &row;
    motion_must(m);
    check_number("t", row.t, 3, 1e-12);
    check_number("x'", row.v, 6, 1e-11);
    assert_int_equal(row.reason, HM_FRAME_REASON_END);
    motion_close(m);
}

/* A row has its own time and the state there, also where an event stands 1e-10 before it. */
static void test_row_after_an_event(void **state)
{
    (void)state;
    last_row row = {0};
    motion *m = motion_text("coord x; kinetic x'^2/2; initial x' = 1\n"
                            "event turn: x = 1 rising set x' = -3; simulate 0 .. 2");
    m->options.on_frame = keep_row;
    m->options.user = &row;
    m->options.every = m->options.end = 1 + 1e-10;
    motion_must(m);
    assert_int_equal(m->result.event_count, 1);
    check_number("t", row.t, 1 + 1e-10, 1e-15);
    check_number("x'", row.v, -3, 1e-12);
    motion_close(m);
}

/* Two events at one time act together, from the state before. */
static void test_simultaneous(void **state)
{
    (void)state;
    motion *m = motion_text(
        "coord x, y; kinetic (x'^2 + y'^2)/2; initial x' = 1, y' = 2\n"
        "event a: x = 1 rising set x' = -y'; event b: y = 2 rising set y' = -x'\n"
        "simulate 0 .. 1.5");
    motion_must(m);
    assert_int_equal(m->result.event_count, 2);
    check_number("x'", motion_value(m, "x'"), -2, 1e-12);
    check_number("y'", motion_value(m, "y'"), -1, 1e-12);
    motion_close(m);
}

static void test_bounces(void **state)
{
    (void)state;
    motion *m = motion_text("param g = 10, e = 0.5; coord z; kinetic z'^2/2; potential g*z\n"
                            "event bounce: z = 0 falling set z' = -e*z'\n"
                            "initial z = 5; simulate 0 .. 2.7");
    motion_must(m);
    check_event(m, 0, "bounce", 1, 1e-10);
    check_event(m, 1, "bounce", 2, 1e-10);
    check_event(m, 2, "bounce", 2.5, 1e-10);
    check_number("energy", m->result.energy_final, 50.0 / 64, 1e-9);
    assert_true(m->result.balance_error < 1e-10); /* impacts are not the work of a force */
    motion_close(m);
}

/* Bounces accumulate at t = 3: said, and no hanging. */
/* What a reset does to the energy is an entry of its own; `initial` is that at the start. */
static void test_reset_in_the_ledger(void **state)
{
    static const char *const methods[] = {"dop853", "radau"};
    (void)state;
    for (int k = 0; k < 2; k++) {
        motion *m = motion_text("param e = 0.5; coord z; kinetic z'^2/2; force z = -9.81\n"
                                "initial z = 1; event bounce: z = 0 falling set z' = -e*z'\n"
                                "simulate 0 .. 0.8");
        m->options.method = methods[k];
        motion_must(m);
        check_number("initial", m->result.energy_initial, 0, 1e-15);
        /* one bounce, from 9.81 J to a quarter */
        check_number("reset", m->result.work.reset, -0.75 * 9.81, 1e-8);
        check_number("sum", m->result.work.reset + m->result.work.impressed, m->result.energy_final,
                     1e-8);
        assert_true(m->result.balance_error < 1e-7);
        motion_close(m);
    }
}

/* Step by step: the dense output is that of the step that led to the event, up to it. */
static void test_dense_output_at_events(void **state)
{
    static const char *const methods[] = {"dop853", "rk5", "radau"};
    (void)state;
    for (int k = 0; k < 3; k++) {
        motion *m = motion_text("coord z; kinetic z'^2/2; force z = -2; initial z = 1\n"
                                "event bounce: z = 0 falling set z' = -z'; simulate 0 .. 5");
        m->options.method = methods[k];
        assert_int_equal(hm_sim_start(m->sim, &m->options), HM_OK);
        double before = 0, q, v, end;
        hm_run_result r;
        do {
            before = hm_sim_time(m->sim);
            assert_int_equal(hm_sim_step(m->sim), HM_OK);
            assert_int_equal(hm_sim_result(m->sim, &r), HM_OK);
        } while (r.event_count == 0);
        end = hm_sim_time(m->sim);
        check_number("bounce", end, 1, 1e-9);
        for (int i = 0; i < 5; i++) {
            double t = before + 0.2 * i * (end - before);
            assert_int_equal(hm_sim_interpolate(m->sim, t, &q, &v, NULL), HM_OK);
            check_number("z", q, 1 - t * t, 1e-8);
            check_number("z'", v, -2 * t, 1e-8);
        }
        assert_int_equal(hm_sim_interpolate(m->sim, end, &q, &v, NULL), HM_OK);
        check_number("z' after it", v, 2, 1e-8);
        motion_advance(m, 1.5);
        hm_sim_state(m->sim, &q, &v, NULL);
        check_number("z later", q, 0.75, 1e-8);
        motion_close(m);
    }
}

static void test_zeno(void **state)
{
    (void)state;
    motion *m = motion_text("param g = 10, e = 0.5; coord z; kinetic z'^2/2; potential g*z\n"
                            "event bounce: z = 0 falling set z' = -e*z'\n"
                            "initial z = 5; simulate 0 .. 10");
    assert_int_equal(motion_run(m), HM_ERR_NUMERIC);
    assert_true(motion_says(m, "repeats ever faster (Zeno)"));
    assert_true(motion_says(m, "bounce"));
    check_number("t", m->result.t_end, 3, 1e-5);
    motion_close(m);
}

/* Events that come often and evenly are no Zeno, however long the run has lasted. */
static void test_often_is_not_zeno(void **state)
{
    (void)state;
    motion *m = motion_text("coord x, y; kinetic (x'^2 + y'^2)/2; initial x' = 1\n"
                            "event tick: sin(1000*x) = 0 set y' = y' + 1\n"
                            "simulate 100000 .. 100000.5");
    motion_must(m);
    assert_int_equal(m->result.event_count, 159);
    check_number("y'", motion_value(m, "y'"), 159, 1e-12);
    motion_close(m);
}

/* A reset that moves the function that fired, and a switch there: the branch of before holds on. */
static void test_reset_moves_the_function(void **state)
{
    (void)state;
    motion *m = motion_text("coord x, y; kinetic (x'^2 + y'^2)/2; initial x' = 1\n"
                            "force y = if(x < 1, 1, 50)\n"
                            "event up: x = 1 set x = x - 1; simulate 0 .. 7.5");
    motion_must(m);
    assert_int_equal(m->result.event_count, 7);
    check_number("x", motion_value(m, "x"), 0.5, 1e-9);
    check_number("y'", motion_value(m, "y'"), 7.5, 1e-9);
    motion_close(m);
}

/* A program that steps on for ever: an event that fires twice in a row, and a switch by t. */
static void test_no_end(void **state)
{
    (void)state;
    motion *m = motion_text("coord x, y; kinetic (x'^2 + y'^2)/2; initial x = 0.5, x' = 1\n"
                            "force y = if(sin(t) > 0, 1, 0)\n"
                            "event up: x = 1 rising set x = 0; simulate 0 .. 1");
    hm_run_result result;
    double q[2], v[2];
    m->options.end = INFINITY;
    assert_int_equal(hm_sim_start(m->sim, &m->options), HM_OK);
    while (hm_sim_result(m->sim, &result) == HM_OK && result.t_end < 40)
        assert_int_equal(hm_sim_step(m->sim), HM_OK);
    assert_int_equal(hm_sim_advance(m->sim, result.t_end + 1), HM_OK);
    assert_int_equal(hm_sim_result(m->sim, &result), HM_OK);
    hm_sim_state(m->sim, q, v, NULL);
    double turns = floor(result.t_end / (2 * M_PI)), rest = result.t_end - 2 * M_PI * turns;
    assert_int_equal(result.event_count, floor(result.t_end + 0.5));
    check_number("y'", v[1], M_PI * turns + fmin(rest, M_PI), 1e-9);
    motion_close(m);
}

/* A reset on a constrained system is made consistent: only the set value is kept. */
static void test_reset_is_made_consistent(void **state)
{
    (void)state;
    motion *m = motion_text(
        "coord x, y; kinetic (x'^2 + y'^2)/2; potential 9.81*y\n"
        "constraint rod: x^2 + y^2 = 1\n"
        "initial x = sin(1), y ~ -0.5\n"
        "event wall: x = 0.1 falling set x' = -0.5*x'; simulate 0 .. 3 every 0.01");
    motion_must(m);
    assert_true(m->result.event_count >= 1);
    assert_true(motion_violation(m) < 1e-13);
    motion_close(m);
}

/* Forces of `if`, `min`, `max`, `abs` are integrated piece by piece: the accuracy stays. */
static void test_switching(void **state)
{
    (void)state;
    motion *m = motion_text("coord x; kinetic x'^2/2; force x = if(t < 1, 1, if(t < 2.5, -1, 0))\n"
                            "simulate 0 .. 5");
    motion_must(m);
    check_number("x'", motion_value(m, "x'"), -0.5, 1e-12);
    check_number("x", motion_value(m, "x"), 0.5 + 1.5 - 1.125 - 1.25, 1e-11);
    motion_close(m);
    m = motion_text("coord x; kinetic x'^2/2; force x = -abs(x); initial x = 0, x' = 1\n"
                    "simulate 0 .. 4"); /* sin, then -sinh */
    m->options.rtol = 1e-12;
    m->options.atol = 1e-14;
    motion_must(m);
    check_number("x'", motion_value(m, "x'"), -cosh(4 - M_PI), 1e-10);
    motion_close(m);
    m = motion_text("coord x; kinetic x'^2/2; force x = -max(-1, min(1, 4*x))\n" /* saturated */
                    "initial x = 3; simulate 0 .. 20");
    motion_must(m);
    assert_true(m->result.balance_error < 1e-8);
    motion_close(m);
}

/* An event of the constraint force: the bead leaves the sphere at cos = 2/3. */
/* Defaults of inputs switch as events, too: exact on either side. */
static void test_switching_input(void **state)
{
    (void)state;
    motion *m = motion_text("coord x; kinetic x'^2/2; input u = if(t < 1.2345, 1, -2)\n"
                            "input w = abs(x - 0.1); force x = u + 0*w; simulate 0 .. 3");
    motion_must(m);
    double left = 3 - 1.2345;
    check_number("x'", motion_value(m, "x'"), 1.2345 - 2 * left, 1e-13);
    check_number("x", motion_value(m, "x"), 1.2345 * 1.2345 / 2 + 1.2345 * left - left * left,
                 1e-13);
    assert_true(m->result.rejected == 0);
    motion_close(m);
}

static void test_event_of_a_multiplier(void **state)
{
    (void)state;
    motion *m = motion_text("coord x, y; kinetic (x'^2 + y'^2)/2; potential y\n"
                            "constraint sphere: (x^2 + y^2)/2 = 1/2\n"
                            "initial x = 0, y = 1, x' = 1e-6, y' ~ 0\n"
                            "event lift: multiplier(sphere) = 0 falling stop; simulate 0 .. 100");
    motion_must(m);
    assert_int_equal(m->result.status, HM_RUN_EVENT);
    check_number("height", motion_value(m, "y"), 2.0 / 3, 1e-9);
    motion_close(m);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_directions),
        cmocka_unit_test(test_stop),
        cmocka_unit_test(test_stop_noted),
        cmocka_unit_test(test_row_after_an_event),
        cmocka_unit_test(test_simultaneous),
        cmocka_unit_test(test_bounces),
        cmocka_unit_test(test_reset_in_the_ledger),
        cmocka_unit_test(test_dense_output_at_events),
        cmocka_unit_test(test_zeno),
        cmocka_unit_test(test_last_row_of_a_stopped_run),
        cmocka_unit_test(test_often_is_not_zeno),
        cmocka_unit_test(test_reset_moves_the_function),
        cmocka_unit_test(test_no_end),
        cmocka_unit_test(test_reset_is_made_consistent),
        cmocka_unit_test(test_switching),
        cmocka_unit_test(test_event_of_a_multiplier),
        cmocka_unit_test(test_switching_input),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
