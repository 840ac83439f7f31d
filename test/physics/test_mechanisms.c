/* Mechanisms written several ways: free bodies with joints, free bodies with constraints by hand, and relative
 * coordinates with what is left of the loops by hand. All ways must move alike, to 1e-9.
 *
 * A file of test/physics/models/mechanisms has sections "### NAME": `common` goes before every variant,
 * `free` before `joints` and `rows`. Outputs of the common part are compared. */
#include "support/check.h"
#include "support/motion.h"

#include <dirent.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define FOLDER HAMEL_SOURCE_DIR "/test/physics/models/mechanisms/"

enum { MOST_TEXT = 20000, MOST_OUTPUTS = 40, TIMES = 4, MOST_FILES = 100 };

static char *read_text(const char *path)
{
    FILE *in = fopen(path, "r");
    assert_non_null(in);
    char *text = calloc(1, MOST_TEXT);
    size_t length = fread(text, 1, MOST_TEXT - 1, in);
    assert_true(length < MOST_TEXT - 1);
    fclose(in);
    return text;
}

/* Appends the section, if it is there. */
static bool add_section(char *to, const char *file, const char *name)
{
    char head[40];
    snprintf(head, sizeof head, "\n### %s\n", name);
    const char *start = strstr(file, head);
    if (!start)
        return false;
    start += strlen(head);
    const char *end = strstr(start, "\n### ");
    size_t length = end ? (size_t)(end - start) + 1 : strlen(start);
    size_t before = strlen(to);
    memcpy(to + before, start, length);
    to[before + length] = '\0';
    return true;
}

/* The outputs at TIMES times of the run; how many there are. */
static size_t follow(const char *text, const char *shown, double out[TIMES][MOST_OUTPUTS])
{
    motion *m = motion_text(text);
    const hm_evaluate_options options = {.formulation = HM_FORMULATION_AUTO};
    size_t count = hm_model_output_count(m->model);
    assert_true(count > 0 && count <= MOST_OUTPUTS);
    m->options.rtol = 1e-12;
    m->options.atol = 1e-13;
    double end = m->options.end;
    if (hm_sim_start(m->sim, &m->options) != HM_OK)
        fail_msg("%s: %s", shown, hm_context_diagnostic(hm_sim_context(m->sim), 0)->message);
    for (int k = 0; k < TIMES; k++) {
        hm_evaluation at;
        motion_advance(m, end * (k + 1) / TIMES);
        assert_int_equal(hm_sim_evaluate(m->sim, &options, &at), HM_OK);
        memcpy(out[k], at.outputs, count * sizeof **out);
    }
    motion_close(m);
    return count;
}

static double difference(double x[TIMES][MOST_OUTPUTS], double y[TIMES][MOST_OUTPUTS], size_t count)
{
    double largest = 0;
    for (int k = 0; k < TIMES; k++)
        for (size_t i = 0; i < count; i++) {
            double d = fabs(x[k][i] - y[k][i]) / (1 + fabs(x[k][i]));
            largest = d <= largest ? largest : d;
        }
    return largest;
}

static void compare(const char *name)
{
    static const char *const variants[] = {"joints", "rows", "relative"};
    double values[3][TIMES][MOST_OUTPUTS];
    char path[600];
    snprintf(path, sizeof path, FOLDER "%s", name);
    char *file = read_text(path), *text = calloc(2, MOST_TEXT);
    size_t count = 0, ways = 0;
    for (int k = 0; k < 3; k++) {
        *text = '\0';
        assert_true(add_section(text, file, "common"));
        if (k < 2)
            add_section(text, file, "free");
        if (!add_section(text, file, variants[k]))
            continue;
        char shown[100];
        snprintf(shown, sizeof shown, "%s, %s", name, variants[k]);
        size_t found = follow(text, shown, values[k]);
        assert_true(ways == 0 || found == count);
        count = found;
        if (ways++ == 0)
            continue;
        double off = difference(values[0], values[k], count);
        printf("# %-22s joints against %-9s %.1e\n", name, variants[k], off);
        if (!(off <= 1e-9))
            fail_msg("%s: joints and %s differ by %g", name, variants[k], off);
    }
    assert_true(ways >= 2);
    free(text);
    free(file);
}

static void run_file(void **state)
{
    compare(*state);
}

static int compare_names(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

int main(void)
{
    static char *names[MOST_FILES];
    static struct CMUnitTest tests[MOST_FILES];
    size_t count = 0;
    DIR *folder = opendir(FOLDER);
    for (struct dirent *e; folder && (e = readdir(folder)) && count < MOST_FILES;)
        if (strstr(e->d_name, ".txt"))
            names[count++] = strdup(e->d_name);
    if (folder)
        closedir(folder);
    qsort(names, count, sizeof *names, compare_names);
    for (size_t i = 0; i < count; i++)
        tests[i] = (struct CMUnitTest){names[i], run_file, NULL, NULL, names[i]};
    int failed = count >= 20 ? _cmocka_run_group_tests("mechanisms", tests, count, NULL, NULL) : 1;
    for (size_t i = 0; i < count; i++)
        free(names[i]);
    return failed;
}
