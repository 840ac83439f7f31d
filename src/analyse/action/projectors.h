/* The linearised constraints along a path, in coordinates y = D q with D the units of the path:
 *
 *     P   the orthogonal projector on A y = 0: virtual displacements;  P' its rate
 *     F   = -A^+ dg/dq:  every y with  y' = F y + P u  has  delta g = 0
 *     Psi with Psi' = -Psi F, Psi = 1 at the start, and Phi its inverse: y = Phi x turns that into x' = Psi P u
 */
#ifndef HMI_ANALYSE_ACTION_PROJECTORS_H
#define HMI_ANALYSE_ACTION_PROJECTORS_H

#include "analyse/action/action.h"

/* Arrays n x n by point. */
typedef struct hmi_projectors {
    hmi_arena arena;
    size_t n;
    double *P, *P_rate, *F, *B, *Phi; /* B = Psi P */
    int rank;                         /* of A */
    double rank_changes;              /* the time at which it is another; NaN: it never is */
} hmi_projectors;

/* Release also after failure. */
HM_MUST_CHECK hm_status hmi_projectors_init(hmi_projectors *x, const hmi_action_job *job,
                                            const hmi_action_path *path);
void hmi_projectors_release(hmi_projectors *x);

#endif
