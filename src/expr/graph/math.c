/* SLEEF behind one set of names, and our own sine and cosine. */
#include "expr/graph/math.h"

#include "expr/graph/sincos.h"

#include <math.h>
#include <stdint.h>
#include <string.h>

/* SLEEF's header shows the forms with fused multiply-add only to code compiled for it; ours decides
 * when it runs. */
#if defined(__x86_64__) && !defined(FP_FAST_FMA)
#define FP_FAST_FMA
#endif
#include <sleef.h>
#ifdef __x86_64__
#include <immintrin.h>
#endif

#if defined(__x86_64__) && !defined(HMI_MATH_WITHOUT_FMA) /* the tests look at both */
#define HMI_MATH_FUSED
/* Asks libgcc's record of the processor and of what the system saves of it. */
#define BY_PROCESSOR(fused, plain) (__builtin_cpu_supports("fma") ? (fused) : (plain))
#else
#define BY_PROCESSOR(fused, plain) (plain)
#endif

/* ---- sine and cosine ---- */

#ifdef HMI_MATH_FUSED
/* Our own where multiply-add is fused, one text for one value and for four: see sincos.h. */
#define FUSED __attribute__((target("avx2,fma")))
/* The machine code calls them, by address (compile/jit/call.c). Vectors are not arguments: compilers
 * differ in how they pass them where AVX is an attribute of the function. */
hmi_sincos hmi_math_fused_sincos(double x);
void hmi_math_fused_sincos4(double values[8]);

#define NUMBER(name, value) static const double name = value;
HMI_SINCOS_NUMBERS(NUMBER)

#define SINCOS_KERNEL(T, FMA, C, x)                                                                \
    const T m = FMA(x, C(TWO_BY_PI), C(MAGIC)), n = m - C(MAGIC);                                  \
    const T t = FMA(-n, C(P1), x), r = FMA(-n, C(P2), t);                                          \
    const T l = FMA(-n, C(P3), FMA(-n, C(P2), t - r)), z = r * r, w = z * z;                       \
    const T p1 = FMA(z, C(S2), C(S1)), p2 = FMA(z, C(S4), C(S3)), p3 = FMA(z, C(S6), C(S5));       \
    const T q1 = FMA(z, C(C2), C(C1)), q2 = FMA(z, C(C4), C(C3)), q3 = FMA(z, C(C6), C(C5));       \
    const T p = FMA(w, FMA(w, p3, p2), p1), q = FMA(w, FMA(w, q3, q2), q1);                        \
    const T u = FMA(-z, C(HALF), C(1.0)), e = FMA(-z, C(HALF), C(1.0) - u);                        \
    const T s = r + FMA(z * r, p, l), c = u + FMA(w, q, FMA(-r, l, e))

static inline uint64_t bits_of(double x)
{
    uint64_t bits;
    memcpy(&bits, &x, sizeof bits);
    return bits;
}

static inline double from_bits(uint64_t bits)
{
    double x;
    memcpy(&x, &bits, sizeof x);
    return x;
}

FUSED hmi_sincos hmi_math_fused_sincos(double x)
{
#define ONE(value) (value)
    const uint64_t sign = (uint64_t)1 << 63;
    if (!(fabs(x) < BOUND)) {
        Sleef_double_2 both = Sleef_finz_sincosd1_u10purecfma(x);
        return (hmi_sincos){both.x, both.y};
    }
    SINCOS_KERNEL(double, __builtin_fma, ONE, x);
    uint64_t turns = bits_of(m), half = turns << 62, quarter = turns << 63;
    uint64_t sine = bits_of(s) | (bits_of(r) & sign), cosine = bits_of(c);
    uint64_t swap = (sine ^ cosine) & -(turns & 1);
    return (hmi_sincos){from_bits(sine ^ swap ^ (half & sign)),
                        from_bits(cosine ^ swap ^ ((half ^ quarter) & sign))};
#undef ONE
}

static void lane_by_lane(double values[8])
{
    for (int lane = 0; lane < 4; lane++) {
        hmi_sincos both = hmi_math_fused_sincos(values[lane]);
        values[lane] = both.sine;
        values[4 + lane] = both.cosine;
    }
}

