/* Reading "x = 1, x' = 0.2, t = 0", and expressions, against a finished model.
 *
 * The values are expressions of parameters, so a small builder is set up around a scratch model that
 * borrows the coordinates and signals of the real one and has a graph of its own: the model itself
 * is not touched.
 */
#include "base/argument.h"
#include "model/evaluate/builder.h"

#include <string.h>

/* ---- declaring the model's names again ---- */

/* "a[2]" belongs to group "a": the length of the part before the bracket. */
static size_t base_length(const char *name)
{
    const char *bracket = strchr(name, '[');
    return bracket ? (size_t)(bracket - name) : strlen(name);
}

static hmi_binding *declare_text(hmi_builder *b, const char *text, size_t length, const char *what)
{
    hmi_ast name = {.kind = HMI_AST_NAME, .span = hmi_no_span};
    name.name = hmi_names_intern(&b->tree->names, text, length);
    if (name.name == HMI_NO_NAME) {
        hmi_no_memory(b);
        return NULL;
    }
    const hmi_binding *known = hmi_find_binding(b, NULL, name.name);
    return known ? (hmi_binding *)known : hmi_declare(b, &name, what);
}

/* Scalars become values; members of a family or vector are found by their full name. */
static bool declare_symbol(hmi_builder *b, const char *name, const char *what, hmi_symbol_kind kind,
                           size_t index)
{
    size_t length = base_length(name);
    hmi_binding *slot = declare_text(b, name, length, what);
    if (!slot)
        return false;
    if (name[length] == '\0') {
        slot->value = hmi_scalar(hmi_symbol(b->graph, kind, (uint32_t)index));
        return true;
    }
    slot->kind = HMI_BIND_INDEXED;
    return hmi_declare_object(b, name, what, (uint32_t)index, hmi_no_span);
}

/* Scalar `let` names; others are gone once a model is built. */
static bool declare_lets(hmi_builder *b, const hm_model *model)
{
    for (size_t i = 0; i < model->named.count; i++) {
        const hmi_named_expr *named = &model->named.data[i];
        hmi_binding *slot = declare_text(b, named->name, strlen(named->name), "let");
        if (!slot)
            return false;
        slot->value = hmi_scalar(named->expr);
    }
    return true;
}

static bool declare_all(hmi_builder *b, const hm_model *model)
{
    bool good = true;
    for (size_t i = 0; good && i < model->params.count; i++)
        good = declare_symbol(b, model->params.data[i].name, "parameter", HMI_SYM_PARAM, i) &&
               (hmi_array_push(&b->context->allocator, &b->param_values,
                               model->params.data[i].value) ||
                hmi_no_memory(b));
    for (size_t i = 0; good && i < model->coords.count; i++)
        good = declare_symbol(b, model->coords.data[i].name, "coordinate", HMI_SYM_COORD, i);
    for (size_t i = 0; good && i < model->states.count; i++)
        good = declare_symbol(b, model->states.data[i].name, "state", HMI_SYM_STATE, i);
    for (size_t i = 0; good && i < model->table_count; i++) {
        const char *name = model->tables[i].name;
        hmi_binding *slot = declare_text(b, name, strlen(name), "table");
        good = slot != NULL;
        if (slot) {
            slot->kind = HMI_BIND_TABLE;
            slot->table = &model->tables[i];
        }
    }
    for (size_t i = 0; good && i < model->inputs.count; i++)
        good = declare_symbol(b, model->inputs.data[i].name, "input", HMI_SYM_INPUT, i);
    return good;
}

/* ---- assigning ---- */

typedef struct state_arrays {
    const hm_model *model;
    double *t, *q, *v, *z, *u;
    bool *u_set;
} state_arrays;

/* What is no part of a state is told apart. */
static bool has_place(hmi_symbol_kind kind, const state_arrays *to)
{
    switch (kind) {
    case HMI_SYM_TIME:
        return to->t;
    case HMI_SYM_COORD:
        return to->q;
    case HMI_SYM_VELOCITY:
        return to->v;
    case HMI_SYM_STATE:
        return to->z;
    case HMI_SYM_INPUT:
        return to->u && to->u_set;
    default:
        return true;
    }
}

