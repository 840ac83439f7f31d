/* The state that a run starts from: consistent, and what was moved to make it so.
 *
 * Values that the model gives by `=`, and those that hm_sim_hold fixed, stay where they are; if that
 * cannot be, those that were held move too. Only residuals and projection are needed for it, not a
 * run: hm_sim_make_consistent keeps these two with the sim, so that what they compile serves all
 * later calls.                                Verified: test/unit/integrate/test_consistent.c
 */
#ifndef HMI_INTEGRATE_DRIFT_START_STATE_H
#define HMI_INTEGRATE_DRIFT_START_STATE_H

#include "integrate/drift/consistent.h"

#include "integrate/drift/mirrored.h"

#include <hamel/run.h>

typedef struct hmi_start_state {
    hmi_projection *projection;
    hmi_arena *arena;
    bool fix_all;                        /* nothing of the state may move */
    bool *fixed;                         /* 2 n: coordinates and velocities that may not */
    double *given, *found;               /* states: before, and after */
    bool *skip_position, *skip_velocity; /* by row: it need not hold (contacts) */
    const char **velocity_name;          /* n: x', made when first needed */
    HMI_ARRAY(hm_moved) moved;
    hmi_mirrored mirrored;
} hmi_start_state;

/* Release also after a failure. */
hm_status hmi_start_state_init(hmi_start_state *start, hmi_projection *projection,
                               hmi_arena *arena);
void hmi_start_state_release(hmi_start_state *start);
/* Moves the sim's state onto the constraints; all_free: whatever was given. HM_ERR_INPUT with a
 * diagnostic where that cannot be done. */
hm_status hmi_start_state_move(hmi_start_state *start, bool all_free);
/* The same with a list of what moved. */
hm_status hmi_start_state_find(hmi_start_state *start, bool all_free);

#endif
