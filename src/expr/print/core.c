/* The printing machine: works off the stack of items. Sums and products are in terms.c. */
#include "expr/print/core.h"

#include "expr/graph/table.h"

#include <math.h>

/* ---- the stack ---- */

void hmi_push(hmi_printer *p, hmi_item item)
{
    if (!hmi_array_push(p->allocator, &p->stack, item))
        p->failed = true;
}

void hmi_push_text(hmi_printer *p, const char *text)
{
    hmi_push(p, (hmi_item){.kind = HMI_ITEM_TEXT, .text = text});
}

void hmi_push_expr(hmi_printer *p, hmi_expr e, hmi_precedence level)
{
    hmi_push(p, (hmi_item){.kind = HMI_ITEM_EXPR, .e = e, .level = (uint8_t)level});
}

/* Marks of a derivative: f'(x); with two arguments one mark for each, f_x(x, y). */
static void push_order(hmi_printer *p, const hmi_table_view *view)
{
    if (view->table->arguments == 1)
        for (int k = 0; k < view->order[0]; k++)
            hmi_push_text(p, "'");
    else if (view->order[0] + view->order[1] > 0) {
        bool latex = p->options->style == HMI_PRINT_LATEX;
        hmi_push_text(p, latex ? "_{" : "_");
        for (int k = 0; k < view->order[0]; k++)
            hmi_push_text(p, "x");
        for (int k = 0; k < view->order[1]; k++)
            hmi_push_text(p, "y");
        hmi_push_text(p, latex ? "}" : "");
    }
}

/* In LaTeX a word is upright; an underscore would start an index. */
static void push_table_name(hmi_printer *p, const hmi_table *table)
{
    bool word = p->options->style == HMI_PRINT_LATEX && table->name[1] != '\0';
    hmi_push_text(p, word ? "\\mathrm{" : "");
    hmi_push_text(p, word ? table->latex : table->name);
    hmi_push_text(p, word ? "}" : "");
}

void hmi_push_table(hmi_printer *p, hmi_expr e)
{
    bool two = hmi_op_of(p->graph, e) == HMI_TABLE2;
    hmi_expr address = hmi_operand(p->graph, e, two ? 2 : 1);
    const hmi_table_view *view = hmi_table_view_at(hmi_constant_of(p->graph, address)->value);
    push_table_name(p, view->table);
    push_order(p, view);
    hmi_push_text(p, p->style->open);
    hmi_push_expr(p, hmi_operand(p->graph, e, 0), HMI_LEVEL_ANY);
    if (two) {
        hmi_push_text(p, ", ");
        hmi_push_expr(p, hmi_operand(p->graph, e, 1), HMI_LEVEL_ANY);
    }
    hmi_push_text(p, p->style->close);
}

void hmi_push_call(hmi_printer *p, const char *name, hmi_expr e)
{
    hmi_push_text(p, name);
    hmi_push_text(p, p->style->open);
    for (int k = 0; k < hmi_op_arity(hmi_op_of(p->graph, e)); k++) {
        if (k)
            hmi_push_text(p, ", ");
        hmi_push_expr(p, hmi_operand(p->graph, e, k), HMI_LEVEL_ANY);
    }
    hmi_push_text(p, p->style->close);
}

/* Items were pushed as they are read; the first must be on top. */
static void arrange(hmi_printer *p, size_t from)
{
    for (size_t i = from, j = p->stack.count; i + 1 < j; i++) {
        hmi_item swap = p->stack.data[--j];
        p->stack.data[j] = p->stack.data[i];
        p->stack.data[i] = swap;
    }
}

/* ---- names ---- */

size_t hmi_subproblem_of(const hmi_printer *p, hmi_expr e)
{
    const hmi_shared *shared = p->options->shared;
    if (!shared || e == p->root || !hmi_shared_has(shared, e))
        return SIZE_MAX;
    return shared->numbers.data[e] - 1;
}

static bool is_literal(const hmi_printer *p)
{
    const hmi_namer *namer = &p->options->namer;
    return namer->literal && namer->literal(namer->user, hmi_text_view(&p->scratch));
}

bool hmi_symbol_is_word(hmi_printer *p)
{
    return is_literal(p) || hmi_name_is_word(hmi_text_view(&p->scratch));
}

void hmi_print_symbol_name(hmi_printer *p, int dots)
{
    (is_literal(p) ? hmi_print_literal_name : hmi_print_name)(p->out, p->options->style,
                                                              hmi_text_view(&p->scratch), dots);
}

