/* Programs of jets as machine code. One straight line serves all orders, since inner sums are formed before
 * they are read; it has the bits of jet.c and interpreter.c. Registers are explained in emit.h.
 * Verified: test/unit/compile/test_jet.c
 */
#include "compile/jet/emit.h"
#include "compile/jet/verify.h"
#include "compile/jit/jit.h"
#include "compile/tape/machine_code.h"

#include <string.h>

/* Code beyond this size would not stay in the caches. */
enum { MOST_BYTES = 1 << 20 };
enum { LEFT = HMI_JET_LEFT, RIGHT = HMI_JET_RIGHT, MOST_SUMS = HMI_JET_MOST_MATRIX / 2 };

typedef hmi_jet_emitter emitter;
#define word hmi_jet_number

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

/* LEFT := value - inner sums - other terms. Inner sums and other terms are added up apart. */
static void emit_pairs(emitter *e, const hmi_jet_list *list)
{
    const hmi_jet_pair *first = e->jet->pairs.data + list->first;
    const hmi_jet_pair *end = e->jet->pairs.data + list->end;
    hmi_x86_load(&e->x, LEFT, hmi_jet_inner_sum(e, first->inner));
    for (const hmi_jet_pair *p = first + 1; p < end; p++)
        apply(e, HMI_X86_ADD, LEFT, hmi_jet_inner_sum(e, p->inner));
    int value = hmi_jet_in_register(e, list->value + 1, RIGHT);
    hmi_x86_arithmetic(&e->x, HMI_X86_SUB, LEFT, value, hmi_x86_register(LEFT));
    int ends = hmi_jet_open(e);
    clear(e, ends);
    for (const hmi_jet_pair *p = first; p < end; p++) {
        e->time++;
        int x = hmi_jet_in_register(e, p->x + 1, RIGHT);
        hmi_x86_fused(&e->x, HMI_X86_FMADD231, ends, x, hmi_jet_read(e, p->y));
    }
    apply(e, HMI_X86_SUB, LEFT, hmi_x86_register(ends));
    hmi_jet_leave(e, ends);
}

/* Returns the register of the sum: LEFT, or that of a coefficient. */
static int emit_list(emitter *e, const hmi_jet_list *list)
{
    int sum = LEFT;
    e->time++;
    if (list->first < list->end)
        emit_pairs(e, list);
    else
        sum = hmi_jet_in_register(e, list->value + 1, LEFT);
    if (list->less != HMI_JET_NO_PLACE) {
        hmi_x86_arithmetic(&e->x, HMI_X86_SUB, LEFT, sum, hmi_jet_read(e, list->less + 1));
        sum = LEFT;
    }
    if (list->rise != HMI_JET_NO_PLACE) {
        int z = hmi_jet_in_register(e, list->rise + 1, RIGHT);
        if (sum != LEFT)
            hmi_x86_move(&e->x, false, LEFT, sum);
        hmi_x86_fused(&e->x, HMI_X86_FNMADD231, LEFT, z,
                      hmi_jet_read(e, hmi_jet_scale_number(e, HMI_JET_RISE)));
        sum = LEFT;
    }
    return sum;
}

static void store_lists(emitter *e, const hmi_jet_program *program)
{
    for (size_t i = 0; i < program->list_count; i++)
        hmi_x86_store(&e->x, word(HMI_RDX, i), emit_list(e, &program->lists[i]));
}

/* Column j of the matrix times a sum. */
static void add_column(emitter *e, int sum, size_t j, size_t blocks, const int *total)
{
    hmi_x86_broadcast(&e->x, RIGHT, hmi_x86_register(sum));
    e->x.four = true;
    for (size_t i = 0; i < blocks; i++) {
        hmi_x86_operand entry = word(HMI_R8, 4 * (j * blocks + i));
        int to = total[j % 2 * blocks + i];
        if (j < 2)
            hmi_x86_arithmetic(&e->x, HMI_X86_MUL, to, RIGHT, entry);
        else
            hmi_x86_fused(&e->x, HMI_X86_FMADD231, to, RIGHT, entry);
    }
    e->x.four = false;
}

