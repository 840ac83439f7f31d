/* The self-check: every formulation that applies, by its own decomposition, against the one chosen.
 *
 * Differences are measured in scaled variables, q'' against the larger of itself and of the forces
 * (inertias are of unit size there), Qc against the larger of itself and of the given forces: what
 * cancels to nothing does not count as disagreement. weighted.c adds an answer that does not rest on the
 * rank that all others share.
 */
#include "dynamics/formulations/workspace.h"

/* What all formulations are asked, and the chosen one's answer. */
typedef struct question {
    double *force, *none;    /* Q + u, zero right sides */
    double *x, *l, *dx, *dl; /* a formulation's answer */
    double *x0, *f0, *f;     /* q'' and Qc of the chosen one; Qc of this one */
    double size_x, size_f;
} question;

static double distance(int n, const double *x, const double *y)
{
    double largest = 0;
    for (int i = 0; i < n; i++)
        largest = fmax(largest, fabs(x[i] - y[i]));
    return largest;
}

/* f := C + A^T l */
static void total_force(hmi_dynamics *d, const double *l, double *f)
{
    hmi_copy(d->n, d->motion.C, f);
    hmi_row_force(d, l, f);
}

static void ask(hmi_dynamics *d, question *q)
{
    size_t n = (size_t)d->n, m = (size_t)d->m;
    double **vectors_n[] = {&q->force, &q->x, &q->dx, &q->x0, &q->f0, &q->f};
    double **vectors_m[] = {&q->none, &q->l, &q->dl};
    for (size_t i = 0; i < sizeof vectors_n / sizeof *vectors_n; i++)
        *vectors_n[i] = hmi_take(d, n);
    for (size_t i = 0; i < sizeof vectors_m / sizeof *vectors_m; i++)
        *vectors_m[i] = hmi_take(d, m);
    hmi_zero(d->m, q->none);
    hmi_copy(d->n, d->motion.Q, q->force);
    for (int i = 0; i < d->servo.count; i++)
        hmi_axpy(d->n, 1, d->motion.u + hmi_area(i, d->n), q->force);
    hmi_copy(d->n, d->motion.ideal, q->x0);
    hmi_axpy(d->n, 1, d->motion.extra, q->x0);
    hmi_copy(d->rank, d->motion.ideal_l, q->l);
    hmi_axpy(d->rank, 1, d->motion.extra_l, q->l);
    total_force(d, q->l, q->f0);
    double given = fmax(hmi_max_abs(d->n, q->force), hmi_max_abs(d->n, d->motion.C));
    q->size_f = fmax(given, hmi_max_abs(d->n, q->f0));
    q->size_x = fmax(fmax(given, hmi_max_abs(d->n, q->x0)), hmi_max_abs(d->rank, d->b));
}

/* The largest relative difference of the answer of d->method. */
static double answer_differs(hmi_dynamics *d, question *q)
{
    hmi_solve_scaled(d, q->force, d->b, q->x, q->l);
    hmi_solve_scaled(d, d->motion.C, q->none, q->dx, q->dl);
    hmi_axpy(d->n, 1, q->dx, q->x);
    hmi_axpy(d->rank, 1, q->dl, q->l);
    total_force(d, q->l, q->f);
    double x = distance(d->n, q->x, q->x0), f = distance(d->n, q->f, q->f0);
    return fmax(q->size_x > 0 ? x / q->size_x : 0, q->size_f > 0 ? f / q->size_f : 0);
}

/* The one that shares no decision of rank with the others, under all forces. */
static double weighted_differs(hmi_dynamics *d, const hmi_equations *e, question *q)
{
    hmi_copy(d->n, q->force, q->f);
    hmi_axpy(d->n, 1, d->motion.C, q->f);
    double x = hmi_weighted_difference(d, e, q->f, q->x0, q->size_x);
    return x > 0 && q->size_x > 0 ? x / q->size_x : 0;
}

void hmi_compare(hmi_dynamics *d, const hmi_equations *equations, hmi_solution *solution)
{
    size_t mark = d->scratch_used;
    const hmi_solver *chosen = d->method;
    question q = {0};
    ask(d, &q);
    solution->disagreement = 0;
    for (int f = HM_FORMULATION_AUTO + 1; f < HMI_FORMULATIONS; f++) {
        d->method = hmi_solver_of((hm_formulation)f);
        if (d->method == chosen || d->undetermined || !d->method->applies(d) ||
            !d->method->factor(d))
            continue;
        solution->disagreement = fmax(solution->disagreement, answer_differs(d, &q));
        solution->formulations |= 1u << f;
    }
    if (!d->undetermined && solution->verdict.consistent)
        solution->disagreement = fmax(solution->disagreement, weighted_differs(d, equations, &q));
    d->method = chosen;
    (void)chosen->factor(d); /* as before: derivatives use it */
    d->scratch_used = mark;
}
