/* What every format uses: output in pieces, expressions, and which parts of them get names. */
#include "output/derive/derivation.h"

/* ---- output ---- */

void hmi_report_flush(hmi_report *report)
{
    if (report->text.failed && report->status == HM_OK)
        report->status = HM_ERR_NOMEM;
    if (report->status == HM_OK && report->text.length &&
        !report->writer(report->user, report->text.data, report->text.length))
        report->status = HM_ERR_IO;
    report->text.length = 0;
    if (report->text.data)
        report->text.data[0] = '\0';
}

void hmi_report_flush_if_large(hmi_report *report)
{
    if (report->text.length > 1 << 16)
        hmi_report_flush(report);
}

void hmi_report_expr(hmi_report *report, hmi_expr e)
{
    hm_status status = hmi_print(&report->text, &report->view->graph, e, &report->print);
    hmi_report_note(report, status);
}

void hmi_report_plain(hmi_report *report, hmi_expr e)
{
    const hmi_shared *shared = report->print.shared;
    if (report->plain)
        report->print.shared = NULL;
    hmi_report_expr(report, e);
    report->print.shared = shared;
}

hmi_expr hmi_report_row(hmi_report *report, const hmi_expr_matrix *A, const hmi_expr *values,
                        size_t i)
{
    hmi_graph *g = &report->view->graph;
    hmi_expr sum = g->zero;
    for (size_t k = A->start[i]; k < A->start[i + 1]; k++)
        sum = hmi_add(
            g, sum, hmi_mul(g, values[k], hmi_symbol(g, HMI_SYM_ACCELERATION, A->column.data[k])));
    return sum;
}

/* ---- named parts ---- */

static void add_all(hmi_roots *roots, const hmi_expr *e, size_t count)
{
    for (size_t k = 0; k < count; k++)
        if (e[k] != HMI_NONE)
            hmi_roots_add(roots, e[k]);
}

/* What JSON prints as the model has it. */
static void add_model(const hmi_derivation_view *view, hmi_roots *roots)
{
    const hm_model *model = view->model;
    add_all(roots, &view->lagrangian, 1);
    for (size_t i = 0; i < model->constraints.count; i++)
        add_all(roots, &model->constraints.data[i].residual, 1);
    for (size_t i = 0; i < model->servo_rows.count; i++)
        add_all(roots, &model->servo_rows.data[i].row.residual, 1);
    for (size_t i = 0; i < model->inputs.count; i++)
        add_all(roots, &model->inputs.data[i].value, 1);
    for (size_t i = 0; i < model->states.count; i++)
        add_all(roots, &model->states.data[i].rate, 1);
}

static size_t residual_count(const hmi_derivation_view *view)
{
    return view->model->constraints.count + view->model->servo_rows.count;
}

static void add_printed(const hmi_report *report, hmi_roots *roots)
{
    const hmi_derivation_view *view = report->view;
    const hmi_derived *d = &view->system->derived;
    size_t n = view->n, m = view->m, closed = view->closed ? n : 0;
    if (report->complete)
        add_model(view, roots);
    if (!report->plain) {
        add_all(roots, &view->kinetic, 1);
        add_all(roots, &view->potential, 1);
        add_all(roots, view->residual, residual_count(view));
    }
    add_all(roots, view->M, d->M.value.count);
    add_all(roots, view->Q, n);
    add_all(roots, view->A, d->constraints.A.value.count);
    add_all(roots, view->b, m);
    add_all(roots, view->C, n);
    add_all(roots, view->servo_A, d->servos.A.value.count);
    add_all(roots, view->servo_b, d->servos.count);
    add_all(roots, view->lambda, view->closed ? m : 0);
    add_all(roots, view->Qi, closed);
    add_all(roots, view->Qni, closed);
    add_all(roots, view->qdd, closed);
    const hmi_expr *lists[16];
    size_t counts[16], count = hmi_on_constraints_roots(view, lists, counts);
    for (size_t k = 0; k < count; k++)
        add_all(roots, lists[k], counts[k]);
}

bool hmi_report_wider(hmi_report *report, uint64_t width)
{
    const hmi_derivation_view *view = report->view;
    hm_status status = HM_OK;
    uint64_t largest = 0;
    for (size_t i = 0; status == HM_OK && i < residual_count(view) + 2; i++) {
        uint64_t one = 0;
        const hmi_expr *e = i == 0   ? &view->kinetic
                            : i == 1 ? &view->potential
                                     : &view->residual[i - 2];
        if (*e != HMI_NONE)
            status = hmi_printed_width(view->allocator, &view->graph, e, 1, &one);
        largest = one > largest ? one : largest;
    }
    hmi_report_note(report, status);
    return largest > width;
}

/* Where every line is short enough without names, only what recurs often gets one. */
void hmi_report_name_parts(hmi_report *report, const hmi_shared_options *options)
{
    const hmi_derivation_view *view = report->view;
    hmi_shared *shared = &report->shared;
    hmi_shared_options chosen = {.saving = UINT32_MAX, .longest = options->longest};
    hmi_roots roots = {.allocator = view->allocator};
    add_printed(report, &roots);
    const hmi_expr *list = roots.list.data;
    hm_status status = roots.failed
                           ? HM_ERR_NOMEM
                           : hmi_shared_pick(shared, &view->graph, list, roots.list.count, &chosen);
    bool short_lines = shared->nodes.count == 0;
    chosen.saving = options->saving * (short_lines ? 4 : 1);
    if (status == HM_OK)
        status = hmi_shared_pick(shared, &view->graph, list, roots.list.count, &chosen);
    hmi_report_note(report, status);
    report->print.shared = shared;
    hmi_array_release(view->allocator, &roots.list);
}
