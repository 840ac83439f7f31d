/* The solve of systems beyond HM_MOST_DENSE coordinates, through sparse algebra (sparse_solve.h):
 * q'', the constraint forces, and what an evaluation says about them. Servos and force laws that use
 * reactions are not for such systems.
 */
#ifndef HMI_DYNAMICS_LARGE_LARGE_H
#define HMI_DYNAMICS_LARGE_LARGE_H

#include "compile/system/system.h"
#include "dynamics/formulations/dynamics.h"
#include "dynamics/large/compiled.h"
#include "dynamics/large/sparse_solve.h"

typedef struct hmi_large hmi_large;

/* The numbers of M q'' = Q + C + A^T lambda, A q'' = b: stored entries of M and A. */
typedef struct hmi_large_equations {
    const double *M, *A, *Q, *b, *C;
} hmi_large_equations;

/* NULL, or what of the system cannot be solved at this size. */
const char *hmi_large_refusal(const hm_system *system);
hmi_sparse_shape hmi_large_shape(const hm_system *system);

/* Memory and the order of elimination. HM_ERR_NOMEM, HM_ERR_LIMIT. */
HM_MUST_CHECK hm_status hmi_large_create(const hm_system *system, const hm_allocator *allocator,
                                         hmi_large **large);
void hmi_large_destroy(hmi_large *large);

/* qdd (n), and where `solution` is not NULL the forces, whose arrays belong to `large`. Statuses of
 * hmi_dynamics_solve; with others than HM_OK and HM_ERR_INCONSISTENT the solution is not filled in. */
HM_MUST_CHECK hm_status hmi_large_solve(hmi_large *large, const hmi_large_equations *equations,
                                        double *qdd, hmi_solution *solution);

/* The second half of hm_sim_evaluate, after a solve with the statuses HM_OK or HM_ERR_INCONSISTENT;
 * v: the velocities. The multipliers of redundant rows become those of minimum norm. HM_ERR_NOMEM,
 * HM_ERR_LIMIT; otherwise what the redundant rows say, as hmi_large_rows_judge. */
HM_MUST_CHECK hm_status hmi_large_describe(hmi_large *large, const hmi_large_equations *equations,
                                           const hmi_solution *solution, const double *v,
                                           hm_context *context, hm_evaluation *evaluation);
/* The compiled solve against qdd, the answer of this one, which stays. */
void hmi_large_compare(hmi_large *large, hmi_compiled *compiled, const hmi_tape_values *values,
                       double *qdd, hm_evaluation *evaluation);
/* Says in the context why there is no answer; large NULL: not even memory could be planned. */
void hmi_large_explain(const hmi_large *large, hm_status status, hm_context *context);

#endif
