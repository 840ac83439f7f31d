/* Zero dynamics of servos: what moves while every beta = lhs - rhs stays zero.
 *
 * A row of relative degree r fixes beta, beta', ..., beta^(r-1), so that as many states are left as
 * the motion has beside them. At an equilibrium the closed loop y' = A y (reduce.h) keeps the null space
 * of the gradients c, c A, ..., c A^(r-1) of these, c = d(beta)/dy: with orthonormal columns N of
 * that space the zero dynamics are N^T A N.     [Isidori, Nonlinear Control Systems, ch. 4.3, 5.1]
 * Verified: test/physics/test_relative_degree.c
 */
#include "analyse/linearize/reduce.h"
#include "analyse/linearize/spectrum.h"
#include "base/argument.h"
#include "dynamics/sim/sim.h"
#include "linalg/dense.h"
#include "linalg/linalg.h"

#include <hamel/linearize.h>
#include <math.h>
#include <string.h>

typedef struct zeros {
    hm_sim *sim;
    hmi_reduction r;
    size_t fixed;     /* states that the servos fix: the sum of their degrees */
    double *gradient; /* size: d(beta)/dx */
    double *row;      /* dimension, twice */
    double *X;        /* fixed columns of `dimension`: the gradients over y */
    double *basis;    /* dimension x dimension */
    double *Z;        /* of the zero dynamics */
} zeros;

/* ---- gradients ---- */

static double value_at(const hmi_graph *g, const hmi_walk *walk, const hmi_tape_values *values,
                       const double *at, hmi_expr e)
{
    const hmi_node *node = hmi_node_at(g, e);
    int arity = hmi_op_arity((hmi_op)node->op);
    const double *from = node->op == HMI_SYMBOL ? values->by_kind[node->a] : NULL;
    if (node->op == HMI_CONST)
        return hmi_constant_of(g, e)->value;
    if (arity == 0)
        return from ? from[node->b] : 0;
    return hmi_op_value((hmi_op)node->op, at[hmi_walk_position(walk, node->a)],
                        arity > 1 ? at[hmi_walk_position(walk, node->b)] : 0,
                        arity > 2 ? at[hmi_walk_position(walk, node->c)] : 0);
}

/* The partial derivatives of e by one kind of variable, as numbers from `out` on. */
static hm_status partials_at(zeros *z, hmi_graph *g, hmi_adjoint *adjoint, hmi_expr e,
                             hmi_symbol_kind by, double *out)
{
    const hmi_tape_values values = hmi_sim_values(z->sim, &z->r.at);
    hmi_walk walk;
    hm_status status = hmi_gradient(adjoint, g, e, by);
    hmi_walk_init(&walk, z->sim->system->allocator);
    if (status == HM_OK)
        status = hmi_walk_begin(&walk, g);
    for (size_t k = 0; k < adjoint->partials.count && status == HM_OK; k++)
        status = hmi_walk_add(&walk, g, adjoint->partials.data[k].value, 0xFFFF);
    size_t size = (walk.order.count + 1) * sizeof(double);
    double *at = status == HM_OK ? hmi_alloc(z->sim->system->allocator, size) : NULL;
    for (size_t k = 0; at && k < walk.order.count; k++)
        at[k] = value_at(g, &walk, &values, at, walk.order.data[k]);
    for (size_t k = 0; at && k < adjoint->partials.count; k++)
        out[adjoint->partials.data[k].index] =
            at[hmi_walk_position(&walk, adjoint->partials.data[k].value)];
    if (status == HM_OK && !at)
        status = HM_ERR_NOMEM;
    hmi_free(z->sim->system->allocator, at, at ? size : 0);
    hmi_walk_release(&walk);
    return status;
}

