/* The ledger: powers that change the energy, and the work they do.
 *
 *     d(total)/dt = impressed + dissipation + gyroscopic + ideal + nonideal + servo + explicit_time
 *
 * with total = q'.dL/dq' - L, ideal = Qi.q', nonideal = Qni.q', servo = sum u.q', explicit_time =
 * -dL/dt (cli.md). Powers that vanish identically are left out: `count` of them are integrated, as
 * further components of the state by methods that carry them (method.h), else on the dense output.
 * Verified: test/physics/test_trajectories.c (004-energy), test/unit/integrate/test_run.c
 */
#ifndef HMI_INTEGRATE_ODE_LEDGER_H
#define HMI_INTEGRATE_ODE_LEDGER_H

#include "integrate/ode/method.h"

#include <hamel/run.h>

typedef enum hmi_power {
    HMI_POWER_IMPRESSED,
    HMI_POWER_DISSIPATION,
    HMI_POWER_GYROSCOPIC,
    HMI_POWER_EXPLICIT_TIME, /* so far: from the tape; the others from the solve */
    HMI_POWER_IDEAL,
    HMI_POWER_NONIDEAL,
    HMI_POWER_SERVO,
    HMI_POWERS
} hmi_power;

typedef struct hmi_ledger {
    size_t count;               /* powers in use */
    hmi_power kind[HMI_POWERS]; /* of each, ascending */
    bool needs_solution;        /* nonideal or servo forces, beyond q'' alone */
    hmi_tape tape;              /* the powers of the first group in use */
    size_t tape_count;
    double *work;
    hmi_tape total; /* the energy */
    double *total_work;
    double *state, *rates; /* a state within a step, and f with powers there */
} hmi_ledger;

/* kept: the motion is kept on the constraints. Without a total energy nothing is in use. Release also after a failure. Tapes that are there
 * already (of an earlier run) serve again; otherwise *ledger is zero. */
hm_status hmi_ledger_init(hmi_ledger *ledger, hm_sim *sim, bool kept, hmi_arena *arena);
/* The expressions of the first group, of the system's graph; and their tape from those of another. */
hmi_expr hmi_ledger_expression(const hmi_ledger *ledger, const hm_system *system, size_t k);
hm_status hmi_ledger_compile(hmi_ledger *ledger, const hmi_graph *graph, const hmi_expr *list,
                             hmi_arena *arena);
void hmi_ledger_release(hmi_ledger *ledger);
void hmi_ledger_prepare(hmi_ledger *ledger, hm_sim *sim);
/* The total energy; 0 where there is none. */
double hmi_ledger_total(hmi_ledger *ledger, hm_sim *sim, const hmi_point *at);
/* power[count] at the point just solved for; solution NULL: by q'' alone. */
void hmi_ledger_powers(hmi_ledger *ledger, hm_sim *sim, const hmi_point *at,
                       const hmi_solution *solution, double *power);
/* The integrals over the last step, for methods that do not carry works: adds to work[count]. */
void hmi_ledger_integrate(hmi_ledger *ledger, hmi_stepper *s, double *work);
/* Work by kind as people read it, and its sum. */
hm_ledger hmi_ledger_view(const hmi_ledger *ledger, const double *work, double reset,
                          double impacts);
double hmi_ledger_sum(const hmi_ledger *ledger, const double *work);

#endif
