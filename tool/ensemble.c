/* hamel run --ensemble: reads the members, runs them, and writes their results. */
#include "ensemble.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- the file ---- */

/* The line of the file that row `row` of the table came from; empty lines are no rows. */
static long line_of_row(const char *path, size_t row)
{
    FILE *file = fopen(path, "rb");
    long line = 1;
    size_t rows = 0;
    bool empty = true;
    for (int c; file && (c = getc(file)) != EOF;) {
        if (c != '\n') {
            empty = empty && c == '\r';
            continue;
        }
        rows += !empty;
        if (rows == row + 2) /* the header is one */
            break;
        line++;
        empty = true;
    }
    if (file)
        fclose(file);
    return line;
}

static bool find_columns(ensemble *e)
{
    const hm_table *t = e->table;
    for (size_t c = 0; c < e->inputs; c++) {
        if (hm_ensemble_find_column(e->s->context, e->s->model, hm_table_name(t, c),
                                    &e->columns[c]) == HM_OK)
            continue;
        print_diagnostics(e->s->context, e->call->quiet);
        usage_error("%s:1: column %zu, '%s', sets nothing", e->file, c + 1, hm_table_name(t, c));
        return false;
    }
    return true;
}

static bool take_values(ensemble *e)
{
    const hm_table *t = e->table;
    for (size_t i = 0; i < hm_table_row_count(t); i++)
        for (size_t c = 0; c < e->inputs; c++) {
            double value = hm_table_column(t, c)[i];
            e->values[i * e->inputs + c] = value;
            if (isfinite(value))
                continue;
            usage_error("%s:%ld: column %zu, '%s': %s", e->file, line_of_row(e->file, i), c + 1,
                        hm_table_name(t, c),
                        isnan(value) ? "the value is missing" : "the value is not finite");
            return false;
        }
    return true;
}

static int read_members(ensemble *e)
{
    hm_status status = hm_table_load_csv(e->s->context, e->file, &e->table);
    bool said = hm_context_diagnostic_count(e->s->context) > 0; /* a torn last line is a warning */
    print_diagnostics(e->s->context, false);
    if (status != HM_OK || said)
        return status == HM_OK ? EXIT_BAD_INPUT : exit_status_of(status);
    size_t rows = hm_table_row_count(e->table);
    e->inputs = hm_table_column_count(e->table);
    if (rows == 0)
        return usage_error("%s: there are no members, only a header", e->file);
    e->columns = memory_new(e->inputs, sizeof *e->columns);
    e->values = memory_new(rows * e->inputs, sizeof *e->values);
    e->final = memory_new(2 * e->n + e->states + 1, sizeof *e->final);
    e->row = memory_new(e->inputs + 2 * e->n + e->states + e->outputs + 5, sizeof *e->row);
    if (!e->columns || !e->values || !e->final || !e->row)
        return EXIT_FAILED;
    return find_columns(e) && take_values(e) ? EXIT_DONE : EXIT_BAD_INPUT;
}

/* ---- rows ---- */

static bool cannot_write(ensemble *e, const char *why)
{
    say("hamel: cannot write '%s'%s%s\n", e->csv_path, why[0] ? ": " : "", why);
    e->failed = true;
    return false;
}

/* member, the file's columns ("x(0)" where x is a final value too), t, q, v, z, outputs; and
 * without trajectories status, violation, balance_error */
static size_t list_names(const ensemble *e, char (*names)[128])
{
    size_t count = 0, finals = 2 * e->n + e->states;
    snprintf(names[count++], 128, "member");
    for (size_t c = 0; c < e->inputs; c++) {
        hm_column_kind kind = e->columns[c].kind;
        bool plain = kind == HM_COLUMN_PARAM || kind == HM_COLUMN_INPUT;
        snprintf(names[count++], 128, "%s%s", hm_table_name(e->table, c), plain ? "" : "(0)");
    }
    snprintf(names[count++], 128, "t");
    for (size_t i = 0; i < finals; i++)
        ensemble_value_name(e, i, names[count++]);
    for (size_t i = 0; i < e->outputs; i++)
        snprintf(names[count++], 128, "%s", hm_model_output_name(e->s->model, i));
    if (!e->trajectories) {
        snprintf(names[count++], 128, "status");
        snprintf(names[count++], 128, "violation");
        snprintf(names[count++], 128, "balance_error");
    }
    return count;
}

