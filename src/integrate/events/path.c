/* Bounds of polynomials: expanded about the middle of the piece. */
#include "integrate/events/path.h"

#include <string.h>

/* ---- from values to polynomials ---- */

enum { MOST_FITTED = 16 };
#define PI 3.14159265358979323846

double hmi_path_place(int degree, int j)
{
    return j == 0 ? 0 : j == degree ? 1 : 0.5 - 0.5 * cos(PI * j / degree);
}

/* f = sum_k c_k T_k(x), x = 2 s - 1; values are ordered by growing x. */
static void chebyshev(int degree, const double *value, double *c)
{
    for (int k = 0; k <= degree; k++) {
        double sum = 0;
        for (int j = 0; j <= degree; j++) {
            double weight = j == 0 || j == degree ? 0.5 : 1;
            sum += weight * value[degree - j] * cos(PI * (double)(j * k) / degree);
        }
        c[k] = (k == 0 || k == degree ? 1 : 2) * sum / degree;
    }
}

void hmi_path_fit(int degree, const double *value, double *coefficient)
{
    double c[MOST_FITTED + 1], t0[MOST_FITTED + 1] = {1}, t1[MOST_FITTED + 1] = {0, 1};
    chebyshev(degree, value, c);
    memset(coefficient, 0, ((size_t)degree + 1) * sizeof *coefficient);
    for (int k = 0; k <= degree; k++) { /* t0 = T_k in powers of x */
        for (int i = 0; i <= k; i++)
            coefficient[i] += c[k] * t0[i];
        for (int i = MOST_FITTED; i >= 0; i--) {
            double next = (i > 0 ? 2 * t1[i - 1] : 0) - t0[i];
            t0[i] = t1[i];
            t1[i] = next;
        }
    }
    double power = 1;
    for (int k = 0; k <= degree; k++, power *= 2) /* x = 2 (s - 1/2) */
        coefficient[k] *= power;
}

double hmi_path_tail(int degree, const double *value)
{
    double c[MOST_FITTED + 1];
    chebyshev(degree, value, c);
    return fabs(c[degree]) + fabs(c[degree - 1]) + (degree > 2 ? 0.5 * fabs(c[degree - 2]) : 0);
}

/* ---- bounds ---- */

/* d := the coefficients of p(m + x) as a polynomial in x. */
static void expand(const double *c, int degree, double m, double *d)
{
    memcpy(d, c, ((size_t)degree + 1) * sizeof *d);
    for (int i = 0; i < degree && m != 0; i++)
        for (int k = degree - 1; k >= i; k--)
            d[k] += m * d[k + 1];
}

/* The range of sum_k d_k x^k over |x| <= 1 lies in d_0 + this, up to rounding. */
static hmi_interval spread(const double *d, int degree)
{
    hmi_interval sum = {0, 0};
    for (int k = degree; k >= 1; k--) { /* small terms first */
        double size = fabs(d[k]);
        sum.lo -= k % 2 || d[k] < 0 ? size : 0;
        sum.hi += k % 2 || d[k] > 0 ? size : 0;
    }
    return sum;
}

/* Rounding of the expansion, and of the dense output that the polynomial stands for. */
static double rounding(const double *c, int degree)
{
    double sum = 0;
    for (int k = 0; k <= degree; k++)
        sum += fabs(c[k]);
    return 2 * (degree + 2) * 0x1p-53 * sum;
}

hmi_enclosure hmi_path_enclose(const hmi_path *path, size_t component, double a, double b)
{
    double d[HMI_PATH_MOST_DEGREE + 1] = {0}, e[HMI_PATH_MOST_DEGREE + 1];
    int degree = path->degree;
    const double *c = path->coefficient + component * ((size_t)degree + 1);
    double m = 0.5 * (a + b) - path->origin, r = 0.5 * (b - a), noise = rounding(c, degree);
    double power = 1, rate_power = 1;
    expand(c, degree, m, e);
    for (int k = 1; k <= degree; k++)
        d[k] = e[k] * (power *= r);
    hmi_interval value = spread(d, degree);
    for (int k = 1; k <= degree; k++, rate_power *= r) /* p' = sum_k k e_k (r x)^(k-1) */
        d[k - 1] = k * e[k] * rate_power;
    hmi_interval rate = degree > 0 ? spread(d, degree - 1) : (hmi_interval){0, 0};
    double slope = degree > 0 ? d[0] : 0;
    return (hmi_enclosure){
        hmi_interval_widen(e[0] + value.lo - noise, e[0] + value.hi + noise),
        hmi_interval_widen(slope + rate.lo - degree * noise, slope + rate.hi + degree * noise)};
}

double hmi_path_value(const hmi_path *path, size_t component, double s)
{
    const double *c = path->coefficient + component * ((size_t)path->degree + 1);
    double value = c[path->degree], x = s - path->origin;
    for (int k = path->degree - 1; k >= 0; k--)
        value = value * x + c[k];
    return value;
}
