/* Calls: NAME(a, b), of a function of the language or of one that the model defines with `let`. */
#include "model/builder.h"

#include <string.h>

hmi_value *hmi_evaluate_arguments(hmi_builder *b, const hmi_ast *e, const hmi_scope *scope,
                                  hmi_value few[HMI_FEW_ARGUMENTS])
{
    hmi_value *values = few;
    if (e->count > HMI_MOST_ARGUMENTS) {
        hmi_error(b->context, e->span, NULL, "more than %d arguments", HMI_MOST_ARGUMENTS);
        return NULL;
    }
    if (e->count > HMI_FEW_ARGUMENTS)
        values = hmi_builder_alloc(b, e->count * sizeof *values);
    for (uint32_t k = 0; values && k < e->count; k++)
        if (!hmi_build_value(b, e->items[k], scope, &values[k]))
            return NULL;
    return values;
}

static bool enter_let(hmi_builder *b, hmi_let *let, hmi_span at)
{
    let->used = true;
    if (let->progress != HMI_LET_RUNNING)
        return true;
    hmi_error(b->context, at, "the language has no recursion; use sum or for", "'%s' calls itself",
              hmi_names_text(&b->tree->names, let->target->name));
    return false;
}

static bool run_let(hmi_builder *b, hmi_let *let, const hmi_value *arguments, hmi_value *out)
{
    const hmi_scope *inner = let->scope;
    for (uint32_t k = 0; k < let->target->count; k++)
        if (!(inner = hmi_scope_push(b, inner, let->target->items[k]->name, arguments[k])))
            return false;
    double repeats = b->repeats.nested;
    b->repeats.nested = 1;
    let->progress = HMI_LET_RUNNING;
    bool good = hmi_build_value(b, let->body, inner, out);
    let->progress = HMI_LET_WAITING;
    b->repeats.nested = repeats;
    hmi_scope_pop(b, inner, let->scope);
    return good;
}

static bool call_let(hmi_builder *b, const hmi_ast *e, const hmi_scope *scope, hmi_let *let,
                     hmi_value *out)
{
    const hmi_ast *target = let->target;
    if (target->count != e->count) {
        hmi_error(b->context, e->span, NULL, "%s takes %u argument%s, not %u",
                  hmi_names_text(&b->tree->names, e->name), target->count,
                  target->count == 1 ? "" : "s", e->count);
        return false;
    }
    hmi_value few[HMI_FEW_ARGUMENTS], *arguments = hmi_evaluate_arguments(b, e, scope, few);
    if (!arguments)
        return false;
    if (!enter_let(b, let, e->span))
        return false;
    const hmi_value *known = hmi_memo_find(b, let, arguments);
    if (known)
        *out = *known;
    else if (!run_let(b, let, arguments, out))
        return false;
    else
        hmi_memo_add(b, let, arguments, out);
    return true;
}

bool hmi_build_call(hmi_builder *b, const hmi_ast *e, const hmi_scope *scope, hmi_value *out)
{
    const char *name = hmi_names_text(&b->tree->names, e->name);
    const hmi_binding *binding = hmi_find_binding(b, scope, e->name);
    bool found;
    if (binding && binding->kind == HMI_BIND_LET && binding->let->target->kind == HMI_AST_CALL)
        return call_let(b, e, scope, binding->let, out);
    bool good = hmi_call_function(b, e, scope, name, &found, out);
    if (found)
        return good;
    if (binding && binding->kind == HMI_BIND_FAILED)
        return false;
    if (binding || e->name == b->name_t || e->name == b->name_pi || e->name == b->name_energy) {
        bool indexed = binding && (binding->kind == HMI_BIND_FAMILY ||
                                   binding->kind == HMI_BIND_INDEXED || binding->value.rank > 0);
        hmi_error(b->context, e->span,
                  indexed ? "an index is written in brackets: q[i]" : "write * for a product",
                  "'%s' is not a function", name);
        return false;
    }
    hmi_span at = {e->span.file, e->span.start, (uint32_t)strlen(name)};
    hmi_report_unknown(b, at, e->name);
    return false;
}
