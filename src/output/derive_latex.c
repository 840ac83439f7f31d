/* `derive` as a LaTeX document that compiles with amsmath. */
#include "output/derivation.h"

#include <string.h>

static void coordinate(hmi_report *r, size_t i, int dots)
{
    hmi_print_name(&r->text, HMI_PRINT_LATEX, hm_model_coordinate_name(r->view->model, i), dots);
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

static void equals(hmi_report *r, hmi_expr e)
{
    hmi_text_add(&r->text, " &= ");
    hmi_report_expr(r, e);
    hmi_text_add(&r->text, " \\\\\n");
}

static void vector(hmi_report *r, const char *letter, const hmi_expr *list, bool zeros)
{
    size_t shown = 0;
    for (size_t i = 0; i < r->view->n; i++) {
        if (!zeros && list[i] == r->view->graph.zero)
            continue;
        hmi_text_addf(&r->text, "%s_{", letter);
        coordinate(r, i, 0);
        hmi_text_add(&r->text, "}");
        equals(r, list[i]);
        shown++;
    }
    if (shown == 0)
        hmi_text_addf(&r->text, "%s &= 0 \\\\\n", letter);
}

/* ---- the steps ---- */

static void write_coordinates(hmi_report *r)
{
    begin(r, "Coordinates");
    hmi_text_add(&r->text, "q &= (");
    for (size_t i = 0; i < r->view->n; i++) {
        hmi_text_add(&r->text, i ? ",\\ " : "");
        coordinate(r, i, 0);
        if (i % 12 == 11 && i + 1 < r->view->n)
            hmi_text_add(&r->text, ", \\\\\n&\\quad ");
    }
    hmi_text_add(&r->text, ")");
    end(r);
}

enum { MOST_MATRIX = 10 }; /* amsmath's MaxMatrixCols */

static hmi_expr entry_of(const hmi_derivation_view *view, const hmi_sparse *pattern,
                         const hmi_expr *values, size_t i, size_t j)
{
    for (size_t k = pattern->start[i]; k < pattern->start[i + 1]; k++)
        if (pattern->column.data[k] == j)
            return values[k];
    return view->graph.zero;
}

static void matrix(hmi_report *r, const char *letter, const hmi_sparse *pattern,
                   const hmi_expr *values, bool symmetric)
{
    hmi_text_addf(&r->text, "%s &= \\begin{bmatrix}\n", letter);
    for (size_t i = 0; i < pattern->rows; i++)
        for (size_t j = 0; j < pattern->columns; j++) {
            size_t row = symmetric && j > i ? j : i, column = symmetric && j > i ? i : j;
            hmi_report_expr(r, entry_of(r->view, pattern, values, row, column));
            hmi_text_add(&r->text, j + 1 < pattern->columns ? " & " : " \\\\\n");
        }
    hmi_text_add(&r->text, "\\end{bmatrix} \\\\\n");
}

/* Larger matrices entry by entry. */
static void entries(hmi_report *r, const char *letter, const hmi_sparse *pattern,
                    const hmi_expr *values, bool rows_are_constraints)
{
    for (size_t i = 0; i < pattern->rows; i++)
        for (size_t k = pattern->start[i]; k < pattern->start[i + 1]; k++) {
            hmi_text_addf(&r->text, "%s_{", letter);
            if (rows_are_constraints)
                label(r, r->view->model->constraints.data[i].name);
            else
                coordinate(r, i, 0);
            hmi_text_add(&r->text, ",");
            coordinate(r, pattern->column.data[k], 0);
            hmi_text_add(&r->text, "}");
            equals(r, values[k]);
        }
}

static void energy(hmi_report *r, const char *letter, hmi_expr e, bool shown)
{
    if (!shown)
        return;
    hmi_text_add(&r->text, letter);
    equals(r, e);
}

static void write_unconstrained(hmi_report *r)
{
    const hmi_derivation_view *view = r->view;
    const hmi_sparse *M = &view->system->derived.M;
    begin(r, "Unconstrained motion $M\\ddot q = Q$");
    energy(r, "T", view->kinetic, view->model->kinetic != view->graph.zero);
    energy(r, "V", view->potential, view->model->potential != view->graph.zero);
    energy(r, "L", view->lagrangian, view->model->has_lagrangian);
    energy(r, "D", view->dissipation, view->model->dissipation != view->graph.zero);
    if (view->n <= MOST_MATRIX)
        matrix(r, "M", M, view->M, true);
    else
        entries(r, "M", M, view->M, false);
    vector(r, "Q", view->Q, true);
    end(r);
}

static void write_constraints(hmi_report *r)
{
    const hm_model *model = r->view->model;
    if (model->constraints.count + model->servo_rows.count == 0)
        return;
    begin(r, "Constraints");
    for (size_t i = 0; i < model->constraints.count + model->servo_rows.count; i++) {
        size_t servo = i - model->constraints.count;
        const hmi_constraint *row = i < model->constraints.count
                                        ? &model->constraints.data[i]
                                        : &model->servo_rows.data[servo].row;
        hmi_expr e = row->residual;
        if (r->view->normal)
            e = hmi_normal_form(r->view->normal, e);
        label(r, row->name);
        hmi_text_add(&r->text, ":\\quad & ");
        hmi_report_expr(r, e);
        hmi_text_add(&r->text, " = 0 \\\\\n");
    }
    end(r);
}

static void write_standard_form(hmi_report *r)
{
    const hmi_derivation_view *view = r->view;
    const hmi_sparse *A = &view->system->derived.constraints.A;
    if (view->m == 0)
        return;
    begin(r, "Standard form $A\\ddot q = b$");
    if (view->n <= MOST_MATRIX)
        matrix(r, "A", A, view->A, false);
    else
        entries(r, "A", A, view->A, true);
    for (size_t i = 0; i < view->m; i++) {
        hmi_text_add(&r->text, "b_{");
        label(r, view->model->constraints.data[i].name);
        hmi_text_add(&r->text, "}");
        equals(r, view->b[i]);
    }
    end(r);
}

static void write_force(hmi_report *r)
{
    const hmi_derivation_view *view = r->view;
    if (view->m == 0)
        return;
    begin(r, "Constraint force $Q^c = Q^c_i + Q^c_{ni}$");
    if (view->closed) {
        for (size_t k = 0; k < view->m; k++) {
            hmi_text_add(&r->text, "\\lambda_{");
            label(r, view->model->constraints.data[k].name);
            hmi_text_add(&r->text, "}");
            equals(r, view->lambda[k]);
        }
    } else {
        hmi_text_add(&r->text, "\\lambda &= (A M^{-1} A^{T})^{+} (b - A M^{-1} Q) \\\\\n"
                               "Q^c_i &= A^{T} \\lambda \\\\\n");
    }
    if (view->system->derived.has_nonideal) {
        vector(r, "C", view->C, false);
        if (view->closed)
            vector(r, "Q^{ni}", view->Qni, false);
    }
    end(r);
}

static void write_motion(hmi_report *r)
{
    const hmi_derivation_view *view = r->view;
    begin(r, "Equations of motion");
    if (!view->closed)
        hmi_text_add(&r->text, "M \\ddot q &= Q + Q^c");
    for (size_t i = 0; view->closed && i < view->n; i++) {
        coordinate(r, i, 2);
        equals(r, view->qdd[i]);
    }
    end(r);
}

void hmi_report_latex(hmi_report *r)
{
    const hm_model *model = r->view->model;
    hmi_text_add(&r->text, "\\documentclass{article}\n\\usepackage[utf8]{inputenc}\n"
                           "\\usepackage{amsmath}\n\\allowdisplaybreaks\n\\begin{document}\n"
                           "\\section*{");
    escape(r, hm_model_title(model) ? hm_model_title(model) : hm_model_name(model));
    hmi_text_add(&r->text, "}\n");
    write_coordinates(r);
    write_unconstrained(r);
    write_constraints(r);
    write_standard_form(r);
    write_force(r);
    write_motion(r);
    hmi_text_add(&r->text, "\n\\end{document}\n");
}
