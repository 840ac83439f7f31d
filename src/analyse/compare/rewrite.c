/* Replacing a part of an expression wherever it occurs, up to order, sign and a common factor.
 *
 * A sum is a list of terms, a term a coefficient times powers of bases. Where the part looked for is
 * a sum, a sum of the expression holds it when a cofactor times each of its terms is among the terms;
 * where it is a product or power, a product holds it when its powers are among the factors. Bases are
 * compared as nodes, which the graph interns. Nodes are visited operands first; nothing recurses.
 * Verified: test/unit/analyse/test_rewrite.c
 */
#include "analyse/compare/variant.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_FACTORS = 24, MOST_STACK = 64 };

typedef struct factor {
    hmi_expr base;
    int power;
} factor;

/* coefficient * prod base^power; count < 0: too long, taken as one base. */
typedef struct term {
    double coefficient;
    factor factors[MOST_FACTORS];
    int count;
    hmi_expr whole; /* the node it was read from, without the sign of the sum */
    double sign;    /* of the sum */
} term;

typedef HMI_ARRAY(term) term_list;

/* ---- reading ---- */

static void add_factor(term *t, hmi_expr base, int power)
{
    int k = 0;
    while (k < t->count && t->factors[k].base < base)
        k++;
    if (k < t->count && t->factors[k].base == base) {
        t->factors[k].power += power;
        return;
    }
    if (t->count == MOST_FACTORS)
        return; /* the reader checks before */
    memmove(t->factors + k + 1, t->factors + k, (size_t)(t->count - k) * sizeof *t->factors);
    t->factors[k] = (factor){base, power};
    t->count++;
}

static bool is_small_power(const hmi_graph *g, const hmi_node *node)
{
    return node->op == HMI_POWI && fabs(hmi_constant_of(g, node->b)->value) <= 64;
}

/* Factors of e; what does not fit is one base. */
static void read_term(const hmi_graph *g, hmi_expr e, double sign, term *t)
{
    struct {
        hmi_expr e;
        int power;
    } stack[MOST_STACK];
    int depth = 0;
    *t = (term){.coefficient = sign, .whole = e, .sign = sign};
    stack[depth].e = e;
    stack[depth++].power = 1;
    while (depth > 0) {
        hmi_expr at = stack[--depth].e;
        int power = stack[depth].power;
        const hmi_node *node = hmi_node_at(g, at);
        bool room = depth + 2 <= MOST_STACK && t->count + depth + 2 < MOST_FACTORS;
        if (node->op == HMI_CONST) {
            t->coefficient *= pow(hmi_constant_of(g, at)->value, power);
        } else if (node->op == HMI_NEG) {
            t->coefficient *= power % 2 ? -1 : 1;
            stack[depth].e = node->a;
            stack[depth++].power = power;
        } else if (room && (node->op == HMI_MUL || node->op == HMI_DIV)) {
            stack[depth].e = node->a;
            stack[depth++].power = power;
            stack[depth].e = node->b;
            stack[depth++].power = node->op == HMI_DIV ? -power : power;
        } else if (room && is_small_power(g, node)) {
            stack[depth].e = node->a;
            stack[depth++].power = power * (int)hmi_constant_of(g, node->b)->value;
        } else {
            add_factor(t, at, power);
        }
    }
}

static bool is_sum_op(hmi_op op)
{
    return op == HMI_ADD || op == HMI_SUB;
}

/* The terms of a sum; one for anything else. false: no memory. */
static bool read_sum(const hmi_graph *g, hmi_expr e, term_list *list)
{
    HMI_ARRAY(struct {
        hmi_expr e;
        double sign;
    })
    stack = {0};
    bool good = hmi_array_reserve(g->allocator, &stack, 1);
    list->count = 0;
    if (good) {
        stack.data[0].e = e;
        stack.data[0].sign = 1;
        stack.count = 1;
    }
    while (good && stack.count > 0) {
        stack.count--;
        hmi_expr at = stack.data[stack.count].e;
        double sign = stack.data[stack.count].sign;
        const hmi_node *node = hmi_node_at(g, at);
        if (is_sum_op((hmi_op)node->op)) {
            good = hmi_array_reserve(g->allocator, &stack, 2);
            if (!good)
                break;
            stack.data[stack.count].e = node->b;
            stack.data[stack.count++].sign = node->op == HMI_SUB ? -sign : sign;
            stack.data[stack.count].e = node->a;
            stack.data[stack.count++].sign = sign;
        } else if (node->op == HMI_NEG && is_sum_op(hmi_op_of(g, node->a))) {
            stack.data[stack.count].e = node->a;
            stack.data[stack.count++].sign = -sign;
        } else {
            good = hmi_array_reserve(g->allocator, list, 1);
            if (good)
                read_term(g, at, sign, &list->data[list->count++]);
        }
    }
    hmi_array_release(g->allocator, &stack);
    return good;
}

