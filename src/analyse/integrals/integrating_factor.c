/* Integrating factors by linear algebra on ln mu, hmi_find_integrating_factor.
 *
 *     d(mu omega) = 0   <=>   d(ln mu) ^ omega + d omega = 0
 *
 * is linear in d(ln mu) = sum_c kappa_c d(ln c). The equations are sampled at random points in
 * double precision, the smallest set of candidates c that solves them is taken, kappa is rounded to
 * a ratio of small numbers, and the result is proved in ball arithmetic like any other form.
 * Verified: test/cases/test_classify.c
 */
#include "analyse/integrals/potential.h"

#include "linalg/linalg.h"

#include <math.h>

enum { MOST_CANDIDATES = 28, POINTS = 8, MOST_POSITIONS = 8, MOST_TRIPLES = 10 };

typedef struct search {
    hmi_sampler *sampler;
    hmi_forms *forms;
    const hmi_form *form;
    uint32_t at[MOST_POSITIONS]; /* positions of z that matter */
    size_t positions;
    hmi_expr candidate[MOST_CANDIDATES];
    size_t count;
    size_t equations;
    double *matrix; /* equations x (count + 1): candidates, right-hand side */
} search;

/* ---- candidates ---- */

static void add_candidate(search *s, hmi_expr e)
{
    hmi_graph *g = &s->forms->graph;
    const uint16_t place = HMI_DEP(HMI_SYM_COORD) | HMI_DEP(HMI_SYM_TIME);
    if (e == HMI_NONE || s->count == MOST_CANDIDATES || !(hmi_deps(g, e) & place))
        return;
    if (hmi_deps(g, e) & ~(place | HMI_DEP(HMI_SYM_PARAM)))
        return;
    for (size_t i = 0; i < s->count; i++)
        if (s->candidate[i] == e)
            return;
    s->candidate[s->count++] = e;
}

/* Adds the factors of a component as candidates. */
static void add_factors(search *s, hmi_expr e, int depth)
{
    hmi_graph *g = &s->forms->graph;
    if (depth > 8 || e == HMI_NONE)
        return;
    hmi_op op = hmi_op_of(g, e);
    if (op == HMI_MUL || op == HMI_DIV) {
        add_factors(s, hmi_operand(g, e, 0), depth + 1);
        add_factors(s, hmi_operand(g, e, 1), depth + 1);
    } else if (op == HMI_NEG || op == HMI_POWI || op == HMI_POW || op == HMI_SQRT) {
        add_factors(s, hmi_operand(g, e, 0), depth + 1);
    } else if (op == HMI_ADD || op == HMI_SUB) {
        add_candidate(s, e);
        add_factors(s, hmi_operand(g, e, 0), depth + 1);
        add_factors(s, hmi_operand(g, e, 1), depth + 1);
    } else if (op == HMI_TAN) {
        hmi_expr u = hmi_operand(g, e, 0);
        add_candidate(s, hmi_apply(g, HMI_COS, u, HMI_NONE, HMI_NONE));
        add_candidate(s, hmi_apply(g, HMI_SIN, u, HMI_NONE, HMI_NONE));
    } else {
        add_candidate(s, e);
    }
}

static hmi_expr symbol_at(search *s, size_t j)
{
    return j == s->forms->n ? hmi_symbol(&s->forms->graph, HMI_SYM_TIME, 0)
                            : hmi_symbol(&s->forms->graph, HMI_SYM_COORD, (uint32_t)j);
}

static void list_candidates(search *s)
{
    hmi_graph *g = &s->forms->graph;
    for (size_t i = 0; i < s->positions; i++)
        add_candidate(s, symbol_at(s, s->at[i]));
    for (size_t k = 0; k < s->form->count; k++)
        add_factors(s, s->form->value[k], 0);
    for (size_t i = 0; i < s->positions; i++)
        for (size_t k = i + 1; k < s->positions; k++) {
            hmi_expr x = symbol_at(s, s->at[i]), y = symbol_at(s, s->at[k]);
            add_candidate(s, hmi_add(g, hmi_mul(g, x, x), hmi_mul(g, y, y)));
        }
    for (size_t i = 0; i < s->positions; i++)
        add_candidate(s, hmi_apply(g, HMI_EXP, symbol_at(s, s->at[i]), HMI_NONE, HMI_NONE));
}

