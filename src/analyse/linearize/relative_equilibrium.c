/* Finds affine symmetries of the equations at random states, and motions along them
 * (relative_equilibrium.h). */
#include "analyse/linearize/relative_equilibrium.h"

#include "base/random.h"
#include "linalg/linalg.h"
#include "compile/jit/assemble.h"

#include <math.h>
#include <string.h>

static const double zero_symmetry = 1e-9;  /* singular values, relative: a symmetry */
static const double zero_direction = 1e-9; /* entries of Xi: no direction */

/* ---- the object ---- */

void hmi_relative_equilibrium_release(hmi_relative_equilibrium *rel)
{
    if (rel->r)
        hmi_arena_release(&rel->arena);
    rel->r = NULL;
}

/* ---- the gradient of the energy ---- */

typedef struct slope {
    hmi_graph graph;
    hmi_tape tape;
    double *work;
    bool known;
} slope;

static hm_status list_slope(hmi_relative_equilibrium *rel, slope *e, hmi_expr *list)
{
    const hm_system *system = rel->r->sim->system;
    size_t n = rel->r->n;
    hmi_adjoint adjoint;
    hm_status status = HM_OK;
    hmi_adjoint_init(&adjoint, system->allocator);
    for (size_t i = 0; i < 2 * n; i++)
        list[i] = e->graph.zero;
    for (size_t half = 0; half < 2 && status == HM_OK; half++) {
        status = hmi_gradient(&adjoint, &e->graph, system->derived.total,
                              half ? HMI_SYM_VELOCITY : HMI_SYM_COORD);
        for (size_t k = 0; k < adjoint.partials.count && status == HM_OK; k++)
            list[half * n + adjoint.partials.data[k].index] = adjoint.partials.data[k].value;
    }
    hmi_adjoint_release(&adjoint);
    return status == HM_OK ? hmi_graph_status(&e->graph) : status;
}

static hm_status slope_init(hmi_relative_equilibrium *rel, slope *e)
{
    const hm_system *system = rel->r->sim->system;
    size_t n = rel->r->n;
    hmi_expr *list = hmi_arena_alloc(&rel->arena, (2 * n + 1) * sizeof *list);
    *e = (slope){.tape = {.allocator = system->allocator}};
    if (!list)
        return HM_ERR_NOMEM;
    if (system->derived.total == HMI_NONE)
        return HM_OK;
    hm_status status = hmi_graph_copy(&e->graph, &system->derived.graph);
    if (status == HM_OK)
        status = list_slope(rel, e, list);
    if (status == HM_OK)
        status = hmi_tape_compile(&e->tape, &e->graph, list, 2 * n);
    bool failed = false;
    if (status == HM_OK)
        e->work = hmi_arena_doubles(&rel->arena, e->tape.work_size, &failed);
    e->known = true;
    return failed ? HM_ERR_NOMEM : status;
}

static void slope_release(slope *e)
{
    hmi_tape_release(&e->tape);
    if (e->known)
        hmi_graph_release(&e->graph);
}

static const double *slope_at(slope *e, const hmi_reduction *r)
{
    const hmi_tape_values values = hmi_sim_values(r->sim, &r->at);
    hmi_tape_prepare(&e->tape, &values, e->work);
    hmi_tape_run(&e->tape, &values, e->work);
    return hmi_tape_outputs(&e->tape, e->work);
}

/* ---- conditions on (c, B) at one state ---- */

/* by_q.(c + B q) + by_v.(B v) - B_i q'' = 0, a row over the unknowns of unit size. i = n: without
 * the last term. */
static void fill_condition(const hmi_relative_equilibrium *rel, const double *by_q,
                           const double *by_v, size_t i, double *row)
{
    const hmi_reduction *r = rel->r;
    size_t n = r->n;
    for (size_t a = 0; a < n; a++) {
        row[a] = by_q[a];
        for (size_t b = 0; b < n && rel->unknowns > n; b++)
            row[n + a * n + b] = by_q[a] * r->at.q[b] + by_v[a] * r->at.v[b] -
                                 (a == i ? r->rate[n + b] : 0);
    }
    double size = hmi_max_abs((int)rel->unknowns, row);
    for (size_t k = 0; k < rel->unknowns && size > 0; k++)
        row[k] /= size;
}

static size_t conditions(const hmi_relative_equilibrium *rel)
{
    return rel->r->n + rel->r->states + 2 * rel->r->m + 1;
}

/* Writes all conditions of one state as rows of X, whose columns are contiguous and `height`
 * long. */
static void add_state(hmi_relative_equilibrium *rel, slope *e, double *X, size_t height,
                      size_t first)
{
    const hmi_reduction *r = rel->r;
    size_t width = r->size + 1, n = r->n, count = conditions(rel);
    double *row = rel->moving; /* not in use yet */
    for (size_t k = 0; k < count; k++) {
        const double *from = k < n + r->states ? r->J + k * width
                                               : r->C + (k - n - r->states) * width;
        if (k + 1 == count)
            from = e->known ? slope_at(e, r) : rel->omega; /* zeros by now */
        fill_condition(rel, from, from + n, k < n ? k : n, row);
        for (size_t u = 0; u < rel->unknowns; u++)
            X[u * height + first + k] = row[u];
    }
}

