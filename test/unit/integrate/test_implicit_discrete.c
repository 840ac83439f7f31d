/* RATTLE and discrete Lagrange-d'Alembert: energy over long runs, constraints, what they refuse.
 * Problems and reference values: test/data/benchmarks/nonholonomic_integrator_problems.md */
#include "unit/integrate/implicit_harness.h"

#include <stdio.h>

static const char pendulum[] = "coord x, y\nkinetic (x'^2 + y'^2)/2\npotential y\n"
                               "constraint rod: x^2 + y^2 = 1\ninitial x = 0.6, y = -0.8\n";
static const char oscillator[] = /* contact oscillator, McLachlan & Perlmutter 5.2 */
    "param eps = 0, z0 = 0.1*sqrt(2)\ncoord x, y, z\nkinetic (x'^2 + y'^2 + z'^2)/2\n"
    "potential (x^2 + y^2 + z^2)/2 + eps/2*x^2*z^2\nconstraint contact: x' + y*z' = 0\n"
    "initial z = z0, y' = 1, x = sqrt((2 - z0^2)/(1 + eps*z0^2))\n";
static const char particle[] = "coord x, y, z\nkinetic (x'^2 + y'^2 + z'^2)/2\n"
                               "potential (x^2 + y^2)/2\nconstraint rail: z' = y*x'\n"
                               "initial x = 1, y' = 1\n";

/* Energy straight from the state, for speed. */
static double pendulum_energy(const double *y)
{
    return (y[2] * y[2] + y[3] * y[3]) / 2 + y[1];
}

/* The largest energy error over the first 100 periods and over all of them. */
static void long_run(double h, int periods, double *first, double *all)
{
    ride *r = ride_open(pendulum, &hmi_method_rattle, h, 1e-10);
    double E = pendulum_energy(r->s.y), length = 6.5, end = periods * length;
    *first = *all = 0;
    while (r->s.t < end) {
        ride_step(r, INFINITY);
        double error = fabs(pendulum_energy(r->s.y) - E);
        *all = fmax(*all, error);
        if (r->s.t < 100 * length)
            *first = *all;
        double rod = r->s.y[0] * r->s.y[0] + r->s.y[1] * r->s.y[1] - 1;
        assert_true(fabs(rod) < 1e-14);
        assert_true(fabs(r->s.y[0] * r->s.y[2] + r->s.y[1] * r->s.y[3]) < 1e-14);
    }
    ride_close(r);
}

static void rattle_keeps_energy(void **state)
{
    (void)state;
    double first, all;
    const char *periods = getenv("PERIODS");
    long_run(0.1, periods ? atoi(periods) : 10000, &first, &all);
    if (getenv("VERBOSE"))
        printf("rattle: energy error %.6e in 100 periods, %.6e in all\n", first, all);
    assert_true(first > 0 && all <= 1.05 * first);
}

/* M(q): a double pendulum in angles, at a quiet amplitude. */
static void variational_keeps_energy(void **state)
{
    (void)state;
    ride *r = ride_open("coord a, b\nlet P = [sin(a), -cos(a)]\nlet R = P + [sin(b), -cos(b)]\n"
                        "kinetic (dot(P', P') + dot(R', R'))/2\npotential P[2] + R[2]\n"
                        "initial a = 0.4, b = -0.3\n",
                        &hmi_method_rattle, 0.1, 1e-10);
    double E = ride_energy(r), first = 0, all = 0;
    for (int k = 0; k < 20000; k++) {
        ride_step(r, INFINITY);
        all = fmax(all, fabs(ride_energy(r) - E));
        if (k < 2000)
            first = all;
    }
    if (getenv("VERBOSE"))
        printf("variational: energy error %.3e early, %.3e in all\n", first, all);
    assert_true(all <= 1.3 * first);
    ride_close(r);
}

/* ---- nonholonomic ---- */

typedef double (*energy_function)(const double *y, double eps);

static double oscillator_energy(const double *y, double eps)
{
    return (y[3] * y[3] + y[4] * y[4] + y[5] * y[5] + y[0] * y[0] + y[1] * y[1] + y[2] * y[2] +
            eps * y[0] * y[0] * y[2] * y[2]) /
           2;
}

static double particle_energy(const double *y, double eps)
{
    (void)eps;
    return (y[3] * y[3] + y[4] * y[4] + y[5] * y[5] + y[0] * y[0] + y[1] * y[1]) / 2;
}