int hmi_symbol_text(hmi_printer *p, const hmi_node *node)
{
    const hmi_namer *namer = &p->options->namer;
    p->scratch.length = 0;
    if (node->a == HMI_SYM_TIME)
        hmi_text_add(&p->scratch, "t");
    else if (node->a == HMI_SYM_ENERGY)
        hmi_text_add(&p->scratch, "energy");
    else
        namer->name(namer->user, (hmi_symbol_kind)node->a, node->b, &p->scratch);
    p->failed = p->failed || p->scratch.failed;
    switch (node->a) {
    case HMI_SYM_VELOCITY:
    case HMI_SYM_INPUT_RATE:
        return 1;
    case HMI_SYM_ACCELERATION:
    case HMI_SYM_INPUT_RATE2:
        return 2;
    default:
        return 0;
    }
}

bool hmi_is_trigonometric(hmi_op op)
{
    return op == HMI_SIN || op == HMI_COS || op == HMI_TAN || op == HMI_SINH || op == HMI_COSH ||
           op == HMI_TANH;
}

hmi_precedence hmi_logic_level(hmi_op op)
{
    switch (op) {
    case HMI_OR:
        return HMI_LEVEL_OR;
    case HMI_AND:
        return HMI_LEVEL_AND;
    case HMI_NOT:
        return HMI_LEVEL_NOT;
    case HMI_LT:
    case HMI_LE:
    case HMI_EQ:
        return HMI_LEVEL_COMPARE;
    default:
        return HMI_LEVEL_ATOM;
    }
}

/* ---- numbers ---- */

bool hmi_pi_multiple(const hmi_printer *p, double value, int *n, int *d)
{
    static const int denominators[] = {1,  2,  3,  4,  5,  6,  7,  8,  9,
                                       10, 12, 15, 16, 18, 20, 24, 36, 180};
    const double pi = 3.14159265358979323846;
    if (!p->style->reads_pi || !(fabs(value) < 100))
        return false;
    for (size_t i = 0; i < sizeof denominators / sizeof *denominators; i++) {
        double whole = nearbyint(value / pi * denominators[i]);
        if (whole == 0 || !hmi_is_near(whole * pi / denominators[i], value))
            continue;
        *n = (int)whole;
        *d = denominators[i];
        return true;
    }
    return false;
}

/* ---- items ---- */

static void print_number(hmi_printer *p, const hmi_item *item)
{
    const hmi_constant *c = hmi_constant_of(p->graph, item->e);
    bool absolute = item->kind != HMI_ITEM_EXPR;
    double value = absolute && c->value < 0 ? -c->value : c->value;
    p->style->number(p, value);
}

/* n pi, or d, of n pi/d. */
static void print_pi_part(hmi_printer *p, const hmi_item *item)
{
    int n, d;
    if (!hmi_pi_multiple(p, hmi_constant_of(p->graph, item->e)->value, &n, &d))
        return;
    n = n < 0 ? -n : n;
    if (item->level == 2 || n > 1)
        p->style->number(p, item->level == 2 ? d : n);
    if (item->level == 2)
        return;
    if (n > 1)
        hmi_text_add(p->out, p->style->times);
    p->style->number(p, 3.14159265358979323846);
}

/* A number as a factor: level 1 is the numerator, 2 the denominator of a ratio. */
static void print_factor_number(hmi_printer *p, const hmi_item *item)
{
    const hmi_constant *c = hmi_constant_of(p->graph, item->e);
    if (item->level && c->denominator <= 1) {
        print_pi_part(p, item);
        return;
    }
    double value = item->level == 1 ? c->numerator : item->level == 2 ? c->denominator : c->value;
    p->style->number(p, value < 0 ? -value : value);
    if (item->power > 1)
        hmi_text_addf(p->out, p->style->bar ? "^{%d}" : "^%d", (int)item->power);
}

/* Is it written as a product? Quotients, minus signs and ratios are. */
static bool is_product(const hmi_printer *p, hmi_expr e)
{
    const hmi_node *node = hmi_node_at(p->graph, e);
    switch ((hmi_op)node->op) {
    case HMI_MUL:
    case HMI_DIV:
    case HMI_NEG:
        return true;
    case HMI_CONST: {
        const hmi_constant *c = hmi_constant_of(p->graph, e);
        int n, d;
        return c->denominator > 1 || c->value < 0 ||
               (!c->denominator && hmi_pi_multiple(p, c->value, &n, &d) && n * d != 1);
    }
    case HMI_POWI:
        return hmi_constant_of(p->graph, node->b)->value < 0 && hmi_is_shown_power(p, node, 1);
    default:
        return false;
    }
}

