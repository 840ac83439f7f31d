/* Steps across a rank drop that the method of the run cannot take.
 *
 * Radau's stages are solved for, and near a drop (singular value s) the noise of an iterate is one of
 * e/s in the next: no iteration converges where an explicit method, its step placed such that no
 * stage comes near (rank.c), passes without harm. So DOP853 is the fallback for the few steps across.
 * Verified: test/physics/test_rank_drop.c
 */
#include "integrate/rank/guard.h"

#include <math.h>
#include <string.h>

/* Rows this near to dependence (the sine of an angle) and coming nearer call for the fallback, early
 * enough for its longer steps; it stays until they are further away, at most so many steps. */
#define NEAR_DROP 0.3
#define FAR_AGAIN 4
enum { LEAST_STAY = 4, MOST_STAY = 300, AHEAD = 25 };

hm_status hmi_guard_prepare_fallback(hmi_guard *g)
{
    hmi_fallback *f = &g->fallback;
    if (!g->stepper->method->hands_over || !g->rank.now || f->memory)
        return HM_OK;
    f->memory = hmi_arena_alloc(g->arena,
                                hmi_method_dop853.memory_size(&hmi_method_dop853, g->ode));
    return f->memory ? HM_OK : HM_ERR_NOMEM;
}

const hmi_method *hmi_guard_method(const hmi_guard *g)
{
    return g->fallback.replaced ? g->fallback.replaced : g->stepper->method;
}

static hm_status change(hmi_stepper *s, const hmi_method *method, void *memory)
{
    s->method = method;
    s->memory = memory;
    s->f_valid = false;
    return method->start(s);
}

static bool may_begin(const hmi_guard *g)
{
    const hmi_fallback *f = &g->fallback;
    const hmi_rank_watch *w = &g->rank;
    return f->memory && !f->replaced && !f->given_up && g->ode->kept && !g->ode->dirac &&
           w->steps > 0 && w->smallest[1] < NEAR_DROP;
}

static hm_status begin(hmi_guard *g)
{
    hmi_fallback *f = &g->fallback;
    f->replaced = g->stepper->method;
    f->replaced_memory = g->stepper->memory;
    f->steps = 0;
    f->angle = g->rank.smallest[1];
    hmi_messages_warn(g->messages,
                      "steps where the constraints come near a loss of rank are taken by dop853");
    return change(g->stepper, &hmi_method_dop853, f->memory);
}

bool hmi_guard_fall_back(hmi_guard *g, double t_before)
{
    hmi_stepper *s = g->stepper;
    if (!may_begin(g))
        return false;
    if (s->t != t_before) { /* the step itself was good, drift control was not */
        s->t = t_before;
        memcpy(s->y, s->y_old, (s->size + s->works) * sizeof *s->y);
    }
    return begin(g) == HM_OK;
}

/* Would rows be dependent after AHEAD steps if their angle went on falling as in the last? */
static bool falls_to_nothing(double before, double now)
{
    double fall = before - now;
    return fall > 0 && now < AHEAD * fall;
}

/* Of redundant rows those in use may come near dependence while others could take their place: then no
 * rank is lost. It is where the angle of the best ones falls as well, in two steps one after the other:
 * once it may since others have become the best. */
static bool best_rows_fall(hmi_guard *g)
{
    hmi_fallback *f = &g->fallback;
    double now = hmi_guard_best_angle(g);
    bool fell = f->best_fell;
    f->best_fell = falls_to_nothing(f->best, now);
    f->best = now;
    return fell && f->best_fell;
}

static bool drop_comes(hmi_guard *g)
{
    const hmi_rank_watch *w = &g->rank;
    bool best = !g->rows.any || best_rows_fall(g); /* at every step */
    return best && w->steps == 2 && falls_to_nothing(w->smallest[0], w->smallest[1]);
}

hm_status hmi_guard_change_method(hmi_guard *g)
{
    hmi_fallback *f = &g->fallback;
    const hmi_rank_watch *w = &g->rank;
    bool comes = f->memory && drop_comes(g);
    if (!f->replaced)
        return may_begin(g) && comes ? begin(g) : HM_OK;
    bool far = w->steps > 0 && w->smallest[1] >= fmin(FAR_AGAIN * f->angle, NEAR_DROP) &&
               isinf(g->stepper->singular) && !comes;
    if (++f->steps <= LEAST_STAY || (!far && f->steps < MOST_STAY))
        return HM_OK;
    const hmi_method *method = f->replaced;
    f->given_up = !far; /* stiff motion is not for it */
    f->replaced = NULL;
    return change(g->stepper, method, f->replaced_memory);
}
