/* q'' of large sparse systems through the compiled constraint problem (compile/solve/block_schur.h).
 *
 * Ideal constraints, or non-ideal forces that do not depend on reactions; M in small blocks. Where a
 * pivot of M or of G is small (redundant rows, a singular M) it says no, and the general solve
 * (sparse_solve.h, or the dense one) takes over.
 */
#ifndef HMI_DYNAMICS_SIM_COMPILED_H
#define HMI_DYNAMICS_SIM_COMPILED_H

#include "dynamics/sim/sim.h"

/* Memory, where the system has a compiled constraint problem. HM_ERR_NOMEM. */
HM_MUST_CHECK hm_status hmi_fast_create(hm_sim *sim);
/* Parameters changed. */
void hmi_fast_prepare(hm_sim *sim, const hmi_tape_values *values);
/* q'' at the present state into sim->qdd, state rates where hmi_sim_state_rates finds them. M, Q, A
 * and b are not evaluated. False: not applicable here, nothing was changed but qdd. */
bool hmi_fast_accelerate(hm_sim *sim);

#endif
