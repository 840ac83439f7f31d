/* Bounds of polynomials over pieces of a step: integrate/events/path.h. */
#include "integrate/events/path.h"

#include "base/random.h"
#include "support/check.h"

enum { PATHS = 3000, PLACES = 40 };

static double derivative(const hmi_path *path, double s)
{
    double sum = 0;
    for (int k = path->degree; k >= 1; k--)
        sum = sum * (s - path->origin) + k * path->coefficient[k];
    return sum;
}

static void values_and_slopes_lie_within_the_bounds(void **state)
{
    (void)state;
    hmi_random random = {5};
    double c[HMI_PATH_MOST_DEGREE + 1];
    hmi_path_bounds bounds;
    for (int i = 0; i < PATHS; i++) {
        hmi_path path = {.degree = (int)(hmi_random_bits(&random) % 30),
                         .origin = i % 2 ? 0.5 : 0,
                         .coefficient = c,
                         .bounds = &bounds};
        for (int k = 0; k <= path.degree; k++)
            c[k] = hmi_random_between(&random, -1, 1) * pow(10, hmi_random_between(&random, -3, 3));
        hmi_path_measure(&path, 1);
        double a = hmi_random_between(&random, 0, 1), b = hmi_random_between(&random, a, 1);
        if (i % 5 == 0) /* pieces that begin at the origin, or have it in the middle */
            a = i % 2 ? 1 - b : 0;
        if (a > b)
            continue;
        hmi_enclosure e = hmi_path_enclose(&path, 0, a, b);
        for (int j = 0; j <= PLACES; j++) {
            double s = fmin(a + (b - a) * j / PLACES, b);
            assert_true(hmi_interval_has(e.value, hmi_path_value(&path, 0, s)));
            assert_true(hmi_interval_has(e.rate, derivative(&path, s)));
        }
    }
}

/* Beyond the true range by a width that shrinks with the square of the length of the piece. */
static void bounds_are_sharp_on_short_pieces(void **state)
{
    (void)state;
    double c[] = {0.3, -1.2, 0.7, 2.1, -0.4, 0.9, -1.6, 0.2};
    hmi_path_bounds bounds;
    const hmi_path path = {.degree = 7, .coefficient = c, .bounds = &bounds};
    hmi_path_measure(&path, 1);
    for (double length = 0.1; length > 1e-4; length /= 10) {
        hmi_enclosure e = hmi_path_enclose(&path, 0, 0.4, 0.4 + length);
        double width = fabs(hmi_path_value(&path, 0, 0.4 + length) - hmi_path_value(&path, 0, 0.4));
        assert_true(e.value.hi - e.value.lo < width + 20 * length * length);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(values_and_slopes_lie_within_the_bounds),
        cmocka_unit_test(bounds_are_sharp_on_short_pieces),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
