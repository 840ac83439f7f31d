/* RATTLE for holonomic systems, with the variational form for M(q): dla.h.
 * Verified: test/unit/integrate/test_implicit_discrete.c */
#include "integrate/implicit/dla.h"

static hm_status applies(const hmi_ode *ode, const char **why)
{
    const hm_model *model = ode->sim->system->model;
    for (size_t k = 0; k < model->constraints.count; k++)
        if (model->constraints.data[k].level != HM_LEVEL_POSITION) {
            *why = "rattle needs constraints of position level; use dla for linear and affine "
                   "velocity constraints";
            return HM_ERR_USAGE;
        }
    return hmi_dla_applies(ode, why);
}

const hmi_method hmi_method_rattle = {
    .name = "rattle",
    .doc =
        "RATTLE: order 2, fixed step, symplectic, for systems with position constraints or none; "
        "energy errors stay bounded over very long runs. Andersen 1983, Marsden & West 2001.",
    .order = 2,
    .dense_degree = 3,
    .fixed_step = true,
    .keeps_constraints = true,
    .memory_size = hmi_dla_memory_size,
    .applies = applies,
    .start = hmi_dla_start,
    .step = hmi_dla_step,
    .interpolate = hmi_dla_interpolate,
};
