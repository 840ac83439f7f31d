/* CSV: what is written is read back bit by bit; what is not a table is refused with its line. */
#include "helpers.h"

#include <math.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

static const char *path_in_tmp(const char *name)
{
    static char path[512];
    const char *folder = getenv("TMPDIR");
    snprintf(path, sizeof path, "%s/%s", folder ? folder : "/tmp", name);
    return path;
}

static hm_status parse(hm_context *context, const char *text, hm_table **table)
{
    return hm_table_parse_csv(context, "some.csv", text, strlen(text), table);
}

/* ---- reading ---- */

static void reads_a_table(void **state)
{
    (void)state;
    hm_context *context = hm_context_create(NULL);
    hm_table *table = NULL;
    const char *text = "\xEF\xBB\xBFt, x ,\"R[1,2]\",\"a\"\"b\"\r\n"
                       "0,1.5,-2e-3,+4\r\n"
                       "\n"
                       "1,,nan,NA\n"
                       "2,\" 3 \",inf,-Infinity";
    /* a quoted number with blanks inside is not a number */
    assert_int_equal(parse(context, text, &table), HM_OK);
    assert_int_equal(hm_context_diagnostic_count(context), 1); /* the torn last line */
    assert_int_equal(hm_table_column_count(table), 4);
    assert_int_equal(hm_table_row_count(table), 2);
    assert_string_equal(hm_table_name(table, 1), "x");
    assert_string_equal(hm_table_name(table, 2), "R[1,2]");
    assert_string_equal(hm_table_name(table, 3), "a\"b");
    check_number("x", hm_table_column(table, 1)[0], 1.5, 0);
    check_number("R", hm_table_column(table, 2)[0], -2e-3, 0);
    assert_true(isnan(hm_table_column(table, 1)[1]) && isnan(hm_table_column(table, 3)[1]));
    hm_table_destroy(table);
    assert_int_equal(parse(context, "a,b\n1,-inf", &table), HM_OK);
    assert_true(hm_table_column(table, 1)[0] == -INFINITY);
    hm_table_destroy(table);
    hm_context_destroy(context);
}

static void check_refused(const char *text, const char *message)
{
    hm_context *context = hm_context_create(NULL);
    hm_table *table = NULL;
    assert_int_equal(parse(context, text, &table), HM_ERR_INPUT);
    assert_null(table);
    assert_string_equal(hm_context_diagnostic(context, 0)->message, message);
    hm_context_destroy(context);
}

static void refuses_with_the_line(void **state)
{
    (void)state;
    check_refused("", "some.csv:1: the file is empty");
    check_refused("1,2\n3,4\n", "some.csv:1: the header line is missing");
    check_refused("t,x\n0,1\n1\n", "some.csv:3: 1 values, but the header names 2 columns");
    check_refused("t,x\n0,1,2\n", "some.csv:2: 3 values, but the header names 2 columns");
    check_refused("t,x\n0,one\n", "some.csv:2: 'one' in column x is not a number");
    check_refused("t,x\n0,0x10\n", "some.csv:2: '0x10' in column x is not a number");
    check_refused("t,x\n0,1e\n", "some.csv:2: '1e' in column x is not a number");
    check_refused("t,t\n0,1\n", "some.csv:1: two columns are called 't'");
    check_refused("t,\"x\n0,1\n", "some.csv:1: a quote is not closed");
    check_refused("t,\"x\"y\n0,1\n", "some.csv:1: text after a closing quote");
}

static void suggests_names(void **state)
{
    (void)state;
    const char *const names[] = {"t", "theta", "theta'", "x"};
    hm_table *table;
    assert_int_equal(hm_table_create(NULL, 4, names, &table), HM_OK);
    assert_string_equal(hm_table_suggest(table, "thta"), "theta");
    assert_null(hm_table_suggest(table, "completely"));
    assert_null(hm_table_suggest(table, "q"));
    assert_int_equal(hm_table_find(table, "theta'"), 2);
    assert_true(hm_table_find(table, "y") == HM_NO_COLUMN);
    hm_table_destroy(table);
}

/* ---- writing ---- */

