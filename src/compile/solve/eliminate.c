/* Arithmetic on the graph that rounds as written, margins, and the factorisation L E L^T of a symmetric
 * matrix of expressions with its triangular solves. */
#include "compile/solve/eliminate.h"

#include "compile/solve/verify.h"

/* ---- arithmetic that rounds as written ---- */

static bool missing(const hmi_graph *g, hmi_expr a, hmi_expr b)
{
    return g->status != HM_OK || a == HMI_NONE || b == HMI_NONE;
}

/* x without its sign; *negative is turned where it had one. */
static hmi_expr magnitude(hmi_graph *g, hmi_expr x, bool *negative)
{
    const hmi_node node = *hmi_node_at(g, x);
    if (node.op == HMI_NEG) {
        *negative = !*negative;
        return node.a;
    }
    if (node.op == HMI_CONST && hmi_constant_of(g, x)->value < 0) {
        *negative = !*negative;
        return hmi_neg(g, x);
    }
    return x;
}

static hmi_expr with_sign(hmi_graph *g, hmi_expr x, bool negative)
{
    if (!negative || x == g->zero || x == HMI_NONE)
        return x;
    return hmi_is_const(g, x) ? hmi_neg(g, x) : hmi_intern(g, HMI_NEG, x, 0, 0);
}

hmi_expr hmi_plain_mul(hmi_graph *g, hmi_expr a, hmi_expr b)
{
    bool negative = false;
    if (missing(g, a, b))
        return HMI_NONE;
    if (a == g->zero || b == g->zero)
        return g->zero;
    a = magnitude(g, a, &negative);
    b = magnitude(g, b, &negative);
    if (missing(g, a, b))
        return HMI_NONE;
    hmi_expr product;
    if (a == g->one || b == g->one)
        product = a == g->one ? b : a;
    else if (hmi_is_const(g, a) && hmi_is_const(g, b))
        product = hmi_mul(g, a, b);
    else if (a == b)
        product = hmi_intern(g, HMI_POWI, a, g->two, 0);
    else
        product = hmi_intern(g, HMI_MUL, a, b, 0);
    return with_sign(g, product, negative);
}

hmi_expr hmi_plain_add(hmi_graph *g, hmi_expr a, hmi_expr b)
{
    bool a_negative = false, b_negative = false;
    if (missing(g, a, b))
        return HMI_NONE;
    if (a == g->zero || b == g->zero)
        return a == g->zero ? b : a;
    if (hmi_is_const(g, a) && hmi_is_const(g, b))
        return hmi_add(g, a, b);
    hmi_expr x = magnitude(g, a, &a_negative), y = magnitude(g, b, &b_negative);
    if (missing(g, x, y))
        return HMI_NONE;
    if (a_negative != b_negative) {
        if (x == y)
            return g->zero;
        return a_negative ? hmi_intern(g, HMI_SUB, y, x, 0) : hmi_intern(g, HMI_SUB, x, y, 0);
    }
    return with_sign(g, hmi_intern(g, HMI_ADD, x, y, 0), a_negative);
}

hmi_expr hmi_plain_sub(hmi_graph *g, hmi_expr a, hmi_expr b)
{
    if (missing(g, a, b))
        return HMI_NONE;
    bool negative = true;
    hmi_expr x = magnitude(g, b, &negative);
    return hmi_plain_add(g, a, with_sign(g, x, negative));
}

hmi_expr hmi_plain_reciprocal(hmi_graph *g, hmi_expr x)
{
    bool negative = false;
    if (missing(g, x, x) || x == g->zero)
        return HMI_NONE;
    x = magnitude(g, x, &negative);
    if (x == HMI_NONE)
        return HMI_NONE;
    const hmi_node node = *hmi_node_at(g, x);
    hmi_expr inverse;
    if (x == g->one || node.op == HMI_CONST)
        inverse = hmi_div(g, g->one, x);
    else if (node.op == HMI_DIV && node.a == g->one)
        inverse = node.b;
    else
        inverse = hmi_intern(g, HMI_DIV, g->one, x, 0);
    return with_sign(g, inverse, negative);
}

