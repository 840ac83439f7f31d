/* A run: the motion of a sim from its state at the start to the end, step by step.
 *
 * Five objects share the work, and each knows only those that are listed before it:
 *
 *   recorder  (integrate/record)  what is told: frames, energy audit, violations, events, messages
 *   contact   (integrate/contact) one-sided constraints, conditions and friction: impacts
 *   events    (integrate/events)  functions that change sign: where, and what happens there
 *   guard     (integrate/rank)    constraints that become dependent: rows, rank drops, fallback
 *   run       (here)              time: options, the method and its stepper, the order of things
 *
 * They act on the same motion, which the run owns: the equations (ode), their constraints (residuals,
 * projection), and the stepper with the state at the present time.
 *
 * A step is                                                            (step.c)
 *     the guard may change the method; the method steps; drift control brings the new state back to
 *     the constraints; works are integrated; the guard looks at rows and rank; events look for a
 *     crossing within the step.
 * Then frames at output times up to there are given (outputs.c), on the dense output. Then a crossing
 * acts (act.c): the step is cut back to it, events set new values, sides are found anew. Then the
 * recorder looks at the new state. A whole run, and the step-wise API, are loops over this (run.c).
 *
 * Invariants
 *   1. The sim's present state is that of the last accepted step; evaluations do not touch it.
 *   2. Nothing is allocated during steps; the lists of events and warnings grow between them.
 *   3. After a failure the state is the last good one.
 *   4. The sim works with the tapes and rows of the run between hmi_run_enter and hmi_run_leave, and
 *      with its own outside.
 * The sim owns the run (hm_sim.extras.run); a new one takes over what the old one compiled.
 */
#ifndef HMI_INTEGRATE_RUN_RUN_H
#define HMI_INTEGRATE_RUN_RUN_H

#include "dynamics/sim/motion.h"
#include "integrate/drift/start_state.h"
#include "integrate/events/events.h"
#include "integrate/rank/guard.h"
#include "integrate/record/recorder.h"
#include "integrate/run/flight.h"

typedef enum hmi_drift { HMI_DRIFT_PROJECT, HMI_DRIFT_BAUMGARTE, HMI_DRIFT_NONE } hmi_drift;

#define HMI_DEFAULT_ATOL 1e-12

/* Limits of a run that asks for none of its own. A billion steps take an hour at least. */
#define HMI_MOST_STEPS_OF_RUN  1000000000L
#define HMI_MOST_ROWS_OF_RUN   1000000000L
#define HMI_MOST_EVENTS_OF_RUN 100000000L

/* The pace of a run is looked at every so many steps. */
enum { HMI_PACE_STEPS = 20000 };

/* When the pace was last looked at, and the steps taken by then. */
typedef struct hmi_pace {
    double t;
    long steps;
} hmi_pace;

typedef struct hmi_run {
    hm_sim *sim;
    const hm_model *model;
    hmi_arena arena; /* of one start */
    hm_run_options options;
    hmi_drift drift;

    /* The motion. */
    hmi_ode ode;
    hmi_residuals residuals;
    hmi_projection projection;
    hmi_start_state start;
    hmi_sim_motion *motion;    /* q'', z' and powers in one tape; NULL: there is none */
    struct hmi_taylor *series; /* of method taylor; NULL: not made yet */
    bool compiled; /* the parts above are complete: their tapes serve the next run too */

    hmi_recorder recorder;
    hmi_contact_run contact;
    hmi_events events;
    hmi_guard guard;
    hmi_flight flight;

    /* Time. */
    hmi_stepper s;          /* the state, and the method that makes the steps */
    bool automatic;         /* the method may be changed */
    bool restart;           /* the method starts afresh with the next step: something jumped */
    double reached;         /* by the last step, see hmi_run_step */
    bool crossed;           /* there is a crossing at `reached`, which has not acted yet */
    size_t passed;          /* recorded events of the step that were told */
    bool stopped;           /* by a `stop` event */
    hm_status failed_start; /* contacts have no motion at the start: why */
    bool interrupted;       /* a callback wants to stop */
    hmi_pace pace;
    int stalled; /* steps in a row that did not move t */
    double wall_start, wall_s;

    double *before; /* scratch: a state before drift control moved it */
    double *shown;  /* scratch: a state with works, fit to be shown */
} hmi_run;

