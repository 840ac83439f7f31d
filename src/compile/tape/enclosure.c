/* The interpreter of tapes on intervals. */
#include "compile/tape/enclosure.h"

void hmi_tape_enclose_prepare(const hmi_tape *tape, const double *numbers, hmi_enclosure *work)
{
    for (size_t i = 0; i < tape->work_size; i++)
        work[i] = (hmi_enclosure){{numbers[i], numbers[i]}, {0, 0}};
}

static void load_inputs(const hmi_tape *tape, hmi_enclose_symbol *symbol, const void *path,
                        hmi_enclosure *work)
{
    for (size_t i = tape->param_inputs; i < tape->inputs.count; i++) {
        const hmi_tape_input *input = &tape->inputs.data[i];
        for (uint32_t k = 0; k < input->count; k++)
            work[input->slot + k] = symbol(path, input->kind, input->first + k);
    }
}

static hmi_enclosure square(hmi_enclosure x)
{
    hmi_interval both = hmi_interval_mul(x.value, x.rate);
    return (hmi_enclosure){hmi_interval_square(x.value), hmi_interval_add(both, both)};
}

static hmi_enclosure cube(hmi_enclosure x)
{
    const hmi_enclosure three = {{3, 3}, {0, 0}};
    return hmi_enclose_op(HMI_POWI, x, three, three);
}

static void execute(const hmi_instruction *i, hmi_enclosure *work)
{
    hmi_enclosure x = work[i->a], y = work[i->b], z = work[i->c];
    switch (i->op) {
    case HMI_TAPE_COPY:
        work[i->dst] = x;
        break;
    case HMI_TAPE_SINCOS:
        hmi_enclose_sincos(x, &work[i->dst], &work[i->b]);
        break;
    case HMI_TAPE_SQUARE:
        work[i->dst] = square(x);
        break;
    case HMI_TAPE_CUBE:
        work[i->dst] = cube(x);
        break;
    case HMI_TAPE_MUL_ADD:
        work[i->dst] = hmi_enclose_op(HMI_ADD, hmi_enclose_op(HMI_MUL, x, y, z), z, z);
        break;
    case HMI_TAPE_MUL_SUB:
        work[i->dst] = hmi_enclose_op(HMI_SUB, hmi_enclose_op(HMI_MUL, x, y, z), z, z);
        break;
    case HMI_TAPE_SUB_MUL:
        work[i->dst] = hmi_enclose_op(HMI_SUB, z, hmi_enclose_op(HMI_MUL, x, y, z), z);
        break;
    default:
        work[i->dst] = hmi_enclose_op((int)(i->op - HMI_TAPE_FIRST_OF_TABLE), x, y, z);
    }
}

void hmi_tape_enclose_body(const hmi_tape *tape, hmi_enclosure *work)
{
    for (const hmi_instruction *i = tape->body.data; i->op != HMI_TAPE_STOP; i++)
        execute(i, work);
}

void hmi_tape_enclose(const hmi_tape *tape, hmi_enclose_symbol *symbol, const void *path,
                      hmi_enclosure *work)
{
    load_inputs(tape, symbol, path, work);
    hmi_tape_enclose_body(tape, work);
}
