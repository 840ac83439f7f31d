/* Finds directions u/|u| of velocities in the expressions of a system.
 *
 * |u| is hypot(..), sqrt of a sum of squares (with factors that no velocity is in), or abs, as a
 * factor of a denominator. In numerator and denominator u_i is replaced by |u| s_i, |u| and s_i
 * modes: the value is the same while |u| is that of u, and its limit along s where |u| is tiny. So
 * it does not matter how the numerator is written, or whether it has terms of higher degree.
 */
#include "integrate/events/switch_build.h"

#include <string.h>

enum { MOST_DEPTH = 200 };

static bool is_velocity(const hmi_graph *g, hmi_expr e)
{
    return hmi_deps(g, e) & HMI_DEP(HMI_SYM_VELOCITY);
}

/* ---- which nodes are norms? ---- */

static bool add_part(const hmi_graph *g, hmi_direction_build *d, hmi_expr part)
{
    if (!is_velocity(g, part) || d->count >= HMI_MOST_PARTS)
        return false;
    for (size_t i = 0; i < d->count; i++)
        if (d->part[i] == part)
            return true;
    d->part[d->count++] = part;
    return true;
}

static bool is_two(const hmi_graph *g, hmi_expr e)
{
    return hmi_is_const(g, e) && hmi_constant_of(g, e)->value == 2;
}

/* A sum of squares, with factors that do not move with velocities. */
static bool add_squares(const hmi_graph *g, hmi_direction_build *d, hmi_expr e, int depth)
{
    const hmi_node node = *hmi_node_at(g, e);
    if (depth > MOST_DEPTH)
        return false;
    switch ((hmi_op)node.op) {
    case HMI_ADD:
        return add_squares(g, d, node.a, depth + 1) && add_squares(g, d, node.b, depth + 1);
    case HMI_MUL:
        if (node.a == node.b)
            return add_part(g, d, node.a);
        if (is_velocity(g, node.a) && is_velocity(g, node.b))
            return false;
        return add_squares(g, d, is_velocity(g, node.a) ? node.a : node.b, depth + 1);
    case HMI_DIV:
        return !is_velocity(g, node.b) && add_squares(g, d, node.a, depth + 1);
    case HMI_POW:
    case HMI_POWI:
        return is_two(g, node.b) && add_part(g, d, node.a);
    default:
        return false;
    }
}

static bool add_norm(const hmi_graph *g, hmi_direction_build *d, hmi_expr e)
{
    const hmi_node node = *hmi_node_at(g, e);
    if (node.op == HMI_SQRT)
        return add_squares(g, d, node.a, 0);
    if (node.op == HMI_ABS)
        return add_part(g, d, node.a);
    if (node.op != HMI_HYPOT)
        return false;
    const hmi_expr side[2] = {node.a, node.b};
    for (int i = 0; i < 2; i++) {
        bool nested = hmi_op_of(g, side[i]) == HMI_HYPOT;
        if (nested ? !add_norm(g, d, side[i]) : !add_part(g, d, side[i]))
            return false;
    }
    return true;
}

/* The factor of a denominator that is a norm of velocities; HMI_NONE: none. */
static hmi_expr find_norm(const hmi_graph *g, hmi_expr e, int depth)
{
    const hmi_node node = *hmi_node_at(g, e);
    hmi_direction_build d = {.norm = e};
    if (!is_velocity(g, e) || depth > MOST_DEPTH)
        return HMI_NONE;
    if (node.op == HMI_NEG)
        return find_norm(g, node.a, depth + 1);
    if (node.op == HMI_MUL) {
        hmi_expr left = find_norm(g, node.a, depth + 1);
        return left != HMI_NONE ? left : find_norm(g, node.b, depth + 1);
    }
    return add_norm(g, &d, e) ? e : HMI_NONE;
}

/* ---- modes in their place ---- */

static hmi_expr mode(hmi_rebuilder *r, size_t k)
{
    return hmi_symbol(&r->graph, HMI_SYM_MODE, (uint32_t)k);
}

bool hmi_is_negative_of(const hmi_graph *g, hmi_expr e, hmi_expr other)
{
    const hmi_node *x = hmi_node_at(g, e), *y = hmi_node_at(g, other);
    bool differences = x->op == HMI_SUB && y->op == HMI_SUB && x->a == y->b && x->b == y->a;
    return differences || (y->op == HMI_NEG && y->a == e);
}

/* What a node becomes: u_i -> scale s_i (scale HMI_NONE: 1), |u| -> scale; others by their operands
 * where those become something else. HMI_NONE: too deep. */
static hmi_expr replace(hmi_rebuilder *r, hmi_direction_build *d, hmi_expr e, hmi_expr scale,
                        int depth)
{
    hmi_graph *g = &r->graph;
    const hmi_node node = *hmi_node_at(r->from, e);
    int arity = hmi_op_arity((hmi_op)node.op);
    for (size_t i = 0; i < d->count; i++) {
        bool negative = hmi_is_negative_of(r->from, e, d->part[i]);
        if (e != d->part[i] && !negative)
            continue;
        hmi_expr s = mode(r, d->first + 1 + i);
        if (scale != HMI_NONE)
            s = hmi_mul(g, scale, s);
        return negative ? hmi_neg(g, s) : s;
    }
    if (e == d->norm && scale != HMI_NONE)
        return scale;
    if (arity == 0 || !is_velocity(r->from, e))
        return r->map[e] ? r->map[e] : e;
    if (node.op == HMI_LT || node.op == HMI_LE || node.op == HMI_EQ)
        return r->map
            [e]; /* by its own mode: |u| > 0 is decided by sticking, not by what stands for |u| */
    if (scale != HMI_NONE && d->map[e])
        return d->map[e];
    if (depth > MOST_DEPTH)
        return HMI_NONE;
    const hmi_expr operand[3] = {node.a, node.b, node.c};
    hmi_expr x[3] = {0};
    bool same = true;
    for (int i = 0; i < arity; i++) {
        x[i] = replace(r, d, operand[i], scale, depth + 1);
        if (x[i] == HMI_NONE)
            return HMI_NONE;
        same = same && x[i] == (r->map[operand[i]] ? r->map[operand[i]] : operand[i]);
    }
    hmi_expr result = same ? r->map[e] : hmi_apply(g, (hmi_op)node.op, x[0], x[1], x[2]);
    if (scale != HMI_NONE)
        d->map[e] = result;
    return result;
}

