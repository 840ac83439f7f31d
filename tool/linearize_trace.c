/* hamel linearize --param: eigenvalues over a parameter, as a table, a CSV file and a plot. */
#include "figure_file.h"
#include "linearize.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_STEPS = 100000, MOST_CURVES = 40 };

typedef struct trace {
    session *s;
    const invocation *call;
    hm_linearize_options options;
    const char *param;
    double from, to;
    long steps;
    hm_sim *sim;
    hm_table *table; /* parameter, re1, im1, ..., real part of the rightmost, stable */
    size_t curves;   /* eigenvalues, those of the first value */
    double *row, *last;
    json_t *points;
    bool first;
} trace;

/* ---- options ---- */

static bool read_end(const trace *t, const char *option, double *value)
{
    if (option_value(t->call, option))
        return option_number(t->s, t->call, option, value);
    usage_error("--param needs %s", option);
    return false;
}

static int unknown_parameter(const trace *t)
{
    const hm_model *model = t->s->model;
    usage_error("there is no parameter '%s'", t->param);
    for (size_t i = 0; i < hm_model_param_count(model); i++)
        say("%s%s", i ? ", " : "  hint: the parameters are: ", hm_model_param_name(model, i));
    fputs(hm_model_param_count(model) ? "\n" : "", stderr);
    return EXIT_BAD_INPUT;
}

static int read_range(trace *t)
{
    double steps = 20;
    if (!read_end(t, "--from", &t->from) || !read_end(t, "--to", &t->to))
        return EXIT_BAD_INPUT;
    if (!option_number(t->s, t->call, "--steps", &steps))
        return EXIT_BAD_INPUT;
    if (!(steps >= 1 && steps <= MOST_STEPS) || steps != floor(steps))
        return usage_error("--steps is a whole number from 1 to %d", MOST_STEPS);
    t->steps = (long)steps;
    const char *plot = option_value(t->call, "--plot");
    int code = plot ? figure_file_check(plot) : EXIT_DONE;
    if (code != EXIT_DONE)
        return code;
    for (size_t i = 0; i < hm_model_param_count(t->s->model); i++)
        if (strcmp(hm_model_param_name(t->s->model, i), t->param) == 0)
            return hm_model_param_structural(t->s->model, i)
                       ? usage_error("parameter '%s' sets a size and cannot be varied", t->param)
                       : EXIT_DONE;
    return unknown_parameter(t);
}

/* ---- one value ---- */

/* The initial state of the file as it reads with this value. */
static int take_state(trace *t, double value)
{
    char text[32];
    session again;
    snprintf(text, sizeof text, "%.17g", value);
    int status = session_reread(t->s, t->call, t->param, text, &again);
    if (status == EXIT_DONE) {
        hm_status read = state_from_text(t->sim, again.model, option_value(t->call, "--at"));
        status = exit_status_of(read);
        print_sim_diagnostics(t->sim, true);
    }
    session_close(&again);
    return status;
}

static int linearize_at(trace *t, double value, hm_linearization **l)
{
    const hm_moved *moved = NULL;
    size_t count = 0;
    hm_status status = hm_sim_set_param(t->sim, t->param, value);
    if (status != HM_OK)
        return exit_status_of(status);
    if (t->first || !t->options.find) { /* a search goes on from the last result */
        int taken = take_state(t, value);
        if (taken != EXIT_DONE)
            return taken;
    }
    if (!hm_run_options_default(t->s->model).keep_initial)
        status = hm_sim_make_consistent(t->sim, false, &moved, &count);
    if (status == HM_OK)
        status = hm_sim_linearize(t->sim, &t->options, l);
    return exit_status_of(status);
}

/* ---- the table ---- */

