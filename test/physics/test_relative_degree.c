/* Servos whose actuators act through other coordinates: degrees, the law against one derived by hand,
 * closed loops against their closed forms, zero dynamics, refusals. */
#include "support/check.h"
#include "support/motion.h"
#include "support/probe.h"

#include <math.h>
#include <string.h>

#define FLEXIBLE                                                                                   \
    "param J = 2, I = 0.5, K = 30, w = 6.867, k = 3\n"                                             \
    "coord q, th\nkinetic J*q'^2/2 + I*th'^2/2\npotential K*(q - th)^2/2 - w*cos(q)\n"             \
    "servo goal: q = 1 + 0.3*sin(2*t) by th with gain k\n"

static unsigned degree(const probe *p, const char *name)
{
    hm_servo_info info = hm_system_servo(p->system, probe_servo(p, name));
    assert_null(info.refusal);
    return info.degree;
}

/* q'''' of the arm by hand [Spong 1987]: J q'' = K (th - q) - w sin q, differentiated twice. */
static double motor_torque(double t, const double *q, const double *v)
{
    const double J = 2, I = 0.5, K = 30, w = 6.867, k = 3;
    double q2 = (K * (q[1] - q[0]) - w * sin(q[0])) / J;
    double q3 = (K * (v[1] - v[0]) - w * cos(q[0]) * v[0]) / J;
    double beta = q[0] - 1 - 0.3 * sin(2 * t), beta1 = v[0] - 0.6 * cos(2 * t);
    double beta2 = q2 + 1.2 * sin(2 * t), beta3 = q3 + 2.4 * cos(2 * t);
    double q4 = 4.8 * sin(2 * t) - 4 * k * beta3 - 6 * k * k * beta2 - 4 * pow(k, 3) * beta1 -
                pow(k, 4) * beta;
    double th2 = (J * q4 + w * (cos(q[0]) * q2 - sin(q[0]) * v[0] * v[0])) / K + q2;
    return I * th2 - K * (q[0] - q[1]);
}

static void flexible_joint(void **state)
{
    (void)state;
    probe *p = probe_text(FLEXIBLE);
    assert_int_equal(degree(p, "goal"), 4);
    for (int i = 0; i < 20; i++) {
        double t = 0.1 * i, q[2] = {sin(3.0 * i), cos(2.0 * i)}, v[2] = {cos(5.0 * i), sin(i)};
        probe_state(p, t, q, v);
        double expected = motor_torque(t, q, v);
        check_number("u on q", p->at.u[0], 0, 0);
        check_number("u on th", p->at.u[1], expected, 1e-10 * (1 + fabs(expected)));
    }
    probe_close(p);
}

/* Two links, the first behind a spring, the second driven directly, reaction between them. */
#define TWO_LINKS                                                                                  \
    "param K = 40, k = 2\ncoord a, b, th\n"                                                        \
    "kinetic (3 + 0.8*cos(b))*a'^2/2 + (0.6 + 0.4*cos(b))*a'*b' + 0.3*b'^2 + 0.2*th'^2\n"          \
    "potential K*(a - th)^2/2\nservo aim: [a, b] = [1, 0.5] by b, th with gain k\n"

static void mixed_degrees(void **state)
{
    (void)state;
    probe *p = probe_text(TWO_LINKS);
    assert_int_equal(degree(p, "aim[1]"), 4);
    assert_int_equal(degree(p, "aim[2]"), 2);
    probe_close(p);
    motion *m = motion_text(TWO_LINKS "initial b = 0.5\nsimulate 0 .. 2\n");
    motion_must(m);
    double s = 2 * 2;
    check_number("a", motion_value(m, "a"), 1 - (1 + s + s * s / 2 + s * s * s / 6) * exp(-s),
                 1e-7);
    check_number("b", motion_value(m, "b"), 0.5, 1e-9);
    motion_close(m);
    m = motion_text(TWO_LINKS "initial b = -0.3, b' = 0.7, a' = 0.2, th = 0.1\nsimulate 0 .. 2\n");
    motion_must(m);
    check_number("b", motion_value(m, "b"), 0.5 + (-0.8 + (0.7 - 2 * 0.8) * 2) * exp(-s), 1e-7);
    motion_close(m);
}

