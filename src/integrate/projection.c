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
    size_t m = p->residuals->count;
    bool failed = false;
    level->row = hmi_arena_alloc(arena, (m + 1) * sizeof *level->row);
    level->b = doubles(arena, m, &failed);
    if (failed || !level->row)
        return HM_ERR_NOMEM;
    for (size_t k = 0; k < m; k++)
        if (p->residuals->level[k] <= deepest)
            level->row[level->count++] = k;
    if (level->count == 0)
        return HM_OK;
    return hmi_part_create(sim, level->row, level->count, NULL, 0, &level->part);
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
    hmi_part_destroy(p->position.part);
    hmi_part_destroy(p->velocity.part);
}

/* ---- residuals and their sizes ---- */

double hmi_rounding_of_row(const hm_sim *sim, size_t row, const double *x)
{
    return 2 * HMI_EPSILON * hmi_row_terms(sim, row, x);
}

/* Rows left out follow from the others, amplified by how well these determine them. */
#define MOST_LEFT_OUT 1e6

/* The largest residual relative to what rounding allows; b := -residual. Rows left out do not lead
 * the way: p->left_out keeps theirs. */
static double measure(hmi_projection *p, hmi_level *level, const double *residual)
{
    const bool *left_out = p->ode->sim->left_out;
    double largest = 0;
    p->left_out = 0;
    for (size_t k = 0; k < level->count; k++) {
        double r = residual[level->row[k]];
        level->b[k] = -r;
        if (!isfinite(r))
            return INFINITY;
        double *most = left_out && left_out[level->row[k]] ? &p->left_out : &largest;
        *most = fmax(*most, fabs(r) / fmax(p->size[k], 1e-300));
    }
    return largest;
}

static void measure_rows(hmi_projection *p, const hmi_level *level, const double *x)
{
    for (size_t k = 0; k < level->count; k++)
        p->size[k] = fmax(hmi_rounding_of_row(p->ode->sim, level->row[k], x), 1e-16);
}

/* ---- one level ---- */

/* Least-squares answers will do. */
static bool has_answer(hm_status status)
{
    return status == HM_OK || status == HM_ERR_INCONSISTENT || status == HM_ERR_UNDETERMINED;
}

/* x (q or v of the sim) onto the rows of the level, whose residuals are at `residual` after an
 * evaluation. Stops at rounding level, or where steps do not help any more. */
static hm_status project_kept(hmi_projection *p, hmi_level *level, double *x,
                              const double *residual, bool *moved)
{
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
        hm_status status = hmi_part_solve(level->part, p->zero, level->b, p->step);
        if (!has_answer(status))
            return status;
        hmi_axpy((int)n, 1, p->step, x);
        *moved = true;
    }
}

static hm_status project_level(hmi_projection *p, hmi_level *level, double *x,
                               const double *residual, bool *moved)
{
    hm_status status = project_kept(p, level, x, residual, moved);
    return status == HM_OK && p->left_out > MOST_LEFT_OUT ? HM_ERR_INCONSISTENT : status;
}

hm_status hmi_project(hmi_projection *p, double t, double *y)
{
    hm_sim *sim = p->ode->sim;
    bool moved = false;
    hmi_ode_store(p->ode, t, y);
    if (p->velocity.count == 0)
        return HM_OK;
    hm_sim_evaluate_fast(sim);
    hm_status status = HM_OK;
    if (p->position.count) {
        hmi_part_take(p->position.part);
        status = project_level(p, &p->position, sim->q, p->residuals->position, &moved);
    }
    hmi_part_take(p->velocity.part);
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
    hmi_part_take(level->part);
    hmi_part_times_rows(level->part, x, level->b);
    for (size_t k = 0; k < level->count; k++)
        level->b[k] = -level->b[k];
    if (has_answer(hmi_part_solve(level->part, p->zero, level->b, p->step)))
        hmi_axpy((int)n, 1, p->step, x);
}

void hmi_project_error(hmi_projection *p, double t, const double *y, double *e)
{
    hmi_ode_store(p->ode, t, y);
    hm_sim_evaluate_fast(p->ode->sim);
    remove_normal(p, &p->position, e);
    remove_normal(p, &p->velocity, e + p->ode->n);
}
