/* Blocks of M that are singular wherever one looks, and the rows of A that make them regular.
 *
 * The four parameters of a quaternion have an inertia of rank three, and a row of A, the unit norm, that
 * holds these four coordinates and no others. With S = M + A^T V A of such rows in place of M, and
 * F + A^T V b in place of F, nothing changes where A x = b (schur.h); the block stays as small as it
 * was. Which blocks are singular is found at a random point: a determinant that is not identically zero
 * differs from zero there with probability one. Where this finds nothing, or a block stays singular, the
 * pivots that are watched say so later.
 * Verified: test/unit/dynamics/test_scaling.c
 */
#include "compile/solve/block_schur_build.h"

#include "base/random.h"
#include "compile/tape/tape.h"

#include <math.h>
#include <string.h>

#define SINGULAR 1e-9 /* a pivot that is left, relative to its diagonal element */

/* The numbers of M's blocks and of the rows within them, at one random point. */
typedef struct sample {
    HMI_ARRAY(hmi_expr) outputs;
    hmi_tape tape;
    double *work, *symbols;
    const double *next; /* read in the order of writing */
} sample;

/* ---- which rows lie within one block ---- */

static bool count_touches(hmi_schur_builder *b)
{
    b->touches = NEW(b, uint32_t, b->s->m);
    b->weight = NEW(b, hmi_expr, b->s->m);
    if (!b->touches || !b->weight)
        return false;
    for (size_t t = 0; t < b->touch_count; t++)
        b->touches[b->touching[t].constraint]++;
    for (size_t i = 0; i < b->s->m; i++)
        b->weight[i] = HMI_NONE;
    return true;
}

static hmi_expr row_entry(const hmi_schur_builder *b, size_t row, const block *own, uint32_t r)
{
    return hmi_expr_matrix_entry(&b->eq->constraints.A, row, b->coordinate[own->first + r],
                                 b->g->zero);
}

static bool is_within(const hmi_schur_builder *b, const block *own, size_t t)
{
    return b->touches[b->touching[own->row + t].constraint] == 1;
}

static bool may_be_shifted(const hmi_schur_builder *b, const block *own)
{
    for (size_t t = 0; own->size > 1 && t < own->rows; t++)
        if (is_within(b, own, t))
            return true;
    return false;
}

/* ---- the random point ---- */

static bool list_outputs(hmi_schur_builder *b, sample *s)
{
    bool good = true;
    for (size_t c = 0; c < b->blocks.count && good; c++) {
        const block *own = &b->blocks.data[c];
        if (!may_be_shifted(b, own))
            continue;
        for (uint32_t r = 0; r < own->size; r++)
            for (uint32_t k = 0; k <= r; k++)
                good = good && hmi_array_push(b->allocator, &s->outputs,
                                              hmi_mass_entry(b->eq, b->coordinate[own->first + r],
                                                             b->coordinate[own->first + k]));
        for (size_t t = 0; t < own->rows; t++)
            for (uint32_t r = 0; r < own->size && is_within(b, own, t); r++)
                good = good &&
                       hmi_array_push(b->allocator, &s->outputs,
                                      row_entry(b, b->touching[own->row + t].constraint, own, r));
    }
    return good;
}

/* As many numbers as any kind has symbols; parameters have their own values. */
static size_t most_symbols(const hmi_derived *eq)
{
    const hm_model *model = eq->model;
    size_t most = eq->n;
    const size_t counts[] = {eq->constraints.count, model->states.count, model->inputs.count,
                             model->params.count};
    for (size_t k = 0; k < sizeof counts / sizeof *counts; k++)
        most = counts[k] > most ? counts[k] : most;
    return most + HMI_SYM_KIND_COUNT;
}

static hm_status take_sample(hmi_schur_builder *b, sample *s)
{
    size_t count = most_symbols(b->eq), params = b->eq->model->params.count;
    hmi_random random = {17};
    hmi_tape_values values;
    hmi_tape_scratch scratch;
    hmi_tape_scratch_init(&scratch, b->allocator);
    hm_status status = hmi_tape_build(&s->tape, b->g, s->outputs.data, s->outputs.count, &scratch);
    hmi_tape_scratch_release(&scratch);
    if (status != HM_OK)
        return status;
    s->symbols = hmi_arena_alloc(&b->arena, (count + params + 1) * sizeof *s->symbols);
    s->work = hmi_arena_alloc(&b->arena, (s->tape.work_size + 1) * sizeof *s->work);
    if (!s->symbols || !s->work)
        return HM_ERR_NOMEM;
    for (size_t i = 0; i < count; i++)
        s->symbols[i] = hmi_random_between(&random, 0.25, 1);
    for (size_t i = 0; i < params; i++)
        s->symbols[count + i] = b->eq->model->params.data[i].value;
    for (int kind = 0; kind < HMI_SYM_KIND_COUNT; kind++)
        values.by_kind[kind] = s->symbols;
    values.by_kind[HMI_SYM_PARAM] = s->symbols + count;
    hmi_tape_prepare(&s->tape, &values, s->work);
    hmi_tape_run(&s->tape, &values, s->work);
    s->next = hmi_tape_outputs(&s->tape, s->work);
    return HM_OK;
}

/* ---- ranks ---- */

