/* Servos of higher relative degree: differentiated on until the actuators appear.
 *
 * With beta = lhs - rhs and q'' = x0(q, q', t) + G w for forces w of actuators, a row is
 *     beta^(r) = A q'' - b = A x0 - b + (A G) w.
 * Where A G vanishes identically, beta^(r) = psi(q, q', t) is a function of the state, and the next
 * row is A = dpsi/dq', b = -dpsi/dt at q'' = 0, like that of a velocity constraint psi. The first r at
 * which A G does not vanish is the relative degree, and the closed loop is (d/dt + k)^r beta = 0.
 *                                            [Isidori, Nonlinear Control Systems, ch. 4 and 5]
 * Several rows: where those of A G are dependent, some rows that are independent are kept; w is
 * eliminated from the others by the closed loops of these,
 *     q'' = x_cl:  A_j x_cl - b_j = -sum_l C(r_j, l) k^(r_j - l) beta_j^(l)   for j kept,
 * so that beta_i^(r) = A_i x_cl - b_i = psi is a function of the state again: quasi-static feedback, by
 * which flat systems like cranes are linearised without a state of the controller.
 *                                            [Delaleau & Rudolph 1998; Blajer & Kolodziejczyk 2004]
 * x0 and G come from a symbolic elimination of [M A^T; A 0], whose pivots do not vanish where M > 0 and
 * the rows of A are independent.
 * Verified: test/physics/test_relative_degree.c
 */
#include "derive/relative_degree.h"

#include "derive/servo_reach.h"

#include <math.h>
#include <string.h>

enum { MOST_DEGREE = 12 };

/* A row with the derivatives of beta below it, as functions of the state. */
typedef struct chain {
    size_t degree;
    hmi_expr below[MOST_DEGREE]; /* beta, beta', ... */
    hmi_expr free, target;       /* b without and the closed loop's value of beta^(degree) */
    bool raised, redundant;
} chain;

typedef struct raising {
    hmi_derivation *d;
    hmi_reach reach;
    chain *rows;
    bool *chosen;
    size_t *column;       /* of chosen rows */
    hmi_expr *work;       /* (n + m) x (n + m + columns + 1) */
    hmi_expr *x0, *G, *x; /* n, columns x n, n */
    hmi_expr *D;          /* rows x columns: A G of chosen rows */
    hmi_expr *small;      /* rows x (rows + 1) */
    bool solved;
} raising;

/* ---- the passive motion, symbolically ---- */

/* Gauss-Jordan in natural order on [K | right sides]; entries that are zero cost nothing. */
static void eliminate(hmi_graph *g, size_t size, size_t width, hmi_expr *W)
{
    for (size_t k = 0; k < size; k++)
        for (size_t i = 0; i < size; i++) {
            if (i == k || W[i * width + k] == g->zero)
                continue;
            hmi_expr t = hmi_div(g, W[i * width + k], W[k * width + k]);
            for (size_t j = k + 1; j < width; j++)
                if (W[k * width + j] != g->zero)
                    W[i * width + j] = hmi_sub(g, W[i * width + j],
                                               hmi_mul(g, t, W[k * width + j]));
            W[i * width + k] = g->zero;
        }
}

static void write_passive_system(raising *r, size_t width)
{
    hmi_derived *eq = r->d->eq;
    hmi_graph *g = &eq->graph;
    size_t n = eq->n, m = eq->constraints.count, size = n + m;
    for (size_t i = 0; i < size * width; i++)
        r->work[i] = g->zero;
    for (size_t i = 0; i < n; i++) {
        for (size_t j = 0; j < n; j++)
            r->work[i * width + j] = hmi_mass_entry(eq, i, j);
        r->work[i * width + width - 1] = hmi_add(g, eq->Q[i], eq->C[i]);
    }
    for (size_t i = 0; i < m; i++) {
        for (size_t j = 0; j < n; j++) {
            hmi_expr a = hmi_expr_matrix_entry(&eq->constraints.A, i, j, g->zero);
            r->work[(n + i) * width + j] = r->work[j * width + n + i] = a;
        }
        r->work[(n + i) * width + width - 1] = eq->constraints.b[i];
    }
    for (size_t c = 0; c < r->reach.columns; c++)
        r->work[r->reach.coordinate[c] * width + size + c] = g->one;
}

