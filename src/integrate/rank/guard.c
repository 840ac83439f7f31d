/* Memory of the guard: which rows are watched, and whether as dense or as sparse ones. */
#include "integrate/rank/guard.h"

#include "derive/voronets.h"

/* Sparse rows are watched where that is so many times cheaper than dense ones. */
#define FAR_CHEAPER 4

/* The pattern of the watched level's rows; NULL arrays where there is no memory. */
static hmi_row_pattern pattern_of(const hmi_guard *g)
{
    const hmi_projection_level *level = &g->projection->velocity;
    const hmi_expr_matrix *A = &g->ode->sim->system->derived.constraints.A;
    size_t entries = 0;
    for (size_t k = 0; k < level->count; k++)
        entries += A->start[level->row[k] + 1] - A->start[level->row[k]];
    size_t *start = hmi_arena_alloc(g->arena, (level->count + 1) * sizeof *start), at = 0;
    uint32_t *column = hmi_arena_alloc(g->arena, (entries + 1) * sizeof *column);
    for (size_t k = 0; start && column && k < level->count; k++) {
        size_t first = A->start[level->row[k]], end = A->start[level->row[k] + 1];
        start[k] = at;
        for (size_t entry = first; entry < end; entry++) /* a row may have no entries at all */
            column[at++] = A->column.data[entry];
        start[k + 1] = at;
    }
    return (hmi_row_pattern){level->count, g->ode->n, column ? start : NULL, column};
}

/* Dense products cost m^2 n/2 operations, which vector units do four at a time. */
static bool sparse_pays(const hmi_guard *g, const hmi_row_products *sparse)
{
    double m = (double)g->projection->velocity.count, n = (double)g->ode->n;
    return !g->ode->sim->dense.dynamics ||
           m * m * n / 8 > FAR_CHEAPER * hmi_row_products_cost(sparse);
}

static hm_status init_rank_watch(hmi_guard *g)
{
    size_t m = g->projection->velocity.count;
    const hm_sim *sim = g->ode->sim;
    hmi_row_products *sparse = NULL;
    if (m == 0 || sim->contacts ||
        hmi_rows_are_explicit(&sim->system->derived)) /* these do not lose rank */
        return HM_OK;
    const hmi_row_pattern pattern = pattern_of(g);
    if (!pattern.start)
        return HM_ERR_NOMEM;
    hm_status status = hmi_row_products_create(sim->system->allocator, g->arena, &pattern, &sparse);
    if (status != HM_OK)
        return status;
    if (sparse && sparse_pays(g, sparse))
        return hmi_rank_watch_allocate_sparse(&g->rank, g->arena, sparse, g->ode->size);
    if (!sim->dense.dynamics) /* too large for dense products */
        return HM_OK;
    status = hmi_projection_keep_rows(g->projection, g->arena);
    if (status != HM_OK)
        return status;
    return hmi_rank_watch_allocate(&g->rank, g->arena, m, g->ode->n, g->ode->size);
}

hm_status hmi_guard_init(hmi_guard *g, hmi_projection *projection, hmi_stepper *stepper,
                         hmi_messages *messages, hmi_arena *arena)
{
    bool failed = false;
    *g = (hmi_guard){.ode = projection->ode,
                     .projection = projection,
                     .stepper = stepper,
                     .messages = messages,
                     .arena = arena};
    g->rates = hmi_arena_doubles(arena, g->ode->size, &failed);
    hm_status status = failed ? HM_ERR_NOMEM : init_rank_watch(g);
    return status == HM_OK ? hmi_row_choice_init(g) : status;
}
