/* Eliminates dependent variables from the derivatives of motion and constraints (reduce.h). */
#include "analyse/linearize/reduce.h"

#include "dynamics/sim/rounding.h"
#include "linalg/linalg.h"

#include <math.h>

/* Entries below this fraction of the largest entry of their row are rounding errors. */
static const double negligible = 1e-11;
static const double threshold = 0.1;
static const double rounding = 1e-14;
enum { MOST_RESTORING = 30 };

/* ---- memory ---- */

hm_status hmi_reduction_init(hmi_reduction *r, hm_sim *sim)
{
    const hm_system *system = sim->system;
    size_t n = system->derived.n, m = system->derived.constraints.count;
    bool failed = false;
    *r = (hmi_reduction){.sim = sim, .n = n, .m = m, .states = system->model->states.count};
    r->size = 2 * n + r->states;
    hmi_arena_init(&r->arena, system->allocator);
    r->x = hmi_arena_doubles(&r->arena, r->size, &failed);
    r->J = hmi_arena_doubles(&r->arena, (n + r->states) * (r->size + 1), &failed);
    r->rate = hmi_arena_doubles(&r->arena, r->size, &failed);
    r->residual = hmi_arena_doubles(&r->arena, 2 * m, &failed);
    r->C = hmi_arena_doubles(&r->arena, 2 * m * (r->size + 1), &failed);
    r->E = hmi_arena_doubles(&r->arena, 2 * m * r->size, &failed);
    r->A = hmi_arena_doubles(&r->arena, r->size * r->size, &failed);
    r->by_time = hmi_arena_doubles(&r->arena, r->size, &failed);
    r->scratch = hmi_arena_doubles(&r->arena, 2 * r->size + 2 * m, &failed);
    r->unit = hmi_arena_doubles(&r->arena, n, &failed);
    r->row_size = hmi_arena_doubles(&r->arena, 2 * m, &failed);
    r->cyclic = hmi_arena_alloc(&r->arena, n + 1);
    r->free = hmi_arena_alloc(&r->arena, (r->size + 1) * sizeof *r->free);
    r->pivot = hmi_arena_alloc(&r->arena, (2 * m + 1) * sizeof *r->pivot);
    r->dependent = hmi_arena_alloc(&r->arena, (2 * m + 1) * sizeof *r->dependent);
    r->independent = hmi_arena_alloc(&r->arena, (r->size + 1) * sizeof *r->independent);
    r->is_dependent = hmi_arena_alloc(&r->arena, r->size + 1);
    failed |= !r->free || !r->cyclic || !r->pivot || !r->dependent || !r->independent ||
              !r->is_dependent;
    return failed ? HM_ERR_NOMEM : HM_OK;
}

void hmi_reduction_release(hmi_reduction *r)
{
    hmi_arena_release(&r->arena);
}

static hmi_point point_of(const hmi_reduction *r, double t, const double *x)
{
    return (hmi_point){t, x, x + r->n, x + 2 * r->n};
}

const char *hmi_reduction_name(const hm_sim *sim, size_t k)
{
    const hm_model *model = sim->system->model;
    size_t n = sim->system->derived.n;
    hmi_symbol_kind kind = k < n ? HMI_SYM_COORD : k < 2 * n ? HMI_SYM_VELOCITY : HMI_SYM_STATE;
    return hmi_model_symbol_name(sim->context, model, kind,
                                 (uint32_t)(k < n       ? k
                                            : k < 2 * n ? k - n
                                                        : k - 2 * n));
}

/* ---- elimination ---- */

/* Makes the row a unit in this column, and the column zero in all other rows. */
static void pivot_on(hmi_reduction *r, size_t row, size_t column)
{
    double *own = r->E + row * r->size, t = 1 / own[column];
    for (size_t j = 0; j < r->size; j++)
        own[j] *= t;
    own[column] = 1;
    for (size_t i = 0; i < 2 * r->m; i++) {
        double *other = r->E + i * r->size, factor = other[column];
        if (i != row && factor != 0) {
            hmi_axpy((int)r->size, -factor, own, other);
            other[column] = 0;
        }
    }
    r->pivot[row] = column;
    r->is_dependent[column] = true;
    r->dependent[r->rank++] = column;
}

