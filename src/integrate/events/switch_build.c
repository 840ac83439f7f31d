/* Finds the functions that are not smooth, and compiles tapes in which modes stand for them.
 *
 * The graph of the system is copied; every node above a switch is built again with the mode in its
 * place. Comparisons with 0 on either side share one mode with sign and abs of the same argument.
 */
#include "integrate/events/switch_build.h"

#include "integrate/ode/ledger.h"

#include "linalg/linalg.h"

#include <string.h>

static bool is_zero(const hmi_graph *g, hmi_expr e)
{
    return hmi_is_const(g, e) && hmi_constant_of(g, e)->value == 0;
}

/* ---- modes ---- */

/* The mode of g = a - b. *reversed: the mode belongs to b - a. HMI_NONE: it has none, and no more are
 * made. */
static hmi_expr mode_of(hmi_rebuilder *r, hmi_expr a, hmi_expr b, bool *reversed)
{
    hmi_switch_function f = {a, b, false};
    *reversed = b != HMI_NONE && is_zero(&r->graph, a);
    if (*reversed)
        f = (hmi_switch_function){b, HMI_NONE, false};
    else if (b != HMI_NONE && is_zero(&r->graph, b))
        f.b = HMI_NONE;
    for (size_t k = 0; k < r->functions.count; k++) {
        const hmi_switch_function *known = &r->functions.data[k];
        if (known->of_direction || (r->unused && r->unused[k]))
            continue;
        if (known->a == f.a && known->b == f.b)
            return hmi_symbol(&r->graph, HMI_SYM_MODE, (uint32_t)k);
        bool swapped = f.b != HMI_NONE && known->a == f.b && known->b == f.a;
        bool negative = f.b == HMI_NONE && known->b == HMI_NONE &&
                        hmi_is_negative_of(&r->graph, f.a, known->a);
        if (swapped || negative) {
            *reversed = !*reversed;
            return hmi_symbol(&r->graph, HMI_SYM_MODE, (uint32_t)k);
        }
    }
    if (r->unused)
        return HMI_NONE;
    if (!hmi_array_push(r->allocator, &r->functions, f))
        r->status = HM_ERR_NOMEM;
    return hmi_symbol(&r->graph, HMI_SYM_MODE, (uint32_t)(r->functions.count - 1));
}

/* 1 where g < 0, that is, where the mode is negative. */
static hmi_expr is_negative(hmi_rebuilder *r, hmi_expr mode, bool reversed)
{
    hmi_graph *g = &r->graph;
    return reversed ? hmi_apply(g, HMI_LT, g->zero, mode, 0)
                    : hmi_apply(g, HMI_LT, mode, g->zero, 0);
}

/* x where the mode is -1, y where it is +1, a blend between. */
static hmi_expr choose(hmi_rebuilder *r, hmi_expr mode, bool reversed, hmi_expr x, hmi_expr y)
{
    hmi_graph *g = &r->graph;
    hmi_expr low = reversed ? y : x, high = reversed ? x : y;
    hmi_expr share = hmi_mul(g, g->half, hmi_add(g, g->one, mode));
    hmi_expr blend = hmi_add(g, hmi_mul(g, hmi_sub(g, g->one, share), low),
                             hmi_mul(g, share, high));
    hmi_expr upper = hmi_apply(g, HMI_SELECT, hmi_apply(g, HMI_LE, g->one, mode, 0), high, blend);
    return hmi_apply(g, HMI_SELECT, hmi_apply(g, HMI_LE, mode, g->minus_one, 0), low, upper);
}

/* Does the argument move? What depends on parameters alone keeps its branch. */
static bool moves(const hmi_node *node)
{
    return (node->deps & ~HMI_DEP(HMI_SYM_PARAM)) != 0;
}

static bool is_comparison(const hmi_graph *g, hmi_expr e)
{
    hmi_op op = hmi_op_of(g, e);
    return (op == HMI_LT || op == HMI_LE) && moves(hmi_node_at(g, e));
}

