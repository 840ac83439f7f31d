/* hm_system_analyse: the parts in their order, and what they share. */
#include "analyse/classify/analysis.h"

#include "expr/print/print.h"

#include <math.h>
#include <stdarg.h>
#include <string.h>

const char *hm_class_text(hm_class kind)
{
    static const char *const text[] = {"holonomic",    "semiholonomic",          "integrable",
                                       "nonholonomic", "nonlinear-nonholonomic", "unclassified"};
    return text[kind];
}

/* ---- text ---- */

static const char *keep_text(hmi_analysis *a, hmi_text *text)
{
    const char *kept = text->failed ? NULL
                                    : hmi_arena_text(&a->arena, hmi_text_view(text), text->length);
    hmi_text_release(text);
    return kept;
}

const char *hmi_analysis_text(hmi_analysis *a, const char *format, ...)
{
    hmi_text text;
    va_list args;
    hmi_text_init(&text, a->allocator);
    va_start(args, format);
    hmi_text_addv(&text, format, args);
    va_end(args);
    return keep_text(a, &text);
}

hm_status hmi_analysis_remark(hmi_analysis *a, const char *format, ...)
{
    hmi_text text;
    va_list args;
    hmi_text_init(&text, a->allocator);
    va_start(args, format);
    hmi_text_addv(&text, format, args);
    va_end(args);
    const char *kept = keep_text(a, &text);
    return kept && hmi_array_push(a->allocator, &a->remarks, kept) ? HM_OK : HM_ERR_NOMEM;
}

static void print_symbol(void *user, hmi_symbol_kind kind, uint32_t index, hmi_text *out)
{
    const hm_model *model = user;
    const char *name = "?";
    switch (kind) {
    case HMI_SYM_COORD:
    case HMI_SYM_VELOCITY:
    case HMI_SYM_ACCELERATION:
        name = index < model->coords.count ? model->coords.data[index].name : "t";
        break;
    case HMI_SYM_PARAM:
        name = model->params.data[index].name;
        break;
    case HMI_SYM_STATE:
        name = model->states.data[index].name;
        break;
    case HMI_SYM_INPUT:
    case HMI_SYM_INPUT_RATE:
    case HMI_SYM_INPUT_RATE2:
        name = index < model->inputs.count ? model->inputs.data[index].name
                                           : model->states.data[index - model->inputs.count].name;
        break;
    default:
        break;
    }
    hmi_text_add(out, name);
}

const char *hmi_analysis_print(hmi_analysis *a, const hmi_graph *graph, hmi_expr e)
{
    enum { LONGEST = 2000 };
    hmi_text text;
    const hmi_print_options options = {.style = HMI_PRINT_PLAIN,
                                       .namer = {.name = print_symbol, .user = (void *)a->model}};
    hmi_text_init(&text, a->allocator);
    hm_status status = hmi_print(&text, graph, e, &options);
    if (status == HM_ERR_LIMIT || text.length > LONGEST) {
        hmi_text_release(&text);
        hmi_text_add(&text, "(too long to be shown)");
    }
    if (status == HM_ERR_NOMEM) {
        hmi_text_release(&text);
        return NULL;
    }
    return keep_text(a, &text);
}

hm_evidence hmi_analysis_evidence(const hmi_evidence *e)
{
    double bits = e->zero == -INFINITY ? (double)HMI_BITS : -e->zero;
    return (hm_evidence){
        .points = e->points, .bits = (int)fmin(bits, HMI_BITS), .proved = e->proved};
}

/* ---- values at the initial state ---- */

hmi_series_state hmi_analysis_initial(const hmi_analysis *a)
{
    return (hmi_series_state){.q = a->q0, .v = a->v0, .z = a->z0, .t = a->t0};
}

hm_status hmi_analysis_values(hmi_analysis *a, const hmi_graph *graph, const hmi_expr *list,
                              size_t count, double *values)
{
    const hmi_series_state initial = hmi_analysis_initial(a);
    hm_status status = HM_OK;
    for (size_t i = 0; i < count && status != HM_ERR_NOMEM; i++)
        status = hmi_series_value(a->allocator, a->model, graph, list[i], &initial, &values[i]);
    return status == HM_ERR_NOMEM ? status : HM_OK;
}

