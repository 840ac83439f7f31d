/* The sparse products of rows at two states and their signs: see row_products.h. */
#include "integrate/rank/row_products.h"

#include "base/sort.h"
#include "linalg/order.h"

#include <math.h>
#include <string.h>

enum { MOST_TERMS = 64 }; /* products for each stored entry of A: beyond, B is dense */
#define MOST_FILL (1u << 26)
#define ROUNDING  1e-12 /* a pivot of rows of unit length */
#define DEPENDENT 1e-14 /* the same at one state: the square of a sine */

/* One term of an entry of B: entries of the two rows. */
typedef struct term {
    uint32_t own, other;
} term;

struct hmi_row_products {
    hmi_row_pattern rows;
    uint32_t *order, *place; /* of rows in B, and back */
    hmi_lower pattern;
    size_t *term_start; /* by stored entry of B */
    term *terms;
    double *below, *above; /* B below its diagonal, and what mirrors it; the diagonal in both */
    hmi_ldlt_sparse f;     /* L, D and the symbolic part */
    double *V, *y, *z;     /* V^T beside L; accumulators, zero between calls */
};

const hmi_row_pattern *hmi_row_products_pattern(const hmi_row_products *p)
{
    return &p->rows;
}

double hmi_row_products_cost(const hmi_row_products *p)
{
    double sum = 0;
    for (size_t j = 0; j < p->f.count; j++) {
        double length = (double)(p->f.column_start[j + 1] - p->f.column_start[j]);
        sum += 2 * length * length + 4 * length;
    }
    return sum + 2 * (double)p->term_start[p->pattern.start[p->rows.m]];
}

/* ---- the pattern of A A^T ---- */

typedef struct columns {
    size_t *start; /* n + 1 */
    uint32_t *row; /* that have an entry there, ascending */
} columns;

static bool find_columns(const hmi_row_pattern *rows, hmi_arena *work, columns *c)
{
    size_t entries = rows->start[rows->m];
    c->start = hmi_arena_alloc(work, (rows->n + 2) * sizeof *c->start);
    c->row = hmi_arena_alloc(work, (entries + 1) * sizeof *c->row);
    size_t *next = hmi_arena_alloc(work, (rows->n + 1) * sizeof *next);
    if (!c->start || !c->row || !next)
        return false;
    for (size_t e = 0; e < entries; e++)
        c->start[rows->column[e] + 1]++;
    for (size_t j = 0; j < rows->n; j++) {
        c->start[j + 1] += c->start[j];
        next[j] = c->start[j];
    }
    for (size_t i = 0; i < rows->m; i++)
        for (size_t e = rows->start[i]; e < rows->start[i + 1]; e++)
            c->row[next[rows->column[e]]++] = (uint32_t)i;
    return true;
}

static size_t count_terms(const hmi_row_pattern *rows, const columns *c)
{
    size_t terms = 0;
    for (size_t j = 0; j < rows->n; j++)
        terms += (c->start[j + 1] - c->start[j]) * (c->start[j + 1] - c->start[j]);
    return terms;
}

static int compare_indices(const void *x, const void *y)
{
    const uint32_t *a = x, *b = y;
    return *a < *b ? -1 : *a > *b;
}

/* Rows that share a coordinate with each row, ascending and once each. */
static bool find_neighbours(const hmi_row_pattern *rows, const columns *c, hmi_arena *work,
                            size_t most, hmi_pattern *out)
{
    size_t *start = hmi_arena_alloc(work, (rows->m + 2) * sizeof *start);
    uint32_t *neighbour = hmi_arena_alloc(work, (most + 1) * sizeof *neighbour);
    uint32_t *seen = hmi_arena_alloc(work, (rows->m + 1) * sizeof *seen);
    size_t at = 0;
    if (!start || !neighbour || !seen)
        return false;
    for (size_t i = 0; i < rows->m; i++) {
        start[i] = at;
        for (size_t e = rows->start[i]; e < rows->start[i + 1]; e++)
            for (size_t p = c->start[rows->column[e]]; p < c->start[rows->column[e] + 1]; p++) {
                uint32_t k = c->row[p];
                if (k == i || seen[k] == i + 1)
                    continue;
                seen[k] = (uint32_t)i + 1;
                neighbour[at++] = k;
            }
        hmi_sort(neighbour + start[i], at - start[i], sizeof *neighbour, compare_indices);
    }
    start[rows->m] = at;
    *out = (hmi_pattern){rows->m, start, neighbour};
    return true;
}

