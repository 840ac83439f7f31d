/* From the tape's body to the order in which machine code executes: see jit.h.
 *
 * Slots become values that are assigned once. A call gives up all registers, and four calls of one
 * function cost little more than one, so calls are brought together: the level of a node counts the
 * calls on the longest way to it; phase L computes what the calls of level L need, then makes them,
 * function by function; what no call needs comes last. Within a phase the tape's depth-first order
 * stays.
 */
#include "compile/jit/jit.h"
#include "compile/jit/verify.h"

#include <math.h>
#include <string.h>

typedef struct builder {
    hmi_jit_program *program;
    const hmi_tape *tape;
    uint32_t *current; /* by slot: the value it holds */
    uint32_t *key;     /* by node */
    uint32_t last_phase;
} builder;

enum { MOST_INSTRUCTIONS = 1 << 20, MOST_SLOTS = 1 << 24 };

static bool small_enough(const hmi_tape *tape)
{
    for (size_t i = 0; i < tape->inputs.count; i++)
        if ((size_t)tape->inputs.data[i].first + tape->inputs.data[i].count > MOST_SLOTS)
            return false;
    return tape->body.count <= MOST_INSTRUCTIONS && tape->work_size <= MOST_SLOTS;
}

/* One for each slot, one or two for each instruction. */
static size_t count_values(const hmi_tape *tape)
{
    size_t count = tape->work_size + tape->body.count;
    for (size_t i = 0; i < tape->body.count; i++)
        count += tape->body.data[i].op == HMI_TAPE_SINCOS;
    return count;
}

static bool allocate(builder *b)
{
    hmi_arena *arena = &b->program->arena;
    size_t nodes = b->tape->body.count, values = count_values(b->tape);
    b->current = hmi_arena_alloc(arena, b->tape->work_size * sizeof *b->current + 1);
    b->key = hmi_arena_alloc(arena, nodes * sizeof *b->key);
    b->program->nodes = hmi_arena_alloc(arena, nodes * sizeof *b->program->nodes);
    b->program->order = hmi_arena_alloc(arena, nodes * sizeof *b->program->order);
    b->program->values = hmi_arena_alloc(arena, values * sizeof *b->program->values);
    return b->current && b->key && b->program->nodes && b->program->order && b->program->values;
}

/* ---- values ---- */

static uint32_t new_value(builder *b)
{
    hmi_jit_program *p = b->program;
    p->values[p->value_count] = (hmi_jit_value){.output = HMI_JIT_NONE, .reg = -1};
    return (uint32_t)p->value_count++;
}

/* What the slots hold before the body runs lies in the work vector, or with the caller. */
static void add_leaves(builder *b)
{
    for (size_t slot = 0; slot < b->tape->work_size; slot++) {
        uint32_t v = new_value(b);
        b->current[slot] = v;
        b->program->values[v].base = HMI_JIT_WORK;
        b->program->values[v].index = v;
    }
    for (size_t i = b->tape->param_inputs; i < b->tape->inputs.count; i++) {
        const hmi_tape_input *input = &b->tape->inputs.data[i];
        b->program->kinds |= 1u << input->kind;
        for (uint32_t k = 0; k < input->count; k++) {
            hmi_jit_value *leaf = &b->program->values[input->slot + k];
            leaf->base = (uint8_t)(HMI_JIT_INPUT + input->kind);
            leaf->index = input->first + k;
        }
    }
}

static uint32_t assign(builder *b, uint32_t slot)
{
    uint32_t v = new_value(b);
    size_t first = b->tape->output_slot;
    b->current[slot] = v;
    if (slot >= first && slot < first + b->tape->output_count)
        b->program->values[v].output = slot;
    return v;
}

/* ---- nodes ---- */

/* A whole power is multiplied out, as hmi_powi does, or given to pow. */
static void choose_power(const builder *b, const hmi_instruction *instruction, hmi_jit_node *node)
{
    double n = b->tape->constants.data[instruction->b];
    if (fabs(n) > 64)
        node->row = hmi_jit_row_at(HMI_TAPE_FIRST_OF_TABLE + HMI_POW);
    else
        node->exponent = (int8_t)n;
}

static void set_results(builder *b, const hmi_instruction *instruction, hmi_jit_node *node)
{
    node->result[0] = node->result[1] = HMI_JIT_NONE;
    if (instruction->op == HMI_TAPE_COPY) {
        node->result[0] = assign(b, instruction->dst);
    } else if (instruction->op == HMI_TAPE_SINCOS) {
        node->result[0] = assign(b, instruction->dst);
        node->result[1] = assign(b, instruction->b);
    } else {
        bool second = instruction->op == HMI_TAPE_FIRST_OF_TABLE + HMI_COS;
        node->result[second] = assign(b, instruction->dst);
    }
}

