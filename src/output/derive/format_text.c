/* `derive` as text for a terminal: the seven steps, Unicode mathematics. */
#include "output/derive/equations.h"
#include "output/derive/layout.h"

#include <stdio.h>
#include <string.h>

static const char indent[] = "    ";

/* ---- columns ---- */

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
    hmi_report_note(r, status);
    return text;
}

/* ---- small matrices in brackets ---- */

typedef hmi_expr (*entry_function)(const hmi_derivation_view *view, size_t i, size_t j);

static hmi_expr mass_at(const hmi_derivation_view *view, size_t i, size_t j)
{
    return hmi_entry_of(view, &view->system->derived.M, view->M, true, i, j);
}

static hmi_expr constraint_at(const hmi_derivation_view *view, size_t i, size_t j)
{
    return hmi_entry_of(view, &view->system->derived.constraints.A, view->A, false, i, j);
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
        pad(&r->text, hmi_display_width(name) + 3);
    hmi_text_add(&r->text, left_bracket(i, rows));
}

/* Writes name = [ ... ] where the matrix is small enough for that; false otherwise. */
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
            int width = hmi_display_width(hmi_text_view(&cells[i][j]));
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
                pad(&r->text, widths[j] - hmi_display_width(cell) + (j + 1 < columns ? 3 : 0));
            }
            hmi_text_release(&cells[i][j]);
        }
        if (fits)
            hmi_text_addf(&r->text, "%s\n", right_bracket(i, rows));
    }
    return fits;
}

/* ---- lines ---- */

static void write_name(hmi_report *r, const char *name)
{
    hmi_text_add(&r->text, name);
}

static void wrap(hmi_text *text, size_t start)
{
    hmi_wrap_text(text, start, HMI_TEXT_COLUMNS, HMI_TEXT_FURTHER_INDENT);
}

static const struct hmi_equation_style text_style = {
    .indent = indent,
    .line_end = "\n",
    .equals = " = ",
    .index = "[",
    .comma = ", ",
    .index_end = "]",
    .colon = ":  ",
    .input = "input ",
    .state = "state ",
    .servo = "servo ",
    .lambda = "λ",
    .Qi = "Qi",
    .Qni = "Qni",
    .lambda_formula = "    λ = (A M⁻¹Aᵀ)⁺ (b − A M⁻¹Q)     where M > 0\n",
    .Qni_formula = "    Qni = C − Aᵀ(A M⁻¹Aᵀ)⁺ A M⁻¹C     where M > 0\n",
    .levels = true,
    .name = write_name,
    .wrap = wrap,
};

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

/* name = value, and how it was computed from other parameters. */
static void write_param(hmi_report *r, const hmi_param *param)
{
    char number[HMI_NUMBER_TEXT];
    const char *value = hmi_number_for_reading(param->value, number);
    hmi_model_print_name(r->view->model, &r->text, HMI_PRINT_TEXT, param->name, 0);
    hmi_text_add(&r->text, " = ");
    if (hmi_deps(&r->view->graph, param->value_expr) & HMI_DEP(HMI_SYM_PARAM)) {
        hmi_report_plain(r, param->value_expr);
        hmi_text_add(&r->text, " = ");
    }
    hmi_text_addf(&r->text, "%s%s", value[0] == '-' ? "\u2212" : "", value + (value[0] == '-'));
}

/* Several to a line, broken between them. */
static void write_params(hmi_report *r)
{
    const hm_model *model = r->view->model;
    size_t line = r->text.length;
    for (size_t i = 0; i < model->params.count; i++) {
        size_t start = r->text.length;
        hmi_text_add(&r->text, i ? ", " : indent);
        write_param(r, &model->params.data[i]);
        if (i && hmi_display_width(hmi_text_view(&r->text) + line) > HMI_TEXT_COLUMNS) {
            r->text.length = start;
            hmi_text_addf(&r->text, ",\n%s", indent);
            line = start + 2;
            write_param(r, &model->params.data[i]);
        }
    }
    hmi_text_add(&r->text, model->params.count ? "\n" : "");
}

