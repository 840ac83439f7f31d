/* Calls: NAME(a, b), of a function of the language or of one that the model defines with `let`. */
#include "model/evaluate/builder.h"

#include <math.h>
#include <string.h>

/* ---- arguments ---- */

enum { FEW_ARGUMENTS = 4 };

/* Evaluates the arguments into `few` where they fit (calls nest, and the stack is small), else into
 * the arena. NULL after an error. */
static hmi_value *evaluate_arguments(hmi_builder *b, const hmi_ast *e, const hmi_scope *scope,
                                     hmi_value few[FEW_ARGUMENTS])
{
    hmi_value *values = few;
    if (e->count > HMI_MOST_ARGUMENTS) {
        hmi_error(b->context, e->span, NULL, "more than %d arguments", HMI_MOST_ARGUMENTS);
        return NULL;
    }
    if (e->count > FEW_ARGUMENTS)
        values = hmi_builder_alloc(b, e->count * sizeof *values);
    for (uint32_t k = 0; values && k < e->count; k++)
        if (!hmi_build_value(b, e->items[k], scope, &values[k]))
            return NULL;
    return values;
}

/* ---- `let` ---- */

/* A function that runs again for another member of a family, R[i] = f(i) with R[i-1] in f, does not
 * call itself. */
static bool enter_let(hmi_builder *b, hmi_let *let, hmi_span at)
{
    let->used = true;
    if (let->progress != HMI_LET_RUNNING || let->within != b->evaluating)
        return true;
    hmi_error(b->context, at, "the language has no recursion; use sum or for", "'%s' calls itself",
              hmi_names_text(&b->tree->names, let->target->name));
    return false;
}

/* Counts the calls within the outermost one. */
static bool count_call(hmi_builder *b, const hmi_let *let, hmi_span at)
{
    b->calls = b->call_depth == 0 ? 1 : b->calls + 1;
    if ((double)b->calls <= (double)HMI_MOST_CALLS * fmax(1, b->repeats.called))
        return true;
    if (!b->context->limit_exceeded)
        hmi_error(b->context, at,
                  "each level of functions of functions makes it larger by a factor",
                  "'%s' is put together of more than %lld calls of functions",
                  hmi_names_text(&b->tree->names, let->target->name), (long long)HMI_MOST_CALLS);
    b->context->limit_exceeded = true;
    return false;
}

static bool run_let(hmi_builder *b, hmi_let *let, const hmi_value *arguments, hmi_value *out)
{
    const hmi_scope *inner = let->scope;
    for (uint32_t k = 0; k < let->target->count; k++)
        if (!(inner = hmi_scope_push(b, inner, let->target->items[k]->name, arguments[k])))
            return false;
    double repeats = b->repeats.nested;
    const hmi_let *within = let->within;
    hmi_let_progress progress = let->progress;
    b->repeats.nested = 1;
    let->progress = HMI_LET_RUNNING;
    let->within = b->evaluating;
    b->call_depth++;
    bool good = hmi_build_value(b, let->body, inner, out);
    b->call_depth--;
    let->progress = progress;
    let->within = within;
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
    hmi_value few[FEW_ARGUMENTS], *arguments = evaluate_arguments(b, e, scope, few);
    if (!arguments)
        return false;
    if (!enter_let(b, let, e->span))
        return false;
    const hmi_value *known = hmi_memo_find(b, let, arguments);
    if (known)
        *out = *known;
    else if (!count_call(b, let, e->span) || !run_let(b, let, arguments, out))
        return false;
    else
        hmi_memo_add(b, let, arguments, out);
    return true;
}

/* ---- constraint forces: the argument is a name, not a value ---- */

typedef struct call {
    hmi_builder *b;
    const hmi_ast *e;
    const hmi_scope *scope;
    const char *name;
} call;

static bool forces_allowed(const call *c)
{
    if (c->b->pass == HMI_PASS_RUN)
        return true;
    hmi_error(c->b->context, c->e->span, NULL,
              "%s(...) can be used in nonideal, force, event and output only", c->name);
    return false;
}

