/* Integrates a constraint on accelerations by time (total_derivative.h). */
#include "analyse/classify/total_derivative.h"

#include "analyse/integrability/flag.h"
#include "analyse/integrals/potential.h"

enum { MOST_FACTORS = 24 };

typedef struct integral {
    hmi_sampler *sampler;
    hmi_forms *forms;
    size_t n;
    hmi_expr *A;   /* n: d h / d q'' */
    hmi_expr rest; /* h without its accelerations */
} integral;

/* ---- derivatives ---- */

static hmi_expr no_acceleration(hmi_graph *graph, hmi_expr leaf, void *user)
{
    (void)user;
    return hmi_node_at(graph, leaf)->a == HMI_SYM_ACCELERATION ? graph->zero : leaf;
}

/* q <-> q': potentials are integrated over coordinates. */
static hmi_expr exchange(hmi_graph *graph, hmi_expr leaf, void *user)
{
    const hmi_node *node = hmi_node_at(graph, leaf);
    (void)user;
    if (node->a == HMI_SYM_COORD)
        return hmi_symbol(graph, HMI_SYM_VELOCITY, node->b);
    return node->a == HMI_SYM_VELOCITY ? hmi_symbol(graph, HMI_SYM_COORD, node->b) : leaf;
}

static hmi_expr substituted(hmi_forms *f, hmi_expr e, hmi_leaf_replacement leaf, uint16_t kinds)
{
    hmi_substitution substitution;
    hmi_substitution_init(&substitution, f->allocator, leaf, NULL, kinds);
    hmi_expr result = hmi_substitute(&substitution, &f->graph, e);
    hmi_substitution_release(&substitution);
    return result;
}

static hmi_expr exchanged(hmi_forms *f, hmi_expr e)
{
    return substituted(f, e, exchange, HMI_DEP(HMI_SYM_COORD) | HMI_DEP(HMI_SYM_VELOCITY));
}

/* d e / d q'_j or d q''_j for all j, into n places. */
static hm_status gradient(hmi_forms *f, hmi_expr e, hmi_symbol_kind by, hmi_expr *out)
{
    hm_status status = hmi_gradient(&f->adjoint, &f->graph, e, by);
    for (size_t j = 0; j < f->n; j++)
        out[j] = f->graph.zero;
    for (size_t i = 0; status == HM_OK && i < f->adjoint.partials.count; i++)
        if (f->adjoint.partials.data[i].index < f->n)
            out[f->adjoint.partials.data[i].index] = f->adjoint.partials.data[i].value;
    return status;
}

/* The rate of e at fixed velocities: d e/dq q' + d e/dt. */
static hmi_expr drift_of(hmi_forms *f, hmi_expr e)
{
    hmi_graph *g = &f->graph;
    hmi_expr sum = hmi_partial_by(f, e, f->n);
    for (size_t j = 0; j < f->n; j++)
        sum = hmi_add(
            g, sum,
            hmi_mul(g, hmi_partial_by(f, e, j), hmi_symbol(g, HMI_SYM_VELOCITY, (uint32_t)j)));
    return sum;
}

/* ---- psi ---- */

static bool moves_with_velocity(const integral *in, hmi_expr mu)
{
    uint16_t deps = hmi_deps(&in->forms->graph, mu);
    for (size_t j = 0; j < in->n; j++)
        deps |= hmi_deps(&in->forms->graph, in->A[j]);
    return deps & HMI_DEP(HMI_SYM_VELOCITY);
}

/* A function of velocities whose gradient by them is mu A: a candidate, not verified. */
static hm_status over_velocities(integral *in, hmi_expr mu, hmi_expr *psi)
{
    hmi_forms *f = in->forms;
    hmi_graph *g = &f->graph;
    hmi_form form = {0};
    form.at = hmi_arena_alloc(&f->arena, (in->n + 1) * sizeof *form.at);
    form.value = hmi_arena_alloc(&f->arena, (in->n + 1) * sizeof *form.value);
    if (!form.at || !form.value)
        return HM_ERR_NOMEM;
    *psi = g->zero;
    bool moves = moves_with_velocity(in, mu);
    for (size_t j = 0; j < in->n; j++) {
        hmi_expr a = hmi_forms_normal(f, hmi_mul(g, mu, in->A[j]));
        if (a == g->zero)
            continue;
        *psi = hmi_add(g, *psi, hmi_mul(g, a, hmi_symbol(g, HMI_SYM_VELOCITY, (uint32_t)j)));
        form.at[form.count] = (uint32_t)j;
        form.value[form.count++] = moves ? exchanged(f, a) : a;
    }
    if (!moves)
        return hmi_forms_status(f);
    *psi = hmi_guess_potential(f, &form);
    if (*psi != HMI_NONE)
        *psi = exchanged(f, *psi);
    return hmi_forms_status(f);
}

