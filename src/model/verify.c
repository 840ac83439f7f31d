/* The checks of verify.h: the graph and its symbols, handles, indices, names. */
#include "model/verify.h"

hmi_symbol_counts hmi_model_symbol_counts(const hm_model *model)
{
    size_t n = model->coords.count, rows = model->constraints.count, inputs = model->inputs.count;
    return (hmi_symbol_counts){.of = {
                                   [HMI_SYM_TIME] = 1,
                                   [HMI_SYM_PARAM] = model->params.count,
                                   [HMI_SYM_COORD] = n,
                                   [HMI_SYM_VELOCITY] = n,
                                   [HMI_SYM_ACCELERATION] = n,
                                   [HMI_SYM_STATE] = model->states.count,
                                   [HMI_SYM_INPUT] = inputs,
                                   [HMI_SYM_INPUT_RATE] = inputs,
                                   [HMI_SYM_INPUT_RATE2] = inputs,
                                   [HMI_SYM_REACTION] = n,
                                   [HMI_SYM_MULTIPLIER] = rows,
                                   [HMI_SYM_TOTAL_REACTION] = n,
                                   [HMI_SYM_TOTAL_MULTIPLIER] = rows,
                                   [HMI_SYM_ENERGY] = HMI_QUANTITY_MOMENTUM + model->coords.count,
                               }};
}

/* One expression that must be a node. */
static const char *verify_expr(const hm_model *model, hmi_expr e, const char *what, size_t index,
                               hmi_violation *violation)
{
    return e < model->graph.nodes.count
               ? NULL
               : hmi_violated(violation, "%s %zu is %%%u, which does not exist", what, index, e);
}

static const char *verify_name(const char *name, const char *what, size_t index,
                               hmi_violation *violation)
{
    return name ? NULL : hmi_violated(violation, "%s %zu has no name", what, index);
}

/* The first violation of a check of every element; `it` is the element and `i` its number. */
#define CHECK_EACH(array, type, check)                                                             \
    for (size_t i = 0; i < (array).count; i++) {                                                   \
        const type *it = &(array).data[i];                                                         \
        const char *found = (check);                                                               \
        if (found)                                                                                 \
            return found;                                                                          \
    }

static const char *verify_declarations(const hm_model *m, hmi_violation *v)
{
    CHECK_EACH(m->params, hmi_param, verify_name(it->name, "parameter", i, v));
    CHECK_EACH(m->coords, hmi_coord, verify_name(it->name, "coordinate", i, v));
    CHECK_EACH(m->states, hmi_state, verify_name(it->name, "state", i, v));
    CHECK_EACH(m->states, hmi_state, verify_expr(m, it->rate, "the rate of state", i, v));
    CHECK_EACH(m->inputs, hmi_input, verify_name(it->name, "input", i, v));
    CHECK_EACH(m->inputs, hmi_input, verify_expr(m, it->value, "input", i, v));
    CHECK_EACH(m->outputs, hmi_output, verify_name(it->name, "output", i, v));
    CHECK_EACH(m->outputs, hmi_output, verify_expr(m, it->expr, "output", i, v));
    CHECK_EACH(m->drawings, hmi_drawing,
               hmi_graph_verify_handles(&m->graph, it->values, it->shown.value_count, false,
                                        "drawing", v));
    CHECK_EACH(m->named, hmi_named_expr, verify_expr(m, it->expr, "let", i, v));
    CHECK_EACH(m->events, hmi_event, verify_expr(m, it->expr, "event", i, v));
    return NULL;
}

static const char *verify_force(const hm_model *m, const hmi_force *force, size_t i,
                                hmi_violation *v)
{
    bool at_coordinate = force->form == HMI_FORCE_COORDINATE;
    if (at_coordinate != (force->point == NULL) ||
        (at_coordinate && force->coord >= m->coords.count))
        return hmi_violated(v, "force %zu acts nowhere", i);
    const char *found = hmi_graph_verify_handles(&m->graph, force->force, force->size, false,
                                                 "force", v);
    if (!found && !at_coordinate)
        found = hmi_graph_verify_handles(&m->graph, force->point, force->size, false, "point", v);
    return found;
}

