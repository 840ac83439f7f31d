/* Functions of four values that machine code calls (four_calls.c). Their vectors are in registers only where
 * the file that calls them is compiled for AVX2, so that C code uses their addresses and no more. */
#ifndef HMI_COMPILE_JIT_FOUR_CALLS_H
#define HMI_COMPILE_JIT_FOUR_CALLS_H

#if defined(__x86_64__)
#include <immintrin.h>

__m256d hmi_floor_four(__m256d x);
__m256d hmi_ceil_four(__m256d x);
__m256d hmi_table_value_four(__m256d x, __m256d view);
__m256d hmi_table_lookup_four(__m256d place, __m256d view);
__m256d hmi_table_value2_four(__m256d x, __m256d y, __m256d view);
__m256d hmi_table_lookup2_four(__m256d place, __m256d second, __m256d view);
#endif

#endif
