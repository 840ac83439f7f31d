/* Random points of the configuration manifold, in ball arithmetic.
 *
 * A point z = (q, t) is drawn near the initial state and, where there are position constraints,
 * moved onto them: Newton steps of minimum norm in double precision, then in balls. Krawczyk's test
 * proves that the ball holds an exact point of phi = 0. Signals get random values, rates and second
 * rates. The generator is fixed: same model, same points.
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
    double spread; /* how far from the centre points are drawn */
} hmi_sampler;

/* q0, t0: where to look, n coordinates. */
hm_status hmi_sampler_init(hmi_sampler *sampler, hmi_forms *forms, const double *q0, double t0);
void hmi_sampler_release(hmi_sampler *sampler);
/* Order 0 of z and the signals. HM_ERR_NUMERIC: no point was found. */
hm_status hmi_sample(hmi_sampler *sampler, hmi_curve *curve);
/* The point drawn last was no good (a function does not exist there): draw nearer. */
void hmi_sample_reject(hmi_sampler *sampler);
/* Uniform in [-1, 1), of 30 bits; never 0. */
double hmi_sampler_random(hmi_sampler *sampler);

#endif
