/* Functions watched along a step: events of the model, and arguments of functions that are not
 * smooth.
 *
 * A function whose expression closes over t, q, q', z, inputs and modes has a tape of its own, which
 * runs on intervals over the polynomials of the dense output (path.h, compile/tape/enclosure.h): all
 * its roots on that dense output are isolated (isolate.h), then refined to the last bits by Newton's
 * method within their brackets.
 *
 * A function that needs the solve (accelerations, constraint forces, a mode that is found while
 * something slides) has no such tape. Its caller samples it and gives it as a polynomial of its own
 * with an error estimate, which widens the polynomial's bounds.
 *
 * Functions of t alone are known ahead of the motion: hmi_watch_next_time finds their next root, so
 * that a step can end there whatever its length would have been.
 *
 * Invariants
 *   1. Nothing is allocated after hmi_watch_init.
 *   2. What is found depends on the path, the modes and the inputs only, not on earlier searches.
 * Verified: test/physics/test_never_missed.c, test/unit/integrate/test_isolate.c
 */
#ifndef HMI_INTEGRATE_EVENTS_WATCH_H
#define HMI_INTEGRATE_EVENTS_WATCH_H

#include "compile/tape/enclosure.h"
#include "integrate/events/isolate.h"
#include "integrate/events/path.h"

/* One function. h = sign (g - offset) is what is watched. */
typedef struct hmi_watched {
    hmi_tape tape;       /* of g, where it is closed; else empty */
    double *numbers;     /* its work vector: constants and parameters */
    hmi_enclosure *work; /* and that of enclosures */
    bool closed;
    bool time_only; /* nothing that moves but t occurs */
    bool plain;     /* bounds are as sharp as those of the path: nothing occurs twice */
} hmi_watched;

/* Inputs: defaults by a tape, or what the program holds them at. */
typedef struct hmi_watch_inputs {
    const hmi_tape *tape; /* u, u', u'' of all inputs, one after the other; NULL: no inputs */
    size_t count;
    const bool *held;           /* count */
    const double *const *value; /* [3]: u, u', u'' where held */
    double *numbers;            /* its work vectors, as of a function */
    hmi_enclosure *work;
    double a, b; /* the piece that `work` is about; a > b: none */
} hmi_watch_inputs;

typedef struct hmi_watch {
    const hm_allocator *allocator;
    size_t count;
    hmi_watched *functions;
    size_t n;    /* components of the state: q at 0, q' at n, z at 2 n, */
    size_t size; /* and their number */
    uint32_t
        *place;    /* by component: which one of the path it is; UINT32_MAX: no function reads it */
    size_t used;   /* components of the path */
    hmi_path path; /* of the step that is looked at, in the memory of the next two */
    double *coefficient;
    hmi_path_bounds *bounds;
    double rtol, atol;
    const double *modes;
    hmi_watch_inputs inputs;

    double a, b;     /* the piece that symbols are bounded on */
    double widening; /* tolerances by which the path is widened there: 0 or 1 */
} hmi_watch;

/* What to look for in a step. */
typedef struct hmi_query {
    size_t function;
    double side; /* sign of h that holds at the start */
    double sign; /* h = sign (g - offset), +1 or -1 */
    double offset;
    const hmi_path *sampled; /* polynomial of h in its component 0, where g is not closed */
    double error;            /* of that polynomial */
    double end;              /* the part of the step that is looked at, 0 .. 1 */
    hmi_root_function *found;
    void *user;
} hmi_query;

/* Tapes of the functions; HMI_SYM_ACCELERATION, energies and constraint forces make one not closed.
 * n coordinates, size components of the state. `inputs`: its tape, count, held and value are set.
 * Release also after a failure. */
hm_status hmi_watch_init(hmi_watch *watch, const hmi_graph *graph, const hmi_expr *functions,
                         size_t count, size_t n, size_t size, const hmi_watch_inputs *inputs,
                         hmi_arena *arena);
void hmi_watch_release(hmi_watch *watch);
/* Parameters changed. */
void hmi_watch_prepare(hmi_watch *watch, const hmi_tape_values *values);
/* The path, the modes or inputs are others from now on. */
void hmi_watch_renew(hmi_watch *watch);

/* h and its rate over a piece of the step, or at a point of it. */
hmi_enclosure hmi_watch_bounds(hmi_watch *watch, const hmi_query *query, double a, double b);
/* By how much a closed function may err at this state, where the state errs by the tolerances. The path is
 * another one afterwards. */
double hmi_watch_noise(hmi_watch *watch, size_t function, double t, const double *y);
/* Roots of h within the first `end` of the path, refined: root->a = root->b - a few units in the last
 * place of the time. False: there are more than can be looked through. whole: bounds of h over all
 * of that, NULL: not known. *side: the sign after them. */
bool hmi_watch_search(hmi_watch *watch, const hmi_query *query, const hmi_enclosure *whole,
                      double *side);
/* The next root of a function of t alone in (t, limit]; limit where there is none. *sure: false where
 * the search was given up, and the root holds as an estimate that nothing comes before. */
double hmi_watch_next_time(hmi_watch *watch, size_t function, double side, double t, double limit,
                           bool *sure);

#endif
