/* Chooses the form of a sim's motion tape, compiles it and puts parameters into it. */
#include "dynamics/sim/motion.h"

#include "linalg/tolerances.h"

#include <math.h>
#include <string.h>

/* ---- which rows make M positive? ---- */

enum { MOST_SHIFTED = 100 }; /* coordinates; the search costs m n^3 */

/* S in units in which its diagonal is 1, in `work` (n x n); rows without inertia become zero. */
static void equilibrate(size_t n, const double *S, double *work)
{
    for (size_t i = 0; i < n; i++)
        for (size_t j = 0; j < n; j++) {
            double size = sqrt(S[i * n + i]) * sqrt(S[j * n + j]);
            work[i * n + j] = size > 0 ? S[i * n + j] / size : 0;
        }
}

/* Pivots above HMI_WELL_CONDITIONED of the equilibrated S, the largest first. Overwrites work. */
static size_t count_pivots(size_t n, const double *S, double *work)
{
    equilibrate(n, S, work);
    for (size_t rank = 0; rank < n; rank++) {
        size_t p = n;
        double most = HMI_WELL_CONDITIONED;
        for (size_t i = 0; i < n; i++)
            if (work[i * n + i] > most) {
                most = work[i * n + i];
                p = i;
            }
        if (p == n)
            return rank;
        for (size_t i = 0; i < n; i++) {
            double factor = work[i * n + p] / most;
            for (size_t j = 0; j < n && i != p; j++)
                if (j != p)
                    work[i * n + j] -= factor * work[p * n + j];
        }
        for (size_t i = 0; i < n; i++)
            work[i * n + p] = work[p * n + i] = 0;
    }
    return n;
}

/* Sum M_jj / Sum A_j^2 over the row's coordinates, as in compile/solve/schur.c. */
static double weight_of(size_t n, const double *M, const hmi_expr_matrix *A, size_t i,
                        const double *row)
{
    double inertia = 0, square = 0;
    for (size_t k = A->start[i]; k < A->start[i + 1]; k++) {
        size_t j = A->column.data[k];
        inertia += M[j * n + j];
        square += row[j] * row[j];
    }
    return square > 0 ? (inertia > 0 ? inertia : 1) / square : 0;
}

static void add_row(size_t n, double weight, const double *row, double *S)
{
    for (size_t i = 0; i < n; i++)
        for (size_t j = 0; j < n; j++)
            S[i * n + j] += weight * row[i] * row[j];
}

static size_t entries_of(const hmi_expr_matrix *A, size_t i)
{
    return A->start[i + 1] - A->start[i];
}

/* Rows with few entries first, those of one length in their order. */
static size_t next_row(const hmi_expr_matrix *A, const bool *tried)
{
    size_t best = A->rows; /* none is left */
    for (size_t i = 0; i < A->rows; i++)
        if (!tried[i] && (best == A->rows || entries_of(A, i) < entries_of(A, best)))
            best = i;
    return best;
}

/* shift[m] := the rows to add, none where M is positive by itself. false: nothing helps. memory is
 * 2 n^2 doubles, tried m flags. */
static bool choose_shift(const hm_sim *sim, double *memory, bool *tried, bool *shift, bool *any)
{
    const hmi_derived *d = &sim->system->derived;
    const hmi_expr_matrix *A = &d->constraints.A;
    size_t n = d->n, rank;
    double *S = memory, *work = memory + n * n;
    memcpy(S, sim->dense.M, n * n * sizeof *S);
    rank = count_pivots(n, S, work);
    if (rank < n && n > MOST_SHIFTED)
        return false;
    for (size_t k = 0; k < A->rows && rank < n; k++) {
        size_t i = next_row(A, tried);
        if (i == A->rows)
            break;
        double weight = weight_of(n, sim->dense.M, A, i, sim->dense.A + i * n);
        tried[i] = true;
        add_row(n, weight, sim->dense.A + i * n, S);
        size_t with_row = count_pivots(n, S, work);
        shift[i] = with_row > rank;
        *any |= shift[i];
        if (shift[i])
            rank = with_row;
        else
            add_row(n, -weight, sim->dense.A + i * n, S);
    }
    return rank == n;
}

/* ---- compiling ---- */

