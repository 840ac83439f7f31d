/* The saddle-point problem by L E L^T of the mass matrix and of the Gram matrix. saddle.h has the
 * mathematics.
 *
 *     ---- triangular factors ----    factor, forward, backward
 *     ---- the shift ----             weights V, M + A^T V A
 *     ---- factor and solve ----      W, the Gram matrix, one right side
 *     ---- the acceptance test ----
 */
#include "linalg/saddle.h"

#include "linalg/tolerances.h"

/* ---- memory ---- */

size_t hmi_saddle_doubles(int n, int m, bool many)
{
    size_t all = (size_t)n + (size_t)m;
    size_t count = hmi_area(n, n) + hmi_area(n, m) + hmi_area(m, m) + 3 * all;
    if (!many)
        return count;
    count += hmi_area(n, n) + hmi_area(m, m);
    return all <= HMI_SADDLE_MOST_INVERTED ? count + all * ((all + 3) / 4 * 4) + all : count;
}

void hmi_saddle_place(hmi_saddle *s, int n, int m, bool many, double *memory)
{
    *s = (hmi_saddle){.n = n, .m = m, .L = memory};
    s->inverse = s->L + hmi_area(n, n);
    s->z = s->inverse + n;
    s->column = s->z + n;
    s->W = s->column + n + m;
    s->G = s->W + hmi_area(n, m);
    s->gram_inverse = s->G + hmi_area(m, m);
    s->weight = s->gram_inverse + m;
    if (!many)
        return;
    s->LT = s->weight + m;
    s->GT = s->LT + hmi_area(n, n);
    if (n + m <= HMI_SADDLE_MOST_INVERTED) {
        s->padded = (n + m + 3) / 4 * 4;
        s->K = s->GT + hmi_area(m, m);
        s->diagonal_of = s->K + hmi_area(n + m, s->padded);
    }
}

/* ---- triangular factors ---- */

/* y -= t x. The elements are independent, so that nothing waits for a sum. */
static inline void subtract(int n, double t, const double *restrict x, double *restrict y)
{
    for (int i = 0; i < n; i++)
        y[i] -= t * x[i];
}

/* Lower triangle of M -> unit lower L (strictly below the diagonal) and 1/E. `column` is scratch. The
 * diagonal is kept aside first: each pivot is compared with the element it is the remainder of. */
static bool factor(int n, double *restrict M, double *restrict inverse, double *restrict column)
{
    for (int i = 0; i < n; i++)
        inverse[i] = HMI_WELL_CONDITIONED * M[hmi_area(i, n) + (size_t)i];
    for (int k = 0; k < n; k++) {
        double pivot = M[hmi_area(k, n) + (size_t)k];
        if (!(pivot > inverse[k]) || !(inverse[k] > 0))
            return false;
        inverse[k] = 1 / pivot;
        for (int i = k + 1; i < n; i++) {
            double *restrict row = M + hmi_area(i, n);
            column[i] = row[k];
            row[k] *= inverse[k];
            subtract(i - k, row[k], column + k + 1, row + k + 1);
        }
    }
    return true;
}

/* T := L^T, strictly above the diagonal */
static void transpose(int n, const double *restrict L, double *restrict T)
{
    for (int i = 1; i < n; i++)
        for (int k = 0; k < i; k++)
            T[hmi_area(k, n) + (size_t)i] = L[hmi_area(i, n) + (size_t)k];
}

