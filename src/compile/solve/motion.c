/* Writes accelerations, rates, powers and multipliers as expressions behind those of the equations, and
 * compiles them to the motion tape. */
#include "compile/solve/motion.h"
#include "compile/jit/assemble.h"

typedef struct builder {
    const hmi_motion_request *ask;
    hmi_graph *graph;
    hmi_arena *arena;
    hmi_schur schur;
    size_t n, m;
    hmi_expr *b, *force;                   /* m scaled, n */
    hmi_expr *a, *lambda, *a_C, *lambda_C; /* n, m; those of C only where its power is wanted */
    hmi_expr *outputs;
    size_t count;
} builder;

static hmi_expr *expressions(builder *w, size_t count, bool *failed)
{
    hmi_expr *list = hmi_arena_alloc(w->arena, (count + 1) * sizeof *list);
    *failed |= !list;
    return list;
}

static hm_status allocate(builder *w)
{
    const hmi_motion_request *ask = w->ask;
    bool failed = false;
    w->b = expressions(w, w->m, &failed);
    w->force = expressions(w, w->n, &failed);
    w->a = expressions(w, w->n, &failed);
    w->a_C = expressions(w, w->n, &failed);
    w->lambda = expressions(w, w->m, &failed);
    w->lambda_C = expressions(w, w->m, &failed);
    w->outputs = expressions(w, w->n + w->m + ask->rate_count + ask->power_count + 3, &failed);
    return failed ? HM_ERR_NOMEM : HM_OK;
}

static void put(builder *w, hmi_expr e)
{
    w->outputs[w->count++] = e;
}

/* ---- powers of constraint forces ---- */

/* Sum of lambda_i (A_i q') over rows without their factors. */
static hmi_expr power_of(builder *w, const hmi_expr *lambda)
{
    hmi_graph *g = w->graph;
    hmi_expr sum = g->zero;
    for (size_t i = 0; i < w->m; i++) {
        const hmi_expr *row = w->schur.A + i * w->n;
        hmi_expr speed = g->zero;
        for (size_t j = 0; j < w->n; j++)
            if (row[j] != g->zero) {
                hmi_expr v = hmi_symbol(g, HMI_SYM_VELOCITY, (uint32_t)j);
                speed = hmi_plain_add(g, speed, hmi_plain_mul(g, row[j], v));
            }
        sum = hmi_plain_add(g, sum, hmi_plain_mul(g, lambda[i], speed));
    }
    return hmi_schur_plain_multiplier(&w->schur, sum);
}

static hmi_expr power_of_nonideal(builder *w)
{
    hmi_graph *g = w->graph;
    hmi_expr sum = power_of(w, w->lambda_C);
    for (size_t j = 0; j < w->n; j++) {
        hmi_expr v = hmi_symbol(g, HMI_SYM_VELOCITY, (uint32_t)j);
        sum = hmi_plain_add(g, sum, hmi_plain_mul(g, w->ask->C[j], v));
    }
    return sum;
}

/* ---- the whole ---- */

/* a, lambda of Q alone and a_C, lambda_C of C; or of their sum at once where nobody asks. */
static hm_status solve(builder *w)
{
    const hmi_motion_request *ask = w->ask;
    hmi_graph *g = w->graph;
    bool apart = ask->C && (ask->ideal_power || ask->nonideal_power);
    for (size_t j = 0; j < w->n; j++)
        w->force[j] = ask->C && !apart ? hmi_plain_add(g, ask->Q[j], ask->C[j]) : ask->Q[j];
    for (size_t i = 0; i < w->m; i++)
        w->b[i] = ask->b[ask->matrices.rows ? ask->matrices.rows[i] : i];
    hmi_schur_scale(&w->schur, w->b);
    hm_status status = hmi_schur_multipliers(&w->schur, w->force, w->b, w->a, w->lambda);
    if (status == HM_OK && apart)
        status = hmi_schur_multipliers(&w->schur, ask->C, NULL, w->a_C, w->lambda_C);
    return status;
}

/* Powers first: they need the multipliers apart. */
static void put_powers(builder *w)
{
    const hmi_motion_request *ask = w->ask;
    for (size_t k = 0; k < ask->power_count; k++)
        put(w, ask->powers[k]);
    if (ask->ideal_power)
        put(w, power_of(w, w->lambda));
    if (ask->nonideal_power)
        put(w, power_of_nonideal(w));
}

static void join_parts(builder *w)
{
    const hmi_motion_request *ask = w->ask;
    if (!ask->C || !(ask->ideal_power || ask->nonideal_power))
        return;
    for (size_t j = 0; j < w->n; j++)
        w->a[j] = hmi_plain_add(w->graph, w->a[j], w->a_C[j]);
    for (size_t i = 0; i < w->m; i++)
        w->lambda[i] = hmi_plain_add(w->graph, w->lambda[i], w->lambda_C[i]);
}

