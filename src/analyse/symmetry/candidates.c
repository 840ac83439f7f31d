/* Gathers the quantities of which combinations may be first integrals (conserved.h). */
#include "analyse/symmetry/conserved.h"

/* Fewer candidates where the equations are long: each is evaluated at as many states. */
enum { MOST_CANDIDATES = 110, LEAST_CANDIDATES = 40, MOST_WORK = 60000 };
enum { MOST_FUNCTIONS = 8, MOST_BODIES = 60 };

static size_t most_candidates(const hmi_conserved *in)
{
    size_t most = MOST_WORK / (in->forms->system->dynamics.node_count + 1);
    return most > MOST_CANDIDATES    ? MOST_CANDIDATES
           : most < LEAST_CANDIDATES ? LEAST_CANDIDATES
                                     : most;
}

static hm_status add(hmi_conserved *in, hmi_candidate candidate)
{
    if (candidate.value == HMI_NONE || in->forms->graph.status != HM_OK)
        return in->forms->graph.status != HM_OK ? in->forms->graph.status : HM_ERR_NOMEM;
    if (candidate.value == in->forms->graph.zero || in->candidates.count >= most_candidates(in))
        return HM_OK;
    return hmi_array_push(in->forms->allocator, &in->candidates, candidate) ? HM_OK : HM_ERR_NOMEM;
}

/* f p_i or f q'_i */
static hm_status add_product(hmi_conserved *in, hmi_candidate_kind kind, hmi_expr f, size_t i,
                             uint32_t clutter)
{
    hmi_graph *graph = &in->forms->graph;
    hmi_expr base = kind == HMI_MOMENTUM ? in->forms->system->derived.momentum[i]
                                         : hmi_symbol(graph, HMI_SYM_VELOCITY, (uint32_t)i);
    return add(in, (hmi_candidate){kind, hmi_mul(graph, f, base), f, (uint32_t)i, clutter});
}

/* ---- functions that occur ---- */

typedef struct functions {
    hmi_expr list[MOST_FUNCTIONS];
    size_t count;
} functions;

/* A function of coordinates and time that is neither a number nor a coordinate. */
static void note(const hmi_graph *graph, functions *f, hmi_expr e)
{
    const uint16_t fixed = HMI_DEP(HMI_SYM_PARAM);
    const uint16_t allowed = fixed | HMI_DEP(HMI_SYM_COORD) | HMI_DEP(HMI_SYM_TIME);
    uint16_t deps = hmi_deps(graph, e);
    if ((deps & ~allowed) || !(deps & ~fixed) || hmi_op_of(graph, e) == HMI_SYMBOL)
        return;
    for (size_t k = 0; k < f->count; k++)
        if (f->list[k] == e)
            return;
    if (f->count < MOST_FUNCTIONS)
        f->list[f->count++] = e;
}

/* Sines, cosines and the like below e. */
static hm_status note_atoms(hmi_forms *forms, functions *f, const hmi_expr *list, size_t count)
{
    hmi_walk walk;
    hmi_walk_init(&walk, forms->allocator);
    hm_status status = hmi_walk_begin(&walk, &forms->graph);
    for (size_t i = 0; i < count && status == HM_OK; i++)
        status = hmi_walk_add(&walk, &forms->graph, list[i], 0xFFFF);
    for (size_t i = 0; i < walk.order.count && status == HM_OK; i++) {
        hmi_op op = hmi_op_of(&forms->graph, walk.order.data[i]);
        if (op == HMI_SIN || op == HMI_COS || op == HMI_EXP || op == HMI_SQRT)
            note(&forms->graph, f, walk.order.data[i]);
    }
    hmi_walk_release(&walk);
    return status;
}

