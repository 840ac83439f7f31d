/* Names: declarations, scopes, lets, labels, targets. */
#include "expr/print/print.h"
#include "model/builder.h"

#include <string.h>

const hmi_binding *hmi_find_binding(const hmi_builder *b, const hmi_scope *scope, int name)
{
    for (; scope; scope = scope->outer)
        if (scope->name == name)
            return &scope->binding;
    if ((size_t)name < b->globals.count && b->globals.data[name].kind != HMI_BIND_NONE)
        return &b->globals.data[name];
    return NULL;
}

/* Grows the table of globals to cover every interned name. */
static hmi_binding *global_slot(hmi_builder *b, int name)
{
    while (b->globals.count <= (size_t)name)
        if (!hmi_array_push(&b->context->allocator, &b->globals, (hmi_binding){0})) {
            hmi_no_memory(b);
            return NULL;
        }
    return &b->globals.data[name];
}

static bool is_reserved_name(const hmi_builder *b, int name)
{
    return name == b->name_t || name == b->name_pi;
}

static const char *article(const char *noun)
{
    return strchr("aeiou", noun[0]) ? "an" : "a";
}

static void report_duplicate(hmi_builder *b, const hmi_ast *name, const hmi_binding *first,
                             const char *first_name)
{
    int line, column;
    bool elsewhere = first->span.file != name->span.file;
    const hmi_source *source = hmi_context_source(b->context, first->span.file);
    const char *text = hmi_names_text(&b->tree->names, name->name);
    hmi_source_position(source, first->span.start, &line, &column);
    if (strcmp(text, first_name) == 0)
        hmi_error(b->context, name->span, "choose another name",
                  "'%s' is already declared as %s %s in line %d%s%s", text, article(first->what),
                  first->what, line, elsewhere ? " of " : "", elsewhere ? source->name : "");
    else
        hmi_error(b->context, name->span, "write it in one way, or choose another name",
                  "'%s' and '%s', %s %s in line %d%s%s, are one letter and would be printed alike",
                  text, first_name, article(first->what), first->what, line,
                  elsewhere ? " of " : "", elsewhere ? source->name : "");
}

/* Is theta declared where this is θ, or the other way round? It is reported. */
static bool has_twin(hmi_builder *b, const hmi_ast *name)
{
    const char *text = hmi_names_text(&b->tree->names, name->name);
    if (!hmi_is_greek_name(text))
        return false;
    for (size_t i = 0; i < b->globals.count; i++) {
        const char *other = hmi_names_text(&b->tree->names, (int)i);
        if (b->globals.data[i].kind == HMI_BIND_NONE || !hmi_are_greek_twins(text, other))
            continue;
        report_duplicate(b, name, &b->globals.data[i], other);
        return true;
    }
    return false;
}

bool hmi_check_reserved(hmi_builder *b, int name, hmi_span at)
{
    if (!is_reserved_name(b, name))
        return true;
    hmi_error(b->context, at, NULL, "'%s' is %s and cannot be declared",
              hmi_names_text(&b->tree->names, name), name == b->name_t ? "time" : "a constant");
    return false;
}

hmi_binding *hmi_declare(hmi_builder *b, const hmi_ast *name, const char *what)
{
    if (!hmi_check_reserved(b, name->name, name->span))
        return NULL;
    hmi_binding *slot = global_slot(b, name->name);
    if (!slot)
        return NULL;
    if (slot->kind != HMI_BIND_NONE) {
        report_duplicate(b, name, slot, hmi_names_text(&b->tree->names, name->name));
        return NULL;
    }
    if (has_twin(b, name))
        return NULL;
    *slot = (hmi_binding){.kind = HMI_BIND_VALUE, .span = name->span, .what = what};
    return slot;
}

