/* The wrong equations of the papers, through the comparison: every vakonomic entry of
 * test/data/cases.json (Flannery's rule (32)), every "incorrect" equation of Udwadia & Wanichanon as
 * corrected in errata.md, to 1e-11; and their trajectories, to 1e-9. The wrong models are never written
 * down here: they are made from the right ones of test/cases/oracle. */
#include "support/cases.h"
#include "support/check.h"
#include "support/probe.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { MOST_N = 12 };

/* The conflated cases and what was put into the right model. */
static const struct {
    const char *id, *right, *with;
} conflated[] = {
    {"002-hamel-conflated", "002-hamel-correct", "conflated:y'*cos(th) - x'*sin(th) = 0"},
    {"002-ex1-conflated", "002-ex1-correct", "conflated:z'^2 = x'^2 + y'^2"},
    {"002-ex2-conflated", "002-ex2-correct", "conflated:y' = c*z*x'"},
    {"002-ex3-conflated", "002-ex3-correct", "conflated:x = c*y'*z'"},
    {"002-ex4-conflated", "002-ex4-correct", "conflated:y' = z*z'"},
};

static const char *text_of(const json_t *object, const char *key)
{
    return json_string_value(json_object_get(object, key));
}

static probe *open_model(const char *folder, const char *name)
{
    char path[200];
    snprintf(path, sizeof path, "%s/%s.hamel", folder, name);
    return probe_file(path, NULL, 0);
}

/* Parameters that the model has. */
static void set_params(probe *p, const json_t *params)
{
    const char *name;
    json_t *value;
    json_object_foreach((json_t *)params, name, value)
    {
        for (size_t i = 0; i < hm_model_param_count(p->model); i++)
            if (strcmp(hm_model_param_name(p->model, i), name) == 0)
                probe_set(p, name, json_number_value(value));
    }
}

static void set_state(probe *p, const json_t *one, const json_t *point)
{
    double q[MOST_N], v[MOST_N];
    const json_t *model = json_object_get(one, "model");
    for (size_t i = 0; i < p->n; i++) {
        const json_t *x = json_array_get(json_object_get(model, "coordinates"), i);
        const json_t *xd = json_array_get(json_object_get(model, "velocities"), i);
        q[i] = json_number_value(
            json_object_get(json_object_get(point, "q"), json_string_value(x)));
        v[i] = json_number_value(
            json_object_get(json_object_get(point, "qd"), json_string_value(xd)));
    }
    hm_sim_set_state(p->sim, json_number_value(json_object_get(point, "t")), q, v, NULL);
}

static size_t compare(const char *id, const json_t *expected, const char *key, size_t n,
                      const double *actual, double tolerance)
{
    case_numbers numbers;
    char what[100];
    if (!case_read(expected, key, &numbers))
        return 0;
    assert_int_equal(numbers.count, n);
    snprintf(what, sizeof what, "%s: %s", id, key);
    check_close(what, n, actual, numbers.x, tolerance);
    return n;
}

/* ---- vakonomic ---- */

static size_t check_vakonomic(const json_t *one)
{
    const char *id = text_of(one, "id");
    const json_t *points = json_object_get(one, "points");
    if (!json_object_get(json_object_get(json_array_get(points, 0), "expected"), "vako_qdd"))
        return 0;
    probe *p = open_model("test/cases/oracle", id);
    hm_comparison *c = NULL;
    assert_int_equal(hm_comparison_create(p->context, p->system, "vakonomic", &c), HM_OK);
    assert_int_equal(hm_comparison_mu_count(c), p->m);
    for (size_t i = 0; i < json_array_size(points); i++) {
        const json_t *point = json_array_get(points, i);
        const json_t *expected = json_object_get(point, "expected");
        case_numbers mu;
        hm_compared at;
        set_params(p, json_object_get(point, "params"));
        set_state(p, one, point);
        assert_true(case_read(json_object_get(point, "inputs"), "mu", &mu));
        assert_int_equal(mu.count, p->m);
        assert_int_equal(hm_comparison_evaluate(c, p->sim, mu.x, &at), HM_OK);
        size_t numbers = compare(id, expected, "vako_qdd", p->n, at.other_qdd, 1e-11);
        numbers += compare(id, expected, "vako_mudot", p->m, at.mudot, 1e-11);
        numbers += compare(id, expected, "G_kj", p->m * p->n, at.G, 1e-11);
        numbers += compare(id, expected, "vako_minus_dalembert_qdd", p->n, at.difference, 1e-11);
        numbers += compare(id, expected, "qdd", p->n, at.correct_qdd, 1e-11);
        assert_true(numbers >= 3 * p->n + p->m);
    }
    hm_comparison_destroy(c);
    probe_close(p);
    return 1;
}

static void test_vakonomic_cases(void **state)
{
    (void)state;
    json_t *file = cases_load();
    const json_t *list = cases_list(file);
    size_t count = 0;
    for (size_t i = 0; i < json_array_size(list); i++)
        count += check_vakonomic(json_array_get(list, i));
    assert_int_equal(count, 10);
    json_decref(file);
}

/* ---- conflated ---- */

static void check_conflated_point(probe *p, const json_t *one, const json_t *point,
                                  const char *with)
{
    char text[200];
    const json_t *expected = json_object_get(point, "expected");
    const json_t *alpha = json_object_get(json_object_get(point, "params"), "alpha");
    hm_comparison *c = NULL;
    hm_compared at;
    int length = snprintf(text, sizeof text, "%s", with);
    if (alpha)
        snprintf(text + length, sizeof text - (size_t)length, "@%.17g", json_number_value(alpha));
    set_params(p, json_object_get(point, "params"));
    set_state(p, one, point);
    hm_status status = hm_comparison_create(p->context, p->system, text, &c);
    if (status != HM_OK) {
        show_diagnostics(p->context);
        fail_msg("%s: %s", text, hm_status_text(status));
    }
    assert_int_equal(hm_comparison_evaluate(c, p->sim, NULL, &at), HM_OK);
    const char *id = text_of(one, "id");
    assert_true(compare(id, expected, "qdd", p->n, at.other_qdd, 1e-11) > 0);
    assert_true(compare(id, expected, "lambda", p->m, at.other_lambda, 1e-11) > 0);
    hm_comparison_destroy(c);
}