static int start_table(trace *t, size_t curves)
{
    size_t columns = 2 * curves + 3;
    char(*texts)[24] = memory_new(columns, sizeof *texts);
    const char **names = memory_new(columns, sizeof *names);
    hm_status status = HM_ERR_NOMEM;
    t->curves = curves;
    t->row = memory_new(columns, sizeof *t->row);
    t->last = memory_new(2 * curves + 1, sizeof *t->last);
    if (texts && names && t->row && t->last) {
        names[0] = t->param;
        for (size_t k = 0; k < 2 * curves; k++) {
            snprintf(texts[k], sizeof *texts, "%s%zu", k % 2 ? "im" : "re", k / 2 + 1);
            names[1 + k] = texts[k];
        }
        names[columns - 2] = "largest_re";
        names[columns - 1] = "stable";
        status = hm_table_create(memory_allocator(), columns, names, &t->table);
    }
    free(texts);
    free(names);
    return exit_status_of(status);
}

/* Eigenvalues in the order of the last row: each takes the nearest that is left. */
static void follow(trace *t, const hm_linearization *l)
{
    bool taken[2 * MOST_CURVES] = {false};
    for (size_t k = 0; k < t->curves; k++) {
        size_t best = l->dimension;
        double nearest = INFINITY;
        for (size_t i = 0; i < l->dimension && i < 2 * MOST_CURVES && l->A; i++) {
            double distance = t->first
                                  ? (double)i
                                  : hypot(l->re[i] - t->last[2 * k], l->im[i] - t->last[2 * k + 1]);
            if (!taken[i] && distance < nearest) {
                nearest = distance;
                best = i;
            }
        }
        bool found = best < l->dimension;
        if (found)
            taken[best] = true;
        t->row[1 + 2 * k] = t->last[2 * k] = found ? l->re[best] : NAN;
        t->row[2 + 2 * k] = t->last[2 * k + 1] = found ? l->im[best] : NAN;
    }
}

/* The largest real part of eigenvalues that are not zeros of a family. */
static double rightmost(const hm_linearization *l)
{
    double largest = -INFINITY;
    for (size_t k = 0; k < l->dimension && l->A; k++)
        if (!(l->family && hypot(l->re[k], l->im[k]) <= l->error[k]))
            largest = fmax(largest, fabs(l->re[k]) <= l->error[k] ? 0 : l->re[k]);
    return largest;
}

static void print_row(const trace *t, const hm_linearization *l)
{
    if (t->first)
        printf("%12s  %-9s %14s  eigenvalues\n", t->param, "", "largest re");
    printf("%12.6g  %-9s %14.8g ", t->row[0],
           l->rest == HM_REST_NONE ? "no rest" : hm_stability_text(l->stability), rightmost(l));
    for (size_t k = 0; k < l->dimension && k < MOST_CURVES && l->A; k++) {
        double re = fabs(l->re[k]) <= l->error[k] ? 0 : l->re[k];
        if (l->im[k] > l->error[k])
            printf("  %.7g±%.7gi", re, l->im[k]);
        else if (l->im[k] >= 0)
            printf("  %.7g", re);
    }
    printf("\n");
}

static int add_point(trace *t, double value, const hm_linearization *l)
{
    if (t->first) {
        int status = start_table(t, l->dimension < MOST_CURVES ? l->dimension : MOST_CURVES);
        if (status != EXIT_DONE)
            return status;
    }
    t->row[0] = value;
    follow(t, l);
    t->row[2 * t->curves + 1] = rightmost(l);
    t->row[2 * t->curves + 2] = l->stability == HM_STABILITY_UNDECIDED ? NAN
                                                                       : (double)l->stability / 2;
    if (t->call->json)
        json_array_append_new(t->points, json_pack("{s:f, s:o, s:o, s:b, s:o}", "value", value,
                                                   "eigenvalues", eigenvalue_list(l), "stable",
                                                   stable_value(l), "equilibrium", is_at_rest(l),
                                                   "residual", json_number_or_null(l->residual)));
    else
        print_row(t, l);
    return exit_status_of(hm_table_add_row(t->table, t->row));
}

static int run_values(trace *t)
{
    for (long k = 0; k <= t->steps; k++) {
        double part = (double)k / (double)t->steps, value = t->from + part * (t->to - t->from);
        hm_linearization *l = NULL;
        t->first = k == 0;
        int status = linearize_at(t, value, &l);
        if (status == EXIT_DONE)
            status = add_point(t, value, l);
        hm_linearization_destroy(l);
        if (status != EXIT_DONE) {
            fflush(stdout);
            print_sim_diagnostics(t->sim, t->call->quiet);
            say("hamel: stopped at %s = %.6g\n", t->param, value);
            return status;
        }
        hm_context_clear(hm_sim_context(t->sim));
    }
    return EXIT_DONE;
}

