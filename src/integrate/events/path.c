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

static double whole_power(double x, int n)
{
    double power = 1;
    for (; n > 0; n /= 2, x *= x)
        power *= n % 2 ? x : 1;
    return power;
}

/* Powers of a series that are taken about another place on long pieces; `rest` bounds the others. */
enum { LOW_DEGREE = 16 };
#define LONG_PIECE (1.0 / 64)

/* sum_k binomial(k, 4) |c_k| R^(k-4), from k = first to last. */
static double fourth_sum(const double *c, int first, int last, double R)
{
    double sum = 0, power = whole_power(R, first - 4);
    for (int k = first; k <= last; k++, power *= R)
        sum += (double)(k * (k - 1)) * (double)((k - 2) * (k - 3)) * power * fabs(c[k]);
    return sum * (1.0 / 24);
}

void hmi_path_measure(const hmi_path *path, size_t components)
{
    int degree = path->degree, low = degree < LOW_DEGREE ? degree : LOW_DEGREE;
    double R = fmax(path->origin, 1 - path->origin);
    for (size_t i = 0; i < components; i++) {
        const double *c = path->coefficient + i * ((size_t)degree + 1);
        double size[2] = {0, 0}, rest = fourth_sum(c, low + 1, degree, R);
        for (int k = 0; k <= degree; k++)
            size[k % 2] += fabs(c[k]);
        path->bounds[i] = (hmi_path_bounds){.noise = 2 * (degree + 2) * 0x1p-53 *
                                                     (size[0] + size[1]),
                                            .fourth = fourth_sum(c, 4, low, R) + rest,
                                            .rest = rest * 4 / (LOW_DEGREE - 2)};
    }
}

/* Sums of terms by the sides on which they lie. */
typedef struct spread {
    double lo, hi;
} spread;

static inline void add_term(spread *sum, double size, bool both)
{
    double down = size < 0 ? -size : 0, up = size > 0 ? size : 0;
    sum->lo -= both ? down + up : down;
    sum->hi += both ? down + up : up;
}

/* Bounds from the value and slope at a place, and from how far they go from there. */
static inline hmi_enclosure around(const hmi_path *path, const hmi_path_bounds *bounds,
                                   double value, spread values, double slope, spread slopes)
{
    double noise = bounds->noise, more = path->degree * noise;
    return (hmi_enclosure){hmi_interval_widen(value + values.lo - noise, value + values.hi + noise),
                           hmi_interval_widen(slope + slopes.lo - more, slope + slopes.hi + more)};
}

/* Of all terms c_k x^k, |x| <= r. */
static hmi_enclosure about_origin(const hmi_path *path, size_t component, double r)
{
    int degree = path->degree;
    const double *c = path->coefficient + component * ((size_t)degree + 1);
    spread values = {0, 0}, slopes = {0, 0};
    double power = r;
    for (int k = 1; k <= degree; k++, power *= r)
        add_term(&values, c[k] * power, k % 2);
    power = r;
    for (int k = 2; k <= degree; k++, power *= r)
        add_term(&slopes, k * c[k] * power, k % 2 == 0);
    return around(path, &path->bounds[component], c[0], values, degree > 0 ? c[1] : 0, slopes);
}

/* Even and odd powers apart: two short chains of operations instead of a long one. */
static hmi_enclosure at_point(const hmi_path *path, size_t component, double x)
{
    int top = path->degree / 2 * 2;
    const double *c = path->coefficient + component * ((size_t)path->degree + 1);
    double odd = top < path->degree ? c[top + 1] : 0, even = c[top], odd_slope = 0, even_slope = 0;
    double square = x * x;
    for (int k = top - 2; k >= 0; k -= 2) {
        even_slope = even_slope * square + even;
        odd_slope = odd_slope * square + odd;
        even = even * square + c[k];
        odd = odd * square + c[k + 1];
    }
    double slope = odd + 2 * x * (even_slope + x * odd_slope);
    return around(path, &path->bounds[component], even + x * odd, (spread){0, 0}, slope,
                  (spread){0, 0});
}

/* On long pieces of a series (R = 1) terms beyond LOW_DEGREE change no d_k, k <= 3, by more than
 * rest |m|^(LOW_DEGREE - 2): the largest factor is binomial(k, 3) = 4 binomial(k, 4)/(k - 3), and powers
 * of |m| < 1 fall. */
static hmi_enclosure about(const hmi_path *path, size_t component, double m, double r)
{
    int degree = path->degree;
    const hmi_path_bounds *bounds = &path->bounds[component];
    const double *c = path->coefficient + component * ((size_t)degree + 1);
    double last = bounds->fourth * r * r * r, lost = 0;
    if (r > LONG_PIECE && degree > LOW_DEGREE && path->origin == 0) {
        degree = LOW_DEGREE;
        lost = bounds->rest * whole_power(fabs(m), LOW_DEGREE - 2);
    }
    double d0 = c[degree], d1 = 0, d2 = 0, d3 = 0;
    for (int k = degree - 1; k >= 0; k--) {
        d3 = d3 * m + d2;
        d2 = d2 * m + d1;
        d1 = d1 * m + d0;
        d0 = d0 * m + c[k];
    }
    double values_lost = last * r + 2 * lost, slopes_lost = 4 * last + 3 * lost; /* r <= 1/2 */
    spread values = {-values_lost, values_lost}, slopes = {-slopes_lost, slopes_lost};
    add_term(&values, d3 * r * r * r, true);
    add_term(&values, d2 * r * r, false);
    add_term(&values, d1 * r, true);
    add_term(&slopes, 3 * d3 * r * r, false);
    add_term(&slopes, 2 * d2 * r, true);
    return around(path, bounds, d0, values, d1, slopes);
}

hmi_enclosure hmi_path_enclose(const hmi_path *path, size_t component, double a, double b)
{
    double m = 0.5 * (a + b) - path->origin, r = 0.5 * (b - a);
    if (a == b)
        return at_point(path, component, a - path->origin);
    if (m == 0)
        return about_origin(path, component, r);
    return about(path, component, m, r);
}

double hmi_path_value(const hmi_path *path, size_t component, double s)
{
    const double *c = path->coefficient + component * ((size_t)path->degree + 1);
    double value = c[path->degree], x = s - path->origin;
    for (int k = path->degree - 1; k >= 0; k--)
        value = value * x + c[k];
    return value;
}
