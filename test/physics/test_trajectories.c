/* Every trajectory of test/data/trajectories.json, except the vakonomic ones: to 1e-9 with tight
 * tolerances, to 1e-6 as run by a user who chooses nothing, and by radau. Errors are relative to max(1, |state|). */
#include "support/check.h"
#include "support/motion.h"

#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

/* Where the oracle's case file is not the trajectory's model. */
static const struct {
    const char *id, *path;
} other_models[] = {
    {"001-swarm-k1", "test/physics/models/swarm-servo.hamel"},
    {"001-swarm-k5", "test/physics/models/swarm-servo.hamel"},
    {"001-manip-loopA-P1", "test/physics/models/manipulator-loop-a.hamel"},
    {"001-manip-loopA-P0.5", "test/physics/models/manipulator-loop-a.hamel"},
    {"001-manip-loopB-P1", "test/physics/models/manipulator-loop-b.hamel"},
    {"001-manip-loopB-P0.05", "test/physics/models/manipulator-loop-b.hamel"},
    {"001-manip-loopC-P1", "test/physics/models/manipulator-loop-c.hamel"},
    {"002-ex1-correct", "test/physics/models/example1-constant.hamel"},
    {"002-ex1-conflated", "test/physics/models/example1-constant-conflated.hamel"},
    {"002-ex4-correct", "test/physics/models/example4-constant.hamel"},
    {"002-ex4-conflated-a0.5", "test/physics/models/example4-constant.hamel"},
    {"002-ex4-conflated-a1", "test/physics/models/example4-constant.hamel"},
};

static const char *text_of(const json_t *object, const char *key)
{
    return json_string_value(json_object_get(object, key));
}

static void model_path(const json_t *trajectory, char *path, size_t size)
{
    const char *id = text_of(trajectory, "id");
    snprintf(path, size, "test/cases/oracle/%s.hamel", text_of(trajectory, "case"));
    for (size_t i = 0; i < sizeof other_models / sizeof *other_models; i++)
        if (strcmp(other_models[i].id, id) == 0)
            snprintf(path, size, "%s", other_models[i].path);
}

/* Parameters of the trajectory that the model has. */
static size_t overrides_of(const json_t *trajectory, const motion *m, hm_override *list,
                           char (*texts)[40])
{
    size_t count = 0;
    const char *name;
    json_t *value, *parameters = json_object_get(trajectory, "parameters");
    json_object_foreach(parameters, name,
                        value) for (size_t i = 0; i < hm_model_param_count(m->model);
                                    i++) if (strcmp(hm_model_param_name(m->model, i), name) == 0)
    {
        snprintf(texts[count], 40, "%.17g", json_number_value(value));
        list[count] = (hm_override){name, texts[count]};
        count++;
    }
    return count;
}

static motion *load(const json_t *trajectory)
{
    char path[256], texts[16][40];
    hm_override list[16];
    model_path(trajectory, path, sizeof path);
    motion *m = motion_file(path, NULL, 0);
    size_t count = overrides_of(trajectory, m, list, texts);
    motion_close(m);
    return motion_file(path, list, count);
}

static void read_state(const json_t *list, size_t n, double *state)
{
    for (size_t i = 0; i < n; i++)
        state[i] = json_number_value(json_array_get(list, i));
}

/* States off the constraint are run as they are, as the oracle did. */
static bool starts_off_constraint(const char *id)
{
    return strcmp(id, "001-swarm-k0") == 0 || strcmp(id, "001-manip-UK-ideal") == 0;
}

/* A negative number: the method does not take the model. */
static double follow(const json_t *trajectory, const char *method, double rtol, double atol)
{
    double state[64], now[64], worst = 0;
    motion *m = load(trajectory);
    const char *id = text_of(trajectory, "id");
    const json_t *samples = json_object_get(trajectory, "samples");
    read_state(json_object_get(trajectory, "initial_state"), 2 * m->n, state);
    hm_sim_set_state(m->sim, 0, state, state + m->n, NULL);
    m->options.start = 0;
    if (rtol > 0) {
        m->options.rtol = rtol;
        m->options.atol = atol;
    }
    m->options.method = method;
    m->options.fix_state = true;
    m->options.keep_initial = starts_off_constraint(id);
    hm_status status = hm_sim_start(m->sim, &m->options);
    if (status == HM_ERR_USAGE && motion_says(m, "does not apply")) {
        motion_close(m);
        return -1;
    }
    if (status != HM_OK)
        fail_msg("%s does not start", id);
    for (size_t k = 0; k < json_array_size(samples); k++) {
        const json_t *sample = json_array_get(samples, k);
        motion_advance(m, json_number_value(json_object_get(sample, "t")));
        hm_sim_state(m->sim, now, now + m->n, NULL);
        read_state(json_object_get(sample, "state"), 2 * m->n, state);
        worst = fmax(worst, scaled_error(2 * m->n, now, state));
    }
    motion_close(m);
    return worst;
}

static void check_all(const char *method, double rtol, double atol, double tolerance,
                      size_t expected)
{
    json_error_t error;
    json_t *file = json_load_file(HAMEL_SOURCE_DIR "/test/data/trajectories.json", 0, &error);
    assert_non_null(file);
    const json_t *list = json_object_get(file, "trajectories");
    size_t run = 0;
    for (size_t i = 0; i < json_array_size(list); i++) {
        const json_t *trajectory = json_array_get(list, i);
        const char *id = text_of(trajectory, "id");
        if (strstr(id, "vako"))
            continue;
        double worst = follow(trajectory, method, rtol, atol);
        if (worst < 0)
            continue;
        print_message("%-28s %.1e\n", id, worst);
        if (!(worst <= tolerance))
            fail_msg("%s: error %.3g > %.0e", id, worst, tolerance);
        run++;
    }
    assert_int_equal(run, expected);
    json_decref(file);
}

static void test_tight(void **state)
{
    (void)state;
    check_all("auto", 1e-12, 1e-14, 1e-9, 33);
}

/* Series, without the models that have servos or laws that use reactions. */
static void test_series(void **state)
{
    (void)state;
    check_all("taylor", 1e-12, 1e-14, 1e-9, 28);
    check_all("taylor", 1e-10, 1e-12, 1e-8, 28);
}

static void test_default(void **state)
{
    (void)state;
    check_all("auto", 0, 0, 1e-6, 33);
}

/* Implicit, with the exact Jacobian: another method altogether, of order 5. */
static void test_radau(void **state)
{
    (void)state;
    check_all("radau", 1e-10, 1e-12, 1e-6, 33);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_tight),
        cmocka_unit_test(test_series),
        cmocka_unit_test(test_default),
        cmocka_unit_test(test_radau),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