/* An entry in units of the mass metric. */
static double weight_of(const hmi_reduction *r, size_t row, size_t c)
{
    double unit = c < 2 * r->n ? r->unit[c % r->n] : 1;
    return fabs(r->E[row * r->size + c]) / unit;
}

/* The largest entry of a row among free variables of a range; those to be held only where others
 * have none. */
static double largest_entry(const hmi_reduction *r, size_t row, size_t from, size_t to)
{
    double largest = 0, with_held = 0;
    for (size_t c = from; c < to; c++)
        if (!r->is_dependent[c]) {
            double weight = weight_of(r, row, c);
            with_held = fmax(with_held, weight);
            if (!r->held || !r->held[c])
                largest = fmax(largest, weight);
        }
    return largest > 1e-6 * with_held ? largest : with_held;
}

/* Among the large entries: velocities of coordinates that enter nowhere first, so that the others
 * remain to describe a steady motion; then what was declared first, since places are mostly
 * declared before angles. */
static size_t choose_entry(const hmi_reduction *r, size_t row, size_t from, size_t to,
                           double largest)
{
    size_t best = to;
    for (size_t c = from; c < to; c++) {
        double weight = r->is_dependent[c] ? 0 : weight_of(r, row, c);
        bool held = r->held && r->held[c] && weight > largest; /* `largest` is of others */
        bool large = weight > 0 && weight >= threshold * largest && !held;
        bool cyclic = c >= r->n && c < 2 * r->n && r->cyclic[c - r->n];
        if (large && cyclic)
            return c;
        if (large && best == to)
            best = c;
    }
    return best;
}

/* Scales the rows of C to unit size. */
static void take_rows(hmi_reduction *r)
{
    memset(r->is_dependent, 0, r->size);
    r->rank = 0;
    for (size_t k = 0; k < 2 * r->m; k++) {
        const double *row = r->C + k * (r->size + 1);
        double size = hmi_max_abs((int)r->size, row);
        for (size_t j = 0; j < r->size; j++)
            r->E[k * r->size + j] = size > 0 ? row[j] / size : 0;
        r->pivot[k] = SIZE_MAX;
        r->row_size[k] = largest_entry(r, k, 0, r->size);
    }
}

/* Eliminates rows first .. end-1 with pivots among the variables from .. to-1, best rows first. */
static void eliminate(hmi_reduction *r, size_t first, size_t end, size_t from, size_t to)
{
    for (;;) {
        size_t best = SIZE_MAX;
        double largest = 0;
        for (size_t k = first; k < end; k++) {
            double size = r->pivot[k] == SIZE_MAX ? largest_entry(r, k, from, to) : 0;
            if (size > largest && size > negligible * r->row_size[k]) {
                largest = size;
                best = k;
            }
        }
        if (best == SIZE_MAX)
            return;
        pivot_on(r, best, choose_entry(r, best, from, to, largest));
    }
}

/* The derivative of a position row pivots on the velocity of the row's own dependent coordinate. */
static void eliminate_alike(hmi_reduction *r)
{
    for (size_t k = 0; k < r->m; k++) {
        size_t row = r->m + k, column = r->pivot[k] + r->n;
        if (r->pivot[k] != SIZE_MAX &&
            weight_of(r, row, column) > 1e-3 * largest_entry(r, row, r->n, 2 * r->n))
            pivot_on(r, row, column);
    }
}

static void eliminate_all(hmi_reduction *r)
{
    take_rows(r);
    eliminate(r, 0, r->m, 0, r->n);
    eliminate_alike(r);
    eliminate(r, r->m, 2 * r->m, r->n, 2 * r->n);
    eliminate(r, r->m, 2 * r->m, 0, r->size); /* rows without velocities at this state */
}

/* With the pivots of another state. */
static bool eliminate_like(hmi_reduction *r, const hmi_reduction *like)
{
    take_rows(r);
    for (size_t i = 0; i < like->rank; i++) {
        size_t row = 0, column = like->dependent[i];
        while (like->pivot[row] != column)
            row++;
        if (!(weight_of(r, row, column) > 1e-6 * r->row_size[row]))
            return false;
        pivot_on(r, row, column);
    }
    return true;
}

/* A deviation of dependent variables is that of the others: `row` over all variables becomes one
 * over the independent ones. */