/* Does t itself drive something? */
static bool driven(const hmi_reduction *r)
{
    double most = 0;
    for (size_t i = 0; i < r->n + r->states; i++)
        most = fmax(most, fabs(r->J[i * (r->size + 1) + r->size]));
    for (size_t i = 0; i < 2 * r->m; i++)
        most = fmax(most, fabs(r->C[i * (r->size + 1) + r->size]));
    return most > 1e-9;
}

/* ---- symmetries ---- */

/* r at a state near `from` on the constraints; x is memory for it. */
static hm_status wander(hmi_relative_equilibrium *rel, double t, const double *from, double *x,
                        hmi_random *random)
{
    hmi_reduction *r = rel->r;
    hm_status status = HM_ERR_NUMERIC;
    double spread = 0.4;
    for (int k = 0; k < 20 && status != HM_OK && status != HM_ERR_NOMEM; k++, spread *= 0.7) {
        for (size_t i = 0; i < r->size; i++)
            x[i] = from[i] + spread * (0.6 + fabs(from[i])) * hmi_random_between(random, -1, 1);
        status = hmi_reduction_restore_all(r, t, x);
        if (status == HM_OK)
            status = hmi_reduction_update(r, t, x);
    }
    return status;
}

static hm_status take_symmetries(hmi_relative_equilibrium *rel, double *X, size_t height)
{
    size_t U = rel->unknowns;
    bool failed = false;
    double *sigma = hmi_arena_doubles(&rel->arena, U, &failed);
    double *V = hmi_arena_doubles(&rel->arena, U * U, &failed);
    if (failed)
        return HM_ERR_NOMEM;
    hmi_svd((int)height, (int)U, X, sigma, V);
    while (rel->count < U && sigma[U - 1 - rel->count] <= zero_symmetry * fmax(sigma[0], 1e-300))
        rel->count++;
    rel->symmetry = V + (U - rel->count) * U;
    return HM_OK;
}

