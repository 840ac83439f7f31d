/* Which numbers of a jet are in registers (emit.h). All reads are known in advance, so that the number whose
 * next use is furthest away gives way [Belady 1966].
 * Verified: test/unit/compile/test_jet.c
 */
#include "compile/jet/emit.h"

#include <string.h>

enum { FIRST_HELD = HMI_JET_FIRST_HELD, HELD = HMI_JET_HELD };
enum { NOTHING_YET, READ, WRITTEN };
enum { DIRTY_SOONER = 8 };
#define NEVER     UINT32_MAX
#define NO_NUMBER UINT32_MAX

hmi_x86_operand hmi_jet_in_memory(const hmi_jet_emitter *e, uint32_t number)
{
    size_t scales = 2 * e->jet->constant.count;
    return e->scales_apart && number >= scales ? hmi_jet_number(HMI_RDX, number - scales)
                                               : hmi_jet_number(HMI_RDI, number);
}

/* ---- uses ---- */

bool hmi_jet_registers_init(hmi_jet_emitter *e)
{
    const hm_allocator *allocator = e->jet->allocator;
    e->numbers = hmi_jet_doubles_of_rows(e->jet) + 4 * e->jet->block_count;
    e->upcoming = hmi_alloc(allocator, 3 * e->numbers * sizeof *e->upcoming);
    e->first = hmi_alloc(allocator, e->numbers);
    if (!e->upcoming || !e->first)
        return false;
    e->written = e->upcoming + e->numbers;
    e->accessed = e->written + e->numbers;
    memset(e->upcoming, 0, 3 * e->numbers * sizeof *e->upcoming);
    memset(e->first, NOTHING_YET, e->numbers);
    memset(e->held, 0xFF, sizeof e->held);
    e->counting = true;
    return true;
}

void hmi_jet_registers_release(hmi_jet_emitter *e)
{
    const hm_allocator *allocator = e->jet->allocator;
    hmi_array_release(allocator, &e->uses);
    hmi_array_release(allocator, &e->first_task);
    hmi_array_release(allocator, &e->next_task);
    hmi_free(allocator, e->upcoming, 3 * e->numbers * sizeof *e->upcoming);
    hmi_free(allocator, e->first, e->numbers);
}

/* Uses of each number, one after the other. */
static void link_uses(hmi_jet_emitter *e)
{
    memset(e->upcoming, 0xFF, e->numbers * sizeof *e->upcoming);
    for (size_t i = e->uses.count; i > 0; i--) {
        hmi_jet_use *use = &e->uses.data[i - 1];
        use->next = e->upcoming[use->number];
        e->upcoming[use->number] = (uint32_t)(i - 1);
    }
}

void hmi_jet_registers_restart(hmi_jet_emitter *e, bool counting)
{
    e->counting = counting;
    e->time = 0;
    e->x.code.count = 0;
    if (counting)
        e->uses.count = 0;
    else
        link_uses(e);
}

static void note_first(hmi_jet_emitter *e, uint32_t number, uint8_t what)
{
    if (e->first[number] == NOTHING_YET)
        e->first[number] = what;
}

static void note_use(hmi_jet_emitter *e, uint32_t number)
{
    const hmi_jet_use use = {number, e->time, NEVER};
    note_first(e, number, READ);
    e->accessed[number] = e->position;
    if (!hmi_array_push(e->jet->allocator, &e->uses, use))
        e->x.failed = true;
}

/* The time when a number is read, at or after `from`, which is now or the next time. */
static uint32_t next_use(hmi_jet_emitter *e, uint32_t number, uint32_t from)
{
    const hmi_jet_use *uses = e->uses.data;
    uint32_t *at = &e->upcoming[number];
    while (*at != NEVER && uses[*at].time < e->time)
        *at = uses[*at].next;
    uint32_t i = *at;
    while (i != NEVER && uses[i].time < from)
        i = uses[i].next;
    return i == NEVER ? NEVER : uses[i].time;
}

/* ---- registers ---- */

static int find(const hmi_jet_emitter *e, uint32_t number)
{
    for (int i = 0; i < HELD; i++)
        if (e->held[i] == number)
            return i;
    return -1;
}

