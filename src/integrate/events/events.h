/* Events of a run: functions g of the state that change sign, and what happens there.
 *
 * Two kinds of functions are watched: switches, where the equations are not smooth (switch.h), and
 * events of the model (`event ... when ...`), after them in one numbering. Every function has a side,
 * the sign of g that holds. A step is made with all branches held; then the first time within it at
 * which some function leaves its side is found on the dense output (crossing.c), and the run cuts the
 * step there. What crossed then acts: events of the model set new values (events.c), and every
 * function gets the side that it goes to, or slides along g = 0 (sides.c; friction along u/|u| that
 * comes to rest or breaks loose in friction_stick.c).
 *
 * Crossings may come ever faster and never end (Zeno: a ball that bounces ever lower). Their times are
 * kept, and such a run ends with a message (events.c).
 *
 * Who calls it. The run: hmi_events_begin at the start, hmi_events_find after each step, and the
 * others, in their order here, for a crossing that was found. Frames, works and records at an event are
 * the run's.
 *
 * Invariants
 *   1. Nothing is allocated after hmi_events_init.
 *   2. During a step no mode, side or branch changes; sliding modes are found by the solve itself.
 *   3. hmi_events_find leaves the stepper as it is.
 * Verified: test/unit/integrate/test_events.c, test/unit/integrate/test_switching.c,
 * test/physics/test_friction.c
 */
#ifndef HMI_INTEGRATE_EVENTS_EVENTS_H
#define HMI_INTEGRATE_EVENTS_EVENTS_H

#include "integrate/drift/projection.h"
#include "integrate/events/switch.h"
#include "integrate/events/watch.h"
#include "integrate/ode/method.h"
#include "integrate/record/messages.h"

/* One located event or switching. */
typedef struct hmi_crossing {
    double t;
    size_t count;  /* functions that cross at t */
    size_t *which; /* of hmi_switches; sliding that ends as well */
} hmi_crossing;

/* A root of an event that does not end the step. */
typedef struct hmi_passed {
    double t;
    size_t function;
    bool wanted; /* by its direction: it is recorded */
} hmi_passed;

/* New values that events of the model set. */
typedef struct hmi_resets {
    hmi_tape tape; /* values of `set`, of all events one after the other */
    double *work;  /* NULL: nothing is set */
    bool *fixed;   /* 2 n: what was set stays when the state is made consistent */
} hmi_resets;

enum { HMI_ZENO_TIMES = 20, HMI_MOST_SAMPLES = 17 };

typedef struct hmi_zeno {
    double recent[HMI_ZENO_TIMES]; /* times of the last crossings */
    long total;                    /* crossings so far */
    size_t last;                   /* function of the last one */
} hmi_zeno;

typedef struct hmi_events {
    hmi_ode *ode;
    hmi_projection *projection;
    hmi_stepper *stepper;
    hmi_messages *messages;
    double span;   /* how long the run shall last; infinite where nobody knows */
    double window; /* then: how far functions of t alone were looked ahead last */
    hmi_contact_run *contact;
    hmi_switches switches;
    hmi_watch watch;
    int fitted;                                      /* degree that `fit` is for; 0: none yet */
    double fit[HMI_MOST_SAMPLES * HMI_MOST_SAMPLES]; /* from values to coefficients, by column */
    double places[HMI_MOST_SAMPLES];                 /* of the values, parts of the step */
    double *next_time;     /* by function: the next root, where it is one of t alone; not before */
    hmi_crossing crossing; /* as last found */
    HMI_ARRAY(hmi_passed) passed; /* in the last step before the crossing, by time */
    const char *trouble;          /* why the last search is not complete; NULL: it is */
    char outside[200];            /* the trouble of a table that was left */
    hmi_resets resets;
    hmi_zeno zeno;

    /* Scratch. */
    double *roots;         /* by function: where it ends the step */
    double *between;       /* by function: what is watched at some time */
    double *sampled;       /* what is watched at Chebyshev points, and the polynomials through it */
    double *values;        /* g, then g' of all functions */
    double *state;         /* within a step */
    double *free, *pushed; /* n: q'' without friction and with it */
} hmi_events;

