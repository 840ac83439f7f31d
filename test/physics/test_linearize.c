/* Linearised motion against published and exact eigenvalues: the Whipple bicycle benchmark from the
 * nonlinear model, thresholds of the sleeping top and of the rolling disc, and small systems whose
 * spectra are known in closed form. */
#include "support/check.h"
#include "support/motion.h"

#include <complex.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

/* ---- helpers ---- */

static hm_linearization *linearize_or_fail(motion *m, const hm_linearize_options *options)
{
    hm_linearization *l = NULL;
    const hm_moved *moved;
    size_t count;
    assert_int_equal(hm_sim_make_consistent(m->sim, false, &moved, &count), HM_OK);
    hm_status status = hm_sim_linearize(m->sim, options, &l);
    if (status != HM_OK)
        fail_msg("%s: %s", hm_model_name(m->model), hm_status_text(status));
    return l;
}

/* Every expected eigenvalue is there, as often as expected. */
static void expect_eigenvalues(const char *what, const hm_linearization *l, size_t count,
                               const double complex *expected, double tolerance)
{
    bool used[64] = {false};
    for (size_t k = 0; k < count; k++) {
        size_t best = 0;
        double nearest = INFINITY;
        for (size_t i = 0; i < l->dimension; i++) {
            double distance = cabs(CMPLX(l->re[i], l->im[i]) - expected[k]);
            if (!used[i] && distance < nearest) {
                nearest = distance;
                best = i;
            }
        }
        used[best] = true;
        if (!(nearest <= tolerance * fmax(1, cabs(expected[k]))))
            fail_msg("%s: eigenvalue %.15g%+.15gi is missed by %.3g", what, creal(expected[k]),
                     cimag(expected[k]), nearest);
    }
}

static size_t name_index(const hm_linearization *l, const char *name)
{
    for (size_t i = 0; i < l->dimension; i++)
        if (strcmp(l->names[i], name) == 0)
            return i;
    fail_msg("'%s' is not among the state", name);
    return 0;
}

static double entry(const hm_linearization *l, const char *row, const char *column)
{
    return l->A[name_index(l, row) * l->dimension + name_index(l, column)];
}

/* ---- the bicycle ---- */

/* Meijaard et al. 2007, table 2, as in test/data/benchmarks/bicycle_linear.md. */
static const struct {
    double v;
    double complex value[4];
} bicycle[] = {
    {0, {3.13164324790656, -3.13164324790656, 5.53094371765393, -5.53094371765393}},
    {1,
     {-7.11008014637442, -3.13423125066578, 3.52696170990070 + 0.80774027519930 * I,
      3.52696170990070 - 0.80774027519930 * I}},
    {2,
     {-8.67387984831735, -3.07158645641514, 2.68234517512745 + 1.68066296590675 * I,
      2.68234517512745 - 1.68066296590675 * I}},
    {3,
     {-10.35101467245920, -2.63366137253667, 1.70675605663975 + 2.31582447384325 * I,
      1.70675605663975 - 2.31582447384325 * I}},
    {4,
     {-12.15861426576447, -1.42944427361326, 0.41325331521125 + 3.07910818603206 * I,
      0.41325331521125 - 3.07910818603206 * I}},
    {5,
     {-14.07838969279822, -0.32286642900409, -0.77534188219585 + 4.46486771378823 * I,
      -0.77534188219585 - 4.46486771378823 * I}},
};

static motion *bicycle_at(double v)
{
    char text[40];
    snprintf(text, sizeof text, "%.17g", v);
    return motion_file("examples/bicycle.hamel", &(hm_override){"v", text}, 1);
}

static void test_bicycle(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof bicycle / sizeof *bicycle; i++) {
        motion *m = bicycle_at(bicycle[i].v);
        hm_linearization *l = linearize_or_fail(m, NULL);
        expect_eigenvalues("bicycle", l, 4, bicycle[i].value, 1e-10);
        bool moving = bicycle[i].v > 0;
        assert_int_equal(l->rest, moving ? HM_REST_STEADY : HM_REST_EQUILIBRIUM);
        assert_int_equal(l->dimension, moving ? 5 : 10);
        assert_int_equal(l->zeros, moving ? 1 : 6);
        assert_int_equal(l->family, moving ? 1 : 5);
        assert_int_equal(l->stability,
                         bicycle[i].v < 4.5 ? HM_STABILITY_UNSTABLE : HM_STABILITY_STABLE);
        hm_linearization_destroy(l);
        motion_close(m);
    }
}

