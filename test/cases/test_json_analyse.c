/* The JSON of check, compare and linearize against the contract of docs/cli.md: every promised key,
 * of the promised kind, for every example. */
#include "support/check.h"

#include <dirent.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_TEXT = 1 << 22 };

/* What `hamel ARGUMENTS` prints; NULL where the exit status is not this. */
static json_t *run(const char *arguments, int wanted)
{
    char command[1200];
    static char text[MOST_TEXT];
    snprintf(command, sizeof command, "'%s' %s 2>/dev/null </dev/null", HAMEL_TOOL, arguments);
    FILE *pipe = popen(command, "r");
    assert_non_null(pipe);
    size_t size = fread(text, 1, sizeof text - 1, pipe);
    int status = pclose(pipe);
    text[size] = '\0';
    if (status != wanted << 8)
        return NULL;
    json_t *value = json_loads(text, JSON_REJECT_DUPLICATES, NULL);
    if (!value)
        fail_msg("hamel %s prints no JSON", arguments);
    return value;
}

/* Kinds: s text, b true or false, n number, i whole number, a list, o object; upper case: or null. */
static bool is_kind(const json_t *value, char kind)
{
    if (json_is_null(value))
        return kind >= 'A' && kind <= 'Z';
    switch (kind | 0x20) {
    case 's':
        return json_is_string(value);
    case 'b':
        return json_is_boolean(value);
    case 'n':
        return json_is_number(value);
    case 'i':
        return json_is_integer(value);
    case 'a':
        return json_is_array(value);
    default:
        return json_is_object(value);
    }
}

typedef struct key {
    const char *name;
    char kind;
} key;

static void check_keys(const char *where, const json_t *object, const key *keys)
{
    for (; keys->name; keys++) {
        const json_t *value = json_object_get(object, keys->name);
        if (!value)
            fail_msg("%s: no key '%s'", where, keys->name);
        if (!is_kind(value, keys->kind))
            fail_msg("%s: '%s' is not of kind %c", where, keys->name, keys->kind);
    }
}

static void one_of(const char *where, const json_t *value, const char *const *words)
{
    for (; *words; words++)
        if (strcmp(json_string_value(value), *words) == 0)
            return;
    fail_msg("%s: '%s'", where, json_string_value(value));
}

/* ---- check ---- */

static const key of_check[] = {{"model", 's'},      {"coordinates", 'a'}, {"constraints", 'a'},
                               {"set", 'O'},        {"mass", 'O'},        {"wellposed", 'b'},
                               {"catastatic", 'b'}, {"symmetries", 'A'},  {"conserved", 'A'},
                               {"initial", 'o'},    {"warnings", 'a'},    {"energy", 'O'},
                               {"principles", 'o'}, {"motion", 'o'},      {NULL, 0}};
static const key of_constraint[] = {
    {"name", 's'},     {"level", 's'},     {"linear", 'b'},     {"time", 's'},
    {"class", 's'},    {"potential", 'S'}, {"catastatic", 'b'}, {"integrating_factor", 'S'},
    {"evidence", 'o'}, {NULL, 0}};
static const key of_set[] = {{"rank", 'i'},
                             {"growth", 'a'},
                             {"holonomic_part", 'i'},
                             {"degrees_of_freedom", 'i'},
                             {"configuration_dimension", 'i'},
                             {"combinations", 'a'},
                             {NULL, 0}};
static const key of_symmetry[] = {{"name", 's'},
                                  {"generator", 'o'},
                                  {"lagrangian_invariant", 'B'},
                                  {"distribution_invariant", 'B'},
                                  {"horizontal", 'B'},
                                  {"conserved", 'B'},
                                  {NULL, 0}};
static const key of_integral[] = {{"expression", 's'}, {"from", 's'}, {NULL, 0}};
static const key of_energy[] = {{"quantity", 's'},   {"conserved", 'b'},
                                {"changed_by", 'o'}, {"working_constraints", 'a'},
                                {"states", 'i'},     {NULL, 0}};
static const key of_mass[] = {{"rank", 'i'}, {"definite", 'b'}, {NULL, 0}};
static const key of_initial[] = {{"consistent", 'b'}, {"moved", 'o'}, {NULL, 0}};

static void check_constraints(const char *where, const json_t *o)
{
    static const char *const levels[] = {"position", "velocity", "acceleration", NULL};
    static const char *const times[] = {"scleronomic", "rheonomic", NULL};
    static const char *const classes[] = {"holonomic",
                                          "semiholonomic",
                                          "integrable",
                                          "nonholonomic",
                                          "nonlinear-nonholonomic",
                                          "unclassified",
                                          NULL};
    size_t i;
    json_t *c;
    json_array_foreach(json_object_get(o, "constraints"), i, c)
    {
        check_keys(where, c, of_constraint);
        one_of(where, json_object_get(c, "level"), levels);
        one_of(where, json_object_get(c, "time"), times);
        one_of(where, json_object_get(c, "class"), classes);
    }
}

static void check_list(const char *where, const json_t *list, const key *keys)
{
    size_t i;
    json_t *item;
    json_array_foreach(list, i, item) check_keys(where, item, keys);
}

/* Degrees of freedom and dimensions must agree with each other. */
static void check_set(const char *where, const json_t *o, size_t n)
{
    const json_t *set = json_object_get(o, "set");
    if (json_is_null(set))
        return;
    check_keys(where, set, of_set);
    assert_int_equal(json_integer_value(json_object_get(set, "degrees_of_freedom")) +
                         json_integer_value(json_object_get(set, "rank")),
                     n);
    assert_int_equal(json_integer_value(json_object_get(set, "configuration_dimension")) +
                         json_integer_value(json_object_get(set, "holonomic_part")),
                     n);
}