/* gradient := d(beta)/d(q, v, z) */
static hm_status find_gradient(zeros *z, hmi_expr beta)
{
    hmi_graph g;
    hmi_adjoint adjoint;
    size_t n = z->r.n;
    memset(z->gradient, 0, z->r.size * sizeof *z->gradient);
    hmi_adjoint_init(&adjoint, z->sim->system->allocator);
    hm_status status = hmi_graph_copy(&g, &z->sim->system->derived.graph);
    if (status == HM_OK)
        status = partials_at(z, &g, &adjoint, beta, HMI_SYM_COORD, z->gradient);
    if (status == HM_OK)
        status = partials_at(z, &g, &adjoint, beta, HMI_SYM_VELOCITY, z->gradient + n);
    if (status == HM_OK)
        status = partials_at(z, &g, &adjoint, beta, HMI_SYM_STATE, z->gradient + 2 * n);
    hmi_adjoint_release(&adjoint);
    hmi_graph_release(&g);
    return status;
}

static double normalise(size_t n, double *x)
{
    double length = hmi_norm((int)n, x);
    for (size_t i = 0; i < n && length > 0; i++)
        x[i] /= length;
    return length;
}

/* Columns c, c A, ..., of unit length, from X + first * dimension on. */
static hm_status push_chain(zeros *z, hmi_expr beta, unsigned degree, size_t first)
{
    size_t size = z->r.dimension;
    double *direction = z->row + size;
    hm_status status = find_gradient(z, beta);
    for (size_t j = 0; j < size && status == HM_OK; j++) {
        hmi_reduction_direction(&z->r, j, direction);
        z->row[j] = hmi_dot((int)z->r.size, z->gradient, direction);
    }
    for (unsigned l = 0; l < degree && status == HM_OK; l++) {
        double *column = z->X + (first + l) * size;
        normalise(size, z->row);
        memcpy(column, z->row, size * sizeof *column);
        for (size_t j = 0; j < size; j++) {
            z->row[j] = 0;
            for (size_t i = 0; i < size; i++)
                z->row[j] += column[i] * z->r.A[i * size + j];
        }
    }
    return status;
}

/* ---- the matrix ---- */

static hm_status collect_chains(zeros *z)
{
    const hm_system *system = z->sim->system;
    const hmi_servo_degrees *degrees = &system->derived.degrees;
    hm_status status = HM_OK;
    size_t first = 0;
    for (size_t i = 0; i < system->derived.servos.count && status == HM_OK; i++) {
        if (degrees->implied[i])
            continue;
        status = push_chain(z, system->model->servo_rows.data[i].row.residual, degrees->degree[i],
                            first);
        first += degrees->degree[i];
    }
    return status;
}

/* Z = N^T A N; false where the gradients depend on each other. */
static bool restrict_matrix(zeros *z, hmi_arena *arena, size_t left)
{
    size_t size = z->r.dimension;
    bool failed = false;
    double *tau = hmi_arena_doubles(arena, size + z->fixed, &failed);
    int *order = hmi_arena_alloc(arena, (z->fixed + 1) * sizeof *order);
    if (failed || !order)
        return false;
    int rank = hmi_qr((int)size, (int)z->fixed, z->X, tau, order, (int)z->fixed, 1e-9);
    if ((size_t)rank < z->fixed)
        return false;
    hmi_qr_basis((int)size, rank, z->X, tau, (int)size, z->basis);
    for (size_t i = 0; i < left; i++)
        for (size_t j = 0; j < left; j++) {
            const double *a = z->basis + (z->fixed + i) * size,
                         *b = z->basis + (z->fixed + j) * size;
            double sum = 0;
            for (size_t k = 0; k < size; k++)
                sum += a[k] * hmi_dot((int)size, z->r.A + k * size, b);
            z->Z[i * left + j] = sum;
        }
    return true;
}

