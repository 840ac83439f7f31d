/* What is not finite at a state, and where was it written? Not on any fast path.
 *
 * Terms of the model (terms.h) are evaluated, then their derivatives along a direction in which every
 * coordinate and velocity changes, then the second ones: what has no value there has none in the
 * equations. In the first term without a value the smallest expression whose operands have values is
 * named: "the potential energy is not finite: a division by zero, in an expression of x".
 * Verified: test/unit/compile/test_not_finite.c
 */
#include "compile/system/system.h"
#include "compile/system/terms.h"

#include "expr/graph/diff.h"

#include <math.h>

typedef struct search {
    const hm_system *system;
    const hmi_tape_values *values;
    hm_context *context;
    hmi_graph graph; /* of the equations, and of the derivatives of terms */
    hmi_tangent tangent;
    HMI_ARRAY(double) value; /* by handle */
    int order;               /* of the derivatives looked at */
    hmi_model_term term;     /* found, */
    hmi_expr culprit;        /* and what in it */
} search;

/* ---- values ---- */

static double leaf_value(const search *s, hmi_expr e)
{
    const hmi_node *node = hmi_node_at(&s->graph, e);
    if (node->op == HMI_CONST)
        return hmi_constant_of(&s->graph, e)->value;
    const double *from = s->values->by_kind[node->a];
    return from ? from[node->b] : 0;
}

static double node_value(const search *s, hmi_expr e)
{
    const hmi_node *node = hmi_node_at(&s->graph, e);
    const double *value = s->value.data;
    int arity = hmi_op_arity((hmi_op)node->op);
    if (arity == 0)
        return leaf_value(s, e);
    return hmi_op_value((hmi_op)node->op, value[node->a], arity > 1 ? value[node->b] : 0,
                        arity > 2 ? value[node->c] : 0);
}

/* Of every node so far; they are in topological order. */
static bool evaluate(search *s)
{
    for (size_t e = s->value.count; e < s->graph.nodes.count; e++)
        if (!hmi_array_push(s->system->allocator, &s->value, node_value(s, (hmi_expr)e)))
            return false;
    return true;
}

static hmi_expr direction(hmi_graph *g, hmi_expr leaf, void *user)
{
    (void)user;
    const hmi_node *node = hmi_node_at(g, leaf);
    return hmi_number(g, 1.0 / (2 + node->b % 97) + (node->a == HMI_SYM_VELOCITY ? 0.3 : 0));
}

/* ---- the expression at fault ---- */

/* From e, which has no value, down to what has none for itself. HMI_NONE: it is a leaf. */
static hmi_expr descend(const search *s, hmi_expr e)
{
    for (;;) {
        const hmi_node *node = hmi_node_at(&s->graph, e);
        int arity = hmi_op_arity((hmi_op)node->op), k = 0;
        bool chooses = node->op == HMI_SELECT && isfinite(s->value.data[node->a]);
        if (arity == 0)
            return HMI_NONE;
        if (chooses)
            k = s->value.data[node->a] != 0 ? 1 : 2;
        while (k < arity && isfinite(s->value.data[hmi_operand(&s->graph, e, k)]))
            k++;
        if (k == arity)
            return e;
        e = hmi_operand(&s->graph, e, k);
    }
}

static bool look_at(const hmi_model_term *term, void *user)
{
    search *s = user;
    for (size_t i = 0; i < term->count && term->derivatives >= s->order; i++) {
        hmi_expr e = term->values[i];
        for (int k = 0; k < s->order; k++)
            e = hmi_tangent_of(&s->tangent, &s->graph, e);
        if (e == HMI_NONE || !evaluate(s))
            return true; /* no memory: nothing is found */
        if (isfinite(s->value.data[e]))
            continue;
        s->culprit = descend(s, e);
        s->term = *term;
        if (s->culprit != HMI_NONE)
            return true;
    }
    return false;
}

static void find(search *s)
{
    bool ended = hmi_graph_copy(&s->graph, &s->system->derived.graph) != HM_OK;
    s->culprit = HMI_NONE;
    hmi_tangent_init(&s->tangent, s->system->allocator, direction, NULL, HMI_DEP_MOVING);
    for (s->order = 0; s->order <= 2 && !ended; s->order += !ended)
        ended = hmi_visit_terms(s->system->model, look_at, s);
}

