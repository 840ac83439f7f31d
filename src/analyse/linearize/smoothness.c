/* Looks for functions that have no derivative at a state (smoothness.h). */
#include "analyse/linearize/smoothness.h"

#include "base/random.h"
#include "base/text.h"
#include "expr/graph/table.h"
#include "expr/print/print.h"
#include "linalg/dense.h"

#include <math.h>

/* ---- where a function is not smooth ---- */

/* The argument that vanishes there: a - b, or a alone where b is HMI_NONE. */
typedef struct edge {
    hmi_expr a, b;
    double value; /* a = value in place of 0, for asin and acos; */
    bool both;    /* or a and b vanish together: hypot, atan2 */
} edge;

static bool whole(const hmi_graph *g, hmi_expr e)
{
    if (!hmi_is_const(g, e))
        return false;
    double value = hmi_constant_of(g, e)->value;
    return value >= 0 && value == floor(value);
}

/* false: the function is smooth wherever it is finite. */
static bool edge_of(const hmi_graph *g, const hmi_node *node, edge *at)
{
    *at = (edge){node->a, HMI_NONE, 0, false};
    switch ((hmi_op)node->op) {
    case HMI_ABS:
    case HMI_SIGN:
    case HMI_SQRT:
        return true;
    case HMI_POW:
        return !whole(g, node->b);
    case HMI_ASIN:
    case HMI_ACOS:
        at->value = 1;
        return true;
    case HMI_MIN:
    case HMI_MAX:
    case HMI_LT:
    case HMI_LE:
    case HMI_EQ:
        at->b = node->b;
        return true;
    case HMI_HYPOT:
    case HMI_ATAN2:
        at->b = node->b;
        at->both = true;
        return true;
    default:
        return false;
    }
}

/* ---- the expressions ---- */

enum { SAMPLES = 5 }; /* the state itself, and some within its error */

typedef struct viewer {
    const hmi_graph *graph;
    hmi_walk walk;
    double *value; /* SAMPLES x walk */
} viewer;

static hm_status see_equations(viewer *w, const hm_system *system)
{
    size_t inputs = system->model->inputs.count;
    hmi_walk_init(&w->walk, system->allocator);
    w->graph = &system->derived.graph;
    hm_status status = hmi_walk_begin(&w->walk, w->graph);
    for (size_t i = 0; i < system->at.count && status == HM_OK; i++)
        if (system->dynamics_outputs[i] != HMI_NONE)
            status = hmi_walk_add(&w->walk, w->graph, system->dynamics_outputs[i], 0xFFFF);
    for (size_t i = 0; i < system->derived.n && status == HM_OK; i++) {
        status = hmi_walk_add(&w->walk, w->graph, system->derived.Q[i], 0xFFFF);
        if (status == HM_OK)
            status = hmi_walk_add(&w->walk, w->graph, system->derived.C[i], 0xFFFF);
    }
    for (size_t i = 0; i < 3 * inputs && status == HM_OK; i++) {
        hmi_expr e = system->derived.input_values[i / inputs][i % inputs];
        if (e != HMI_NONE)
            status = hmi_walk_add(&w->walk, w->graph, e, 0xFFFF);
    }
    return status;
}

static void evaluate_all(const viewer *w, const hmi_tape_values *values, double *value)
{
    for (size_t k = 0; k < w->walk.order.count; k++) {
        hmi_expr e = w->walk.order.data[k];
        const hmi_node *node = hmi_node_at(w->graph, e);
        int arity = hmi_op_arity((hmi_op)node->op);
        const double *from = node->op == HMI_SYMBOL ? values->by_kind[node->a] : NULL;
        if (node->op == HMI_CONST)
            value[k] = hmi_constant_of(w->graph, e)->value;
        else if (arity == 0)
            value[k] = from ? from[node->b] : 0;
        else
            value[k] = hmi_op_value((hmi_op)node->op, value[hmi_walk_position(&w->walk, node->a)],
                                    arity > 1 ? value[hmi_walk_position(&w->walk, node->b)] : 0,
                                    arity > 2 ? value[hmi_walk_position(&w->walk, node->c)] : 0);
    }
}

/* Values at the state, and at states within its error. */
static void evaluate_samples(viewer *w, const hmi_reduction *r, const double *spread, double *x)
{
    hmi_random random = {20261118};
    for (size_t s = 0; s < SAMPLES; s++) {
        for (size_t k = 0; k < r->size; k++) {
            double width = spread[k] + 8 * HMI_EPSILON * fabs(r->x[k]);
            x[k] = r->x[k] + (s ? width * hmi_random_between(&random, -1, 1) : 0);
        }
        const hmi_point at = {r->at.t, x, x + r->n, x + 2 * r->n};
        hmi_sim_refresh(r->sim, &at);
        const hmi_tape_values values = hmi_sim_values(r->sim, &at);
        evaluate_all(w, &values, w->value + s * w->walk.order.count);
    }
    hmi_sim_refresh(r->sim, &r->at);
}

