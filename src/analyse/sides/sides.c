/* Follows the run of the model and notes on which sides it comes, then searches for the sides that it
 * does not meet (sides.h). */
#include "analyse/sides/sides.h"

#include "base/random.h"
#include "compile/jit/assemble.h"
#include "dynamics/sim/sim.h"

#include <hamel/run.h>

#include <math.h>
#include <string.h>

enum { LOOKS_A_STEP = 4, SEARCHES = 12, DRAWS = 24 };
/* What counts as zero at a state of a run: the error that a run is allowed. */
#define ALMOST 1e-9

typedef struct survey {
    hmi_sides *sides;
    hm_sim *run, *probe; /* the one moves, the other is evaluated */
    hmi_graph graph;
    hmi_tape tape; /* a - b of every function */
    hmi_arena arena;
    double *work;                    /* of the tape */
    double *state, *before, *middle; /* looked at now, before, and one between */
    double *value, *value_before;    /* by function */
    size_t n, z;
} survey;

/* ---- values ---- */

static hm_status compile(survey *s)
{
    const hmi_sides *sides = s->sides;
    size_t count = sides->list.count;
    hmi_expr *zero = hmi_arena_alloc(&s->arena, (count + 1) * sizeof *zero);
    hm_status status = hmi_graph_copy(&s->graph, &sides->system->derived.graph);
    if (status != HM_OK || !zero)
        return status != HM_OK ? status : HM_ERR_NOMEM;
    for (size_t k = 0; k < count; k++)
        zero[k] = hmi_side_zero(&s->graph, &sides->list.data[k]);
    status = hmi_tape_compile(&s->tape, &s->graph, zero, count);
    if (status != HM_OK)
        return status;
    s->work = hmi_arena_alloc(&s->arena, (s->tape.work_size + 1) * sizeof *s->work);
    s->state = hmi_arena_alloc(&s->arena, (3 * sides->size + 2 * count + 1) * sizeof *s->state);
    if (!s->work || !s->state)
        return HM_ERR_NOMEM;
    s->before = s->state + sides->size;
    s->middle = s->before + sides->size;
    s->value = s->middle + sides->size;
    s->value_before = s->value + count;
    return HM_OK;
}

static void place(const survey *s, const double *state)
{
    hmi_sim_set_state(s->probe, state[0], state + 1, state + 1 + s->n, state + 1 + 2 * s->n);
}

/* The values of all functions at a state. */
static const double *values_at(survey *s, const double *state)
{
    place(s, state);
    const hmi_point *at = hmi_sim_present(s->probe);
    hmi_sim_refresh(s->probe, at);
    const hmi_tape_values values = hmi_sim_values(s->probe, at);
    hmi_tape_prepare(&s->tape, &values, s->work);
    hmi_tape_run(&s->tape, &values, s->work);
    return hmi_tape_outputs(&s->tape, s->work);
}

static int sign_of(double x)
{
    return (x > 0) - (x < 0);
}

/* ---- states that are kept ---- */

static hm_status keep(hmi_sides *sides, const double *state, size_t *index)
{
    *index = sides->states.count / sides->size;
    for (size_t i = 0; i < sides->size; i++)
        if (!hmi_array_push(sides->allocator, &sides->states, state[i]))
            return HM_ERR_NOMEM;
    return HM_OK;
}

/* Keeps the state for every function that has none on its side. */
static hm_status note_sides(survey *s, const double *state, const double *values)
{
    size_t index = SIZE_MAX;
    hm_status status = HM_OK;
    for (size_t k = 0; k < s->sides->list.count && status == HM_OK; k++) {
        hmi_side_function *f = &s->sides->list.data[k];
        size_t *side = values[k] > 0 ? &f->positive : values[k] < 0 ? &f->negative : NULL;
        if (!side || *side != SIZE_MAX)
            continue;
        if (index == SIZE_MAX)
            status = keep(s->sides, state, &index);
        *side = index;
    }
    return status;
}

/* The state between two where function k vanishes: they are a part of a step apart, so that a straight
 * line will do. */
static hm_status keep_between(survey *s, size_t k)
{
    hmi_side_function *f = &s->sides->list.data[k];
    double low = 0, high = 1;
    for (int round = 0; round < 60; round++) {
        double part = 0.5 * (low + high);
        for (size_t i = 0; i < s->sides->size; i++)
            s->middle[i] = s->before[i] + part * (s->state[i] - s->before[i]);
        double value = values_at(s, s->middle)[k];
        *(sign_of(value) == sign_of(s->value_before[k]) ? &low : &high) = part;
        if (value == 0)
            break;
    }
    return keep(s->sides, s->middle, &f->met);
}

/* ---- the run ---- */

/* Does it vanish here, as far as a run can tell, or has it changed its sign on the way? */
static hm_status note_meeting(survey *s, size_t k, bool first)
{
    hmi_side_function *f = &s->sides->list.data[k];
    if (first)
        f->start = sign_of(s->value[k]);
    if (first || f->met != SIZE_MAX)
        return HM_OK;
    if (s->value[k] * s->value_before[k] < 0)
        return keep_between(s, k);
    return fabs(s->value[k]) < ALMOST ? keep(s->sides, s->state, &f->met) : HM_OK;
}

static hm_status look(survey *s, bool first)
{
    hm_status status = HM_OK;
    size_t count = s->sides->list.count;
    memcpy(s->value, values_at(s, s->state), count * sizeof *s->value);
    for (size_t k = 0; k < count && status == HM_OK; k++)
        status = note_meeting(s, k, first);
    if (status == HM_OK)
        status = note_sides(s, s->state, s->value);
    memcpy(s->value_before, s->value, count * sizeof *s->value);
    memcpy(s->before, s->state, s->sides->size * sizeof *s->state);
    return status;
}

