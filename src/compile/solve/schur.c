/* Builds M with its shift, the rows without their numeric factors, and the Gram matrix on the graph;
 * eliminates both; multipliers and accelerations from them. */
#include "compile/solve/schur.h"

#include "linalg/tolerances.h"

/* ---- numeric factors of rows ---- */

/* |c| of c*x, -(c*x), -c; the number 1 where there is none. */
static hmi_expr numeric_factor(hmi_graph *g, hmi_expr e)
{
    if (hmi_op_of(g, e) == HMI_NEG)
        e = hmi_node_at(g, e)->a;
    if (hmi_op_of(g, e) == HMI_MUL && hmi_is_const(g, hmi_node_at(g, e)->a))
        e = hmi_node_at(g, e)->a;
    if (!hmi_is_const(g, e))
        return g->one;
    return hmi_constant_of(g, e)->value < 0 ? hmi_neg(g, e) : e;
}

/* e/c with c taken out of every term, or HMI_NONE where it is not in all of them. */
static hmi_expr divide_terms(hmi_graph *g, hmi_expr e, hmi_expr c, int depth)
{
    const hmi_node node = *hmi_node_at(g, e);
    if (depth > 32)
        return HMI_NONE;
    if (node.op == HMI_NEG) {
        hmi_expr x = divide_terms(g, node.a, c, depth + 1);
        return x == HMI_NONE ? x : hmi_neg(g, x);
    }
    if (node.op == HMI_ADD || node.op == HMI_SUB) {
        hmi_expr x = divide_terms(g, node.a, c, depth + 1);
        hmi_expr y = x == HMI_NONE ? x : divide_terms(g, node.b, c, depth + 1);
        if (y == HMI_NONE)
            return y;
        return node.op == HMI_ADD ? hmi_add(g, x, y) : hmi_sub(g, x, y);
    }
    if (e == g->zero)
        return e;
    return numeric_factor(g, e) == c ? hmi_mul(g, hmi_div(g, g->one, c), e) : HMI_NONE;
}

static hmi_expr divide(hmi_graph *g, hmi_expr e, hmi_expr c)
{
    if (c == g->one || g->status != HM_OK || e == HMI_NONE)
        return e;
    hmi_expr x = divide_terms(g, e, c, 0);
    return x == HMI_NONE ? hmi_plain_mul(g, hmi_div(g, g->one, c), e) : x;
}

/* Divides out what all entries of row i share. */
static void take_factor(hmi_schur *s, size_t i)
{
    hmi_graph *g = s->graph;
    hmi_expr *row = s->A + i * s->n, common = HMI_NONE;
    s->factor[i] = g->one;
    for (size_t j = 0; j < s->n; j++) {
        if (row[j] == g->zero)
            continue;
        hmi_expr c = numeric_factor(g, row[j]);
        if (common != HMI_NONE && c != common)
            return;
        common = c;
    }
    if (common == HMI_NONE || common == g->one)
        return;
    s->factor[i] = common;
    for (size_t j = 0; j < s->n; j++)
        row[j] = row[j] == g->zero ? row[j] : divide(g, row[j], common);
}

void hmi_schur_scale(const hmi_schur *s, hmi_expr *b)
{
    for (size_t i = 0; i < s->m; i++)
        b[i] = divide(s->graph, b[i], s->factor[i]);
}

/* ---- memory and matrices ---- */

static hm_status allocate(hmi_schur *s, size_t most_nodes)
{
    size_t n = s->n, m = s->m;
    s->A = hmi_arena_alloc(s->arena, (m * n + 1) * sizeof *s->A);
    s->W = hmi_arena_alloc(s->arena, (m * n + 1) * sizeof *s->W);
    s->factor = hmi_arena_alloc(s->arena, (m + 1) * sizeof *s->factor);
    s->weight = hmi_arena_alloc(s->arena, (m + 1) * sizeof *s->weight);
    s->held = hmi_arena_alloc(s->arena, (m + 1) * sizeof *s->held);
    s->shifted = hmi_arena_alloc(s->arena, (m + 1) * sizeof *s->shifted);
    s->scratch = hmi_arena_alloc(s->arena, (n + m + 1) * sizeof *s->scratch);
    if (!s->A || !s->W || !s->factor || !s->weight || !s->held || !s->shifted || !s->scratch)
        return HM_ERR_NOMEM;
    hm_status status = hmi_elimination_init(&s->M, s->graph, s->arena, n, most_nodes);
    return status == HM_OK ? hmi_elimination_init(&s->G, s->graph, s->arena, m, most_nodes)
                           : status;
}

