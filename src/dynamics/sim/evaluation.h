/* What hm_sim_evaluate needs beyond q'' itself: between solve.c, evaluation.c and failure.c. */
#ifndef HMI_DYNAMICS_SIM_EVALUATION_H
#define HMI_DYNAMICS_SIM_EVALUATION_H

#include "dynamics/large/large.h"
#include "dynamics/sim/sim.h"

/* solve.c: forces of a solution into sim->last. */
void hmi_sim_keep_forces(hm_sim *sim, const hmi_point *at, const hmi_solution *solution);
/* The equations of a large system as last evaluated, and their solve whatever the formulation. */
hmi_large_equations hmi_sim_large_equations(hm_sim *sim, const hmi_point *at, hmi_question *ask);
HM_MUST_CHECK hm_status hmi_sim_accelerate_large(hm_sim *sim, const hmi_point *at,
                                                 hmi_solution *solution);
/* May the compiled solve answer, with the tapes and the formulation in use? */
bool hmi_sim_has_compiled(const hm_sim *sim);

/* q'' by the compiled solve, state rates where hmi_sim_state_rates finds them. M, Q, A and b are not
 * evaluated. False: no answer; nothing was changed but q''. */
bool hmi_sim_accelerate_compiled(hm_sim *sim, const hmi_point *at);

/* Drift control by the compiled solve: M d = A^T l, A d = r with M and A at a point; the first call at a
 * point factors. False: no answer. */
bool hmi_sim_factor_compiled(hm_sim *sim, const hmi_point *at);
bool hmi_sim_project_compiled(hm_sim *sim, const hmi_point *at, const double *r, double *d);

/* evaluation.c: the second half of hm_sim_evaluate by the sparse solve, whatever the size. */
HM_MUST_CHECK hm_status hmi_sim_solve_large(hm_sim *sim, const hmi_point *at,
                                            const hm_evaluate_options *options,
                                            hm_evaluation *evaluation);

/* hm_sim_evaluate by the sparse solve, where it is cheaper than the dense one and decides ranks well: for
 * who needs the motion, and not all verdicts. */
HM_MUST_CHECK hm_status hmi_sim_evaluate_quickly(hm_sim *sim, const hm_evaluate_options *options,
                                                 hm_evaluation *evaluation);

/* Without an answer outputs that use accelerations or constraint forces have no value: in the report
 * as last run. */
void hmi_sim_clear_unsolved(hm_sim *sim);

/* vanished_rows.c: does the motion found stay on constraints whose rows vanish at the point just
 * evaluated? Where not, out says so and a warning, too. HM_ERR_NOMEM. error: bounds of the entries of
 * A, or NULL. The report is run elsewhere meanwhile. */
HM_MUST_CHECK hm_status hmi_sim_check_vanished(hm_sim *sim, const hmi_point *at,
                                               const double *error, hm_evaluation *out);
/* The warning of such an evaluation as an error, for whoever needs the motion: HM_ERR_UNDETERMINED. */
HM_MUST_CHECK hm_status hmi_sim_refuse_vanished(hm_sim *sim, const hm_evaluation *at);

/* failure.c: diagnostics for a status other than HM_OK. */
void hmi_sim_report_failure(const hm_sim *sim, hm_status status, const hmi_verdict *verdict);
/* A law may not use a multiplier that is not unique: HM_ERR_UNDETERMINED with a diagnostic. */
HM_MUST_CHECK hm_status hmi_sim_check_multipliers(const hm_sim *sim, const hmi_verdict *verdict);

#endif
