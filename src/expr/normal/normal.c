/* Display normal form: the session, and the choice between forms. See normal.h. */
#include "expr/normal/poly.h"

#include <string.h>

enum { MOST_KEPT_BYTES = 16 << 20, MOST_STACK = 256 };

/* ---- session ---- */

void *hmi_normal_alloc(hmi_normal *s, size_t size)
{
    void *memory = s->status == HM_OK ? hmi_arena_alloc(&s->arena, size) : NULL;
    if (!memory)
        s->status = HM_ERR_NOMEM;
    s->arena_used += size;
    return memory;
}

bool hmi_normal_go(hmi_normal *s, size_t work)
{
    s->work += work;
    if (s->work > s->most_work)
        s->exceeded = true;
    return !s->exceeded && s->status == HM_OK;
}

bool hmi_normal_forgive(hmi_normal *s)
{
    s->exceeded = s->work > s->most_work;
    return !s->exceeded && s->status == HM_OK;
}

static bool make_constants(hmi_normal *s)
{
    s->zero = hmi_poly_number(s, 0);
    s->one = hmi_poly_number(s, 1);
    return s->zero && s->one;
}

hmi_normal *hmi_normal_create(hmi_graph *graph)
{
    hmi_normal *s = hmi_alloc(graph->allocator, sizeof *s);
    if (!s)
        return NULL;
    *s = (hmi_normal){.graph = graph, .allocator = graph->allocator, .most_work = HMI_MOST_WORK};
    hmi_arena_init(&s->arena, graph->allocator);
    hmi_walk_init(&s->walk, graph->allocator);
    if (make_constants(s))
        return s;
    hmi_normal_destroy(s);
    return NULL;
}

void hmi_normal_hurry(hmi_normal *s)
{
    s->most_work = HMI_LEAST_WORK;
}

void hmi_normal_destroy(hmi_normal *s)
{
    if (!s)
        return;
    hmi_arena_release(&s->arena);
    hmi_walk_release(&s->walk);
    hmi_array_release(s->allocator, &s->atoms);
    hmi_array_release(s->allocator, &s->records);
    hmi_array_release(s->allocator, &s->record_of);
    hmi_array_release(s->allocator, &s->length);
    hmi_free(s->allocator, s, sizeof *s);
}

hm_status hmi_normal_status(const hmi_normal *s)
{
    return s->status != HM_OK ? s->status : hmi_graph_status(s->graph);
}

/* A new call: the work starts again. What is known is forgotten where it takes much memory, or
 * where it was cut short by the limit of work: it may do better now. */
bool hmi_normal_begin(hmi_normal *s)
{
    bool cut_short = s->work > s->most_work;
    s->work = 0;
    s->exceeded = false;
    if (s->arena_used > MOST_KEPT_BYTES || cut_short) {
        hmi_arena_release(&s->arena);
        hmi_arena_init(&s->arena, s->allocator);
        s->arena_used = 0;
        for (size_t i = 0; i < s->records.count; i++)
            s->record_of.data[s->records.data[i].e] = 0;
        s->records.count = s->atoms.count = 0;
        make_constants(s);
    }
    return hmi_normal_status(s) == HM_OK;
}

/* Room for all nodes of the graph, zero where new. */
static bool cover_graph(hmi_normal *s)
{
    size_t missing = s->graph->nodes.count - s->record_of.count;
    if (s->graph->nodes.count <= s->record_of.count)
        return true;
    if (!hmi_array_reserve(s->allocator, &s->record_of, missing)) {
        s->status = HM_ERR_NOMEM;
        return false;
    }
    memset(s->record_of.data + s->record_of.count, 0, missing * sizeof *s->record_of.data);
    s->record_of.count = s->graph->nodes.count;
    return true;
}

hmi_normal_entry *hmi_normal_entry_of(hmi_normal *s, hmi_expr e)
{
    if (!cover_graph(s))
        return NULL;
    if (s->record_of.data[e] == 0) {
        hmi_normal_entry fresh = {.e = e, .best = HMI_NONE, .tidy = HMI_NONE, .atom = UINT32_MAX};
        if (!hmi_array_push(s->allocator, &s->records, fresh)) {
            s->status = HM_ERR_NOMEM;
            return NULL;
        }
        s->record_of.data[e] = (uint32_t)s->records.count;
    }
    return &s->records.data[s->record_of.data[e] - 1];
}

/* ---- length in print ---- */

static bool is_sum(const hmi_graph *g, hmi_expr e)
{
    hmi_op op = hmi_op_of(g, e);
    return op == HMI_ADD || op == HMI_SUB;
}

/* An operand that stands in brackets where it is a sum. */
static hmi_length in_brackets(const hmi_normal *s, hmi_expr operand)
{
    hmi_length length = s->length.data[operand];
    return is_sum(s->graph, operand) ? hmi_in_brackets(length) : length;
}

static bool is_ratio(const hmi_normal *s, hmi_expr e)
{
    return hmi_is_const(s->graph, e) && hmi_constant_of(s->graph, e)->denominator > 1;
}