/* The node `e` of the original graph, its operands x, y, z in the copy. */
static hmi_expr rebuild_switch(hmi_rebuilder *r, hmi_op op, hmi_expr x, hmi_expr y)
{
    bool reversed = false;
    hmi_graph *g = &r->graph;
    bool binary = op != HMI_ABS && op != HMI_SIGN;
    hmi_expr mode = mode_of(r, x, binary ? y : HMI_NONE, &reversed);
    if (mode == HMI_NONE)
        return hmi_apply(g, op, x, y, 0);
    switch (op) {
    case HMI_SIGN:
        return reversed ? hmi_neg(g, mode) : mode;
    case HMI_ABS:
        return hmi_mul(g, mode, reversed ? hmi_neg(g, x) : x);
    case HMI_MIN:
        return choose(r, mode, reversed, x, y);
    case HMI_MAX:
        return choose(r, mode, reversed, y, x);
    default: /* comparisons */
        return is_negative(r, mode, reversed);
    }
}

/* x = y holds for longer than a moment only where x - y is held at 0: |x - y| <= 0 (friction_rest.c). */
static hmi_expr rebuild_equality(hmi_rebuilder *r, hmi_expr x, hmi_expr y)
{
    hmi_graph *g = &r->graph;
    bool reversed;
    hmi_expr w = hmi_sub(g, x, y), mode = mode_of(r, w, HMI_NONE, &reversed), rest = HMI_NONE;
    if (mode != HMI_NONE)
        rest = mode_of(r, hmi_mul(g, mode, reversed ? hmi_neg(g, w) : w), HMI_NONE, &reversed);
    return rest == HMI_NONE ? hmi_apply(g, HMI_EQ, x, y, 0) : is_negative(r, rest, false);
}

static hmi_expr mapped(const hmi_rebuilder *r, hmi_expr e)
{
    return e == HMI_NONE ? HMI_NONE : r->map[e];
}

static hmi_expr rebuild(hmi_rebuilder *r, const hmi_graph *from, hmi_expr e)
{
    const hmi_node node = *hmi_node_at(from, e);
    int arity = hmi_op_arity((hmi_op)node.op);
    if (arity == 0)
        return e;
    hmi_expr x = mapped(r, node.a), y = arity > 1 ? mapped(r, node.b) : 0;
    hmi_expr z = arity > 2 ? mapped(r, node.c) : 0;
    switch ((hmi_op)node.op) {
    case HMI_ABS:
    case HMI_SIGN:
    case HMI_MIN:
    case HMI_MAX:
    case HMI_LT:
    case HMI_LE:
        if (moves(&node))
            return rebuild_switch(r, (hmi_op)node.op, x, y);
        break;
    case HMI_EQ:
        if (moves(&node))
            return rebuild_equality(r, x, y);
        break;
    case HMI_SELECT:
        if (is_comparison(from, node.a)) {
            const hmi_node *test = hmi_node_at(from, node.a);
            bool reversed;
            hmi_expr a = mapped(r, test->a), b = mapped(r, test->b);
            hmi_expr mode = mode_of(r, a, b, &reversed);
            if (mode != HMI_NONE)
                return choose(r, mode, reversed, hmi_hold_branch(r, y, hmi_sub(&r->graph, b, a)),
                              hmi_hold_branch(r, z, hmi_sub(&r->graph, a, b)));
        }
        break;
    case HMI_FLOOR:
    case HMI_CEIL:
    case HMI_TABLE:
    case HMI_TABLE2: {
        hmi_expr held = moves(&node) ? hmi_rebuild_pieces(r, (hmi_op)node.op, x, y, z) : HMI_NONE;
        if (held != HMI_NONE || r->status != HM_OK)
            return held;
        break;
    }
    case HMI_POW:
    case HMI_SQRT:
        x = hmi_hold_base(r, node.a, x);
        break;
    case HMI_DIV: {
        if (r->keeps_directions)
            break;
        hmi_expr direction = hmi_rebuild_direction(r, node.a, node.b);
        if (direction != HMI_NONE || r->status != HM_OK)
            return direction;
        break;
    }
    default:
        break;
    }
    bool same = x == node.a && (arity < 2 || y == node.b) && (arity < 3 || z == node.c);
    return same ? e : hmi_apply(&r->graph, (hmi_op)node.op, x, y, z);
}

