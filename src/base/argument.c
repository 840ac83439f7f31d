/* Refusals of arguments. Verified: test/fault/test_arguments.c, which calls every public function. */
#include "base/argument.h"

#include <math.h>

hm_status hmi_refuse_argument(hm_context *context, const char *function, const char *what)
{
    if (context)
        hmi_error(context, hmi_no_span, NULL, "%s: %s", function, what);
    return HM_ERR_USAGE;
}

bool hmi_values_finite(const double *values, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (!isfinite(values[i]))
            return false;
    return true;
}

bool hmi_allocator_is_valid(const hm_allocator *allocator)
{
    return !allocator || allocator->resize;
}
