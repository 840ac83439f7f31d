/* Entries of M and A that are identically zero without looking it.
 *
 * A person writes rolling as P' = cross(omega, r); its vertical component vanishes identically, but
 * only by cos^2 + sin^2 = 1 and the like. In floating point such an entry is rounding noise, and a
 * row of noise must not count as a constraint. So every entry is evaluated at random points in
 * extended precision with a running error bound; what cannot be told from zero at any of them is
 * dropped from the pattern. An entry that differs from zero anywhere on an open set does so at a
 * random point with probability one; by more than the error bound (about 1e-18 of its terms) unless
 * it is lost to cancellation in double precision anyway.
 *
 * Bounds of long products of rotations grow like 1.7^n though their values do not: beyond some forty
 * factors they say nothing. So an entry is called zero only where its bound is small beside the largest
 * of its terms (`scale`); one that cannot be judged stays.
 *
 * Verified: test/unit/derive/test_zeros.c.
 */
#include "base/random.h"
#include "derive/derive_internal.h"

#include <float.h>
#include <math.h>
#include <string.h>

enum { POINTS = 5, MOST_TRIES = 12 };

/* A value, a bound on its error, and the size of the largest of the products that it is a sum of. */
typedef struct approx {
    long double value, error, scale;
} approx;

/* Bounds above this part of the largest term decide nothing. */
static const long double judged = 1e-10L;

typedef struct zero_test {
    const hmi_derived *eq;
    hmi_walk *walk;
    approx *at;        /* by position in the walk */
    hmi_random random; /* the same points every time */
} zero_test;

/* ---- random points ---- */

/* Parameters keep their sign and size, so that the point is one the model means. */
static long double leaf_value(zero_test *z, const hmi_node *node)
{
    if (node->a != HMI_SYM_PARAM)
        return hmi_random_between(&z->random, -1.5, 1.5);
    const hmi_param *param = &z->eq->model->params.data[node->b];
    if (param->structural)
        return param->value;
    double factor = hmi_random_between(&z->random, 0.5, 1.5);
    return param->value != 0 ? param->value * factor : factor;
}

/* ---- values with error bounds ---- */

static long double op_value(hmi_op op, long double x, long double y)
{
    switch (op) {
    case HMI_ADD:
        return x + y;
    case HMI_SUB:
        return x - y;
    case HMI_MUL:
        return x * y;
    case HMI_DIV:
        return x / y;
    case HMI_NEG:
        return -x;
    case HMI_POW:
    case HMI_POWI:
        return powl(x, y);
    case HMI_SQRT:
        return sqrtl(x);
    case HMI_SIN:
        return sinl(x);
    case HMI_COS:
        return cosl(x);
    default:
        return NAN; /* not worth a bound: such an entry is kept */
    }
}

/* First-order propagation of the operands' errors through the operation. */
static long double propagated(hmi_op op, approx x, approx y, long double value)
{
    switch (op) {
    case HMI_ADD:
    case HMI_SUB:
        return x.error + y.error;
    case HMI_MUL:
        return fabsl(x.value) * y.error + fabsl(y.value) * x.error + x.error * y.error;
    case HMI_DIV:
        return (x.error + fabsl(value) * y.error) / fabsl(y.value);
    case HMI_POWI:
        return fabsl(y.value * value / x.value) * x.error;
    case HMI_SQRT:
        return x.error / value;
    case HMI_POW:
        return fabsl(y.value * value / x.value) * x.error +
               fabsl(value * logl(fabsl(x.value))) * y.error;
    default: /* sine, cosine, minus: slope at most one */
        return x.error;
    }
}

static long double scale_of(hmi_op op, approx x, approx y, long double value)
{
    switch (op) {
    case HMI_ADD:
    case HMI_SUB:
        return fmaxl(x.scale, y.scale);
    case HMI_MUL:
        return x.scale * y.scale;
    case HMI_DIV:
        return x.scale / fabsl(y.value);
    case HMI_NEG:
        return x.scale;
    case HMI_POWI:
        return y.value > 0 ? powl(x.scale, y.value) : fabsl(value);
    default:
        return fabsl(value);
    }
}

static approx apply(hmi_op op, approx x, approx y)
{
    approx result = {.value = op_value(op, x.value, y.value)};
    result.error = propagated(op, x, y, result.value) + 2 * LDBL_EPSILON * fabsl(result.value);
    result.scale = scale_of(op, x, y, result.value);
    return result;
}

static approx exact(long double value)
{
    return (approx){value, 0, fabsl(value)};
}

static void evaluate(zero_test *z)
{
    const hmi_graph *g = &z->eq->graph;
    for (size_t i = 0; i < z->walk->order.count; i++) {
        const hmi_node *node = hmi_node_at(g, z->walk->order.data[i]);
        int arity = hmi_op_arity((hmi_op)node->op);
        if (node->op == HMI_CONST)
            z->at[i] = exact(hmi_constant_of(g, z->walk->order.data[i])->value);
        else if (node->op == HMI_SYMBOL)
            z->at[i] = exact(leaf_value(z, node));
        else
            z->at[i] = apply((hmi_op)node->op, z->at[hmi_walk_position(z->walk, node->a)],
                             arity > 1 ? z->at[hmi_walk_position(z->walk, node->b)] : (approx){0});
    }
}

/* ---- the test ---- */

static bool has_terms(const hmi_graph *g, hmi_expr e)
{
    return !hmi_is_const(g, e) && hmi_op_of(g, e) != HMI_SYMBOL;
}

