/* The start of a run: memory, a consistent state, the method. See driver.h. */
#include "dynamics/large.h"
#include "integrate/driver.h"
#include "integrate/implicit.h"
#include "integrate/taylor.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

hmi_driver *hmi_driver_of(const hm_sim *sim)
{
    return sim->run;
}

static double wall_clock(void)
{
    struct timespec now;
    return clock_gettime(CLOCK_MONOTONIC, &now) == 0
               ? (double)now.tv_sec + 1e-9 * (double)now.tv_nsec
               : 0;
}

/* ---- options ---- */

static hm_status refuse(const hmi_driver *d, const char *message, const char *word)
{
    hmi_error(d->model->context, hmi_no_span, NULL, message, word);
    return HM_ERR_USAGE;
}

static hm_status read_drift(hmi_driver *d)
{
    static const char *const names[] = {"project", "baumgarte", "none"};
    const char *wanted = d->options.drift ? d->options.drift : "project";
    for (int k = 0; k < 3; k++)
        if (strcmp(names[k], wanted) == 0) {
            d->drift = (hmi_drift)k;
            d->options.drift = names[k];
            if (d->options.keep_initial) {
                d->drift = HMI_DRIFT_NONE;
                d->options.drift = names[HMI_DRIFT_NONE];
            }
            return HM_OK;
        }
    return refuse(d, "there is no drift control '%s': project, baumgarte or none", wanted);
}

static void fill_in(hm_run_options *o, const hm_run_options *defaults)
{
    if (isnan(o->start))
        o->start = defaults->start;
    if (isnan(o->end))
        o->end = defaults->end;
    if (isnan(o->every) || o->every == 0)
        o->every = defaults->every;
    if (!o->method)
        o->method = defaults->method;
    if (!(o->rtol > 0))
        o->rtol = defaults->rtol;
    if (!(o->atol > 0))
        o->atol = defaults->atol;
    if (!(o->largest_step > 0))
        o->largest_step = INFINITY;
    if (!o->drift)
        o->drift = defaults->drift;
}

static hm_status read_options(hmi_driver *d, const hm_run_options *options)
{
    const hm_run_options defaults = hm_run_options_default(d->model);
    d->options = options ? *options : defaults;
    fill_in(&d->options, &defaults);
    if (!(d->options.end >= d->options.start) || !(d->options.every > 0))
        return refuse(d, "the run must end after it starts, and output times must be apart%s", "");
    double times = (d->options.end - d->options.start) / d->options.every;
    if (times > HMI_MOST_OUTPUT_TIMES &&
        isfinite(d->options.end)) /* who steps himself has no end */
        return refuse(d, "there would be more than 1e9 output times%s: `every` is too small", "");
    if (d->options.rtol < 2e-15)
        d->options.rtol = 2e-15;
    return read_drift(d);
}

/* ---- the state to start from ---- */

/* Degenerate Lagrangians: q' may be determined where q'' is not. HM_OK: it is. */
static hm_status try_dirac(hmi_driver *d)
{
    const char *why = NULL;
    hm_sim *sim = d->sim;
    if (!sim->dynamics || hmi_sim_accelerate(sim, NULL) != HM_ERR_UNDETERMINED)
        return HM_ERR_USAGE;
    hm_status status = hmi_ode_try_dirac(&d->ode, &why);
    if (status != HM_OK) {
        if (why)
            hmi_note(d->model->context, hmi_no_span, NULL, "by the Dirac form: %s", why);
        return status;
    }
    hmi_ode_load(&d->ode, d->y);
    status = hmi_ode_settle(&d->ode, sim->t, d->y);
    if (status == HM_OK)
        hmi_ode_store(&d->ode, sim->t, d->y);
    return status;
}

/* Is there a motion at all? Diagnostics name what is wrong. Where some u/|u| has no value at the
 * start (rest) the sim alone cannot say; the modes do, in begin. */
