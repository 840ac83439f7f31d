/* The fundamental equation with some rows and some coordinates only, sparse for systems that are
 * large or have a compiled sparse solve (compiled.h), else dense: what drift control and consistent initial states solve.
 *
 *     M_ff d = F + A_f^T l,   A_f d = b       f: the free coordinates
 */
#ifndef HMI_DYNAMICS_SIM_SUBPROBLEM_H
#define HMI_DYNAMICS_SIM_SUBPROBLEM_H

#include "dynamics/sim/large.h"

typedef struct hmi_part hmi_part;

/* rows, coordinates: ascending (NULL: all coordinates). Destroy also after a failure. HM_ERR_NOMEM,
 * HM_ERR_LIMIT. */
HM_MUST_CHECK hm_status hmi_part_create(const hm_sim *sim, const size_t *rows, size_t row_count,
                                        const size_t *coordinates, size_t coordinate_count,
                                        hmi_part **out);
void hmi_part_destroy(hmi_part *part);

/* Takes M_ff and A_f as the sim last evaluated them. */
void hmi_part_take(hmi_part *part);
/* d (free coordinates) for F and b (rows). Statuses of hmi_accelerate; HM_ERR_NUMERIC also where M is
 * not positive on what A allows in a large system. */
HM_MUST_CHECK hm_status hmi_part_solve(hmi_part *part, const double *F, const double *b, double *d);
/* hmi_dynamics_leave_out for the rows of the model that are flagged; NULL: all count. Dense only. */
void hmi_part_leave_out(hmi_part *part, const bool *rows);
/* Rows whose angle to others is below that count as dependent; 0: those that rounding errors make
 * independent. Dense only. */
void hmi_part_coarse_rank(hmi_part *part, double sine);
/* r := A_f x (rows) */
void hmi_part_times_rows(const hmi_part *part, const double *x, double *r);
/* A_f as a dense matrix, rows x free coordinates; NULL where the system is sparse. */
const double *hmi_part_dense_rows(const hmi_part *part);
/* f := M_ff x */
void hmi_part_times_mass(const hmi_part *part, const double *x, double *f);

/* Sum |A_kj x_j| and |A_k| of a row of the model, as last evaluated. */
double hmi_row_terms(const hm_sim *sim, size_t row, const double *x);
double hmi_row_length(const hm_sim *sim, size_t row);

#endif
