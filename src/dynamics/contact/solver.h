/* The memory of a contact solver, for the files of this folder. */
#ifndef HMI_DYNAMICS_CONTACT_SOLVER_H
#define HMI_DYNAMICS_CONTACT_SOLVER_H

#include "dynamics/contact/contact.h"

struct hmi_contact_solver {
    int most, most_frictions;
    double *doubles; /* of linear complementarity, and of decompositions */
    int *ints;
    double *K, *y, *solution; /* the equations of given modes */
    int *list;                /* their unknowns, */
    double *units;            /* and units of these */
    int free;                 /* forces that they leave open: */
    double *null;             /* free x size, each along all directions */
    double *choice_H, *choice_y, *choice_g, *choice_next, *choice_slope, *choice_mean;
    double *chosen; /* size */
    /* a trial */
    double *x, *w;
    bool *closed;
    hmi_friction_mode *mode;
    double *slip, *presses;
    int *digit; /* the combination */
    /* the best so far */
    double *best_x, *best_w;
    bool *best_closed;
    hmi_friction_mode *best_mode;
    double *best_slip;
    bool best_redundant,
        best_matters; /* its forces are not unique, and the motion depends on the choice */
};

/* friction.c: combinations of modes. */
void hmi_contact_combine(hmi_contact_solver *s, const hmi_contact_problem *p,
                         hmi_contact_answer *answer);

/* choice.c: after hmi_contact_held, with its modes and answer. chosen := the forces that leave the most room
 * to signs and limits; false: there is no choice. */
bool hmi_contact_choose(hmi_contact_solver *s, const hmi_contact_problem *p,
                        const hmi_contact_modes *m, const double *x, double *chosen);
/* Do accelerations depend on the choice? x: the chosen one. */
bool hmi_contact_choice_matters(hmi_contact_solver *s, const hmi_contact_problem *p,
                                const hmi_contact_modes *m, const double *x);

#endif
