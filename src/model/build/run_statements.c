/* Initial state, default run, symmetries, events, outputs. */
#include "base/sort.h"
#include "model/build/statements.h"

#include <math.h>
#include <string.h>

/* ---- initial ---- */

static hmi_initial *initial_slot(hm_model *model, const hmi_component *target)
{
    switch (target->kind) {
    case HMI_SYM_COORD:
        return &model->coords.data[target->index].position;
    case HMI_SYM_VELOCITY:
        return &model->coords.data[target->index].velocity;
    default:
        return &model->states.data[target->index].initial;
    }
}

static bool build_initial_entry(hmi_builder *b, const hmi_entry *entry, bool keep,
                                const hmi_scope *scope)
{
    hmi_component target;
    hmi_expr expr;
    double value;
    if (!hmi_build_target(b, entry->target, scope, &target) ||
        !hmi_build_number_expr(b, entry->value, scope, &expr, &value))
        return false;
    hmi_initial *slot = initial_slot(b->model, &target);
    if (slot->given != HMI_GIVEN_NOT) {
        hmi_error(b->context, entry->span, NULL, "the initial value of '%s' is given twice",
                  hmi_model_symbol_name(b->context, b->model, target.kind, target.index));
        return false;
    }
    slot->given = keep ? HMI_GIVEN_KEPT : entry->guess ? HMI_GIVEN_GUESS : HMI_GIVEN_FIXED;
    slot->value = value;
    slot->expr = expr;
    slot->span = entry->span;
    return true;
}

bool hmi_build_initial(hmi_builder *b, const hmi_statement *s, const hmi_scope *scope)
{
    bool good = true;
    for (size_t i = 0; i < s->entry_count; i++)
        good = build_initial_entry(b, &s->entries[i], s->keep, scope) && good;
    b->model->keep_initial |= s->keep;
    return good;
}

/* ---- simulate ---- */

#define SUNDIALS_METHOD METHOD
#define METHOD(name)    #name,
static const char *const methods[] = {
    "auto",
#include "model/methods.def"
};
#undef METHOD
#define METHOD(name) ", " #name
static const char all_methods[] = "auto"
#include "model/methods.def"
    ;
#undef METHOD
static const char *const drifts[] = {"project", "baumgarte", "none"};

/* A word out of a list; NULL after reporting. */
static const char *choose_word(hmi_builder *b, const hmi_ast *value, const char *option,
                               const char *const *words, size_t count, const char *all)
{
    bool named = value->kind == HMI_AST_NAME || value->kind == HMI_AST_CALL;
    const char *text = named ? hmi_names_text(&b->tree->names, value->name) : "";
    for (size_t i = 0; i < count; i++)
        if (strcmp(words[i], text) == 0)
            return words[i];
    const char *hint = hmi_context_printf(b->context, "one of: %s", all);
    if (named)
        hmi_error(b->context, value->span, hint, "unknown %s '%s'", option, text);
    else
        hmi_error(b->context, value->span, hint, "expected the name of a %s", option);
    return NULL;
}

static bool build_drift(hmi_builder *b, const hmi_ast *value, const hmi_scope *scope)
{
    hmi_simulate *run = &b->model->simulate;
    run->drift = choose_word(b, value, "drift control", drifts, 3,
                             "project, baumgarte(a, b), none");
    if (!run->drift)
        return false;
    bool baumgarte = run->drift == drifts[1];
    if (baumgarte != (value->kind == HMI_AST_CALL) || (baumgarte && value->count != 2)) {
        hmi_error(b->context, value->span, NULL, "write drift %s",
                  baumgarte ? "baumgarte(a, b)" : run->drift);
        return false;
    }
    for (uint32_t k = 0; baumgarte && k < 2; k++)
        if (!hmi_build_number(b, value->items[k], scope, &run->drift_gain[k]))
            return false;
    return true;
}

static bool build_positive(hmi_builder *b, const hmi_ast *value, const hmi_scope *scope,
                           const char *what, hmi_expr *expr, double *out)
{
    hmi_expr unused;
    if (!hmi_build_number_expr(b, value, scope, expr ? expr : &unused, out))
        return false;
    if (*out > 0)
        return true;
    hmi_error(b->context, value->span, NULL, "%s must be positive", what);
    return false;
}

