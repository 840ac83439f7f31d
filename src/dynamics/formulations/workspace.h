/* The workspace of a solve: the scaled problem, its decompositions, the methods that work on it.
 *
 * Everything is solved in scaled variables (linalg/scale.c): with powers of two D and R
 *     x = D^-1 q'',   M^ = D M D,   A^ = R A D,   Q^ = D Q,   b^ = R b,   lambda = R l,
 * rows of A^ in the order in which pivoting took them, so that the first `rank` are independent and
 * the others follow from them. From  A^T P = Z^T [R1 R12]  (QR, rows of Z orthonormal):
 *     Y = rows 0 .. rank-1 of Z   span the row space of A^,
 *     N = rows rank .. n-1 of Z   span its null space, the virtual displacements.
 *
 * A method solves   M^ x = r + A_r^T l,   A_r x = s   with the independent rows A_r only (or brings
 * in the others consistently), as often as wanted after one factorisation.
 */
#ifndef HMI_DYNAMICS_FORMULATIONS_WORKSPACE_H
#define HMI_DYNAMICS_FORMULATIONS_WORKSPACE_H

#include "base/memory.h"
#include "dynamics/formulations/dynamics.h"
#include "linalg/linalg.h"
#include "linalg/saddle.h"

#include <assert.h>

typedef struct hmi_solver {
    hm_formulation formulation;
    bool (*applies)(const hmi_dynamics *d);
    /* false: the numbers do not allow this method. */
    bool (*factor)(hmi_dynamics *d);
    void (*solve)(hmi_dynamics *d, const double *r, const double *s, double *x, double *l);
} hmi_solver;

extern const hmi_solver hmi_solver_uk, hmi_solver_gram, hmi_solver_kkt, hmi_solver_nullspace,
    hmi_solver_gauss, hmi_solver_singular, hmi_solver_dirac;

const hmi_solver *hmi_solver_of(hm_formulation formulation);

/* What a method remembers between factor and solve; arrays lie in d->factor, d->factor_ints. */
typedef struct hmi_factors {
    double *array[5];
    hmi_cod cod;
    int size;
    bool shifted; /* M + A^T A stands in for M */
} hmi_factors;

/* The motion under given Q and C, scaled: ideal part, what C adds, what servos put in. */
typedef struct hmi_motion {
    double *Q, *C;           /* n */
    double *ideal, *ideal_l; /* n, m: x and l of C = 0, servo forces included */
    double *extra, *extra_l; /* n, m: what C adds */
    double *u;               /* servos x n */
} hmi_motion;

/* Servo rows and the answer of the passive system to forces on actuated coordinates. */
typedef struct hmi_servo_space {
    int rows, columns, count;
    bool limited;             /* a force is at its limit: rows need not be met */
    double *A, *b, *free, *R; /* scaled rows; free: b without gain terms */
    int *first_row;           /* count + 1 */
    int *group;               /* count: the first servo with the same actuators */
    int *first_column;        /* count + 1, by group */
    int *coordinate;          /* columns: which one is actuated */
    double *G;                /* columns x n: x under a unit force */
    double *K;                /* columns x n: root of the metric, upper triangular by group */
    double *reach, *H;        /* rows x columns: A G K^-1, and a copy to decompose */
    int *ints;                /* of decompositions */
} hmi_servo_space;

/* Rows that hold, gathered from those of the model (held_rows.c). */
typedef struct hmi_held_rows {
    bool gathers;                  /* false: the rows are those of the model */
    int all;                       /* rows of the model */
    bool overfull;                 /* more hold than there is room for */
    int *row;                      /* size.m: which one of the model */
    double *A, *b, *A_error;       /* size.m x n, size.m, size.m x n */
    double *b_error;               /* size.m */
    double *of_model[5];           /* all: results by row of the model, */
    bool *flags_of_model[3];       /* too */
    double *reactions[2];          /* all: multipliers that a law is told */
    const hmi_reaction_law *asked; /* the law itself */
    hmi_reaction_law law;          /* which tells it */
} hmi_held_rows;

struct hmi_dynamics {
    hm_allocator allocator;
    size_t bytes;
    hmi_dynamics_size size;
    int n, m;
    bool *left_out; /* m: hmi_dynamics_leave_out */
    hmi_held_rows held;

    /* the scaled problem */
    double *D, *R;
    double *M, *A, *b;
    int *order;             /* row k of A is row order[k] of the model */
    int rank, most_rank;    /* hmi_options.most_rank */
    double accelerate_rank; /* hmi_options.rank_tolerance of hmi_accelerate */
    double rank_tolerance, mass_tolerance;
    double A_noise, M_noise; /* length of all errors of the scaled A and M; 0: none known */
    double b_tolerance;      /* of right sides of redundant rows */
    double *QR, *tau;        /* of A^T, columns in pivot order */
    double *Z;
    hmi_graded graded; /* of R^-1 A^ Y^T, where rank < m */
    double *graded_doubles;
    int *graded_ints;

    /* the mass matrix */
    double *L; /* Cholesky factor, where M > 0 */
    hmi_definiteness mass;
    bool cholesky;
    int rank_M;
    double mass_size;
    int undetermined;
    double *W; /* undetermined x n, scaled coordinates */

