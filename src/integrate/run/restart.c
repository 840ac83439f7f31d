/* Another run of a driver, from another state: what ensembles do thousands of times. See driver.h. */
#include "integrate/run/driver.h"

#include <string.h>

static void forget_run(hmi_driver *d)
{
    size_t m = d->residuals.count * sizeof(double);
    memset(d->position_violation, 0, m);
    memset(d->velocity_violation, 0, m);
    memset(d->violation, 0, m);
    memset(d->s.y, 0, (d->ode.size + HMI_MOST_WORKS) * sizeof *d->s.y);
    d->balance_error = d->s.work_scale = 0;
    d->s.steps = d->s.rejected = d->ode.evaluations = 0;
    d->s.f_valid = d->s.stiff = false;
    d->s.least = NULL;
    d->outputs = 0;
}

hm_status hmi_driver_restart(hmi_driver *d)
{
    hmi_driver_enter(d);
    forget_run(d);
    d->s.t = d->sim->state.at.t = d->options.start;
    hm_status status = d->options.keep_initial ? HM_OK : hmi_driver_move_state(d, false);
    if (status == HM_OK)
        status = hmi_driver_begin(d);
    if (status == HM_OK && !(*d->motion->margin > 0))
        status = HM_ERR_UNDETERMINED;
    return status;
}
