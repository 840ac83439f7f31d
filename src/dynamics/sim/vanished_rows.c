/* Constraints that A q'' = b does not express: x'^2 + y'^2 = 0 demands rest, but its derivative by the
 * velocities vanishes wherever it holds. So its row of A is zero, says nothing, and the motion that was
 * found leaves the constraint at once.
 *
 * A row that vanishes at the state is put to the test: along q + h q' + h^2 q''/2 the residual of a
 * constraint that is the square (or the cube) of what it demands grows as h^2 (h^3) where velocities
 * are to obey and as h^4 where positions are. Where other rows see to it that the motion obeys, the
 * residual comes from the parabola's own error and grows faster: h^4 and more, h^6 and more.
 * Verified: test/unit/dynamics/test_answers.c
 */
#include "dynamics/sim/evaluation.h"

#include <math.h>

/* Only where the row moves with what the constraint is about: a row of a linear constraint that passes
 * through zero has neighbours that speak for it. */
static bool is_nonlinear(const hm_sim *sim, size_t row)
{
    const hmi_derived *d = &sim->system->derived;
    const hmi_expr_matrix *A = &d->constraints.A;
    hm_level level = sim->system->model->constraints.data[row].level;
    hmi_symbol_kind kind = level == HM_LEVEL_POSITION ? HMI_SYM_COORD : HMI_SYM_VELOCITY;
    for (size_t k = A->start[row]; k < A->start[row + 1] && level != HM_LEVEL_ACCELERATION; k++)
        if (hmi_deps(&d->graph, A->value.data[k]) & HMI_DEP(kind))
            return true;
    return false;
}

/* error: bounds of the entries of A, or NULL for none. */
static bool vanishes(const hm_sim *sim, size_t row, const double *error)
{
    const hmi_expr_matrix *A = &sim->system->derived.constraints.A;
    const double *entry = hmi_sim_row_entries(sim);
    for (size_t k = A->start[row]; k < A->start[row + 1]; k++)
        if (fabs(entry[k]) > (error ? error[k] : 0))
            return false;
    return A->start[row + 1] > A->start[row];
}

/* The residual of the row after the time h. memory: 2n. */
static double residual_after(hm_sim *sim, const hmi_point *at, size_t row, double h, double *memory)
{
    size_t n = sim->system->derived.n;
    double *q = memory, *v = memory + n;
    const double *qdd = sim->last.qdd;
    for (size_t i = 0; i < n; i++) {
        q[i] = at->q[i] + h * (at->v[i] + 0.5 * h * qdd[i]);
        v[i] = at->v[i] + h * qdd[i];
    }
    const hmi_point then = {at->t + h, q, v, at->z};
    hmi_sim_refresh(sim, &then);
    const double *report = hmi_sim_run_report(sim, &then);
    const hmi_report_layout *layout = &sim->system->report_at;
    bool position = sim->system->model->constraints.data[row].level == HM_LEVEL_POSITION;
    return report[(position ? layout->position_residual : layout->velocity_residual) + row];
}

static double largest(const double *x, size_t n)
{
    double most = 0;
    for (size_t i = 0; i < n; i++)
        most = fmax(most, fabs(x[i]));
    return most;
}

/* Does the residual grow by a power of the time that says so? Rounding errors do not fall twice by
 * the same factor. */
static bool leaves_constraint(hm_sim *sim, const hmi_point *at, size_t row, double *memory)
{
    size_t n = sim->system->derived.n;
    double speed = largest(at->v, n), change = largest(sim->last.qdd, n);
    double h = 1e-3 * (speed > 0 && change > 0 ? fmin(1, speed / change) : 1), r[3];
    for (int k = 0; k < 3; k++)
        r[k] = residual_after(sim, at, row, ldexp(h, -k), memory);
    bool position = sim->system->model->constraints.data[row].level == HM_LEVEL_POSITION;
    double first = r[0] / r[1], second = r[1] / r[2], most = position ? 20 : 9;
    return first > 3.5 && first < most && fabs(first - second) < 0.1 * first;
}

#define VANISHED_HINT                                                                              \
    "write it in a form whose derivative does not vanish: x' = 0 and y' = 0 in place of x'^2 + "   \
    "y'^2 = 0"
#define VANISHED_TEXT                                                                              \
    "the motion is not determined: the row of constraint '%s' in A vanishes where it holds, so "   \
    "that A q'' = b does not say what it demands"

hm_status hmi_sim_refuse_vanished(hm_sim *sim, const hm_evaluation *at)
{
    const hmi_constraint *row = sim->system->model->constraints.data + at->vanished_row;
    hmi_error(sim->context, row->span, VANISHED_HINT, VANISHED_TEXT, row->name);
    return HM_ERR_UNDETERMINED;
}

hm_status hmi_sim_check_vanished(hm_sim *sim, const hmi_point *at, const double *error,
                                 hm_evaluation *out)
{
    const hm_model *model = sim->system->model;
    const hm_allocator *allocator = sim->system->allocator;
    size_t bytes = 2 * sim->system->derived.n * sizeof(double);
    double *memory = NULL;
    for (size_t i = 0; i < sim->system->derived.constraints.count; i++) {
        if (!vanishes(sim, i, error) || !is_nonlinear(sim, i))
            continue;
        if (!memory && !(memory = hmi_alloc(allocator, bytes)))
            return HM_ERR_NOMEM;
        if (!leaves_constraint(sim, at, i, memory))
            continue;
        const hmi_constraint *c = &model->constraints.data[i];
        hmi_warning(sim->context, c->span, VANISHED_HINT, VANISHED_TEXT, c->name);
        out->rows_vanish = true;
        out->vanished_row = i;
    }
    hmi_free(allocator, memory, memory ? bytes : 0);
    hmi_sim_refresh(sim, at);
    return HM_OK;
}
