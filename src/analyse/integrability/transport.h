/* Forms along one curve through one point: the matrices H and K of flag.h, as power series.
 *
 * A transport is given rows, whose common directions the curve may take, and targets, whose d omega
 * is looked at (usually the rows that are not exact). It works in three steps:
 *   1. hmi_transport_point draws a random point on the position constraints, chooses independent
 *      rows W with pivot columns P, and inverts W_P. The other columns are the free ones, F.
 *   2. hmi_transport_curve follows the curve whose free velocities X_F are random polynomials; the
 *      pivot velocities follow from W X = 0, order by order.
 *   3. On the way it solves H W + K_0 dz_F = gamma, gamma = X(omega) - dg, for every target.
 * HM_ERR_LIMIT everywhere means that the balls do not decide: repeat with more bits.
 * Only src/analyse/integrability and classify use this.
 */
#ifndef HMI_ANALYSE_INTEGRABILITY_TRANSPORT_H
#define HMI_ANALYSE_INTEGRABILITY_TRANSPORT_H

#include "analyse/integrability/flag.h"

#include <arb_mat.h>

/* Rows whose tangent space is meant, targets whose d omega is looked at. */
typedef struct hmi_transport {
    hmi_sampler *sampler;
    hmi_forms *forms;
    hmi_arena arena;
    const hmi_form **form; /* of the rows, then of the targets */
    size_t rows, targets, size;
    size_t *w_start,
        *g_start;   /* first roots of a form in the jet: components, gradient of a target */
    hmi_series jet; /* components first, up to `components`: gradients need velocities */
    hmi_series_part components;
    slong precision;
    bool inexact;

    hmi_curve point; /* order 1 */
    size_t rank;
    size_t *chosen;    /* independent rows, rank of them */
    size_t *pivot;     /* their columns, in some order */
    size_t *freed;     /* the other columns, size - rank */
    bool *is_free;     /* by column */
    arb_mat_t inverse; /* of the chosen rows and pivot columns */
    bool has_inverse;
    double zero, nonzero; /* log2, of the choice of rows */
} hmi_transport;

hm_status hmi_transport_init(hmi_transport *tr, hmi_sampler *sampler, const hmi_form *const *rows,
                             size_t row_count, const hmi_form *const *targets, size_t target_count,
                             size_t size);
void hmi_transport_release(hmi_transport *tr);

/* Draws a point and finds the independent rows there. HM_ERR_LIMIT: undecided at this many bits. */
hm_status hmi_transport_point(hmi_transport *tr, slong precision);

/* K_0 ... K_levels-1 at the point along a random curve: K[level] is targets x (size - rank), one
 * after the other. For levels > 1 target k must be a chosen row: target_of[i] is the target that
 * chosen row i is, or SIZE_MAX. HM_ERR_NUMERIC: a function has no value there. */
hm_status hmi_transport_curve(hmi_transport *tr, size_t levels, const size_t *target_of, arb_ptr K);

/* A random velocity X of the point that the rows allow, with the rate 1 of t, where size is n + 1
 * and the rows do not stop t. Into order 0 of tr->point.X. */
void hmi_transport_velocity(hmi_transport *tr);

/* basis.c: a basis of these directions in symbols, in memory of the forms,
 *     N = [identity on the free columns; -W_P^-1 W_F on the pivots],    size x (size - rank).
 * The forms must have normal forms, and at most HMI_SYMBOLIC_MOST rows be independent. */
hm_status hmi_transport_basis(const hmi_transport *tr, hmi_expr **basis);

/* flag.c: adds the evidence of one point; no evidence yet; how many points a space of this dimension
 * needs. */
void hmi_evidence_note(hmi_evidence *evidence, const hmi_transport *tr);
hmi_evidence hmi_no_evidence(void);
int hmi_points_for(size_t size);

#endif
