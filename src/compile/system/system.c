/* Creates an hm_system: derives the equations, lays out and builds its tapes, checks what they need. */
#include "base/argument.h"
#include "compile/system/system.h"

#include <math.h>
#include <string.h>

/* ---- lists of outputs ---- */

typedef struct output_list {
    const hm_allocator *allocator;
    HMI_ARRAY(hmi_expr) list;
    bool failed;
} output_list;

/* Appends `count` expressions (NULL: nothing) and says where they start. */
static size_t append(output_list *out, const hmi_expr *list, size_t count)
{
    size_t start = out->list.count;
    for (size_t i = 0; i < count && !out->failed; i++)
        out->failed = !hmi_array_push(out->allocator, &out->list, list[i]);
    return start;
}

static hm_status compile_list(output_list *out, hmi_tape *tape, const hmi_graph *graph,
                              hmi_tape_scratch *scratch)
{
    hm_status status = out->failed
                           ? HM_ERR_NOMEM
                           : hmi_tape_build(tape, graph, out->list.data, out->list.count, scratch);
    hmi_array_release(out->allocator, &out->list);
    return status;
}

/* ---- the tapes ---- */

/* The servo's right-hand side without its gain terms, for `law lyapunov`. */
static hm_status append_free_servos(hm_system *system, output_list *out)
{
    hmi_derived *d = &system->derived;
    hmi_graph *g = &d->graph;
    const hm_model *model = system->model;
    for (size_t i = 0; i < d->servos.count; i++) {
        const hmi_servo_row *row = &model->servo_rows.data[i];
        hmi_expr k = model->servos.data[row->servo].gain, b = d->servos.b[i];
        if (row->row.level == HM_LEVEL_VELOCITY)
            b = hmi_add(g, b, hmi_mul(g, k, d->servos.velocity_residual[i]));
        append(out, &b, 1);
    }
    return g->status;
}

static hm_status compile_dynamics(hm_system *system, hmi_tape_scratch *scratch)
{
    hmi_derived *d = &system->derived;
    hmi_dynamics_layout *at = &system->at;
    output_list out = {.allocator = system->allocator};
    at->M = append(&out, d->M.value.data, d->M.value.count);
    at->Q = append(&out, d->Q, d->n);
    at->A = append(&out, d->constraints.A.value.data, d->constraints.A.value.count);
    at->b = append(&out, d->constraints.b, d->constraints.count);
    at->C = append(&out, d->C, d->n);
    at->servo_A = append(&out, d->servos.A.value.data, d->servos.A.value.count);
    at->servo_b = append(&out, d->servos.b, d->servos.count);
    at->servo_b_free = out.list.count;
    hm_status status = append_free_servos(system, &out);
    at->servo_limit = out.list.count;
    for (size_t i = 0; i < system->model->servos.count; i++) {
        hmi_expr limit = system->model->servos.data[i].limit;
        limit = limit == HMI_NONE ? d->graph.zero : limit;
        append(&out, &limit, 1);
    }
    at->state_rates = append(&out, d->state_rates, system->model->states.count);
    at->count = out.list.count;
    system->dynamics_outputs = hmi_arena_alloc(&d->arena,
                                               (at->count + 1) * sizeof *system->dynamics_outputs);
    if (!system->dynamics_outputs)
        out.failed = true;
    else if (at->count)
        memcpy(system->dynamics_outputs, out.list.data, at->count * sizeof *out.list.data);
    hm_status compiled = compile_list(&out, &system->dynamics, &d->graph, scratch);
    return status == HM_OK ? compiled : status;
}

static hm_status compile_law(hm_system *system, hmi_tape_scratch *scratch)
{
    hmi_derived *d = &system->derived;
    output_list out = {.allocator = system->allocator};
    if (!d->force_symbols)
        return HM_OK;
    append(&out, d->Q, d->n);
    append(&out, d->C, d->n);
    for (size_t i = 0; i < d->n; i++) {
        hmi_expr free = hmi_free_of_reactions(&d->graph, d->Q[i]);
        append(&out, &free, 1);
    }
    hm_status compiled = compile_list(&out, &system->law, &d->graph, scratch);
    return d->graph.status == HM_OK ? compiled : d->graph.status;
}

