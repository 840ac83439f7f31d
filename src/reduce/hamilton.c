/* Momenta P = N^T p in place of the speeds: canonical equations, and with constraints those of van der Schaft and
 * Maschke (1994),
 *     q' = N u + n,   u = dH/dP,   P' = N^T F + N'^T p,   H = P.u - L,
 * with F = dL/dq + forces. Without constraints N = 1, and P' = -dH/dq + forces. */
#include "reduce/reduce.h"

/* P_r in the velocities of the model, as a form. */
static bool momenta(hmi_reduce *r, hmi_linear_form *forms)
{
    hmi_graph *g = &r->graph;
    for (size_t k = 0; k < r->k; k++) {
        hmi_expr P = g->zero;
        for (size_t i = 0; i < r->n; i++)
            P = hmi_add(g, P, hmi_mul(g, r->N[i * r->k + k], r->eq->momentum[i]));
        if (!hmi_reduce_linear(r, P, NULL, &forms[k]))
            return false;
        hmi_expr list[1] = {forms[k].rest};
        r->failed |= hmi_reduce_express(r, list, 1) != HM_OK;
        forms[k].rest = list[0];
    }
    return !r->failed;
}

/* force[k] := N^T F + N'^T p in q and the old speeds. */
static hm_status rates(hmi_reduce *r, hmi_expr *force)
{
    hmi_graph *g = &r->graph;
    hmi_expr *p = hmi_reduce_vector(r, r->n), *F = hmi_reduce_vector(r, r->n);
    hmi_expr *turned = hmi_reduce_vector(r, r->n * r->k);
    if (r->failed)
        return HM_ERR_NOMEM;
    for (size_t i = 0; i < r->n; i++) {
        p[i] = r->eq->momentum[i];
        F[i] = hmi_momentum_rate(r->eq, g, i);
    }
    hm_status status = hmi_reduce_express(r, p, r->n);
    if (status == HM_OK)
        status = hmi_reduce_express(r, F, r->n);
    if (status == HM_OK)
        status = hmi_reduce_along_motion(r, r->N, r->n * r->k, turned);
    for (size_t k = 0; status == HM_OK && k < r->k; k++) {
        force[k] = g->zero;
        for (size_t i = 0; i < r->n; i++) {
            force[k] = hmi_add(g, force[k], hmi_mul(g, r->N[i * r->k + k], F[i]));
            force[k] = hmi_add(g, force[k], hmi_mul(g, turned[i * r->k + k], p[i]));
        }
    }
    return status;
}

typedef struct old_speeds {
    const hmi_reduce *r;
    const hmi_expr *value;
} old_speeds;

static hmi_expr old_speed(hmi_graph *graph, hmi_expr leaf, void *user)
{
    const old_speeds *old = user;
    (void)graph;
    for (size_t k = 0; k < old->r->k; k++)
        if (leaf == old->r->speed[k].symbol)
            return old->value[k];
    return leaf;
}

static void replace_speeds(hmi_reduce *r, const hmi_expr *value, hmi_expr *list, size_t count)
{
    old_speeds old = {r, value};
    hmi_substitution replace;
    hmi_substitution_init(&replace, r->allocator, old_speed, &old,
                          HMI_DEP(HMI_SYM_STATE) | HMI_DEP(HMI_SYM_VELOCITY));
    for (size_t i = 0; i < count; i++)
        list[i] = hmi_reduce_normal(r, hmi_substitute(&replace, &r->graph, list[i]));
    hmi_substitution_release(&replace);
}

/* u = G^-1 (P - P at u = 0): inverse and u in the symbols of the momenta. */
static hm_status solve_speeds(hmi_reduce *r, const hmi_expr *rest, hmi_expr *inverse, hmi_expr *u)
{
    hmi_graph *g = &r->graph;
    size_t k = r->k;
    hmi_expr *unit = hmi_reduce_vector(r, k * k);
    if (r->failed)
        return HM_ERR_NOMEM;
    for (size_t i = 0; i < k; i++)
        unit[i * k + i] = g->one;
    hm_status status = k > HMI_SYMBOLIC_MOST
                           ? HM_ERR_LIMIT
                           : hmi_symbolic_solve(r->normal, k, r->G, k, unit, inverse, NULL);
    if (status == HM_ERR_LIMIT || status == HM_ERR_NUMERIC) {
        hmi_error(r->context, hmi_no_span, "--form maggi needs no momenta",
                  "the speeds cannot be written in terms of the momenta in symbols");
        return status == HM_ERR_LIMIT ? HM_ERR_LIMIT : HM_ERR_USAGE;
    }
    for (size_t i = 0; status == HM_OK && i < k; i++) {
        u[i] = g->zero;
        for (size_t j = 0; j < k; j++) {
            hmi_expr P = hmi_symbol(g, HMI_SYM_STATE, (uint32_t)(r->nz + j));
            u[i] = hmi_add(g, u[i], hmi_mul(g, inverse[i * k + j], hmi_sub(g, P, rest[j])));
        }
        u[i] = hmi_reduce_normal(r, u[i]);
    }
    return status;
}

/* P at u = 0: N^T p with the velocities n. */
static hm_status momenta_at_rest(hmi_reduce *r, const hmi_linear_form *forms, hmi_expr *rest)
{
    hmi_graph *g = &r->graph;
    for (size_t k = 0; k < r->k; k++) {
        rest[k] = forms[k].rest;
        for (size_t i = 0; i < r->n; i++)
            rest[k] = hmi_add(g, rest[k], hmi_mul(g, forms[k].c[i], r->offset[i]));
        rest[k] = hmi_reduce_normal(r, rest[k]);
    }
    return hmi_reduce_status(r);
}