/* Derivatives of models with servos are differences of about ten digits. */
static hm_status judge(zeros *z, hmi_arena *arena, hm_zero_dynamics *out)
{
    hmi_spectrum s;
    double norm = hmi_norm((int)(out->dimension * out->dimension), z->Z), largest = -INFINITY,
           bound = 0;
    hm_status status = hmi_spectrum_of(&s, arena, out->dimension, z->Z, NULL);
    if (status != HM_OK)
        return status;
    for (size_t k = 0; k < out->dimension; k++)
        if (s.re[k] > largest) {
            largest = s.re[k];
            bound = s.error[k] + 1e-7 * norm;
        }
    out->largest = largest;
    out->stability = largest > bound    ? HM_STABILITY_UNSTABLE
                     : largest < -bound ? HM_STABILITY_STABLE
                                        : HM_STABILITY_MARGINAL;
    return HM_OK;
}

/* ---- the whole ---- */

static bool at_rest(const zeros *z)
{
    double largest = 0;
    for (size_t k = 0; k < z->r.size; k++)
        largest = fmax(largest, fabs(z->r.rate[k]));
    for (size_t k = 0; k < z->r.dimension; k++)
        largest = fmax(largest, fabs(z->r.by_time[k]));
    return largest <= 1e-8;
}

static hm_status allocate(zeros *z)
{
    bool failed = false;
    size_t size = z->r.size;
    z->gradient = hmi_arena_doubles(&z->r.arena, size, &failed);
    z->row = hmi_arena_doubles(&z->r.arena, 2 * size, &failed);
    z->X = hmi_arena_doubles(&z->r.arena, size * (z->fixed + 1), &failed);
    z->basis = hmi_arena_doubles(&z->r.arena, size * size, &failed);
    z->Z = hmi_arena_doubles(&z->r.arena, size * size, &failed);
    return failed ? HM_ERR_NOMEM : HM_OK;
}

static hm_status examine(zeros *z, hm_zero_dynamics *out)
{
    const hmi_point *at = hmi_sim_present(z->sim);
    size_t n = z->r.n;
    hm_status status = allocate(z);
    if (status != HM_OK)
        return status;
    double *x = z->Z; /* long enough for a state, and not in use yet */
    memcpy(x, at->q, n * sizeof *x);
    memcpy(x + n, at->v, n * sizeof *x);
    if (z->r.states)
        memcpy(x + 2 * n, at->z, z->r.states * sizeof *x);
    status = hmi_reduction_update(&z->r, at->t, x);
    if (status != HM_OK || z->r.dimension < z->fixed)
        return status;
    out->known = true;
    out->dimension = z->r.dimension - z->fixed;
    if (out->dimension > 0 && !at_rest(z))
        out->reason = "the state is not at rest";
    if (out->reason || out->dimension == 0)
        return HM_OK;
    status = collect_chains(z);
    if (status == HM_OK && !restrict_matrix(z, &z->r.arena, out->dimension))
        out->reason = "the rows of servos depend on each other at the state";
    return status == HM_OK && !out->reason ? judge(z, &z->r.arena, out) : status;
}

hm_status hm_sim_zero_dynamics(hm_sim *sim, hm_zero_dynamics *out)
{
    HMI_ARGUMENT(sim ? sim->context : NULL, sim && out && !sim->in_callback,
                 "a sim and somewhere to write are needed; no call from a callback of the sim");
    const hm_system *system = sim->system;
    *out = (hm_zero_dynamics){.stability = HM_STABILITY_UNDECIDED};
    if (system->derived.servos.count == 0 || system->derived.degrees.refusal ||
        system->model->has_contacts || !sim->dense.dynamics)
        return HM_OK;
    zeros z = {.sim = sim};
    for (size_t i = 0; i < system->derived.servos.count; i++)
        z.fixed += system->derived.degrees.implied[i] ? 0 : system->derived.degrees.degree[i];
    hm_status status = hmi_reduction_init(&z.r, sim);
    if (status == HM_OK)
        status = examine(&z, out);
    hmi_reduction_release(&z.r);
    return status;
}
