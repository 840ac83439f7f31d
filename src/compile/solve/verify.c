/* The invariants of compiled solves, executed: see verify.h. */
#include "compile/solve/verify.h"

#include "compile/array/verify.h"

#include <string.h>

/* ---- the elimination on the graph ---- */

static const char *check_pivot(const hmi_elimination *e, const hmi_graph *g, size_t k,
                               hmi_violation *violation)
{
    size_t n = e->n, p = e->order[k];
    if (p >= n || e->rank_of[p] != k)
        return hmi_violated(violation, "the order of elimination has no row at place %zu", k);
    if (e->pivot[p] == HMI_NONE || e->pivot[p] == g->zero || e->inverse[p] == HMI_NONE)
        return hmi_violated(violation, "row %zu has no pivot that can be divided by", p);
    for (size_t i = 0; i < n; i++) {
        bool was = e->S[p * n + i] != g->zero, is = e->S[i * n + p] != g->zero;
        if (e->rank_of[i] > k && was != is)
            return hmi_violated(violation, "entry (%zu, %zu) of L does not come from row %zu", i, p,
                                p);
    }
    return NULL;
}

const char *hmi_elimination_verify(const hmi_elimination *e, const hmi_graph *g,
                                   hmi_violation *violation)
{
    const char *wrong = NULL;
    for (size_t k = 0; k < e->n && !wrong; k++)
        wrong = check_pivot(e, g, k, violation);
    return wrong;
}

/* ---- the constraint problem of blocks ---- */

static const char *check_order(const hmi_block_schur *s, hmi_violation *violation)
{
    const hm_allocator allocator = hm_allocator_default();
    const char *wrong = NULL;
    uint8_t *seen = hmi_alloc(&allocator, s->m + 1);
    if (!seen)
        return NULL;
    memset(seen, 0, s->m + 1);
    for (size_t k = 0; k < s->m && !wrong; k++)
        if (s->order[k] >= s->m || seen[s->order[k]]++)
            wrong = hmi_violated(violation, "the order of G has no constraint at place %zu", k);
    hmi_free(&allocator, seen, s->m + 1);
    return wrong;
}

static const char *check_row(const hmi_block_schur *s, size_t k, hmi_violation *violation)
{
    size_t first = s->start[k], end = s->start[k + 1];
    if (end <= first || s->column[end - 1] != k)
        return hmi_violated(violation, "row %zu of G does not end with its diagonal", k);
    for (size_t i = first + 1; i < end; i++)
        if (s->column[i] <= s->column[i - 1])
            return hmi_violated(violation, "the columns of row %zu of G do not ascend", k);
    return NULL;
}

static const char *check_layout(const hmi_block_schur *s, hmi_violation *violation)
{
    const hmi_block_schur_layout *at = &s->at;
    size_t gram = s->banded ? (s->width + 1) * s->m : s->start[s->m];
    if (at->gram != 0 || at->right != gram || at->checks != at->right + s->m ||
        at->state_rates != at->checks + at->check_count || at->acceleration < at->state_rates ||
        at->met != at->acceleration + s->n || at->count != at->met + s->shifted ||
        at->count != s->code.output_count)
        return hmi_violated(violation, "the outputs of the constraint problem are laid out wrong");
    return NULL;
}

const char *hmi_block_schur_verify(const hmi_block_schur *s, hmi_violation *violation)
{
    const char *wrong = check_order(s, violation);
    for (size_t k = 0; k < s->m && !s->banded && !wrong; k++)
        wrong = check_row(s, k, violation);
    if (!wrong)
        wrong = check_layout(s, violation);
    return wrong ? wrong : hmi_array_code_verify(&s->code, violation);
}