static void declare_without_value(hmi_builder *b, int name, hmi_span at, bool unknown)
{
    hmi_binding *slot = global_slot(b, name);
    if (slot && slot->kind == HMI_BIND_NONE)
        *slot = (hmi_binding){
            .kind = HMI_BIND_FAILED, .unknown = unknown, .span = at, .what = "name"};
}

bool hmi_declare_failed(hmi_builder *b, const hmi_ast *name)
{
    if (name->kind == HMI_AST_NAME)
        declare_without_value(b, name->name, name->span, false);
    return false;
}

void hmi_declare_unknown(hmi_builder *b, int name, hmi_span at)
{
    declare_without_value(b, name, at, true);
}

/* ---- scopes and lets ---- */

const hmi_scope *hmi_scope_push(hmi_builder *b, const hmi_scope *outer, int name, hmi_value value)
{
    hmi_scope *scope = b->free_scopes;
    if (scope)
        b->free_scopes = (hmi_scope *)scope->outer;
    else
        scope = hmi_builder_alloc(b, sizeof *scope);
    if (!scope)
        return NULL;
    scope->name = name;
    scope->outer = outer;
    scope->binding = (hmi_binding){.kind = HMI_BIND_VALUE, .value = value, .what = "local name"};
    return scope;
}

void hmi_scope_pop(hmi_builder *b, const hmi_scope *inner, const hmi_scope *outer)
{
    while (inner != outer) {
        hmi_scope *scope = (hmi_scope *)inner;
        inner = scope->outer;
        scope->outer = b->free_scopes;
        b->free_scopes = scope;
    }
}

bool hmi_force_let(hmi_builder *b, hmi_let *let, hmi_span at, hmi_value *out)
{
    const char *name = hmi_names_text(&b->tree->names, let->target->name);
    let->used = true;
    if (let->progress == HMI_LET_RUNNING) {
        hmi_error(b->context, at, NULL, "'%s' is defined in terms of itself", name);
        return false;
    }
    if (let->progress == HMI_LET_WAITING) {
        hmi_repeats outer = b->repeats;
        b->repeats = (hmi_repeats){1, 1}; /* evaluated once, wherever it is used */
        let->progress = HMI_LET_RUNNING;
        bool good = hmi_build_value(b, let->body, let->scope, &let->value);
        let->progress = good ? HMI_LET_DONE : HMI_LET_FAILED;
        b->repeats = outer;
    }
    *out = let->value;
    return let->progress == HMI_LET_DONE;
}

/* NAME, or NAME(a, b) with plain names inside. */
static bool check_let_target(hmi_builder *b, const hmi_ast *target)
{
    if (target->kind == HMI_AST_NAME)
        return true;
    if (target->kind != HMI_AST_CALL) {
        hmi_error(b->context, target->span, "write let NAME = E or let NAME(a, b) = E",
                  "this cannot be given a meaning by 'let'");
        return false;
    }
    const char *name = hmi_names_text(&b->tree->names, target->name);
    if (hmi_is_function(name)) {
        hmi_error(b->context, target->span, "choose another name", "'%s' is a built-in function",
                  name);
        return false;
    }
    if (target->count > HMI_MOST_ARGUMENTS) {
        hmi_error(b->context, target->span, "collect them in a vector", "more than %d arguments",
                  HMI_MOST_ARGUMENTS);
        return false;
    }
    for (uint32_t i = 0; i < target->count; i++)
        if (target->items[i]->kind != HMI_AST_NAME) {
            hmi_error(b->context, target->items[i]->span, NULL,
                      "an argument of a function is a plain name");
            return false;
        } else if (!hmi_check_reserved(b, target->items[i]->name, target->items[i]->span)) {
            return false;
        }
    for (uint32_t i = 1; i < target->count; i++)
        for (uint32_t k = 0; k < i; k++)
            if (target->items[i]->name == target->items[k]->name) {
                hmi_error(b->context, target->items[i]->span, "choose another name",
                          "two arguments have the same name");
                return false;
            }
    return true;
}

