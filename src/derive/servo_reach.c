/* Numbers at a few points: the metric of the passive system, and which rows actuators reach. */
#include "derive/servo_reach.h"

#include "linalg/dense.h"
#include "linalg/linalg.h"

#include <math.h>
#include <string.h>

/* A part of a unit row below this is rounding. Sizes are relative to the row in the metric N, so that
 * units do not matter; elimination in N costs some digits of the sixteen. */
static const double nothing = 1e-10;
/* At the initial state a row that is reached less than this is taken only where no other is left. */
static const double little = 1e-6;

/* ---- points ---- */

hm_status hmi_reach_create(hmi_derivation *d, hmi_reach *reach)
{
    const hm_model *model = d->eq->model;
    *reach = (hmi_reach){.n = d->eq->n, .m = d->eq->constraints.count, .rows = d->eq->servos.count};
    reach->coordinate = hmi_arena_alloc(&d->eq->arena, (reach->n + 1) * sizeof(uint32_t));
    if (!reach->coordinate)
        return HM_ERR_NOMEM;
    for (uint32_t j = 0; j < reach->n; j++) {
        bool acts = false;
        for (size_t s = 0; s < model->servos.count; s++)
            for (size_t k = 0; k < model->servos.data[s].actuated_count; k++)
                acts |= model->servos.data[s].actuated[k] == j;
        if (acts)
            reach->coordinate[reach->columns++] = j;
    }
    bool failed = false;
    for (int p = 0; p < HMI_REACH_POINTS; p++) {
        reach->random[p] = (hmi_random){(uint64_t)p + 1};
        reach->part[p] = hmi_arena_doubles(&d->eq->arena, reach->rows * reach->columns, &failed);
        reach->base[p] = hmi_arena_doubles(&d->eq->arena, reach->rows * reach->columns, &failed);
    }
    return failed ? HM_ERR_NOMEM : HM_OK;
}

/* A number of its own for every leaf, whatever the order in which they are asked for. */
static double draw(const hmi_reach *reach, int point, const hmi_node *leaf)
{
    hmi_random random = {reach->random[point].state + 1000003u * leaf->a + 101u * leaf->b};
    (void)hmi_random_bits(&random);
    return hmi_random_between(&random, -0.4, 0.4);
}

static double leaf_value(const hmi_derivation *d, const hmi_reach *reach, int point,
                         const hmi_node *leaf)
{
    const hm_model *model = d->eq->model;
    double change = point == 0 ? 0 : draw(reach, point, leaf);
    switch (leaf->a) {
    case HMI_SYM_PARAM: {
        const hmi_param *param = &model->params.data[leaf->b];
        if (param->structural || point == 0)
            return param->value;
        return param->value != 0 ? param->value * (1 + change) : 1 + change;
    }
    case HMI_SYM_COORD:
        return model->coords.data[leaf->b].position.value + change;
    case HMI_SYM_VELOCITY:
        return model->coords.data[leaf->b].velocity.value + change;
    case HMI_SYM_STATE:
        return model->states.data[leaf->b].initial.value + change;
    default:
        return change;
    }
}

static double node_value(const hmi_derivation *d, const hmi_reach *reach, int point,
                         const hmi_walk *walk, const double *at, hmi_expr e)
{
    const hmi_graph *g = &d->eq->graph;
    const hmi_node *node = hmi_node_at(g, e);
    if (node->op == HMI_CONST)
        return hmi_constant_of(g, e)->value;
    if (node->op == HMI_SYMBOL)
        return leaf_value(d, reach, point, node);
    int arity = hmi_op_arity((hmi_op)node->op);
    return hmi_op_value((hmi_op)node->op, at[hmi_walk_position(walk, node->a)],
                        arity > 1 ? at[hmi_walk_position(walk, node->b)] : 0,
                        arity > 2 ? at[hmi_walk_position(walk, node->c)] : 0);
}