static bool applies(const hm_sim *sim)
{
    const hm_system *system = sim->system;
    return sim->dense.dynamics && system->model->servos.count == 0 &&
           !system->derived.force_symbols && system->derived.n <= HM_MOST_DENSE &&
           system->derived.constraints.count <= HM_MOST_DENSE;
}

/* Small or sparse mass matrices are best eliminated as they are. */
static bool worth_a_tree(const hmi_derived *d)
{
    enum { FEW = 4 };
    return d->n >= FEW && d->quadratic && !d->force_symbols &&
           d->M.column.count >= d->n + d->n * FEW / 2;
}

/* Through M, or along the recursion of velocities where that is shorter; tree_only: nothing else. */
static hm_status compile_either(const hmi_derived *d, const hmi_motion_request *request,
                                bool tree_only, hmi_motion_tape *program)
{
    hmi_graph graph;
    hmi_tree_form form = {0};
    hm_status status = hmi_graph_copy(&graph, &d->graph);
    if (status == HM_OK)
        status = hmi_tree_form_create(&form, d, &graph);
    const hmi_motion_tree tree = {.graph = &graph, .form = &form, .alone = tree_only};
    bool other = status != HM_ERR_NOMEM && !tree_only;
    if (status == HM_OK || other)
        status = hmi_motion_compile_best(program, request, status == HM_OK ? &tree : NULL);
    hmi_tree_form_release(&form);
    hmi_graph_release(&graph);
    return status;
}

/* Which form of the motion: by M with the rows of `shift` (NULL: none) or along the tree. */
typedef struct form_choice {
    const bool *shift;
    const double *inertia; /* that shifted rows hold, by row */
    bool by_mass, by_tree;
    const size_t *rows;
    size_t row_count;
} form_choice;

static hm_status compile(hm_sim *sim, const hmi_motion_source *source, const form_choice *choice,
                         hmi_motion_tape *program)
{
    const hm_system *system = sim->system;
    const hmi_derived *d = &system->derived;
    const hmi_dynamics_layout *at = &system->at;
    const hmi_expr *list = source->graph ? source->dynamics : system->dynamics_outputs;
    hmi_graph graph;
    hm_status status = hmi_graph_copy(&graph, source->graph ? source->graph : &d->graph);
    const hmi_motion_request request = {
        .graph = &graph,
        .matrices = {.n = d->n,
                     .m = choice->row_count,
                     .M_pattern = &d->M,
                     .A_pattern = &d->constraints.A,
                     .M = list + at->M,
                     .A = list + at->A,
                     .rows = choice->rows,
                     .shift = choice->shift,
                     .inertia = choice->inertia},
        .Q = list + at->Q,
        .b = list + at->b,
        .C = d->has_nonideal ? list + at->C : NULL,
        .rates = list + at->state_rates,
        .rate_count = system->model->states.count,
        .powers = source->powers,
        .power_count = source->power_count,
        .ideal_power = source->ideal_power,
        .nonideal_power = source->nonideal_power,
    };
    if (status == HM_OK)
        status = choice->by_tree ? compile_either(d, &request, !choice->by_mass, program)
                                 : hmi_motion_compile(program, &request);
    hmi_graph_release(&graph);
    return status;
}

/* ---- is the motion along a tree the motion? ---- */

/* Row i of M x - Q - C - A^T lambda, and the sum of the sizes of its terms. */
static double row_rest(const hm_sim *sim, const hmi_motion_tape *program, const double *out,
                       const form_choice *choice, size_t i, double *size)
{
    const hm_system *system = sim->system;
    const double *values = hmi_sim_dynamics((hm_sim *)sim);
    size_t n = system->derived.n;
    double rest = -values[system->at.Q + i];
    *size = fabs(rest);
    if (system->derived.has_nonideal) {
        rest -= values[system->at.C + i];
        *size += fabs(values[system->at.C + i]);
    }
    for (size_t j = 0; j < n; j++) {
        double term = sim->dense.M[i * n + j] * out[j];
        rest += term;
        *size += fabs(term);
    }
    for (size_t k = 0; k < choice->row_count; k++) {
        double term = sim->dense.A[choice->rows[k] * n + i] * out[program->at.lambda + k];
        rest -= term;
        *size += fabs(term);
    }
    return rest;
}