static hm_status solve_passive(raising *r)
{
    hmi_graph *g = &r->d->eq->graph;
    size_t n = r->reach.n, size = n + r->reach.m, width = size + r->reach.columns + 1;
    if (r->solved)
        return HM_OK;
    write_passive_system(r, width);
    eliminate(g, size, width, r->work);
    for (size_t i = 0; i < n; i++) {
        const hmi_expr *row = r->work + i * width;
        r->x0[i] = hmi_div(g, row[width - 1], row[i]);
        for (size_t c = 0; c < r->reach.columns; c++)
            r->G[c * n + i] = hmi_div(g, row[size + c], row[i]);
    }
    r->solved = true;
    return g->status;
}

/* ---- the motion that keeps the closed loops of chosen rows ---- */

/* row i of A times a vector */
static hmi_expr row_times(raising *r, size_t i, const hmi_expr *vector)
{
    hmi_graph *g = &r->d->eq->graph;
    const hmi_expr_matrix *A = &r->d->eq->servos.A;
    hmi_expr sum = g->zero;
    for (size_t k = A->start[i]; k < A->start[i + 1]; k++)
        sum = hmi_add(g, sum, hmi_mul(g, A->value.data[k], vector[A->column.data[k]]));
    return sum;
}

/* x := x0 + G w with A_j x - b_j at its target for the chosen rows. False: their pivots are not found. */
static bool solve_closed_loop(raising *r)
{
    hmi_graph *g = &r->d->eq->graph;
    size_t n = r->reach.n, width = r->reach.columns, kept = 0;
    memcpy(r->x, r->x0, n * sizeof *r->x);
    for (size_t i = 0; i < r->reach.rows; i++)
        for (size_t c = 0; r->chosen[i] && c < width; c++)
            r->D[kept * width + c] = row_times(r, i, r->G + c * n), kept += c + 1 == width;
    if (kept == 0)
        return true;
    if (!hmi_reach_columns(r->d, &r->reach, r->chosen, r->D, r->column))
        return false;
    for (size_t i = 0, k = 0; i < r->reach.rows; i++) {
        if (!r->chosen[i])
            continue;
        hmi_expr *row = r->small + k * (kept + 1);
        for (size_t c = 0; c < kept; c++)
            row[c] = r->D[k * width + r->column[c]];
        hmi_expr wanted = hmi_add(g, r->rows[i].target, r->rows[i].free);
        row[kept] = hmi_sub(g, wanted, row_times(r, i, r->x0));
        k++;
    }
    eliminate(g, kept, kept + 1, r->small);
    for (size_t k = 0; k < kept; k++) {
        const hmi_expr *row = r->small + k * (kept + 1);
        hmi_expr w = hmi_div(g, row[kept], row[k]);
        for (size_t j = 0; j < n; j++)
            r->x[j] = hmi_add(g, r->x[j], hmi_mul(g, w, r->G[r->column[k] * n + j]));
    }
    return true;
}

/* ---- chains ---- */

/* -sum_l C(r, l) k^(r - l) beta^(l) */
static hmi_expr closed_loop(raising *r, const chain *row, hmi_expr k)
{
    hmi_graph *g = &r->d->eq->graph;
    hmi_expr sum = g->zero;
    int64_t binomial = 1;
    for (size_t l = 0; l < row->degree; l++) {
        hmi_expr power = hmi_pow(g, k, hmi_ratio(g, (int64_t)(row->degree - l), 1));
        hmi_expr c = hmi_mul(g, hmi_ratio(g, binomial, 1), power);
        sum = hmi_sub(g, sum, hmi_mul(g, c, row->below[l]));
        binomial = binomial * (int64_t)(row->degree - l) / (int64_t)(l + 1);
    }
    return sum;
}

static void begin_chains(raising *r, const hmi_expr *free)
{
    const hm_model *model = r->d->eq->model;
    hmi_rows *servos = &r->d->eq->servos;
    for (size_t i = 0; i < servos->count; i++) {
        chain *row = &r->rows[i];
        row->free = free[i];
        row->target = hmi_sub(&r->d->eq->graph, servos->b[i], free[i]);
        if (model->servo_rows.data[i].row.level == HM_LEVEL_POSITION)
            row->below[row->degree++] = servos->position_residual[i];
        if (model->servo_rows.data[i].row.level != HM_LEVEL_ACCELERATION)
            row->below[row->degree++] = servos->velocity_residual[i];
    }
}

