/* Follows the derived flag in symbols until it is stationary, and reports the combinations that are
 * left (hidden.h). */
#include "analyse/classify/hidden.h"

#include "analyse/integrals/potential.h"
#include "analyse/integrability/transport.h"

enum { MOST_FORMS = HMI_SYMBOLIC_MOST, MOST_FREED = 6, MOST_PAIRS = MOST_FREED * MOST_FREED / 2 };

typedef struct ideal {
    hmi_analysis *a;
    hmi_forms *forms;
    size_t size;         /* n + 1 */
    size_t rows, count;  /* forms given at first; forms of I_j now */
    const size_t *list;  /* rows of the forms */
    hmi_form *form;      /* count */
    hmi_expr *c;         /* count x rows: what they are made of */
    hmi_expr *N;         /* size x freed */
    hmi_expr *K;         /* pairs x count */
    size_t freed, pairs; /* at this step */
    hmi_transport tr;
} ideal;

/* ---- one step of the flag ---- */

/* d omega(N_a, N_b) */
static hmi_expr turning(ideal *I, const hmi_form *form, size_t a, size_t b)
{
    hmi_forms *f = I->forms;
    hmi_graph *g = &f->graph;
    hmi_expr sum = g->zero;
    for (size_t k = 0; k < form->count; k++) /* d(w dz_q) = dw ^ dz_q */
        for (size_t p = 0; p < I->size; p++) {
            size_t q = form->at[k];
            hmi_expr slope = hmi_partial_by(f, form->value[k], p);
            if (slope == HMI_NONE || slope == g->zero)
                continue;
            hmi_expr area = hmi_sub(g, hmi_mul(g, I->N[p * I->freed + a], I->N[q * I->freed + b]),
                                    hmi_mul(g, I->N[p * I->freed + b], I->N[q * I->freed + a]));
            sum = hmi_add(g, sum, hmi_mul(g, slope, area));
        }
    return hmi_forms_normal(f, sum);
}

static hm_status find_turnings(ideal *I)
{
    hmi_forms *f = I->forms;
    I->pairs = I->freed * (I->freed - 1) / 2;
    I->K = hmi_arena_alloc(&f->arena, (I->pairs * I->count + 1) * sizeof *I->K);
    if (!I->K)
        return HM_ERR_NOMEM;
    size_t at = 0;
    for (size_t a = 0; a < I->freed; a++)
        for (size_t b = a + 1; b < I->freed; b++)
            for (size_t i = 0; i < I->count; i++)
                I->K[at++] = turning(I, &I->form[i], a, b);
    return hmi_forms_status(f);
}

/* Independent conditions: which pairs, and which forms they are solved for. */
typedef struct conditions {
    size_t rank;
    size_t pair[MOST_FORMS], form[MOST_FORMS];
} conditions;

static hm_status choose(ideal *I, conditions *c)
{
    hmi_forms *f = I->forms;
    hmi_series jet;
    hmi_echelon e = {0};
    slong bits = I->tr.precision;
    hmi_series_init(&jet, f->allocator, f->model, &f->graph);
    hm_status status = HM_OK;
    for (size_t i = 0; status == HM_OK && i < I->pairs * I->count; i++)
        status = hmi_series_add(&jet, I->K[i]);
    c->rank = 0;
    if (status == HM_OK) {
        hmi_curve_evaluate(&I->tr.point, &jet, bits);
        status = jet.failed ? HM_ERR_NUMERIC
                            : hmi_echelon_init(&e, f->allocator, I->count, I->count, bits,
                                               jet.inexact || I->tr.inexact);
        arb_ptr row = _arb_vec_init((slong)I->count);
        for (size_t p = 0; p < I->pairs && status == HM_OK && e.rank < I->count; p++) {
            for (size_t i = 0; i < I->count; i++)
                arb_set(row + i, hmi_series_root(&jet, p * I->count + i, 0));
            hmi_dependence verdict = hmi_echelon_add(&e, row, 1);
            status = verdict == HMI_UNDECIDED ? HM_ERR_NUMERIC : HM_OK;
            if (verdict == HMI_INDEPENDENT) {
                c->pair[c->rank] = p;
                c->form[c->rank] = e.pivot[c->rank];
                c->rank++;
            }
        }
        _arb_vec_clear(row, (slong)I->count);
        hmi_echelon_release(&e);
    }
    hmi_series_release(&jet);
    return status;
}

static bool is_pivot(const conditions *c, size_t i)
{
    for (size_t k = 0; k < c->rank; k++)
        if (c->form[k] == i)
            return true;
    return false;
}

