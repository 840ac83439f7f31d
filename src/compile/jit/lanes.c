/* Four lanes without machine code: every instruction of the tape is a loop over the lanes. */
#include "compile/jit/lanes.h"

#include "compile/jit/jit.h"
#include "expr/graph/math.h"
#include "expr/graph/table.h"

#include <math.h>
#include <string.h>

static void load_inputs(const hmi_tape *tape, size_t first, size_t end,
                        const hmi_tape_values *values, double *work)
{
    for (size_t i = first; i < end; i++) {
        const hmi_tape_input *input = &tape->inputs.data[i];
        const double *from = values->by_kind[input->kind];
        double *to = work + HMI_LANES * (size_t)input->slot;
        size_t bytes = HMI_LANES * (size_t)input->count * sizeof *work;
        if (from)
            memcpy(to, from + HMI_LANES * (size_t)input->first, bytes);
        else
            memset(to, 0, bytes);
    }
}

#define LANE(slot) work[HMI_LANES * (size_t)(slot) + lane]
#define EACH       for (int lane = 0; lane < HMI_LANES; lane++)

static void sines(const hmi_instruction *ip, double *work)
{
    EACH
    {
        hmi_sincos both = hmi_math_sincos(LANE(ip->a));
        LANE(ip->dst) = both.sine;
        LANE(ip->b) = both.cosine;
    }
}

static void run(const hmi_instruction *ip, double *work)
{
    for (;; ip++)
        switch (ip->op) {
        case HMI_TAPE_STOP:
            return;
        case HMI_TAPE_COPY:
            EACH LANE(ip->dst) = LANE(ip->a);
            break;
        case HMI_TAPE_SINCOS:
            sines(ip, work);
            break;
        case HMI_TAPE_SQUARE:
            EACH LANE(ip->dst) = LANE(ip->a) * LANE(ip->a);
            break;
        case HMI_TAPE_CUBE:
            EACH LANE(ip->dst) = LANE(ip->a) * (LANE(ip->a) * LANE(ip->a));
            break;
        case HMI_TAPE_MUL_ADD:
            EACH LANE(ip->dst) = LANE(ip->a) * LANE(ip->b) + LANE(ip->c);
            break;
        case HMI_TAPE_MUL_SUB:
            EACH LANE(ip->dst) = LANE(ip->a) * LANE(ip->b) - LANE(ip->c);
            break;
        case HMI_TAPE_SUB_MUL:
            EACH LANE(ip->dst) = LANE(ip->c) - LANE(ip->a) * LANE(ip->b);
            break;
#define OP(name, arity, text, value, ddx, ddy)                                                     \
    case HMI_TAPE_FIRST_OF_TABLE + HMI_##name:                                                     \
        EACH                                                                                       \
        {                                                                                          \
            const double x = LANE(ip->a), y = LANE(ip->b), z = LANE(ip->c);                        \
            (void)y;                                                                               \
            (void)z;                                                                               \
            LANE(ip->dst) = value;                                                                 \
        }                                                                                          \
        break;
#include "expr/graph/ops.def"
#include "compile/tape/machine_code.h"
#undef OP
        }
}

void hmi_tape_interpret_lanes(const hmi_tape *tape, const hmi_tape_values *values, double *work)
{
    load_inputs(tape, tape->param_inputs, tape->inputs.count, values, work);
    run(tape->body.data, work);
}

void hmi_tape_prepare_lanes(const hmi_tape_lanes *lanes, const hmi_tape_values *values,
                            double *work)
{
    const hmi_tape *tape = lanes->tape;
    for (size_t slot = 0; slot < tape->constants.count; slot++)
        EACH LANE(slot) = tape->constants.data[slot];
    for (size_t k = 0; k < tape->output_count; k++)
        EACH LANE(tape->output_slot + k) = 0;
    load_inputs(tape, 0, tape->param_inputs, values, work);
    run(tape->prologue.data, work);
}

hm_status hmi_tape_lanes_init(hmi_tape_lanes *lanes, const hmi_tape *tape)
{
    *lanes = (hmi_tape_lanes){.tape = tape, .run = hmi_tape_interpret_lanes};
    hm_status status = HM_OK;
    if (tape->code.entry)
        status = hmi_jit_compile(tape, HMI_LANES, hmi_tape_interpret_lanes, &lanes->code);
    if (lanes->code.entry)
        lanes->run = lanes->code.entry;
    lanes->work_size = HMI_LANES * tape->work_size + lanes->code.spill_doubles;
    return status;
}

void hmi_tape_lanes_release(hmi_tape_lanes *lanes)
{
    hmi_machine_code_release(&lanes->code);
}
