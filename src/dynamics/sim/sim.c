/* A sim is made and destroyed here, and its parameters, inputs and present state are set. */
#include "base/argument.h"
#include "dynamics/sim/sim.h"

#include "dynamics/large/large.h"
#include "dynamics/sim/contacts.h"
#include "dynamics/sim/motion_derivatives.h"
#include "dynamics/sim/motion.h"

#include <math.h>
#include <string.h>

/* ---- creation ---- */

static void allocate_tapes(hm_sim *sim, bool *failed)
{
    const hm_system *system = sim->system;
    hmi_sim_tapes *tapes = &sim->tapes;
    hmi_arena *arena = &sim->arena;
    tapes->own_inputs_work = hmi_arena_doubles(arena, system->inputs.work_size, failed);
    tapes->own_dynamics_work = hmi_arena_doubles(arena, system->dynamics.work_size, failed);
    tapes->own_law_work = hmi_arena_doubles(arena, system->law.work_size, failed);
    tapes->report_work = hmi_arena_doubles(arena, system->report.work_size, failed);
    tapes->dynamics_work = tapes->own_dynamics_work;
    tapes->law_work = tapes->own_law_work;
    tapes->inputs_work = tapes->own_inputs_work;
    tapes->dynamics = &system->dynamics;
    tapes->inputs = &system->inputs;
    tapes->law = &system->law;
}

static hm_status allocate(hm_sim *sim)
{
    const hm_system *system = sim->system;
    const hm_model *model = system->model;
    hmi_arena *arena = &sim->arena;
    size_t n = system->derived.n, m = system->derived.constraints.count;
    bool failed = false;
    sim->context = hmi_system_context(system);
    sim->state.q = hmi_arena_doubles(arena, n, &failed);
    sim->state.v = hmi_arena_doubles(arena, n, &failed);
    sim->state.z = hmi_arena_doubles(arena, model->states.count, &failed);
    sim->state.held = hmi_arena_alloc(arena, 2 * n + 1);
    sim->state.at = (hmi_point){.q = sim->state.q, .v = sim->state.v, .z = sim->state.z};
    sim->given.params = hmi_arena_doubles(arena, model->params.count, &failed);
    sim->given.param_set = hmi_arena_alloc(arena, model->params.count + 1);
    for (int order = 0; order < 3; order++)
        sim->given.inputs[order] = hmi_arena_doubles(arena, model->inputs.count, &failed);
    sim->given.input_set = hmi_arena_alloc(arena, model->inputs.count + 1);
    allocate_tapes(sim, &failed);
    sim->last.qdd = hmi_arena_doubles(arena, n, &failed);
    sim->last.reaction = hmi_arena_doubles(arena, n, &failed);
    sim->last.total_reaction = hmi_arena_doubles(arena, n, &failed);
    sim->last.multiplier = hmi_arena_doubles(arena, m, &failed);
    sim->last.total_multiplier = hmi_arena_doubles(arena, m, &failed);
    bool good = !failed && sim->context && sim->state.held && sim->given.param_set &&
                sim->given.input_set;
    return good ? HM_OK : HM_ERR_NOMEM;
}

/* The compiled solve writes q'' to a place of its own, which then is that of the sim. */
static hm_status take_compiled(hm_sim *sim)
{
    if (!sim->system->schur)
        return HM_OK;
    hm_status status = hmi_compiled_create(sim->system->schur, &sim->arena, &sim->solve.compiled);
    if (sim->solve.compiled)
        sim->last.qdd = hmi_compiled_acceleration(sim->solve.compiled);
    return status;
}

static void take_initial_values(hm_sim *sim)
{
    const hm_model *model = sim->system->model;
    hm_model_initial(model, sim->state.q, sim->state.v, sim->state.z);
    for (size_t i = 0; i < model->params.count; i++) {
        sim->given.params[i] = model->params.data[i].value;
        sim->given.param_set[i] = model->params.data[i].overridden;
    }
    sim->state.at.t = model->simulate.given ? model->simulate.start : 0;
}

hm_status hm_sim_create(const hm_system *system, hm_sim **out)
{
    HMI_ARGUMENT(system ? system->model->context : NULL, system && out,
                 "a system and a place for the sim are needed");
    hm_sim *sim = hmi_alloc(system->allocator, sizeof *sim);
    if (!sim)
        return HM_ERR_NOMEM;
    *sim = (hm_sim){.system = system};
    hmi_share(&system->references);
    hmi_arena_init(&sim->arena, system->allocator);
    hm_status status = hmi_system_assemble(system);
    if (status == HM_OK)
        status = allocate(sim);
    if (status == HM_OK)
        status = hmi_sim_prepare_solve(sim);
    if (status == HM_OK)
        status = hmi_contacts_create(sim);
    if (status == HM_OK)
        status = take_compiled(sim);
    if (status != HM_OK) {
        hm_sim_destroy(sim);
        return status;
    }
    take_initial_values(sim);
    *out = sim;
    return HM_OK;
}

