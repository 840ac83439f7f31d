/* What a name of a model means, for editors: kind, shape, value at the initial state, LaTeX.
 *
 * Values of names are kept where the model was read with hm_model_options.names; objects (constraints,
 * bodies, events, outputs) are found in the arrays of the model by their names.
 * Verified: test/unit/model/test_meaning.c */
#include "base/argument.h"
#include "model/model.h"

#include <hamel/language.h>

#include <math.h>
#include <string.h>

enum { MOST_SHOWN_ITEMS = 36, LONGEST_LATEX = 2000 };

/* ---- values at the initial state ---- */

typedef struct evaluator {
    const hm_model *model;
    hmi_walk walk;
    HMI_ARRAY(double) values; /* by position in the walk */
} evaluator;

/* As written in the file; NaN where only the solution of the equations knows it. */
static double symbol_value(const hm_model *m, const hmi_node *node)
{
    switch ((hmi_symbol_kind)node->a) {
    case HMI_SYM_TIME:
        return m->simulate.given ? m->simulate.start : 0;
    case HMI_SYM_PARAM:
        return m->params.data[node->b].value;
    case HMI_SYM_COORD:
        return m->coords.data[node->b].position.value;
    case HMI_SYM_VELOCITY:
        return m->coords.data[node->b].velocity.value;
    case HMI_SYM_STATE:
        return m->states.data[node->b].initial.value;
    default:
        return NAN;
    }
}

static double node_value(const evaluator *e, hmi_expr at)
{
    const hmi_graph *graph = &e->model->graph;
    const hmi_node *node = hmi_node_at(graph, at);
    int arity = hmi_op_arity((hmi_op)node->op);
    double x[3] = {0, 0, 0};
    if (node->op == HMI_CONST)
        return hmi_constant_of(graph, at)->value;
    if (node->op == HMI_SYMBOL)
        return symbol_value(e->model, node);
    for (int k = 0; k < arity; k++)
        x[k] = e->values.data[hmi_walk_position(&e->walk, hmi_operand(graph, at, k))];
    return hmi_op_value((hmi_op)node->op, x[0], x[1], x[2]);
}

/* False without memory. */
static bool evaluate(evaluator *e, hmi_expr root, double *value)
{
    const hm_allocator *allocator = e->walk.allocator;
    if (hmi_walk_begin(&e->walk, &e->model->graph) != HM_OK ||
        hmi_walk_add(&e->walk, &e->model->graph, root, 0xFFFF) != HM_OK)
        return false;
    e->values.count = 0;
    for (size_t i = 0; i < e->walk.order.count; i++)
        if (!hmi_array_push(allocator, &e->values, node_value(e, e->walk.order.data[i])))
            return false;
    *value = e->values.data[hmi_walk_position(&e->walk, root)];
    return true;
}

/* ---- texts ---- */

typedef struct shape {
    const hmi_expr *items;
    size_t rows, columns;
} shape;

static void add_number(hmi_text *out, double value)
{
    char text[HMI_NUMBER_TEXT];
    hmi_text_add(out, isfinite(value) ? hmi_number_for_reading(value, text) : "?");
}

/* "0.5", "[1, 2]" or "[[1, 0], [0, 1]]"; nothing where no part of it is known. */
static bool add_value(hmi_text *out, evaluator *e, const shape *s)
{
    size_t count = s->rows * s->columns, known = 0;
    if (count == 0 || count > MOST_SHOWN_ITEMS)
        return true;
    bool matrix = s->columns > 1, vector = count > 1 && !matrix;
    hmi_text_add(out, matrix ? "[[" : vector ? "[" : "");
    for (size_t k = 0; k < count; k++) {
        double value = NAN;
        if (!evaluate(e, s->items[k], &value))
            return false;
        known += isfinite(value);
        if (k > 0)
            hmi_text_add(out, matrix && k % s->columns == 0 ? "], [" : ", ");
        add_number(out, value);
    }
    hmi_text_add(out, matrix ? "]]" : vector ? "]" : "");
    if (known == 0)
        out->length = 0;
    return true;
}

static bool add_latex(hmi_text *out, const hm_model *model, const shape *s)
{
    const hmi_print_options print = {.style = HMI_PRINT_LATEX, .namer = hmi_model_namer(model)};
    size_t count = s->rows * s->columns;
    hmi_text_add(out, count > 1 ? "\\begin{bmatrix}" : "");
    for (size_t k = 0; k < count && count <= MOST_SHOWN_ITEMS; k++) {
        hm_status status = hmi_print(out, &model->graph, s->items[k], &print);
        if (status != HM_OK)
            return status == HM_ERR_LIMIT;
        if (k + 1 < count)
            hmi_text_add(out, (k + 1) % s->columns ? " & " : " \\\\ ");
    }
    hmi_text_add(out, count > 1 ? "\\end{bmatrix}" : "");
    if (count > MOST_SHOWN_ITEMS || out->length > LONGEST_LATEX)
        out->length = 0;
    return true;
}

