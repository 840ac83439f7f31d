/* Declarations: model, param, coord, input, state. */
#include "model/build/family.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

bool hmi_build_model_name(hmi_builder *b, const hmi_statement *s, const hmi_scope *scope)
{
    (void)scope;
    if (b->model->name) {
        hmi_error(b->context, s->span, NULL, "the model is already named '%s'", b->model->name);
        return false;
    }
    const char *name = hmi_names_text(&b->tree->names, s->label->name);
    b->model->name = hmi_arena_text(&b->model->arena, name, strlen(name));
    if (s->text)
        b->model->title = hmi_arena_text(&b->model->arena, s->text, strlen(s->text));
    return (b->model->name && (b->model->title || !s->text)) || hmi_no_memory(b);
}

/* "a", "a[2]" or "a[1,2]": the name of component k of a value of this shape. */
static const char *component_name(hmi_builder *b, const char *base, const hmi_value *shape,
                                  size_t k)
{
    char buffer[64] = "";
    if (shape->rank == 1)
        snprintf(buffer, sizeof buffer, "[%zu]", k + 1);
    else if (shape->rank == 2)
        snprintf(buffer, sizeof buffer, "[%zu,%zu]", k / shape->columns + 1,
                 k % shape->columns + 1);
    size_t length = strlen(base) + strlen(buffer);
    char *name = hmi_model_alloc(b, length + 1);
    if (name) {
        memcpy(name, base, strlen(base));
        memcpy(name + strlen(base), buffer, strlen(buffer));
    }
    return name;
}

/* ---- parameters ---- */

static const hm_override *find_override(hmi_builder *b, const char *name)
{
    const hm_override *found = NULL;
    for (size_t i = 0; i < b->override_count; i++) /* the last one wins */
        if (strcmp(b->overrides[i].name, name) == 0) {
            found = &b->overrides[i];
            b->override_used[i] = true;
        }
    return found;
}

/* The value of an override, an expression of its own little source "--set name". */
static bool override_value(hmi_builder *b, const hm_override *override, hmi_value *out,
                           hmi_span *at)
{
    const char *shown = hmi_context_printf(b->context, "--set %s", override->name);
    uint32_t file = shown ? hmi_context_add_source(b->context, shown, NULL, override->value,
                                                   strlen(override->value))
                          : HMI_NO_FILE;
    hmi_ast *e = file == HMI_NO_FILE ? NULL : hmi_parse_expression(b->tree, file);
    if (e)
        *at = e->span;
    return e && hmi_build_value(b, e, NULL, out);
}

static bool add_param(hmi_builder *b, const char *name, hmi_expr value_expr, hmi_span at,
                      bool overridden, const hmi_shown *shown, hmi_expr *symbol)
{
    hmi_param param = {
        .name = name, .shown = shown, .value_expr = value_expr, .overridden = overridden};
    const hm_override *component = name ? find_override(b, name) : NULL;
    hmi_value value;
    if (component && !overridden) {
        if (!override_value(b, component, &value, &at))
            return false;
        if (value.rank != 0) {
            char shape[HMI_SHAPE_TEXT];
            hmi_error(b->context, at, NULL, "a component must be a number, not %s",
                      hmi_shape_text(&value, shape));
            return false;
        }
        param.value_expr = value.scalar;
        param.overridden = true;
    }
    if (hmi_deps(b->graph, param.value_expr) & ~HMI_DEP(HMI_SYM_PARAM)) {
        hmi_error(b->context, at, "use 'let' for an expression of coordinates or time",
                  "a parameter is constant: it may use only earlier parameters");
        return false;
    }
    if (!hmi_constant_value(b, param.value_expr, &param.value))
        return false;
    if (!isfinite(param.value)) {
        hmi_error(b->context, at, NULL, "the value of '%s' is not a finite number", name);
        return false;
    }
    hmi_check_range(b, shown, name, param.value, at);
    *symbol = hmi_symbol(b->graph, HMI_SYM_PARAM, (uint32_t)b->model->params.count);
    if (!name || !hmi_array_push(&b->context->allocator, &b->model->params, param) ||
        !hmi_array_push(&b->context->allocator, &b->param_values, param.value))
        return hmi_no_memory(b);
    return true;
}