static bool open_csv(ensemble *e)
{
    size_t most = e->inputs + 2 * e->n + e->states + e->outputs + 5;
    char(*names)[128] = memory_new(most, sizeof *names);
    const char **list = memory_new(most, sizeof *list);
    hm_status status = names && list ? HM_OK : HM_ERR_NOMEM;
    if (status == HM_OK) {
        size_t count = list_names(e, names);
        for (size_t i = 0; i < count; i++)
            list[i] = names[i];
        status = hm_csv_create(memory_allocator(), e->csv_path, count, list, &e->csv);
    }
    free(names);
    free(list);
    if (status == HM_OK)
        return true;
    return cannot_write(e, e->csv ? hm_csv_error(e->csv) : hm_status_text(status));
}

static double *append(double *at, const double *values, size_t count)
{
    for (size_t i = 0; i < count; i++)
        at[i] = values ? values[i] : NAN;
    return at + count;
}

/* The part that frames and results share; returns its end. */
static double *start_row(const ensemble *e, size_t member, double t, const double *q,
                         const double *v, const double *z, const double *outputs)
{
    double *at = e->row;
    *at++ = (double)member + 1;
    at = append(at, e->values + member * e->inputs, e->inputs);
    *at++ = t;
    at = append(at, q, e->n);
    at = append(at, v, e->n);
    at = append(at, z, e->states);
    return append(at, outputs, e->outputs);
}

static bool write_row(ensemble *e)
{
    if (!e->csv && !open_csv(e))
        return false;
    hm_status status = hm_csv_row(e->csv, e->row);
    if (status == HM_OK)
        return true;
    return cannot_write(e, status == HM_ERR_IO ? hm_csv_error(e->csv) : hm_status_text(status));
}

static bool on_frame(void *user, size_t member, const hm_frame *frame)
{
    ensemble *e = user;
    if (frame->reason == HM_FRAME_REASON_EVENT)
        return true;
    start_row(e, member, frame->t, frame->q, frame->v, frame->z, frame->outputs);
    return write_row(e);
}

/* ---- results ---- */

static void add_value(spread *s, double value, size_t count)
{
    double distance = value - s->mean;
    s->least = count == 1 || value < s->least ? value : s->least;
    s->largest = count == 1 || value > s->largest ? value : s->largest;
    s->mean += distance / (double)count;
    s->squares += distance * (value - s->mean);
}

static void add_spread(ensemble *e, const hm_member_result *r)
{
    e->counted++;
    for (size_t i = 0; i < e->n; i++) {
        add_value(&e->final[i], r->q[i], e->counted);
        add_value(&e->final[e->n + i], r->v[i], e->counted);
    }
    for (size_t i = 0; i < e->states; i++)
        add_value(&e->final[2 * e->n + i], r->z[i], e->counted);
    e->violation = fmax(e->violation, r->violation);
    e->balance_error = fmax(e->balance_error, r->balance_error);
}

static void keep_failure(ensemble *e, const hm_member_result *r)
{
    if (e->failure_count == MOST_FAILURES)
        return;
    char *message = memory_new(1, strlen(r->message) + 1);
    if (message)
        strcpy(message, r->message);
    e->failures[e->failure_count++] = (failure){r->member, message};
}

static bool on_member(void *user, const hm_member_result *r)
{
    ensemble *e = user;
    if (r->status == HM_RUN_FAILED)
        keep_failure(e, r);
    else
        add_spread(e, r);
    if (!e->csv_path || e->trajectories)
        return true;
    double *at = start_row(e, r->member, r->t_end, r->q, r->v, r->z, r->outputs);
    *at++ = (double)r->status;
    *at++ = r->q ? r->violation : NAN;
    *at++ = r->q && r->has_total ? r->balance_error : NAN;
    return write_row(e);
}

static bool on_progress(void *user, size_t done, size_t count)
{
    ensemble *e = user;
    double part = (double)done / (double)count;
    progress_update(&e->progress, e->run.start + part * (e->run.end - e->run.start), part);
    return !interrupt_seen();
}

/* ---- the command ---- */

