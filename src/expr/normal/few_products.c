/* Sums with few products, for power series.
 *
 * Each expression becomes a sum of terms. A term is a scalar (numbers and parameters) times factors
 * that change with time. Then the step that saves most products is taken, again and again:
 *     a pair of factors that occurs in several terms, of whatever sums, becomes one factor; or
 *     the factors that some terms of one sum share are taken out of brackets. What is inside becomes a
 *     sum of its own, which is shared with all sums that differ from it by a number only.
 * Every step saves at least one product, so the search ends.
 */
#include "expr/normal/poly.h"

#include <string.h>

enum { MOST_FACTORS = 10, MOST_TERMS = 240, MOST_SUMS = 100, MOST_FACTOR_KINDS = 400 };

typedef struct term {
    hmi_expr scalar;
    uint32_t count;
    uint16_t factor[MOST_FACTORS]; /* of the kinds; ascending */
} term;

typedef struct sum {
    term *terms;
    size_t count;
    hmi_expr e; /* HMI_NONE: not built yet */
} sum;

/* A factor: an expression, a pair of others, or a sum. */
typedef struct kind {
    hmi_expr e; /* HMI_NONE: not built yet */
    uint16_t a, b;
    sum *brackets;
} kind;

typedef struct work {
    hmi_normal *normal;
    hmi_graph *graph;
    kind kinds[MOST_FACTOR_KINDS];
    size_t kind_count;
    sum sums[MOST_SUMS];
    size_t sum_count, term_count;
    bool failed; /* more factors, terms or sums than there is room for */
} work;

static bool moves(const hmi_graph *g, hmi_expr e)
{
    return hmi_deps(g, e) & ~HMI_DEP(HMI_SYM_PARAM);
}

/* ---- factors of a term ---- */

static void add_factor(work *w, term *t, uint16_t f)
{
    uint32_t i = t->count;
    if (i == MOST_FACTORS) {
        w->failed = true;
        return;
    }
    for (; i > 0 && t->factor[i - 1] > f; i--)
        t->factor[i] = t->factor[i - 1];
    t->factor[i] = f;
    t->count++;
}

static void remove_factor(term *t, uint16_t f)
{
    uint32_t i = 0;
    while (t->factor[i] != f)
        i++;
    for (t->count--; i < t->count; i++)
        t->factor[i] = t->factor[i + 1];
}

/* common := the factors that both have. */
static void intersect(const term *x, const term *y, term *common)
{
    common->count = 0;
    for (uint32_t i = 0, j = 0; i < x->count && j < y->count;) {
        uint16_t a = x->factor[i], b = y->factor[j];
        if (a == b)
            common->factor[common->count++] = a;
        i += a <= b;
        j += b <= a;
    }
}

static bool has_all(const term *t, const term *some)
{
    uint32_t i = 0, j = 0;
    for (; i < t->count && j < some->count; i++)
        j += t->factor[i] == some->factor[j];
    return j == some->count;
}

static bool same_factors(const term *x, const term *y)
{
    return x->count == y->count && memcmp(x->factor, y->factor, x->count * sizeof *x->factor) == 0;
}

static uint32_t products_of(uint32_t factors)
{
    return factors > 1 ? factors - 1 : 0;
}

/* ---- kinds ---- */

static uint16_t new_kind(work *w, kind k)
{
    if (w->kind_count == MOST_FACTOR_KINDS) {
        w->failed = true;
        return 0;
    }
    w->kinds[w->kind_count] = k;
    return (uint16_t)w->kind_count++;
}

static uint16_t kind_of(work *w, hmi_expr e)
{
    for (size_t i = 0; i < w->kind_count; i++)
        if (w->kinds[i].e == e)
            return (uint16_t)i;
    return new_kind(w, (kind){.e = e});
}

static sum *new_sum(work *w, size_t terms)
{
    sum *s = &w->sums[w->sum_count];
    w->term_count += terms;
    w->failed |= w->sum_count == MOST_SUMS || w->term_count > MOST_TERMS;
    if (w->failed)
        return NULL;
    *s = (sum){.terms = hmi_normal_alloc(w->normal, (terms + 1) * sizeof *s->terms), .e = HMI_NONE};
    w->failed |= !s->terms;
    w->sum_count++;
    return w->failed ? NULL : s;
}

