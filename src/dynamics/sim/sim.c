/* hm_sim: creation, state, evaluation of M, Q, A, b, C and energies. */
#include "dynamics/sim/sim.h"

#include "dynamics/sim/compiled.h"
#include "dynamics/sim/large.h"
#include "dynamics/sim/motion_derivatives.h"
#include "dynamics/sim/motion.h"

#include <math.h>
#include <string.h>

/* ---- creation ---- */

static double *doubles(hm_sim *sim, size_t count, bool *failed)
{
    double *memory = hmi_arena_alloc(&sim->arena, (count ? count : 1) * sizeof *memory);
    *failed |= !memory;
    return memory;
}

static bool allocate(hm_sim *sim)
{
    const hm_system *system = sim->system;
    const hm_model *model = system->model;
    size_t n = system->derived.n, m = system->derived.constraints.count;
    bool failed = false;
    sim->q = doubles(sim, n, &failed);
    sim->v = doubles(sim, n, &failed);
    sim->z = doubles(sim, model->states.count, &failed);
    sim->params = doubles(sim, model->params.count, &failed);
    for (int order = 0; order < 3; order++)
        sim->inputs[order] = doubles(sim, model->inputs.count, &failed);
    sim->own_inputs_work = doubles(sim, system->inputs.work_size, &failed);
    sim->own_dynamics_work = doubles(sim, system->dynamics.work_size, &failed);
    sim->own_law_work = doubles(sim, system->law.work_size, &failed);
    sim->dynamics_work = sim->own_dynamics_work;
    sim->law_work = sim->own_law_work;
    sim->inputs_work = sim->own_inputs_work;
    sim->dynamics_tape = &system->dynamics;
    sim->inputs_tape = &system->inputs;
    sim->law_tape = &system->law;
    sim->report_work = doubles(sim, system->report.work_size, &failed);
    sim->qdd = doubles(sim, n, &failed);
    sim->reaction = doubles(sim, n, &failed);
    sim->total_reaction = doubles(sim, n, &failed);
    sim->multiplier = doubles(sim, m, &failed);
    sim->total_multiplier = doubles(sim, m, &failed);
    sim->param_set = hmi_arena_alloc(&sim->arena, model->params.count + 1);
    sim->input_set = hmi_arena_alloc(&sim->arena, model->inputs.count + 1);
    sim->held = hmi_arena_alloc(&sim->arena, 2 * n + 1);
    return !failed && sim->param_set && sim->input_set && sim->held;
}

static void take_initial_values(hm_sim *sim)
{
    const hm_model *model = sim->system->model;
    hm_model_initial(model, sim->q, sim->v, sim->z);
    for (size_t i = 0; i < model->params.count; i++) {
        sim->params[i] = model->params.data[i].value;
        sim->param_set[i] = model->params.data[i].overridden;
    }
    sim->t = model->simulate.given ? model->simulate.start : 0;
}

hm_status hm_sim_create(const hm_system *system, hm_sim **out)
{
    hm_sim *sim = hmi_alloc(system->allocator, sizeof *sim);
    if (!sim)
        return HM_ERR_NOMEM;
    *sim = (hm_sim){.system = system};
    hmi_arena_init(&sim->arena, system->allocator);
    hm_status status = hmi_system_assemble(system);
    if (status == HM_OK && !allocate(sim))
        status = HM_ERR_NOMEM;
    if (status == HM_OK)
        status = hmi_sim_prepare_solve(sim);
    if (status == HM_OK)
        status = hmi_fast_create(sim);
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
    const hm_allocator *allocator = sim->system->allocator;
    if (sim->run)
        sim->run_destroy(sim->run);
    if (sim->consistency)
        sim->consistency_destroy(sim->consistency);
    hmi_large_destroy(sim);
    hmi_sim_motion_destroy(sim->own_motion);
    hmi_dynamics_destroy(sim->dynamics);
    hmi_sim_derivatives_destroy(sim->derivatives);
    hmi_arena_release(&sim->arena);
    hmi_free(allocator, sim, sizeof *sim);
}

/* ---- parameters, inputs, state ---- */

hm_status hm_sim_set_param(hm_sim *sim, const char *name, double value)
{
    const hm_model *model = sim->system->model;
    for (size_t i = 0; i < model->params.count; i++) {
        if (strcmp(model->params.data[i].name, name) != 0)
            continue;
        if (model->params.data[i].structural) {
            hmi_error(model->context, hmi_no_span, "give it when the model is read (--set)",
                      "parameter '%s' sets a size and cannot be changed afterwards", name);
            return HM_ERR_USAGE;
        }
        sim->params[i] = value;
        sim->param_set[i] = true;
        sim->prepared = false;
        return hmi_system_evaluate_params(sim->system, sim->param_set, sim->params);
    }
    hmi_error(model->context, hmi_no_span, NULL, "there is no parameter '%s'", name);
    return HM_ERR_USAGE;
}

double hm_sim_param(const hm_sim *sim, size_t index)
{
    return index < sim->system->model->params.count ? sim->params[index] : NAN;
}