void hm_sim_destroy(hm_sim *sim)
{
    if (!sim)
        return;
    if (sim->in_callback) { /* the call that it is in ends first */
        sim->doomed = true;
        return;
    }
    const hm_system *system = sim->system;
    const hm_allocator *allocator = system->allocator;
    if (sim->extras.run)
        sim->extras.run_destroy(sim->extras.run);
    if (sim->extras.consistency)
        sim->extras.consistency_destroy(sim->extras.consistency);
    hmi_large_destroy(sim->solve.large);
    hmi_sim_motion_destroy(sim->motion.own);
    hmi_dynamics_destroy(sim->dense.dynamics);
    hmi_sim_derivatives_destroy(sim->extras.derivatives);
    hm_context_destroy(sim->context);
    hmi_arena_release(&sim->arena);
    hmi_free(allocator, sim, sizeof *sim);
    hm_system_destroy((hm_system *)system);
}

hm_context *hm_sim_context(const hm_sim *sim)
{
    if (!sim)
        return NULL;
    return sim->context;
}

/* ---- parameters, inputs, state ---- */

hm_status hm_sim_set_param(hm_sim *sim, const char *name, double value)
{
    HMI_ARGUMENT(sim ? sim->context : NULL, sim && !sim->in_callback && (name && isfinite(value)),
                 "a name and a finite value are needed; no call from a callback of the sim");
    const hm_model *model = sim->system->model;
    for (size_t i = 0; i < model->params.count; i++) {
        if (strcmp(model->params.data[i].name, name) != 0)
            continue;
        if (model->params.data[i].structural) {
            hmi_error(sim->context, hmi_no_span, "set it when the model is read (--set)",
                      "parameter '%s' sets a size and cannot be changed afterwards", name);
            return HM_ERR_USAGE;
        }
        sim->given.params[i] = value;
        sim->given.param_set[i] = true;
        sim->tapes.prepared = false;
        return hmi_system_evaluate_params(sim->system, sim->given.param_set, sim->given.params);
    }
    hmi_error(sim->context, hmi_no_span, NULL, "there is no parameter '%s'", name);
    return HM_ERR_USAGE;
}

double hm_sim_param(const hm_sim *sim, size_t index)
{
    if (!sim)
        return NAN;
    return index < sim->system->model->params.count ? sim->given.params[index] : NAN;
}

hm_status hm_sim_set_input(hm_sim *sim, size_t index, double value, double rate, double rate2)
{
    HMI_ARGUMENT(
        sim ? sim->context : NULL,
        sim && !sim->in_callback &&
            (index < sim->system->model->inputs.count && isfinite(value) && isfinite(rate) &&
             isfinite(rate2)),
        "an input that exists and finite values are needed; no call from a callback of the sim");
    if (!hmi_model_input_is_free(sim->context, sim->system->model, index, hmi_no_span))
        return HM_ERR_USAGE;
    sim->given.inputs[0][index] = value;
    sim->given.inputs[1][index] = rate;
    sim->given.inputs[2][index] = rate2;
    sim->given.input_set[index] = true;
    return HM_OK;
}

hm_status hm_sim_reset_input(hm_sim *sim, size_t index)
{
    HMI_ARGUMENT(sim ? sim->context : NULL,
                 sim && !sim->in_callback && (index < sim->system->model->inputs.count),
                 "an input that exists is needed; no call from a callback of the sim");
    sim->given.input_set[index] = false;
    return HM_OK;
}

hm_status hm_sim_set_state(hm_sim *sim, double t, const double *q, const double *v, const double *z)
{
    HMI_ARGUMENT(sim ? sim->context : NULL, sim && !sim->in_callback && isfinite(t),
                 "a finite time is needed; no call from a callback of the sim");
    size_t n = sim->system->derived.n, states = sim->system->model->states.count;
    HMI_ARGUMENT(sim->context,
                 (!q || hmi_values_finite(q, n)) && (!v || hmi_values_finite(v, n)) &&
                     (!z || hmi_values_finite(z, states)),
                 "the state must be finite");
    hmi_sim_set_state(sim, t, q, v, z);
    return HM_OK;
}

void hmi_sim_set_state(hm_sim *sim, double t, const double *q, const double *v, const double *z)
{
    size_t n = sim->system->derived.n;
    sim->state.at.t = t;
    if (q)
        memcpy(sim->state.q, q, n * sizeof *q);
    if (v)
        memcpy(sim->state.v, v, n * sizeof *v);
    if (z)
        memcpy(sim->state.z, z, sim->system->model->states.count * sizeof *z);
}

hm_status hm_sim_hold(hm_sim *sim, size_t coordinate, bool velocity, bool hold)
{
    size_t n = sim ? sim->system->derived.n : 0;
    HMI_ARGUMENT(sim ? sim->context : NULL, coordinate < n && !sim->in_callback,
                 "a coordinate that exists is needed; no call from a callback of the sim");
    sim->state.held[velocity ? n + coordinate : coordinate] = hold;
    return HM_OK;
}

double hm_sim_time(const hm_sim *sim)
{
    if (!sim)
        return NAN;
    return sim->state.at.t;
}
