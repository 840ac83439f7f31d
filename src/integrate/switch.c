/* Modes while running: values of switching functions, and sliding. See switch.h. */
#include "integrate/switch.h"

#include "linalg/linalg.h"

#include <math.h>
#include <string.h>

void hmi_switches_release(hmi_switches *sw)
{
    if (!sw->sim)
        return;
    hmi_switches_remove(sw);
    hmi_tape_release(&sw->dynamics);
    hmi_tape_release(&sw->law);
    hmi_tape_release(&sw->inputs);
    hmi_tape_release(&sw->outputs);
    hmi_tape_release(&sw->values);
    hmi_graph_release(&sw->graph);
}

void hmi_switches_prepare(hmi_switches *sw)
{
    const hmi_tape_values values = hmi_sim_values(sw->sim);
    if (sw->values_work)
        hmi_tape_prepare(&sw->values, &values, sw->values_work);
    if (sw->outputs_work)
        hmi_tape_prepare(&sw->outputs, &values, sw->outputs_work);
}

void hmi_switches_install(hmi_switches *sw)
{
    bool law = sw->law.work_size > 0;
    hmi_sim_use_tapes(sw->sim, &sw->dynamics, sw->dynamics_work, law ? &sw->law : NULL,
                      sw->law_work, sw->mode);
    hmi_sim_use_inputs(sw->sim, &sw->inputs, sw->inputs_work);
}

void hmi_switches_remove(hmi_switches *sw)
{
    if (!sw->sim->modes || sw->sim->modes != sw->mode)
        return;
    hmi_sim_use_tapes(sw->sim, NULL, NULL, NULL, NULL, NULL);
    hmi_sim_use_inputs(sw->sim, NULL, NULL);
}

/* ---- values ---- */

const double *hmi_switches_values(hmi_switches *sw)
{
    hmi_sim_refresh(sw->sim);
    hmi_tape_values values = hmi_sim_values(sw->sim);
    values.by_kind[HMI_SYM_MODE] = sw->mode;
    hmi_tape_run(&sw->values, &values, sw->values_work);
    return hmi_tape_outputs(&sw->values, sw->values_work);
}

const double *hmi_switches_outputs(hmi_switches *sw)
{
    if (!sw->outputs_work)
        return NULL;
    hmi_tape_values values = hmi_sim_values(sw->sim);
    values.by_kind[HMI_SYM_MODE] = sw->mode;
    hmi_tape_run(&sw->outputs, &values, sw->outputs_work);
    return hmi_tape_outputs(&sw->outputs, sw->outputs_work);
}

const double *hmi_switches_rates(hmi_switches *sw)
{
    return hmi_switches_values(sw) + sw->count;
}

/* ---- sliding ---- */

static size_t list_sliding(hmi_switches *sw)
{
    size_t count = 0;
    for (size_t k = 0; k < sw->switches; k++)
        if (sw->sliding[k])
            sw->sliding_list[count++] = k;
    return count;
}

/* rest[j] = g' of the sliding ones with the modes as they are. */
static hm_status find_rates(hmi_switches *sw, hmi_ode *ode, hmi_accelerate_function accelerate,
                            hmi_solution *solution, size_t count, double *rest)
{
    hm_status status = accelerate(ode, solution);
    const double *rates = hmi_switches_rates(sw);
    for (size_t j = 0; j < count; j++)
        rest[j] = rates[sw->sliding_list[j]];
    sw->solves++;
    return status;
}

/* d rest/d mode by differences of one unit: exact where forces are linear in the modes. */
static hm_status find_jacobian(hmi_switches *sw, hmi_ode *ode, hmi_accelerate_function accelerate,
                               size_t count)
{
    hm_status status = HM_OK;
    for (size_t j = 0; j < count && status == HM_OK; j++) {
        double *mode = &sw->mode[sw->sliding_list[j]], old = *mode;
        double unit = old > 0 ? -1 : 1;
        *mode = old + unit;
        status = find_rates(sw, ode, accelerate, NULL, count, sw->shift);
        *mode = old;
        for (size_t i = 0; i < count; i++)
            sw->jacobian[j * count + i] = (sw->shift[i] - sw->rest[i]) / unit;
    }
    return status;
}

/* rest := the modes that it takes, by least squares of least norm: a direction in a plane may have
 * more components than the velocities it can act on. */
static void solve_modes(hmi_switches *sw, const hmi_cod *cod, size_t count)
{
    hmi_cod_solve(cod, sw->rest, sw->shift);
    memcpy(sw->rest, sw->shift, count * sizeof *sw->rest);
    for (size_t j = 0; j < count; j++)
        sw->mode[sw->sliding_list[j]] -= sw->rest[j];
}

/* Where no mode can hold g' = 0 they are put far outside [-1, 1]: the sliding ends. */
static void let_go(hmi_switches *sw, size_t count)
{
    for (size_t j = 0; j < count; j++)
        sw->mode[sw->sliding_list[j]] = sw->rest[j] > 0 ? 2 : -2;
}

hm_status hmi_switches_slide(hmi_switches *sw, hmi_ode *ode, hmi_accelerate_function accelerate,
                             hmi_solution *solution)
{
    enum { MOST_STEPS = 30 };
    hmi_cod cod;
    if (sw->direction_count)
        hmi_directions_update(sw);
    size_t count = sw->slides ? list_sliding(sw) : 0;
    if (count == 0)
        return accelerate(ode, solution);
    hm_status status = find_rates(sw, ode, accelerate, NULL, count, sw->rest);
    if (status == HM_OK)
        status = find_jacobian(sw, ode, accelerate, count);
    if (status != HM_OK)
        return status;
    int n = (int)count;
    double slope = hmi_max_abs(n * n, sw->jacobian), size = slope + hmi_max_abs(n, sw->rest);
    hmi_cod_factor(&cod, n, n, sw->jacobian, n, 1e-10 * slope + 1e-14 * size, sw->solver,
                   sw->pivots);
    for (int i = 0; i < MOST_STEPS && cod.rank > 0; i++) {
        solve_modes(sw, &cod, count);
        status = find_rates(sw, ode, accelerate, solution, count, sw->rest);
        if (status != HM_OK || hmi_max_abs(n, sw->rest) <= 1e-13 * size)
            return status;
    }
    if (cod.rank > 0 && hmi_max_abs(n, sw->rest) <= 1e-9 * size)
        return HM_OK;
    if (cod.rank == n) /* it is not linear enough */
        return HM_ERR_NUMERIC;
    let_go(sw, count);
    return accelerate(ode, solution);
}