/* Constraints may jump where their second derivatives, which are in the equations, do not. */
static hm_status add_residuals(hmi_rebuilder *r, const hmi_rows *rows)
{
    hm_status status = HM_OK;
    for (size_t k = 0; k < 2 * rows->count && status == HM_OK; k++) {
        hmi_expr residual = k < rows->count ? rows->position_residual[k]
                                            : rows->velocity_residual[k - rows->count];
        if (residual != HMI_NONE)
            status = hmi_walk_add(&r->walk, r->from, residual, 0xFFFF);
    }
    return status;
}

static hm_status rebuild_all(hmi_rebuilder *r, const hm_system *system, const hmi_ledger *ledger)
{
    const hmi_graph *from = &system->derived.graph;
    hm_status status = hmi_walk_begin(&r->walk, from);
    if (status == HM_OK)
        status = add_residuals(r, &system->derived.constraints);
    for (size_t k = 0; k < ledger->tape_count && status == HM_OK; k++)
        status = hmi_walk_add(&r->walk, from, hmi_ledger_expression(ledger, system, k), 0xFFFF);
    for (size_t i = 0; i < system->at.count && status == HM_OK; i++)
        if (system->dynamics_outputs[i] != HMI_NONE)
            status = hmi_walk_add(&r->walk, from, system->dynamics_outputs[i], 0xFFFF);
    for (size_t i = 0; i < 3 * system->model->inputs.count && status == HM_OK; i++)
        if (hmi_input_value(system, i) != HMI_NONE)
            status = hmi_walk_add(&r->walk, from, hmi_input_value(system, i), 0xFFFF);
    for (size_t i = 0; i < r->walk.order.count && status == HM_OK; i++) {
        hmi_expr e = r->walk.order.data[i];
        r->map[e] = rebuild(r, from, e);
        status = r->status != HM_OK ? r->status : hmi_graph_status(&r->graph);
    }
    return status;
}

/* ---- rates of switching functions ---- */

static hmi_expr leaf_rate(hmi_graph *graph, hmi_expr leaf, void *user)
{
    const hmi_rebuilder *r = user;
    const hmi_node *node = hmi_node_at(graph, leaf);
    return node->a == HMI_SYM_STATE ? r->state_rates[node->b] : hmi_leaf_rate(graph, leaf);
}

enum { SOLVED = HMI_DEP_FORCES | 1 << HMI_SYM_ACCELERATION | 1 << HMI_SYM_ENERGY };

/* list[count .. 2 count) := g' of list[0 .. count) */
static hm_status add_rates(hmi_rebuilder *r, hmi_switches *sw, hmi_expr *list)
{
    hmi_tangent tangent;
    hmi_tangent_init(&tangent, r->allocator, leaf_rate, r, HMI_DEP_MOVING);
    for (size_t k = 0; k < sw->count; k++) {
        bool solved = hmi_deps(&r->graph, list[k]) & SOLVED;
        sw->needs_solve |= solved;
        sw->has_rate[k] = !solved;
        list[sw->count + k] = solved ? r->graph.zero : hmi_tangent_of(&tangent, &r->graph, list[k]);
    }
    hmi_tangent_release(&tangent);
    return hmi_graph_status(&r->graph);
}

/* ---- tapes ---- */

/* Functions without an expression are known after a solve, as multipliers are. */
static hmi_expr contact_expression(hmi_rebuilder *r, const hmi_contact_function *f)
{
    if (f->a == HMI_NONE)
        return hmi_symbol(&r->graph, HMI_SYM_TOTAL_MULTIPLIER, 0);
    return f->b == HMI_NONE ? f->a : hmi_sub(&r->graph, f->a, f->b);
}

