/* The search for the nearest consistent state: first the nearest, then any, then to the last digits. */
#include "integrate/drift/consistent.h"

#include "dynamics/sim/rounding.h"
#include "linalg/dense.h"

#include <math.h>
#include <string.h>

enum {
    MOST_STEPS = 200,
    MOST_REACHING = 2000,
    PATIENCE = 100,
    POLISH_STEPS = 20,
    MOST_HALVINGS = 30
};
/* A step goes as far as the residuals follow their tangents, to this part of its length. */
#define BENT 0.5
/* How far it goes at least, relative to the state. */
#define SHORT 1e-8

/* Rows that depend on others where they hold are independent by as much as they do not hold yet: of
 * smaller angles (sines) that are left, rounding errors would be the greater part. */
#define DEPENDENT 1e-8

/* A step that short, relative to 1 and the state, ends a search unless it helped. */
#define LOST 1e-16

/* A state whose residuals are no larger than that, relative to their terms, stays as it is. */
#define FITS 1e-13

/* One level with its free coordinates. */
typedef struct problem {
    hmi_projection *projection;
    hmi_projection_level *level;
    const double *residual; /* where the residuals of the level are */
    const bool *skip;       /* by row of the model; NULL: none */
    hmi_point at;
    double *x; /* q or v there */
    size_t n, free_count;
    size_t *free; /* coordinates that may move */
    hmi_subproblem *subproblem;
    double *Q, *b, *pull; /* of the free ones; pull: how far they are from where they were */
    double *x0, *step, *old;
    double *r, *slope, *length; /* at the beginning of a step: residuals, A step, lengths of rows */
} problem;

static hm_status set_up(problem *p, hmi_arena *arena, const bool *fixed)
{
    size_t n = p->n, m = p->level->count;
    bool failed = false;
    p->free = hmi_arena_alloc(arena, (n + 1) * sizeof *p->free);
    p->Q = hmi_arena_doubles(arena, n, &failed);
    p->pull = hmi_arena_doubles(arena, n, &failed);
    p->b = hmi_arena_doubles(arena, m, &failed);
    p->r = hmi_arena_doubles(arena, m, &failed);
    p->slope = hmi_arena_doubles(arena, m, &failed);
    p->length = hmi_arena_doubles(arena, m, &failed);
    p->x0 = hmi_arena_doubles(arena, n, &failed);
    p->step = hmi_arena_doubles(arena, n, &failed);
    p->old = hmi_arena_doubles(arena, n, &failed);
    if (failed || !p->free)
        return HM_ERR_NOMEM;
    memcpy(p->x0, p->x, n * sizeof *p->x);
    for (size_t i = 0; i < n; i++)
        if (!fixed || !fixed[i])
            p->free[p->free_count++] = i;
    if (p->free_count == 0)
        return HM_OK;
    hm_status status = hmi_subproblem_create(p->projection->ode->sim, p->level->row, m, p->free,
                                             p->free_count, &p->subproblem);
    if (status == HM_OK && p->skip)
        hmi_subproblem_leave_out(p->subproblem, p->skip);
    return status;
}

static bool is_skipped(const problem *p, size_t k)
{
    return p->skip && p->skip[p->level->row[k]];
}

/* M, A at the state, and how large each residual is, relative to the size of its terms. */
static double look(problem *p, bool with_matrices)
{
    hm_sim *sim = p->projection->ode->sim;
    if (with_matrices)
        hmi_sim_evaluate(sim, &p->at);
    hmi_residuals_evaluate(p->projection->residuals, &p->at);
    double sum = 0;
    for (size_t k = 0; k < p->level->count; k++) {
        double r = is_skipped(p, k) ? 0 : p->residual[p->level->row[k]];
        p->b[k] = -r;
        double length = hmi_row_length(sim, p->level->row[k]);
        sum = hypot(sum, length > 0 ? r / length : r);
    }
    return sum;
}

static void take_free(problem *p, bool pull)
{
    hmi_subproblem_take(p->subproblem);
    for (size_t j = 0; j < p->free_count; j++)
        p->pull[j] = pull ? p->x0[p->free[j]] - p->x[p->free[j]] : 0;
    hmi_subproblem_times_mass(p->subproblem, p->pull, p->Q);
}

static void move(problem *p, double part)
{
    memcpy(p->x, p->old, p->n * sizeof *p->x);
    for (size_t j = 0; j < p->free_count; j++)
        p->x[p->free[j]] += part * p->step[j];
}

