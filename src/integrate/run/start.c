/* The start of a run: a consistent state, the method, the first step. See driver.h. */
#include "integrate/run/driver.h"
#include "integrate/ode/degenerate.h"
#include "integrate/taylor/taylor.h"

#include <math.h>
#include <string.h>
#include <time.h>

static double wall_clock(void)
{
    struct timespec now;
    return clock_gettime(CLOCK_MONOTONIC, &now) == 0
               ? (double)now.tv_sec + 1e-9 * (double)now.tv_nsec
               : 0;
}

/* ---- the state to start from ---- */

/* Degenerate Lagrangians: q' may be determined where q'' is not. HM_OK: it is. */
static hm_status try_dirac(hmi_driver *d)
{
    const char *why = NULL;
    hm_sim *sim = d->sim;
    double t = sim->state.at.t;
    if (!sim->dense.dynamics ||
        hmi_sim_accelerate(sim, hmi_sim_present(sim), NULL) != HM_ERR_UNDETERMINED)
        return HM_ERR_USAGE;
    hmi_ode_load(&d->ode, d->y);
    hm_status status = hmi_ode_try_dirac(&d->ode, t, d->y, &why);
    if (status != HM_OK) {
        if (why)
            hmi_note(sim->context, hmi_no_span, NULL, "by the Dirac form: %s", why);
        return status;
    }
    status = hmi_ode_settle(&d->ode, t, d->y);
    if (status == HM_OK)
        hmi_ode_store(&d->ode, t, d->y);
    return status;
}

/* Where some u/|u| has no value at the start (rest) the sim alone cannot say; the modes do, in begin. */
hm_status hmi_driver_check_motion(hmi_driver *d)
{
    if (d->switches.direction_count && hmi_directions_rest(&d->switches, hmi_sim_present(d->sim)))
        return HM_OK;
    hm_evaluation at;
    const hm_evaluate_options options = {.formulation = d->options.formulation};
    hm_status status = try_dirac(d);
    if (status == HM_OK)
        d->formulation = hm_formulation_name(HM_FORMULATION_DIRAC);
    if (status == HM_OK || status == HM_ERR_NOMEM)
        return status;
    status = hm_sim_evaluate(d->sim, &options, &at);
    d->formulation = at.formulation;
    return status;
}

/* ---- the method ---- */

/* Where Taylor series win over DOP853 (bench/bench_taylor.c). Their cost hardly depends on the tolerance,
 * that of DOP853 does; without momenta they meet the later the longer the tape is. With the default
 * tolerances it is DOP853. */
static bool series_pay(const hmi_driver *d)
{
    enum { SHORT_TAPE = 30, LONG_TAPE = 300, MOST_INSTRUCTIONS = 20000 };
    size_t instructions = d->sim->tapes.dynamics->body.count;
    double tight = instructions <= SHORT_TAPE ? 5e-10 : 1e-10;
    if (instructions > LONG_TAPE && !hmi_taylor_has_momenta(&d->ode))
        tight = 1e-13;
    return instructions <= MOST_INSTRUCTIONS && d->options.rtol <= tight &&
           d->options.atol <= fmax(tight, 1e-10);
}

static const hmi_method *automatic_method(const hmi_driver *d)
{
    const char *why = NULL;
    bool series = series_pay(d) && hmi_method_taylor.applies(&d->ode, &why) == HM_OK;
    return series ? &hmi_method_taylor : &hmi_method_dop853;
}

static hm_status choose_method(hmi_driver *d)
{
    const char *why = NULL;
    d->automatic = strcmp(d->options.method, "auto") == 0;
    d->s.method = d->method = d->automatic ? automatic_method(d)
                                           : hmi_method_find(d->options.method);
    if (!d->method)
        return hmi_driver_refuse(d, "method '%s' is not available in this build",
                                 d->options.method);
    if (hmi_method_applies(d->method, &d->ode, &why) != HM_OK) {
        hmi_error(d->sim->context, hmi_no_span, NULL, "method '%s' does not apply: %s",
                  d->method->name, why ? why : "");
        return HM_ERR_USAGE;
    }
    if (d->method->fixed_step && !(d->options.step > 0))
        return hmi_driver_refuse(d, "method '%s' needs a step", d->method->name);
    d->s.memory = hmi_arena_alloc(&d->arena, d->method->memory_size(d->method, &d->ode));
    return d->s.memory ? hmi_guest_init(d) : HM_ERR_NOMEM;
}

