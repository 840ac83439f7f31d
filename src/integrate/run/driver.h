/* The driver of a run: owns time, output, events, drift control; a method makes the steps.
 *
 * Invariants
 *   1. The sim's present state is that of the last accepted step; evaluations do not touch it.
 *   2. Nothing is allocated during steps; the lists of events and warnings grow between them.
 *   3. After a failure the state is the last good one.
 */
#ifndef HMI_INTEGRATE_RUN_DRIVER_H
#define HMI_INTEGRATE_RUN_DRIVER_H

#include "dynamics/sim/motion.h"
#include "integrate/drift/consistent.h"
#include "integrate/drift/acceleration_drift.h"
#include "integrate/ode/ledger.h"
#include "integrate/ode/method.h"
#include "integrate/drift/projection.h"
#include "integrate/ode/switch.h"

#include <hamel/run.h>

typedef enum hmi_drift { HMI_DRIFT_PROJECT, HMI_DRIFT_BAUMGARTE, HMI_DRIFT_NONE } hmi_drift;

/* One located event or switching. */
typedef struct hmi_crossing {
    double t;
    size_t count;  /* functions that cross at t */
    size_t *which; /* of hmi_switches; sliding that ends as well */
} hmi_crossing;

/* Constraint rows of the last two steps, and the motion there: rank.c. */
typedef struct hmi_rank_watch {
    size_t m, n;           /* rows of the velocity level, coordinates */
    size_t count;          /* independent rows */
    size_t *row;           /* of the velocity level */
    double *now, *last;    /* count x n: of unit length */
    double *end;           /* the same, scratch */
    double *longest;       /* m: the largest length of a row so far */
    double *length;        /* m: of the rows of `now` */
    double *product, *tau; /* count^2; of the QR decomposition */
    int *pivots;
    bool known;                           /* last is */
    double t[2], *motion[2], smallest[2]; /* at the last two steps: q, v, q''; least pivot */
    double apart;    /* least singular value of `last`: not less; 0: not known */
    size_t steps;    /* of these that are known */
    double *y;       /* foreseen state */
    double *least;   /* of the stepper, while `close` */
    bool close;      /* a drop is coming, or just passed: since the least pivot */
    double close_at; /* was that */
    int drops;       /* in the last steps, one after the other */
} hmi_rank_watch;

/* Steps of the present length to look ahead for angles that vanish, and such steps until errors of
 * velocities count together. */
enum { HMI_RANK_AHEAD = 3, HMI_RANK_COMING = 30 };

#define HMI_DEFAULT_ATOL      1e-12
#define HMI_MOST_OUTPUT_TIMES 1e9

/* Rows left out of solves because they depend on others wherever the constraints hold: row_choice.c. */
typedef struct hmi_row_choice {
    bool any;            /* are left out: */
    bool *left_out;      /* these; NULL: nothing is watched */
    bool *trial, *done;  /* scratch */
    double *unit, *rest; /* m x n: rows of unit length, what is left of them */
    double *y;           /* a state; n + m: units */
    bool scaled;         /* these are kept */
    int exchanges;
} hmi_row_choice;

/* Another method for the steps across a rank drop: fallback_method.c. */
typedef struct hmi_guest {
    void *memory;           /* of dop853; NULL: the method needs no guest */
    const hmi_method *home; /* the method of the run while the guest works */
    void *home_memory;
    long steps;   /* of the guest */
    double angle; /* between rows, when it was called */
    bool tired;   /* it is not called any more: it had to stay too long */
} hmi_guest;

enum { HMI_MOST_EVENTS = 10000, HMI_MOST_WARNINGS = 20, HMI_CHATTER = 20, HMI_QUICK = 4 };

/* The pace of a run is looked at every so many steps; it ends where more than so many are left. */
enum { HMI_PACE_STEPS = 20000 };

