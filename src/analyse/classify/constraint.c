/* The class of one constraint.
 *
 * A velocity constraint A q' + B = 0 is exact where d omega = 0 [Flannery (33), (35), (36)], and
 * integrable where omega ^ d omega = 0, which for one form is Frobenius' theorem: inexact but
 * integrable constraints are holonomic (errata 3.5). Both on the manifold of the position
 * constraints. Verified: test/cases/test_classify.c
 */
#include "analyse/classify/analysis.h"
#include "analyse/classify/disguise.h"
#include "analyse/classify/total_derivative.h"
#include "analyse/integrals/potential.h"

#include <math.h>

/* Where a constraint cannot be classified, the analysis goes on and says so in a remark. */
static hm_status undecided(hmi_analysis *a, size_t k, hm_status status)
{
    if (status != HM_ERR_NUMERIC && status != HM_ERR_LIMIT)
        return status;
    a->rows[k].kind = HM_CLASS_UNCLASSIFIED;
    return hmi_analysis_remark(
        a,
        "'%s' is not classified: it could not be evaluated at any sample point near the initial "
        "state that satisfies the position constraints",
        a->rows[k].name);
}

/* ---- terms without a velocity ---- */

/* Removes the component dt where it is zero; *catastatic says so. */
static hm_status look_at_rest(hmi_analysis *a, hmi_form *form, bool *catastatic)
{
    hmi_evidence evidence;
    hmi_expr B = hmi_form_component(&a->forms, form, a->forms.n);
    *catastatic = true;
    if (B == a->forms.graph.zero)
        return HM_OK;
    hm_status status = hmi_all_zero(&a->sampler, &B, 1, catastatic, &evidence);
    if (status == HM_OK && *catastatic)
        form->count--; /* it is the last */
    return status;
}

/* ---- integrable constraints ---- */

/* An integral in numbers exists where the form is integrable off the position constraints, too. */
static hm_status find_numeric_integral(hmi_analysis *a, size_t k, const hmi_form *form)
{
    hmi_evidence evidence;
    bool integrable = false;
    hm_status status = hmi_form_is_closed(&a->sampler, form, &k, 1, &integrable, &evidence);
    if (status != HM_OK || !integrable)
        return status;
    a->numeric_integral[k] = hmi_arena_alloc(&a->arena, sizeof *a->numeric_integral[k]);
    if (!a->numeric_integral[k])
        return HM_ERR_NOMEM;
    status = hmi_numeric_integral_init(a->numeric_integral[k], &a->arena, &a->forms, form, a->q0,
                                       a->t0);
    if (status == HM_OK)
        a->rows[k].leaf = a->model->coords.data[a->numeric_integral[k]->p].name;
    return status == HM_ERR_NUMERIC ? HM_OK : status;
}

static hm_status find_integral(hmi_analysis *a, size_t k, const hmi_form *form)
{
    hm_constraint_analysis *row = &a->rows[k];
    hmi_forms *forms = &a->forms;
    hmi_expr f = HMI_NONE, mu = HMI_NONE;
    hmi_form scaled = *form;
    hm_status status = HM_OK;
    if (row->kind == HM_CLASS_INTEGRABLE)
        status = hmi_find_integrating_factor(&a->sampler, form, &mu, &scaled);
    if (status == HM_OK && (row->kind == HM_CLASS_SEMIHOLONOMIC || mu != HMI_NONE))
        status = hmi_find_potential(&a->sampler, &scaled, &f);
    if (status != HM_OK)
        return status;
    row->rheonomic |= hmi_form_component(forms, form, forms->n) != forms->graph.zero;
    if (mu != HMI_NONE && !(row->integrating_factor = hmi_analysis_print(a, &forms->graph, mu)))
        return HM_ERR_NOMEM;
    if (f == HMI_NONE)
        return find_numeric_integral(a, k, form);
    row->potential = hmi_analysis_print(a, &forms->graph, f);
    return row->potential ? HM_OK : HM_ERR_NOMEM;
}

