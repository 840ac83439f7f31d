/* Finds the blocks of M and the pattern of G, factors the blocks on the graph, chooses the order of G's
 * rows, and compiles the whole as array code. */
#include "compile/solve/block_schur_build.h"
#include "compile/solve/verify.h"

#include "linalg/order.h"
#include "linalg/tolerances.h"
#include "base/sort.h"

#include <string.h>

/* ---- blocks of M ---- */

static uint32_t root_of(uint32_t *parent, uint32_t i)
{
    while (parent[i] != i)
        i = parent[i] = parent[parent[i]];
    return i;
}

/* Coordinates that M couples, by union; *fits is false where a block is too large. */
static hm_status find_blocks(hmi_schur_builder *b, bool *fits)
{
    size_t n = b->eq->n;
    const hmi_expr_matrix *M = &b->eq->M;
    uint32_t *parent = NEW(b, uint32_t, n), *size = NEW(b, uint32_t, n);
    b->block_of = NEW(b, uint32_t, n);
    b->coordinate = NEW(b, uint32_t, n);
    b->place = NEW(b, uint32_t, n);
    if (!parent || !size || !b->block_of || !b->coordinate || !b->place)
        return HM_ERR_NOMEM;
    for (size_t i = 0; i < n; i++)
        parent[i] = (uint32_t)i;
    for (size_t i = 0; i < n; i++) {
        *fits = *fits && M->start[i + 1] > M->start[i]; /* a row of zeros has no inverse */
        for (size_t k = M->start[i]; k < M->start[i + 1]; k++) {
            uint32_t x = root_of(parent, (uint32_t)i), y = root_of(parent, M->column.data[k]);
            parent[x > y ? x : y] = x < y ? x : y;
        }
    }
    for (size_t i = 0; i < n; i++)
        size[root_of(parent, (uint32_t)i)]++;
    uint32_t next = 0;
    for (size_t i = 0; i < n; i++) {
        uint32_t root = root_of(parent, (uint32_t)i);
        *fits = *fits && size[root] <= LARGEST_BLOCK;
        if (root == i) {
            b->block_of[i] = (uint32_t)b->blocks.count;
            const block new = {.first = next};
            next += size[i];
            if (!hmi_array_push(b->allocator, &b->blocks, new))
                return HM_ERR_NOMEM;
        }
        block *own = &b->blocks.data[b->block_of[root]];
        b->block_of[i] = b->block_of[root];
        b->place[i] = own->size;
        b->coordinate[own->first + own->size++] = (uint32_t)i;
    }
    return HM_OK;
}

/* A number that must be well above zero, where that is not plain. */
static bool check(hmi_schur_builder *b, hmi_expr e)
{
    if (hmi_is_const(b->g, e) && hmi_constant_of(b->g, e)->value >= HMI_WELL_CONDITIONED)
        return true;
    if (b->checks.count && b->checks.data[b->checks.count - 1] == e)
        return true;
    return hmi_array_push(b->allocator, &b->checks, e);
}

/* L E L^T of one block on the DAG, L^-1 F beside it. */
static bool factor_block(hmi_schur_builder *b, const block *own)
{
    hmi_graph *g = b->g;
    hmi_expr pivot[LARGEST_BLOCK];
    for (uint32_t r = 0; r < own->size; r++) {
        hmi_expr *L = b->factor + (size_t)(own->first + r) * LARGEST_BLOCK;
        hmi_expr diagonal = hmi_schur_block_entry(b, own, r, r);
        hmi_expr force = hmi_schur_block_force(b, own, r);
        pivot[r] = diagonal;
        hmi_expr row[LARGEST_BLOCK]; /* L E */
        for (uint32_t c = 0; c < r; c++) {
            const hmi_expr *other = b->factor + (size_t)(own->first + c) * LARGEST_BLOCK;
            row[c] = hmi_schur_block_entry(b, own, r, c);
            for (uint32_t k = 0; k < c; k++)
                row[c] = multiply_add(g, row[c], row[k], other[k], true);
            L[c] = times_inverse(g, row[c], b->inverse[own->first + c]);
            pivot[r] = multiply_add(g, pivot[r], row[c], L[c], true);
            force = multiply_add(g, force, L[c], b->force[own->first + c], true);
        }
        b->inverse[own->first + r] = hmi_div(g, g->one, pivot[r]);
        b->force[own->first + r] = force;
        if (!check(b, hmi_apply(g, HMI_SIGN, diagonal, HMI_NONE, HMI_NONE)) ||
            (r > 0 && !check(b, hmi_div(g, pivot[r], diagonal))))
            return false;
    }
    return true;
}

static bool factor_blocks(hmi_schur_builder *b)
{
    size_t n = b->eq->n;
    b->factor = NEW(b, hmi_expr, n * LARGEST_BLOCK);
    b->inverse = NEW(b, hmi_expr, n);
    b->force = NEW(b, hmi_expr, n);
    if (!b->factor || !b->inverse || !b->force)
        return false;
    for (size_t k = 0; k < b->blocks.count; k++)
        if (!factor_block(b, &b->blocks.data[k]))
            return false;
    return true;
}

