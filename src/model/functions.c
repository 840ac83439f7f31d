/* The functions of the language. Those that a model defines with `let` are called in call.c. */
#include "model/builder.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

typedef struct call {
    hmi_builder *b;
    const hmi_ast *e;
    const hmi_scope *scope;
    const char *name;
    hmi_value *args;
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
           op != HMI_OR && op != HMI_NOT;
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
    if (!hmi_build_whole(c->b, c->e->items[0], c->scope, "the size", &n))
        return false;
    if (n < 1 || n > 1000) {
        hmi_error(c->b->context, c->e->items[0]->span, NULL,
                  "the size of an identity matrix is between 1 and 1000");
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

/* ---- constraint forces ---- */

static bool forces_allowed(const call *c)
{
    if (c->b->pass == HMI_PASS_REST)
        return true;
    hmi_error(c->b->context, c->e->span, NULL,
              "%s(...) can be used in nonideal, force, event and output only", c->name);
    return false;
}

static bool call_reaction(const call *c, hmi_value *out)
{
    uint32_t coord;
    bool total = strcmp(c->name, "total_reaction") == 0;
    const hmi_ast *argument = c->e->items[0];
    if (argument->kind == HMI_AST_NAME && !hmi_find_binding(c->b, c->scope, argument->name) &&
        hmi_find_object(c->b, hmi_names_text(&c->b->tree->names, argument->name), "constraint") >=
            0) {
        hmi_error(c->b->context, argument->span, "write multiplier(NAME) for a constraint",
                  "%s takes a coordinate, not a constraint", c->name);
        return false;
    }
    if (!forces_allowed(c) || !hmi_build_coordinate(c->b, c->e->items[0], c->scope, &coord))
        return false;
    *out = hmi_scalar(
        hmi_symbol(graph_of(c), total ? HMI_SYM_TOTAL_REACTION : HMI_SYM_REACTION, coord));
    return true;
}

static hmi_expr multiplier_symbol(const call *c, uint32_t row)
{
    bool total = strcmp(c->name, "total_multiplier") == 0;
    return hmi_symbol(graph_of(c), total ? HMI_SYM_TOTAL_MULTIPLIER : HMI_SYM_MULTIPLIER, row);
}

/* All rows of a vector constraint. */
static bool multiplier_vector(const call *c, const char *name, int64_t first, hmi_value *out)
{
    int64_t size = hmi_find_object(c->b, name, "size of constraint");
    if (!hmi_value_new(c->b, 1, (size_t)size, 1, out))
        return false;
    for (int64_t k = 0; k < size; k++)
        out->items[k] = multiplier_symbol(c, (uint32_t)(first + k));
    return true;
}

static const char *constraint_hint(const call *c, const char *wanted)
{
    const hm_model *model = c->b->model;
    for (size_t i = 0; i < model->coords.count; i++)
        if (strcmp(model->coords.data[i].name, wanted) == 0)
            return "for the force along a coordinate write reaction(x)";
    for (size_t i = 0; i < model->constraints.count; i++)
        if (hmi_edit_distance(wanted, model->constraints.data[i].name, 2) <= 2)
            return hmi_context_printf(c->b->context, "did you mean '%s'?",
                                      model->constraints.data[i].name);
    return NULL;
}

/* The argument names a constraint: it is not an expression. */
static bool call_multiplier(const call *c, hmi_value *out)
{
    const hmi_ast *label = c->e->items[0];
    const hmi_ast *base = label->kind == HMI_AST_INDEX ? label->items[0] : label;
    if (!forces_allowed(c))
        return false;
    const char *name = base->kind == HMI_AST_NAME ? hmi_label_text(c->b, label, c->scope) : NULL;
    if (!name) {
        if (base->kind != HMI_AST_NAME)
            hmi_error(c->b->context, label->span, NULL, "%s takes the name of a constraint",
                      c->name);
        return false;
    }
    int64_t row = hmi_find_object(c->b, name, "constraint");
    if (row >= 0) {
        *out = hmi_scalar(multiplier_symbol(c, (uint32_t)row));
        return true;
    }
    int64_t first = hmi_find_object(c->b, name, "vector constraint");
    if (first >= 0)
        return multiplier_vector(c, name, first, out);
    hmi_error(c->b->context, label->span, constraint_hint(c, name), "there is no constraint '%s'",
              name);
    return false;
}

/* ---- the table ---- */

typedef struct function {
    const char *name;
    uint32_t least, most;
    const char *expected;
    bool by_name; /* the arguments are names, not values */
    bool (*run)(const call *c, hmi_value *out);
} function;

static const function functions[] = {
    {"if", 3, 3, "a condition and two values", false, call_if},
    {"dot", 2, 2, "two vectors", false, call_dot},
    {"cross", 2, 2, "two vectors", false, call_cross},
    {"norm", 1, 1, "one vector", false, call_norm},
    {"transpose", 1, 1, "one matrix", false, call_transpose},
    {"diag", 1, HMI_MOST_ARGUMENTS, "at least one number", false, call_diag},
    {"identity", 1, 1, "one whole number", false, call_identity},
    {"skew", 1, 1, "one vector", false, call_skew},
    {"rotx", 1, 1, "one angle", false, call_rotx},
    {"roty", 1, 1, "one angle", false, call_roty},
    {"rotz", 1, 1, "one angle", false, call_rotz},
    {"rotation", 2, 2, "an axis and an angle", false, call_rotation},
    {"quat", 4, 4, "four components", false, call_quat},
    {"omega", 1, 1, "one rotation", false, call_omega},
    {"omega_body", 1, 1, "one rotation", false, call_omega_body},
    {"reaction", 1, 1, "one coordinate", true, call_reaction},
    {"total_reaction", 1, 1, "one coordinate", true, call_reaction},
    {"multiplier", 1, 1, "one constraint", true, call_multiplier},
    {"total_multiplier", 1, 1, "one constraint", true, call_multiplier},
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

/* The same, looked up once a name. */
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

bool hmi_call_function(hmi_builder *b, const hmi_ast *e, const hmi_scope *scope, const char *name,
                       bool *found, hmi_value *out)
{
    call c = {.b = b, .e = e, .scope = scope, .name = name, .count = e->count};
    hmi_value few[HMI_FEW_ARGUMENTS];
    int called = called_by(b, e->name, name);
    const function *f = called < FUNCTIONS ? &functions[called] : NULL;
    *found = called != NOTHING;
    if (!*found)
        return false;
    if (f && (e->count < f->least || e->count > f->most))
        return wrong_count(&c, f->expected);
    if (f && f->by_name)
        return f->run(&c, out);
    c.args = hmi_evaluate_arguments(b, e, scope, few);
    if (!c.args)
        return false;
    if (f)
        return f->run(&c, out);
    return apply_operation(&c, (hmi_op)(called - FUNCTIONS), out);
}
