/* The tapes of a sim at a point: inputs, M, Q, A, b, C and state rates, and the report. */
#include "dynamics/sim/sim.h"

#include "dynamics/large/compiled.h"

hmi_tape_values hmi_sim_values(const hm_sim *sim, const hmi_point *at)
{
    return (hmi_tape_values){.by_kind = {
                                 [HMI_SYM_TIME] = &at->t,
                                 [HMI_SYM_PARAM] = sim->given.params,
                                 [HMI_SYM_COORD] = at->q,
                                 [HMI_SYM_VELOCITY] = at->v,
                                 [HMI_SYM_ACCELERATION] = sim->last.qdd,
                                 [HMI_SYM_STATE] = at->z,
                                 [HMI_SYM_INPUT] = sim->given.inputs[0],
                                 [HMI_SYM_INPUT_RATE] = sim->given.inputs[1],
                                 [HMI_SYM_INPUT_RATE2] = sim->given.inputs[2],
                                 [HMI_SYM_REACTION] = sim->last.reaction,
                                 [HMI_SYM_MULTIPLIER] = sim->last.multiplier,
                                 [HMI_SYM_TOTAL_REACTION] = sim->last.total_reaction,
                                 [HMI_SYM_TOTAL_MULTIPLIER] = sim->last.total_multiplier,
                                 [HMI_SYM_ENERGY] = sim->last.energy,
                                 [HMI_SYM_MODE] = sim->tapes.modes,
                             }};
}

/* ---- evaluation ---- */

static void prepare(hm_sim *sim, const hmi_tape_values *values)
{
    hmi_sim_tapes *tapes = &sim->tapes;
    hmi_tape_prepare(tapes->inputs, values, tapes->inputs_work);
    hmi_tape_prepare(tapes->dynamics, values, tapes->dynamics_work);
    hmi_tape_prepare(&sim->system->report, values, tapes->report_work);
    if (tapes->law->work_size)
        hmi_tape_prepare(tapes->law, values, tapes->law_work);
    if (sim->solve.compiled)
        hmi_compiled_prepare(sim->solve.compiled, values);
    tapes->prepared = true;
    tapes->version++;
}

void hmi_sim_refresh(hm_sim *sim, const hmi_point *at)
{
    hmi_sim_tapes *tapes = &sim->tapes;
    size_t count = sim->system->model->inputs.count;
    if (tapes->prepared && count == 0)
        return;
    const hmi_tape_values values = hmi_sim_values(sim, at);
    if (!tapes->prepared)
        prepare(sim, &values);
    if (count == 0)
        return;
    hmi_tape_run(tapes->inputs, &values, tapes->inputs_work);
    const double *defaults = hmi_tape_outputs(tapes->inputs, tapes->inputs_work);
    for (size_t k = 0; k < count; k++)
        for (int order = 0; order < 3; order++)
            if (!sim->given.input_set[k])
                sim->given.inputs[order][k] = defaults[(size_t)order * count + k];
}

void hmi_sim_hold_inputs(hm_sim *sim, const hmi_point *at, bool *were_set)
{
    size_t count = sim->system->model->inputs.count;
    hmi_sim_refresh(sim, at);
    for (size_t k = 0; k < count; k++) {
        were_set[k] = sim->given.input_set[k];
        sim->given.input_set[k] = true;
    }
}

void hmi_sim_release_inputs(hm_sim *sim, const bool *were_set)
{
    for (size_t k = 0; k < sim->system->model->inputs.count; k++)
        sim->given.input_set[k] = were_set[k];
}

void hmi_sim_evaluate(hm_sim *sim, const hmi_point *at)
{
    hmi_sim_refresh(sim, at);
    sim->last.by_motion = false;
    const hmi_tape_values values = hmi_sim_values(sim, at);
    hmi_tape_run(sim->tapes.dynamics, &values, sim->tapes.dynamics_work);
    sim->last.stale = false;
}

void hm_sim_evaluate_fast(hm_sim *sim)
{
    if (!sim)
        return;
    hmi_sim_evaluate(sim, hmi_sim_present(sim));
}

