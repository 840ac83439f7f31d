/* Four members at once: the memory of a batch, and how a member gets onto a lane and is shown. */
#include "integrate/ensemble/batch.h"

#include <math.h>
#include <string.h>

/* ---- memory ---- */

/* `count` numbers of every lane, aligned for vector registers. */
static double *lane_doubles(hmi_batch *b, size_t count, bool *failed)
{
    size_t room = HMI_LANES * (count + 2) * sizeof(double);
    char *memory = hmi_arena_alloc(&b->arena, room);
    *failed |= !memory;
    return memory ? (double *)(void *)(memory + (32 - (uintptr_t)memory % 32) % 32) : NULL;
}

static hm_status use_tape(hmi_batch *b, hmi_lane_tape *tape, const hmi_tape_lanes *lanes)
{
    bool failed = false;
    if (!lanes->tape)
        return HM_OK;
    tape->work = lane_doubles(b, lanes->work_size / HMI_LANES + 1, &failed);
    if (failed)
        return HM_ERR_NOMEM;
    tape->out = hmi_tape_lanes_outputs(lanes, tape->work);
    tape->lanes = lanes;
    return HM_OK;
}

/* Structs with vectors in them. */
static void *aligned(hmi_batch *b, size_t bytes, bool *failed)
{
    void *memory = lane_doubles(b, bytes / (HMI_LANES * sizeof(double)) + 1, failed);
    return memory ? memset(memory, 0, bytes) : NULL;
}

static hm_status use_level(hmi_batch *b, hmi_lane_level *lanes, const hmi_projection_level *level,
                           const hmi_tape_lanes *tape)
{
    bool failed = false;
    if (!tape->tape)
        return HM_OK;
    hmi_lane_passage *p = aligned(b, sizeof *p, &failed);
    if (failed)
        return HM_ERR_NOMEM;
    p->count = level->count;
    p->row = level->row;
    p->b = lane_doubles(b, level->count, &failed);
    p->size = lane_doubles(b, level->count, &failed);
    lanes->passage = p;
    lanes->sizes = level->projector->program.sizes;
    lanes->margin = level->projector->program.margin;
    lanes->rows = level->projector->program.rows;
    return failed ? HM_ERR_NOMEM : use_tape(b, &lanes->tape, tape);
}

static hm_status use_tapes(hmi_batch *b)
{
    const hmi_batch_code *code = b->code;
    const hmi_projection *p = &b->d->projection;
    hm_status status = use_tape(b, &b->motion, &code->motion);
    if (status == HM_OK)
        status = use_tape(b, &b->inputs, &code->inputs);
    if (status == HM_OK)
        status = use_tape(b, &b->residuals, &code->residuals);
    if (status == HM_OK)
        status = use_tape(b, &b->total, &code->total);
    if (status == HM_OK)
        status = use_tape(b, &b->dynamics, &code->dynamics);
    if (status == HM_OK)
        status = use_level(b, &b->position, &p->position, &code->position);
    return status == HM_OK ? use_level(b, &b->velocity, &p->velocity, &code->velocity) : status;
}

static void take_pattern(const hmi_projection_level *level, const hmi_expr_matrix *A, size_t *start,
                         size_t *column)
{
    start[0] = 0;
    for (size_t i = 0; i < level->count; i++) {
        size_t row = level->row[i], count = A->start[row + 1] - A->start[row];
        for (size_t k = 0; k < count; k++)
            column[start[i] + k] = A->column.data[A->start[row] + k];
        start[i + 1] = start[i] + count;
    }
}

/* All of M, by row in the order of columns: of its pattern, the lower triangle. */
static void take_mass_pattern(const hmi_expr_matrix *M, size_t n, size_t *start, size_t *column,
                              size_t *entry)
{
    size_t at = 0;
    for (size_t i = 0; i < n; i++) {
        start[i] = at;
        for (size_t j = 0; j < n; j++) {
            size_t row = i > j ? i : j, other = i > j ? j : i;
            for (size_t k = M->start[row]; k < M->start[row + 1]; k++)
                if (M->column.data[k] == other) {
                    column[at] = j;
                    entry[at++] = k;
                }
        }
    }
    start[n] = at;
}

