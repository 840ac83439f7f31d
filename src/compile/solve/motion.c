/* Writes accelerations, rates, powers and multipliers as expressions behind those of the equations, and
 * compiles them to the motion tape. */
#include "compile/solve/motion.h"
#include "compile/jit/assemble.h"

typedef struct builder {
    const hmi_motion_request *ask;
    hmi_graph *graph;
    hmi_arena arena;
    hmi_schur schur;
    size_t n, m;
    hmi_expr *b, *force;                   /* m scaled, n */
    hmi_expr *a, *lambda, *a_C, *lambda_C; /* n, m; those of C only where its power is wanted */
    hmi_expr *outputs;
    size_t count;
} builder;

static hmi_expr *expressions(builder *w, size_t count, bool *failed)
{
    hmi_expr *list = hmi_arena_alloc(&w->arena, (count + 1) * sizeof *list);
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
static hm_status write_outputs(builder *w, hmi_motion_tape *motion)
{
    const hmi_motion_request *ask = w->ask;
    size_t most = ask->matrices.tree ? HMI_MOST_TREE : HMI_MOST_MOTION;
    hm_status status = allocate(w);
    if (status == HM_OK)
        status = hmi_schur_init(&w->schur, w->graph, &w->arena, &ask->matrices,
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
    motion->by_tree = ask->matrices.tree != NULL;
    return w->graph->status;
}

static hm_status begin(builder *w, const hmi_motion_request *request, hmi_motion_tape *motion)
{
    *motion = (hmi_motion_tape){0};
    *w = (builder){.ask = request, .graph = request->graph};
    w->n = request->matrices.n;
    w->m = request->matrices.m;
    hmi_arena_init(&w->arena, request->graph->allocator);
    return write_outputs(w, motion);
}

static void end(builder *w)
{
    hmi_schur_release(&w->schur);
    hmi_arena_release(&w->arena);
}

static hm_status compile(builder *w, hmi_motion_tape *motion)
{
    return hmi_tape_compile(&motion->tape, w->graph, w->outputs, w->count);
}

hm_status hmi_motion_compile(hmi_motion_tape *motion, const hmi_motion_request *request)
{
    builder w;
    hm_status status = begin(&w, request, motion);
    if (status == HM_OK)
        status = compile(&w, motion);
    end(&w);
    return status;
}

/* Operations below the outputs; SIZE_MAX without memory. */
static size_t operations(const builder *w)
{
    hmi_walk walk;
    hmi_walk_init(&walk, w->graph->allocator);
    hm_status status = hmi_walk_begin(&walk, w->graph);
    for (size_t k = 0; status == HM_OK && k < w->count; k++)
        if (w->outputs[k] != HMI_NONE)
            status = hmi_walk_add(&walk, w->graph, w->outputs[k], 0xFFFF);
    size_t count = status == HM_OK ? walk.order.count : SIZE_MAX;
    hmi_walk_release(&walk);
    return count;
}

/* A dense M takes at least this many products. */
static bool surely_less(const builder *tree, size_t count)
{
    const hmi_expr_matrix *M = tree->ask->matrices.M_pattern;
    size_t n = tree->n;
    return M->column.count == n * (n + 1) / 2 && count < n * n * n / 6;
}

/* Is the way by M at most as long? Then it is compiled. */
static bool compile_shorter(hmi_motion_tape *motion, const hmi_motion_request *request,
                            size_t count, hm_status *status)
{
    builder plain;
    hmi_motion_tape other;
    bool shorter = begin(&plain, request, &other) == HM_OK && operations(&plain) <= count;
    if (shorter) {
        *motion = other;
        *status = compile(&plain, motion);
    }
    end(&plain);
    return shorter;
}

static hm_status compile_tree(hmi_motion_tape *motion, const hmi_motion_request *request,
                              const hmi_motion_tree *tree)
{
    hmi_motion_request along = *request;
    builder w;
    along.graph = tree->graph;
    along.matrices.tree = tree->form;
    along.Q = tree->form->Q.data;
    hm_status status = begin(&w, &along, motion);
    size_t count = status == HM_OK ? operations(&w) : 0;
    if (status == HM_OK && (tree->alone || surely_less(&w, count) ||
                            !compile_shorter(motion, request, count, &status)))
        status = compile(&w, motion);
    end(&w);
    return status;
}

hm_status hmi_motion_compile_best(hmi_motion_tape *motion, const hmi_motion_request *request,
                                  const hmi_motion_tree *tree)
{
    hm_status status = tree ? compile_tree(motion, request, tree) : HM_ERR_USAGE;
    if ((status != HM_ERR_USAGE && status != HM_ERR_LIMIT) || (tree && tree->alone))
        return status;
    return hmi_motion_compile(motion, request);
}

void hmi_motion_release(hmi_motion_tape *motion)
{
    hmi_tape_release(&motion->tape);
}