/* The rows of lean and steer acceleration as sympy's test_kane3 has them, at many speeds. */
static void test_bicycle_rows(void **state)
{
    (void)state;
    for (double v = 0.5; v <= 10; v += 0.5) {
        const double expected[8] = {
            9.48977444677355,       -0.891197738059089 * v * v - 0.571523173729245,
            -0.105522449805691 * v, -0.330515398992311 * v,
            11.7194768719633,       -1.97171508499972 * v * v + 30.9087533932407,
            3.67680523332152 * v,   -3.08486552743311 * v};
        static const char *const columns[4] = {"phi", "delta", "phi'", "delta'"};
        motion *m = bicycle_at(v);
        hm_linearization *l = linearize_or_fail(m, NULL);
        for (int k = 0; k < 8; k++)
            check_number(columns[k % 4], entry(l, k < 4 ? "phi'" : "delta'", columns[k % 4]),
                         expected[k], 1e-11);
        assert_int_equal(l->stability,
                         v > 4.3 && v < 6.02 ? HM_STABILITY_STABLE : HM_STABILITY_UNSTABLE);
        hm_linearization_destroy(l);
        motion_close(m);
    }
}

/* ---- thresholds ---- */

/* The value of the parameter where the motion ceases to be unstable, by bisection. */
static double threshold(motion *m, const char *param, double unstable, double stable,
                        void (*set)(motion *m, double value))
{
    while (fabs(stable - unstable) > 1e-9 * fabs(stable)) {
        double middle = (stable + unstable) / 2;
        hm_linearization *l;
        if (param)
            assert_int_equal(hm_sim_set_param(m->sim, param, middle), HM_OK);
        set(m, middle);
        l = linearize_or_fail(m, NULL);
        assert_int_equal(l->rest, HM_REST_STEADY);
        *(l->stability == HM_STABILITY_UNSTABLE ? &unstable : &stable) = middle;
        hm_linearization_destroy(l);
    }
    return stable;
}

static void spin_top(motion *m, double value)
{
    const double q[3] = {0}, v[3] = {0, 0, value};
    hm_sim_set_state(m->sim, 0, q, v, NULL);
}

/* omega^2 = 4 m g l I1 / I3^2, I1 about the fixed point [Goldstein, section 5.7]. */
static void test_sleeping_top(void **state)
{
    (void)state;
    motion *m = motion_text("param m = 1.3, g = 9.81, l = 0.4, I1 = 0.35, I3 = 0.12\n"
                            "coord a, b, c\n"
                            "let R = rotx(a)*roty(b)*rotz(c)\n"
                            "body top { mass m inertia diag(I1 - m*l^2, I1 - m*l^2, I3)"
                            " at R*[0, 0, l] frame R }\n"
                            "gravity [0, 0, -g]\n"
                            "initial a = 0, b = 0, a' = 0, b' = 0\n");
    double found = threshold(m, NULL, 1, 100, spin_top);
    double expected = sqrt(4 * 1.3 * 9.81 * 0.4 * 0.35) / 0.12;
    check_number("sleeping top", found, expected, 1e-6);
    motion_close(m);
}

static void roll_disc(motion *m, double value)
{
    const double q[5] = {0}, v[5] = {0, 0, 0, 0, value};
    hm_sim_set_state(m->sim, 0, q, v, NULL);
}

/* theta'^2 = g/(3R) for a thin disc that rolls straight on [Routh; O'Reilly 1996]. */
static void test_rolling_disc(void **state)
{
    (void)state;
    motion *m = motion_text("param m = 2, r = 0.26, g = 9.81\n"
                            "coord x, y, yaw, lean, spin\n"
                            "let upright = rotz(yaw)*rotx(lean)\n"
                            "let P = [x, y, r*cos(lean)]\n"
                            "body disc { mass m  inertia m*r^2/4*diag(1, 2, 1)  at P\n"
                            "            frame upright*roty(spin) }\n"
                            "gravity [0, 0, -g]\n"
                            "let slip = P' - cross(omega(upright*roty(spin)), upright*[0, 0, r])\n"
                            "constraint roll: [slip[1], slip[2]] = 0\n"
                            "initial x' ~ 0, y' ~ 0, spin' = 1\n");
    double found = threshold(m, NULL, 1, 20, roll_disc);
    check_number("rolling disc", found, sqrt(9.81 / (3 * 0.26)), 1e-6);
    motion_close(m);
}

/* ---- small systems ---- */

