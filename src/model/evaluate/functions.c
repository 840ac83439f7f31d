/* The functions of the language, applied to values. Calls, arguments, and the functions that a model
 * defines with `let` are in calls.c. */
#include "model/evaluate/builder.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

typedef struct call {
    hmi_builder *b;
    const hmi_ast *e;
    const char *name;
    const hmi_value *args;
    uint32_t count;
} call;

static hmi_graph *graph_of(const call *c)
{
    return c->b->graph;
}

/* ---- checks ---- */

static bool wrong_argument(const call *c, uint32_t k, const char *expected)
{
    char shape[HMI_SHAPE_TEXT];
    hmi_error(c->b->context, c->e->items[k]->span, NULL, "%s needs %s here, not %s", c->name,
              expected, hmi_shape_text(&c->args[k], shape));
    return false;
}

static bool all_scalars(const call *c)
{
    for (uint32_t k = 0; k < c->count; k++)
        if (c->args[k].rank != 0 || c->args[k].boolean)
            return wrong_argument(c, k, "a number");
    return true;
}

static bool is_vector(const call *c, uint32_t k, uint32_t size)
{
    const hmi_value *v = &c->args[k];
    if (v->rank == 1 && (size == 0 || v->rows == size))
        return true;
    return wrong_argument(c, k, size == 3 ? "a vector of 3" : "a vector");
}

static bool is_rotation_matrix(const call *c, uint32_t k)
{
    const hmi_value *R = &c->args[k];
    return (R->rank == 2 && R->rows == 3 && R->columns == 3) ||
           wrong_argument(c, k, "a 3x3 rotation matrix");
}

/* ---- numbers ---- */

/* sin, cos, ...: operations that are called by name. */
static bool is_called(hmi_op op)
{
    return isalpha((unsigned char)hmi_op_text(op)[0]) && op != HMI_SELECT && op != HMI_AND &&
           op != HMI_OR && op != HMI_NOT && op < HMI_TABLE;
}

static bool named_operation(const char *name, hmi_op *op)
{
    for (int k = HMI_SYMBOL + 1; k < HMI_OP_COUNT; k++) {
        *op = (hmi_op)k;
        const char *text = hmi_op_text(*op);
        if (is_called(*op) && strcmp(text, name) == 0)
            return true;
    }
    return false;
}

static bool wrong_count(const call *c, const char *expected)
{
    bool rate = strcmp(c->name, "dot") == 0 && c->count == 1;
    bool list = strcmp(c->name, "norm") == 0 || strcmp(c->name, "skew") == 0;
    char given[48];
    snprintf(given, sizeof given, "%u argument%s", c->count, c->count == 1 ? " is" : "s are");
    hmi_error(c->b->context, c->e->span,
              rate   ? "a time derivative is written with a prime: x'"
              : list ? "write the components in brackets: [x, y, z]"
                     : NULL,
              "%s takes %s, %s given", c->name, expected, given);
    return false;
}

/* min and max take any number of arguments. */
static bool apply_operation(const call *c, hmi_op op, hmi_value *out)
{
    uint32_t arity = (uint32_t)hmi_op_arity(op);
    bool folds = op == HMI_MIN || op == HMI_MAX;
    if (c->count != arity && !(folds && c->count > 2))
        return wrong_count(c, arity == 1 ? "one argument" : "two arguments");
    if (!all_scalars(c))
        return false;
    hmi_expr e = hmi_apply(graph_of(c), op, c->args[0].scalar, arity > 1 ? c->args[1].scalar : 0,
                           0);
    for (uint32_t k = 2; k < c->count; k++)
        e = hmi_apply(graph_of(c), op, e, c->args[k].scalar, 0);
    *out = hmi_scalar(e);
    return true;
}

/* a - b floor(a/b) */
static bool call_mod(const call *c, hmi_value *out)
{
    hmi_graph *g = graph_of(c);
    if (!all_scalars(c))
        return false;
    hmi_expr a = c->args[0].scalar, b = c->args[1].scalar;
    if (hmi_is_const(g, b) && hmi_constant_of(g, b)->value == 0) {
        hmi_error(c->b->context, c->e->items[1]->span, NULL, "mod by zero");
        return false;
    }
    hmi_expr turns = hmi_apply(g, HMI_FLOOR, hmi_div(g, a, b), 0, 0);
    *out = hmi_scalar(hmi_sub(g, a, hmi_mul(g, b, turns)));
    return true;
}

