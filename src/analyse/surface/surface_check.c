/* Shorter forms against what they stand for, in balls at random states that satisfy all constraints (surface.h). */
#include "analyse/surface/surface.h"

#include "analyse/symmetry/states.h"

#include <math.h>
#include <string.h>

enum { CHECKED_STATES = 6, CHECKED_BITS = 192 };

/* Pairs that differ as expressions, in the graph of the forms: from, then from - to. */
typedef struct pairs {
    size_t count;
    size_t *at;     /* their place in the list */
    hmi_expr *list; /* 2 count */
} pairs;

static hm_status collect(hmi_surface *s, hmi_graph *to, const hmi_expr *from, const hmi_expr *list,
                         size_t count, pairs *p)
{
    p->at = hmi_arena_alloc(&s->arena, (count + 1) * sizeof *p->at);
    p->list = hmi_arena_alloc(&s->arena, (2 * count + 1) * sizeof *p->list);
    if (!p->at || !p->list)
        return HM_ERR_NOMEM;
    for (size_t i = 0; i < count; i++)
        if (from[i] != list[i]) {
            p->at[p->count] = i;
            p->list[2 * p->count] = from[i];
            p->list[2 * p->count++ + 1] = hmi_intern(s->graph, HMI_SUB, from[i], list[i], 0);
        }
    hm_status status = hmi_surface_status(s);
    return status == HM_OK ? hmi_graph_transplant(to, s->graph, p->list, 2 * p->count) : status;
}

/* from - to is zero, relatively to the size of `from` or 1. */
static bool is_zero(const hmi_states *states, size_t k, double tolerance)
{
    double size = fmax(0, hmi_log2_above(hmi_states_value(states, 2 * k, 0)));
    arb_srcptr difference = hmi_states_value(states, 2 * k + 1, 0);
    return (arb_contains_zero(difference) || hmi_states_inexact(states)) &&
           hmi_log2_above(difference) <= size + tolerance;
}

static hm_status compare(hmi_surface *s, hmi_states *states, const pairs *p, bool *differs)
{
    hm_status status = HM_OK;
    for (size_t k = 0; status == HM_OK && k < 2 * p->count; k++)
        status = hmi_states_watch(states, p->list[k]);
    double tolerance = hmi_zero_tolerance(CHECKED_BITS, hmi_states_inexact(states)) / 2;
    for (int i = 0; status == HM_OK && i < CHECKED_STATES; i++) {
        status = hmi_states_draw(states);
        for (size_t k = 0; status == HM_OK && k < p->count; k++)
            differs[k] |= !is_zero(states, k, tolerance);
        s->states += status == HM_OK;
    }
    s->bits = CHECKED_BITS;
    return status;
}

static hm_status with_forms(hmi_surface *s, hmi_forms *forms, const pairs *p, bool *differs)
{
    const hm_model *model = s->system->model;
    bool failed = false;
    double *state = hmi_arena_doubles(&s->arena, 2 * forms->n + model->states.count + 1, &failed);
    hmi_sampler sampler;
    hmi_states states;
    if (failed)
        return HM_ERR_NOMEM;
    hm_model_initial(model, state, state + forms->n, state + 2 * forms->n);
    hm_status status = hmi_sampler_init(&sampler, forms, state, 0);
    if (status == HM_OK) {
        status = hmi_states_init(&states, &sampler, CHECKED_BITS);
        if (status == HM_OK)
            status = compare(s, &states, p, differs);
        hmi_states_release(&states);
    }
    hmi_sampler_release(&sampler);
    return status;
}

static void put_back(hmi_surface *s, const pairs *p, const bool *differs, const hmi_expr *from,
                     hmi_expr *list)
{
    for (size_t k = 0; k < p->count; k++)
        if (!differs || differs[k]) {
            list[p->at[k]] = from[p->at[k]];
            s->unproved++;
        }
}

hm_status hmi_surface_check(hmi_surface *s, const hmi_expr *from, hmi_expr *list, size_t count)
{
    hmi_forms forms;
    pairs p = {0};
    bool *differs = hmi_arena_alloc(&s->arena, count + 1);
    hm_status status = hmi_forms_init(&forms, s->system);
    if (status == HM_OK)
        status = differs ? collect(s, &forms.graph, from, list, count, &p) : HM_ERR_NOMEM;
    if (status == HM_OK)
        memset(differs, 0, count + 1);
    if (status == HM_OK && p.count)
        status = with_forms(s, &forms, &p, differs);
    hmi_forms_release(&forms);
    if (status == HM_ERR_NUMERIC || status == HM_ERR_LIMIT) {
        s->refusal = "no states were found at which shorter forms could be compared";
        put_back(s, &p, NULL, from, list);
        return HM_OK;
    }
    if (status == HM_OK)
        put_back(s, &p, differs, from, list);
    return status;
}
