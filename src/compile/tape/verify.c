/* The invariants of a tape, executed: see verify.h. */
#include "compile/tape/verify.h"

#include <string.h>

/* What a place of the work vector holds before an instruction runs. */
typedef enum holding {
    NOTHING,
    CONSTANT,
    INPUT,
    HOISTED,   /* written by the prologue: parameters and constants only */
    TEMPORARY, /* written by the body, */
    READ       /* and read since */
} holding;

typedef struct check {
    const hmi_tape *tape;
    uint8_t *at; /* by place: holding */
    size_t places;
    hmi_violation *violation;
} check;

int hmi_tape_op_arity(uint32_t op)
{
    switch (op) {
    case HMI_TAPE_COPY:
    case HMI_TAPE_SINCOS:
    case HMI_TAPE_SQUARE:
    case HMI_TAPE_CUBE:
        return 1;
    case HMI_TAPE_MUL_ADD:
    case HMI_TAPE_MUL_SUB:
    case HMI_TAPE_SUB_MUL:
        return 3;
    default:
        if (op < HMI_TAPE_FIRST_OF_TABLE || op >= HMI_TAPE_FIRST_OF_TABLE + HMI_OP_COUNT)
            return -1;
        int arity = hmi_op_arity((hmi_op)(op - HMI_TAPE_FIRST_OF_TABLE));
        return arity > 0 ? arity : -1; /* constants and symbols are not computed */
    }
}

/* ---- the layout of the work vector ---- */

static const char *check_inputs(check *c)
{
    const hmi_tape *tape = c->tape;
    size_t next = tape->constants.count;
    if (tape->param_inputs > tape->inputs.count)
        return hmi_violated(c->violation, "the tape has fewer inputs than inputs of parameters");
    for (size_t i = 0; i < tape->inputs.count; i++) {
        const hmi_tape_input *input = &tape->inputs.data[i];
        bool first = i < tape->param_inputs;
        if ((input->kind == HMI_SYM_PARAM) != first)
            return hmi_violated(c->violation, "input %zu is on the wrong side of the parameters",
                                i);
        if (input->slot != next || input->count == 0 || next + input->count > tape->output_slot)
            return hmi_violated(c->violation, "input %zu does not lie behind the one before", i);
        next += input->count;
    }
    return NULL;
}

static const char *check_layout(check *c)
{
    const hmi_tape *tape = c->tape;
    size_t end = tape->output_slot + tape->output_count;
    if (tape->constants.count == 0 || tape->constants.count > tape->output_slot)
        return hmi_violated(c->violation, "the constants do not lie before the outputs");
    if (tape->work_size != end + tape->code.spill_doubles)
        return hmi_violated(c->violation,
                            "the work vector has %zu places, not %zu and a spill area of %zu",
                            tape->work_size, end, tape->code.spill_doubles);
    if (tape->run != (tape->code.entry ? tape->code.entry : hmi_tape_interpret))
        return hmi_violated(c->violation, "neither the machine code nor the interpreter runs");
    return check_inputs(c);
}

/* ---- instructions ---- */

static void fill(check *c, size_t first, size_t count, holding what)
{
    memset(c->at + first, what, count);
}

static const char *check_operands(check *c, const hmi_instruction *ip, size_t i, bool prologue)
{
    const uint32_t slots[3] = {ip->a, ip->b, ip->c};
    const char *part = prologue ? "prologue" : "body";
    int arity = hmi_tape_op_arity(ip->op);
    if (arity < 0)
        return hmi_violated(c->violation, "instruction %zu of the %s has no operation", i, part);
    for (int k = 0; k < arity; k++) {
        if (slots[k] >= c->places)
            return hmi_violated(c->violation, "instruction %zu of the %s reads place %u of %zu", i,
                                part, slots[k], c->places);
        if (c->at[slots[k]] == NOTHING)
            return hmi_violated(c->violation,
                                "instruction %zu of the %s reads place %u before it is written", i,
                                part, slots[k]);
        if (c->at[slots[k]] == TEMPORARY)
            c->at[slots[k]] = READ;
    }
    return NULL;
}

static bool is_output(const hmi_tape *tape, uint32_t slot)
{
    return slot >= tape->output_slot && slot - tape->output_slot < tape->output_count;
}

static const char *check_result(check *c, uint32_t slot, size_t i, bool prologue)
{
    const char *part = prologue ? "prologue" : "body";
    if (slot >= c->places)
        return hmi_violated(c->violation, "instruction %zu of the %s writes place %u of %zu", i,
                            part, slot, c->places);
    holding before = (holding)c->at[slot];
    if (before == CONSTANT || before == INPUT || before == HOISTED)
        return hmi_violated(c->violation,
                            "instruction %zu of the %s writes place %u, whose value has to stay", i,
                            part, slot);
    if (before != NOTHING && is_output(c->tape, slot))
        return hmi_violated(c->violation, "instruction %zu of the %s writes output %zu again", i,
                            part, slot - c->tape->output_slot);
    if (before == TEMPORARY)
        return hmi_violated(c->violation,
                            "instruction %zu of the %s writes place %u, which nobody has read", i,
                            part, slot);
    c->at[slot] = prologue ? HOISTED : TEMPORARY;
    return NULL;
}

static const char *check_code(check *c, const hmi_instruction *code, size_t count, bool prologue)
{
    const char *part = prologue ? "prologue" : "body", *wrong = NULL;
    if (count == 0 || code[count - 1].op != HMI_TAPE_STOP)
        return hmi_violated(c->violation, "the %s does not stop", part);
    for (size_t i = 0; i + 1 < count && !wrong; i++) {
        const hmi_instruction *ip = &code[i];
        wrong = check_operands(c, ip, i, prologue);
        if (!wrong)
            wrong = check_result(c, ip->dst, i, prologue);
        if (!wrong && ip->op == HMI_TAPE_SINCOS)
            wrong = check_result(c, ip->b, i, prologue);
    }
    return wrong;
}