static bool build_run_option(hmi_builder *b, const hmi_entry *entry, const hmi_scope *scope)
{
    hmi_simulate *run = &b->model->simulate;
    const char *word = hmi_names_text(&b->tree->names, entry->word);
    if (strcmp(word, "method") == 0) {
        run->method = choose_word(b, entry->value, "method", methods,
                                  sizeof methods / sizeof *methods, all_methods);
        return run->method != NULL;
    }
    if (strcmp(word, "drift") == 0)
        return build_drift(b, entry->value, scope);
    if (strcmp(word, "rtol") == 0)
        return build_positive(b, entry->value, scope, "rtol", NULL, &run->rtol);
    if (strcmp(word, "atol") == 0)
        return build_positive(b, entry->value, scope, "atol", NULL, &run->atol);
    if (strcmp(word, "step") == 0)
        return build_positive(b, entry->value, scope, "step", NULL, &run->step);
    hmi_error(b->context, entry->span, "the options are: every, method, rtol, atol, drift, step",
              "unknown option '%s'", word);
    return false;
}

bool hmi_build_simulate(hmi_builder *b, const hmi_statement *s, const hmi_scope *scope)
{
    hmi_simulate *run = &b->model->simulate;
    if (run->given) {
        hmi_error(b->context, s->span, NULL, "'simulate' is given twice");
        return false;
    }
    run->given = true;
    run->span = s->span;
    if (!hmi_build_number_expr(b, s->first, scope, &run->start_expr, &run->start) ||
        !hmi_build_number_expr(b, s->second, scope, &run->end_expr, &run->end))
        return false;
    if (run->end <= run->start) {
        hmi_error(b->context, s->span, NULL, "the run must end after it starts");
        return false;
    }
    run->has_every = s->third != NULL;
    if (s->third &&
        !build_positive(b, s->third, scope, "the interval", &run->every_expr, &run->every))
        return false;
    for (size_t i = 0; i < s->entry_count; i++) {
        for (size_t k = 0; k < i; k++)
            if (s->entries[k].word == s->entries[i].word) {
                hmi_error(b->context, s->entries[i].span, NULL, "'%s' is given twice",
                          hmi_names_text(&b->tree->names, s->entries[i].word));
                return false;
            }
        if (!build_run_option(b, &s->entries[i], scope))
            return false;
    }
    return true;
}

/* ---- lists "x = E, y = E" ---- */

typedef struct place {
    hmi_symbol_kind kind;
    uint32_t index;
    size_t entry;
} place;

static int compare_places(const void *a, const void *b)
{
    const place *x = a, *y = b;
    if (x->kind != y->kind)
        return x->kind < y->kind ? -1 : 1;
    if (x->index != y->index)
        return x->index < y->index ? -1 : 1;
    return x->entry < y->entry ? -1 : x->entry > y->entry;
}

/* No target is given twice. */
static bool check_distinct(hmi_builder *b, const hmi_statement *s, const hmi_component *list)
{
    place *places = hmi_builder_alloc(b, (s->entry_count + 1) * sizeof *places);
    if (!places)
        return false;
    for (size_t i = 0; i < s->entry_count; i++)
        places[i] = (place){list[i].kind, list[i].index, i};
    hmi_sort(places, s->entry_count, sizeof *places, compare_places);
    for (size_t i = 1; i < s->entry_count; i++)
        if (places[i].kind == places[i - 1].kind && places[i].index == places[i - 1].index) {
            hmi_error(b->context, s->entries[places[i].entry].span, NULL, "this is given twice");
            return false;
        }
    return true;
}

static bool build_components(hmi_builder *b, const hmi_statement *s, const hmi_scope *scope,
                             uint16_t allowed, const char *where, hmi_component **out)
{
    hmi_component *list = hmi_model_alloc(b, (s->entry_count + 1) * sizeof *list);
    if (!list)
        return false;
    for (size_t i = 0; i < s->entry_count; i++) {
        const hmi_entry *entry = &s->entries[i];
        if (!hmi_build_target(b, entry->target, scope, &list[i]) ||
            !hmi_build_scalar(b, entry->value, scope, &list[i].value) ||
            !hmi_check_contents(b, list[i].value, allowed, entry->value->span, where))
            return false;
    }
    *out = list;
    return check_distinct(b, s, list);
}

