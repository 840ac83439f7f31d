/* Segments, residuals and Newton steps of multiple shooting (shooting.h). */
#include "analyse/action/shooting.h"
#include "dynamics/sim/motion_derivatives.h"
#include "linalg/dense.h"
#include "linalg/linalg.h"

#include <math.h>

enum { SEGMENTS = 8, MOST_UNKNOWNS = 600 };

/* Where a direction of the equations is shorter than this, relative to the longest, they leave it open. */
static const double open_direction = 1e-7;
static const double difference = 1e-4; /* for derivatives, in units of the scales */

/* ---- creation ---- */

static hm_status take_memory(hmi_shooting *x)
{
    bool failed = false;
    size_t N = x->unknowns, m = x->job->m, columns = 2 * x->n + 1;
    double **vectors[] = {&x->y, &x->trial, &x->residual, &x->step};
    for (size_t i = 0; i < sizeof vectors / sizeof *vectors; i++)
        *vectors[i] = hmi_arena_doubles(&x->arena, N, &failed);
    x->t = hmi_arena_doubles(&x->arena, x->segments + 1, &failed);
    x->scale = hmi_arena_doubles(&x->arena, x->dim, &failed);
    x->from = hmi_arena_doubles(&x->arena, x->dim, &failed);
    x->to = hmi_arena_doubles(&x->arena, 2 * x->dim, &failed);
    x->end = hmi_arena_doubles(&x->arena, x->n, &failed);
    x->rows = hmi_arena_doubles(&x->arena, 2 * m, &failed);
    x->row_slopes = hmi_arena_doubles(&x->arena, 2 * m * columns, &failed);
    x->J = hmi_arena_doubles(&x->arena, N * N, &failed);
    x->work = hmi_arena_doubles(&x->arena, hmi_cod_doubles((int)N, (int)N), &failed);
    x->ints = hmi_arena_alloc(&x->arena, (hmi_cod_ints((int)N, (int)N) + 1) * sizeof *x->ints);
    return failed || !x->ints ? HM_ERR_NOMEM : HM_OK;
}

/* The path at the ends of segments: Gauss points, and both ends of the motion. */
static void guess(hmi_shooting *x, const hmi_action_path *path)
{
    size_t n = x->n;
    double length = path->h * (double)path->panels;
    double *last = x->y + x->segments * x->dim;
    for (size_t s = 0; s < x->segments; s++) {
        size_t point = s * path->points / x->segments;
        double *y = x->y + s * x->dim;
        x->t[s] = s ? path->t[point] : path->start;
        hmi_copy((int)n, s ? path->q + point * n : x->job->q0, y);
        hmi_copy((int)n, s ? path->v + point * n : x->job->v0, y + n);
    }
    x->t[x->segments] = path->start + length;
    hm_sim_state(x->job->sim, last, last + n, NULL);
    hmi_copy((int)n, x->job->options->end ? x->job->options->end : last, x->end);
    for (size_t i = 0; i < n; i++) {
        double moved = x->end[i] - last[i];
        for (size_t s = 0; s <= x->segments; s++) {
            x->y[s * x->dim + i] += moved * (x->t[s] - path->start) / length;
            x->y[s * x->dim + n + i] += moved / length;
        }
    }
}

/* Sizes of the unknowns: coordinates by how far they go, velocities by how fast that is, mu by momenta. */
static void find_scales(hmi_shooting *x, const hmi_action_path *path)
{
    size_t n = x->n;
    double length = path->h * (double)path->panels, largest = 0, momentum = 0;
    for (size_t k = 0; k < path->points; k++)
        for (size_t i = 0; i < n; i++) {
            x->scale[i] = fmax(x->scale[i], fabs(path->q[k * n + i] - path->q[i]));
            x->scale[n + i] = fmax(x->scale[n + i], fabs(path->v[k * n + i]));
            momentum = fmax(momentum, fabs(path->p[k * n + i]));
        }
    for (size_t i = 0; i < n; i++) {
        x->scale[i] = fmax(x->scale[i],
                           fmax(length * x->scale[n + i], fabs(x->end[i] - x->job->q0[i])));
        largest = fmax(largest, x->scale[i]);
    }
    for (size_t i = 0; i < n; i++) {
        x->scale[i] = fmax(x->scale[i], largest > 0 ? 1e-3 * largest : 1);
        x->scale[n + i] = fmax(x->scale[n + i], x->scale[i] / length);
    }
    for (size_t i = 0; i < x->k; i++)
        x->scale[2 * n + i] = momentum > 0 ? momentum : 1;
}