static void load_mass(hmi_schur *s, const hmi_schur_input *input)
{
    size_t n = s->n;
    for (size_t i = 0; i < n; i++)
        for (size_t k = input->M_pattern->start[i]; k < input->M_pattern->start[i + 1]; k++) {
            size_t j = input->M_pattern->column.data[k];
            s->M.S[i * n + j] = s->M.S[j * n + i] = input->M[k];
        }
}

static void load_rows(hmi_schur *s, const hmi_schur_input *input)
{
    for (size_t i = 0; i < s->m * s->n; i++)
        s->A[i] = s->graph->zero;
    for (size_t i = 0; i < s->m; i++) {
        size_t row = input->rows ? input->rows[i] : i;
        for (size_t k = input->A_pattern->start[row]; k < input->A_pattern->start[row + 1]; k++)
            s->A[i * s->n + input->A_pattern->column.data[k]] = input->A[k];
        s->shifted[i] = input->shift && input->shift[row];
        s->has_shift = s->has_shift || s->shifted[i];
        s->held[i] = s->by_tree && input->inertia ? hmi_number(s->graph, input->inertia[row])
                                                  : s->graph->zero;
        take_factor(s, i);
    }
}

/* ---- the shift ---- */

/* V_i; a row that holds no inertia weighs 1 / Sum A_ij^2. */
static hmi_expr weight_of(hmi_schur *s, size_t i)
{
    hmi_graph *g = s->graph;
    hmi_expr inertia = s->held[i], square = g->zero;
    for (size_t j = 0; j < s->n; j++) {
        hmi_expr A = s->A[i * s->n + j];
        if (A == g->zero)
            continue;
        square = hmi_add(g, square, hmi_plain_mul(g, A, A));
        if (!s->by_tree)
            inertia = hmi_plain_add(g, inertia, s->M.S[j * s->n + j]);
    }
    hmi_expr inverse = hmi_plain_reciprocal(g, square);
    return inertia == g->zero ? inverse : hmi_plain_mul(g, inertia, inverse);
}

static void shift_mass(hmi_schur *s)
{
    size_t n = s->n;
    hmi_graph *g = s->graph;
    for (size_t i = 0; i < s->m; i++)
        s->weight[i] = s->shifted[i] ? weight_of(s, i) : g->zero;
    for (size_t i = 0; i < s->m && !s->by_tree; i++)
        for (size_t j = 0; s->shifted[i] && j < n; j++) {
            const hmi_expr *row = s->A + i * n;
            hmi_expr t = hmi_plain_mul(g, s->weight[i], row[j]);
            for (size_t k = 0; k <= j && row[j] != g->zero; k++) {
                hmi_expr sum = hmi_plain_add(g, s->M.S[j * n + k], hmi_plain_mul(g, t, row[k]));
                s->M.S[j * n + k] = s->M.S[k * n + j] = sum;
            }
        }
}

/* ---- the Gram matrix ---- */

static void forward(hmi_schur *s, hmi_expr *x)
{
    if (s->by_tree)
        hmi_recursion_forward(&s->tree, s->graph, x);
    else
        hmi_eliminate_forward(&s->M, s->graph, x);
}

static bool is_diagonal(const hmi_schur *s)
{
    if (s->by_tree)
        return false;
    for (size_t i = 0; i < s->n; i++)
        for (size_t j = 0; j < i; j++)
            if (s->M.S[i * s->n + j] != s->graph->zero)
                return false;
    return true;
}

/* The one inertia that rows touch; HMI_NONE where there are several. */
static hmi_expr common_inertia(const hmi_schur *s)
{
    size_t first = s->n;
    for (size_t i = 0; i < s->m; i++)
        for (size_t j = 0; j < s->n; j++) {
            if (s->W[i * s->n + j] == s->graph->zero)
                continue;
            first = first == s->n ? j : first;
            if (s->M.inverse[j] != s->M.inverse[first])
                return HMI_NONE;
        }
    return first == s->n ? HMI_NONE : s->M.pivot[first];
}