/* ---- linear constraints ---- */

static hm_status class_of_form(hmi_analysis *a, size_t form_row, hm_class *kind,
                               hmi_evidence *evidence)
{
    bool closed = false;
    const hmi_form *form = &a->forms.rows[form_row].form;
    hm_status status = hmi_form_is_closed(&a->sampler, form, a->positions, a->position_count,
                                          &closed, evidence);
    *kind = HM_CLASS_SEMIHOLONOMIC;
    if (status != HM_OK || closed)
        return status;
    a->positions[a->position_count] = form_row; /* temporarily one of the rows */
    status = hmi_form_is_closed(&a->sampler, form, a->positions, a->position_count + 1, &closed,
                                evidence);
    *kind = closed ? HM_CLASS_INTEGRABLE : HM_CLASS_NONHOLONOMIC;
    return status;
}

/* alpha (d beta/dz - d gamma/dy) + ...  for omega = alpha dx + beta dy + gamma dz
 *                                                                          [Zhao 2018 (11)] */
static hmi_expr frobenius_expression(hmi_forms *f, const hmi_form *form)
{
    hmi_graph *g = &f->graph;
    hmi_expr sum = g->zero;
    for (size_t i = 0; i < 3; i++) {
        size_t j = (i + 1) % 3, k = (i + 2) % 3;
        hmi_expr turn = hmi_sub(g, hmi_partial_by(f, hmi_form_component(f, form, j), k),
                                hmi_partial_by(f, hmi_form_component(f, form, k), j));
        sum = hmi_add(g, sum, hmi_mul(g, hmi_form_component(f, form, i), turn));
    }
    return hmi_forms_normal(f, sum);
}

static hm_status show_frobenius(hmi_analysis *a, size_t k)
{
    hmi_forms *f = &a->forms;
    hm_constraint_analysis *row = &a->rows[k];
    if (f->n != 3 || !row->catastatic || f->rows[k].time_occurs)
        return HM_OK;
    hmi_expr e = frobenius_expression(f, &f->rows[k].form);
    row->frobenius = hmi_analysis_print(a, &f->graph, e);
    return row->frobenius ? hmi_analysis_values(a, &f->graph, &e, 1, &row->frobenius_value)
                          : HM_ERR_NOMEM;
}

/* Removes components that are zero without being written as 0: their balls are as small as their
 * errors, and nothing could be decided relative to them. HM_ERR_LIMIT: there are none. */
static hm_status drop_zeros(hmi_analysis *a, hmi_form *form)
{
    size_t kept = 0;
    for (size_t i = 0; i < form->count; i++) {
        hmi_evidence evidence;
        bool zero = false;
        hm_status status = hmi_all_zero(&a->sampler, &form->value[i], 1, &zero, &evidence);
        if (status == HM_ERR_NOMEM)
            return status;
        if (status == HM_OK && zero)
            continue;
        form->at[kept] = form->at[i];
        form->value[kept++] = form->value[i];
    }
    bool some = kept < form->count;
    form->count = kept;
    return some ? hmi_form_differentiate(&a->forms, form) : HM_ERR_LIMIT;
}

static hm_status classify_linear(hmi_analysis *a, size_t k)
{
    hm_constraint_analysis *row = &a->rows[k];
    hmi_form *form = &a->forms.rows[k].form;
    hmi_evidence evidence;
    hm_status status = look_at_rest(a, form, &row->catastatic);
    if (status == HM_OK)
        status = class_of_form(a, k, &row->kind, &evidence);
    if (status == HM_ERR_NUMERIC) {
        status = drop_zeros(a, form);
        if (status == HM_OK)
            status = class_of_form(a, k, &row->kind, &evidence);
    }
    if (status != HM_OK)
        return status;
    row->evidence = hmi_analysis_evidence(&evidence);
    if (row->kind != HM_CLASS_NONHOLONOMIC) {
        status = drop_zeros(a, form);
        if (status == HM_OK || status == HM_ERR_LIMIT)
            status = find_integral(a, k, form);
    }
    return status == HM_OK ? show_frobenius(a, k) : status;
}

