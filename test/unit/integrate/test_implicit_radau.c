/* Radau IIA: stiff models, tolerances, failures of the right-hand side, degenerate Lagrangians. */
#include "unit/integrate/implicit_harness.h"

#include <stdio.h>

static void say(const char *what, const ride *r)
{
    if (getenv("VERBOSE"))
        printf("%s: %ld steps, %ld rejected, %ld evaluations\n", what, r->s.steps, r->s.rejected,
               r->ode.evaluations);
}

/* IFToMM A05, symmetric reduction: test/data/benchmarks/iftomm_A05_flyball.md */
static const char governor[] =
    "param k = 8e5, c = 4e4, l0 = 0.5, g = 9.81, along = 0.3*2e-4/12, across = 0.3*1.0001/12\n"
    "coord psi, al, s\n"
    "let rod = [0.05 + cos(al)/2, 1 - sin(al)/2]\nlet ball = [0.05 + cos(al), 1 - sin(al)]\n"
    "let length = hypot(cos(al)/2, rod[2] - s)\n"
    "kinetic (along + 0.005)/2*psi'^2 + 3/2*s'^2\n" /* shaft, slider */
    "kinetic 0.3*((rod[1]*psi')^2 + dot(rod', rod'))\n"
    "kinetic (along*sin(al)^2 + across*cos(al)^2)*psi'^2 + across*al'^2\n"
    "kinetic 5*((ball[1]*psi')^2 + dot(ball', ball'))\n"
    "potential 3*g*s + 2*g*(0.3*rod[2] + 5*ball[2]) + k*(length - l0)^2\n"
    "dissipation c*(length')^2\n"
    "initial al = pi/6, s = 0.5, psi' = 2*pi\n";

static void flyball_governor(void **state)
{
    (void)state;
    ride *r = ride_open(governor, &hmi_method_radau, 0, 1e-9);
    probe_evaluate(r->p);
    check_number("al''", r->p->at.qdd[1], -9.512279275630724, 1e-12);
    check_number("s''", r->p->at.qdd[2], -9.81, 1e-12);
    const double *y = r->s.y;
    ride_to(r, 0.1);
    check_number("s(0.1)", y[2], .52383647556958, 1e-9);
    check_number("al(0.1)", y[1], .49617386907590, 1e-9);
    check_number("psi'(0.1)", y[3], 6.1037178088309, 1e-8);
    ride_to(r, 1);
    check_number("s(1)", y[2], .50142092237957, 1e-8);
    check_number("psi'(1)", y[3], 6.2711257418766, 1e-7);
    ride_to(r, 10);
    check_number("s(10)", y[2], .61962291706137, 1e-8);
    check_number("al(10)", y[1], .39007370184465, 1e-8);
    check_number("psi'(10)", y[3], 5.5482036226549, 1e-7);
    say("flyball governor, 10 s at 1e-9", r);
    assert_true(r->ode.evaluations < 40000);
    ride_close(r);
}

/* Van der Pol with eps = 1e-6; reference: Test Set for IVP Solvers 2.4, vdpol. */
static void van_der_pol(void **state)
{
    (void)state;
    const char *text = "param eps = 1e-6\ncoord x\nkinetic eps*x'^2/2\nforce x = (1 - x^2)*x' - x\n"
                       "initial x = 2, x' = 0\n";
    const double tolerances[3] = {1e-4, 1e-6, 1e-9}, expected[3] = {2e-3, 1e-5, 1e-8};
    for (int i = 0; i < 3; i++) {
        ride *r = ride_open(text, &hmi_method_radau, 0, tolerances[i]);
        ride_to(r, 2);
        say("van der Pol", r);
        check_number("x(2)", r->s.y[0], 1.706167732170483, expected[i]);
        check_number("x'(2)", r->s.y[1], -0.8928097010247975, expected[i]);
        assert_true(r->ode.evaluations < 40000);
        ride_close(r);
    }
}

/* A bead on a wire in a stiff spring, in redundant coordinates with a redundant row, stays near its
 * slow manifold: without projection the constraint drifts by no more than the tolerance allows. */
