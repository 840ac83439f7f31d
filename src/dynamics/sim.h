/* hm_sim: one state of a system with its scratch memory. Internal layout. */
#ifndef HMI_DYNAMICS_SIM_H
#define HMI_DYNAMICS_SIM_H

#include "compile/system.h"

struct hm_sim {
    const hm_system *system;
    hmi_arena arena; /* everything below */
    double t;
    double *q, *v, *z;
    double *params;
    bool *param_set;
    double *inputs[3]; /* u, u', u'' */
    bool *input_set;
    double *inputs_work, *dynamics_work, *law_work, *report_work;
    double *qdd, *reaction, *multiplier, *total_reaction, *total_multiplier, energy;
    bool prepared; /* parameters are in the work vectors */
};

/* The values of all symbols at the present state. */
hmi_tape_values hmi_sim_values(const hm_sim *sim);
/* Inputs and, after a parameter changed, the prologues. */
void hmi_sim_refresh(hm_sim *sim);

#endif
