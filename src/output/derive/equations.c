/* Writes the lines that text and LaTeX have in common, by the style of the report (equations.h). */
#include "output/derive/equations.h"

/* ---- lines ---- */

size_t hmi_line_begin(hmi_report *r)
{
    hmi_report_flush_if_large(r);
    size_t start = r->text.length;
    hmi_text_add(&r->text, r->style->indent);
    return start;
}

void hmi_line_end(hmi_report *r, size_t start)
{
    r->style->wrap(&r->text, start);
    hmi_text_add(&r->text, r->style->line_end);
}

void hmi_line_equals(hmi_report *r, size_t start, hmi_expr e)
{
    hmi_text_add(&r->text, r->style->equals);
    hmi_report_expr(r, e);
    hmi_line_end(r, start);
}

static void print_name(hmi_report *r, const char *name, int dots)
{
    hmi_model_print_name(r->view->model, &r->text, r->print.style, name, dots);
}

void hmi_write_coordinate(hmi_report *r, size_t i, int dots)
{
    print_name(r, hm_model_coordinate_name(r->view->model, i), dots);
}

/* ---- vectors and matrices ---- */

void hmi_write_vector(hmi_report *r, const char *letter, const hmi_expr *list, bool zeros)
{
    size_t shown = 0;
    for (size_t i = 0; i < r->view->n; i++) {
        if (!zeros && list[i] == r->view->graph.zero)
            continue;
        size_t start = hmi_line_begin(r);
        hmi_text_addf(&r->text, "%s%s", letter, r->style->index);
        hmi_write_coordinate(r, i, 0);
        hmi_text_add(&r->text, r->style->index_end);
        hmi_line_equals(r, start, list[i]);
        shown++;
    }
    if (shown == 0)
        hmi_text_addf(&r->text, "%s%s%s0%s", r->style->indent, letter, r->style->equals,
                      r->style->line_end);
}

void hmi_write_row_value(hmi_report *r, const char *letter, const char *name, hmi_expr e)
{
    size_t start = hmi_line_begin(r);
    hmi_text_addf(&r->text, "%s%s", letter, r->style->index);
    r->style->name(r, name);
    hmi_text_add(&r->text, r->style->index_end);
    hmi_line_equals(r, start, e);
}

void hmi_write_entries(hmi_report *r, const char *letter, const hmi_expr_matrix *pattern,
                       const hmi_expr *values, bool rows_are_constraints)
{
    for (size_t i = 0; i < pattern->rows; i++)
        for (size_t k = pattern->start[i]; k < pattern->start[i + 1]; k++) {
            if (values[k] == r->view->graph.zero)
                continue;
            size_t start = hmi_line_begin(r);
            hmi_text_addf(&r->text, "%s%s", letter, r->style->index);
            if (rows_are_constraints)
                r->style->name(r, r->view->model->constraints.data[i].name);
            else
                hmi_write_coordinate(r, i, 0);
            hmi_text_add(&r->text, r->style->comma);
            hmi_write_coordinate(r, pattern->column.data[k], 0);
            hmi_text_add(&r->text, r->style->index_end);
            hmi_line_equals(r, start, values[k]);
        }
}

hmi_expr hmi_entry_of(const hmi_derivation_view *view, const hmi_expr_matrix *pattern,
                      const hmi_expr *values, bool symmetric, size_t i, size_t j)
{
    bool swap = symmetric && j > i;
    size_t row = swap ? j : i, column = swap ? i : j;
    for (size_t k = pattern->start[row]; k < pattern->start[row + 1]; k++)
        if (pattern->column.data[k] == column)
            return values[k];
    return view->graph.zero;
}

/* ---- what the model has ---- */

static void write_signal(hmi_report *r, const char *kind, const char *name, int dots, hmi_expr e)
{
    size_t start = hmi_line_begin(r);
    hmi_text_add(&r->text, kind);
    print_name(r, name, dots);
    hmi_line_equals(r, start, e);
}

void hmi_write_signals(hmi_report *r)
{
    const hm_model *model = r->view->model;
    for (size_t i = 0; i < model->inputs.count; i++)
        write_signal(r, r->style->input, model->inputs.data[i].name, 0,
                     model->inputs.data[i].value);
    for (size_t i = 0; i < model->states.count; i++)
        write_signal(r, r->style->state, model->states.data[i].name, 1, model->states.data[i].rate);
}

