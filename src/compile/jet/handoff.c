/* What a program hands on to the next order, as machine code: blocks of four coefficients are appended to
 * the series, the inner sums of the next order are completed, and links are followed. Nothing in this
 * order waits for these tasks. Each is emitted as early as it can be, after the instruction of the
 * second segment that computes the last of its numbers, while registers still hold them.
 * Verified: test/unit/compile/test_jet.c
 */
#include "compile/jet/emit.h"

#include <string.h>

enum { LEFT = HMI_JET_LEFT, RIGHT = HMI_JET_RIGHT };
#define NO_TASK UINT32_MAX

typedef hmi_jet_emitter emitter;
#define word hmi_jet_number

/* ---- blocks ---- */

/* r := {x_k, y_k} */
static void join_two(emitter *e, int r, uint32_t x, uint32_t y)
{
    if (x == y) {
        hmi_x86_twice(&e->x, r, hmi_jet_read(e, x + 1));
        return;
    }
    int low = hmi_jet_in_register(e, x + 1, r);
    hmi_x86_pair(&e->x, r, low, hmi_jet_read(e, y + 1));
}

/* Places of a block: the x of four pairs (even), or their y. */
static void list_block(const hmi_jet *jet, size_t i, uint32_t place[4])
{
    for (size_t lane = 0; lane < 4; lane++) {
        size_t p = i / 2 * 4 + lane;
        const hmi_jet_pair *pair = p < jet->pairs.count ? &jet->pairs.data[p] : NULL;
        place[lane] = !pair ? 2 * jet->zero_row : i % 2 == 0 ? pair->x : pair->y;
    }
}

/* r := the four numbers, by way of LEFT and RIGHT. */
static void join_four(emitter *e, int r, const uint32_t place[4])
{
    int high = RIGHT;
    join_two(e, LEFT, place[0], place[1]);
    if (place[0] == place[2] && place[1] == place[3])
        high = LEFT;
    else
        join_two(e, RIGHT, place[2], place[3]);
    hmi_x86_join(&e->x, r, LEFT, high);
}

/* Where the series of a block begins, from the first one. */
static size_t series_of(const emitter *e, size_t i)
{
    return i * 4 * (size_t)e->jet->order;
}

static hmi_x86_operand in_memory(const emitter *e, const double *numbers)
{
    return word(HMI_RDI, (size_t)(numbers - e->jet->memory));
}

/* Blocks are stored as a whole: a load of four numbers that were stored one by one would wait. */
static void keep_block(emitter *e, size_t i)
{
    uint32_t place[4];
    e->time++;
    list_block(e->jet, i, place);
    join_four(e, LEFT, place);
    hmi_x86_store_four(&e->x, word(HMI_RSI, series_of(e, i)), LEFT);
}

/* x and y of a block, and its inner sums of the next order: see inner_sums.inc. y_1 is read before it is
 * written: hmi_jet_begin_orders. */
static void keep_and_sum(emitter *e, size_t i)
{
    const hmi_jet *jet = e->jet;
    uint32_t place[2][4];
    e->time++;
    list_block(jet, 2 * i, place[0]);
    list_block(jet, 2 * i + 1, place[1]);
    int x = hmi_jet_open(e), y = hmi_jet_open(e);
    join_four(e, x, place[0]);
    join_four(e, y, place[1]);
    hmi_x86_store_four(&e->x, word(HMI_RSI, series_of(e, 2 * i)), x);
    hmi_x86_load_four(&e->x, LEFT, in_memory(e, jet->partial + 4 * i));
    e->x.four = true;
    hmi_x86_fused(&e->x, HMI_X86_FMADD231, LEFT, y,
                  in_memory(e, jet->series + series_of(e, 2 * i)));
    hmi_x86_fused(&e->x, HMI_X86_FMADD231, LEFT, x,
                  in_memory(e, jet->series + series_of(e, 2 * i + 1)));
    e->x.four = false;
    hmi_x86_store_four(&e->x, in_memory(e, jet->inner + 4 * i), LEFT);
    hmi_x86_store_four(&e->x, word(HMI_RSI, series_of(e, 2 * i + 1)), y);
    hmi_jet_leave(e, x);
    hmi_jet_leave(e, y);
}

/* ---- links ---- */

static void emit_link(emitter *e, const hmi_jet_link *link)
{
    e->time++;
    int value = hmi_jet_in_register(e, 2 * link->source + 1, LEFT);
    if (link->kind != HMI_JET_COPY_LINK) {
        hmi_x86_arithmetic(&e->x, HMI_X86_DIV, LEFT, value,
                           hmi_jet_read(e, hmi_jet_scale_number(e, HMI_JET_LINK)));
        value = LEFT;
    }
    if (link->kind == HMI_JET_MINUS_LINK)
        hmi_x86_arithmetic(&e->x, HMI_X86_MUL, LEFT, LEFT, hmi_jet_read(e, 2 * e->jet->minus_one));
    if (link->at != HMI_JET_NO_PLACE)
        hmi_x86_store(&e->x, word(HMI_RCX, link->at), value);
    if (link->row != HMI_JET_NO_PLACE && hmi_jet_is_wanted(e, 2 * link->row + 1))
        hmi_x86_store(&e->x, word(HMI_RDI, 2 * (size_t)link->row + 1), value);
}

