/* Floquet multipliers: what one period makes of small deviations.
 *
 * Deviations of all variables, tangent to the constraints at first, obey dX/dt = F_x(t) X along the
 * motion (variational equations, exact derivatives), and after a period T the independent ones are
 * y(T) = Phi y(0). The eigenvalues of Phi are the multipliers.       [Coddington & Levinson 1955, 3.5]
 *
 * The motion is either at rest (reference.h), and then known, or it is integrated along with its
 * deviations and put back onto the constraints after every step. The method is DOP853 with step
 * control on all of it; jumps of the coefficients at some times are passed by small steps. The error
 * of Phi is the difference between results at two tolerances.
 * Verified: test/physics/test_floquet.c
 */
#ifndef HMI_ANALYSE_LINEARIZE_FLOQUET_H
#define HMI_ANALYSE_LINEARIZE_FLOQUET_H

#include "analyse/linearize/reference.h"

typedef struct hmi_floquet {
    hmi_reference *ref;
    bool at_rest; /* the motion is that of ref; else the one from its state */
    double period;
    size_t size;    /* of y: all independent variables */
    double *Phi;    /* size x size */
    double *error;  /* size x size: of its entries */
    double *x_end;  /* after the period */
    double closure; /* largest difference between the kept variables at both ends */
} hmi_floquet;

/* Memory from the arena; ref's memory is used. */
HM_MUST_CHECK hm_status hmi_floquet_init(hmi_floquet *f, hmi_arena *arena, hmi_reference *ref);
/* Phi over the period, and where the motion ends. HM_ERR_LIMIT: too many steps; others as
 * hmi_sim_jacobian. */
HM_MUST_CHECK hm_status hmi_floquet_compute(hmi_floquet *f);

/* Phi over the kept variables and the errors of its entries, count x count. HM_ERR_NUMERIC where what
 * was left out enters after all. */
HM_MUST_CHECK hm_status hmi_floquet_kept(const hmi_floquet *f, double *Phi, double *error);

#endif
