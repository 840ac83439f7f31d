/* The order of the implicit methods, measured: on minimal and redundant coordinates, M(q), forces
 * that depend on velocities and time, nonholonomic and affine constraints. */
#include "unit/integrate/implicit_harness.h"

#include <stdio.h>

static const char pendulum[] = "param g = 9.81, l = 1\ncoord x, y\nkinetic (x'^2 + y'^2)/2\n"
                               "potential g*y\nconstraint rod: x^2 + y^2 = l^2\n"
                               "initial x = 0.6, y = -0.8, x' = 0.8, y' = 0.6\n";
static const char double_pendulum[] =
    "param g = 9.81\ncoord a, b\n"
    "let P = [sin(a), -cos(a)]\nlet R = P + 0.7*[sin(b), -cos(b)]\n"
    "kinetic (dot(P', P') + 0.8*dot(R', R'))/2\npotential g*(P[2] + 0.8*R[2])\n"
    "initial a = 0.8, b = -0.4, a' = 0.5, b' = 1\n";
static const char driven[] = "coord x\nkinetic x'^2*(1 + x^2)/2\npotential x^2 + x^4/4\n"
                             "dissipation 0.1*x'^2\nforce x = cos(2*t) - 0.1*x*x'\n"
                             "initial x = 1, x' = 0.3\n";
static const char particle[] = "coord x, y, z\nkinetic (x'^2 + y'^2 + z'^2)/2\n"
                               "potential (x^2 + y^2)/2\nconstraint rail: z' = y*x'\n"
                               "initial x = 1, y' = 1\n";
static const char affine[] =
    "coord x, y, th\nkinetic (x'^2 + y'^2 + 0.7*th'^2)/2\npotential 0.5*x^2\n"
    "constraint belt: y'*cos(th) - x'*sin(th) = 0.3*sin(t)\n"
    "initial x = 0.3, th = 0.4, th' = 1, x' = 1, y' = 0.42279321873816176\n";
static const char twice[] = "coord x, y, z\nkinetic (x'^2 + 2*y'^2 + z'^2)/2\npotential 3*y + x\n"
                            "constraint sphere: x^2 + y^2 + z^2 = 1\n"
                            "constraint again: 2*x^2 + 2*y^2 + 2*z^2 = 2\n"
                            "initial x = 0.6, y = -0.8, z' = 0.9, x' = 0.4, y' = 0.3\n";
static const char filter[] =
    "coord x\nstate z' = -2*z + x*x'\nkinetic x'^2/2\npotential x^2 - x*z\n"
    "initial x = 1, x' = 0.4, z = 0.2\n";
static const char vortices[] = /* three, L linear in velocities */
    "param G1 = 1, G2 = 0.8, G3 = -0.5\ncoord x1, y1, x2, y2, x3, y3\n"
    "lagrangian (G1*(x1*y1' - y1*x1') + G2*(x2*y2' - y2*x2') + G3*(x3*y3' - y3*x3'))/2"
    " + G1*G2*log((x1-x2)^2 + (y1-y2)^2)/2 + G1*G3*log((x1-x3)^2 + (y1-y3)^2)/2"
    " + G2*G3*log((x2-x3)^2 + (y2-y3)^2)/2\n"
    "initial x1 = 0, y1 = 0, x2 = 1, y2 = 0, x3 = 0.3, y3 = 1.1\n";

static double distance(size_t n, const double *x, const double *y)
{
    double sum = 0;
    for (size_t i = 0; i < n; i++)
        sum += (x[i] - y[i]) * (x[i] - y[i]);
    return sqrt(sum);
}

