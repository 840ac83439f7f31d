/* Drops first integrals that are zero because of the constraints alone (conserved.h).
 *
 * Random states (states.h) are drawn far from the initial one, and a mechanism may be assembled in
 * several ways, of which the motion keeps one. A momentum that is not zero in one assembly may be
 * zero in another because of the constraints; it says nothing about the motion there. Such
 * integrals are found in double precision, at states so near the initial one that the assembly is
 * the same.
 * Verified: test/cases/test_symmetry.c, natural coordinates
 */
#include "analyse/symmetry/conserved.h"

#include "dynamics/sim/sim.h"
#include "compile/jit/assemble.h"

#include <hamel/run.h>

#include <math.h>
#include <string.h>

enum { STATES = 6 };
#define NEAR     0.02 /* of a coordinate, or of 1 */
#define ROUNDING 1e-9

typedef struct neighbourhood {
    hmi_conserved *in;
    hm_sim *sim;
    hmi_arena arena;
    hmi_tape tape; /* every integral and its size */
    double *work, *center, *drawn;
    size_t n, size; /* coordinates; numbers of a state */
    bool *moves;    /* the integral was not zero somewhere */
} neighbourhood;

static hm_status compile(neighbourhood *near)
{
    hmi_conserved *in = near->in;
    size_t count = in->list.count;
    hmi_expr *outputs = hmi_arena_alloc(&near->arena, (2 * count + 1) * sizeof *outputs);
    if (!outputs)
        return HM_ERR_NOMEM;
    for (size_t i = 0; i < count; i++) {
        outputs[2 * i] = in->list.data[i].value;
        outputs[2 * i + 1] = in->list.data[i].size;
    }
    hm_status status = hmi_tape_compile(&near->tape, &in->forms->graph, outputs, 2 * count);
    if (status != HM_OK)
        return status;
    near->work = hmi_arena_alloc(&near->arena, (near->tape.work_size + 1) * sizeof *near->work);
    near->center = hmi_arena_alloc(&near->arena, (2 * near->size + 1) * sizeof *near->center);
    near->moves = hmi_arena_alloc(&near->arena, count + 1);
    if (!near->work || !near->center || !near->moves)
        return HM_ERR_NOMEM;
    near->drawn = near->center + near->size;
    memset(near->moves, 0, count);
    hm_sim_state(near->sim, near->center, near->center + near->n, near->center + 2 * near->n);
    return HM_OK;
}

/* A consistent state near the centre, with velocities of any size. */
static hm_status draw(neighbourhood *near, double t)
{
    double *q = near->drawn, *v = q + near->n, *z = v + near->n;
    for (size_t i = 0; i < near->size; i++) {
        double reach = i < near->n ? NEAR * fmax(fabs(near->center[i]), 1) : 1;
        q[i] = near->center[i] + reach * hmi_sampler_random(near->in->sampler);
    }
    hmi_sim_set_state(near->sim, t, q, v, z);
    return hm_sim_make_consistent(near->sim, true, NULL, NULL);
}

static void look(neighbourhood *near)
{
    const hmi_point *at = hmi_sim_present(near->sim);
    hmi_sim_refresh(near->sim, at);
    const hmi_tape_values values = hmi_sim_values(near->sim, at);
    hmi_tape_prepare(&near->tape, &values, near->work);
    hmi_tape_run(&near->tape, &values, near->work);
    const double *now = hmi_tape_outputs(&near->tape, near->work);
    for (size_t i = 0; i < near->in->list.count; i++)
        near->moves[i] |= !(fabs(now[2 * i]) <= ROUNDING * now[2 * i + 1]);
}

/* Where a state is not found nothing is known, and everything stays. */
static hm_status look_around(neighbourhood *near, double t)
{
    for (int k = 0; k < STATES; k++) {
        hm_status status = draw(near, t);
        if (status == HM_ERR_NOMEM)
            return status;
        if (status != HM_OK)
            memset(near->moves, true, near->in->list.count);
        else
            look(near);
    }
    return HM_OK;
}

static void leave_out(neighbourhood *near)
{
    hmi_conserved *in = near->in;
    size_t kept = 0;
    for (size_t i = 0; i < in->list.count; i++)
        if (near->moves[i] || in->list.data[i].has_energy)
            in->list.data[kept++] = in->list.data[i];
    in->list.count = kept;
}

hm_status hmi_conserved_drop_trivial(hmi_conserved *in, hm_sim *sim)
{
    neighbourhood near = {.in = in,
                          .sim = sim,
                          .tape.allocator = in->forms->allocator,
                          .n = in->forms->n,
                          .size = 2 * in->forms->n + in->forms->model->states.count};
    double t = hm_sim_time(sim);
    if (!in->list.count || !in->forms->m)
        return HM_OK;
    hmi_arena_init(&near.arena, in->forms->allocator);
    hm_status status = compile(&near);
    if (status == HM_OK)
        status = look_around(&near, t);
    if (status == HM_OK) {
        leave_out(&near);
        hmi_sim_set_state(sim, t, near.center, near.center + near.n, near.center + 2 * near.n);
    }
    hmi_tape_release(&near.tape);
    hmi_arena_release(&near.arena);
    return status;
}
