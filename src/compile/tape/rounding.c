/* Running error analysis: the operations, and a tape run with bounds beside its values. */
#include "compile/tape/rounding.h"

#include "expr/graph/math.h"
#include "expr/graph/table.h"

#include <math.h>
#include <string.h>

/* Half a unit in the last place, relative to the number. */
#define U 0x1p-53
/* The bounds themselves are computed with rounding errors. */
#define SLACK 1.001

double hmi_given_error(double value)
{
    double scaled = value * 0x1p20;
    bool is_short = fabs(value) < 0x1p31 && scaled == rint(scaled);
    return is_short ? 0 : U * fabs(value);
}

/* ---- operations ---- */

static double product_error(double x, double y, double ex, double ey)
{
    return fabs(x) * ey + fabs(y) * ex + ex * ey;
}

static double quotient_error(double y, double ex, double ey, double value)
{
    double least = fabs(y) - ey;
    return least > 0 ? (ex + fabs(value) * ey) / least : INFINITY;
}

static double root_error(double x, double ex, double value)
{
    return ex == 0 ? 0 : x > ex ? ex / (sqrt(x - ex) + value) : sqrt(fmax(x, 0) + ex);
}

/* A slope of at most 1 that is `slope` here and changes by at most as much as its argument. */
static double wave_error(double slope, double ex)
{
    return ex * fmin(1, fabs(slope) + ex);
}

static double tangent_error(double ex, double value)
{
    double first = ex * (1 + value * value), most = fabs(value) + 2 * first;
    double error = ex * (1 + most * most);
    return error <= 2 * first ? error : INFINITY; /* else the bound used is none */
}

static double arc_error(double x, double ex)
{
    double most = fabs(x) + ex;
    return ex == 0 ? 0 : most < 1 ? ex / sqrt((1 - most) * (1 + most)) : 4 * sqrt(ex);
}

static double angle_error(double x, double y, double ex, double ey)
{
    double error = hypot(ex, ey), least = hypot(x, y) - error;
    return error == 0 ? 0 : least > 0 ? error / least : 4;
}

/* x^y by the relative error of x, which is ex/(|x| - ex) at most. */
static double power_error(const double o[3], const double e[3], double value)
{
    double x = fabs(o[0]), y = o[1], most = x + e[0];
    if (e[0] == 0 && e[1] == 0)
        return 0;
    if (x > e[0]) {
        double relative = e[0] / (x - e[0]);
        double exponent = e[1] > 0 ? e[1] * (fabs(log(x)) + relative) : 0;
        return fabs(value) * expm1(fabs(y) * relative + exponent);
    }
    return y - e[1] > 0 ? fmax(pow(most, y - e[1]), pow(most, y + e[1])) : INFINITY;
}

/* By the slopes over all that the arguments may be, and the rounding of the terms. */
static double table_error(const hmi_table_view *view, const double o[3], const double e[3])
{
    const int count = view->table->arguments;
    const double lo[2] = {o[0] - e[0], o[1] - e[1]}, hi[2] = {o[0] + e[0], o[1] + e[1]};
    double error = 16 * U * hmi_table_size(view, o[0], count == 2 ? o[1] : 0), range[2];
    for (int k = 0; k < count; k++) {
        const hmi_table_view *slope = hmi_table_slope(view, k);
        bool jumps;
        if (!slope || e[k] == 0)
            continue;
        if (!hmi_table_bounds(slope, lo, hi, range, &jumps))
            return INFINITY;
        error += e[k] * fmax(fabs(range[0]), fabs(range[1]));
    }
    return error;
}

