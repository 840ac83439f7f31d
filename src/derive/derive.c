/* Model -> symbolic equations of motion: the Lagrangian, its derivatives, the forces, and the order in
 * which the other files of this folder are called. */
#include "derive/derive_internal.h"
#include "derive/relative_degree.h"
#include "derive/verify.h"

#include <string.h>

/* ---- derivatives along the motion with q'' = 0 ---- */

static hmi_expr leaf_along_motion(hmi_graph *graph, hmi_expr leaf, void *user)
{
    const hmi_derived *eq = user;
    const hmi_node *node = hmi_node_at(graph, leaf);
    return node->a == HMI_SYM_STATE ? eq->model->states.data[node->b].rate
                                    : hmi_leaf_rate(graph, leaf);
}

/* ---- setup ---- */

static hm_status allocate(hmi_derivation *d)
{
    hmi_derived *eq = d->eq;
    hmi_expr **vectors[] = {&eq->momentum,    &eq->dL_dq,      &eq->Q,    &eq->impressed,
                            &eq->dissipation, &eq->gyroscopic, &eq->bias, &eq->C};
    for (size_t i = 0; i < sizeof vectors / sizeof *vectors; i++)
        if (!(*vectors[i] = hmi_new_vector(d, eq->n)))
            return HM_ERR_NOMEM;
    return HM_OK;
}

/* ---- the Lagrangian and its derivatives ---- */

static bool is_constant(const hmi_graph *g, hmi_expr e)
{
    return !(hmi_deps(g, e) & ~HMI_DEP(HMI_SYM_PARAM));
}

/* Constant entries of `mass` are a kinetic energy; others add to M alone. */
static hmi_expr constant_mass_energy(hmi_derivation *d)
{
    hmi_graph *g = &d->eq->graph;
    const hm_model *model = d->eq->model;
    hmi_expr sum = g->zero;
    for (size_t k = 0; k < model->mass.count; k++) {
        const hmi_pair *pair = &model->mass.data[k];
        hmi_expr vi = hmi_symbol(g, HMI_SYM_VELOCITY, pair->row);
        hmi_expr vj = hmi_symbol(g, HMI_SYM_VELOCITY, pair->column);
        if (!is_constant(g, pair->value)) {
            d->variable_mass = true;
            continue;
        }
        hmi_expr factor = pair->row == pair->column ? hmi_mul(g, g->half, pair->value)
                                                    : pair->value;
        sum = hmi_add(g, sum, hmi_mul(g, factor, hmi_mul(g, vi, vj)));
    }
    return sum;
}

static hm_status derive_momentum(hmi_derivation *d)
{
    hmi_derived *eq = d->eq;
    hmi_graph *g = &eq->graph;
    d->kinetic = hmi_add(g, eq->model->kinetic, constant_mass_energy(d));
    eq->lagrangian = hmi_add(g, hmi_sub(g, d->kinetic, eq->model->potential),
                             eq->model->lagrangian);
    hm_status status = hmi_gradient_into(d, eq->lagrangian, HMI_SYM_VELOCITY, eq->momentum);
    return status == HM_OK ? hmi_gradient_into(d, eq->lagrangian, HMI_SYM_COORD, eq->dL_dq)
                           : status;
}

/* bias = d/dt dL/dq' - dL/dq at q'' = 0. */
static hm_status derive_bias(hmi_derivation *d)
{
    hmi_derived *eq = d->eq;
    for (size_t i = 0; i < eq->n; i++)
        eq->bias[i] = hmi_sub(&eq->graph, hmi_along_motion(d, eq->momentum[i]), eq->dL_dq[i]);
    return eq->graph.status;
}

/* One reverse sweep a row, over the part of p_i that depends on velocities. */
static hm_status derive_mass_row(hmi_derivation *d, size_t i)
{
    hmi_derived *eq = d->eq;
    hm_status status = hmi_gradient(&d->adjoint, &eq->graph, eq->momentum[i], HMI_SYM_VELOCITY);
    if (status == HM_OK)
        status = hmi_count_entries(d);
    for (size_t k = 0; status == HM_OK && k < d->adjoint.partials.count; k++) {
        hmi_partial entry = d->adjoint.partials.data[k];
        if (entry.index > i)
            break;
        if (hmi_deps(&eq->graph, entry.value) & HMI_DEP(HMI_SYM_VELOCITY))
            eq->quadratic = false;
        status = hmi_expr_matrix_push(d, &eq->M, entry.index, entry.value);
    }
    eq->M.start[i + 1] = eq->M.column.count;
    return status;
}

