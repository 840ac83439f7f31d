/* Random expression DAGs over every operation of src/expr/graph/ops.def, with their values and derivatives computed
 * beside them in long double by rules that are independent of the library's. Shared by the tests of
 * graph, derivatives and tape, and by fuzz/fuzz_derivative.c.
 *
 * Operands are chosen so that every value is moderate and lies off the kinks and poles of its
 * operation: then derivatives exist and comparisons to 1e-10 are fair.
 */
#ifndef TEST_UNIT_EXPR_RANDOM_DAG_H
#define TEST_UNIT_EXPR_RANDOM_DAG_H

#include "expr/graph/graph.h"
#include "expr/graph/table.h"

#include <stdlib.h>
#include <tgmath.h>

typedef long double wide;

enum { DAG_COORDS = 6, DAG_PARAMS = 3, DAG_MOST = 4096 };

/* ---- where choices come from: a generator, or the bytes of a fuzzer ---- */

typedef struct dag_source {
    uint64_t state;
    const uint8_t *bytes; /* NULL: the generator */
    size_t size;
} dag_source;

static inline uint32_t dag_random(dag_source *s)
{
    s->state = s->state * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t)(s->state >> 33);
}

/* 0 .. below - 1 */
static inline uint32_t dag_choose(dag_source *s, uint32_t below)
{
    if (!s->bytes)
        return dag_random(s) % below;
    uint32_t value = 0;
    for (int i = 0; i < 2 && s->size; i++, s->size--)
        value = value << 8 | *s->bytes++;
    return value % below;
}

/* Between low and high, never a number that is special. */
static inline double dag_between(dag_source *s, double low, double high)
{
    return low + (high - low) * ((double)dag_choose(s, 65521) + 0.37) / 65521;
}

/* ---- operations in long double ---- */

#define hmi_powi(x, n) powl(x, n)
#define hmi_math_pow   pow
#define hmi_math_sin   sin
#define hmi_math_cos   cos
#define hmi_math_tan   tan
#define hmi_math_asin  asin
#define hmi_math_acos  acos
#define hmi_math_atan  atan
#define hmi_math_atan2 atan2
#define hmi_math_sinh  sinh
#define hmi_math_cosh  cosh
#define hmi_math_tanh  tanh
#define hmi_math_exp   exp
#define hmi_math_log   log
#define hmi_math_hypot hypot
static inline wide dag_value(hmi_op op, wide x, wide y, wide z)
{
    (void)z;
    switch (op) {
#define OP(name, arity, text, value, ddx, ddy)                                                     \
    case HMI_##name:                                                                               \
        return value;
#include "expr/graph/ops.def"
#undef OP
    default:
        return NAN;
    }
}
#undef hmi_powi
#undef hmi_math_pow
#undef hmi_math_sin
#undef hmi_math_cos
#undef hmi_math_tan
#undef hmi_math_asin
#undef hmi_math_acos
#undef hmi_math_atan
#undef hmi_math_atan2
#undef hmi_math_sinh
#undef hmi_math_cosh
#undef hmi_math_tanh
#undef hmi_math_exp
#undef hmi_math_log
#undef hmi_math_hypot

/* d/dx, d/dy, d/dz at operand values; false for an operation without a rule here. */
static inline bool dag_partials(hmi_op op, wide x, wide y, wide z, wide d[3])
{
    (void)z;
    d[0] = d[1] = d[2] = 0;
    switch (op) {
    case HMI_ADD:
        return d[0] = d[1] = 1, true;
    case HMI_SUB:
        return d[0] = 1, d[1] = -1, true;
    case HMI_MUL:
        return d[0] = y, d[1] = x, true;
    case HMI_DIV:
        return d[0] = 1 / y, d[1] = -x / (y * y), true;
    case HMI_NEG:
        return d[0] = -1, true;
    case HMI_POW:
        return d[0] = y * powl(x, y - 1), d[1] = powl(x, y) * logl(x), true;
    case HMI_POWI:
        return d[0] = y * powl(x, y - 1), true;
    case HMI_SQRT:
        return d[0] = 0.5L / sqrtl(x), true;
    case HMI_SIN:
        return d[0] = cosl(x), true;
    case HMI_COS:
        return d[0] = -sinl(x), true;
    case HMI_TAN:
        return d[0] = 1 / (cosl(x) * cosl(x)), true;
    case HMI_ASIN:
        return d[0] = 1 / sqrtl((1 - x) * (1 + x)), true;
    case HMI_ACOS:
        return d[0] = -1 / sqrtl((1 - x) * (1 + x)), true;
    case HMI_ATAN:
        return d[0] = 1 / (1 + x * x), true;
    case HMI_ATAN2:
        return d[0] = y / (x * x + y * y), d[1] = -x / (x * x + y * y), true;
    case HMI_SINH:
        return d[0] = coshl(x), true;
    case HMI_COSH:
        return d[0] = sinhl(x), true;
    case HMI_TANH:
        return d[0] = 1 / (coshl(x) * coshl(x)), true;
    case HMI_EXP:
        return d[0] = expl(x), true;
    case HMI_LOG:
        return d[0] = 1 / x, true;
    case HMI_HYPOT:
        return d[0] = x / hypotl(x, y), d[1] = y / hypotl(x, y), true;
    case HMI_ABS:
        return d[0] = x < 0 ? -1 : 1, true;
    case HMI_MIN:
        return d[0] = x < y, d[1] = y < x, true;
    case HMI_MAX:
        return d[0] = x > y, d[1] = y > x, true;
    case HMI_SELECT:
        return d[1] = x != 0, d[2] = x == 0, true;
    case HMI_SIGN:
    case HMI_FLOOR:
    case HMI_CEIL:
    case HMI_LT:
    case HMI_LE:
    case HMI_EQ:
    case HMI_AND:
    case HMI_OR:
    case HMI_NOT:
        return true;
    default:
        return false;
    }
}