/* Four arguments become four sines, then four cosines. */
FUSED void hmi_math_fused_sincos4(double values[8])
{
    const __m256d x = _mm256_loadu_pd(values);
    const __m256d sign = _mm256_set1_pd(-0.0), bound = _mm256_set1_pd(BOUND);
    __m256d simple = _mm256_cmp_pd(_mm256_andnot_pd(sign, x), bound, _CMP_LT_OQ);
    if (_mm256_movemask_pd(simple) != 0xF) {
        lane_by_lane(values);
        return;
    }
    SINCOS_KERNEL(__m256d, _mm256_fmadd_pd, _mm256_set1_pd, x);
    __m256i turns = _mm256_castpd_si256(m);
    __m256d half = _mm256_castsi256_pd(_mm256_slli_epi64(turns, 62));
    __m256d quarter = _mm256_castsi256_pd(_mm256_slli_epi64(turns, 63));
    __m256d sine = _mm256_or_pd(s, _mm256_and_pd(r, sign));
    __m256d first = _mm256_blendv_pd(sine, c, quarter), second = _mm256_blendv_pd(c, sine, quarter);
    __m256d turned = _mm256_xor_pd(half, quarter);
    _mm256_storeu_pd(values, _mm256_xor_pd(first, _mm256_and_pd(half, sign)));
    _mm256_storeu_pd(values + 4, _mm256_xor_pd(second, _mm256_and_pd(turned, sign)));
}
#endif

static hmi_sincos plain_pair(double x)
{
    Sleef_double_2 both = Sleef_cinz_sincosd1_u10purec(x);
    return (hmi_sincos){both.x, both.y};
}

hmi_sincos hmi_math_sincos(double x)
{
    return BY_PROCESSOR(hmi_math_fused_sincos(x), plain_pair(x));
}

double hmi_math_sin(double x)
{
    return hmi_math_sincos(x).sine;
}

double hmi_math_cos(double x)
{
    return hmi_math_sincos(x).cosine;
}

/* ---- the others ---- */

#define DEFINE1(name, accuracy)                                                                    \
    double hmi_math_##name(double x)                                                               \
    {                                                                                              \
        return BY_PROCESSOR(Sleef_finz_##name##d1_##accuracy##purecfma(x),                         \
                            Sleef_cinz_##name##d1_##accuracy##purec(x));                           \
    }
#define DEFINE2(name, accuracy)                                                                    \
    double hmi_math_##name(double x, double y)                                                     \
    {                                                                                              \
        return BY_PROCESSOR(Sleef_finz_##name##d1_##accuracy##purecfma(x, y),                      \
                            Sleef_cinz_##name##d1_##accuracy##purec(x, y));                        \
    }
HMI_MATH_FUNCTIONS(DEFINE1, DEFINE2)

/* ---- four at once ---- */

#ifdef HMI_MATH_FUSED
FUSED __m256d Sleef_finz_logd4_u10avx2(__m256d x);
FUSED __m256d Sleef_finz_expd4_u10avx2(__m256d x);
#define FOUR_FUSED(name)                                                                           \
    FUSED static void fused_##name(double x[4])                                                    \
    {                                                                                              \
        _mm256_storeu_pd(x, Sleef_finz_##name##d4_u10avx2(_mm256_loadu_pd(x)));                    \
    }
#define BY_FUSED(name, x)                                                                          \
    if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma")) {                         \
        fused_##name(x);                                                                           \
        return;                                                                                    \
    }
#else
#define FOUR_FUSED(name)
#define BY_FUSED(name, x)
#endif

#define FOUR(name)                                                                                 \
    FOUR_FUSED(name)                                                                               \
    void hmi_math_##name##_lanes(double x[4])                                                      \
    {                                                                                              \
        BY_FUSED(name, x)                                                                          \
        for (int lane = 0; lane < 4; lane++)                                                       \
            x[lane] = hmi_math_##name(x[lane]);                                                    \
    }
FOUR(log)
FOUR(exp)
