/* Error-free transformations: sums and products with their rounding errors (Knuth, Dekker,
 * Veltkamp; the dot product of Ogita, Rump & Oishi 2005). Residuals of iterative refinement are
 * made of them.
 */
#include "linalg/linalg.h"

void hmi_sum_add(hmi_sum *sum, double x)
{
    double s = sum->s + x, part = s - sum->s;
    sum->e += (sum->s - (s - part)) + (x - part);
    sum->s = s;
}

/* Upper half of the digits of x. */
static double upper(double x)
{
    double t = 134217729.0 * x; /* 2^27 + 1 */
    return t - (t - x);
}

static void add_product(hmi_sum *sum, double x, double y)
{
    double p = x * y, xh = upper(x), yh = upper(y), xl = x - xh, yl = y - yh;
    sum->e += xl * yl - (((p - xh * yh) - xl * yh) - xh * yl);
    hmi_sum_add(sum, p);
}

void hmi_sum_dot(hmi_sum *sum, double t, int n, const double *x, int step_x, const double *y)
{
    for (int i = 0; i < n; i++)
        add_product(sum, t * x[(size_t)i * (size_t)step_x], y[i]);
}
