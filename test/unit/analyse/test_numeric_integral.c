/* Integrated forms in numbers: constant on surfaces that are known, and along a run. */
#include "support/check.h"

#include "analyse/classify/analysis.h"

#include <hamel/hamel.h>

#include <math.h>
#include <string.h>

typedef struct opened {
    hm_context *context;
    hm_model *model;
    hm_system *system;
    hm_analysis *analysis;
} opened;

static void open_model(opened *o, const char *text)
{
    *o = (opened){.context = hm_context_create(NULL)};
    assert_int_equal(hm_model_parse(o->context, text, strlen(text), NULL, &o->model), HM_OK);
    assert_int_equal(hm_system_create(o->model, &o->system), HM_OK);
    assert_int_equal(hm_system_analyse(o->context, o->system, &o->analysis), HM_OK);
}

static void close_model(opened *o)
{
    hm_analysis_destroy(o->analysis);
    hm_system_destroy(o->system);
    hm_model_destroy(o->model);
    hm_context_destroy(o->context);
}

static const char *const exact_text = "coord x, y, z\nkinetic (x'^2 + y'^2 + z'^2)/2\n"
                                      "constraint c: 2*x*x' + z*y' + y*z' = 0\n"
                                      "initial x = 1, y = 0.5, z = 0.4, y' = 1\n";

/* x^2 + y z is the integral: f maps its surfaces to x at y = 0.5, z = 0.4. */
static void test_known_surface(void **state)
{
    (void)state;
    opened o;
    hmi_forms forms;
    hmi_arena arena;
    hmi_numeric_integral integral;
    open_model(&o, exact_text);
    const double q0[] = {1, 0.5, 0.4}, q[] = {0.9, 0.7, 0.8};
    double f = 0;
    hmi_arena_init(&arena, o.system->allocator);
    assert_int_equal(hmi_forms_init(&forms, o.system), HM_OK);
    assert_int_equal(
        hmi_numeric_integral_init(&integral, &arena, &forms, &forms.rows[0].form, q0, 0), HM_OK);
    assert_int_equal(integral.p, 0);
    assert_int_equal(hmi_numeric_integral_value(&integral, q0, 0, &f), HM_OK);
    check_number("the centre", f, 1, 1e-15);
    assert_int_equal(hmi_numeric_integral_value(&integral, q, 3, &f), HM_OK);
    check_number("elsewhere", f, sqrt(0.81 + 0.56 - 0.2), 1e-11);
    hmi_numeric_integral_release(&integral);
    hmi_forms_release(&forms);
    hmi_arena_release(&arena);
    close_model(&o);
}

/* No closed form is found; along a run f stays. */
static void test_along_a_run(void **state)
{
    (void)state;
    opened o;
    hm_sim *sim;
    open_model(&o, "coord x, y\nkinetic (x'^2 + y'^2)/2\npotential 0.3*y\n"
                   "constraint a: sin(x*y)*x' + exp(x - y^2)*y' = 0\n"
                   "initial x = 1, y = 0.3, x' = 1, y' ~ 0\n");
    const hm_constraint_analysis *row = &o.analysis->constraints[0];
    assert_null(row->potential);
    assert_string_equal(row->leaf, "y");
    assert_int_equal(hm_sim_create(o.system, &sim), HM_OK);
    hm_run_options options = hm_run_options_default(o.model);
    options.rtol = options.atol = 1e-12;
    assert_int_equal(hm_sim_start(sim, &options), HM_OK);
    double q[2], first = 0, f = 0, moved = 0;
    for (int k = 0; k < 60 && hm_sim_time(sim) < 1.5; k++) {
        hm_sim_state(sim, q, NULL, NULL);
        assert_int_equal(hm_analysis_integral(o.analysis, 0, q, 0, &f), HM_OK);
        first = k ? first : f;
        check_number("f", f, first, 1e-9);
        moved = fmax(moved, fabs(q[1] - 0.3));
        assert_int_equal(hm_sim_step(sim), HM_OK);
    }
    assert_true(moved > 0.05);
    hm_sim_destroy(sim);
    close_model(&o);
}

static void test_refusals(void **state)
{
    (void)state;
    opened o;
    double q[3] = {1, 0.5, 0.4}, f;
    open_model(&o, exact_text);
    assert_string_equal(o.analysis->constraints[0].potential, "x^2 + y*z");
    assert_int_equal(hm_analysis_integral(o.analysis, 0, q, 0, &f), HM_ERR_USAGE);
    assert_int_equal(hm_analysis_integral(o.analysis, 7, q, 0, &f), HM_ERR_USAGE);
    close_model(&o);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_known_surface),
        cmocka_unit_test(test_along_a_run),
        cmocka_unit_test(test_refusals),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
