/* The memory of events, what they set, and those that repeat ever faster. */
#include "integrate/events/events.h"

#include "integrate/drift/consistent.h"
#include "linalg/dense.h"

#include <math.h>
#include <string.h>

/* ---- memory ---- */

/* The values that events set, one tape for all. */
static hm_status compile_resets(hmi_events *ev, hmi_arena *arena)
{
    const hm_system *system = ev->ode->sim->system;
    const hm_model *model = system->model;
    size_t count = 0, next = 0;
    for (size_t e = 0; e < model->events.count; e++)
        count += model->events.data[e].set_count;
    if (count == 0)
        return HM_OK;
    hmi_expr *list = hmi_arena_alloc(arena, count * sizeof *list);
    if (!list)
        return HM_ERR_NOMEM;
    for (size_t e = 0; e < model->events.count; e++)
        for (size_t i = 0; i < model->events.data[e].set_count; i++)
            list[next++] = model->events.data[e].set[i].value;
    return hmi_run_tape(&ev->resets.tape, &system->derived.graph, list, count, arena,
                        &ev->resets.work);
}

/* Inputs of functions go by the modes, where there are any. */
static hm_status watch_functions(hmi_events *ev, hmi_arena *arena)
{
    hmi_switches *sw = &ev->switches;
    hm_sim *sim = ev->ode->sim;
    const hm_system *system = sim->system;
    const hmi_watch_inputs inputs = {.tape = sw->switches ? &sw->inputs : &system->inputs,
                                     .count = system->model->inputs.count,
                                     .held = sim->given.input_set,
                                     .value = (const double *const *)sim->given.inputs};
    hm_status status = hmi_watch_init(&ev->watch, &sw->graph, sw->functions, sw->count, ev->ode->n,
                                      ev->ode->size, &inputs, arena);
    ev->watch.modes = sw->mode;
    return status;
}

static hm_status allocate(hmi_events *ev, hmi_arena *arena)
{
    size_t count = ev->switches.count, n = ev->ode->n;
    bool failed = false;
    ev->roots = hmi_arena_doubles(arena, count, &failed);
    ev->between = hmi_arena_doubles(arena, count, &failed);
    ev->sampled = hmi_arena_doubles(arena, (HMI_MOST_SAMPLES + 1) * count, &failed);
    ev->next_time = hmi_arena_doubles(arena, count, &failed);
    ev->values = hmi_arena_doubles(arena, 2 * count, &failed);
    ev->state = hmi_arena_doubles(arena, ev->ode->size + HMI_MOST_WORKS, &failed);
    ev->free = hmi_arena_doubles(arena, n, &failed);
    ev->pushed = hmi_arena_doubles(arena, n, &failed);
    ev->resets.fixed = hmi_arena_alloc(arena, 2 * n + 1);
    ev->crossing.which = hmi_arena_alloc(arena, (count + 1) * sizeof(size_t));
    bool given = ev->resets.fixed && ev->crossing.which;
    return failed || !given ? HM_ERR_NOMEM : HM_OK;
}

hm_status hmi_events_init(hmi_events *ev, hmi_projection *projection, hmi_stepper *stepper,
                          struct hmi_ledger *ledger, hmi_messages *messages,
                          hmi_contact_run *contact, hmi_arena *arena)
{
    *ev = (hmi_events){.ode = projection->ode,
                       .projection = projection,
                       .stepper = stepper,
                       .messages = messages,
                       .contact = contact};
    hm_status status = hmi_switches_init(&ev->switches, ev->ode->sim, ledger, contact, arena);
    ev->ode->branches = ev->switches.switches ? &ev->switches.held : NULL;
    ev->ode->watched = ev->switches.count > 0;
    if (status == HM_OK && ev->switches.count)
        status = watch_functions(ev, arena);
    if (status == HM_OK && ev->switches.switches)
        status = hmi_residuals_hold(projection->residuals, &ev->switches.equations, arena);
    if (status == HM_OK)
        status = compile_resets(ev, arena);
    return status == HM_OK ? allocate(ev, arena) : status;
}

void hmi_events_release(hmi_events *ev)
{
    hmi_switches_release(&ev->switches);
    hmi_watch_release(&ev->watch);
    hmi_tape_release(&ev->resets.tape);
    hmi_array_release(ev->ode ? ev->ode->sim->system->allocator : NULL, &ev->passed);
}

