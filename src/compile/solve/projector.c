/* Writes the projection onto some constraints as expressions and compiles them to a tape. */
#include "compile/solve/projector.h"

#include "compile/solve/motion.h"
#include "compile/jit/assemble.h"

typedef struct builder {
    const hmi_projector_request *ask;
    hmi_graph *graph;
    hmi_arena arena;
    hmi_schur schur;
    hmi_expr *b, *a, *lambda, *outputs;
} builder;

/* The pattern of row i of the request: from the result up to *end. */
static size_t row_start(const builder *w, size_t i, size_t *end)
{
    const hmi_schur_input *in = &w->ask->matrices;
    size_t row = in->rows ? in->rows[i] : i;
    *end = in->A_pattern->start[row + 1];
    return in->A_pattern->start[row];
}

static size_t count_entries(const builder *w)
{
    size_t count = 0, end;
    for (size_t i = 0; i < w->ask->matrices.m; i++) {
        size_t start = row_start(w, i, &end);
        count += end - start;
    }
    return count;
}

static hm_status allocate(builder *w)
{
    size_t n = w->ask->matrices.n, m = w->ask->matrices.m;
    w->b = hmi_arena_alloc(&w->arena, (m + 1) * sizeof *w->b);
    w->a = hmi_arena_alloc(&w->arena, (n + 1) * sizeof *w->a);
    w->lambda = hmi_arena_alloc(&w->arena, (m + 1) * sizeof *w->lambda);
    w->outputs = hmi_arena_alloc(&w->arena, (n + m + 1 + count_entries(w)) * sizeof *w->outputs);
    return w->b && w->a && w->lambda && w->outputs ? HM_OK : HM_ERR_NOMEM;
}

/* Sum |A_kj x_j| in the order of the entries, as hmi_row_terms adds. */
static hmi_expr terms_of_row(builder *w, size_t i)
{
    const hmi_schur_input *in = &w->ask->matrices;
    hmi_graph *g = w->graph;
    hmi_expr sum = g->zero;
    size_t end;
    for (size_t k = row_start(w, i, &end); k < end; k++) {
        hmi_expr x = hmi_symbol(g, w->ask->x, in->A_pattern->column.data[k]);
        hmi_expr term = hmi_plain_mul(g, in->A[k], x);
        sum = hmi_plain_add(g, sum, hmi_apply(g, HMI_ABS, term, 0, 0));
    }
    return sum;
}

static size_t put_entries(builder *w, size_t at)
{
    size_t end;
    for (size_t i = 0; i < w->ask->matrices.m; i++)
        for (size_t k = row_start(w, i, &end); k < end; k++)
            w->outputs[at++] = w->ask->matrices.A[k];
    return at;
}

static hm_status build(builder *w, hmi_projector_tape *projector)
{
    const hmi_schur_input *in = &w->ask->matrices;
    size_t n = in->n, m = in->m;
    hm_status status = allocate(w);
    if (status == HM_OK)
        status = hmi_schur_init(&w->schur, w->graph, &w->arena, in,
                                w->graph->nodes.count + HMI_MOST_MOTION);
    if (status != HM_OK)
        return status;
    for (size_t i = 0; i < m; i++)
        w->b[i] = hmi_symbol(w->graph, HMI_SYM_MULTIPLIER, (uint32_t)i);
    hmi_schur_scale(&w->schur, w->b);
    status = hmi_schur_multipliers(&w->schur, NULL, w->b, w->a, w->lambda);
    if (status != HM_OK)
        return status;
    hmi_schur_accelerations(&w->schur, w->a, w->lambda, w->outputs);
    projector->sizes = n;
    for (size_t i = 0; i < m; i++)
        w->outputs[n + i] = terms_of_row(w, i);
    projector->margin = n + m;
    w->outputs[n + m] = hmi_schur_finite_margin(&w->schur, w->outputs, n);
    projector->rows = n + m + 1;
    size_t count = put_entries(w, projector->rows);
    return w->graph->status == HM_OK
               ? hmi_tape_compile(&projector->tape, w->graph, w->outputs, count)
               : w->graph->status;
}

hm_status hmi_projector_compile(hmi_projector_tape *projector, const hmi_projector_request *request)
{
    *projector = (hmi_projector_tape){0};
    builder w = {.ask = request, .graph = request->graph};
    hmi_arena_init(&w.arena, request->graph->allocator);
    hm_status status = build(&w, projector);
    hmi_arena_release(&w.arena);
    return status;
}

void hmi_projector_release(hmi_projector_tape *projector)
{
    hmi_tape_release(&projector->tape);
}