static hm_status settle_step(hmi_stepper *s, double t, double *y, double *moved)
{
    hmi_driver *d = s->driver;
    double *before = d->y;
    memcpy(before, y, s->size * sizeof *y);
    hm_status status = hmi_driver_settle(d, t, y);
    if (status != HM_OK)
        return status;
    for (size_t i = 0; i < s->size; i++)
        before[i] -= y[i];
    *moved = hmi_scaled_norm(s, before, y, y);
    if (d->ode.dirac) /* velocities are not integrated but found: no error */
        *moved = fmin(*moved, 2 * HMI_MOVED);
    return HM_OK;
}

static void tangent_error(hmi_stepper *s, double t, const double *y, double *e)
{
    hmi_driver *d = s->driver;
    if (d->drift == HMI_DRIFT_PROJECT)
        hmi_project_error(&d->projection, t, y, e);
}

/* ---- start ---- */

/* The largest of what the state is, of what it was before it was made consistent (exp(x) = 1 makes a
 * zero of it, up to rounding errors), and of what it may become by the rates at the start. */
static double largest_value(const hmi_driver *d)
{
    const hm_sim *sim = d->sim;
    double time = fabs(d->options.end - d->options.start), largest = 0;
    for (size_t i = 0; i < d->ode.n; i++) {
        double qdd = d->ode.dirac || !isfinite(sim->last.qdd[i]) ? 0 : fabs(sim->last.qdd[i]);
        largest = fmax(largest, fmax(fabs(sim->state.q[i]), fabs(sim->state.v[i])));
        largest = fmax(largest, time * fmax(fabs(sim->state.v[i]), qdd));
    }
    for (size_t i = 0; i < d->ode.states; i++)
        largest = fmax(largest, fabs(sim->state.z[i]));
    for (size_t i = 0; i < d->moved.count; i++)
        largest = fmax(largest, fabs(d->moved.data[i].from));
    return largest;
}

/* Unless one is given: it shall not hide the motion where lengths of nanometres are written in metres.
 * A power of ten, to be read. */
static double absolute_tolerance(const hmi_driver *d)
{
    double given = d->options.atol, size = largest_value(d);
    if (d->model->simulate.atol > 0 || given != HMI_DEFAULT_ATOL || !(size > 0) || size >= 1e-3)
        return given;
    return given * pow(10, floor(log10(size / 1e-3)));
}

static void connect(hmi_driver *d)
{
    d->ode.ledger = d->ledger.count ? &d->ledger : NULL;
    d->ode.series = &d->series;
    d->ode.kept = d->drift == HMI_DRIFT_PROJECT;
    if (d->drift == HMI_DRIFT_BAUMGARTE) {
        d->ode.residuals = &d->residuals;
        memcpy(d->ode.baumgarte, d->options.drift_gain, sizeof d->ode.baumgarte);
    }
    d->s.ode = &d->ode;
    d->s.size = d->ode.size;
    d->s.works = d->ledger.count;
    d->s.rtol = d->options.rtol;
    d->s.atol = absolute_tolerance(d);
    d->s.step = d->options.step;
    d->s.largest = d->options.largest_step;
    d->s.singular = INFINITY;
    d->s.t = d->sim->state.at.t;
    d->s.driver = d;
    d->s.tangent = tangent_error;
    if ((d->drift == HMI_DRIFT_PROJECT && d->projection.velocity.count) || d->ode.dirac)
        d->s.settle = settle_step;
}

/* Is there a motion tape that answers here, of an earlier run? One that does not is put away. */
static bool has_motion(hmi_driver *d, const hmi_point *at, bool wanted)
{
    hm_sim *sim = d->sim;
    if (!d->motion)
        return false;
    hmi_sim_refresh(sim, at);
    wanted = wanted && d->motion->program.power_count == d->ledger.count;
    if (wanted && hmi_sim_motion_fits(sim, d->motion) && hmi_sim_motion_run(sim, d->motion, at))
        return true;
    hmi_sim_motion_destroy(d->motion);
    d->motion = NULL;
    return false;
}

