/* Bad input: every file of test/cases/bad must get exactly the messages it expects, written inline:
 *
 *   kinetic 2x            # expect error @10: an operator is missing
 *                         # expect hint: write * for a product
 *   # expect error (line 7): this bracket is not closed
 *   # expect error (line 2 of include/part.hamel): unknown name
 *   # expect error (no line): the model has no coordinates
 *   # expect status: ERR_LIMIT
 *   # set m=2             as the option --set does
 *   # at x = 1, t = 0     as the option --at does
 *
 * An expectation is about its own line unless it names another; the text is a part of the message;
 * the column is checked where it is given; a hint belongs to the expectation before it; `expect
 * warning` works the same. Several may stand in one line. The file goes through parsing, derivation
 * and an evaluation at the initial state, as far as it gets; the status must be a failure.
 */
#include <dirent.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/context.h"

#include <hamel/hamel.h>

#define FOLDER HAMEL_SOURCE_DIR "/test/cases/bad/"

enum { MOST_FILES = 1000, MOST_EXPECTED = 64, MOST_TEXT = 65536 };

/* ---- what a file expects ---- */

typedef struct expectation {
    hm_severity severity;
    char file[128]; /* empty: the file itself */
    int line, column;
    char message[256], hint[256];
    bool met;
} expectation;

typedef struct script {
    expectation list[MOST_EXPECTED];
    size_t count;
    hm_override overrides[8];
    size_t override_count;
    const char *at;
    const char *status;
    char text[MOST_TEXT]; /* directives point into it */
} script;

static void copy_text(char *to, size_t size, const char *from, const char *end)
{
    while (from < end && *from == ' ')
        from++;
    while (end > from && (end[-1] == ' ' || end[-1] == '\r'))
        end--;
    size_t length = (size_t)(end - from);
    assert_true(length < size);
    memcpy(to, from, length);
    to[length] = '\0';
}

/* "@12 (line 3 of FILE): text", after the word error or warning. */
static void read_expectation(script *s, hm_severity severity, const char *at, const char *end,
                             int line)
{
    assert_true(s->count < MOST_EXPECTED);
    expectation *e = &s->list[s->count++];
    *e = (expectation){.severity = severity, .line = line};
    while (*at == ' ')
        at++;
    if (*at == '@')
        e->column = (int)strtol(at + 1, (char **)&at, 10);
    while (*at == ' ')
        at++;
    if (strncmp(at, "(no line)", 9) == 0) {
        e->line = 0;
        at += 9;
    } else if (strncmp(at, "(line ", 6) == 0) {
        e->line = (int)strtol(at + 6, (char **)&at, 10);
        const char *closing = strchr(at, ')');
        assert_non_null(closing);
        if (strncmp(at, " of ", 4) == 0)
            copy_text(e->file, sizeof e->file, at + 4, closing);
        at = closing + 1;
    }
    assert_int_equal(*at, ':');
    copy_text(e->message, sizeof e->message, at + 1, end);
    assert_true(e->message[0] != '\0');
}

static bool starts_with(const char *text, const char *word)
{
    return strncmp(text, word, strlen(word)) == 0;
}

static const char *directive_text(char *at, const char *end)
{
    at[end - at] = '\0';
    return at;
}

static void read_directive(script *s, char *at, char *end, int line)
{
    if (starts_with(at, "# expect error"))
        read_expectation(s, HM_SEVERITY_ERROR, at + 14, end, line);
    else if (starts_with(at, "# expect warning"))
        read_expectation(s, HM_SEVERITY_WARNING, at + 16, end, line);
    else if (starts_with(at, "# expect hint:") && s->count > 0)
        copy_text(s->list[s->count - 1].hint, sizeof s->list->hint, at + 14, end);
    else if (starts_with(at, "# expect status: "))
        s->status = directive_text(at + 17, end);
    else if (starts_with(at, "# at "))
        s->at = directive_text(at + 5, end);
    else if (starts_with(at, "# set ")) {
        char *equals = strchr(at, '=');
        assert_non_null(equals);
        assert_true(s->override_count < 8);
        *equals = '\0';
        s->overrides[s->override_count++] = (hm_override){at + 6, directive_text(equals + 1, end)};
    } else
        assert_false(starts_with(at, "# expect"));
}

static void read_line(script *s, char *line, char *end, int number)
{
    char *at = memchr(line, '#', (size_t)(end - line));
    while (at) {
        char *next = at + 1 < end ? memchr(at + 1, '#', (size_t)(end - at - 1)) : NULL;
        read_directive(s, at, next ? next : end, number);
        at = next;
    }
}

static void read_script(script *s, const char *path)
{
    FILE *file = fopen(path, "rb");
    assert_non_null(file);
    size_t length = fread(s->text, 1, sizeof s->text - 1, file);
    fclose(file);
    assert_true(length < sizeof s->text - 1);
    int number = 1;
    for (char *line = s->text, *stop = s->text + length; line < stop; number++) {
        char *end = memchr(line, '\n', (size_t)(stop - line));
        end = end ? end : stop;
        char *after = end < stop ? end + 1 : stop;
        read_line(s, line, end, number);
        line = after;
    }
}

/* ---- the pipeline ---- */

typedef struct heap {
    size_t live;
} heap;

static void *counting_resize(void *user, void *ptr, size_t old_size, size_t new_size)
{
    heap *h = user;
    h->live += new_size - old_size;
    if (new_size > 0)
        return realloc(ptr, new_size);
    free(ptr);
    return NULL;
}

