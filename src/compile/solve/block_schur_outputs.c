/* Writes the outputs of the block problem on the graph: the entries of G, its right side, the pivots to be
 * watched, and the accelerations for given multipliers. */
#include "compile/solve/block_schur_build.h"

#include "base/sort.h"
#include "linalg/tolerances.h"

bool hmi_schur_lay_out(hmi_schur_builder *b)
{
    hmi_block_schur *s = b->s;
    size_t entries = s->m + b->pair_start[s->m] / 2, at = 0;
    s->start = hmi_arena_alloc(&s->arena, (s->m + 2) * sizeof *s->start);
    s->column = hmi_arena_alloc(&s->arena, (entries + 1) * sizeof *s->column);
    if (!s->start || !s->column)
        return false;
    for (size_t k = 0; k < s->m; k++) {
        size_t i = s->order[k];
        s->start[k] = at;
        for (size_t p = b->pair_start[i]; p < b->pair_start[i + 1]; p++)
            if (b->rank[b->pair[p]] < k)
                s->column[at++] = b->rank[b->pair[p]];
        hmi_sort(s->column + s->start[k], at - s->start[k], sizeof *s->column, compare_indices);
        s->column[at++] = (uint32_t)k;
    }
    s->start[s->m] = at;
    return true;
}

/* Where entry (i, k) of G, i >= k in the order, is among the outputs. */
static size_t gram_place(const hmi_schur_builder *b, size_t i, size_t k)
{
    const hmi_block_schur *s = b->s;
    if (s->banded)
        return (i - k) * s->m + i;
    size_t low = s->start[i], high = s->start[i + 1];
    while (high - low > 1) {
        size_t middle = (low + high) / 2;
        if (s->column[middle] <= k)
            low = middle;
        else
            high = middle;
    }
    return low;
}

static bool append(hmi_schur_builder *b, hmi_expr e)
{
    return hmi_array_push(b->allocator, &b->outputs, e);
}

static bool append_many(hmi_schur_builder *b, hmi_expr e, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (!append(b, e))
            return false;
    return true;
}

static void add_term(hmi_schur_builder *b, size_t place, hmi_expr x, hmi_expr y)
{
    hmi_expr *sum = &b->outputs.data[place];
    hmi_expr product = hmi_mul(b->g, x, y);
    *sum = *sum == HMI_NONE ? product : hmi_add(b->g, *sum, product);
}

/* G = Sum over blocks of y w^T */
static bool append_gram(hmi_schur_builder *b)
{
    hmi_block_schur *s = b->s;
    if (!append_many(b, HMI_NONE, s->banded ? (s->width + 1) * s->m : s->start[s->m]))
        return false;
    for (size_t c = 0; c < b->blocks.count; c++) {
        const block *own = &b->blocks.data[c];
        for (size_t i = 0; i < own->rows; i++)
            for (size_t k = 0; k < own->rows; k++) {
                const touch *x = &b->touching[own->row + i], *y = &b->touching[own->row + k];
                uint32_t row = b->rank[x->constraint], column = b->rank[y->constraint];
                if (row < column)
                    continue;
                for (uint32_t r = 0; r < own->size; r++)
                    add_term(b, s->at.gram + gram_place(b, row, column), b->parts.data[x->y + r],
                             b->parts.data[y->y + own->size + r]);
            }
    }
    return true;
}

/* b - Sum w . L^-1 F */
static bool append_right(hmi_schur_builder *b)
{
    hmi_block_schur *s = b->s;
    s->at.right = b->outputs.count;
    for (size_t k = 0; k < s->m; k++)
        if (!append(b, b->eq->constraints.b[s->order[k]]))
            return false;
    for (size_t c = 0; c < b->blocks.count; c++) {
        const block *own = &b->blocks.data[c];
        for (size_t i = 0; i < own->rows; i++) {
            const touch *x = &b->touching[own->row + i];
            hmi_expr *right = &b->outputs.data[s->at.right + b->rank[x->constraint]];
            for (uint32_t r = 0; r < own->size; r++)
                *right = multiply_add(b->g, *right, b->parts.data[x->y + own->size + r],
                                      b->force[own->first + r], true);
        }
    }
    return true;
}

static hmi_expr size_of(hmi_graph *g, hmi_expr e)
{
    return hmi_apply(g, HMI_ABS, e, HMI_NONE, HMI_NONE);
}