void hmi_events_prepare(hmi_events *ev)
{
    const hm_sim *sim = ev->ode->sim;
    const hmi_tape_values values = hmi_sim_values(sim, hmi_sim_present(sim));
    hmi_switches_prepare(&ev->switches);
    if (ev->switches.count)
        hmi_watch_prepare(&ev->watch, &values);
    for (size_t k = 0; k < ev->switches.count; k++)
        ev->next_time[k] = -INFINITY;
    if (ev->resets.work) {
        hmi_tape_prepare(&ev->resets.tape, &values, ev->resets.work);
    }
}

const hmi_event *hmi_events_model_event(const hmi_events *ev, size_t k)
{
    size_t switches = ev->switches.switches;
    return k < switches || k >= ev->switches.events_end
               ? NULL
               : &ev->ode->sim->system->model->events.data[k - switches];
}

hmi_contact_function *hmi_events_contact(const hmi_events *ev, size_t k)
{
    size_t first = ev->switches.events_end;
    return k < first ? NULL : &ev->contact->functions[k - first];
}

bool hmi_events_fired(const hmi_events *ev, size_t k)
{
    for (size_t i = 0; i < ev->crossing.count; i++)
        if (ev->crossing.which[i] == k)
            return true;
    return false;
}

/* ---- resets ---- */

static void put(hmi_events *ev, const hmi_component *component, double value)
{
    size_t n = ev->ode->n, base = component->kind == HMI_SYM_COORD      ? 0
                                  : component->kind == HMI_SYM_VELOCITY ? n
                                                                        : 2 * n;
    ev->stepper->y[base + component->index] = value;
    if (base + component->index < 2 * n)
        ev->resets.fixed[base + component->index] = true;
}

/* New values of all resets at once, from the state before; false where nothing is set. */
static bool set_values(hmi_events *ev)
{
    const hm_model *model = ev->ode->sim->system->model;
    size_t first = 0;
    bool any = false;
    memset(ev->resets.fixed, 0, 2 * ev->ode->n);
    const hmi_point at = hmi_stepper_point(ev->stepper);
    const hmi_tape_values values = hmi_sim_values(ev->ode->sim, &at);
    hmi_tape_run(&ev->resets.tape, &values, ev->resets.work);
    const double *out = hmi_tape_outputs(&ev->resets.tape, ev->resets.work);
    for (size_t e = 0; e < model->events.count; e++) {
        const hmi_event *event = &model->events.data[e];
        bool fired = hmi_events_fired(ev, ev->switches.switches + e);
        for (size_t i = 0; i < event->set_count && fired; i++) {
            put(ev, &event->set[i], out[first + i]);
            any = true;
        }
        first += event->set_count;
    }
    return any;
}

/* The new state onto the constraints; what was set stays where that is possible. */
static hm_status make_consistent(hmi_events *ev)
{
    hmi_stepper *s = ev->stepper;
    const bool *fixed = ev->resets.fixed;
    const hmi_contacts *contacts = ev->ode->sim->contacts;
    const bool *skip = contacts ? contacts->left_out : NULL; /* rows that need not hold */
    hmi_consistent c = {.projection = ev->projection, .skip_position = skip, .skip_velocity = skip};
    hm_status status = hmi_make_consistent(&c, s->t, s->y, fixed, fixed + ev->ode->n);
    if (status != HM_ERR_INCONSISTENT)
        return status;
    hmi_messages_warn(
        ev->messages,
        "the state set by an event violates constraint '%s': it was moved onto the constraints",
        ev->ode->sim->system->model->constraints.data[c.worst_row].name);
    return hmi_project(ev->projection, s->t, s->y);
}

/* With contacts: one-sided rows may be open afterwards, or be struck; none may be violated. */
static hm_status make_consistent_with_contacts(hmi_events *ev)
{
    hmi_stepper *s = ev->stepper;
    hmi_contact_release(ev->contact);
    hm_status status = make_consistent(ev);
    const char *name = status == HM_OK ? hmi_contact_close_violated(ev->contact) : NULL;
    if (!name)
        return status;
    hmi_messages_warn(
        ev->messages,
        "the state set by an event violates constraint '%s': it was moved onto the constraints",
        name);
    return hmi_project(ev->projection, s->t, s->y);
}

