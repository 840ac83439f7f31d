/* Integration methods: each is a const struct of functions with its own doc string, one file for
 * each method. A method makes steps; output, events and drift control are the run's
 * (integrate/run/run.h).
 */
#ifndef HMI_INTEGRATE_ODE_METHOD_H
#define HMI_INTEGRATE_ODE_METHOD_H

#include "integrate/ode/ode.h"

#include <math.h>

#define HMI_MOVED 0.01

/* What a method works on. The run fills in the first part and then calls start. */
typedef struct hmi_stepper {
    const struct hmi_method *method; /* which makes the steps; a guard may change it */
    hmi_ode *ode;
    size_t size;
    double rtol, atol;
    double step;     /* given step; 0: the method chooses (fixed-step methods need one) */
    double largest;  /* no step is larger; infinity by default */
    double singular; /* foreseen by the guard: constraints lose rank there; infinity: nowhere */
    /* size: components count for the relative tolerance as if they were at least that large; NULL: as they
     * are. Set by the guard, near such a place, where errors of all of q' are errors of each. */
    const double *least;
    double t_begin; /* where the run started */
    double t;
    double *y;    /* size (+ works): the state at t */
    double *f;    /* size (+ works): y' at t; valid where f_valid */
    bool f_valid; /* false after y was changed between steps (projection, reset) */

    /* Set by step: the last accepted step, for interpolation on [t_old, t]. */
    double t_old, *y_old;
    double error; /* of the last accepted step, relative to the tolerance; 0: not estimated */
    long steps, rejected;
    bool stiff;          /* the method found the problem stiff */
    const char *trouble; /* in words, after a failed step */
    void *memory;        /* the method's own, memory_size bytes, zeroed */

    /* Work done by each power of the ledger: `works` further components of y after the first size,
     * with f from hmi_ode_evaluate_all, under a loose error control relative to work_scale (an
     * energy). Methods that do not carry them leave them alone: they are integrated on the dense
     * output then (hmi_ledger_integrate). */
    size_t works;
    double work_scale;
    /* Drift control, NULL: none. A method may call it on the new state of a step that passed its
     * error test, before f is evaluated there; it then sets `settled`, which the run clears before
     * each step and looks at after it. *moved: by how much y changed, relative to the
     * tolerance; above HMI_MOVED an f from before is not good any more. */
    hm_status (*settle)(struct hmi_stepper *s, double t, double *y, double *moved);
    /* The parts of an error e of q and q' that drift control leaves, at the state y: for steps
     * across `singular`, where noise along the constraints is large and does not matter. */
    void (*tangent)(struct hmi_stepper *s, double t, const double *y, double *e);
    void *owner; /* for the functions above */
    bool settled;
} hmi_stepper;

/* Where the motion is. */
static inline hmi_point hmi_stepper_point(const hmi_stepper *s)
{
    return hmi_ode_point(s->ode, s->t, s->y);
}

struct hmi_rk_table;

typedef struct hmi_method {
    const char *name; /* as written after `method` */
    const char *doc;  /* a sentence or two: what it is, order, when to use it, source */
    int order;
    bool fixed_step;
    const struct hmi_rk_table *table; /* explicit Runge-Kutta methods: batches can do them */
    bool carries_work;                /* works: see hmi_stepper */
    int dense_degree;  /* of the dense output as a polynomial of t; 0: polynomial() tells */
    bool places_steps; /* by hmi_place_step: a rank drop ahead is worth looking for */
    bool hands_over; /* steps across rank drops, where it fails: integrate/rank/fallback_method.c */
    bool keeps_constraints; /* new states satisfy the constraints: the run does not project */
    size_t (*memory_size)(const struct hmi_method *method, const hmi_ode *ode);
    /* Does it apply to this system? HM_OK, or HM_ERR_USAGE with the reason in *why. NULL: always. */
    hm_status (*applies)(const hmi_ode *ode, const char **why);
    /* Called once at the start, and again after an event or a long jump of the state. */
    hm_status (*start)(hmi_stepper *s);
    /* One accepted step, to t_limit at most. On failure t and y are those of the last good state. */
    hm_status (*step)(hmi_stepper *s, double t_limit);
    /* y at a time within the last step, with the accuracy of the method's dense output. */
    void (*interpolate)(const hmi_stepper *s, double t, double *y);
    /* The dense output of the last step as polynomials in s = (t - t_old)/(t - t_old at its end), powers
     * of s - *origin: of the components with a place below UINT32_MAX, at
     * coefficient[place (degree + 1)].
     * Returns the degree; -1: there is none now, sample it. NULL: sample it always. */
    int (*polynomial)(const struct hmi_stepper *s, const uint32_t *place, int most_degree,
                      double *coefficient, double *origin);
    /* Gives back what start took beyond `memory` (SUNDIALS); NULL: nothing. */
    void (*finish)(hmi_stepper *s);
} hmi_method;

#define METHOD(name)          extern const hmi_method hmi_method_##name;
#define SUNDIALS_METHOD(name) METHOD(name)
#include "model/methods.def"
#undef METHOD
#undef SUNDIALS_METHOD

/* The step h, or less where the constraints lose rank within it or soon after: that moment shall
 * come at t + gap h, in the widest gap between the places where the method evaluates. */
double hmi_place_step(const hmi_stepper *s, double h, double gap);

/* NULL when there is no such method (or this build has none). */
const hmi_method *hmi_method_find(const char *name);
/* method->applies, and whether it can do systems of this size. */
hm_status hmi_method_applies(const hmi_method *method, const hmi_ode *ode, const char **why);
/* [HNW93, II.4, "Starting step size"], from norms relative to the tolerance: d0 of y, d1 of f. A first guess
 * makes an Euler step a hundredth of the scale of y; a second evaluation after it gives d2 = |df|/h0, and the
 * step whose error, of this order, is a hundredth of the tolerance. */
static inline double hmi_guess_first_step(double d0, double d1)
{
    return d0 < 1e-5 || d1 < 1e-5 ? 1e-6 : 0.01 * d0 / d1;
}
static inline double hmi_improve_first_step(double h0, double d1, double d2, int order)
{
    double d = fmax(d1, d2);
    double h1 = d <= 1e-15 ? fmax(1e-6, h0 * 1e-3) : pow(0.01 / d, 1.0 / order);
    return fmin(100 * h0, h1);
}

/* The part of a tolerance that size components of x amount to: a root mean square. */
double hmi_scaled_norm(const hmi_stepper *s, const double *x, const double *y1, const double *y2);

#endif
