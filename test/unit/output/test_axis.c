/* Axes: ticks that people would choose, for every range there is. */
#include "output/plot/axis.h"
#include "support/check.h"

#include <math.h>
#include <string.h>

static void check_labels(double low, double high, const char *expected)
{
    hmi_axis axis;
    char joined[512] = "";
    hmi_axis_make(&axis, low, high, 300, 60, false);
    for (int i = 0; i < axis.ticks; i++) {
        strcat(joined, i ? " " : "");
        strcat(joined, axis.label[i]);
    }
    if (axis.factor[0]) {
        strcat(joined, " | ");
        strcat(joined, axis.factor);
    }
    assert_string_equal(joined, expected);
}

static void labels(void **state)
{
    (void)state;
    check_labels(0, 10, "0 2 4 6 8 10");
    check_labels(-1, 1, "−1.0 −0.5 0.0 0.5 1.0");
    check_labels(0, 0.037, "0.00 0.01 0.02 0.03");
    check_labels(0, 4.2e-9, "0 1 2 3 4 | ×10⁻⁹");
    check_labels(0, 3e7, "0 1 2 3 | ×10⁷");
    check_labels(-0.3, 0.1, "−0.3 −0.2 −0.1 0.0 0.1");
    check_labels(1000, 5000, "1000 2000 3000 4000 5000");
    /* what differs is shown, the rest stands beside the axis */
    check_labels(1.0000001, 1.0000004, "1 2 3 4 | ×10⁻⁷ + 1");
    check_labels(1.0000012, 1.0000018, "1.2 1.4 1.6 1.8 | ×10⁻⁶ + 1");
    check_labels(-20000.03, -20000.01, "−0.030 −0.025 −0.020 −0.015 −0.010 | − 20000");
    check_labels(999.9999, 1000.0001, "−1.0 −0.5 0.0 0.5 1.0 | ×10⁻⁴ + 1000");
    check_labels(123.4561, 123.4569, "6.2 6.4 6.6 6.8 | ×10⁻³ + 123.45");
    check_labels(1e9 - 3000, 1e9 + 3000, "−2000 0 2000 | + 10⁹");
    check_labels(1.234567e9, 1.23457e9, "67000 68000 69000 70000 | + 1.2345×10⁹");
    check_labels(1e20, 1.00001e20, "0.0 0.2 0.4 0.6 0.8 1.0 | ×10¹⁵ + 10²⁰");
    check_labels(0.00099999, 0.00100001, "−1.0 −0.5 0.0 0.5 1.0 | ×10⁻⁸ + 0.001");
    check_labels(1.00001e-6, 1.00002e-6, "1.0 1.2 1.4 1.6 1.8 2.0 | ×10⁻¹¹ + 10⁻⁶");
}

/* What cannot be an axis still becomes one. */
static void odd_ranges(void **state)
{
    (void)state;
    const double values[] = {0, 1,         -1,  1e-300,   1e300,    -1e300,
                             5, 5 + 1e-12, NAN, INFINITY, -INFINITY};
    enum { COUNT = sizeof values / sizeof *values };
    for (int i = 0; i < COUNT; i++)
        for (int k = 0; k < COUNT; k++)
            for (int widen = 0; widen < 2; widen++) {
                hmi_axis axis;
                hmi_axis_make(&axis, values[i], values[k], 300, 60, widen);
                assert_true(axis.high > axis.low);
                assert_in_range(axis.ticks, 1, HMI_MOST_TICKS);
                hmi_axis_make_log(&axis, values[i], values[k], 300, 60);
                assert_true(axis.high > axis.low);
                assert_in_range(axis.ticks, 1, HMI_MOST_TICKS);
            }
}

static void constants_look_constant(void **state)
{
    (void)state;
    hmi_axis axis;
    hmi_axis_make(&axis, 5, 5 + 1e-12, 300, 60, true);
    assert_true(axis.low < 4.9 && axis.high > 5.1);
}

static void widening_keeps_the_values_inside(void **state)
{
    (void)state;
    random_source random = {7};
    for (int i = 0; i < 2000; i++) {
        double size = pow(10, random_between(&random, -20, 20));
        double a = size * random_between(&random, -1, 1), b = size * random_between(&random, -1, 1);
        hmi_axis axis;
        hmi_axis_make(&axis, a, b, 300, 60, true);
        double slack = 1e-9 * (axis.high - axis.low);
        assert_true(axis.low <= fmin(a, b) + slack && axis.high >= fmax(a, b) - slack);
        assert_in_range(axis.ticks, 2, 12);
        check_number("the low end", hmi_axis_place(&axis, axis.low), 0, 1e-9);
    }
}

static void decades(void **state)
{
    (void)state;
    hmi_axis axis;
    hmi_axis_make_log(&axis, 3e-13, 2e-7, 300, 40);
    check_number("low", axis.low, -13, 1e-12);
    check_number("high", axis.high, -6, 1e-12);
    assert_string_equal(axis.label[0], "10⁻¹³");
    check_number("1e-6", hmi_axis_place(&axis, 1e-6), 300, 1e-9);
    hmi_axis_make_log(&axis, 1e-25, 2e-15, 300, 40);
    check_number("rounding is not shown", axis.low, -17, 1e-12);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(labels),
        cmocka_unit_test(odd_ranges),
        cmocka_unit_test(constants_look_constant),
        cmocka_unit_test(widening_keeps_the_values_inside),
        cmocka_unit_test(decades),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
