/* Relative equilibria: linearised motion in a frame that moves along a symmetry
 * (src/analyse/linearize/relative_equilibrium.c), against exact results. */
#include "support/check.h"
#include "support/motion.h"

#include <hamel/linearize.h>

#include <complex.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

static hm_linearization *about(motion *m, const hm_linearize_options *options)
{
    hm_linearization *l = NULL;
    hm_status status = hm_sim_linearize(m->sim, options, &l);
    if (status != HM_OK)
        fail_msg("%s", hm_status_text(status));
    return l;
}

/* Is this among the eigenvalues? */
static void has_eigenvalue(const hm_linearization *l, double complex wanted, double tolerance)
{
    double nearest = INFINITY;
    for (size_t k = 0; k < l->dimension; k++)
        nearest = fmin(nearest, cabs(l->re[k] + l->im[k] * I - wanted));
    if (!(nearest <= tolerance * (1 + cabs(wanted))))
        fail_msg("no eigenvalue %g%+gi: the nearest is %g away", creal(wanted), cimag(wanted),
                 nearest);
}

/* The conical pendulum, W^2 = g/(l cos a), swings about the cone at W sqrt(1 + 3 cos^2 a). */
static void test_conical_pendulum(void **state)
{
    (void)state;
    double a = 0.6, W = sqrt(9.81 / cos(a));
    motion *m = motion_text("param g = 9.81, a = 0.6\ncoord x, y, z\n"
                            "kinetic (x'^2 + y'^2 + z'^2)/2\npotential g*z\n"
                            "constraint rod: x^2 + y^2 + z^2 = 1\n"
                            "initial x = sin(a), z = -cos(a), y' = sin(a)*sqrt(g/cos(a))\n");
    hm_linearization *l = about(m, NULL);
    assert_int_equal(l->rest, HM_REST_RELATIVE);
    assert_int_equal(l->symmetries, 1);
    assert_int_equal(l->dropped_count, 1);
    assert_int_equal(l->dimension, 3);
    has_eigenvalue(l, I * W * sqrt(1 + 3 * cos(a) * cos(a)), 1e-12);
    has_eigenvalue(l, 0, 1e-12);
    assert_int_equal(l->family, 1);
    assert_int_equal(l->stability, HM_STABILITY_MARGINAL);
    assert_non_null(strstr(l->frame, "x' = -3.4476"));
    hm_linearization_destroy(l);
    motion_close(m);
}

/* A circular orbit under r^-p: the epicyclic frequency is sqrt(3 - p) times that of the orbit. For
 * p > 3 it is unstable [Goldstein 1980]. */
static void test_circular_orbits(void **state)
{
    (void)state;
    static const double power[] = {2, 1, 3.5};
    for (size_t i = 0; i < 3; i++) {
        char text[300];
        snprintf(text, sizeof text,
                 "param p = %g\ncoord x, y\nkinetic (x'^2 + y'^2)/2\n"
                 "force x = -x*hypot(x, y)^(-p - 1), y = -y*hypot(x, y)^(-p - 1)\n"
                 "initial x = 0.6, y = 0.8, x' = -0.8, y' = 0.6\n",
                 power[i]);
        motion *m = motion_text(text);
        hm_linearization *l = about(m, NULL);
        assert_int_equal(l->rest, HM_REST_RELATIVE);
        assert_int_equal(l->dimension, 3);
        has_eigenvalue(l, csqrt(power[i] - 3), 1e-12);
        assert_int_equal(l->stability,
                         power[i] > 3 ? HM_STABILITY_UNSTABLE : HM_STABILITY_MARGINAL);
        hm_linearization_destroy(l);
        motion_close(m);
    }
}

/* Lagrange's triangle of three bodies: L^4 + L^2 + 27/4 (m1 m2 + m2 m3 + m3 m1) = 0 where the masses
 * add up to 1 and the triangle turns at the rate 1 [Routh 1875; Danby 1962]. */
