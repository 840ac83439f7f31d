/* `derive` as text for a terminal: the seven steps, Unicode mathematics. */
#include "output/derivation.h"

#include <stdio.h>
#include <string.h>

static const char indent[] = "    ";

/* ---- columns ---- */

/* Columns on a terminal: combining marks take none. */
static int display_width(const char *text)
{
    int width = 0;
    for (const unsigned char *s = (const unsigned char *)text; *s; s++) {
        bool continues = (*s & 0xC0) == 0x80;
        bool combining = (s[0] == 0xCC) || (s[0] == 0xCD && s[1] < 0xB0);
        width += !continues && !combining;
    }
    return width;
}

static void pad(hmi_text *text, int columns)
{
    while (columns-- > 0)
        hmi_text_add(text, " ");
}

/* An expression on its own, for measuring. Released by the caller. */
static hmi_text printed(hmi_report *r, hmi_expr e)
{
    hmi_text text;
    hmi_text_init(&text, r->view->allocator);
    hm_status status = hmi_print(&text, &r->view->graph, e, &r->print);
    if (status != HM_OK && r->status == HM_OK)
        r->status = status;
    return text;
}

/* ---- small matrices in brackets ---- */

typedef hmi_expr (*entry_function)(const hmi_derivation_view *view, size_t i, size_t j);

static hmi_expr entry_of(const hmi_derivation_view *view, const hmi_sparse *pattern,
                         const hmi_expr *values, size_t i, size_t j)
{
    for (size_t k = pattern->start[i]; k < pattern->start[i + 1]; k++)
        if (pattern->column.data[k] == j)
            return values[k];
    return view->graph.zero;
}

static hmi_expr mass_at(const hmi_derivation_view *view, size_t i, size_t j)
{
    size_t row = i >= j ? i : j, column = i >= j ? j : i;
    return entry_of(view, &view->system->derived.M, view->M, row, column);
}

static hmi_expr constraint_at(const hmi_derivation_view *view, size_t i, size_t j)
{
    return entry_of(view, &view->system->derived.constraints.A, view->A, i, j);
}

enum { MOST_IN_BRACKETS = 6, MOST_BRACKET_WIDTH = 96 };

static const char *left_bracket(size_t i, size_t rows)
{
    return rows == 1 ? "[ " : i == 0 ? "⎡ " : i + 1 == rows ? "⎣ " : "⎢ ";
}

static const char *right_bracket(size_t i, size_t rows)
{
    return rows == 1 ? " ]" : i == 0 ? " ⎤" : i + 1 == rows ? " ⎦" : " ⎥";
}

/* The name stands beside the middle row. */
static void open_row(hmi_report *r, const char *name, size_t i, size_t rows)
{
    hmi_text_add(&r->text, indent);
    if (i == (rows - 1) / 2)
        hmi_text_addf(&r->text, "%s = ", name);
    else
        pad(&r->text, display_width(name) + 3);
    hmi_text_add(&r->text, left_bracket(i, rows));
}

/* Writes name = [ ... ] when it is small enough to read so; false otherwise. */
static bool write_brackets(hmi_report *r, const char *name, size_t rows, size_t columns,
                           entry_function entry)
{
    hmi_text cells[MOST_IN_BRACKETS][MOST_IN_BRACKETS];
    int widths[MOST_IN_BRACKETS] = {0}, total = 0;
    if (rows == 0 || rows > MOST_IN_BRACKETS || columns > MOST_IN_BRACKETS)
        return false;
    for (size_t j = 0; j < columns; j++) {
        for (size_t i = 0; i < rows; i++) {
            cells[i][j] = printed(r, entry(r->view, i, j));
            int width = display_width(hmi_text_view(&cells[i][j]));
            widths[j] = width > widths[j] ? width : widths[j];
        }
        total += widths[j] + 3;
    }
    bool fits = total <= MOST_BRACKET_WIDTH;
    for (size_t i = 0; i < rows; i++) {
        if (fits)
            open_row(r, name, i, rows);
        for (size_t j = 0; j < columns; j++) {
            const char *cell = hmi_text_view(&cells[i][j]);
            if (fits) {
                hmi_text_add(&r->text, cell);
                pad(&r->text, widths[j] - display_width(cell) + (j + 1 < columns ? 3 : 0));
            }
            hmi_text_release(&cells[i][j]);
        }
        if (fits)
            hmi_text_addf(&r->text, "%s\n", right_bracket(i, rows));
    }
    return fits;
}