static bool add_function(hmi_rebuilder *r, hmi_expr a)
{
    const hmi_switch_function f = {a, HMI_NONE, true};
    bool good = hmi_array_push(r->allocator, &r->functions, f);
    if (!good)
        r->status = HM_ERR_NOMEM;
    return good;
}

/* The direction of a norm, known or new; NULL: no memory, or no new ones are made. */
static hmi_direction_build *direction_of(hmi_rebuilder *r, hmi_expr norm)
{
    for (size_t k = 0; k < r->directions.count; k++)
        if (r->directions.data[k].norm == norm)
            return &r->directions.data[k];
    if (r->unused)
        return NULL;
    hmi_direction_build d = {.norm = norm, .first = r->functions.count};
    (void)add_norm(r->from, &d, norm);
    d.map = hmi_arena_alloc(r->arena, r->from->nodes.count * sizeof *d.map);
    bool good = d.map && add_function(r, norm); /* handles of the original are those of the copy */
    for (size_t i = 0; good && i < d.count; i++)
        good = add_function(r, d.part[i]);
    good = good && add_function(r, replace(r, &d, norm, HMI_NONE, 0)) &&
           hmi_array_push(r->allocator, &r->directions, d);
    if (good)
        return &r->directions.data[r->directions.count - 1];
    r->status = HM_ERR_NOMEM;
    return NULL;
}

hmi_expr hmi_rebuild_direction(hmi_rebuilder *r, hmi_expr a, hmi_expr b)
{
    hmi_expr norm = find_norm(r->from, b, 0);
    hmi_direction_build *d = norm == HMI_NONE ? NULL : direction_of(r, norm);
    if (!d)
        return HMI_NONE;
    hmi_expr scale = mode(r, d->first);
    hmi_expr above = replace(r, d, a, scale, 0), below = replace(r, d, b, scale, 0);
    if (above == HMI_NONE || below == HMI_NONE || above == r->map[a])
        return HMI_NONE; /* nothing of u above: it grows without bounds, no direction */
    return hmi_div(&r->graph, above, below);
}

void hmi_directions_forget(hmi_rebuilder *r)
{
    for (size_t k = 0; k < r->directions.count; k++)
        memset(r->directions.data[k].map, 0, r->from->nodes.count * sizeof(hmi_expr));
}

/* Functions that nothing depends on any more, as that of abs(u) in u/abs(u), are not watched. */
static hm_status find_unused(hmi_rebuilder *r, hmi_switches *sw)
{
    const hm_system *system = sw->sim->system;
    const hmi_rows *rows = &system->derived.constraints;
    hm_status status = hmi_walk_begin(&r->walk, &r->graph);
    for (size_t k = 0; k < sw->switches; k++)
        sw->of_direction[k] = true;
    for (size_t i = 0; i < system->at.count && status == HM_OK; i++)
        if (system->dynamics_outputs[i] != HMI_NONE)
            status = hmi_walk_add(&r->walk, &r->graph, r->map[system->dynamics_outputs[i]], 0xFFFF);
    for (size_t i = 0; i < 3 * system->model->inputs.count && status == HM_OK; i++)
        if (hmi_input_value(system, i) != HMI_NONE)
            status = hmi_walk_add(&r->walk, &r->graph, r->map[hmi_input_value(system, i)], 0xFFFF);
    for (size_t i = 0; i < 2 * rows->count && status == HM_OK; i++) {
        hmi_expr residual = i < rows->count ? rows->position_residual[i]
                                            : rows->velocity_residual[i - rows->count];
        if (residual != HMI_NONE)
            status = hmi_walk_add(&r->walk, &r->graph, r->map[residual], 0xFFFF);
    }
    for (size_t i = 0; i < r->walk.order.count && status == HM_OK; i++) {
        const hmi_node *node = hmi_node_at(&r->graph, r->walk.order.data[i]);
        if (node->op == HMI_SYMBOL && node->a == HMI_SYM_MODE)
            sw->of_direction[node->b] = r->functions.data[node->b].of_direction;
    }
    return status;
}

hm_status hmi_directions_finish(hmi_rebuilder *r, hmi_switches *sw)
{
    size_t count = r->directions.count;
    sw->directions = hmi_arena_alloc(r->arena, (count + 1) * sizeof *sw->directions);
    sw->of_direction = hmi_arena_alloc(r->arena, (sw->switches + 1) * sizeof *sw->of_direction);
    if (!sw->directions || !sw->of_direction)
        return HM_ERR_NOMEM;
    hm_status status = find_unused(r, sw);
    for (size_t k = 0; k < count && status == HM_OK; k++) {
        const hmi_direction_build *d = &r->directions.data[k];
        double *heading = hmi_arena_alloc(r->arena, d->count * sizeof *heading);
        if (!heading)
            return HM_ERR_NOMEM;
        sw->directions[k] = (hmi_direction){.first = d->first, .count = d->count};
        sw->directions[k].heading = heading;
    }
    sw->held.directions = count;
    return status;
}
