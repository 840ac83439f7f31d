/* Inverse distribution functions. Verified: test/unit/sweep/test_random_point.c */
#include "sweep/distribution.h"

#include <math.h>
#include <string.h>

static const struct {
    const char *name;
    size_t count;
} table[HMI_DISTRIBUTIONS] = {
    [HMI_DISTRIBUTION_UNIFORM] = {"uniform", 2},
    [HMI_DISTRIBUTION_NORMAL] = {"normal", 2},
    [HMI_DISTRIBUTION_LOGNORMAL] = {"lognormal", 2},
    [HMI_DISTRIBUTION_TRIANGULAR] = {"triangular", 3},
    [HMI_DISTRIBUTION_DISCRETE] = {"discrete", 0},
};

bool hmi_distribution_find(const char *name, size_t length, hmi_distribution_kind *kind,
                           size_t *count)
{
    for (int i = 0; i < HMI_DISTRIBUTIONS; i++)
        if (strlen(table[i].name) == length && memcmp(table[i].name, name, length) == 0) {
            *kind = (hmi_distribution_kind)i;
            *count = table[i].count;
            return true;
        }
    return false;
}

const char *hmi_distribution_fault(const hmi_distribution *d)
{
    const double *a = d->argument;
    for (size_t i = 0; i < d->count; i++)
        if (!isfinite(a[i]))
            return "an argument is not finite";
    switch (d->kind) {
    case HMI_DISTRIBUTION_UNIFORM:
        return a[0] <= a[1] ? NULL : "uniform(a, b) needs a <= b";
    case HMI_DISTRIBUTION_NORMAL:
    case HMI_DISTRIBUTION_LOGNORMAL:
        return a[1] >= 0 ? NULL : "the deviation is negative";
    case HMI_DISTRIBUTION_TRIANGULAR:
        return a[0] <= a[1] && a[1] <= a[2] ? NULL : "triangular(a, mode, b) needs a <= mode <= b";
    default:
        return d->count > 0 ? NULL : "discrete needs at least one value";
    }
}

/* ---- the same bits everywhere ---- */

/* Functions of the C library may differ in the last bit from machine to machine, and a point of a sweep must
 * not. These use additions, products and divisions only, which are rounded alike everywhere. */
static double portable_log(double x)
{
    int exponent;
    double m = frexp(x, &exponent);
    if (m < 0.70710678118654752) {
        m *= 2;
        exponent--;
    }
    double s = (m - 1) / (m + 1), square = s * s, sum = 0; /* |s| < 0.172 */
    for (int k = 25; k >= 1; k -= 2)
        sum = sum * square + 1.0 / k;
    return exponent * 0.69314718055994531 + 2 * s * sum;
}

static double portable_exp(double x)
{
    if (!(fabs(x) < 700))
        return x > 0 ? INFINITY : 0;
    double turns = floor(x / 0.69314718055994531 + 0.5), sum = 1;
    x = (x - turns * 0x1.62e42fefa38p-1) - turns * 0x1.ef35793c7673p-45; /* log 2 in two parts */
    for (int k = 22; k >= 1; k--)
        sum = 1 + sum * x / k;
    return ldexp(sum, (int)turns);
}

/* ---- normal ---- */

/* (c_0 + c_1 x + ... + c_7 x^7) / (d_0 + ... + d_7 x^7) */
static double rational(const double c[2][8], double x)
{
    double above = c[0][7], below = c[1][7];
    for (int k = 6; k >= 0; k--) {
        above = above * x + c[0][k];
        below = below * x + c[1][k];
    }
    return above / below;
}

/* clang-format off */
static const double central[2][8] = {
    {3.3871328727963666080e0, 1.3314166789178437745e+2, 1.9715909503065514427e+3, 1.3731693765509461125e+4,
     4.5921953931549871457e+4, 6.7265770927008700853e+4, 3.3430575583588128105e+4, 2.5090809287301226727e+3},
    {1, 4.2313330701600911252e+1, 6.8718700749205790830e+2, 5.3941960214247511077e+3,
     2.1213794301586595867e+4, 3.9307895800092710610e+4, 2.8729085735721942674e+4, 5.2264952788528545610e+3}};
static const double middle[2][8] = {
    {1.42343711074968357734e0, 4.63033784615654529590e0, 5.76949722146069140550e0, 3.64784832476320460504e0,
     1.27045825245236838258e0, 2.41780725177450611770e-1, 2.27238449892691845833e-2, 7.74545014278341407640e-4},
    {1, 2.05319162663775882187e0, 1.67638483018380384940e0, 6.89767334985100004550e-1,
     1.48103976427480074590e-1, 1.51986665636164571966e-2, 5.47593808499534494600e-4, 1.05075007164441684324e-9}};
static const double far[2][8] = {
    {6.65790464350110377720e0, 5.46378491116411436990e0, 1.78482653991729133580e0, 2.96560571828504891230e-1,
     2.65321895265761230930e-2, 1.24266094738807843860e-3, 2.71155556874348757815e-5, 2.01033439929228813265e-7},
    {1, 5.99832206555887937690e-1, 1.36929880922735805310e-1, 1.48753612908506148525e-2,
     7.86869131145613259100e-4, 1.84631831751005468180e-5, 1.42151175831644588870e-7, 2.04426310338993978564e-15}};
/* clang-format on */

/* To about 16 digits.                                  [Wichura 1988, algorithm AS 241, PPND16] */
static double normal_quantile(double u)
{
    double q = u - 0.5;
    if (fabs(q) <= 0.425)
        return q * rational(central, 0.180625 - q * q);
    double r = sqrt(-portable_log(q < 0 ? u : 1 - u));
    double x = r <= 5 ? rational(middle, r - 1.6) : rational(far, r - 5);
    return q < 0 ? -x : x;
}

/* ---- all ---- */

static double triangular_quantile(const double *a, double u)
{
    double width = a[2] - a[0], rise = a[1] - a[0], fall = a[2] - a[1];
    if (width == 0)
        return a[0];
    return u * width < rise ? a[0] + sqrt(u * width * rise) : a[2] - sqrt((1 - u) * width * fall);
}

double hmi_distribution_value(const hmi_distribution *d, double u)
{
    const double *a = d->argument;
    switch (d->kind) {
    case HMI_DISTRIBUTION_UNIFORM:
        return a[0] + u * (a[1] - a[0]);
    case HMI_DISTRIBUTION_NORMAL:
        return a[0] + a[1] * normal_quantile(u);
    case HMI_DISTRIBUTION_LOGNORMAL:
        return portable_exp(a[0] + a[1] * normal_quantile(u));
    case HMI_DISTRIBUTION_TRIANGULAR:
        return triangular_quantile(a, u);
    default:
        return a[(size_t)(u * (double)d->count)];
    }
}
