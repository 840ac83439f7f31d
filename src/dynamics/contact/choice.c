/* Forces that the equations of given modes leave open, and which of them are chosen.
 *
 * Where contacts depend on each other (four legs, two feet on one line), x + sum y_k d_k is an answer of the
 * equations for every y; the d_k are in s->null. Signs and limits of friction restrict y. Sticking holds
 * if some y satisfies them all, so that y is searched for which leaves the most room: it maximises the
 * least of
 *     x_i            a normal that pushes
 *     mus N - |T|    a friction that sticks
 * a concave problem without constraints. The least is replaced by -log sum exp(-beta c)/beta, with beta
 * rising to where the difference is rounding, and Newton's method does the rest.
 *
 * Whether the choice matters to the motion is seen by d^T W d, which is the kinetic energy that the forces d
 * would cause.
 */
#include "dynamics/contact/solver.h"

#include "linalg/dense.h"
#include "linalg/linalg.h"

enum { MOST_NEWTON_STEPS = 30, MOST_HALVINGS = 30 };
#define SHARPEST 1e12
#define STAY     1e-9 /* pulls y towards 0, where nothing else holds it */

/* One search. Forces are in units of the largest one. */
typedef struct choice {
    hmi_contact_solver *s;
    const hmi_contact_problem *p;
    const hmi_contact_modes *m;
    const double *x; /* the answer of least norm */
    double force;    /* the unit */
    int free;        /* components of y */
    double beta;
} choice;

/* ---- conditions -------------------------------------------------------------------------------- */

static int conditions(const choice *c)
{
    return c->p->normals + c->p->frictions;
}

/* Component i of the forces at y. */
static double force_at(const choice *c, const double *y, int i)
{
    double value = c->x[i] / c->force;
    for (int k = 0; k < c->free; k++)
        value += y[k] * c->s->null[hmi_area(k, c->p->size) + (size_t)i];
    return value;
}

/* slope += t d(x_i)/dy */
static void add_slope(const choice *c, double t, int i, double *slope)
{
    for (int k = 0; k < c->free; k++)
        slope[k] += t * c->s->null[hmi_area(k, c->p->size) + (size_t)i];
}

/* bend += weight times the second derivative of |T| = |T(y)| of length `length`. */
static void add_bend(const choice *c, const hmi_friction_item *f, const double *T, double length,
                     double weight, double *bend)
{
    for (int k = 0; k < c->free; k++)
        for (int l = 0; l < c->free; l++) {
            const double *a = c->s->null + hmi_area(k, c->p->size) + f->first;
            const double *b = c->s->null + hmi_area(l, c->p->size) + f->first;
            double part = hmi_dot(f->count, a, b) -
                          hmi_dot(f->count, a, T) * hmi_dot(f->count, b, T) / (length * length);
            bend[k * c->free + l] += weight * part / length;
        }
}

/* How much room friction j leaves; slope, bend (NULL: not wanted) as above. */
static double friction_room(const choice *c, int j, const double *y, double *slope, double weight,
                            double *bend)
{
    const hmi_friction_item *f = &c->p->friction[j];
    double T[2] = {0, 0}, side = c->m->presses[j], square = 1e-28;
    for (int k = 0; k < f->count; k++) {
        T[k] = force_at(c, y, f->first + k);
        square += T[k] * T[k];
    }
    double length = sqrt(square);
    if (slope) {
        add_slope(c, f->mus * side, f->normal, slope);
        for (int k = 0; k < f->count; k++)
            add_slope(c, -T[k] / length, f->first + k, slope);
    }
    if (bend)
        add_bend(c, f, T, length, weight, bend);
    return f->mus * side * force_at(c, y, f->normal) - length;
}

/* Condition i at y; false: it is none of these modes. slope is zero before. */
static bool room(const choice *c, int i, const double *y, double *value, double *slope)
{
    int j = i - c->p->normals;
    if (i < c->p->normals) {
        if (c->p->two_sided[i] || !c->m->closed[i])
            return false;
        *value = force_at(c, y, i);
        if (slope)
            add_slope(c, 1, i, slope);
        return true;
    }
    if (c->m->mode[j] == HMI_FRICTION_OPEN)
        return false;
    if (c->m->mode[j] == HMI_FRICTION_STICK) {
        *value = friction_room(c, j, y, slope, 0, NULL);
        return true;
    }
    const hmi_friction_item *f = &c->p->friction[j];
    *value = c->m->presses[j] * force_at(c, y, f->normal);
    if (slope)
        add_slope(c, c->m->presses[j], f->normal, slope);
    return true;
}

/* ---- the most room --------------------------------------------------------------------------- */

/* The function that is made small. */
static double loss(const choice *c, const double *y)
{
    double least = INFINITY, sum = 0, value;
    for (int i = 0; i < conditions(c); i++)
        if (room(c, i, y, &value, NULL))
            least = fmin(least, value);
    for (int i = 0; i < conditions(c); i++)
        if (room(c, i, y, &value, NULL))
            sum += exp(-c->beta * (value - least));
    double stay = 0.5 * STAY * hmi_dot(c->free, y, y);
    return (isfinite(least) ? log(sum) / c->beta - least : 0) + stay;
}

