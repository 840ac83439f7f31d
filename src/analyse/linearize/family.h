/* Families of states at rest: how many of the zero eigenvalues belong to moving along one.
 *
 * Directions in the kernel of the matrix are tried: a finite step there and back, corrected by the
 * search, has to lead to other states at rest. "At rest" means as far as rounding can tell, measured
 * by the terms that cancel (hmi_reduction_noise): x^7 is small near 0 and not zero. Where several
 * directions pass, sums of them have to pass too: x y = 0 has two lines of rest, and no plane.
 * Verified: test/physics/test_verdicts.c, test/physics/test_linearize.c
 */
#ifndef HMI_ANALYSE_LINEARIZE_FAMILY_H
#define HMI_ANALYSE_LINEARIZE_FAMILY_H

#include "analyse/linearize/reduce.h"

/* Steps from one state at rest, in some of the variables. */
typedef struct hmi_family_walk {
    double t;
    const double *from; /* size: the state, */
    const double *rate; /* size: and what is left of its rates */
    double *x;          /* size: where a step leads */
    const size_t *variable;
    size_t count; /* variables */
    /* Searches from x near it; true where x is at rest by the search's own tolerance. */
    hm_status (*search)(void *user, double t, double *x, bool *found);
    /* The reduction at x and the rate of variable k there. */
    double (*rate_at)(void *user, size_t k);
    const hmi_reduction *r;
    void *user;
} hmi_family_walk;

/* kernel: directions, one per row of `count` entries, orthonormal. HM_ERR_NOMEM. */
HM_MUST_CHECK hm_status hmi_family_count(const hmi_family_walk *walk, const double *kernel,
                                         size_t directions, size_t *dimension);

#endif
