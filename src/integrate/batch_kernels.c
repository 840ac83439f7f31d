/* Loops over four lanes: see batch_kernels.h. One text, compiled twice. */
#include "integrate/batch_kernels.h"

#include "compile/jit.h"

typedef double lanes __attribute__((vector_size(32), may_alias));
typedef int64_t bits __attribute__((vector_size(32), may_alias));

#define INLINE static inline __attribute__((always_inline))

/* ---- sums of stages ---- */

/* `count` components side by side from i on: none waits for another. y NULL: without it. */
#define UNROLL _Pragma("GCC unroll 8")
#define SUMS(many)                                                                                 \
    {                                                                                              \
        lanes sum[many];                                                                           \
        UNROLL for (int c = 0; c < (many); c++) sum[c] = (lanes){0, 0, 0, 0};                      \
        for (int j = 0; j < row->count; j++) {                                                     \
            const lanes *k = K + (size_t)row->stage[j] * width + i;                                \
            const double w = row->weight[j];                                                       \
            UNROLL for (int c = 0; c < (many); c++) sum[c] += w * k[c];                            \
        }                                                                                          \
        UNROLL for (int c = 0; c < (many); c++)                                                    \
            out[i + (size_t)c] = y ? y[i + (size_t)c] + *h * sum[c] : *h * sum[c];                 \
        i += (many);                                                                               \
    }

INLINE void add_stages(const hmi_rk_terms *row, const lanes *K, size_t width, const lanes *y,
                       const lanes *h, lanes *out)
{
    size_t i = 0;
    while (i + 8 <= width)
        SUMS(8)
    if (i + 6 <= width)
        SUMS(6)
    if (i + 4 <= width)
        SUMS(4)
    if (i + 2 <= width)
        SUMS(2)
    if (i < width)
        SUMS(1)
}

/* ---- norms ---- */

INLINE void add_scaled(const lanes *x, const lanes *y1, const lanes *y2, size_t size, double atol,
                       double rtol, lanes *out)
{
    const bits magnitude = {INT64_MAX, INT64_MAX, INT64_MAX, INT64_MAX};
    lanes sum = {0, 0, 0, 0};
    for (size_t i = 0; i < size; i++) {
        bits a = (bits)y1[i] & magnitude, b = (bits)y2[i] & magnitude;
        /* fmax: of a number and NaN the number */
        bits first = (bits)((lanes)a > (lanes)b) | (bits)((lanes)b != (lanes)b);
        lanes larger = (lanes)((first & a) | (~first & b));
        lanes e = x[i] / (atol + rtol * larger);
        sum += e * e;
    }
    *out = sum;
}

INLINE void add_distance(const lanes *a, const lanes *b, size_t size, lanes *out)
{
    lanes sum = {0, 0, 0, 0};
    for (size_t i = 0; i < size; i++) {
        lanes e = a[i] - b[i];
        sum += e * e;
    }
    *out = sum;
}

INLINE void take_rates(size_t n, size_t width, const lanes *v, const lanes *out,
                       const lanes *margin, lanes *dy, lanes *bad)
{
    for (size_t i = 0; i < n; i++)
        dy[i] = v[i];
    for (size_t i = n; i < width; i++)
        dy[i] = out[i - n];
    *bad = (lanes)((bits)*bad | ~(bits)(*margin > 0));
}

INLINE void copy_lanes(size_t size, const lanes *from, lanes *to)
{
    for (size_t i = 0; i < size; i++)
        to[i] = from[i];
}

INLINE void select_lanes(const lanes *mask, size_t size, const lanes *from, lanes *to)
{
    const bits take = (bits)(*mask != 0);
    for (size_t i = 0; i < size; i++)
        to[i] = (lanes)((take & (bits)from[i]) | (~take & (bits)to[i]));
}

/* ---- twice ---- */

#define CAST(p) ((const lanes *)(const void *)(p))
#define OUT(p)  ((lanes *)(void *)(p))

#define KERNELS(name, TARGET)                                                                      \
    TARGET static void advance_##name(const hmi_rk_terms *row, const double *K, size_t width,      \
                                      const double *y, const double *h, double *out)               \
    {                                                                                              \
        add_stages(row, CAST(K), width, CAST(y), CAST(h), OUT(out));                               \
    }                                                                                              \
    TARGET static void combine_##name(const hmi_rk_terms *row, const double *K, size_t width,      \
                                      const double *h, double *out)                                \
    {                                                                                              \
        add_stages(row, CAST(K), width, NULL, CAST(h), OUT(out));                                  \
    }                                                                                              \
    TARGET static void scaled_##name(const double *x, const double *y1, const double *y2,          \
                                     size_t size, double atol, double rtol, double *sum)           \
    {                                                                                              \
        add_scaled(CAST(x), CAST(y1), CAST(y2), size, atol, rtol, OUT(sum));                       \
    }                                                                                              \
    TARGET static void distance_##name(const double *a, const double *b, size_t size, double *sum) \
    {                                                                                              \
        add_distance(CAST(a), CAST(b), size, OUT(sum));                                            \
    }                                                                                              \
    TARGET static void rates_##name(size_t n, size_t width, const double *v, const double *out,    \
                                    const double *margin, double *dy, double *bad)                 \
    {                                                                                              \
        take_rates(n, width, CAST(v), CAST(out), CAST(margin), OUT(dy), OUT(bad));                 \
    }                                                                                              \
    TARGET static void copy_##name(size_t size, const double *from, double *to)                    \
    {                                                                                              \
        copy_lanes(size, CAST(from), OUT(to));                                                     \
    }                                                                                              \
    TARGET static void select_##name(const double *mask, size_t size, const double *from,          \
                                     double *to)                                                   \
    {                                                                                              \
        select_lanes(CAST(mask), size, CAST(from), OUT(to));                                       \
    }                                                                                              \
    const hmi_batch_kernels hmi_batch_kernels_##name = {                                           \
        advance_##name,  combine_##name, rates_##name, scaled_##name,                              \
        distance_##name, copy_##name,    select_##name};

KERNELS(portable, )

#if defined(__x86_64__)
#define WITH_AVX2 __attribute__((target("avx2")))
extern const hmi_batch_kernels hmi_batch_kernels_avx2;
KERNELS(avx2, WITH_AVX2)
#endif

const hmi_batch_kernels *hmi_batch_kernels_here(void)
{
#if defined(__x86_64__)
    if (hmi_jit_available())
        return &hmi_batch_kernels_avx2;
#endif
    return &hmi_batch_kernels_portable;
}
