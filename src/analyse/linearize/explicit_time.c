/* Reads from the expressions how the equations change along a motion at rest (explicit_time.h). */
#include "analyse/linearize/explicit_time.h"

#include "linalg/dense.h"

#include <math.h>

/* ---- a common period ---- */

enum { MOST_MULTIPLE = 2000 };

/* x = p/q within rounding, with the least q up to MOST_MULTIPLE; 0: none. */
static int64_t denominator_of(double x)
{
    for (int64_t q = 1; q <= MOST_MULTIPLE; q++) {
        double p = round(x * (double)q);
        if (p >= 1 && fabs(x * (double)q - p) <= 16 * HMI_EPSILON * p)
            return q;
    }
    return 0;
}

double hmi_common_period(const double *frequency, size_t count)
{
    int64_t least = 1, shared = 0;
    for (size_t i = 0; i < count; i++) {
        int64_t q = denominator_of(frequency[i] / frequency[0]);
        if (q == 0 || (least = least / hmi_gcd(least, q) * q) > MOST_MULTIPLE)
            return 0;
    }
    for (size_t i = 0; i < count; i++) /* periods of the i-th in the common one */
        shared = hmi_gcd(shared, llround(frequency[i] / frequency[0] * (double)least));
    return count ? 2 * M_PI / frequency[0] * (double)least / (double)(shared ? shared : 1) : 0;
}

/* ---- the course of every expression ---- */

typedef struct node_course {
    uint8_t course;
    bool timed;
    double rate; /* of a uniform one */
} node_course;

typedef struct reader {
    const hm_sim *sim;
    const hmi_graph *graph;
    const double *rate;
    hmi_walk walk;
    HMI_ARRAY(node_course) at; /* by position in the walk */
    HMI_ARRAY(double) frequency;
    node_course *input; /* 3 inputs: of defaults; those set by the program are still */
    bool failed;
} reader;

static node_course symbol_course(const reader *r, const hmi_node *node)
{
    size_t inputs = r->sim->system->model->inputs.count;
    switch ((hmi_symbol_kind)node->a) {
    case HMI_SYM_TIME:
        return (node_course){HMI_COURSE_UNIFORM, true, 1};
    case HMI_SYM_COORD:
        if (r->rate[node->b] != 0)
            return (node_course){HMI_COURSE_UNIFORM, false, r->rate[node->b]};
        break;
    case HMI_SYM_INPUT:
    case HMI_SYM_INPUT_RATE:
    case HMI_SYM_INPUT_RATE2:
        return r->input[(node->a - HMI_SYM_INPUT) * inputs + node->b];
    default:
        break;
    }
    return (node_course){HMI_COURSE_STILL, false, 0};
}

static node_course operand(const reader *r, hmi_expr e)
{
    return r->at.data[hmi_walk_position(&r->walk, e)];
}

/* A sum of uniform and still ones. What cancels within rounding is still. */
static node_course add_uniform(node_course a, node_course b, double sign)
{
    node_course sum = {HMI_COURSE_UNIFORM, a.timed || b.timed, a.rate + sign * b.rate};
    if (fabs(sum.rate) <= 1e-12 * (fabs(a.rate) + fabs(b.rate)))
        sum = (node_course){HMI_COURSE_STILL, false, 0};
    return sum;
}

/* A uniform expression times (or divided by) a constant; HMI_COURSE_OTHER where that is none. */
static node_course scale_uniform(reader *r, node_course a, hmi_expr factor, bool divide)
{
    double value = NAN;
    if (!(hmi_deps(r->graph, factor) & (uint16_t)~HMI_DEP(HMI_SYM_PARAM)))
        r->failed |= hmi_evaluate_constant(r->graph, factor, r->sim->given.params, &value) != HM_OK;
    a.rate = divide ? a.rate / value : a.rate * value;
    a.course = isfinite(a.rate) ? HMI_COURSE_UNIFORM : HMI_COURSE_OTHER;
    return a;
}

static void add_frequency(reader *r, double rate)
{
    for (size_t i = 0; i < r->frequency.count; i++)
        if (fabs(r->frequency.data[i] - fabs(rate)) <= 8 * HMI_EPSILON * fabs(rate))
            return;
    r->failed |= !hmi_array_push(r->sim->system->allocator, &r->frequency, fabs(rate));
}

/* Of an operation with a uniform operand. */
static node_course uniform_operation(reader *r, const hmi_node *node, node_course a, node_course b)
{
    bool first = a.course == HMI_COURSE_UNIFORM, second = b.course == HMI_COURSE_UNIFORM;
    bool plain = a.course <= HMI_COURSE_UNIFORM && b.course <= HMI_COURSE_UNIFORM;
    node_course other = {HMI_COURSE_OTHER, a.timed || b.timed, 0};
    switch ((hmi_op)node->op) {
    case HMI_ADD:
        return plain ? add_uniform(a, b, 1) : other;
    case HMI_SUB:
        return plain ? add_uniform(a, b, -1) : other;
    case HMI_NEG:
        a.rate = -a.rate;
        return a;
    case HMI_MUL:
        return !plain || (first && second) ? other
               : first                     ? scale_uniform(r, a, node->b, false)
                                           : scale_uniform(r, b, node->a, false);
    case HMI_DIV:
        return plain && !second ? scale_uniform(r, a, node->b, true) : other;
    case HMI_SIN:
    case HMI_COS:
    case HMI_TAN:
        add_frequency(r, a.rate);
        return (node_course){HMI_COURSE_PERIODIC, a.timed, 0};
    default:
        return other;
    }
}

