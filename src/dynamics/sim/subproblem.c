/* Selects the entries of some rows and coordinates and solves with them. */
#include "dynamics/sim/subproblem.h"

#include "dynamics/sim/rounding.h"

#include "dynamics/formulations/workspace.h"

#include <math.h>
#include <string.h>

#define NOT_FREE UINT32_MAX

struct hmi_subproblem {
    const hm_sim *sim;
    hmi_arena arena;
    size_t n, m;
    /* compressed: patterns, numbers, and which entries of the system they are */
    hmi_sparse_shape shape;
    double *M, *A;
    size_t *M_from, *A_from;
    size_t *row; /* of the model */
    bool *left_out;
    bool fresh; /* taken, not yet factored */
    hm_status factored;
    /* one of these */
    hmi_sparse_solver *sparse;
    hmi_dynamics *dense;
    double *dense_M, *dense_A;
};

/* ---- creation ---- */

/* One matrix: rows `rows` (NULL: the free coordinates), columns renumbered by `place`. */
static bool select_entries(hmi_arena *arena, const hmi_expr_matrix *matrix, const size_t *rows,
                           size_t count, const uint32_t *place, const size_t **start_out,
                           const uint32_t **column_out, size_t **from_out)
{
    size_t entries = 0, at = 0;
    for (size_t i = 0; i < count; i++)
        entries += matrix->start[rows[i] + 1] - matrix->start[rows[i]];
    size_t *start = hmi_arena_alloc(arena, (count + 1) * sizeof *start);
    uint32_t *column = hmi_arena_alloc(arena, (entries + 1) * sizeof *column);
    size_t *from = hmi_arena_alloc(arena, (entries + 1) * sizeof *from);
    if (!start || !column || !from)
        return false;
    for (size_t i = 0; i < count; i++) {
        start[i] = at;
        for (size_t k = matrix->start[rows[i]]; k < matrix->start[rows[i] + 1]; k++)
            if (place[matrix->column.data[k]] != NOT_FREE) {
                column[at] = place[matrix->column.data[k]];
                from[at++] = k;
            }
    }
    start[count] = at;
    *start_out = start;
    *column_out = column;
    *from_out = from;
    return true;
}

static hm_status make_dense(hmi_subproblem *p)
{
    bool contacts = p->sim->contacts && p->m;
    const hmi_dynamics_size size = {
        .n = (int)p->n, .m = contacts ? (int)hmi_sim_most_held(p->sim, p->row, p->m) : (int)p->m};
    p->left_out = hmi_arena_alloc(&p->arena, p->m + 1);
    p->dense_M = hmi_arena_alloc(&p->arena, (p->n * p->n + 1) * sizeof *p->dense_M);
    p->dense_A = hmi_arena_alloc(&p->arena, (p->m * p->n + 1) * sizeof *p->dense_A);
    if (!p->dense_M || !p->dense_A || !p->left_out)
        return HM_ERR_NOMEM;
    return hmi_dynamics_create_gathering(p->sim->system->allocator, &size, contacts ? (int)p->m : 0,
                                         &p->dense);
}

static hm_status build(hmi_subproblem *p, const size_t *rows, const size_t *coordinates)
{
    const hmi_derived *d = &p->sim->system->derived;
    uint32_t *place = hmi_arena_alloc(&p->arena, (d->n + 1) * sizeof *place);
    size_t *all = hmi_arena_alloc(&p->arena, (d->n + 1) * sizeof *all);
    if (!place || !all)
        return HM_ERR_NOMEM;
    p->row = hmi_arena_alloc(&p->arena, (p->m + 1) * sizeof *p->row);
    if (!p->row)
        return HM_ERR_NOMEM;
    if (p->m)
        memcpy(p->row, rows, p->m * sizeof *rows);
    memset(place, 0xFF, d->n * sizeof *place);
    for (size_t i = 0; i < p->n; i++) {
        all[i] = coordinates ? coordinates[i] : i;
        place[all[i]] = (uint32_t)i;
    }
    p->shape = (hmi_sparse_shape){.n = p->n, .m = p->m};
    if (!select_entries(&p->arena, &d->M, all, p->n, place, &p->shape.M_start, &p->shape.M_column,
                        &p->M_from) ||
        !select_entries(&p->arena, &d->constraints.A, rows, p->m, place, &p->shape.A_start,
                        &p->shape.A_column, &p->A_from))
        return HM_ERR_NOMEM;
    p->M = hmi_arena_alloc(&p->arena, (p->shape.M_start[p->n] + 1) * sizeof *p->M);
    p->A = hmi_arena_alloc(&p->arena, (p->shape.A_start[p->m] + 1) * sizeof *p->A);
    if (!p->M || !p->A)
        return HM_ERR_NOMEM;
    return p->sim->dense.dynamics && !p->sim->solve.compiled
               ? make_dense(p)
               : hmi_sparse_create(p->sim->system->allocator, &p->shape, &p->sparse);
}

hm_status hmi_subproblem_create(const hm_sim *sim, const size_t *rows, size_t row_count,
                                const size_t *coordinates, size_t coordinate_count,
                                hmi_subproblem **out)
{
    hmi_subproblem *p = hmi_alloc(sim->system->allocator, sizeof *p);
    if (!p)
        return HM_ERR_NOMEM;
    *p = (hmi_subproblem){
        .sim = sim, .n = coordinates ? coordinate_count : sim->system->derived.n, .m = row_count};
    hmi_arena_init(&p->arena, sim->system->allocator);
    *out = p;
    return build(p, rows, coordinates);
}