static void test_lagrange_triangle(void **state)
{
    (void)state;
    static const double masses[2][3] = {{0.95, 0.04, 0.01}, {0.99, 0.006, 0.004}};
    for (size_t i = 0; i < 2; i++) {
        const double *w = masses[i];
        char text[1600];
        snprintf(text, sizeof text,
                 "param m1 = %g, m2 = %g, m3 = %g, h = sqrt(3)/2, c = m2 + m3/2, d = m3*h\n"
                 "coord x1, y1, x2, y2, x3, y3\n"
                 "kinetic (m1*(x1'^2 + y1'^2) + m2*(x2'^2 + y2'^2) + m3*(x3'^2 + y3'^2))/2\n"
                 "potential -m1*m2/hypot(x1 - x2, y1 - y2) - m2*m3/hypot(x3 - x2, y3 - y2)\n"
                 "potential -m1*m3/hypot(x1 - x3, y1 - y3)\n"
                 "initial x1 = -c, y1 = -d, x2 = 1 - c, y2 = -d, x3 = 0.5 - c, y3 = h - d\n"
                 "initial x1' = d, y1' = -c, x2' = d, y2' = 1 - c, x3' = d - h, y3' = 0.5 - c\n",
                 w[0], w[1], w[2]);
        motion *m = motion_text(text);
        hm_linearization *l = about(m, NULL);
        double K = 27.0 / 4 * (w[0] * w[1] + w[1] * w[2] + w[2] * w[0]);
        assert_int_equal(l->rest, HM_REST_RELATIVE);
        assert_int_equal(l->dropped_count, 3);
        assert_int_equal(l->dimension, 9);
        has_eigenvalue(l, csqrt((-1 + csqrt(1 - 4 * K)) / 2), 1e-8);
        has_eigenvalue(l, csqrt((-1 - csqrt(1 - 4 * K)) / 2), 1e-8);
        has_eigenvalue(l, I, 1e-8);
        assert_int_equal(l->stability == HM_STABILITY_UNSTABLE, 4 * K > 1);
        hm_linearization_destroy(l);
        motion_close(m);
    }
}

/* A blade on ice turns in a circle: every neighbour does, too; two zeros and a family of two. */
static void test_skate_in_a_circle(void **state)
{
    (void)state;
    motion *m = motion_text("param m = 1.5, J = 0.4\ncoord x, y, th\n"
                            "kinetic m/2*(x'^2 + y'^2) + J/2*th'^2\n"
                            "constraint blade: x'*sin(th) = y'*cos(th)\n"
                            "initial th = 0.3, th' = 1.2, x' = cos(0.3), y' = sin(0.3)\n");
    hm_linearization *l = about(m, NULL);
    assert_int_equal(l->rest, HM_REST_RELATIVE);
    assert_int_equal(l->symmetries, 3);
    assert_int_equal(l->dimension, 2);
    has_eigenvalue(l, 0, 1e-12);
    assert_int_equal(l->zeros, 2);
    assert_int_equal(l->family, 2);
    assert_int_equal(l->stability, HM_STABILITY_STABLE);
    hm_linearization_destroy(l);
    motion_close(m);
}

/* The sleeping top in quaternions is unstable below (J3 s)^2 = 4 m g l (J + m l^2). */
static void test_sleeping_top_in_quaternions(void **state)
{
    (void)state;
    double J = 0.2 + 1.3 * 0.16, limit = sqrt(4 * 1.3 * 9.81 * 0.4 * J) / 0.12;
    for (int k = 0; k < 2; k++) {
        char text[500];
        snprintf(text, sizeof text,
                 "param m = 1.3, g = 9.81, l = 0.4, J = 0.2, J3 = 0.12\n"
                 "coord e0, e1, e2, e3\nlet R = quat(e0, e1, e2, e3)\n"
                 "body top { mass m inertia diag(J, J, J3) at R*[0, 0, l] frame R }\n"
                 "gravity [0, 0, -g]\ninitial e0 = 1, e3' = %.17g\n",
                 limit / 2 * (k ? 1.01 : 0.99));
        motion *m = motion_text(text);
        hm_linearization *l = about(m, NULL);
        assert_int_equal(l->rest, HM_REST_RELATIVE);
        assert_int_equal(l->symmetries, 2);
        assert_int_equal(l->dropped_count, 1); /* both turn about the same axis here */
        assert_int_equal(l->stability, k ? HM_STABILITY_MARGINAL : HM_STABILITY_UNSTABLE);
        double s = limit * (k ? 1.01 : 0.99), half = 0.12 * s / (2 * J);
        double grow = 1.3 * 9.81 * 0.4 / J - half * half;
        if (!k) /* in any frame the growth is the same */
            check_number("growth", l->re[0], sqrt(grow), 1e-9);
        hm_linearization_destroy(l);
        motion_close(m);
    }
}

/* The search finds a circular orbit of given radius from a guess that is none. */
static void test_search(void **state)
{
    (void)state;
    motion *m = motion_text("coord x, y\nkinetic (x'^2 + y'^2)/2\npotential -1/hypot(x, y)\n"
                            "initial x = 1.2, y' = 0.8, x' = 0.1\n");
    hm_linearize_options o = hm_linearize_options_default();
    o.find = o.steady = true;
    hm_linearization *l = about(m, &o);
    double radius = hypot(l->q[0], l->q[1]), speed = hypot(l->v[0], l->v[1]);
    assert_int_equal(l->rest, HM_REST_RELATIVE);
    check_number("v^2 r", speed * speed * radius, 1, 1e-10);
    check_number("r.v", (l->q[0] * l->v[0] + l->q[1] * l->v[1]) / speed, 0, 1e-8);
    hm_linearization_destroy(l);
    motion_close(m);
}