/* Does every row hold? In one whose terms are rounding errors (M along a quaternion) they do not count. */
static bool rows_hold(const hm_sim *sim, const hmi_motion_tape *program, const double *out,
                      const form_choice *choice)
{
    const double well_met = 1e-8, noise = 1e-13;
    double largest = 0, size;
    bool good = true;
    for (size_t i = 0; i < sim->system->derived.n; i++) {
        (void)row_rest(sim, program, out, choice, i, &size);
        largest = fmax(largest, size);
    }
    for (size_t i = 0; good && i < sim->system->derived.n; i++) {
        double rest = row_rest(sim, program, out, choice, i, &size);
        good = fabs(rest) <= well_met * size + noise * largest;
    }
    return good;
}

/* The tree form rests on frames that are rotations, which nothing else does: it has to meet the derived
 * equations at the point, with velocities that leave nothing out. `v` is n doubles, work that of the
 * tape. */
static bool tree_holds(hm_sim *sim, const hmi_point *at, const form_choice *choice,
                       const hmi_motion_tape *program, double *v, double *work)
{
    size_t n = sim->system->derived.n;
    double most = 1;
    for (size_t i = 0; i < n; i++)
        most = fmax(most, fabs(at->v[i]));
    for (size_t i = 0; i < n; i++)
        v[i] = at->v[i] + most * cos(1.0 + 2.0 * (double)i);
    hmi_point moved = *at;
    moved.v = v;
    hmi_sim_evaluate(sim, &moved);
    hmi_sim_scatter(sim);
    const hmi_tape_values values = hmi_sim_values(sim, &moved);
    hmi_tape_prepare(&program->tape, &values, work);
    hmi_tape_run(&program->tape, &values, work);
    const double *out = hmi_tape_outputs(&program->tape, work);
    return rows_hold(sim, program, out, choice) && out[program->at.margin] > 0;
}

/* HM_ERR_USAGE: it does not. */
static hm_status check_tree(hm_sim *sim, const hmi_point *at, const form_choice *choice,
                            const hmi_motion_tape *program)
{
    const hm_allocator *allocator = sim->system->allocator;
    size_t n = sim->system->derived.n, size = program->tape.work_size * sizeof(double);
    double *v = hmi_alloc(allocator, (n + 1) * sizeof *v), *work = hmi_alloc(allocator, size);
    hm_status status = v && work ? HM_OK : HM_ERR_NOMEM;
    if (status == HM_OK && !tree_holds(sim, at, choice, program, v, work))
        status = HM_ERR_USAGE;
    hmi_free(allocator, v, v ? (n + 1) * sizeof *v : 0);
    hmi_free(allocator, work, work ? size : 0);
    return status;
}

static hm_status compile_checked(hm_sim *sim, const hmi_point *at, const hmi_motion_source *source,
                                 form_choice *choice, hmi_motion_tape *program)
{
    if (!choice->by_mass && !choice->by_tree)
        return HM_ERR_USAGE;
    hm_status status = compile(sim, source, choice, program);
    if (status != HM_OK || !program->by_tree)
        return status;
    status = check_tree(sim, at, choice, program);
    if (status != HM_ERR_USAGE)
        return status;
    hmi_motion_release(program);
    *program = (hmi_motion_tape){0};
    choice->by_tree = false;
    return choice->by_mass ? compile(sim, source, choice, program) : HM_ERR_USAGE;
}

/* Sum M_jj over the coordinates of each row. */
static void find_inertias(const hm_sim *sim, double *inertia)
{
    const hmi_derived *d = &sim->system->derived;
    const hmi_expr_matrix *A = &d->constraints.A;
    for (size_t i = 0; i < A->rows; i++) {
        inertia[i] = 0;
        for (size_t k = A->start[i]; k < A->start[i + 1]; k++)
            inertia[i] += sim->dense.M[A->column.data[k] * (d->n + 1)];
    }
}

