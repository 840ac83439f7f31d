/* What `derive` prints, evaluated, agrees with `eval` to 1e-12 max(1, |expected|): every model of
 * test/cases/oracle, examples/ and test/golden/, at its initial state and at states around it.
 *
 *   JSON  the expressions are appended to the model as outputs, so that the language reads them back:
 *         M, Q, A, b, C, servo rows, states' rates, energies and, where there are closed forms,
 *         lambda, Qi, Qni, q''
 *   C     the function is compiled without warnings, loaded and called: M, Q, A, b, C, servo rows,
 *         rates (not under the sanitizers, which do not reach into it)
 */
#include "support/check.h"
#include "support/probe.h"

#include "model/model.h"

#include <dirent.h>
#include <dlfcn.h>
#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { MOST_MODELS = 200, MOST_PATH = 600, STATES = 4 };
static const double tolerance = 1e-12;

static double worst_error;
static size_t numbers_compared, closed_forms;

/* ---- the derivation as text ---- */

static bool append(void *user, const char *bytes, size_t length)
{
    return fwrite(bytes, 1, length, user) == length;
}

static char *derive(const probe *p, hm_format format)
{
    char *text = NULL;
    size_t size;
    FILE *stream = open_memstream(&text, &size);
    assert_non_null(stream);
    assert_int_equal(hm_system_derive(p->system, format, append, stream), HM_OK);
    fclose(stream);
    return text;
}

/* ---- states ---- */

/* The initial state as written, then states around it. False where nothing is finite there. */
static bool set_state(probe *p, int which)
{
    random_source random = {(uint64_t)which};
    size_t n = p->n, states = hm_model_state_count(p->model);
    double *x = calloc(2 * n + states + 1, sizeof *x), *q = x, *v = x + n, *z = x + 2 * n;
    assert_non_null(x);
    hm_model_initial(p->model, q, v, z);
    for (size_t i = 0; which && i < 2 * n + states; i++)
        x[i] += random_between(&random, -0.4, 0.4);
    hm_sim_set_state(p->sim, which ? 0.3 * which : 0, q, v, z);
    free(x);
    hm_evaluate_options options = hm_evaluate_options_default();
    options.compare = false;
    hm_status status = hm_sim_evaluate(p->sim, &options, &p->at);
    if (status != HM_OK && status != HM_ERR_UNDETERMINED && status != HM_ERR_INCONSISTENT)
        return false;
    hm_matrix_dense(&p->at.M, p->M);
    hm_matrix_dense(&p->at.A, p->A);
    hm_matrix_dense(&p->at.servo_A, p->servo_A);
    p->status = status;
    return true;
}

/* ---- comparing ---- */

static void compare(const char *path, const char *what, size_t n, const double *actual,
                    const double *expected)
{
    char where[MOST_PATH + 40];
    snprintf(where, sizeof where, "%s: %s", path, what);
    worst_error = fmax(worst_error, check_close(where, n, actual, expected, tolerance));
    numbers_compared += n;
}

/* ---- JSON, read back by the language ---- */

/* What is printed under a key, and what it must be worth. */
typedef struct quantity {
    const char *key;
    size_t rows, columns; /* columns 0: a list */
    bool symmetric;       /* the lower triangle is printed */
    const double *expected;
} quantity;

static void add_output(FILE *model, const char *key, size_t index, const json_t *expression)
{
    fprintf(model, "output printed_%s[%zu] = %s\n", key, index, json_string_value(expression));
}

/* Outputs printed_KEY[index]; entries that are not listed are zero. */
static void add_quantity(FILE *model, const quantity *x, const json_t *printed)
{
    const json_t *list = x->columns ? json_object_get(printed, "entries") : printed;
    for (size_t k = 0; k < json_array_size(list); k++) {
        const json_t *entry = json_array_get(list, k);
        if (!x->columns) {
            add_output(model, x->key, k, entry);
            continue;
        }
        size_t i = (size_t)json_integer_value(json_array_get(entry, 0));
        size_t j = (size_t)json_integer_value(json_array_get(entry, 1));
        add_output(model, x->key, i * x->columns + j, json_array_get(entry, 2));
    }
}