/* Positions of the components and of what they depend on. */
static bool list_positions(search *s)
{
    for (size_t k = 0; k < s->form->count + s->form->gradient_count; k++) {
        uint32_t j = k < s->form->count ? s->form->at[k] : s->form->gradient_at[k - s->form->count];
        bool known = false;
        for (size_t i = 0; i < s->positions; i++)
            known |= s->at[i] == j;
        if (!known && s->positions == MOST_POSITIONS)
            return false;
        if (!known)
            s->at[s->positions++] = j;
    }
    return s->positions >= 2;
}

/* ---- equations ---- */

/* Roots: components (positions), their derivatives (positions^2), candidates and theirs. */
static hm_status add_roots(search *s, hmi_series *jet)
{
    hm_status status = HM_OK;
    size_t n = s->positions;
    for (size_t i = 0; i < n && status == HM_OK; i++)
        status = hmi_series_add(jet, hmi_form_component(s->forms, s->form, s->at[i]));
    for (size_t i = 0; i < n * n && status == HM_OK; i++) {
        hmi_expr a = hmi_form_component(s->forms, s->form, s->at[i / n]);
        status = hmi_series_add(jet, hmi_partial_by(s->forms, a, s->at[i % n]));
    }
    for (size_t c = 0; c < s->count && status == HM_OK; c++) {
        status = hmi_series_add(jet, s->candidate[c]);
        for (size_t i = 0; i < n && status == HM_OK; i++)
            status = hmi_series_add(jet, hmi_partial_by(s->forms, s->candidate[c], s->at[i]));
    }
    return status == HM_OK ? hmi_forms_status(s->forms) : status;
}

static double root(const hmi_series *jet, size_t i)
{
    return arf_get_d(arb_midref(hmi_series_root(jet, i, 0)), ARF_RND_NEAR);
}

/* d_i(ln c) a_j - d_j(ln c) a_i, and d_j a_i - d_i a_j on the right. */
static void add_equations(search *s, const hmi_series *jet)
{
    size_t n = s->positions, columns = s->count + 1;
    for (size_t i = 0; i < n; i++)
        for (size_t j = i + 1; j < n; j++) {
            double *row = s->matrix + s->equations++ * columns;
            double ai = root(jet, i), aj = root(jet, j), size = 0;
            for (size_t c = 0; c < s->count; c++) {
                size_t at = n + n * n + c * (n + 1);
                double value = root(jet, at);
                row[c] = (root(jet, at + 1 + i) * aj - root(jet, at + 1 + j) * ai) / value;
                size = fmax(size, fabs(row[c]));
            }
            row[s->count] = root(jet, n + i * n + j) - root(jet, n + j * n + i);
            size = fmax(size, fabs(row[s->count]));
            for (size_t c = 0; c < columns && size > 0; c++)
                row[c] /= size;
        }
}

static hm_status sample_equations(search *s)
{
    hmi_series jet;
    hmi_curve point;
    hmi_forms *forms = s->forms;
    size_t most = POINTS * MOST_POSITIONS * MOST_POSITIONS;
    s->matrix = hmi_arena_alloc(&forms->arena, most * (s->count + 1) * sizeof(double));
    if (!s->matrix)
        return HM_ERR_NOMEM;
    hmi_series_init(&jet, forms->allocator, forms->model, &forms->graph);
    hmi_curve_init(&point, forms, 1, 96);
    hm_status status = add_roots(s, &jet);
    for (int k = 0, tries = 0; status == HM_OK && k < POINTS && tries < 60; tries++) {
        status = hmi_sample(s->sampler, &point);
        hmi_curve_evaluate(&point, &jet, 96);
        if (status == HM_OK && !jet.failed) {
            add_equations(s, &jet);
            k++;
        }
    }
    hmi_series_release(&jet);
    hmi_curve_clear(&point);
    return status;
}

/* ---- the smallest solution ---- */

