/* `derive --format json`: expressions as strings in the language itself. Beyond the size up to which
 * normal forms are made, and where expressions are long, parts have names: "where" lists them, each
 * in terms of earlier ones. */
#include "analyse/surface/surface.h"
#include "output/derive/derivation.h"

static void string(hmi_report *r, const char *text)
{
    hmi_text_add(&r->text, "\"");
    for (const unsigned char *s = (const unsigned char *)text; *s; s++) {
        if (*s == '"' || *s == '\\')
            hmi_text_addf(&r->text, "\\%c", *s);
        else if (*s < 0x20)
            hmi_text_addf(&r->text, "\\u%04x", *s);
        else
            hmi_text_add_bytes(&r->text, (const char *)s, 1);
    }
    hmi_text_add(&r->text, "\"");
}

static void key(hmi_report *r, const char *name)
{
    hmi_text_addf(&r->text, ",\n  \"%s\": ", name);
}

/* Plain expressions contain no character that JSON escapes. */
static void expression(hmi_report *r, hmi_expr e)
{
    if (e == HMI_NONE) {
        hmi_text_add(&r->text, "null");
        return;
    }
    hmi_text_add(&r->text, "\"");
    hmi_report_expr(r, e);
    hmi_text_add(&r->text, "\"");
}

static void list(hmi_report *r, const char *name, const hmi_expr *values, size_t count)
{
    key(r, name);
    hmi_text_add(&r->text, "[");
    for (size_t i = 0; i < count; i++) {
        hmi_text_add(&r->text, i ? ", " : "");
        expression(r, values[i]);
        hmi_report_flush_if_large(r);
    }
    hmi_text_add(&r->text, "]");
}

/* Entries [row, column, expression], rows and columns counting from 0; M: the lower triangle. */
static void matrix(hmi_report *r, const char *name, const hmi_expr_matrix *pattern,
                   const hmi_expr *values)
{
    bool first = true;
    key(r, name);
    hmi_text_addf(&r->text, "{\"rows\": %zu, \"cols\": %zu, \"entries\": [", pattern->rows,
                  pattern->columns);
    for (size_t i = 0; i < pattern->rows; i++)
        for (size_t k = pattern->start[i]; k < pattern->start[i + 1]; k++) {
            hmi_text_addf(&r->text, "%s[%zu, %u, ", first ? "" : ", ", i, pattern->column.data[k]);
            expression(r, values[k]);
            hmi_text_add(&r->text, "]");
            first = false;
            hmi_report_flush_if_large(r);
        }
    hmi_text_add(&r->text, "]}");
}

static void names(hmi_report *r)
{
    const hm_model *model = r->view->model;
    key(r, "coordinates");
    hmi_text_add(&r->text, "[");
    for (size_t i = 0; i < r->view->n; i++) {
        hmi_text_add(&r->text, i ? ", " : "");
        string(r, hm_model_coordinate_name(model, i));
    }
    hmi_text_add(&r->text, "]");
    key(r, "parameters");
    hmi_text_add(&r->text, "{");
    for (size_t i = 0; i < model->params.count; i++) {
        hmi_text_add(&r->text, i ? ", " : "");
        string(r, model->params.data[i].name);
        hmi_text_addf(&r->text, ": %.17g", model->params.data[i].value);
    }
    hmi_text_add(&r->text, "}");
}

static void constraint(hmi_report *r, const hmi_constraint *row)
{
    hmi_text_add(&r->text, "{\"name\": ");
    string(r, row->name);
    hmi_text_addf(&r->text, ", \"level\": \"%s\", \"linear\": %s, \"time\": \"%s\", \"residual\": ",
                  hm_level_text(row->level), row->linear ? "true" : "false",
                  row->rheonomic ? "rheonomic" : "scleronomic");
    expression(r, row->residual);
    if (row->one_sided)
        hmi_text_add(&r->text, ", \"sided\": \"one\"");
    if (row->when != HMI_NONE) {
        hmi_text_add(&r->text, ", \"when\": ");
        expression(r, row->when);
    }
    hmi_text_add(&r->text, "}");
    hmi_report_flush_if_large(r);
}

static void constraints(hmi_report *r)
{
    const hm_model *model = r->view->model;
    key(r, "constraints");
    hmi_text_add(&r->text, "[");
    for (size_t i = 0; i < model->constraints.count; i++) {
        hmi_text_add(&r->text, i ? ", " : "");
        constraint(r, &model->constraints.data[i]);
    }
    hmi_text_add(&r->text, "]");
    if (model->frictions.count) {
        key(r, "friction");
        hmi_text_add(&r->text, "[");
        for (size_t i = 0; i < model->frictions.count; i++) {
            hmi_text_add(&r->text, i ? ", " : "");
            string(r, model->frictions.data[i].name);
        }
        hmi_text_add(&r->text, "]");
    }
    key(r, "servos");
    hmi_text_add(&r->text, "[");
    for (size_t i = 0; i < model->servo_rows.count; i++) {
        hmi_text_add(&r->text, i ? ", " : "");
        constraint(r, &model->servo_rows.data[i].row);
    }
    hmi_text_add(&r->text, "]");
}

static void signals(hmi_report *r)
{
    const hm_model *model = r->view->model;
    key(r, "inputs");
    hmi_text_add(&r->text, "{");
    for (size_t i = 0; i < model->inputs.count; i++) {
        hmi_text_add(&r->text, i ? ", " : "");
        string(r, model->inputs.data[i].name);
        hmi_text_add(&r->text, ": ");
        expression(r, model->inputs.data[i].value);
    }
    hmi_text_add(&r->text, "}");
    key(r, "states");
    hmi_text_add(&r->text, "{");
    for (size_t i = 0; i < model->states.count; i++) {
        hmi_text_add(&r->text, i ? ", " : "");
        string(r, model->states.data[i].name);
        hmi_text_add(&r->text, ": ");
        expression(r, model->states.data[i].rate);
    }
    hmi_text_add(&r->text, "}");
}

