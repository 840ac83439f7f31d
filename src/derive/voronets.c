/* Finds which rows give which velocities, and writes the equations of Voronets with them. */
#include "derive/voronets.h"

#include "expr/normal/normal.h"

#include <string.h>

/* ---- which rows give which velocities ---- */

/* On velocities alone, linear in them, with nothing in it but q, q', t and parameters? */
static bool is_plain_row(const hmi_derived *d, size_t i)
{
    const hmi_rows *rows = &d->constraints;
    const uint16_t known = HMI_DEP(HMI_SYM_TIME) | HMI_DEP(HMI_SYM_PARAM) | HMI_DEP(HMI_SYM_COORD) |
                           HMI_DEP(HMI_SYM_VELOCITY);
    if (rows->position_residual[i] != HMI_NONE || rows->velocity_residual[i] == HMI_NONE ||
        (hmi_deps(&d->graph, rows->velocity_residual[i]) & ~known))
        return false;
    for (size_t k = rows->A.start[i]; k < rows->A.start[i + 1]; k++)
        if (hmi_deps(&d->graph, rows->A.value.data[k]) & HMI_DEP(HMI_SYM_VELOCITY))
            return false;
    return true;
}

/* The rows with their velocities, the first ones solved last: row k has none of the velocities before. */
typedef struct order {
    size_t count;
    size_t row[HMI_MOST_VORONETS];
    uint32_t velocity[HMI_MOST_VORONETS];
    bool taken[HMI_MOST_VORONETS];       /* rows */
    size_t rows_with[HMI_MOST_VORONETS]; /* by coordinate: of those not taken */
} order;

/* A number as coefficient, and no other row that is left has the velocity? */
static bool take_row(const hmi_derived *d, order *o, size_t i)
{
    const hmi_expr_matrix *A = &d->constraints.A;
    for (size_t k = A->start[i]; k < A->start[i + 1]; k++) {
        hmi_expr c = A->value.data[k];
        uint32_t j = A->column.data[k];
        if (o->rows_with[j] != 1 || !hmi_is_const(&d->graph, c) ||
            hmi_constant_of(&d->graph, c)->value == 0)
            continue;
        o->row[o->count] = i;
        o->velocity[o->count++] = j;
        o->taken[i] = true;
        for (k = A->start[i]; k < A->start[i + 1]; k++)
            o->rows_with[A->column.data[k]]--;
        return true;
    }
    return false;
}

static bool order_rows(const hmi_derived *d, order *o)
{
    const hmi_rows *rows = &d->constraints;
    *o = (order){0};
    if (d->n > HMI_MOST_VORONETS || rows->count == 0 || rows->count >= d->n)
        return false;
    for (size_t i = 0; i < rows->count; i++)
        if (!is_plain_row(d, i))
            return false;
    for (size_t k = 0; k < rows->A.column.count; k++)
        o->rows_with[rows->A.column.data[k]]++;
    for (bool more = true; more;) {
        more = false;
        for (size_t i = 0; i < rows->count; i++)
            more |= !o->taken[i] && take_row(d, o, i);
    }
    return o->count == rows->count;
}

bool hmi_rows_are_explicit(const hmi_derived *d)
{
    order o;
    return order_rows(d, &o);
}

/* ---- the velocities ---- */

typedef struct search {
    hmi_voronets *x;
    hmi_graph *graph;
    hmi_normal *normal;
    hmi_adjoint adjoint;
    const hmi_derived *d;
} search;

/* HMI_NONE: not given by a row, or not found yet. */
static hmi_expr given_velocity(hmi_graph *graph, hmi_expr leaf, void *user)
{
    const hmi_voronets *x = user;
    const hmi_node *node = hmi_node_at(graph, leaf);
    if (node->a != HMI_SYM_VELOCITY || x->velocity[node->b] == HMI_NONE)
        return leaf;
    return x->velocity[node->b];
}

/* v := -psi at v = 0 over the coefficient of v, with the velocities found before. */
static hm_status solve_row(search *s, size_t row, uint32_t which)
{
    const hmi_rows *rows = &s->d->constraints;
    hmi_graph *g = s->graph;
    hmi_expr c = hmi_expr_matrix_entry(&rows->A, row, which, g->zero),
             rest = rows->velocity_residual[row];
    s->x->velocity[which] = g->zero;
    hm_status status = hmi_voronets_express(s->x, g, &rest, 1);
    s->x->velocity[which] = hmi_neg(g, hmi_div(g, rest, c));
    return status == HM_OK ? g->status : status;
}