bool hmi_build_symmetry(hmi_builder *b, const hmi_statement *s, const hmi_scope *scope)
{
    hmi_symmetry symmetry = {.count = s->entry_count, .span = s->span};
    const uint16_t allowed = HMI_DEP(HMI_SYM_PARAM) | HMI_DEP(HMI_SYM_COORD) |
                             HMI_DEP(HMI_SYM_TIME);
    symmetry.name = hmi_label_text(b, s->label, scope);
    if (!symmetry.name ||
        !hmi_declare_object(b, symmetry.name, "symmetry", (uint32_t)b->model->symmetries.count,
                            s->label->span) ||
        !build_components(b, s, scope, allowed, "a generator", &symmetry.generator))
        return false;
    for (size_t i = 0; i < symmetry.count; i++)
        if (symmetry.generator[i].kind != HMI_SYM_COORD) {
            hmi_error(b->context, s->entries[i].span, NULL, "a generator moves coordinates");
            return false;
        }
    return hmi_array_push(&b->context->allocator, &b->model->symmetries, symmetry) ||
           hmi_no_memory(b);
}

/* ---- events and outputs ---- */

static const char *kept_name(hmi_builder *b, const char *name)
{
    char *kept = name ? hmi_arena_text(&b->model->arena, name, strlen(name)) : NULL;
    if (name && !kept)
        hmi_no_memory(b);
    return kept;
}

bool hmi_build_event(hmi_builder *b, const hmi_statement *s, const hmi_scope *scope)
{
    hmi_event event = {.direction = s->direction,
                       .action = s->action,
                       .set_count = s->entry_count,
                       .span = s->span};
    hmi_expr lhs, rhs;
    event.name = s->label ? kept_name(b, hmi_label_text(b, s->label, scope))
                          : hmi_context_printf(b->context, "e%d", ++b->unnamed_events);
    if (!event.name ||
        !hmi_declare_object(b, event.name, "event", (uint32_t)b->model->events.count, s->span) ||
        !hmi_build_scalar(b, s->first, scope, &lhs) || !hmi_build_scalar(b, s->second, scope, &rhs))
        return false;
    event.expr = hmi_sub(b->graph, lhs, rhs);
    if (!build_components(b, s, scope, HMI_STATE_DEPS, "a reset", &event.set))
        return false;
    return hmi_array_push(&b->context->allocator, &b->model->events, event) || hmi_no_memory(b);
}

static bool add_output(hmi_builder *b, const hmi_statement *s, const char *name, hmi_expr e)
{
    hmi_output output = {.name = name, .expr = e, .span = s->span};
    if (!name ||
        !hmi_declare_object(b, name, "output", (uint32_t)b->model->outputs.count, s->label->span))
        return false;
    return hmi_array_push(&b->context->allocator, &b->model->outputs, output) || hmi_no_memory(b);
}

/* A vector or matrix becomes one column per component. */
bool hmi_build_output(hmi_builder *b, const hmi_statement *s, const hmi_scope *scope)
{
    hmi_value value;
    const char *base = kept_name(b, hmi_label_text(b, s->label, scope));
    if (!base || !hmi_build_value(b, s->first, scope, &value))
        return false;
    if (value.boolean)
        value.boolean = false; /* a condition is reported as 1 or 0 */
    if (value.rank == 0)
        return add_output(b, s, base, value.scalar);
    for (size_t k = 0; k < hmi_value_count(&value); k++) {
        const char *name = value.rank == 1
                               ? hmi_context_printf(b->context, "%s[%zu]", base, k + 1)
                               : hmi_context_printf(b->context, "%s[%zu,%zu]", base,
                                                    k / value.columns + 1, k % value.columns + 1);
        if (!add_output(b, s, name, value.items[k]))
            return false;
    }
    return true;
}
