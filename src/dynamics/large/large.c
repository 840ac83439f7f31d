/* The sparse solve with its forces, checks and messages. */
#include "dynamics/large/large.h"

#include "dynamics/large/redundant_rows.h"

#include <math.h>
#include <string.h>

/* Of pivots: squares of sines. */
#define WELL_ABOVE_ROUNDING 1e-8

struct hmi_large {
    const hm_system *system;
    hmi_arena arena;
    hmi_sparse_solver *solver;
    hmi_sparse_solver *mass;           /* of M alone; made by the first evaluation */
    double *F, *qdd;                   /* n: Q + C; the answer while it is compared */
    double *law_Q, *law_C;             /* n: what a law says */
    bool *confirmed;                   /* m: rows that follow from others, seen without squaring */
    double *w;                         /* m */
    const char *trouble;               /* why there was no answer; NULL: the status says it */
    double *Qi, *Qni, *Qc, *a, *ideal; /* n */
    double *lambda, *total, *e;        /* m */
    hmi_large_rows rows;
};

const char *hmi_large_refusal(const hm_system *system)
{
    if (system->model->servos.count)
        return "servos";
    if (system->model->has_contacts)
        return "constraints that are one-sided or switch";
    const uint16_t total = HMI_DEP(HMI_SYM_TOTAL_REACTION) | HMI_DEP(HMI_SYM_TOTAL_MULTIPLIER);
    return system->derived.force_symbols & total ? "force laws that use total constraint forces"
                                                 : NULL;
}

/* Dense factors take n^3/3 + m n^2 + m^3/3 operations; sparse ones of mechanisms some 100 for each entry,
 * with indices that make each of them several times slower. Rank decisions cost dense factors 20 times
 * more (measured: bench_scaling). */
