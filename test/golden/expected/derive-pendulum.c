/* pendulum: M q'' = Q + Qc, A q'' = b. Made by hamel 0.1.0.
 *
 * q[i], v[i]: x y
 * p[i]: m=1 l=2 g=9.8100000000000005
 * out: M (4, row-major), Q (2), A (2, row-major), b (1), C (2)
 */
/* Compile with -ffp-contract=off for the same bits everywhere. */
#include <math.h>
#include <stdlib.h>

/* x^n for whole n. */
static inline double hmi_powi(double x, double n)
{
    if (fabs(n) > 64)
        return pow(x, n);
    int exponent = abs((int)n);
    double result = 1, square = x;
    for (; exponent; exponent >>= 1, square *= square)
        if (exponent & 1)
            result *= square;
    return n < 0 ? 1 / result : result;
}

static inline double hm_sign(double x)
{
    return (x > 0) - (x < 0);
}

static inline double hm_min(double x, double y)
{
    return (y < x) ? y : x;
}

static inline double hm_max(double x, double y)
{
    return (x < y) ? y : x;
}

static inline double hm_lt(double x, double y)
{
    return x < y;
}

static inline double hm_le(double x, double y)
{
    return x <= y;
}

static inline double hm_eq(double x, double y)
{
    return x == y;
}

static inline double hm_and(double x, double y)
{
    return x != 0 && y != 0;
}

static inline double hm_or(double x, double y)
{
    return x != 0 || y != 0;
}

static inline double hm_not(double x)
{
    return x == 0;
}

static inline double hm_select(double x, double y, double z)
{
    return x != 0 ? y : z;
}


void pendulum_equations(double t, const double *p, const double *q, const double *v, double *out)
{
    (void)t;
    out[0] = p[0];
    out[1] = 0.0;
    out[2] = 0.0;
    out[3] = p[0];
    out[4] = 0.0;
    out[5] = -(p[0] * p[2]);
    out[6] = 2.0 * q[0];
    out[7] = 2.0 * q[1];
    out[8] = -(2.0 * (hmi_powi(v[0], 2.0) + hmi_powi(v[1], 2.0)));
    out[9] = 0.0;
    out[10] = 0.0;
}