static void writes_what_it_reads(void **state)
{
    (void)state;
    enum { ROWS = 5000 };
    const char *const names[] = {"t", "R[1,2]", "x'"};
    const char *path = path_in_tmp("round.csv");
    hm_csv_writer *writer;
    random_source random = {3}, again = {3};
    assert_int_equal(hm_csv_create(NULL, path, 3, names, &writer), HM_OK);
    assert_int_not_equal(access(path, F_OK), 0); /* not before it is whole */
    for (int i = 0; i < ROWS; i++) {
        double size = pow(10, random_between(&random, -30, 30));
        const double row[] = {i, size * random_between(&random, -1, 1), i % 7 ? 0.1 * i : NAN};
        assert_int_equal(hm_csv_row(writer, row), HM_OK);
    }
    assert_int_equal(hm_csv_finish(writer, true), HM_OK);
    assert_string_equal(hm_csv_path(writer), path);
    hm_csv_destroy(writer);

    hm_context *context = hm_context_create(NULL);
    hm_table *table;
    assert_int_equal(hm_table_load_csv(context, path, &table), HM_OK);
    assert_int_equal(hm_table_row_count(table), ROWS);
    assert_string_equal(hm_table_name(table, 1), "R[1,2]");
    for (int i = 0; i < ROWS; i++) {
        double size = pow(10, random_between(&again, -30, 30));
        assert_true(hm_table_column(table, 1)[i] == size * random_between(&again, -1, 1));
        double x = hm_table_column(table, 2)[i];
        assert_true(i % 7 ? x == 0.1 * i : isnan(x));
    }
    hm_table_destroy(table);
    hm_context_destroy(context);
    unlink(path);
}

/* Rows flushed are on the disk while the writer lives; unfinished, they stay under .partial. */
static void keeps_the_partial(void **state)
{
    (void)state;
    const char *const names[] = {"t"};
    const char *path = path_in_tmp("cut.csv");
    hm_csv_writer *writer;
    struct stat about;
    double t = 0.5;
    assert_int_equal(hm_csv_create(NULL, path, 1, names, &writer), HM_OK);
    assert_int_equal(hm_csv_row(writer, &t), HM_OK);
    assert_int_equal(hm_csv_flush(writer), HM_OK);
    char partial[600];
    snprintf(partial, sizeof partial, "%s.partial", path);
    assert_string_equal(hm_csv_path(writer), partial);
    assert_int_equal(stat(partial, &about), 0);
    assert_int_equal(about.st_size, strlen("t\n0.5\n"));
    assert_int_equal(hm_csv_finish(writer, false), HM_OK);
    hm_csv_destroy(writer);
    assert_int_equal(access(partial, F_OK), 0);
    assert_int_not_equal(access(path, F_OK), 0);
    unlink(partial);
}

static void says_why_it_cannot_write(void **state)
{
    (void)state;
    const char *const names[] = {"t"};
    hm_csv_writer *writer = NULL;
    assert_int_equal(hm_csv_create(NULL, "/dev/full", 1, names, &writer), HM_ERR_IO);
    assert_string_equal(hm_csv_error(writer), "No space left on device");
    hm_csv_destroy(writer);
    assert_int_equal(hm_csv_create(NULL, "/nowhere/a.csv", 1, names, &writer), HM_ERR_IO);
    assert_string_equal(hm_csv_error(writer), "No such file or directory");
    hm_csv_destroy(writer);
}

/* ---- memory ---- */

static hm_status read_and_write(const hm_allocator *allocator)
{
    const char *text = "t,\"x\"\n0,1\n1,2\n";
    const char *const names[] = {"t", "x"};
    const char *path = path_in_tmp("memory.csv");
    hm_csv_writer *writer = NULL;
    hm_table *table = NULL;
    hm_context *context = hm_context_create(allocator);
    if (!context)
        return HM_ERR_NOMEM;
    hm_status status = hm_table_parse_csv(context, "text", text, strlen(text), &table);
    if (status == HM_OK)
        status = hm_csv_create(allocator, path, 2, names, &writer);
    if (status == HM_OK)
        status = hm_csv_row(writer, (const double[]){1, 2});
    if (status == HM_OK)
        status = hm_csv_finish(writer, true);
    hm_csv_destroy(writer);
    hm_table_destroy(table);
    hm_context_destroy(context);
    return status;
}

static void survives_failing_memory(void **state)
{
    (void)state;
    for (long k = 0;; k++) {
        failing_heap heap = {.armed = true, .fail_at = k};
        hm_allocator allocator = heap_allocator(&heap);
        hm_status status = read_and_write(&allocator);
        assert_int_equal(heap.live_bytes, 0);
        if (status == HM_OK)
            break;
        assert_int_equal(status, HM_ERR_NOMEM);
        assert_true(k < 1000);
    }
    char partial[600];
    unlink(path_in_tmp("memory.csv"));
    snprintf(partial, sizeof partial, "%s.partial", path_in_tmp("memory.csv"));
    unlink(partial);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(reads_a_table),           cmocka_unit_test(refuses_with_the_line),
        cmocka_unit_test(suggests_names),          cmocka_unit_test(writes_what_it_reads),
        cmocka_unit_test(keeps_the_partial),       cmocka_unit_test(says_why_it_cannot_write),
        cmocka_unit_test(survives_failing_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
