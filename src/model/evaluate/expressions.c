/* Expressions of the language -> shaped values over the graph. */
#include "model/evaluate/builder.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* ---- names and indices ---- */

static size_t index_range(const hmi_bounds *bounds)
{
    return (size_t)(bounds->upper - bounds->lower) + 1;
}

/* One index: a vector; two: a matrix. */
static bool whole_family(hmi_builder *b, const hmi_ast *e, const hmi_binding *family,
                         hmi_value *out)
{
    if (family->index_count > 2) {
        hmi_error(b->context, e->span, NULL, "'%s' has %u indices: it can be used member by member",
                  hmi_names_text(&b->tree->names, e->name), family->index_count);
        return false;
    }
    bool matrix = family->index_count == 2;
    if (!hmi_value_new(b, matrix ? 2 : 1, index_range(&family->bounds[0]),
                       matrix ? index_range(&family->bounds[1]) : 1, out))
        return false;
    for (size_t k = 0; k < hmi_value_count(out); k++)
        out->items[k] = hmi_symbol(b->graph, family->symbol, family->first + (uint32_t)k);
    return true;
}

static bool build_bound(hmi_builder *b, const hmi_ast *e, const hmi_binding *binding,
                        hmi_value *out)
{
    const char *text = hmi_names_text(&b->tree->names, e->name);
    switch (binding->kind) {
    case HMI_BIND_FAMILY:
        return whole_family(b, e, binding, out);
    case HMI_BIND_MEMBERS:
        return hmi_report_in_chain(b, e->span, text, "is a family: it needs an index",
                                   "write R[i] for a member");
    case HMI_BIND_INDEXED:
        hmi_error(b->context, e->span, NULL, "'%s' needs an index", text);
        return false;
    case HMI_BIND_FAILED:
        return false;
    case HMI_BIND_TABLE:
        hmi_error(b->context, e->span, NULL, "'%s' is a table; call it with %d argument%s", text,
                  binding->table->arguments, binding->table->arguments == 1 ? "" : "s");
        return false;
    case HMI_BIND_LET:
        if (binding->let->target->kind == HMI_AST_CALL) {
            hmi_error(b->context, e->span, NULL, "'%s' is a function; call it with %u argument%s",
                      text, binding->let->target->count,
                      binding->let->target->count == 1 ? "" : "s");
            return false;
        }
        return hmi_force_let(b, binding->let, e->span, out);
    default:
        *out = binding->value;
        return true;
    }
}

static bool build_name(hmi_builder *b, const hmi_ast *e, const hmi_scope *scope, hmi_value *out)
{
    const hmi_binding *binding = hmi_find_binding(b, scope, e->name);
    if (binding)
        return build_bound(b, e, binding, out);
    if (e->name == b->name_t)
        *out = hmi_scalar(hmi_symbol(b->graph, HMI_SYM_TIME, 0));
    else if (e->name == b->name_pi || e->name == b->name_greek_pi)
        *out = hmi_scalar(hmi_number(b->graph, acos(-1.0)));
    else if (e->name == b->name_energy)
        *out = hmi_scalar(hmi_symbol(b->graph, HMI_SYM_ENERGY, HMI_QUANTITY_TOTAL));
    else if (e->name == b->name_kinetic)
        *out = hmi_scalar(hmi_symbol(b->graph, HMI_SYM_ENERGY, HMI_QUANTITY_KINETIC));
    else if (e->name == b->name_potential)
        *out = hmi_scalar(hmi_symbol(b->graph, HMI_SYM_ENERGY, HMI_QUANTITY_POTENTIAL));
    else {
        hmi_report_unknown(b, e->span, e->name);
        return false;
    }
    return true;
}

static bool report_no_member(hmi_builder *b, const hmi_ast *e, const hmi_binding *family,
                             uint32_t k, int64_t index)
{
    const char *text = hmi_names_text(&b->tree->names, e->items[0]->name);
    long long lower = family->bounds[k].lower, upper = family->bounds[k].upper;
    if (family->index_count == 1)
        hmi_error(b->context, e->span, NULL, "%s[%lld] does not exist: %s runs from %lld to %lld",
                  text, (long long)index, text, lower, upper);
    else
        hmi_error(b->context, e->items[k + 1]->span, NULL,
                  "index %u of '%s' runs from %lld to %lld, so that %lld does not exist", k + 1,
                  text, lower, upper, (long long)index);
    return false;
}

