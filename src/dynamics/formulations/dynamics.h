/* The fundamental equation at one state, as numbers.
 *
 *     M q'' = Q + Sum u + Qc,   A q'' = b,   Qc = Qi + Qni,   Qi = A^T lambda        (cli.md)
 *
 * M is n x n symmetric of any rank and sign, A is m x n of any rank and scaling, matrices are
 * row-major. One workspace is made for one (n, m) and then used again and again: no call below
 * allocates, except hmi_dynamics_create.
 *
 * Invariants
 *   1. No NaN or infinity comes out. What has no answer is said by a status and a verdict.
 *   2. Decisions of rank do not depend on units: rows of A are measured against their own length,
 *      coordinates against their own inertia.
 *   3. Qi never depends on C: it is A^T lambda of the problem with C = 0. Qc = C + A^T lambda_total
 *      of M q'' = Q + u + C + A^T lambda_total; Qni = Qc - Qi.              (architecture.md)
 *   4. Arrays in a solution belong to the workspace and live until its next call.
 */
#ifndef HMI_DYNAMICS_FORMULATIONS_DYNAMICS_H
#define HMI_DYNAMICS_FORMULATIONS_DYNAMICS_H

#include <hamel/system.h>

/* ---- formulations ---------------------------------------------------------------------------- */

/* hm_formulation of <hamel/system.h>:
 *   auto       uk where M > 0, singular where M >= 0, else kkt
 *   uk         Udwadia-Kalaba: M > 0
 *   gram       multipliers by the Gram matrix A M^-1 A^T: M > 0
 *   kkt        [M A^T; A 0]
 *   nullspace  Maggi, Kane: projection on a basis of the null space of A
 *   gauss      constrained least squares: M >= 0
 *   singular   Udwadia-Phohomsiri: the stacked equation
 *   dirac      implicit Lagrangian system with p kept as an unknown */
enum { HMI_FORMULATIONS = HM_FORMULATION_DIRAC + 1 };

/* ---- the workspace --------------------------------------------------------------------------- */

typedef struct hmi_dynamics hmi_dynamics;

typedef struct hmi_dynamics_size {
    int n, m;       /* coordinates (>= 1), rows of passive constraints (>= 0) */
    int servos;     /* how many servos at most, */
    int servo_rows; /* and rows of all of them together */
    bool compare;   /* room for every formulation; without it HM_FORMULATION_DIRAC is refused */
} hmi_dynamics_size;

/* The allocator is copied. */
HM_MUST_CHECK hm_status hmi_dynamics_create(const hm_allocator *allocator,
                                            const hmi_dynamics_size *size, hmi_dynamics **out);
/* The same for models with `rows` rows, of which at most size->m count at a time (held_rows.c). */
HM_MUST_CHECK hm_status hmi_dynamics_create_gathering(const hm_allocator *allocator,
                                                      const hmi_dynamics_size *size, int rows,
                                                      hmi_dynamics **out);
void hmi_dynamics_destroy(hmi_dynamics *d);
/* Solves from now on go without these rows (m flags; NULL: all rows count): their multipliers are 0,
 * A q'' = b need not hold for them. For rows that depend on the others wherever the constraints hold,
 * while states a little beside them are looked at (integrate/rank/row_choice.c), and for rows of contacts
 * that are open. In a workspace that gathers, A, b and multipliers of all
 * calls belong to all rows of the model, and what is left out costs nothing; where more than m are left
 * in, solves answer HM_ERR_LIMIT. */
void hmi_dynamics_leave_out(hmi_dynamics *d, const bool *rows);

/* ---- the question ---------------------------------------------------------------------------- */

/* What a law may use. reaction and multiplier belong to Qi; the total ones are A^T lambda and
 * lambda of M q'' = Q + u + C + A^T lambda. Multipliers are those of minimum norm. */
typedef struct hmi_reactions {
    const double *reaction, *multiplier;             /* n, m */
    const double *total_reaction, *total_multiplier; /* n, m */
} hmi_reactions;

/* Writes Q and C (n each) under these reactions; both come filled with the values of the
 * equations, which are those that use no reaction. Returns 0, or nonzero when it cannot be evaluated there. */
