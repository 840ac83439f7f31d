/* Integrals of acceleration-level constraints, monitored: what drift control does not see.
 *
 *     A q'' = b   =>   A q' - (A q')_0 = Int (b + A_dot q') dt
 *
 * Both sides are followed along the computed motion, the right one by Gauss' formula on the dense
 * output of each step. Their difference is the velocity-level drift of the row, its integral over
 * time the position-level drift.              Verified: test/unit/integrate/test_acceleration_drift.c
 */
#ifndef HMI_INTEGRATE_DRIFT_ACCELERATION_DRIFT_H
#define HMI_INTEGRATE_DRIFT_ACCELERATION_DRIFT_H

#include "integrate/ode/method.h"

typedef struct hmi_acceleration_drift {
    hm_sim *sim;
    size_t count;  /* rows of acceleration level */
    size_t *row;   /* which */
    hmi_tape tape; /* A q' of each, then b + A_dot q' of each */
    double *work;
    double *right;    /* count: (A q')_0 + the integral */
    double *velocity; /* count: drift */
    double *position; /* count: its integral */
    double *state;    /* a state within a step */
} hmi_acceleration_drift;

/* count 0 where there are no such rows. Release also after a failure. */
hm_status hmi_acceleration_drift_init(hmi_acceleration_drift *in, hm_sim *sim, hmi_arena *arena);
void hmi_acceleration_drift_release(hmi_acceleration_drift *in);
void hmi_acceleration_drift_prepare(hmi_acceleration_drift *in);
/* At the start, and after a jump of the state: the drift stays what it was. */
void hmi_acceleration_drift_start(hmi_acceleration_drift *in, const hmi_point *at);
/* Over the last step, up to t. */
void hmi_acceleration_drift_follow(hmi_acceleration_drift *in, hmi_stepper *s, double t);

#endif
