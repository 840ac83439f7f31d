/* The memory of a contact solver, for the files of this folder. */
#ifndef HMI_DYNAMICS_CONTACT_SOLVER_H
#define HMI_DYNAMICS_CONTACT_SOLVER_H

#include "dynamics/contact/contact.h"

struct hmi_contact_solver {
    int most, most_frictions;
    double *doubles; /* of linear complementarity, and of decompositions */
    int *ints;
    double *K, *y, *solution; /* the equations of given modes */
    int *list;                /* their unknowns */
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
};

/* friction.c: combinations of modes. */
void hmi_contact_combine(hmi_contact_solver *s, const hmi_contact_problem *p,
                         hmi_contact_answer *answer);

#endif
