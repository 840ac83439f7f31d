/* Initial values and the time span of the default run under other parameters than the model's own: what
 * reading the model again with these parameters would give. */
#include "model/model.h"

#include <math.h>

/* *value := the expression under the parameters, or the default where nothing was written. */
static hm_status evaluate(const hm_model *model, hmi_expr expr, bool written, double fallback,
                          const double *params, double *value)
{
    *value = fallback;
    if (!written || !(hmi_deps(&model->graph, expr) & HMI_DEP(HMI_SYM_PARAM)))
        return HM_OK;
    return hmi_evaluate_constant(&model->graph, expr, params, value);
}

static hm_status evaluate_initial(const hm_model *model, const hmi_initial *initial,
                                  const double *params, double *value)
{
    return evaluate(model, initial->expr, initial->given != HMI_GIVEN_NOT, initial->value, params,
                    value);
}

hm_status hmi_model_initial_under(const hm_model *model, const double *params, double *q, double *v,
                                  double *z)
{
    hm_status status = HM_OK;
    for (size_t i = 0; i < model->coords.count && status == HM_OK; i++) {
        status = evaluate_initial(model, &model->coords.data[i].position, params, &q[i]);
        if (status == HM_OK)
            status = evaluate_initial(model, &model->coords.data[i].velocity, params, &v[i]);
    }
    for (size_t i = 0; i < model->states.count && status == HM_OK; i++)
        status = evaluate_initial(model, &model->states.data[i].initial, params, &z[i]);
    return status;
}

bool hmi_model_span_varies(const hm_model *model)
{
    const hmi_simulate *run = &model->simulate;
    const uint16_t param = HMI_DEP(HMI_SYM_PARAM);
    return run->given && ((hmi_deps(&model->graph, run->start_expr) & param) ||
                          (hmi_deps(&model->graph, run->end_expr) & param) ||
                          (run->has_every && (hmi_deps(&model->graph, run->every_expr) & param)));
}

hm_status hmi_model_span_under(const hm_model *model, const double *params, double *start,
                               double *end, double *every)
{
    const hmi_simulate *run = &model->simulate;
    hm_status status = evaluate(model, run->start_expr, run->given, run->start, params, start);
    if (status == HM_OK)
        status = evaluate(model, run->end_expr, run->given, run->end, params, end);
    if (status == HM_OK)
        status = evaluate(model, run->every_expr, run->has_every, run->every, params, every);
    if (status == HM_OK && !run->has_every)
        *every = HMI_DEFAULT_EVERY(*start, *end);
    return status;
}
