/* What is known at one time of a run: frames, and what is watched at every step. See driver.h. */
#include "integrate/run/driver.h"

#include "linalg/tolerances.h"

#include <math.h>
#include <string.h>

/* |N^T Qi| relative to |N| |Qi|: zero for ideal forces.                         [UK02 Result 4] */
static double check_ideal(const hmi_driver *d, const hmi_solution *s)
{
    int n = (int)d->ode.n;
    double worst = 0, size = hmi_norm(n, s->Qi);
    if (!s->virtual_displacements)
        return NAN; /* large systems have no basis of them */
    for (int k = 0; k < s->freedom && size > 0; k++) {
        const double *v = s->virtual_displacements + (size_t)k * d->ode.n;
        worst = fmax(worst, fabs(hmi_dot(n, v, s->Qi)) / (hmi_norm(n, v) * size));
    }
    return worst;
}

static void show_forces(hmi_driver *d, hm_frame *frame)
{
    const hmi_solution *s = &d->solution;
    frame->qdd = s->qdd;
    frame->lambda = d->residuals.count ? s->lambda : NULL;
    frame->Qi = s->Qi;
    frame->Qni = s->Qni;
    frame->Qc = s->Qc;
    frame->C = s->C;
    frame->u = s->u;
}

static void show_report(hmi_driver *d, const hmi_point *at, const double *work, unsigned content,
                        hm_frame *frame)
{
    const hm_system *system = d->sim->system;
    const hmi_report_layout *place = &system->report_at;
    const double *out = hmi_sim_report(d->sim, at);
    const double *by_modes = hmi_switches_outputs(&d->switches, at);
    frame->outputs = by_modes ? by_modes : d->model->outputs.count ? out + place->outputs : NULL;
    if (!(content & HM_FRAME_CONTENT_ENERGY))
        return;
    frame->has_energy = system->derived.kinetic != HMI_NONE;
    frame->has_total = d->has_total;
    frame->kinetic = out[place->kinetic];
    frame->potential = out[place->potential];
    frame->total = out[place->total];
    frame->work = hmi_ledger_view(&d->ledger, work, d->reset_work);
    if (d->has_total)
        frame->balance = frame->total - d->energy_start - d->reset_work -
                         hmi_ledger_sum(&d->ledger, work);
}

/* Of rows of acceleration level: the drift of their integrals, at the last accepted step. */
static void show_violation(hmi_driver *d, hm_frame *frame)
{
    size_t m = d->residuals.count;
    double *position = d->frame_violation, *velocity = position + m;
    memcpy(position, d->residuals.position, m * sizeof *position);
    memcpy(velocity, d->residuals.velocity, m * sizeof *velocity);
    for (size_t i = 0; i < d->integrals.count; i++) {
        position[d->integrals.row[i]] = d->integrals.position[i];
        velocity[d->integrals.row[i]] = d->integrals.velocity[i];
    }
    frame->position_violation = position;
    frame->velocity_violation = velocity;
}

hm_status hmi_driver_frame(hmi_driver *d, double t, const double *y, unsigned content,
                           hm_frame *frame)
{
    double span = d->options.end - d->t_begin;
    const hmi_point at = hmi_ode_point(&d->ode, t, y);
    *frame = (hm_frame){.t = t, .q = at.q, .v = at.v, .z = at.z};
    frame->progress = span > 0 ? fmin(1, (t - d->t_begin) / span) : 1;
    if (content & HM_FRAME_CONTENT_CHECKS ||
        d->switches.outputs_work) /* modes that stick are solved for */
        content |= HM_FRAME_CONTENT_FORCES;
    if (content & HM_FRAME_CONTENT_FORCES) {
        hmi_driver_use_rows(d, true);
        d->sim->solve.rank_tolerance = d->rows.any ? HMI_DEPENDENT_SINE : 0;
        hm_status status = hmi_ode_forces(&d->ode, t, y, &d->solution);
        d->sim->solve.rank_tolerance = 0;
        hmi_driver_use_rows(d, false);
        bool free = d->ode.dirac && status == HM_ERR_UNDETERMINED; /* q'', but not the forces */
        if (status != HM_OK && !free)
            return status;
        show_forces(d, frame);
        if (d->ode.dirac)
            frame->qdd = NULL;
        if (content & HM_FRAME_CONTENT_CHECKS)
            frame->ideal_check = check_ideal(d, &d->solution);
    }
    if (content & (HM_FRAME_CONTENT_FORCES | HM_FRAME_CONTENT_ENERGY)) {
        hmi_sim_refresh(d->sim, &at);
        show_report(d, &at, y + d->ode.size, content, frame);
    }
    if (content & HM_FRAME_CONTENT_VIOLATION) {
        hmi_residuals_evaluate(&d->residuals, &at);
        show_violation(d, frame);
    }
    return HM_OK;
}

/* Outputs without a value (0/0) are said once each. */
static void look_at_outputs(hmi_driver *d, const hm_frame *frame)
{
    for (size_t i = 0; frame->outputs && i < d->model->outputs.count; i++) {
        if (isfinite(frame->outputs[i]) || d->valueless[i])
            continue;
        d->valueless[i] = true;
        hmi_driver_warn(d, "output '%s' has no finite value at t = %.9g",
                        d->model->outputs.data[i].name, frame->t);
    }
}

bool hmi_driver_give(hmi_driver *d, double t, const double *y, hm_frame_reason reason)
{
    hm_frame frame;
    const hm_run_options *o = &d->options;
    if (!o->on_frame)
        return true;
    hm_status status = hmi_driver_frame(d, t, y, o->content, &frame);
    if (status != HM_OK) {
        hmi_driver_warn(d, "forces cannot be evaluated at t = %.9g: %s", t, hm_status_text(status));
        if (hmi_driver_frame(d, t, y,
                             o->content &
                                 ~(unsigned)(HM_FRAME_CONTENT_FORCES | HM_FRAME_CONTENT_CHECKS),
                             &frame) != HM_OK)
            return true;
    }
    look_at_outputs(d, &frame);
    frame.reason = reason;
    frame.event = d->events.count ? d->events.count - 1 : 0;
    return o->on_frame(o->user, &frame);
}

static void keep_largest(double *largest, double value)
{
    if (!(fabs(value) <= *largest))
        *largest = fabs(value);
}

void hmi_driver_observe(hmi_driver *d)
{
    const hmi_residuals *r = &d->residuals;
    const hmi_point at = hmi_driver_point(d);
    if (r->count)
        hmi_residuals_evaluate(&d->residuals, &at);
    for (size_t k = 0; k < r->count; k++) {
        keep_largest(&d->position_violation[k], r->position[k]);
        keep_largest(&d->velocity_violation[k], r->velocity[k]);
    }
    for (size_t i = 0; i < d->integrals.count; i++) {
        keep_largest(&d->position_violation[d->integrals.row[i]], d->integrals.position[i]);
        keep_largest(&d->velocity_violation[d->integrals.row[i]], d->integrals.velocity[i]);
    }
    for (size_t k = 0; k < r->count; k++) {
        d->violation[k] = fmax(d->position_violation[k], d->velocity_violation[k]);
    }
    if (!d->has_total)
        return;
    d->energy = hmi_ledger_total(&d->ledger, d->sim, &at);
    d->s.work_scale = fmax(d->s.work_scale, fabs(d->energy));
    double work = hmi_ledger_sum(&d->ledger, d->s.y + d->ode.size);
    keep_largest(&d->balance_error, d->energy - d->energy_start - d->reset_work - work);
}