/* Do the residuals at this part of the step follow their tangents? Rows are measured by their length
 * at its beginning: a row that is short there (sin q near its top) leads far away in no time. */
static bool follows(problem *p, double part, double step)
{
    double bent = 0, rounding = 4 * HMI_EPSILON * step; /* residuals are of the size of the step */
    move(p, part);
    if (!isfinite(look(p, false)))
        return false;
    for (size_t k = 0; k < p->level->count; k++) {
        double left = (-p->b[k] - p->r[k] - part * p->slope[k]) / p->length[k];
        bent = is_skipped(p, k) ? bent : hypot(bent, left);
    }
    return bent <= BENT * part * step + rounding;
}

static bool moves(const problem *p)
{
    return memcmp(p->x, p->old, p->n * sizeof *p->x) != 0;
}

/* A part so short that they do: short against the state, as exp(x) = 1e20 has no values a millionth
 * of its first step away. */
static double short_part(problem *p, double most, double step)
{
    double size = hmi_norm((int)p->n, p->old), part = ldexp(most, -MOST_HALVINGS);
    if (size > 0)
        part = fmin(part, SHORT * size / step);
    while (!follows(p, part, step) && moves(p))
        part = ldexp(part, -MOST_HALVINGS);
    return part;
}

/* The largest part of the step up to which they do: where the whole of it or a short part does not
 * fit, from below, so that it does not end beyond a hill where they happen to fit again. */
static double part_that_follows(problem *p, double most)
{
    double step = hmi_norm((int)p->free_count, p->step);
    size_t m = p->level->count;
    hmi_subproblem_times_rows(p->subproblem, p->step, p->slope);
    for (size_t k = 0; k < m; k++) {
        double length = hmi_row_length(p->projection->ode->sim, p->level->row[k]);
        p->r[k] = -p->b[k];
        p->length[k] = length > 0 ? length : 1;
    }
    if (follows(p, most, step) && follows(p, most / 4, step) && follows(p, most / 16, step))
        return most;
    double part = short_part(p, most, step);
    while (2 * part <= most && follows(p, 2 * part, step))
        part *= 2;
    return part;
}

/* One step of at most `part`, as far as its tangents lead. *change: its relative size. */
static hm_status improve(problem *p, bool pull, double part, double *now, double *change)
{
    double next, size = 0;
    take_free(p, pull);
    hm_status status = hmi_subproblem_solve(p->subproblem, p->Q, p->b, p->step);
    if (status != HM_OK && status != HM_ERR_INCONSISTENT && status != HM_ERR_UNDETERMINED)
        return status;
    memcpy(p->old, p->x, p->n * sizeof *p->x);
    part = part_that_follows(p, part);
    move(p, part);
    next = look(p, true);
    for (size_t j = 0; j < p->free_count; j++)
        size = fmax(size, fabs(part * p->step[j]) / (1 + fabs(p->x[p->free[j]])));
    *now = next;
    *change = size;
    return isfinite(next) ? HM_OK : HM_ERR_NUMERIC;
}

/* The worst row, relative to the size of its terms. */
static double judge(const problem *p, hmi_consistent *c, hm_level level)
{
    const hm_sim *sim = p->projection->ode->sim;
    double worst = 0;
    for (size_t k = 0; k < p->level->count; k++) {
        size_t row = p->level->row[k];
        if (is_skipped(p, k))
            continue;
        double size = hmi_rounding_of_row(sim, row, p->x) / (2 * HMI_EPSILON);
        double length = hmi_row_length(sim, row); /* in units of the row, not of the person */
        double r = fabs(p->residual[row]) / fmax(size, 1e-6 * (length > 0 ? length : 1));
        if (!(r <= worst)) {
            worst = r;
            c->worst_row = row;
            c->violated_by = p->residual[row];
            c->violated_level = level;
        }
    }
    return worst;
}

/* The nearest state that fits. */
static hm_status approach(problem *p, double *now)
{
    double change = INFINITY, part = 1, last = INFINITY;
    hm_status status = HM_OK;
    for (int i = 0; i < MOST_STEPS && status == HM_OK && change > 1e-14; i++) {
        status = improve(p, true, part, now, &change);
        if (change > 0.9 * last) /* to and fro on a strongly curved constraint */
            part = fmax(0.5 * part, 1.0 / 64);
        last = change;
    }
    return status;
}

/* Far away it takes long to be near, and a long chain has many rods to unfold: any state that fits
 * will do then, as long as the best one so far becomes better. */
