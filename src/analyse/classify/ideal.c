/* Do the constraints do work under virtual displacements? They do where Qni, the part of C that is not
 * taken up by the ideal forces, is not zero [UK02 (34), errata 0.3]: a law C in the span of the rows does
 * none. Decided at the initial state and at random consistent states near it, in double precision.
 * Verified: test/unit/analyse/test_wellposed.c (principles) */
#include "dynamics/sim/sim.h"
#include "analyse/classify/analysis.h"
#include "linalg/linalg.h"

#include <hamel/run.h>

#include <math.h>

enum { STATES = 8 };
#define SPREAD   0.3
#define ROUNDING 1e-9

/* Laws with a threshold may rest at some states: one state where Qni is not zero is enough. */
static hm_status works_at(hmi_analysis *a, hm_sim *sim, bool *works)
{
    hm_evaluation at;
    const hm_evaluate_options options = {.formulation = HM_FORMULATION_AUTO, .compare = false};
    int n = (int)a->model->coords.count;
    hm_status status = hm_sim_evaluate(sim, &options, &at);
    if (status == HM_OK && at.solved && at.Qni && at.C)
        *works |= hmi_norm(n, at.Qni) > ROUNDING * hmi_norm(n, at.C);
    return status == HM_ERR_NOMEM ? status : HM_OK;
}

static hm_status draw(hmi_analysis *a, hm_sim *sim, hmi_random *random, double *state)
{
    size_t n = a->model->coords.count, size = 2 * n + a->model->states.count;
    for (size_t i = 0; i < size; i++)
        state[i] = a->q0[i] + SPREAD * (1 + fabs(a->q0[i])) * hmi_random_between(random, -1, 1);
    hmi_sim_set_state(sim, a->t0, state, state + n, state + 2 * n);
    return hm_sim_make_consistent(sim, true, NULL, NULL);
}

hm_status hmi_analyse_ideality(hmi_analysis *a)
{
    hm_sim *sim = NULL;
    hmi_random random = {20261118};
    size_t n = a->model->coords.count, size = 2 * n + a->model->states.count;
    if (!a->model->nonideal.count)
        return HM_OK;
    double *state = hmi_arena_alloc(&a->arena, (size + 1) * sizeof *state);
    hm_status status = state ? hm_sim_create(a->system, &sim) : HM_ERR_NOMEM;
    if (status == HM_OK) {
        hmi_sim_set_state(sim, a->t0, a->q0, a->v0, a->z0);
        status = works_at(a, sim, &a->constraints_work);
    }
    for (int k = 0; k < STATES && status == HM_OK && !a->constraints_work; k++) {
        status = draw(a, sim, &random, state);
        if (status == HM_OK)
            status = works_at(a, sim, &a->constraints_work);
        else if (status != HM_ERR_NOMEM)
            status = HM_OK;
    }
    hm_sim_destroy(sim);
    return status;
}
