/* The solve of one step's orders: factored once. See taylor.h.
 *
 * As in dynamics/formulations/accelerate.c:  M = L E L^T,  W = L^-1 A^T,  G = W^T E^-1 W,  where every scaled
 * pivot is above 1e-5, M + A^T V A in place of M where that helps (A a = b makes the added force
 * A^T V b at every order); else the rank-revealing workspace of dynamics/ is factored and used with
 * its independent rows.
 */
#include "integrate/taylor/taylor.h"

#include "dynamics/formulations/workspace.h"

#define WELL_CONDITIONED 1e-5

static double *doubles(hmi_arena *arena, size_t count, bool *failed)
{
    double *memory = hmi_arena_alloc(arena, (count + 1) * sizeof *memory);
    *failed |= !memory;
    return memory;
}

static bool is_diagonal(const hmi_expr_matrix *M)
{
    for (size_t i = 0; i < M->rows; i++)
        for (size_t k = M->start[i]; k < M->start[i + 1]; k++)
            if (M->column.data[k] != i)
                return false;
    return true;
}

static hm_status allocate(hmi_taylor_solver *s, hmi_arena *arena)
{
    size_t n = (size_t)s->n, m = (size_t)s->m;
    bool failed = false;
    s->L = doubles(arena, n * n, &failed);
    s->LT = doubles(arena, n * n, &failed);
    s->inverse = doubles(arena, n, &failed);
    s->column = doubles(arena, n + m, &failed);
    s->A = doubles(arena, m * n, &failed);
    s->W = doubles(arena, m * n, &failed);
    s->G = doubles(arena, m * m, &failed);
    s->GT = doubles(arena, m * m, &failed);
    s->gram_inverse = doubles(arena, m, &failed);
    s->weight = doubles(arena, m, &failed);
    s->z = doubles(arena, n, &failed);
    if (n + m <= HMI_TAYLOR_MOST_INVERTED)
        s->padded = ((int)(n + m) + 3) / 4 * 4;
    s->K = doubles(arena, (n + m) * (size_t)s->padded, &failed);
    s->diagonal_of = doubles(arena, n + m, &failed);
    return failed ? HM_ERR_NOMEM : HM_OK;
}

hm_status hmi_taylor_solver_init(hmi_taylor_solver *s, hm_sim *sim, hmi_arena *arena)
{
    const hmi_derived *d = &sim->system->derived;
    *s = (hmi_taylor_solver){.sim = sim, .n = (int)d->n, .m = (int)d->constraints.count};
    s->diagonal = is_diagonal(&d->M);
    return allocate(s, arena);
}

hm_status hmi_taylor_solver_init_alone(hmi_taylor_solver *s, hm_sim *sim, size_t n,
                                       hmi_arena *arena)
{
    *s = (hmi_taylor_solver){.sim = sim, .n = (int)n, .alone = true};
    return allocate(s, arena);
}

/* ---- the fast way ---- */

/* y -= t x */
static inline void subtract(int n, double t, const double *restrict x, double *restrict y)
{
    for (int i = 0; i < n; i++)
        y[i] -= t * x[i];
}

/* Lower triangle -> unit lower L, 1/E, and L^T beside it; false where a pivot is small. */
static bool factor(int n, double *restrict M, double *restrict T, double *restrict inverse,
                   double *restrict column)
{
    for (int i = 0; i < n; i++)
        inverse[i] = WELL_CONDITIONED * M[hmi_area(i, n) + (size_t)i];
    for (int k = 0; k < n; k++) {
        double pivot = M[hmi_area(k, n) + (size_t)k];
        if (!(pivot > inverse[k]) || !(inverse[k] > 0))
            return false;
        inverse[k] = 1 / pivot;
        for (int i = k + 1; i < n; i++) {
            double *restrict row = M + hmi_area(i, n);
            column[i] = row[k];
            row[k] *= inverse[k];
            T[hmi_area(k, n) + (size_t)i] = row[k];
            subtract(i - k, row[k], column + k + 1, row + k + 1);
        }
    }
    return true;
}

/* x := L^-1 x, by columns so that nothing waits for a sum */
static inline void forward(int n, const double *restrict T, double *restrict x)
{
    for (int k = 0; k + 1 < n; k++)
        subtract(n - k - 1, x[k], T + hmi_area(k, n) + k + 1, x + k + 1);
}

/* x := L^-T x */
static inline void backward(int n, const double *restrict L, double *restrict x)
{
    for (int i = n - 1; i > 0; i--)
        subtract(i, x[i], L + hmi_area(i, n), x);
}

static void spread_rows(hmi_taylor_solver *s)
{
    int n = s->n, m = s->m;
    const bool *left_out = s->sim->dense.dynamics->left_out;
    for (int j = 0; j < n; j++) {
        double *restrict w = s->W + hmi_area(j, m);
        for (int i = 0; i < m; i++)
            w[i] = left_out[i] ? 0 : s->A[hmi_area(i, n) + (size_t)j];
        for (int k = 0; k < j && !(s->diagonal && !s->shifted); k++)
            subtract(m, s->L[hmi_area(j, n) + (size_t)k], s->W + hmi_area(k, m), w);
    }
}

static void form_gram(hmi_taylor_solver *s)
{
    int n = s->n, m = s->m;
    for (int i = 0; i < m * m; i++)
        s->G[i] = 0;
    for (int j = 0; j < n; j++) {
        const double *restrict w = s->W + hmi_area(j, m);
        for (int i = 0; i < m; i++)
            subtract(i + 1, -w[i] * s->inverse[j], w, s->G + hmi_area(i, m));
    }
    for (int i = 0; i < m; i++) /* rows of zeros */
        if (s->sim->dense.dynamics->left_out[i])
            s->G[hmi_area(i, m) + (size_t)i] = 1;
}