hm_status hm_sim_set_input(hm_sim *sim, size_t index, double value, double rate, double rate2)
{
    if (index >= sim->system->model->inputs.count)
        return HM_ERR_USAGE;
    sim->inputs[0][index] = value;
    sim->inputs[1][index] = rate;
    sim->inputs[2][index] = rate2;
    sim->input_set[index] = true;
    return HM_OK;
}

hm_status hm_sim_reset_input(hm_sim *sim, size_t index)
{
    if (index >= sim->system->model->inputs.count)
        return HM_ERR_USAGE;
    sim->input_set[index] = false;
    return HM_OK;
}

void hm_sim_set_state(hm_sim *sim, double t, const double *q, const double *v, const double *z)
{
    size_t n = sim->system->derived.n;
    sim->t = t;
    if (q)
        memcpy(sim->q, q, n * sizeof *q);
    if (v)
        memcpy(sim->v, v, n * sizeof *v);
    if (z)
        memcpy(sim->z, z, sim->system->model->states.count * sizeof *z);
}

void hm_sim_hold(hm_sim *sim, size_t coordinate, bool velocity, bool hold)
{
    size_t n = sim->system->derived.n;
    if (coordinate < n)
        sim->held[velocity ? n + coordinate : coordinate] = hold;
}

double hm_sim_time(const hm_sim *sim)
{
    return sim->t;
}

/* ---- evaluation ---- */

hmi_tape_values hmi_sim_values(const hm_sim *sim)
{
    return (hmi_tape_values){.by_kind = {
                                 [HMI_SYM_TIME] = &sim->t,
                                 [HMI_SYM_PARAM] = sim->params,
                                 [HMI_SYM_COORD] = sim->q,
                                 [HMI_SYM_VELOCITY] = sim->v,
                                 [HMI_SYM_ACCELERATION] = sim->qdd,
                                 [HMI_SYM_STATE] = sim->z,
                                 [HMI_SYM_INPUT] = sim->inputs[0],
                                 [HMI_SYM_INPUT_RATE] = sim->inputs[1],
                                 [HMI_SYM_INPUT_RATE2] = sim->inputs[2],
                                 [HMI_SYM_REACTION] = sim->reaction,
                                 [HMI_SYM_MULTIPLIER] = sim->multiplier,
                                 [HMI_SYM_TOTAL_REACTION] = sim->total_reaction,
                                 [HMI_SYM_TOTAL_MULTIPLIER] = sim->total_multiplier,
                                 [HMI_SYM_ENERGY] = &sim->energy,
                                 [HMI_SYM_MODE] = sim->modes,
                             }};
}

static void prepare_tapes(hm_sim *sim, const hmi_tape_values *values)
{
    const hm_system *system = sim->system;
    hmi_tape_prepare(sim->inputs_tape, values, sim->inputs_work);
    hmi_tape_prepare(sim->dynamics_tape, values, sim->dynamics_work);
    hmi_tape_prepare(&system->report, values, sim->report_work);
    if (sim->law_tape->work_size)
        hmi_tape_prepare(sim->law_tape, values, sim->law_work);
    hmi_fast_prepare(sim, values);
    sim->prepared = true;
    sim->version++;
}

void hmi_sim_refresh(hm_sim *sim)
{
    const hm_system *system = sim->system;
    size_t count = system->model->inputs.count;
    if (sim->prepared && count == 0)
        return;
    const hmi_tape_values values = hmi_sim_values(sim);
    if (!sim->prepared)
        prepare_tapes(sim, &values);
    if (count == 0)
        return;
    hmi_tape_run(sim->inputs_tape, &values, sim->inputs_work);
    const double *defaults = hmi_tape_outputs(sim->inputs_tape, sim->inputs_work);
    for (size_t k = 0; k < count; k++)
        for (int order = 0; order < 3; order++)
            if (!sim->input_set[k])
                sim->inputs[order][k] = defaults[(size_t)order * count + k];
}

void hm_sim_evaluate_fast(hm_sim *sim)
{
    hmi_sim_refresh(sim);
    sim->by_motion = false;
    const hmi_tape_values values = hmi_sim_values(sim);
    hmi_tape_run(sim->dynamics_tape, &values, sim->dynamics_work);
    sim->stale = false;
}

static hm_matrix matrix_view(const hmi_expr_matrix *pattern, const double *values, bool lower)
{
    return (hm_matrix){.rows = pattern->rows,
                       .columns = pattern->columns,
                       .row_start = pattern->start,
                       .column = pattern->column.data,
                       .value = values,
                       .lower = lower};
}

static void view_dynamics(const hm_sim *sim, hm_evaluation *out)
{
    const hm_system *system = sim->system;
    const hmi_derived *d = &system->derived;
    const double *values = hmi_tape_outputs(sim->dynamics_tape, sim->dynamics_work);
    out->M = matrix_view(&d->M, values + system->at.M, true);
    out->A = matrix_view(&d->constraints.A, values + system->at.A, false);
    out->Q = values + system->at.Q;
    out->b = values + system->at.b;
    out->C = values + system->at.C;
    out->servo_A = matrix_view(&d->servos.A, values + system->at.servo_A, false);
    out->servo_b = values + system->at.servo_b;
    out->state_rates = values + system->at.state_rates;
}