/* Several rows: what relates velocities near a drop. */
static hm_status watch_angles(hmi_batch *b, hmi_lane_rank *w)
{
    const hm_system *system = b->d->sim->system;
    size_t n = w->n, most = 2 * system->derived.M.column.count;
    bool failed = false;
    size_t *memory = hmi_arena_alloc(&b->arena, (n + 1 + 2 * most) * sizeof *memory);
    w->least = aligned(b, HMI_LANES * b->x->size * sizeof(double), &failed);
    if (failed || !memory)
        return HM_ERR_NOMEM;
    take_mass_pattern(&system->derived.M, n, memory, memory + n + 1, memory + n + 1 + most);
    w->M_start = memory;
    w->M_column = memory + n + 1;
    w->M_entry = memory + n + 1 + most;
    return HM_OK;
}

/* The watch over the rows of the velocity level, where the run has one. */
static hm_status watch_rank(hmi_batch *b)
{
    const hmi_run *d = b->d;
    const hmi_projection_level *level = &d->projection.velocity;
    const hmi_expr_matrix *A = &d->sim->system->derived.constraints.A;
    size_t m = level->count, n = d->ode.n;
    bool failed = false;
    if (!d->guard.rank.now || !b->velocity.passage)
        return HM_OK;
    hmi_lane_rank *w = aligned(b, sizeof *w, &failed);
    size_t *start = hmi_arena_alloc(&b->arena, (m + 1 + A->column.count) * sizeof *start);
    if (failed || !start)
        return HM_ERR_NOMEM;
    take_pattern(level, A, start, start + m + 1);
    *w = (hmi_lane_rank){.m = m, .n = n, .start = start, .column = start + m + 1};
    w->now = aligned(b, HMI_LANES * m * n * sizeof(double), &failed);
    w->last = aligned(b, HMI_LANES * m * n * sizeof(double), &failed);
    w->longest = aligned(b, HMI_LANES * m * sizeof(double), &failed);
    w->product = aligned(b, HMI_LANES * m * m * sizeof(double), &failed);
    b->rank = w;
    if (failed)
        return HM_ERR_NOMEM;
    hm_status status = hmi_rank_watch_allocate(&b->rows, &b->arena, m, n, d->ode.size);
    return status == HM_OK && b->dynamics.lanes ? watch_angles(b, w) : status;
}

/* States and K lie in the work vector of compiled stages. */
static hm_status use_stages(hmi_batch *b)
{
    const hmi_stages *stages = &b->code->stages;
    hmi_lane_data *x = b->x;
    bool failed = false;
    if (!stages->run[1])
        return HM_OK;
    double *work = lane_doubles(b, stages->work_size / HMI_LANES + 1, &failed);
    if (failed)
        return HM_ERR_NOMEM;
    hmi_stages_fill(stages, work);
    b->stage_work = work;
    x->stride = stages->stride;
    x->stage_h = work + HMI_LANES * stages->h;
    x->stage_t = work + HMI_LANES * stages->t;
    x->y = work + HMI_LANES * stages->y;
    x->K = work + HMI_LANES * stages->K;
    x->trial = work + HMI_LANES * stages->end;
    x->estimate = stages->estimates ? x->trial + HMI_LANES * x->width : NULL;
    x->before = x->K + HMI_LANES * ((size_t)(x->table->stages - 1) * x->stride + x->width + 1);
    return HM_OK;
}

static hm_status allocate(hmi_batch *b)
{
    const hm_model *model = b->d->model;
    hmi_lane_data *x = b->x;
    bool failed = false;
    double **states[] = {&x->y_old, &x->f,    &x->trial, &x->r,
                         &x->first, &x->best, &x->y,     &x->before};
    for (size_t i = 0; i < sizeof states / sizeof *states; i++)
        if (!*states[i])
            *states[i] = lane_doubles(b, x->width, &failed);
    if (!x->K)
        x->K = lane_doubles(b, (size_t)(x->table->stages + 1) * x->width, &failed);
    b->params = lane_doubles(b, model->params.count, &failed);
    for (int order = 0; order < 3; order++)
        b->input[order] = lane_doubles(b, model->inputs.count, &failed);
    b->input_set = hmi_arena_alloc(&b->arena, HMI_LANES * model->inputs.count + 1);
    return failed || !b->input_set ? HM_ERR_NOMEM : watch_rank(b);
}

