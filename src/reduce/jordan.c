/* Pivots are chosen as Markowitz (1957) does: (entries of the row - 1)(entries of the column - 1) is least. */
#include "reduce/jordan.h"

bool hmi_jordan_init(hmi_jordan *x, hmi_reduce *r, size_t rows, size_t unknowns, size_t columns)
{
    *x = (hmi_jordan){.r = r, .rows = rows, .unknowns = unknowns, .columns = columns};
    x->w = hmi_reduce_vector(r, rows * columns);
    x->pivot = hmi_reduce_vector(r, rows);
    x->solved = hmi_arena_alloc(&r->arena, (unknowns + 1) * sizeof *x->solved);
    r->failed |= !x->solved;
    for (size_t i = 0; !r->failed && i < rows; i++)
        x->pivot[i] = HMI_NONE;
    return !r->failed;
}

static void subtract_row(hmi_jordan *x, size_t from, size_t row, hmi_expr factor)
{
    hmi_graph *g = &x->r->graph;
    for (size_t j = 0; j < x->columns; j++) {
        hmi_expr *to = hmi_jordan_at(x, from, j), e = *hmi_jordan_at(x, row, j);
        if (e != g->zero)
            *to = hmi_reduce_normal(x->r, hmi_sub(g, *to, hmi_mul(g, factor, e)));
    }
}

void hmi_jordan_take(hmi_jordan *x, size_t row, size_t unknown)
{
    hmi_graph *g = &x->r->graph;
    hmi_expr pivot = *hmi_jordan_at(x, row, unknown);
    for (size_t j = 0; j < x->columns; j++) {
        hmi_expr *e = hmi_jordan_at(x, row, j);
        *e = j == unknown ? g->one : hmi_reduce_normal(x->r, hmi_div(g, *e, pivot));
    }
    for (size_t i = 0; i < x->rows; i++) {
        hmi_expr factor = *hmi_jordan_at(x, i, unknown);
        if (i == row || factor == g->zero)
            continue;
        subtract_row(x, i, row, factor);
        *hmi_jordan_at(x, i, unknown) = g->zero;
    }
    x->pivot[row] = (uint32_t)unknown;
    x->solved[unknown] = true;
}

/* 0: a number; 1: made of parameters, and not zero for those there are; 2: anything else. */
static int pivot_class(hmi_jordan *x, hmi_expr e)
{
    const hmi_graph *g = &x->r->graph;
    double value = 0;
    if (e == HMI_NONE || e == g->zero)
        return 2;
    if (hmi_is_const(g, e))
        return 0;
    if (hmi_deps(g, e) & ~HMI_DEP(HMI_SYM_PARAM))
        return 2;
    if (hmi_evaluate_constant(g, e, x->r->params, &value) != HM_OK)
        x->r->failed = true;
    return value != 0 && value - value == 0 ? 1 : 2;
}

static size_t entries_of(hmi_jordan *x, size_t row, size_t unknown)
{
    size_t in_row = 0, in_column = 0;
    for (size_t j = 0; j < x->columns; j++)
        in_row += *hmi_jordan_at(x, row, j) != x->r->graph.zero;
    for (size_t i = 0; i < x->rows; i++)
        in_column += *hmi_jordan_at(x, i, unknown) != x->r->graph.zero;
    return (in_row - 1) * (in_column - 1);
}

bool hmi_jordan_take_constant(hmi_jordan *x)
{
    size_t best = SIZE_MAX, row = 0, unknown = 0;
    for (size_t i = 0; i < x->rows; i++)
        for (size_t j = 0; x->pivot[i] == HMI_NONE && j < x->unknowns; j++) {
            int class = x->solved[j] ? 2 : pivot_class(x, *hmi_jordan_at(x, i, j));
            size_t cost = class == 2 ? SIZE_MAX : 2 * entries_of(x, i, j) + (size_t) class;
            if (cost < best) {
                best = cost;
                row = i;
                unknown = j;
            }
        }
    if (best == SIZE_MAX || x->r->failed)
        return false;
    hmi_jordan_take(x, row, unknown);
    return true;
}