/* A copy in the context; NULL for nothing. */
static const char *kept(hm_context *context, const hmi_text *text)
{
    if (text->failed)
        context->out_of_memory = true;
    return text->failed || text->length == 0
               ? NULL
               : hmi_arena_text(&context->arena, text->data, text->length);
}

/* "left = right" in LaTeX, where both are there. */
static const char *equation(hm_context *context, const char *left, const char *right)
{
    return left && right ? hmi_context_printf(context, "%s = %s", left, right) : NULL;
}

/* Fills in shape, value and LaTeX; `definition`: what stands right of the equals sign. */
static void describe(hm_context *context, const hm_model *model, const char *name, const shape *s,
                     const shape *definition, hm_meaning *meaning)
{
    evaluator e = {.model = model};
    hmi_text value, latex, left;
    hmi_walk_init(&e.walk, &context->allocator);
    hmi_text_init(&value, &context->allocator);
    hmi_text_init(&latex, &context->allocator);
    hmi_text_init(&left, &context->allocator);
    meaning->rows = s->rows;
    meaning->columns = s->columns;
    bool good = add_value(&value, &e, s) && (!definition || add_latex(&latex, model, definition));
    hmi_model_print_name(model, &left, HMI_PRINT_LATEX, name, 0);
    if (!good)
        context->out_of_memory = true;
    meaning->value = kept(context, &value);
    meaning->latex = definition ? equation(context, kept(context, &left), kept(context, &latex))
                                : kept(context, &left);
    hmi_text_release(&left);
    hmi_text_release(&latex);
    hmi_text_release(&value);
    hmi_array_release(&context->allocator, &e.values);
    hmi_walk_release(&e.walk);
}

/* ---- names ---- */

static bool is_symbol(const hm_model *model, hmi_expr e, hmi_symbol_kind kind)
{
    const hmi_node *node = hmi_node_at(&model->graph, e);
    return node->op == HMI_SYMBOL && node->a == (uint32_t)kind;
}

/* What is written behind the equals sign of its declaration; coordinates have nothing there. */
static bool defines(const hm_model *model, const hmi_meaning *m, hmi_expr *items)
{
    for (size_t k = 0; k < m->rows * m->columns; k++) {
        uint32_t index = hmi_node_at(&model->graph, m->items[k])->b;
        items[k] = m->items[k];
        if (is_symbol(model, m->items[k], HMI_SYM_PARAM))
            items[k] = strcmp(m->what, "parameter") == 0 ? model->params.data[index].value_expr
                                                         : items[k];
        else if (is_symbol(model, m->items[k], HMI_SYM_INPUT) && strcmp(m->what, "input") == 0)
            items[k] = model->inputs.data[index].value;
    }
    return strcmp(m->what, "coordinate") != 0 && strcmp(m->what, "state") != 0;
}

static const char *text_of(const hm_model *model, const hmi_meaning *m)
{
    if (!m->items)
        return NULL;
    uint32_t index = hmi_node_at(&model->graph, m->items[0])->b;
    const hmi_shown *shown = is_symbol(model, m->items[0], HMI_SYM_PARAM)
                                 ? model->params.data[index].shown
                             : is_symbol(model, m->items[0], HMI_SYM_COORD)
                                 ? model->coords.data[index].shown
                                 : NULL;
    return shown ? shown->text : NULL;
}

static bool describe_variable(hm_context *context, const hm_model *model, const char *name,
                              hm_meaning *meaning)
{
    for (size_t i = 0; i < model->meanings.count; i++) {
        const hmi_meaning *m = &model->meanings.data[i];
        if (strcmp(m->name, name) != 0)
            continue;
        *meaning = (hm_meaning){.kind = m->what};
        size_t count = m->rows * m->columns;
        if (!m->items || count == 0)
            return true;
        hmi_expr *items = hmi_arena_alloc(&context->arena, count * sizeof *items);
        if (!items)
            return false;
        bool defined = defines(model, m, items);
        shape whole = {m->items, m->rows, m->columns}, definition = {items, m->rows, m->columns};
        bool own = strcmp(m->what, "coordinate") == 0 || strcmp(m->what, "state") == 0;
        if (strcmp(m->what, "named expression") != 0 && !own)
            whole.items = items; /* the value of an input is that of its signal */
        describe(context, model, name, &whole, defined ? &definition : NULL, meaning);
        meaning->text = text_of(model, m);
        return true;
    }
    return false;
}

/* ---- objects ---- */