/* ---- nonlinear constraints ---- */

static hm_reduction reduction_of(hmi_quadratic_kind kind)
{
    static const hm_reduction list[] = {HM_REDUCTION_NONE,   HM_REDUCTION_FOLLOWS,
                                        HM_REDUCTION_SQUARE, HM_REDUCTION_BRANCHES,
                                        HM_REDUCTION_SUM,    HM_REDUCTION_LINEAR};
    return list[kind];
}

static hm_status show_reduction(hmi_analysis *a, size_t k, const hmi_quadratic *q)
{
    hm_constraint_analysis *row = &a->rows[k];
    hm_class weakest = HM_CLASS_SEMIHOLONOMIC, kind;
    hmi_evidence evidence;
    row->reduction = reduction_of(q->kind);
    row->redundant = q->kind == HMI_FOLLOWS;
    for (size_t i = 0; i < q->rows; i++) {
        hm_status status = class_of_form(a, q->first_row + i, &kind, &evidence);
        if (status != HM_OK)
            return status;
        row->linear_form = hmi_analysis_form(a, &a->forms.rows[q->first_row + i].form,
                                             row->linear_form);
        if (!row->linear_form)
            return HM_ERR_NOMEM;
        weakest = kind > weakest ? kind : weakest;
        if (i == 0)
            row->linear_kind = kind;
    }
    if (q->kind == HMI_BRANCHES && !(row->other_form = hmi_analysis_form(a, &q->other, NULL)))
        return HM_ERR_NOMEM;
    if (q->kind == HMI_BRANCHES &&
        q->both) { /* either branch may hold, so the weaker class counts */
        a->forms.rows[a->forms.row_count] = (hmi_form_row){.pfaffian = true, .form = q->other};
        hm_status status = class_of_form(a, a->forms.row_count, &kind, &evidence);
        if (status != HM_OK)
            return status;
        weakest = kind > weakest ? kind : weakest;
    }
    if (q->kind != HMI_NOT_LINEAR && q->side != HMI_NONE) {
        row->sign_condition = hmi_analysis_print(a, &a->forms.graph, q->side);
        if (!row->sign_condition)
            return HM_ERR_NOMEM;
    }
    row->evidence = hmi_analysis_evidence(&q->evidence);
    if (q->rows && weakest != HM_CLASS_NONHOLONOMIC)
        row->kind = weakest;
    return HM_OK;
}

/* Does the gradient by q' vanish, or not exist, at rest? */
static hm_status look_for_lost_row(hmi_analysis *a, size_t k)
{
    hmi_series jet;
    hmi_curve point;
    hmi_form gradient = {0};
    hmi_forms *f = &a->forms;
    hm_status status = hmi_form_of_velocities(f, f->rows[k].residual, &gradient);
    hmi_series_init(&jet, a->allocator, a->model, &f->graph);
    for (size_t i = 0; status == HM_OK && i < gradient.count; i++)
        if (gradient.at[i] < f->n)
            status = hmi_series_add(&jet, gradient.value[i]);
    hmi_curve_init(&point, f, 1, 128);
    if (status == HM_OK)
        status = hmi_sample(&a->sampler, &point);
    if (status == HM_OK) {
        bool some = false, all = true;
        hmi_curve_evaluate(&point, &jet, 128);
        for (size_t i = 0; i < jet.roots.count; i++) {
            all &= arb_is_finite(hmi_series_root(&jet, i, 0));
            some |= !arb_contains_zero(hmi_series_root(&jet, i, 0));
        }
        a->rows[k].lost_at_rest = !some || !all;
    }
    hmi_curve_clear(&point);
    hmi_series_release(&jet);
    return status;
}

