/* The motion near one state, on the tangent space of the constraint manifold.
 *
 * Variables are x = (q, v, z), size 2n + states. With F = d(x')/dx (exact derivatives,
 * dynamics/sim/motion_derivatives.h) and C the derivatives of phi, phi' and psi, deviations obey
 *     dx' = F dx,    C dx = 0.
 * Gauss-Jordan elimination of C marks one dependent variable per independent row. With the
 * others as y,
 *     dx = T dy,    dy' = A dy,    A = the rows of F T that belong to y.
 *
 * Which variables become dependent decides how readable A is, and whether a steady motion can be
 * recognised. Position rows pivot on coordinates; the rows phi' then pivot on the velocities of the
 * same coordinates, velocity rows on other velocities. Among entries of at least a tenth of the
 * largest (in units of the mass metric) the velocity of a coordinate on which nothing depends is
 * preferred, then the variable declared first. Rows that vanish are redundant.
 *
 * The object belongs to one sim and is updated at a state as often as wanted: searches for
 * equilibria (equilibrium.h, relative_equilibrium.h) alternate between hmi_reduction_update, a step
 * of y, and hmi_reduction_restore, which moves the dependent variables back onto the constraints.
 * States are arguments, x = (q, v, z) and t; the sim's present state is neither read nor changed.
 * Verified: test/physics/test_linearize.c
 */
#ifndef HMI_ANALYSE_LINEARIZE_REDUCE_H
#define HMI_ANALYSE_LINEARIZE_REDUCE_H

#include "base/memory.h"
#include "dynamics/sim/motion_derivatives.h"

typedef struct hmi_reduction {
    hm_sim *sim;
    hmi_arena arena;
    size_t n, states, m, size;
    hmi_point at;        /* the state of the last update: */
    double *x;           /* size: its (q, v, z) */
    double *J;           /* (n + states) x (size + 1) */
    double *rate;        /* size: x' */
    double *residual;    /* 2m */
    double *C;           /* 2m x (size + 1) */
    double *unit;        /* n: sqrt(M_ii), which makes rows and columns comparable */
    double *row_size;    /* 2m: of the rows of C in these units */
    bool *cyclic;        /* n: nothing depends on this coordinate */
    double *E;           /* 2m x size: rows of C eliminated, unit in their pivot column */
    size_t *pivot;       /* 2m: that column; SIZE_MAX where a row has none */
    size_t rank;         /* dependent variables */
    size_t *dependent;   /* rank: the pivot columns */
    bool *is_dependent;  /* size */
    size_t dimension;    /* of y */
    size_t *independent; /* dimension: variable of each y, ascending */
    double *A;           /* dimension x dimension */
    double *by_time;     /* dimension: d(y')/dt at fixed y */
    const bool *held;    /* size: to be independent if possible; NULL: none. Set by the caller */
    size_t *free;        /* size: scratch */
    double *scratch;     /* 2 size + 2m */
    double
        rounded[2]; /* entries of d(q'')/dq and d(q'')/dv up to this count as rounding, in units of
                            the mass metric */
    double force;   /* the largest force at the state, in units of the mass metric */
} hmi_reduction;

/* Memory for the sim's system. Release also after failure. */
HM_MUST_CHECK hm_status hmi_reduction_init(hmi_reduction *r, hm_sim *sim);
void hmi_reduction_release(hmi_reduction *r);

/* Everything at the state x = (q, v, z). Statuses as hmi_sim_accelerate. */
HM_MUST_CHECK hm_status hmi_reduction_update(hmi_reduction *r, double t, const double *x);
/* The same with the dependent variables of `like`, for comparison. HM_ERR_NUMERIC where these cannot
 * be dependent here. */
HM_MUST_CHECK hm_status hmi_reduction_update_like(hmi_reduction *r, const hmi_reduction *like,
                                                  double t, const double *x);
/* What rounding can make of the rate of variable k, a velocity or a state, where it is 0 on paper:
 * a part of the terms that cancel in it. */
double hmi_reduction_noise(const hmi_reduction *r, size_t k);
/* What rounding can make of the entries of A, dimension squared. */
void hmi_reduction_rounding(const hmi_reduction *r, double *E);
/* Column j of T, dx = T dy: all variables for a unit of y_j. */
void hmi_reduction_direction(const hmi_reduction *r, size_t j, double *dx);
/* Moves the dependent variables (of the last update) in x until the constraints hold.
 * HM_ERR_INCONSISTENT where that does not succeed. */
HM_MUST_CHECK hm_status hmi_reduction_restore(hmi_reduction *r, double t, double *x);

/* The same with all variables but the held ones, moved as little as possible. */
HM_MUST_CHECK hm_status hmi_reduction_restore_all(hmi_reduction *r, double t, double *x);

/* Subtracts from A the rates dq = B q, dv = B v of a moving frame; B: n x n. */
void hmi_reduction_turn(hmi_reduction *r, const double *B);

/* The x of minimum norm with X x = right in the sense of least squares. X has contiguous columns and is
 * destroyed; what is below `tolerance` times its largest entry counts as 0. */
HM_MUST_CHECK hm_status hmi_minimum_norm(const hm_allocator *allocator, size_t rows, size_t cols,
                                         double *X, double tolerance, const double *right,
                                         double *x);
/* Its name, "x", "x'" or "z", as hmi_model_symbol_name gives it. */
const char *hmi_reduction_name(const hm_sim *sim, size_t k);

#endif
