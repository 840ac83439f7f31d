/* Models that look as if a constraint had been put into L: a velocity that a constraint uses but L
 * lacks, or a mass matrix that needs constraints on velocities to determine the motion at all.
 * Singular M that constraints on positions make up for (Euler parameters) is no sign of it.
 * Verified: test/unit/analyse/test_compare.c
 */
#include "analyse/compare/comparison.h"
#include "linalg/linalg.h"

#include <math.h>

static const char hint[] = "L must be that of the system without constraints; hamel compare --with "
                           "conflated:\"...\" shows what goes wrong";

/* Is p_j = dL/dq'_j identically zero, and no mass given for it? */
static bool lacks_inertia(const hmi_derived *d, size_t j)
{
    if (d->momentum[j] != d->graph.zero)
        return false;
    for (size_t k = d->M.start[j]; k < d->M.start[j + 1]; k++)
        if (d->M.value.data[k] != d->graph.zero)
            return false;
    return true;
}

/* Warnings about one row. */
static size_t warn_row(hm_context *context, const hm_system *system, size_t i)
{
    const hmi_derived *d = &system->derived;
    const hm_model *model = system->model;
    const hmi_constraint *row = &model->constraints.data[i];
    size_t said = 0;
    if (row->level != HM_LEVEL_VELOCITY)
        return 0;
    for (size_t k = d->constraints.A.start[i]; k < d->constraints.A.start[i + 1]; k++) {
        size_t j = d->constraints.A.column.data[k];
        if (!lacks_inertia(d, j))
            continue;
        hmi_warning(context, row->span, hint,
                    "%s' occurs in constraint '%s' but not in L: was the constraint put into the "
                    "energy? Then the motion is wrong (Hamel's paradox)",
                    model->coords.data[j].name, row->name);
        said++;
    }
    return said;
}

/* ---- rank ---- */

/* The rank of M with the position rows below it, at the sim's state. X: (n + m) x n. */
static int supported_rank(hm_sim *sim, double *X, double *tau, int *order)
{
    const hm_model *model = sim->system->model;
    size_t n = sim->system->derived.n, m = sim->system->derived.constraints.count, rows = n + m;
    hmi_sim_evaluate(sim, hmi_sim_present(sim));
    hmi_sim_scatter(sim);
    for (size_t i = 0; i < rows; i++) {
        const double *row = i < n ? sim->dense.M + i * n : sim->dense.A + (i - n) * n;
        bool counts = i < n || model->constraints.data[i - n].level == HM_LEVEL_POSITION;
        double size = hmi_max_abs((int)n, row);
        for (size_t j = 0; j < n; j++)
            X[j * rows + i] = counts && size > 0 ? row[j] / size : 0;
    }
    if (!hmi_all_finite((int)(rows * n), X))
        return (int)n;
    return hmi_qr((int)rows, (int)n, X, tau, order, (int)n, 1e-10);
}

/* Lost at the initial state and at two others: one alone may be a singular place. */
static bool loses_rank(hm_sim *sim, hmi_arena *arena, int *rank)
{
    size_t n = sim->system->derived.n, m = sim->system->derived.constraints.count;
    double *X = hmi_arena_alloc(arena, ((n + m) * n + n + 1) * sizeof *X);
    int *order = hmi_arena_alloc(arena, (n + 1) * sizeof *order);
    *rank = 0;
    if (!X || !order)
        return false;
    for (int k = 0; k < 3; k++) {
        int now = supported_rank(sim, X, X + (n + m) * n, order);
        *rank = now > *rank ? now : *rank;
        for (size_t i = 0; i < n; i++) {
            sim->state.q[i] += 0.2 * sin(1.1 + 1.7 * (double)i + k);
            sim->state.v[i] += 0.5 * cos(0.3 + 2.1 * (double)i + k);
        }
    }
    return *rank < (int)n;
}

static size_t warn_rank(hm_context *context, const hm_system *system)
{
    const hm_model *model = system->model;
    hm_sim *sim = NULL;
    hmi_arena arena;
    int rank;
    size_t velocities = 0, n = system->derived.n;
    for (size_t i = 0; i < model->constraints.count; i++)
        velocities += model->constraints.data[i].level == HM_LEVEL_VELOCITY;
    if (velocities == 0 || n > HM_MOST_DENSE || hm_sim_create(system, &sim) != HM_OK)
        return 0;
    hmi_arena_init(&arena, system->allocator);
    bool lost = sim->dense.dynamics && loses_rank(sim, &arena, &rank);
    if (lost)
        hmi_warning(context, hmi_no_span, hint,
                    "L determines the motion in only %d of %zu directions, and constraints on "
                    "velocities must determine the rest: was one put into the energy?",
                    rank, n);
    hmi_arena_release(&arena);
    hm_sim_destroy(sim);
    return lost;
}

size_t hm_system_warn_conflated(hm_context *context, const hm_system *system)
{
    if (!context || !system)
        return 0;
    size_t said = 0;
    hm_context *own = hmi_system_context(system);
    if (!own)
        return 0;
    for (size_t i = 0; i < system->derived.constraints.count && said < 5; i++)
        said += warn_row(own, system, i);
    if (said == 0)
        said = warn_rank(own, system);
    hmi_context_take(context, own);
    hm_context_destroy(own);
    return said;
}