void hmi_subproblem_destroy(hmi_subproblem *p)
{
    if (!p)
        return;
    hmi_sparse_destroy(p->sparse);
    hmi_dynamics_destroy(p->dense);
    hmi_arena_release(&p->arena);
    hmi_free(p->sim->system->allocator, p, sizeof *p);
}

/* ---- numbers ---- */

static void scatter(hmi_subproblem *p)
{
    const hmi_sparse_shape *shape = &p->shape;
    for (size_t i = 0; i < p->n; i++)
        for (size_t k = shape->M_start[i]; k < shape->M_start[i + 1]; k++) {
            size_t j = shape->M_column[k];
            p->dense_M[i * p->n + j] = p->dense_M[j * p->n + i] = p->M[k];
        }
    for (size_t i = 0; i < p->m; i++)
        for (size_t k = shape->A_start[i]; k < shape->A_start[i + 1]; k++)
            p->dense_A[i * p->n + shape->A_column[k]] = p->A[k];
}

/* Entries that are but rounding errors of the terms of their row constrain nothing. */
static void clear_noise(hmi_subproblem *p)
{
    const double *terms = p->sim->solve.row_terms;
    for (size_t i = 0; terms && i < p->m; i++)
        for (size_t k = p->shape.A_start[i]; k < p->shape.A_start[i + 1]; k++)
            if (fabs(p->A[k]) <= HMI_TERM_ROUNDINGS * HMI_EPSILON * terms[p->row[i]])
                p->A[k] = 0;
}

void hmi_subproblem_take(hmi_subproblem *p)
{
    const double *M = hmi_sim_mass_entries(p->sim), *A = hmi_sim_row_entries(p->sim);
    for (size_t k = 0; k < p->shape.M_start[p->n]; k++)
        p->M[k] = M[p->M_from[k]];
    for (size_t k = 0; k < p->shape.A_start[p->m]; k++)
        p->A[k] = A[p->A_from[k]];
    clear_noise(p);
    p->fresh = true;
    if (p->dense)
        scatter(p);
}

/* A system of middle size that the sparse solve cannot do: once, and for ever. */
static hm_status change_to_dense(hmi_subproblem *p, const double *F, const double *b, double *d)
{
    hm_status status = make_dense(p);
    if (status != HM_OK)
        return status;
    scatter(p);
    return hmi_accelerate(p->dense, p->dense_M, F, p->dense_A, b, d, NULL);
}

hm_status hmi_subproblem_solve(hmi_subproblem *p, const double *F, const double *b, double *d)
{
    if (p->dense)
        return hmi_accelerate(p->dense, p->dense_M, F, p->dense_A, b, d, NULL);
    if (p->fresh)
        p->factored = hmi_sparse_factor(p->sparse, p->M, p->A);
    p->fresh = false;
    hm_status status = p->factored;
    if (status == HM_OK)
        status = hmi_sparse_solve(p->sparse, F, b, d, NULL);
    if ((status == HM_ERR_UNDETERMINED || status == HM_ERR_NUMERIC) && p->sim->dense.dynamics)
        return change_to_dense(p, F, b, d);
    /* there is no least-squares answer as of the dense solve */
    return status == HM_ERR_UNDETERMINED ? HM_ERR_NUMERIC : status;
}

void hmi_subproblem_leave_out(hmi_subproblem *p, const bool *rows)
{
    if (!p->dense)
        return;
    for (size_t i = 0; i < p->m; i++)
        p->left_out[i] = rows && rows[p->row[i]];
    hmi_dynamics_leave_out(p->dense, p->left_out);
}

void hmi_subproblem_coarse_rank(hmi_subproblem *p, double sine)
{
    if (p->dense)
        p->dense->accelerate_rank = sine;
}

void hmi_subproblem_times_mass(const hmi_subproblem *p, const double *x, double *f)
{
    const hmi_sparse_shape *shape = &p->shape;
    memset(f, 0, p->n * sizeof *f);
    for (size_t i = 0; i < p->n; i++)
        for (size_t k = shape->M_start[i]; k < shape->M_start[i + 1]; k++) {
            size_t j = shape->M_column[k];
            f[i] += p->M[k] * x[j];
            if (j != i)
                f[j] += p->M[k] * x[i];
        }
}

void hmi_subproblem_times_rows(const hmi_subproblem *p, const double *x, double *r)
{
    const hmi_sparse_shape *shape = &p->shape;
    for (size_t i = 0; i < p->m; i++) {
        r[i] = 0;
        for (size_t k = shape->A_start[i]; k < shape->A_start[i + 1]; k++)
            r[i] += p->A[k] * x[shape->A_column[k]];
    }
}

const double *hmi_subproblem_dense_rows(const hmi_subproblem *p)
{
    return p->dense_A;
}

double hmi_row_terms(const hm_sim *sim, size_t row, const double *x)
{
    const hmi_expr_matrix *pattern = &sim->system->derived.constraints.A;
    const double *A = hmi_sim_row_entries(sim);
    double size = 0;
    for (size_t k = pattern->start[row]; k < pattern->start[row + 1]; k++)
        size += fabs(A[k] * x[pattern->column.data[k]]);
    for (size_t k = pattern->start[row]; sim->solve.row_terms && k < pattern->start[row + 1]; k++)
        size = fmax(size, sim->solve.row_terms[row] * fabs(x[pattern->column.data[k]]));
    return size;
}

double hmi_row_length(const hm_sim *sim, size_t row)
{
    const hmi_expr_matrix *pattern = &sim->system->derived.constraints.A;
    const double *A = hmi_sim_row_entries(sim);
    double length = 0;
    for (size_t k = pattern->start[row]; k < pattern->start[row + 1]; k++)
        length = hypot(length, A[k]); /* no square of a large number */
    return length;
}