static bool family_member(hmi_builder *b, const hmi_ast *e, const hmi_binding *family,
                          const hmi_scope *scope, hmi_value *out)
{
    size_t number = 0;
    if (e->count - 1 != family->index_count) {
        hmi_error(b->context, e->span, NULL,
                  family->index_count == 1 ? "'%s' takes one index" : "'%s' takes %u indices",
                  hmi_names_text(&b->tree->names, e->items[0]->name), family->index_count);
        return false;
    }
    for (uint32_t k = 0; k < family->index_count; k++) {
        int64_t index;
        const hmi_bounds *bounds = &family->bounds[k];
        if (!hmi_build_whole(b, e->items[k + 1], scope, "an index", &index))
            return false;
        if (index < bounds->lower || index > bounds->upper)
            return report_no_member(b, e, family, k, index);
        number = number * index_range(bounds) + (size_t)(index - bounds->lower);
    }
    *out = hmi_scalar(hmi_symbol(b->graph, family->symbol, family->first + (uint32_t)number));
    return true;
}

/* z[i] of states or inputs that were declared one by one. */
static bool indexed_member(hmi_builder *b, const hmi_ast *e, const hmi_binding *binding,
                           const hmi_scope *scope, hmi_value *out)
{
    const char *name = hmi_label_text(b, e, scope);
    if (!name)
        return false;
    int64_t index = hmi_find_object(b, name, binding->what);
    if (index < 0) {
        hmi_error(b->context, e->span, NULL, "there is no %s '%s'", binding->what, name);
        return false;
    }
    hmi_symbol_kind kind = strcmp(binding->what, "state") == 0        ? HMI_SYM_STATE
                           : strcmp(binding->what, "input") == 0      ? HMI_SYM_INPUT
                           : strcmp(binding->what, "coordinate") == 0 ? HMI_SYM_COORD
                                                                      : HMI_SYM_PARAM;
    *out = hmi_scalar(hmi_symbol(b->graph, kind, (uint32_t)index));
    return true;
}

static bool index_in(hmi_builder *b, const hmi_ast *e, const hmi_scope *scope, uint32_t size,
                     int64_t *out)
{
    if (!hmi_build_whole(b, e, scope, "an index", out))
        return false;
    if (*out >= 1 && *out <= (int64_t)size)
        return true;
    hmi_error(b->context, e->span, "indices count from 1",
              "index %lld is out of range: there are %u components", (long long)*out, size);
    return false;
}

static bool build_component(hmi_builder *b, const hmi_ast *e, const hmi_scope *scope,
                            hmi_value *out)
{
    hmi_value base;
    char shape[HMI_SHAPE_TEXT];
    int64_t i, j = 1;
    if (!hmi_build_value(b, e->items[0], scope, &base))
        return false;
    if (base.rank == 0) {
        hmi_error(b->context, e->span,
                  e->items[0]->kind == HMI_AST_NAME
                      ? "a family is declared with coord q[1..3], a vector with u = [1, 2, 3]"
                      : NULL,
                  "%s cannot be indexed", hmi_shape_text(&base, shape));
        return false;
    }
    if (e->count - 1 != base.rank) {
        hmi_error(b->context, e->span, base.rank == 2 ? "write R[i,j]" : "write u[i]",
                  "%s takes %d ind%s, not %u", hmi_shape_text(&base, shape), base.rank,
                  base.rank == 1 ? "ex" : "ices", e->count - 1);
        return false;
    }
    if (!index_in(b, e->items[1], scope, base.rows, &i) ||
        (base.rank == 2 && !index_in(b, e->items[2], scope, base.columns, &j)))
        return false;
    *out = hmi_scalar(base.items[(size_t)(i - 1) * base.columns + (size_t)(j - 1)]);
    return true;
}

static bool build_index(hmi_builder *b, const hmi_ast *e, const hmi_scope *scope, hmi_value *out)
{
    if (e->count < 2) {
        hmi_error(b->context, e->span, NULL, "an index is missing");
        return false;
    }
    if (e->items[0]->kind == HMI_AST_NAME) {
        const hmi_binding *binding = hmi_find_binding(b, scope, e->items[0]->name);
        if (binding && binding->kind == HMI_BIND_FAMILY)
            return family_member(b, e, binding, scope, out);
        if (binding && binding->kind == HMI_BIND_INDEXED)
            return indexed_member(b, e, binding, scope, out);
        if (binding && binding->kind == HMI_BIND_MEMBERS)
            return hmi_build_member(b, e, binding->index_count, scope, out);
    }
    return build_component(b, e, scope, out);
}

/* ---- operators ---- */

static bool need_boolean(hmi_builder *b, const hmi_ast *e, const hmi_value *value)
{
    if (value->boolean)
        return true;
    hmi_error(b->context, e->span, "a condition compares, as in x > 0", "expected a condition");
    return false;
}

