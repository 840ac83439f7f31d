/* Energies and the powers that change them.
 *
 *     total = q'.dL/dq' - L,
 *     d(total)/dt = sum of powers,   explicit_time = -dL/dt                  [cli.md, eval --json]
 *
 * Auxiliary states and inputs in L count as explicit time. Where L comes from `lagrangian`, its
 * part quadratic in the velocities is reported as kinetic and its part without velocities as
 * minus potential; where it is not such a sum, kinetic and potential are not defined.
 */
#include "derive/derive_internal.h"

static hmi_expr dot_velocities(hmi_derivation *d, const hmi_expr *vector)
{
    hmi_graph *g = &d->eq->graph;
    hmi_expr sum = g->zero;
    for (size_t i = 0; i < d->eq->n; i++)
        if (vector[i] != g->zero)
            sum = hmi_add(g, sum,
                          hmi_mul(g, hmi_symbol(g, HMI_SYM_VELOCITY, (uint32_t)i), vector[i]));
    return sum;
}

static hmi_expr without_velocity(hmi_graph *graph, hmi_expr leaf, void *user)
{
    (void)user;
    return hmi_node_at(graph, leaf)->a == HMI_SYM_VELOCITY ? graph->zero : leaf;
}

static hmi_expr at_rest(hmi_derivation *d, hmi_expr e)
{
    hmi_substitution rest;
    hmi_substitution_init(&rest, d->eq->allocator, without_velocity, NULL,
                          HMI_DEP(HMI_SYM_VELOCITY));
    e = hmi_substitute(&rest, &d->eq->graph, e);
    hmi_substitution_release(&rest);
    return e;
}

/* L2 of a `lagrangian` statement: v.dL/dv = 2 L2 + L1, L = L2 + L1 + L0. */
static hm_status split_written_lagrangian(hmi_derivation *d)
{
    hmi_derived *eq = d->eq;
    hmi_graph *g = &eq->graph;
    hmi_expr written = eq->model->lagrangian;
    if (!eq->quadratic) {
        eq->kinetic = eq->potential = HMI_NONE;
        return HM_OK;
    }
    hmi_expr *gradient = hmi_new_vector(d, eq->n);
    if (!gradient)
        return HM_ERR_NOMEM;
    hm_status status = hmi_gradient_into(d, written, HMI_SYM_VELOCITY, gradient);
    hmi_expr constant = at_rest(d, written), twice = dot_velocities(d, gradient);
    /* L2 = v.dL/dv - (L - L0) */
    hmi_expr quadratic = hmi_sub(g, twice, hmi_sub(g, written, constant));
    eq->kinetic = hmi_add(g, eq->kinetic, quadratic);
    eq->potential = hmi_sub(g, eq->potential, constant);
    return status;
}

/* dL/dt at fixed q, q'. */
static hmi_expr explicit_leaf(hmi_graph *graph, hmi_expr leaf, void *user)
{
    const hmi_derivation *d = user;
    const hmi_node *node = hmi_node_at(graph, leaf);
    return node->a == HMI_SYM_STATE ? d->eq->model->states.data[node->b].rate
                                    : hmi_leaf_rate(graph, leaf);
}

static hmi_expr explicit_time_power(hmi_derivation *d)
{
    hmi_tangent tangent;
    const uint16_t deps = HMI_DEP_MOVING & ~(HMI_DEP(HMI_SYM_COORD) | HMI_DEP(HMI_SYM_VELOCITY));
    hmi_tangent_init(&tangent, d->eq->allocator, explicit_leaf, d, deps);
    hmi_expr e = hmi_tangent_of(&tangent, &d->eq->graph, d->eq->lagrangian);
    hmi_tangent_release(&tangent);
    return hmi_neg(&d->eq->graph, e);
}

hm_status hmi_derive_energy(hmi_derivation *d)
{
    hmi_derived *eq = d->eq;
    hmi_graph *g = &eq->graph;
    eq->kinetic = d->kinetic;
    eq->potential = eq->model->potential;
    hm_status status = eq->model->has_lagrangian ? split_written_lagrangian(d) : HM_OK;
    eq->total = hmi_sub(g, dot_velocities(d, eq->momentum), eq->lagrangian);
    if (d->variable_mass)
        eq->kinetic = eq->potential = eq->total = HMI_NONE;
    eq->power.impressed = dot_velocities(d, eq->impressed);
    eq->power.dissipation = dot_velocities(d, eq->dissipation);
    eq->power.gyroscopic = dot_velocities(d, eq->gyroscopic);
    eq->power.explicit_time = explicit_time_power(d);
    return status == HM_OK ? g->status : status;
}
