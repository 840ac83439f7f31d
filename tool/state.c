/* The state that --at gives. */
#include "command.h"

#include <math.h>
#include <stdlib.h>

typedef struct state_arrays {
    double t, *q, *v, *z, *u;
    bool *u_set;
} state_arrays;

static bool allocate_state(state_arrays *x, const hm_model *model)
{
    size_t n = hm_model_coordinate_count(model), inputs = hm_model_input_count(model);
    x->q = memory_new(n + 1, sizeof *x->q);
    x->v = memory_new(n + 1, sizeof *x->v);
    x->z = memory_new(hm_model_state_count(model) + 1, sizeof *x->z);
    x->u = memory_new(inputs + 1, sizeof *x->u);
    x->u_set = memory_new(inputs + 1, sizeof *x->u_set);
    return x->q && x->v && x->z && x->u && x->u_set;
}

static void free_state(state_arrays *x)
{
    free(x->q);
    free(x->v);
    free(x->z);
    free(x->u);
    free(x->u_set);
}

/* Holds the values that --at names. They are found by reading --at into arrays of NaN: what it
 * names becomes a number. */
static hm_status hold_named(hm_sim *sim, const hm_model *model, const char *at, state_arrays *x)
{
    size_t n = hm_model_coordinate_count(model);
    for (size_t i = 0; i < n; i++)
        x->q[i] = x->v[i] = NAN;
    hm_status status = hm_model_read_state(hm_sim_context(sim), model, at, &x->t, x->q, x->v, x->z,
                                           x->u, x->u_set);
    for (size_t i = 0; i < n && status == HM_OK; i++) {
        hm_sim_hold(sim, i, false, !isnan(x->q[i]));
        hm_sim_hold(sim, i, true, !isnan(x->v[i]));
    }
    return status;
}

/* The initial state of the file, changed as --at says. */
hm_status state_from_text(hm_sim *sim, const hm_model *model, const char *at)
{
    state_arrays x = {.t = hm_sim_time(sim)};
    hm_status status = HM_ERR_NOMEM;
    if (allocate_state(&x, model)) {
        hm_model_initial(model, x.q, x.v, x.z);
        status = at ? hm_model_read_state(hm_sim_context(sim), model, at, &x.t, x.q, x.v, x.z, x.u,
                                          x.u_set)
                    : HM_OK;
        hm_sim_set_state(sim, x.t, x.q, x.v, x.z);
        for (size_t i = 0; status == HM_OK && i < hm_model_input_count(model); i++)
            if (x.u_set[i])
                status = hm_sim_set_input(sim, i, x.u[i], 0, 0);
        if (status == HM_OK && at)
            status = hold_named(sim, model, at, &x);
    }
    free_state(&x);
    return status;
}
