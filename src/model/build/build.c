/* Syntax tree -> model: the passes over the statements, and the public entry points. */
#include "base/argument.h"
#include "model/build/body.h"
#include "model/verify.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

#ifndef PATH_MAX
#define PATH_MAX 4096
#endif

/* ---- the passes ---- */

static const hmi_statement_builder by_pass[][HMI_STMT_COUNT] = {
    [HMI_PASS_DECLARE] =
        {
            [HMI_STMT_MODEL] = hmi_build_model_name,
            [HMI_STMT_PARAM] = hmi_build_param,
            [HMI_STMT_COORD] = hmi_build_coord,
            [HMI_STMT_INPUT] = hmi_build_input_name,
            [HMI_STMT_STATE] = hmi_build_state_name,
            [HMI_STMT_TABLE] = hmi_build_table,
        },
    [HMI_PASS_BODIES] =
        {
            [HMI_STMT_BODY] = hmi_declare_body,
        },
    [HMI_PASS_SIGNALS] =
        {
            [HMI_STMT_INPUT] = hmi_build_input,
            [HMI_STMT_STATE] = hmi_build_state,
        },
    [HMI_PASS_START] =
        {
            [HMI_STMT_INITIAL] = hmi_build_initial,
            [HMI_STMT_SIMULATE] = hmi_build_simulate,
        },
    [HMI_PASS_PHYSICS] =
        {
            [HMI_STMT_KINETIC] = hmi_build_energy,
            [HMI_STMT_POTENTIAL] = hmi_build_energy,
            [HMI_STMT_LAGRANGIAN] = hmi_build_energy,
            [HMI_STMT_DISSIPATION] = hmi_build_energy,
            [HMI_STMT_MASS] = hmi_build_mass,
            [HMI_STMT_GYROSCOPIC] = hmi_build_gyroscopic,
            [HMI_STMT_BODY] = hmi_build_body,
            [HMI_STMT_GRAVITY] = hmi_build_gravity,
            [HMI_STMT_CONSTRAINT] = hmi_build_constraint,
            [HMI_STMT_JOINT] = hmi_build_joint,
            [HMI_STMT_SERVO] = hmi_build_servo,
        },
    [HMI_PASS_RUN] =
        {
            [HMI_STMT_FORCE] = hmi_build_force,
            [HMI_STMT_TORQUE] = hmi_build_torque,
            [HMI_STMT_NONIDEAL] = hmi_build_force,
            [HMI_STMT_FRICTION] = hmi_build_friction,
            [HMI_STMT_SYMMETRY] = hmi_build_symmetry,
            [HMI_STMT_EVENT] = hmi_build_event,
            [HMI_STMT_OUTPUT] = hmi_build_output,
            [HMI_STMT_DRAW] = hmi_build_draw,
        },
};

/* Kinds a pass works on, `for` aside. */
static uint32_t kinds_of(hmi_pass pass)
{
    /* `let`: the members of families, and at the end the errors of those that nothing used. */
    bool lets = pass == HMI_PASS_DECLARE || pass == HMI_PASS_RUN;
    uint32_t kinds = lets ? 1u << HMI_STMT_LET : 0;
    for (int kind = 0; kind < HMI_STMT_COUNT; kind++)
        if (by_pass[pass][kind])
            kinds |= 1u << kind;
    return kinds;
}

static bool run_block(hmi_builder *b, const hmi_statement *s, const hmi_scope *scope, bool top);

static bool only_at_top(hmi_builder *b, const hmi_statement *s, bool top)
{
    bool declares = s->kind == HMI_STMT_PARAM || s->kind == HMI_STMT_COORD ||
                    s->kind == HMI_STMT_MODEL || s->kind == HMI_STMT_SIMULATE ||
                    s->kind == HMI_STMT_TABLE;
    if (top || !declares)
        return true;
    if (b->pass != HMI_PASS_DECLARE)
        return false; /* reported by then */
    hmi_error(b->context, s->span,
              s->kind == HMI_STMT_COORD ? "declare a family: coord q[1..N]" : NULL,
              "'%s' cannot stand inside 'for'", hmi_statement_word(s->kind));
    return false;
}

