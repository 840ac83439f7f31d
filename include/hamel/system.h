/* hm_system: a model derived and compiled. Immutable; threads may share it.
 * hm_sim: one state of it, with scratch memory, results and diagnostics; one per thread.
 *
 *   hm_system *system;  hm_sim *sim;
 *   hm_system_create(model, &system);
 *   hm_sim_create(system, &sim);
 *   hm_sim_set_state(sim, 0, q, v, NULL);
 *   hm_evaluation at;
 *   hm_sim_evaluate(sim, NULL, &at);       // at.M, at.Q, at.A, at.b, at.qdd ...
 *
 * A system keeps its model, a sim its system: they may be destroyed in any order.
 */
#ifndef HAMEL_SYSTEM_H
#define HAMEL_SYSTEM_H

#include <hamel/model.h>

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct hm_system hm_system;
typedef struct hm_sim hm_sim;

/* What evaluates the compiled equations. The engines give the same bits. */
typedef enum hm_engine {
    HM_ENGINE_AUTO, /* machine code where it can be; HAMEL_ENGINE=interp in the environment: not */
    HM_ENGINE_INTERP, /* the portable interpreter */
    HM_ENGINE_JIT     /* machine code: x86-64 with AVX2 and FMA, else HM_ERR_USAGE */
} hm_engine;
HM_API const char *hm_engine_name(hm_engine engine);
/* false: there is no such engine. */
HM_API bool hm_engine_find(const char *name, hm_engine *engine);

typedef struct hm_system_options {
    hm_engine engine; /* default HM_ENGINE_AUTO */
    /* Receives a context with what there was to say, which the caller destroys (after a failure too; NULL
     * where there was no memory for it). Threads that create systems from one model at the same time need
     * it. Default NULL: diagnostics are in the context that the model was read with. */
    hm_context **reports;
} hm_system_options;
HM_API hm_system_options hm_system_options_default(void);

/* Derives M, Q, A, b, C and energies and compiles them. Errors are in the context that the
 * model was read with, which must be of this thread. */
HM_API HM_MUST_CHECK hm_status hm_system_create(const hm_model *model, hm_system **system);
/* The same with options; NULL: the default ones. */
HM_API HM_MUST_CHECK hm_status hm_system_create_with(const hm_model *model,
                                                     const hm_system_options *options,
                                                     hm_system **system);
HM_API void hm_system_destroy(hm_system *system);
HM_API const hm_model *hm_system_model(const hm_system *system);

/* Sizes of what was derived and compiled. */
typedef struct hm_system_statistics {
    size_t coordinates, constraints, servo_rows;
    size_t mass_entries;       /* structurally nonzero, lower triangle */
    size_t constraint_entries; /* structurally nonzero entries of A */
    size_t graph_nodes;
    size_t tape_nodes; /* operations an evaluation of M, Q, A, b executes */
    size_t tape_instructions;
    size_t work_doubles; /* scratch memory of an evaluation */
    hm_engine engine;    /* what evaluates M, Q, A, b: HM_ENGINE_INTERP also where JIT failed */
    size_t code_bytes;   /* machine code of M, Q, A, b */
    size_t jumps; /* signs and comparisons of what moves: where these switch, forces may jump */
} hm_system_statistics;
HM_API hm_system_statistics hm_system_get_statistics(const hm_system *system);

/* A row of a servo, beta = lhs - rhs. */
typedef struct hm_servo_info {
    unsigned degree; /* relative degree: the derivative of beta that the actuators change, and the
                            order of the closed loop (d/dt + k)^degree beta = 0 */
    bool implied;    /* the closed loops of other rows imply that of this one */
    const char
        *refusal; /* the actuators do not reach it, and why it was not differentiated on; NULL */
} hm_servo_info;
/* By row, as hm_model_servo counts them. */
HM_API hm_servo_info hm_system_servo(const hm_system *system, size_t index);

/* Several threads may do so at a time. The first sim of a system makes its machine code. */
HM_API HM_MUST_CHECK hm_status hm_sim_create(const hm_system *system, hm_sim **sim);
HM_API void hm_sim_destroy(hm_sim *sim);
/* The diagnostics of everything that is done with the sim. It belongs to the sim; clear it with
 * hm_context_clear. */
HM_API hm_context *hm_sim_context(const hm_sim *sim);

/* Parameters: by name; dependent ones ("b = 2*a") follow unless set themselves.
 * HM_ERR_USAGE: unknown, or structural (it sets a size). */
HM_API HM_MUST_CHECK hm_status hm_sim_set_param(hm_sim *sim, const char *name, double value);
HM_API double hm_sim_param(const hm_sim *sim, size_t index);

/* Inputs: the program's value with its first and second time derivative (needed only where a
 * constraint uses the input), in place of the model's default until hm_sim_reset_input. */
HM_API HM_MUST_CHECK hm_status hm_sim_set_input(hm_sim *sim, size_t index, double value,
                                                double rate, double rate2);
HM_API HM_MUST_CHECK hm_status hm_sim_reset_input(hm_sim *sim, size_t index);

