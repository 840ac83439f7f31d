/* The JSON of the command: one valid value on stdout, with the keys and shapes that docs/cli.md
 * promises, for every example; 17 significant digits; null where there is no number; no duplicates.
 */
#include "support/check.h"

#include <dirent.h>
#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { MOST_MODELS = 100, MOST_PATH = 600 };

/* ---- running the command ---- */

static char *read_all(FILE *from)
{
    size_t size = 0, capacity = 1 << 16;
    char *text = malloc(capacity + 1);
    while (text && !feof(from)) {
        if (size == capacity)
            text = realloc(text, (capacity *= 2) + 1);
        if (text)
            size += fread(text + size, 1, capacity - size, from);
    }
    assert_non_null(text);
    text[size] = '\0';
    return text;
}

/* What `hamel ARGUMENTS` prints, parsed strictly; *text, where wanted, is the caller's. */
static json_t *run(const char *arguments, int expected_status, char **text)
{
    char command[2 * MOST_PATH];
    json_error_t error;
    snprintf(command, sizeof command, "'%s' %s 2>/dev/null </dev/null", HAMEL_TOOL, arguments);
    FILE *pipe = popen(command, "r");
    assert_non_null(pipe);
    char *printed = read_all(pipe);
    int status = pclose(pipe);
    if (status != expected_status << 8)
        fail_msg("hamel %s: exit status %d, expected %d", arguments, status >> 8, expected_status);
    json_t *value = json_loads(printed, JSON_REJECT_DUPLICATES, &error);
    if (!value)
        fail_msg("hamel %s: line %d: %s", arguments, error.line, error.text);
    if (text)
        *text = printed;
    else
        free(printed);
    return value;
}

/* A model from text, through standard input. */
static json_t *run_text(const char *model, const char *arguments, int status)
{
    char path[MOST_PATH], all[2 * MOST_PATH];
    const char *folder = getenv("TMPDIR");
    snprintf(path, sizeof path, "%s/json-%d.hamel", folder ? folder : "/tmp", (int)getpid());
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    fputs(model, file);
    fclose(file);
    snprintf(all, sizeof all, arguments, path);
    json_t *value = run(all, status, NULL);
    unlink(path);
    return value;
}

/* ---- shapes ---- */

static const json_t *get(const json_t *object, const char *key)
{
    const json_t *value = json_object_get(object, key);
    if (!value)
        fail_msg("there is no \"%s\"", key);
    return value;
}

static bool is_number_or_null(const json_t *value)
{
    return json_is_number(value) || json_is_null(value);
}

static void check_vector(const json_t *object, const char *key, size_t count)
{
    const json_t *list = get(object, key);
    if (json_is_null(list))
        return;
    if (!json_is_array(list) || json_array_size(list) != count)
        fail_msg("\"%s\" is not a list of %zu", key, count);
    for (size_t i = 0; i < count; i++)
        assert_true(is_number_or_null(json_array_get(list, i)));
}

static void check_matrix(const json_t *object, const char *key, size_t rows, size_t columns)
{
    const json_t *list = get(object, key);
    if (!json_is_array(list) || json_array_size(list) != rows)
        fail_msg("\"%s\" has not %zu rows", key, rows);
    for (size_t i = 0; i < rows; i++)
        assert_int_equal(json_array_size(json_array_get(list, i)), columns);
}

/* A list of strings; returns how many. */
static size_t check_names(const json_t *object, const char *key)
{
    const json_t *list = get(object, key);
    assert_true(json_is_array(list));
    for (size_t i = 0; i < json_array_size(list); i++)
        assert_true(json_is_string(json_array_get(list, i)));
    return json_array_size(list);
}

/* {name: number, ...} */
static void check_numbers(const json_t *object, const char *key, size_t count)
{
    const char *name;
    json_t *value;
    json_t *numbers = (json_t *)get(object, key);
    assert_true(json_is_object(numbers));
    assert_int_equal(json_object_size(numbers), count);
    json_object_foreach(numbers, name, value) assert_true(is_number_or_null(value));
}

static void check_true_or_false(const json_t *object, const char *key)
{
    assert_true(json_is_boolean(get(object, key)));
}

static void check_integer(const json_t *object, const char *key)
{
    assert_true(json_is_integer(get(object, key)));
}

/* ---- eval ---- */

static void check_energy(const json_t *energy)
{
    static const char *const powers[] = {"impressed", "dissipation", "gyroscopic",   "ideal",
                                         "nonideal",  "servo",       "explicit_time"};
    if (json_is_null(energy))
        return;
    assert_true(is_number_or_null(get(energy, "kinetic")));
    assert_true(is_number_or_null(get(energy, "potential")));
    assert_true(json_is_number(get(energy, "total")));
    for (size_t i = 0; i < sizeof powers / sizeof *powers; i++)
        assert_true(json_is_number(get(get(energy, "power"), powers[i])));
}

