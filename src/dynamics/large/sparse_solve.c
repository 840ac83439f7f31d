/* Large sparse systems: see sparse_solve.h. Where M is singular, M + A^T V A: [UW (2.7)] by a shorter
 * way, as in linalg/saddle.c. */
#include "dynamics/large/sparse_form.h"

#include "linalg/tolerances.h"

#include <math.h>
#include <string.h>

enum { MOST_REFINEMENTS = 8 };

struct hmi_sparse_solver {
    const hm_allocator *allocator;
    hmi_arena arena;
    hmi_sparse_shape shape;
    hmi_sparse_form plain, shifted;
    hmi_sparse_form *form; /* in use */
    const double *M, *A;
    double *inertia;      /* n: the diagonal of M, */
    double *root;         /* and its square root; 0 where it is not positive */
    double *weight;       /* m: V */
    double *right, *rest; /* n + m, in order; residuals */
    double *x, *l;        /* n, m */
    size_t dropped, suspect;
    double smallest, left; /* of pivots kept; of the equations after refinement */
};

/* ---- creation ---- */

hm_status hmi_sparse_create(const hm_allocator *allocator, const hmi_sparse_shape *shape,
                            hmi_sparse_solver **out)
{
    hmi_sparse_solver *s = hmi_alloc(allocator, sizeof *s);
    if (!s)
        return HM_ERR_NOMEM;
    *s = (hmi_sparse_solver){.allocator = allocator, .shape = *shape};
    hmi_arena_init(&s->arena, allocator);
    hmi_arena_init(&s->plain.arena, allocator);
    hmi_arena_init(&s->shifted.arena, allocator);
    s->shifted.shifted = true;
    size_t n = shape->n, m = shape->m;
    s->inertia = hmi_arena_alloc(&s->arena, (n + 1) * sizeof *s->inertia);
    s->root = hmi_arena_alloc(&s->arena, (n + 1) * sizeof *s->root);
    s->weight = hmi_arena_alloc(&s->arena, (m + 1) * sizeof *s->weight);
    s->right = hmi_arena_alloc(&s->arena, (n + m + 1) * sizeof *s->right);
    s->rest = hmi_arena_alloc(&s->arena, (n + m + 1) * sizeof *s->rest);
    s->x = hmi_arena_alloc(&s->arena, (n + 1) * sizeof *s->x);
    s->l = hmi_arena_alloc(&s->arena, (m + 1) * sizeof *s->l);
    hm_status status = s->inertia && s->root && s->weight && s->right && s->rest && s->x && s->l
                           ? hmi_sparse_form_make(&s->plain, s->allocator, &s->shape)
                           : HM_ERR_NOMEM;
    if (status != HM_OK) {
        hmi_sparse_destroy(s);
        return status;
    }
    *out = s;
    return HM_OK;
}

void hmi_sparse_destroy(hmi_sparse_solver *s)
{
    if (!s)
        return;
    hmi_arena_release(&s->plain.arena);
    hmi_arena_release(&s->shifted.arena);
    hmi_arena_release(&s->arena);
    hmi_free(s->allocator, s, sizeof *s);
}

/* ---- factors ---- */

/* V_i: a row shall weigh as much as the inertias it holds (linalg/saddle.c). */
static void find_weights(hmi_sparse_solver *s)
{
    const hmi_sparse_shape *shape = &s->shape;
    double largest = 0;
    for (size_t i = 0; i < shape->n; i++)
        largest = fmax(largest, s->inertia[i]);
    for (size_t i = 0; i < shape->m; i++) {
        double compliance = 0, square = 0;
        for (size_t k = shape->A_start[i]; k < shape->A_start[i + 1]; k++) {
            double inertia = s->inertia[shape->A_column[k]];
            square += s->A[k] * s->A[k];
            if (inertia > 0)
                compliance += s->A[k] * s->A[k] / inertia;
        }
        s->weight[i] = compliance > 0 ? 1 / compliance
                       : square > 0   ? (largest > 0 ? largest : 1) / square
                                      : 0;
    }
}

