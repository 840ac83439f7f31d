/* The context: diagnostics, their places, and how they are shown. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/context.h"

static hm_context *context;

static int open_context(void **state)
{
    (void)state;
    context = hm_context_create(NULL);
    return context ? 0 : -1;
}

static int close_context(void **state)
{
    (void)state;
    hm_context_destroy(context);
    return 0;
}

static uint32_t add_source(const char *text)
{
    return hmi_context_add_source(context, "m.hamel", NULL, text, strlen(text));
}

/* Reports at the first occurrence of `word` in the text and shows it. */
static const char *shown(const char *text, const char *word, const char *hint)
{
    static char buffer[4096];
    uint32_t file = add_source(text);
    const char *at = strstr(text, word);
    assert_non_null(at);
    hmi_error(context, (hmi_span){file, (uint32_t)(at - text), (uint32_t)strlen(word)}, hint,
              "look at %s", "this");
    const hm_diagnostic *d = hm_context_diagnostic(context,
                                                   hm_context_diagnostic_count(context) - 1);
    hm_diagnostic_format(d, false, buffer, sizeof buffer);
    return buffer;
}

/* ---- golden ---- */

static void test_plain(void **state)
{
    (void)state;
    assert_string_equal(shown("coord x\nkinetic thta'^2\n", "thta", "did you mean 'theta'?"),
                        "m.hamel:2:9: error: look at this\n"
                        "      2 | kinetic thta'^2\n"
                        "        |         ^~~~\n"
                        "  hint: did you mean 'theta'?\n");
}

/* The caret line repeats the tabs, so that it lines up whatever the width of a tab. */
static void test_tabs(void **state)
{
    (void)state;
    assert_string_equal(shown("\tlet\ta = bad\n", "bad", NULL),
                        "m.hamel:1:10: error: look at this\n"
                        "      1 | \tlet\ta = bad\n"
                        "        | \t   \t    ^~~\n");
}

/* Columns count characters. */
static void test_unicode(void **state)
{
    (void)state;
    assert_string_equal(
        shown("\xCE\xB8\xCF\x86 + \xCF\x88\xE2\x82\x80x\n", "\xCF\x88\xE2\x82\x80", NULL),
        "m.hamel:1:6: error: look at this\n"
        "      1 | \xCE\xB8\xCF\x86 + \xCF\x88\xE2\x82\x80x\n"
        "        |      ^~\n");
}

/* What would move the cursor of a terminal, or is no text at all, is not shown as it is. */
static void test_unprintable(void **state)
{
    (void)state;
    assert_string_equal(shown("a \x1B[31m \xFF \x80 bad\n", "bad", NULL),
                        "m.hamel:1:13: error: look at this\n"
                        "      1 | a ?[31m ? ? bad\n"
                        "        |             ^~~\n");
}

static void test_line_ends(void **state)
{
    (void)state;
    assert_string_equal(shown("one\r\ntwo bad\r\nthree", "bad", NULL),
                        "m.hamel:2:5: error: look at this\n"
                        "      2 | two bad\n"
                        "        |     ^~~\n");
    assert_string_equal(shown("last line bad", "bad", NULL), "m.hamel:1:11: error: look at this\n"
                                                             "      1 | last line bad\n"
                                                             "        |           ^~~\n");
}

/* A span over several lines is underlined in the first. */
static void test_long_span(void **state)
{
    (void)state;
    assert_string_equal(shown("f(a,\n  b)\n", "f(a,\n  b)", NULL),
                        "m.hamel:1:1: error: look at this\n"
                        "      1 | f(a,\n"
                        "        | ^~~~\n");
}

/* A very long line is not shown; line and column say where. */
static void test_long_line(void **state)
{
    (void)state;
    char text[3000];
    memset(text, 'x', sizeof text);
    memcpy(text + 2000, " bad ", 5);
    text[sizeof text - 1] = '\0';
    assert_string_equal(shown(text, "bad", "shorten it"), "m.hamel:1:2002: error: look at this\n"
                                                          "  hint: shorten it\n");
}