static hm_status solve_rows(search *s, const order *o)
{
    hm_status status = HM_OK;
    for (size_t i = 0; i < s->d->n; i++)
        s->x->velocity[i] = HMI_NONE;
    for (size_t k = o->count; k > 0 && status == HM_OK; k--)
        status = solve_row(s, o->row[k - 1], o->velocity[k - 1]);
    return status;
}

static void list_independent(search *s)
{
    hmi_voronets *x = s->x;
    x->n = 0;
    for (uint32_t i = 0; i < s->d->n; i++)
        if (x->velocity[i] == HMI_NONE) {
            x->velocity[i] = hmi_symbol(s->graph, HMI_SYM_VELOCITY, i);
            x->independent[x->n++] = i;
        }
}

/* ---- momenta and forces of what is left ---- */

hm_status hmi_voronets_express(const hmi_voronets *x, hmi_graph *graph, hmi_expr *list,
                               size_t count)
{
    hmi_substitution found;
    hmi_substitution_init(&found, graph->allocator, given_velocity, (void *)x,
                          HMI_DEP(HMI_SYM_VELOCITY));
    for (size_t k = 0; k < count; k++)
        list[k] = hmi_substitute(&found, graph, list[k]);
    hmi_substitution_release(&found);
    return graph->status;
}

typedef struct motion {
    const hmi_voronets *x;
    const hmi_expr *rates;
} motion;

static hmi_expr leaf_rate(hmi_graph *graph, hmi_expr leaf, void *user)
{
    const motion *m = user;
    const hmi_node node = *hmi_node_at(graph, leaf);
    switch (node.a) {
    case HMI_SYM_COORD:
        return m->x->velocity[node.b];
    case HMI_SYM_STATE:
        return m->rates[node.b];
    case HMI_SYM_TIME:
        return graph->one;
    default:
        return graph->zero;
    }
}

hm_status hmi_voronets_along_motion(const hmi_voronets *x, hmi_graph *graph, const hmi_expr *rates,
                                    const hmi_expr *list, size_t count, hmi_expr *out)
{
    motion m = {x, rates};
    hmi_tangent tangent;
    hmi_tangent_init(&tangent, graph->allocator, leaf_rate, &m,
                     HMI_DEP(HMI_SYM_COORD) | HMI_DEP(HMI_SYM_STATE) | HMI_DEP(HMI_SYM_TIME));
    for (size_t k = 0; k < count; k++)
        out[k] = hmi_tangent_of(&tangent, graph, list[k]);
    hmi_tangent_release(&tangent);
    return graph->status;
}

hm_status hmi_voronets_gradient(const hmi_voronets *x, hmi_graph *graph, hmi_adjoint *adjoint,
                                hmi_expr e, hmi_expr *out)
{
    hm_status status = hmi_gradient(adjoint, graph, e, HMI_SYM_VELOCITY);
    for (size_t j = 0; j < x->n; j++)
        out[j] = graph->zero;
    for (size_t k = 0; status == HM_OK && k < adjoint->partials.count; k++)
        for (size_t j = 0; j < x->n; j++)
            if (x->independent[j] == adjoint->partials.data[k].index)
                out[j] = adjoint->partials.data[k].value;
    return status;
}

/* p and F of the model, in q, u, t. */
static hm_status express_model(search *s, hmi_expr *p, hmi_expr *F)
{
    size_t n = s->d->n;
    for (size_t i = 0; i < n; i++)
        p[i] = s->d->momentum[i];
    for (size_t i = 0; i < n; i++)
        F[i] = hmi_momentum_rate(s->d, s->graph, i);
    hm_status status = hmi_voronets_express(s->x, s->graph, p, n);
    return status == HM_OK ? hmi_voronets_express(s->x, s->graph, F, n) : status;
}

/* P += B^T p, P' += B^T F + B'^T p, of coordinate i; column and its rates are scratch. */
static hm_status add_coordinate(search *s, size_t i, hmi_expr p, hmi_expr F, hmi_expr *column,
                                hmi_expr *rate)
{
    hmi_voronets *x = s->x;
    hmi_graph *g = s->graph;
    hm_status status = hmi_voronets_gradient(x, g, &s->adjoint, x->velocity[i], column);
    if (status == HM_OK)
        status = hmi_voronets_along_motion(x, g, NULL, column, x->n, rate);
    for (size_t j = 0; status == HM_OK && j < x->n; j++) {
        hmi_expr force = hmi_add(g, hmi_mul(g, column[j], F), hmi_mul(g, rate[j], p));
        x->momentum[j] = hmi_add(g, x->momentum[j], hmi_mul(g, column[j], p));
        x->force[j] = hmi_add(g, x->force[j], force);
    }
    return status == HM_OK ? g->status : status;
}