static hmi_let *new_let(hmi_builder *b, const hmi_entry *entry, const hmi_scope *scope)
{
    hmi_let *let = hmi_builder_alloc(b, sizeof *let);
    if (let) {
        let->target = entry->target;
        let->body = entry->value;
        let->scope = scope;
        let->number = ++b->let_count;
    }
    return let;
}

static bool declare_global_let(hmi_builder *b, const hmi_entry *entry)
{
    hmi_ast name = *entry->target;
    if (name.kind == HMI_AST_CALL)
        name.span.length = (uint32_t)strlen(hmi_names_text(&b->tree->names, name.name));
    hmi_binding *slot = hmi_declare(b, &name, "let");
    hmi_let *let = slot ? new_let(b, entry, NULL) : NULL;
    if (!let)
        return false;
    slot->kind = HMI_BIND_LET;
    slot->let = let;
    *b->lets_tail = let;
    b->lets_tail = &let->next;
    return true;
}

/* The lets of this block lie above its index in the chain of scopes. */
static bool check_local_let(hmi_builder *b, const hmi_ast *target, const hmi_scope *scope)
{
    for (; scope && scope->binding.kind == HMI_BIND_LET; scope = scope->outer)
        if (scope->name == target->name) {
            hmi_error(b->context, target->span, "choose another name",
                      "'%s' is already declared in this block",
                      hmi_names_text(&b->tree->names, target->name));
            return false;
        }
    return hmi_check_reserved(b, target->name, target->span);
}

static bool declare_local_let(hmi_builder *b, const hmi_entry *entry, const hmi_scope **scope)
{
    if (!check_local_let(b, entry->target, *scope))
        return false;
    hmi_let *let = new_let(b, entry, *scope);
    const hmi_scope *inner = let ? hmi_scope_push(b, *scope, entry->target->name, (hmi_value){0})
                                 : NULL;
    if (!inner)
        return false;
    hmi_binding *binding = (hmi_binding *)&inner->binding;
    *binding = (hmi_binding){
        .kind = HMI_BIND_LET, .let = let, .what = "let", .span = entry->target->span};
    *scope = inner;
    return true;
}

bool hmi_declare_lets(hmi_builder *b, const hmi_statement *s, const hmi_scope **scope, bool global)
{
    bool good = true;
    for (size_t i = 0; i < s->entry_count; i++) {
        if (!check_let_target(b, s->entries[i].target))
            good = false;
        else if (!(global ? declare_global_let(b, &s->entries[i])
                          : declare_local_let(b, &s->entries[i], scope)))
            good = false;
    }
    return good;
}

/* ---- labels and objects ---- */

const char *hmi_label_text(hmi_builder *b, const hmi_ast *label, const hmi_scope *scope)
{
    if (label->kind == HMI_AST_NAME)
        return hmi_names_text(&b->tree->names, label->name);
    const char *base = hmi_names_text(&b->tree->names, label->items[0]->name);
    hmi_text text;
    hmi_text_init(&text, &b->context->allocator);
    hmi_text_add(&text, base);
    bool good = true;
    for (uint32_t i = 1; i < label->count && good; i++) {
        int64_t index;
        good = hmi_build_whole(b, label->items[i], scope, "an index", &index);
        if (good)
            hmi_text_addf(&text, "%s%lld", i == 1 ? "[" : ",", (long long)index);
    }
    hmi_text_add(&text, "]");
    char *copy = NULL;
    if (good && !text.failed)
        copy = hmi_arena_text(&b->model->arena, text.data, text.length);
    if (good && !copy)
        hmi_no_memory(b);
    hmi_text_release(&text);
    return copy;
}