bool hmi_large_pays(const hm_system *system, bool revealing)
{
    const hmi_derived *d = &system->derived;
    double n = (double)d->n, m = (double)d->constraints.count;
    double entries = (double)(d->M.value.count + d->constraints.A.value.count);
    return (n * n * n + 3 * m * n * n + m * m * m) / 3 > (revealing ? 20 : 400) * entries;
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

/* ---- memory ---- */

static bool allocate(hmi_large *large, size_t n, size_t m)
{
    double **of_n[] = {&large->F, &large->qdd,   &large->Qi,    &large->Qni,  &large->Qc,
                       &large->a, &large->ideal, &large->law_Q, &large->law_C};
    double **of_m[] = {&large->lambda, &large->total, &large->e, &large->w};
    bool failed = false;
    for (size_t i = 0; i < sizeof of_n / sizeof *of_n; i++)
        *of_n[i] = hmi_arena_doubles(&large->arena, n, &failed);
    for (size_t i = 0; i < sizeof of_m / sizeof *of_m; i++)
        *of_m[i] = hmi_arena_doubles(&large->arena, m, &failed);
    large->confirmed = hmi_arena_alloc(&large->arena, m + 1);
    return !failed && large->confirmed && hmi_large_rows_init(&large->rows, &large->arena, m);
}

hm_status hmi_large_create(const hm_system *system, const hm_allocator *allocator, hmi_large **out)
{
    const hmi_sparse_shape shape = hmi_large_shape(system);
    hmi_large *large = hmi_alloc(allocator, sizeof *large);
    if (!large)
        return HM_ERR_NOMEM;
    *large = (hmi_large){.system = system};
    hmi_arena_init(&large->arena, allocator);
    hm_status status = allocate(large, shape.n, shape.m) ? HM_OK : HM_ERR_NOMEM;
    if (status == HM_OK)
        status = hmi_sparse_create(allocator, &shape, &large->solver);
    if (status == HM_OK)
        *out = large;
    else
        hmi_large_destroy(large);
    return status;
}

void hmi_large_destroy(hmi_large *large)
{
    if (!large)
        return;
    const hm_allocator *allocator = large->arena.allocator;
    hmi_large_rows_release(&large->rows);
    hmi_sparse_destroy(large->solver);
    hmi_sparse_destroy(large->mass);
    hmi_arena_release(&large->arena);
    hmi_free(allocator, large, sizeof *large);
}

/* ---- the solve ---- */

/* f[n] := A^T l */
static void force_of(const hmi_large *large, const double *A, const double *l, double *f)
{
    const hmi_expr_matrix *pattern = &large->system->derived.constraints.A;
    memset(f, 0, large->system->derived.n * sizeof *f);
    for (size_t i = 0; i < pattern->rows; i++)
        for (size_t k = pattern->start[i]; k < pattern->start[i + 1]; k++)
            f[pattern->column.data[k]] += A[k] * l[i];
}

static bool uses_multipliers(const hm_system *system)
{
    return system->derived.force_symbols & HMI_DEP(HMI_SYM_MULTIPLIER);
}

/* The law's Q and C at the ideal reactions, into law_Q and law_C. */
static hm_status ask_law(hmi_large *large, const hmi_large_equations *eq)
{
    hm_status status = hmi_sparse_solve(large->solver, eq->Q, eq->b, large->ideal, large->lambda);
    if (status != HM_OK)
        return status;
    if (uses_multipliers(large->system) &&
        hmi_sparse_rank(large->solver) < large->system->derived.constraints.count) {
        large->trouble = "a force law uses a multiplier, and multipliers are not unique here";
        return HM_ERR_UNDETERMINED;
    }
    force_of(large, eq->A, large->lambda, large->Qi);
    const hmi_reactions told = {large->Qi, large->lambda, large->Qi, large->lambda};
    return eq->law->evaluate(eq->law->user, &told, large->law_Q, large->law_C) == 0
               ? HM_OK
               : HM_ERR_NUMERIC;
}

/* Q and C where no law is asked any more. */
static hmi_large_equations settled(const hmi_large *large, const hmi_large_equations *eq)
{
    hmi_large_equations known = *eq;
    if (eq->law) {
        known.Q = large->law_Q;
        known.C = large->law_C;
        known.law = NULL;
    }
    return known;
}

static bool is_nonideal(const hmi_large *large)
{
    const hmi_derived *d = &large->system->derived;
    return d->has_nonideal;
}

/* q'' and the total multipliers, under Q + C. */
static hm_status move(hmi_large *large, const hmi_large_equations *eq, double *qdd)
{
    hm_status status = hmi_sparse_factor(large->solver, eq->M, eq->A);
    large->trouble = NULL;
    if (status == HM_OK && eq->law)
        status = ask_law(large, eq);
    if (status != HM_OK)
        return status;
    const hmi_large_equations known = settled(large, eq);
    for (size_t i = 0; i < large->system->derived.n; i++)
        large->F[i] = known.Q[i] + (is_nonideal(large) ? known.C[i] : 0);
    return hmi_sparse_solve(large->solver, large->F, eq->b, qdd, large->total);
}

/* Rows that were dropped must follow from others; what is found once is remembered. */
static bool dropped_are_dependent(hmi_large *large)
{
    size_t m = large->system->derived.constraints.count;
    if (hmi_sparse_rank(large->solver) == m)
        return true;
    for (size_t i = 0; i < m; i++) {
        if (!hmi_sparse_is_dropped(large->solver, i) || large->confirmed[i])
            continue;
        if (hmi_sparse_angle(large->solver, i, large->w) > 1e-9)
            return false;
        large->confirmed[i] = true;
    }
    return true;
}

bool hmi_large_accelerate(hmi_large *large, const hmi_large_equations *eq, double *qdd)
{
    if (move(large, eq, qdd) != HM_OK || hmi_sparse_smallest(large->solver) < WELL_ABOVE_ROUNDING ||
        hmi_sparse_left(large->solver) > 1e-12)
        return false;
    return dropped_are_dependent(large);
}

/* Qi, Qni and Qc, lambda of minimum norm where that can be told. Qi is A^T lambda of the problem
 * with C = 0. */
static hm_status find_forces(hmi_large *large, const hmi_large_equations *eq)
{
    const hmi_derived *d = &large->system->derived;
    bool nonideal = is_nonideal(large);
    hm_status status = HM_OK;
    memcpy(large->lambda, large->total, d->constraints.count * sizeof *large->lambda);
    if (nonideal)
        status = hmi_sparse_solve(large->solver, eq->Q, eq->b, large->ideal, large->lambda);
    force_of(large, eq->A, large->lambda, large->Qi);
    force_of(large, eq->A, large->total, large->Qc);
    for (size_t i = 0; i < d->n; i++) {
        large->Qc[i] += nonideal ? eq->C[i] : 0;
        large->Qni[i] = nonideal ? large->Qc[i] - large->Qi[i] : 0;
    }
    return status;
}

static hmi_solution view_solution(const hmi_large *large, const hmi_large_equations *eq,
                                  const double *qdd, hm_status status)
{
    size_t m = large->system->derived.constraints.count, rank = hmi_sparse_rank(large->solver);
    return (hmi_solution){
        .status = status,
        .formulation = HM_FORMULATION_KKT,
        .Q = eq->Q,
        .C = eq->C,
        .qdd = qdd,
        .Qi = large->Qi,
        .Qni = large->Qni,
        .Qc = large->Qc,
        .lambda = large->lambda,
        .total_lambda = large->total,
        .formulations = 1u << HM_FORMULATION_KKT,
        .disagreement = -1,
        .verdict = {.rank_A = (int)rank,
                    .rank_M = -1,
                    .rank_MA = -1,
                    .unique_acceleration = status != HM_ERR_UNDETERMINED,
                    .unique_multipliers = rank == m,
                    .consistent = status != HM_ERR_INCONSISTENT,
                    .solvable = status != HM_ERR_UNDETERMINED,
                    .law_solutions = 1,
                    .servo_reached = true},
    };
}

hm_status hmi_large_solve(hmi_large *large, const hmi_large_equations *eq, double *qdd,
                          hmi_solution *solution)
{
    hm_status status = move(large, eq, qdd);
    if (!solution || (status != HM_OK && status != HM_ERR_INCONSISTENT))
        return status;
    const hmi_large_equations known = settled(large, eq);
    hm_status forces = find_forces(large, &known);
    status = status == HM_OK ? forces : status;
    *solution = view_solution(large, &known, qdd, status);
    return status;
}

/* ---- evaluation ---- */

/* a = M^-1 Q and e = b - A a where M > 0. */
static hm_status find_unconstrained(hmi_large *large, const hmi_large_equations *eq,
                                    hm_evaluation *out)
{
    hmi_sparse_shape shape = hmi_large_shape(large->system);
    size_t m = shape.m;
    double size;
    shape.m = 0;
    shape.A_start = large->rows.no_rows;
    hm_status status = large->mass
                           ? HM_OK
                           : hmi_sparse_create(large->arena.allocator, &shape, &large->mass);
    if (status != HM_OK)
        return status;
    status = hmi_sparse_factor(large->mass, eq->M, NULL);
    if (status == HM_OK)
        status = hmi_sparse_solve(large->mass, eq->Q, NULL, large->a, NULL);
    if (status == HM_ERR_NOMEM)
        return status;
    out->definite = out->semidefinite = status == HM_OK;
    out->rank_M = out->rank_MA = status == HM_OK ? (int)shape.n : -1;
    if (status != HM_OK)
        return HM_OK;
    out->a = large->a;
    out->e = large->e;
    for (size_t i = 0; i < m; i++)
        large->e[i] = hmi_sparse_miss(large->solver, i, eq->b, large->a, &size);
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
static void check_answer(hmi_large *large, const hmi_large_equations *eq, const double *qdd,
                         hm_evaluation *out)
{
    const hmi_derived *d = &large->system->derived;
    double *rest = large->ideal, largest = 0, worst = 0, size;
    for (size_t i = 0; i < d->n; i++)
        rest[i] = -out->Q[i] - large->Qc[i];
    for (size_t i = 0; i < d->n; i++)
        for (size_t k = d->M.start[i]; k < d->M.start[i + 1]; k++) {
            size_t j = d->M.column.data[k];
            rest[i] += eq->M[k] * qdd[j];
            if (j != i)
                rest[j] += eq->M[k] * qdd[i];
        }
    for (size_t i = 0; i < d->n; i++) {
        largest = fmax(largest, fmax(fabs(out->Q[i]), fabs(large->Qc[i])));
        worst = fmax(worst, fabs(rest[i]));
    }
    out->check.balance = largest > 0 ? worst / largest : 0;
    worst = largest = 0;
    for (size_t i = 0; i < d->constraints.count; i++) {
        worst = fmax(worst, fabs(hmi_sparse_miss(large->solver, i, eq->b, qdd, &size)));
        largest = fmax(largest, size);
    }
    out->check.constraint = largest > 0 ? worst / largest : 0;
    out->check.ideal = out->check.work = out->check.projection = NAN; /* need a basis */
}

/* Pivots of the sparse solve decide, and are no singular values. */
static const hm_rank_evidence not_measured = {HM_RANK_VERDICT_UNDECIDED, NAN, NAN, NAN};

static void view(const hmi_solution *s, const double *v, size_t n, hm_evaluation *out)
{
    out->solved = true;
    out->Q = s->Q;
    out->C = s->C;
    out->formulation = "sparse";
    out->formulations = s->formulations;
    out->rank_A = s->verdict.rank_A;
    out->evidence_M = out->evidence_A = out->evidence_MA = not_measured;
    out->unique_acceleration = s->verdict.unique_acceleration;
    out->unique_multipliers = s->verdict.unique_multipliers;
    out->Qi = s->Qi;
    out->Qni = s->Qni;
    out->Qc = s->Qc;
    out->qdd = s->qdd;
    out->lambda = s->lambda;
    out->power.ideal = dot(s->Qi, v, n);
    out->power.nonideal = dot(s->Qni, v, n);
}

hm_status hmi_large_describe(hmi_large *large, const hmi_large_equations *eq,
                             const hmi_solution *solution, const double *v, hm_context *context,
                             bool least_norm, hm_evaluation *out)
{
    const hm_system *system = large->system;
    const hmi_large_equations known = settled(large, eq);
    view(solution, v, system->derived.n, out);
    hm_status verdict = hmi_large_rows_judge(&large->rows, system->model, context, large->solver,
                                             solution->qdd, least_norm ? large->lambda : NULL,
                                             large->total, out);
    if (verdict == HM_ERR_NOMEM)
        return verdict;
    hm_status mass = find_unconstrained(large, &known, out);
    if (mass != HM_OK)
        return mass;
    check_answer(large, eq, solution->qdd, out);
    return verdict;
}

void hmi_large_compare(hmi_large *large, hmi_compiled *compiled, const hmi_tape_values *values,
                       double *qdd, hm_evaluation *out)
{
    const double *other = hmi_compiled_acceleration(compiled);
    double worst = 0, size = 0;
    size_t n = large->system->derived.n;
    memcpy(large->qdd, qdd, n * sizeof *qdd); /* the compiled answer may come to the same place */
    if (hmi_compiled_run(compiled, values)) {
        for (size_t i = 0; i < n; i++) {
            worst = fmax(worst, fabs(other[i] - large->qdd[i]));
            size = fmax(size, fabs(large->qdd[i]));
        }
        out->disagreement = size > 0 ? worst / size : worst;
        out->formulations |= 1u << HM_FORMULATION_GRAM;
    }
    memcpy(qdd, large->qdd, n * sizeof *qdd);
}

void hmi_large_explain(const hmi_large *large, hm_status status, hm_context *context)
{
    if (large && large->trouble)
        hmi_error(context, hmi_no_span, NULL, "%s", large->trouble);
    else if (status == HM_ERR_UNDETERMINED)
        hmi_error(
            context, hmi_no_span, "M must be positive on the motions that the constraints allow",
            "the motion is not determined: M has no positive inertia for %s''",
            hm_model_coordinate_name(large->system->model, hmi_sparse_suspect(large->solver)));
    else if (status == HM_ERR_LIMIT)
        hmi_error(context, hmi_no_span, NULL,
                  "the system is too large and not sparse enough to be solved");
    else if (status == HM_ERR_NUMERIC)
        hmi_error(context, hmi_no_span,
                  "constraints that are almost dependent, or inertias of very different size, can "
                  "be the cause",
                  "the sparse solver does not reach its accuracy at this state");
}
