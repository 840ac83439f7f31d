/* The styles text (Unicode) and plain (Hamel's own language). */
#include "expr/print/core.h"

#include <math.h>

static const double pi = 3.14159265358979323846;

/* ---- numbers and symbols ---- */

static void text_number(hmi_printer *p, double value)
{
    char buffer[HMI_NUMBER_TEXT];
    hmi_text_add(p->out, value == pi ? "π" : hmi_number_for_reading(value, buffer));
}

static void plain_number(hmi_printer *p, double value)
{
    char buffer[HMI_NUMBER_TEXT];
    hmi_text_add(p->out, value == pi ? "pi" : hmi_number_text(value, buffer));
}

static const char *function_of_kind(uint32_t kind)
{
    switch (kind) {
    case HMI_SYM_REACTION:
        return "reaction";
    case HMI_SYM_MULTIPLIER:
        return "multiplier";
    case HMI_SYM_TOTAL_REACTION:
        return "total_reaction";
    case HMI_SYM_TOTAL_MULTIPLIER:
        return "total_multiplier";
    default:
        return NULL;
    }
}

static void text_symbol(hmi_printer *p, const hmi_node *node)
{
    int dots = hmi_symbol_text(p, node);
    const char *function = function_of_kind(node->a);
    if (function)
        hmi_text_addf(p->out, "%s(%s)", function, hmi_text_view(&p->scratch));
    else
        hmi_print_symbol_name(p, dots);
}

static void text_part(hmi_printer *p, size_t k)
{
    p->scratch.length = 0;
    hmi_text_addf(&p->scratch, "%s%zu", p->options->shared->prefix, k + 1);
    hmi_print_name(p->out, p->options->style, hmi_text_view(&p->scratch), 0);
}

/* ---- powers ---- */

static const char *superscript(int32_t power)
{
    static const char *const digits[] = {"⁰", "¹", "²", "³", "⁴", "⁵", "⁶", "⁷", "⁸", "⁹"};
    return digits[power];
}

static void push_superscript(hmi_printer *p, int32_t power)
{
    int32_t unit = 1;
    while (power / unit >= 10)
        unit *= 10;
    for (; unit; unit /= 10)
        hmi_push_text(p, superscript(power / unit % 10));
}

/* sin²(x), as on paper; all else has the power behind it. */
static void text_power(hmi_printer *p, const hmi_item *item)
{
    hmi_op op = hmi_op_of(p->graph, item->e);
    if (hmi_is_trigonometric(op) && hmi_subproblem_of(p, item->e) == SIZE_MAX) {
        hmi_push_text(p, hmi_op_text(op));
        push_superscript(p, item->power);
        hmi_push_call(p, "", item->e);
        return;
    }
    hmi_push_expr(p, item->e, HMI_LEVEL_ATOM);
    push_superscript(p, item->power);
}

static void plain_power(hmi_printer *p, const hmi_item *item)
{
    static const char *const small[] = {"", "", "^2", "^3", "^4", "^5", "^6", "^7", "^8", "^9"};
    hmi_push_expr(p, item->e, HMI_LEVEL_ATOM);
    if (item->power < 10) {
        hmi_push_text(p, small[item->power]);
        return;
    }
    static const char *const digits[] = {"0", "1", "2", "3", "4", "5", "6", "7", "8", "9"};
    int32_t unit = 1;
    while (item->power / unit >= 10)
        unit *= 10;
    for (hmi_push_text(p, "^"); unit; unit /= 10)
        hmi_push_text(p, digits[item->power / unit % 10]);
}

/* ---- functions ---- */

static void push_general_power(hmi_printer *p, const hmi_item *item)
{
    bool brackets = item->level > HMI_LEVEL_POWER;
    if (brackets)
        hmi_push_text(p, "(");
    hmi_push_expr(p, hmi_operand(p->graph, item->e, 0), HMI_LEVEL_ATOM);
    hmi_push_text(p, "^");
    hmi_push_expr(p, hmi_operand(p->graph, item->e, 1), HMI_LEVEL_ATOM);
    if (brackets)
        hmi_push_text(p, ")");
}

