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
    check_refused("t,x\n0,\"1\n", "some.csv:2: a quote is not closed");
    check_refused("t,x\n0,1E+\n", "some.csv:2: '1E+' in column x is not a number");
}

/* Blanks and tabs around fields, exponents in capitals, infinity in words. */
static void reads_what_others_write(void **state)
{
    (void)state;
    hm_context *context = hm_context_create(NULL);
    hm_table *table = NULL;
    const char *text = " t\t,\tx ,y\n0\t, 1E3 ,\tinf\n1,2.5E-1\t,INFINITY\n";
    assert_int_equal(parse(context, text, &table), HM_OK);
    assert_string_equal(hm_table_name(table, 0), "t");
    assert_string_equal(hm_table_name(table, 1), "x");
    check_number("1E3", hm_table_column(table, 1)[0], 1000, 0);
    check_number("2.5E-1", hm_table_column(table, 1)[1], 0.25, 0);
    assert_true(hm_table_column(table, 2)[0] == INFINITY);
    assert_true(hm_table_column(table, 2)[1] == INFINITY);
    hm_table_destroy(table);
    hm_context_destroy(context);
}

static void check_unreadable(const char *bytes, size_t length, const char *message)
{
    hm_context *context = hm_context_create(NULL);
    hm_table *table = NULL;
    assert_int_equal(hm_table_parse_csv(context, "some.csv", bytes, length, &table), HM_ERR_INPUT);
    assert_string_equal(hm_context_diagnostic(context, 0)->message, message);
    hm_context_destroy(context);
}

/* Bytes that are no text, a line without end, a file that is not there, a folder. */
static void refuses_what_is_no_text(void **state)
{
    (void)state;
    enum { LONG = (1 << 26) + 100 };
    check_unreadable("t,x\n0,\0\n", 8, "some.csv:2: not a text file");
    char *line = malloc(LONG);
    memset(line, '1', LONG);
    memcpy(line, "t\n", 2);
    check_unreadable(line, LONG, "some.csv:2: the line is too long");
    free(line);
    hm_context *context = hm_context_create(NULL);
    hm_table *table = NULL;
    assert_int_equal(hm_table_load_csv(context, "/nowhere/at.csv", &table), HM_ERR_IO);
    assert_string_equal(hm_context_diagnostic(context, 0)->message,
                        "cannot read '/nowhere/at.csv': No such file or directory");
    assert_int_equal(hm_table_load_csv(context, "/tmp", &table), HM_ERR_IO);
    assert_string_equal(hm_context_diagnostic(context, 1)->message,
                        "cannot read '/tmp': Is a directory");
    hm_context_destroy(context);
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

/* Names that need quotes get them, and are read back as they were. */
static void quotes_names(void **state)
{
    (void)state;
    const char *const names[] = {"a\"b", "", " c", "d,e", "f\ng", "plain"};
    const char *path = path_in_tmp("quotes.csv");
    hm_csv_writer *writer;
    assert_int_equal(hm_csv_create(NULL, path, 6, names, &writer), HM_OK);
    assert_int_equal(hm_csv_row(writer, (const double[]){1, 2, 3, 4, 5, 6}), HM_OK);
    assert_int_equal(hm_csv_row_count(writer), 1);
    assert_int_equal(hm_csv_finish(writer, true), HM_OK);
    assert_int_equal(hm_csv_finish(writer, true), HM_ERR_USAGE); /* it is finished */
    assert_int_equal(hm_csv_row(writer, (const double[]){1, 2, 3, 4, 5, 6}), HM_ERR_IO);
    hm_csv_destroy(writer);
    char text[100] = "";
    FILE *file = fopen(path, "r");
    assert_non_null(file);
    assert_true(fread(text, 1, sizeof text - 1, file) > 0);
    fclose(file);
    assert_string_equal(text, "\"a\"\"b\",\"\",\" c\",\"d,e\",\"f\ng\",plain\n1,2,3,4,5,6\n");
    unlink(path);
}

/* A folder takes the name before the file is finished: the rows stay under .partial. */
static void keeps_rows_that_cannot_take_their_name(void **state)
{
    (void)state;
    const char *const names[] = {"t"};
    const char *path = path_in_tmp("taken.csv");
    char partial[600];
    hm_csv_writer *writer;
    snprintf(partial, sizeof partial, "%s.partial", path);
    rmdir(path);
    assert_int_equal(hm_csv_create(NULL, path, 1, names, &writer), HM_OK);
    assert_int_equal(hm_csv_row(writer, &(double){0.5}), HM_OK);
    assert_int_equal(mkdir(path, 0700), 0);
    assert_int_equal(hm_csv_finish(writer, true), HM_ERR_IO);
    assert_string_equal(hm_csv_error(writer), "Is a directory");
    assert_string_equal(hm_csv_path(writer), partial);
    assert_int_equal(hm_csv_finish(writer, true), HM_ERR_IO);
    hm_csv_destroy(writer);
    assert_int_equal(access(partial, F_OK), 0);
    unlink(partial);
    assert_int_equal(hm_csv_create(NULL, path, 1, names, &writer), HM_ERR_IO); /* a folder now */
    assert_string_equal(hm_csv_error(writer), "Is a directory");
    hm_csv_destroy(writer);
    rmdir(path);
}

/* A pipe is written in place. Rows after a failure fail at once, and the first reason stays. */
static void writes_into_a_pipe(void **state)
{
    (void)state;
    const char *const names[] = {"t"};
    char path[64], text[16] = "";
    int ends[2];
    hm_csv_writer *writer;
    assert_int_equal(pipe(ends), 0);
    snprintf(path, sizeof path, "/proc/self/fd/%d", ends[1]);
    assert_int_equal(hm_csv_create(NULL, path, 1, names, &writer), HM_OK);
    assert_string_equal(hm_csv_path(writer), path);
    assert_int_equal(hm_csv_row(writer, &(double){2}), HM_OK);
    assert_int_equal(hm_csv_finish(writer, true), HM_OK);
    assert_int_equal(read(ends[0], text, sizeof text - 1), 4);
    assert_string_equal(text, "t\n2\n");
    hm_csv_destroy(writer);
    close(ends[0]);
    close(ends[1]);
    assert_int_equal(hm_csv_create(NULL, "/dev/full", 1, names, &writer), HM_ERR_IO);
    assert_int_equal(hm_csv_row(writer, &(double){1}), HM_ERR_IO);
    assert_int_equal(hm_csv_finish(writer, true), HM_ERR_IO);
    assert_string_equal(hm_csv_error(writer), "No space left on device");
    hm_csv_destroy(writer);
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
        cmocka_unit_test(reads_a_table),
        cmocka_unit_test(refuses_with_the_line),
        cmocka_unit_test(suggests_names),
        cmocka_unit_test(writes_what_it_reads),
        cmocka_unit_test(keeps_the_partial),
        cmocka_unit_test(says_why_it_cannot_write),
        cmocka_unit_test(survives_failing_memory),
        cmocka_unit_test(reads_what_others_write),
        cmocka_unit_test(refuses_what_is_no_text),
        cmocka_unit_test(quotes_names),
        cmocka_unit_test(writes_into_a_pipe),
        cmocka_unit_test(keeps_rows_that_cannot_take_their_name),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
