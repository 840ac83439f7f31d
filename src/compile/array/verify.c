/* The invariants of array code, executed: see verify.h. */
#include "compile/array/verify.h"

#include "compile/tape/verify.h"

#include <string.h>

/* What a place of the work vector holds. */
enum {
    NOTHING,
    FIXED, /* constants, hoisted values, inputs */
    COMPUTED,
    HOLDING = 3,   /* mask of those above */
    BEING_READ = 4 /* by the segment that is looked at */
};

typedef struct check {
    const hmi_array_code *code;
    uint8_t *at; /* by place: as above */
    hmi_violation *violation;
} check;

/* ---- how a segment reads and writes ---- */

/* The place of element i of an operand, or of the result. */
static size_t place_of(const hmi_array_code *code, uint8_t access, uint32_t first, uint32_t i)
{
    return access == HMI_ACCESS_SCALAR ? first
           : access == HMI_ACCESS_LIST ? code->index.data[first + i]
                                       : (size_t)first + i;
}

static bool is_in_range(const hmi_array_code *code, uint8_t access, uint32_t first, uint32_t count)
{
    if (access > HMI_ACCESS_LIST)
        return false;
    if (access != HMI_ACCESS_LIST)
        return first + (access == HMI_ACCESS_SCALAR ? 1 : (size_t)count) <= code->work_size;
    if ((size_t)first + count > code->index.count)
        return false;
    for (uint32_t i = 0; i < count; i++)
        if (code->index.data[first + i] >= code->work_size)
            return false;
    return true;
}

typedef struct operand {
    uint8_t access;
    uint32_t first;
} operand;

static int operands_of(const hmi_segment *g, operand list[3])
{
    list[0] = (operand){g->a_access, g->a};
    list[1] = (operand){g->b_access, g->b};
    list[2] = (operand){g->c_access, g->c};
    return hmi_tape_op_arity(g->op);
}

/* ---- segments ---- */

static const char *check_reads(const check *c, size_t i, const hmi_segment *g)
{
    operand list[3];
    int arity = operands_of(g, list);
    if (arity < 0 || g->op == HMI_TAPE_SINCOS)
        return hmi_violated(c->violation, "segment %zu has no operation", i);
    for (int k = 0; k < arity; k++) {
        if (!is_in_range(c->code, list[k].access, list[k].first, g->count))
            return hmi_violated(c->violation, "operand %d of segment %zu is out of range", k, i);
        for (uint32_t j = 0; j < g->count; j++) {
            size_t place = place_of(c->code, list[k].access, list[k].first, j);
            if ((c->at[place] & HOLDING) == NOTHING)
                return hmi_violated(c->violation,
                                    "segment %zu reads place %zu before it is written", i, place);
            c->at[place] |= BEING_READ;
        }
    }
    return NULL;
}

/* The result lies apart from the operands, which vector units read ahead of what they write. */
static const char *check_writes(const check *c, size_t i, const hmi_segment *g)
{
    const hmi_array_code *code = c->code;
    if (g->dst_access == HMI_ACCESS_SCALAR || !is_in_range(code, g->dst_access, g->dst, g->count))
        return hmi_violated(c->violation, "the result of segment %zu is out of range", i);
    for (uint32_t j = 0; j < g->count; j++) {
        size_t place = place_of(code, g->dst_access, g->dst, j);
        if ((c->at[place] & HOLDING) == FIXED)
            return hmi_violated(c->violation,
                                "segment %zu writes place %zu, whose value has to stay", i, place);
        if (c->at[place] == COMPUTED && place >= code->output_slot)
            return hmi_violated(c->violation, "segment %zu writes output %zu again", i,
                                place - code->output_slot);
        if (c->at[place] & BEING_READ)
            return hmi_violated(c->violation, "segment %zu writes place %zu, which it reads", i,
                                place);
        c->at[place] = COMPUTED;
    }
    return NULL;
}

static void end_reads(const check *c, const hmi_segment *g)
{
    operand list[3];
    int arity = operands_of(g, list);
    for (int k = 0; k < arity; k++)
        for (uint32_t j = 0; j < g->count; j++)
            c->at[place_of(c->code, list[k].access, list[k].first, j)] &= HOLDING;
}

static const char *check_segments(const check *c, size_t first, size_t end)
{
    const char *wrong = NULL;
    for (size_t i = first; i < end && !wrong; i++) {
        const hmi_segment *g = &c->code->code.data[i];
        if (g->count == 0 || g->count > HMI_ARRAY_CODE_BLOCK)
            return hmi_violated(c->violation, "segment %zu has %d elements", i, g->count);
        wrong = check_reads(c, i, g);
        if (!wrong)
            wrong = check_writes(c, i, g);
        if (!wrong)
            end_reads(c, g);
    }
    return wrong;
}

/* ---- the layout ---- */

