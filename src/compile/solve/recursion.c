/* The elimination along the recursion: variables and their operands, the greedy order, the two kinds of
 * steps, and solves. */
#include "compile/solve/recursion.h"

static const uint32_t none = UINT32_MAX;
enum { IN_PRODUCT = 1 << 30 }; /* among the uses of a node: it has to be a variable */

typedef struct builder {
    hmi_recursion *r;
    hmi_graph *g;
    const hm_allocator *allocator;
    hmi_walk walk;
    HMI_ARRAY(uint32_t) uses;        /* by position: operands of others that it is */
    HMI_ARRAY(uint32_t) variable_of; /* by position; UINT32_MAX: written out in its only user */
    HMI_ARRAY(hmi_recursion_term) stack;
    double least_ratio;
    hmi_margin *margin;
    size_t most_nodes;
} builder;

static bool moves(const hmi_graph *g, hmi_expr e)
{
    return hmi_deps(g, e) & HMI_DEP(HMI_SYM_VELOCITY);
}

/* ---- sparse rows ---- */

static hmi_recursion_term *find_term(const hmi_recursion_terms *terms, uint32_t variable)
{
    for (size_t k = 0; k < terms->count; k++)
        if (terms->data[k].variable == variable)
            return &terms->data[k];
    return NULL;
}

static hm_status add_term(builder *w, hmi_recursion_terms *terms, uint32_t variable, hmi_expr value)
{
    hmi_recursion_term *known = find_term(terms, variable);
    const hmi_recursion_term term = {variable, value};
    if (known) {
        known->value = hmi_plain_add(w->g, known->value, value);
        return HM_OK;
    }
    return hmi_array_push(w->allocator, terms, term) ? HM_OK : HM_ERR_NOMEM;
}

static void drop_term(hmi_recursion_terms *terms, uint32_t variable)
{
    hmi_recursion_term *known = find_term(terms, variable);
    if (known)
        *known = terms->data[--terms->count];
}

/* S_ij += value, and S_ji. */
static hm_status add_entry(builder *w, uint32_t i, uint32_t j, hmi_expr value)
{
    hmi_recursion_variable *v = w->r->variables.data;
    if (value == w->g->zero)
        return HM_OK;
    if (i == j) {
        v[i].diagonal = hmi_plain_add(w->g, v[i].diagonal, value);
        return HM_OK;
    }
    hm_status status = add_term(w, &v[i].row, j, value);
    return status == HM_OK ? add_term(w, &v[j].row, i, value) : status;
}

/* ---- variables ---- */

/* The coefficients of the operands of a node that is affine in the velocities; false: it is not. */
static bool coefficients(hmi_graph *g, hmi_expr e, hmi_expr c[2])
{
    const hmi_node node = *hmi_node_at(g, e);
    c[0] = c[1] = g->one;
    switch ((hmi_op)node.op) {
    case HMI_ADD:
        return true;
    case HMI_SUB:
        c[1] = g->minus_one;
        return true;
    case HMI_NEG:
        c[0] = g->minus_one;
        return true;
    case HMI_MUL:
        c[0] = node.b;
        c[1] = node.a;
        return !moves(g, node.a) || !moves(g, node.b);
    case HMI_DIV:
        c[0] = moves(g, node.b) ? HMI_NONE : hmi_plain_reciprocal(g, node.b);
        return c[0] != HMI_NONE;
    default:
        return false;
    }
}

static hm_status find_nodes(builder *w, const hmi_tree_form *form)
{
    hm_status status = hmi_walk_begin(&w->walk, w->g);
    for (size_t k = 0; status == HM_OK && k < form->products.count; k++) {
        status = hmi_walk_add(&w->walk, w->g, form->products.data[k].a, HMI_DEP(HMI_SYM_VELOCITY));
        if (status == HM_OK)
            status = hmi_walk_add(&w->walk, w->g, form->products.data[k].b,
                                  HMI_DEP(HMI_SYM_VELOCITY));
    }
    for (size_t i = 0; status == HM_OK && i < w->walk.order.count; i++)
        if (!hmi_array_push(w->allocator, &w->uses, 0) ||
            !hmi_array_push(w->allocator, &w->variable_of, none))
            status = HM_ERR_NOMEM;
    return status;
}

