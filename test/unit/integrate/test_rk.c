/* Explicit Runge-Kutta methods: orders, dense output, evaluations, stiffness, determinism. */
#include "support/check.h"
#include "support/motion.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* y'' = -y with a nonlinear companion: x = sin t, and u' = -2 t u^2: u = 1/(1 + t^2). */
static const char smooth[] = "coord x; state u' = -2*t*u^2; kinetic x'^2/2; potential x^2/2\n"
                             "initial x' = 1, u = 1; simulate 0 .. 2 every 0.1";
/* Nothing special about this one: orders show as they are. */
static const char plain[] = "coord x; mass x, x = 1; force x = -x^3 + cos(t)*x'\n"
                            "initial x = 1; simulate 0 .. 3";

/* Where it is with (about) fixed steps. */
static void end_with_step(const char *method, double rtol, double h, double *y)
{
    motion *m = motion_text(plain);
    m->options.method = method;
    m->options.rtol = m->options.atol = rtol;
    m->options.step = h;
    m->options.largest_step = h > 0 ? h : INFINITY;
    motion_must(m);
    hm_sim_state(m->sim, y, y + 1, NULL);
    motion_close(m);
}

static double error_with_step(const char *method, double h)
{
    double y[2], exact[2];
    end_with_step("dop853", 1e6, 0.03, exact);
    end_with_step(method, 1e6, h, y); /* never rejects */
    return scaled_error(2, y, exact);
}

static void check_order(const char *method, double h, double expected)
{
    double coarse = error_with_step(method, h), fine = error_with_step(method, h / 2);
    double order = log2(coarse / fine);
    print_message("%s: errors %.2e, %.2e: order %.2f\n", method, coarse, fine, order);
    if (fabs(order - expected) > 0.2)
        fail_msg("%s has order %.2f", method, order);
}

static void test_orders(void **state)
{
    (void)state;
    check_order("rk5", 0.03, 5);
    check_order("dop853", 0.25, 8);
}

/* The largest error of frames between steps of length h. */
typedef struct dense {
    double worst;
} dense;

static bool compare_frame(void *user, const hm_frame *frame)
{
    dense *d = user;
    d->worst = fmax(d->worst, fabs(frame->q[0] - sin(frame->t)));
    d->worst = fmax(d->worst, fabs(frame->v[0] - cos(frame->t)));
    return true;
}

static double dense_error(const char *method, double h)
{
    motion *m = motion_text(smooth);
    dense d = {0};
    m->options.method = method;
    m->options.rtol = m->options.atol = 1e6;
    m->options.step = m->options.largest_step = h;
    m->options.every = 0.003;
    m->options.content = HM_FRAME_CONTENT_STATE;
    m->options.on_frame = compare_frame;
    m->options.user = &d;
    motion_must(m);
    motion_close(m);
    return d.worst;
}

static void check_dense_order(const char *method, double h, double least)
{
    double order = log2(dense_error(method, h) / dense_error(method, h / 2));
    print_message("%s: dense output of order %.2f\n", method, order);
    if (order < least - 0.3)
        fail_msg("dense output of %s has order %.2f", method, order);
}

static void test_dense_output(void **state)
{
    (void)state;
    check_dense_order("rk5", 0.125, 5); /* locally of order 5 in h: errors of h^5 */
    check_dense_order("dop853", 0.5, 8);
}

static void test_tolerance_is_respected(void **state)
{
    (void)state;
    for (double tol = 1e-4; tol > 1e-13; tol *= 1e-2) {
        motion *m = motion_text(smooth);
        m->options.rtol = m->options.atol = tol;
        motion_must(m);
        double error = fabs(motion_value(m, "x") - sin(2));
        if (error > 10 * tol)
            fail_msg("tolerance %.0e gives an error of %.1e", tol, error);
        motion_close(m);
    }
}

static void test_stiffness_is_found(void **state)
{
    (void)state;
    motion *m = motion_text("coord x; mass x, x = 1; force x = -1e4*x' - 1e4*(x - cos(t))\n"
                            "initial x = 0; simulate 0 .. 20");
    m->options.method = "dop853";
    m->options.rtol = m->options.atol = 1e-5;
    motion_must(m);
    assert_true(m->result.stiff);
    motion_close(m);
    m = motion_text(smooth);
    motion_must(m);
    assert_false(m->result.stiff);
    motion_close(m);
}

static void test_auto_changes_to_radau(void **state)
{
    (void)state;
    motion *m = motion_text("coord x; mass x, x = 1; force x = -1e5*x' - 1e5*(x - cos(t))\n"
                            "initial x = 0; simulate 0 .. 20");
    motion_must(m);
    assert_string_equal(m->result.method, "radau");
    assert_true(motion_says(m, "stiff"));
    assert_true(fabs(motion_value(m, "x") - (cos(20) + sin(20)) / 2) < 1e-4);
    motion_close(m);
}

/* Same input, same bits. */
static void test_bits(void **state)
{
    (void)state;
    double first[14], again[14];
    for (int k = 0; k < 3; k++) {
        motion *m = motion_file("examples/andrews.hamel", NULL, 0);
        motion_must(m);
        hm_sim_state(m->sim, again, again + 7, NULL);
        if (k == 0)
            memcpy(first, again, sizeof first);
        assert_memory_equal(first, again, sizeof first);
        motion_must(m); /* and once more from its end: must at least work */
        motion_close(m);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_orders),
        cmocka_unit_test(test_dense_output),
        cmocka_unit_test(test_tolerance_is_respected),
        cmocka_unit_test(test_stiffness_is_found),
        cmocka_unit_test(test_auto_changes_to_radau),
        cmocka_unit_test(test_bits),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