static void test_pendulum(void **state)
{
    (void)state;
    motion *m = motion_text("param g = 9.81, l = 0.7\ncoord th\nkinetic l^2/2*th'^2\n"
                            "potential -g*l*cos(th)\ninitial th ~ 0\n");
    double w = sqrt(9.81 / 0.7);
    const double complex down[2] = {w * I, -w * I}, up[2] = {w, -w};
    hm_linearization *l = linearize_or_fail(m, NULL);
    expect_eigenvalues("down", l, 2, down, 1e-13);
    assert_int_equal(l->stability, HM_STABILITY_MARGINAL);
    assert_int_equal(l->zeros + l->family, 0);
    hm_linearization_destroy(l);
    const double q = 3, v = 0.1;
    hm_linearize_options find = hm_linearize_options_default();
    find.find = true;
    hm_sim_set_state(m->sim, 0, &q, &v, NULL);
    l = linearize_or_fail(m, &find);
    check_number("up", l->q[0], 3.14159265358979323846, 1e-14);
    check_number("at rest", l->v[0], 0, 1e-14);
    expect_eigenvalues("up", l, 2, up, 1e-13);
    assert_int_equal(l->stability, HM_STABILITY_UNSTABLE);
    hm_linearization_destroy(l);
    motion_close(m);
}

/* Equal masses and lengths: omega^2 = (2 -+ sqrt 2) g/l. Minimal, and with four coordinates, two
 * rods, and each rod written twice. */
static void test_double_pendulum(void **state)
{
    (void)state;
    static const char *const models[2] = {
        "param g = 9.81\ncoord a, b\nlet P = [sin(a), -cos(a)]\nlet R = P + [sin(b), -cos(b)]\n"
        "body p { mass 1 at P }\nbody r { mass 1 at R }\ngravity [0, -g]\n",
        "param g = 9.81\ncoord x, y, u, w\n"
        "body p { mass 1 at [x, y] }\nbody r { mass 1 at [u, w] }\ngravity [0, -g]\n"
        "constraint r1: x^2 + y^2 = 1\nconstraint r2: (u - x)^2 + (w - y)^2 = 1\n"
        "constraint r3: hypot(x, y) = 1\nconstraint r4: 3*hypot(u - x, w - y) = 3\n"
        "initial y ~ -1, w ~ -2\n"};
    double slow = sqrt((2 - sqrt(2)) * 9.81), fast = sqrt((2 + sqrt(2)) * 9.81);
    const double complex expected[4] = {slow * I, -slow * I, fast * I, -fast * I};
    for (int k = 0; k < 2; k++) {
        motion *m = motion_text(models[k]);
        hm_linearization *l = linearize_or_fail(m, NULL);
        assert_int_equal(l->dimension, 4);
        assert_int_equal(l->rest, HM_REST_EQUILIBRIUM);
        expect_eigenvalues("double pendulum", l, 4, expected, 1e-12);
        hm_linearization_destroy(l);
        motion_close(m);
    }
}

/* From anywhere the search rolls down to the hanging position. */
static void test_search_far_away(void **state)
{
    (void)state;
    motion *m = motion_text("param g = 9.81\ncoord x, y\nbody p { mass 1 at [x, y] }\n"
                            "gravity [0, -g]\nconstraint rod: x^2 + y^2 = 4\n"
                            "initial x ~ 1.9, y ~ 0.4\n");
    hm_linearize_options find = hm_linearize_options_default();
    find.find = true;
    hm_linearization *l = linearize_or_fail(m, &find);
    check_number("x", l->q[0], 0, 1e-12);
    check_number("|y|", fabs(l->q[1]), 2, 1e-12);
    assert_true(l->residual < 1e-12);
    hm_linearization_destroy(l);
    motion_close(m);
}

/* A spinning top hung from its tip in quaternions (M is singular: the norm of e has no inertia)
 * swings as the plain pendulum does, about both axes. */
static void test_quaternion_top(void **state)
{
    (void)state;
    motion *m = motion_text("param m = 1.3, g = 9.81, l = 0.4, J = 0.2, J3 = 0.12\n"
                            "coord e0, e1, e2, e3\n"
                            "let R = quat(e0, e1, e2, e3)\n"
                            "body top { mass m inertia diag(J, J, J3) at R*[0, 0, -l] frame R }\n"
                            "gravity [0, 0, -g]\n");
    hm_linearization *l = linearize_or_fail(m, NULL);
    double w = sqrt(1.3 * 9.81 * 0.4 / (0.2 + 1.3 * 0.16));
    const double complex expected[6] = {w * I, -w * I, w * I, -w * I, 0, 0};
    assert_int_equal(l->dimension, 6);
    expect_eigenvalues("quaternions", l, 6, expected, 1e-7);
    expect_eigenvalues("quaternions", l, 4, expected, 1e-12);
    assert_int_equal(l->stability, HM_STABILITY_MARGINAL);
    assert_int_equal(l->family, 1);
    hm_linearization_destroy(l);
    motion_close(m);
}

