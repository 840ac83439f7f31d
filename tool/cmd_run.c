/* hamel run: simulate. Options, callbacks and exit statuses; rows go through run_files.c, the
 * summary through run_report.c. */
#include "command.h"
#include "ensemble.h"
#include "figure_file.h"
#include "progress.h"
#include "run_files.h"
#include "run_options.h"
#include "run_report.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

typedef struct job {
    run_files files;
    progress progress;
} job;

/* ---- options ---- */

static int read_files(const invocation *call, run_files *files, unsigned *groups)
{
    const char *columns = option_value(call, "--columns");
    files->csv_path = option_value(call, "--csv");
    files->hdf5_path = option_value(call, "--hdf5");
    files->plot_path = option_value(call, "--plot");
    files->event_rows = option_value(call, "--event-rows") != NULL;
    *groups = 0;
    if (columns && !columns_parse(columns, groups))
        return EXIT_BAD_INPUT;
    int code = files->hdf5_path ? hdf5_check("use --csv") : EXIT_DONE;
    if (code == EXIT_DONE && files->plot_path)
        code = figure_file_check(files->plot_path);
    return code;
}

/* ---- callbacks ---- */

static bool on_frame(void *user, const hm_frame *frame)
{
    job *j = user;
    return run_files_add(&j->files, frame) && !interrupt_seen();
}

static bool on_progress(void *user, double t, double part)
{
    job *j = user;
    progress_update(&j->progress, t, part);
    return !interrupt_seen();
}

/* ---- the command ---- */

static int exit_status(hm_status status, const hm_run_result *result, bool files_good)
{
    if (result->status == HM_RUN_INTERRUPTED && files_good)
        return EXIT_INTERRUPTED;
    if (!files_good || result->status == HM_RUN_FAILED)
        return EXIT_FAILED;
    return exit_status_of(status);
}

static void say_how_it_ended(const hm_run_result *result, bool files_failed)
{
    const char *why = result->message ? result->message : "";
    if (result->status == HM_RUN_INTERRUPTED && !files_failed)
        say("hamel: interrupted at t = %.10g\n", result->t_end);
    else if (result->status == HM_RUN_FAILED && strstr(why, "t = "))
        say("hamel: the run failed: %s\n", why);
    else if (result->status == HM_RUN_FAILED)
        say("hamel: the run failed at t = %.10g%s%s\n", result->t_end, why[0] ? ": " : "", why);
}

static int report(const invocation *call, session *s, job *j, const hm_run_options *options,
                  hm_status status, hm_run_result *result)
{
    bool complete = result->status == HM_RUN_OK || result->status == HM_RUN_EVENT;
    bool failed_early = j->files.failed;
    say_how_it_ended(result, failed_early);
    bool files_good = run_files_finish(&j->files, result, complete);
    if (failed_early) { /* the callback stopped it, but nobody interrupted */
        result->status = HM_RUN_FAILED;
        result->message = "the results could not be written";
    }
    run_report r = {s->model,
                    options,
                    result,
                    complete && files_good ? j->files.csv_path : NULL,
                    complete && files_good ? j->files.hdf5_path : NULL,
                    files_good ? j->files.plot_path : NULL};
    for (size_t i = 0; !call->quiet && i < result->warning_count; i++)
        say("hamel: warning: %s\n", result->warnings[i]);
    bool written = true;
    if (call->json)
        written = run_report_json(&r);
    else
        run_report_print(&r);
    int code = exit_status(status, result, files_good);
    return written ? code : EXIT_FAILED;
}

/* Did anything run? (Else the errors are in the sim's context.) */
static bool started(hm_status status)
{
    return status == HM_OK || status == HM_ERR_NUMERIC || status == HM_ERR_UNDETERMINED ||
           status == HM_ERR_INCONSISTENT || status == HM_ERR_LIMIT;
}