/* All that is given outlives the events. Powers of the ledger go by the modes then. Release also
 * after a failure. */
hm_status hmi_events_init(hmi_events *events, hmi_projection *projection, hmi_stepper *stepper,
                          struct hmi_ledger *ledger, hmi_messages *messages,
                          hmi_contact_run *contact, hmi_arena *arena);
void hmi_events_release(hmi_events *events);
/* Parameters changed. */
void hmi_events_prepare(hmi_events *events);
/* The function of a contact that function k is; NULL: it is another one. */
hmi_contact_function *hmi_events_contact(const hmi_events *events, size_t k);
/* The event of the model that function k is; NULL: it is a switch or belongs to a contact. */
const hmi_event *hmi_events_model_event(const hmi_events *events, size_t k);
/* Does function k cross at the crossing? */
bool hmi_events_fired(const hmi_events *events, size_t k);

/* ---- crossing.c ---- */

/* Is there a crossing in the last step? Then it is in events->crossing, and events that are recorded
 * only and come before it are in events->passed. HM_ERR_NUMERIC: a function cannot be followed
 * through the step (events->trouble); HM_ERR_NOMEM. */
hm_status hmi_events_find(hmi_events *events, bool *found);

/* ---- ahead.c ---- */

/* No later than `limit`, where the next switch by a function of t alone comes: steps end there. */
double hmi_events_next_time(hmi_events *events, double limit);

/* ---- events.c: what they do ---- */

/* Notes the crossing. HM_ERR_NUMERIC, with a message, where crossings repeat ever faster. */
hm_status hmi_events_check_zeno(hmi_events *events);
/* No step is possible right after several crossings: have they come too near to each other? */
bool hmi_events_accumulate(const hmi_events *events);

/* The stepper's state := the one that the events at the crossing set, made consistent. */
hm_status hmi_events_reset(hmi_events *events);

/* Around a crossing that resets nothing, before and after sides are found: HM_ERR_INCONSISTENT, with a
 * message, where a constraint has another value by its new branch. */
void hmi_events_keep_residuals(hmi_events *events);
hm_status hmi_events_check_jumps(hmi_events *events);

/* ---- locations.c: which piece of a table, of floor and ceil ---- */

/* The knots and sides of all, by the state. */
void hmi_locations_find(hmi_events *events);
/* Where a piece ended at the crossing, its end becomes the knot that fired. */
void hmi_locations_move_on(hmi_events *events);
/* Does function k belong to a table? */
bool hmi_locations_has_table(const hmi_events *events, size_t k);
/* Is nothing but knots of tables crossed? */
bool hmi_locations_only(const hmi_events *events);
/* HM_ERR_NUMERIC, with the stepper's trouble, where a table is left that has no values outside. */
hm_status hmi_locations_check(hmi_events *events);

/* ---- sides.c ---- */

/* Sides and modes at the state of the start. */
hm_status hmi_events_begin(hmi_events *events);
/* Contacts at the stepper's state, where a function of theirs fired, at the start or after a jump;
 * *jumped: an impact changed velocities. A message is given where there is no motion. */
hm_status hmi_events_settle_contacts(hmi_events *events, bool *jumped);
/* Which conditions of contacts are watched in the next step. */
hm_status hmi_events_watch_conditions(hmi_events *events);
/* After the crossing has acted; reset: the state is another one. */
hm_status hmi_events_find_sides(hmi_events *events, bool reset);
/* What functions and their rates depend on. Velocities that are found and not integrated become
 * those of the point. */
hm_status hmi_events_forces(hmi_events *events, hmi_point *at);

/* ---- friction_stick.c ---- */

/* Directions whose |u| is 0 or has just become so, after the sides of other functions. */
hm_status hmi_settle_directions(hmi_events *events, bool reset);
/* The largest |u| so far, and what counts as rest; g: values at an accepted state. */
void hmi_watch_directions(hmi_events *events, const double *g);

#endif
