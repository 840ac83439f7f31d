/* The transcendental functions against MPFR: at most 1 ulp over their whole range, huge arguments,
 * denormals and special values included; sine and cosine alone are those of the pair. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <math.h>
#include <mpfr.h>
#include <stdbool.h>
#include <string.h>

#include "expr/math.h"

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
    static const double edges[] = {0.0,      -0.0,     1,         -1,     INFINITY, -INFINITY, NAN,
                                   4.9e-324, 2.3e-308, 1.797e308, 709.78, -745.1,   -746,      15,
                                   1e14,     -1e16,    0.5,       2,      3,        -0x1p-1022};
    uint64_t bits = next_bits(state);
    double x, unit = (double)(int64_t)bits * 0x1p-63;
    switch (next_bits(state) % 6) {
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
static const double most_error = 1.001;

static void check_error(const char *name, double x, double y, double value, mpfr_t exact)
{
    double error = error_in_ulp(value, exact);
    if (!(error <= most_error))
        fail_msg("%s(%a, %a) = %.17g is off by %g ulp", name, x, y, value, error);
}

static void check1(const char *name, double (*function)(double), exact1 exact, double most)
{
    uint64_t state = 88172645463325252U;
    mpfr_t x, y;
    mpfr_inits2(200, x, y, (mpfr_ptr)NULL);
    for (int i = 0; i < 20000; i++) {
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

static void test_accuracy(void **state)
{
    (void)state;
    const double all = INFINITY, no_overflow = 709.7;
    check1("sin", hmi_math_sin, mpfr_sin, all);
    check1("cos", hmi_math_cos, mpfr_cos, all);
    check1("tan", hmi_math_tan, mpfr_tan, all);
    check1("asin", hmi_math_asin, mpfr_asin, all);
    check1("acos", hmi_math_acos, mpfr_acos, all);
    check1("atan", hmi_math_atan, mpfr_atan, all);
    check1("sinh", hmi_math_sinh, mpfr_sinh, no_overflow);
    check1("cosh", hmi_math_cosh, mpfr_cosh, no_overflow);
    check1("tanh", hmi_math_tanh, mpfr_tanh, all);
    check1("exp", hmi_math_exp, mpfr_exp, all);
    check1("log", hmi_math_log, mpfr_log, all);
    check2("pow", hmi_math_pow, mpfr_pow);
    check2("atan2", hmi_math_atan2, mpfr_atan2);
    check2("hypot", hmi_math_hypot, mpfr_hypot);
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
        cmocka_unit_test(test_pair),
        cmocka_unit_test(test_signs_and_limits),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
