/* The matrix of sparse_solve.h with one pattern, in an order for little fill. Private to
 * sparse_form.c and sparse_solve.c.
 *
 *     [ M  A^T ]         [ M + A^T V A   A^T ]
 *     [ A   0  ]   or    [ A              0  ]
 *
 * The first n unknowns are the coordinates, then come the multipliers, one a row of A. */
#ifndef HMI_DYNAMICS_LARGE_SPARSE_FORM_H
#define HMI_DYNAMICS_LARGE_SPARSE_FORM_H

#include "dynamics/large/sparse_solve.h"

typedef struct hmi_sparse_form {
    bool made, shifted; /* shifted: by A^T V A */
    hmi_arena arena;
    uint32_t *place;   /* n + m: where an unknown is in the order */
    uint32_t *unknown; /* and back */
    size_t *start;     /* lower triangle in that order */
    uint32_t *column;
    double *value;
    size_t *M_at, *A_at; /* where the entries of M and A go */
    size_t *square_at;   /* and the products of the entries of a row with one another */
    int8_t *sign;
    uint8_t *may_drop;
    hmi_ldlt_sparse ldlt;
} hmi_sparse_form;

/* Everything but the numbers; `shifted` and the arena are given. HM_ERR_NOMEM, HM_ERR_LIMIT. */
HM_MUST_CHECK hm_status hmi_sparse_form_make(hmi_sparse_form *form, const hm_allocator *allocator,
                                             const hmi_sparse_shape *shape);

#endif
