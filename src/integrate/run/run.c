/* Steps, whole runs, and the step-wise API. See driver.h. */
#include "integrate/run/driver.h"
#include "integrate/ode/degenerate.h"

#include <math.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "integrate/ode/width_one.h"

static double wall_clock(void)
{
    struct timespec now;
    return clock_gettime(CLOCK_MONOTONIC, &now) == 0
               ? (double)now.tv_sec + 1e-9 * (double)now.tv_nsec
               : 0;
}

/* ---- one step ---- */

hm_status hmi_driver_settle(hmi_driver *d, double t, double *y)
{
    hm_status status = HM_OK;
    if (d->drift == HMI_DRIFT_PROJECT)
        status = hmi_project(&d->projection, t, y);
    if (status == HM_OK && d->ode.dirac)
        status = hmi_ode_settle(&d->ode, t, y);
    return status;
}

/* How far drift control may move the end of a step, in tolerances. The error of a fixed step has
 * nothing to do with these; it is a small part of the step. */
static double most_moved(const hmi_driver *d)
{
    const hmi_stepper *s = &d->s;
    double tolerances = 1 / sqrt(s->rtol);
    if (!d->method->fixed_step)
        return tolerances;
    for (size_t i = 0; i < s->size; i++)
        d->y[i] = s->y[i] - s->y_old[i];
    return fmax(tolerances, 0.05 * hmi_scaled_norm(s, d->y, s->y, s->y_old));
}

/* What methods leave to the driver. */
static hm_status complete_step(hmi_driver *d)
{
    hmi_stepper *s = &d->s;
    size_t size = s->size;
    if (s->settle && !s->settled && !d->method->keeps_constraints) {
        double moved = 0;
        hm_status status = s->settle(s, s->t, s->y, &moved);
        s->f_valid = s->f_valid && moved <= HMI_MOVED;
        if (status == HM_OK && moved > most_moved(d)) /* to where the motion does not lead */
            status = HM_ERR_INCONSISTENT;
        if (status != HM_OK) {
            s->trouble = "no state nearby satisfies the constraints";
            return status;
        }
    }
    if (s->works && !d->method->carries_work) {
        memcpy(s->y + size, s->y_old + size, s->works * sizeof *s->y);
        hmi_ledger_integrate(&d->ledger, d->method, s, d->y, s->y + size);
    }
    return HM_OK;
}

static void change_to_stiff_method(hmi_driver *d)
{
    const char *why;
    const hmi_method *radau = &hmi_method_radau;
    hmi_driver_warn(d, "the problem is stiff from t = %.6g on", d->s.t);
    if (hmi_method_applies(radau, &d->ode, &why) != HM_OK)
        return;
    void *memory = hmi_arena_alloc(&d->arena, radau->memory_size(radau, &d->ode));
    const char *before = d->method->name; /* an explicit one: nothing to finish */
    if (!memory)
        return;
    d->automatic = false;
    d->s.method = d->method = radau;
    d->s.memory = memory;
    d->s.f_valid = false;
    (void)!hmi_guest_init(d); /* no memory: no guest */
    if (radau->start(&d->s) == HM_OK)
        hmi_driver_warn(d, "method auto switched from %s to radau", before);
}

/* ---- isolated rank drops ---- */

enum { MOST_CROSSING_STEPS = 50 };

/* Where constraints lose rank (a four-bar in its flat position) q'' has no exact answer for a
 * moment. The least-squares answer leads across as long as it is for a moment only: q'' stays
 * bounded and drift control brings the state back. */
static hm_status cross_rank_drop(hmi_driver *d, double t_limit)
{
    hmi_stepper *s = &d->s;
    hmi_driver_warn(
        d, "the constraints lose rank at t = %.9g: the motion is continued by least squares", s->t);
    d->ode.forgiving = true;
    d->crossing_steps = 1;
    s->f_valid = false;
    hm_status status = d->method->start(s);
    s->settled = false;
    if (status == HM_OK)
        status = d->method->step(s, t_limit);
    return status == HM_OK ? complete_step(d) : status;
}

/* Behind it again? Too long in it? */
static hm_status watch_rank(hmi_driver *d, long forgiven)
{
    if (d->crossing_steps == 0)
        return HM_OK;
    if (d->ode.forgiven == forgiven) {
        d->ode.forgiving = false;
        d->crossing_steps = 0;
    } else if (++d->crossing_steps > MOST_CROSSING_STEPS) {
        d->s.trouble = "the constraints lose rank and do not regain it";
        return HM_ERR_UNDETERMINED;
    }
    return HM_OK;
}

