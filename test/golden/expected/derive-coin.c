/* coin: M q'' = Q + Qc, A q'' = b. Made by hamel 0.1.0.
 *
 * q[i], v[i]: x y theta phi
 * p[i]: M=2 R=0.59999999999999998 beta=0.5 I_D=0.20000000000000001 g=9.8100000000000005 al=0.29999999999999999
 * out: M (16, row-major), Q (4), A (8, row-major), b (2), C (4)
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


void coin_equations(double t, const double *p, const double *q, const double *v, double *out)
{
    (void)t;
    const double e1 = cos(q[3]);
    const double e2 = sin(q[3]);
    out[0] = p[0];
    out[1] = 0.0;
    out[2] = 0.0;
    out[3] = 0.0;
    out[4] = 0.0;
    out[5] = p[0];
    out[6] = 0.0;
    out[7] = 0.0;
    out[8] = 0.0;
    out[9] = 0.0;
    out[10] = p[0] * hmi_powi(p[1], 2.0) * p[2];
    out[11] = 0.0;
    out[12] = 0.0;
    out[13] = 0.0;
    out[14] = 0.0;
    out[15] = p[3];
    out[16] = sin(p[5]) * (p[0] * p[4]);
    out[17] = 0.0;
    out[18] = 0.0;
    out[19] = 0.0;
    out[20] = e1;
    out[21] = e2;
    out[22] = -p[1];
    out[23] = 0.0;
    out[24] = e2;
    out[25] = -e1;
    out[26] = 0.0;
    out[27] = 0.0;
    out[28] = v[3] * (v[0] * e2 - v[1] * e1);
    out[29] = -(v[3] * (v[0] * e1 + v[1] * e2));
    out[30] = 0.0;
    out[31] = 0.0;
    out[32] = 0.0;
    out[33] = 0.0;
}
