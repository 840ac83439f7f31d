/* The start of a run: a consistent state, the method, the first step; and another start. */
#include "dynamics/sim/evaluation.h"
#include "integrate/run/run.h"

#include "base/clock.h"
#include "integrate/ode/degenerate.h"
#include "integrate/taylor/taylor.h"

#include <math.h>
#include <string.h>

/* ---- the state to start from ---- */

/* Degenerate Lagrangians: q' may be determined where q'' is not. HM_OK: it is. */
static hm_status try_dirac(hmi_run *run)
{
    const char *why = NULL;
    hm_sim *sim = run->sim;
    double t = sim->state.at.t;
    if (!sim->dense.dynamics ||
        hmi_sim_accelerate(sim, hmi_sim_present(sim), NULL) != HM_ERR_UNDETERMINED)
        return HM_ERR_USAGE;
    hmi_ode_load(&run->ode, run->shown);
    hm_status status = hmi_ode_try_dirac(&run->ode, t, run->shown, &why);
    if (status != HM_OK) {
        if (why)
            hmi_note(sim->context, hmi_no_span, NULL, "by the Dirac form: %s", why);
        return status;
    }
    status = hmi_ode_settle(&run->ode, t, run->shown);
    if (status == HM_OK)
        hmi_ode_store(&run->ode, t, run->shown);
    return status;
}

/* No or several forces of contacts at the start: the run fails there, with its first row. */
static bool is_contact_trouble(const hmi_run *run)
{
    hmi_contacts *c = run->sim->contacts;
    return c && hmi_contacts_evaluate(c, hmi_sim_present(run->sim)) != HM_OK &&
           (c->solutions != 1 || c->trouble);
}

/* Where some u/|u| has no value at the start (rest) the sim alone cannot say; the modes do, in begin. */
hm_status hmi_run_check_motion(hmi_run *run)
{
    if (run->events.switches.held.directions &&
        hmi_directions_rest(&run->events.switches, hmi_sim_present(run->sim)))
        return HM_OK;
    if (is_contact_trouble(run))
        return HM_OK;
    hm_evaluation at;
    const hm_evaluate_options options = {.formulation = run->options.formulation};
    hm_status status = try_dirac(run);
    if (status == HM_OK)
        run->recorder.formulation = hm_formulation_name(HM_FORMULATION_DIRAC);
    if (status == HM_OK || status == HM_ERR_NOMEM)
        return status;
    status = hmi_sim_evaluate_quickly(run->sim, &options, &at);
    run->recorder.formulation = at.formulation;
    return status == HM_OK && at.rows_vanish ? hmi_sim_refuse_vanished(run->sim, &at) : status;
}

/* ---- the method ---- */

/* Where Taylor series win over DOP853 (bench/bench_taylor.c). Their cost hardly depends on the tolerance,
 * that of DOP853 does; without momenta they meet the later the longer the tape is. With the default
 * tolerances it is DOP853. */
static bool series_pay(const hmi_run *run)
{
    enum { SHORT_TAPE = 30, LONG_TAPE = 300, MOST_INSTRUCTIONS = 20000 };
    size_t instructions = run->sim->tapes.dynamics->body.count;
    double tight = instructions <= SHORT_TAPE ? 5e-10 : 1e-10;
    if (instructions > LONG_TAPE && !hmi_taylor_has_momenta(&run->ode))
        tight = 1e-13;
    return instructions <= MOST_INSTRUCTIONS && run->options.rtol <= tight &&
           run->options.atol <= fmax(tight, 1e-10);
}

static const hmi_method *automatic_method(const hmi_run *run)
{
    const char *why = NULL;
    bool series = !run->sim->contacts && series_pay(run) &&
                  hmi_method_taylor.applies(&run->ode, &why) == HM_OK;
    return series ? &hmi_method_taylor : &hmi_method_dop853;
}

