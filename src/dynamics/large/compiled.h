/* q'' of large sparse systems through the compiled constraint problem (compile/solve/block_schur.h).
 *
 * It serves ideal constraints and non-ideal forces that do not depend on reactions, with M in small
 * blocks, singular ones with rows that lie within them (quaternions). Rows that depend on others are
 * dropped once that is confirmed (dependent_rows.h). Where a pivot of M or of G is small otherwise it
 * gives no answer, and the general solve (sparse_solve.h, or the dense one) takes over.
 */
#ifndef HMI_DYNAMICS_LARGE_COMPILED_H
#define HMI_DYNAMICS_LARGE_COMPILED_H

#include "compile/solve/block_schur.h"
#include "dynamics/large/sparse_solve.h"

typedef struct hmi_compiled hmi_compiled;

/* Memory from the arena. *compiled is NULL where the factor would be too large: that is no error.
 * HM_ERR_NOMEM. */
HM_MUST_CHECK hm_status hmi_compiled_create(const hmi_block_schur *schur, hmi_arena *arena,
                                            hmi_compiled **compiled);
/* Parameters changed. */
void hmi_compiled_prepare(hmi_compiled *compiled, const hmi_tape_values *values);
/* q'' and state rates at these values. False: no answer here. */
bool hmi_compiled_run(hmi_compiled *compiled, const hmi_tape_values *values);
/* No answer, since rows seem to depend on others: hmi_compiled_confirm looks whether they do, with the
 * numbers of M and A at the same values. */
bool hmi_compiled_doubts(const hmi_compiled *compiled);
void hmi_compiled_confirm(hmi_compiled *compiled, const hmi_sparse_shape *shape, const double *M,
                          const double *A);
/* Drift control: M d = A^T l, A d = r, at the values of hmi_compiled_factor. r: m, by row of the model.
 * Accelerations of the last run stay as they are. False: no answer. */
bool hmi_compiled_factor(hmi_compiled *compiled, const hmi_tape_values *values);
bool hmi_compiled_project(hmi_compiled *compiled, const hmi_tape_values *values, const double *r,
                          double *d);
/* Where hmi_compiled_run writes them. */
double *hmi_compiled_acceleration(const hmi_compiled *compiled);
const double *hmi_compiled_state_rates(const hmi_compiled *compiled);

#endif