static hm_status compile_values(hmi_rebuilder *r, hmi_switches *sw, hmi_arena *arena)
{
    const hm_model *model = sw->sim->system->model;
    hmi_expr *list = hmi_arena_alloc(arena, (2 * sw->count + 1) * sizeof *list);
    if (!list)
        return HM_ERR_NOMEM;
    for (size_t k = 0; k < sw->switches; k++) {
        const hmi_switch_function *f = &r->functions.data[k];
        list[k] = f->b == HMI_NONE ? f->a : hmi_sub(&r->graph, f->a, f->b);
    }
    for (size_t k = 0; k < model->events.count; k++)
        list[sw->switches + k] = sw->sim->system->derived.events[k];
    for (size_t k = 0; k < r->contact->count; k++)
        list[sw->events_end + k] = contact_expression(r, &r->contact->functions[k]);
    sw->functions = list;
    hm_status status = add_rates(r, sw, list);
    if (status != HM_OK)
        return status;
    return hmi_run_tape(&sw->values, &r->graph, list, 2 * sw->count, arena, &sw->values_work);
}

static hm_status compile_dynamics(hmi_rebuilder *r, hmi_switches *sw, hmi_arena *arena)
{
    const hm_system *system = sw->sim->system;
    size_t n = system->derived.n, count = system->at.count;
    hmi_expr *list = hmi_arena_alloc(arena, (count + 3 * n + 1) * sizeof *list);
    if (!list)
        return HM_ERR_NOMEM;
    for (size_t i = 0; i < count; i++)
        list[i] = mapped(r, system->dynamics_outputs[i]);
    sw->list = list;
    hm_status status = hmi_run_tape(&sw->dynamics, &r->graph, list, count, arena,
                                    &sw->dynamics_work);
    if (status != HM_OK || !system->derived.force_symbols)
        return status;
    memmove(list + count, list + system->at.Q, n * sizeof *list);
    memmove(list + count + n, list + system->at.C, n * sizeof *list);
    for (size_t i = 0; i < n; i++)
        list[count + 2 * n + i] = hmi_free_of_reactions(&r->graph, list[count + i]);
    if (hmi_graph_status(&r->graph) != HM_OK)
        return hmi_graph_status(&r->graph);
    return hmi_run_tape(&sw->law, &r->graph, list + count, 3 * n, arena, &sw->law_work);
}

static hm_status compile_inputs(hmi_rebuilder *r, hmi_switches *sw, hmi_arena *arena)
{
    const hm_system *system = sw->sim->system;
    size_t count = 3 * system->model->inputs.count;
    hmi_expr *list = hmi_arena_alloc(arena, (count + 1) * sizeof *list);
    if (!list)
        return HM_ERR_NOMEM;
    for (size_t i = 0; i < count; i++)
        list[i] = mapped(r, hmi_input_value(system, i));
    return hmi_run_tape(&sw->inputs, &r->graph, list, count, arena, &sw->inputs_work);
}

static hm_status compile_powers(hmi_rebuilder *r, hmi_switches *sw, hmi_ledger *ledger,
                                hmi_arena *arena)
{
    sw->powers = hmi_arena_alloc(arena, HMI_POWERS * sizeof *sw->powers);
    if (!sw->powers)
        return HM_ERR_NOMEM;
    for (size_t k = 0; k < ledger->tape_count; k++)
        sw->powers[k] = mapped(r, hmi_ledger_expression(ledger, sw->sim->system, k));
    return ledger->tape_count ? hmi_ledger_compile(ledger, &r->graph, sw->powers, arena) : HM_OK;
}

/* Rebuilds further expressions with the functions that are known; to[i] is that of from[i]. */
static hm_status rebuild_list(hmi_rebuilder *r, const hmi_expr *from, size_t count, hmi_expr *to)
{
    hm_status status = hmi_walk_begin(&r->walk, r->from);
    for (size_t i = 0; i < count && status == HM_OK; i++)
        if (from[i] != HMI_NONE)
            status = hmi_walk_add(&r->walk, r->from, from[i], 0xFFFF);
    for (size_t i = 0; i < r->walk.order.count && status == HM_OK; i++) {
        hmi_expr e = r->walk.order.data[i];
        r->map[e] = rebuild(r, r->from, e);
        status = r->status != HM_OK ? r->status : hmi_graph_status(&r->graph);
    }
    for (size_t i = 0; i < count && status == HM_OK; i++)
        to[i] = mapped(r, from[i]);
    return status;
}