/* When the number in a register is read, from a time on. A number that is not in memory counts as if it
 * were read sooner, since spilling it costs a store and a load. */
static uint32_t read_at(hmi_jet_emitter *e, int i, uint32_t from)
{
    uint32_t time = e->held[i] == NO_NUMBER ? NEVER : next_use(e, e->held[i], from);
    return e->dirty[i] && time != NEVER ? from + (time - from) / DIRTY_SOONER : time;
}

/* The register whose number is read latest, from a time on; *until: when. */
static int latest(hmi_jet_emitter *e, uint32_t from, uint32_t *until)
{
    int found = -1;
    for (int i = 0; i < HELD; i++) {
        if (e->busy[i])
            continue;
        uint32_t time = read_at(e, i, from);
        if (found < 0 || time > *until) {
            found = i;
            *until = time;
        }
    }
    return found;
}

/* Frees a register. A number that is read again, from a time on, is spilled unless it is in memory. */
static void drop(hmi_jet_emitter *e, int i, uint32_t from)
{
    if (e->dirty[i] && next_use(e, e->held[i], from) != NEVER)
        hmi_x86_store(&e->x, hmi_jet_in_memory(e, e->held[i]), FIRST_HELD + i);
    e->held[i] = NO_NUMBER;
    e->dirty[i] = false;
}

/* A register for a number that is read again; -1: others are read sooner. */
static int room_for(hmi_jet_emitter *e, uint32_t number)
{
    uint32_t again = next_use(e, number, e->time + 1), until = 0;
    if (again == NEVER)
        return -1;
    int i = latest(e, e->time, &until);
    if (i < 0 || until <= again)
        return -1;
    drop(e, i, e->time);
    return i;
}

hmi_x86_operand hmi_jet_inner_sum(hmi_jet_emitter *e, uint32_t place)
{
    if (e->counting)
        e->accessed[place] = e->position;
    return hmi_jet_number(HMI_RDI, place);
}

hmi_x86_operand hmi_jet_read(hmi_jet_emitter *e, uint32_t number)
{
    if (e->counting) {
        note_use(e, number);
        return hmi_jet_in_memory(e, number);
    }
    int i = find(e, number);
    if (i < 0) {
        i = room_for(e, number);
        if (i < 0)
            return hmi_jet_in_memory(e, number);
        e->held[i] = number;
        hmi_x86_load_one(&e->x, FIRST_HELD + i, hmi_jet_in_memory(e, number));
    }
    return hmi_x86_register(FIRST_HELD + i);
}

int hmi_jet_in_register(hmi_jet_emitter *e, uint32_t number, int otherwise)
{
    hmi_x86_operand operand = hmi_jet_read(e, number);
    if (operand.is_register)
        return operand.number;
    hmi_x86_load_one(&e->x, otherwise, operand);
    return otherwise;
}

bool hmi_jet_is_wanted(const hmi_jet_emitter *e, uint32_t number)
{
    return e->counting || !e->closed || e->first[number] == READ;
}

static int take(hmi_jet_emitter *e, uint32_t from)
{
    uint32_t until = 0;
    int i = latest(e, from, &until);
    drop(e, i, from);
    e->busy[i] = true;
    return FIRST_HELD + i;
}

int hmi_jet_open(hmi_jet_emitter *e)
{
    return take(e, e->time);
}

int hmi_jet_result(hmi_jet_emitter *e)
{
    return take(e, e->time + 1);
}

void hmi_jet_leave(hmi_jet_emitter *e, int r)
{
    e->busy[r - FIRST_HELD] = false;
}

void hmi_jet_close(hmi_jet_emitter *e, uint32_t number, int r)
{
    int i = r - FIRST_HELD, before = find(e, number);
    e->busy[i] = false;
    if (e->counting) {
        note_first(e, number, WRITTEN);
        e->written[number] = e->accessed[number] = e->position;
        return;
    }
    if (before >= 0) {
        e->held[before] = NO_NUMBER;
        e->dirty[before] = false;
    }
    e->held[i] = number;
    e->dirty[i] = !hmi_jet_is_wanted(e, number);
    if (!e->dirty[i])
        hmi_x86_store(&e->x, hmi_jet_in_memory(e, number), r);
}
