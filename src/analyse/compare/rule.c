/* G_kj = d/dt(dg_k/dq'_j) - dg_k/dq_j at q'' = 0                              [Flannery 2005, (30)]
 *
 * The multiplier rule for integrals is right where every row of G is a combination of the rows of A
 * (errata 3.4); exact constraints have G = 0. For g nonlinear in the velocities the remaining term
 * of Flannery (30), (d2g/dq'2) q'', belongs to the mass matrix.
 * Verified: test/cases/test_compare.c
 */
#include "analyse/compare/comparison.h"
#include "linalg/linalg.h"
#include "compile/jit/assemble.h"

#include <math.h>

static hmi_expr along_motion(hmi_graph *graph, hmi_expr leaf, void *user)
{
    const hm_model *model = user;
    const hmi_node *node = hmi_node_at(graph, leaf);
    return node->a == HMI_SYM_STATE ? model->states.data[node->b].rate : hmi_leaf_rate(graph, leaf);
}

/* Row k of G, added to zeros. */
static hm_status derive_row(hm_comparison *c, hmi_adjoint *adjoint, hmi_tangent *motion, size_t k,
                            hmi_expr *row)
{
    hmi_expr g = c->system->derived.constraints.velocity_residual[k];
    if (g == HMI_NONE)
        return HM_OK;
    hm_status status = hmi_gradient(adjoint, &c->graph, g, HMI_SYM_VELOCITY);
    for (size_t i = 0; status == HM_OK && i < adjoint->partials.count; i++) {
        hmi_partial part = adjoint->partials.data[i];
        row[part.index] = hmi_tangent_of(motion, &c->graph, part.value);
    }
    if (status == HM_OK)
        status = hmi_gradient(adjoint, &c->graph, g, HMI_SYM_COORD);
    for (size_t i = 0; status == HM_OK && i < adjoint->partials.count; i++) {
        hmi_partial part = adjoint->partials.data[i];
        row[part.index] = hmi_sub(&c->graph, row[part.index], part.value);
    }
    return status == HM_OK ? c->graph.status : status;
}

hm_status hmi_compile_rule(hm_comparison *c)
{
    hmi_adjoint adjoint;
    hmi_tangent motion;
    const uint16_t moving = HMI_DEP_MOVING & ~HMI_DEP(HMI_SYM_VELOCITY); /* q'' = 0 */
    hm_status status = hmi_graph_copy(&c->graph, &c->variant.model.graph);
    hmi_expr *G = hmi_arena_alloc(&c->arena, (c->m * c->n + 2) * sizeof *G);
    hmi_adjoint_init(&adjoint, c->allocator);
    hmi_tangent_init(&motion, c->allocator, along_motion, (void *)c->system->model, moving);
    if (!G)
        status = HM_ERR_NOMEM;
    for (size_t i = 0; status == HM_OK && i < c->m * c->n; i++)
        G[i] = c->graph.zero;
    for (size_t k = 0; status == HM_OK && k < c->m; k++)
        status = derive_row(c, &adjoint, &motion, k, G + k * c->n);
    if (status == HM_OK)
        G[c->m * c->n] = c->variant.equation; /* HMI_NONE gives 0 */
    if (status == HM_OK)
        status = hmi_tape_compile(&c->tape, &c->graph, G, c->m * c->n + 1);
    if (status == HM_OK) {
        c->tape_work = hmi_arena_alloc(&c->arena, (c->tape.work_size + 1) * sizeof *c->tape_work);
        status = c->tape_work ? HM_OK : HM_ERR_NOMEM;
    }
    hmi_tangent_release(&motion);
    hmi_adjoint_release(&adjoint);
    return status;
}

/* The largest part of a row of G outside the span of the rows of A, relative to the row. */
static hm_status distance_to_span(const hm_comparison *c, double *distance)
{
    int n = (int)c->n, m = (int)c->m;
    hmi_arena arena;
    hmi_arena_init(&arena, c->allocator);
    size_t doubles = (size_t)(n * m) + hmi_cod_doubles(n, m) + (size_t)(n + m);
    double *X = hmi_arena_alloc(&arena, (doubles + 1) * sizeof *X);
    int *ints = hmi_arena_alloc(&arena, (hmi_cod_ints(n, m) + 1) * sizeof *ints);
    hm_status status = X && ints ? HM_OK : HM_ERR_NOMEM;
    *distance = 0;
    if (status == HM_OK) {
        double *work = X + n * m, *x = work + hmi_cod_doubles(n, m), *left = x + m;
        hmi_cod cod;
        hmi_copy(n * m, c->A, X); /* rows of A: contiguous columns of A^T */
        hmi_cod_factor(&cod, n, m, X, n < m ? n : m, 1e-12 * hmi_max_abs(n * m, c->A), work, ints);
        for (int k = 0; k < m; k++) {
            const double *row = c->G + k * n;
            double size = hmi_norm(n, row);
            if (!(size > 0))
                continue;
            hmi_cod_solve(&cod, row, x);
            hmi_copy(n, row, left);
            for (int i = 0; i < m; i++)
                hmi_axpy(n, -x[i], c->A + i * n, left);
            *distance = fmax(*distance, hmi_norm(n, left) / size);
        }
    }
    hmi_arena_release(&arena);
    return status;
}

hm_status hmi_evaluate_rule(hm_comparison *c, const hm_sim *sim, hm_compared *out)
{
    const hmi_tape_values values = hmi_sim_values(sim, hmi_sim_present(sim));
    hmi_tape_prepare(&c->tape, &values, c->tape_work);
    hmi_tape_run(&c->tape, &values, c->tape_work);
    const double *values_now = hmi_tape_outputs(&c->tape, c->tape_work);
    hmi_copy((int)(c->m * c->n), values_now, c->G);
    out->equation_residual = values_now[c->m * c->n];
    hm_status status = distance_to_span(c, &out->G_distance);
    out->G = c->G;
    out->G_in_span = out->G_distance <= 1e-9;
    return status;
}