static void write_coordinates(hmi_report *r)
{
    step(r, 2, "Coordinates and parameters");
    hmi_text_addf(&r->text, "%sq = (", indent);
    for (size_t i = 0; i < r->view->n; i++) {
        hmi_text_add(&r->text, i ? ", " : "");
        hmi_write_coordinate(r, i, 0);
        hmi_report_flush_if_large(r);
    }
    hmi_text_add(&r->text, ")\n");
    write_params(r);
    hmi_write_signals(r);
}

static void write_split(hmi_report *r)
{
    if (!r->view->split)
        return;
    hmi_text_addf(&r->text, "%sT = ½ q̇ᵀM q̇ + N q̇ + P with M below and\n", indent);
    hmi_write_vector(r, "N", r->view->N, false);
    size_t start = hmi_line_begin(r);
    hmi_text_add(&r->text, "P");
    hmi_line_equals(r, start, r->view->P);
}

static void write_mass(hmi_report *r)
{
    const hmi_derivation_view *view = r->view;
    if (write_brackets(r, "M", view->n, view->n, mass_at))
        return;
    hmi_write_entries(r, "M", &view->system->derived.M, view->M, false);
    hmi_text_addf(&r->text, "%s(M is symmetric; entries that are not listed are 0)\n", indent);
}

static void write_unconstrained(hmi_report *r)
{
    step(r, 3, "Unconstrained motion   M q̈ = Q");
    hmi_write_energies(r);
    write_split(r);
    write_mass(r);
    hmi_write_vector(r, "Q", r->view->Q, true);
}

/* What the equations below leave open. */
static void write_contacts(hmi_report *r)
{
    const hm_model *model = r->view->model;
    for (size_t i = 0; i < model->constraints.count; i++) {
        const hmi_constraint *row = &model->constraints.data[i];
        if (row->one_sided)
            hmi_text_addf(&r->text,
                          "%s%s is one-sided: ≥ 0 in place of = 0; below it is closed, and λ ≥ 0\n",
                          indent, row->name);
        if (row->when != HMI_NONE)
            hmi_text_addf(&r->text, "%s%s holds under its condition only; below it holds\n", indent,
                          row->name);
    }
    for (size_t i = 0; i < model->frictions.count; i++)
        hmi_text_addf(&r->text,
                      "%sfriction %s on %s: its force is part of C in `eval` and `run`, and is not "
                      "written out below\n",
                      indent, model->frictions.data[i].name,
                      model->constraints.data[model->frictions.data[i].row].name);
}

static void write_constraints(hmi_report *r)
{
    const hm_model *model = r->view->model;
    step(r, 4, "Constraints");
    hmi_write_residuals(r);
    if (model->constraints.count + model->servo_rows.count == 0)
        hmi_text_addf(&r->text, "%snone\n", indent);
    write_contacts(r);
}

static void write_standard_form(hmi_report *r)
{
    const hmi_derivation_view *view = r->view;
    const hmi_derived *d = &view->system->derived;
    const hm_model *model = view->model;
    step(r, 5, "Standard form   A q̈ = b");
    bool brackets = write_brackets(r, "A", view->m, view->n, constraint_at);
    for (size_t i = 0; i < view->m; i++) {
        const char *name = model->constraints.data[i].name;
        if (brackets)
            hmi_write_row_value(r, "b", name, view->b[i]);
        else
            hmi_write_standard_row(r, name, &d->constraints.A, view->A, i, view->b[i]);
    }
    hmi_write_servo_rows(r);
    if (view->m + d->servos.count == 0)
        hmi_text_addf(&r->text, "%snone\n", indent);
}

/* ---- force and motion ---- */

/* Where actuators act through other coordinates: the order of the closed loop of each row. */
static void write_degrees(hmi_report *r, size_t servo)
{
    const hm_model *model = r->view->model;
    const hmi_servo_degrees *degrees = &r->view->system->derived.degrees;
    const char *before = "; relative degree ";
    for (size_t i = 0; degrees->raised && i < model->servo_rows.count; i++) {
        if (model->servo_rows.data[i].servo != servo)
            continue;
        hmi_text_addf(&r->text, "%s%u", before, degrees->degree[i]);
        before = ", ";
    }
}

