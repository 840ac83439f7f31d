/* The motion as a power series in time, order by order.
 *
 * With q, v up to order k the dynamics tape's jets (compile/jet/jet.h) give M, Q, A, b up to order k,
 * and the coefficients of  M a = Q + C + A^T lambda,  A a = b  at order k are
 *     M_0 a_k - A_0^T lambda_k = Q_k + C_k - Sum_{j>=1} M_j a_{k-j} + Sum_{j>=1} A_j^T lambda_{k-j},
 *     A_0 a_k                  = b_k       - Sum_{j>=1} A_j a_{k-j}:
 * one factorisation serves all orders. Then q_{k+1} = v_k/(k+1), v_{k+1} = a_k/(k+1), and likewise
 * for auxiliary states and for the works of the ledger, whose powers have jets too.
 * Time runs in a unit tau, a power of two near the step, so that coefficients neither grow nor
 * vanish. Entries of M and A that do not change in time take no part in the sums.
 *
 * Where a model allows it the same coefficients come from its momenta, with less work: momentum.c.
 *
 * Constraints that depend on others: the rows that the rank-revealing decomposition took at the
 * start of a step stand for all; the state at its end is checked against all of them.
 * Verified: test/unit/integrate/test_taylor.c, test/physics/test_trajectories.c
 */
#ifndef HMI_INTEGRATE_TAYLOR_TAYLOR_H
#define HMI_INTEGRATE_TAYLOR_TAYLOR_H

#include "compile/jet/jet.h"
#include "derive/voronets.h"
#include "integrate/ode/ode.h"
#include "linalg/saddle.h"

/* ---- special paths ---- */

/* Each gains time on some models: bench/bench_paths.c switches one after the other off and shows it. All are
 * taken but where hmi_sim_solve.series_options, which is for that, says otherwise before a sim's first run. */
typedef struct hmi_taylor_options {
    bool momenta;  /* momenta in place of M, Q, A, b: momentum.c */
    bool voronets; /* without velocities that constraints give: voronets.c */
    bool inverse;  /* the inverse of small systems in place of factors: linalg/saddle_inverse.c */
    hmi_jet_options jet;
} hmi_taylor_options;

/* ---- one factorisation, many right sides (solve.c) ---- */

typedef struct hmi_taylor_solver {
    hm_sim *sim;
    bool alone;        /* other equations than those of the sim, whose workspace cannot help out */
    bool fast;         /* the saddle-point solver serves; else the rank-revealing workspace */
    double *A;         /* m x n: of the saddle-point problem, for the caller to fill in */
    hmi_saddle saddle; /* with the inverse, where the system is small */
} hmi_taylor_solver;

hm_status hmi_taylor_solver_init(hmi_taylor_solver *s, hm_sim *sim, hmi_arena *arena);
/* For n equations of the caller's, without constraints. */
hm_status hmi_taylor_solver_init_alone(hmi_taylor_solver *s, hm_sim *sim, size_t n,
                                       hmi_arena *arena);
/* Factors M (n x n) and s->A, and solves once as below. Statuses of hmi_dynamics_solve. */
hm_status hmi_taylor_factor(hmi_taylor_solver *s, const double *M, const double *right,
                            double *answer);
/* M a = r + A^T lambda, A a = b; right = (r, b), answer = (a, lambda), in blocks of four. Redundant
 * rows have lambda = 0. */
void hmi_taylor_solve(hmi_taylor_solver *s, const double *right, double *answer);

/* ---- the series (build.c, series.c) ---- */

/* The motion under Q + C or under Q alone: rows of a and lambda, and the sums above. */
typedef struct hmi_taylor_motion {
    bool with_C;
    uint32_t *a, *mu;       /* rows; mu = -lambda, which gives all sums one sign */
    hmi_jet_list *right;    /* n + m right sides: Q and b less the sums */
    hmi_jet_list *reaction; /* n: Sum_{j>=1} A_j^T lambda_{k-j}, where the ledger wants it */
    double *answer;         /* n + m, of one order */
} hmi_taylor_motion;

/* What runs at every order. */
typedef enum hmi_taylor_code {
    HMI_TAYLOR_INPUTS,
    HMI_TAYLOR_MAIN, /* the dynamics, and right sides of the motion */
    HMI_TAYLOR_RESIDUALS,
    HMI_TAYLOR_SECOND,   /* right sides of the second motion */
    HMI_TAYLOR_REACTION, /* of the last motion */
    HMI_TAYLOR_ALL_REACTION,
    HMI_TAYLOR_POWERS,
    HMI_TAYLOR_IDEAL,
    HMI_TAYLOR_NONIDEAL,
    HMI_TAYLOR_KEEP,       /* the answer, then the state of the next order */
    HMI_TAYLOR_WHOLE,      /* all of an order, where there is one motion and K, and nothing else */
    HMI_TAYLOR_RISE,       /* by momenta: right sides, */
    HMI_TAYLOR_RISE_WHOLE, /* answers as well, where there is K, */
    HMI_TAYLOR_COMPLETE,   /* and the rest of an order; */
    HMI_TAYLOR_ORDER,      /* both at once */
    HMI_TAYLOR_CODES
} hmi_taylor_code;

/* The motion by its momenta: see momentum.c. */
typedef struct hmi_taylor_momenta {
    bool used;
    hmi_tape tape;
    double *work; /* prepared for this version of the sim */
    unsigned long version;
    double t; /* of the last begin */
    hmi_jet_segment all, first, second;
    size_t reaction, force, velocity, rates, power; /* of the outputs of the tape */
    uint32_t *push;                                 /* n: rows of the forces of the order before */
    uint32_t *q, *z;                                /* coordinates, auxiliary states */
    uint32_t *late;                                 /* n + m: rows of v and mu */
    hmi_jet_list *right;                            /* n + m */
} hmi_taylor_momenta;

