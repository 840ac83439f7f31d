/* Writes straight-line code: which parts become temporaries, and expressions with few brackets. */
#include "expr/print/code.h"

#include "expr/graph/table.h"

#include <math.h>
#include <string.h>

static const char *const op_names[HMI_OP_COUNT] = {
#define OP(name, arity, text, value, ddx, ddy) [HMI_##name] = #name,
#include "expr/graph/ops.def"
#undef OP
};

bool hmi_code_is_operator(hmi_op op)
{
    return op == HMI_ADD || op == HMI_SUB || op == HMI_MUL || op == HMI_DIV || op == HMI_NEG;
}

void hmi_code_helper_name(hmi_text *out, hmi_op op)
{
    hmi_text_add(out, "hm_");
    for (const char *name = op_names[op]; *name; name++) {
        char c = *name >= 'A' && *name <= 'Z' ? (char)(*name + ('a' - 'A')) : *name;
        hmi_text_add_bytes(out, &c, 1);
    }
}

void hmi_code_number_c(hmi_text *out, double value)
{
    char buffer[HMI_NUMBER_TEXT];
    const char *text = hmi_number_text(fabs(value), buffer);
    bool negative = signbit(value);
    hmi_text_add(out, negative ? "(-" : "");
    if (isfinite(value))
        hmi_text_addf(out, strpbrk(text, ".e") ? "%s" : "%s.0", text);
    else
        hmi_text_add(out, isnan(value) ? "NAN" : "INFINITY");
    hmi_text_add(out, negative ? ")" : "");
}

/* ---- what becomes a temporary ---- */

enum { WIDEST = 90, NAME_WIDTH = 5 };

typedef struct writer {
    hmi_text *out;
    const hmi_graph *graph;
    const hmi_code *code;
    const hmi_code_dialect *dialect;
    const hm_allocator *allocator;
    hmi_walk walk;
    size_t count; /* of the arrays, by handle */
    uint32_t *uses;
    uint32_t *width;     /* when written in place */
    uint32_t *temporary; /* its number, 0 = written in place */
} writer;

static uint32_t width_of(const writer *w, hmi_expr e)
{
    hmi_op op = hmi_op_of(w->graph, e);
    uint32_t width = hmi_op_arity(op) ? 4 : 5;
    if (hmi_op_arity(op) && !hmi_code_is_operator(op))
        width += 6;
    for (int k = 0; k < hmi_op_arity(op); k++) {
        hmi_expr operand = hmi_operand(w->graph, e, k);
        width += w->temporary[operand] ? NAME_WIDTH : w->width[operand];
    }
    return width;
}

static void choose_temporaries(writer *w)
{
    uint32_t number = 0;
    for (size_t i = 0; i < w->walk.order.count; i++) {
        hmi_expr e = w->walk.order.data[i];
        for (int k = 0; k < hmi_op_arity(hmi_op_of(w->graph, e)); k++)
            w->uses[hmi_operand(w->graph, e, k)]++;
    }
    for (size_t i = 0; i < w->walk.order.count; i++) {
        hmi_expr e = w->walk.order.data[i];
        w->width[e] = width_of(w, e);
        if (hmi_op_arity(hmi_op_of(w->graph, e)) && (w->uses[e] > 1 || w->width[e] > WIDEST))
            w->temporary[e] = ++number;
    }
}

/* ---- expressions ---- */

typedef enum binding { BINDS_SUM, BINDS_PRODUCT, BINDS_ATOM } binding;

static void write_value(writer *w, hmi_expr e, binding least);

/* Only what is written in place recurses, and that is at most WIDEST columns: so is the depth. */
static void write_operation(writer *w, hmi_expr e, binding least)
{
    hmi_op op = hmi_op_of(w->graph, e);
    hmi_expr a = hmi_operand(w->graph, e, 0), b = hmi_operand(w->graph, e, 1);
    bool sum = op == HMI_ADD || op == HMI_SUB;
    binding own = sum ? BINDS_SUM : BINDS_PRODUCT;
    bool brackets = least > own;
    hmi_text_add(w->out, brackets ? "(" : "");
    if (op == HMI_NEG) {
        hmi_text_add(w->out, "-");
        write_value(w, a, BINDS_ATOM);
    } else {
        write_value(w, a, own);
        hmi_text_addf(w->out, " %s ", hmi_op_text(op));
        write_value(w, b, own + 1);
    }
    hmi_text_add(w->out, brackets ? ")" : "");
}

