/* Brings everything that was derived to normal form, and solves for closed forms where they are
 * short (derivation.h). */
#include "output/derive/derivation.h"

#include <string.h>

/* ---- normal forms ---- */

static hmi_expr *list_of(hmi_derivation_view *view, size_t count)
{
    hmi_expr *list = hmi_arena_alloc(&view->arena, (count + 1) * sizeof *list);
    view->failed |= !list;
    return list;
}

static hmi_expr *normal_list(hmi_derivation_view *view, const hmi_expr *from, size_t count)
{
    hmi_expr *list = list_of(view, count);
    for (size_t i = 0; list && i < count; i++)
        list[i] = hmi_derivation_normal(view, from[i]);
    return list;
}

hmi_expr hmi_derivation_normal(hmi_derivation_view *view, hmi_expr e)
{
    return view->normal && e != HMI_NONE ? hmi_normal_form(view->normal, e) : e;
}

hm_status hmi_derivation_status(const hmi_derivation_view *view)
{
    if (view->failed)
        return HM_ERR_NOMEM;
    if (view->graph.status != HM_OK)
        return view->graph.status;
    return view->normal ? hmi_normal_status(view->normal) : HM_OK;
}

static hmi_expr *normal_residuals(hmi_derivation_view *view)
{
    const hm_model *model = view->model;
    size_t passive = model->constraints.count, count = passive + model->servo_rows.count;
    hmi_expr *list = list_of(view, count);
    for (size_t i = 0; list && i < count; i++)
        list[i] = hmi_derivation_normal(
            view, i < passive ? model->constraints.data[i].residual
                              : model->servo_rows.data[i - passive].row.residual);
    return list;
}

static hm_status normalise(hmi_derivation_view *view)
{
    const hmi_derived *d = &view->system->derived;
    view->kinetic = hmi_derivation_normal(view, view->model->kinetic);
    view->potential = hmi_derivation_normal(view, view->model->potential);
    view->lagrangian = hmi_derivation_normal(view, d->lagrangian);
    view->dissipation = hmi_derivation_normal(view, view->model->dissipation);
    view->M = normal_list(view, d->M.value.data, d->M.value.count);
    view->Q = normal_list(view, d->Q, d->n);
    view->A = normal_list(view, d->constraints.A.value.data, d->constraints.A.value.count);
    view->b = normal_list(view, d->constraints.b, d->constraints.count);
    view->C = normal_list(view, d->C, d->n);
    view->servo_A = normal_list(view, d->servos.A.value.data, d->servos.A.value.count);
    view->servo_b = normal_list(view, d->servos.b, d->servos.count);
    view->residual = normal_residuals(view);
    return hmi_derivation_status(view);
}

/* ---- the split T = v^T M v / 2 + N v + P ---- */

static hmi_expr zero_velocity(hmi_graph *graph, hmi_expr leaf, void *user)
{
    (void)user;
    return hmi_node_at(graph, leaf)->a == HMI_SYM_VELOCITY ? graph->zero : leaf;
}

/* e at rest, simplified. */
static hm_status at_rest(hmi_derivation_view *view, hmi_substitution *rest, hmi_expr e,
                         hmi_expr *out)
{
    hmi_expr value = hmi_substitute(rest, &view->graph, e);
    if (value == HMI_NONE)
        return view->graph.status != HM_OK ? view->graph.status : HM_ERR_NOMEM;
    *out = hmi_derivation_normal(view, value);
    view->split |= *out != view->graph.zero;
    return hmi_derivation_status(view);
}

/* Shown where the kinetic energy is more than quadratic in the velocities alone. */
static hm_status split_kinetic(hmi_derivation_view *view)
{
    const hmi_derived *d = &view->system->derived;
    hmi_substitution rest;
    hmi_adjoint adjoint;
    if (!d->quadratic || view->model->kinetic == view->graph.zero)
        return HM_OK;
    view->N = list_of(view, view->n);
    if (!view->N)
        return HM_ERR_NOMEM;
    for (size_t i = 0; i < view->n; i++)
        view->N[i] = view->graph.zero;
    hmi_substitution_init(&rest, view->allocator, zero_velocity, NULL, HMI_DEP(HMI_SYM_VELOCITY));
    hmi_adjoint_init(&adjoint, view->allocator);
    hm_status status = hmi_gradient(&adjoint, &view->graph, view->model->kinetic, HMI_SYM_VELOCITY);
    for (size_t k = 0; status == HM_OK && k < adjoint.partials.count; k++)
        status = at_rest(view, &rest, adjoint.partials.data[k].value,
                         &view->N[adjoint.partials.data[k].index]);
    if (status == HM_OK)
        status = at_rest(view, &rest, view->model->kinetic, &view->P);
    hmi_adjoint_release(&adjoint);
    hmi_substitution_release(&rest);
    return status;
}

/* ---- closed forms ---- */

static hmi_expr mass_entry(const hmi_derivation_view *view, size_t i, size_t j)
{
    const hmi_expr_matrix *M = &view->system->derived.M;
    size_t row = i >= j ? i : j, column = i >= j ? j : i;
    for (size_t k = M->start[row]; k < M->start[row + 1]; k++)
        if (M->column.data[k] == column)
            return view->M[k];
    return view->graph.zero;
}