/* Is the operation smooth, and gentle, around these operands? */
static inline bool dag_safe(hmi_op op, wide x, wide y)
{
    switch (op) {
    case HMI_DIV:
        return fabsl(y) > 0.2L;
    case HMI_POW:
        return x > 0.2L && fabsl(y) < 3;
    case HMI_POWI:
        return fabsl(x) > 0.3L;
    case HMI_SQRT:
    case HMI_LOG:
        return x > 0.1L;
    case HMI_TAN:
        return fabsl(cosl(x)) > 0.3L;
    case HMI_ASIN:
    case HMI_ACOS:
        return fabsl(x) < 0.9L;
    case HMI_ATAN2:
    case HMI_HYPOT:
        return x * x + y * y > 0.1L && (y > 0 || fabsl(x) > 0.1L);
    case HMI_EXP:
    case HMI_SINH:
    case HMI_COSH:
        return fabsl(x) < 3;
    case HMI_ABS:
    case HMI_SIGN:
        return fabsl(x) > 0.01L;
    case HMI_FLOOR:
    case HMI_CEIL:
        return fabsl(x - roundl(x)) > 0.01L;
    case HMI_MIN:
    case HMI_MAX:
    case HMI_LT:
    case HMI_LE:
    case HMI_EQ:
        return fabsl(x - y) > 0.01L;
    default:
        return true;
    }
}

static inline bool dag_gives_condition(hmi_op op)
{
    return op == HMI_LT || op == HMI_LE || op == HMI_EQ || op == HMI_AND || op == HMI_OR ||
           op == HMI_NOT;
}

/* Does operand k have to be a condition? */
static inline bool dag_takes_condition(hmi_op op, int k)
{
    return op == HMI_AND || op == HMI_OR || op == HMI_NOT || (op == HMI_SELECT && k == 0);
}

/* ---- the DAG ---- */

typedef struct dag {
    hmi_graph *graph;
    bool plain; /* without simplification: hmi_intern */
    size_t count;
    hmi_expr node[DAG_MOST];
    wide value[DAG_MOST];
    wide dot[DAG_MOST][DAG_COORDS]; /* derivatives by the coordinates */
    bool condition[DAG_MOST];
    double coords[DAG_COORDS], params[DAG_PARAMS];
} dag;

static inline void dag_leaf(dag *d, hmi_expr e, double value, int coord)
{
    size_t i = d->count++;
    d->node[i] = e;
    d->value[i] = value;
    d->condition[i] = false;
    for (int k = 0; k < DAG_COORDS; k++)
        d->dot[i][k] = k == coord;
}

/* Coordinates, parameters and a few constants. */
static inline void dag_start(dag *d, hmi_graph *graph, bool plain, dag_source *s)
{
    d->graph = graph;
    d->plain = plain;
    d->count = 0;
    for (int k = 0; k < DAG_COORDS; k++) {
        d->coords[k] = dag_between(s, -1.9, 1.9);
        dag_leaf(d, hmi_symbol(graph, HMI_SYM_COORD, (uint32_t)k), d->coords[k], k);
    }
    for (int k = 0; k < DAG_PARAMS; k++) {
        d->params[k] = dag_between(s, 0.3, 1.9);
        dag_leaf(d, hmi_symbol(graph, HMI_SYM_PARAM, (uint32_t)k), d->params[k], -1);
    }
    dag_leaf(d, hmi_number(graph, 2), 2, -1);
    dag_leaf(d, hmi_number(graph, -1), -1, -1);
    dag_leaf(d, hmi_number(graph, 0.75), 0.75, -1);
    dag_leaf(d, hmi_ratio(graph, 1, 4), 0.25, -1);
    dag_leaf(d, hmi_number(graph, 0), 0, -1);
    dag_leaf(d, hmi_number(graph, 1), 1, -1);
}

