/* Shaped values: arithmetic with shapes, products, derivatives. */
#include "model/evaluate/builder.h"

#include <stdio.h>
#include <string.h>

const char *hmi_shape_text(const hmi_value *value, char buffer[HMI_SHAPE_TEXT])
{
    if (value->boolean)
        snprintf(buffer, HMI_SHAPE_TEXT, "a comparison");
    else if (value->rank == 0)
        snprintf(buffer, HMI_SHAPE_TEXT, "a number");
    else if (value->rank == 1)
        snprintf(buffer, HMI_SHAPE_TEXT, "a vector of %u", value->rows);
    else
        snprintf(buffer, HMI_SHAPE_TEXT, "a %ux%u matrix", value->rows, value->columns);
    return buffer;
}

bool hmi_need_scalar(hmi_builder *b, hmi_span at, const hmi_value *value, const char *hint)
{
    char shape[HMI_SHAPE_TEXT];
    if (value->rank == 0 && !value->boolean)
        return true;
    hmi_error(b->context, at, hint, "expected a number, not %s", hmi_shape_text(value, shape));
    return false;
}

bool hmi_value_scalar(hmi_builder *b, hmi_span at, const hmi_value *value, hmi_expr *out)
{
    *out = value->scalar;
    return hmi_need_scalar(
        b, at, value,
        value->rank == 1 ? "a component is u[1], the square of the length dot(u, u)" : NULL);
}

bool hmi_value_new(hmi_builder *b, int rank, size_t rows, size_t columns, hmi_value *out)
{
    if (rows > HMI_MOST_COMPONENTS || rows * columns > HMI_MOST_COMPONENTS) {
        hmi_error(b->context, b->at, NULL, "more than %d components", HMI_MOST_COMPONENTS);
        b->context->limit_exceeded = true;
        return false;
    }
    b->steps += (int64_t)(rows * columns);
    *out = (hmi_value){.rank = (uint8_t)rank, .rows = (uint32_t)rows, .columns = (uint32_t)columns};
    out->items = hmi_builder_alloc(b, (rows * columns + 1) * sizeof *out->items);
    return out->items != NULL;
}

/* ---- arithmetic with shapes ---- */

static bool shape_error(hmi_builder *b, hmi_span at, const char *verb, const hmi_value *x,
                        const hmi_value *y, const char *hint)
{
    char left[HMI_SHAPE_TEXT], right[HMI_SHAPE_TEXT];
    hmi_error(b->context, at, hint, "cannot %s %s %s %s", verb, hmi_shape_text(x, left),
              strcmp(verb, "divide") == 0 ? "by" : "and", hmi_shape_text(y, right));
    return false;
}

static const char *verb_of(hmi_token_kind op)
{
    return op == HMI_TOK_PLUS    ? "add"
           : op == HMI_TOK_MINUS ? "subtract"
           : op == HMI_TOK_STAR  ? "multiply"
                                 : "divide";
}

hmi_op hmi_op_of_token(hmi_token_kind token)
{
    switch (token) {
    case HMI_TOK_PLUS:
        return HMI_ADD;
    case HMI_TOK_MINUS:
        return HMI_SUB;
    case HMI_TOK_STAR:
        return HMI_MUL;
    case HMI_TOK_SLASH:
        return HMI_DIV;
    case HMI_TOK_LESS:
    case HMI_TOK_GREATER:
        return HMI_LT;
    case HMI_TOK_LESS_EQUAL:
    case HMI_TOK_GREATER_EQUAL:
        return HMI_LE;
    case HMI_TOK_EQUAL:
        return HMI_EQ;
    case HMI_TOK_AND:
        return HMI_AND;
    default:
        return HMI_OR;
    }
}

/* out_k = x_k op y_k; a scalar operand is used for every k. */
static bool elementwise(hmi_builder *b, hmi_op op, const hmi_value *x, const hmi_value *y,
                        hmi_value *out)
{
    const hmi_value *shape = x->rank >= y->rank ? x : y;
    hmi_value result;
    if (!hmi_value_new(b, shape->rank, shape->rows, shape->columns, &result))
        return false;
    for (size_t k = 0; k < hmi_value_count(shape); k++)
        result.items[k] = hmi_apply(b->graph, op, hmi_value_item(x, k), hmi_value_item(y, k), 0);
    *out = result;
    return true;
}

static bool add_shapes(hmi_builder *b, hmi_span at, hmi_token_kind op, const hmi_value *x,
                       const hmi_value *y, hmi_value *out)
{
    if (x->empty_sum && op == HMI_TOK_PLUS) {
        *out = *y;
        return true;
    }
    if (y->empty_sum) {
        *out = *x;
        return true;
    }
    if (x->empty_sum || hmi_same_shape(x, y))
        return elementwise(b, hmi_op_of_token(op), x, y, out);
    return shape_error(b, at, verb_of(op), x, y, NULL);
}

static hmi_expr row_times_column(hmi_builder *b, const hmi_value *x, const hmi_value *y, size_t i,
                                 size_t j)
{
    hmi_expr sum = b->graph->zero;
    for (size_t k = 0; k < x->columns; k++)
        sum = hmi_add(
            b->graph, sum,
            hmi_mul(b->graph, x->items[i * x->columns + k], y->items[k * y->columns + j]));
    return sum;
}