/* The state. q and v have hm_model_coordinate_count values, z hm_model_state_count; NULL leaves
 * them as they are. A new sim holds the model's initial state as written, at t = the start of
 * `simulate` (0 without). */
HM_API hm_status hm_sim_set_state(hm_sim *sim, double t, const double *q, const double *v,
                                  const double *z);

/* From now on keeps the value of a coordinate, or of its velocity, when a state is made consistent
 * (run.h), as if the model gave it by `=`, while that is possible; or no longer does. */
HM_API hm_status hm_sim_hold(hm_sim *sim, size_t coordinate, bool velocity, bool hold);

HM_API double hm_sim_time(const hm_sim *sim);

/* A sparse matrix by rows: entries row_start[i] .. row_start[i+1]-1. */
typedef struct hm_matrix {
    size_t rows, columns;
    const size_t *row_start;
    const uint32_t *column;
    const double *value;
    bool lower; /* symmetric, the lower triangle is stored */
} hm_matrix;
/* Writes all rows x columns entries, row-major. */
HM_API void hm_matrix_dense(const hm_matrix *matrix, double *dense);

/* How the equations are solved; hm_formulation_name gives "auto", "uk", "gram", "kkt", "nullspace",
 * "gauss", "singular", "dirac". */
typedef enum hm_formulation {
    HM_FORMULATION_AUTO,
    HM_FORMULATION_UK,
    HM_FORMULATION_GRAM,
    HM_FORMULATION_KKT,
    HM_FORMULATION_NULLSPACE,
    HM_FORMULATION_GAUSS,
    HM_FORMULATION_SINGULAR,
    HM_FORMULATION_DIRAC
} hm_formulation;
HM_API const char *hm_formulation_name(hm_formulation formulation);
/* false: there is no such formulation. */
HM_API bool hm_formulation_find(const char *name, hm_formulation *formulation);

typedef struct hm_evaluate_options {
    hm_formulation formulation; /* default HM_FORMULATION_AUTO */
    bool compare;               /* compute every formulation that applies; default true */
} hm_evaluate_options;
HM_API hm_evaluate_options hm_evaluate_options_default(void);

/* Systems with more coordinates are solved by sparse algebra (formulation "sparse"): checks that need
 * a basis of virtual displacements are then NaN, ranks that are not known -1, and servos, force laws
 * that use constraint forces and other formulations are refused with HM_ERR_LIMIT. */
enum { HM_MOST_DENSE = 400 };

typedef enum hm_contact_state {
    HM_CONTACT_STATE_OPEN,
    HM_CONTACT_STATE_CLOSED, /* and without friction */
    HM_CONTACT_STATE_STICK,
    HM_CONTACT_STATE_SLIP
} hm_contact_state;
/* "open", "closed", "stick", "slip" */
HM_API const char *hm_contact_state_text(hm_contact_state state);

/* A one-sided constraint row, or a row with friction. */
typedef struct hm_contact {
    const char *name;
    double gap;      /* phi; 0 for rows on velocities */
    double velocity; /* phi' or psi */
    hm_contact_state state;
    double force; /* the total multiplier */
} hm_contact;

/* Every quantity of the theory at the present state. Arrays belong to the sim and live until its
 * next evaluation. NULL where a quantity does not exist. Signs:
 *     M q'' = Q + u + Qc,   Qc = Qi + Qni,   Qi = A^T lambda,   A q'' = b. */
/* How sure a rank is. All is measured on the matrix with rows of unit length and coordinates in units
 * of their inertias; rows whose entries are rounding errors of larger terms are shorter.
 *   proved      full rank: what is kept is farther from dependence than all errors together
 *   structural  the same, and the places of its zeros allow no more
 *   undecided   more may be there below the bound, or what is kept is within it */
typedef enum hm_rank_verdict {
    HM_RANK_VERDICT_PROVED,
    HM_RANK_VERDICT_STRUCTURAL,
    HM_RANK_VERDICT_UNDECIDED
} hm_rank_verdict;

typedef struct hm_rank_evidence {
    hm_rank_verdict verdict;
    double kept; /* the least singular value that counts: not below it; 0 where the rank is 0 */
    double next; /* the largest that does not count: not above it */
    double
        bound; /* of the errors: rounding of the entries, and of the decomposition; all three are NaN
                     where nothing was measured (beyond HM_MOST_DENSE coordinates) */
} hm_rank_evidence;

HM_API const char *hm_rank_verdict_name(hm_rank_verdict verdict);