/* Sum of W_ij W_kj over the coordinates j of one inertia, from `first` on; *count says how many. */
static hmi_expr same_inertia(const hmi_schur *s, size_t i, size_t k, size_t first, size_t *count)
{
    hmi_graph *g = s->graph;
    hmi_expr sum = g->zero;
    *count = 0;
    for (size_t j = first; j < s->n; j++) {
        hmi_expr x = s->W[i * s->n + j], y = s->W[k * s->n + j];
        if (x == g->zero || y == g->zero ||
            (s->unit == HMI_NONE && s->M.inverse[j] != s->M.inverse[first]))
            continue;
        sum = hmi_add(g, sum, hmi_plain_mul(g, x, y));
        ++*count;
    }
    return sum;
}

/* Was the inertia of coordinate j met before it in this product of rows? */
static bool inertia_seen(const hmi_schur *s, size_t i, size_t k, size_t j)
{
    for (size_t l = 0; l < j; l++)
        if (s->M.inverse[l] == s->M.inverse[j] && s->W[i * s->n + l] != s->graph->zero &&
            s->W[k * s->n + l] != s->graph->zero)
            return true;
    return false;
}

static hmi_expr gram_entry(const hmi_schur *s, size_t i, size_t k)
{
    hmi_graph *g = s->graph;
    size_t n = s->n, count;
    hmi_expr sum = g->zero;
    if (s->unit != HMI_NONE)
        return same_inertia(s, i, k, 0, &count);
    for (size_t j = 0; j < n; j++) {
        hmi_expr x = s->W[i * n + j], y = s->W[k * n + j];
        if (x == g->zero || y == g->zero || inertia_seen(s, i, k, j))
            continue;
        hmi_expr part = same_inertia(s, i, k, j, &count);
        part = count > 1 ? hmi_plain_mul(g, s->M.inverse[j], part)
                         : hmi_plain_mul(g, hmi_plain_mul(g, x, s->M.inverse[j]), y);
        sum = hmi_plain_add(g, sum, part);
    }
    return sum;
}

static hm_status form_gram(hmi_schur *s)
{
    for (size_t i = 0; i < s->m; i++) {
        for (size_t j = 0; j < s->n; j++)
            s->W[i * s->n + j] = s->A[i * s->n + j];
        forward(s, s->W + i * s->n);
        if (s->graph->status == HM_OK && s->graph->nodes.count > s->M.most_nodes)
            return HM_ERR_LIMIT;
    }
    if (s->graph->status != HM_OK)
        return s->graph->status;
    s->unit = common_inertia(s);
    for (size_t i = 0; i < s->m; i++) {
        for (size_t k = 0; k <= i; k++)
            s->G.S[i * s->m + k] = s->G.S[k * s->m + i] = gram_entry(s, i, k);
        if (s->graph->status == HM_OK && s->graph->nodes.count > s->M.most_nodes)
            return HM_ERR_LIMIT;
    }
    return s->graph->status;
}

/* A_i q' */
static hmi_expr speed_of(const hmi_schur *s, size_t i)
{
    hmi_graph *g = s->graph;
    hmi_expr sum = g->zero;
    for (size_t j = 0; j < s->n; j++)
        if (s->A[i * s->n + j] != g->zero)
            sum = hmi_plain_add(
                g, sum,
                hmi_plain_mul(g, s->A[i * s->n + j], hmi_symbol(g, HMI_SYM_VELOCITY, (uint32_t)j)));
    return sum;
}

/* The energy with its shift: V_i (A_i q')^2 / 2 is what A^T V A adds to M. */
static hm_status shift_energy(const hmi_schur *s, const hmi_tree_form *form, hmi_tree_form *shifted)
{
    bool good = true;
    *shifted = (hmi_tree_form){.allocator = form->allocator};
    for (size_t k = 0; good && k < form->products.count; k++)
        good = hmi_array_push(form->allocator, &shifted->products, form->products.data[k]);
    for (size_t i = 0; good && i < s->m; i++) {
        hmi_expr speed = s->shifted[i] ? speed_of(s, i) : HMI_NONE;
        const hmi_velocity_product product = {speed, speed, s->weight[i]};
        if (s->shifted[i] && s->graph->status == HM_OK)
            good = hmi_array_push(form->allocator, &shifted->products, product);
    }
    return good ? s->graph->status : HM_ERR_NOMEM;
}

