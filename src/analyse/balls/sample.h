/* Random points of the configuration manifold, in ball arithmetic.
 *
 * Statements such as "this form is closed" are decided at random points: a function that is zero at
 * a generic point to hundreds of bits is taken for zero, one that is not is proved not to be. With
 * position constraints the point must lie on them exactly, which no number does, but a ball can
 * contain such a point. So z = (q, t) is drawn near the initial state, moved by Newton steps of
 * minimum norm in double precision, polished in high precision, and widened to a ball for which
 * Krawczyk's test proves that it contains an exact solution of phi = 0 (`proved`).
 *
 * Inputs and auxiliary states are signals, with random values, rates and second rates. The seed is
 * fixed: the same model gives the same points on every machine. Where functions do not exist at a
 * point, the caller rejects it, and later points are drawn nearer to the initial state.
 * Verified: test/unit/analyse/test_sample.c
 */
#ifndef HMI_ANALYSE_BALLS_SAMPLE_H
#define HMI_ANALYSE_BALLS_SAMPLE_H

#include "analyse/balls/echelon.h"
#include "analyse/forms/forms.h"
#include "analyse/balls/series.h"
#include "base/random.h"

/* A curve z(s) with its velocity X(s) = dz/ds as power series; a point is one of order 1. */
typedef struct hmi_curve {
    size_t size;    /* n + 1 */
    size_t orders;  /* coefficients kept of each */
    size_t signals; /* count; auxiliary states are the last of them */
    size_t inputs;
    arb_ptr z, X;   /* size x orders */
    arb_ptr signal; /* signals x 3: value, rate, second rate by t */
    slong precision;
    bool proved; /* the point is proved to lie on the position constraints */
} hmi_curve;

void hmi_curve_init(hmi_curve *curve, const hmi_forms *forms, size_t orders, slong precision);
void hmi_curve_clear(hmi_curve *curve);
/* Order k of every leaf of the jet, from the curve. */
void hmi_curve_fill(const hmi_curve *curve, hmi_series *jet, size_t k);
/* All values of the jet at a point. */
void hmi_curve_evaluate(const hmi_curve *point, hmi_series *jet, slong precision);

typedef struct hmi_sampler {
    hmi_forms *forms;
    hmi_series jet; /* phi, then the components of d phi by q */
    size_t rows;    /* of position level */
    size_t *row;    /* which */
    double *center; /* n + 1 */
    hmi_random random;
    double *near, *step; /* n + 1 */
    double *A, *phi, *doubles;
    int *ints;
    double spread;      /* how far from the centre points are drawn */
    double *velocity;   /* n: the velocities that belong to the centre; 0 to begin with */
    hmi_expr side;      /* points must have side > 0, or side < 0; HMI_NONE: anywhere */
    int sign;           /* of side */
    bool side_of_point; /* side depends on q and t alone */
    hmi_series side_jet;
} hmi_sampler;

/* q0, t0: where to look, n coordinates. */
hm_status hmi_sampler_init(hmi_sampler *sampler, hmi_forms *forms, const double *q0, double t0);
void hmi_sampler_release(hmi_sampler *sampler);
/* Order 0 of z and the signals. HM_ERR_NUMERIC: no point was found. */
hm_status hmi_sample(hmi_sampler *sampler, hmi_curve *curve);
/* From now on points are drawn near another state (t, then q, then v), and only where the expression
 * `side` has this sign; 0: on any side. An expression that depends on more than q and t is left to whoever
 * knows the velocities (hmi_states). */
hm_status hmi_sampler_move(hmi_sampler *sampler, const double *state, double spread, hmi_expr side,
                           int sign);
/* The point drawn last was no good (a function does not exist there): draw nearer. */
void hmi_sample_reject(hmi_sampler *sampler);
/* Uniform in [-1, 1), of 30 bits; never 0. */
double hmi_sampler_random(hmi_sampler *sampler);

#endif
