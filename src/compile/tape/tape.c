/* Builds a tape from a graph.
 *
 * 1. The outputs are walked depth first. Each node is noted at its position in the walk: its operands by
 *    position, the number of its uses, and the places of constants. After that the graph is not looked
 *    at any more; the notes lie side by side in the order of their use.
 * 2. Inputs and outputs get their places.
 * 3. Instructions are emitted in the order of the walk. Sine and cosine of one argument become one
 *    instruction, and so does a product with the sum that alone uses it. Temporaries take their places
 *    from a stack of free ones and return them when their live range ends.
 */
#include "compile/tape/tape.h"

#include "compile/tape/machine_code.h"
#include "compile/tape/verify.h"

#include <string.h>

enum { NO_SLOT = -1 };
enum { IS_OUTPUT = 1, IS_FUSED = 2, IS_FIXED = 4, IS_DONE = 8, IS_HOISTED = 16 };

/* A node that is reached; other nodes are named by their positions in the walk. */
struct hmi_tape_note {
    uint32_t operand[3]; /* of a symbol: kind and index */
    uint32_t uses;       /* still to come */
    int32_t slot;
    uint32_t partner; /* sin <-> cos of the same argument; of a product the last sum; + 1 */
    uint32_t angle;   /* a sin or cos that has it for its argument, + 1 */
    uint8_t op, arity, state;
};

/* The symbols of each kind that occur: from first to before end. */
typedef struct extents {
    uint32_t first[HMI_SYM_KIND_COUNT], end[HMI_SYM_KIND_COUNT];
} extents;

typedef struct compiler {
    hmi_tape *tape;
    const hmi_graph *graph;
    const hm_allocator *allocator;
    hmi_tape_scratch *scratch;
    hmi_tape_note *notes; /* by position */
    size_t reached;
    extents symbols;
    size_t next_slot;
} compiler;

static uint32_t position_of(const compiler *c, hmi_expr e)
{
    return hmi_walk_position(&c->scratch->walk, e);
}

/* Depends on parameters and constants only: computed in the prologue. */
static bool is_hoisted(const hmi_tape_note *note)
{
    return note->state & IS_HOISTED;
}

static bool is_leaf(const hmi_tape_note *note)
{
    return note->arity == 0;
}

/* ---- notes ---- */

static bool note_constant(compiler *c, hmi_tape_note *note, hmi_expr e)
{
    note->slot = (int32_t)c->tape->constants.count;
    note->state |= IS_FIXED;
    return hmi_array_push(c->allocator, &c->tape->constants, hmi_constant_of(c->graph, e)->value);
}

static bool note_symbol(compiler *c, hmi_tape_note *note, uint32_t kind, uint32_t index)
{
    note->operand[0] = kind;
    note->operand[1] = index;
    note->state |= IS_FIXED;
    if (index < c->symbols.first[kind])
        c->symbols.first[kind] = index;
    if (index >= c->symbols.end[kind])
        c->symbols.end[kind] = index + 1;
    return hmi_array_push(c->allocator, &c->scratch->symbols, (uint32_t)c->reached);
}

/* Pairs sin(x) with cos(x): the first of them is remembered with the argument. */
static void note_sine(compiler *c, uint32_t position)
{
    hmi_tape_note *note = &c->notes[position], *argument = &c->notes[note->operand[0]];
    if (argument->angle) {
        note->partner = argument->angle;
        c->notes[argument->angle - 1].partner = position + 1;
    } else {
        argument->angle = position + 1;
    }
}

static void note_operands(compiler *c, uint32_t position, hmi_expr e)
{
    hmi_tape_note *note = &c->notes[position];
    bool sum = note->op == HMI_ADD || note->op == HMI_SUB;
    for (int k = 0; k < note->arity; k++) {
        uint32_t at = position_of(c, hmi_operand(c->graph, e, k));
        note->operand[k] = at;
        c->notes[at].uses++;
        if (sum && c->notes[at].op == HMI_MUL)
            c->notes[at].partner = position + 1;
    }
    if (note->op == HMI_SIN || note->op == HMI_COS)
        note_sine(c, position);
}

static bool note_node(compiler *c, uint32_t position)
{
    hmi_expr e = c->scratch->walk.order.data[position];
    const hmi_node *node = hmi_node_at(c->graph, e);
    hmi_tape_note *note = &c->notes[position];
    bool hoisted = !(node->deps & ~HMI_DEP(HMI_SYM_PARAM));
    *note = (hmi_tape_note){.op = node->op,
                            .arity = (uint8_t)hmi_op_arity((hmi_op)node->op),
                            .slot = NO_SLOT,
                            .state = hoisted ? IS_HOISTED : 0};
    if (node->op == HMI_CONST)
        return note_constant(c, note, e);
    if (node->op == HMI_SYMBOL)
        return note_symbol(c, note, node->a, node->b);
    note_operands(c, position, e);
    c->tape->node_count += !hoisted;
    return true;
}

