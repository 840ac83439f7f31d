/* Whole runs, and the step-wise API: loops over the steps of step.c. */
#include "base/argument.h"
#include "integrate/run/run.h"

#include "base/clock.h"

#include <math.h>
#include <string.h>

/* ---- a whole run ---- */

static bool tell_progress(hmi_run *run)
{
    double span = run->options.end - run->s.t_begin;
    if (!run->options.on_progress)
        return true;
    run->sim->in_callback = true;
    bool wanted = run->options.on_progress(run->options.user, run->s.t,
                                           span > 0 ? (run->s.t - run->s.t_begin) / span : 1);
    run->sim->in_callback = false;
    return wanted && !run->sim->doomed;
}

static hm_status go(hmi_run *run)
{
    hm_status status = run->failed_start;
    bool wanted = hmi_run_give_outputs(run);
    while (wanted && !run->stopped && status == HM_OK && run->s.t < run->options.end) {
        status = hmi_run_watch_limits(run);
        if (status == HM_OK)
            status = hmi_run_step(run, run->options.end);
        if (status == HM_OK)
            wanted = hmi_run_give_outputs(run);
        if (status == HM_OK)
            status = hmi_run_finish_step(run);
        wanted = wanted && !run->interrupted && tell_progress(run);
    }
    if (!wanted)
        run->recorder.messages.status = HM_RUN_INTERRUPTED;
    else if (!hmi_run_give_end(run) && status == HM_OK)
        run->recorder.messages.status = HM_RUN_INTERRUPTED;
    return status;
}

static void conclude(hmi_run *run, hm_status status)
{
    run->wall_s = hmi_wall_clock() - run->wall_start;
    if (status != HM_OK && run->recorder.messages.status == HM_RUN_OK)
        hmi_messages_fail(&run->recorder.messages, "stopped at t = %.12g: %s", run->s.t,
                          hm_status_text(status));
    if (run->recorder.messages.status == HM_RUN_INTERRUPTED &&
        run->recorder.messages.text.length == 0)
        hmi_text_addf(&run->recorder.messages.text, "interrupted at t = %.12g", run->s.t);
}

/* A callback destroyed the sim: there is nothing left to tell about. */
static hm_status bury(hm_sim *sim)
{
    hm_sim_destroy(sim);
    return HM_ERR_USAGE;
}

hm_status hm_sim_run(hm_sim *sim, const hm_run_options *options, hm_run_result *result)
{
    HMI_ARGUMENT(sim ? sim->context : NULL, sim && !sim->in_callback && (result),
                 "a place for the result is needed; no call from a callback of the sim");
    hmi_run *run = NULL;
    *result = (hm_run_result){
        .status = HM_RUN_FAILED, .message = "", .method = "", .formulation = "", .drift = ""};
    hm_status status = hmi_run_start(sim, options, &run);
    if (status != HM_OK)
        return status;
    status = go(run);
    conclude(run, status);
    hmi_run_leave(run);
    if (sim->doomed)
        return bury(sim);
    (void)!hm_sim_result(sim, result);
    return status;
}

/* ---- step by step ---- */

hm_status hm_sim_start(hm_sim *sim, const hm_run_options *options)
{
    HMI_ARGUMENT(sim ? sim->context : NULL, sim && !sim->in_callback,
                 "a sim is needed; no call from a callback of the sim");
    hmi_run *run;
    hm_status status = hmi_run_start(sim, options, &run);
    if (status == HM_OK)
        hmi_run_leave(run);
    return status;
}

static const char not_started[] = "hm_sim_start, or a run, has to come first";

static bool ready(const hm_sim *sim)
{
    const hmi_run *run = hmi_run_of(sim);
    return run && run->s.ode && run->s.method;
}

hm_status hm_sim_step(hm_sim *sim)
{
    HMI_ARGUMENT(sim ? sim->context : NULL, sim && !sim->in_callback,
                 "a sim is needed; no call from a callback of the sim");
    HMI_ARGUMENT(sim->context, ready(sim), not_started);
    return hm_sim_advance(sim, INFINITY);
}

/* Steps to t, or one step where t is infinite. */
static hm_status advance(hmi_run *run, double t)
{
    hm_status status = run->failed_start;
    bool one = isinf(t);
    double limit = one ? 1e300 : t;
    while (status == HM_OK && run->s.t < limit && !run->sim->doomed) {
        status = hmi_run_step(run, limit);
        if (status == HM_OK)
            status = hmi_run_finish_step(run);
        if (one)
            break;
    }
    return status;
}

hm_status hm_sim_advance(hm_sim *sim, double t)
{
    HMI_ARGUMENT(sim ? sim->context : NULL, sim && !sim->in_callback && (!isnan(t)),
                 "a time is needed; no call from a callback of the sim");
    hmi_run *run = hmi_run_of(sim);
    HMI_ARGUMENT(sim->context, ready(sim), not_started);
    HMI_ARGUMENT(sim->context, !(t < run->s.t), "the time lies before that of the sim");
    if (run->model->inputs.count || !sim->tapes.prepared) /* the program may have set something */
        run->s.f_valid = false;
    hmi_run_enter(run);
    hm_status status = advance(run, t);
    hmi_run_leave(run);
    return sim->doomed ? bury(sim) : status;
}

