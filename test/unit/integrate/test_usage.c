/* Runs that are asked for in the wrong way, end early or fail: what is returned, what is said, and that
 * the state is the last good one. */
#include "support/check.h"
#include "support/motion.h"

#include <math.h>
#include <string.h>

static const char free_fall[] = "param g = 2; coord x; kinetic x'^2/2; force x = -g\n"
                                "simulate 0 .. 2 every 0.5";

/* ---- methods and what they do not take ---- */

#define POINT "coord x, y; kinetic (x'^2 + y'^2)/2\n"

static const struct {
    const char *method, *text, *why;
} refusals[] = {
    {"dla", POINT "constraint x'' = 1", "a constraint on accelerations has no discrete form"},
    {"dla", "coord x, y; lagrangian x*y' - (x^2 + y^2)/2", "there are no momenta to continue"},
    {"dla", POINT "state w' = x", "auxiliary states have no discrete Lagrangian"},
    {"dla", POINT "servo x = 1 by x with gain 1", "servo forces are not given by a law"},
    {"dla", POINT "constraint c: y = 0; nonideal x = -abs(multiplier(c))",
     "a force depends on constraint forces"},
    {"dla", "coord x; mass x, x = 1 + x^2", "have no Lagrangian"},
    {"dla", POINT "constraint x'^2 = y'", "dla needs constraints that are linear or affine"},
    {"rattle", POINT "constraint x' = y*y'", "rattle needs constraints of position level"},
    {"taylor", "coord x, y; lagrangian x*y' - (x^2 + y^2)/2", "the Lagrangian is degenerate"},
    {"taylor", POINT "servo x = 1 by x with gain 1", "the model has servos"},
    {"taylor", POINT "force x = -x'/hypot(x', y')", "which has no series at rest"},
    {"taylor", POINT "constraint c: y = 0; nonideal x = -abs(multiplier(c))",
     "a force depends on constraint forces"},
#ifdef HAMEL_SUNDIALS
    {"ida", "coord x, y; lagrangian x*y' - (x^2 + y^2)/2", "only the velocities are determined"},
    {"ida", POINT "servo x = 1 by x with gain 1", "servo forces are not part of its equations"},
    {"ida", POINT "constraint c: y = 0; nonideal x = -abs(multiplier(c))",
     "a force depends on constraint forces"},
#endif
    {"radau", "coord q[1..401]; kinetic sum(i = 1..401, q[i]'^2)/2",
     "beyond 400 coordinates only dop853 and rk5 are available"},
};

static void test_refused_methods(void **state)
{
    (void)state;
    for (size_t k = 0; k < sizeof refusals / sizeof *refusals; k++) {
        motion *m = motion_text(refusals[k].text);
        m->options.method = refusals[k].method;
        m->options.step = 0.01;
        if (motion_run(m) != HM_ERR_USAGE || !motion_says(m, refusals[k].why))
            fail_msg("%s on '%s' is not refused as it should be", refusals[k].method,
                     refusals[k].text);
        assert_int_equal(m->result.status, HM_RUN_FAILED);
        assert_null(m->result.q);
        motion_close(m);
    }
}

static void test_step_is_needed(void **state)
{
    (void)state;
    static const char *const methods[] = {"rattle", "dla", "midpoint"};
    for (size_t k = 0; k < 3; k++) {
        motion *m = motion_text("coord x; kinetic x'^2/2; potential x^2/2; initial x = 1");
        m->options.method = methods[k];
        assert_int_equal(motion_run(m), HM_ERR_USAGE);
        assert_true(motion_says(m, "needs a step"));
        m->options.step = 0.01;
        m->options.end = 1;
        motion_must(m);
        check_number(methods[k], motion_value(m, "x"), cos(1), 1e-4);
        motion_close(m);
    }
}

/* Every method has a name and says what it is for; past the last there is neither. */
static void test_names(void **state)
{
    (void)state;
    size_t count = 0;
    for (; hm_method_name(count); count++)
        assert_true(strlen(hm_method_doc(count)) > 20);
    assert_true(count >= 7);
    assert_null(hm_method_doc(count));
}

/* ---- options ---- */