static double *values_of(const probe *with, const quantity *x)
{
    size_t count = x->rows * (x->columns ? x->columns : 1);
    double *values = calloc(count + 1, sizeof *values);
    assert_non_null(values);
    for (size_t i = 0; i < hm_model_output_count(with->model); i++) {
        char key[64];
        size_t index;
        if (sscanf(hm_model_output_name(with->model, i), "printed_%63[^[][%zu]", key, &index) !=
                2 ||
            strcmp(key, x->key) != 0)
            continue;
        assert_true(index < count);
        values[index] = with->at.outputs[i];
        if (x->symmetric)
            values[index % x->columns * x->columns + index / x->columns] = with->at.outputs[i];
    }
    return values;
}

enum { QUANTITIES = 11 };

/* Evaluated anew for every state, since the arrays move. */
static size_t list_quantities(const probe *p, quantity list[QUANTITIES])
{
    const hm_evaluation *e = &p->at;
    size_t n = p->n, m = p->m, servos = hm_model_servo_count(p->model);
    bool solved = p->status == HM_OK && e->rank_A == (int)m; /* what closed forms stand on */
    const quantity all[QUANTITIES] = {
        {"M", n, n, true, p->M},
        {"Q", n, 0, false, e->Q},
        {"A", m, n, false, p->A},
        {"b", m, 0, false, e->b},
        {"C", n, 0, false, e->C},
        {"servo_A", servos, n, false, p->servo_A},
        {"servo_b", servos, 0, false, e->servo_b},
        {"lambda", m, 0, false, solved ? e->lambda : NULL},
        {"Qi", n, 0, false, solved ? e->Qi : NULL},
        {"Qni", n, 0, false, solved ? e->Qni : NULL},
        {"qdd", n, 0, false, solved ? e->qdd : NULL},
    };
    memcpy(list, all, sizeof all);
    return QUANTITIES;
}

static void add_names(FILE *model, const json_t *printed)
{
    const char *name;
    json_t *value;
    size_t index = 0;
    json_object_foreach(json_object_get(printed, "where"), name, value)
        fprintf(model, "let %s = %s\n", name, json_string_value(value));
    json_object_foreach(json_object_get(printed, "states"), name, value)
        add_output(model, "rate", index++, value);
    add_output(model, "kinetic", 0, json_object_get(printed, "kinetic"));
    add_output(model, "potential", 0, json_object_get(printed, "potential"));
}

static void copy_file(FILE *to, const char *path)
{
    char block[4096];
    size_t got;
    FILE *from = fopen(path, "r");
    assert_non_null(from);
    while ((got = fread(block, 1, sizeof block, from)) > 0)
        fwrite(block, 1, got, to);
    fclose(from);
    fputs("\n", to);
}

/* The model with everything that was printed about it as outputs. */
static probe *read_back(const char *path, const probe *p, const json_t *printed)
{
    char *text = NULL;
    size_t size, count;
    quantity list[QUANTITIES];
    FILE *model = open_memstream(&text, &size);
    assert_non_null(model);
    copy_file(model, path);
    add_names(model, printed);
    count = list_quantities(p, list);
    for (size_t i = 0; i < count; i++)
        add_quantity(model, &list[i], json_object_get(printed, list[i].key));
    fclose(model);
    probe *with = probe_text(text);
    free(text);
    return with;
}

static void compare_quantity(const char *path, const probe *with, const quantity *x)
{
    double *values = values_of(with, x);
    compare(path, x->key, x->rows * (x->columns ? x->columns : 1), values, x->expected);
    free(values);
}

static void compare_energies(const char *path, const probe *p, const probe *with)
{
    const quantity kinetic = {"kinetic", 1, 0, false, &p->at.kinetic};
    const quantity potential = {"potential", 1, 0, false, &p->at.potential};
    if (p->model->has_lagrangian || p->model->mass.count || !p->at.has_energy)
        return;
    compare_quantity(path, with, &kinetic);
    compare_quantity(path, with, &potential);
}

static void compare_state(const char *path, const probe *p, const probe *with,
                          const json_t *printed)
{
    quantity list[QUANTITIES];
    size_t count = list_quantities(p, list);
    const quantity rates = {"rate", hm_model_state_count(p->model), 0, false, p->at.state_rates};
    for (size_t i = 0; i <= count; i++) {
        const quantity *x = i < count ? &list[i] : &rates;
        if (!x->expected || (i < count && !json_object_get(printed, x->key)))
            continue;
        compare_quantity(path, with, x);
    }
}

/* Some row is one-sided, under a condition, or has friction: what is printed are the equations while all rows
 * hold, without friction, and an evaluation decides about both. */
