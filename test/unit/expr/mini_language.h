/* For the tests of expr: formulas as text, into the graph and to values. A few lines of the
 * language's expressions, so that these tests do not depend on its parser.
 *
 * Names are fixed: parameters and coordinates below; a prime makes a velocity or acceleration.
 */
#ifndef MINI_LANGUAGE_H
#define MINI_LANGUAGE_H

#include "expr/graph.h"
#include "expr/print.h"

#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *const mini_params[] = {"m",   "s",   "I",  "g",  "k",     "l",    "a",  "b",
                                          "c",   "m1",  "m2", "l1", "l2",    "I1",   "I2", "lc1",
                                          "lc2", "I_B", "R",  "beta", "alpha", "foo", "mu", "w"};
static const char *const mini_coords[] = {"x",  "y",  "z",  "r",    "theta",
                                          "phi", "q1", "q2", "q[3]", "bar"};
enum {
    MINI_PARAMS = sizeof mini_params / sizeof *mini_params,
    MINI_COORDS = sizeof mini_coords / sizeof *mini_coords
};

static void mini_name(void *user, hmi_symbol_kind kind, uint32_t index, hmi_text *out)
{
    (void)user;
    if (kind == HMI_SYM_PARAM)
        hmi_text_add(out, mini_params[index]);
    else if (kind == HMI_SYM_COORD || kind == HMI_SYM_VELOCITY || kind == HMI_SYM_ACCELERATION ||
             kind == HMI_SYM_REACTION || kind == HMI_SYM_TOTAL_REACTION)
        hmi_text_add(out, mini_coords[index]);
    else if (kind == HMI_SYM_MATRIX)
        hmi_text_add(out, index ? "M[1,2]" : "M[1,1]");
    else
        hmi_text_addf(out, "%s%u", kind == HMI_SYM_MULTIPLIER ? "c" : "u", (unsigned)index + 1);
}

typedef struct mini {
    hmi_graph *graph;
    const char *at;
    const hmi_expr *parts; /* what e1, e2, ... stand for */
} mini;

static void mini_skip(mini *in)
{
    while (*in->at == ' ')
        in->at++;
}

static bool mini_take(mini *in, const char *token)
{
    mini_skip(in);
    size_t length = strlen(token);
    if (strncmp(in->at, token, length) != 0)
        return false;
    if (isalpha((unsigned char)token[0]) &&
        (isalnum((unsigned char)in->at[length]) || in->at[length] == '_'))
        return false;
    in->at += length;
    return true;
}

static void mini_expect(mini *in, const char *token)
{
    if (!mini_take(in, token)) {
        fprintf(stderr, "mini language: expected '%s' at '%s'\n", token, in->at);
        abort();
    }
}

static hmi_expr mini_or(mini *in);

static hmi_expr mini_call(mini *in, const char *name, size_t length)
{
    hmi_expr argument[3] = {0, 0, 0};
    int count = 0;
    do
        argument[count++] = mini_or(in);
    while (mini_take(in, ","));
    mini_expect(in, ")");
    for (int op = HMI_SYMBOL + 1; op < HMI_OP_COUNT; op++)
        if (strlen(hmi_op_text((hmi_op)op)) == length && op != HMI_NEG &&
            strncmp(hmi_op_text((hmi_op)op), name, length) == 0)
            return hmi_apply(in->graph, (hmi_op)op, argument[0], argument[1], argument[2]);
    fprintf(stderr, "mini language: no function '%.*s'\n", (int)length, name);
    abort();
}

static hmi_expr mini_symbol(mini *in, const char *name, size_t length)
{
    if (length == 1 && *name == 't')
        return hmi_symbol(in->graph, HMI_SYM_TIME, 0);
    if (length == 2 && strncmp(name, "pi", 2) == 0)
        return hmi_number(in->graph, 3.14159265358979323846);
    if (*name == 'e' && length > 1 && isdigit((unsigned char)name[1]) && in->parts)
        return in->parts[atoi(name + 1) - 1];
    for (uint32_t i = 0; i < MINI_PARAMS; i++)
        if (strlen(mini_params[i]) == length && strncmp(mini_params[i], name, length) == 0)
            return hmi_symbol(in->graph, HMI_SYM_PARAM, i);
    for (uint32_t i = 0; i < MINI_COORDS; i++)
        if (strlen(mini_coords[i]) == length && strncmp(mini_coords[i], name, length) == 0) {
            uint32_t kind = HMI_SYM_COORD;
            for (; *in->at == '\''; in->at++)
                kind++;
            return hmi_symbol(in->graph, (hmi_symbol_kind)kind, i);
        }
    fprintf(stderr, "mini language: no name '%.*s'\n", (int)length, name);
    abort();
}

static hmi_expr mini_atom(mini *in)
{
    if (mini_take(in, "(")) {
        hmi_expr e = mini_or(in);
        mini_expect(in, ")");
        return e;
    }
    mini_skip(in);
    if (isdigit((unsigned char)*in->at) || *in->at == '.') {
        char *end;
        double value = strtod(in->at, &end);
        in->at = end;
        return hmi_number(in->graph, value);
    }
    const char *name = in->at;
    while (isalnum((unsigned char)*in->at) || *in->at == '_')
        in->at++;
    size_t length = (size_t)(in->at - name);
    if (length && mini_take(in, "("))
        return mini_call(in, name, length);
    if (length && *in->at == '[') {
        in->at = strchr(in->at, ']') + 1;
        length = (size_t)(in->at - name);
    }
    return mini_symbol(in, name, length);
}