static hm_status choose_method(hmi_run *run)
{
    const char *why = NULL;
    run->automatic = strcmp(run->options.method, "auto") == 0;
    run->s.method = run->automatic ? automatic_method(run) : hmi_method_find(run->options.method);
    if (!run->s.method)
        return hmi_run_refuse(run, "method '%s' is not available in this build",
                              run->options.method);
    if (hmi_method_applies(run->s.method, &run->ode, &why) != HM_OK) {
        hmi_error(run->sim->context, hmi_no_span, NULL, "method '%s' does not apply: %s",
                  run->s.method->name, why ? why : "");
        return HM_ERR_USAGE;
    }
    if (run->s.method->fixed_step && !(run->options.step > 0))
        return hmi_run_refuse(run, "method '%s' needs a step: --step H, or `step H` in `simulate`",
                              run->s.method->name);
    hm_status status = hmi_run_check_pace(run);
    if (status != HM_OK)
        return status;
    run->s.memory = hmi_arena_alloc(&run->arena,
                                    run->s.method->memory_size(run->s.method, &run->ode));
    return run->s.memory ? hmi_guard_prepare_fallback(&run->guard) : HM_ERR_NOMEM;
}

static hm_status settle_step(hmi_stepper *s, double t, double *y, double *moved)
{
    hmi_run *run = s->owner;
    double *before = run->before;
    memcpy(before, y, s->size * sizeof *y);
    hmi_guard_renew_rows(&run->guard, t, y);
    hm_status status = hmi_settle(&run->projection, t, y);
    if (status != HM_OK)
        return status;
    if (run->contact.contacts)
        hmi_contact_rest(&run->contact, t, y);
    for (size_t i = 0; i < s->size; i++)
        before[i] -= y[i];
    *moved = hmi_scaled_norm(s, before, y, y);
    if (run->ode.dirac) /* velocities are not integrated but found: no error */
        *moved = fmin(*moved, 2 * HMI_MOVED);
    return HM_OK;
}

static void tangent_error(hmi_stepper *s, double t, const double *y, double *e)
{
    hmi_run *run = s->owner;
    if (run->ode.kept)
        hmi_project_error(&run->projection, t, y, e);
}

/* ---- start ---- */

/* The largest of what the state is, of what it was before it was made consistent (exp(x) = 1 makes a
 * zero of it, up to rounding errors), and of what it may become by the rates at the start. */
static double largest_value(const hmi_run *run)
{
    const hm_sim *sim = run->sim;
    double time = fabs(run->options.end - run->options.start), largest = 0;
    for (size_t i = 0; i < run->ode.n; i++) {
        double qdd = run->ode.dirac || !isfinite(sim->last.qdd[i]) ? 0 : fabs(sim->last.qdd[i]);
        largest = fmax(largest, fmax(fabs(sim->state.q[i]), fabs(sim->state.v[i])));
        largest = fmax(largest, time * fmax(fabs(sim->state.v[i]), qdd));
    }
    for (size_t i = 0; i < run->ode.states; i++)
        largest = fmax(largest, fabs(sim->state.z[i]));
    for (size_t i = 0; i < run->start.moved.count; i++)
        largest = fmax(largest, fabs(run->start.moved.data[i].from));
    return largest;
}

/* Unless one is given: it shall not hide the motion where lengths of nanometres are written in metres.
 * A power of ten, to be read. */
static double absolute_tolerance(const hmi_run *run)
{
    double given = run->options.atol, size = largest_value(run);
    if (run->model->simulate.atol > 0 || given != HMI_DEFAULT_ATOL || !(size > 0) || size >= 1e-3)
        return given;
    return given * pow(10, floor(log10(size / 1e-3)));
}

static void connect(hmi_run *run)
{
    run->ode.ledger = run->recorder.ledger.count ? &run->recorder.ledger : NULL;
    run->ode.series = &run->series;
    if (run->drift == HMI_DRIFT_BAUMGARTE) {
        run->ode.residuals = &run->residuals;
        memcpy(run->ode.baumgarte, run->options.drift_gain, sizeof run->ode.baumgarte);
    }
    run->s.ode = &run->ode;
    run->s.size = run->ode.size;
    run->s.works = run->recorder.ledger.count;
    run->s.rtol = run->options.rtol;
    run->s.atol = absolute_tolerance(run);
    run->s.step = run->options.step;
    run->s.largest = run->options.largest_step;
    run->s.singular = INFINITY;
    run->s.t = run->sim->state.at.t;
    run->events.span = run->options.end - run->options.start;
    run->s.owner = run;
    run->s.tangent = tangent_error;
    if ((run->ode.kept && run->projection.velocity.count) || run->ode.dirac)
        run->s.settle = settle_step;
}

