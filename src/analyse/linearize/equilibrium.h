/* Equilibria and steady motions: which variables count, and Newton's method on those that do.
 *
 * A coordinate that no kept variable's rate depends on is ignorable: it may move while the rest stays
 * constant. The choice is made one coordinate after another, since once x and y of a rolling
 * body are left out, its heading can be left out, too.
 *
 * The search solves y' = 0 for the kept variables by Gauss-Newton with steps of minimum norm (there
 * may be a family of solutions), halved while rates grow, and puts the dependent variables back on
 * the constraints after every step. What is held (hmi_reduction.held) does not move.
 * Verified: test/physics/test_linearize.c
 */
#ifndef HMI_ANALYSE_LINEARIZE_EQUILIBRIUM_H
#define HMI_ANALYSE_LINEARIZE_EQUILIBRIUM_H

#include "analyse/linearize/reduce.h"

/* Positions within y of a reduction. */
typedef struct hmi_kept {
    size_t count;
    size_t *index;
} hmi_kept;

/* Fills in which of y are kept: all, or all but ignorable coordinates. index has room for
 * r->size. */
void hmi_choose_kept(const hmi_reduction *r, bool drop, hmi_kept *kept);
/* The largest rate of the kept variables. */
double hmi_kept_rate(const hmi_reduction *r, const hmi_kept *kept);
/* The matrix over the kept variables, kept->count squared. */
void hmi_kept_matrix(const hmi_reduction *r, const hmi_kept *kept, double *A);

typedef struct hmi_search {
    bool drop;        /* ignorable coordinates may move */
    bool relax;       /* roll downhill where Newton's method fails; not for steady motions */
    double tolerance; /* rates up to this are zero */
    int most;         /* iterations */
    int iterations;   /* taken */
} hmi_search;

/* From the state x at time t; x becomes the result, and r is that of it.
 * HM_ERR_NUMERIC: rates do not fall below the tolerance. */
HM_MUST_CHECK hm_status hmi_find_rest(hmi_reduction *r, hmi_kept *kept, hmi_search *search,
                                      double t, double *x);

/* The dimension of the family of states at rest through that of r (family.h). */
HM_MUST_CHECK hm_status hmi_family_dimension(hmi_reduction *r, hmi_kept *kept, bool drop,
                                             size_t *dimension);

/* How far, about, the state of r is from the one at rest that it stands for: a Newton step, all but
 * its `family` worst determined directions. dx: all variables. */
HM_MUST_CHECK hm_status hmi_rest_error(const hmi_reduction *r, const hmi_kept *kept, size_t family,
                                       double *dx);

#endif
