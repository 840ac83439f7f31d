/* Newton steps onto the constraints, by the compiled projectors or by the rank-revealing solve. */
#include "integrate/drift/projection.h"

#include "dynamics/sim/evaluation.h"
#include "integrate/ode/degenerate.h"
#include "linalg/dense.h"

#include <string.h>

#include "integrate/ode/width_one.h"

#include "integrate/drift/approach.inc"

/* ---- memory ---- */

static hm_status init_level(hmi_projection_level *level, hmi_projection *p, hm_level deepest,
                            hmi_arena *arena)
{
    const hm_sim *sim = p->ode->sim;
    size_t m = p->residuals->count;
    bool failed = false;
    level->row = hmi_arena_alloc(arena, (m + 1) * sizeof *level->row);
    level->b = hmi_arena_doubles(arena, m, &failed);
    if (failed || !level->row)
        return HM_ERR_NOMEM;
    for (size_t k = 0; k < m; k++)
        if (p->residuals->level[k] <= deepest)
            level->row[level->count++] = k;
    if (level->count == 0)
        return HM_OK;
    return hmi_subproblem_create(sim, level->row, level->count, NULL, 0, &level->subproblem);
}

hm_status hmi_projection_init(hmi_projection *p, hmi_ode *ode, hmi_residuals *residuals,
                              hmi_arena *arena)
{
    bool failed = false;
    *p = (hmi_projection){.ode = ode,
                          .residuals = residuals,
                          .position.projector = p->position.projector,
                          .velocity.projector = p->velocity.projector};
    p->zero = hmi_arena_doubles(arena, ode->n, &failed);
    p->step = hmi_arena_doubles(arena, ode->n, &failed);
    p->best = hmi_arena_doubles(arena, ode->n, &failed);
    p->moved = hmi_arena_doubles(arena, 2 * ode->n, &failed);
    p->size = hmi_arena_doubles(arena, residuals->count, &failed);
    if (failed)
        return HM_ERR_NOMEM;
    hm_status status = init_level(&p->position, p, HM_LEVEL_POSITION, arena);
    return status == HM_OK ? init_level(&p->velocity, p, HM_LEVEL_VELOCITY, arena) : status;
}

hm_status hmi_projection_keep_rows(hmi_projection *p, hmi_arena *arena)
{
    bool failed = false;
    p->row_memory = hmi_arena_doubles(arena, p->velocity.count * p->ode->n, &failed);
    p->rows = p->row_memory;
    p->keep_rows = true;
    return failed ? HM_ERR_NOMEM : HM_OK;
}

static hm_status compile_level(hm_sim *sim, const hmi_motion_source *source,
                               hmi_projection_level *level, hmi_symbol_kind x)
{
    if (level->count == 0 || level->projector)
        return HM_OK;
    return hmi_sim_projector_create(sim, source, level->row, level->count, x, &level->projector);
}

hm_status hmi_projection_compile(hmi_projection *p, const hmi_motion_source *source)
{
    hm_status status = compile_level(p->ode->sim, source, &p->position, HMI_SYM_COORD);
    return status == HM_OK ? compile_level(p->ode->sim, source, &p->velocity, HMI_SYM_VELOCITY)
                           : status;
}

void hmi_projection_release(hmi_projection *p)
{
    hmi_sim_projector_destroy(p->position.projector);
    hmi_sim_projector_destroy(p->velocity.projector);
    hmi_subproblem_destroy(p->position.subproblem);
    hmi_subproblem_destroy(p->velocity.subproblem);
}

/* ---- residuals and their sizes ---- */

double hmi_rounding_of_row(const hm_sim *sim, size_t row, const double *x)
{
    return 2 * HMI_EPSILON * hmi_row_terms(sim, row, x);
}

/* b := -residual; false where it is not finite. */
static bool take_residual(hmi_projection_level *level, const double *residual)
{
    double sum = 0;
    for (size_t k = 0; k < level->count; k++) {
        double r = residual[level->row[k]];
        level->b[k] = -r;
        sum += 0 * r;
    }
    return sum == 0;
}

/* Rows left out follow from the others, amplified by how well these determine them. */
#define MOST_LEFT_OUT 1e6

/* The largest residual relative to what rounding allows. Rows left out do not lead the way:
 * p->left_out keeps theirs. With contacts they are rows that do not hold at all. */
