/* Evaluates the sides of joints, and refuses those that are negative. */
#include "integrate/drift/mirrored.h"

static size_t list_sides(const hm_model *model, hmi_expr *sides)
{
    size_t count = 0;
    for (size_t i = 0; i < model->joints.count; i++)
        if (model->joints.data[i].side != HMI_NONE)
            sides[count++] = model->joints.data[i].side;
    return count;
}

hm_status hmi_mirrored_init(hmi_mirrored *m, const hm_model *model, hmi_arena *arena)
{
    *m = (hmi_mirrored){.model = model};
    if (model->joints.count == 0)
        return HM_OK;
    hmi_expr *sides = hmi_arena_alloc(arena, model->joints.count * sizeof *sides);
    if (!sides)
        return HM_ERR_NOMEM;
    size_t count = list_sides(model, sides);
    hmi_tape_scratch scratch;
    hmi_tape_scratch_init(&scratch, arena->allocator);
    hm_status status = hmi_tape_build(&m->sides, &model->graph, sides, count, &scratch);
    hmi_tape_scratch_release(&scratch);
    bool failed = false;
    if (status == HM_OK)
        m->work = hmi_arena_doubles(arena, m->sides.work_size + 1, &failed);
    return failed ? HM_ERR_NOMEM : status;
}

void hmi_mirrored_release(hmi_mirrored *m)
{
    if (m->sides.allocator)
        hmi_tape_release(&m->sides);
}

hm_status hmi_refuse_mirrored(const hmi_mirrored *m, hm_sim *sim)
{
    if (!m->work)
        return HM_OK;
    const hmi_tape_values values = hmi_sim_values(sim, hmi_sim_present(sim));
    hmi_tape_prepare(&m->sides, &values, m->work);
    hmi_tape_run(&m->sides, &values, m->work);
    const double *side = hmi_tape_outputs(&m->sides, m->work);
    for (size_t i = 0; i < m->model->joints.count; i++) {
        const hmi_joint *joint = &m->model->joints.data[i];
        if (joint->side == HMI_NONE || *side++ > 0)
            continue;
        hmi_error(
            sim->context, joint->span,
            "start with the axes pointing the same way: change the initial values, or turn one "
            "of the axes round",
            "joint '%s' is assembled like a mirror image at the start", joint->name);
        return HM_ERR_INPUT;
    }
    return HM_OK;
}
