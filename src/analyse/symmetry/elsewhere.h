/* What was found near the initial state, tried elsewhere.
 *
 * Statements are found at states near the initial one. Where functions are not smooth (analyse/sides) they
 * are tried at states on the other side of each. A statement that fails on a side that the run of the
 * model comes to is dropped; one that fails, or cannot be tried, on a side that only a search has found
 * holds on a part of the domain, and says on which. Where numbers are known to double precision only, a
 * combination that is conserved nearly and only nearby could pass for a first integral: such ones are
 * tried farther away.
 * Verified: test/cases/test_sides.c
 */
#ifndef HMI_ANALYSE_SYMMETRY_ELSEWHERE_H
#define HMI_ANALYSE_SYMMETRY_ELSEWHERE_H

#include "analyse/sides/sides.h"
#include "analyse/symmetry/conserved.h"

/* Drops what fails, and fills in `where` of what holds on a part only. start: t, q, v of the initial
 * state. Moves the sampler. */
hm_status hmi_try_elsewhere(hmi_conserved *integrals, const hmi_sides *sides, const double *start,
                            hmi_arena *arena);

#endif
