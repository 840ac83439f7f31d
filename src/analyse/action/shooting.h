/* Multiple shooting for the vakonomic motion between two points (boundary.c). */
#ifndef HMI_ANALYSE_ACTION_SHOOTING_H
#define HMI_ANALYSE_ACTION_SHOOTING_H

#include "analyse/action/action.h"
#include "analyse/compare/comparison.h"

typedef struct hmi_shooting {
    hmi_action_job *job;
    hm_comparison *comparison;
    hm_sim *other;      /* of the vakonomic system: q, then integrals of mu */
    hm_run_options run; /* of a segment */
    hmi_arena arena;
    size_t n, k, dim; /* coordinates, multipliers, 2n + k */
    size_t segments;
    double *t;         /* segments + 1 */
    size_t unknowns;   /* (segments + 1) dim */
    double *y, *trial; /* unknowns: q, q', mu by point */
    double *scale;     /* dim */
    double *residual;  /* unknowns: of segments, both ends, g */
    double *step;      /* unknowns, in units of scale */
    double *J, *work;  /* of Newton's method */
    int *ints;
    double *end, *from, *to, *rows, *row_slopes;
    double violation; /* of the constraints, largest since it was set to 0 */
} hmi_shooting;

/* Release also after failure. The first guess is the path, moved to the end that is asked for. */
HM_MUST_CHECK hm_status hmi_shooting_init(hmi_shooting *x, hmi_action_job *job,
                                          const hmi_action_path *path);
void hmi_shooting_release(hmi_shooting *x);

/* All equations at y, and the largest misfit; infinite where a segment cannot be run. */
double hmi_shooting_misfit(hmi_shooting *x, const double *y, double *residual);
/* A step of Newton's method from y, whose residuals are in x->residual. */
HM_MUST_CHECK hm_status hmi_shooting_newton(hmi_shooting *x);
/* The vakonomic sim goes to t, later than before, along the motion of y; *segment: the one it is in. */
HM_MUST_CHECK hm_status hmi_shooting_follow(hmi_shooting *x, size_t *segment, double t);

#endif