typedef int (*hmi_law_function)(void *user, const hmi_reactions *reactions, double *Q, double *C);

typedef struct hmi_reaction_law {
    hmi_law_function evaluate;
    void *user;
    bool uses_ideal; /* C depends on reaction or multiplier */
    bool uses_total; /* Q or C depends on total_reaction or total_multiplier */
} hmi_reaction_law;

/* A servo: rows A q'' = b (b with the gain terms) enforced by forces on actuated coordinates. */
typedef struct hmi_servo {
    int rows;
    const double *A, *b;
    const double *b_free; /* b without the gain terms, for `law lyapunov`; NULL: the ideal law */
    const bool *actuated; /* n flags; NULL: all */
    const double *limit;  /* of each component of u; 0: none */
} hmi_servo;

typedef struct hmi_equations {
    const double *M, *Q, *A, *b; /* n x n, n, m x n, m; A and b may be NULL where m = 0 */
    const double *C;             /* n; NULL: ideal constraints */
    /* Bounds of the rounding errors of M, A and b (compile/tape/rounding.h), of the same shape: what
     * is not larger than its bound is zero, and ranks and contradictions are decided against them.
     * Infinite: nothing is known of that entry. NULL: only exact zeros are zero. */
    const double *M_error, *A_error, *b_error;
    const double
        *servo_error; /* the same of the rows of all servos, one after the other; or NULL */
    const hmi_reaction_law *law; /* NULL: Q and C are what is given */
    /* n: A^T lambda of Qi and of the motion at a state near by, for implicit laws to start from; NULL: none */
    const double *last_reaction, *last_total_reaction;
    const hmi_servo *servos;
    int servo_count;
} hmi_equations;

typedef enum hmi_effort {
    HMI_ANSWER,  /* accelerations and forces */
    HMI_VERDICT, /* and the whole verdict, other solutions of implicit laws searched */
    HMI_COMPARE  /* and every formulation that applies, for `disagreement` */
} hmi_effort;

typedef struct hmi_options {
    hm_formulation formulation;
    hmi_effort effort;
    double rank_tolerance;        /* relative to the length of a row; 0: 100 max(m, n) epsilon */
    int most_rank;                /* more rows than that are not independent; 0: not known */
    double consistency_tolerance; /* of b where rows are redundant, relative; 0: 1e-9 */
    double consistency_floor;     /* and absolute, in units of sqrt(inertia) q''; 0: 1e-12 */
    int refinements;              /* most steps of iterative refinement; default 8 */
} hmi_options;

hmi_options hmi_options_default(void); /* auto, HMI_ANSWER */

/* ---- the answer ------------------------------------------------------------------------------ */

typedef enum hmi_definiteness { HMI_DEFINITE, HMI_SEMIDEFINITE, HMI_INDEFINITE } hmi_definiteness;

typedef struct hmi_verdict {
    int rank_A;
    int rank_M, rank_MA;   /* of M and of [M | A^T]; below HMI_VERDICT -1 where M is not definite */
    hmi_definiteness mass; /* positive definite, positive semidefinite, neither */
    bool unique_acceleration, unique_multipliers;
    bool consistent; /* A q'' = b can be met */
    bool solvable;   /* M q'' = Q + u + C + A^T lambda can be met */

    /* From HMI_VERDICT on; NULL (0) below. */
    const bool *redundant;         /* m: the row depends on rows before it */
    const bool *inconsistent;      /* m: and its b contradicts them, */
    const double *discrepancy;     /* m: by this much (0 for rows that are not redundant) */
    const double *residual;        /* m: b - A q'' at the answer (least squares) */
    const bool *multiplier_unique; /* m */
    int undetermined;              /* directions along which q'' is free, */
    const double *directions;      /* undetermined x n, in reduced echelon form, largest entry 1 */
    double gram_condition; /* of the Gram matrix with rows of unit length; 0 without M > 0 */
    hm_rank_evidence evidence_M, evidence_A, evidence_MA;

    int law_solutions;  /* implicit laws: 0 none found, 1, or 2 (several); 1 without one */
    int law_starts;     /* from so many starting points */
    bool servo_reached; /* the actuators can enforce every servo row */
    const double *servo_residual; /* all servo rows, b - A q''; NULL without servos */
} hmi_verdict;

