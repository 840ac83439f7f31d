/* Four members at once: for which systems and options, and the machine code that they share. */
#include "integrate/ensemble/batch.h"

const char *hmi_batch_refusal(const hmi_run *d)
{
    const hmi_projection *p = &d->projection;
    if (!d->s.method || !d->s.method->table)
        return "the method is not an explicit Runge-Kutta method";
    if (d->events.switches.count || d->events.switches.switches)
        return "events, or functions that are not smooth";
    if (d->ode.dirac || !d->motion || d->motion->shifted)
        return "no compiled solve for the accelerations";
    if (d->guard.rows.any)
        return "constraints that depend on each other";
    if (d->recorder.acceleration_drift.count)
        return "constraints of acceleration level";
    if (d->ode.kept && p->velocity.count &&
        (!p->velocity.projector || (p->position.count && !p->position.projector)))
        return "no compiled solve for the drift control";
    return NULL;
}

/* ---- tapes ---- */

static hm_status compile_levels(const hmi_run *d, hmi_batch_code *code)
{
    const hmi_projection_level *position = &d->projection.position,
                               *velocity = &d->projection.velocity;
    hm_status status = HM_OK;
    if (position->count)
        status = hmi_tape_lanes_init(&code->position, &position->projector->program.tape);
    if (status == HM_OK && velocity->count)
        status = hmi_tape_lanes_init(&code->velocity, &velocity->projector->program.tape);
    if (status == HM_OK && velocity->count > 1 && d->guard.rank.now) /* see relate_velocities */
        status = hmi_tape_lanes_init(&code->dynamics, &d->sim->system->dynamics);
    return status;
}

static hm_status compile_tapes(const hmi_run *d, hmi_batch_code *code)
{
    hm_status status = hmi_tape_lanes_init(&code->motion, &d->motion->program.tape);
    if (status == HM_OK && d->model->inputs.count)
        status = hmi_tape_lanes_init(&code->inputs, &d->sim->system->inputs);
    if (status == HM_OK && d->residuals.count)
        status = hmi_tape_lanes_init(&code->residuals, &d->residuals.tape);
    if (status == HM_OK && d->recorder.ledger.total_work)
        status = hmi_tape_lanes_init(&code->total, &d->recorder.ledger.total);
    return status == HM_OK && d->ode.kept ? compile_levels(d, code) : status;
}

/* Stages with the motion in them, where that pays. */
static hm_status compile_stages(const hmi_run *d, hmi_stages *stages)
{
    const hmi_rk_table *table = d->s.method->table;
    const hmi_stages_request request = {
        .motion = &d->motion->program.tape,
        .n = d->ode.n,
        .size = d->ode.size,
        .width = d->ode.size + d->s.works,
        .margin = d->motion->program.at.margin,
        .stages = table->stages,
        .a = table->A,
        .c = table->c,
        .b = table->b,
        .e = table->error,
        .estimates = table->error_uses_last ? 0 : table->errors}; /* those are made later */
    return hmi_stages_compile(stages, &request);
}

hm_status hmi_batch_compile(const hmi_run *d, bool many, hmi_batch_code *code)
{
    *code = (hmi_batch_code){0};
    hm_status status = compile_tapes(d, code);
    return status == HM_OK && many ? compile_stages(d, &code->stages) : status;
}

void hmi_batch_code_release(hmi_batch_code *code)
{
    hmi_tape_lanes *tapes[] = {&code->motion,   &code->inputs,   &code->residuals, &code->total,
                               &code->dynamics, &code->position, &code->velocity};
    for (size_t k = 0; k < sizeof tapes / sizeof *tapes; k++)
        hmi_tape_lanes_release(tapes[k]);
    hmi_stages_release(&code->stages);
}
