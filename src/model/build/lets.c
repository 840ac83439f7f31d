/* The statement `let`: declares names that calls.c evaluates when they are first used. */
#include "model/build/statements.h"

#include <string.h>

/* NAME, or NAME(a, b) with plain names inside. */
static bool check_let_target(hmi_builder *b, const hmi_ast *target)
{
    if (target->kind == HMI_AST_NAME)
        return true;
    if (target->kind != HMI_AST_CALL) {
        hmi_error(b->context, target->span, "write let NAME = E or let NAME(a, b) = E",
                  "'let' cannot define this");
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
