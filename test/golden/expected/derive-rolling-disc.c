/* rolling_disc: M q'' = Q + Qc, A q'' = b. Made by hamel 0.1.0.
 *
 * q[i], v[i]: x y yaw lean spin
 * p[i]: m=3.4300000000000002 r=0.26000000000000001 g=9.8100000000000005
 * out: M (25, row-major), Q (5), A (10, row-major), b (2), C (5)
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


void rolling_disc_equations(double t, const double *p, const double *q, const double *v, double *out)
{
    (void)t;
    const double e1 = p[0] * hmi_powi(p[1], 2.0);
    const double e2 = sin(q[3]);
    const double e3 = hmi_powi(e2, 2.0);
    const double e4 = e2 * e1 / 2.0;
    const double e5 = cos(q[3]);
    const double e6 = hmi_powi(v[2], 2.0);
    const double e7 = hmi_powi(v[3], 2.0);
    const double e8 = p[0] * p[1] * p[2] * e2 + e1 * (e2 * (e6 - 4.0 * e7) + 2.0 * v[2] * v[4]) * e5 / 4.0;
    const double e9 = cos(q[2]);
    const double e10 = p[1] * e9;
    const double e11 = sin(q[2]);
    const double e12 = p[1] * e11;
    const double e13 = 2.0 * p[1] * v[2] * v[3];
    const double e14 = p[1] * (e2 * (e6 + e7) + v[2] * v[4]);
    out[0] = p[0];
    out[1] = 0.0;
    out[2] = 0.0;
    out[3] = 0.0;
    out[4] = 0.0;
    out[5] = 0.0;
    out[6] = p[0];
    out[7] = 0.0;
    out[8] = 0.0;
    out[9] = 0.0;
    out[10] = 0.0;
    out[11] = 0.0;
    out[12] = e1 * (e3 + 1.0) / 4.0;
    out[13] = 0.0;
    out[14] = e4;
    out[15] = 0.0;
    out[16] = 0.0;
    out[17] = 0.0;
    out[18] = e3 * e1 + e1 / 4.0;
    out[19] = 0.0;
    out[20] = 0.0;
    out[21] = 0.0;
    out[22] = e4;
    out[23] = 0.0;
    out[24] = e1 / 2.0;
    out[25] = 0.0;
    out[26] = 0.0;
    out[27] = -(e1 * v[3] * (e2 * v[2] + v[4]) * e5 / 2.0);
    out[28] = e8;
    out[29] = -(e1 * v[2] * v[3] * e5 / 2.0);
    out[30] = 1.0;
    out[31] = 0.0;
    out[32] = -(e10 * e2);
    out[33] = -(e12 * e5);
    out[34] = -e10;
    out[35] = 0.0;
    out[36] = 1.0;
    out[37] = -(e12 * e2);
    out[38] = e10 * e5;
    out[39] = -e12;
    out[40] = e13 * e9 * e5 - e14 * e11;
    out[41] = e14 * e9 + e13 * e11 * e5;
    out[42] = 0.0;
    out[43] = 0.0;
    out[44] = 0.0;
    out[45] = 0.0;
    out[46] = 0.0;
}