static hm_status evaluate(hm_context *context, const hm_model *model)
{
    hm_system *system = NULL;
    hm_sim *sim = NULL;
    hm_evaluation at;
    hm_status status = hm_system_create(model, &system);
    if (status == HM_OK)
        status = hm_sim_create(system, &sim);
    if (status == HM_OK)
        status = hm_sim_evaluate(sim, NULL, &at);
    if (sim)
        hmi_context_take(context, hm_sim_context(sim));
    hm_sim_destroy(sim);
    hm_system_destroy(system);
    return status;
}

static hm_status read_state(hm_context *context, const hm_model *model, const char *text)
{
    double t = 0, values[64] = {0};
    bool set[16] = {0};
    assert_true(hm_model_coordinate_count(model) <= 16 && hm_model_state_count(model) <= 16);
    return hm_model_read_state(context, model, text, &t, values, values + 16, values + 32,
                               values + 48, set);
}

static hm_status run(hm_context *context, const script *s, const char *path)
{
    hm_model *model = NULL;
    hm_model_options options = hm_model_options_default();
    options.overrides = s->overrides;
    options.override_count = s->override_count;
    hm_status status = hm_model_load(context, path, &options, &model);
    if (status == HM_OK && s->at)
        status = read_state(context, model, s->at);
    if (status == HM_OK)
        status = evaluate(context, model);
    hm_model_destroy(model);
    return status;
}

/* ---- comparing ---- */

static int characters(const char *text)
{
    int count = 0;
    for (; *text; text++)
        count += (*text & 0xC0) != 0x80;
    return count;
}

/* The caret and what it underlines lie inside the line, or just after its end. */
static void check_place(const hm_diagnostic *d)
{
    if (d->line == 0) {
        assert_null(d->source_line);
        return;
    }
    assert_non_null(d->file);
    assert_true(d->column >= 1 && d->length >= 1);
    if (!d->source_line)
        return;
    int length = characters(d->source_line);
    assert_true(d->column <= length + 1);
    assert_true(d->column + d->length - 1 <= length + 1);
    assert_null(strpbrk(d->source_line, "\r\n\033"));
}

static bool ends_with(const char *text, const char *ending)
{
    size_t m = strlen(text), n = strlen(ending);
    return m >= n && strcmp(text + m - n, ending) == 0;
}

static bool meets(const expectation *e, const hm_diagnostic *d, const char *path)
{
    const char *file = e->file[0] ? e->file : path;
    if (e->severity != d->severity || e->line != d->line)
        return false;
    if (e->line > 0 && (!d->file || !ends_with(d->file, file)))
        return false;
    return (e->column == 0 || e->column == d->column) && strstr(d->message, e->message) &&
           (e->hint[0] == '\0' || (d->hint && strstr(d->hint, e->hint)));
}

static void show(const hm_diagnostic *d)
{
    char text[4096];
    hm_diagnostic_format(d, false, text, sizeof text);
    print_error("not expected:\n%s", text);
}

static size_t compare(const hm_context *context, script *s, const char *path)
{
    size_t wrong = 0;
    for (size_t i = 0; i < hm_context_diagnostic_count(context); i++) {
        const hm_diagnostic *d = hm_context_diagnostic(context, i);
        bool expected = false;
        check_place(d);
        for (size_t k = 0; k < s->count && !expected; k++)
            if (!s->list[k].met)
                expected = s->list[k].met = meets(&s->list[k], d, path);
        if (!expected)
            show(d);
        wrong += !expected;
    }
    for (size_t k = 0; k < s->count; k++)
        if (!s->list[k].met) {
            print_error("missing: line %d: %s\n", s->list[k].line, s->list[k].message);
            wrong++;
        }
    return wrong;
}

static void check_status(const script *s, hm_status status)
{
#define NAME(name, text) #name,
    static const char *const names[] = {HM_STATUS_LIST(NAME)};
#undef NAME
    assert_string_equal(names[status], s->status ? s->status : "ERR_INPUT");
}

static void test_file(void **state)
{
    static script s;
    char path[512];
    heap h = {0};
    const hm_allocator allocator = {counting_resize, &h};
    memset(&s, 0, sizeof s);
    snprintf(path, sizeof path, FOLDER "%s", (const char *)*state);
    read_script(&s, path);
    assert_true(s.count > 0);
    hm_context *context = hm_context_create(&allocator);
    hm_status status = run(context, &s, path);
    size_t wrong = compare(context, &s, path);
    check_status(&s, status);
    hm_context_destroy(context);
    assert_int_equal(wrong, 0);
    assert_int_equal(h.live, 0);
}

/* ---- one test a file ---- */

static int by_name(const void *x, const void *y)
{
    return strcmp(*(char *const *)x, *(char *const *)y);
}

static size_t list_files(char **names)
{
    size_t count = 0;
    DIR *folder = opendir(FOLDER);
    for (struct dirent *entry; folder && (entry = readdir(folder));)
        if (ends_with(entry->d_name, ".hamel") && count < MOST_FILES)
            names[count++] = strdup(entry->d_name);
    if (folder)
        closedir(folder);
    qsort(names, count, sizeof *names, by_name);
    return count;
}

static void test_enough_files(void **state)
{
    assert_true(*(const size_t *)*state >= 150);
}

int main(void)
{
    static char *names[MOST_FILES];
    static struct CMUnitTest tests[MOST_FILES + 1];
    size_t count = list_files(names);
    for (size_t i = 0; i < count; i++)
        tests[i] = (struct CMUnitTest){names[i], test_file, NULL, NULL, names[i]};
    tests[count] = (struct CMUnitTest){"enough files", test_enough_files, NULL, NULL, &count};
    int failed = _cmocka_run_group_tests("bad input", tests, count + 1, NULL, NULL);
    for (size_t i = 0; i < count; i++)
        free(names[i]);
    return failed;
}
