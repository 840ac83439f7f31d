/* Varied paths of both kinds, and what L, forces and constraints say on them.
 *
 *     displaced  y = P e eta(t)                                       [Flannery 2005, (26)]
 *     possible   y' = F y + P (y'_displaced + w),  y = 0 at both ends [(37), (38) with delta g = 0]
 *
 * with eta = sin(k pi s), e the direction of a coordinate, and w the correction of least square integral that closes
 * the path: w = B^T xi, W xi = -x(end), W the integral of B B^T (the controllability Gramian; what cannot be reached
 * is not missed either). For holonomic constraints F y = y' - P y' on the displaced path itself, and both agree.
 * Verified: test/tool/action.sh
 */
#include "analyse/action/projectors.h"
#include "linalg/dense.h"
#include "linalg/linalg.h"

#include <math.h>

enum { S = HMI_GAUSS_POINTS };
static const double roundings = 1e-7; /* relative sizes of delta g, A delta q that count as none */
static const double pi = 3.141592653589793238462643;

typedef struct varying {
    hmi_action_job *job;
    const hmi_action_path *path;
    hmi_projectors x;
    hmi_arena arena;
    int n;
    double *y, *rate, *u; /* by point: the variation, its velocity, the controls */
    double *W, *values, *vectors, *xi, *end;
    double *dq, *dv;
} varying;

static hm_status take_memory(varying *w)
{
    bool failed = false;
    size_t n = w->path->n, points = w->path->points;
    w->y = hmi_arena_doubles(&w->arena, points * n, &failed);
    w->rate = hmi_arena_doubles(&w->arena, points * n, &failed);
    w->u = hmi_arena_doubles(&w->arena, points * n, &failed);
    w->W = hmi_arena_doubles(&w->arena, n * n, &failed);
    w->vectors = hmi_arena_doubles(&w->arena, n * n, &failed);
    w->values = hmi_arena_doubles(&w->arena, n, &failed);
    w->xi = hmi_arena_doubles(&w->arena, n, &failed);
    w->end = hmi_arena_doubles(&w->arena, n, &failed);
    w->dq = hmi_arena_doubles(&w->arena, n, &failed);
    w->dv = hmi_arena_doubles(&w->arena, n, &failed);
    return failed ? HM_ERR_NOMEM : HM_OK;
}

/* Eigenvalues and vectors of the Gramian, once for all variations. */
static void find_gramian(varying *w)
{
    int n = w->n;
    size_t nn = w->path->n * w->path->n;
    for (size_t point = 0; point < w->path->points; point++) {
        const double *B = w->x.B + point * nn;
        for (int i = 0; i < n; i++)
            for (int j = 0; j < n; j++)
                w->W[i * n + j] += w->path->weight[point] * hmi_dot(n, B + i * n, B + j * n);
    }
    hmi_eigen(n, w->W, w->values, w->vectors);
}

/* ---- the two kinds ---- */

static void displace(varying *w, size_t coordinate, unsigned mode)
{
    int n = w->n;
    size_t nn = w->path->n * w->path->n;
    double unit = w->path->units[coordinate], length = w->path->h * (double)w->path->panels;
    double frequency = mode * pi / length;
    for (size_t point = 0; point < w->path->points; point++) {
        double phase = frequency * (w->path->t[point] - w->path->start);
        const double *P = w->x.P + point * nn + coordinate,
                     *R = w->x.P_rate + point * nn + coordinate;
        for (int i = 0; i < n; i++) {
            size_t at = point * w->path->n + (size_t)i;
            w->y[at] = unit * sin(phase) * P[i * n];
            w->rate[at] = unit * (sin(phase) * R[i * n] + frequency * cos(phase) * P[i * n]);
        }
    }
}

/* The end of x' = B u. */
static void integrate_controls(varying *w)
{
    int n = w->n;
    size_t nn = w->path->n * w->path->n;
    hmi_zero(n, w->end);
    for (size_t point = 0; point < w->path->points; point++)
        for (int i = 0; i < n; i++)
            w->end[i] += w->path->weight[point] * hmi_dot(n, w->x.B + point * nn + (size_t)(i * n),
                                                          w->u + point * w->path->n);
}

/* xi = -W^+ end, then u += B^T xi. */
static void close_path(varying *w)
{
    int n = w->n;
    size_t nn = w->path->n * w->path->n;
    double largest = 0;
    for (int i = 0; i < n; i++)
        largest = fmax(largest, w->values[i]);
    hmi_zero(n, w->xi);
    for (int i = 0; i < n; i++)
        if (w->values[i] > 1e-13 * largest)
            hmi_axpy(n, -hmi_dot(n, w->vectors + i * n, w->end) / w->values[i], w->vectors + i * n,
                     w->xi);
    for (size_t point = 0; point < w->path->points; point++)
        hmi_mul_transposed(n, n, 1, w->x.B + point * nn, w->xi, w->u + point * w->path->n);
}

/* y = Phi x and y' = F y + P u at the points of a panel, x by collocation; x at its end. */
static void flow_panel(varying *w, size_t panel, double *x)
{
    int n = w->n;
    size_t nn = w->path->n * w->path->n, first = panel * S;
    double slope[S][HMI_MOST_VARIED], stage[HMI_MOST_VARIED];
    for (size_t j = 0; j < S; j++)
        hmi_matvec(n, n, w->x.B + (first + j) * nn, w->u + (first + j) * w->path->n, slope[j]);
    for (size_t i = 0; i < S; i++) {
        double *y = w->y + (first + i) * w->path->n, *rate = w->rate + (first + i) * w->path->n;
        hmi_copy(n, x, stage);
        for (size_t j = 0; j < S; j++)
            hmi_axpy(n, w->path->h * w->job->gauss.a[i][j], slope[j], stage);
        hmi_matvec(n, n, w->x.Phi + (first + i) * nn, stage, y);
        hmi_matvec(n, n, w->x.P + (first + i) * nn, w->u + (first + i) * w->path->n, rate);
        for (int r = 0; r < n; r++)
            rate[r] += hmi_dot(n, w->x.F + (first + i) * nn + (size_t)(r * n), y);
    }
    for (size_t j = 0; j < S; j++)
        hmi_axpy(n, w->path->h * w->job->gauss.b[j], slope[j], x);
}

