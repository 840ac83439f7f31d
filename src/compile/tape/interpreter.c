/* The portable engine: one loop over the instructions. */
#include "compile/tape/tape.h"
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
        if (from)
            memcpy(work + input->slot, from + input->first, input->count * sizeof *work);
        else
            memset(work + input->slot, 0, input->count * sizeof *work);
    }
}

/* Labels as values make the branch predictor see each instruction's successor by itself; they are a
 * GNU extension, so a plain switch stands by for other compilers. */
#if defined(__GNUC__) && !defined(HMI_TAPE_SWITCH)
#define DISPATCH_BY_LABEL 1
#endif

#define W(i) work[i]

#ifdef DISPATCH_BY_LABEL
#define CASE(label) label
#define NEXT                                                                                       \
    do {                                                                                           \
        ip++;                                                                                      \
        __extension__({ goto *labels[ip->op]; });                                                  \
    } while (0)
#else
#define CASE(label) case label
#define NEXT                                                                                       \
    ip++;                                                                                          \
    break
#endif

static void run(const hmi_instruction *ip, double *restrict work)
{
#ifdef DISPATCH_BY_LABEL
    __extension__ static const void *const labels[] = {
        [HMI_TAPE_STOP] = &&L_STOP,       [HMI_TAPE_COPY] = &&L_COPY,
        [HMI_TAPE_SINCOS] = &&L_SINCOS,   [HMI_TAPE_SQUARE] = &&L_SQUARE,
        [HMI_TAPE_CUBE] = &&L_CUBE,       [HMI_TAPE_MUL_ADD] = &&L_MUL_ADD,
        [HMI_TAPE_MUL_SUB] = &&L_MUL_SUB, [HMI_TAPE_SUB_MUL] = &&L_SUB_MUL,
#define OP(name, arity, text, value, ddx, ddy) [HMI_TAPE_FIRST_OF_TABLE + HMI_##name] = &&L_##name,
#include "expr/graph/ops.def"
#undef OP
    };
    __extension__({ goto *labels[ip->op]; });
L_STOP:
    return;
L_COPY:
    W(ip->dst) = W(ip->a);
    NEXT;
L_SINCOS : {
    hmi_sincos both = hmi_math_sincos(W(ip->a));
    W(ip->dst) = both.sine;
    W(ip->b) = both.cosine;
    NEXT;
}
L_SQUARE:
    W(ip->dst) = W(ip->a) * W(ip->a);
    NEXT;
L_CUBE:
    W(ip->dst) = W(ip->a) * (W(ip->a) * W(ip->a));
    NEXT;
L_MUL_ADD:
    W(ip->dst) = W(ip->a) * W(ip->b) + W(ip->c);
    NEXT;
L_MUL_SUB:
    W(ip->dst) = W(ip->a) * W(ip->b) - W(ip->c);
    NEXT;
L_SUB_MUL:
    W(ip->dst) = W(ip->c) - W(ip->a) * W(ip->b);
    NEXT;
#define OP(name, arity, text, value, ddx, ddy)                                                     \
    L_##name:                                                                                      \
    {                                                                                              \
        const double x = W(ip->a), y = W(ip->b), z = W(ip->c);                                     \
        (void)y;                                                                                   \
        (void)z;                                                                                   \
        W(ip->dst) = value;                                                                        \
        NEXT;                                                                                      \
    }
#include "expr/graph/ops.def"
#undef OP
#else
    for (;; ip++) {
        const double x = W(ip->a), y = W(ip->b), z = W(ip->c);
        switch (ip->op) {
        case HMI_TAPE_STOP:
            return;
        case HMI_TAPE_COPY:
            W(ip->dst) = x;
            break;
        case HMI_TAPE_SINCOS:
            W(ip->dst) = hmi_math_sincos(x).sine;
            W(ip->b) = hmi_math_sincos(x).cosine;
            break;
        case HMI_TAPE_SQUARE:
            W(ip->dst) = x * x;
            break;
        case HMI_TAPE_CUBE:
            W(ip->dst) = x * (x * x);
            break;
        case HMI_TAPE_MUL_ADD:
            W(ip->dst) = x * y + z;
            break;
        case HMI_TAPE_MUL_SUB:
            W(ip->dst) = x * y - z;
            break;
        case HMI_TAPE_SUB_MUL:
            W(ip->dst) = z - x * y;
            break;
#define OP(name, arity, text, value, ddx, ddy)                                                     \
    case HMI_TAPE_FIRST_OF_TABLE + HMI_##name:                                                     \
        W(ip->dst) = value;                                                                        \
        break;
#include "expr/graph/ops.def"
#undef OP
        }
    }
#endif
}

void hmi_tape_prepare(const hmi_tape *tape, const hmi_tape_values *values, double *work)
{
    if (tape->constants.count)
        memcpy(work, tape->constants.data, tape->constants.count * sizeof *work);
    if (tape->output_count) /* those that are no expression stay 0 */
        memset(work + tape->output_slot, 0, tape->output_count * sizeof *work);
    load_inputs(tape, 0, tape->param_inputs, values, work);
    run(tape->prologue.data, work);
}

void hmi_tape_interpret(const hmi_tape *tape, const hmi_tape_values *values, double *work)
{
    load_inputs(tape, tape->param_inputs, tape->inputs.count, values, work);
    run(tape->body.data, work);
}
