/* The flag of a set of constraints: how far directions of motion grow by Lie brackets.
 *
 * The question. The constraints leave the directions D = { X : omega_k(X) = 0 } of z = (q, t).
 * Brackets of such directions may point out of D. D + [D, D] + ... grows until it is closed under
 * brackets; the dimensions on the way are the growth vector, and what is missing in the end is the
 * number of independent integrable combinations of the constraints.
 *
 * The method forms no bracket. A covector c_k omega_k along a curve z' = X in D annihilates
 * everything that brackets with X reach where its Lie derivative vanishes,
 *     L_X (c omega) = c' omega + c (i_X d omega) = 0.
 * In the coframe of the omega_k and the free dz_b, i_X d omega = H omega + K_0 dz_b, so
 *     c' = -c H,    c K_0 = 0  along the curve,    K_{j+1} = K_j' - H K_j,
 * and the integrable combinations are the c with c K_0 = c K_1 = ... = 0. K needs only first
 * derivatives of the coefficients, and power series of the order of the level (transport.h). K_0 is
 * Flannery's G_kj (30) modulo the rows: it is zero where the multiplier rule holds (errata 3.4).
 *
 * Random curves suffice. For a generic curve the rank of (K_0, K_1, ...) grows to the final one
 * [Sontag 1992: generic controls of analytic systems]. A single level of one curve may fall short,
 * so the first ten levels are completed with further curves through the same point; deeper levels
 * are those of one curve. Special points have smaller ranks: the largest over a few points is
 * taken.
 * Verified: test/cases/test_classify.c (growth vectors of the literature).
 */
#ifndef HMI_ANALYSE_INTEGRABILITY_FLAG_H
#define HMI_ANALYSE_INTEGRABILITY_FLAG_H

#include "analyse/balls/sample.h"

/* How a statement was decided. */
typedef struct hmi_evidence {
    int points;     /* random points */
    double zero;    /* log2 of the largest relative size taken for zero; -inf: none or exact */
    double nonzero; /* log2 of the smallest relative size proved nonzero; inf: none */
    bool proved;    /* all points lie on the position constraints, proved */
} hmi_evidence;

typedef struct hmi_flag {
    size_t rank;      /* independent forms */
    size_t dimension; /* of the space: n, or n + 1 with t */
    size_t *growth;   /* dimensions of D, D + [D, D], ...; levels of them */
    size_t levels;
    size_t integrable; /* independent integrable combinations, position constraints included */
    bool *independent; /* by row of the list given */
    bool *in_span;     /* by row: d omega_k = 0 mod all rows (G_k lies in their span) */
    double *outside;   /* by row: largest |K_0| found, 0 in the span */
    hmi_evidence evidence;
} hmi_flag;

/* The flag of these rows (pfaffian ones). Memory of the result: the forms' arena.
 *   HM_ERR_NUMERIC: no point was found, or more bits than the most allowed were needed. */
hm_status hmi_flag_find(hmi_sampler *sampler, const size_t *rows, size_t count, bool with_time,
                        hmi_flag *flag);

/* Is d omega = 0 for this form on all pairs of directions tangent to `rows` (mod rows)? With the
 * position rows alone this is exactness on the manifold [Flannery (33), (35), (36)], with the
 * form's own row among them integrability [Frobenius]. */
hm_status hmi_form_is_closed(hmi_sampler *sampler, const hmi_form *form, const size_t *rows,
                             size_t count, bool *closed, hmi_evidence *evidence);

/* Is the form a combination of these rows at generic points? */
hm_status hmi_form_depends(hmi_sampler *sampler, const hmi_form *form, const size_t *rows,
                           size_t count, bool *depends, hmi_evidence *evidence);

/* Are all these expressions of (q, t) zero on the manifold? Velocities are random,
 * unconstrained. */
hm_status hmi_all_zero(hmi_sampler *sampler, const hmi_expr *list, size_t count, bool *zero,
                       hmi_evidence *evidence);

/* Are all these expressions of (q, q', t) zero in every state that the rows allow? States are
 * random: q on the position constraints, q' with omega_k(q', 1) = 0. */
hm_status hmi_zero_in_states(hmi_sampler *sampler, const size_t *rows, size_t count,
                             const hmi_expr *list, size_t list_count, bool *zero,
                             hmi_evidence *evidence);

enum { HMI_POINTS = 4, HMI_BITS = 320, HMI_MOST_BITS = 2560 };

#endif