static void assemble(hmi_sparse_solver *s, hmi_sparse_form *form)
{
    const hmi_sparse_shape *shape = &s->shape;
    size_t next = 0;
    memset(form->value, 0, form->start[shape->n + shape->m] * sizeof *form->value);
    for (size_t k = 0; k < shape->M_start[shape->n]; k++)
        form->value[form->M_at[k]] = s->M[k];
    for (size_t k = 0; k < shape->A_start[shape->m]; k++)
        form->value[form->A_at[k]] = s->A[k];
    for (size_t i = 0; form->shifted && i < shape->m; i++)
        for (size_t k = shape->A_start[i]; k < shape->A_start[i + 1]; k++)
            for (size_t h = shape->A_start[i]; h <= k; h++)
                form->value[form->square_at[next++]] += s->weight[i] * s->A[k] * s->A[h];
}

static bool factor_form(hmi_sparse_solver *s, hmi_sparse_form *form)
{
    hmi_pivoting pivoting = {.sign = form->sign,
                             .may_drop = form->may_drop,
                             .drop = HMI_SPARSE_DROP,
                             .refuse = form->shifted ? 1e-13 : 1e-10};
    assemble(s, form);
    s->form = form;
    bool good = hmi_ldlt_sparse_factor(&form->ldlt, form->value, &pivoting);
    s->dropped = pivoting.dropped;
    s->smallest = pivoting.smallest;
    if (!good)
        s->suspect = form->unknown[pivoting.refused];
    return good;
}

static void take_inertias(hmi_sparse_solver *s)
{
    const hmi_sparse_shape *shape = &s->shape;
    for (size_t i = 0; i < shape->n; i++) {
        s->inertia[i] = 0;
        for (size_t k = shape->M_start[i]; k < shape->M_start[i + 1]; k++)
            if (shape->M_column[k] == i)
                s->inertia[i] = s->M[k];
        s->root[i] = s->inertia[i] > 0 ? sqrt(s->inertia[i]) : 0;
    }
}

static bool all_finite(const double *x, size_t count)
{
    double sum = 0;
    for (size_t i = 0; i < count; i++)
        sum += x[i] * 0;
    return sum == 0;
}

hm_status hmi_sparse_factor(hmi_sparse_solver *s, const double *M, const double *A)
{
    s->M = M;
    s->A = A;
    if (!all_finite(M, s->shape.M_start[s->shape.n]) ||
        !all_finite(A, s->shape.A_start[s->shape.m]))
        return HM_ERR_NUMERIC;
    take_inertias(s);
    if (factor_form(s, &s->plain))
        return HM_OK;
    if (s->shape.m == 0)
        return HM_ERR_UNDETERMINED;
    hm_status status = s->shifted.made ? HM_OK
                                       : hmi_sparse_form_make(&s->shifted, s->allocator, &s->shape);
    if (status != HM_OK)
        return status;
    find_weights(s);
    return factor_form(s, &s->shifted) ? HM_OK : HM_ERR_UNDETERMINED;
}

/* ---- solving ---- */

/* F - M x + A^T l into s->rest, the size of its terms into s->right; returns the largest size. */
static double find_force_rest(hmi_sparse_solver *s, const double *F)
{
    const hmi_sparse_shape *shape = &s->shape;
    double *r = s->rest, *size = s->right, largest = 0;
    for (size_t i = 0; i < shape->n; i++) {
        r[i] = F[i];
        size[i] = fabs(F[i]);
    }
    for (size_t i = 0; i < shape->n; i++)
        for (size_t k = shape->M_start[i]; k < shape->M_start[i + 1]; k++) {
            size_t j = shape->M_column[k];
            double t = s->M[k] * s->x[j], u = s->M[k] * s->x[i];
            r[i] -= t;
            size[i] += fabs(t);
            if (j == i)
                continue;
            r[j] -= u;
            size[j] += fabs(u);
        }
    for (size_t i = 0; i < shape->m; i++)
        for (size_t k = shape->A_start[i]; k < shape->A_start[i + 1]; k++) {
            double u = s->A[k] * s->l[i];
            r[shape->A_column[k]] += u;
            size[shape->A_column[k]] += fabs(u);
        }
    for (size_t i = 0; i < shape->n; i++)
        largest = size[i] > largest ? size[i] : largest;
    return largest;
}

