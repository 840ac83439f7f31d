/* Constraints as differential forms on the space of z = (q, t).
 *
 *     position level  phi(q, t) = 0                 omega = d phi
 *     velocity level  A_kj(q, t) q'_j + B_k = 0     omega_k = A_kj dq_j + B_k dt       [Flannery (27)]
 *
 * Inputs and auxiliary states are signals: functions of time whose value, rate and second rate are
 * random numbers at a random point. For the exterior derivative only
 *     g_k(z, X) = omega_k(X),    (i_X d omega_k)_j = X(omega_kj) - d g_k / d z_j   (X held)
 * is needed: along a curve with z' = X the first term is the derivative of a coefficient.
 *
 * Position k of z is coordinate k, position n is t; symbol HMI_SYM_VELOCITY n is the rate of t.
 */
#ifndef HMI_ANALYSE_FORMS_FORMS_H
#define HMI_ANALYSE_FORMS_FORMS_H

#include "compile/system/system.h"
#include "expr/normal/normal.h"

typedef struct hmi_form {
    size_t count; /* nonzero components */
    uint32_t *at; /* positions of z, ascending */
    hmi_expr *value;
    size_t gradient_count; /* d g / d z */
    uint32_t *gradient_at;
    hmi_expr *gradient;
} hmi_form;

/* One constraint row. */
typedef struct hmi_form_row {
    const hmi_constraint *row;
    hmi_expr residual; /* auxiliary states replaced by signals; phi, psi */
    bool pfaffian;     /* it is a form: position level, or affine in the velocities */
    bool closed;       /* position level: d omega = 0 */
    bool time_occurs;  /* t or a signal occurs in the residual */
    hmi_form form;
} hmi_form_row;

typedef struct hmi_forms {
    const hm_system *system;
    const hm_model *model;
    const hm_allocator *allocator;
    hmi_graph graph; /* a copy of the system's, extended */
    hmi_arena arena;
    hmi_normal *normal; /* NULL for large systems */
    hmi_adjoint adjoint;
    hmi_tangent clock; /* d/dt at fixed q, q' */
    hm_status status;  /* a failure of differentiation or substitution; sticky */
    size_t n, signals, m;
    size_t row_count;   /* m, and rows that quadratic constraints stand for (quadratic.c) */
    hmi_form_row *rows; /* m + n + 1 at most, and room for one that is tried */
} hmi_forms;

hm_status hmi_forms_init(hmi_forms *forms, const hm_system *system);
void hmi_forms_release(hmi_forms *forms);

/* d e / d z_j; position n is t. HMI_NONE on failure. */
hmi_expr hmi_partial_by(hmi_forms *forms, hmi_expr e, size_t j);
/* The form A dq + B dt of a residual that is affine in the velocities. */
hm_status hmi_form_of_velocities(hmi_forms *forms, hmi_expr psi, hmi_form *form);
/* The component at a position; the graph's zero where it is not stored. */
hmi_expr hmi_form_component(const hmi_forms *forms, const hmi_form *form, size_t j);
/* Fills in the gradient of a form with given components. */
hm_status hmi_form_differentiate(hmi_forms *forms, hmi_form *form);
/* The graph's status, or that of normal forms. */
hm_status hmi_forms_status(const hmi_forms *forms);
/* The normal form where there are any. */
hmi_expr hmi_forms_normal(hmi_forms *forms, hmi_expr e);

#endif
