/* Explicit time in a linearised system: Floquet multipliers against published stability borders of
 * Mathieu's equation, closed forms, and a plain fixed-step integration of the equations as they are
 * written here; and no verdict where there is no period. */
#include "support/check.h"
#include "support/motion.h"

#include "analyse/linearize/explicit_time.h"

#include <complex.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

static hm_linearization *about(motion *m, const hm_linearize_options *options)
{
    hm_linearization *l = NULL;
    const hm_moved *moved;
    size_t count;
    assert_int_equal(hm_sim_make_consistent(m->sim, false, &moved, &count), HM_OK);
    hm_status status = hm_sim_linearize(m->sim, options, &l);
    if (status != HM_OK)
        fail_msg("%s", hm_status_text(status));
    assert_true(l->zeros >= l->family);
    return l;
}

static void has_multiplier(const hm_linearization *l, double complex wanted, double tolerance)
{
    double nearest = INFINITY;
    assert_non_null(l->multiplier_re);
    for (size_t k = 0; k < l->dimension; k++)
        nearest = fmin(nearest, cabs(CMPLX(l->multiplier_re[k], l->multiplier_im[k]) - wanted));
    if (!(nearest <= tolerance * (1 + cabs(wanted))))
        fail_msg("no multiplier %.15g%+.15gi: the nearest is %g away", creal(wanted), cimag(wanted),
                 nearest);
}

/* Multipliers of x'' + c x' + k(t) x = 0 by the classical Runge-Kutta method. */
static void plain_multipliers(double (*k)(double t, const double *p), const double *p, double c,
                              double T, double complex *out)
{
    enum { N = 20000 };
    double X[2][2] = {{1, 0}, {0, 1}}, h = T / N;
    for (int i = 0; i < N; i++)
        for (int j = 0; j < 2; j++) {
            double s[4][2], *x = X[j];
            for (int stage = 0; stage < 4; stage++) {
                double part = stage == 0 ? 0 : stage == 3 ? h : h / 2;
                double a = x[0] + (stage ? part * s[stage - 1][0] : 0);
                double b = x[1] + (stage ? part * s[stage - 1][1] : 0);
                s[stage][0] = b;
                s[stage][1] = -k(i * h + part, p) * a - c * b;
            }
            for (int d = 0; d < 2; d++)
                x[d] += h / 6 * (s[0][d] + 2 * s[1][d] + 2 * s[2][d] + s[3][d]);
        }
    double trace = X[0][0] + X[1][1], product = exp(-c * T);
    double complex root = csqrt(trace * trace / 4 - product);
    out[0] = trace / 2 + root;
    out[1] = trace / 2 - root;
}

static motion *mathieu(double a, double q, double c)
{
    char text[200];
    snprintf(text, sizeof text,
             "param a = %.17g, q = %.17g, c = %.17g\ncoord x\nkinetic x'^2/2\n"
             "force x = -(a - 2*q*cos(2*t))*x - c*x'\n",
             a, q, c);
    return motion_text(text);
}

/* Characteristic values [Abramowitz & Stegun 1964, table 20.1]: motions are bounded for a between a_r
 * and b_(r+1). */
static void test_mathieu_borders(void **state)
{
    (void)state;
    static const struct {
        double q, border;
        int stable_side;
    } list[] = {
        {1, -0.45513860, 1}, {1, -0.11024882, -1}, {1, 1.85910807, 1},   {1, 3.91702477, -1},
        {1, 4.37130098, 1},  {5, -5.80004602, 1},  {5, -5.79008060, -1}, {5, 1.85818754, 1},
        {5, 2.09946045, -1}, {5, 7.44910974, 1},
    };
    for (size_t i = 0; i < sizeof list / sizeof *list; i++)
        for (int side = -1; side <= 1; side += 2) {
            motion *m = mathieu(list[i].border + side * 1e-4, list[i].q, 0);
            hm_linearization *l = about(m, NULL);
            assert_int_equal(l->rest, HM_REST_EQUILIBRIUM);
            assert_int_equal(l->time, HM_TIME_DEPENDENCE_PERIODIC);
            check_number("period", l->period, M_PI, 1e-15);
            assert_int_equal(l->stability, side == list[i].stable_side ? HM_STABILITY_MARGINAL
                                                                       : HM_STABILITY_UNSTABLE);
            hm_linearization_destroy(l);
            motion_close(m);
        }
}