/* Notes what the walk has reached since the last time. */
static bool note_nodes(compiler *c)
{
    hmi_tape_scratch *s = c->scratch;
    size_t count = s->walk.order.count;
    if (!hmi_array_grow(c->allocator, (void **)&s->notes, &s->note_capacity, c->reached,
                        count - c->reached, sizeof *s->notes))
        return false;
    c->notes = s->notes;
    for (; c->reached < count; c->reached++)
        if (!note_node(c, (uint32_t)c->reached))
            return false;
    return true;
}

static hm_status reach(compiler *c, const hmi_expr *outputs, size_t count)
{
    hmi_walk *walk = &c->scratch->walk;
    for (int kind = 0; kind < HMI_SYM_KIND_COUNT; kind++) {
        c->symbols.first[kind] = UINT32_MAX;
        c->symbols.end[kind] = 0;
    }
    hm_status status = hmi_walk_begin(walk, c->graph);
    for (size_t i = 0; i < count && status == HM_OK; i++) {
        status = hmi_walk_add(walk, c->graph, outputs[i], 0xFFFF);
        if (status == HM_OK && !note_nodes(c))
            status = HM_ERR_NOMEM;
    }
    for (size_t i = 0; i < count && status == HM_OK; i++)
        if (outputs[i] != HMI_NONE)
            c->notes[position_of(c, outputs[i])].uses++; /* outputs are never recycled */
    return status;
}

/* ---- places ---- */

/* One run of places a kind, from its first symbol that occurs to its last. */
static bool add_input(compiler *c, hmi_symbol_kind kind, uint32_t *slots)
{
    const extents *x = &c->symbols;
    if (x->end[kind] == 0)
        return true;
    hmi_tape_input input = {kind, x->first[kind], x->end[kind] - x->first[kind],
                            (uint32_t)c->next_slot};
    slots[kind] = input.slot;
    c->next_slot += input.count;
    return hmi_array_push(c->allocator, &c->tape->inputs, input);
}

static bool place_leaves(compiler *c)
{
    uint32_t slots[HMI_SYM_KIND_COUNT] = {0};
    if (c->tape->constants.count == 0 && !hmi_array_push(c->allocator, &c->tape->constants, 0.0))
        return false;
    c->next_slot = c->tape->constants.count;
    if (!add_input(c, HMI_SYM_PARAM, slots))
        return false;
    c->tape->param_inputs = c->tape->inputs.count;
    for (int kind = 0; kind < HMI_SYM_KIND_COUNT; kind++)
        if (kind != HMI_SYM_PARAM && !add_input(c, (hmi_symbol_kind)kind, slots))
            return false;
    for (size_t i = 0; i < c->scratch->symbols.count; i++) {
        hmi_tape_note *note = &c->notes[c->scratch->symbols.data[i]];
        uint32_t kind = note->operand[0], index = note->operand[1];
        note->slot = (int32_t)(slots[kind] + index - c->symbols.first[kind]);
    }
    return true;
}

static uint32_t take_slot(compiler *c)
{
    hmi_tape_scratch *s = c->scratch;
    if (s->free_slots.count)
        return s->free_slots.data[--s->free_slots.count];
    return (uint32_t)c->next_slot++;
}

/* One use of an operand is over; its place is free after the last. */
static bool drop_use(compiler *c, uint32_t position)
{
    hmi_tape_note *note = &c->notes[position];
    if (--note->uses > 0 || (note->state & (IS_FIXED | IS_OUTPUT)))
        return true;
    return hmi_array_push(c->allocator, &c->scratch->free_slots, (uint32_t)note->slot);
}

/* ---- instructions ---- */

static bool emit(compiler *c, bool hoisted, hmi_instruction instruction)
{
    return hoisted ? hmi_array_push(c->allocator, &c->tape->prologue, instruction)
                   : hmi_array_push(c->allocator, &c->tape->body, instruction);
}

static uint32_t slot_at(const compiler *c, uint32_t position)
{
    return (uint32_t)c->notes[position].slot;
}

/* Gives a node its place, unless it has one (outputs do). */
static void give_slot(compiler *c, hmi_tape_note *note)
{
    if (note->slot != NO_SLOT)
        return;
    if (is_hoisted(note)) { /* lives for ever */
        note->slot = (int32_t)c->next_slot++;
        note->state |= IS_FIXED;
    } else {
        note->slot = (int32_t)take_slot(c);
    }
}

static bool fusable(const hmi_tape_note *product, const hmi_tape_note *sum)
{
    return product->op == HMI_MUL && product->uses == 1 &&
           !(product->state & (IS_FIXED | IS_OUTPUT)) && is_hoisted(product) == is_hoisted(sum);
}