static const char *check_unread(check *c)
{
    for (size_t slot = 0; slot < c->tape->output_slot; slot++)
        if (c->at[slot] == TEMPORARY)
            return hmi_violated(c->violation, "nobody reads what is left in place %zu", slot);
    return NULL;
}

/* While the prologue is looked at, only constants and parameters are there. */
static const char *check_parts(check *c)
{
    const hmi_tape *tape = c->tape;
    fill(c, 0, tape->constants.count, CONSTANT);
    for (size_t i = 0; i < tape->param_inputs; i++)
        fill(c, tape->inputs.data[i].slot, tape->inputs.data[i].count, INPUT);
    const char *wrong = check_code(c, tape->prologue.data, tape->prologue.count, true);
    for (size_t i = tape->param_inputs; i < tape->inputs.count && !wrong; i++)
        for (uint32_t k = 0; k < tape->inputs.data[i].count && !wrong; k++) {
            uint32_t slot = tape->inputs.data[i].slot + k;
            if (c->at[slot] != NOTHING)
                wrong = hmi_violated(c->violation, "the prologue writes place %u of an input",
                                     slot);
            c->at[slot] = INPUT;
        }
    if (!wrong)
        wrong = check_code(c, tape->body.data, tape->body.count, false);
    return wrong ? wrong : check_unread(c);
}

const char *hmi_tape_verify(const hmi_tape *tape, hmi_violation *violation)
{
    const hm_allocator allocator = hm_allocator_default();
    check c = {
        .tape = tape, .places = tape->output_slot + tape->output_count, .violation = violation};
    const char *wrong = check_layout(&c);
    if (wrong)
        return wrong;
    c.at = hmi_alloc(&allocator, c.places + 1);
    if (!c.at)
        return NULL;
    memset(c.at, NOTHING, c.places);
    wrong = check_parts(&c);
    hmi_free(&allocator, c.at, c.places + 1);
    return wrong;
}

/* ---- values ---- */

/* Constants have their places in the order of the walk. */
static const char *replay_constants(hmi_replay *r, const hmi_tape *tape, hmi_violation *violation)
{
    size_t next = 0;
    for (size_t i = 0; i < r->walk.order.count; i++) {
        hmi_expr e = r->walk.order.data[i];
        if (!hmi_is_const(r->graph, e))
            continue;
        double value = hmi_constant_of(r->graph, e)->value;
        if (next >= tape->constants.count ||
            memcmp(&value, &tape->constants.data[next], sizeof value) != 0)
            return hmi_violated(violation, "constant %zu of the tape is not %g", next, value);
        r->at[next++] = e;
    }
    return NULL;
}

/* False: the graph has no such expression. */
static bool replay_instruction(hmi_replay *r, const hmi_instruction *ip)
{
    const uint32_t table = HMI_TAPE_FIRST_OF_TABLE;
    int arity = hmi_tape_op_arity(ip->op);
    hmi_expr a = r->at[ip->a], b = arity > 1 ? r->at[ip->b] : HMI_NONE;
    hmi_expr c = arity > 2 ? r->at[ip->c] : HMI_NONE;
    if (ip->op != HMI_TAPE_SINCOS)
        return (r->at[ip->dst] = hmi_replay_value(r, ip->op, a, b, c)) != HMI_NONE;
    r->at[ip->dst] = hmi_replay_value(r, table + HMI_SIN, a, b, c);
    r->at[ip->b] = hmi_replay_value(r, table + HMI_COS, a, b, c);
    return r->at[ip->dst] != HMI_NONE && r->at[ip->b] != HMI_NONE;
}

static const char *replay_code(hmi_replay *r, const hmi_instruction *code, size_t count,
                               const char *part, hmi_violation *violation)
{
    for (size_t i = 0; i + 1 < count; i++)
        if (!replay_instruction(r, &code[i]))
            return hmi_violated(violation,
                                "instruction %zu of the %s computes no expression of the graph", i,
                                part);
    return NULL;
}

static const char *replay(hmi_replay *r, const hmi_tape *tape, const hmi_expr *outputs,
                          size_t count, hmi_violation *violation)
{
    const char *wrong = replay_constants(r, tape, violation);
    if (wrong)
        return wrong;
    hmi_replay_inputs(r, tape->inputs.data, tape->inputs.count);
    wrong = replay_code(r, tape->prologue.data, tape->prologue.count, "prologue", violation);
    if (!wrong)
        wrong = replay_code(r, tape->body.data, tape->body.count, "body", violation);
    for (size_t k = 0; k < count && !wrong; k++)
        if (r->at[tape->output_slot + k] != outputs[k])
            wrong = hmi_violated(violation, "output %zu is not what was asked for", k);
    return wrong;
}

const char *hmi_tape_verify_values(const hmi_tape *tape, const hmi_graph *graph,
                                   const hmi_expr *outputs, size_t count, hmi_violation *violation)
{
    const char *wrong = hmi_tape_verify(tape, violation);
    if (wrong)
        return wrong;
    if (tape->output_count != count)
        return hmi_violated(violation, "the tape has %zu outputs, not %zu", tape->output_count,
                            count);
    hmi_replay r;
    if (hmi_replay_init(&r, graph, outputs, count, tape->work_size))
        wrong = replay(&r, tape, outputs, count, violation);
    hmi_replay_release(&r);
    return wrong;
}