static void write_energy(hmi_report *r, const char *letter, hmi_expr e, bool shown)
{
    if (!shown)
        return;
    size_t start = hmi_line_begin(r);
    hmi_text_addf(&r->text, "%s%s", letter, r->style->equals);
    hmi_report_plain(r, e);
    hmi_line_end(r, start);
}

void hmi_write_energies(hmi_report *r)
{
    const hmi_derivation_view *view = r->view;
    write_energy(r, "T", view->kinetic, view->model->kinetic != view->graph.zero);
    write_energy(r, "V", view->potential, view->model->potential != view->graph.zero);
    write_energy(r, "L", view->lagrangian, view->model->has_lagrangian);
    write_energy(r, "D", view->dissipation, view->model->dissipation != view->graph.zero);
}

static const char *level_remark(const hmi_constraint *row)
{
    if (row->level == HM_LEVEL_POSITION)
        return row->rheonomic ? "position, depends on t" : "position";
    if (row->level == HM_LEVEL_ACCELERATION)
        return "acceleration";
    if (!row->linear)
        return "velocity, nonlinear";
    return row->rheonomic ? "velocity, linear, depends on t" : "velocity, linear";
}

static void write_residual(hmi_report *r, const char *kind, const hmi_constraint *row)
{
    size_t start = hmi_line_begin(r);
    hmi_text_add(&r->text, kind);
    r->style->name(r, row->name);
    hmi_text_add(&r->text, r->style->colon);
    hmi_report_plain(r, hmi_derivation_normal(r->view, row->residual));
    hmi_text_add(&r->text, " = 0");
    if (r->style->levels)
        hmi_text_addf(&r->text, "     (%s)", level_remark(row));
    hmi_line_end(r, start);
}

void hmi_write_residuals(hmi_report *r)
{
    const hm_model *model = r->view->model;
    for (size_t i = 0; i < model->constraints.count; i++)
        write_residual(r, "", &model->constraints.data[i]);
    for (size_t i = 0; i < model->servo_rows.count; i++)
        write_residual(r, r->style->servo, &model->servo_rows.data[i].row);
}

/* ---- what was derived ---- */

void hmi_write_standard_row(hmi_report *r, const char *name, const hmi_expr_matrix *A,
                            const hmi_expr *values, size_t i, hmi_expr b)
{
    size_t start = hmi_line_begin(r);
    r->style->name(r, name);
    hmi_text_add(&r->text, r->style->colon);
    hmi_report_expr(r, hmi_report_row(r, A, values, i));
    hmi_text_add(&r->text, " = ");
    hmi_report_expr(r, b);
    hmi_line_end(r, start);
}

void hmi_write_servo_rows(hmi_report *r)
{
    const hmi_derivation_view *view = r->view;
    for (size_t i = 0; i < view->system->derived.servos.count; i++)
        hmi_write_standard_row(r, view->model->servo_rows.data[i].row.name,
                               &view->system->derived.servos.A, view->servo_A, i, view->servo_b[i]);
}

void hmi_write_reactions(hmi_report *r)
{
    const hmi_derivation_view *view = r->view;
    if (view->m && view->closed) {
        for (size_t k = 0; k < view->m; k++)
            hmi_write_row_value(r, r->style->lambda, view->model->constraints.data[k].name,
                                view->lambda[k]);
        hmi_write_vector(r, r->style->Qi, view->Qi, false);
    } else if (view->m) {
        hmi_text_add(&r->text, r->style->lambda_formula);
    }
    if (!view->system->derived.has_nonideal)
        return;
    hmi_write_vector(r, "C", view->C, false);
    if (view->closed)
        hmi_write_vector(r, r->style->Qni, view->Qni, false);
    else
        hmi_text_add(&r->text, r->style->Qni_formula);
}

void hmi_write_accelerations(hmi_report *r)
{
    for (size_t i = 0; r->view->closed && i < r->view->n; i++) {
        size_t start = hmi_line_begin(r);
        hmi_write_coordinate(r, i, 2);
        hmi_line_equals(r, start, r->view->qdd[i]);
    }
}

void hmi_write_parts(hmi_report *r)
{
    for (size_t k = 0; k < r->shared.nodes.count && r->status == HM_OK; k++) {
        size_t start = hmi_line_begin(r);
        r->status = hmi_print_part_name(&r->text, k, &r->print);
        hmi_text_add(&r->text, r->style->equals);
        if (r->status == HM_OK)
            r->status = hmi_print_part_value(&r->text, &r->view->graph, k, &r->print);
        hmi_line_end(r, start);
    }
}
