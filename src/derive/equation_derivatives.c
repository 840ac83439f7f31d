/* Derivatives of the equations of motion: one reverse sweep per row and kind of symbol. */
#include "derive/equation_derivatives.h"

#include "derive/derive_internal.h"

/* ---- columns ---- */

static void add_columns(hmi_columns *columns, hmi_symbol_kind kind, size_t count)
{
    columns->start[kind] = columns->count;
    columns->count += count;
}

static void lay_out_columns(hmi_columns *columns, const hmi_derived *eq, hmi_jacobian_kind kind)
{
    const hm_model *model = eq->model;
    size_t n = eq->n, m = eq->constraints.count, inputs = model->inputs.count;
    for (int k = 0; k < HMI_SYM_KIND_COUNT; k++)
        columns->start[k] = SIZE_MAX;
    columns->count = 0;
    if (kind == HMI_JACOBIAN_PARAM) {
        add_columns(columns, HMI_SYM_PARAM, model->params.count);
    } else if (kind != HMI_JACOBIAN_INPUT) {
        add_columns(columns, HMI_SYM_COORD, n);
        add_columns(columns, HMI_SYM_VELOCITY, n);
    }
    if (kind == HMI_JACOBIAN_STATE) {
        add_columns(columns, HMI_SYM_STATE, model->states.count);
        add_columns(columns, HMI_SYM_TIME, 1);
    }
    columns->free = columns->count;
    if (kind == HMI_JACOBIAN_DISCRETE)
        return;
    add_columns(columns, HMI_SYM_INPUT, inputs);
    add_columns(columns, HMI_SYM_INPUT_RATE, inputs);
    add_columns(columns, HMI_SYM_INPUT_RATE2, inputs);
    if (kind == HMI_JACOBIAN_INPUT)
        columns->free = columns->count;
    add_columns(columns, HMI_SYM_REACTION, n);
    add_columns(columns, HMI_SYM_MULTIPLIER, m);
    add_columns(columns, HMI_SYM_TOTAL_REACTION, n);
    add_columns(columns, HMI_SYM_TOTAL_MULTIPLIER, m);
}

/* ---- rows ---- */

/* to_i -= Sum_j M_ij q''_j, from the lower triangle */
static void subtract_inertia(hmi_derived *eq, hmi_expr *to)
{
    hmi_graph *g = &eq->graph;
    for (size_t i = 0; i < eq->n; i++)
        for (size_t k = eq->M.start[i]; k < eq->M.start[i + 1]; k++) {
            uint32_t j = eq->M.column.data[k];
            hmi_expr entry = eq->M.value.data[k];
            hmi_expr x = hmi_symbol(g, HMI_SYM_ACCELERATION, j);
            to[i] = hmi_sub(g, to[i], hmi_mul(g, entry, x));
            x = hmi_symbol(g, HMI_SYM_ACCELERATION, (uint32_t)i);
            if (j != i)
                to[j] = hmi_sub(g, to[j], hmi_mul(g, entry, x));
        }
}

/* to += A^T lambda */
static void add_reaction(hmi_derived *eq, hmi_expr *to)
{
    hmi_graph *g = &eq->graph;
    const hmi_expr_matrix *A = &eq->constraints.A;
    for (size_t i = 0; i < A->rows; i++)
        for (size_t k = A->start[i]; k < A->start[i + 1]; k++) {
            uint32_t j = A->column.data[k];
            hmi_expr lambda = hmi_symbol(g, HMI_SYM_MATRIX, (uint32_t)i);
            to[j] = hmi_add(g, to[j], hmi_mul(g, A->value.data[k], lambda));
        }
}

/* to_i = b_i - Sum_j A_ij q''_j */
static void constraint_rows(hmi_derived *eq, hmi_expr *to)
{
    hmi_graph *g = &eq->graph;
    const hmi_expr_matrix *A = &eq->constraints.A;
    for (size_t i = 0; i < A->rows; i++) {
        to[i] = eq->constraints.b[i];
        for (size_t k = A->start[i]; k < A->start[i + 1]; k++) {
            hmi_expr x = hmi_symbol(g, HMI_SYM_ACCELERATION, A->column.data[k]);
            to[i] = hmi_sub(g, to[i], hmi_mul(g, A->value.data[k], x));
        }
    }
}

static void drive_rows(hmi_derived *eq, hmi_expr *to)
{
    hmi_graph *g = &eq->graph;
    for (size_t i = 0; i < eq->n; i++) {
        hmi_expr forces = hmi_add(g, eq->impressed[i], eq->dissipation[i]);
        forces = hmi_add(g, hmi_add(g, forces, eq->gyroscopic[i]), eq->C[i]);
        to[i] = hmi_add(g, eq->dL_dq[i], forces);
    }
}

static void copy_rows(const hmi_graph *g, const hmi_expr *from, size_t count, hmi_expr *to)
{
    for (size_t i = 0; i < count; i++)
        to[i] = from[i] == HMI_NONE ? g->zero : from[i];
}

static size_t block_rows(const hmi_derived *eq, hmi_block block)
{
    switch (block) {
    case HMI_BLOCK_CONSTRAINT:
    case HMI_BLOCK_POSITION:
    case HMI_BLOCK_VELOCITY:
        return eq->constraints.count;
    case HMI_BLOCK_STATE:
        return eq->model->states.count;
    case HMI_BLOCK_INPUT:
        return 3 * eq->model->inputs.count;
    case HMI_BLOCK_REACTION:
        return eq->force_symbols ? eq->n : 0;
    default:
        return eq->n;
    }
}

