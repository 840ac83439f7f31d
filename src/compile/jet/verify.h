/* The invariants of jets (jet.h), executed: see base/verify.h.
 * Verified: test/unit/compile/test_verify.c
 */
#ifndef HMI_COMPILE_JET_VERIFY_H
#define HMI_COMPILE_JET_VERIFY_H

#include "base/verify.h"
#include "compile/jet/jet.h"

/* Order 0: every row is written by one instruction, after its operands, and is marked constant where
 * nothing in it moves. */
const char *hmi_jet_verify(const hmi_jet *jet, hmi_violation *violation);
/* Segments that run one after the other at every order above 0: a coefficient is written before it is
 * read, and every inner sum is that of the rows which the instruction convolves. */
const char *hmi_jet_segments_verify(const hmi_jet *jet, const hmi_jet_segment *segments,
                                    size_t count, hmi_violation *violation);
/* Of a sealed jet: the rows and places that sums, links and given coefficients name. */
const char *hmi_jet_program_verify(const hmi_jet *jet, const hmi_jet_program *program,
                                   hmi_violation *violation);

#endif