/* Longer ones hardly get shorter, and are no faster than those with multipliers. */
static bool is_long(search *s, const hmi_expr *list, size_t count)
{
    enum { MOST_NODES = 160 };
    hmi_walk walk;
    hmi_walk_init(&walk, s->graph->allocator);
    hm_status status = hmi_walk_begin(&walk, s->graph);
    for (size_t k = 0; k < count && status == HM_OK; k++)
        status = hmi_walk_add(&walk, s->graph, list[k], 0xFFFF);
    bool too_long = status != HM_OK || walk.order.count > MOST_NODES;
    hmi_walk_release(&walk);
    return too_long;
}

/* Rates times sines and cosines, which series have anyway (compile/jet/jet.h). */
static size_t list_turns(search *s, hmi_factor_pair *pairs)
{
    hmi_graph *g = s->graph;
    size_t count = 0;
    for (size_t j = 0; j < s->x->n; j++) {
        hmi_expr q = hmi_symbol(g, HMI_SYM_COORD, s->x->independent[j]);
        hmi_expr v = hmi_symbol(g, HMI_SYM_VELOCITY, s->x->independent[j]);
        pairs[count++] = (hmi_factor_pair){v, hmi_apply(g, HMI_SIN, q, 0, 0)};
        pairs[count++] = (hmi_factor_pair){v, hmi_apply(g, HMI_COS, q, 0, 0)};
    }
    return count;
}

static hm_status save_products(search *s)
{
    hmi_voronets *x = s->x;
    hmi_factor_pair pairs[2 * HMI_MOST_VORONETS];
    hmi_expr list[3 * HMI_MOST_VORONETS];
    size_t n = x->n, bytes = n * sizeof *list;
    memcpy(list, x->momentum, bytes);
    memcpy(list + n, x->force, bytes);
    memcpy(list + 2 * n, x->velocity, x->coordinates * sizeof *list);
    hm_status status = hmi_normal_few_products(s->normal, pairs, list_turns(s, pairs), list,
                                               2 * n + x->coordinates);
    memcpy(x->momentum, list, bytes);
    memcpy(x->force, list + n, bytes);
    memcpy(x->velocity, list + 2 * n, x->coordinates * sizeof *list);
    return status;
}

static hm_status find_equations(search *s, hmi_expr *memory)
{
    hmi_voronets *x = s->x;
    size_t n = s->d->n;
    hmi_expr *p = memory, *F = p + n, *column = F + n, *rate = column + n;
    hm_status status = express_model(s, p, F);
    for (size_t j = 0; j < x->n; j++)
        x->momentum[j] = x->force[j] = s->graph->zero;
    for (size_t i = 0; status == HM_OK && i < n; i++)
        status = add_coordinate(s, i, p[i], F[i], column, rate);
    if (status == HM_OK && (is_long(s, x->momentum, x->n) || is_long(s, x->force, x->n)))
        return hmi_normal_status(s->normal) == HM_OK ? HM_ERR_USAGE : HM_ERR_NOMEM;
    return status == HM_OK ? save_products(s) : status;
}

/* ---- the whole ---- */

static hmi_expr *vector(hmi_arena *arena, size_t count, bool *failed)
{
    hmi_expr *memory = hmi_arena_alloc(arena, (count + 1) * sizeof *memory);
    *failed |= !memory;
    return memory;
}

static hm_status find(search *s, const order *o, hmi_expr *memory)
{
    hm_status status = solve_rows(s, o);
    if (status != HM_OK)
        return status;
    list_independent(s);
    return find_equations(s, memory);
}

hm_status hmi_voronets_find(hmi_voronets *x, const hmi_derived *d, hmi_graph *graph,
                            hmi_arena *arena)
{
    bool failed = false;
    order o;
    *x = (hmi_voronets){.coordinates = d->n};
    if (!order_rows(d, &o))
        return HM_ERR_USAGE;
    x->independent = vector(arena, d->n, &failed);
    x->velocity = vector(arena, d->n, &failed);
    x->momentum = vector(arena, d->n, &failed);
    x->force = vector(arena, d->n, &failed);
    hmi_expr *memory = vector(arena, 4 * d->n, &failed);
    search s = {.x = x, .graph = graph, .d = d};
    s.normal = failed ? NULL : hmi_normal_create(graph);
    if (!s.normal)
        return HM_ERR_NOMEM;
    hmi_normal_hurry(s.normal);
    hmi_adjoint_init(&s.adjoint, graph->allocator);
    hm_status status = find(&s, &o, memory);
    hmi_adjoint_release(&s.adjoint);
    hmi_normal_destroy(s.normal);
    return status;
}
