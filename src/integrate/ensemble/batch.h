/* Four members of an ensemble at once, on the lanes of vector registers.
 *
 * Explicit Runge-Kutta steps on tapes that run on four lanes (compile/jit/lanes.h); every lane has its own
 * step size, error control and end. The arithmetic is the text that a single run compiles too
 * (rk/control.inc, rk/sums.inc, drift/approach.inc), so that a lane gets the bits of a single run of its
 * member; what is on the other lanes does not matter.
 *
 * The batch does the smooth way only. Where anything else comes up (no compiled answer for q'' or
 * the projection, a step that becomes too small, constraints that lose rank, stiffness under method
 * auto) the lane is `lost`, and its member is run again from the start by hm_sim_run.
 *
 * Invariants
 *   1. Nothing is allocated after hmi_batch_create.
 *   2. Value i of lane l is at [4 i + l].
 *   3. What is compiled (hmi_batch_code) is const, and shared by all batches of an ensemble.
 * Verified: test/unit/integrate/test_ensemble.c
 */
#ifndef HMI_INTEGRATE_ENSEMBLE_BATCH_H
#define HMI_INTEGRATE_ENSEMBLE_BATCH_H

#include "compile/jit/lanes.h"
#include "compile/jit/rk_stages.h"
#include "integrate/ensemble/batch_kernels.h"
#include "integrate/run/run.h"

/* Tapes of a run on four lanes; without a tape: not used. */
typedef struct hmi_batch_code {
    hmi_tape_lanes motion, inputs, residuals, total, dynamics, position, velocity;
    hmi_stages stages; /* without run[1]: not compiled */
} hmi_batch_code;

typedef struct hmi_lane_tape {
    const hmi_tape_lanes *lanes; /* NULL: not used */
    double *work;
    const double *out;
} hmi_lane_tape;

/* One level of the drift control. */
typedef struct hmi_lane_level {
    hmi_lane_tape tape;
    size_t sizes, margin, rows;
    hmi_lane_passage *passage; /* NULL: no rows */
} hmi_lane_level;

typedef struct hmi_batch {
    hmi_run *d; /* it starts the members, and has the options; its state is nobody's */
    const hmi_batch_code *code;
    const hmi_batch_kernels *kernels;
    hmi_arena arena;
    hmi_lane_data *x;
    hmi_lane_rank *rank; /* NULL: nothing to watch */

    hmi_lane_tape motion, inputs, residuals, total, dynamics;
    double *stage_work; /* NULL: stages are not compiled */
    hmi_lane_level position, velocity;
    hmi_tape_values values;
    double *params, *input[3];
    bool *input_set;     /* by input and lane */
    bool measured;       /* the residuals are those of the new states */
    hmi_rank_watch rows; /* of one lane, at its first step: are they independent? */

    size_t member[HMI_LANES];
    long outputs[HMI_LANES]; /* frames at output times given so far */
} hmi_batch;

/* Why batches do not serve the run's system and options, in words; NULL: they do. */
const char *hmi_batch_refusal(const hmi_run *d);
/* For a run that has started, and outlives it. `many` members: it is worth compiling more. Release
 * also after a failure. */
hm_status hmi_batch_compile(const hmi_run *d, bool many, hmi_batch_code *code);
void hmi_batch_code_release(hmi_batch_code *code);
/* For a run that has started as the one of the code has, which outlives the batch. Destroy also
 * after a failure. */
hm_status hmi_batch_create(hmi_run *d, const hmi_batch_code *code, hmi_batch **batch);
void hmi_batch_destroy(hmi_batch *batch);

/* The member that the run has just restarted with goes onto a lane. `fresh_params`: they differ
 * from those before. */
void hmi_batch_put(hmi_batch *batch, size_t lane, size_t member, bool fresh_params);
/* One step tried on every busy lane that is not lost; the lanes (bit l: lane l) that are lost or
 * arrived at a frame or at their end. */
int hmi_batch_try(hmi_batch *batch);
/* The last step of a lane into the run and its sim: for frames and results there. */
void hmi_batch_show(hmi_batch *batch, size_t lane);
/* So many frames at output times were given for a lane. */
void hmi_batch_note_outputs(hmi_batch *batch, size_t lane, long outputs);

/* ---- between the files of the batch ---- */

/* The tapes' symbols at times t (a lane) and states y, inputs included. */
void hmi_batch_point(hmi_batch *batch, const hmi_four *t, const double *y);
void hmi_batch_run(const hmi_batch *batch, const hmi_lane_tape *tape);
/* batch_settle.c: drift control of `trial` at t_new on the lanes that are passing, */
void hmi_batch_settle(hmi_batch *batch);
/* and rank, violations and energies of the accepted ones. */
void hmi_batch_observe(hmi_batch *batch);

#endif
