/* Powers of what a branch keeps from being negative.
 *
 * A branch is held a little beyond its end, until the switch is found. The base of max(0, -x)^1.5 or
 * abs(x)^1.5, or that of (-x)^1.5 within if(x < 0, (-x)^1.5, 0), passes below zero there, and has no
 * power: it counts as zero. At every state that is reached it is what it was.
 * Verified: test/physics/test_not_smooth.c
 */
#include "integrate/events/switch_build.h"

#include <math.h>

enum { MOST_DEPTH = 8 };

/* Can e be seen not to be negative, wherever it has a value? */
static bool is_nonnegative(const hmi_graph *g, hmi_expr e, int depth)
{
    const hmi_node *node = hmi_node_at(g, e);
    if (hmi_is_const(g, e))
        return hmi_constant_of(g, e)->value >= 0;
    if (depth == 0)
        return false;
    switch ((hmi_op)node->op) {
    case HMI_ABS:
    case HMI_SQRT:
    case HMI_EXP:
    case HMI_HYPOT:
        return true;
    case HMI_POWI:
        return fmod(hmi_constant_of(g, node->b)->value, 2) == 0 ||
               is_nonnegative(g, node->a, depth - 1);
    case HMI_POW: /* of a base that may be negative it has no value */
        return true;
    case HMI_MAX:
        return is_nonnegative(g, node->a, depth - 1) || is_nonnegative(g, node->b, depth - 1);
    case HMI_MUL:
        if (node->a == node->b)
            return true;
        /* fall through */
    case HMI_ADD:
    case HMI_DIV:
    case HMI_MIN:
        return is_nonnegative(g, node->a, depth - 1) && is_nonnegative(g, node->b, depth - 1);
    case HMI_SELECT:
        return is_nonnegative(g, node->b, depth - 1) && is_nonnegative(g, node->c, depth - 1);
    default:
        return false;
    }
}

static hmi_expr not_below_zero(hmi_rebuilder *r, hmi_expr e)
{
    return hmi_apply(&r->graph, HMI_MAX, e, r->graph.zero, 0);
}

hmi_expr hmi_hold_base(hmi_rebuilder *r, hmi_expr original, hmi_expr rebuilt)
{
    bool held = rebuilt != original && is_nonnegative(r->from, original, MOST_DEPTH);
    return held ? not_below_zero(r, rebuilt) : rebuilt;
}

/* map[e] for one node of the branch, its operands done. */
static hmi_expr hold_node(hmi_rebuilder *r, hmi_expr e, hmi_expr positive, const hmi_expr *map)
{
    const hmi_node node = *hmi_node_at(&r->graph, e);
    int arity = hmi_op_arity((hmi_op)node.op);
    if (arity == 0)
        return e;
    hmi_expr x = map[node.a], y = arity > 1 ? map[node.b] : 0, z = arity > 2 ? map[node.c] : 0;
    if ((node.op == HMI_POW || node.op == HMI_SQRT) && node.a == positive)
        x = not_below_zero(r, x);
    bool same = x == node.a && (arity < 2 || y == node.b) && (arity < 3 || z == node.c);
    return same ? e : hmi_apply(&r->graph, (hmi_op)node.op, x, y, z);
}

hmi_expr hmi_hold_branch(hmi_rebuilder *r, hmi_expr branch, hmi_expr positive)
{
    hmi_walk walk;
    hmi_expr held = branch;
    size_t count = r->graph.nodes.count;
    hmi_walk_init(&walk, r->allocator);
    hm_status status = hmi_walk_begin(&walk, &r->graph);
    if (status == HM_OK)
        status = hmi_walk_add(&walk, &r->graph, branch, 0xFFFF);
    hmi_expr *map = status == HM_OK ? hmi_alloc(r->allocator, count * sizeof *map) : NULL;
    for (size_t i = 0; map && i < walk.order.count; i++)
        map[walk.order.data[i]] = hold_node(r, walk.order.data[i], positive, map);
    if (map)
        held = map[branch];
    else
        r->status = status == HM_OK ? HM_ERR_NOMEM : status;
    hmi_free(r->allocator, map, count * sizeof *map);
    hmi_walk_release(&walk);
    return held;
}
