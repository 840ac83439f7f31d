/* The contacts of a sim: one-sided constraints, constraints that switch, and friction.
 *
 * Rows of A belong to constraints as written. Which of them hold is a discrete state, kept here: a
 * two-sided row holds while its condition is true; a one-sided one is open, or closed and then holds as
 * if it were two-sided, as long as its force pushes. Rows that do not hold are left out of all solves
 * (sim->solve.left_out). Friction is a force that is found before each solve and added to C.
 *
 *   classify  which rows are closed at a state, by their gaps and rates: for an evaluation
 *   decide    which of the closed rows hold, which frictions stick: accelerations and complementarity
 *   held      the forces of friction at a point, as long as nothing of that changes
 *   impact    velocities after an impact                                  [language.md, second edition]
 *
 * Invariants
 *   1. sim->solve.left_out and the dense workspace agree with `holds` after every function here.
 *   2. Nothing is allocated after hmi_contacts_create.
 * Verified: test/physics/test_contact_runs.c
 */
#ifndef HMI_DYNAMICS_SIM_CONTACTS_H
#define HMI_DYNAMICS_SIM_CONTACTS_H

#include "dynamics/contact/contact.h"
#include "dynamics/sim/sim.h"

/* One-sided rows that may be closed at the same time; coordinates of a model with contacts, and entries of
 * its matrix A as a dense one. */
enum { HMI_MOST_CLOSED = 150, HMI_MOST_WITH_CONTACTS = 1200, HMI_MOST_DENSE_ENTRIES = 20000000 };

typedef struct hmi_contacts {
    hm_sim *sim;
    size_t m, n, frictions, tangents;
    bool any_one_sided;
    bool redundant; /* forces of the last decision were not unique */

    /* The discrete state, by row. */
    bool *in_force;          /* its condition is true */
    bool *closed;            /* one-sided: in contact; two-sided: in force */
    bool *holds;             /* closed, and it stays so: the row is in A */
    bool *left_out;          /* the opposite of holds */
    hmi_friction_mode *mode; /* by friction, */
    double *slip;            /* 2 each: the direction in which it slides, */
    double *presses;         /* and the sign of the force that presses */
    int solutions;           /* of the last decision: 0, 1, 2 (several) */
    const char *trouble;     /* why there is none; NULL: as solutions says */

    /* As last read (hmi_contacts_read). */
    const double *gap, *rate, *restitution, *when; /* by row */
    const double *sliding;                         /* by tangent: U */
    const double *mus, *muk;                       /* by friction */
    /* As last decided or held. */
    double *force;    /* by row: the total multiplier of a one-sided or rubbing row */
    double *traction; /* by tangent: the force of friction */
    double *extra;    /* n: friction as a generalized force */
    double *opening;  /* by row: phi'' (psi') of closed rows */
    double *limit;    /* by friction: what is left until it slips, mus N - |T| */

    /* How large things are, so that "as good as zero" has the units of the model (hmi_contacts_measure). */
    double *q_scale, *v_scale, *a_scale; /* n: the largest |q|, |q'|, |free q''| so far */
    double step;                         /* the length of a step; 0: there is none */
    double force_size;                   /* of the forces that make up the free motion, */
    double momentum_size;                /* and of the momenta */

    /* Scratch. */
    double *work;          /* of the tape */
    unsigned long version; /* of the parameters in it */
    double *D;             /* tangents x n */
    bool *base;            /* m: rows left out of the base problem */
    size_t *direction;     /* of the problem: row, or m + tangent */
    double *response;      /* directions x n: accelerations by unit forces */
    double *W, *w0, *noise, *x, *w;
    bool *two_sided, *is_closed;
    hmi_friction_item *item;
    size_t *friction_of; /* by item */
    hmi_friction_mode *item_mode;
    double *item_slip, *item_presses, *item_limit;
    double *b, *zero, *F, *free, *impulse; /* m, n, n, n, m */
    hm_contact *shown;                     /* for evaluations */
    hmi_contact_solver *solver;
    int size, normals, items;
} hmi_contacts;

/* sim->contacts, where the model has any. HM_ERR_NOMEM. */
HM_MUST_CHECK hm_status hmi_contacts_create(hm_sim *sim);

/* Gaps, rates, conditions and coefficients at a point. */
void hmi_contacts_read(hmi_contacts *c, const hmi_point *at);
/* Sizes: forgotten, and taken from a point; step: 0 where there is none. */
void hmi_contacts_forget_sizes(hmi_contacts *c);
void hmi_contacts_measure(hmi_contacts *c, const hmi_point *at, double step);
/* What of a length of the model counts as zero whatever it belongs to. */
double hmi_contacts_least(const hmi_contacts *c);
/* What of a gap, a rate or the velocity along tangent k counts as zero; after hmi_sim_evaluate at the
 * point. */
double hmi_contacts_gap_noise(const hmi_contacts *c, size_t row, const hmi_point *at);
double hmi_contacts_rate_noise(const hmi_contacts *c, size_t row, const hmi_point *at);
/* The velocity that a fall through `gap` along a row brings, at the largest acceleration so far. */
double hmi_contacts_fall(const hmi_contacts *c, size_t row, double gap);
double hmi_contacts_sliding_noise(const hmi_contacts *c, size_t tangent, const hmi_point *at);

/* Which frictions slide and which are at rest, at the point just read. */
void hmi_contacts_classify_frictions(hmi_contacts *c, const hmi_point *at);
/* The discrete state by the numbers at the point, which is evaluated and read here. */
void hmi_contacts_classify(hmi_contacts *c, const hmi_point *at);
/* Which closed rows hold, at the point just evaluated and read. `let_go` (m flags; NULL): rows that
 * open if they can. HM_ERR_UNDETERMINED: no or several solutions (c->solutions). */
HM_MUST_CHECK hm_status hmi_contacts_decide(hmi_contacts *c, const hmi_point *at,
                                            const bool *let_go);
/* Evaluation, classification and decision at a point. */
HM_MUST_CHECK hm_status hmi_contacts_evaluate(hmi_contacts *c, const hmi_point *at);
/* The forces of friction at the point just evaluated, with modes as they are. */
HM_MUST_CHECK hm_status hmi_contacts_hold(hmi_contacts *c, const hmi_point *at);
/* v := velocities after an impact of the closed rows, at the point just evaluated and read;
 * c->impulse by row. HM_ERR_UNDETERMINED: no or several answers. */
HM_MUST_CHECK hm_status hmi_contacts_impact(hmi_contacts *c, const hmi_point *at, double *v);
/* v := v with U = 0 where friction sticks, and the rows that hold kept: drift control. */
void hmi_contacts_rest(hmi_contacts *c, const hmi_point *at, double *v);

/* One-sided rows and rows with friction, as last read and decided; their number. */
size_t hmi_contacts_show(hmi_contacts *c, const hm_contact **list);
/* Makes holds, left_out and the workspaces agree. */
void hmi_contacts_apply(hmi_contacts *c);
/* An error in the context that says why there is no motion, naming the rows. */
void hmi_contacts_report(const hmi_contacts *c);
/* The names of closed one-sided or rubbing rows, in memory of the context. */
const char *hmi_contacts_names(const hmi_contacts *c);

#endif