/* The Chaplygin sleigh glides straight: with the mass centre a ahead of the blade the turning dies
 * out at the rate m a u/(I + m a^2), behind it grows [Neimark & Fufaev 1972; Bloch 2003, 1.7]. */
static void test_chaplygin_sleigh(void **state)
{
    (void)state;
    for (double a = -0.3; a < 0.4; a += 0.6) {
        char text[400];
        snprintf(text, sizeof text,
                 "param m = 2, J = 0.5, a = %g\ncoord x, y, th\n"
                 "body sleigh { mass m inertia J at [x + a*cos(th), y + a*sin(th)] angle th }\n"
                 "constraint blade: y'*cos(th) = x'*sin(th)\n"
                 "initial th = 0.4, x' = 1.5*cos(0.4), y' ~ 1, th' = 0\n",
                 a);
        motion *m = motion_text(text);
        hm_linearization *l = linearize_or_fail(m, NULL);
        const double complex expected[2] = {-2 * a * 1.5 / (0.5 + 2 * a * a), 0};
        assert_int_equal(l->rest, HM_REST_STEADY);
        assert_int_equal(l->dimension, 2);
        assert_int_equal(l->dropped_count, 3);
        expect_eigenvalues("sleigh", l, 2, expected, 1e-12);
        assert_int_equal(l->family, 1);
        assert_int_equal(l->stability, a > 0 ? HM_STABILITY_STABLE : HM_STABILITY_UNSTABLE);
        hm_linearization_destroy(l);
        motion_close(m);
    }
}

/* A car with two trailers, all massive, driven straight: angles between the bodies die out forwards
 * and grow backwards. Hitches on the axles: th1' = u sin(th0 - th1)/d [Laumond 1993], so that the
 * kinematic eigenvalues are -u/d. */
static void test_trailers(void **state)
{
    (void)state;
    for (double u = -0.8; u < 1; u += 1.6) {
        char text[900];
        snprintf(text, sizeof text,
                 "param d = 0.6, c = 1.1, u = %g\ncoord x, y, th[0..2]\n"
                 "let P = [x, y]\nlet R = P - d*[cos(th[1]), sin(th[1])]\n"
                 "let S = R - c*[cos(th[2]), sin(th[2])]\n"
                 "body car { mass 3 inertia 0.4 at P angle th[0] }\n"
                 "body first { mass 1 inertia 0.1 at R angle th[1] }\n"
                 "body second { mass 2 inertia 0.2 at S angle th[2] }\n"
                 "constraint w0: P[1]'*sin(th[0]) = P[2]'*cos(th[0])\n"
                 "constraint w1: R[1]'*sin(th[1]) = R[2]'*cos(th[1])\n"
                 "constraint w2: S[1]'*sin(th[2]) = S[2]'*cos(th[2])\n"
                 "initial x' = u, th[0]' = 0\n",
                 u);
        motion *m = motion_text(text);
        hm_linearization *l = linearize_or_fail(m, NULL);
        const double complex expected[2] = {-u / 0.6, -u / 1.1};
        assert_int_equal(l->rest, HM_REST_STEADY);
        expect_eigenvalues("trailers", l, 2, expected, 1e-12);
        assert_int_equal(l->stability == HM_STABILITY_UNSTABLE, u < 0);
        hm_linearization_destroy(l);
        motion_close(m);
    }
}

/* Damping and a controller state: x'' = -c x' - k x - h z, z' = x - z; the characteristic
 * polynomial is (s^2 + c s + k)(s + 1) + h = 0, with a root -2 for these numbers. */
static void test_states(void **state)
{
    (void)state;
    motion *m = motion_text("coord x\nkinetic x'^2/2\nstate z' = x - z\n"
                            "force x = -3*x' - 4*x - 2*z\n");
    hm_linearization *l = linearize_or_fail(m, NULL);
    assert_int_equal(l->dimension, 3);
    for (size_t k = 0; k < 3; k++) {
        double complex s = CMPLX(l->re[k], l->im[k]);
        assert_true(cabs((s * s + 3 * s + 4) * (s + 1) + 2) < 1e-12);
    }
    assert_int_equal(l->stability, HM_STABILITY_STABLE);
    hm_linearization_destroy(l);
    motion_close(m);
}

