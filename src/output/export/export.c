/* What every format starts from: the equations as expressions, a consistent initial state, names. */
#include "base/argument.h"
#include "output/export/fmi.h"
#include "output/export/script.h"

#include <hamel/run.h>

#include <stdio.h>
#include <string.h>

/* ---- what cannot be exported ---- */

static void refuse(hmi_export *x, hmi_span at, const char *statement, const char *name)
{
    hmi_error(x->context, at, "simulate it with `hamel run`, or export the model without it",
              "%s '%s' cannot be exported", statement, name);
    x->status = HM_ERR_USAGE;
}

static void refuse_constraints(hmi_export *x)
{
    const hm_model *model = x->model;
    for (size_t i = 0; i < model->constraints.count; i++) {
        const hmi_constraint *row = &model->constraints.data[i];
        if (row->one_sided)
            refuse(x, row->span, "the one-sided constraint", row->name);
        else if (row->when != HMI_NONE)
            refuse(x, row->span, "the switching constraint (`when`)", row->name);
    }
    for (size_t i = 0; i < model->frictions.count; i++)
        refuse(x, model->frictions.data[i].span, "the friction", model->frictions.data[i].name);
    for (size_t i = 0; i < model->servos.count; i++)
        refuse(x, model->servos.data[i].span, "the servo", model->servos.data[i].name);
    for (size_t i = 0; i < model->table_count; i++)
        refuse(x, hmi_no_span, "the table", model->tables[i].name);
    for (size_t e = 0; e < model->graph.nodes.count && x->status == HM_OK; e++)
        if (hmi_op_of(&model->graph, (hmi_expr)e) == HMI_FLOOR ||
            hmi_op_of(&model->graph, (hmi_expr)e) == HMI_CEIL)
            refuse(x, hmi_no_span, "the function", "floor, ceil or mod");
}

static void refuse_size(hmi_export *x)
{
    if (x->n > HMI_MOST_EXPORTED || x->m > HMI_MOST_EXPORTED) {
        hmi_error(x->context, hmi_no_span, NULL,
                  "exported code solves with dense matrices, which is meant for at most %d "
                  "coordinates and constraints; this model has %zu and %zu",
                  HMI_MOST_EXPORTED, x->n, x->m);
        x->status = HM_ERR_LIMIT;
    }
}

/* ---- expressions ---- */

static hmi_expr *expressions(hmi_export *x, size_t count)
{
    hmi_expr *list = hmi_arena_alloc(&x->arena, (count + 1) * sizeof *list);
    for (size_t i = 0; list && i < count; i++)
        list[i] = x->graph.zero;
    return list;
}

static void fill_dense(const hmi_expr_matrix *from, bool symmetric, hmi_expr *to)
{
    for (size_t i = 0; i < from->rows; i++)
        for (size_t k = from->start[i]; k < from->start[i + 1]; k++) {
            size_t j = from->column.data[k];
            to[i * from->columns + j] = from->value.data[k];
            if (symmetric)
                to[j * from->columns + i] = from->value.data[k];
        }
}

static void write_motion(hmi_export *x)
{
    const hmi_derived *eq = x->eq;
    const hmi_motion_request request = {
        .graph = &x->graph,
        .matrices = {.n = x->n,
                     .m = x->m,
                     .M_pattern = &eq->M,
                     .A_pattern = &eq->constraints.A,
                     .M = eq->M.value.data,
                     .A = eq->constraints.A.value.data},
        .Q = eq->Q,
        .b = eq->constraints.b,
        .C = eq->has_nonideal ? eq->C : NULL,
    };
    hmi_expr *outputs;
    hm_status status = eq->force_symbols
                           ? HM_ERR_USAGE
                           : hmi_motion_write(&request, &x->arena, &x->motion_at, &outputs);
    x->motion = status == HM_OK ? outputs : NULL;
    if (status != HM_OK && status != HM_ERR_USAGE && status != HM_ERR_LIMIT)
        x->status = status;
}

