/* Compiles and evaluates the residuals of all passive constraints, each point once. */
#include "integrate/ode/residuals.h"
#include "integrate/ode/ode.h"

#include <string.h>

/* Does the tape read nothing but parameters and the state? */
static bool reads_state_only(const hmi_tape *tape)
{
    for (size_t k = 0; k < tape->inputs.count; k++) {
        hmi_symbol_kind kind = tape->inputs.data[k].kind;
        if (kind != HMI_SYM_TIME && kind != HMI_SYM_PARAM && kind != HMI_SYM_COORD &&
            kind != HMI_SYM_VELOCITY && kind != HMI_SYM_STATE)
            return false;
    }
    return true;
}

hm_status hmi_residuals_init(hmi_residuals *r, hm_sim *sim, hmi_arena *arena)
{
    const hmi_rows *rows = &sim->system->derived.constraints;
    size_t m = rows->count;
    *r = (hmi_residuals){.sim = sim, .count = m, .tape = r->tape};
    hmi_expr *list = hmi_arena_alloc(arena, (2 * m + 1) * sizeof *list);
    r->level = hmi_arena_alloc(arena, (m + 1) * sizeof *r->level);
    if (!list || !r->level)
        return HM_ERR_NOMEM;
    for (size_t k = 0; k < m; k++) {
        list[k] = rows->position_residual[k];
        list[m + k] = rows->velocity_residual[k];
        r->level[k] = sim->system->model->constraints.data[k].level;
    }
    hm_status status = hmi_run_tape(&r->tape, &sim->system->derived.graph, list, 2 * m, arena,
                                    &r->work);
    if (status != HM_OK)
        return status;
    size_t state = 1 + 2 * sim->system->derived.n + sim->system->model->states.count;
    double *seen = hmi_arena_alloc(arena, state * sizeof *seen);
    if (!seen)
        return HM_ERR_NOMEM;
    r->seen = reads_state_only(&r->tape) ? seen : NULL;
    r->position = hmi_tape_outputs(&r->tape, r->work);
    r->velocity = r->position + m;
    return HM_OK;
}

hm_status hmi_residuals_hold(hmi_residuals *r, const hmi_derived *held, hmi_arena *arena)
{
    const hmi_rows *rows = &held->constraints, *own = &r->sim->system->derived.constraints;
    size_t m = rows->count;
    bool differs = false;
    hmi_expr *list = hmi_arena_alloc(arena, (2 * m + 1) * sizeof *list);
    bool failed = !list;
    for (size_t k = 0; k < m && list; k++) {
        list[k] = rows->position_residual[k];
        list[m + k] = rows->velocity_residual[k];
        differs |= list[k] != own->position_residual[k] || list[m + k] != own->velocity_residual[k];
    }
    if (failed || !differs)
        return failed ? HM_ERR_NOMEM : HM_OK;
    r->before = hmi_arena_doubles(arena, 2 * m, &failed);
    hm_status status = hmi_run_tape(&r->held, &held->graph, list, 2 * m, arena, &r->held_work);
    return failed ? HM_ERR_NOMEM : status;
}

void hmi_residuals_use_modes(hmi_residuals *r, bool by_modes)
{
    r->by_modes = by_modes && r->held_work;
    r->known = false;
    double *work;
    const hmi_tape *tape = hmi_residuals_tape(r, &work);
    r->position = hmi_tape_outputs(tape, work);
    r->velocity = r->position + r->count;
}

const hmi_tape *hmi_residuals_tape(const hmi_residuals *r, double **work)
{
    *work = r->by_modes ? r->held_work : r->work;
    return r->by_modes ? &r->held : &r->tape;
}

void hmi_residuals_release(hmi_residuals *r)
{
    hmi_tape_release(&r->tape);
    hmi_tape_release(&r->held);
}

void hmi_residuals_prepare(hmi_residuals *r)
{
    const hmi_tape_values values = hmi_sim_values(r->sim, hmi_sim_present(r->sim));
    hmi_tape_prepare(&r->tape, &values, r->work);
    if (r->held_work)
        hmi_tape_prepare(&r->held, &values, r->held_work);
    r->known = false;
}

/* Compares the first `count` with what is kept, and keeps them. */
static bool renew(double *kept, const double *now, size_t count)
{
    bool same = true;
    for (size_t i = 0; i < count; i++) {
        same &= kept[i] == now[i];
        kept[i] = now[i];
    }
    return same;
}

/* Is this the point of the last evaluation? It is from now on. NaN is never the same. */
static bool is_known(hmi_residuals *r, const hmi_point *at)
{
    size_t n = r->sim->system->derived.n;
    if (!r->seen || r->by_modes)
        return false;
    bool same = renew(r->seen, &at->t, 1);
    same &= renew(r->seen + 1, at->q, n);
    same &= renew(r->seen + 1 + n, at->v, n);
    same &= renew(r->seen + 1 + 2 * n, at->z, r->sim->system->model->states.count);
    same &= r->known;
    r->known = true;
    return same;
}

void hmi_residuals_evaluate(hmi_residuals *r, const hmi_point *at)
{
    hmi_sim_refresh(r->sim, at); /* inputs may depend on the state */
    if (is_known(r, at))
        return;
    double *work;
    const hmi_tape *tape = hmi_residuals_tape(r, &work);
    const hmi_tape_values values = hmi_sim_values(r->sim, at);
    hmi_tape_run(tape, &values, work);
}
