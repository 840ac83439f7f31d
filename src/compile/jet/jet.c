/* The life of a jet: rows, layout of the memory, order 0, and the interpreted run of a program. */
#include "compile/jet/jet.h"

#include "compile/jet/code.h"
#include "compile/jet/verify.h"
#include "compile/jit/jit.h"
#include "expr/graph/math.h"
#include "compile/tape/machine_code.h"

#include <string.h>

/* At most so many doubles: beyond that there is no memory worth asking for. */
#define MOST_DOUBLES ((size_t)1 << 28)

/* Blocks of four that cross the lines of caches would be loaded in two pieces. */
enum { LINE = 64 };

size_t hmi_jet_doubles_of_rows(const hmi_jet *jet)
{
    size_t line = LINE / sizeof(double);
    return (2 * jet->constant.count + HMI_JET_SCALES + line - 1) / line * line;
}

static size_t doubles_of(const hmi_jet *jet)
{
    size_t order = (size_t)jet->order;
    return hmi_jet_doubles_of_rows(jet) + jet->block_count * (20 + 8 * order) +
           order * HMI_JET_SCALES;
}

static size_t bytes_of(const hmi_jet *jet)
{
    return doubles_of(jet) * sizeof *jet->memory + LINE;
}

void hmi_jet_release(hmi_jet *jet)
{
    if (!jet->allocator)
        return;
    hmi_free(jet->allocator, jet->allocation, bytes_of(jet));
    hmi_machine_code_release(&jet->inner_code);
    hmi_array_release(jet->allocator, &jet->zero);
    hmi_array_release(jet->allocator, &jet->moving);
    hmi_array_release(jet->allocator, &jet->code);
    hmi_array_release(jet->allocator, &jet->constant);
    hmi_array_release(jet->allocator, &jet->pairs);
    hmi_array_release(jet->allocator, &jet->outputs);
    hmi_array_release(jet->allocator, &jet->symbols);
    hmi_array_release(jet->allocator, &jet->source_row);
    hmi_array_release(jet->allocator, &jet->source);
    hmi_hash_release(&jet->interned);
    hmi_array_release(jet->allocator, &jet->rates);
    hmi_array_release(jet->allocator, &jet->sincos_by_rate);
    *jet = (hmi_jet){0};
}

/* ---- rows ---- */

uint32_t hmi_jet_new_row(hmi_jet *jet, bool constant)
{
    if (!hmi_array_push(jet->allocator, &jet->constant, (uint8_t)constant)) {
        jet->status = HM_ERR_NOMEM;
        return 0;
    }
    return (uint32_t)(jet->constant.count - 1);
}

uint32_t hmi_jet_row_of(hmi_jet *jet, hmi_symbol_kind kind, uint32_t index)
{
    for (size_t i = 0; i < jet->symbols.count; i++)
        if (jet->symbols.data[i].kind == kind && jet->symbols.data[i].index == index)
            return jet->symbols.data[i].row;
    const hmi_jet_symbol symbol = {kind, index, hmi_jet_new_row(jet, kind == HMI_SYM_MODE)};
    if (jet->status != HM_OK || !hmi_array_push(jet->allocator, &jet->symbols, symbol))
        jet->status = HM_ERR_NOMEM;
    return symbol.row;
}

void hmi_jet_convolve(hmi_jet *jet, uint32_t x, uint32_t y)
{
    const hmi_jet_pair pair = {x, y, (uint32_t)jet->pairs.count};
    if (!hmi_array_push(jet->allocator, &jet->pairs, pair))
        jet->status = HM_ERR_NOMEM;
}

void hmi_jet_rebind(hmi_jet *jet, hmi_jet_segment *segment, const double *work)
{
    for (size_t i = segment->first_source; i < segment->end_source; i++)
        jet->source.data[i] = work + (jet->source.data[i] - segment->work);
    segment->work = work;
}

static void add_constants(hmi_jet *jet)
{
    static const double values[4] = {0, 1, 2, -1};
    uint32_t *const rows[4] = {&jet->zero_row, &jet->one, &jet->two, &jet->minus_one};
    for (int i = 0; i < 4; i++) {
        *rows[i] = hmi_jet_new_row(jet, true);
        if (jet->status != HM_OK || !hmi_array_push(jet->allocator, &jet->source_row, *rows[i]) ||
            !hmi_array_push(jet->allocator, &jet->source, values + i))
            jet->status = HM_ERR_NOMEM;
    }
}

void hmi_jet_init(hmi_jet *jet, const hm_allocator *allocator)
{
    *jet = (hmi_jet){.allocator = allocator, .options = {true, true, true, true}, .status = HM_OK};
    hmi_hash_init(&jet->interned, allocator);
#if defined(__x86_64__) && defined(__GNUC__)
    __builtin_cpu_init();
    jet->fused = __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
    jet->vectors = jet->fused;
#endif
    add_constants(jet);
}

/* ---- memory ---- */

/* Rows -> places in memory. */
static void relocate(hmi_jet_code *code, size_t count, uint32_t factor)
{
    for (size_t i = 0; i < count; i++) {
        code[i].dst *= factor;
        code[i].a *= factor;
        code[i].b *= factor;
        code[i].c *= factor;
        code[i].p *= factor;
        code[i].q *= factor;
    }
}

