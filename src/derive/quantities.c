/* Outputs, events and drawings with kinetic_energy, momentum(x), power(impressed), ... replaced by what
 * was derived for them. `energy` of an event is replaced too, so that it is a function of the state.
 * The powers of constraint forces stay symbols: they belong to a solution. */
#include "derive/derive_internal.h"

typedef struct replacement {
    const hmi_derived *eq;
    bool in_event;
    uint32_t undefined; /* a quantity that has no value in this model */
} replacement;

static hmi_expr derived_quantity(const replacement *r, uint32_t index)
{
    const hmi_derived *eq = r->eq;
    switch (index) {
    case HMI_QUANTITY_TOTAL:
        return eq->total;
    case HMI_QUANTITY_KINETIC:
        return eq->kinetic;
    case HMI_QUANTITY_POTENTIAL:
        return eq->potential;
    case HMI_QUANTITY_IMPRESSED:
        return eq->power.impressed;
    case HMI_QUANTITY_DISSIPATION:
        return eq->power.dissipation;
    case HMI_QUANTITY_GYROSCOPIC:
        return eq->power.gyroscopic;
    case HMI_QUANTITY_EXPLICIT_TIME:
        return eq->power.explicit_time;
    default:
        return eq->momentum[index - HMI_QUANTITY_MOMENTUM];
    }
}

static hmi_expr replace_leaf(hmi_graph *graph, hmi_expr leaf, void *user)
{
    replacement *r = user;
    const hmi_node *node = hmi_node_at(graph, leaf);
    bool total = node->b == HMI_QUANTITY_TOTAL;
    if (node->a != HMI_SYM_ENERGY || (total && (!r->in_event || r->eq->total == HMI_NONE)) ||
        (!total && node->b < HMI_SOLVED_QUANTITIES))
        return leaf;
    hmi_expr value = derived_quantity(r, node->b);
    if (value != HMI_NONE)
        return value;
    r->undefined = node->b;
    return leaf;
}

static hm_status replace(hmi_derived *eq, bool in_event, hmi_expr written, hmi_span at,
                         hmi_expr *out)
{
    replacement r = {eq, in_event, UINT32_MAX};
    hmi_substitution substitution;
    *out = written;
    if (!(hmi_deps(&eq->graph, written) & HMI_DEP(HMI_SYM_ENERGY)))
        return HM_OK;
    hmi_substitution_init(&substitution, eq->allocator, replace_leaf, &r, HMI_DEP(HMI_SYM_ENERGY));
    *out = hmi_substitute(&substitution, &eq->graph, written);
    hmi_substitution_release(&substitution);
    if (r.undefined == UINT32_MAX)
        return hmi_graph_status(&eq->graph);
    hm_context *context = eq->context;
    hmi_error(context, at, "write 'kinetic' and 'potential' instead of 'lagrangian' or 'mass'",
              "'%s' is not defined in this model",
              hmi_model_symbol_name(context, eq->model, HMI_SYM_ENERGY, r.undefined));
    return HM_ERR_INPUT;
}

hm_status hmi_derive_quantities(hmi_derivation *d)
{
    hmi_derived *eq = d->eq;
    const hm_model *model = eq->model;
    hm_status status = HM_OK;
    eq->outputs = hmi_new_vector(d, model->outputs.count);
    eq->events = hmi_new_vector(d, model->events.count);
    eq->drawings = hmi_new_vector(d, model->drawing_values);
    if (!eq->outputs || !eq->events || !eq->drawings)
        return HM_ERR_NOMEM;
    for (size_t i = 0; i < model->outputs.count && status == HM_OK; i++)
        status = replace(eq, false, model->outputs.data[i].expr, model->outputs.data[i].span,
                         &eq->outputs[i]);
    for (size_t i = 0; i < model->events.count && status == HM_OK; i++)
        status = replace(eq, true, model->events.data[i].expr, model->events.data[i].span,
                         &eq->events[i]);
    for (size_t i = 0; i < model->drawings.count; i++) {
        const hmi_drawing *drawing = &model->drawings.data[i];
        for (size_t k = 0; k < drawing->shown.value_count && status == HM_OK; k++)
            status = replace(eq, false, drawing->values[k], drawing->span,
                             &eq->drawings[drawing->shown.first + k]);
    }
    return status;
}
