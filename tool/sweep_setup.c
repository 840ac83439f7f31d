/* What a sweep is, before anything is run: its points, the columns of its file, what tells it from others. */
#include "sweep.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- options ---- */

bool sweep_read_count(const invocation *call, const char *option, unsigned long long least,
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
bool sweep_read_shard(sweep *s, unsigned long long *index, unsigned long long *count)
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

bool sweep_read_keep(sweep *s)
{
    const char *keep = option_value(s->call, "--keep");
    s->keep_every = keep && strcmp(keep, "every") == 0;
    if (!keep || s->keep_every || strcmp(keep, "final") == 0)
        return true;
    usage_error("--keep is final (one row per point) or every (one row per output time), not '%s'",
                keep);
    return false;
}

int sweep_make_plan(sweep *s)
{
    const invocation *call = s->call;
    hm_sweep_spec spec = hm_sweep_spec_default();
    unsigned long long samples = 0, seed = 1;
    hm_table *points = NULL;
    const char *file = option_value(call, "--points");
    if (!sweep_read_count(call, "--samples", 1, &samples) ||
        !sweep_read_count(call, "--seed", 0, &seed))
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
bool sweep_list_names(sweep *s)
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

/* ---- what the file says of itself ---- */

/* Everything that the rows depend on, by option. */
static const char *const row_options[] = {
    "--grid",   "--random",      "--samples",   "--seed",     "--sobol",
    "--points", "--measure",     "--keep",      "--from",     "--to",
    "--every",  "--rtol",        "--atol",      "--step",     "--method",
    "--drift",  "--formulation", "--max-steps", "--max-rows", "--max-events"};
enum { ROW_OPTIONS = sizeof row_options / sizeof *row_options };

static json_t *options_json(const invocation *call)
{
    json_t *options = json_object(), *set = json_object();
    for (size_t i = 0; i < ROW_OPTIONS; i++)
        if (option_value(call, row_options[i]))
            json_object_set_new(options, row_options[i] + 2,
                                json_string(option_value(call, row_options[i])));
    for (size_t i = 0; i < call->override_count; i++)
        json_object_set_new(set, call->overrides[i].name, json_string(call->overrides[i].value));
    json_object_set_new(options, "set", set);
    return options;
}

static void add_text(json_t *texts, const char *name, const char *text)
{
    if (text)
        json_object_set_new(texts, name, json_string(text));
}

/* What the model says of its quantities, units as a rule. */
static json_t *texts_json(const hm_model *model)
{
    json_t *texts = json_object();
    for (size_t i = 0; i < hm_model_param_count(model); i++)
        add_text(texts, hm_model_param_name(model, i), hm_model_param_text(model, i));
    for (size_t i = 0; i < hm_model_coordinate_count(model); i++)
        add_text(texts, hm_model_coordinate_name(model, i), hm_model_coordinate_text(model, i));
    for (size_t i = 0; i < hm_model_output_count(model); i++)
        add_text(texts, hm_model_output_name(model, i), hm_model_output_text(model, i));
    return texts;
}

bool sweep_describe(sweep *s)
{
    size_t length = 0;
    const hm_model *model = s->s->model;
    const char *title = hm_model_title(model), *seed = option_value(s->call, "--seed");
    char *source = session_model_text(s->s, s->call, &length);
    json_t *about = json_object();
    json_object_set_new(about, "hamel", json_string(hm_version()));
    json_object_set_new(about, "model", json_string(hm_model_name(model)));
    json_object_set_new(about, "title", json_string(title ? title : ""));
    json_object_set_new(about, "source", json_stringn(source ? source : "", length));
    json_object_set_new(about, "seed", json_string(seed ? seed : "1"));
    json_object_set_new(about, "keep", json_string(s->keep_every ? "every" : "final"));
    json_object_set_new(about, "options", options_json(s->call));
    json_object_set_new(about, "texts", texts_json(model));
    if (!memory_failed()) /* else something is missing in it */
        s->about = json_dumps(about, JSON_COMPACT | JSON_SORT_KEYS);
    json_decref(about);
    free(source);
    return s->about != NULL;
}

/* ---- identity ---- */

static uint64_t mix(uint64_t hash, const char *text)
{
    for (text = text ? text : "\1"; *text; text++) /* FNV-1a */
        hash = (hash ^ (unsigned char)*text) * UINT64_C(0x100000001b3);
    return (hash ^ 0xff) * UINT64_C(0x100000001b3);
}

/* Everything that the rows depend on: two sweeps with the same identity have the same rows. */
void sweep_identify(sweep *s, unsigned long long index, unsigned long long count)
{
    uint64_t hash = mix(UINT64_C(0xcbf29ce484222325), hm_version());
    char number[64];
    for (size_t i = 0; i < ROW_OPTIONS; i++)
        hash = mix(hash, option_value(s->call, row_options[i]));
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
