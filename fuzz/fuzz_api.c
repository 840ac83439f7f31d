/* Bytes -> a sequence of calls of the public API on one model, system and two sims, with numbers of every kind.
 *
 * Checked besides crashes: a call that fails says why (or its status is no memory), nothing is leaked, and a sim
 * that was handed nonsense still works when it gets good values again.
 */
#include <hamel/hamel.h>

#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { ROOM = 64, SIMS = 2 };

static const char *const models[] = {
    "param m = 1, s = 0.3\ncoord x, y, a\nkinetic m/2*(x'^2 + y'^2) + a'^2/2\n"
    "constraint blade: y'*cos(a) = x'*sin(a)\ninitial a = 0.2, a' = 1, x' ~ 1\n",
    "param g = 9.81, l = 1\ncoord a, b\nkinetic a'^2 + b'^2/2 + a'*b'*cos(a - b)\n"
    "potential -g*l*(2*cos(a) + cos(b))\nevent e: a = 0 record\ninitial a = 1\noutput o = a''\n",
    "coord x, y\nkinetic (x'^2 + y'^2)/2\nconstraint rod: x^2 + y^2 = 1\nconstraint again: 2*x^2 + "
    "2*y^2 = 2\n"
    "initial x = 1, y' = 1\n",
    "param k = 3\ncoord x, y\nkinetic (x'^2 + y'^2)/2\npotential 10*y\nconstraint floor_: y >= 0 "
    "restitution 0.5\n"
    "friction r: x' on floor_ with 0.3\ninitial y = 1, x' = 1\n",
    "coord x\ninput u = sin(t)\nstate z' = x - z\nkinetic x'^2/2\nforce x = u - sign(x') + "
    "z\nservo s: x' = 1 with gain 2\n"
    "initial x = 1\n",
    "coord x, y\nlagrangian x*y' - (x^2 + y^2)/2\ninitial x = 1\n",
};

static void require(bool condition, const char *what)
{
    if (condition)
        return;
    fprintf(stderr, "wrong: %s\n", what);
    abort();
}

static void *counted_resize(void *user, void *ptr, size_t old_size, size_t new_size)
{
    size_t *live = user;
    if (new_size == 0) {
        *live -= old_size;
        free(ptr);
        return NULL;
    }
    void *result = realloc(ptr, new_size);
    if (result)
        *live += new_size - old_size;
    return result;
}

typedef struct source {
    const uint8_t *bytes;
    size_t size;
} source;

static uint32_t next(source *s)
{
    if (!s->size)
        return 0;
    s->size--;
    return *s->bytes++;
}

static double next_number(source *s)
{
    static const double special[] = {0,     -0.0,     1,        -1,  NAN,   INFINITY, -INFINITY,
                                     1e308, 4.9e-324, 2.2e-308, 0.5, 1e-12, 1e-3,     10};
    uint32_t pick = next(s);
    if (pick < 56)
        return special[pick % (sizeof special / sizeof *special)];
    return ((int)pick - 150) / 16.0;
}

typedef struct job {
    hm_context *context;
    hm_model *model;
    hm_system *system;
    hm_sim *sims[SIMS];
    hm_comparison *comparison;
    bool formulated; /* a sim keeps the formulation of its last run */
    source s;
} job;

/* A failure has a message, in the context of the sim or of the job, or in the result of the run. */
static void require_said(const job *j, const hm_sim *sim, hm_status status, const char *what)
{
    if (status == HM_OK || status == HM_ERR_NOMEM)
        return;
    hm_run_result result;
    bool in_result = sim && hm_sim_result(sim, &result) == HM_OK && result.message &&
                     result.message[0];
    size_t said = hm_context_error_count(j->context);
    if (sim)
        said += hm_context_error_count(hm_sim_context(sim));
    require(said > 0 || in_result, what);
}

static void numbers(job *j, double *values)
{
    for (int i = 0; i < 8; i++)
        values[i] = next_number(&j->s);
}

static const char *next_method(job *j)
{
    uint32_t pick = next(&j->s) % 12;
    return pick < 10 ? hm_method_name(pick) : pick == 10 ? "nonsense" : NULL;
}

static hm_run_options next_options(job *j)
{
    hm_run_options o = hm_run_options_default(j->model);
    o.end = o.start + 0.2;
    o.most_steps = 20;
    o.method = next_method(j);
    uint32_t strange = next(&j->s);
    if (strange & 1)
        o.rtol = next_number(&j->s);
    if (strange & 2)
        o.atol = next_number(&j->s);
    if (strange & 4)
        o.step = next_number(&j->s);
    if (strange & 8)
        o.every = next_number(&j->s);
    if (strange & 16)
        o.end = next_number(&j->s);
    if (strange & 32) {
        o.formulation = (hm_formulation)(next(&j->s) % 12);
        j->formulated = true;
    }
    if (strange & 64)
        o.drift = next(&j->s) % 2 ? "none" : "elsewhere";
    if (strange & 128)
        o.content = next(&j->s);
    if (!(fabs(o.every) > 1e-3)) /* rows without end take time, not memory */
        o.every = 0.1;
    return o;
}

static bool take_bytes(void *user, const char *bytes, size_t length)
{
    (void)bytes;
    size_t *left = user;
    return length < *left ? (*left -= length, true) : false;
}

