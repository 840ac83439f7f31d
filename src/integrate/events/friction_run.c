/* The modes of directions u/|u| at a point: |u| and s, or the heading where |u| says nothing. */
#include "integrate/events/switch.h"

#include <math.h>

/* |u| at rest: terms of higher degree than u vanish beside those of u. */
#define TINY 1e-100

void hmi_directions_update(hmi_branches *held, const hmi_point *at)
{
    hmi_switches *sw = (hmi_switches *)held;
    const double *g = hmi_switches_values(sw, at);
    for (size_t k = 0; k < sw->held.directions; k++) {
        const hmi_direction *d = &sw->directions[k];
        double *mode = sw->mode + d->first, length = g[d->first];
        /* after rest |u| shows its direction only when it is more than that */
        double least = sw->side[d->first] < 0 ? d->loose : 1e-14 * d->largest;
        bool moves = !d->stuck && length > fmax(least, TINY);
        mode[0] = moves ? length : TINY;
        for (size_t i = 1; i <= d->count; i++)
            mode[i] = moves ? g[d->first + i] / length : d->stuck ? 0 : d->heading[i - 1];
    }
}

double hmi_direction_norm(hmi_switches *sw, const hmi_point *at, const hmi_direction *direction)
{
    return hmi_switches_values(sw, at)[direction->first + direction->count + 1];
}

bool hmi_directions_rest(hmi_switches *sw, const hmi_point *at)
{
    const double *g = hmi_switches_values(sw, at);
    for (size_t k = 0; k < sw->held.directions; k++)
        if (!(g[sw->directions[k].first] > 0))
            return true;
    return false;
}
