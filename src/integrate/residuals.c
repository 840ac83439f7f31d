/* Residuals of the constraints: see residuals.h. */
#include "integrate/residuals.h"

#include <string.h>

hm_status hmi_residuals_init(hmi_residuals *r, hm_sim *sim, hmi_arena *arena)
{
    const hmi_rows *rows = &sim->system->derived.constraints;
    size_t m = rows->count;
    *r = (hmi_residuals){.sim = sim, .count = m, .tape = r->tape};
    hmi_expr *list = hmi_arena_alloc(arena, (2 * m + 1) * sizeof *list);
    r->level = hmi_arena_alloc(arena, (m + 1) * sizeof *r->level);
    if (!list || !r->level)
        return HM_ERR_NOMEM;
    for (size_t k = 0; k < m; k++) {
        list[k] = rows->position_residual[k];
        list[m + k] = rows->velocity_residual[k];
        r->level[k] = sim->system->model->constraints.data[k].level;
    }
    hm_status status = HM_OK;
    if (!r->tape.allocator)
        status = hmi_tape_compile(&r->tape, &sim->system->derived.graph, list, 2 * m);
    if (status != HM_OK)
        return status;
    r->work = hmi_arena_alloc(arena, (r->tape.work_size + 1) * sizeof *r->work);
    if (!r->work)
        return HM_ERR_NOMEM;
    r->position = hmi_tape_outputs(&r->tape, r->work);
    r->velocity = r->position + m;
    return HM_OK;
}

void hmi_residuals_release(hmi_residuals *r)
{
    hmi_tape_release(&r->tape);
}

void hmi_residuals_prepare(hmi_residuals *r)
{
    const hmi_tape_values values = hmi_sim_values(r->sim);
    hmi_tape_prepare(&r->tape, &values, r->work);
}

void hmi_residuals_evaluate(hmi_residuals *r)
{
    hmi_sim_refresh(r->sim); /* inputs may depend on the state */
    const hmi_tape_values values = hmi_sim_values(r->sim);
    hmi_tape_run(&r->tape, &values, r->work);
}
