/* Builds one tape for each stage of a Runge-Kutta step (sums of K, then the motion) and compiles them side
 * by side. */
#include "compile/jit/rk_stages.h"

#include "compile/jit/jit.h"
#include "compile/jit/lanes.h"
#include "compile/tape/machine_code.h"

#include <string.h>

/* Instructions of all stages, and sums side by side. */
enum { MOST_INSTRUCTIONS = 4000, SIDE_BY_SIDE = 8 };

typedef struct builder {
    const hmi_stages_request *ask;
    hmi_stages *stages;
    const hm_allocator *allocator;
    hmi_tape tape[HMI_MOST_STAGES + 1]; /* bodies only */
    hmi_tape *now;                      /* of stage i */
    int i;
    size_t scratch; /* 2 width slots: sums, arguments that the motion does not read */
    size_t number;  /* the next one */
    uint8_t *live;  /* by slot */
    size_t slots;
    bool failed;
} builder;

/* ---- places ---- */

static size_t row_of(const builder *b, int i)
{
    return b->stages->K + (size_t)i * b->stages->stride;
}

static size_t count_terms(const double *weights, int count)
{
    size_t terms = 0;
    for (int j = 0; j < count; j++)
        terms += weights[j] != 0;
    return terms;
}

/* Of the stages, and with what comes after them. */
static size_t count_numbers(const hmi_stages_request *ask)
{
    size_t count = count_terms(ask->b, ask->stages);
    for (int i = 1; i < ask->stages; i++)
        count += 1 + count_terms(ask->a[i], i);
    for (int k = 0; k < ask->estimates; k++)
        count += count_terms(ask->e[k], ask->stages);
    return count;
}

static void lay_out(builder *b)
{
    const hmi_stages_request *ask = b->ask;
    hmi_stages *s = b->stages;
    s->h = ask->motion->work_size;
    s->t = s->h + 1;
    s->numbers = s->t + 1;
    s->number_count = count_numbers(ask);
    b->scratch = s->numbers + s->number_count;
    s->y = b->scratch + 2 * ask->width;
    s->K = s->y + ask->width;
    s->stride = 2 * ask->width + 1;
    s->end = s->K + (size_t)(ask->stages + 1) * s->stride;
    b->slots = s->end + (size_t)(1 + ask->estimates) * ask->width;
}

/* Where the motion reads a symbol, else `other`. */
static size_t place_of(const builder *b, hmi_symbol_kind kind, size_t index, size_t other)
{
    const hmi_tape *motion = b->ask->motion;
    for (size_t k = motion->param_inputs; k < motion->inputs.count; k++) {
        const hmi_tape_input *input = &motion->inputs.data[k];
        if (input->kind == kind && index >= input->first && index < input->first + input->count)
            return input->slot + index - input->first;
    }
    return other;
}

/* Component k of the stage's argument. */
static size_t argument(const builder *b, size_t k)
{
    size_t n = b->ask->n, other = b->scratch + b->ask->width + k;
    if (k < n)
        return place_of(b, HMI_SYM_COORD, k, other);
    if (k < 2 * n)
        return place_of(b, HMI_SYM_VELOCITY, k - n, other);
    return place_of(b, HMI_SYM_STATE, k - 2 * n, other);
}

/* ---- instructions ---- */

static void put(builder *b, uint32_t op, size_t dst, size_t x, size_t y, size_t z)
{
    const hmi_instruction instruction = {op, (uint32_t)dst, (uint32_t)x, (uint32_t)y, (uint32_t)z};
    b->failed |= !hmi_array_push(b->allocator, &b->now->body, instruction);
}

static size_t put_number(builder *b, double value)
{
    b->stages->number[b->number] = value;
    return b->stages->numbers + b->number++;
}

/* A row of weights, and where it is. */
static size_t put_weights(builder *b, const double *weights, int count)
{
    size_t first = b->stages->numbers + b->number;
    for (int j = 0; j < count; j++)
        if (weights[j] != 0)
            put_number(b, weights[j]);
    return first;
}

/* The sums over j < count of w_j K_j into slots from `to` on, components first .. end side by side;
 * `number`: place of the weights. */
static void put_sums(builder *b, const double *weights, int count, size_t number, size_t first,
                     size_t end, size_t to)
{
    bool started = false;
    for (int j = 0; j < count; j++) {
        if (weights[j] == 0)
            continue;
        for (size_t k = first; k < end; k++)
            put(b, started ? HMI_TAPE_MUL_ADD : HMI_TAPE_FIRST_OF_TABLE + HMI_MUL, to + k, number,
                row_of(b, j) + k, started ? to + k : 0);
        started = true;
        number++;
    }
}

