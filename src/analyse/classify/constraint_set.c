/* The constraints as a set: rank, growth, integrable combinations; the principles that apply.
 *
 * The multiplier rule (L + mu_k g_k varied freely) gives d'Alembert's equations exactly where every
 * G_kj = d/dt dg_k/dq'_j - dg_k/dq_j lies in the span of the rows: G = 0 suffices [Flannery (33)],
 * but is not needed (errata 3.4). Verified: test/cases/test_classify.c
 */
#include "analyse/classify/hidden.h"
#include "analyse/integrability/transport.h"

#include <math.h>

/* Lists the Pfaffian rows, including those that stand for quadratic constraints. */
static size_t *list_forms(hmi_analysis *a, size_t *count)
{
    size_t *list = hmi_arena_alloc(&a->arena, (a->forms.row_count + 1) * sizeof *list);
    *count = 0;
    for (size_t i = 0; list && i < a->forms.row_count; i++)
        if (a->forms.rows[i].pfaffian)
            list[(*count)++] = i;
    return list;
}

static bool needs_time(const hmi_analysis *a, const size_t *list, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        const hmi_form_row *row = &a->forms.rows[list[i]];
        if (row->time_occurs ||
            hmi_form_component(&a->forms, &row->form, a->forms.n) != a->forms.graph.zero)
            return true;
    }
    return false;
}

/* ---- ranks ---- */

bool hmi_row_vanishes(const hm_constraint_analysis *row)
{
    return row->reduction == HM_REDUCTION_SQUARE || row->reduction == HM_REDUCTION_SUM;
}

/* Rows of A as derived, at a state that the forms allow. */
static hm_status add_rows(hmi_analysis *a, hmi_transport *tr, hmi_series *jet, size_t *rank)
{
    hmi_echelon e;
    const hmi_expr_matrix *A = &a->system->derived.constraints.A;
    size_t n = a->forms.n, m = A->rows;
    hm_status status = hmi_echelon_init(&e, a->allocator, n, m < n ? m : n, tr->precision,
                                        tr->inexact);
    if (status != HM_OK)
        return status;
    arb_ptr row = _arb_vec_init((slong)n);
    for (size_t i = 0; i < m; i++) {
        _arb_vec_zero(row, (slong)n);
        for (size_t k = A->start[i]; k < A->start[i + 1]; k++)
            arb_set(row + A->column.data[k], hmi_series_root(jet, k, 0));
        if (!hmi_row_vanishes(&a->rows[i]) && hmi_echelon_add(&e, row, 1) == HMI_UNDECIDED)
            status = HM_ERR_LIMIT;
    }
    *rank = e.rank;
    _arb_vec_clear(row, (slong)n);
    hmi_echelon_release(&e);
    return status;
}

/* The rank of A at a generic admissible state. */
static hm_status find_rank(hmi_analysis *a, const hmi_form *const *form, size_t count, size_t *rank)
{
    hmi_series jet;
    hmi_transport tr = {0};
    const hmi_expr_matrix *A = &a->system->derived.constraints.A;
    hmi_series_init(&jet, a->allocator, a->model, &a->forms.graph);
    hm_status status = hmi_transport_init(&tr, &a->sampler, form, count, NULL, 0, a->forms.n + 1);
    for (size_t k = 0; status == HM_OK && k < A->value.count; k++)
        status = hmi_series_add(&jet, A->value.data[k]);
    for (int tries = 0; status == HM_OK && tries < 8; tries++) {
        status = hmi_transport_point(&tr, HMI_BITS << (tries / 3));
        if (status != HM_OK)
            break;
        hmi_transport_velocity(&tr);
        hmi_curve_evaluate(&tr.point, &jet, tr.precision);
        status = jet.failed ? HM_ERR_LIMIT : add_rows(a, &tr, &jet, rank);
        if (status == HM_OK)
            break;
        status = status == HM_ERR_LIMIT && tries < 7 ? HM_OK : status;
    }
    hmi_transport_release(&tr);
    hmi_series_release(&jet);
    return status;
}

/* The constraint that form i belongs to or stands for. */
static size_t constraint_of(const hmi_analysis *a, size_t i)
{
    return (size_t)(a->forms.rows[i].row - a->model->constraints.data);
}

/* Is the form integrable by itself, or one that stands for a nonlinear constraint that is? */
static bool shown_integrable(const hmi_analysis *a, size_t i)
{
    return a->forms.rows[i].pfaffian && a->rows[constraint_of(a, i)].kind <= HM_CLASS_INTEGRABLE;
}

/* Counts independent forms among the constraints that are integrable by themselves. */
static hm_status count_open(hmi_analysis *a, size_t *count)
{
    hmi_transport tr = {0};
    size_t used = 0;
    const hmi_form **form = hmi_arena_alloc(&a->arena, (a->forms.row_count + 1) * sizeof *form);
    if (!form)
        return HM_ERR_NOMEM;
    for (size_t i = 0; i < a->forms.row_count; i++)
        if (shown_integrable(a, i))
            form[used++] = &a->forms.rows[i].form;
    hm_status status = hmi_transport_init(&tr, &a->sampler, form, used, NULL, 0, a->forms.n + 1);
    if (status == HM_OK)
        status = hmi_transport_point(&tr, HMI_BITS);
    *count = tr.rank;
    hmi_transport_release(&tr);
    return status;
}