typedef struct hmi_solution {
    hm_status status; /* the same as returned */
    hm_formulation formulation;
    const double *Q, *C;                 /* as the law gave them; C zero for ideal constraints */
    const double *qdd, *Qi, *Qni, *Qc;   /* n */
    const double *lambda, *total_lambda; /* m, minimum norm where not unique */
    const double *a, *e;                 /* M^-1 Q, b - A a; NULL where M is singular */
    const double *u;                     /* servo_count x n; NULL without servos */
    int freedom;                         /* n - rank A, and a basis of virtual displacements: */
    const double *virtual_displacements; /* freedom x n */
    unsigned formulations;               /* bit f set: formulation f was computed */
    double disagreement;                 /* between them; -1 below HMI_COMPARE */
    hmi_verdict verdict;
} hmi_solution;

/* Answers the question. Returns (and writes *solution for) every status but HM_ERR_USAGE:
 *   HM_OK                 the motion is determined;
 *   HM_ERR_UNDETERMINED   q'' is not unique or does not exist: qdd is the least-squares answer of
 *                         minimum norm; or an implicit law has no or several solutions;
 *   HM_ERR_INCONSISTENT   b contradicts itself (qdd meets it in least squares, as the
 *                         pseudo-inverse does), or a servo cannot be enforced;
 *   HM_ERR_NUMERIC        the input or the answer is not finite: arrays are zero.
 * HM_ERR_USAGE: the formulation asked for does not apply, or the sizes are not the workspace's.
 * HM_ERR_LIMIT: more rows count than there is room for (hmi_dynamics_leave_out). */
HM_MUST_CHECK hm_status hmi_dynamics_solve(hmi_dynamics *d, const hmi_equations *equations,
                                           const hmi_options *options, hmi_solution *solution);

/* Checks on demand, for the last solution; relative sizes that should be of rounding order. */
typedef struct hmi_checks {
    double constraint; /* A q'' - b */
    double balance;    /* M q'' - Q - u - Qc */
    double ideal;      /* v.Qi for a basis v of virtual displacements      [UK02 Result 4] */
    double work;       /* v.Qc - v.C                                       [UK02 (35)] */
    double projection; /* A M^-1 Qni, where M > 0: Qni is the projection   [UK02 (37)] */
} hmi_checks;

void hmi_dynamics_check(hmi_dynamics *d, const hmi_equations *equations,
                        const hmi_solution *solution, hmi_checks *checks);

/* ---- the hot loop ---------------------------------------------------------------------------- */

/* q'' and lambda (NULL: not wanted) of ideal constraints. Direct where everything is well
 * conditioned, by hmi_dynamics_solve otherwise, whose statuses it returns. */
HM_MUST_CHECK hm_status hmi_accelerate(hmi_dynamics *d, const double *restrict M,
                                       const double *restrict Q, const double *restrict A,
                                       const double *restrict b, double *restrict qdd,
                                       double *restrict lambda);

/* ---- derivatives ----------------------------------------------------------------------------- */

/* The equations differentiated in `count` directions s at the last solution (lambda there is the
 * total one, Q stands for Q + u + C):
 *     force      (count x n)  dQ/ds - (dM/ds) q'' + (dA/ds)^T lambda
 *     constraint (count x m)  db/ds - (dA/ds) q''
 *     turning    (count x m)  (dA/ds) w with w from hmi_dynamics_preimage; only used where rows are
 *                             redundant, for the minimum-norm multipliers; NULL: zero
 *     feedback   (n x m)      d(Q + C)/d lambda_total of an implicit law; NULL: none
 * One direction after the other. */
typedef struct hmi_directions {
    int count;
    const double *force, *constraint, *turning, *feedback;
} hmi_directions;

/* dqdd (count x n), dlambda (count x m; NULL: not wanted). The last call on d must have been
 * hmi_dynamics_solve with HM_OK, or this one. HM_ERR_NUMERIC: the feedback makes it singular. */
HM_MUST_CHECK hm_status hmi_dynamics_derivative(hmi_dynamics *d, const hmi_directions *directions,
                                                double *dqdd, double *dlambda);

