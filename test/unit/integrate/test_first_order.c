/* Degenerate Lagrangians, whose velocities follow from the coordinates, with all that may be around
 * them: coordinates with mass, time, inputs, states, events, frames between steps. The reference is
 * their first-order equations, written by hand and integrated by the classical Runge-Kutta method. */
#include "support/check.h"
#include "support/motion.h"

#include <math.h>
#include <string.h>

/* x and y have no mass, z has: y' = x - z - w - t, x' = u - y, z'' = x - z, w' = -w, u = sin 2t. */
static const char mixed[] =
    "coord x, y, z; state w' = -w; input u = sin(2*t)\n"
    "lagrangian x*y' - (x^2 + y^2)/2 + z'^2/2 - z^2/2 + z*x + w*x + u*y + t*x\n"
    "initial x = 1, y = 0.5, z = -0.3, z' = 0.2, w = 0.8, x' ~ 0, y' ~ 0\n"
    "simulate 0 .. 2 every 0.3";

enum { SIZE = 5 };

static void mixed_rates(double t, const double *s, double *rate)
{
    double x = s[0], y = s[1], z = s[2], vz = s[3], w = s[4];
    rate[0] = sin(2 * t) - y;
    rate[1] = x - z - w - t;
    rate[2] = vz;
    rate[3] = x - z;
    rate[4] = -w;
}

typedef void (*rate_function)(double t, const double *s, double *rate);

static void integrate(rate_function rates, double end, double *s)
{
    enum { STEPS = 4000 };
    double h = end / STEPS, k[4][SIZE], at[SIZE];
    for (int i = 0; i < STEPS; i++) {
        static const double part[4] = {0, 0.5, 0.5, 1};
        for (int j = 0; j < 4; j++) {
            for (int c = 0; c < SIZE; c++)
                at[c] = s[c] + (j ? part[j] * h * k[j - 1][c] : 0);
            rates((i + part[j]) * h, at, k[j]);
        }
        for (int c = 0; c < SIZE; c++)
            s[c] += h / 6 * (k[0][c] + 2 * k[1][c] + 2 * k[2][c] + k[3][c]);
    }
}

static void expected_at(double t, double *s)
{
    const double start[SIZE] = {1, 0.5, -0.3, 0.2, 0.8};
    memcpy(s, start, sizeof start);
    integrate(mixed_rates, t, s);
}

typedef struct watcher {
    double tolerance;
    int frames;
} watcher;

static bool check_frame(void *user, const hm_frame *frame)
{
    watcher *w = user;
    double s[SIZE], rate[SIZE];
    expected_at(frame->t, s);
    mixed_rates(frame->t, s, rate);
    const double actual[] = {frame->q[0], frame->q[1], frame->q[2], frame->v[2], frame->z[0]};
    check_close("state", SIZE, actual, s, w->tolerance);
    check_close("velocities", 2, frame->v, rate, w->tolerance);
    w->frames++;
    return true;
}

static void check_mixed(const char *method, double step, double tolerance)
{
    motion *m = motion_text(mixed);
    watcher w = {.tolerance = tolerance};
    m->options.method = method;
    m->options.step = step;
    m->options.on_frame = check_frame;
    m->options.user = &w;
    motion_must(m);
    assert_string_equal(m->result.formulation, "dirac");
    assert_int_equal(w.frames, 8);
    motion_close(m);
}

static void test_mixed(void **state)
{
    (void)state;
    check_mixed("auto", 0, 1e-7);
    check_mixed("dop853", 0, 1e-7);
    check_mixed("radau", 0, 1e-6);
    check_mixed("midpoint", 0.002, 1e-5);
    check_mixed("midpoint", 0.07, 2e-2); /* frames lie between steps */
}

/* Events of what has no mass: x = cos t falls through 0 at pi/2; then it is set, and y with it goes
 * on from there. */
static void test_events(void **state)
{
    (void)state;
    motion *m = motion_text("coord x, y; lagrangian x*y' - (x^2 + y^2)/2\n"
                            "initial x = 1, x' ~ 0, y' ~ 0\n"
                            "event zero: x = 0 falling set x = 2; simulate 0 .. 2.5");
    motion_must(m); /* y' = x, x' = -y: (0, 1) becomes (2, 1) */
    assert_int_equal(m->result.event_count, 1);
    check_number("event", m->result.events[0].t, M_PI / 2, 1e-8);
    double t = 2.5 - M_PI / 2;
    check_number("x", motion_value(m, "x"), 2 * cos(t) - sin(t), 1e-7);
    check_number("y", motion_value(m, "y"), cos(t) + 2 * sin(t), 1e-7);
    motion_close(m);
}

/* Frames between steps show the velocities that follow from the coordinates there, x' = -y and y' = x,
 * whatever the method's polynomial makes of them; and so does an event of a velocity. */
static bool check_velocities(void *user, const hm_frame *frame)
{
    ++*(int *)user;
    const double expected[] = {-frame->q[1], frame->q[0]};
    check_close("q'", 2, frame->v, expected, 1e-14);
    check_number("x", frame->q[0], cos(frame->t), 1e-7);
    return true;
}

