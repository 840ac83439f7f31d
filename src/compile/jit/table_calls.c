/* What machine code calls that is no function of SLEEF: floor, ceil and tables of the model, of one value
 * and of four (four_calls.c). Only their addresses are used (call.c). */
#include "compile/jit/emit.h"
#include "compile/jit/four_calls.h"

#include "expr/graph/table.h"

#if defined(__x86_64__)
#include <math.h>

#define ADDRESS(function) (uint64_t)(uintptr_t)(function)

hmi_jit_function hmi_jit_own_function(hmi_op op)
{
    double (*const round_down)(double) = floor, (*const round_up)(double) = ceil;
    switch (op) {
    case HMI_FLOOR:
        return (hmi_jit_function){1, ADDRESS(round_down), ADDRESS(hmi_floor_four)};
    case HMI_CEIL:
        return (hmi_jit_function){1, ADDRESS(round_up), ADDRESS(hmi_ceil_four)};
    case HMI_TABLE:
        return (hmi_jit_function){2, ADDRESS(hmi_table_value), ADDRESS(hmi_table_value_four)};
    case HMI_LOOKUP:
        return (hmi_jit_function){2, ADDRESS(hmi_table_lookup), ADDRESS(hmi_table_lookup_four)};
    case HMI_TABLE2:
        return (hmi_jit_function){3, ADDRESS(hmi_table_value2), ADDRESS(hmi_table_value2_four)};
    default:
        return (hmi_jit_function){3, ADDRESS(hmi_table_lookup2), ADDRESS(hmi_table_lookup2_four)};
    }
}
#else
hmi_jit_function hmi_jit_own_function(hmi_op op)
{
    return (hmi_jit_function){hmi_op_arity(op), 0, 0};
}
#endif
