/* The C printer. Helpers come from the table of operations, so that the values agree
 * with hmi_op_value by construction (the functions of <math.h> stand for ours, within an ulp);
 * brackets keep every rounding where the DAG has it.
 */
#include "expr/print/print.h"

#include <math.h>
#include <string.h>

/* What an operation is in C, from its value in the table: "sin(x)" calls sin, "x < y" a helper. */
static const struct {
    const char *name, *table_value;
    int arity;
} ops[HMI_OP_COUNT] = {
#define OP(name, arity, text, value, ddx, ddy) [HMI_##name] = {#name, #value, arity},
#include "expr/graph/ops.def"
#undef OP
};

/* In exported C the functions are those of <math.h>. */
static const char *value_of(hmi_op op)
{
    static const char ours[] = "hmi_math_";
    const char *value = ops[op].table_value;
    return strncmp(value, ours, sizeof ours - 1) == 0 ? value + sizeof ours - 1 : value;
}

/* ---- preamble ---- */

/* The length of NAME in NAME(x) or NAME(x, y); 0 where the value is anything else. */
static size_t called_function(hmi_op op)
{
    const char *value = value_of(op), *bracket = strchr(value, '(');
    if (!bracket || bracket == value)
        return 0;
    bool plain = strcmp(bracket, ops[op].arity == 1 ? "(x)" : "(x, y)") == 0;
    for (const char *c = value; c < bracket; c++)
        plain = plain && ((*c >= 'a' && *c <= 'z') || (*c >= '0' && *c <= '9') || *c == '_');
    return plain ? (size_t)(bracket - value) : 0;
}

static bool is_operator(hmi_op op)
{
    return op == HMI_ADD || op == HMI_SUB || op == HMI_MUL || op == HMI_DIV || op == HMI_NEG;
}

static void add_lower(hmi_text *out, const char *name)
{
    for (; *name; name++) {
        char c = *name >= 'A' && *name <= 'Z' ? (char)(*name + ('a' - 'A')) : *name;
        hmi_text_add_bytes(out, &c, 1);
    }
}

static void add_helper(hmi_text *out, hmi_op op)
{
    hmi_text_add(out, "static inline double hm_");
    add_lower(out, ops[op].name);
    hmi_text_addf(out, "(double x%s%s)\n{\n    return %s;\n}\n\n",
                  ops[op].arity > 1 ? ", double y" : "", ops[op].arity > 2 ? ", double z" : "",
                  value_of(op));
}

void hmi_print_c_preamble(hmi_text *out)
{
    hmi_text_add(out, "/* Compile with -ffp-contract=off for the same bits everywhere. */\n"
                      "#include <math.h>\n#include <stdlib.h>\n\n");
    hmi_text_add(out, "/* x^n for whole n. */\n"
                      "static inline double hmi_powi(double x, double n)\n"
                      "{\n"
                      "    if (fabs(n) > 64)\n"
                      "        return pow(x, n);\n"
                      "    int exponent = abs((int)n);\n"
                      "    double result = 1, square = x;\n"
                      "    for (; exponent; exponent >>= 1, square *= square)\n"
                      "        if (exponent & 1)\n"
                      "            result *= square;\n"
                      "    return n < 0 ? 1 / result : result;\n"
                      "}\n\n");
    for (int op = HMI_SYMBOL + 1; op < HMI_OP_COUNT; op++)
        if (op < HMI_TABLE && !is_operator((hmi_op)op) && !called_function((hmi_op)op))
            add_helper(out, (hmi_op)op);
}

/* ---- what becomes a temporary ---- */

enum { WIDEST = 90, NAME_WIDTH = 5 };

typedef struct writer {
    hmi_text *out;
    const hmi_graph *graph;
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
    if (hmi_op_arity(op) && !is_operator(op))
        width += 6;
    for (int k = 0; k < hmi_op_arity(op); k++) {
        hmi_expr operand = hmi_operand(w->graph, e, k);
        width += w->temporary[operand] ? NAME_WIDTH : w->width[operand];
    }
    return width;
}