/* What is not given is as the model has it. */
static void test_defaults(void **state)
{
    (void)state;
    motion *m = motion_text("coord x; kinetic x'^2/2; force x = 1; initial x' = 1\n"
                            "simulate 1 .. 3 every 0.25 rtol 1e-6 atol 1e-7");
    const hm_run_options nothing = {.start = NAN, .end = NAN, .every = NAN};
    assert_int_equal(hm_sim_run(m->sim, &nothing, &m->result), HM_OK);
    check_number("start", m->result.t_start, 1, 0);
    check_number("end", m->result.t_end, 3, 0);
    check_number("rtol", m->result.rtol, 1e-6, 0);
    check_number("atol", m->result.atol, 1e-7, 0);
    assert_string_equal(m->result.drift, "project");
    check_number("x", motion_value(m, "x"), 4, 1e-12);
    m->options.every = -1;
    assert_int_equal(motion_run(m), HM_ERR_USAGE);
    assert_true(motion_says(m, "the time between outputs must be positive"));
    m->options.every = 0;
    m->options.start = 2;
    m->options.rtol = 0; /* the model's */
    motion_must(m);
    check_number("rtol", m->result.rtol, 1e-6, 0);
    m->options.rtol = 1e-30; /* what numbers of 53 bits can do */
    motion_must(m);
    check_number("least rtol", m->result.rtol, 2e-15, 0);
    motion_close(m);
}

static void test_most_steps(void **state)
{
    (void)state;
    motion *m = motion_text("coord x; kinetic x'^2/2; potential x^2/2; initial x = 1\n"
                            "simulate 0 .. 100");
    m->options.most_steps = 7;
    assert_int_equal(motion_run(m), HM_ERR_LIMIT);
    assert_int_equal(m->result.status, HM_RUN_FAILED);
    assert_int_equal(m->result.steps, 7);
    assert_true(motion_says(m, "after 7 steps"));
    check_number("x", motion_value(m, "x"), cos(m->result.t_end), 1e-8);
    m->options.most_steps = 100000;
    hm_sim_set_state(m->sim, 0, (double[]){1}, (double[]){0}, NULL);
    motion_must(m);
    check_number("x at the end", motion_value(m, "x"), cos(100), 1e-6);
    motion_close(m);
}

/* ---- the order of calls ---- */

static void check_not_started(hm_sim *sim)
{
    hm_frame frame;
    hm_run_result result;
    double q;
    assert_int_equal(hm_sim_step(sim), HM_ERR_USAGE);
    assert_int_equal(hm_sim_advance(sim, 1), HM_ERR_USAGE);
    assert_int_equal(hm_sim_interpolate(sim, 1, &q, NULL, NULL), HM_ERR_USAGE);
    assert_int_equal(hm_sim_frame(sim, HM_FRAME_CONTENT_ALL, &frame), HM_ERR_USAGE);
    assert_int_equal(hm_sim_result(sim, &result), HM_ERR_USAGE);
}

static void test_order_of_calls(void **state)
{
    (void)state;
    motion *m = motion_text(free_fall);
    double q, v;
    check_not_started(m->sim);
    m->options.method = "none such"; /* a start that was refused is none */
    assert_int_equal(hm_sim_start(m->sim, &m->options), HM_ERR_USAGE);
    check_not_started(m->sim);
    m->options.end = -1;
    assert_int_equal(hm_sim_start(m->sim, &m->options), HM_ERR_USAGE);
    check_not_started(m->sim);
    assert_int_equal(hm_sim_start(m->sim, NULL), HM_OK);
    motion_advance(m, 1);
    assert_int_equal(hm_sim_advance(m->sim, 0.5), HM_ERR_USAGE); /* time does not go back */
    assert_int_equal(hm_sim_set_param(m->sim, "g", 4), HM_OK);   /* from here on */
    motion_advance(m, 1);
    motion_advance(m, 2);
    check_number("x'", motion_value(m, "x'"), -2 - 4, 1e-12);
    check_number("x", motion_value(m, "x"), -1 - 2 - 2, 1e-12);
    assert_int_equal(hm_sim_interpolate(m->sim, 99, NULL, &v, NULL), HM_OK); /* within the step */
    check_number("clamped", v, -6, 1e-12);
    assert_int_equal(hm_sim_interpolate(m->sim, -99, &q, NULL, NULL), HM_OK);
    check_number("clamped at its start", q, -1, 1e-12);
    motion_close(m);
}

/* ---- callbacks that stop ---- */

typedef struct patience {
    int left;
    double t;
    hm_frame_reason reason;
} patience;

static bool count_frames(void *user, const hm_frame *frame)
{
    patience *p = user;
    p->t = frame->t;
    p->reason = frame->reason;
    return --p->left > 0;
}

static bool count_steps(void *user, double t, double part)
{
    patience *p = user;
    p->t = t;
    assert_true(part >= 0 && part <= 1);
    return --p->left > 0;
}