/* Velocities that constraints give are not in the series: see voronets.c. */
typedef struct hmi_taylor_given {
    bool used;
    bool *is_given; /* by coordinate */
    hmi_tape tape;  /* order 0 */
    double *work;
    const double *out;
    hmi_tape_values values;
    unsigned long version;
    size_t Q, velocity, drift, slope, rates; /* of its outputs; M comes first, powers last */
    size_t count;
    uint32_t *coordinate; /* count: of the velocities given */
} hmi_taylor_given;

typedef struct hmi_taylor {
    hmi_ode *ode;
    hm_sim *sim;
    hmi_arena arena;
    hmi_jet jet;
    hmi_jet_segment inputs, dynamics, residuals, powers;
    bool has_inputs, has_residuals, has_powers;
    bool may_be_given; /* velocities, by constraints */
    hmi_jet_program program[HMI_TAYLOR_CODES];
    int order;                /* of the series of the state, */
    int most_order;           /* and what there is room for */
    size_t coordinates, n, m; /* n: velocities in the series, all but those given */
    size_t works, width;      /* width: components of the series: q, v, z, works; */
    uint32_t *place;          /* where each of them is in the state */
    const uint32_t *out;      /* rows of the dynamics tape's outputs, by system->at */
    hmi_jet_link *links;      /* of the components of the state: the rows of y and of y' */
    size_t link_count;
    uint32_t *given; /* n + m: rows of a, mu */
    uint32_t time_row;
    bool reads_time;
    int motions; /* 2: the ledger wants the motion without C too */
    hmi_taylor_motion motion[2];
    hmi_taylor_momenta momenta;
    hmi_taylor_given given_velocities;
    uint32_t *ideal, *nonideal; /* n: rows of Qi, Qni; NULL: not wanted */
    hmi_jet_list ideal_power, nonideal_power;
    hmi_taylor_solver solver;
    double *M;       /* dense */
    double *right;   /* n + m, of one order */
    double *turning; /* n: scratch */
    double *scratch; /* of links */
    bool cleared;    /* the jets were, after the last series */
    double *Y;       /* (order + 1) x width: coefficients in units of tau */
    double tau;
} hmi_taylor;

/* The coordinate of velocity i of the series. */
static inline uint32_t hmi_taylor_coordinate(const hmi_taylor *T, size_t i)
{
    return T->place[T->coordinates + i] - (uint32_t)T->coordinates;
}

/* Builds the jets for a series of the given order. Release also after a failure. */
hm_status hmi_taylor_init(hmi_taylor *T, hmi_ode *ode, int order);
/* Memory of the series, zeroed; *failed: there is none. */
void *hmi_taylor_take(hmi_taylor *T, size_t count, size_t size, bool *failed);
/* T->program[code], as machine code where the system has some. */
hm_status hmi_taylor_compile(hmi_taylor *T, hmi_taylor_code code, const hmi_jet_program *program);
/* T->place and T->width, when n is known. */
hm_status hmi_taylor_place(hmi_taylor *T);
void hmi_taylor_release(hmi_taylor *T);
/* ---- the series by momenta (momentum.c) ---- */

bool hmi_taylor_has_momenta(const hmi_ode *ode);
/* T->momenta.tape, and where its outputs are; n and m where velocities are given (momentum_tape.c). */
hm_status hmi_taylor_compile_momentum_tape(hmi_taylor *T);
/* Everything of the jets up to their seal, and what is left after it. */
hm_status hmi_taylor_add_momenta(hmi_taylor *T);
hm_status hmi_taylor_compile_momenta(hmi_taylor *T);
hm_status hmi_taylor_begin_momenta(hmi_taylor *T, double t, const double *y, double *f);
void hmi_taylor_raise_momenta(hmi_taylor *T, const double *y);

/* ---- without velocities that constraints give (voronets.c) ---- */

/* The tape of order 0; expressions are of the graph. */
hm_status hmi_taylor_add_given(hmi_taylor *T, const hmi_voronets *x, hmi_graph *graph);
hm_status hmi_taylor_begin_given(hmi_taylor *T, double t, const double *y, double *f);

/* ---- all of them ---- */

/* For another run of the same sim. false: a new one is needed. */
bool hmi_taylor_reuse(hmi_taylor *T, hmi_ode *ode, int order);
/* Order 0 at (t, y): f and everything that the series needs. Statuses of the solve. y and f are states with
 * works; velocities that constraints give are not read. */
hm_status hmi_taylor_begin(hmi_taylor *T, double t, const double *y, double *f);
/* The series at the state of the last begin; T->tau is set before. */
void hmi_taylor_expand(hmi_taylor *T, const double *y, const double *f);
/* After one that is not finite: where it is evaluated, all coefficients count. */
void hmi_taylor_clear(hmi_taylor *T);
/* The components of the series at h after the expansion, and their derivatives unless f is NULL; both have
 * room for whole blocks of eight. */
void hmi_taylor_evaluate(const hmi_taylor *T, double h, double *x, double *f);
/* y := the state with these components, velocities that constraints give aside. */
void hmi_taylor_spread(const hmi_taylor *T, const double *x, double *y);
/* These, in y: as the last begin found them, or found now. */
void hmi_taylor_take_given(const hmi_taylor *T, double *y);
void hmi_taylor_find_given(hmi_taylor *T, double t, double *y);

#endif