static hmi_expr row_entry(const hmi_derivation_view *view, size_t i, size_t j)
{
    const hmi_expr_matrix *A = &view->system->derived.constraints.A;
    for (size_t k = A->start[i]; k < A->start[i + 1]; k++)
        if (A->column.data[k] == j)
            return view->A[k];
    return view->graph.zero;
}

/* [M -A^T; A 0] and the right-hand sides [Q C; b 0]. */
static void fill_kkt(hmi_derivation_view *view, hmi_expr *matrix, hmi_expr *rhs)
{
    hmi_graph *g = &view->graph;
    size_t n = view->n, m = view->m, size = n + m;
    for (size_t i = 0; i < size; i++)
        for (size_t j = 0; j < size; j++)
            matrix[i * size + j] = i < n && j < n ? mass_entry(view, i, j)
                                   : i < n        ? hmi_neg(g, row_entry(view, j - n, i))
                                   : j < n        ? row_entry(view, i - n, j)
                                                  : g->zero;
    for (size_t i = 0; i < size; i++) {
        rhs[2 * i] = i < n ? view->Q[i] : view->b[i - n];
        rhs[2 * i + 1] = i < n ? view->C[i] : g->zero;
    }
}

/* A^T lambda, component i. */
static hmi_expr pull_back(hmi_derivation_view *view, size_t i, const hmi_expr *lambda)
{
    hmi_expr sum = view->graph.zero;
    for (size_t k = 0; k < view->m; k++)
        sum = hmi_add(&view->graph, sum, hmi_mul(&view->graph, row_entry(view, k, i), lambda[k]));
    return hmi_derivation_normal(view, sum);
}

/* Column 0 of x is the ideal motion, column 1 what C adds. */
static hm_status take_solution(hmi_derivation_view *view, const hmi_expr *x)
{
    hmi_graph *g = &view->graph;
    size_t n = view->n, m = view->m;
    hmi_expr total[HMI_CLOSED_FORM_MOST];
    hmi_expr **lists[] = {&view->lambda, &view->Qi, &view->Qni, &view->qdd};
    for (size_t i = 0; i < sizeof lists / sizeof *lists; i++)
        if (!(*lists[i] = hmi_arena_alloc(&view->arena, (n + m + 1) * sizeof **lists[i])))
            return HM_ERR_NOMEM;
    for (size_t k = 0; k < m; k++) {
        view->lambda[k] = hmi_derivation_normal(view, x[2 * (n + k)]);
        total[k] = x[2 * (n + k) + 1];
    }
    for (size_t i = 0; i < n; i++) {
        view->Qi[i] = pull_back(view, i, view->lambda);
        view->Qni[i] = hmi_derivation_normal(view,
                                             hmi_add(g, view->C[i], pull_back(view, i, total)));
        view->qdd[i] = hmi_derivation_normal(view, hmi_add(g, x[2 * i], x[2 * i + 1]));
    }
    view->closed = true;
    return hmi_derivation_status(view);
}

static hm_status close_form(hmi_derivation_view *view)
{
    enum { MOST = 2 * HMI_CLOSED_FORM_MOST };
    hmi_expr matrix[MOST * MOST], rhs[2 * MOST], x[2 * MOST], determinant;
    size_t size = view->n + view->m;
    const uint16_t total = HMI_DEP(HMI_SYM_TOTAL_REACTION) | HMI_DEP(HMI_SYM_TOTAL_MULTIPLIER);
    bool implicit = view->system->derived.force_symbols & total;
    if (view->n > HMI_CLOSED_FORM_MOST || view->m > HMI_CLOSED_FORM_MOST || !view->normal ||
        implicit || view->model->servo_rows.count)
        return HM_OK;
    fill_kkt(view, matrix, rhs);
    hm_status status = hmi_symbolic_solve(view->normal, size, matrix, 2, rhs, x, &determinant);
    if (status == HM_ERR_NUMERIC || status == HM_ERR_LIMIT)
        return HM_OK; /* dependent rows, or too long to read: named matrices instead */
    return status == HM_OK ? take_solution(view, x) : status;
}

/* ---- creation ---- */

hm_status hmi_derivation_prepare(hmi_derivation_view *view, const hm_system *system)
{
    *view = (hmi_derivation_view){.system = system,
                                  .model = system->model,
                                  .allocator = system->allocator,
                                  .n = system->derived.n,
                                  .m = system->derived.constraints.count};
    hmi_arena_init(&view->arena, system->allocator);
    hm_status status = hmi_graph_copy(&view->graph, &system->derived.graph);
    if (status != HM_OK)
        return status;
    if (view->n <= HMI_NORMAL_MOST_COORDS) {
        view->normal = hmi_normal_create(&view->graph);
        if (!view->normal)
            return HM_ERR_NOMEM;
    }
    status = normalise(view);
    if (status == HM_OK)
        status = split_kinetic(view);
    return status == HM_OK ? close_form(view) : status;
}

void hmi_derivation_release(hmi_derivation_view *view)
{
    hmi_normal_destroy(view->normal);
    hmi_graph_release(&view->graph);
    hmi_arena_release(&view->arena);
}