/* A product whose only use is a sum or difference is computed with it; of two in one sum the second.
 * What is reached before the first has another use. */
static bool is_fused_later(const compiler *c, uint32_t position)
{
    const hmi_tape_note *note = &c->notes[position];
    if (note->op != HMI_MUL || !note->partner)
        return false;
    const hmi_tape_note *sum = &c->notes[note->partner - 1];
    if (!fusable(note, sum))
        return false;
    uint32_t second = sum->operand[1];
    return second <= position || !fusable(&c->notes[second], sum);
}

static bool is_fused(const compiler *c, uint32_t position)
{
    return c->notes[position].state & IS_FUSED;
}

/* a*b + c, a*b - c, c - a*b. */
static bool emit_fused(compiler *c, hmi_tape_note *note)
{
    bool second = is_fused(c, note->operand[1]);
    const hmi_tape_note *product = &c->notes[note->operand[second]];
    uint32_t a = product->operand[0], b = product->operand[1], z = note->operand[!second];
    hmi_tape_op op = note->op == HMI_ADD ? HMI_TAPE_MUL_ADD
                     : second            ? HMI_TAPE_SUB_MUL
                                         : HMI_TAPE_MUL_SUB;
    hmi_instruction instruction = {op, 0, slot_at(c, a), slot_at(c, b), slot_at(c, z)};
    if (!drop_use(c, a) || !drop_use(c, b) || !drop_use(c, z))
        return false;
    give_slot(c, note);
    instruction.dst = (uint32_t)note->slot;
    return emit(c, is_hoisted(note), instruction);
}

/* sin and cos together, at the first of the two. */
static bool emit_sincos(compiler *c, hmi_tape_note *note)
{
    uint32_t argument = note->operand[0];
    hmi_tape_note *other = &c->notes[note->partner - 1];
    hmi_instruction instruction = {HMI_TAPE_SINCOS, 0, slot_at(c, argument), 0, 0};
    if (!drop_use(c, argument) || !drop_use(c, argument))
        return false;
    give_slot(c, note);
    give_slot(c, other);
    other->state |= IS_DONE;
    instruction.dst = (uint32_t)(note->op == HMI_SIN ? note : other)->slot;
    instruction.b = (uint32_t)(note->op == HMI_SIN ? other : note)->slot;
    return emit(c, is_hoisted(note), instruction);
}

/* Small whole powers by multiplication, as hmi_powi orders them. */
static uint32_t power_op(const compiler *c, uint32_t exponent)
{
    double n = c->tape->constants.data[slot_at(c, exponent)];
    return n == 2   ? HMI_TAPE_SQUARE
           : n == 3 ? HMI_TAPE_CUBE
                    : (uint32_t)HMI_TAPE_FIRST_OF_TABLE + HMI_POWI;
}

static bool emit_plain(compiler *c, hmi_tape_note *note)
{
    hmi_instruction instruction = {.op = (uint32_t)HMI_TAPE_FIRST_OF_TABLE + note->op};
    uint32_t operands[3] = {0};
    if (note->op == HMI_POWI)
        instruction.op = power_op(c, note->operand[1]);
    for (int k = 0; k < note->arity; k++) {
        operands[k] = slot_at(c, note->operand[k]);
        if (!drop_use(c, note->operand[k]))
            return false;
    }
    give_slot(c, note);
    instruction.dst = (uint32_t)note->slot;
    instruction.a = operands[0];
    instruction.b = operands[1];
    instruction.c = operands[2];
    return emit(c, is_hoisted(note), instruction);
}

static bool emit_node(compiler *c, uint32_t position)
{
    hmi_tape_note *note = &c->notes[position];
    if (is_leaf(note) || (note->state & IS_DONE))
        return true;
    if (is_fused_later(c, position)) {
        note->state |= IS_FUSED;
        return true;
    }
    if ((note->op == HMI_SIN || note->op == HMI_COS) && note->partner)
        return emit_sincos(c, note);
    if ((note->op == HMI_ADD || note->op == HMI_SUB) &&
        (is_fused(c, note->operand[0]) || is_fused(c, note->operand[1])))
        return emit_fused(c, note);
    return emit_plain(c, note);
}

/* Outputs get their own consecutive places at the end, known only when the temporaries are
 * counted: until then output k is marked by the place OUTPUT_BASE + k. */
#define OUTPUT_BASE 0x60000000

/* How many are copied at the end because they cannot be computed in place. */
static size_t place_outputs(compiler *c, const hmi_expr *outputs, size_t count)
{
    size_t copies = 0;
    for (size_t k = 0; k < count; k++) {
        if (outputs[k] == HMI_NONE)
            continue;
        hmi_tape_note *note = &c->notes[position_of(c, outputs[k])];
        if (is_leaf(note) || is_hoisted(note) || (note->state & IS_OUTPUT)) {
            copies++;
            continue;
        }
        note->slot = (int32_t)(OUTPUT_BASE + k);
        note->state |= IS_OUTPUT;
    }
    return copies;
}

