/* Sums and products for the printing machine: flattened, sorted, and pushed as items. */
#include "expr/print/core.h"

/* ---- products: factors with signed powers ---- */

static void push_pending(hmi_printer *p, hmi_expr e, int32_t power)
{
    if (!hmi_array_push(p->allocator, &p->pending, ((hmi_display_factor){e, power})))
        p->failed = true;
}

bool hmi_is_shown_power(const hmi_printer *p, const hmi_node *node, int32_t outer)
{
    double power = hmi_constant_of(p->graph, node->b)->value * outer;
    return power >= -INT32_MAX && power <= INT32_MAX;
}

static void push_factor(hmi_printer *p, hmi_display_factor f)
{
    if (f.power != 0 && !hmi_array_push(p->allocator, &p->factors, f))
        p->failed = true;
}

/* A power is one factor; a product under it, (x y)^2, stays closed and keeps its sign. */
static bool open_power(hmi_printer *p, const hmi_node *node, int32_t outer)
{
    if (!hmi_is_shown_power(p, node, outer))
        return false;
    int32_t power = outer * (int32_t)hmi_constant_of(p->graph, node->b)->value;
    hmi_op base = hmi_op_of(p->graph, node->a);
    if (base == HMI_MUL || base == HMI_DIV || base == HMI_NEG)
        push_factor(p, (hmi_display_factor){node->a, power});
    else
        push_pending(p, node->a, power);
    return true;
}

/* Pushes the parts of a product, quotient, power or negated factor; false for all else. */
static bool open_factor(hmi_printer *p, hmi_display_factor f, bool *negative)
{
    const hmi_node *node = hmi_node_at(p->graph, f.e);
    switch ((hmi_op)node->op) {
    case HMI_NEG:
        *negative = *negative != (f.power % 2 != 0);
        push_pending(p, node->a, f.power);
        return true;
    case HMI_MUL:
    case HMI_DIV:
        push_pending(p, node->b, node->op == HMI_MUL ? f.power : -f.power);
        push_pending(p, node->a, f.power);
        return true;
    case HMI_POWI:
        return open_power(p, node, f.power);
    default:
        return false;
    }
}

/* The factors of e, appended to p->factors. A named part is one factor, whatever it is. */
static void collect_factors(hmi_printer *p, hmi_expr e, bool *negative)
{
    *negative = false;
    p->pending.count = 0;
    push_pending(p, e, 1);
    while (p->pending.count && !p->failed) {
        hmi_display_factor f = p->pending.data[--p->pending.count];
        if (hmi_subproblem_of(p, f.e) == SIZE_MAX && open_factor(p, f, negative))
            continue;
        if (hmi_is_const(p->graph, f.e) && hmi_constant_of(p->graph, f.e)->value < 0)
            *negative = *negative != (f.power % 2 != 0);
        push_factor(p, f);
    }
}

/* ---- writing products ---- */

static void push_number(hmi_printer *p, hmi_display_factor f, uint8_t level, uint32_t *written)
{
    if ((*written)++)
        hmi_push_text(p, p->style->bar ? " \\cdot " : p->style->times);
    hmi_push(p, (hmi_item){.kind = HMI_ITEM_POWER,
                           .e = f.e,
                           .power = f.power < 0 ? -f.power : f.power,
                           .level = level});
}

/* n pi on one side of the line, d on the other; false: it is no such number. */
static bool push_pi(hmi_printer *p, hmi_display_factor f, bool under, uint32_t *written)
{
    const hmi_constant *c = hmi_constant_of(p->graph, f.e);
    int n, d;
    if (c->denominator || (f.power != 1 && f.power != -1) || !hmi_pi_multiple(p, c->value, &n, &d))
        return false;
    bool own_side = (f.power < 0) == under;
    if (own_side || d > 1)
        push_number(p, f, own_side ? 1 : 2, written);
    *written += own_side && n * n > 1; /* two factors: 1/(2 pi) */
    return true;
}

/* Numbers come first; 1 is not written beside other factors. */
static uint32_t push_numbers(hmi_printer *p, uint32_t first, bool under)
{
    uint32_t written = 0;
    for (size_t i = first; i < p->factors.count; i++) {
        hmi_display_factor f = p->factors.data[i];
        if (!hmi_is_const(p->graph, f.e))
            continue;
        if (push_pi(p, f, under, &written))
            continue;
        const hmi_constant *c = hmi_constant_of(p->graph, f.e);
        bool whole = c->denominator == 1, one = whole && (c->numerator == 1 || c->numerator == -1);
        bool ratio = c->denominator > 1;
        if (one || (!ratio && (f.power < 0) != under))
            continue;
        bool unit = ratio && (c->numerator == 1 || c->numerator == -1) && (f.power < 0) == under;
        if (unit)
            continue;
        /* level tells which part of a ratio is meant; see print_item */
        push_number(p, f, (uint8_t)(ratio ? 1 + ((f.power < 0) != under) : 0), &written);
    }
    return written;
}