static size_t smaller(size_t a, size_t b)
{
    return a < b ? a : b;
}

static void put_arguments(builder *b)
{
    const hmi_stages *s = b->stages;
    const double *a = b->ask->a[b->i];
    size_t size = b->ask->size, weights = put_weights(b, a, b->i);
    for (size_t first = 0; first < size; first += SIDE_BY_SIDE) {
        size_t end = smaller(first + SIDE_BY_SIDE, size);
        put_sums(b, a, b->i, weights, first, end, b->scratch);
        for (size_t k = first; k < end; k++)
            put(b, HMI_TAPE_MUL_ADD, argument(b, k), s->h, b->scratch + k, s->y + k);
    }
    size_t c = put_number(b, b->ask->c[b->i]);
    size_t time = place_of(b, HMI_SYM_TIME, 0, 0);
    if (time)
        put(b, HMI_TAPE_MUL_ADD, time, c, s->h, s->t);
}

/* The new state and the estimates. */
static void put_end(builder *b)
{
    const hmi_stages_request *ask = b->ask;
    const hmi_stages *s = b->stages;
    size_t width = ask->width, weights[3] = {put_weights(b, ask->b, ask->stages)};
    for (int e = 0; e < ask->estimates; e++)
        weights[1 + e] = put_weights(b, ask->e[e], ask->stages);
    for (size_t first = 0; first < width; first += SIDE_BY_SIDE) {
        size_t end = smaller(first + SIDE_BY_SIDE, width);
        put_sums(b, ask->b, ask->stages, weights[0], first, end, b->scratch);
        for (size_t k = first; k < end; k++)
            put(b, HMI_TAPE_MUL_ADD, s->end + k, s->h, b->scratch + k, s->y + k);
        for (int e = 0; e < ask->estimates; e++)
            put_sums(b, ask->e[e], ask->stages, weights[1 + e], first, end,
                     s->end + (size_t)(1 + e) * width);
    }
}

/* Velocities are rates; the last stage keeps its whole argument. */
static void put_copies(builder *b)
{
    const hmi_stages_request *ask = b->ask;
    size_t row = row_of(b, b->i);
    for (size_t k = 0; k < ask->n; k++)
        put(b, HMI_TAPE_COPY, row + k, argument(b, ask->n + k), 0, 0);
    for (size_t k = 0; b->i == ask->stages - 1 && k < ask->size; k++)
        put(b, HMI_TAPE_COPY, row + ask->width + 1 + k, argument(b, k), 0, 0);
}

/* Outputs of the motion that count lie in the row. */
static uint32_t moved_slot(const builder *b, uint32_t slot)
{
    const hmi_stages_request *ask = b->ask;
    size_t first = ask->motion->output_slot, k = slot - first;
    if (slot < first || slot >= first + ask->motion->output_count)
        return slot;
    if (k < ask->width - ask->n)
        return (uint32_t)(row_of(b, b->i) + ask->n + k);
    return k == ask->margin ? (uint32_t)(row_of(b, b->i) + ask->width) : slot;
}

static void put_motion(builder *b)
{
    const hmi_instruction *code = b->ask->motion->body.data;
    for (; code->op != HMI_TAPE_STOP; code++)
        put(b, code->op, moved_slot(b, code->dst), moved_slot(b, code->a), moved_slot(b, code->b),
            moved_slot(b, code->c));
}

/* ---- what nobody reads ---- */

static bool is_live(builder *b, const hmi_instruction *code)
{
    bool live = b->live[code->dst];
    b->live[code->dst] = 0;
    if (code->op == HMI_TAPE_SINCOS) {
        live |= b->live[code->b];
        b->live[code->b] = 0;
    }
    const uint32_t operands[3] = {code->a, code->b, code->c};
    for (int k = 0; live && k < hmi_jit_row_at(code->op).operands; k++)
        b->live[operands[k]] = 1;
    return live;
}

/* Backwards, then without gaps. */
static void remove_dead(builder *b)
{
    hmi_instruction *code = b->now->body.data;
    size_t count = b->now->body.count, kept = count;
    memset(b->live, 0, b->slots);
    memset(b->live + b->now->output_slot, 1, b->now->output_count);
    for (size_t k = count; k-- > 0;)
        if (is_live(b, &code[k]))
            code[--kept] = code[k];
    memmove(code, code + kept, (count - kept) * sizeof *code);
    b->now->body.count = count - kept;
}

/* ---- the whole ---- */

