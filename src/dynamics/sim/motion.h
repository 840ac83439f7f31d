/* The motion tape (compile/solve/motion.h) of a sim: the hot path of q''.
 *
 * Which form is compiled is decided at the point where it is made: where M is not well positive
 * there, rows of A are added that make M + A^T V A so (the fewest that do, sparse ones first). At
 * points where the tape's margin says no, callers go on with hmi_sim_accelerate_here.
 * Verified: test/unit/dynamics/test_motion.c
 */
#ifndef HMI_DYNAMICS_SIM_MOTION_H
#define HMI_DYNAMICS_SIM_MOTION_H

#include "compile/solve/motion.h"
#include "dynamics/sim/sim.h"

typedef struct hmi_sim_motion {
    hmi_motion_tape program;
    const hm_allocator *allocator;
    double *work;
    bool shifted;           /* rows were added to M, as the state asked when it was made */
    size_t row_count;       /* m */
    bool *left_out;         /* m: rows that are not in it, as sim->solve.left_out */
    unsigned long version;  /* of the parameters in its prologue: sim->tapes.version */
    unsigned long own;      /* the version at which `values` are of the sim's present state, or 0 */
    hmi_tape_values values; /* of the last run */
    const double *out;      /* its outputs, q'' first, */
    const double *margin;   /* and this among them */
} hmi_sim_motion;

/* Expressions in place of the system's own (integrate/events/switch.c), and the powers wanted. */
typedef struct hmi_motion_source {
    const hmi_graph *graph;   /* NULL: the system's */
    const hmi_expr *dynamics; /* by system->at */
    const hmi_expr *powers;
    size_t power_count;
    bool ideal_power, nonideal_power;
} hmi_motion_source;

/* *motion is NULL where the system has no such tape (servos, laws that use reactions, too large,
 * no form of M that is positive): that is no error. source NULL: q'' and z' alone. */
hm_status hmi_sim_motion_create(hm_sim *sim, const hmi_point *at, const hmi_motion_source *source,
                                hmi_sim_motion **motion);
void hmi_sim_motion_destroy(hmi_sim_motion *motion);
/* Are its rows those that the sim's solves use? */
bool hmi_sim_motion_fits(const hm_sim *sim, const hmi_sim_motion *motion);

/* Outputs are copied one by one: the code has just stored them so, and a load of several at once
 * would wait until the stores are through. As words of general registers: those of vectors are busy. */
typedef uint64_t __attribute__((may_alias)) hmi_word;
static inline void hmi_sim_motion_copy(const double *from, size_t count, double *to)
{
    const volatile hmi_word *one = (const volatile hmi_word *)from;
    hmi_word *words = (hmi_word *)to;
    size_t i = 0;
    for (; i + 2 <= count; i += 2) {
        words[i] = one[i];
        words[i + 1] = one[i + 1];
    }
    if (i < count)
        words[i] = one[i];
}

/* Is the margin positive (not NaN)? By its bits, which are in order. */
static inline bool hmi_sim_motion_answers(const hmi_sim_motion *motion)
{
    const uint64_t infinite = (uint64_t)0x7FF << 52;
    return *(const hmi_word *)motion->margin - 1 < infinite;
}

/* The prologue, after parameters changed. */
void hmi_sim_motion_prepare(hm_sim *sim, hmi_sim_motion *motion);

/* Runs at the point, after hmi_sim_refresh there. false: not an answer. */
static inline bool hmi_sim_motion_run(hm_sim *sim, hmi_sim_motion *motion, const hmi_point *at)
{
    if (motion->version != sim->tapes.version)
        hmi_sim_motion_prepare(sim, motion);
    /* Written only when they change: the code would wait for the store of a pointer it reads. */
    const double **by_kind = motion->values.by_kind;
    if (by_kind[HMI_SYM_COORD] != at->q || by_kind[HMI_SYM_VELOCITY] != at->v ||
        by_kind[HMI_SYM_TIME] != &at->t || by_kind[HMI_SYM_STATE] != at->z) {
        by_kind[HMI_SYM_TIME] = &at->t;
        by_kind[HMI_SYM_COORD] = at->q;
        by_kind[HMI_SYM_VELOCITY] = at->v;
        by_kind[HMI_SYM_STATE] = at->z;
        motion->own = 0;
    }
    hmi_tape_run(&motion->program.tape, &motion->values, motion->work);
    return hmi_sim_motion_answers(motion);
}

#endif
