/* manipulator: M q'' = Q + Qc, A q'' = b. Made by hamel 0.1.0.
 *
 * q[i], v[i]: q1 q2 q3 q4
 * p[i]: m1=1 m2=1 l1=1 lc1=0.5 lc2=0.5 I1=1 I2=1 J1=1 J2=1 K=1 g=9.8100000000000005 k=1
 * out: M (16, row-major), Q (4), A (0, row-major), b (0), C (4),
 *      servo A (4, row-major), servo b (1)
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


void manipulator_equations(double t, const double *p, const double *q, const double *v, double *out)
{
    (void)t;
    const double e1 = p[1] * hmi_powi(p[4], 2.0);
    const double e2 = cos(q[3]);
    const double e3 = p[0] * hmi_powi(p[3], 2.0) + p[1] * hmi_powi(p[2], 2.0) + e1 + p[5] + p[6] + 2.0 * p[1] * p[2] * p[4] * e2;
    const double e4 = p[1] * p[4];
    const double e5 = e4 * (p[2] * e2 + p[4]) + p[6];
    const double e6 = sin(q[1] + q[3]);
    const double e7 = p[1] * p[2];
    const double e8 = p[9] * (q[0] - q[1]) - e4 * p[10] * e6 - p[10] * (p[0] * p[3] + e7) * sin(q[1]);
    const double e9 = sin(q[3]);
    const double e10 = p[9] * (q[2] - q[3]) - e4 * (p[2] * hmi_powi(v[1], 2.0) * e9 + p[10] * e6);
    out[0] = p[7];
    out[1] = 0.0;
    out[2] = 0.0;
    out[3] = 0.0;
    out[4] = 0.0;
    out[5] = e3;
    out[6] = 0.0;
    out[7] = e5;
    out[8] = 0.0;
    out[9] = 0.0;
    out[10] = p[8];
    out[11] = 0.0;
    out[12] = 0.0;
    out[13] = e5;
    out[14] = 0.0;
    out[15] = e1 + p[6];
    out[16] = p[9] * (q[1] - q[0]);
    out[17] = e8 + e7 * p[4] * v[3] * (2.0 * v[1] + v[3]) * e9;
    out[18] = p[9] * (q[3] - q[2]);
    out[19] = e10;
    out[20] = 0.0;
    out[21] = 0.0;
    out[22] = 0.0;
    out[23] = 0.0;
    out[24] = 0.0;
    out[25] = 1.0;
    out[26] = 0.0;
    out[27] = 1.0;
    out[28] = -(p[11] * (v[1] + v[3]));
}
