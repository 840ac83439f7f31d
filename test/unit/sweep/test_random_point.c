/* Philox against published numbers, Sobol's sequence by its defining property, distributions against the
 * functions of the C library. */
#include "support/check.h"
#include "sweep/distribution.h"
#include "sweep/random_point.h"

#include <math.h>
#include <string.h>

/* Known answers of the authors' Random123 library: counter and key of zeros, of ones, and digits of pi. */
static void test_philox(void **state)
{
    (void)state;
    static const struct {
        uint32_t counter[4], key[2], expected[4];
    } known[] = {
        {{0, 0, 0, 0}, {0, 0}, {0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8}},
        {{0xffffffff, 0xffffffff, 0xffffffff, 0xffffffff},
         {0xffffffff, 0xffffffff},
         {0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd}},
        {{0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344},
         {0xa4093822, 0x299f31d0},
         {0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1}},
    };
    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        uint32_t out[4];
        hmi_philox(known[i].key, known[i].counter, out);
        assert_memory_equal(out, known[i].expected, sizeof out);
    }
}

/* Of the first 2^k points each of the 2^k intervals of length 2^-k holds one, in every dimension, with
 * scrambling and without it. */
static void test_sobol_strata(void **state)
{
    (void)state;
    enum { BITS = 9, COUNT = 1 << BITS };
    for (uint32_t d = 0; d < HMI_SOBOL_DIMENSIONS; d++) {
        bool plain[COUNT] = {false}, scrambled[COUNT] = {false};
        for (uint32_t i = 0; i < COUNT; i++) {
            uint32_t a = hmi_sobol_bits(i, d) >> (32 - BITS);
            uint32_t b = (uint32_t)(hmi_sobol_at(7, i, d) * COUNT);
            assert_false(plain[a] || scrambled[b]);
            plain[a] = scrambled[b] = true;
        }
    }
}

/* Property A of Sobol: of the first 2^d points one lies in each of the 2^d halves of the cube. It holds for
 * these numbers and not for most others. */
static void test_sobol_property_a(void **state)
{
    (void)state;
    enum { DIMENSIONS = 12, COUNT = 1 << DIMENSIONS };
    static bool seen[COUNT];
    memset(seen, 0, sizeof seen);
    for (uint32_t i = 0; i < COUNT; i++) {
        uint32_t cell = 0;
        for (uint32_t d = 0; d < DIMENSIONS; d++)
            cell = cell << 1 | hmi_sobol_bits(i, d) >> 31;
        assert_false(seen[cell]);
        seen[cell] = true;
    }
}

/* The quantile put into the distribution function of the C library gives the probability back. */
static void test_normal(void **state)
{
    (void)state;
    static const double arguments[] = {0, 1};
    const hmi_distribution normal = {HMI_DISTRIBUTION_NORMAL, 2, arguments};
    for (int k = 1; k < 400; k++)
        for (int tail = 0; tail < 2; tail++) {
            double u = tail ? pow(10, -0.7 * k / 10) : k / 400.0;
            double x = hmi_distribution_value(&normal, u), back = 0.5 * erfc(-x / sqrt(2));
            assert_true(fabs(back - u) <= 4e-15 * u * (1 + x * x));
        }
    assert_true(hmi_distribution_value(&normal, 0.5) == 0);
    double upper = hmi_distribution_value(&normal, 1 - 0x1p-30);
    assert_true(fabs(upper + hmi_distribution_value(&normal, 0x1p-30)) < 1e-6);
}

static void test_others(void **state)
{
    (void)state;
    static const double two[] = {0.3, 0.7}, three[] = {1, 2, 5}, list[] = {4, 5, 6};
    const hmi_distribution lognormal = {HMI_DISTRIBUTION_LOGNORMAL, 2, two};
    const hmi_distribution normal = {HMI_DISTRIBUTION_NORMAL, 2, two};
    const hmi_distribution triangular = {HMI_DISTRIBUTION_TRIANGULAR, 3, three};
    const hmi_distribution discrete = {HMI_DISTRIBUTION_DISCRETE, 3, list};
    for (int k = 1; k < 100; k++) {
        double u = k / 100.0, x = hmi_distribution_value(&triangular, u);
        double below = x < 2 ? (x - 1) * (x - 1) / 4 : 1 - (5 - x) * (5 - x) / 12;
        assert_true(fabs(below - u) < 1e-14);
        double expected = exp(hmi_distribution_value(&normal, u));
        assert_true(fabs(hmi_distribution_value(&lognormal, u) - expected) < 4e-15 * expected);
        assert_true(hmi_distribution_value(&discrete, u) == 4 + floor(3 * u));
    }
}

/* Means and variances of many independent numbers, within four standard errors. */
static void test_uniform(void **state)
{
    (void)state;
    enum { COUNT = 100000 };
    for (uint32_t d = 0; d < 3; d++) {
        double sum = 0, squares = 0, products = 0;
        for (uint64_t i = 0; i < COUNT; i++) {
            double u = hmi_uniform_at(42, i, d) - 0.5;
            sum += u;
            squares += u * u;
            products += u * (hmi_uniform_at(42, i, d + 1) - 0.5);
        }
        assert_true(fabs(sum / COUNT) < 4 * sqrt(1.0 / 12 / COUNT));
        assert_true(fabs(squares / COUNT - 1.0 / 12) < 4 * sqrt(1.0 / 180 / COUNT));
        assert_true(fabs(products / COUNT) < 4 * sqrt(1.0 / 144 / COUNT));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_philox),           cmocka_unit_test(test_sobol_strata),
        cmocka_unit_test(test_sobol_property_a), cmocka_unit_test(test_normal),
        cmocka_unit_test(test_others),           cmocka_unit_test(test_uniform),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