/* Why this row may not be differentiated further; NULL: it may. */
static const char *refuse_row(const raising *r, size_t i, hmi_expr psi)
{
    const hmi_derived *eq = r->d->eq;
    const hmi_servo_row *row = &eq->model->servo_rows.data[i];
    const hmi_servo_group *servo = &eq->model->servos.data[row->servo];
    size_t sum = 0;
    for (size_t k = 0; k < r->reach.rows; k++)
        sum += r->rows[k].degree;
    if (row->row.level == HM_LEVEL_ACCELERATION)
        return "it is at acceleration level and its actuators act only through other coordinates";
    if (servo->law == HMI_LAW_LYAPUNOV)
        return "its actuators act only through other coordinates, which 'law lyapunov' does not "
               "allow";
    if (servo->gain_matrix)
        return "its actuators act only through other coordinates, which needs a number as gain, "
               "not a "
               "matrix";
    if (hmi_deps(&eq->graph, psi) & HMI_DEP(HMI_SYM_INPUT_RATE2))
        return "it would need third derivatives of an input";
    if (r->rows[i].degree + 1 >= MOST_DEGREE || sum >= 2 * eq->n + eq->model->states.count)
        return "no derivative of it leads from its actuators to it";
    return NULL;
}

/* The rows of A again, with that of row i replaced by the gradient in d->adjoint. */
static hm_status replace_row(raising *r, size_t i)
{
    hmi_derivation *d = r->d;
    hmi_expr_matrix old = d->eq->servos.A, *A = &d->eq->servos.A;
    hm_status status = hmi_expr_matrix_init(d, A, old.rows, old.columns);
    for (size_t k = 0; k < old.rows && status == HM_OK; k++) {
        for (size_t e = old.start[k]; k != i && e < old.start[k + 1] && status == HM_OK; e++)
            status = hmi_expr_matrix_push(d, A, old.column.data[e], old.value.data[e]);
        for (size_t e = 0; k == i && e < d->adjoint.partials.count && status == HM_OK; e++)
            status = hmi_expr_matrix_push(d, A, d->adjoint.partials.data[e].index,
                                          d->adjoint.partials.data[e].value);
        A->start[k + 1] = A->column.count;
    }
    hmi_array_release(d->eq->allocator, &old.column);
    hmi_array_release(d->eq->allocator, &old.value);
    return status;
}

static hm_status raise_row(raising *r, size_t i, hmi_expr psi)
{
    hmi_derivation *d = r->d;
    hmi_graph *g = &d->eq->graph;
    const hm_model *model = d->eq->model;
    chain *row = &r->rows[i];
    hm_status status = hmi_gradient(&d->adjoint, g, psi, HMI_SYM_VELOCITY);
    if (status == HM_OK)
        status = replace_row(r, i);
    if (status != HM_OK)
        return status;
    row->below[row->degree++] = psi;
    row->free = hmi_neg(g, hmi_along_motion(d, psi));
    row->target = closed_loop(r, row, model->servos.data[model->servo_rows.data[i].servo].gain);
    row->raised = true;
    return g->status;
}

/* Do the closed loops of the chosen rows imply that of row i? Then psi is its target identically. */
static hm_status is_implied(raising *r, size_t i, hmi_expr psi, bool *implied)
{
    hmi_expr list[3] = {psi, r->rows[i].target, r->rows[i].free};
    size_t points = 0;
    *implied = true;
    for (int p = 1; p < HMI_REACH_POINTS; p++) {
        double v[3] = {0};
        hm_status status = hmi_reach_values(r->d, &r->reach, p, list, 3, v);
        if (status != HM_OK)
            return status;
        double size = fabs(v[0]) + fabs(v[1]) + fabs(v[2]);
        if (!isfinite(size))
            continue;
        points++;
        *implied = *implied && fabs(v[0] - v[1]) <= 1e-9 * size;
    }
    *implied = *implied && points > 0;
    return HM_OK;
}