/* x := L^-1 x. Without L^T (NULL) by rows, with it by columns: the same bits, and nothing waits. */
static inline void forward(int n, const double *restrict L, const double *restrict T,
                           double *restrict x)
{
    for (int k = 0; T && k + 1 < n; k++)
        subtract(n - k - 1, x[k], T + hmi_area(k, n) + k + 1, x + k + 1);
    for (int i = 1; !T && i < n; i++) {
        const double *restrict row = L + hmi_area(i, n);
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
        subtract(i, x[i], L + hmi_area(i, n), x);
}

/* ---- the shift ---- */

/* V_i: a row shall weigh as much as the inertias it holds, 1 / Sum A_ij^2/M_jj; a row that holds
 * none takes the largest inertia. */
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

void hmi_saddle_weigh_rows(hmi_saddle *s, const double *M)
{
    int n = s->n;
    double largest = 0;
    for (int j = 0; j < n; j++)
        largest = fmax(largest, M[hmi_area(j, n) + (size_t)j]);
    for (int i = 0; i < s->m; i++)
        s->weight[i] = s->left_out[i] ? 0 : row_weight(n, M, s->A + hmi_area(i, n), largest);
}

/* s->L := M + A^T V A */
static void shift(hmi_saddle *s, const double *M)
{
    int n = s->n;
    hmi_copy(n * n, M, s->L);
    hmi_saddle_weigh_rows(s, M);
    for (int i = 0; i < s->m; i++) {
        const double *row = s->A + hmi_area(i, n);
        for (int j = 0; j < n; j++)
            hmi_axpy(j + 1, s->weight[i] * row[j], row, s->L + hmi_area(j, n));
    }
}

/* s->z := r + A^T V b */
static void add_shift_force(const hmi_saddle *s, const double *b)
{
    for (int i = 0; i < s->m; i++) {
        const double *row = s->A + hmi_area(i, s->n);
        for (int j = 0; j < s->n; j++)
            s->z[j] += s->weight[i] * row[j] * b[i];
    }
}

/* ---- factor and solve ---- */

/* L is the identity. */
static inline bool is_plain(const hmi_saddle *s)
{
    return s->diagonal && !s->shifted;
}

/* W := L^-1 A^T */
static void spread_rows(const hmi_saddle *s)
{
    int n = s->n, m = s->m;
    bool plain = is_plain(s);
    for (int j = 0; j < n; j++) {
        double *restrict w = s->W + hmi_area(j, m);
        const double *restrict row = s->L + hmi_area(j, n);
        for (int i = 0; i < m; i++)
            w[i] = s->left_out[i] ? 0 : s->A[hmi_area(i, n) + (size_t)j];
        for (int k = 0; !plain && k < j; k++)
            subtract(m, row[k], s->W + hmi_area(k, m), w);
    }
}

/* The lower triangle of G := W^T E^-1 W; rows that are left out become rows of the identity. */
static void form_gram(const hmi_saddle *s)
{
    int n = s->n, m = s->m;
    for (int i = 0; i < m; i++)
        hmi_zero(i + 1, s->G + hmi_area(i, m));
    for (int j = 0; j < n; j++) {
        const double *restrict w = s->W + hmi_area(j, m);
        for (int i = 0; i < m; i++)
            subtract(i + 1, -w[i] * s->inverse[j], w, s->G + hmi_area(i, m));
    }
    for (int i = 0; i < m; i++)
        if (s->left_out[i])
            s->G[hmi_area(i, m) + (size_t)i] = 1;
}

bool hmi_saddle_factor(hmi_saddle *s, const double *M)
{
    s->shifted = s->inverted = false;
    hmi_copy(s->n * s->n, M, s->L);
    bool good = factor(s->n, s->L, s->inverse, s->column);
    if (!good && s->m > 0) {
        s->shifted = true;
        shift(s, M);
        good = factor(s->n, s->L, s->inverse, s->column);
    }
    if (!good)
        return false;
    spread_rows(s);
    form_gram(s);
    good = factor(s->m, s->G, s->gram_inverse, s->column);
    if (s->LT) {
        transpose(s->n, s->L, s->LT);
        transpose(s->m, s->G, s->GT);
    }
    return good;
}

/* lambda from G lambda = b - W^T E^-1 z */
static void find_multipliers(const hmi_saddle *s, const double *restrict b, double *restrict lambda)
{
    int n = s->n, m = s->m;
    for (int i = 0; i < m; i++)
        lambda[i] = s->left_out[i] ? 0 : b[i];
    for (int j = 0; j < n; j++)
        subtract(m, s->z[j] * s->inverse[j], s->W + hmi_area(j, m), lambda);
    forward(m, s->G, s->GT, lambda);
    for (int i = 0; i < m; i++)
        lambda[i] *= s->gram_inverse[i];
    backward(m, s->G, lambda);
}

void hmi_saddle_solve(const hmi_saddle *s, const double *r, const double *b, double *a,
                      double *lambda)
{
    int n = s->n, m = s->m;
    hmi_copy(n, r, s->z);
    if (s->shifted)
        add_shift_force(s, b);
    if (!is_plain(s))
        forward(n, s->L, s->LT, s->z);
    if (m > 0)
        find_multipliers(s, b, lambda);
    for (int j = 0; j < n; j++) {
        const double *restrict w = s->W + hmi_area(j, m);
        double sum = s->z[j];
        for (int i = 0; i < m; i++)
            sum += lambda[i] * w[i];
        a[j] = sum * s->inverse[j];
    }
    if (!is_plain(s))
        backward(n, s->L, a);
}

/* ---- the acceptance test ---- */

/* |row i| |a| in the metric of the factored mass: what the terms of the row would be but for their
 * directions. */
static double natural_size(const hmi_saddle *s, int i, const double *M, const double *a)
{
    int n = s->n, m = s->m;
    double row = 0, motion = 0;
    if (s->inverted)
        return hmi_saddle_inverse_size(s, i, M, a);
    for (int j = 0; j < n; j++) {
        double w = s->W[hmi_area(j, m) + (size_t)i], y = a[j];
        for (int k = j + 1; k < n && !is_plain(s); k++)
            y += s->L[hmi_area(k, n) + (size_t)j] * a[k];
        row += w * w * s->inverse[j];
        motion += y * y / s->inverse[j];
    }
    return sqrt(row) * sqrt(motion);
}

/* Rows whose terms are all zero but for rounding are judged by their natural size. */
static bool meets_row(const hmi_saddle *s, int i, const double *M, const double *restrict b,
                      const double *restrict a)
{
    const double *restrict row = s->A + hmi_area(i, s->n);
    double rest = b[i], size = fabs(b[i]);
    for (int j = 0; j < s->n; j++) {
        double term = row[j] * a[j];
        rest -= term;
        size += fabs(term);
    }
    return fabs(rest) <= HMI_ROW_MET * size ||
           fabs(rest) <= HMI_ROW_MET_NATURALLY * natural_size(s, i, M, a);
}

bool hmi_saddle_accepts(const hmi_saddle *s, const double *M, const double *b, const double *a,
                        const double *lambda)
{
    for (int i = 0; i < s->m; i++)
        if (!s->left_out[i] && !meets_row(s, i, M, b, a))
            return false;
    return hmi_all_finite(s->n, a) && hmi_all_finite(s->m, lambda);
}
