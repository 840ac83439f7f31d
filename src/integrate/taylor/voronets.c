/* Series without velocities that constraints give.
 *
 * Where all rows are explicit (derive/voronets.h) the series has the coordinates and the velocities u that
 * are left; momentum.c makes it from P, P' and v(q, u, t) as it does from p, F. Order 0 is
 *     (dP/du) u' = P' - dP/dt at u' = 0,     v' = dv/dt at u' = 0 + (dv/du) u',
 * by a tape of its own. Every state of the series satisfies the constraints as well as v(q, u, t) is
 * computed: there is no drift to control.
 * Verified: test/unit/integrate/test_taylor.c
 */
#include "integrate/ode/ledger.h"
#include "integrate/taylor/taylor.h"
#include "linalg/dense.h"
#include "compile/jit/assemble.h"

#include <string.h>

/* ---- the tape ---- */

typedef struct builder {
    hmi_taylor *T;
    const hmi_voronets *x;
    hmi_graph *graph;
    hmi_adjoint adjoint;
    hmi_expr *list;
} builder;

static hm_status list_given(hmi_taylor *T, const hmi_voronets *x)
{
    hmi_taylor_given *g = &T->given_velocities;
    bool failed = false;
    g->is_given = hmi_taylor_take(T, x->coordinates, sizeof *g->is_given, &failed);
    g->coordinate = hmi_taylor_take(T, x->coordinates, sizeof *g->coordinate, &failed);
    if (failed)
        return HM_ERR_NOMEM;
    for (size_t i = 0; i < x->coordinates; i++)
        g->is_given[i] = true;
    for (size_t i = 0; i < x->n; i++)
        g->is_given[x->independent[i]] = false;
    for (uint32_t i = 0; i < x->coordinates; i++)
        if (g->is_given[i])
            g->coordinate[g->count++] = i;
    return HM_OK;
}

/* Where the outputs are; returns how many. */
static size_t place_outputs(hmi_taylor *T)
{
    hmi_taylor_given *g = &T->given_velocities;
    g->Q = T->n * T->n;
    g->velocity = g->Q + T->n;
    g->drift = g->velocity + g->count;
    g->slope = g->drift + g->count;
    g->rates = g->slope + g->count * T->n;
    return g->rates + T->ode->states + T->works;
}

static hm_status put_gradient(builder *b, hmi_expr e, hmi_expr *out)
{
    return hmi_voronets_gradient(b->x, b->graph, &b->adjoint, e, out);
}

static hm_status put_motion(builder *b)
{
    const hmi_voronets *x = b->x;
    const hmi_taylor_given *g = &b->T->given_velocities;
    const hmi_expr *rates = b->list + g->rates;
    hm_status status = hmi_voronets_along_motion(x, b->graph, rates, x->momentum, x->n,
                                                 b->list + g->Q);
    for (size_t i = 0; i < x->n; i++)
        b->list[g->Q + i] = hmi_sub(b->graph, x->force[i], b->list[g->Q + i]);
    for (size_t i = 0; i < x->n && status == HM_OK; i++)
        status = put_gradient(b, x->momentum[i], b->list + i * x->n);
    return status;
}

static hm_status put_given(builder *b)
{
    const hmi_voronets *x = b->x;
    const hmi_taylor_given *g = &b->T->given_velocities;
    hmi_expr *velocity = b->list + g->velocity;
    for (size_t k = 0; k < g->count; k++)
        velocity[k] = x->velocity[g->coordinate[k]];
    hm_status status = hmi_voronets_along_motion(x, b->graph, NULL, velocity, g->count,
                                                 b->list + g->drift);
    for (size_t k = 0; k < g->count && status == HM_OK; k++)
        status = put_gradient(b, velocity[k], b->list + g->slope + k * x->n);
    return status;
}

static hm_status put_rates(builder *b)
{
    const hmi_taylor *T = b->T;
    hmi_expr *rates = b->list + T->given_velocities.rates;
    size_t states = T->ode->states;
    for (size_t i = 0; i < states; i++)
        rates[i] = T->sim->system->derived.state_rates[i];
    for (size_t i = 0; i < T->works; i++)
        rates[states + i] = hmi_ledger_expression(T->ode->ledger, T->sim->system, i);
    return hmi_voronets_express(b->x, b->graph, rates, states + T->works);
}

