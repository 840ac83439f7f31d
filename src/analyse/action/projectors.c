/* Projectors on virtual displacements, and the flow of possible variations (projectors.h). */
#include "analyse/action/projectors.h"
#include "linalg/dense.h"
#include "linalg/linalg.h"

#include <math.h>

enum { S = HMI_GAUSS_POINTS };

typedef struct making {
    hmi_projectors *x;
    const hmi_action_job *job;
    const hmi_action_path *path;
    int n, m;
    double *A, *R, *G, *plus; /* scaled A, A', dg/dq; A^+ */
    double *doubles, *product;
    double *system, *stages, *psi; /* of the collocation */
    int *ints;
} making;

static hm_status take_memory(making *k)
{
    bool failed = false;
    hmi_projectors *x = k->x;
    size_t n = k->path->n, m = k->path->m, nn = n * n, points = k->path->points;
    double **arrays[] = {&x->P, &x->P_rate, &x->F, &x->B, &x->Phi};
    for (size_t i = 0; i < sizeof arrays / sizeof *arrays; i++)
        *arrays[i] = hmi_arena_doubles(&x->arena, points * nn, &failed);
    k->A = hmi_arena_doubles(&x->arena, m * n, &failed);
    k->R = hmi_arena_doubles(&x->arena, m * n, &failed);
    k->G = hmi_arena_doubles(&x->arena, m * n, &failed);
    k->plus = hmi_arena_doubles(&x->arena, m * n, &failed);
    k->product = hmi_arena_doubles(&x->arena, m * n + nn, &failed);
    k->system = hmi_arena_doubles(&x->arena, S * S * nn, &failed);
    k->stages = hmi_arena_doubles(&x->arena, S * nn, &failed);
    k->psi = hmi_arena_doubles(&x->arena, nn, &failed);
    k->doubles = hmi_arena_doubles(&x->arena, hmi_pseudo_inverse_doubles(k->m, k->n), &failed);
    size_t ints = hmi_pseudo_inverse_ints(k->m, k->n) + S * n + 1;
    k->ints = hmi_arena_alloc(&x->arena, ints * sizeof *k->ints);
    return failed || !k->ints ? HM_ERR_NOMEM : HM_OK;
}

/* C (r x c) = X (r x s) Y (s x c) */
static void multiply(int r, int s, int c, const double *X, const double *Y, double *C)
{
    hmi_zero(r * c, C);
    for (int i = 0; i < r; i++)
        for (int j = 0; j < s; j++)
            hmi_axpy(c, X[i * s + j], Y + (size_t)j * (size_t)c, C + (size_t)i * (size_t)c);
}

static void scale_columns(const making *k, const double *from, size_t point, double *to)
{
    const double *row = from + point * k->path->m * k->path->n;
    for (int i = 0; i < k->m * k->n; i++)
        to[i] = row[i] / k->path->units[i % k->n];
}

/* P = 1 - A^+ A,  P' = -(K + K^T) with K = A^+ A' P,  F = -A^+ dg/dq. */
static void project(making *k, size_t point)
{
    int n = k->n, m = k->m;
    size_t nn = k->path->n * k->path->n;
    double *P = k->x->P + point * nn, *rate = k->x->P_rate + point * nn, *F = k->x->F + point * nn;
    double *K = k->product + m * n;
    scale_columns(k, k->path->A, point, k->A);
    scale_columns(k, k->path->A_rate, point, k->R);
    scale_columns(k, k->path->g_q, point, k->G);
    int rank = m ? hmi_pseudo_inverse(m, n, k->A, -1, k->plus, k->doubles, k->ints) : 0;
    if (point == 0)
        k->x->rank = rank;
    else if (rank != k->x->rank && isnan(k->x->rank_changes))
        k->x->rank_changes = k->path->t[point];
    multiply(n, m, n, k->plus, k->A, P);
    for (int i = 0; i < n * n; i++)
        P[i] = (i % (n + 1) == 0) - P[i];
    multiply(m, n, n, k->R, P, k->product);
    multiply(n, m, n, k->plus, k->product, K);
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++)
            rate[i * n + j] = -(K[i * n + j] + K[j * n + i]);
    multiply(n, m, n, k->plus, k->G, F);
    for (int i = 0; i < n * n; i++)
        F[i] = -F[i];
}

/* One panel of Psi' = -Psi F by collocation: the stages of a row r of Psi satisfy
 * r_i + h sum_j a_ij r_j F_j = r(start of the panel). */
static bool flow_panel(making *k, size_t panel)
{
    int n = k->n, N = S * n;
    size_t nn = k->path->n * k->path->n;
    const double *F = k->x->F + panel * S * nn;
    double h = k->path->h;
    int *pivots = k->ints + hmi_pseudo_inverse_ints(k->m, n);
    for (int i = 0; i < N; i++)
        for (int j = 0; j < N; j++)
            k->system[i * N + j] = (i == j) +
                                   h * k->job->gauss.a[i / n][j / n] *
                                       F[(size_t)(j / n) * nn + (size_t)((j % n) * n + i % n)];
    if (!hmi_lu(N, k->system, pivots, 0))
        return false;
    for (int r = 0; r < n; r++) {
        double *row = k->stages + r * N;
        for (int i = 0; i < N; i++)
            row[i] = k->psi[r * n + i % n];
        hmi_lu_solve(N, k->system, pivots, row);
        for (int j = 0; j < S; j++)
            hmi_mul_transposed(n, n, -h * k->job->gauss.b[j], F + (size_t)j * nn, row + j * n,
                               k->psi + r * n);
    }
    return true;
}

/* B = Psi P and Phi = Psi^-1 at the points of a panel. */
static bool finish_panel(making *k, size_t panel)
{
    int n = k->n;
    size_t nn = k->path->n * k->path->n;
    double *psi = k->product + k->m * n, *column = k->system;
    int *pivots = k->ints;
    for (int j = 0; j < S; j++) {
        size_t point = panel * S + (size_t)j;
        double *Phi = k->x->Phi + point * nn;
        for (int r = 0; r < n; r++)
            hmi_copy(n, k->stages + r * S * n + j * n, psi + r * n);
        multiply(n, n, n, psi, k->x->P + point * nn, k->x->B + point * nn);
        if (!hmi_lu(n, psi, pivots, 0))
            return false;
        for (int c = 0; c < n; c++) {
            hmi_zero(n, column);
            column[c] = 1;
            hmi_lu_solve(n, psi, pivots, column);
            for (int r = 0; r < n; r++)
                Phi[r * n + c] = column[r];
        }
    }
    return true;
}

hm_status hmi_projectors_init(hmi_projectors *x, const hmi_action_job *job,
                              const hmi_action_path *path)
{
    making k = {.x = x, .job = job, .path = path, .n = (int)path->n, .m = (int)path->m};
    *x = (hmi_projectors){.n = path->n, .rank_changes = NAN};
    hmi_arena_init(&x->arena, job->allocator);
    hm_status status = take_memory(&k);
    if (status != HM_OK)
        return status;
    for (size_t point = 0; point < path->points; point++)
        project(&k, point);
    for (int i = 0; i < k.n; i++)
        k.psi[i * k.n + i] = 1;
    for (size_t panel = 0; panel < path->panels; panel++)
        if (!flow_panel(&k, panel) || !finish_panel(&k, panel))
            return HM_ERR_NUMERIC;
    return HM_OK;
}

void hmi_projectors_release(hmi_projectors *x)
{
    if (x->arena.allocator)
        hmi_arena_release(&x->arena);
}
