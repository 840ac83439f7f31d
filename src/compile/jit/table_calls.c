/* What machine code calls that is no function of SLEEF: floor, ceil and tables of the model, of one value
 * and of four. Only their addresses are used (call.c); vectors are passed as SLEEF's functions take them. */
#include "compile/jit/emit.h"

#include "expr/graph/table.h"

#if defined(__x86_64__)
#include <immintrin.h>
#include <math.h>

#define WIDE __attribute__((target("avx2")))

WIDE static __m256d floor_four(__m256d x)
{
    return _mm256_floor_pd(x);
}

WIDE static __m256d ceil_four(__m256d x)
{
    return _mm256_ceil_pd(x);
}

/* Lane by lane: each has a piece of its own. */
#define FOUR2(name, function)                                                                      \
    WIDE static __m256d name(__m256d x, __m256d y)                                                 \
    {                                                                                              \
        double a[4], b[4];                                                                         \
        _mm256_storeu_pd(a, x);                                                                    \
        _mm256_storeu_pd(b, y);                                                                    \
        for (int k = 0; k < 4; k++)                                                                \
            a[k] = function(a[k], b[k]);                                                           \
        return _mm256_loadu_pd(a);                                                                 \
    }
#define FOUR3(name, function)                                                                      \
    WIDE static __m256d name(__m256d x, __m256d y, __m256d z)                                      \
    {                                                                                              \
        double a[4], b[4], c[4];                                                                   \
        _mm256_storeu_pd(a, x);                                                                    \
        _mm256_storeu_pd(b, y);                                                                    \
        _mm256_storeu_pd(c, z);                                                                    \
        for (int k = 0; k < 4; k++)                                                                \
            a[k] = function(a[k], b[k], c[k]);                                                     \
        return _mm256_loadu_pd(a);                                                                 \
    }

FOUR2(value_four, hmi_table_value)
FOUR2(lookup_four, hmi_table_lookup)
FOUR3(value2_four, hmi_table_value2)
FOUR3(lookup2_four, hmi_table_lookup2)

#define ADDRESS(function) (uint64_t)(uintptr_t)(function)

hmi_jit_function hmi_jit_own_function(hmi_op op)
{
    double (*const round_down)(double) = floor, (*const round_up)(double) = ceil;
    switch (op) {
    case HMI_FLOOR:
        return (hmi_jit_function){1, ADDRESS(round_down), ADDRESS(floor_four)};
    case HMI_CEIL:
        return (hmi_jit_function){1, ADDRESS(round_up), ADDRESS(ceil_four)};
    case HMI_TABLE:
        return (hmi_jit_function){2, ADDRESS(hmi_table_value), ADDRESS(value_four)};
    case HMI_LOOKUP:
        return (hmi_jit_function){2, ADDRESS(hmi_table_lookup), ADDRESS(lookup_four)};
    case HMI_TABLE2:
        return (hmi_jit_function){3, ADDRESS(hmi_table_value2), ADDRESS(value2_four)};
    default:
        return (hmi_jit_function){3, ADDRESS(hmi_table_lookup2), ADDRESS(lookup2_four)};
    }
}
#else
hmi_jit_function hmi_jit_own_function(hmi_op op)
{
    return (hmi_jit_function){hmi_op_arity(op), 0, 0};
}
#endif
