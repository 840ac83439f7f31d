/* hamel sweep: many runs over parameters, initial states and inputs, reduced to measures. */
#include "hdf5_file.h"
#include "output_file.h"
#include "run_options.h"
#include "sweep.h"
#include "values.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- options ---- */

static bool read_count(const invocation *call, const char *option, unsigned long long least,
                       unsigned long long *value)
{
    const char *text = option_value(call, option);
    char *end;
    if (!text)
        return true;
    errno = 0;
    *value = strtoull(text, &end, 10);
    if (end != text && *end == '\0' && text[0] != '-' && errno == 0 && *value >= least)
        return true;
    usage_error("%s needs a whole number from %llu on, not '%s'", option, least, text);
    return false;
}

/* --shard I/N: N pieces of nearly the same length. */
static bool read_shard(sweep *s, unsigned long long *index, unsigned long long *count)
{
    const char *text = option_value(s->call, "--shard");
    char rest;
    *index = *count = 1;
    if (text && (sscanf(text, "%llu/%llu%c", index, count, &rest) != 2 || *index < 1 ||
                 *index > *count || *count > 1000000000)) {
        usage_error("--shard is I/N with 1 <= I <= N, not '%s'", text);
        return false;
    }
    long double points = (long double)hm_sweep_plan_points(s->plan);
    s->first = (size_t)floorl(points * (long double)(*index - 1) / (long double)*count);
    s->end = *index == *count ? hm_sweep_plan_points(s->plan)
                              : (size_t)floorl(points * (long double)*index / (long double)*count);
    return true;
}

static bool read_keep(sweep *s)
{
    const char *keep = option_value(s->call, "--keep");
    s->keep_every = keep && strcmp(keep, "every") == 0;
    if (!keep || s->keep_every || strcmp(keep, "final") == 0)
        return true;
    usage_error("--keep is final (one row per point) or every (one row per output time), not '%s'",
                keep);
    return false;
}

static int make_plan(sweep *s)
{
    const invocation *call = s->call;
    hm_sweep_spec spec = hm_sweep_spec_default();
    unsigned long long samples = 0, seed = 1;
    hm_table *points = NULL;
    const char *file = option_value(call, "--points");
    if (!read_count(call, "--samples", 1, &samples) || !read_count(call, "--seed", 0, &seed))
        return EXIT_BAD_INPUT;
    spec.grid = option_value(call, "--grid");
    spec.random = option_value(call, "--random");
    spec.samples = (size_t)samples;
    spec.seed = seed;
    spec.sobol = option_value(call, "--sobol") != NULL;
    hm_status status = file ? hm_table_load_csv(s->s->context, file, &points) : HM_OK;
    spec.points = points;
    if (status == HM_OK)
        status = hm_sweep_plan_create(s->s->context, s->s->model, &spec, &s->plan);
    hm_table_destroy(points);
    print_diagnostics(s->s->context, call->quiet);
    return exit_status_of(status);
}

/* ---- what the file holds ---- */

static bool add_name(sweep *s, const char *format, const char *name)
{
    char text[512];
    snprintf(text, sizeof text, format, name);
    s->names[s->name_count] = memory_copy(text);
    return s->names[s->name_count++] != NULL;
}

/* index, what is varied, then the measures and status; or t, coordinates, velocities, states, outputs. An
 * initial value has (0) behind its name where the final one is a column, too. */
static bool list_names(sweep *s)
{
    const hm_model *model = s->s->model;
    size_t n = hm_model_coordinate_count(model), columns = hm_sweep_plan_columns(s->plan);
    size_t measures = hm_measures_count(s->measures), states = hm_model_state_count(model);
    size_t outputs = hm_model_output_count(model);
    s->names = memory_new(columns + measures + 2 * n + states + outputs + 4, sizeof *s->names);
    bool good = s->names && add_name(s, "%s", "index");
    for (size_t i = 0; good && i < columns; i++)
        good = add_name(s, s->keep_every ? "%s(0)" : "%s", hm_sweep_plan_name(s->plan, i));
    if (!s->keep_every) {
        for (size_t i = 0; good && i < measures; i++)
            good = add_name(s, "%s", hm_measures_name(s->measures, i));
        return good && add_name(s, "%s", "status");
    }
    good = good && add_name(s, "%s", "t");
    for (size_t k = 0; k < 2; k++)
        for (size_t i = 0; good && i < n; i++)
            good = add_name(s, k ? "%s'" : "%s", hm_model_coordinate_name(model, i));
    for (size_t i = 0; good && i < outputs; i++)
        good = add_name(s, "%s", hm_model_output_name(model, i));
    for (size_t i = 0; good && i < states; i++)
        good = add_name(s, "%s", hm_model_state_name(model, i));
    return good;
}

static uint64_t mix(uint64_t hash, const char *text)
{
    for (text = text ? text : "\1"; *text; text++) /* FNV-1a */
        hash = (hash ^ (unsigned char)*text) * UINT64_C(0x100000001b3);
    return (hash ^ 0xff) * UINT64_C(0x100000001b3);
}

