/* Events and switchings: found on the dense output, then acted on. See driver.h and switch.h.
 *
 * Every function g has a side, the sign that holds; h = side g is what is watched (1 - |s| while
 * sliding). A step is sampled at a few places; the first interval in which some h becomes negative
 * is searched for the earliest root. Functions that cross within rounding of it act together.
 */
#include "integrate/run/driver.h"
#include "integrate/ode/degenerate.h"

#include "linalg/dense.h"

#include <math.h>
#include <string.h>

enum { SAMPLES = 4, MOST_ROOT_STEPS = 100 };

/* ---- watching ---- */

static const hmi_event *event_of(const hmi_driver *d, size_t k)
{
    return k < d->switches.switches ? NULL : &d->model->events.data[k - d->switches.switches];
}

static double *scratch(const hmi_driver *d)
{
    return d->y + 2 * (d->ode.size + HMI_MOST_WORKS);
}

/* What functions and their rates depend on. Velocities that are found and not integrated become
 * those of the point. */
static hm_status find_forces(hmi_driver *d, hmi_point *at)
{
    hmi_solution solution;
    if (d->ode.dirac)
        return hmi_ode_dirac_forces(&d->ode, at);
    return hmi_ode_forces(&d->ode, at->t, at->q, d->switches.needs_solve ? &solution : NULL);
}

/* h of all functions at a state; false where it cannot be evaluated. */
static bool watch(hmi_driver *d, double t, const double *y, double *h)
{
    hmi_switches *sw = &d->switches;
    hmi_point at = hmi_ode_point(&d->ode, t, y);
    if ((sw->needs_solve || sw->slides || d->ode.dirac) && find_forces(d, &at) != HM_OK)
        return false;
    const double *g = hmi_switches_values(sw, &at);
    for (size_t k = 0; k < sw->count; k++) {
        bool part = k < sw->switches && sw->of_direction[k];
        bool slides = k < sw->switches && sw->sliding[k];
        h[k] = part ? 1 : slides ? 1 - fabs(sw->mode[k]) : sw->side[k] * g[k];
    }
    for (size_t k = 0; k < sw->direction_count; k++) {
        const hmi_direction *u = &sw->directions[k];
        h[u->first] = u->stuck                 ? 1 + 1e-12 - g[u->first + u->count + 1]
                      : sw->side[u->first] > 0 ? g[u->first] - u->least
                                               : u->loose - g[u->first];
    }
    return true;
}

static bool watch_at(hmi_driver *d, double t, double *h)
{
    double *y = scratch(d);
    if (t == d->s.t)
        return watch(d, t, d->s.y, h);
    d->method->interpolate(&d->s, t, y);
    return watch(d, t, y, h);
}

/* Does the event want this crossing? Its side is the sign before it. */
static bool is_wanted(const hmi_driver *d, size_t k)
{
    const hmi_event *event = event_of(d, k);
    if (!event || event->direction == HMI_EVENT_BOTH)
        return true;
    return (event->direction == HMI_EVENT_RISING) == (d->switches.side[k] < 0);
}

/* ---- roots ---- */

/* Where h(a) is zero but for rounding and grows at first, a time after a with h > 0; else a. */
static double leave_start(hmi_driver *d, size_t k, double a, double b, double *h)
{
    double least = 4 * HMI_EPSILON * fmax(fabs(a), fabs(b));
    for (double step = 0.5 * (b - a); step > least; step *= 0.5)
        if (watch_at(d, a + step, h) && h[k] > 0)
            return a + step;
    return a;
}

/* The first time at which h of function k is negative, within [a, b], h(b) < 0: Illinois with
 * bisection, to the last bits of t. */
