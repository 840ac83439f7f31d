/* Random states of the motion, in ball arithmetic: (q, v, t, z) on the constraint manifold with the
 * acceleration that the equations give there,
 *     M q'' = Q + C + A^T lambda,   A q'' = b,
 * and with it the value and the rate of change of watched expressions F(q, v, t, z): a power series
 * of two terms along the motion. A quantity is conserved where its rates are zero at enough states.
 *
 * Inputs follow their defaults. Models with servos, with forces that depend on reactions, or with
 * inputs or auxiliary states in a constraint are refused.
 * Verified: test/unit/analyse/test_states.c
 */
#ifndef HMI_ANALYSE_SYMMETRY_STATES_H
#define HMI_ANALYSE_SYMMETRY_STATES_H

#include "analyse/balls/input_defaults.h"
#include "analyse/balls/sample.h"

#include <arb_mat.h>

typedef struct hmi_states {
    hmi_sampler *sampler;
    hmi_forms *forms;
    const hmi_derived *derived;
    hmi_arena arena;
    hmi_input_defaults inputs;
    hmi_series kinematics; /* velocity residuals, then A */
    hmi_series motion;     /* M, Q, C, b, rates of z, then what is watched */
    size_t n, rows, extra; /* extra: auxiliary states */
    size_t watched, first_watched;
    size_t side;  /* the root that must have a sign, where the sampler asks for a side */
    double reach; /* how far from the sampler's velocities random ones are drawn */
    slong precision;

    hmi_curve point; /* q and t */
    arb_ptr v, z, acceleration, z_rate, lambda;
    size_t rank;    /* independent rows at the state */
    size_t *chosen; /* which */
    size_t *pivot;  /* their columns */
} hmi_states;

/* Why there are no states for a model like this; NULL: there are. */
const char *hmi_states_refusal(const hm_system *system);

hm_status hmi_states_init(hmi_states *states, hmi_sampler *sampler, slong precision);
void hmi_states_release(hmi_states *states);
/* Adds an expression to watch; before the first draw. */
hm_status hmi_states_watch(hmi_states *states, hmi_expr e);
/* The next state. HM_ERR_NUMERIC: none was found, or q'' is not determined. */
hm_status hmi_states_draw(hmi_states *states);
/* Are some numbers known to double precision only? Of what is watched by now. */
bool hmi_states_inexact(const hmi_states *states);
/* Value (derivative 0) or rate (1) of watched expression k. */
arb_srcptr hmi_states_value(const hmi_states *states, size_t k, size_t derivative);

#endif