static bool copy_outputs(compiler *c, const hmi_expr *outputs, size_t count)
{
    for (size_t k = 0; k < count; k++) {
        hmi_instruction copy = {HMI_TAPE_COPY, (uint32_t)(OUTPUT_BASE + k), 0, 0, 0};
        if (outputs[k] == HMI_NONE)
            continue; /* hmi_tape_prepare zeroes the outputs */
        const hmi_tape_note *note = &c->notes[position_of(c, outputs[k])];
        copy.a = (uint32_t)note->slot;
        if (copy.a != copy.dst && !emit(c, is_hoisted(note), copy))
            return false;
    }
    return true;
}

static void relocate(uint32_t *slot, size_t output_slot)
{
    if (*slot >= OUTPUT_BASE)
        *slot = (uint32_t)(*slot - OUTPUT_BASE + output_slot);
}

static void relocate_code(hmi_instruction *code, size_t count, size_t output_slot)
{
    for (size_t i = 0; i < count; i++) {
        relocate(&code[i].dst, output_slot);
        relocate(&code[i].a, output_slot);
        relocate(&code[i].b, output_slot);
        relocate(&code[i].c, output_slot);
    }
}

static hm_status finish(compiler *c, size_t count)
{
    hmi_tape *tape = c->tape;
    const hmi_instruction stop = {.op = HMI_TAPE_STOP};
    if (!emit(c, true, stop) || !emit(c, false, stop))
        return HM_ERR_NOMEM;
    tape->output_count = count;
    tape->output_slot = c->next_slot;
    tape->work_size = c->next_slot + count;
    if (tape->work_size >= OUTPUT_BASE)
        return HM_ERR_LIMIT;
    relocate_code(tape->prologue.data, tape->prologue.count, tape->output_slot);
    relocate_code(tape->body.data, tape->body.count, tape->output_slot);
    return HM_OK;
}

static hm_status compile(compiler *c, const hmi_expr *outputs, size_t count)
{
    hm_status status = reach(c, outputs, count);
    if (status != HM_OK)
        return status;
    if (!place_leaves(c))
        return HM_ERR_NOMEM;
    size_t copies = place_outputs(c, outputs, count);
    if (!hmi_array_reserve(c->allocator, &c->tape->body, c->tape->node_count + copies + 1))
        return HM_ERR_NOMEM;
    for (size_t i = 0; i < c->reached; i++)
        if (!emit_node(c, (uint32_t)i))
            return HM_ERR_NOMEM;
    return copy_outputs(c, outputs, count) ? finish(c, count) : HM_ERR_NOMEM;
}

void hmi_tape_scratch_init(hmi_tape_scratch *scratch, const hm_allocator *allocator)
{
    *scratch = (hmi_tape_scratch){0};
    hmi_walk_init(&scratch->walk, allocator);
}

void hmi_tape_scratch_release(hmi_tape_scratch *scratch)
{
    const hm_allocator *allocator = scratch->walk.allocator;
    if (!allocator)
        return;
    hmi_walk_release(&scratch->walk);
    hmi_free(allocator, scratch->notes, scratch->note_capacity * sizeof *scratch->notes);
    hmi_array_release(allocator, &scratch->symbols);
    hmi_array_release(allocator, &scratch->free_slots);
}

hm_status hmi_tape_build(hmi_tape *tape, const hmi_graph *graph, const hmi_expr *outputs,
                         size_t count, hmi_tape_scratch *scratch)
{
    *tape = (hmi_tape){.allocator = graph->allocator, .run = hmi_tape_interpret};
    compiler c = {.tape = tape, .graph = graph, .allocator = graph->allocator, .scratch = scratch};
    scratch->free_slots.count = scratch->symbols.count = 0;
    hm_status status = compile(&c, outputs, count);
    if (status == HM_OK)
        HMI_VERIFY(
            hmi_tape_verify_values(tape, graph, outputs, count, &(hmi_violation){.text = ""}));
    return status;
}

void hmi_tape_release(hmi_tape *tape)
{
    if (!tape->allocator)
        return;
    hmi_machine_code_release(&tape->code);
    hmi_array_release(tape->allocator, &tape->prologue);
    hmi_array_release(tape->allocator, &tape->body);
    hmi_array_release(tape->allocator, &tape->constants);
    hmi_array_release(tape->allocator, &tape->inputs);
}

bool hmi_tape_uses(const hmi_tape *tape, hmi_symbol_kind kind)
{
    for (size_t i = 0; i < tape->inputs.count; i++)
        if (tape->inputs.data[i].kind == kind)
            return true;
    return false;
}
