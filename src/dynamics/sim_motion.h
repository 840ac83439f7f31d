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
    bool shifted;           /* rows were added to M, as the state asked when it was made */
    unsigned long version;  /* of the parameters in its prologue: sim->version */
    hmi_tape_values values; /* pointers into the sim */
    const double *out;      /* its outputs, q'' first, */
    const double *margin;   /* and this among them */
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

/* Outputs are copied one by one: the code has just stored them so, and a load of several at once
 * would wait until the stores are through. */
static inline void hmi_sim_motion_copy(const double *from, size_t count, double *to)
{
    const volatile double *one = from;
    for (size_t i = 0; i < count; i++)
        to[i] = one[i];
}

/* The prologue, after parameters changed. */
void hmi_sim_motion_prepare(hm_sim *sim, hmi_sim_motion *motion);

/* Runs at q, v, z (of the sim where it has inputs) after hmi_sim_refresh. false: not an answer. */
static inline bool hmi_sim_motion_run(hm_sim *sim, hmi_sim_motion *motion, const double *t,
                                      const double *q, const double *v, const double *z)
{
    if (motion->version != sim->version)
        hmi_sim_motion_prepare(sim, motion);
    motion->values.by_kind[HMI_SYM_TIME] = t;
    motion->values.by_kind[HMI_SYM_COORD] = q;
    motion->values.by_kind[HMI_SYM_VELOCITY] = v;
    motion->values.by_kind[HMI_SYM_STATE] = z;
    hmi_tape_run(&motion->program.tape, &motion->values, motion->work);
    return *motion->margin > 0;
}

#endif