/* Steps that shrink without end at a place where the equations are not Lipschitz (friction along
 * v/|v| as |v| goes to zero) never underflow and never arrive: a run that at its present pace would
 * need more than HMI_MOST_STEPS_LEFT steps is ended, not left to hang. */
static hm_status watch_pace(hmi_driver *d)
{
    hmi_stepper *s = &d->s;
    long steps = s->steps - d->pace_steps;
    if (d->method->fixed_step || (steps >= 0 && steps < HMI_PACE_STEPS))
        return HM_OK;
    double advanced = s->t - d->pace_t;
    bool crawling = steps > 0 && crawls(d->options.end - s->t, (double)steps, advanced);
    d->pace_t = s->t;
    d->pace_steps = s->steps;
    if (!crawling)
        return HM_OK;
    s->trouble = "the steps became so small that the run would never end: the equations are not "
                 "smooth here (a division by something that goes to zero?)";
    return HM_ERR_NUMERIC;
}

/* Other rows are left out: a tape and a watch of their own. */
static hm_status change_rows(hmi_driver *d)
{
    const hmi_point at = hmi_driver_point(d);
    hm_status status = hmi_driver_compile_motion(d, &at);
    d->sim->motion.used = d->motion;
    d->sim->last.by_motion = false;
    d->rank.count = 0;
    hmi_driver_forget_rank(d);
    d->s.f_valid = false;
    return status;
}

/* A step by the method and what it leaves to the driver. */
static hm_status make_step(hmi_driver *d, double t_limit)
{
    double t = d->s.t;
    d->s.settled = false;
    hm_status status = d->method->step(&d->s, t_limit);
    if (status == HM_OK)
        status = complete_step(d);
    if (status != HM_OK && hmi_driver_call_guest(d, t)) {
        d->s.settled = false;
        status = d->method->step(&d->s, t_limit);
        if (status == HM_OK)
            status = complete_step(d);
    }
    return status;
}

hm_status hmi_driver_step(hmi_driver *d, double t_limit)
{
    hmi_stepper *s = &d->s;
    long forgiven = d->ode.forgiven;
    double t = s->t;
    d->crossed = false;
    hm_status status = d->restart ? d->method->start(s) : hmi_driver_change_guest(d);
    d->restart = false;
    if (status == HM_OK)
        status = make_step(d, t_limit);
    if ((status == HM_ERR_INCONSISTENT || status == HM_ERR_UNDETERMINED) && s->t == t &&
        !d->ode.forgiving)
        status = cross_rank_drop(d, t_limit);
    if (status == HM_OK)
        status = watch_rank(d, forgiven);
    if (status == HM_OK && hmi_driver_watch_rows(d))
        status = change_rows(d);
    if (status == HM_OK && d->drift == HMI_DRIFT_PROJECT)
        status = hmi_driver_watch_rank(d);
    if (status == HM_OK)
        status = watch_pace(d);
    if (status != HM_OK) {
        hmi_driver_explain(d, status);
        d->reached = s->t;
        hmi_ode_store(&d->ode, s->t, s->y);
        return status;
    }
    d->reached = s->t;
    if (d->switches.count && hmi_find_crossing(d)) {
        d->crossed = true;
        d->reached = d->crossing.t;
    }
    return HM_OK;
}

hm_status hmi_driver_finish(hmi_driver *d)
{
    hm_status status = HM_OK;
    hmi_integrals_follow(&d->integrals, d->method, &d->s, d->reached, d->y);
    if (d->crossed)
        status = hmi_act_on_crossing(d);
    hmi_ode_store(&d->ode, d->s.t, d->s.y);
    if (d->crossed)
        hmi_integrals_start(&d->integrals, hmi_sim_present(d->sim));
    d->crossed = false;
    hmi_driver_observe(d);
    if (status == HM_OK && d->s.stiff && d->automatic)
        change_to_stiff_method(d);
    return status;
}

/* ---- frames of a run ---- */

static double output_time(const hmi_driver *d)
{
    return d->options.start + (double)d->outputs * d->options.every;
}

/* More tolerances than that between the dense output and the constraints: not its error. */
#define MOST_SHIFT 1000

/* As near to the constraints as it comes; where they lose rank the projection goes astray. */
static void project_shown(hmi_driver *d, double t, double *y)
{
    const hmi_stepper *s = &d->s;
    double *plain = d->y;
    memcpy(plain, y, s->size * sizeof *y);
    hm_status status = hmi_project(&d->projection, t, y);
    for (size_t i = 0; i < s->size; i++)
        y[i] -= plain[i];
    bool astray = status == HM_ERR_NUMERIC || hmi_scaled_norm(s, y, plain, plain) > MOST_SHIFT;
    for (size_t i = 0; i < s->size; i++)
        y[i] = plain[i] + (astray ? 0 : y[i]);
}

