/* Loops with more constraints than needed (src/integrate/rank/row_choice.c): rows that depend on others only
 * where the constraints hold are left out of the stages of a step. Bricard's mechanism (IFToMM A04)
 * in angles and in points with unit vectors, which have no inertia, goes the same way. */
#include "support/check.h"
#include "support/motion.h"

#include <math.h>
#include <string.h>

#define LINK(i, p, q, u, w)                                                                        \
    "constraint link" #i ": [dot(" p "-" q ", " p "-" q ") - 1, dot(" p "-" q ", " u "), dot(" p   \
    "-" q ", " w "), dot(" u ", " w ")] = 0\n"

/* Bars of length 1 between P[i-1] and P[i], hinges with axes u[i] at P[i-1]. */
static const char bricard_in_points[] =
    "param m = 1, g = 9.81\n"
    "coord x[1..4], y[1..4], z[1..4], a[2..5], b[2..5], c[2..5]\n"
    "let P0 = [0,0,0]; let P1 = [x[1],y[1],z[1]]; let P2 = [x[2],y[2],z[2]]\n"
    "let P3 = [x[3],y[3],z[3]]; let P4 = [x[4],y[4],z[4]]; let P5 = [-1,0,0]\n"
    "let u1 = [0,0,1]; let u2 = [a[2],b[2],c[2]]; let u3 = [a[3],b[3],c[3]]\n"
    "let u4 = [a[4],b[4],c[4]]; let u5 = [a[5],b[5],c[5]]; let u6 = [0,1,0]\n"
    "let T(p,q) = dot(p',p') + dot(p',q') + dot(q',q')\n"
    "kinetic m/6*(T(P0,P1) + T(P1,P2) + T(P2,P3) + T(P3,P4) + T(P4,P5))\n"
    "potential m*g*(z[1]+z[2]+z[3]+z[4])\n" LINK(1, "P1", "P0", "u1", "u2")
        LINK(2, "P2", "P1", "u2", "u3") LINK(3, "P3", "P2", "u3", "u4")
            LINK(4, "P4", "P3", "u4", "u5")
                LINK(5, "P5", "P4", "u5",
                     "u6") "for i = 2..5 { constraint unit[i]: a[i]^2 + b[i]^2 + c[i]^2 = 1 }\n"
                           "initial x[1] ~ 0, y[1] ~ 1, z[1] ~ 0, a[2] ~ 1, b[2] ~ 0, c[2] ~ 0\n"
                           "initial x[2] ~ 0, y[2] ~ 1, z[2] ~ 1, a[3] ~ 0, b[3] ~ -1, c[3] ~ 0\n"
                           "initial x[3] ~ -1, y[3] ~ 1, z[3] ~ 1, a[4] ~ 0, b[4] ~ 0, c[4] ~ 1\n"
                           "initial x[4] ~ -1, y[4] ~ 0, z[4] ~ 1, a[5] ~ 1, b[5] ~ 0, c[5] ~ 0\n"
                           "simulate 0 .. 5";

static motion *run_angles(const char *method, double rtol, double end)
{
    motion *m = motion_file("examples/bricard.hamel", NULL, 0);
    m->options.method = method;
    m->options.rtol = rtol;
    m->options.atol = 1e-3 * rtol;
    m->options.end = end;
    motion_must(m);
    assert_false(motion_says(m, "lost rank"));
    return m;
}

/* P2 = R1 e + R1 R(q2) e with twists of a right angle: its height is sin(q2). */
static double height(const motion *m)
{
    return sin(motion_value(m, "q[2]"));
}

/* Every method keeps the one degree of freedom, in as many steps as one angle needs. */
static void test_methods(void **state)
{
    static const struct {
        const char *method;
        double rtol, tolerance;
        long most_steps;
    } runs[] = {
        {"dop853", 1e-9, 3e-7, 400}, {"rk5", 1e-9, 1e-6, 2000},   {"radau", 1e-9, 3e-6, 2000},
        {"taylor", 1e-9, 1e-6, 300}, {"dop853", 1e-6, 1e-3, 200}, {"dop853", 1e-12, 1e-9, 1000},
    };
    (void)state;
    motion *exact = run_angles("dop853", 1e-13, 10);
    for (size_t k = 0; k < sizeof runs / sizeof *runs; k++) {
        motion *m = run_angles(runs[k].method, runs[k].rtol, 10);
        check_number(runs[k].method, motion_value(m, "q[1]"), motion_value(exact, "q[1]"),
                     runs[k].tolerance);
        check_number("symmetry", motion_value(m, "q[1]"), motion_value(m, "q[5]"), 1e-10);
        assert_true(m->result.balance_error < 100 * runs[k].tolerance);
        assert_true(motion_violation(m) < 1e-12);
        assert_true(m->result.steps + m->result.rejected < runs[k].most_steps);
        motion_close(m);
    }
    motion_close(exact);
}

