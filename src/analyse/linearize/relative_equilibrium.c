/* Motions along symmetries: the moving frame, the quotient, and the search for them
 * (relative_equilibrium.h). */
#include "analyse/linearize/relative_equilibrium.h"

#include "analyse/linearize/family.h"
#include "linalg/linalg.h"

#include <math.h>
#include <string.h>

static const double zero_direction = 1e-9; /* entries of Xi: no direction */

/* ---- the object ---- */

void hmi_relative_equilibrium_release(hmi_relative_equilibrium *rel)
{
    if (rel->r)
        hmi_arena_release(&rel->arena);
    rel->r = NULL;
}

hm_status hmi_relative_equilibrium_init(hmi_relative_equilibrium *rel, hmi_reduction *r)
{
    size_t n = r->n;
    *rel = (hmi_relative_equilibrium){.r = r, .unknowns = n <= HMI_MOST_AFFINE ? n + n * n : n};
    hmi_arena_init(&rel->arena, r->arena.allocator);
    bool failed = false;
    double *x = hmi_arena_doubles(&rel->arena, r->size, &failed);
    rel->omega = hmi_arena_doubles(&rel->arena, rel->unknowns + 2 * n, &failed);
    rel->moving = hmi_arena_doubles(&rel->arena, rel->unknowns, &failed);
    rel->turn = hmi_arena_doubles(&rel->arena, n * n, &failed);
    rel->Xi = hmi_arena_doubles(&rel->arena, r->size * rel->unknowns, &failed);
    rel->E = hmi_arena_doubles(&rel->arena, rel->unknowns * r->size, &failed);
    rel->out = hmi_arena_alloc(&rel->arena, r->size + 1);
    rel->pivot = hmi_arena_alloc(&rel->arena, (r->size + 1) * sizeof *rel->pivot);
    if (failed || !rel->out || !rel->pivot)
        return HM_ERR_NOMEM;
    hmi_copy((int)r->size, r->x, x);
    hm_status status = hmi_find_affine_symmetries(rel, r->at.t, x);
    hm_status again = hmi_reduction_update(r, r->at.t, x);
    return status == HM_OK ? again : status;
}

/* ---- at a state ---- */

/* Xi of every symmetry. */
static void lift(hmi_relative_equilibrium *rel)
{
    const hmi_reduction *r = rel->r;
    size_t n = r->n;
    for (size_t s = 0; s < rel->count; s++) {
        const double *c = rel->symmetry + s * rel->unknowns;
        double *Xi = rel->Xi + s * r->size;
        memset(Xi, 0, r->size * sizeof *Xi);
        for (size_t i = 0; i < n; i++) {
            const double *B = c + n + i * n;
            bool turns = rel->unknowns > n;
            Xi[i] = c[i] + (turns ? hmi_dot((int)n, B, r->at.q) : 0);
            Xi[n + i] = turns ? hmi_dot((int)n, B, r->at.v) : 0;
        }
    }
}

/* What of the rate of variable k is not along omega times the symmetries. */
static double frame_rate(const hmi_relative_equilibrium *rel, size_t k)
{
    double rate = rel->r->rate[k];
    for (size_t s = 0; s < rel->count; s++)
        rate -= rel->omega[s] * rel->Xi[s * rel->r->size + k];
    return rate;
}

/* The frame of omega, and how much of the motion it leaves. */
static void take_omega(hmi_relative_equilibrium *rel)
{
    const hmi_reduction *r = rel->r;
    size_t n = r->n, U = rel->unknowns;
    memset(rel->moving, 0, U * sizeof(double));
    for (size_t s = 0; s < rel->count; s++)
        hmi_axpy((int)U, rel->omega[s], rel->symmetry + s * U, rel->moving);
    memset(rel->turn, 0, n * n * sizeof(double));
    if (U > n)
        hmi_copy((int)(n * n), rel->moving + n, rel->turn);
    rel->residual = 0;
    for (size_t k = 0; k < r->size; k++)
        rel->residual = fmax(rel->residual, fabs(frame_rate(rel, k)));
}

/* The symmetry that comes nearest to the motion. */
static hm_status find_omega(hmi_relative_equilibrium *rel, double *X)
{
    const hmi_reduction *r = rel->r;
    hmi_copy((int)(r->size * rel->count), rel->Xi, X);
    return rel->count ? hmi_minimum_norm(rel->arena.allocator, r->size, rel->count, X, 1e-10,
                                         r->rate, rel->omega)
                      : HM_OK;
}

