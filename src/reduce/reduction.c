/* hm_model_reduce: the steps in their order. */
#include "base/argument.h"
#include "reduce/reduce.h"

#include <string.h>

static const char *const form_names[] = {"maggi",           "kane",  "voronets", "appell",
                                         "boltzmann-hamel", "routh", "hamilton", "embed"};
enum { FORMS = sizeof form_names / sizeof *form_names };

const char *hm_reduced_form_name(hm_reduced_form form)
{
    return (unsigned)form < FORMS ? form_names[form] : NULL;
}

bool hm_reduced_form_find(const char *name, hm_reduced_form *form)
{
    for (int i = 0; name && form && i < FORMS; i++)
        if (strcmp(name, form_names[i]) == 0) {
            *form = (hm_reduced_form)i;
            return true;
        }
    return false;
}

hm_reduce_options hm_reduce_options_default(void)
{
    return (hm_reduce_options){.states = 24, .seed = 1};
}

/* ---- a reduction in progress ---- */

static hm_status begin(hmi_reduce *r, hm_model *model, const hm_reduce_options *options)
{
    *r = (hmi_reduce){.model = model,
                      .context = model->context,
                      .allocator = &model->context->allocator,
                      .form = options->form,
                      .n = model->coords.count,
                      .nz = model->states.count,
                      .np = model->params.count};
    hmi_arena_init(&r->arena, r->allocator);
    hmi_adjoint_init(&r->adjoint, r->allocator);
    r->speed = hmi_arena_alloc(&r->arena, (r->n + 1) * sizeof *r->speed);
    r->params = hmi_arena_doubles(&r->arena, r->np + r->n, &r->failed);
    r->solved_row = hmi_arena_alloc(&r->arena, model->constraints.count + 1);
    r->row = hmi_arena_alloc(&r->arena, (model->constraints.count + r->n + 1) * sizeof *r->row);
    if (r->failed || !r->speed || !r->solved_row || !r->row)
        return HM_ERR_NOMEM;
    for (size_t i = 0; i < r->np; i++)
        r->params[i] = model->params.data[i].value;
    return HM_OK;
}

static void finish(hmi_reduce *r)
{
    hmi_array_release(r->allocator, &r->quantities);
    hmi_array_release(r->allocator, &r->notes);
    hmi_normal_destroy(r->normal);
    hmi_graph_release(&r->graph);
    hmi_adjoint_release(&r->adjoint);
    hm_system_destroy(r->system);
    hmi_arena_release(&r->arena);
}

/* The graph, after the speeds were read into that of the model. */
static hm_status derive(hmi_reduce *r)
{
    hm_status status = hm_system_create(r->model, &r->system);
    if (status != HM_OK)
        return status;
    r->eq = &r->system->derived;
    status = hmi_reduce_refuse(r);
    if (status == HM_OK)
        status = hmi_graph_copy(&r->graph, &r->eq->graph);
    if (status != HM_OK)
        return status;
    r->normal = hmi_normal_create(&r->graph);
    r->position = hmi_reduce_vector(r, r->n);
    r->velocity = hmi_reduce_vector(r, r->n);
    r->cyclic_index = hmi_reduce_vector(r, r->n);
    if (!r->normal || r->failed)
        return HM_ERR_NOMEM;
    if (r->n > 8)
        hmi_normal_hurry(r->normal);
    for (uint32_t i = 0; i < r->n; i++) {
        r->position[i] = HMI_NONE;
        r->velocity[i] = hmi_symbol(&r->graph, HMI_SYM_VELOCITY, i);
    }
    return HM_OK;
}