/* Why the first step cannot be prepared, where nobody has said so yet. */
static void explain_start(const hmi_run *run, hm_status status, size_t errors)
{
    hm_context *context = run->sim->context;
    if (status == HM_OK || status == HM_ERR_NOMEM || context->errors > errors)
        return;
    hmi_error(context, hmi_no_span, NULL, "method '%s' cannot start here: %s", run->s.method->name,
              run->s.trouble ? run->s.trouble : hm_status_text(status));
}

/* Contacts at the start: an impact there belongs to the run. */
static hm_status begin_contacts(hmi_run *run)
{
    bool jumped = false;
    hmi_contact_run *contact = &run->contact;
    contact->span = run->options.end - run->options.start;
    run->s.t_begin = run->s.t_old = run->s.t;
    hmi_recorder_start(&run->recorder);
    hmi_contact_forget(contact);
    hm_status status = hmi_events_settle_contacts(&run->events, &jumped);
    run->recorder.energy.by_impacts = contact->by_impacts;
    if (status == HM_OK && jumped)
        status = hmi_events_find_sides(&run->events, true);
    run->failed_start = run->recorder.messages.status == HM_RUN_FAILED ? status : HM_OK;
    return status;
}

/* The run has begun, and ends with its first row. */
static hm_status fail_at_start(hmi_run *run)
{
    run->recorder.formulation = "";
    hmi_ode_store(&run->ode, run->s.t, run->s.y);
    run->s.t_begin = run->reached = run->pace.t = run->s.t;
    return HM_OK;
}

/* The method and the recorder begin at the sim's state. */
static hm_status begin(hmi_run *run)
{
    size_t errors = run->sim->context->errors;
    hmi_run_enter(run);
    hmi_ode_load(&run->ode, run->s.y);
    hm_status status = run->events.switches.count ? hmi_events_begin(&run->events) : HM_OK;
    bool told = run->contact.contacts &&
                run->contact.contacts->trouble; /* contacts say it better */
    if ((status == HM_OK || told) && run->contact.contacts)
        status = begin_contacts(run);
    if (run->failed_start != HM_OK)
        return fail_at_start(run);
    if (status == HM_OK && !run->recorder.formulation)
        status = hmi_ode_forces(&run->ode, run->s.t, run->s.y, &run->recorder.solution);
    if (status == HM_OK && !run->recorder.formulation)
        run->recorder.formulation = hm_formulation_name(run->recorder.solution.formulation);
    if (status == HM_OK)
        status = run->s.method->start(&run->s);
    explain_start(run, status, errors);
    hmi_ode_store(&run->ode, run->s.t, run->s.y);
    run->s.t_begin = run->reached = run->pace.t = run->s.t;
    if (!run->contact.contacts)
        hmi_recorder_start(&run->recorder);
    return status;
}

hm_status hmi_run_start(hm_sim *sim, const hm_run_options *options, hmi_run **out)
{
    hmi_run *run = NULL;
    hm_status status = hmi_run_create(sim, options, &run);
    if (!run)
        return status;
    *out = run;
    run->wall_start = hmi_wall_clock();
    sim->state.at.t = run->options.start;
    if (status == HM_OK && !run->options.keep_initial)
        status = hmi_start_state_find(&run->start, false);
    if (status == HM_OK)
        status = hmi_run_check_motion(run);
    if (status == HM_OK)
        status = choose_method(run);
    if (status != HM_OK)
        return status;
    connect(run);
    if (!run->options.keep_initial)
        status = hmi_guard_choose_rows(&run->guard);
    if (status == HM_OK)
        status = hmi_run_compile_motion(run, hmi_sim_present(sim));
    return status == HM_OK ? begin(run) : status;
}

/* ---- another start: what ensembles do thousands of times ---- */

static void forget(hmi_run *run)
{
    hmi_stepper *s = &run->s;
    hmi_recorder_forget(&run->recorder);
    memset(s->y, 0, (s->size + HMI_MOST_WORKS) * sizeof *s->y);
    s->work_scale = 0;
    s->steps = s->rejected = run->ode.evaluations = 0;
    s->f_valid = s->stiff = false;
    s->least = NULL;
}

hm_status hmi_run_restart(hmi_run *run)
{
    hmi_run_enter(run);
    forget(run);
    run->s.t = run->sim->state.at.t = run->options.start;
    hm_status status = run->options.keep_initial ? HM_OK : hmi_start_state_move(&run->start, false);
    if (status == HM_OK)
        status = begin(run);
    if (status == HM_OK && !(*run->motion->margin > 0))
        status = HM_ERR_UNDETERMINED;
    return status;
}
