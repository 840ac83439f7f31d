/* The motion tape (compile/motion.h) of a sim: the hot path of q''.
 *
 * Which form is compiled is decided at the sim's state when it is made: where M is not well positive
 * there, rows of A are added that make M + A^T V A so (the fewest that do, sparse ones first). At
 * states where the tape's margin says no, callers go on with hmi_sim_accelerate_here.
 * Verified: test/unit/dynamics/test_motion.c
 */
#ifndef HMI_DYNAMICS_SIM_MOTION_H
#define HMI_DYNAMICS_SIM_MOTION_H

#include "compile/motion.h"
#include "dynamics/sim.h"

typedef struct hmi_sim_motion {
    hmi_motion_tape program;
    const hm_allocator *allocator;
    double *work;
    unsigned long version;  /* of the parameters in its prologue: sim->version */
    hmi_tape_values values; /* pointers into the sim */
    const double *out;      /* its outputs, q'' first */
} hmi_sim_motion;

/* Expressions in place of the system's own (integrate/switch.c), and the powers wanted. */
typedef struct hmi_motion_source {
    const hmi_graph *graph;   /* NULL: the system's */
    const hmi_expr *dynamics; /* by system->at */
    const hmi_expr *powers;
    size_t power_count;
    bool ideal_power, nonideal_power;
} hmi_motion_source;

/* *motion is NULL where the system has no such tape (servos, laws that use reactions, too large,
 * no form of M that is positive): that is no error. source NULL: q'' and z' alone. */
hm_status hmi_sim_motion_create(hm_sim *sim, const hmi_motion_source *source,
                                hmi_sim_motion **motion);
void hmi_sim_motion_destroy(hmi_sim_motion *motion);

/* Runs at q, v, z (of the sim where it has inputs) after hmi_sim_refresh. false: not an answer. */
bool hmi_sim_motion_run(hm_sim *sim, hmi_sim_motion *motion, const double *t, const double *q,
                        const double *v, const double *z);

#endif
