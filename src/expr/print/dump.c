/* The graph for people who work on Hamel: one node per line, in the order in which they were made.
 *
 *     %12  mul     %5 %11    parameter coordinate        m*%11
 *
 * The number, the operation, its operands, the kinds of symbols it depends on, and the expression
 * with every operand that is itself an operation shown as its number. Leaves are shown in full.
 */
#include "expr/print/print.h"

#include <ctype.h>

static const char *const op_names[HMI_OP_COUNT] = {
    [HMI_CONST] = "CONSTANT",
    [HMI_SYMBOL] = "SYMBOL",
#define OP(name, arity, text, value, ddx, ddy) [HMI_##name] = #name,
#include "expr/graph/ops.def"
#undef OP
};

static const char *const kind_names[HMI_SYM_KIND_COUNT] = {
    [HMI_SYM_TIME] = "time",
    [HMI_SYM_PARAM] = "parameter",
    [HMI_SYM_COORD] = "coordinate",
    [HMI_SYM_VELOCITY] = "velocity",
    [HMI_SYM_ACCELERATION] = "acceleration",
    [HMI_SYM_STATE] = "state",
    [HMI_SYM_INPUT] = "input",
    [HMI_SYM_INPUT_RATE] = "input'",
    [HMI_SYM_INPUT_RATE2] = "input''",
    [HMI_SYM_REACTION] = "reaction",
    [HMI_SYM_MULTIPLIER] = "multiplier",
    [HMI_SYM_TOTAL_REACTION] = "total-reaction",
    [HMI_SYM_TOTAL_MULTIPLIER] = "total-multiplier",
    [HMI_SYM_ENERGY] = "energy",
    [HMI_SYM_MATRIX] = "matrix",
    [HMI_SYM_MODE] = "mode",
};

/* Where the caller has no names: coordinate3. */
static void name_by_kind(void *user, hmi_symbol_kind kind, uint32_t index, hmi_text *out)
{
    (void)user;
    hmi_text_addf(out, "%s%u", kind_names[kind], index);
}

static void pad_to(hmi_text *out, size_t line_start, size_t column)
{
    do
        hmi_text_add(out, " ");
    while (!out->failed && out->length - line_start < column);
}

static void dump_operation(hmi_text *out, const hmi_node *node, size_t line_start)
{
    const uint32_t operands[3] = {node->a, node->b, node->c};
    for (const char *p = op_names[node->op]; *p; p++)
        hmi_text_addf(out, "%c", tolower((unsigned char)*p));
    pad_to(out, line_start, 19);
    for (int k = 0; k < hmi_op_arity((hmi_op)node->op); k++)
        hmi_text_addf(out, "%s%%%u", k ? " " : "", operands[k]);
    pad_to(out, line_start, 39);
    const char *separator = "";
    for (int kind = 0; kind < HMI_SYM_KIND_COUNT; kind++)
        if (node->deps & HMI_DEP(kind)) {
            hmi_text_addf(out, "%s%s", separator, kind_names[kind]);
            separator = " ";
        }
    pad_to(out, line_start, 69);
}

static hm_status dump_node(hmi_text *out, const hmi_graph *graph, hmi_expr e,
                           const hmi_print_options *options)
{
    size_t line_start = out->length;
    hmi_text_addf(out, "%%%u", e);
    pad_to(out, line_start, 9);
    dump_operation(out, hmi_node_at(graph, e), line_start);
    hm_status status = hmi_op_of(graph, e) > HMI_SYMBOL
                           ? hmi_print_part_value(out, graph, e - 1, options)
                           : hmi_print(out, graph, e, options);
    hmi_text_add(out, "\n");
    return status;
}

/* Every operation is a named part: part k, which is shown as k + 1, is node k + 1. Node 0 is the
 * number 0 and needs no name. */
static bool number_operations(hmi_shared *numbered, const hmi_graph *graph)
{
    size_t count = graph->nodes.count;
    if (!hmi_array_reserve(numbered->allocator, &numbered->numbers, count) ||
        !hmi_array_reserve(numbered->allocator, &numbered->nodes, count))
        return false;
    for (hmi_expr e = 0; e < count; e++) {
        numbered->nodes.data[numbered->nodes.count++] = e + 1;
        numbered->numbers.data[numbered->numbers.count++] = hmi_op_of(graph, e) > HMI_SYMBOL ? e
                                                                                             : 0;
    }
    return true;
}

hm_status hmi_graph_dump(const hmi_graph *graph, const hmi_namer *namer, hmi_text *out)
{
    hmi_shared numbered;
    hmi_shared_init(&numbered, graph->allocator, "%");
    const hmi_print_options options = {.style = HMI_PRINT_PLAIN,
                                       .namer = namer ? *namer : (hmi_namer){.name = name_by_kind},
                                       .shared = &numbered,
                                       .as_written = true};
    hm_status status = number_operations(&numbered, graph) ? HM_OK : HM_ERR_NOMEM;
    for (hmi_expr e = 0; e < graph->nodes.count && status == HM_OK; e++)
        status = dump_node(out, graph, e, &options);
    hmi_shared_release(&numbered);
    return status == HM_OK && out->failed ? HM_ERR_NOMEM : status;
}
