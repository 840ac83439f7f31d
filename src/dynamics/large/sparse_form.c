/* Finds the order of elimination of a large sparse system and puts its numbers into that order. */
#include "dynamics/large/sparse_form.h"

#include "linalg/order.h"
#include "base/sort.h"

#define MOST_FILL (1u << 28) /* entries of L */
enum { MOST_SQUARES = 64 };

/* ---- patterns ---- */

static int compare_indices(const void *x, const void *y)
{
    const uint32_t *a = x, *b = y;
    return *a < *b ? -1 : *a > *b;
}

/* Calls for every entry off the diagonal, some twice. */
typedef void (*entry_function)(void *user, uint32_t i, uint32_t j);

static void each_entry(const hmi_sparse_shape *shape, bool squares, entry_function f, void *user)
{
    for (size_t i = 0; i < shape->n; i++)
        for (size_t k = shape->M_start[i]; k < shape->M_start[i + 1]; k++)
            if (shape->M_column[k] != i)
                f(user, (uint32_t)i, shape->M_column[k]);
    for (size_t i = 0; i < shape->m; i++)
        for (size_t k = shape->A_start[i]; k < shape->A_start[i + 1]; k++) {
            f(user, (uint32_t)(shape->n + i), shape->A_column[k]);
            for (size_t h = shape->A_start[i]; squares && h < k; h++)
                f(user, shape->A_column[k], shape->A_column[h]);
        }
}

typedef struct adjacency {
    size_t *start;
    uint32_t *neighbour;
    size_t *next;
} adjacency;

static void count_entry(void *user, uint32_t i, uint32_t j)
{
    adjacency *a = user;
    a->start[i + 1]++;
    a->start[j + 1]++;
}

static void add_entry(void *user, uint32_t i, uint32_t j)
{
    adjacency *a = user;
    a->neighbour[a->next[i]++] = j;
    a->neighbour[a->next[j]++] = i;
}

/* Neighbours of every unknown, ascending and once each. */
static bool find_neighbours(const hmi_sparse_shape *shape, bool squares, hmi_arena *arena,
                            adjacency *a)
{
    size_t count = shape->n + shape->m, kept = 0;
    a->start = hmi_arena_alloc(arena, (count + 2) * sizeof *a->start);
    a->next = hmi_arena_alloc(arena, (count + 1) * sizeof *a->next);
    if (!a->start || !a->next)
        return false;
    each_entry(shape, squares, count_entry, a);
    for (size_t i = 0; i < count; i++) {
        a->start[i + 1] += a->start[i];
        a->next[i] = a->start[i];
    }
    a->neighbour = hmi_arena_alloc(arena, (a->start[count] + 1) * sizeof *a->neighbour);
    if (!a->neighbour)
        return false;
    each_entry(shape, squares, add_entry, a);
    for (size_t i = 0, first = 0; i < count; i++) {
        size_t end = a->start[i + 1];
        hmi_sort(a->neighbour + first, end - first, sizeof *a->neighbour, compare_indices);
        a->start[i] = kept;
        for (size_t k = first; k < end; k++)
            if (k == first || a->neighbour[k] != a->neighbour[k - 1])
                a->neighbour[kept++] = a->neighbour[k];
        first = end;
    }
    a->start[count] = kept;
    return true;
}

/* ---- the matrix in order ---- */

static bool lay_out(hmi_sparse_form *form, const adjacency *a, size_t count)
{
    size_t at = 0;
    form->start = hmi_arena_alloc(&form->arena, (count + 2) * sizeof *form->start);
    form->column = hmi_arena_alloc(&form->arena,
                                   (a->start[count] / 2 + count + 1) * sizeof *form->column);
    form->value = hmi_arena_alloc(&form->arena,
                                  (a->start[count] / 2 + count + 1) * sizeof *form->value);
    if (!form->start || !form->column || !form->value)
        return false;
    for (size_t k = 0; k < count; k++) {
        size_t i = form->unknown[k], first = at;
        form->start[k] = at;
        for (size_t p = a->start[i]; p < a->start[i + 1]; p++)
            if (form->place[a->neighbour[p]] < k)
                form->column[at++] = form->place[a->neighbour[p]];
        hmi_sort(form->column + first, at - first, sizeof *form->column, compare_indices);
        form->column[at++] = (uint32_t)k;
    }
    form->start[count] = at;
    return true;
}

