/* `derive` as a LaTeX document that compiles with amsmath. */
#include "output/derive/derivation.h"
#include "output/derive/layout.h"

#include <string.h>

static void coordinate(hmi_report *r, size_t i, int dots)
{
    hmi_model_print_name(r->view->model, &r->text, HMI_PRINT_LATEX,
                         hm_model_coordinate_name(r->view->model, i), dots);
}

/* Text outside of formulas. */
static void escape(hmi_report *r, const char *text)
{
    for (const char *s = text; *s; s++) {
        if (strchr("#$%&_{}", *s))
            hmi_text_addf(&r->text, "\\%c", *s);
        else if (*s == '\\' || *s == '^' || *s == '~')
            hmi_text_add(&r->text, " ");
        else
            hmi_text_add_bytes(&r->text, s, 1);
    }
}

static void label(hmi_report *r, const char *text)
{
    hmi_text_add(&r->text, "\\text{");
    escape(r, text);
    hmi_text_add(&r->text, "}");
}

/* ---- blocks of aligned equations ---- */

enum { LINE_WIDTH = 88 };

static void begin(hmi_report *r, const char *title)
{
    hmi_text_addf(&r->text, "\n\\subsection*{%s}\n\\begin{align*}\n", title);
}

static void end(hmi_report *r)
{
    /* align* does not take an empty last line */
    if (r->text.length >= 4 && strcmp(r->text.data + r->text.length - 4, " \\\\\n") == 0) {
        r->text.length -= 4;
        r->text.data[r->text.length] = '\0';
    }
    hmi_text_add(&r->text, "\n\\end{align*}\n");
    hmi_report_flush(r);
}

/* Ends the line that starts at this offset, broken where it is long. */
static void end_line(hmi_report *r, size_t start)
{
    hmi_wrap_latex(&r->text, start, LINE_WIDTH);
    hmi_text_add(&r->text, " \\\\\n");
}

/* ... = e, for a line that starts at this offset. */
static void equals(hmi_report *r, size_t start, hmi_expr e)
{
    hmi_text_add(&r->text, " &= ");
    hmi_report_expr(r, e);
    end_line(r, start);
}

static void vector(hmi_report *r, const char *letter, const hmi_expr *list, bool zeros)
{
    size_t shown = 0;
    for (size_t i = 0; i < r->view->n; i++) {
        if (!zeros && list[i] == r->view->graph.zero)
            continue;
        size_t start = r->text.length;
        hmi_text_addf(&r->text, "%s_{", letter);
        coordinate(r, i, 0);
        hmi_text_add(&r->text, "}");
        equals(r, start, list[i]);
        shown++;
    }
    if (shown == 0)
        hmi_text_addf(&r->text, "%s &= 0 \\\\\n", letter);
}

/* letter_{name} = e, for a constraint. */
static void row_value(hmi_report *r, const char *letter, const char *name, hmi_expr e)
{
    size_t start = r->text.length;
    hmi_text_addf(&r->text, "%s_{", letter);
    label(r, name);
    hmi_text_add(&r->text, "}");
    equals(r, start, e);
}

/* ---- the steps ---- */

/* Names in brackets, twelve to a line. */
static void write_coordinates(hmi_report *r)
{
    const hm_model *model = r->view->model;
    begin(r, "Coordinates");
    hmi_text_add(&r->text, "q &= (");
    for (size_t i = 0; i < r->view->n; i++) {
        hmi_text_add(&r->text, i ? ",\\ " : "");
        if (i && i % 12 == 0)
            hmi_text_add(&r->text, "\\\\\n&\\quad ");
        coordinate(r, i, 0);
    }
    hmi_text_add(&r->text, ") \\\\\n");
    for (size_t i = 0; i < model->inputs.count; i++) {
        size_t start = r->text.length;
        hmi_model_print_name(r->view->model, &r->text, HMI_PRINT_LATEX, model->inputs.data[i].name,
                             0);
        equals(r, start, model->inputs.data[i].value);
    }
    for (size_t i = 0; i < model->states.count; i++) {
        size_t start = r->text.length;
        hmi_model_print_name(r->view->model, &r->text, HMI_PRINT_LATEX, model->states.data[i].name,
                             1);
        equals(r, start, model->states.data[i].rate);
    }
    end(r);
}

static void write_parameters(hmi_report *r)
{
    const hm_model *model = r->view->model;
    char number[HMI_NUMBER_TEXT];
    if (model->params.count == 0)
        return;
    hmi_text_add(&r->text, "\nwith ");
    for (size_t i = 0; i < model->params.count; i++) {
        hmi_text_add(&r->text, i ? ", $" : "$");
        hmi_model_print_name(r->view->model, &r->text, HMI_PRINT_LATEX, model->params.data[i].name,
                             0);
        hmi_text_addf(&r->text, " = %s$",
                      hmi_number_for_reading(model->params.data[i].value, number));
    }
    hmi_text_add(&r->text, ".\n");
}

enum { MOST_MATRIX = 10, MATRIX_WIDTH = 80 }; /* amsmath's MaxMatrixCols; columns that fit */

