/* Models that have no reduced equations of this kind, said with the reason and what to do instead. */
#include "reduce/reduce.h"

static hm_status refuse(hmi_reduce *r, hmi_span span, const char *hint, const char *what,
                        const char *name)
{
    hmi_error(r->context, span, hint, "there is no reduced form: %s%s%s%s", what, name ? " '" : "",
              name ? name : "", name ? "'" : "");
    return HM_ERR_USAGE;
}

static hm_status refuse_row(hmi_reduce *r, size_t i)
{
    const hmi_constraint *c = &r->model->constraints.data[i];
    if (c->one_sided || c->when != HMI_NONE)
        return refuse(r, c->span, "rows that come and go change the number of speeds",
                      "one-sided or switched constraint", c->name);
    if (c->level == HM_LEVEL_ACCELERATION)
        return refuse(r, c->span, "a constraint on positions or velocities is needed",
                      "constraint on accelerations", c->name);
    if (!c->linear && c->level == HM_LEVEL_VELOCITY)
        return refuse(r, c->span, "`hamel derive` has the equations with multipliers",
                      "constraint that is not linear in the velocities", c->name);
    return HM_OK;
}

static bool uses_reactions(const hmi_reduce *r)
{
    return r->eq->force_symbols != 0;
}

hm_status hmi_reduce_refuse(hmi_reduce *r)
{
    const hm_model *model = r->model;
    if (model->servo_rows.count)
        return refuse(r, model->servos.data[0].span,
                      "servo forces are no constraint forces; `hamel derive` has the equations",
                      "servo", model->servos.data[0].name);
    if (model->frictions.count)
        return refuse(r, model->frictions.data[0].span,
                      "friction needs the constraint forces, which reduced equations do not have",
                      "friction", model->frictions.data[0].name);
    if (uses_reactions(r))
        return refuse(r, hmi_no_span, "`hamel derive` has the equations with multipliers",
                      "a force law uses constraint forces", NULL);
    if (r->n > HMI_MOST_REDUCED) {
        hmi_error(r->context, hmi_no_span, "`hamel derive` has the equations with multipliers",
                  "reduced equations are for up to %d coordinates; this model has %zu",
                  HMI_MOST_REDUCED, r->n);
        return HM_ERR_LIMIT;
    }
    hm_status status = HM_OK;
    for (size_t i = 0; status == HM_OK && i < model->constraints.count; i++)
        status = refuse_row(r, i);
    return status;
}
