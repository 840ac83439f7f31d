/* Contacts with friction: combinations of open, sticking and sliding, each of them linear equations.
 *
 * A combination has a digit for every normal (open or closed; two-sided ones with friction: the sign of
 * their force) and for every friction that does not slide yet (sticks; slides one way or the other, in
 * the plane in a direction that is searched for). What its equations give is a solution where all
 * conditions of signs and sizes hold. Few combinations are tried one by one; of many, those that mend
 * the worst violation of the one before.
 */
#include "dynamics/contact/solver.h"

#include "linalg/dense.h"
#include "linalg/linalg.h"

enum { MOST_COMBINATIONS = 20000, SCANNED_ANGLES = 48, MOST_TURNS = 400 };

/* One search. */
typedef struct search {
    hmi_contact_solver *s;
    const hmi_contact_problem *p;
    int found;    /* 0, 1, or 2: several */
    int sticking; /* contacts that stick in the best solution */
    double size;  /* of accelerations */
} search;

static hmi_contact_modes modes_of(const hmi_contact_solver *s)
{
    return (hmi_contact_modes){
        .closed = s->closed, .mode = s->mode, .slip = s->slip, .presses = s->presses};
}

static bool solve(search *q)
{
    const hmi_contact_modes m = modes_of(q->s);
    return hmi_contact_held(q->s, q->p, &m, q->s->x, q->s->w);
}

/* Other forces of the same modes in s->x, those with the most room; false: there are none. */
static bool choose_others(search *q)
{
    hmi_contact_solver *s = q->s;
    const hmi_contact_problem *p = q->p;
    const hmi_contact_modes m = modes_of(s);
    if (s->free == 0 || !hmi_contact_choose(s, p, &m, s->x, s->chosen))
        return false;
    hmi_copy(p->size, s->chosen, s->x);
    for (int i = 0; i < p->size; i++)
        s->w[i] = p->w0[i] + hmi_dot(p->size, p->W + hmi_area(i, p->size), s->x);
    return true;
}

/* ---- conditions ---- */

/* What of a force is as good as zero. */
static double force_noise(const search *q, int i)
{
    const hmi_contact_problem *p = q->p;
    double d = p->W[hmi_area(i, p->size) + (size_t)i];
    double most = 1e-12 * hmi_max_abs(p->size, q->s->x);
    return (d > 0 ? 10 * p->noise[i] / d : 0) + most;
}

static double tangential_force(const search *q, const hmi_friction_item *f)
{
    return hmi_norm(f->count, q->s->x + f->first);
}

/* How much a normal violates its condition, in units of what is as good as zero; 1 is allowed. */
static double normal_violation(const search *q, int i)
{
    const hmi_contact_solver *s = q->s;
    if (q->p->two_sided[i])
        return 0;
    return s->closed[i] ? -s->x[i] / (force_noise(q, i) + 1e-300)
                        : -s->w[i] / (10 * q->p->noise[i] + 1e-300);
}

static double friction_violation(const search *q, int j)
{
    const hmi_contact_solver *s = q->s;
    const hmi_friction_item *f = &q->p->friction[j];
    double pressing = s->x[f->normal], noise = force_noise(q, f->normal) + 1e-300;
    if (s->mode[j] == HMI_FRICTION_STICK)
        return (tangential_force(q, f) - f->mus * fabs(pressing)) /
               (noise + force_noise(q, f->first));
    if (s->mode[j] == HMI_FRICTION_OPEN)
        return 0;
    double wrong = -pressing * s->presses[j] / noise;
    if (f->slides)
        return wrong;
    double along = hmi_dot(f->count, s->slip + 2 * j, s->w + f->first);
    double back = -along / (10 * q->p->noise[f->first] + 1e-300);
    double across = f->count < 2 ? 0
                                 : fabs(s->slip[2 * j] * s->w[f->first + 1] -
                                        s->slip[2 * j + 1] * s->w[f->first]) /
                                       (1e4 * q->p->noise[f->first] + 1e-300);
    return fmax(wrong, fmax(back, across));
}