/* As a factor a ratio is written around the others: m*x/2, 3*m*x/2. */
static hmi_length ratio_length(const hmi_normal *s, hmi_expr e)
{
    const hmi_constant *c = hmi_constant_of(s->graph, e);
    bool unit = c->numerator == 1 || c->numerator == -1;
    return (hmi_length){.cost = unit ? 1 : 3, .quotients = 1};
}

static hmi_length operand_length(const hmi_normal *s, const hmi_node *node, int k)
{
    hmi_expr operand = k == 0 ? node->a : k == 1 ? node->b : node->c;
    hmi_length plain = s->length.data[operand];
    switch ((hmi_op)node->op) {
    case HMI_MUL:
        return is_ratio(s, operand) ? ratio_length(s, operand) : in_brackets(s, operand);
    case HMI_DIV:
        if (k == 1 &&
            (hmi_op_of(s->graph, operand) == HMI_MUL || hmi_op_of(s->graph, operand) == HMI_DIV))
            plain.cost++;
        return is_sum(s->graph, operand) ? in_brackets(s, operand) : plain;
    case HMI_POWI:
        return k == 0 ? in_brackets(s, operand) : (hmi_length){0};
    default:
        return plain;
    }
}

static hmi_length node_length(const hmi_normal *s, hmi_expr e)
{
    const hmi_node *node = hmi_node_at(s->graph, e);
    hmi_length length = {.cost = 1, .quotients = node->op == HMI_DIV};
    if (is_ratio(s, e))
        length.cost = 3;
    for (int k = 0; k < hmi_op_arity((hmi_op)node->op); k++)
        length = hmi_length_add(length, operand_length(s, node, k));
    return length;
}

/* Operands come first in the graph, so one pass upwards fills the table. */
hmi_length hmi_normal_length(hmi_normal *s, hmi_expr e)
{
    while (e != HMI_NONE && s->length.count <= e) {
        hmi_length length = node_length(s, (hmi_expr)s->length.count);
        if (!hmi_array_push(s->allocator, &s->length, length)) {
            s->status = HM_ERR_NOMEM;
            return (hmi_length){0};
        }
    }
    return e == HMI_NONE ? (hmi_length){.cost = UINT32_MAX / 8} : s->length.data[e];
}

uint32_t hmi_normal_cost(hmi_normal *s, hmi_expr e)
{
    return hmi_normal_length(s, e).cost;
}

/* ---- partly collected form: brackets stay, like terms are taken together ---- */

typedef struct pending {
    hmi_expr e;
    int32_t power;
    bool shown; /* already in its best form */
} pending;

/* A factor that is neither product, quotient, power nor sum. */
static const hmi_poly *plain_factor(hmi_normal *s, pending p)
{
    const hmi_normal_entry *record = p.shown ? NULL : hmi_normal_entry_of(s, p.e);
    hmi_coefficient c;
    if (hmi_is_const(s->graph, p.e) && hmi_coefficient_of(hmi_constant_of(s->graph, p.e), &c)) {
        if (c.n == 0 || p.power > HMI_MOST_POWER || p.power < -HMI_MOST_POWER)
            return NULL;
        const hmi_poly *number = hmi_poly_of_term(s, p.power < 0 ? hmi_coefficient_inverse(c) : c,
                                                  hmi_monomial_one);
        return hmi_poly_pow(s, number, (uint32_t)(p.power < 0 ? -p.power : p.power));
    }
    const hmi_fraction *f = record ? record->fraction : NULL;
    if (f && f->divisors.count == 0 && f->numerator->count == 1) {
        f = hmi_fraction_pow(s, f, p.power); /* 1/sqrt(u)^2 is 1/u, which is no term */
        return f && f->divisors.count == 0 ? f->numerator : NULL;
    }
    return hmi_poly_atom(s, hmi_atom_of(s, p.e), p.power);
}

/* Pushes the parts of a product; false where e is a factor by itself. */
static bool push_parts(const hmi_graph *g, pending p, pending *stack, size_t *count)
{
    const hmi_node *node = hmi_node_at(g, p.e);
    switch ((hmi_op)node->op) {
    case HMI_NEG:
        stack[(*count)++] = (pending){g->minus_one, p.power, true};
        stack[(*count)++] = (pending){node->a, p.power, p.shown};
        return true;
    case HMI_MUL:
    case HMI_DIV:
        stack[(*count)++] = (pending){node->a, p.power, p.shown};
        stack[(*count)++] = (pending){node->b, node->op == HMI_MUL ? p.power : -p.power, p.shown};
        return true;
    case HMI_POWI: {
        double power = hmi_constant_of(g, node->b)->value * p.power;
        if (power > HMI_MOST_POWER || power < -HMI_MOST_POWER)
            return false;
        stack[(*count)++] = (pending){node->a, (int32_t)power, p.shown};
        return true;
    }
    default:
        return false;
    }
}