static void count_uses(builder *w, const hmi_tree_form *form)
{
    for (size_t i = 0; i < w->walk.order.count; i++) {
        hmi_expr e = w->walk.order.data[i];
        for (int k = 0; k < hmi_op_arity(hmi_op_of(w->g, e)); k++)
            if (moves(w->g, hmi_operand(w->g, e, k)))
                w->uses.data[hmi_walk_position(&w->walk, hmi_operand(w->g, e, k))]++;
    }
    for (size_t k = 0; k < form->products.count; k++) {
        w->uses.data[hmi_walk_position(&w->walk, form->products.data[k].a)] |= IN_PRODUCT;
        w->uses.data[hmi_walk_position(&w->walk, form->products.data[k].b)] |= IN_PRODUCT;
    }
}

static bool has_one_operand(const hmi_graph *g, hmi_expr e)
{
    int count = 0;
    for (int k = 0; k < hmi_op_arity(hmi_op_of(g, e)); k++)
        count += moves(g, hmi_operand(g, e, k));
    return count == 1;
}

/* Multiples of one velocity and what has one user are written out in users; all others are variables. */
static hm_status make_variables(builder *w)
{
    for (size_t i = 0; i < w->walk.order.count; i++) {
        hmi_expr e = w->walk.order.data[i];
        const hmi_node *node = hmi_node_at(w->g, e);
        bool leaf = node->op == HMI_SYMBOL;
        if (!leaf &&
            (w->uses.data[i] < 2 || (w->uses.data[i] < IN_PRODUCT && has_one_operand(w->g, e))))
            continue;
        const hmi_recursion_variable variable = {.node = e,
                                                 .coordinate = leaf ? node->b : none,
                                                 .diagonal = w->g->zero,
                                                 .size = w->g->zero};
        w->variable_of.data[i] = (uint32_t)w->r->variables.count;
        if (!hmi_array_push(w->allocator, &w->r->variables, variable))
            return HM_ERR_NOMEM;
    }
    return HM_OK;
}

/* Adds the operands of a node, times a factor, to the stack. */
static hm_status push_operands(builder *w, hmi_expr e, hmi_expr factor)
{
    hmi_expr c[2];
    if (!coefficients(w->g, e, c))
        return w->g->status == HM_OK ? HM_ERR_USAGE : w->g->status;
    for (int k = 0; k < hmi_op_arity(hmi_op_of(w->g, e)); k++) {
        hmi_expr operand = hmi_operand(w->g, e, k);
        const hmi_recursion_term term = {operand, hmi_plain_mul(w->g, factor, c[k])};
        if (moves(w->g, operand) && !hmi_array_push(w->allocator, &w->stack, term))
            return HM_ERR_NOMEM;
    }
    return w->g->status;
}

/* A variable as a sum of variables below it; terms of the stack hold nodes until they are known. */
static hm_status find_operands(builder *w, uint32_t i)
{
    hmi_recursion_terms *operands = &w->r->variables.data[i].operands;
    hm_status status = push_operands(w, w->r->variables.data[i].node, w->g->one);
    while (status == HM_OK && w->stack.count) {
        const hmi_recursion_term term = w->stack.data[--w->stack.count];
        uint32_t variable = w->variable_of.data[hmi_walk_position(&w->walk, term.variable)];
        status = variable == none ? push_operands(w, term.variable, term.value)
                                  : add_term(w, operands, variable, term.value);
    }
    for (size_t k = 0; status == HM_OK && k < operands->count; k++)
        w->r->variables.data[operands->data[k].variable].users++;
    return status;
}

