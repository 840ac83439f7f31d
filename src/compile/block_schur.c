/* The compiled constraint problem: see block_schur.h. */
#include "compile/block_schur.h"

#include "base/order.h"
#include "base/sort.h"

#include <string.h>

enum {
    FEWEST_COORDINATES = 61, /* below, everything in one tape is faster */
    LARGEST_BLOCK = 6,
    WIDEST_BAND = 8,
    MOST_TERMS = 64 /* of G, a stored entry of A */
};

/* One block of M: its coordinates and the rows of A that touch it. */
typedef struct block {
    uint32_t first, size; /* in `coordinate` */
    size_t row, rows;     /* in `touching` */
} block;

/* A row's part in a block. */
typedef struct touch {
    uint32_t constraint;
    size_t y; /* where y = L^-1 a and w = E^-1 y start in `parts`: size each */
} touch;

typedef struct builder {
    hmi_block_schur *s;
    hmi_derived *eq;
    hmi_graph *g;
    const hm_allocator *allocator;
    hmi_arena arena;
    uint32_t *block_of;   /* by coordinate */
    uint32_t *coordinate; /* by block */
    uint32_t *place;      /* by coordinate: index within its block */
    HMI_ARRAY(block) blocks;
    touch *touching;
    size_t touch_count;
    HMI_ARRAY(hmi_expr) parts;
    hmi_expr *factor;          /* by block coordinate: its row of L, LARGEST_BLOCK entries */
    hmi_expr *inverse, *force; /* by block coordinate: 1/E, L^-1 F */
    HMI_ARRAY(hmi_expr) checks;
    HMI_ARRAY(hmi_expr) outputs;
    size_t *pair_start; /* pattern of G without diagonal, both triangles */
    uint32_t *pair;
    uint32_t *rank; /* place of a constraint in the order */
} builder;

#define NEW(b, type, count) ((type *)hmi_arena_alloc(&(b)->arena, ((count) + 1) * sizeof(type)))

/* ---- blocks of M ---- */

static uint32_t root_of(uint32_t *parent, uint32_t i)
{
    while (parent[i] != i)
        i = parent[i] = parent[parent[i]];
    return i;
}