/* Do the samples reach zero? */
static bool vanishes(const viewer *w, hmi_expr a, hmi_expr b, double shift)
{
    double least = INFINITY, most = -INFINITY;
    for (size_t s = 0; s < SAMPLES; s++) {
        const double *value = w->value + s * w->walk.order.count;
        double g = value[hmi_walk_position(&w->walk, a)] - shift;
        g -= b != HMI_NONE ? value[hmi_walk_position(&w->walk, b)] : 0;
        least = fmin(least, g);
        most = fmax(most, g);
    }
    double width = 4 * (most - least);
    return least - width <= 0 && most + width >= 0;
}

/* Do the samples of floor, ceil or a derivative of a table that jumps lie on both sides of a jump? */
static bool steps(const viewer *w, const hmi_node *node)
{
    const hmi_table_view *view = NULL;
    if (node->op == HMI_TABLE || node->op == HMI_TABLE2) {
        hmi_expr last = node->op == HMI_TABLE2 ? node->c : node->b;
        view = hmi_table_view_at(hmi_constant_of(w->graph, last)->value);
    } else if (node->op != HMI_FLOOR && node->op != HMI_CEIL)
        return false;
    for (int k = 0; k < (view ? view->table->arguments : 1); k++) {
        double least = INFINITY, most = -INFINITY;
        for (size_t s = 0; s < SAMPLES; s++) {
            const double *value = w->value + s * w->walk.order.count;
            double x = value[hmi_walk_position(&w->walk, k ? node->b : node->a)];
            least = fmin(least, x);
            most = fmax(most, x);
        }
        double width = 4 * (most - least), place[2] = {least - width, most + width};
        if (!view && floor(place[0]) != floor(place[1]))
            return true;
        if (!view && place[0] == floor(place[0]))
            return true;
        if (view && view->order[k] + 1 >= hmi_table_first_jump(view->table)) {
            double knot = hmi_table_nearest(view->table, k, 0.5 * (least + most));
            knot = hmi_table_lookup(2 * knot, hmi_table_address(&view->table->knots[k]));
            if (place[0] <= knot && knot <= place[1])
                return true;
        }
    }
    return false;
}

static bool at_edge(const viewer *w, const edge *at)
{
    if (at->both)
        return vanishes(w, at->a, HMI_NONE, 0) && vanishes(w, at->b, HMI_NONE, 0);
    if (at->value != 0)
        return vanishes(w, at->a, HMI_NONE, at->value) || vanishes(w, at->a, HMI_NONE, -at->value);
    return vanishes(w, at->a, at->b, 0);
}

static const uint16_t of_state = (uint16_t)(HMI_DEP(HMI_SYM_COORD) | HMI_DEP(HMI_SYM_VELOCITY) |
                                            HMI_DEP(HMI_SYM_ACCELERATION) | HMI_DEP(HMI_SYM_STATE) |
                                            HMI_DEP_FORCES);
static const uint16_t of_inputs = (uint16_t)(HMI_DEP(HMI_SYM_INPUT) | HMI_DEP(HMI_SYM_INPUT_RATE) |
                                             HMI_DEP(HMI_SYM_INPUT_RATE2));

/* The first function that is at its edge; HMI_NONE: none is. */
static hmi_expr find_edge(const viewer *w)
{
    for (size_t k = 0; k < w->walk.order.count; k++) {
        hmi_expr e = w->walk.order.data[k];
        edge at;
        if (hmi_deps(w->graph, e) & (of_state | of_inputs) &&
            (steps(w, hmi_node_at(w->graph, e)) ||
             (edge_of(w->graph, hmi_node_at(w->graph, e), &at) && at_edge(w, &at))))
            return e;
    }
    return HMI_NONE;
}

/* ---- states around ---- */

/* The largest differences of rates and of their derivatives from those of r. */
typedef struct jump {
    double rate, slope;
    bool failed; /* the equations have no value there */
} jump;