/* eta = omega_i + sum x_p omega_p with coefficients over the given forms. */
static hm_status combine(ideal *I, const conditions *c, size_t i, const hmi_expr *x, size_t stride,
                         hmi_expr *coefficients, hmi_form *out)
{
    hmi_forms *f = I->forms;
    hmi_graph *g = &f->graph;
    *out = (hmi_form){.at = hmi_arena_alloc(&f->arena, (I->size + 1) * sizeof *out->at),
                      .value = hmi_arena_alloc(&f->arena, (I->size + 1) * sizeof *out->value)};
    if (!out->at || !out->value)
        return HM_ERR_NOMEM;
    for (size_t k = 0; k < I->rows; k++) {
        coefficients[k] = I->c[i * I->rows + k];
        for (size_t p = 0; p < c->rank; p++)
            coefficients[k] = hmi_add(g, coefficients[k],
                                      hmi_mul(g, x[p * stride], I->c[c->form[p] * I->rows + k]));
        coefficients[k] = hmi_forms_normal(f, coefficients[k]);
    }
    for (size_t j = 0; j < I->size; j++) {
        hmi_expr sum = hmi_form_component(f, &I->form[i], j);
        for (size_t p = 0; p < c->rank; p++)
            sum = hmi_add(
                g, sum, hmi_mul(g, x[p * stride], hmi_form_component(f, &I->form[c->form[p]], j)));
        sum = hmi_forms_normal(f, sum);
        if (sum != g->zero) {
            out->at[out->count] = (uint32_t)j;
            out->value[out->count++] = sum;
        }
    }
    hm_status status = hmi_forms_status(f);
    return status == HM_OK ? hmi_form_differentiate(f, out) : status;
}

/* I_{j+1} from I_j. */
static hm_status next_ideal(ideal *I, const conditions *c)
{
    hmi_forms *f = I->forms;
    hmi_expr square[MOST_FORMS * MOST_FORMS], rhs[MOST_FORMS * MOST_FORMS],
        x[MOST_FORMS * MOST_FORMS];
    size_t left = I->count - c->rank, at = 0;
    hmi_form *form = hmi_arena_alloc(&f->arena, (left + 1) * sizeof *form);
    hmi_expr *coefficients = hmi_arena_alloc(&f->arena,
                                             (left * I->rows + 1) * sizeof *coefficients);
    if (!form || !coefficients)
        return HM_ERR_NOMEM;
    for (size_t p = 0; p < c->rank; p++) {
        const hmi_expr *row = I->K + c->pair[p] * I->count;
        for (size_t q = 0; q < c->rank; q++)
            square[p * c->rank + q] = row[c->form[q]];
        at = 0;
        for (size_t i = 0; i < I->count; i++)
            if (!is_pivot(c, i))
                rhs[p * left + at++] = hmi_neg(&f->graph, row[i]);
    }
    hm_status status = left ? hmi_symbolic_solve(f->normal, c->rank, square, left, rhs, x, NULL)
                            : HM_OK;
    at = 0;
    for (size_t i = 0; i < I->count && status == HM_OK; i++)
        if (!is_pivot(c, i)) {
            status = combine(I, c, i, x + at, left, coefficients + at * I->rows, &form[at]);
            at++;
        }
    I->form = form;
    I->c = coefficients;
    I->count = left;
    return status;
}

static hm_status step(ideal *I, bool *done)
{
    conditions c = {0};
    const hmi_form *form[MOST_FORMS];
    for (size_t i = 0; i < I->count; i++)
        form[i] = &I->form[i];
    hmi_transport_release(&I->tr);
    hm_status status = hmi_transport_init(&I->tr, &I->a->sampler, form, I->count, NULL, 0, I->size);
    if (status == HM_OK)
        status = hmi_transport_point(&I->tr, HMI_BITS);
    if (status != HM_OK)
        return status;
    I->freed = I->size - I->tr.rank;
    if (I->tr.rank < I->count || I->freed > MOST_FREED)
        return HM_ERR_LIMIT;
    status = hmi_transport_basis(&I->tr, &I->N);
    if (status == HM_OK)
        status = find_turnings(I);
    if (status == HM_OK)
        status = choose(I, &c);
    *done = c.rank == 0;
    return status == HM_OK && !*done ? next_ideal(I, &c) : status;
}

/* ---- the result ---- */

/* "a + y*b" */
static const char *print_combination(ideal *I, const hmi_expr *c)
{
    const char *text = NULL;
    hmi_graph *g = &I->forms->graph;
    for (size_t k = 0; k < I->rows; k++) {
        const char *name = I->forms->rows[I->list[k]].row->name;
        if (c[k] == g->zero)
            continue;
        const char *factor = hmi_analysis_print(I->a, g, c[k]);
        const char *before = text ? text : "", *plus = text ? " + " : "";
        text = c[k] == g->one ? hmi_analysis_text(I->a, "%s%s%s", before, plus, name)
                              : hmi_analysis_text(I->a, "%s%s(%s)*%s", before, plus,
                                                  factor ? factor : "?", name);
        if (!factor || !text)
            return NULL;
    }
    return text;
}

