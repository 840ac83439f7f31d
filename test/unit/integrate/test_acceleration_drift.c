/* Drift of the integrals of acceleration-level constraints: src/integrate/drift/acceleration_drift.c. */
#include "support/check.h"
#include "support/motion.h"

#include <math.h>

#define BENT                                                                                       \
    "coord x, y; kinetic (x'^2 + y'^2)/2; potential 3*x^2 + y^2\n"                                 \
    "constraint c: (3 + cos(x))*x'' + sin(t)*y'' = -x\n"                                           \
    "initial x = 1, y = 0.5, x' = 0.2, y' = 1; simulate 0 .. 10"

static double drift(const char *text, const char *method, double rtol, double step)
{
    motion *m = motion_text(text);
    m->options.method = method;
    m->options.rtol = m->options.atol = rtol;
    m->options.step = step;
    motion_must(m);
    double worst = motion_violation(m);
    motion_close(m);
    return worst;
}

/* x'' = t has an integral that is linear in the velocities: every method keeps it. */
static void test_linear(void **state)
{
    (void)state;
    assert_true(drift("coord x, y; kinetic (x'^2 + y'^2)/2; force y = -y\n"
                      "constraint c: x'' + y'' = t; initial y = 1; simulate 0 .. 10",
                      "dop853", 1e-9, 0) < 1e-9);
}

/* Otherwise it drifts as the tolerance, or the step, allows: seen, and not more. */
static void test_follows_the_tolerance(void **state)
{
    (void)state;
    double coarse = drift(BENT, "dop853", 1e-5, 0), fine = drift(BENT, "dop853", 1e-9, 0);
    print_message("dop853: %.1e, %.1e\n", coarse, fine);
    assert_true(coarse > 1e-7 && coarse < 1e-2);
    assert_true(fine > 1e-13 && fine < 1e-7);
    double large = drift(BENT, "midpoint", 1e-9, 0.02), small = drift(BENT, "midpoint", 1e-9, 0.01);
    print_message("midpoint: %.1e, %.1e\n", large, small);
    assert_true(large > 1e-8);
    check_number("order 2", large / small, 4, 0.2);
}

static bool keep_last(void *user, const hm_frame *frame)
{
    double *last = user;
    last[0] = frame->position_violation[0];
    last[1] = frame->velocity_violation[0];
    return true;
}

/* In frames too; and an event that sets velocities is not a drift. */
static void test_frames_and_resets(void **state)
{
    (void)state;
    double last[2] = {0};
    motion *m = motion_text(BENT " every 0.1\nevent kick: t = 5 set x' = x' + 3");
    m->options.content = HM_FRAME_CONTENT_VIOLATION;
    m->options.on_frame = keep_last;
    m->options.user = last;
    motion_must(m);
    assert_int_equal(m->result.event_count, 1);
    assert_true(m->result.velocity_violation[0] < 1e-8);
    assert_true(last[0] != 0 && fabs(last[0]) <= m->result.position_violation[0]);
    assert_true(last[1] != 0 && fabs(last[1]) <= m->result.velocity_violation[0]);
    motion_close(m);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_linear),
        cmocka_unit_test(test_follows_the_tolerance),
        cmocka_unit_test(test_frames_and_resets),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
