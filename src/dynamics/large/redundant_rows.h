/* Redundant rows of large systems, as people want to know them: which rows depend on rows declared
 * before them, and multipliers of minimum norm.
 *
 * The sparse solve drops some row of every dependency, whichever elimination came to last. Each
 * dropped row is a combination of those kept; these combinations span the null space of A^T, and its
 * echelon form from the last row backwards gives the rows that follow from earlier ones. With
 * N (dropped x m) that basis, lambda - N^T (N N^T)^-1 N lambda has minimum norm. Both are dense in
 * the number of dropped rows: beyond HMI_MOST_DEPENDENT of them the rows dropped are reported as
 * they are, and their multipliers stay 0.
 */
#ifndef HMI_DYNAMICS_LARGE_REDUNDANT_ROWS_H
#define HMI_DYNAMICS_LARGE_REDUNDANT_ROWS_H

#include "dynamics/large/sparse_solve.h"
#include "model/model.h"

#include <hamel/system.h>

enum { HMI_MOST_DEPENDENT = 200 };

typedef struct hmi_large_rows {
    hmi_arena memory; /* of N; taken where rows are dropped, and kept */
    size_t m, room;   /* how many rows N has room for */
    bool *redundant;
    double *discrepancy, *w; /* m; w is scratch */
    double *N, *gram;
    size_t no_rows[1]; /* the pattern of a matrix without rows */
} hmi_large_rows;

bool hmi_large_rows_init(hmi_large_rows *r, hmi_arena *arena, size_t m);
void hmi_large_rows_release(hmi_large_rows *r);

/* After a solve for q'' with the statuses HM_OK or HM_ERR_INCONSISTENT: fills in redundant and
 * discrepancy of the evaluation, gives lambda and total minimum norm (lambda NULL: not), and where b does not fit says
 * so in the context: HM_ERR_INCONSISTENT, or HM_ERR_NUMERIC where the rows at fault are not dependent
 * but nearly. */
HM_MUST_CHECK hm_status hmi_large_rows_judge(hmi_large_rows *r, const hm_model *model,
                                             hm_context *context, hmi_sparse_solver *solver,
                                             const double *qdd, double *lambda, double *total,
                                             hm_evaluation *out);

#endif