static bool build_reaction(const call *c, hmi_value *out)
{
    uint32_t coord;
    bool total = strcmp(c->name, "total_reaction") == 0;
    const hmi_ast *argument = c->e->items[0];
    if (argument->kind == HMI_AST_NAME && !hmi_find_binding(c->b, c->scope, argument->name) &&
        hmi_find_object(c->b, hmi_names_text(&c->b->tree->names, argument->name), "constraint") >=
            0) {
        hmi_error(c->b->context, argument->span, "write multiplier(NAME) for a constraint",
                  "%s takes a coordinate, not a constraint", c->name);
        return false;
    }
    if (!forces_allowed(c) || !hmi_build_coordinate(c->b, c->e->items[0], c->scope, &coord))
        return false;
    *out = hmi_scalar(
        hmi_symbol(c->b->graph, total ? HMI_SYM_TOTAL_REACTION : HMI_SYM_REACTION, coord));
    return true;
}

static hmi_expr multiplier_symbol(const call *c, uint32_t row)
{
    bool total = strcmp(c->name, "total_multiplier") == 0;
    return hmi_symbol(c->b->graph, total ? HMI_SYM_TOTAL_MULTIPLIER : HMI_SYM_MULTIPLIER, row);
}

/* All rows of a vector constraint. */
static bool multiplier_vector(const call *c, const char *name, int64_t first, hmi_value *out)
{
    int64_t size = hmi_find_object(c->b, name, "size of constraint");
    if (!hmi_value_new(c->b, 1, (size_t)size, 1, out))
        return false;
    for (int64_t k = 0; k < size; k++)
        out->items[k] = multiplier_symbol(c, (uint32_t)(first + k));
    return true;
}

static const char *constraint_hint(const call *c, const char *wanted)
{
    const hm_model *model = c->b->model;
    for (size_t i = 0; i < model->coords.count; i++)
        if (strcmp(model->coords.data[i].name, wanted) == 0)
            return "for the force along a coordinate write reaction(x)";
    for (size_t i = 0; i < model->constraints.count; i++)
        if (hmi_edit_distance(wanted, model->constraints.data[i].name, 2) <= 2)
            return hmi_context_printf(c->b->context, "did you mean '%s'?",
                                      model->constraints.data[i].name);
    return NULL;
}

static bool build_multiplier(const call *c, hmi_value *out)
{
    const hmi_ast *label = c->e->items[0];
    const hmi_ast *base = label->kind == HMI_AST_INDEX ? label->items[0] : label;
    if (!forces_allowed(c))
        return false;
    const char *name = base->kind == HMI_AST_NAME ? hmi_label_text(c->b, label, c->scope) : NULL;
    if (!name) {
        if (base->kind != HMI_AST_NAME)
            hmi_error(c->b->context, label->span, NULL, "%s takes the name of a constraint",
                      c->name);
        return false;
    }
    int64_t row = hmi_find_object(c->b, name, "constraint");
    if (row >= 0) {
        *out = hmi_scalar(multiplier_symbol(c, (uint32_t)row));
        return true;
    }
    int64_t first = hmi_find_object(c->b, name, "vector constraint");
    if (first >= 0)
        return multiplier_vector(c, name, first, out);
    hmi_error(c->b->context, label->span, constraint_hint(c, name), "there is no constraint '%s'",
              name);
    return false;
}

/* ---- bodies: the first argument is a name ---- */

static hmi_place *find_place(const call *c)
{
    const hmi_ast *label = c->e->items[0];
    const hmi_ast *base = label->kind == HMI_AST_INDEX ? label->items[0] : label;
    if (base->kind != HMI_AST_NAME) {
        hmi_error(c->b->context, label->span, NULL, "%s takes the name of a body", c->name);
        return NULL;
    }
    const char *name = hmi_label_text(c->b, label, c->scope);
    int64_t index = name ? hmi_find_object(c->b, name, "body") : -1;
    if (name && index < 0)
        hmi_error(c->b->context, label->span, NULL, "there is no body '%s'", name);
    return index < 0 ? NULL : c->b->places.data[index];
}

/* origin + frame u */
static bool build_point(const call *c, const hmi_place *place, hmi_value *out)
{
    hmi_value u, turned;
    char shape[HMI_SHAPE_TEXT];
    if (!hmi_build_value(c->b, c->e->items[1], c->scope, &u))
        return false;
    if (u.rank != 1 || u.rows != place->dimension) {
        hmi_error(c->b->context, c->e->items[1]->span, NULL,
                  "a point of '%s' is a vector of %u components, not %s", place->name,
                  place->dimension, hmi_shape_text(&u, shape));
        return false;
    }
    return hmi_value_product(c->b, c->e->span, &place->frame, &u, &turned) &&
           hmi_value_combine(c->b, c->e->span, HMI_TOK_PLUS, &place->origin, &turned, out);
}