/* A new map for rebuild_list. */
static hm_status begin_list(hmi_rebuilder *r, const hmi_switches *sw, hmi_arena *arena)
{
    r->map = hmi_arena_alloc(arena, r->from->nodes.count * sizeof *r->map);
    r->unused = sw->of_direction;
    hmi_directions_forget(r);
    return r->map ? HM_OK : HM_ERR_NOMEM;
}

/* What the discrete methods are made of. */
static hm_status hold_equations(hmi_rebuilder *r, hmi_switches *sw, hmi_arena *arena)
{
    hmi_derived *eq = &sw->equations;
    *eq = sw->sim->system->derived;
    hmi_rows *rows = &eq->constraints;
    hmi_expr **lists[] = {
        &eq->momentum,   &eq->dL_dq, &eq->impressed,           &eq->dissipation,
        &eq->gyroscopic, &eq->C,     &rows->position_residual, &rows->velocity_residual};
    enum { COUNT = sizeof lists / sizeof *lists };
    hm_status status = begin_list(r, sw, arena);
    r->keeps_directions = true;
    for (int k = 0; k < COUNT && status == HM_OK; k++) {
        size_t count = k < COUNT - 2 ? eq->n : rows->count;
        hmi_expr *held = hmi_arena_alloc(arena, (count + 1) * sizeof *held);
        status = held ? rebuild_list(r, *lists[k], count, held) : HM_ERR_NOMEM;
        *lists[k] = held;
    }
    r->keeps_directions = false;
    return status;
}

/* Outputs with the modes of the equations: what friction that sticks makes of u/|u| there has no
 * value by the state alone. Other switches in outputs stay as they are. */
static hm_status compile_outputs(hmi_rebuilder *r, hmi_switches *sw, hmi_arena *arena)
{
    size_t count = sw->sim->system->model->outputs.count;
    hmi_expr *list = hmi_arena_alloc(arena, (count + 1) * sizeof *list);
    hm_status status = list ? begin_list(r, sw, arena) : HM_ERR_NOMEM;
    for (size_t i = 0; i < count && status == HM_OK; i++)
        list[i] = sw->sim->system->derived.outputs[i];
    if (status == HM_OK)
        status = rebuild_list(r, list, count, list);
    if (status != HM_OK)
        return status;
    return hmi_run_tape(&sw->outputs, &r->graph, list, count, arena, &sw->outputs_work);
}

static hm_status allocate(hmi_switches *sw, hmi_arena *arena)
{
    size_t s = sw->switches + 1, c = sw->count + 1;
    sw->mode = hmi_arena_alloc(arena, s * sizeof *sw->mode);
    sw->sliding = hmi_arena_alloc(arena, s * sizeof *sw->sliding);
    sw->has_rate = hmi_arena_alloc(arena, c * sizeof *sw->has_rate);
    sw->side = hmi_arena_alloc(arena, c * sizeof *sw->side);
    sw->sliding_list = hmi_arena_alloc(arena, s * sizeof *sw->sliding_list);
    sw->jacobian = hmi_arena_alloc(arena, s * s * sizeof(double));
    sw->rates = hmi_arena_alloc(arena, s * sizeof(double));
    sw->shifted = hmi_arena_alloc(arena, s * sizeof(double));
    sw->pivots = hmi_arena_alloc(arena, 2 * s * sizeof *sw->pivots);
    sw->solver = hmi_arena_alloc(arena, hmi_cod_doubles((int)s, (int)s) * sizeof(double));
    bool good = sw->mode && sw->sliding && sw->has_rate && sw->side && sw->sliding_list &&
                sw->jacobian && sw->rates && sw->shifted && sw->pivots && sw->solver;
    for (size_t k = 0; good && k < sw->count; k++)
        sw->side[k] = 1;
    return good ? HM_OK : HM_ERR_NOMEM;
}