static bool assign(hmi_builder *b, const hmi_entry *entry, const state_arrays *to)
{
    hmi_expr target;
    double value;
    if (!hmi_build_scalar(b, entry->target, NULL, &target) ||
        !hmi_build_number(b, entry->value, NULL, &value))
        return false;
    const hmi_node *node = hmi_node_at(b->graph, target);
    hmi_symbol_kind kind = node->op == HMI_SYMBOL ? (hmi_symbol_kind)node->a : HMI_SYM_KIND_COUNT;
    if (!has_place(kind, to)) {
        hmi_error(b->context, entry->target->span, NULL, "there is no place for this value");
        return false;
    }
    if (kind == HMI_SYM_TIME)
        *to->t = value;
    else if (kind == HMI_SYM_COORD)
        to->q[node->b] = value;
    else if (kind == HMI_SYM_VELOCITY)
        to->v[node->b] = value;
    else if (kind == HMI_SYM_STATE)
        to->z[node->b] = value;
    else if (kind == HMI_SYM_INPUT) {
        if (!hmi_model_input_is_free(b->context, to->model, node->b, entry->target->span))
            return false;
        to->u[node->b] = value;
        to->u_set[node->b] = true;
    } else {
        hmi_error(b->context, entry->target->span, kind == HMI_SYM_PARAM ? "use --set" : NULL,
                  "a state consists of t, coordinates, velocities, states and inputs");
        return false;
    }
    return true;
}

static hm_status read_entries(hmi_builder *b, uint32_t file, const state_arrays *to)
{
    hmi_entry *entries;
    size_t count;
    hm_status status = hmi_parse_assignments(b->tree, file, &entries, &count);
    bool good = true;
    for (size_t i = 0; status == HM_OK && i < count; i++)
        good = assign(b, &entries[i], to) && good;
    if (status == HM_OK && !good)
        status = b->context->out_of_memory ? HM_ERR_NOMEM : HM_ERR_INPUT;
    return status;
}

hm_status hm_model_read_state(hm_context *context, const hm_model *model, const char *text,
                              double *t, double *q, double *v, double *z, double *u, bool *u_set)
{
    HMI_ARGUMENT(context, context && model && text, "a model and a text are needed");
    hmi_context_begin(context);
    uint32_t file = hmi_context_add_source(context, "--at", NULL, text, strlen(text));
    if (file == HMI_NO_FILE)
        return HM_ERR_NOMEM;
    hm_model *scratch = hmi_new_model(context);
    if (!scratch)
        return HM_ERR_NOMEM;
    hmi_tree tree;
    hmi_builder builder;
    hmi_tree_init(&tree, context);
    const state_arrays to = {model, t, q, v, z, u, u_set};
    hm_model_options options = hm_model_options_default();
    hm_status status = HM_ERR_NOMEM;
    bool ready = hmi_builder_init(&builder, context, &tree, scratch, &options);
    for (size_t i = 0; ready && i < model->params.count; i++)
        ready = hmi_array_push(&context->allocator, &scratch->params, model->params.data[i]);
    if (ready && declare_all(&builder, model))
        status = read_entries(&builder, file, &to);
    hmi_builder_release(&builder);
    hmi_tree_release(&tree);
    hm_model_destroy(scratch);
    return status;
}

/* ---- expressions ---- */

static hm_status build_expression(hmi_builder *b, uint32_t file, hmi_expr *out)
{
    size_t errors = b->context->errors;
    const hmi_ast *e = hmi_parse_expression(b->tree, file);
    bool good = e && hmi_build_scalar(b, e, NULL, out) &&
                hmi_check_contents(b, *out, HMI_STATE_DEPS, e->span, "a Lagrangian");
    hm_status status = hmi_context_status(b->context, errors);
    return status == HM_OK && !good ? HM_ERR_INPUT : status;
}

hm_status hmi_model_read_expression(hm_model *model, const char *name, const char *text,
                                    size_t length, hmi_expr *out)
{
    hm_context *context = model->context;
    hmi_context_begin(context);
    uint32_t file = hmi_context_add_source(context, name, NULL, text, length);
    if (file == HMI_NO_FILE)
        return HM_ERR_NOMEM;
    hmi_tree tree;
    hmi_builder builder;
    hmi_tree_init(&tree, context);
    hm_model_options options = hm_model_options_default();
    hm_status status = HM_ERR_NOMEM;
    if (hmi_builder_init(&builder, context, &tree, model, &options) &&
        declare_all(&builder, model) && declare_lets(&builder, model))
        status = build_expression(&builder, file, out);
    hmi_builder_release(&builder);
    hmi_tree_release(&tree);
    return status;
}