static hm_status make_comparison(hmi_shooting *x)
{
    hm_sim *sim = x->job->sim;
    hm_status status = hm_comparison_create(sim->context, x->job->system, "vakonomic",
                                            &x->comparison);
    if (status != HM_OK)
        return status;
    x->k = x->comparison->k;
    x->other = x->comparison->other;
    hmi_follow_sim(x->other, sim, NULL);
    hmi_follow_sim(x->comparison->correct, sim, NULL);
    x->run = hm_run_options_default(x->job->system->model);
    x->run.rtol = fmin(1e-11, x->job->options->run.rtol);
    x->run.atol = fmin(1e-13, x->job->options->run.atol);
    x->run.method = HM_METHOD_AUTO;
    x->run.drift = NULL;
    x->run.formulation = HM_FORMULATION_AUTO;
    x->run.keep_initial = x->run.fix_state = true;
    return HM_OK;
}

hm_status hmi_shooting_init(hmi_shooting *x, hmi_action_job *job, const hmi_action_path *path)
{
    *x = (hmi_shooting){.job = job, .n = job->n, .segments = SEGMENTS};
    hmi_arena_init(&x->arena, job->allocator);
    hm_status status = make_comparison(x);
    if (status != HM_OK)
        return status;
    x->dim = 2 * x->n + x->k;
    while (x->segments > 1 && (x->segments + 1) * x->dim > MOST_UNKNOWNS)
        x->segments--;
    x->unknowns = (x->segments + 1) * x->dim;
    status = take_memory(x);
    if (status != HM_OK)
        return status;
    guess(x, path);
    find_scales(x, path);
    return HM_OK;
}

void hmi_shooting_release(hmi_shooting *x)
{
    hm_comparison_destroy(x->comparison);
    hmi_arena_release(&x->arena);
}

/* ---- segments ---- */

static hm_status begin(hmi_shooting *x, const double *y, double t, double end)
{
    size_t n = x->n;
    hmi_sim_state *state = &x->other->state;
    hmi_zero((int)(n + x->k), state->q);
    hmi_copy((int)n, y, state->q);
    hmi_copy((int)(n + x->k), y + n, state->v);
    x->run.start = t;
    x->run.end = end;
    return hm_sim_start(x->other, &x->run);
}

/* HM_ERR_NUMERIC also for an event that would end the motion. */
static hm_status go(hmi_shooting *x, double t)
{
    hm_run_result result;
    hm_status status = hm_sim_advance(x->other, t);
    if (status == HM_OK && hm_sim_result(x->other, &result) == HM_OK &&
        result.status == HM_RUN_EVENT)
        status = HM_ERR_NUMERIC;
    return status;
}

/* Where y is after segment s, in (q, q', mu). Its messages are of no interest: steps may fail. */
static hm_status run_segment(hmi_shooting *x, size_t s, const double *y, double *end)
{
    hm_status status = begin(x, y, x->t[s], x->t[s + 1]);
    if (status == HM_OK)
        status = go(x, x->t[s + 1]);
    hm_context_clear(x->other->context);
    hmi_copy((int)x->n, x->other->state.q, end);
    hmi_copy((int)(x->n + x->k), x->other->state.v, end + x->n);
    return status;
}

hm_status hmi_shooting_follow(hmi_shooting *x, size_t *segment, double t)
{
    size_t s = *segment == x->segments ? 0 : *segment;
    hm_status status = HM_OK;
    while (s + 1 < x->segments && x->t[s + 1] <= t)
        s++;
    if (s != *segment) {
        status = begin(x, x->y + s * x->dim, x->t[s], x->t[s + 1]);
        *segment = s;
    }
    if (status == HM_OK && t > hm_sim_time(x->other))
        status = go(x, t);
    const hmi_point at = {t, x->other->state.q, x->other->state.v, x->job->z0};
    if (status == HM_OK)
        status = hmi_sim_residual_jacobian(x->comparison->correct, &at, x->rows, NULL);
    x->violation = fmax(x->violation, hmi_max_abs((int)(2 * x->job->m), x->rows));
    return status;
}

/* ---- equations ---- */

/* g of the rows that have multipliers, at the start of y, and where wanted its slopes. */
static hm_status start_rows(hmi_shooting *x, const double *y, bool slopes)
{
    const hmi_point at = {x->t[0], y, y + x->n, x->job->z0};
    return hmi_sim_residual_jacobian(x->comparison->correct, &at, x->rows,
                                     slopes ? x->row_slopes : NULL);
}