typedef struct hm_evaluation {
    double t;
    const double *q, *v, *z, *inputs;
    hm_matrix M, A; /* A, b: passive constraints */
    const double *Q, *b, *C;
    hm_matrix servo_A;
    const double *servo_b;
    const double *position_residual; /* m: phi; 0 for rows that are not of position level */
    const double *velocity_residual; /* m: phi' or psi; 0 for rows of acceleration level */
    const double *momentum;          /* dL/dq' */
    const double *state_rates;
    bool has_energy; /* kinetic and potential are defined */
    bool has_total;
    double kinetic, potential, total;

    /* the solve */
    bool solved;
    const char *formulation;
    double disagreement;   /* between all formulations that apply; -1: not compared */
    unsigned formulations; /* bit f: hm_formulation f was computed */
    int rank_M, rank_A, rank_MA;
    hm_rank_evidence evidence_M, evidence_A, evidence_MA;
    bool unique_acceleration, unique_multipliers;
    /* A constraint demands more than its row of A says, since that vanishes where the constraint holds
     * (x'^2 + y'^2 = 0): q'' is what A q'' = b gives, and a motion is refused. */
    bool rows_vanish;
    size_t vanished_row;
    bool velocity_determined;          /* degenerate Lagrangian: v is a result, qdd is NULL */
    bool definite, semidefinite;       /* M > 0, M >= 0 */
    const bool *redundant;             /* m: the row depends on rows before it */
    const double *discrepancy;         /* m: by how much b contradicts earlier rows */
    const double *a, *e;               /* M^-1 Q, b - A a; NULL where M is singular */
    const double *Qi, *Qni, *Qc, *qdd; /* n */
    const double *lambda;              /* m; minimum norm where not unique */
    const double *u;                   /* hm_model_servo_group_count x n; NULL without servos */
    const double *outputs;             /* hm_model_output_count */
    const double *drawings;            /* hm_model_drawing_values */
    const bool *absent; /* m: the row does not hold now: it is not part of A, b; NULL:
                                          all hold */
    const hm_contact *contacts;
    size_t contact_count;
    double gram_condition; /* of A M^-1 A^T, rows of unit length; 0 unless M > 0 */
    struct {               /* relative sizes, of rounding order where all is well: */
        double constraint; /* A q'' - b */
        double balance;    /* M q'' - Q - u - Qc */
        double ideal;      /* v.Qi for a basis v of virtual displacements */
        double work;       /* v.Qc - v.C */
        double projection; /* A M^-1 Qni: Qni is the projection of C */
    } check;
    struct {
        double impressed, dissipation, gyroscopic, ideal, nonideal, servo, explicit_time;
    } power;
} hm_evaluation;

/* Evaluates at the present state; options NULL: the defaults. Diagnostics are in hm_sim_context.
 *   HM_ERR_NUMERIC       something is not finite there;
 *   HM_ERR_UNDETERMINED  q'' is not determined: the directions are named;
 *   HM_ERR_INCONSISTENT  the constraints contradict each other: named, with the amount.
 * The evaluation is filled in as far as it goes in every case. */
HM_API HM_MUST_CHECK hm_status hm_sim_evaluate(hm_sim *sim, const hm_evaluate_options *options,
                                               hm_evaluation *evaluation);

/* The geometry of constrained motion [Udwadia & Kalaba 2002, section 6]: with the symmetric root of
 * M,  B = A M^-1/2,  T = B^+ B,  N = I - T,  a_s = M^-1/2 Q,  c_s = M^-1/2 C,  q''_s = M^1/2 q''. */
typedef struct hm_geometry {
    double *B, *B_plus;          /* m x n, n x m */
    double *T, *N;               /* n x n */
    double *a_s, *c_s, *qdd_s;   /* n */
    double *B_plus_b, *B_plus_e; /* n */
} hm_geometry;

/* At the present state. The arrays belong to the sim. HM_ERR_UNDETERMINED unless M > 0. */
HM_API HM_MUST_CHECK hm_status hm_sim_geometry(hm_sim *sim, const hm_geometry **geometry);

/* The hot path: M, Q, A, b, C alone, without diagnostics or checks. Never allocates. */
HM_API void hm_sim_evaluate_fast(hm_sim *sim);

/* q'' (hm_model_coordinate_count values) at the present state by the fastest way there is, without
 * diagnostics. The first call compiles the solve together with the equations, where the system is
 * small and well-conditioned enough for it; later ones do not allocate.
 *   HM_ERR_NUMERIC       something is not finite there;
 *   HM_ERR_UNDETERMINED, HM_ERR_INCONSISTENT: qdd is the least-squares answer of minimum norm;
 *   HM_ERR_LIMIT         the system is too large for the solve. */
HM_API HM_MUST_CHECK hm_status hm_sim_accelerate(hm_sim *sim, double *qdd);

/* Exact derivatives of q'' and of the rates of auxiliary states by the parameters, at the present
 * state: derivative[i * hm_model_param_count + k] is that of row i (coordinates, then states) by
 * parameter k. Each parameter is varied by itself: those that are computed from it do not follow.
 * Servos, and laws that use ideal and total reactions together, are differentiated by differences (to
 * about ten digits). The first call compiles the derivatives; later ones do not allocate. Statuses are
 * those of hm_sim_accelerate, without diagnostics; HM_ERR_LIMIT beyond HM_MOST_DENSE coordinates. */
HM_API HM_MUST_CHECK hm_status hm_sim_param_derivatives(hm_sim *sim, double *derivative);

#ifdef __cplusplus
}
#endif
#endif
