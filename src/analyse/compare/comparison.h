/* A comparison: the system, its wrong variant, a sim of each, and what was found at the last state. */
#ifndef HMI_ANALYSE_COMPARE_COMPARISON_H
#define HMI_ANALYSE_COMPARE_COMPARISON_H

#include <hamel/compare.h>

#include "analyse/compare/variant.h"
#include "dynamics/sim/sim.h"

typedef enum hmi_compare_kind { HMI_VAKONOMIC, HMI_CONFLATED } hmi_compare_kind;

struct hm_comparison {
    const hm_system *system;
    const hm_allocator *allocator;
    hm_context *context; /* of the variant */
    hmi_compare_kind kind;
    hmi_variant variant;
    hm_sim *correct, *other; /* for runs; for the other system */
    hmi_arena arena;
    size_t n, m, k;
    size_t *mu_row;  /* k */
    hmi_graph graph; /* of the tape of G */
    hmi_tape tape;
    double *tape_work;
    double *qdd, *lambda, *other_qdd, *other_lambda, *mu, *mudot, *G, *A, *difference, *scratch;
    hmi_text reason;
    hmi_arena run_arena; /* of the last run */
    hmi_text message;
};

/* G of Flannery (30) as a tape over the symbols of the system (rule.c). */
HM_MUST_CHECK hm_status hmi_compile_rule(hm_comparison *c);
/* G at the present state of a sim of the system, and how far it is outside the rows of A. */
HM_MUST_CHECK hm_status hmi_evaluate_rule(hm_comparison *c, const hm_sim *sim, hm_compared *out);
/* The reason in words, into c->reason (reason.c). readings: how far q'' of both readings of
 * L+ differ (conflated). */
void hmi_explain_comparison(hm_comparison *c, hm_compared *out, double readings, int free_rank);

/* Gives `to` the parameters, inputs and state of `from`, a sim of a related system; mu: the velocities
 * that only `to` has. */
void hmi_follow_sim(hm_sim *to, const hm_sim *from, const double *mu);

#endif
