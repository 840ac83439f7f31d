/* Free flight as a part of a run: instead of steps, up to the next output time. */
#include "integrate/run/run.h"

#include <math.h>
#include <string.h>

bool hmi_run_flies(const hmi_run *run, double t_limit)
{
    return run->flight.possible && run->automatic && !run->ode.dirac && t_limit < 1e299 &&
           run->recorder.ledger.count == 0 && hmi_flight_serves(&run->flight);
}

/* The impact at which the flight ended, and the state after it. */
static hm_status take_over(hmi_run *run)
{
    run->events.crossing.count = 0;
    run->s.f_valid = false;
    run->restart = true;
    return hmi_run_settle_contacts(run);
}

hm_status hmi_run_fly(hmi_run *run, double t_limit)
{
    hmi_stepper *s = &run->s;
    double output = hmi_run_output_time(run);
    double until = output > s->t ? fmin(t_limit, output) : t_limit;
    hmi_flight_end end;
    long impacts;
    hm_status status = hmi_flight_go(&run->flight, &s->t, s->y, until, &impacts, &end);
    const hmi_point at = hmi_stepper_point(s);
    s->t_old = s->t;
    memcpy(s->y_old, s->y, s->size * sizeof *s->y);
    s->steps += impacts + 1;
    s->f_valid = false;
    run->restart = true; /* where steps go on from here */
    hmi_contacts_measure(run->sim->contacts, &at, 0);
    run->recorder.energy.by_impacts = run->contact.by_impacts;
    if (status == HM_OK && end == HMI_FLIGHT_LEFT)
        status = take_over(run);
    run->reached = s->t;
    return status;
}
