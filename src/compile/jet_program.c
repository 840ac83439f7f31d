/* Programs of jets as machine code, one for all orders, since inner sums are found before it runs: one
 * straight line with the same bits as jet.c and jet_run.c. Registers: jet_emit.h.
 * Verified: test/unit/compile/test_jet.c
 */
#include "compile/jet_emit.h"
#include "compile/jit.h"

#include <string.h>

/* Code beyond this size would not stay in the caches. */
enum { MOST_BYTES = 1 << 20 };
enum { LEFT = HMI_JET_LEFT, RIGHT = HMI_JET_RIGHT, FIRST_HELD = HMI_JET_FIRST_HELD };

typedef hmi_jet_emitter emitter;
#define word   hmi_jet_number
#define zeroth hmi_jet_zeroth
#define scale  hmi_jet_scale_operand

/* register := register op operand */
static void apply(emitter *e, int opcode, int r, hmi_x86_operand operand)
{
    hmi_x86_arithmetic(&e->x, opcode, r, r, operand);
}

static void clear(emitter *e, int r)
{
    hmi_x86_bitwise(&e->x, HMI_X86_XOR, r, r, hmi_x86_register(r));
}

/* ---- sums ---- */

/* LEFT := value - inner sums - other terms, each summed by themselves. */
static void emit_pairs(emitter *e, const hmi_jet_list *list)
{
    enum { ENDS = FIRST_HELD };
    const hmi_jet_pair *first = e->jet->pairs.data + list->first;
    const hmi_jet_pair *end = e->jet->pairs.data + list->end;
    hmi_x86_load(&e->x, LEFT, zeroth(first->inner));
    for (const hmi_jet_pair *p = first + 1; p < end; p++)
        apply(e, HMI_X86_ADD, LEFT, zeroth(p->inner));
    int value = hmi_jet_in_register(e, list->value, RIGHT);
    hmi_x86_arithmetic(&e->x, HMI_X86_SUB, LEFT, value, hmi_x86_register(LEFT));
    hmi_jet_free_register(e, ENDS);
    clear(e, ENDS);
    for (const hmi_jet_pair *p = first; p < end; p++) {
        int x = hmi_jet_in_register(e, p->x, RIGHT);
        hmi_x86_fused(&e->x, HMI_X86_FMADD231, ENDS, x, zeroth(p->y));
    }
    apply(e, HMI_X86_SUB, LEFT, hmi_x86_register(ENDS));
}

static void emit_list(emitter *e, const hmi_jet_list *list, size_t at)
{
    int sum = LEFT;
    if (list->first < list->end)
        emit_pairs(e, list);
    else
        sum = hmi_jet_in_register(e, list->value, LEFT);
    if (list->less != HMI_JET_NO_PLACE) {
        hmi_x86_arithmetic(&e->x, HMI_X86_SUB, LEFT, sum, hmi_jet_coefficient(e, list->less));
        sum = LEFT;
    }
    if (list->rise != HMI_JET_NO_PLACE) {
        int z = hmi_jet_in_register(e, list->rise, RIGHT);
        if (sum != LEFT)
            hmi_x86_move(&e->x, false, LEFT, sum);
        hmi_x86_fused(&e->x, HMI_X86_FNMADD231, LEFT, z, scale(e, HMI_JET_RISE));
        sum = LEFT;
    }
    hmi_x86_store(&e->x, word(HMI_RDX, at), sum);
}

/* Even columns, odd columns, both: as integrate/taylor_solve.c does. */
static void emit_matrix(emitter *e, size_t size)
{
    enum { TERM = FIRST_HELD, FIRST_SUM };
    const size_t blocks = (size + 3) / 4;
    if (size == 0)
        return;
    e->x.four = true;
    for (size_t i = 0; i <= 2 * blocks; i++)
        hmi_jet_free_register(e, TERM + (int)i);
    for (size_t j = 0; j < size; j++) {
        int sum = FIRST_SUM + (int)(j % 2 * blocks);
        hmi_x86_broadcast(&e->x, TERM, word(HMI_RDX, j));
        for (size_t i = 0; i < blocks; i++) {
            hmi_x86_operand entry = word(HMI_R8, 4 * (j * blocks + i));
            if (j < 2)
                hmi_x86_arithmetic(&e->x, HMI_X86_MUL, sum + (int)i, TERM, entry);
            else
                hmi_x86_fused(&e->x, HMI_X86_FMADD231, sum + (int)i, TERM, entry);
        }
    }
    for (size_t i = 0; i < blocks; i++) {
        int sum = FIRST_SUM + (int)i;
        if (size > 1)
            apply(e, HMI_X86_ADD, sum, hmi_x86_register(sum + (int)blocks));
        hmi_x86_store_four(&e->x, word(HMI_RDX, 4 * i), sum);
    }
    e->x.four = false;
}

