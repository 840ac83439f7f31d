/* How long an expression is in print, the measure by which forms are chosen. */
#include "expr/normal/poly.h"

/* An operand that stands in brackets where it is a sum. */
static hmi_length in_brackets(const hmi_normal *s, hmi_expr operand)
{
    hmi_length length = s->length.data[operand];
    return hmi_is_sum(s->graph, operand) ? hmi_in_brackets(length) : length;
}

static bool is_ratio(const hmi_normal *s, hmi_expr e)
{
    return hmi_is_const(s->graph, e) && hmi_constant_of(s->graph, e)->denominator > 1;
}

/* As a factor a ratio is written around the others: m*x/2, 3*m*x/2. */
static hmi_length ratio_length(const hmi_normal *s, hmi_expr e)
{
    const hmi_constant *c = hmi_constant_of(s->graph, e);
    bool unit = c->numerator == 1 || c->numerator == -1;
    return (hmi_length){.cost = unit ? 1 : 3, .quotients = 1};
}

static hmi_length operand_length(const hmi_normal *s, const hmi_node *node, int k)
{
    hmi_expr operand = k == 0 ? node->a : k == 1 ? node->b : node->c;
    hmi_length plain = s->length.data[operand];
    switch ((hmi_op)node->op) {
    case HMI_MUL:
        return is_ratio(s, operand) ? ratio_length(s, operand) : in_brackets(s, operand);
    case HMI_DIV:
        if (k == 1 &&
            (hmi_op_of(s->graph, operand) == HMI_MUL || hmi_op_of(s->graph, operand) == HMI_DIV))
            plain.cost++;
        return hmi_is_sum(s->graph, operand) ? in_brackets(s, operand) : plain;
    case HMI_POWI:
        return k == 0 ? in_brackets(s, operand) : (hmi_length){0};
    default:
        return plain;
    }
}

static hmi_length node_length(const hmi_normal *s, hmi_expr e)
{
    const hmi_node *node = hmi_node_at(s->graph, e);
    hmi_length length = {.cost = 1, .quotients = node->op == HMI_DIV};
    if (is_ratio(s, e))
        length.cost = 3;
    for (int k = 0; k < hmi_op_arity((hmi_op)node->op); k++)
        length = hmi_length_add(length, operand_length(s, node, k));
    return length;
}

/* Operands come first in the graph, so one pass upwards fills the table. */
hmi_length hmi_normal_length(hmi_normal *s, hmi_expr e)
{
    while (e != HMI_NONE && s->length.count <= e) {
        hmi_length length = node_length(s, (hmi_expr)s->length.count);
        if (!hmi_array_push(s->allocator, &s->length, length)) {
            s->status = HM_ERR_NOMEM;
            return (hmi_length){0};
        }
    }
    return e == HMI_NONE ? (hmi_length){.cost = UINT32_MAX / 8} : s->length.data[e];
}

uint32_t hmi_normal_cost(hmi_normal *s, hmi_expr e)
{
    return hmi_normal_length(s, e).cost;
}