static bool lay_out(hmi_row_products *p, const hmi_pattern *near, hmi_arena *arena)
{
    size_t m = p->rows.m, at = 0;
    size_t *start = hmi_arena_alloc(arena, (m + 2) * sizeof *start);
    uint32_t *column = hmi_arena_alloc(arena, (near->start[m] / 2 + m + 1) * sizeof *column);
    if (!start || !column)
        return false;
    for (size_t k = 0; k < m; k++) {
        size_t i = p->order[k];
        start[k] = at;
        for (size_t e = near->start[i]; e < near->start[i + 1]; e++)
            if (p->place[near->neighbour[e]] < k)
                column[at++] = p->place[near->neighbour[e]];
        hmi_sort(column + start[k], at - start[k], sizeof *column, compare_indices);
        column[at++] = (uint32_t)k;
    }
    start[m] = at;
    p->pattern = (hmi_lower){m, start, column};
    return true;
}

/* Entries of rows i and k in the same columns: both ascend. NULL: only counts. */
static size_t match(const hmi_row_pattern *rows, size_t i, size_t k, term *terms)
{
    size_t a = rows->start[i], b = rows->start[k], count = 0;
    while (a < rows->start[i + 1] && b < rows->start[k + 1]) {
        if (rows->column[a] == rows->column[b]) {
            if (terms)
                terms[count] = (term){(uint32_t)a, (uint32_t)b};
            count++;
        }
        bool next_a = rows->column[a] <= rows->column[b];
        b += rows->column[b] <= rows->column[a];
        a += next_a;
    }
    return count;
}

static bool find_terms(hmi_row_products *p, hmi_arena *arena)
{
    size_t entries = p->pattern.start[p->rows.m], count = 0;
    p->term_start = hmi_arena_alloc(arena, (entries + 2) * sizeof *p->term_start);
    if (!p->term_start)
        return false;
    for (int pass = 0; pass < 2; pass++) {
        count = 0;
        for (size_t k = 0; k < p->rows.m; k++)
            for (size_t e = p->pattern.start[k]; e < p->pattern.start[k + 1]; e++) {
                p->term_start[e] = count;
                count += match(&p->rows, p->order[k], p->order[p->pattern.column[e]],
                               pass ? p->terms + count : NULL);
            }
        p->term_start[entries] = count;
        if (!pass && !(p->terms = hmi_arena_alloc(arena, (count + 1) * sizeof *p->terms)))
            return false;
    }
    return true;
}

/* ---- creation ---- */

static hm_status choose_order(hmi_row_products *p, const hm_allocator *allocator,
                              const hmi_pattern *near, hmi_arena *arena)
{
    size_t m = p->rows.m;
    p->order = hmi_arena_alloc(arena, (m + 1) * sizeof *p->order);
    p->place = hmi_arena_alloc(arena, (m + 1) * sizeof *p->place);
    if (!p->order || !p->place)
        return HM_ERR_NOMEM;
    hm_status status = hmi_order_minimum_degree(allocator, near, m, p->order);
    for (size_t k = 0; k < m && status == HM_OK; k++)
        p->place[p->order[k]] = (uint32_t)k;
    return status;
}

static hm_status build(hmi_row_products *p, const hm_allocator *allocator, hmi_arena *arena,
                       hmi_arena *work)
{
    columns c;
    hmi_pattern near;
    bool failed = false;
    if (!find_columns(&p->rows, work, &c))
        return HM_ERR_NOMEM;
    size_t terms = count_terms(&p->rows, &c);
    if (terms > MOST_TERMS * (p->rows.start[p->rows.m] + 1))
        return HM_ERR_LIMIT;
    if (!find_neighbours(&p->rows, &c, work, terms, &near))
        return HM_ERR_NOMEM;
    hm_status status = choose_order(p, allocator, &near, arena);
    if (status != HM_OK)
        return status;
    if (!lay_out(p, &near, arena) || !find_terms(p, arena))
        return HM_ERR_NOMEM;
    status = hmi_ldlt_sparse_init(&p->f, allocator, arena, &p->pattern, MOST_FILL);
    if (status != HM_OK)
        return status;
    p->V = hmi_arena_doubles(arena, p->f.column_start[p->rows.m], &failed);
    p->below = hmi_arena_doubles(arena, p->pattern.start[p->rows.m], &failed);
    p->above = hmi_arena_doubles(arena, p->pattern.start[p->rows.m], &failed);
    p->y = hmi_arena_doubles(arena, p->rows.m, &failed);
    p->z = hmi_arena_doubles(arena, p->rows.m, &failed);
    return failed ? HM_ERR_NOMEM : HM_OK;
}

