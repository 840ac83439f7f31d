/* The invariants of compiled solves, executed: see base/verify.h.
 * Verified: test/unit/compile/test_verify.c
 */
#ifndef HMI_COMPILE_SOLVE_VERIFY_H
#define HMI_COMPILE_SOLVE_VERIFY_H

#include "base/verify.h"
#include "compile/solve/block_schur.h"
#include "compile/solve/eliminate.h"

/* After hmi_eliminate: the order is a permutation, every pivot has an inverse, and column p of L is
 * occupied where row p was when its turn came. (Whether all fill is there cannot be said: an entry may
 * have cancelled exactly.) */
const char *hmi_elimination_verify(const hmi_elimination *e, const hmi_graph *g,
                                   hmi_violation *violation);
/* The order of G's rows is a permutation, its pattern a lower triangle by rows with ascending columns
 * and the diagonal last, and the outputs of the array code lie as the layout says. */
const char *hmi_block_schur_verify(const hmi_block_schur *s, hmi_violation *violation);

#endif
