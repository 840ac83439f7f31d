/* Steps across a rank drop that the method of the run cannot take: see driver.h.
 *
 * Radau's stages are solved for, and near a drop (singular value s) the noise of an iterate is one of
 * e/s in the next: no iteration converges where an explicit method, its step placed such that no
 * stage comes near (rank.c), passes without harm. So DOP853 is the guest for the few steps across.
 * Verified: test/physics/test_rank_drop.c
 */
#include "integrate/run/driver.h"

#include <math.h>
#include <string.h>

/* Rows this near to dependence (the sine of an angle) and coming nearer call the guest, early enough
 * for its longer steps; it stays until they are further away, at most so many steps. */
#define NEAR_DROP 0.3
#define FAR_AGAIN 4
enum { LEAST_STAY = 4, MOST_STAY = 300, AHEAD = 25 };

hm_status hmi_guest_init(hmi_driver *d)
{
    if (!d->method->hands_over || !d->rank.now || d->guest.memory)
        return HM_OK;
    d->guest.memory = hmi_arena_alloc(&d->arena,
                                      hmi_method_dop853.memory_size(&hmi_method_dop853, &d->ode));
    return d->guest.memory ? HM_OK : HM_ERR_NOMEM;
}

static hm_status change(hmi_driver *d, const hmi_method *method, void *memory)
{
    d->s.method = d->method = method;
    d->s.memory = memory;
    d->s.f_valid = false;
    return method->start(&d->s);
}

static bool may_call(const hmi_driver *d)
{
    const hmi_rank_watch *w = &d->rank;
    return d->guest.memory && !d->guest.home && !d->guest.tired && d->drift == HMI_DRIFT_PROJECT &&
           !d->ode.dirac && w->steps > 0 && w->smallest[1] < NEAR_DROP;
}

static hm_status call(hmi_driver *d)
{
    hmi_guest *g = &d->guest;
    g->home = d->method;
    g->home_memory = d->s.memory;
    g->steps = 0;
    g->angle = d->rank.smallest[1];
    hmi_driver_warn(d, "steps near places where the constraints lose rank are taken by dop853");
    return change(d, &hmi_method_dop853, g->memory);
}

bool hmi_driver_call_guest(hmi_driver *d, double t_before)
{
    hmi_stepper *s = &d->s;
    if (!may_call(d))
        return false;
    if (s->t != t_before) { /* the step itself was good, drift control was not */
        s->t = t_before;
        memcpy(s->y, s->y_old, (s->size + s->works) * sizeof *s->y);
    }
    return call(d) == HM_OK;
}

/* Would the rows be dependent after AHEAD steps if their angle went on falling? */
static bool drop_comes(const hmi_rank_watch *w)
{
    double fall = w->smallest[0] - w->smallest[1];
    return w->steps == 2 && fall > 0 && w->smallest[1] < AHEAD * fall;
}

hm_status hmi_driver_change_guest(hmi_driver *d)
{
    hmi_guest *g = &d->guest;
    const hmi_rank_watch *w = &d->rank;
    if (!g->home)
        return may_call(d) && drop_comes(w) ? call(d) : HM_OK;
    bool far = w->steps > 0 && w->smallest[1] >= fmin(FAR_AGAIN * g->angle, NEAR_DROP) &&
               isinf(d->s.singular) && !drop_comes(w);
    if (++g->steps <= LEAST_STAY || (!far && g->steps < MOST_STAY))
        return HM_OK;
    const hmi_method *home = g->home;
    g->tired = !far; /* stiff motion is not for it */
    g->home = NULL;
    return change(d, home, g->home_memory);
}
