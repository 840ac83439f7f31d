/* For the tests of expr: formulas as text, into the graph and to values. A few lines of the
 * language's expressions, so that these tests do not depend on its parser.
 *
 * Names are fixed: parameters and coordinates below; a prime makes a velocity or acceleration.
 */
#ifndef MINI_LANGUAGE_H
#define MINI_LANGUAGE_H

#include "expr/graph/graph.h"
#include "expr/print/print.h"

#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *const mini_params[] = {"m",   "s",   "I",  "g",    "k",     "l",   "a",  "b",
                                          "c",   "m1",  "m2", "l1",   "l2",    "I1",  "I2", "lc1",
                                          "lc2", "I_B", "R",  "beta", "alpha", "foo", "mu", "w"};
static const char *const mini_coords[] = {"x",   "y",  "z",  "r",    "theta",
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
    for (int op = HMI_SYMBOL + 1; op < HMI_PLAIN_OPS_END; op++)
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

/* Value of a node from those of its operands, and how large what was added up on the way is. */
static inline void mini_step(const hmi_node *node, double *value, double *size, size_t e)
{
    int arity = hmi_op_arity((hmi_op)node->op);
    double x = value[node->a], y = arity > 1 ? value[node->b] : 0;
    value[e] = hmi_op_value((hmi_op)node->op, x, y, arity > 2 ? value[node->c] : 0);
    double a = size[node->a], b = arity > 1 ? size[node->b] : 0, result = fabs(value[e]);
    if (node->op == HMI_ADD || node->op == HMI_SUB)
        size[e] = a + b;
    else if (node->op == HMI_MUL)
        size[e] = a * b;
    else if (node->op == HMI_DIV)
        size[e] = a * b / (y * y);
    else if (node->op == HMI_POWI)
        size[e] = result + fabs(y) * pow(a, fabs(y));
    else if (node->op == HMI_SQRT)
        size[e] = a / (result + 1e-300);
    else
        size[e] = result + a + b;
}

static inline double mini_evaluate(const hmi_graph *graph, hmi_expr root, uint32_t point,
                                   double *magnitude)
{
    hmi_walk walk;
    hmi_walk_init(&walk, graph->allocator);
    double *value = malloc(graph->nodes.count * sizeof *value);
    double *size = malloc(graph->nodes.count * sizeof *size);
    if (hmi_walk_begin(&walk, graph) || hmi_walk_add(&walk, graph, root, 0xFFFF) || !value || !size)
        abort();
    for (size_t i = 0; i < walk.order.count; i++) {
        hmi_expr e = walk.order.data[i];
        const hmi_node *node = hmi_node_at(graph, e);
        if (node->op == HMI_CONST)
            size[e] = fabs(value[e] = hmi_constant_of(graph, e)->value);
        else if (node->op == HMI_SYMBOL)
            size[e] = fabs(value[e] = mini_symbol_value(node->a, node->b, point));
        else
            mini_step(node, value, size, e);
    }
    double result = value[root];
    *magnitude = size[root];
    free(value);
    free(size);
    hmi_walk_release(&walk);
    return result;
}

static inline double mini_value(const hmi_graph *graph, hmi_expr root, uint32_t point)
{
    double magnitude;
    return mini_evaluate(graph, root, point, &magnitude);
}

/* What its rounding errors are measured by. */
static inline double mini_magnitude(const hmi_graph *graph, hmi_expr root, uint32_t point)
{
    double magnitude;
    mini_evaluate(graph, root, point, &magnitude);
    return magnitude;
}

/* ---- random expressions ---- */

typedef struct mini_random {
    uint64_t state;
} mini_random;

static inline uint32_t mini_next(mini_random *r, uint32_t below)
{
    r->state = r->state * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t)(r->state >> 33) % below;
}

/* A formula of the kind mechanics makes: polynomials, sines, quotients, now and then a root. */
static inline hmi_expr mini_random_expr(hmi_graph *g, mini_random *r, int depth)
{
    uint32_t pick = depth <= 0 ? mini_next(r, 4) : mini_next(r, 20);
    if (pick == 0)
        return hmi_ratio(g, (int64_t)mini_next(r, 7) - 3, 1 + mini_next(r, 3));
    if (pick == 1)
        return hmi_symbol(g, HMI_SYM_PARAM, mini_next(r, 3));
    if (pick == 2)
        return hmi_symbol(g, HMI_SYM_VELOCITY, mini_next(r, 2));
    if (pick == 3)
        return hmi_symbol(g, HMI_SYM_COORD, mini_next(r, 2));
    hmi_expr a = mini_random_expr(g, r, depth - 1);
    if (pick < 6)
        return hmi_apply(g, pick == 4 ? HMI_SIN : HMI_COS, a, 0, 0);
    if (pick == 6 && !hmi_is_const(g, a)) /* so would (1/3)^2 */
        return hmi_pow(g, a, hmi_number(g, 2 + mini_next(r, 2)));
    if (pick == 7)
        return hmi_apply(g, HMI_SQRT, hmi_add(g, g->one, hmi_mul(g, a, a)), 0, 0);
    hmi_expr b = mini_random_expr(g, r, depth - 1);
    if (pick == 8)
        return hmi_div(g, a, hmi_add(g, g->two, hmi_mul(g, b, b)));
    if (pick == 9 && !hmi_is_const(g, a)) /* max(1/3, 0) would be folded to a decimal */
        return hmi_apply(g, HMI_MAX, a, b, 0);
    if (pick < 14)
        return hmi_mul(g, a, b);
    return pick < 17 ? hmi_add(g, a, b) : hmi_sub(g, a, b);
}

/* ---- memory that fails ---- */

/* Lets so many allocations succeed, then none. */
typedef struct mini_heap {
    long left;
    size_t live; /* bytes */
} mini_heap;

static inline void *mini_resize(void *user, void *ptr, size_t old_size, size_t new_size)
{
    mini_heap *heap = user;
    if (new_size == 0) {
        heap->live -= old_size;
        free(ptr);
        return NULL;
    }
    if (heap->left-- <= 0)
        return NULL;
    void *grown = realloc(ptr, new_size);
    heap->live += new_size - (ptr ? old_size : 0);
    return grown;
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