static hm_status build(hmi_rebuilder *r, hmi_switches *sw, hmi_ledger *ledger, hmi_arena *arena)
{
    const hm_system *system = sw->sim->system;
    size_t states = system->model->states.count;
    r->map = hmi_arena_alloc(arena, system->derived.graph.nodes.count * sizeof *r->map);
    r->state_rates = hmi_arena_alloc(arena, (states + 1) * sizeof *r->state_rates);
    if (!r->map || !r->state_rates)
        return HM_ERR_NOMEM;
    r->arena = arena;
    r->from = &system->derived.graph;
    hm_status status = hmi_graph_copy(&r->graph, r->from);
    if (status == HM_OK)
        status = rebuild_all(r, system, ledger);
    for (size_t k = 0; k < states; k++)
        r->state_rates[k] = mapped(r, system->dynamics_outputs[system->at.state_rates + k]);
    sw->switches = r->functions.count;
    sw->events_end = sw->switches + system->model->events.count;
    sw->count = sw->events_end + r->contact->count;
    if (status == HM_OK)
        status = allocate(sw, arena);
    if (status == HM_OK)
        status = hmi_directions_finish(r, sw);
    if (status == HM_OK)
        status = hmi_locations_finish(r, sw, arena);
    if (status == HM_OK)
        status = hmi_rests_find(r, sw);
    if (status == HM_OK && sw->count)
        status = compile_values(r, sw, arena);
    if (status == HM_OK && sw->switches)
        status = compile_dynamics(r, sw, arena);
    if (status == HM_OK && sw->switches)
        status = compile_inputs(r, sw, arena);
    if (status == HM_OK && sw->switches)
        status = compile_powers(r, sw, ledger, arena);
    if (status == HM_OK && sw->switches)
        status = hold_equations(r, sw, arena);
    if (status == HM_OK && sw->switches && system->model->outputs.count)
        status = compile_outputs(r, sw, arena);
    return status;
}

/* Is there anything to do? Most models have neither. */
static bool has_switches(const hm_system *system, const hmi_contact_run *contact)
{
    const hmi_graph *g = &system->derived.graph;
    for (size_t e = 0; e < g->nodes.count; e++) {
        const hmi_node *node = &g->nodes.data[e];
        bool suspicious = node->op == HMI_FLOOR || node->op == HMI_CEIL || node->op == HMI_TABLE ||
                          node->op == HMI_TABLE2 || node->op == HMI_ABS || node->op == HMI_SIGN ||
                          node->op == HMI_MIN || node->op == HMI_MAX || node->op == HMI_LT ||
                          node->op == HMI_LE ||
                          (node->op == HMI_DIV && hmi_deps(g, node->b) & HMI_DEP(HMI_SYM_VELOCITY));
        if (suspicious && moves(node))
            return true;
    }
    return system->model->events.count > 0 || contact->count > 0;
}

hm_status hmi_switches_init(hmi_switches *sw, hm_sim *sim, hmi_ledger *ledger,
                            const hmi_contact_run *contact, hmi_arena *arena)
{
    hmi_rebuilder r = {.allocator = sim->system->allocator, .contact = contact};
    *sw = (hmi_switches){.held.accelerate = hmi_switches_accelerate,
                         .held.look_up = hmi_directions_update,
                         .sim = sim};
    if (!has_switches(sim->system, contact))
        return HM_OK;
    hmi_walk_init(&r.walk, r.allocator);
    hm_status status = build(&r, sw, ledger, arena);
    hmi_walk_release(&r.walk);
    hmi_array_release(r.allocator, &r.functions);
    hmi_array_release(r.allocator, &r.directions);
    hmi_array_release(r.allocator, &r.locations);
    sw->graph = sw->equations.graph = r.graph;
    return status;
}