/* The written value, or the whole override in its place. */
static bool param_value(hmi_builder *b, const hmi_entry *entry, const char *name, hmi_value *out,
                        bool *overridden, hmi_span *at)
{
    hmi_value written;
    char shape[2][HMI_SHAPE_TEXT];
    const hm_override *override = find_override(b, name);
    *overridden = override != NULL;
    if (!hmi_build_value(b, entry->value, NULL, &written))
        return false;
    *out = written;
    if (!override)
        return true;
    if (!override_value(b, override, out, at))
        return false;
    if (hmi_same_shape(out, &written))
        return true;
    hmi_error(b->context, hmi_no_span, NULL, "--set %s: the parameter is %s, but the value is %s",
              name, hmi_shape_text(&written, shape[0]), hmi_shape_text(out, shape[1]));
    return false;
}

/* param a[0..2] = [1, 2, 3]: as many components as members, and two indices for a matrix. */
static bool check_family_shape(hmi_builder *b, const hmi_entry *entry, const hmi_family *family,
                               const hmi_value *value)
{
    char shape[HMI_SHAPE_TEXT];
    bool fits = value->rank == family->index_count && value->rows == hmi_index_range(family, 0) &&
                (value->rank < 2 || value->columns == hmi_index_range(family, 1));
    if (fits)
        return true;
    hmi_error(b->context, entry->value->span,
              family->index_count == 1 ? "write param a[0..2] = [1, 2, 3]"
                                       : "write param a[1..2, 1..2] = [[1, 2], [3, 4]]",
              "'%s' has %zu members, but the value is %s", family->base, family->count,
              hmi_shape_text(value, shape));
    return false;
}

static bool declare_params(hmi_builder *b, const hmi_entry *entry)
{
    hmi_family family;
    hmi_value value;
    hmi_expr symbol;
    bool overridden;
    hmi_span at = entry->value->span;
    size_t first = b->model->params.count;
    const hmi_shown *shown;
    if (!hmi_build_family(b, entry, HMI_MOST_COMPONENTS, &family) ||
        !hmi_build_note(b, &entry->note, NULL, &shown) ||
        !param_value(b, entry, family.base, &value, &overridden, &at) ||
        !check_family_shape(b, entry, &family, &value))
        return false;
    for (size_t k = 0; k < family.count; k++)
        if (!add_param(b, hmi_member_name(b, &family, k), value.items[k], at, overridden, shown,
                       &symbol))
            return false;
    return hmi_declare_family(b, entry, &family, "parameter", HMI_SYM_PARAM, first);
}

static bool declare_param(hmi_builder *b, const hmi_entry *entry)
{
    hmi_value value;
    bool overridden;
    if (entry->index_count)
        return declare_params(b, entry);
    const char *name = hmi_names_text(&b->tree->names, entry->target->name);
    hmi_span at = entry->value->span;
    const hmi_shown *shown;
    if (!hmi_build_note(b, &entry->note, NULL, &shown) ||
        !param_value(b, entry, name, &value, &overridden, &at))
        return false;
    if (value.boolean) {
        hmi_error(b->context, entry->value->span, NULL, "a comparison is not a number");
        return false;
    }
    if (hmi_value_count(&value) > HMI_MOST_COMPONENTS) {
        hmi_error(b->context, entry->span, NULL, "too many components");
        return false;
    }
    hmi_value symbols;
    if (!hmi_value_new(b, value.rank, value.rows, value.columns, &symbols))
        return false;
    for (size_t k = 0; k < hmi_value_count(&value); k++)
        if (!add_param(b, component_name(b, name, &value, k), hmi_value_item(&value, k), at,
                       overridden, shown, &symbols.items[k]))
            return false;
    hmi_binding *slot = hmi_declare(b, entry->target, "parameter");
    if (!slot)
        return false;
    slot->value = value.rank == 0 ? hmi_scalar(symbols.items[0]) : symbols;
    return true;
}

bool hmi_build_param(hmi_builder *b, const hmi_statement *s, const hmi_scope *scope)
{
    (void)scope;
    bool good = true;
    for (size_t i = 0; i < s->entry_count; i++)
        good = (declare_param(b, &s->entries[i]) || hmi_declare_failed(b, s->entries[i].target)) &&
               good;
    return good;
}

/* ---- coordinates ---- */

static bool too_many_coords(hmi_builder *b, hmi_span at)
{
    hmi_error(b->context, at, NULL, "more than %d coordinates", HMI_MOST_COORDS);
    b->context->limit_exceeded = true;
    return false;
}

