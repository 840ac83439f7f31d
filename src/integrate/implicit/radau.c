/* Radau IIA of order 5 with variable steps, for stiff motion.       [HW96, section IV.8; RADAU5]
 *
 * Collocation at c = (4 - sqrt 6)/10, (4 + sqrt 6)/10, 1. With z_i = Y_i - y the stages are
 *     (h^-1 A^-1 x I - I x J) dz = ...,
 * and the eigenvalues of A^-1, gamma and alpha +- i beta, split this into one real and one complex
 * system of the size of y (newton.h). J is exact (dynamics/sim/motion_derivatives.h) and kept while Newton converges
 * well. The error estimate is of order 3, filtered by (gamma/h I - J)^-1; tolerances are transformed
 * as in RADAU5 (0.1 rtol^2/3), so that the error of the step itself is about the one asked for. Step
 * sizes follow Gustafsson's predictive controller. Dense output is the collocation polynomial.
 *
 * Where the right-hand side cannot be evaluated, or Newton does not converge, the step is reduced.
 * s->step is the first step. With rtol = 0 it is every step: no error control (tests of the order).
 * Verified: test/unit/integrate/test_implicit_radau.c
 */
#include "integrate/implicit/radau.h"

#include "linalg/dense.h"

/* ---- coefficients [HW96 (8.14), RADAU5] ---- */

#define SQRT6 2.449489742783178098197284074705891391966
static const double c1 = (4 - SQRT6) / 10, c2 = (4 + SQRT6) / 10;
static const double gamma_0 = 3.6378342527444957, alpha = 2.6810828736277521,
                    beta = 3.0504301992474105;
static const double estimate[3] = {-(13 + 7 * SQRT6) / 3, (-13 + 7 * SQRT6) / 3, -1.0 / 3};

static const double T[3][3] = {
    {9.1232394870892942792e-02, -0.14125529502095420843, -3.0029194105147424492e-02},
    {0.24171793270710701896, 0.20412935229379993199, 0.38294211275726193779},
    {0.96604818261509293619, 1, 0},
};
static const double T_inverse[3][3] = {
    {4.3255798900631553510, 0.33919925181580986954, 0.54177053993587487119},
    {-4.1787185915519047273, -0.32768282076106238708, 0.47662355450055045196},
    {-0.50287263494578687595, 2.5719269498556054292, -0.59603920482822492497},
};

/* Iterations of Newton: few where a smaller step helps, many where the step is given. */
enum { MOST_NEWTON = 7, MOST_NEWTON_GIVEN = 50 };
static const double safety = 0.9, most_growth = 8, most_shrinking = 0.2;
static const double keep_jacobian_below = 1e-3; /* contraction of Newton */

/* ---- memory ---- */

enum { VECTORS = 14 };

static size_t memory_size(const hmi_method *method, const hmi_ode *ode)
{
    (void)method;
    return sizeof(hmi_radau) + VECTORS * ode->size * sizeof(double) + hmi_newton_size(ode, true);
}

static void take_memory(hmi_radau *r, size_t size)
{
    double *next = (double *)(r + 1);
    for (int i = 0; i < 3; i++) {
        r->z[i] = next + (size_t)i * size;
        r->w[i] = next + (size_t)(3 + i) * size;
        r->g[i] = next + (size_t)(6 + i) * size;
        r->poly[i] = next + (size_t)(9 + i) * size;
    }
    r->scale = next + 12 * size;
    r->end = next + 13 * size;
    r->newton_memory = next + VECTORS * size;
}

static hm_status applies(const hmi_ode *ode, const char **why)
{
    (void)ode;
    (void)why;
    return HM_OK;
}

