/* The geometry of the first paper's section 6 at a sim's state, on demand. */
#include "dynamics/sim/sim.h"

static bool take_memory(hm_sim *sim)
{
    hm_geometry *g = &sim->geometry;
    size_t n = sim->system->derived.n, m = sim->system->derived.constraints.count;
    const struct {
        double **array;
        size_t count;
    } needs[] = {
        {&g->B, m * n}, {&g->B_plus, n * m}, {&g->T, n * n},    {&g->N, n * n},    {&g->a_s, n},
        {&g->c_s, n},   {&g->qdd_s, n},      {&g->B_plus_b, n}, {&g->B_plus_e, n},
    };
    for (size_t i = 0; i < sizeof needs / sizeof *needs; i++) {
        *needs[i].array = hmi_arena_alloc(&sim->arena, (needs[i].count + 1) * sizeof(double));
        if (!*needs[i].array) {
            g->B = NULL; /* taken again next time */
            return false;
        }
    }
    return true;
}

hm_status hm_sim_geometry(hm_sim *sim, const hm_geometry **geometry)
{
    hmi_question ask;
    hmi_solution solution;
    const hmi_options options = hmi_options_default();
    if (!sim->dynamics)
        return HM_ERR_LIMIT;
    if (!sim->geometry.B && !take_memory(sim))
        return HM_ERR_NOMEM;
    hm_sim_evaluate_fast(sim);
    hmi_sim_pose(sim, &ask);
    hm_status status = hmi_dynamics_solve(sim->dynamics, &ask.equations, &options, &solution);
    if (status != HM_OK)
        return status;
    const hm_geometry *g = &sim->geometry;
    const hmi_geometry wanted = {.B = g->B,
                                 .B_plus = g->B_plus,
                                 .T = g->T,
                                 .N = g->N,
                                 .a_s = g->a_s,
                                 .c_s = g->c_s,
                                 .qdd_s = g->qdd_s,
                                 .B_plus_b = g->B_plus_b,
                                 .B_plus_e = g->B_plus_e};
    status = hmi_dynamics_geometry(sim->dynamics, &ask.equations, &solution, &wanted);
    if (status == HM_OK)
        *geometry = g;
    return status;
}