bool hmi_add_coord(hmi_builder *b, const char *name, const hmi_shown *shown, hmi_span at,
                   hmi_expr *symbol)
{
    hmi_coord coord = {.name = name, .shown = shown, .span = at};
    if (b->model->coords.count >= HMI_MOST_COORDS)
        return too_many_coords(b, at);
    *symbol = hmi_symbol(b->graph, HMI_SYM_COORD, (uint32_t)b->model->coords.count);
    if (!name || !hmi_array_push(&b->context->allocator, &b->model->coords, coord))
        return hmi_no_memory(b);
    return true;
}

/* coord q[1..N, 0..M] */
static bool declare_coordinates(hmi_builder *b, const hmi_entry *entry)
{
    hmi_family family;
    const hmi_shown *shown;
    hmi_expr symbol;
    if (!hmi_build_family(b, entry, HMI_MOST_COORDS, &family) ||
        !hmi_build_note(b, &entry->note, NULL, &shown))
        return false;
    if (family.count > HMI_MOST_COORDS - b->model->coords.count)
        return too_many_coords(b, entry->span);
    if (!hmi_declare_family(b, entry, &family, "coordinate", HMI_SYM_COORD, b->model->coords.count))
        return false;
    /* Millions would be copied while they grow; small families grow with all the others. */
    if (family.count > b->model->coords.count &&
        !hmi_array_reserve(&b->context->allocator, &b->model->coords, family.count))
        return hmi_no_memory(b);
    for (size_t k = 0; k < family.count; k++)
        if (!hmi_add_coord(b, hmi_member_name(b, &family, k), shown, entry->span, &symbol))
            return false;
    return true;
}

static bool declare_coordinate(hmi_builder *b, const hmi_entry *entry)
{
    if (entry->index_count)
        return declare_coordinates(b, entry);
    const char *name = hmi_names_text(&b->tree->names, entry->target->name);
    const hmi_shown *shown;
    if (!hmi_build_note(b, &entry->note, NULL, &shown))
        return false;
    hmi_binding *slot = hmi_declare(b, entry->target, "coordinate");
    hmi_expr symbol;
    if (!slot || !hmi_add_coord(b, hmi_arena_text(&b->model->arena, name, strlen(name)), shown,
                                entry->span, &symbol))
        return false;
    slot->value = hmi_scalar(symbol);
    return true;
}

/* Is there room for all families of the statement? Said before the first of them takes time and memory. */
static bool fits(hmi_builder *b, const hmi_statement *s)
{
    size_t count = b->model->coords.count;
    for (size_t i = 0; i < s->entry_count; i++) {
        hmi_family family = {.count = 1};
        if (s->entries[i].index_count &&
            !hmi_build_family(b, &s->entries[i], HMI_MOST_COORDS, &family))
            return true; /* whoever declares it says what is wrong */
        if (family.count > HMI_MOST_COORDS - count)
            return too_many_coords(b, s->entries[i].span);
        count += family.count;
    }
    return true;
}

bool hmi_build_coord(hmi_builder *b, const hmi_statement *s, const hmi_scope *scope)
{
    (void)scope;
    bool good = true;
    if (s->entry_count > 1 && !fits(b, s))
        return false;
    for (size_t i = 0; i < s->entry_count; i++)
        good = (declare_coordinate(b, &s->entries[i]) ||
                hmi_declare_failed(b, s->entries[i].target)) &&
               good;
    return good;
}

/* ---- inputs and states: names first, right-hand sides when every name is known ---- */

/* Declares a plain name, or a member z[i] of an indexed one. */
static bool declare_signal(hmi_builder *b, const hmi_ast *target, const hmi_scope *scope,
                           const char *what, hmi_symbol_kind kind, uint32_t index,
                           const char **name)
{
    const hmi_ast *base = target->kind == HMI_AST_INDEX ? target->items[0] : target;
    if (base->kind != HMI_AST_NAME) {
        bool state = strcmp(what, "state") == 0;
        hmi_error(b->context, target->span, state ? "write state z' = E" : "write input u = E",
                  "%s is declared with a name", state ? "a state" : "an input");
        return false;
    }
    const char *text = hmi_label_text(b, target, scope);
    if (!text)
        return false;
    *name = hmi_arena_text(&b->model->arena, text, strlen(text));
    if (target->kind == HMI_AST_INDEX) {
        const hmi_binding *known = hmi_find_binding(b, NULL, base->name);
        if (!known || known->kind != HMI_BIND_INDEXED || strcmp(known->what, what) != 0) {
            hmi_binding *slot = hmi_declare(b, base, what);
            if (!slot)
                return false;
            slot->kind = HMI_BIND_INDEXED;
        }
        return (*name || hmi_no_memory(b)) &&
               hmi_declare_object(b, *name, what, index, target->span);
    }
    hmi_binding *slot = hmi_declare(b, target, what);
    if (!slot)
        return false;
    slot->value = hmi_scalar(hmi_symbol(b->graph, kind, index));
    return *name || hmi_no_memory(b);
}

