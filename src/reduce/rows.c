/* The rows that velocities satisfy: constraints, linear in the velocities. */
#include "reduce/reduce.h"

hm_status hmi_reduce_find_rows(hmi_reduce *r)
{
    const hmi_rows *rows = &r->eq->constraints;
    for (size_t i = 0; i < rows->count; i++) {
        if (r->solved_row[i])
            continue;
        const hmi_constraint *c = &r->model->constraints.data[i];
        hmi_expr psi = rows->velocity_residual[i];
        hm_status status = hmi_reduce_express(r, &psi, 1);
        if (status != HM_OK)
            return status;
        if (!hmi_reduce_linear(r, psi, c->name, &r->row[r->rows])) {
            status = hmi_reduce_status(r);
            if (status == HM_OK)
                hmi_error(r->context, c->span, "`hamel derive` has the equations with multipliers",
                          "constraint '%s' is not linear in the velocities", c->name);
            return status == HM_OK ? HM_ERR_USAGE : status;
        }
        r->rows++;
    }
    return hmi_reduce_status(r);
}
