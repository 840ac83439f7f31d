/* Chooses the variables that count, and searches for states where they are at rest
 * (equilibrium.h). */
#include "analyse/linearize/equilibrium.h"

#include "analyse/linearize/family.h"
#include "linalg/linalg.h"

#include <math.h>

/* ---- which variables count ---- */

static const double not_entering = 1e-9; /* of the largest entry of a row */

/* Does variable j of y enter the rate of a kept variable? */
static bool enters(const hmi_reduction *r, const hmi_kept *kept, size_t j)
{
    size_t d = r->dimension;
    for (size_t k = 0; k < kept->count; k++) {
        const double *row = r->A + kept->index[k] * d;
        if (fabs(row[j]) > not_entering * hmi_max_abs((int)d, row))
            return true;
    }
    return false;
}

void hmi_choose_kept(const hmi_reduction *r, bool drop, hmi_kept *kept)
{
    kept->count = r->dimension;
    for (size_t k = 0; k < r->dimension; k++)
        kept->index[k] = k;
    for (bool again = drop; again;) {
        again = false;
        for (size_t k = kept->count; k-- > 0;)
            if (r->independent[kept->index[k]] < r->n && !enters(r, kept, kept->index[k])) {
                kept->count--;
                for (size_t i = k; i < kept->count; i++)
                    kept->index[i] = kept->index[i + 1];
                again = true;
            }
    }
}

double hmi_kept_rate(const hmi_reduction *r, const hmi_kept *kept)
{
    double largest = 0;
    for (size_t k = 0; k < kept->count; k++)
        largest = fmax(largest, fabs(r->rate[r->independent[kept->index[k]]]));
    return largest;
}

void hmi_kept_matrix(const hmi_reduction *r, const hmi_kept *kept, double *A)
{
    for (size_t i = 0; i < kept->count; i++)
        for (size_t j = 0; j < kept->count; j++)
            A[i * kept->count + j] = r->A[kept->index[i] * r->dimension + kept->index[j]];
}

/* ---- states put aside ---- */

static double *copy_state(const hmi_reduction *r, hmi_arena *arena, const double *from)
{
    double *x = hmi_arena_alloc(arena, (r->size + 1) * sizeof *x);
    if (x)
        hmi_copy((int)r->size, from, x);
    return x;
}

/* ---- Newton's method ---- */

typedef struct newton {
    hmi_reduction *r;
    hmi_kept *kept;
    hmi_search *search;
    hmi_arena arena;
    double *X, *right, *step, *work; /* of the least-squares problem */
    int *ints;
    size_t *column; /* y that may change */
    size_t columns;
    double t, *x;   /* the state, */
    double *before; /* and the last one that was better */
} newton;

static hm_status start_newton(newton *w)
{
    size_t d = w->r->size;
    hmi_arena_init(&w->arena, w->r->arena.allocator);
    w->X = hmi_arena_alloc(&w->arena, (d * d + 1) * sizeof *w->X);
    w->right = hmi_arena_alloc(&w->arena, (d + 1) * sizeof *w->right);
    w->step = hmi_arena_alloc(&w->arena, (d + 1) * sizeof *w->step);
    w->before = hmi_arena_alloc(&w->arena, (d + 1) * sizeof *w->before);
    w->column = hmi_arena_alloc(&w->arena, (d + 1) * sizeof *w->column);
    w->work = hmi_arena_alloc(&w->arena, (hmi_cod_doubles((int)d, (int)d) + 1) * sizeof *w->work);
    w->ints = hmi_arena_alloc(&w->arena, (hmi_cod_ints((int)d, (int)d) + 1) * sizeof *w->ints);
    return w->X && w->right && w->step && w->before && w->column && w->work && w->ints
               ? HM_OK
               : HM_ERR_NOMEM;
}

/* The step of minimum norm with A step = -rate in the least-squares sense, rows of unit size;
 * returns its relative length. */