static void call_sim(job *j, hm_sim *sim)
{
    double values[8], out[ROOM] = {0}, many[ROOM * 8];
    hm_evaluation at;
    hm_frame frame;
    hm_run_result result;
    hm_run_options options;
    hm_evaluate_options how = hm_evaluate_options_default();
    hm_context_clear(j->context);
    hm_context_clear(hm_sim_context(sim));
    switch (next(&j->s) % 16) {
    case 0:
        numbers(j, values);
        hm_sim_set_state(sim, next_number(&j->s), values, values + 4, values + 2);
        break;
    case 1:
        require_said(j, sim,
                     hm_sim_set_param(sim, next(&j->s) % 3 ? "k" : "nothing", next_number(&j->s)),
                     "set_param");
        break;
    case 2:
        how.formulation = (hm_formulation)(next(&j->s) % 10);
        how.compare = next(&j->s) % 2;
        require_said(j, sim, hm_sim_evaluate(sim, &how, &at), "evaluate");
        break;
    case 3:
        hm_sim_evaluate_fast(sim);
        (void)!hm_sim_accelerate(sim, out);
        break;
    case 4:
    case 5:
        options = next_options(j);
        require_said(j, sim, hm_sim_run(sim, &options, &result), "run");
        break;
    case 6:
        options = next_options(j);
        require_said(j, sim, hm_sim_start(sim, &options), "start");
        break;
    case 7:
        require_said(j, sim, hm_sim_step(sim), "step");
        break;
    case 8:
        require_said(j, sim, hm_sim_frame(sim, next(&j->s), &frame), "frame");
        break;
    case 9:
        (void)!hm_sim_result(sim, &result);
        (void)!hm_sim_interpolate(sim, next_number(&j->s), out, NULL, NULL);
        break;
    case 10:
        require_said(j, sim, hm_sim_make_consistent(sim, next(&j->s) % 2, NULL, NULL),
                     "consistent");
        break;
    case 11:
        hm_sim_hold(sim, 0, next(&j->s) % 2, next(&j->s) % 2);
        break;
    case 12:
        if (hm_model_input_count(j->model))
            (void)!hm_sim_set_input(sim, 0, next_number(&j->s), next_number(&j->s),
                                    next_number(&j->s));
        break;
    case 13: {
        hm_linearization *linear = NULL;
        require_said(j, sim, hm_sim_linearize(sim, NULL, &linear), "linearize");
        hm_linearization_destroy(linear);
        break;
    }
    case 14: {
        hm_audit audit;
        require_said(j, sim, hm_sim_audit(sim, &audit, NULL), "audit");
        break;
    }
    default:
        (void)!hm_sim_param_derivatives(sim, many);
        break;
    }
}

static void call_system(job *j)
{
    size_t left = 1 << 20;
    hm_energy energy;
    hm_context_clear(j->context);
    switch (next(&j->s) % 4) {
    case 0:
        left = next(&j->s) % 4 ? left : 100;
        (void)!hm_system_derive(j->system, (hm_format)(next(&j->s) % 4), take_bytes, &left);
        break;
    case 1:
        (void)!hm_system_explain(j->system, (hm_stage)(next(&j->s) % 4), take_bytes, &left);
        break;
    case 2:
        (void)!hm_system_energy(j->system, &energy, NULL);
        break;
    default:
        if (!j->comparison)
            require_said(j, NULL,
                         hm_comparison_create(j->context, j->system,
                                              next(&j->s) % 2 ? "vakonomic" : "conflated:x' = 0",
                                              &j->comparison),
                         "comparison");
        break;
    }
}

/* Good values again: what came before is forgotten. */
static void check_recovery(job *j)
{
    hm_sim *fresh = NULL;
    double a[ROOM] = {0}, b[ROOM] = {0}, q[ROOM], v[ROOM], z[ROOM];
    if (hm_sim_create(j->system, &fresh) != HM_OK)
        return;
    hm_sim_state(fresh, q, v, z);
    hm_sim_set_state(j->sims[0], hm_sim_time(fresh), q, v, z);
    bool changed = false;
    for (size_t i = 0; i < hm_model_param_count(j->model); i++)
        changed |= !(hm_sim_param(j->sims[0], i) == hm_sim_param(fresh, i));
    hm_status first = hm_sim_accelerate(j->sims[0], a), second = hm_sim_accelerate(fresh, b);
    if (!changed && !j->formulated && !hm_model_input_count(j->model)) {
        require(first == second, "a sim does not recover");
        for (int i = 0; first == HM_OK && i < ROOM; i++) /* independent rows may be others */
            require(fabs(a[i] - b[i]) <= 1e-6 * (1 + fabs(b[i])), "a sim remembers");
    }
    hm_sim_destroy(fresh);
}

static void run(job *j)
{
    const char *text = models[next(&j->s) % (sizeof models / sizeof *models)];
    const hm_system_options options = {.engine = next(&j->s) % 2 ? HM_ENGINE_INTERP
                                                                 : HM_ENGINE_AUTO};
    require(hm_model_parse(j->context, text, strlen(text), NULL, &j->model) == HM_OK,
            "the model reads");
    require(hm_system_create_with(j->model, &options, &j->system) == HM_OK, "it is derived");
    for (int i = 0; i < SIMS; i++)
        require(hm_sim_create(j->system, &j->sims[i]) == HM_OK, "sim");
    for (int calls = 0; j->s.size && calls < 24; calls++)
        if (next(&j->s) % 8 == 0)
            call_system(j);
        else
            call_sim(j, j->sims[next(&j->s) % SIMS]);
    check_recovery(j);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    size_t live = 0;
    const hm_allocator allocator = {counted_resize, &live};
    job j = {.context = hm_context_create(&allocator), .s = {data, size}};
    require(j.context != NULL, "memory");
    run(&j);
    hm_comparison_destroy(j.comparison);
    for (int i = 0; i < SIMS; i++)
        hm_sim_destroy(j.sims[i]);
    hm_system_destroy(j.system);
    hm_model_destroy(j.model);
    hm_context_destroy(j.context);
    require(live == 0, "memory is left");
    return 0;
}
