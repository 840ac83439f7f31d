/* Is the energy conserved, and what changes it? hm_system_energy.
 *
 * The audit is made at random consistent states near the initial one, and on both sides of every function
 * that is not smooth (analyse/sides), in double precision; what is too small for that is looked for in
 * balls (exact_rate.c). Nothing is assumed about the model: servos and
 * laws that use reactions are included.
 * Verified: test/physics/test_audit.c, test/cases/test_sides.c
 */
#include <hamel/audit.h>

#include "base/argument.h"
#include "analyse/energy/exact_rate.h"
#include "analyse/sides/sides.h"
#include "base/random.h"
#include "dynamics/sim/sim.h"

#include <math.h>
#include <string.h>

enum { STATES = 8, TRIES = 60, MOST_COORDINATES = 150 };

/* Rates and powers below this fraction of the terms that they are the sum of are rounding
 * errors. */
static const double rounding = 1e-9;

#define SIDE_REACH 0.1 /* of velocities and auxiliary states */

typedef struct survey {
    hm_sim *sim;
    hmi_arena arena;
    size_t n, states, m;
    double *q, *v, *z; /* the centre */
    double t;
    double *draw; /* q, v, z */
    double *row_power;
    hmi_random random;
    double spread;
} survey;

static hm_status open_survey(survey *s, const hm_system *system)
{
    *s = (survey){.n = system->derived.n,
                  .states = system->model->states.count,
                  .m = system->model->constraints.count,
                  .random = {20260101},
                  .spread = 0.5};
    hmi_arena_init(&s->arena, system->allocator);
    size_t size = 2 * s->n + s->states;
    s->q = hmi_arena_alloc(&s->arena, (2 * size + s->m + 1) * sizeof *s->q);
    if (!s->q)
        return HM_ERR_NOMEM;
    s->v = s->q + s->n;
    s->z = s->v + s->n;
    s->draw = s->q + size;
    s->row_power = s->draw + size;
    hm_status status = hm_sim_create(system, &s->sim);
    if (status != HM_OK)
        return status;
    status = hm_sim_make_consistent(s->sim, true, NULL, NULL);
    memcpy(s->q, s->sim->state.q, s->n * sizeof(double));
    memcpy(s->v, s->sim->state.v, s->n * sizeof(double));
    memcpy(s->z, s->sim->state.z, s->states * sizeof(double));
    s->t = s->sim->state.at.t;
    return status == HM_ERR_NOMEM ? status : HM_OK;
}

/* A consistent state near one of a side: the same place, with other velocities. */
static hm_status draw_on_side(survey *s, const double *state)
{
    size_t size = 2 * s->n + s->states;
    for (size_t i = 0; i < size; i++) {
        double reach = i < s->n ? 1e-3 : SIDE_REACH;
        s->draw[i] = state[1 + i] + reach * (0.6 + 0.4 * fabs(state[1 + i])) *
                                        hmi_random_between(&s->random, -1, 1);
    }
    hmi_sim_set_state(s->sim, state[0], s->draw, s->draw + s->n, s->draw + 2 * s->n);
    return hm_sim_make_consistent(s->sim, true, NULL, NULL);
}

/* A consistent state near the centre; the first is the centre itself. */
static hm_status draw(survey *s, bool first)
{
    size_t size = 2 * s->n + s->states;
    for (size_t i = 0; i < size; i++) {
        double reach = first ? 0 : s->spread * (0.6 + 0.4 * fabs(s->q[i]));
        s->draw[i] = s->q[i] + reach * hmi_random_between(&s->random, -1, 1);
    }
    hmi_sim_set_state(s->sim,
                      s->t + (first ? 0 : s->spread * (1 + hmi_random_between(&s->random, -1, 1))),
                      s->draw, s->draw + s->n, s->draw + 2 * s->n);
    return hm_sim_make_consistent(s->sim, true, NULL, NULL);
}

static void grow(double *share, double power, double size)
{
    if (size > 0 && fabs(power) > rounding * size)
        *share = fmax(*share, fabs(power) / size);
}

