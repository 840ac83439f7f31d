/* A model made from another by changing its Lagrangian or its constraints.
 *
 * It has a graph of its own, a copy of the derived one (so that handles of the model and of what was
 * derived from it stay valid), and borrows everything else that is not changed.
 */
#ifndef HMI_ANALYSE_COMPARE_VARIANT_H
#define HMI_ANALYSE_COMPARE_VARIANT_H

#include "compile/system/system.h"

typedef struct hmi_variant {
    hm_model model;
    const hm_system *base;
    hmi_expr equation; /* conflated: lhs - rhs; else HMI_NONE */
    hm_system *system; /* derived from `model` */
    hmi_coord *coords; /* arrays of its own, NULL where borrowed */
    size_t coord_count;
    hmi_pair *mass;
    size_t mass_count;
} hmi_variant;

/* Release also after failure. Starts as the same model, its energies joined in `lagrangian`, with
 * diagnostics in the context, which must outlive it. */
HM_MUST_CHECK hm_status hmi_variant_init(hmi_variant *v, const hm_system *base,
                                         hm_context *context);
void hmi_variant_release(hmi_variant *v);
/* Derives and compiles what the model now says. */
HM_MUST_CHECK hm_status hmi_variant_build(hmi_variant *v);

/* L + sum_k s_k' g_k over the rows of `used` (g: phi' or psi) with new coordinates s, no constraints
 * (vakonomic.c). */
HM_MUST_CHECK hm_status hmi_make_vakonomic(hmi_variant *v, const bool *used);
/* (1 - alpha) L + alpha L[lhs -> rhs], from "LHS = RHS@alpha" (conflated.c). */
HM_MUST_CHECK hm_status hmi_make_conflated(hmi_variant *v, const char *text);

/* e with every occurrence of `lhs` replaced by `rhs`, up to order, sign and a common factor; e
 * itself where there is none (rewrite.c). HMI_NONE without memory. */
hmi_expr hmi_rewrite(hmi_graph *graph, hmi_expr e, hmi_expr lhs, hmi_expr rhs);

#endif
