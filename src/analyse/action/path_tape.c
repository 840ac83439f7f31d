/* The tape of what varied paths need at a point (action.h). */
#include "analyse/action/action.h"
#include "compile/jit/assemble.h"

typedef struct building {
    const hmi_derived *eq;
    hmi_graph *graph;
    hmi_adjoint adjoint;
    hmi_tangent motion;
    hmi_expr *next; /* the next output to be written */
} building;

static hmi_expr along_motion(hmi_graph *graph, hmi_expr leaf, void *user)
{
    const hm_model *model = user;
    const hmi_node *node = hmi_node_at(graph, leaf);
    return node->a == HMI_SYM_STATE ? model->states.data[node->b].rate : hmi_leaf_rate(graph, leaf);
}

static void put_vector(building *b, const hmi_expr *vector)
{
    for (size_t i = 0; i < b->eq->n; i++)
        *b->next++ = vector[i];
}

/* The gradient of an expression, n outputs; HMI_NONE: zeros. */
static hm_status put_gradient(building *b, hmi_expr e, hmi_symbol_kind by)
{
    for (size_t i = 0; i < b->eq->n; i++)
        b->next[i] = b->graph->zero;
    hm_status status = e == HMI_NONE ? HM_OK : hmi_gradient(&b->adjoint, b->graph, e, by);
    for (size_t i = 0; e != HMI_NONE && status == HM_OK && i < b->adjoint.partials.count; i++)
        b->next[b->adjoint.partials.data[i].index] = b->adjoint.partials.data[i].value;
    b->next += b->eq->n;
    return status;
}

/* A, A' and dg/dq, each m x n. Rows on accelerations have none: zeros. */
static hm_status put_rows(building *b)
{
    const hmi_rows *rows = &b->eq->constraints;
    const hmi_expr *A = b->next;
    size_t entries = rows->count * b->eq->n;
    hm_status status = HM_OK;
    for (size_t k = 0; k < rows->count && status == HM_OK; k++)
        status = put_gradient(b, rows->velocity_residual[k], HMI_SYM_VELOCITY);
    for (size_t i = 0; i < entries && status == HM_OK; i++)
        *b->next++ = hmi_tangent_of(&b->motion, b->graph, A[i]);
    for (size_t k = 0; k < rows->count && status == HM_OK; k++)
        status = put_gradient(b, rows->velocity_residual[k], HMI_SYM_COORD);
    return status;
}

static hm_status put_all(building *b)
{
    *b->next++ = b->eq->lagrangian;
    put_vector(b, b->eq->dL_dq);
    put_vector(b, b->eq->momentum);
    put_vector(b, b->eq->bias);
    hm_status status = put_gradient(b, b->eq->total, HMI_SYM_COORD);
    if (status == HM_OK)
        status = put_gradient(b, b->eq->total, HMI_SYM_VELOCITY);
    return status == HM_OK ? put_rows(b) : status;
}

hm_status hmi_path_tape_init(hmi_path_tape *tape, const hm_system *system, hmi_arena *arena)
{
    const hmi_derived *eq = &system->derived;
    size_t n = eq->n, count = 1 + 5 * n + 3 * eq->constraints.count * n;
    building b = {.eq = eq, .graph = &tape->graph};
    tape->tape.allocator = tape->graph.allocator = system->allocator;
    hm_status status = hmi_graph_copy(&tape->graph, &eq->graph);
    hmi_expr *outputs = hmi_arena_alloc(arena, (count + 1) * sizeof *outputs);
    hmi_adjoint_init(&b.adjoint, system->allocator);
    hmi_tangent_init(&b.motion, system->allocator, along_motion, (void *)system->model,
                     HMI_DEP_MOVING);
    b.next = outputs;
    if (status == HM_OK)
        status = outputs ? put_all(&b) : HM_ERR_NOMEM;
    if (status == HM_OK)
        status = hmi_graph_status(&tape->graph);
    if (status == HM_OK)
        status = hmi_tape_compile(&tape->tape, &tape->graph, outputs, count);
    if (status == HM_OK) {
        tape->work = hmi_arena_alloc(arena, (tape->tape.work_size + 1) * sizeof *tape->work);
        status = tape->work ? HM_OK : HM_ERR_NOMEM;
    }
    hmi_tangent_release(&b.motion);
    hmi_adjoint_release(&b.adjoint);
    return status;
}

void hmi_path_tape_release(hmi_path_tape *tape)
{
    hmi_tape_release(&tape->tape);
    hmi_graph_release(&tape->graph);
}
