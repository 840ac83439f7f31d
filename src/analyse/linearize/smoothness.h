/* Has the motion a derivative at a state? abs, sign, min, max, comparisons, roots and the like have
 * none where their argument vanishes, and a matrix found there by their rules describes nothing.
 *
 * First the expressions are looked at: is some such argument zero, within what rounding and the error
 * of the state can do to it? Where one is, the rates and their derivatives are evaluated at states
 * around, nearer and nearer: they come to those of the state itself (as for x*abs(x)), or not.
 * Verified: test/physics/test_verdicts.c
 */
#ifndef HMI_ANALYSE_LINEARIZE_SMOOTHNESS_H
#define HMI_ANALYSE_LINEARIZE_SMOOTHNESS_H

#include "analyse/linearize/reduce.h"

/* What is not smooth at the state of r, as text in the arena ("abs(x) is 0"), NULL: nothing. spread:
 * size, how far the state may be from the one that is meant. probe: another reduction of the same
 * sim, used as scratch. */
HM_MUST_CHECK hm_status hmi_find_kink(const hmi_reduction *r, hmi_reduction *probe,
                                      const double *spread, hmi_arena *arena, const char **kink);

/* Does some function switch along a motion: between branches that depend on the state, where the state
 * moves, or on the state and t together? */
HM_MUST_CHECK hm_status hmi_may_switch(const hm_sim *sim, bool state_moves, bool *may);

#endif
