/* Constraints on positions solved for coordinates, which then occur no more. */
#include "reduce/reduce.h"

#include <math.h>

/* phi = phi0 + slope x + curve x^2/2, solved for the coordinate x; class 0: slope a number, 1: linear, 2: quadratic. */
typedef struct solution {
    int class;
    size_t row;
    uint32_t unknown;
    uint32_t cost;
    hmi_expr value;
} solution;

static hmi_expr at_zero(hmi_graph *graph, hmi_expr leaf, void *user)
{
    const uint32_t *unknown = user;
    const hmi_node *node = hmi_node_at(graph, leaf);
    return node->a == HMI_SYM_COORD && node->b == *unknown ? graph->zero : leaf;
}

static hmi_expr without(hmi_reduce *r, hmi_expr e, uint32_t unknown)
{
    hmi_substitution zero;
    hmi_substitution_init(&zero, r->allocator, at_zero, &unknown, HMI_DEP(HMI_SYM_COORD));
    hmi_expr out = hmi_substitute(&zero, &r->graph, e);
    hmi_substitution_release(&zero);
    return hmi_reduce_normal(r, out);
}

static hmi_expr slope_of(hmi_reduce *r, hmi_expr e, uint32_t unknown)
{
    hmi_expr *all = hmi_reduce_vector(r, r->n);
    if (r->failed || hmi_reduce_gradient(r, e, HMI_SYM_COORD, r->n, all) != HM_OK)
        return HMI_NONE;
    return hmi_reduce_normal(r, all[unknown]);
}

static double value_of(hmi_reduce *r, hmi_expr e)
{
    double value = NAN;
    if (hmi_reduce_values(r, &e, 1, &r->initial, NULL, &value) != HM_OK)
        r->failed = true;
    return value;
}

/* Of the two roots that of the initial state. */
static hmi_expr root_of(hmi_reduce *r, hmi_expr phi0, hmi_expr slope, hmi_expr curve, uint32_t x)
{
    hmi_graph *g = &r->graph;
    hmi_expr square = hmi_sub(g, hmi_mul(g, slope, slope),
                              hmi_mul(g, hmi_mul(g, g->two, curve), phi0));
    hmi_expr middle = hmi_neg(g, hmi_div(g, slope, curve));
    hmi_expr half = hmi_apply(
        g, HMI_SQRT, hmi_reduce_normal(r, hmi_div(g, square, hmi_mul(g, curve, curve))), 0, 0);
    hmi_expr plus = hmi_add(g, middle, half), minus = hmi_sub(g, middle, half);
    double to_plus = fabs(value_of(r, plus) - r->initial.q[x]);
    double to_minus = fabs(value_of(r, minus) - r->initial.q[x]);
    double reach = 1e-6 * (1 + fabs(r->initial.q[x]));
    if (!(fmin(to_plus, to_minus) <= reach) || fabs(to_plus - to_minus) <= reach)
        return HMI_NONE; /* where the roots meet no branch holds */
    return hmi_reduce_normal(r, to_plus < to_minus ? plus : minus);
}

static bool solve_for(hmi_reduce *r, hmi_expr phi, uint32_t x, solution *s)
{
    hmi_graph *g = &r->graph;
    hmi_expr slope = slope_of(r, phi, x);
    if (slope == HMI_NONE || slope == g->zero)
        return false;
    hmi_expr phi0 = without(r, phi, x);
    if (!hmi_reduce_contains(r, slope, HMI_SYM_COORD, x)) {
        s->class = !hmi_is_const(g, slope);
        s->value = hmi_reduce_normal(r, hmi_neg(g, hmi_div(g, phi0, slope)));
        if (s->class && !(fabs(value_of(r, slope)) > 1e-9))
            return false;
    } else {
        hmi_expr curve = slope_of(r, slope, x);
        if (curve == HMI_NONE || hmi_reduce_contains(r, curve, HMI_SYM_COORD, x))
            return false;
        s->class = 2;
        s->value = root_of(r, phi0, without(r, slope, x), curve, x);
    }
    s->unknown = x;
    s->cost = s->value == HMI_NONE ? 0 : hmi_normal_cost(r->normal, s->value);
    return s->value != HMI_NONE;
}

