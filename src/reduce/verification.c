/* The reduced equations against the multiplier form, at states that both know nothing of each other's way to. */
#include "linalg/linalg.h"
#include "reduce/reduce.h"

#include <math.h>
#include <string.h>

/* Where the values of one state are. */
typedef struct layout {
    size_t G, f, N, velocity, drift, position, count;
} layout;

static hmi_expr *gather(hmi_reduce *r, layout *at)
{
    size_t n = r->n, k = r->k;
    *at = (layout){.f = k * k, .N = k * k + k};
    at->velocity = at->N + n * k;
    at->drift = at->velocity + n;
    at->position = at->drift + n;
    at->count = at->position + n;
    hmi_expr *list = hmi_reduce_vector(r, at->count);
    if (r->failed)
        return NULL;
    memcpy(list, r->G, k * k * sizeof *list);
    memcpy(list + at->f, r->f, k * sizeof *list);
    memcpy(list + at->N, r->N, n * k * sizeof *list);
    memcpy(list + at->velocity, r->velocity, n * sizeof *list);
    memcpy(list + at->drift, r->drift, n * sizeof *list);
    for (size_t i = 0; i < n; i++)
        list[at->position + i] = r->position[i] == HMI_NONE
                                     ? hmi_symbol(&r->graph, HMI_SYM_COORD, (uint32_t)i)
                                     : r->position[i];
    return list;
}

/* Momenta of cyclic coordinates at the state take the place of their constants. */
static hm_status set_constants(hmi_reduce *r, const hmi_reduced_state *s)
{
    for (size_t c = 0; c < r->cyclic; c++) {
        hm_status status = hmi_reduce_values(r, &r->eq->momentum[r->cyclic_index[c]], 1, s, NULL,
                                             &r->params[r->np + c]);
        if (status != HM_OK)
            return status;
    }
    return HM_OK;
}

static hm_status speeds_at(hmi_reduce *r, const hmi_reduced_state *s, double *u)
{
    hmi_graph *g = &r->graph;
    hmi_expr *list = hmi_reduce_vector(r, r->k);
    for (size_t k = 0; list && k < r->k; k++) {
        list[k] = r->speed[k].form.rest;
        for (size_t i = 0; i < r->n; i++)
            list[k] = hmi_add(
                g, list[k],
                hmi_mul(g, r->speed[k].form.c[i], hmi_symbol(g, HMI_SYM_VELOCITY, (uint32_t)i)));
    }
    return list ? hmi_reduce_values(r, list, r->k, s, NULL, u) : HM_ERR_NOMEM;
}

/* Relative to the largest acceleration and velocity; NaN where something is not finite. */
static double difference_at(hmi_reduce *r, const hmi_reduced_state *s, const layout *at,
                            double *value, int *pivots)
{
    double scale_a = 1, scale_v = 1, difference = 0, largest = 1;
    double *rates = value + at->f;
    if (!hmi_lu((int)r->k, value, pivots, 0))
        return NAN;
    hmi_lu_solve((int)r->k, value, pivots, rates);
    for (size_t i = 0; i < r->n; i++) {
        scale_a = fmax(scale_a, fabs(s->qdd[i]));
        scale_v = fmax(scale_v, fabs(s->v[i]));
    }
    for (size_t i = 0; i < r->n; i++) {
        double a = value[at->drift + i];
        for (size_t k = 0; k < r->k; k++) {
            a += value[at->N + i * r->k + k] * rates[k];
            largest = fmax(largest, fabs(value[at->N + i * r->k + k] * rates[k]) / scale_a);
        }
        double da = fabs(a - s->qdd[i]) / scale_a,
               dv = fabs(value[at->velocity + i] - s->v[i]) / scale_v;
        difference = fmax(difference, fmax(da, dv));
        if (!(da - da == 0 && dv - dv == 0))
            return NAN;
    }
    return difference / largest;
}

/* Solved coordinates have other branches; the equations are those of the branch of the initial state. */
static bool on_branch(hmi_reduce *r, const hmi_reduced_state *s, const layout *at,
                      const double *value)
{
    for (size_t i = 0; i < r->n; i++)
        if (!(fabs(value[at->position + i] - s->q[i]) <= 1e-6 * (1 + fabs(s->q[i]))))
            return false;
    return true;
}

static hm_status fail(hmi_reduce *r, double difference, size_t states)
{
    const char *hint = "`hamel derive` has the equations with multipliers";
    if (states < 3)
        hmi_error(r->context, hmi_no_span, hint,
                  "the reduced equations could be compared at %zu states only", states);
    else
        hmi_error(r->context, hmi_no_span, hint,
                  "the reduced equations differ from those with multipliers by %.2g (relative)",
                  difference);
    return HM_ERR_NUMERIC;
}

hm_status hmi_reduce_verify(hmi_reduce *r, double *difference, size_t *states)
{
    layout at;
    bool failed = false;
    hmi_expr *list = gather(r, &at);
    double *value = hmi_arena_doubles(&r->arena, at.count, &failed);
    double *u = hmi_arena_doubles(&r->arena, r->k, &failed);
    int *pivots = hmi_arena_alloc(&r->arena, (r->k + 1) * sizeof *pivots);
    hm_status status = failed || !list || !pivots ? HM_ERR_NOMEM : HM_OK;
    double worst = 0;
    *states = 0;
    for (size_t i = 0; status == HM_OK && i < r->state_count; i++) {
        const hmi_reduced_state *s = &r->state[i];
        status = set_constants(r, s);
        if (status == HM_OK)
            status = speeds_at(r, s, u);
        if (status == HM_OK)
            status = hmi_reduce_values(r, list, at.count, s, u, value);
        if (status != HM_OK || !on_branch(r, s, &at, value))
            continue;
        double d = difference_at(r, s, &at, value, pivots);
        worst = d > worst || isnan(d) ? d : worst;
        (*states)++;
    }
    if (status == HM_OK)
        status = set_constants(r, &r->initial);
    *difference = worst;
    if (status == HM_OK && (*states < 3 || !(worst <= 1e-8)))
        return fail(r, worst, *states);
    return status;
}
