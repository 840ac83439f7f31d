/* Isolated rank drops of the constraints (src/integrate/rank/rank.c): linkages pass their flat positions
 * on the branch they are on; where the motion does not lead across, the run stops there. */
#include "support/check.h"
#include "support/motion.h"

#include <math.h>
#include <stdio.h>

/* IFToMM A02: N four-bars side by side, all flat at once. */
#define FOURBARS_OF(N)                                                                             \
    "param N = " N ", g = 9.81; coord x[0..N], y[0..N]\n"                                          \
    "for i = 0..N { body upright[i] { mass 1 at [i + x[i], y[i]]/2 + [i, 0]/2 } }\n"               \
    "for i = 0..N { kinetic (x[i]'^2 + y[i]'^2)/24; constraint bar[i]: x[i]^2 + y[i]^2 = 1 }\n"    \
    "for i = 1..N {\n"                                                                             \
    "  body top[i] { mass 1 at [i - 0.5 + (x[i-1] + x[i])/2, (y[i-1] + y[i])/2] }\n"               \
    "  kinetic ((x[i]' - x[i-1]')^2 + (y[i]' - y[i-1]')^2)/24\n"                                   \
    "  constraint beam[i]: (1 + x[i] - x[i-1])^2 + (y[i] - y[i-1])^2 = 1 }\n"                      \
    "gravity [0, -g]\n"                                                                            \
    "for i = 0..N { initial x[i] = 0, y[i] = 1, x[i]' = 1, y[i]' = 0 }\n"

/* theta'' = c sin theta of the parallelogram branch [iftomm_A02_n_fourbar.md], by Stoermer-Verlet
 * with Richardson extrapolation: sin theta at t = 10. */
static double parallelogram(int N, long steps)
{
    double c = 9.81 * ((N + 1) / 2.0 + N) / ((N + 1) / 3.0 + N), h = 10.0 / (double)steps;
    double angle = 0, rate = 1; /* half a step later it is still that */
    for (long i = 0; i < steps; i++) {
        angle += h * rate;
        rate += h * c * sin(angle);
    }
    return angle;
}

static double exact_x(int N)
{
    double coarse = parallelogram(N, 200000), fine = parallelogram(N, 400000);
    return sin(fine + (fine - coarse) / 3);
}

static void run_bars(int N, const char *text, const char *method, double rtol, double tolerance)
{
    motion *m = motion_text(text);
    double exact = exact_x(N);
    m->options.end = 10;
    m->options.method = method;
    m->options.rtol = rtol;
    m->options.atol = 1e-2 * rtol;
    motion_must(m);
    print_message("N = %-3d %-7s rtol %.0e: error %.1e, steps %ld, rejected %ld\n", N, method, rtol,
                  fabs(motion_value(m, "x[0]") - exact), m->result.steps, m->result.rejected);
    check_number("x[0]", motion_value(m, "x[0]"), exact, tolerance);
    assert_true(motion_violation(m) < 1e-12);
    assert_true(m->result.balance_error < 100 * N * tolerance);
    assert_true(motion_says(m, "lost rank"));
    motion_close(m);
}

/* The drop is by N, and always at the same place: any step may come to lie on it. */
static void test_four_bars(void **state)
{
    (void)state;
    run_bars(1, FOURBARS_OF("1"), "dop853", 1e-9, 3e-7);
    run_bars(3, FOURBARS_OF("3"), "dop853", 1e-9, 3e-7);
    run_bars(4, FOURBARS_OF("4"), "dop853", 1e-7, 3e-5);
    run_bars(7, FOURBARS_OF("7"), "dop853", 1e-12, 3e-10);
    run_bars(3, FOURBARS_OF("3"), "rk5", 1e-9, 1e-6);
    run_bars(5, FOURBARS_OF("5"), "radau", 1e-9, 1e-6);
    run_bars(5, FOURBARS_OF("5"), "radau", 1e-11, 3e-8);
}