static hm_status derive_mass(hmi_derivation *d)
{
    hmi_derived *eq = d->eq;
    eq->quadratic = true;
    hm_status status = hmi_expr_matrix_init(d, &eq->M, eq->n, eq->n);
    for (size_t i = 0; status == HM_OK && i < eq->n; i++)
        status = derive_mass_row(d, i);
    return status == HM_OK && d->variable_mass ? hmi_add_variable_mass(d) : status;
}

/* ---- impressed and non-ideal forces ---- */

/* sum_k force_k d(point_k)/d(symbol), added to the vector. */
static hm_status add_vector_force(hmi_derivation *d, const hmi_force *force, hmi_expr *vector)
{
    hmi_graph *g = &d->eq->graph;
    hmi_symbol_kind by = force->form == HMI_FORCE_AT_POINT ? HMI_SYM_COORD : HMI_SYM_VELOCITY;
    hm_status status = hmi_adjoint_sweep(&d->adjoint, g, force->point, force->force, force->size,
                                         by);
    for (size_t k = 0; status == HM_OK && k < d->adjoint.partials.count; k++) {
        hmi_partial part = d->adjoint.partials.data[k];
        vector[part.index] = hmi_add(g, vector[part.index], part.value);
    }
    return status;
}

static hm_status add_force(hmi_derivation *d, const hmi_force *force, hmi_expr *vector)
{
    if (force->form != HMI_FORCE_COORDINATE)
        return add_vector_force(d, force, vector);
    vector[force->coord] = hmi_add(&d->eq->graph, vector[force->coord], force->force[0]);
    return HM_OK;
}

static hm_status derive_forces(hmi_derivation *d)
{
    hmi_derived *eq = d->eq;
    hmi_graph *g = &eq->graph;
    const hm_model *model = eq->model;
    hm_status status = HM_OK;
    for (size_t k = 0; status == HM_OK && k < model->forces.count; k++)
        status = add_force(d, &model->forces.data[k], eq->impressed);
    for (size_t k = 0; status == HM_OK && k < model->nonideal.count; k++)
        status = add_force(d, &model->nonideal.data[k], eq->C);
    eq->has_nonideal = model->nonideal.count > 0;
    if (status == HM_OK)
        status = hmi_gradient_into(d, model->dissipation, HMI_SYM_VELOCITY, eq->dissipation);
    for (size_t i = 0; i < eq->n; i++)
        eq->dissipation[i] = hmi_neg(g, eq->dissipation[i]);
    for (size_t k = 0; k < model->gyroscopic.count; k++) {
        const hmi_pair *pair = &model->gyroscopic.data[k];
        hmi_expr vi = hmi_symbol(g, HMI_SYM_VELOCITY, pair->row);
        hmi_expr vj = hmi_symbol(g, HMI_SYM_VELOCITY, pair->column);
        eq->gyroscopic[pair->row] = hmi_add(g, eq->gyroscopic[pair->row],
                                            hmi_mul(g, pair->value, vj));
        eq->gyroscopic[pair->column] = hmi_sub(g, eq->gyroscopic[pair->column],
                                               hmi_mul(g, pair->value, vi));
    }
    return status;
}

static void sum_forces(hmi_derivation *d)
{
    hmi_derived *eq = d->eq;
    hmi_graph *g = &eq->graph;
    for (size_t i = 0; i < eq->n; i++) {
        hmi_expr Q = hmi_add(g, eq->impressed[i], eq->dissipation[i]);
        eq->Q[i] = hmi_sub(g, hmi_add(g, Q, eq->gyroscopic[i]), eq->bias[i]);
        eq->force_symbols |= (hmi_deps(g, eq->Q[i]) | hmi_deps(g, eq->C[i])) & HMI_DEP_FORCES;
    }
}

