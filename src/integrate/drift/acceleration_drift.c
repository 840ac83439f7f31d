/* Follows both sides of the integrated constraints along the motion. */
#include "integrate/drift/acceleration_drift.h"
#include "integrate/ode/gauss.h"

#include <string.h>

/* ---- what is followed, as expressions ---- */

static hmi_expr leaf_rate(hmi_graph *graph, hmi_expr leaf, void *user)
{
    const hmi_derived *derived = user;
    const hmi_node *node = hmi_node_at(graph, leaf);
    return node->a == HMI_SYM_STATE ? derived->state_rates[node->b] : hmi_leaf_rate(graph, leaf);
}

/* sum_j A_kj x_j, x a kind of symbols */
static hmi_expr row_times(hmi_graph *g, const hmi_rows *rows, size_t k, hmi_symbol_kind kind)
{
    hmi_expr sum = g->zero;
    for (size_t e = rows->A.start[k]; e < rows->A.start[k + 1]; e++)
        sum = hmi_add(
            g, sum, hmi_mul(g, rows->A.value.data[e], hmi_symbol(g, kind, rows->A.column.data[e])));
    return sum;
}

static hm_status write_list(hmi_acceleration_drift *in, hmi_graph *g, const hmi_derived *derived,
                            hmi_expr *list)
{
    const hmi_rows *rows = &derived->constraints;
    hmi_tangent tangent;
    hmi_tangent_init(&tangent, g->allocator, leaf_rate, (void *)(uintptr_t)derived, HMI_DEP_MOVING);
    for (size_t i = 0; i < in->count; i++) {
        size_t k = in->row[i];
        list[i] = row_times(g, rows, k, HMI_SYM_VELOCITY);
        hmi_expr all = hmi_tangent_of(&tangent, g, list[i]);
        hmi_expr known = row_times(g, rows, k, HMI_SYM_ACCELERATION);
        hmi_expr b = rows->b[k] == HMI_NONE ? g->zero : rows->b[k];
        list[in->count + i] = hmi_add(g, hmi_sub(g, all, known), b);
    }
    hmi_tangent_release(&tangent);
    return hmi_graph_status(g);
}

static hm_status compile(hmi_acceleration_drift *in, hmi_expr *list, hmi_arena *arena)
{
    const hmi_derived *derived = &in->sim->system->derived;
    hmi_graph copy = {0};
    hm_status status = hmi_graph_copy(&copy, &derived->graph);
    if (status == HM_OK)
        status = write_list(in, &copy, derived, list);
    if (status == HM_OK)
        status = hmi_run_tape(&in->tape, &copy, list, 2 * in->count, arena, &in->work);
    hmi_graph_release(&copy);
    return status;
}

static size_t state_size(const hm_system *system)
{
    return 2 * system->derived.n + system->model->states.count + HMI_MOST_WORKS;
}

hm_status hmi_acceleration_drift_init(hmi_acceleration_drift *in, hm_sim *sim, hmi_arena *arena)
{
    const hm_model *model = sim->system->model;
    size_t m = sim->system->derived.constraints.count;
    *in = (hmi_acceleration_drift){.sim = sim};
    in->row = hmi_arena_alloc(arena, (m + 1) * sizeof *in->row);
    if (!in->row)
        return HM_ERR_NOMEM;
    for (size_t k = 0; k < m; k++)
        if (model->constraints.data[k].level == HM_LEVEL_ACCELERATION)
            in->row[in->count++] = k;
    if (in->count == 0)
        return HM_OK;
    hmi_expr *list = hmi_arena_alloc(arena, 2 * in->count * sizeof *list);
    bool failed = false;
    in->right = hmi_arena_doubles(arena, in->count, &failed);
    in->velocity = hmi_arena_doubles(arena, in->count, &failed);
    in->position = hmi_arena_doubles(arena, in->count, &failed);
    in->state = hmi_arena_doubles(arena, state_size(sim->system), &failed);
    if (!list || failed)
        return HM_ERR_NOMEM;
    return compile(in, list, arena);
}

void hmi_acceleration_drift_release(hmi_acceleration_drift *in)
{
    hmi_tape_release(&in->tape);
}

void hmi_acceleration_drift_prepare(hmi_acceleration_drift *in)
{
    const hmi_tape_values values = hmi_sim_values(in->sim, hmi_sim_present(in->sim));
    if (in->count)
        hmi_tape_prepare(&in->tape, &values, in->work);
}

/* ---- along the motion ---- */

static const double *evaluate(hmi_acceleration_drift *in, const hmi_point *at)
{
    hmi_sim_refresh(in->sim, at);
    const hmi_tape_values values = hmi_sim_values(in->sim, at);
    hmi_tape_run(&in->tape, &values, in->work);
    return hmi_tape_outputs(&in->tape, in->work);
}

void hmi_acceleration_drift_start(hmi_acceleration_drift *in, const hmi_point *at)
{
    const double *left = in->count ? evaluate(in, at) : NULL;
    for (size_t i = 0; i < in->count; i++)
        in->right[i] = left[i] - in->velocity[i];
}

void hmi_acceleration_drift_follow(hmi_acceleration_drift *in, hmi_stepper *s, double t)
{
    double h = t - s->t_old, *y = in->state;
    for (int k = 0; k < 4 && in->count; k++) {
        const hmi_point at = hmi_ode_point(s->ode, s->t_old + hmi_gauss_nodes[k] * h, y);
        s->method->interpolate(s, at.t, y);
        if (hmi_ode_forces(s->ode, at.t, y, NULL) != HM_OK) /* A_dot may need q'' */
            continue;
        const double *rate = evaluate(in, &at) + in->count;
        for (size_t i = 0; i < in->count; i++)
            in->right[i] += hmi_gauss_weights[k] * h * rate[i];
    }
    if (in->count == 0)
        return;
    if (t != s->t)
        s->method->interpolate(s, t, y);
    const hmi_point end = hmi_ode_point(s->ode, t, t != s->t ? y : s->y);
    const double *left = evaluate(in, &end);
    for (size_t i = 0; i < in->count; i++) {
        double drift = left[i] - in->right[i];
        in->position[i] += 0.5 * h * (in->velocity[i] + drift);
        in->velocity[i] = drift;
    }
}
