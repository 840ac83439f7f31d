/* Names: what they are bound to, globally and in scopes, and names of objects. */
#include "expr/print/print.h"
#include "model/evaluate/builder.h"

#include <string.h>

/* ---- declarations ---- */

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
                  "'%s' is already declared as %s %s on line %d%s%s", text, article(first->what),
                  first->what, line, elsewhere ? " of " : "", elsewhere ? source->name : "");
    else
        hmi_error(
            b->context, name->span, "use one spelling, or choose another name",
            "'%s' and '%s', %s %s on line %d%s%s, are the same letter and would be printed alike",
            text, first_name, article(first->what), first->what, line, elsewhere ? " of " : "",
            elsewhere ? source->name : "");
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
    if (name->kind == HMI_AST_NAME || name->kind == HMI_AST_CALL)
        declare_without_value(b, name->name, name->span, false);
    return false;
}

void hmi_declare_unknown(hmi_builder *b, int name, hmi_span at)
{
    declare_without_value(b, name, at, true);
}

/* ---- scopes ---- */

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

/* ---- objects ---- */

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
