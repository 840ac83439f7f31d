/* Proves that the energy changes, however little (exact_rate.h).
 *
 * A damping of 1e-12 beside a spring of 1 is below what powers in double precision can be compared with.
 * In balls its rate is nonzero, proved, at a random state; where balls contain 0, the rate is zero to so
 * many bits. Models without such states (analyse/symmetry/states.h) keep the answer of the audit.
 * Verified: test/cases/test_claims.c
 */
#include "analyse/energy/exact_rate.h"

#include "analyse/symmetry/generators.h"
#include "analyse/symmetry/states.h"

#include <math.h>

/* What is watched: the total, for its rate, and the powers that are expressions. */
enum { TOTAL, IMPRESSED, DISSIPATION, EXPLICIT_TIME, WATCHED };

/* log2 of what counts as zero where numbers are known to double precision only, relative to the largest
 * power or |q'| |q''|. */
#define INEXACT_ZERO (-36.0)

typedef struct rates {
    hmi_states states;
    double nonzero[WATCHED]; /* log2 of lower bounds; -inf: not proved */
    double largest; /* log2: what numbers known to double precision only are compared with */
    double zero;    /* log2 of the largest rate that may be zero, relative to that */
} rates;

static double scale_of(const hmi_states *s)
{
    double speed = -INFINITY, change = -INFINITY;
    for (size_t i = 0; i < s->n; i++) {
        speed = fmax(speed, hmi_log2_above(s->v + i));
        change = fmax(change, hmi_log2_above(s->acceleration + i));
    }
    return fmax(0, speed + change);
}

/* Value of a power, rate of the total. */
static arb_srcptr watched(const rates *r, size_t k)
{
    return hmi_states_value(&r->states, k, k == TOTAL ? 1 : 0);
}

static void look(rates *r)
{
    bool inexact = hmi_states_inexact(&r->states);
    double scale = scale_of(&r->states);
    for (size_t k = 0; k < WATCHED; k++)
        scale = fmax(scale, hmi_log2_above(watched(r, k)));
    for (size_t k = 0; k < WATCHED; k++) {
        double below = hmi_log2_below(watched(r, k));
        if (!inexact || below > scale + INEXACT_ZERO)
            r->nonzero[k] = fmax(r->nonzero[k], below);
    }
    double above = hmi_log2_above(watched(r, TOTAL));
    r->zero = fmax(r->zero, isnan(above) ? INFINITY : above - scale);
}

static hm_status watch_all(rates *r, const hmi_derived *d)
{
    const hmi_expr list[WATCHED] = {d->total, d->power.impressed, d->power.dissipation,
                                    d->power.explicit_time};
    hm_status status = HM_OK;
    for (size_t k = 0; k < WATCHED && status == HM_OK; k++) {
        r->nonzero[k] = -INFINITY;
        status = hmi_states_watch(&r->states, list[k]);
    }
    return status;
}

static hm_status draw_all(rates *r, hmi_sampler *sampler, const hmi_derived *d)
{
    r->zero = -INFINITY;
    hm_status status = hmi_states_init(&r->states, sampler, HMI_STATE_BITS);
    if (status == HM_OK)
        status = watch_all(r, d);
    for (int k = 0; k < HMI_STATES && status == HM_OK; k++) {
        status = hmi_states_draw(&r->states);
        if (status == HM_OK)
            look(r);
    }
    return status;
}

/* A power that is proved, as a part of the largest. */
static void grow_share(double *share, double power, double largest)
{
    if (*share == 0 && power > -INFINITY)
        *share = fmax(exp2(power - largest), 1e-300);
}

static void take(const rates *r, hm_energy *energy)
{
    double largest = -INFINITY;
    for (size_t k = 0; k < WATCHED; k++)
        largest = fmax(largest, r->nonzero[k]);
    if (r->nonzero[TOTAL] == -INFINITY) {
        bool zero = r->zero < hmi_zero_tolerance(HMI_STATE_BITS, hmi_states_inexact(&r->states));
        energy->bits = zero ? (int)fmin(-r->zero, HMI_STATE_BITS) : 0;
        return;
    }
    grow_share(&energy->rate, r->nonzero[TOTAL], largest);
    grow_share(&energy->share.impressed, r->nonzero[IMPRESSED], largest);
    grow_share(&energy->share.dissipation, r->nonzero[DISSIPATION], largest);
    grow_share(&energy->share.explicit_time, r->nonzero[EXPLICIT_TIME], largest);
    if (largest == r->nonzero[TOTAL] && r->nonzero[IMPRESSED] == -INFINITY &&
        r->nonzero[DISSIPATION] == -INFINITY && r->nonzero[EXPLICIT_TIME] == -INFINITY)
        grow_share(&energy->share.ideal, r->nonzero[TOTAL], largest); /* nothing else is left */
}

hm_status hmi_energy_exact_rate(const hm_sim *sim, hm_energy *energy)
{
    const hm_system *system = sim->system;
    hmi_forms forms = {0};
    hmi_sampler sampler = {0};
    rates r = {0};
    if (hmi_states_refusal(system) || system->derived.total == HMI_NONE)
        return HM_OK;
    hm_status status = hmi_forms_init(&forms, system);
    if (status == HM_OK)
        status = hmi_sampler_init(&sampler, &forms, sim->state.q, sim->state.at.t);
    if (status == HM_OK)
        status = draw_all(&r, &sampler, &system->derived);
    if (status == HM_OK)
        take(&r, energy);
    hmi_states_release(&r.states);
    hmi_sampler_release(&sampler);
    hmi_forms_release(&forms);
    return status == HM_ERR_NUMERIC || status == HM_ERR_LIMIT ? HM_OK : status;
}