/* ---- expressions to sums ---- */

/* Into the sum, with a term of the same factors if there is one. */
static void add_term(work *w, sum *s, const term *t)
{
    for (size_t i = 0; i < s->count; i++)
        if (same_factors(&s->terms[i], t)) {
            s->terms[i].scalar = hmi_add(w->graph, s->terms[i].scalar, t->scalar);
            return;
        }
    s->terms[s->count++] = *t;
}

static void take_term(work *w, sum *s, const hmi_poly_term *from)
{
    hmi_graph *g = w->graph;
    term t = {.scalar = hmi_ratio(g, from->coefficient.n, from->coefficient.d)};
    for (uint32_t i = 0; i < from->monomial.count; i++) {
        hmi_expr e = w->normal->atoms.data[from->monomial.factors[i].atom].e;
        int32_t power = from->monomial.factors[i].power;
        if (!moves(g, e)) {
            t.scalar = hmi_mul(g, t.scalar, hmi_pow(g, e, hmi_number(g, power)));
            continue;
        }
        if (power < 0)
            e = hmi_div(g, g->one, e);
        uint16_t f = kind_of(w, e);
        for (int32_t k = power < 0 ? -power : power; k > 0 && !w->failed; k--)
            add_factor(w, &t, f);
    }
    add_term(w, s, &t);
}

/* The polynomial of e; NULL where it is none. */
static const hmi_poly *polynomial(hmi_normal *s, hmi_expr e)
{
    if (!hmi_normal_convert(s, e))
        return NULL;
    const hmi_normal_entry *record = hmi_normal_entry_of(s, e);
    const hmi_fraction *f = record ? record->fraction : NULL;
    return f && f->divisors.count == 0 ? f->numerator : NULL;
}

/* Expressions that are no polynomials stay by themselves, in their shortest form. */
static void take_sum(work *w, hmi_expr e)
{
    const hmi_poly *p = polynomial(w->normal, e);
    sum *s = new_sum(w, p ? p->count : 0);
    if (s && !p)
        s->e = hmi_normal_best(w->normal, e, 0);
    hmi_normal_forgive(w->normal);
    for (uint32_t i = 0; s && p && i < p->count; i++)
        take_term(w, s, &p->terms[i]);
}

/* ---- pairs ---- */

static bool has_pair(const term *t, uint16_t a, uint16_t b)
{
    const term pair = {.count = 2, .factor = {a < b ? a : b, a < b ? b : a}};
    return has_all(t, &pair);
}

static void join_pair(work *w, uint16_t a, uint16_t b)
{
    uint16_t f = new_kind(w, (kind){.e = HMI_NONE, .a = a, .b = b});
    for (size_t k = 0; k < w->sum_count; k++)
        for (size_t i = 0; i < w->sums[k].count; i++) {
            term *t = &w->sums[k].terms[i];
            while (has_pair(t, a, b) && !w->failed) {
                remove_factor(t, a);
                remove_factor(t, b);
                add_factor(w, t, f);
            }
        }
}

/* How many products joining the pair saves: one for each term that has it, except the first. */
static uint32_t saved_by_pair(const work *w, uint16_t a, uint16_t b)
{
    uint32_t count = 0;
    for (size_t k = 0; k < w->sum_count; k++)
        for (size_t i = 0; i < w->sums[k].count; i++)
            count += has_pair(&w->sums[k].terms[i], a, b);
    return count > 0 ? count - 1 : 0;
}

/* ---- brackets ---- */

static uint32_t saved_by_brackets(const sum *s, const term *common)
{
    uint32_t before = 0, after = common->count, members = 0;
    for (size_t i = 0; i < s->count; i++)
        if (has_all(&s->terms[i], common)) {
            before += products_of(s->terms[i].count);
            after += products_of(s->terms[i].count - common->count);
            members++;
        }
    return members > 1 && before > after ? before - after : 0;
}

static bool precedes(const term *x, const term *y)
{
    uint32_t count = x->count < y->count ? x->count : y->count;
    int order = memcmp(x->factor, y->factor, count * sizeof *x->factor);
    return order != 0 ? order < 0 : x->count < y->count;
}