static void check_one(const char *name)
{
    char arguments[400];
    snprintf(arguments, sizeof arguments, "check %s --json", name);
    json_t *o = run(arguments, 0);
    if (!o)
        fail_msg("hamel %s fails", arguments);
    check_keys(name, o, of_check);
    check_constraints(name, o);
    check_set(name, o, json_array_size(json_object_get(o, "coordinates")));
    check_list(name, json_object_get(o, "symmetries"), of_symmetry);
    check_list(name, json_object_get(o, "conserved"), of_integral);
    check_keys(name, json_object_get(o, "initial"), of_initial);
    if (!json_is_null(json_object_get(o, "mass")))
        check_keys(name, json_object_get(o, "mass"), of_mass);
    if (!json_is_null(json_object_get(o, "energy")))
        check_keys(name, json_object_get(o, "energy"), of_energy);
    json_decref(o);
}

/* ---- compare ---- */

static const key of_compare[] = {
    {"model", 's'}, {"with", 's'},       {"at", 'o'},         {"correct", 'o'}, {"other", 'o'},
    {"G", 'A'},     {"difference", 'a'}, {"trajectory", 'O'}, {"reason", 's'},  {NULL, 0}};
static const key of_correct[] = {{"qdd", 'a'}, {"lambda", 'o'}, {NULL, 0}};
static const key of_other[] = {
    {"qdd", 'a'}, {"lambda", 'O'}, {"mu", 'O'}, {"mudot", 'O'}, {NULL, 0}};
static const key of_trajectory[] = {{"t", 'a'}, {"distance", 'a'}, {NULL, 0}};

static void check_compare(const char *arguments)
{
    json_t *o = run(arguments, 0);
    if (!o)
        fail_msg("hamel %s fails", arguments);
    check_keys(arguments, o, of_compare);
    check_keys(arguments, json_object_get(o, "correct"), of_correct);
    check_keys(arguments, json_object_get(o, "other"), of_other);
    const json_t *run_of = json_object_get(o, "trajectory");
    check_keys(arguments, run_of, of_trajectory);
    assert_int_equal(json_array_size(json_object_get(run_of, "t")),
                     json_array_size(json_object_get(run_of, "distance")));
    json_decref(o);
}

static void compares(void **state)
{
    (void)state;
    check_compare("compare skate --with vakonomic --to 1 --json");
    check_compare("compare hamel-example3 --with vakonomic --to 0.2 --json");
    check_compare(
        "compare skate --with \"conflated:y'*cos(theta) = x'*sin(theta)\" --to 0.5 --json");
}

/* ---- linearize ---- */

static const key of_linearize[] = {{"model", 's'},       {"at", 'o'},         {"dimension", 'i'},
                                   {"state_names", 'a'}, {"A", 'a'},          {"eigenvalues", 'a'},
                                   {"equilibrium", 'b'}, {"residual", 'n'},   {"motion", 's'},
                                   {"frame", 'S'},       {"symmetries", 'i'}, {NULL, 0}};
static const key of_place[] = {{"q", 'o'}, {"v", 'o'}, {"t", 'n'}, {NULL, 0}};
static const key of_eigenvalue[] = {{"re", 'n'}, {"im", 'n'}, {NULL, 0}};

static void check_linearize(const char *arguments, const char *motion)
{
    json_t *o = run(arguments, 0);
    if (!o)
        fail_msg("hamel %s fails", arguments);
    size_t d = (size_t)json_integer_value(json_object_get(o, "dimension")), i;
    json_t *row;
    const json_t *stable = json_object_get(o, "stable");
    check_keys(arguments, o, of_linearize);
    check_keys(arguments, json_object_get(o, "at"), of_place);
    check_list(arguments, json_object_get(o, "eigenvalues"), of_eigenvalue);
    assert_int_equal(json_array_size(json_object_get(o, "eigenvalues")), d);
    assert_int_equal(json_array_size(json_object_get(o, "state_names")), d);
    assert_int_equal(json_array_size(json_object_get(o, "A")), d);
    json_array_foreach(json_object_get(o, "A"), i, row) assert_int_equal(json_array_size(row), d);
    assert_true(json_is_boolean(stable) || json_is_null(stable) ||
                strcmp(json_string_value(stable), "marginal") == 0);
    assert_string_equal(json_string_value(json_object_get(o, "motion")), motion);
    json_decref(o);
}

static void linearizes(void **state)
{
    (void)state;
    check_linearize("linearize pendulum --find rest --json", "equilibrium");
    check_linearize("linearize bicycle --json", "steady motion");
    check_linearize("linearize kepler --find steady --json", "relative equilibrium");
    check_linearize("linearize double-pendulum --json", "neither");
}

/* Every example through check. */
static void checks(void **state)
{
    (void)state;
    DIR *folder = opendir(HAMEL_SOURCE_DIR "/examples");
    assert_non_null(folder);
    int count = 0;
    for (struct dirent *entry; (entry = readdir(folder));) {
        char name[300];
        char *end = strstr(entry->d_name, ".hamel");
        if (!end)
            continue;
        snprintf(name, sizeof name, "%.*s", (int)(end - entry->d_name), entry->d_name);
#ifdef HAMEL_SANITIZE
        if (count++ % 6)
            continue;
#endif
        check_one(name);
        count++;
    }
    closedir(folder);
    assert_true(count > 5);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(checks),
        cmocka_unit_test(compares),
        cmocka_unit_test(linearizes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