/* An operand of the right sort, mostly a recent one; DAG_MOST where there is none. */
static inline size_t dag_operand(const dag *d, dag_source *s, bool condition)
{
    for (int tries = 0; tries < 20; tries++) {
        size_t span = dag_choose(s, 4) && d->count > 40 ? 40 : d->count;
        size_t i = d->count - 1 - dag_choose(s, (uint32_t)span);
        if (d->condition[i] == condition)
            return i;
    }
    return DAG_MOST;
}

static inline hmi_expr dag_make(const dag *d, hmi_op op, const hmi_expr operand[3])
{
    return d->plain ? hmi_intern(d->graph, op, operand[0], operand[1], operand[2])
                    : hmi_apply(d->graph, op, operand[0], operand[1], operand[2]);
}

/* Appends op(operands) with its value and derivatives, if they are moderate. */
static inline bool dag_append(dag *d, hmi_op op, const size_t operand[3], wide exponent,
                              hmi_expr exponent_node)
{
    int arity = hmi_op_arity(op);
    wide x[3] = {0}, partial[3];
    hmi_expr e[3] = {0};
    for (int k = 0; k < arity; k++) {
        bool constant = op == HMI_POWI && k == 1;
        x[k] = constant ? exponent : d->value[operand[k]];
        e[k] = constant ? exponent_node : d->node[operand[k]];
    }
    wide value = dag_value(op, x[0], x[1], x[2]);
    if (!dag_safe(op, x[0], x[1]) || !(fabsl(value) < 100) ||
        !dag_partials(op, x[0], x[1], x[2], partial))
        return false;
    size_t i = d->count;
    for (int c = 0; c < DAG_COORDS; c++) {
        d->dot[i][c] = 0;
        for (int k = 0; k < arity; k++)
            if (!(op == HMI_POWI && k == 1))
                d->dot[i][c] += partial[k] * d->dot[operand[k]][c];
        if (!(fabsl(d->dot[i][c]) < 1e4L))
            return false;
    }
    d->value[i] = value;
    d->condition[i] = dag_gives_condition(op);
    d->node[i] = dag_make(d, op, e);
    d->count++;
    return true;
}

/* One more node of a random operation; false where the choice did not fit. */
static inline bool dag_grow(dag *d, dag_source *s)
{
    hmi_op op = (hmi_op)(HMI_SYMBOL + 1 + dag_choose(s, HMI_PLAIN_OPS_END - HMI_SYMBOL - 1));
    size_t operand[3] = {0};
    if (d->count >= DAG_MOST)
        return false;
    for (int k = 0; k < hmi_op_arity(op); k++) {
        if (op == HMI_POWI && k == 1)
            continue;
        operand[k] = dag_operand(d, s, dag_takes_condition(op, k));
        if (operand[k] == DAG_MOST)
            return false;
    }
    static const int exponents[] = {2, 3, 4, 5, 7, 2, 3, -1, -2};
    int n = op == HMI_POWI ? exponents[dag_choose(s, 9)] : 0;
    return dag_append(d, op, operand, n, n ? hmi_number(d->graph, n) : 0);
}

static inline void dag_fill(dag *d, dag_source *s, size_t nodes)
{
    for (size_t tries = 0; d->count < nodes && tries < 100 * nodes; tries++)
        dag_grow(d, s);
}

/* The last node that is a number. */
static inline size_t dag_last_number(const dag *d)
{
    size_t i = d->count - 1;
    while (d->condition[i])
        i--;
    return i;
}

/* ---- evaluating a graph node by node ---- */

/* Values of all nodes, in long double; the caller frees them. Symbols are coordinates, parameters
 * and (as the direction of a tangent) velocities. */
static inline wide *dag_evaluate(const hmi_graph *g, const double *coords, const double *params,
                                 const double *velocities)
{
    wide *v = malloc(g->nodes.count * sizeof *v);
    for (hmi_expr e = 0; v && e < g->nodes.count; e++) {
        const hmi_node *n = hmi_node_at(g, e);
        int arity = hmi_op_arity((hmi_op)n->op);
        if (n->op == HMI_CONST)
            v[e] = hmi_constant_of(g, e)->denominator
                       ? (wide)hmi_constant_of(g, e)->numerator / hmi_constant_of(g, e)->denominator
                       : (wide)hmi_constant_of(g, e)->value;
        else if (n->op == HMI_SYMBOL)
            v[e] = n->a == HMI_SYM_COORD      ? coords[n->b]
                   : n->a == HMI_SYM_PARAM    ? params[n->b]
                   : n->a == HMI_SYM_VELOCITY ? velocities[n->b]
                                              : 0;
        else
            v[e] = dag_value((hmi_op)n->op, v[n->a], arity > 1 ? v[n->b] : 0,
                             arity > 2 ? v[n->c] : 0);
    }
    return v;
}

static inline bool dag_close(wide x, wide y, wide tolerance)
{
    wide size = fabsl(y) > 1 ? fabsl(y) : 1;
    return fabsl(x - y) <= tolerance * size;
}

#endif