static void check_control(const json_t *u, size_t n)
{
    const char *name;
    json_t *force;
    assert_true(json_is_object(u));
    json_object_foreach((json_t *)u, name, force) assert_int_equal(json_array_size(force), n);
}

/* Rows that do not hold at the initial state: open contacts, and the condition of one example. */
static size_t rows_off(const json_t *e)
{
    const json_t *contacts = json_object_get(e, "contacts");
    size_t count = strcmp(json_string_value(get(e, "model")), "latch") == 0;
    for (size_t i = 0; i < json_array_size(contacts); i++)
        count += strcmp(json_string_value(get(json_array_get(contacts, i), "state")), "open") == 0;
    return count;
}

static void check_evaluation(const json_t *e)
{
    size_t n = check_names(e, "coordinates"), m = check_names(e, "constraints");
    const char *const by_coordinate[] = {"q", "v", "Q", "a", "C", "Qi", "Qni", "Qc", "qdd"};
    assert_true(json_is_string(get(e, "model")) && json_is_number(get(e, "t")));
    for (size_t i = 0; i < sizeof by_coordinate / sizeof *by_coordinate; i++)
        check_vector(e, by_coordinate[i], n);
    check_vector(e, "b", m);
    check_vector(e, "e", m);
    check_matrix(e, "M", n, n);
    check_matrix(e, "A", m, n);
    /* Beside the rows that hold: those of contacts that are open at the initial state. */
    size_t rows = json_object_size(get(e, "lambda"));
    assert_int_equal(rows, m + rows_off(e));
    check_numbers(e, "lambda", rows);
    check_names(e, "redundant");
    check_integer(get(e, "rank"), "M");
    check_integer(get(e, "rank"), "A");
    check_integer(get(e, "rank"), "MA");
    check_true_or_false(get(e, "unique"), "acceleration");
    check_true_or_false(get(e, "unique"), "multipliers");
    check_control(get(e, "u"), n);
    check_energy(get(e, "energy"));
    assert_true(json_is_string(get(e, "formulation")));
    assert_true(is_number_or_null(get(e, "disagreement")));
    check_numbers(get(e, "residual"), "position", rows);
    check_numbers(get(e, "residual"), "velocity", rows);
}

static void check_eval(void **state)
{
    char arguments[MOST_PATH];
    snprintf(arguments, sizeof arguments, "eval %s --json", (const char *)*state);
    json_t *e = run(arguments, 0, NULL);
    check_evaluation(e);
    json_decref(e);
}

/* ---- check, derive, examples ---- */

static void check_rows(const json_t *list, bool residual)
{
    assert_true(json_is_array(list));
    for (size_t i = 0; i < json_array_size(list); i++) {
        const json_t *row = json_array_get(list, i);
        assert_true(json_is_string(get(row, "name")) && json_is_string(get(row, "level")) &&
                    json_is_string(get(row, "time")));
        check_true_or_false(row, "linear");
        assert_true(!residual || json_is_string(get(row, "residual")));
    }
}

static void check_check(void **state)
{
    char arguments[MOST_PATH];
    snprintf(arguments, sizeof arguments, "check %s --json", (const char *)*state);
    json_t *value = run(arguments, 0, NULL);
    assert_true(json_is_string(get(value, "model")));
    check_names(value, "coordinates");
    check_rows(get(value, "constraints"), false);
    check_names(value, "warnings");
    json_decref(value);
}

static void check_entries(const json_t *matrix, size_t rows, size_t columns)
{
    const json_t *entries = get(matrix, "entries");
    assert_int_equal(json_integer_value(get(matrix, "rows")), rows);
    assert_int_equal(json_integer_value(get(matrix, "cols")), columns);
    for (size_t k = 0; k < json_array_size(entries); k++) {
        const json_t *entry = json_array_get(entries, k);
        assert_true(json_integer_value(json_array_get(entry, 0)) < (json_int_t)rows);
        assert_true(json_integer_value(json_array_get(entry, 1)) < (json_int_t)columns);
        assert_true(json_is_string(json_array_get(entry, 2)));
    }
}

static void check_derive(void **state)
{
    char arguments[MOST_PATH];
    snprintf(arguments, sizeof arguments, "derive %s --json", (const char *)*state);
    json_t *value = run(arguments, 0, NULL);
    size_t n = check_names(value, "coordinates");
    size_t m = json_array_size(get(value, "constraints"));
    size_t servos = json_array_size(get(value, "servos"));
    check_rows(get(value, "constraints"), true);
    check_rows(get(value, "servos"), true);
    check_entries(get(value, "M"), n, n);
    check_entries(get(value, "A"), m, n);
    check_entries(get(value, "servo_A"), servos, n);
    assert_int_equal(check_names(value, "Q"), n);
    assert_int_equal(check_names(value, "b"), m);
    assert_int_equal(check_names(value, "C"), n);
    assert_int_equal(check_names(value, "servo_b"), servos);
    assert_true(json_is_string(get(value, "kinetic")) && json_is_string(get(value, "potential")) &&
                json_is_string(get(value, "lagrangian")));
    assert_true(json_is_object(get(value, "parameters")) && json_is_object(get(value, "inputs")) &&
                json_is_object(get(value, "states")));
    json_decref(value);
}

