/* Do two models say the same but for their names? For renaming in editors: the graphs are compared node by
 * node, as symbols are numbers there and names do not occur in them; then what refers to them.
 * Verified: test/unit/model/test_meaning.c */
#include "model/model.h"

#include <hamel/language.h>

#include <string.h>

/* Constants that name a view of a table hold its address (expr/graph/table.h): where in the array of the
 * model's tables that is, from 1 on; 0: it is a number. */
static size_t table_place(const hm_model *model, double value)
{
    double first = (double)(uintptr_t)model->tables;
    double size = (double)(model->table_count * sizeof *model->tables);
    return model->table_count && value >= first && value < first + size
               ? (size_t)(value - first) + 1
               : 0;
}

static bool same_constant(const hm_model *a, const hm_model *b, size_t i)
{
    const hmi_constant *x = &a->graph.constants.data[i], *y = &b->graph.constants.data[i];
    size_t place = table_place(a, x->value);
    if (place > 0 && place == table_place(b, y->value))
        return true;
    return memcmp(&x->value, &y->value, sizeof x->value) == 0 && x->numerator == y->numerator &&
           x->denominator == y->denominator;
}

static bool same_graph(const hm_model *a, const hm_model *b)
{
    const hmi_graph *x = &a->graph, *y = &b->graph;
    if (x->nodes.count != y->nodes.count || x->constants.count != y->constants.count ||
        memcmp(x->nodes.data, y->nodes.data, x->nodes.count * sizeof *x->nodes.data) != 0)
        return false;
    for (size_t i = 0; i < x->constants.count; i++)
        if (!same_constant(a, b, i))
            return false;
    return true;
}

static bool same_initial(const hmi_initial *a, const hmi_initial *b)
{
    return a->given == b->given && memcmp(&a->value, &b->value, sizeof a->value) == 0;
}

static bool same_row(const hmi_constraint *a, const hmi_constraint *b)
{
    return a->residual == b->residual && a->level == b->level && a->one_sided == b->one_sided &&
           a->restitution == b->restitution && a->when == b->when;
}

static bool same_force(const hmi_force *a, const hmi_force *b)
{
    if (a->form != b->form || a->size != b->size || a->coord != b->coord || !a->point != !b->point)
        return false;
    for (size_t k = 0; k < a->size; k++)
        if (a->force[k] != b->force[k] || (a->point && a->point[k] != b->point[k]))
            return false;
    return true;
}

static bool same_components(const hmi_component *a, const hmi_component *b, size_t count)
{
    for (size_t k = 0; k < count; k++)
        if (a[k].kind != b[k].kind || a[k].index != b[k].index || a[k].value != b[k].value)
            return false;
    return true;
}

static bool same_servo(const hmi_servo_group *a, const hmi_servo_group *b)
{
    if (a->gain != b->gain || a->limit != b->limit || a->law != b->law || a->rows != b->rows ||
        a->actuated_count != b->actuated_count || !a->gain_matrix != !b->gain_matrix)
        return false;
    for (size_t k = 0; a->gain_matrix && k < a->rows * a->rows; k++)
        if (a->gain_matrix[k] != b->gain_matrix[k])
            return false;
    return memcmp(a->actuated, b->actuated, a->actuated_count * sizeof *a->actuated) == 0;
}

/* All elements of an array of both models; `x` and `y` are the two that are compared. */
#define SAME_EACH(array, type, same)                                                               \
    if (a->array.count != b->array.count)                                                          \
        return false;                                                                              \
    for (size_t i = 0; i < a->array.count; i++) {                                                  \
        const type *x = &a->array.data[i], *y = &b->array.data[i];                                 \
        if (!(same))                                                                               \
            return false;                                                                          \
    }

static bool same_declarations(const hm_model *a, const hm_model *b)
{
    SAME_EACH(params, hmi_param,
              x->value_expr == y->value_expr && memcmp(&x->value, &y->value, sizeof x->value) == 0)
    SAME_EACH(coords, hmi_coord,
              same_initial(&x->position, &y->position) && same_initial(&x->velocity, &y->velocity))
    SAME_EACH(states, hmi_state, x->rate == y->rate && same_initial(&x->initial, &y->initial))
    SAME_EACH(inputs, hmi_input, x->value == y->value && !x->row == !y->row)
    return a->table_count == b->table_count;
}

static bool same_physics(const hm_model *a, const hm_model *b)
{
    SAME_EACH(mass, hmi_pair, x->row == y->row && x->column == y->column && x->value == y->value)
    SAME_EACH(gyroscopic, hmi_pair,
              x->row == y->row && x->column == y->column && x->value == y->value)
    SAME_EACH(forces, hmi_force, same_force(x, y))
    SAME_EACH(nonideal, hmi_force, same_force(x, y))
    SAME_EACH(constraints, hmi_constraint, same_row(x, y))
    SAME_EACH(tangents, hmi_constraint, same_row(x, y))
    SAME_EACH(frictions, hmi_friction,
              x->row == y->row && x->first == y->first && x->mus == y->mus && x->muk == y->muk)
    SAME_EACH(servo_rows, hmi_servo_row, x->servo == y->servo && same_row(&x->row, &y->row))
    SAME_EACH(servos, hmi_servo_group, same_servo(x, y))
    return a->kinetic == b->kinetic && a->potential == b->potential &&
           a->lagrangian == b->lagrangian && a->dissipation == b->dissipation;
}

static bool same_run(const hm_model *a, const hm_model *b)
{
    const hmi_simulate *s = &a->simulate, *u = &b->simulate;
    SAME_EACH(symmetries, hmi_symmetry,
              x->count == y->count && same_components(x->generator, y->generator, x->count))
    SAME_EACH(events, hmi_event,
              x->expr == y->expr && x->direction == y->direction && x->action == y->action &&
                  x->set_count == y->set_count && same_components(x->set, y->set, x->set_count))
    SAME_EACH(outputs, hmi_output, x->expr == y->expr)
    SAME_EACH(drawings, hmi_drawing,
              x->shown.kind == y->shown.kind && x->shown.value_count == y->shown.value_count &&
                  memcmp(x->values, y->values, x->shown.value_count * sizeof *x->values) == 0)
    const char *method = s->method ? s->method : "", *other = u->method ? u->method : "";
    return s->given == u->given && s->start == u->start && s->end == u->end &&
           s->every == u->every && s->rtol == u->rtol && s->atol == u->atol && s->step == u->step &&
           strcmp(method, other) == 0;
}

bool hm_model_same(const hm_model *a, const hm_model *b)
{
    return a && b && same_graph(a, b) && same_declarations(a, b) && same_physics(a, b) &&
           same_run(a, b);
}
