/* A copy of a graph, for a stage that extends what an earlier stage must keep; and expressions of one graph in
 * another. */
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

static hmi_expr transplant_node(hmi_graph *to, const hmi_graph *from, hmi_expr e,
                                const hmi_walk *walk, const hmi_expr *made)
{
    const hmi_node *node = hmi_node_at(from, e);
    hmi_expr operand[3] = {node->a, node->b, node->c};
    if (node->op == HMI_SYMBOL)
        return hmi_symbol(to, (hmi_symbol_kind)node->a, node->b);
    if (node->op == HMI_CONST) {
        const hmi_constant *c = hmi_constant_of(from, e);
        return c->denominator ? hmi_ratio(to, c->numerator, c->denominator)
                              : hmi_number(to, c->value);
    }
    for (int k = 0; k < hmi_op_arity((hmi_op)node->op); k++)
        operand[k] = made[hmi_walk_position(walk, operand[k])];
    return hmi_intern(to, (hmi_op)node->op, operand[0], operand[1], operand[2]);
}

hm_status hmi_graph_transplant(hmi_graph *to, const hmi_graph *from, hmi_expr *list, size_t count)
{
    hmi_walk walk;
    hmi_walk_init(&walk, to->allocator);
    hm_status status = hmi_walk_begin(&walk, from);
    for (size_t i = 0; i < count && status == HM_OK; i++)
        if (list[i] != HMI_NONE)
            status = hmi_walk_add(&walk, from, list[i], 0xFFFF);
    size_t size = (walk.order.count + 1) * sizeof(hmi_expr);
    hmi_expr *made = status == HM_OK ? hmi_alloc(to->allocator, size) : NULL;
    for (size_t i = 0; made && i < walk.order.count; i++)
        made[i] = transplant_node(to, from, walk.order.data[i], &walk, made);
    for (size_t i = 0; made && i < count; i++)
        if (list[i] != HMI_NONE)
            list[i] = made[hmi_walk_position(&walk, list[i])];
    if (status == HM_OK)
        status = made ? hmi_graph_status(to) : HM_ERR_NOMEM;
    hmi_free(to->allocator, made, size);
    hmi_walk_release(&walk);
    return status;
}