static double mathieu_stiffness(double t, const double *p)
{
    return p[0] - 2 * p[1] * cos(2 * t);
}

/* With damping the resonance needs an amplitude: the verdict follows the multipliers. */
static void test_damped_mathieu(void **state)
{
    (void)state;
    static const double list[][3] = {
        {1, 0.2, 0.1}, {1, 0.2, 0.3}, {1, 0.05, 0.2}, {4.2, 1.5, 0.05}};
    int stable = 0;
    for (size_t i = 0; i < sizeof list / sizeof *list; i++) {
        double complex wanted[2];
        const double *p = list[i];
        motion *m = mathieu(p[0], p[1], p[2]);
        hm_linearization *l = about(m, NULL);
        plain_multipliers(mathieu_stiffness, p, p[2], M_PI, wanted);
        has_multiplier(l, wanted[0], 1e-10);
        has_multiplier(l, wanted[1], 1e-10);
        bool inside = cabs(wanted[0]) < 1 && cabs(wanted[1]) < 1;
        stable += inside;
        assert_int_equal(l->stability, inside ? HM_STABILITY_STABLE : HM_STABILITY_UNSTABLE);
        hm_linearization_destroy(l);
        motion_close(m);
    }
    assert_in_range(stable, 1, 3);
}

static double support_stiffness(double t, const double *p)
{
    return (-9.81 + p[0] * p[1] * p[1] * cos(p[1] * t)) / p[2];
}

/* Kapitza's pendulum stands on its head where its support vibrates fast enough, as an angle and as a
 * rod between points, one of them moved by a motor. */
static void test_inverted_pendulum(void **state)
{
    (void)state;
    static const char *const models[2] = {
        "param g = 9.81, l = 0.8, a = 0.1, w = %g, c = %g\ncoord th\n"
        "body bob { mass 1 at [l*sin(th), l*cos(th) + a*cos(w*t)] }\ngravity [0, -g]\n"
        "force th = -c*l^2*th'\n",
        "param g = 9.81, l = 0.8, a = 0.1, w = %g, c = %g\ncoord x, y, s\n"
        "body bob { mass 1 at [x, y] }\nkinetic s'^2/2\ngravity [0, -g]\n"
        "constraint rod: x^2 + (y - s)^2 = l^2\nconstraint motor: s = a*cos(w*t)\n"
        "force x = -c*x'\ninitial x = 0, y ~ 0.9, s ~ 0.1\n"};
    for (int k = 0; k < 2; k++)
        for (int fast = 0; fast < 2; fast++)
            for (int damped = 0; damped < 2; damped++) {
                double complex wanted[2];
                char text[500];
                double p[3] = {0.1, fast ? 60 : 25, 0.8}, c = damped ? 0.3 : 0;
                snprintf(text, sizeof text, models[k], p[1], c);
                motion *m = motion_text(text);
                hm_linearization *l = about(m, NULL);
                plain_multipliers(support_stiffness, p, c, 2 * M_PI / p[1], wanted);
                assert_int_equal(l->dimension, 2);
                has_multiplier(l, wanted[0], 1e-9);
                has_multiplier(l, wanted[1], 1e-9);
                assert_int_equal(l->stability, !fast    ? HM_STABILITY_UNSTABLE
                                               : damped ? HM_STABILITY_STABLE
                                                        : HM_STABILITY_MARGINAL);
                hm_linearization_destroy(l);
                motion_close(m);
            }
}

