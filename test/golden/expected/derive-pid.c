/* pid: M q'' = Q + Qc, A q'' = b. Made by hamel 0.1.0.
 *
 * q[i], v[i]: theta
 * p[i]: J=0.02 m=0.5 l=0.29999999999999999 g=9.8100000000000005 c=0.01 kp=12 ki=20 kd=1.2 tau=0.01 most=4
 * z[i]: sum_error motor
 * u[i], du[i], ddu[i] (inputs and their rates): target
 * out: M (1, row-major), Q (1), A (0, row-major), b (0), C (1),
 *      rates of the states (2)
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


void pid_equations(double t, const double *p, const double *q, const double *v, const double *z, const double *u, const double *du, double *out)
{
    (void)t;
    const double e1 = u[0] - q[0];
    const double e2 = hm_max(-p[9], hm_min(p[9], p[5] * e1 + p[6] * z[0] + p[7] * (du[0] - v[0])));
    out[0] = p[0];
    out[1] = z[1] - p[1] * p[2] * p[3] * cos(q[0]) - p[4] * v[0];
    out[2] = 0.0;
    out[3] = e1;
    out[4] = (e2 - z[1]) / p[8];
}
