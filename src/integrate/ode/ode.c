/* f(t, y) by the solve of the sim, with Baumgarte's terms and sliding where a run has them. */
#include "integrate/ode/ode.h"

#include "compile/jit/assemble.h"
#include "dynamics/large/large.h"
#include "dynamics/sim/motion.h"
#include "integrate/ode/degenerate.h"
#include "integrate/ode/ledger.h"
#include "integrate/ode/residuals.h"

#include <math.h>
#include <string.h>

hm_status hmi_run_tape(hmi_tape *tape, const hmi_graph *graph, const hmi_expr *list, size_t count,
                       hmi_arena *arena, double **work)
{
    hm_status status = tape->allocator ? HM_OK : hmi_tape_compile(tape, graph, list, count);
    if (status != HM_OK)
        return status;
    *work = hmi_arena_alloc(arena, (tape->work_size + 1) * sizeof **work);
    return *work ? HM_OK : HM_ERR_NOMEM;
}

hm_status hmi_ode_init(hmi_ode *ode, hm_sim *sim)
{
    size_t n = sim->system->derived.n, states = sim->system->model->states.count;
    *ode = (hmi_ode){.sim = sim, .n = n, .states = states, .size = 2 * n + states, .last = HM_OK};
    return sim->dense.dynamics || !hmi_large_refusal(sim->system) ? HM_OK : HM_ERR_LIMIT;
}

void hmi_ode_store(hmi_ode *ode, double t, const double *y)
{
    hmi_sim_set_state(ode->sim, t, y, y + ode->n, y + 2 * ode->n);
}

void hmi_ode_load(const hmi_ode *ode, double *y)
{
    memcpy(y, ode->sim->state.q, ode->n * sizeof *y);
    memcpy(y + ode->n, ode->sim->state.v, ode->n * sizeof *y);
    if (ode->states)
        memcpy(y + 2 * ode->n, ode->sim->state.z, ode->states * sizeof *y);
}

/* Four sums, which do not wait for each other. */
static bool finite(const double *values, size_t count)
{
    double sum[4] = {0};
    size_t i = 0;
    for (; i + 4 <= count; i += 4)
        for (size_t k = 0; k < 4; k++)
            sum[k] += values[i + k] * 0;
    for (; i < count; i++)
        sum[0] += values[i] * 0;
    return sum[0] + sum[1] + sum[2] + sum[3] == 0;
}

/* Position rows: phi'' + 2a phi' + b^2 phi = 0; velocity rows: psi' + a psi = 0. [Baumgarte 1972] */
static void add_baumgarte(hmi_ode *ode, const hmi_point *at)
{
    const hmi_residuals *r = ode->residuals;
    double *b = hmi_sim_dynamics(ode->sim) + ode->sim->system->at.b;
    double rate = ode->baumgarte[0], stiffness = ode->baumgarte[1] * ode->baumgarte[1];
    hmi_residuals_evaluate(ode->residuals, at);
    for (size_t k = 0; k < r->count; k++) {
        if (r->level[k] == HM_LEVEL_POSITION)
            b[k] -= 2 * rate * r->velocity[k] + stiffness * r->position[k];
        else if (r->level[k] == HM_LEVEL_VELOCITY)
            b[k] -= rate * r->velocity[k];
    }
}

hm_status hmi_ode_accelerate(hmi_ode *ode, const hmi_point *at, hmi_solution *solution)
{
    if (!ode->residuals || (ode->baumgarte[0] == 0 && ode->baumgarte[1] == 0))
        return hmi_sim_accelerate(ode->sim, at, solution);
    hmi_sim_evaluate(ode->sim, at);
    add_baumgarte(ode, at);
    return hmi_sim_accelerate_here(ode->sim, at, solution);
}

hm_status hmi_ode_forces(hmi_ode *ode, double t, const double *y, hmi_solution *solution)
{
    if (!finite(y, ode->size))
        return HM_ERR_NUMERIC;
    const hmi_point at = hmi_ode_point(ode, t, y);
    return ode->branches ? ode->branches->accelerate(ode->branches, ode, &at, solution)
                         : hmi_ode_accelerate(ode, &at, solution);
}

static hm_status evaluate(hmi_ode *ode, double t, const double *y, double *dy,
                          hmi_solution *solution)
{
    if (ode->dirac)
        return ode->last = hmi_ode_dirac(ode, t, y, dy);
    ode->evaluations++;
    hm_status status = hmi_ode_forces(ode, t, y, solution);
    if (ode->forgiving && (status == HM_ERR_INCONSISTENT || status == HM_ERR_UNDETERMINED)) {
        ode->forgiven++;
        status = HM_OK;
    }
    memcpy(dy, y + ode->n, ode->n * sizeof *dy);
    memcpy(dy + ode->n, ode->sim->last.qdd, ode->n * sizeof *dy);
    if (ode->states)
        memcpy(dy + 2 * ode->n, hmi_sim_state_rates(ode->sim), ode->states * sizeof *dy);
    if (status == HM_OK && !finite(dy, ode->size))
        status = HM_ERR_NUMERIC;
    return ode->last = status;
}

hm_status hmi_ode_evaluate(hmi_ode *ode, double t, const double *y, double *dy)
{
    return evaluate(ode, t, y, dy, NULL);
}

/* dy with powers by the motion tape alone; sim->last is left as it was. false: not that way. */
static bool move(hmi_ode *ode, double t, const double *y, double *dy)
{
    hm_sim *sim = ode->sim;
    hmi_sim_motion *motion = sim->motion.used;
    const hmi_point at = hmi_ode_point(ode, t, y);
    if (!motion || (ode->branches && (ode->branches->sliding || ode->branches->directions)))
        return false;
    if (!sim->tapes.prepared || sim->system->model->inputs.count > 0)
        hmi_sim_refresh(sim, &at);
    if (!hmi_sim_motion_run(sim, motion, &at))
        return false;
    hmi_sim_motion_copy(at.v, ode->n, dy);
    hmi_sim_motion_copy(motion->out, motion->program.at.margin, dy + ode->n);
    ode->evaluations++;
    ode->last = HM_OK;
    return true;
}

hm_status hmi_ode_evaluate_all(hmi_ode *ode, double t, const double *y, double *dy)
{
    hmi_solution solution;
    hmi_ledger *ledger = ode->ledger;
    if (move(ode, t, y, dy))
        return HM_OK;
    bool forces = ledger && ledger->needs_solution;
    hm_status status = evaluate(ode, t, y, dy, forces ? &solution : NULL);
    if (status == HM_OK && ledger) {
        const hmi_point at = {t, y, dy, y + 2 * ode->n}; /* q' also where it was found */
        if (forces && ode->dirac)
            forces = hmi_sim_accelerate(ode->sim, &at, &solution) != HM_ERR_NUMERIC;
        hmi_ledger_powers(ledger, ode->sim, &at, forces ? &solution : NULL, dy + ode->size);
    }
    return status;
}
