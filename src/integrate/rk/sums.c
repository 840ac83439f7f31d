/* Sums over stages for the components of one run, compiled for every processor and for AVX2. */
#include "integrate/rk/sums.h"

#include "compile/jit/jit.h"
#include "compile/tape/machine_code.h"

#define HELPER static inline __attribute__((always_inline))
#define UNROLL _Pragma("GCC unroll 8")

typedef double four __attribute__((vector_size(32), aligned(8), may_alias));
#define block   four
#define BLOCK   4
#define NAME(x) x##_fours
#include "integrate/rk/sums.inc"
#undef block
#undef BLOCK
#undef NAME
#define block   double
#define BLOCK   1
#define NAME(x) x##_ones
#include "integrate/rk/sums.inc"

/* What is left over at the end is computed with some of those before, again. */
HELPER void add_all(const hmi_rk_terms *row, const double *K, size_t n, const double *y, double h,
                    double *out)
{
    const four step = {h, h, h, h};
    size_t i = 0;
#define ADD(many, at) add_fours(many, row, K + (at), n, y ? y + (at) : NULL, step, out + (at))
    for (; i + 8 <= n; i += 8)
        ADD(2, i);
    if (i < n && n >= 8 && n - i > 4)
        ADD(2, n - 8);
    else {
        if (i + 4 <= n) {
            ADD(1, i);
            i += 4;
        }
        if (i < n && n >= 4)
            ADD(1, n - 4);
        else
            for (; i < n; i++)
                add_ones(1, row, K + i, n, y ? y + i : NULL, h, out + i);
    }
#undef ADD
}

#define SUMS(name, TARGET)                                                                         \
    TARGET void name(const hmi_rk_terms *row, const double *K, size_t n, const double *y,          \
                     double h, double *restrict out)                                               \
    {                                                                                              \
        if (y)                                                                                     \
            add_all(row, K, n, y, h, out);                                                         \
        else                                                                                       \
            add_all(row, K, n, NULL, h, out);                                                      \
    }

SUMS(sums_portable, static)

#if defined(__x86_64__)
SUMS(sums_avx2, __attribute__((target("avx2"))) static)
#endif

hmi_rk_sums *hmi_rk_sums_here(void)
{
#if defined(__x86_64__)
    if (hmi_machine_code_available())
        return sums_avx2;
#endif
    return sums_portable;
}