/* Adds the function of q and t whose rate is what is left of mu h. */
static hm_status over_coordinates(integral *in, hmi_expr mu, hmi_expr *psi)
{
    hmi_forms *f = in->forms;
    hmi_graph *g = &f->graph;
    hmi_form form = {0};
    hmi_expr left = hmi_forms_normal(f, hmi_sub(g, hmi_mul(g, mu, in->rest), drift_of(f, *psi)));
    if (left == HMI_NONE || left == g->zero)
        return hmi_forms_status(f);
    hm_status status = hmi_form_of_velocities(f, left, &form);
    if (status != HM_OK)
        return status;
    for (size_t i = 0; i < form.count; i++)
        if (hmi_deps(g, form.value[i]) & HMI_DEP(HMI_SYM_VELOCITY)) {
            *psi = HMI_NONE;
            return HM_OK;
        }
    hmi_expr chi = hmi_guess_potential(f, &form);
    *psi = chi == HMI_NONE ? HMI_NONE : hmi_forms_normal(f, hmi_add(g, *psi, chi));
    return hmi_forms_status(f);
}

/* d psi / dq'_j = mu A_j, and the rest. */
static hm_status verify(integral *in, hmi_expr mu, hmi_expr psi, bool *right)
{
    hmi_forms *f = in->forms;
    hmi_graph *g = &f->graph;
    hmi_evidence evidence;
    hmi_expr *list = hmi_arena_alloc(&f->arena, (in->n + 1) * sizeof *list);
    hm_status status = list ? gradient(f, psi, HMI_SYM_VELOCITY, list) : HM_ERR_NOMEM;
    if (status != HM_OK)
        return status;
    for (size_t j = 0; j < in->n; j++)
        list[j] = hmi_sub(g, list[j], hmi_mul(g, mu, in->A[j]));
    list[in->n] = hmi_sub(g, drift_of(f, psi), hmi_mul(g, mu, in->rest));
    status = hmi_forms_status(f);
    if (status == HM_OK)
        status = hmi_all_zero(in->sampler, list, in->n + 1, right, &evidence);
    if (status != HM_ERR_NUMERIC && status != HM_ERR_LIMIT)
        return status;
    *right = false;
    return HM_OK;
}

static hm_status try_factor(integral *in, hmi_expr mu, hmi_expr *psi)
{
    bool right = false;
    hm_status status = over_velocities(in, mu, psi);
    if (status == HM_OK && *psi != HMI_NONE)
        status = over_coordinates(in, mu, psi);
    if (status == HM_OK && *psi != HMI_NONE)
        status = verify(in, mu, *psi, &right);
    if (!right)
        *psi = HMI_NONE;
    return status;
}

/* 1, then 1/A_j and the denominators. */
static size_t list_factors(integral *in, hmi_expr list[MOST_FACTORS])
{
    hmi_graph *g = &in->forms->graph;
    size_t count = 0;
    list[count++] = g->one;
    for (size_t j = 0; j < in->n && count + 2 < MOST_FACTORS; j++) {
        if (in->A[j] == g->zero || hmi_is_const(g, in->A[j]))
            continue;
        list[count++] = hmi_div(g, g->one, in->A[j]);
        if (hmi_op_of(g, in->A[j]) == HMI_DIV)
            list[count++] = hmi_operand(g, in->A[j], 1);
    }
    return count;
}

hm_status hmi_integrate_acceleration(hmi_sampler *sampler, hmi_expr h, hmi_expr *psi, bool *linear)
{
    hmi_expr factors[MOST_FACTORS];
    hmi_forms *f = sampler->forms;
    integral in = {.sampler = sampler, .forms = f, .n = f->n};
    *psi = HMI_NONE;
    if (!f->normal)
        return HM_OK;
    in.A = hmi_arena_alloc(&f->arena, (in.n + 1) * sizeof *in.A);
    in.rest = substituted(f, h, no_acceleration, HMI_DEP(HMI_SYM_ACCELERATION));
    hm_status status = in.A ? gradient(f, h, HMI_SYM_ACCELERATION, in.A) : HM_ERR_NOMEM;
    if (status != HM_OK)
        return status;
    for (size_t j = 0; j < in.n; j++)
        in.A[j] = hmi_forms_normal(f, in.A[j]);
    size_t count = hmi_forms_status(f) == HM_OK ? list_factors(&in, factors) : 0;
    for (size_t i = 0; i < count && status == HM_OK && *psi == HMI_NONE; i++) {
        status = try_factor(&in, factors[i], psi);
        *linear = !moves_with_velocity(&in, factors[i]);
    }
    return status == HM_OK ? hmi_forms_status(f) : status;
}