/* Do members of families or bodies, which are evaluated later, refer to the scope of the round? */
static bool outlives_pass(const hmi_builder *b, const hmi_statement *s)
{
    return (b->pass == HMI_PASS_DECLARE && (s->contains & 1u << HMI_STMT_LET)) ||
           b->pass == HMI_PASS_BODIES;
}

static bool run_rounds(hmi_builder *b, const hmi_statement *s, const hmi_scope *scope)
{
    int64_t lower, upper;
    if (b->pass == HMI_PASS_DECLARE && !hmi_check_reserved(b, s->word, s->span))
        return false;
    if (!hmi_build_range(b, s->first, s->second, scope, &lower, &upper))
        return false;
    if (b->pass == HMI_PASS_DECLARE &&
        !(s->contains & (kinds_of(b->pass) | 1u << HMI_STMT_SIMULATE)))
        return true;
    hmi_scope local = {.name = s->word, .outer = scope}, *inner = &local;
    local.binding.kind = HMI_BIND_VALUE;
    const size_t before = hmi_forecast_begin(b);
    for (int64_t i = lower; i <= upper; i++) {
        hmi_value index = hmi_scalar(hmi_number(b->graph, (double)i));
        if (outlives_pass(b, s) && !(inner = (hmi_scope *)hmi_scope_push(b, scope, s->word, index)))
            return false;
        inner->binding.value = index;
        if (!hmi_spend(b, 1, s->span) || !run_block(b, s->block, inner, false) ||
            !hmi_forecast_good(b, before, i - lower + 1, upper - lower + 1, s->span))
            return false;
    }
    return true;
}

static bool run_for(hmi_builder *b, const hmi_statement *s, const hmi_scope *scope)
{
    if (!(s->contains & (kinds_of(b->pass) | (b->pass == HMI_PASS_DECLARE ? UINT32_MAX : 0))))
        return true;
    hmi_repeats outer = b->repeats;
    bool good = run_rounds(b, s, scope);
    b->repeats = outer;
    return good;
}

/* Reports the errors of lets that nothing used. */
static bool force_local_lets(hmi_builder *b, const hmi_scope *scope, const hmi_scope *outer)
{
    hmi_value ignored;
    bool good = true;
    for (; scope != outer; scope = scope->outer) {
        hmi_let *let = scope->binding.let;
        if (scope->binding.kind == HMI_BIND_LET && let->target->kind == HMI_AST_NAME)
            good = hmi_force_let(b, let, let->target->span, &ignored) && good;
    }
    return good;
}

static bool run_statement(hmi_builder *b, const hmi_statement *s, const hmi_scope **scope, bool top)
{
    if (s->kind == HMI_STMT_FOR)
        return run_for(b, s, *scope);
    if (!only_at_top(b, s, top))
        return false;
    if (s->kind == HMI_STMT_LET) {
        return (top && b->pass != HMI_PASS_DECLARE) || hmi_declare_lets(b, s, scope, top);
    }
    hmi_statement_builder build = by_pass[b->pass][s->kind];
    return !build || build(b, s, *scope);
}

/* One pass over a list of statements. A failed statement does not stop the others at the top; in a
 * block it does, since the next round would only repeat it. */
static bool run_block(hmi_builder *b, const hmi_statement *s, const hmi_scope *scope, bool top)
{
    const hmi_scope *outer = scope;
    bool good = true;
    for (; s && !hmi_context_too_many(b->context); s = s->next) {
        good = run_statement(b, s, &scope, top) && good;
        if (b->context->out_of_memory)
            (void)hmi_context_memory_status(b->context, HM_ERR_NOMEM, s->span, "this statement");
        if (b->context->limit_exceeded)
            return false;
    }
    if (b->pass == HMI_PASS_RUN)
        good = force_local_lets(b, scope, outer) && good;
    return good;
}

