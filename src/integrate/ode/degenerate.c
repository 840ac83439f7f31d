/* q' and, where M sees some velocities, q'' of degenerate Lagrangians. */
#include "dynamics/sim/dirac.h"
#include "integrate/ode/degenerate.h"
#include "linalg/linalg.h"

/* Does M see any virtual displacement? fast counts those that it does not. */
static int slow_directions(hm_sim *sim, const hmi_point *at, const hmi_dirac_velocity *velocity)
{
    hmi_solution solution;
    if (hmi_sim_accelerate(sim, at, &solution) == HM_ERR_NUMERIC)
        return 0;
    return solution.freedom - velocity->fast;
}

hm_status hmi_ode_try_dirac(hmi_ode *ode, double t, double *y, const char **why)
{
    hm_sim *sim = ode->sim;
    const hmi_derived *eq = &sim->system->derived;
    const hmi_point at = hmi_ode_point(ode, t, y);
    hmi_dirac_velocity velocity;
    hm_status status = hmi_sim_prepare_derivatives(sim, HMI_JACOBIAN_STATE);
    if (status != HM_OK)
        return status;
    if (eq->force_symbols || sim->system->model->servos.count) {
        *why = "the Dirac form determines velocities only without servos and without laws that use "
               "constraint forces";
        return HM_ERR_USAGE;
    }
    status = hmi_sim_determine_velocity(sim, &at, y + ode->n, &velocity);
    if (status != HM_OK) {
        *why = "neither accelerations nor velocities are determined";
        return HM_ERR_UNDETERMINED;
    }
    ode->dirac_slow = slow_directions(sim, &at, &velocity) > 0;
    ode->dirac = true;
    return HM_OK;
}

/* ---- accelerations where only some velocities are determined ---- */

/* How the columns of the Jacobian move along the motion with these q'. */
static double column_rate(const hm_sim *sim, const hmi_point *at, const hmi_slopes *s, size_t c,
                          const double *qdd)
{
    const hmi_jacobian *j = s->jacobian;
    size_t n = sim->system->derived.n, inputs = sim->system->model->inputs.count, k;
    if (hmi_jacobian_column(j, HMI_SYM_COORD, n, c, &k))
        return at->v[k];
    if (hmi_jacobian_column(j, HMI_SYM_VELOCITY, n, c, &k))
        return qdd[k];
    if (hmi_jacobian_column(j, HMI_SYM_STATE, sim->system->model->states.count, c, &k))
        return hmi_sim_state_rates(sim)[k];
    if (hmi_jacobian_column(j, HMI_SYM_INPUT, inputs, c, &k))
        return sim->given.inputs[1][k];
    if (hmi_jacobian_column(j, HMI_SYM_INPUT_RATE, inputs, c, &k))
        return sim->given.inputs[2][k];
    return c == j->columns.start[HMI_SYM_TIME];
}

/* rate (n) := d(Q + C - M q'' + A^T lambda)/dt at fixed q'' and lambda; E_v (n x n) := its part d/dv */
static void differentiate_balance(hm_sim *sim, const hmi_point *at, const double *qdd,
                                  const double *lambda, double *rate, double *E_v)
{
    const hmi_slopes *s = &sim->extras.derivatives->by[HMI_JACOBIAN_STATE];
    size_t n = sim->system->derived.n, j;
    const double *out = hmi_sim_run_slopes(sim, at, HMI_JACOBIAN_STATE, qdd, lambda);
    hmi_zero((int)n, rate);
    hmi_zero((int)(n * n), E_v);
    for (int b = HMI_BLOCK_FORCE; b <= HMI_BLOCK_NONIDEAL; b++) {
        const hmi_jacobian_block *block = &s->jacobian->block[b];
        for (size_t i = 0; i < block->rows; i++)
            for (size_t k = block->start[i]; k < block->start[i + 1]; k++) {
                double value = out[block->partial + k];
                rate[i] += value * column_rate(sim, at, s, block->column[k], qdd);
                if (hmi_jacobian_column(s->jacobian, HMI_SYM_VELOCITY, n, block->column[k], &j))
                    E_v[i * n + j] += value;
            }
    }
}

