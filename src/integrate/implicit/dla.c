/* The discrete Lagrange-d'Alembert method for linear and affine nonholonomic constraints: dla.h.
 * Verified: test/unit/integrate/test_implicit_discrete.c */
#include "integrate/implicit/dla.h"

static hm_status applies(const hmi_ode *ode, const char **why)
{
    const hm_model *model = ode->sim->system->model;
    for (size_t k = 0; k < model->constraints.count; k++)
        if (!model->constraints.data[k].linear) {
            *why = "dla needs constraints that are linear or affine in the velocities: a nonlinear "
                   "one has no discrete d'Alembert principle";
            return HM_ERR_USAGE;
        }
    return hmi_dla_applies(ode, why);
}

const hmi_method hmi_method_dla = {
    .name = "dla",
    .doc =
        "Discrete Lagrange-d'Alembert: order 2, fixed step, for holonomic and for linear or affine "
        "nonholonomic constraints; constraints hold exactly, energy errors stay bounded where the "
        "motion is reversible. Cortes & Martinez 2001, McLachlan & Perlmutter 2006.",
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
