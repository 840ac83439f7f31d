/* The C printer. Helpers come from the table of operations, so that the values agree
 * with hmi_op_value by construction (the functions of <math.h> stand for ours, within an ulp);
 * brackets keep every rounding where the DAG has it.
 */
#include "expr/print/code.h"
#include "expr/print/print.h"

#include <string.h>

/* What an operation is in C, from its value in the table: "sin(x)" calls sin, "x < y" a helper. */
static const struct {
    const char *table_value;
    int arity;
} ops[HMI_OP_COUNT] = {
#define OP(name, arity, text, value, ddx, ddy) [HMI_##name] = {#value, arity},
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

static void add_helper(hmi_text *out, hmi_op op)
{
    hmi_text_add(out, "static inline double ");
    hmi_code_helper_name(out, op);
    hmi_text_addf(out, "(double x%s%s)\n{\n    return %s;\n}\n\n",
                  ops[op].arity > 1 ? ", double y" : "", ops[op].arity > 2 ? ", double z" : "",
                  value_of(op));
}

/* Does the code call the function? */
static bool calls(const char *code, const char *name)
{
    size_t length = strlen(name);
    for (const char *at = code; (at = strstr(at, name)) != NULL; at += length)
        if (at[length] == '(')
            return true;
    return false;
}

static bool calls_helper(const char *code, hmi_op op, const hm_allocator *allocator)
{
    hmi_text name = {.allocator = allocator};
    hmi_code_helper_name(&name, op);
    bool found = name.failed || calls(code, hmi_text_view(&name));
    hmi_text_release(&name);
    return found;
}

void hmi_print_c_helpers(hmi_text *out, const char *code)
{
    hmi_text_add(out, "/* Compile with -ffp-contract=off for the same bits everywhere. */\n"
                      "#include <math.h>\n#include <stdlib.h>\n\n");
    if (!code || calls(code, "hmi_powi"))
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
        if (op < HMI_TABLE && !hmi_code_is_operator((hmi_op)op) && !called_function((hmi_op)op) &&
            (!code || calls_helper(code, (hmi_op)op, out->allocator)))
            add_helper(out, (hmi_op)op);
}

void hmi_print_c_preamble(hmi_text *out)
{
    hmi_print_c_helpers(out, NULL);
}

/* ---- functions ---- */

static void write_function_name(hmi_text *out, hmi_op op)
{
    size_t length = called_function(op);
    if (length)
        hmi_text_add_bytes(out, value_of(op), length);
    else
        hmi_code_helper_name(out, op);
}

const hmi_code_dialect hmi_code_c = {
    .indent = "    ",
    .declare = "const double ",
    .assign = " = ",
    .end = ";\n",
    .temporary = "e",
    .function = write_function_name,
    .number = hmi_code_number_c,
};

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

static void write_symbol(void *user, hmi_text *out, hmi_symbol_kind kind, uint32_t index)
{
    (void)user;
    hmi_text_add(out, array_of_kind(kind));
    if (!is_scalar(kind))
        hmi_text_addf(out, "[%u]", (unsigned)index);
}

static void write_target(void *user, hmi_text *out, size_t root)
{
    (void)user;
    hmi_text_addf(out, "out[%zu]", root);
}

static void write_parameters(hmi_text *out, uint16_t kinds)
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
            hmi_text_addf(out, is_scalar(order[i]) ? "double %s, " : "const double *%s, ",
                          array_of_kind(order[i]));
}

static void write_unused(hmi_text *out, uint16_t kinds)
{
    for (uint32_t kind = 0; kind < HMI_SYM_KIND_COUNT; kind++)
        if (kinds & HMI_DEP(kind))
            hmi_text_addf(out, "    (void)%s;\n", array_of_kind(kind));
}

hm_status hmi_print_c_function(hmi_text *out, const hmi_graph *graph,
                               const hmi_c_function *function)
{
    const hmi_code code = {.dialect = &hmi_code_c,
                           .roots = function->roots,
                           .count = function->count,
                           .symbol = write_symbol,
                           .target = write_target};
    uint16_t needed = hmi_code_kinds(graph, function->roots, function->count);
    uint16_t kinds = needed | function->kinds;
    hmi_text_addf(out, "void %s(", function->name);
    write_parameters(out, kinds);
    hmi_text_add(out, "double *out)\n{\n");
    write_unused(out, kinds & (uint16_t)~needed);
    if (function->count == 0)
        hmi_text_add(out, "    (void)out;\n");
    hm_status status = hmi_code_write(out, graph, &code);
    hmi_text_add(out, "}\n");
    return status == HM_OK && !out->failed ? HM_OK : HM_ERR_NOMEM;
}