static void check_examples(void **state)
{
    (void)state;
    json_t *list = run("examples --json", 0, NULL);
    assert_true(json_array_size(list) >= 14);
    for (size_t i = 0; i < json_array_size(list); i++) {
        const json_t *one = json_array_get(list, i);
        assert_true(json_is_string(get(one, "name")) && json_is_string(get(one, "title")));
        assert_true(json_string_length(get(one, "title")) > 0);
    }
    json_decref(list);
}

/* ---- numbers ---- */

static void check_digits(void **state)
{
    (void)state;
    char *text;
    json_t *e = run("eval pendulum --at \"x = 1/3, y = -1.9720265943665387\" --json", 0, &text);
    assert_non_null(strstr(text, "0.33333333333333331"));
    assert_true(json_number_value(json_array_get(get(e, "q"), 0)) == 1.0 / 3);
    free(text);
    json_decref(e);
}

static void check_nulls(void **state)
{
    (void)state;
    json_t *e = run_text("coord x, y\nkinetic x'^2/2\nconstraint c: y = 2*x\n", "eval '%s' --json",
                         0);
    assert_true(json_is_null(get(e, "a")) && json_is_null(get(e, "e"))); /* M is singular */
    check_evaluation(e);
    json_decref(e);
    e = run_text("coord x\nmass x, x = 1 + x^2\n", "eval '%s' --json", 0);
    assert_true(json_is_null(get(e, "energy"))); /* mass entries are not constant */
    json_decref(e);
    e = run_text("coord x, y\nkinetic x'^2/2\n", "eval '%s' --json", 1);
    assert_true(json_is_false(get(get(e, "unique"), "acceleration")));
    json_decref(e);
}

static void check_sparse(void **state)
{
    (void)state;
    const char *model = "param N = 201\ncoord q[1..N]\nfor i = 1..N { kinetic q[i]'^2/2 }\n"
                        "for i = 2..N { kinetic q[i]'*q[i - 1]'/4 }\nconstraint c: q[1] = q[N]\n";
    json_t *e = run_text(model, "eval '%s' --json", 0);
    const json_t *M = get(e, "M"), *A = get(e, "A");
    assert_int_equal(json_integer_value(get(M, "rows")), 201);
    assert_int_equal(json_integer_value(get(M, "cols")), 201);
    assert_int_equal(json_array_size(get(M, "entries")), 201 + 2 * 200);
    assert_int_equal(json_array_size(get(A, "entries")), 2);
    check_vector(e, "qdd", 201);
    json_decref(e);
    e = run_text(model, "eval '%s' --json --set N=200", 0);
    check_matrix(e, "M", 200, 200);
    json_decref(e);
}

/* ---- the list ---- */

static char names[MOST_MODELS][MOST_PATH];

static size_t list_examples(void)
{
    size_t count = 0;
    const struct dirent *entry;
    DIR *directory = opendir(HAMEL_SOURCE_DIR "/examples");
    assert_non_null(directory);
    while ((entry = readdir(directory)) != NULL) {
        const char *end = strrchr(entry->d_name, '.');
        if (end && strcmp(end, ".hamel") == 0 && count < MOST_MODELS)
            snprintf(names[count++], MOST_PATH, "%.*s", (int)(end - entry->d_name), entry->d_name);
    }
    closedir(directory);
    return count;
}

int main(void)
{
    static struct CMUnitTest tests[3 * MOST_MODELS + 4]; /* cmocka passes over what is empty */
    size_t count = 0, examples = list_examples();
    for (size_t i = 0; i < examples; i++) {
        tests[count++] = (struct CMUnitTest){names[i], check_eval, NULL, NULL, names[i]};
        tests[count++] = (struct CMUnitTest){names[i], check_check, NULL, NULL, names[i]};
        tests[count++] = (struct CMUnitTest){names[i], check_derive, NULL, NULL, names[i]};
    }
    tests[count++] = (struct CMUnitTest)cmocka_unit_test(check_examples);
    tests[count++] = (struct CMUnitTest)cmocka_unit_test(check_digits);
    tests[count++] = (struct CMUnitTest)cmocka_unit_test(check_nulls);
    tests[count++] = (struct CMUnitTest)cmocka_unit_test(check_sparse);
    return cmocka_run_group_tests_name("json", tests, NULL, NULL);
}
