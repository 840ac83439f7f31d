/* The hot loop: q'' and lambda of a well-conditioned system, straight.
 *
 *     M = L E L^T,   W = L^-1 A^T,   G = W^T E^-1 W,
 *     G lambda = b - W^T E^-1 L^-1 Q,   q'' = L^-T E^-1 (L^-1 Q + W lambda)
 *
 * One reciprocal a pivot, no square roots, updates of contiguous rows. The quotient of a pivot and
 * the diagonal element it is left of does not depend on units; where one is below 1e-5 (the Gram
 * matrix squares the condition, so that is a loss of five digits) the rank-revealing solve takes
 * over.
 *
 * Where M is not positive, M + A^T V A is tried in its place (V > 0 diagonal): if
 * it is positive, M is positive on the null space of A and the accelerations are those of M, since
 * A q'' = b makes the added force A^T V b - A^T V A q'' vanish [UW (2.7) by a shorter way].
 * Quaternions go here. Verified: test/unit/dynamics/test_accelerate.c
 */
#include "dynamics/formulations/workspace.h"

#define WELL_CONDITIONED 1e-5

/* y -= t x: independent elements, so that nothing waits for a sum */
static inline void subtract(int n, double t, const double *restrict x, double *restrict y)
{
    for (int i = 0; i < n; i++)
        y[i] -= t * x[i];
}

/* Lower triangle of M -> unit lower L (strictly below the diagonal) and 1/E; `column` is scratch.
 * The diagonal is kept aside first: each pivot is compared with the element it is left of. */
static bool factor(int n, double *restrict M, double *restrict inverse, double *restrict column)
{
    for (int i = 0; i < n; i++)
        inverse[i] = WELL_CONDITIONED * M[(size_t)i * (size_t)n + (size_t)i];
    for (int k = 0; k < n; k++) {
        double pivot = M[(size_t)k * (size_t)n + (size_t)k];
        if (!(pivot > inverse[k]) || !(inverse[k] > 0))
            return false;
        inverse[k] = 1 / pivot;
        for (int i = k + 1; i < n; i++) {
            double *restrict row = M + (size_t)i * (size_t)n;
            column[i] = row[k];
            row[k] *= inverse[k];
            subtract(i - k, row[k], column + k + 1, row + k + 1);
        }
    }
    return true;
}

/* x := L^-1 x */
static inline void forward(int n, const double *restrict L, double *restrict x)
{
    for (int i = 1; i < n; i++) {
        const double *restrict row = L + (size_t)i * (size_t)n;
        double s = x[i];
        for (int k = 0; k < i; k++)
            s -= row[k] * x[k];
        x[i] = s;
    }
}

/* x := L^-T x */
static inline void backward(int n, const double *restrict L, double *restrict x)
{
    for (int i = n - 1; i > 0; i--)
        subtract(i, x[i], L + (size_t)i * (size_t)n, x);
}

/* Memory of the fast path, all in the workspace's scratch. */
typedef struct fast {
    double *L, *inverse, *column; /* n x n, n, max(n, m) */
    double *W;                    /* n x m: L^-1 A^T */
    double *G, *gram_inverse;     /* m x m, m */
    double *z;                    /* n */
    const bool *left_out;         /* m: these rows count as rows of zeros with multiplier 0 */
} fast;

/* f->W := L^-1 A^T */
static void spread_rows(int n, int m, const fast *f, const double *restrict A)
{
    for (int j = 0; j < n; j++) {
        double *restrict w = f->W + (size_t)j * (size_t)m;
        const double *restrict row = f->L + (size_t)j * (size_t)n;
        for (int i = 0; i < m; i++)
            w[i] = f->left_out[i] ? 0 : A[(size_t)i * (size_t)n + (size_t)j];
        for (int k = 0; k < j; k++)
            subtract(m, row[k], f->W + (size_t)k * (size_t)m, w);
    }
}

/* lambda from G lambda = b - W^T E^-1 z */
static bool find_multipliers(int n, int m, const fast *f, const double *restrict b,
                             double *restrict lambda)
{
    for (int i = 0; i < m; i++) {
        lambda[i] = f->left_out[i] ? 0 : b[i];
        for (int k = 0; k <= i; k++)
            f->G[(size_t)i * (size_t)m + (size_t)k] = 0;
    }
    for (int j = 0; j < n; j++) {
        const double *restrict w = f->W + (size_t)j * (size_t)m;
        subtract(m, f->z[j] * f->inverse[j], w, lambda);
        for (int i = 0; i < m; i++)
            subtract(i + 1, -w[i] * f->inverse[j], w, f->G + (size_t)i * (size_t)m);
    }
    for (int i = 0; i < m; i++)
        if (f->left_out[i])
            f->G[(size_t)i * (size_t)m + (size_t)i] = 1;
    if (!factor(m, f->G, f->gram_inverse, f->column))
        return false;
    forward(m, f->G, lambda);
    for (int i = 0; i < m; i++)
        lambda[i] *= f->gram_inverse[i];
    backward(m, f->G, lambda);
    return true;
}

/* |row i| |q''| in the metric of the factored mass: what the terms of the row would be but for their
 * directions. */
static double natural_size(int n, int m, const fast *f, int i, const double *restrict qdd)
{
    double row = 0, motion = 0;
    for (int j = 0; j < n; j++) {
        double w = f->W[(size_t)j * (size_t)m + (size_t)i], y = qdd[j];
        for (int k = j + 1; k < n; k++)
            y += f->L[(size_t)k * (size_t)n + (size_t)j] * qdd[k];
        row += w * w * f->inverse[j];
        motion += y * y / f->inverse[j];
    }
    return sqrt(row) * sqrt(motion);
}