static hm_status start(hmi_stepper *s)
{
    hmi_radau *r = s->memory;
    r->given = s->rtol == 0;
    take_memory(r, s->size);
    r->rtol = r->given ? 1e-9 : 0.1 * pow(s->rtol, 2.0 / 3);
    r->atol = r->given ? 1e-12 : r->rtol * (s->atol / s->rtol);
    r->newton_tolerance = fmax(10 * HMI_EPSILON / r->rtol, fmin(0.03, sqrt(r->rtol)));
    r->h = r->h_proposed = 0;
    r->h_failed = INFINITY;
    r->has_polynomial = r->has_jacobian = r->rejected = false;
    r->most_iterations = r->given ? MOST_NEWTON_GIVEN : MOST_NEWTON;
    r->first = true;
    r->contraction = 1;
    r->convergence = 1;
    return hmi_newton_init(&r->newton, s->ode, true, r->newton_memory);
}

/* ---- norms and the first step ---- */

static void measure(hmi_radau *r, size_t size, const double *y)
{
    for (size_t i = 0; i < size; i++)
        r->scale[i] = r->atol + r->rtol * fabs(y[i]);
}

static double scaled_square(const hmi_radau *r, size_t size, const double *x)
{
    double sum = 0;
    for (size_t i = 0; i < size; i++)
        sum += x[i] / r->scale[i] * (x[i] / r->scale[i]);
    return sum;
}

static double scaled_norm(const hmi_radau *r, size_t size, const double *x)
{
    return sqrt(scaled_square(r, size, x) / (double)size);
}

/* For an error estimate of order 3, which goes with the fourth power of the step. */
static double first_step(hmi_stepper *s, double direction)
{
    hmi_radau *r = s->memory;
    double d0 = scaled_norm(r, s->size, s->y), d1 = scaled_norm(r, s->size, s->f);
    double h = fmin(hmi_guess_first_step(d0, d1), s->largest);
    for (size_t i = 0; i < s->size; i++)
        r->g[0][i] = s->y[i] + direction * h * s->f[i];
    if (hmi_ode_evaluate(s->ode, s->t + direction * h, r->g[0], r->g[1]) != HM_OK)
        return direction * 1e-3 * h;
    for (size_t i = 0; i < s->size; i++)
        r->g[1][i] -= s->f[i];
    double d2 = scaled_norm(r, s->size, r->g[1]) / h;
    return direction * fmin(hmi_improve_first_step(h, d1, d2, 4), s->largest);
}

/* ---- the stages ---- */

/* Starting values: the last collocation polynomial, continued. */
static void predict(hmi_stepper *s, double h)
{
    hmi_radau *r = s->memory;
    const double at[3] = {c1, c2, 1};
    for (int k = 0; k < 3; k++) {
        if (!r->has_polynomial || r->first) {
            memset(r->z[k], 0, s->size * sizeof(double));
            continue;
        }
        double x = at[k] * h / r->h_polynomial;
        for (size_t i = 0; i < s->size; i++)
            r->z[k][i] = x * (r->poly[0][i] +
                              (x - (c2 - 1)) * (r->poly[1][i] + (x - (c1 - 1)) * r->poly[2][i]));
    }
}

/* to = S x I from, 3 x 3 by components */
static void transform(const double S[3][3], size_t size, double *const from[3], double *const to[3])
{
    for (size_t i = 0; i < size; i++) {
        double a = from[0][i], b = from[1][i], c = from[2][i];
        for (int k = 0; k < 3; k++)
            to[k][i] = S[k][0] * a + S[k][1] * b + S[k][2] * c;
    }
}

/* g_k = f(t + c_k h, y + z_k) */
static hm_status evaluate_stages(hmi_stepper *s, double h)
{
    hmi_radau *r = s->memory;
    const double at[3] = {c1, c2, 1};
    for (int k = 0; k < 3; k++) {
        for (size_t i = 0; i < s->size; i++)
            r->end[i] = s->y[i] + r->z[k][i];
        hm_status status = hmi_ode_evaluate(s->ode, s->t + at[k] * h, r->end, r->g[k]);
        if (status != HM_OK)
            return status;
    }
    return HM_OK;
}

