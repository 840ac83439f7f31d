/* The solve of one step's orders: factored once. See taylor.h.
 *
 * As in dynamics/accelerate.c:  M = L E L^T,  W = L^-1 A^T,  G = W^T E^-1 W,  where every scaled
 * pivot is above 1e-5, M + A^T V A in place of M where that helps (A a = b makes the added force
 * A^T V b at every order); else the rank-revealing workspace of dynamics/ is factored and used with
 * its independent rows.
 */
#include "integrate/taylor.h"

#include "dynamics/workspace.h"

#define WELL_CONDITIONED 1e-5

static double *doubles(hmi_arena *arena, size_t count, bool *failed)
{
    double *memory = hmi_arena_alloc(arena, (count + 1) * sizeof *memory);
    *failed |= !memory;
    return memory;
}

static bool is_diagonal(const hmi_sparse *M)
{
    for (size_t i = 0; i < M->rows; i++)
        for (size_t k = M->start[i]; k < M->start[i + 1]; k++)
            if (M->column.data[k] != i)
                return false;
    return true;
}

hm_status hmi_taylor_solver_init(hmi_taylor_solver *s, hm_sim *sim, hmi_arena *arena)
{
    size_t n = sim->system->derived.n, m = sim->system->derived.constraints.count;
    bool failed = false;
    *s = (hmi_taylor_solver){.sim = sim, .n = (int)n, .m = (int)m};
    s->diagonal = is_diagonal(&sim->system->derived.M);
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
    return failed ? HM_ERR_NOMEM : HM_OK;
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
    const bool *left_out = s->sim->dynamics->left_out;
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
        if (s->sim->dynamics->left_out[i])
            s->G[hmi_area(i, m) + (size_t)i] = 1;
}

/* V_i: a row shall weigh as much as the inertias it holds (dynamics/accelerate.c). */
static double row_weight(int n, const double *M, const double *row, double largest)
{
    double compliance = 0, square = 0;
    for (int j = 0; j < n; j++) {
        double inertia = M[hmi_area(j, n) + (size_t)j];
        square += row[j] * row[j];
        if (inertia > 0)
            compliance += row[j] * row[j] / inertia;
    }
    if (compliance > 0)
        return 1 / compliance;
    return square > 0 ? (largest > 0 ? largest : 1) / square : 0;
}

