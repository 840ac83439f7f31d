/* One linearisation at work: what the files that settle, judge and report share.
 *
 * search.c finds the state, settle.c says what kind of state it is, judge.c what the matrix and the
 * multipliers say about stability, linearize.c puts the result together.
 */
#ifndef HMI_ANALYSE_LINEARIZE_JOB_H
#define HMI_ANALYSE_LINEARIZE_JOB_H

#include "analyse/linearize/explicit_time.h"
#include "analyse/linearize/floquet.h"
#include "analyse/linearize/ports.h"
#include "analyse/linearize/relative_equilibrium.h"
#include "analyse/linearize/spectrum.h"

#include <hamel/linearize.h>

/* The public part with its memory. */
typedef struct hmi_linearization {
    hm_linearization face;
    const hm_system *system; /* shared: its allocator is used */
    const hm_allocator *allocator;
    hmi_arena arena;
} hmi_linearization;

typedef struct hmi_job {
    hm_sim *sim;
    const hm_linearize_options *options;
    hmi_linearization *out;
    hmi_reduction r;     /* at the state */
    hmi_reduction probe; /* at others */
    double t, *x;        /* the state that is linearised, or where a search is */
    hmi_kept kept;
    hmi_search search;
    bool drop; /* ignorable coordinates are left out of y */
    hmi_relative_equilibrium relative;
    hmi_reference reference;
    hmi_time_use use;
    hmi_reference_look look; /* along the motion at rest */
    bool at_instant;         /* it is at rest at t, and not later */
    bool constant;           /* the matrix is the same all along it */
    hmi_floquet floquet;
    hmi_ports ports;
    const char *no_multipliers; /* why there are none where the matrix is not constant */
} hmi_job;

/* search.c: the state that was asked for, into j->x; j->r is that of it. */
HM_MUST_CHECK hm_status hmi_job_search(hmi_job *j);

/* settle.c: equilibrium, steady motion, relative equilibrium, periodic motion or none of them; what y
 * is, and how the matrix changes along the motion. */
HM_MUST_CHECK hm_status hmi_job_settle(hmi_job *j);
/* The period of the equations at fixed states, or the one that is given; 0: none. */
HM_MUST_CHECK hm_status hmi_period_of_motions(hmi_job *j, double *period);

/* judge.c: A, eigenvalues, multipliers with their errors, and the verdict. */
HM_MUST_CHECK hm_status hmi_job_judge(hmi_job *j);

#endif