/* Pivots of S, the largest first, that are more than rounding; size of S where one is not finite. */
static uint32_t rank_of(uint32_t size, const double *S)
{
    double rest[LARGEST_BLOCK][LARGEST_BLOCK], unit[LARGEST_BLOCK];
    for (uint32_t i = 0; i < size; i++) {
        if (!isfinite(S[i * size + i]))
            return size;
        unit[i] = S[i * size + i] > 0 ? sqrt(S[i * size + i]) : 0;
    }
    for (uint32_t i = 0; i < size; i++)
        for (uint32_t k = 0; k < size; k++)
            rest[i][k] = unit[i] * unit[k] > 0 ? S[i * size + k] / (unit[i] * unit[k]) : 0;
    for (uint32_t rank = 0; rank < size; rank++) {
        uint32_t p = 0;
        for (uint32_t i = 1; i < size; i++)
            p = rest[i][i] > rest[p][p] ? i : p;
        double pivot = rest[p][p];
        if (!(pivot > SINGULAR))
            return rank;
        for (uint32_t i = 0; i < size; i++) {
            double factor = rest[i][p] / pivot;
            for (uint32_t k = 0; k < size && i != p; k++)
                rest[i][k] -= k == p ? 0 : factor * rest[p][k];
        }
        for (uint32_t i = 0; i < size; i++)
            rest[i][p] = rest[p][i] = 0;
    }
    return size;
}

/* V_i = Sum M_jj / Sum A_ij^2 over the coordinates of the row, as in schur.c. */
static hmi_expr weight_of(hmi_schur_builder *b, const block *own, size_t row)
{
    hmi_graph *g = b->g;
    hmi_expr inertia = g->zero, square = g->zero;
    for (uint32_t r = 0; r < own->size; r++) {
        hmi_expr A = row_entry(b, row, own, r);
        uint32_t i = b->coordinate[own->first + r];
        if (A == g->zero)
            continue;
        square = hmi_add(g, square, hmi_mul(g, A, A));
        inertia = hmi_add(g, inertia, hmi_mass_entry(b->eq, i, i));
    }
    return hmi_div(g, inertia, square);
}

static double number_weight(uint32_t size, const double *M, const double *row)
{
    double inertia = 0, square = 0;
    for (uint32_t r = 0; r < size; r++) {
        square += row[r] * row[r];
        inertia += row[r] != 0 ? M[r * size + r] : 0;
    }
    return square > 0 ? inertia / square : 0;
}

/* Reads the numbers of one block and takes the rows that raise its rank. */
static void choose_rows(hmi_schur_builder *b, const block *own, sample *s)
{
    uint32_t size = own->size;
    double M[LARGEST_BLOCK * LARGEST_BLOCK], S[LARGEST_BLOCK * LARGEST_BLOCK];
    for (uint32_t r = 0; r < size; r++)
        for (uint32_t k = 0; k <= r; k++)
            M[r * size + k] = M[k * size + r] = *s->next++;
    uint32_t rank = rank_of(size, M);
    for (size_t t = 0; t < own->rows; t++) {
        if (!is_within(b, own, t))
            continue;
        const double *row = s->next;
        uint32_t constraint = b->touching[own->row + t].constraint;
        s->next += size;
        if (rank == size)
            continue;
        double weight = number_weight(size, M, row);
        for (uint32_t r = 0; r < size; r++)
            for (uint32_t k = 0; k < size; k++)
                S[r * size + k] = M[r * size + k] + weight * row[r] * row[k];
        uint32_t with_row = rank_of(size, S);
        if (with_row <= rank)
            continue;
        memcpy(M, S, sizeof M);
        rank = with_row;
        b->weight[constraint] = weight_of(b, own, constraint);
        b->s->shifted++;
    }
}

hm_status hmi_schur_find_shifts(hmi_schur_builder *b)
{
    sample s = {0};
    if (!count_touches(b))
        return HM_ERR_NOMEM;
    hm_status status = list_outputs(b, &s) ? HM_OK : HM_ERR_NOMEM;
    if (status == HM_OK && s.outputs.count)
        status = take_sample(b, &s);
    for (size_t c = 0; c < b->blocks.count && s.next && status == HM_OK; c++)
        if (may_be_shifted(b, &b->blocks.data[c]))
            choose_rows(b, &b->blocks.data[c], &s);
    hmi_tape_release(&s.tape);
    hmi_array_release(b->allocator, &s.outputs);
    return status == HM_OK ? b->g->status : status;
}

hmi_expr hmi_schur_block_entry(hmi_schur_builder *b, const block *own, uint32_t r, uint32_t k)
{
    hmi_graph *g = b->g;
    hmi_expr sum = hmi_mass_entry(b->eq, b->coordinate[own->first + r],
                                  b->coordinate[own->first + k]);
    for (size_t t = 0; b->s->shifted && t < own->rows; t++) {
        uint32_t row = b->touching[own->row + t].constraint;
        if (b->weight[row] == HMI_NONE)
            continue;
        hmi_expr product = hmi_mul(g, row_entry(b, row, own, r), row_entry(b, row, own, k));
        sum = hmi_add(g, sum, hmi_mul(g, b->weight[row], product));
    }
    return sum;
}

hmi_expr hmi_schur_block_force(hmi_schur_builder *b, const block *own, uint32_t r)
{
    hmi_graph *g = b->g;
    uint32_t i = b->coordinate[own->first + r];
    hmi_expr force = b->eq->Q[i];
    if (b->eq->has_nonideal)
        force = hmi_add(g, force, b->eq->C[i]);
    for (size_t t = 0; b->s->shifted && t < own->rows; t++) {
        uint32_t row = b->touching[own->row + t].constraint;
        if (b->weight[row] == HMI_NONE)
            continue;
        hmi_expr pull = hmi_mul(g, b->weight[row], b->eq->constraints.b[row]);
        force = hmi_add(g, force, hmi_mul(g, row_entry(b, row, own, r), pull));
    }
    return force;
}
