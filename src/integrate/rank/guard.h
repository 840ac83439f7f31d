/* The guard: keeps a run going where the constraints become dependent.
 *
 * q'' follows from constraint rows that are independent. They may fail to be so in three ways, and
 * the guard has an object for each:
 *
 *   rows      Some rows depend on others wherever the constraints hold, and are independent beside
 *             the manifold: an overconstrained loop. A choice of rows is used, the others are left
 *             out of all solves (row_choice.c).
 *   rank      The rows lose rank for a moment: a four-bar in its flat position. The rows are watched
 *             from step to step, a drop ahead is foreseen so that no stage of a step comes near it,
 *             and one within a step is noticed (rank.c, with the rows themselves in rank_rows.c).
 *   fallback  An implicit method may not converge near a drop; DOP853 takes its place for a few steps
 *             (fallback_method.c).
 *
 * Where all that does not help and q'' has no exact answer, least squares lead across
 * (hmi_guard_begin_forgiving), for a few steps at most.
 *
 * Who calls it. The run, at its start (hmi_guard_choose_rows), before and after every step, and after
 * a jump of the state (hmi_guard_forget). The guard acts on the stepper: it sets `singular` and
 * `least`, changes the method, and takes a step back that led to where there is no motion.
 *
 * Invariants
 *   1. Nothing is allocated at a step.
 *   2. Outside of a run (hmi_guard_use_rows with all) and in frames, the sim solves with all rows.
 *   3. The method of the run is hmi_guard_method, whichever steps at present.
 */
#ifndef HMI_INTEGRATE_RANK_GUARD_H
#define HMI_INTEGRATE_RANK_GUARD_H

#include "integrate/drift/projection.h"
#include "integrate/ode/method.h"
#include "integrate/rank/rank_rows.h"
#include "integrate/record/messages.h"
#include "linalg/tolerances.h"

/* Rows left out of solves because they depend on others wherever the constraints hold. */
typedef struct hmi_row_choice {
    size_t m, n;           /* rows, coordinates */
    const hm_level *level; /* m: of each row */
    bool any;              /* are left out: */
    bool *left_out;        /* these; NULL: nothing is watched */
    size_t kept;           /* how many are not */
    bool changed;          /* since the last step */
    bool *borrowed;        /* other rows for one state, or to be tried */
    bool *trial, *done;    /* scratch */
    double *unit,
        *rest;      /* m x n: rows in units in which they are at most 1, what is left of them */
    double *next;   /* a state a little further along the motion */
    double *D, *R;  /* n, m: these units, of coordinates and rows */
    double *M_most; /* n x n: the largest that entries have been, */
    double *A_most; /* m x n: and the terms of which they were differences at the start, */
    double *terms;  /* m: of rows that are but rounding errors: hmi_sim_row_terms */
    bool looked;    /* at the end of the present step, and found: */
    double angle, before; /* the least sine of rows kept there, and the last time */
    double risen;         /* the most that is left of a row left out */
} hmi_row_choice;

/* Another method for the steps across a rank drop. */
typedef struct hmi_fallback {
    void *memory;               /* of DOP853; NULL: the method needs no fallback */
    const hmi_method *replaced; /* the method of the run while the fallback steps; else NULL */
    void *replaced_memory;
    long steps;     /* of the fallback */
    double angle;   /* between rows, when it began */
    double best;    /* hmi_guard_best_angle at the last step, where rows are left out, */
    bool best_fell; /* such that it would be gone soon */
    bool given_up;  /* it is not used any more: it had to stay too long */
} hmi_fallback;

typedef struct hmi_guard {
    hmi_ode *ode;
    hmi_projection *projection;
    hmi_stepper *stepper;
    hmi_messages *messages;
    hmi_arena *arena; /* of the run */
    hmi_rank_watch rank;
    hmi_row_choice rows;
    hmi_fallback fallback;
    double *rates;      /* size: f at an end of a step */
    int forgiven_steps; /* since least squares have led across a drop; 0: they do not */
} hmi_guard;

/* ---- guard.c ---- */

/* All that is given outlives the guard. */
hm_status hmi_guard_init(hmi_guard *guard, hmi_projection *projection, hmi_stepper *stepper,
                         hmi_messages *messages, hmi_arena *arena);

/* ---- row_choice.c ---- */

hm_status hmi_row_choice_init(hmi_guard *guard);
/* At the consistent state of the start, with q'' there. */
HM_MUST_CHECK hm_status hmi_guard_choose_rows(hmi_guard *guard);
/* Before drift control moves a state that a step has come to. */
void hmi_guard_renew_rows(hmi_guard *guard, double t, const double *y);
/* The same for one state between steps; hmi_guard_use_rows returns to those of the motion. */
void hmi_guard_borrow_rows(hmi_guard *guard, double t, const double *y);
/* At an accepted step: true where other rows have been left out since the last. */
bool hmi_guard_watch_rows(hmi_guard *guard);
/* The rank watch follows the best rows at a state; false: something is not finite there. */
bool hmi_guard_watch_best_rows(hmi_guard *guard, double t, const double *y);
/* The least sine of the best choice of as many rows as are kept, at the present state; 0: there is none. */
double hmi_guard_best_angle(hmi_guard *guard);
/* All rows; then again those chosen. */
void hmi_guard_use_rows(hmi_guard *guard, bool all);
/* hmi_ode_forces with all rows, for reports with multipliers of minimum norm. */
hm_status hmi_guard_solve_all(hmi_guard *guard, double t, const double *y, hmi_solution *solution);

/* ---- rank.c ---- */

/* At an accepted step, after the projection at its end. Warns where the constraints lost rank
 * within the last step, and foresees where they will: `singular` of the stepper. */
hm_status hmi_guard_watch_rank(hmi_guard *guard);
/* The motion starts afresh, after a jump; with `rows`: other rows are watched from now on. */
void hmi_guard_forget(hmi_guard *guard, bool rows);
/* Where q'' has no exact answer least squares will do from now on; the method starts afresh. */
hm_status hmi_guard_begin_forgiving(hmi_guard *guard);
/* After a step: is the drop behind? `forgiven`: ode->forgiven before the step. */
hm_status hmi_guard_watch_forgiving(hmi_guard *guard, long forgiven);

/* ---- fallback_method.c ---- */

/* Memory for it, where the stepper's method needs one. */
hm_status hmi_guard_prepare_fallback(hmi_guard *guard);
/* After a step from t_before failed: false where the fallback would not help. */
bool hmi_guard_fall_back(hmi_guard *guard, double t_before);
/* Before a step: falls back where a drop comes, and returns where it is behind. */
hm_status hmi_guard_change_method(hmi_guard *guard);
/* The method of the run. */
const hmi_method *hmi_guard_method(const hmi_guard *guard);

#endif
