/* What the methods of fixed step share: the length of a step, its acceptance, dense output. */
#ifndef HMI_INTEGRATE_IMPLICIT_FIXED_STEP_H
#define HMI_INTEGRATE_IMPLICIT_FIXED_STEP_H

#include "integrate/ode/method.h"

/* The signed step from s->t towards t_limit: s->step, or what is left where that is less (a sliver
 * of rounding size is joined to the step before it). */
double hmi_fixed_step(const hmi_stepper *s, double t_limit);
/* Accepts y1 (size) at t + h: t, y, t_old, y_old, counts. */
void hmi_fixed_accept(hmi_stepper *s, double h, const double *y1);
/* Between y_old at t_old and y1 at t_old + h: q by Hermite's cubic through q and v, v its derivative,
 * z on a line. Order 3 in q, no worse than a method of order 2 in v. */
void hmi_fixed_interpolate(const hmi_stepper *s, double h, const double *y1, double t, double *y);

#endif