/* ---- comparing ---- */

/* whole = part^times * cofactor; false where the powers of the part are not all in the whole. */
static bool divide(const term *whole, const term *part, int times, term *cofactor)
{
    *cofactor = *whole;
    if (part->coefficient == 0)
        return false;
    cofactor->coefficient /= pow(part->coefficient, times);
    for (int i = 0; i < part->count; i++) {
        int k = 0, power = times * part->factors[i].power;
        while (k < cofactor->count && cofactor->factors[k].base != part->factors[i].base)
            k++;
        if (k == cofactor->count)
            return false;
        int have = cofactor->factors[k].power;
        if ((power > 0) != (have > 0) || abs(have) < abs(power))
            return false;
        cofactor->factors[k].power -= power;
        if (cofactor->factors[k].power == 0) {
            cofactor->count--;
            memmove(cofactor->factors + k, cofactor->factors + k + 1,
                    (size_t)(cofactor->count - k) * sizeof *cofactor->factors);
        }
    }
    return true;
}

static bool same(const term *x, const term *y)
{
    if (x->count != y->count ||
        fabs(x->coefficient - y->coefficient) > 1e-14 * fabs(x->coefficient))
        return false;
    for (int k = 0; k < x->count; k++)
        if (x->factors[k].base != y->factors[k].base || x->factors[k].power != y->factors[k].power)
            return false;
    return true;
}

static term product(const term *x, const term *y)
{
    term t = *x;
    t.coefficient *= y->coefficient;
    for (int k = 0; k < y->count; k++)
        add_factor(&t, y->factors[k].base, y->factors[k].power);
    for (int k = 0; k < t.count;)
        if (t.factors[k].power == 0) {
            t.count--;
            memmove(t.factors + k, t.factors + k + 1, (size_t)(t.count - k) * sizeof *t.factors);
        } else {
            k++;
        }
    return t;
}

/* ---- rewriting ---- */

typedef struct rewriting {
    hmi_graph *g;
    hmi_expr rhs;
    term_list part, terms;
    HMI_ARRAY(uint8_t) used;
    HMI_ARRAY(hmi_expr) memo; /* new node + 1 by old handle; 0: unknown */
    hmi_walk walk;
} rewriting;

static hmi_expr renewed(const rewriting *w, hmi_expr e)
{
    return e < w->memo.count && w->memo.data[e] ? w->memo.data[e] - 1 : e;
}

/* coefficient * prod renewed(base)^power */
static hmi_expr rebuild_term(const rewriting *w, const term *t)
{
    hmi_expr result = hmi_number(w->g, t->coefficient);
    for (int k = 0; k < t->count; k++) {
        int power = t->factors[k].power;
        hmi_expr base = renewed(w, t->factors[k].base);
        hmi_expr raised = hmi_pow(w->g, base, hmi_number(w->g, abs(power)));
        result = power > 0 ? hmi_mul(w->g, result, raised) : hmi_div(w->g, result, raised);
    }
    return result;
}

/* Marks the terms that are cofactor * part; false where one is missing. */
static bool mark_part(rewriting *w, const term *cofactor)
{
    for (size_t i = 0; i < w->part.count; i++) {
        term wanted = product(cofactor, &w->part.data[i]);
        size_t k = 0;
        while (k < w->terms.count && (w->used.data[k] || !same(&w->terms.data[k], &wanted)))
            k++;
        if (k == w->terms.count)
            return false;
        w->used.data[k] = 2; /* taken by this attempt */
    }
    return true;
}

static void settle_marks(rewriting *w, bool accept)
{
    for (size_t k = 0; k < w->terms.count; k++)
        if (w->used.data[k] == 2)
            w->used.data[k] = accept;
}