/* s->L := M + A^T V A */
static void shift(hmi_taylor_solver *s, const double *M)
{
    int n = s->n;
    double largest = 0;
    hmi_copy(n * n, M, s->L);
    for (int j = 0; j < n; j++)
        largest = fmax(largest, M[hmi_area(j, n) + (size_t)j]);
    for (int i = 0; i < s->m; i++) {
        const double *row = s->A + hmi_area(i, n);
        s->weight[i] = s->sim->dynamics->left_out[i] ? 0 : row_weight(n, M, row, largest);
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
    const bool *left_out = s->sim->dynamics->left_out;
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

/* As in dynamics/accelerate.c. */
static double natural_size(const hmi_taylor_solver *s, int i, const double *a)
{
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

/* A a = b, and all is finite: pivots alone do not tell (dynamics/accelerate.c). */
static bool answer_is_good(const hmi_taylor_solver *s, const double *b, const double *a,
                           const double *lambda)
{
    int n = s->n;
    for (int i = 0; i < s->m; i++) {
        if (s->sim->dynamics->left_out[i])
            continue;
        double rest = b[i], size = fabs(b[i]);
        for (int j = 0; j < n; j++) {
            double term = s->A[hmi_area(i, n) + (size_t)j] * a[j];
            rest -= term;
            size += fabs(term);
        }
        if (!(fabs(rest) <= 1e-11 * size) && !(fabs(rest) <= 1e-14 * natural_size(s, i, a)))
            return false;
    }
    return hmi_all_finite(n, a) && hmi_all_finite(s->m, lambda);
}

/* ---- the rank-revealing way ---- */

static void solve_by_rank(hmi_taylor_solver *s, const double *r, const double *b, double *a,
                          double *lambda)
{
    hmi_dynamics *d = s->sim->dynamics;
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
    options.formulation = s->sim->formulation;
    options.refinements = 2;
    return hmi_dynamics_solve(s->sim->dynamics, &equations, &options, &solution);
}

/* ---- both ---- */

hm_status hmi_taylor_factor(hmi_taylor_solver *s, const double *M, const double *right,
                            double *answer)
{
    const double *b = right + s->n;
    double *lambda = answer + s->n;
    s->inverted = false;
    s->fast = s->sim->formulation == HMI_AUTO && factor_fast(s, M);
    if (s->fast) {
        solve_fast(s, right, b, answer, lambda);
        s->fast = answer_is_good(s, b, answer, lambda);
    }
    if (s->fast)
        return HM_OK;
    hm_status status = factor_by_rank(s, M, right, b);
    if (status == HM_OK)
        solve_by_rank(s, right, b, answer, lambda);
    return status;
}

void hmi_taylor_solve(hmi_taylor_solver *s, const double *right, double *answer)
{
    if (s->fast)
        solve_fast(s, right, right + s->n, answer, answer + s->n);
    else
        solve_by_rank(s, right, right + s->n, answer, answer + s->n);
}

/* y -= t x, of rows of `padded` numbers. */
static inline void subtract_row(int padded, double t, const double *x, double *y)
{
    for (int k = 0; k < padded; k += 2) { /* two at a time */
        y[k] -= t * x[k];
        y[k + 1] -= t * x[k + 1];
    }
}

/* solve_fast for all unit vectors at once: row i of X is component i of the answers. */
static void answer_units(hmi_taylor_solver *s, double *X)
{
    int n = s->n, m = s->m, p = s->padded;
    double *lambda = X + hmi_area(n, p);
    hmi_zero((n + m) * p, X);
    for (int i = 0; i < n + m; i++)
        X[hmi_area(i, p) + (size_t)i] = i < n || !s->sim->dynamics->left_out[i - n];
    for (int i = 0; s->shifted && i < m; i++)
        for (int j = 0; j < n; j++)
            X[hmi_area(j, p) + (size_t)(n + i)] += s->weight[i] * s->A[hmi_area(i, n) + (size_t)j];
    for (int k = 0; k + 1 < n; k++)
        for (int i = k + 1; i < n; i++)
            subtract_row(p, s->L[hmi_area(i, n) + (size_t)k], X + hmi_area(k, p),
                         X + hmi_area(i, p));
    for (int j = 0; j < n; j++)
        for (int i = 0; i < m; i++)
            subtract_row(p, s->W[hmi_area(j, m) + (size_t)i] * s->inverse[j], X + hmi_area(j, p),
                         lambda + hmi_area(i, p));
    for (int k = 0; k + 1 < m; k++)
        for (int i = k + 1; i < m; i++)
            subtract_row(p, s->G[hmi_area(i, m) + (size_t)k], lambda + hmi_area(k, p),
                         lambda + hmi_area(i, p));
    for (int i = 0; i < m * p; i++)
        lambda[i] *= s->gram_inverse[i / p];
    for (int i = m - 1; i > 0; i--)
        for (int k = 0; k < i; k++)
            subtract_row(p, s->G[hmi_area(i, m) + (size_t)k], lambda + hmi_area(i, p),
                         lambda + hmi_area(k, p));
    for (int j = 0; j < n; j++) {
        for (int i = 0; i < m; i++)
            subtract_row(p, -s->W[hmi_area(j, m) + (size_t)i], lambda + hmi_area(i, p),
                         X + hmi_area(j, p));
        for (int k = 0; k < p; k++)
            X[hmi_area(j, p) + (size_t)k] *= s->inverse[j];
    }
    for (int i = n - 1; i > 0; i--)
        for (int k = 0; k < i; k++)
            subtract_row(p, s->L[hmi_area(i, n) + (size_t)k], X + hmi_area(i, p),
                         X + hmi_area(k, p));
}

/* Column j of the inverse: the answer to the unit vector j. */
bool hmi_taylor_invert(hmi_taylor_solver *s)
{
    if (s->inverted || s->padded == 0 || !s->fast)
        return s->inverted;
    int size = s->n + s->m, p = s->padded;
    double X[HMI_TAYLOR_MOST_INVERTED * HMI_TAYLOR_MOST_INVERTED];
    answer_units(s, X);
    for (int j = 0; j < size; j++)
        for (int i = 0; i < size; i++)
            s->K[hmi_area(j, p) + (size_t)i] = X[hmi_area(i, p) + (size_t)j];
    return s->inverted = true;
}

/* answer := K right, in `blocks` of four: columns one after the other, as machine code does. */
__attribute__((always_inline)) static inline void multiply(const hmi_taylor_solver *s, int blocks,
                                                           bool fused, const double *right,
                                                           double *answer)
{
    double sum[HMI_TAYLOR_MOST_INVERTED] = {0};
    const double *K = s->K;
    for (int j = 0; j < s->n + s->m; j++, K += 4 * blocks)
        for (int i = 0; i < 4 * blocks; i++)
            sum[i] = fused ? __builtin_fma(K[i], right[j], sum[i]) : K[i] * right[j] + sum[i];
    for (int i = 0; i < 4 * blocks; i++) /* the caller's memory comes in blocks of four */
        answer[i] = sum[i];
}

static void multiply_plain(const hmi_taylor_solver *s, const double *right, double *answer)
{
    multiply(s, s->padded / 4, false, right, answer);
}

#if defined(__x86_64__) && defined(__GNUC__)
__attribute__((target("avx2,fma"))) static void multiply_fused(const hmi_taylor_solver *s,
                                                               const double *right, double *answer)
{
    multiply(s, s->padded / 4, true, right, answer);
}
#else
#define multiply_fused multiply_plain
#endif

void hmi_taylor_solve_again(hmi_taylor_solver *s, const double *right, double *answer)
{
    if (!hmi_taylor_invert(s))
        hmi_taylor_solve(s, right, answer);
    else if (s->fused)
        multiply_fused(s, right, answer);
    else
        multiply_plain(s, right, answer);
}
