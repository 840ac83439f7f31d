/* Finds affine symmetries of the equations at random states (relative_equilibrium.h). */
#include "analyse/linearize/relative_equilibrium.h"

#include "base/random.h"
#include "compile/jit/assemble.h"
#include "linalg/linalg.h"

#include <math.h>

static const double zero_symmetry = 1e-9; /* singular values, relative: a symmetry */

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

hm_status hmi_find_affine_symmetries(hmi_relative_equilibrium *rel, double t, const double *from)
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