/* Every row that is not chosen, once further. */
static hm_status raise_rest(raising *r)
{
    hmi_derived *eq = r->d->eq;
    hm_status status = HM_OK;
    for (size_t i = 0; i < r->reach.rows && status == HM_OK && !eq->degrees.refusal; i++) {
        bool implied;
        if (r->chosen[i] || r->rows[i].redundant)
            continue;
        hmi_expr psi = hmi_sub(&eq->graph, row_times(r, i, r->x), r->rows[i].free);
        status = is_implied(r, i, psi, &implied);
        r->rows[i].redundant = implied;
        if (status != HM_OK || implied)
            continue;
        eq->degrees.refusal = refuse_row(r, i, psi);
        eq->degrees.refused = i;
        if (!eq->degrees.refusal)
            status = raise_row(r, i, psi);
    }
    return status;
}

/* ---- the whole ---- */

/* Why no row of this model is differentiated further; NULL: it may be tried. */
static const char *refuse_model(const hmi_derived *eq)
{
    if (eq->force_symbols)
        return "forces depend on constraint forces";
    if (eq->model->frictions.count)
        return "the model has friction";
    for (size_t i = 0; i < eq->model->constraints.count; i++)
        if (eq->model->constraints.data[i].one_sided ||
            eq->model->constraints.data[i].when != HMI_NONE)
            return "the model has constraints that do not always hold";
    return NULL;
}

static size_t left_to_raise(const raising *r)
{
    size_t count = 0;
    for (size_t i = 0; i < r->reach.rows; i++)
        count += !r->chosen[i] && !r->rows[i].redundant;
    return count;
}

static size_t first_left(const raising *r)
{
    size_t i = 0;
    while (r->chosen[i] || r->rows[i].redundant)
        i++;
    return i;
}

static hm_status allocate(raising *r)
{
    hmi_derivation *d = r->d;
    size_t n = r->reach.n, size = n + r->reach.m, rows = r->reach.rows, width = r->reach.columns;
    r->rows = hmi_arena_alloc(&d->eq->arena, (rows + 1) * sizeof *r->rows);
    r->chosen = hmi_arena_alloc(&d->eq->arena, rows + 1);
    r->column = hmi_arena_alloc(&d->eq->arena, (rows + 1) * sizeof *r->column);
    r->work = hmi_new_vector(d, size * (size + width + 1));
    r->x0 = hmi_new_vector(d, n);
    r->x = hmi_new_vector(d, n);
    r->G = hmi_new_vector(d, n * width);
    r->D = hmi_new_vector(d, rows * width);
    r->small = hmi_new_vector(d, rows * (rows + 1));
    return r->rows && r->chosen && r->column && r->work && r->x0 && r->x && r->G && r->D && r->small
               ? HM_OK
               : HM_ERR_NOMEM;
}

static void refuse(raising *r, const char *why)
{
    r->d->eq->degrees.refusal = why;
    r->d->eq->degrees.refused = first_left(r);
}

/* Rounds of choosing and raising until every row is chosen or implied, or refused. */
static hm_status raise_all(raising *r)
{
    hmi_derived *eq = r->d->eq;
    for (;;) {
        hm_status status = hmi_reach_update(r->d, &r->reach);
        if (status == HM_ERR_UNDETERMINED) {
            refuse(r, "M is singular or constraints are redundant near the initial state");
            return HM_OK;
        }
        if (status != HM_OK)
            return status;
        hmi_reach_choose(&r->reach, r->chosen);
        if (left_to_raise(r) == 0)
            return HM_OK;
        const char *why = refuse_model(eq);
        if (why)
            refuse(r, why);
        status = why ? HM_OK : solve_passive(r);
        if (status == HM_OK && !why && !solve_closed_loop(r)) {
            why = "the rows that are reached first depend on each other";
            refuse(r, why);
        }
        if (status == HM_OK && !why)
            status = raise_rest(r);
        if (status != HM_OK || eq->degrees.refusal || left_to_raise(r) == 0)
            return status;
        status = hmi_drop_zeros(r->d);
        if (status != HM_OK)
            return status;
    }
}