/* Meissner: x'' = -k x, k = 1.8 for half a period, 0.2 for the other. */
static void test_jumps_in_time(void **state)
{
    (void)state;
    motion *m = motion_text("coord x\nkinetic x'^2/2\n"
                            "force x = -x*(1 + if(sin(t) > 0, 0.8, -0.8))\n");
    hm_linearization *l = about(m, NULL);
    double a = sqrt(1.8), b = sqrt(0.2);
    double trace = 2 * cos(a * M_PI) * cos(b * M_PI) -
                   (a / b + b / a) * sin(a * M_PI) * sin(b * M_PI);
    double complex root = csqrt(trace * trace / 4 - 1);
    has_multiplier(l, trace / 2 + root, 1e-8);
    has_multiplier(l, trace / 2 - root, 1e-8);
    hm_linearization_destroy(l);
    motion_close(m);
}

/* x'' + 0.1 x' + x = cos 2t has the motion (-3 cos 2t + 0.2 sin 2t)/9.04; deviations decay as in the
 * free oscillator. */
static void test_forced_oscillator(void **state)
{
    (void)state;
    motion *m = motion_text("coord x\nkinetic x'^2/2\nforce x = -0.1*x' - x + cos(2*t)\n"
                            "initial x = 0.3, x' = -1\n");
    hm_linearization *l = about(m, NULL);
    assert_int_equal(l->rest, HM_REST_NONE);
    assert_int_equal(l->stability, HM_STABILITY_UNDECIDED);
    assert_non_null(l->reason);
    hm_linearization_destroy(l);
    hm_linearize_options find = hm_linearize_options_default();
    find.find = find.periodic = true;
    l = about(m, &find);
    assert_int_equal(l->rest, HM_REST_PERIODIC);
    check_number("x", l->q[0], -3 / 9.04, 1e-11);
    check_number("x'", l->v[0], 0.4 / 9.04, 1e-11);
    has_multiplier(l, cexp(CMPLX(-0.05, sqrt(1 - 0.0025)) * M_PI), 1e-11);
    assert_int_equal(l->stability, HM_STABILITY_STABLE);
    hm_linearization_destroy(l);
    motion_close(m);
}

/* A circle r = 1 that attracts as exp(-2 t), run through in 2 pi: a multiplier exp(-4 pi), and one that
 * is 1 since the motion could begin later. The period has to be given. */
static void test_limit_cycle(void **state)
{
    (void)state;
    motion *m = motion_text("coord x\nkinetic x'^2/2\nforce x = -x - x'\n"
                            "state a' = a*(1 - a^2 - b^2) - b\nstate b' = a + b*(1 - a^2 - b^2)\n"
                            "initial a = 0.9, b = 0.1\n");
    hm_linearize_options find = hm_linearize_options_default();
    find.find = find.periodic = true;
    find.period = 2 * M_PI;
    hm_linearization *l = about(m, &find);
    assert_int_equal(l->rest, HM_REST_PERIODIC);
    check_number("radius", hypot(l->z[0], l->z[1]), 1, 1e-10);
    has_multiplier(l, 1, 1e-10);
    has_multiplier(l, exp(-4 * M_PI), 1e-10);
    assert_int_equal(l->stability, HM_STABILITY_STABLE);
    hm_linearization_destroy(l);
    motion_close(m);
}

/* What moves uniformly acts as t does: y'' = -(0.25 + 0.2 cos x) y with x' = 1. The matrix of one
 * instant has no positive real part; the motion is unstable. */
static void test_moving_coordinate(void **state)
{
    (void)state;
    static const char *const models[2] = {
        "coord x, y\nkinetic (x'^2 + y'^2)/2\nforce y = -y*(0.25 + 0.2*cos(x))\ninitial x' = 1\n",
        "coord x, y\nkinetic (x'^2 + y'^2)/2\nforce y = -y*(0.25 + 0.2*cos(x))\n"
        "constraint motor: x = t\n"};
    const double p[2] = {1, -0.4}; /* Mathieu's with t/2 for t */
    double complex wanted[2];
    plain_multipliers(mathieu_stiffness, p, 0, M_PI, wanted);
    for (int k = 0; k < 2; k++) {
        motion *m = motion_text(models[k]);
        hm_linearization *l = about(m, NULL);
        assert_int_equal(l->rest, HM_REST_STEADY);
        check_number("period", l->period, 2 * M_PI, 1e-12);
        has_multiplier(l, wanted[0], 1e-9);
        has_multiplier(l, wanted[1], 1e-9);
        assert_int_equal(l->stability, HM_STABILITY_UNSTABLE);
        hm_linearization_destroy(l);
        motion_close(m);
    }
}

