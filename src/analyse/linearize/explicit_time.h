/* How the equations change along a motion at rest: through t itself, and through coordinates that move
 * uniformly while the rest stays constant (the angle of a wheel).
 *
 * Every expression of the equations is still, uniform (w t + what does not move), periodic or
 * something else. sin, cos and tan of uniform arguments with constant rates are periodic, and so is
 * every function of periodic and still ones. Rates w with a common period make the equations
 * periodic. This reads the expressions and nothing else: equations that repeat for another reason
 * are "something else", and a caller who knows the period can check it numerically.
 * Verified: test/physics/test_floquet.c
 */
#ifndef HMI_ANALYSE_LINEARIZE_EXPLICIT_TIME_H
#define HMI_ANALYSE_LINEARIZE_EXPLICIT_TIME_H

#include "dynamics/sim/sim.h"

typedef enum hmi_course {
    HMI_COURSE_STILL,
    HMI_COURSE_UNIFORM,
    HMI_COURSE_PERIODIC,
    HMI_COURSE_OTHER
} hmi_course;

typedef struct hmi_time_use {
    hmi_course course; /* of the equations: still, periodic or other */
    bool timed;        /* t itself is in them; else only coordinates that move */
    double period;     /* where periodic */
    bool no_common;    /* other, since there are frequencies without a common period */
} hmi_time_use;

/* rate: n, of the coordinates that move uniformly, 0 for the others. */
HM_MUST_CHECK hm_status hmi_find_time_use(const hm_sim *sim, const double *rate, hmi_time_use *use);

/* The least T with w T a multiple of 2 pi for all of these, within rounding; 0: there is none with
 * multiples up to a few thousand. */
double hmi_common_period(const double *frequency, size_t count);

#endif
