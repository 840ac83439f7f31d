/* Which rows the compiled solve may drop: see dependent_rows.h. */
#include "dynamics/large/dependent_rows.h"

#include "linalg/tolerances.h"

#include <math.h>
#include <string.h>

#define NEGLIGIBLE 1e-13 /* a coefficient of another row, for rows of length 1 */
#define DEPENDENT  1e-9  /* what the others leave of a row */

static void find_entries(const hmi_ldlt_sparse *f, size_t *entry, size_t *filled)
{
    for (size_t j = 0; j < f->count; j++)
        for (size_t p = f->column_start[j]; p < f->column_start[j + 1]; p++) {
            uint32_t k = f->row[p];
            entry[f->row_start[k] + filled[k]++] = p;
        }
}

bool hmi_dependent_rows_init(hmi_dependent_rows *rows, hmi_arena *arena,
                             const hmi_block_schur *schur, const hmi_ldlt_sparse *ldlt)
{
    bool failed = false;
    *rows = (hmi_dependent_rows){.m = schur->m};
    rows->may_drop = hmi_arena_alloc(arena, schur->m + 1);
    rows->confirmed = hmi_arena_alloc(arena, schur->m + 1);
    rows->x = hmi_arena_doubles(arena, schur->m, &failed);
    rows->rest = hmi_arena_doubles(arena, schur->n, &failed);
    if (failed || !rows->may_drop || !rows->confirmed)
        return false;
    memset(rows->may_drop, 1, schur->m);
    if (!ldlt)
        return true;
    size_t *filled = hmi_arena_alloc(arena, (schur->m + 1) * sizeof *filled);
    rows->entry = hmi_arena_alloc(arena, (ldlt->row_start[schur->m] + 1) * sizeof *rows->entry);
    if (!filled || !rows->entry)
        return false;
    find_entries(ldlt, rows->entry, filled);
    return true;
}

/* ---- along the motion ---- */

bool hmi_dependent_rows_agree(hmi_dependent_rows *rows, const double *inverse, const double *y,
                              const double *diagonal, const size_t *diagonal_at)
{
    double largest = 0, worst = 0;
    bool known = true;
    rows->dropped = 0;
    for (size_t k = 0; k < rows->m; k++) {
        if (inverse[k] != 0) {
            largest = fmax(largest, y[k] * y[k] * inverse[k]);
            continue;
        }
        double own = diagonal[diagonal_at ? diagonal_at[k + 1] - 1 : k];
        known = known && rows->confirmed[k];
        rows->dropped++;
        if (y[k] != 0)
            worst = fmax(worst, own > 0 ? y[k] * y[k] / own : INFINITY);
    }
    rows->doubtful = !known;
    return known && worst <= HMI_CONTRADICTION * HMI_CONTRADICTION * largest;
}

/* ---- without squaring ---- */

/* x_i -= L_ji w for the columns i of row j; returns how many were zero before. */
static size_t spread(const hmi_dependent_rows *rows, const hmi_gram_factor *f, size_t j, double w)
{
    size_t m = rows->m, width = f->schur->width, fresh = 0;
    if (!f->ldlt) {
        for (size_t d = 1; d <= width && d <= j; d++) {
            fresh += rows->x[j - d] == 0 && f->band[d * m + j] != 0;
            rows->x[j - d] -= f->band[d * m + j] * w;
        }
        return fresh;
    }
    for (size_t p = f->ldlt->row_start[j]; p < f->ldlt->row_start[j + 1]; p++) {
        double l = f->ldlt->value[rows->entry[p]], *x = &rows->x[f->ldlt->column[p]];
        fresh += *x == 0 && l != 0;
        *x -= l * w;
    }
    return fresh;
}

/* rest += w times a row of the model */
static void add_row(const hmi_dependent_rows *rows, const hmi_sparse_shape *shape, const double *A,
                    size_t row, double w)
{
    for (size_t p = shape->A_start[row]; p < shape->A_start[row + 1]; p++)
        rows->rest[shape->A_column[p]] += w * A[p];
}

/* sqrt(1/M_jj), where there is such an inertia. */
static double unit_of(const hmi_sparse_shape *shape, const double *M, size_t j)
{
    for (size_t p = shape->M_start[j]; p < shape->M_start[j + 1]; p++)
        if (shape->M_column[p] == j && M[p] > 0)
            return 1 / sqrt(M[p]);
    return 1;
}

/* The largest of what is left in the columns of a row, and clears it. */
static double take_rest(const hmi_dependent_rows *rows, const hmi_sparse_shape *shape,
                        const double *M, size_t row)
{
    double largest = 0;
    for (size_t p = shape->A_start[row]; p < shape->A_start[row + 1]; p++) {
        size_t j = shape->A_column[p];
        largest = fmax(largest, fabs(rows->rest[j]) * unit_of(shape, M, j));
        rows->rest[j] = 0;
    }
    return largest;
}

static double row_size(const hmi_sparse_shape *shape, const double *M, const double *A, size_t row)
{
    double largest = 0;
    for (size_t p = shape->A_start[row]; p < shape->A_start[row + 1]; p++)
        largest = fmax(largest, fabs(A[p]) * unit_of(shape, M, shape->A_column[p]));
    return largest;
}

/* Row k of G's order less the combination of rows before it that L says it is. */
static double distance(hmi_dependent_rows *rows, const hmi_gram_factor *f,
                       const hmi_sparse_shape *shape, const double *M, const double *A, size_t k)
{
    const uint32_t *order = f->schur->order;
    double own = row_size(shape, M, A, order[k]), left = 0;
    size_t waiting = spread(rows, f, k, -1), first = k;
    add_row(rows, shape, A, order[k], 1);
    for (size_t j = k; j-- > 0 && waiting > 0;) {
        double w = rows->x[j];
        if (w == 0)
            continue;
        waiting--;
        rows->x[j] = 0;
        first = j;
        if (f->inverse[j] == 0 || fabs(w) * row_size(shape, M, A, order[j]) <= NEGLIGIBLE * own)
            continue;
        waiting += spread(rows, f, j, w);
        add_row(rows, shape, A, order[j], -w);
    }
    memset(rows->x + first, 0, (k - first) * sizeof *rows->x);
    for (size_t j = first; j <= k; j++)
        left = fmax(left, take_rest(rows, shape, M, order[j]));
    return own > 0 ? left / own : 0;
}

void hmi_dependent_rows_confirm(hmi_dependent_rows *rows, const hmi_gram_factor *f,
                                const hmi_sparse_shape *shape, const double *M, const double *A)
{
    for (size_t k = 0; k < rows->m; k++)
        if (f->inverse[k] == 0)
            rows->confirmed[k] = distance(rows, f, shape, M, A, k) <= DEPENDENT;
    rows->doubtful = false;
}
