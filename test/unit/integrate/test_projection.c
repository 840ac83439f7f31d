/* Drift control: back onto the constraints by the compiled solve and by the rank-revealing one. */
#include "integrate/run/run.h"
#include "support/check.h"
#include "support/motion.h"

#include <math.h>
#include <string.h>

/* Both levels, M not constant: a bead on a wire that two coordinates see differently. */
static const char wire[] = "param k = 2; coord r, p, z\n"
                           "kinetic (r'^2 + r^2*p'^2 + z'^2)/2; potential 9.81*z\n"
                           "constraint bowl: z = k*r^2; constraint turn: r*p' = z'\n"
                           "initial r = 1, z ~ 2, p' = 0.5; simulate 0 .. 1";
/* One row twice: no compiled solve. */
static const char twice[] = "coord x, y; kinetic (x'^2 + y'^2)/2; potential 9.81*y\n"
                            "constraint a: x^2 + y^2 = 1; constraint b: 2*x^2 + 2*y^2 = 2\n"
                            "initial x = 1; simulate 0 .. 1";

static hmi_run *start(motion *m)
{
    assert_int_equal(hm_sim_start(m->sim, &m->options), HM_OK);
    return hmi_run_of(m->sim);
}

static double worst_residual(hmi_run *d, const double *y)
{
    double worst = 0;
    const hmi_point at = hmi_ode_point(&d->ode, d->s.t, y);
    hmi_residuals_evaluate(&d->residuals, &at);
    for (size_t k = 0; k < d->residuals.count; k++)
        worst = fmax(worst, fmax(fabs(d->residuals.position[k]), fabs(d->residuals.velocity[k])));
    return worst;
}

/* From a state off by e, the compiled solve and the other come to the same state, to e^2 e. */
static void test_both_solves(void **state)
{
    (void)state;
    motion *m = motion_text(wire);
    hmi_run *d = start(m);
    assert_non_null(d->projection.position.projector);
    assert_non_null(d->projection.velocity.projector);
    double y[2][8];
    for (int k = 0; k < 2; k++) {
        memcpy(y[k], d->s.y, d->ode.size * sizeof(double));
        for (size_t i = 0; i < d->ode.size; i++)
            y[k][i] += 1e-5 * sin(1 + (double)i);
        assert_true(worst_residual(d, y[k]) > 1e-6);
    }
    assert_int_equal(hmi_project(&d->projection, d->s.t, y[0]), HM_OK);
    hmi_sim_projector *position = d->projection.position.projector;
    d->projection.position.projector = NULL; /* the part solves instead */
    assert_int_equal(hmi_project(&d->projection, d->s.t, y[1]), HM_OK);
    d->projection.position.projector = position;
    for (int k = 0; k < 2; k++)
        assert_true(worst_residual(d, y[k]) < 1e-14);
    for (size_t i = 0; i < d->ode.size; i++)
        check_number("state", y[0][i], y[1][i], 1e-14);
    motion_close(m);
}

/* The step is M-orthogonal: what it moves is A^T l, with nothing along the constraints. */
static void test_mass_metric(void **state)
{
    (void)state;
    motion *m = motion_text("param M = 9; coord x, y; kinetic (M*x'^2 + y'^2)/2\n"
                            "constraint line: x + y = 1; initial x = 1; simulate 0 .. 1");
    hmi_run *d = start(m);
    double y[4] = {1.1, 0.1, 0.2, 0.1};
    assert_int_equal(hmi_project(&d->projection, 0, y), HM_OK);
    check_number("x", y[0], 1.1 - 0.02, 1e-15); /* 0.2 shared as 1/9 : 1 */
    check_number("y", y[1], 0.1 - 0.18, 1e-15);
    check_number("x'", y[2], 0.2 - 0.03, 1e-15);
    check_number("y'", y[3], 0.1 - 0.27, 1e-15);
    motion_close(m);
}

/* Dependent rows: the compiled solve says no, the other one answers. */
static void test_dependent_rows(void **state)
{
    (void)state;
    motion *m = motion_text(twice);
    hmi_run *d = start(m);
    double y[4] = {1.001, 0.002, 0.01, 0.5};
    assert_int_equal(hmi_project(&d->projection, 0, y), HM_OK);
    assert_true(worst_residual(d, y) < 1e-14);
    motion_close(m);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_both_solves),
        cmocka_unit_test(test_mass_metric),
        cmocka_unit_test(test_dependent_rows),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