static bool obeys(const search *q)
{
    for (int i = 0; i < q->p->normals; i++)
        if (!(normal_violation(q, i) <= 1))
            return false;
    for (int j = 0; j < q->p->frictions; j++)
        if (!(friction_violation(q, j) <= 1))
            return false;
    return true;
}

/* Forces of least norm, or others of the same modes. */
static bool is_solution(search *q)
{
    return obeys(q) || (choose_others(q) && obeys(q));
}

/* ---- solutions ---- */

static void keep(search *q, int sticking)
{
    hmi_contact_solver *s = q->s;
    const hmi_contact_problem *p = q->p;
    hmi_copy(p->size, s->x, s->best_x);
    hmi_copy(p->size, s->w, s->best_w);
    memcpy(s->best_closed, s->closed, (size_t)p->normals);
    memcpy(s->best_mode, s->mode, (size_t)p->frictions * sizeof *s->mode);
    hmi_copy(2 * p->frictions, s->slip, s->best_slip);
    q->sticking = sticking;
    const hmi_contact_modes m = modes_of(s);
    s->best_redundant = s->free > 0;
    s->best_matters = false;
    if (s->free) {
        (void)hmi_contact_choose(s, p, &m, s->x, s->chosen);
        s->best_matters = hmi_contact_choice_matters(s, p, &m, s->chosen);
    }
}

/* Of the same accelerations as the best one? Then it is the same motion. */
static bool is_same(const search *q)
{
    for (int i = 0; i < q->p->size; i++)
        if (fabs(q->s->w[i] - q->s->best_w[i]) > 1e-7 * q->size + 100 * q->p->noise[i])
            return false;
    return true;
}

/* The trial in s->x, s->w: a solution? */
static void consider(search *q)
{
    int sticking = 0;
    if (!is_solution(q))
        return;
    for (int j = 0; j < q->p->frictions; j++)
        sticking += q->s->mode[j] == HMI_FRICTION_STICK;
    if (q->found && sticking == q->sticking) {
        if (!is_same(q))
            q->found = 2;
        else if (hmi_norm(q->p->size, q->s->x) < hmi_norm(q->p->size, q->s->best_x))
            keep(q, sticking);
        return;
    }
    if (q->found && sticking < q->sticking)
        return;
    q->found = 1;
    keep(q, sticking);
}

/* ---- directions in the plane ---- */

static void point(search *q, int j, double angle)
{
    q->s->slip[2 * j] = cos(angle);
    q->s->slip[2 * j + 1] = sin(angle);
}

/* The part of the tangential acceleration across the direction of sliding. */
static double across(search *q, int j, double angle)
{
    const hmi_friction_item *f = &q->p->friction[j];
    point(q, j, angle);
    if (!solve(q))
        return NAN;
    return q->s->slip[2 * j] * q->s->w[f->first + 1] - q->s->slip[2 * j + 1] * q->s->w[f->first];
}

/* All directions of one friction along which it may start to slide. */
static void scan_directions(search *q, int j)
{
    const double turn = 2 * 3.14159265358979323846;
    double a = 0.1, fa = across(q, j, a);
    for (int k = 1; k <= SCANNED_ANGLES; k++) {
        double b = 0.1 + turn * k / SCANNED_ANGLES, fb = across(q, j, b), lo = a, hi = b, flo = fa;
        a = b;
        fa = fb;
        if (!(flo * fb <= 0))
            continue;
        for (int i = 0; i < 60 && hi - lo > 1e-15; i++) {
            double middle = 0.5 * (lo + hi), value = across(q, j, middle);
            if (flo * value <= 0)
                hi = middle;
            else {
                lo = middle;
                flo = value;
            }
        }
        (void)across(q, j, 0.5 * (lo + hi));
        consider(q);
    }
}

/* s->slip := along the accelerations; the largest change. Where friction turns it back it starts from
 * the acceleration that friction leaves. */
