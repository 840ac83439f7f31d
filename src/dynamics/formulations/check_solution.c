/* Checks on demand: does a solution have the properties that define it?
 *
 * Measured in scaled variables (workspace.h), where inertias are of unit size and rows of unit
 * length: accelerations against the largest of accelerations and forces, forces against the largest
 * force.
 */
#include "dynamics/formulations/workspace.h"

/* The solution in scaled variables. */
typedef struct scaled {
    double *x, *given, *C, *Qi, *Qni; /* q''; Q + u; C; Qi; Qni */
    double size_x, size_f;
} scaled;

static double *scale_force(hmi_dynamics *d, const double *f)
{
    double *to = hmi_take(d, (size_t)d->n);
    hmi_times(d->n, d->D, f, to);
    return to;
}

static scaled scale_solution(hmi_dynamics *d, const hmi_equations *e, const hmi_solution *s)
{
    scaled v = {.given = scale_force(d, s->Q), .C = scale_force(d, s->C)};
    v.Qi = scale_force(d, s->Qi);
    v.Qni = scale_force(d, s->Qni);
    v.x = hmi_take(d, (size_t)d->n);
    for (int i = 0; i < d->n; i++) {
        v.x[i] = s->qdd[i] / d->D[i];
        for (int k = 0; k < e->servo_count; k++)
            v.given[i] += d->D[i] * s->u[hmi_area(k, d->n) + (size_t)i];
    }
    v.size_f = fmax(hmi_max_abs(d->n, v.given), hmi_max_abs(d->n, v.C));
    v.size_f = fmax(v.size_f, fmax(hmi_max_abs(d->n, v.Qi), hmi_max_abs(d->n, v.Qni)));
    v.size_x = fmax(v.size_f, hmi_max_abs(d->n, v.x));
    return v;
}

static double relative(double left, double size)
{
    return left == 0 ? 0 : left / fmax(left, size);
}

static double constraint_check(const hmi_dynamics *d, const hmi_equations *e, const scaled *v)
{
    double worst = 0;
    for (int k = 0; k < d->m; k++) {
        double b = e->b[d->order[k]] * d->R[d->order[k]];
        worst = fmax(worst, fabs(b - hmi_dot(d->n, d->A + hmi_area(k, d->n), v->x)));
    }
    return relative(worst, v->size_x);
}

static double balance_check(const hmi_dynamics *d, const scaled *v)
{
    double worst = 0;
    for (int i = 0; i < d->n; i++)
        worst = fmax(worst, fabs(v->given[i] + v->Qi[i] + v->Qni[i] -
                                 hmi_dot(d->n, d->M + hmi_area(i, d->n), v->x)));
    return relative(worst, v->size_x);
}

/* max |N f|: the work of f under virtual displacements of unit length */
static double work_check(const hmi_dynamics *d, const double *f, double size)
{
    double worst = 0;
    for (int k = d->rank; k < d->n; k++)
        worst = fmax(worst, fabs(hmi_dot(d->n, d->Z + hmi_area(k, d->n), f)));
    return relative(worst, size);
}

/* max |A M^-1 Qni| */
static double projection_check(const hmi_dynamics *d, const scaled *v)
{
    if (!d->cholesky)
        return 0;
    double worst = 0;
    for (int pass = 0; pass < 2; pass++) { /* M^-1 of both, in place: nothing needs them after */
        hmi_lower_solve(d->n, d->L, pass ? v->C : v->Qni);
        hmi_lower_solve_transposed(d->n, d->L, pass ? v->C : v->Qni);
    }
    for (int k = 0; k < d->m; k++)
        worst = fmax(worst, fabs(hmi_dot(d->n, d->A + hmi_area(k, d->n), v->Qni)));
    return relative(worst, fmax(hmi_max_abs(d->n, v->Qni), hmi_max_abs(d->n, v->C)));
}

void hmi_dynamics_check(hmi_dynamics *d, const hmi_equations *all, const hmi_solution *solution,
                        hmi_checks *checks)
{
    const hmi_equations held = hmi_gather_rows(d, all), *equations = &held;
    d->scratch_used = 0;
    scaled v = scale_solution(d, equations, solution);
    double *rest = hmi_take(d, (size_t)d->n);
    for (int i = 0; i < d->n; i++)
        rest[i] = v.Qi[i] + v.Qni[i] - v.C[i];
    checks->constraint = constraint_check(d, equations, &v);
    checks->balance = balance_check(d, &v);
    checks->ideal = work_check(d, v.Qi, v.size_f);
    checks->work = work_check(d, rest, v.size_f);
    checks->projection = projection_check(d, &v);
    d->scratch_used = 0;
}
