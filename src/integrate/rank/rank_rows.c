/* Compares the rows of constraints at two states by the signs of their products. */
#include "integrate/rank/rank_rows.h"

#include "integrate/ode/ode.h"

#include "linalg/linalg.h"

#include <math.h>
#include <string.h>

/* What dense and sparse rows have in common: `entries` doubles hold them. */
static hm_status allocate(hmi_rank_watch *w, hmi_arena *arena, size_t size, size_t entries)
{
    size_t m = w->m, n = w->n;
    bool failed = false;
    w->row = hmi_arena_alloc(arena, (m + 1) * sizeof *w->row);
    w->now = hmi_arena_doubles(arena, entries, &failed);
    w->last = hmi_arena_doubles(arena, entries, &failed);
    w->end = hmi_arena_doubles(arena, entries, &failed);
    w->longest = hmi_arena_doubles(arena, m, &failed);
    w->length = hmi_arena_doubles(arena, m, &failed);
    w->motion[0] = hmi_arena_doubles(arena, 3 * n, &failed);
    w->motion[1] = hmi_arena_doubles(arena, 3 * n, &failed);
    w->y = hmi_arena_doubles(arena, size + HMI_MOST_WORKS, &failed);
    w->least = hmi_arena_doubles(arena, size, &failed);
    return failed || !w->row ? HM_ERR_NOMEM : HM_OK;
}

hm_status hmi_rank_watch_allocate(hmi_rank_watch *w, hmi_arena *arena, size_t m, size_t n,
                                  size_t size)
{
    bool failed = false;
    w->m = m;
    w->n = n;
    w->pivots = hmi_arena_alloc(arena, (m + 1) * sizeof(int));
    w->product = hmi_arena_doubles(arena, m * m, &failed);
    w->tau = hmi_arena_doubles(arena, m + n, &failed);
    return failed || !w->pivots ? HM_ERR_NOMEM : allocate(w, arena, size, m * n);
}

hm_status hmi_rank_watch_allocate_sparse(hmi_rank_watch *w, hmi_arena *arena,
                                         hmi_row_products *sparse, size_t size)
{
    const hmi_row_pattern *pattern = hmi_row_products_pattern(sparse);
    w->sparse = sparse;
    w->m = pattern->m;
    w->n = pattern->n;
    bool failed = false;
    w->unwatched = hmi_arena_alloc(arena, w->m + 1);
    w->entries = hmi_arena_doubles(arena, pattern->start[w->m], &failed);
    return failed || !w->unwatched ? HM_ERR_NOMEM : allocate(w, arena, size, pattern->start[w->m]);
}

size_t hmi_rank_size(const hmi_rank_watch *w)
{
    return w->sparse ? hmi_row_products_pattern(w->sparse)->start[w->m] : w->count * w->n;
}

void hmi_rank_watch_forget(hmi_rank_watch *w)
{
    w->known = w->close = false;
    w->steps = 0;
}

/* ---- rows ---- */

double hmi_rank_take_row(const double *row, int n, double *unit)
{
    double length = hmi_norm(n, row), inverse = length > 0 ? 1 / length : 0;
    for (int j = 0; j < n; j++)
        unit[j] = row[j] * inverse;
    return length;
}

/* Entries of row k in arrays of rows. */
static size_t entries_of(const hmi_rank_watch *w, size_t k, size_t *first)
{
    const size_t *start = w->sparse ? hmi_row_products_pattern(w->sparse)->start : NULL;
    *first = start ? start[k] : k * w->n;
    return start ? start[k + 1] - start[k] : w->n;
}

static double turned(const hmi_rank_watch *w, size_t k)
{
    size_t first, count = entries_of(w, k, &first);
    return hmi_dot((int)count, w->last + first, w->now + first);
}

static void take_sparse_rows(const hmi_rank_watch *w, const double *all, double *rows)
{
    for (size_t k = 0; k < w->m; k++) {
        size_t first, count = entries_of(w, k, &first);
        w->length[k] = w->unwatched[k] ? 0
                                       : hmi_rank_take_row(all + first, (int)count, rows + first);
        if (w->unwatched[k])
            memset(rows + first, 0, count * sizeof *rows);
    }
}