/* The form for the point; HM_ERR_USAGE where there is none. */
static hm_status compile_here(hm_sim *sim, const hmi_point *at, const hmi_motion_source *source,
                              hmi_sim_motion *motion)
{
    size_t n = sim->system->derived.n, m = sim->system->derived.constraints.count;
    hmi_arena arena;
    bool any = false;
    hmi_arena_init(&arena, sim->system->allocator);
    double *memory = hmi_arena_alloc(&arena, 2 * n * n * sizeof *memory);
    bool *shift = hmi_arena_alloc(&arena, m + 1), *tried = hmi_arena_alloc(&arena, m + 1);
    size_t *rows = hmi_arena_alloc(&arena, (m + 1) * sizeof *rows), count = 0;
    double *inertia = hmi_arena_alloc(&arena, (m + 1) * sizeof *inertia);
    hm_status status = HM_ERR_NOMEM;
    if (memory && shift && tried && rows && inertia) {
        for (size_t i = 0; i < m; i++) {
            tried[i] = motion->left_out[i];
            if (!motion->left_out[i])
                rows[count++] = i;
        }
        hmi_sim_evaluate(sim, at);
        hmi_sim_scatter(sim);
        form_choice choice = {.by_mass = choose_shift(sim, memory, tried, shift, &any),
                              .inertia = inertia,
                              .rows = rows,
                              .row_count = count};
        find_inertias(sim, inertia);
        choice.shift = any && choice.by_mass ? shift : NULL;
        choice.by_tree = !source->graph && worth_a_tree(&sim->system->derived);
        status = compile_checked(sim, at, source, &choice, &motion->program);
        motion->shifted = any && choice.by_mass;
    }
    hmi_arena_release(&arena);
    return status;
}

static size_t rows_of(const hmi_sim_motion *motion)
{
    return motion->row_count + 1;
}

static hm_status create(hm_sim *sim, const hmi_point *at, const hmi_motion_source *source,
                        hmi_sim_motion *motion)
{
    motion->row_count = sim->system->derived.constraints.count;
    motion->left_out = hmi_alloc(motion->allocator, rows_of(motion));
    if (!motion->left_out)
        return HM_ERR_NOMEM;
    for (size_t i = 0; i < motion->row_count; i++)
        motion->left_out[i] = sim->solve.left_out && sim->solve.left_out[i];
    hm_status status = compile_here(sim, at, source, motion);
    if (status != HM_OK)
        return status;
    const hmi_tape *tape = &motion->program.tape;
    motion->work = hmi_alloc(motion->allocator, tape->work_size * sizeof *motion->work);
    if (!motion->work)
        return HM_ERR_NOMEM;
    motion->out = hmi_tape_outputs(tape, motion->work);
    motion->margin = motion->out + motion->program.at.margin;
    return HM_OK;
}

hm_status hmi_sim_motion_create(hm_sim *sim, const hmi_point *at, const hmi_motion_source *source,
                                hmi_sim_motion **out)
{
    const hmi_motion_source plain = {0};
    const hm_allocator *allocator = sim->system->allocator;
    *out = NULL;
    if (!applies(sim) || sim->contacts || (sim->solve.compiled && (!source || !source->graph)))
        return HM_OK; /* compiled.h serves large repetitive systems better */
    hmi_sim_motion *motion = hmi_alloc(allocator, sizeof *motion);
    if (!motion)
        return HM_ERR_NOMEM;
    *motion = (hmi_sim_motion){.allocator = allocator};
    hm_status status = create(sim, at, source ? source : &plain, motion);
    if (status == HM_OK)
        *out = motion;
    else
        hmi_sim_motion_destroy(motion);
    return status == HM_ERR_NOMEM ? status : HM_OK;
}

void hmi_sim_motion_destroy(hmi_sim_motion *motion)
{
    if (!motion)
        return;
    hmi_free(motion->allocator, motion->work,
             motion->work ? motion->program.tape.work_size * sizeof *motion->work : 0);
    hmi_motion_release(&motion->program);
    hmi_free(motion->allocator, motion->left_out, motion->left_out ? rows_of(motion) : 0);
    hmi_free(motion->allocator, motion, sizeof *motion);
}

bool hmi_sim_motion_fits(const hm_sim *sim, const hmi_sim_motion *motion)
{
    for (size_t i = 0; i < motion->row_count; i++)
        if (motion->left_out[i] != (sim->solve.left_out && sim->solve.left_out[i]))
            return false;
    return true;
}

/* ---- running ---- */

void hmi_sim_motion_prepare(hm_sim *sim, hmi_sim_motion *motion)
{
    motion->values = hmi_sim_values(sim, hmi_sim_present(sim));
    hmi_tape_prepare(&motion->program.tape, &motion->values, motion->work);
    motion->version = sim->tapes.version;
}
