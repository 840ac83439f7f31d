/* hm_sim: one state of a system with its scratch memory. Internal layout. */
#ifndef HMI_DYNAMICS_SIM_H
#define HMI_DYNAMICS_SIM_H

#include "compile/system.h"
#include "dynamics/solve.h"

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

    /* The solve, for systems up to HM_MOST_DENSE coordinates. */
    hmi_dynamics *dynamics;
    double *M, *A, *servo_A; /* dense */
    double *servo_b_free;
    hmi_servo *servos;
    bool **actuated;
};

/* The values of all symbols at the present state. */
hmi_tape_values hmi_sim_values(const hm_sim *sim);
/* Inputs and, after a parameter changed, the prologues. */
void hmi_sim_refresh(hm_sim *sim);

/* Memory for the solve, where the system is small enough for it. */
hm_status hmi_sim_prepare_solve(hm_sim *sim);
/* Solves at the values just evaluated and fills in the second half of the evaluation. */
hm_status hmi_sim_solve(hm_sim *sim, const hm_evaluate_options *options, hm_evaluation *evaluation);

/* The hot path of integration: q'' at the sim's present t, q, v, z, into sim->qdd. Allocates nothing
 * and reports nothing; the status is that of hmi_dynamics_solve, or HM_ERR_NUMERIC where something
 * is not finite, or HM_ERR_LIMIT for systems beyond HM_MOST_DENSE. State rates are then at
 * hmi_sim_state_rates. Where `solution` is not NULL constraint forces are wanted too: it is filled
 * in (not with the fast solve) and reaction, multiplier and the total ones of the sim are set. */
hm_status hmi_sim_accelerate(hm_sim *sim, hmi_solution *solution);
const double *hmi_sim_state_rates(const hm_sim *sim);

#endif