/* servo NAME: u on x, y */
static void write_servo_force(hmi_report *r, size_t index)
{
    const hmi_servo_group *servo = &r->view->model->servos.data[index];
    size_t start = hmi_line_begin(r);
    hmi_text_addf(&r->text, "servo %s:  u on ", servo->name);
    if (servo->actuated_count == r->view->n)
        hmi_text_add(&r->text, "all coordinates");
    for (size_t k = 0; servo->actuated_count < r->view->n && k < servo->actuated_count; k++) {
        hmi_text_add(&r->text, k ? ", " : "");
        hmi_write_coordinate(r, servo->actuated[k], 0);
    }
    hmi_text_add(&r->text, servo->law == HMI_LAW_LYAPUNOV ? ", by the law of Lyapunov type"
                                                          : ", with the least uᵀM⁻¹u");
    write_degrees(r, index);
    hmi_line_end(r, start);
}

static void write_force(hmi_report *r)
{
    const hmi_derivation_view *view = r->view;
    const hm_model *model = view->model;
    step(r, 6, "Constraint force   Qc = Qi + Qni,  Qi = Aᵀλ");
    hmi_write_reactions(r);
    for (size_t i = 0; i < model->servos.count; i++)
        write_servo_force(r, i);
    if (view->m + model->servos.count == 0)
        hmi_text_addf(&r->text, "%snone\n", indent);
}

static bool no_mass(const hmi_derivation_view *view)
{
    for (size_t k = 0; k < view->system->derived.M.value.count; k++)
        if (view->M[k] != view->graph.zero)
            return false;
    return true;
}

static void write_motion(hmi_report *r)
{
    const hmi_derivation_view *view = r->view;
    const char *servo = view->model->servos.count ? " + u" : "";
    step(r, 7,
         view->model->servos.count ? "Equations of motion   M q̈ = Q + u + Qc"
                                   : "Equations of motion   M q̈ = Q + Qc");
    hmi_write_accelerations(r);
    if (!view->closed && no_mass(view))
        hmi_text_addf(&r->text,
                      "%s0 = Q + Qc: L is degenerate, and these equations determine velocities\n",
                      indent);
    if (view->closed || no_mass(view))
        return;
    hmi_text_addf(&r->text, "%sq̈ = M⁻¹(Q%s + Qc)     where M > 0\n", indent, servo);
    if (view->m)
        hmi_text_addf(&r->text, "%sM q̈ − Aᵀλ = Q%s%s,  A q̈ = b     for any M\n", indent, servo,
                      view->system->derived.has_nonideal ? " + C" : "");
}

static void write_on_constraints(hmi_report *r)
{
    const hmi_on_constraints *on = r->view->on;
    if (!on || r->view->m == 0)
        return;
    step(r, 8, "On the constraints");
    if (on->refusal)
        hmi_text_addf(&r->text, "%snot tried: %s\n", indent, on->refusal);
    else if (!on->shorter)
        hmi_text_addf(&r->text, "%snothing above becomes shorter\n", indent);
    if (!on->shorter)
        return;
    hmi_text_addf(&r->text, "%swhere these hold\n", indent);
    hmi_write_where_it_holds(r);
    hmi_text_addf(
        &r->text,
        "%sthe following is shorter (and the same as above: at %zu random states, in %ld bits)\n",
        indent, on->states, on->bits);
    hmi_write_on_constraints(r);
}

void hmi_report_text(hmi_report *r)
{
    const hmi_shared_options options = hmi_shared_options_default();
    r->style = &text_style;
    r->plain = r->plain && !hmi_report_wider(r, HMI_MOST_WRITTEN_OUT);
    hmi_report_name_parts(r, &options);
    write_title(r);
    write_system(r);
    write_coordinates(r);
    write_unconstrained(r);
    write_constraints(r);
    write_standard_form(r);
    write_force(r);
    write_motion(r);
    write_on_constraints(r);
    if (r->shared.nodes.count)
        hmi_text_add(&r->text, "\nwhere\n");
    hmi_write_parts(r);
}
