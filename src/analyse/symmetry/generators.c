/* Completes generators with their momentum equation and answers the questions about them
 * (generators.h). */
#include "analyse/symmetry/generators.h"

#include <math.h>

#include <string.h>

hm_status hmi_generators_init(hmi_generators *g, hmi_sampler *sampler)
{
    *g = (hmi_generators){.sampler = sampler, .forms = sampler->forms};
    hmi_arena_init(&g->arena, g->forms->allocator);
    return HM_OK;
}

void hmi_generators_release(hmi_generators *g)
{
    if (!g->forms)
        return;
    hmi_array_release(g->forms->allocator, &g->list);
    hmi_arena_release(&g->arena);
    g->forms = NULL;
}

/* ---- derivatives along a generator ---- */

typedef struct direction {
    const hmi_expr *xi, *rate; /* n: of q, of q' (NULL: not asked for) */
} direction;

static hmi_expr along_generator(hmi_graph *graph, hmi_expr leaf, void *user)
{
    const direction *d = user;
    const hmi_node *node = hmi_node_at(graph, leaf);
    return node->a == HMI_SYM_COORD ? d->xi[node->b] : d->rate[node->b];
}

static hmi_expr derivative_along(hmi_forms *forms, const hmi_expr *xi, const hmi_expr *rate,
                                 hmi_expr e)
{
    direction d = {xi, rate};
    hmi_tangent tangent;
    uint16_t kinds = HMI_DEP(HMI_SYM_COORD);
    if (rate)
        kinds |= HMI_DEP(HMI_SYM_VELOCITY);
    hmi_tangent_init(&tangent, forms->allocator, along_generator, &d, kinds);
    hmi_expr result = hmi_tangent_of(&tangent, &forms->graph, e);
    hmi_tangent_release(&tangent);
    return result;
}

/* xi' along the motion: q -> q', t -> 1. */
static hmi_expr leaf_rate(hmi_graph *graph, hmi_expr leaf, void *user)
{
    (void)user;
    return hmi_leaf_rate(graph, leaf);
}

static hm_status rates_of(hmi_forms *forms, const hmi_expr *xi, hmi_expr *rate)
{
    hmi_tangent tangent;
    hmi_tangent_init(&tangent, forms->allocator, leaf_rate, NULL,
                     HMI_DEP(HMI_SYM_COORD) | HMI_DEP(HMI_SYM_TIME));
    for (size_t i = 0; i < forms->n; i++)
        rate[i] = hmi_tangent_of(&tangent, &forms->graph, xi[i]);
    hmi_tangent_release(&tangent);
    return forms->graph.status;
}

static hmi_expr product_sum(hmi_graph *graph, hmi_expr sum, const hmi_expr *list,
                            const hmi_expr *xi, size_t n)
{
    for (size_t i = 0; list && i < n; i++)
        if (list[i] != HMI_NONE)
            sum = hmi_add(graph, sum, hmi_mul(graph, list[i], xi[i]));
    return sum;
}

hm_status hmi_generator_complete(hmi_generators *g, hmi_generator *generator)
{
    hmi_forms *forms = g->forms;
    hmi_graph *graph = &forms->graph;
    const hmi_derived *d = &forms->system->derived;
    const hmi_expr_matrix *A = &d->constraints.A;
    hmi_expr *rate = hmi_arena_alloc(&g->arena, (forms->n + 1) * sizeof *rate);
    generator->across = hmi_arena_alloc(&g->arena, (forms->m + 1) * sizeof *generator->across);
    generator->crosses = hmi_arena_alloc(&g->arena, forms->m + 1);
    if (!rate || !generator->across || !generator->crosses)
        return HM_ERR_NOMEM;
    hm_status status = rates_of(forms, generator->xi, rate);
    if (status != HM_OK)
        return status;
    generator->change = derivative_along(forms, generator->xi, rate, d->lagrangian);
    generator->momentum = product_sum(graph, graph->zero, d->momentum, generator->xi, forms->n);
    hmi_expr work = product_sum(graph, graph->zero, d->impressed, generator->xi, forms->n);
    work = product_sum(graph, work, d->dissipation, generator->xi, forms->n);
    work = product_sum(graph, work, d->gyroscopic, generator->xi, forms->n);
    generator->work = product_sum(graph, work, d->C, generator->xi, forms->n);
    for (size_t k = 0; k < forms->m; k++) {
        hmi_expr sum = graph->zero;
        for (size_t e = A->start[k]; e < A->start[k + 1]; e++)
            sum = hmi_add(graph, sum,
                          hmi_mul(graph, A->value.data[e], generator->xi[A->column.data[e]]));
        generator->across[k] = sum;
    }
    return graph->status;
}

/* ---- those of the model ---- */

