/* Compiled solves as text: see dump.h. */
#include "compile/solve/dump.h"

#include "compile/array/dump.h"

/* ---- everything in one tape ---- */

static size_t factor_entries(const hmi_elimination *e, const hmi_graph *g)
{
    size_t count = 0;
    for (size_t i = 0; i < e->n; i++)
        for (size_t p = 0; p < e->n; p++)
            count += e->rank_of[i] > e->rank_of[p] && e->S[i * e->n + p] != g->zero;
    return count;
}

void hmi_schur_dump(const hmi_schur *s, const hmi_schur_input *input, const hmi_namer *symbols,
                    hmi_text *text)
{
    hmi_text_addf(text, "  M = L E L^T: %zu entries of L below the diagonal; order",
                  factor_entries(&s->M, s->graph));
    for (size_t k = 0; k < s->n; k++) {
        hmi_text_add(text, k ? ", " : " ");
        hmi_dump_symbol(symbols, HMI_SYM_COORD, (uint32_t)s->M.order[k], text);
    }
    hmi_text_add(text, "\n");
    if (s->m == 0)
        return;
    hmi_text_addf(text, "  G = A M^-1 A^T = L E L^T: %zu entries of L below the diagonal; order",
                  factor_entries(&s->G, s->graph));
    for (size_t k = 0; k < s->m; k++) {
        size_t row = s->G.order[k];
        hmi_text_add(text, k ? ", " : " ");
        symbols->name(symbols->user, HMI_SYM_MULTIPLIER,
                      (uint32_t)(input->rows ? input->rows[row] : row), text);
    }
    hmi_text_add(text, "\n");
    if (s->unit != HMI_NONE)
        hmi_text_add(text, "  all inertias that constraints touch are one expression, and G is "
                           "formed without it\n");
}

/* ---- array code ---- */

void hmi_block_schur_dump(const hmi_block_schur *s, const hmi_namer *symbols, hmi_text *text)
{
    hmi_text_addf(text, "  M is %s; %zu of its pivots are watched\n",
                  s->diagonal ? "diagonal" : "made of small blocks", s->at.check_count);
    if (s->shifted)
        hmi_text_addf(text,
                      "  blocks of M are singular: A^T V A of %zu rows that lie within them is "
                      "added\n",
                      s->shifted);
    if (s->banded)
        hmi_text_addf(text, "  G has %zu rows in a band of width %zu: a band solver factors it\n",
                      s->m, s->width);
    else
        hmi_text_addf(text,
                      "  G has %zu rows with %zu entries in its lower triangle: rows are taken in "
                      "the order of minimum degree\n",
                      s->m, s->start[s->m]);
    hmi_text_add(text, "  rows in the order");
    for (size_t k = 0; k < s->m; k++) {
        hmi_text_add(text, k ? ", " : " ");
        symbols->name(symbols->user, HMI_SYM_MULTIPLIER, s->order[k], text);
    }
    hmi_text_add(text, "\n");
    hmi_array_code_dump(&s->code, symbols, text);
}