static void test_forty_bars(void **state)
{
    (void)state;
#ifdef HAMEL_SANITIZE
    run_bars(12, FOURBARS_OF("12"), "auto", 1e-9, 3e-7);
#else
    run_bars(20, FOURBARS_OF("20"), "auto", 1e-9, 3e-7);
    run_bars(40, FOURBARS_OF("40"), "auto", 1e-9, 3e-7);
#endif
}

/* Two models of one linkage agree at the end of a run, in the coordinate x1. */
static void compare_models(const char *closed, const char *open, double tolerance)
{
    static const char *const methods[] = {"auto", "dop853", "radau"};
    double x[3];
    for (int k = 0; k < 3; k++) {
        motion *m = motion_text(k > 0 ? closed : open);
        m->options.method = methods[k];
        m->options.rtol = 1e-11;
        m->options.atol = 1e-13;
        motion_must(m);
        assert_true(k == 0 || motion_says(m, "lost rank"));
        x[k] = k > 0 ? motion_value(m, "x1") : cos(motion_value(m, "p"));
        motion_close(m);
        check_number("x1", x[k], x[0], tolerance);
    }
}

/* Crank and rod of equal length: at x1 = 0 the rod may also stand still with the crank turning. */
static void test_slider_crank(void **state)
{
    (void)state;
    compare_models("coord x1, y1, x2, y2; let g = 9.81\n"
                   "body a { mass 1 at [x1, y1]/2 }; kinetic (x1'^2 + y1'^2)/24\n"
                   "body b { mass 1 at [x1 + x2, y1 + y2]/2 }\n"
                   "kinetic ((x2' - x1')^2 + (y2' - y1')^2)/24\n"
                   "body c { mass 1 at [x2, y2] }; gravity [0, -g]\n"
                   "constraint crank: x1^2 + y1^2 = 1; constraint guide: y2 = 0\n"
                   "constraint rod: (x2 - x1)^2 + (y2 - y1)^2 = 1\n"
                   "initial x1 = sqrt(2)/2, y1 = sqrt(2)/2, x2 = sqrt(2), y2 = 0\n"
                   "initial x1' = -3, y1' = 3, x2' = -6, y2' = 0\n"
                   "simulate 0 .. 5",
                   "coord p; let g = 9.81; let x1 = cos(p); let y1 = sin(p); let x2 = 2*cos(p)\n"
                   "body a { mass 1 inertia 1/12 at [x1, y1]/2 angle p }\n"
                   "body b { mass 1 inertia 1/12 at [x1 + x2, y1]/2 angle -p }\n"
                   "body c { mass 1 at [x2, 0] }; gravity [0, -g]\n"
                   "initial p = pi/4, p' = 3*sqrt(2); simulate 0 .. 5",
                   1e-8);
}

/* Bodies by absolute coordinates: three cranks and a coupler, one of them more than needed. */
static void test_redundant(void **state)
{
    (void)state;
    compare_models(
        "param a = 0.7, c = 1.9, g = 9.81; coord X[1..4], Y[1..4], th[1..4], x1\n"
        "let e(p) = [cos(p), sin(p)]\n"
        "for i = 1..3 { body crank[i] { mass 1.3 inertia 0.05 at [X[i], Y[i]] angle th[i] } }\n"
        "body coupler { mass 2 inertia 0.9 at [X[4], Y[4]] angle th[4] }\n"
        "gravity [0, -g]; kinetic x1'^2; constraint show: x1 = cos(th[1])\n"
        "for i = 1..3 {\n"
        "  constraint pin[i]: [X[i], Y[i]] - a/2*e(th[i]) = [(i-2)*c, 0]\n"
        "  constraint top[i]: [X[i], Y[i]] + a/2*e(th[i]) = [X[4], Y[4]] + (i-2)*c*e(th[4])\n"
        "  initial X[i] ~ (i-2)*c, Y[i] ~ a/2, th[i] = pi/2, th[i]' = 2 }\n"
        "initial X[4] ~ 0, Y[4] ~ a, th[4] = 0, th[4]' = 0; simulate 0 .. 5",
        "param a = 0.7, g = 9.81; coord p\n"
        "body crank { mass 3.9 inertia 0.15 at [cos(p), sin(p)]*a/2 angle p }\n"
        "body coupler { mass 2 at [cos(p), sin(p)]*a }\n"
        "gravity [0, -g]; kinetic (cos(p)')^2; initial p = pi/2, p' = 2; simulate 0 .. 5",
        1e-8);
}