/* Objects of different kinds may share a name, so the kind is part of the key. */
static int object_key(const hmi_builder *b, hmi_names *intern_into, const char *name,
                      const char *what)
{
    char local[256];
    size_t length = strlen(name) + strlen(what) + 1;
    hmi_text text;
    if (length < sizeof local) {
        memcpy(local, what, strlen(what));
        local[strlen(what)] = ' ';
        memcpy(local + strlen(what) + 1, name, strlen(name));
        return intern_into ? hmi_names_intern(intern_into, local, length)
                           : hmi_names_find(&b->object_names, local, length);
    }
    hmi_text_init(&text, &b->context->allocator);
    hmi_text_addf(&text, "%s %s", what, name);
    int key = HMI_NO_NAME;
    if (!text.failed)
        key = intern_into ? hmi_names_intern(intern_into, text.data, text.length)
                          : hmi_names_find(&b->object_names, text.data, text.length);
    hmi_text_release(&text);
    return key;
}

bool hmi_declare_object(hmi_builder *b, const char *name, const char *what, uint32_t index,
                        hmi_span at)
{
    if (object_key(b, NULL, name, what) != HMI_NO_NAME) {
        bool loop = b->repeats.nested > 1 && !strchr(name, '[');
        hmi_error(b->context, at,
                  loop ? "index the name inside 'for', as in c[i]" : "choose another name",
                  "there is already %s %s called '%s'", article(what), what, name);
        return false;
    }
    int key = object_key(b, &b->object_names, name, what);
    hmi_binding object = {.kind = HMI_BIND_VALUE, .first = index, .span = at, .what = what};
    if (key == HMI_NO_NAME || !hmi_array_push(&b->context->allocator, &b->objects, object))
        return hmi_no_memory(b);
    return true;
}

int64_t hmi_find_object(const hmi_builder *b, const char *name, const char *what)
{
    int key = object_key(b, NULL, name, what);
    if (key == HMI_NO_NAME || (size_t)key >= b->objects.count)
        return -1;
    return b->objects.data[key].first;
}

/* ---- targets ---- */

/* Why is it no target? */
static const char *target_hint(hmi_builder *b, const hmi_ast *target, const hmi_scope *scope)
{
    const hmi_binding *binding = target->kind == HMI_AST_NAME
                                     ? hmi_find_binding(b, scope, target->name)
                                     : NULL;
    if (!binding || !binding->what || strcmp(binding->what, "parameter") != 0)
        return NULL;
    return "it is a parameter: its value stands in 'param', and --set changes it";
}

bool hmi_build_target(hmi_builder *b, const hmi_ast *target, const hmi_scope *scope,
                      hmi_component *out)
{
    hmi_expr e;
    if (target->kind == HMI_AST_CALL) { /* x(0) = 1 */
        hmi_error(b->context, target->span, "write x = 1, x' = 0.5",
                  "expected a coordinate, its velocity or a state on the left of '='");
        return false;
    }
    if (!hmi_build_scalar(b, target, scope, &e))
        return false;
    const hmi_node *node = hmi_node_at(b->graph, e);
    if (node->op == HMI_SYMBOL &&
        (node->a == HMI_SYM_COORD || node->a == HMI_SYM_VELOCITY || node->a == HMI_SYM_STATE)) {
        *out = (hmi_component){.kind = (hmi_symbol_kind)node->a, .index = node->b};
        return true;
    }
    hmi_error(b->context, target->span, target_hint(b, target, scope),
              "expected a coordinate, its velocity or a state on the left of '='");
    return false;
}

bool hmi_build_coordinate(hmi_builder *b, const hmi_ast *target, const hmi_scope *scope,
                          uint32_t *coord)
{
    hmi_expr e;
    if (!hmi_build_scalar(b, target, scope, &e))
        return false;
    const hmi_node *node = hmi_node_at(b->graph, e);
    if (node->op != HMI_SYMBOL || node->a != HMI_SYM_COORD) {
        hmi_error(b->context, target->span, NULL, "expected a coordinate");
        return false;
    }
    *coord = node->b;
    return true;
}
