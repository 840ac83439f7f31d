/* Classification: every file of test/cases/classify says what must be found, inline:
 *
 *   # source: Bloch 2003, Nonholonomic Mechanics and Control
 *   # expect class edge = nonholonomic
 *   # expect growth = 2 3
 *
 * Of a constraint: class, time, level, catastatic, potential, factor, frobenius, linear_form, other_form,
 * leaf, integrated, parts, sign_condition, linear_class, lost_at_rest, redundant, in_span (yes, no, none where there is none). Of the model:
 * growth, rank, holonomic_part, hidden, combination, combination_factor, combination_potential, dof, configuration, multiplier_rule (valid, invalid),
 * wellposed.
 * Statements about zero are checked to rest on at least 200 bits (43 where numbers are inexact) and
 * on points that are proved to satisfy the position constraints.
 */
#include "support/check.h"

#include <hamel/hamel.h>

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define FOLDER HAMEL_SOURCE_DIR "/test/cases/classify/"

enum { MOST_FILES = 400, MOST_TEXT = 1 << 16, MOST_VALUE = 1024 };

typedef struct loaded {
    hm_context *context;
    hm_model *model;
    hm_system *system;
    hm_analysis *analysis;
} loaded;

static void load(const char *path, loaded *l)
{
    *l = (loaded){.context = hm_context_create(NULL)};
    hm_status status = hm_model_load(l->context, path, NULL, &l->model);
    if (status == HM_OK)
        status = hm_system_create(l->model, &l->system);
    if (status == HM_OK)
        status = hm_system_analyse(l->context, l->system, &l->analysis);
    if (status != HM_OK)
        fail_msg("%s: %s: %s", path, hm_status_text(status),
                 hm_context_diagnostic_count(l->context)
                     ? hm_context_diagnostic(l->context, 0)->message
                     : "");
}

static void unload(loaded *l)
{
    hm_analysis_destroy(l->analysis);
    hm_system_destroy(l->system);
    hm_model_destroy(l->model);
    hm_context_destroy(l->context);
}

/* ---- what was found, as text ---- */

static const char *yes(bool value)
{
    return value ? "yes" : "no";
}

static const char *or_none(const char *text)
{
    return text ? text : "none";
}

/* NULL: no such property. */
static const char *of_constraint(const hm_constraint_analysis *c, const char *key)
{
    if (strcmp(key, "class") == 0)
        return hm_class_text(c->kind);
    if (strcmp(key, "time") == 0)
        return c->rheonomic ? "rheonomic" : "scleronomic";
    if (strcmp(key, "level") == 0)
        return hm_level_text(c->level);
    if (strcmp(key, "catastatic") == 0)
        return yes(c->catastatic);
    if (strcmp(key, "integrated") == 0)
        return or_none(c->integrated);
    if (strcmp(key, "parts") == 0)
        return or_none(c->parts);
    if (strcmp(key, "potential") == 0)
        return or_none(c->potential);
    if (strcmp(key, "factor") == 0)
        return or_none(c->integrating_factor);
    if (strcmp(key, "frobenius") == 0)
        return or_none(c->frobenius);
    if (strcmp(key, "leaf") == 0)
        return or_none(c->leaf);
    if (strcmp(key, "sign_condition") == 0)
        return or_none(c->sign_condition);
    if (strcmp(key, "linear_form") == 0)
        return or_none(c->linear_form);
    if (strcmp(key, "other_form") == 0)
        return or_none(c->other_form);
    if (strcmp(key, "linear_class") == 0)
        return hm_class_text(c->linear_kind);
    if (strcmp(key, "lost_at_rest") == 0)
        return yes(c->lost_at_rest);
    if (strcmp(key, "redundant") == 0)
        return yes(c->redundant);
    return strcmp(key, "in_span") == 0 ? yes(c->in_span) : NULL;
}

static const char *growth_text(const hm_set_analysis *set, char *out)
{
    size_t used = 0;
    out[0] = 0;
    for (size_t i = 0; i < set->growth_count; i++)
        used += (size_t)snprintf(out + used, MOST_VALUE - used, "%s%zu", i ? " " : "",
                                 set->growth[i]);
    return out;
}

static const char *of_model(const hm_analysis *a, const char *key, char *out)
{
    const hm_set_analysis *set = &a->set;
    size_t number;
    assert_true(set->known);
    if (strcmp(key, "growth") == 0)
        return growth_text(set, out);
    if (strcmp(key, "multiplier_rule") == 0)
        return a->principles.semiholonomic ? "valid" : "invalid";
    if (strcmp(key, "wellposed") == 0)
        return yes(a->wellposedness.wellposed);
    if (strcmp(key, "combination") == 0)
        return set->combination_count ? set->combinations[0].combination : "none";
    if (strcmp(key, "combination_potential") == 0)
        return or_none(set->combination_count ? set->combinations[0].potential : NULL);
    if (strcmp(key, "combination_factor") == 0)
        return or_none(set->combination_count ? set->combinations[0].integrating_factor : NULL);
    if (strcmp(key, "rank") == 0)
        number = set->rank;
    else if (strcmp(key, "holonomic_part") == 0)
        number = set->holonomic_part;
    else if (strcmp(key, "hidden") == 0)
        number = set->hidden;
    else if (strcmp(key, "dof") == 0)
        number = set->degrees_of_freedom;
    else if (strcmp(key, "configuration") == 0)
        number = set->configuration_dimension;
    else
        return NULL;
    snprintf(out, MOST_VALUE, "%zu", number);
    return out;
}