static double find_root(hmi_driver *d, size_t k, double a, double ha, double b, double hb,
                        double *h)
{
    double least = 2 * HMI_EPSILON * fmax(fabs(a), fabs(b)), start = a;
    if (!(ha > 0)) {
        a = leave_start(d, k, a, b, h);
        ha = h[k];
        if (a == start)
            return fmin(a + least, b);
    }
    for (int i = 0; i < MOST_ROOT_STEPS && b - a > least; i++) {
        double t = i % 3 == 2 || !isfinite(ha - hb) ? 0.5 * (a + b) : b - hb * (b - a) / (hb - ha);
        t = fmin(fmax(t, a + 0.5 * least), b - 0.5 * least);
        if (!watch_at(d, t, h))
            return b;
        if (h[k] < 0) {
            if (i > 0)
                ha *= 0.5;
            b = t;
            hb = h[k];
        } else {
            a = t;
            ha = h[k] > 0 ? h[k] : 1e-300;
        }
    }
    return b;
}

/* The earliest root in [a, b] of functions with h(b) < 0. */
static bool find_first(hmi_driver *d, double a, const double *ha, double b, const double *hb,
                       double *roots, double *h)
{
    hmi_crossing *c = &d->crossing;
    double first = INFINITY;
    for (size_t k = 0; k < d->switches.count; k++) {
        roots[k] = INFINITY;
        if (hb[k] < 0 && is_wanted(d, k))
            roots[k] = find_root(d, k, a, ha[k], b, hb[k], h);
        first = fmin(first, roots[k]);
    }
    c->count = 0;
    c->t = first;
    for (size_t k = 0; k < d->switches.count && isfinite(first); k++)
        if (roots[k] <= first + 1e-13 * fmax(fabs(first), b - a))
            c->which[c->count++] = k;
    return c->count > 0;
}

/* Events that crossed in a direction they do not care about. */
static void pass_unwanted(hmi_driver *d, const double *h)
{
    hmi_switches *sw = &d->switches;
    for (size_t k = sw->switches; k < sw->count; k++)
        if (h[k] < 0)
            sw->side[k] = -sw->side[k];
}

bool hmi_find_crossing(hmi_driver *d)
{
    const hmi_stepper *s = &d->s;
    size_t count = d->switches.count;
    double *before = d->g, *after = d->g + count, *roots = after + count, *h = roots + count;
    double a = s->t_old, length = s->t - s->t_old;
    bool found = false;
    if (!watch(d, s->t_old, s->y_old, before))
        memset(before, 0, count * sizeof *before);
    hmi_watch_directions(d, hmi_tape_outputs(&d->switches.values, d->switches.values_work));
    int samples = d->method->samples > 0 ? d->method->samples : SAMPLES;
    for (int i = 1; i <= samples && !found; i++) {
        double b = i == samples ? s->t : s->t_old + length * i / samples;
        if (!watch_at(d, b, after))
            continue;
        found = find_first(d, a, before, b, after, roots, h);
        if (!found)
            pass_unwanted(d, after);
        for (size_t k = 0; k < count; k++)
            before[k] = fabs(after[k]);
        a = b;
    }
    return found;
}

/* ---- modes and sides ---- */

/* g' of switch k with its mode at +1 and at -1; false where there is no g'. */
static bool rates_on_both_sides(hmi_driver *d, size_t k, double rate[2])
{
    hmi_switches *sw = &d->switches;
    double old = sw->mode[k];
    bool good = sw->has_rate[k];
    for (int i = 0; i < 2 && good; i++) {
        sw->mode[k] = i == 0 ? 1 : -1;
        hmi_point at = hmi_driver_point(d);
        good = find_forces(d, &at) == HM_OK;
        rate[i] = hmi_switches_rates(sw, &at)[k];
    }
    sw->mode[k] = old;
    return good && isfinite(rate[0]) && isfinite(rate[1]);
}

/* A switch, not an event. */
static void take_side(hmi_switches *sw, size_t k, double side)
{
    sw->side[k] = side;
    sw->mode[k] = side;
    sw->slides -= sw->sliding[k];
    sw->sliding[k] = false;
}