static hmi_expr entry_of(const hmi_derivation_view *view, const hmi_expr_matrix *pattern,
                         const hmi_expr *values, size_t i, size_t j)
{
    for (size_t k = pattern->start[i]; k < pattern->start[i + 1]; k++)
        if (pattern->column.data[k] == j)
            return values[k];
    return view->graph.zero;
}

/* An entry of a symmetric matrix whose lower triangle is stored, or of any other. */
static hmi_expr matrix_entry(const hmi_derivation_view *view, const hmi_expr_matrix *pattern,
                             const hmi_expr *values, bool symmetric, size_t i, size_t j)
{
    bool swap = symmetric && j > i;
    return entry_of(view, pattern, values, swap ? j : i, swap ? i : j);
}

/* Writes the matrix; takes it back and returns false where it is too wide for a page. */
static bool matrix(hmi_report *r, const char *letter, const hmi_expr_matrix *pattern,
                   const hmi_expr *values, bool symmetric)
{
    size_t start = r->text.length;
    int widths[MOST_MATRIX] = {0}, total = 0;
    if (pattern->columns > MOST_MATRIX)
        return false;
    hmi_text_addf(&r->text, "%s &= \\begin{bmatrix}\n", letter);
    for (size_t i = 0; i < pattern->rows; i++)
        for (size_t j = 0; j < pattern->columns; j++) {
            size_t cell = r->text.length;
            hmi_report_expr(r, matrix_entry(r->view, pattern, values, symmetric, i, j));
            int width = hmi_latex_width(hmi_text_view(&r->text) + cell);
            widths[j] = width > widths[j] ? width : widths[j];
            hmi_text_add(&r->text, j + 1 < pattern->columns ? " & " : " \\\\\n");
        }
    for (size_t j = 0; j < pattern->columns; j++)
        total += widths[j] + 2;
    if (total > MATRIX_WIDTH) {
        r->text.length = start;
        return false;
    }
    hmi_text_add(&r->text, "\\end{bmatrix} \\\\\n");
    return true;
}

/* Larger matrices entry by entry. */
static void entries(hmi_report *r, const char *letter, const hmi_expr_matrix *pattern,
                    const hmi_expr *values, bool rows_are_constraints)
{
    for (size_t i = 0; i < pattern->rows; i++)
        for (size_t k = pattern->start[i]; k < pattern->start[i + 1]; k++) {
            size_t start = r->text.length;
            if (values[k] == r->view->graph.zero)
                continue;
            hmi_text_addf(&r->text, "%s_{", letter);
            if (rows_are_constraints)
                label(r, r->view->model->constraints.data[i].name);
            else
                coordinate(r, i, 0);
            hmi_text_add(&r->text, ",");
            coordinate(r, pattern->column.data[k], 0);
            hmi_text_add(&r->text, "}");
            equals(r, start, values[k]);
        }
}

static void energy(hmi_report *r, const char *letter, hmi_expr e, bool shown)
{
    size_t start = r->text.length;
    if (!shown)
        return;
    hmi_text_addf(&r->text, "%s &= ", letter);
    hmi_report_plain(r, e);
    end_line(r, start);
}

static void write_unconstrained(hmi_report *r)
{
    const hmi_derivation_view *view = r->view;
    const hmi_expr_matrix *M = &view->system->derived.M;
    begin(r, "Unconstrained motion $M\\ddot q = Q$");
    energy(r, "T", view->kinetic, view->model->kinetic != view->graph.zero);
    energy(r, "V", view->potential, view->model->potential != view->graph.zero);
    energy(r, "L", view->lagrangian, view->model->has_lagrangian);
    energy(r, "D", view->dissipation, view->model->dissipation != view->graph.zero);
    if (!matrix(r, "M", M, view->M, true))
        entries(r, "M", M, view->M, false);
    vector(r, "Q", view->Q, true);
    end(r);
}

static void write_constraint(hmi_report *r, const hmi_constraint *row)
{
    size_t start = r->text.length;
    label(r, row->name);
    hmi_text_add(&r->text, ":\\quad & ");
    hmi_report_plain(r, hmi_derivation_normal(r->view, row->residual));
    hmi_text_add(&r->text, " = 0");
    end_line(r, start);
}

static void write_constraints(hmi_report *r)
{
    const hm_model *model = r->view->model;
    if (model->constraints.count + model->servo_rows.count == 0)
        return;
    begin(r, "Constraints");
    for (size_t i = 0; i < model->constraints.count; i++)
        write_constraint(r, &model->constraints.data[i]);
    for (size_t i = 0; i < model->servo_rows.count; i++)
        write_constraint(r, &model->servo_rows.data[i].row);
    end(r);
}

static void write_servo_row(hmi_report *r, size_t i)
{
    const hmi_derivation_view *view = r->view;
    size_t start = r->text.length;
    label(r, view->model->servo_rows.data[i].row.name);
    hmi_text_add(&r->text, ":\\quad & ");
    hmi_report_expr(r, hmi_report_row(r, &view->system->derived.servos.A, view->servo_A, i));
    hmi_text_add(&r->text, " = ");
    hmi_report_expr(r, view->servo_b[i]);
    end_line(r, start);
}

