/* The right equations beside tempting wrong ones.
 *
 *   hm_comparison *other;
 *   hm_comparison_create(system, "vakonomic", &other);
 *   hm_compared at;
 *   hm_comparison_evaluate(other, sim, NULL, &at);      // at the sim's present state
 *   ... at.correct_qdd, at.other_qdd, at.mudot, at.reason ...
 *   hm_comparison_destroy(other);
 *
 * "vakonomic": the multiplier rule for integrals, applied to constraints g = 0 on velocities, that is
 * Lagrange's equations of L + sum mu_k g_k, with mu_k(t) unknown functions [Flannery 2005, (29)-(32)].
 * Position rows phi enter by g = phi'. For g nonlinear in the velocities the mass matrix is
 * M + mu d2g/dq'2.
 *
 * "conflated:LHS = RHS" or "conflated:LHS = RHS@alpha": the constraint is put into L before Lagrange's
 * equations are formed, L+ = (1 - alpha) L + alpha L[LHS -> RHS], and then imposed again [Hamel 1949;
 * Udwadia & Wanichanon]. LHS is found up to order, sign and a common factor; forces are untouched.
 */
#ifndef HAMEL_COMPARE_H
#define HAMEL_COMPARE_H

#include <hamel/run.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct hm_comparison hm_comparison;

/* The system must outlive the comparison, the context need not. What evaluations and runs have to
 * say goes to the sim that they are given.
 *   HM_ERR_INPUT: LHS does not occur in L, or does not read;
 *   HM_ERR_USAGE: there is no such comparison for this system (no constraints, servos, ...). */
HM_API HM_MUST_CHECK hm_status hm_comparison_create(hm_context *context, const hm_system *system,
                                                    const char *with, hm_comparison **comparison);
HM_API void hm_comparison_destroy(hm_comparison *comparison);

/* The other system. Vakonomic: unconstrained, with one more coordinate for every mu, the integral of
 * mu, after those of the model. */
HM_API const hm_system *hm_comparison_system(const hm_comparison *comparison);
/* "vakonomic" or "conflated" */
HM_API const char *hm_comparison_kind(const hm_comparison *comparison);
/* Multipliers mu of the vakonomic one (0 for others) and the constraint row each belongs to: rows
 * that depend on others at the initial state have none. */
HM_API size_t hm_comparison_mu_count(const hm_comparison *comparison);
HM_API size_t hm_comparison_mu_row(const hm_comparison *comparison, size_t index);

/* At one state. Arrays belong to the comparison and live until its next evaluation. n coordinates,
 * m constraint rows, k multipliers mu. */
typedef struct hm_compared {
    size_t n, m, k;
    const double *correct_qdd, *correct_lambda;
    const double *other_qdd;
    const double *other_lambda; /* m; NULL for vakonomic */
    const double *mu, *mudot;   /* k; NULL for conflated */
    const double *G;            /* m x n: d/dt(dg/dq') - dg/dq at q'' = 0 [Flannery 2005, (30)] */
    bool G_in_span;             /* every row of G is a combination of the rows of A */
    double G_distance;          /* the largest part of G outside, relative; 0 where G = 0 */
    double equation_residual;   /* conflated: LHS - RHS here, 0 where the constraints imply it */
    const double *difference;   /* n: other - correct q'' */
    double largest_difference;  /* relative to the larger q'' */
    int rank_M;                 /* of the other mass matrix (conflated: M+) */
    const char *reason;         /* why they differ, or do not, in words */
} hm_compared;

/* mu: k values, NULL: all 0. Statuses as hm_sim_evaluate. */
HM_API HM_MUST_CHECK hm_status hm_comparison_evaluate(hm_comparison *comparison, hm_sim *sim,
                                                      const double *mu, hm_compared *compared);

/* Both motions from the sim's present state, which must satisfy the constraints. */
typedef struct hm_diverging {
    size_t n, k, count;
    const double *t;        /* count */
    const double *distance; /* count: |q_other - q_correct| */
    const double *correct;  /* count x 2n: q, v */
    const double *other;    /* count x (2n + k): q, v, mu */
    double worst_violation; /* of the constraints by the other motion */
    hm_status status;       /* why there are fewer than asked for: HM_OK, or that of the run */
    const char *message;
} hm_diverging;

/* options: start, end, every, tolerances and method count; NULL: the model's. mu as above. Arrays
 * belong to the comparison and live until its next run. HM_OK also where a motion ended early. */
HM_API HM_MUST_CHECK hm_status hm_comparison_run(hm_comparison *comparison, hm_sim *sim,
                                                 const hm_run_options *options, const double *mu,
                                                 hm_diverging *diverging);

/* Adds a warning to the context for every velocity that a constraint on velocities uses but
 * L lacks, or where M loses rank that such constraints must make up for: as if a constraint had been
 * put into L. Returns how many. */
HM_API size_t hm_system_warn_conflated(hm_context *context, const hm_system *system);

#ifdef __cplusplus
}
#endif
#endif
