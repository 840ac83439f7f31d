/* The solve through sparse algebra (sparse_solve.h): q'', the constraint forces, and what an evaluation
 * says about them. It serves all systems beyond HM_MOST_DENSE coordinates, and smaller ones where it is
 * far cheaper than the dense solve and as good. Forces may use ideal reactions, which do not depend on
 * them: two solves with one factorisation (as in formulations/reaction_laws.c). Servos, laws in total
 * reactions and contacts are not for it.
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
    const double *M, *A, *Q, *b, *C; /* with a law Q: what of it uses no reactions; C: not used */
    const hmi_reaction_law *law;     /* NULL: there is none */
} hmi_large_equations;

/* NULL, or what of the system cannot be solved at this size. */
const char *hmi_large_refusal(const hm_system *system);
hmi_sparse_shape hmi_large_shape(const hm_system *system);

/* Is sparse algebra cheaper than dense, by the numbers of entries? revealing: than the dense solve with
 * rank decisions, which redundant rows and laws need. */
bool hmi_large_pays(const hm_system *system, bool revealing);

/* Memory and the order of elimination. HM_ERR_NOMEM, HM_ERR_LIMIT. */
HM_MUST_CHECK hm_status hmi_large_create(const hm_system *system, const hm_allocator *allocator,
                                         hmi_large **large);
void hmi_large_destroy(hmi_large *large);

/* qdd (n), and where `solution` is not NULL the forces, whose arrays belong to `large`. Statuses of
 * hmi_dynamics_solve; with others than HM_OK and HM_ERR_INCONSISTENT the solution is not filled in. */
HM_MUST_CHECK hm_status hmi_large_solve(hmi_large *large, const hmi_large_equations *equations,
                                        double *qdd, hmi_solution *solution);

/* qdd (n), where the answer is as good as that of the dense solve: pivots are well above rounding, and
 * rows that were dropped follow from others for certain. False: somebody else must look. */
bool hmi_large_accelerate(hmi_large *large, const hmi_large_equations *equations, double *qdd);

/* The second half of hm_sim_evaluate, after a solve with the statuses HM_OK or HM_ERR_INCONSISTENT;
 * v: the velocities. The multipliers of redundant rows become those of minimum norm where that is wanted;
 * otherwise those of dropped rows are 0. HM_ERR_NOMEM,
 * HM_ERR_LIMIT; otherwise what the redundant rows say, as hmi_large_rows_judge. */
HM_MUST_CHECK hm_status hmi_large_describe(hmi_large *large, const hmi_large_equations *equations,
                                           const hmi_solution *solution, const double *v,
                                           hm_context *context, bool least_norm,
                                           hm_evaluation *evaluation);
/* The compiled solve against qdd, the answer of this one, which stays. */
void hmi_large_compare(hmi_large *large, hmi_compiled *compiled, const hmi_tape_values *values,
                       double *qdd, hm_evaluation *evaluation);
/* Says in the context why there is no answer; large NULL: not even memory could be planned. */
void hmi_large_explain(const hmi_large *large, hm_status status, hm_context *context);

#endif