/* From a nearly conical motion the search finds the cone next to it, not the rest far away. */
static void test_nearest_steady_motion(void **state)
{
    (void)state;
    static const double speeds[] = {1.9, 2.1, 2.3};
    for (size_t i = 0; i < 3; i++) {
        char text[300];
        snprintf(text, sizeof text,
                 "param g = 9.81\ncoord x, y, z\nkinetic (x'^2 + y'^2 + z'^2)/2\n"
                 "potential g*z\nconstraint rod: x^2 + y^2 + z^2 = 1\n"
                 "initial x = 0.6, z ~ -0.8, y' = %g, x' = 0.05\n",
                 speeds[i]);
        motion *m = motion_text(text);
        const hm_moved *moved;
        size_t count;
        hm_linearize_options o = hm_linearize_options_default();
        o.find = o.steady = true;
        assert_int_equal(hm_sim_make_consistent(m->sim, false, &moved, &count), HM_OK);
        hm_linearization *l = about(m, &o);
        double square = l->v[0] * l->v[0] + l->v[1] * l->v[1];
        assert_int_equal(l->rest, HM_REST_RELATIVE);
        check_number("W^2 = g/|z|", square / (1 - l->q[2] * l->q[2]), -9.81 / l->q[2], 1e-9);
        check_number("near", l->q[2], -0.8, 0.1);
        hm_linearization_destroy(l);
        motion_close(m);
    }
}

/* No claim for an elliptic orbit, nor for a top that nods. */
static void test_no_claims(void **state)
{
    (void)state;
    motion *m = motion_text("coord x, y\nkinetic (x'^2 + y'^2)/2\npotential -1/hypot(x, y)\n"
                            "initial x = 1, y' = 1.1\n");
    hm_linearization *l = about(m, NULL);
    assert_int_equal(l->rest, HM_REST_NONE);
    assert_null(l->frame);
    hm_linearization_destroy(l);
    motion_close(m);
}

/* A chain that drifts: translation is the one symmetry looked for among more than twelve
 * coordinates; in the moving frame it swings as at rest, at 2 sin(j pi/(2 N)). */
static void test_drifting_chain(void **state)
{
    (void)state;
    enum { N = 14 };
    motion *m = motion_text("param N = 14\ncoord x[1..N]\nfor i = 1..N { kinetic x[i]'^2/2 }\n"
                            "for i = 2..N { potential (x[i] - x[i-1] - 1)^2/2 }\n"
                            "for i = 1..N { initial x[i] = i, x[i]' = 0.7 }\n");
    hm_linearization *l = about(m, NULL);
    assert_int_equal(l->rest, HM_REST_RELATIVE);
    assert_int_equal(l->symmetries, 1);
    assert_int_equal(l->dropped_count, 1);
    assert_int_equal(l->dimension, 2 * N - 1);
    for (int j = 0; j < N; j++)
        has_eigenvalue(l, 2 * I * sin(j * M_PI / (2 * N)), 1e-11);
    assert_int_equal(l->family, 1);
    assert_int_equal(l->stability, HM_STABILITY_MARGINAL);
    hm_linearization_destroy(l);
    motion_close(m);
}

/* A circular orbit with a lag s' = r^2 - s beside it, from masses and forces alone: no energy is
 * known, and the lag adds its own eigenvalue -1. */
static void test_orbit_with_a_state(void **state)
{
    (void)state;
    motion *m = motion_text("coord x, y\nstate s' = x^2 + y^2 - s\nmass x = 2, y = 2\n"
                            "force x = -2*x*hypot(x, y)^(-3), y = -2*y*hypot(x, y)^(-3)\n"
                            "initial x = 0.6, y = 0.8, x' = -0.8, y' = 0.6, s = 1\n");
    hm_linearization *l = about(m, NULL);
    assert_int_equal(l->rest, HM_REST_RELATIVE);
    assert_int_equal(l->dropped_count, 1);
    assert_int_equal(l->dimension, 4);
    has_eigenvalue(l, I, 1e-11); /* Kepler: the epicyclic frequency is that of the orbit */
    has_eigenvalue(l, -1, 1e-11);
    has_eigenvalue(l, 0, 1e-11);
    hm_linearization_destroy(l);
    motion_close(m);
}

