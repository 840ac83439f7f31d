/* A copy of a graph, for a stage that extends what an earlier stage must keep. */
#include "expr/graph.h"

#include <string.h>

static bool copy_bytes(const hm_allocator *allocator, void **to, const void *from, size_t used,
                       size_t reserved)
{
    *to = hmi_alloc(allocator, reserved);
    if (*to && used)
        memcpy(*to, from, used);
    return *to != NULL;
}

hm_status hmi_graph_copy(hmi_graph *to, const hmi_graph *from)
{
    *to = *from;
    to->nodes.data = NULL;
    to->constants.data = NULL;
    to->table = NULL;
    const hm_allocator *allocator = from->allocator;
    void *nodes = NULL, *constants = NULL, *table = NULL;
    bool copied = copy_bytes(allocator, &nodes, from->nodes.data,
                             from->nodes.count * sizeof(hmi_node),
                             from->nodes.capacity * sizeof(hmi_node)) &&
                  copy_bytes(allocator, &constants, from->constants.data,
                             from->constants.count * sizeof(hmi_constant),
                             from->constants.capacity * sizeof(hmi_constant)) &&
                  copy_bytes(allocator, &table, from->table, from->table_size * sizeof *from->table,
                             from->table_size * sizeof *from->table);
    to->nodes.data = nodes;
    to->constants.data = constants;
    to->table = table;
    if (copied)
        return HM_OK;
    if (!nodes)
        to->nodes.capacity = 0;
    if (!constants)
        to->constants.capacity = 0;
    to->status = HM_ERR_NOMEM;
    return HM_ERR_NOMEM;
}