static hm_status compile_report(hm_system *system, hmi_tape_scratch *scratch)
{
    const hmi_derived *d = &system->derived;
    hmi_report_layout *at = &system->report_at;
    output_list out = {.allocator = system->allocator};
    at->position_residual = append(&out, d->constraints.position_residual, d->constraints.count);
    at->velocity_residual = append(&out, d->constraints.velocity_residual, d->constraints.count);
    at->momentum = append(&out, d->momentum, d->n);
    at->kinetic = append(&out, &d->kinetic, 1);
    at->potential = append(&out, &d->potential, 1);
    at->total = append(&out, &d->total, 1);
    at->impressed = append(&out, &d->power.impressed, 1);
    at->dissipation = append(&out, &d->power.dissipation, 1);
    at->gyroscopic = append(&out, &d->power.gyroscopic, 1);
    at->explicit_time = append(&out, &d->power.explicit_time, 1);
    at->outputs = out.list.count;
    append(&out, d->outputs, system->model->outputs.count);
    at->drawings = append(&out, d->drawings, system->model->drawing_values);
    at->count = out.list.count;
    return compile_list(&out, &system->report, &d->graph, scratch);
}

static hm_status compile_contact(hm_system *system, hmi_tape_scratch *scratch)
{
    const hmi_derived *d = &system->derived;
    const hm_model *model = system->model;
    hmi_contact_layout *at = &system->contact_at;
    output_list out = {.allocator = system->allocator};
    size_t m = d->constraints.count;
    if (!model->has_contacts)
        return HM_OK;
    at->gap = append(&out, d->constraints.position_residual, m);
    at->rate = append(&out, d->constraints.velocity_residual, m);
    at->restitution = out.list.count;
    for (size_t i = 0; i < m; i++)
        append(&out, &model->constraints.data[i].restitution, 1);
    at->when = out.list.count;
    for (size_t i = 0; i < m; i++) {
        hmi_expr when = model->constraints.data[i].when;
        append(&out, when == HMI_NONE ? &d->graph.one : &when, 1);
    }
    at->tangent_A = append(&out, d->tangents.A.value.data, d->tangents.A.value.count);
    at->tangent_b = append(&out, d->tangents.b, d->tangents.count);
    at->sliding = append(&out, d->tangents.velocity_residual, d->tangents.count);
    at->mus = out.list.count;
    for (size_t i = 0; i < model->frictions.count; i++)
        append(&out, &model->frictions.data[i].mus, 1);
    at->muk = out.list.count;
    for (size_t i = 0; i < model->frictions.count; i++)
        append(&out, &model->frictions.data[i].muk, 1);
    at->count = out.list.count;
    return compile_list(&out, &system->contact, &d->graph, scratch);
}

static hm_status compile_inputs(hm_system *system, hmi_tape_scratch *scratch)
{
    const hmi_derived *d = &system->derived;
    output_list out = {.allocator = system->allocator};
    for (int order = 0; order < 3; order++)
        append(&out, d->input_values[order], system->model->inputs.count);
    return compile_list(&out, &system->inputs, &d->graph, scratch);
}

static hm_status compile_tapes(hm_system *system)
{
    hmi_tape_scratch scratch;
    hmi_tape_scratch_init(&scratch, system->allocator);
    hm_status status = compile_dynamics(system, &scratch);
    if (status == HM_OK)
        status = compile_law(system, &scratch);
    if (status == HM_OK)
        status = compile_report(system, &scratch);
    if (status == HM_OK)
        status = compile_inputs(system, &scratch);
    if (status == HM_OK)
        status = compile_contact(system, &scratch);
    hmi_tape_scratch_release(&scratch);
    return status;
}

/* ---- checks ---- */

/* A constraint that uses an input needs its derivatives; a default that depends on velocities has
 * none that is known before the accelerations are. */
static bool reads_symbol(const hmi_tape *tape, hmi_symbol_kind kind, size_t index)
{
    for (size_t i = 0; i < tape->inputs.count; i++) {
        const hmi_tape_input *input = &tape->inputs.data[i];
        if (input->kind == kind && index >= input->first && index < input->first + input->count)
            return true;
    }
    return false;
}

/* A default that depends on velocities has no rate, one that depends on coordinates no second rate. */
static void refuse_rate(const hm_system *system, size_t k, bool velocities)
{
    const hmi_input *input = &system->model->inputs.data[k];
    if (velocities)
        hmi_error(system->reports, input->span,
                  "let the default depend on t and the coordinates only",
                  "the time derivative of input '%s' is needed, but its default depends on "
                  "velocities",
                  input->name);
    else
        hmi_error(system->reports, input->span,
                  "write its expression in the constraint itself (let instead of input)",
                  "the second time derivative of input '%s' is needed, but its default depends on "
                  "the motion: it has none before the accelerations are known",
                  input->name);
}

static hm_status check_input_rates(const hm_system *system)
{
    const hm_model *model = system->model;
    size_t errors = system->reports->errors;
    for (size_t k = 0; k < model->inputs.count; k++)
        for (int order = 1; order < 3; order++) {
            hmi_symbol_kind kind = order == 1 ? HMI_SYM_INPUT_RATE : HMI_SYM_INPUT_RATE2;
            if (system->derived.input_values[order][k] == HMI_NONE &&
                reads_symbol(&system->dynamics, kind, k))
                refuse_rate(system, k, system->derived.input_values[1][k] == HMI_NONE);
        }
    return hmi_context_status(system->reports, errors);
}