static void write_expressions(hmi_export *x)
{
    const hmi_derived *eq = x->eq;
    x->M = expressions(x, x->n * x->n);
    x->A = expressions(x, x->m * x->n);
    x->free_force = expressions(x, x->n);
    if (!x->M || !x->A || !x->free_force) {
        x->status = HM_ERR_NOMEM;
        return;
    }
    fill_dense(&eq->M, true, x->M);
    fill_dense(&eq->constraints.A, false, x->A);
    for (size_t i = 0; i < x->n; i++)
        x->free_force[i] = hmi_free_of_reactions(&x->graph, eq->Q[i]);
    x->residuals[0] = eq->constraints.position_residual;
    x->residuals[1] = eq->constraints.velocity_residual;
    x->laws = eq->has_nonideal || eq->force_symbols;
    x->total_laws = (eq->force_symbols &
                     (HMI_DEP(HMI_SYM_TOTAL_REACTION) | HMI_DEP(HMI_SYM_TOTAL_MULTIPLIER))) != 0;
    write_motion(x);
}

/* ---- the initial state ---- */

/* What the model's inputs are at the start. */
static void find_inputs(hmi_export *x, hm_sim *sim)
{
    hm_evaluation at = {0};
    x->u = hmi_arena_alloc(&x->arena, (x->inputs + 1) * sizeof *x->u);
    if (!x->u) {
        x->status = HM_ERR_NOMEM;
        return;
    }
    if (x->inputs > 0)
        (void)!hm_sim_evaluate(sim, NULL, &at); /* inputs are known also where q'' is not */
    for (size_t i = 0; i < x->inputs; i++)
        x->u[i] = at.inputs ? at.inputs[i] : 0;
}

static void find_start(hmi_export *x)
{
    hm_sim *sim = NULL;
    x->q = hmi_arena_alloc(&x->arena, (2 * x->n + x->states + 1) * sizeof *x->q);
    hm_status status = x->q ? hm_sim_create(x->system, &sim) : HM_ERR_NOMEM;
    if (status == HM_OK) {
        x->v = x->q + x->n;
        x->z = x->v + x->n;
        if (!x->model->keep_initial)
            status = hm_sim_make_consistent(sim, false, NULL, NULL);
        hm_sim_state(sim, x->q, x->v, x->z);
        x->t = hm_sim_time(sim);
        find_inputs(x, sim);
        hmi_context_take(x->context, hm_sim_context(sim));
    }
    hm_sim_destroy(sim);
    x->status = x->status == HM_OK ? status : x->status;
}

/* ---- the whole ---- */

static void name_model(hmi_export *x, const hm_export_options *options)
{
    const char *wanted = options->name;
    /* In Modelica parameters stand beside the arrays of the equations. */
    bool beside = options->format == HM_EXPORT_FORMAT_MODELICA;
    hmi_export_identifier(wanted ? wanted : hm_model_name(x->model), x->name);
    for (size_t i = 0; i < HMI_EXPORT_NAME; i++) {
        char c = x->name[i];
        x->capitals[i] = c >= 'a' && c <= 'z' ? (char)(c - ('a' - 'A')) : c;
    }
    if (x->status == HM_OK &&
        !hmi_export_name_params(x, beside ? " M Q A b C du ddu rates lambda " : ""))
        x->status = HM_ERR_NOMEM;
}

hm_status hmi_export_begin(hmi_export *x, hm_context *context, const hm_system *system,
                           const hm_export_options *options)
{
    const hm_model *model = system->model;
    *x = (hmi_export){.context = context,
                      .system = system,
                      .model = model,
                      .eq = &system->derived,
                      .allocator = system->allocator,
                      .header = options->header,
                      .single = options->single_precision,
                      .n = system->derived.n,
                      .m = model->constraints.count,
                      .states = model->states.count,
                      .inputs = model->inputs.count,
                      .outputs = model->outputs.count,
                      .events = model->events.count};
    hmi_arena_init(&x->arena, x->allocator);
    hmi_text_init(&x->text, x->allocator);
    x->status = hmi_graph_copy(&x->graph, &system->derived.graph);
    if (x->status == HM_OK)
        refuse_constraints(x);
    if (x->status == HM_OK)
        refuse_size(x);
    if (x->status == HM_OK)
        find_start(x);
    if (x->status == HM_OK)
        write_expressions(x);
    name_model(x, options);
    return x->status;
}

