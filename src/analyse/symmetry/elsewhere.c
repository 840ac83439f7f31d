/* Tries first integrals and symmetries on other sides, and farther away (elsewhere.h). */
#include "analyse/symmetry/elsewhere.h"

#include "expr/print/print.h"

#include <math.h>

enum { STATES_A_SIDE = 2, FAR_STATES = 3 };
#define SIDE_SPREAD  0.1
#define FAR_SPREAD   4.0
#define FAR_ROUNDING (-36.0) /* log2 of what is zero far away, where numbers are inexact */

typedef enum outcome { HOLDS, FAILS, NOT_TRIED } outcome;

typedef struct attempt {
    hmi_conserved *in;
    hmi_generators *generators;
    const hmi_sides *sides;
    hmi_arena *arena;
} attempt;

/* ---- first integrals at the sampler's place ---- */

/* log2 of what the rate is compared with. */
static double scale_of(const hmi_states *states, size_t size_root)
{
    double most = 0;
    for (size_t i = 0; i < states->n; i++)
        most = fmax(most,
                    fmax(hmi_log2_above(states->v + i), hmi_log2_above(states->acceleration + i)));
    return most + fmax(0, hmi_log2_above(hmi_states_value(states, size_root, 0)));
}

static bool rate_is_zero(const hmi_conserved *in, const hmi_states *states, size_t i,
                         double rounding)
{
    double tolerance = in->inexact ? rounding : hmi_zero_tolerance(states->precision, false);
    double rate = hmi_log2_above(hmi_states_value(states, 2 * i, 1));
    return rate < tolerance + scale_of(states, 2 * i + 1);
}

static hm_status watch_integrals(hmi_conserved *in, hmi_states *states)
{
    hm_status status = HM_OK;
    for (size_t i = 0; i < in->list.count && status == HM_OK; i++) {
        status = hmi_states_watch(states, in->list.data[i].value);
        if (status == HM_OK)
            status = hmi_states_watch(states, in->list.data[i].size);
    }
    return status;
}

/* Tries every integral at a few states where the sampler stands now. */
static hm_status try_integrals(hmi_conserved *in, int count, double rounding, outcome *of)
{
    hmi_states states;
    int drawn = 0;
    for (size_t i = 0; i < in->list.count; i++)
        of[i] = NOT_TRIED;
    hm_status status = hmi_states_init(&states, in->sampler, HMI_STATE_BITS);
    if (status == HM_OK)
        status = watch_integrals(in, &states);
    for (; drawn < count && status == HM_OK; drawn++) {
        status = hmi_states_draw(&states);
        for (size_t i = 0; i < in->list.count && status == HM_OK; i++)
            if (!rate_is_zero(in, &states, i, rounding))
                of[i] = FAILS;
            else if (of[i] == NOT_TRIED)
                of[i] = HOLDS;
    }
    hmi_states_release(&states);
    return status == HM_ERR_NUMERIC || status == HM_ERR_LIMIT ? HM_OK : status;
}

static void drop(hmi_conserved *in, const outcome *of)
{
    size_t kept = 0;
    for (size_t i = 0; i < in->list.count; i++)
        if (of[i] != FAILS)
            in->list.data[kept++] = in->list.data[i];
    in->list.count = kept;
}

/* ---- text ---- */

/* "x - 100 < 0", after what is there. */
static const char *limit(attempt *a, const char *before, const hmi_side_function *f, int sign)
{
    hmi_text text;
    hmi_forms *forms = a->in->forms;
    const hmi_print_options options = {.style = HMI_PRINT_PLAIN,
                                       .namer = hmi_model_namer(forms->model)};
    hmi_text_init(&text, forms->allocator);
    if (before)
        hmi_text_addf(&text, "%s and ", before);
    hm_status status = hmi_print(
        &text, &forms->graph, hmi_forms_normal(forms, hmi_side_zero(&forms->graph, f)), &options);
    hmi_text_add(&text, sign > 0 ? " > 0" : sign < 0 ? " < 0" : " = 0");
    const char *copy = status == HM_OK && !text.failed
                           ? hmi_arena_text(a->arena, hmi_text_view(&text), text.length)
                           : NULL;
    hmi_text_release(&text);
    return copy;
}

/* ---- one side of one function ---- */

static bool was_yes(hm_answer before, hm_answer now)
{
    return before == HM_ANSWER_YES && now != HM_ANSWER_YES;
}