static void print_power_node(hmi_printer *p, const hmi_item *item)
{
    const hmi_node *node = hmi_node_at(p->graph, item->e);
    double power = hmi_constant_of(p->graph, node->b)->value;
    if (item->level > HMI_LEVEL_POWER) {
        hmi_push_text(p, p->style->open);
        hmi_push_expr(p, item->e, HMI_LEVEL_ANY);
        hmi_push_text(p, p->style->close);
        return;
    }
    hmi_push(p, (hmi_item){.kind = HMI_ITEM_POWER,
                           .e = node->a,
                           .power = (int32_t)power,
                           .level = HMI_LEVEL_POWER,
                           .closed = item->closed});
}

static void print_expr(hmi_printer *p, const hmi_item *item)
{
    hmi_op op = item->e == HMI_NONE ? HMI_CONST : hmi_op_of(p->graph, item->e);
    size_t part = item->e == HMI_NONE ? SIZE_MAX : hmi_subproblem_of(p, item->e);
    if (item->e == HMI_NONE)
        hmi_text_add(p->out, "?");
    else if (part != SIZE_MAX)
        p->style->part(p, part);
    else if (hmi_opens_as_sum(p, item->e))
        hmi_print_sum(p, item);
    else if (is_product(p, item->e))
        hmi_print_product(p, item);
    else if (op == HMI_CONST)
        print_number(p, item);
    else if (op == HMI_SYMBOL)
        p->style->symbol(p, hmi_node_at(p->graph, item->e));
    else if (op == HMI_POWI && hmi_is_shown_power(p, hmi_node_at(p->graph, item->e), 1))
        print_power_node(p, item);
    else
        p->style->function(p, item);
}

static void print_item(hmi_printer *p, const hmi_item *item)
{
    size_t from = p->stack.count;
    if (item->kind == HMI_ITEM_TEXT)
        hmi_text_add(p->out, item->text);
    else if (item->kind == HMI_ITEM_POWER && item->level < HMI_LEVEL_POWER)
        print_factor_number(p, item);
    else if (item->kind == HMI_ITEM_POWER && item->power > 1)
        p->style->power(p, item);
    else
        print_expr(p, item);
    arrange(p, from);
}

static const hmi_style *style_of(hmi_print_style style)
{
    switch (style) {
    case HMI_PRINT_PLAIN:
        return &hmi_style_plain;
    case HMI_PRINT_LATEX:
        return &hmi_style_latex;
    default:
        return &hmi_style_text;
    }
}

static hm_status print_from(hmi_printer *p, hmi_expr e)
{
    size_t start = p->out->length;
    hmi_push_expr(p, e, HMI_LEVEL_ANY);
    while (p->stack.count && !p->failed && !p->out->failed) {
        hmi_item item = p->stack.data[--p->stack.count];
        print_item(p, &item);
        if (p->out->length - start > HMI_MOST_PRINTED) {
            p->out->length = start;
            p->out->data[start] = '\0';
            return HM_ERR_LIMIT;
        }
    }
    return p->failed || p->out->failed ? HM_ERR_NOMEM : HM_OK;
}

static hm_status print_root(hmi_text *out, const hmi_graph *graph, hmi_expr e, hmi_expr root,
                            const hmi_print_options *options)
{
    hmi_printer p = {.graph = graph,
                     .options = options,
                     .style = style_of(options->style),
                     .out = out,
                     .allocator = out->allocator,
                     .root = root};
    hmi_text_init(&p.scratch, out->allocator);
    hm_status status = print_from(&p, e);
    hmi_text_release(&p.scratch);
    hmi_array_release(p.allocator, &p.stack);
    hmi_array_release(p.allocator, &p.factors);
    hmi_array_release(p.allocator, &p.terms);
    hmi_array_release(p.allocator, &p.sorted);
    hmi_array_release(p.allocator, &p.pending);
    return status;
}

hm_status hmi_print(hmi_text *out, const hmi_graph *graph, hmi_expr e,
                    const hmi_print_options *options)
{
    return print_root(out, graph, e, HMI_NONE, options);
}

hm_status hmi_print_part_name(hmi_text *out, size_t k, const hmi_print_options *options)
{
    hmi_printer p = {.options = options, .style = style_of(options->style), .out = out};
    hmi_text_init(&p.scratch, out->allocator);
    p.style->part(&p, k);
    bool failed = out->failed || p.scratch.failed;
    hmi_text_release(&p.scratch);
    return failed ? HM_ERR_NOMEM : HM_OK;
}

hm_status hmi_print_part_value(hmi_text *out, const hmi_graph *graph, size_t k,
                               const hmi_print_options *options)
{
    hmi_expr e = options->shared->nodes.data[k];
    return print_root(out, graph, e, e, options);
}
