/* Builds the tree form: products and forces of bodies, then what is left by Lagrange's equations. */
#include "derive/tree_form.h"

typedef struct builder {
    hmi_tree_form *form;
    const hmi_derived *eq;
    hmi_graph *graph;
    const hm_allocator *allocator;
    hmi_tangent motion; /* d/dt at q'' = 0, by known rates where there are any */
    hmi_adjoint adjoint;
    HMI_ARRAY(hmi_expr) roots; /* velocities that forces act along, */
    HMI_ARRAY(hmi_expr) seeds; /* and these forces */
    hmi_expr rest;             /* the Lagrangian without the bodies that were taken */
} builder;

static hm_status memory_or(const builder *w, bool good)
{
    return !good ? HM_ERR_NOMEM : w->graph->status;
}

static bool is_fixed(const hmi_graph *g, hmi_expr e)
{
    return !(hmi_deps(g, e) & ~HMI_DEP(HMI_SYM_PARAM));
}

static bool moves(const hmi_graph *g, hmi_expr e)
{
    return hmi_deps(g, e) & HMI_DEP(HMI_SYM_VELOCITY);
}

static hmi_expr rate_of(builder *w, hmi_expr e)
{
    return hmi_tangent_of(&w->motion, w->graph, e);
}

static hm_status add_product(builder *w, hmi_expr a, hmi_expr b, hmi_expr weight)
{
    const hmi_velocity_product product = {a, b, weight};
    if (weight == w->graph->zero || !moves(w->graph, a) || !moves(w->graph, b))
        return w->graph->status;
    return memory_or(w, hmi_array_push(w->allocator, &w->form->products, product));
}

/* The inertial force that acts along a velocity; forces are given with their sign turned. */
static hm_status add_inertial(builder *w, hmi_expr velocity, hmi_expr force)
{
    if (!moves(w->graph, velocity) || force == w->graph->zero)
        return w->graph->status;
    return memory_or(w, hmi_array_push(w->allocator, &w->roots, velocity) &&
                            hmi_array_push(w->allocator, &w->seeds, hmi_neg(w->graph, force)));
}

/* ---- bodies ---- */

static hm_status take_translation(builder *w, const hmi_body *body)
{
    hm_status status = w->graph->status;
    for (int k = 0; status == HM_OK && k < body->dimension; k++) {
        hmi_expr v = rate_of(w, body->at[k]);
        if (w->graph->status != HM_OK || v == HMI_NONE)
            return w->graph->status == HM_OK ? HM_ERR_USAGE : w->graph->status;
        status = add_product(w, v, v, body->mass);
        if (status == HM_OK)
            status = add_inertial(w, v, hmi_mul(w->graph, body->mass, rate_of(w, v)));
    }
    return status;
}

static hm_status take_planar_rotation(builder *w, const hmi_body *body)
{
    hmi_expr omega = body->omega[0];
    hm_status status = add_product(w, omega, omega, body->inertia[0]);
    return status == HM_OK
               ? add_inertial(w, omega, hmi_mul(w->graph, body->inertia[0], rate_of(w, omega)))
               : status;
}

static bool is_isotropic(const hmi_graph *g, const hmi_expr J[9])
{
    for (int k = 0; k < 9; k++)
        if (J[k] != (k % 4 ? g->zero : J[0]))
            return false;
    return true;
}

/* I = R J R^T, both halves. */
static void turn_inertia(hmi_graph *g, const hmi_body *body, hmi_expr I[9])
{
    const hmi_expr *R = body->frame, *J = body->inertia;
    hmi_expr RJ[9];
    if (is_isotropic(g, J)) {
        for (int k = 0; k < 9; k++)
            I[k] = J[k];
        return;
    }
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++) {
            RJ[3 * i + j] = g->zero;
            for (int k = 0; k < 3; k++)
                RJ[3 * i + j] = hmi_add(g, RJ[3 * i + j], hmi_mul(g, R[3 * i + k], J[3 * k + j]));
        }
    for (int i = 0; i < 3; i++)
        for (int j = 0; j <= i; j++) {
            hmi_expr sum = g->zero;
            for (int k = 0; k < 3; k++)
                sum = hmi_add(g, sum, hmi_mul(g, RJ[3 * i + k], R[3 * j + k]));
            I[3 * i + j] = I[3 * j + i] = sum;
        }
}

