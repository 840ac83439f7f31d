/* hm_sim_geometry: the geometry of [UK02, section 6] at the present state. */
#include "base/argument.h"
#include "dynamics/sim/sim.h"

static bool take_memory(hm_sim *sim)
{
    hm_geometry *g = &sim->extras.geometry;
    size_t n = sim->system->derived.n, m = sim->system->derived.constraints.count;
    const struct {
        double **array;
        size_t count;
    } needs[] = {
        {&g->B, m * n}, {&g->B_plus, n * m}, {&g->T, n * n},    {&g->N, n * n},    {&g->a_s, n},
        {&g->c_s, n},   {&g->qdd_s, n},      {&g->B_plus_b, n}, {&g->B_plus_e, n},
    };
    bool failed = false;
    for (size_t i = 0; i < sizeof needs / sizeof *needs; i++)
        *needs[i].array = hmi_arena_doubles(&sim->arena, needs[i].count, &failed);
    if (failed)
        g->B = NULL; /* taken again next time */
    return !failed;
}

hm_status hm_sim_geometry(hm_sim *sim, const hm_geometry **geometry)
{
    HMI_ARGUMENT(sim ? sim->context : NULL, sim && !sim->in_callback && (geometry),
                 "a place for the answer is needed; no call from a callback of the sim");
    hmi_question ask;
    hmi_solution solution;
    const hmi_options options = hmi_options_default();
    if (!sim->dense.dynamics)
        return HM_ERR_LIMIT;
    if (!sim->extras.geometry.B && !take_memory(sim))
        return HM_ERR_NOMEM;
    hmi_sim_evaluate(sim, hmi_sim_present(sim));
    hmi_sim_pose(sim, hmi_sim_present(sim), &ask);
    hm_status status = hmi_dynamics_solve(sim->dense.dynamics, &ask.equations, &options, &solution);
    if (status != HM_OK)
        return status;
    const hm_geometry *g = &sim->extras.geometry;
    const hmi_geometry wanted = {.B = g->B,
                                 .B_plus = g->B_plus,
                                 .T = g->T,
                                 .N = g->N,
                                 .a_s = g->a_s,
                                 .c_s = g->c_s,
                                 .qdd_s = g->qdd_s,
                                 .B_plus_b = g->B_plus_b,
                                 .B_plus_e = g->B_plus_e};
    status = hmi_dynamics_geometry(sim->dense.dynamics, &ask.equations, &solution, &wanted);
    if (status == HM_OK)
        *geometry = g;
    return status;
}
