/* Projection onto the constraints: see projection.h. */
#include "integrate/projection.h"

#include "linalg/dense.h"

#include <math.h>
#include <string.h>

enum { MOST_STEPS = 12 };

/* ---- memory ---- */

static double *doubles(hmi_arena *arena, size_t count, bool *failed)
{
    double *memory = hmi_arena_alloc(arena, (count + 1) * sizeof *memory);
    *failed |= !memory;
    return memory;
}

static hm_status init_level(hmi_level *level, hmi_projection *p, hm_level deepest, hmi_arena *arena)
{
    const hm_sim *sim = p->ode->sim;
    size_t n = p->ode->n, m = p->residuals->count;
    bool failed = false;
    level->row = hmi_arena_alloc(arena, (m + 1) * sizeof *level->row);
    level->A = doubles(arena, m * n, &failed);
    level->b = doubles(arena, m, &failed);
    if (failed || !level->row)
        return HM_ERR_NOMEM;
    for (size_t k = 0; k < m; k++)
        if (p->residuals->level[k] <= deepest)
            level->row[level->count++] = k;
    if (level->count == 0)
        return HM_OK;
    const hmi_dynamics_size size = {.n = (int)n, .m = (int)level->count};
    return hmi_dynamics_create(sim->system->allocator, &size, &level->solver);
}

hm_status hmi_projection_init(hmi_projection *p, hmi_ode *ode, hmi_residuals *residuals,
                              hmi_arena *arena)
{
    bool failed = false;
    *p = (hmi_projection){.ode = ode, .residuals = residuals};
    p->zero = doubles(arena, ode->n, &failed);
    p->step = doubles(arena, ode->n, &failed);
    p->best = doubles(arena, ode->n, &failed);
    p->size = doubles(arena, residuals->count, &failed);
    if (failed)
        return HM_ERR_NOMEM;
    hm_status status = init_level(&p->position, p, HM_LEVEL_POSITION, arena);
    return status == HM_OK ? init_level(&p->velocity, p, HM_LEVEL_VELOCITY, arena) : status;
}

void hmi_projection_release(hmi_projection *p)
{
    hmi_dynamics_destroy(p->position.solver);
    hmi_dynamics_destroy(p->velocity.solver);
}

/* ---- residuals and their sizes ---- */

static void take_rows(hmi_projection *p, hmi_level *level)
{
    size_t n = p->ode->n;
    for (size_t k = 0; k < level->count; k++)
        memcpy(level->A + k * n, p->ode->sim->A + level->row[k] * n, n * sizeof *level->A);
}

double hmi_rounding_of_row(const hm_sim *sim, const double *row, const double *x)
{
    double size = 0;
    for (size_t i = 0; i < sim->system->derived.n; i++)
        size += fabs(row[i] * x[i]);
    return 2 * HMI_EPSILON * size;
}

/* The largest residual relative to what rounding allows; b := -residual. */
static double measure(hmi_projection *p, hmi_level *level, const double *residual)
{
    double largest = 0;
    for (size_t k = 0; k < level->count; k++) {
        double r = residual[level->row[k]];
        level->b[k] = -r;
        if (!isfinite(r))
            return INFINITY;
        largest = fmax(largest, fabs(r) / fmax(p->size[k], 1e-300));
    }
    return largest;
}

static void measure_rows(hmi_projection *p, const hmi_level *level, const double *x)
{
    for (size_t k = 0; k < level->count; k++)
        p->size[k] = fmax(hmi_rounding_of_row(p->ode->sim, level->A + k * p->ode->n, x), 1e-16);
}

/* ---- one level ---- */

/* x (q or v of the sim) onto the rows of the level, whose residuals are at `residual` after an
 * evaluation. Stops at rounding level, or where steps do not help any more. */
static hm_status project_level(hmi_projection *p, hmi_level *level, double *x,
                               const double *residual, bool *moved)
{
    hm_sim *sim = p->ode->sim;
    size_t n = p->ode->n;
    double last = INFINITY;
    measure_rows(p, level, x);
    for (int i = 0;; i++) {
        hmi_residuals_evaluate(p->residuals);
        double now = measure(p, level, residual);
        if (now <= 1)
            return HM_OK;
        if (!(now < last)) { /* worse, or as good as it gets */
            memcpy(x, p->best, n * sizeof *x);
            return isfinite(last) ? (last < 1e4 ? HM_OK : HM_ERR_INCONSISTENT) : HM_ERR_NUMERIC;
        }
        if (i == MOST_STEPS || (now > 0.25 * last && now < 64))
            return now < 1e4 ? HM_OK : HM_ERR_INCONSISTENT;
        memcpy(p->best, x, n * sizeof *x);
        last = now;
        hm_status status = hmi_accelerate(level->solver, sim->M, p->zero, level->A, level->b,
                                          p->step, NULL);
        if (status == HM_ERR_NUMERIC || status == HM_ERR_USAGE)
            return status;
        hmi_axpy((int)n, 1, p->step, x);
        *moved = true;
    }
}

hm_status hmi_project(hmi_projection *p, double t, double *y)
{
    hm_sim *sim = p->ode->sim;
    bool moved = false;
    hmi_ode_store(p->ode, t, y);
    if (p->velocity.count == 0)
        return HM_OK;
    hm_sim_evaluate_fast(sim);
    hmi_sim_scatter(sim);
    hm_status status = HM_OK;
    if (p->position.count) {
        take_rows(p, &p->position);
        status = project_level(p, &p->position, sim->q, p->residuals->position, &moved);
    }
    take_rows(p, &p->velocity);
    hm_status second = project_level(p, &p->velocity, sim->v, p->residuals->velocity, &moved);
    p->count += moved;
    hmi_ode_load(p->ode, y);
    return status != HM_OK ? status : second;
}

/* x -= its normal part, by the rows of the level at the sim's state */
static void remove_normal(hmi_projection *p, hmi_level *level, double *x)
{
    size_t n = p->ode->n;
    if (level->count == 0)
        return;
    take_rows(p, level);
    for (size_t k = 0; k < level->count; k++)
        level->b[k] = -hmi_dot((int)n, level->A + k * n, x);
    hm_status status = hmi_accelerate(level->solver, p->ode->sim->M, p->zero, level->A, level->b,
                                      p->step, NULL);
    if (status != HM_ERR_NUMERIC && status != HM_ERR_USAGE)
        hmi_axpy((int)n, 1, p->step, x);
}

void hmi_project_error(hmi_projection *p, double t, const double *y, double *e)
{
    hmi_ode_store(p->ode, t, y);
    hm_sim_evaluate_fast(p->ode->sim);
    hmi_sim_scatter(p->ode->sim);
    remove_normal(p, &p->position, e);
    remove_normal(p, &p->velocity, e + p->ode->n);
}
