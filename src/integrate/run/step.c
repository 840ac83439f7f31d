/* One step: by the method, with all that it leaves to the run. The header says what comes when. */
#include "integrate/run/run.h"

#include <stdio.h>
#include <string.h>

#include "integrate/ode/width_one.h"

/* ---- the end of a step ---- */

/* How far drift control may move the end of a step, in tolerances. The error of a fixed step has
 * nothing to do with these; it is a small part of the step. */
static double most_moved(const hmi_run *run)
{
    const hmi_stepper *s = &run->s;
    double tolerances = 1 / sqrt(s->rtol);
    if (!s->method->fixed_step)
        return tolerances;
    double *step = run->before;
    for (size_t i = 0; i < s->size; i++)
        step[i] = s->y[i] - s->y_old[i];
    return fmax(tolerances, 0.05 * hmi_scaled_norm(s, step, s->y, s->y_old));
}

/* What methods leave to the run: drift control, and works. */
static hm_status complete_step(hmi_run *run)
{
    hmi_stepper *s = &run->s;
    size_t size = s->size;
    if (s->settle && !s->settled && !s->method->keeps_constraints) {
        double moved = 0;
        hm_status status = s->settle(s, s->t, s->y, &moved);
        s->f_valid = s->f_valid && moved <= HMI_MOVED;
        if (status == HM_OK && moved > most_moved(run)) /* to where the motion does not lead */
            status = HM_ERR_INCONSISTENT;
        if (status != HM_OK) {
            s->trouble = "no state nearby satisfies the constraints";
            return status;
        }
    }
    if (s->works && !s->method->carries_work) {
        memcpy(s->y + size, s->y_old + size, s->works * sizeof *s->y);
        hmi_ledger_integrate(&run->recorder.ledger, s, s->y + size);
    }
    return HM_OK;
}

/* ---- changes of the method, the rows and the pace ---- */

static void change_to_stiff_method(hmi_run *run)
{
    const char *why;
    const hmi_method *radau = &hmi_method_radau;
    hmi_messages_warn(&run->recorder.messages, "the problem is stiff from t = %.6g on", run->s.t);
    if (hmi_method_applies(radau, &run->ode, &why) != HM_OK) {
        run->automatic = false; /* once is enough */
        return;
    }
    void *memory = hmi_arena_alloc(&run->arena, radau->memory_size(radau, &run->ode));
    const char *before = run->s.method->name; /* an explicit one: nothing to finish */
    if (!memory)
        return;
    run->automatic = false;
    run->s.method = radau;
    run->s.memory = memory;
    run->s.f_valid = false;
    (void)!hmi_guard_prepare_fallback(&run->guard); /* no memory: no fallback */
    if (radau->start(&run->s) == HM_OK)
        hmi_messages_warn(&run->recorder.messages, "method auto switched from %s to radau", before);
}

/* Other rows are left out: a tape and a watch of their own. */
static hm_status change_rows(hmi_run *run)
{
    const hmi_point at = hmi_stepper_point(&run->s);
    hm_status status = hmi_run_compile_motion(run, &at);
    run->sim->motion.used = run->motion;
    run->sim->last.by_motion = false;
    hmi_guard_forget(&run->guard, true);
    run->s.f_valid = false;
    return status;
}

/* Steps that shrink without end at a place where the equations are not Lipschitz (friction along
 * v/|v| as |v| goes to zero) never underflow and never arrive: a run that at its present pace would
 * need more than HMI_MOST_STEPS_LEFT steps is ended, not left to hang. */
static hm_status watch_pace(hmi_run *run)
{
    hmi_stepper *s = &run->s;
    long steps = s->steps - run->pace.steps;
    if (s->method->fixed_step || (steps >= 0 && steps < HMI_PACE_STEPS))
        return HM_OK;
    double advanced = s->t - run->pace.t;
    bool crawling = steps > 0 && crawls(run->options.end - s->t, (double)steps, advanced);
    run->pace.t = s->t;
    run->pace.steps = s->steps;
    if (!crawling)
        return HM_OK;
    s->trouble = "the steps became so small that the run would never end: the equations are not "
                 "smooth here (a division by something that goes to zero?)";
    return HM_ERR_NUMERIC;
}

/* ---- failures in words ---- */

/* The component of y that grows fastest relative to its size, as a name; NULL where none is large. */
static const char *fastest(const hmi_run *run, char *text, size_t size)
{
    const hmi_stepper *s = &run->s;
    size_t n = run->ode.n, worst = 0;
    double most = -1;
    for (size_t i = 0; i < s->size && s->f_valid; i++) {
        double rate = fabs(s->f[i]) / (1e-300 + fabs(s->y[i]));
        if (fabs(s->y[i]) > 1e6 && rate > most) {
            most = rate;
            worst = i;
        }
    }
    if (most < 0)
        return NULL;
    const char *name = worst < 2 * n ? run->model->coords.data[worst % n].name
                                     : run->model->states.data[worst - 2 * n].name;
    hmi_snprintf(text, size, "%s%s = %.6g", name, worst >= n && worst < 2 * n ? "'" : "",
                 s->y[worst]);
    return text;
}