/* t in the equations and no period: no verdict, whatever the matrix says; a wrong period is refused. */
static void test_no_verdict(void **state)
{
    (void)state;
    static const struct {
        const char *force;
        double period;
    } list[] = {{"-x*(1 + exp(-t)) - 0.1*x'", 0},
                {"-x*(1 + 0.1*cos(t) + 0.1*cos(sqrt(2)*t)) - 0.1*x'", 0},
                {"-x*(1 + 0.1*sin(t^2)) - 0.1*x'", 0},
                {"-x*(1 + 0.1*sin(x*t)) - x*t*0.01 - 0.1*x'", 0},
                {"-x*(1 + if(t > 50, 3, 0)) - 0.1*x'", 0},
                {"-x*(1 + 0.5*cos(t)) - 0.1*x'", 3}};
    for (size_t i = 0; i < sizeof list / sizeof *list; i++) {
        char text[200];
        hm_linearize_options o = hm_linearize_options_default();
        o.period = list[i].period;
        snprintf(text, sizeof text, "coord x\nkinetic x'^2/2\nforce x = %s\n", list[i].force);
        motion *m = motion_text(text);
        hm_linearization *l = about(m, &o);
        if (l->stability != HM_STABILITY_UNDECIDED || !l->reason ||
            l->time != HM_TIME_DEPENDENCE_OTHER)
            fail_msg("%s: %s", list[i].force, hm_stability_text(l->stability));
        hm_linearization_destroy(l);
        motion_close(m);
    }
}

/* Input signals are expressions of t, too; with a given period what cannot be read is found to repeat. */
static void test_inputs_and_given_period(void **state)
{
    (void)state;
    const double p[2] = {1, 0.2};
    double complex wanted[2];
    plain_multipliers(mathieu_stiffness, p, 0.1, M_PI, wanted);
    motion *m = motion_text("input u = 0.4*cos(2*t)\ncoord x\nkinetic x'^2/2\n"
                            "force x = -(1 - u)*x - 0.1*x'\n");
    hm_linearization *l = about(m, NULL);
    has_multiplier(l, wanted[0], 1e-10);
    hm_linearization_destroy(l);
    motion_close(m);
    m = motion_text("coord x\nkinetic x'^2/2\n"
                    "force x = -(1 - 0.4*cos(2*t + 0*t^2))*x - 0.1*x' + x*(sin(t^2) - sin(t^2))\n");
    hm_linearize_options o = hm_linearize_options_default();
    o.period = M_PI;
    l = about(m, &o);
    has_multiplier(l, wanted[0], 1e-10);
    hm_linearization_destroy(l);
    motion_close(m);
}

static void test_common_period(void **state)
{
    (void)state;
    check_number("2, 3", hmi_common_period((double[]){2, 3}, 2), 2 * M_PI, 1e-15);
    check_number("6, 4, 10", hmi_common_period((double[]){6, 4, 10}, 3), M_PI, 1e-15);
    check_number("0.1, 0.7", hmi_common_period((double[]){0.1, 0.7}, 2), 20 * M_PI, 1e-15);
    check_number("1, sqrt 2", hmi_common_period((double[]){1, sqrt(2)}, 2), 0, 0);
    check_number("1, 1.0000001", hmi_common_period((double[]){1, 1.0000001}, 2), 0, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_mathieu_borders),   cmocka_unit_test(test_damped_mathieu),
        cmocka_unit_test(test_inverted_pendulum), cmocka_unit_test(test_jumps_in_time),
        cmocka_unit_test(test_forced_oscillator), cmocka_unit_test(test_limit_cycle),
        cmocka_unit_test(test_moving_coordinate), cmocka_unit_test(test_no_verdict),
        cmocka_unit_test(test_common_period),     cmocka_unit_test(test_inputs_and_given_period),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