static bool run_pass(hmi_builder *b, hmi_pass pass)
{
    b->pass = pass;
    return run_block(b, b->tree->statements, NULL, true);
}

/* Evaluates lets that nothing used, and keeps the scalar ones as names for output. */
static bool finish_lets(hmi_builder *b)
{
    bool good = true;
    for (hmi_let *let = b->lets; let; let = let->next) {
        hmi_value value;
        if (let->target->kind == HMI_AST_CALL)
            continue;
        if (!hmi_force_let(b, let, let->target->span, &value)) {
            good = false;
            continue;
        }
        if (value.rank != 0 || value.boolean || let->target->kind != HMI_AST_NAME)
            continue;
        const char *text = hmi_names_text(&b->tree->names, let->target->name);
        hmi_named_expr named = {.name = hmi_arena_text(&b->model->arena, text, strlen(text)),
                                .expr = value.scalar};
        if (!named.name || !hmi_array_push(&b->context->allocator, &b->model->named, named))
            return hmi_no_memory(b);
    }
    return good;
}

/* ---- checks on the whole ---- */

/* A parameter that is spelt alike, or which there are. */
static const char *override_hint(hmi_builder *b, const char *wanted)
{
    size_t length = strlen(wanted), count = b->model->params.count;
    int most = length <= 1 ? 0 : length <= 3 ? 1 : 2;
    const char *list = count ? "the parameters are:" : "the model has no parameters";
    for (size_t k = 0; k < count; k++) {
        const char *name = b->model->params.data[k].name;
        if (hmi_edit_distance(wanted, name, most) <= most)
            return hmi_context_printf(b->context, "did you mean '%s'?", name);
        if (list && k < 8)
            list = hmi_context_printf(b->context, "%s%s %s", list, k ? "," : "", name);
    }
    return list;
}

static bool check_overrides(hmi_builder *b)
{
    bool good = true;
    for (size_t i = 0; i < b->override_count; i++) {
        if (b->override_used[i])
            continue;
        hmi_error(b->context, hmi_no_span, override_hint(b, b->overrides[i].name),
                  "--set %s: there is no such parameter", b->overrides[i].name);
        good = false;
    }
    return good;
}

static void check_contains_motion(hmi_builder *b)
{
    const hm_model *m = b->model;
    if (m->coords.count == 0)
        hmi_error(b->context, hmi_no_span, "declare coordinates: coord x, y",
                  "the model has no coordinates");
    else if (m->kinetic == b->graph->zero && m->lagrangian == b->graph->zero && m->mass.count == 0)
        hmi_error(b->context, hmi_no_span, "write kinetic, lagrangian, mass or body",
                  "the model has no kinetic energy and no mass");
}

static bool uses_reactions(const hm_model *m)
{
    for (size_t i = 0; i < m->forces.count + m->nonideal.count; i++) {
        const hmi_force *f = i < m->forces.count ? &m->forces.data[i]
                                                 : &m->nonideal.data[i - m->forces.count];
        for (size_t k = 0; k < f->size; k++)
            if (hmi_deps(&m->graph, f->force[k]) & HMI_DEP_FORCES)
                return true;
    }
    return false;
}

/* Where forces depend on reactions, those of servos are found together with them, without limits. */
static void check_limits(hmi_builder *b)
{
    for (size_t i = 0; i < b->model->servos.count; i++)
        if (b->model->servos.data[i].limit != HMI_NONE && uses_reactions(b->model))
            hmi_error(b->context, b->model->servos.data[i].span, "leave the limit out",
                      "a servo cannot have a limit where forces depend on reactions");
}

