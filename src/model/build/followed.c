/* Inputs in rows of constraints. Rows are differentiated along the motion, and with them the inputs they
 * use. A default of t alone is differentiated for itself, so that a program may set such an input with
 * its derivatives. A default that depends on the motion has only as many derivatives for itself as can be
 * known before the accelerations: none where velocities occur in it, one where coordinates do. Where a
 * row needs more, the default is an expression like any other: it is put into the row, whose level,
 * A and b then follow from what it became. Such an input belongs to the row, and a program can no longer
 * set it (hmi_input.row). */
#include "model/build/statements.h"

#include <string.h>

static const uint16_t kinds = HMI_DEP(HMI_SYM_INPUT) | HMI_DEP(HMI_SYM_INPUT_RATE) |
                              HMI_DEP(HMI_SYM_INPUT_RATE2);

/* How often a default can be differentiated without accelerations: 0, 1, or 2 (as often as rows need). */
static int own_derivatives(hmi_builder *b, hmi_expr value)
{
    const uint16_t velocity = HMI_DEP(HMI_SYM_VELOCITY);
    if (hmi_deps(b->graph, value) & velocity)
        return 0;
    hmi_expr rate = hmi_tangent_of(&b->time_derivative, b->graph, value);
    return rate == HMI_NONE || (hmi_deps(b->graph, rate) & velocity) ? 1 : 2;
}

/* How often the row is differentiated. */
static int row_derivatives(uint16_t deps)
{
    if (deps & HMI_DEP(HMI_SYM_ACCELERATION))
        return 0;
    return deps & HMI_DEP(HMI_SYM_VELOCITY) ? 1 : 2;
}

static bool own_row(hmi_builder *b, hmi_input *input, const hmi_constraint *row)
{
    if (!input->row)
        input->row = hmi_arena_text(&b->model->arena, row->name, strlen(row->name));
    return input->row || hmi_no_memory(b);
}

/* Marks the inputs whose defaults the row needs; false where memory or a default is missing. */
static bool find_followed(hmi_builder *b, const hmi_constraint *row, bool *found)
{
    int derivatives = row_derivatives(hmi_deps(b->graph, row->residual));
    *found = false;
    if (hmi_walk_begin(&b->walk, b->graph) != HM_OK ||
        hmi_walk_add(&b->walk, b->graph, row->residual, kinds) != HM_OK)
        return hmi_no_memory(b);
    for (size_t i = 0; i < b->walk.order.count; i++) {
        const hmi_node node = *hmi_node_at(b->graph, b->walk.order.data[i]);
        if (node.op != HMI_SYMBOL || !(HMI_DEP(node.a) & kinds))
            continue;
        hmi_input *input = &b->model->inputs.data[node.b];
        if (input->value == HMI_NONE)
            return false; /* reported where it was declared */
        if (derivatives == 2 &&
            !hmi_check_jumps(b, input->value, input->span,
                             "the default of an input in a constraint on positions", true))
            return false;
        if ((int)(node.a - HMI_SYM_INPUT) + derivatives <= own_derivatives(b, input->value))
            continue;
        *found = true;
        if (!own_row(b, input, row))
            return false;
    }
    return true;
}

static hmi_expr default_of(hmi_graph *graph, hmi_expr leaf, void *user)
{
    hmi_builder *b = user;
    const hmi_node node = *hmi_node_at(graph, leaf);
    if (!(HMI_DEP(node.a) & kinds) || !b->model->inputs.data[node.b].row)
        return leaf;
    hmi_expr value = b->model->inputs.data[node.b].value;
    for (int order = (int)(node.a - HMI_SYM_INPUT); order > 0 && value != HMI_NONE; order--)
        value = hmi_tangent_of(&b->time_derivative, graph, value);
    return value;
}

/* What the row becomes with the defaults of its inputs. */
static bool put_defaults(hmi_builder *b, hmi_constraint *row)
{
    hmi_substitution substitution;
    hmi_substitution_init(&substitution, &b->context->allocator, default_of, b, kinds);
    hmi_expr residual = hmi_substitute(&substitution, b->graph, row->residual);
    hmi_substitution_release(&substitution);
    if (residual == HMI_NONE && hmi_graph_sound(b, row->span))
        hmi_error(b->context, row->span,
                  "differentiate the input less often, or let its default "
                  "depend on t and the coordinates only",
                  "constraint '%s' has derivatives of third order through an input that depends on "
                  "the motion",
                  row->name);
    if (residual != HMI_NONE)
        row->residual = residual;
    return residual != HMI_NONE;
}

/* A default with velocities in it raises the level of the row, which then needs fewer derivatives of the
 * other inputs: those that were found needed at the lower level stay put in. */
bool hmi_put_followed_inputs(hmi_builder *b, hmi_constraint *row)
{
    bool found = true;
    while (found && (hmi_deps(b->graph, row->residual) & kinds))
        if (!find_followed(b, row, &found) || (found && !put_defaults(b, row)))
            return false;
    return true;
}