/* Where no term is at fault: the first of the equations that has no value. */
static void find_anywhere(search *s)
{
    for (size_t e = 0; e < s->value.count && s->culprit == HMI_NONE; e++)
        if (!isfinite(s->value.data[e]) && descend(s, (hmi_expr)e) == e)
            s->culprit = (hmi_expr)e;
}

/* ---- words ---- */

static const char *reason(hmi_op op)
{
    switch (op) {
    case HMI_DIV:
        return "a division by zero";
    case HMI_SQRT:
        return "the square root of a negative number";
    case HMI_LOG:
        return "the logarithm of a number that is not positive";
    case HMI_ASIN:
    case HMI_ACOS:
        return "an inverse sine or cosine of a number outside -1 .. 1";
    case HMI_POW:
        return "a power that is not defined";
    case HMI_TABLE:
    case HMI_TABLE2:
        return "a table at a place where it has no value";
    default:
        return "a value that is too large";
    }
}

/* Names of the symbols inside, at most a few, so that a person can find the place. *moving: one that
 * `initial` can change, NULL where there is none. */
static void list_symbols(const search *s, hmi_expr e, hmi_text *text, const char **moving)
{
    const hmi_graph *g = &s->graph;
    hmi_walk walk;
    int listed = 0;
    hmi_walk_init(&walk, s->system->allocator);
    if (hmi_walk_begin(&walk, g) == HM_OK && hmi_walk_add(&walk, g, e, 0xFFFF) == HM_OK)
        for (size_t i = 0; i < walk.order.count && listed < 4; i++) {
            const hmi_node *node = hmi_node_at(g, walk.order.data[i]);
            if (node->op != HMI_SYMBOL)
                continue;
            hmi_symbol_kind kind = (hmi_symbol_kind)node->a;
            const char *name = hmi_model_symbol_name(s->context, s->system->model, kind, node->b);
            hmi_text_addf(text, "%s%s", listed++ ? ", " : "", name ? name : "?");
            if (kind == HMI_SYM_COORD || kind == HMI_SYM_VELOCITY || kind == HMI_SYM_STATE)
                *moving = *moving ? *moving : name;
        }
    hmi_walk_release(&walk);
}

static const char *hint_for(const search *s, const char *symbols, const char *moving)
{
    if (moving)
        return hmi_context_printf(s->context, "start where it has a value: `initial %s = ...`",
                                  moving);
    if (*symbols)
        return hmi_context_printf(s->context, "it does not depend on the state: check %s", symbols);
    return "it has no value at any state";
}

static void report(const search *s)
{
    const hmi_node *node = hmi_node_at(&s->graph, s->culprit);
    const hmi_model_term *term = &s->term;
    hmi_text symbols;
    const char *moving = NULL;
    hmi_text_init(&symbols, s->system->allocator);
    list_symbols(s, node->op == HMI_DIV ? node->b : node->a, &symbols, &moving);
    const char *text = hmi_text_view(&symbols), *name = term->name;
    const char *of = term->what && s->order > 0 ? "the derivatives of " : "";
    hmi_error(s->context, term->what ? term->span : hmi_no_span, hint_for(s, text, moving),
              "%s%s%s%s%s %s not finite at this state: %s%s%s", of,
              term->what ? term->what : "the equations", name ? " '" : "", name ? name : "",
              name ? "'" : "", term->what && s->order == 0 ? "is" : "are", reason((hmi_op)node->op),
              *text ? ", in an expression of " : "", text);
    hmi_text_release(&symbols);
}

void hmi_system_report_not_finite(const hm_system *system, const hmi_tape_values *values,
                                  hm_context *context)
{
    search s = {.system = system, .values = values, .context = context};
    find(&s);
    if (s.culprit == HMI_NONE) {
        s.term = (hmi_model_term){0};
        find_anywhere(&s);
    }
    if (s.culprit != HMI_NONE)
        report(&s);
    else
        hmi_error(context, hmi_no_span, NULL, "the equations are not finite at this state");
    hmi_tangent_release(&s.tangent);
    hmi_array_release(system->allocator, &s.value);
    hmi_graph_release(&s.graph);
}