static void write_standard_form(hmi_report *r)
{
    const hmi_derivation_view *view = r->view;
    const hmi_expr_matrix *A = &view->system->derived.constraints.A;
    size_t servos = view->system->derived.servos.count;
    if (view->m + servos == 0)
        return;
    begin(r, "Standard form $A\\ddot q = b$");
    if (view->m && !matrix(r, "A", A, view->A, false))
        entries(r, "A", A, view->A, true);
    for (size_t i = 0; i < view->m; i++)
        row_value(r, "b", view->model->constraints.data[i].name, view->b[i]);
    for (size_t i = 0; i < servos; i++)
        write_servo_row(r, i);
    end(r);
}

static void write_force(hmi_report *r)
{
    const hmi_derivation_view *view = r->view;
    if (view->m == 0)
        return;
    begin(r, "Constraint force $Q^{c} = Q^{i} + Q^{ni}$");
    if (view->closed) {
        for (size_t k = 0; k < view->m; k++)
            row_value(r, "\\lambda", view->model->constraints.data[k].name, view->lambda[k]);
        vector(r, "Q^{i}", view->Qi, false);
    } else {
        hmi_text_add(&r->text, "\\lambda &= (A M^{-1} A^{T})^{+} (b - A M^{-1} Q),\\qquad"
                               " Q^{i} = A^{T} \\lambda \\\\\n");
    }
    if (view->system->derived.has_nonideal) {
        vector(r, "C", view->C, false);
        if (view->closed)
            vector(r, "Q^{ni}", view->Qni, false);
        else
            hmi_text_add(&r->text, "Q^{ni} &= C - A^{T} (A M^{-1} A^{T})^{+} A M^{-1} C \\\\\n");
    }
    end(r);
}

static void write_motion(hmi_report *r)
{
    const hmi_derivation_view *view = r->view;
    begin(r, "Equations of motion");
    if (!view->closed)
        hmi_text_addf(&r->text, "M \\ddot q &= Q%s + Q^{c} \\\\\n",
                      view->model->servos.count ? " + u" : "");
    for (size_t i = 0; view->closed && i < view->n; i++) {
        size_t start = r->text.length;
        coordinate(r, i, 2);
        equals(r, start, view->qdd[i]);
    }
    end(r);
}

static void write_parts(hmi_report *r)
{
    if (r->shared.nodes.count == 0)
        return;
    begin(r, "where");
    for (size_t k = 0; k < r->shared.nodes.count && r->status == HM_OK; k++) {
        hmi_report_flush_if_large(r);
        size_t start = r->text.length;
        r->status = hmi_print_part_name(&r->text, k, &r->print);
        hmi_text_add(&r->text, " &= ");
        if (r->status == HM_OK)
            r->status = hmi_print_part_value(&r->text, &r->view->graph, k, &r->print);
        end_line(r, start);
    }
    end(r);
}

/* Do the lines of the expression, written out and broken, fit the page? */
static bool fits(hmi_report *r, hmi_expr e)
{
    bool narrow = true;
    hmi_report_expr(r, e);
    hmi_wrap_latex(&r->text, 0, LINE_WIDTH);
    for (char *line = r->text.length ? r->text.data : NULL; line && narrow;) {
        char *end = strchr(line, '\n');
        if (end)
            *end = '\0';
        narrow = hmi_latex_width(line) <= LINE_WIDTH + LINE_WIDTH / 8;
        line = end ? end + 1 : NULL;
    }
    r->text.length = 0;
    return narrow;
}

/* LaTeX does not break lines inside of brackets: a long energy or constraint gets named parts. */
static void choose_parts(hmi_report *r)
{
    const hmi_shared_options options = {.saving = 60, .longest = 90};
    size_t rows = r->view->model->constraints.count + r->view->model->servo_rows.count;
    r->plain = r->plain && !hmi_report_wider(r, HMI_MOST_WRITTEN_OUT) &&
               fits(r, r->view->kinetic) && fits(r, r->view->potential);
    for (size_t i = 0; r->plain && i < rows; i++)
        r->plain = fits(r, r->view->residual[i]);
    hmi_report_name_parts(r, &options);
}

void hmi_report_latex(hmi_report *r)
{
    const hm_model *model = r->view->model;
    choose_parts(r);
    hmi_text_add(&r->text, "\\documentclass{article}\n\\usepackage[utf8]{inputenc}\n"
                           "\\usepackage{amsmath}\n\\usepackage[a4paper,margin=2cm]{geometry}\n"
                           "\\allowdisplaybreaks\n\\begin{document}\n\\section*{");
    escape(r, hm_model_title(model) ? hm_model_title(model) : hm_model_name(model));
    hmi_text_add(&r->text, "}\n");
    write_coordinates(r);
    write_parameters(r);
    write_unconstrained(r);
    write_constraints(r);
    write_standard_form(r);
    write_force(r);
    write_motion(r);
    write_parts(r);
    hmi_text_add(&r->text, "\n\\end{document}\n");
}