static bool build_power(hmi_builder *b, const hmi_ast *e, const hmi_scope *scope, hmi_value *out)
{
    hmi_value base, exponent;
    if (!hmi_build_value(b, e->items[0], scope, &base) ||
        !hmi_build_value(b, e->items[1], scope, &exponent))
        return false;
    const char *hint = base.rank == 1 ? "write dot(u, u) for the square of a vector" : NULL;
    if (!hmi_need_scalar(b, e->items[0]->span, &base, hint) ||
        !hmi_need_scalar(b, e->items[1]->span, &exponent, NULL))
        return false;
    *out = hmi_scalar(hmi_pow(b->graph, base.scalar, exponent.scalar));
    return true;
}

static bool build_negation(hmi_builder *b, const hmi_ast *e, const hmi_scope *scope, hmi_value *out)
{
    hmi_value x, minus = hmi_scalar(b->graph->minus_one);
    return hmi_build_value(b, e->items[0], scope, &x) &&
           hmi_value_combine(b, e->span, HMI_TOK_STAR, &minus, &x, out);
}

static bool compare(hmi_builder *b, const hmi_ast *e, const hmi_value *x, const hmi_value *y,
                    hmi_value *out)
{
    hmi_token_kind op = (hmi_token_kind)e->ops[0];
    if (!hmi_need_scalar(b, e->items[0]->span, x, NULL) ||
        !hmi_need_scalar(b, e->items[1]->span, y, NULL))
        return false;
    bool swap = op == HMI_TOK_GREATER || op == HMI_TOK_GREATER_EQUAL;
    *out = hmi_scalar(hmi_apply(b->graph, hmi_op_of_token(op), swap ? y->scalar : x->scalar,
                                swap ? x->scalar : y->scalar, 0));
    out->boolean = true;
    return true;
}

static bool chain_step(hmi_builder *b, const hmi_ast *e, uint32_t k, const hmi_value *x,
                       const hmi_value *y, hmi_value *out)
{
    hmi_token_kind op = (hmi_token_kind)e->ops[k];
    if (op == HMI_TOK_AND || op == HMI_TOK_OR) {
        if (!need_boolean(b, e->items[k], x) || !need_boolean(b, e->items[k + 1], y))
            return false;
        *out = hmi_scalar(hmi_apply(b->graph, hmi_op_of_token(op), x->scalar, y->scalar, 0));
        out->boolean = true;
        return true;
    }
    if (op == HMI_TOK_PLUS || op == HMI_TOK_MINUS || op == HMI_TOK_STAR || op == HMI_TOK_SLASH) {
        hmi_span at = {e->span.file, e->items[0]->span.start,
                       e->items[k + 1]->span.start + e->items[k + 1]->span.length -
                           e->items[0]->span.start};
        return hmi_value_combine(b, at, op, x, y, out);
    }
    return compare(b, e, x, y, out);
}

static bool build_chain(hmi_builder *b, const hmi_ast *e, const hmi_scope *scope, hmi_value *out)
{
    hmi_value left, right;
    if (!hmi_build_value(b, e->items[0], scope, &left))
        return false;
    for (uint32_t k = 0; k + 1 < e->count; k++)
        if (!hmi_build_value(b, e->items[k + 1], scope, &right) ||
            !chain_step(b, e, k, &left, &right, &left))
            return false;
    *out = left;
    return true;
}

static bool build_not(hmi_builder *b, const hmi_ast *e, const hmi_scope *scope, hmi_value *out)
{
    if (!hmi_build_value(b, e->items[0], scope, out) || !need_boolean(b, e->items[0], out))
        return false;
    out->scalar = hmi_apply(b->graph, HMI_NOT, out->scalar, 0, 0);
    return true;
}

/* [a, b, c], or rows of equal length. */
static bool build_list(hmi_builder *b, const hmi_ast *e, const hmi_scope *scope, hmi_value *out)
{
    hmi_value first, item, result;
    char shape[2][HMI_SHAPE_TEXT];
    if (e->count == 0) {
        hmi_error(b->context, e->span, NULL, "a vector needs at least one component");
        return false;
    }
    if (!hmi_build_value(b, e->items[0], scope, &first))
        return false;
    if (first.rank > 1 || first.boolean) {
        hmi_error(b->context, e->items[0]->span, NULL, "%s cannot be a component",
                  hmi_shape_text(&first, shape[0]));
        return false;
    }
    size_t width = first.rank == 1 ? first.rows : 1;
    if (!hmi_value_new(b, first.rank + 1, e->count, width, &result))
        return false;
    for (uint32_t i = 0; i < e->count; i++) {
        if (!hmi_build_value(b, e->items[i], scope, &item))
            return false;
        if (!hmi_same_shape(&item, &first) || item.boolean) {
            hmi_error(b->context, e->items[i]->span, NULL,
                      "components have different shapes: the first is %s, this one is %s",
                      hmi_shape_text(&first, shape[0]), hmi_shape_text(&item, shape[1]));
            return false;
        }
        for (size_t k = 0; k < width; k++)
            result.items[i * width + k] = hmi_value_item(&item, k);
    }
    *out = result;
    return true;
}