/* ---- rows of A by block ---- */

/* Counts, then lists, the rows that touch each block, ascending. */
static bool find_touches(hmi_schur_builder *b)
{
    const hmi_expr_matrix *A = &b->eq->constraints.A;
    uint32_t *last = NEW(b, uint32_t, b->blocks.count);
    if (!last)
        return false;
    for (int pass = 0; pass < 2; pass++) {
        memset(last, 0xFF, (b->blocks.count + 1) * sizeof *last);
        for (size_t i = 0; i < A->rows; i++)
            for (size_t k = A->start[i]; k < A->start[i + 1]; k++) {
                uint32_t c = b->block_of[A->column.data[k]];
                block *own = &b->blocks.data[c];
                if (last[c] == i)
                    continue;
                last[c] = (uint32_t)i;
                if (pass)
                    b->touching[own->row + own->rows] = (touch){.constraint = (uint32_t)i};
                own->rows++;
            }
        if (pass)
            break;
        for (size_t c = 0; c < b->blocks.count; c++) {
            b->blocks.data[c].row = b->touch_count;
            b->touch_count += b->blocks.data[c].rows;
            b->blocks.data[c].rows = 0;
        }
        b->touching = NEW(b, touch, b->touch_count);
        if (!b->touching)
            return false;
    }
    return true;
}

/* y = L^-1 a, w = E^-1 y for every row in every block. */
static bool solve_touches(hmi_schur_builder *b)
{
    hmi_graph *g = b->g;
    for (size_t c = 0; c < b->blocks.count; c++) {
        const block *own = &b->blocks.data[c];
        for (size_t t = 0; t < own->rows; t++) {
            touch *at = &b->touching[own->row + t];
            hmi_expr y[LARGEST_BLOCK];
            at->y = b->parts.count;
            for (uint32_t r = 0; r < own->size; r++) {
                const hmi_expr *L = b->factor + (size_t)(own->first + r) * LARGEST_BLOCK;
                y[r] = hmi_expr_matrix_entry(&b->eq->constraints.A, at->constraint,
                                             b->coordinate[own->first + r], g->zero);
                for (uint32_t k = 0; k < r; k++)
                    y[r] = multiply_add(g, y[r], L[k], y[k], true);
                if (!hmi_array_push(b->allocator, &b->parts, y[r]))
                    return false;
            }
            for (uint32_t r = 0; r < own->size; r++)
                if (!hmi_array_push(b->allocator, &b->parts,
                                    times_inverse(g, y[r], b->inverse[own->first + r])))
                    return false;
        }
    }
    return true;
}

/* ---- the pattern of G and the order of its rows ---- */

static bool too_many_terms(const hmi_schur_builder *b)
{
    size_t terms = 0, most = MOST_TERMS * (b->eq->constraints.A.value.count + 1);
    for (size_t c = 0; c < b->blocks.count; c++)
        terms += b->blocks.data[c].rows * b->blocks.data[c].rows;
    return terms > most;
}

/* Every pair of rows that share a block, sorted and once each. */
static bool find_pairs(hmi_schur_builder *b)
{
    size_t m = b->s->m, kept = 0;
    b->pair_start = NEW(b, size_t, m + 1);
    if (!b->pair_start)
        return false;
    for (int pass = 0; pass < 2; pass++) {
        for (size_t c = 0; c < b->blocks.count; c++) {
            const block *own = &b->blocks.data[c];
            for (size_t i = 0; i < own->rows; i++)
                for (size_t k = 0; k < own->rows; k++) {
                    uint32_t row = b->touching[own->row + i].constraint;
                    if (i == k)
                        continue;
                    if (pass)
                        b->pair[b->pair_start[row]++] = b->touching[own->row + k].constraint;
                    else
                        b->pair_start[row + 1]++;
                }
        }
        for (size_t i = 0; !pass && i < m; i++)
            b->pair_start[i + 1] += b->pair_start[i];
        if (!pass && !(b->pair = NEW(b, uint32_t, b->pair_start[m])))
            return false;
    }
    for (size_t i = m; i > 0; i--)
        b->pair_start[i] = b->pair_start[i - 1];
    b->pair_start[0] = 0;
    for (size_t i = 0, first = 0; i < m; i++) {
        size_t end = b->pair_start[i + 1];
        hmi_sort(b->pair + first, end - first, sizeof *b->pair, compare_indices);
        b->pair_start[i] = kept;
        for (size_t k = first; k < end; k++)
            if (k == first || b->pair[k] != b->pair[k - 1])
                b->pair[kept++] = b->pair[k];
        first = end;
    }
    b->pair_start[m] = kept;
    return true;
}

/* As declared where that is a narrow band already, else by breadth where that is, else for little
 * fill. */