/* At the first frame, at one in between, at the last, which is no output time. */
static void test_frames_stop(void **state)
{
    (void)state;
    const struct {
        int frames;
        double t;
        hm_frame_reason reason;
    } cases[] = {{1, 0, HM_FRAME_REASON_OUTPUT},
                 {3, 1, HM_FRAME_REASON_OUTPUT},
                 {6, 2.25, HM_FRAME_REASON_END}};
    for (int k = 0; k < 3; k++) {
        motion *m = motion_text(free_fall);
        patience p = {.left = cases[k].frames};
        m->options.end = 2.25;
        m->options.on_frame = count_frames;
        m->options.user = &p;
        assert_int_equal(motion_run(m), HM_OK);
        assert_int_equal(m->result.status, HM_RUN_INTERRUPTED);
        assert_true(motion_says(m, "interrupted at t = "));
        check_number("t", p.t, cases[k].t, 1e-15);
        assert_int_equal(p.reason, cases[k].reason);
        motion_close(m);
    }
}

static void test_progress_stops(void **state)
{
    (void)state;
    motion *m = motion_text("coord x; kinetic x'^2/2; potential x^2/2; initial x = 1\n"
                            "simulate 0 .. 100");
    patience p = {.left = 5};
    m->options.on_progress = count_steps;
    m->options.user = &p;
    assert_int_equal(motion_run(m), HM_OK);
    assert_int_equal(m->result.status, HM_RUN_INTERRUPTED);
    assert_int_equal(m->result.steps, 5);
    check_number("t", m->result.t_end, p.t, 0);
    motion_close(m);
}

/* The frame of an event stops the run, before it acts and after. */
static void test_event_frames_stop(void **state)
{
    (void)state;
    for (int frames = 2; frames <= 3; frames++) {
        motion *m = motion_text("coord x; kinetic x'^2/2; initial x = 1, x' = -1\n"
                                "event wall: x = 0 falling set x' = 2; simulate 0 .. 3 every 10");
        patience p = {.left = frames};
        m->options.on_frame = count_frames;
        m->options.user = &p;
        assert_int_equal(motion_run(m), HM_OK);
        assert_int_equal(m->result.status, HM_RUN_INTERRUPTED);
        assert_int_equal(p.reason, HM_FRAME_REASON_EVENT);
        check_number("t", m->result.t_end, 1, 1e-12);
        motion_close(m);
    }
}

/* A run of no length gives one frame and the state as it is. */
static void test_no_length(void **state)
{
    (void)state;
    motion *m = motion_text("coord x; kinetic x'^2/2; initial x = 3");
    patience p = {.left = 10};
    m->options.start = m->options.end = m->options.every = 1;
    m->options.on_frame = count_frames;
    m->options.user = &p;
    motion_must(m);
    assert_int_equal(p.left, 9);
    assert_int_equal(m->result.steps, 0);
    check_number("x", motion_value(m, "x"), 3, 0);
    motion_close(m);
}

/* ---- what grows beyond bounds is named ---- */

static void check_growth(const char *text, const char *what)
{
    motion *m = motion_text(text);
    assert_int_equal(motion_run(m), HM_ERR_NUMERIC);
    assert_int_equal(m->result.status, HM_RUN_FAILED);
    check_number(text, m->result.t_end, 1, 1e-3);
    if (!motion_says(m, what))
        fail_msg("'%s' does not name %s", m->result.message, what);
    motion_close(m);
}

static void test_growth(void **state)
{
    (void)state;
    check_growth("coord x; state w' = w^2; kinetic x'^2/2; initial w = 1; simulate 0 .. 2",
                 "without bound: w = ");
    check_growth("coord x; kinetic x'^2/2; force x = x'^2; initial x' = 1; simulate 0 .. 2",
                 "without bound: x' = ");
    check_growth("coord y, x; kinetic (x'^2 + y'^2)/2; force x = 6*x^2; initial x = 1, x' = 2\n"
                 "initial y = 1e7, y' = 1; simulate 0 .. 2",
                 "without bound: x");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_refused_methods),
        cmocka_unit_test(test_step_is_needed),
        cmocka_unit_test(test_names),
        cmocka_unit_test(test_defaults),
        cmocka_unit_test(test_most_steps),
        cmocka_unit_test(test_order_of_calls),
        cmocka_unit_test(test_frames_stop),
        cmocka_unit_test(test_progress_stops),
        cmocka_unit_test(test_event_frames_stop),
        cmocka_unit_test(test_no_length),
        cmocka_unit_test(test_growth),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