static hm_status factor_tree(hmi_schur *s, const hmi_tree_form *form, double least_ratio)
{
    hmi_tree_form shifted;
    hm_status status = shift_energy(s, form, &shifted);
    if (status == HM_OK)
        status = hmi_recursion_create(&s->tree, s->graph, &shifted, s->n, least_ratio, &s->margin,
                                      s->M.most_nodes);
    hmi_tree_form_release(&shifted);
    for (size_t i = 0; status == HM_OK && i < s->n; i++) {
        s->M.pivot[i] = s->tree.pivot.data[i];
        s->M.inverse[i] = s->tree.inverse.data[i];
    }
    return status;
}

void hmi_schur_release(hmi_schur *s)
{
    hmi_recursion_release(&s->tree);
}

hm_status hmi_schur_init(hmi_schur *s, hmi_graph *graph, hmi_arena *arena,
                         const hmi_schur_input *input, size_t most_nodes)
{
    *s = (hmi_schur){.graph = graph, .arena = arena, .n = input->n, .m = input->m};
    s->unit = HMI_NONE;
    hmi_margin_init(&s->margin);
    hm_status status = allocate(s, most_nodes);
    if (status != HM_OK)
        return status;
    s->by_tree = input->tree != NULL;
    if (!s->by_tree)
        load_mass(s, input);
    load_rows(s, input);
    if (s->has_shift)
        shift_mass(s);
    if (graph->status != HM_OK)
        return graph->status;
    bool alone = s->m == 0 || s->has_shift || is_diagonal(s);
    double least_ratio = alone ? HMI_WELL_CONDITIONED : HMI_BOTH_WELL_CONDITIONED;
    status = s->by_tree ? factor_tree(s, input->tree, least_ratio)
                        : hmi_eliminate(&s->M, graph, least_ratio, &s->margin);
    if (status == HM_OK)
        status = form_gram(s);
    return status == HM_OK ? hmi_eliminate(&s->G, graph, least_ratio, &s->margin) : status;
}

/* ---- solving ---- */

/* Q + A^T V b */
static void load_force(const hmi_schur *s, const hmi_expr *Q, const hmi_expr *b, hmi_expr *z)
{
    hmi_graph *g = s->graph;
    for (size_t j = 0; j < s->n; j++)
        z[j] = Q ? Q[j] : g->zero;
    for (size_t i = 0; i < s->m && b; i++) {
        if (!s->shifted[i] || b[i] == g->zero)
            continue;
        hmi_expr t = hmi_plain_mul(g, s->weight[i], b[i]);
        for (size_t j = 0; j < s->n; j++)
            z[j] = hmi_plain_add(g, z[j], hmi_plain_mul(g, t, s->A[i * s->n + j]));
    }
}

hm_status hmi_schur_multipliers(hmi_schur *s, const hmi_expr *Q, const hmi_expr *b, hmi_expr *a,
                                hmi_expr *lambda)
{
    hmi_graph *g = s->graph;
    load_force(s, Q, b, a);
    forward(s, a);
    for (size_t j = 0; j < s->n; j++)
        a[j] = hmi_plain_mul(g, a[j], s->M.inverse[j]);
    for (size_t i = 0; i < s->m; i++) {
        lambda[i] = b ? b[i] : g->zero;
        for (size_t j = 0; j < s->n; j++)
            if (s->W[i * s->n + j] != g->zero)
                lambda[i] = hmi_plain_sub(g, lambda[i], hmi_plain_mul(g, s->W[i * s->n + j], a[j]));
    }
    hmi_eliminate_solve(&s->G, g, lambda);
    return g->status;
}

void hmi_schur_accelerations(hmi_schur *s, const hmi_expr *a, const hmi_expr *lambda, hmi_expr *x)
{
    hmi_graph *g = s->graph;
    for (size_t j = 0; j < s->n; j++) {
        hmi_expr force = g->zero;
        for (size_t i = 0; i < s->m; i++)
            if (s->W[i * s->n + j] != g->zero)
                force = hmi_plain_add(g, force, hmi_plain_mul(g, s->W[i * s->n + j], lambda[i]));
        if (s->unit == HMI_NONE)
            force = hmi_plain_mul(g, force, s->M.inverse[j]);
        x[j] = hmi_plain_add(g, a[j], force);
    }
    if (s->by_tree)
        hmi_recursion_backward(&s->tree, g, x);
    else
        hmi_eliminate_backward(&s->M, g, x);
}

/* The square of the largest acceleration that rounding errors come from, free or constrained, in
 * units of the inertias. */
