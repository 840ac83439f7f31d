/* What a report says besides the motion, as one JSON object: the model, verdicts, the derivation in
 * LaTeX, the linearisation at an equilibrium, the summary of the run, what is drawn. */
#include "check_report.h"
#include "linearize.h"
#include "report.h"
#include "run_report.h"

#include <stdlib.h>

/* Longer derivations are left out of the page: nobody reads them there. */
enum { MOST_LATEX = 250000 };

static json_t *text_or_null(const char *text)
{
    return text ? json_string(text) : json_null();
}

static json_t *range_or_null(bool given, double low, double high)
{
    return given ? json_pack("[f, f]", low, high) : json_null();
}

/* ---- what was written ---- */

static json_t *parameter_list(const hm_model *model)
{
    json_t *list = json_array();
    for (size_t i = 0; i < hm_model_param_count(model); i++) {
        double low = 0, high = 0;
        bool given = hm_model_param_range(model, i, &low, &high);
        json_array_append_new(list, json_pack("{s:s, s:o, s:o, s:o}", "name",
                                              hm_model_param_name(model, i), "value",
                                              json_number_or_null(hm_model_param_value(model, i)),
                                              "text", text_or_null(hm_model_param_text(model, i)),
                                              "range", range_or_null(given, low, high)));
    }
    return list;
}

typedef const char *(*name_function)(const hm_model *, size_t);

static json_t *named_list(const hm_model *model, size_t count, name_function name,
                          name_function text)
{
    json_t *list = json_array();
    for (size_t i = 0; i < count; i++)
        json_array_append_new(list, json_pack("{s:s, s:o}", "name", name(model, i), "text",
                                              text_or_null(text ? text(model, i) : NULL)));
    return list;
}

static const char *constraint_name(const hm_model *model, size_t i)
{
    return hm_model_constraint(model, i).name;
}

static json_t *drawing_object(const hm_drawing *d)
{
    json_t *parts = json_array();
    for (size_t k = 0; k < d->part_count; k++)
        json_array_append_new(parts,
                              json_pack("{s:I, s:I, s:I}", "first", (json_int_t)d->parts[k].first,
                                        "rows", (json_int_t)d->parts[k].rows, "columns",
                                        (json_int_t)d->parts[k].columns));
    return json_pack("{s:s, s:o, s:o, s:f, s:[i, i, i], s:o}", "kind",
                     hm_drawing_kind_text(d->kind), "color", text_or_null(d->color), "label",
                     text_or_null(d->label), "weight", d->weight, "place", (int)d->place[0],
                     (int)d->place[1], (int)d->place[2], "parts", parts);
}

static json_t *drawing_list(const hm_model *model)
{
    json_t *list = json_array();
    for (size_t i = 0; i < hm_model_drawing_count(model); i++) {
        hm_drawing drawing = hm_model_drawing(model, i);
        json_array_append_new(list, drawing_object(&drawing));
    }
    return list;
}

static void add_model(json_t *o, const session *s, const invocation *call)
{
    const hm_model *model = s->model;
    size_t length = 0;
    double gravity[3];
    hm_model_gravity(model, gravity);
    char *text = session_model_text(s, call, &length);
    json_t *changed = json_array();
    for (size_t i = 0; i < call->override_count; i++)
        json_array_append_new(changed, json_pack("{s:s, s:s}", "name", call->overrides[i].name,
                                                 "value", call->overrides[i].value));
    set_text(o, "version", hm_version());
    set_text(o, "model", hm_model_name(model));
    set_text(o, "title", hm_model_title(model));
    json_object_set_new(o, "text", text ? json_stringn(text, length) : json_null());
    json_object_set_new(o, "set", changed);
    json_object_set_new(o, "parameters", parameter_list(model));
    json_object_set_new(o, "coordinates",
                        named_list(model, hm_model_coordinate_count(model),
                                   hm_model_coordinate_name, hm_model_coordinate_text));
    json_object_set_new(o, "states",
                        named_list(model, hm_model_state_count(model), hm_model_state_name, NULL));
    json_object_set_new(o, "outputs",
                        named_list(model, hm_model_output_count(model), hm_model_output_name,
                                   hm_model_output_text));
    json_object_set_new(o, "constraints",
                        named_list(model, hm_model_constraint_count(model), constraint_name, NULL));
    json_object_set_new(o, "drawings", drawing_list(model));
    json_object_set_new(o, "gravity", json_vector(gravity, 3));
    free(text);
}

/* ---- what was found ---- */

static bool keep_latex(void *user, const char *bytes, size_t length)
{
    report_text *text = user;
    text_add(text, bytes, length);
    return !text->failed && text->length <= MOST_LATEX;
}

/* null where it is too long, or where there is none. */
static json_t *derivation(const session *s)
{
    report_text text = {0};
    hm_status status = hm_system_derive(s->system, HM_FORMAT_LATEX, keep_latex, &text);
    json_t *result = status == HM_OK && !text.failed ? json_stringn(text.bytes, text.length)
                                                     : json_null();
    hm_context_clear(s->context);
    text_free(&text);
    return result;
}

/* null where the initial state is no equilibrium and no steady motion. */
static json_t *linearization(const session *s)
{
    hm_sim *sim = NULL;
    hm_linearization *l = NULL;
    const hm_moved *moved = NULL;
    size_t count = 0;
    hm_linearize_options options = hm_linearize_options_default();
    hm_status status = hm_sim_create(s->system, &sim);
    if (status == HM_OK && !hm_run_options_default(s->model).keep_initial)
        status = hm_sim_make_consistent(sim, false, &moved, &count);
    if (status == HM_OK)
        status = hm_sim_linearize(sim, &options, &l);
    json_t *result = status == HM_OK && l && is_at_rest(l) && l->dimension > 0
                         ? linearization_object(s->model, l)
                         : json_null();
    hm_linearization_destroy(l);
    hm_sim_destroy(sim);
    return result;
}

static json_t *verdicts(const session *s)
{
    findings found = {0};
    json_t *result = check_find(s, true, &found) == EXIT_DONE ? check_object(s, &found)
                                                              : json_null();
    check_release(&found);
    return result;
}

json_t *report_object(const session *s, const invocation *call, const hm_run_options *options,
                      const hm_run_result *result)
{
    json_t *o = json_object();
    run_report run = {.model = s->model, .options = options, .result = result};
    if (!o)
        return NULL;
    add_model(o, s, call);
    json_object_set_new(o, "check", verdicts(s));
    json_object_set_new(o, "latex", derivation(s));
    json_object_set_new(o, "linearization", linearization(s));
    json_object_set_new(o, "run", run_report_object(&run));
    return o;
}