static double turn_directions(search *q)
{
    hmi_contact_solver *s = q->s;
    double change = 0;
    for (int j = 0; j < q->p->frictions; j++) {
        const hmi_friction_item *f = &q->p->friction[j];
        if (s->mode[j] != HMI_FRICTION_SLIP || f->slides || f->count < 2)
            continue;
        const double *w = s->w + f->first;
        double length = hypot(w[0], w[1]);
        for (int k = 0; k < 2 && length > 0; k++) {
            double next = 0.5 * s->slip[2 * j + k] + 0.5 * w[k] / length;
            change = fmax(change, fabs(next - s->slip[2 * j + k]));
            s->slip[2 * j + k] = next;
        }
        double unit = hypot(s->slip[2 * j], s->slip[2 * j + 1]);
        for (int k = 0; k < 2 && unit > 0; k++)
            s->slip[2 * j + k] /= unit;
    }
    return change;
}

/* Several directions in the plane at once, from that of the forces that would be needed to stick. */
static void iterate_directions(search *q)
{
    hmi_contact_solver *s = q->s;
    for (int j = 0; j < q->p->frictions; j++) {
        const hmi_friction_item *f = &q->p->friction[j];
        if (s->mode[j] != HMI_FRICTION_SLIP || f->slides || f->count < 2)
            continue;
        const double *w = q->p->w0 + f->first;
        double length = hypot(w[0], w[1]);
        s->slip[2 * j] = length > 0 ? w[0] / length : 1;
        s->slip[2 * j + 1] = length > 0 ? w[1] / length : 0;
    }
    for (int k = 0; k < MOST_TURNS; k++)
        if (!solve(q) || turn_directions(q) < 1e-14)
            break;
    if (solve(q))
        consider(q);
}

/* Frictions of the trial whose direction is searched for; *last: one of them. */
static int searched(const search *q, int *last)
{
    int count = 0;
    for (int j = 0; j < q->p->frictions; j++)
        if (q->s->mode[j] == HMI_FRICTION_SLIP && !q->p->friction[j].slides &&
            q->p->friction[j].count > 1) {
            *last = j;
            count++;
        }
    return count;
}

/* ---- combinations ---- */

static bool has_friction(const hmi_contact_problem *p, int normal)
{
    for (int j = 0; j < p->frictions; j++)
        if (p->friction[j].normal == normal)
            return true;
    return false;
}

static int normal_base(const hmi_contact_problem *p, int i)
{
    return !p->two_sided[i] || has_friction(p, i) ? 2 : 1;
}

static int friction_base(const hmi_friction_item *f)
{
    return f->slides ? 1 : f->count == 1 ? 3 : 2;
}

/* The modes that the digits mean; false: another combination means the same. */
static bool read_digits(search *q)
{
    hmi_contact_solver *s = q->s;
    const hmi_contact_problem *p = q->p;
    bool good = true;
    for (int i = 0; i < p->normals; i++)
        s->closed[i] = p->two_sided[i] || s->digit[i];
    for (int j = 0; j < p->frictions; j++) {
        const hmi_friction_item *f = &p->friction[j];
        int digit = s->digit[p->normals + j];
        bool two_sided = p->two_sided[f->normal];
        s->presses[j] = two_sided && s->digit[f->normal] ? -1 : 1;
        s->mode[j] = !s->closed[f->normal]    ? HMI_FRICTION_OPEN
                     : f->slides || digit > 0 ? HMI_FRICTION_SLIP
                                              : HMI_FRICTION_STICK;
        s->slip[2 * j] = f->slides ? f->direction[0] : digit == 2 ? -1 : 1;
        s->slip[2 * j + 1] = f->slides && f->count > 1 ? f->direction[1] : 0;
        good = good && (s->closed[f->normal] || digit == 0);
    }
    return good;
}

static bool next_combination(search *q)
{
    const hmi_contact_problem *p = q->p;
    for (int k = 0; k < p->normals + p->frictions; k++) {
        int base = k < p->normals ? normal_base(p, k) : friction_base(&p->friction[k - p->normals]);
        if (++q->s->digit[k] < base)
            return true;
        q->s->digit[k] = 0;
    }
    return false;
}

static void try_combination(search *q)
{
    int last = 0, directions;
    if (!read_digits(q))
        return;
    directions = searched(q, &last);
    if (directions == 1)
        scan_directions(q, last);
    else if (directions > 1)
        iterate_directions(q);
    else if (solve(q))
        consider(q);
}