/* What all lanes share. */
static hm_status describe(hmi_batch *b)
{
    const hmi_run *d = b->d;
    bool failed = false;
    hmi_lane_data *x = b->x = aligned(b, sizeof *x, &failed);
    if (failed)
        return HM_ERR_NOMEM;
    x->n = d->ode.n;
    x->size = d->ode.size;
    x->width = x->stride = x->size + d->s.works;
    x->table = d->s.method->table;
    hmi_rk_collect(x->table, &x->rows);
    x->end = d->options.end;
    x->largest = d->s.largest;
    x->most_steps = d->options.most_steps ? (double)d->options.most_steps : INFINITY;
    x->atol = d->s.atol;
    x->rtol = d->s.rtol;
    x->automatic = d->automatic;
    x->out = b->motion.out;
    x->margin = b->motion.out + HMI_LANES * d->motion->program.at.margin;
    return HM_OK;
}

hm_status hmi_batch_create(hmi_run *d, const hmi_batch_code *code, hmi_batch **out)
{
    const hm_allocator *allocator = d->sim->system->allocator;
    hmi_batch *b = hmi_alloc(allocator, sizeof *b);
    if (!b)
        return HM_ERR_NOMEM;
    memset(b, 0, sizeof *b);
    *out = b;
    b->d = d;
    b->code = code;
    b->kernels = hmi_batch_kernels_here();
    hmi_arena_init(&b->arena, allocator);
    hm_status status = use_tapes(b);
    if (status == HM_OK)
        status = describe(b);
    if (status == HM_OK)
        status = use_stages(b);
    if (status == HM_OK)
        status = allocate(b);
    b->values = hmi_sim_values(d->sim, hmi_sim_present(d->sim));
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
    hmi_arena_release(&b->arena);
    hmi_free(allocator, b, sizeof *b);
}

/* ---- members ---- */

static void put_params(hmi_batch *b, size_t l)
{
    const hm_sim *sim = b->d->sim;
    for (size_t i = 0; i < b->d->model->params.count; i++)
        b->params[HMI_LANES * i + l] = sim->given.params[i];
    for (size_t k = 0; tape_at(b, k); k++)
        if (tape_at(b, k)->lanes)
            hmi_tape_prepare_lanes(tape_at(b, k)->lanes, &b->values, tape_at(b, k)->work);
    if (b->stage_work)
        hmi_stages_prepare(&b->code->stages, &b->values, l, b->stage_work);
}

static double largest_violation(const hmi_run *d)
{
    double largest = 0;
    for (size_t k = 0; k < d->residuals.count; k++)
        if (!(d->recorder.violations.largest[k] <= largest))
            largest = d->recorder.violations.largest[k];
    return largest;
}

/* The state that the run has, its rates and its inputs. */
static void put_state(hmi_batch *b, size_t l)
{
    const hmi_run *d = b->d;
    hmi_lane_data *x = b->x;
    for (size_t i = 0; i < x->width; i++) {
        x->y[HMI_LANES * i + l] = x->y_old[HMI_LANES * i + l] = d->s.y[i];
        x->f[HMI_LANES * i + l] = d->s.f[i];
    }
    for (size_t k = 0; k < d->model->inputs.count; k++) {
        b->input_set[HMI_LANES * k + l] = d->sim->given.input_set[k];
        for (int order = 0; order < 3; order++)
            b->input[order][HMI_LANES * k + l] = d->sim->given.inputs[order][k];
    }
}

