/* Entries of `mass` that are not constant: they add to M without coming from an energy. */
#include "base/sort.h"
#include "derive/derive_internal.h"

typedef struct extra {
    uint32_t row, column;
    hmi_expr value;
    size_t order; /* as written */
} extra;

static int compare_extras(const void *a, const void *b)
{
    const extra *x = a, *y = b;
    if (x->row != y->row)
        return x->row < y->row ? -1 : 1;
    if (x->column != y->column)
        return x->column < y->column ? -1 : 1;
    return x->order < y->order ? -1 : x->order > y->order;
}

/* Sorted by place, entries of one place added up. */
static size_t collect(hmi_derivation *d, extra *list)
{
    hmi_graph *g = &d->eq->graph;
    const hm_model *model = d->eq->model;
    size_t count = 0, kept = 0;
    for (size_t k = 0; k < model->mass.count; k++) {
        const hmi_pair *pair = &model->mass.data[k];
        if (!(hmi_deps(g, pair->value) & ~HMI_DEP(HMI_SYM_PARAM)))
            continue;
        bool swap = pair->row < pair->column;
        list[count++] = (extra){swap ? pair->column : pair->row, swap ? pair->row : pair->column,
                                pair->value, k};
    }
    hmi_sort(list, count, sizeof *list, compare_extras);
    for (size_t k = 0; k < count; k++) {
        extra *last = kept ? &list[kept - 1] : NULL;
        if (last && last->row == list[k].row && last->column == list[k].column)
            last->value = hmi_add(g, last->value, list[k].value);
        else
            list[kept++] = list[k];
    }
    return kept;
}

/* Merges the sorted extras of row i into the row of M copied from `old`. */
static hm_status merge_row(hmi_derivation *d, const hmi_expr_matrix *old, size_t i,
                           const extra *list, size_t count, size_t *next)
{
    hmi_expr_matrix *M = &d->eq->M;
    size_t k = old->start[i], end = old->start[i + 1];
    hm_status status = HM_OK;
    while (status == HM_OK && (k < end || (*next < count && list[*next].row == i))) {
        bool more = *next < count && list[*next].row == i;
        uint32_t column = k < end ? old->column.data[k] : UINT32_MAX;
        uint32_t extra_column = more ? list[*next].column : UINT32_MAX;
        hmi_expr value = d->eq->graph.zero;
        if (column <= extra_column)
            value = old->value.data[k++];
        if (extra_column <= column)
            value = hmi_add(&d->eq->graph, value, list[(*next)++].value);
        status = hmi_expr_matrix_push(d, M, column < extra_column ? column : extra_column, value);
    }
    M->start[i + 1] = M->column.count;
    return status;
}

hm_status hmi_add_variable_mass(hmi_derivation *d)
{
    hmi_derived *eq = d->eq;
    extra *list = hmi_arena_alloc(&eq->arena, (eq->model->mass.count + 1) * sizeof *list);
    if (!list)
        return HM_ERR_NOMEM;
    size_t count = collect(d, list), next = 0;
    hmi_expr_matrix old = eq->M;
    hm_status status = hmi_expr_matrix_init(d, &eq->M, eq->n, eq->n);
    for (size_t i = 0; status == HM_OK && i < eq->n; i++)
        status = merge_row(d, &old, i, list, count, &next);
    for (size_t k = 0; k < count; k++)
        if (hmi_deps(&eq->graph, list[k].value) & HMI_DEP(HMI_SYM_VELOCITY))
            eq->quadratic = false;
    hmi_array_release(eq->allocator, &old.column);
    hmi_array_release(eq->allocator, &old.value);
    return status;
}