typedef struct hmi_driver {
    hm_sim *sim;
    const hm_model *model;
    hmi_arena arena; /* of one start */
    hm_run_options options;
    hmi_drift drift;
    hmi_ode ode;
    hmi_residuals residuals;
    hmi_integrals integrals;
    hmi_projection projection;
    hmi_ledger ledger;
    hmi_switches switches;
    hmi_sim_motion *motion;    /* q'', z' and powers in one tape; NULL: there is none */
    struct hmi_taylor *series; /* of method taylor; NULL: not made yet */
    bool compiled; /* the parts above are complete: their tapes serve the next run too */
    hmi_rank_watch rank;
    hmi_row_choice rows;
    hmi_guest guest;
    const hmi_method *method;
    hmi_stepper s;
    bool automatic; /* the method may be changed */

    double *y; /* scratch, two states with works */
    double energy_start, energy, balance_error;
    double reset_work; /* energy that resets brought */
    bool has_total;
    double *position_violation, *velocity_violation, *violation; /* largest, by row */
    double *frame_violation;                                     /* 2 rows: as a frame shows them */

    bool restart;   /* the method starts afresh with the next step: something jumped */
    double reached; /* by the last step, see hmi_driver_step */
    bool crossed;   /* there is a crossing at `reached` */
    hmi_crossing crossing;
    double *g;         /* scratch: four values a function */
    hmi_tape set_tape; /* values of `set`, of all events one after the other */
    double *event_work;
    bool *fixed;                /* scratch: 2 n */
    bool *valueless;            /* outputs: that one had no value was said */
    bool interrupted;           /* a callback wants to stop */
    double recent[HMI_CHATTER]; /* times of the last events */
    long event_total;
    size_t last_event;  /* function that fired last, at recent[] */
    double pace_t;      /* when the pace was last looked at, */
    long pace_steps;    /* and the steps taken by then */
    int crossing_steps; /* since the rank of the constraints dropped; 0: it did not */
    bool stopped;       /* by a `stop` event */

    hm_run_status status;
    hmi_text message;
    HMI_ARRAY(hm_run_event) events;
    size_t events_dropped;
    HMI_ARRAY(hm_moved) moved;
    const char *warnings[HMI_MOST_WARNINGS + 1]; /* one more: that there were more */
    size_t warning_count;
    double wall_start, wall_s;
    double t_begin;
    hmi_solution solution;   /* of the last frame */
    const char *formulation; /* at the start */
    long outputs;            /* frames at output times given so far */
} hmi_driver;

/* The state of the stepper as a point: where the run is. */
static inline hmi_point hmi_driver_point(const hmi_driver *d)
{
    return hmi_ode_point(&d->ode, d->s.t, d->s.y);
}

/* The sim's driver; NULL before the first start. */
hmi_driver *hmi_driver_of(const hm_sim *sim);
/* driver.c: a new driver in place of the sim's old one, whose tapes it takes. options NULL: the
 * model's. *driver is set, and the sim's, also after a failure, unless there is no memory for it. */
hm_status hmi_driver_create(hm_sim *sim, const hm_run_options *options, hmi_driver **driver);
/* options.c: d->options, complete. HM_ERR_USAGE with a diagnostic. */
hm_status hmi_driver_read_options(hmi_driver *d, const hm_run_options *options);

/* start.c: everything up to the first step. Diagnostics are in the sim's context. */
hm_status hmi_driver_start(hm_sim *sim, const hm_run_options *options, hmi_driver **driver);
/* The last part of it: the method and the ledger begin at the sim's present state. */
hm_status hmi_driver_begin(hmi_driver *d);
/* Is there a motion at all from the sim's present state? Diagnostics name what is wrong. */
hm_status hmi_driver_check_motion(hmi_driver *d);
/* restart.c: the same with another state and other parameters in the sim of a driver that has made runs, with
 * the same options: what does not depend on them stays, and nothing is allocated where the state is
 * consistent. For systems without switching functions, as long as the motion tape answers at the
 * start (HM_ERR_UNDETERMINED: it does not, start afresh). What moved is not noted. */
hm_status hmi_driver_restart(hmi_driver *d);
/* initial.c: the sim's present state, and s.y, moved onto the constraints; all_free: whatever was
 * given. */
hm_status hmi_driver_find_state(hmi_driver *d, bool all_free);
/* The same without a note of what moved. */
hm_status hmi_driver_move_state(hmi_driver *d, bool all_free);
/* The sim works with the tapes of the run between these two; parameters may have changed before. */
void hmi_driver_enter(hmi_driver *d);
void hmi_driver_leave(hmi_driver *d);
/* Puts the driver away; the sim then has its own tapes again. */
void hmi_driver_destroy(void *driver);

