/* `derive --on-constraints`, evaluated at states that satisfy the constraints, agrees with `eval` to
 * 1e-10 max(1, |expected|): examples with constraints, at its initial state and at states around it. */
#include "support/check.h"
#include "support/probe.h"

#include <dirent.h>
#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_PATH = 600, STATES = 3 };

static size_t compared, shorter;

static bool append(void *user, const char *bytes, size_t length)
{
    return fwrite(bytes, 1, length, user) == length;
}

/* The model with the list `key` of what was printed as outputs on_KEY[i]. */
static void add_outputs(FILE *model, const char *key, const json_t *list)
{
    size_t i;
    json_t *e;
    json_array_foreach(list, i, e)
        fprintf(model, "output on_%s[%zu] = %s\n", key, i, json_string_value(e));
}

static const char *const keys[] = {"Q", "b", "C", "lambda", "Qi", "Qni", "qdd"};
enum { KEYS = sizeof keys / sizeof *keys };

static probe *read_back(const char *path, const json_t *printed)
{
    char *text = NULL, block[4096];
    size_t size, got;
    const char *name;
    json_t *value, *on = json_object_get(printed, "on_constraints");
    FILE *model = open_memstream(&text, &size), *from = fopen(path, "r");
    assert_true(model && from);
    while ((got = fread(block, 1, sizeof block, from)) > 0)
        fwrite(block, 1, got, model);
    fclose(from);
    fputs("\n", model);
    json_object_foreach(json_object_get(printed, "where"), name, value)
        fprintf(model, "let %s = %s\n", name, json_string_value(value));
    for (int k = 0; k < KEYS; k++)
        add_outputs(model, keys[k], json_object_get(on, keys[k]));
    fclose(model);
    probe *with = probe_text(text);
    free(text);
    return with;
}

/* A state near the initial one, moved onto the constraints. */
static bool set_state(probe *p, int which)
{
    random_source random = {(uint64_t)which + 7};
    size_t n = p->n, extra = hm_model_state_count(p->model);
    double *x = calloc(2 * n + extra + 1, sizeof *x);
    assert_non_null(x);
    hm_model_initial(p->model, x, x + n, x + 2 * n);
    for (size_t i = 0; which && i < 2 * n; i++)
        x[i] += random_between(&random, -0.2, 0.2);
    hm_status status = hm_sim_set_state(p->sim, 0.3 * which, x, x + n, x + 2 * n);
    free(x);
    if (status == HM_OK)
        status = hm_sim_make_consistent(p->sim, true, NULL, NULL);
    return status == HM_OK && hm_sim_evaluate(p->sim, NULL, &p->at) == HM_OK;
}

static void compare_at(const char *path, const probe *p)
{
    const hm_evaluation *e = &p->at;
    const double *expected[KEYS] = {e->Q, e->b, e->C, e->lambda, e->Qi, e->Qni, e->qdd};
    for (size_t i = 0; i < hm_model_output_count(p->model); i++) {
        char key[16], what[MOST_PATH + 40];
        size_t index;
        if (sscanf(hm_model_output_name(p->model, i), "on_%15[^[][%zu]", key, &index) != 2)
            continue;
        for (int k = 0; k < KEYS; k++)
            if (strcmp(key, keys[k]) == 0) {
                snprintf(what, sizeof what, "%s: %s[%zu]", path, key, index);
                check_close(what, 1, &e->outputs[i], &expected[k][index], 1e-10);
                compared++;
            }
    }
}

static void check_model(const char *path)
{
    char *text = NULL;
    size_t size;
    probe *p = probe_file(path, NULL, 0);
    const hm_derive_options options = {.on_constraints = true};
    FILE *stream = open_memstream(&text, &size);
    assert_non_null(stream);
    assert_int_equal(hm_system_derive_with(p->system, HM_FORMAT_JSON, &options, append, stream),
                     HM_OK);
    fclose(stream);
    json_t *printed = json_loads(text, 0, NULL);
    assert_non_null(printed);
    json_t *on = json_object_get(printed, "on_constraints");
    json_int_t changed = json_integer_value(json_object_get(on, "shorter"));
    shorter += changed > 0;
    if (changed > 0) {
        assert_true(json_integer_value(json_object_get(on, "states")) >= 6);
        probe *with = read_back(path, printed);
        for (int i = 0; i < STATES; i++)
            if (set_state(with, i))
                compare_at(path, with);
        probe_close(with);
    }
    json_decref(printed);
    free(text);
    probe_close(p);
}

/* Contacts decide anew at each state which rows hold. Larger models take long: HAMEL_ON_CONSTRAINTS=10 runs those of
 * up to 10 coordinates. */
static bool is_left_out(const probe *p)
{
    const char *most = getenv("HAMEL_ON_CONSTRAINTS");
    bool out = p->m == 0 || p->n > (most ? (size_t)atoi(most) : 4);
    for (size_t i = 0; i < hm_model_constraint_count(p->model); i++)
        out |= hm_model_constraint(p->model, i).one_sided ||
               hm_model_constraint(p->model, i).switched;
    return out;
}

static void test_examples(void **state)
{
    (void)state;
    struct dirent **entry;
    int count = scandir(HAMEL_SOURCE_DIR "/examples", &entry, NULL, alphasort);
    for (int i = 0; i < count; i++) {
        char path[MOST_PATH];
        snprintf(path, sizeof path, HAMEL_SOURCE_DIR "/examples/%s", entry[i]->d_name);
        const char *dot = strrchr(path, '.');
        if (dot && strcmp(dot, ".hamel") == 0) {
            probe *p = probe_file(path, NULL, 0);
            bool out = is_left_out(p);
            probe_close(p);
            if (!out)
                check_model(path);
        }
        free(entry[i]);
    }
    free(entry);
    print_message("%zu models with shorter forms, %zu numbers compared\n", shorter, compared);
    assert_true(shorter >= 8 && compared >= 150);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_examples)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