/* The state of the last step at t, fit to be shown. */
static void state_at(hmi_driver *d, double t, double *y)
{
    hmi_stepper *s = &d->s;
    size_t width = s->size + s->works;
    if (t == s->t && !d->crossed) {
        memcpy(y, s->y, width * sizeof *y);
        return;
    }
    d->method->interpolate(s, t, y);
    if (!d->method->carries_work) {
        double part = s->t > s->t_old ? (t - s->t_old) / (s->t - s->t_old) : 1;
        for (size_t k = s->size; k < width; k++)
            y[k] = s->y_old[k] + part * (s->y[k] - s->y_old[k]);
    }
    if (d->drift == HMI_DRIFT_PROJECT)
        project_shown(d, t, y);
    (void)!hmi_ode_settle(&d->ode, t, y); /* no step says what velocities that are found would be */
}

/* An output time that rounding puts beyond the end is the end; an event that is the output time but
 * for rounding comes after its row, one that is a little earlier before it. */
bool hmi_driver_give_outputs(hmi_driver *d)
{
    double *y = d->y + d->ode.size + HMI_MOST_WORKS;
    double slack = d->reached >= d->options.end ? 1e-9 * d->options.every
                                                : 1e-13 * fmax(d->options.every, fabs(d->reached));
    for (double t = output_time(d); t <= d->reached + slack && t <= d->options.end + slack;
         t = output_time(d)) {
        double at = fmin(t, d->reached);
        d->outputs++;
        if (d->options.on_frame) {
            state_at(d, at, y);
            if (!hmi_driver_give(d, at, y, HM_FRAME_REASON_OUTPUT))
                return false;
        }
    }
    return true;
}

bool hmi_driver_give_end(hmi_driver *d)
{
    double last = d->options.start + (double)(d->outputs - 1) * d->options.every;
    if (d->outputs > 0 && fabs(last - d->s.t) <= 1e-9 * d->options.every)
        return true;
    return hmi_driver_give(d, d->s.t, d->s.y,
                           d->stopped ? HM_FRAME_REASON_EVENT : HM_FRAME_REASON_END);
}

/* ---- a whole run ---- */

static bool tell_progress(hmi_driver *d)
{
    double span = d->options.end - d->t_begin;
    return !d->options.on_progress ||
           d->options.on_progress(d->options.user, d->s.t,
                                  span > 0 ? (d->s.t - d->t_begin) / span : 1);
}

static hm_status go(hmi_driver *d)
{
    hm_status status = HM_OK;
    bool wanted = hmi_driver_give_outputs(d);
    while (wanted && !d->stopped && status == HM_OK && d->s.t < d->options.end) {
        if (d->options.most_steps && d->s.steps >= d->options.most_steps) {
            hmi_driver_fail(d, "stopped at t = %.12g after %ld steps", d->s.t, d->s.steps);
            return HM_ERR_LIMIT;
        }
        status = hmi_driver_step(d, d->options.end);
        if (status == HM_OK)
            wanted = hmi_driver_give_outputs(d);
        if (status == HM_OK)
            status = hmi_driver_finish(d);
        wanted = wanted && !d->interrupted && tell_progress(d);
    }
    if (!wanted)
        d->status = HM_RUN_INTERRUPTED;
    else if (!hmi_driver_give_end(d) && status == HM_OK)
        d->status = HM_RUN_INTERRUPTED;
    return status;
}

static void conclude(hmi_driver *d, hm_status status)
{
    d->wall_s = wall_clock() - d->wall_start;
    if (status != HM_OK && d->status == HM_RUN_OK)
        hmi_driver_fail(d, "stopped at t = %.12g: %s", d->s.t, hm_status_text(status));
    if (d->status == HM_RUN_INTERRUPTED && d->message.length == 0)
        hmi_text_addf(&d->message, "interrupted at t = %.12g", d->s.t);
}

hm_status hm_sim_run(hm_sim *sim, const hm_run_options *options, hm_run_result *result)
{
    hmi_driver *d = NULL;
    *result = (hm_run_result){
        .status = HM_RUN_FAILED, .message = "", .method = "", .formulation = "", .drift = ""};
    hm_status status = hmi_driver_start(sim, options, &d);
    if (status != HM_OK)
        return status;
    status = go(d);
    conclude(d, status);
    hmi_driver_leave(d);
    (void)!hm_sim_result(sim, result);
    return status;
}