static bool has_contacts(const probe *p)
{
    hm_evaluation at;
    bool found = hm_sim_evaluate(p->sim, NULL, &at) == HM_OK && at.contact_count > 0;
    for (size_t i = 0; i < hm_model_constraint_count(p->model); i++)
        found = found || hm_model_constraint(p->model, i).one_sided ||
                hm_model_constraint(p->model, i).switched;
    return found;
}

static void check_json(void **state)
{
    const char *path = *state;
    json_error_t error;
    probe *p = probe_file(path, NULL, 0);
    char *text = derive(p, HM_FORMAT_JSON);
    json_t *printed = json_loads(text, 0, &error);
    if (!printed)
        fail_msg("%s: line %d: %s", path, error.line, error.text);
    if (strstr(text, "'(")) { /* lift'(a): the language has no word for the derivative of a table */
        assert_non_null(strstr(path, "cam"));
        json_decref(printed);
        free(text);
        probe_close(p);
        return;
    }
    probe *with = read_back(path, p, printed);
    closed_forms += json_object_get(printed, "qdd") != NULL;
    for (int i = 0; i < STATES && !has_contacts(p); i++)
        if (set_state(p, i) && set_state(with, i)) {
            compare_state(path, p, with, printed);
            compare_energies(path, p, with);
        }
    json_decref(printed);
    free(text);
    probe_close(with);
    probe_close(p);
}

/* ---- C, compiled and called ---- */

#ifndef HAMEL_SANITIZE

/* The arguments a printed function may take, by the names it gives them. */
typedef struct arguments {
    double t;
    const double *p, *q, *v, *z, *u, *du, *ddu, *r, *l, *rt, *lt;
} arguments;
typedef void (*printed_function)(const arguments *from, double *out);

/* "NAME_equations(double t, const double *p, ..." -> a call with a->t, a->p, ... */
static void write_call(FILE *file, const char *text)
{
    static const char wrapper[] =
        "\ntypedef struct arguments {\n    double t;\n"
        "    const double *p, *q, *v, *z, *u, *du, *ddu, *r, *l, *rt, *lt;\n} arguments;\n"
        "void call(const arguments *from, double *out);\n"
        "void call(const arguments *from, double *out)\n{\n    ";
    const char *end = strstr(text, "_equations("), *start = end;
    assert_non_null(end);
    while (start > text && start[-1] != ' ')
        start--;
    fprintf(file, "%s%.*s_equations(", wrapper, (int)(end - start), start);
    for (const char *s = end + strlen("_equations("); *s != ')'; s++) {
        char name[16];
        if ((s[-1] == '*' || s[-1] == ' ') && sscanf(s, "%15[a-z]%*[,)]", name) == 1 &&
            (s[strlen(name)] == ',' || s[strlen(name)] == ')'))
            fprintf(file, "%s%s", strcmp(name, "out") ? "from->" : name,
                    strcmp(name, "out") ? name : "");
        if (*s == ',')
            fputs(", ", file);
    }
    fputs(");\n}\n", file);
}

/* A folder for files of this program. */
static const char *folder(void)
{
    const char *given = getenv("TMPDIR");
    return given ? given : "/tmp";
}

static void *compile_printed(const char *text)
{
    char source[MOST_PATH], object[MOST_PATH], command[3 * MOST_PATH];
    snprintf(source, sizeof source, "%s/printed-%d.c", folder(), (int)getpid());
    snprintf(object, sizeof object, "%s/printed-%d.so", folder(), (int)getpid());
    FILE *file = fopen(source, "w");
    assert_non_null(file);
    fputs(text, file);
    write_call(file, text);
    fclose(file);
    snprintf(command, sizeof command,
             "cc -std=c17 -Wall -Wextra -Werror -ffp-contract=off -fPIC -shared -o '%s' '%s' -lm",
             object, source);
    assert_int_equal(system(command), 0);
    void *library = dlopen(object, RTLD_NOW | RTLD_LOCAL);
    if (!library)
        fail_msg("%s", dlerror());
    unlink(source);
    unlink(object);
    return library;
}

static double *param_values(const probe *p)
{
    size_t count = hm_model_param_count(p->model);
    double *values = calloc(count + 1, sizeof *values);
    assert_non_null(values);
    for (size_t i = 0; i < count; i++)
        values[i] = hm_sim_param(p->sim, i);
    return values;
}

/* Inputs differentiated by hand are not to be had from outside: differences of their values. */
static bool takes_rates(const char *text)
{
    return strstr(text, "const double *du") || strstr(text, "const double *ddu");
}