/* From the displaced path in y, rate. Returns by how much it misses its end, relative. */
static double make_possible(varying *w)
{
    double size = 0;
    hmi_copy((int)(w->path->points * w->path->n), w->rate, w->u);
    integrate_controls(w);
    close_path(w);
    hmi_zero(w->n, w->xi); /* from here on: x */
    for (size_t panel = 0; panel < w->path->panels; panel++) {
        flow_panel(w, panel, w->xi);
        size = fmax(size, hmi_max_abs(w->n, w->xi));
    }
    return size > 0 ? hmi_max_abs(w->n, w->xi) / size : 0;
}

/* ---- what is said on them ---- */

typedef struct sizes {
    double g, A, y; /* largest terms of delta g and of A delta q; largest y */
} sizes;

/* delta g and A delta q at a point, with the sizes of their terms. */
static void measure_rows(const varying *w, size_t point, hm_varied_path *out, sizes *size)
{
    size_t n = w->path->n, mn = w->path->m * n;
    for (size_t k = 0; k < w->path->m; k++) {
        const double *A = w->path->A + point * mn + k * n, *g = w->path->g_q + point * mn + k * n;
        double dg = 0, off = 0, terms = 0, off_terms = 0;
        for (size_t i = 0; i < n; i++) {
            dg += A[i] * w->dv[i] + g[i] * w->dq[i];
            terms += fabs(A[i] * w->dv[i]) + fabs(g[i] * w->dq[i]);
            off += A[i] * w->dq[i];
            off_terms += fabs(A[i] * w->dq[i]);
        }
        out->delta_g = fmax(out->delta_g, fabs(dg));
        out->off_virtual = fmax(out->off_virtual, fabs(off));
        size->g = fmax(size->g, terms);
        size->A = fmax(size->A, off_terms);
    }
}

static void add_point(const varying *w, size_t point, hm_varied_path *out)
{
    size_t n = w->path->n, at = point * n;
    double weight = w->path->weight[point];
    double L = hmi_dot(w->n, w->path->dL_dq + at, w->dq) + hmi_dot(w->n, w->path->p + at, w->dv);
    double F = hmi_dot(w->n, w->path->F + at, w->dq), Qi = hmi_dot(w->n, w->path->Qi + at, w->dq);
    double E = hmi_dot(w->n, w->path->dE_dq + at, w->dq) +
               hmi_dot(w->n, w->path->dE_dv + at, w->dv);
    out->delta_S.value += weight * L;
    out->dalembert.value += weight * (L + F);
    out->reaction_work.value += weight * Qi;
    out->scale += weight * (fabs(L) + fabs(F) + fabs(Qi));
    out->duration_change += weight * E / (2 * w->path->T[point]);
}

static void measure(const varying *w, hm_varied_path *out, double *keep)
{
    size_t n = w->path->n;
    sizes size = {0};
    for (size_t point = 0; point < w->path->points; point++) {
        for (size_t i = 0; i < n; i++) {
            w->dq[i] = w->y[point * n + i] / w->path->units[i];
            w->dv[i] = w->rate[point * n + i] / w->path->units[i];
        }
        add_point(w, point, out);
        measure_rows(w, point, out, &size);
        if (keep)
            hmi_copy(w->n, w->dq, keep + point * n);
    }
    out->is_possible = out->delta_g <= roundings * size.g;
    out->is_virtual = out->off_virtual <= roundings * size.A;
    out->dq = keep;
}

static hm_status vary_one(varying *w, bool keep, hm_variation *v)
{
    bool failed = false;
    size_t count = w->path->points * w->path->n;
    double *displaced = keep ? hmi_arena_doubles(w->job->results, count, &failed) : NULL;
    double *possible = keep ? hmi_arena_doubles(w->job->results, count, &failed) : NULL;
    if (failed)
        return HM_ERR_NOMEM;
    displace(w, v->coordinate, v->mode);
    v->exists = hmi_max_abs((int)count, w->y) > 1e-9 * w->path->units[v->coordinate];
    if (!v->exists)
        return HM_OK;
    measure(w, &v->displaced, displaced);
    v->possible.end_miss = make_possible(w);
    measure(w, &v->possible, possible);
    return HM_OK;
}

hm_status hmi_vary_path(hmi_action_job *job, const hmi_action_path *path, bool keep,
                        hm_variation *all)
{
    varying w = {.job = job, .path = path, .n = (int)path->n};
    hmi_arena_init(&w.arena, job->allocator);
    hm_status status = hmi_projectors_init(&w.x, job, path);
    if (status == HM_OK)
        status = take_memory(&w);
    if (status == HM_OK && !isnan(w.x.rank_changes)) {
        job->vary = false;
        job->out->no_variations = "the rank of the constraints changes on the way";
    } else if (status == HM_OK) {
        find_gramian(&w);
        for (size_t k = 0; k < path->n * job->options->modes && status == HM_OK; k++) {
            all[k] = (hm_variation){.coordinate = k % path->n, .mode = (unsigned)(k / path->n) + 1};
            status = vary_one(&w, keep, &all[k]);
        }
    }
    hmi_projectors_release(&w.x);
    hmi_arena_release(&w.arena);
    return status;
}