static hm_status check_motion(hmi_driver *d)
{
    if (d->switches.direction_count && hmi_directions_rest(&d->switches))
        return HM_OK;
    hm_evaluation at;
    const hm_evaluate_options options = {.formulation = d->options.formulation};
    hm_status status = try_dirac(d);
    if (status == HM_OK)
        d->formulation = hmi_formulation_name(HMI_DIRAC);
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
    size_t instructions = d->sim->dynamics_tape->body.count;
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
    d->method = d->automatic ? automatic_method(d) : hmi_method_find(d->options.method);
    if (!d->method)
        return refuse(d, "method '%s' is not available in this build", d->options.method);
    if (hmi_method_applies(d->method, &d->ode, &why) != HM_OK) {
        hmi_error(d->model->context, hmi_no_span, NULL, "method '%s' does not apply: %s",
                  d->method->name, why ? why : "");
        return HM_ERR_USAGE;
    }
    if (d->method->fixed_step && !(d->options.step > 0))
        return refuse(d, "method '%s' needs a step", d->method->name);
    d->s.memory = hmi_arena_alloc(&d->arena, d->method->memory_size(&d->ode));
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

/* ---- memory ---- */

static double *doubles(hmi_driver *d, size_t count, bool *failed)
{
    double *memory = hmi_arena_alloc(&d->arena, (count + 1) * sizeof *memory);
    *failed |= !memory;
    return memory;
}

static hm_status allocate(hmi_driver *d)
{
    size_t width = d->ode.size + HMI_MOST_WORKS, m = d->residuals.count;
    bool failed = false;
    d->s.y = doubles(d, width, &failed);
    d->s.f = doubles(d, width, &failed);
    d->s.y_old = doubles(d, width, &failed);
    d->y = doubles(d, 3 * width, &failed);
    d->position_violation = doubles(d, m, &failed);
    d->velocity_violation = doubles(d, m, &failed);
    d->violation = doubles(d, m, &failed);
    d->frame_violation = doubles(d, 2 * m, &failed);
    d->g = doubles(d, 4 * d->switches.count, &failed);
    d->fixed = hmi_arena_alloc(&d->arena, 2 * d->ode.n + 1);
    d->valueless = hmi_arena_alloc(&d->arena, d->model->outputs.count + 1);
    d->crossing.which = hmi_arena_alloc(&d->arena, (d->switches.count + 1) * sizeof(size_t));
    return failed || !d->fixed || !d->valueless || !d->crossing.which ? HM_ERR_NOMEM : HM_OK;
}

/* The values that events set, one tape for all. */
static hm_status compile_resets(hmi_driver *d)
{
    size_t count = 0, next = 0;
    for (size_t e = 0; e < d->model->events.count; e++)
        count += d->model->events.data[e].set_count;
    if (count == 0)
        return HM_OK;
    hmi_expr *list = hmi_arena_alloc(&d->arena, count * sizeof *list);
    if (!list)
        return HM_ERR_NOMEM;
    for (size_t e = 0; e < d->model->events.count; e++)
        for (size_t i = 0; i < d->model->events.data[e].set_count; i++)
            list[next++] = d->model->events.data[e].set[i].value;
    hm_status status = hmi_tape_compile(&d->set_tape, &d->sim->system->derived.graph, list, count);
    if (status != HM_OK)
        return status;
    d->event_work = hmi_arena_alloc(&d->arena, (d->set_tape.work_size + 1) * sizeof(double));
    return d->event_work ? HM_OK : HM_ERR_NOMEM;
}

static hm_status init_parts(hmi_driver *d)
{
    hm_sim *sim = d->sim;
    hm_status status = hmi_ode_init(&d->ode, sim);
    if (status == HM_ERR_LIMIT)
        return check_motion(d);
    status = sim->dynamics ? HM_OK : hmi_large_prepare(sim); /* no allocation in a step */
    if (status == HM_OK)
        status = hmi_residuals_init(&d->residuals, sim, &d->arena);
    if (status == HM_OK)
        status = hmi_integrals_init(&d->integrals, sim, &d->arena);
    if (status == HM_OK)
        status = hmi_projection_init(&d->projection, &d->ode, &d->residuals, &d->arena);
    if (status == HM_OK)
        status = hmi_ledger_init(&d->ledger, sim, d->drift == HMI_DRIFT_PROJECT, &d->arena);
    if (status == HM_OK)
        status = hmi_switches_init(&d->switches, sim, &d->ledger, &d->arena);
    d->ode.switches = d->switches.switches ? &d->switches : NULL;
    if (status == HM_OK)
        status = compile_resets(d);
    if (status == HM_OK)
        status = hmi_rank_watch_init(d);
    if (status == HM_OK)
        status = hmi_row_choice_init(d);
    return status == HM_OK ? allocate(d) : status;
}

static void prepare_parts(hmi_driver *d)
{
    hmi_residuals_prepare(&d->residuals);
    hmi_integrals_prepare(&d->integrals);
    hmi_ledger_prepare(&d->ledger, d->sim);
    hmi_switches_prepare(&d->switches);
    if (d->event_work) {
        const hmi_tape_values values = hmi_sim_values(d->sim);
        hmi_tape_prepare(&d->set_tape, &values, d->event_work);
    }
}

void hmi_driver_enter(hmi_driver *d)
{
    bool changed = !d->sim->prepared;
    if (d->switches.switches)
        hmi_switches_install(&d->switches);
    d->sim->motion = d->motion;
    d->sim->by_motion = false;
    hmi_driver_use_rows(d, false);
    if (changed)
        prepare_parts(d);
}

void hmi_driver_leave(hmi_driver *d)
{
    hmi_driver_use_rows(d, true);
    d->sim->motion = d->sim->own_motion;
    d->sim->by_motion = false;
    if (d->switches.switches) {
        hmi_switches_remove(&d->switches);
        hmi_sim_refresh(d->sim); /* its own tapes are ready: a change of parameters shows */
    }
}

/* What an earlier run of the sim compiled serves again, where no modes are in it. */
static void take_tapes(hmi_driver *old, hmi_driver *d)
{
    if (!old->compiled || old->switches.switches)
        return;
    d->residuals.tape = old->residuals.tape;
    d->ledger.tape = old->ledger.tape;
    d->ledger.total = old->ledger.total;
    d->motion = old->motion;
    d->projection.position.projector = old->projection.position.projector;
    d->projection.velocity.projector = old->projection.velocity.projector;
    old->projection.position.projector = old->projection.velocity.projector = NULL;
    d->series = old->series;
    old->residuals.tape = old->ledger.tape = old->ledger.total = (hmi_tape){0};
    old->motion = NULL;
    old->series = NULL;
}

static hm_status create(hm_sim *sim, const hm_run_options *options, hmi_driver **out)
{
    const hm_allocator *allocator = sim->system->allocator;
    hmi_driver *d = hmi_alloc(allocator, sizeof *d);
    if (!d)
        return HM_ERR_NOMEM;
    memset(d, 0, sizeof *d);
    if (sim->run) {
        take_tapes(sim->run, d);
        sim->run_destroy(sim->run);
    }
    sim->run = NULL;
    d->sim = sim;
    d->model = sim->system->model;
    hmi_arena_init(&d->arena, allocator);
    hmi_text_init(&d->message, allocator);
    sim->run = d;
    sim->run_destroy = hmi_driver_destroy;
    *out = d;
    hm_status status = read_options(d, options);
    if (status != HM_OK)
        return status;
    sim->formulation = (hmi_formulation)d->options.formulation;
    status = init_parts(d);
    d->compiled = status == HM_OK;
    if (d->compiled)
        prepare_parts(d);
    return status;
}

void hmi_driver_destroy(void *driver)
{
    hmi_driver *d = driver;
    const hm_allocator *allocator = d->sim->system->allocator;
    if (d->method && d->method->finish)
        d->method->finish(&d->s);
    d->sim->motion = d->sim->own_motion;
    d->sim->by_motion = false;
    hmi_driver_use_rows(d, true);
    hmi_sim_motion_destroy(d->motion);
    if (d->series)
        hmi_taylor_release(d->series);
    hmi_free(allocator, d->series, sizeof *d->series);
    hmi_switches_release(&d->switches);
    hmi_ledger_release(&d->ledger);
    hmi_projection_release(&d->projection);
    hmi_residuals_release(&d->residuals);
    hmi_integrals_release(&d->integrals);
    hmi_tape_release(&d->set_tape);
    hmi_text_release(&d->message);
    hmi_array_release(allocator, &d->events);
    hmi_array_release(allocator, &d->moved);
    d->sim->run = NULL;
    d->sim->formulation = HMI_AUTO;
    hmi_arena_release(&d->arena);
    hmi_free(allocator, d, sizeof *d);
}

/* ---- start ---- */

/* The largest of what the state is, of what it was before it was made consistent (exp(x) = 1 makes a
 * zero of it, up to rounding errors), and of what it may become by the rates at the start. */
static double largest_value(const hmi_driver *d)
{
    const hm_sim *sim = d->sim;
    double time = fabs(d->options.end - d->options.start), largest = 0;
    for (size_t i = 0; i < d->ode.n; i++) {
        double qdd = d->ode.dirac || !isfinite(sim->qdd[i]) ? 0 : fabs(sim->qdd[i]);
        largest = fmax(largest, fmax(fabs(sim->q[i]), fabs(sim->v[i])));
        largest = fmax(largest, time * fmax(fabs(sim->v[i]), qdd));
    }
    for (size_t i = 0; i < d->ode.states; i++)
        largest = fmax(largest, fabs(sim->z[i]));
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
    d->s.t = d->sim->t;
    d->s.driver = d;
    d->s.tangent = tangent_error;
    if ((d->drift == HMI_DRIFT_PROJECT && d->projection.velocity.count) || d->ode.dirac)
        d->s.settle = settle_step;
}

/* Is there a motion tape that answers here, of an earlier run? One that does not is put away. */
static bool has_motion(hmi_driver *d, bool wanted)
{
    hm_sim *sim = d->sim;
    if (!d->motion)
        return false;
    hmi_sim_refresh(sim);
    wanted = wanted && d->motion->program.power_count == d->ledger.count;
    if (wanted && hmi_sim_motion_fits(sim, d->motion) &&
        hmi_sim_motion_run(sim, d->motion, &sim->t, sim->q, sim->v, sim->z))
        return true;
    hmi_sim_motion_destroy(d->motion);
    d->motion = NULL;
    return false;
}

hm_status hmi_driver_compile_motion(hmi_driver *d)
{
    const hmi_ledger *ledger = &d->ledger;
    hmi_motion_source source = {.power_count = ledger->tape_count};
    hmi_expr powers[HMI_POWERS];
    bool wanted = !d->ode.dirac && d->drift != HMI_DRIFT_BAUMGARTE &&
                  d->sim->formulation == HMI_AUTO;
    bool kept = has_motion(d, wanted);
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
    return hmi_sim_motion_create(d->sim, &source, &d->motion);
}

/* Why the first step cannot be prepared, where nobody has said so yet. */
static void explain_start(const hmi_driver *d, hm_status status, size_t errors)
{
    hm_context *context = d->model->context;
    if (status == HM_OK || status == HM_ERR_NOMEM || context->errors > errors)
        return;
    hmi_error(context, hmi_no_span, NULL, "method '%s' cannot start here: %s", d->method->name,
              d->s.trouble ? d->s.trouble : hm_status_text(status));
}

hm_status hmi_driver_begin(hmi_driver *d)
{
    size_t errors = d->model->context->errors;
    hmi_driver_enter(d);
    hmi_ode_load(&d->ode, d->s.y);
    hm_status status = d->switches.count ? hmi_settle_sides(d) : HM_OK;
    if (status == HM_OK && !d->formulation)
        status = hmi_ode_forces(&d->ode, d->s.t, d->s.y, &d->solution);
    if (status == HM_OK && !d->formulation)
        d->formulation = hmi_formulation_name(d->solution.formulation);
    if (status == HM_OK)
        status = d->method->start(&d->s);
    explain_start(d, status, errors);
    hmi_ode_store(&d->ode, d->s.t, d->s.y);
    d->t_begin = d->reached = d->pace_t = d->s.t;
    d->has_total = d->sim->system->derived.total != HMI_NONE;
    d->energy_start = d->energy = hmi_ledger_total(&d->ledger, d->sim);
    hmi_integrals_start(&d->integrals);
    hmi_driver_observe(d);
    return status;
}

hm_status hmi_driver_start(hm_sim *sim, const hm_run_options *options, hmi_driver **driver)
{
    hmi_driver *d = NULL;
    hm_status status = create(sim, options, &d);
    if (!d)
        return status;
    *driver = d;
    d->wall_start = wall_clock();
    sim->t = d->options.start;
    if (status == HM_OK && !d->options.keep_initial)
        status = hmi_driver_find_state(d, false);
    if (status == HM_OK)
        status = check_motion(d);
    if (status == HM_OK)
        status = choose_method(d);
    if (status != HM_OK)
        return status;
    connect(d);
    hmi_driver_choose_rows(d);
    status = hmi_driver_compile_motion(d);
    return status == HM_OK ? hmi_driver_begin(d) : status;
}

hm_status hm_sim_make_consistent(hm_sim *sim, bool all_free, const hm_moved **moved, size_t *count)
{
    hmi_driver *d = NULL;
    double t = sim->t;
    hm_status status = create(sim, NULL, &d);
    sim->t = t;
    if (status == HM_OK)
        status = hmi_driver_find_state(d, all_free);
    if (status == HM_OK && moved) {
        *moved = d->moved.data;
        *count = d->moved.count;
    }
    return status;
}
