/* Tapes with machine code: what the other stages call. The emitter behind it is jit.h. */
#ifndef HMI_COMPILE_JIT_ASSEMBLE_H
#define HMI_COMPILE_JIT_ASSEMBLE_H

#include "compile/tape/tape.h"

/* Compiles outputs (HMI_NONE entries give 0), to machine code too unless graph->interpreted. Release
 * with hmi_tape_release, also after a failure. */
hm_status hmi_tape_compile(hmi_tape *tape, const hmi_graph *graph, const hmi_expr *outputs,
                           size_t count);
/* The second half of that, for tapes made by hmi_tape_build that may never run: machine code where
 * there can be any. Call it once, and before anyone takes memory of work_size. */
hm_status hmi_tape_assemble(hmi_tape *tape);

#endif