/* Independent by the user's choice of speeds? */
static bool is_kept(const hmi_reduce *r, uint32_t x)
{
    for (size_t k = 0; r->own_speeds && k < r->k; k++)
        if (r->speed[k].coordinate == x)
            return true;
    return false;
}

static bool best_solution(hmi_reduce *r, solution *best)
{
    bool found = false;
    for (size_t i = 0; i < r->eq->constraints.count; i++) {
        hmi_expr phi = r->eq->constraints.position_residual[i];
        if (phi == HMI_NONE || r->solved_row[i] || hmi_reduce_express(r, &phi, 1) != HM_OK)
            continue;
        phi = hmi_reduce_normal(r, phi);
        for (uint32_t x = 0; x < r->n && !r->failed; x++) {
            solution s = {.row = i};
            if (r->position[x] != HMI_NONE || is_kept(r, x) || !solve_for(r, phi, x, &s))
                continue;
            if (!found || s.class < best->class || (s.class == best->class && s.cost < best->cost))
                *best = s;
            found = true;
        }
    }
    return found && !r->failed;
}

/* Puts it into those found before. */
static hm_status take(hmi_reduce *r, const solution *s)
{
    r->solved_row[s->row] = true;
    r->position[s->unknown] = s->value;
    hm_status status = HM_OK;
    for (size_t i = 0; status == HM_OK && i < r->n; i++)
        if (i != s->unknown && r->position[i] != HMI_NONE) {
            status = hmi_reduce_express(r, &r->position[i], 1);
            r->position[i] = hmi_reduce_normal(r, r->position[i]);
        }
    return status;
}

static hm_status add_rows(hmi_reduce *r)
{
    hmi_graph *g = &r->graph;
    for (uint32_t i = 0; i < r->n; i++) {
        if (r->position[i] == HMI_NONE)
            continue;
        hmi_expr rate;
        hm_status status = hmi_reduce_along_motion(r, &r->position[i], 1, &rate);
        if (status != HM_OK)
            return status;
        hmi_expr row = hmi_sub(g, hmi_symbol(g, HMI_SYM_VELOCITY, i), rate);
        hmi_linear_form *form = &r->row[r->rows++];
        if (!hmi_reduce_linear(r, row, r->model->coords.data[i].name, form))
            return hmi_reduce_status(r) == HM_OK ? HM_ERR_USAGE : hmi_reduce_status(r);
        form->wanted = i + 1;
    }
    return HM_OK;
}

/* A constraint that is identically satisfied after the others were put in says nothing more. */
static hm_status check_rest(hmi_reduce *r)
{
    for (size_t i = 0; i < r->eq->constraints.count; i++) {
        hmi_expr phi = r->eq->constraints.position_residual[i];
        if (phi == HMI_NONE || r->solved_row[i])
            continue;
        hm_status status = hmi_reduce_express(r, &phi, 1);
        if (status != HM_OK)
            return status;
        const hmi_constraint *c = &r->model->constraints.data[i];
        r->solved_row[i] = hmi_reduce_normal(r, phi) == r->graph.zero;
        if (!r->solved_row[i]) {
            hmi_error(r->context, c->span, "--form maggi needs no solution for coordinates",
                      "constraint '%s' cannot be solved for a coordinate in symbols", c->name);
            return HM_ERR_USAGE;
        }
        hmi_reduce_note(
            r, hmi_reduce_name(r, "constraint %s follows from the others: left out", c->name));
    }
    return HM_OK;
}

hm_status hmi_reduce_embed(hmi_reduce *r)
{
    solution best = {0};
    hm_status status = HM_OK;
    bool any = false;
    while (status == HM_OK && best_solution(r, &best)) {
        status = take(r, &best);
        any = true;
    }
    if (status == HM_OK)
        status = hmi_reduce_status(r);
    if (status == HM_OK)
        status = check_rest(r);
    if (status == HM_OK && !any) {
        hmi_error(r->context, hmi_no_span, "--form maggi is for constraints on velocities, too",
                  "there is no constraint on positions to embed");
        return HM_ERR_USAGE;
    }
    return status == HM_OK ? add_rows(r) : status;
}