static const char *verify_pair(const hm_model *m, const hmi_pair *pair, size_t i, hmi_violation *v)
{
    return pair->row < m->coords.count && pair->column < m->coords.count
               ? verify_expr(m, pair->value, "mass or gyroscopic entry", i, v)
               : hmi_violated(v, "mass or gyroscopic entry %zu is of no coordinate", i);
}

static const char *verify_servo(const hm_model *m, const hmi_servo_group *servo, size_t i,
                                hmi_violation *v)
{
    for (size_t k = 0; k < servo->actuated_count; k++)
        if (servo->actuated[k] >= m->coords.count ||
            (k > 0 && servo->actuated[k] <= servo->actuated[k - 1]))
            return hmi_violated(v, "the actuated coordinates of servo %zu do not ascend", i);
    return verify_expr(m, servo->gain, "the gain of servo", i, v);
}

static const char *verify_joint(const hm_model *m, const hmi_joint *joint, size_t i,
                                hmi_violation *v)
{
    size_t size = joint->dimension == 3 ? 6 : 3;
    if (joint->first + joint->count > m->constraints.count)
        return hmi_violated(v, "joint %zu has rows that do not exist", i);
    const char *found = hmi_graph_verify_handles(&m->graph, joint->push, size * joint->count, false,
                                                 "the wrench of a joint", v);
    if (!found && joint->side != HMI_NONE)
        found = verify_expr(m, joint->side, "the side of joint", i, v);
    return found ? found : verify_name(joint->name, "joint", i, v);
}

static const char *verify_physics(const hm_model *m, hmi_violation *v)
{
    const hmi_expr sums[] = {m->kinetic, m->potential, m->lagrangian, m->dissipation};
    const char *wrong = hmi_graph_verify_handles(&m->graph, sums, 4, false, "energy", v);
    if (wrong)
        return wrong;
    CHECK_EACH(m->energies, hmi_energy, verify_expr(m, it->value, "energy", i, v));
    CHECK_EACH(m->mass, hmi_pair, verify_pair(m, it, i, v));
    CHECK_EACH(m->gyroscopic, hmi_pair, verify_pair(m, it, i, v));
    CHECK_EACH(m->forces, hmi_force, verify_force(m, it, i, v));
    CHECK_EACH(m->nonideal, hmi_force, verify_force(m, it, i, v));
    CHECK_EACH(m->constraints, hmi_constraint, verify_name(it->name, "constraint", i, v));
    CHECK_EACH(m->constraints, hmi_constraint, verify_expr(m, it->residual, "constraint", i, v));
    CHECK_EACH(m->constraints, hmi_constraint,
               it->when == HMI_NONE
                   ? NULL
                   : verify_expr(m, it->when, "the condition of constraint", i, v));
    CHECK_EACH(m->joints, hmi_joint, verify_joint(m, it, i, v));
    CHECK_EACH(m->servos, hmi_servo_group, verify_servo(m, it, i, v));
    CHECK_EACH(m->servo_rows, hmi_servo_row, verify_expr(m, it->row.residual, "servo", i, v));
    CHECK_EACH(m->servo_rows, hmi_servo_row,
               it->servo < m->servos.count ? NULL : hmi_violated(v, "servo row %zu is of none", i));
    return NULL;
}

const char *hmi_model_verify(const hm_model *model, hmi_violation *violation)
{
    hmi_symbol_counts counts = hmi_model_symbol_counts(model);
    const char *found = hmi_graph_verify(&model->graph, violation);
    if (!found)
        found = hmi_graph_verify_symbols(&model->graph, &counts, violation);
    if (!found)
        found = verify_declarations(model, violation);
    return found ? found : verify_physics(model, violation);
}
