/* Large systems: see large.h. */
#include "dynamics/sim/large.h"

#include "dynamics/sim/compiled.h"
#include "dynamics/sim/redundant_rows.h"

#include <math.h>
#include <string.h>

struct hmi_large {
    hmi_arena arena;
    hmi_sparse_solver *solver;
    hmi_sparse_solver *mass;                  /* of M alone; made by the first evaluation */
    double *F, *qdd;                          /* n: Q + C; the answer of the sparse solve */
    double *zero, *Qi, *Qni, *Qc, *a, *ideal; /* n */
    double *lambda, *total, *e;               /* m */
    hmi_large_rows rows;
};

const char *hmi_large_refusal(const hm_system *system)
{
    if (system->model->servos.count)
        return "servos";
    return system->derived.force_symbols ? "force laws that use constraint forces" : NULL;
}

hmi_sparse_shape hmi_large_shape(const hm_system *system)
{
    const hmi_derived *d = &system->derived;
    return (hmi_sparse_shape){.n = d->n,
                              .m = d->constraints.count,
                              .M_start = d->M.start,
                              .M_column = d->M.column.data,
                              .A_start = d->constraints.A.start,
                              .A_column = d->constraints.A.column.data};
}

const double *hmi_sim_mass_entries(const hm_sim *sim)
{
    return hmi_tape_outputs(sim->dynamics_tape, sim->dynamics_work) + sim->system->at.M;
}

const double *hmi_sim_row_entries(const hm_sim *sim)
{
    return hmi_tape_outputs(sim->dynamics_tape, sim->dynamics_work) + sim->system->at.A;
}

/* ---- memory ---- */

static bool allocate(struct hmi_large *large, size_t n, size_t m)
{
    double **of_n[] = {&large->F,   &large->qdd, &large->zero, &large->Qi,
                       &large->Qni, &large->Qc,  &large->a,    &large->ideal};
    double **of_m[] = {&large->lambda, &large->total, &large->e};
    for (size_t i = 0; i < sizeof of_n / sizeof *of_n; i++)
        if (!(*of_n[i] = hmi_arena_alloc(&large->arena, (n + 1) * sizeof(double))))
            return false;
    for (size_t i = 0; i < sizeof of_m / sizeof *of_m; i++)
        if (!(*of_m[i] = hmi_arena_alloc(&large->arena, (m + 1) * sizeof(double))))
            return false;
    return hmi_large_rows_init(&large->rows, &large->arena, m);
}

hm_status hmi_large_prepare(hm_sim *sim)
{
    const hm_allocator *allocator = sim->system->allocator;
    const hmi_sparse_shape shape = hmi_large_shape(sim->system);
    if (sim->large)
        return HM_OK;
    struct hmi_large *large = hmi_alloc(allocator, sizeof *large);
    if (!large)
        return HM_ERR_NOMEM;
    *large = (struct hmi_large){0};
    hmi_arena_init(&large->arena, allocator);
    sim->large = large;
    hm_status status = allocate(large, shape.n, shape.m) ? HM_OK : HM_ERR_NOMEM;
    if (status == HM_OK)
        status = hmi_sparse_create(allocator, &shape, &large->solver);
    if (status != HM_OK)
        hmi_large_destroy(sim);
    return status;
}

void hmi_large_destroy(hm_sim *sim)
{
    struct hmi_large *large = sim->large;
    if (!large)
        return;
    hmi_large_rows_release(&large->rows);
    hmi_sparse_destroy(large->solver);
    hmi_sparse_destroy(large->mass);
    hmi_arena_release(&large->arena);
    hmi_free(sim->system->allocator, large, sizeof *large);
    sim->large = NULL;
}

/* ---- the solve ---- */

static const double *values_at(const hm_sim *sim, size_t offset)
{
    return hmi_tape_outputs(sim->dynamics_tape, sim->dynamics_work) + offset;
}