static hm_status reach(problem *p, hmi_consistent *c, hm_level level, double *now)
{
    double change = INFINITY, best = *now;
    hm_status status = HM_OK;
    for (int i = 0, since = 0; i < MOST_REACHING && since < PATIENCE && status == HM_OK &&
                               (change > LOST || since == 0) && judge(p, c, level) > c->tolerance;
         i++) {
        status = improve(p, false, 1, now, &change);
        since = *now < 0.9 * best ? 0 : since + 1;
        best = since ? best : *now;
    }
    return status;
}

/* Coordinates may be tiny where they fit, log(x) = -50: as long as steps help they are not too short. */
static hm_status polish(problem *p, double *now)
{
    double change = INFINITY, last = INFINITY;
    hm_status status = HM_OK;
    for (int i = 0; i < MOST_REACHING && status == HM_OK; i++) {
        bool helped = *now < 0.9 * last;
        if (!helped && (change <= LOST || i >= POLISH_STEPS))
            break;
        last = *now;
        status = improve(p, false, 1, now, &change);
    }
    return status;
}

static hm_status search(problem *p, hmi_consistent *c, hm_level level, double now)
{
    hmi_subproblem_coarse_rank(p->subproblem, DEPENDENT);
    hm_status status = approach(p, &now);
    if (status == HM_OK)
        status = reach(p, c, level, &now);
    if (status == HM_OK && judge(p, c, level) > c->tolerance) {
        hmi_subproblem_coarse_rank(p->subproblem, 0); /* then these angles count */
        status = reach(p, c, level, &now);
    }
    return status == HM_OK ? polish(p, &now) : status;
}

static hm_status solve(problem *p, hmi_consistent *c, hm_level level)
{
    double now = look(p, true);
    if (!isfinite(now))
        return HM_ERR_NUMERIC;
    hm_status status = HM_OK;
    if (p->free_count > 0 && judge(p, c, level) > FITS)
        status = search(p, c, level, now);
    if (status != HM_OK && status != HM_ERR_NUMERIC)
        return status;
    bool fits = judge(p, c, level) <= c->tolerance;
    return fits && status == HM_OK ? HM_OK : HM_ERR_INCONSISTENT; /* it had values at the start */
}

/* A state that fits stays as it is: nothing to set up, which counts in ensembles. */
static bool fits_already(problem *p, hmi_consistent *c, hm_level level)
{
    p->b = p->level->b;
    bool fits = isfinite(look(p, true)) && judge(p, c, level) <= FITS;
    p->b = NULL;
    return fits;
}

/* Rows of rounding errors neither lead the way nor are violated. */
static hm_status measure_terms(problem *p, hmi_arena *arena)
{
    hm_sim *sim = p->projection->ode->sim;
    bool failed = false;
    double *terms = hmi_arena_doubles(arena, sim->system->derived.constraints.count, &failed);
    if (failed)
        return HM_ERR_NOMEM;
    hm_status status = hmi_sim_row_terms(sim, &p->at, terms);
    sim->solve.row_terms = terms;
    return status;
}

static hm_status solve_level(hmi_consistent *c, hm_level level, double t, double *y,
                             const bool *fixed)
{
    hmi_projection *projection = c->projection;
    bool position = level == HM_LEVEL_POSITION;
    problem p = {
        .projection = projection,
        .level = position ? &projection->position : &projection->velocity,
        .residual = position ? projection->residuals->position : projection->residuals->velocity,
        .skip = position ? c->skip_position : c->skip_velocity,
        .at = hmi_ode_point(projection->ode, t, y),
        .x = position ? y : y + projection->ode->n,
        .n = projection->ode->n,
    };
    hmi_arena arena;
    if (p.level->count == 0 || fits_already(&p, c, level))
        return HM_OK;
    hmi_arena_init(&arena, projection->ode->sim->system->allocator);
    hm_status status = set_up(&p, &arena, fixed);
    if (status == HM_OK)
        status = measure_terms(&p, &arena);
    if (status == HM_OK)
        status = solve(&p, c, level);
    projection->ode->sim->solve.row_terms = NULL;
    hmi_subproblem_destroy(p.subproblem);
    hmi_arena_release(&arena);
    return status;
}

hm_status hmi_make_consistent(hmi_consistent *c, double t, double *y, const bool *fixed_q,
                              const bool *fixed_v)
{
    if (c->tolerance == 0)
        c->tolerance = 1e-9;
    hm_status status = solve_level(c, HM_LEVEL_POSITION, t, y, fixed_q);
    if (status == HM_OK)
        status = solve_level(c, HM_LEVEL_VELOCITY, t, y, fixed_v);
    return status;
}