/* The matrix times the sums, in blocks of four that stay open. Even columns, odd columns, both: as
 * integrate/taylor/solve.c does. */
static void emit_matrix(emitter *e, const hmi_jet_program *program, int total[MOST_SUMS])
{
    const size_t size = program->matrix_size, blocks = (size + 3) / 4;
    const size_t used = size > 1 ? 2 * blocks : blocks;
    for (size_t i = 0; i < used; i++)
        total[i] = hmi_jet_open(e);
    for (size_t j = 0; j < size; j++)
        add_column(e, emit_list(e, &program->lists[j]), j, blocks, total);
    e->x.four = true;
    for (size_t i = blocks; i < used; i++) {
        apply(e, HMI_X86_ADD, total[i - blocks], hmi_x86_register(total[i]));
        hmi_jet_leave(e, total[i]);
    }
    e->x.four = false;
}

/* ---- given coefficients ---- */

static void give(emitter *e, const hmi_jet_program *program, size_t i, int r)
{
    if (program->scaled && i < program->negated)
        hmi_x86_store(&e->x, word(HMI_R9, i), r);
    hmi_jet_close(e, 2 * program->given[i] + 1, r);
}

static void give_from_memory(emitter *e, const hmi_jet_program *program)
{
    for (size_t i = 0; i < program->given_count; i++) {
        e->time++;
        int r = hmi_jet_open(e);
        if (i >= program->negated) {
            clear(e, r);
            apply(e, HMI_X86_SUB, r, word(HMI_RDX, i));
        } else {
            hmi_x86_load(&e->x, r, word(HMI_RDX, i));
            if (program->scaled)
                apply(e, HMI_X86_DIV, r, hmi_jet_read(e, hmi_jet_scale_number(e, HMI_JET_GIVEN)));
        }
        give(e, program, i, r);
    }
}

/* Some of four numbers in LEFT. */
static void give_lanes(emitter *e, const hmi_jet_program *program, size_t first, size_t end)
{
    if ((end - 1) % 4 > 1)
        hmi_x86_high_half(&e->x, RIGHT, LEFT);
    for (size_t i = first; i < end; i++) {
        e->time++;
        int r = hmi_jet_open(e), from = i % 4 > 1 ? RIGHT : LEFT;
        if (i % 2)
            hmi_x86_second(&e->x, r, from);
        else
            hmi_x86_move(&e->x, false, r, from);
        give(e, program, i, r);
    }
}

/* Four at a time: those before `negated`, which are scaled, then the others. */
static void give_block(emitter *e, const hmi_jet_program *program, size_t first, int block)
{
    size_t end = program->given_count < first + 4 ? program->given_count : first + 4;
    size_t middle = program->negated < first ? first : program->negated;
    middle = middle > end ? end : middle;
    if (first < middle) {
        if (program->scaled)
            hmi_x86_broadcast(&e->x, RIGHT,
                              hmi_jet_in_memory(e, hmi_jet_scale_number(e, HMI_JET_GIVEN)));
        e->x.four = program->scaled;
        if (program->scaled)
            hmi_x86_arithmetic(&e->x, HMI_X86_DIV, LEFT, block, hmi_x86_register(RIGHT));
        else
            hmi_x86_move(&e->x, true, LEFT, block);
        e->x.four = false;
        give_lanes(e, program, first, middle);
    }
    if (middle < end) {
        e->x.four = true;
        clear(e, RIGHT);
        hmi_x86_arithmetic(&e->x, HMI_X86_SUB, LEFT, RIGHT, hmi_x86_register(block));
        e->x.four = false;
        give_lanes(e, program, middle, end);
    }
}

static void emit_sums(emitter *e, const hmi_jet_program *program)
{
    int total[MOST_SUMS];
    if (program->matrix_size == 0) {
        store_lists(e, program);
        give_from_memory(e, program);
        return;
    }
    emit_matrix(e, program, total);
    for (size_t i = 0; i < program->given_count; i += 4)
        give_block(e, program, i, total[i / 4]);
    for (size_t i = 0; i < program->matrix_size; i += 4)
        hmi_jet_leave(e, total[i / 4]);
}