/* Which multipliers do the force laws use? They must be unique. */
static hm_status find_used_multipliers(hm_system *system)
{
    const hmi_derived *d = &system->derived;
    hmi_walk walk;
    system->multiplier_used = hmi_arena_alloc(&system->derived.arena, d->constraints.count + 1);
    if (!system->multiplier_used)
        return HM_ERR_NOMEM;
    if (!d->force_symbols)
        return HM_OK;
    hmi_walk_init(&walk, system->allocator);
    hm_status status = hmi_walk_begin(&walk, &d->graph);
    for (size_t i = 0; i < d->n && status == HM_OK; i++) {
        status = hmi_walk_add(&walk, &d->graph, d->Q[i], HMI_DEP_FORCES);
        if (status == HM_OK)
            status = hmi_walk_add(&walk, &d->graph, d->C[i], HMI_DEP_FORCES);
    }
    for (size_t i = 0; i < walk.order.count; i++) {
        const hmi_node *node = hmi_node_at(&d->graph, walk.order.data[i]);
        if (node->op == HMI_SYMBOL &&
            (node->a == HMI_SYM_MULTIPLIER || node->a == HMI_SYM_TOTAL_MULTIPLIER))
            system->multiplier_used[node->b] = true;
    }
    hmi_walk_release(&walk);
    return status;
}

/* ---- creation ---- */

/* Which statement asks for most: the one that most rows, or else the last coordinates, come from. */
static hmi_span largest_statement(const hm_model *m)
{
    if (m->constraints.count >= m->coords.count && m->constraints.count > 0)
        return m->constraints.data[m->constraints.count - 1].span;
    return m->coords.count > 0 ? m->coords.data[m->coords.count - 1].span : hmi_no_span;
}

static hm_status report_failure(const hm_system *system, hm_status status)
{
    hm_context *context = system->reports;
    if (status == HM_ERR_LIMIT && system->derived.graph.status == HM_ERR_LIMIT)
        hmi_error(context, hmi_no_span, NULL,
                  "the derived equations are too large: more than %d expressions", HMI_MOST_NODES);
    else if (status == HM_ERR_LIMIT)
        hmi_error(context, hmi_no_span, NULL,
                  "the derived equations are too large: M and A have too many entries");
    return hmi_context_memory_status(context, status, largest_statement(system->model),
                                     "deriving the equations of this many rows");
}

/* The context's list of them may grow when it reads another model; their texts stay where they are. */
static hm_status take_sources(hm_system *system)
{
    const hm_context *context = system->model->context;
    size_t count = hmi_context_source_count(context);
    system->sources = hmi_arena_alloc(&system->derived.arena,
                                      (count + 1) * sizeof *system->sources);
    if (!system->sources)
        return HM_ERR_NOMEM;
    for (size_t i = 0; i < count; i++)
        system->sources[i] = *hmi_context_source(context, i);
    system->source_count = count;
    return HM_OK;
}

static hm_status build(hm_system *system)
{
    hm_status status = hmi_derive_model(&system->derived, system->model, system->reports);
    system->derived.graph.interpreted = system->interpreted;
    if (status == HM_OK)
        status = compile_tapes(system);
    if (status == HM_OK)
        status = find_used_multipliers(system);
    if (status == HM_OK)
        status = check_input_rates(system);
    if (status == HM_OK)
        status = hmi_block_schur_create(&system->derived, &system->schur, &system->no_schur);
    return status == HM_OK ? take_sources(system) : status;
}

hm_context *hmi_system_context(const hm_system *system)
{
    return hmi_context_create_for(system->allocator, system->sources, system->source_count);
}

hm_status hm_system_create(const hm_model *model, hm_system **out)
{
    return hm_system_create_with(model, NULL, out);
}

/* A context that knows the model's sources, for one thread. */
static hm_context *new_reports(const hm_model *model, hmi_source **sources, size_t *count)
{
    *count = hmi_context_source_count(model->context);
    *sources = hmi_alloc(&model->context->allocator, (*count + 1) * sizeof **sources);
    for (size_t i = 0; i < *count && *sources; i++)
        (*sources)[i] = *hmi_context_source(model->context, i);
    return *sources ? hmi_context_create_for(&model->context->allocator, *sources, *count) : NULL;
}