static void begin_sliding(hmi_switches *sw, size_t k, const double rate[2])
{
    sw->slides += !sw->sliding[k];
    sw->sliding[k] = true;
    sw->mode[k] = -(rate[0] + rate[1]) / (rate[0] - rate[1]);
}

/* A switch at g = 0: to one side, or sliding where both sides push back. */
static void decide(hmi_driver *d, size_t k, bool fired)
{
    hmi_switches *sw = &d->switches;
    double rate[2], other = fired ? -sw->side[k] : sw->side[k];
    if (!rates_on_both_sides(d, k, rate)) {
        take_side(sw, k, other);
        return;
    }
    double difference = rate[0] - rate[1], size = fabs(rate[0]) + fabs(rate[1]);
    if (fabs(difference) <= 1e-12 * size || size == 0)
        take_side(sw, k, rate[0] > 0 ? 1 : rate[0] < 0 ? -1 : other);
    else if (difference < 0)
        begin_sliding(sw, k, rate);
    else
        take_side(sw, k, fired ? other : rate[0] > 0 ? 1 : -1);
}

/* Sliding ones whose mode is outside [-1, 1] are released, the worst first. */
static hm_status release(hmi_driver *d)
{
    hmi_switches *sw = &d->switches;
    while (sw->slides) {
        size_t worst = sw->switches;
        double most = 1 + 1e-12;
        if (d->ode.dirac) {
            d->s.trouble = "a force sticks at a discontinuity here, which cannot be followed where "
                           "coordinates determine velocities";
            hmi_driver_fail(d, "stopped at t = %.12g: %s", d->s.t, d->s.trouble);
            return HM_ERR_UNDETERMINED;
        }
        hmi_point at = hmi_driver_point(d);
        hm_status status = find_forces(d, &at);
        if (status != HM_OK)
            return status;
        for (size_t k = 0; k < sw->switches; k++)
            if (sw->sliding[k] && !sw->of_direction[k] && fabs(sw->mode[k]) > most) {
                most = fabs(sw->mode[k]);
                worst = k;
            }
        if (worst == sw->switches)
            return HM_OK;
        take_side(sw, worst, sw->mode[worst] > 0 ? 1 : -1);
    }
    return HM_OK;
}

static bool has_fired(const hmi_driver *d, size_t k)
{
    for (size_t i = 0; i < d->crossing.count; i++)
        if (d->crossing.which[i] == k)
            return true;
    return false;
}

/* The side of an event: where it goes after it fired; the sign of g after a reset (at 0: where it
 * goes); else what it was, unless g has clearly passed in a direction nobody asked for. */
static void side_of_event(hmi_driver *d, size_t k, const double *g, bool fired, bool reset)
{
    hmi_switches *sw = &d->switches;
    double value = g[k], rate = sw->has_rate[k] ? g[sw->count + k] : 0;
    bool at_zero = fabs(value) < 1e-14;
    if (fired)
        sw->side[k] = rate != 0 ? (rate > 0 ? 1 : -1) : -sw->side[k];
    else if (reset && at_zero && rate != 0)
        sw->side[k] = rate > 0 ? 1 : -1;
    else if (reset ? !at_zero : value * sw->side[k] < -1e-12)
        sw->side[k] = value < 0 ? -1 : 1;
}

/* Sides of all functions that are not at 0 by their sign, then those at 0. */
static hm_status find_sides(hmi_driver *d, bool reset)
{
    hmi_switches *sw = &d->switches;
    hmi_point at = hmi_driver_point(d);
    hm_status status = find_forces(d, &at);
    if (status != HM_OK && !reset)
        return status;
    const double *g = hmi_switches_values(sw, &at);
    double *value = d->g;
    memcpy(value, g, 2 * sw->count * sizeof *g);
    for (size_t k = 0; k < sw->switches; k++)
        if (!sw->of_direction[k] && !has_fired(d, k) && fabs(value[k]) > 1e-13 &&
            (reset || !sw->sliding[k]))
            take_side(sw, k, value[k] > 0 ? 1 : -1);
    for (size_t k = 0; k < sw->switches; k++) {
        bool fired = has_fired(d, k);
        if (sw->of_direction[k])
            continue;
        if (fired && sw->sliding[k])
            take_side(sw, k, sw->mode[k] > 0 ? 1 : -1);
        else if (fired || (fabs(value[k]) <= 1e-13 && !sw->sliding[k] && reset))
            decide(d, k, fired);
    }
    status = release(d);
    if (status == HM_OK)
        status = hmi_settle_directions(d, has_fired, reset);
    at = hmi_driver_point(d);
    if (status == HM_OK)
        status = find_forces(d, &at);
    g = hmi_switches_values(sw, &at);
    for (size_t k = sw->switches; k < sw->count; k++)
        side_of_event(d, k, g, has_fired(d, k), reset);
    return status;
}