static hm_status classify_nonlinear(hmi_analysis *a, size_t k)
{
    hm_constraint_analysis *row = &a->rows[k];
    hmi_quadratic q;
    hmi_form at_rest = {0};
    row->kind = HM_CLASS_NONLINEAR_NONHOLONOMIC;
    const hmi_series_state initial = hmi_analysis_initial(a);
    hm_status status = hmi_study_quadratic(&a->sampler, k, &initial, &q);
    if (status == HM_OK && q.kind == HMI_NOT_LINEAR)
        status = hmi_study_disguise(&a->sampler, k, &initial, &q);
    if (status == HM_OK)
        status = show_reduction(a, k, &q);
    if (status == HM_OK)
        status = hmi_form_of_velocities(&a->forms, a->forms.rows[k].residual, &at_rest);
    if (status == HM_OK)
        row->catastatic = hmi_form_component(&a->forms, &at_rest, a->forms.n) ==
                          a->forms.graph.zero;
    return status == HM_OK ? look_for_lost_row(a, k) : status;
}

/* ---- one constraint of any kind ---- */

static hm_status classify_position(hmi_analysis *a, size_t k)
{
    hm_constraint_analysis *row = &a->rows[k];
    row->potential = hmi_analysis_print(a, &a->forms.graph, a->forms.rows[k].residual);
    if (!row->potential)
        return HM_ERR_NOMEM;
    hm_status status = look_at_rest(a, &a->forms.rows[k].form, &row->catastatic);
    row->kind = HM_CLASS_HOLONOMIC;
    return status == HM_ERR_NUMERIC ? HM_OK : status;
}

/* psi = c in place of its derivative, c of the initial state: a row of velocity level from now on. */
static hm_status take_integral(hmi_analysis *a, size_t k, hmi_expr psi, bool linear)
{
    hm_constraint_analysis *row = &a->rows[k];
    hmi_form_row *form = &a->forms.rows[k];
    hmi_graph *g = &a->forms.graph;
    hm_status status = hmi_analysis_values(a, g, &psi, 1, &row->constant);
    row->integrated = hmi_analysis_print(a, g, psi);
    if (status != HM_OK || !row->integrated)
        return status != HM_OK ? status : HM_ERR_NOMEM;
    if (!isfinite(row->constant))
        return HM_ERR_NUMERIC;
    if (fabs(row->constant) < 1e-12)
        row->constant = 0;
    form->residual = hmi_sub(g, psi, hmi_number(g, row->constant));
    form->pfaffian = row->linear = linear;
    return linear ? hmi_form_of_velocities(&a->forms, form->residual, &form->form)
                  : hmi_forms_status(&a->forms);
}

/* A constraint on accelerations leaves positions and velocities free, unless it is the derivative of one
 * on velocities. */
static hm_status classify_acceleration(hmi_analysis *a, size_t k)
{
    hm_constraint_analysis *row = &a->rows[k];
    hmi_expr psi;
    bool linear = false;
    hm_status status = hmi_integrate_acceleration(&a->sampler, a->forms.rows[k].residual, &psi,
                                                  &linear);
    if (status != HM_OK)
        return status;
    if (psi != HMI_NONE) {
        status = take_integral(a, k, psi, linear);
        if (status == HM_OK)
            status = linear ? classify_linear(a, k) : classify_nonlinear(a, k);
        return undecided(a, k, status);
    }
    row->kind = HM_CLASS_NONHOLONOMIC;
    return hmi_analysis_remark(
        a,
        "'%s' restricts accelerations and was not found to be the derivative of a constraint on "
        "velocities: it leaves positions and velocities free",
        row->name);
}

hm_status hmi_classify_row(hmi_analysis *a, size_t k)
{
    hm_constraint_analysis *row = &a->rows[k];
    hm_status status;
    if (row->level == HM_LEVEL_ACCELERATION)
        return classify_acceleration(a, k);
    if (row->level == HM_LEVEL_POSITION)
        return classify_position(a, k);
    status = row->linear ? classify_linear(a, k) : classify_nonlinear(a, k);
    return undecided(a, k, status);
}