    const hmi_solver *method;
    hmi_factors factors;
    double *factor;
    int *factor_ints;
    int refinements;

    hmi_motion motion;
    int *law_ints, *judge_ints; /* 2 (n + m), n */
    hmi_servo_space servo;

    /* results */
    double *result_n[8], *result_m[5];
    double *u, *servo_residual, *directions, *virtual_displacements;
    bool *flags[3];

    double *scratch;
    size_t scratch_size, scratch_used;
    hmi_saddle saddle; /* of hmi_accelerate, in scratch memory */
};

/* Scratch memory: take, use, give back by restoring the mark. */
static inline double *hmi_take(hmi_dynamics *d, size_t count)
{
    double *memory = d->scratch + d->scratch_used;
    d->scratch_used += count;
    assert(d->scratch_used <= d->scratch_size);
    return memory;
}

/* prepare.c: scales, decides ranks and definiteness. HM_OK or HM_ERR_NUMERIC. */
hm_status hmi_prepare(hmi_dynamics *d, const hmi_equations *equations, const hmi_options *options);
/* The constraint part alone, for callers without a mass matrix problem. */
void hmi_prepare_constraints(hmi_dynamics *d, const hmi_equations *equations);
/* d->b := R b in pivot order; where b contradicts itself, of the nearest b that does not (least
 * squares). False then. */
bool hmi_prepare_right_side(hmi_dynamics *d, const double *b, double tolerance);

/* held_rows.c: the equations with the rows that hold only, in memory of d (law and all); and a solution
 * of these by rows of the model. Without gathering both leave everything as it is. */
hmi_equations hmi_gather_rows(hmi_dynamics *d, const hmi_equations *equations);
void hmi_spread_rows(hmi_dynamics *d, hmi_solution *solution);
/* The same of one vector, and of the geometry's matrices in place. */
const double *hmi_gather_vector(const hmi_dynamics *d, const double *all, double *to);
void hmi_spread_multipliers(const hmi_dynamics *d, const double *held, double *all);
void hmi_spread_geometry(const hmi_dynamics *d, const hmi_geometry *geometry);

/* refine.c */
void hmi_solve_scaled(hmi_dynamics *d, const double *r, const double *s, double *x, double *l);

/* row_space.c: what follows from the decomposition of A */
/* all[m] := right sides of all rows, of which s are those of the independent ones; returns the
 * length of the part of x that they determine */
double hmi_complete_rows(hmi_dynamics *d, const double *s, double *all);
/* l := R1^-1 Y f, the multipliers of the independent rows with A_r^T l = f */
void hmi_row_multipliers(hmi_dynamics *d, const double *f, double *l);
/* f[n] += A_r^T l */
void hmi_row_force(hmi_dynamics *d, const double *l, double *f);
/* lambda[m] of minimum norm, in the model's order and units */
void hmi_model_multipliers(hmi_dynamics *d, const double *l, double *lambda);

/* reaction_laws.c: motion under the law of the equations. Statuses of hmi_dynamics_solve. */
hm_status hmi_move(hmi_dynamics *d, const hmi_equations *equations, hmi_effort effort,
                   hmi_verdict *verdict);

/* servo.c */
void hmi_servo_prepare(hmi_dynamics *d, const hmi_equations *equations);
/* Forces u (servos x n, scaled) that lead the motion x0 to the servo rows. */
void hmi_servo_forces(hmi_dynamics *d, const hmi_equations *equations, const double *x0, double *u);
/* Clips the forces to the limits of their servos; servo.limited where that changes one. */
void hmi_servo_limit(hmi_dynamics *d, const hmi_equations *equations, double *u);
/* reach := As G K^-1 of servo.A, servo.G; entries that are only rounding errors are set to zero */
void hmi_servo_find_reach(hmi_dynamics *d);
/* u^T M^-1 u, summed over sets of actuators */
double hmi_servo_cost(const hmi_dynamics *d, const double *u);
/* w := K^-1 w for the actuators of one group */
void hmi_servo_divide(const hmi_dynamics *d, int group, double *w);
/* lyapunov.c: adds the force of the gain terms of one servo to u */
void hmi_lyapunov_force(hmi_dynamics *d, int servo, double *u);

/* verdict.c */
void hmi_judge(hmi_dynamics *d, const hmi_equations *equations, hmi_solution *solution);
/* X ((n + m) x n, columns contiguous) := M above A, scaled. */
void hmi_fill_stack(const hmi_dynamics *d, double *X);
/* Reduced echelon form of `count` directions of n coordinates, for people to read. */
void hmi_tidy_directions(int count, int n, double *directions);

/* rank_evidence.c: how sure the ranks are. */
void hmi_find_evidence(hmi_dynamics *d, const hmi_equations *equations, hmi_verdict *verdict);

/* cross_check.c */
void hmi_compare(hmi_dynamics *d, const hmi_equations *equations, hmi_solution *solution);
/* weighted.c: how far x (q'' under `force`, both scaled) is from an answer without a decision of rank;
 * -1: there is none. `size`: of accelerations. */
double hmi_weighted_difference(hmi_dynamics *d, const hmi_equations *equations, const double *force,
                               const double *x, double size);

#endif