static hmi_expr square_of_motion(const hmi_schur *s, const hmi_expr *a, const hmi_expr *x)
{
    hmi_graph *g = s->graph;
    hmi_expr sum = g->zero;
    for (size_t j = 0; j < s->n && g->status == HM_OK; j++) {
        hmi_expr squares = hmi_plain_add(g, hmi_plain_mul(g, a[j], a[j]),
                                         hmi_plain_mul(g, x[j], x[j]));
        sum = hmi_plain_add(g, sum, hmi_plain_mul(g, s->M.pivot[j], squares));
    }
    return sum;
}

/* What rounding errors leave of row i of A x where all its terms are zero but for them. */
static hmi_expr row_of_errors(const hmi_schur *s, size_t i, hmi_expr motion)
{
    hmi_graph *g = s->graph;
    hmi_expr length = g->zero;
    for (size_t j = 0; j < s->n && g->status == HM_OK; j++) {
        hmi_expr e = s->A[i * s->n + j];
        if (e != g->zero)
            length = hmi_plain_add(g, length,
                                   hmi_plain_mul(g, s->M.inverse[j], hmi_plain_mul(g, e, e)));
    }
    hmi_expr square = hmi_plain_mul(g, length, motion);
    if (square == g->zero || g->status != HM_OK)
        return g->zero;
    return hmi_plain_mul(g, hmi_number(g, HMI_ROW_MET_COMPILED),
                         hmi_apply(g, HMI_SQRT, square, 0, 0));
}

/* Inertias of M + A^T V A may be of very different size (a quaternion near 1, 0, 0, 0): every pivot
 * is fine in its own unit and yet x is lost. A x = b tells.
 * Verified: test/unit/dynamics/test_motion.c */
void hmi_schur_check(hmi_schur *s, const hmi_expr *b, const hmi_expr *a, const hmi_expr *x)
{
    hmi_graph *g = s->graph;
    hmi_expr motion = s->has_shift ? square_of_motion(s, a, x) : HMI_NONE;
    for (size_t i = 0; i < s->m && s->has_shift && g->status == HM_OK; i++) {
        hmi_expr rest = b[i];
        hmi_expr size = hmi_plain_add(g, hmi_number(g, 1e-280), hmi_apply(g, HMI_ABS, b[i], 0, 0));
        for (size_t j = 0; j < s->n; j++) {
            if (s->A[i * s->n + j] == g->zero)
                continue;
            hmi_expr term = hmi_plain_mul(g, s->A[i * s->n + j], x[j]);
            rest = hmi_plain_sub(g, rest, term);
            size = hmi_plain_add(g, size, hmi_apply(g, HMI_ABS, term, 0, 0));
        }
        hmi_expr allowed = hmi_plain_add(g, hmi_plain_mul(g, hmi_number(g, HMI_ROW_MET), size),
                                         row_of_errors(s, i, motion));
        hmi_margin_add(g, &s->margin, hmi_plain_sub(g, allowed, hmi_apply(g, HMI_ABS, rest, 0, 0)));
    }
}

hmi_expr hmi_schur_plain_multiplier(const hmi_schur *s, hmi_expr lambda)
{
    return s->unit == HMI_NONE ? lambda : hmi_plain_mul(s->graph, s->unit, lambda);
}

hmi_expr hmi_schur_model_multiplier(const hmi_schur *s, size_t i, hmi_expr lambda)
{
    hmi_expr plain = hmi_schur_plain_multiplier(s, lambda);
    return s->factor[i] == s->graph->one
               ? plain
               : hmi_plain_mul(s->graph, hmi_div(s->graph, s->graph->one, s->factor[i]), plain);
}

hmi_expr hmi_schur_finite_margin(hmi_schur *s, const hmi_expr *outputs, size_t count)
{
    hmi_graph *g = s->graph;
    hmi_expr margin = hmi_margin_value(g, &s->margin), sum = g->zero;
    for (size_t k = 0; k < count; k++)
        if (outputs[k] != HMI_NONE && !hmi_is_const(g, outputs[k]))
            sum = hmi_plain_add(g, sum, outputs[k]);
    if (sum == g->zero || sum == HMI_NONE || margin == HMI_NONE)
        return margin;
    return hmi_intern(g, HMI_ADD, margin, hmi_intern(g, HMI_MUL, g->zero, sum, 0), 0);
}