static hm_status look_within_step(survey *s, double from, double to)
{
    hm_status status = HM_OK;
    for (int k = 1; k <= LOOKS_A_STEP && status == HM_OK; k++) {
        double *q = s->state + 1, t = from + (to - from) * k / LOOKS_A_STEP;
        s->state[0] = t;
        if (hm_sim_interpolate(s->run, t, q, q + s->n, q + 2 * s->n) == HM_OK)
            status = look(s, false);
    }
    return status;
}

/* What ends the run early is for `run` to say. */
static hm_status follow_run(survey *s)
{
    hm_run_options options = hm_run_options_default(s->sides->system->model);
    hm_status status = hm_sim_start(s->run, &options);
    s->sides->run_end = options.start;
    if (status != HM_OK)
        return status == HM_ERR_NOMEM ? status : HM_OK;
    for (long k = 0; k < HMI_SIDE_STEPS && hm_sim_time(s->run) < options.end; k++) {
        double from = hm_sim_time(s->run);
        status = hm_sim_step(s->run);
        if (status != HM_OK)
            break;
        status = look_within_step(s, from, hm_sim_time(s->run));
        if (status != HM_OK)
            break;
        s->sides->run_end = hm_sim_time(s->run);
    }
    s->sides->whole = s->sides->run_end >= options.end;
    return status == HM_ERR_NOMEM ? status : HM_OK;
}

/* ---- the search ---- */

static void draw(survey *s, hmi_random *random, const double *start, double spread)
{
    const hm_run_options options = hm_run_options_default(s->sides->system->model);
    s->state[0] = start[0] +
                  fmax(options.end - options.start, spread) * hmi_random_between(random, 0, 1);
    for (size_t i = 1; i < s->sides->size; i++)
        s->state[i] = start[i] +
                      spread * (0.6 + 0.4 * fabs(start[i])) * hmi_random_between(random, -1, 1);
}

/* Notes a drawn state where it is on a side that is wanted, also after it was made consistent. */
static hm_status try_draw(survey *s)
{
    bool wanted = false;
    const double *values = values_at(s, s->state);
    for (size_t k = 0; k < s->sides->list.count; k++) {
        const hmi_side_function *f = &s->sides->list.data[k];
        wanted |= (values[k] < 0 && f->negative == SIZE_MAX) ||
                  (values[k] > 0 && f->positive == SIZE_MAX);
    }
    if (!wanted)
        return HM_OK;
    place(s, s->state);
    hm_status status = hm_sim_make_consistent(s->probe, true, NULL, NULL);
    if (status != HM_OK)
        return status == HM_ERR_NOMEM ? status : HM_OK;
    double *q = s->state + 1;
    hm_sim_state(s->probe, q, q + s->n, q + 2 * s->n);
    return note_sides(s, s->state, values_at(s, s->state));
}

static bool complete(const hmi_sides *sides)
{
    for (size_t k = 0; k < sides->list.count; k++)
        if (sides->list.data[k].negative == SIZE_MAX || sides->list.data[k].positive == SIZE_MAX)
            return false;
    return true;
}

static hm_status search(survey *s, const double *start)
{
    hmi_random random = {20261118};
    double spread = 0.25;
    hm_status status = HM_OK;
    for (int round = 0; round < SEARCHES && status == HM_OK; round++, spread *= 2.5)
        for (int k = 0; k < DRAWS && status == HM_OK && !complete(s->sides); k++) {
            draw(s, &random, start, spread);
            status = try_draw(s);
        }
    return status;
}

/* ---- all of it ---- */

static hm_status survey_all(survey *s)
{
    hm_status status = hm_sim_create(s->sides->system, &s->run);
    if (status == HM_OK)
        status = hm_sim_create(s->sides->system, &s->probe);
    if (status == HM_OK)
        status = compile(s);
    if (status != HM_OK)
        return status;
    if (!s->sides->system->model->keep_initial &&
        hm_sim_make_consistent(s->run, false, NULL, NULL) == HM_ERR_NOMEM)
        return HM_ERR_NOMEM;
    double *start = hmi_arena_alloc(&s->arena, s->sides->size * sizeof *start);
    if (!start)
        return HM_ERR_NOMEM;
    start[0] = hm_run_options_default(s->sides->system->model).start;
    hm_sim_state(s->run, start + 1, start + 1 + s->n, start + 1 + 2 * s->n);
    memcpy(s->state, start, s->sides->size * sizeof *start);
    status = look(s, true);
    if (status == HM_OK)
        status = follow_run(s);
    return status == HM_OK ? search(s, start) : status;
}

hm_status hmi_sides_find(hmi_sides *sides, const hm_system *system)
{
    size_t n = system->derived.n, z = system->model->states.count;
    *sides = (hmi_sides){
        .allocator = system->allocator, .system = system, .size = 1 + 2 * n + z, .whole = true};
    hm_status status = hmi_sides_collect(sides);
    if (status != HM_OK || !sides->list.count)
        return status;
    survey s = {.sides = sides, .n = n, .z = z, .tape.allocator = system->allocator};
    hmi_arena_init(&s.arena, system->allocator);
    status = survey_all(&s);
    hmi_tape_release(&s.tape);
    hmi_graph_release(&s.graph);
    hmi_arena_release(&s.arena);
    hm_sim_destroy(s.run);
    hm_sim_destroy(s.probe);
    return status;
}

void hmi_sides_release(hmi_sides *sides)
{
    if (!sides->allocator)
        return;
    hmi_array_release(sides->allocator, &sides->list);
    hmi_array_release(sides->allocator, &sides->states);
    sides->allocator = NULL;
}

const double *hmi_sides_state(const hmi_sides *sides, size_t state)
{
    return sides->states.data + state * sides->size;
}
