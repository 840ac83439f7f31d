/* SLEEF behind one set of names: see math.h. */
#include "expr/math.h"

/* SLEEF's header shows the forms with fused multiply-add only to code compiled for it; ours decides
 * when it runs. */
#if defined(__x86_64__) && !defined(FP_FAST_FMA)
#define FP_FAST_FMA
#endif
#include <sleef.h>

#if defined(__x86_64__) && !defined(HMI_MATH_WITHOUT_FMA) /* the tests look at both */
/* Asks libgcc's record of the processor and of what the system saves of it. */
#define BY_PROCESSOR(fused, plain) (__builtin_cpu_supports("fma") ? (fused) : (plain))
#else
#define BY_PROCESSOR(fused, plain) (plain)
#endif

hmi_sincos hmi_math_sincos(double x)
{
    Sleef_double_2 both = BY_PROCESSOR(Sleef_finz_sincosd1_u10purecfma(x),
                                       Sleef_cinz_sincosd1_u10purec(x));
    return (hmi_sincos){both.x, both.y};
}

double hmi_math_sin(double x)
{
    return hmi_math_sincos(x).sine;
}

double hmi_math_cos(double x)
{
    return hmi_math_sincos(x).cosine;
}

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