/* The largest entry of rows without a pivot, coordinates before velocities; 0: none. */
static double next_pivot(const hmi_relative_equilibrium *rel, size_t *row, size_t *column)
{
    const hmi_reduction *r = rel->r;
    double best = 0;
    for (int half = 0; half < 2 && best <= zero_direction; half++)
        for (size_t s = rel->rank; s < rel->count; s++)
            for (size_t k = 0; k < r->dimension; k++) {
                double size = fabs(rel->E[s * r->size + k]);
                bool position = r->independent[k] < r->n;
                if (!rel->out[k] && position == (half == 0) && size > best) {
                    best = size;
                    *row = s;
                    *column = k;
                }
            }
    return best > zero_direction ? best : 0;
}

static void swap_rows(hmi_relative_equilibrium *rel, size_t a, size_t b)
{
    for (size_t k = 0; k < rel->r->dimension && a != b; k++) {
        double t = rel->E[a * rel->r->size + k];
        rel->E[a * rel->r->size + k] = rel->E[b * rel->r->size + k];
        rel->E[b * rel->r->size + k] = t;
    }
}

/* Gauss-Jordan on the directions over y: which of y stand for the place along the orbit. */
static void choose_out(hmi_relative_equilibrium *rel)
{
    const hmi_reduction *r = rel->r;
    size_t row, column;
    memset(rel->out, 0, r->size);
    for (size_t s = 0; s < rel->count; s++)
        for (size_t k = 0; k < r->dimension; k++)
            rel->E[s * r->size + k] = rel->Xi[s * r->size + r->independent[k]];
    for (rel->rank = 0; next_pivot(rel, &row, &column) > 0; rel->rank++) {
        double *own = rel->E + rel->rank * r->size;
        swap_rows(rel, rel->rank, row);
        double scale = 1 / own[column];
        for (size_t k = 0; k < r->dimension; k++)
            own[k] *= scale;
        for (size_t s = 0; s < rel->count; s++)
            if (s != rel->rank)
                hmi_axpy((int)r->dimension, -rel->E[s * r->size + column], own,
                         rel->E + s * r->size);
        rel->out[column] = true;
        rel->pivot[rel->rank] = column;
    }
}

/* Everything that follows from omega. */
static void use_omega(hmi_relative_equilibrium *rel)
{
    take_omega(rel);
    hmi_reduction_turn(rel->r, rel->turn);
    choose_out(rel);
}

hm_status hmi_relative_equilibrium_update(hmi_relative_equilibrium *rel)
{
    const hmi_reduction *r = rel->r;
    hmi_arena arena;
    hmi_arena_init(&arena, rel->arena.allocator);
    double *X = hmi_arena_alloc(&arena, (r->size * rel->count + 1) * sizeof *X);
    lift(rel);
    hm_status status = X ? find_omega(rel, X) : HM_ERR_NOMEM;
    hmi_arena_release(&arena);
    if (status == HM_OK)
        use_omega(rel);
    return status;
}

void hmi_relative_equilibrium_update_near(hmi_relative_equilibrium *rel, const double *change)
{
    lift(rel);
    for (size_t s = 0; s < rel->count && change; s++)
        rel->omega[s] += change[s];
    use_omega(rel);
}

/* w_k = y_k - sum_p E_pk y_p are constant along the orbit. */
void hmi_relative_equilibrium_matrix(const hmi_relative_equilibrium *rel, double *A)
{
    const hmi_reduction *r = rel->r;
    size_t d = r->dimension, at = 0;
    double turning = hmi_max_abs((int)(r->n * r->n), rel->turn);
    for (size_t k = 0; k < d; k++)
        for (size_t l = 0; l < d && !rel->out[k]; l++) {
            if (rel->out[l])
                continue;
            double a = r->A[k * d + l], size = fabs(a) + turning;
            for (size_t p = 0; p < rel->rank; p++) {
                double part = rel->E[p * r->size + k] * r->A[rel->pivot[p] * d + l];
                a -= part;
                size += fabs(part);
            }
            A[at++] = fabs(a) > 1e-13 * size ? a : 0; /* what is left of cancelling is rounding */
        }
}

void hmi_relative_equilibrium_rounding(const hmi_relative_equilibrium *rel, const double *of_A,
                                       double *E)
{
    const hmi_reduction *r = rel->r;
    size_t d = r->dimension, at = 0;
    for (size_t k = 0; k < d; k++)
        for (size_t l = 0; l < d && !rel->out[k]; l++) {
            if (rel->out[l])
                continue;
            E[at] = of_A[k * d + l];
            for (size_t p = 0; p < rel->rank; p++)
                E[at] += fabs(rel->E[p * r->size + k]) * of_A[rel->pivot[p] * d + l];
            at++;
        }
}