/* ---- files ---- */

static bool write_csv(const trace *t, const char *path)
{
    size_t columns = hm_table_column_count(t->table);
    hm_csv_writer *writer = NULL;
    const char **names = memory_new(columns, sizeof *names);
    bool good = names != NULL;
    for (size_t j = 0; j < columns && good; j++)
        names[j] = hm_table_name(t->table, j);
    hm_status status = good ? hm_csv_create(memory_allocator(), path, columns, names, &writer)
                            : HM_ERR_NOMEM;
    for (size_t i = 0; i < hm_table_row_count(t->table) && status == HM_OK; i++) {
        for (size_t j = 0; j < columns; j++)
            t->row[j] = hm_table_column(t->table, j)[i];
        status = hm_csv_row(writer, t->row);
    }
    if (status == HM_OK)
        status = hm_csv_finish(writer, true);
    if (status != HM_OK)
        say("hamel: cannot write '%s': %s\n", path,
            status == HM_ERR_IO ? hm_csv_error(writer) : hm_status_text(status));
    hm_csv_destroy(writer);
    free(names);
    return status == HM_OK;
}

static hm_status add_panel(const trace *t, hm_figure *figure, size_t part, const char *label)
{
    hm_curve curves[MOST_CURVES];
    for (size_t k = 0; k < t->curves; k++)
        curves[k] = (hm_curve){.label = NULL,
                               .x = hm_table_column(t->table, 0),
                               .y = hm_table_column(t->table, 1 + 2 * k + part),
                               .count = hm_table_row_count(t->table)};
    hm_panel panel = {.x_label = t->param, .y_label = label, .curves = curves};
    panel.curve_count = t->curves;
    return hm_figure_add(figure, &panel);
}

static bool write_plot(const trace *t, const char *path)
{
    hm_figure *figure = NULL;
    char title[160];
    snprintf(title, sizeof title, "%s: eigenvalues over %s", hm_model_name(t->s->model), t->param);
    hm_status status = hm_figure_create(memory_allocator(), title, NULL, &figure);
    if (status == HM_OK)
        status = add_panel(t, figure, 0, "real part");
    if (status == HM_OK)
        status = add_panel(t, figure, 1, "imaginary part");
    bool good = status == HM_OK && figure_file_write(figure, path);
    hm_figure_destroy(figure);
    return good;
}

static int write_files(const trace *t)
{
    const char *csv = option_value(t->call, "--csv"), *plot = option_value(t->call, "--plot");
    bool good = !csv || write_csv(t, csv);
    good = (!plot || write_plot(t, plot)) && good;
    return good ? EXIT_DONE : EXIT_FAILED;
}

static int print_points(trace *t)
{
    json_t *object = json_pack("{s:s, s:s, s:O}", "model", hm_model_name(t->s->model), "param",
                               t->param, "points", t->points);
    bool written = json_print(object);
    json_decref(object);
    return written ? EXIT_DONE : EXIT_FAILED;
}

int linearize_trace(session *s, const invocation *call, const hm_linearize_options *options)
{
    trace t = {.s = s, .call = call, .options = *options, .points = json_array()};
    t.param = option_value(call, "--param");
    if (options->ignorable == HM_IGNORABLE_WHEN_MOVING) /* the same variables at every value */
        t.options.ignorable = HM_IGNORABLE_DROP;
    int status = read_range(&t);
    if (status == EXIT_DONE)
        status = exit_status_of(hm_sim_create(s->system, &t.sim));
    if (status == EXIT_DONE)
        status = run_values(&t);
    if (t.table && status == EXIT_DONE)
        status = write_files(&t);
    if (t.table && call->json) {
        int written = print_points(&t);
        status = status == EXIT_DONE ? written : status;
    }
    hm_table_destroy(t.table);
    hm_sim_destroy(t.sim);
    json_decref(t.points);
    free(t.row);
    free(t.last);
    return status;
}