static bool build_model(hmi_builder *b, const hm_model_options *options)
{
    run_pass(b, HMI_PASS_DECLARE);
    if (!hmi_context_too_many(b->context))
        check_overrides(b);
    b->force_place = hmi_force_place;
    run_pass(b, HMI_PASS_BODIES);
    run_pass(b, HMI_PASS_SIGNALS);
    run_pass(b, HMI_PASS_START);
    run_pass(b, HMI_PASS_PHYSICS);
    run_pass(b, HMI_PASS_RUN);
    if (!hmi_context_too_many(b->context) && !b->context->limit_exceeded) {
        hmi_apply_gravity(b);
        finish_lets(b);
        if (b->context->errors == b->errors)
            hmi_share_rates(b);
        hmi_check_initial_ranges(b);
        check_limits(b);
    }
    if (options->scene && b->context->errors == b->errors)
        hmi_build_scene(b);
    if (b->context->errors == b->errors)
        check_contains_motion(b);
    if (options->names && b->context->errors == b->errors)
        hmi_keep_meanings(b);
    return b->context->errors == b->errors &&
           (hmi_model_find_name_clashes(b->model) || hmi_no_memory(b)) &&
           hmi_graph_sound(b, hmi_no_span);
}

/* ---- creation ---- */

/* A model may refer to labels that live in the tree's name table: copies them. */
static bool adopt_label(hm_model *model, const char **name)
{
    *name = *name ? hmi_arena_text(&model->arena, *name, strlen(*name)) : NULL;
    return *name != NULL;
}

static bool adopt_labels(hm_model *model)
{
    bool good = true;
    for (size_t i = 0; i < model->constraints.count; i++)
        good = adopt_label(model, &model->constraints.data[i].name) && good;
    for (size_t i = 0; i < model->frictions.count; i++)
        good = adopt_label(model, &model->frictions.data[i].name) && good;
    for (size_t i = 0; i < model->tangents.count; i++)
        good = adopt_label(model, &model->tangents.data[i].name) && good;
    for (size_t i = 0; i < model->bodies.count; i++)
        good = adopt_label(model, &model->bodies.data[i].name) && good;
    for (size_t i = 0; i < model->joints.count; i++)
        good = adopt_label(model, &model->joints.data[i].name) && good;
    for (size_t i = 0; i < model->symmetries.count; i++)
        good = adopt_label(model, &model->symmetries.data[i].name) && good;
    for (size_t i = 0; i < model->events.count; i++)
        good = adopt_label(model, &model->events.data[i].name) && good;
    for (size_t i = 0; i < model->outputs.count; i++)
        good = adopt_label(model, &model->outputs.data[i].name) && good;
    return good;
}

static hm_status build_from_tree(hm_context *context, hmi_tree *tree,
                                 const hm_model_options *options, hm_model **out)
{
    size_t errors = context->errors;
    hm_model *model = hmi_new_model(context);
    if (!model)
        return HM_ERR_NOMEM;
    hmi_builder builder;
    bool good = hmi_builder_init(&builder, context, tree, model, options) &&
                build_model(&builder, options) && (adopt_labels(model) || hmi_no_memory(&builder));
    hm_status status = hmi_context_status(context, errors);
    if (status == HM_OK && !good)
        status = model->graph.status != HM_OK ? model->graph.status : HM_ERR_INPUT;
    status = hmi_context_memory_status(context, status, hmi_no_span, "writing the model out");
    hmi_builder_release(&builder);
    if (status != HM_OK) {
        hm_model_destroy(model);
        return status;
    }
    HMI_VERIFY(hmi_model_verify(model, &(hmi_violation){.text = ""}));
    *out = model;
    return HM_OK;
}

/* Of source `file` and of those that reading it added. */
static uint64_t hash_sources(const hm_context *context, uint32_t file)
{
    uint64_t hash = UINT64_C(0xcbf29ce484222325); /* FNV-1a */
    for (size_t i = file; i < hmi_context_source_count(context); i++) {
        const hmi_source *source = hmi_context_source(context, i);
        for (size_t k = 0; k < source->length; k++)
            hash = (hash ^ (unsigned char)source->text[k]) * UINT64_C(0x100000001b3);
    }
    return hash;
}