static void test_velocities_between_steps(void **state)
{
    (void)state;
    static const char *const methods[] = {"dop853", "rk5", "radau"};
    for (int k = 0; k < 3; k++) {
        motion *m = motion_text("coord x, y; lagrangian x*y' - (x^2 + y^2)/2\n"
                                "initial x = 1, x' ~ 0, y' ~ 0\n"
                                "event fast: x' = -0.5 falling record; simulate 0 .. 2 every 0.01");
        int frames = 0;
        m->options.method = methods[k];
        m->options.on_frame = check_velocities;
        m->options.user = &frames;
        motion_must(m);
        assert_int_equal(frames, 202);
        assert_int_equal(m->result.event_count, 1);
        check_number("event", m->result.events[0].t, asin(0.5), 1e-7);
        motion_close(m);
    }
}

/* |y| in the equations, y' = x - |y|, x' = -y: below 0 the spiral turns the other way. With
 * y > 0 up to y = 0 at t1: y = exp(-t/2) sin(w t)/w, w = sqrt(3)/2. */
static void test_switching(void **state)
{
    (void)state;
    motion *m = motion_text("coord x, y; lagrangian x*y' - (x^2 + y^2)/2; force x = abs(y)\n"
                            "initial x = 1, x' ~ 0, y' ~ 0\n"
                            "event zero: y = 0 falling record; simulate 0 .. 5");
    motion_must(m);
    double w = sqrt(0.75), t1 = M_PI / w, x1 = -exp(-t1 / 2), t = 5 - t1;
    assert_int_equal(m->result.event_count, 1);
    check_number("zero", m->result.events[0].t, t1, 1e-8);
    check_number("y", motion_value(m, "y"), x1 * exp(t / 2) * sin(w * t) / w, 1e-8);
    motion_close(m);
}

/* Sliding along y = 0, y' = x - 2 sign(y) - t, is not for these equations: an end with a reason. */
static void test_sticking(void **state)
{
    (void)state;
    motion *m = motion_text("coord x, y; lagrangian x*y' - (x^2 + y^2)/2; force x = 2*sign(y) + t\n"
                            "initial x = 0.5, y = 0.4, x' ~ 0, y' ~ 0; simulate 0 .. 2");
    assert_int_equal(motion_run(m), HM_ERR_UNDETERMINED);
    assert_int_equal(m->result.status, HM_RUN_FAILED);
    assert_true(motion_says(m, "a force sticks at a discontinuity here"));
    assert_true(fabs(motion_value(m, "y")) < 1e-8);
    hm_sim_set_state(m->sim, 0, (double[]){0.5, 0}, NULL, NULL); /* and from the start */
    assert_int_equal(motion_run(m), HM_ERR_UNDETERMINED);
    assert_true(motion_says(m, "cannot start here: a force sticks at a discontinuity"));
    motion_close(m);
}

/* Neither velocities nor accelerations follow: y occurs nowhere; or a servo acts on what has no mass. */
static void test_not_determined(void **state)
{
    (void)state;
    static const char *const texts[] = {
        "coord x, y; lagrangian -x^2/2; simulate 0 .. 1",
        "coord x, y; lagrangian x*y' - (x^2 + y^2)/2; servo x = t by x with gain 1",
        "coord x, y, z; lagrangian x*y' - (x^2 + y^2)/2; constraint c: z = x\n"
        "nonideal x = -abs(multiplier(c))",
    };
    for (size_t k = 0; k < sizeof texts / sizeof *texts; k++) {
        motion *m = motion_text(texts[k]);
        hm_status status = motion_run(m);
        if (status != HM_ERR_UNDETERMINED && status != HM_ERR_INCONSISTENT)
            fail_msg("'%s': %s", texts[k], hm_status_text(status));
        assert_true(hm_context_error_count(hm_sim_context(m->sim)) > 0);
        motion_close(m);
    }
}

/* Equations that have no value after a while: the last good state, and a reason. */
static void test_no_value(void **state)
{
    (void)state;
    static const char *const methods[] = {"auto", "radau", "midpoint"};
    for (int k = 0; k < 3; k++) {
        motion *m = motion_text("coord x, y; lagrangian x*y' - y^2/2 + sqrt(1 - t)*x\n"
                                "initial x = 1, x' ~ 0, y' ~ 0; simulate 0 .. 2");
        m->options.method = methods[k];
        m->options.step = 0.01;
        assert_int_not_equal(motion_run(m), HM_OK);
        assert_int_equal(m->result.status, HM_RUN_FAILED);
        double left = fmax(1 - m->result.t_end, 0);
        check_number("t", m->result.t_end, 1, 1e-2);
        /* y' = -sqrt(1 - t), x' = -y */
        check_number("y", motion_value(m, "y"), 2.0 / 3 * (pow(left, 1.5) - 1), 1e-3);
        motion_close(m);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_mixed),
        cmocka_unit_test(test_events),
        cmocka_unit_test(test_velocities_between_steps),
        cmocka_unit_test(test_switching),
        cmocka_unit_test(test_sticking),
        cmocka_unit_test(test_not_determined),
        cmocka_unit_test(test_no_value),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
