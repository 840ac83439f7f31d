/* The side of every function after a crossing, and at the start: which branch holds, what slides. */
#include "integrate/events/events.h"

#include "integrate/ode/degenerate.h"
#include "linalg/dense.h"

#include <math.h>
#include <string.h>

hm_status hmi_events_forces(hmi_events *ev, hmi_point *at)
{
    hmi_solution solution;
    if (ev->ode->dirac)
        return hmi_ode_dirac_forces(ev->ode, at);
    return hmi_ode_forces(ev->ode, at->t, at->q, ev->switches.needs_solve ? &solution : NULL);
}

/* ---- one switch ---- */

/* g' of switch k with its mode at +1 and at -1; false where there is no g'. */
static bool rates_on_both_sides(hmi_events *ev, size_t k, double rate[2])
{
    hmi_switches *sw = &ev->switches;
    double old = sw->mode[k];
    bool good = sw->has_rate[k];
    for (int i = 0; i < 2 && good; i++) {
        sw->mode[k] = i == 0 ? 1 : -1;
        hmi_point at = hmi_stepper_point(ev->stepper);
        good = hmi_events_forces(ev, &at) == HM_OK;
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
    sw->held.sliding -= sw->sliding[k];
    sw->sliding[k] = false;
    hmi_rests_settle(sw);
}

static void begin_sliding(hmi_switches *sw, size_t k, const double rate[2])
{
    sw->held.sliding += !sw->sliding[k];
    sw->sliding[k] = true;
    sw->mode[k] = -(rate[0] + rate[1]) / (rate[0] - rate[1]);
    hmi_rests_settle(sw);
}

/* Where the law at rest is another than that of motion: does it hold? Then it does: same state, same answer. */
static bool sticks_at_rest(hmi_events *ev, size_t k)
{
    hmi_switches *sw = &ev->switches;
    double rate[2];
    if (!hmi_rests_suppose(sw, k, true))
        return false;
    bool known = rates_on_both_sides(ev, k, rate);
    hmi_rests_suppose(sw, k, false);
    if (!known || !(rate[0] <= 0 && rate[1] >= 0 && rate[0] < rate[1]))
        return false;
    begin_sliding(sw, k, rate);
    return true;
}

/* A switch at g = 0: to one side, or sliding where both sides push back. */
static void decide(hmi_events *ev, size_t k, bool fired)
{
    hmi_switches *sw = &ev->switches;
    double rate[2], other = fired ? -sw->side[k] : sw->side[k];
    if (sticks_at_rest(ev, k))
        return;
    if (!rates_on_both_sides(ev, k, rate)) {
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
static hm_status release(hmi_events *ev)
{
    hmi_switches *sw = &ev->switches;
    while (sw->held.sliding) {
        size_t worst = sw->switches;
        double most = 1 + 1e-12;
        if (ev->ode->dirac) {
            ev->stepper->trouble =
                "a force sticks at a discontinuity here, which cannot be followed where "
                "coordinates determine velocities";
            hmi_messages_fail(ev->messages, "stopped at t = %.12g: %s", ev->stepper->t,
                              ev->stepper->trouble);
            return HM_ERR_UNDETERMINED;
        }
        hmi_point at = hmi_stepper_point(ev->stepper);
        hm_status status = hmi_events_forces(ev, &at);
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

/* ---- all functions ---- */

/* Did a reset move the function that fired away from its root? By more than the error of the state, and
 * than what it does in the last bits of the time. g: values and rates. */
static bool was_moved(hmi_events *ev, size_t k, const double *g)
{
    const hmi_stepper *s = ev->stepper;
    if (!ev->watch.functions[k].closed)
        return false;
    double rounding = 64 * HMI_EPSILON * fabs(s->t) * fabs(g[ev->switches.count + k]);
    return fabs(g[k]) > rounding + hmi_watch_noise(&ev->watch, k, s->t, s->y);
}

/* The side of an event: where it goes after it fired, unless a reset moved it; the sign of g after a
 * reset (at 0: where it goes); else what it was, unless g has clearly passed in a direction nobody
 * asked for. */
static void side_of_event(hmi_events *ev, size_t k, const double *g, bool fired, bool reset)
{
    hmi_switches *sw = &ev->switches;
    double value = g[k], rate = sw->has_rate[k] ? g[sw->count + k] : 0;
    bool at_zero = fabs(value) < 1e-14;
    if (fired && !(reset && was_moved(ev, k, g)))
        sw->side[k] = rate != 0 ? (rate > 0 ? 1 : -1) : -sw->side[k];
    else if (reset && at_zero && rate != 0)
        sw->side[k] = rate > 0 ? 1 : -1;
    else if (reset ? !at_zero : value * sw->side[k] < -1e-12)
        sw->side[k] = value < 0 ? -1 : 1;
}

/* Sides of all functions that are not at 0 by their sign, then those at 0. */
hm_status hmi_events_find_sides(hmi_events *ev, bool reset)
{
    hmi_switches *sw = &ev->switches;
    hmi_point at = hmi_stepper_point(ev->stepper);
    hm_status status = hmi_events_forces(ev, &at);
    if (status != HM_OK && !reset)
        return status;
    if (reset)
        hmi_locations_find(ev);
    else
        hmi_locations_move_on(ev);
    const double *g = hmi_switches_values(sw, &at);
    double *value = ev->values;
    memcpy(value, g, 2 * sw->count * sizeof *g);
    for (size_t k = 0; k < sw->switches; k++)
        if (!hmi_switch_follows(sw, k) && !sw->is_way[k] && !hmi_events_fired(ev, k) &&
            fabs(value[k]) > 1e-13 && (reset || !sw->sliding[k]))
            take_side(sw, k, value[k] > 0 ? 1 : -1);
    for (size_t k = 0; k < sw->switches; k++) {
        bool fired = hmi_events_fired(ev, k);
        if (hmi_switch_follows(sw, k) || sw->is_way[k])
            continue;
        if (fired && reset && was_moved(ev, k, value))
            take_side(sw, k, value[k] > 0 ? 1 : -1);
        else if (fired && sw->sliding[k])
            take_side(sw, k, sw->mode[k] > 0 ? 1 : -1);
        else if (fired || (fabs(value[k]) <= 1e-13 && !sw->sliding[k] && reset))
            decide(ev, k, fired);
    }
    status = release(ev);
    if (status == HM_OK)
        status = hmi_settle_directions(ev, reset);
    at = hmi_stepper_point(ev->stepper);
    if (status == HM_OK)
        status = hmi_events_forces(ev, &at);
    g = hmi_switches_values(sw, &at);
    for (size_t k = sw->switches; k < sw->events_end; k++)
        side_of_event(ev, k, g, hmi_events_fired(ev, k), reset);
    return status;
}

hm_status hmi_events_watch_conditions(hmi_events *ev)
{
    hmi_switches *sw = &ev->switches;
    hmi_point at = hmi_stepper_point(ev->stepper);
    hm_status status = hmi_events_forces(ev, &at);
    const double *g = hmi_switches_values(sw, &at) + sw->events_end;
    hmi_contact_leave_conditions(ev->contact, g, g + sw->count);
    return status;
}

hm_status hmi_events_settle_contacts(hmi_events *ev, bool *jumped)
{
    hmi_switches *sw = &ev->switches;
    hmi_contact_run *contact = ev->contact;
    const hmi_point at = hmi_stepper_point(ev->stepper);
    for (size_t k = 0; k < contact->count; k++)
        contact->fired[k] = hmi_events_fired(ev, sw->events_end + k);
    hmi_contact_find_sides(contact, hmi_switches_values(sw, &at) + sw->events_end);
    hmi_contact_find_conditions(contact);
    hm_status status = hmi_contact_settle(contact, jumped);
    return status == HM_OK ? hmi_events_watch_conditions(ev) : status;
}

hm_status hmi_events_begin(hmi_events *ev)
{
    hmi_switches *sw = &ev->switches;
    ev->crossing.count = 0;
    hmi_residuals_use_modes(ev->projection->residuals, true);
    for (size_t k = 0; k < sw->switches; k++) /* modes by sign, for a first evaluation */
        sw->mode[k] = sw->is_way[k] ? 0 : 1;
    hmi_locations_find(ev);
    const hmi_point at = hmi_stepper_point(ev->stepper);
    const double *g = hmi_switches_values(sw, &at);
    for (size_t k = 0; k < sw->switches; k++)
        if (!sw->is_way[k])
            take_side(sw, k, g[k] < 0 ? -1 : 1);
    hmi_watch_directions(ev, g);
    return hmi_events_find_sides(ev, true);
}