/* Where inertias of M + A^T V A are of very different size (a quaternion near 1, 0, 0, 0) every pivot
 * is fine in its own unit and yet q'' is lost: A q'' = b tells. Rows whose terms are all zero but for
 * rounding are judged by their natural size. */
static bool meets_rows(int n, int m, const fast *f, const double *restrict A,
                       const double *restrict b, const double *restrict qdd)
{
    for (int i = 0; i < m; i++) {
        if (f->left_out[i])
            continue;
        const double *restrict row = A + (size_t)i * (size_t)n;
        double rest = b[i], size = fabs(b[i]);
        for (int j = 0; j < n; j++) {
            double term = row[j] * qdd[j];
            rest -= term;
            size += fabs(term);
        }
        if (!(fabs(rest) <= 1e-11 * size) && !(fabs(rest) <= 1e-14 * natural_size(n, m, f, i, qdd)))
            return false;
    }
    return true;
}

/* f->L factored, f->z = L^-1 Q: finishes q''. */
static bool finish(int n, int m, const fast *f, const double *restrict A, const double *restrict b,
                   double *restrict qdd, double *restrict lambda)
{
    spread_rows(n, m, f, A);
    if (!find_multipliers(n, m, f, b, lambda))
        return false;
    double sum = 0;
    for (int j = 0; j < n; j++) {
        const double *restrict w = f->W + (size_t)j * (size_t)m;
        double s = f->z[j];
        for (int i = 0; i < m; i++)
            s += lambda[i] * w[i];
        qdd[j] = s * f->inverse[j];
    }
    backward(n, f->L, qdd);
    if (!meets_rows(n, m, f, A, b, qdd))
        return false;
    for (int j = 0; j < n; j++)
        sum += qdd[j] * 0;
    for (int i = 0; i < m; i++)
        sum += lambda[i] * 0;
    return sum == 0; /* all finite */
}

/* V_i: a row shall weigh as much as the inertias it holds, 1 / Sum A_ij^2/M_jj; a row that holds
 * none takes the largest inertia. */
static double row_weight(int n, const double *M, const double *row, double largest)
{
    double compliance = 0, square = 0;
    for (int j = 0; j < n; j++) {
        double inertia = M[(size_t)j * (size_t)n + (size_t)j];
        square += row[j] * row[j];
        if (inertia > 0)
            compliance += row[j] * row[j] / inertia;
    }
    if (compliance > 0)
        return 1 / compliance;
    return square > 0 ? (largest > 0 ? largest : 1) / square : 0;
}

/* f->L := M + A^T V A, f->z := Q + A^T V b */
static void shift(int n, int m, const fast *f, const double *M, const double *Q, const double *A,
                  const double *b)
{
    double largest = 0;
    memcpy(f->L, M, (size_t)n * (size_t)n * sizeof *M);
    memcpy(f->z, Q, (size_t)n * sizeof *Q);
    for (int j = 0; j < n; j++)
        largest = fmax(largest, M[(size_t)j * (size_t)n + (size_t)j]);
    for (int i = 0; i < m; i++) {
        const double *row = A + (size_t)i * (size_t)n;
        double weight = f->left_out[i] ? 0 : row_weight(n, M, row, largest);
        for (int j = 0; j < n; j++) {
            double t = weight * row[j];
            f->z[j] += t * b[i];
            for (int k = 0; k <= j; k++)
                f->L[(size_t)j * (size_t)n + (size_t)k] += t * row[k];
        }
    }
}

/* Everything else: hmi_dynamics_solve. */
static hm_status take_over(hmi_dynamics *d, const double *M, const double *Q, const double *A,
                           const double *b, double *qdd, double *lambda)
{
    hmi_equations equations = {.M = M, .Q = Q, .A = A, .b = b};
    hmi_options options = hmi_options_default();
    hmi_solution solution;
    options.refinements = 2;
    options.rank_tolerance = d->accelerate_rank;
    hm_status status = hmi_dynamics_solve(d, &equations, &options, &solution);
    hmi_copy(d->n, solution.qdd, qdd);
    if (lambda)
        hmi_copy(d->m, solution.lambda, lambda);
    return status;
}

hm_status hmi_accelerate(hmi_dynamics *d, const double *restrict M, const double *restrict Q,
                         const double *restrict A, const double *restrict b, double *restrict qdd,
                         double *restrict lambda)
{
    size_t n = (size_t)d->n, m = (size_t)d->m;
    double *memory = d->scratch;
    fast f = {.L = memory, .inverse = memory + n * n, .z = memory + n * n + n};
    f.left_out = d->left_out;
    f.column = f.z + n;
    f.W = f.column + n + m;
    f.G = f.W + m * n;
    f.gram_inverse = f.G + m * m;
    double *l = lambda ? lambda : f.gram_inverse + m;
    memcpy(f.L, M, n * n * sizeof *M);
    memcpy(f.z, Q, n * sizeof *Q);
    bool factored = factor(d->n, f.L, f.inverse, f.column);
    if (!factored && m > 0) {
        shift(d->n, d->m, &f, M, Q, A, b);
        factored = factor(d->n, f.L, f.inverse, f.column);
    }
    if (factored) {
        forward(d->n, f.L, f.z);
        if (finish(d->n, d->m, &f, A, b, qdd, l))
            return HM_OK;
    }
    return take_over(d, M, Q, A, b, qdd, lambda);
}
