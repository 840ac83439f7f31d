/* What the steps of a reduction share: memory, names, normal forms, derivatives, values. */
#include "reduce/reduce.h"

#include <stdio.h>
#include <string.h>

hmi_expr *hmi_reduce_vector(hmi_reduce *r, size_t count)
{
    hmi_expr *list = hmi_arena_alloc(&r->arena, (count + 1) * sizeof *list);
    r->failed |= !list;
    for (size_t i = 0; list && i < count; i++)
        list[i] = r->graph.zero;
    return list;
}

const char *hmi_reduce_name(hmi_reduce *r, const char *format, ...)
{
    char text[256];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    char *copy = hmi_arena_text(&r->arena, text, strlen(text));
    r->failed |= !copy;
    return copy ? copy : "";
}

void hmi_reduce_note(hmi_reduce *r, const char *text)
{
    r->failed |= !hmi_array_push(r->allocator, &r->notes, text);
}

void hmi_reduce_quantity(hmi_reduce *r, const char *name, hmi_expr value)
{
    hmi_quantity_line line = {name, hmi_reduce_normal(r, value)};
    r->failed |= !hmi_array_push(r->allocator, &r->quantities, line);
}

hmi_expr hmi_reduce_normal(hmi_reduce *r, hmi_expr e)
{
    return hmi_normal_form(r->normal, e);
}

hm_status hmi_reduce_status(const hmi_reduce *r)
{
    if (r->failed)
        return HM_ERR_NOMEM;
    return r->normal ? hmi_normal_status(r->normal) : hmi_graph_status(&r->graph);
}

/* ---- substitution and derivatives ---- */

static hmi_expr known_leaf(hmi_graph *graph, hmi_expr leaf, void *user)
{
    const hmi_reduce *r = user;
    const hmi_node *node = hmi_node_at(graph, leaf);
    if (node->a == HMI_SYM_VELOCITY && node->b < r->n && r->velocity[node->b] != HMI_NONE)
        return r->velocity[node->b];
    if (node->a == HMI_SYM_COORD && r->position[node->b] != HMI_NONE)
        return r->position[node->b];
    return leaf;
}

hm_status hmi_reduce_express(hmi_reduce *r, hmi_expr *list, size_t count)
{
    hmi_substitution known;
    hmi_substitution_init(&known, r->allocator, known_leaf, r,
                          HMI_DEP(HMI_SYM_VELOCITY) | HMI_DEP(HMI_SYM_COORD));
    for (size_t k = 0; k < count; k++)
        if (list[k] != HMI_NONE)
            list[k] = hmi_substitute(&known, &r->graph, list[k]);
    hmi_substitution_release(&known);
    return r->graph.status;
}

static hmi_expr leaf_rate(hmi_graph *graph, hmi_expr leaf, void *user)
{
    const hmi_reduce *r = user;
    const hmi_node node = *hmi_node_at(graph, leaf);
    switch (node.a) {
    case HMI_SYM_COORD:
        return r->velocity[node.b];
    case HMI_SYM_STATE:
        return node.b < r->nz ? r->state_rate[node.b] : graph->zero;
    case HMI_SYM_VELOCITY:
        return graph->zero;
    default:
        return hmi_leaf_rate(graph, leaf);
    }
}

hm_status hmi_reduce_along_motion(hmi_reduce *r, const hmi_expr *list, size_t count, hmi_expr *out)
{
    hmi_tangent motion;
    hmi_tangent_init(&motion, r->allocator, leaf_rate, r, HMI_DEP_MOVING);
    for (size_t k = 0; k < count; k++)
        out[k] = hmi_tangent_of(&motion, &r->graph, list[k]);
    hmi_tangent_release(&motion);
    return r->graph.status;
}

hm_status hmi_reduce_gradient(hmi_reduce *r, hmi_expr e, hmi_symbol_kind by, size_t count,
                              hmi_expr *out)
{
    for (size_t i = 0; i < count; i++)
        out[i] = r->graph.zero;
    hm_status status = hmi_gradient(&r->adjoint, &r->graph, e, by);
    for (size_t i = 0; status == HM_OK && i < r->adjoint.partials.count; i++)
        if (r->adjoint.partials.data[i].index < count)
            out[r->adjoint.partials.data[i].index] = r->adjoint.partials.data[i].value;
    return status;
}

static hmi_expr velocity_zero(hmi_graph *graph, hmi_expr leaf, void *user)
{
    (void)user;
    return hmi_node_at(graph, leaf)->a == HMI_SYM_VELOCITY ? graph->zero : leaf;
}

