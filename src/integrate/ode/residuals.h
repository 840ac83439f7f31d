/* How far a state is from the constraints: phi, and phi' or psi, of every passive row. */
#ifndef HMI_INTEGRATE_ODE_RESIDUALS_H
#define HMI_INTEGRATE_ODE_RESIDUALS_H

#include "dynamics/sim/sim.h"

typedef struct hmi_residuals {
    hm_sim *sim;
    size_t count;                      /* rows */
    hm_level *level;                   /* by row */
    const double *position, *velocity; /* by row, as last evaluated; 0 where a level has none */
    hmi_tape tape;
    double *work;
    double *seen; /* t, q, v, z of the last evaluation; NULL: the tape reads more that changes */
    bool known;   /* `seen` is filled in */

    /* Where a constraint switches: by the branches that a run holds, between its steps. */
    hmi_tape held;
    double *held_work;
    bool by_modes;  /* that tape is in use */
    double *before; /* 2 count: scratch of who compares branches */
} hmi_residuals;

/* Memory comes from the arena; release the tape also after a failure. A tape that is there already
 * (of an earlier run) serves again; otherwise *r is zero. */
hm_status hmi_residuals_init(hmi_residuals *r, hm_sim *sim, hmi_arena *arena);
/* The same rows with modes, in a copy of the graph. Nothing where none of them switches. */
hm_status hmi_residuals_hold(hmi_residuals *r, const hmi_derived *held, hmi_arena *arena);
/* From now on by the branches that are held, or as written; nothing where there are no modes. */
void hmi_residuals_use_modes(hmi_residuals *r, bool by_modes);
/* The tape in use. */
const hmi_tape *hmi_residuals_tape(const hmi_residuals *r, double **work);
void hmi_residuals_release(hmi_residuals *r);
/* Parameters changed. */
void hmi_residuals_prepare(hmi_residuals *r);
/* At the point; at that of the last evaluation there is nothing to do. */
void hmi_residuals_evaluate(hmi_residuals *r, const hmi_point *at);

#endif