hm_status hmi_row_products_create(const hm_allocator *allocator, hmi_arena *arena,
                                  const hmi_row_pattern *pattern, hmi_row_products **out)
{
    hmi_arena work;
    hmi_row_products *p = hmi_arena_alloc(arena, sizeof *p);
    *out = NULL;
    if (!p)
        return HM_ERR_NOMEM;
    *p = (hmi_row_products){.rows = *pattern};
    hmi_arena_init(&work, allocator);
    hm_status status = build(p, allocator, arena, &work);
    hmi_arena_release(&work);
    if (status == HM_OK)
        *out = p;
    return status == HM_ERR_LIMIT ? HM_OK : status;
}

/* ---- numbers ---- */

static void find_products(hmi_row_products *p, const double *last, const double *now,
                          bool symmetric)
{
    for (size_t e = 0; e < p->pattern.start[p->rows.m]; e++) {
        double below = 0, above = 0;
        for (size_t k = p->term_start[e]; k < p->term_start[e + 1]; k++) {
            const term *t = &p->terms[k];
            below += last[t->own] * now[t->other];
            above += last[t->other] * now[t->own];
        }
        p->below[e] = symmetric ? 0.5 * (below + above) : below;
        p->above[e] = symmetric ? p->below[e] : above;
    }
}

/* Row k of L and column k of V; returns its pivot. Like hmi_ldlt_sparse_factor, for both sides. */
static double factor_row(hmi_row_products *p, size_t k)
{
    hmi_ldlt_sparse *f = &p->f;
    double *restrict y = p->y, *restrict z = p->z, pivot = 0;
    for (size_t e = p->pattern.start[k]; e < p->pattern.start[k + 1]; e++) {
        if (p->pattern.column[e] == k) {
            pivot = p->below[e];
            continue;
        }
        y[p->pattern.column[e]] = p->below[e];
        z[p->pattern.column[e]] = p->above[e];
    }
    if (pivot == 0) /* a row that is not watched */
        pivot = 1;
    for (size_t r = f->row_start[k]; r < f->row_start[k + 1]; r++) {
        size_t j = f->column[r], first = f->column_start[j], end = first + f->fill[j]++;
        double yj = y[j], zj = z[j];
        y[j] = z[j] = 0;
        for (size_t e = first; e < end; e++) {
            y[f->row[e]] -= p->V[e] * yj;
            z[f->row[e]] -= f->value[e] * zj;
        }
        f->value[end] = yj * f->inverse[j];
        p->V[end] = zj * f->inverse[j];
        pivot -= yj * zj * f->inverse[j];
    }
    return pivot;
}

hmi_row_signs hmi_row_products_signs(hmi_row_products *p, const double *last, const double *now,
                                     bool symmetric)
{
    hmi_row_signs signs = {.least = 1, .decided = true};
    find_products(p, last, now, symmetric);
    memset(p->f.fill, 0, p->rows.m * sizeof *p->f.fill);
    for (size_t k = 0; k < p->rows.m; k++) {
        double pivot = factor_row(p, k);
        signs.negative += pivot < 0;
        signs.least = fmin(signs.least, fabs(pivot));
        if (!(fabs(pivot) > ROUNDING))
            signs.decided = false;
        p->f.inverse[k] = fabs(pivot) > ROUNDING ? 1 / pivot : 0;
    }
    return signs;
}

void hmi_row_products_dependent(hmi_row_products *p, const double *rows, bool *dependent)
{
    find_products(p, rows, rows, true);
    memset(p->f.fill, 0, p->rows.m * sizeof *p->f.fill);
    for (size_t k = 0; k < p->rows.m; k++) {
        double pivot = factor_row(p, k);
        dependent[p->order[k]] = !(pivot > DEPENDENT);
        p->f.inverse[k] = pivot > DEPENDENT ? 1 / pivot : 0;
    }
}