void hmi_export_release(hmi_export *x)
{
    hmi_graph_release(&x->graph);
    hmi_text_release(&x->text);
    hmi_arena_release(&x->arena);
}

/* ---- formats ---- */

static const char *const format_names[] = {"c",        "sympy", "julia", "matlab",
                                           "modelica", "auto",  "fmu2",  "fmu3"};
enum { FORMATS = sizeof format_names / sizeof *format_names };

const char *hm_export_format_name(hm_export_format format)
{
    return (unsigned)format < FORMATS ? format_names[format] : "unknown";
}

bool hm_export_format_find(const char *name, hm_export_format *format)
{
    for (int i = 0; name && format && i < FORMATS; i++)
        if (strcmp(format_names[i], name) == 0) {
            *format = (hm_export_format)i;
            return true;
        }
    return false;
}

hm_export_options hm_export_options_default(void)
{
    return (hm_export_options){.format = HM_EXPORT_FORMAT_C};
}

size_t hm_export_identifier(const hm_system *system, const hm_export_options *options, char *name,
                            size_t size)
{
    char word[HMI_EXPORT_NAME];
    if (!system)
        return 0;
    const char *wanted = options && options->name ? options->name : hm_model_name(system->model);
    hmi_export_identifier(wanted, word);
    return (size_t)snprintf(name, name ? size : 0, "%s", word);
}

static void write_format(hmi_export *x, const hm_export_options *options)
{
    switch (options->format) {
    case HM_EXPORT_FORMAT_C:
        (options->part == HM_EXPORT_PART_HEADER ? hmi_export_c_header : hmi_export_c_source)(x);
        break;
    case HM_EXPORT_FORMAT_SYMPY:
        hmi_export_sympy(x);
        break;
    case HM_EXPORT_FORMAT_JULIA:
        hmi_export_julia(x);
        break;
    case HM_EXPORT_FORMAT_MATLAB:
        hmi_export_matlab(x);
        break;
    case HM_EXPORT_FORMAT_MODELICA:
        hmi_export_modelica(x);
        break;
    case HM_EXPORT_FORMAT_AUTO:
        hmi_export_auto(x);
        break;
    case HM_EXPORT_FORMAT_FMU2:
    case HM_EXPORT_FORMAT_FMU3:
        (options->part == HM_EXPORT_PART_DESCRIPTION
             ? hmi_export_fmi_description
             : hmi_export_fmi_source)(x, options->format == HM_EXPORT_FORMAT_FMU2 ? 2 : 3);
        break;
    }
}

hm_status hm_system_export(hm_context *context, const hm_system *system,
                           const hm_export_options *options, hm_writer writer, void *user)
{
    const hm_export_options defaults = hm_export_options_default();
    hmi_export x;
    HMI_ARGUMENT(context, context && system && writer, "a system and a writer are needed");
    HMI_ARGUMENT(context,
                 !options || ((unsigned)options->format < FORMATS &&
                              (unsigned)options->part <= HM_EXPORT_PART_DESCRIPTION),
                 "there is no such format or part");
    options = options ? options : &defaults;
    hm_status status = hmi_export_begin(&x, context, system, options);
    if (status == HM_OK) {
        write_format(&x, options);
        status = x.status != HM_OK ? x.status : x.text.failed ? HM_ERR_NOMEM : x.graph.status;
    }
    if (status == HM_OK && !writer(user, hmi_text_view(&x.text), x.text.length))
        status = HM_ERR_IO;
    hmi_export_release(&x);
    return status;
}
