/* Sparse L D L^T, row by row (up-looking) [Davis 2005, "Algorithm 849"]: see sparse.h. */
#include "linalg/sparse.h"

#include <math.h>
#include <string.h>

#define NONE SIZE_MAX

/* Columns of row k of L: the nodes on the paths from its entries up the elimination tree, which is
 * built on the way. Calls for each with `count` or `place`. */
typedef struct symbolic {
    size_t *parent, *flag;
} symbolic;

static void count_row(const hmi_lower *G, size_t k, symbolic *s, size_t *per_column,
                      size_t *per_row)
{
    s->parent[k] = NONE;
    s->flag[k] = k;
    for (size_t p = G->start[k]; p < G->start[k + 1]; p++)
        for (size_t i = G->column[p]; i < k && s->flag[i] != k; i = s->parent[i]) {
            if (s->parent[i] == NONE)
                s->parent[i] = k;
            s->flag[i] = k;
            per_column[i]++;
            per_row[k]++;
        }
}

/* The columns of a row come as several ascending paths; they are merged by going through the rows
 * of all columns in order instead of sorting: row lists are filled column by column. */
static void place_rows(hmi_ldlt_sparse *f, symbolic *s)
{
    for (size_t k = 0; k < f->count; k++) {
        s->flag[k] = k;
        for (size_t p = f->G.start[k]; p < f->G.start[k + 1]; p++)
            for (size_t i = f->G.column[p]; i < k && s->flag[i] != k; i = s->parent[i]) {
                s->flag[i] = k;
                f->row[f->column_start[i] + f->fill[i]++] = (uint32_t)k;
            }
    }
    memset(f->fill, 0, f->count * sizeof *f->fill);
    for (size_t j = 0; j < f->count; j++)
        for (size_t p = f->column_start[j]; p < f->column_start[j + 1]; p++) {
            uint32_t k = f->row[p];
            f->column[f->row_start[k] + f->fill[k]++] = (uint32_t)j;
        }
    memset(f->fill, 0, f->count * sizeof *f->fill);
}

static hm_status allocate(hmi_ldlt_sparse *f, hmi_arena *arena, size_t entries)
{
    f->row = hmi_arena_alloc(arena, (entries + 1) * sizeof *f->row);
    f->column = hmi_arena_alloc(arena, (entries + 1) * sizeof *f->column);
    f->value = hmi_arena_alloc(arena, (entries + 1) * sizeof *f->value);
    f->inverse = hmi_arena_alloc(arena, (f->count + 1) * sizeof *f->inverse);
    f->accumulator = hmi_arena_alloc(arena, (f->count + 1) * sizeof *f->accumulator);
    return f->row && f->column && f->value && f->inverse && f->accumulator ? HM_OK : HM_ERR_NOMEM;
}

static hm_status analyse(hmi_ldlt_sparse *f, hmi_arena *arena, symbolic *s, size_t most)
{
    size_t entries = 0;
    for (size_t k = 0; k < f->count; k++)
        count_row(&f->G, k, s, f->column_start + 1, f->row_start + 1);
    for (size_t k = 0; k < f->count; k++) {
        f->column_start[k + 1] += f->column_start[k];
        f->row_start[k + 1] += f->row_start[k];
    }
    entries = f->column_start[f->count];
    if (entries > most)
        return HM_ERR_LIMIT;
    hm_status status = allocate(f, arena, entries);
    if (status == HM_OK)
        place_rows(f, s);
    return status;
}

hm_status hmi_ldlt_sparse_init(hmi_ldlt_sparse *f, const hm_allocator *allocator, hmi_arena *arena,
                               const hmi_lower *G, size_t most)
{
    size_t count = G->count;
    hmi_arena work;
    hmi_arena_init(&work, allocator);
    *f = (hmi_ldlt_sparse){.count = count, .G = *G};
    symbolic s = {.parent = hmi_arena_alloc(&work, (count + 1) * sizeof *s.parent),
                  .flag = hmi_arena_alloc(&work, (count + 1) * sizeof *s.flag)};
    f->column_start = hmi_arena_alloc(arena, (count + 2) * sizeof *f->column_start);
    f->row_start = hmi_arena_alloc(arena, (count + 2) * sizeof *f->row_start);
    f->fill = hmi_arena_alloc(arena, (count + 1) * sizeof *f->fill);
    hm_status status = HM_ERR_NOMEM;
    if (s.parent && s.flag && f->column_start && f->row_start && f->fill)
        status = analyse(f, arena, &s, most);
    hmi_arena_release(&work);
    return status;
}

/* ---- numbers ---- */

/* The pivot of row k is known, with the size of its terms: keep, drop or refuse it. */
static bool judge_pivot(hmi_ldlt_sparse *f, size_t k, double pivot, double size,
                        hmi_pivoting *pivoting)
{
    double expected = pivoting->sign && pivoting->sign[k] < 0 ? -pivot : pivot;
    bool can_drop = pivoting->may_drop && pivoting->may_drop[k];
    double ratio = size > 0 ? expected / size : 0;
    if (can_drop ? ratio < pivoting->drop : !(ratio > pivoting->refuse)) {
        f->inverse[k] = 0;
        pivoting->dropped += can_drop;
        pivoting->refused = k;
        return can_drop;
    }
    f->inverse[k] = 1 / pivot;
    pivoting->smallest = ratio < pivoting->smallest ? ratio : pivoting->smallest;
    return true;
}

bool hmi_ldlt_sparse_factor(hmi_ldlt_sparse *f, const double *values, hmi_pivoting *pivoting)
{
    const hmi_lower *G = &f->G;
    double *restrict y = f->accumulator;
    bool good = true;
    pivoting->smallest = INFINITY;
    pivoting->dropped = 0;
    memset(f->fill, 0, f->count * sizeof *f->fill);
    for (size_t k = 0; k < f->count && good; k++) {
        double pivot = 0, size;
        for (size_t p = G->start[k]; p < G->start[k + 1]; p++) {
            if (G->column[p] == k)
                pivot = values[p];
            else
                y[G->column[p]] = values[p];
        }
        size = fabs(pivot);
        for (size_t r = f->row_start[k]; r < f->row_start[k + 1]; r++) {
            size_t j = f->column[r], first = f->column_start[j], end = first + f->fill[j];
            double yj = y[j], l = yj * f->inverse[j], term = l * yj;
            y[j] = 0;
            for (size_t p = first; p < end; p++)
                y[f->row[p]] -= f->value[p] * yj;
            pivot -= term;
            size += fabs(term);
            f->value[end] = l;
            f->fill[j]++;
        }
        good = judge_pivot(f, k, pivot, size, pivoting);
    }
    return good;
}

void hmi_ldlt_sparse_forward(const hmi_ldlt_sparse *f, double *restrict x)
{
    for (size_t j = 0; j < f->count; j++)
        for (size_t p = f->column_start[j]; p < f->column_start[j + 1]; p++)
            x[f->row[p]] -= f->value[p] * x[j];
}

void hmi_ldlt_sparse_backward(const hmi_ldlt_sparse *f, double *restrict x)
{
    for (size_t j = f->count; j-- > 0;) {
        double sum = x[j] * f->inverse[j];
        for (size_t p = f->column_start[j]; p < f->column_start[j + 1]; p++)
            sum -= f->value[p] * x[f->row[p]];
        x[j] = sum;
    }
}

void hmi_ldlt_sparse_solve(const hmi_ldlt_sparse *f, double *x)
{
    hmi_ldlt_sparse_forward(f, x);
    hmi_ldlt_sparse_backward(f, x);
}