hm_status hmi_reach_values(hmi_derivation *d, const hmi_reach *reach, int point,
                           const hmi_expr *list, size_t count, double *values)
{
    hmi_walk *walk = &d->adjoint.walk;
    const hm_allocator *allocator = d->eq->allocator;
    hm_status status = hmi_walk_begin(walk, &d->eq->graph);
    for (size_t i = 0; i < count && status == HM_OK; i++)
        status = hmi_walk_add(walk, &d->eq->graph, list[i], 0xFFFF);
    size_t size = (walk->order.count + 1) * sizeof(double);
    double *at = status == HM_OK ? hmi_alloc(allocator, size) : NULL;
    if (!at)
        return status == HM_OK ? HM_ERR_NOMEM : status;
    for (size_t i = 0; i < walk->order.count; i++)
        at[i] = node_value(d, reach, point, walk, at, walk->order.data[i]);
    for (size_t i = 0; i < count; i++)
        values[i] = at[hmi_walk_position(walk, list[i])];
    hmi_free(allocator, at, size);
    return HM_OK;
}

/* ---- the metric of the passive system ---- */

/* Numbers of one point: M and A in one symmetric matrix, N, the rows of servos. */
typedef struct numbers {
    double *kkt, *N, *row, *values, *right, *span;
    int *pivots;
} numbers;

static bool take_numbers(hmi_derivation *d, const hmi_reach *reach, numbers *x)
{
    bool failed = false;
    hmi_arena *arena = &d->eq->arena;
    size_t n = reach->n, size = n + reach->m;
    size_t most = d->eq->M.value.count + d->eq->constraints.A.value.count +
                  d->eq->servos.A.value.count;
    x->kkt = hmi_arena_doubles(arena, size * size, &failed);
    x->N = hmi_arena_doubles(arena, n * n, &failed);
    x->row = hmi_arena_doubles(arena, reach->rows * n, &failed);
    x->values = hmi_arena_doubles(arena, most + 1, &failed);
    x->right = hmi_arena_doubles(arena, size + n, &failed);
    x->span = hmi_arena_doubles(arena, reach->columns * n, &failed);
    x->pivots = hmi_arena_alloc(arena, (size + 1) * sizeof *x->pivots);
    return !failed && x->pivots;
}

/* The stored entries of a matrix into a dense one from (row0, 0) on; also transposed where asked. */
static hm_status scatter(hmi_derivation *d, const hmi_reach *reach, int point,
                         const hmi_expr_matrix *matrix, double *values, double *dense, size_t width,
                         size_t row0, bool symmetric)
{
    hm_status status = hmi_reach_values(d, reach, point, matrix->value.data, matrix->value.count,
                                        values);
    for (size_t i = 0; status == HM_OK && i < matrix->rows; i++)
        for (size_t k = matrix->start[i]; k < matrix->start[i + 1]; k++) {
            size_t j = matrix->column.data[k];
            dense[(row0 + i) * width + j] = values[k];
            if (symmetric)
                dense[j * width + row0 + i] = values[k];
        }
    return status;
}

static hm_status evaluate_matrices(hmi_derivation *d, const hmi_reach *reach, int point, numbers *x)
{
    size_t n = reach->n, size = n + reach->m;
    memset(x->kkt, 0, size * size * sizeof *x->kkt);
    memset(x->row, 0, reach->rows * n * sizeof *x->row);
    hm_status status = scatter(d, reach, point, &d->eq->M, x->values, x->kkt, size, 0, true);
    if (status == HM_OK)
        status = scatter(d, reach, point, &d->eq->constraints.A, x->values, x->kkt, size, n, true);
    if (status == HM_OK)
        status = scatter(d, reach, point, &d->eq->servos.A, x->values, x->row, n, 0, false);
    return status;
}

/* Units of their own for rows and columns, by the diagonal of M and the rows of A. */
static bool equilibrate(size_t n, size_t size, double *kkt, double *unit)
{
    for (size_t i = 0; i < n; i++)
        unit[i] = kkt[i * size + i] > 0 ? 1 / sqrt(kkt[i * size + i]) : 1;
    for (size_t i = n; i < size; i++) {
        double length = 0;
        for (size_t j = 0; j < n; j++)
            length = hypot(length, kkt[i * size + j] * unit[j]);
        unit[i] = length > 0 ? 1 / length : 1;
    }
    bool finite = true;
    for (size_t i = 0; i < size; i++)
        for (size_t j = 0; j < size; j++) {
            kkt[i * size + j] *= unit[i] * unit[j];
            finite = finite && isfinite(kkt[i * size + j]);
        }
    return finite;
}