/* Branches of constraints are those of the new state: the modes are found after it. */
hm_status hmi_events_reset(hmi_events *ev)
{
    bool contacts = ev->contact && ev->contact->contacts;
    if (!set_values(ev) || !ev->stepper->settle)
        return HM_OK;
    hmi_residuals_use_modes(ev->projection->residuals, false);
    hm_status status = contacts ? make_consistent_with_contacts(ev) : make_consistent(ev);
    hmi_residuals_use_modes(ev->projection->residuals, true);
    return status;
}

/* ---- constraints that jump ---- */

/* More than that, relative to the size of velocities, is no error of the place where they switch. */
#define LEAST_JUMP 1e-6

void hmi_events_keep_residuals(hmi_events *ev)
{
    hmi_residuals *r = ev->projection->residuals;
    const hmi_point at = hmi_stepper_point(ev->stepper);
    if (!r->by_modes)
        return;
    hmi_residuals_evaluate(r, &at);
    memcpy(r->before, r->position, 2 * r->count * sizeof *r->before);
}

hm_status hmi_events_check_jumps(hmi_events *ev)
{
    hmi_residuals *r = ev->projection->residuals;
    const hmi_stepper *s = ev->stepper;
    const hmi_point at = hmi_stepper_point(s);
    if (!r->by_modes)
        return HM_OK;
    hmi_residuals_evaluate(r, &at);
    double scale = 1 + hmi_max_abs((int)ev->ode->n, at.v);
    for (size_t k = 0; k < 2 * r->count; k++) {
        double jump = r->position[k] - r->before[k];
        if (fabs(jump) <= LEAST_JUMP * scale)
            continue;
        bool position = k < r->count || r->level[k - r->count] == HM_LEVEL_VELOCITY;
        hmi_messages_fail(ev->messages,
                          "stopped at t = %.12g: constraint '%s' jumps there%s by %.3g: only an "
                          "impact could follow it",
                          s->t, ev->ode->sim->system->model->constraints.data[k % r->count].name,
                          position ? "" : " in its velocity", fabs(jump));
        return HM_ERR_INCONSISTENT;
    }
    return HM_OK;
}

/* ---- Zeno ---- */

enum { QUICK = 4, HALF = HMI_ZENO_TIMES / 2 };

/* The time from the crossing that is `count` before the next one; infinite where there is none. */
static double time_since(const hmi_events *ev, long count)
{
    const hmi_zeno *z = &ev->zeno;
    return z->total < count ? INFINITY
                            : ev->stepper->t - z->recent[(z->total - count) % HMI_ZENO_TIMES];
}

/* How long the run has lasted, or its time: what differences of times are small against. */
static double elapsed(const hmi_events *ev)
{
    const hmi_stepper *s = ev->stepper;
    return fmax(s->t - s->t_begin, fabs(s->t));
}

/* Do the last crossings come faster than those before them? Many that come evenly are no Zeno. */
static bool comes_faster(const hmi_events *ev)
{
    double half = time_since(ev, HALF);
    return half < 0.5 * (time_since(ev, HMI_ZENO_TIMES) - half);
}

/* Too many in too short a time: they would never end. */
hm_status hmi_events_check_zeno(hmi_events *ev)
{
    hmi_zeno *z = &ev->zeno;
    double t = ev->stepper->t, scale = elapsed(ev);
    size_t k = ev->crossing.which[0];
    const hmi_event *event = hmi_events_model_event(ev, k);
    /* an event that fires again at once: what it does cannot be seen in numbers any more */
    bool again = event && k == z->last && time_since(ev, 1) <= 8 * HMI_EPSILON * scale;
    bool zeno = again || time_since(ev, QUICK) <= 1e-11 * scale ||
                (time_since(ev, HMI_ZENO_TIMES) < 1e-6 * scale && comes_faster(ev));
    if (hmi_locations_only(ev)) /* knots may lie as close as they like */
        return HM_OK;
    z->last = k;
    z->recent[z->total++ % HMI_ZENO_TIMES] = t;
    if (!zeno)
        return HM_OK;
    hmi_messages_fail(ev->messages, "stopped at t = %.12g: %s%s%s repeats ever faster (Zeno)", t,
                      event ? "event '" : "the switching of a function", event ? event->name : "",
                      event ? "'" : "");
    return HM_ERR_NUMERIC;
}

bool hmi_events_accumulate(const hmi_events *ev)
{
    double scale = elapsed(ev);
    return ev->zeno.total >= QUICK && time_since(ev, 1) < 1e-12 * scale &&
           time_since(ev, QUICK) < 1e-6 * scale;
}
