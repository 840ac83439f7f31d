/* Degenerate Lagrangians in first-order form: see implicit.h. */
#include "dynamics/sim_jacobian.h"
#include "integrate/implicit.h"
#include "linalg/linalg.h"

enum { MOST_ITERATIONS = 12 };

/* rho = Q + C at the sim's present state with J = d rho/dv, and c of A q' = c. All in the memory of
 * the sim's derivatives. */
static hmi_dirac_balance balance_here(hm_sim *sim)
{
    const hm_system *system = sim->system;
    hmi_slopes *s = &sim->derivatives->by[HMI_JACOBIAN_STATE];
    size_t n = system->derived.n, m = system->derived.constraints.count, j;
    hm_sim_evaluate_fast(sim);
    hmi_sim_scatter(sim);
    const double *out = hmi_sim_run_slopes(sim, HMI_JACOBIAN_STATE, NULL, NULL);
    const double *values = hmi_sim_dynamics(sim);
    memset(s->by_reaction, 0, n * n * sizeof *s->by_reaction);
    for (int b = HMI_BLOCK_FORCE; b <= HMI_BLOCK_NONIDEAL; b++) {
        const hmi_jacobian_block *block = &s->jacobian->block[b];
        for (size_t i = 0; i < block->rows; i++)
            for (size_t k = block->start[i]; k < block->start[i + 1]; k++)
                if (hmi_jacobian_column(s->jacobian, HMI_SYM_VELOCITY, n, block->column[k], &j))
                    s->by_reaction[i * n + j] += out[block->partial + k];
    }
    for (size_t i = 0; i < n; i++)
        s->acceleration[i] = values[system->at.Q + i] + values[system->at.C + i];
    const double *psi = out + s->jacobian->block[HMI_BLOCK_VELOCITY].value;
    for (size_t k = 0; k < m; k++)
        s->right[k] = hmi_dot((int)n, sim->A + k * n, sim->v) - psi[k];
    return (hmi_dirac_balance){.M = sim->M,
                               .rho = s->acceleration,
                               .J = s->by_reaction,
                               .A = sim->A,
                               .c = s->right,
                               .v = sim->v};
}

/* sim->v := q', starting from the v there. One step where L is linear in the velocities. */
static hm_status determine(hm_sim *sim, double *qdot, hmi_dirac_velocity *velocity)
{
    hm_status status = HM_OK;
    for (int k = 0; k < MOST_ITERATIONS; k++) {
        hmi_dirac_balance balance = balance_here(sim);
        status = hmi_dirac_solve(sim->dynamics, &balance, qdot, velocity);
        hmi_copy((int)sim->system->derived.n, qdot, sim->v);
        if (status != HM_OK || velocity->change < 1e-13)
            return status;
    }
    return velocity->change < 1e-9 ? HM_OK : HM_ERR_NUMERIC;
}

static bool constant(const hmi_graph *graph, const hmi_sparse *matrix)
{
    for (size_t k = 0; k < matrix->value.count; k++)
        if (hmi_deps(graph, matrix->value.data[k]) & ~HMI_DEP(HMI_SYM_PARAM))
            return false;
    return true;
}

/* Does M see any virtual displacement? fast counts those that it does not. */
static int slow_directions(const hm_sim *sim, const hmi_dirac_velocity *velocity)
{
    hm_sim *here = (hm_sim *)sim;
    hmi_solution solution;
    if (hmi_sim_accelerate(here, &solution) == HM_ERR_NUMERIC)
        return 0;
    return solution.freedom - velocity->fast;
}

hm_status hmi_ode_try_dirac(hmi_ode *ode, const char **why)
{
    hm_sim *sim = ode->sim;
    const hmi_derived *eq = &sim->system->derived;
    hmi_dirac_velocity velocity;
    double *qdot = sim->qdd; /* scratch */
    hm_status status = hmi_sim_prepare_derivatives(sim, HMI_JACOBIAN_STATE);
    if (status != HM_OK)
        return status;
    if (eq->force_symbols || sim->system->model->servos.count) {
        *why = "velocities are determined by the Dirac form only without servos and laws of "
               "constraint forces";
        return HM_ERR_USAGE;
    }
    status = determine(sim, qdot, &velocity);
    if (status != HM_OK) {
        *why = "neither accelerations nor velocities are determined";
        return HM_ERR_UNDETERMINED;
    }
    ode->dirac_slow = slow_directions(sim, &velocity) > 0;
    if (ode->dirac_slow &&
        !(constant(&eq->graph, &eq->M) && constant(&eq->graph, &eq->constraints.A))) {
        *why = "some velocities are determined and others are free, by a mass matrix or "
               "constraints that depend on the state: this is not supported";
        return HM_ERR_USAGE;
    }
    ode->dirac = true;
    return HM_OK;
}

hm_status hmi_ode_dirac(hmi_ode *ode, double t, const double *y, double *dy)
{
    hm_sim *sim = ode->sim;
    int n = (int)ode->n;
    hmi_dirac_velocity velocity;
    hmi_solution solution;
    ode->evaluations++;
    if (!hmi_all_finite((int)ode->size, y))
        return HM_ERR_NUMERIC;
    hmi_ode_store(ode, t, y);
    hm_status status = determine(sim, dy, &velocity);
    hmi_zero(n, dy + n);
    if (status != HM_OK)
        return status;
    /* at v = q' the balance can be met; q'' stays free along what M does not see */
    if (ode->dirac_slow) {
        status = hmi_sim_accelerate(sim, &solution);
        if (status != HM_OK && !(status == HM_ERR_UNDETERMINED && solution.verdict.solvable))
            return status;
        hmi_copy(n, sim->qdd, dy + n);
    }
    hmi_copy((int)ode->states, hmi_sim_state_rates(sim), dy + 2 * n);
    return hmi_all_finite((int)ode->size, dy) ? HM_OK : HM_ERR_NUMERIC;
}

hm_status hmi_ode_settle(hmi_ode *ode, double t, double *y)
{
    hmi_dirac_velocity velocity;
    if (!ode->dirac)
        return HM_OK;
    hmi_ode_store(ode, t, y);
    return determine(ode->sim, y + ode->n, &velocity);
}