/* Units of g: those of its terms at the sizes of the velocities. */
static double row_scale(const hmi_shooting *x, size_t row)
{
    size_t n = x->n;
    const double *slope = x->row_slopes + (x->job->m + row) * (2 * n + 1) + n;
    double size = 0;
    for (size_t i = 0; i < n; i++)
        size = fmax(size, fabs(slope[i]) * x->scale[n + i]);
    return size > 0 ? size : 1;
}

double hmi_shooting_misfit(hmi_shooting *x, const double *y, double *r)
{
    size_t n = x->n, dim = x->dim;
    const double *last = y + x->segments * dim;
    for (size_t s = 0; s < x->segments; s++) {
        if (run_segment(x, s, y + s * dim, x->to) != HM_OK)
            return INFINITY;
        for (size_t i = 0; i < dim; i++)
            *r++ = (x->to[i] - y[(s + 1) * dim + i]) / x->scale[i];
    }
    for (size_t i = 0; i < n; i++)
        *r++ = (y[i] - x->job->q0[i]) / x->scale[i];
    for (size_t i = 0; i < n; i++)
        *r++ = (last[i] - x->end[i]) / x->scale[i];
    if (start_rows(x, y, true) != HM_OK)
        return INFINITY;
    for (size_t k = 0; k < x->k; k++) {
        size_t row = hm_comparison_mu_row(x->comparison, k);
        *r++ = x->rows[x->job->m + row] / row_scale(x, row);
    }
    r -= x->unknowns;
    return hmi_all_finite((int)x->unknowns, r) ? hmi_max_abs((int)x->unknowns, r) : INFINITY;
}

/* Column j of segment s: the end of the segment by that unknown, and minus the start of the next. */
static hm_status differentiate_segment(hmi_shooting *x, size_t s, size_t j)
{
    size_t dim = x->dim, N = x->unknowns;
    double *column = x->J + (s * dim + j) * N + s * dim;
    hm_status status = HM_OK;
    for (int side = 0; side < 2 && status == HM_OK; side++) {
        hmi_copy((int)dim, x->y + s * dim, x->from);
        x->from[j] += (side ? -1 : 1) * difference * x->scale[j];
        status = run_segment(x, s, x->from, x->to + (size_t)side * dim);
    }
    for (size_t i = 0; i < dim; i++)
        column[i] = (x->to[i] - x->to[dim + i]) / (2 * difference * x->scale[i]);
    x->J[((s + 1) * dim + j) * N + s * dim + j] = -1;
    return status;
}

/* Rows of both ends and of g. */
static void differentiate_ends(hmi_shooting *x)
{
    size_t n = x->n, dim = x->dim, N = x->unknowns, first = x->segments * dim, columns = 2 * n + 1;
    for (size_t i = 0; i < n; i++) {
        x->J[i * N + first + i] = 1;
        x->J[(first + i) * N + first + n + i] = 1;
    }
    for (size_t k = 0; k < x->k; k++) {
        size_t row = hm_comparison_mu_row(x->comparison, k);
        double unit = row_scale(x, row);
        for (size_t i = 0; i < 2 * n; i++)
            x->J[i * N + first + 2 * n + k] = x->row_slopes[(x->job->m + row) * columns + i] *
                                              x->scale[i] / unit;
    }
}

hm_status hmi_shooting_newton(hmi_shooting *x)
{
    int N = (int)x->unknowns;
    hmi_cod cod;
    hm_status status = start_rows(x, x->y, true);
    hmi_zero(N * N, x->J);
    for (size_t s = 0; s < x->segments && status == HM_OK; s++)
        for (size_t j = 0; j < x->dim && status == HM_OK; j++)
            status = differentiate_segment(x, s, j);
    if (status != HM_OK)
        return status == HM_ERR_NOMEM ? status : HM_ERR_NUMERIC;
    differentiate_ends(x);
    double misfit = hmi_shooting_misfit(x, x->y, x->residual);
    double largest = hmi_max_abs(N * N, x->J);
    if (!isfinite(misfit) || !hmi_all_finite(N * N, x->J))
        return HM_ERR_NUMERIC;
    hmi_cod_factor(&cod, N, N, x->J, N, open_direction * largest, x->work, x->ints);
    hmi_cod_solve(&cod, x->residual, x->step);
    for (int i = 0; i < N; i++)
        x->step[i] = -x->step[i];
    return HM_OK;
}