static uint16_t choose_temporaries(writer *w)
{
    uint32_t number = 0;
    uint16_t kinds = 0;
    for (size_t i = 0; i < w->walk.order.count; i++) {
        hmi_expr e = w->walk.order.data[i];
        for (int k = 0; k < hmi_op_arity(hmi_op_of(w->graph, e)); k++)
            w->uses[hmi_operand(w->graph, e, k)]++;
        kinds |= hmi_deps(w->graph, e);
    }
    for (size_t i = 0; i < w->walk.order.count; i++) {
        hmi_expr e = w->walk.order.data[i];
        w->width[e] = width_of(w, e);
        if (hmi_op_arity(hmi_op_of(w->graph, e)) && (w->uses[e] > 1 || w->width[e] > WIDEST))
            w->temporary[e] = ++number;
    }
    return kinds;
}

/* ---- expressions ---- */

typedef enum binding { BINDS_SUM, BINDS_PRODUCT, BINDS_ATOM } binding;

static void write_number(writer *w, double value)
{
    char buffer[HMI_NUMBER_TEXT];
    const char *text = hmi_number_text(fabs(value), buffer);
    bool negative = signbit(value);
    hmi_text_add(w->out, negative ? "(-" : "");
    if (isfinite(value))
        hmi_text_addf(w->out, strpbrk(text, ".e") ? "%s" : "%s.0", text);
    else
        hmi_text_add(w->out, isnan(value) ? "NAN" : "INFINITY");
    hmi_text_add(w->out, negative ? ")" : "");
}

static const char *array_of_kind(uint32_t kind)
{
    static const char *const names[HMI_SYM_KIND_COUNT] = {
        [HMI_SYM_TIME] = "t",
        [HMI_SYM_PARAM] = "p",
        [HMI_SYM_COORD] = "q",
        [HMI_SYM_VELOCITY] = "v",
        [HMI_SYM_ACCELERATION] = "a",
        [HMI_SYM_STATE] = "z",
        [HMI_SYM_INPUT] = "u",
        [HMI_SYM_INPUT_RATE] = "du",
        [HMI_SYM_INPUT_RATE2] = "ddu",
        [HMI_SYM_REACTION] = "r",
        [HMI_SYM_MULTIPLIER] = "l",
        [HMI_SYM_TOTAL_REACTION] = "rt",
        [HMI_SYM_TOTAL_MULTIPLIER] = "lt",
        [HMI_SYM_ENERGY] = "energy",
        [HMI_SYM_MATRIX] = "m",
        [HMI_SYM_MODE] = "mode",
    };
    return names[kind];
}

static bool is_scalar(uint32_t kind)
{
    return kind == HMI_SYM_TIME || kind == HMI_SYM_ENERGY;
}

static void write_symbol(writer *w, const hmi_node *node)
{
    hmi_text_add(w->out, array_of_kind(node->a));
    if (!is_scalar(node->a))
        hmi_text_addf(w->out, "[%u]", (unsigned)node->b);
}

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

/* hm_table_f(x, order) or hm_table_f(x, y, order in x, order in y) */
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
    size_t length = called_function(op);
    if (length) {
        hmi_text_add_bytes(w->out, value_of(op), length);
    } else {
        hmi_text_add(w->out, "hm_");
        add_lower(w->out, ops[op].name);
    }
    for (int k = 0; k < ops[op].arity; k++) {
        hmi_text_add(w->out, k ? ", " : "(");
        write_value(w, hmi_operand(w->graph, e, k), BINDS_SUM);
    }
    hmi_text_add(w->out, ")");
}

/* The operation itself, whether or not it has a temporary. */
static void write_node(writer *w, hmi_expr e, binding least)
{
    hmi_op op = hmi_op_of(w->graph, e);
    if (op == HMI_CONST)
        write_number(w, hmi_constant_of(w->graph, e)->value);
    else if (op == HMI_SYMBOL)
        write_symbol(w, hmi_node_at(w->graph, e));
    else if (is_operator(op))
        write_operation(w, e, least);
    else
        write_call(w, e);
}

static void write_value(writer *w, hmi_expr e, binding least)
{
    if (w->temporary[e])
        hmi_text_addf(w->out, "e%u", (unsigned)w->temporary[e]);
    else
        write_node(w, e, least);
}

/* ---- functions ---- */

