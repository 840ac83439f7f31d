/* Length, acceptance and dense output of fixed steps. */
#include "integrate/implicit/fixed_step.h"
#include "linalg/dense.h"

double hmi_fixed_step(const hmi_stepper *s, double t_limit)
{
    double left = t_limit - s->t, h = fmin(s->step, s->largest);
    return h * (1 + 1e-9) >= fabs(left) ? left : copysign(h, left);
}

void hmi_fixed_accept(hmi_stepper *s, double h, const double *y1)
{
    memcpy(s->y_old, s->y, (s->size + s->works) * sizeof *s->y);
    memcpy(s->y, y1, s->size * sizeof *s->y);
    s->t_old = s->t;
    s->t += h;
    s->f_valid = false;
    s->error = 0;
    s->steps++;
}

void hmi_fixed_interpolate(const hmi_stepper *s, double h, const double *y1, double t, double *y)
{
    size_t n = s->ode->n;
    double x = (t - s->t_old) / h;
    for (size_t i = 0; i < n; i++) {
        double q0 = s->y_old[i], dq = y1[i] - q0;
        double v0 = s->y_old[n + i], v1 = y1[n + i];
        double a = h * v0 - dq, b = dq - h * v1;
        y[i] = q0 + x * dq + x * (1 - x) * ((1 - x) * a + x * b);
        y[n + i] = (dq + (1 - 2 * x) * ((1 - x) * a + x * b) + x * (1 - x) * (b - a)) / h;
    }
    for (size_t i = 2 * n; i < s->size; i++)
        y[i] = s->y_old[i] + x * (y1[i] - s->y_old[i]);
}