/* Two rods of length 1 between a fixed point and a driven one that comes to a distance of 2 at
 * t = 5, with a speed: they cannot follow, accelerations grow beyond bounds. */
static void test_stops(void **state)
{
    static const char *const methods[] = {"dop853", "rk5", "radau"};
    (void)state;
    for (int k = 0; k < 3; k++) {
        motion *m = motion_text("coord x, y, s; body p { mass 1 at [x, y] }; kinetic s'^2/2\n"
                                "constraint a: x^2 + y^2 = 1; constraint drive: s = 1.5 + 0.1*t\n"
                                "constraint b: (x - s)^2 + y^2 = 1\n"
                                "initial s ~ 1.5, x ~ 0.75, y ~ 0.6; simulate 0 .. 10");
        m->options.method = methods[k];
        assert_int_not_equal(motion_run(m), HM_OK);
        assert_int_equal(m->result.status, HM_RUN_FAILED);
        check_number("t", m->result.t_end, 5, 1e-6);
        assert_true(motion_says(m, "stopped at t = "));
        assert_true(motion_violation(m) < 1e-9);
        motion_close(m);
    }
}

/* A bead on y^2 = x^3 comes to the cusp with a speed, turns round there at once: q'' is not bounded,
 * though the energy would not tell. */
static void test_cusp(void **state)
{
    static const char *const methods[] = {"dop853", "rk5", "radau", "taylor"};
    (void)state;
    for (int k = 0; k < 4; k++) {
        motion *m = motion_text("coord x, y; kinetic (x'^2 + y'^2)/2; potential x\n"
                                "constraint c: y^2 = x^3\n"
                                "initial x = 1, y = 1, x' ~ -1, y' ~ -1; simulate 0 .. 3");
        m->options.method = methods[k];
        assert_int_not_equal(motion_run(m), HM_OK);
        check_number("t", m->result.t_end, 0.868731, 1e-5);
        check_number("x", motion_value(m, "x"), 0, 1e-4);
        assert_true(motion_says(m, "accelerations are unbounded"));
        assert_true(m->result.balance_error < 1e-6);
        motion_close(m);
    }
}

/* x y = 0 has no gradient at the origin, and a bead on the x axis passes it all the same. */
static void test_crossing(void **state)
{
    (void)state;
    motion *m = motion_text("coord x, y; kinetic (x'^2 + y'^2)/2; potential x^2/2\n"
                            "constraint c: x*y = 0; initial x = 1, y = 0; simulate 0 .. 10");
    motion_must(m);
    check_number("x", motion_value(m, "x"), cos(10), 1e-8);
    check_number("y", motion_value(m, "y"), 0, 1e-12);
    motion_close(m);
}

/* Peaucellier's linkage folds its rhombus flat, where four branches meet, and the constraints lose
 * rank by two while the point that leads it comes to rest: it goes on along the one to which its
 * velocity leads. By eight coordinates, and by two angles, whose constraint keeps its rank. */
#define BODIES                                                                                     \
    "kinetic (dot(B', B') + dot(P', P') + dot(Q', Q') + dot(D', D'))/2\n"                          \
    "potential g*(B[2] + P[2] + Q[2] + D[2])\n"