/* Looks for an integral of one combination by itself. */
static hm_status integrate(ideal *I, const hmi_form *form, hm_combination *out)
{
    hmi_evidence evidence;
    hmi_expr f = HMI_NONE, mu = HMI_NONE;
    hmi_form scaled = *form;
    bool closed = false;
    hmi_sampler *sampler = &I->a->sampler;
    hm_status status = hmi_form_is_closed(sampler, form, NULL, 0, &closed, &evidence);
    if (status == HM_OK && !closed)
        status = hmi_find_integrating_factor(sampler, form, &mu, &scaled);
    if (status == HM_OK && (closed || mu != HMI_NONE))
        status = hmi_find_potential(sampler, &scaled, &f);
    if (status == HM_OK && mu != HMI_NONE &&
        !(out->integrating_factor = hmi_analysis_print(I->a, &I->forms->graph, mu)))
        status = HM_ERR_NOMEM;
    if (status == HM_OK && f != HMI_NONE &&
        !(out->potential = hmi_analysis_print(I->a, &I->forms->graph, f)))
        status = HM_ERR_NOMEM;
    return status;
}

/* Is every form closed modulo all of them? */
static hm_status verify(ideal *I, bool *good)
{
    hmi_forms *f = I->forms;
    size_t all[MOST_FORMS];
    hm_status status = HM_OK;
    *good = true;
    if (f->row_count + I->count > f->m + f->n)
        return HM_ERR_LIMIT;
    for (size_t i = 0; i < I->count; i++) {
        all[i] = f->row_count + i;
        f->rows[all[i]] = (hmi_form_row){.pfaffian = true, .form = I->form[i]};
    }
    for (size_t i = 0; i < I->count && status == HM_OK && *good; i++) {
        hmi_evidence evidence;
        status = hmi_form_is_closed(&I->a->sampler, &I->form[i], all, I->count, good, &evidence);
    }
    return status;
}

static hm_status show(ideal *I)
{
    hm_set_analysis *set = &I->a->shown.set;
    hm_combination *list = hmi_arena_alloc(&I->a->arena, (I->count + 1) * sizeof *list);
    size_t used = 0;
    if (!list)
        return HM_ERR_NOMEM;
    for (size_t i = 0; i < I->count; i++) {
        size_t parts = 0;
        for (size_t k = 0; k < I->rows; k++)
            parts += I->c[i * I->rows + k] != I->forms->graph.zero;
        if (parts < 2)
            continue; /* a constraint that is integrable by itself */
        list[used] = (hm_combination){0};
        list[used].combination = print_combination(I, I->c + i * I->rows);
        list[used].form = hmi_analysis_form(I->a, &I->form[i], NULL);
        if (!list[used].combination || !list[used].form)
            return HM_ERR_NOMEM;
        hm_status status = integrate(I, &I->form[i], &list[used++]);
        if (status != HM_OK)
            return status;
    }
    set->combinations = list;
    set->combination_count = used;
    return HM_OK;
}

static hm_status open(ideal *I, const size_t *list, size_t count)
{
    hmi_forms *f = I->forms;
    I->form = hmi_arena_alloc(&f->arena, (count + 1) * sizeof *I->form);
    I->c = hmi_arena_alloc(&f->arena, (count * count + 1) * sizeof *I->c);
    if (!I->form || !I->c)
        return HM_ERR_NOMEM;
    for (size_t i = 0; i < count; i++) {
        I->form[i] = f->rows[list[i]].form;
        for (size_t k = 0; k < count; k++)
            I->c[i * count + k] = i == k ? f->graph.one : f->graph.zero;
    }
    I->list = list;
    I->rows = I->count = count;
    return HM_OK;
}

hm_status hmi_analyse_hidden(hmi_analysis *a, const size_t *list, size_t count)
{
    ideal I = {.a = a, .forms = &a->forms, .size = a->forms.n + 1};
    bool done = false, good = false;
    if (!a->forms.normal || count > MOST_FORMS)
        return HM_OK;
    hm_status status = open(&I, list, count);
    while (status == HM_OK && !done && I.count)
        status = step(&I, &done);
    if (status == HM_OK && I.count == a->shown.set.holonomic_part)
        status = verify(&I, &good);
    if (status == HM_OK && good)
        status = show(&I);
    hmi_transport_release(&I.tr);
    return status == HM_ERR_NOMEM ? status : hmi_forms_status(&a->forms);
}
