/* The memory of a run: what it compiles and where it is kept. See driver.h. */
#include "integrate/run/driver.h"

#include "integrate/taylor/taylor.h"
#include "compile/jit/assemble.h"

#include <string.h>

hmi_driver *hmi_driver_of(const hm_sim *sim)
{
    return sim->extras.run;
}

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
        return hmi_driver_check_motion(d);
    status = sim->dense.dynamics ? HM_OK : hmi_sim_prepare_large(sim); /* no allocation in a step */
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
        const hmi_tape_values values = hmi_sim_values(d->sim, hmi_sim_present(d->sim));
        hmi_tape_prepare(&d->set_tape, &values, d->event_work);
    }
}

void hmi_driver_enter(hmi_driver *d)
{
    bool changed = !d->sim->tapes.prepared;
    if (d->switches.switches)
        hmi_switches_install(&d->switches);
    d->sim->motion.used = d->motion;
    d->sim->last.by_motion = false;
    hmi_driver_use_rows(d, false);
    if (changed)
        prepare_parts(d);
}

void hmi_driver_leave(hmi_driver *d)
{
    hmi_driver_use_rows(d, true);
    d->sim->motion.used = d->sim->motion.own;
    d->sim->last.by_motion = false;
    if (d->switches.switches) {
        hmi_switches_remove(&d->switches);
        hmi_sim_refresh(
            d->sim,
            hmi_sim_present(d->sim)); /* its own tapes are ready: a change of parameters shows */
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

hm_status hmi_driver_create(hm_sim *sim, const hm_run_options *options, hmi_driver **out)
{
    const hm_allocator *allocator = sim->system->allocator;
    hmi_driver *d = hmi_alloc(allocator, sizeof *d);
    if (!d)
        return HM_ERR_NOMEM;
    memset(d, 0, sizeof *d);
    if (sim->extras.run) {
        take_tapes(sim->extras.run, d);
        sim->extras.run_destroy(sim->extras.run);
    }
    sim->extras.run = NULL;
    d->sim = sim;
    d->model = sim->system->model;
    hmi_arena_init(&d->arena, allocator);
    hmi_text_init(&d->message, allocator);
    sim->extras.run = d;
    sim->extras.run_destroy = hmi_driver_destroy;
    *out = d;
    hm_status status = hmi_driver_read_options(d, options);
    if (status != HM_OK)
        return status;
    sim->solve.formulation = d->options.formulation;
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
    d->sim->motion.used = d->sim->motion.own;
    d->sim->last.by_motion = false;
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
    d->sim->extras.run = NULL;
    d->sim->solve.formulation = HM_FORMULATION_AUTO;
    hmi_arena_release(&d->arena);
    hmi_free(allocator, d, sizeof *d);
}