static hm_status find_functions(hmi_forms *forms, functions *f)
{
    const hmi_derived *d = &forms->system->derived;
    const hmi_expr_matrix *A = &d->constraints.A;
    hm_status status = note_atoms(forms, f, A->value.data, A->value.count);
    if (status == HM_OK)
        status = note_atoms(forms, f, d->M.value.data, d->M.value.count);
    for (size_t k = 0; k < A->value.count; k++)
        note(&forms->graph, f, A->value.data[k]);
    for (size_t k = 0; k < d->M.value.count; k++)
        note(&forms->graph, f, d->M.value.data[k]);
    return status;
}

/* ---- bodies ---- */

static hmi_expr moment(hmi_graph *g, const hmi_body *body, int i, int j)
{
    hmi_expr one = hmi_mul(g, body->at[i], body->velocity[j]);
    return hmi_mul(g, body->mass, hmi_sub(g, one, hmi_mul(g, body->at[j], body->velocity[i])));
}

/* Component k of the momentum (0 1 2) or of the angular momentum about the origin (3 4 5). */
static hmi_expr body_momentum(hmi_graph *g, const hmi_body *body, int k)
{
    bool space = body->dimension == 3;
    if (k < 3)
        return k < body->dimension ? hmi_mul(g, body->mass, body->velocity[k]) : g->zero;
    if (!space && k < 5)
        return g->zero;
    int axis = k - 3;
    return hmi_add(g, moment(g, body, (axis + 1) % 3, (axis + 2) % 3),
                   body->spin[space ? axis : 0]);
}

/* In the plane component 5 takes x and y, which are 0 and 1 as in space. */
static hm_status add_bodies(hmi_conserved *in)
{
    const hm_model *model = in->forms->model;
    hmi_graph *graph = &in->forms->graph;
    hm_status status = HM_OK;
    if (!model->bodies.count || model->bodies.count > MOST_BODIES)
        return HM_OK;
    for (int k = 0; k < 6 && status == HM_OK; k++) {
        hmi_expr sum = graph->zero;
        for (size_t i = 0; i < model->bodies.count; i++)
            sum = hmi_add(graph, sum, body_momentum(graph, &model->bodies.data[i], k));
        status = add(in, (hmi_candidate){HMI_BODIES, sum, HMI_NONE, (uint32_t)k, 3});
    }
    return status;
}

/* ---- all ---- */

static hm_status add_affine(hmi_conserved *in)
{
    hmi_graph *graph = &in->forms->graph;
    size_t n = in->forms->n;
    hm_status status = HM_OK;
    for (size_t i = 0; i < n && status == HM_OK; i++)
        status = add_product(in, HMI_MOMENTUM, graph->one, i, 1);
    if (status == HM_OK)
        status = add_bodies(in);
    for (size_t i = 0; i < n; i++)
        for (size_t j = 0; j < n && status == HM_OK; j++)
            if (hmi_affine_pair(n, i, j))
                status = add_product(in, HMI_MOMENTUM,
                                     hmi_symbol(graph, HMI_SYM_COORD, (uint32_t)j), i, 2);
    return status;
}

static hm_status add_functions(hmi_conserved *in)
{
    functions f = {.count = 0};
    size_t n = in->forms->n;
    hm_status status = find_functions(in->forms, &f);
    for (size_t k = 0; k < f.count; k++)
        for (size_t i = 0; i < n && status == HM_OK; i++)
            status = add_product(in, HMI_MOMENTUM, f.list[k], i, 4);
    for (size_t i = 0; i < n && status == HM_OK; i++)
        status = add_product(in, HMI_VELOCITY, in->forms->graph.one, i, 3);
    for (size_t k = 0; k < f.count; k++)
        for (size_t i = 0; i < n && status == HM_OK; i++)
            status = add_product(in, HMI_VELOCITY, f.list[k], i, 5);
    return status;
}

hm_status hmi_conserved_gather(hmi_conserved *in)
{
    const hmi_derived *d = &in->forms->system->derived;
    hm_status status = HM_OK;
    if (d->total != HMI_NONE)
        status = add(in, (hmi_candidate){HMI_ENERGY, d->total, HMI_NONE, 0, 1});
    if (status == HM_OK)
        status = add_affine(in);
    return status == HM_OK ? add_functions(in) : status;
}