void hmi_rank_take_rows(const hmi_rank_watch *w, const double *all, double *rows)
{
    if (w->sparse) {
        take_sparse_rows(w, all, rows);
        return;
    }
    for (size_t k = 0; k < w->count; k++)
        w->length[k] = hmi_rank_take_row(all + w->row[k] * w->n, (int)w->n, rows + k * w->n);
}

/* All are there; those that follow from others are not watched. */
static void choose_sparse_rows(hmi_rank_watch *w, const double *all, const bool *left_out,
                               const size_t *model_row)
{
    for (size_t k = 0; k < w->m; k++) {
        w->row[k] = k;
        w->unwatched[k] = left_out && left_out[model_row[k]];
    }
    w->count = w->m;
    take_sparse_rows(w, all, w->now);
    hmi_row_products_dependent(w->sparse, w->now, w->unwatched);
    for (size_t k = 0; k < w->m; k++)
        w->unwatched[k] |= left_out && left_out[model_row[k]];
}

/* At the first state; in their order. */
void hmi_rank_choose_rows(hmi_rank_watch *w, const double *all, const bool *left_out,
                          const size_t *model_row)
{
    size_t n = w->n, m = w->m;
    if (w->sparse) {
        choose_sparse_rows(w, all, left_out, model_row);
        return;
    }
    for (size_t k = 0; k < m; k++)
        w->row[k] = k;
    w->count = m;
    hmi_rank_take_rows(w, all, w->now);
    for (size_t k = 0; k < m; k++)
        if (left_out && left_out[model_row[k]])
            memset(w->now + k * n, 0, n * sizeof *w->now);
    int most = (int)(m < n ? m : n);
    int rank = hmi_qr((int)n, (int)m, w->now, w->tau, w->pivots, most, HMI_DEPENDENT_AT_START);
    w->count = 0;
    for (size_t k = 0; k < m; k++)
        for (int i = 0; i < rank; i++)
            if (w->pivots[i] == (int)k)
                w->row[w->count++] = k;
}

/* Negative eigenvalues of the symmetric part; -1 where a row turned too far to say. */
static int count_negative(hmi_rank_watch *w, int n)
{
    int positive, negative, m = (int)w->count;
    for (int i = 0; i < m; i++)
        for (int k = 0; k <= i; k++) {
            const double *a = w->last + (size_t)i * (size_t)n, *b = w->now + (size_t)k * (size_t)n;
            const double *c = w->now + (size_t)i * (size_t)n, *e = w->last + (size_t)k * (size_t)n;
            double s = 0.5 * (hmi_dot(n, a, b) + hmi_dot(n, c, e));
            w->product[(size_t)i * (size_t)m + (size_t)k] = s;
            if (i == k && s < 0.5)
                return -1;
        }
    if (!hmi_ldlt(m, w->product, w->pivots, 1e-12))
        return -1;
    hmi_ldlt_inertia(m, w->product, w->pivots, &positive, &negative);
    return negative;
}

/* Is the symmetric part of L N^T surely positive, L and N the rows of w->last and w->now? Its diagonal
 * is there. Most of the time it is, and this is cheaper than counting: at once where the rows moved
 * less than the least singular value s of L,
 *     x.L N^T x >= |L^T x| (|L^T x| - |(N - L)^T x|) > 0   for   |N - L| < s. */
static bool is_positive(hmi_rank_watch *w, size_t n)
{
    size_t m = w->count;
    double moved = 0;
    for (size_t i = 0; i < m * n; i++)
        moved += (w->now[i] - w->last[i]) * (w->now[i] - w->last[i]);
    if (moved < 0.9 * w->apart * w->apart)
        return true;
    for (size_t i = 1; i < m; i++)
        for (size_t k = 0; k < i; k++)
            w->product[i * m + k] = 0.5 * (hmi_dot((int)n, w->last + i * n, w->now + k * n) +
                                           hmi_dot((int)n, w->now + i * n, w->last + k * n));
    return hmi_cholesky((int)m, w->product, 1e-9);
}

static bool is_unwatched(const hmi_rank_watch *w, size_t k)
{
    return w->sparse && w->unwatched[k];
}