static void times(hmi_graph *g, const hmi_expr I[9], const hmi_expr x[3], hmi_expr out[3])
{
    for (int i = 0; i < 3; i++) {
        out[i] = g->zero;
        for (int k = 0; k < 3; k++)
            out[i] = hmi_add(g, out[i], hmi_mul(g, I[3 * i + k], x[k]));
    }
}

/* I omega' + omega x I omega */
static hm_status take_rotation(builder *w, const hmi_body *body)
{
    hmi_graph *g = w->graph;
    const hmi_expr *omega = body->omega;
    hmi_expr I[9], spin[3], turn[3], rate[3];
    hm_status status = g->status;
    turn_inertia(g, body, I);
    for (int k = 0; k < 3; k++)
        rate[k] = rate_of(w, omega[k]);
    if (g->status != HM_OK)
        return g->status;
    times(g, I, omega, spin);
    times(g, I, rate, turn);
    for (int i = 0; status == HM_OK && i < 3; i++) {
        int j = (i + 1) % 3, k = (i + 2) % 3;
        hmi_expr gyro = hmi_sub(g, hmi_mul(g, omega[j], spin[k]), hmi_mul(g, omega[k], spin[j]));
        status = add_inertial(w, omega[i], hmi_add(g, turn[i], gyro));
        for (int l = 0; status == HM_OK && l <= i; l++)
            status = add_product(w, omega[i], omega[l], I[3 * i + l]);
    }
    return status;
}

static bool can_be_taken(const hmi_graph *g, const hmi_body *body)
{
    bool fixed = is_fixed(g, body->mass);
    int entries = !body->rigid ? 0 : body->dimension == 2 ? 1 : 9;
    for (int k = 0; k < entries; k++)
        fixed = fixed && is_fixed(g, body->inertia[k]);
    return fixed && (entries == 0 || body->turns);
}

static hm_status take_bodies(builder *w)
{
    const hm_model *model = w->eq->model;
    hm_status status = HM_OK;
    for (size_t i = 0; status == HM_OK && i < model->bodies.count; i++) {
        const hmi_body *body = &model->bodies.data[i];
        if (!can_be_taken(w->graph, body)) {
            w->rest = hmi_add(w->graph, w->rest, body->energy);
            continue;
        }
        status = take_translation(w, body);
        if (status == HM_OK && body->turns)
            status = body->dimension == 2 ? take_planar_rotation(w, body) : take_rotation(w, body);
    }
    return status;
}

/* ---- what was written otherwise ---- */

/* kinetic, lagrangian and constant mass statements, and minus the potential. */
static hm_status gather_rest(builder *w)
{
    hmi_graph *g = w->graph;
    const hm_model *model = w->eq->model;
    hmi_expr kinetic = g->zero;
    for (size_t k = 0; k < model->energies.count; k++)
        if (model->energies.data[k].kind == HMI_STMT_KINETIC)
            kinetic = hmi_add(g, kinetic, model->energies.data[k].value);
    for (size_t k = 0; k < model->mass.count; k++) {
        const hmi_pair *pair = &model->mass.data[k];
        hmi_expr vi = hmi_symbol(g, HMI_SYM_VELOCITY, pair->row);
        hmi_expr vj = hmi_symbol(g, HMI_SYM_VELOCITY, pair->column);
        if (!is_fixed(g, pair->value))
            return HM_ERR_USAGE;
        hmi_expr factor = pair->row == pair->column ? hmi_mul(g, g->half, pair->value)
                                                    : pair->value;
        kinetic = hmi_add(g, kinetic, hmi_mul(g, factor, hmi_mul(g, vi, vj)));
    }
    w->rest = hmi_add(g, hmi_sub(g, kinetic, model->potential), model->lagrangian);
    return g->status;
}