/* ---- lines ---- */

static void coordinate_name(hmi_report *r, size_t i, int dots)
{
    hmi_print_name(&r->text, HMI_PRINT_TEXT, hm_model_coordinate_name(r->view->model, i), dots);
}

static void line_start(hmi_report *r)
{
    hmi_text_add(&r->text, indent);
}

static void expr_line(hmi_report *r, hmi_expr e)
{
    hmi_text_add(&r->text, " = ");
    hmi_report_expr(r, e);
    hmi_text_add(&r->text, "\n");
    hmi_report_flush_if_large(r);
}

/* letter_x = e, for the entries of a vector that are not zero. */
static void write_vector(hmi_report *r, const char *letter, const hmi_expr *vector, size_t count,
                         bool zeros)
{
    size_t shown = 0;
    for (size_t i = 0; i < count; i++) {
        if (!zeros && vector[i] == r->view->graph.zero)
            continue;
        line_start(r);
        hmi_text_addf(&r->text, "%s[", letter);
        coordinate_name(r, i, 0);
        hmi_text_add(&r->text, "]");
        expr_line(r, vector[i]);
        shown++;
    }
    if (shown == 0)
        hmi_text_addf(&r->text, "%s%s = 0\n", indent, letter);
}

static void step(hmi_report *r, int number, const char *title)
{
    hmi_text_addf(&r->text, "\n%d  %s\n", number, title);
}

/* ---- the steps ---- */

static void write_title(hmi_report *r)
{
    const hm_model *model = r->view->model;
    hmi_text_addf(&r->text, "%s", hm_model_name(model));
    if (hm_model_title(model))
        hmi_text_addf(&r->text, ": %s", hm_model_title(model));
    hmi_text_add(&r->text, "\n");
}

static const char *plural(size_t count)
{
    return count == 1 ? "" : "s";
}

static void write_system(hmi_report *r)
{
    const hmi_derivation_view *view = r->view;
    step(r, 1, "The mechanical system");
    hmi_text_addf(&r->text, "%s%zu coordinate%s, %zu constraint%s", indent, view->n,
                  plural(view->n), view->m, plural(view->m));
    if (view->model->servo_rows.count)
        hmi_text_addf(&r->text, ", %zu servo row%s", view->model->servo_rows.count,
                      plural(view->model->servo_rows.count));
    if (view->system->derived.has_nonideal)
        hmi_text_add(&r->text, ", constraints that do work (non-ideal)");
    hmi_text_add(&r->text, "\n");
}

static void write_coordinates(hmi_report *r)
{
    const hm_model *model = r->view->model;
    char number[HMI_NUMBER_TEXT];
    step(r, 2, "Coordinates and parameters");
    hmi_text_addf(&r->text, "%sq = (", indent);
    for (size_t i = 0; i < r->view->n; i++) {
        hmi_text_add(&r->text, i ? ", " : "");
        coordinate_name(r, i, 0);
        hmi_report_flush_if_large(r);
    }
    hmi_text_add(&r->text, ")\n");
    for (size_t i = 0; i < model->params.count; i++) {
        hmi_text_add(&r->text, i ? ", " : indent);
        hmi_print_name(&r->text, HMI_PRINT_TEXT, model->params.data[i].name, 0);
        hmi_text_addf(&r->text, " = %s", hmi_number_text(model->params.data[i].value, number));
    }
    hmi_text_add(&r->text, model->params.count ? "\n" : "");
    for (size_t i = 0; i < model->inputs.count; i++) {
        line_start(r);
        hmi_text_addf(&r->text, "input %s", model->inputs.data[i].name);
        expr_line(r, model->inputs.data[i].value);
    }
    for (size_t i = 0; i < model->states.count; i++) {
        line_start(r);
        hmi_print_name(&r->text, HMI_PRINT_TEXT, model->states.data[i].name, 1);
        expr_line(r, model->states.data[i].rate);
    }
}

static void write_energies(hmi_report *r)
{
    const hmi_derivation_view *view = r->view;
    const struct {
        const char *letter;
        hmi_expr e;
        bool shown;
    } energies[] = {
        {"T", view->kinetic, view->model->kinetic != view->graph.zero},
        {"V", view->potential, view->model->potential != view->graph.zero},
        {"L", view->lagrangian, view->model->has_lagrangian},
        {"D", view->dissipation, view->model->dissipation != view->graph.zero},
    };
    for (size_t i = 0; i < sizeof energies / sizeof *energies; i++) {
        if (!energies[i].shown)
            continue;
        hmi_text_addf(&r->text, "%s%s", indent, energies[i].letter);
        expr_line(r, energies[i].e);
    }
}