static bool build_place(const call *c, hmi_value *out)
{
    hmi_place *place = find_place(c);
    if (!place || !c->b->force_place(c->b, place))
        return false;
    bool origin = strcmp(c->name, "origin") == 0, center = strcmp(c->name, "center") == 0;
    if (origin || center) {
        *out = origin ? place->origin : place->center;
        return true;
    }
    if (place->frame.rank != 2) {
        hmi_error(c->b->context, c->e->span, NULL, "'%s' is a particle: it has no frame",
                  place->name);
        return false;
    }
    if (c->e->count == 2)
        return build_point(c, place, out);
    *out = place->frame;
    return true;
}

/* ---- joints ---- */

/* Why is there no such joint? */
static const char *joint_hint(const call *c, const char *name)
{
    const hm_model *model = c->b->model;
    int64_t body = hmi_find_object(c->b, name, "body");
    if (body >= 0)
        return c->b->places.data[body]->parts.on ? "the joint that carries a body leaves no "
                                                   "multipliers: write the body `free` and "
                                                   "join it by `joint NAME: ...` to see the force"
                                                 : "wrench takes the NAME of a `joint` statement";
    int most = strlen(name) <= 3 ? 1 : 2;
    for (size_t i = 0; i < model->joints.count; i++)
        if (hmi_edit_distance(name, model->joints.data[i].name, most) <= most)
            return hmi_context_printf(c->b->context, "did you mean '%s'?",
                                      model->joints.data[i].name);
    return hmi_find_object(c->b, name, "constraint") >= 0 ||
                   hmi_find_object(c->b, name, "vector constraint") >= 0
               ? "write total_multiplier(NAME) for a constraint"
               : NULL;
}

static const hmi_joint *find_joint(const call *c)
{
    const hmi_ast *label = c->e->items[0];
    const hmi_ast *base = label->kind == HMI_AST_INDEX ? label->items[0] : label;
    if (base->kind != HMI_AST_NAME) {
        hmi_error(c->b->context, label->span, NULL, "%s takes the name of a joint", c->name);
        return NULL;
    }
    const char *name = hmi_label_text(c->b, label, c->scope);
    int64_t index = name ? hmi_find_object(c->b, name, "joint") : -1;
    if (name && index < 0)
        hmi_error(c->b->context, label->span, joint_hint(c, name), "there is no joint '%s'", name);
    return index < 0 ? NULL : &c->b->model->joints.data[index];
}

/* Force and moment on B: what each row pushes, times its multiplier in the true motion. */
static bool build_wrench(const call *c, hmi_value *out)
{
    hmi_graph *g = c->b->graph;
    const hmi_joint *joint = forces_allowed(c) ? find_joint(c) : NULL;
    size_t size = joint && joint->dimension == 3 ? 6 : 3;
    if (!joint || !hmi_value_new(c->b, 1, size, 1, out))
        return false;
    for (size_t i = 0; i < size; i++) {
        out->items[i] = g->zero;
        for (uint32_t k = 0; k < joint->count; k++)
            out->items[i] = hmi_add(
                g, out->items[i],
                hmi_mul(g, joint->push[k * size + i],
                        hmi_symbol(g, HMI_SYM_TOTAL_MULTIPLIER, joint->first + k)));
    }
    return true;
}

/* ---- quantities of the equations ---- */

static bool build_momentum(const call *c, hmi_value *out)
{
    uint32_t coord;
    if (!hmi_build_coordinate(c->b, c->e->items[0], c->scope, &coord))
        return false;
    *out = hmi_scalar(hmi_symbol(c->b->graph, HMI_SYM_ENERGY, HMI_QUANTITY_MOMENTUM + coord));
    return true;
}

