/* hm_system: the derived equations and their tapes. It is immutable after creation, except that the machine
 * code of the tapes is made, under a lock, when it is first needed. Threads may share a system.
 *
 * Tapes
 *   inputs    defaults of u, u', u'' from the state
 *   dynamics  M (stored entries), Q, A, b, C, servo A, b, b without gain; state rates
 *   law       Q and C under given constraint forces, and the terms of Q that use none (n each); only where
 *             they use reactions
 *   report    residuals, momenta, energies, powers, outputs
 *   contact   gaps, restitutions, conditions, frictions; only where a model has contacts
 * and, for large sparse systems, the constraint problem as array code (block_schur.h).
 */
#ifndef HMI_COMPILE_SYSTEM_SYSTEM_H
#define HMI_COMPILE_SYSTEM_SYSTEM_H

#include "compile/solve/block_schur.h"
#include "compile/tape/tape.h"
#include "derive/derived.h"

#include <hamel/system.h>

/* Where each group of outputs starts within its tape's outputs. */
typedef struct hmi_dynamics_layout {
    size_t M, Q, A, b, C, servo_A, servo_b, servo_b_free, servo_limit, state_rates, count;
} hmi_dynamics_layout;

typedef struct hmi_report_layout {
    size_t position_residual, velocity_residual, momentum, kinetic, potential, total;
    size_t impressed, dissipation, gyroscopic, explicit_time, outputs, drawings, count;
} hmi_report_layout;

/* By row of the constraints: phi, phi' or psi, restitution, condition (1: holds); then the tangents of
 * frictions and their coefficients. */
typedef struct hmi_contact_layout {
    size_t gap, rate, restitution, when, tangent_A, tangent_b, sliding, mus, muk, count;
} hmi_contact_layout;

struct hmi_assembly;

struct hm_system {
    const hm_model *model;     /* shared */
    hmi_references references; /* of sims, comparisons, analyses */
    const hm_allocator *allocator;
    hm_context *reports; /* what its creation has to say; NULL afterwards */
    hmi_derived derived;
    bool interpreted; /* no machine code */
    struct hmi_assembly *assembly;
    hmi_tape inputs, dynamics, law, report, contact;
    hmi_dynamics_layout at;
    hmi_report_layout report_at;
    hmi_contact_layout contact_at;
    bool *multiplier_used;      /* m: some force law uses multiplier(c) */
    hmi_block_schur *schur;     /* NULL: does not apply, */
    const char *no_schur;       /* and why */
    hmi_expr *dynamics_outputs; /* what the dynamics tape computes, at.count of them */
    hmi_source *sources;        /* the texts of the model, for diagnostics that quote them */
    size_t source_count;
};

/* HM_ERR_USAGE with a diagnostic: this machine does not have it. */
hm_status hmi_system_choose_engine(hm_system *system, const hm_system_options *options);
/* Machine code of the system's tapes, for the first that asks. Before it nobody runs them, copies
 * them or takes memory for them. HM_ERR_NOMEM: nothing is lost, ask again. */
HM_MUST_CHECK hm_status hmi_system_assemble(const hm_system *system);
/* Beside the system in its creation and destruction. */
hm_status hmi_assembly_create(hm_system *system);
void hmi_assembly_destroy(hm_system *system);

/* A context of its own for diagnostics about the system. NULL when there is no memory. */
hm_context *hmi_system_context(const hm_system *system);

/* Parameters in dependency order: value_expr of a parameter uses earlier ones only. */
hm_status hmi_system_evaluate_params(const hm_system *system, const bool *set, double *values);

/* Says in the context what is not finite at these values: the smallest expression at fault. */
void hmi_system_report_not_finite(const hm_system *system, const hmi_tape_values *values,
                                  hm_context *context);

#endif
