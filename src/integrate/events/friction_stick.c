/* Directions at an event: does friction along u/|u| hold, and where does it lead when it does not?
 * The equations are in switch.h; the sides of other functions are found in sides.c. */
#include "integrate/events/events.h"

#include "linalg/linalg.h"

#include <math.h>
#include <string.h>

enum { IMPULSES = 3, TURNS = 20 };

static void hold(hmi_switches *sw, hmi_direction *u, bool stuck)
{
    for (size_t i = 1; i <= u->count; i++) {
        sw->held.sliding += stuck;
        sw->held.sliding -= sw->sliding[u->first + i];
        sw->sliding[u->first + i] = stuck;
    }
    u->stuck = stuck;
    hmi_rests_settle(sw);
}

/* q'' and u' with the heading s = e_j (j = count: s = 0), into qdd[n] and rate[count]. */
static hm_status look(hmi_events *ev, hmi_direction *u, size_t j, double *qdd, double *rate)
{
    hmi_switches *sw = &ev->switches;
    for (size_t i = 0; i < u->count; i++)
        u->heading[i] = i == j;
    const hmi_point at = hmi_stepper_point(ev->stepper);
    hm_status status = hmi_ode_forces(ev->ode, at.t, at.q, NULL);
    memcpy(qdd, ev->ode->sim->last.qdd, ev->ode->n * sizeof *qdd);
    memcpy(rate, hmi_switches_rates(sw, &at) + u->first + 1, u->count * sizeof *rate);
    return status;
}

/* Velocities along the friction that make u = 0: v -= dq''/ds (du'/ds)^+ u. Where |u| is not tiny
 * the headings would not count: that is up to `largest`. */
static hm_status bring_to_rest(hmi_events *ev, hmi_direction *u)
{
    hmi_switches *sw = &ev->switches;
    size_t n = ev->ode->n, c = u->count;
    double *base = ev->free, *other = ev->pushed, largest = u->largest;
    double *rate = sw->rates, *with = sw->shifted, slope = 0;
    hmi_cod cod;
    u->largest = INFINITY;
    hm_status status = look(ev, u, c, base, rate);
    for (size_t j = 0; j < c && status == HM_OK; j++) {
        status = look(ev, u, j, other, with);
        for (size_t i = 0; i < c; i++)
            slope = fmax(slope, fabs(sw->jacobian[j * c + i] = with[i] - rate[i]));
    }
    u->largest = largest;
    u->push = slope;
    if (status != HM_OK || slope == 0)
        return status;
    hmi_cod_factor(&cod, (int)c, (int)c, sw->jacobian, (int)c, 1e-10 * slope, sw->solver,
                   sw->pivots);
    const hmi_point at = hmi_stepper_point(ev->stepper);
    memcpy(rate, hmi_switches_values(sw, &at) + u->first + 1, c * sizeof *rate);
    hmi_cod_solve(&cod, rate, with);
    memcpy(rate, with, c * sizeof *rate);
    u->largest = INFINITY;
    for (size_t j = 0; j < c && status == HM_OK; j++) {
        double impulse = rate[j];
        status = look(ev, u, j, other, with);
        for (size_t i = 0; i < n; i++)
            ev->stepper->y[n + i] -= impulse * (other[i] - base[i]);
    }
    u->largest = largest;
    return status;
}

/* In a plane the direction of a small u turns fast (at a rate |u'|/|u|): near rest the heading stands
 * for it, up to a speed where the difference is below the tolerance. */
static double loose_speed(const hmi_events *ev, const hmi_direction *u)
{
    double scale = fmax(u->largest, u->push * (isfinite(ev->span) ? 0.01 * ev->span : 0));
    return u->count < 2 ? u->least : fmax(u->least, pow(ev->stepper->rtol, 2.0 / 3) * scale);
}

/* u starts along the s that u' is along: s = (a + B s)/|a + B s|, from the s that would hold. */
static hm_status start_moving(hmi_events *ev, hmi_direction *u)
{
    hmi_switches *sw = &ev->switches;
    const hmi_point at = hmi_stepper_point(ev->stepper);
    double size = hmi_direction_norm(sw, &at, u), scale = u->push;
    hm_status status = HM_OK;
    for (size_t i = 0; i < u->count; i++)
        u->heading[i] = size > 0 ? sw->mode[u->first + 1 + i] / size : 0;
    hold(sw, u, false);
    sw->side[u->first] = -1;
    u->loose = loose_speed(ev, u);
    for (int turn = 0; turn < TURNS && status == HM_OK; turn++) {
        status = hmi_ode_forces(ev->ode, at.t, at.q, NULL);
        const double *rate = hmi_switches_rates(sw, &at) + u->first + 1;
        double length = hmi_norm((int)u->count, rate), change = 0;
        for (size_t i = 0; i < u->count && length > 1e-9 * scale; i++) {
            /* half way: B may turn it to and fro */
            double next = 0.5 * (u->heading[i] + rate[i] / length);
            change = fmax(change, fabs(next - u->heading[i]));
            u->heading[i] = next;
        }
        double norm = hmi_norm((int)u->count, u->heading);
        for (size_t i = 0; i < u->count && norm > 0; i++)
            u->heading[i] /= norm;
        if (change < 1e-14)
            break;
    }
    return status;
}

/* |u| is as good as 0: it sticks, or turns round. */
static hm_status come_to_rest(hmi_events *ev, hmi_direction *u)
{
    hmi_switches *sw = &ev->switches;
    hm_status status = HM_OK;
    for (int i = 0; i < IMPULSES && status == HM_OK; i++)
        status = bring_to_rest(ev, u);
    if (status != HM_OK)
        return status;
    hold(sw, u, true);
    const hmi_point at = hmi_stepper_point(ev->stepper);
    status = hmi_ode_forces(ev->ode, at.t, at.q, NULL);
    if (status != HM_OK)
        return status;
    return hmi_direction_norm(sw, &at, u) <= 1 + 1e-12 ? HM_OK : start_moving(ev, u);
}

void hmi_watch_directions(hmi_events *ev, const double *g)
{
    for (size_t k = 0; k < ev->switches.held.directions; k++) {
        hmi_direction *u = &ev->switches.directions[k];
        if (isfinite(g[u->first]))
            u->largest = fmax(u->largest, g[u->first]);
        u->least = ev->stepper->atol + ev->stepper->rtol * u->largest;
    }
}

hm_status hmi_settle_directions(hmi_events *ev, bool reset)
{
    hmi_switches *sw = &ev->switches;
    hm_status status = HM_OK;
    for (size_t k = 0; k < sw->held.directions && status == HM_OK; k++) {
        hmi_direction *u = &sw->directions[k];
        const hmi_point at = hmi_stepper_point(ev->stepper);
        const double *g = hmi_switches_values(sw, &at);
        bool fired = hmi_events_fired(ev, u->first);
        bool slow = g[u->first] <= u->least, falling = fired && sw->side[u->first] > 0;
        if (u->stuck && reset && !slow)
            hold(sw, u, false);
        if (!u->stuck && ((slow && reset) || falling)) {
            status = come_to_rest(ev, u);
        } else if (u->stuck) {
            status = hmi_ode_forces(ev->ode, at.t, at.q, NULL);
            if (status == HM_OK && (fired || hmi_direction_norm(sw, &at, u) > 1 + 1e-12))
                status = start_moving(ev, u);
        } else if (!slow || fired) {
            sw->side[u->first] = 1;
        }
    }
    return status;
}