static hm_status jump_at(const hmi_reduction *r, hmi_reduction *probe, double h, double *x,
                         jump *most)
{
    hmi_random random = {20261119};
    *most = (jump){0};
    for (int direction = 0; direction < 8; direction++) {
        for (size_t k = 0; k < r->size; k++)
            x[k] = r->x[k] + h * fmax(1, fabs(r->x[k])) * hmi_random_between(&random, -1, 1);
        hm_status status = hmi_reduction_restore_all(probe, r->at.t, x);
        if (status == HM_OK)
            status = hmi_reduction_update(probe, r->at.t, x);
        if (status == HM_ERR_NOMEM)
            return status;
        most->failed |= status != HM_OK;
        for (size_t k = r->n; k < r->size && status == HM_OK; k++)
            most->rate = fmax(most->rate, fabs(probe->rate[k] - r->rate[k]));
        for (size_t i = 0; i < (r->n + r->states) * (r->size + 1) && status == HM_OK; i++)
            most->slope = fmax(most->slope, fabs(probe->J[i] - r->J[i]));
        for (size_t i = 0; i < 2 * r->m * (r->size + 1) && status == HM_OK; i++)
            most->slope = fmax(most->slope, fabs(probe->C[i] - r->C[i]));
    }
    return HM_OK;
}

/* Do rates and derivatives come to those of r? What does not fall with the distance is a jump. */
static hm_status is_smooth(const hmi_reduction *r, hmi_reduction *probe, double *x, bool *smooth)
{
    jump far, near;
    hm_status status = hmi_reduction_update(probe, r->at.t, r->x);
    if (status == HM_OK)
        status = jump_at(r, probe, 1e-6, x, &far);
    if (status == HM_OK)
        status = jump_at(r, probe, 1e-9, x, &near);
    if (status != HM_OK)
        return status;
    double noise = 0, size = hmi_max_abs((int)((r->n + r->states) * (r->size + 1)), r->J);
    for (size_t k = r->n; k < r->size; k++)
        noise = fmax(noise, 10 * hmi_reduction_noise(r, k));
    size = fmax(size, hmi_max_abs((int)(2 * r->m * (r->size + 1)), r->C));
    bool rate = near.rate > noise && near.rate > 0.3 * far.rate;
    bool slope = near.slope > 1e-9 * size && near.slope > 0.3 * far.slope;
    *smooth = !near.failed && !rate && !slope;
    return HM_OK;
}

/* ---- the answer ---- */

static const char *describe(const hm_system *system, hmi_expr e, hmi_arena *arena)
{
    hmi_text text;
    const char *kept = NULL;
    const hmi_namer namer = hmi_model_namer(system->model);
    const hmi_print_options options = {.style = HMI_PRINT_PLAIN, .namer = namer};
    hmi_text_init(&text, system->allocator);
    if (hmi_print(&text, &system->derived.graph, e, &options) != HM_OK || text.length > 60) {
        hmi_text_release(&text);
        hmi_text_init(&text, system->allocator);
        hmi_text_addf(&text, "a function '%s'", hmi_op_text(hmi_op_of(&system->derived.graph, e)));
    }
    if (!text.failed)
        kept = hmi_arena_text(arena, hmi_text_view(&text), text.length);
    hmi_text_release(&text);
    return kept;
}

hm_status hmi_find_kink(const hmi_reduction *r, hmi_reduction *probe, const double *spread,
                        hmi_arena *arena, const char **kink)
{
    const hm_system *system = r->sim->system;
    viewer w = {0};
    hmi_arena own;
    bool failed = false, smooth = true;
    *kink = NULL;
    hmi_arena_init(&own, system->allocator);
    hm_status status = see_equations(&w, system);
    double *x = hmi_arena_doubles(&own, r->size, &failed);
    w.value = hmi_arena_doubles(&own, SAMPLES * w.walk.order.count, &failed);
    if (status == HM_OK && failed)
        status = HM_ERR_NOMEM;
    hmi_expr e = HMI_NONE;
    if (status == HM_OK) {
        evaluate_samples(&w, r, spread, x);
        e = find_edge(&w);
    }
    if (e != HMI_NONE)
        status = is_smooth(r, probe, x, &smooth);
    if (status == HM_OK && !smooth) {
        *kink = describe(system, e, arena);
        status = *kink ? HM_OK : HM_ERR_NOMEM;
    }
    hmi_walk_release(&w.walk);
    hmi_arena_release(&own);
    return status;
}

hm_status hmi_may_switch(const hm_sim *sim, bool state_moves, bool *may)
{
    viewer w = {0};
    edge at;
    hm_status status = see_equations(&w, sim->system);
    *may = false;
    for (size_t k = 0; k < w.walk.order.count && status == HM_OK; k++) {
        const hmi_node *node = hmi_node_at(w.graph, w.walk.order.data[k]);
        bool state = node->deps & (of_state | of_inputs);
        bool time = node->deps & (HMI_DEP(HMI_SYM_TIME) | of_inputs);
        *may |= edge_of(w.graph, node, &at) && state && (state_moves || time);
    }
    hmi_walk_release(&w.walk);
    return status;
}
