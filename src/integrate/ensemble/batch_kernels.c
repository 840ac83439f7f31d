/* Loops over four lanes, compiled for every processor and for AVX2: the texts are batch_steps.inc and
 * batch_watch.inc, and those of one run that they use. */
#include "integrate/ensemble/batch_kernels.h"

#include "compile/jit/jit.h"
#include "expr/graph/math.h"
#include "integrate/run/run.h"
#include "linalg/tolerances.h"

#include <math.h>
#if defined(__x86_64__)
#include <immintrin.h>
#endif

typedef double lanes __attribute__((vector_size(32), may_alias));
typedef int64_t bits __attribute__((vector_size(32), may_alias));

#define CAST(p)    ((const lanes *)(const void *)(p))
#define OUT(p)     ((lanes *)(void *)(p))
#define FOUR(four) (*(lanes *)(void *)(uintptr_t)(four).of)
#define BITS(four) (*(bits *)(void *)(uintptr_t)(four).of)
#define UNROLL     _Pragma("GCC unroll 8")
#define INLINE     static inline __attribute__((always_inline))

/* The texts of one run on four lanes: ode/width_one.h. A mask has all bits of a lane, or none. */
#define IS(comparison) ((bits)(comparison))
#define NOT(mask)      (~(mask))
#define ALL(x)         ((x) - (lanes){0})
#define KEEP(mask, a)  ((lanes)((mask) & (bits)(a)))
#define SIZE(x)        ((lanes)((bits)(x) & (INT64_MAX - (bits){0})))
#define block          lanes
#define BLOCK          HMI_LANES

#define TABLE(name)                                                                                \
    const hmi_batch_kernels hmi_batch_kernels_##name = {.begin = begin_##name,                     \
                                                        .load = load_##name,                       \
                                                        .rates = rates_##name,                     \
                                                        .stage = stage_##name,                     \
                                                        .finish = finish_##name,                   \
                                                        .count = count_##name,                     \
                                                        .errors = errors_##name,                   \
                                                        .enter = enter_##name,                     \
                                                        .residuals = residuals_##name,             \
                                                        .sizes = sizes_##name,                     \
                                                        .judge = judge_##name,                     \
                                                        .answers = answers_##name,                 \
                                                        .move = move_##name,                       \
                                                        .moved = moved_##name,                     \
                                                        .select = select_##name,                   \
                                                        .needy = needy_##name,                     \
                                                        .conclude = conclude_##name,               \
                                                        .watch = watch_##name,                     \
                                                        .relate = relate_##name,                   \
                                                        .observe = observe_##name,                 \
                                                        .wanting = wanting_##name};

/* ---- for every processor ---- */

INLINE lanes root(lanes x)
{
    for (int l = 0; l < HMI_LANES; l++)
        x[l] = sqrt(x[l]);
    return x;
}

INLINE lanes logarithm(lanes x)
{
    hmi_math_log_lanes((double *)&x);
    return x;
}

INLINE lanes exponential(lanes x)
{
    hmi_math_exp_lanes((double *)&x);
    return x;
}

INLINE int set(bits x)
{
    int found = 0;
    for (int l = 0; l < HMI_LANES; l++)
        found |= (x[l] != 0) << l;
    return found;
}

#define KERNEL             static
#define HELPER             INLINE
#define NAME(x)            x##_portable
#define CHOOSE(mask, a, b) ((lanes)(((mask) & (bits)(a)) | (~(mask) & (bits)(b))))
#define ROOT(x)            root(x)
#define LOG(x)             logarithm(x)
#define EXP(x)             exponential(x)
#define SET(x)             set(x)
#include "integrate/ensemble/batch_all.inc"
TABLE(portable)

/* ---- with AVX2 ---- */

#if defined(__x86_64__)
#undef KERNEL
#undef HELPER
#undef NAME
#undef CHOOSE
#undef ROOT
#undef LOG
#undef EXP
#undef SET
#define WITH_AVX2 __attribute__((target("avx2")))
#define KERNEL    WITH_AVX2 static
#define HELPER    WITH_AVX2 INLINE
#define NAME(x)   x##_avx2
/* What hmi_math_log_lanes and hmi_math_exp_lanes call, without the way through memory. */
WITH_AVX2 __m256d Sleef_finz_logd4_u10avx2(__m256d x);
WITH_AVX2 __m256d Sleef_finz_expd4_u10avx2(__m256d x);
#define CHOOSE(mask, a, b) ((lanes)_mm256_blendv_pd((__m256d)(b), (__m256d)(a), (__m256d)(mask)))
#define ROOT(x)            ((lanes)_mm256_sqrt_pd((__m256d)(x)))
#define LOG(x)             ((lanes)Sleef_finz_logd4_u10avx2((__m256d)(x)))
#define EXP(x)             ((lanes)Sleef_finz_expd4_u10avx2((__m256d)(x)))
#define SET(x)             _mm256_movemask_pd((__m256d)(x))
#include "integrate/ensemble/batch_all.inc"
#include "compile/tape/machine_code.h"
extern const hmi_batch_kernels hmi_batch_kernels_avx2;
TABLE(avx2)
#endif

const hmi_batch_kernels *hmi_batch_kernels_here(void)
{
#if defined(__x86_64__)
    if (hmi_machine_code_available())
        return &hmi_batch_kernels_avx2;
#endif
    return &hmi_batch_kernels_portable;
}