static node_course node_course_of(reader *r, const hmi_node *node)
{
    const node_course still = {HMI_COURSE_STILL, false, 0};
    int arity = hmi_op_arity((hmi_op)node->op);
    if (node->op == HMI_CONST)
        return still;
    if (node->op == HMI_SYMBOL)
        return symbol_course(r, node);
    node_course a = operand(r, node->a), b = arity > 1 ? operand(r, node->b) : still;
    node_course c = arity > 2 ? operand(r, node->c) : still;
    if (a.course == HMI_COURSE_UNIFORM || b.course == HMI_COURSE_UNIFORM)
        return uniform_operation(r, node, a, b);
    node_course worst = {(uint8_t)(a.course > b.course ? a.course : b.course),
                         a.timed || b.timed || c.timed, 0};
    if (c.course != HMI_COURSE_STILL)
        worst.course = c.course == HMI_COURSE_UNIFORM ? HMI_COURSE_OTHER
                       : worst.course > c.course      ? worst.course
                                                      : c.course;
    return worst;
}

/* The course of a root; the walk goes on from what it has seen. */
static node_course read_root(reader *r, hmi_expr root)
{
    const node_course still = {HMI_COURSE_STILL, false, 0};
    if (root == HMI_NONE || r->failed)
        return still;
    r->failed |= hmi_walk_add(&r->walk, r->graph, root, 0xFFFF) != HM_OK;
    for (size_t k = r->at.count; k < r->walk.order.count && !r->failed; k++)
        r->failed |= !hmi_array_push(
            r->sim->system->allocator, &r->at,
            node_course_of(r, hmi_node_at(r->graph, r->walk.order.data[k])));
    return r->failed ? still : operand(r, root);
}

/* A default that uses another input is not followed. */
static void read_inputs(reader *r)
{
    const hm_system *system = r->sim->system;
    size_t inputs = system->model->inputs.count;
    for (size_t i = 0; i < 3 * inputs; i++)
        r->input[i] = (node_course){HMI_COURSE_OTHER, true, 0};
    for (size_t i = 0; i < 3 * inputs; i++) {
        node_course found = {HMI_COURSE_STILL, false, 0};
        if (!r->sim->given.input_set[i % inputs])
            found = read_root(r, system->derived.input_values[i / inputs][i % inputs]);
        r->input[i] = found;
    }
    r->failed |= hmi_walk_begin(&r->walk, r->graph) != HM_OK; /* symbols of inputs are known now */
    r->at.count = 0;
}

static void take_root(reader *r, hmi_expr root, hmi_time_use *use)
{
    node_course found = read_root(r, root);
    if (found.course == HMI_COURSE_STILL)
        return;
    hmi_course course = found.course == HMI_COURSE_PERIODIC ? HMI_COURSE_PERIODIC
                                                            : HMI_COURSE_OTHER;
    use->course = course > use->course ? course : use->course;
    use->timed |= found.timed;
}

static void read_equations(reader *r, hmi_time_use *use)
{
    const hm_system *system = r->sim->system;
    const hmi_rows *rows = &system->derived.constraints;
    for (size_t i = 0; i < system->at.count; i++)
        take_root(r, system->dynamics_outputs[i], use);
    for (size_t i = 0; i < system->derived.n; i++) {
        take_root(r, system->derived.Q[i], use);
        take_root(r, system->derived.C[i], use);
    }
    for (size_t i = 0; i < rows->count; i++) {
        take_root(r, rows->position_residual[i], use);
        take_root(r, rows->velocity_residual[i], use);
    }
}

hm_status hmi_find_time_use(const hm_sim *sim, const double *rate, hmi_time_use *use)
{
    const hm_allocator *allocator = sim->system->allocator;
    size_t bytes = (3 * sim->system->model->inputs.count + 1) * sizeof(node_course);
    reader r = {.sim = sim, .graph = &sim->system->derived.graph, .rate = rate};
    *use = (hmi_time_use){0};
    r.input = hmi_alloc(allocator, bytes);
    hmi_walk_init(&r.walk, allocator);
    r.failed = !r.input || hmi_walk_begin(&r.walk, r.graph) != HM_OK;
    if (!r.failed)
        read_inputs(&r);
    read_equations(&r, use);
    if (use->course == HMI_COURSE_PERIODIC) {
        use->period = hmi_common_period(r.frequency.data, r.frequency.count);
        use->no_common = use->period == 0;
        use->course = use->no_common ? HMI_COURSE_OTHER : HMI_COURSE_PERIODIC;
    }
    hmi_array_release(allocator, &r.at);
    hmi_array_release(allocator, &r.frequency);
    hmi_walk_release(&r.walk);
    hmi_free(allocator, r.input, bytes);
    return r.failed ? HM_ERR_NOMEM : HM_OK;
}
