/* Finds the functions that are not smooth among all that q'' and the energies depend on (sides.h). */
#include "analyse/sides/sides.h"

#include "expr/graph/diff.h"
#include "expr/graph/table.h"

#include <math.h>

/* What depends on these moves; what depends on parameters alone keeps its side. */
static const uint16_t moving = HMI_DEP(HMI_SYM_COORD) | HMI_DEP(HMI_SYM_VELOCITY) |
                               HMI_DEP(HMI_SYM_TIME) | HMI_DEP(HMI_SYM_STATE) |
                               HMI_DEP(HMI_SYM_INPUT) | HMI_DEP(HMI_SYM_INPUT_RATE) |
                               HMI_DEP(HMI_SYM_INPUT_RATE2);

static bool is_zero(const hmi_graph *g, hmi_expr e)
{
    return hmi_is_const(g, e) && hmi_constant_of(g, e)->value == 0;
}

/* Files a function, or joins it to one with the same zeros. */
static hm_status add(hmi_sides *s, hmi_side_function f)
{
    const hmi_graph *g = &s->system->derived.graph;
    if (f.b != HMI_NONE && is_zero(g, f.b))
        f.b = HMI_NONE;
    if (f.b != HMI_NONE && is_zero(g, f.a)) {
        f.a = f.b;
        f.b = HMI_NONE;
    }
    uint16_t deps = hmi_deps(g, f.a) | (f.b == HMI_NONE ? 0 : hmi_deps(g, f.b));
    if (!(deps & moving) || deps & HMI_DEP_FORCES)
        return HM_OK;
    for (size_t k = 0; k < s->list.count; k++) {
        hmi_side_function *known = &s->list.data[k];
        bool same = known->a == f.a && known->b == f.b;
        if (!same && !(known->a == f.b && known->b == f.a))
            continue;
        if (f.kind > known->kind) {
            known->kind = f.kind;
            known->node = f.node;
            known->power = f.power;
        }
        return HM_OK;
    }
    if (s->list.count == HMI_MOST_SIDES) {
        s->dropped++;
        return HM_OK;
    }
    f.negative = f.positive = f.met = SIZE_MAX;
    return hmi_array_push(s->allocator, &s->list, f) ? HM_OK : HM_ERR_NOMEM;
}

static hm_status add_difference(hmi_sides *s, hmi_expr node, hmi_side_kind kind, hmi_expr a,
                                hmi_expr b)
{
    return add(s, (hmi_side_function){.a = a, .b = b, .node = node, .kind = kind});
}

/* The comparisons that a condition is made of. Conditions are short, but not bounded: beyond the depth
 * they count as dropped. */
static hm_status add_condition(hmi_sides *s, hmi_expr node, hmi_expr condition, int depth)
{
    const hmi_graph *g = &s->system->derived.graph;
    hmi_op op = hmi_op_of(g, condition);
    hm_status status = HM_OK;
    if (depth > 30) {
        s->dropped++;
        return HM_OK;
    }
    if (op == HMI_LT || op == HMI_LE || op == HMI_EQ)
        return add_difference(s, node, HMI_SIDE_JUMP, hmi_operand(g, condition, 0),
                              hmi_operand(g, condition, 1));
    for (int k = 0; k < hmi_op_arity(op) && status == HM_OK; k++)
        if (op == HMI_AND || op == HMI_OR || op == HMI_NOT)
            status = add_condition(s, node, hmi_operand(g, condition, k), depth + 1);
    return status;
}

/* What changes sign where the base vanishes: abs(w), max(0, w) and w^k vanish with w. */
static hmi_expr base_of(const hmi_graph *g, hmi_expr u, double *power)
{
    for (;;) {
        hmi_op op = hmi_op_of(g, u);
        hmi_expr x = hmi_op_arity(op) > 0 ? hmi_operand(g, u, 0) : HMI_NONE;
        hmi_expr y = hmi_op_arity(op) > 1 ? hmi_operand(g, u, 1) : HMI_NONE;
        bool raised = (op == HMI_POW || op == HMI_POWI) && hmi_is_const(g, y) &&
                      hmi_constant_of(g, y)->value > 0;
        if (op == HMI_SQRT)
            *power /= 2;
        else if (raised)
            *power *= hmi_constant_of(g, y)->value;
        else if (op == HMI_MAX || op == HMI_MIN)
            x = is_zero(g, x) ? y : is_zero(g, y) ? x : HMI_NONE;
        else if (op != HMI_ABS && op != HMI_NEG)
            return u;
        if (x == HMI_NONE)
            return u;
        u = x;
    }
}

/* u^power; powers of 1 and more have bounded slopes, negative ones do not exist where u = 0. */
static hm_status add_root(hmi_sides *s, hmi_expr node, hmi_expr u, double power)
{
    hmi_expr base = base_of(&s->system->derived.graph, u, &power);
    if (!(power > 0 && power < 1))
        return HM_OK;
    return add(s,
               (hmi_side_function){
                   .a = base, .b = HMI_NONE, .node = node, .kind = HMI_SIDE_ROOT, .power = power});
}