/* What the answers about a generator become when they are `now` on another side. */
static hm_status merge_answers(attempt *a, hmi_generator *g, const hmi_generator *now,
                               const hmi_side_function *f, bool on_run)
{
    bool changed = was_yes(g->lagrangian, now->lagrangian) ||
                   was_yes(g->conserved, now->conserved) ||
                   was_yes(g->distribution, now->distribution) ||
                   was_yes(g->horizontal, now->horizontal) || was_yes(g->workless, now->workless);
    if (!changed)
        return HM_OK;
    if (!on_run) {
        g->where = limit(a, g->where, f, f->start);
        return g->where ? HM_OK : HM_ERR_NOMEM;
    }
    g->lagrangian = was_yes(g->lagrangian, now->lagrangian) ? now->lagrangian : g->lagrangian;
    g->conserved = was_yes(g->conserved, now->conserved) ? now->conserved : g->conserved;
    g->distribution = was_yes(g->distribution, now->distribution) ? now->distribution
                                                                  : g->distribution;
    g->horizontal = was_yes(g->horizontal, now->horizontal) ? now->horizontal : g->horizontal;
    g->workless = was_yes(g->workless, now->workless) ? now->workless : g->workless;
    for (size_t k = 0; k < a->in->forms->m; k++)
        g->crosses[k] |= now->crosses[k];
    return HM_OK;
}

static hm_status try_generators(attempt *a, const hmi_side_function *f, bool on_run)
{
    hmi_generators *generators = a->generators;
    size_t count = generators->list.count, m = a->in->forms->m;
    hmi_generator *now = hmi_arena_alloc(&generators->arena, (count + 1) * sizeof *now);
    if (!now)
        return HM_ERR_NOMEM;
    for (size_t i = 0; i < count; i++) {
        now[i] = generators->list.data[i];
        now[i].crosses = hmi_arena_alloc(&generators->arena, m + 1);
        if (!now[i].crosses)
            return HM_ERR_NOMEM;
        for (size_t k = 0; k < m; k++)
            now[i].crosses[k] = false;
    }
    hm_status status = hmi_generators_judge(generators, now, count);
    bool tried = status == HM_OK;
    if (status == HM_ERR_NUMERIC || status == HM_ERR_LIMIT)
        status = HM_OK;
    for (size_t i = 0; i < count && status == HM_OK; i++) {
        hmi_generator *of = &generators->list.data[i];
        if (tried)
            status = merge_answers(a, of, &now[i], f, on_run);
        else if (f->kind != HMI_SIDE_ROOT && !(of->where = limit(a, of->where, f, f->start)))
            status = HM_ERR_NOMEM;
    }
    return status;
}

/* Everything on this side of f; state SIZE_MAX: there is none to try. */
static hm_status try_side(attempt *a, const hmi_side_function *f, size_t state, int sign)
{
    hmi_conserved *in = a->in;
    bool on_run = f->met != SIZE_MAX;
    outcome *of = hmi_arena_alloc(&in->arena, (in->list.count + 1) * sizeof *of);
    hm_status status = of ? HM_OK : HM_ERR_NOMEM;
    for (size_t i = 0; of && i < in->list.count; i++)
        of[i] = NOT_TRIED;
    if (status == HM_OK && state != SIZE_MAX) {
        status = hmi_sampler_move(in->sampler, hmi_sides_state(a->sides, state), SIDE_SPREAD,
                                  hmi_side_zero(&in->forms->graph, f), sign);
        if (status == HM_OK)
            status = try_integrals(in, STATES_A_SIDE, FAR_ROUNDING, of);
        if (status == HM_OK)
            status = try_generators(a, f, on_run);
    }
    for (size_t i = 0; i < in->list.count && status == HM_OK; i++) {
        bool beyond = of[i] == NOT_TRIED && f->kind == HMI_SIDE_ROOT; /* there is no motion there */
        if (of[i] == HOLDS || beyond || (of[i] == FAILS && on_run))
            continue;
        of[i] = HOLDS;
        in->list.data[i].where = limit(a, in->list.data[i].where, f, f->start);
        status = in->list.data[i].where ? HM_OK : HM_ERR_NOMEM;
    }
    if (status == HM_OK)
        drop(in, of);
    return status;
}

/* That no state was found on a side does not prove that there is none: the statement keeps to the side
 * that was looked at. */
static hm_status try_sides(attempt *a)
{
    hm_status status = HM_OK;
    for (size_t k = 0; k < a->sides->list.count && status == HM_OK; k++) {
        const hmi_side_function *f = &a->sides->list.data[k];
        if (f->start <= 0 && hmi_side_exists(f, f->positive))
            status = try_side(a, f, f->positive, 1);
        if (f->start >= 0 && status == HM_OK && hmi_side_exists(f, f->negative))
            status = try_side(a, f, f->negative, -1);
    }
    return status;
}

hm_status hmi_try_elsewhere(hmi_conserved *in, const hmi_sides *sides, const double *start,
                            hmi_arena *arena)
{
    attempt a = {in, in->generators, sides, arena};
    outcome *of = hmi_arena_alloc(&in->arena, (in->list.count + 1) * sizeof *of);
    hm_status status = of ? HM_OK : HM_ERR_NOMEM;
    if (status == HM_OK && in->inexact) {
        status = hmi_sampler_move(in->sampler, start, FAR_SPREAD, HMI_NONE, 0);
        if (status == HM_OK)
            status = try_integrals(in, FAR_STATES, FAR_ROUNDING, of);
        if (status == HM_OK)
            drop(in, of);
    }
    return status == HM_OK ? try_sides(&a) : status;
}
