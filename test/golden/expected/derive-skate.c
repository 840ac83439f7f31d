/* skate: M q'' = Q + Qc, A q'' = b. Made by hamel 0.1.0.
 *
 * q[i], v[i]: x y theta
 * p[i]: m=1 s=0.29999999999999999 I=0.5
 * out: M (9, row-major), Q (3), A (3, row-major), b (1), C (3)
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


void skate_equations(double t, const double *p, const double *q, const double *v, double *out)
{
    (void)t;
    const double e1 = sin(q[2]);
    const double e2 = p[0] * p[1];
    const double e3 = -(e1 * e2);
    const double e4 = cos(q[2]);
    const double e5 = e4 * e2;
    const double e6 = e2 * hmi_powi(v[2], 2.0);
    out[0] = p[0];
    out[1] = 0.0;
    out[2] = e3;
    out[3] = 0.0;
    out[4] = p[0];
    out[5] = e5;
    out[6] = e3;
    out[7] = e5;
    out[8] = p[2];
    out[9] = e6 * e4;
    out[10] = e6 * e1;
    out[11] = 0.0;
    out[12] = -e1;
    out[13] = e4;
    out[14] = 0.0;
    out[15] = v[2] * (v[0] * e4 + v[1] * e1);
    out[16] = 0.0;
    out[17] = 0.0;
    out[18] = 0.0;
}