/* What the acceleration of a coordinate is the sum of, without signs, before L^-T. */
static hmi_expr terms_of(hmi_schur_builder *b, const block *own, uint32_t r)
{
    hmi_graph *g = b->g;
    hmi_expr sum = size_of(g,
                           times_inverse(g, b->force[own->first + r], b->inverse[own->first + r]));
    for (size_t i = 0; i < own->rows; i++) {
        const touch *t = &b->touching[own->row + i];
        hmi_expr lambda = hmi_symbol(g, HMI_SYM_MATRIX, b->rank[t->constraint]);
        sum = hmi_add(g, sum, size_of(g, hmi_mul(g, b->parts.data[t->y + own->size + r], lambda)));
    }
    return sum;
}

/* Inertias of M + A^T V A may be of very different size: every pivot is fine in its own unit and yet
 * q'' is lost. A q'' = b tells (schur.c, hmi_schur_check). */
static bool append_met(hmi_schur_builder *b, const block *own)
{
    hmi_graph *g = b->g;
    for (size_t i = 0; i < own->rows; i++) {
        uint32_t row = b->touching[own->row + i].constraint;
        if (b->weight[row] == HMI_NONE)
            continue;
        hmi_expr rest = b->eq->constraints.b[row], terms = size_of(g, rest);
        for (uint32_t r = 0; r < own->size; r++) {
            uint32_t j = b->coordinate[own->first + r];
            hmi_expr A = hmi_expr_matrix_entry(&b->eq->constraints.A, row, j, g->zero);
            if (A == g->zero)
                continue;
            rest = multiply_add(g, rest, A, b->outputs.data[b->s->at.acceleration + j], true);
            terms = multiply_add(g, terms, size_of(g, A), terms_of(b, own, r), false);
        }
        hmi_expr room = hmi_sub(g, hmi_mul(g, hmi_number(g, HMI_ROW_MET), terms), size_of(g, rest));
        if (!append(b, room))
            return false;
    }
    return true;
}

/* q'' of one block: E^-1 L^-1 F + W lambda, then L^-T. */
static void accelerate_block(hmi_schur_builder *b, const block *own)
{
    hmi_graph *g = b->g;
    hmi_expr x[LARGEST_BLOCK];
    for (uint32_t r = 0; r < own->size; r++) {
        x[r] = times_inverse(g, b->force[own->first + r], b->inverse[own->first + r]);
        for (size_t i = 0; i < own->rows; i++) {
            const touch *t = &b->touching[own->row + i];
            hmi_expr lambda = hmi_symbol(g, HMI_SYM_MATRIX, b->rank[t->constraint]);
            x[r] = multiply_add(g, x[r], b->parts.data[t->y + own->size + r], lambda, false);
        }
    }
    for (uint32_t r = own->size; r-- > 0;) {
        for (uint32_t k = r + 1; k < own->size; k++)
            x[r] = multiply_add(g, x[r], b->factor[(size_t)(own->first + k) * LARGEST_BLOCK + r],
                                x[k], true);
        b->outputs.data[b->s->at.acceleration + b->coordinate[own->first + r]] = x[r];
    }
}

/* Entries that are zero, or depend on parameters alone, are written once. */
static bool band_is_fresh(const hmi_schur_builder *b)
{
    const hmi_block_schur *s = b->s;
    for (size_t d = 0; s->banded && d <= s->width; d++)
        for (size_t k = d; k < s->m; k++) {
            hmi_expr e = b->outputs.data[s->at.gram + d * s->m + k];
            if (e == HMI_NONE || !(hmi_deps(b->g, e) & ~HMI_DEP(HMI_SYM_PARAM)))
                return false;
        }
    return true;
}

bool hmi_schur_outputs(hmi_schur_builder *b)
{
    hmi_block_schur *s = b->s;
    s->at.gram = 0;
    if (!append_gram(b) || !append_right(b))
        return false;
    s->fresh = band_is_fresh(b);
    s->at.checks = b->outputs.count;
    s->at.check_count = b->checks.count;
    for (size_t k = 0; k < b->checks.count; k++)
        if (!append(b, b->checks.data[k]))
            return false;
    s->at.state_rates = b->outputs.count;
    for (size_t k = 0; k < b->eq->model->states.count; k++)
        if (!append(b, b->eq->state_rates[k]))
            return false;
    s->at.acceleration = b->outputs.count;
    if (!append_many(b, HMI_NONE, s->n))
        return false;
    for (size_t c = 0; c < b->blocks.count; c++)
        accelerate_block(b, &b->blocks.data[c]);
    s->at.met = b->outputs.count;
    for (size_t c = 0; c < b->blocks.count && s->shifted; c++)
        if (!append_met(b, &b->blocks.data[c]))
            return false;
    s->at.count = b->outputs.count;
    return true;
}
