/* The Jacobian of the motion, exact or by differences, and real solves with sigma I - J. */
#include "integrate/implicit/newton.h"

#include "dynamics/sim/motion_derivatives.h"
#include "linalg/linalg.h"

/* ---- memory ---- */

static size_t rows_of(const hmi_ode *ode)
{
    return ode->dirac ? ode->size : ode->size - ode->n;
}

size_t hmi_newton_size(const hmi_ode *ode, bool with_complex)
{
    size_t rows = rows_of(ode), squares = with_complex ? 3 : 1;
    size_t doubles = rows * (ode->size + 1) + squares * rows * rows + 3 * ode->size;
    size_t ints = 2 * rows + 2;
    return (doubles + (ints * sizeof(int) + sizeof(double) - 1) / sizeof(double)) * sizeof(double);
}

hm_status hmi_newton_init(hmi_newton *w, hmi_ode *ode, bool with_complex, void *memory)
{
    size_t rows = rows_of(ode);
    double *next = memory;
    *w = (hmi_newton){.ode = ode,
                      .size = (int)ode->size,
                      .rows = (int)rows,
                      .kinematic = (int)(ode->size - rows),
                      .width = (int)ode->size + 1};
    w->J = next;
    w->scratch = w->J + rows * (ode->size + 1);
    w->real = w->scratch + 3 * ode->size;
    next = w->real + rows * rows;
    if (with_complex) {
        w->re = next;
        w->im = w->re + rows * rows;
        next = w->im + rows * rows;
    }
    w->real_pivots = (int *)next;
    w->complex_pivots = w->real_pivots + rows;
    return ode->dirac ? HM_OK : hmi_sim_prepare_derivatives(ode->sim, HMI_JACOBIAN_STATE);
}

/* ---- J ---- */

/* One column by central differences. */
static hm_status difference(hmi_newton *w, double t, double *y, int j)
{
    double *up = w->scratch, *down = w->scratch + w->size;
    double kept = y[j], h = ldexp(hmi_power_of_two(1 / fmax(fabs(kept), 1e-2)), -17);
    y[j] = kept + h;
    hm_status status = hmi_ode_evaluate(w->ode, t, y, up);
    y[j] = kept - h;
    if (status == HM_OK)
        status = hmi_ode_evaluate(w->ode, t, y, down);
    y[j] = kept;
    for (int i = 0; i < w->rows; i++)
        w->J[(size_t)i * (size_t)w->width + (size_t)j] =
            (up[w->kinematic + i] - down[w->kinematic + i]) / (2 * h);
    return status;
}

hm_status hmi_newton_jacobian(hmi_newton *w, double t, const double *y)
{
    hm_status status = HM_OK;
    if (!w->ode->dirac && !w->ode->branches) {
        const hmi_point at = hmi_ode_point(w->ode, t, y);
        return hmi_sim_jacobian(w->ode->sim, &at, w->ode->baumgarte, w->J);
    }
    double *moved = w->scratch + 2 * w->size;
    hmi_copy(w->size, y, moved);
    for (int j = 0; j < w->size && status == HM_OK; j++)
        status = difference(w, t, moved, j);
    return status;
}

/* ---- real ---- */

bool hmi_newton_factor(hmi_newton *w, double sigma)
{
    int r = w->rows, k = w->kinematic;
    w->sigma = sigma;
    for (int i = 0; i < r; i++) {
        const double *J = w->J + (size_t)i * (size_t)w->width;
        double *to = w->real + (size_t)i * (size_t)r;
        for (int j = 0; j < r; j++)
            to[j] = -J[k + j];
        for (int j = 0; j < k; j++)
            to[j] -= J[j] / sigma;
        to[i] += sigma;
    }
    return hmi_lu(r, w->real, w->real_pivots, 0) && hmi_all_finite(r * r, w->real);
}

void hmi_newton_solve(hmi_newton *w, double *x)
{
    int k = w->kinematic;
    for (int i = 0; i < w->rows && k; i++)
        x[k + i] += hmi_dot(k, w->J + (size_t)i * (size_t)w->width, x) / w->sigma;
    hmi_lu_solve(w->rows, w->real, w->real_pivots, x + k);
    for (int i = 0; i < k; i++)
        x[i] = (x[i] + x[k + i]) / w->sigma;
}

/* ---- complex ---- */

bool hmi_newton_factor_complex(hmi_newton *w, double sigma_re, double sigma_im)
{
    int r = w->rows, k = w->kinematic;
    double square = sigma_re * sigma_re + sigma_im * sigma_im;
    double inverse_re = sigma_re / square, inverse_im = -sigma_im / square;
    w->sigma_re = sigma_re;
    w->sigma_im = sigma_im;
    for (int i = 0; i < r; i++) {
        const double *J = w->J + (size_t)i * (size_t)w->width;
        double *re = w->re + (size_t)i * (size_t)r, *im = w->im + (size_t)i * (size_t)r;
        for (int j = 0; j < r; j++) {
            re[j] = -J[k + j] - (j < k ? J[j] * inverse_re : 0);
            im[j] = j < k ? -J[j] * inverse_im : 0;
        }
        re[i] += sigma_re;
        im[i] += sigma_im;
    }
    return hmi_complex_lu(r, w->re, w->im, w->complex_pivots) && hmi_all_finite(r * r, w->re);
}

void hmi_newton_solve_complex(hmi_newton *w, double *re, double *im)
{
    int k = w->kinematic;
    double square = w->sigma_re * w->sigma_re + w->sigma_im * w->sigma_im;
    double a = w->sigma_re / square, b = -w->sigma_im / square; /* 1/sigma */
    for (int i = 0; i < w->rows && k; i++) {
        const double *J = w->J + (size_t)i * (size_t)w->width;
        double x = hmi_dot(k, J, re), y = hmi_dot(k, J, im);
        re[k + i] += a * x - b * y;
        im[k + i] += a * y + b * x;
    }
    hmi_complex_lu_solve(w->rows, w->re, w->im, w->complex_pivots, re + k, im + k);
    for (int i = 0; i < k; i++) {
        double x = re[i] + re[k + i], y = im[i] + im[k + i];
        re[i] = a * x - b * y;
        im[i] = a * y + b * x;
    }
}