/* f[n] := A^T l */
static void force_of(const hm_sim *sim, const double *l, double *f)
{
    const hmi_expr_matrix *pattern = &sim->system->derived.constraints.A;
    const double *A = hmi_sim_row_entries(sim);
    memset(f, 0, sim->system->derived.n * sizeof *f);
    for (size_t i = 0; i < pattern->rows; i++)
        for (size_t k = pattern->start[i]; k < pattern->start[i + 1]; k++)
            f[pattern->column.data[k]] += A[k] * l[i];
}

/* q'' and the total multipliers, under Q + C. */
static hm_status move(hm_sim *sim, double *qdd, double *total)
{
    struct hmi_large *large = sim->large;
    const hm_system *system = sim->system;
    const double *Q = values_at(sim, system->at.Q), *C = values_at(sim, system->at.C);
    hm_status status = hmi_sparse_factor(large->solver, hmi_sim_mass_entries(sim),
                                         hmi_sim_row_entries(sim));
    if (status != HM_OK)
        return status;
    for (size_t i = 0; i < system->derived.n; i++)
        large->F[i] = Q[i] + (system->derived.has_nonideal ? C[i] : 0);
    return hmi_sparse_solve(large->solver, large->F, values_at(sim, system->at.b), qdd, total);
}

/* Qi, Qni and Qc, lambda of minimum norm where that can be told. Qi is A^T lambda of the problem
 * with C = 0. */
static hm_status find_forces(hm_sim *sim)
{
    struct hmi_large *large = sim->large;
    const hm_system *system = sim->system;
    size_t n = system->derived.n, m = system->derived.constraints.count;
    const double *C = values_at(sim, system->at.C);
    bool nonideal = system->derived.has_nonideal;
    hm_status status = HM_OK;
    memcpy(large->lambda, large->total, m * sizeof *large->lambda);
    if (nonideal)
        status = hmi_sparse_solve(large->solver, values_at(sim, system->at.Q),
                                  values_at(sim, system->at.b), large->ideal, large->lambda);
    force_of(sim, large->lambda, large->Qi);
    force_of(sim, large->total, large->Qc);
    for (size_t i = 0; i < n; i++) {
        large->Qc[i] += nonideal ? C[i] : 0;
        large->Qni[i] = nonideal ? large->Qc[i] - large->Qi[i] : 0;
    }
    return status;
}

static void keep_forces(hm_sim *sim)
{
    const struct hmi_large *large = sim->large;
    size_t n = sim->system->derived.n, m = sim->system->derived.constraints.count;
    const double *C = values_at(sim, sim->system->at.C);
    memcpy(sim->reaction, large->Qi, n * sizeof *sim->reaction);
    memcpy(sim->multiplier, large->lambda, m * sizeof *sim->multiplier);
    memcpy(sim->total_multiplier, large->total, m * sizeof *sim->total_multiplier);
    for (size_t i = 0; i < n; i++)
        sim->total_reaction[i] = large->Qc[i] - C[i];
}

static void describe(const hm_sim *sim, hm_status status, hmi_solution *s)
{
    const struct hmi_large *large = sim->large;
    size_t m = sim->system->derived.constraints.count, rank = hmi_sparse_rank(large->solver);
    *s = (hmi_solution){.status = status,
                        .formulation = HM_FORMULATION_KKT,
                        .Q = values_at(sim, sim->system->at.Q),
                        .C = values_at(sim, sim->system->at.C),
                        .qdd = sim->qdd,
                        .Qi = large->Qi,
                        .Qni = large->Qni,
                        .Qc = large->Qc,
                        .lambda = large->lambda,
                        .total_lambda = large->total,
                        .formulations = 1u << HM_FORMULATION_KKT,
                        .disagreement = -1};
    s->verdict = (hmi_verdict){.rank_A = (int)rank,
                               .rank_M = -1,
                               .rank_MA = -1,
                               .unique_acceleration = status != HM_ERR_UNDETERMINED,
                               .unique_multipliers = rank == m,
                               .consistent = status != HM_ERR_INCONSISTENT,
                               .solvable = status != HM_ERR_UNDETERMINED,
                               .law_solutions = 1,
                               .servo_reached = true};
}

