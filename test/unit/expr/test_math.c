/* The transcendental functions against MPFR: at most 1 ulp over their whole range (2 where the
 * result is below 4e-307), huge arguments and special values included, with fused multiply-add and
 * without; sine and cosine alone are those of the pair. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <float.h>
#include <math.h>
#include <mpfr.h>
#include <stdbool.h>
#include <string.h>

#include "expr/graph/math.h"

/* The forms for processors without fused multiply-add, under names of their own. */
#define DECLARE1(name, accuracy) double plain_##name(double x);
#define DECLARE2(name, accuracy) double plain_##name(double x, double y);
HMI_MATH_FUNCTIONS(DECLARE1, DECLARE2)
hmi_sincos plain_sincos(double x);
double plain_sin(double x);
double plain_cos(double x);
void plain_log_lanes(double x[4]);
void plain_exp_lanes(double x[4]);
#define hmi_math_sincos    plain_sincos
#define hmi_math_sin       plain_sin
#define hmi_math_cos       plain_cos
#define hmi_math_tan       plain_tan
#define hmi_math_asin      plain_asin
#define hmi_math_acos      plain_acos
#define hmi_math_atan      plain_atan
#define hmi_math_sinh      plain_sinh
#define hmi_math_cosh      plain_cosh
#define hmi_math_tanh      plain_tanh
#define hmi_math_exp       plain_exp
#define hmi_math_log       plain_log
#define hmi_math_pow       plain_pow
#define hmi_math_atan2     plain_atan2
#define hmi_math_hypot     plain_hypot
#define hmi_math_log_lanes plain_log_lanes
#define hmi_math_exp_lanes plain_exp_lanes
#define HMI_MATH_WITHOUT_FMA
#include "expr/graph/math.c"
#undef hmi_math_sincos
#undef hmi_math_sin
#undef hmi_math_cos
#undef hmi_math_tan
#undef hmi_math_asin
#undef hmi_math_acos
#undef hmi_math_atan
#undef hmi_math_sinh
#undef hmi_math_cosh
#undef hmi_math_tanh
#undef hmi_math_exp
#undef hmi_math_log
#undef hmi_math_pow
#undef hmi_math_atan2
#undef hmi_math_hypot
#undef hmi_math_log_lanes
#undef hmi_math_exp_lanes

static uint64_t next_bits(uint64_t *state)
{
    *state ^= *state << 13;
    *state ^= *state >> 7;
    *state ^= *state << 17;
    return *state * 0x2545F4914F6CDD1DU;
}

/* Any double, or one of a size that occurs, or one at the edge of something. */
static double any_number(uint64_t *state)
{
    static const double edges[] = {0.0,
                                   -0.0,
                                   1,
                                   -1,
                                   INFINITY,
                                   -INFINITY,
                                   NAN,
                                   4.9e-324,
                                   2.3e-308,
                                   1.797e308,
                                   709.78,
                                   -745.1,
                                   -746,
                                   15,
                                   1e14,
                                   -1e16,
                                   0.5,
                                   2,
                                   3,
                                   -0x1p-1022,
                                   0x1p19,
                                   -0x1p19,
                                   0x1.fffffffffffffp18,
                                   0x1.0000000000001p19};
    uint64_t bits = next_bits(state);
    double x, unit = (double)(int64_t)bits * 0x1p-63;
    switch (next_bits(state) % 8) {
    case 0:
        memcpy(&x, &bits, sizeof x);
        return x;
    case 1:
        return unit * 10;
    case 2:
        return ldexp(unit, (int)(next_bits(state) % 80) - 40);
    case 3:
        return (double)(next_bits(state) % 4001) * (acos(-1) / 8);
    case 4:
        return unit;
    case 5:
        return unit * 0x1p20;
    case 6: /* close to a multiple of pi/2 */
        x = (double)(next_bits(state) % 400000) * (acos(-1) / 2);
        return bits & 1 ? nextafter(x, bits & 2 ? 0 : INFINITY) : x;
    default:
        return edges[next_bits(state) % (sizeof edges / sizeof *edges)];
    }
}

/* |value - exact| in units of the last place of the exact value, as a double; 0 where both are the
 * same special value. */
static double error_in_ulp(double value, mpfr_t exact)
{
    double rounded = mpfr_get_d(exact, MPFR_RNDN);
    if ((isnan(value) && isnan(rounded)) || value == rounded)
        return 0;
    if (!isfinite(value) || !isfinite(rounded))
        return INFINITY;
    double ulp = nextafter(fabs(rounded), INFINITY) - fabs(rounded);
    mpfr_sub_d(exact, exact, value, MPFR_RNDN);
    mpfr_div_d(exact, exact, ulp, MPFR_RNDN);
    return fabs(mpfr_get_d(exact, MPFR_RNDN));
}

typedef int (*exact1)(mpfr_t, const mpfr_t, mpfr_rnd_t);
typedef int (*exact2)(mpfr_t, const mpfr_t, const mpfr_t, mpfr_rnd_t);

/* 1 ulp is SLEEF's claim; beside it the rounding of our measure. */
static const double most_error = 1.001, most_error_of_tiny = 2;