static bool build_power(const call *c, hmi_value *out)
{
    const hmi_ast *word = c->e->items[0];
    const char *text = word->kind == HMI_AST_NAME ? hmi_names_text(&c->b->tree->names, word->name)
                                                  : "";
    for (uint32_t k = 0; k < HMI_QUANTITY_MOMENTUM; k++)
        if (hmi_power_word(k) && strcmp(hmi_power_word(k), text) == 0) {
            *out = hmi_scalar(hmi_symbol(c->b->graph, HMI_SYM_ENERGY, k));
            return true;
        }
    hmi_error(c->b->context, word->span,
              "one of: impressed, dissipation, gyroscopic, ideal, nonideal, servo, explicit_time",
              "power takes the name of a kind of power");
    return false;
}

/* ---- tables ---- */

static bool call_table(hmi_builder *b, const hmi_ast *e, const hmi_scope *scope,
                       const hmi_table *table, hmi_value *out)
{
    uint32_t count = (uint32_t)table->arguments;
    hmi_value few[FEW_ARGUMENTS];
    hmi_expr x[2] = {0};
    if (e->count != count) {
        hmi_error(b->context, e->span, NULL, "%s takes %u argument%s, not %u", table->name, count,
                  count == 1 ? "" : "s", e->count);
        return false;
    }
    if (!evaluate_arguments(b, e, scope, few))
        return false;
    for (uint32_t k = 0; k < count; k++)
        if (!hmi_value_scalar(b, e->items[k]->span, &few[k], &x[k]))
            return false;
    hmi_expr view = hmi_number(b->graph, hmi_table_address(&table->derivative[0]));
    *out = hmi_scalar(count == 2 ? hmi_apply(b->graph, HMI_TABLE2, x[0], x[1], view)
                                 : hmi_apply(b->graph, HMI_TABLE, x[0], view, 0));
    return true;
}

/* ---- calls ---- */

static bool call_function(hmi_builder *b, const hmi_ast *e, const hmi_scope *scope, int function,
                          hmi_value *out)
{
    if (!hmi_function_takes(b, e, function))
        return false;
    const call c = {b, e, scope, hmi_names_text(&b->tree->names, e->name)};
    switch (hmi_function_argument(function)) {
    case HMI_ARGUMENT_COORDINATE:
        return build_reaction(&c, out);
    case HMI_ARGUMENT_CONSTRAINT:
        return build_multiplier(&c, out);
    case HMI_ARGUMENT_BODY:
        return build_place(&c, out);
    case HMI_ARGUMENT_MOMENTUM:
        return build_momentum(&c, out);
    case HMI_ARGUMENT_POWER:
        return build_power(&c, out);
    case HMI_ARGUMENT_JOINT:
        return build_wrench(&c, out);
    case HMI_ARGUMENT_VALUES:
        break;
    }
    hmi_value few[FEW_ARGUMENTS], *arguments = evaluate_arguments(b, e, scope, few);
    return arguments && hmi_apply_function(b, e, function, arguments, out);
}

bool hmi_build_call(hmi_builder *b, const hmi_ast *e, const hmi_scope *scope, hmi_value *out)
{
    const char *name = hmi_names_text(&b->tree->names, e->name);
    const hmi_binding *binding = hmi_find_binding(b, scope, e->name);
    if (binding && binding->kind == HMI_BIND_LET && binding->let->target->kind == HMI_AST_CALL)
        return call_let(b, e, scope, binding->let, out);
    if (binding && binding->kind == HMI_BIND_TABLE)
        return call_table(b, e, scope, binding->table, out);
    int function = hmi_function_called(b, e);
    if (function != HMI_NO_FUNCTION)
        return call_function(b, e, scope, function, out);
    if (binding && binding->kind == HMI_BIND_FAILED)
        return false;
    if (binding || e->name == b->name_t || e->name == b->name_pi || e->name == b->name_energy) {
        bool indexed = binding &&
                       (binding->kind == HMI_BIND_FAMILY || binding->kind == HMI_BIND_INDEXED ||
                        binding->kind == HMI_BIND_MEMBERS || binding->value.rank > 0);
        hmi_error(b->context, e->span,
                  indexed ? "an index is written in brackets: q[i]" : "write * for a product",
                  "'%s' is not a function", name);
        return false;
    }
    hmi_span at = {e->span.file, e->span.start, (uint32_t)strlen(name)};
    hmi_report_unknown(b, at, e->name);
    return false;
}