/* One correction of w = T^-1 z: g becomes dw. Returns its norm. */
static double correct(hmi_stepper *s, double h)
{
    hmi_radau *r = s->memory;
    double a = alpha / h, b = beta / h;
    transform(T_inverse, s->size, r->g, r->g);
    for (size_t i = 0; i < s->size; i++) {
        double w1 = r->w[1][i], w2 = r->w[2][i];
        r->g[0][i] -= gamma_0 / h * r->w[0][i];
        r->g[1][i] -= a * w1 - b * w2;
        r->g[2][i] -= a * w2 + b * w1;
    }
    hmi_newton_solve(&r->newton, r->g[0]);
    hmi_newton_solve_complex(&r->newton, r->g[1], r->g[2]);
    double sum = 0;
    for (int k = 0; k < 3; k++) {
        sum += scaled_square(r, s->size, r->g[k]);
        for (size_t i = 0; i < s->size; i++)
            r->w[k][i] += r->g[k][i];
    }
    transform(T, s->size, r->w, r->z);
    return sqrt(sum / (3 * (double)s->size));
}

/* Will iteration k (from 1) with this contraction reach the tolerance? Else the factor of the step
 * with which it would.                                              [HW96 (8.10), (8.11)] */
static bool will_converge(hmi_radau *r, int k, double norm, double *shrink)
{
    *shrink = 0.5;
    if (r->contraction >= 0.99)
        return false;
    r->convergence = r->contraction / (1 - r->contraction);
    int left = r->most_iterations - 1 - k;
    double reached = r->convergence * norm * pow(r->contraction, left) / r->newton_tolerance;
    if (reached < 1)
        return true;
    *shrink = 0.8 * pow(fmax(1e-4, fmin(20, reached)), -1.0 / (4 + left));
    return false;
}

/* Solves the stages. *shrink: by how much to reduce the step after a failure. */
static bool iterate(hmi_stepper *s, double h, double *shrink)
{
    hmi_radau *r = s->memory;
    double last = 0, last_ratio = 1;
    r->convergence = pow(fmax(r->convergence, HMI_EPSILON), 0.8);
    r->contraction = fabs(keep_jacobian_below);
    predict(s, h);
    transform(T_inverse, s->size, r->z, r->w);
    *shrink = 0.5;
    for (int k = 1; k < r->most_iterations; k++) {
        if (evaluate_stages(s, h) != HM_OK)
            return false;
        double norm = correct(s, h);
        r->iterations = k;
        if (!isfinite(norm))
            return false;
        if (k > 1) {
            double ratio = norm / last;
            r->contraction = k == 2 ? ratio : sqrt(ratio * last_ratio);
            last_ratio = ratio;
            if (!will_converge(r, k, norm, shrink))
                return false;
        }
        last = fmax(norm, HMI_EPSILON);
        if (r->convergence * norm <= r->newton_tolerance)
            return true;
    }
    return false;
}

/* ---- error and step size ---- */

/* err = (gamma/h I - J)^-1 (f(t, y) + (e1 z1 + e2 z2 + e3 z3)/h)             [HW96 (8.19), (8.20)] */
static double estimate_error(hmi_stepper *s, double h)
{
    hmi_radau *r = s->memory;
    double *sum = r->g[1], *error = r->g[0];
    for (size_t i = 0; i < s->size; i++) {
        sum[i] = (estimate[0] * r->z[0][i] + estimate[1] * r->z[1][i] + estimate[2] * r->z[2][i]) /
                 h;
        error[i] = sum[i] + s->f[i];
    }
    hmi_newton_solve(&r->newton, error);
    double size = fmax(scaled_norm(r, s->size, error), 1e-10);
    if (size < 1 || !(r->first || r->rejected))
        return size;
    for (size_t i = 0; i < s->size; i++)
        error[i] += s->y[i];
    if (hmi_ode_evaluate(s->ode, s->t, error, r->g[2]) != HM_OK)
        return size;
    for (size_t i = 0; i < s->size; i++)
        error[i] = r->g[2][i] + sum[i];
    hmi_newton_solve(&r->newton, error);
    return fmax(scaled_norm(r, s->size, error), 1e-10);
}