static hm_status load(builder *w, const hmi_tree_form *form)
{
    hmi_recursion *r = w->r;
    hm_status status = find_nodes(w, form);
    if (status != HM_OK)
        return status;
    count_uses(w, form);
    status = make_variables(w);
    for (uint32_t i = 0; status == HM_OK && i < r->variables.count; i++)
        if (r->variables.data[i].coordinate == none)
            status = find_operands(w, i);
    for (size_t k = 0; status == HM_OK && k < form->products.count; k++) {
        const hmi_velocity_product *p = &form->products.data[k];
        uint32_t a = w->variable_of.data[hmi_walk_position(&w->walk, p->a)];
        uint32_t b = w->variable_of.data[hmi_walk_position(&w->walk, p->b)];
        status = add_entry(w, a, b, p->weight);
    }
    for (uint32_t i = 0; status == HM_OK && i < r->variables.count; i++)
        if (r->variables.data[i].users == 0 && !hmi_array_push(w->allocator, &r->ready, i))
            status = HM_ERR_NOMEM;
    return status;
}

/* ---- order ---- */

/* Variables come after what they are made of. */
static void find_heights(hmi_recursion *r)
{
    hmi_recursion_variable *v = r->variables.data;
    for (size_t i = r->variables.count; i-- > 0;)
        for (size_t k = 0; k < v[i].operands.count; k++) {
            hmi_recursion_variable *below = &v[v[i].operands.data[k].variable];
            if (below->height < v[i].height + 1)
                below->height = v[i].height + 1;
        }
    for (size_t i = 0; i < r->variables.count; i++) {
        v[i].nearest = v[i].coordinate == none ? none : v[i].height;
        for (size_t k = 0; k < v[i].operands.count; k++) {
            uint32_t below = v[v[i].operands.data[k].variable].nearest;
            v[i].nearest = below < v[i].nearest ? below : v[i].nearest;
        }
    }
}

/* ---- steps ---- */

static hmi_expr larger(hmi_graph *g, hmi_expr x, hmi_expr y)
{
    if (x == g->zero || x == y)
        return y;
    return y == g->zero ? x : hmi_intern(g, HMI_MAX, x, y, 0);
}

static void detach(builder *w, uint32_t i)
{
    hmi_recursion_variable *v = w->r->variables.data;
    for (size_t k = 0; k < v[i].row.count; k++)
        drop_term(&v[v[i].row.data[k].variable].row, i);
}

/* u = Sum c_k a_k: its row of S goes to the operands. */
static hm_status replace(builder *w, uint32_t u)
{
    hmi_graph *g = w->g;
    hmi_recursion_variable *v = w->r->variables.data;
    const hmi_recursion_terms operands = v[u].operands, row = v[u].row;
    hm_status status = HM_OK;
    detach(w, u);
    for (size_t k = 0; status == HM_OK && k < operands.count; k++) {
        const hmi_recursion_term a = operands.data[k];
        hmi_expr part = hmi_plain_mul(g, a.value, v[u].diagonal);
        for (size_t l = 0; status == HM_OK && l <= k; l++)
            status = add_entry(w, a.variable, operands.data[l].variable,
                               hmi_plain_mul(g, operands.data[l].value, part));
        for (size_t f = 0; status == HM_OK && f < row.count; f++) {
            hmi_expr entry = hmi_plain_mul(g, a.value, row.data[f].value);
            if (row.data[f].variable == a.variable)
                entry = hmi_plain_mul(g, g->two, entry);
            status = add_entry(w, a.variable, row.data[f].variable, entry);
        }
        if (v[u].size != g->zero) {
            hmi_expr square = hmi_plain_mul(g, a.value, a.value);
            v[a.variable].size = larger(g, v[a.variable].size, hmi_plain_mul(g, square, v[u].size));
        }
    }
    return status;
}

/* Pivots are compared with the largest number that was subtracted from; see recursion.h. */
static void watch_pivot(builder *w, const hmi_recursion_variable *v)
{
    hmi_graph *g = w->g;
    hmi_expr least = hmi_plain_mul(g, hmi_number(g, w->least_ratio), v->size);
    hmi_margin_add(g, w->margin,
                   v->size == g->zero ? v->diagonal : hmi_plain_sub(g, v->diagonal, least));
}

