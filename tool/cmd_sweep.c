/* hamel sweep: many runs over parameters, initial states and inputs, reduced to measures. */
#include "hdf5_file.h"
#include "output_file.h"
#include "run_options.h"
#include "sweep_ranks.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- callbacks ---- */

static double *put(double *at, const double *values, size_t count)
{
    for (size_t i = 0; i < count; i++)
        at[i] = values ? values[i] : NAN;
    return at + count;
}

static bool on_row(void *user, const hm_sweep_row *row)
{
    sweep *s = user;
    double *at = s->line;
    *at++ = (double)row->point;
    at = put(at, row->values, hm_sweep_plan_columns(s->plan));
    at = put(at, row->measures, hm_measures_count(s->measures));
    s->next = row->point + 1;
    s->failed += row->status == HM_RUN_FAILED;
    if (!s->keep_every &&
        !rows_add(s, s->line, (size_t)(at - s->line), hm_run_status_text(row->status)))
        return false;
    return !interrupt_seen();
}

/* Rows of trajectories come before the row of their point. */
static bool on_frame(void *user, size_t point, const hm_frame *frame)
{
    sweep *s = user;
    const hm_model *model = s->s->model;
    size_t n = hm_model_coordinate_count(model), columns = hm_sweep_plan_columns(s->plan);
    double *at = s->line;
    if (frame->reason == HM_FRAME_REASON_EVENT)
        return true;
    *at++ = (double)point;
    hm_sweep_plan_point(s->plan, point, at);
    at += columns;
    *at++ = frame->t;
    at = put(at, frame->q, n);
    at = put(at, frame->v, n);
    at = put(at, frame->outputs, hm_model_output_count(model));
    at = put(at, frame->z, hm_model_state_count(model));
    return rows_add(s, s->line, (size_t)(at - s->line), NULL) && !interrupt_seen();
}

static bool on_progress(void *user, size_t done, size_t count)
{
    sweep *s = user;
    if (s->shared) { /* `done` is that of a piece */
        done += share_done(s);
        count = s->end - s->first;
    }
    progress_count(&s->progress, done, count);
    return !interrupt_seen();
}

/* ---- the command ---- */

static int out_of_memory(void)
{
    say("hamel: %s\n", hm_status_text(HM_ERR_NOMEM));
    return EXIT_FAILED;
}

/* Statistics, FILE and the plot, from all rows. */
static bool publish(sweep *s)
{
    return sweep_find_statistics(s) && rows_publish(s, option_value(s->call, "--shard") != NULL) &&
           sweep_plot(s);
}

static void say_what_is_left(const sweep *s)
{
    if (s->out)
        say("hamel: %zu of %zu points are done, in %s%s; --resume does the others\n",
            s->next - s->first, s->end - s->first, s->shared ? s->out : s->rows_path,
            s->shared ? ".part-*" : "");
}

static int report(sweep *s, hm_status status)
{
    bool complete = status == HM_OK && s->next == s->end && !s->broken;
    bool good = !s->broken && (s->shared || rows_sync(s));
    if (good && (complete || !s->shared))
        good = complete ? publish(s) : sweep_find_statistics(s);
    if (status != HM_OK) {
        say("hamel: %s\n", hm_status_text(status));
        return exit_status_of(status);
    }
    if (!complete)
        say_what_is_left(s);
    bool written = true;
    if (s->call->json)
        written = sweep_json(s);
    else if (good)
        sweep_print(s);
    if (complete && good)
        rows_discard(s);
    if (!complete && !s->broken && interrupt_seen())
        return EXIT_INTERRUPTED;
    return complete && good && written && s->failed == 0 ? EXIT_DONE : EXIT_FAILED;
}

static int run_points(sweep *s)
{
    hm_sweep_options options = hm_sweep_options_default(s->s->model, s->plan);
    options.run = s->run;
    options.run.content = HM_FRAME_CONTENT_STATE;
    options.jobs = s->jobs;
    options.first = s->next;
    options.end = s->end;
    options.on_row = on_row;
    options.on_frame = s->keep_every ? on_frame : NULL;
    options.on_progress = on_progress;
    options.user = s;
    interrupt_watch();
    terminate_watch();
    progress_start(&s->progress, s->call->quiet);
    hm_status status = s->shared ? share_run(s, &options)
                                 : hm_sweep_run(s->s->context, s->s->system, s->plan, s->measures,
                                                &options, &s->result);
    progress_end(&s->progress);
    print_diagnostics(s->s->context, s->call->quiet);
    if (s->ranks->rank > 0)
        return s->broken ? EXIT_FAILED : exit_status_of(status);
    return report(s, status);
}