/* One term: number times powers of atoms, brackets among them. NULL where that fails. */
static const hmi_poly *collected_term(hmi_normal *s, hmi_expr e, int depth)
{
    pending stack[MOST_STACK];
    size_t count = 1;
    stack[0] = (pending){e, 1, false};
    const hmi_poly *term = s->one;
    while (count && term) {
        pending p = stack[--count];
        if (count + 2 > MOST_STACK || !hmi_normal_go(s, 1))
            return NULL;
        if (push_parts(s->graph, p, stack, &count))
            continue;
        if (is_sum(s->graph, p.e) && !p.shown) {
            p.e = hmi_normal_best(s, p.e, depth + 1);
            if (p.e == HMI_NONE)
                return NULL;
            stack[count++] = (pending){p.e, p.power, true};
            continue;
        }
        term = hmi_poly_mul(s, term, plain_factor(s, p));
    }
    return term;
}

static const hmi_poly *collected_sum(hmi_normal *s, hmi_expr e, int depth)
{
    struct {
        hmi_expr e;
        int sign;
    } stack[MOST_STACK];
    size_t count = 1;
    stack[0].e = e;
    stack[0].sign = 1;
    const hmi_poly *sum = s->zero;
    while (count && sum) {
        hmi_expr top = stack[--count].e;
        int sign = stack[count].sign;
        const hmi_node node = *hmi_node_at(s->graph, top);
        if (count + 2 > MOST_STACK)
            return NULL;
        if (node.op == HMI_ADD || node.op == HMI_SUB) {
            stack[count].sign = node.op == HMI_ADD ? sign : -sign;
            stack[count++].e = node.b;
        }
        if (node.op == HMI_ADD || node.op == HMI_SUB || node.op == HMI_NEG) {
            stack[count].sign = node.op == HMI_NEG ? -sign : sign;
            stack[count++].e = node.a;
            continue;
        }
        hmi_coefficient c = {sign, 1, false};
        sum = hmi_poly_add_scaled(s, sum, collected_term(s, top, depth), c, hmi_monomial_one);
    }
    return sum;
}

/* ---- the choice ---- */

static hmi_expr shorter(hmi_normal *s, hmi_expr a, hmi_expr b)
{
    if (a == HMI_NONE || b == HMI_NONE)
        return a == HMI_NONE ? b : a;
    return hmi_normal_cost(s, b) < hmi_normal_cost(s, a) ? b : a;
}

static hmi_expr choose(hmi_normal *s, hmi_expr e, int depth)
{
    const hmi_normal_entry *record = hmi_normal_entry_of(s, e);
    if (!record || !record->converted)
        return record ? e : HMI_NONE;
    hmi_expr best = record->fraction ? hmi_fraction_display(s, record->fraction) : HMI_NONE;
    if (!hmi_normal_forgive(s))
        return s->status == HM_OK ? e : HMI_NONE;
    const hmi_poly *collected = depth < HMI_NORMAL_MOST_DEPTH ? collected_sum(s, e, depth) : NULL;
    if (collected && hmi_normal_forgive(s))
        best = shorter(s, best, hmi_fraction_display(s, hmi_fraction_of(s, collected)));
    hmi_normal_forgive(s);
    return shorter(s, best, e);
}

hmi_expr hmi_normal_best(hmi_normal *s, hmi_expr e, int depth)
{
    const hmi_normal_entry *known = hmi_normal_entry_of(s, e);
    if (!known || known->best != HMI_NONE)
        return known ? known->best : HMI_NONE;
    hmi_expr best = choose(s, e, depth);
    hmi_normal_entry *record = hmi_normal_entry_of(s, e);
    if (hmi_normal_status(s) != HM_OK || !record)
        return HMI_NONE;
    return record->best = best;
}

hmi_expr hmi_normal_form(hmi_normal *s, hmi_expr e)
{
    if (e == HMI_NONE || !hmi_normal_begin(s) || !hmi_normal_convert(s, e))
        return HMI_NONE;
    return hmi_normal_tidy(s, hmi_normal_best(s, e, 0));
}

/* A numerator that vanishes once negative powers are cleared and sums of angles split. */
bool hmi_fraction_is_zero(hmi_normal *s, const hmi_fraction *fraction)
{
    const hmi_poly *a = fraction->numerator;
    hmi_monomial low, inverse;
    if (a->count == 0)
        return true;
    if (!hmi_poly_content(s, a, HMI_CONTENT_LOWEST, &low) ||
        !hmi_monomial_mul(s, hmi_monomial_one, low, -1, &inverse))
        return false;
    a = hmi_poly_reduce(s, hmi_poly_scale(s, a, hmi_coefficient_one, inverse));
    if (a && a->count)
        a = hmi_poly_split_angles(s, a);
    hmi_normal_forgive(s);
    return a && a->count == 0;
}

bool hmi_normal_is_zero(hmi_normal *s, hmi_expr e)
{
    if (e == HMI_NONE || !hmi_normal_begin(s) || !hmi_normal_convert(s, e))
        return false;
    const hmi_normal_entry *record = hmi_normal_entry_of(s, e);
    return record && record->fraction && hmi_fraction_is_zero(s, record->fraction);
}