static bool add_node(builder *b, const hmi_instruction *instruction)
{
    hmi_jit_value *values = b->program->values;
    hmi_jit_node *node = &b->program->nodes[b->program->node_count++];
    const uint32_t slots[3] = {instruction->a, instruction->b, instruction->c};
    node->row = hmi_jit_row_at(instruction->op);
    if (node->row.pattern == HMI_JIT_POWER)
        choose_power(b, instruction, node);
    for (int k = 0; k < node->row.operands; k++) {
        node->operand[k] = b->current[slots[k]];
        if (values[node->operand[k]].level > node->level)
            node->level = values[node->operand[k]].level;
    }
    bool calls = node->row.pattern == HMI_JIT_CALL;
    node->level += calls;
    bool sincos = calls && node->row.opcode == HMI_JIT_SINCOS;
    b->program->sincos_count += sincos;
    b->program->has_calls |= calls && !sincos;
    if (node->level > b->last_phase)
        b->last_phase = node->level;
    set_results(b, instruction, node);
    for (int k = 0; k < 2; k++)
        if (node->result[k] != HMI_JIT_NONE)
            values[node->result[k]].level = node->level;
    return node->row.pattern != HMI_JIT_UNKNOWN;
}

/* ---- order ---- */

static uint32_t phase_of(const builder *b, const hmi_jit_node *node)
{
    uint32_t phase = b->last_phase;
    if (node->row.pattern == HMI_JIT_CALL)
        return node->level;
    for (int k = 0; k < 2; k++)
        if (node->result[k] != HMI_JIT_NONE && b->program->values[node->result[k]].need < phase)
            phase = b->program->values[node->result[k]].need;
    return phase;
}

/* Sort keys: phase, arithmetic before calls, calls by function. */
static void set_keys(builder *b)
{
    hmi_jit_value *values = b->program->values;
    b->last_phase++;
    for (size_t v = 0; v < b->program->value_count; v++)
        values[v].need = b->last_phase;
    for (size_t i = b->program->node_count; i-- > 0;) {
        const hmi_jit_node *node = &b->program->nodes[i];
        uint32_t phase = phase_of(b, node);
        unsigned call = node->row.pattern == HMI_JIT_CALL ? node->row.opcode : 0u;
        b->key[i] = phase * HMI_JIT_MOST_FUNCTIONS + call;
        for (int k = 0; k < node->row.operands; k++)
            if (phase < values[node->operand[k]].need)
                values[node->operand[k]].need = phase;
    }
}

/* Counting sort, stable. */
static bool sort_nodes(builder *b)
{
    size_t keys = ((size_t)b->last_phase + 1) * HMI_JIT_MOST_FUNCTIONS;
    uint32_t *start = hmi_arena_alloc(&b->program->arena, (keys + 1) * sizeof *start);
    if (!start)
        return false;
    for (size_t i = 0; i < b->program->node_count; i++)
        start[b->key[i] + 1]++;
    for (size_t k = 0; k < keys; k++)
        start[k + 1] += start[k];
    for (size_t i = 0; i < b->program->node_count; i++)
        b->program->order[start[b->key[i]]++] = (uint32_t)i;
    return true;
}

/* Backwards over the order: when is each operand read again? */
static void set_next_uses(hmi_jit_program *program)
{
    for (size_t v = 0; v < program->value_count; v++)
        program->values[v].next_use = program->values[v].block = HMI_JIT_NONE;
    for (size_t i = program->node_count; i-- > 0;) {
        hmi_jit_node *node = &program->nodes[program->order[i]];
        for (int k = node->row.operands; k-- > 0;) {
            hmi_jit_value *value = &program->values[node->operand[k]];
            node->next_use[k] = value->next_use;
            value->next_use = (uint32_t)i;
        }
    }
}

hm_status hmi_jit_program_build(hmi_jit_program *program, const hmi_tape *tape)
{
    builder b = {.program = program, .tape = tape};
    hmi_arena_init(&program->arena, tape->allocator);
    if (!small_enough(tape))
        return HM_ERR_LIMIT;
    if (!allocate(&b))
        return HM_ERR_NOMEM;
    add_leaves(&b);
    for (size_t i = 0; tape->body.data[i].op != HMI_TAPE_STOP; i++)
        if (!add_node(&b, &tape->body.data[i]))
            return HM_ERR_LIMIT;
    program->inline_sincos = program->sincos_count <= HMI_JIT_MOST_INLINE;
    program->has_calls |= !program->inline_sincos;
    set_keys(&b);
    if (!sort_nodes(&b))
        return HM_ERR_NOMEM;
    set_next_uses(program);
    HMI_VERIFY(hmi_jit_program_verify(program, &(hmi_violation){.text = ""}));
    return HM_OK;
}

void hmi_jit_program_release(hmi_jit_program *program)
{
    hmi_arena_release(&program->arena);
}