/* ---- margins ---- */

void hmi_margin_init(hmi_margin *margin)
{
    *margin = (hmi_margin){.fixed = HMI_NONE, .moving = HMI_NONE};
}

static bool is_fixed(const hmi_graph *g, hmi_expr e)
{
    return !(hmi_deps(g, e) & ~HMI_DEP(HMI_SYM_PARAM));
}

void hmi_margin_add(hmi_graph *g, hmi_margin *margin, hmi_expr value)
{
    if (value == HMI_NONE)
        return;
    if (hmi_is_const(g, value)) {
        margin->failed = margin->failed || !(hmi_constant_of(g, value)->value > 0);
        return;
    }
    hmi_expr *least = is_fixed(g, value) ? &margin->fixed : &margin->moving;
    if (*least == HMI_NONE || *least == value)
        *least = value;
    else
        *least = hmi_intern(g, HMI_MIN, *least, value, 0);
}

hmi_expr hmi_margin_value(hmi_graph *g, const hmi_margin *margin)
{
    if (margin->fixed == HMI_NONE)
        return margin->moving == HMI_NONE ? g->one : margin->moving;
    if (margin->moving == HMI_NONE)
        return margin->fixed;
    return hmi_intern(g, HMI_MIN, margin->fixed, margin->moving, 0);
}

/* ---- the factorisation ---- */

hm_status hmi_elimination_init(hmi_elimination *e, hmi_graph *g, hmi_arena *arena, size_t n,
                               size_t most_nodes)
{
    *e = (hmi_elimination){.n = n, .most_nodes = most_nodes};
    e->S = hmi_arena_alloc(arena, (n * n + 1) * sizeof *e->S);
    e->diagonal = hmi_arena_alloc(arena, (n + 1) * sizeof *e->diagonal);
    e->pivot = hmi_arena_alloc(arena, (n + 1) * sizeof *e->pivot);
    e->inverse = hmi_arena_alloc(arena, (n + 1) * sizeof *e->inverse);
    e->order = hmi_arena_alloc(arena, (n + 1) * sizeof *e->order);
    e->rank_of = hmi_arena_alloc(arena, (n + 1) * sizeof *e->rank_of);
    e->degree = hmi_arena_alloc(arena, (n + 1) * sizeof *e->degree);
    if (!e->S || !e->diagonal || !e->pivot || !e->inverse || !e->order || !e->rank_of || !e->degree)
        return HM_ERR_NOMEM;
    for (size_t i = 0; i < n * n; i++)
        e->S[i] = g->zero;
    return HM_OK;
}

static bool is_left(const hmi_elimination *e, size_t i)
{
    return e->rank_of[i] == e->n;
}

static void count_neighbours(hmi_elimination *e, const hmi_graph *g, size_t i)
{
    size_t count = 0;
    for (size_t j = 0; j < e->n; j++)
        count += j != i && is_left(e, j) && e->S[i * e->n + j] != g->zero;
    e->degree[i] = count;
}

static size_t choose_row(const hmi_elimination *e, const hmi_graph *g)
{
    size_t best = e->n;
    for (size_t i = 0; i < e->n; i++) {
        if (!is_left(e, i))
            continue;
        bool fewer = best == e->n || e->degree[i] < e->degree[best];
        bool simpler = !fewer && e->degree[i] == e->degree[best] &&
                       is_fixed(g, e->S[i * e->n + i]) && !is_fixed(g, e->S[best * e->n + best]);
        if (fewer || simpler)
            best = i;
    }
    return best;
}

/* Each pivot is compared with the diagonal element it is left of; where nothing was subtracted it
 * has to be positive. */
