/* The projector tape (compile/solve/projector.h) of a sim, for some rows of its constraints. */
#ifndef HMI_DYNAMICS_SIM_PROJECTOR_H
#define HMI_DYNAMICS_SIM_PROJECTOR_H

#include "compile/solve/projector.h"
#include "dynamics/sim/motion.h"

typedef struct hmi_sim_projector {
    hmi_projector_tape program;
    const hm_allocator *allocator;
    double *work;
    unsigned long version; /* of the parameters in its prologue: sim->tapes.version */
    hmi_tape_values values;
    const double *step;  /* n, */
    const double *sizes; /* by row, */
    const double *margin;
    const double *entries; /* of the rows, one row after the other */
} hmi_sim_projector;

/* *projector is NULL where there is none (large systems, M that has no positive pivots): that is no
 * error. rows: `count` of the model's; x: what the sizes are of. Of source the matrices count. */
hm_status hmi_sim_projector_create(hm_sim *sim, const hmi_motion_source *source, const size_t *rows,
                                   size_t count, hmi_symbol_kind x, hmi_sim_projector **projector);
void hmi_sim_projector_destroy(hmi_sim_projector *projector);

/* At the point, after hmi_sim_refresh there. false: not an answer. */
bool hmi_sim_projector_run(hm_sim *sim, hmi_sim_projector *projector, const hmi_point *at,
                           const double *b);

#endif