/* ---- Newton's method ---- */

/* The step over y and omega: (DF - omega DXi) dy - Xi domega = -(F - omega Xi), on y. */
static hm_status newton_step(hmi_relative_equilibrium *rel, double *X, double *right, double *step)
{
    const hmi_reduction *r = rel->r;
    size_t d = r->dimension, at = 0;
    for (size_t i = 0; i < d; i++)
        right[i] = -frame_rate(rel, r->independent[i]);
    for (size_t j = 0; j < d; j++, at++)
        for (size_t i = 0; i < d; i++)
            X[at * d + i] = r->held && r->held[r->independent[j]] ? 0 : r->A[i * d + j];
    for (size_t s = 0; s < rel->count; s++, at++)
        for (size_t i = 0; i < d; i++)
            X[at * d + i] = -rel->Xi[s * r->size + r->independent[i]];
    return hmi_minimum_norm(rel->arena.allocator, d, at, X, 1e-10, right, step);
}

/* What the search is for, and its memory. */
typedef struct relative_search {
    double tolerance, t, *x;
    int most;
    double *X, *right, *step, *before;
    size_t *variable;
} relative_search;

/* Everything at the state, back on the constraints. */
static hm_status arrive(hmi_relative_equilibrium *rel, const relative_search *s)
{
    hm_status status = hmi_reduction_restore(rel->r, s->t, s->x);
    if (status == HM_OK)
        status = hmi_reduction_update(rel->r, s->t, s->x);
    if (status == HM_OK)
        status = hmi_relative_equilibrium_update(rel);
    return status;
}

/* The step, halved while the residual does not fall: the search stays where it began. */
static hm_status advance(hmi_relative_equilibrium *rel, const relative_search *s)
{
    hmi_reduction *r = rel->r;
    size_t count = r->dimension;
    double now = rel->residual;
    hmi_copy((int)r->size, r->x, s->before);
    for (size_t i = 0; i < count; i++)
        s->variable[i] = r->independent[i];
    double longest = fmax(1, hmi_max_abs((int)count, s->step));
    for (double part = 1 / longest; part > 1e-4 / longest; part /= 2) {
        hmi_copy((int)r->size, s->before, s->x);
        for (size_t i = 0; i < count; i++)
            s->x[s->variable[i]] += part * s->step[i];
        hm_status status = arrive(rel, s);
        if (status == HM_ERR_NOMEM || (status == HM_OK && rel->residual < now))
            return status;
    }
    return HM_ERR_NUMERIC;
}

/* As far as the residual falls; then the state before is the best. */
static hm_status iterate(hmi_relative_equilibrium *rel, const relative_search *s)
{
    hm_status status = arrive(rel, s);
    for (int k = 0; status == HM_OK && rel->residual > 0 && k < s->most; k++) {
        status = newton_step(rel, s->X, s->right, s->step);
        if (status == HM_OK)
            status = advance(rel, s);
        if (status == HM_ERR_NUMERIC) {
            hmi_copy((int)rel->r->size, s->before, s->x);
            status = arrive(rel, s);
            break;
        }
    }
    return status == HM_OK && !(rel->residual <= s->tolerance) ? HM_ERR_NUMERIC : status;
}

/* Whole steps, at most a unit long: for starts from where the residual has to rise first. */
static hm_status iterate_boldly(hmi_relative_equilibrium *rel, const relative_search *s)
{
    hmi_reduction *r = rel->r;
    hm_status status = arrive(rel, s);
    for (int k = 0; status == HM_OK && !(rel->residual <= s->tolerance); k++) {
        if (k == s->most || !isfinite(rel->residual))
            return HM_ERR_NUMERIC;
        status = newton_step(rel, s->X, s->right, s->step);
        double longest = fmax(1, hmi_max_abs((int)r->dimension, s->step));
        for (size_t i = 0; i < r->dimension && status == HM_OK; i++)
            s->x[r->independent[i]] += s->step[i] / longest;
        if (status == HM_OK)
            status = arrive(rel, s);
    }
    return status == HM_OK ? iterate(rel, s) : status;
}

