/* Discovery of affine generators that leave L unchanged, xi_i = c_i + sum_j c_ij q_j: the condition
 *     xi dL/dq + xi' dL/dq' = 0    for all q, q', t
 * is linear in the c. Random points, not on the constraints, give as many equations as wanted; what
 * satisfies them all is a symmetry of L.                       Verified: test/cases/test_symmetry.c */
#include "analyse/symmetry/generators.h"
#include "analyse/balls/null_space.h"

#include <math.h>

enum { DENSE_PAIRS = 12, NEIGHBOUR = 2, MORE_POINTS = 4 };

/* All pairs in small systems; in larger ones neighbours, which the components of a point are. */
bool hmi_affine_pair(size_t n, size_t i, size_t j)
{
    size_t apart = i > j ? i - j : j - i;
    return n <= DENSE_PAIRS || apart <= NEIGHBOUR;
}

typedef struct term {
    uint32_t i; /* component of xi */
    uint32_t j; /* times q_j; n: constant */
} term;

typedef struct search {
    hmi_generators *g;
    hmi_forms *forms;
    size_t n;
    hmi_series jet; /* dL/dq, then p */
    arb_ptr q, v;
    HMI_ARRAY(term) terms;
    hmi_echelon echelon;
} search;

static hm_status list_terms(search *s)
{
    const hm_allocator *allocator = s->forms->allocator;
    for (uint32_t i = 0; i < s->n; i++)
        if (!hmi_array_push(allocator, &s->terms, ((term){i, (uint32_t)s->n})))
            return HM_ERR_NOMEM;
    for (uint32_t i = 0; i < s->n; i++)
        for (uint32_t j = 0; j < s->n; j++)
            if (hmi_affine_pair(s->n, i, j) &&
                !hmi_array_push(allocator, &s->terms, ((term){i, j})))
                return HM_ERR_NOMEM;
    return HM_OK;
}

static hm_status list_roots(search *s)
{
    const hmi_derived *d = &s->forms->system->derived;
    hm_status status = HM_OK;
    for (size_t i = 0; i < s->n && status == HM_OK; i++)
        status = hmi_series_add(&s->jet, d->dL_dq[i]);
    for (size_t i = 0; i < s->n && status == HM_OK; i++)
        status = hmi_series_add(&s->jet, d->momentum[i]);
    return status;
}

/* A point near the sampler's centre; false where L has no derivatives there. */
static bool draw(search *s, double spread)
{
    const double *center = s->g->sampler->center;
    for (size_t i = 0; i < s->n; i++) {
        arb_set_d(s->q + i, center[i] + spread * hmi_sampler_random(s->g->sampler));
        arb_set_d(s->v + i, hmi_sampler_random(s->g->sampler));
    }
    hmi_series_start(&s->jet, 1, HMI_STATE_BITS);
    for (size_t k = 0; k < s->jet.leaves.count; k++) {
        const hmi_series_leaf *leaf = &s->jet.leaves.data[k];
        arb_ptr out = hmi_series_leaf_value(&s->jet, k, 0);
        if (leaf->kind == HMI_SYM_COORD || leaf->kind == HMI_SYM_VELOCITY)
            arb_set(out, (leaf->kind == HMI_SYM_COORD ? s->q : s->v) + leaf->index);
        else /* whatever the time and the inputs are */
            arb_set_d(out, hmi_sampler_random(s->g->sampler));
    }
    hmi_series_extend(&s->jet, 0);
    return !s->jet.failed;
}

static void equation(const search *s, arb_ptr row)
{
    for (size_t k = 0; k < s->terms.count; k++) {
        const term *t = &s->terms.data[k];
        arb_srcptr slope = hmi_series_root(&s->jet, t->i, 0);
        if (t->j == s->n) {
            arb_set(row + k, slope);
            continue;
        }
        arb_mul(row + k, s->q + t->j, slope, HMI_STATE_BITS);
        arb_addmul(row + k, s->v + t->j, hmi_series_root(&s->jet, s->n + t->i, 0), HMI_STATE_BITS);
    }
}

/* Equations until several in a row bring nothing new. */
static hm_status collect(search *s)
{
    size_t idle = 0;
    double spread = 1;
    arb_ptr row = _arb_vec_init((slong)s->terms.count);
    for (size_t k = 0; k < 2 * s->terms.count + 20 && idle < MORE_POINTS; k++) {
        if (!draw(s, spread)) {
            spread *= 0.8;
            continue;
        }
        equation(s, row);
        idle = hmi_echelon_add(&s->echelon, row, 1) == HMI_INDEPENDENT ? 0 : idle + 1;
    }
    _arb_vec_clear(row, (slong)s->terms.count);
    return idle < MORE_POINTS && s->echelon.rank < s->terms.count ? HM_ERR_NUMERIC : HM_OK;
}

/* The terms of one generator: shifts, and the pair of a turn x d/dy - y d/dx. */
typedef struct shape {
    size_t shifts, linear;
    const term *first, *second; /* linear ones */
    bool whole;                 /* linear coefficients are 1 and -1 */
} shape;

