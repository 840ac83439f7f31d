/* Tries directions in which there may be a family of states at rest (family.h). */
#include "analyse/linearize/family.h"

#include "base/random.h"
#include "linalg/dense.h"

#include <math.h>

static const double coordinate_rest = 1e-11; /* velocities that are zero */

static bool rests(const hmi_family_walk *walk)
{
    const hmi_reduction *r = walk->r;
    for (size_t i = 0; i < walk->count; i++) {
        size_t k = walk->variable[i];
        double noise = k < r->n ? coordinate_rest : hmi_reduction_noise(r, k);
        if (!(fabs(walk->rate_at(walk->user, k)) <= noise + 2 * fabs(walk->rate[k])))
            return false;
    }
    return true;
}

/* What a step of some length along w, corrected, leads to. */
typedef enum outcome { NOWHERE, ELSEWHERE, REST } outcome;

static hm_status try_step(const hmi_family_walk *walk, const double *w, double length, outcome *out)
{
    double moved = 0;
    bool found = false;
    hmi_copy((int)walk->r->size, walk->from, walk->x);
    for (size_t j = 0; j < walk->count; j++)
        walk->x[walk->variable[j]] += length * w[j];
    hm_status status = walk->search(walk->user, walk->t, walk->x, &found);
    for (size_t j = 0; j < walk->count; j++)
        moved += w[j] * (walk->x[walk->variable[j]] - walk->from[walk->variable[j]]);
    bool along = moved / length > 0.5 && moved / length < 2;
    *out = !found ? NOWHERE : along && rests(walk) ? REST : ELSEWHERE;
    return status;
}

/* Steps are relative to the values that change, where they are not zero. The longer ones may end
 * where nothing can move on, and are then shortened. */
static hm_status try_direction(const hmi_family_walk *walk, const double *w, bool *found)
{
    static const double lengths[] = {1e-2, 0.1, 0.05, 0.025};
    double size = 0;
    hm_status status = HM_OK;
    for (size_t j = 0; j < walk->count; j++)
        size = fmax(size, fabs(w[j] * walk->from[walk->variable[j]]));
    if (!(size > 1e-6))
        size = 1;
    *found = true;
    for (int sign = -1; sign <= 1 && *found && status == HM_OK; sign += 2) {
        outcome near = NOWHERE, far = NOWHERE;
        status = try_step(walk, w, sign * lengths[0] * size, &near);
        for (int k = 1; k < 4 && far == NOWHERE && near == REST && status == HM_OK; k++)
            status = try_step(walk, w, sign * lengths[k] * size, &far);
        *found = near == REST && far == REST;
    }
    return status;
}

/* Random unit vectors in the span of the directions that passed. */
static hm_status try_sums(const hmi_family_walk *walk, const double *kernel, size_t directions,
                          const bool *passed, double *w, bool *found)
{
    hmi_random random = {20261120};
    hm_status status = HM_OK;
    *found = true;
    for (int k = 0; k < 3 && *found && status == HM_OK; k++) {
        hmi_zero((int)walk->count, w);
        for (size_t i = 0; i < directions; i++)
            if (passed[i])
                hmi_axpy((int)walk->count, hmi_random_between(&random, -1, 1),
                         kernel + i * walk->count, w);
        double length = hmi_norm((int)walk->count, w);
        for (size_t j = 0; j < walk->count && length > 0; j++)
            w[j] /= length;
        status = try_direction(walk, w, found);
    }
    return status;
}

hm_status hmi_family_count(const hmi_family_walk *walk, const double *kernel, size_t directions,
                           size_t *dimension)
{
    hmi_arena arena;
    hmi_arena_init(&arena, walk->r->arena.allocator);
    bool *passed = hmi_arena_alloc(&arena, directions + 1), failed = false, sums = true;
    double *w = hmi_arena_doubles(&arena, walk->count, &failed);
    hm_status status = passed && !failed ? HM_OK : HM_ERR_NOMEM;
    *dimension = 0;
    for (size_t i = 0; i < directions && status == HM_OK; i++) {
        status = try_direction(walk, kernel + i * walk->count, &passed[i]);
        *dimension += passed[i];
    }
    if (status == HM_OK && *dimension > 1)
        status = try_sums(walk, kernel, directions, passed, w, &sums);
    if (!sums)
        *dimension = 1;
    hmi_arena_release(&arena);
    return status;
}
