/* What happens at a crossing: the step ends there, events act, and the motion starts afresh. */
#include "integrate/run/run.h"

#include "integrate/ode/degenerate.h"

#include <string.h>

/* The step ends at t. The dense output is made ready first, since it needs the old end. */
static void cut_step(hmi_run *run, double t)
{
    hmi_stepper *s = &run->s;
    const hmi_method *method = s->method;
    double *y = run->events.state;
    method->interpolate(s, 0.5 * (s->t_old + t), y);
    if (t == s->t)
        return;
    method->interpolate(s, t, y);
    memcpy(s->y, y, (s->size + (method->carries_work ? s->works : 0)) * sizeof *y);
    s->t = t;
    if (s->works && !method->carries_work) { /* over the part of the step up to t */
        memcpy(s->y + s->size, s->y_old + s->size, s->works * sizeof *y);
        hmi_ledger_integrate(&run->recorder.ledger, s, s->y + s->size);
    }
}

/* A `stop` is noted; a program may step on. */
static void stop(hmi_run *run, const hmi_event *event)
{
    hmi_text *text = &run->recorder.messages.text;
    run->stopped = true;
    if (text->length == 0)
        hmi_text_addf(text, "event '%s' at t = %.12g", event->name, run->s.t);
}

static void show_event(hmi_run *run)
{
    if (!hmi_run_give(run, run->s.t, run->s.y, HM_FRAME_REASON_EVENT))
        run->interrupted = true;
}

/* Records the events of the model that crossed. *resets: one of them sets new values. */
static hm_status note_events(hmi_run *run, bool *resets)
{
    const hmi_crossing *crossing = &run->events.crossing;
    hm_status status = HM_OK;
    for (size_t i = 0; i < crossing->count && status == HM_OK; i++) {
        const hmi_event *event = hmi_events_model_event(&run->events, crossing->which[i]);
        if (!event)
            continue;
        status = hmi_recorder_note_event(&run->recorder, event->name, run->s.t);
        if (event->action == HMI_EVENT_STOP)
            stop(run, event);
        *resets |= event->action == HMI_EVENT_SET;
        if (status == HM_OK)
            show_event(run);
    }
    return status;
}

static hm_status reset(hmi_run *run)
{
    hmi_stepper *s = &run->s;
    hmi_ledger *ledger = &run->recorder.ledger;
    const hmi_point at = hmi_stepper_point(s);
    double before = hmi_ledger_total(ledger, run->sim, &at);
    hm_status status = hmi_events_reset(&run->events);
    if (status == HM_OK)
        status = hmi_ode_settle(&run->ode, s->t, s->y);
    run->recorder.energy.by_resets += hmi_ledger_total(ledger, run->sim, &at) - before;
    if (status == HM_OK)
        show_event(run);
    return status;
}

/* Does a function of a contact cross, or an event of another kind? */
static bool crosses(const hmi_run *run, bool contact)
{
    const hmi_crossing *crossing = &run->events.crossing;
    for (size_t i = 0; i < crossing->count; i++)
        if ((hmi_events_contact(&run->events, crossing->which[i]) != NULL) == contact)
            return true;
    return false;
}

/* Contacts after events have set values; switches once more where an impact changed velocities. */
hm_status hmi_run_settle_contacts(hmi_run *run)
{
    bool jumped = false;
    hm_status status = hmi_events_settle_contacts(&run->events, &jumped);
    run->recorder.energy.by_impacts = run->contact.by_impacts;
    if (status != HM_OK || !jumped)
        return status;
    run->events.crossing.count = 0; /* what fired has acted */
    status = hmi_events_find_sides(&run->events, true);
    return status == HM_OK && run->events.switches.switches
               ? hmi_events_settle_contacts(&run->events, &jumped)
               : status;
}

/* Only modes of smooth switchings change nothing in the state; all else starts afresh. */
hm_status hmi_run_act(hmi_run *run)
{
    hmi_stepper *s = &run->s;
    bool resets = false;
    cut_step(run, run->events.crossing.t);
    hm_status status = hmi_settle(&run->projection, s->t, s->y);
    if (status == HM_OK && crosses(run, false))
        status = hmi_events_check_zeno(&run->events);
    if (status == HM_OK)
        status = note_events(run, &resets);
    if (status == HM_OK && resets)
        status = reset(run);
    hmi_events_keep_residuals(&run->events);
    if (status == HM_OK)
        status = hmi_events_find_sides(&run->events, resets);
    if (status == HM_OK && !resets)
        status = hmi_events_check_jumps(&run->events);
    if (status == HM_OK && run->contact.contacts)
        status = hmi_run_settle_contacts(run);
    s->f_valid = false;
    hmi_guard_forget(&run->guard, false);
    run->restart = true; /* with the next step: until then the dense output of this one is good */
    if (status != HM_OK)
        hmi_messages_fail(&run->recorder.messages, "stopped at t = %.12g, at an event: %s", s->t,
                          hm_status_text(status));
    return status;
}