const double *hmi_sim_run_report(hm_sim *sim, const hmi_point *at)
{
    const hmi_tape_values values = hmi_sim_values(sim, at);
    hmi_tape_run(&sim->system->report, &values, sim->tapes.report_work);
    return hmi_tape_outputs(&sim->system->report, sim->tapes.report_work);
}

const double *hmi_sim_report(hm_sim *sim, const hmi_point *at)
{
    const double *out = hmi_sim_run_report(sim, at);
    if (sim->system->derived.total != HMI_NONE && sim->system->model->outputs.count) {
        sim->last.energy[HMI_QUANTITY_TOTAL] = out[sim->system->report_at.total];
        hmi_sim_run_report(sim, at); /* outputs may use `energy` */
    }
    return out;
}

/* ---- what was evaluated ---- */

double *hmi_sim_dynamics(hm_sim *sim)
{
    return sim->tapes.dynamics_work + sim->tapes.dynamics->output_slot;
}

static const double *outputs_at(const hm_sim *sim, size_t offset)
{
    return hmi_tape_outputs(sim->tapes.dynamics, sim->tapes.dynamics_work) + offset;
}

const double *hmi_sim_mass_entries(const hm_sim *sim)
{
    return outputs_at(sim, sim->system->at.M);
}

const double *hmi_sim_row_entries(const hm_sim *sim)
{
    return outputs_at(sim, sim->system->at.A);
}

/* Stored entries into a dense matrix. Entries that are structurally zero stay zero from creation,
 * so only the stored ones are written. */
void hmi_scatter_entries(const hmi_expr_matrix *pattern, const double *values, bool symmetric,
                         double *dense)
{
    size_t columns = pattern->columns;
    for (size_t i = 0; i < pattern->rows; i++)
        for (size_t k = pattern->start[i]; k < pattern->start[i + 1]; k++) {
            size_t j = pattern->column.data[k];
            dense[i * columns + j] = values[k];
            if (symmetric)
                dense[j * columns + i] = values[k];
        }
}

void hmi_sim_scatter(hm_sim *sim)
{
    const hmi_derived *d = &sim->system->derived;
    hmi_scatter_entries(&d->M, hmi_sim_mass_entries(sim), true, sim->dense.M);
    hmi_scatter_entries(&d->constraints.A, hmi_sim_row_entries(sim), false, sim->dense.A);
    hmi_scatter_entries(&d->servos.A, outputs_at(sim, sim->system->at.servo_A), false,
                        sim->dense.servo_A);
}

/* ---- other tapes ---- */

/* The servos' right sides are read where the dynamics tape writes them. */
static void follow_tape(hm_sim *sim, const double *old)
{
    const double *out = outputs_at(sim, 0);
    for (size_t s = 0; s < sim->system->model->servos.count && sim->dense.servos; s++) {
        hmi_servo *servo = &sim->dense.servos[s];
        servo->b = out + (servo->b - old);
        servo->limit = out + (servo->limit - old);
        if (servo->b_free)
            servo->b_free = out + (servo->b_free - old);
    }
}

void hmi_sim_use_tapes(hm_sim *sim, const hmi_tape *dynamics, double *dynamics_work,
                       const hmi_tape *law, double *law_work, const double *modes)
{
    hmi_sim_tapes *tapes = &sim->tapes;
    const double *old = outputs_at(sim, 0);
    tapes->dynamics = dynamics ? dynamics : &sim->system->dynamics;
    tapes->dynamics_work = dynamics ? dynamics_work : tapes->own_dynamics_work;
    tapes->law = law ? law : &sim->system->law;
    tapes->law_work = law ? law_work : tapes->own_law_work;
    tapes->modes = modes;
    sim->motion.used = dynamics ? NULL
                                : sim->motion.own; /* a run brings one that knows the modes */
    sim->last.by_motion = false;
    tapes->prepared = false;
    follow_tape(sim, old);
}

void hmi_sim_use_inputs(hm_sim *sim, const hmi_tape *inputs, double *inputs_work)
{
    sim->tapes.inputs = inputs ? inputs : &sim->system->inputs;
    sim->tapes.inputs_work = inputs ? inputs_work : sim->tapes.own_inputs_work;
    sim->tapes.prepared = false;
}
