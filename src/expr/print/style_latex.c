/* The style LaTeX. Needs amsmath for \text, \operatorname and cases. */
#include "expr/print/core.h"

#include <string.h>

/* 2.5e-07 is 2.5 \cdot 10^{-7}. */
static void latex_number(hmi_printer *p, double value)
{
    char buffer[HMI_NUMBER_TEXT];
    if (value == 3.14159265358979323846) {
        hmi_text_add(p->out, "\\pi");
        return;
    }
    const char *text = hmi_number_for_reading(value, buffer);
    const char *e = strchr(text, 'e');
    if (!e || e == text) {
        hmi_text_add(p->out, text);
        return;
    }
    bool one = e - text == 1 && text[0] == '1';
    if (!one)
        hmi_text_addf(p->out, "%.*s \\cdot ", (int)(e - text), text);
    const char *digits = e + 1 + (e[1] == '-' || e[1] == '+');
    digits += strspn(digits, "0");
    hmi_text_addf(p->out, "{10}^{%s%s}", e[1] == '-' ? "-" : "", digits);
}

/* Constraint forces carry marks of their own; braces keep a power from doubling a superscript. */
static const char *force_symbol(uint32_t kind)
{
    switch (kind) {
    case HMI_SYM_REACTION:
        return "Q^{\\mathrm{i}}";
    case HMI_SYM_MULTIPLIER:
        return "\\lambda";
    case HMI_SYM_TOTAL_REACTION:
        return "\\left(A^{\\mathsf{T}}\\lambda\\right)";
    case HMI_SYM_TOTAL_MULTIPLIER:
        return "\\lambda^{\\mathrm{tot}}";
    default:
        return NULL;
    }
}

static void latex_symbol(hmi_printer *p, const hmi_node *node)
{
    int dots = hmi_symbol_text(p, node);
    const char *force = force_symbol(node->a);
    if (node->a == HMI_SYM_ENERGY) {
        hmi_text_add(p->out, "E");
        return;
    }
    if (force)
        hmi_text_addf(p->out, "{%s_{", force);
    hmi_print_symbol_name(p, dots);
    if (force)
        hmi_text_add(p->out, "}}");
}

static void latex_part(hmi_printer *p, size_t k)
{
    p->scratch.length = 0;
    hmi_text_addf(&p->scratch, "%s%zu", p->options->shared->prefix, k + 1);
    hmi_print_name(p->out, HMI_PRINT_LATEX, hmi_text_view(&p->scratch), 0);
}

static void push_exponent(hmi_printer *p, int32_t power)
{
    static const char *const digits[] = {"0", "1", "2", "3", "4", "5", "6", "7", "8", "9"};
    int32_t unit = 1;
    hmi_push_text(p, "^{");
    while (power / unit >= 10)
        unit *= 10;
    for (; unit; unit /= 10)
        hmi_push_text(p, digits[power / unit % 10]);
    hmi_push_text(p, "}");
}

static const char *function_name(hmi_op op)
{
    switch (op) {
    case HMI_SIN:
        return "\\sin";
    case HMI_COS:
        return "\\cos";
    case HMI_TAN:
        return "\\tan";
    case HMI_ASIN:
        return "\\arcsin";
    case HMI_ACOS:
        return "\\arccos";
    case HMI_ATAN:
        return "\\arctan";
    case HMI_SINH:
        return "\\sinh";
    case HMI_COSH:
        return "\\cosh";
    case HMI_TANH:
        return "\\tanh";
    case HMI_LOG:
        return "\\ln";
    case HMI_MIN:
        return "\\min";
    case HMI_MAX:
        return "\\max";
    case HMI_SIGN:
        return "\\operatorname{sgn}";
    case HMI_ATAN2:
        return "\\operatorname{atan2}";
    case HMI_HYPOT:
        return "\\operatorname{hypot}";
    default:
        return "\\operatorname{f}";
    }
}

static bool is_symbol(const hmi_printer *p, hmi_expr e)
{
    return hmi_op_of(p->graph, e) == HMI_SYMBOL || hmi_subproblem_of(p, e) != SIZE_MAX;
}

/* \sin\theta where nothing that follows could be taken for part of the argument. */
static void push_function(hmi_printer *p, const hmi_item *item, int32_t power)
{
    hmi_op op = hmi_op_of(p->graph, item->e);
    hmi_expr operand = hmi_operand(p->graph, item->e, 0);
    hmi_push_text(p, function_name(op));
    if (power > 1)
        push_exponent(p, power);
    if (hmi_is_trigonometric(op) && !item->closed && is_symbol(p, operand)) {
        hmi_push_text(p, " ");
        hmi_push_expr(p, operand, HMI_LEVEL_ANY);
    } else {
        hmi_push_call(p, "", item->e);
    }
}

