/* Switches by functions of t alone, found ahead of the motion: steps end there. */
#include "integrate/events/events.h"

#include <math.h>

/* How far to look ahead. A run without an end is looked through in windows that grow; a step ends
 * where a window does. */
static double look_until(hmi_events *ev, double t, double limit)
{
    if (isfinite(ev->span))
        return fmax(limit, t + ev->span);
    const hmi_stepper *s = ev->stepper;
    ev->window = fmax(2 * ev->window, 100 * (s->t - s->t_old));
    if (ev->window == 0)
        ev->window = 1;
    return t + ev->window;
}

double hmi_events_next_time(hmi_events *ev, double limit)
{
    hmi_switches *sw = &ev->switches;
    double t = ev->stepper->t, next = limit;
    for (size_t k = 0; k < sw->switches; k++) {
        bool sure;
        if (!ev->watch.functions[k].time_only || hmi_switch_has_no_way(sw, k) || sw->sliding[k] ||
            hmi_switch_follows(sw, k) || !(limit > t))
            continue;
        if (ev->next_time[k] <= t)
            ev->next_time[k] = hmi_watch_next_time(&ev->watch, k, sw->side[k], t,
                                                   look_until(ev, t, limit), &sure);
        if (ev->next_time[k] > t)
            next = fmin(next, ev->next_time[k]);
    }
    return next;
}
