/* Instructions read back as expressions of the graph they were made from: see verify.h. */
#include "compile/tape/verify.h"

#include <string.h>

/* ---- what the outputs reach, by operation and operands ---- */

/* Whole powers are filed by the value of their exponent: SQUARE and CUBE do not say its node. */
typedef struct key {
    uint32_t op, a, b, c;
    double exponent;
} key;

static key key_of(const hmi_graph *g, hmi_expr e)
{
    const hmi_node *node = hmi_node_at(g, e);
    int arity = node->op == HMI_SYMBOL ? 2 : hmi_op_arity((hmi_op)node->op);
    if (node->op == HMI_POWI)
        return (key){node->op, node->a, 0, 0, hmi_constant_of(g, node->b)->value};
    return (key){node->op, node->a, arity > 1 ? node->b : 0, arity > 2 ? node->c : 0, 0};
}

static uint32_t hash_of(const key *k)
{
    uint64_t hash = hmi_hash_mix(k->op, k->a), exponent;
    memcpy(&exponent, &k->exponent, sizeof exponent);
    hash = hmi_hash_mix(hmi_hash_mix(hash, k->b), k->c);
    return hmi_hash_fold(hmi_hash_mix(hash, exponent));
}

static bool same_key(const void *wanted, uint32_t number, const void *graph)
{
    const key *x = wanted, y = key_of(graph, number);
    return x->op == y.op && x->a == y.a && x->b == y.b && x->c == y.c && x->exponent == y.exponent;
}

static hmi_expr find(const hmi_replay *r, key k)
{
    uint32_t found = hmi_hash_find(&r->filed, hash_of(&k), same_key, &k, r->graph);
    return found == HMI_HASH_NONE ? HMI_NONE : found;
}

static bool file_nodes(hmi_replay *r)
{
    for (size_t i = 0; i < r->walk.order.count; i++) {
        hmi_expr e = r->walk.order.data[i];
        const key k = key_of(r->graph, e);
        if (hmi_op_of(r->graph, e) != HMI_CONST && !hmi_hash_add(&r->filed, hash_of(&k), e))
            return false;
    }
    return true;
}

bool hmi_replay_init(hmi_replay *r, const hmi_graph *graph, const hmi_expr *outputs, size_t count,
                     size_t places)
{
    *r = (hmi_replay){.allocator = hm_allocator_default(), .graph = graph, .places = places};
    hmi_walk_init(&r->walk, &r->allocator);
    hmi_hash_init(&r->filed, &r->allocator);
    r->at = hmi_alloc(&r->allocator, (places + 1) * sizeof *r->at);
    if (!r->at || hmi_walk_begin(&r->walk, graph) != HM_OK)
        return false;
    memset(r->at, 0xFF, places * sizeof *r->at); /* HMI_NONE */
    for (size_t i = 0; i < count; i++)
        if (hmi_walk_add(&r->walk, graph, outputs[i], 0xFFFF) != HM_OK)
            return false;
    return file_nodes(r);
}

void hmi_replay_release(hmi_replay *r)
{
    hmi_walk_release(&r->walk);
    hmi_hash_release(&r->filed);
    hmi_free(&r->allocator, r->at, (r->places + 1) * sizeof *r->at);
}

/* ---- operations ---- */

void hmi_replay_inputs(hmi_replay *r, const hmi_tape_input *inputs, size_t count)
{
    for (size_t i = 0; i < count; i++)
        for (uint32_t k = 0; k < inputs[i].count; k++)
            r->at[inputs[i].slot + k] = find(
                r, (key){HMI_SYMBOL, (uint32_t)inputs[i].kind, inputs[i].first + k, 0, 0});
}

/* Sums and products are filed as they were written first. */
static hmi_expr binary(const hmi_replay *r, hmi_op op, hmi_expr a, hmi_expr b)
{
    return a == HMI_NONE || b == HMI_NONE ? HMI_NONE : find(r, (key){op, a, b, 0, 0});
}

static hmi_expr sum(const hmi_replay *r, hmi_expr a, hmi_expr b)
{
    hmi_expr found = binary(r, HMI_ADD, a, b);
    return found == HMI_NONE ? binary(r, HMI_ADD, b, a) : found;
}

static hmi_expr power(const hmi_replay *r, hmi_expr a, double exponent)
{
    return a == HMI_NONE ? HMI_NONE : find(r, (key){HMI_POWI, a, 0, 0, exponent});
}

/* Array code computes x^2 as x*x, which rounds alike. */
static hmi_expr product(const hmi_replay *r, hmi_expr a, hmi_expr b)
{
    hmi_expr found = binary(r, HMI_MUL, a, b);
    return found == HMI_NONE && a == b ? power(r, a, 2) : found;
}

static hmi_expr of_table(const hmi_replay *r, hmi_op op, hmi_expr a, hmi_expr b, hmi_expr c)
{
    int arity = hmi_op_arity(op);
    if (a == HMI_NONE || (arity > 1 && b == HMI_NONE) || (arity > 2 && c == HMI_NONE))
        return HMI_NONE;
    if (op == HMI_POWI)
        return hmi_is_const(r->graph, b) ? power(r, a, hmi_constant_of(r->graph, b)->value)
                                         : HMI_NONE;
    return find(r, (key){op, a, arity > 1 ? b : 0, arity > 2 ? c : 0, 0});
}

hmi_expr hmi_replay_value(const hmi_replay *r, uint32_t op, hmi_expr a, hmi_expr b, hmi_expr c)
{
    switch (op) {
    case HMI_TAPE_COPY:
        return a;
    case HMI_TAPE_SQUARE:
        return power(r, a, 2);
    case HMI_TAPE_CUBE:
        return power(r, a, 3);
    case HMI_TAPE_MUL_ADD:
        return sum(r, product(r, a, b), c);
    case HMI_TAPE_MUL_SUB:
        return binary(r, HMI_SUB, product(r, a, b), c);
    case HMI_TAPE_SUB_MUL:
        return binary(r, HMI_SUB, c, product(r, a, b));
    case HMI_TAPE_FIRST_OF_TABLE + HMI_MUL:
        return product(r, a, b);
    default:
        return of_table(r, (hmi_op)(op - HMI_TAPE_FIRST_OF_TABLE), a, b, c);
    }
}
