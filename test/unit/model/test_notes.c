/* Texts, ranges, quantities and drawings: what a model says for people and animations. */
#include "support/check.h"

#include <hamel/hamel.h>

#include <math.h>
#include <string.h>

static const char text[] =
    "param m = 2 in 0 .. 5 \"mass (kg)\", k = 3, w[0..1] = [1, 2] \"weights\"\n"
    "coord x in -1 .. 1 \"position (m)\", y\n"
    "kinetic m/2*(x'^2 + y'^2)\npotential k/2*x^2\ndissipation x'^2/2\n"
    "force y = -x'\nconstraint rail: y = 2*x\n"
    "initial x = 0.5, x' = 3\n"
    "let P = [x, y]\n"
    "output T \"energy (J)\" = kinetic_energy\noutput table = potential_energy\n"
    "output p = [momentum(x), momentum(y)]\n"
    "output powers = [power(impressed), power(dissipation), power(ideal), power(gyroscopic)]\n"
    "draw line [0, 0], P, 2*P color \"red\"\n"
    "draw arrow P, [0, multiplier(rail)] label \"force\"\ndraw ground -1\n";

static hm_context *context;
static hm_model *model;
static hm_system *system_;
static hm_sim *sim;

static int open_model(void **state)
{
    (void)state;
    context = hm_context_create(NULL);
    return context && hm_model_parse(context, text, strlen(text), NULL, &model) == HM_OK &&
                   hm_system_create(model, &system_) == HM_OK &&
                   hm_sim_create(system_, &sim) == HM_OK
               ? 0
               : 1;
}

static int close_model(void **state)
{
    (void)state;
    hm_sim_destroy(sim);
    hm_system_destroy(system_);
    hm_model_destroy(model);
    hm_context_destroy(context);
    return 0;
}

static void texts_and_ranges(void **state)
{
    (void)state;
    double low = 7, high = 7;
    assert_string_equal(hm_model_param_text(model, 0), "mass (kg)");
    assert_true(hm_model_param_range(model, 0, &low, &high));
    assert_true(low == 0 && high == 5);
    assert_null(hm_model_param_text(model, 1));
    assert_false(hm_model_param_range(model, 1, &low, &high));
    assert_string_equal(hm_model_param_text(model, 3), "weights");
    assert_string_equal(hm_model_coordinate_text(model, 0), "position (m)");
    assert_true(hm_model_coordinate_range(model, 0, &low, &high));
    assert_true(low == -1 && high == 1);
    assert_null(hm_model_coordinate_text(model, 1));
    assert_string_equal(hm_model_output_text(model, 0), "energy (J)");
    assert_string_equal(hm_model_output_name(model, 1), "table");
    assert_null(hm_model_output_text(model, 99));
    assert_false(hm_model_output_range(model, 99, &low, &high));
}

static hm_evaluation evaluate(void)
{
    const double q[2] = {0.5, 1}, v[2] = {3, 6};
    hm_evaluation e;
    hm_sim_set_state(sim, 0, q, v, NULL);
    assert_int_equal(hm_sim_evaluate(sim, NULL, &e), HM_OK);
    return e;
}

static void quantities(void **state)
{
    (void)state;
    hm_evaluation e = evaluate();
    check_number("T", e.outputs[0], 45, 1e-14);
    check_number("V", e.outputs[1], 0.375, 1e-14);
    check_number("px", e.outputs[2], 6, 1e-14);
    check_number("py", e.outputs[3], 12, 1e-14);
    check_number("impressed", e.outputs[4], -18, 1e-14);
    check_number("dissipation", e.outputs[5], -9, 1e-14);
    check_number("ideal", e.outputs[6], 0, 1e-12);
    check_number("gyroscopic", e.outputs[7], 0, 1e-14);
}

static void drawings(void **state)
{
    (void)state;
    assert_int_equal(hm_model_drawing_count(model), 3);
    assert_int_equal(hm_model_drawing_values(model), 11);
    hm_drawing line = hm_model_drawing(model, 0), arrow = hm_model_drawing(model, 1),
               ground = hm_model_drawing(model, 2);
    assert_int_equal(line.kind, HM_DRAWING_LINE);
    assert_int_equal(line.part_count, 3);
    assert_string_equal(line.color, "red");
    assert_null(line.label);
    assert_string_equal(arrow.label, "force");
    assert_string_equal(hm_drawing_kind_text(ground.kind), "ground");
    hm_evaluation e = evaluate();
    check_number("2 P", e.drawings[line.parts[2].first + 1], 2, 1e-14);
    check_number("force", e.drawings[arrow.parts[1].first + 1], e.lambda[0], 1e-14);
    check_number("ground", e.drawings[ground.parts[0].first], -1, 0);
    assert_int_equal(ground.parts[0].rows, 1);
}

static void outside_is_a_warning(void **state)
{
    (void)state;
    const char *outside =
        "param m = 2 in 3 .. 5\ncoord x in 0 .. 1\nkinetic m*x'^2\ninitial x = 2\n";
    hm_context *own = hm_context_create(NULL);
    hm_model *made;
    assert_int_equal(hm_model_parse(own, outside, strlen(outside), NULL, &made), HM_OK);
    assert_int_equal(hm_context_diagnostic_count(own), 2);
    assert_non_null(strstr(hm_context_diagnostic(own, 0)->message, "outside of its range 3 .. 5"));
    assert_int_equal(hm_context_diagnostic(own, 0)->severity, HM_SEVERITY_WARNING);
    assert_non_null(strstr(hm_context_diagnostic(own, 1)->message, "x = 2 is outside"));
    hm_model_destroy(made);
    hm_context_destroy(own);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(texts_and_ranges),
        cmocka_unit_test(quantities),
        cmocka_unit_test(drawings),
        cmocka_unit_test(outside_is_a_warning),
    };
    return cmocka_run_group_tests(tests, open_model, close_model);
}
