/* A motion at rest, followed in time: what is kept of y stays as it is, some coordinates move
 * uniformly, and the constraints, which t may move, take the dependent variables along.
 *
 * One state tells neither whether the kept variables stay at rest nor whether their matrix stays the
 * same; both are looked at further along the motion.
 */
#ifndef HMI_ANALYSE_LINEARIZE_REFERENCE_H
#define HMI_ANALYSE_LINEARIZE_REFERENCE_H

#include "analyse/linearize/equilibrium.h"

typedef struct hmi_reference {
    const hmi_reduction *base; /* at its beginning */
    const hmi_kept *kept;
    hmi_reduction probe; /* at the states that are looked at, dependent variables those of base */
    double *rate;        /* n: of coordinates that move uniformly; 0: the others */
    double *x;           /* size: scratch */
} hmi_reference;

/* `rest`: rates up to this are zero. base and kept stay as they are while the object lives. Release
 * also after failure. */
HM_MUST_CHECK hm_status hmi_reference_init(hmi_reference *ref, const hmi_reduction *base,
                                           const hmi_kept *kept, double rest);
void hmi_reference_release(hmi_reference *ref);

/* The state a time s after the beginning, into x. Statuses as hmi_reduction_restore. */
HM_MUST_CHECK hm_status hmi_reference_state(hmi_reference *ref, double s, double *x);

/* What was seen at some times after the beginning. */
typedef struct hmi_reference_look {
    double rate;    /* the largest of the kept variables */
    double motion;  /* the largest of the others */
    double *change; /* kept x kept: the largest differences of the matrix from the one at first */
    double *noise;  /* kept x kept: differences that the accuracy of the matrix explains */
    size_t kept;    /* how many there were when it was looked */
    bool changed;   /* some are larger */
    bool failed;    /* at some time there was nothing to see: the motion could not be followed */
} hmi_reference_look;

/* Looks at the time s after the beginning. HM_ERR_NOMEM. */
HM_MUST_CHECK hm_status hmi_reference_look_at(hmi_reference *ref, double s,
                                              hmi_reference_look *look);

#endif
