/* DAG -> tape: see tape.h.
 *
 * Steps: walk the outputs depth first; give places to constants, inputs and outputs; count uses;
 * emit instructions in walk order, fusing sin with cos and a product with the sum that alone uses
 * it; take places for temporaries from a stack of free ones and return them at the last use.
 */
#include "compile/tape.h"

#include "compile/jit.h"

#include <string.h>

enum { NO_SLOT = -1 };

typedef struct compiler {
    hmi_tape *tape;
    const hmi_graph *graph;
    const hm_allocator *allocator;
    hmi_walk walk;
    /* by position in walk.order; `position` maps a node to it */
    HMI_ARRAY(uint32_t) position; /* by node, + 1; 0 = not reached */
    HMI_ARRAY(int32_t) slot;
    HMI_ARRAY(uint32_t) uses; /* still to come */
    HMI_ARRAY(uint32_t) twin; /* sin <-> cos of the same argument, position + 1 */
    HMI_ARRAY(uint8_t) state; /* bits below */
    HMI_ARRAY(uint32_t) free_slots;
    size_t next_slot, temporaries_end;
} compiler;

enum { IS_OUTPUT = 1, IS_FUSED = 2, IS_FIXED = 4, IS_DONE = 8 };

static bool fill(const hm_allocator *allocator, void **data, size_t *count, size_t *capacity,
                 size_t wanted, size_t size)
{
    if (!hmi_array_grow(allocator, data, capacity, 0, wanted, size))
        return false;
    if (wanted)
        memset(*data, 0, wanted * size);
    *count = wanted;
    return true;
}

#define FILL(c, array, wanted)                                                                     \
    fill((c)->allocator, (void **)&(c)->array.data, &(c)->array.count, &(c)->array.capacity,       \
         (wanted), sizeof *(c)->array.data)

static uint32_t position_of(const compiler *c, hmi_expr e)
{
    return c->position.data[e] - 1;
}

static uint16_t deps_of(const compiler *c, hmi_expr e)
{
    return c->graph->nodes.data[e].deps;
}

/* Depends on parameters and constants only: computed in the prologue. */
static bool is_hoisted(const compiler *c, hmi_expr e)
{
    return !(deps_of(c, e) & ~HMI_DEP(HMI_SYM_PARAM));
}

static bool is_leaf(const compiler *c, hmi_expr e)
{
    hmi_op op = hmi_op_of(c->graph, e);
    return op == HMI_CONST || op == HMI_SYMBOL;
}

/* ---- reach and number ---- */

static hm_status reach(compiler *c, const hmi_expr *outputs, size_t count)
{
    hm_status status = hmi_walk_begin(&c->walk, c->graph);
    for (size_t i = 0; i < count && status == HM_OK; i++)
        status = hmi_walk_add(&c->walk, c->graph, outputs[i], 0xFFFF);
    if (status != HM_OK)
        return status;
    size_t reached = c->walk.order.count;
    if (!FILL(c, position, c->graph->nodes.count) || !FILL(c, slot, reached) ||
        !FILL(c, uses, reached) || !FILL(c, twin, reached) || !FILL(c, state, reached))
        return HM_ERR_NOMEM;
    for (size_t i = 0; i < reached; i++) {
        c->position.data[c->walk.order.data[i]] = (uint32_t)i + 1;
        c->slot.data[i] = NO_SLOT;
    }
    return HM_OK;
}

static void count_uses(compiler *c, const hmi_expr *outputs, size_t count)
{
    for (size_t i = 0; i < c->walk.order.count; i++) {
        hmi_expr e = c->walk.order.data[i];
        for (int k = 0; k < hmi_op_arity(hmi_op_of(c->graph, e)); k++)
            c->uses.data[position_of(c, hmi_operand(c->graph, e, k))]++;
    }
    for (size_t i = 0; i < count; i++)
        if (outputs[i] != HMI_NONE)
            c->uses.data[position_of(c, outputs[i])]++; /* outputs are never recycled */
}

/* Pairs sin(x) with cos(x): the walk is scanned once, remembering one of them by argument. */
static bool pair_sines(compiler *c)
{
    HMI_ARRAY(uint32_t) seen = {0};
    if (!fill(c->allocator, (void **)&seen.data, &seen.count, &seen.capacity, c->walk.order.count,
              sizeof *seen.data))
        return false;
    for (size_t i = 0; i < c->walk.order.count; i++) {
        hmi_expr e = c->walk.order.data[i];
        hmi_op op = hmi_op_of(c->graph, e);
        if (op != HMI_SIN && op != HMI_COS)
            continue;
        uint32_t argument = position_of(c, hmi_operand(c->graph, e, 0));
        if (seen.data[argument]) {
            c->twin.data[i] = seen.data[argument];
            c->twin.data[seen.data[argument] - 1] = (uint32_t)i + 1;
        } else {
            seen.data[argument] = (uint32_t)i + 1;
        }
    }
    hmi_array_release(c->allocator, &seen);
    return true;
}