static double measure(hmi_projection *p, const hmi_projection_level *level)
{
    const bool *left_out = p->ode->sim->solve.left_out;
    double largest = 0;
    p->left_out = 0;
    for (size_t k = 0; k < level->count; k++) {
        if (p->ode->sim->contacts && left_out[level->row[k]])
            continue;
        double *most = left_out && left_out[level->row[k]] ? &p->left_out : &largest;
        *most = larger(*most, measure_of(level->b[k], p->size[k]));
    }
    return largest;
}

static void measure_rows(hmi_projection *p, const hmi_projection_level *level, const double *x)
{
    for (size_t k = 0; k < level->count; k++)
        p->size[k] = rounding_of(hmi_row_terms(p->ode->sim, level->row[k], x));
}

/* ---- one level ---- */

/* Least-squares answers will do. */
static bool has_answer(hm_status status)
{
    return status == HM_OK || status == HM_ERR_INCONSISTENT || status == HM_ERR_UNDETERMINED;
}

/* One projection: of a state that stays as it is, while a copy of it moves. */
typedef struct passage {
    hmi_projection *p;
    hmi_point first, now; /* the state, and its copy in p->moved */
    const double *step;
    bool compiled; /* by the projectors, */
    bool lost;     /* which have no answer here */
    bool factored; /* the array code of large systems was tried for this state, */
    bool array;    /* and has an answer */
    bool moved;
} passage;

static passage begin_passage(hmi_projection *p, double t, const double *y)
{
    passage a = {.p = p, .first = hmi_ode_point(p->ode, t, y)};
    a.now = (hmi_point){t, p->moved, p->moved + p->ode->n, a.first.z};
    memcpy(p->moved, y, 2 * p->ode->n * sizeof *y);
    return a;
}

/* The compiled solve of large systems has all rows of the model. */
static bool solves_as_array(passage *a, const hmi_projection_level *level)
{
    hmi_projection *p = a->p;
    hm_sim *sim = p->ode->sim;
    if (level->count != sim->system->derived.constraints.count || sim->solve.left_out)
        return false;
    if (!a->factored)
        a->array = hmi_sim_factor_compiled(sim, &a->first);
    a->factored = true;
    return a->array && hmi_sim_project_compiled(sim, &a->first, level->b, p->step);
}

/* a->step for level->b, with M and A of the first state. */
static hm_status find_step(passage *a, hmi_projection_level *level)
{
    hmi_projection *p = a->p;
    a->step = a->compiled ? level->projector->step : p->step;
    if (!a->compiled && solves_as_array(a, level))
        return HM_OK;
    if (!a->compiled)
        return hmi_subproblem_solve(level->subproblem, p->zero, level->b, p->step);
    a->lost = !hmi_sim_projector_run(p->ode->sim, level->projector, &a->first, level->b);
    return a->lost ? HM_ERR_NUMERIC : HM_OK;
}

/* The sizes of the rows, and with projectors the first step too. */
static hm_status look_first(passage *a, hmi_projection_level *level, const double *x)
{
    hmi_projection *p = a->p;
    if (!a->compiled) {
        measure_rows(p, level, x);
        return HM_OK;
    }
    hm_status status = find_step(a, level);
    for (size_t k = 0; k < level->count; k++)
        p->size[k] = rounding_of(level->projector->sizes[k]);
    return status;
}

/* x (q or v in p->moved) onto the rows of the level, whose residuals are at `residual` after an
 * evaluation. Stops at rounding level, or where steps do not help any more. */
static hm_status project_kept(passage *a, hmi_projection_level *level, double *x,
                              const double *residual)
{
    hmi_projection *p = a->p;
    size_t n = p->ode->n;
    double last = INFINITY;
    for (int i = 0;; i++) {
        hmi_residuals_evaluate(p->residuals, &a->now);
        bool good = take_residual(level, residual);
        hm_status status = i == 0 ? look_first(a, level, x) : HM_OK;
        if (status != HM_OK)
            return status;
        double now = good ? measure(p, level) : INFINITY;
        bool worse, enough, on = goes_on(now, last, i == HMI_MOST_APPROACHES, &worse, &enough);
        if (worse) {
            memcpy(x, p->best, n * sizeof *x);
            return came_near(last) ? HM_OK : isfinite(last) ? HM_ERR_INCONSISTENT : HM_ERR_NUMERIC;
        }
        if (!on)
            return !enough || came_near(now) ? HM_OK : HM_ERR_INCONSISTENT;
        memcpy(p->best, x, n * sizeof *x);
        last = now;
        if (i > 0 || !a->compiled)
            status = find_step(a, level);
        if (!has_answer(status))
            return status;
        hmi_axpy((int)n, 1, a->step, x);
        a->moved = true;
    }
}