/* In an order that depends on the factors alone, so that equal ones are seen to be. */
static void sort_terms(sum *s)
{
    for (size_t i = 1; i < s->count; i++)
        for (size_t k = i; k > 0 && precedes(&s->terms[k], &s->terms[k - 1]); k--) {
            term swap = s->terms[k];
            s->terms[k] = s->terms[k - 1];
            s->terms[k - 1] = swap;
        }
}

static bool same_sum(const sum *x, const sum *y)
{
    if (x->count != y->count)
        return false;
    for (size_t i = 0; i < x->count; i++)
        if (x->terms[i].scalar != y->terms[i].scalar || !same_factors(&x->terms[i], &y->terms[i]))
            return false;
    return true;
}

/* The first scalar becomes 1 where it is a number, which is returned. */
static hmi_expr normalise(work *w, sum *s)
{
    hmi_graph *g = w->graph;
    hmi_expr first = s->terms[0].scalar;
    if (!hmi_is_const(g, first) || first == g->zero)
        return g->one;
    for (size_t i = 0; i < s->count; i++)
        s->terms[i].scalar = hmi_div(g, s->terms[i].scalar, first);
    return first;
}

/* The kind of these brackets, an older one where it is the same. */
static uint16_t kind_of_brackets(work *w, sum *s)
{
    for (size_t i = 0; i < w->kind_count; i++)
        if (w->kinds[i].brackets && same_sum(w->kinds[i].brackets, s)) {
            w->sum_count--; /* the last one */
            return (uint16_t)i;
        }
    return new_kind(w, (kind){.e = HMI_NONE, .brackets = s});
}

static void take_out(work *w, sum *s, const term *common)
{
    sum *inside = new_sum(w, s->count);
    size_t kept = 0;
    if (!inside)
        return;
    for (size_t i = 0; i < s->count; i++) {
        term t = s->terms[i];
        if (!has_all(&t, common)) {
            s->terms[kept++] = t;
            continue;
        }
        for (uint32_t k = 0; k < common->count; k++)
            remove_factor(&t, common->factor[k]);
        inside->terms[inside->count++] = t;
    }
    sort_terms(inside);
    term outside = *common;
    outside.scalar = normalise(w, inside);
    add_factor(w, &outside, kind_of_brackets(w, inside));
    s->terms[kept++] = outside;
    s->count = kept;
}

/* ---- the search ---- */

typedef struct best {
    uint32_t saved;
    uint16_t a, b; /* a pair, or */
    sum *from;     /* brackets */
    term common;
} best;

static void try_pairs(const work *w, const term *t, best *b)
{
    for (uint32_t i = 0; i < t->count; i++)
        for (uint32_t j = i + 1; j < t->count; j++) {
            uint32_t saved = saved_by_pair(w, t->factor[i], t->factor[j]);
            if (saved > b->saved)
                *b = (best){.saved = saved, .a = t->factor[i], .b = t->factor[j]};
        }
}

static void try_brackets(sum *s, size_t i, best *b)
{
    for (size_t j = i + 1; j < s->count; j++) {
        term common;
        intersect(&s->terms[i], &s->terms[j], &common);
        uint32_t saved = common.count ? saved_by_brackets(s, &common) : 0;
        if (saved > b->saved)
            *b = (best){.saved = saved, .from = s, .common = common};
    }
}

/* Stops at the limit of work: every pair of every term is looked for in all terms. */
static void save_products(work *w)
{
    best b = {.saved = 1};
    while (b.saved > 0 && !w->failed && hmi_normal_go(w->normal, w->term_count * w->term_count)) {
        b = (best){0};
        for (size_t k = 0; k < w->sum_count; k++)
            for (size_t i = 0; i < w->sums[k].count; i++) {
                try_brackets(&w->sums[k], i, &b);
                try_pairs(w, &w->sums[k].terms[i], &b);
            }
        if (b.saved > 0 && b.from)
            take_out(w, b.from, &b.common);
        else if (b.saved > 0)
            join_pair(w, b.a, b.b);
    }
}

/* ---- sums to expressions ---- */

/* HMI_NONE where a factor is not built yet. */
static hmi_expr build_term(work *w, const term *t)
{
    hmi_expr product = HMI_NONE;
    for (uint32_t i = 0; i < t->count; i++) {
        hmi_expr e = w->kinds[t->factor[i]].e;
        if (e == HMI_NONE)
            return HMI_NONE;
        product = product == HMI_NONE ? e : hmi_mul(w->graph, product, e);
    }
    return product == HMI_NONE ? t->scalar : hmi_mul(w->graph, t->scalar, product);
}

