/* The invariants of tapes (tape.h), executed: see base/verify.h.
 *
 * hmi_tape_verify looks at the tape alone: places in range, every operand written before it is read,
 * a prologue that depends on parameters and constants only, outputs written once.
 * hmi_tape_verify_values reads the instructions back as expressions of the graph and compares what
 * the outputs hold at the end with what was asked for. It therefore sees every wrong operation and
 * every place that is used again while its value is still needed.
 * Verified: test/unit/compile/test_verify.c
 */
#ifndef HMI_COMPILE_TAPE_VERIFY_H
#define HMI_COMPILE_TAPE_VERIFY_H

#include "base/hash.h"
#include "base/verify.h"
#include "compile/tape/tape.h"

const char *hmi_tape_verify(const hmi_tape *tape, hmi_violation *violation);
const char *hmi_tape_verify_values(const hmi_tape *tape, const hmi_graph *graph,
                                   const hmi_expr *outputs, size_t count, hmi_violation *violation);

/* How many of the operands a, b, c an instruction of tapes or array code reads; -1: there is no such
 * operation. */
int hmi_tape_op_arity(uint32_t op);

/* ---- instructions read back as expressions (replay.c); array code uses it too ---- */

/* Memory comes from the default allocator: tests that let allocations fail must not meet those of a
 * verifier. */
typedef struct hmi_replay {
    hm_allocator allocator;
    const hmi_graph *graph;
    hmi_walk walk;  /* what the outputs reach, in the order in which tapes are built */
    hmi_hash filed; /* the same by operation and operands */
    hmi_expr *at;   /* by place of the work vector: what it holds; HMI_NONE: nothing known */
    size_t places;
} hmi_replay;

/* False: no memory, and nothing can be verified. Release also then. */
bool hmi_replay_init(hmi_replay *replay, const hmi_graph *graph, const hmi_expr *outputs,
                     size_t count, size_t places);
void hmi_replay_release(hmi_replay *replay);
/* The places of inputs hold symbols. */
void hmi_replay_inputs(hmi_replay *replay, const hmi_tape_input *inputs, size_t count);
/* The expression that an operation of a tape has at operands; HMI_NONE: the outputs have no such. */
hmi_expr hmi_replay_value(const hmi_replay *replay, uint32_t op, hmi_expr a, hmi_expr b,
                          hmi_expr c);

#endif