static hm_status compile(builder *b, size_t count)
{
    hmi_taylor *T = b->T;
    hmi_taylor_given *g = &T->given_velocities;
    bool failed = false;
    hm_status status = put_rates(b);
    if (status == HM_OK)
        status = put_motion(b);
    if (status == HM_OK)
        status = put_given(b);
    if (status == HM_OK)
        status = b->graph->status;
    if (status == HM_OK)
        status = hmi_tape_compile(&g->tape, b->graph, b->list, count);
    if (status != HM_OK)
        return status;
    g->work = hmi_taylor_take(T, g->tape.work_size, sizeof *g->work, &failed);
    g->out = failed ? NULL : hmi_tape_outputs(&g->tape, g->work);
    return failed ? HM_ERR_NOMEM : HM_OK;
}

hm_status hmi_taylor_add_given(hmi_taylor *T, const hmi_voronets *x, hmi_graph *graph)
{
    bool failed = false;
    builder b = {.T = T, .x = x, .graph = graph};
    hm_status status = list_given(T, x);
    if (status != HM_OK)
        return status;
    size_t count = place_outputs(T);
    b.list = hmi_taylor_take(T, count, sizeof *b.list, &failed);
    if (failed)
        return HM_ERR_NOMEM;
    hmi_adjoint_init(&b.adjoint, graph->allocator);
    status = compile(&b, count);
    hmi_adjoint_release(&b.adjoint);
    return status;
}

/* ---- running ---- */

static void run(hmi_taylor *T, const double *t, const double *y)
{
    hmi_taylor_given *g = &T->given_velocities;
    hm_sim *sim = T->sim;
    if (!sim->tapes.prepared)
        hmi_sim_refresh(sim, hmi_sim_present(sim));
    if (g->version != sim->tapes.version) {
        g->values = hmi_sim_values(sim, hmi_sim_present(sim));
        hmi_tape_prepare(&g->tape, &g->values, g->work);
        g->version = sim->tapes.version;
    }
    g->values.by_kind[HMI_SYM_TIME] = t;
    g->values.by_kind[HMI_SYM_COORD] = y;
    g->values.by_kind[HMI_SYM_VELOCITY] = y + T->coordinates;
    g->values.by_kind[HMI_SYM_STATE] = y + 2 * T->coordinates;
    hmi_tape_run(&g->tape, &g->values, g->work);
}

void hmi_taylor_take_given(const hmi_taylor *T, double *y)
{
    const hmi_taylor_given *g = &T->given_velocities;
    for (size_t k = 0; k < g->count; k++)
        y[T->coordinates + g->coordinate[k]] = g->out[g->velocity + k];
}

void hmi_taylor_find_given(hmi_taylor *T, double t, double *y)
{
    if (!T->given_velocities.used)
        return;
    run(T, &t, y);
    hmi_taylor_take_given(T, y);
}

/* v and v' of the coordinates whose velocities are given. */
static void put_given_rates(const hmi_taylor *T, const double *u_rate, double *f)
{
    const hmi_taylor_given *g = &T->given_velocities;
    const double *slope = g->out + g->slope;
    for (size_t k = 0; k < g->count; k++, slope += T->n) {
        double sum = g->out[g->drift + k];
        for (size_t j = 0; j < T->n; j++)
            sum += slope[j] * u_rate[j];
        f[g->coordinate[k]] = g->out[g->velocity + k];
        f[T->coordinates + g->coordinate[k]] = sum;
    }
}

hm_status hmi_taylor_begin_given(hmi_taylor *T, double t, const double *y, double *f)
{
    const hmi_taylor_given *g = &T->given_velocities;
    double *answer = T->motion[0].answer;
    size_t nq = T->coordinates, rest = T->ode->states + T->works;
    T->ode->evaluations++;
    run(T, &t, y);
    hm_status status = hmi_taylor_factor(&T->solver, g->out, g->out + g->Q, answer);
    if (status != HM_OK)
        return status;
    for (size_t i = 0; i < T->n; i++) {
        size_t at = T->place[nq + i];
        f[at - nq] = y[at];
        f[at] = answer[i];
    }
    put_given_rates(T, answer, f);
    for (size_t i = 0; i < rest; i++)
        f[2 * nq + i] = g->out[g->rates + i];
    return hmi_all_finite((int)(2 * nq + rest), f) ? HM_OK : HM_ERR_NUMERIC;
}
