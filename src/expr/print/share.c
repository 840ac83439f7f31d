/* Which parts of large expressions get a name.
 *
 * Operands come first, so one pass gives each node its width in print with the names chosen so far.
 * A node that is used again and is not short gets a name at once; what is left unnamed and shared
 * is short, so the output is linear in the number of nodes.
 */
#include "expr/print/print.h"

#include <string.h>

enum { NAME_WIDTH = 3, LEAST_WIDTH = 16, MOST_WIDTH = 1 << 20 };

hmi_shared_options hmi_shared_options_default(void)
{
    return (hmi_shared_options){.saving = 40, .longest = 120};
}

void hmi_shared_init(hmi_shared *shared, const hm_allocator *allocator, const char *prefix)
{
    *shared = (hmi_shared){.allocator = allocator, .prefix = prefix};
}

void hmi_shared_release(hmi_shared *shared)
{
    if (!shared->allocator)
        return;
    hmi_array_release(shared->allocator, &shared->nodes);
    hmi_array_release(shared->allocator, &shared->numbers);
}

bool hmi_shared_has(const hmi_shared *shared, hmi_expr e)
{
    return e < shared->numbers.count && shared->numbers.data[e] != 0;
}

/* While choosing: what is known of each node, by handle. */
typedef struct chooser {
    hmi_shared *shared;
    const hmi_graph *graph;
    hmi_shared_options options;
    uint32_t *uses, *width;
    size_t count; /* of both */
    hmi_walk walk;
    bool failed;
} chooser;

static void give_name(chooser *c, hmi_expr e)
{
    if (!hmi_array_push(c->shared->allocator, &c->shared->nodes, e)) {
        c->failed = true;
        return;
    }
    c->shared->numbers.data[e] = (uint32_t)c->shared->nodes.count;
}

static uint32_t shown_width(const chooser *c, hmi_expr e)
{
    return hmi_shared_has(c->shared, e) ? NAME_WIDTH : c->width[e];
}

/* Columns of the operation itself, roughly. */
static uint32_t own_width(const hmi_graph *graph, const hmi_node *node)
{
    switch ((hmi_op)node->op) {
    case HMI_CONST:
        return graph->constants.data[node->a].denominator == 1 ? 1 : 4;
    case HMI_SYMBOL:
        return 2;
    case HMI_ADD:
    case HMI_SUB:
        return 3;
    case HMI_MUL:
    case HMI_DIV:
        return 2;
    case HMI_NEG:
    case HMI_POWI:
        return 1;
    default:
        return (uint32_t)strlen(hmi_op_text((hmi_op)node->op)) + 2;
    }
}

static uint32_t width_of(const chooser *c, hmi_expr e)
{
    const hmi_node *node = hmi_node_at(c->graph, e);
    uint32_t width = own_width(c->graph, node);
    int arity = node->op == HMI_POWI ? 1 : hmi_op_arity((hmi_op)node->op);
    for (int k = 0; k < arity && width < MOST_WIDTH; k++)
        width += shown_width(c, hmi_operand(c->graph, e, k));
    return width < MOST_WIDTH ? width : MOST_WIDTH;
}

/* An operand of `whole` that would be worth a line of its own. Partial sums are not: cutting a long
 * sum in two helps nobody; nor is one that is nearly all of the whole. */
static bool is_worth_a_line(const chooser *c, hmi_expr e, hmi_expr whole)
{
    hmi_op op = hmi_op_of(c->graph, e);
    bool splits = op != HMI_NEG && op != HMI_CONST && op != HMI_SYMBOL &&
                  !(hmi_is_sum(c->graph, whole) && hmi_is_sum(c->graph, e));
    return splits && !hmi_shared_has(c->shared, e) && c->width[e] > c->options.longest / 3 &&
           c->width[whole] - c->width[e] > c->options.longest / 4;
}

/* Too wide: the widest operand gets a name, until it fits or none is worth it. */
static void break_wide(chooser *c, hmi_expr e)
{
    int arity = hmi_op_arity(hmi_op_of(c->graph, e));
    while (c->options.longest && c->width[e] > c->options.longest && !c->failed) {
        hmi_expr widest = HMI_NONE;
        for (int k = 0; k < arity; k++) {
            hmi_expr operand = hmi_operand(c->graph, e, k);
            if (is_worth_a_line(c, operand, e) &&
                (widest == HMI_NONE || c->width[operand] > c->width[widest]))
                widest = operand;
        }
        if (widest == HMI_NONE)
            return;
        give_name(c, widest);
        c->width[e] = width_of(c, e);
    }
}

