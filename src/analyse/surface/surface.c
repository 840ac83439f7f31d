/* Tries the relations on expressions and keeps what is shorter (surface.h). */
#include "analyse/surface/surface.h"

#include "analyse/symmetry/states.h"

#include <string.h>

enum { MOST_PASSES = 3, MOST_DIVISORS = 32, MOST_LENGTH = 4000 };

void hmi_surface_init(hmi_surface *s, const hm_system *system, hmi_graph *graph, hmi_normal *normal)
{
    *s = (hmi_surface){
        .system = system, .graph = graph, .normal = normal, .allocator = graph->allocator};
    hmi_arena_init(&s->arena, s->allocator);
    hmi_adjoint_init(&s->adjoint, s->allocator);
}

void hmi_surface_release(hmi_surface *s)
{
    hmi_array_release(s->allocator, &s->tried);
    hmi_adjoint_release(&s->adjoint);
    hmi_arena_release(&s->arena);
}

hm_status hmi_surface_status(const hmi_surface *s)
{
    return s->failed ? HM_ERR_NOMEM : hmi_normal_status(s->normal);
}

/* ---- divisors ---- */

/* What an expression is divided by: factors that are no numbers and not made of parameters alone. */
typedef struct divisors {
    hmi_expr list[MOST_DIVISORS];
    size_t count;
    bool full;
} divisors;

static void add_factor(const hmi_surface *s, divisors *d, hmi_expr e)
{
    for (size_t i = 0; i < d->count; i++)
        if (d->list[i] == e)
            return;
    if (!(hmi_deps(s->graph, e) & ~HMI_DEP(HMI_SYM_PARAM)))
        return;
    if (d->count == MOST_DIVISORS)
        d->full = true;
    else
        d->list[d->count++] = e;
}

/* The factors of a product; powers count as their base. */
static void add_factors(const hmi_surface *s, divisors *d, hmi_expr e)
{
    hmi_expr stack[MOST_DIVISORS] = {e};
    size_t count = 1;
    while (count) {
        const hmi_expr top = stack[--count];
        const hmi_node *node = hmi_node_at(s->graph, top);
        bool product = node->op == HMI_MUL || node->op == HMI_DIV;
        if (count + 2 > MOST_DIVISORS)
            d->full = true;
        else if (product || node->op == HMI_NEG || node->op == HMI_POWI || node->op == HMI_SQRT) {
            stack[count++] = node->a;
            if (product)
                stack[count++] = node->b;
        } else
            add_factor(s, d, top);
    }
}

static void find_divisors(hmi_surface *s, hmi_expr e, divisors *d)
{
    hmi_walk walk;
    hmi_walk_init(&walk, s->allocator);
    if (hmi_walk_begin(&walk, s->graph) != HM_OK ||
        hmi_walk_add(&walk, s->graph, e, 0xFFFF) != HM_OK)
        s->failed = true;
    for (size_t i = 0; !s->failed && i < walk.order.count; i++) {
        const hmi_node *node = hmi_node_at(s->graph, walk.order.data[i]);
        if (node->op == HMI_DIV)
            add_factors(s, d, node->b);
        if (node->op == HMI_POWI && hmi_constant_of(s->graph, node->b)->value < 0)
            add_factors(s, d, node->a);
        if (node->op == HMI_TAN) /* singular by itself */
            add_factor(s, d, walk.order.data[i]);
    }
    hmi_walk_release(&walk);
}

/* ---- one set of relations ---- */

typedef struct attempt {
    hmi_surface *s;
    const hmi_relation_set *set;
    hmi_normal *normal; /* knows the squares */
    hmi_substitution put_in;
} attempt;

static hmi_expr replaced(hmi_graph *graph, hmi_expr leaf, void *user)
{
    const hmi_relation_set *set = user;
    (void)graph;
    for (size_t k = 0; k < set->count; k++)
        if (set->relation[k].power == 1 && set->relation[k].symbol == leaf)
            return set->relation[k].value;
    return leaf;
}