static void check_error(const char *name, double x, double y, double value, mpfr_t exact)
{
    double error = error_in_ulp(value, exact);
    if (!(error <= (fabs(value) < 16 * DBL_MIN ? most_error_of_tiny : most_error)))
        fail_msg("%s(%a, %a) = %.17g is off by %g ulp", name, x, y, value, error);
}

static void check1(const char *name, double (*function)(double), exact1 exact, double most)
{
    uint64_t state = 88172645463325252U;
    mpfr_t x, y;
    mpfr_inits2(200, x, y, (mpfr_ptr)NULL);
    for (int i = 0; i < 40000; i++) {
        double at = any_number(&state);
        if (fabs(at) > most)
            continue;
        mpfr_set_d(x, at, MPFR_RNDN);
        exact(y, x, MPFR_RNDN);
        check_error(name, at, 0, function(at), y);
    }
    mpfr_clears(x, y, (mpfr_ptr)NULL);
}

static void check2(const char *name, double (*function)(double, double), exact2 exact)
{
    uint64_t state = 362436069362436069U;
    mpfr_t x, y, z;
    mpfr_inits2(200, x, y, z, (mpfr_ptr)NULL);
    for (int i = 0; i < 20000; i++) {
        double a = any_number(&state), b = any_number(&state);
        mpfr_set_d(x, a, MPFR_RNDN);
        mpfr_set_d(y, b, MPFR_RNDN);
        exact(z, x, y, MPFR_RNDN);
        check_error(name, a, b, function(a, b), z);
    }
    mpfr_clears(x, y, z, (mpfr_ptr)NULL);
}

#define CHECK_ALL(family)                                                                          \
    do {                                                                                           \
        const double all = INFINITY, no_overflow = 709.7;                                          \
        check1("sin", family##_sin, mpfr_sin, all);                                                \
        check1("cos", family##_cos, mpfr_cos, all);                                                \
        check1("tan", family##_tan, mpfr_tan, all);                                                \
        check1("asin", family##_asin, mpfr_asin, all);                                             \
        check1("acos", family##_acos, mpfr_acos, all);                                             \
        check1("atan", family##_atan, mpfr_atan, all);                                             \
        check1("sinh", family##_sinh, mpfr_sinh, no_overflow);                                     \
        check1("cosh", family##_cosh, mpfr_cosh, no_overflow);                                     \
        check1("tanh", family##_tanh, mpfr_tanh, all);                                             \
        check1("exp", family##_exp, mpfr_exp, all);                                                \
        check1("log", family##_log, mpfr_log, all);                                                \
        check2("pow", family##_pow, mpfr_pow);                                                     \
        check2("atan2", family##_atan2, mpfr_atan2);                                               \
        check2("hypot", family##_hypot, mpfr_hypot);                                               \
    } while (0)

static void test_accuracy(void **state)
{
    (void)state;
    CHECK_ALL(hmi_math);
}

static void test_accuracy_without_fma(void **state)
{
    (void)state;
    CHECK_ALL(plain);
}

static bool same_bits(double x, double y)
{
    return (isnan(x) && isnan(y)) || memcmp(&x, &y, sizeof x) == 0;
}

static void test_pair(void **unused)
{
    (void)unused;
    uint64_t state = 5;
    for (int i = 0; i < 100000; i++) {
        double x = any_number(&state);
        hmi_sincos both = hmi_math_sincos(x);
        assert_true(same_bits(both.sine, hmi_math_sin(x)));
        assert_true(same_bits(both.cosine, hmi_math_cos(x)));
    }
}

/* Four at once are four times one. */
static void test_lanes(void **unused)
{
    (void)unused;
    uint64_t state = 7;
    for (int i = 0; i < 100000; i++) {
        double x[4], y[4], z[4];
        for (int k = 0; k < 4; k++)
            x[k] = any_number(&state);
        memcpy(y, x, sizeof y);
        memcpy(z, x, sizeof z);
        hmi_math_log_lanes(y);
        hmi_math_exp_lanes(z);
        for (int k = 0; k < 4; k++)
            assert_true(same_bits(y[k], hmi_math_log(x[k])) && same_bits(z[k], hmi_math_exp(x[k])));
    }
}

static void test_signs_and_limits(void **state)
{
    (void)state;
    assert_true(same_bits(hmi_math_sin(-0.0), -0.0) && same_bits(hmi_math_tan(-0.0), -0.0));
    assert_true(same_bits(hmi_math_atan2(-0.0, -1), -acos(-1)));
    assert_true(hmi_math_cosh(711) == INFINITY && hmi_math_sinh(-711) == -INFINITY);
    assert_true(hmi_math_exp(-INFINITY) == 0 && hmi_math_log(0) == -INFINITY);
    assert_true(hmi_math_pow(NAN, 0) == 1 && hmi_math_pow(-2, 3) == -8);
    assert_true(isnan(hmi_math_pow(-2, 0.5)) && isnan(hmi_math_log(-1)));
    assert_true(hmi_math_hypot(3, 4) == 5 && hmi_math_hypot(INFINITY, NAN) == INFINITY);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_accuracy),
        cmocka_unit_test(test_accuracy_without_fma),
        cmocka_unit_test(test_pair),
        cmocka_unit_test(test_lanes),
        cmocka_unit_test(test_signs_and_limits),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