hm_status hmi_generators_given(hmi_generators *g)
{
    const hm_model *model = g->forms->model;
    for (size_t s = 0; s < model->symmetries.count; s++) {
        const hmi_symmetry *symmetry = &model->symmetries.data[s];
        hmi_generator generator = {.name = symmetry->name};
        generator.xi = hmi_arena_alloc(&g->arena, (g->forms->n + 1) * sizeof *generator.xi);
        if (!generator.xi)
            return HM_ERR_NOMEM;
        for (size_t i = 0; i < g->forms->n; i++)
            generator.xi[i] = g->forms->graph.zero;
        for (size_t k = 0; k < symmetry->count; k++)
            generator.xi[symmetry->generator[k].index] = symmetry->generator[k].value;
        hm_status status = hmi_generator_complete(g, &generator);
        if (status != HM_OK)
            return status;
        if (!hmi_array_push(g->forms->allocator, &g->list, generator))
            return HM_ERR_NOMEM;
    }
    return HM_OK;
}

/* ---- questions ---- */

/* Where the watched expressions of one generator start. */
typedef struct places {
    size_t momentum, change, work, across, lie;
} places;

/* (L_xi omega)_j = xi_i d omega_j / dq_i + omega_i d xi_i / dz_j, a row of n + 1 components. */
static hm_status watch_lie_row(hmi_generators *g, hmi_states *states, const hmi_generator *of,
                               const hmi_form *form)
{
    hmi_forms *forms = g->forms;
    hm_status status = HM_OK;
    for (size_t j = 0; j <= forms->n && status == HM_OK; j++) {
        hmi_expr sum = derivative_along(forms, of->xi, NULL, hmi_form_component(forms, form, j));
        for (size_t k = 0; k < form->count; k++)
            if (form->at[k] < forms->n && of->xi[form->at[k]] != forms->graph.zero)
                sum = hmi_add(&forms->graph, sum,
                              hmi_mul(&forms->graph, form->value[k],
                                      hmi_partial_by(forms, of->xi[form->at[k]], j)));
        status = sum == HMI_NONE ? HM_ERR_NOMEM : hmi_states_watch(states, sum);
    }
    return status;
}

/* xi^(1) psi_k of every constraint: zero on the constraint manifold where xi keeps it. What is
 * asked where some are not linear in the velocities and the rows are no forms in (q, t). */
static hm_status watch_residuals(hmi_generators *g, hmi_states *states, const hmi_generator *of)
{
    hmi_forms *forms = g->forms;
    hmi_expr *rate = hmi_arena_alloc(&g->arena, (forms->n + 1) * sizeof *rate);
    hm_status status = rate ? rates_of(forms, of->xi, rate) : HM_ERR_NOMEM;
    for (size_t k = 0; k < forms->m && status == HM_OK; k++) {
        hmi_expr e = derivative_along(forms, of->xi, rate, forms->rows[k].residual);
        status = e == HMI_NONE ? HM_ERR_NOMEM : hmi_states_watch(states, e);
    }
    return status;
}

/* Are there constraints on accelerations? They make no manifold of states. */
static bool has_acceleration_rows(const hmi_forms *forms)
{
    for (size_t k = 0; k < forms->m; k++)
        if (forms->rows[k].row->level == HM_LEVEL_ACCELERATION)
            return true;
    return false;
}

static bool all_pfaffian(const hmi_forms *forms)
{
    for (size_t k = 0; k < forms->m; k++)
        if (!forms->rows[k].pfaffian)
            return false;
    return true;
}

static hm_status watch_generator(hmi_generators *g, hmi_states *states, const hmi_generator *of,
                                 places *at)
{
    hmi_forms *forms = g->forms;
    at->momentum = states->watched;
    hm_status status = hmi_states_watch(states, of->momentum);
    at->change = states->watched;
    if (status == HM_OK)
        status = hmi_states_watch(states, of->change);
    at->work = states->watched;
    if (status == HM_OK)
        status = hmi_states_watch(states, of->work);
    at->across = states->watched;
    for (size_t k = 0; k < forms->m && status == HM_OK; k++)
        status = hmi_states_watch(states, of->across[k]);
    at->lie = states->watched;
    for (size_t k = 0; k < forms->m && status == HM_OK && all_pfaffian(forms); k++)
        status = watch_lie_row(g, states, of, &forms->rows[k].form);
    if (status == HM_OK && !all_pfaffian(forms) && !has_acceleration_rows(forms))
        status = watch_residuals(g, states, of);
    return status;
}

static hm_status watch_forms(hmi_forms *forms, hmi_states *states)
{
    hm_status status = HM_OK;
    for (size_t k = 0; k < forms->m && all_pfaffian(forms); k++)
        for (size_t j = 0; j <= forms->n && status == HM_OK; j++)
            status = hmi_states_watch(states, hmi_form_component(forms, &forms->rows[k].form, j));
    return status;
}