/* Where the entry of unknowns i and j is. */
static size_t find_entry(const hmi_sparse_form *form, size_t i, size_t j)
{
    uint32_t row = form->place[i], column = form->place[j];
    if (row < column) {
        uint32_t kept = row;
        row = column;
        column = kept;
    }
    size_t low = form->start[row], high = form->start[row + 1];
    while (high - low > 1) {
        size_t middle = (low + high) / 2;
        if (form->column[middle] <= column)
            low = middle;
        else
            high = middle;
    }
    return low;
}

static size_t count_squares(const hmi_sparse_shape *shape)
{
    size_t count = 0;
    for (size_t i = 0; i < shape->m; i++) {
        size_t length = shape->A_start[i + 1] - shape->A_start[i];
        count += length * (length + 1) / 2;
    }
    return count;
}

static bool connect(hmi_sparse_form *form, const hmi_sparse_shape *shape)
{
    size_t n = shape->n, m = shape->m, next = 0;
    form->M_at = hmi_arena_alloc(&form->arena, (shape->M_start[n] + 1) * sizeof *form->M_at);
    form->A_at = hmi_arena_alloc(&form->arena, (shape->A_start[m] + 1) * sizeof *form->A_at);
    form->sign = hmi_arena_alloc(&form->arena, n + m + 1);
    form->may_drop = hmi_arena_alloc(&form->arena, n + m + 1);
    size_t squares = form->shifted ? count_squares(shape) : 0;
    form->square_at = hmi_arena_alloc(&form->arena, (squares + 1) * sizeof *form->square_at);
    if (!form->M_at || !form->A_at || !form->sign || !form->may_drop || !form->square_at)
        return false;
    for (size_t i = 0; i < n; i++)
        for (size_t k = shape->M_start[i]; k < shape->M_start[i + 1]; k++)
            form->M_at[k] = find_entry(form, i, shape->M_column[k]);
    for (size_t i = 0; i < m; i++)
        for (size_t k = shape->A_start[i]; k < shape->A_start[i + 1]; k++) {
            form->A_at[k] = find_entry(form, n + i, shape->A_column[k]);
            for (size_t h = shape->A_start[i]; form->shifted && h <= k; h++)
                form->square_at[next++] = find_entry(form, shape->A_column[k], shape->A_column[h]);
        }
    for (size_t k = 0; k < n + m; k++) {
        form->may_drop[k] = form->unknown[k] >= n;
        form->sign[k] = form->may_drop[k] ? -1 : 1;
    }
    return true;
}

hm_status hmi_sparse_form_make(hmi_sparse_form *form, const hm_allocator *allocator,
                               const hmi_sparse_shape *shape)
{
    size_t count = shape->n + shape->m;
    hmi_arena work;
    adjacency a;
    if (form->shifted && count_squares(shape) > MOST_SQUARES * (shape->A_start[shape->m] + 1))
        return HM_ERR_LIMIT;
    hmi_arena_init(&work, allocator);
    form->place = hmi_arena_alloc(&form->arena, (count + 1) * sizeof *form->place);
    form->unknown = hmi_arena_alloc(&form->arena, (count + 1) * sizeof *form->unknown);
    hm_status status = form->place && form->unknown &&
                               find_neighbours(shape, form->shifted, &work, &a)
                           ? HM_OK
                           : HM_ERR_NOMEM;
    if (status == HM_OK) {
        const hmi_pattern pattern = {count, a.start, a.neighbour};
        status = hmi_order_minimum_degree(allocator, &pattern, shape->n, form->unknown);
    }
    for (size_t k = 0; k < count && status == HM_OK; k++)
        form->place[form->unknown[k]] = (uint32_t)k;
    if (status == HM_OK && (!lay_out(form, &a, count) || !connect(form, shape)))
        status = HM_ERR_NOMEM;
    hmi_arena_release(&work);
    if (status != HM_OK)
        return status;
    const hmi_lower lower = {count, form->start, form->column};
    status = hmi_ldlt_sparse_init(&form->ldlt, allocator, &form->arena, &lower, MOST_FILL);
    form->made = status == HM_OK;
    return status;
}
