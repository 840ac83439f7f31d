/* The invariants of a program for the emitter (jit.h), executed: see base/verify.h. Every node has one
 * position, after those that make its operands; values are made once; live ranges are what the order
 * says.
 * Verified: test/unit/compile/test_verify.c
 */
#ifndef HMI_COMPILE_JIT_VERIFY_H
#define HMI_COMPILE_JIT_VERIFY_H

#include "base/verify.h"
#include "compile/jit/jit.h"

const char *hmi_jit_program_verify(const hmi_jit_program *program, hmi_violation *violation);

#endif