static void test_no_place(void **state)
{
    (void)state;
    char buffer[256];
    hmi_warning(context, hmi_no_span, NULL, "nothing %d", 7);
    const hm_diagnostic *d = hm_context_diagnostic(context, 0);
    assert_int_equal(d->severity, HM_SEVERITY_WARNING);
    assert_int_equal(d->line, 0);
    assert_null(d->file);
    assert_null(d->source_line);
    hm_diagnostic_format(d, false, buffer, sizeof buffer);
    assert_string_equal(buffer, "warning: nothing 7\n");
    assert_int_equal(hm_context_error_count(context), 0);
}

static void test_color(void **state)
{
    (void)state;
    char buffer[512];
    shown("a bad b", "bad", NULL);
    hm_diagnostic_format(hm_context_diagnostic(context, 0), true, buffer, sizeof buffer);
    assert_string_equal(buffer, "\033[1mm.hamel:1:3:\033[0m \033[1;31merror:\033[0m "
                                "\033[1mlook at this\033[0m\n"
                                "      1 | a bad b\n"
                                "        |   \033[1;31m^~~\033[0m\n");
}

/* As snprintf: the length needed, never more than fits, always a final NUL. */
static void test_small_buffers(void **state)
{
    (void)state;
    char whole[512], part[512];
    shown("a bad b", "bad", "a hint");
    const hm_diagnostic *d = hm_context_diagnostic(context, 0);
    size_t length = hm_diagnostic_format(d, false, whole, sizeof whole);
    assert_int_equal(length, strlen(whole));
    assert_int_equal(hm_diagnostic_format(d, false, NULL, 0), length);
    for (size_t size = 1; size <= length + 1; size++) {
        memset(part, 'z', sizeof part);
        assert_int_equal(hm_diagnostic_format(d, false, part, size), length);
        assert_int_equal(strlen(part), size - 1);
        assert_memory_equal(part, whole, size - 1);
        assert_int_equal(part[size], 'z');
    }
}

/* ---- places ---- */

static void test_positions(void **state)
{
    (void)state;
    static const char text[] = "ab\n\xCE\xB8"
                               "c\n";
    const hmi_source source = {.text = text, .length = sizeof text - 1};
    static const int expected[][2] = {{1, 1}, {1, 2}, {1, 3}, {2, 1},
                                      {2, 2}, {2, 2}, {2, 3}, {3, 1}};
    static const uint32_t offsets[] = {0, 1, 2, 3, 5, 5, 6, 7};
    for (size_t i = 0; i < 8; i++) {
        int line, column;
        hmi_source_position(&source, offsets[i], &line, &column);
        assert_int_equal(line, expected[i][0]);
        assert_int_equal(column, expected[i][1]);
    }
    int line, column;
    hmi_source_position(&source, 1000, &line, &column); /* past the end: the end */
    assert_int_equal(line, 3);
}

static void test_spans_outside(void **state)
{
    (void)state;
    uint32_t file = add_source("short");
    hmi_error(context, (hmi_span){file, 1000, 5}, NULL, "past the end");
    hmi_error(context, (hmi_span){file, 3, 1000}, NULL, "longer than the text");
    hmi_error(context, (hmi_span){file + 17, 0, 1}, NULL, "no such file");
    const hm_diagnostic *d = hm_context_diagnostic(context, 0);
    assert_int_equal(d->column, 6);
    assert_int_equal(d->length, 1);
    d = hm_context_diagnostic(context, 1);
    assert_int_equal(d->column, 4);
    assert_int_equal(d->length, 2);
    assert_int_equal(hm_context_diagnostic(context, 2)->line, 0);
}

/* ---- collecting ---- */

static void test_said_once(void **state)
{
    (void)state;
    uint32_t file = add_source("a b");
    for (int i = 0; i < 5; i++)
        hmi_error(context, (hmi_span){file, 2, 1}, NULL, "the same");
    hmi_error(context, (hmi_span){file, 0, 1}, NULL, "the same"); /* elsewhere */
    assert_int_equal(hm_context_error_count(context), 2);
    assert_int_equal(hm_context_diagnostic_count(context), 2);
    assert_int_equal(hmi_context_status(context, 2), HM_ERR_INPUT); /* an error all the same */
    hmi_context_begin(context);
    assert_int_equal(hmi_context_status(context, 2), HM_OK);
}

