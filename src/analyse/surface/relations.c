/* The relations that constraints give, and the sets of them that are tried (surface.h). */
#include "analyse/surface/surface.h"

#include <string.h>

enum { MOST_TRIED = 48, MOST_ROWS = 6, MOST_SINGLE = 24 };

/* ---- one relation ---- */

typedef struct symbol_id {
    hmi_symbol_kind kind;
    uint32_t index;
} symbol_id;

static hmi_expr at_zero(hmi_graph *graph, hmi_expr leaf, void *user)
{
    const symbol_id *id = user;
    const hmi_node *node = hmi_node_at(graph, leaf);
    return node->a == (uint32_t)id->kind && node->b == id->index ? graph->zero : leaf;
}

static hmi_expr without(hmi_surface *s, hmi_expr e, symbol_id id)
{
    hmi_substitution zero;
    hmi_substitution_init(&zero, s->allocator, at_zero, &id, HMI_DEP(id.kind));
    hmi_expr out = hmi_substitute(&zero, s->graph, e);
    hmi_substitution_release(&zero);
    return hmi_normal_form(s->normal, out);
}

static hmi_expr slope(hmi_surface *s, hmi_expr e, symbol_id id)
{
    if (e == HMI_NONE || hmi_gradient(&s->adjoint, s->graph, e, id.kind) != HM_OK)
        return HMI_NONE;
    for (size_t k = 0; k < s->adjoint.partials.count; k++)
        if (s->adjoint.partials.data[k].index == id.index)
            return hmi_normal_form(s->normal, s->adjoint.partials.data[k].value);
    return s->graph->zero;
}

static bool is_parameter(const hmi_surface *s, hmi_expr e)
{
    return !(hmi_deps(s->graph, e) & ~HMI_DEP(HMI_SYM_PARAM));
}

/* e = rest + first x + second x^2 / 2, and nothing more: the third derivative is identically zero. */
bool hmi_surface_solve_for(hmi_surface *s, size_t row, hmi_expr residual, hmi_symbol_kind kind,
                           uint32_t index, hmi_relation *relation)
{
    hmi_graph *g = s->graph;
    symbol_id id = {kind, index};
    hmi_expr d = slope(s, residual, id), dd = slope(s, d, id);
    if (d == HMI_NONE || d == g->zero || dd == HMI_NONE)
        return false;
    hmi_expr rest = without(s, residual, id), first = without(s, d, id);
    *relation = (hmi_relation){.symbol = hmi_symbol(g, kind, index), .row = row};
    if (dd == g->zero) {
        relation->power = 1;
        relation->value = hmi_normal_form(s->normal, hmi_neg(g, hmi_div(g, rest, first)));
    } else if (first == g->zero && is_parameter(s, dd)) {
        relation->power = 2;
        relation->value = hmi_normal_form(s->normal,
                                          hmi_neg(g, hmi_div(g, hmi_mul(g, g->two, rest), dd)));
    }
    return relation->power && relation->value != HMI_NONE;
}

/* ---- sets that are tried ---- */

static void add(hmi_surface *s, const hmi_relation *list, size_t count)
{
    hmi_relation *copy = hmi_arena_alloc(&s->arena, (count + 1) * sizeof *copy);
    if (!copy) {
        s->failed = true;
        return;
    }
    memcpy(copy, list, count * sizeof *copy);
    hmi_relation_set set = {.relation = copy, .count = count};
    if (s->tried.count < MOST_TRIED)
        s->failed |= !hmi_array_push(s->allocator, &s->tried, set);
}

/* Each row alone, for each symbol; a coordinate also together with its velocity. */
static void add_singles(hmi_surface *s)
{
    const hmi_rows *rows = &s->system->derived.constraints;
    uint32_t n = (uint32_t)s->system->derived.n;
    for (size_t i = 0; i < rows->count; i++)
        for (uint32_t x = 0; x < n && s->tried.count < MOST_SINGLE && !s->failed; x++) {
            hmi_relation pair[2];
            bool position = rows->position_residual[i] != HMI_NONE &&
                            hmi_surface_solve_for(s, i, rows->position_residual[i], HMI_SYM_COORD,
                                                  x, &pair[0]);
            bool velocity = rows->velocity_residual[i] != HMI_NONE &&
                            hmi_surface_solve_for(s, i, rows->velocity_residual[i],
                                                  HMI_SYM_VELOCITY, x, &pair[1]);
            if (position)
                add(s, &pair[0], 1);
            if (velocity)
                add(s, &pair[1], 1);
            if (position && velocity)
                add(s, pair, 2);
        }
}

