/* The multiplier rule as an ordinary system without constraints.
 *
 *     L* = L(q, q', t) + sum_k s_k' g_k(q, q', t),   s_k' = mu_k
 *
 * Lagrange's equations of L* for q are  d/dt(dL/dq' + mu dg/dq') - dL/dq - mu dg/dq = Q, that is
 *     (M + mu d2g/dq'2) q'' + A^T mu' = Q - mu G      [Flannery 2005, (29)-(32); errata 3.4]
 * and for s they are  g_k' = 0: the constraint, differentiated. So mu' = s'' is a result like any
 * other acceleration, the mass matrix [M + mu H, A^T; A, 0] is indefinite, and everything that can
 * be done to a system (evaluate, run, print) can be done to this one.
 * Verified: test/cases/test_compare.c (oracle cases 003-*)
 */
#include "analyse/compare/variant.h"

#include <string.h>

static hm_status refuse(const hmi_variant *v, const char *hint, const char *why)
{
    hmi_error(v->model.context, hmi_no_span, hint, "the multiplier rule %s", why);
    return HM_ERR_USAGE;
}

static hm_status check(const hmi_variant *v)
{
    const hm_model *model = v->base->model;
    if (model->constraints.count == 0)
        return refuse(v, NULL, "needs constraints; this model has none");
    if (model->servos.count)
        return refuse(v, "leave the servo out", "has no place for servos");
    if (v->base->derived.force_symbols)
        return refuse(v, "use forces that do not depend on reactions",
                      "has no reactions for force laws to use");
    for (size_t i = 0; i < model->constraints.count; i++)
        if (model->constraints.data[i].level == HM_LEVEL_ACCELERATION)
            return refuse(v, NULL, "needs constraints on positions or velocities");
    return HM_OK;
}

/* The model's coordinates, then one a row that is used. */
static hm_status extend_coordinates(hmi_variant *v, const bool *used)
{
    const hm_model *from = v->base->model;
    size_t n = from->coords.count, m = from->constraints.count, at = n;
    v->coord_count = n + m;
    v->coords = hmi_alloc(v->base->allocator, v->coord_count * sizeof *v->coords);
    if (!v->coords)
        return HM_ERR_NOMEM;
    memcpy(v->coords, from->coords.data, n * sizeof *v->coords);
    for (size_t k = 0; k < m; k++) {
        if (!used[k])
            continue;
        const char *row = from->constraints.data[k].name;
        char *name = hmi_arena_alloc(&v->model.arena, strlen(row) + 4);
        if (!name)
            return HM_ERR_NOMEM;
        strcat(strcpy(name, "mu_"), row);
        v->coords[at++] = (hmi_coord){.name = name,
                                      .span = hmi_no_span,
                                      .position = {.given = HMI_GIVEN_FIXED, .span = hmi_no_span},
                                      .velocity = {.given = HMI_GIVEN_FIXED, .span = hmi_no_span}};
    }
    v->model.coords.data = v->coords;
    v->model.coords.count = at;
    return HM_OK;
}

hm_status hmi_make_vakonomic(hmi_variant *v, const bool *used)
{
    hm_status status = check(v);
    if (status == HM_OK)
        status = extend_coordinates(v, used);
    if (status != HM_OK)
        return status;
    hmi_graph *g = &v->model.graph;
    uint32_t s = (uint32_t)v->base->derived.n;
    for (size_t k = 0; k < v->base->derived.constraints.count; k++)
        if (used[k]) {
            hmi_expr mu = hmi_symbol(g, HMI_SYM_VELOCITY, s++);
            hmi_expr term = hmi_mul(g, mu, v->base->derived.constraints.velocity_residual[k]);
            v->model.lagrangian = hmi_add(g, v->model.lagrangian, term);
        }
    v->model.constraints.count = 0;
    v->model.outputs.count = v->model.symmetries.count = v->model.named.count = 0;
    return hmi_variant_build(v);
}
