/* The memory of a run: what it compiles, and what it takes over from the run before. */
#include "integrate/run/run.h"

#include "integrate/taylor/taylor.h"

#include <string.h>

hmi_run *hmi_run_of(const hm_sim *sim)
{
    return sim->extras.run;
}

/* ---- parts ---- */

static hm_status allocate(hmi_run *run)
{
    size_t width = run->ode.size + HMI_MOST_WORKS;
    bool failed = false;
    run->s.y = hmi_arena_doubles(&run->arena, width, &failed);
    run->s.f = hmi_arena_doubles(&run->arena, width, &failed);
    run->s.y_old = hmi_arena_doubles(&run->arena, width, &failed);
    run->before = hmi_arena_doubles(&run->arena, width, &failed);
    run->shown = hmi_arena_doubles(&run->arena, width, &failed);
    return failed ? HM_ERR_NOMEM : HM_OK;
}

static hm_status init_constraints(hmi_run *run)
{
    hm_status status = hmi_residuals_init(&run->residuals, run->sim, &run->arena);
    if (status == HM_OK)
        status = hmi_projection_init(&run->projection, &run->ode, &run->residuals, &run->arena);
    if (status == HM_OK)
        status = hmi_start_state_init(&run->start, &run->projection, &run->arena);
    run->start.fix_all = run->options.fix_state;
    return status;
}

static hm_status init_parts(hmi_run *run)
{
    hm_sim *sim = run->sim;
    hmi_messages *messages = &run->recorder.messages;
    hm_status status = hmi_ode_init(&run->ode, sim);
    if (status == HM_ERR_LIMIT)
        return hmi_run_check_motion(run);
    run->ode.kept = run->drift == HMI_DRIFT_PROJECT;
    status = hmi_sim_prepare_sparse(sim, false); /* no allocation in a step */
    if (status == HM_OK)
        status = init_constraints(run);
    if (status == HM_OK)
        status = hmi_recorder_init(&run->recorder, &run->ode, &run->residuals, &run->s,
                                   &run->options, &run->arena);
    if (status == HM_OK)
        status = hmi_contact_run_init(&run->contact, &run->projection, &run->s,
                                      &run->recorder.ledger, messages, &run->arena);
    if (status == HM_OK)
        status = hmi_events_init(&run->events, &run->projection, &run->s, &run->recorder.ledger,
                                 messages, &run->contact, &run->arena);
    if (status == HM_OK)
        status = hmi_flight_init(&run->flight, &run->events, &run->arena);
    if (status == HM_OK)
        status = hmi_guard_init(&run->guard, &run->projection, &run->s, messages, &run->arena);
    return status == HM_OK ? allocate(run) : status;
}

static void prepare_parts(hmi_run *run)
{
    hmi_residuals_prepare(&run->residuals);
    hmi_recorder_prepare(&run->recorder);
    hmi_events_prepare(&run->events);
}

/* ---- entering and leaving ---- */

static void use_motion(hmi_run *run, hmi_sim_motion *motion)
{
    run->sim->motion.used = motion;
    run->sim->last.by_motion = false;
}

void hmi_run_enter(hmi_run *run)
{
    bool changed = !run->sim->tapes.prepared;
    if (run->events.switches.switches)
        hmi_switches_install(&run->events.switches);
    use_motion(run, run->motion);
    hmi_guard_use_rows(&run->guard, false);
    if (changed)
        prepare_parts(run);
}

void hmi_run_leave(hmi_run *run)
{
    hmi_guard_use_rows(&run->guard, true);
    use_motion(run, run->sim->motion.own);
    if (run->events.switches.switches) {
        hmi_switches_remove(&run->events.switches);
        /* its own tapes are ready: a change of parameters shows */
        hmi_sim_refresh(run->sim, hmi_sim_present(run->sim));
    }
}

/* ---- the motion tape ---- */

/* Is there a motion tape that answers here, of an earlier run? One that does not is put away. */
static bool has_motion(hmi_run *run, const hmi_point *at, bool wanted)
{
    hm_sim *sim = run->sim;
    if (!run->motion)
        return false;
    hmi_sim_refresh(sim, at);
    wanted = wanted && run->motion->program.at.power_count == run->recorder.ledger.count;
    if (wanted && hmi_sim_motion_fits(sim, run->motion) && hmi_sim_motion_run(sim, run->motion, at))
        return true;
    hmi_sim_motion_destroy(run->motion);
    run->motion = NULL;
    return false;
}