/* What is proved to be nonzero is not zero, however small, where numbers are exact. */
static bool is_zero(const hmi_generators *g, const hmi_states *states, arb_srcptr x)
{
    bool inexact = g->inexact || hmi_states_inexact(states);
    if (!inexact && hmi_log2_below(x) > -INFINITY)
        return false;
    return hmi_log2_above(x) < hmi_zero_tolerance(states->precision, inexact);
}

/* Do the Lie derivatives of the rows lie in the span of the rows at this state? */
static hm_status keeps_distribution(hmi_generators *g, const hmi_states *states, size_t lie,
                                    bool *keeps)
{
    hmi_echelon echelon;
    size_t m = g->forms->m, size = g->forms->n + 1;
    hm_status status = hmi_echelon_init(&echelon, g->forms->allocator, size, size,
                                        states->precision,
                                        g->inexact || hmi_states_inexact(states));
    if (status != HM_OK)
        return status;
    arb_ptr row = _arb_vec_init((slong)size);
    for (size_t k = 0; k < 2 * m; k++) {
        size_t first = k < m ? k * size : lie + (k - m) * size;
        for (size_t j = 0; j < size; j++)
            arb_set(row + j, hmi_states_value(states, first + j, 0));
        if (hmi_echelon_add(&echelon, row, 1) == HMI_INDEPENDENT && k >= m)
            *keeps = false;
    }
    _arb_vec_clear(row, (slong)size);
    hmi_echelon_release(&echelon);
    return HM_OK;
}

static void no_where(hm_answer *answer, bool holds)
{
    if (!holds)
        *answer = HM_ANSWER_NO;
}

static hm_status judge_at_state(hmi_generators *g, const hmi_states *states, hmi_generator *of,
                                const places *at)
{
    bool keeps = true;
    no_where(&of->conserved, is_zero(g, states, hmi_states_value(states, at->momentum, 1)));
    no_where(&of->lagrangian, is_zero(g, states, hmi_states_value(states, at->change, 0)));
    no_where(&of->workless, is_zero(g, states, hmi_states_value(states, at->work, 0)));
    for (size_t k = 0; k < g->forms->m; k++)
        if (!is_zero(g, states, hmi_states_value(states, at->across + k, 0))) {
            of->crosses[k] = true;
            of->horizontal = HM_ANSWER_NO;
        }
    if (has_acceleration_rows(g->forms)) {
        of->distribution = HM_ANSWER_UNKNOWN;
        return HM_OK;
    }
    if (!all_pfaffian(g->forms)) {
        for (size_t k = 0; k < g->forms->m; k++)
            keeps &= is_zero(g, states, hmi_states_value(states, at->lie + k, 0));
        no_where(&of->distribution, keeps);
        return HM_OK;
    }
    hm_status status = keeps_distribution(g, states, at->lie, &keeps);
    no_where(&of->distribution, keeps);
    return status;
}

hm_status hmi_generators_judge(hmi_generators *g, hmi_generator *list, size_t count)
{
    hmi_states states;
    places *at = hmi_arena_alloc(&g->arena, (count + 1) * sizeof *at);
    if (!at)
        return HM_ERR_NOMEM;
    hm_status status = hmi_states_init(&states, g->sampler, HMI_STATE_BITS);
    if (status == HM_OK)
        status = watch_forms(g->forms, &states);
    for (size_t i = 0; i < count && status == HM_OK; i++) {
        list[i].conserved = list[i].lagrangian = list[i].horizontal = HM_ANSWER_YES;
        list[i].distribution = list[i].workless = HM_ANSWER_YES;
        status = watch_generator(g, &states, &list[i], &at[i]);
    }
    for (int k = 0; k < HMI_STATES && count && status == HM_OK; k++) {
        status = hmi_states_draw(&states);
        for (size_t i = 0; i < count && status == HM_OK; i++)
            status = judge_at_state(g, &states, &list[i], &at[i]);
    }
    hmi_states_release(&states);
    return status;
}

/* Is generator i one that the model states? Expressions are interned. */
static bool is_stated(const hmi_generators *g, size_t i)
{
    for (size_t k = 0; k < i; k++) {
        const hmi_generator *stated = &g->list.data[k];
        if (!stated->discovered &&
            memcmp(stated->xi, g->list.data[i].xi, g->forms->n * sizeof *stated->xi) == 0)
            return true;
    }
    return false;
}

void hmi_generators_sift(hmi_generators *g)
{
    size_t kept = 0;
    for (size_t i = 0; i < g->list.count; i++) {
        const hmi_generator *of = &g->list.data[i];
        bool holds = of->conserved == HM_ANSWER_YES || of->distribution != HM_ANSWER_NO;
        if (!of->discovered || (holds && !is_stated(g, i)))
            g->list.data[kept++] = *of;
    }
    g->list.count = kept;
}