/* run.c: one accepted step. d->reached is its end, or the crossing before it, which has not acted
 * yet: the dense output is good up to there. */
hm_status hmi_driver_step(hmi_driver *d, double t_limit);
/* The frames at output times up to d->reached, and the last one: false where the user wants to stop. */
bool hmi_driver_give_outputs(hmi_driver *d);
bool hmi_driver_give_end(hmi_driver *d);
/* Lets the crossing act, if there is one, and looks at the new state. */
hm_status hmi_driver_finish(hmi_driver *d);
/* A warning for the result; kept once. Where one cannot be kept a warning says that. */
void hmi_driver_warn(hmi_driver *d, const char *format, ...) __attribute__((format(printf, 2, 3)));
void hmi_driver_fail(hmi_driver *d, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* An error about what was asked for, with one word of it (%s): HM_ERR_USAGE. */
hm_status hmi_driver_refuse(const hmi_driver *d, const char *message, const char *word);
/* Fails with what the method says of its last attempt, or with what grows. */
void hmi_driver_explain(hmi_driver *d, hm_status status);
/* Drift control: y back to the constraints; velocities of degenerate Lagrangians. */
hm_status hmi_driver_settle(hmi_driver *d, double t, double *y);

/* One tape for q'', z' and the powers, with the modes and rows that are held; its form is chosen at
 * the point. */
hm_status hmi_driver_compile_motion(hmi_driver *d, const hmi_point *at);

/* row_choice.c: at the consistent state of the start, with q'' there. */
hm_status hmi_row_choice_init(hmi_driver *d);
void hmi_driver_choose_rows(hmi_driver *d);
/* At an accepted step: true where other rows are left out from now on. */
bool hmi_driver_watch_rows(hmi_driver *d);
/* All rows, for reports with multipliers of minimum norm; then again those chosen. */
void hmi_driver_use_rows(hmi_driver *d, bool all);

/* rank.c: at an accepted step, after the projection at its end. Warns where the constraints lost
 * rank within the last step, and foresees where they will: s.singular. */
hm_status hmi_rank_watch_init(hmi_driver *d);
hm_status hmi_rank_watch_allocate(hmi_rank_watch *w, hmi_arena *arena, size_t m, size_t n,
                                  size_t size);
void hmi_rank_watch_forget(hmi_rank_watch *w);
/* For batches: are the m dense rows independent? */
bool hmi_rank_rows_independent(hmi_rank_watch *w, const double *all);
hm_status hmi_driver_watch_rank(hmi_driver *d);
/* The motion starts afresh, after a jump. */
void hmi_driver_forget_rank(hmi_driver *d);

/* fallback_method.c */
hm_status hmi_guest_init(hmi_driver *d);
/* After a step from t_before failed: false where a guest would not help. */
bool hmi_driver_call_guest(hmi_driver *d, double t_before);
/* Before a step: calls it where a drop comes, back to the method of the run where it is behind. */
hm_status hmi_driver_change_guest(hmi_driver *d);

/* frame.c */
/* Gives the user a frame; false: the user wants to stop. */
bool hmi_driver_give(hmi_driver *d, double t, const double *y, hm_frame_reason reason);
hm_status hmi_driver_frame(hmi_driver *d, double t, const double *y, unsigned content,
                           hm_frame *frame);
/* Violations and energy at an accepted step. */
void hmi_driver_observe(hmi_driver *d);

/* events.c: looks for crossings in the last step; true where there is one, then in d->crossing. */
bool hmi_find_crossing(hmi_driver *d);
/* The step is cut back to the crossing, which acts: modes, records, resets, stops. */
hm_status hmi_act_on_crossing(hmi_driver *d);
/* Sides and modes at the present state: at the start, and after resets. */
hm_status hmi_settle_sides(hmi_driver *d);

/* friction_stick.c: directions whose |u| is 0 or has just become so, after the sides of other functions. */
hm_status hmi_settle_directions(hmi_driver *d, bool (*fired)(const hmi_driver *, size_t),
                                bool reset);
/* The largest |u| so far, and what counts as rest; g: values at an accepted state. */
void hmi_watch_directions(hmi_driver *d, const double *g);

#endif
