/* Compiles and runs the projector tape of a sim. */
#include "dynamics/sim/projector.h"

static hm_status compile(hm_sim *sim, const hmi_motion_source *source, const size_t *rows,
                         size_t count, hmi_symbol_kind x, hmi_sim_projector *projector)
{
    const hm_system *system = sim->system;
    const hmi_derived *d = &system->derived;
    const hmi_expr *list = source->graph ? source->dynamics : system->dynamics_outputs;
    hmi_graph graph;
    hm_status status = hmi_graph_copy(&graph, source->graph ? source->graph : &d->graph);
    const hmi_projector_request request = {
        .graph = &graph,
        .matrices = {.n = d->n,
                     .m = count,
                     .M_pattern = &d->M,
                     .A_pattern = &d->constraints.A,
                     .M = list + system->at.M,
                     .A = list + system->at.A,
                     .rows = rows},
        .x = x,
    };
    if (status == HM_OK)
        status = hmi_projector_compile(&projector->program, &request);
    hmi_graph_release(&graph);
    if (status != HM_OK)
        return status;
    const hmi_tape *tape = &projector->program.tape;
    projector->work = hmi_alloc(projector->allocator, tape->work_size * sizeof(double));
    if (!projector->work)
        return HM_ERR_NOMEM;
    projector->step = hmi_tape_outputs(tape, projector->work);
    projector->sizes = projector->step + projector->program.sizes;
    projector->margin = projector->step + projector->program.margin;
    projector->entries = projector->step + projector->program.rows;
    return HM_OK;
}

hm_status hmi_sim_projector_create(hm_sim *sim, const hmi_motion_source *source, const size_t *rows,
                                   size_t count, hmi_symbol_kind x, hmi_sim_projector **out)
{
    const hm_allocator *allocator = sim->system->allocator;
    *out = NULL;
    if (!sim->dense.dynamics || sim->solve.compiled || count > HM_MOST_DENSE)
        return HM_OK;
    hmi_sim_projector *projector = hmi_alloc(allocator, sizeof *projector);
    if (!projector)
        return HM_ERR_NOMEM;
    *projector = (hmi_sim_projector){.allocator = allocator};
    hm_status status = compile(sim, source, rows, count, x, projector);
    if (status == HM_OK)
        *out = projector;
    else
        hmi_sim_projector_destroy(projector);
    return status == HM_ERR_NOMEM ? status : HM_OK;
}

void hmi_sim_projector_destroy(hmi_sim_projector *projector)
{
    if (!projector)
        return;
    hmi_free(projector->allocator, projector->work,
             projector->work ? projector->program.tape.work_size * sizeof(double) : 0);
    hmi_projector_release(&projector->program);
    hmi_free(projector->allocator, projector, sizeof *projector);
}

bool hmi_sim_projector_run(hm_sim *sim, hmi_sim_projector *projector, const hmi_point *at,
                           const double *b)
{
    const hmi_tape *tape = &projector->program.tape;
    if (projector->version != sim->tapes.version) {
        projector->values = hmi_sim_values(sim, at);
        hmi_tape_prepare(tape, &projector->values, projector->work);
        projector->version = sim->tapes.version;
    }
    projector->values.by_kind[HMI_SYM_TIME] = &at->t;
    projector->values.by_kind[HMI_SYM_COORD] = at->q;
    projector->values.by_kind[HMI_SYM_VELOCITY] = at->v;
    projector->values.by_kind[HMI_SYM_STATE] = at->z;
    projector->values.by_kind[HMI_SYM_MULTIPLIER] = b;
    hmi_tape_run(tape, &projector->values, projector->work);
    return *projector->margin > 0;
}