static void substitute_dependent(const hmi_reduction *r, double *row)
{
    for (size_t i = 0; i < 2 * r->m; i++)
        if (r->pivot[i] != SIZE_MAX && row[r->pivot[i]] != 0) {
            hmi_axpy((int)r->size, -row[r->pivot[i]], r->E + i * r->size, row);
            row[r->pivot[i]] = 0;
        }
}

static void list_independent(hmi_reduction *r)
{
    r->dimension = 0;
    for (size_t k = 0; k < r->size; k++)
        if (!r->is_dependent[k])
            r->independent[r->dimension++] = k;
}

/* ---- the reduced matrix ---- */

/* Row of F = d(x')/dx for variable k, with the column of t last. */
static void rate_row(const hmi_reduction *r, size_t k, double *row)
{
    size_t width = r->size + 1;
    hmi_zero((int)width, row);
    if (k < r->n)
        row[r->n + k] = 1;
    else
        hmi_copy((int)width, r->J + (k - r->n) * width, row);
}

/* A = F T by rows: dependent variables are replaced by -E. */
static void fill_matrix(hmi_reduction *r)
{
    double *row = r->scratch;
    for (size_t i = 0; i < r->dimension; i++) {
        rate_row(r, r->independent[i], row);
        double by_time = row[r->size];
        double size = hmi_max_abs((int)r->size, row);
        substitute_dependent(r, row);
        for (size_t j = 0; j < r->dimension; j++) {
            double a = row[r->independent[j]];
            r->A[i * r->dimension + j] = fabs(a) > rounding * size ? a : 0;
        }
        r->by_time[i] = by_time;
    }
}

void hmi_reduction_turn(hmi_reduction *r, const double *B)
{
    double *row = r->scratch, largest = hmi_max_abs((int)(r->n * r->n), B);
    for (size_t i = 0; i < r->dimension; i++) {
        size_t k = r->independent[i];
        double *own = r->A + i * r->dimension;
        double size = largest + hmi_max_abs((int)r->dimension, own);
        if (k >= 2 * r->n)
            continue;
        hmi_zero((int)r->size + 1, row);
        hmi_copy((int)r->n, B + k % r->n * r->n, row + (k < r->n ? 0 : r->n));
        substitute_dependent(r, row);
        for (size_t j = 0; j < r->dimension; j++) {
            own[j] -= row[r->independent[j]];
            if (fabs(own[j]) <= 10 * rounding * size)
                own[j] = 0;
        }
    }
}

/* ---- rounding ---- */

/* Square roots of the diagonal of M: times these, all coordinates have one unit. A coordinate without
 * inertia, up to rounding (the norm of a quaternion), has none. */
static void find_units(hmi_reduction *r)
{
    double largest = 0;
    for (size_t i = 0; i < r->n; i++)
        largest = fmax(largest, fabs(r->sim->dense.M[i * r->n + i]));
    for (size_t i = 0; i < r->n; i++) {
        double inertia = fabs(r->sim->dense.M[i * r->n + i]);
        r->unit[i] = inertia > 1e-14 * largest ? sqrt(inertia) : 1;
    }
}

/* Derivatives of q'' that cancel leave rounding, which must not count as a dependence: in units of
 * the mass metric, entries below rounding of the largest of their block become 0. */
static void clean_block(hmi_reduction *r, int half)
{
    size_t first = half ? r->n : 0;
    const double *unit = r->unit;
    size_t width = r->size + 1;
    double largest = 0;
    for (size_t i = 0; i < r->n; i++)
        for (size_t j = 0; j < r->n; j++)
            largest = fmax(largest, fabs(r->J[i * width + first + j]) * unit[i] / unit[j]);
    for (size_t i = 0; i < r->n; i++)
        for (size_t j = 0; j < r->n; j++)
            if (fabs(r->J[i * width + first + j]) * unit[i] / unit[j] <= rounding * largest)
                r->J[i * width + first + j] = 0;
    r->rounded[half] = rounding * largest;
}