/* Is there a sign of a drop between the states of w->last and w->now: has a row turned round, or a
 * direction of several changed its sign? */
bool hmi_rank_shows_drop(hmi_rank_watch *w, size_t n)
{
    size_t m = w->count;
    bool too_far = false;
    for (size_t k = 0; k < m; k++) {
        double s = turned(w, k);
        if (s < -0.5)
            return true;
        too_far |= s < 0.5 && !is_unwatched(w, k);
        if (!w->sparse)
            w->product[k * m + k] = s;
    }
    if (w->sparse && !too_far) {
        hmi_row_signs signs = hmi_row_products_signs(w->sparse, w->last, w->now, true);
        return signs.decided && signs.negative > 0;
    }
    return m > 1 && !too_far && !is_positive(w, n) && count_negative(w, (int)n) > 0;
}

/* A lower bound of the least singular value of the rows: 1/|C^-1| by the Cholesky factor C of their
 * products, a column of C^-1 after the other. */
static double least_singular(const hmi_rank_watch *w)
{
    size_t m = w->count;
    const double *C = w->product;
    double *x = w->tau, sum = 0;
    for (size_t j = 0; j < m; j++)
        for (size_t i = j; i < m; i++) {
            double s = i == j ? 1 : 0;
            for (size_t k = j; k < i; k++)
                s -= C[i * m + k] * x[k];
            x[i] = s / C[i * m + i];
            sum += x[i] * x[i];
        }
    return 1 / sqrt(sum);
}

/* 0 where they depend. */
double hmi_rank_least_angle(hmi_rank_watch *w, int n)
{
    int m = (int)w->count;
    double least = 1;
    w->apart = 0;
    if (w->sparse) {
        hmi_row_signs signs = hmi_row_products_signs(w->sparse, w->now, w->now, true);
        return signs.decided ? sqrt(signs.least) : 0;
    }
    for (int i = 0; i < m; i++)
        for (int k = 0; k <= i; k++)
            w->product[(size_t)i * (size_t)m + (size_t)k] = hmi_dot(
                n, w->now + (size_t)i * (size_t)n, w->now + (size_t)k * (size_t)n);
    if (!hmi_cholesky(m, w->product, 0))
        return 0;
    for (int i = 0; i < m; i++)
        least = fmin(least, w->product[(size_t)i * (size_t)m + (size_t)i]);
    w->apart = least_singular(w);
    return least;
}

/* ---- longer ways ---- */

/* Rows made orthonormal in their order (Gram and Schmidt, twice): each becomes the direction in which it
 * goes beyond those before it. */
static void make_orthonormal(size_t count, size_t n, double *rows)
{
    for (size_t i = 0; i < count; i++) {
        double *row = rows + i * n;
        for (int pass = 0; pass < 2; pass++)
            for (size_t k = 0; k < i; k++)
                hmi_axpy((int)n, -hmi_dot((int)n, rows + k * n, row), rows + k * n, row);
        hmi_rank_take_row(row, (int)n, row);
    }
}

void hmi_rank_begin_looking(hmi_rank_watch *w)
{
    if (w->sparse)
        return;
    memcpy(w->end, w->last, w->count * w->n * sizeof(double));
    make_orthonormal(w->count, w->n, w->end);
}

/* The signs of the symmetric part of A_old A_new^T say it for short ways only: directions that are lost
 * slowly do not keep still. */
bool hmi_rank_turned_round(hmi_rank_watch *w)
{
    size_t n = w->n;
    for (size_t k = 0; k < w->count; k++)
        if (turned(w, k) < 0.5 && !is_unwatched(w, k))
            return false;
    if (w->sparse) {
        hmi_row_signs signs = hmi_row_products_signs(w->sparse, w->last, w->now, false);
        return signs.decided && signs.negative > 0;
    }
    make_orthonormal(w->count, n, w->now);
    for (size_t k = 0; k < w->count; k++)
        if (hmi_dot((int)n, w->end + k * n, w->now + k * n) < 0)
            return true;
    return false;
}

bool hmi_rank_rows_independent(hmi_rank_watch *w, const double *all)
{
    hmi_rank_choose_rows(w, all, NULL, NULL);
    return w->count == w->m;
}
