/* The derivatives of derive/equation_derivatives.h as a tape with the pattern of its outputs. Compiled from a
 * system on demand; immutable, threads may share it.
 *
 * Outputs: the values of all rows, block by block, then the stored entries of the derivatives.
 */
#ifndef HMI_COMPILE_SYSTEM_DERIVATIVE_TAPE_H
#define HMI_COMPILE_SYSTEM_DERIVATIVE_TAPE_H

#include "compile/system/system.h"
#include "derive/equation_derivatives.h"

/* One block of rows. Entry k of row i is in column[k], start[i] <= k < start[i + 1]. */
typedef struct hmi_jacobian_block {
    size_t rows;
    const size_t *start;
    const uint32_t *column;
    size_t value;   /* outputs: where the values of the rows start, */
    size_t partial; /* and the entries of the derivatives */
} hmi_jacobian_block;

typedef struct hmi_jacobian {
    const hm_allocator *allocator;
    hmi_arena arena; /* patterns */
    hmi_columns columns;
    hmi_jacobian_block block[HMI_BLOCK_COUNT];
    hmi_tape tape;
} hmi_jacobian;

/* Of the equations of a system, or of a run that holds branches (HMI_SYM_MODE). */
hm_status hmi_jacobian_create(const hmi_derived *equations, hmi_jacobian_kind kind,
                              hmi_jacobian **out);
void hmi_jacobian_destroy(hmi_jacobian *jacobian);

/* Does column c hold a symbol of this kind? *index counts within the kind. */
bool hmi_jacobian_column(const hmi_jacobian *jacobian, hmi_symbol_kind kind, size_t count, size_t c,
                         size_t *index);

#endif
