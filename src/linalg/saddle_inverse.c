/* The saddle-point problem of small systems by its inverse: one product per right side.
 *
 *     P = [M  -A^T; A  0],   (a, lambda) = P^-1 (r, b),
 * by Gauss-Jordan steps on P^T in place, which leaves the columns of P^-1 as rows. Pivots are those of
 * M = L E L^T and of the Gram matrix, in their order, and are judged as in saddle.c. Where M has none,
 * M + A^T V A stands in for it, with A a = b. Rows that are left out have lambda = 0.
 */
#include "linalg/saddle.h"

#include "linalg/tolerances.h"

#define INLINE __attribute__((always_inline)) static inline

typedef double block __attribute__((vector_size(32), aligned(8), may_alias));

/* ---- P^T ---- */

static void fill(const hmi_saddle *s, const double *M, double *P)
{
    int n = s->n, m = s->m, p = s->padded;
    for (int i = 0; i < n; i++) {
        double *row = P + hmi_area(i, p);
        for (int j = 0; j < n; j++)
            row[j] = M[hmi_area(i, n) + (size_t)j];
        for (int k = 0; k < m; k++)
            row[n + k] = s->left_out[k] ? 0 : s->A[hmi_area(k, n) + (size_t)i];
        for (int j = n + m; j < p; j++)
            row[j] = 0;
    }
    for (int k = 0; k < m; k++) {
        double *row = P + hmi_area(n + k, p);
        for (int j = 0; j < n; j++)
            row[j] = s->left_out[k] ? 0 : -s->A[hmi_area(k, n) + (size_t)j];
        for (int j = n; j < p; j++)
            row[j] = 0;
        row[n + k] = s->left_out[k];
    }
}

/* M + A^T V A. */
static void add_rows(const hmi_saddle *s, double *P)
{
    int n = s->n;
    for (int i = 0; i < s->m; i++) {
        const double *row = s->A + hmi_area(i, n);
        for (int j = 0; j < n; j++)
            for (int k = 0; k < n; k++)
                P[hmi_area(j, s->padded) + (size_t)k] += s->weight[i] * row[j] * row[k];
    }
}

/* ---- the inverse ---- */

/* Step k of the elimination, with 1/pivot. Numbers of a block are never stored one by one: a block that
 * is loaded soon after that has to wait. */
INLINE void take_pivot(int size, int blocks, int k, double inverse, double *P)
{
    static const double units[7] = {0, 0, 0, 1, 0, 0, 0};
    const block one = {1, 1, 1, 1};
    block row[4], keep[4]; /* 1/pivot of row k, its own place filled in; 0 at place k */
    for (int j = 0; j < blocks; j++) {
        const block unit = *(const block *)(units + 3 - k % 4) * (double)(j == k / 4);
        keep[j] = one - unit;
        row[j] = (((block *)(P + hmi_area(k, 4 * blocks)))[j] * keep[j] + unit) * inverse;
    }
    for (int i = 0; i < size; i++) {
        block *other = (block *)(P + hmi_area(i, 4 * blocks));
        double t = P[hmi_area(i, 4 * blocks) + (size_t)k];
        for (int j = 0; j < blocks && i == k; j++)
            other[j] = row[j];
        if (i == k || t == 0) /* much of a matrix is 0 */
            continue;
        for (int j = 0; j < blocks; j++)
            other[j] = other[j] * keep[j] - t * row[j];
    }
}

INLINE bool eliminate(hmi_saddle *s, int blocks)
{
    int n = s->n, size = s->n + s->m;
    size_t next = 4 * (size_t)blocks + 1;
    for (int k = 0; k < size; k++) {
        for (int i = k; (k == 0 || k == n) && i < size; i++)
            s->diagonal_of[i] = s->K[(size_t)i * next];
        double pivot = s->K[(size_t)k * next], least = HMI_WELL_CONDITIONED * s->diagonal_of[k];
        if (!(pivot > least) || !(least > 0))
            return false;
        take_pivot(size, blocks, k, 1 / pivot, s->K);
    }
    return true;
}

