/* Newton's iteration for the velocities of degenerate Lagrangians. */
#include "dynamics/sim/dirac.h"

#include "linalg/linalg.h"

#include <string.h>

enum { MOST_ITERATIONS = 12 };

/* rho = Q + C at the point with J = d rho/dv, and c of A q' = c. All in the memory of the sim's
 * derivatives. */
static hmi_dirac_balance balance_at(hm_sim *sim, const hmi_point *at)
{
    const hm_system *system = sim->system;
    hmi_slopes *s = &sim->extras.derivatives->by[HMI_JACOBIAN_STATE];
    size_t n = system->derived.n, m = system->derived.constraints.count, j;
    hmi_sim_evaluate(sim, at);
    hmi_sim_scatter(sim);
    const double *out = hmi_sim_run_slopes(sim, at, HMI_JACOBIAN_STATE, NULL, NULL);
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
        s->right[k] = hmi_dot((int)n, sim->dense.A + k * n, at->v) - psi[k];
    return (hmi_dirac_balance){.M = sim->dense.M,
                               .rho = s->acceleration,
                               .J = s->by_reaction,
                               .A = sim->dense.A,
                               .c = s->right,
                               .v = at->v};
}

hm_status hmi_sim_determine_velocity(hm_sim *sim, const hmi_point *at, double *qdot,
                                     hmi_dirac_velocity *velocity)
{
    hm_status status = HM_OK;
    int n = (int)sim->system->derived.n;
    double *v = sim->dense.velocity;
    const hmi_point next = {at->t, at->q, v, at->z};
    if (at->v != v)
        hmi_copy(n, at->v, v);
    for (int k = 0; k < MOST_ITERATIONS; k++) {
        hmi_dirac_balance balance = balance_at(sim, &next);
        status = hmi_dirac_solve(sim->dense.dynamics, &balance, qdot, velocity);
        hmi_copy(n, qdot, v);
        if (status != HM_OK || velocity->change < 1e-13)
            return status;
    }
    return velocity->change < 1e-9 ? HM_OK : HM_ERR_NUMERIC;
}