static void constrained_stiff(void **state)
{
    (void)state;
    ride *r = ride_open("param k = 1e8, c = 1e5\ncoord x, y, s\n"
                        "kinetic (x'^2 + y'^2 + 0.01*s'^2)/2\npotential 9.81*y + k/2*(s - x)^2\n"
                        "dissipation c/2*(s' - x')^2\n"
                        "constraint wire: y = x^2/2\nconstraint again: 2*y = x^2\n"
                        "initial x = 1, y = 0.5, s = 1\n",
                        &hmi_method_radau, 0, 1e-8);
    double E = ride_energy(r);
    ride_to(r, 2);
    say("stiff bead", r);
    assert_true(fabs(r->s.y[1] - r->s.y[0] * r->s.y[0] / 2) < 1e-6);
    assert_true(fabs(ride_energy(r) - E) < 1e-5);
    assert_true(r->ode.evaluations < 5000);
    ride_close(r);
}

/* The error falls with the tolerance, on a problem that is not stiff. */
static void tolerances(void **state)
{
    (void)state;
    const char *text = "coord x, y\nkinetic (x'^2 + y'^2)/2\npotential -1/hypot(x, y)\n"
                       "initial x = 0.5, y' = sqrt(3)\n"; /* Kepler, e = 1/2 */
    const double start[4] = {0.5, 0, 0, sqrt(3)};
    for (double tolerance = 1e-4; tolerance > 1e-11; tolerance /= 100) {
        double y[4];
        ride_result(text, &hmi_method_radau, 0, tolerance, 2 * acos(-1), y);
        double error = scaled_error(4, y, start);
        if (getenv("VERBOSE"))
            printf("Kepler at %.0e: error %.1e\n", tolerance, error);
        assert_true(error < 300 * tolerance);
    }
}

/* x'' = -1 falls to x = 0, where sqrt ends: steps shrink, and the run stops at the last good state. */
static void end_of_the_domain(void **state)
{
    (void)state;
    ride *r = ride_open("coord x\nkinetic x'^2/2\nforce x = -1 - 1e-3*sqrt(x)\ninitial x = 0.5\n",
                        &hmi_method_radau, 0, 1e-8);
    hm_status status = HM_OK;
    for (int k = 0; k < 10000 && status == HM_OK; k++)
        status = r->method->step(&r->s, 5);
    assert_int_equal(status, HM_ERR_NUMERIC);
    assert_non_null(r->s.trouble);
    assert_true(r->s.y[0] >= 0 && r->s.y[0] < 1e-3 && r->s.t < 1.01);
    ride_close(r);
}

static void backwards(void **state)
{
    (void)state;
    ride *r = ride_open("coord x\nkinetic x'^2/2\npotential x^2/2\ninitial x = 1\n",
                        &hmi_method_radau, 0, 1e-10);
    while (r->s.t > -2)
        ride_step(r, -2);
    check_number("x(-2)", r->s.y[0], cos(2), 1e-9);
    check_number("x'(-2)", r->s.y[1], sin(2), 1e-9);
    ride_close(r);
}

/* ---- degenerate Lagrangians ---- */

/* Two vortices turn about their centre at the rate -(G1 + G2)/(2 pi d^2). */
static void vortices(void **state)
{
    (void)state;
    const char *text =
        "param G1 = 1, G2 = 0.5\ncoord x1, y1, x2, y2\n"
        "lagrangian G1*x1*y1' + G2*x2*y2' + G1*G2/(4*pi)*log((x1 - x2)^2 + (y1 - y2)^2)\n"
        "initial x1 = 0, y1 = 0, x2 = 1, y2 = 0\n";
    ride *r = ride_open(text, &hmi_method_radau, 0, 1e-10);
    double rate = -1.5 / (2 * acos(-1)), t = 10, a = rate * t;
    assert_true(r->ode.dirac);
    ride_to(r, t);
    say("vortices", r);
    double q[4] = {1.0 / 3 - cos(a) / 3, -sin(a) / 3, 1.0 / 3 + 2 * cos(a) / 3, 2 * sin(a) / 3};
    check_close("q", 4, r->s.y, q, 1e-8);
    double v[4] = {rate * sin(a) / 3, -rate * cos(a) / 3, -2 * rate * sin(a) / 3,
                   2 * rate * cos(a) / 3};
    check_close("q'", 4, r->s.y + 4, v, 1e-8);
    ride_close(r);
}