/* N, in units in which the diagonal of M is one; rows of servos are brought to them. */
static bool find_metric(const hmi_reach *reach, numbers *x)
{
    size_t n = reach->n, size = n + reach->m;
    double unit[HMI_REACH_MOST];
    if (!equilibrate(n, size, x->kkt, unit) || !hmi_lu((int)size, x->kkt, x->pivots, 1e-12))
        return false;
    for (size_t j = 0; j < n; j++) {
        memset(x->right, 0, size * sizeof *x->right);
        x->right[j] = 1;
        hmi_lu_solve((int)size, x->kkt, x->pivots, x->right);
        memcpy(x->N + j * n, x->right, n * sizeof *x->right);
    }
    for (size_t i = 0; i < reach->rows * n; i++) {
        x->row[i] *= unit[i % n];
        if (!isfinite(x->row[i]))
            return false;
    }
    return true;
}

/* y := N x; returns x.N x */
static double apply_metric(size_t n, const double *N, const double *x, double *y)
{
    for (size_t i = 0; i < n; i++)
        y[i] = hmi_dot((int)n, N + i * n, x);
    return hmi_dot((int)n, x, y);
}

/* An orthonormal basis (in N) of the span of the actuators; directions that the passive system does not
 * let move are left out. Returns how many there are. */
static size_t span_actuators(const hmi_reach *reach, numbers *x)
{
    size_t n = reach->n, found = 0;
    for (size_t c = 0; c < reach->columns; c++) {
        double *f = x->span + found * n, *Nf = x->right;
        memset(f, 0, n * sizeof *f);
        f[reach->coordinate[c]] = 1;
        double first = apply_metric(n, x->N, f, Nf), left = first;
        for (int pass = 0; pass < 2; pass++)
            for (size_t k = 0; k < found; k++) {
                apply_metric(n, x->N, f, Nf);
                double t = hmi_dot((int)n, x->span + k * n, Nf);
                for (size_t j = 0; j < n; j++)
                    f[j] -= t * x->span[k * n + j];
            }
        left = apply_metric(n, x->N, f, Nf);
        if (!(left > nothing * first) || !(first > nothing))
            continue;
        for (size_t j = 0; j < n; j++)
            f[j] /= sqrt(left);
        found++;
    }
    return found;
}

static void reached_parts(const hmi_reach *reach, numbers *x, double *part)
{
    size_t n = reach->n, span = span_actuators(reach, x);
    memset(part, 0, reach->rows * reach->columns * sizeof *part);
    for (size_t i = 0; i < reach->rows; i++) {
        double size = hmi_norm((int)n, x->row + i * n);
        double moves = apply_metric(n, x->N, x->row + i * n, x->right);
        for (size_t c = 0; c < span && moves > nothing * size * size; c++) {
            double t = hmi_dot((int)n, x->span + c * n, x->right) / sqrt(moves);
            part[i * reach->columns + c] = fabs(t) > nothing ? t : 0;
        }
    }
}

hm_status hmi_reach_update(hmi_derivation *d, hmi_reach *reach)
{
    numbers x;
    if (!take_numbers(d, reach, &x))
        return HM_ERR_NOMEM;
    bool any = false;
    for (int p = 0; p < HMI_REACH_POINTS; p++) {
        hm_status status = evaluate_matrices(d, reach, p, &x);
        if (status != HM_OK)
            return status;
        reach->usable[p] = find_metric(reach, &x);
        if (reach->usable[p])
            reached_parts(reach, &x, reach->part[p]);
        any |= p > 0 && reach->usable[p];
    }
    return any ? HM_OK : HM_ERR_UNDETERMINED;
}

/* ---- choosing ---- */

