/* A copy of a graph, for a stage that extends what an earlier stage must keep. */
#include "expr/graph/graph.h"

#include <string.h>

static bool copy_bytes(const hm_allocator *allocator, void **to, const void *from, size_t used,
                       size_t reserved)
{
    *to = hmi_alloc(allocator, reserved);
    if (*to && used)
        memcpy(*to, from, used);
    return *to != NULL;
}

/* The array `name` of a graph, which is empty until it is copied. */
#define COPY_ARRAY(to, from, name)                                                                 \
    (copy_bytes((from)->allocator, (void **)&(to)->name.data, (from)->name.data,                   \
                (from)->name.count * sizeof *(from)->name.data,                                    \
                (from)->name.capacity * sizeof *(from)->name.data) &&                              \
     ((to)->name.count = (from)->name.count, (to)->name.capacity = (from)->name.capacity, true))

hm_status hmi_graph_copy(hmi_graph *to, const hmi_graph *from)
{
    *to = (hmi_graph){.allocator = from->allocator,
                      .interpreted = from->interpreted,
                      .zero = from->zero,
                      .one = from->one,
                      .two = from->two,
                      .minus_one = from->minus_one,
                      .half = from->half};
    bool copied = COPY_ARRAY(to, from, nodes) && COPY_ARRAY(to, from, links) &&
                  COPY_ARRAY(to, from, constants) && hmi_hash_copy(&to->leaves, &from->leaves) &&
                  hmi_hash_copy(&to->others, &from->others);
    to->status = copied ? from->status : HM_ERR_NOMEM;
    return copied ? HM_OK : HM_ERR_NOMEM;
}
