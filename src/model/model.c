/* An empty model, and its end. */
#include "model/model.h"

hm_model *hmi_new_model(hm_context *context)
{
    hm_model *model = hmi_alloc(&context->allocator, sizeof *model);
    if (!model)
        return NULL;
    *model = (hm_model){.context = hmi_context_share(context)};
    hmi_arena_init(&model->arena, &context->allocator);
    if (hmi_graph_init(&model->graph, &context->allocator) != HM_OK) {
        hm_model_destroy(model);
        return NULL;
    }
    model->kinetic = model->potential = model->lagrangian = model->dissipation = model->graph.zero;
    return model;
}

void hm_model_destroy(hm_model *model)
{
    if (!model || !hmi_unshare(&model->references))
        return;
    hm_context *context = model->context;
    const hm_allocator *allocator = &context->allocator;
    hmi_array_release(allocator, &model->params);
    hmi_array_release(allocator, &model->coords);
    hmi_array_release(allocator, &model->states);
    hmi_array_release(allocator, &model->inputs);
    hmi_array_release(allocator, &model->energies);
    hmi_array_release(allocator, &model->mass);
    hmi_array_release(allocator, &model->gyroscopic);
    hmi_array_release(allocator, &model->forces);
    hmi_array_release(allocator, &model->nonideal);
    hmi_array_release(allocator, &model->bodies);
    hmi_array_release(allocator, &model->rates);
    hmi_array_release(allocator, &model->joints);
    hmi_array_release(allocator, &model->constraints);
    hmi_array_release(allocator, &model->frictions);
    hmi_array_release(allocator, &model->tangents);
    hmi_array_release(allocator, &model->servos);
    hmi_array_release(allocator, &model->servo_rows);
    hmi_array_release(allocator, &model->symmetries);
    hmi_array_release(allocator, &model->events);
    hmi_array_release(allocator, &model->outputs);
    hmi_array_release(allocator, &model->drawings);
    hmi_array_release(allocator, &model->named);
    hmi_array_release(allocator, &model->meanings);
    hmi_array_release(allocator, &model->literal);
    hmi_graph_release(&model->graph);
    hmi_arena_release(&model->arena);
    hmi_free(allocator, model, sizeof *model);
    hm_context_destroy(context);
}