/* The length of what is left of a row beside those chosen, at a point. */
static double left_over(const hmi_reach *reach, int point, size_t row, size_t chosen, double *rest)
{
    size_t width = reach->columns;
    memcpy(rest, reach->part[point] + row * width, width * sizeof *rest);
    for (int pass = 0; pass < 2; pass++)
        for (size_t k = 0; k < chosen; k++) {
            const double *b = reach->base[point] + k * width;
            double t = hmi_dot((int)width, b, rest);
            for (size_t c = 0; c < width; c++)
                rest[c] -= t * b[c];
        }
    return hmi_norm((int)width, rest);
}

static void extend_base(const hmi_reach *reach, size_t row, size_t chosen)
{
    for (int p = 0; p < HMI_REACH_POINTS; p++) {
        double *b = reach->base[p] + chosen * reach->columns;
        double length = left_over(reach, p, row, chosen, b);
        for (size_t c = 0; c < reach->columns; c++)
            b[c] = length > nothing ? b[c] / length : 0;
    }
}

/* How well a row is reached beside those chosen: at the initial state, less than `little` where only
 * generically, 0: not at all. */
static double merit(const hmi_reach *reach, size_t row, size_t chosen, double *rest)
{
    double generic = 0;
    for (int p = 1; p < HMI_REACH_POINTS; p++)
        if (reach->usable[p])
            generic = fmax(generic, left_over(reach, p, row, chosen, rest));
    if (generic <= nothing)
        return 0;
    double here = reach->usable[0] ? left_over(reach, 0, row, chosen, rest) : 0;
    return here > little ? here : little * generic;
}

size_t hmi_reach_choose(const hmi_reach *reach, bool *chosen)
{
    size_t count = 0;
    double rest[HMI_REACH_MOST];
    for (size_t i = 0; i < reach->rows; i++)
        if (chosen[i])
            extend_base(reach, i, count++);
    while (count < reach->columns) {
        size_t best = reach->rows;
        double most = 0;
        for (size_t i = 0; i < reach->rows; i++) {
            double now = chosen[i] ? 0 : merit(reach, i, count, rest);
            if (now > most * (1 + 1e-9)) {
                best = i;
                most = now;
            }
        }
        if (best == reach->rows)
            break;
        chosen[best] = true;
        extend_base(reach, best, count++);
    }
    return count;
}

/* ---- pivots ---- */

/* Complete pivoting over columns, row by row, at one point; false where the rows are dependent. */
static bool pivot_columns(size_t rows, size_t width, double *D, size_t *column)
{
    bool taken[HMI_REACH_MOST] = {false};
    for (size_t i = 0; i < rows; i++) {
        size_t best = width;
        double size = 0;
        for (size_t c = 0; c < width; c++) {
            size = fmax(size, fabs(D[i * width + c]));
            if (!taken[c] && (best == width || fabs(D[i * width + c]) > fabs(D[i * width + best])))
                best = c;
        }
        if (best == width || !(fabs(D[i * width + best]) > 1e-9 * size) || !isfinite(size))
            return false;
        taken[best] = true;
        column[i] = best;
        for (size_t r = i + 1; r < rows; r++) {
            double t = D[r * width + best] / D[i * width + best];
            for (size_t c = 0; c < width; c++)
                D[r * width + c] -= t * D[i * width + c];
            D[r * width + best] = 0;
        }
    }
    return true;
}

bool hmi_reach_columns(hmi_derivation *d, const hmi_reach *reach, const bool *chosen,
                       const hmi_expr *entries, size_t *column)
{
    size_t width = reach->columns, rows = 0;
    bool failed = false, found = false;
    double *D = hmi_arena_doubles(&d->eq->arena, reach->rows * width, &failed);
    for (size_t i = 0; i < reach->rows; i++)
        rows += chosen[i];
    for (int p = 0; p < HMI_REACH_POINTS && !failed && !found; p++)
        found = hmi_reach_values(d, reach, p, entries, rows * width, D) == HM_OK &&
                pivot_columns(rows, width, D, column);
    return found;
}
