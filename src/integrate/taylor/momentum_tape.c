/* What the series by momenta are made of, as a tape: see momentum.c. */
#include "integrate/ode/ledger.h"
#include "integrate/taylor/taylor.h"
#include "compile/jit/assemble.h"

#include <string.h>

/* A^T mu = d(mu.psi)/dv, by one sweep. */
static hm_status list_reactions(hmi_taylor *T, hmi_graph *g, hmi_expr *list)
{
    const hmi_derived *d = &T->sim->system->derived;
    bool failed = false;
    hmi_adjoint adjoint;
    hmi_expr *mu = hmi_taylor_take(T, T->m, sizeof *mu, &failed);
    if (failed)
        return HM_ERR_NOMEM;
    for (size_t i = 0; i < T->m; i++)
        mu[i] = hmi_symbol(g, HMI_SYM_MULTIPLIER, (uint32_t)i);
    for (size_t i = 0; i < T->n; i++)
        list[i] = g->zero;
    hmi_adjoint_init(&adjoint, T->sim->system->allocator);
    hm_status status = HM_OK;
    if (T->m)
        status = hmi_adjoint_sweep(&adjoint, g, d->constraints.velocity_residual, mu, T->m,
                                   HMI_SYM_VELOCITY);
    for (size_t k = 0; status == HM_OK && k < adjoint.partials.count; k++)
        list[adjoint.partials.data[k].index] = adjoint.partials.data[k].value;
    hmi_adjoint_release(&adjoint);
    return status;
}

/* Where the outputs are: p, psi, A^T mu, F, v, rates of auxiliary states, powers. Returns how many. */
static size_t place_outputs(hmi_taylor *T)
{
    hmi_taylor_momenta *p = &T->momenta;
    p->reaction = T->n + T->m;
    p->force = p->reaction + T->n;
    p->velocity = p->force + T->n;
    p->rates = p->velocity + T->coordinates;
    p->power = p->rates + T->ode->states;
    return p->power + T->works;
}

/* What both ways have in common. */
static void list_common(hmi_taylor *T, hmi_graph *g, hmi_expr *list)
{
    const hmi_taylor_momenta *p = &T->momenta;
    for (uint32_t i = 0; i < T->coordinates; i++)
        list[p->velocity + i] = hmi_symbol(g, HMI_SYM_VELOCITY, i);
    for (size_t i = 0; i < T->ode->states; i++)
        list[p->rates + i] = T->sim->system->derived.state_rates[i];
    for (size_t i = 0; i < T->works; i++)
        list[p->power + i] = hmi_ledger_expression(T->ode->ledger, T->sim->system, i);
}

static hm_status list_outputs(hmi_taylor *T, hmi_graph *g, hmi_expr *list)
{
    const hmi_derived *d = &T->sim->system->derived;
    const hmi_taylor_momenta *p = &T->momenta;
    size_t n = T->n, m = T->m;
    memcpy(list, d->momentum, n * sizeof *list);
    if (m)
        memcpy(list + n, d->constraints.velocity_residual, m * sizeof *list);
    for (size_t i = 0; i < n; i++)
        list[p->force + i] = hmi_momentum_rate(d, g, i);
    hm_status status = list_reactions(T, g, list + p->reaction);
    return status == HM_OK ? g->status : status;
}

/* The same without the velocities that constraints give (derive/voronets.h). */
static hm_status list_explicit(hmi_taylor *T, const hmi_voronets *x, hmi_graph *g, hmi_expr *list)
{
    const hmi_taylor_momenta *p = &T->momenta;
    memcpy(list, x->momentum, x->n * sizeof *list);
    memcpy(list + p->force, x->force, x->n * sizeof *list);
    memcpy(list + p->velocity, x->velocity, x->coordinates * sizeof *list);
    for (size_t i = 0; i < x->n; i++)
        list[p->reaction + i] = g->zero;
    return hmi_voronets_express(x, g, list + p->rates, T->ode->states + T->works);
}

/* Does the motion go without multipliers? Then these are its equations, of a graph that has grown. */
static hm_status find_explicit(hmi_taylor *T, hmi_voronets *x, hmi_graph *g)
{
    hm_status status = T->may_be_given
                           ? hmi_voronets_find(x, &T->sim->system->derived, g, &T->arena)
                           : HM_ERR_USAGE;
    if (status != HM_OK)
        return status == HM_ERR_USAGE ? HM_OK : status;
    T->given_velocities.used = true;
    T->n = x->n;
    T->m = 0;
    return hmi_taylor_add_given(T, x, g);
}

static hm_status list_all(hmi_taylor *T, hmi_graph *g, hmi_expr **list, size_t *count)
{
    hmi_voronets x;
    bool failed = false;
    hm_status status = find_explicit(T, &x, g);
    if (status != HM_OK)
        return status;
    *count = place_outputs(T);
    *list = hmi_taylor_take(T, *count, sizeof **list, &failed);
    if (failed)
        return HM_ERR_NOMEM;
    list_common(T, g, *list);
    return T->given_velocities.used ? list_explicit(T, &x, g, *list) : list_outputs(T, g, *list);
}

hm_status hmi_taylor_compile_momentum_tape(hmi_taylor *T)
{
    hmi_expr *list = NULL;
    size_t count = 0;
    bool failed = false;
    hmi_graph graph = {0};
    hm_status status = hmi_graph_copy(&graph, &T->sim->system->derived.graph);
    if (status == HM_OK)
        status = list_all(T, &graph, &list, &count);
    graph.interpreted = true; /* jets are made of it, it never runs */
    if (status == HM_OK)
        status = hmi_tape_compile(&T->momenta.tape, &graph, list, count);
    hmi_graph_release(&graph);
    if (status != HM_OK)
        return status;
    T->momenta.work = hmi_taylor_take(T, T->momenta.tape.work_size, sizeof(double), &failed);
    return failed ? HM_ERR_NOMEM : HM_OK;
}