/* The powers of the ledger, and with switches everything by the modes; powers: room for them. */
static hmi_motion_source describe_motion(const hmi_run *run, hmi_expr *powers)
{
    const hmi_ledger *ledger = &run->recorder.ledger;
    const hmi_switches *switches = &run->events.switches;
    hmi_motion_source source = {.power_count = ledger->tape_count, .powers = powers};
    for (size_t k = 0; k < ledger->tape_count; k++)
        powers[k] = hmi_ledger_expression(ledger, run->sim->system, k);
    for (size_t k = 0; k < ledger->count; k++) {
        source.ideal_power |= ledger->kind[k] == HMI_POWER_IDEAL;
        source.nonideal_power |= ledger->kind[k] == HMI_POWER_NONIDEAL;
    }
    if (switches->switches) {
        source.graph = &switches->graph;
        source.dynamics = switches->list;
        source.powers = switches->powers;
    }
    return source;
}

hm_status hmi_run_compile_motion(hmi_run *run, const hmi_point *at)
{
    hmi_expr powers[HMI_POWERS];
    bool wanted = !run->ode.dirac && !run->sim->contacts && run->drift != HMI_DRIFT_BAUMGARTE &&
                  run->sim->solve.formulation == HM_FORMULATION_AUTO;
    bool kept = has_motion(run, at, wanted);
    if (!wanted)
        return HM_OK;
    const hmi_motion_source source = describe_motion(run, powers);
    hm_status status = HM_OK;
    if (run->ode.kept)
        status = hmi_projection_compile(&run->projection, &source);
    if (status != HM_OK || kept)
        return status;
    return hmi_sim_motion_create(run->sim, at, &source, &run->motion);
}

/* ---- the whole ---- */

/* What an earlier run of the sim compiled serves again, where no modes are in it. */
static void take_tapes(hmi_run *old, hmi_run *run)
{
    if (!old->compiled || old->events.switches.switches)
        return;
    run->residuals.tape = old->residuals.tape;
    run->recorder.ledger.tape = old->recorder.ledger.tape;
    run->recorder.ledger.total = old->recorder.ledger.total;
    run->motion = old->motion;
    run->projection.position.projector = old->projection.position.projector;
    run->projection.velocity.projector = old->projection.velocity.projector;
    run->series = old->series;
    old->residuals.tape = (hmi_tape){0};
    old->recorder.ledger.tape = old->recorder.ledger.total = (hmi_tape){0};
    old->projection.position.projector = old->projection.velocity.projector = NULL;
    old->motion = NULL;
    old->series = NULL;
}

hm_status hmi_run_create(hm_sim *sim, const hm_run_options *options, hmi_run **out)
{
    const hm_allocator *allocator = sim->system->allocator;
    hmi_run *run = hmi_alloc(allocator, sizeof *run);
    if (!run)
        return HM_ERR_NOMEM;
    memset(run, 0, sizeof *run);
    if (sim->extras.run) {
        take_tapes(sim->extras.run, run);
        sim->extras.run_destroy(sim->extras.run);
    }
    run->sim = sim;
    run->model = sim->system->model;
    hmi_arena_init(&run->arena, allocator);
    hmi_messages_init(&run->recorder.messages, &run->arena);
    sim->extras.run = run;
    sim->extras.run_destroy = hmi_run_destroy;
    *out = run;
    hm_status status = hmi_run_read_options(run, options);
    if (status != HM_OK)
        return status;
    sim->solve.formulation = run->options.formulation;
    status = init_parts(run);
    run->compiled = status == HM_OK;
    if (run->compiled)
        prepare_parts(run);
    return status;
}

void hmi_run_destroy(void *memory)
{
    hmi_run *run = memory;
    const hm_allocator *allocator = run->sim->system->allocator;
    if (run->s.method && run->s.method->finish)
        run->s.method->finish(&run->s);
    use_motion(run, run->sim->motion.own);
    hmi_guard_use_rows(&run->guard, true);
    hmi_sim_motion_destroy(run->motion);
    if (run->series)
        hmi_taylor_release(run->series);
    hmi_free(allocator, run->series, sizeof *run->series);
    hmi_events_release(&run->events);
    hmi_contact_run_release(&run->contact);
    hmi_recorder_release(&run->recorder);
    hmi_projection_release(&run->projection);
    hmi_residuals_release(&run->residuals);
    hmi_start_state_release(&run->start);
    run->sim->extras.run = NULL;
    run->sim->solve.formulation = HM_FORMULATION_AUTO;
    hmi_arena_release(&run->arena);
    hmi_free(allocator, run, sizeof *run);
}