hm_status hmi_relative_equilibrium_find(hmi_relative_equilibrium *rel, double tolerance, int most,
                                        double t, double *x)
{
    const hmi_reduction *r = rel->r;
    size_t width = r->size + rel->count;
    hmi_arena arena;
    hmi_arena_init(&arena, rel->arena.allocator);
    bool failed = false;
    relative_search search = {.tolerance = tolerance, .t = t, .x = x, .most = most};
    search.X = hmi_arena_doubles(&arena, r->size * width, &failed);
    search.right = hmi_arena_doubles(&arena, r->size, &failed);
    search.step = hmi_arena_doubles(&arena, width, &failed);
    search.before = hmi_arena_doubles(&arena, r->size, &failed);
    search.variable = hmi_arena_alloc(&arena, (r->size + 1) * sizeof *search.variable);
    double *start = hmi_arena_doubles(&arena, r->size, &failed);
    hm_status status = search.variable && !failed ? HM_OK : HM_ERR_NOMEM;
    if (status == HM_OK) {
        hmi_copy((int)r->size, x, start);
        status = iterate(rel, &search);
    }
    if (status != HM_OK && status != HM_ERR_NOMEM) {
        hmi_copy((int)r->size, start, x);
        status = hmi_reduction_update(rel->r, t, x);
        if (status == HM_OK)
            status = iterate_boldly(rel, &search);
    }
    hmi_arena_release(&arena);
    return status == HM_ERR_INCONSISTENT ? HM_ERR_NUMERIC : status;
}

/* ---- families ---- */

static hm_status search_family(void *user, double t, double *x, bool *found)
{
    hm_status status = hmi_relative_equilibrium_find(user, 1e-11, 20, t, x);
    *found = status == HM_OK;
    return status == HM_ERR_NOMEM ? status : HM_OK;
}

static double rate_of(void *user, size_t k)
{
    return frame_rate(user, k);
}

static size_t list_kept(const hmi_relative_equilibrium *rel, size_t *variable)
{
    size_t count = 0;
    for (size_t k = 0; k < rel->r->dimension; k++)
        if (!rel->out[k])
            variable[count++] = rel->r->independent[k];
    return count;
}

hm_status hmi_relative_equilibrium_family(hmi_relative_equilibrium *rel, const double *A,
                                          size_t *dimension)
{
    hmi_reduction *r = rel->r;
    hmi_arena arena;
    hmi_arena_init(&arena, rel->arena.allocator);
    size_t d = r->dimension;
    double *X = hmi_arena_alloc(&arena, (2 * d * d + d + 3 * r->size + 1) * sizeof *X);
    size_t *variable = hmi_arena_alloc(&arena, (d + 1) * sizeof *variable);
    hm_status status = X && variable ? HM_OK : HM_ERR_NOMEM;
    *dimension = 0;
    if (status == HM_OK) {
        double *V = X + d * d, *sigma = V + d * d, *from = sigma + d, *rate = from + r->size;
        double t = r->at.t;
        size_t k = list_kept(rel, variable), count = 0;
        const hmi_family_walk walk = {
            t, from, rate, rate + r->size, variable, k, search_family, rate_of, r, rel};
        for (size_t i = 0; i < k * k; i++)
            X[i] = A[i % k * k + i / k];
        hmi_copy((int)r->size, r->x, from);
        for (size_t i = 0; i < r->size; i++)
            rate[i] = frame_rate(rel, i);
        hmi_svd((int)k, (int)k, X, sigma, V);
        while (count < k && sigma[k - 1 - count] <= 1e-9 * fmax(sigma[0], 1))
            count++;
        status = hmi_family_count(&walk, V + (k - count) * k, count, dimension);
        hm_status again = hmi_reduction_update(r, t, from);
        if (again == HM_OK)
            again = hmi_relative_equilibrium_update(rel);
        status = status == HM_OK ? again : status;
    }
    hmi_arena_release(&arena);
    return status;
}

hm_status hmi_relative_equilibrium_error(hmi_relative_equilibrium *rel, double *dx, double *change)
{
    const hmi_reduction *r = rel->r;
    size_t width = r->size + rel->count;
    hmi_arena arena;
    hmi_arena_init(&arena, rel->arena.allocator);
    double *X = hmi_arena_alloc(&arena, (r->size * width + 2 * r->size + width + 1) * sizeof *X);
    hm_status status = HM_ERR_NOMEM;
    if (X) {
        double *right = X + r->size * width, *direction = right + r->size,
               *step = direction + r->size;
        status = newton_step(rel, X, right, step);
        hmi_zero((int)r->size, dx);
        for (size_t j = 0; j < r->dimension && status == HM_OK; j++) {
            hmi_reduction_direction(r, j, direction);
            hmi_axpy((int)r->size, step[j], direction, dx);
        }
        if (status == HM_OK)
            hmi_copy((int)rel->count, step + r->dimension, change);
    }
    hmi_arena_release(&arena);
    return status;
}