static hm_status refuse_speeds(hmi_reduce *r)
{
    for (size_t k = 0; k < r->k; k++)
        if ((r->form == HM_REDUCED_FORM_VORONETS || r->form == HM_REDUCED_FORM_EMBED) &&
            r->speed[k].coordinate == HMI_NONE) {
            hmi_error(r->context, hmi_no_span, "name velocities, as in --speeds \"x', theta'\"",
                      "form %s has velocities as its speeds, not '%s'",
                      hm_reduced_form_name(r->form), r->speed[k].name);
            return HM_ERR_INPUT;
        }
    if (r->n == r->rows) {
        hmi_error(r->context, hmi_no_span, "its motion follows from the constraints alone",
                  "the constraints leave no freedom: there are no equations of motion");
        return HM_ERR_USAGE;
    }
    return HM_OK;
}

static hm_status find_equations(hmi_reduce *r)
{
    hm_status status = HM_OK;
    if (r->own_speeds)
        status = hmi_reduce_take_speeds(r);
    if (status == HM_OK && r->form == HM_REDUCED_FORM_EMBED)
        status = hmi_reduce_embed(r);
    if (status == HM_OK)
        status = hmi_reduce_find_rows(r);
    if (status == HM_OK && r->form == HM_REDUCED_FORM_ROUTH)
        status = hmi_reduce_routh(r);
    if (status == HM_OK)
        status = hmi_reduce_choose_speeds(r);
    if (status == HM_OK)
        status = refuse_speeds(r);
    if (status == HM_OK)
        status = hmi_reduce_solve_velocities(r);
    if (status == HM_OK)
        status = hmi_reduce_project(r);
    return status == HM_OK ? hmi_reduce_present(r) : status;
}

static hm_status reduce(hmi_reduce *r, hm_model *model, const hm_reduce_options *options)
{
    hm_status status = HM_OK;
    if (options->speeds)
        status = hmi_reduce_read_speeds(r, model, options->speeds);
    if (status == HM_OK)
        status = derive(r);
    if (status == HM_OK)
        status = hmi_reduce_find_states(r, options->states, options->seed);
    return status == HM_OK ? find_equations(r) : status;
}

/* ---- the result ---- */

typedef struct result {
    hm_reduced shown; /* first: what the caller sees */
    hm_context *context;
    hmi_arena arena;
} result;

static hm_status make(hm_model *model, const hm_reduce_options *options, result *out)
{
    hmi_reduce r;
    hm_status status = begin(&r, model, options);
    if (status == HM_OK)
        status = reduce(&r, model, options);
    if (status == HM_OK)
        status = hmi_reduce_verify(&r, &out->shown.verified.difference,
                                   &out->shown.verified.states);
    if (status == HM_OK)
        status = hmi_reduce_write(&r, &out->shown, &out->arena);
    const char *name = hm_model_name(model);
    out->shown.model = hmi_arena_text(&out->arena, name, strlen(name));
    out->shown.form = options->form;
    finish(&r);
    return status;
}

hm_status hm_model_reduce(hm_model *model, const hm_reduce_options *options, hm_reduced **reduction)
{
    hm_context *context = model ? model->context : NULL;
    hm_reduce_options chosen = options ? *options : hm_reduce_options_default();
    HMI_ARGUMENT(
        context, model && reduction && (unsigned)chosen.form < FORMS && chosen.states >= 3,
        "a model, a place for the result, a form that exists and at least 3 states are needed");
    *reduction = NULL;
    result *out = hmi_alloc(&context->allocator, sizeof *out);
    if (!out)
        return HM_ERR_NOMEM;
    *out = (result){.context = hmi_context_share(context)};
    hmi_arena_init(&out->arena, &context->allocator);
    hm_status status = make(model, &chosen, out);
    if (status == HM_OK)
        *reduction = &out->shown;
    else
        hm_reduced_destroy(&out->shown);
    return status;
}

void hm_reduced_destroy(hm_reduced *reduction)
{
    if (!reduction)
        return;
    result *own = (result *)reduction;
    hm_context *context = own->context;
    hmi_arena_release(&own->arena);
    hmi_free(&context->allocator, own, sizeof *own);
    hm_context_destroy(context);
}
