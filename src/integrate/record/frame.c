/* What a frame shows of one state of a run, and how the user gets it. */
#include "integrate/record/recorder.h"

#include "linalg/dense.h"

#include <math.h>
#include <string.h>

/* |N^T Qi| relative to |N| |Qi|: zero for ideal forces.                         [UK02 Result 4] */
static double check_ideal(const hmi_recorder *r)
{
    const hmi_solution *s = &r->solution;
    int n = (int)r->ode->n;
    double worst = 0, size = hmi_norm(n, s->Qi);
    if (!s->virtual_displacements)
        return NAN; /* large systems have no basis of them */
    for (int k = 0; k < s->freedom && size > 0; k++) {
        const double *v = s->virtual_displacements + (size_t)k * r->ode->n;
        worst = fmax(worst, fabs(hmi_dot(n, v, s->Qi)) / (hmi_norm(n, v) * size));
    }
    return worst;
}

void hmi_recorder_begin_frame(const hmi_recorder *r, const hmi_point *at, hm_frame *frame)
{
    double span = r->options->end - r->stepper->t_begin;
    *frame = (hm_frame){.t = at->t, .q = at->q, .v = at->v, .z = at->z};
    frame->progress = span > 0 ? fmin(1, (at->t - r->stepper->t_begin) / span) : 1;
}

void hmi_recorder_show_forces(const hmi_recorder *r, bool checks, hm_frame *frame)
{
    const hmi_solution *s = &r->solution;
    frame->qdd = r->ode->dirac ? NULL : s->qdd;
    frame->lambda = r->residuals->count ? s->lambda : NULL;
    frame->Qi = s->Qi;
    frame->Qni = s->Qni;
    frame->Qc = s->Qc;
    frame->C = s->C;
    frame->u = s->u;
    if (checks)
        frame->ideal_check = check_ideal(r);
}

void hmi_recorder_show_outputs(const hmi_recorder *r, const double *report, hm_frame *frame)
{
    size_t first = r->ode->sim->system->report_at.outputs;
    frame->outputs = r->model->outputs.count ? report + first : NULL;
    frame->drawings = report + r->ode->sim->system->report_at.drawings;
}

void hmi_recorder_show_energy(const hmi_recorder *r, const double *report, const double *work,
                              hm_frame *frame)
{
    const hm_system *system = r->ode->sim->system;
    const hmi_report_layout *at = &system->report_at;
    frame->has_energy = system->derived.kinetic != HMI_NONE;
    frame->has_total = r->energy.known;
    frame->kinetic = report[at->kinetic];
    frame->potential = report[at->potential];
    frame->total = report[at->total];
    frame->work = hmi_ledger_view(&r->ledger, work, r->energy.by_resets, r->energy.by_impacts);
    if (r->energy.known)
        frame->balance = r->energy.left;
}

/* Of rows of acceleration level: the drift of their integrals, at the last accepted step. */
void hmi_recorder_show_violations(hmi_recorder *r, const hmi_point *at, hm_frame *frame)
{
    const hmi_acceleration_drift *drift = &r->acceleration_drift;
    size_t m = r->residuals->count;
    double *position = r->violations.shown, *velocity = position + m;
    hmi_residuals_evaluate(r->residuals, at);
    memcpy(position, r->residuals->position, m * sizeof *position);
    memcpy(velocity, r->residuals->velocity, m * sizeof *velocity);
    for (size_t i = 0; i < drift->count; i++) {
        position[drift->row[i]] = drift->position[i];
        velocity[drift->row[i]] = drift->velocity[i];
    }
    frame->position_violation = position;
    frame->velocity_violation = velocity;
}

/* Of an output without a value (0/0) is told once. */
static void look_at_outputs(hmi_recorder *r, const hm_frame *frame)
{
    for (size_t i = 0; frame->outputs && i < r->model->outputs.count; i++) {
        if (isfinite(frame->outputs[i]) || r->valueless[i])
            continue;
        r->valueless[i] = true;
        hmi_messages_warn(&r->messages, "output '%s' has no finite value at t = %.9g",
                          r->model->outputs.data[i].name, frame->t);
    }
}

bool hmi_recorder_give(hmi_recorder *r, hm_frame *frame, hm_frame_reason reason)
{
    look_at_outputs(r, frame);
    frame->reason = reason;
    frame->event = r->events.count ? r->events.count - 1 : 0;
    r->ode->sim->in_callback = true;
    bool wanted = r->options->on_frame(r->options->user, frame);
    r->ode->sim->in_callback = false;
    return wanted && !r->ode->sim->doomed;
}
