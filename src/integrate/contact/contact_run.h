/* Contacts of a run: what is watched so that none is missed, and what happens there.
 *
 * Watched are, as functions beside the events of the model (integrate/events):
 *   gap        of an open one-sided row: phi, or psi; it closes at zero
 *   force      of a closed one: it opens where that would pull
 *   slide      of friction that slides: U along its direction at the last step; at zero it comes to
 *              rest, or turns
 *   limit      of friction that sticks: mus N - |T|; it breaks loose at zero
 *   condition  of `when`: the difference of each comparison in it
 *
 * At any of these, at the start, and after events that `set`, contacts are settled (settle.c): rows whose
 * condition became true are taken in, an impact changes velocities where a closed row would be
 * violated, and complementarity decides which rows hold from then on.
 *
 * Impacts that come ever faster end in contact (accumulation.c).
 *
 * Invariants
 *   1. During a step the discrete state of contacts does not change.
 *   2. Nothing is allocated but the lists of impacts and accumulations, between steps.
 * Verified: test/physics/test_contact_runs.c
 */
#ifndef HMI_INTEGRATE_CONTACT_CONTACT_RUN_H
#define HMI_INTEGRATE_CONTACT_CONTACT_RUN_H

#include "dynamics/sim/contacts.h"
#include "integrate/drift/projection.h"
#include "integrate/ode/ledger.h"
#include "integrate/ode/method.h"
#include "integrate/record/messages.h"

typedef enum hmi_contact_kind {
    HMI_CONTACT_GAP,
    HMI_CONTACT_FORCE,
    HMI_CONTACT_SLIDE,
    HMI_CONTACT_LIMIT,
    HMI_CONTACT_CONDITION
} hmi_contact_kind;

/* A function g = a - b (b HMI_NONE: g = a). */
typedef struct hmi_contact_function {
    hmi_contact_kind kind;
    size_t index;  /* row, or friction */
    hmi_expr a, b; /* of the system's graph; a is HMI_NONE where it is known after a solve only */
    hmi_op op;     /* condition: the comparison */
    double side;   /* the sign of g that holds */
    double slack;  /* g may go beyond zero by that much */
    bool watched;
    double largest, fastest; /* condition: |g| and |g'| so far */
} hmi_contact_function;

/* Times of impacts, to see them accumulate. */
enum { HMI_IMPACTS_KEPT = 64, HMI_MOST_IMPACTS = 20000 };
typedef struct hmi_impact_times {
    double t[HMI_IMPACTS_KEPT];
    uint64_t rows[HMI_IMPACTS_KEPT]; /* hash of the rows that were struck */
    size_t count;                    /* of all since the last accumulation */
    size_t *last;                    /* by row: count at its last impulse */
    bool faint; /* the last impact was as slow as rounding errors of gaps make it */
} hmi_impact_times;

typedef struct hmi_contact_run {
    hmi_contacts *contacts; /* of the sim; NULL: there are none */
    hm_sim *sim;
    hmi_projection *projection;
    hmi_stepper *stepper;
    hmi_ledger *ledger;
    hmi_messages *messages;
    hmi_arena *arena;
    double span;

    hmi_contact_function *functions;
    size_t count;
    bool *fired; /* by function, at the crossing */
    bool steady; /* some condition is not watched */
    bool *let_go;
    bool *was_in_force;
    bool *stuck;        /* by friction: it stuck when its row was closed last */
    double *before, *v; /* n */

    double force_scale;
    double by_impacts; /* energy that impacts brought (negative: lost) */
    HMI_ARRAY(hm_run_impact) impacts;
    size_t impacts_dropped;
    HMI_ARRAY(hm_run_impact) accumulations; /* energy_lost is 0 */
    hmi_impact_times times;
    double quick_t; /* actions since then, */
    long quick;     /* so many */
} hmi_contact_run;

/* All that is given outlives it. contacts stays NULL where the sim has none. */
hm_status hmi_contact_run_init(hmi_contact_run *r, hmi_projection *projection, hmi_stepper *stepper,
                               hmi_ledger *ledger, hmi_messages *messages, hmi_arena *arena);
void hmi_contact_run_release(hmi_contact_run *r);

/* ---- functions.c ---- */

hm_status hmi_contact_list_functions(hmi_contact_run *r);
/* A run begins: nothing of another one is left. */
void hmi_contact_forget(hmi_contact_run *r);
/* The value that is watched, positive while nothing happens; g: of the expression, where it has one. */
double hmi_contact_watched_value(const hmi_contact_run *r, size_t function, double g);
/* Does it need the forces? */
static inline bool hmi_contact_is_sampled(const hmi_contact_function *f)
{
    return f->a == HMI_NONE;
}
/* Which functions are watched from now on, and their sides; g: their values at the state. */
void hmi_contact_watch(hmi_contact_run *r, const hmi_point *at);
/* Comparisons whose difference stays zero (since the row holds, say) are not watched, and looked at again
 * with every step; g, rates: of all functions. */
void hmi_contact_leave_conditions(hmi_contact_run *r, const double *g, const double *rates);
/* The conditions by the sides of their comparisons, into contacts->in_force. */
void hmi_contact_find_conditions(hmi_contact_run *r);
/* Sides of all conditions by the values g of all functions; `fired` ones get the other side. */
void hmi_contact_find_sides(hmi_contact_run *r, const double *g);

/* ---- settle.c ---- */

/* At the stepper's state, which an impact may change (*jumped), after the conditions were found.
 * HM_ERR_UNDETERMINED, HM_ERR_INCONSISTENT: there is no motion;
 * a message is given. */
hm_status hmi_contact_settle(hmi_contact_run *r, bool *jumped);
/* Notes an impact of one row alone, that lost this energy. HM_ERR_NOMEM. */
hm_status hmi_contact_note_impact(hmi_contact_run *r, size_t row, double t, double lost);
/* Around a `set`: one-sided rows hold no more; after it, those whose gap is negative hold, the name of one
 * of them (NULL: there is none). */
void hmi_contact_release(hmi_contact_run *r);
const char *hmi_contact_close_violated(hmi_contact_run *r);
/* Before a step: directions in the plane are those of the state. */
void hmi_contact_turn(hmi_contact_run *r);
/* Drift control of what sticks. */
void hmi_contact_rest(hmi_contact_run *r, double t, double *y);
/* What of a gap the watch lets pass. */
double hmi_contact_gap_slack(const hmi_contact_run *r, size_t row, const hmi_point *at);

/* ---- accumulation.c ---- */

/* Notes the impact that was just found. The number of impacts after which the struck rows repeat, where
 * they accumulate: what follows is rest, and *limit the time of it. 0: they do not. */
size_t hmi_contact_accumulates(hmi_contact_run *r, double t, double *limit);
/* Impacts of one row alone: would this one be one of an accumulation? And its note, where it is not. */
bool hmi_contact_may_accumulate(hmi_contact_run *r, size_t row, double t);
void hmi_contact_note_time(hmi_contact_run *r, size_t row, double t);

#endif