/* The same crane with the load's place as coordinates and the rope as a constraint. */
static void crane_with_a_rope(void **state)
{
    (void)state;
    probe *p = probe_text("param mt = 10, mw = 20, m = 100, g = 9.81, k = 2\ncoord s, n, X, Y\n"
                          "kinetic (mt*s'^2 + mw*n'^2 + m*(X'^2 + Y'^2))/2\npotential -m*g*Y\n"
                          "constraint rope: (X - s)^2 + Y^2 = n^2\n"
                          "servo load: [X, Y] = [t, 3] by s, n with gain k\n"
                          "initial s = 0.5, Y = 3, n ~ 3, X ~ 0.8\n");
    probe *angle = probe_text("param mt = 10, mw = 20, m = 100, g = 9.81, k = 2\ncoord s, n, th\n"
                              "let X = s + n*sin(th)\nlet Y = n*cos(th)\n"
                              "kinetic (mt*s'^2 + mw*n'^2 + m*(X'^2 + Y'^2))/2\n"
                              "potential -m*g*Y\n"
                              "servo load: [X, Y] = [t, 3] by s, n with gain k\ninitial n = 3\n");
    const double s = 0.5, n = 3.1, th = 0.2, ds = 0.3, dn = -0.1, dth = 0.15;
    const double q[4] = {s, n, s + n * sin(th), n * cos(th)};
    const double v[4] = {ds, dn, ds + dn * sin(th) + n * cos(th) * dth,
                         dn * cos(th) - n * sin(th) * dth};
    assert_int_equal(degree(p, "load[1]"), 4);
    assert_int_equal(degree(p, "load[2]"), 2);
    probe_state(p, 0.4, q, v);
    probe_state(angle, 0.4, (double[]){s, n, th}, (double[]){ds, dn, dth});
    check_number("trolley", p->at.u[0], angle->at.u[0], 1e-8 * fabs(angle->at.u[0]));
    check_number("winch", p->at.u[1], angle->at.u[1], 1e-8 * fabs(angle->at.u[1]));
    probe_close(p);
    probe_close(angle);
}

#define CART                                                                                       \
    "param l = 0.5, g = 9.81, c = 0.1\ncoord x, th\nlet P = [x + l*sin(th), -l*cos(th)]\n"         \
    "kinetic x'^2 + dot(P', P')/2\npotential g*P[2]\ndissipation c*th'^2/2\n"                      \
    "servo hold: x = 0 by x with gain 3\n"

static hm_zero_dynamics zero_dynamics(const char *text)
{
    hm_zero_dynamics zeros;
    probe *p = probe_text(text);
    assert_int_equal(hm_sim_zero_dynamics(p->sim, &zeros), HM_OK);
    assert_true(zeros.known);
    probe_close(p);
    return zeros;
}

/* With the cart held the pendulum is left: l^2 s^2 + c s +- g l = 0. */
static void pendulum_is_left(void **state)
{
    (void)state;
    hm_zero_dynamics down = zero_dynamics(CART), up = zero_dynamics(CART "initial th = pi\n");
    hm_zero_dynamics none = zero_dynamics(FLEXIBLE);
    assert_int_equal(down.dimension, 2);
    assert_int_equal(down.stability, HM_STABILITY_STABLE);
    check_number("down", down.largest, -0.1 / (2 * 0.25), 1e-6);
    assert_int_equal(up.stability, HM_STABILITY_UNSTABLE);
    check_number("up", up.largest, -0.2 + sqrt(0.04 + 9.81 / 0.5), 1e-6);
    assert_int_equal(none.dimension, 0);
}

static void check_refusal(const char *text, const char *row, const char *fragment)
{
    probe *p = probe_text(text);
    const char *why = hm_system_servo(p->system, probe_servo(p, row)).refusal;
    if (!why || !strstr(why, fragment))
        fail_msg("'%s' does not say '%s'", why ? why : "nothing", fragment);
    probe_close(p);
}

static void refusals(void **state)
{
    (void)state;
    check_refusal("coord x, y\nkinetic (x'^2 + y'^2)/2\nservo s: x = 0 by y with gain 2\n", "s",
                  "no derivative");
    check_refusal("coord x, y, z\nkinetic (x'^2 + y'^2 + z'^2)/2\npotential (x - z)^2/2\n"
                  "servo s: [x, y] = 0 by y, z with gain [[1, 0], [0, 2]]\n",
                  "s[1]", "matrix");
    check_refusal("coord x, y\nkinetic (x'^2 + y'^2)/2\npotential (x - y)^2/2\n"
                  "constraint wall: x >= -1\nservo s: x = 0 by y with gain 2\n",
                  "s", "always hold");
    check_refusal("coord x, y\nkinetic (x'^2 + y'^2)/2\npotential (x - y)^2/2\n"
                  "servo s: x' = 0 by y with gain 2 law lyapunov\n",
                  "s", "lyapunov");
}

/* Rows that say the same twice are left as they are. */
static void implied_rows(void **state)
{
    (void)state;
    probe *p = probe_text("coord x, y\nkinetic (x'^2 + y'^2)/2\n"
                          "servo s: [x, 2*x] = [1, 2] by x with gain 2\n");
    hm_servo_info a = hm_system_servo(p->system, 0), b = hm_system_servo(p->system, 1);
    assert_true(a.implied != b.implied && !a.refusal && !b.refusal);
    probe_evaluate(p);
    assert_int_equal(p->status, HM_OK);
    check_number("u", p->at.u[0], 4, 1e-12);
    probe_close(p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(flexible_joint),    cmocka_unit_test(mixed_degrees),
        cmocka_unit_test(crane_with_a_rope), cmocka_unit_test(pendulum_is_left),
        cmocka_unit_test(refusals),          cmocka_unit_test(implied_rows),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