static void compare_c(const char *path, const probe *p, const double *out)
{
    size_t n = p->n, m = p->m, servos = hm_model_servo_count(p->model);
    const struct {
        const char *what;
        size_t count;
        const double *expected;
    } parts[] = {
        {"M in C", n * n, p->M},
        {"Q in C", n, p->at.Q},
        {"A in C", m * n, p->A},
        {"b in C", m, p->at.b},
        {"C in C", n, p->at.C},
        {"servo A in C", servos * n, p->servo_A},
        {"servo b in C", servos, p->at.servo_b},
        {"rates in C", hm_model_state_count(p->model), p->at.state_rates},
    };
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) {
        compare(path, parts[i].what, parts[i].count, out, parts[i].expected);
        out += parts[i].count;
    }
}

static void call_at_states(const char *path, probe *p, printed_function call)
{
    size_t n = p->n, m = p->m, servos = hm_model_servo_count(p->model);
    size_t count = n * n + m * n + servos * n + 2 * n + m + servos + hm_model_state_count(p->model);
    double *out = calloc(count + 1, sizeof *out), *params = param_values(p);
    assert_non_null(out);
    for (int i = 0; i < STATES; i++) {
        if (!set_state(p, i) || p->status != HM_OK)
            continue;
        const hm_evaluation *e = &p->at;
        call(&(arguments){.t = e->t,
                          .p = params,
                          .q = e->q,
                          .v = e->v,
                          .z = e->z,
                          .u = e->inputs,
                          .r = e->Qi,
                          .l = e->lambda},
             out);
        compare_c(path, p, out);
    }
    free(params);
    free(out);
}

static void check_c(void **state)
{
    const char *path = *state;
    probe *p = probe_file(path, NULL, 0);
    if (has_contacts(p)) { /* refused by name */
        assert_int_equal(hm_system_derive(p->system, HM_FORMAT_C, append, NULL), HM_ERR_USAGE);
        probe_close(p);
        return;
    }
    char *text = derive(p, HM_FORMAT_C);
    void *library = compile_printed(text);
    printed_function call;
    *(void **)&call = dlsym(library, "call");
    assert_non_null(call);
    bool implicit = strstr(text, "const double *rt") || strstr(text, "const double *lt");
    if (!takes_rates(text) && !implicit)
        call_at_states(path, p, call);
    dlclose(library);
    free(text);
    probe_close(p);
}

#endif

/* ---- the list ---- */

static char paths[MOST_MODELS][MOST_PATH];
static size_t path_count;

static int by_name(const void *x, const void *y)
{
    return strcmp(x, y);
}

static void list_models(const char *where)
{
    char name[MOST_PATH];
    const struct dirent *entry;
    snprintf(name, sizeof name, "%s/%s", HAMEL_SOURCE_DIR, where);
    DIR *directory = opendir(name);
    assert_non_null(directory);
    while ((entry = readdir(directory)) != NULL) {
        const char *end = strrchr(entry->d_name, '.');
        if (end && strcmp(end, ".hamel") == 0 && path_count < MOST_MODELS)
            snprintf(paths[path_count++], MOST_PATH, "%.300s/%.200s", name, entry->d_name);
    }
    closedir(directory);
}

static void enough_was_compared(void **state)
{
    (void)state;
    fprintf(stderr, "# %zu numbers of %zu models, %zu with closed forms; worst error %.2g\n",
            numbers_compared, path_count, closed_forms, worst_error);
    assert_true(path_count >= 60 && closed_forms >= 40);
}

int main(void)
{
    static struct CMUnitTest tests[2 * MOST_MODELS + 1];
    size_t count = 0;
    list_models("test/cases/oracle");
    list_models("examples");
    list_models("test/golden");
    qsort(paths, path_count, sizeof paths[0], by_name);
    for (size_t i = 0; i < path_count; i++) {
        const char *name = strrchr(paths[i], '/') + 1;
        tests[count++] = (struct CMUnitTest){name, check_json, NULL, NULL, paths[i]};
#ifndef HAMEL_SANITIZE
        tests[count++] = (struct CMUnitTest){name, check_c, NULL, NULL, paths[i]};
#endif
    }
    tests[count++] = (struct CMUnitTest)cmocka_unit_test(enough_was_compared);
    return cmocka_run_group_tests_name("printed", tests, NULL, NULL);
}