static hm_status find_symmetries(hmi_relative_equilibrium *rel, double t, const double *from)
{
    hmi_reduction *r = rel->r;
    slope e;
    hmi_random random = {20260101};
    size_t states = rel->unknowns / r->n + 5, height = states * conditions(rel);
    bool any = true, failed = false;
    double *X = hmi_arena_doubles(&rel->arena, height * rel->unknowns, &failed);
    double *x = hmi_arena_doubles(&rel->arena, r->size, &failed);
    if (failed)
        return HM_ERR_NOMEM;
    hm_status status = slope_init(rel, &e);
    for (size_t k = 0; k < states && status == HM_OK && any; k++) {
        status = wander(rel, t, from, x, &random);
        if (status == HM_OK)
            add_state(rel, &e, X, height, k * conditions(rel));
        any = status == HM_OK && !driven(r);
    }
    slope_release(&e);
    if (status == HM_OK && any)
        status = take_symmetries(rel, X, height);
    return status == HM_ERR_NOMEM ? status : HM_OK;
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
    hm_status status = find_symmetries(rel, r->at.t, x);
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

/* The symmetry that comes nearest to the motion. */
static hm_status find_omega(hmi_relative_equilibrium *rel, double *X)
{
    const hmi_reduction *r = rel->r;
    size_t n = r->n, U = rel->unknowns;
    hmi_copy((int)(r->size * rel->count), rel->Xi, X);
    hm_status status = rel->count ? hmi_minimum_norm(rel->arena.allocator, r->size, rel->count, X,
                                                     1e-10, r->rate, rel->omega)
                                  : HM_OK;
    memset(rel->moving, 0, U * sizeof(double));
    for (size_t s = 0; s < rel->count; s++)
        hmi_axpy((int)U, rel->omega[s], rel->symmetry + s * U, rel->moving);
    memset(rel->turn, 0, n * n * sizeof(double));
    if (U > n)
        hmi_copy((int)(n * n), rel->moving + n, rel->turn);
    rel->residual = 0;
    for (size_t k = 0; k < r->size; k++) {
        double rest = r->rate[k];
        for (size_t s = 0; s < rel->count; s++)
            rest -= rel->omega[s] * rel->Xi[s * r->size + k];
        rel->residual = fmax(rel->residual, fabs(rest));
    }
    return status;
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

hm_status hmi_relative_equilibrium_update(hmi_relative_equilibrium *rel)
{
    hmi_reduction *r = rel->r;
    hmi_arena arena;
    hmi_arena_init(&arena, rel->arena.allocator);
    double *X = hmi_arena_alloc(&arena, (r->size * rel->count + 1) * sizeof *X);
    lift(rel);
    hm_status status = X ? find_omega(rel, X) : HM_ERR_NOMEM;
    hmi_arena_release(&arena);
    if (status != HM_OK)
        return status;
    hmi_reduction_turn(r, rel->turn);
    choose_out(rel);
    return HM_OK;
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

/* ---- Newton's method ---- */

/* The step over y and omega: (DF - omega DXi) dy - Xi domega = -(F - omega Xi), on y. */
static hm_status newton_step(hmi_relative_equilibrium *rel, double *X, double *right, double *step)
{
    const hmi_reduction *r = rel->r;
    size_t d = r->dimension, at = 0;
    for (size_t i = 0; i < d; i++) {
        size_t k = r->independent[i];
        right[i] = -r->rate[k];
        for (size_t s = 0; s < rel->count; s++)
            right[i] += rel->omega[s] * rel->Xi[s * r->size + k];
    }
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
    double *X, *right, *step;
} relative_search;

static hm_status iterate(hmi_relative_equilibrium *rel, const relative_search *s)
{
    hmi_reduction *r = rel->r;
    for (int k = 0;; k++) {
        hm_status status = hmi_reduction_restore(r, s->t, s->x);
        if (status == HM_OK)
            status = hmi_reduction_update(r, s->t, s->x);
        if (status == HM_OK)
            status = hmi_relative_equilibrium_update(rel);
        if (status != HM_OK || rel->residual <= s->tolerance)
            return status;
        if (k == s->most || !isfinite(rel->residual))
            return HM_ERR_NUMERIC;
        status = newton_step(rel, s->X, s->right, s->step);
        if (status != HM_OK)
            return status;
        double longest = fmax(1, hmi_max_abs((int)r->dimension, s->step));
        for (size_t i = 0; i < r->dimension; i++)
            s->x[r->independent[i]] += s->step[i] / longest;
    }
}

hm_status hmi_relative_equilibrium_find(hmi_relative_equilibrium *rel, double tolerance, int most,
                                        double t, double *x)
{
    const hmi_reduction *r = rel->r;
    size_t width = r->size + rel->count;
    hmi_arena arena;
    hmi_arena_init(&arena, rel->arena.allocator);
    double *X = hmi_arena_alloc(&arena, (r->size * width + r->size + width + 1) * sizeof *X);
    const relative_search search = {
        tolerance, t, x, most, X, X + r->size * width, X + r->size * width + r->size};
    hm_status status = X ? iterate(rel, &search) : HM_ERR_NOMEM;
    hmi_arena_release(&arena);
    return status == HM_ERR_INCONSISTENT ? HM_ERR_NUMERIC : status;
}

/* ---- families ---- */

/* A step from one relative equilibrium, in the variables of the quotient. */
typedef struct family_step {
    double t;
    const double *from; /* size */
    double *x;          /* size: where it leads */
    const size_t *variable;
    size_t count;
} family_step;

/* Does a finite step along w, a vector of the quotient, lead to another relative equilibrium? */
static hm_status try_direction(hmi_relative_equilibrium *rel, const family_step *s, const double *w,
                               bool *found)
{
    const double length = 1e-2;
    double moved = 0;
    hmi_copy((int)rel->r->size, s->from, s->x);
    for (size_t i = 0; i < s->count; i++)
        s->x[s->variable[i]] += length * w[i];
    hm_status status = hmi_relative_equilibrium_find(rel, 1e-11, 20, s->t, s->x);
    for (size_t i = 0; i < s->count; i++)
        moved += w[i] * (s->x[s->variable[i]] - s->from[s->variable[i]]);
    *found = status == HM_OK && fabs(moved) > 0.5 * length && fabs(moved) < 2 * length;
    return status == HM_ERR_NOMEM ? status : HM_OK;
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
    double *X = hmi_arena_alloc(&arena, (2 * d * d + d + 2 * r->size + 1) * sizeof *X);
    size_t *variable = hmi_arena_alloc(&arena, (d + 1) * sizeof *variable);
    hm_status status = X && variable ? HM_OK : HM_ERR_NOMEM;
    *dimension = 0;
    if (status == HM_OK) {
        double *V = X + d * d, *sigma = V + d * d, *from = sigma + d;
        size_t k = list_kept(rel, variable);
        const family_step step = {r->at.t, from, from + r->size, variable, k};
        for (size_t i = 0; i < k * k; i++)
            X[i] = A[i % k * k + i / k];
        hmi_copy((int)r->size, r->x, from);
        hmi_svd((int)k, (int)k, X, sigma, V);
        for (size_t i = 0; i < k && status == HM_OK; i++) {
            bool found = false;
            if (sigma[i] <= 1e-9 * fmax(sigma[0], 1))
                status = try_direction(rel, &step, V + i * k, &found);
            *dimension += found;
        }
        hm_status again = hmi_reduction_update(r, step.t, from);
        if (again == HM_OK)
            again = hmi_relative_equilibrium_update(rel);
        status = status == HM_OK ? again : status;
    }
    hmi_arena_release(&arena);
    return status;
}