static void write_parameters(writer *w, uint16_t kinds)
{
    static const uint8_t order[] = {HMI_SYM_TIME,
                                    HMI_SYM_PARAM,
                                    HMI_SYM_COORD,
                                    HMI_SYM_VELOCITY,
                                    HMI_SYM_ACCELERATION,
                                    HMI_SYM_STATE,
                                    HMI_SYM_INPUT,
                                    HMI_SYM_INPUT_RATE,
                                    HMI_SYM_INPUT_RATE2,
                                    HMI_SYM_REACTION,
                                    HMI_SYM_MULTIPLIER,
                                    HMI_SYM_TOTAL_REACTION,
                                    HMI_SYM_TOTAL_MULTIPLIER,
                                    HMI_SYM_ENERGY,
                                    HMI_SYM_MATRIX,
                                    HMI_SYM_MODE};
    for (size_t i = 0; i < sizeof order; i++)
        if (kinds & HMI_DEP(order[i]))
            hmi_text_addf(w->out, is_scalar(order[i]) ? "double %s, " : "const double *%s, ",
                          array_of_kind(order[i]));
}

static void write_unused(writer *w, uint16_t kinds)
{
    for (uint32_t kind = 0; kind < HMI_SYM_KIND_COUNT; kind++)
        if (kinds & HMI_DEP(kind))
            hmi_text_addf(w->out, "    (void)%s;\n", array_of_kind(kind));
}

static void write_body(writer *w, const hmi_c_function *function)
{
    if (function->count == 0)
        hmi_text_add(w->out, "    (void)out;\n");
    for (size_t i = 0; i < w->walk.order.count; i++) {
        hmi_expr e = w->walk.order.data[i];
        if (!w->temporary[e])
            continue;
        hmi_text_addf(w->out, "    const double e%u = ", (unsigned)w->temporary[e]);
        write_node(w, e, BINDS_SUM);
        hmi_text_add(w->out, ";\n");
    }
    for (size_t k = 0; k < function->count; k++) {
        hmi_text_addf(w->out, "    out[%zu] = ", k);
        if (function->roots[k] == HMI_NONE)
            hmi_text_add(w->out, "0");
        else
            write_value(w, function->roots[k], BINDS_SUM);
        hmi_text_add(w->out, ";\n");
    }
}

static bool prepare(writer *w, const hmi_c_function *function)
{
    size_t bytes = w->count * sizeof *w->uses;
    w->uses = hmi_alloc(w->allocator, bytes);
    w->width = hmi_alloc(w->allocator, bytes);
    w->temporary = hmi_alloc(w->allocator, bytes);
    if (!w->uses || !w->width || !w->temporary || hmi_walk_begin(&w->walk, w->graph))
        return false;
    memset(w->uses, 0, bytes);
    memset(w->temporary, 0, bytes);
    for (size_t k = 0; k < function->count; k++) {
        if (hmi_walk_add(&w->walk, w->graph, function->roots[k], 0xFFFF))
            return false;
        if (function->roots[k] != HMI_NONE)
            w->uses[function->roots[k]]++;
    }
    return true;
}

hm_status hmi_print_c_function(hmi_text *out, const hmi_graph *graph,
                               const hmi_c_function *function)
{
    writer w = {
        .out = out, .graph = graph, .allocator = out->allocator, .count = graph->nodes.count};
    hmi_walk_init(&w.walk, w.allocator);
    bool ready = prepare(&w, function);
    if (ready) {
        uint16_t needed = choose_temporaries(&w), kinds = needed | function->kinds;
        hmi_text_addf(out, "void %s(", function->name);
        write_parameters(&w, kinds);
        hmi_text_add(out, "double *out)\n{\n");
        write_unused(&w, kinds & (uint16_t)~needed);
        write_body(&w, function);
        hmi_text_add(out, "}\n");
    }
    hmi_free(w.allocator, w.uses, w.count * sizeof *w.uses);
    hmi_free(w.allocator, w.width, w.count * sizeof *w.width);
    hmi_free(w.allocator, w.temporary, w.count * sizeof *w.temporary);
    hmi_walk_release(&w.walk);
    return ready && !out->failed ? HM_OK : HM_ERR_NOMEM;
}