hm_status hmi_driver_compile_motion(hmi_driver *d, const hmi_point *at)
{
    const hmi_ledger *ledger = &d->ledger;
    hmi_motion_source source = {.power_count = ledger->tape_count};
    hmi_expr powers[HMI_POWERS];
    bool wanted = !d->ode.dirac && d->drift != HMI_DRIFT_BAUMGARTE &&
                  d->sim->solve.formulation == HM_FORMULATION_AUTO;
    bool kept = has_motion(d, at, wanted);
    if (!wanted)
        return HM_OK;
    for (size_t k = 0; k < ledger->tape_count; k++)
        powers[k] = hmi_ledger_expression(ledger, d->sim->system, k);
    for (size_t k = 0; k < ledger->count; k++) {
        source.ideal_power |= ledger->kind[k] == HMI_POWER_IDEAL;
        source.nonideal_power |= ledger->kind[k] == HMI_POWER_NONIDEAL;
    }
    source.powers = powers;
    if (d->switches.switches) {
        source.graph = &d->switches.graph;
        source.dynamics = d->switches.list;
        source.powers = d->switches.powers;
    }
    hm_status status = HM_OK;
    if (d->drift == HMI_DRIFT_PROJECT)
        status = hmi_projection_compile(&d->projection, &source);
    if (status != HM_OK || kept)
        return status;
    return hmi_sim_motion_create(d->sim, at, &source, &d->motion);
}

/* Why the first step cannot be prepared, where nobody has said so yet. */
static void explain_start(const hmi_driver *d, hm_status status, size_t errors)
{
    hm_context *context = d->sim->context;
    if (status == HM_OK || status == HM_ERR_NOMEM || context->errors > errors)
        return;
    hmi_error(context, hmi_no_span, NULL, "method '%s' cannot start here: %s", d->method->name,
              d->s.trouble ? d->s.trouble : hm_status_text(status));
}

hm_status hmi_driver_begin(hmi_driver *d)
{
    size_t errors = d->sim->context->errors;
    hmi_driver_enter(d);
    hmi_ode_load(&d->ode, d->s.y);
    hm_status status = d->switches.count ? hmi_settle_sides(d) : HM_OK;
    if (status == HM_OK && !d->formulation)
        status = hmi_ode_forces(&d->ode, d->s.t, d->s.y, &d->solution);
    if (status == HM_OK && !d->formulation)
        d->formulation = hm_formulation_name(d->solution.formulation);
    if (status == HM_OK)
        status = d->method->start(&d->s);
    explain_start(d, status, errors);
    hmi_ode_store(&d->ode, d->s.t, d->s.y);
    d->t_begin = d->reached = d->pace_t = d->s.t;
    d->has_total = d->sim->system->derived.total != HMI_NONE;
    d->energy_start = d->energy = hmi_ledger_total(&d->ledger, d->sim, hmi_sim_present(d->sim));
    hmi_integrals_start(&d->integrals, hmi_sim_present(d->sim));
    hmi_driver_observe(d);
    return status;
}

hm_status hmi_driver_start(hm_sim *sim, const hm_run_options *options, hmi_driver **driver)
{
    hmi_driver *d = NULL;
    hm_status status = hmi_driver_create(sim, options, &d);
    if (!d)
        return status;
    *driver = d;
    d->wall_start = wall_clock();
    sim->state.at.t = d->options.start;
    if (status == HM_OK && !d->options.keep_initial)
        status = hmi_driver_find_state(d, false);
    if (status == HM_OK)
        status = hmi_driver_check_motion(d);
    if (status == HM_OK)
        status = choose_method(d);
    if (status != HM_OK)
        return status;
    connect(d);
    hmi_driver_choose_rows(d);
    status = hmi_driver_compile_motion(d, hmi_sim_present(sim));
    return status == HM_OK ? hmi_driver_begin(d) : status;
}

hm_status hm_sim_make_consistent(hm_sim *sim, bool all_free, const hm_moved **moved, size_t *count)
{
    hmi_driver *d = NULL;
    double t = sim->state.at.t;
    hm_status status = hmi_driver_create(sim, NULL, &d);
    sim->state.at.t = t;
    if (status == HM_OK)
        status = hmi_driver_find_state(d, all_free);
    if (status == HM_OK && moved) {
        *moved = d->moved.data;
        *count = d->moved.count;
    }
    return status;
}