static const char *check_layout(const hmi_array_code *code, hmi_violation *violation)
{
    size_t next = code->prologue.work_size;
    for (size_t i = 0; i < code->inputs.count; i++) {
        if (code->inputs.data[i].slot != next || code->inputs.data[i].kind == HMI_SYM_PARAM)
            return hmi_violated(violation, "input %zu does not lie behind the one before", i);
        next += code->inputs.data[i].count;
    }
    if (code->prologue.body.count != 1)
        return hmi_violated(violation, "the prologue has a body, which nobody runs");
    if (next > code->output_slot || code->work_size != code->output_slot + code->output_count)
        return hmi_violated(violation, "the outputs do not end the work vector");
    if (code->late_code > code->code.count)
        return hmi_violated(violation, "the late part begins behind the code");
    for (size_t i = 0; i < code->copies.count; i++)
        if (code->copies.data[i].from >= code->prologue.work_size ||
            code->copies.data[i].dst < code->output_slot ||
            code->copies.data[i].dst >= code->work_size)
            return hmi_violated(violation, "copy %zu is not from the prologue to an output", i);
    return NULL;
}

/* The symbols of the late part are known only after the early one has run. */
static void mark_inputs(const check *c, bool late)
{
    for (size_t i = 0; i < c->code->inputs.count; i++) {
        const hmi_tape_input *input = &c->code->inputs.data[i];
        if (!(HMI_DEP(input->kind) & c->code->late) == !late)
            memset(c->at + input->slot, FIXED, input->count);
    }
}

static const char *check_all(const check *c)
{
    const hmi_array_code *code = c->code;
    memset(c->at, NOTHING, code->work_size);
    memset(c->at, FIXED, code->prologue.work_size);
    for (size_t i = 0; i < code->copies.count; i++)
        c->at[code->copies.data[i].dst] = FIXED;
    mark_inputs(c, false);
    const char *wrong = check_segments(c, 0, code->late_code);
    mark_inputs(c, true);
    return wrong ? wrong : check_segments(c, code->late_code, code->code.count);
}

const char *hmi_array_code_verify(const hmi_array_code *code, hmi_violation *violation)
{
    const hm_allocator allocator = hm_allocator_default();
    const char *wrong = hmi_tape_verify(&code->prologue, violation);
    if (!wrong)
        wrong = check_layout(code, violation);
    if (wrong)
        return wrong;
    const check c = {code, hmi_alloc(&allocator, code->work_size + 1), violation};
    if (!c.at)
        return NULL;
    wrong = check_all(&c);
    hmi_free(&allocator, c.at, code->work_size + 1);
    return wrong;
}

/* ---- values ---- */

static const char *replay_segment(hmi_replay *r, const hmi_array_code *code, size_t i,
                                  hmi_violation *violation)
{
    const hmi_segment *g = &code->code.data[i];
    operand list[3];
    int arity = operands_of(g, list);
    for (uint32_t j = 0; j < g->count; j++) {
        hmi_expr x[3] = {HMI_NONE, HMI_NONE, HMI_NONE};
        for (int k = 0; k < arity; k++)
            x[k] = r->at[place_of(code, list[k].access, list[k].first, j)];
        hmi_expr value = hmi_replay_value(r, g->op, x[0], x[1], x[2]);
        if (value == HMI_NONE)
            return hmi_violated(
                violation, "element %u of segment %zu computes no expression of the graph", j, i);
        r->at[place_of(code, g->dst_access, g->dst, j)] = value;
    }
    return NULL;
}

static const char *replay(hmi_replay *r, const hmi_array_code *code, const hmi_expr *hoisted,
                          const hmi_expr *outputs, size_t count, hmi_violation *violation)
{
    const char *wrong = NULL;
    for (size_t i = 0; i < code->prologue.output_count; i++)
        r->at[code->prologue.output_slot + i] = hoisted[i];
    for (size_t i = 0; i < code->copies.count; i++)
        r->at[code->copies.data[i].dst] = r->at[code->copies.data[i].from];
    hmi_replay_inputs(r, code->inputs.data, code->inputs.count);
    for (size_t i = 0; i < code->code.count && !wrong; i++)
        wrong = replay_segment(r, code, i, violation);
    for (size_t k = 0; k < count && !wrong; k++)
        if (r->at[code->output_slot + k] != outputs[k])
            wrong = hmi_violated(violation, "output %zu is not what was asked for", k);
    return wrong;
}

const char *hmi_array_code_verify_values(const hmi_array_code *code, const hmi_graph *graph,
                                         const hmi_expr *hoisted, const hmi_expr *outputs,
                                         size_t count, hmi_violation *violation)
{
    const char *wrong = hmi_array_code_verify(code, violation);
    if (wrong)
        return wrong;
    hmi_replay r;
    if (hmi_replay_init(&r, graph, outputs, count, code->work_size))
        wrong = replay(&r, code, hoisted, outputs, count, violation);
    hmi_replay_release(&r);
    return wrong;
}
