/* Lays out rows and derivatives of the equations as outputs of one tape, with their sparsity patterns. */
#include "compile/system/derivative_tape.h"
#include "compile/jit/assemble.h"

#include <string.h>

static void *copy_of(hmi_arena *arena, const void *from, size_t size)
{
    void *to = hmi_arena_alloc(arena, size ? size : 1);
    if (to && size)
        memcpy(to, from, size);
    return to;
}

static bool copy_pattern(hmi_jacobian *j, const hmi_expr_matrix *from, hmi_jacobian_block *to)
{
    to->rows = from->rows;
    to->start = copy_of(&j->arena, from->start, (from->rows + 1) * sizeof *from->start);
    to->column = copy_of(&j->arena, from->column.data, from->column.count * sizeof *to->column);
    return to->start && to->column;
}

/* Lays out the outputs: rows of all blocks, then entries of all blocks. */
static hmi_expr *collect(hmi_jacobian *j, const hmi_derived_jacobian *from, size_t *count)
{
    size_t total = 0;
    for (int b = 0; b < HMI_BLOCK_COUNT; b++) {
        j->block[b].value = total;
        total += from->by[b].rows;
    }
    for (int b = 0; b < HMI_BLOCK_COUNT; b++) {
        j->block[b].partial = total;
        total += from->by[b].value.count;
    }
    hmi_expr *list = hmi_arena_alloc(&j->arena, (total + 1) * sizeof *list);
    for (int b = 0; b < HMI_BLOCK_COUNT && list; b++) {
        for (size_t i = 0; i < from->by[b].rows; i++)
            list[j->block[b].value + i] = from->rows[b][i];
        for (size_t k = 0; k < from->by[b].value.count; k++)
            list[j->block[b].partial + k] = from->by[b].value.data[k];
    }
    *count = total;
    return list;
}

static hm_status compile(hmi_jacobian *j, const hmi_derived_jacobian *from)
{
    size_t count;
    j->columns = from->columns;
    for (int b = 0; b < HMI_BLOCK_COUNT; b++)
        if (!copy_pattern(j, &from->by[b], &j->block[b]))
            return HM_ERR_NOMEM;
    const hmi_expr *list = collect(j, from, &count);
    return list ? hmi_tape_compile(&j->tape, &from->eq.graph, list, count) : HM_ERR_NOMEM;
}

hm_status hmi_jacobian_create(const hmi_derived *equations, hmi_jacobian_kind kind,
                              hmi_jacobian **out)
{
    hmi_derived_jacobian derived;
    hmi_jacobian *j = hmi_alloc(equations->allocator, sizeof *j);
    if (!j)
        return HM_ERR_NOMEM;
    *j = (hmi_jacobian){.allocator = equations->allocator};
    hmi_arena_init(&j->arena, equations->allocator);
    hm_status status = hmi_derive_jacobian(&derived, equations, kind);
    if (status == HM_OK)
        status = compile(j, &derived);
    hmi_derived_jacobian_release(&derived);
    if (status == HM_OK)
        *out = j;
    else
        hmi_jacobian_destroy(j);
    return status;
}

void hmi_jacobian_destroy(hmi_jacobian *jacobian)
{
    if (!jacobian)
        return;
    const hm_allocator *allocator = jacobian->allocator;
    hmi_tape_release(&jacobian->tape);
    hmi_arena_release(&jacobian->arena);
    hmi_free(allocator, jacobian, sizeof *jacobian);
}

bool hmi_jacobian_column(const hmi_jacobian *jacobian, hmi_symbol_kind kind, size_t count, size_t c,
                         size_t *index)
{
    size_t start = jacobian->columns.start[kind];
    if (start == SIZE_MAX || c < start || c >= start + count)
        return false;
    *index = c - start;
    return true;
}