/* The largest acceleration, in units of the inertias. */
static double largest_motion(const hmi_sparse_solver *s)
{
    double largest = 0;
    for (size_t j = 0; j < s->shape.n; j++)
        largest = fmax(largest, fabs(s->x[j]) * s->root[j]);
    return largest;
}

/* The size of what row i is made of at x. Where forces balance and x is but rounding, the accelerations
 * that they would give one by one are the measure (`size`: of the terms of the forces), and far from
 * where anything happens a small part of the largest motion: what comes there is rounding, too. */
static double row_terms(const hmi_sparse_solver *s, size_t i, double b, const double *size,
                        double motion)
{
    const hmi_sparse_shape *shape = &s->shape;
    double terms = fabs(b), far = 0;
    for (size_t k = shape->A_start[i]; k < shape->A_start[i + 1]; k++) {
        size_t j = shape->A_column[k];
        terms += fabs(s->A[k] * s->x[j]);
        if (s->inertia[j] > 0) {
            terms += fabs(s->A[k]) * size[j] / s->inertia[j];
            far += fabs(s->A[k]) / s->root[j];
        }
    }
    return fmax(terms, 1e-3 * far * motion);
}

/* s->rest := what is left of F and b at x, l; returns its size relative to the terms. Dropped rows do
 * not count. */
static double find_rest(hmi_sparse_solver *s, const double *F, const double *b)
{
    const hmi_sparse_shape *shape = &s->shape;
    size_t n = shape->n;
    double *r = s->rest, worst = 0, largest = find_force_rest(s, F), motion = largest_motion(s);
    const double *size = s->right;
    for (size_t i = 0; i < shape->m; i++) {
        double sum = b[i], terms = row_terms(s, i, b[i], size, motion);
        for (size_t k = shape->A_start[i]; k < shape->A_start[i + 1]; k++)
            sum -= s->A[k] * s->x[shape->A_column[k]];
        r[n + i] = hmi_sparse_is_dropped(s, i) ? 0 : sum;
        if (!(fabs(r[n + i]) <= worst * terms))
            worst = fabs(r[n + i]) / terms;
    }
    for (size_t i = 0; i < n; i++) {
        double scale = fmax(size[i], 1e-3 * largest);
        if (!(fabs(r[i]) <= worst * scale))
            worst = fabs(r[i]) / scale;
    }
    return worst;
}

/* Adds the solution for s->rest to x and l. */
static void improve(hmi_sparse_solver *s)
{
    const hmi_sparse_shape *shape = &s->shape;
    const hmi_sparse_form *form = s->form;
    size_t n = shape->n, m = shape->m;
    for (size_t i = 0; form->shifted && i < m; i++) /* F + A^T V b */
        for (size_t k = shape->A_start[i]; k < shape->A_start[i + 1]; k++)
            s->rest[shape->A_column[k]] += s->A[k] * s->weight[i] * s->rest[n + i];
    for (size_t k = 0; k < n + m; k++)
        s->right[k] = s->rest[form->unknown[k]];
    hmi_ldlt_sparse_solve(&form->ldlt, s->right);
    for (size_t i = 0; i < n; i++)
        s->x[i] += s->right[form->place[i]];
    for (size_t i = 0; i < m; i++)
        s->l[i] -= s->right[form->place[n + i]];
}

double hmi_sparse_miss(const hmi_sparse_solver *s, size_t row, const double *b, const double *x,
                       double *size)
{
    double rest = b[row], terms = fabs(b[row]);
    for (size_t k = s->shape.A_start[row]; k < s->shape.A_start[row + 1]; k++) {
        double t = s->A[k] * x[s->shape.A_column[k]];
        rest -= t;
        terms += fabs(t);
    }
    *size = terms;
    return rest;
}

/* Do the dropped rows agree? Relative to the largest terms of any row, as accelerations that cancel
 * leave rounding of that size. */
static bool dropped_agree(const hmi_sparse_solver *s, const double *b)
{
    double worst = 0, largest = 0, size;
    for (size_t i = 0; s->dropped && i < s->shape.m; i++) {
        double miss = fabs(hmi_sparse_miss(s, i, b, s->x, &size));
        largest = fmax(largest, size);
        if (hmi_sparse_is_dropped(s, i))
            worst = fmax(worst, miss);
    }
    return worst <= HMI_CONTRADICTION * largest + HMI_CONTRADICTION_FLOOR;
}