/* What the errors of the operands become. */
static double passed_on(hmi_op op, const double o[3], const double e[3], double value)
{
    double x = o[0], y = o[1], ex = e[0], ey = e[1];
    switch (op) {
    case HMI_ADD:
    case HMI_SUB:
    case HMI_HYPOT:
        return ex + ey;
    case HMI_MUL:
        return product_error(x, y, ex, ey);
    case HMI_DIV:
        return quotient_error(y, ex, ey, value);
    case HMI_NEG:
    case HMI_ABS:
    case HMI_TANH:
        return ex;
    case HMI_POW:
    case HMI_POWI:
        return power_error(o, e, value);
    case HMI_SQRT:
        return root_error(x, ex, value);
    case HMI_SIN:
        return wave_error(hmi_math_cos(x), ex);
    case HMI_COS:
        return wave_error(hmi_math_sin(x), ex);
    case HMI_TAN:
        return tangent_error(ex, value);
    case HMI_ASIN:
    case HMI_ACOS:
        return arc_error(x, ex);
    case HMI_ATAN:
        return ex / (1 + fmax(fabs(x) - ex, 0) * fmax(fabs(x) - ex, 0));
    case HMI_ATAN2:
        return angle_error(x, y, ex, ey);
    case HMI_SINH:
        return ex * cosh(fabs(x) + ex);
    case HMI_COSH:
        return ex * sinh(fabs(x) + ex);
    case HMI_EXP:
        return value * expm1(ex);
    case HMI_LOG:
        return ex == 0 ? 0 : x > ex ? ex / (x - ex) : INFINITY;
    case HMI_MIN:
    case HMI_MAX:
        return fmax(ex, ey);
    case HMI_TABLE:
    case HMI_TABLE2:
        return table_error(hmi_table_view_at(o[op == HMI_TABLE ? 1 : 2]), o, e);
    case HMI_SIGN:
    case HMI_FLOOR:
    case HMI_CEIL:
    case HMI_LOOKUP:
    case HMI_LOOKUP2:
    case HMI_LT:
    case HMI_LE:
    case HMI_EQ:
    case HMI_AND:
    case HMI_OR:
    case HMI_NOT:
        return 0;
    case HMI_SELECT:
        return x != 0 ? ey : e[2];
    default:
        return INFINITY; /* nothing is known of it */
    }
}

/* Roundings of the operation itself, in half units of its value's last place. */
static double own_roundings(hmi_op op, double y)
{
    switch (op) {
    case HMI_ADD:
    case HMI_SUB:
    case HMI_MUL:
    case HMI_DIV:
    case HMI_SQRT:
        return 1;
    case HMI_POWI: /* products */
        return fmax(fabs(y), 1);
    case HMI_NEG:
    case HMI_ABS:
    case HMI_MIN:
    case HMI_MAX:
    case HMI_SIGN:
    case HMI_FLOOR:
    case HMI_CEIL:
    case HMI_TABLE:
    case HMI_TABLE2:
    case HMI_LT:
    case HMI_LE:
    case HMI_EQ:
    case HMI_AND:
    case HMI_OR:
    case HMI_NOT:
    case HMI_SELECT:
        return 0;
    default: /* transcendental functions: 2 units where results are tiny */
        return 4;
    }
}

static double total(double passed, double roundings, double value)
{
    double error = passed + roundings * U * fabs(value);
    return error >= 0 ? error : INFINITY; /* not a number */
}

double hmi_op_error(hmi_op op, const double operand[3], const double error[3], double value)
{
    return total(passed_on(op, operand, error, value), own_roundings(op, operand[1]), value);
}

/* ---- expressions of parameters ---- */

typedef struct approximation {
    double value, error;
} approximation;

static approximation approximate(const hmi_graph *graph, const hmi_walk *walk,
                                 const approximation *at, hmi_expr e, const double *params,
                                 const double *param_errors)
{
    const hmi_node *node = hmi_node_at(graph, e);
    hmi_op op = (hmi_op)node->op;
    int arity = hmi_op_arity(op);
    const hmi_expr operand[3] = {node->a, node->b, node->c};
    double x[3] = {0}, error[3] = {0};
    if (op == HMI_SYMBOL)
        return (approximation){params[node->b], param_errors[node->b]};
    if (arity == 0) {
        double value = hmi_constant_of(graph, e)->value;
        return (approximation){value, hmi_given_error(value)};
    }
    for (int k = 0; k < arity; k++) {
        x[k] = at[hmi_walk_position(walk, operand[k])].value;
        error[k] = at[hmi_walk_position(walk, operand[k])].error;
    }
    double value = hmi_op_value(op, x[0], x[1], x[2]);
    return (approximation){value, hmi_op_error(op, x, error, value)};
}