/* x^4 has a zero eigenvalue pair that no family explains: nothing is claimed. A coordinate whose
 * force vanishes to third order at one place of its motion is not left out. */
static void test_no_false_claims(void **state)
{
    (void)state;
    motion *m = motion_text("coord x\nkinetic x'^2/2\npotential x^4\nforce x = -x'\n");
    hm_linearization *l = linearize_or_fail(m, NULL);
    assert_int_equal(l->rest, HM_REST_EQUILIBRIUM);
    assert_int_equal(l->zeros, 1);
    assert_int_equal(l->family, 0);
    assert_int_equal(l->stability, HM_STABILITY_MARGINAL);
    hm_linearization_destroy(l);
    motion_close(m);
    m = motion_text("coord a\nkinetic a'^2/2\nforce a = (1 - cos(a))^2\ninitial a = 0, a' = 1\n");
    l = linearize_or_fail(m, NULL);
    assert_int_equal(l->rest, HM_REST_NONE);
    hm_linearization_destroy(l);
    motion_close(m);
}

/* A bead on a hoop that a motor turns: it rests at cos th = g/(R w^2), where the eigenvalues are
 * +-i w sin th, while the hoop moves with t. A mechanism that a motor moves alone leaves nothing. */
static void test_driven(void **state)
{
    (void)state;
    motion *m = motion_text("param R = 0.5, w = 7, g = 9.81\ncoord th, ph\n"
                            "kinetic R^2/2*(th'^2 + sin(th)^2*ph'^2)\npotential -g*R*cos(th)\n"
                            "constraint motor: ph = w*t\ninitial th ~ 1\n");
    hm_linearize_options find = hm_linearize_options_default();
    find.find = find.steady = true;
    hm_linearization *l = linearize_or_fail(m, &find);
    double th = acos(9.81 / (0.5 * 49));
    const double complex expected[2] = {7 * sin(th) * I, -7 * sin(th) * I};
    check_number("th", l->q[0], th, 1e-12);
    assert_int_equal(l->rest, HM_REST_STEADY);
    assert_int_equal(l->dimension, 2);
    expect_eigenvalues("hoop", l, 2, expected, 1e-12);
    hm_linearization_destroy(l);
    motion_close(m);
    m = motion_text("coord a\nkinetic a'^2/2\nconstraint motor: a = 2*t\n");
    l = linearize_or_fail(m, NULL);
    assert_int_equal(l->dimension, 0);
    assert_int_equal(l->rest, HM_REST_NONE);
    hm_linearization_destroy(l);
    motion_close(m);
}

static void test_refusals(void **state)
{
    (void)state;
    motion *m = motion_text("coord x\nkinetic x'^2/2\npotential x\n");
    hm_linearization *l = NULL;
    hm_linearize_options find = hm_linearize_options_default();
    find.find = true;
    assert_int_equal(hm_sim_linearize(m->sim, &find, &l), HM_ERR_NUMERIC);
    assert_true(motion_says(m, "no equilibrium was found"));
    motion *far = motion_text("coord x\nkinetic x'^2/2\npotential -1/x\ninitial x = 1\n");
    assert_int_equal(hm_sim_linearize(far->sim, &find, &l), HM_ERR_NUMERIC);
    motion_close(far);
    const char *const wrong[1] = {"y"};
    find.hold = wrong;
    find.hold_count = 1;
    assert_int_equal(hm_sim_linearize(m->sim, &find, &l), HM_ERR_USAGE);
    assert_null(l);
    motion_close(m);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_bicycle),          cmocka_unit_test(test_bicycle_rows),
        cmocka_unit_test(test_sleeping_top),     cmocka_unit_test(test_rolling_disc),
        cmocka_unit_test(test_pendulum),         cmocka_unit_test(test_double_pendulum),
        cmocka_unit_test(test_search_far_away),  cmocka_unit_test(test_quaternion_top),
        cmocka_unit_test(test_chaplygin_sleigh), cmocka_unit_test(test_trailers),
        cmocka_unit_test(test_states),           cmocka_unit_test(test_no_false_claims),
        cmocka_unit_test(test_driven),           cmocka_unit_test(test_refusals),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