/* q'' along W (fast x n), the directions that M does not see. The balance holds along them at all
 * times, so that its derivative does: with q'' = x + W^T eta,
 *     (W E_v W^T) eta = -W (dE/dt at q'' = x)
 * since W M' W^T = 0 where M W^T = 0 goes on holding. qdd: x in, q'' out. */
static hm_status complete_acceleration(hm_sim *sim, const hmi_point *at, const double *W, int fast,
                                       const double *lambda, double *qdd)
{
    hmi_slopes *s = &sim->extras.derivatives->by[HMI_JACOBIAN_STATE];
    int n = (int)sim->system->derived.n;
    double *rate = s->acceleration, *E_v = s->by_reaction, *S = s->dqdd, *column = s->right_n;
    double *eta = S + (size_t)fast * (size_t)fast;
    differentiate_balance(sim, at, qdd, lambda, rate, E_v);
    for (int k = 0; k < fast; k++) {
        hmi_matvec(n, n, E_v, W + (size_t)k * (size_t)n, column);
        for (int i = 0; i < fast; i++)
            S[i * fast + k] = hmi_dot(n, W + (size_t)i * (size_t)n, column);
        eta[k] = -hmi_dot(n, W + (size_t)k * (size_t)n, rate);
    }
    if (!hmi_lu(fast, S, s->pivots, 0))
        return HM_ERR_UNDETERMINED;
    hmi_lu_solve(fast, S, s->pivots, eta);
    hmi_mul_transposed(fast, n, 1, W, eta, qdd);
    return HM_OK;
}

/* q'' at v = q'. The balance is met there but for rounding, which is all that is left of it where M
 * sees nothing: no reason to doubt it. */
static hm_status accelerate(hm_sim *sim, const hmi_point *at, const hmi_dirac_velocity *velocity,
                            double *qdd)
{
    hmi_slopes *s = &sim->extras.derivatives->by[HMI_JACOBIAN_STATE];
    hmi_solution solution;
    int n = (int)sim->system->derived.n, m = (int)sim->system->derived.constraints.count;
    double *W = s->force; /* the solve overwrites velocity->W */
    hmi_copy(velocity->fast * n, velocity->W, W);
    hm_status status = hmi_sim_accelerate(sim, at, &solution);
    if (status != HM_OK && status != HM_ERR_UNDETERMINED)
        return status;
    hmi_copy(n, solution.qdd, qdd);
    hmi_copy(m, solution.total_lambda, s->lambda);
    return complete_acceleration(sim, at, W, velocity->fast, s->lambda, qdd);
}

/* ---- the motion ---- */

hm_status hmi_ode_dirac(hmi_ode *ode, double t, const double *y, double *dy)
{
    hm_sim *sim = ode->sim;
    int n = (int)ode->n;
    const hmi_point at = hmi_ode_point(ode, t, y);
    const hmi_point found = {t, y, dy, at.z};
    hmi_dirac_velocity velocity;
    ode->evaluations++;
    if (!hmi_all_finite((int)ode->size, y))
        return HM_ERR_NUMERIC;
    hm_status status = hmi_sim_determine_velocity(sim, &at, dy, &velocity);
    hmi_zero(n, dy + n);
    if (status == HM_OK && ode->dirac_slow)
        status = accelerate(sim, &found, &velocity, dy + n);
    if (status != HM_OK)
        return status;
    hmi_copy((int)ode->states, hmi_sim_state_rates(sim), dy + 2 * n);
    return hmi_all_finite((int)ode->size, dy) ? HM_OK : HM_ERR_NUMERIC;
}

hm_status hmi_ode_dirac_forces(hmi_ode *ode, hmi_point *at)
{
    hm_sim *sim = ode->sim;
    hmi_dirac_velocity velocity;
    hm_status status = hmi_sim_determine_velocity(sim, at, sim->last.qdd, &velocity);
    at->v = sim->dense.velocity;
    return status == HM_OK ? accelerate(sim, at, &velocity, sim->last.qdd) : status;
}

hm_status hmi_ode_settle(hmi_ode *ode, double t, double *y)
{
    hmi_dirac_velocity velocity;
    const hmi_point at = hmi_ode_point(ode, t, y);
    if (!ode->dirac)
        return HM_OK;
    return hmi_sim_determine_velocity(ode->sim, &at, y + ode->n, &velocity);
}