static void test_conflated_cases(void **state)
{
    (void)state;
    json_t *file = cases_load();
    for (size_t i = 0; i < sizeof conflated / sizeof *conflated; i++) {
        const json_t *one = cases_find(file, conflated[i].id);
        const json_t *points = json_object_get(one, "points");
        probe *p = open_model("test/cases/oracle", conflated[i].right);
        assert_true(json_array_size(points) >= 4);
        for (size_t k = 0; k < json_array_size(points); k++)
            check_conflated_point(p, one, json_array_get(points, k), conflated[i].with);
        probe_close(p);
    }
    json_decref(file);
}

/* ---- trajectories ---- */

static const struct {
    const char *id, *folder, *model, *with;
} motions[] = {
    {"002-hamel-conflated", "test/cases/oracle", "002-hamel-correct",
     "conflated:-y'*cos(th) + x'*sin(th) = 0"},
    {"002-ex1-conflated", "test/physics/models", "example1-constant",
     "conflated:z'^2 = x'^2 + y'^2"},
    {"002-ex2-conflated-a0.5", "test/cases/oracle", "002-ex2-correct", "conflated:y' = c*z*x'@0.5"},
    {"002-ex2-vakonomic", "test/cases/oracle", "003-vako-002ex2", "vakonomic"},
    {"002-ex3-conflated", "test/cases/oracle", "002-ex3-correct", "conflated:x = c*y'*z'"},
    {"002-ex4-conflated-a0.5", "test/physics/models", "example4-constant",
     "conflated:y' = z*z'@1/2"},
    {"002-ex4-conflated-a1", "test/physics/models", "example4-constant", "conflated:y' = z*z'"},
    {"003-coin-vako-alpha0", "test/cases/oracle", "003-coin-linear", "vakonomic"},
    {"003-coin-vako-alpha0.375", "test/cases/oracle", "003-coin-linear", "vakonomic"},
    {"003-skate-incline-vako", "test/cases/oracle", "003-skate-incline", "vakonomic"},
    {"003-constraint42-vako", "test/cases/oracle", "003-integrable-42", "vakonomic"},
    {"003-constraint43-vako", "test/cases/oracle", "003-integrated-43", "vakonomic"},
};

static const json_t *find_trajectory(const json_t *file, const char *id)
{
    const json_t *list = json_object_get(file, "trajectories");
    for (size_t i = 0; i < json_array_size(list); i++)
        if (strcmp(text_of(json_array_get(list, i), "id"), id) == 0)
            return json_array_get(list, i);
    fail_msg("there is no trajectory %s", id);
    return NULL;
}

/* Runs from sample to sample: they are not evenly spaced. */
static double follow(probe *p, hm_comparison *c, const json_t *trajectory)
{
    case_numbers initial, sample;
    double worst = 0, violation = 0;
    const json_t *samples = json_object_get(trajectory, "samples");
    assert_true(case_read(trajectory, "initial_state", &initial));
    hm_sim_set_state(p->sim, 0, initial.x, initial.x + p->n, NULL);
    hm_run_options o = hm_run_options_default(p->model);
    o.start = 0;
    o.rtol = 1e-12;
    o.atol = 1e-14;
    for (size_t k = 0; k < json_array_size(samples); k++) {
        hm_diverging d;
        o.end = o.every = json_number_value(json_object_get(json_array_get(samples, k), "t"));
        if (!(o.end > 0))
            continue;
        assert_int_equal(hm_comparison_run(c, p->sim, &o, initial.x + 2 * p->n, &d), HM_OK);
        assert_int_equal(d.count, 2);
        assert_true(case_read(json_array_get(samples, k), "state", &sample));
        worst = fmax(worst, scaled_error(2 * p->n + d.k, d.other + (2 * p->n + d.k), sample.x));
        violation = fmax(violation, d.worst_violation);
    }
    assert_true(violation < 1e-9);
    return worst;
}

static void test_trajectories(void **state)
{
    (void)state;
    json_error_t error;
    json_t *file = json_load_file(HAMEL_SOURCE_DIR "/test/data/trajectories.json", 0, &error);
    assert_non_null(file);
    for (size_t i = 0; i < sizeof motions / sizeof *motions; i++) {
        const json_t *trajectory = find_trajectory(file, motions[i].id);
        probe *p = open_model(motions[i].folder, motions[i].model);
        hm_comparison *c = NULL;
        set_params(p, json_object_get(trajectory, "parameters"));
        if (strcmp(motions[i].model, "example4-constant") == 0)
            probe_set(p, "alpha", 0); /* the right model; the share is in the comparison */
        assert_int_equal(hm_comparison_create(p->context, p->system, motions[i].with, &c), HM_OK);
        double worst = follow(p, c, trajectory);
        print_message("%-28s %.1e\n", motions[i].id, worst);
        if (!(worst <= 1e-9))
            fail_msg("%s: error %.3g", motions[i].id, worst);
        hm_comparison_destroy(c);
        probe_close(p);
    }
    json_decref(file);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_vakonomic_cases),
        cmocka_unit_test(test_conflated_cases),
        cmocka_unit_test(test_trajectories),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