/* Dependent variables pass theirs on. */
void hmi_reduction_rounding(const hmi_reduction *r, double *E)
{
    size_t n = r->n, d = r->dimension;
    for (size_t i = 0; i < d; i++) {
        size_t k = r->independent[i];
        for (size_t j = 0; j < d; j++) {
            double *sum = &E[i * d + j];
            size_t column = r->independent[j];
            *sum = 0;
            if (k < n || k >= 2 * n)
                continue;
            if (column < 2 * n)
                *sum = r->rounded[column >= n] * r->unit[column % n] / r->unit[k - n];
            for (size_t row = 0; row < 2 * r->m; row++) {
                size_t p = r->pivot[row];
                if (p < 2 * n)
                    *sum += fabs(r->E[row * r->size + column]) * r->rounded[p >= n] *
                            r->unit[p % n] / r->unit[k - n];
            }
        }
    }
}

static void clean(hmi_reduction *r)
{
    find_units(r);
    clean_block(r, 0);
    clean_block(r, 1);
}

/* Coordinates that no acceleration, state rate or constraint depends on. */
static void find_cyclic(hmi_reduction *r)
{
    size_t width = r->size + 1;
    for (size_t j = 0; j < r->n; j++) {
        bool enters = false;
        for (size_t i = 0; i < r->n + r->states; i++)
            enters |= r->J[i * width + j] != 0;
        for (size_t i = 0; i < 2 * r->m; i++)
            enters |= fabs(r->C[i * width + j]) >
                      rounding * hmi_max_abs((int)r->size, r->C + i * width);
        r->cyclic[j] = !enters;
    }
}

static void find_force(hmi_reduction *r)
{
    const hm_sim *sim = r->sim;
    const double *Q = hmi_sim_dynamics(r->sim) + sim->system->at.Q;
    r->force = 0;
    for (size_t i = 0; i < r->n; i++)
        r->force = fmax(r->force, (fabs(Q[i]) + fabs(sim->last.total_reaction[i])) / r->unit[i]);
}

/* Values of the state are rounded, those that constraints determine by the largest of them. */
double hmi_reduction_noise(const hmi_reduction *r, size_t k)
{
    const double *row = r->J + (k - r->n) * (r->size + 1);
    double size = k < 2 * r->n ? r->force / r->unit[k - r->n] : 0, largest = 0;
    for (size_t j = 0; j < 2 * r->n; j++)
        largest = fmax(largest, fabs(r->x[j]) * r->unit[j % r->n]);
    for (size_t j = 0; j < r->size; j++) {
        double shared = j < 2 * r->n && r->m ? largest / r->unit[j % r->n] : 0;
        size += fabs(row[j]) * fmax(fabs(r->x[j]), shared);
    }
    return 1000 * HMI_EPSILON * size;
}

void hmi_reduction_direction(const hmi_reduction *r, size_t j, double *dx)
{
    hmi_zero((int)r->size, dx);
    dx[r->independent[j]] = 1;
    for (size_t i = 0; i < 2 * r->m; i++)
        if (r->pivot[i] != SIZE_MAX)
            dx[r->pivot[i]] = -r->E[i * r->size + r->independent[j]];
}

/* Rows of A that are but rounding errors at this state hold nothing (dynamics/sim/rounding.h), nor do the
 * residuals they belong to: phi by coordinates and phi' or psi by velocities are the same row. */
static hm_status silence_rows(hmi_reduction *r)
{
    size_t width = r->size + 1;
    hm_status status = hmi_sim_row_terms(r->sim, &r->at, r->scratch);
    for (size_t i = 0; i < r->m && status == HM_OK; i++)
        if (r->scratch[i] > 0) {
            hmi_zero((int)width, r->C + i * width);
            hmi_zero((int)width, r->C + (r->m + i) * width);
        }
    return status;
}

/* Derivatives and rates at the state. */
static hm_status evaluate_at(hmi_reduction *r, double t, const double *x)
{
    hm_sim *sim = r->sim;
    memmove(r->x, x, r->size * sizeof *x); /* x may be r->x */
    r->at = point_of(r, t, r->x);
    hm_status status = hmi_sim_jacobian(sim, &r->at, NULL, r->J);
    if (status == HM_OK)
        status = hmi_sim_residual_jacobian(sim, &r->at, r->residual, r->C);
    if (status == HM_OK && r->m)
        status = silence_rows(r);
    if (status != HM_OK)
        return status;
    hmi_copy((int)r->n, r->at.v, r->rate);
    hmi_copy((int)r->n, sim->last.qdd, r->rate + r->n);
    hmi_copy((int)r->states, hmi_sim_state_rates(sim), r->rate + 2 * r->n);
    clean(r);
    find_force(r);
    find_cyclic(r);
    return HM_OK;
}