typedef HMI_ARRAY(hmi_expr) candidate_list;

/* Keeps the candidates that cannot be told from zero at the present point, and could be. A point where one is not
 * finite says nothing about it: it is kept among the candidates but marked as undecided. */
static size_t sift(const zero_test *z, candidate_list *list)
{
    size_t kept = 0, decided = 0;
    for (size_t i = 0; i < list->count; i++) {
        approx a = z->at[hmi_walk_position(z->walk, list->data[i])];
        bool known = isfinite(a.value) && isfinite(a.error);
        if (known && (fabsl(a.value) > 4 * a.error || a.error > judged * a.scale))
            continue;
        decided += known;
        list->data[kept++] = list->data[i];
    }
    list->count = kept;
    return decided;
}

static hm_status walk_to(zero_test *z, const candidate_list *list)
{
    const hmi_graph *g = &z->eq->graph;
    hm_status status = hmi_walk_begin(z->walk, g);
    for (size_t i = 0; i < list->count && status == HM_OK; i++)
        status = hmi_walk_add(z->walk, g, list->data[i], 0xFFFF);
    return status;
}

/* Leaves in `list` the expressions that are zero as far as can be told. */
static hm_status find_zeros(hmi_derivation *d, candidate_list *list)
{
    const hm_allocator *allocator = d->eq->allocator;
    zero_test z = {.eq = d->eq, .walk = &d->adjoint.walk, .random = {1}};
    hm_status status = walk_to(&z, list);
    size_t reached = z.walk->order.count;
    z.at = status == HM_OK ? hmi_alloc(allocator, (reached + 1) * sizeof *z.at) : NULL;
    size_t rounds = 0;
    for (int tries = 0; z.at && rounds < POINTS && tries < MOST_TRIES && list->count; tries++) {
        evaluate(&z);
        size_t decided = sift(&z, list);
        rounds += decided == list->count;
        if (list->count && tries == 0) /* the few that are left need few nodes */
            status = walk_to(&z, list);
        if (status != HM_OK)
            break;
    }
    if (rounds < POINTS)
        list->count = 0; /* not decided at enough points: nothing is called zero */
    if (status == HM_OK && !z.at)
        status = HM_ERR_NOMEM;
    hmi_free(allocator, z.at, (reached + 1) * sizeof *z.at);
    return status;
}

/* ---- dropping ---- */

static bool collect(hmi_derivation *d, const hmi_expr *values, size_t count, candidate_list *list)
{
    for (size_t i = 0; i < count; i++)
        if (values[i] != HMI_NONE && has_terms(&d->eq->graph, values[i]) &&
            !hmi_array_push(d->eq->allocator, list, values[i]))
            return false;
    return true;
}

/* Flags by node, for looking up many. NULL when there is no memory. */
static bool *flag_zeros(const hmi_derivation *d, const candidate_list *zeros)
{
    size_t nodes = d->eq->graph.nodes.count;
    bool *flags = hmi_alloc(d->eq->allocator, nodes);
    if (!flags)
        return NULL;
    memset(flags, 0, nodes);
    for (size_t i = 0; i < zeros->count; i++)
        flags[zeros->data[i]] = true;
    return flags;
}

static void drop_entries(hmi_expr_matrix *matrix, const bool *zero)
{
    size_t kept = 0;
    for (size_t i = 0; i < matrix->rows; i++) {
        size_t k = matrix->start[i], end = matrix->start[i + 1];
        matrix->start[i] = kept;
        for (; k < end; k++) {
            if (zero[matrix->value.data[k]])
                continue;
            matrix->column.data[kept] = matrix->column.data[k];
            matrix->value.data[kept++] = matrix->value.data[k];
        }
    }
    matrix->start[matrix->rows] = kept;
    matrix->column.count = matrix->value.count = kept;
}

static void clear_right_sides(hmi_derivation *d, hmi_rows *rows, const bool *zero)
{
    for (size_t i = 0; i < rows->count; i++)
        if (zero[rows->b[i]])
            rows->b[i] = d->eq->graph.zero;
}

static hm_status drop(hmi_derivation *d, const candidate_list *zeros)
{
    hmi_derived *eq = d->eq;
    bool *zero = flag_zeros(d, zeros);
    if (!zero)
        return HM_ERR_NOMEM;
    drop_entries(&eq->M, zero);
    drop_entries(&eq->constraints.A, zero);
    drop_entries(&eq->servos.A, zero);
    clear_right_sides(d, &eq->constraints, zero);
    clear_right_sides(d, &eq->servos, zero);
    hmi_free(eq->allocator, zero, eq->graph.nodes.count);
    return HM_OK;
}

hm_status hmi_drop_zeros(hmi_derivation *d)
{
    hmi_derived *eq = d->eq;
    candidate_list list = {0};
    bool collected = collect(d, eq->M.value.data, eq->M.value.count, &list) &&
                     collect(d, eq->constraints.A.value.data, eq->constraints.A.value.count,
                             &list) &&
                     collect(d, eq->constraints.b, eq->constraints.count, &list) &&
                     collect(d, eq->servos.A.value.data, eq->servos.A.value.count, &list) &&
                     collect(d, eq->servos.b, eq->servos.count, &list);
    hm_status status = collected ? HM_OK : HM_ERR_NOMEM;
    if (status == HM_OK && list.count)
        status = find_zeros(d, &list);
    if (status == HM_OK && list.count)
        status = drop(d, &list);
    hmi_array_release(eq->allocator, &list);
    return status;
}
