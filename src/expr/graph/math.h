/* The transcendental functions: one definition for all engines.
 *
 * They are SLEEF's of at most 1 ulp in their deterministic forms: with fused multiply-add (finz_)
 * where the processor has it, else without (cinz_). The scalar finz_ forms agree bit by bit with the
 * four-lane ones that the machine code calls. Sine and cosine always come as a pair (SLEEF's sin and
 * sincos differ in the last bit): our own kernel where multiply-add is fused and |x| < 2^19, SLEEF's
 * sincos elsewhere. Square roots and absolute values are exact and stay with C.
 *
 * Where SLEEF is less than libm: sinh and cosh overflow at |x| = 710, 0.48 early; results below 4e-307
 * are good to 2 ulp. Verified: test/unit/expr/test_math.c.
 */
#ifndef HMI_EXPR_GRAPH_MATH_H
#define HMI_EXPR_GRAPH_MATH_H

/* FUNCTION1(name, accuracy), FUNCTION2: name as in C and in SLEEF, accuracy as in SLEEF's names. */
#define HMI_MATH_FUNCTIONS(FUNCTION1, FUNCTION2)                                                   \
    FUNCTION1(tan, u10)                                                                            \
    FUNCTION1(asin, u10)                                                                           \
    FUNCTION1(acos, u10)                                                                           \
    FUNCTION1(atan, u10)                                                                           \
    FUNCTION1(sinh, u10)                                                                           \
    FUNCTION1(cosh, u10)                                                                           \
    FUNCTION1(tanh, u10)                                                                           \
    FUNCTION1(exp, u10)                                                                            \
    FUNCTION1(log, u10)                                                                            \
    FUNCTION2(pow, u10)                                                                            \
    FUNCTION2(atan2, u10)                                                                          \
    FUNCTION2(hypot, u05)

typedef struct hmi_sincos {
    double sine, cosine;
} hmi_sincos;

hmi_sincos hmi_math_sincos(double x);
double hmi_math_sin(double x);
double hmi_math_cos(double x);
#define HMI_DECLARE1(name, accuracy) double hmi_math_##name(double x);
#define HMI_DECLARE2(name, accuracy) double hmi_math_##name(double x, double y);
HMI_MATH_FUNCTIONS(HMI_DECLARE1, HMI_DECLARE2)
#undef HMI_DECLARE1
#undef HMI_DECLARE2

/* Four values in place, each with the bits of the function above. */
void hmi_math_log_lanes(double x[4]);
void hmi_math_exp_lanes(double x[4]);

#endif