static void write_split(hmi_report *r)
{
    if (!r->view->split)
        return;
    hmi_text_addf(&r->text, "%sT = ½ q̇ᵀM q̇ + N q̇ + P with M below and\n", indent);
    write_vector(r, "N", r->view->N, r->view->n, false);
    hmi_text_addf(&r->text, "%sP", indent);
    expr_line(r, r->view->P);
}

static void write_mass(hmi_report *r)
{
    const hmi_derivation_view *view = r->view;
    const hmi_sparse *M = &view->system->derived.M;
    if (write_brackets(r, "M", view->n, view->n, mass_at))
        return;
    for (size_t i = 0; i < view->n; i++)
        for (size_t k = M->start[i]; k < M->start[i + 1]; k++) {
            if (view->M[k] == view->graph.zero)
                continue;
            hmi_text_addf(&r->text, "%sM[", indent);
            coordinate_name(r, i, 0);
            hmi_text_add(&r->text, ", ");
            coordinate_name(r, M->column.data[k], 0);
            hmi_text_add(&r->text, "]");
            expr_line(r, view->M[k]);
        }
    hmi_text_addf(&r->text, "%s(M is symmetric; entries that are not listed are 0)\n", indent);
}

static void write_unconstrained(hmi_report *r)
{
    step(r, 3, "Unconstrained motion   M q̈ = Q");
    write_energies(r);
    write_split(r);
    write_mass(r);
    write_vector(r, "Q", r->view->Q, r->view->n, true);
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

static void write_rows(hmi_report *r, const hmi_constraint *row)
{
    hmi_expr e = row->residual;
    if (r->view->normal)
        e = hmi_normal_form(r->view->normal, e);
    hmi_text_addf(&r->text, "%s%s:  ", indent, row->name);
    hmi_report_expr(r, e);
    hmi_text_addf(&r->text, " = 0     (%s)\n", level_remark(row));
    hmi_report_flush_if_large(r);
}

static void write_constraints(hmi_report *r)
{
    const hm_model *model = r->view->model;
    step(r, 4, "Constraints");
    for (size_t i = 0; i < model->constraints.count; i++)
        write_rows(r, &model->constraints.data[i]);
    for (size_t i = 0; i < model->servo_rows.count; i++) {
        hmi_text_addf(&r->text, "%sservo ", indent);
        write_rows(r, &model->servo_rows.data[i].row);
    }
    if (model->constraints.count + model->servo_rows.count == 0)
        hmi_text_addf(&r->text, "%snone\n", indent);
}

/* a q'' + b q'' = rhs, one row. */
static void write_standard_row(hmi_report *r, const char *name, const hmi_sparse *A,
                               const hmi_expr *values, size_t i, hmi_expr b)
{
    bool first = true;
    hmi_text_addf(&r->text, "%s%s:  ", indent, name);
    for (size_t k = A->start[i]; k < A->start[i + 1]; k++) {
        if (values[k] == r->view->graph.zero)
            continue;
        hmi_text_add(&r->text, first ? "(" : " + (");
        hmi_report_expr(r, values[k]);
        hmi_text_add(&r->text, ")·");
        coordinate_name(r, A->column.data[k], 2);
        first = false;
    }
    if (first)
        hmi_text_add(&r->text, "0");
    expr_line(r, b);
}

static void write_standard_form(hmi_report *r)
{
    const hmi_derivation_view *view = r->view;
    const hmi_derived *d = &view->system->derived;
    const hm_model *model = view->model;
    step(r, 5, "Standard form   A q̈ = b");
    if (write_brackets(r, "A", view->m, view->n, constraint_at)) {
        for (size_t i = 0; i < view->m; i++) {
            hmi_text_addf(&r->text, "%sb[%s]", indent, model->constraints.data[i].name);
            expr_line(r, view->b[i]);
        }
    } else {
        for (size_t i = 0; i < view->m; i++)
            write_standard_row(r, model->constraints.data[i].name, &d->constraints.A, view->A, i,
                               view->b[i]);
    }
    for (size_t i = 0; i < d->servos.count; i++)
        write_standard_row(r, model->servo_rows.data[i].row.name, &d->servos.A, view->servo_A, i,
                           view->servo_b[i]);
    if (view->m + d->servos.count == 0)
        hmi_text_addf(&r->text, "%snone\n", indent);
}

static void write_nonideal(hmi_report *r)
{
    if (!r->view->system->derived.has_nonideal)
        return;
    write_vector(r, "C", r->view->C, r->view->n, false);
    if (r->view->closed)
        write_vector(r, "Qni", r->view->Qni, r->view->n, false);
    else
        hmi_text_addf(&r->text, "%sQni = C − Aᵀ(A M⁻¹Aᵀ)⁺ A M⁻¹ C\n", indent);
}

static void write_force(hmi_report *r)
{
    const hmi_derivation_view *view = r->view;
    step(r, 6, "Constraint force   Qc = Qi + Qni,  Qi = Aᵀλ");
    if (view->m == 0)
        hmi_text_addf(&r->text, "%snone\n", indent);
    else if (view->closed) {
        for (size_t k = 0; k < view->m; k++) {
            hmi_text_addf(&r->text, "%sλ[%s]", indent, view->model->constraints.data[k].name);
            expr_line(r, view->lambda[k]);
        }
        write_vector(r, "Qi", view->Qi, view->n, false);
    } else {
        hmi_text_addf(&r->text, "%sλ = (A M⁻¹Aᵀ)⁺ (b − A M⁻¹Q)\n", indent);
    }
    write_nonideal(r);
}

static void write_motion(hmi_report *r)
{
    const hmi_derivation_view *view = r->view;
    step(r, 7, "Equations of motion   M q̈ = Q + Qc");
    if (!view->closed) {
        hmi_text_addf(&r->text, "%sq̈ = M⁻¹(Q + Qc)%s\n", indent,
                      view->model->servo_rows.count ? " + M⁻¹u" : "");
        return;
    }
    for (size_t i = 0; i < view->n; i++) {
        line_start(r);
        coordinate_name(r, i, 2);
        expr_line(r, view->qdd[i]);
    }
}

/* Chooses parts to name, over everything that is printed. */
static void name_parts(hmi_report *r)
{
    const hmi_derivation_view *view = r->view;
    const hmi_derived *d = &view->system->derived;
    HMI_ARRAY(hmi_expr) roots = {0};
    const struct {
        const hmi_expr *list;
        size_t count;
    } lists[] = {
        {&view->kinetic, 1},  {&view->potential, 1},
        {view->M, d->M.value.count}, {view->Q, view->n},
        {view->A, d->constraints.A.value.count}, {view->b, view->m},
        {view->C, view->n}, {view->servo_A, d->servos.A.value.count},
        {view->servo_b, d->servos.count},
        {view->lambda, view->closed ? view->m : 0}, {view->Qi, view->closed ? view->n : 0},
        {view->qdd, view->closed ? view->n : 0},
    };
    bool good = true;
    for (size_t i = 0; i < sizeof lists / sizeof *lists; i++)
        for (size_t k = 0; good && k < lists[i].count; k++)
            good = lists[i].list[k] == HMI_NONE ||
                   hmi_array_push(view->allocator, &roots, lists[i].list[k]);
    hmi_shared_options options = hmi_shared_options_default();
    hm_status status = good ? hmi_shared_pick(&r->shared, &view->graph, roots.data, roots.count,
                                              &options)
                            : HM_ERR_NOMEM;
    if (status != HM_OK && r->status == HM_OK)
        r->status = status;
    r->print.shared = &r->shared;
    hmi_array_release(view->allocator, &roots);
}

static void write_parts(hmi_report *r)
{
    if (r->shared.nodes.count == 0)
        return;
    hmi_text_add(&r->text, "\nwhere\n");
    for (size_t k = 0; k < r->shared.nodes.count && r->status == HM_OK; k++) {
        line_start(r);
        hmi_print_part_name(&r->text, k, &r->print);
        hmi_text_add(&r->text, " = ");
        r->status = hmi_print_part_value(&r->text, &r->view->graph, k, &r->print);
        hmi_text_add(&r->text, "\n");
        hmi_report_flush_if_large(r);
    }
}

void hmi_report_text(hmi_report *r)
{
    name_parts(r);
    write_title(r);
    write_system(r);
    write_coordinates(r);
    write_unconstrained(r);
    write_constraints(r);
    write_standard_form(r);
    write_force(r);
    write_motion(r);
    write_parts(r);
}