hm_status hmi_large_accelerate(hm_sim *sim, hmi_solution *solution)
{
    if (hmi_large_refusal(sim->system))
        return HM_ERR_LIMIT;
    if (sim->formulation != HM_FORMULATION_AUTO && sim->formulation != HM_FORMULATION_KKT)
        return HM_ERR_USAGE;
    hm_status status = hmi_large_prepare(sim);
    if (status != HM_OK)
        return status;
    status = move(sim, sim->qdd, sim->large->total);
    if (!solution || (status != HM_OK && status != HM_ERR_INCONSISTENT))
        return status;
    hm_status forces = find_forces(sim);
    keep_forces(sim);
    status = status == HM_OK ? forces : status;
    describe(sim, status, solution);
    return status;
}

/* ---- evaluation ---- */

static hm_status refuse(const hm_sim *sim, const char *format, const char *what)
{
    hmi_error(sim->system->model->context, hmi_no_span, NULL, format, what, HM_MOST_DENSE);
    return HM_ERR_LIMIT;
}

/* a = M^-1 Q and e = b - A a where M > 0. */
static hm_status find_unconstrained(hm_sim *sim, hm_evaluation *out)
{
    struct hmi_large *large = sim->large;
    const hm_system *system = sim->system;
    hmi_sparse_shape shape = hmi_large_shape(system);
    size_t m = shape.m;
    double size;
    shape.m = 0;
    shape.A_start = large->rows.no_rows;
    hm_status status = large->mass ? HM_OK
                                   : hmi_sparse_create(system->allocator, &shape, &large->mass);
    if (status != HM_OK)
        return status;
    status = hmi_sparse_factor(large->mass, hmi_sim_mass_entries(sim), NULL);
    if (status == HM_OK)
        status = hmi_sparse_solve(large->mass, values_at(sim, system->at.Q), NULL, large->a, NULL);
    if (status == HM_ERR_NOMEM)
        return status;
    out->definite = out->semidefinite = status == HM_OK;
    out->rank_M = out->rank_MA = status == HM_OK ? (int)shape.n : -1;
    if (status != HM_OK)
        return HM_OK;
    out->a = large->a;
    out->e = large->e;
    for (size_t i = 0; i < m; i++)
        large->e[i] = hmi_sparse_miss(large->solver, i, values_at(sim, system->at.b), large->a,
                                      &size);
    return HM_OK;
}

static double dot(const double *x, const double *y, size_t n)
{
    double sum = 0;
    for (size_t i = 0; i < n; i++)
        sum += x[i] * y[i];
    return sum;
}

/* The answer put back: the largest of what is left, relative to the terms. */
static void check_answer(hm_sim *sim, hm_evaluation *out)
{
    const struct hmi_large *large = sim->large;
    const hmi_derived *d = &sim->system->derived;
    const double *M = hmi_sim_mass_entries(sim), *b = values_at(sim, sim->system->at.b);
    double *rest = large->ideal, largest = 0, worst = 0, size;
    for (size_t i = 0; i < d->n; i++)
        rest[i] = -out->Q[i] - large->Qc[i];
    for (size_t i = 0; i < d->n; i++)
        for (size_t k = d->M.start[i]; k < d->M.start[i + 1]; k++) {
            size_t j = d->M.column.data[k];
            rest[i] += M[k] * sim->qdd[j];
            if (j != i)
                rest[j] += M[k] * sim->qdd[i];
        }
    for (size_t i = 0; i < d->n; i++) {
        largest = fmax(largest, fmax(fabs(out->Q[i]), fabs(large->Qc[i])));
        worst = fmax(worst, fabs(rest[i]));
    }
    out->check.balance = largest > 0 ? worst / largest : 0;
    worst = largest = 0;
    for (size_t i = 0; i < d->constraints.count; i++) {
        worst = fmax(worst, fabs(hmi_sparse_miss(large->solver, i, b, sim->qdd, &size)));
        largest = fmax(largest, size);
    }
    out->check.constraint = largest > 0 ? worst / largest : 0;
    out->check.ideal = out->check.work = out->check.projection = NAN; /* need a basis */
}

