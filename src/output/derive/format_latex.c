/* `derive` as a LaTeX document that compiles with amsmath. */
#include "output/derive/equations.h"
#include "output/derive/layout.h"

#include <string.h>

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

static void wrap(hmi_text *text, size_t start)
{
    hmi_wrap_latex(text, start, LINE_WIDTH);
}

static const struct hmi_equation_style latex_style = {
    .indent = "",
    .line_end = " \\\\\n",
    .equals = " &= ",
    .index = "_{",
    .comma = ",",
    .index_end = "}",
    .colon = ":\\quad & ",
    .input = "",
    .state = "",
    .servo = "",
    .lambda = "\\lambda",
    .Qi = "Q^{i}",
    .Qni = "Q^{ni}",
    .lambda_formula = "\\lambda &= (A M^{-1} A^{T})^{+} (b - A M^{-1} Q),\\qquad"
                      " Q^{i} = A^{T} \\lambda \\\\\n",
    .Qni_formula = "Q^{ni} &= C - A^{T} (A M^{-1} A^{T})^{+} A M^{-1} C \\\\\n",
    .name = label,
    .wrap = wrap,
};

/* ---- the steps ---- */

/* Names in brackets, twelve to a line. */
static void write_coordinates(hmi_report *r)
{
    begin(r, "Coordinates");
    hmi_text_add(&r->text, "q &= (");
    for (size_t i = 0; i < r->view->n; i++) {
        hmi_text_add(&r->text, i ? ",\\ " : "");
        if (i && i % 12 == 0)
            hmi_text_add(&r->text, "\\\\\n&\\quad ");
        hmi_write_coordinate(r, i, 0);
    }
    hmi_text_add(&r->text, ") \\\\\n");
    hmi_write_signals(r);
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
            hmi_report_expr(r, hmi_entry_of(r->view, pattern, values, symmetric, i, j));
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

static void write_unconstrained(hmi_report *r)
{
    const hmi_derivation_view *view = r->view;
    const hmi_expr_matrix *M = &view->system->derived.M;
    begin(r, "Unconstrained motion $M\\ddot q = Q$");
    hmi_write_energies(r);
    if (!matrix(r, "M", M, view->M, true))
        hmi_write_entries(r, "M", M, view->M, false);
    hmi_write_vector(r, "Q", view->Q, true);
    end(r);
}

static void write_constraints(hmi_report *r)
{
    const hm_model *model = r->view->model;
    if (model->constraints.count + model->servo_rows.count == 0)
        return;
    begin(r, "Constraints");
    hmi_write_residuals(r);
    end(r);
    if (model->has_contacts)
        hmi_text_add(&r->text,
                     "One-sided constraints ($\\ge 0$) and those under a condition are written as "
                     "they act while they hold; forces of friction are not written out.\n\n");
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
        hmi_write_entries(r, "A", A, view->A, true);
    for (size_t i = 0; i < view->m; i++)
        hmi_write_row_value(r, "b", view->model->constraints.data[i].name, view->b[i]);
    hmi_write_servo_rows(r);
    end(r);
}

static void write_force(hmi_report *r)
{
    if (r->view->m == 0)
        return;
    begin(r, "Constraint force $Q^{c} = Q^{i} + Q^{ni}$");
    hmi_write_reactions(r);
    end(r);
}

static void write_motion(hmi_report *r)
{
    const hmi_derivation_view *view = r->view;
    begin(r, "Equations of motion");
    if (!view->closed)
        hmi_text_addf(&r->text, "M \\ddot q &= Q%s + Q^{c} \\\\\n",
                      view->model->servos.count ? " + u" : "");
    hmi_write_accelerations(r);
    end(r);
}

static void write_on_constraints(hmi_report *r)
{
    const hmi_on_constraints *on = r->view->on;
    if (!on || !on->shorter)
        return;
    begin(r, "On the constraints");
    hmi_write_where_it_holds(r);
    end(r);
    hmi_text_addf(&r->text,
                  "Where these hold, the following is shorter (and the same as above: at %zu "
                  "random states, in %ld bits):\n"
                  "\\begin{align*}\n",
                  on->states, on->bits);
    hmi_write_on_constraints(r);
    end(r);
}

static void write_parts(hmi_report *r)
{
    if (r->shared.nodes.count == 0)
        return;
    begin(r, "where");
    hmi_write_parts(r);
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
    r->style = &latex_style;
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
    write_on_constraints(r);
    write_parts(r);
    hmi_text_add(&r->text, "\n\\end{document}\n");
}