static bool read_jobs(const invocation *call, unsigned *jobs)
{
    const char *text = option_value(call, "--jobs");
    char *end = NULL;
    long value = text ? strtol(text, &end, 10) : 0;
    *jobs = (unsigned)value;
    if (!text || (end != text && *end == '\0' && value >= 1 && value <= 256))
        return true;
    usage_error("--jobs needs a whole number from 1 to 256, not '%s'", text);
    return false;
}

static bool options_fit(const invocation *call)
{
    static const char *const others[] = {"--at",      "--plot",       "--hdf5",
                                         "--columns", "--event-rows", NULL};
    for (size_t i = 0; others[i]; i++)
        if (option_value(call, others[i])) {
            usage_error("%s cannot be combined with --ensemble", others[i]);
            return false;
        }
    return true;
}

static bool finish_csv(ensemble *e, bool complete)
{
    if (!e->csv || e->failed)
        return !e->failed;
    bool good = hm_csv_finish(e->csv, complete) == HM_OK;
    if (!good)
        cannot_write(e, hm_csv_error(e->csv));
    else if (!complete)
        say("hamel: the completed members are in %s\n", hm_csv_path(e->csv));
    return good;
}

static int conclude(ensemble *e, hm_status status)
{
    bool interrupted = e->result.interrupted > 0 && !e->failed;
    bool good = finish_csv(e, !interrupted && status == HM_OK);
    print_diagnostics(e->s->context, e->call->quiet);
    if (status != HM_OK) {
        say("hamel: %s\n", hm_status_text(status));
        return exit_status_of(status);
    }
    if (interrupted)
        say("hamel: interrupted: %zu of %zu members completed\n",
            e->result.members - e->result.interrupted, e->result.members);
    if (e->call->json)
        good = ensemble_json(e) && good;
    else
        ensemble_print(e);
    return interrupted ? EXIT_INTERRUPTED : !good || e->result.failed ? EXIT_FAILED : EXIT_DONE;
}

static int run_members(ensemble *e, unsigned jobs)
{
    hm_ensemble_options options = hm_ensemble_options_default(e->s->model);
    const hm_ensemble_members members = {.count = hm_table_row_count(e->table),
                                         .column_count = e->inputs,
                                         .columns = e->columns,
                                         .values = e->values};
    hm_run_options own = options.run; /* times that members have of their own are NAN */
    options.run = e->run;
    if (!option_value(e->call, "--from") && isnan(own.start))
        options.run.start = NAN;
    if (!option_value(e->call, "--to") && isnan(own.end))
        options.run.end = NAN;
    if (!option_value(e->call, "--every") && isnan(own.every))
        options.run.every = NAN;
    options.run.content = e->csv_path && e->outputs ? HM_FRAME_CONTENT_FORCES
                                                    : HM_FRAME_CONTENT_STATE;
    options.jobs = jobs;
    options.on_member = on_member;
    options.on_frame = e->csv_path && e->trajectories ? on_frame : NULL;
    options.on_progress = on_progress;
    options.user = e;
    interrupt_watch();
    progress_start(&e->progress, e->call->quiet);
    hm_status status = hm_ensemble_run(e->s->context, e->s->system, &members, &options, &e->result);
    progress_end(&e->progress);
    return conclude(e, status);
}

int run_ensemble(const invocation *call, session *s, const hm_run_options *run)
{
    ensemble e = {.call = call,
                  .s = s,
                  .run = *run,
                  .file = option_value(call, "--ensemble"),
                  .csv_path = option_value(call, "--csv"),
                  .trajectories = option_value(call, "--every") != NULL,
                  .n = hm_model_coordinate_count(s->model),
                  .states = hm_model_state_count(s->model),
                  .outputs = hm_model_output_count(s->model)};
    unsigned jobs;
    int code = options_fit(call) && read_jobs(call, &jobs) ? read_members(&e) : EXIT_BAD_INPUT;
    if (code == EXIT_DONE)
        code = run_members(&e, jobs);
    for (size_t i = 0; i < e.failure_count; i++)
        free(e.failures[i].message);
    hm_csv_destroy(e.csv);
    hm_table_destroy(e.table);
    free(e.columns);
    free(e.values);
    free(e.final);
    free(e.row);
    return code;
}