/* ---- places ---- */

static bool place_constants(compiler *c)
{
    for (size_t i = 0; i < c->walk.order.count; i++) {
        hmi_expr e = c->walk.order.data[i];
        if (hmi_op_of(c->graph, e) != HMI_CONST)
            continue;
        c->slot.data[i] = (int32_t)c->tape->constants.count;
        c->state.data[i] |= IS_FIXED;
        if (!hmi_array_push(c->allocator, &c->tape->constants, hmi_constant_of(c->graph, e)->value))
            return false;
    }
    if (c->tape->constants.count == 0 && !hmi_array_push(c->allocator, &c->tape->constants, 0.0))
        return false;
    c->next_slot = c->tape->constants.count;
    return true;
}

/* The symbols of each kind that occur: from first to before end. */
typedef struct extents {
    uint32_t first[HMI_SYM_KIND_COUNT], end[HMI_SYM_KIND_COUNT];
} extents;

static extents find_extents(const compiler *c)
{
    extents x;
    for (int kind = 0; kind < HMI_SYM_KIND_COUNT; kind++) {
        x.first[kind] = UINT32_MAX;
        x.end[kind] = 0;
    }
    for (size_t i = 0; i < c->walk.order.count; i++) {
        const hmi_node *node = hmi_node_at(c->graph, c->walk.order.data[i]);
        if (node->op != HMI_SYMBOL)
            continue;
        if (node->b < x.first[node->a])
            x.first[node->a] = node->b;
        if (node->b >= x.end[node->a])
            x.end[node->a] = node->b + 1;
    }
    return x;
}

/* One run of places a kind, from its first symbol that occurs to its last. */
static bool add_input(compiler *c, hmi_symbol_kind kind, const extents *x, uint32_t *slots)
{
    if (x->end[kind] == 0)
        return true;
    hmi_tape_input input = {kind, x->first[kind], x->end[kind] - x->first[kind],
                            (uint32_t)c->next_slot};
    slots[kind] = input.slot;
    c->next_slot += input.count;
    return hmi_array_push(c->allocator, &c->tape->inputs, input);
}

static bool place_inputs(compiler *c)
{
    const extents x = find_extents(c);
    uint32_t slots[HMI_SYM_KIND_COUNT] = {0};
    if (!add_input(c, HMI_SYM_PARAM, &x, slots))
        return false;
    c->tape->param_inputs = c->tape->inputs.count;
    for (int kind = 0; kind < HMI_SYM_KIND_COUNT; kind++)
        if (kind != HMI_SYM_PARAM && !add_input(c, (hmi_symbol_kind)kind, &x, slots))
            return false;
    for (size_t i = 0; i < c->walk.order.count; i++) {
        const hmi_node *node = hmi_node_at(c->graph, c->walk.order.data[i]);
        if (node->op != HMI_SYMBOL)
            continue;
        c->slot.data[i] = (int32_t)(slots[node->a] + node->b - x.first[node->a]);
        c->state.data[i] |= IS_FIXED;
    }
    return true;
}

static uint32_t take_slot(compiler *c)
{
    if (c->free_slots.count)
        return c->free_slots.data[--c->free_slots.count];
    return (uint32_t)c->next_slot++;
}

/* One use of an operand is over; its place is free after the last. */
static bool drop_use(compiler *c, uint32_t position)
{
    if (--c->uses.data[position] > 0 || (c->state.data[position] & (IS_FIXED | IS_OUTPUT)))
        return true;
    return hmi_array_push(c->allocator, &c->free_slots, (uint32_t)c->slot.data[position]);
}

/* ---- instructions ---- */

static bool emit(compiler *c, bool hoisted, hmi_instruction instruction)
{
    return hoisted ? hmi_array_push(c->allocator, &c->tape->prologue, instruction)
                   : hmi_array_push(c->allocator, &c->tape->body, instruction);
}

static uint32_t slot_at(const compiler *c, uint32_t position)
{
    return (uint32_t)c->slot.data[position];
}

/* Gives node i its place, unless it has one (outputs do). */
static void give_slot(compiler *c, size_t i, bool hoisted)
{
    if (c->slot.data[i] != NO_SLOT)
        return;
    if (hoisted) { /* lives for ever */
        c->slot.data[i] = (int32_t)c->next_slot++;
        c->state.data[i] |= IS_FIXED;
    } else {
        c->slot.data[i] = (int32_t)take_slot(c);
    }
}