/* z of z', z[i]' and z''. */
static const hmi_ast *base_of(const hmi_ast *target)
{
    while (target->kind == HMI_AST_PRIME || target->kind == HMI_AST_INDEX)
        target = target->items[0];
    return target;
}

bool hmi_build_input_name(hmi_builder *b, const hmi_statement *s, const hmi_scope *scope)
{
    bool good = true;
    for (size_t i = 0; i < s->entry_count; i++) {
        hmi_input input = {.span = s->entries[i].span, .value = HMI_NONE};
        if (!declare_signal(b, s->entries[i].target, scope, "input", HMI_SYM_INPUT,
                            (uint32_t)b->model->inputs.count, &input.name))
            good = hmi_declare_failed(b, base_of(s->entries[i].target));
        else if (!hmi_array_push(&b->context->allocator, &b->model->inputs, input))
            return hmi_no_memory(b);
    }
    return good;
}

static const hmi_ast *unprimed(hmi_builder *b, const hmi_ast *target)
{
    if (target->kind == HMI_AST_PRIME)
        return target->items[0];
    hmi_error(b->context, target->span, "write state z' = E",
              "a state is declared with its derivative");
    return NULL;
}

bool hmi_build_state_name(hmi_builder *b, const hmi_statement *s, const hmi_scope *scope)
{
    bool good = true;
    for (size_t i = 0; i < s->entry_count; i++) {
        hmi_state state = {.span = s->entries[i].span, .rate = HMI_NONE};
        const hmi_ast *target = unprimed(b, s->entries[i].target);
        if (!target || !declare_signal(b, target, scope, "state", HMI_SYM_STATE,
                                       (uint32_t)b->model->states.count, &state.name))
            good = hmi_declare_failed(b, base_of(s->entries[i].target));
        else if (!hmi_array_push(&b->context->allocator, &b->model->states, state))
            return hmi_no_memory(b);
    }
    return good;
}

/* The symbol a name was declared as; false where the declaration failed (and was reported). */
static bool declared_symbol(hmi_builder *b, const hmi_ast *target, const hmi_scope *scope,
                            hmi_symbol_kind kind, uint32_t *index)
{
    hmi_expr e;
    if (!hmi_build_scalar(b, target, scope, &e))
        return false;
    const hmi_node *node = hmi_node_at(b->graph, e);
    *index = node->b;
    return node->op == HMI_SYMBOL && node->a == kind;
}

bool hmi_build_input(hmi_builder *b, const hmi_statement *s, const hmi_scope *scope)
{
    const uint16_t allowed = HMI_STATE_DEPS &
                             ~(HMI_DEP(HMI_SYM_INPUT) | HMI_DEP(HMI_SYM_INPUT_RATE) |
                               HMI_DEP(HMI_SYM_INPUT_RATE2));
    bool good = true;
    for (size_t i = 0; i < s->entry_count; i++) {
        hmi_expr value;
        uint32_t index;
        const hmi_entry *entry = &s->entries[i];
        if (declared_symbol(b, entry->target, scope, HMI_SYM_INPUT, &index) &&
            hmi_build_scalar(b, entry->value, scope, &value) &&
            hmi_check_contents(b, value, allowed, entry->value->span, "the default of an input"))
            b->model->inputs.data[index].value = value;
        else
            good = false;
    }
    return good;
}

bool hmi_build_state(hmi_builder *b, const hmi_statement *s, const hmi_scope *scope)
{
    bool good = true;
    for (size_t i = 0; i < s->entry_count; i++) {
        hmi_expr value;
        uint32_t index;
        const hmi_entry *entry = &s->entries[i];
        if (entry->target->kind == HMI_AST_PRIME &&
            declared_symbol(b, entry->target->items[0], scope, HMI_SYM_STATE, &index) &&
            hmi_build_scalar(b, entry->value, scope, &value) &&
            hmi_check_contents(b, value, HMI_STATE_DEPS, entry->value->span, "the rate of a state"))
            b->model->states.data[index].rate = value;
        else
            good = false;
    }
    return good;
}