static void lotka_volterra(void **state)
{
    (void)state;
    const char *text = "param a = 1.5, c = 0.7\ncoord u, w\n"
                       "lagrangian (u*w' - w*u')/2 - exp(u) + a*u - exp(w) + c*w\n"
                       "initial u = 0.3, w = -0.2\n";
    const hmi_method *methods[2] = {&hmi_method_radau, &hmi_method_midpoint};
    for (int k = 0; k < 2; k++) {
        ride *r = ride_open(text, methods[k], k ? 0.01 : 0, 1e-10);
        double H = ride_energy(r), worst = 0;
        for (int i = 0; i < 2000 && r->s.t < 20; i++) {
            ride_step(r, 20);
            worst = fmax(worst, fabs(ride_energy(r) - H));
        }
        assert_true(worst < (k ? 1e-4 : 1e-8));
        ride_close(r);
    }
}

/* One coordinate with mass beside a conjugate pair without: L = x'^2/2 + y z' - (x^2 + y^2 + z^2)/2
 * - x y: M of rank 1, velocities of y and z determined, of x free. */
static void mixed(void **state)
{
    (void)state;
    const char *text = "coord x, y, z\nlagrangian x'^2/2 + y*z' - (x^2 + y^2 + z^2)/2 - 0.3*x*y\n"
                       "initial x = 1, y = 0.2, x' = 0.4, z = -0.3\n";
    ride *r = ride_open(text, &hmi_method_radau, 0, 1e-11);
    double H = ride_energy(r);
    ride_to(r, 10);
    check_number("energy", ride_energy(r), H, 1e-8);
    double rates[2] = {-r->s.y[2], r->s.y[1] + 0.3 * r->s.y[0]}; /* y' = -z, z' = y + 0.3 x */
    check_close("y', z'", 2, r->s.y + 4, rates, 1e-12);
    ride_close(r);
    /* the same with M of full rank in disguise: y'' = -z' */
    double y[6], expected[6];
    ride_result(text, &hmi_method_radau, 0, 1e-11, 10, y);
    ride_result("coord x, y, z\nmass x, x = 1; mass y, y = 1; mass z, z = 1\n"
                "force x = -x - 0.3*y, y = -z', z = y' + 0.3*x'\n"
                "initial x = 1, y = 0.2, x' = 0.4, z = -0.3, y' = 0.3, z' = 0.5\n",
                &hmi_method_radau, 0, 1e-11, 10, expected);
    check_close("state", 6, y, expected, 1e-8);
}

/* The same again in other coordinates, x = a + b^2/2, y = b + c^2/20, z = c + a b/5: what M does not see
 * turns with the motion. */
static void mixed_and_turning(void **state)
{
    (void)state;
    double y[6], q[6];
    ride_result("coord x, y, z\nlagrangian x'^2/2 + y*z' - (x^2 + y^2 + z^2)/2 - 0.3*x*y\n"
                "initial x = 1.02, y = 0.2045, x' = 0.8, z = -0.26\n",
                &hmi_method_radau, 0, 1e-11, 5, y);
    ride *r = ride_open("coord a, b, c\nlet x = a + b^2/2\nlet y = b + c^2/20\nlet z = c + a*b/5\n"
                        "lagrangian x'^2/2 + y*z' - (x^2 + y^2 + z^2)/2 - 0.3*x*y\n"
                        "initial a = 1, b = 0.2, c = -0.3, a' = 0.8, b' ~ 0, c' ~ 0\n",
                        &hmi_method_radau, 0, 1e-11);
    assert_true(r->ode.dirac);
    /* the written velocity a' = 0.8 holds only together with b': set x' = a' + b b' = 0.8 */
    r->s.y[3] += 0.8 - (r->s.y[3] + r->s.y[1] * r->s.y[4]);
    assert_int_equal(hmi_ode_settle(&r->ode, 0, r->s.y), HM_OK);
    r->s.y[3] += 0.8 - (r->s.y[3] + r->s.y[1] * r->s.y[4]);
    ride_to(r, 5);
    const double *at = r->s.y;
    q[0] = at[0] + at[1] * at[1] / 2;
    q[1] = at[1] + at[2] * at[2] / 20;
    q[2] = at[2] + at[0] * at[1] / 5;
    check_close("x, y, z", 3, q, y, 1e-8);
    check_number("x'", at[3] + at[1] * at[4], y[3], 1e-8);
    ride_close(r);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(flyball_governor),
        cmocka_unit_test(van_der_pol),
        cmocka_unit_test(constrained_stiff),
        cmocka_unit_test(tolerances),
        cmocka_unit_test(end_of_the_domain),
        cmocka_unit_test(backwards),
        cmocka_unit_test(vortices),
        cmocka_unit_test(lotka_volterra),
        cmocka_unit_test(mixed),
        cmocka_unit_test(mixed_and_turning),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