/* Everything that the rows depend on: two sweeps with the same identity have the same rows. */
static void identify(sweep *s, unsigned long long index, unsigned long long count)
{
    static const char *const options[] = {
        "--grid",   "--random",      "--samples",   "--seed",     "--sobol",
        "--points", "--measure",     "--keep",      "--from",     "--to",
        "--every",  "--rtol",        "--atol",      "--step",     "--method",
        "--drift",  "--formulation", "--max-steps", "--max-rows", "--max-events"};
    uint64_t hash = mix(UINT64_C(0xcbf29ce484222325), hm_version());
    char number[64];
    for (size_t i = 0; i < sizeof options / sizeof *options; i++)
        hash = mix(hash, option_value(s->call, options[i]));
    for (size_t i = 0; i < s->call->override_count; i++)
        hash = mix(mix(hash, s->call->overrides[i].name), s->call->overrides[i].value);
    snprintf(number, sizeof number, "%llx", (unsigned long long)hm_model_fingerprint(s->s->model));
    hash = mix(hash, number);
    size_t columns = hm_sweep_plan_columns(s->plan), points = hm_sweep_plan_points(s->plan);
    double *values = memory_new(columns + 1, sizeof *values);
    for (size_t k = 0; values && option_value(s->call, "--points") && k < points; k++) {
        hm_sweep_plan_point(s->plan, k, values);
        for (size_t i = 0; i < columns; i++) {
            snprintf(number, sizeof number, "%a", values[i]);
            hash = mix(hash, number);
        }
    }
    free(values);
    snprintf(s->identity, sizeof s->identity, "# hamel sweep %s %016llx points %zu", hm_version(),
             (unsigned long long)hash, points);
    if (option_value(s->call, "--shard"))
        snprintf(s->identity + strlen(s->identity), 64, " shard %llu/%llu", index, count);
}

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
    double part = count ? (double)done / (double)count : 1;
    progress_update(&s->progress, (double)done, part);
    return !interrupt_seen();
}

/* ---- the command ---- */

static int out_of_memory(void)
{
    say("hamel: %s\n", hm_status_text(HM_ERR_NOMEM));
    return EXIT_FAILED;
}

static int report(sweep *s, hm_status status)
{
    bool complete = status == HM_OK && s->next == s->end && !s->broken;
    bool shard = option_value(s->call, "--shard") != NULL;
    bool good = !s->broken && rows_sync(s) && sweep_find_statistics(s);
    if (complete && good)
        good = rows_publish(s, shard);
    if (complete && good && !sweep_plot(s))
        good = false;
    if (status != HM_OK) {
        say("hamel: %s\n", hm_status_text(status));
        return exit_status_of(status);
    }
    if (!complete && s->out)
        say("hamel: %zu of %zu points are done, in %s; --resume does the others\n",
            s->next - s->first, s->end - s->first, s->rows_path);
    bool written = true;
    if (s->call->json)
        written = sweep_json(s);
    else if (good)
        sweep_print(s);
    if (complete && good)
        rows_discard(s);
    if (!complete && !s->broken)
        return EXIT_INTERRUPTED;
    return good && written && s->failed == 0 ? EXIT_DONE : EXIT_FAILED;
}

static int run_points(sweep *s)
{
    hm_sweep_options options = hm_sweep_options_default(s->s->model, s->plan);
    unsigned long long jobs = 0;
    if (!read_count(s->call, "--jobs", 1, &jobs))
        return EXIT_BAD_INPUT;
    options.run = s->run;
    options.run.content = HM_FRAME_CONTENT_STATE;
    options.jobs = (unsigned)(jobs < 256 ? jobs : 256);
    options.first = s->next;
    options.end = s->end;
    options.on_row = on_row;
    options.on_frame = s->keep_every ? on_frame : NULL;
    options.on_progress = on_progress;
    options.user = s;
    interrupt_watch();
    progress_start(&s->progress, s->call->quiet);
    hm_status status = hm_sweep_run(s->s->context, s->s->system, s->plan, s->measures, &options,
                                    &s->result);
    progress_end(&s->progress);
    print_diagnostics(s->s->context, s->call->quiet);
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

static int prepare(sweep *s)
{
    unsigned long long index, count;
    int code = make_plan(s);
    if (code != EXIT_DONE)
        return code;
    if (!run_options_read(s->s, s->call, &s->run) || !read_keep(s) ||
        !read_shard(s, &index, &count))
        return EXIT_BAD_INPUT;
    if (!list_names(s))
        return out_of_memory();
    s->line = memory_new(s->name_count + hm_measures_count(s->measures) + 1, sizeof *s->line);
    if (!s->line)
        return out_of_memory();
    s->next = s->first;
    identify(s, index, count);
    code = name_files(s, index, count);
    return code == EXIT_DONE ? rows_open(s, option_value(s->call, "--resume") != NULL) : code;
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
    free(s->out_text);
    free(s->statistics);
    hm_sweep_plan_destroy(s->plan);
}

static int sweep_model(const invocation *call, hm_measures *measures)
{
    session s;
    sweep w = {.call = call, .s = &s, .measures = measures};
    int code = session_open_with(&s, call, true, hm_measures_statements(measures), "--measure");
    if (code == EXIT_DONE) {
        w.run = hm_run_options_default(s.model);
        code = prepare(&w);
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

static int run_measured(const invocation *call, const char *text)
{
    hm_context *context = hm_context_create(memory_allocator());
    hm_measures *measures = NULL;
    if (!context)
        return out_of_memory();
    hm_status status = hm_measures_parse(context, text, &measures);
    print_diagnostics(context, call->quiet);
    int code = status == HM_OK          ? sweep_model(call, measures)
               : status == HM_ERR_NOMEM ? out_of_memory()
                                        : exit_status_of(status);
    hm_measures_destroy(measures);
    hm_context_destroy(context);
    return code;
}

static int run(const invocation *call)
{
    if (option_value(call, "--merge"))
        return sweep_merge(call);
    if (!call->model)
        return usage_error("the model is missing: hamel sweep MODEL; see hamel sweep --help");
    if (call->argument_count > 1)
        return usage_error("unexpected argument '%s'; see hamel sweep --help", call->arguments[1]);
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
        code = run_measured(call, text ? text : state);
    free(state);
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
