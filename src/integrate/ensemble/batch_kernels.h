/* What four lanes carry, and the loops over it: value i of lane l is at [4 i + l], aligned to 32
 * bytes. Each lane gets the bits that a single run gives for its values, with AVX2 or without. Decisions
 * are masks, so that no lane is looked at one by one.
 */
#ifndef HMI_INTEGRATE_ENSEMBLE_BATCH_KERNELS_H
#define HMI_INTEGRATE_ENSEMBLE_BATCH_KERNELS_H

#include "compile/jit/lanes.h"
#include "integrate/rk/rk.h"

#include <stdint.h>
#include <string.h>

/* A value a lane; or a mask: all bits of a lane, or none. */
typedef struct hmi_four {
    double of[HMI_LANES];
} __attribute__((aligned(32))) hmi_four;

typedef struct hmi_lane_data {
    /* of each lane: masks, */
    hmi_four busy;     /* a member is on it */
    hmi_four lost;     /* this way does not serve it */
    hmi_four passing;  /* the present step passed its error test */
    hmi_four accepted; /* by the last attempt */
    hmi_four just_rejected, stiff;
    hmi_four bad; /* some evaluation had no answer */
    /* numbers, */
    hmi_four t, t_old, t_new, at; /* at: of the present evaluation */
    hmi_four h, h_done, wanted;   /* the step to try, the last one, the one wished for */
    hmi_four error, last_log;     /* of the step tried; its log, of the last accepted one */
    hmi_four moved;               /* by drift control, relative to the tolerance */
    hmi_four work_scale, energy_start, energy, balance_error, violation;
    hmi_four next_output; /* when a frame is due; infinity: never */
    hmi_four pace_t;      /* as in hmi_run */
    /* whole numbers */
    hmi_four steps, rejected, evaluations, suspicious, smooth, pace_steps;

    /* the same for all */
    size_t n, size, width; /* coordinates; components of a state, with works */
    size_t stride;         /* from a row of K to the next */
    const hmi_rk_table *table;
    hmi_rk_rows rows;
    double end, largest, most_steps, atol, rtol;
    bool automatic;             /* stiff members go elsewhere */
    const double *out, *margin; /* of the motion tape */

    double *stage_h, *stage_t;  /* for compiled stages; NULL: there are none */
    const double *estimate;     /* width each: sums of the estimates that they left; NULL: not */
    double *y, *y_old, *f, *K;  /* width: states; rates; stages + 1 rows of them */
    double *trial, *before, *r; /* new state, argument of the last stage, scratch */
    double *first, *best;       /* before drift control, and its best so far */
    const double *least; /* size: as in hmi_stepper; 0 on lanes without; NULL: no lane has it */
} hmi_lane_data;

/* A level of the drift control on its way to the constraints. */
typedef struct hmi_lane_passage {
    hmi_four going, steps, last; /* masks; the last measure */
    size_t count;                /* rows: */
    const size_t *row;
    double *b, *size; /* minus their residuals; what rounding allows */
} hmi_lane_passage;

/* Rows of constraints of unit length, at the last two steps: as hmi_rank_watch. */
typedef struct hmi_lane_rank {
    hmi_four known;           /* last is */
    hmi_four angle;           /* the least one between rows then */
    hmi_four close, close_at; /* a drop is coming, or just passed, since the least angle was that */
    size_t m, n;
    double *now, *last, *longest, *product; /* m x n, m x n, m, m x m */
    const size_t *start, *column;           /* of the entries by row */
    double *least;                          /* size: see hmi_lane_data */
    const size_t *M_start, *M_column,
        *M_entry; /* by row: the whole symmetric M, columns ascending */
} hmi_lane_rank;

/* Sets of lanes that are returned have bit l for lane l. */
typedef struct hmi_batch_kernels {
    /* How long the step is, on lanes that work; h is 0 on others. */
    void (*begin)(hmi_lane_data *x);
    /* Before compiled stages. */
    void (*load)(hmi_lane_data *x);
    /* y' from what the motion tape gave for the state y. */
    void (*rates)(hmi_lane_data *x, const double *y, double *dy);
    /* The argument of stage i >= 1 into y; the motion tape has run for the stage before. */
    void (*stage)(hmi_lane_data *x, int i, double *y);
    /* The new state, after the last stage; where stages are compiled it is there. */
    void (*finish)(hmi_lane_data *x);
    /* So many evaluations were made for these lanes; those without an answer are lost. */
    void (*count)(hmi_lane_data *x, const hmi_four *lanes, double evaluations);
    /* Which steps pass? */
    void (*errors)(hmi_lane_data *x);

    /* Drift control begins for the lanes that pass: those. */
    int (*enter)(const hmi_lane_data *x, hmi_lane_passage *p);
    /* Minus the residuals, then the decisions of drift/approach.inc. The lanes that go on;
     * *undone: some went back to their best. z: coordinates or velocities. */
    void (*residuals)(hmi_lane_passage *p, const double *residual);
    void (*sizes)(hmi_lane_passage *p, const double *terms);
    int (*judge)(hmi_lane_data *x, hmi_lane_passage *p, double *z, bool last, bool *undone);
    /* Lanes without an answer are lost; then z += step. */
    void (*answers)(hmi_lane_data *x, hmi_lane_passage *p, const double *margin);
    void (*move)(const hmi_lane_data *x, const hmi_lane_passage *p, const double *step, double *z);
    /* How far it moved, which is components first .. end: states that moved far fail. */
    void (*moved)(hmi_lane_data *x, size_t first, size_t end);

    /* to := from on these lanes. */
    void (*select)(const hmi_four *lanes, size_t count, const double *from, double *to);
    /* Lanes that need f at the new state: all that pass, or those that moved. */
    int (*needy)(const hmi_lane_data *x, hmi_four *lanes);
    /* Accepts and rejects; the accepted lanes. */
    int (*conclude)(hmi_lane_data *x);
    /* The rank watch with these entries of the rows: lanes that need a closer look are lost; the
     * lanes whose rows have to be looked at for independence, at their first step. */
    int (*watch)(hmi_lane_data *x, hmi_lane_rank *rank, const double *entries);
    /* x->least on the lanes that are close, with the entries of M there. */
    void (*relate)(hmi_lane_data *x, hmi_lane_rank *rank, const double *M);
    void (*observe)(hmi_lane_data *x, const double *residuals, size_t count, const double *total);
    /* Lanes that are lost, at their end, or owe a frame. */
    int (*wanting)(const hmi_lane_data *x);
} hmi_batch_kernels;

/* The fastest for this processor, and the portable ones. */
const hmi_batch_kernels *hmi_batch_kernels_here(void);
extern const hmi_batch_kernels hmi_batch_kernels_portable;

static inline bool hmi_lane_in(const hmi_four *mask, size_t lane)
{
    uint64_t bits;
    memcpy(&bits, &mask->of[lane], sizeof bits);
    return bits != 0;
}

static inline void hmi_lane_mark(hmi_four *mask, size_t lane, bool in)
{
    const uint64_t bits = in ? UINT64_MAX : 0;
    memcpy(&mask->of[lane], &bits, sizeof bits);
}

#endif