static const char *logic_text(const hmi_printer *p, hmi_op op)
{
    bool unicode = p->options->style == HMI_PRINT_TEXT;
    switch (op) {
    case HMI_LT:
        return " < ";
    case HMI_LE:
        return unicode ? " ≤ " : " <= ";
    case HMI_EQ:
        return unicode ? " = " : " == ";
    case HMI_AND:
        return " and ";
    default:
        return " or ";
    }
}

/* Operands that bind no tighter get brackets: (a < b) == c is rare, and then clear. */
static void push_logic(hmi_printer *p, const hmi_item *item, hmi_op op)
{
    hmi_precedence level = hmi_logic_level(op);
    bool brackets = item->level > level;
    if (brackets)
        hmi_push_text(p, "(");
    if (op == HMI_NOT) {
        hmi_push_text(p, "not ");
        hmi_push_expr(p, hmi_operand(p->graph, item->e, 0), HMI_LEVEL_ATOM);
    } else {
        hmi_push_expr(p, hmi_operand(p->graph, item->e, 0), (hmi_precedence)(level + 1));
        hmi_push_text(p, logic_text(p, op));
        hmi_push_expr(p, hmi_operand(p->graph, item->e, 1), (hmi_precedence)(level + 1));
    }
    if (brackets)
        hmi_push_text(p, ")");
}

static void plain_function(hmi_printer *p, const hmi_item *item)
{
    hmi_op op = hmi_op_of(p->graph, item->e);
    if (op == HMI_POW || op == HMI_POWI)
        push_general_power(p, item);
    else if (hmi_logic_level(op) != HMI_LEVEL_ATOM)
        push_logic(p, item, op);
    else if (op == HMI_TABLE || op == HMI_TABLE2)
        hmi_push_table(p, item->e);
    else
        hmi_push_call(p, hmi_op_text(op), item->e);
}

/* A symbol or a whole number: √x, |x| need no brackets. */
static bool is_simple(const hmi_printer *p, hmi_expr e)
{
    if (hmi_is_const(p->graph, e))
        return hmi_constant_of(p->graph, e)->denominator == 1;
    return hmi_op_of(p->graph, e) == HMI_SYMBOL;
}

static void text_function(hmi_printer *p, const hmi_item *item)
{
    hmi_op op = hmi_op_of(p->graph, item->e);
    hmi_expr operand = hmi_operand(p->graph, item->e, 0);
    bool brackets = op == HMI_SQRT && item->level == HMI_LEVEL_ATOM;
    if (brackets)
        hmi_push_text(p, "(");
    if (op == HMI_SQRT && is_simple(p, operand)) {
        hmi_push_text(p, "√");
        hmi_push_expr(p, operand, HMI_LEVEL_ANY);
    } else if (op == HMI_SQRT) {
        hmi_push_call(p, "√", item->e);
    } else if (op == HMI_ABS && is_simple(p, operand)) {
        hmi_push_text(p, "|");
        hmi_push_expr(p, operand, HMI_LEVEL_ANY);
        hmi_push_text(p, "|");
    } else {
        plain_function(p, item);
    }
    if (brackets)
        hmi_push_text(p, ")");
}

const hmi_style hmi_style_text = {
    .plus = " + ",
    .minus = " − ",
    .lead_minus = "−",
    .times = "·",
    .open = "(",
    .close = ")",
    .reads_pi = true,
    .number = text_number,
    .symbol = text_symbol,
    .power = text_power,
    .function = text_function,
    .part = text_part,
};

const hmi_style hmi_style_plain = {
    .plus = " + ",
    .minus = " - ",
    .lead_minus = "-",
    .times = "*",
    .open = "(",
    .close = ")",
    .number = plain_number,
    .symbol = text_symbol,
    .power = plain_power,
    .function = plain_function,
    .part = text_part,
};