hm_status hm_sim_interpolate(hm_sim *sim, double t, double *q, double *v, double *z)
{
    HMI_ARGUMENT(sim ? sim->context : NULL, sim && !sim->in_callback && (!isnan(t)),
                 "a time is needed; no call from a callback of the sim");
    hmi_run *run = hmi_run_of(sim);
    HMI_ARGUMENT(sim->context, ready(sim), not_started);
    const double *y = run->shown;
    size_t n = run->ode.n;
    hmi_run_enter(run);
    hmi_run_show(run, fmax(run->s.t_old, fmin(run->s.t, t)));
    hmi_run_leave(run);
    if (q)
        memcpy(q, y, n * sizeof *q);
    if (v)
        memcpy(v, y + n, n * sizeof *v);
    if (z && run->ode.states)
        memcpy(z, y + 2 * n, run->ode.states * sizeof *z);
    return HM_OK;
}

void hm_sim_state(const hm_sim *sim, double *q, double *v, double *z)
{
    if (!sim)
        return;
    size_t n = sim->system->derived.n;
    if (q)
        memcpy(q, sim->state.q, n * sizeof *q);
    if (v)
        memcpy(v, sim->state.v, n * sizeof *v);
    if (z && sim->system->model->states.count)
        memcpy(z, sim->state.z, sim->system->model->states.count * sizeof *z);
}

hm_status hm_sim_frame(hm_sim *sim, unsigned content, hm_frame *frame)
{
    HMI_ARGUMENT(
        sim ? sim->context : NULL,
        sim && !sim->in_callback && (frame && !(content & ~(unsigned)HM_FRAME_CONTENT_ALL)),
        "a frame and a content that exists are needed; no call from a callback of the sim");
    hmi_run *run = hmi_run_of(sim);
    HMI_ARGUMENT(sim->context, ready(sim), not_started);
    hmi_run_enter(run);
    hm_status status = hmi_run_frame(run, run->s.t, run->s.y, content, frame);
    hmi_run_leave(run);
    return status;
}

static const char *formulation_used(const hmi_run *run)
{
    if (run->ode.dirac)
        return hm_formulation_name(HM_FORMULATION_DIRAC);
    return run->recorder.formulation ? run->recorder.formulation : "";
}

/* What the recorder knows. */
static void add_record(const hmi_run *run, hm_run_result *result)
{
    const hmi_recorder *r = &run->recorder;
    hm_run_status status = r->messages.status;
    result->status = status == HM_RUN_OK && run->stopped ? HM_RUN_EVENT : status;
    result->message = hmi_text_view(&r->messages.text);
    result->warnings = r->messages.warnings;
    result->warning_count = r->messages.warning_count;
    result->constraints = run->residuals.count;
    result->position_violation = r->violations.position;
    result->velocity_violation = r->violations.velocity;
    result->violation = r->violations.largest;
    result->has_total = r->energy.known;
    result->energy_initial = r->energy.start;
    result->energy_final = r->energy.now;
    result->balance_error = r->energy.error;
    result->work = hmi_ledger_view(&r->ledger, run->s.y + run->ode.size, r->energy.by_resets,
                                   r->energy.by_impacts);
    result->impacts = run->contact.impacts.data;
    result->impact_count = run->contact.impacts.count;
    result->impacts_dropped = run->contact.impacts_dropped;
    result->accumulations = run->contact.accumulations.data;
    result->accumulation_count = run->contact.accumulations.count;
    result->events = r->events.data;
    result->event_count = r->events.count;
    result->events_dropped = r->events_dropped;
}

hm_status hm_sim_result(const hm_sim *sim, hm_run_result *result)
{
    HMI_ARGUMENT(sim ? sim->context : NULL, sim && result, "a place for the result is needed");
    const hmi_run *run = hmi_run_of(sim);
    HMI_ARGUMENT(sim->context, ready(sim), not_started);
    *result = (hm_run_result){
        .method = hmi_guard_method(&run->guard)->name,
        .formulation = formulation_used(run),
        .drift = run->options.drift,
        .rtol = run->s.rtol,
        .atol = run->s.atol,
        .t_start = run->s.t_begin,
        .t_end = run->s.t,
        .q = sim->state.q,
        .v = sim->state.v,
        .z = sim->state.z,
        .steps = run->s.steps,
        .rejected = run->s.rejected,
        .evaluations = run->ode.evaluations,
        .projections = run->projection.count,
        .wall_s = run->wall_s,
        .stiff = run->s.stiff,
        .moved = run->start.moved.data,
        .moved_count = run->start.moved.count,
    };
    add_record(run, result);
    return HM_OK;
}