static double newton_step(newton *w)
{
    const hmi_reduction *r = w->r;
    size_t rows = w->kept->count, d = r->dimension;
    w->columns = 0;
    for (size_t k = 0; k < rows; k++) {
        size_t j = w->kept->index[k];
        if (!r->held || !r->held[r->independent[j]])
            w->column[w->columns++] = j;
    }
    for (size_t i = 0; i < rows; i++) {
        const double *row = r->A + w->kept->index[i] * d;
        double size = hmi_max_abs((int)d, row), t = size > 0 ? 1 / size : 1;
        w->right[i] = -t * r->rate[r->independent[w->kept->index[i]]];
        for (size_t j = 0; j < w->columns; j++)
            w->X[j * rows + i] = t * row[w->column[j]];
    }
    hmi_cod cod;
    hmi_cod_factor(&cod, (int)rows, (int)w->columns, w->X, (int)w->columns, 1e-9, w->work, w->ints);
    hmi_cod_solve(&cod, w->right, w->step);
    double longest = 0; /* at most one unit, or the size of the value */
    for (size_t j = 0; j < w->columns; j++) {
        double y = w->x[r->independent[w->column[j]]];
        longest = fmax(longest, fabs(w->step[j]) / (1 + fabs(y)));
    }
    for (size_t j = 0; j < w->columns && longest > 1; j++)
        w->step[j] /= longest;
    return longest;
}

/* The state before, moved by a part of the step, on the constraints. */
static hm_status try_step(newton *w, double part, double *rate)
{
    hmi_reduction *r = w->r;
    hmi_copy((int)r->size, w->before, w->x);
    for (size_t j = 0; j < w->columns; j++)
        w->x[w->column[j]] += part * w->step[j];
    hm_status status = hmi_reduction_restore(r, w->t, w->x);
    if (status == HM_OK)
        status = hmi_reduction_update(r, w->t, w->x);
    *rate = INFINITY;
    if (status == HM_OK) {
        hmi_choose_kept(r, w->search->drop, w->kept);
        *rate = hmi_kept_rate(r, w->kept);
    }
    return status;
}

static hm_status advance(newton *w, double now, double *next)
{
    hm_status status = HM_OK;
    double length = newton_step(w);
    for (size_t j = 0; j < w->columns; j++) /* variables: y may be others after the step */
        w->column[j] = w->r->independent[w->column[j]];
    hmi_copy((int)w->r->size, w->x, w->before);
    *next = now;
    for (double part = 1; part > 1e-4 && length > HMI_EPSILON; part /= 2) {
        status = try_step(w, part, next);
        if (status == HM_ERR_NOMEM || *next < now * (1 - 0.1 * part))
            return status;
    }
    return status;
}

static hm_status iterate(newton *w)
{
    hmi_search *search = w->search;
    hm_status status = hmi_reduction_update(w->r, w->t, w->x);
    if (status == HM_OK && w->r->rank) {
        status = hmi_reduction_restore(w->r, w->t, w->x);
        if (status == HM_OK)
            status = hmi_reduction_update(w->r, w->t, w->x);
    }
    if (status != HM_OK)
        return status;
    hmi_choose_kept(w->r, search->drop, w->kept);
    double now = hmi_kept_rate(w->r, w->kept), next = now;
    for (search->iterations = 0; search->iterations < search->most && now > 0;) {
        status = advance(w, now, &next);
        if (status == HM_ERR_NOMEM)
            return status;
        search->iterations++;
        if (!(next < 0.9 * now)) { /* no improvement: the state before was the best */
            hmi_copy((int)w->r->size, w->before, w->x);
            status = hmi_reduction_update(w->r, w->t, w->x);
            hmi_choose_kept(w->r, search->drop, w->kept);
            break;
        }
        now = next;
    }
    return status == HM_OK && !(now <= search->tolerance) ? HM_ERR_NUMERIC : status;
}

/* ---- relaxation, where Newton's method fails ---- */

/* Steps q += h q''(q, 0), as if at rest after every one: downhill for forces with a potential, to a
 * stable equilibrium. h doubles while the direction stays and falls where it turns back. */