/* hm_table_f(x, order) or hm_table_f(x, y, order in x, order in y), functions of tables_c.c */
static void write_table(writer *w, hmi_expr e)
{
    bool two = hmi_op_of(w->graph, e) == HMI_TABLE2;
    double address = hmi_constant_of(w->graph, hmi_operand(w->graph, e, two ? 2 : 1))->value;
    const hmi_table_view *view = hmi_table_view_at(address);
    hmi_text_addf(w->out, "hm_table_%s(", view->table->name);
    write_value(w, hmi_operand(w->graph, e, 0), BINDS_SUM);
    if (two) {
        hmi_text_add(w->out, ", ");
        write_value(w, hmi_operand(w->graph, e, 1), BINDS_SUM);
        hmi_text_addf(w->out, ", %d, %d)", view->order[0], view->order[1]);
    } else
        hmi_text_addf(w->out, ", %d)", view->order[0]);
}

static void write_call(writer *w, hmi_expr e)
{
    hmi_op op = hmi_op_of(w->graph, e);
    if (op == HMI_TABLE || op == HMI_TABLE2) {
        write_table(w, e);
        return;
    }
    w->dialect->function(w->out, op);
    for (int k = 0; k < hmi_op_arity(op); k++) {
        hmi_text_add(w->out, k ? ", " : "(");
        write_value(w, hmi_operand(w->graph, e, k), BINDS_SUM);
    }
    hmi_text_add(w->out, ")");
}

/* The operation itself, whether or not it has a temporary. */
static void write_node(writer *w, hmi_expr e, binding least)
{
    hmi_op op = hmi_op_of(w->graph, e);
    const hmi_node *node = hmi_node_at(w->graph, e);
    if (op == HMI_CONST)
        w->dialect->number(w->out, hmi_constant_of(w->graph, e)->value);
    else if (op == HMI_SYMBOL)
        w->code->symbol(w->code->user, w->out, (hmi_symbol_kind)node->a, node->b);
    else if (hmi_code_is_operator(op))
        write_operation(w, e, least);
    else
        write_call(w, e);
}

static void write_value(writer *w, hmi_expr e, binding least)
{
    if (w->temporary[e])
        hmi_text_addf(w->out, "%s%u", w->dialect->temporary, (unsigned)w->temporary[e]);
    else
        write_node(w, e, least);
}

/* ---- statements ---- */

static void write_statements(writer *w)
{
    const hmi_code *code = w->code;
    const hmi_code_dialect *d = w->dialect;
    for (size_t i = 0; i < w->walk.order.count; i++) {
        hmi_expr e = w->walk.order.data[i];
        if (!w->temporary[e])
            continue;
        hmi_text_addf(w->out, "%s%s%s%u%s", d->indent, d->declare, d->temporary,
                      (unsigned)w->temporary[e], d->assign);
        write_node(w, e, BINDS_SUM);
        hmi_text_add(w->out, d->end);
    }
    hmi_text_add(w->out, d->between ? d->between : "");
    for (size_t k = 0; k < code->count; k++) {
        hmi_text_add(w->out, d->indent);
        code->target(code->user, w->out, k);
        hmi_text_add(w->out, d->assign);
        if (code->roots[k] == HMI_NONE)
            hmi_text_add(w->out, "0");
        else
            write_value(w, code->roots[k], BINDS_SUM);
        hmi_text_add(w->out, d->end);
    }
}

static bool prepare(writer *w)
{
    size_t bytes = w->count * sizeof *w->uses;
    w->uses = hmi_alloc(w->allocator, bytes);
    w->width = hmi_alloc(w->allocator, bytes);
    w->temporary = hmi_alloc(w->allocator, bytes);
    if (!w->uses || !w->width || !w->temporary || hmi_walk_begin(&w->walk, w->graph))
        return false;
    memset(w->uses, 0, bytes);
    memset(w->temporary, 0, bytes);
    for (size_t k = 0; k < w->code->count; k++) {
        if (hmi_walk_add(&w->walk, w->graph, w->code->roots[k], 0xFFFF))
            return false;
        if (w->code->roots[k] != HMI_NONE)
            w->uses[w->code->roots[k]]++;
    }
    return true;
}

hm_status hmi_code_write(hmi_text *out, const hmi_graph *graph, const hmi_code *code)
{
    writer w = {.out = out,
                .graph = graph,
                .code = code,
                .dialect = code->dialect,
                .allocator = out->allocator,
                .count = graph->nodes.count};
    hmi_walk_init(&w.walk, w.allocator);
    bool ready = prepare(&w);
    if (ready) {
        choose_temporaries(&w);
        write_statements(&w);
    }
    hmi_free(w.allocator, w.uses, w.count * sizeof *w.uses);
    hmi_free(w.allocator, w.width, w.count * sizeof *w.width);
    hmi_free(w.allocator, w.temporary, w.count * sizeof *w.temporary);
    hmi_walk_release(&w.walk);
    return ready && !out->failed ? HM_OK : HM_ERR_NOMEM;
}

uint16_t hmi_code_kinds(const hmi_graph *graph, const hmi_expr *roots, size_t count)
{
    uint16_t kinds = 0;
    for (size_t k = 0; k < count; k++)
        kinds |= hmi_deps(graph, roots[k]);
    return kinds;
}