/* Everything of a run that begins. */
static void put_numbers(hmi_batch *b, size_t l, double h)
{
    const hmi_run *d = b->d;
    hmi_lane_data *x = b->x;
    hmi_four *masks[] = {&x->lost, &x->passing, &x->accepted, &x->just_rejected, &x->stiff};
    hmi_four *zeros[] = {&x->steps,  &x->rejected,   &x->suspicious,
                         &x->smooth, &x->pace_steps, &x->moved};
    for (size_t k = 0; k < sizeof masks / sizeof *masks; k++)
        hmi_lane_mark(masks[k], l, false);
    for (size_t k = 0; k < sizeof zeros / sizeof *zeros; k++)
        zeros[k]->of[l] = 0;
    hmi_lane_mark(&x->busy, l, true);
    x->t.of[l] = x->t_old.of[l] = x->t_new.of[l] = x->pace_t.of[l] = d->s.t;
    x->h.of[l] = h;
    x->last_log.of[l] = HMI_LEAST_LOG;
    x->work_scale.of[l] = d->s.work_scale;
    x->evaluations.of[l] = (double)d->ode.evaluations;
    x->energy_start.of[l] = d->recorder.energy.start;
    x->energy.of[l] = d->recorder.energy.now;
    x->balance_error.of[l] = d->recorder.energy.error;
    x->violation.of[l] = largest_violation(d);
}

static void forget_rank(hmi_lane_rank *w, size_t size, size_t l)
{
    hmi_lane_mark(&w->known, l, false);
    hmi_lane_mark(&w->close, l, false);
    for (size_t i = 0; i < w->m; i++)
        w->longest[HMI_LANES * i + l] = 0;
    for (size_t i = 0; w->least && i < size; i++)
        w->least[HMI_LANES * i + l] = 0;
}

void hmi_batch_put(hmi_batch *b, size_t l, size_t member, bool fresh_params)
{
    hmi_run *d = b->d;
    double h = hmi_rk_first_step(&d->s, d->options.end);
    put_state(b, l);
    if (fresh_params)
        put_params(b, l);
    put_numbers(b, l, h);
    b->member[l] = member;
    hmi_batch_note_outputs(b, l, d->recorder.outputs);
    if (b->rank)
        forget_rank(b->rank, b->x->size, l);
}

void hmi_batch_note_outputs(hmi_batch *b, size_t l, long outputs)
{
    const hm_run_options *o = &b->d->options;
    double next = o->start + (double)outputs * o->every;
    b->outputs[l] = outputs;
    b->x->next_output.of[l] = o->on_frame ? next - 1e-9 * o->every : INFINITY;
}

static void take_lane(const double *from, size_t l, size_t count, double *to)
{
    for (size_t i = 0; i < count; i++)
        to[i] = from[HMI_LANES * i + l];
}

void hmi_batch_show(hmi_batch *b, size_t l)
{
    hmi_run *d = b->d;
    hm_sim *sim = d->sim;
    const hmi_lane_data *x = b->x;
    size_t stages = (size_t)x->table->stages;
    double *K = hmi_rk_foreign_step(&d->s, x->h_done.of[l]);
    for (size_t i = 0; i <= stages; i++)
        take_lane(x->K + i * HMI_LANES * x->stride, l, x->width, K + i * x->width);
    take_lane(x->y, l, x->width, d->s.y);
    take_lane(x->y_old, l, x->width, d->s.y_old);
    take_lane(x->f, l, x->width, d->s.f);
    for (size_t k = 0; k < d->model->inputs.count; k++) {
        sim->given.input_set[k] = b->input_set[HMI_LANES * k + l];
        for (int order = 0; order < 3; order++)
            sim->given.inputs[order][k] = b->input[order][HMI_LANES * k + l];
    }
    d->s.least = NULL;
    if (b->rank && hmi_lane_in(&b->rank->close, l)) {
        take_lane(b->rank->least, l, x->size, d->guard.rank.least);
        d->s.least = d->guard.rank.least;
    }
    d->s.t_old = x->t_old.of[l];
    d->s.t = d->reached = x->t.of[l];
    d->s.f_valid = true;
    d->recorder.energy.start = x->energy_start.of[l];
    d->recorder.energy.left = x->energy.of[l] - x->energy_start.of[l] -
                              hmi_ledger_sum(&d->recorder.ledger, d->s.y + x->size);
    d->recorder.outputs = b->outputs[l];
}
