/* Functions of four values that are no functions of SLEEF: floor, ceil and tables of the model. Vectors are
 * passed as SLEEF's functions take them, in registers. This file is compiled for AVX2 as a whole
 * (CMakeLists.txt): an attribute on each function is not enough, since clang chooses how vectors are passed
 * by the options of the file. Nothing here runs on a processor without AVX2: machine code alone calls it. */
#include "compile/jit/four_calls.h"

#if defined(__x86_64__)
#include "expr/graph/table.h"

__m256d hmi_floor_four(__m256d x)
{
    return _mm256_floor_pd(x);
}

__m256d hmi_ceil_four(__m256d x)
{
    return _mm256_ceil_pd(x);
}

/* Lane by lane: each has a piece of its own. */
#define FOUR2(name, function)                                                                      \
    __m256d name(__m256d x, __m256d y)                                                             \
    {                                                                                              \
        double a[4], b[4];                                                                         \
        _mm256_storeu_pd(a, x);                                                                    \
        _mm256_storeu_pd(b, y);                                                                    \
        for (int k = 0; k < 4; k++)                                                                \
            a[k] = function(a[k], b[k]);                                                           \
        return _mm256_loadu_pd(a);                                                                 \
    }
#define FOUR3(name, function)                                                                      \
    __m256d name(__m256d x, __m256d y, __m256d z)                                                  \
    {                                                                                              \
        double a[4], b[4], c[4];                                                                   \
        _mm256_storeu_pd(a, x);                                                                    \
        _mm256_storeu_pd(b, y);                                                                    \
        _mm256_storeu_pd(c, z);                                                                    \
        for (int k = 0; k < 4; k++)                                                                \
            a[k] = function(a[k], b[k], c[k]);                                                     \
        return _mm256_loadu_pd(a);                                                                 \
    }

FOUR2(hmi_table_value_four, hmi_table_value)
FOUR2(hmi_table_lookup_four, hmi_table_lookup)
FOUR3(hmi_table_value2_four, hmi_table_value2)
FOUR3(hmi_table_lookup2_four, hmi_table_lookup2)
#endif
