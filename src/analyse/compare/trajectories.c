/* Runs both motions from one state and records how they diverge. */
#include "base/argument.h"
#include "analyse/compare/comparison.h"
#include "dynamics/sim/motion_derivatives.h"

#include "linalg/dense.h"

#include <math.h>
#include <string.h>

enum { MOST_SAMPLES = 1000000 };

typedef struct samples {
    size_t count, most;
    double *t, *distance, *correct, *other;
} samples;

static hm_status take_memory(hm_comparison *c, hm_sim *sim, samples *s, const hm_run_options *o)
{
    double count = floor((o->end - o->start) / o->every * (1 + 1e-12)) + 2;
    hmi_arena_release(&c->run_arena);
    hmi_arena_init(&c->run_arena, c->allocator);
    if (!(count >= 2 && count <= MOST_SAMPLES)) {
        hmi_error(sim->context, hmi_no_span, NULL, "a comparison has from 1 to %d output times",
                  MOST_SAMPLES);
        return HM_ERR_USAGE;
    }
    s->most = (size_t)count;
    size_t row = 2 * c->n + c->k;
    s->t = hmi_arena_alloc(&c->run_arena, s->most * sizeof *s->t);
    s->distance = hmi_arena_alloc(&c->run_arena, s->most * sizeof *s->distance);
    s->correct = hmi_arena_alloc(&c->run_arena, s->most * 2 * c->n * sizeof *s->correct);
    s->other = hmi_arena_alloc(&c->run_arena, s->most * row * sizeof *s->other);
    return s->t && s->distance && s->correct && s->other ? HM_OK : HM_ERR_NOMEM;
}

/* Row k from the present states. */
static void take_sample(hm_comparison *c, samples *s, double t)
{
    size_t n = c->n, k = s->count++;
    double *right = s->correct + k * 2 * n, *wrong = s->other + k * (2 * n + c->k), sum = 0;
    s->t[k] = t;
    hmi_copy((int)n, c->correct->state.q, right);
    hmi_copy((int)n, c->correct->state.v, right + n);
    hmi_copy((int)n, c->other->state.q, wrong);
    hmi_copy((int)n, c->other->state.v, wrong + n);
    hmi_copy((int)c->k, c->other->state.v + n, wrong + 2 * n);
    for (size_t i = 0; i < n; i++)
        sum += (wrong[i] - right[i]) * (wrong[i] - right[i]);
    s->distance[k] = sqrt(sum);
}

/* true: the motion goes on. */
static bool advance(hm_comparison *c, hm_sim *sim, double t, const char *which, hm_status *status)
{
    hm_run_result result;
    *status = hm_sim_advance(sim, t);
    (void)!hm_sim_result(sim, &result); /* it has been started */
    if (*status == HM_OK && result.status != HM_RUN_EVENT)
        return true;
    hmi_text_addf(&c->message, "the %s motion ended: %s", which, result.message);
    return false;
}

static hm_status start(hm_comparison *c, const hm_run_options *given, hm_run_options *o)
{
    *o = *given;
    o->on_frame = NULL;
    o->on_progress = NULL;
    o->fix_state = true; /* both start from the same state, exactly */
    hm_status status = hm_sim_start(c->correct, o);
    if (status != HM_OK)
        return status;
    o->formulation = HM_FORMULATION_AUTO; /* M+ may be singular or indefinite */
    return hm_sim_start(c->other, o);
}

static void follow(hm_comparison *c, samples *s, const hm_run_options *o, hm_status *status)
{
    take_sample(c, s, o->start);
    for (size_t k = 1; k < s->most; k++) {
        double t = fmin(o->start + (double)k * o->every, o->end);
        if (t <= s->t[k - 1] * (1 + 1e-15) && t <= s->t[k - 1])
            break;
        if (!advance(c, c->correct, t, "correct", status) ||
            !advance(c, c->other, t, hm_comparison_kind(c), status))
            break;
        take_sample(c, s, t);
    }
}

/* The largest violation of the constraints along the other motion. */
static hm_status find_violation(hm_comparison *c, const samples *s, double *worst)
{
    size_t n = c->n;
    hm_status status = HM_OK;
    *worst = 0;
    for (size_t k = 0; k < s->count && status == HM_OK; k++) {
        const double *x = s->other + k * (2 * n + c->k);
        const hmi_point at = {s->t[k], x, x + n, c->correct->state.z};
        status = hmi_sim_residual_jacobian(c->correct, &at, c->scratch, NULL);
        *worst = fmax(*worst, hmi_max_abs((int)(2 * c->m), c->scratch));
    }
    return status == HM_ERR_NOMEM ? status : HM_OK;
}

hm_status hm_comparison_run(hm_comparison *c, hm_sim *sim, const hm_run_options *options,
                            const double *mu, hm_diverging *out)
{
    HMI_ARGUMENT(sim ? sim->context : NULL,
                 c && sim && out && !sim->in_callback && sim->system == c->system &&
                     (!mu || hmi_values_finite(mu, c->k)),
                 "a sim of the compared system and finite multipliers are needed");
    hm_run_options o = hm_run_options_default(c->system->model);
    samples s = {0};
    *out = (hm_diverging){.n = c->n, .k = c->k, .message = ""};
    c->message.length = 0;
    const hm_run_options given = options ? *options : o;
    hm_status status = take_memory(c, sim, &s, &given);
    if (status != HM_OK)
        return status;
    hmi_follow_sim(c->correct, sim, NULL);
    hmi_follow_sim(c->other, sim, mu);
    status = start(c, &given, &o);
    if (status == HM_OK)
        follow(c, &s, &o, &out->status);
    hmi_context_take(sim->context, c->correct->context);
    hmi_context_take(sim->context, c->other->context);
    if (status != HM_OK)
        return status;
    status = out->status == HM_ERR_NOMEM ? HM_ERR_NOMEM
                                         : find_violation(c, &s, &out->worst_violation);
    out->count = s.count;
    out->t = s.t;
    out->distance = s.distance;
    out->correct = s.correct;
    out->other = s.other;
    out->message = hmi_text_view(&c->message);
    return status == HM_OK && c->message.failed ? HM_ERR_NOMEM : status;
}