#define EIGHT                                                                                      \
    "param g = 9.81; coord bx, by, px, py, qx, qy, dx, dy\n"                                       \
    "let B = [bx, by]; let P = [px, py]; let Q = [qx, qy]; let D = [dx, dy]\n" BODIES              \
    "constraint a: [dot(P, P) - L^2, dot(Q, Q) - L^2] = 0\n"                                       \
    "constraint b: [dot(P-B, P-B) - s^2, dot(Q-B, Q-B) - s^2] = 0\n"                               \
    "constraint d: [dot(P-D, P-D) - s^2, dot(Q-D, Q-D) - s^2] = 0\n"                               \
    "constraint c: (bx-1)^2 + by^2 = 1\n"                                                          \
    "param a0 = 2*cos(th0), b0 = acos((L^2 + a0^2 - s^2)/(2*a0*L))\n"                              \
    "initial bx ~ a0*cos(th0), by ~ a0*sin(th0), px ~ L*cos(th0+b0), py ~ L*sin(th0+b0)\n"         \
    "initial qx ~ L*cos(th0-b0), qy ~ L*sin(th0-b0)\n"                                             \
    "initial dx ~ 2*L*cos(b0)*cos(th0) - a0*cos(th0)\n"                                            \
    "initial dy ~ 2*L*cos(b0)*sin(th0) - a0*sin(th0)\n"                                            \
    "simulate 0 .. 5"
#define TWO                                                                                        \
    "param g = 9.81; coord th, be; let B = 2*cos(th)*[cos(th), sin(th)]\n"                         \
    "let P = L*[cos(th+be), sin(th+be)]; let Q = L*[cos(th-be), sin(th-be)]; let D = "             \
    "P+Q-B\n" BODIES "constraint c: L^2 + 4*cos(th)^2 - 4*L*cos(th)*cos(be) = s^2\n"               \
    "initial th = th0, be ~ acos((L^2 + 4*cos(th0)^2 - s^2)/(4*cos(th0)*L)); simulate 0 .. 5"

static void fold(const char *sizes, const char *eight, const char *two)
{
    static const struct {
        const char *method;
        double rtol, tolerance;
    } runs[] = {{"dop853", 1e-6, 1e-3}, {"dop853", 1e-9, 3e-6},  {"dop853", 1e-11, 3e-7},
                {"taylor", 1e-7, 1e-4}, {"taylor", 1e-10, 1e-6}, {"radau", 1e-8, 1e-5},
                {"radau", 1e-10, 1e-6}, {"rk5", 1e-8, 1e-5}};
    motion *exact = motion_text(two);
    exact->options.rtol = 1e-13;
    motion_must(exact);
    double th = motion_value(exact, "th");
    for (size_t k = 0; k < sizeof runs / sizeof *runs; k++) {
        motion *m = motion_text(eight);
        m->options.method = runs[k].method;
        m->options.rtol = runs[k].rtol;
        motion_must(m);
        double x = motion_value(m, "bx"), y = motion_value(m, "by");
        print_message("%s, %-6s rtol %.0e: error %.1e, steps %ld, rejected %ld\n", sizes,
                      runs[k].method, runs[k].rtol, fabs(atan2(y, x) - th), m->result.steps,
                      m->result.rejected);
        check_number("angle", atan2(y, x), th, runs[k].tolerance);
        assert_true(motion_violation(m) < 1e-12);
        assert_true(motion_says(m, "lost rank"));
        motion_close(m);
    }
    motion_close(exact);
}

static void test_peaucellier(void **state)
{
    (void)state;
#define FOLD(sizes) fold(sizes, "param " sizes "\n" EIGHT, "param " sizes "\n" TWO)
    FOLD("L = 2.5, s = 1.2, th0 = 0.2");
    FOLD("L = 3, s = 2, th0 = 0.1444");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_four_bars),    cmocka_unit_test(test_forty_bars),
        cmocka_unit_test(test_slider_crank), cmocka_unit_test(test_redundant),
        cmocka_unit_test(test_stops),        cmocka_unit_test(test_cusp),
        cmocka_unit_test(test_crossing),     cmocka_unit_test(test_peaucellier),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
