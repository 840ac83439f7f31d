/* Linear algebra that is useful by itself. */
#ifndef HAMEL_LINALG_H
#define HAMEL_LINALG_H

#include <hamel/base.h>

#ifdef __cplusplus
extern "C" {
#endif

/* The Moore-Penrose inverse W+ (columns x rows) of W (rows x columns), both row-major. The rank is
 * decided with rows and columns equilibrated, so it does not depend on units; rank may be NULL.
 *   HM_ERR_NUMERIC: W holds something that is not finite.   HM_ERR_NOMEM, HM_ERR_LIMIT. */
HM_API HM_MUST_CHECK hm_status hm_pseudo_inverse(hm_context *context, size_t rows, size_t columns,
                                                 const double *W, double *W_plus, size_t *rank);

#ifdef __cplusplus
}
#endif
#endif