/* ---- a program ---- */

static void emit_first(emitter *e, const hmi_jet_segment *first)
{
    for (size_t i = first ? first->first : 0; first && i < first->end; i++)
        hmi_jet_emit_instruction(e, &e->jet->code.data[i]);
}

/* Handoff and links follow as soon as their numbers are there. */
static void emit_second(emitter *e, const hmi_jet_program *program)
{
    const hmi_jet_segment *second = program->second;
    size_t count = second ? second->end - second->first : 0;
    e->position = 0;
    hmi_jet_emit_tasks(e, program);
    while (e->position < count) {
        hmi_jet_emit_instruction(e, &e->jet->code.data[second->first + e->position++]);
        hmi_jet_emit_tasks(e, program);
    }
}

/* Called before registers hold anything. It uses the time in which the order before is waited for. */
static void call_part(emitter *e)
{
    hmi_x86_call_memory(&e->x, hmi_jet_in_memory(e, hmi_jet_scale_number(e, HMI_JET_PART)));
}

static void emit(emitter *e, const hmi_jet_program *program)
{
    e->position = 0;
    if (program->closed)
        call_part(e);
    emit_first(e, program->segment);
    emit_sums(e, program);
    emit_second(e, program);
    hmi_x86_zero_upper(&e->x);
    hmi_x86_return(&e->x);
}

/* What has to be known before the last emission: the positions of handoff and links, and when each
 * number is read. */
static void prepare(emitter *e, const hmi_jet_program *program)
{
    emit(e, program);
    if (e->x.failed || e->x.code.count > 2 * MOST_BYTES)
        return;
    hmi_jet_place_tasks(e, program);
    hmi_jet_registers_restart(e, true);
    if (!e->x.failed)
        emit(e, program);
}

static void emit_all(emitter *e, const hmi_jet_program *program)
{
    e->scales_apart = program->matrix_size > 0;
    e->closed = program->closed;
    if (!hmi_jet_registers_init(e)) {
        e->x.failed = true;
        return;
    }
    prepare(e, program);
    if (e->x.failed || e->first_task.count == 0)
        return;
    hmi_jet_registers_restart(e, false);
    emit(e, program);
}

static bool is_whole_order(const hmi_jet_program *program)
{
    return program->matrix_size && program->handoff;
}

hm_status hmi_jet_compile(hmi_jet *jet, hmi_jet_program *program)
{
    emitter e = {.x = {.allocator = jet->allocator}, .jet = jet};
    size_t doubles = jet->constant.count + 8 * jet->block_count * (size_t)(jet->order + 1);
    bool wanted = jet->options.whole_orders || !is_whole_order(program);
    if (!hmi_machine_code_available() || !jet->fused || doubles > INT32_MAX / 64 || !wanted)
        return HM_OK;
    HMI_VERIFY(hmi_jet_program_verify(jet, program, &(hmi_violation){.text = ""}));
    if (hmi_jet_compile_inner(jet) != HM_OK)
        return HM_ERR_NOMEM;
    program->links_apart = hmi_jet_links_cross(program);
    program->closed = program->closed && jet->options.closed && program->handoff &&
                      program->matrix_size && !program->links_apart && jet->find_part[1];
    emit_all(&e, program);
    if (!e.x.failed && e.x.code.count <= MOST_BYTES)
        hmi_machine_code_install(e.x.code.data, e.x.code.count, &program->code);
    if (program->code.pages) /* C has no cast from data to functions */
        memcpy(&program->entry, &program->code.pages, sizeof program->entry);
    hmi_jet_registers_release(&e);
    hmi_array_release(jet->allocator, &e.x.code);
    return e.x.failed ? HM_ERR_NOMEM : HM_OK;
}

void hmi_jet_program_release(hmi_jet_program *program)
{
    hmi_machine_code_release(&program->code);
}