hm_status hmi_settle_sides(hmi_driver *d)
{
    hmi_switches *sw = &d->switches;
    d->crossing.count = 0;
    for (size_t k = 0; k < sw->switches; k++) /* modes by sign, for a first evaluation */
        sw->mode[k] = 1;
    const hmi_point at = hmi_driver_point(d);
    const double *g = hmi_switches_values(sw, &at);
    for (size_t k = 0; k < sw->switches; k++)
        take_side(sw, k, g[k] < 0 ? -1 : 1);
    hmi_watch_directions(d, g);
    return find_sides(d, true);
}

/* ---- acting ---- */

static hm_status note_event(hmi_driver *d, const hmi_event *event)
{
    const hm_run_event one = {event->name, d->s.t};
    if (d->events.count >= HMI_MOST_EVENTS) {
        d->events_dropped++;
        return HM_OK;
    }
    return hmi_array_push(d->arena.allocator, &d->events, one) ? HM_OK : HM_ERR_NOMEM;
}

/* Were there `count` crossings before this one within `time`? */
static bool came_within(const hmi_driver *d, long count, double time)
{
    return d->event_total >= count &&
           d->s.t - d->recent[(d->event_total - count) % HMI_CHATTER] < time;
}

/* Too many in too short a time: they come without end. */
static hm_status check_chattering(hmi_driver *d)
{
    double span = fmax(d->options.end - d->t_begin, 1e-300);
    size_t k = d->crossing.which[0];
    const hmi_event *event = event_of(d, k);
    /* an event that fires again at once: what it does cannot be seen in numbers any more */
    bool again = event && k == d->last_event &&
                 came_within(d, 1, 8 * HMI_EPSILON * fmax(fabs(d->s.t), 1e-3 * span));
    bool chatters = again || came_within(d, HMI_CHATTER, 1e-6 * span) ||
                    came_within(d, HMI_QUICK, 1e-11 * fmax(span, fabs(d->s.t)));
    d->last_event = k;
    d->recent[d->event_total++ % HMI_CHATTER] = d->s.t;
    if (!chatters)
        return HM_OK;
    hmi_driver_fail(d, "stopped at t = %.12g: %s%s%s repeats ever faster (Zeno)", d->s.t,
                    event ? "event '" : "the switching of a function", event ? event->name : "",
                    event ? "'" : "");
    return HM_ERR_NUMERIC;
}

static void put(hmi_driver *d, const hmi_component *component, double value, bool *fixed)
{
    size_t n = d->ode.n, base = component->kind == HMI_SYM_COORD      ? 0
                                : component->kind == HMI_SYM_VELOCITY ? n
                                                                      : 2 * n;
    d->s.y[base + component->index] = value;
    if (base + component->index < 2 * n)
        fixed[base + component->index] = true;
}