static bool call_if(const call *c, hmi_value *out)
{
    const hmi_value *x = &c->args[1], *y = &c->args[2];
    if (!c->args[0].boolean)
        return wrong_argument(c, 0, "a condition such as x > 0");
    if (!hmi_same_shape(x, y) || x->boolean || y->boolean)
        return wrong_argument(c, 2, "the same shape as the other branch");
    if (x->rank == 0) {
        *out = hmi_scalar(
            hmi_apply(graph_of(c), HMI_SELECT, c->args[0].scalar, x->scalar, y->scalar));
        return true;
    }
    if (!hmi_value_new(c->b, x->rank, x->rows, x->columns, out))
        return false;
    for (size_t k = 0; k < hmi_value_count(x); k++)
        out->items[k] = hmi_apply(graph_of(c), HMI_SELECT, c->args[0].scalar, x->items[k],
                                  y->items[k]);
    return true;
}

/* ---- vectors and matrices ---- */

static bool call_dot(const call *c, hmi_value *out)
{
    if (!is_vector(c, 0, 0) || !is_vector(c, 1, 0))
        return false;
    if (c->args[0].rows != c->args[1].rows)
        return wrong_argument(c, 1, "a vector of the same size");
    hmi_expr e;
    hmi_value_dot(c->b, &c->args[0], &c->args[1], &e);
    *out = hmi_scalar(e);
    return true;
}

static bool call_norm(const call *c, hmi_value *out)
{
    hmi_expr e;
    if (!is_vector(c, 0, 0))
        return false;
    hmi_value_dot(c->b, &c->args[0], &c->args[0], &e);
    *out = hmi_scalar(hmi_apply(graph_of(c), HMI_SQRT, e, 0, 0));
    return true;
}

static bool call_cross(const call *c, hmi_value *out)
{
    hmi_graph *g = graph_of(c);
    if (!is_vector(c, 0, 3) || !is_vector(c, 1, 3) || !hmi_value_new(c->b, 1, 3, 1, out))
        return false;
    const hmi_expr *u = c->args[0].items, *v = c->args[1].items;
    for (int i = 0; i < 3; i++) {
        int j = (i + 1) % 3, k = (i + 2) % 3;
        out->items[i] = hmi_sub(g, hmi_mul(g, u[j], v[k]), hmi_mul(g, u[k], v[j]));
    }
    return true;
}

static bool call_transpose(const call *c, hmi_value *out)
{
    return hmi_value_transpose(c->b, &c->args[0], out);
}

static bool zero_matrix(const call *c, size_t n, hmi_value *out)
{
    if (!hmi_value_new(c->b, 2, n, n, out))
        return false;
    for (size_t k = 0; k < n * n; k++)
        out->items[k] = graph_of(c)->zero;
    return true;
}

/* diag(a, b, c) or diag(u). */
static bool call_diag(const call *c, hmi_value *out)
{
    bool vector = c->count == 1 && c->args[0].rank == 1;
    size_t n = vector ? c->args[0].rows : c->count;
    if ((!vector && !all_scalars(c)) || !zero_matrix(c, n, out))
        return false;
    for (size_t i = 0; i < n; i++)
        out->items[i * n + i] = vector ? c->args[0].items[i] : c->args[i].scalar;
    return true;
}

static bool call_identity(const call *c, hmi_value *out)
{
    int64_t n;
    hmi_expr size;
    hmi_span at = c->e->items[0]->span;
    if (!hmi_value_scalar(c->b, at, &c->args[0], &size) ||
        !hmi_whole_of(c->b, size, at, "the size", &n))
        return false;
    if (n < 1 || n > 1000) {
        hmi_error(c->b->context, at, NULL, "the size of an identity matrix is between 1 and 1000");
        return false;
    }
    if (!zero_matrix(c, (size_t)n, out))
        return false;
    for (size_t i = 0; i < (size_t)n; i++)
        out->items[i * (size_t)n + i] = graph_of(c)->one;
    return true;
}

static bool call_skew(const call *c, hmi_value *out)
{
    hmi_graph *g = graph_of(c);
    if (!is_vector(c, 0, 3) || !zero_matrix(c, 3, out))
        return false;
    const hmi_expr *u = c->args[0].items;
    for (int i = 0; i < 3; i++) {
        int j = (i + 1) % 3, k = (i + 2) % 3;
        out->items[3 * j + k] = hmi_neg(g, u[i]);
        out->items[3 * k + j] = u[i];
    }
    return true;
}

/* ---- rotations ---- */