static bool fold_terms(hmi_builder *b, const hmi_ast *e, const hmi_scope *scope, int64_t lower,
                       int64_t upper, hmi_value *out)
{
    bool product = e->kind == HMI_AST_PROD;
    hmi_value total = hmi_scalar(product ? b->graph->one : b->graph->zero);
    total.empty_sum = !product;
    hmi_scope inner = {.name = e->name, .outer = scope};
    inner.binding.kind = HMI_BIND_VALUE;
    const size_t before = hmi_forecast_begin(b);
    for (int64_t i = lower; i <= upper; i++) {
        hmi_value term;
        inner.binding.value = hmi_scalar(hmi_number(b->graph, (double)i));
        if (!hmi_build_value(b, e->items[2], &inner, &term) ||
            !hmi_value_combine(b, e->items[2]->span, product ? HMI_TOK_STAR : HMI_TOK_PLUS, &total,
                               &term, &total) ||
            !hmi_forecast_good(b, before, i - lower + 1, upper - lower + 1, e->span))
            return false;
    }
    *out = total;
    return true;
}

static bool build_fold(hmi_builder *b, const hmi_ast *e, const hmi_scope *scope, hmi_value *out)
{
    int64_t lower, upper;
    hmi_repeats outer = b->repeats;
    bool good = hmi_check_reserved(b, e->name, e->span) &&
                hmi_build_range(b, e->items[0], e->items[1], scope, &lower, &upper) &&
                fold_terms(b, e, scope, lower, upper, out);
    b->repeats = outer;
    return good;
}

/* ---- dispatch ---- */

static bool build_by_kind(hmi_builder *b, const hmi_ast *e, const hmi_scope *scope, hmi_value *out)
{
    hmi_value x;
    switch ((hmi_ast_kind)e->kind) {
    case HMI_AST_NUMBER:
        *out = hmi_scalar(hmi_number(b->graph, e->number));
        return true;
    case HMI_AST_NAME:
        return build_name(b, e, scope, out);
    case HMI_AST_CALL:
        return hmi_build_call(b, e, scope, out);
    case HMI_AST_INDEX:
        return build_index(b, e, scope, out);
    case HMI_AST_PRIME:
        return hmi_build_value(b, e->items[0], scope, &x) &&
               hmi_value_derivative(b, e->span, &x, out);
    case HMI_AST_NEGATE:
        return build_negation(b, e, scope, out);
    case HMI_AST_NOT:
        return build_not(b, e, scope, out);
    case HMI_AST_CHAIN:
        return build_chain(b, e, scope, out);
    case HMI_AST_POWER:
        return build_power(b, e, scope, out);
    case HMI_AST_LIST:
        return build_list(b, e, scope, out);
    case HMI_AST_SUM:
    case HMI_AST_PROD:
        return build_fold(b, e, scope, out);
    }
    return false;
}

static bool within_limits(hmi_builder *b, hmi_span at)
{
    bool low = hmi_stack_is_low(b->context->stack_floor);
    if (b->depth <= HMI_MOST_EXPRESSION_DEPTH && !low)
        return hmi_spend(b, 1, at);
    hmi_error(b->context, at, low ? "a thread with a larger stack reads it; ulimit -s" : NULL,
              "definitions are nested too deeply%s", low ? " for the stack of this thread" : "");
    return false;
}

bool hmi_build_value(hmi_builder *b, const hmi_ast *e, const hmi_scope *scope, hmi_value *out)
{
    hmi_span outer = b->at;
    hmi_value result;
    b->at = e->span;
    b->depth++;
    bool good = within_limits(b, e->span) && build_by_kind(b, e, scope, &result);
    b->depth--;
    b->at = outer;
    if (good)
        *out = result;
    return good && hmi_graph_sound(b, e->span);
}

bool hmi_build_scalar(hmi_builder *b, const hmi_ast *e, const hmi_scope *scope, hmi_expr *out)
{
    hmi_value value;
    return hmi_build_value(b, e, scope, &value) && hmi_value_scalar(b, e->span, &value, out);
}