static void nonholonomic_run(const char *text, energy_function energy, double h, double end)
{
    ride *r = ride_open(text, &hmi_method_dla, h, 1e-10);
    double E = energy(r->s.y, 0), first = 0, all = 0, violation = 0;
    while (r->s.t < end) {
        ride_step(r, INFINITY);
        const double *y = r->s.y;
        double psi = energy == oscillator_energy ? y[3] + y[1] * y[5] : y[5] - y[1] * y[3];
        violation = fmax(violation, fabs(psi));
        all = fmax(all, fabs(energy(y, 0) - E));
        if (r->s.t < end / 20)
            first = all;
    }
    if (getenv("VERBOSE"))
        printf("dla: energy error %.3e early, %.3e in all; violation %.1e\n", first, all,
               violation);
    assert_true(violation < 1e-14);
    assert_true(all <= 2 * first && all < 10 * h * h);
    ride_close(r);
}

static void dla_keeps_constraint_and_energy(void **state)
{
    (void)state;
    nonholonomic_run(oscillator, oscillator_energy, 0.05, 5000);
    nonholonomic_run(particle, particle_energy, 0.05, 5000);
}

static void dla_reaches_the_references(void **state)
{
    (void)state;
    double y[6];
    const double oscillator_10[6] = {-1.0188691676496194, -.54402111088936980, -.57493504618902733,
                                     .37971438177132681,  -.83907152907645233, .69797729200355291};
    const double particle_10[3] = {-.53216913457285659, -.5440211108893698, -2.4758334277453527};
    ride_result(oscillator, &hmi_method_dla, 1e-3, 1e-10, 10, y);
    check_close("contact oscillator", 6, y, oscillator_10, 5e-6);
    ride_result(particle, &hmi_method_dla, 1e-3, 1e-10, 10, y);
    check_close("particle", 3, y, particle_10, 5e-6);
    ride_result(oscillator, &hmi_method_radau, 0, 1e-11, 10, y);
    check_close("contact oscillator by radau", 6, y, oscillator_10, 1e-9);
    ride_result(particle, &hmi_method_radau, 0, 1e-11, 10, y);
    check_close("particle by radau", 3, y, particle_10, 1e-9);
}

/* Quaternions: singular M, the unit norm and a ball joint as constraints. */
static void rattle_on_a_quaternion_body(void **state)
{
    (void)state;
    const char *top = HAMEL_SOURCE_DIR "/examples/heavy-top-quaternion.hamel";
    ride *r = ride_open(top, &hmi_method_rattle, 1e-4, 1e-10);
    /* x' ~ -l w[3], z' ~ l w[1]: the guess as written is consistent */
    double E = ride_energy(r), worst = 0;
    for (int k = 0; k < 2000; k++) {
        ride_step(r, INFINITY);
        if (k % 100 == 0)
            worst = fmax(worst, fabs(ride_energy(r) - E) / E);
    }
    if (getenv("VERBOSE"))
        printf("heavy top: relative energy error %.2e\n", worst);
    assert_true(worst < 1e-4);
    ride_close(r);
}

/* ---- what does not apply ---- */

static void check_refused(const char *text, const hmi_method *method, const char *reason)
{
    probe *p = probe_text(text);
    hmi_ode ode;
    const char *why = NULL;
    assert_int_equal(hmi_ode_init(&ode, p->sim), HM_OK);
    assert_int_equal(method->applies(&ode, &why), HM_ERR_USAGE);
    if (!why || !strstr(why, reason))
        fail_msg("%s: '%s' does not say '%s'", method->name, why ? why : "", reason);
    probe_close(p);
}

static void reasons(void **state)
{
    (void)state;
    check_refused(particle, &hmi_method_rattle, "position level");
    check_refused("coord x, y\nkinetic (x'^2 + y'^2)/2\nconstraint c: x'^2 + y'^2 = 1\n"
                  "initial x' = 1\n",
                  &hmi_method_dla, "linear or affine");
    check_refused("coord x, y\nkinetic (x'^2 + y'^2)/2\nconstraint c: x'' = y\n", &hmi_method_dla,
                  "accelerations");
    check_refused("coord x\nstate z' = x\nkinetic x'^2/2\n", &hmi_method_rattle, "auxiliary");
    check_refused("coord x\nmass x, x = 1 + x^2\nforce x = -x\n", &hmi_method_rattle, "Lagrangian");
    check_refused("coord x, y\nkinetic (x'^2 + y'^2)/2\nconstraint c: y = x^2\n"
                  "nonideal x = -0.1*abs(reaction(y))*x'\n",
                  &hmi_method_rattle, "constraint forces");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rattle_keeps_energy),
        cmocka_unit_test(variational_keeps_energy),
        cmocka_unit_test(dla_keeps_constraint_and_energy),
        cmocka_unit_test(dla_reaches_the_references),
        cmocka_unit_test(rattle_on_a_quaternion_body),
        cmocka_unit_test(reasons),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