static hm_status project_level(passage *a, hmi_projection_level *level, double *x,
                               const double *residual)
{
    hm_status status = project_kept(a, level, x, residual);
    return status == HM_OK && a->p->left_out > MOST_LEFT_OUT ? HM_ERR_INCONSISTENT : status;
}

static void take_matrices(hmi_projection *p, const hmi_point *at)
{
    hmi_sim_evaluate(p->ode->sim, at);
    if (p->position.count)
        hmi_subproblem_take(p->position.subproblem);
    hmi_subproblem_take(p->velocity.subproblem);
}

/* Those of the first state. */
static void take_rows(hmi_projection *p, bool compiled)
{
    const hmi_projection_level *level = &p->velocity;
    const hmi_expr_matrix *A = &p->ode->sim->system->derived.constraints.A;
    if (!compiled) {
        p->rows = hmi_subproblem_dense_rows(level->subproblem);
        return;
    }
    const double *entry = level->projector->entries;
    p->rows = p->row_memory; /* zero where there are no entries */
    for (size_t i = 0; i < level->count; i++)
        for (size_t k = A->start[level->row[i]]; k < A->start[level->row[i] + 1]; k++)
            p->row_memory[i * p->ode->n + A->column.data[k]] = *entry++;
}

/* Both levels. M and A are those of the first state for both. */
static hm_status project_levels(passage *a)
{
    hmi_projection *p = a->p;
    hm_status status = HM_OK;
    if (!a->compiled)
        take_matrices(p, &a->now);
    if (p->position.count)
        status = project_level(a, &p->position, p->moved, p->residuals->position);
    if (a->lost)
        return status;
    hm_status second = project_level(a, &p->velocity, p->moved + p->ode->n, p->residuals->velocity);
    if (p->keep_rows && !a->lost)
        take_rows(p, a->compiled);
    return status != HM_OK ? status : second;
}

hm_status hmi_project(hmi_projection *p, double t, double *y)
{
    if (p->velocity.count == 0)
        return HM_OK;
    passage a = begin_passage(p, t, y);
    a.compiled = p->velocity.projector && (p->position.projector || p->position.count == 0) &&
                 !p->ode->sim->solve.left_out;
    hmi_sim_refresh(p->ode->sim, &a.now);
    hm_status status = project_levels(&a);
    if (a.lost) { /* the rank-revealing solve has an answer */
        a = begin_passage(p, t, y);
        status = project_levels(&a);
    }
    p->count += a.moved;
    memcpy(y, p->moved, 2 * p->ode->n * sizeof *y);
    return status;
}

hm_status hmi_settle(hmi_projection *p, double t, double *y)
{
    hm_status status = p->ode->kept ? hmi_project(p, t, y) : HM_OK;
    return status == HM_OK ? hmi_ode_settle(p->ode, t, y) : status;
}

/* x -= its normal part, by the rows of the level as last evaluated */
static void remove_normal(hmi_projection *p, hmi_projection_level *level, double *x)
{
    size_t n = p->ode->n;
    if (level->count == 0)
        return;
    hmi_subproblem_take(level->subproblem);
    hmi_subproblem_times_rows(level->subproblem, x, level->b);
    for (size_t k = 0; k < level->count; k++)
        level->b[k] = -level->b[k];
    if (has_answer(hmi_subproblem_solve(level->subproblem, p->zero, level->b, p->step)))
        hmi_axpy((int)n, 1, p->step, x);
}

void hmi_project_error(hmi_projection *p, double t, const double *y, double *e)
{
    const hmi_point at = hmi_ode_point(p->ode, t, y);
    hmi_sim_evaluate(p->ode->sim, &at);
    remove_normal(p, &p->position, e);
    remove_normal(p, &p->velocity, e + p->ode->n);
}
