/* What the texts that serve both one run and four members at once need, for one run: a number per lane is
 * a double, a truth value per lane a bool. These texts are
 *
 *     ode/numbers.inc        the larger of two numbers; does a run crawl?
 *     rk/control.inc         step control of explicit Runge-Kutta methods
 *     drift/approach.inc     decisions of the projection onto the constraints
 *
 * ensemble/batch_kernels.c defines the same for vectors of four. Include this header last: its names
 * are short.
 *
 *     lanes, bits            a number per lane, a truth value per lane
 *     HELPER, NAME(x)        attributes and names of functions
 *     IS(comparison)         comparison of lanes -> bits; & and | work on bits, NOT inverts
 *     CHOOSE(mask, a, b)     a where the mask is set, else b
 *     ALL(x)                 the number x on all lanes
 *     SIZE, ROOT, LOG, EXP   of lanes
 */
#ifndef HMI_INTEGRATE_ODE_WIDTH_ONE_H
#define HMI_INTEGRATE_ODE_WIDTH_ONE_H

#include "expr/graph/math.h"
#include "integrate/ode/ode.h"

#include <math.h>
#include <stdbool.h>

typedef double lanes;
typedef bool bits;

#define HELPER             static inline
#define NAME(x)            x
#define IS(comparison)     (comparison)
#define NOT(mask)          (!(mask))
#define CHOOSE(mask, a, b) ((mask) ? (a) : (b))
#define ALL(x)             (x)
#define SIZE(x)            fabs(x)
#define ROOT(x)            sqrt(x)
#define LOG(x)             hmi_math_log(x)
#define EXP(x)             hmi_math_exp(x)

#include "integrate/ode/numbers.inc"

#endif