static void emit_given(emitter *e, const hmi_jet_program *program)
{
    for (size_t i = 0; i < program->given_count; i++) {
        uint32_t place = 2 * program->given[i];
        if (i >= program->negated) {
            clear(e, LEFT);
            hmi_jet_finish(e, place, HMI_X86_SUB, LEFT, word(HMI_RDX, i));
            continue;
        }
        int r = hmi_jet_take_register(e, place);
        hmi_x86_load(&e->x, r, word(HMI_RDX, i));
        if (program->scaled) {
            apply(e, HMI_X86_MUL, r, scale(e, HMI_JET_GIVEN));
            hmi_x86_store(&e->x, word(HMI_R9, i), r);
        }
        hmi_x86_store(&e->x, word(HMI_RDI, place + 1), r);
    }
}

/* ---- keeping, links ---- */

/* r := {x, y} */
static void join_two(emitter *e, int r, uint32_t x, uint32_t y)
{
    int low = hmi_jet_in_register(e, x, r);
    hmi_x86_pair(&e->x, r, low, hmi_jet_coefficient(e, y));
}

/* Whole blocks are stored, so that they can be loaded at once. */
static void emit_keep(emitter *e)
{
    const hmi_jet *jet = e->jet;
    const size_t width = 4 * (size_t)jet->order;
    for (size_t i = 0; i < 2 * jet->block_count; i++) {
        uint32_t place[4];
        for (size_t lane = 0; lane < 4; lane++) {
            size_t p = i / 2 * 4 + lane;
            const hmi_jet_pair *pair = p < jet->pairs.count ? &jet->pairs.data[p] : NULL;
            place[lane] = !pair ? 2 * jet->zero_row : i % 2 == 0 ? pair->x : pair->y;
        }
        join_two(e, LEFT, place[0], place[1]);
        join_two(e, RIGHT, place[2], place[3]);
        hmi_x86_join(&e->x, LEFT, LEFT, RIGHT);
        hmi_x86_store_four(&e->x, word(HMI_RSI, i * width), LEFT);
    }
    hmi_x86_zero_upper(&e->x); /* what is held are single numbers */
}

static void emit_link(emitter *e, const hmi_jet_link *link)
{
    int value = hmi_jet_in_register(e, 2 * link->source, LEFT);
    if (link->kind != HMI_JET_COPY_LINK) {
        hmi_x86_arithmetic(&e->x, HMI_X86_MUL, LEFT, value, scale(e, HMI_JET_LINK));
        value = LEFT;
    }
    if (link->kind == HMI_JET_MINUS_LINK)
        apply(e, HMI_X86_MUL, LEFT, zeroth(2 * e->jet->minus_one));
    if (link->at != HMI_JET_NO_PLACE)
        hmi_x86_store(&e->x, word(HMI_RCX, link->at), value);
    if (link->row != HMI_JET_NO_PLACE)
        hmi_x86_store(&e->x, word(HMI_RDI, 2 * (size_t)link->row + 1), value);
}

/* Is a row read after it was written? */
static bool links_cross(const hmi_jet_program *program)
{
    for (size_t j = 0; j < program->link_count; j++)
        for (size_t i = 0; i < j; i++)
            if (program->links[j].source == program->links[i].row)
                return true;
    return false;
}

/* ---- a program ---- */

static void emit_segment(emitter *e, const hmi_jet_segment *segment)
{
    for (size_t i = segment ? segment->first : 0; segment && i < segment->end; i++)
        hmi_jet_emit_instruction(e, &e->jet->code.data[i]);
}

static void emit(emitter *e, const hmi_jet_program *program)
{
    for (int i = 0; i < HMI_JET_HELD; i++)
        e->held[i] = HMI_JET_NO_PLACE;
    emit_segment(e, program->segment);
    for (size_t i = 0; i < program->list_count; i++)
        emit_list(e, &program->lists[i], i);
    emit_matrix(e, program->matrix_size);
    emit_given(e, program);
    emit_segment(e, program->second);
    if (program->keep)
        emit_keep(e);
    for (size_t i = 0; !program->links_apart && i < program->link_count; i++)
        emit_link(e, &program->links[i]);
    hmi_x86_zero_upper(&e->x);
    hmi_x86_return(&e->x);
}

hm_status hmi_jet_compile(const hmi_jet *jet, hmi_jet_program *program)
{
    emitter e = {.x = {.allocator = jet->allocator}, .jet = jet};
    size_t doubles = jet->constant.count + 8 * jet->block_count * (size_t)(jet->order + 1);
    if (!hmi_jit_available() || !jet->fused || doubles > INT32_MAX / 64)
        return HM_OK;
    program->links_apart = links_cross(program);
    emit(&e, program);
    if (!e.x.failed && e.x.code.count <= MOST_BYTES)
        hmi_jit_install(e.x.code.data, e.x.code.count, &program->code);
    if (program->code.pages) /* C has no cast from data to functions */
        memcpy(&program->entry, &program->code.pages, sizeof program->entry);
    hmi_array_release(jet->allocator, &e.x.code);
    return e.x.failed ? HM_ERR_NOMEM : HM_OK;
}

void hmi_jet_program_release(hmi_jet_program *program)
{
    hmi_jit_release(&program->code);
}
