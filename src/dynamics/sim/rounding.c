/* Rounding errors of the equations at a point. */
#include "dynamics/sim/rounding.h"

#include "compile/tape/rounding.h"
#include "linalg/dense.h"

#include <math.h>

/* ---- memory ---- */

static hm_status make_room(hm_sim *sim)
{
    hmi_sim_rounding *r = &sim->rounding;
    const hmi_sim_tapes *tapes = &sim->tapes;
    bool failed = false;
    if (!r->params) {
        r->params = hmi_arena_doubles(&sim->arena, sim->system->model->params.count, &failed);
        r->version = 0;
    }
    for (int order = 0; order < 3; order++)
        if (!r->input[order])
            r->input[order] = hmi_arena_doubles(&sim->arena, sim->system->model->inputs.count,
                                                &failed);
    if (!r->dynamics || r->dynamics_size < tapes->dynamics->work_size) {
        r->dynamics_size = tapes->dynamics->work_size;
        r->dynamics = hmi_arena_doubles(&sim->arena, r->dynamics_size, &failed);
    }
    if (!r->inputs || r->inputs_size < tapes->inputs->work_size) {
        r->inputs_size = tapes->inputs->work_size;
        r->inputs = hmi_arena_doubles(&sim->arena, r->inputs_size, &failed);
    }
    return failed ? HM_ERR_NOMEM : HM_OK;
}

/* ---- what is given ---- */

/* Of parameters, which may be computed from others. */
static hm_status bound_params(hm_sim *sim)
{
    hmi_sim_rounding *r = &sim->rounding;
    const hm_model *model = sim->system->model;
    hm_status status = HM_OK;
    hmi_walk walk;
    if (r->version == sim->tapes.version)
        return HM_OK;
    hmi_walk_init(&walk, sim->system->allocator);
    for (size_t i = 0; i < model->params.count && status == HM_OK; i++) {
        hmi_expr e = model->params.data[i].value_expr;
        r->params[i] = hmi_given_error(sim->given.params[i]);
        if (e != HMI_NONE && !sim->given.param_set[i] && !hmi_is_const(&model->graph, e))
            status = hmi_expression_error(&walk, &model->graph, e, sim->given.params, r->params,
                                          &r->params[i]);
    }
    hmi_walk_release(&walk);
    if (status == HM_OK)
        r->version = sim->tapes.version;
    return status;
}

/* Of inputs: those that a program sets, and those that the model computes. */
static void bound_inputs(hm_sim *sim, const hmi_tape_values *values, const hmi_tape_errors *errors)
{
    hmi_sim_rounding *r = &sim->rounding;
    const hmi_tape *tape = sim->tapes.inputs;
    size_t count = sim->system->model->inputs.count;
    if (count == 0)
        return;
    hmi_tape_bound(tape, values, errors, sim->tapes.inputs_work, r->inputs);
    for (size_t k = 0; k < count; k++)
        for (int order = 0; order < 3; order++)
            r->input[order][k] = sim->given.input_set[k]
                                     ? hmi_given_error(sim->given.inputs[order][k])
                                     : r->inputs[tape->output_slot + (size_t)order * count + k];
}

/* ---- the equations ---- */

hm_status hmi_sim_bound(hm_sim *sim, const hmi_point *at, const double **error)
{
    hmi_sim_rounding *r = &sim->rounding;
    const hmi_tape *tape = sim->tapes.dynamics;
    hm_status status = make_room(sim);
    if (status == HM_OK)
        status = bound_params(sim);
    if (status != HM_OK)
        return status;
    const hmi_tape_values values = hmi_sim_values(sim, at);
    hmi_tape_errors errors = {.by_kind = {[HMI_SYM_PARAM] = r->params}};
    bound_inputs(sim, &values, &errors);
    errors.by_kind[HMI_SYM_INPUT] = r->input[0];
    errors.by_kind[HMI_SYM_INPUT_RATE] = r->input[1];
    errors.by_kind[HMI_SYM_INPUT_RATE2] = r->input[2];
    hmi_tape_bound(tape, &values, &errors, sim->tapes.dynamics_work, r->dynamics);
    *error = r->dynamics + tape->output_slot;
    return HM_OK;
}

/* The largest error in a row all of whose entries may be rounding errors; 0 for other rows. */
static double terms_of_noise(const hm_sim *sim, size_t row, const double *error)
{
    const hmi_expr_matrix *A = &sim->system->derived.constraints.A;
    const double *entry = hmi_sim_row_entries(sim);
    double most = 0;
    for (size_t k = A->start[row]; k < A->start[row + 1]; k++) {
        if (!isfinite(error[k]) || fabs(entry[k]) > error[k])
            return 0;
        most = fmax(most, error[k]);
    }
    return most;
}

hm_status hmi_sim_row_terms(hm_sim *sim, const hmi_point *at, double *terms)
{
    const hmi_expr_matrix *A = &sim->system->derived.constraints.A;
    const double *error;
    hmi_sim_evaluate(sim, at);
    hm_status status = hmi_sim_bound(sim, at, &error);
    for (size_t i = 0; i < A->rows && status == HM_OK; i++)
        terms[i] = terms_of_noise(sim, i, error + sim->system->at.A) /
                   (HMI_TERM_ROUNDINGS * HMI_EPSILON);
    return status;
}

hm_status hmi_sim_pose_errors(hm_sim *sim, const hmi_point *at, hmi_question *ask)
{
    const hmi_derived *d = &sim->system->derived;
    hmi_sim_rounding *r = &sim->rounding;
    const double *error;
    bool failed = false;
    if (!r->M)
        r->M = hmi_arena_doubles(&sim->arena, d->n * d->n, &failed);
    if (!r->A)
        r->A = hmi_arena_doubles(&sim->arena, d->constraints.count * d->n, &failed);
    if (!r->servo_A && d->servos.count)
        r->servo_A = hmi_arena_doubles(&sim->arena, d->servos.count * d->n, &failed);
    hm_status status = failed ? HM_ERR_NOMEM : hmi_sim_bound(sim, at, &error);
    if (status != HM_OK)
        return status;
    if (d->servos.count)
        hmi_scatter_entries(&d->servos.A, error + sim->system->at.servo_A, false, r->servo_A);
    ask->equations.servo_error = d->servos.count ? r->servo_A : NULL;
    hmi_scatter_entries(&d->M, error + sim->system->at.M, true, r->M);
    hmi_scatter_entries(&d->constraints.A, error + sim->system->at.A, false, r->A);
    ask->equations.M_error = r->M;
    ask->equations.A_error = r->A;
    ask->equations.b_error = error + sim->system->at.b;
    return HM_OK;
}