static void begin_tape(builder *b, int i, size_t output_slot, size_t output_count)
{
    b->i = i;
    b->now = &b->tape[i];
    *b->now = (hmi_tape){.allocator = b->allocator};
    memcpy(&b->now->constants, &b->ask->motion->constants, sizeof b->now->constants); /* borrowed */
    b->now->work_size = b->slots;
    b->now->output_slot = output_slot;
    b->now->output_count = output_count;
}

static void build_stage(builder *b, int i)
{
    const hmi_stages_request *ask = b->ask;
    begin_tape(b, i, row_of(b, i), ask->width + 1 + (i == ask->stages - 1 ? ask->size : 0));
    put_arguments(b);
    put_copies(b);
    put_motion(b);
    if (b->failed)
        return;
    remove_dead(b);
    put(b, HMI_TAPE_STOP, 0, 0, 0, 0);
}

static void build_end(builder *b)
{
    const hmi_stages_request *ask = b->ask;
    begin_tape(b, ask->stages, b->stages->end, (size_t)(1 + ask->estimates) * ask->width);
    put_end(b);
    put(b, HMI_TAPE_STOP, 0, 0, 0, 0);
}

/* Time, coordinates, velocities and states are computed here; others would have to be read. */
static bool applies(const hmi_stages_request *ask)
{
    const hmi_tape *motion = ask->motion;
    for (size_t k = motion->param_inputs; k < motion->inputs.count; k++) {
        hmi_symbol_kind kind = motion->inputs.data[k].kind;
        if (kind != HMI_SYM_TIME && kind != HMI_SYM_COORD && kind != HMI_SYM_VELOCITY &&
            kind != HMI_SYM_STATE)
            return false;
    }
    size_t sums = count_numbers(ask) * ask->width;
    return motion->code.entry && ask->stages > 1 && ask->stages < HMI_MOST_STAGES &&
           ask->estimates <= 2 &&
           motion->body.count * (size_t)ask->stages + sums <= MOST_INSTRUCTIONS;
}

static hm_status compile(builder *b)
{
    hmi_stages *s = b->stages;
    lay_out(b);
    b->live = hmi_alloc(b->allocator, b->slots);
    s->number = hmi_alloc(b->allocator, s->number_count * sizeof *s->number);
    if (!b->live || !s->number)
        return HM_ERR_NOMEM;
    for (int i = 1; i < s->count && !b->failed; i++)
        build_stage(b, i);
    build_end(b);
    if (b->failed)
        return HM_ERR_NOMEM;
    hm_status status = hmi_jit_compile_many(b->tape + 1, (size_t)s->count, HMI_LANES,
                                            hmi_tape_interpret_lanes, &s->code, s->run + 1);
    s->work_size = HMI_LANES * b->slots + s->code.spill_doubles;
    return status;
}

hm_status hmi_stages_compile(hmi_stages *stages, const hmi_stages_request *request)
{
    const hm_allocator *allocator = request->motion->allocator;
    builder b = {.ask = request, .stages = stages, .allocator = allocator};
    *stages = (hmi_stages){.motion = request->motion,
                           .n = request->n,
                           .width = request->width,
                           .margin = request->margin,
                           .count = request->stages,
                           .estimates = request->estimates};
    hm_status status = applies(request) ? compile(&b) : HM_OK;
    for (int i = 1; i <= HMI_MOST_STAGES; i++)
        hmi_array_release(allocator, &b.tape[i].body);
    hmi_free(allocator, b.live, b.live ? b.slots : 0);
    return status;
}

void hmi_stages_release(hmi_stages *s)
{
    if (!s->motion)
        return;
    hmi_machine_code_release(&s->code);
    hmi_free(s->motion->allocator, s->number, s->number ? s->number_count * sizeof *s->number : 0);
}

void hmi_stages_fill(const hmi_stages *s, double *work)
{
    for (size_t k = 0; k < s->number_count; k++)
        for (size_t lane = 0; lane < HMI_LANES; lane++)
            work[HMI_LANES * (s->numbers + k) + lane] = s->number[k];
}

void hmi_stages_prepare(const hmi_stages *s, const hmi_tape_values *values, size_t lane,
                        double *work)
{
    const hmi_tape_lanes motion = {.tape = s->motion};
    hmi_tape_prepare_lanes(&motion, values, work);
    const double *out = work + HMI_LANES * s->motion->output_slot + lane;
    for (int i = 1; i < s->count; i++) {
        double *row = work + HMI_LANES * (s->K + (size_t)i * s->stride) + lane;
        for (size_t k = 0; k < s->width - s->n; k++)
            row[HMI_LANES * (s->n + k)] = out[HMI_LANES * k];
        row[HMI_LANES * s->width] = out[HMI_LANES * s->margin];
    }
}