/* Inner sums behind the numbers of the rows and the scales: their places are known before the jet is
 * sealed only up to that. */
static void place_inner(hmi_jet *jet)
{
    uint32_t first = (uint32_t)hmi_jet_doubles_of_rows(jet);
    for (size_t i = 0; i < jet->code.count; i++)
        jet->code.data[i].inner += first;
    for (size_t i = 0; i < jet->pairs.count; i++) {
        hmi_jet_pair *pair = &jet->pairs.data[i];
        *pair = (hmi_jet_pair){2 * pair->x, 2 * pair->y, first + pair->inner};
    }
}

static hm_status list_moving(hmi_jet *jet);

hm_status hmi_jet_seal(hmi_jet *jet, int order)
{
    size_t rows = jet->constant.count;
    if (jet->status != HM_OK)
        return jet->status;
    if (rows + jet->pairs.count > MOST_DOUBLES / (2 * (size_t)order + 6))
        return jet->status = HM_ERR_LIMIT;
    jet->order = order | 1; /* series of even length would share the sets of caches */
    jet->block_count = (jet->pairs.count + 3) / 4;
    jet->allocation = hmi_alloc(jet->allocator, bytes_of(jet));
    if (!jet->allocation)
        return jet->status = HM_ERR_NOMEM;
    jet->memory = (double *)((uint8_t *)jet->allocation +
                             (LINE - (uintptr_t)jet->allocation % LINE));
    jet->scale = jet->memory + 2 * rows;
    jet->inner = jet->memory + hmi_jet_doubles_of_rows(jet);
    jet->partial = jet->inner + 4 * jet->block_count;
    jet->ahead = jet->partial + 4 * jet->block_count;
    jet->series = jet->ahead + 12 * jet->block_count;
    jet->scales = jet->series + 8 * (size_t)jet->order * jet->block_count;
    relocate(jet->zero.data, jet->zero.count, 2);
    relocate(jet->code.data, jet->code.count, 2);
    place_inner(jet);
    hmi_hash_release(&jet->interned);
    hmi_jet_clear(jet);
    jet->status = list_moving(jet);
    if (jet->status == HM_OK)
        HMI_VERIFY(hmi_jet_verify(jet, &(hmi_violation){.text = ""}));
    return jet->status;
}

void hmi_jet_clear(hmi_jet *jet)
{
    memset(jet->memory, 0, doubles_of(jet) * sizeof *jet->memory);
    jet->unit = 0;
}

void hmi_jet_set_unit(hmi_jet *jet, double tau)
{
    double *scale = jet->scales, rate = 1 / tau; /* of a power of two: nothing is rounded */
    if (tau == jet->unit)
        return;
    jet->unit = tau;
    for (int k = 1; k <= jet->order && k <= HMI_JET_MOST_ORDER; k++, scale += HMI_JET_SCALES) {
        scale[HMI_JET_K] = k;
        scale[HMI_JET_LINK] = (k + 1) * rate;
        scale[HMI_JET_GIVEN] = k * rate;
        scale[HMI_JET_RISE] = k * rate;
        if (k < HMI_JET_MOST_ORDER)
            memcpy(&scale[HMI_JET_PART], &jet->find_part[k + 1], sizeof jet->find_part[k + 1]);
    }
}

/* y_1 is 0 until order 1 is done: otherwise x_1 y_1 would be added twice to the inner sums of order 2, from
 * both ends. */
void hmi_jet_begin_orders(const hmi_jet *jet)
{
    memset(jet->inner, 0, 4 * jet->block_count * sizeof *jet->inner);
    for (size_t i = 0; i < jet->block_count; i++)
        memset(jet->series + (2 * i + 1) * 4 * (size_t)jet->order, 0, 4 * sizeof *jet->series);
}

void hmi_jet_execute_orders(const hmi_jet *jet, const hmi_jet_program *program, int first, int end,
                            const hmi_jet_ends *ends, size_t width)
{
    double *series = jet->series + 4 * (first - 1), *next = ends->next, *now = ends->now;
    double *scale = jet->scales + HMI_JET_SCALES * (first - 1);
    for (int k = first; k < end; k++) {
        program->entry(jet->memory, series, scale, next, ends->matrix, now);
        series += 4;
        scale += HMI_JET_SCALES;
        next += width;
        now += width;
    }
}

void hmi_jet_begin(hmi_jet *jet)
{
    for (size_t i = 0; i < jet->source.count; i++)
        hmi_jet_put(jet, jet->source_row.data[i], 0, *jet->source.data[i]);
}

