/* hm_sim: a state of a system, and the memory to evaluate and solve its equations. Internal layout.
 *
 * A system is immutable; whatever changes belongs to a sim. It consists of parts:
 *
 *   context   the diagnostics of its calls. Lines of the model are quoted from the system's sources,
 *             which are only read, so that any number of sims may report at the same time.
 *   state     the present state, which the user sets and runs advance.
 *   given     parameters and inputs.
 *   tapes     the tapes in use, each with its work vector.
 *   last      what the last solve found: q'' and the constraint forces.
 *   solve     how to solve: the formulation, rows to leave out, and the sparse solvers.
 *   dense     the dense solve, of systems with at most HM_MOST_DENSE coordinates.
 *   motion    the compiled solve of small systems (motion.h).
 *   contacts  which one-sided constraints are closed, what sticks (contacts.h); NULL: there are none.
 *   rounding  bounds of the rounding errors of M, A and b (rounding.h).
 *   extras    what is made when it is first asked for.
 *
 * Where something is evaluated is an argument: functions take an hmi_point and leave the present
 * state alone. What they compute stays in `tapes` and `last` until the next evaluation. A function
 * whose comment says "as last evaluated" reads it there.
 */
#ifndef HMI_DYNAMICS_SIM_SIM_H
#define HMI_DYNAMICS_SIM_SIM_H

#include "base/context.h"
#include "compile/system/system.h"
#include "dynamics/formulations/dynamics.h"

struct hmi_sim_derivatives;
struct hmi_compiled;
struct hmi_large;
struct hmi_contacts;
struct hmi_sim_motion;
struct hmi_taylor_options;

/* A time with the values of coordinates, velocities and auxiliary states. The point and its arrays
 * must live as long as the hmi_tape_values that are made from it. */
typedef struct hmi_point {
    double t;
    const double *q, *v, *z;
} hmi_point;

typedef struct hmi_sim_state {
    hmi_point at;      /* the present state; its pointers are those below */
    double *q, *v, *z; /* to write it */
    bool *held;        /* 2n: values kept while the state is made consistent */
} hmi_sim_state;

typedef struct hmi_sim_given {
    double *params;
    bool *param_set;   /* set by the program: not computed from others */
    double *inputs[3]; /* u, u', u'' as set, or as last refreshed */
    bool *input_set;
} hmi_sim_given;

/* The system's tapes, or those of a run that holds branches (integrate/ode/switch.c). */
typedef struct hmi_sim_tapes {
    const hmi_tape *dynamics, *law, *inputs;
    double *dynamics_work, *law_work, *inputs_work, *report_work;
    double *own_dynamics_work, *own_law_work, *own_inputs_work; /* of the system's tapes */
    const double *modes;     /* values of HMI_SYM_MODE; NULL with the system's tapes */
    const hmi_derived *held; /* p, g and residuals with modes; NULL with the system's tapes */
    bool prepared;           /* the parameters are in the work vectors */
    unsigned long version;   /* counts how often they were put there */
} hmi_sim_tapes;

typedef struct hmi_sim_answer {
    double *qdd, *reaction, *multiplier, *total_reaction, *total_multiplier;
    double energy[HMI_SOLVED_QUANTITIES]; /* the total, and powers of constraint forces */
    bool by_motion; /* q'' and state rates are those of the motion tape in use */
    bool stale;     /* q'' is of the compiled solve: M, Q, A, b belong to another point */
} hmi_sim_answer;

typedef struct hmi_sim_solve {
    hm_formulation formulation;                      /* of hmi_sim_accelerate */
    const struct hmi_taylor_options *series_options; /* for benchmarks; NULL: all special paths */
    double rank_tolerance, consistency_tolerance;    /* as in hmi_options, */
    int most_rank;                                   /* too */
    const bool *left_out;          /* m: rows that a run leaves out of solves; NULL: none */
    const double *row_terms;       /* m: hmi_sim_row_terms of rounding.h; NULL: not known */
    struct hmi_compiled *compiled; /* of large repetitive systems; NULL: does not apply */
    struct hmi_large *large;       /* where sparse algebra pays; NULL until first needed */
} hmi_sim_solve;

typedef struct hmi_sim_dense {
    hmi_dynamics *dynamics; /* NULL: the system is too large */
    double *M, *A, *servo_A;
    hmi_servo *servos;
    double *velocity; /* n: where the Dirac form finds it (dirac.h) */
    double *C;        /* n: C with the forces of friction statements */
} hmi_sim_dense;

typedef struct hmi_sim_motions {
    struct hmi_sim_motion *used; /* NULL: none */
    struct hmi_sim_motion *own;  /* of the system's tapes, made on demand */
    bool tried;                  /* to make it */
} hmi_sim_motions;

/* Bounds of rounding errors (rounding.h), made when they are first asked for. */
typedef struct hmi_sim_rounding {
    double *dynamics; /* by place of the dynamics tape's work vector */
    double *inputs;   /* by place of the inputs tape's; their outputs are */
    double *input[3]; /* those of u, u', u'' */
    size_t dynamics_size, inputs_size;
    double *params;          /* by parameter */
    unsigned long version;   /* of the parameters these belong to */
    double *M, *A, *servo_A; /* dense */
} hmi_sim_rounding;

typedef struct hmi_sim_extras {
    hm_geometry geometry; /* memory taken at the first hm_sim_geometry */
    struct hmi_sim_derivatives *derivatives;
    /* What integrate/ keeps here between calls, and how it is released; NULL: nothing. */
    void *run;
    void (*run_destroy)(void *run);
    void *consistency;
    void (*consistency_destroy)(void *consistency);
} hmi_sim_extras;