/* ---- the whole ---- */

static hm_status take_rows(hmi_analysis *a)
{
    size_t m = a->model->constraints.count;
    a->rows = hmi_arena_alloc(&a->arena, (m + 1) * sizeof *a->rows);
    a->positions = hmi_arena_alloc(&a->arena, (m + 1) * sizeof *a->positions);
    a->leaf = hmi_arena_alloc(&a->arena, (m + 1) * sizeof *a->leaf);
    if (!a->rows || !a->positions || !a->leaf)
        return HM_ERR_NOMEM;
    a->shown.constraints = a->rows;
    a->shown.constraint_count = m;
    for (size_t k = 0; k < m; k++) {
        const hmi_constraint *row = &a->model->constraints.data[k];
        a->rows[k] = (hm_constraint_analysis){
            .name = row->name,
            .level = row->level,
            .linear = row->linear,
            .rheonomic = row->rheonomic,
            .kind = row->level == HM_LEVEL_POSITION ? HM_CLASS_HOLONOMIC : HM_CLASS_UNCLASSIFIED,
            .linear_kind = HM_CLASS_UNCLASSIFIED};
        if (row->level == HM_LEVEL_POSITION)
            a->positions[a->position_count++] = k;
    }
    return HM_OK;
}

static hm_status classify(hmi_analysis *a)
{
    hm_status status = hmi_forms_init(&a->forms, a->system);
    if (status == HM_OK)
        status = hmi_sampler_init(&a->sampler, &a->forms, a->q0, a->t0);
    for (size_t k = 0; status == HM_OK && k < a->forms.m; k++) {
        status = hmi_classify_row(a, k);
        if (status == HM_OK)
            status = hmi_forms_status(&a->forms);
    }
    if (status == HM_OK)
        status = hmi_analyse_set(a);
    hmi_sampler_release(&a->sampler);
    hmi_forms_release(&a->forms);
    return status;
}

static hm_status analyse(hmi_analysis *a)
{
    hm_status status = take_rows(a);
    if (status == HM_OK)
        status = hmi_analyse_start(a);
    if (status == HM_OK && a->model->coords.count <= HM_MOST_CLASSIFIED)
        status = classify(a);
    else if (status == HM_OK)
        status = hmi_analysis_remark(a, "more than %d coordinates: constraints are not classified",
                                     HM_MOST_CLASSIFIED);
    if (status == HM_OK)
        status = hmi_analyse_functions(a);
    a->shown.remarks = a->remarks.data;
    a->shown.remark_count = a->remarks.count;
    return status;
}

hm_status hm_system_analyse(hm_context *context, const hm_system *system, hm_analysis **analysis)
{
    hmi_analysis *a = hmi_alloc(system->allocator, sizeof *a);
    if (!a)
        return HM_ERR_NOMEM;
    *a = (hmi_analysis){.allocator = system->allocator,
                        .system = system,
                        .model = system->model,
                        .context = context};
    hmi_arena_init(&a->arena, a->allocator);
    hm_status status = analyse(a);
    flint_cleanup();
    if (status != HM_OK) {
        hm_analysis_destroy(&a->shown);
        return status;
    }
    *analysis = &a->shown;
    return HM_OK;
}

void hm_analysis_destroy(hm_analysis *analysis)
{
    if (!analysis)
        return;
    hmi_analysis *a = (hmi_analysis *)analysis;
    for (size_t k = 0; a->leaf && k < analysis->constraint_count; k++)
        if (a->leaf[k])
            hmi_leaf_release(a->leaf[k]);
    hmi_array_release(a->allocator, &a->remarks);
    hmi_arena_release(&a->arena);
    hmi_free(a->allocator, a, sizeof *a);
}

hm_status hm_analysis_integral(const hm_analysis *analysis, size_t constraint, const double *q,
                               double t, double *f)
{
    const hmi_analysis *a = (const hmi_analysis *)analysis;
    if (constraint >= analysis->constraint_count || !analysis->constraints[constraint].leaf)
        return HM_ERR_USAGE;
    return hmi_leaf_value(a->leaf[constraint], q, t, f);
}
