/* The public face of the kernels: <hamel/linalg.h>. */
#include "base/argument.h"
#include "base/context.h"
#include "linalg/linalg.h"

#include <hamel/linalg.h>
#include <math.h>

enum { MOST_SIDE = 10000 };

hm_status hm_pseudo_inverse(hm_context *context, size_t rows, size_t columns, const double *W,
                            double *W_plus, size_t *rank)
{
    HMI_ARGUMENT(context, context && (rows == 0 || columns == 0 || (W && W_plus)),
                 "a matrix and a place for its inverse are needed");
    const hm_allocator *allocator = &context->allocator;
    if (rows > MOST_SIDE || columns > MOST_SIDE)
        return HM_ERR_LIMIT;
    for (size_t i = 0; i < rows * columns; i++)
        if (!isfinite(W[i]))
            return HM_ERR_NUMERIC;
    size_t doubles_size = (hmi_pseudo_inverse_doubles((int)rows, (int)columns) + 1) *
                          sizeof(double);
    size_t ints_size = (hmi_pseudo_inverse_ints((int)rows, (int)columns) + 1) * sizeof(int);
    double *doubles = hmi_alloc(allocator, doubles_size);
    int *ints = hmi_alloc(allocator, ints_size);
    hm_status status = doubles && ints ? HM_OK : HM_ERR_NOMEM;
    if (status == HM_OK) {
        int found = hmi_pseudo_inverse((int)rows, (int)columns, W, -1, W_plus, doubles, ints);
        if (rank)
            *rank = (size_t)found;
    }
    hmi_free(allocator, doubles, doubles_size);
    hmi_free(allocator, ints, ints_size);
    return status;
}
