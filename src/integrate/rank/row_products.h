/* Products of the rows of constraints at two states, for systems whose rows touch few coordinates each.
 *
 *     B = A_last A_now^T = L D V,   L, V^T of unit lower form
 *
 * has the pattern of A A^T, which is sparse; its rows are taken in an order of little fill, found once.
 * While nothing happens B is near the Gram matrix of either state and all of D is positive. The signs of D
 * are those of the leading minors of B: one of them turns where a direction that the rows hold turns
 * round, which it does where they lose rank and regain it. For the symmetric part of B they count its
 * negative eigenvalues [Sylvester]. Everything costs O(entries of the factor).
 *
 * Rows are kept as their entries, one row after the other. Rows that are not watched are zero, and B
 * has ones on their diagonal.
 */
#ifndef HMI_INTEGRATE_RANK_ROW_PRODUCTS_H
#define HMI_INTEGRATE_RANK_ROW_PRODUCTS_H

#include "linalg/sparse.h"

typedef struct hmi_row_products hmi_row_products;

typedef struct hmi_row_pattern {
    size_t m, n;
    const size_t *start;    /* m + 1: entries of a row */
    const uint32_t *column; /* ascending within a row */
} hmi_row_pattern;

/* Memory from the arena, the pattern's arrays stay the caller's. *out is NULL where products would be
 * dense: that is no error. HM_ERR_NOMEM. */
HM_MUST_CHECK hm_status hmi_row_products_create(const hm_allocator *allocator, hmi_arena *arena,
                                                const hmi_row_pattern *pattern,
                                                hmi_row_products **out);
const hmi_row_pattern *hmi_row_products_pattern(const hmi_row_products *p);
/* About how many operations one factorisation takes. */
double hmi_row_products_cost(const hmi_row_products *p);

typedef struct hmi_row_signs {
    size_t negative; /* of D */
    double least;    /* of |D| */
    bool decided;    /* none of D is but rounding */
} hmi_row_signs;

/* Signs of D; symmetric: of the symmetric part of B. */
hmi_row_signs hmi_row_products_signs(hmi_row_products *p, const double *last, const double *now,
                                     bool symmetric);
/* Rows of unit length that follow from others, to rounding: flagged in dependent (m). */
void hmi_row_products_dependent(hmi_row_products *p, const double *rows, bool *dependent);

#endif
