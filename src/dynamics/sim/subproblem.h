/* The fundamental equation with some rows and some coordinates only, sparse for systems that are
 * large or have a compiled sparse solve (dynamics/large/compiled.h), else dense: what drift control and consistent initial states solve.
 *
 *     M_ff d = F + A_f^T l,   A_f d = b       f: the free coordinates
 */
#ifndef HMI_DYNAMICS_SIM_SUBPROBLEM_H
#define HMI_DYNAMICS_SIM_SUBPROBLEM_H

#include "dynamics/large/sparse_solve.h"
#include "dynamics/sim/sim.h"

typedef struct hmi_subproblem hmi_subproblem;

/* rows, coordinates: ascending (NULL: all coordinates). Destroy also after a failure. HM_ERR_NOMEM,
 * HM_ERR_LIMIT. */
HM_MUST_CHECK hm_status hmi_subproblem_create(const hm_sim *sim, const size_t *rows,
                                              size_t row_count, const size_t *coordinates,
                                              size_t coordinate_count, hmi_subproblem **out);
void hmi_subproblem_destroy(hmi_subproblem *problem);

/* Takes M_ff and A_f as the sim last evaluated them. */
void hmi_subproblem_take(hmi_subproblem *problem);
/* d (free coordinates) for F and b (rows). Statuses of hmi_accelerate; HM_ERR_NUMERIC also where M is
 * not positive on what A allows in a large system. */
HM_MUST_CHECK hm_status hmi_subproblem_solve(hmi_subproblem *problem, const double *F,
                                             const double *b, double *d);
/* hmi_dynamics_leave_out for the rows of the model that are flagged; NULL: all count. Dense only. */
void hmi_subproblem_leave_out(hmi_subproblem *problem, const bool *rows);
/* Rows whose angle to others is below that count as dependent; 0: those that rounding errors make
 * independent. Dense only. */
void hmi_subproblem_coarse_rank(hmi_subproblem *problem, double sine);
/* r := A_f x (rows) */
void hmi_subproblem_times_rows(const hmi_subproblem *problem, const double *x, double *r);
/* A_f as a dense matrix, rows x free coordinates; NULL where the system is sparse. */
const double *hmi_subproblem_dense_rows(const hmi_subproblem *problem);
/* f := M_ff x */
void hmi_subproblem_times_mass(const hmi_subproblem *problem, const double *x, double *f);

/* Sum |A_kj x_j| and |A_k| of a row of the model, as last evaluated. */
double hmi_row_terms(const hm_sim *sim, size_t row, const double *x);
double hmi_row_length(const hm_sim *sim, size_t row);

#endif
