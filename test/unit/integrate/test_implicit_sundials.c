/* Radau against SUNDIALS, an independent implementation: CVODE on y' = f, IDA on the equations with
 * multipliers as unknowns. Passes without a word where this build has no SUNDIALS. */
#include "unit/integrate/implicit_harness.h"

#include <stdio.h>

#ifdef HAMEL_SUNDIALS
static const char *const models[] = {
    "coord x, y\nkinetic (x'^2 + y'^2)/2\npotential 9.81*y\nconstraint rod: x^2 + y^2 = 1\n"
    "initial x = 0.6, y = -0.8\n",
    "coord a, b\nlet P = [sin(a), -cos(a)]\nlet R = P + 0.7*[sin(b), -cos(b)]\n"
    "kinetic (dot(P', P') + 0.8*dot(R', R'))/2\npotential 9.81*(P[2] + 0.8*R[2])\n"
    "initial a = 0.8, b = -0.4, a' = 0.5, b' = 1\n",
    "coord x, y, z\nkinetic (x'^2 + y'^2 + z'^2)/2\npotential (x^2 + y^2)/2\n"
    "constraint rail: z' = y*x'\ninitial x = 1, y' = 1\n",
    "coord x\nstate z' = -200*(z - x)\nkinetic x'^2/2\npotential x^2/2\nforce x = -z\n"
    "dissipation 0.1*x'^2\ninitial x = 1, z = 1\n",
    "param k = 1e6, c = 1e4\ncoord x, y, s\nkinetic (x'^2 + y'^2 + 0.01*s'^2)/2\n"
    "potential 9.81*y + k/2*(s - x)^2\ndissipation c/2*(s' - x')^2\n"
    "constraint wire: y = x^2/2\ninitial x = 1, y = 0.5, s = 1\n",
};

/* Release of what SUNDIALS holds. */
static void result(const char *text, const hmi_method *method, double rtol, double *y)
{
    ride *r = ride_open(text, method, 0, rtol);
    double inside[16];
    ride_to(r, 1);
    memcpy(y, r->s.y, r->ode.size * sizeof *y);
    r->method->interpolate(&r->s, r->s.t, inside);
    check_close("end of the dense output", r->ode.size, inside, y, 1e-12);
    if (getenv("VERBOSE"))
        printf("%s: %ld steps, %ld evaluations\n", method->name, r->s.steps, r->ode.evaluations);
    if (method->finish)
        method->finish(&r->s);
    ride_close(r);
}

static void agreement(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof models / sizeof *models; i++) {
        double y[16] = {0}, cvode[16] = {0}, ida[16] = {0};
        result(models[i], &hmi_method_radau, 1e-10, y);
        result(models[i], &hmi_method_cvode, 1e-10, cvode);
        result(models[i], &hmi_method_ida, 1e-10, ida);
        check_close("cvode", 8, cvode, y, 1e-6);
        check_close("ida", 8, ida, y, 1e-6);
    }
}
#else
static void agreement(void **state)
{
    (void)state;
    skip();
}
#endif

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(agreement)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