static hm_status add_power(hmi_sides *s, hmi_expr node, hmi_expr x, hmi_expr y)
{
    const hmi_graph *g = &s->system->derived.graph;
    double power = hmi_is_const(g, y) ? hmi_constant_of(g, y)->value : 0.5; /* else: it may be */
    return power == round(power) ? HM_OK : add_root(s, node, x, power);
}

static bool table_jumps(const hmi_graph *g, hmi_expr e)
{
    hmi_expr last = hmi_operand(g, e, hmi_op_of(g, e) == HMI_TABLE2 ? 2 : 1);
    const hmi_table_view *view = hmi_table_view_at(hmi_constant_of(g, last)->value);
    int jump = hmi_table_first_jump(view->table);
    return view->order[0] >= jump || view->order[1] >= jump;
}

static hm_status add_node(hmi_sides *s, hmi_expr e)
{
    const hmi_graph *g = &s->system->derived.graph;
    hmi_op op = hmi_op_of(g, e);
    hmi_expr x = hmi_op_arity(op) > 0 ? hmi_operand(g, e, 0) : HMI_NONE;
    hmi_expr y = hmi_op_arity(op) > 1 ? hmi_operand(g, e, 1) : HMI_NONE;
    switch (op) {
    case HMI_ABS:
        return add_difference(s, e, HMI_SIDE_KINK, x, HMI_NONE);
    case HMI_SIGN:
        return add_difference(s, e, HMI_SIDE_JUMP, x, HMI_NONE);
    case HMI_MIN:
    case HMI_MAX:
        return add_difference(s, e, HMI_SIDE_KINK, x, y);
    case HMI_ATAN2:
        return add_difference(s, e, HMI_SIDE_JUMP, x, HMI_NONE);
    case HMI_SELECT:
        return add_condition(s, e, x, 0);
    case HMI_SQRT:
        return add_root(s, e, x, 0.5);
    case HMI_POW:
        return add_power(s, e, x, y);
    case HMI_ASIN:
    case HMI_ACOS: {
        hmi_side_function end = {
            .a = x, .b = g->one, .node = e, .kind = HMI_SIDE_ROOT, .power = 0.5};
        hm_status status = add(s, end);
        end.b = g->minus_one;
        return status == HM_OK ? add(s, end) : status;
    }
    case HMI_FLOOR:
    case HMI_CEIL: /* at every whole number: too many */
        s->dropped += (hmi_deps(g, e) & moving) != 0;
        return HM_OK;
    case HMI_TABLE:
    case HMI_TABLE2:
        s->dropped += (hmi_deps(g, e) & moving) && table_jumps(g, e);
        return HM_OK;
    default:
        return HM_OK;
    }
}

/* Everything that the statements of the analysis are about. */
static hm_status list_roots(const hmi_sides *s, hmi_walk *walk)
{
    const hmi_derived *d = &s->system->derived;
    const hm_model *model = s->system->model;
    const hmi_graph *g = &d->graph;
    hm_status status = hmi_walk_begin(walk, g);
    for (size_t i = 0; status == HM_OK && i < s->system->at.count; i++)
        if (s->system->dynamics_outputs[i] != HMI_NONE)
            status = hmi_walk_add(walk, g, s->system->dynamics_outputs[i], moving);
    for (size_t k = 0; status == HM_OK && k < model->constraints.count; k++)
        status = hmi_walk_add(walk, g, model->constraints.data[k].residual, moving);
    for (size_t k = 0; status == HM_OK && k < model->inputs.count; k++)
        if (d->input_values[0] && d->input_values[0][k] != HMI_NONE)
            status = hmi_walk_add(walk, g, d->input_values[0][k], moving);
    if (status == HM_OK && d->lagrangian != HMI_NONE)
        status = hmi_walk_add(walk, g, d->lagrangian, moving);
    return status;
}

hm_status hmi_sides_collect(hmi_sides *s)
{
    hmi_walk walk;
    hmi_walk_init(&walk, s->allocator);
    hm_status status = list_roots(s, &walk);
    for (size_t i = 0; status == HM_OK && i < walk.order.count; i++)
        if (hmi_deps(&s->system->derived.graph, walk.order.data[i]) & moving)
            status = add_node(s, walk.order.data[i]);
    hmi_walk_release(&walk);
    return status;
}

hmi_expr hmi_side_zero(hmi_graph *graph, const hmi_side_function *f)
{
    return f->b == HMI_NONE ? f->a : hmi_sub(graph, f->a, f->b);
}

bool hmi_side_exists(const hmi_side_function *f, size_t state)
{
    return state != SIZE_MAX || f->kind != HMI_SIDE_ROOT;
}