/* The next step after one of size h with this error. */
static double next_step(hmi_radau *r, double h, double error, bool accepted)
{
    double factor = fmin(safety,
                         safety * (1 + 2 * MOST_NEWTON) / (r->iterations + 2 * MOST_NEWTON));
    double quotient = fmax(1 / most_growth, fmin(1 / most_shrinking, pow(error, 0.25) / factor));
    if (accepted && !r->first) { /* predictive [HW96 (8.25)] */
        double predicted = r->h_accepted / h * pow(error * error / r->error_accepted, 0.25) /
                           safety;
        predicted = fmax(1 / most_growth, fmin(1 / most_shrinking, fabs(predicted)));
        quotient = fmax(quotient, predicted);
    }
    if (accepted) {
        r->h_accepted = h;
        r->error_accepted = fmax(1e-2, error);
    }
    return h / quotient;
}

/* ---- a step ---- */

static void keep_polynomial(hmi_stepper *s, double h)
{
    hmi_radau *r = s->memory;
    for (size_t i = 0; i < s->size; i++) {
        double z1 = r->z[0][i], z2 = r->z[1][i], z3 = r->z[2][i];
        double slope = (z1 - z2) / (c1 - c2), third = (slope - z1 / c1) / c2;
        r->poly[0][i] = (z2 - z3) / (c2 - 1);
        r->poly[1][i] = (slope - r->poly[0][i]) / (c1 - 1);
        r->poly[2][i] = r->poly[1][i] - third;
    }
    r->h_polynomial = h;
    r->has_polynomial = true;
}

static void accept(hmi_stepper *s, double h, double error)
{
    hmi_radau *r = s->memory;
    keep_polynomial(s, h);
    memcpy(s->y_old, s->y, (s->size + s->works) * sizeof *s->y);
    for (size_t i = 0; i < s->size; i++)
        r->end[i] = s->y[i] += r->z[2][i];
    s->t_old = s->t;
    r->t_end = s->t += h;
    s->f_valid = false;
    s->error = error;
    s->steps++;
    r->first = r->rejected = false;
    r->fresh_jacobian = false;
}

static hm_status refresh_jacobian(hmi_stepper *s)
{
    hmi_radau *r = s->memory;
    hm_status status = hmi_newton_jacobian(&r->newton, s->t, s->y);
    r->has_jacobian = r->fresh_jacobian = status == HM_OK;
    r->h = 0;
    if (status != HM_OK)
        s->trouble = "the derivative of the motion cannot be computed here";
    return status;
}

static bool factor(hmi_radau *r, double h)
{
    if (h == r->h)
        return true;
    r->h = 0;
    if (!hmi_newton_factor(&r->newton, gamma_0 / h) ||
        !hmi_newton_factor_complex(&r->newton, alpha / h, beta / h))
        return false;
    r->h = h;
    return true;
}

/* Where Newton failed lately the error, which may be tiny, does not tell how long a step can be: those
 * that failed do, until some have succeeded. */
static double stay_below_failure(hmi_radau *r, double h)
{
    double most = 0.9 * r->h_failed;
    r->h_failed *= 1.5;
    return copysign(fmin(fabs(h), most), h);
}

/* One attempt. On failure the step that follows is in h_proposed. */
static bool attempt(hmi_stepper *s, double h)
{
    hmi_radau *r = s->memory;
    double shrink = 0.5;
    bool controlled = !r->given;
    if (!factor(r, h) || !iterate(s, h, &shrink)) {
        r->h_proposed = shrink * h;
        r->h_failed = fabs(h);
        r->contraction = 1;
        return false;
    }
    double error = controlled ? estimate_error(s, h) : 0;
    if (error < 1) {
        r->h_proposed = controlled ? stay_below_failure(r, next_step(r, h, error, true)) : h;
        accept(s, h, error);
        return true;
    }
    if (!isfinite(error))
        r->h_proposed = 0.1 * h;
    else
        r->h_proposed = r->first ? 0.1 * h : next_step(r, h, error, false);
    return false;
}

