/* Frames of a run: at output times, at events, at the end. */
#include "integrate/run/run.h"

#include "dynamics/sim/evaluation.h"
#include "integrate/ode/degenerate.h"

#include <math.h>
#include <string.h>

/* ---- one frame ---- */

/* Forces with all rows: those left out have their share, too. */
static hm_status show_forces(hmi_run *run, double t, const double *y, bool checks, hm_frame *frame)
{
    hmi_recorder *recorder = &run->recorder;
    hm_status status = hmi_guard_solve_all(&run->guard, t, y, &recorder->solution);
    bool free = run->ode.dirac && status == HM_ERR_UNDETERMINED; /* q'', but not the forces */
    if (status != HM_OK && !free)
        return status;
    hmi_recorder_show_forces(recorder, checks, frame);
    return HM_OK;
}

/* With modes, those of the equations hold in outputs as well. */
static void show_report(hmi_run *run, const hmi_point *at, const double *work, bool energy,
                        hm_frame *frame)
{
    hmi_sim_refresh(run->sim, at);
    const double *report = hmi_sim_report(run->sim, at);
    const double *by_modes = hmi_switches_outputs(&run->events.switches, at);
    hmi_recorder_show_outputs(&run->recorder, report, frame);
    if (by_modes)
        frame->outputs = by_modes;
    if (energy)
        hmi_recorder_show_energy(&run->recorder, report, work, frame);
}

/* Forces could not be found: what does not need them is shown all the same. */
static hm_status show_without_forces(hmi_run *run, double t, const double *y, unsigned content,
                                     hm_frame *frame)
{
    hm_status status = hmi_run_frame(run, t, y, content, frame);
    if (status != HM_OK || run->events.switches.outputs_work)
        return status;
    const hmi_point at = hmi_ode_point(&run->ode, t, y);
    show_report(run, &at, y + run->ode.size, content & HM_FRAME_CONTENT_ENERGY, frame);
    hmi_sim_clear_unsolved(run->sim);
    return HM_OK;
}

hm_status hmi_run_frame(hmi_run *run, double t, const double *y, unsigned content, hm_frame *frame)
{
    bool checks = content & HM_FRAME_CONTENT_CHECKS, energy = content & HM_FRAME_CONTENT_ENERGY;
    bool forces = content & HM_FRAME_CONTENT_FORCES || checks ||
                  run->events.switches.outputs_work; /* modes that stick are solved for */
    const hmi_point at = hmi_ode_point(&run->ode, t, y);
    hmi_recorder_begin_frame(&run->recorder, &at, frame);
    hm_status status = forces ? show_forces(run, t, y, checks, frame) : HM_OK;
    if (status != HM_OK)
        return status;
    if (forces || energy)
        show_report(run, &at, y + run->ode.size, energy, frame);
    if (content & HM_FRAME_CONTENT_VIOLATION)
        hmi_recorder_show_violations(&run->recorder, &at, frame);
    return HM_OK;
}

bool hmi_run_give(hmi_run *run, double t, const double *y, hm_frame_reason reason)
{
    const unsigned forces = HM_FRAME_CONTENT_FORCES | HM_FRAME_CONTENT_CHECKS;
    unsigned content = run->options.content;
    hm_frame frame;
    if (!run->options.on_frame)
        return true;
    hm_status status = hmi_run_frame(run, t, y, content, &frame);
    if (status != HM_OK) {
        hmi_messages_warn(&run->recorder.messages, "forces cannot be evaluated at t = %.9g: %s", t,
                          hm_status_text(status));
        if (show_without_forces(run, t, y, content & ~forces, &frame) != HM_OK)
            return true;
    }
    return hmi_recorder_give(&run->recorder, &frame, reason);
}

/* ---- states between steps ---- */

/* More tolerances than that between the dense output and the constraints: not its error. */
#define MOST_SHIFT 1000

