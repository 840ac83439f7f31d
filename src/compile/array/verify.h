/* The invariants of array code (array.h), executed: see base/verify.h.
 *
 * hmi_array_code_verify looks at the code alone: places and lists in range, operands written before
 * they are read, the early part without late symbols, no output written twice.
 * hmi_array_code_verify_values reads it back as expressions, as hmi_tape_verify_values does with tapes.
 * Verified: test/unit/compile/test_verify.c
 */
#ifndef HMI_COMPILE_ARRAY_VERIFY_H
#define HMI_COMPILE_ARRAY_VERIFY_H

#include "base/verify.h"
#include "compile/array/array.h"

const char *hmi_array_code_verify(const hmi_array_code *code, hmi_violation *violation);
/* hoisted: what the prologue computes, in the order of its outputs. */
const char *hmi_array_code_verify_values(const hmi_array_code *code, const hmi_graph *graph,
                                         const hmi_expr *hoisted, const hmi_expr *outputs,
                                         size_t count, hmi_violation *violation);

#endif