struct hm_sim {
    const hm_system *system; /* shared */
    bool in_callback;        /* of the user: who must not start anything anew with it */
    bool doomed;             /* destroyed in a callback: it goes when the call ends */
    hmi_arena arena;         /* of the arrays below */
    hm_context *context;
    hmi_sim_state state;
    hmi_sim_given given;
    hmi_sim_tapes tapes;
    hmi_sim_answer last;
    hmi_sim_solve solve;
    hmi_sim_dense dense;
    hmi_sim_motions motion;
    struct hmi_contacts *contacts;
    hmi_sim_rounding rounding;
    hmi_sim_extras extras;
};

/* Of states that may be anything: what hm_sim_set_state would refuse, the evaluation tells. */
void hmi_sim_set_state(hm_sim *sim, double t, const double *q, const double *v, const double *z);

/* The present state as a point. */
static inline const hmi_point *hmi_sim_present(const hm_sim *sim)
{
    return &sim->state.at;
}

/* ---- evaluation ---- */

/* The values of all symbols at the point; inputs as last refreshed, forces as last solved for. */
hmi_tape_values hmi_sim_values(const hm_sim *sim, const hmi_point *at);
/* Puts changed parameters into the prologues, and the inputs at the point into given.inputs. */
void hmi_sim_refresh(hm_sim *sim, const hmi_point *at);
/* Holds all inputs at their values at the point, whatever the state does, until they are released. */
void hmi_sim_hold_inputs(hm_sim *sim, const hmi_point *at, bool *were_set);
void hmi_sim_release_inputs(hm_sim *sim, const bool *were_set);
/* M, Q, A, b, C and state rates, with hmi_sim_refresh. Never allocates. */
void hmi_sim_evaluate(hm_sim *sim, const hmi_point *at);
/* Outputs of the dynamics tape as last evaluated, by system->at; writable. */
double *hmi_sim_dynamics(hm_sim *sim);
/* The entries of M and A as last evaluated. */
const double *hmi_sim_mass_entries(const hm_sim *sim);
const double *hmi_sim_row_entries(const hm_sim *sim);
/* Stored entries into a dense matrix that was zero when it was made. */
void hmi_scatter_entries(const hmi_expr_matrix *pattern, const double *values, bool symmetric,
                         double *dense);
/* M, A and the servos' A as last evaluated, as dense matrices in sim->dense. */
void hmi_sim_scatter(hm_sim *sim);
/* Runs the report tape with the forces as last solved for; its outputs, by report_at. */
const double *hmi_sim_run_report(hm_sim *sim, const hmi_point *at);
/* The same with the total energy there in sim->last, for outputs that use it. */
const double *hmi_sim_report(hm_sim *sim, const hmi_point *at);
/* Other tapes with the outputs of the system's own (NULL: the system's own again). */
void hmi_sim_use_tapes(hm_sim *sim, const hmi_tape *dynamics, double *dynamics_work,
                       const hmi_tape *law, double *law_work, const double *modes);
void hmi_sim_use_inputs(hm_sim *sim, const hmi_tape *inputs, double *inputs_work);

/* ---- the solve ---- */

/* How many of these rows of the model may hold at the same time: all that are two-sided, and as many of
 * the others as there is room for (contacts.h); rows NULL: all of them. */
size_t hmi_sim_most_held(const hm_sim *sim, const size_t *rows, size_t count);
/* Memory for the solve, where the system is small enough for it. */
hm_status hmi_sim_prepare_solve(hm_sim *sim);
/* The same for systems beyond it, for who must not allocate later. HM_ERR_NOMEM, HM_ERR_LIMIT. */
HM_MUST_CHECK hm_status hmi_sim_prepare_large(hm_sim *sim);
/* The same where sparse algebra is cheaper than dense, whatever the size; revealing: than the dense solve
 * with rank decisions. HM_ERR_NOMEM; beyond the dense solve HM_ERR_LIMIT, too. */
HM_MUST_CHECK hm_status hmi_sim_prepare_sparse(hm_sim *sim, bool revealing);

/* The hot path of integration: q'' into sim->last.qdd. Allocates nothing and reports nothing; the
 * status is that of hmi_dynamics_solve, or HM_ERR_NUMERIC where something is not finite, or
 * HM_ERR_LIMIT where large.h refuses. State rates are then at hmi_sim_state_rates. Where `solution`
 * is not NULL constraint forces are wanted too: it is filled in (not with the compiled solve), and
 * the forces are in sim->last. Without `solution` the motion tape answers where there is one. */
hm_status hmi_sim_accelerate(hm_sim *sim, const hmi_point *at, hmi_solution *solution);
/* The same at the point just evaluated, with M, Q, A, b, C as they are. */
hm_status hmi_sim_accelerate_here(hm_sim *sim, const hmi_point *at, hmi_solution *solution);
const double *hmi_sim_state_rates(const hm_sim *sim);

/* The question to the solver, at the point just evaluated. The law points into the question itself,
 * which must stay where it is. */
typedef struct hmi_question {
    hmi_equations equations;
    hmi_reaction_law law;
    hm_sim *sim;
    const hmi_point *at;
} hmi_question;

void hmi_sim_pose(hm_sim *sim, const hmi_point *at, hmi_question *ask);

#endif