bool hmi_jet_links_cross(const hmi_jet_program *program)
{
    for (size_t j = 0; j < program->link_count; j++)
        for (size_t i = 0; i < j; i++)
            if (program->links[j].source == program->links[i].row)
                return true;
    return false;
}

/* ---- when tasks can be done ---- */

/* Tasks are numbered: first the blocks, of which x and y are one task where they are summed at once, then
 * the links. */
static size_t blocks_of(const emitter *e, const hmi_jet_program *program)
{
    size_t parts = program->closed ? 1 : 2;
    return program->handoff ? parts * e->jet->block_count : 0;
}

static size_t links_of(const hmi_jet_program *program)
{
    return program->links_apart ? 0 : program->link_count;
}

static uint32_t later(uint32_t a, uint32_t b)
{
    return a > b ? a : b;
}

/* A block can be stored when its numbers are there; nothing may overwrite them before. */
static uint32_t place_block(emitter *e, size_t i)
{
    uint32_t place[4], when = 0;
    list_block(e->jet, i, place);
    for (int lane = 0; lane < 4; lane++)
        when = later(when, e->written[place[lane] + 1]);
    for (int lane = 0; lane < 4; lane++)
        e->accessed[place[lane] + 1] = later(e->accessed[place[lane] + 1], when);
    return when;
}

/* Sums can be completed when x and y are there and nobody reads those of this order any more. */
static uint32_t place_sum(emitter *e, size_t i)
{
    const size_t inner = (size_t)(e->jet->inner - e->jet->memory) + 4 * i;
    uint32_t when = later(place_block(e, 2 * i), place_block(e, 2 * i + 1)), place[4];
    for (size_t lane = 0; lane < 4; lane++)
        when = later(when, e->accessed[inner + lane]);
    for (size_t n = 0; n < 8; n++) {
        list_block(e->jet, 2 * i + n / 4, place);
        uint32_t number = place[n % 4] + 1;
        e->accessed[number] = later(e->accessed[number], when);
    }
    return when;
}

static uint32_t place_task(emitter *e, const hmi_jet_program *program, size_t i)
{
    return program->closed ? place_sum(e, i) : place_block(e, i);
}

/* A link can be followed when its source is there and nobody reads its row any more. */
static uint32_t place_link(emitter *e, const hmi_jet_link *link)
{
    uint32_t source = 2 * link->source + 1, when = e->written[source];
    if (link->row != HMI_JET_NO_PLACE)
        when = later(when, e->accessed[2 * (size_t)link->row + 1]);
    e->accessed[source] = later(e->accessed[source], when);
    return when;
}

static bool make_room(emitter *e, size_t tasks, size_t positions)
{
    const hm_allocator *allocator = e->jet->allocator;
    if (!hmi_array_reserve(allocator, &e->next_task, tasks + 1) ||
        !hmi_array_reserve(allocator, &e->first_task, positions))
        return false;
    e->next_task.count = tasks;
    e->first_task.count = positions;
    memset(e->first_task.data, 0xFF, positions * sizeof *e->first_task.data);
    return true;
}

void hmi_jet_place_tasks(hmi_jet_emitter *e, const hmi_jet_program *program)
{
    size_t blocks = blocks_of(e, program), tasks = blocks + links_of(program);
    if (!make_room(e, tasks, e->position + 1)) {
        e->x.failed = true;
        return;
    }
    uint32_t *when = e->next_task.data;
    for (size_t i = 0; i < tasks; i++)
        when[i] = i < blocks ? place_task(e, program, i)
                             : place_link(e, &program->links[i - blocks]);
    for (size_t i = tasks; i > 0; i--) {
        uint32_t *first = &e->first_task.data[when[i - 1]];
        e->next_task.data[i - 1] = *first;
        *first = (uint32_t)(i - 1);
    }
}

void hmi_jet_emit_tasks(hmi_jet_emitter *e, const hmi_jet_program *program)
{
    size_t blocks = blocks_of(e, program);
    if (e->first_task.count == 0) /* not placed yet */
        return;
    for (uint32_t i = e->first_task.data[e->position]; i != NO_TASK; i = e->next_task.data[i])
        if (i < blocks && program->closed)
            keep_and_sum(e, i);
        else if (i < blocks)
            keep_block(e, i);
        else
            emit_link(e, &program->links[i - blocks]);
}