bool hmi_reduce_linear(hmi_reduce *r, hmi_expr e, const char *name, hmi_linear_form *form)
{
    *form = (hmi_linear_form){.name = name, .c = hmi_reduce_vector(r, r->n)};
    if (r->failed || hmi_reduce_gradient(r, e, HMI_SYM_VELOCITY, r->n, form->c) != HM_OK)
        return false;
    for (size_t i = 0; i < r->n; i++) {
        form->c[i] = hmi_reduce_normal(r, form->c[i]);
        if (hmi_deps(&r->graph, form->c[i]) & HMI_DEP(HMI_SYM_VELOCITY))
            return false;
    }
    hmi_substitution zero;
    hmi_substitution_init(&zero, r->allocator, velocity_zero, NULL, HMI_DEP(HMI_SYM_VELOCITY));
    form->rest = hmi_reduce_normal(r, hmi_substitute(&zero, &r->graph, e));
    hmi_substitution_release(&zero);
    return form->rest != HMI_NONE;
}

bool hmi_reduce_contains(hmi_reduce *r, hmi_expr e, hmi_symbol_kind kind, uint32_t index)
{
    hmi_walk walk;
    bool found = false;
    hmi_walk_init(&walk, r->allocator);
    if (hmi_walk_begin(&walk, &r->graph) != HM_OK ||
        hmi_walk_add(&walk, &r->graph, e, HMI_DEP(kind)) != HM_OK)
        r->failed = true;
    for (size_t i = 0; i < walk.order.count && !found; i++) {
        const hmi_node *node = hmi_node_at(&r->graph, walk.order.data[i]);
        found = node->op == HMI_SYMBOL && node->a == (uint32_t)kind && node->b == index;
    }
    hmi_walk_release(&walk);
    return found;
}

/* ---- values ---- */

/* Velocities and states with the speeds behind them, where tapes look for them. */
static hmi_tape_values values_at(hmi_reduce *r, const hmi_reduced_state *state,
                                 const double *speeds, double *memory)
{
    double *v = memory, *z = v + r->n + r->k;
    memcpy(v, state->v, r->n * sizeof *v);
    if (r->nz)
        memcpy(z, state->z, r->nz * sizeof *z);
    for (size_t k = 0; speeds && k < r->k; k++) {
        z[r->nz + k] = speeds[k];
        if (r->speed[k].coordinate != HMI_NONE)
            v[r->speed[k].coordinate] = speeds[k];
    }
    hmi_tape_values values = {{NULL}};
    values.by_kind[HMI_SYM_TIME] = &state->t;
    values.by_kind[HMI_SYM_PARAM] = r->params;
    values.by_kind[HMI_SYM_COORD] = state->q;
    values.by_kind[HMI_SYM_VELOCITY] = v;
    values.by_kind[HMI_SYM_STATE] = z;
    values.by_kind[HMI_SYM_INPUT] = state->inputs[0];
    values.by_kind[HMI_SYM_INPUT_RATE] = state->inputs[1];
    values.by_kind[HMI_SYM_INPUT_RATE2] = state->inputs[2];
    return values;
}

hm_status hmi_reduce_values(hmi_reduce *r, const hmi_expr *list, size_t count,
                            const hmi_reduced_state *state, const double *speeds, double *out)
{
    hmi_tape tape;
    hmi_tape_scratch scratch;
    hmi_tape_scratch_init(&scratch, r->allocator);
    hm_status status = hmi_tape_build(&tape, &r->graph, list, count, &scratch);
    hmi_tape_scratch_release(&scratch);
    size_t memory_size = (r->n + r->nz + 2 * r->k + 1) * sizeof(double);
    size_t work_size = (tape.work_size + 1) * sizeof(double);
    double *memory = status == HM_OK ? hmi_alloc(r->allocator, memory_size) : NULL;
    double *work = memory ? hmi_alloc(r->allocator, work_size) : NULL;
    if (work) {
        memset(memory, 0, memory_size);
        memset(work, 0, work_size);
        hmi_tape_values values = values_at(r, state, speeds, memory);
        hmi_tape_prepare(&tape, &values, work);
        hmi_tape_interpret(&tape, &values, work);
        memcpy(out, hmi_tape_outputs(&tape, work), count * sizeof *out);
    } else if (status == HM_OK)
        status = HM_ERR_NOMEM;
    hmi_free(r->allocator, work, work_size);
    hmi_free(r->allocator, memory, memory_size);
    hmi_tape_release(&tape);
    return status;
}
