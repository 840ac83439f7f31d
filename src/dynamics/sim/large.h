/* Systems beyond HM_MOST_DENSE coordinates: evaluation and the fallback of the hot path, through the
 * sparse solve (sparse_solve.h). Servos and force laws that use reactions are not for them. */
#ifndef HMI_DYNAMICS_SIM_LARGE_H
#define HMI_DYNAMICS_SIM_LARGE_H

#include "dynamics/sim/sim.h"
#include "dynamics/large/sparse_solve.h"

/* NULL, or why a system of this size cannot be solved. */
const char *hmi_large_refusal(const hm_system *system);

/* Memory and the order of elimination, once; called by the functions below, or before by who must
 * not allocate. HM_ERR_NOMEM, HM_ERR_LIMIT. */
HM_MUST_CHECK hm_status hmi_large_prepare(hm_sim *sim);
void hmi_large_destroy(hm_sim *sim);

/* At the values just evaluated: q'' into sim->qdd, forces of the sim where `solution` is wanted.
 * Statuses of hmi_dynamics_solve. */
HM_MUST_CHECK hm_status hmi_large_accelerate(hm_sim *sim, hmi_solution *solution);
/* The second half of hm_sim_evaluate. */
HM_MUST_CHECK hm_status hmi_large_solve(hm_sim *sim, const hm_evaluate_options *options,
                                        hm_evaluation *evaluation);

/* M and A as last evaluated. */
const double *hmi_sim_mass_entries(const hm_sim *sim);
const double *hmi_sim_row_entries(const hm_sim *sim);
hmi_sparse_shape hmi_large_shape(const hm_system *system);

#endif
