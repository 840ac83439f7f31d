#include "support/check.h"

#include <math.h>

double max_norm(size_t n, const double *x)
{
    double norm = 0;
    for (size_t i = 0; i < n; i++)
        norm = fmax(norm, fabs(x[i]));
    return norm;
}

/* The component with the largest difference; the first that is not finite, if any. */
static size_t worst_component(size_t n, const double *actual, const double *expected)
{
    size_t worst = 0;
    for (size_t i = 0; i < n; i++) {
        double difference = fabs(actual[i] - expected[i]);
        if (!isfinite(difference))
            return i;
        if (difference > fabs(actual[worst] - expected[worst]))
            worst = i;
    }
    return worst;
}

double scaled_error(size_t n, const double *actual, const double *expected)
{
    if (n == 0)
        return 0;
    size_t worst = worst_component(n, actual, expected);
    double difference = fabs(actual[worst] - expected[worst]);
    return isfinite(difference) ? difference / fmax(1, max_norm(n, expected)) : INFINITY;
}

double check_close(const char *what, size_t n, const double *actual, const double *expected,
                   double tolerance)
{
    double error = scaled_error(n, actual, expected);
    if (!(error <= tolerance)) {
        size_t i = worst_component(n, actual, expected);
        fail_msg("%s: off by %.3g (allowed %.3g); component %zu is %.17g, expected %.17g", what,
                 error, tolerance, i + 1, actual[i], expected[i]);
    }
    return error;
}

double check_number(const char *what, double actual, double expected, double tolerance)
{
    return check_close(what, 1, &actual, &expected, tolerance);
}

double random_between(random_source *random, double low, double high)
{
    uint64_t z = random->state += UINT64_C(0x9E3779B97F4A7C15);
    z = (z ^ (z >> 30)) * UINT64_C(0xBF58476D1CE4E5B9);
    z = (z ^ (z >> 27)) * UINT64_C(0x94D049BB133111EB);
    z ^= z >> 31;
    return low + (high - low) * ((double)(z >> 11) * 0x1p-53);
}

void random_fill(random_source *random, double low, double high, size_t n, double *x)
{
    for (size_t i = 0; i < n; i++)
        x[i] = random_between(random, low, high);
}