static void latex_power(hmi_printer *p, const hmi_item *item)
{
    hmi_op op = hmi_op_of(p->graph, item->e);
    bool named = hmi_subproblem_of(p, item->e) != SIZE_MAX;
    if (hmi_is_trigonometric(op) && !named) {
        push_function(p, item, item->power);
        return;
    }
    bool brackets = op == HMI_EXP && !named; /* e^{x}^{2} is an error */
    if (brackets)
        hmi_push_text(p, p->style->open);
    hmi_push_expr(p, item->e, brackets ? HMI_LEVEL_ANY : HMI_LEVEL_ATOM);
    if (brackets)
        hmi_push_text(p, p->style->close);
    push_exponent(p, item->power);
}

static void push_around(hmi_printer *p, const char *before, hmi_expr e, const char *after)
{
    hmi_push_text(p, before);
    hmi_push_expr(p, e, HMI_LEVEL_ANY);
    hmi_push_text(p, after);
}

static void push_general_power(hmi_printer *p, const hmi_item *item)
{
    bool brackets = item->level > HMI_LEVEL_POWER;
    hmi_expr base = hmi_operand(p->graph, item->e, 0);
    bool power_below = hmi_op_of(p->graph, base) == HMI_EXP &&
                       hmi_subproblem_of(p, base) == SIZE_MAX;
    if (brackets)
        hmi_push_text(p, p->style->open);
    hmi_push_text(p, power_below ? p->style->open : "{");
    hmi_push_expr(p, base, power_below ? HMI_LEVEL_ANY : HMI_LEVEL_ATOM);
    hmi_push_text(p, power_below ? p->style->close : "}");
    push_around(p, "^{", hmi_operand(p->graph, item->e, 1), "}");
    if (brackets)
        hmi_push_text(p, p->style->close);
}

static void push_cases(hmi_printer *p, const hmi_item *item)
{
    bool brackets = item->level > HMI_LEVEL_SUM;
    if (brackets)
        hmi_push_text(p, p->style->open);
    push_around(p, "\\begin{cases} ", hmi_operand(p->graph, item->e, 1), " & ");
    push_around(p, "\\text{if } ", hmi_operand(p->graph, item->e, 0), " \\\\ ");
    push_around(p, "", hmi_operand(p->graph, item->e, 2), " & \\text{otherwise} \\end{cases}");
    if (brackets)
        hmi_push_text(p, p->style->close);
}

static const char *logic_text(hmi_op op)
{
    switch (op) {
    case HMI_LT:
        return " < ";
    case HMI_LE:
        return " \\le ";
    case HMI_EQ:
        return " = ";
    case HMI_AND:
        return " \\land ";
    default:
        return " \\lor ";
    }
}

static void push_logic(hmi_printer *p, const hmi_item *item, hmi_op op)
{
    hmi_precedence level = hmi_logic_level(op);
    bool brackets = item->level > level;
    if (brackets)
        hmi_push_text(p, p->style->open);
    if (op == HMI_NOT) {
        hmi_push_text(p, "\\lnot ");
        hmi_push_expr(p, hmi_operand(p->graph, item->e, 0), HMI_LEVEL_ATOM);
    } else {
        hmi_push_expr(p, hmi_operand(p->graph, item->e, 0), (hmi_precedence)(level + 1));
        hmi_push_text(p, logic_text(op));
        hmi_push_expr(p, hmi_operand(p->graph, item->e, 1), (hmi_precedence)(level + 1));
    }
    if (brackets)
        hmi_push_text(p, p->style->close);
}

static void latex_function(hmi_printer *p, const hmi_item *item)
{
    hmi_op op = hmi_op_of(p->graph, item->e);
    hmi_expr operand = hmi_operand(p->graph, item->e, 0);
    if (op == HMI_SQRT)
        push_around(p, "\\sqrt{", operand, "}");
    else if (op == HMI_ABS)
        push_around(p, "\\left|", operand, "\\right|");
    else if (op == HMI_FLOOR)
        push_around(p, "\\left\\lfloor ", operand, " \\right\\rfloor");
    else if (op == HMI_CEIL)
        push_around(p, "\\left\\lceil ", operand, " \\right\\rceil");
    else if (op == HMI_TABLE || op == HMI_TABLE2)
        hmi_push_table(p, item->e);
    else if (op == HMI_EXP)
        push_around(p, "e^{", operand, "}");
    else if (op == HMI_POW || op == HMI_POWI)
        push_general_power(p, item);
    else if (op == HMI_SELECT)
        push_cases(p, item);
    else if (hmi_logic_level(op) != HMI_LEVEL_ATOM)
        push_logic(p, item, op);
    else
        push_function(p, item, 1);
}

const hmi_style hmi_style_latex = {
    .plus = " + ",
    .minus = " - ",
    .lead_minus = "-",
    .times = " ",
    .word_times = " \\, ",
    .open = "\\left(",
    .close = "\\right)",
    .bar = true,
    .reads_pi = true,
    .number = latex_number,
    .symbol = latex_symbol,
    .power = latex_power,
    .function = latex_function,
    .part = latex_part,
};
