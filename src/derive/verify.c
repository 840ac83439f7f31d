/* The checks of verify.h: the graph, patterns of matrices, sizes, handles. */
#include "derive/verify.h"

#include "expr/graph/verify.h"
#include "model/verify.h"

/* ---- matrices ---- */

static const char *verify_row(const hmi_expr_matrix *matrix, size_t i, bool lower, const char *name,
                              hmi_violation *violation)
{
    size_t begin = matrix->start[i], end = matrix->start[i + 1];
    size_t most = lower ? i + 1 : matrix->columns;
    if (begin > end || end > matrix->column.count)
        return hmi_violated(violation, "row %zu of %s goes from entry %zu to %zu of %zu", i, name,
                            begin, end, matrix->column.count);
    for (size_t k = begin; k < end; k++)
        if (matrix->column.data[k] >= most ||
            (k > begin && matrix->column.data[k] <= matrix->column.data[k - 1]))
            return hmi_violated(violation, "column %u is out of place in row %zu of %s",
                                matrix->column.data[k], i, name);
    return NULL;
}

static const char *verify_matrix(const hmi_derived *eq, const hmi_expr_matrix *matrix, size_t rows,
                                 bool lower, const char *name, hmi_violation *violation)
{
    if (matrix->rows != rows || matrix->columns != eq->n)
        return hmi_violated(violation, "%s is %zu by %zu, not %zu by %zu", name, matrix->rows,
                            matrix->columns, rows, eq->n);
    if (matrix->start[0] != 0 || matrix->start[rows] != matrix->column.count ||
        matrix->column.count != matrix->value.count)
        return hmi_violated(violation, "the rows of %s have %zu entries, %zu columns, %zu values",
                            name, matrix->start[rows], matrix->column.count, matrix->value.count);
    const char *found = NULL;
    for (size_t i = 0; !found && i < rows; i++)
        found = verify_row(matrix, i, lower, name, violation);
    return found ? found
                 : hmi_graph_verify_handles(&eq->graph, matrix->value.data, matrix->value.count,
                                            false, name, violation);
}

static const char *verify_rows(const hmi_derived *eq, const hmi_rows *rows, size_t count,
                               const char *name, hmi_violation *violation)
{
    if (rows->count != count)
        return hmi_violated(violation, "there are %zu rows of %s, not %zu", rows->count, name,
                            count);
    const char *found = verify_matrix(eq, &rows->A, count, false, name, violation);
    if (!found)
        found = hmi_graph_verify_handles(&eq->graph, rows->b, count, false, "b", violation);
    if (!found)
        found = hmi_graph_verify_handles(&eq->graph, rows->position_residual, count, true, "phi",
                                         violation);
    if (!found)
        found = hmi_graph_verify_handles(&eq->graph, rows->velocity_residual, count, true, "phi'",
                                         violation);
    return found;
}

/* ---- vectors and flags ---- */

static const char *verify_vectors(const hmi_derived *eq, hmi_violation *violation)
{
    const struct {
        const hmi_expr *list;
        size_t count;
        bool optional;
        const char *what;
    } lists[] = {
        {&eq->lagrangian, 1, false, "the Lagrangian"},
        {eq->momentum, eq->n, false, "p"},
        {eq->dL_dq, eq->n, false, "dL/dq"},
        {eq->Q, eq->n, false, "Q"},
        {eq->impressed, eq->n, false, "the impressed force"},
        {eq->dissipation, eq->n, false, "the dissipative force"},
        {eq->gyroscopic, eq->n, false, "the gyroscopic force"},
        {eq->bias, eq->n, false, "the bias"},
        {eq->C, eq->n, false, "the non-ideal force"},
        {&eq->kinetic, 1, true, "the kinetic energy"},
        {&eq->potential, 1, true, "the potential"},
        {&eq->total, 1, true, "the energy"},
        {eq->state_rates, eq->model->states.count, false, "the rate of state"},
        {eq->input_values[0], eq->model->inputs.count, false, "u"},
        {eq->input_values[1], eq->model->inputs.count, true, "u'"},
        {eq->input_values[2], eq->model->inputs.count, true, "u''"},
    };
    const char *found = NULL;
    for (size_t i = 0; !found && i < sizeof lists / sizeof *lists; i++)
        found = hmi_graph_verify_handles(&eq->graph, lists[i].list, lists[i].count,
                                         lists[i].optional, lists[i].what, violation);
    return found;
}

static const char *verify_flags(const hmi_derived *eq, hmi_violation *violation)
{
    uint16_t forces = 0, mass = 0;
    for (size_t i = 0; i < eq->n; i++)
        forces |= hmi_deps(&eq->graph, eq->Q[i]) | hmi_deps(&eq->graph, eq->C[i]);
    for (size_t k = 0; k < eq->M.value.count; k++)
        mass |= hmi_deps(&eq->graph, eq->M.value.data[k]);
    if ((forces & HMI_DEP_FORCES) != eq->force_symbols)
        return hmi_violated(violation, "Q and C depend on constraint forces %#x, not %#x",
                            forces & HMI_DEP_FORCES, eq->force_symbols);
    if (eq->quadratic && (mass & HMI_DEP(HMI_SYM_VELOCITY)))
        return hmi_violated(violation, "L is quadratic, but M depends on velocities");
    return NULL;
}

const char *hmi_derived_verify(const hmi_derived *eq, hmi_violation *violation)
{
    hmi_symbol_counts counts = hmi_model_symbol_counts(eq->model);
    const char *found = hmi_graph_verify(&eq->graph, violation);
    if (!found)
        found = hmi_graph_verify_symbols(&eq->graph, &counts, violation);
    if (!found)
        found = verify_matrix(eq, &eq->M, eq->n, true, "M", violation);
    if (!found)
        found = verify_rows(eq, &eq->constraints, eq->model->constraints.count, "constraints",
                            violation);
    if (!found)
        found = verify_rows(eq, &eq->servos, eq->model->servo_rows.count, "servos", violation);
    if (!found)
        found = verify_vectors(eq, violation);
    return found ? found : verify_flags(eq, violation);
}
