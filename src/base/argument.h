/* Arguments of public functions that make no sense: HM_ERR_USAGE with a diagnostic that names the function,
 * in every build. Functions that cannot fail give nothing: 0, NULL, NaN.
 *
 *     hm_status hm_table_add_row(hm_table *table, const double *values)
 *     {
 *         HMI_ARGUMENT(NULL, table && values, "a table and values are needed");
 */
#ifndef HMI_BASE_ARGUMENT_H
#define HMI_BASE_ARGUMENT_H

#include "base/context.h"

/* Always HM_ERR_USAGE. context NULL: there is nobody to tell. */
hm_status hmi_refuse_argument(hm_context *context, const char *function, const char *what);

#define HMI_ARGUMENT(context, condition, what)                                                     \
    do {                                                                                           \
        if (!(condition))                                                                          \
            return hmi_refuse_argument((context), __func__, (what));                               \
    } while (0)

bool hmi_values_finite(const double *values, size_t count);
/* NULL is the default one. */
bool hmi_allocator_is_valid(const hm_allocator *allocator);

#endif