static void take(survey *s, const hm_audit *at, hm_energy *out, bool *row_works)
{
    double size = at->size;
    grow(&out->rate, at->sum, size);
    grow(&out->share.impressed, at->power.impressed, size);
    grow(&out->share.dissipation, at->power.dissipation, size);
    grow(&out->share.ideal, at->power.ideal, size);
    grow(&out->share.nonideal, at->power.nonideal, size);
    grow(&out->share.servo, at->power.servo, size);
    grow(&out->share.explicit_time, at->power.explicit_time, size);
    for (size_t k = 0; row_works && k < s->m; k++)
        row_works[k] |= size > 0 && fabs(s->row_power[k]) > rounding * size;
    out->states++;
}

/* Is the total another quantity than T + V? */
static bool is_jacobi(hm_sim *sim)
{
    hm_evaluation at = {0};
    if (hm_sim_evaluate(sim, NULL, &at) != HM_OK || !at.has_total)
        return false;
    double sum = at.kinetic + at.potential, size = fabs(at.kinetic) + fabs(at.potential);
    return !at.has_energy || fabs(at.total - sum) > rounding * (size + fabs(at.total));
}

/* Audits the present state; *good is false where there is nothing to audit. */
static hm_status audit(survey *s, hm_status drawn, hm_energy *out, bool *row_works, bool *good)
{
    hm_audit at;
    if (drawn == HM_OK)
        drawn = hm_sim_audit(s->sim, &at, s->row_power);
    *good = drawn == HM_OK && at.defined && isfinite(at.rate) && isfinite(at.size);
    if (!*good)
        return drawn == HM_ERR_NOMEM ? drawn : HM_OK;
    take(s, &at, out, row_works);
    out->jacobi |= is_jacobi(s->sim);
    return HM_OK;
}

static hm_status look_around(survey *s, hm_energy *out, bool *row_works)
{
    hm_status status = HM_OK;
    for (int k = 0; k < TRIES && out->states < STATES && status == HM_OK; k++) {
        bool good;
        status = audit(s, draw(s, k == 0), out, row_works, &good);
        s->spread *= good ? 1 : 0.8;
    }
    out->defined = out->states == STATES;
    return status;
}

/* What no state is found for is not said to be conserved. */
static hm_status look_at_sides(survey *s, const hm_system *system, hm_energy *out, bool *row_works)
{
    hmi_sides sides;
    hm_status status = hmi_sides_find(&sides, system);
    for (size_t k = 0; k < 2 * sides.list.count && status == HM_OK; k++) {
        const hmi_side_function *f = &sides.list.data[k / 2];
        size_t state = k % 2 ? f->positive : f->negative;
        bool good = true;
        if (state != SIZE_MAX)
            status = audit(s, draw_on_side(s, hmi_sides_state(&sides, state)), out, row_works,
                           &good);
        out->unseen += f->kind != HMI_SIDE_ROOT && (state == SIZE_MAX || !good);
    }
    hmi_sides_release(&sides);
    return status;
}

hm_status hm_system_energy(const hm_system *system, hm_energy *energy, bool *row_works)
{
    HMI_ARGUMENT(system ? system->model->context : NULL, system && energy,
                 "a place for the answer is needed");
    survey s;
    *energy = (hm_energy){0};
    if (row_works)
        memset(row_works, 0, system->model->constraints.count * sizeof *row_works);
    if (system->derived.n > MOST_COORDINATES)
        return HM_OK;
    hm_status status = open_survey(&s, system);
    hm_energy exact = {0};
    if (status == HM_OK)
        status = hmi_energy_exact_rate(s.sim, &exact);
    if (status == HM_OK)
        status = look_around(&s, energy, row_works);
    if (status == HM_OK && energy->defined)
        status = look_at_sides(&s, system, energy, row_works);
    energy->bits = exact.bits;
    if (energy->rate == 0 && exact.rate > 0) {
        energy->rate = exact.rate;
        energy->share = exact.share;
    }
    energy->conserved = energy->defined && energy->rate == 0;
    hm_sim_destroy(s.sim);
    hmi_arena_release(&s.arena);
    return status;
}