static hmi_expr build_sum(work *w, const sum *s)
{
    hmi_expr total = w->graph->zero;
    for (size_t i = 0; i < s->count; i++) {
        hmi_expr e = build_term(w, &s->terms[i]);
        if (e == HMI_NONE)
            return HMI_NONE;
        total = hmi_add(w->graph, total, e);
    }
    return total;
}

static hmi_expr build_kind(work *w, const kind *k)
{
    if (k->brackets)
        return k->brackets->e;
    hmi_expr a = w->kinds[k->a].e, b = w->kinds[k->b].e;
    return a == HMI_NONE || b == HMI_NONE ? HMI_NONE : hmi_mul(w->graph, a, b);
}

/* In as many passes as it takes: brackets are in each other in any order. */
static void build(work *w)
{
    for (bool more = true; more;) {
        more = false;
        for (size_t k = 0; k < w->sum_count; k++)
            if (w->sums[k].e == HMI_NONE)
                more |= (w->sums[k].e = build_sum(w, &w->sums[k])) != HMI_NONE;
        for (size_t i = 0; i < w->kind_count; i++)
            if (w->kinds[i].e == HMI_NONE)
                more |= (w->kinds[i].e = build_kind(w, &w->kinds[i])) != HMI_NONE;
    }
}

/* ---- the whole ---- */

/* Products, powers and quotients of things that move. */
static size_t count_products(hmi_normal *s, const hmi_expr *list, size_t count)
{
    const hmi_graph *g = s->graph;
    size_t found = 0;
    if (hmi_walk_begin(&s->walk, g) != HM_OK)
        s->status = HM_ERR_NOMEM;
    for (size_t k = 0; k < count && s->status == HM_OK; k++)
        if (hmi_walk_add(&s->walk, g, list[k], (uint16_t)~HMI_DEP(HMI_SYM_PARAM)) != HM_OK)
            s->status = HM_ERR_NOMEM;
    for (size_t i = 0; i < s->walk.order.count; i++) {
        const hmi_node *node = hmi_node_at(g, s->walk.order.data[i]);
        if (node->op == HMI_MUL)
            found += moves(g, node->a) && moves(g, node->b);
        else if (node->op == HMI_DIV)
            found += moves(g, node->b);
        else if (node->op != HMI_ADD && node->op != HMI_SUB && node->op != HMI_NEG)
            found += hmi_op_arity((hmi_op)node->op) > 0;
    }
    return found;
}

static void join_given(work *w, const hmi_factor_pair *pairs, size_t count)
{
    for (size_t k = 0; k < count; k++) {
        uint16_t a = kind_of(w, pairs[k].a), b = kind_of(w, pairs[k].b);
        bool is_there = false;
        for (size_t i = 0; i < w->sum_count; i++)
            for (size_t j = 0; j < w->sums[i].count; j++)
                is_there |= has_pair(&w->sums[i].terms[j], a, b);
        if (is_there)
            join_pair(w, a, b);
    }
}

hm_status hmi_normal_few_products(hmi_normal *s, const hmi_factor_pair *pairs, size_t pair_count,
                                  hmi_expr *list, size_t count)
{
    if (!hmi_normal_begin(s))
        return hmi_normal_status(s);
    work *w = hmi_normal_alloc(s, sizeof *w);
    hmi_expr *found = hmi_normal_alloc(s, (count + 1) * sizeof *found);
    if (!w || !found)
        return HM_ERR_NOMEM;
    *w = (work){.normal = s, .graph = s->graph};
    for (size_t k = 0; k < count && !w->failed; k++)
        take_sum(w, list[k]);
    join_given(w, pairs, pair_count);
    save_products(w);
    if (w->failed || hmi_normal_status(s) != HM_OK)
        return hmi_normal_status(s);
    build(w);
    for (size_t k = 0; k < count; k++)
        found[k] = w->sums[k].e;
    if (hmi_normal_status(s) == HM_OK &&
        count_products(s, found, count) <= count_products(s, list, count))
        memcpy(list, found, count * sizeof *list);
    return hmi_normal_status(s);
}
