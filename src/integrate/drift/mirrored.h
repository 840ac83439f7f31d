/* Mirrored assemblies: the rows of a hinge also hold with the axis of B against that of A, those of a weld
 * after a half turn. A run must not start there.       Verified: test/unit/model/test_joints.c
 */
#ifndef HMI_INTEGRATE_DRIFT_MIRRORED_H
#define HMI_INTEGRATE_DRIFT_MIRRORED_H

#include "dynamics/sim/sim.h"

typedef struct hmi_mirrored {
    const hm_model *model;
    hmi_tape sides; /* of the joints that have one; empty where none has */
    double *work;
} hmi_mirrored;

/* Release also after a failure. */
hm_status hmi_mirrored_init(hmi_mirrored *mirrored, const hm_model *model, hmi_arena *arena);
void hmi_mirrored_release(hmi_mirrored *mirrored);
/* HM_ERR_INPUT with a diagnostic for the first joint that is mirrored at the sim's state. */
hm_status hmi_refuse_mirrored(const hmi_mirrored *mirrored, hm_sim *sim);

#endif
