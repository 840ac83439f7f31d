/* The solve of one step's orders: factored once, by the saddle-point solver of linalg. Where that does
 * not trust its pivots, the rank-revealing workspace of dynamics/ is factored and used with its
 * independent rows.
 */
#include "integrate/taylor/taylor.h"

#include "dynamics/formulations/workspace.h"

static bool is_diagonal(const hmi_expr_matrix *M)
{
    for (size_t i = 0; i < M->rows; i++)
        for (size_t k = M->start[i]; k < M->start[i + 1]; k++)
            if (M->column.data[k] != i)
                return false;
    return true;
}

static hm_status allocate(hmi_taylor_solver *s, int n, int m, hmi_arena *arena)
{
    bool failed = false;
    double *memory = hmi_arena_doubles(arena, hmi_saddle_doubles(n, m, true), &failed);
    s->A = hmi_arena_doubles(arena, hmi_area(m, n), &failed);
    if (failed)
        return HM_ERR_NOMEM;
    hmi_saddle_place(&s->saddle, n, m, true, memory);
    if (s->sim->solve.series_options && !s->sim->solve.series_options->inverse)
        s->saddle.padded = 0;
    s->saddle.A = s->A;
    s->saddle.left_out = s->sim->dense.dynamics->left_out;
    return HM_OK;
}

hm_status hmi_taylor_solver_init(hmi_taylor_solver *s, hm_sim *sim, hmi_arena *arena)
{
    const hmi_derived *d = &sim->system->derived;
    *s = (hmi_taylor_solver){.sim = sim};
    hm_status status = allocate(s, (int)d->n, (int)d->constraints.count, arena);
    s->saddle.diagonal = is_diagonal(&d->M);
    return status;
}

hm_status hmi_taylor_solver_init_alone(hmi_taylor_solver *s, hm_sim *sim, size_t n,
                                       hmi_arena *arena)
{
    *s = (hmi_taylor_solver){.sim = sim, .alone = true};
    return allocate(s, (int)n, 0, arena);
}

/* ---- the rank-revealing way ---- */

static void solve_by_rank(hmi_taylor_solver *s, const double *r, const double *b, double *a,
                          double *lambda)
{
    hmi_dynamics *d = s->sim->dense.dynamics;
    size_t mark = d->scratch_used;
    double *force = hmi_take(d, (size_t)d->n), *right = hmi_take(d, (size_t)d->m);
    double *x = hmi_take(d, (size_t)d->n), *l = hmi_take(d, (size_t)d->m);
    hmi_times(d->n, d->D, r, force);
    for (int k = 0; k < d->m; k++)
        right[k] = d->R[d->order[k]] * b[d->order[k]];
    hmi_solve_scaled(d, force, right, x, l);
    hmi_times(d->n, d->D, x, a);
    for (int k = 0; k < d->m; k++)
        lambda[d->order[k]] = k < d->rank ? d->R[d->order[k]] * l[k] : 0;
    d->scratch_used = mark;
}

static hm_status factor_by_rank(hmi_taylor_solver *s, const double *M, const double *r,
                                const double *b)
{
    hmi_equations equations = {.M = M, .Q = r, .A = s->A, .b = b};
    hmi_options options = hmi_options_default();
    hmi_solution solution;
    options.formulation = s->sim->solve.formulation;
    options.refinements = 2;
    return hmi_dynamics_solve(s->sim->dense.dynamics, &equations, &options, &solution);
}

/* ---- both ---- */

static bool factor_well(hmi_taylor_solver *s, const double *M)
{
    if (s->sim->solve.formulation != HM_FORMULATION_AUTO)
        return false;
    return s->saddle.padded ? hmi_saddle_invert(&s->saddle, M) : hmi_saddle_factor(&s->saddle, M);
}

hm_status hmi_taylor_factor(hmi_taylor_solver *s, const double *M, const double *right,
                            double *answer)
{
    const double *b = right + s->saddle.n;
    double *lambda = answer + s->saddle.n;
    s->saddle.inverted = false;
    s->fast = factor_well(s, M);
    if (s->fast) {
        hmi_taylor_solve(s, right, answer);
        s->fast = hmi_saddle_accepts(&s->saddle, M, b, answer, lambda);
    }
    if (s->fast)
        return HM_OK;
    s->saddle.inverted = false;
    if (s->alone)
        return HM_ERR_NUMERIC;
    hm_status status = factor_by_rank(s, M, right, b);
    if (status == HM_OK)
        solve_by_rank(s, right, b, answer, lambda);
    return status;
}

void hmi_taylor_solve(hmi_taylor_solver *s, const double *right, double *answer)
{
    const double *b = right + s->saddle.n;
    double *lambda = answer + s->saddle.n;
    if (s->saddle.inverted)
        hmi_saddle_multiply(&s->saddle, right, answer);
    else if (s->fast)
        hmi_saddle_solve(&s->saddle, right, b, answer, lambda);
    else
        solve_by_rank(s, right, b, answer, lambda);
}
