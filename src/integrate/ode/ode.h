/* The motion as a first-order system  y' = f(t, y),  y = (q, v, z).
 *
 * Invariants
 *   1. f allocates nothing. Its status is that of the solve: HM_ERR_NUMERIC where something is not
 *      finite, HM_ERR_UNDETERMINED and HM_ERR_INCONSISTENT where there is no motion.
 *   2. Evaluations are counted here and nowhere else.
 *   3. An evaluation leaves the sim's present state alone; forces and q'' stay in sim->last.
 */
#ifndef HMI_INTEGRATE_ODE_ODE_H
#define HMI_INTEGRATE_ODE_ODE_H

#include "dynamics/sim/sim.h"

/* Powers of the ledger, at most: see ledger.h. */
enum { HMI_MOST_WORKS = 7 };
/* A run that at its present pace would need more steps than this is ended. */
#define HMI_MOST_STEPS_LEFT 5e9

struct hmi_residuals;
struct hmi_ledger;
struct hmi_taylor;
struct hmi_jet_options;
struct hmi_ode;

/* Functions that are not smooth, their branches held during a step: what the equations and the
 * methods need to know of them. integrate/events/switch.h has the rest. */
typedef struct hmi_branches {
    size_t sliding;    /* modes between two branches: each solve has to find them */
    size_t directions; /* u/|u| of velocities: each solve has to look them up */
    /* The modes of directions at the point, for who evaluates the equations and does not solve them. */
    void (*look_up)(struct hmi_branches *branches, const hmi_point *at);
    /* hmi_ode_accelerate after these were found. */
    hm_status (*accelerate)(struct hmi_branches *branches, struct hmi_ode *ode, const hmi_point *at,
                            hmi_solution *solution);
} hmi_branches;

typedef struct hmi_ode {
    hm_sim *sim;
    size_t n, states, size; /* size = 2 n + states */
    double baumgarte[2];    /* (a, b): position rows get b - 2a phi' - b^2 phi, velocity rows
                               b - a psi; 0: off */
    long evaluations;
    hm_status last; /* status of the last evaluation */
    bool forgiving; /* where q'' has no exact answer the least-squares one will do, */
    long forgiven;  /* which happened so often: for crossing isolated rank drops */

    bool kept;    /* by drift control: states are on the constraints */
    bool watched; /* there are events or switches: the dense output is looked at in every step */

    bool dirac, dirac_slow;                    /* q' is determined and not q'': see degenerate.h */
    struct hmi_residuals *residuals;           /* for Baumgarte; NULL: off */
    struct hmi_ledger *ledger;                 /* powers beside f; NULL: none */
    hmi_branches *branches;                    /* held in a run; NULL: none */
    struct hmi_taylor **series;                /* where it is kept: runs of a sim share it */
    const struct hmi_jet_options *jet_options; /* special paths, for benchmarks; NULL: all */
} hmi_ode;

/* A tape of a run: compiled where it is not there already (of an earlier run), with memory for it. */
hm_status hmi_run_tape(hmi_tape *tape, const hmi_graph *graph, const hmi_expr *list, size_t count,
                       hmi_arena *arena, double **work);

hm_status hmi_ode_init(hmi_ode *ode, hm_sim *sim);
/* dy = f(t, y). */
hm_status hmi_ode_evaluate(hmi_ode *ode, double t, const double *y, double *dy);
/* The same with the powers of the ledger behind the first `size` components of dy; what is in
 * sim->last afterwards is not said. */
hm_status hmi_ode_evaluate_all(hmi_ode *ode, double t, const double *y, double *dy);
/* The solve at (t, y) with all forces, not counted; sim->last then has them. */
hm_status hmi_ode_forces(hmi_ode *ode, double t, const double *y, hmi_solution *solution);
/* The solve at a point, with Baumgarte's terms and with the branches as they are. */
hm_status hmi_ode_accelerate(hmi_ode *ode, const hmi_point *at, hmi_solution *solution);
/* (t, y) as a point: it refers to y. */
static inline hmi_point hmi_ode_point(const hmi_ode *ode, double t, const double *y)
{
    return (hmi_point){t, y, y + ode->n, y + 2 * ode->n};
}
/* Makes (t, y) the sim's present state, and takes y from it. */
void hmi_ode_store(hmi_ode *ode, double t, const double *y);
void hmi_ode_load(const hmi_ode *ode, double *y);

#endif
