/* Quadratic constraints that, together with the others, amount to linear ones.
 *
 * On the directions X = (q', 1) that the linear constraints leave, psi is X^T H X / 2. Where that
 * form has rank 1, or rank 2 with both signs, or is a sum of squares, its zeros are linear spaces:
 *     rank 1             (a.X)^2 = 0
 *     rank 2, both signs (a.X)(b.X) = 0: two branches; Flannery (57) with (58) gives (61)
 *     one sign           a sum of squares: several linear constraints at once
 * Constraints with one square root are squared first (square_root.h).
 * The linear forms are the polar forms H X* of zeros X*.          [Flannery (57)-(61), errata 3.2]
 */
#ifndef HMI_ANALYSE_CLASSIFY_QUADRATIC_H
#define HMI_ANALYSE_CLASSIFY_QUADRATIC_H

#include "analyse/integrability/flag.h"

typedef enum hmi_quadratic_kind {
    HMI_NOT_LINEAR,     /* irreducible, or not seen to be reducible */
    HMI_FOLLOWS,        /* zero wherever the others hold */
    HMI_SQUARE,         /* of one linear form */
    HMI_BRANCHES,       /* a product of two */
    HMI_SUM_OF_SQUARES, /* several linear forms */
    HMI_DISGUISED,      /* not quadratic, but one linear form (disguise.h) */
} hmi_quadratic_kind;

typedef struct hmi_quadratic {
    hmi_quadratic_kind kind;
    size_t first_row, rows; /* of the forms: linear rows that stand for it (branches: one branch) */
    hmi_form other;         /* branches: the one that does not hold at the initial state */
    bool both;              /* branches: the other one holds there, too */
    hmi_expr side;          /* a root was cleared: this must not be negative; else HMI_NONE */
    hmi_evidence evidence;
} hmi_quadratic;

/* Studies constraint k, nonlinear in the velocities; of two branches the one is taken that holds at
 * the initial state. The linear forms found and verified replace its
 * row in the forms (the first) and are appended (the others). */
hm_status hmi_study_quadratic(hmi_sampler *sampler, size_t k, const hmi_series_state *initial,
                              hmi_quadratic *result);

#endif
