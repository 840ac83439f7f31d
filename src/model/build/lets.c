/* The statement `let`: declares names that calls.c evaluates when they are first used. */
#include "model/build/statements.h"

#include <string.h>

static bool is_member(const hmi_ast *target)
{
    return target->kind == HMI_AST_INDEX && target->items[0]->kind == HMI_AST_NAME &&
           target->count > 1;
}

/* NAME, NAME[i, j], or NAME(a, b) with plain names inside. */
static bool check_let_target(hmi_builder *b, const hmi_ast *target)
{
    if (target->kind == HMI_AST_NAME || is_member(target))
        return true;
    if (target->kind != HMI_AST_CALL) {
        hmi_error(b->context, target->span,
                  "write let NAME = E or let NAME(a, b) = E or let NAME[i] = E",
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
        let->name = is_member(entry->target) ? entry->target->items[0]->name : entry->target->name;
        let->body = entry->value;
        let->scope = scope;
        let->number = ++b->let_count;
    }
    return let;
}

static void append_let(hmi_builder *b, hmi_let *let)
{
    *b->lets_tail = let;
    b->lets_tail = &let->next;
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
    append_let(b, let);
    return true;
}

/* ---- members of families ---- */

/* The family's name, declared by its first member. False after reporting. */
static bool declare_members(hmi_builder *b, const hmi_ast *target)
{
    const hmi_ast *name = target->items[0];
    uint32_t index_count = target->count - 1;
    const hmi_binding *known = hmi_find_binding(b, NULL, name->name);
    if (!known || known->kind != HMI_BIND_MEMBERS) {
        hmi_binding *slot = hmi_declare(b, name, "let");
        if (!slot)
            return false;
        slot->kind = HMI_BIND_MEMBERS;
        slot->index_count = index_count;
        return true;
    }
    if (known->index_count == index_count)
        return true;
    hmi_error(b->context, target->span, NULL,
              "all members of '%s' have the same number of indices: %u, not %u",
              hmi_names_text(&b->tree->names, name->name), known->index_count, index_count);
    return false;
}

/* A member is global, also inside `for`; its expression is evaluated in the scope of its round. */
static bool declare_member(hmi_builder *b, const hmi_entry *entry, const hmi_scope *scope)
{
    const hmi_ast *target = entry->target;
    if (!declare_members(b, target))
        return false;
    hmi_let *let = new_let(b, entry, scope);
    int64_t *indices = hmi_builder_alloc(b, (target->count - 1) * sizeof *indices);
    if (!let || !indices)
        return false;
    for (uint32_t k = 1; k < target->count; k++)
        if (!hmi_build_whole(b, target->items[k], scope, "an index", &indices[k - 1]))
            return false;
    let->indices = indices;
    let->index_count = target->count - 1;
    if (!hmi_add_member(b, let))
        return false;
    append_let(b, let);
    return true;
}

/* ---- inside `for` ---- */

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

static bool declare_let(hmi_builder *b, const hmi_entry *entry, const hmi_scope **scope, bool top)
{
    if (is_member(entry->target))
        return b->pass != HMI_PASS_DECLARE || declare_member(b, entry, *scope);
    return top ? declare_global_let(b, entry) : declare_local_let(b, entry, scope);
}

bool hmi_declare_lets(hmi_builder *b, const hmi_statement *s, const hmi_scope **scope, bool top)
{
    bool good = true;
    for (size_t i = 0; i < s->entry_count; i++)
        good = check_let_target(b, s->entries[i].target) &&
               declare_let(b, &s->entries[i], scope, top) && good;
    return good;
}
