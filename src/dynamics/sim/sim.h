/* hm_sim: one state of a system with its scratch memory. Internal layout. */
#ifndef HMI_DYNAMICS_SIM_SIM_H
#define HMI_DYNAMICS_SIM_SIM_H

#include "compile/system/system.h"
#include "dynamics/formulations/dynamics.h"

struct hmi_sim_derivatives;
struct hmi_fast;
struct hmi_large;
struct hmi_sim_motion;

struct hm_sim {
    const hm_system *system;
    hmi_arena arena; /* everything below */
    double t;
    double *q, *v, *z;
    bool *held; /* 2n: kept while the state is made consistent */
    double *params;
    bool *param_set;
    double *inputs[3]; /* u, u', u'' */
    bool *input_set;
    double *inputs_work, *dynamics_work, *law_work, *report_work;
    double *own_dynamics_work, *own_law_work, *own_inputs_work; /* of the system's tapes */
    double *qdd, *reaction, *multiplier, *total_reaction, *total_multiplier, energy;
    bool prepared;         /* parameters are in the work vectors */
    unsigned long version; /* counts how often they were put there */

    /* The tapes in use: the system's, or those of a run that holds branches (integrate/events/switch.c). */
    const hmi_tape *dynamics_tape, *law_tape, *inputs_tape;
    const double *modes;         /* values of HMI_SYM_MODE; NULL with the system's tapes */
    hmi_formulation formulation; /* of hmi_sim_accelerate */
    double rank_tolerance;       /* as in hmi_options */
    const bool *left_out;        /* m: rows that a run leaves out of solves; NULL: none */

    /* The motion tape in use (motion.h), NULL: none; own_motion is the sim's, made on demand. */
    struct hmi_sim_motion *motion, *own_motion;
    bool own_motion_tried;
    bool by_motion; /* the last acceleration is its answer */

    /* What integrate/ keeps here between calls, and how it is released; NULL: nothing. */
    void *run;
    void (*run_destroy)(void *run);
    void *consistency;
    void (*consistency_destroy)(void *consistency);

    /* The compiled solve of large sparse systems (compiled.h); NULL: does not apply. */
    struct hmi_fast *fast;
    bool stale; /* the last q'' is of the compiled solve: M, Q, A, b belong to another state */

    /* The solve beyond HM_MOST_DENSE coordinates (large.h); NULL until first needed. */
    struct hmi_large *large;

    /* The solve, for systems up to HM_MOST_DENSE coordinates. */
    hmi_dynamics *dynamics;
    double *M, *A, *servo_A; /* dense */
    double *servo_b_free;
    hmi_servo *servos;
    double *v_given;                         /* velocities before the Dirac form replaced them */
    hm_geometry geometry;                    /* memory taken at the first hm_sim_geometry */
    struct hmi_sim_derivatives *derivatives; /* made on demand: motion_derivatives.h */
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
 * is not finite, or HM_ERR_LIMIT where large.h refuses. State rates are then at
 * hmi_sim_state_rates. Where `solution` is not NULL constraint forces are wanted too: it is filled
 * in (not with the fast solve) and reaction, multiplier and the total ones of the sim are set.
 * Without `solution` the motion tape answers where there is one. */
hm_status hmi_sim_accelerate(hm_sim *sim, hmi_solution *solution);
/* The same without evaluating M, Q, A, b, C first. */
hm_status hmi_sim_accelerate_here(hm_sim *sim, hmi_solution *solution);
const double *hmi_sim_state_rates(const hm_sim *sim);
/* Outputs of the dynamics tape as last evaluated, by system->at; writable. */
double *hmi_sim_dynamics(hm_sim *sim);
/* Runs the report tape at the present state with the forces as last solved for; by report_at. */
const double *hmi_sim_report(hm_sim *sim);
/* M and A as last evaluated, dense, in sim->M and sim->A. */
void hmi_sim_scatter(hm_sim *sim);
/* Other tapes with the outputs of the system's own (NULL: the system's own again). */
void hmi_sim_use_tapes(hm_sim *sim, const hmi_tape *dynamics, double *dynamics_work,
                       const hmi_tape *law, double *law_work, const double *modes);
void hmi_sim_use_inputs(hm_sim *sim, const hmi_tape *inputs, double *inputs_work);

/* The question to the solver, at the values the dynamics tape just computed. The law points into
 * the question itself, which must stay where it is. */
typedef struct hmi_question {
    hmi_equations equations;
    hmi_law law;
} hmi_question;

void hmi_sim_pose(hm_sim *sim, hmi_question *ask);

#endif