/* A product whose only use is this sum or difference is computed with it. */
static bool fusable(const compiler *c, hmi_expr e, hmi_expr parent)
{
    uint32_t position = position_of(c, e);
    return hmi_op_of(c->graph, e) == HMI_MUL && c->uses.data[position] == 1 &&
           !(c->state.data[position] & (IS_FIXED | IS_OUTPUT | IS_DONE)) &&
           is_hoisted(c, e) == is_hoisted(c, parent);
}

/* Decides fusion before anything is emitted: the product is skipped when its turn comes. */
static void mark_fusions(compiler *c)
{
    for (size_t i = 0; i < c->walk.order.count; i++) {
        hmi_expr e = c->walk.order.data[i];
        hmi_op op = hmi_op_of(c->graph, e);
        if (op != HMI_ADD && op != HMI_SUB)
            continue;
        const hmi_node *node = hmi_node_at(c->graph, e);
        if (fusable(c, node->b, e))
            c->state.data[position_of(c, node->b)] |= IS_FUSED;
        else if (node->a != node->b && fusable(c, node->a, e))
            c->state.data[position_of(c, node->a)] |= IS_FUSED;
    }
}

static bool is_fused(const compiler *c, hmi_expr e)
{
    return c->state.data[position_of(c, e)] & IS_FUSED;
}

/* a*b + c, a*b - c, c - a*b. */
static bool emit_fused(compiler *c, size_t i, const hmi_node *node, bool hoisted)
{
    bool second = is_fused(c, node->b);
    hmi_expr product = second ? node->b : node->a, other = second ? node->a : node->b;
    const hmi_node *mul = hmi_node_at(c->graph, product);
    uint32_t a = position_of(c, mul->a), b = position_of(c, mul->b), z = position_of(c, other);
    hmi_tape_op op = node->op == HMI_ADD ? HMI_TAPE_MUL_ADD
                     : second            ? HMI_TAPE_SUB_MUL
                                         : HMI_TAPE_MUL_SUB;
    hmi_instruction instruction = {op, 0, slot_at(c, a), slot_at(c, b), slot_at(c, z)};
    if (!drop_use(c, a) || !drop_use(c, b) || !drop_use(c, z))
        return false;
    give_slot(c, i, hoisted);
    instruction.dst = slot_at(c, (uint32_t)i);
    return emit(c, hoisted, instruction);
}

/* sin and cos together, at the first of the two. */
static bool emit_sincos(compiler *c, size_t i, const hmi_node *node, bool hoisted)
{
    uint32_t argument = position_of(c, node->a), other = c->twin.data[i] - 1;
    hmi_instruction instruction = {HMI_TAPE_SINCOS, 0, slot_at(c, argument), 0, 0};
    if (!drop_use(c, argument) || !drop_use(c, argument))
        return false;
    give_slot(c, i, hoisted);
    give_slot(c, other, hoisted);
    c->state.data[other] |= IS_DONE;
    uint32_t sine = node->op == HMI_SIN ? (uint32_t)i : other;
    uint32_t cosine = node->op == HMI_SIN ? other : (uint32_t)i;
    instruction.dst = slot_at(c, sine);
    instruction.b = slot_at(c, cosine);
    return emit(c, hoisted, instruction);
}

/* Small whole powers by multiplication, as hmi_powi orders them. */
static bool emit_power(compiler *c, size_t i, const hmi_node *node, bool hoisted)
{
    uint32_t base = position_of(c, node->a), exponent = position_of(c, node->b);
    double n = hmi_constant_of(c->graph, node->b)->value;
    hmi_instruction instruction = {HMI_TAPE_FIRST_OF_TABLE + HMI_POWI, 0, slot_at(c, base),
                                   slot_at(c, exponent), 0};
    if (n == 2 || n == 3)
        instruction.op = n == 2 ? HMI_TAPE_SQUARE : HMI_TAPE_CUBE;
    if (!drop_use(c, base) || !drop_use(c, exponent))
        return false;
    give_slot(c, i, hoisted);
    instruction.dst = slot_at(c, (uint32_t)i);
    return emit(c, hoisted, instruction);
}

static bool emit_plain(compiler *c, size_t i, const hmi_node *node, bool hoisted)
{
    hmi_instruction instruction = {.op = HMI_TAPE_FIRST_OF_TABLE + node->op};
    int arity = hmi_op_arity((hmi_op)node->op);
    uint32_t operands[3] = {0};
    for (int k = 0; k < arity; k++) {
        hmi_expr operand = k == 0 ? node->a : k == 1 ? node->b : node->c;
        operands[k] = slot_at(c, position_of(c, operand));
        if (!drop_use(c, position_of(c, operand)))
            return false;
    }
    give_slot(c, i, hoisted);
    instruction.dst = slot_at(c, (uint32_t)i);
    instruction.a = operands[0];
    instruction.b = operands[1];
    instruction.c = operands[2];
    return emit(c, hoisted, instruction);
}