/* ---- inputs ---- */

/* Defaults of u, u', u''. A default that depends on the motion has no derivative by itself. */
static hm_status derive_inputs(hmi_derivation *d)
{
    hmi_derived *eq = d->eq;
    const hm_model *model = eq->model;
    const uint16_t free_of = HMI_DEP(HMI_SYM_VELOCITY);
    for (int order = 0; order < 3; order++)
        if (!(eq->input_values[order] = hmi_new_vector(d, model->inputs.count)))
            return HM_ERR_NOMEM;
    for (size_t k = 0; k < model->inputs.count; k++) {
        hmi_expr e = model->inputs.data[k].value;
        eq->input_values[0][k] = e;
        for (int order = 1; order < 3; order++) {
            bool moves = e == HMI_NONE || (hmi_deps(&eq->graph, e) & free_of);
            e = moves ? HMI_NONE : hmi_along_motion(d, e);
            eq->input_values[order][k] = e;
        }
    }
    return eq->graph.status;
}

/* ---- the whole ---- */

static void copy_state_rates(hmi_derivation *d)
{
    hmi_derived *eq = d->eq;
    eq->state_rates = hmi_new_vector(d, eq->model->states.count);
    for (size_t k = 0; eq->state_rates && k < eq->model->states.count; k++)
        eq->state_rates[k] = eq->model->states.data[k].rate;
}

static hm_status derive_all(hmi_derivation *d)
{
    hm_status status = allocate(d);
    if (status == HM_OK)
        status = derive_momentum(d);
    if (status == HM_OK)
        status = derive_bias(d);
    if (status == HM_OK)
        status = derive_mass(d);
    if (status == HM_OK)
        status = derive_forces(d);
    if (status != HM_OK)
        return status;
    sum_forces(d);
    status = hmi_derive_constraints(d);
    if (status == HM_OK)
        status = hmi_drop_zeros(d);
    if (status == HM_OK)
        status = hmi_raise_servos(d, d->servo_free);
    if (status == HM_OK)
        status = hmi_derive_energy(d);
    if (status == HM_OK)
        status = hmi_derive_quantities(d);
    if (status == HM_OK)
        status = derive_inputs(d);
    if (status == HM_OK)
        status = hmi_check_dissipation(d);
    copy_state_rates(d);
    if (!d->eq->state_rates)
        return HM_ERR_NOMEM;
    return status == HM_OK ? d->eq->graph.status : status;
}

hm_status hmi_derive_model(hmi_derived *eq, const hm_model *model, hm_context *context)
{
    const hm_allocator *allocator = &model->context->allocator;
    *eq = (hmi_derived){
        .model = model, .allocator = allocator, .context = context, .n = model->coords.count};
    hmi_arena_init(&eq->arena, allocator);
    hm_status status = hmi_graph_copy(&eq->graph, &model->graph);
    if (status != HM_OK)
        return status;
    hmi_derivation d = {.eq = eq};
    const uint16_t moving = HMI_DEP_MOVING & ~HMI_DEP(HMI_SYM_VELOCITY);
    hmi_tangent_init(&d.motion, allocator, leaf_along_motion, eq, moving);
    hmi_adjoint_init(&d.adjoint, allocator);
    status = derive_all(&d);
    eq->context = NULL;
    hmi_tangent_release(&d.motion);
    hmi_adjoint_release(&d.adjoint);
    if (status == HM_OK)
        HMI_VERIFY(hmi_derived_verify(eq, &(hmi_violation){.text = ""}));
    return status;
}

static void sparse_release(const hm_allocator *allocator, hmi_expr_matrix *matrix)
{
    hmi_array_release(allocator, &matrix->column);
    hmi_array_release(allocator, &matrix->value);
}

void hmi_derived_release(hmi_derived *eq)
{
    if (!eq->allocator)
        return;
    sparse_release(eq->allocator, &eq->M);
    sparse_release(eq->allocator, &eq->constraints.A);
    sparse_release(eq->allocator, &eq->servos.A);
    sparse_release(eq->allocator, &eq->tangents.A);
    hmi_graph_release(&eq->graph);
    hmi_arena_release(&eq->arena);
}