/* A sum that may hold the part, which is a sum: as often as it does. */
static hmi_expr rewrite_sum(rewriting *w, hmi_expr e, bool *failed)
{
    hmi_expr sum = w->g->zero;
    size_t found = 0;
    if (!read_sum(w->g, e, &w->terms) ||
        !hmi_array_reserve(w->g->allocator, &w->used, w->terms.count + 1)) {
        *failed = true;
        return e;
    }
    memset(w->used.data, 0, w->terms.count);
    for (size_t k = 0; k < w->terms.count; k++) {
        term cofactor;
        if (w->used.data[k] || !divide(&w->terms.data[k], &w->part.data[0], 1, &cofactor))
            continue;
        bool all = mark_part(w, &cofactor);
        settle_marks(w, all);
        if (all) {
            hmi_expr replaced = hmi_mul(w->g, rebuild_term(w, &cofactor), w->rhs);
            sum = hmi_add(w->g, sum, replaced);
            found++;
        }
    }
    for (size_t k = 0; k < w->terms.count && found; k++) {
        hmi_expr whole = renewed(w, w->terms.data[k].whole);
        if (!w->used.data[k])
            sum = w->terms.data[k].sign < 0 ? hmi_sub(w->g, sum, whole) : hmi_add(w->g, sum, whole);
    }
    return found ? sum : HMI_NONE;
}

/* A product that may hold the part, which is a product: raised as high as it goes. */
static hmi_expr rewrite_product(rewriting *w, hmi_expr e)
{
    term whole, cofactor, next;
    int times = 0;
    read_term(w->g, e, 1, &whole);
    while (times < 64 && divide(&whole, &w->part.data[0], times + 1, &next)) {
        cofactor = next;
        times++;
    }
    if (times == 0 || w->part.data[0].count == 0)
        return HMI_NONE;
    hmi_expr power = hmi_pow(w->g, w->rhs, hmi_number(w->g, times));
    return hmi_mul(w->g, rebuild_term(w, &cofactor), power);
}

static hmi_expr rebuild(const rewriting *w, hmi_expr e)
{
    const hmi_node node = *hmi_node_at(w->g, e);
    hmi_expr operand[3] = {node.a, node.b, node.c};
    int arity = hmi_op_arity((hmi_op)node.op);
    bool changed = false;
    for (int k = 0; k < arity; k++) {
        operand[k] = renewed(w, operand[k]);
        changed |= operand[k] != hmi_operand(w->g, e, k);
    }
    return changed ? hmi_apply(w->g, (hmi_op)node.op, operand[0], operand[1], operand[2]) : e;
}

static hmi_expr rewrite_node(rewriting *w, hmi_expr e, bool *failed)
{
    hmi_op op = hmi_op_of(w->g, e);
    hmi_expr result = HMI_NONE;
    bool part_is_sum = w->part.count > 1;
    if (part_is_sum && (is_sum_op(op) || op == HMI_NEG))
        result = rewrite_sum(w, e, failed);
    else if (!part_is_sum && !is_sum_op(op) && op != HMI_CONST)
        result = rewrite_product(w, e);
    return result != HMI_NONE ? result : rebuild(w, e);
}

static hmi_expr rewrite(rewriting *w, hmi_expr e, hmi_expr lhs)
{
    bool failed = !read_sum(w->g, lhs, &w->part) || hmi_walk_begin(&w->walk, w->g) != HM_OK ||
                  hmi_walk_add(&w->walk, w->g, e, 0xFFFF) != HM_OK ||
                  !hmi_array_reserve(w->g->allocator, &w->memo, (size_t)e + 1);
    if (failed)
        return HMI_NONE;
    memset(w->memo.data, 0, ((size_t)e + 1) * sizeof *w->memo.data);
    w->memo.count = (size_t)e + 1;
    for (size_t k = 0; k < w->walk.order.count && !failed; k++) {
        hmi_expr at = w->walk.order.data[k], now = rewrite_node(w, at, &failed);
        if (now == HMI_NONE || failed)
            return HMI_NONE;
        w->memo.data[at] = now + 1;
    }
    return renewed(w, e);
}

hmi_expr hmi_rewrite(hmi_graph *graph, hmi_expr e, hmi_expr lhs, hmi_expr rhs)
{
    rewriting w = {.g = graph, .rhs = rhs};
    hmi_walk_init(&w.walk, graph->allocator);
    hmi_expr result = rewrite(&w, e, lhs);
    hmi_walk_release(&w.walk);
    hmi_array_release(graph->allocator, &w.part);
    hmi_array_release(graph->allocator, &w.terms);
    hmi_array_release(graph->allocator, &w.used);
    hmi_array_release(graph->allocator, &w.memo);
    return result;
}