/* FILE, FILE.shard-I-of-N, and FILE.rows beside it. */
static int name_files(sweep *s, unsigned long long index, unsigned long long count)
{
    const char *out = option_value(s->call, "--out");
    bool shard = option_value(s->call, "--shard") != NULL;
    if (!out && (shard || s->keep_every || option_value(s->call, "--resume")))
        return usage_error("%s needs --out FILE", shard           ? "--shard"
                                                  : s->keep_every ? "--keep every"
                                                                  : "--resume");
    if (!out)
        return EXIT_DONE;
    size_t size = strlen(out) + 80;
    char *path = memory_new(1, size);
    s->rows_path = memory_new(1, size + 8);
    s->out_text = path;
    if (!path || !s->rows_path)
        return out_of_memory();
    if (shard)
        snprintf(path, size, "%s.shard-%llu-of-%llu", out, index, count);
    else
        snprintf(path, size, "%s", out);
    snprintf(s->rows_path, size + 8, "%s.rows", path);
    s->out = path;
    return output_check(s->call, path);
}

/* --jobs; under mpirun the share of this process. */
static bool read_jobs(sweep *s)
{
    unsigned long long jobs = 0;
    if (!sweep_read_count(s->call, "--jobs", 1, &jobs))
        return false;
    s->jobs = (unsigned)(jobs < 256 ? jobs : 256);
    if (!jobs && s->ranks->size > 1)
        s->jobs = ranks_jobs(s->ranks);
    return true;
}

/* Parts of an earlier session are taken up also by one process. */
static int open_rows(sweep *s)
{
    bool resume = option_value(s->call, "--resume") != NULL;
    part_list parts = {0};
    if (s->out && !parts_find(s, &parts))
        return out_of_memory();
    for (size_t i = 0; i < parts.count; i++)
        s->shared |= strcmp(parts.paths[i], s->rows_path) != 0;
    parts_release(&parts);
    s->shared |= s->ranks->size > 1;
    return s->shared ? share_prepare(s) : rows_open(s, resume);
}

static int prepare(sweep *s)
{
    unsigned long long index, count;
    int code = sweep_make_plan(s);
    if (code != EXIT_DONE)
        return code;
    if (!run_options_read(s->s, s->call, &s->run) || !sweep_read_keep(s) || !read_jobs(s) ||
        !sweep_read_shard(s, &index, &count))
        return EXIT_BAD_INPUT;
    if (!sweep_list_names(s) || !sweep_describe(s))
        return out_of_memory();
    s->line = memory_new(s->name_count + hm_measures_count(s->measures) + 1, sizeof *s->line);
    if (!s->line)
        return out_of_memory();
    s->next = s->first;
    sweep_identify(s, index, count);
    code = name_files(s, index, count);
    return code == EXIT_DONE ? open_rows(s) : code;
}

static void close_sweep(sweep *s)
{
    if (s->rows)
        fclose(s->rows);
    for (size_t i = 0; i < s->name_count; i++)
        free(s->names[i]);
    free(s->names);
    free(s->line);
    free(s->rows_path);
    free(s->part_path);
    free(s->about);
    free(s->out_text);
    free(s->statistics);
    hm_sweep_plan_destroy(s->plan);
}

static int sweep_model(const invocation *call, hm_measures *measures, ranks *r)
{
    session s;
    sweep w = {.call = call, .s = &s, .measures = measures, .ranks = r};
    int code = session_open_with(&s, call, true, hm_measures_statements(measures), "--measure");
    if (code == EXIT_DONE) {
        w.run = hm_run_options_default(s.model);
        code = prepare(&w);
        if (r->rank == 0)
            code = ranks_agree(r, code);
        if (code == EXIT_DONE)
            code = run_points(&w);
    }
    close_sweep(&w);
    session_close(&s);
    return code;
}

/* Without --measure: the final state, "final(x), final(x'), ...". An exit status; the text is the caller's. */
static int default_measures(const invocation *call, char **text)
{
    session s;
    size_t length = 0;
    int code = session_open(&s, call, false);
    FILE *out = code == EXIT_DONE ? open_memstream(text, &length) : NULL;
    for (size_t k = 0; out && k < 2; k++)
        for (size_t i = 0; i < hm_model_coordinate_count(s.model); i++)
            fprintf(out, "%sfinal(%s%s)", k + i ? ", " : "", hm_model_coordinate_name(s.model, i),
                    k ? "'" : "");
    if (code == EXIT_DONE && (!out || fclose(out) != 0))
        code = out_of_memory();
    session_close(&s);
    return code;
}

static int run_measured(const invocation *call, const char *text, ranks *r)
{
    hm_context *context = hm_context_create(memory_allocator());
    hm_measures *measures = NULL;
    if (!context)
        return out_of_memory();
    hm_status status = hm_measures_parse(context, text, &measures);
    print_diagnostics(context, call->quiet);
    int code = status == HM_OK          ? sweep_model(call, measures, r)
               : status == HM_ERR_NOMEM ? out_of_memory()
                                        : exit_status_of(status);
    hm_measures_destroy(measures);
    hm_context_destroy(context);
    return code;
}