/* Small changes of the step do not pay a factorisation. */
static double settle_step(const hmi_radau *r, double h)
{
    double ratio = r->h != 0 ? h / r->h : 0;
    if (!r->given && ratio >= 1 && ratio <= 1.2 && r->contraction <= keep_jacobian_below)
        return r->h;
    return h;
}

static double choose_step(hmi_stepper *s, double direction, bool retry)
{
    hmi_radau *r = s->memory;
    if (r->given)
        return retry ? r->h_proposed : direction * s->step;
    double h = r->h_proposed;
    if (h == 0)
        h = s->step > 0 ? s->step : first_step(s, direction);
    h = copysign(fmin(fabs(h), s->largest), direction);
    if (!retry)
        h = settle_step(r, h);
    return direction > 0 ? hmi_place_step(s, h, 0.4) : h; /* between c1 and c2 */
}

/* Up to the limit, and never leaving a sliver behind. */
static double clip(const hmi_stepper *s, double h, double t_limit)
{
    const hmi_radau *r = s->memory;
    double left = t_limit - s->t;
    if (fabs(h) * (1 + 1e-9) >= fabs(left))
        return left;
    return !r->given && fabs(h) > 0.5 * fabs(left) ? left / 2 : h;
}

static hm_status step(hmi_stepper *s, double t_limit)
{
    hmi_radau *r = s->memory;
    double direction = t_limit >= s->t ? 1 : -1;
    hm_status status = HM_OK;
    if (!s->f_valid)
        status = hmi_ode_evaluate(s->ode, s->t, s->y, s->f);
    if (status != HM_OK) {
        s->trouble = "the motion is not defined here";
        return status;
    }
    s->f_valid = true;
    measure(r, s->size, s->y);
    for (bool retry = false;; retry = true) {
        if (!r->has_jacobian || (r->contraction > keep_jacobian_below && !r->fresh_jacobian))
            status = refresh_jacobian(s);
        if (status != HM_OK)
            return status;
        double wanted = choose_step(s, direction, retry), h = clip(s, wanted, t_limit);
        if (fabs(h) <= 4 * HMI_EPSILON * fabs(s->t) || h == 0) {
            s->trouble = "the step size became too small";
            return s->ode->last != HM_OK ? s->ode->last : HM_ERR_NUMERIC;
        }
        if (attempt(s, h)) {
            if (!r->given && fabs(h) < fabs(wanted)) /* cut by the limit, not by the error */
                r->h_proposed = copysign(fmax(fabs(r->h_proposed), fabs(wanted)), direction);
            if (h == t_limit - s->t_old)
                s->t = t_limit;
            return HM_OK;
        }
        s->rejected++;
        r->rejected = true;
    }
}

static void interpolate(const hmi_stepper *s, double t, double *y)
{
    const hmi_radau *r = s->memory;
    double x = (t - r->t_end) / r->h_polynomial;
    for (size_t i = 0; i < s->size; i++)
        y[i] = r->end[i] + x * (r->poly[0][i] +
                                (x - (c2 - 1)) * (r->poly[1][i] + (x - (c1 - 1)) * r->poly[2][i]));
}

const hmi_method hmi_method_radau = {
    .name = "radau",
    .doc =
        "Radau IIA, implicit, order 5, L-stable, with the exact Jacobian and variable steps: for "
        "stiff motion. Hairer & Wanner 1996, IV.8.",
    .order = 5,
    .dense_degree = 3,
    .places_steps = true,
    .hands_over = true,
    .memory_size = memory_size,
    .applies = applies,
    .start = start,
    .step = step,
    .interpolate = interpolate,
};