static const hm_constraint_analysis *find(const hm_analysis *a, const char *name)
{
    for (size_t i = 0; i < a->constraint_count; i++)
        if (strcmp(a->constraints[i].name, name) == 0)
            return &a->constraints[i];
    return NULL;
}

/* ---- one expectation: "class edge = nonholonomic" ---- */

static void check_line(const char *file, const hm_analysis *a, char *line)
{
    char buffer[MOST_VALUE];
    char *equals = strstr(line, " = ");
    assert_non_null(equals);
    *equals = 0;
    const char *expected = equals + 3, *found;
    char *name = strchr(line, ' ');
    if (name) {
        *name++ = 0;
        const hm_constraint_analysis *c = find(a, name);
        if (!c)
            fail_msg("%s: there is no constraint '%s'", file, name);
        found = of_constraint(c, line);
    } else {
        found = of_model(a, line, buffer);
    }
    if (!found)
        fail_msg("%s: '%s' is not something to expect", file, line);
    if (strcmp(found, expected) != 0)
        fail_msg("%s: %s %s is '%s', expected '%s'", file, line, name ? name : "", found, expected);
}

static void check_evidence(const char *file, const hm_analysis *a)
{
    bool inexact = strstr(file, "folded") || strstr(file, "two-skates");
    if (a->set.evidence.bits < (inexact ? 43 : 200) || !a->set.evidence.proved ||
        a->set.evidence.points < 1)
        fail_msg("%s: decided to %d bits at %d points", file, a->set.evidence.bits,
                 a->set.evidence.points);
}

static void test_file(void **state)
{
    static char text[MOST_TEXT];
    const char *file = *state;
    char path[512];
    int checked = 0;
    loaded l;
    snprintf(path, sizeof path, FOLDER "%s", file);
    FILE *in = fopen(path, "r");
    assert_non_null(in);
    text[fread(text, 1, sizeof text - 1, in)] = 0;
    fclose(in);
    if (!strstr(text, "# source: "))
        fail_msg("%s does not say where it comes from", file);
    load(path, &l);
    check_evidence(file, l.analysis);
    for (char *line = strtok(text, "\n"); line; line = strtok(NULL, "\n"))
        if (strncmp(line, "# expect ", 9) == 0) {
            check_line(file, l.analysis, line + 9);
            checked++;
        }
    if (checked == 0)
        fail_msg("%s expects nothing", file);
    unload(&l);
}

static int by_name(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

static size_t list_files(char **names)
{
    size_t count = 0;
    DIR *folder = opendir(FOLDER);
    for (struct dirent *entry; folder && (entry = readdir(folder));)
        if (strstr(entry->d_name, ".hamel") && count < MOST_FILES)
            names[count++] = strdup(entry->d_name);
    if (folder)
        closedir(folder);
    qsort(names, count, sizeof *names, by_name);
    return count;
}

/* Does the `# source` line cite literature beyond the project's papers: a year? */
static bool cites(const char *name)
{
    char path[600], line[400];
    bool found = false;
    snprintf(path, sizeof path, "%s%s", FOLDER, name);
    FILE *file = fopen(path, "r");
    assert_non_null(file);
    while (!found && fgets(line, sizeof line, file))
        for (const char *at = line; strncmp(line, "# source", 8) == 0 && *at && !found; at++) {
            int year = atoi(at);
            found = year >= 1800 && year < 2100 && at > line && at[-1] == ' ';
        }
    bool own = strstr(line, "Flannery") || strstr(line, "Zhao");
    fclose(file);
    return found && !own;
}

/* At least 30 models beyond those of the papers, half of them from the literature. */
static void test_enough_files(void **state)
{
    char **names = *state;
    size_t count = 0, cited = 0;
    for (; names[count]; count++)
        cited += cites(names[count]);
    assert_true(count >= 60);
    assert_true(cited >= 20);
}

int main(void)
{
    static char *names[MOST_FILES + 1];
    static struct CMUnitTest tests[MOST_FILES + 1];
    size_t count = list_files(names);
    for (size_t i = 0; i < count; i++)
        tests[i] = (struct CMUnitTest){names[i], test_file, NULL, NULL, names[i]};
    tests[count] = (struct CMUnitTest){"enough files", test_enough_files, NULL, NULL, names};
    int failed = _cmocka_run_group_tests("classify", tests, count + 1, NULL, NULL);
    for (size_t i = 0; i < count; i++)
        free(names[i]);
    return failed;
}