static void watch_pivot(const hmi_elimination *e, hmi_graph *g, size_t p, double least_ratio,
                        hmi_margin *margin)
{
    hmi_expr least = hmi_plain_mul(g, hmi_number(g, least_ratio), e->diagonal[p]);
    bool untouched = e->pivot[p] == e->diagonal[p];
    hmi_margin_add(g, margin, untouched ? e->pivot[p] : hmi_plain_sub(g, e->pivot[p], least));
}

/* S_ij -= S_ip S_jp / S_pp for the rows that are left; column p becomes L's. */
static void eliminate_row(hmi_elimination *e, hmi_graph *g, size_t p)
{
    size_t n = e->n;
    for (size_t i = 0; i < n; i++) {
        hmi_expr entry = e->S[i * n + p];
        if (!is_left(e, i) || entry == g->zero)
            continue;
        hmi_expr factor = hmi_plain_mul(g, entry, e->inverse[p]);
        for (size_t j = 0; j <= i; j++) {
            hmi_expr other = e->S[p * n + j]; /* row p keeps what it was */
            if (!is_left(e, j) || other == g->zero)
                continue;
            hmi_expr rest = hmi_plain_sub(g, e->S[i * n + j], hmi_plain_mul(g, factor, other));
            e->S[i * n + j] = e->S[j * n + i] = rest;
        }
        e->S[i * n + p] = factor;
    }
}

hm_status hmi_eliminate(hmi_elimination *e, hmi_graph *g, double least_ratio, hmi_margin *margin)
{
    size_t n = e->n;
    for (size_t i = 0; i < n; i++) {
        e->rank_of[i] = n;
        e->diagonal[i] = e->S[i * n + i];
    }
    for (size_t i = 0; i < n; i++)
        count_neighbours(e, g, i);
    for (size_t k = 0; k < n; k++) {
        size_t p = choose_row(e, g);
        e->order[k] = p;
        e->rank_of[p] = k;
        e->pivot[p] = e->S[p * n + p];
        e->inverse[p] = hmi_plain_reciprocal(g, e->pivot[p]);
        watch_pivot(e, g, p, least_ratio, margin);
        if (g->status != HM_OK)
            return g->status;
        if (e->inverse[p] == HMI_NONE || margin->failed)
            return HM_ERR_USAGE;
        eliminate_row(e, g, p);
        for (size_t i = 0; i < n; i++)
            if (is_left(e, i) && e->S[p * n + i] != g->zero)
                count_neighbours(e, g, i);
        if (g->status == HM_OK && g->nodes.count > e->most_nodes)
            return HM_ERR_LIMIT;
    }
    if (g->status == HM_OK)
        HMI_VERIFY(hmi_elimination_verify(e, g, &(hmi_violation){.text = ""}));
    return g->status;
}

/* ---- solving ---- */

void hmi_eliminate_forward(const hmi_elimination *e, hmi_graph *g, hmi_expr *x)
{
    for (size_t k = 0; k < e->n; k++) {
        size_t p = e->order[k];
        for (size_t i = 0; i < e->n && x[p] != g->zero; i++)
            if (e->rank_of[i] > k && e->S[i * e->n + p] != g->zero)
                x[i] = hmi_plain_sub(g, x[i], hmi_plain_mul(g, e->S[i * e->n + p], x[p]));
    }
}

void hmi_eliminate_backward(const hmi_elimination *e, hmi_graph *g, hmi_expr *x)
{
    for (size_t k = e->n; k-- > 0;) {
        size_t p = e->order[k];
        for (size_t i = 0; i < e->n; i++)
            if (e->rank_of[i] > k && e->S[i * e->n + p] != g->zero)
                x[p] = hmi_plain_sub(g, x[p], hmi_plain_mul(g, e->S[i * e->n + p], x[i]));
    }
}

void hmi_eliminate_solve(const hmi_elimination *e, hmi_graph *g, hmi_expr *x)
{
    hmi_eliminate_forward(e, g, x);
    for (size_t i = 0; i < e->n; i++)
        x[i] = hmi_plain_mul(g, x[i], e->inverse[i]);
    hmi_eliminate_backward(e, g, x);
}
