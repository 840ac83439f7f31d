/* Makes the forms of a system's constraints and their derivatives (forms.h). */
#include "analyse/forms/forms.h"

#include <string.h>

enum { MOST_NORMAL = 60 };

/* ---- leaves ---- */

/* Auxiliary state k is signal inputs + k. */
static hmi_expr state_to_signal(hmi_graph *graph, hmi_expr leaf, void *user)
{
    const hmi_forms *forms = user;
    const hmi_node *node = hmi_node_at(graph, leaf);
    uint32_t index = (uint32_t)forms->model->inputs.count + node->b;
    return node->a == HMI_SYM_STATE ? hmi_symbol(graph, HMI_SYM_INPUT, index) : leaf;
}

static hmi_expr at_rest(hmi_graph *graph, hmi_expr leaf, void *user)
{
    (void)user;
    return hmi_node_at(graph, leaf)->a == HMI_SYM_VELOCITY ? graph->zero : leaf;
}

static hmi_expr clock_tangent(hmi_graph *graph, hmi_expr leaf, void *user)
{
    (void)user;
    return hmi_leaf_rate(graph, leaf);
}

/* Keeps the first failure to make an expression. */
static hmi_expr sticky(hmi_forms *forms, hmi_expr e)
{
    if (e == HMI_NONE && forms->status == HM_OK)
        forms->status = forms->graph.status != HM_OK ? forms->graph.status : HM_ERR_NOMEM;
    return e;
}

static hmi_expr replace_leaves(hmi_forms *forms, hmi_expr e, hmi_leaf_replacement leaf,
                               uint16_t deps)
{
    hmi_substitution substitution;
    hmi_substitution_init(&substitution, forms->allocator, leaf, forms, deps);
    hmi_expr result = hmi_substitute(&substitution, &forms->graph, e);
    hmi_substitution_release(&substitution);
    return sticky(forms, result);
}

/* ---- forms ---- */

hm_status hmi_forms_status(const hmi_forms *forms)
{
    if (forms->graph.status != HM_OK)
        return forms->graph.status;
    if (forms->status != HM_OK)
        return forms->status;
    return forms->normal ? hmi_normal_status(forms->normal) : HM_OK;
}

hmi_expr hmi_forms_normal(hmi_forms *forms, hmi_expr e)
{
    return forms->normal && e != HMI_NONE ? hmi_normal_form(forms->normal, e) : e;
}

hmi_expr hmi_form_component(const hmi_forms *forms, const hmi_form *form, size_t j)
{
    for (size_t k = 0; k < form->count; k++)
        if (form->at[k] == j)
            return form->value[k];
    return forms->graph.zero;
}

hmi_expr hmi_partial_by(hmi_forms *forms, hmi_expr e, size_t j)
{
    if (j == forms->n)
        return sticky(forms, hmi_tangent_of(&forms->clock, &forms->graph, e));
    if (hmi_gradient(&forms->adjoint, &forms->graph, e, HMI_SYM_COORD) != HM_OK)
        return sticky(forms, HMI_NONE);
    for (size_t k = 0; k < forms->adjoint.partials.count; k++)
        if (forms->adjoint.partials.data[k].index == j)
            return forms->adjoint.partials.data[k].value;
    return forms->graph.zero;
}

/* The partial derivatives of the last sweep and `last` at position n, zeros left out. */
static hm_status take_list(hmi_forms *forms, hmi_expr last, size_t *count, uint32_t **at,
                           hmi_expr **value)
{
    size_t most = forms->adjoint.partials.count + 1;
    *at = hmi_arena_alloc(&forms->arena, most * sizeof **at);
    *value = hmi_arena_alloc(&forms->arena, most * sizeof **value);
    *count = 0;
    if (!*at || !*value)
        return HM_ERR_NOMEM;
    for (size_t k = 0; k + 1 < most; k++) {
        const hmi_partial *partial = &forms->adjoint.partials.data[k];
        if (partial->value == forms->graph.zero || partial->index >= forms->n)
            continue;
        (*at)[*count] = partial->index;
        (*value)[(*count)++] = partial->value;
    }
    if (last != forms->graph.zero) {
        (*at)[*count] = (uint32_t)forms->n;
        (*value)[(*count)++] = last;
    }
    return HM_OK;
}

static hm_status form_of(hmi_forms *forms, hmi_expr e, hmi_symbol_kind by, hmi_expr last,
                         hmi_form *form)
{
    if (last == HMI_NONE)
        return forms->graph.status != HM_OK ? forms->graph.status : HM_ERR_NOMEM;
    hm_status status = hmi_gradient(&forms->adjoint, &forms->graph, e, by);
    if (status == HM_OK)
        status = take_list(forms, last, &form->count, &form->at, &form->value);
    for (size_t k = 0; status == HM_OK && k < form->count; k++)
        form->value[k] = hmi_forms_normal(forms, form->value[k]);
    size_t kept = 0;
    for (size_t k = 0; status == HM_OK && k < form->count; k++)
        if (form->value[k] != forms->graph.zero) {
            form->at[kept] = form->at[k];
            form->value[kept++] = form->value[k];
        }
    form->count = kept;
    return status == HM_OK ? hmi_forms_status(forms) : status;
}