/* g := its gradient, H := its second derivative. */
static void expand_loss(const choice *c, const double *y, double *g, double *H)
{
    int d = c->free;
    double value, at = loss(c, y) - 0.5 * STAY * hmi_dot(d, y, y), *slope = c->s->choice_slope;
    double *mean = c->s->choice_mean;
    hmi_zero(d, mean);
    hmi_zero(d * d, H);
    for (int i = 0; i < conditions(c); i++) {
        hmi_zero(d, slope);
        if (!room(c, i, y, &value, slope))
            continue;
        double weight = exp(-c->beta * (value + at));
        if (weight < 1e-16)
            continue;
        hmi_axpy(d, weight, slope, mean);
        for (int k = 0; k < d; k++)
            hmi_axpy(d, c->beta * weight * slope[k], slope, H + k * d);
        int j = i - c->p->normals;
        if (j >= 0 && c->m->mode[j] == HMI_FRICTION_STICK)
            (void)friction_room(c, j, y, NULL, weight, H);
    }
    for (int k = 0; k < d; k++) {
        hmi_axpy(d, -c->beta * mean[k], mean, H + k * d);
        H[k * d + k] += STAY;
        g[k] = STAY * y[k] - mean[k];
    }
}

/* One step of Newton's method; false: y stays. */
static bool improve(const choice *c, double *y)
{
    int d = c->free;
    double *g = c->s->choice_g, *H = c->s->choice_H, *next = c->s->choice_next;
    double before = loss(c, y), largest = 0;
    expand_loss(c, y, g, H);
    for (int k = 0; k < d; k++)
        largest = fmax(largest, H[k * d + k]);
    for (int k = 0; k < d; k++)
        H[k * d + k] += 1e-14 * largest;
    if (!hmi_cholesky(d, H, 0))
        return false;
    hmi_lower_solve(d, H, g);
    hmi_lower_solve_transposed(d, H, g);
    double part = 1;
    for (int i = 0; i < MOST_HALVINGS; i++, part *= 0.5) {
        hmi_copy(d, y, next);
        hmi_axpy(d, -part, g, next);
        if (!(loss(c, next) < before))
            continue;
        hmi_copy(d, next, y);
        return true;
    }
    return false;
}

static void find_room(choice *c, double *y)
{
    hmi_zero(c->free, y);
    for (c->beta = 10; c->beta <= SHARPEST; c->beta *= 10)
        for (int k = 0; k < MOST_NEWTON_STEPS && improve(c, y); k++)
            ;
}

/* ---- what it is for -------------------------------------------------------------------------- */

/* The largest force, or 1 where there is none. */
static double unit_of(const hmi_contact_problem *p, const double *x)
{
    double largest = hmi_max_abs(p->size, x);
    return largest > 0 ? largest : 1;
}

bool hmi_contact_choose(hmi_contact_solver *s, const hmi_contact_problem *p,
                        const hmi_contact_modes *m, const double *x, double *chosen)
{
    choice c = {.s = s, .p = p, .m = m, .x = x, .force = unit_of(p, x), .free = s->free};
    hmi_copy(p->size, x, chosen);
    if (c.free == 0)
        return false;
    find_room(&c, s->choice_y);
    for (int k = 0; k < c.free; k++)
        hmi_axpy(p->size, c.force * s->choice_y[k], s->null + hmi_area(k, p->size), chosen);
    return true;
}

/* Does a force along d move anything? */
static bool moves(const hmi_contact_problem *p, const double *d)
{
    double energy = 0, parts = 0;
    for (int i = 0; i < p->size; i++)
        for (int j = 0; j < p->size; j++) {
            double one = d[i] * d[j] * p->W[hmi_area(i, p->size) + (size_t)j];
            energy += one;
            parts += fabs(one);
        }
    return energy > 1e-10 * parts;
}

/* How far along t d the conditions allow forces to go, relative to the largest one. */
static bool is_allowed(const choice *c, int k, double t)
{
    double *y = c->s->choice_y, value;
    hmi_zero(c->free, y);
    y[k] = t;
    for (int i = 0; i < conditions(c); i++)
        if (room(c, i, y, &value, NULL) && value < -1e-12)
            return false;
    return true;
}

bool hmi_contact_choice_matters(hmi_contact_solver *s, const hmi_contact_problem *p,
                                const hmi_contact_modes *m, const double *x)
{
    choice c = {.s = s, .p = p, .m = m, .x = x, .force = unit_of(p, x), .free = s->free};
    for (int k = 0; k < c.free; k++)
        if (moves(p, s->null + hmi_area(k, p->size)) &&
            (is_allowed(&c, k, 1e-6) || is_allowed(&c, k, -1e-6)))
            return true;
    return false;
}

bool hmi_contact_limits(hmi_contact_solver *s, const hmi_contact_problem *p,
                        const hmi_contact_modes *m, const double *x, double *limit)
{
    (void)hmi_contact_choose(s, p, m, x, s->chosen);
    for (int j = 0; j < p->frictions; j++) {
        const hmi_friction_item *f = &p->friction[j];
        limit[j] = f->mus * fabs(s->chosen[f->normal]) - hmi_norm(f->count, s->chosen + f->first);
    }
    return s->free && hmi_contact_choice_matters(s, p, m, s->chosen);
}