/* S_fg -= S_fi S_gi / S_ii; the factors S_fi / S_ii stay, as a column of L. */
static hm_status eliminate(builder *w, uint32_t i)
{
    hmi_graph *g = w->g;
    hmi_recursion_variable *v = w->r->variables.data;
    hmi_expr pivot = v[i].diagonal, inverse = hmi_plain_reciprocal(g, pivot);
    hm_status status = HM_OK;
    watch_pivot(w, &v[i]);
    if (inverse == HMI_NONE || w->margin->failed)
        return g->status == HM_OK ? HM_ERR_USAGE : g->status;
    w->r->pivot.data[v[i].coordinate] = pivot;
    w->r->inverse.data[v[i].coordinate] = inverse;
    detach(w, i);
    for (size_t k = 0; status == HM_OK && k < v[i].row.count; k++) {
        const hmi_recursion_term f = v[i].row.data[k];
        hmi_expr factor = hmi_plain_mul(g, f.value, inverse);
        v[f.variable].size = larger(g, v[f.variable].size, v[f.variable].diagonal);
        for (size_t l = 0; status == HM_OK && l <= k; l++) {
            hmi_expr product = hmi_plain_mul(g, factor, v[i].row.data[l].value);
            status = add_entry(w, f.variable, v[i].row.data[l].variable,
                               hmi_plain_sub(g, g->zero, product));
        }
        if (status == HM_OK)
            status = add_term(w, &v[i].operands, f.variable, factor);
    }
    return status;
}

/* Products that a step takes, about. */
static size_t cost_of(const hmi_recursion_variable *v)
{
    return (v->row.count + 1) * (v->coordinate == none ? v->operands.count : 1);
}

static size_t choose(const hmi_recursion *r)
{
    size_t best = 0;
    for (size_t k = 1; k < r->ready.count; k++) {
        const hmi_recursion_variable *v = &r->variables.data[r->ready.data[k]];
        const hmi_recursion_variable *other = &r->variables.data[r->ready.data[best]];
        if (v->nearest < other->nearest ||
            (v->nearest == other->nearest && cost_of(v) < cost_of(other)))
            best = k;
    }
    return best;
}

static hm_status release_operands(builder *w, uint32_t i)
{
    hmi_recursion_variable *v = w->r->variables.data;
    for (size_t k = 0; k < v[i].operands.count; k++) {
        uint32_t operand = v[i].operands.data[k].variable;
        if (--v[operand].users == 0 && !hmi_array_push(w->allocator, &w->r->ready, operand))
            return HM_ERR_NOMEM;
    }
    return HM_OK;
}

static hm_status step(builder *w)
{
    hmi_recursion *r = w->r;
    size_t at = choose(r);
    uint32_t i = r->ready.data[at];
    r->ready.data[at] = r->ready.data[--r->ready.count];
    if (!hmi_array_push(w->allocator, &r->order, i))
        return HM_ERR_NOMEM;
    bool replaced = r->variables.data[i].coordinate == none;
    hm_status status = replaced ? replace(w, i) : eliminate(w, i);
    if (status == HM_OK && replaced)
        status = release_operands(w, i);
    if (status == HM_OK && w->g->nodes.count > w->most_nodes)
        status = HM_ERR_LIMIT;
    return status == HM_OK ? w->g->status : status;
}

/* Does every coordinate have a pivot? */
static bool complete(const hmi_recursion *r)
{
    bool good = r->order.count == r->variables.count;
    for (size_t i = 0; i < r->n; i++)
        good = good && r->pivot.data[i] != HMI_NONE;
    return good;
}

