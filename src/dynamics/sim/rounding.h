/* Bounds of the rounding errors of M, A and b at a point: compile/tape/rounding.h on the tapes of a sim,
 * with the errors that inputs and computed parameters have themselves.
 *
 * They cost a few runs of the tape and may allocate: for evaluations, for the start of a run and for
 * decisions of rank, not for steps. */
#ifndef HMI_DYNAMICS_SIM_ROUNDING_H
#define HMI_DYNAMICS_SIM_ROUNDING_H

#include "dynamics/sim/sim.h"

/* An entry has an error of about so many roundings of the terms it is made of. */
enum { HMI_TERM_ROUNDINGS = 16 };

/* terms[m] := the largest terms of rows of A that are but rounding errors at this point, 0 for others. */
HM_MUST_CHECK hm_status hmi_sim_row_terms(hm_sim *sim, const hmi_point *at, double *terms);
/* *error := bounds aligned with hmi_sim_dynamics (system->at), of the evaluation just made at this
 * point, which stays as it is. They live until the next call. HM_ERR_NOMEM. */
HM_MUST_CHECK hm_status hmi_sim_bound(hm_sim *sim, const hmi_point *at, const double **error);
/* Puts them into a question that was just posed. */
HM_MUST_CHECK hm_status hmi_sim_pose_errors(hm_sim *sim, const hmi_point *at, hmi_question *ask);

#endif