/* LaTeX: sin x followed by a bracket or symbol would read as sin of both. */
static bool next_is_function(const hmi_printer *p, size_t i, bool under)
{
    for (size_t k = i + 1; k < p->factors.count; k++) {
        hmi_display_factor f = p->factors.data[k];
        if ((f.power < 0) == under && !hmi_is_const(p->graph, f.e))
            return hmi_is_trigonometric(hmi_op_of(p->graph, f.e)) &&
                   hmi_subproblem_of(p, f.e) == SIZE_MAX;
    }
    return true;
}

static bool is_word(hmi_printer *p, hmi_expr e)
{
    if (hmi_op_of(p->graph, e) != HMI_SYMBOL || hmi_subproblem_of(p, e) != SIZE_MAX)
        return false;
    hmi_symbol_text(p, hmi_node_at(p->graph, e));
    return hmi_symbol_is_word(p);
}

/* LaTeX sets words side by side without a space. */
static const char *times_between(hmi_printer *p, hmi_expr before, hmi_expr after)
{
    bool words = p->style->word_times && before != HMI_NONE &&
                 !hmi_is_trigonometric(hmi_op_of(p->graph, after)) &&
                 (is_word(p, before) || is_word(p, after));
    return words ? p->style->word_times : p->style->times;
}

static uint32_t push_factors(hmi_printer *p, uint32_t first, bool under)
{
    uint32_t written = push_numbers(p, first, under);
    hmi_expr before = HMI_NONE;
    for (size_t i = first; i < p->factors.count; i++) {
        hmi_display_factor f = p->factors.data[i];
        if ((f.power < 0) != under || hmi_is_const(p->graph, f.e))
            continue;
        if (written++)
            hmi_push_text(p, times_between(p, before, f.e));
        before = f.e;
        hmi_push(p, (hmi_item){.kind = HMI_ITEM_POWER,
                               .e = f.e,
                               .power = f.power < 0 ? -f.power : f.power,
                               .level = HMI_LEVEL_POWER,
                               .closed = !next_is_function(p, i, under)});
    }
    return written;
}

static void separate(hmi_printer *p, size_t above_from, uint32_t above, size_t below_from,
                     uint32_t below);

/* Numerator items, then denominator items, then what stands between and around them. */
static void push_product(hmi_printer *p, uint32_t first)
{
    size_t above_from = p->stack.count;
    uint32_t above = push_factors(p, first, false);
    if (above == 0)
        hmi_push_text(p, "1");
    size_t below_from = p->stack.count;
    uint32_t below = push_factors(p, first, true);
    if (below)
        separate(p, above_from, above, below_from, below);
}

/* Makes room for a text before the items from `at` on. */
static void insert_text(hmi_printer *p, size_t at, const char *text)
{
    hmi_push_text(p, text);
    for (size_t i = p->stack.count; !p->failed && i-- > at + 1;) {
        hmi_item swap = p->stack.data[i];
        p->stack.data[i] = p->stack.data[i - 1];
        p->stack.data[i - 1] = swap;
    }
}

/* A sum alone above or below a bar needs no brackets of its own. */
static void unbracket(hmi_printer *p, size_t at, uint32_t factors)
{
    hmi_item *item = &p->stack.data[at];
    if (factors == 1 && item->kind == HMI_ITEM_POWER && item->power == 1 &&
        item->level == HMI_LEVEL_POWER) {
        item->kind = HMI_ITEM_EXPR;
        item->level = HMI_LEVEL_ANY;
    }
}

static void separate(hmi_printer *p, size_t above_from, uint32_t above, size_t below_from,
                     uint32_t below)
{
    if (p->failed)
        return;
    if (p->style->bar) {
        unbracket(p, above_from, above);
        unbracket(p, below_from, below);
        insert_text(p, below_from, "}{");
        insert_text(p, above_from, "\\frac{");
        hmi_push_text(p, "}");
        return;
    }
    insert_text(p, below_from, below > 1 ? "/(" : "/");
    if (below > 1)
        hmi_push_text(p, ")");
}

void hmi_print_product(hmi_printer *p, const hmi_item *item)
{
    bool negative;
    uint32_t first = (uint32_t)p->factors.count;
    collect_factors(p, item->e, &negative);
    negative = negative && item->kind != HMI_ITEM_ABSOLUTE;
    if (!p->options->as_written && !p->failed)
        hmi_display_sort_factors(p->graph, p->factors.data + first, p->factors.count - first);
    hmi_precedence level = negative ? HMI_LEVEL_SUM : HMI_LEVEL_PRODUCT;
    bool brackets = item->level > level;
    if (brackets)
        hmi_push_text(p, p->style->open);
    if (negative)
        hmi_push_text(p, p->style->lead_minus);
    push_product(p, first);
    if (brackets)
        hmi_push_text(p, p->style->close);
    p->factors.count = first;
}

/* ---- sums ---- */

