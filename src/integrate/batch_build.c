/* Four members at once: memory, members put on and shown. See batch.h. */
#include "integrate/batch.h"

#include <string.h>

const char *hmi_batch_refusal(const hmi_driver *d)
{
    const hmi_projection *p = &d->projection;
    if (!d->method || !d->method->table)
        return "the method is not an explicit Runge-Kutta method";
    if (d->switches.count || d->switches.switches)
        return "events, or functions that are not smooth";
    if (d->ode.dirac || !d->motion || d->motion->shifted)
        return "no compiled solve for the accelerations";
    if (d->rows.any)
        return "constraints that depend on each other";
    if (d->integrals.count)
        return "constraints of acceleration level";
    if (d->drift == HMI_DRIFT_PROJECT && p->velocity.count &&
        (!p->velocity.projector || (p->position.count && !p->position.projector)))
        return "no compiled solve for the drift control";
    return NULL;
}

/* ---- memory ---- */

/* Aligned for vector registers; of all lanes. */
static double *doubles(hmi_batch *b, size_t count, bool *failed)
{
    size_t room = HMI_LANES * (count + 2) * sizeof(double);
    char *memory = hmi_arena_alloc(&b->arena, room);
    *failed |= !memory;
    return memory ? (double *)(void *)(memory + (32 - (uintptr_t)memory % 32) % 32) : NULL;
}

static hm_status use_tape(hmi_batch *b, hmi_lane_tape *lanes, const hmi_tape *tape)
{
    bool failed = false;
    hm_status status = hmi_tape_lanes_init(&lanes->lanes, tape);
    if (status != HM_OK)
        return status;
    lanes->work = doubles(b, lanes->lanes.work_size / HMI_LANES + 1, &failed);
    if (failed)
        return HM_ERR_NOMEM;
    lanes->out = hmi_tape_lanes_outputs(&lanes->lanes, lanes->work);
    lanes->used = true;
    return HM_OK;
}

static hm_status use_level(hmi_batch *b, hmi_lane_level *lanes, const hmi_level *level)
{
    bool failed = false;
    if (level->count == 0)
        return HM_OK;
    lanes->count = level->count;
    lanes->row = level->row;
    lanes->sizes = level->projector->program.sizes;
    lanes->margin = level->projector->program.margin;
    lanes->b = doubles(b, level->count, &failed);
    lanes->size = doubles(b, level->count, &failed);
    return failed ? HM_ERR_NOMEM : use_tape(b, &lanes->tape, &level->projector->program.tape);
}

static hm_status use_tapes(hmi_batch *b)
{
    hmi_driver *d = b->d;
    const hm_system *system = d->sim->system;
    hm_status status = use_tape(b, &b->motion, &d->motion->program.tape);
    b->margin = d->motion->program.margin;
    if (status == HM_OK && d->model->inputs.count)
        status = use_tape(b, &b->inputs, &system->inputs);
    if (status == HM_OK && d->residuals.count)
        status = use_tape(b, &b->residuals, &d->residuals.tape);
    if (status == HM_OK && d->ledger.total_work)
        status = use_tape(b, &b->total, &d->ledger.total);
    if (d->drift != HMI_DRIFT_PROJECT)
        return status;
    if (status == HM_OK)
        status = use_level(b, &b->position, &d->projection.position);
    if (status == HM_OK)
        status = use_level(b, &b->velocity, &d->projection.velocity);
    if (status == HM_OK && d->rank.now)
        status = use_tape(b, &b->dynamics, &system->dynamics);
    return status;
}

static hm_status allocate(hmi_batch *b)
{
    const hm_model *model = b->d->model;
    size_t width = b->width, m = b->velocity.count;
    bool failed = false;
    double **states[] = {&b->y,      &b->y_old, &b->f,     &b->trial,
                         &b->before, &b->r,     &b->first, &b->best};
    for (size_t i = 0; i < sizeof states / sizeof *states; i++)
        *states[i] = doubles(b, width, &failed);
    b->K = doubles(b, (size_t)(b->table->stages + 1) * width, &failed);
    b->t = doubles(b, 1, &failed);
    b->h = doubles(b, 1, &failed);
    b->sums = doubles(b, 1, &failed);
    b->bad = doubles(b, 1, &failed);
    b->lane_y = doubles(b, width, &failed);
    b->rows_dense = doubles(b, m * b->n, &failed);
    b->params = doubles(b, model->params.count, &failed);
    for (int order = 0; order < 3; order++)
        b->input[order] = doubles(b, model->inputs.count, &failed);
    b->input_set = hmi_arena_alloc(&b->arena, HMI_LANES * model->inputs.count + 1);
    if (failed || !b->input_set)
        return HM_ERR_NOMEM;
    hm_status status = HM_OK;
    for (size_t l = 0; l < HMI_LANES && b->dynamics.used && status == HM_OK; l++)
        status = hmi_rank_watch_allocate(&b->lane[l].rank, &b->arena, m, b->n, b->size);
    return status;
}