static hm_status build(builder *w, const hmi_tree_form *form)
{
    hmi_recursion *r = w->r;
    for (size_t i = 0; i < r->n; i++)
        if (!hmi_array_push(w->allocator, &r->pivot, HMI_NONE) ||
            !hmi_array_push(w->allocator, &r->inverse, HMI_NONE))
            return HM_ERR_NOMEM;
    hm_status status = load(w, form);
    if (status == HM_OK)
        find_heights(r);
    while (status == HM_OK && r->ready.count)
        status = step(w);
    for (size_t i = 0; status == HM_OK && i < r->variables.count; i++)
        if (!hmi_array_push(w->allocator, &r->scratch, w->g->zero))
            status = HM_ERR_NOMEM;
    return status == HM_OK && !complete(r) ? HM_ERR_USAGE : status;
}

hm_status hmi_recursion_create(hmi_recursion *r, hmi_graph *g, const hmi_tree_form *form, size_t n,
                               double least_ratio, hmi_margin *margin, size_t most_nodes)
{
    *r = (hmi_recursion){.allocator = form->allocator, .n = n};
    builder w = {.r = r,
                 .g = g,
                 .allocator = form->allocator,
                 .least_ratio = least_ratio,
                 .margin = margin,
                 .most_nodes = most_nodes};
    hmi_walk_init(&w.walk, w.allocator);
    hm_status status = build(&w, form);
    hmi_walk_release(&w.walk);
    hmi_array_release(w.allocator, &w.uses);
    hmi_array_release(w.allocator, &w.variable_of);
    hmi_array_release(w.allocator, &w.stack);
    return status;
}

void hmi_recursion_release(hmi_recursion *r)
{
    if (!r->allocator)
        return;
    for (size_t i = 0; i < r->variables.count; i++) {
        hmi_array_release(r->allocator, &r->variables.data[i].operands);
        hmi_array_release(r->allocator, &r->variables.data[i].row);
    }
    hmi_array_release(r->allocator, &r->variables);
    hmi_array_release(r->allocator, &r->order);
    hmi_array_release(r->allocator, &r->ready);
    hmi_array_release(r->allocator, &r->pivot);
    hmi_array_release(r->allocator, &r->inverse);
    hmi_array_release(r->allocator, &r->scratch);
}

/* ---- solving ---- */

void hmi_recursion_forward(hmi_recursion *r, hmi_graph *g, hmi_expr *x)
{
    hmi_expr *y = r->scratch.data;
    for (size_t i = 0; i < r->variables.count; i++) {
        uint32_t coordinate = r->variables.data[i].coordinate;
        y[i] = coordinate == none ? g->zero : x[coordinate];
    }
    for (size_t k = 0; k < r->order.count; k++) {
        uint32_t i = r->order.data[k];
        const hmi_recursion_variable *v = &r->variables.data[i];
        for (size_t l = 0; y[i] != g->zero && l < v->operands.count; l++) {
            const hmi_recursion_term term = v->operands.data[l];
            hmi_expr part = hmi_plain_mul(g, term.value, y[i]);
            y[term.variable] = v->coordinate == none ? hmi_plain_add(g, y[term.variable], part)
                                                     : hmi_plain_sub(g, y[term.variable], part);
        }
        if (v->coordinate != none)
            x[v->coordinate] = y[i];
    }
}

void hmi_recursion_backward(hmi_recursion *r, hmi_graph *g, hmi_expr *x)
{
    hmi_expr *y = r->scratch.data;
    for (size_t k = r->order.count; k-- > 0;) {
        uint32_t i = r->order.data[k];
        const hmi_recursion_variable *v = &r->variables.data[i];
        y[i] = v->coordinate == none ? g->zero : x[v->coordinate];
        for (size_t l = 0; l < v->operands.count; l++) {
            const hmi_recursion_term term = v->operands.data[l];
            hmi_expr part = hmi_plain_mul(g, term.value, y[term.variable]);
            y[i] = v->coordinate == none ? hmi_plain_add(g, y[i], part)
                                         : hmi_plain_sub(g, y[i], part);
        }
        if (v->coordinate != none)
            x[v->coordinate] = y[i];
    }
}