/* ---- on the constraints ---- */

static void relations(hmi_report *r, const hmi_on_constraints *on)
{
    hmi_text_add(&r->text, ", \"eliminated\": [");
    for (size_t k = 0; k < on->relations; k++) {
        hmi_text_add(&r->text, k ? ", {\"symbol\": " : "{\"symbol\": ");
        expression(r, on->relation[k].symbol);
        hmi_text_addf(&r->text, ", \"power\": %d, \"value\": ", on->relation[k].power);
        expression(r, on->relation[k].value);
        hmi_text_add(&r->text, "}");
    }
    hmi_text_add(&r->text, "]");
}

static void residuals(hmi_report *r, const hmi_on_constraints *on)
{
    bool first = true;
    hmi_text_add(&r->text, "\"where\": [");
    for (size_t i = 0; i < 2 * r->view->m; i++) {
        hmi_expr e = i % 2 ? on->velocity[i / 2] : on->position[i / 2];
        if (!on->row_used[i / 2] || e == HMI_NONE)
            continue;
        hmi_text_add(&r->text, first ? "" : ", ");
        expression(r, e);
        first = false;
    }
    hmi_text_add(&r->text, "]");
}

static void on_constraints(hmi_report *r)
{
    const hmi_derivation_view *view = r->view;
    const hmi_on_constraints *on = view->on;
    const hmi_derived *d = &view->system->derived;
    if (!on)
        return;
    key(r, "on_constraints");
    hmi_text_add(&r->text, "{");
    residuals(r, on);
    relations(r, on);
    hmi_text_addf(&r->text,
                  ", \"shorter\": %zu, \"states\": %zu, \"bits\": %ld, \"refusal\": ", on->shorter,
                  on->states, on->bits);
    if (on->refusal)
        string(r, on->refusal);
    else
        hmi_text_add(&r->text, "null");
    matrix(r, "M", &d->M, on->M);
    list(r, "Q", on->Q, view->n);
    matrix(r, "A", &d->constraints.A, on->A);
    list(r, "b", on->b, view->m);
    list(r, "C", on->C, view->n);
    if (view->closed) {
        list(r, "lambda", on->lambda, view->m);
        list(r, "Qi", on->Qi, view->n);
        list(r, "Qni", on->Qni, view->n);
        list(r, "qdd", on->qdd, view->n);
    }
    hmi_text_add(&r->text, "}");
}

static void where(hmi_report *r)
{
    if (!r->print.shared)
        return;
    key(r, "where");
    hmi_text_add(&r->text, "{");
    for (size_t k = 0; k < r->shared.nodes.count && r->status == HM_OK; k++) {
        hmi_text_add(&r->text, k ? ", \"" : "\"");
        r->status = hmi_print_part_name(&r->text, k, &r->print);
        hmi_text_add(&r->text, "\": \"");
        if (r->status == HM_OK)
            r->status = hmi_print_part_value(&r->text, &r->view->graph, k, &r->print);
        hmi_text_add(&r->text, "\"");
        hmi_report_flush_if_large(r);
    }
    hmi_text_add(&r->text, "}");
}

/* Rows of servos that were differentiated on are long, also in small models. */
static bool servos_are_wide(hmi_report *r)
{
    const hmi_derivation_view *view = r->view;
    const hmi_derived *d = &view->system->derived;
    uint64_t rows = 0, sides = 0;
    hm_status status = hmi_printed_width(view->allocator, &view->graph, view->servo_A,
                                         d->servos.A.value.count, &rows);
    if (status == HM_OK)
        status = hmi_printed_width(view->allocator, &view->graph, view->servo_b, d->servos.count,
                                   &sides);
    hmi_report_note(r, status);
    return rows + sides > HMI_MOST_WRITTEN_OUT;
}

void hmi_report_json(hmi_report *r)
{
    const hmi_derivation_view *view = r->view;
    const hmi_derived *d = &view->system->derived;
    const hmi_shared_options options = {.saving = 40, .longest = 1000};
    if (!view->normal || hmi_report_wider(r, HMI_MOST_WRITTEN_OUT) || servos_are_wide(r)) {
        r->plain = false;
        r->complete = true;
        hmi_report_name_parts(r, &options);
    }
    hmi_text_add(&r->text, "{\n  \"model\": ");
    string(r, hm_model_name(view->model));
    names(r);
    signals(r);
    key(r, "kinetic");
    expression(r, view->kinetic);
    key(r, "potential");
    expression(r, view->potential);
    key(r, "lagrangian");
    expression(r, view->lagrangian);
    matrix(r, "M", &d->M, view->M);
    list(r, "Q", view->Q, view->n);
    constraints(r);
    matrix(r, "A", &d->constraints.A, view->A);
    list(r, "b", view->b, view->m);
    list(r, "C", view->C, view->n);
    matrix(r, "servo_A", &d->servos.A, view->servo_A);
    list(r, "servo_b", view->servo_b, d->servos.count);
    if (view->closed) {
        list(r, "lambda", view->lambda, view->m);
        list(r, "Qi", view->Qi, view->n);
        list(r, "Qni", view->Qni, view->n);
        list(r, "qdd", view->qdd, view->n);
    }
    on_constraints(r);
    where(r);
    hmi_text_add(&r->text, "\n}\n");
}