static void test_limits(void **state)
{
    (void)state;
    for (int i = 0; i < 1000; i++) {
        hmi_error(context, hmi_no_span, NULL, "error %d", i);
        hmi_warning(context, hmi_no_span, NULL, "warning %d", i);
    }
    assert_int_equal(hm_context_diagnostic_count(context), 2 * HMI_MOST_ERRORS);
    assert_true(hmi_context_too_many(context));
    assert_int_equal(hm_context_error_count(context), 1000); /* all are counted */
    assert_null(hm_context_diagnostic(context, 2 * HMI_MOST_ERRORS));
}

static void test_status(void **state)
{
    (void)state;
    assert_int_equal(hmi_context_status(context, 0), HM_OK);
    hmi_note(context, hmi_no_span, NULL, "a note");
    hmi_warning(context, hmi_no_span, NULL, "a warning");
    assert_int_equal(hmi_context_status(context, 0), HM_OK);
    hmi_error(context, hmi_no_span, NULL, "an error");
    assert_int_equal(hmi_context_status(context, 0), HM_ERR_INPUT);
    assert_int_equal(hmi_context_status(context, 1), HM_OK); /* nothing since then */
    context->limit_exceeded = true;
    assert_int_equal(hmi_context_status(context, 1), HM_ERR_LIMIT);
    context->out_of_memory = true;
    assert_int_equal(hmi_context_status(context, 1), HM_ERR_NOMEM);
    hm_context_clear(context);
    assert_int_equal(hmi_context_status(context, 0), HM_OK);
    assert_int_equal(hm_context_diagnostic_count(context), 0);
}

static void test_status_texts(void **state)
{
    (void)state;
    assert_string_equal(hm_status_text(HM_OK), "done");
    assert_string_equal(hm_status_text(HM_ERR_NOMEM), "out of memory");
    assert_non_null(hm_status_text((hm_status)12345));
    assert_non_null(hm_version());
    hm_context_destroy(NULL);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, open_context, close_context)

/* A context that reports about the sources of another quotes them, and has its own after them; what it
 * says can be taken by a third one, which outlives both. */
static void test_sources_of_another(void **state)
{
    (void)state;
    uint32_t file = add_source("coord x\nmass y");
    hm_context *other = hmi_context_create_for(NULL, context->sources.data, 1);
    assert_non_null(other);
    uint32_t own = hmi_context_add_source(other, "--at", NULL, "y = 1", 5);
    assert_int_equal(own, file + 1);
    hmi_error(other, (hmi_span){file, 13, 1}, "a hint", "there is no y");
    hmi_error(other, (hmi_span){own, 0, 1}, NULL, "nor here");
    hm_context *third = hm_context_create(NULL);
    hmi_error(third, hmi_no_span, NULL, "first");
    hmi_context_take(third, other);
    assert_int_equal(hm_context_error_count(other), 0);
    assert_int_equal(hm_context_error_count(context), 0);
    hm_context_destroy(other);
    assert_int_equal(hm_context_error_count(third), 3);
    const hm_diagnostic *d = hm_context_diagnostic(third, 1), *e = hm_context_diagnostic(third, 2);
    assert_string_equal(d->file, "m.hamel");
    assert_string_equal(d->source_line, "mass y");
    assert_string_equal(d->hint, "a hint");
    assert_true(d->line == 2 && d->column == 6);
    assert_string_equal(e->file, "--at");
    hm_context_destroy(third);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_plain),
        TEST(test_tabs),
        TEST(test_unicode),
        TEST(test_unprintable),
        TEST(test_line_ends),
        TEST(test_long_span),
        TEST(test_long_line),
        TEST(test_no_place),
        TEST(test_color),
        TEST(test_small_buffers),
        TEST(test_positions),
        TEST(test_spans_outside),
        TEST(test_said_once),
        TEST(test_limits),
        TEST(test_status),
        TEST(test_status_texts),
        TEST(test_sources_of_another),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