/* s->L := M + A^T V A */
static void shift(hmi_taylor_solver *s, const double *M)
{
    int n = s->n;
    hmi_copy(n * n, M, s->L);
    hmi_taylor_weigh_rows(s, M);
    for (int i = 0; i < s->m; i++) {
        const double *row = s->A + hmi_area(i, n);
        for (int j = 0; j < n; j++)
            for (int k = 0; k <= j; k++)
                s->L[hmi_area(j, n) + (size_t)k] += s->weight[i] * row[j] * row[k];
    }
}

static void solve_fast(hmi_taylor_solver *s, const double *r, const double *b, double *a,
                       double *lambda)
{
    int n = s->n, m = s->m;
    bool plain = s->diagonal && !s->shifted;
    const bool *left_out = s->sim->dense.dynamics->left_out;
    double *restrict z = s->z;
    hmi_copy(n, r, z);
    for (int i = 0; s->shifted && i < m; i++)
        hmi_axpy(n, s->weight[i] * b[i], s->A + hmi_area(i, n), z);
    if (!plain)
        forward(n, s->LT, z);
    for (int i = 0; i < m; i++)
        lambda[i] = left_out[i] ? 0 : b[i];
    for (int j = 0; m > 0 && j < n; j++)
        subtract(m, z[j] * s->inverse[j], s->W + hmi_area(j, m), lambda);
    forward(m, s->GT, lambda);
    for (int i = 0; i < m; i++)
        lambda[i] *= s->gram_inverse[i];
    backward(m, s->G, lambda);
    for (int j = 0; j < n; j++)
        a[j] = (z[j] + hmi_dot(m, s->W + hmi_area(j, m), lambda)) * s->inverse[j];
    if (!plain)
        backward(n, s->L, a);
}

static bool factor_fast(hmi_taylor_solver *s, const double *M)
{
    int n = s->n, m = s->m;
    s->shifted = false;
    hmi_copy(n * n, M, s->L);
    bool good = factor(n, s->L, s->LT, s->inverse, s->column);
    if (!good && m > 0) {
        s->shifted = true;
        shift(s, M);
        good = factor(n, s->L, s->LT, s->inverse, s->column);
    }
    if (!good)
        return false;
    spread_rows(s);
    form_gram(s);
    return factor(m, s->G, s->GT, s->gram_inverse, s->column);
}

/* As in dynamics/formulations/accelerate.c. */
static double natural_size(const hmi_taylor_solver *s, int i, const double *M, const double *a)
{
    if (s->inverted)
        return hmi_taylor_natural_size(s, i, M, a);
    int n = s->n, m = s->m;
    bool plain = s->diagonal && !s->shifted;
    double row = 0, motion = 0;
    for (int j = 0; j < n; j++) {
        double w = s->W[hmi_area(j, m) + (size_t)i], y = a[j];
        for (int k = j + 1; k < n && !plain; k++)
            y += s->L[hmi_area(k, n) + (size_t)j] * a[k];
        row += w * w * s->inverse[j];
        motion += y * y / s->inverse[j];
    }
    return sqrt(row) * sqrt(motion);
}

/* A a = b, and all is finite: pivots alone do not tell (dynamics/formulations/accelerate.c). */
static bool answer_is_good(const hmi_taylor_solver *s, const double *M, const double *b,
                           const double *a, const double *lambda)
{
    int n = s->n;
    for (int i = 0; i < s->m; i++) {
        if (s->sim->dense.dynamics->left_out[i])
            continue;
        double rest = b[i], size = fabs(b[i]);
        for (int j = 0; j < n; j++) {
            double term = s->A[hmi_area(i, n) + (size_t)j] * a[j];
            rest -= term;
            size += fabs(term);
        }
        if (!(fabs(rest) <= 1e-11 * size) && !(fabs(rest) <= 1e-14 * natural_size(s, i, M, a)))
            return false;
    }
    return hmi_all_finite(n, a) && hmi_all_finite(s->m, lambda);
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
    if (s->sim->solve.formulation != HMI_AUTO)
        return false;
    return s->padded ? hmi_taylor_invert(s, M) : factor_fast(s, M);
}

hm_status hmi_taylor_factor(hmi_taylor_solver *s, const double *M, const double *right,
                            double *answer)
{
    const double *b = right + s->n;
    double *lambda = answer + s->n;
    s->inverted = false;
    s->fast = factor_well(s, M);
    if (s->fast) {
        hmi_taylor_solve(s, right, answer);
        s->fast = answer_is_good(s, M, b, answer, lambda);
    }
    if (s->fast)
        return HM_OK;
    s->inverted = false;
    if (s->alone)
        return HM_ERR_NUMERIC;
    hm_status status = factor_by_rank(s, M, right, b);
    if (status == HM_OK)
        solve_by_rank(s, right, b, answer, lambda);
    return status;
}

void hmi_taylor_solve(hmi_taylor_solver *s, const double *right, double *answer)
{
    if (s->inverted)
        hmi_taylor_multiply(s, right, answer);
    else if (s->fast)
        solve_fast(s, right, right + s->n, answer, answer + s->n);
    else
        solve_by_rank(s, right, right + s->n, answer, answer + s->n);
}