/* Fails with what the method says of its last attempt, or with what grows. */
static void explain(hmi_run *run, hm_status status)
{
    char text[256];
    hmi_messages *messages = &run->recorder.messages;
    const char *trouble = run->s.trouble ? run->s.trouble : "no further step can be taken";
    const char *what = status == HM_ERR_NUMERIC ? fastest(run, text, sizeof text) : NULL;
    double t = run->s.t;
    const hmi_contacts *contacts = run->sim->contacts;
    if (contacts && contacts->trouble)
        hmi_messages_fail(messages, "stopped at t = %.12g: %s (%s)", t, contacts->trouble,
                          hmi_contacts_names(contacts));
    else if (hmi_events_accumulate(&run->events))
        hmi_messages_fail(messages, "stopped at t = %.12g: events repeat ever faster (Zeno)", t);
    else if (what)
        hmi_messages_fail(messages, "stopped at t = %.12g: the motion grows without bound: %s", t,
                          what);
    else if (status == HM_ERR_NUMERIC)
        hmi_messages_fail(messages, "stopped at t = %.12g: %s", t, trouble);
    else
        hmi_messages_fail(messages, "stopped at t = %.12g: %s; %s", t, trouble,
                          hm_status_text(status));
}

/* ---- a step ---- */

/* By the method, and what it leaves to the run. */
static hm_status try_step(hmi_run *run, double t_limit)
{
    run->s.settled = false;
    hm_status status = run->s.method->step(&run->s, t_limit);
    return status == HM_OK ? complete_step(run) : status;
}

/* By the method, else by its fallback, else across a place where q'' has no exact answer. */
static hm_status make_step(hmi_run *run, double t_limit)
{
    hmi_guard *guard = &run->guard;
    double t = run->s.t;
    hm_status status = try_step(run, t_limit);
    if (status != HM_OK && hmi_guard_fall_back(guard, t))
        status = try_step(run, t_limit);
    if ((status == HM_ERR_INCONSISTENT || status == HM_ERR_UNDETERMINED) && run->s.t == t &&
        !run->ode.forgiving && !run->sim->contacts) {
        status = hmi_guard_begin_forgiving(guard);
        if (status == HM_OK)
            status = try_step(run, t_limit);
    }
    return status;
}

/* What the guard has to say of the step. `forgiven`: ode.forgiven before it. */
static hm_status watch_constraints(hmi_run *run, long forgiven)
{
    hm_status status = hmi_guard_watch_forgiving(&run->guard, forgiven);
    if (status == HM_OK && hmi_guard_watch_rows(&run->guard))
        status = change_rows(run);
    if (status == HM_OK && run->ode.kept && !run->sim->contacts)
        status = hmi_guard_watch_rank(&run->guard);
    return status;
}

static hm_status look_for_crossing(hmi_run *run)
{
    hmi_stepper *s = &run->s;
    hm_status status = hmi_events_find(&run->events, &run->crossed);
    run->passed = 0;
    if (run->crossed)
        run->reached = run->events.crossing.t;
    if (status == HM_ERR_NUMERIC) {
        s->trouble = run->events.trouble;
        explain(run, status);
        hmi_ode_store(&run->ode, s->t, s->y);
    }
    return status;
}

hm_status hmi_run_step(hmi_run *run, double t_limit)
{
    hmi_stepper *s = &run->s;
    long forgiven = run->ode.forgiven;
    run->crossed = false;
    if (hmi_run_flies(run, t_limit))
        return hmi_run_fly(run, t_limit);
    if (run->contact.contacts)
        hmi_contact_turn(&run->contact);
    if (run->contact.steady)
        (void)!hmi_events_watch_conditions(&run->events); /* the step says what is wrong */
    if (run->events.switches.switches)
        t_limit = hmi_events_next_time(&run->events, t_limit);
    double before = s->t;
    hm_status status = hmi_locations_check(&run->events);
    if (status == HM_OK)
        status = run->restart ? s->method->start(s) : hmi_guard_change_method(&run->guard);
    run->restart = false;
    if (status == HM_OK)
        status = make_step(run, t_limit);
    if (status == HM_OK)
        status = hmi_run_watch_time(run, before);
    if (status == HM_OK)
        status = watch_constraints(run, forgiven);
    if (status == HM_OK)
        status = watch_pace(run);
    run->reached = s->t;
    if (status != HM_OK) {
        explain(run, status);
        hmi_ode_store(&run->ode, s->t, s->y);
        return status;
    }
    return run->events.switches.count ? look_for_crossing(run) : HM_OK;
}

hm_status hmi_run_finish_step(hmi_run *run)
{
    hmi_acceleration_drift *drift = &run->recorder.acceleration_drift;
    hm_status status = hmi_run_give_passed(run, run->reached);
    hmi_acceleration_drift_follow(drift, &run->s, run->reached);
    if (status == HM_OK && run->crossed)
        status = hmi_run_act(run);
    hmi_ode_store(&run->ode, run->s.t, run->s.y);
    if (run->crossed)
        hmi_acceleration_drift_start(drift, hmi_sim_present(run->sim));
    run->crossed = false;
    hmi_recorder_observe(&run->recorder);
    if (status == HM_OK && run->s.stiff && run->automatic)
        change_to_stiff_method(run);
    return status;
}
