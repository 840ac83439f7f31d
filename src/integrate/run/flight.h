/* Free flight between impacts: many bodies that move independently until they strike each other.
 *
 * Where M is a constant diagonal matrix, forces are constant and every constraint is a one-sided one on
 * positions, each coordinate moves on a parabola of its own, and an impact of one row changes nothing but
 * the velocities of its coordinates. Then no steps are needed: each coordinate has a clock of its own, and
 * impacts are taken in the order of their times. [Alder & Wainwright 1959; Lubachevsky 1991]
 *
 * Rows that can close soon are few. A window of time is chosen, and a speed that no coordinate exceeds: rows
 * whose gap stays positive whatever the coordinates do within that speed are not looked at before their time;
 * the others are active, and have a next time of closing, found on the parabolas with enclosures so that none
 * is missed (events/isolate.h). After an impact only active rows of the coordinates that were struck are
 * looked at again. A coordinate that gets faster than the speed ends the window.
 *
 * An impact that is not that of one row alone (several touch), that grazes, that leaves a row closed, or that
 * may be one of an accumulation is left to the general way (integrate/contact), at its time; the flight goes
 * on when all rows are open again.
 *
 * Invariants
 *   1. Nothing is allocated after hmi_flight_init but the list of impacts.
 *   2. Times of impacts are exact up to rounding: there is no tolerance.
 * Verified: test/tool/discs.sh
 */
#ifndef HMI_INTEGRATE_RUN_FLIGHT_H
#define HMI_INTEGRATE_RUN_FLIGHT_H

#include "integrate/events/events.h"

/* The window. */
typedef struct hmi_flight_window {
    double start, end, length;
    double speed;       /* no coordinate is faster up to the end of the last box */
    double *not_before; /* by row: it does not close earlier */
    double *next;       /* by row: when an active one closes; infinite: not in the window */
    size_t *active;     /* rows, */
    size_t count;       /* so many, */
    size_t most;        /* and at most that many are wanted */
    size_t *first;      /* n + 1: where the active rows of a coordinate begin, */
    size_t *of;         /* here */
    size_t *looked;     /* by row: at which impact it was last looked at */
    size_t impacts;     /* in this window */
} hmi_flight_window;

typedef struct hmi_flight {
    bool possible; /* for this model and these options */
    bool begun;    /* t, q, v are those of the motion */
    double now;
    size_t taken; /* impacts, counted */
    hmi_contact_run *contact;
    hmi_watch *watch;
    size_t first_function; /* of the contact's in the watch */
    size_t *function;      /* by row: its gap */
    size_t *slot;          /* by entry of A: where the tape of the gap reads the coordinate */
    size_t n, m;
    double *t, *q, *v;   /* by coordinate: its state at its own time */
    double *a, *mass;    /* which are constant */
    double *restitution; /* by row, too */
    double *x0, *x1;     /* by coordinate: state at the time that is looked at */
    double *gradient;    /* of the row that is struck, by entry */
    double *before;      /* velocities of its coordinates */
    hmi_flight_window window;
} hmi_flight;

/* Memory and the verdict. HM_ERR_NOMEM. */
hm_status hmi_flight_init(hmi_flight *flight, hmi_events *events, hmi_arena *arena);

/* May it go on from here? No row is closed. */
bool hmi_flight_serves(const hmi_flight *flight);

typedef enum hmi_flight_end {
    HMI_FLIGHT_ARRIVED, /* at the time that was asked for */
    HMI_FLIGHT_PAUSE,   /* after many impacts, for who wants to know */
    HMI_FLIGHT_LEFT     /* an impact at t is for the general way; the state is that before it */
} hmi_flight_end;

/* From the state y at *t up to `until` at most; y and *t become those where it ends. *impacts: so many were
 * taken. HM_ERR_NOMEM. */
hm_status hmi_flight_go(hmi_flight *flight, double *t, double *y, double until, long *impacts,
                        hmi_flight_end *end);

#endif