/* A steady turn with a state that follows it, s' = th'^2 - s: the angle is left out, the state not. */
static void test_steady_state(void **state)
{
    (void)state;
    motion *m = motion_text("coord r, th\nstate s' = th'^2 - s\n"
                            "kinetic (r'^2 + r^2*th'^2)/2\npotential r^4/4\n"
                            "initial r = 1.5, th' = 1.5, s = 2.25\n");
    hm_linearization *l = about(m, NULL);
    assert_int_equal(l->rest, HM_REST_STEADY);
    assert_int_equal(l->dimension, 4);
    has_eigenvalue(l, sqrt(6) * 1.5 * I, 1e-11); /* 3 W^2 + V'' */
    has_eigenvalue(l, -1, 1e-11);
    hm_linearization_destroy(l);
    hm_linearize_options keep = hm_linearize_options_default();
    keep.ignorable = HM_IGNORABLE_KEEP;
    l = about(m, &keep);
    assert_int_equal(l->rest, HM_REST_NONE);
    assert_int_equal(l->dimension, 5);
    hm_linearization_destroy(l);
    motion_close(m);
}

/* t in the equations: neither at rest nor steady, whatever the rates are at this instant. */
static void test_driven(void **state)
{
    (void)state;
    motion *m = motion_text("coord x, y\nkinetic (x'^2 + y'^2)/2\npotential x^2/2\n"
                            "force x = sin(t)\ninitial y' = 1\n");
    hm_linearization *l = about(m, NULL);
    assert_int_equal(l->rest, HM_REST_NONE);
    hm_linearization_destroy(l);
    hm_linearize_options drop = hm_linearize_options_default();
    drop.ignorable = HM_IGNORABLE_DROP;
    l = about(m, &drop);
    assert_int_equal(l->rest, HM_REST_NONE);
    assert_int_equal(l->dropped_count, 1);
    assert_int_equal(l->dimension, 3);
    has_eigenvalue(l, I, 1e-12);
    hm_linearization_destroy(l);
    motion_close(m);
}

/* Nothing to linearise. */
static void test_refusals(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        hm_status status;
    } list[] = {
        {"coord x, y\nkinetic x'^2/2\n", HM_ERR_UNDETERMINED},
        {"coord x[1..401]\nfor i = 1..401 { kinetic x[i]'^2/2 }\n", HM_ERR_USAGE},
    };
    for (size_t i = 0; i < 2; i++) {
        motion *m = motion_text(list[i].text);
        hm_linearization *l = NULL;
        assert_int_equal(hm_sim_linearize(m->sim, NULL, &l), list[i].status);
        assert_null(l);
        motion_close(m);
    }
}

/* Searches that hold something: a conical pendulum of given height; an angle where there is no rest;
 * a rest that only relaxation finds, with one coordinate held. */
static void test_holding(void **state)
{
    (void)state;
    motion *m = motion_text("param g = 9.81\ncoord x, y, z\nkinetic (x'^2 + y'^2 + z'^2)/2\n"
                            "potential g*z\nconstraint rod: x^2 + y^2 + z^2 = 1\n"
                            "initial x = 0.6, z = -0.8, y' = 2\n");
    hm_linearize_options o = hm_linearize_options_default();
    const char *const height[] = {"z"}, *const both[] = {"x", "y", "z"};
    o.find = o.steady = true;
    o.hold = height;
    o.hold_count = 1;
    hm_linearization *l = about(m, &o);
    assert_int_equal(l->rest, HM_REST_RELATIVE);
    check_number("z", l->q[2], -0.8, 1e-14);
    double W2 = (l->v[0] * l->v[0] + l->v[1] * l->v[1]) / (1 - 0.64);
    check_number("W^2 = g/|z|", W2, 9.81 / 0.8, 1e-9);
    hm_linearization_destroy(l);
    o.steady = false;
    o.hold = both;
    o.hold_count = 3;
    l = NULL;
    assert_int_equal(hm_sim_linearize(m->sim, &o, &l), HM_ERR_NUMERIC);
    assert_null(l);
    motion_close(m);
    m = motion_text("coord x, y\nkinetic (x'^2 + y'^2)/2\npotential atan(x)^2\n"
                    "initial x = 4, y = 1\n");
    const char *const y[] = {"y"};
    o.hold = y;
    o.hold_count = 1;
    l = about(m, &o);
    assert_int_equal(l->rest, HM_REST_EQUILIBRIUM);
    check_number("x", l->q[0], 0, 1e-7);
    check_number("y", l->q[1], 1, 1e-15);
    has_eigenvalue(l, sqrt(2) * I, 1e-6);
    hm_linearization_destroy(l);
    motion_close(m);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_conical_pendulum),
        cmocka_unit_test(test_circular_orbits),
        cmocka_unit_test(test_lagrange_triangle),
        cmocka_unit_test(test_skate_in_a_circle),
        cmocka_unit_test(test_sleeping_top_in_quaternions),
        cmocka_unit_test(test_search),
        cmocka_unit_test(test_nearest_steady_motion),
        cmocka_unit_test(test_no_claims),
        cmocka_unit_test(test_drifting_chain),
        cmocka_unit_test(test_orbit_with_a_state),
        cmocka_unit_test(test_steady_state),
        cmocka_unit_test(test_driven),
        cmocka_unit_test(test_refusals),
        cmocka_unit_test(test_holding),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
