/* Inputs and outputs of the linearised system:
 *
 *     y' = A y + B u + B1 u' + B2 u'',    w = C y + D u + D1 u' + D2 u''
 *
 * for small deviations u of inputs from what they are at the state (their defaults, which go on following
 * the motion) and w of outputs. u' and u'' enter where constraints use an input: with the derivatives C_x
 * of the constraints by the variables and C_u by (u, u', u''), the dependent variables obey
 * C_x dx + C_u du = 0, so that  dx = T dy + S du,  and
 *     B = F S + F_u,    C = g T,    D = g S + g_u,
 * rows of y and of outputs, with F = d(x')/dx (reduce.h), F_u = d(x')/du and g the derivatives of an output
 * by all that it uses, accelerations by the chain rule.
 *
 * Derivatives are exact; outputs that use constraint forces, and models whose own derivatives are found by
 * differences (dynamics/sim/motion_derivatives.h), have about ten digits. All of them are compared with
 * differences on both sides: where a function has no derivative, no matrix is given.
 * Verified: test/physics/test_ports.c
 */
#ifndef HMI_ANALYSE_LINEARIZE_PORTS_H
#define HMI_ANALYSE_LINEARIZE_PORTS_H

#include "analyse/linearize/equilibrium.h"

#include <hamel/linearize.h>

/* What was asked for, found in the model. */
typedef struct hmi_ports {
    size_t inputs, outputs;
    size_t *input;    /* of the model */
    size_t *variable; /* by output: (q, v, z) counted through; SIZE_MAX: not one of these */
    size_t *output;   /* of the model, where it is no variable */
} hmi_ports;

/* Reports names that do not exist, and inputs that cannot vary by themselves: HM_ERR_USAGE. */
HM_MUST_CHECK hm_status hmi_ports_find(hmi_ports *ports, hmi_arena *arena, hm_sim *sim,
                                       const hm_linearize_options *options);

/* By u, u', u'' for each of the three: dimension x inputs and outputs x inputs; C: outputs x dimension. */
typedef struct hmi_port_matrices {
    double *B[3], *C, *D[3];
} hmi_port_matrices;

/* At the state of the reduction. HM_ERR_NUMERIC where there is no such matrix: reported. */
HM_MUST_CHECK hm_status hmi_ports_compute(const hmi_ports *ports, hmi_reduction *r,
                                          const hmi_kept *kept, hmi_arena *arena,
                                          hmi_port_matrices *to);

/* output_slopes.c: derivatives of outputs by q, v, z, u, u', u'' (of all inputs) and q'', in this order. */
typedef struct hmi_output_slopes {
    size_t columns;
    bool *exact;  /* by output; false: it uses more than these, and has no row */
    double *rows; /* outputs x columns, at the point as last evaluated */
} hmi_output_slopes;
HM_MUST_CHECK hm_status hmi_find_output_slopes(const hmi_ports *ports, hm_sim *sim,
                                               const hmi_point *at, hmi_arena *arena,
                                               hmi_output_slopes *to);

#endif