static hm_status create(const hm_model *model, const hm_system_options *options,
                        hm_context *reports, hm_system **out)
{
    const hm_allocator *allocator = &model->context->allocator;
    hm_system *system = hmi_alloc(allocator, sizeof *system);
    if (!system)
        return hmi_context_memory_status(reports, HM_ERR_NOMEM, hmi_no_span, "the model");
    *system = (hm_system){.model = model, .allocator = allocator, .reports = reports};
    hmi_share(&model->references);
    hm_status status = hmi_assembly_create(system);
    if (status == HM_OK)
        status = hmi_system_choose_engine(system, options);
    if (status == HM_OK)
        status = build(system);
    if (status != HM_OK) {
        status = report_failure(system, status);
        hm_system_destroy(system);
        return status;
    }
    system->reports = NULL;
    *out = system;
    return HM_OK;
}

/* Texts of diagnostics belong to their context; sources are looked at while they are made. */
static hm_status create_apart(const hm_model *model, const hm_system_options *options,
                              hm_system **out)
{
    hmi_source *sources = NULL;
    size_t count = 0;
    hm_context *reports = new_reports(model, &sources, &count);
    hm_status status = reports ? create(model, options, reports, out) : HM_ERR_NOMEM;
    if (reports)
        hmi_context_forget_sources(reports);
    hmi_free(&model->context->allocator, sources, (count + 1) * sizeof *sources);
    *options->reports = reports;
    return status;
}

hm_status hm_system_create_with(const hm_model *model, const hm_system_options *options,
                                hm_system **out)
{
    HMI_ARGUMENT(model && !(options && options->reports) ? model->context : NULL,
                 model && out && (!options || (unsigned)options->engine <= HM_ENGINE_JIT),
                 "a model and an engine that exists are needed");
    const hm_system_options chosen = options ? *options : hm_system_options_default();
    if (chosen.reports)
        return create_apart(model, &chosen, out);
    hmi_context_begin(model->context);
    return create(model, &chosen, model->context, out);
}

void hm_system_destroy(hm_system *system)
{
    if (!system || !hmi_unshare(&system->references))
        return;
    const hm_model *model = system->model;
    hmi_block_schur_destroy(system->schur);
    hmi_tape_release(&system->inputs);
    hmi_tape_release(&system->dynamics);
    hmi_tape_release(&system->law);
    hmi_tape_release(&system->report);
    hmi_tape_release(&system->contact);
    hmi_derived_release(&system->derived);
    hmi_assembly_destroy(system);
    hmi_free(system->allocator, system, sizeof *system);
    hm_model_destroy((hm_model *)model);
}

const hm_model *hm_system_model(const hm_system *system)
{
    if (!system)
        return NULL;
    return system->model;
}

static size_t count_jumps(const hmi_graph *g)
{
    size_t count = 0;
    for (hmi_expr e = 0; e < g->nodes.count; e++) {
        hmi_op op = hmi_op_of(g, e);
        bool jumps = op == HMI_SIGN || op == HMI_LT || op == HMI_LE || op == HMI_EQ;
        count += jumps && (hmi_deps(g, e) & ~HMI_DEP(HMI_SYM_PARAM));
    }
    return count;
}

hm_system_statistics hm_system_get_statistics(const hm_system *system)
{
    if (!system)
        return (hm_system_statistics){0};
    const hmi_derived *d = &system->derived;
    hm_status assembled = hmi_system_assemble(system);
    (void)assembled; /* without memory for the code the interpreter is what there is */
    return (hm_system_statistics){
        .coordinates = d->n,
        .constraints = d->constraints.count,
        .servo_rows = d->servos.count,
        .mass_entries = d->M.value.count,
        .constraint_entries = d->constraints.A.value.count,
        .graph_nodes = d->graph.nodes.count,
        .tape_nodes = system->dynamics.node_count,
        .tape_instructions = system->dynamics.body.count,
        .work_doubles = system->dynamics.work_size,
        .engine = system->dynamics.code.entry ? HM_ENGINE_JIT : HM_ENGINE_INTERP,
        .code_bytes = system->dynamics.code.size,
        .jumps = count_jumps(&d->graph),
    };
}

hm_servo_info hm_system_servo(const hm_system *system, size_t index)
{
    if (!system || index >= system->derived.servos.count)
        return (hm_servo_info){0};
    const hmi_servo_degrees *degrees = &system->derived.degrees;
    return (hm_servo_info){.degree = degrees->degree[index],
                           .implied = degrees->implied[index],
                           .refusal = degrees->refused == index ? degrees->refusal : NULL};
}

/* ---- parameters ---- */

hm_status hmi_system_evaluate_params(const hm_system *system, const bool *set, double *values)
{
    const hm_model *model = system->model;
    for (size_t i = 0; i < model->params.count; i++) {
        if (set[i])
            continue;
        hm_status status = hmi_evaluate_constant(&model->graph, model->params.data[i].value_expr,
                                                 values, &values[i]);
        if (status != HM_OK)
            return status;
    }
    return HM_OK;
}