static void count_uses(chooser *c)
{
    for (size_t i = 0; i < c->walk.order.count; i++) {
        hmi_expr e = c->walk.order.data[i];
        for (int k = 0; k < hmi_op_arity(hmi_op_of(c->graph, e)); k++)
            c->uses[hmi_operand(c->graph, e, k)]++;
    }
}

/* Used twice it must be wide, used often less so. */
static bool is_worth_a_name(const chooser *c, hmi_expr e)
{
    uint64_t saved = c->uses[e] > 1 ? (uint64_t)(c->uses[e] - 1) * c->width[e] : 0;
    return c->width[e] >= LEAST_WIDTH && saved >= c->options.saving;
}

static void choose(chooser *c)
{
    for (size_t i = 0; i < c->walk.order.count && !c->failed; i++) {
        hmi_expr e = c->walk.order.data[i];
        c->width[e] = width_of(c, e);
        break_wide(c, e);
        if (is_worth_a_name(c, e))
            give_name(c, e);
    }
}

/* Names were given when the need was seen; definitions follow the order of operands. */
static void renumber(chooser *c)
{
    hmi_shared *shared = c->shared;
    size_t count = 0;
    for (size_t i = 0; i < c->walk.order.count; i++)
        if (hmi_shared_has(shared, c->walk.order.data[i]))
            shared->nodes.data[count++] = c->walk.order.data[i];
    for (size_t i = 0; i < count; i++)
        shared->numbers.data[shared->nodes.data[i]] = (uint32_t)i + 1;
}

static bool clear_numbers(hmi_shared *shared, size_t count)
{
    shared->nodes.count = shared->numbers.count = 0;
    if (!hmi_array_reserve(shared->allocator, &shared->numbers, count))
        return false;
    if (count)
        memset(shared->numbers.data, 0, count * sizeof *shared->numbers.data);
    shared->numbers.count = count;
    return true;
}

static bool prepare(chooser *c, const hmi_expr *roots, size_t count)
{
    size_t bytes = c->count * sizeof *c->uses;
    c->uses = hmi_alloc(c->shared->allocator, bytes);
    c->width = hmi_alloc(c->shared->allocator, bytes);
    if (!c->uses || !c->width || !clear_numbers(c->shared, c->count) ||
        hmi_walk_begin(&c->walk, c->graph))
        return false;
    memset(c->uses, 0, bytes);
    for (size_t i = 0; i < count; i++) {
        if (hmi_walk_add(&c->walk, c->graph, roots[i], 0xFFFF))
            return false;
        if (roots[i] != HMI_NONE)
            c->uses[roots[i]]++;
    }
    return true;
}

/* With nothing named; saturates. */
static uint64_t add_widths(chooser *c, const hmi_expr *roots, size_t count)
{
    uint64_t sum = 0;
    for (size_t i = 0; i < c->walk.order.count; i++)
        c->width[c->walk.order.data[i]] = width_of(c, c->walk.order.data[i]);
    for (size_t i = 0; i < count; i++)
        sum += roots[i] == HMI_NONE ? 0 : c->width[roots[i]];
    return sum;
}

static void release(chooser *c)
{
    hmi_free(c->shared->allocator, c->uses, c->count * sizeof *c->uses);
    hmi_free(c->shared->allocator, c->width, c->count * sizeof *c->width);
    hmi_walk_release(&c->walk);
}

hm_status hmi_printed_width(const hm_allocator *allocator, const hmi_graph *graph,
                            const hmi_expr *roots, size_t count, uint64_t *width)
{
    hmi_shared none;
    hmi_shared_init(&none, allocator, "");
    chooser c = {.shared = &none, .graph = graph, .count = graph->nodes.count};
    hmi_walk_init(&c.walk, allocator);
    bool ready = prepare(&c, roots, count);
    if (ready)
        *width = add_widths(&c, roots, count);
    release(&c);
    hmi_shared_release(&none);
    return ready ? HM_OK : HM_ERR_NOMEM;
}

hm_status hmi_shared_pick(hmi_shared *shared, const hmi_graph *graph, const hmi_expr *roots,
                          size_t count, const hmi_shared_options *options)
{
    chooser c = {
        .shared = shared, .graph = graph, .options = *options, .count = graph->nodes.count};
    hmi_walk_init(&c.walk, shared->allocator);
    bool ready = prepare(&c, roots, count);
    if (ready) {
        count_uses(&c);
        choose(&c);
        renumber(&c);
    }
    release(&c);
    if (ready && !c.failed)
        return HM_OK;
    shared->nodes.count = shared->numbers.count = 0;
    return HM_ERR_NOMEM;
}