/* log2 of the ratio of errors at h and h/2, against a reference with h/16 of radau. */
static void check_order(const char *text, const hmi_method *method, double h, double end)
{
    double exact[32], coarse[32], fine[32];
    ride *r = ride_open(text, method, h, 0);
    size_t size = r->ode.dirac ? r->ode.n : r->ode.size;
    ride_close(r);
    ride_result(text, &hmi_method_radau, 0.004, 0, end, exact);
    ride_result(text, method, h, 0, end, coarse);
    ride_result(text, method, h / 2, 0, end, fine);
    double a = distance(size, coarse, exact), b = distance(size, fine, exact);
    double order = log2(a / b);
    if (getenv("VERBOSE"))
        printf("%-9s %.20s...: errors %.2e %.2e, order %.2f\n", method->name, text, a, b, order);
    if (fabs(order - method->order) > 0.2)
        fail_msg("%s: errors %.2e and %.2e, order %.2f", method->name, a, b, order);
}

static void radau(void **state)
{
    (void)state;
    check_order(pendulum, &hmi_method_radau, 0.05, 1);
    check_order(double_pendulum, &hmi_method_radau, 0.025, 1);
    check_order(driven, &hmi_method_radau, 0.1, 2);
    check_order(particle, &hmi_method_radau, 0.2, 2);
    check_order(affine, &hmi_method_radau, 0.1, 1);
    check_order(filter, &hmi_method_radau, 0.1, 2);
    check_order(vortices, &hmi_method_radau, 0.05, 1);
}

static void midpoint(void **state)
{
    (void)state;
    check_order(pendulum, &hmi_method_midpoint, 0.01, 1);
    check_order(double_pendulum, &hmi_method_midpoint, 0.01, 1);
    check_order(driven, &hmi_method_midpoint, 0.02, 2);
    check_order(particle, &hmi_method_midpoint, 0.02, 2);
    check_order(affine, &hmi_method_midpoint, 0.02, 1);
    check_order(filter, &hmi_method_midpoint, 0.02, 2);
    check_order(vortices, &hmi_method_midpoint, 0.01, 1);
}

static void rattle(void **state)
{
    (void)state;
    check_order(pendulum, &hmi_method_rattle, 0.01, 1);
    check_order(double_pendulum, &hmi_method_rattle, 0.01, 1);
    check_order(driven, &hmi_method_rattle, 0.02, 2);
    check_order(twice, &hmi_method_rattle, 0.02, 1);
}

static void dla(void **state)
{
    (void)state;
    check_order(pendulum, &hmi_method_dla, 0.01, 1);
    check_order(double_pendulum, &hmi_method_dla, 0.01, 1);
    check_order(driven, &hmi_method_dla, 0.02, 2);
    check_order(particle, &hmi_method_dla, 0.02, 2);
    check_order(affine, &hmi_method_dla, 0.02, 1);
    check_order(twice, &hmi_method_dla, 0.02, 1);
}

/* Dense output: the error inside the steps falls with at least this order. */
static double dense_error(const hmi_method *method, double h)
{
    ride *r = ride_open(double_pendulum, method, h, 0);
    ride *exact = ride_open(double_pendulum, &hmi_method_radau, 0, 1e-13);
    double y[8], largest = 0;
    while (r->s.t < 1) {
        ride_step(r, 1);
        double t = r->s.t_old + 0.37 * (r->s.t - r->s.t_old);
        ride_to(exact, t);
        r->method->interpolate(&r->s, t, y);
        largest = fmax(largest, distance(4, y, exact->s.y));
    }
    ride_close(r);
    ride_close(exact);
    return largest;
}

static void dense_output(void **state)
{
    (void)state;
    struct {
        const hmi_method *method;
        double h;
        int order;
    } cases[] = {{&hmi_method_radau, 0.05, 3},
                 {&hmi_method_midpoint, 0.02, 2},
                 {&hmi_method_rattle, 0.02, 2},
                 {&hmi_method_dla, 0.02, 2}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        double a = dense_error(cases[i].method, cases[i].h);
        double b = dense_error(cases[i].method, cases[i].h / 2);
        if (getenv("VERBOSE"))
            printf("%s: dense output %.2e %.2e\n", cases[i].method->name, a, b);
        assert_true(log2(a / b) > cases[i].order - 0.2);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(radau), cmocka_unit_test(midpoint),     cmocka_unit_test(rattle),
        cmocka_unit_test(dla),   cmocka_unit_test(dense_output),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
