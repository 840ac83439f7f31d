/* Four members of an ensemble at once, on the lanes of vector registers.
 *
 * Explicit Runge-Kutta steps with a step size, an error control and an end a lane: the arithmetic of
 * rk.c, projection.c and the driver, on tapes that run on four lanes (compile/lanes.h). A lane gets
 * the bits of a scalar run of its member; what is on the other lanes does not matter.
 *
 * The batch does the smooth way only. Where anything else comes up (no compiled answer for q'' or
 * the projection, a step that becomes too small, constraints that lose rank, stiffness under method
 * auto) the lane is `lost`, and its member is run again from the start by hm_sim_run.
 *
 * Invariants
 *   1. Nothing is allocated after hmi_batch_create.
 *   2. Value i of lane l is at [4 i + l].
 * Verified: test/unit/integrate/test_ensemble.c
 */
#ifndef HMI_INTEGRATE_BATCH_H
#define HMI_INTEGRATE_BATCH_H

#include "compile/lanes.h"
#include "integrate/batch_kernels.h"
#include "integrate/driver.h"

/* The run of one member. */
typedef struct hmi_lane {
    bool busy;     /* a member is on it */
    bool passing;  /* the present step passed its error test */
    bool accepted; /* by the last attempt */
    bool lost;     /* this way does not serve it */
    size_t member;
    double t, t_old, t_new;
    double h, h_done, wanted; /* next step to try, the last one, the one wished for */
    double error, last_log;   /* of the step tried; its log, of the last accepted one */
    double moved;             /* by drift control, relative to the tolerance */
    double work_scale;
    bool just_rejected, stiff;
    int suspicious, smooth;
    long steps, rejected, evaluations;
    double energy_start, energy, balance_error, violation;
    double pace_t; /* as in hmi_driver */
    long pace_steps;
    long outputs;
    hmi_rank_watch rank;
} hmi_lane;

typedef struct hmi_lane_tape {
    hmi_tape_lanes lanes;
    double *work;
    const double *out;
    bool used;
} hmi_lane_tape;

/* One level of the drift control. */
typedef struct hmi_lane_level {
    hmi_lane_tape tape;
    size_t count, sizes, margin;
    const size_t *row;
    double *b, *size; /* by row */
} hmi_lane_level;

typedef struct hmi_batch {
    hmi_driver *d; /* it starts the members, and has the options; its state is nobody's */
    const hmi_rk_table *table;
    hmi_rk_rows rows;
    const hmi_batch_kernels *kernels;
    hmi_arena arena;
    size_t n, size, works, width;
    bool automatic; /* stiff members go elsewhere */

    hmi_lane_tape motion, inputs, residuals, total, dynamics;
    hmi_lane_level position, velocity;
    size_t margin; /* of the motion tape's outputs */
    hmi_tape_values values;
    double *params, *input[3];
    bool *input_set; /* by input and lane */

    double *t, *h;              /* a lane: of the present evaluation, of the present step */
    double *y, *y_old, *f, *K;  /* width: states; rates; stages + 1 of them */
    double *trial, *before, *r; /* new state, argument of the last stage, error estimate */
    double *first, *best;       /* before drift control, and its best so far */
    double *bad;                /* a lane: bits where there was no answer */
    bool measured;              /* the residuals are those of the new states */
    double *rows_dense;         /* of one lane: m x n */
    double *sums;               /* a lane */
    double *lane_y;             /* of one lane: 3 widths */
    hmi_lane lane[HMI_LANES];
} hmi_batch;

/* Why batches do not serve the driver's system and options, in words; NULL: they do. */
const char *hmi_batch_refusal(const hmi_driver *d);
/* For a driver that has started. Destroy also after a failure. */
hm_status hmi_batch_create(hmi_driver *d, hmi_batch **batch);
void hmi_batch_destroy(hmi_batch *batch);

/* The member that the driver has just restarted with goes onto a lane. `fresh_params`: they differ
 * from those before. */
void hmi_batch_put(hmi_batch *batch, size_t lane, size_t member, bool fresh_params);
/* One step tried on every busy lane that is not lost; `accepted` and `lost` say what came of it. */
void hmi_batch_try(hmi_batch *batch);
/* The last step of a lane into the driver and its sim: for frames and results there. */
void hmi_batch_show(hmi_batch *batch, size_t lane);

/* ---- between the files of the batch ---- */

/* The tapes' symbols at times t (a lane) and states y, inputs included. */
void hmi_batch_point(hmi_batch *batch, const double *t, const double *y);
void hmi_batch_run(const hmi_batch *batch, const hmi_lane_tape *tape);
/* batch_settle.c: drift control of `trial` at t_new on the lanes that are passing, */
void hmi_batch_settle(hmi_batch *batch);
/* and violations and energies of the accepted ones. */
void hmi_batch_observe(hmi_batch *batch);

static inline bool hmi_lane_works(const hmi_lane *lane)
{
    return lane->busy && !lane->lost;
}

#endif
