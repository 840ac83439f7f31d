/* Copies the parts of a model that a variant changes, and derives the variant (variant.h). */
#include "analyse/compare/variant.h"

#include <string.h>

/* Entries of `mass` that are no constants stay beside L. */
static hm_status take_mass(hmi_variant *v)
{
    const hm_model *from = v->base->model;
    const hm_allocator *allocator = v->base->allocator;
    v->mass_count = from->mass.count + 1;
    v->mass = hmi_alloc(allocator, v->mass_count * sizeof *v->mass);
    if (!v->mass)
        return HM_ERR_NOMEM;
    v->model.mass.data = v->mass;
    v->model.mass.count = 0;
    for (size_t k = 0; k < from->mass.count; k++)
        if (hmi_deps(&from->graph, from->mass.data[k].value) & ~HMI_DEP(HMI_SYM_PARAM))
            v->mass[v->model.mass.count++] = from->mass.data[k];
    return HM_OK;
}

hm_status hmi_variant_init(hmi_variant *v, const hm_system *base, hm_context *context)
{
    *v = (hmi_variant){.base = base, .model = *base->model, .equation = HMI_NONE};
    v->model.context = context;
    v->model.references = 1; /* it is the variant's: its system does not free it */
    hmi_arena_init(&v->model.arena, base->allocator);
    v->model.graph = (hmi_graph){0};
    hm_status status = hmi_graph_copy(&v->model.graph, &base->derived.graph);
    if (status == HM_OK)
        status = take_mass(v);
    v->model.kinetic = v->model.potential = v->model.graph.zero;
    v->model.lagrangian = base->derived.lagrangian;
    v->model.has_lagrangian = true;
    return status;
}

void hmi_variant_release(hmi_variant *v)
{
    const hm_allocator *allocator = v->base->allocator;
    hm_system_destroy(v->system);
    hmi_graph_release(&v->model.graph);
    hmi_arena_release(&v->model.arena);
    hmi_free(allocator, v->coords, v->coord_count * sizeof *v->coords);
    hmi_free(allocator, v->mass, v->mass_count * sizeof *v->mass);
}

hm_status hmi_variant_build(hmi_variant *v)
{
    hm_status status = hmi_graph_status(&v->model.graph);
    return status == HM_OK ? hm_system_create(&v->model, &v->system) : status;
}