static bool rotate_about(const call *c, int axis, hmi_value *out)
{
    hmi_graph *g = graph_of(c);
    hmi_expr u[3] = {g->zero, g->zero, g->zero};
    u[axis] = g->one;
    return all_scalars(c) && hmi_rotation_about(c->b, c->e->span, u, c->args[0].scalar, out);
}

static bool call_rotx(const call *c, hmi_value *out)
{
    return rotate_about(c, 0, out);
}

static bool call_roty(const call *c, hmi_value *out)
{
    return rotate_about(c, 1, out);
}

static bool call_rotz(const call *c, hmi_value *out)
{
    return rotate_about(c, 2, out);
}

/* The axis need not have unit length. */
static bool call_rotation(const call *c, hmi_value *out)
{
    hmi_graph *g = graph_of(c);
    hmi_expr square, u[3];
    if (!is_vector(c, 0, 3) || c->args[1].rank != 0)
        return c->args[0].rank == 1 && c->args[0].rows == 3 ? wrong_argument(c, 1, "an angle")
                                                            : false;
    hmi_value_dot(c->b, &c->args[0], &c->args[0], &square);
    if (square == g->zero) {
        hmi_error(c->b->context, c->e->items[0]->span, NULL, "the axis of a rotation is zero");
        return false;
    }
    hmi_expr length = hmi_apply(g, HMI_SQRT, square, 0, 0);
    for (int i = 0; i < 3; i++)
        u[i] = hmi_div(g, c->args[0].items[i], length);
    return hmi_rotation_about(c->b, c->e->span, u, c->args[1].scalar, out);
}

static bool call_quat(const call *c, hmi_value *out)
{
    hmi_expr e[4];
    if (!all_scalars(c))
        return false;
    for (int i = 0; i < 4; i++)
        e[i] = c->args[i].scalar;
    return hmi_rotation_quaternion(c->b, e, out);
}

static bool call_omega(const call *c, hmi_value *out)
{
    return is_rotation_matrix(c, 0) &&
           hmi_rotation_omega(c->b, c->e->span, &c->args[0], false, out);
}

static bool call_omega_body(const call *c, hmi_value *out)
{
    return is_rotation_matrix(c, 0) && hmi_rotation_omega(c->b, c->e->span, &c->args[0], true, out);
}

/* ---- the table ---- */

typedef struct function_row {
    const char *name;
    uint32_t least, most;
    const char *expected;
    hmi_argument_kind argument;
    bool (*run)(const call *c, hmi_value *out); /* NULL where the argument is no value */
} function_row;

static const function_row functions[] = {
    {"if", 3, 3, "a condition and two values", HMI_ARGUMENT_VALUES, call_if},
    {"mod", 2, 2, "two numbers", HMI_ARGUMENT_VALUES, call_mod},
    {"dot", 2, 2, "two vectors", HMI_ARGUMENT_VALUES, call_dot},
    {"cross", 2, 2, "two vectors", HMI_ARGUMENT_VALUES, call_cross},
    {"norm", 1, 1, "one vector", HMI_ARGUMENT_VALUES, call_norm},
    {"transpose", 1, 1, "one matrix", HMI_ARGUMENT_VALUES, call_transpose},
    {"diag", 1, HMI_MOST_ARGUMENTS, "at least one number", HMI_ARGUMENT_VALUES, call_diag},
    {"identity", 1, 1, "one whole number", HMI_ARGUMENT_VALUES, call_identity},
    {"skew", 1, 1, "one vector", HMI_ARGUMENT_VALUES, call_skew},
    {"rotx", 1, 1, "one angle", HMI_ARGUMENT_VALUES, call_rotx},
    {"roty", 1, 1, "one angle", HMI_ARGUMENT_VALUES, call_roty},
    {"rotz", 1, 1, "one angle", HMI_ARGUMENT_VALUES, call_rotz},
    {"rotation", 2, 2, "an axis and an angle", HMI_ARGUMENT_VALUES, call_rotation},
    {"quat", 4, 4, "four components", HMI_ARGUMENT_VALUES, call_quat},
    {"omega", 1, 1, "one rotation", HMI_ARGUMENT_VALUES, call_omega},
    {"omega_body", 1, 1, "one rotation", HMI_ARGUMENT_VALUES, call_omega_body},
    {"reaction", 1, 1, "one coordinate", HMI_ARGUMENT_COORDINATE, NULL},
    {"total_reaction", 1, 1, "one coordinate", HMI_ARGUMENT_COORDINATE, NULL},
    {"multiplier", 1, 1, "one constraint", HMI_ARGUMENT_CONSTRAINT, NULL},
    {"total_multiplier", 1, 1, "one constraint", HMI_ARGUMENT_CONSTRAINT, NULL},
    {"origin", 1, 1, "one body", HMI_ARGUMENT_BODY, NULL},
    {"center", 1, 1, "one body", HMI_ARGUMENT_BODY, NULL},
    {"frame", 1, 1, "one body", HMI_ARGUMENT_BODY, NULL},
    {"point", 2, 2, "a body and a vector", HMI_ARGUMENT_BODY, NULL},
    {"wrench", 1, 1, "one joint", HMI_ARGUMENT_JOINT, NULL},
    {"momentum", 1, 1, "one coordinate", HMI_ARGUMENT_MOMENTUM, NULL},
    {"power", 1, 1, "one kind of power", HMI_ARGUMENT_POWER, NULL},
};

