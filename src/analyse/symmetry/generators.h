/* Generators xi(q, t) of point transformations q -> q + eps xi, and what nonholonomic mechanics asks
 * of them.
 *
 *     J = p xi,    dJ/dt = xi^(1) L + (F + C) xi + lambda A xi            (the momentum equation)
 *
 * with xi^(1) L = xi dL/dq + xi' dL/dq', F the impressed forces, C the non-ideal ones. Where xi is
 * horizontal (A xi = 0: a virtual displacement), L unchanged and no force works along xi, J is
 * conserved; that the distribution be invariant is not needed.     [errata 4.2; Bloch et al. 1996]
 * Verified: test/cases/test_symmetry.c
 */
#ifndef HMI_ANALYSE_SYMMETRY_GENERATORS_H
#define HMI_ANALYSE_SYMMETRY_GENERATORS_H

#include "analyse/symmetry/states.h"

#include <hamel/symmetry.h>

typedef struct hmi_generator {
    const char *name;
    bool discovered;
    hmi_expr *xi;      /* n */
    hmi_expr momentum; /* J */
    hmi_expr change;   /* xi^(1) L */
    hmi_expr work;     /* (F + C) xi */
    hmi_expr *across;  /* m: (A xi)_k */
    hm_answer lagrangian, distribution, horizontal, workless, conserved;
    bool *crosses;     /* m: (A xi)_k is not zero */
    const char *where; /* the answers hold where this is true; NULL: on every side looked at */
} hmi_generator;

typedef struct hmi_generators {
    hmi_sampler *sampler;
    hmi_forms *forms;
    hmi_arena arena;
    HMI_ARRAY(hmi_generator) list;
    bool inexact; /* some coefficient is a rounded number */
} hmi_generators;

enum {
    HMI_STATES = 4,           /* random states for a statement */
    HMI_STATE_BITS = 192,     /* at so many bits */
    HMI_MOST_GENERATORS = 24, /* discovered ones */
};

hm_status hmi_generators_init(hmi_generators *g, hmi_sampler *sampler);
void hmi_generators_release(hmi_generators *g);
/* Those of the model's `symmetry` statements. */
hm_status hmi_generators_given(hmi_generators *g);
/* Affine ones that leave L unchanged wherever it is defined: xi_i = c_i + sum c_ij q_j. */
hm_status hmi_generators_discover(hmi_generators *g);
/* xi in memory of the generators, n components: fills in momentum, change, work, across. */
hm_status hmi_generator_complete(hmi_generators *g, hmi_generator *generator);
/* Removes discovered ones that are not symmetries of the constrained system (neither conserved nor
 * leaving the constraints as they are) or that the model states itself. */
void hmi_generators_sift(hmi_generators *g);
/* Answers every question about the generators of the list. */
hm_status hmi_generators_judge(hmi_generators *g, hmi_generator *list, size_t count);
/* Is q_j xi_i tried as a part of affine generators? */
bool hmi_affine_pair(size_t n, size_t i, size_t j);

#endif