/* Coordinates that M couples, by union; *fits is false where a block is too large. */
static hm_status find_blocks(builder *b, bool *fits)
{
    size_t n = b->eq->n;
    const hmi_sparse *M = &b->eq->M;
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

static hmi_expr multiply_add(hmi_graph *g, hmi_expr sum, hmi_expr x, hmi_expr y, bool subtract)
{
    hmi_expr product = hmi_mul(g, x, y);
    return subtract ? hmi_sub(g, sum, product) : hmi_add(g, sum, product);
}

/* x * (1/e), and not x/e, which the constructor would make of it: one division for many. */
static hmi_expr times_inverse(hmi_graph *g, hmi_expr x, hmi_expr inverse)
{
    return hmi_is_const(g, x) || hmi_is_const(g, inverse)
               ? hmi_mul(g, x, inverse)
               : hmi_intern(g, HMI_MUL, x, inverse, HMI_NONE);
}

/* A number that must be well above zero, where that is not plain. */
static bool check(builder *b, hmi_expr e)
{
    if (hmi_is_const(b->g, e) && hmi_constant_of(b->g, e)->value >= 1e-5)
        return true;
    if (b->checks.count && b->checks.data[b->checks.count - 1] == e)
        return true;
    return hmi_array_push(b->allocator, &b->checks, e);
}

/* L E L^T of one block on the DAG, L^-1 F beside it. */
static bool factor_block(builder *b, const block *own)
{
    hmi_graph *g = b->g;
    hmi_expr pivot[LARGEST_BLOCK];
    for (uint32_t r = 0; r < own->size; r++) {
        uint32_t i = b->coordinate[own->first + r];
        hmi_expr *L = b->factor + (size_t)(own->first + r) * LARGEST_BLOCK;
        hmi_expr diagonal = hmi_mass_entry(b->eq, i, i), force = b->eq->Q[i];
        pivot[r] = diagonal;
        if (b->eq->has_nonideal)
            force = hmi_add(g, force, b->eq->C[i]);
        hmi_expr row[LARGEST_BLOCK]; /* L E */
        for (uint32_t c = 0; c < r; c++) {
            const hmi_expr *other = b->factor + (size_t)(own->first + c) * LARGEST_BLOCK;
            row[c] = hmi_mass_entry(b->eq, i, b->coordinate[own->first + c]);
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

static bool factor_blocks(builder *b)
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
static bool find_touches(builder *b)
{
    const hmi_sparse *A = &b->eq->constraints.A;
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
static bool solve_touches(builder *b)
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
                y[r] = hmi_sparse_entry(&b->eq->constraints.A, at->constraint,
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

static bool too_many_terms(const builder *b)
{
    size_t terms = 0, most = MOST_TERMS * (b->eq->constraints.A.value.count + 1);
    for (size_t c = 0; c < b->blocks.count; c++)
        terms += b->blocks.data[c].rows * b->blocks.data[c].rows;
    return terms > most;
}

static int compare_indices(const void *x, const void *y)
{
    const uint32_t *a = x, *b = y;
    return *a < *b ? -1 : *a > *b;
}

/* Every pair of rows that share a block, sorted and once each. */
static bool find_pairs(builder *b)
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
static hm_status choose_order(builder *b)
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

/* ---- outputs ---- */

/* The lower triangle of G by rows, in the order chosen. */
static bool lay_out_gram(builder *b)
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
static size_t gram_place(const builder *b, size_t i, size_t k)
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

static bool append(builder *b, hmi_expr e)
{
    return hmi_array_push(b->allocator, &b->outputs, e);
}

static bool append_many(builder *b, hmi_expr e, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (!append(b, e))
            return false;
    return true;
}

static void add_term(builder *b, size_t place, hmi_expr x, hmi_expr y)
{
    hmi_expr *sum = &b->outputs.data[place];
    hmi_expr product = hmi_mul(b->g, x, y);
    *sum = *sum == HMI_NONE ? product : hmi_add(b->g, *sum, product);
}

/* G = Sum over blocks of y w^T */
static bool append_gram(builder *b)
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
static bool append_right(builder *b)
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

/* q'' of one block: E^-1 L^-1 F + W lambda, then L^-T. */
static void accelerate_block(builder *b, const block *own)
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

static bool append_outputs(builder *b)
{
    hmi_block_schur *s = b->s;
    s->at.gram = 0;
    if (!append_gram(b) || !append_right(b))
        return false;
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
    s->at.count = b->outputs.count;
    return true;
}

/* ---- the whole ---- */

/* HM_ERR_LIMIT: it does not suit. */
static hm_status build(builder *b)
{
    bool fits = true;
    hm_status status = find_blocks(b, &fits);
    if (status != HM_OK)
        return status;
    if (!fits)
        return HM_ERR_LIMIT;
    b->s->diagonal = b->blocks.count == b->s->n;
    if (!find_touches(b))
        return HM_ERR_NOMEM;
    if (too_many_terms(b))
        return HM_ERR_LIMIT;
    if (!factor_blocks(b) || !solve_touches(b) || !find_pairs(b))
        return HM_ERR_NOMEM;
    status = choose_order(b);
    if (status != HM_OK)
        return status;
    if ((!b->s->banded && !lay_out_gram(b)) || !append_outputs(b))
        return HM_ERR_NOMEM;
    if (b->g->status != HM_OK)
        return b->g->status;
    const hmi_array_options options = {
        .late = HMI_DEP(HMI_SYM_MATRIX),
        .whole = {
            [HMI_SYM_COORD] = b->s->n, [HMI_SYM_VELOCITY] = b->s->n, [HMI_SYM_MATRIX] = b->s->m}};
    status = hmi_array_compile(&b->s->code, b->g, b->outputs.data, b->outputs.count, &options);
    return status == HM_OK && !hmi_array_pays(&b->s->code) ? HM_ERR_LIMIT : status;
}

static bool is_suitable(const hmi_derived *eq)
{
    return eq->n >= FEWEST_COORDINATES && eq->servos.count == 0 && !eq->force_symbols;
}

hm_status hmi_block_schur_create(hmi_derived *eq, hmi_block_schur **out)
{
    *out = NULL;
    if (!is_suitable(eq))
        return HM_OK;
    hmi_block_schur *s = hmi_alloc(eq->allocator, sizeof *s);
    if (!s)
        return HM_ERR_NOMEM;
    *s = (hmi_block_schur){.allocator = eq->allocator, .n = eq->n, .m = eq->constraints.count};
    hmi_arena_init(&s->arena, eq->allocator);
    builder b = {.s = s, .eq = eq, .g = &eq->graph, .allocator = eq->allocator};
    hmi_arena_init(&b.arena, eq->allocator);
    hm_status status = build(&b);
    hmi_array_release(b.allocator, &b.blocks);
    hmi_array_release(b.allocator, &b.parts);
    hmi_array_release(b.allocator, &b.checks);
    hmi_array_release(b.allocator, &b.outputs);
    hmi_arena_release(&b.arena);
    if (status != HM_OK) {
        hmi_block_schur_destroy(s);
        return status == HM_ERR_LIMIT && eq->graph.status == HM_OK ? HM_OK : status;
    }
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