/* The original rows again: what cannot be raised is left as it was, and refused where it is evaluated. */
static hm_status restore(raising *r, const hmi_expr_matrix *A, const hmi_expr *b)
{
    hmi_derivation *d = r->d;
    hmi_rows *servos = &d->eq->servos;
    hmi_array_release(d->eq->allocator, &servos->A.column);
    hmi_array_release(d->eq->allocator, &servos->A.value);
    hm_status status = hmi_expr_matrix_init(d, &servos->A, A->rows, A->columns);
    for (size_t i = 0; i < A->rows && status == HM_OK; i++) {
        for (size_t k = A->start[i]; k < A->start[i + 1] && status == HM_OK; k++)
            status = hmi_expr_matrix_push(d, &servos->A, A->column.data[k], A->value.data[k]);
        servos->A.start[i + 1] = servos->A.column.count;
    }
    memcpy(servos->b, b, servos->count * sizeof *b);
    return status;
}

/* A copy in the arena, as the matrix's own arrays change. */
static bool copy_matrix(hmi_derivation *d, const hmi_expr_matrix *A, hmi_expr_matrix *copy)
{
    size_t count = A->column.count;
    *copy = *A;
    copy->start = hmi_arena_alloc(&d->eq->arena, (A->rows + 1) * sizeof *A->start);
    copy->column.data = hmi_arena_alloc(&d->eq->arena, (count + 1) * sizeof *A->column.data);
    copy->value.data = hmi_arena_alloc(&d->eq->arena, (count + 1) * sizeof *A->value.data);
    if (!copy->start || !copy->column.data || !copy->value.data)
        return false;
    memcpy(copy->start, A->start, (A->rows + 1) * sizeof *A->start);
    if (count) {
        memcpy(copy->column.data, A->column.data, count * sizeof *A->column.data);
        memcpy(copy->value.data, A->value.data, count * sizeof *A->value.data);
    }
    return true;
}

/* How often a row is differentiated as it is written. */
static unsigned own_degree(const hmi_derived *eq, size_t row)
{
    hm_level level = eq->model->servo_rows.data[row].row.level;
    return level == HM_LEVEL_POSITION ? 2 : level == HM_LEVEL_VELOCITY ? 1 : 0;
}

static void keep_degrees(raising *r)
{
    hmi_derived *eq = r->d->eq;
    bool refused = eq->degrees.refusal != NULL;
    for (size_t i = 0; i < r->reach.rows; i++) {
        eq->degrees.degree[i] = refused ? own_degree(eq, i) : (unsigned)r->rows[i].degree;
        eq->degrees.raised |= !refused && r->rows[i].raised;
        eq->degrees.implied[i] = r->rows[i].redundant;
        if (!refused && r->rows[i].raised)
            eq->servos.b[i] = hmi_add(&eq->graph, r->rows[i].free, r->rows[i].target);
    }
}

/* The matrices here are dense. */
static bool is_small(const hmi_derived *eq)
{
    return eq->n + eq->constraints.count <= HMI_REACH_MOST && eq->servos.count <= HMI_REACH_MOST;
}

hm_status hmi_raise_servos(hmi_derivation *d, const hmi_expr *free)
{
    hmi_derived *eq = d->eq;
    raising r = {.d = d};
    hmi_expr_matrix A;
    hmi_expr *b = hmi_new_vector(d, eq->servos.count);
    eq->degrees.degree = hmi_arena_alloc(&eq->arena, (eq->servos.count + 1) * sizeof(unsigned));
    eq->degrees.implied = hmi_arena_alloc(&eq->arena, eq->servos.count + 1);
    if (!b || !eq->degrees.degree || !eq->degrees.implied)
        return HM_ERR_NOMEM;
    for (size_t i = 0; i < eq->servos.count; i++)
        eq->degrees.degree[i] = own_degree(eq, i);
    if (eq->servos.count == 0 || !is_small(eq))
        return HM_OK; /* as written */
    if (!copy_matrix(d, &eq->servos.A, &A))
        return HM_ERR_NOMEM;
    memcpy(b, eq->servos.b, eq->servos.count * sizeof *b);
    hm_status status = hmi_reach_create(d, &r.reach);
    if (status == HM_OK)
        status = allocate(&r);
    if (status != HM_OK)
        return status;
    begin_chains(&r, free);
    status = raise_all(&r);
    if (status == HM_OK && eq->degrees.refusal)
        status = restore(&r, &A, b);
    keep_degrees(&r);
    return status == HM_OK && eq->degrees.raised ? hmi_drop_zeros(d) : status;
}