/* The compiled solve against this one, where it applies. */
static void compare(hm_sim *sim, hm_evaluation *out)
{
    struct hmi_large *large = sim->large;
    double worst = 0, size = 0;
    size_t n = sim->system->derived.n;
    memcpy(large->qdd, sim->qdd, n * sizeof *large->qdd);
    if (hmi_fast_accelerate(sim)) {
        for (size_t i = 0; i < n; i++) {
            worst = fmax(worst, fabs(sim->qdd[i] - large->qdd[i]));
            size = fmax(size, fabs(large->qdd[i]));
        }
        out->disagreement = size > 0 ? worst / size : worst;
        out->formulations |= 1u << HM_FORMULATION_GRAM;
    }
    memcpy(sim->qdd, large->qdd, n * sizeof *sim->qdd);
}

static void view(const hm_sim *sim, const hmi_solution *s, hm_evaluation *out)
{
    size_t n = sim->system->derived.n;
    out->solved = true;
    out->formulation = "sparse";
    out->formulations = s->formulations;
    out->rank_A = s->verdict.rank_A;
    out->unique_acceleration = s->verdict.unique_acceleration;
    out->unique_multipliers = s->verdict.unique_multipliers;
    out->Qi = s->Qi;
    out->Qni = s->Qni;
    out->Qc = s->Qc;
    out->qdd = s->qdd;
    out->lambda = s->lambda;
    out->power.ideal = dot(s->Qi, sim->v, n);
    out->power.nonideal = dot(s->Qni, sim->v, n);
}

static hm_status report(const hm_sim *sim, hm_status status)
{
    const hm_model *model = sim->system->model;
    if (status == HM_ERR_UNDETERMINED)
        hmi_error(model->context, hmi_no_span,
                  "M must be positive on the motions that the constraints allow",
                  "the motion is not determined: M has no positive inertia left for %s''",
                  hm_model_coordinate_name(model, hmi_sparse_suspect(sim->large->solver)));
    else if (status == HM_ERR_LIMIT)
        hmi_error(model->context, hmi_no_span, NULL,
                  "the system is too large and not sparse enough to be solved");
    else if (status == HM_ERR_NUMERIC)
        hmi_error(model->context, hmi_no_span,
                  "constraints that are almost dependent, or inertias of very different size, can "
                  "be the cause",
                  "the sparse solve does not reach its accuracy at this state");
    return status;
}

hm_status hmi_large_solve(hm_sim *sim, const hm_evaluate_options *options, hm_evaluation *out)
{
    const char *refusal = hmi_large_refusal(sim->system);
    hmi_solution solution;
    if (refusal)
        return refuse(sim, "%s are not supported beyond %d coordinates", refusal);
    if (options->formulation != HM_FORMULATION_AUTO && options->formulation != HM_FORMULATION_KKT)
        return refuse(sim, "formulation '%s' is not available beyond %d coordinates",
                      hm_formulation_name(options->formulation));
    hm_formulation kept = sim->formulation;
    sim->formulation = HM_FORMULATION_AUTO;
    hm_status status = hmi_large_accelerate(sim, &solution);
    sim->formulation = kept;
    if (status != HM_OK && status != HM_ERR_INCONSISTENT)
        return report(sim, status);
    view(sim, &solution, out);
    hm_status verdict = hmi_large_rows_judge(&sim->large->rows, sim, sim->large->solver,
                                             sim->large->lambda, sim->large->total, out);
    if (verdict == HM_ERR_NOMEM)
        return verdict;
    if (verdict == HM_OK)
        keep_forces(sim);
    hm_status mass = find_unconstrained(sim, out);
    if (mass != HM_OK)
        return mass;
    check_answer(sim, out);
    if (status == HM_OK && options->compare)
        compare(sim, out);
    return status == HM_OK ? HM_OK : verdict;
}
