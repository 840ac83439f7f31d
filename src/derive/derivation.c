/* What all steps of a derivation use: sparse matrices of expressions, vectors, gradients. */
#include "derive/derive_internal.h"

#include <assert.h>

/* ---- sparse matrices ---- */

hm_status hmi_expr_matrix_init(hmi_derivation *d, hmi_expr_matrix *matrix, size_t rows,
                               size_t columns)
{
    *matrix = (hmi_expr_matrix){.rows = rows, .columns = columns};
    matrix->start = hmi_arena_alloc(&d->eq->arena, (rows + 1) * sizeof *matrix->start);
    return matrix->start ? HM_OK : HM_ERR_NOMEM;
}

hm_status hmi_count_entries(hmi_derivation *d)
{
    d->entries += d->adjoint.partials.count;
    return d->entries <= HMI_MOST_ENTRIES ? HM_OK : HM_ERR_LIMIT;
}

hm_status hmi_expr_matrix_push(hmi_derivation *d, hmi_expr_matrix *matrix, uint32_t column,
                               hmi_expr value)
{
    const hm_allocator *allocator = d->eq->allocator;
    if (!hmi_array_push(allocator, &matrix->column, column) ||
        !hmi_array_push(allocator, &matrix->value, value))
        return HM_ERR_NOMEM;
    return HM_OK;
}

hmi_expr hmi_expr_matrix_entry(const hmi_expr_matrix *matrix, size_t i, size_t j, hmi_expr zero)
{
    assert(i < matrix->rows && j < matrix->columns);
    size_t low = matrix->start[i], high = matrix->start[i + 1];
    while (low < high) {
        size_t middle = (low + high) / 2;
        if (matrix->column.data[middle] == j)
            return matrix->value.data[middle];
        if (matrix->column.data[middle] < j)
            low = middle + 1;
        else
            high = middle;
    }
    return zero;
}

hmi_expr hmi_mass_entry(const hmi_derived *eq, size_t i, size_t j)
{
    return i >= j ? hmi_expr_matrix_entry(&eq->M, i, j, eq->graph.zero)
                  : hmi_expr_matrix_entry(&eq->M, j, i, eq->graph.zero);
}

/* ---- vectors ---- */

hmi_expr *hmi_new_vector(hmi_derivation *d, size_t count)
{
    hmi_expr *vector = hmi_arena_alloc(&d->eq->arena, (count ? count : 1) * sizeof *vector);
    for (size_t i = 0; vector && i < count; i++)
        vector[i] = d->eq->graph.zero;
    return vector;
}

/* A gradient by a kind of symbol, written into a dense vector. */
hm_status hmi_gradient_into(hmi_derivation *d, hmi_expr e, hmi_symbol_kind by, hmi_expr *vector)
{
    hm_status status = hmi_gradient(&d->adjoint, &d->eq->graph, e, by);
    for (size_t k = 0; status == HM_OK && k < d->adjoint.partials.count; k++)
        vector[d->adjoint.partials.data[k].index] = d->adjoint.partials.data[k].value;
    return status;
}

hmi_expr hmi_along_motion(hmi_derivation *d, hmi_expr e)
{
    return hmi_tangent_of(&d->motion, &d->eq->graph, e);
}

hmi_expr hmi_momentum_rate(const hmi_derived *eq, hmi_graph *graph, size_t i)
{
    hmi_expr given = hmi_add(graph, hmi_add(graph, eq->impressed[i], eq->dissipation[i]),
                             eq->gyroscopic[i]);
    if (eq->has_nonideal)
        given = hmi_add(graph, given, eq->C[i]);
    return hmi_add(graph, given, eq->dL_dq[i]);
}