static int run_rank(const invocation *call, ranks *r)
{
    const char *text = option_value(call, "--measure");
    const char *out = option_value(call, "--out");
    bool hdf5 = out && strlen(out) > 3 && strcmp(out + strlen(out) - 3, ".h5") == 0;
    int code = hdf5 ? hdf5_check("give --out a name that ends in .csv") : EXIT_DONE;
    char *state = NULL;
    if (code == EXIT_DONE)
        code = sweep_plot_check(call);
    if (code == EXIT_DONE && !text)
        code = default_measures(call, &state);
    if (code == EXIT_DONE)
        code = run_measured(call, text ? text : state, r);
    free(state);
    return code;
}

/* The first process finds out whether the sweep is possible, and says so once; the others follow. */
static int run_all(const invocation *call, ranks *r)
{
    invocation silent = *call;
    if (r->rank == 0) {
        int code = run_rank(call, r);
        return r->agreed ? code : ranks_agree(r, code);
    }
    silent.quiet = true;
    int code = ranks_agree(r, EXIT_DONE);
    if (code != EXIT_DONE)
        return EXIT_DONE;
    code = run_rank(&silent, r);
    if (r->size > 1) /* it did not come to work */
        dealer_leave();
    return code;
}

static int run(const invocation *call)
{
    ranks r;
    if (option_value(call, "--merge"))
        return sweep_merge(call);
    if (!call->model)
        return usage_error("the model is missing: hamel sweep MODEL; see hamel sweep --help");
    if (call->argument_count > 1)
        return usage_error("unexpected argument '%s'; see hamel sweep --help", call->arguments[1]);
    int code = ranks_start(&r, call);
    if (code == EXIT_DONE)
        code = run_all(call, &r);
    ranks_end(&r);
    return code;
}

static const option_spec options[] = {
    {"--grid", "LIST", "all combinations: \"m=1:3:5, s=0.1|0.2\" (from:to:count, or a list)"},
    {"--random", "LIST",
     "\"m=uniform(1,2), x=normal(0,0.1)\"; also lognormal(mean,deviation),\n"
     "                         triangular(a,mode,b), discrete(a|b|c); with --samples"},
    {"--samples", "N", "random points (of each point of the grid)"},
    {"--seed", "N", "of the random numbers; default 1. Point k is the same on every machine"},
    {"--sobol", NULL, "a scrambled Sobol sequence in place of independent random numbers"},
    {"--points", "FILE", "one point per line of a CSV file, whose header names what is varied"},
    {"--measure", "LIST",
     "\"end = final(x), max(abs(y)), min, mean, rms, integral, time(event),\n"
     "                         count(event), first(event, x), settled(x, 0.01), crossing(x = 0, "
     "y)\""},
    {"--out", "FILE", "index, what is varied, measures, status: .csv or .h5"},
    {"--keep", "WHAT", "final (default): one row per point; every: one per output time"},
    {"--jobs", "N", "threads; default: one per processor"},
    {"--resume", NULL, "go on with an interrupted sweep; nothing finished is done again"},
    {"--shard", "I/N", "only part I of N, as FILE.shard-I-of-N; for schedulers of clusters"},
    {"--merge", "PARTS", "put the shards that were written together (a pattern, or names)"},
    {"--plot", "FILE",
     "the measures as .svg or .png: curves over one name, maps over two,\n"
     "                         dots for more"},
    {"--from", "T", "start of each run"},
    {"--to", "T", "end"},
    {"--every", "DT", "time between the rows that max, min, mean, rms and integral look at"},
    {"--rtol", "R", "relative tolerance per step"},
    {"--atol", "A", "absolute tolerance per step"},
    {"--step", "H", "step of the fixed-step methods; first step of the others"},
    {"--method", "NAME", "auto, rk5, dop853, taylor, radau, rattle, dla, midpoint"},
    {"--drift", "HOW", "project, baumgarte, baumgarte(a,b) or none"},
    {"--formulation", "NAME", "auto, uk, gram, kkt, nullspace, gauss, singular, dirac"},
    {"--max-steps", "N", "of a run; 0: no limit; default 1e9"},
    {"--max-rows", "N", "output times of a run; default 1e9"},
    {"--max-events", "N", "events and impacts of a run; default 1e8"},
    {"--engine", "NAME", "auto, interp (portable) or jit (machine code): same results"},
    {0},
};

const command command_sweep = {
    .name = "sweep",
    .summary = "many runs over parameters and initial states, reduced to measures",
    .usage = "MODEL [options]",
    .example =
        "hamel sweep double-pendulum --grid \"l1=0.5:2:100\" --measure \"max(b)\" --out map.csv",
    .options = options,
    .needs_model = true,
    .many_arguments = true,
    .run = run,
};