static void view_report(const hm_sim *sim, hm_evaluation *out)
{
    const hm_system *system = sim->system;
    const hmi_report_layout *at = &system->report_at;
    const double *values = hmi_tape_outputs(&system->report, sim->report_work);
    out->position_residual = values + at->position_residual;
    out->velocity_residual = values + at->velocity_residual;
    out->momentum = values + at->momentum;
    out->has_total = system->derived.total != HMI_NONE;
    out->has_energy = system->derived.kinetic != HMI_NONE;
    out->kinetic = values[at->kinetic];
    out->potential = values[at->potential];
    out->total = values[at->total];
    out->power.impressed = values[at->impressed];
    out->power.dissipation = values[at->dissipation];
    out->power.gyroscopic = values[at->gyroscopic];
    out->power.explicit_time = values[at->explicit_time];
}

static bool all_finite(const double *values, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (!isfinite(values[i]))
            return false;
    return true;
}

/* Outputs may use accelerations and constraint forces, so the report runs again after the solve. */
static void run_report(hm_sim *sim)
{
    const hmi_tape_values values = hmi_sim_values(sim);
    hmi_tape_run(&sim->system->report, &values, sim->report_work);
}

const double *hmi_sim_report(hm_sim *sim)
{
    run_report(sim);
    const double *out = hmi_tape_outputs(&sim->system->report, sim->report_work);
    if (sim->system->derived.total != HMI_NONE && sim->system->model->outputs.count) {
        sim->energy = out[sim->system->report_at.total];
        run_report(sim); /* outputs may use `energy` */
    }
    return out;
}

double *hmi_sim_dynamics(hm_sim *sim)
{
    return sim->dynamics_work + sim->dynamics_tape->output_slot;
}

static bool report_is_finite(const hm_sim *sim)
{
    return all_finite(hmi_tape_outputs(&sim->system->report, sim->report_work),
                      sim->system->report_at.outputs);
}

/* Without an answer outputs that use accelerations or constraint forces have no value. */
static void clear_unsolved(hm_sim *sim)
{
    const hm_model *model = sim->system->model;
    const uint16_t unknown = HMI_DEP(HMI_SYM_ACCELERATION) | HMI_DEP_FORCES;
    double *outputs = sim->report_work + sim->system->report.output_slot +
                      sim->system->report_at.outputs;
    for (size_t i = 0; i < model->outputs.count; i++)
        if (hmi_deps(&model->graph, model->outputs.data[i].expr) & unknown)
            outputs[i] = NAN;
}

hm_status hm_sim_evaluate(hm_sim *sim, const hm_evaluate_options *options,
                          hm_evaluation *evaluation)
{
    const hm_system *system = sim->system;
    hm_evaluate_options chosen = options ? *options : hm_evaluate_options_default();
    hm_sim_evaluate_fast(sim);
    run_report(sim);
    *evaluation = (hm_evaluation){
        .t = sim->t, .q = sim->q, .v = sim->v, .z = sim->z, .inputs = sim->inputs[0]};
    evaluation->disagreement = -1;
    view_dynamics(sim, evaluation);
    view_report(sim, evaluation);
    if (!all_finite(hmi_tape_outputs(sim->dynamics_tape, sim->dynamics_work), system->at.count) ||
        !report_is_finite(sim)) {
        const hmi_tape_values values = hmi_sim_values(sim);
        hmi_system_explain(system, &values);
        return HM_ERR_NUMERIC;
    }
    hm_status status = sim->dynamics ? hmi_sim_solve(sim, &chosen, evaluation)
                                     : hmi_large_solve(sim, &chosen, evaluation);
    if (evaluation->velocity_determined) { /* energies at the velocities found */
        run_report(sim);
        view_report(sim, evaluation);
    }
    sim->energy = evaluation->total;
    run_report(sim);
    evaluation->power.impressed = hmi_tape_outputs(&system->report,
                                                   sim->report_work)[system->report_at.impressed];
    evaluation->outputs = hmi_tape_outputs(&system->report, sim->report_work) +
                          system->report_at.outputs;
    if (!evaluation->solved)
        clear_unsolved(sim);
    return status;
}

void hm_matrix_dense(const hm_matrix *matrix, double *dense)
{
    memset(dense, 0, matrix->rows * matrix->columns * sizeof *dense);
    for (size_t i = 0; i < matrix->rows; i++)
        for (size_t k = matrix->row_start[i]; k < matrix->row_start[i + 1]; k++) {
            size_t j = matrix->column[k];
            dense[i * matrix->columns + j] = matrix->value[k];
            if (matrix->lower)
                dense[j * matrix->columns + i] = matrix->value[k];
        }
}