/* The sim's run; NULL before the first start. */
hmi_run *hmi_run_of(const hm_sim *sim);

/* ---- create.c: memory, and what is compiled ---- */

/* A new run in place of the sim's old one, whose tapes it takes. options NULL: the model's. *run is
 * set, and the sim's, also after a failure, unless there is no memory for it. */
hm_status hmi_run_create(hm_sim *sim, const hm_run_options *options, hmi_run **run);
/* Puts the run away; the sim then has its own tapes again. */
void hmi_run_destroy(void *run);
/* The sim works with the tapes of the run between these two; parameters may have changed before. */
void hmi_run_enter(hmi_run *run);
void hmi_run_leave(hmi_run *run);
/* One tape for q'', z' and the powers, with the modes and rows that are held; its form is chosen at
 * the point. */
hm_status hmi_run_compile_motion(hmi_run *run, const hmi_point *at);

/* ---- options.c ---- */

/* run->options, complete. HM_ERR_USAGE with a diagnostic. */
hm_status hmi_run_read_options(hmi_run *run, const hm_run_options *options);
/* An error about what was asked for, with one word of it (%s): HM_ERR_USAGE. */
hm_status hmi_run_refuse(const hmi_run *run, const char *message, const char *word);

/* ---- limits.c ---- */

/* Options that make no sense, as they are given: HM_ERR_USAGE with a diagnostic. */
hm_status hmi_run_check_options(hm_context *context, const hm_run_options *options);
/* More output times, or more steps of a given length, than the limits allow: refused at once. */
hm_status hmi_run_check_rows(const hmi_run *run);
hm_status hmi_run_check_pace(const hmi_run *run);
/* After a step that began at `before`: does t still move? */
hm_status hmi_run_watch_time(hmi_run *run, double before);
/* Steps and events within their limits? Else the run has failed, HM_ERR_LIMIT. */
hm_status hmi_run_watch_limits(hmi_run *run);

/* ---- start.c ---- */

/* Everything up to the first step. Diagnostics are in the sim's context. */
hm_status hmi_run_start(hm_sim *sim, const hm_run_options *options, hmi_run **run);
/* Is there a motion at all from the sim's present state? Diagnostics name what is wrong. */
hm_status hmi_run_check_motion(hmi_run *run);
/* The same with another state and other parameters in the sim of a run that has started, with the
 * same options: what does not depend on them stays, and nothing is allocated where the state is
 * consistent. For systems without switching functions, as long as the motion tape answers at the
 * start (HM_ERR_UNDETERMINED: it does not, start afresh). What moved is not noted. */
hm_status hmi_run_restart(hmi_run *run);

/* ---- step.c ---- */

/* One accepted step. run->reached is its end, or the crossing before it, which has not acted yet: the
 * dense output is good up to there. */
hm_status hmi_run_step(hmi_run *run, double t_limit);
/* Lets the crossing act, if there is one, and looks at the new state. */
hm_status hmi_run_finish_step(hmi_run *run);

/* ---- act.c ---- */

/* The step is cut back to the crossing, which acts: records, resets, stops, modes. */
hm_status hmi_run_act(hmi_run *run);
/* Contacts at the state as it is: impacts, and which rows hold. */
hm_status hmi_run_settle_contacts(hmi_run *run);

/* ---- fly.c ---- */

/* Instead of a step, where bodies fly freely and strike each other now and then (flight.h). */
bool hmi_run_flies(const hmi_run *run, double t_limit);
hm_status hmi_run_fly(hmi_run *run, double t_limit);

/* ---- outputs.c ---- */

hm_status hmi_run_frame(hmi_run *run, double t, const double *y, unsigned content, hm_frame *frame);
/* Gives the user a frame, if there is one who wants it; false: the user wants to stop. */
bool hmi_run_give(hmi_run *run, double t, const double *y, hm_frame_reason reason);
/* The frames at output times up to run->reached, and the last one: false where the user wants to stop. */
bool hmi_run_give_outputs(hmi_run *run);
bool hmi_run_give_end(hmi_run *run);
/* Tells of recorded events of the last step up to that time. HM_ERR_NOMEM: it can be called again. */
hm_status hmi_run_give_passed(hmi_run *run, double until);
/* The next output time that has not been given. */
double hmi_run_output_time(const hmi_run *run);
/* run->shown := the state of the last step at t. */
void hmi_run_show(hmi_run *run, double t);

#endif
