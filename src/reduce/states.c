/* Random states that satisfy the constraints, and what the multiplier form says there. */
#include "base/random.h"
#include "dynamics/sim/sim.h"
#include "reduce/reduce.h"

#include <hamel/run.h>

#include <math.h>
#include <string.h>

static bool new_state(hmi_reduce *r, hmi_reduced_state *s)
{
    bool failed = false;
    size_t inputs = r->model->inputs.count;
    s->q = hmi_arena_doubles(&r->arena, r->n, &failed);
    s->v = hmi_arena_doubles(&r->arena, r->n, &failed);
    s->z = hmi_arena_doubles(&r->arena, r->nz, &failed);
    s->qdd = hmi_arena_doubles(&r->arena, r->n, &failed);
    for (int k = 0; k < 3; k++)
        s->inputs[k] = hmi_arena_doubles(&r->arena, inputs, &failed);
    return !failed;
}

/* The present state of the sim, with q''. */
static hm_status keep_state(hmi_reduce *r, hm_sim *sim, hmi_reduced_state *s)
{
    hm_evaluation at;
    hm_evaluate_options options = hm_evaluate_options_default();
    options.compare = false;
    s->t = hm_sim_time(sim);
    hm_sim_state(sim, s->q, s->v, s->z);
    hm_status status = hm_sim_evaluate(sim, &options, &at);
    if (status == HM_OK && !at.qdd)
        status = HM_ERR_UNDETERMINED;
    if (status != HM_OK)
        return status;
    memcpy(s->qdd, at.qdd, r->n * sizeof *s->qdd);
    for (int k = 0; k < 3; k++)
        if (r->model->inputs.count)
            memcpy(s->inputs[k], sim->given.inputs[k], r->model->inputs.count * sizeof(double));
    return HM_OK;
}

static void draw(hmi_reduce *r, hmi_random *random, double reach, hmi_reduced_state *s)
{
    const hmi_reduced_state *from = &r->initial;
    s->t = from->t + hmi_random_between(random, 0, reach);
    for (size_t i = 0; i < r->n; i++) {
        s->q[i] = from->q[i] +
                  reach * fmax(1, fabs(from->q[i])) * hmi_random_between(random, -1, 1);
        s->v[i] = from->v[i] + fmax(1, fabs(from->v[i])) * hmi_random_between(random, -1, 1);
    }
    for (size_t i = 0; i < r->nz; i++)
        s->z[i] = from->z[i] + reach * hmi_random_between(random, -1, 1);
}

/* As many as can be found, of `count`, nearer and nearer to the initial state. */
static hm_status draw_states(hmi_reduce *r, hm_sim *sim, size_t count, uint64_t seed)
{
    hmi_random random = {seed};
    double reach = 0.5;
    for (size_t tries = 0; tries < 8 * count && r->state_count < count; tries++) {
        hmi_reduced_state *s = &r->state[r->state_count];
        if (!s->q && !new_state(r, s))
            return HM_ERR_NOMEM;
        draw(r, &random, reach, s);
        hm_status status = hm_sim_set_state(sim, s->t, s->q, s->v, s->z);
        if (status == HM_OK)
            status = hm_sim_make_consistent(sim, true, NULL, NULL);
        if (status == HM_OK)
            status = keep_state(r, sim, s);
        hm_context_clear(hm_sim_context(sim));
        if (status == HM_ERR_NOMEM)
            return status;
        if (status == HM_OK)
            r->state_count++;
        else
            reach = fmax(reach * 0.8, 0.01);
    }
    return HM_OK;
}

hm_status hmi_reduce_find_states(hmi_reduce *r, size_t count, uint64_t seed)
{
    hm_sim *sim = NULL;
    hm_status status = hm_sim_create(r->system, &sim);
    r->state = hmi_arena_alloc(&r->arena, (count + 1) * sizeof *r->state);
    if (status == HM_OK && (!r->state || !new_state(r, &r->initial)))
        status = HM_ERR_NOMEM;
    if (status == HM_OK)
        status = hm_sim_make_consistent(sim, false, NULL, NULL);
    if (status == HM_OK)
        status = keep_state(r, sim, &r->initial);
    if (status != HM_OK && sim)
        hmi_context_take(r->context, hm_sim_context(sim));
    if (status == HM_OK)
        status = draw_states(r, sim, count, seed);
    hm_sim_destroy(sim);
    if (status == HM_OK && r->state_count < 3) {
        hmi_error(r->context, hmi_no_span,
                  "give an initial state in whose neighbourhood the motion is unique",
                  "no states were found at which the reduced equations could be compared");
        return HM_ERR_NUMERIC;
    }
    return status;
}