/* Least squares in these candidates; false where they do not solve the equations. */
static bool solve(const search *s, const size_t *set, int size, double *kappa)
{
    double normal[9] = {0}, rhs[3] = {0};
    int pivots[3];
    size_t columns = s->count + 1;
    for (size_t e = 0; e < s->equations; e++) {
        const double *row = s->matrix + e * columns;
        for (int i = 0; i < size; i++) {
            rhs[i] += row[set[i]] * row[s->count];
            for (int j = 0; j < size; j++)
                normal[i * size + j] += row[set[i]] * row[set[j]];
        }
    }
    if (!hmi_lu(size, normal, pivots, 1e-9))
        return false;
    hmi_lu_solve(size, normal, pivots, rhs);
    for (size_t e = 0; e < s->equations; e++) {
        const double *row = s->matrix + e * columns;
        double left = row[s->count];
        for (int i = 0; i < size; i++)
            left -= rhs[i] * row[set[i]];
        if (!(fabs(left) < 1e-8))
            return false;
    }
    for (int i = 0; i < size; i++)
        kappa[i] = rhs[i];
    return true;
}

/* A ratio with denominator up to 6; false where it is none. */
static bool small_ratio(double x, long *p, long *q)
{
    for (*q = 1; *q <= 6; (*q)++) {
        *p = lround(x * (double)*q);
        if (fabs(x * (double)*q - (double)*p) < 1e-7 && labs(*p) <= 12 * *q)
            return *p != 0;
    }
    return false;
}

/* Goes through the sets of 1, 2 and 3 candidates: the next one after `set`; false after the
 * last. */
static bool next_set(const search *s, size_t *set, int *size)
{
    size_t most = *size == 3 && s->count > MOST_TRIPLES ? MOST_TRIPLES : s->count;
    for (int i = *size - 1; i >= 0; i--)
        if (set[i] + (size_t)(*size - i) < most) {
            set[i]++;
            for (int k = i + 1; k < *size; k++)
                set[k] = set[k - 1] + 1;
            return true;
        }
    if (*size == 3 || (size_t)*size == s->count)
        return false;
    (*size)++;
    for (int k = 0; k < *size; k++)
        set[k] = (size_t)k;
    return true;
}

static hmi_expr factor_of(search *s, const size_t *set, int size, const double *kappa)
{
    hmi_graph *g = &s->forms->graph;
    hmi_expr mu = g->one;
    for (int i = 0; i < size; i++) {
        long p, q;
        if (!small_ratio(kappa[i], &p, &q))
            return HMI_NONE;
        mu = hmi_mul(g, mu, hmi_pow(g, s->candidate[set[i]], hmi_ratio(g, p, q)));
    }
    return hmi_forms_normal(s->forms, mu);
}

static hm_status scale_form(search *s, hmi_expr mu, hmi_form *out)
{
    hmi_forms *forms = s->forms;
    *out = (hmi_form){.count = s->form->count, .at = s->form->at};
    out->value = hmi_arena_alloc(&forms->arena, (out->count + 1) * sizeof *out->value);
    if (!out->value)
        return HM_ERR_NOMEM;
    for (size_t k = 0; k < out->count; k++)
        out->value[k] = hmi_forms_normal(forms, hmi_mul(&forms->graph, mu, s->form->value[k]));
    return hmi_form_differentiate(forms, out);
}

hm_status hmi_find_integrating_factor(hmi_sampler *sampler, const hmi_form *form, hmi_expr *mu,
                                      hmi_form *scaled)
{
    search s = {.sampler = sampler, .forms = sampler->forms, .form = form};
    size_t set[3] = {0};
    double kappa[3];
    int size = 1;
    *mu = HMI_NONE;
    if (!s.forms->normal || !list_positions(&s))
        return HM_OK;
    list_candidates(&s);
    hm_status status = sample_equations(&s);
    if (status != HM_OK)
        return status == HM_ERR_NOMEM ? status : HM_OK;
    for (bool more = s.count > 0; more && s.equations; more = next_set(&s, set, &size)) {
        hmi_evidence evidence;
        bool closed = false;
        if (!solve(&s, set, size, kappa))
            continue;
        hmi_expr found = factor_of(&s, set, size, kappa);
        if (found == HMI_NONE)
            continue;
        status = scale_form(&s, found, scaled);
        if (status == HM_OK)
            status = hmi_form_is_closed(sampler, scaled, NULL, 0, &closed, &evidence);
        if (status == HM_ERR_NOMEM)
            return status;
        if (status == HM_OK && closed) {
            *mu = found;
            return HM_OK;
        }
    }
    return hmi_forms_status(s.forms);
}