/* Rows that are linear in the velocities, as coefficients and rest. */
typedef struct linear_rows {
    size_t count, row[MOST_ROWS];
    hmi_expr *c[MOST_ROWS], rest[MOST_ROWS];
} linear_rows;

static bool take_linear(hmi_surface *s, size_t i, linear_rows *rows)
{
    hmi_expr psi = s->system->derived.constraints.velocity_residual[i];
    size_t n = s->system->derived.n, k = rows->count;
    hmi_expr *c = hmi_arena_alloc(&s->arena, (n + 1) * sizeof *c), rest = psi;
    s->failed |= !c;
    for (uint32_t j = 0; c && j < n; j++) {
        symbol_id id = {HMI_SYM_VELOCITY, j};
        c[j] = slope(s, psi, id);
        if (c[j] == HMI_NONE || (hmi_deps(s->graph, c[j]) & HMI_DEP(HMI_SYM_VELOCITY)))
            return false;
        rest = without(s, rest, id);
    }
    rows->row[k] = i;
    rows->c[k] = c;
    rows->rest[k] = rest;
    rows->count += c && rest != HMI_NONE;
    return c && rest != HMI_NONE;
}

/* All rows solved for these velocities. */
static void add_joint(hmi_surface *s, const linear_rows *rows, const uint32_t *unknown)
{
    hmi_graph *g = s->graph;
    size_t n = s->system->derived.n, r = rows->count;
    hmi_expr matrix[MOST_ROWS * MOST_ROWS], rhs[MOST_ROWS], out[MOST_ROWS];
    hmi_relation list[MOST_ROWS];
    for (size_t i = 0; i < r; i++) {
        hmi_expr side = rows->rest[i];
        for (uint32_t j = 0, k = 0; j < n; j++)
            if (k < r && unknown[k] == j)
                matrix[i * r + k++] = rows->c[i][j];
            else
                side = hmi_add(g, side,
                               hmi_mul(g, rows->c[i][j], hmi_symbol(g, HMI_SYM_VELOCITY, j)));
        rhs[i] = hmi_neg(g, side);
    }
    if (hmi_symbolic_solve(s->normal, r, matrix, 1, rhs, out, NULL) != HM_OK)
        return; /* dependent, or too long */
    for (size_t k = 0; k < r; k++)
        list[k] = (hmi_relation){.symbol = hmi_symbol(g, HMI_SYM_VELOCITY, unknown[k]),
                                 .power = 1,
                                 .value = out[k],
                                 .row = rows->row[k]};
    add(s, list, r);
}

/* The next set of r numbers below n, ascending. */
static bool next_set(uint32_t *set, size_t r, size_t n)
{
    for (size_t k = r; k-- > 0;) {
        if (set[k] + (r - k) >= n)
            continue;
        set[k]++;
        for (size_t i = k + 1; i < r; i++)
            set[i] = set[i - 1] + 1;
        return true;
    }
    return false;
}

static void add_joints(hmi_surface *s)
{
    const hmi_rows *rows = &s->system->derived.constraints;
    linear_rows linear = {0};
    uint32_t set[MOST_ROWS];
    for (size_t i = 0; i < rows->count && linear.count < MOST_ROWS; i++)
        if (rows->velocity_residual[i] != HMI_NONE)
            take_linear(s, i, &linear);
    if (linear.count < 2 || linear.count > s->system->derived.n)
        return;
    for (uint32_t k = 0; k < linear.count; k++)
        set[k] = k;
    do
        add_joint(s, &linear, set);
    while (!s->failed && s->tried.count < MOST_TRIED &&
           next_set(set, linear.count, s->system->derived.n));
}

hm_status hmi_surface_relations(hmi_surface *s)
{
    add_singles(s);
    add_joints(s);
    return hmi_surface_status(s);
}
