/* What is watched at every step of a run: violations of the constraints and the energy. */
#include "integrate/record/recorder.h"

#include "dynamics/sim/contacts.h"

#include <math.h>
#include <string.h>

/* ---- memory ---- */

static hm_status allocate(hmi_recorder *r)
{
    size_t m = r->residuals->count;
    bool failed = false;
    r->violations.position = hmi_arena_doubles(r->arena, m, &failed);
    r->violations.velocity = hmi_arena_doubles(r->arena, m, &failed);
    r->violations.largest = hmi_arena_doubles(r->arena, m, &failed);
    r->violations.shown = hmi_arena_doubles(r->arena, 2 * m, &failed);
    r->valueless = hmi_arena_alloc(r->arena, r->model->outputs.count + 1);
    return failed || !r->valueless ? HM_ERR_NOMEM : HM_OK;
}

hm_status hmi_recorder_init(hmi_recorder *r, hmi_ode *ode, hmi_residuals *residuals,
                            hmi_stepper *stepper, const hm_run_options *options, hmi_arena *arena)
{
    r->model = ode->sim->system->model;
    r->options = options;
    r->arena = arena;
    r->ode = ode;
    r->residuals = residuals;
    r->stepper = stepper;
    hm_status status = hmi_acceleration_drift_init(&r->acceleration_drift, ode->sim, arena);
    if (status == HM_OK)
        status = hmi_ledger_init(&r->ledger, ode->sim, ode->kept, arena);
    return status == HM_OK ? allocate(r) : status;
}

void hmi_recorder_release(hmi_recorder *r)
{
    const hm_allocator *allocator = r->messages.arena->allocator;
    hmi_ledger_release(&r->ledger);
    hmi_acceleration_drift_release(&r->acceleration_drift);
    hmi_messages_release(&r->messages);
    hmi_array_release(allocator, &r->events);
}

void hmi_recorder_prepare(hmi_recorder *r)
{
    hmi_acceleration_drift_prepare(&r->acceleration_drift);
    hmi_ledger_prepare(&r->ledger, r->ode->sim);
}

void hmi_recorder_forget(hmi_recorder *r)
{
    size_t bytes = r->residuals->count * sizeof(double);
    memset(r->violations.position, 0, bytes);
    memset(r->violations.velocity, 0, bytes);
    memset(r->violations.largest, 0, bytes);
    r->energy.error = 0;
    r->outputs = 0;
}

/* ---- at every step ---- */

static void keep_largest(double *largest, double value)
{
    if (!(fabs(value) <= *largest))
        *largest = fabs(value);
}

/* One-sided rows are violated below zero, at their own level; rows that do not hold now are not. */
static double violation_of(const hmi_recorder *r, size_t k, hm_level level)
{
    const hmi_contacts *contacts = r->ode->sim->contacts;
    const hmi_constraint *row = &r->model->constraints.data[k];
    double residual = level == HM_LEVEL_POSITION ? r->residuals->position[k]
                                                 : r->residuals->velocity[k];
    if (contacts && !contacts->in_force[k])
        return 0;
    if (!row->one_sided)
        return residual;
    return row->level == level ? fmax(0, -residual) : 0;
}

static void observe_violations(hmi_recorder *r, const hmi_point *at)
{
    const hmi_violations *v = &r->violations;
    const hmi_acceleration_drift *drift = &r->acceleration_drift;
    size_t m = r->residuals->count;
    if (m)
        hmi_residuals_evaluate(r->residuals, at);
    for (size_t k = 0; k < m; k++) {
        keep_largest(&v->position[k], violation_of(r, k, HM_LEVEL_POSITION));
        keep_largest(&v->velocity[k], violation_of(r, k, HM_LEVEL_VELOCITY));
    }
    for (size_t i = 0; i < drift->count; i++) {
        keep_largest(&v->position[drift->row[i]], drift->position[i]);
        keep_largest(&v->velocity[drift->row[i]], drift->velocity[i]);
    }
    for (size_t k = 0; k < m; k++)
        v->largest[k] = fmax(v->position[k], v->velocity[k]);
}

void hmi_recorder_observe(hmi_recorder *r)
{
    hmi_stepper *s = r->stepper;
    hmi_energy_audit *energy = &r->energy;
    const hmi_point at = hmi_stepper_point(s);
    observe_violations(r, &at);
    if (!energy->known)
        return;
    energy->now = hmi_ledger_total(&r->ledger, r->ode->sim, &at);
    s->work_scale = fmax(s->work_scale, fabs(energy->now));
    double work = hmi_ledger_sum(&r->ledger, s->y + s->size);
    energy->left = energy->now - energy->start - energy->by_resets - energy->by_impacts - work;
    keep_largest(&energy->error, energy->left);
}

void hmi_recorder_start(hmi_recorder *r)
{
    const hmi_point at = hmi_stepper_point(r->stepper);
    r->energy.known = r->ode->sim->system->derived.total != HMI_NONE;
    r->energy.start = r->energy.now = hmi_ledger_total(&r->ledger, r->ode->sim, &at);
    hmi_acceleration_drift_start(&r->acceleration_drift, &at);
    hmi_recorder_observe(r);
}

hm_status hmi_recorder_note_event(hmi_recorder *r, const char *name, double t)
{
    const hm_run_event one = {name, t};
    if (r->events.count >= HMI_MOST_EVENTS) {
        r->events_dropped++;
        return HM_OK;
    }
    return hmi_array_push(r->arena->allocator, &r->events, one) ? HM_OK : HM_ERR_NOMEM;
}
