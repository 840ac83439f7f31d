/* The motion as a first-order system: see ode.h. */
#include "integrate/ode.h"

#include <math.h>
#include <string.h>

hm_status hmi_ode_init(hmi_ode *ode, hm_sim *sim)
{
    size_t n = sim->system->derived.n, states = sim->system->model->states.count;
    *ode = (hmi_ode){.sim = sim, .n = n, .states = states, .size = 2 * n + states, .last = HM_OK};
    return sim->dynamics ? HM_OK : HM_ERR_LIMIT;
}

void hmi_ode_store(hmi_ode *ode, double t, const double *y)
{
    hm_sim_set_state(ode->sim, t, y, y + ode->n, y + 2 * ode->n);
}

void hmi_ode_load(const hmi_ode *ode, double *y)
{
    memcpy(y, ode->sim->q, ode->n * sizeof *y);
    memcpy(y + ode->n, ode->sim->v, ode->n * sizeof *y);
    if (ode->states)
        memcpy(y + 2 * ode->n, ode->sim->z, ode->states * sizeof *y);
}

static bool finite(const double *values, size_t count)
{
    double sum = 0;
    for (size_t i = 0; i < count; i++)
        sum += values[i] * 0; /* 0, or NaN for infinities and NaN */
    return sum == 0;
}

hm_status hmi_ode_evaluate(hmi_ode *ode, double t, const double *y, double *dy)
{
    ode->evaluations++;
    if (!finite(y, ode->size))
        return ode->last = HM_ERR_NUMERIC;
    hmi_ode_store(ode, t, y);
    hm_status status = hmi_sim_accelerate(ode->sim, NULL);
    memcpy(dy, y + ode->n, ode->n * sizeof *dy);
    memcpy(dy + ode->n, ode->sim->qdd, ode->n * sizeof *dy);
    if (ode->states)
        memcpy(dy + 2 * ode->n, hmi_sim_state_rates(ode->sim), ode->states * sizeof *dy);
    if (status == HM_OK && !finite(dy, ode->size))
        status = HM_ERR_NUMERIC;
    return ode->last = status;
}