/* ---- the set ---- */

static hm_status take_flag(hmi_analysis *a, const size_t *list, size_t count, const hmi_flag *flag)
{
    hm_set_analysis *set = &a->shown.set;
    size_t *growth = hmi_arena_alloc(&a->arena, (flag->levels + 1) * sizeof *growth);
    if (!growth)
        return HM_ERR_NOMEM;
    for (size_t i = 0; i < flag->levels; i++)
        growth[i] = flag->growth[i];
    for (size_t k = 0; k < a->forms.m; k++)
        a->rows[k].in_span = a->forms.rows[k].pfaffian || a->rows[k].reduction;
    set->growth = growth;
    set->growth_count = flag->levels;
    set->with_time = flag->dimension > a->forms.n;
    set->holonomic_part = flag->integrable;
    set->configuration_dimension = a->forms.n - flag->integrable;
    set->evidence = hmi_analysis_evidence(&flag->evidence);
    for (size_t i = 0; i < count; i++) {
        size_t k = constraint_of(a, list[i]);
        a->rows[k].redundant |= list[i] < a->forms.m && !flag->independent[i];
        a->rows[k].in_span &= flag->in_span[i];
        a->rows[k].G = fmax(a->rows[k].G, flag->outside[i]);
    }
    return HM_OK;
}

static hm_status find_set(hmi_analysis *a)
{
    size_t count, open = 0, rank = 0;
    hmi_flag flag;
    hm_set_analysis *set = &a->shown.set;
    size_t *list = list_forms(a, &count);
    const hmi_form **form = hmi_arena_alloc(&a->arena, (a->forms.row_count + 1) * sizeof *form);
    if (!list || !form)
        return HM_ERR_NOMEM;
    for (size_t i = 0; i < count; i++)
        form[i] = &a->forms.rows[list[i]].form;
    hm_status status = hmi_flag_find(&a->sampler, list, count, needs_time(a, list, count), &flag);
    if (status == HM_OK)
        status = take_flag(a, list, count, &flag);
    if (status == HM_OK)
        status = find_rank(a, form, count, &rank);
    if (status == HM_OK)
        status = count_open(a, &open);
    if (status != HM_OK)
        return status;
    set->known = true;
    set->rank = rank > flag.rank ? rank : flag.rank;
    set->degrees_of_freedom = a->forms.n - set->rank;
    set->hidden = set->holonomic_part > open ? set->holonomic_part - open : 0;
    for (size_t k = 0; k < a->forms.m; k++)
        set->omitted += !a->forms.rows[k].pfaffian && a->rows[k].reduction == HM_REDUCTION_NONE;
    size_t kept = 0;
    for (size_t i = 0; i < count; i++)
        if (flag.independent[i])
            list[kept++] = list[i];
    return set->hidden ? hmi_analyse_hidden(a, list, kept) : HM_OK;
}

/* ---- principles ---- */

static bool only_potential(const hm_model *model, const hmi_graph *graph)
{
    return model->forces.count == 0 && model->nonideal.count == 0 && model->gyroscopic.count == 0 &&
           model->servo_rows.count == 0 && model->dissipation == graph->zero;
}

void hmi_find_principles(hmi_analysis *a)
{
    hm_principles *p = &a->shown.principles;
    *p = (hm_principles){.basic = true,
                         .holonomic = true,
                         .semiholonomic = true,
                         .exact = true,
                         .ideal = !a->constraints_work,
                         .potential = only_potential(a->model, &a->model->graph)};
    for (size_t k = 0; k < a->shown.constraint_count; k++) {
        const hm_constraint_analysis *row = &a->rows[k];
        bool position = row->level == HM_LEVEL_POSITION;
        bool velocity = row->level == HM_LEVEL_VELOCITY || row->integrated;
        bool linear = velocity && (row->linear || row->reduction);
        p->acceleration |= !position && !velocity;
        p->nonlinear |= velocity && !linear;
        p->basic &= position || linear;
        p->holonomic &= position;
        p->semiholonomic &= position || (linear && row->in_span);
        p->exact &= position || row->kind == HM_CLASS_SEMIHOLONOMIC;
        if (row->G > p->G) {
            p->G = row->G;
            p->worst = row->name;
        }
    }
}

hm_status hmi_analyse_constraint_set(hmi_analysis *a)
{
    hm_status status = find_set(a);
    if (status == HM_ERR_NUMERIC || status == HM_ERR_LIMIT)
        status = hmi_analysis_remark(a, "the set of constraints is not analysed: it could not be "
                                        "evaluated at any sample point");
    return status;
}
