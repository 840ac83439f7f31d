/* ellipse: M q'' = Q + Qc, A q'' = b. Made by hamel 0.1.0.
 *
 * q[i], v[i]: x y
 * p[i]: m=1.5 g=9.8100000000000005 a=1.3 b=1.6000000000000001 mu=0.25
 * r[i], rt[i]: components of Qi and of A^T lambda in all
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


void ellipse_equations(double t, const double *p, const double *q, const double *v, const double *r, double *out)
{
    (void)t;
    const double e1 = hmi_powi(p[2], 2.0);
    const double e2 = hmi_powi(p[3], 2.0);
    const double e3 = hypot(r[0], r[1]);
    const double e4 = hypot(v[0], v[1]);
    out[0] = p[0];
    out[1] = 0.0;
    out[2] = 0.0;
    out[3] = p[0];
    out[4] = 0.0;
    out[5] = -(p[0] * p[1]);
    out[6] = 2.0 * q[0] / e1;
    out[7] = 2.0 * q[1] / e2;
    out[8] = -(2.0 * hmi_powi(v[0], 2.0) / e1 + 2.0 * hmi_powi(v[1], 2.0) / e2);
    out[9] = -(p[4] * v[0] * e3 / e4);
    out[10] = -(p[4] * v[1] * e3 / e4);
}