/* Matrix product. A vector is a column; 1x1 results are numbers, so u^T M u is a scalar. */
bool hmi_value_product(hmi_builder *b, hmi_span at, const hmi_value *x, const hmi_value *y,
                       hmi_value *out)
{
    if (x->columns != y->rows || (x->rank == 1 && y->rank == 1))
        return shape_error(b, at, "multiply", x, y,
                           x->rank == 1 && y->rank == 1 ? "use dot(u, v) or cross(u, v)" : NULL);
    hmi_value result, left = *x, right = *y; /* out may be one of them */
    int rank = y->rank == 1 ? 1 : 2;
    if (!hmi_value_new(b, rank, x->rows, y->columns, &result) ||
        !hmi_spend(b, (int64_t)hmi_value_count(&result) * x->columns, at))
        return false;
    for (size_t i = 0; i < result.rows; i++)
        for (size_t j = 0; j < result.columns; j++)
            result.items[i * result.columns + j] = row_times_column(b, x, y, i, j);
    *out = result.rows == 1 && result.columns == 1 ? hmi_scalar(result.items[0]) : result;
    if (!hmi_rotation_note_carried(b, &left, &right, out))
        return false;
    return out->rank != 2 || hmi_rotation_tag_product(b, &left, &right, out);
}

static bool reject_booleans(hmi_builder *b, hmi_span at, const hmi_value *x, const hmi_value *y)
{
    if (!x->boolean && !y->boolean)
        return true;
    hmi_error(b->context, at, "use if(condition, a, b)", "a comparison is not a number");
    return false;
}

/* Is the result still the zero of an empty sum, which fits any shape? */
static bool still_empty(hmi_token_kind op, const hmi_value *x, const hmi_value *y)
{
    if (op == HMI_TOK_STAR)
        return x->empty_sum || y->empty_sum;
    return x->empty_sum && (op == HMI_TOK_SLASH || y->empty_sum);
}

bool hmi_value_combine(hmi_builder *b, hmi_span at, hmi_token_kind op, const hmi_value *x,
                       const hmi_value *y, hmi_value *out)
{
    if (!reject_booleans(b, at, x, y))
        return false;
    if (x->rank == 0 && y->rank == 0) {
        bool empty = still_empty(op, x, y);
        *out = hmi_scalar(hmi_apply(b->graph, hmi_op_of_token(op), x->scalar, y->scalar, 0));
        out->empty_sum = empty;
        return true;
    }
    if (op == HMI_TOK_PLUS || op == HMI_TOK_MINUS)
        return add_shapes(b, at, op, x, y, out);
    if (y->rank == 0 || (x->rank == 0 && op == HMI_TOK_STAR))
        return elementwise(b, hmi_op_of_token(op), x, y, out);
    if (op == HMI_TOK_SLASH)
        return shape_error(b, at, "divide", x, y, NULL);
    return hmi_value_product(b, at, x, y, out);
}

bool hmi_value_transpose(hmi_builder *b, const hmi_value *x, hmi_value *out)
{
    hmi_value result;
    if (x->rank == 0) {
        *out = *x;
        return true;
    }
    if (!hmi_value_new(b, 2, x->columns, x->rows, &result))
        return false;
    for (size_t i = 0; i < x->rows; i++)
        for (size_t j = 0; j < x->columns; j++)
            result.items[j * x->rows + i] = x->items[i * x->columns + j];
    *out = result;
    return hmi_rotation_tag_transpose(b, x, out);
}

bool hmi_value_dot(hmi_builder *b, const hmi_value *x, const hmi_value *y, hmi_expr *out)
{
    hmi_expr sum = b->graph->zero;
    for (size_t k = 0; k < hmi_value_count(x); k++)
        sum = hmi_add(b->graph, sum, hmi_mul(b->graph, hmi_value_item(x, k), hmi_value_item(y, k)));
    *out = sum;
    return true;
}

/* ---- the total time derivative ---- */

static bool derivative_error(hmi_builder *b, hmi_span at)
{
    hmi_expr leaf = b->time_derivative.refused;
    if (leaf == HMI_NONE)
        return hmi_graph_sound(b, at);
    const hmi_node *node = hmi_node_at(b->graph, leaf);
    const char *name = hmi_model_symbol_name(b->context, b->model, (hmi_symbol_kind)node->a,
                                             node->b);
    if (node->a == HMI_SYM_ACCELERATION)
        hmi_error(
            b->context, at, NULL,
            "the derivative of %s is of third order; accelerations are the highest derivatives",
            name ? name : "an acceleration");
    else if (node->a == HMI_SYM_INPUT_RATE2)
        hmi_error(b->context, at, NULL, "an input can be differentiated at most twice");
    else if (node->a == HMI_SYM_STATE)
        hmi_error(b->context, at, "declare the state it uses first",
                  "the derivative of state '%s' is not known yet", name ? name : "?");
    else
        hmi_error(b->context, at, NULL, "constraint forces and energy cannot be differentiated");
    return false;
}

bool hmi_value_derivative(hmi_builder *b, hmi_span at, const hmi_value *x, hmi_value *out)
{
    if (x->boolean) {
        hmi_error(b->context, at, NULL, "a comparison has no derivative");
        return false;
    }
    if (x->rank == 0) {
        hmi_expr e = hmi_tangent_of(&b->time_derivative, b->graph, x->scalar);
        bool empty = x->empty_sum;
        *out = hmi_scalar(e);
        out->empty_sum = empty;
        return e != HMI_NONE || derivative_error(b, at);
    }
    hmi_value result;
    if (!hmi_value_new(b, x->rank, x->rows, x->columns, &result))
        return false;
    for (size_t k = 0; k < hmi_value_count(x); k++) {
        result.items[k] = hmi_tangent_of(&b->time_derivative, b->graph, x->items[k]);
        if (result.items[k] == HMI_NONE)
            return derivative_error(b, at);
    }
    *out = result;
    return true;
}
