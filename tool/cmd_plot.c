/* hamel plot: columns of a results file.
 *
 *   no columns      the page that `hamel run --plot` makes
 *   two columns     the second against the first: a path in the plane, a phase portrait
 *   otherwise       histories against t, or against --against
 *   --3d            three columns: a path in space
 */
#include "command.h"
#include "examples.h"
#include "figure_file.h"
#include "output_file.h"
#include "values.h"

#include <jansson.h>
#include <stdlib.h>
#include <string.h>

typedef struct plot_job {
    const invocation *call;
    hm_table *table;
    size_t *columns;
    size_t count;
    size_t against; /* HM_NO_COLUMN: not asked for */
    hm_figure *figure;
    char *output;
} plot_job;

/* ---- columns ---- */

static bool find_column(const plot_job *j, const char *name, size_t *column)
{
    *column = hm_table_find(j->table, name);
    if (*column != HM_NO_COLUMN)
        return true;
    const char *meant = hm_table_suggest(j->table, name);
    say("hamel: '%s' has no column '%s'", j->call->arguments[0], name);
    if (meant)
        say("; did you mean '%s'?", meant);
    say("\n  hint: its columns are");
    for (size_t i = 0; i < hm_table_column_count(j->table) && i < 30; i++)
        say("%s%s", i ? ", " : " ", hm_table_name(j->table, i));
    say("%s\n", hm_table_column_count(j->table) > 30 ? ", ..." : "");
    return false;
}

static bool find_columns(plot_job *j)
{
    bool good = true;
    j->count = j->call->argument_count - 1;
    j->columns = memory_new(j->count + 1, sizeof *j->columns);
    if (!j->columns)
        return false;
    for (size_t i = 0; i < j->count; i++)
        good = find_column(j, j->call->arguments[i + 1], &j->columns[i]) && good;
    const char *against = option_value(j->call, "--against");
    j->against = HM_NO_COLUMN;
    if (against)
        good = find_column(j, against, &j->against) && good;
    return good;
}

/* ---- figures ---- */

/* x and y, x[1] and y[1], Ax and Az: lengths, to be drawn alike. */
static bool are_lengths(const char *a, const char *b)
{
    size_t differ = 0, length = strlen(a);
    if (strlen(b) != length)
        return false;
    for (size_t i = 0; i < length; i++)
        if (a[i] != b[i]) {
            differ++;
            char low = (char)(a[i] | 0x20), other = (char)(b[i] | 0x20);
            if (!(low >= 'x' && low <= 'z' && other >= 'x' && other <= 'z'))
                return false;
        }
    return differ == 1 && !strchr(a, '\'');
}

static hm_status add_path(plot_job *j, bool space)
{
    const size_t *c = j->columns;
    const char *x = hm_table_name(j->table, c[0]), *y = hm_table_name(j->table, c[1]);
    hm_curve curve = {.x = hm_table_column(j->table, c[0]),
                      .y = hm_table_column(j->table, c[1]),
                      .z = space ? hm_table_column(j->table, c[2]) : NULL,
                      .count = hm_table_row_count(j->table)};
    hm_panel panel = {.x_label = x,
                      .y_label = y,
                      .z_label = space ? hm_table_name(j->table, c[2]) : NULL,
                      .curves = &curve,
                      .curve_count = 1,
                      .space = space,
                      .ends = true};
    panel.equal = are_lengths(x, y) || option_value(j->call, "--equal");
    if (space)
        panel.equal = panel.equal && are_lengths(y, panel.z_label);
    panel.log_y = option_value(j->call, "--log") != NULL;
    return hm_figure_add(j->figure, &panel);
}

/* All in one panel, by the logarithm of their size. */
static hm_status add_log_histories(plot_job *j, size_t against)
{
    hm_curve *curves = memory_new(j->count + 1, sizeof *curves);
    if (!curves)
        return HM_ERR_NOMEM;
    for (size_t i = 0; i < j->count; i++)
        curves[i] = (hm_curve){.label = hm_table_name(j->table, j->columns[i]),
                               .x = hm_table_column(j->table, against),
                               .y = hm_table_column(j->table, j->columns[i]),
                               .count = hm_table_row_count(j->table)};
    hm_panel panel = {.x_label = hm_table_name(j->table, against),
                      .curves = curves,
                      .curve_count = j->count,
                      .log_y = true};
    hm_status status = hm_figure_add(j->figure, &panel);
    free(curves);
    return status;
}

static hm_status add_histories(plot_job *j)
{
    size_t against = j->against;
    if (against == HM_NO_COLUMN)
        against = hm_table_find(j->table, "t");
    if (against == HM_NO_COLUMN)
        against = 0;
    if (option_value(j->call, "--log"))
        return add_log_histories(j, against);
    return hm_figure_histories(j->figure, j->table, against, j->columns, j->count);
}