/* w (n) with A w = lambda_total, of minimum norm: see `turning` above. */
void hmi_dynamics_preimage(hmi_dynamics *d, const hmi_solution *solution, double *w);

/* ---- geometry -------------------------------------------------------------------------------- */

/* [UK02 section 6]: B = A M^-1/2 with the symmetric root, its pseudo-inverse, the projectors
 * T = B^+ B and N = I - T, and the scaled accelerations. All owned by the caller; NULL: not wanted.
 * Call after hmi_dynamics_solve with the same equations. HM_ERR_UNDETERMINED unless M > 0. */
typedef struct hmi_geometry {
    double *root, *inverse_root;   /* n x n: M^1/2, M^-1/2 */
    double *B, *B_plus;            /* m x n, n x m */
    double *T, *N;                 /* n x n */
    double *a_s, *c_s, *qdd_s;     /* n: M^-1/2 Q, M^-1/2 C, M^1/2 q'' */
    double *B_plus_b, *B_plus_e;   /* n */
    double *T_a_s, *N_a_s, *N_c_s; /* n */
} hmi_geometry;

HM_MUST_CHECK hm_status hmi_dynamics_geometry(hmi_dynamics *d, const hmi_equations *equations,
                                              const hmi_solution *solution,
                                              const hmi_geometry *geometry);

/* ---- Dirac structures ------------------------------------------------------------------------ */

/* A state (q, v, p) with its rates, and what L gives there. The distribution is A v = c. */
typedef struct hmi_dirac_state {
    const double *v, *p;       /* n */
    const double *qdot, *pdot; /* n */
    const double *L_q, *L_v;   /* n: dL/dq, dL/dv at (q, v) */
    const double *F;           /* n: external forces; NULL: none */
    const double *A, *c;       /* m x n, m; c NULL: 0 */
} hmi_dirac_state;

/* How far (X, dE_L - F) is from the Dirac structure: each part is zero on a motion. */
typedef struct hmi_dirac_residual {
    double *kinematic;  /* n: qdot - v */
    double *momentum;   /* n: p - dL/dv */
    double *constraint; /* m: A qdot - c */
    double *covector;   /* n: pdot - dL/dq - F, which must annihilate the distribution, */
    double *outside;    /* n: its part that does not, */
    double *lambda;     /* m: and the multipliers of the part that does (minimum norm) */
} hmi_dirac_residual;

HM_MUST_CHECK hm_status hmi_dirac_inclusion(hmi_dynamics *d, const hmi_dirac_state *state,
                                            const hmi_dirac_residual *residual);

/* Degenerate Lagrangians: where M vanishes on virtual displacements, velocities are determined and
 * not accelerations. With rho(q') = Q - h the force balance (M q'' = rho + A^T lambda), W a basis
 * of the virtual displacements that M does not see,
 *     W^T rho(q') = 0,   A q' = c
 * is solved for q' by one Newton step from v: exact where L is linear in these velocities.
 *   M (n x n), rho (n) and J = d rho/dq' (n x n) at v; A, c (NULL: A v is right as it is). */
typedef struct hmi_dirac_balance {
    const double *M, *rho, *J, *A, *c, *v;
} hmi_dirac_balance;

typedef struct hmi_dirac_velocity {
    int fast;                 /* how many velocities this determines: columns of W */
    const double *W;          /* fast x n */
    bool determined;          /* W^T J W is not singular */
    int undetermined;         /* else: directions along which q' is free, */
    const double *directions; /* undetermined x n, in reduced echelon form */
    double change;            /* size of the step relative to q' (0: v was right) */
    double discrepancy;       /* of A q' = c where rows are redundant and contradict each other */
} hmi_dirac_velocity;

/* Writes qdot (n). At these velocities hmi_dynamics_solve finds the balance solvable and gives
 * lambda, though q'' along W stays free.
 * HM_ERR_UNDETERMINED: qdot is the least-squares answer nearest to v. */
HM_MUST_CHECK hm_status hmi_dirac_solve(hmi_dynamics *d, const hmi_dirac_balance *balance,
                                        double *qdot, hmi_dirac_velocity *velocity);

#endif