static bool begin(attempt *a, hmi_surface *s, hmi_relation_set *set)
{
    *a = (attempt){.s = s, .set = set, .normal = hmi_normal_create(s->graph)};
    hmi_substitution_init(&a->put_in, s->allocator, replaced, set,
                          HMI_DEP(HMI_SYM_COORD) | HMI_DEP(HMI_SYM_VELOCITY));
    if (!a->normal) {
        s->failed = true;
        return false;
    }
    hmi_normal_hurry(a->normal);
    for (size_t k = 0; k < set->count; k++)
        if (set->relation[k].power == 2 &&
            !hmi_normal_relate(a->normal, set->relation[k].symbol, set->relation[k].value))
            return false;
    return true;
}

static void end(attempt *a)
{
    hmi_substitution_release(&a->put_in);
    hmi_normal_destroy(a->normal);
}

static hmi_expr rewrite(attempt *a, hmi_expr e)
{
    return hmi_normal_form(a->normal, hmi_substitute(&a->put_in, a->s->graph, e));
}

/* No divisor that `from` did not have, as it is or by the relations. */
static bool keeps_regular(attempt *a, hmi_expr from, hmi_expr to)
{
    divisors before = {.count = 0}, after = {.count = 0};
    find_divisors(a->s, to, &after);
    if (after.count == 0 && !after.full)
        return true;
    find_divisors(a->s, from, &before);
    size_t own = before.count;
    for (size_t i = 0; i < own && !a->s->failed; i++) {
        hmi_expr e = rewrite(a, before.list[i]);
        if (e != HMI_NONE)
            add_factors(a->s, &before, e);
    }
    bool regular = !before.full && !after.full && !a->s->failed;
    for (size_t i = 0; regular && i < after.count; i++) {
        regular = false;
        for (size_t k = 0; k < before.count; k++)
            regular |= before.list[k] == after.list[i];
    }
    return regular;
}

static bool worth_trying(const hmi_surface *s, hmi_expr e)
{
    const uint16_t moving = HMI_DEP(HMI_SYM_COORD) | HMI_DEP(HMI_SYM_VELOCITY);
    return e != HMI_NONE && (hmi_deps(s->graph, e) & moving) &&
           hmi_normal_cost(s->normal, e) <= MOST_LENGTH;
}

/* best[i] := a form of list[i] that is shorter. */
static hm_status try_set(hmi_surface *s, hmi_relation_set *set, const hmi_expr *list,
                         hmi_expr *best, size_t count)
{
    attempt a;
    bool ready = begin(&a, s, set);
    for (size_t i = 0; ready && !s->failed && i < count; i++) {
        if (!worth_trying(s, list[i]))
            continue;
        hmi_expr e = rewrite(&a, list[i]);
        if (e == HMI_NONE || hmi_normal_cost(s->normal, e) >= hmi_normal_cost(s->normal, best[i]) ||
            !keeps_regular(&a, list[i], e))
            continue;
        best[i] = e;
        set->used = true;
    }
    hm_status status = ready ? hmi_normal_status(a.normal) : HM_OK;
    end(&a);
    return status == HM_OK ? hmi_surface_status(s) : status;
}

/* ---- all of them ---- */

static hm_status pass(hmi_surface *s, hmi_expr *list, hmi_expr *best, size_t count, bool *changed)
{
    hm_status status = HM_OK;
    memcpy(best, list, count * sizeof *best);
    for (size_t k = 0; status == HM_OK && k < s->tried.count; k++)
        status = try_set(s, &s->tried.data[k], list, best, count);
    *changed = status == HM_OK && memcmp(list, best, count * sizeof *best) != 0;
    if (*changed)
        memcpy(list, best, count * sizeof *best);
    return status;
}

hm_status hmi_surface_shorten(hmi_surface *s, hmi_expr *list, size_t count)
{
    bool changed = true;
    hmi_expr *from = hmi_arena_alloc(&s->arena, (count + 1) * sizeof *from);
    hmi_expr *best = hmi_arena_alloc(&s->arena, (count + 1) * sizeof *best);
    if (!from || !best)
        return HM_ERR_NOMEM;
    s->refusal = hmi_states_refusal(s->system);
    if (s->refusal || s->system->derived.constraints.count == 0)
        return HM_OK;
    memcpy(from, list, count * sizeof *from);
    hm_status status = hmi_surface_relations(s);
    for (int k = 0; status == HM_OK && changed && k < MOST_PASSES; k++)
        status = pass(s, list, best, count, &changed);
    return status == HM_OK ? hmi_surface_check(s, from, list, count) : status;
}