static hm_status choose_order(hmi_schur_builder *b)
{
    hmi_block_schur *s = b->s;
    const hmi_pattern pattern = {s->m, b->pair_start, b->pair};
    s->order = hmi_arena_alloc(&s->arena, (s->m + 1) * sizeof *s->order);
    b->rank = NEW(b, uint32_t, s->m);
    if (!s->order || !b->rank)
        return HM_ERR_NOMEM;
    for (size_t i = 0; i < s->m; i++)
        s->order[i] = (uint32_t)i;
    hm_status status = hmi_order_width(b->allocator, &pattern, NULL, &s->width);
    if (status == HM_OK && s->width > WIDEST_BAND) {
        status = hmi_order_band(b->allocator, &pattern, s->order);
        if (status == HM_OK)
            status = hmi_order_width(b->allocator, &pattern, s->order, &s->width);
    }
    s->banded = s->width <= WIDEST_BAND;
    if (status == HM_OK && !s->banded)
        status = hmi_order_minimum_degree(b->allocator, &pattern, s->m, s->order);
    for (size_t k = 0; k < s->m && status == HM_OK; k++)
        b->rank[s->order[k]] = (uint32_t)k;
    if (s->banded && s->width == 0)
        s->width = 1;
    return status;
}

/* ---- the whole ---- */

static hm_status refuse(hmi_schur_builder *b, const char *why)
{
    b->why = why;
    return HM_ERR_LIMIT;
}

/* HM_ERR_LIMIT: it does not suit. */
static hm_status build(hmi_schur_builder *b)
{
    bool fits = true;
    hm_status status = find_blocks(b, &fits);
    if (status != HM_OK)
        return status;
    if (!fits)
        return refuse(b, "M couples too many coordinates, or has a row of zeros");
    b->s->diagonal = b->blocks.count == b->s->n;
    if (!find_touches(b))
        return HM_ERR_NOMEM;
    if (too_many_terms(b))
        return refuse(b, "the Gram matrix would be dense");
    status = hmi_schur_find_shifts(b);
    if (status != HM_OK)
        return status;
    if (!factor_blocks(b) || !solve_touches(b) || !find_pairs(b))
        return HM_ERR_NOMEM;
    status = choose_order(b);
    if (status != HM_OK)
        return status;
    if ((!b->s->banded && !hmi_schur_lay_out(b)) || !hmi_schur_outputs(b))
        return HM_ERR_NOMEM;
    if (b->g->status != HM_OK)
        return b->g->status;
    const hmi_array_code_options options = {
        .late = HMI_DEP(HMI_SYM_MATRIX),
        .whole = {
            [HMI_SYM_COORD] = b->s->n, [HMI_SYM_VELOCITY] = b->s->n, [HMI_SYM_MATRIX] = b->s->m}};
    status = hmi_array_code_compile(&b->s->code, b->g, b->outputs.data, b->outputs.count, &options);
    if (status == HM_ERR_LIMIT)
        return refuse(b, "expressions are too deep for array code");
    return status == HM_OK && !hmi_array_code_pays(&b->s->code)
               ? refuse(b, "the equations repeat too little")
               : status;
}

/* NULL: it may suit. */
static const char *refusal(const hmi_derived *eq)
{
    if (eq->n < FEWEST_COORDINATES)
        return "a small system is faster in one tape";
    if (eq->servos.count)
        return "the model has servos";
    if (eq->model->has_contacts)
        return "rows come and go";
    return eq->force_symbols ? "forces depend on reactions" : NULL;
}

hm_status hmi_block_schur_create(hmi_derived *eq, hmi_block_schur **out, const char **why)
{
    *out = NULL;
    *why = refusal(eq);
    if (*why)
        return HM_OK;
    hmi_block_schur *s = hmi_alloc(eq->allocator, sizeof *s);
    if (!s)
        return HM_ERR_NOMEM;
    *s = (hmi_block_schur){.allocator = eq->allocator, .n = eq->n, .m = eq->constraints.count};
    hmi_arena_init(&s->arena, eq->allocator);
    hmi_schur_builder b = {.s = s, .eq = eq, .g = &eq->graph, .allocator = eq->allocator};
    hmi_arena_init(&b.arena, eq->allocator);
    hm_status status = build(&b);
    hmi_array_release(b.allocator, &b.blocks);
    hmi_array_release(b.allocator, &b.parts);
    hmi_array_release(b.allocator, &b.checks);
    hmi_array_release(b.allocator, &b.outputs);
    hmi_arena_release(&b.arena);
    if (status != HM_OK) {
        *why = b.why;
        hmi_block_schur_destroy(s);
        return status == HM_ERR_LIMIT && eq->graph.status == HM_OK ? HM_OK : status;
    }
    HMI_VERIFY(hmi_block_schur_verify(s, &(hmi_violation){.text = ""}));
    *out = s;
    return HM_OK;
}

void hmi_block_schur_destroy(hmi_block_schur *s)
{
    if (!s)
        return;
    hmi_array_code_release(&s->code);
    hmi_arena_release(&s->arena);
    hmi_free(s->allocator, s, sizeof *s);
}