/* NAME, or NAME[...]. */
static bool is_called(const char *row, const char *name)
{
    size_t length = strlen(name);
    return strncmp(row, name, length) == 0 && (row[length] == '\0' || row[length] == '[');
}

static bool describe_rows(hm_context *context, const hm_model *model, const char *name,
                          hm_meaning *meaning)
{
    size_t count = 0;
    hmi_expr *items = hmi_arena_alloc(&context->arena,
                                      (model->constraints.count + 1) * sizeof *items);
    const hmi_constraint *first = NULL;
    for (size_t i = 0; items && i < model->constraints.count; i++) {
        const hmi_constraint *row = &model->constraints.data[i];
        if (!is_called(row->name, name))
            continue;
        first = first ? first : row;
        items[count++] = row->residual;
    }
    if (!first)
        return false;
    shape s = {items, count, 1};
    describe(context, model, name, &s, &s, meaning);
    meaning->kind = hmi_context_printf(context, "%s%s constraint on the %s",
                                       first->one_sided ? "one-sided " : "",
                                       first->linear ? "linear" : "nonlinear",
                                       first->level == HM_LEVEL_POSITION   ? "positions"
                                       : first->level == HM_LEVEL_VELOCITY ? "velocities"
                                                                           : "accelerations");
    const char *relation = first->one_sided ? "\\ge" : "=";
    const char *equals = meaning->latex ? strstr(meaning->latex, " = ") : NULL;
    if (equals) /* name = residual becomes residual = 0 */
        meaning->latex = hmi_context_printf(context, "%s %s 0", equals + 3, relation);
    return true;
}

/* An object that is one expression. */
static bool describe_one(hm_context *context, const hm_model *model, const char *name,
                         const char *kind, hmi_expr value, hm_meaning *meaning)
{
    shape s = {&value, 1, 1};
    describe(context, model, name, &s, &s, meaning);
    meaning->kind = kind;
    return true;
}

static bool describe_output(hm_context *context, const hm_model *model, const char *name,
                            hm_meaning *meaning)
{
    for (size_t i = 0; i < model->outputs.count; i++) {
        const hmi_output *output = &model->outputs.data[i];
        if (!is_called(output->name, name))
            continue;
        meaning->text = output->shown ? output->shown->text : NULL;
        return describe_one(context, model, name, "output", output->expr, meaning);
    }
    return false;
}

static bool describe_event(hm_context *context, const hm_model *model, const char *name,
                           hm_meaning *meaning)
{
    for (size_t i = 0; i < model->events.count; i++)
        if (is_called(model->events.data[i].name, name))
            return describe_one(context, model, name, "event", model->events.data[i].expr, meaning);
    return false;
}

static bool describe_servo(hm_context *context, const hm_model *model, const char *name,
                           hm_meaning *meaning)
{
    for (size_t i = 0; i < model->servo_rows.count; i++) {
        const hmi_constraint *row = &model->servo_rows.data[i].row;
        if (is_called(row->name, name))
            return describe_one(context, model, name, "servo", row->residual, meaning);
    }
    return false;
}

static bool describe_body(hm_context *context, const hm_model *model, const char *name,
                          hm_meaning *meaning)
{
    for (size_t i = 0; i < model->bodies.count; i++) {
        const hmi_body *body = &model->bodies.data[i];
        if (!is_called(body->name, name))
            continue;
        shape energy = {&body->energy, 1, 1};
        *meaning = (hm_meaning){0};
        describe(context, model, name, &energy, &energy, meaning);
        const char *equals = meaning->latex ? strstr(meaning->latex, " = ") : NULL;
        meaning->latex = equals ? hmi_context_printf(context, "T%s", equals) : NULL;
        meaning->value = NULL; /* a body is not a number */
        meaning->rows = meaning->columns = 0;
        meaning->kind = body->rigid ? "rigid body" : "particle";
        return true;
    }
    return false;
}

bool hm_model_meaning(hm_context *context, const hm_model *model, hm_name_space space,
                      const char *name, hm_meaning *meaning)
{
    if (!context || !model || !name || !meaning)
        return false;
    *meaning = (hm_meaning){0};
    switch (space) {
    case HM_NAME_SPACE_VARIABLE:
        return describe_variable(context, model, name, meaning);
    case HM_NAME_SPACE_CONSTRAINT:
    case HM_NAME_SPACE_JOINT:
        return describe_rows(context, model, name, meaning);
    case HM_NAME_SPACE_SERVO:
        return describe_servo(context, model, name, meaning);
    case HM_NAME_SPACE_BODY:
        return describe_body(context, model, name, meaning);
    case HM_NAME_SPACE_EVENT:
        return describe_event(context, model, name, meaning);
    case HM_NAME_SPACE_OUTPUT:
        return describe_output(context, model, name, meaning);
    default:
        return false;
    }
}