/* ---- step by step ---- */

hm_status hm_sim_start(hm_sim *sim, const hm_run_options *options)
{
    hmi_driver *d;
    hm_status status = hmi_driver_start(sim, options, &d);
    if (status == HM_OK)
        hmi_driver_leave(d);
    return status;
}

static bool ready(const hm_sim *sim)
{
    const hmi_driver *d = hmi_driver_of(sim);
    return d && d->s.ode && d->method;
}

hm_status hm_sim_step(hm_sim *sim)
{
    return ready(sim) ? hm_sim_advance(sim, INFINITY) : HM_ERR_USAGE;
}

/* Steps to t, or one step where t is infinite. */
static hm_status advance(hmi_driver *d, double t)
{
    hm_status status = HM_OK;
    bool one = isinf(t);
    double limit = one ? 1e300 : t;
    while (status == HM_OK && d->s.t < limit) {
        status = hmi_driver_step(d, limit);
        if (status == HM_OK)
            status = hmi_driver_finish(d);
        if (one)
            break;
    }
    return status;
}

hm_status hm_sim_advance(hm_sim *sim, double t)
{
    hmi_driver *d = hmi_driver_of(sim);
    if (!ready(sim) || t < d->s.t)
        return HM_ERR_USAGE;
    if (d->model->inputs.count || !sim->tapes.prepared) /* the program may have set something */
        d->s.f_valid = false;
    hmi_driver_enter(d);
    hm_status status = advance(d, t);
    hmi_driver_leave(d);
    return status;
}

hm_status hm_sim_interpolate(hm_sim *sim, double t, double *q, double *v, double *z)
{
    hmi_driver *d = hmi_driver_of(sim);
    if (!ready(sim))
        return HM_ERR_USAGE;
    double *y = d->y + d->ode.size + HMI_MOST_WORKS;
    size_t n = d->ode.n;
    hmi_driver_enter(d);
    state_at(d, fmax(d->s.t_old, fmin(d->s.t, t)), y);
    hmi_driver_leave(d);
    if (q)
        memcpy(q, y, n * sizeof *q);
    if (v)
        memcpy(v, y + n, n * sizeof *v);
    if (z && d->ode.states)
        memcpy(z, y + 2 * n, d->ode.states * sizeof *z);
    return HM_OK;
}

void hm_sim_state(const hm_sim *sim, double *q, double *v, double *z)
{
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
    hmi_driver *d = hmi_driver_of(sim);
    if (!ready(sim))
        return HM_ERR_USAGE;
    hmi_driver_enter(d);
    hm_status status = hmi_driver_frame(d, d->s.t, d->s.y, content, frame);
    hmi_driver_leave(d);
    return status;
}

static const char *formulation_used(const hmi_driver *d)
{
    if (d->ode.dirac)
        return hm_formulation_name(HM_FORMULATION_DIRAC);
    return d->formulation ? d->formulation : "";
}

hm_status hm_sim_result(const hm_sim *sim, hm_run_result *result)
{
    const hmi_driver *d = hmi_driver_of(sim);
    if (!ready(sim))
        return HM_ERR_USAGE;
    *result = (hm_run_result){
        .status = d->status == HM_RUN_OK && d->stopped ? HM_RUN_EVENT : d->status,
        .message = hmi_text_view(&d->message),
        .method = (d->guest.home ? d->guest.home : d->method)->name,
        .formulation = formulation_used(d),
        .drift = d->options.drift,
        .rtol = d->s.rtol,
        .atol = d->s.atol,
        .t_start = d->t_begin,
        .t_end = d->s.t,
        .q = sim->state.q,
        .v = sim->state.v,
        .z = sim->state.z,
        .steps = d->s.steps,
        .rejected = d->s.rejected,
        .evaluations = d->ode.evaluations,
        .projections = d->projection.count,
        .wall_s = d->wall_s,
        .stiff = d->s.stiff,
        .constraints = d->residuals.count,
        .position_violation = d->position_violation,
        .velocity_violation = d->velocity_violation,
        .violation = d->violation,
        .has_total = d->has_total,
        .energy_initial = d->energy_start,
        .energy_final = d->energy,
        .balance_error = d->balance_error,
        .work = hmi_ledger_view(&d->ledger, d->s.y + d->ode.size, d->reset_work),
        .events = d->events.data,
        .event_count = d->events.count,
        .events_dropped = d->events_dropped,
        .moved = d->moved.data,
        .moved_count = d->moved.count,
        .warnings = d->warnings,
        .warning_count = d->warning_count,
    };
    return HM_OK;
}