static bool has_block(hmi_jacobian_kind kind, hmi_block block)
{
    const unsigned residuals = 1u << HMI_BLOCK_POSITION | 1u << HMI_BLOCK_VELOCITY;
    const unsigned momenta = 1u << HMI_BLOCK_MOMENTUM | 1u << HMI_BLOCK_DRIVE;
    unsigned blocks = kind == HMI_JACOBIAN_DISCRETE ? momenta | residuals : ~momenta;
    return blocks >> block & 1;
}

static void fill_rows(hmi_derived *eq, hmi_block block, size_t count, hmi_expr *to)
{
    hmi_graph *g = &eq->graph;
    size_t inputs = eq->model->inputs.count;
    switch (block) {
    case HMI_BLOCK_FORCE:
        copy_rows(g, eq->Q, count, to);
        subtract_inertia(eq, to);
        add_reaction(eq, to);
        return;
    case HMI_BLOCK_NONIDEAL:
        copy_rows(g, eq->C, count, to);
        return;
    case HMI_BLOCK_REACTION:
        add_reaction(eq, to);
        return;
    case HMI_BLOCK_CONSTRAINT:
        constraint_rows(eq, to);
        return;
    case HMI_BLOCK_STATE:
        copy_rows(g, eq->state_rates, count, to);
        return;
    case HMI_BLOCK_INPUT:
        for (int order = 0; order < 3; order++)
            copy_rows(g, eq->input_values[order], inputs, to + (size_t)order * inputs);
        return;
    case HMI_BLOCK_MOMENTUM:
        copy_rows(g, eq->momentum, count, to);
        return;
    case HMI_BLOCK_DRIVE:
        drive_rows(eq, to);
        return;
    case HMI_BLOCK_POSITION:
        copy_rows(g, eq->constraints.position_residual, count, to);
        return;
    default:
        copy_rows(g, eq->constraints.velocity_residual, count, to);
        return;
    }
}

/* ---- differentiation ---- */

/* Kinds in the order of their columns. */
static const hmi_symbol_kind directions[] = {
    HMI_SYM_PARAM,    HMI_SYM_COORD,      HMI_SYM_VELOCITY,       HMI_SYM_STATE,
    HMI_SYM_TIME,     HMI_SYM_INPUT,      HMI_SYM_INPUT_RATE,     HMI_SYM_INPUT_RATE2,
    HMI_SYM_REACTION, HMI_SYM_MULTIPLIER, HMI_SYM_TOTAL_REACTION, HMI_SYM_TOTAL_MULTIPLIER,
};

static hm_status differentiate_row(hmi_derivation *d, const hmi_columns *columns, hmi_expr row,
                                   hmi_expr_matrix *to)
{
    hmi_graph *g = &d->eq->graph;
    hm_status status = HM_OK;
    for (size_t c = 0; c < sizeof directions / sizeof *directions && status == HM_OK; c++) {
        hmi_symbol_kind by = directions[c];
        if (columns->start[by] == SIZE_MAX || !(hmi_deps(g, row) & HMI_DEP(by)))
            continue;
        status = hmi_gradient(&d->adjoint, g, row, by);
        for (size_t k = 0; status == HM_OK && k < d->adjoint.partials.count; k++) {
            hmi_partial part = d->adjoint.partials.data[k];
            if (part.value != g->zero)
                status = hmi_expr_matrix_push(d, to, (uint32_t)columns->start[by] + part.index,
                                              part.value);
        }
    }
    return status;
}

static hm_status derive_block(hmi_derivation *d, hmi_derived_jacobian *j, hmi_block block,
                              size_t rows)
{
    hmi_expr_matrix *to = &j->by[block];
    j->rows[block] = hmi_new_vector(d, rows);
    if (!j->rows[block])
        return HM_ERR_NOMEM;
    hm_status status = hmi_expr_matrix_init(d, to, rows, j->columns.count);
    if (status == HM_OK && rows) /* blocks that this kind does not have are empty */
        fill_rows(&j->eq, block, rows, j->rows[block]);
    for (size_t i = 0; i < rows && status == HM_OK; i++) {
        status = differentiate_row(d, &j->columns, j->rows[block][i], to);
        to->start[i + 1] = to->column.count;
    }
    return status;
}

hm_status hmi_derive_jacobian(hmi_derived_jacobian *j, const hmi_derived *eq,
                              hmi_jacobian_kind kind)
{
    *j = (hmi_derived_jacobian){.eq = *eq};
    j->eq.graph = (hmi_graph){0};
    hmi_arena_init(&j->eq.arena, eq->allocator);
    hm_status status = hmi_graph_copy(&j->eq.graph, &eq->graph);
    if (status != HM_OK)
        return status;
    lay_out_columns(&j->columns, eq, kind);
    hmi_derivation d = {.eq = &j->eq};
    hmi_adjoint_init(&d.adjoint, eq->allocator);
    for (int block = 0; block < HMI_BLOCK_COUNT && status == HM_OK; block++) {
        bool wanted = has_block(kind, (hmi_block)block);
        status = derive_block(&d, j, (hmi_block)block,
                              wanted ? block_rows(eq, (hmi_block)block) : 0);
    }
    hmi_adjoint_release(&d.adjoint);
    return status == HM_OK ? hmi_graph_status(&j->eq.graph) : status;
}

void hmi_derived_jacobian_release(hmi_derived_jacobian *j)
{
    const hm_allocator *allocator = j->eq.allocator;
    if (!allocator)
        return;
    for (int block = 0; block < HMI_BLOCK_COUNT; block++) {
        hmi_array_release(allocator, &j->by[block].column);
        hmi_array_release(allocator, &j->by[block].value);
    }
    hmi_graph_release(&j->eq.graph);
    hmi_arena_release(&j->eq.arena);
}