hm_status hmi_sparse_solve(hmi_sparse_solver *s, const double *F, const double *b, double *x,
                           double *lambda)
{
    size_t n = s->shape.n, m = s->shape.m;
    double last = INFINITY, now = INFINITY;
    memset(s->x, 0, n * sizeof *s->x);
    memset(s->l, 0, (m + 1) * sizeof *s->l);
    for (int i = 0;; i++) {
        now = find_rest(s, F, b);
        if (i == MOST_REFINEMENTS || !(now < 0.5 * last) || now <= 4e-16)
            break;
        last = now;
        improve(s);
    }
    s->left = now;
    memcpy(x, s->x, n * sizeof *x);
    if (lambda && m)
        memcpy(lambda, s->l, m * sizeof *lambda);
    if (!(now <= 1e-9) || !all_finite(x, n))
        return HM_ERR_NUMERIC;
    return dropped_agree(s, b) ? HM_OK : HM_ERR_INCONSISTENT;
}

/* ---- what was found ---- */

size_t hmi_sparse_rank(const hmi_sparse_solver *s)
{
    return s->shape.m - s->dropped;
}

bool hmi_sparse_is_dropped(const hmi_sparse_solver *s, size_t row)
{
    return s->dropped && s->form->ldlt.inverse[s->form->place[s->shape.n + row]] == 0;
}

size_t hmi_sparse_suspect(const hmi_sparse_solver *s)
{
    return s->suspect;
}

double hmi_sparse_smallest(const hmi_sparse_solver *s)
{
    return s->smallest;
}

double hmi_sparse_left(const hmi_sparse_solver *s)
{
    return s->left;
}

/* The multipliers of the solve with F = a, b = 0 are the nearest combination in the metric M^-1. What
 * it leaves of a is computed by subtraction, not as a difference of squares. */
double hmi_sparse_angle(hmi_sparse_solver *s, size_t row, double *w)
{
    const hmi_sparse_shape *shape = &s->shape;
    size_t n = shape->n, m = shape->m;
    double reach = 0, whole = 0;
    memset(s->x, 0, n * sizeof *s->x);
    memset(s->l, 0, (m + 1) * sizeof *s->l);
    for (int pass = 0; pass < 3; pass++) {
        /* rest = a + A^T l - M x, and - A x */
        memset(s->rest, 0, (n + m) * sizeof *s->rest);
        for (size_t k = shape->A_start[row]; k < shape->A_start[row + 1]; k++)
            s->rest[shape->A_column[k]] += s->A[k];
        for (size_t i = 0; i < n; i++)
            for (size_t k = shape->M_start[i]; k < shape->M_start[i + 1]; k++) {
                s->rest[i] -= s->M[k] * s->x[shape->M_column[k]];
                if (shape->M_column[k] != i)
                    s->rest[shape->M_column[k]] -= s->M[k] * s->x[i];
            }
        for (size_t i = 0; i < m; i++) {
            if (hmi_sparse_is_dropped(s, i))
                continue;
            for (size_t k = shape->A_start[i]; k < shape->A_start[i + 1]; k++) {
                s->rest[shape->A_column[k]] += s->A[k] * s->l[i];
                s->rest[n + i] -= s->A[k] * s->x[shape->A_column[k]];
            }
        }
        improve(s);
    }
    for (size_t k = shape->A_start[row]; k < shape->A_start[row + 1]; k++)
        whole = fmax(whole, fabs(s->A[k]));
    /* what the nearest combination leaves of the row itself */
    memset(s->rest, 0, (n + m) * sizeof *s->rest);
    for (size_t k = shape->A_start[row]; k < shape->A_start[row + 1]; k++)
        s->rest[shape->A_column[k]] += s->A[k];
    for (size_t i = 0; i < m; i++) {
        w[i] = hmi_sparse_is_dropped(s, i) ? 0 : -s->l[i];
        for (size_t k = shape->A_start[i]; w[i] != 0 && k < shape->A_start[i + 1]; k++)
            s->rest[shape->A_column[k]] -= w[i] * s->A[k];
    }
    for (size_t i = 0; i < n; i++)
        reach = fmax(reach, fabs(s->rest[i]));
    return whole > 0 ? reach / whole : 0;
}