/* Those of the parser, which have an index. */
static const char *const repetitions[] = {"sum", "prod"};
enum { FUNCTIONS = sizeof functions / sizeof *functions, REPETITIONS = 2 };

const char *hmi_function_name(size_t index)
{
    if (index < FUNCTIONS)
        return functions[index].name;
    index -= FUNCTIONS;
    if (index < REPETITIONS)
        return repetitions[index];
    index -= REPETITIONS;
    for (int k = HMI_SYMBOL + 1; k < HMI_OP_COUNT; k++)
        if (is_called((hmi_op)k) && index-- == 0)
            return hmi_op_text((hmi_op)k);
    return NULL;
}

bool hmi_is_function(const char *name)
{
    for (size_t i = 0; hmi_function_name(i); i++)
        if (strcmp(hmi_function_name(i), name) == 0)
            return true;
    return false;
}

bool hmi_function_yields(const char *name)
{
    static const char *const newer[] = {"floor",  "ceil",  "mod",    "origin",   "frame",
                                        "center", "point", "wrench", "momentum", "power"};
    for (size_t i = 0; i < sizeof newer / sizeof *newer; i++)
        if (strcmp(newer[i], name) == 0)
            return true;
    return false;
}

/* What a name calls: a number below FUNCTIONS of the table, FUNCTIONS + an operation, or NOTHING. */
enum { NOTHING = FUNCTIONS + HMI_OP_COUNT, NOT_LOOKED_UP = 0 };

static int look_up(const char *name)
{
    hmi_op op;
    for (int i = 0; i < FUNCTIONS; i++)
        if (strcmp(functions[i].name, name) == 0)
            return i;
    return named_operation(name, &op) ? FUNCTIONS + (int)op : NOTHING;
}

/* The same, looked up once per name. */
static int called_by(hmi_builder *b, int name, const char *text)
{
    _Static_assert(NOTHING < UINT8_MAX, "fits, with one added");
    size_t old = b->called.count, wanted = (size_t)name + 1;
    if (wanted > old) {
        if (!hmi_array_reserve(&b->context->allocator, &b->called, wanted - old)) {
            hmi_no_memory(b);
            return look_up(text);
        }
        memset(b->called.data + old, NOT_LOOKED_UP, wanted - old);
        b->called.count = wanted;
    }
    if (b->called.data[name] == NOT_LOOKED_UP)
        b->called.data[name] = (uint8_t)(look_up(text) + 1);
    return b->called.data[name] - 1;
}

int hmi_function_called(hmi_builder *b, const hmi_ast *e)
{
    int called = called_by(b, e->name, hmi_names_text(&b->tree->names, e->name));
    return called == NOTHING ? HMI_NO_FUNCTION : called;
}

hmi_argument_kind hmi_function_argument(int function)
{
    return function < FUNCTIONS ? functions[function].argument : HMI_ARGUMENT_VALUES;
}

static call call_of(hmi_builder *b, const hmi_ast *e, const hmi_value *arguments)
{
    return (call){.b = b,
                  .e = e,
                  .name = hmi_names_text(&b->tree->names, e->name),
                  .args = arguments,
                  .count = e->count};
}

bool hmi_function_takes(hmi_builder *b, const hmi_ast *e, int function)
{
    if (function >= FUNCTIONS ||
        (e->count >= functions[function].least && e->count <= functions[function].most))
        return true;
    call c = call_of(b, e, NULL);
    return wrong_count(&c, functions[function].expected);
}

bool hmi_apply_function(hmi_builder *b, const hmi_ast *e, int function, const hmi_value *arguments,
                        hmi_value *out)
{
    call c = call_of(b, e, arguments);
    return function < FUNCTIONS ? functions[function].run(&c, out)
                                : apply_operation(&c, (hmi_op)(function - FUNCTIONS), out);
}
