/* Values of switching functions at a point, and the modes of those that slide. */
#include "integrate/events/switch.h"

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
    const hmi_tape_values values = hmi_sim_values(sw->sim, hmi_sim_present(sw->sim));
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
    sw->sim->tapes.held = &sw->equations;
}

void hmi_switches_remove(hmi_switches *sw)
{
    if (!sw->sim->tapes.modes || sw->sim->tapes.modes != sw->mode)
        return;
    hmi_sim_use_tapes(sw->sim, NULL, NULL, NULL, NULL, NULL);
    hmi_sim_use_inputs(sw->sim, NULL, NULL);
    sw->sim->tapes.held = NULL;
}

/* ---- values ---- */

const double *hmi_switches_values(hmi_switches *sw, const hmi_point *at)
{
    hmi_sim_refresh(sw->sim, at);
    hmi_tape_values values = hmi_sim_values(sw->sim, at);
    values.by_kind[HMI_SYM_MODE] = sw->mode;
    hmi_tape_run(&sw->values, &values, sw->values_work);
    return hmi_tape_outputs(&sw->values, sw->values_work);
}

const double *hmi_switches_outputs(hmi_switches *sw, const hmi_point *at)
{
    if (!sw->outputs_work)
        return NULL;
    hmi_tape_values values = hmi_sim_values(sw->sim, at);
    values.by_kind[HMI_SYM_MODE] = sw->mode;
    hmi_tape_run(&sw->outputs, &values, sw->outputs_work);
    return hmi_tape_outputs(&sw->outputs, sw->outputs_work);
}

const double *hmi_switches_rates(hmi_switches *sw, const hmi_point *at)
{
    return hmi_switches_values(sw, at) + sw->count;
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

/* out[j] = g' of the sliding ones with the modes as they are. */
static hm_status find_rates(hmi_switches *sw, hmi_ode *ode, const hmi_point *at,
                            hmi_solution *solution, size_t count, double *out)
{
    hm_status status = hmi_ode_accelerate(ode, at, solution);
    const double *rates = hmi_switches_rates(sw, at);
    for (size_t j = 0; j < count; j++)
        out[j] = rates[sw->sliding_list[j]];
    return status;
}

/* d g'/d mode by differences of the width: exact for any where forces are linear in the modes. */
static hm_status find_jacobian(hmi_switches *sw, hmi_ode *ode, const hmi_point *at, size_t count,
                               double width)
{
    hm_status status = HM_OK;
    for (size_t j = 0; j < count && status == HM_OK; j++) {
        double *mode = &sw->mode[sw->sliding_list[j]], old = *mode;
        double unit = old > 0 ? -width : width;
        *mode = old + unit;
        status = find_rates(sw, ode, at, NULL, count, sw->shifted);
        *mode = old;
        for (size_t i = 0; i < count; i++)
            sw->jacobian[j * count + i] = (sw->shifted[i] - sw->rates[i]) / unit;
    }
    return status;
}

/* modes -= what it takes, left in sw->shifted, by least squares of least norm: a direction in a plane may
 * have more components than the velocities it can act on. */
static void solve_modes(hmi_switches *sw, const hmi_cod *cod, size_t count)
{
    hmi_cod_solve(cod, sw->rates, sw->shifted);
    for (size_t j = 0; j < count; j++)
        sw->mode[sw->sliding_list[j]] -= sw->shifted[j];
}

/* Where no mode can hold g' = 0 they are put far outside [-1, 1]: the sliding ends. */
static void let_go(hmi_switches *sw, size_t count)
{
    for (size_t j = 0; j < count; j++)
        sw->mode[sw->sliding_list[j]] = sw->rates[j] > 0 ? 2 : -2;
}

/* A step of the modes, less of it where it leads away. */
static hm_status step_modes(hmi_switches *sw, hmi_ode *ode, const hmi_point *at,
                            hmi_solution *solution, size_t count, const hmi_cod *cod)
{
    enum { MOST_HALVINGS = 8 };
    double before = hmi_max_abs((int)count, sw->rates), part = 1;
    solve_modes(sw, cod, count);
    hm_status status = find_rates(sw, ode, at, solution, count, sw->rates);
    for (int k = 0; k < MOST_HALVINGS; k++) {
        if (status == HM_OK && hmi_max_abs((int)count, sw->rates) < before)
            break;
        part /= 2;
        for (size_t j = 0; j < count; j++)
            sw->mode[sw->sliding_list[j]] += part * sw->shifted[j];
        status = find_rates(sw, ode, at, solution, count, sw->rates);
    }
    return status;
}

/* The Jacobian at the modes, factored; sw->rates is g' there. *size: what g' is made of, from the first. */
static hm_status prepare_search(hmi_switches *sw, hmi_ode *ode, const hmi_point *at, size_t count,
                                double width, hmi_cod *cod, double *size)
{
    int n = (int)count;
    hm_status status = find_rates(sw, ode, at, NULL, count, sw->rates);
    if (status == HM_OK)
        status = find_jacobian(sw, ode, at, count, width);
    if (status != HM_OK)
        return status;
    double slope = hmi_max_abs(n * n, sw->jacobian);
    if (*size == 0)
        *size = slope + hmi_max_abs(n, sw->rates);
    hmi_cod_factor(cod, n, n, sw->jacobian, n, 1e-10 * slope + 1e-14 * *size, sw->solver,
                   sw->pivots);
    return HM_OK;
}

/* Steps of the modes while each leaves little of g'; *left: relative to its size. */
static hm_status search_modes(hmi_switches *sw, hmi_ode *ode, const hmi_point *at,
                              hmi_solution *solution, size_t count, const hmi_cod *cod, double size,
                              double *left)
{
    hm_status status = HM_OK;
    double last = hmi_max_abs((int)count, sw->rates) / size;
    for (*left = INFINITY; cod->rank > 0 && status == HM_OK && *left > 1e-13; last = *left) {
        status = step_modes(sw, ode, at, solution, count, cod);
        *left = hmi_max_abs((int)count, sw->rates) / size;
        if (!(*left < 0.1 * last))
            break;
    }
    return status;
}

/* Forces are linear in the modes, but for a normal force that friction itself changes (total_multiplier):
 * then the Jacobian is found anew. */
hm_status hmi_switches_accelerate(hmi_branches *held, hmi_ode *ode, const hmi_point *at,
                                  hmi_solution *solution)
{
    hmi_switches *sw = (hmi_switches *)held;
    enum { MOST_SEARCHES = 20 };
    hmi_cod cod;
    double size = 0, left = INFINITY;
    hm_status status = HM_OK;
    if (sw->held.directions)
        hmi_directions_update(held, at);
    size_t count = sw->held.sliding ? list_sliding(sw) : 0;
    if (count == 0)
        return hmi_ode_accelerate(ode, at, solution);
    for (int k = 0; k < MOST_SEARCHES && left > 1e-11; k++) {
        status = prepare_search(sw, ode, at, count, k ? 1e-4 : 1, &cod, &size);
        if (status == HM_OK)
            status = search_modes(sw, ode, at, solution, count, &cod, size, &left);
        if (status != HM_OK || cod.rank == 0)
            break;
    }
    if (status != HM_OK || left <= 1e-9)
        return status;
    if (cod.rank == (int)count) /* it is not smooth enough */
        return HM_ERR_NUMERIC;
    let_go(sw, count);
    return hmi_ode_accelerate(ode, at, solution);
}