static shape shape_of(const search *s, arb_mat_t vectors, slong row)
{
    shape found = {.whole = true};
    for (size_t k = 0; k < s->terms.count; k++) {
        const term *t = &s->terms.data[k];
        arb_srcptr c = arb_mat_entry(vectors, row, (slong)k);
        if (hmi_log2_above(c) < s->echelon.tolerance / 2)
            continue;
        found.shifts += t->j == s->n;
        if (t->j == s->n)
            continue;
        *(found.linear++ ? &found.second : &found.first) = t;
        double size = fabs(arf_get_d(arb_midref(c), ARF_RND_NEAR));
        found.whole = found.whole && fabs(size - 1) < 1e-9;
    }
    return found;
}

/* Turns between coordinates of different inertia (x against an angle, say) are symmetries of a
 * constant M that nobody means. */
static bool is_meant(const search *s, arb_mat_t vectors, slong row)
{
    return shape_of(s, vectors, row).whole;
}

/* "shift theta", "turn x y theta", or a number. */
static const char *name_generator(search *s, arb_mat_t vectors, slong row, size_t number)
{
    hmi_text text;
    shape found = shape_of(s, vectors, row);
    const hm_model *model = s->forms->model;
    const term *a = found.first, *b = found.second;
    bool turn = found.linear == 2 && a->i == b->j && a->j == b->i;
    hmi_text_init(&text, s->forms->allocator);
    if (found.linear && !turn)
        hmi_text_addf(&text, "affine %zu", number);
    else
        hmi_text_add(&text, turn ? "turn" : "shift");
    if (turn)
        hmi_text_addf(&text, " %s %s", hm_model_coordinate_name(model, a->i),
                      hm_model_coordinate_name(model, b->i));
    for (size_t k = 0; k < s->n && (turn || !found.linear); k++) /* the first n terms are shifts */
        if (hmi_log2_above(arb_mat_entry(vectors, row, (slong)k)) >= s->echelon.tolerance / 2)
            hmi_text_addf(&text, " %s", hm_model_coordinate_name(model, k));
    const char *copy = hmi_arena_text(&s->g->arena, hmi_text_view(&text), text.length);
    bool failed = text.failed;
    hmi_text_release(&text);
    return failed ? NULL : copy;
}

static hm_status add_generator(search *s, arb_mat_t vectors, slong row, size_t number)
{
    hmi_graph *graph = &s->forms->graph;
    hmi_generator generator = {.discovered = true};
    bool exact = true;
    generator.xi = hmi_arena_alloc(&s->g->arena, (s->n + 1) * sizeof *generator.xi);
    generator.name = name_generator(s, vectors, row, number);
    if (!generator.xi || !generator.name)
        return HM_ERR_NOMEM;
    for (size_t i = 0; i < s->n; i++)
        generator.xi[i] = graph->zero;
    for (size_t k = 0; k < s->terms.count; k++) {
        const term *t = &s->terms.data[k];
        arb_srcptr c = arb_mat_entry(vectors, row, (slong)k);
        if (hmi_log2_above(c) < s->echelon.tolerance / 2)
            continue;
        hmi_expr value = hmi_ball_number(graph, c, s->echelon.tolerance / 2, &exact);
        if (t->j < s->n)
            value = hmi_mul(graph, value, hmi_symbol(graph, HMI_SYM_COORD, t->j));
        generator.xi[t->i] = hmi_add(graph, generator.xi[t->i], value);
    }
    s->g->inexact |= !exact;
    hm_status status = hmi_generator_complete(s->g, &generator);
    if (status != HM_OK)
        return status;
    return hmi_array_push(s->forms->allocator, &s->g->list, generator) ? HM_OK : HM_ERR_NOMEM;
}

static hm_status add_all(search *s)
{
    arb_mat_t vectors;
    hm_status status = HM_OK;
    hmi_null_space(&s->echelon, vectors);
    for (slong r = 0; r < arb_mat_nrows(vectors) && r < HMI_MOST_GENERATORS; r++)
        if (status == HM_OK && is_meant(s, vectors, r))
            status = add_generator(s, vectors, r, (size_t)r + 1);
    arb_mat_clear(vectors);
    return status;
}

hm_status hmi_generators_discover(hmi_generators *g)
{
    hmi_forms *forms = g->forms;
    search s = {.g = g, .forms = forms, .n = forms->n};
    hmi_series_init(&s.jet, forms->allocator, forms->model, &forms->graph);
    s.q = _arb_vec_init((slong)s.n);
    s.v = _arb_vec_init((slong)s.n);
    hm_status status = list_terms(&s);
    if (status == HM_OK)
        status = list_roots(&s);
    if (status == HM_OK)
        status = hmi_echelon_init(&s.echelon, forms->allocator, s.terms.count, s.terms.count,
                                  HMI_STATE_BITS, s.jet.inexact);
    if (status == HM_OK)
        status = collect(&s);
    if (status == HM_OK)
        status = add_all(&s);
    hmi_echelon_release(&s.echelon);
    hmi_array_release(forms->allocator, &s.terms);
    _arb_vec_clear(s.q, (slong)s.n);
    _arb_vec_clear(s.v, (slong)s.n);
    hmi_series_release(&s.jet);
    return status == HM_ERR_NUMERIC || status == HM_ERR_LIMIT ? HM_OK : status;
}