static void test_points(void **state)
{
    static const struct {
        const char *method;
        double step, tolerance;
    } runs[] = {{"dop853", 0, 1e-7}, {"taylor", 0, 1e-7}, {"rattle", 0.005, 0.02}};
    (void)state;
    motion *angles = run_angles("dop853", 1e-11, 5);
    for (int k = 0; k < 3; k++) {
        motion *m = motion_text(bricard_in_points);
        m->options.method = runs[k].method;
        m->options.step = runs[k].step;
        motion_must(m);
        check_number("height", motion_value(m, "z[2]"), height(angles), runs[k].tolerance);
        assert_true(runs[k].step > 0 || m->result.steps < 400);
        assert_true(m->result.balance_error < runs[k].tolerance);
        motion_close(m);
    }
    motion_close(angles);
}

/* A start where rows depend on each other by chance only: the flat four-bar sets off from the
 * position in which it is singular, and its rows count all the same. */
static void test_singular_start(void **state)
{
    (void)state;
    motion *m = motion_text("coord x1, y1, x2, y2; param g = 9.81\n"
                            "kinetic (x1'^2 + y1'^2 + x2'^2 + y2'^2)/2; potential g*(y1 + y2)\n"
                            "constraint a: x1^2 + y1^2 = 1\n"
                            "constraint b: (x2 - x1)^2 + (y2 - y1)^2 = 4\n"
                            "constraint c: (x2 - 2)^2 + y2^2 = 1\n"
                            "initial x1 = 1, y1 = 0, x2 = 3, y2 = 0\n"
                            "initial x1' = 0, y1' = 2, x2' = 0, y2' = 2; simulate 0 .. 1");
    motion_must(m);
    /* it stays a parallelogram, a pendulum of length 1 */
    double y = motion_value(m, "y1"), speed = hypot(motion_value(m, "x1'"), motion_value(m, "y1'"));
    check_number("coupler", motion_value(m, "x2") - motion_value(m, "x1"), 2, 1e-9);
    check_number("speed", speed * speed, 4 - 2 * 9.81 * y, 1e-6);
    assert_true(motion_violation(m) < 1e-12);
    motion_close(m);
}

/* Multipliers of minimum norm are reported for all rows: two equal rows share the force. */
static bool keep_lambda(void *user, const hm_frame *frame)
{
    double *lambda = user;
    lambda[0] = frame->lambda[0];
    lambda[1] = frame->lambda[1];
    return true;
}

static void test_multipliers(void **state)
{
    (void)state;
    double lambda[2] = {0, 0};
    motion *m = motion_text("coord x, y; kinetic (x'^2 + y'^2)/2; potential 9.81*y\n"
                            "constraint rod: x^2 + y^2 = 1; constraint again: 2*x^2 + 2*y^2 = 2\n"
                            "initial x = 0, y = -1, x' = 0, y' = 0; simulate 0 .. 1 every 0.5");
    m->options.on_frame = keep_lambda;
    m->options.user = lambda;
    m->options.content = HM_FRAME_CONTENT_FORCES;
    motion_must(m);
    /* A = [0, -2; 0, -4], reaction 9.81 = -2 l1 - 4 l2, shortest l = -9.81 (2, 4)/20 */
    check_number("first", lambda[0], -9.81 * 2 / 20, 1e-9);
    check_number("second", lambda[1], -9.81 * 4 / 20, 1e-9);
    motion_close(m);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_methods),
        cmocka_unit_test(test_points),
        cmocka_unit_test(test_singular_start),
        cmocka_unit_test(test_multipliers),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