hm_status hmi_batch_create(hmi_driver *d, hmi_batch **out)
{
    const hm_allocator *allocator = d->sim->system->allocator;
    hmi_batch *b = hmi_alloc(allocator, sizeof *b);
    if (!b)
        return HM_ERR_NOMEM;
    memset(b, 0, sizeof *b);
    *out = b;
    b->d = d;
    b->table = d->method->table;
    b->kernels = hmi_batch_kernels_here();
    b->automatic = d->automatic;
    b->n = d->ode.n;
    b->size = d->ode.size;
    b->works = d->s.works;
    b->width = b->size + b->works;
    hmi_rk_collect(b->table, &b->rows);
    hmi_arena_init(&b->arena, allocator);
    hm_status status = use_tapes(b);
    if (status == HM_OK)
        status = allocate(b);
    b->values = hmi_sim_values(d->sim);
    b->values.by_kind[HMI_SYM_PARAM] = b->params;
    b->values.by_kind[HMI_SYM_INPUT] = b->input[0];
    b->values.by_kind[HMI_SYM_INPUT_RATE] = b->input[1];
    b->values.by_kind[HMI_SYM_INPUT_RATE2] = b->input[2];
    return status;
}

static hmi_lane_tape *tape_at(hmi_batch *b, size_t k)
{
    hmi_lane_tape *all[] = {&b->motion,   &b->inputs,        &b->residuals,    &b->total,
                            &b->dynamics, &b->position.tape, &b->velocity.tape};
    return k < sizeof all / sizeof *all ? all[k] : NULL;
}

void hmi_batch_destroy(hmi_batch *b)
{
    if (!b)
        return;
    const hm_allocator *allocator = b->d->sim->system->allocator;
    for (size_t k = 0; tape_at(b, k); k++)
        hmi_tape_lanes_release(&tape_at(b, k)->lanes);
    hmi_arena_release(&b->arena);
    hmi_free(allocator, b, sizeof *b);
}

/* ---- members ---- */

static void put_params(hmi_batch *b, size_t l)
{
    const hm_sim *sim = b->d->sim;
    for (size_t i = 0; i < b->d->model->params.count; i++)
        b->params[HMI_LANES * i + l] = sim->params[i];
    for (size_t k = 0; tape_at(b, k); k++)
        if (tape_at(b, k)->used)
            hmi_tape_prepare_lanes(&tape_at(b, k)->lanes, &b->values, tape_at(b, k)->work);
}

static double largest_violation(const hmi_driver *d)
{
    double largest = 0;
    for (size_t k = 0; k < d->residuals.count; k++)
        if (!(d->violation[k] <= largest))
            largest = d->violation[k];
    return largest;
}

void hmi_batch_put(hmi_batch *b, size_t l, size_t member, bool fresh_params)
{
    hmi_driver *d = b->d;
    hmi_lane *lane = &b->lane[l];
    hmi_rank_watch rank = lane->rank;
    hmi_rank_watch_forget(&rank);
    rank.count = 0;
    if (rank.longest)
        memset(rank.longest, 0, rank.m * sizeof *rank.longest);
    double h = hmi_rk_first_step(b->table, &d->s, d->options.end);
    for (size_t i = 0; i < b->width; i++) {
        b->y[HMI_LANES * i + l] = b->y_old[HMI_LANES * i + l] = d->s.y[i];
        b->f[HMI_LANES * i + l] = d->s.f[i];
    }
    for (size_t k = 0; k < d->model->inputs.count; k++) {
        b->input_set[HMI_LANES * k + l] = d->sim->input_set[k];
        for (int order = 0; order < 3; order++)
            b->input[order][HMI_LANES * k + l] = d->sim->inputs[order][k];
    }
    if (fresh_params)
        put_params(b, l);
    *lane = (hmi_lane){.busy = true,
                       .member = member,
                       .t = d->s.t,
                       .t_old = d->s.t,
                       .t_new = d->s.t,
                       .h = h,
                       .last_log = HMI_LEAST_LOG,
                       .work_scale = d->s.work_scale,
                       .evaluations = d->ode.evaluations,
                       .energy_start = d->energy_start,
                       .energy = d->energy,
                       .balance_error = d->balance_error,
                       .violation = largest_violation(d),
                       .pace_t = d->s.t,
                       .outputs = d->outputs,
                       .rank = rank};
}

static void take_lane(const double *from, size_t l, size_t count, double *to)
{
    for (size_t i = 0; i < count; i++)
        to[i] = from[HMI_LANES * i + l];
}

void hmi_batch_show(hmi_batch *b, size_t l)
{
    hmi_driver *d = b->d;
    hm_sim *sim = d->sim;
    const hmi_lane *lane = &b->lane[l];
    double *K = hmi_rk_foreign_step(b->table, &d->s, lane->h_done);
    for (int i = 0; i <= b->table->stages; i++)
        take_lane(b->K + (size_t)i * HMI_LANES * b->width, l, b->width, K + (size_t)i * b->width);
    take_lane(b->y, l, b->width, d->s.y);
    take_lane(b->y_old, l, b->width, d->s.y_old);
    take_lane(b->f, l, b->width, d->s.f);
    for (size_t k = 0; k < d->model->inputs.count; k++) {
        sim->input_set[k] = b->input_set[HMI_LANES * k + l];
        for (int order = 0; order < 3; order++)
            sim->inputs[order][k] = b->input[order][HMI_LANES * k + l];
    }
    d->s.t_old = lane->t_old;
    d->s.t = d->reached = lane->t;
    d->s.f_valid = true;
    d->energy_start = lane->energy_start;
    d->outputs = lane->outputs;
    hmi_ode_store(&d->ode, lane->t, d->s.y);
}