hm_status hmi_reduction_update(hmi_reduction *r, double t, const double *x)
{
    hm_status status = evaluate_at(r, t, x);
    if (status != HM_OK)
        return status;
    eliminate_all(r);
    list_independent(r);
    fill_matrix(r);
    return HM_OK;
}

hm_status hmi_reduction_update_like(hmi_reduction *r, const hmi_reduction *like, double t,
                                    const double *x)
{
    hm_status status = evaluate_at(r, t, x);
    if (status == HM_OK && !eliminate_like(r, like))
        status = HM_ERR_NUMERIC;
    if (status != HM_OK)
        return status;
    list_independent(r);
    fill_matrix(r);
    return HM_OK;
}

/* ---- back to the constraints ---- */

hm_status hmi_minimum_norm(const hm_allocator *allocator, size_t rows, size_t cols, double *X,
                           double tolerance, const double *right, double *x)
{
    hmi_arena arena;
    hmi_cod cod;
    int m = (int)rows, n = (int)cols;
    hmi_arena_init(&arena, allocator);
    double *work = hmi_arena_alloc(&arena, (hmi_cod_doubles(m, n) + 1) * sizeof *work);
    int *ints = hmi_arena_alloc(&arena, (hmi_cod_ints(m, n) + 1) * sizeof *ints);
    hm_status status = work && ints ? HM_OK : HM_ERR_NOMEM;
    if (status == HM_OK) {
        tolerance *= hmi_max_abs(m * n, X);
        hmi_cod_factor(&cod, m, n, X, m < n ? m : n, tolerance, work, ints);
        hmi_cod_solve(&cod, right, x);
    }
    hmi_arena_release(&arena);
    return status;
}

/* The least step of these variables with C step = -residual. */
static hm_status restoring_step(hmi_reduction *r, const size_t *variable, size_t cols, double *step)
{
    size_t rows = 2 * r->m, bytes = (rows * cols + 1) * sizeof(double);
    double *X = hmi_alloc(r->arena.allocator, bytes);
    if (!X)
        return HM_ERR_NOMEM;
    for (size_t j = 0; j < cols; j++)
        for (size_t i = 0; i < rows; i++)
            X[j * rows + i] = -r->C[i * (r->size + 1) + variable[j]];
    hm_status status = hmi_minimum_norm(r->arena.allocator, rows, cols, X, 1e-12, r->residual,
                                        step);
    hmi_free(r->arena.allocator, X, bytes);
    return status;
}

static hm_status restore(hmi_reduction *r, const size_t *variable, size_t count, double t,
                         double *x)
{
    const hmi_point at = point_of(r, t, x);
    double *step = r->scratch, last = INFINITY;
    for (int k = 0; k < MOST_RESTORING; k++) {
        hm_status status = hmi_sim_residual_jacobian(r->sim, &at, r->residual, r->C);
        if (status != HM_OK)
            return status;
        double now = hmi_max_abs((int)(2 * r->m), r->residual);
        if (r->rank == 0 || now == 0 || (now <= 1e-12 && now >= 0.5 * last))
            return HM_OK;
        if (now > 1e-6 && now > 4 * last)
            break;
        last = now;
        status = restoring_step(r, variable, count, step);
        if (status != HM_OK)
            return status;
        for (size_t i = 0; i < count; i++)
            x[variable[i]] += step[i];
    }
    return last <= 1e-9 ? HM_OK : HM_ERR_INCONSISTENT;
}

hm_status hmi_reduction_restore(hmi_reduction *r, double t, double *x)
{
    return restore(r, r->dependent, r->rank, t, x);
}

hm_status hmi_reduction_restore_all(hmi_reduction *r, double t, double *x)
{
    size_t count = 0;
    for (size_t k = 0; k < 2 * r->n; k++)
        if (!r->held || !r->held[k])
            r->free[count++] = k;
    return restore(r, r->free, count, t, x);
}
