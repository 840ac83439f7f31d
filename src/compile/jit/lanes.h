/* A tape on four lanes: four states and four sets of parameters at once.
 *
 * Everything is interleaved: slot s of lane l is work[4 s + l], and symbol i of a kind is
 * values->by_kind[kind][4 i + l]. Each lane gets the bits that hmi_tape_run gives for its values
 * alone. Verified: test/unit/compile/test_engine.c.
 */
#ifndef HMI_COMPILE_JIT_LANES_H
#define HMI_COMPILE_JIT_LANES_H

#include "compile/tape/tape.h"

enum { HMI_LANES = 4 };

typedef struct hmi_tape_lanes {
    const hmi_tape *tape; /* lives longer */
    hmi_tape_function *run;
    hmi_machine_code code;
    size_t work_size; /* doubles, of all lanes */
} hmi_tape_lanes;

/* Machine code where the tape has it. Release also after a failure. */
hm_status hmi_tape_lanes_init(hmi_tape_lanes *lanes, const hmi_tape *tape);
void hmi_tape_lanes_release(hmi_tape_lanes *lanes);

/* As hmi_tape_prepare and hmi_tape_run. */
void hmi_tape_prepare_lanes(const hmi_tape_lanes *lanes, const hmi_tape_values *values,
                            double *work);
static inline void hmi_tape_run_lanes(const hmi_tape_lanes *lanes, const hmi_tape_values *values,
                                      double *work)
{
    lanes->run(lanes->tape, values, work);
}
/* Output k of lane l is at [4 k + l]. */
static inline const double *hmi_tape_lanes_outputs(const hmi_tape_lanes *lanes, const double *work)
{
    return work + HMI_LANES * lanes->tape->output_slot;
}

/* The portable engine of the body. */
void hmi_tape_interpret_lanes(const hmi_tape *tape, const hmi_tape_values *values, double *work);

#endif