static hmi_expr mini_unary(mini *in);

static hmi_expr mini_power(mini *in)
{
    hmi_expr base = mini_atom(in);
    return mini_take(in, "^") ? hmi_pow(in->graph, base, mini_unary(in)) : base;
}

static hmi_expr mini_unary(mini *in)
{
    return mini_take(in, "-") ? hmi_neg(in->graph, mini_unary(in)) : mini_power(in);
}

static hmi_expr mini_product(mini *in)
{
    hmi_expr e = mini_unary(in);
    for (;;) {
        if (mini_take(in, "*"))
            e = hmi_mul(in->graph, e, mini_unary(in));
        else if (mini_take(in, "/"))
            e = hmi_div(in->graph, e, mini_unary(in));
        else
            return e;
    }
}

static hmi_expr mini_sum(mini *in)
{
    hmi_expr e = mini_product(in);
    for (;;) {
        if (mini_take(in, "+"))
            e = hmi_add(in->graph, e, mini_product(in));
        else if (mini_take(in, "-"))
            e = hmi_sub(in->graph, e, mini_product(in));
        else
            return e;
    }
}

static hmi_expr mini_compare(mini *in)
{
    if (mini_take(in, "not"))
        return hmi_apply(in->graph, HMI_NOT, mini_compare(in), 0, 0);
    hmi_expr e = mini_sum(in);
    if (mini_take(in, "<="))
        return hmi_apply(in->graph, HMI_LE, e, mini_sum(in), 0);
    if (mini_take(in, "<"))
        return hmi_apply(in->graph, HMI_LT, e, mini_sum(in), 0);
    if (mini_take(in, "=="))
        return hmi_apply(in->graph, HMI_EQ, e, mini_sum(in), 0);
    return e;
}

static hmi_expr mini_and(mini *in)
{
    hmi_expr e = mini_compare(in);
    while (mini_take(in, "and"))
        e = hmi_apply(in->graph, HMI_AND, e, mini_compare(in), 0);
    return e;
}

static hmi_expr mini_or(mini *in)
{
    hmi_expr e = mini_and(in);
    while (mini_take(in, "or"))
        e = hmi_apply(in->graph, HMI_OR, e, mini_and(in), 0);
    return e;
}

static inline hmi_expr mini_parse_parts(hmi_graph *graph, const char *text, const hmi_expr *parts)
{
    mini in = {graph, text, parts};
    hmi_expr e = mini_or(&in);
    mini_skip(&in);
    if (*in.at) {
        fprintf(stderr, "mini language: '%s' is left\n", in.at);
        abort();
    }
    return e;
}

static inline hmi_expr mini_parse(hmi_graph *graph, const char *text)
{
    return mini_parse_parts(graph, text, NULL);
}

/* ---- values at pseudo-random points ---- */

/* Between 0.25 and 1.75, the same for the same symbol and point. */
static inline double mini_symbol_value(uint32_t kind, uint32_t index, uint32_t point)
{
    uint32_t h = kind * 2654435761u ^ (index + 1) * 2246822519u ^ (point + 1) * 3266489917u;
    h ^= h >> 15;
    h *= 2246822519u;
    h ^= h >> 13;
    return 0.25 + 1.5 * (h % 100003u) / 100003.0;
}

static inline double mini_value(const hmi_graph *graph, hmi_expr root, uint32_t point)
{
    hmi_walk walk;
    hmi_walk_init(&walk, graph->allocator);
    double *value = malloc(graph->nodes.count * sizeof *value);
    if (hmi_walk_begin(&walk, graph) || hmi_walk_add(&walk, graph, root, 0xFFFF) || !value)
        abort();
    for (size_t i = 0; i < walk.order.count; i++) {
        hmi_expr e = walk.order.data[i];
        const hmi_node *node = hmi_node_at(graph, e);
        if (node->op == HMI_CONST)
            value[e] = hmi_constant_of(graph, e)->value;
        else if (node->op == HMI_SYMBOL)
            value[e] = mini_symbol_value(node->a, node->b, point);
        else
            value[e] = hmi_op_value((hmi_op)node->op, value[node->a],
                                    hmi_op_arity((hmi_op)node->op) > 1 ? value[node->b] : 0,
                                    hmi_op_arity((hmi_op)node->op) > 2 ? value[node->c] : 0);
    }
    double result = value[root];
    free(value);
    hmi_walk_release(&walk);
    return result;
}

/* Printed in the given style, unsorted only where asked; the caller frees. */
static inline char *mini_print(const hmi_graph *graph, hmi_expr e, hmi_print_style style)
{
    hmi_text out;
    hmi_text_init(&out, graph->allocator);
    hmi_print_options options = {.style = style, .namer = {mini_name, NULL}};
    hm_status status = hmi_print(&out, graph, e, &options);
    char *copy = strdup(status == HM_OK ? hmi_text_view(&out) : hm_status_text(status));
    hmi_text_release(&out);
    return copy;
}

#endif