INLINE bool eliminate_by_size(hmi_saddle *s)
{
    switch (s->padded) {
    case 4:
        return eliminate(s, 1);
    case 8:
        return eliminate(s, 2);
    case 12:
        return eliminate(s, 3);
    default:
        return eliminate(s, 4);
    }
}

static bool eliminate_plain(hmi_saddle *s)
{
    return eliminate_by_size(s);
}

#if defined(__x86_64__) && defined(__GNUC__)
/* Without fused multiply-add: the same bits. */
__attribute__((target("avx2"))) static bool eliminate_avx2(hmi_saddle *s)
{
    return eliminate_by_size(s);
}
#else
#define eliminate_avx2 eliminate_plain
#endif

static bool invert(hmi_saddle *s)
{
    return s->fused ? eliminate_avx2(s) : eliminate_plain(s);
}

/* Answers to b: the added force A^T V b, and no lambda of rows left out. */
static void correct_columns(hmi_saddle *s)
{
    int n = s->n, p = s->padded;
    for (int i = 0; i < s->m; i++) {
        double *column = s->K + hmi_area(n + i, p);
        for (int j = 0; s->shifted && j < n; j++)
            hmi_axpy(p, s->weight[i] * s->A[hmi_area(i, n) + (size_t)j], s->K + hmi_area(j, p),
                     column);
        if (s->left_out[i])
            column[n + i] = 0;
    }
}

bool hmi_saddle_invert(hmi_saddle *s, const double *M)
{
    s->shifted = false;
    fill(s, M, s->K);
    bool good = invert(s);
    if (!good && s->m > 0) {
        s->shifted = true;
        hmi_saddle_weigh_rows(s, M);
        fill(s, M, s->K);
        add_rows(s, s->K);
        good = invert(s);
    }
    if (good)
        correct_columns(s);
    return s->inverted = good;
}

/* sqrt(A_i M^-1 A_i^T) sqrt(a.M a), by the matrix that was inverted. */
double hmi_saddle_inverse_size(const hmi_saddle *s, int i, const double *M, const double *a)
{
    int n = s->n;
    double motion = 0;
    for (int j = 0; j < n; j++)
        motion += a[j] * hmi_dot(n, M + hmi_area(j, n), a);
    for (int k = 0; s->shifted && k < s->m; k++) {
        double speed = hmi_dot(n, s->A + hmi_area(k, n), a);
        motion += s->weight[k] * speed * speed;
    }
    return sqrt(fmax(s->diagonal_of[n + i], 0)) * sqrt(fmax(motion, 0));
}

/* ---- products ---- */

/* answer := K right, in `blocks` of four: even columns, odd columns, both, as machine code does. */
INLINE void multiply(const hmi_saddle *s, int blocks, bool fused, const double *right,
                     double *answer)
{
    double sum[2][HMI_SADDLE_MOST_INVERTED];
    const double *K = s->K;
    for (int j = 0; j < s->n + s->m; j++, K += 4 * blocks)
        for (int i = 0; i < 4 * blocks; i++)
            sum[j % 2][i] = j < 2   ? K[i] * right[j]
                            : fused ? __builtin_fma(K[i], right[j], sum[j % 2][i])
                                    : K[i] * right[j] + sum[j % 2][i];
    for (int i = 0; i < 4 * blocks; i++) /* the caller's memory comes in blocks of four */
        answer[i] = s->n + s->m > 1 ? sum[0][i] + sum[1][i] : sum[0][i];
}

static void multiply_plain(const hmi_saddle *s, const double *right, double *answer)
{
    multiply(s, s->padded / 4, false, right, answer);
}

#if defined(__x86_64__) && defined(__GNUC__)
__attribute__((target("avx2,fma"))) static void multiply_fused(const hmi_saddle *s,
                                                               const double *right, double *answer)
{
    multiply(s, s->padded / 4, true, right, answer);
}
#else
#define multiply_fused multiply_plain
#endif

void hmi_saddle_multiply(const hmi_saddle *s, const double *right, double *answer)
{
    if (s->fused)
        multiply_fused(s, right, answer);
    else
        multiply_plain(s, right, answer);
}