hm_status hmi_expression_error(hmi_walk *walk, const hmi_graph *graph, hmi_expr e,
                               const double *params, const double *param_errors, double *error)
{
    approximation *at = NULL;
    hm_status status = hmi_walk_begin(walk, graph);
    if (status == HM_OK)
        status = hmi_walk_add(walk, graph, e, 0xFFFF);
    size_t count = walk->order.count;
    if (status == HM_OK && !(at = hmi_alloc(walk->allocator, count * sizeof *at)))
        status = HM_ERR_NOMEM;
    for (size_t i = 0; i < count && status == HM_OK; i++)
        at[i] = approximate(graph, walk, at, walk->order.data[i], params, param_errors);
    if (status == HM_OK)
        *error = at[hmi_walk_position(walk, e)].error;
    hmi_free(walk->allocator, at, count * sizeof *at);
    return status;
}

/* ---- tapes ---- */

static void load_inputs(const hmi_tape *tape, const hmi_tape_values *values,
                        const hmi_tape_errors *errors, double *work, double *error)
{
    for (size_t i = 0; i < tape->inputs.count; i++) {
        const hmi_tape_input *input = &tape->inputs.data[i];
        const double *value = values->by_kind[input->kind];
        const double *known = errors ? errors->by_kind[input->kind] : NULL;
        for (uint32_t k = 0; k < input->count; k++) {
            double x = value ? value[input->first + k] : 0;
            work[input->slot + k] = x;
            error[input->slot + k] = known ? known[input->first + k] : hmi_given_error(x);
        }
    }
}

/* c + a b or the like: the product is rounded first. */
static double fused_error(const double o[3], const double e[3], double value)
{
    double product = product_error(o[0], o[1], e[0], e[1]) + U * fabs(o[0] * o[1]);
    return total(product + e[2], 1, value);
}

static void execute_sincos(const hmi_instruction *i, double *work, double *error)
{
    hmi_sincos both = hmi_math_sincos(work[i->a]);
    double ex = error[i->a];
    work[i->dst] = both.sine;
    work[i->b] = both.cosine;
    error[i->dst] = total(wave_error(both.cosine, ex), 4, both.sine);
    error[i->b] = total(wave_error(both.sine, ex), 4, both.cosine);
}

static void execute(const hmi_instruction *i, double *work, double *error)
{
    const double o[3] = {work[i->a], work[i->b], work[i->c]};
    const double e[3] = {error[i->a], error[i->b], error[i->c]};
    double value, bound;
    switch (i->op) {
    case HMI_TAPE_SINCOS:
        execute_sincos(i, work, error);
        return;
    case HMI_TAPE_COPY:
        value = o[0];
        bound = e[0];
        break;
    case HMI_TAPE_SQUARE:
        value = o[0] * o[0];
        bound = total(product_error(o[0], o[0], e[0], e[0]), 1, value);
        break;
    case HMI_TAPE_CUBE:
        value = o[0] * (o[0] * o[0]);
        bound = total(3 * (fabs(o[0]) + e[0]) * (fabs(o[0]) + e[0]) * e[0], 3, value);
        break;
    case HMI_TAPE_MUL_ADD:
        value = o[0] * o[1] + o[2];
        bound = fused_error(o, e, value);
        break;
    case HMI_TAPE_MUL_SUB:
        value = o[0] * o[1] - o[2];
        bound = fused_error(o, e, value);
        break;
    case HMI_TAPE_SUB_MUL:
        value = o[2] - o[0] * o[1];
        bound = fused_error(o, e, value);
        break;
    default: {
        hmi_op op = (hmi_op)(i->op - HMI_TAPE_FIRST_OF_TABLE);
        value = hmi_op_value(op, o[0], o[1], o[2]);
        bound = hmi_op_error(op, o, e, value);
    }
    }
    work[i->dst] = value;
    error[i->dst] = bound;
}

static void run(const hmi_instruction *i, double *work, double *error)
{
    for (; i->op != HMI_TAPE_STOP; i++)
        execute(i, work, error);
}

void hmi_tape_bound(const hmi_tape *tape, const hmi_tape_values *values,
                    const hmi_tape_errors *errors, double *work, double *error)
{
    memset(error, 0, tape->work_size * sizeof *error);
    for (size_t i = 0; i < tape->constants.count; i++)
        error[i] = hmi_given_error(tape->constants.data[i]);
    load_inputs(tape, values, errors, work, error);
    run(tape->prologue.data, work, error);
    run(tape->body.data, work, error);
    for (size_t i = 0; i < tape->output_count; i++)
        error[tape->output_slot + i] *= SLACK;
}
