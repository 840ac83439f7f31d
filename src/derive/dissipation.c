/* Dissipation functions that dissipate nothing: a warning.
 *
 * Of R the forces are -dR/dq'. Damping and friction need terms of second or higher degree in the
 * velocities, or such as mu N |x'|: where R is linear in x', the force is the same whichever way x
 * moves. (x' - u)^2 has a linear term, too, but its force depends on x'.
 * Verified: test/unit/derive/test_dissipation.c
 */
#include "derive/derive_internal.h"

static void warn(const hmi_derived *eq, const hmi_energy *energy, uint32_t coord)
{
    const char *name = eq->model->coords.data[coord].name;
    const char *hint = hmi_context_printf(
        eq->context, "viscous damping is c/2*%s'^2, dry friction c*abs(%s'), a force 'force %s'",
        name, name, name);
    hmi_warning(eq->context, energy->span, hint,
                "the dissipation function is linear in %s': its force is the same in either "
                "direction and damps nothing",
                name);
}

hm_status hmi_check_dissipation(hmi_derivation *d)
{
    const hm_model *model = d->eq->model;
    hmi_graph *g = &d->eq->graph;
    for (size_t k = 0; k < model->energies.count; k++) {
        const hmi_energy *energy = &model->energies.data[k];
        if (energy->kind != HMI_STMT_DISSIPATION)
            continue;
        hm_status status = hmi_gradient(&d->adjoint, g, energy->value, HMI_SYM_VELOCITY);
        if (status != HM_OK)
            return status;
        for (size_t i = 0; i < d->adjoint.partials.count; i++) {
            const hmi_partial *partial = &d->adjoint.partials.data[i];
            bool bends = hmi_deps(g, partial->value) & HMI_DEP(HMI_SYM_VELOCITY);
            if (!bends && partial->value != g->zero)
                warn(d->eq, energy, partial->index);
        }
    }
    return d->eq->context->out_of_memory ? HM_ERR_NOMEM : HM_OK;
}