/* All outputs as expressions. */
static hm_status write(builder *w, hmi_motion_layout *motion)
{
    const hmi_motion_request *ask = w->ask;
    size_t most = ask->matrices.tree ? HMI_MOST_TREE : HMI_MOST_MOTION;
    hm_status status = allocate(w);
    if (status == HM_OK)
        status = hmi_schur_init(&w->schur, w->graph, w->arena, &ask->matrices,
                                w->graph->nodes.count + most);
    if (status == HM_OK)
        status = solve(w);
    if (status != HM_OK)
        return status;
    w->count = w->n; /* q'' comes last */
    motion->rates = w->count;
    for (size_t k = 0; k < ask->rate_count; k++)
        put(w, ask->rates[k]);
    motion->powers = w->count;
    put_powers(w);
    motion->power_count = w->count - motion->powers;
    join_parts(w);
    hmi_schur_accelerations(&w->schur, w->a, w->lambda, w->outputs);
    hmi_schur_check(&w->schur, w->b, w->a, w->outputs);
    motion->margin = w->count;
    put(w, hmi_schur_finite_margin(&w->schur, w->outputs, w->count));
    motion->lambda = w->count;
    for (size_t i = 0; i < w->m; i++)
        put(w, hmi_schur_model_multiplier(&w->schur, i, w->lambda[i]));
    motion->count = w->count;
    return w->graph->status;
}

static builder begin(const hmi_motion_request *request, hmi_arena *arena)
{
    return (builder){.ask = request,
                     .graph = request->graph,
                     .arena = arena,
                     .n = request->matrices.n,
                     .m = request->matrices.m};
}

hm_status hmi_motion_write(const hmi_motion_request *request, hmi_arena *arena,
                           hmi_motion_layout *layout, hmi_expr **outputs)
{
    builder w = begin(request, arena);
    *layout = (hmi_motion_layout){0};
    hm_status status = write(&w, layout);
    hmi_schur_release(&w.schur);
    *outputs = w.outputs;
    return status;
}

hm_status hmi_motion_compile(hmi_motion_tape *motion, const hmi_motion_request *request)
{
    hmi_arena arena;
    hmi_expr *outputs;
    *motion = (hmi_motion_tape){0};
    hmi_arena_init(&arena, request->graph->allocator);
    hm_status status = hmi_motion_write(request, &arena, &motion->at, &outputs);
    if (status == HM_OK)
        status = hmi_tape_compile(&motion->tape, request->graph, outputs, motion->at.count);
    hmi_arena_release(&arena);
    return status;
}

/* A motion that is written and not compiled yet. */
typedef struct draft {
    const hmi_motion_request *request;
    hmi_arena arena;
    hmi_motion_layout at;
    hmi_expr *outputs;
} draft;

static hm_status write_draft(draft *d, const hmi_motion_request *request)
{
    *d = (draft){.request = request};
    hmi_arena_init(&d->arena, request->graph->allocator);
    return hmi_motion_write(request, &d->arena, &d->at, &d->outputs);
}

static hm_status compile_draft(const draft *d, hmi_motion_tape *motion)
{
    *motion = (hmi_motion_tape){.at = d->at, .by_tree = d->request->matrices.tree != NULL};
    return hmi_tape_compile(&motion->tape, d->request->graph, d->outputs, d->at.count);
}

/* Operations below the outputs; SIZE_MAX without memory. */
static size_t operations(const draft *d)
{
    const hmi_graph *graph = d->request->graph;
    hmi_walk walk;
    hmi_walk_init(&walk, graph->allocator);
    hm_status status = hmi_walk_begin(&walk, graph);
    for (size_t k = 0; status == HM_OK && k < d->at.count; k++)
        if (d->outputs[k] != HMI_NONE)
            status = hmi_walk_add(&walk, graph, d->outputs[k], 0xFFFF);
    size_t count = status == HM_OK ? walk.order.count : SIZE_MAX;
    hmi_walk_release(&walk);
    return count;
}

/* A dense M takes at least this many products. */
static bool surely_less(const hmi_motion_request *tree, size_t count)
{
    const hmi_expr_matrix *M = tree->matrices.M_pattern;
    size_t n = tree->matrices.n;
    return M->column.count == n * (n + 1) / 2 && count < n * n * n / 6;
}

/* Is the way by M at most as long? Then it is compiled. */
static bool compile_shorter(hmi_motion_tape *motion, const hmi_motion_request *request,
                            size_t count, hm_status *status)
{
    draft plain;
    bool shorter = write_draft(&plain, request) == HM_OK && operations(&plain) <= count;
    if (shorter)
        *status = compile_draft(&plain, motion);
    hmi_arena_release(&plain.arena);
    return shorter;
}

static hm_status compile_tree(hmi_motion_tape *motion, const hmi_motion_request *request,
                              const hmi_motion_tree *tree)
{
    hmi_motion_request along = *request;
    draft d;
    along.graph = tree->graph;
    along.matrices.tree = tree->form;
    along.Q = tree->form->Q.data;
    hm_status status = write_draft(&d, &along);
    size_t count = status == HM_OK ? operations(&d) : 0;
    if (status == HM_OK && (tree->alone || surely_less(&along, count) ||
                            !compile_shorter(motion, request, count, &status)))
        status = compile_draft(&d, motion);
    hmi_arena_release(&d.arena);
    return status;
}

hm_status hmi_motion_compile_best(hmi_motion_tape *motion, const hmi_motion_request *request,
                                  const hmi_motion_tree *tree)
{
    *motion = (hmi_motion_tape){0};
    hm_status status = tree ? compile_tree(motion, request, tree) : HM_ERR_USAGE;
    if ((status != HM_ERR_USAGE && status != HM_ERR_LIMIT) || (tree && tree->alone))
        return status;
    return hmi_motion_compile(motion, request);
}

void hmi_motion_release(hmi_motion_tape *motion)
{
    hmi_tape_release(&motion->tape);
}