static hm_status parse_more(hmi_tree *tree, const hm_model_options *options)
{
    const char *name = options->more_name ? options->more_name : "<more>";
    uint32_t file = hmi_context_add_source(tree->context, name, NULL, options->more,
                                           strlen(options->more));
    return file == HMI_NO_FILE ? HM_ERR_NOMEM : hmi_parse_source(tree, file);
}

static hm_status build_from_source(hm_context *context, uint32_t file,
                                   const hm_model_options *options, hm_model **out)
{
    hmi_tree tree;
    hmi_tree_init(&tree, context);
    context->open_texts = options->open_texts;
    context->open_text_count = options->open_text_count;
    hm_status status = hmi_parse_source(&tree, file);
    if (status == HM_OK && options->more)
        status = parse_more(&tree, options);
    context->open_texts = NULL;
    context->open_text_count = 0;
    /* Names and shapes are checked only in what parsed; with syntax errors the rest would mostly
     * complain about what is missing. */
    uint64_t fingerprint = hash_sources(context, file);
    if (status == HM_OK)
        status = build_from_tree(context, &tree, options, out);
    if (status == HM_OK)
        (*out)->fingerprint = fingerprint;
    hmi_tree_release(&tree);
    return hmi_context_memory_status(context, status, hmi_no_span, "reading the model");
}

hm_model_options hm_model_options_default(void)
{
    return (hm_model_options){.name = "<text>"};
}

static bool options_are_valid(const hm_model_options *options)
{
    size_t count = options ? options->override_count : 0;
    if (count && !options->overrides)
        return false;
    for (size_t i = 0; i < count; i++)
        if (!options->overrides[i].name || !options->overrides[i].value)
            return false;
    size_t texts = options ? options->open_text_count : 0;
    if (texts && !options->open_texts)
        return false;
    for (size_t i = 0; i < texts; i++)
        if (!options->open_texts[i].path || !options->open_texts[i].text)
            return false;
    return true;
}

hm_status hm_model_parse(hm_context *context, const char *text, size_t length,
                         const hm_model_options *options, hm_model **model)
{
    HMI_ARGUMENT(
        context, context && model && (text || length == 0) && options_are_valid(options),
        "a text and a place for the model are needed, and names and values of all overrides");
    hm_model_options chosen = options ? *options : hm_model_options_default();
    const char *name = chosen.name ? chosen.name : "<text>";
    hmi_context_begin(context);
    if (length > HMI_MOST_SOURCE_BYTES) {
        hmi_error(context, hmi_no_span, NULL, "'%s' is larger than %d MiB", name,
                  HMI_MOST_SOURCE_BYTES >> 20);
        return HM_ERR_LIMIT;
    }
    char resolved[PATH_MAX];
    const char *path = chosen.path && realpath(chosen.path, resolved) ? resolved : chosen.path;
    uint32_t file = hmi_context_add_source(context, name, path, text, length);
    if (file == HMI_NO_FILE)
        return hmi_context_memory_status(context, HM_ERR_NOMEM, hmi_no_span, "reading the model");
    return build_from_source(context, file, &chosen, model);
}

hm_status hm_model_load(hm_context *context, const char *path, const hm_model_options *options,
                        hm_model **model)
{
    HMI_ARGUMENT(
        context, context && model && path && options_are_valid(options),
        "a path and a place for the model are needed, and names and values of all overrides");
    hm_model_options chosen = options ? *options : hm_model_options_default();
    size_t errors = context->errors;
    hmi_context_begin(context);
    uint32_t file = hmi_load_source(context, path, path, hmi_no_span);
    if (file == HMI_NO_FILE) {
        hm_status status = hmi_context_status(context, errors);
        status = hmi_context_memory_status(context, status, hmi_no_span, "reading the model");
        return status == HM_ERR_INPUT ? HM_ERR_IO : status;
    }
    return build_from_source(context, file, &chosen, model);
}