/* As near to the constraints as it comes; where they lose rank the projection goes astray. */
static void project_shown(hmi_run *run, double t, double *y)
{
    const hmi_stepper *s = &run->s;
    double *plain = run->before;
    memcpy(plain, y, s->size * sizeof *y);
    hmi_guard_borrow_rows(&run->guard, t, y);
    hm_status status = hmi_project(&run->projection, t, y);
    hmi_guard_use_rows(&run->guard, false);
    for (size_t i = 0; i < s->size; i++)
        y[i] -= plain[i];
    bool astray = status == HM_ERR_NUMERIC || hmi_scaled_norm(s, y, plain, plain) > MOST_SHIFT;
    for (size_t i = 0; i < s->size; i++)
        y[i] = plain[i] + (astray ? 0 : y[i]);
}

void hmi_run_show(hmi_run *run, double t)
{
    const hmi_stepper *s = &run->s;
    double *y = run->shown;
    size_t width = s->size + s->works;
    if (t == s->t && !run->crossed) {
        memcpy(y, s->y, width * sizeof *y);
        return;
    }
    s->method->interpolate(s, t, y);
    if (!s->method->carries_work) {
        double part = s->t > s->t_old ? (t - s->t_old) / (s->t - s->t_old) : 1;
        for (size_t k = s->size; k < width; k++)
            y[k] = s->y_old[k] + part * (s->y[k] - s->y_old[k]);
    }
    if (run->ode.kept)
        project_shown(run, t, y);
    (void)!hmi_ode_settle(&run->ode, t,
                          y); /* no step says what velocities that are found would be */
}

/* ---- output times ---- */

double hmi_run_output_time(const hmi_run *run)
{
    return run->options.start + (double)run->recorder.outputs * run->options.every;
}

/* Events that are recorded and do not end the step, in the order of time with the output times. */
hm_status hmi_run_give_passed(hmi_run *run, double until)
{
    const hmi_events *ev = &run->events;
    for (; run->passed < ev->passed.count; run->passed++) {
        const hmi_passed *p = &ev->passed.data[run->passed];
        if (p->t > until)
            return HM_OK;
        if (!p->wanted)
            continue;
        const hmi_event *event = hmi_events_model_event(ev, p->function);
        hm_status status = hmi_recorder_note_event(&run->recorder, event->name, p->t);
        if (status != HM_OK)
            return status;
        if (!run->options.on_frame)
            continue;
        hmi_run_show(run, p->t);
        if (!hmi_run_give(run, p->t, run->shown, HM_FRAME_REASON_EVENT))
            run->interrupted = true;
    }
    return HM_OK;
}

/* A row at the moment of an impact shows the state after it: it is given with the next step. */
static bool comes_after(const hmi_run *run, double t, double slack)
{
    const hmi_crossing *crossing = &run->events.crossing;
    if (!run->crossed || t < run->reached - slack || run->reached >= run->options.end - slack)
        return false;
    for (size_t i = 0; i < crossing->count; i++)
        if (hmi_events_contact(&run->events, crossing->which[i]))
            return true;
    return false;
}

/* An output time that rounding puts beyond the end is the end; an event that is the output time but
 * for rounding comes after its row, one that is a little earlier before it. */
bool hmi_run_give_outputs(hmi_run *run)
{
    double slack = run->reached >= run->options.end
                       ? 1e-9 * run->options.every
                       : 1e-13 * fmax(run->options.every, fabs(run->reached));
    for (double t = hmi_run_output_time(run);
         t <= run->reached + slack && t <= run->options.end + slack; t = hmi_run_output_time(run)) {
        double at = fmin(t, run->reached);
        if (comes_after(run, t, slack))
            return true;
        if (hmi_run_give_passed(run, at - slack) != HM_OK)
            return true; /* no memory: hmi_run_finish_step says so */
        if (run->interrupted)
            return false;
        run->recorder.outputs++;
        if (run->options.on_frame) {
            hmi_run_show(run, at);
            if (!hmi_run_give(run, at, run->shown, HM_FRAME_REASON_OUTPUT))
                return false;
        }
    }
    return true;
}

bool hmi_run_give_end(hmi_run *run)
{
    double last = run->options.start + (double)(run->recorder.outputs - 1) * run->options.every;
    if (run->recorder.outputs > 0 && fabs(last - run->s.t) <= 1e-9 * run->options.every)
        return true;
    return hmi_run_give(run, run->s.t, run->s.y, HM_FRAME_REASON_END);
}