static const char *momentum_name(hmi_reduce *r, const hmi_speed *speed)
{
    const char *of = speed->coordinate == HMI_NONE ? speed->name
                                                   : r->model->coords.data[speed->coordinate].name;
    char name[128];
    size_t length = 0;
    for (; *of && length + 2 < sizeof name; of++)
        if (*of != ']')
            name[length++] = *of == '[' || *of == ',' ? '_' : *of;
    name[length] = '\0';
    for (size_t i = 0; i < r->n; i++)
        if (r->model->coords.data[i].name[0] == 'p')
            return hmi_reduce_name(r, "momentum_%s", name);
    return hmi_reduce_name(r, "p_%s", name);
}

static void name_momenta(hmi_reduce *r, const hmi_linear_form *forms)
{
    for (size_t k = 0; k < r->k; k++) {
        hmi_speed *s = &r->speed[k];
        s->name = momentum_name(r, s);
        s->coordinate = HMI_NONE;
        s->form = forms[k];
        s->symbol = hmi_symbol(&r->graph, HMI_SYM_STATE, (uint32_t)(r->nz + k));
        s->rate = hmi_symbol(&r->graph, HMI_SYM_VELOCITY, (uint32_t)(r->n + k));
    }
}

/* N G^-1 takes the place of N. */
static void new_directions(hmi_reduce *r, const hmi_expr *inverse)
{
    hmi_graph *g = &r->graph;
    size_t k = r->k;
    for (size_t i = 0; i < r->n; i++) {
        hmi_expr row[HMI_SYMBOLIC_MOST];
        for (size_t a = 0; a < k; a++) {
            row[a] = g->zero;
            for (size_t b = 0; b < k; b++)
                row[a] = hmi_add(g, row[a], hmi_mul(g, r->N[i * k + b], inverse[b * k + a]));
        }
        for (size_t a = 0; a < k; a++)
            r->N[i * k + a] = hmi_reduce_normal(r, row[a]);
    }
    for (size_t a = 0; a < k * k; a++)
        r->G[a] = a % (k + 1) == 0 ? g->one : g->zero;
}

static hmi_expr at_rest(hmi_graph *graph, hmi_expr leaf, void *user)
{
    const hmi_reduce *r = user;
    const hmi_node node = *hmi_node_at(graph, leaf);
    if (node.a == HMI_SYM_VELOCITY)
        return r->offset[node.b];
    return r->position[node.b] == HMI_NONE ? leaf : r->position[node.b];
}

/* H = P.u - L, which for L = u.G u/2 + rest.u + L0 is (P - rest).u/2 - L0, shorter. offset: that of the speeds. */
static void hamiltonian(hmi_reduce *r, const hmi_expr *rest, const hmi_expr *u)
{
    hmi_graph *g = &r->graph;
    hmi_substitution slow;
    hmi_substitution_init(&slow, r->allocator, at_rest, r,
                          HMI_DEP(HMI_SYM_VELOCITY) | HMI_DEP(HMI_SYM_COORD));
    hmi_expr H = hmi_neg(g, hmi_substitute(&slow, g, r->eq->lagrangian));
    hmi_substitution_release(&slow);
    for (size_t k = 0; k < r->k; k++) {
        hmi_expr P = hmi_symbol(g, HMI_SYM_STATE, (uint32_t)(r->nz + k));
        hmi_expr twice = hmi_mul(g, hmi_sub(g, P, rest[k]), u[k]);
        H = hmi_add(g, H, hmi_mul(g, g->half, twice));
    }
    hmi_reduce_quantity(r, "H", H);
}

hm_status hmi_reduce_hamilton(hmi_reduce *r)
{
    hmi_linear_form *forms = hmi_arena_alloc(&r->arena, (r->k + 1) * sizeof *forms);
    hmi_expr *force = hmi_reduce_vector(r, r->k), *u = hmi_reduce_vector(r, r->k);
    hmi_expr *rest = hmi_reduce_vector(r, r->k), *inverse = hmi_reduce_vector(r, r->k * r->k);
    if (r->failed || !forms)
        return HM_ERR_NOMEM;
    if (!r->eq->quadratic || !momenta(r, forms)) {
        hmi_error(r->context, hmi_no_span, "--form maggi needs no momenta",
                  "the momenta are not linear in the velocities");
        return HM_ERR_USAGE;
    }
    hm_status status = rates(r, force);
    if (status == HM_OK)
        status = momenta_at_rest(r, forms, rest);
    if (status == HM_OK)
        status = solve_speeds(r, rest, inverse, u);
    if (status != HM_OK)
        return status;
    hamiltonian(r, rest, u);
    replace_speeds(r, u, force, r->k);
    replace_speeds(r, u, r->velocity, r->n);
    replace_speeds(r, u, r->state_rate, r->nz);
    name_momenta(r, forms);
    new_directions(r, inverse);
    for (size_t i = 0; i < r->n; i++) {
        r->offset[i] = r->velocity[i];
        for (size_t k = 0; k < r->k; k++)
            r->offset[i] = hmi_sub(&r->graph, r->offset[i],
                                   hmi_mul(&r->graph, r->N[i * r->k + k], r->speed[k].symbol));
        r->offset[i] = hmi_reduce_normal(r, r->offset[i]);
    }
    r->f = force;
    return hmi_reduce_along_motion(r, r->velocity, r->n, r->drift);
}