static hm_status relax(newton *w)
{
    hmi_reduction *r = w->r;
    double h = 1e-2, *before = w->right;
    hm_status status = HM_OK;
    hmi_zero((int)r->n, before);
    for (int i = 0; i < 400 && status == HM_OK; i++) {
        hmi_zero((int)r->n, w->x + r->n);
        status = hmi_reduction_restore_all(r, w->t, w->x);
        if (status == HM_OK)
            status = hmi_reduction_update(r, w->t, w->x);
        const double *force = r->rate + r->n;
        double size = hmi_max_abs((int)r->n, force);
        if (status != HM_OK || !(size > 1e-3 * w->search->tolerance))
            break;
        h *= hmi_dot((int)r->n, before, force) < 0 ? 0.3 : 1.5;
        h = fmin(h, 0.3 / size);
        hmi_copy((int)r->n, force, before);
        for (size_t k = 0; k < r->n; k++)
            if (!r->held || !r->held[k])
                w->x[k] += h * force[k];
    }
    return status;
}

static hm_status relax_and_iterate(newton *w, const double *start)
{
    hmi_copy((int)w->r->size, start, w->x);
    hm_status status = hmi_reduction_update(w->r, w->t, w->x);
    if (status == HM_OK)
        status = relax(w);
    if (status == HM_OK)
        status = iterate(w);
    return status == HM_ERR_INCONSISTENT ? HM_ERR_NUMERIC : status;
}

/* Rates may also vanish at infinity, which is not a state near the given one. */
static bool ran_away(const hmi_reduction *r, const double *start, const double *x)
{
    double size = 1;
    for (size_t k = 0; k < r->n; k++)
        size = fmax(size, fabs(start[k]));
    for (size_t k = 0; k < r->n; k++)
        if (!(fabs(x[k] - start[k]) <= 100 * size))
            return true;
    return false;
}

hm_status hmi_find_rest(hmi_reduction *r, hmi_kept *kept, hmi_search *search, double t, double *x)
{
    newton w = {.r = r, .kept = kept, .search = search, .t = t, .x = x};
    hm_status status = start_newton(&w);
    const double *start = status == HM_OK ? copy_state(r, &w.arena, x) : NULL;
    if (status == HM_OK)
        status = start ? iterate(&w) : HM_ERR_NOMEM;
    if (status == HM_OK && ran_away(r, start, x))
        status = HM_ERR_NUMERIC;
    if (status != HM_OK && status != HM_ERR_NOMEM && search->relax) {
        status = relax_and_iterate(&w, start);
        if (status == HM_OK && ran_away(r, start, x))
            status = HM_ERR_NUMERIC;
    }
    hmi_arena_release(&w.arena);
    return status;
}

/* ---- families ---- */

/* Kernel vectors of A over the kept variables, one per row; returns their number. */
static size_t find_kernel(const hmi_reduction *r, const hmi_kept *kept, double *A, double *sigma,
                          double *V)
{
    size_t k = kept->count, count = 0;
    hmi_kept_matrix(r, kept, A);
    for (size_t i = 0; i < k; i++) { /* rows of unit size; the kernel stays */
        double size = hmi_max_abs((int)k, A + i * k);
        for (size_t j = 0; j < k && size > 0; j++)
            A[i * k + j] /= size;
    }
    for (size_t i = 0; i < k; i++) /* contiguous columns */
        for (size_t j = 0; j < i; j++) {
            double t = A[i * k + j];
            A[i * k + j] = A[j * k + i];
            A[j * k + i] = t;
        }
    hmi_svd((int)k, (int)k, A, sigma, V);
    while (count < k && sigma[k - 1 - count] <= 1e-9)
        count++;
    return count;
}

typedef struct family_search {
    hmi_reduction *r;
    hmi_kept *kept;
    bool drop;
} family_search;

static hm_status search_family(void *user, double t, double *x, bool *found)
{
    const family_search *f = user;
    hmi_search search = {.drop = f->drop, .tolerance = 1e-11, .most = 12};
    hm_status status = hmi_find_rest(f->r, f->kept, &search, t, x);
    *found = status == HM_OK;
    return status == HM_ERR_NOMEM ? status : HM_OK;
}

