/* Loops over four lanes: see batch_kernels.h. One text, compiled twice. */
#include "integrate/batch_kernels.h"

#include "compile/jit.h"

#include <math.h>
#if defined(__x86_64__)
#include <immintrin.h>
#endif

typedef double lanes __attribute__((vector_size(32), may_alias));
typedef int64_t bits __attribute__((vector_size(32), may_alias));

#define CAST(p) ((const lanes *)(const void *)(p))
#define OUT(p)  ((lanes *)(void *)(p))
#define INLINE  static inline __attribute__((always_inline))

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

/* tolerance: atol, rtol. Both estimates at once, four components side by side. */
INLINE void add_errors(const hmi_rk_terms *estimate, const lanes *K, size_t width, const lanes *h,
                       const lanes *y, const lanes *next, size_t size, const double tolerance[2],
                       lanes sum[2])
{
    const bits magnitude = {INT64_MAX, INT64_MAX, INT64_MAX, INT64_MAX};
    sum[0] = sum[1] = (lanes){0, 0, 0, 0};
    for (size_t i = 0; i < size; i++) {
        lanes e[2];
        bits a = (bits)y[i] & magnitude, b = (bits)next[i] & magnitude;
        bits first = (bits)((lanes)a > (lanes)b) | (bits)((lanes)b != (lanes)b);
        lanes scale = tolerance[0] + tolerance[1] * (lanes)((first & a) | (~first & b));
        for (int k = 0; k < 2; k++) {
            const hmi_rk_terms *row = &estimate[k];
            e[k] = (lanes){0, 0, 0, 0};
            for (int j = 0; j < row->count; j++)
                e[k] += row->weight[j] * K[(size_t)row->stage[j] * width + i];
            e[k] = *h * e[k] / scale;
            sum[k] += e[k] * e[k];
        }
    }
}

/* e0^2 / sqrt(e0^2 + 0.01 e1^2), 0 where both vanish */
#define JOIN_ERRORS(ROOT)                                                                          \
    lanes sum[2], e0, e1, both, root;                                                              \
    const double count = (double)size;                                                             \
    add_errors(estimate, CAST(K), width, CAST(h), CAST(y), CAST(next), size, tolerance, sum);      \
    sum[0] /= count;                                                                               \
    sum[1] /= count;                                                                               \
    ROOT(sum[0], e0);                                                                              \
    ROOT(sum[1], e1);                                                                              \
    both = e0 * e0 + 0.01 * e1 * e1;                                                               \
    ROOT(both, root);                                                                              \
    root = e0 * e0 / root;                                                                         \
    *OUT(error) = (lanes)((bits)root & (bits)(both > 0));

#define ROOT_portable(x, out)                                                                      \
    for (int l = 0; l < 4; l++)                                                                    \
    (out)[l] = sqrt((x)[l])
#define ROOT_avx2(x, out) ((out) = (lanes)_mm256_sqrt_pd((__m256d)(x)))

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
    TARGET static void error_##name(const hmi_rk_terms *estimate, const double *K, size_t width,   \
                                    const double *h, const double *y, const double *next,          \
                                    size_t size, const double tolerance[2],                        \
                                    double *error){JOIN_ERRORS(                                    \
        ROOT_##name)} TARGET static void scaled_##name(const double *x, const double *y1,          \
                                                       const double *y2, size_t size, double atol, \
                                                       double rtol, double *sum)                   \
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
    const hmi_batch_kernels hmi_batch_kernels_##name = {.advance = advance_##name,                 \
                                                        .combine = combine_##name,                 \
                                                        .rates = rates_##name,                     \
                                                        .error = error_##name,                     \
                                                        .scaled = scaled_##name,                   \
                                                        .distance = distance_##name,               \
                                                        .copy = copy_##name,                       \
                                                        .select = select_##name};

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
