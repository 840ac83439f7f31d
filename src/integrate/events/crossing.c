/* Crossings: found on the dense output of a step.
 *
 * Every function g has a side, the sign that holds; h = side g is what is watched (1 - |s| while
 * sliding). A step is sampled at a few places; the first interval in which some h becomes negative
 * is searched for the earliest root. Functions that cross within rounding of it act together.
 */
#include "integrate/events/events.h"

#include "linalg/dense.h"

#include <math.h>
#include <string.h>

enum { SAMPLES = 4, MOST_ROOT_STEPS = 100 };

/* ---- watching ---- */

/* h of all functions at a state; false where it cannot be evaluated. */
static bool watch(hmi_events *ev, double t, const double *y, double *h)
{
    hmi_switches *sw = &ev->switches;
    hmi_point at = hmi_ode_point(ev->ode, t, y);
    if ((sw->needs_solve || sw->held.sliding || ev->ode->dirac) &&
        hmi_events_forces(ev, &at) != HM_OK)
        return false;
    const double *g = hmi_switches_values(sw, &at);
    for (size_t k = 0; k < sw->count; k++) {
        bool part = k < sw->switches && sw->of_direction[k];
        bool slides = k < sw->switches && sw->sliding[k];
        h[k] = part ? 1 : slides ? 1 - fabs(sw->mode[k]) : sw->side[k] * g[k];
    }
    for (size_t k = 0; k < sw->held.directions; k++) {
        const hmi_direction *u = &sw->directions[k];
        h[u->first] = u->stuck                 ? 1 + 1e-12 - g[u->first + u->count + 1]
                      : sw->side[u->first] > 0 ? g[u->first] - u->least
                                               : u->loose - g[u->first];
    }
    return true;
}

static bool watch_at(hmi_events *ev, double t, double *h)
{
    const hmi_stepper *s = ev->stepper;
    if (t == s->t)
        return watch(ev, t, s->y, h);
    s->method->interpolate(s, t, ev->state);
    return watch(ev, t, ev->state, h);
}

/* Does the event want this crossing? Its side is the sign before it. */
static bool is_wanted(const hmi_events *ev, size_t k)
{
    const hmi_event *event = hmi_events_model_event(ev, k);
    if (!event || event->direction == HMI_EVENT_BOTH)
        return true;
    return (event->direction == HMI_EVENT_RISING) == (ev->switches.side[k] < 0);
}

/* ---- roots ---- */

/* Where h(a) is zero but for rounding and grows at first, a time after a with h > 0; else a. */
static double leave_start(hmi_events *ev, size_t k, double a, double b)
{
    double least = 4 * HMI_EPSILON * fmax(fabs(a), fabs(b));
    for (double step = 0.5 * (b - a); step > least; step *= 0.5)
        if (watch_at(ev, a + step, ev->between) && ev->between[k] > 0)
            return a + step;
    return a;
}

/* The first time at which h of function k is negative, within [a, b], h(b) < 0: Illinois with
 * bisection, to the last bits of t. */
static double find_root(hmi_events *ev, size_t k, double a, double ha, double b, double hb)
{
    const double *h = ev->between;
    double least = 2 * HMI_EPSILON * fmax(fabs(a), fabs(b)), start = a;
    if (!(ha > 0)) {
        a = leave_start(ev, k, a, b);
        ha = h[k];
        if (a == start)
            return fmin(a + least, b);
    }
    for (int i = 0; i < MOST_ROOT_STEPS && b - a > least; i++) {
        double t = i % 3 == 2 || !isfinite(ha - hb) ? 0.5 * (a + b) : b - hb * (b - a) / (hb - ha);
        t = fmin(fmax(t, a + 0.5 * least), b - 0.5 * least);
        if (!watch_at(ev, t, ev->between))
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

/* The earliest root in [a, b] of functions with h(b) < 0; h is in ev->before and ev->after. */
static bool find_first(hmi_events *ev, double a, double b)
{
    hmi_crossing *c = &ev->crossing;
    const double *ha = ev->before, *hb = ev->after;
    double first = INFINITY, *roots = ev->roots;
    for (size_t k = 0; k < ev->switches.count; k++) {
        roots[k] = INFINITY;
        if (hb[k] < 0 && is_wanted(ev, k))
            roots[k] = find_root(ev, k, a, ha[k], b, hb[k]);
        first = fmin(first, roots[k]);
    }
    c->count = 0;
    c->t = first;
    for (size_t k = 0; k < ev->switches.count && isfinite(first); k++)
        if (roots[k] <= first + 1e-13 * fmax(fabs(first), b - a))
            c->which[c->count++] = k;
    return c->count > 0;
}

/* Events that crossed in a direction they do not care about. */
static void pass_unwanted(hmi_events *ev, const double *h)
{
    hmi_switches *sw = &ev->switches;
    for (size_t k = sw->switches; k < sw->count; k++)
        if (h[k] < 0)
            sw->side[k] = -sw->side[k];
}

bool hmi_events_find(hmi_events *ev)
{
    const hmi_stepper *s = ev->stepper;
    size_t count = ev->switches.count;
    double *before = ev->before, *after = ev->after;
    double a = s->t_old, length = s->t - s->t_old;
    bool found = false;
    if (!watch(ev, s->t_old, s->y_old, before))
        memset(before, 0, count * sizeof *before);
    hmi_watch_directions(ev, hmi_tape_outputs(&ev->switches.values, ev->switches.values_work));
    int samples = s->method->samples > 0 ? s->method->samples : SAMPLES;
    for (int i = 1; i <= samples && !found; i++) {
        double b = i == samples ? s->t : s->t_old + length * i / samples;
        if (!watch_at(ev, b, after))
            continue;
        found = find_first(ev, a, b);
        if (!found)
            pass_unwanted(ev, after);
        for (size_t k = 0; k < count; k++)
            before[k] = fabs(after[k]);
        a = b;
    }
    return found;
}