/* 0, 1 or 2: the degree in the velocities; 3: none of these. */
static uint8_t degree_of(const hmi_graph *g, hmi_expr e, const uint8_t *by_position,
                         const hmi_walk *walk)
{
    const hmi_node *node = hmi_node_at(g, e);
    uint8_t degree[2] = {0, 0};
    if (node->op == HMI_SYMBOL)
        return 1;
    for (int k = 0; k < hmi_op_arity((hmi_op)node->op) && k < 2; k++) {
        hmi_expr operand = hmi_operand(g, e, k);
        if (moves(g, operand))
            degree[k] = by_position[hmi_walk_position(walk, operand)];
    }
    switch ((hmi_op)node->op) {
    case HMI_ADD:
    case HMI_SUB:
        return degree[0] > degree[1] ? degree[0] : degree[1];
    case HMI_NEG:
        return degree[0];
    case HMI_MUL:
        return degree[0] + degree[1] > 2 ? 3 : (uint8_t)(degree[0] + degree[1]);
    case HMI_DIV:
        return degree[1] ? 3 : degree[0];
    case HMI_POWI:
        return node->b == g->two && degree[0] <= 1 ? (uint8_t)(2 * degree[0]) : 3;
    default:
        return 3;
    }
}

/* Hands the factor `bar` of a quadratic node on to its operands, or makes products of it. */
static hm_status split_node(builder *w, hmi_expr e, hmi_expr *bar, const uint8_t *degree)
{
    hmi_graph *g = w->graph;
    const hmi_node node = *hmi_node_at(g, e);
    const hmi_walk *walk = &w->adjoint.walk;
    hmi_expr own = bar[hmi_walk_position(walk, e)];
    hmi_expr part[2] = {own, node.op == HMI_SUB ? hmi_neg(g, own) : own};
    if (node.op == HMI_POWI)
        return add_product(w, node.a, node.a, hmi_mul(g, g->two, own));
    if (node.op == HMI_MUL && moves(g, node.a) && moves(g, node.b)) {
        hmi_expr weight = node.a == node.b ? hmi_mul(g, g->two, own) : own;
        return add_product(w, node.a, node.b, weight);
    }
    if (node.op == HMI_MUL) {
        part[0] = hmi_mul(g, own, node.b);
        part[1] = hmi_mul(g, own, node.a);
    } else if (node.op == HMI_NEG) {
        part[0] = hmi_neg(g, own);
    } else if (node.op == HMI_DIV) {
        part[0] = hmi_div(g, own, node.b);
    }
    for (int k = 0; k < hmi_op_arity((hmi_op)node.op); k++) {
        hmi_expr operand = hmi_operand(g, e, k);
        if (!moves(g, operand))
            continue;
        size_t at = hmi_walk_position(walk, operand);
        if (degree[at] == 2)
            bar[at] = hmi_add(g, bar[at], part[k]);
    }
    return g->status;
}

/* The products of velocities in an expression: a reverse sweep over its quadratic nodes. */
static hm_status split_rest(builder *w)
{
    hmi_walk *walk = &w->adjoint.walk;
    hm_status status = hmi_walk_begin(walk, w->graph);
    if (status == HM_OK)
        status = hmi_walk_add(walk, w->graph, w->rest, HMI_DEP(HMI_SYM_VELOCITY));
    size_t count = walk->order.count;
    if (status != HM_OK || count == 0)
        return status;
    uint8_t *degree = hmi_alloc(w->allocator, count * sizeof *degree);
    hmi_expr *bar = hmi_alloc(w->allocator, count * sizeof *bar);
    status = degree && bar ? HM_OK : HM_ERR_NOMEM;
    for (size_t i = 0; status == HM_OK && i < count; i++) {
        bar[i] = w->graph->zero;
        degree[i] = degree_of(w->graph, walk->order.data[i], degree, walk);
        if (degree[i] > 2)
            status = HM_ERR_USAGE;
    }
    if (status == HM_OK && degree[count - 1] == 2)
        bar[count - 1] = w->graph->one;
    for (size_t i = count; status == HM_OK && i-- > 0;)
        if (degree[i] == 2)
            status = split_node(w, walk->order.data[i], bar, degree);
    hmi_free(w->allocator, degree, degree ? count * sizeof *degree : 0);
    hmi_free(w->allocator, bar, bar ? count * sizeof *bar : 0);
    return status;
}

/* ---- forces ---- */