static double combinations(const hmi_contact_problem *p)
{
    double count = 1;
    for (int i = 0; i < p->normals; i++)
        count *= normal_base(p, i);
    for (int j = 0; j < p->frictions; j++)
        count *= friction_base(&p->friction[j]);
    return count;
}

/* ---- many contacts: mending ---- */

/* The mode of friction j that mends its violation. */
static void mend_friction(search *q, int j)
{
    hmi_contact_solver *s = q->s;
    const hmi_friction_item *f = &q->p->friction[j];
    if (s->x[f->normal] * s->presses[j] < 0)
        s->presses[j] = -s->presses[j];
    if (f->slides)
        return;
    if (s->mode[j] == HMI_FRICTION_STICK) {
        double length = tangential_force(q, f);
        s->mode[j] = HMI_FRICTION_SLIP;
        for (int k = 0; k < f->count; k++)
            s->slip[2 * j + k] = -s->x[f->first + k] / length;
    } else if (hmi_dot(f->count, s->slip + 2 * j, s->w + f->first) < 0)
        s->mode[j] = HMI_FRICTION_STICK;
    else
        (void)turn_directions(q);
}

static void mend_normal(search *q, int i)
{
    hmi_contact_solver *s = q->s;
    s->closed[i] = !s->closed[i];
    for (int j = 0; j < q->p->frictions; j++) {
        const hmi_friction_item *f = &q->p->friction[j];
        if (f->normal == i)
            s->mode[j] = !s->closed[i] ? HMI_FRICTION_OPEN
                         : f->slides   ? HMI_FRICTION_SLIP
                                       : HMI_FRICTION_STICK;
    }
}

/* The worst violation; below 0 a normal, -1 - i; *amount: how bad. */
static int worst_violation(const search *q, double *amount)
{
    int worst = 0;
    *amount = 0;
    for (int i = 0; i < q->p->normals; i++) {
        double v = normal_violation(q, i);
        if (v > *amount) {
            *amount = v;
            worst = -1 - i;
        }
    }
    for (int j = 0; j < q->p->frictions; j++) {
        double v = friction_violation(q, j);
        if (v > *amount) {
            *amount = v;
            worst = j;
        }
    }
    return worst;
}

static void mend_all(search *q)
{
    hmi_contact_solver *s = q->s;
    const hmi_contact_problem *p = q->p;
    for (int k = 0; k < p->normals; k++)
        s->digit[k] = !p->two_sided[k];
    for (int k = 0; k < p->frictions; k++)
        s->digit[p->normals + k] = 0;
    (void)read_digits(q);
    for (int k = 0; k < 40 * (p->size + 5) && solve(q); k++) {
        double amount;
        (void)(obeys(q) || choose_others(q));
        int worst = worst_violation(q, &amount);
        if (amount <= 1) {
            consider(q);
            return;
        }
        if (worst < 0)
            mend_normal(q, -1 - worst);
        else
            mend_friction(q, worst);
    }
}

void hmi_contact_combine(hmi_contact_solver *s, const hmi_contact_problem *p, hmi_contact_answer *a)
{
    search q = {.s = s, .p = p, .size = hmi_max_abs(p->size, p->w0)};
    a->complete = combinations(p) <= MOST_COMBINATIONS;
    if (a->complete) {
        for (int k = 0; k < p->normals + p->frictions; k++)
            s->digit[k] = 0;
        do
            try_combination(&q);
        while (next_combination(&q));
    } else
        mend_all(&q);
    a->solutions = q.found;
    a->redundant = q.found && s->best_redundant;
    a->matters = q.found && s->best_matters;
    a->x = s->best_x;
    a->w = s->best_w;
    a->closed = s->best_closed;
    a->mode = s->best_mode;
    a->slip = s->best_slip;
    for (int i = 0; i < p->normals && q.found; i++) /* what stays closed without a force, too */
        s->best_closed[i] = s->best_closed[i] || s->best_w[i] <= p->noise[i];
}