hm_status hmi_form_differentiate(hmi_forms *forms, hmi_form *form)
{
    hmi_graph *g = &forms->graph;
    hmi_expr sum = g->zero;
    for (size_t k = 0; k < form->count; k++)
        sum = hmi_add(g, sum,
                      hmi_mul(g, form->value[k], hmi_symbol(g, HMI_SYM_VELOCITY, form->at[k])));
    hmi_expr by_time = sum == HMI_NONE ? HMI_NONE : hmi_tangent_of(&forms->clock, g, sum);
    if (by_time == HMI_NONE)
        return g->status != HM_OK ? g->status : HM_ERR_NOMEM;
    hm_status status = hmi_gradient(&forms->adjoint, g, sum, HMI_SYM_COORD);
    return status == HM_OK ? take_list(forms, by_time, &form->gradient_count, &form->gradient_at,
                                       &form->gradient)
                           : status;
}

hm_status hmi_form_of_velocities(hmi_forms *forms, hmi_expr psi, hmi_form *form)
{
    hmi_expr rest = replace_leaves(forms, psi, at_rest, HMI_DEP(HMI_SYM_VELOCITY));
    hm_status status = form_of(forms, psi, HMI_SYM_VELOCITY, rest, form);
    return status == HM_OK ? hmi_form_differentiate(forms, form) : status;
}

static hm_status build_row(hmi_forms *forms, const hmi_constraint *row, hmi_form_row *out)
{
    const uint16_t clock = HMI_DEP(HMI_SYM_TIME) | HMI_DEP(HMI_SYM_INPUT) |
                           HMI_DEP(HMI_SYM_INPUT_RATE) | HMI_DEP(HMI_SYM_INPUT_RATE2);
    out->row = row;
    out->residual = replace_leaves(forms, row->residual, state_to_signal, HMI_DEP(HMI_SYM_STATE));
    if (out->residual == HMI_NONE)
        return hmi_forms_status(forms) != HM_OK ? hmi_forms_status(forms) : HM_ERR_NOMEM;
    out->time_occurs = hmi_deps(&forms->graph, out->residual) & clock;
    out->closed = row->level == HM_LEVEL_POSITION;
    out->pfaffian = out->closed || (row->level == HM_LEVEL_VELOCITY && row->linear);
    if (out->closed)
        return form_of(forms, out->residual, HMI_SYM_COORD,
                       hmi_tangent_of(&forms->clock, &forms->graph, out->residual), &out->form);
    return out->pfaffian ? hmi_form_of_velocities(forms, out->residual, &out->form) : HM_OK;
}

hm_status hmi_forms_init(hmi_forms *forms, const hm_system *system)
{
    const hm_model *model = system->model;
    *forms = (hmi_forms){.system = system,
                         .model = model,
                         .allocator = system->allocator,
                         .n = model->coords.count,
                         .m = model->constraints.count,
                         .signals = model->inputs.count + model->states.count};
    hmi_arena_init(&forms->arena, forms->allocator);
    hmi_adjoint_init(&forms->adjoint, forms->allocator);
    hmi_tangent_init(&forms->clock, forms->allocator, clock_tangent, NULL,
                     HMI_DEP(HMI_SYM_TIME) | HMI_DEP(HMI_SYM_INPUT) | HMI_DEP(HMI_SYM_INPUT_RATE));
    hm_status status = hmi_graph_copy(&forms->graph, &system->derived.graph);
    if (status != HM_OK)
        return status;
    if (forms->n <= MOST_NORMAL && !(forms->normal = hmi_normal_create(&forms->graph)))
        return HM_ERR_NOMEM;
    forms->rows = hmi_arena_alloc(&forms->arena, (forms->m + forms->n + 2) * sizeof *forms->rows);
    forms->row_count = forms->m;
    if (!forms->rows)
        return HM_ERR_NOMEM;
    for (size_t k = 0; status == HM_OK && k < forms->m; k++)
        status = build_row(forms, &model->constraints.data[k], &forms->rows[k]);
    return status;
}

void hmi_forms_release(hmi_forms *forms)
{
    if (!forms->allocator)
        return;
    hmi_normal_destroy(forms->normal);
    hmi_tangent_release(&forms->clock);
    hmi_adjoint_release(&forms->adjoint);
    hmi_graph_release(&forms->graph);
    hmi_arena_release(&forms->arena);
    forms->allocator = NULL;
}