bool hmi_opens_as_sum(const hmi_printer *p, hmi_expr e)
{
    if (hmi_subproblem_of(p, e) != SIZE_MAX)
        return false;
    while (hmi_op_of(p->graph, e) == HMI_NEG) {
        e = hmi_operand(p->graph, e, 0);
        if (hmi_subproblem_of(p, e) != SIZE_MAX)
            return false;
    }
    return hmi_is_sum(p->graph, e);
}

static void add_term(hmi_printer *p, hmi_expr e, bool minus)
{
    hmi_print_term term = {.e = e, .first = (uint32_t)p->factors.count};
    bool negative;
    collect_factors(p, e, &negative);
    term.negative = negative != minus;
    uint32_t kept = term.first; /* numbers do not take part in the order */
    for (size_t i = term.first; i < p->factors.count; i++)
        if (!hmi_is_const(p->graph, p->factors.data[i].e))
            p->factors.data[kept++] = p->factors.data[i];
    p->factors.count = kept;
    term.count = kept - term.first;
    if (p->failed)
        return;
    if (!p->options->as_written)
        hmi_display_sort_factors(p->graph, p->factors.data + term.first, term.count);
    if (!hmi_array_push(p->allocator, &p->terms, term))
        p->failed = true;
}

/* The terms of a sum; p->stack above `bottom` holds what is still to be opened. */
static void collect_terms(hmi_printer *p, hmi_expr e)
{
    size_t bottom = p->stack.count;
    hmi_push(p, (hmi_item){.e = e, .power = 1});
    while (p->stack.count > bottom && !p->failed) {
        hmi_item top = p->stack.data[--p->stack.count];
        const hmi_node *node = hmi_node_at(p->graph, top.e);
        if (!hmi_opens_as_sum(p, top.e)) {
            add_term(p, top.e, top.power < 0);
        } else if (node->op == HMI_NEG) {
            hmi_push(p, (hmi_item){.e = node->a, .power = -top.power});
        } else {
            int32_t sign = node->op == HMI_SUB ? -top.power : top.power;
            hmi_push(p, (hmi_item){.e = node->b, .power = sign});
            hmi_push(p, (hmi_item){.e = node->a, .power = top.power});
        }
    }
}

static bool in_order(const hmi_printer *p, const hmi_print_term *a, const hmi_print_term *b)
{
    return hmi_display_compare_terms(p->graph, p->factors.data + a->first, a->count,
                                     p->factors.data + b->first, b->count) <= 0;
}

/* Merge sort, bottom up: stable, and no recursion. */
static void sort_terms(hmi_printer *p)
{
    size_t n = p->terms.count;
    p->sorted.count = 0;
    if (!hmi_array_reserve(p->allocator, &p->sorted, n)) {
        p->failed = true;
        return;
    }
    hmi_print_term *from = p->terms.data, *to = p->sorted.data;
    for (size_t width = 1; width < n; width *= 2) {
        for (size_t start = 0; start < n; start += 2 * width) {
            size_t middle = start + width < n ? start + width : n;
            size_t end = middle + width < n ? middle + width : n;
            for (size_t i = start, j = middle, k = start; k < end; k++) {
                bool left = j >= end || (i < middle && in_order(p, &from[i], &from[j]));
                to[k] = left ? from[i++] : from[j++];
            }
        }
        hmi_print_term *swap = from;
        from = to;
        to = swap;
    }
    for (size_t i = 0; from != p->terms.data && i < n; i++)
        p->terms.data[i] = from[i];
}

/* b + c - a, not -a + b + c; and a negative number goes last: x^2 - y^2 - 1. */
static void avoid_leading_minus(hmi_printer *p)
{
    hmi_print_term first = p->terms.data[0];
    size_t n = p->terms.count, negative = 0;
    for (size_t i = 0; i < n; i++)
        negative += p->terms.data[i].negative;
    bool move = first.negative && n > 1 && !p->terms.data[1].negative &&
                (negative == 1 || first.count == 0);
    for (size_t i = 1; i < n && move; i++)
        p->terms.data[i - 1] = p->terms.data[i];
    if (move)
        p->terms.data[n - 1] = first;
}

void hmi_print_sum(hmi_printer *p, const hmi_item *item)
{
    size_t first_factor = p->factors.count;
    p->terms.count = 0;
    collect_terms(p, item->e);
    if (p->failed)
        return;
    if (!p->options->as_written) {
        sort_terms(p);
        avoid_leading_minus(p);
    }
    const hmi_print_term *terms = p->terms.data;
    bool brackets = item->level > HMI_LEVEL_SUM;
    if (brackets)
        hmi_push_text(p, p->style->open);
    for (size_t i = 0; i < p->terms.count; i++) {
        if (i || terms[i].negative)
            hmi_push_text(p, i == 0              ? p->style->lead_minus
                             : terms[i].negative ? p->style->minus
                                                 : p->style->plus);
        hmi_push(
            p, (hmi_item){.kind = HMI_ITEM_ABSOLUTE, .e = terms[i].e, .level = HMI_LEVEL_PRODUCT});
    }
    if (brackets)
        hmi_push_text(p, p->style->close);
    p->factors.count = first_factor;
}