static hm_status make_figure(plot_job *j)
{
    const char *title = option_value(j->call, "--title");
    if (!title)
        title = j->count == 0 ? j->call->arguments[0] : NULL;
    hm_status status = hm_figure_create(memory_allocator(), title, NULL, &j->figure);
    if (status != HM_OK)
        return status;
    if (option_value(j->call, "--3d"))
        return add_path(j, true);
    if (j->count == 0)
        return hm_figure_run(j->figure, j->table);
    if (j->count == 2 && j->against == HM_NO_COLUMN)
        return add_path(j, false);
    return add_histories(j);
}

/* ---- the command ---- */

/* -o FILE, or the name of the results with .svg */
static int choose_output(plot_job *j)
{
    const char *given = option_value(j->call, "-o"), *input = j->call->arguments[0];
    const char *slash = strrchr(input, '/'), *dot = strrchr(slash ? slash : input, '.');
    size_t stem = given                 ? strlen(given)
                  : dot && dot != input ? (size_t)(dot - input)
                                        : strlen(input);
    j->output = memory_new(1, stem + sizeof ".svg");
    if (!j->output)
        return EXIT_FAILED;
    snprintf(j->output, stem + 1, "%s", given ? given : input);
    if (!given)
        strcat(j->output, ".svg");
    int code = figure_file_check(j->output);
    return code == EXIT_DONE ? output_check(j->call, j->output) : code;
}

static int check_arguments(const plot_job *j)
{
    if (option_value(j->call, "--3d") && j->count != 3)
        return usage_error("--3d needs three columns, as in hamel plot out.csv x y z --3d");
    if (j->count == 0 && j->against != HM_NO_COLUMN)
        return usage_error("--against needs columns to draw against it");
    if (hm_table_row_count(j->table) == 0)
        return usage_error("'%s' has no rows", j->call->arguments[0]);
    return EXIT_DONE;
}

static int report(const plot_job *j)
{
    if (j->call->json) {
        json_t *object = json_pack("{s:s, s:s, s:I, s:I, s:I}", "file", j->call->arguments[0],
                                   "plot", j->output, "rows",
                                   (json_int_t)hm_table_row_count(j->table), "columns",
                                   (json_int_t)hm_table_column_count(j->table), "panels",
                                   (json_int_t)hm_figure_panel_count(j->figure));
        bool good = json_print(object);
        json_decref(object);
        return good ? EXIT_DONE : EXIT_FAILED;
    }
    if (!j->call->quiet) {
        fputs("written: ", stdout);
        print_shown(j->output);
        putchar('\n');
    }
    return EXIT_DONE;
}

static int plot(plot_job *j)
{
    if (!find_columns(j))
        return EXIT_BAD_INPUT;
    int code = check_arguments(j);
    if (code != EXIT_DONE)
        return code;
    code = choose_output(j);
    if (code != EXIT_DONE)
        return code;
    hm_status status = make_figure(j);
    if (status != HM_OK) {
        say("hamel: %s\n", hm_status_text(status));
        return exit_status_of(status);
    }
    return figure_file_write(j->figure, j->output) ? report(j) : EXIT_FAILED;
}

static bool is_model(const char *name)
{
    const char *dot = strrchr(name, '.');
    return find_example(name) || (dot && strcmp(dot, ".hamel") == 0);
}

static int run(const invocation *call)
{
    plot_job j = {.call = call};
    if (call->argument_count == 0)
        return usage_error(
            "the results file is missing: hamel plot FILE.csv; see hamel plot --help");
    hm_context *context = hm_context_create(memory_allocator());
    hm_status status = HM_ERR_NOMEM;
    if (context) {
        status = hm_table_load_csv(context, call->arguments[0], &j.table);
        print_diagnostics(context, call->quiet);
    }
    int code = exit_status_of(status);
    if (status == HM_OK)
        code = plot(&j);
    else if (is_model(call->arguments[0]))
        fprintf(
            stderr,
            "  hint: results come from hamel run %s --csv FILE; its --plot FILE plots them, too\n",
            call->arguments[0]);
    hm_figure_destroy(j.figure);
    hm_table_destroy(j.table);
    free(j.columns);
    free(j.output);
    hm_context_destroy(context);
    return code;
}

static const option_spec options[] = {
    {"-o", "FILE", "the plot, .svg or .png; default: the name of the results file with .svg"},
    {"--against", "COLUMN", "histories against this column; default t"},
    {"--3d", NULL, "three columns as a path in space"},
    {"--equal", NULL, "equal scales on both axes"},
    {"--log", NULL, "logarithmic scale, of absolute values"},
    {"--title", "TEXT", "title above the plot"},
    {0},
};

const command command_plot = {
    .name = "plot",
    .summary = "plot columns of a results file",
    .usage = "FILE.csv [COLUMN...] [options]\n\n"
             "no columns: a page that shows the run; two: the second against the first;\n"
             "otherwise, or with --against: histories",
    .example = "hamel plot out.csv x y -o xy.svg",
    .options = options,
    .many_arguments = true,
    .run = run,
};