static double value_of(const hmi_jet_code *ip, const double *base)
{
    double x = base[ip->a], y = base[ip->b], z = base[ip->c];
    switch (ip->op) {
    case HMI_TAPE_MUL_ADD:
        return x * y + z;
    case HMI_TAPE_MUL_SUB:
        return x * y - z;
    case HMI_TAPE_SUB_MUL:
        return z - x * y;
    case HMI_JET_RECIPROCAL:
        return 1 / x;
    case HMI_JET_HALF_RECIPROCAL:
        return 1 / (x + x);
    case HMI_TAPE_FIRST_OF_TABLE + HMI_ADD:
        return x + y;
    case HMI_TAPE_FIRST_OF_TABLE + HMI_SUB:
        return x - y;
    case HMI_TAPE_FIRST_OF_TABLE + HMI_MUL:
        return x * y;
    default:
        return hmi_op_value((hmi_op)(ip->op - HMI_TAPE_FIRST_OF_TABLE), x, y, z);
    }
}

static bool has_value(const hmi_jet_code *ip)
{
    return ip->op != HMI_JET_RATE_OF;
}

static void run_zero(const hmi_jet *jet, const hmi_jet_segment *segment)
{
    double *base = jet->memory;
    for (size_t i = segment->zero_first; i < segment->zero_end; i++)
        if (has_value(&jet->zero.data[i]))
            base[jet->zero.data[i].dst] = value_of(&jet->zero.data[i], base);
}

/* The sine and the cosine of one row stand together. */
static bool is_pair(const hmi_jet_code *ip)
{
    return ip[0].op == HMI_TAPE_FIRST_OF_TABLE + HMI_SIN &&
           ip[1].op == HMI_TAPE_FIRST_OF_TABLE + HMI_COS && ip[0].a == ip[1].a;
}

void hmi_jet_run_moving(const hmi_jet *jet)
{
    double *base = jet->memory;
    if (jet->moving.count == 0)
        return; /* and there is no array */
    const hmi_jet_code *end = jet->moving.data + jet->moving.count;
    for (const hmi_jet_code *ip = jet->moving.data; ip < end; ip++) {
        if (ip + 1 < end && is_pair(ip)) {
            hmi_sincos both = hmi_math_sincos(base[ip->a]);
            base[ip->dst] = both.sine;
            base[(++ip)->dst] = both.cosine;
        } else {
            base[ip->dst] = value_of(ip, base);
        }
    }
}

static hm_status list_moving(hmi_jet *jet)
{
    for (size_t i = 0; i < jet->zero.count; i++) {
        const hmi_jet_code *code = &jet->zero.data[i];
        if (has_value(code) && !jet->constant.data[code->dst / 2] &&
            !hmi_array_push(jet->allocator, &jet->moving, *code))
            return HM_ERR_NOMEM;
    }
    return HM_OK;
}

static void hand_off(const hmi_jet *jet, int k)
{
    const double *now = jet->memory + 1;
    for (size_t i = 0; i < jet->pairs.count; i++) {
        double *x = jet->series + i / 4 * 8 * (size_t)jet->order + i % 4 + 4 * (k - 1);
        x[0] = now[jet->pairs.data[i].x];
        x[4 * jet->order] = now[jet->pairs.data[i].y];
    }
}

void hmi_jet_run(const hmi_jet *jet, const hmi_jet_segment *segment, int k)
{
    if (k == 0)
        run_zero(jet, segment);
    else
        hmi_jet_interpret(jet, segment);
}

static double link_value(const hmi_jet *jet, const hmi_jet_link *link)
{
    double x = hmi_jet_get(jet, link->source, 1);
    if (link->kind == HMI_JET_COPY_LINK)
        return x;
    x /= jet->scale[HMI_JET_LINK];
    return link->kind == HMI_JET_MINUS_LINK ? -x : x;
}

/* All are read before one is written: a row may be a source too. */
static void follow_links(const hmi_jet *jet, const hmi_jet_program *program,
                         const hmi_jet_ends *ends)
{
    for (size_t i = 0; i < program->link_count; i++)
        ends->scratch[i] = link_value(jet, &program->links[i]);
    for (size_t i = 0; i < program->link_count; i++) {
        const hmi_jet_link *link = &program->links[i];
        if (link->at != HMI_JET_NO_PLACE)
            ends->next[link->at] = ends->scratch[i];
        if (link->row != HMI_JET_NO_PLACE)
            hmi_jet_put(jet, link->row, 1, ends->scratch[i]);
    }
}

void hmi_jet_give(const hmi_jet *jet, const hmi_jet_program *program, const hmi_jet_ends *ends)
{
    for (size_t i = 0; i < program->given_count; i++) {
        double x = ends->values[i];
        if (i >= program->negated)
            x = 0 - x;
        else if (program->scaled)
            ends->now[i] = x /= jet->scale[HMI_JET_GIVEN];
        hmi_jet_put(jet, program->given[i], 1, x);
    }
}

void hmi_jet_execute_interpreted(const hmi_jet *jet, const hmi_jet_program *program, int k,
                                 const hmi_jet_ends *ends)
{
    if (program->entry) {
        follow_links(jet, program, ends);
        return;
    }
    if (program->segment)
        hmi_jet_run(jet, program->segment, k);
    if (program->list_count)
        hmi_jet_sums(jet, program->lists, program->list_count, ends->values);
    hmi_jet_give(jet, program, ends);
    if (program->second)
        hmi_jet_run(jet, program->second, k);
    if (program->handoff)
        hand_off(jet, k);
    follow_links(jet, program, ends);
}
