/* Expressions where a number, a bound, a label or a coordinate is wanted. */
#include "model/evaluate/builder.h"

#include <string.h>

/* ---- numbers and bounds ---- */

bool hmi_build_number_expr(hmi_builder *b, const hmi_ast *e, const hmi_scope *scope, hmi_expr *expr,
                           double *out)
{
    return hmi_build_scalar(b, e, scope, expr) &&
           hmi_number_of(b, *expr, e->span, "this value", out);
}

bool hmi_build_number(hmi_builder *b, const hmi_ast *e, const hmi_scope *scope, double *out)
{
    hmi_expr expr;
    return hmi_build_number_expr(b, e, scope, &expr, out);
}

bool hmi_build_whole(hmi_builder *b, const hmi_ast *e, const hmi_scope *scope, const char *what,
                     int64_t *out)
{
    hmi_expr value;
    return hmi_build_scalar(b, e, scope, &value) && hmi_whole_of(b, value, e->span, what, out);
}

bool hmi_build_range(hmi_builder *b, const hmi_ast *low, const hmi_ast *high,
                     const hmi_scope *scope, int64_t *lower, int64_t *upper)
{
    if (!hmi_build_whole(b, low, scope, "a bound", lower) ||
        !hmi_build_whole(b, high, scope, "a bound", upper))
        return false;
    double count = *upper < *lower ? 1 : (double)(*upper - *lower + 1);
    b->repeats.nested *= count;
    b->repeats.called *= count;
    if (b->repeats.nested <= HMI_MOST_REPEATS && b->repeats.called <= HMI_MOST_CALL_REPEATS)
        return true;
    bool nested = b->repeats.called > count;
    hmi_error(b->context, high->span, NULL,
              nested ? "nested loops repeat %.0f times, more than the limit of %lld"
                     : "this repeats %.0f times, more than the limit of %lld",
              b->repeats.called, (long long)HMI_MOST_REPEATS);
    b->context->limit_exceeded = true;
    return false;
}

/* ---- labels ---- */

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

/* ---- coordinates and targets ---- */

/* Why is it no target? */
static const char *target_hint(hmi_builder *b, const hmi_ast *target, const hmi_scope *scope)
{
    const hmi_binding *binding = target->kind == HMI_AST_NAME
                                     ? hmi_find_binding(b, scope, target->name)
                                     : NULL;
    if (!binding || !binding->what || strcmp(binding->what, "parameter") != 0)
        return NULL;
    return "it is a parameter: its value is given with 'param' or --set";
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
