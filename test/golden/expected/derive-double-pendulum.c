/* double_pendulum: M q'' = Q + Qc, A q'' = b. Made by hamel 0.1.0.
 *
 * q[i], v[i]: a b
 * p[i]: m1=1 m2=1 l1=1 l2=1 g=9.8100000000000005
 * out: M (4, row-major), Q (2), A (0, row-major), b (0), C (2)
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


void double_pendulum_equations(double t, const double *p, const double *q, const double *v, double *out)
{
    (void)t;
    const double e1 = p[0] + p[1];
    const double e2 = p[1] * p[2] * p[3];
    const double e3 = q[0] - q[1];
    const double e4 = e2 * cos(e3);
    const double e5 = sin(e3);
    out[0] = hmi_powi(p[2], 2.0) * e1;
    out[1] = e4;
    out[2] = e4;
    out[3] = p[1] * hmi_powi(p[3], 2.0);
    out[4] = -(p[2] * p[4] * e1 * sin(q[0]) + e2 * hmi_powi(v[1], 2.0) * e5);
    out[5] = p[1] * p[3] * (p[2] * hmi_powi(v[0], 2.0) * e5 - p[4] * sin(q[1]));
    out[6] = 0.0;
    out[7] = 0.0;
}