static int simulate(const invocation *call, session *s, job *j, hm_sim *sim,
                    hm_run_options *options)
{
    hm_run_result result = {0};
    options->content = run_files_content(&j->files);
    options->on_frame = on_frame;
    options->on_progress = on_progress;
    options->user = j;
    interrupt_watch();
    progress_start(&j->progress, call->quiet);
    hm_status status = hm_sim_run(sim, options, &result);
    progress_end(&j->progress);
    size_t errors = hm_context_error_count(hm_sim_context(sim));
    print_sim_diagnostics(sim, call->quiet);
    if (!started(status) || !result.q) {
        if (errors == 0)
            say("hamel: %s\n",
                result.message && result.message[0] ? result.message : hm_status_text(status));
        return exit_status_of(status);
    }
    return report(call, s, j, options, status, &result);
}

static int run_model(const invocation *call, session *s, job *j, unsigned groups)
{
    hm_run_options options = hm_run_options_default(s->model);
    const char *at = option_value(call, "--at");
    hm_sim *sim = NULL;
    hm_status status = hm_sim_create(s->system, &sim);
    if (status == HM_OK && at)
        status = state_from_text(sim, s->model, at);
    if (status == HM_OK && at)
        options.start = hm_sim_time(sim);
    int code = exit_status_of(status);
    if (status == HM_OK && !run_options_read(s, call, &options))
        code = EXIT_BAD_INPUT;
    else if (status == HM_OK && option_value(call, "--ensemble"))
        code = run_ensemble(call, s, &options);
    else if (status == HM_OK && !run_files_create(&j->files, s->model, groups))
        code = exit_status_of(status = HM_ERR_NOMEM);
    else if (status == HM_OK)
        code = simulate(call, s, j, sim, &options);
    print_sim_diagnostics(sim, call->quiet);
    run_files_destroy(&j->files);
    hm_sim_destroy(sim);
    return code;
}

static int run(const invocation *call)
{
    session s;
    job j = {0};
    unsigned groups;
    int code = read_files(call, &j.files, &groups);
    if (code != EXIT_DONE)
        return code;
    if (option_value(call, "--jobs") && !option_value(call, "--ensemble"))
        return usage_error("--jobs needs --ensemble");
    code = session_open(&s, call, true);
    if (code == EXIT_DONE)
        code = run_model(call, &s, &j, groups);
    session_close(&s);
    return code;
}

static const option_spec options[] = {
    {"--csv", "FILE", "t, coordinates, velocities, outputs (and states) at the output times"},
    {"--plot", "FILE", "a page of plots, .svg or .png: path, histories, energy, violation"},
    {"--hdf5", "FILE", "the columns as HDF5 datasets, for large runs"},
    {"--columns", "LIST",
     "more columns for --csv and --hdf5: energy, work, violation, residual,\n"
     "                         lambda, Qc, Qi, Qni, u, acceleration, check, all"},
    {"--event-rows", NULL, "also rows at events (before each, and after one that sets values)"},
    {"--from", "T", "start; numbers may be expressions, as in --to '2*pi'"},
    {"--to", "T", "end"},
    {"--every", "DT", "time between outputs"},
    {"--rtol", "R", "relative tolerance per step"},
    {"--atol", "A", "absolute tolerance per step"},
    {"--step", "H", "step of the fixed-step methods; first step of the others"},
    {"--method", "NAME", "auto, rk5, dop853, taylor, radau, rattle, dla, midpoint"},
    {"--drift", "HOW", "project, baumgarte, baumgarte(a,b) or none"},
    {"--formulation", "NAME", "auto, uk, gram, kkt, nullspace, gauss, singular, dirac"},
    {"--max-steps", "N", "of a run; 0: no limit; default 1e9"},
    {"--max-rows", "N", "output times of a run; default 1e9"},
    {"--max-events", "N", "events and impacts of a run; default 1e8"},
    {"--at", "STATE",
     "start from here, as in \"x=1, x'=0.2, t=0\"; others: as in the initial state"},
    {"--ensemble", "FILE",
     "one run per line of a CSV file, whose header names parameters,\n                         "
     "coordinates, velocities (x'), states, inputs"},
    {"--jobs", "N", "threads of an ensemble; default: one per processor"},
    {"--engine", "NAME", "auto, interp (portable) or jit (machine code): same results"},
    {0},
};

const command command_run = {
    .name = "run",
    .summary = "simulate: a summary, results as CSV, plots",
    .usage = "MODEL [options]",
    .example = "hamel run skate --to 20 --csv skate.csv --plot skate.svg",
    .options = options,
    .needs_model = true,
    .run = run,
};
