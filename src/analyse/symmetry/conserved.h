/* First integrals found without a hint: combinations with constant coefficients of
 *
 *     p_i,  q_j p_i,  f p_i,  f q'_i     f: functions of q that occur in A and M
 *     momenta and angular momenta of the bodies, each in the sum
 *     the energy  q' dL/dq' - L
 *
 * whose rate along the motion is zero at random states on the constraint manifold (states.h). The
 * condition is linear in the coefficients. What is constant because of the constraints alone, or
 * follows from integrals found before, is left out.        Verified: test/cases/test_symmetry.c
 */
#ifndef HMI_ANALYSE_SYMMETRY_CONSERVED_H
#define HMI_ANALYSE_SYMMETRY_CONSERVED_H

#include "analyse/symmetry/generators.h"

/* One quantity of which combinations are made. */
typedef enum hmi_candidate_kind {
    HMI_MOMENTUM, /* f p_i */
    HMI_VELOCITY, /* f q'_i */
    HMI_BODIES,   /* a momentum of the bodies */
    HMI_ENERGY
} hmi_candidate_kind;

typedef struct hmi_candidate {
    hmi_candidate_kind kind;
    hmi_expr value;
    hmi_expr factor;  /* f; HMI_NONE for bodies and energy */
    uint32_t i;       /* coordinate; bodies: 0 1 2 momentum, 3 4 5 angular momentum */
    uint32_t clutter; /* how hard it is to read */
} hmi_candidate;

typedef struct hmi_first_integral {
    hmi_expr value, size; /* and how large the parts of it are */
    const char *from;
    const char *where; /* it holds where this is true; NULL: on every side looked at */
    bool has_energy;
    bool exact;   /* its factors are simple ratios, not rounded numbers */
    bool checked; /* along a run */
    double drift; /* on it, relative to the size */
} hmi_first_integral;

typedef struct hmi_conserved {
    hmi_generators *generators;
    hmi_sampler *sampler;
    hmi_forms *forms;
    hmi_arena arena;
    HMI_ARRAY(hmi_candidate) candidates;
    HMI_ARRAY(hmi_first_integral) list;
    size_t states;    /* random states used */
    slong bits;       /* of the arithmetic there */
    slong zero_bits;  /* what is called zero is zero to so many bits, relatively */
    double tolerance; /* log2 of what is zero */
    bool inexact;
} hmi_conserved;

hm_status hmi_conserved_init(hmi_conserved *integrals, hmi_generators *generators);
void hmi_conserved_release(hmi_conserved *integrals);
/* candidates.c: fills in the candidates. */
hm_status hmi_conserved_gather(hmi_conserved *integrals);
/* Fills in the list. HM_ERR_NUMERIC: no states were found. */
hm_status hmi_conserved_find(hmi_conserved *integrals);
/* |F| + sum |dF/dq'_i q'_i|: how large the parts of F are. */
hmi_expr hmi_conserved_size(hmi_conserved *integrals, hmi_expr value);
/* trivial_integrals.c: drops what the constraints alone make zero near the state of the sim, which
 * must be consistent and is not changed. */
hm_status hmi_conserved_drop_trivial(hmi_conserved *integrals, hm_sim *sim);

#endif