/* New values of all resets at once, from the state before; then consistent again. */
static hm_status reset(hmi_driver *d)
{
    size_t first = 0;
    bool any = false;
    memset(d->fixed, 0, 2 * d->ode.n);
    const hmi_point at = hmi_driver_point(d);
    const hmi_tape_values values = hmi_sim_values(d->sim, &at);
    hmi_tape_run(&d->set_tape, &values, d->event_work);
    const double *out = hmi_tape_outputs(&d->set_tape, d->event_work);
    for (size_t e = 0; e < d->model->events.count; e++) {
        const hmi_event *event = &d->model->events.data[e];
        for (size_t i = 0; i < event->set_count && has_fired(d, d->switches.switches + e); i++) {
            put(d, &event->set[i], out[first + i], d->fixed);
            any = true;
        }
        first += event->set_count;
    }
    if (!any || !d->s.settle)
        return HM_OK;
    hmi_consistent c = {.projection = &d->projection};
    hm_status status = hmi_make_consistent(&c, d->s.t, d->s.y, d->fixed, d->fixed + d->ode.n);
    if (status != HM_ERR_INCONSISTENT)
        return status;
    hmi_driver_warn(
        d, "the state set by an event violates constraint '%s': it was moved onto the constraints",
        d->model->constraints.data[c.worst_row].name);
    return hmi_project(&d->projection, d->s.t, d->s.y);
}

/* Noted, also where a program steps on. */
static void stop(hmi_driver *d, const hmi_event *event)
{
    d->stopped = true;
    if (d->message.length == 0)
        hmi_text_addf(&d->message, "event '%s' at t = %.12g", event->name, d->s.t);
}

static hm_status act_on_events(hmi_driver *d, bool *was_reset)
{
    hm_status status = HM_OK;
    for (size_t i = 0; i < d->crossing.count && status == HM_OK; i++) {
        const hmi_event *event = event_of(d, d->crossing.which[i]);
        if (!event)
            continue;
        status = note_event(d, event);
        if (event->action == HMI_EVENT_STOP)
            stop(d, event);
        *was_reset |= event->action == HMI_EVENT_SET;
        if (status == HM_OK && !hmi_driver_give(d, d->s.t, d->s.y, HM_FRAME_REASON_EVENT))
            d->interrupted = true;
    }
    if (status != HM_OK || !*was_reset)
        return status;
    const hmi_point at = hmi_driver_point(d);
    double before = hmi_ledger_total(&d->ledger, d->sim, &at);
    status = reset(d);
    if (status == HM_OK)
        status = hmi_ode_settle(&d->ode, d->s.t, d->s.y);
    d->reset_work += hmi_ledger_total(&d->ledger, d->sim, &at) - before;
    if (status == HM_OK && !hmi_driver_give(d, d->s.t, d->s.y, HM_FRAME_REASON_EVENT))
        d->interrupted = true;
    return status;
}

/* Only modes of smooth switchings change nothing in the state; the rest starts afresh. */
hm_status hmi_act_on_crossing(hmi_driver *d)
{
    hmi_stepper *s = &d->s;
    double t = d->crossing.t;
    bool was_reset = false;
    double *y = scratch(d);
    d->method->interpolate(s, 0.5 * (s->t_old + t), y); /* ready before y changes */
    if (t != s->t) {
        d->method->interpolate(s, t, y);
        memcpy(s->y, y, (s->size + (d->method->carries_work ? s->works : 0)) * sizeof *y);
        s->t = t;
        if (s->works && !d->method->carries_work) { /* over the part of the step up to t */
            memcpy(s->y + s->size, s->y_old + s->size, s->works * sizeof *y);
            hmi_ledger_integrate(&d->ledger, d->method, s, d->y, s->y + s->size);
        }
    }
    hm_status status = hmi_driver_settle(d, t, s->y);
    if (status == HM_OK)
        status = check_chattering(d);
    if (status == HM_OK)
        status = act_on_events(d, &was_reset);
    if (status == HM_OK)
        status = find_sides(d, was_reset);
    s->f_valid = false;
    hmi_driver_forget_rank(d);
    d->restart = true; /* with the next step: until then the dense output of this one is good */
    if (status != HM_OK)
        hmi_driver_fail(d, "stopped at t = %.12g, at an event: %s", s->t, hm_status_text(status));
    return status;
}