static double family_rate(void *user, size_t k)
{
    const family_search *f = user;
    return f->r->rate[k];
}

hm_status hmi_family_dimension(hmi_reduction *r, hmi_kept *kept, bool drop, size_t *dimension)
{
    size_t k = kept->count;
    hmi_arena arena;
    hmi_arena_init(&arena, r->arena.allocator);
    double *A = hmi_arena_alloc(&arena, (2 * k * k + k + 1) * sizeof *A);
    size_t *variable = hmi_arena_alloc(&arena, (k + 1) * sizeof *variable);
    double *from = copy_state(r, &arena, r->x), *x = copy_state(r, &arena, r->x);
    double *rate = copy_state(r, &arena, r->rate);
    hm_status status = A && variable && from && x && rate ? HM_OK : HM_ERR_NOMEM;
    *dimension = 0;
    if (status == HM_OK) {
        family_search own = {r, kept, drop};
        double *V = A + k * k, *sigma = V + k * k, t = r->at.t;
        size_t count = find_kernel(r, kept, A, sigma, V);
        const hmi_family_walk walk = {t, from,          rate,        x, variable,
                                      k, search_family, family_rate, r, &own};
        for (size_t j = 0; j < k; j++)
            variable[j] = r->independent[kept->index[j]];
        status = hmi_family_count(&walk, V + (k - count) * k, count, dimension);
        hm_status again = hmi_reduction_update(r, t, from);
        status = status == HM_OK ? again : status;
        hmi_choose_kept(r, drop, kept);
    }
    hmi_arena_release(&arena);
    return status;
}

/* ---- the error of a state ---- */

/* The step with A step = -rate, rows of unit size, by singular values: those that are rounding, and
 * the `family` smallest, are left out. */
static void solve_by_values(const hmi_reduction *r, const hmi_kept *kept, size_t family, double *A,
                            double *sigma, double *V, double *step)
{
    size_t k = kept->count, d = r->dimension;
    double *right = step + k;
    for (size_t i = 0; i < k; i++) {
        const double *row = r->A + kept->index[i] * d;
        double size = hmi_max_abs((int)d, row), t = size > 0 ? 1 / size : 1;
        right[i] = -t * r->rate[r->independent[kept->index[i]]];
        for (size_t j = 0; j < k; j++)
            A[j * k + i] = t * row[kept->index[j]];
    }
    hmi_svd((int)k, (int)k, A, sigma, V);
    hmi_zero((int)k, step);
    for (size_t i = 0; i + family < k && sigma[i] > 1e-14 * sigma[0]; i++) {
        double part = hmi_dot((int)k, A + i * k, right) / (sigma[i] * sigma[i]);
        hmi_axpy((int)k, part, V + i * k, step);
    }
}

hm_status hmi_rest_error(const hmi_reduction *r, const hmi_kept *kept, size_t family, double *dx)
{
    size_t k = kept->count;
    hmi_arena arena;
    bool failed = false;
    hmi_arena_init(&arena, r->arena.allocator);
    double *A = hmi_arena_doubles(&arena, 2 * k * k + 3 * k, &failed);
    double *direction = hmi_arena_doubles(&arena, r->size, &failed);
    hmi_zero((int)r->size, dx);
    if (!failed && k > 0) {
        double *V = A + k * k, *sigma = V + k * k, *step = sigma + k;
        solve_by_values(r, kept, family, A, sigma, V, step);
        for (size_t j = 0; j < k; j++) {
            size_t variable = r->independent[kept->index[j]];
            double most = 1 + fabs(r->x[variable]);
            hmi_reduction_direction(r, kept->index[j], direction);
            hmi_axpy((int)r->size, fmax(-most, fmin(most, step[j])), direction, dx);
        }
    }
    hmi_arena_release(&arena);
    return failed ? HM_ERR_NOMEM : HM_OK;
}