static bool emit_node(compiler *c, size_t i)
{
    hmi_expr e = c->walk.order.data[i];
    const hmi_node *node = hmi_node_at(c->graph, e);
    bool hoisted = is_hoisted(c, e);
    if (is_leaf(c, e) || (c->state.data[i] & (IS_FUSED | IS_DONE)))
        return true;
    if ((node->op == HMI_SIN || node->op == HMI_COS) && c->twin.data[i])
        return emit_sincos(c, i, node, hoisted);
    if ((node->op == HMI_ADD || node->op == HMI_SUB) &&
        (is_fused(c, node->a) || is_fused(c, node->b)))
        return emit_fused(c, i, node, hoisted);
    if (node->op == HMI_POWI)
        return emit_power(c, i, node, hoisted);
    return emit_plain(c, i, node, hoisted);
}

/* Outputs get their own consecutive places at the end, known only when the temporaries are
 * counted: until then output k is marked by the place OUTPUT_BASE + k. */
#define OUTPUT_BASE 0x60000000

static void place_outputs(compiler *c, const hmi_expr *outputs, size_t count)
{
    for (size_t k = 0; k < count; k++) {
        if (outputs[k] == HMI_NONE)
            continue;
        uint32_t i = position_of(c, outputs[k]);
        if (is_leaf(c, outputs[k]) || is_hoisted(c, outputs[k]) || (c->state.data[i] & IS_OUTPUT))
            continue; /* copied at the end */
        c->slot.data[i] = (int32_t)(OUTPUT_BASE + k);
        c->state.data[i] |= IS_OUTPUT;
    }
}

static bool copy_outputs(compiler *c, const hmi_expr *outputs, size_t count)
{
    for (size_t k = 0; k < count; k++) {
        hmi_instruction copy = {HMI_TAPE_COPY, (uint32_t)(OUTPUT_BASE + k), 0, 0, 0};
        if (outputs[k] == HMI_NONE)
            continue; /* hmi_tape_prepare zeroes the outputs */
        copy.a = slot_at(c, position_of(c, outputs[k]));
        bool hoisted = is_hoisted(c, outputs[k]);
        if (copy.a != copy.dst && !emit(c, hoisted, copy))
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
    count_uses(c, outputs, count);
    if (!pair_sines(c) || !place_constants(c) || !place_inputs(c))
        return HM_ERR_NOMEM;
    place_outputs(c, outputs, count);
    mark_fusions(c);
    for (size_t i = 0; i < c->walk.order.count; i++) {
        if (!emit_node(c, i))
            return HM_ERR_NOMEM;
        c->tape->node_count += !is_leaf(c, c->walk.order.data[i]) &&
                               !is_hoisted(c, c->walk.order.data[i]);
    }
    return copy_outputs(c, outputs, count) ? finish(c, count) : HM_ERR_NOMEM;
}

hm_status hmi_tape_assemble(hmi_tape *tape)
{
    if (tape->code.entry || !tape->run) /* done, or there is no such tape */
        return HM_OK;
    hm_status status = hmi_jit_compile(tape, 1, hmi_tape_interpret, &tape->code);
    if (tape->code.entry) {
        tape->run = tape->code.entry;
        tape->work_size += tape->code.spill_doubles;
    }
    return status;
}

hm_status hmi_tape_build(hmi_tape *tape, const hmi_graph *graph, const hmi_expr *outputs,
                         size_t count)
{
    *tape = (hmi_tape){.allocator = graph->allocator, .run = hmi_tape_interpret};
    compiler c = {.tape = tape, .graph = graph, .allocator = graph->allocator};
    hmi_walk_init(&c.walk, c.allocator);
    hm_status status = compile(&c, outputs, count);
    hmi_walk_release(&c.walk);
    hmi_array_release(c.allocator, &c.position);
    hmi_array_release(c.allocator, &c.slot);
    hmi_array_release(c.allocator, &c.uses);
    hmi_array_release(c.allocator, &c.twin);
    hmi_array_release(c.allocator, &c.state);
    hmi_array_release(c.allocator, &c.free_slots);
    return status;
}

hm_status hmi_tape_compile(hmi_tape *tape, const hmi_graph *graph, const hmi_expr *outputs,
                           size_t count)
{
    hm_status status = hmi_tape_build(tape, graph, outputs, count);
    return status == HM_OK && !graph->interpreted ? hmi_tape_assemble(tape) : status;
}

void hmi_tape_release(hmi_tape *tape)
{
    if (!tape->allocator)
        return;
    hmi_jit_release(&tape->code);
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