/* Q += factor times the results of the last sweep. */
static void add_partials(builder *w, bool negative)
{
    hmi_graph *g = w->graph;
    for (size_t k = 0; k < w->adjoint.partials.count; k++) {
        const hmi_partial part = w->adjoint.partials.data[k];
        hmi_expr *Q = &w->form->Q.data[part.index];
        *Q = negative ? hmi_sub(g, *Q, part.value) : hmi_add(g, *Q, part.value);
    }
}

static hm_status given_forces(builder *w)
{
    const hmi_derived *eq = w->eq;
    hmi_graph *g = w->graph;
    for (size_t i = 0; i < eq->n; i++) {
        hmi_expr Q = hmi_add(g, hmi_add(g, eq->impressed[i], eq->dissipation[i]),
                             eq->gyroscopic[i]);
        if (!hmi_array_push(w->allocator, &w->form->Q, Q))
            return HM_ERR_NOMEM;
    }
    return g->status;
}

/* dL/dq - d/dt dL/dq' of what is no body. */
static hm_status rest_forces(builder *w)
{
    hm_status status = hmi_gradient(&w->adjoint, w->graph, w->rest, HMI_SYM_COORD);
    if (status == HM_OK)
        add_partials(w, false);
    if (status == HM_OK)
        status = hmi_gradient(&w->adjoint, w->graph, w->rest, HMI_SYM_VELOCITY);
    for (size_t k = 0; status == HM_OK && k < w->adjoint.partials.count; k++) {
        hmi_partial *part = &w->adjoint.partials.data[k];
        part->value = rate_of(w, part->value);
        status = w->graph->status;
    }
    if (status == HM_OK)
        add_partials(w, true);
    return status;
}

static hm_status body_forces(builder *w)
{
    hm_status status = hmi_adjoint_sweep(&w->adjoint, w->graph, w->roots.data, w->seeds.data,
                                         w->roots.count, HMI_SYM_VELOCITY);
    if (status == HM_OK)
        add_partials(w, false);
    return status == HM_OK ? w->graph->status : status;
}

/* ---- the whole ---- */

static hmi_expr leaf_along_motion(hmi_graph *graph, hmi_expr leaf, void *user)
{
    const hmi_derived *eq = user;
    const hmi_node *node = hmi_node_at(graph, leaf);
    return node->a == HMI_SYM_STATE ? eq->model->states.data[node->b].rate
                                    : hmi_leaf_rate(graph, leaf);
}

static hm_status know_rates(builder *w)
{
    const hm_model *model = w->eq->model;
    for (size_t k = 0; k < model->rates.count; k++)
        if (!hmi_tangent_know(&w->motion, w->graph, model->rates.data[k].value,
                              model->rates.data[k].rate))
            return HM_ERR_NOMEM;
    return HM_OK;
}

static hm_status build(builder *w)
{
    hm_status status = know_rates(w);
    if (status == HM_OK)
        status = gather_rest(w);
    if (status == HM_OK)
        status = take_bodies(w);
    if (status == HM_OK)
        status = split_rest(w);
    if (status == HM_OK)
        status = given_forces(w);
    if (status == HM_OK)
        status = rest_forces(w);
    return status == HM_OK ? body_forces(w) : status;
}

hm_status hmi_tree_form_create(hmi_tree_form *form, const hmi_derived *eq, hmi_graph *graph)
{
    *form = (hmi_tree_form){.allocator = eq->allocator};
    if (!eq->quadratic || eq->force_symbols)
        return HM_ERR_USAGE;
    builder w = {.form = form, .eq = eq, .graph = graph, .allocator = eq->allocator};
    const uint16_t moving = HMI_DEP_MOVING & ~HMI_DEP(HMI_SYM_VELOCITY);
    hmi_tangent_init(&w.motion, w.allocator, leaf_along_motion, (void *)eq, moving);
    hmi_adjoint_init(&w.adjoint, w.allocator);
    hm_status status = build(&w);
    hmi_tangent_release(&w.motion);
    hmi_adjoint_release(&w.adjoint);
    hmi_array_release(w.allocator, &w.roots);
    hmi_array_release(w.allocator, &w.seeds);
    return status;
}

void hmi_tree_form_release(hmi_tree_form *form)
{
    if (!form->allocator)
        return;
    hmi_array_release(form->allocator, &form->products);
    hmi_array_release(form->allocator, &form->Q);
}
