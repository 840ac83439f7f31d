/* Array code, first part: which operations there are, which products are fused into sums, what is hoisted
 * and what the late part recomputes. build.h has the state that the three parts share. */
#include "compile/array/build.h"
#include "compile/array/verify.h"
#include "compile/jit/assemble.h"

#include <string.h>

/* ---- memory ---- */

static bool fill(const hm_allocator *allocator, void **data, size_t *count, size_t *capacity,
                 size_t wanted, size_t size)
{
    if (!hmi_array_grow(allocator, data, capacity, 0, wanted + 1, size))
        return false;
    memset(*data, 0, (wanted + 1) * size);
    *count = wanted;
    return true;
}

#define FILL(b, array, wanted)                                                                     \
    fill((b)->allocator, (void **)&(b)->array.data, &(b)->array.count, &(b)->array.capacity,       \
         (wanted), sizeof *(b)->array.data)

enum { IS_OUTPUT = 1, IS_FUSED = 2, IS_NEEDED_LATE = 4 };

static bool is_hoisted(const hmi_array_code_builder *b, hmi_expr e)
{
    return !(hmi_deps(b->graph, e) & ~HMI_DEP(HMI_SYM_PARAM));
}

/* ---- reach ---- */

static hm_status reach(hmi_array_code_builder *b, const hmi_expr *outputs, size_t count)
{
    const uint16_t body = (uint16_t)~HMI_DEP(HMI_SYM_PARAM);
    hm_status status = hmi_walk_begin(&b->walk, b->graph);
    for (size_t i = 0; i < count && status == HM_OK; i++)
        status = hmi_walk_add(&b->walk, b->graph, outputs[i], body);
    if (status != HM_OK)
        return status;
    size_t nodes = b->graph->nodes.count;
    return FILL(b, place, nodes) && FILL(b, op_of, nodes) && FILL(b, uses, nodes) &&
                   FILL(b, state, nodes)
               ? HM_OK
               : HM_ERR_NOMEM;
}

/* Hoisted values that the body or an output reads are outputs of the prologue. */
static bool note_hoisted(hmi_array_code_builder *b, hmi_expr e)
{
    if (!is_hoisted(b, e) || b->place.data[e])
        return true;
    b->place.data[e] = (uint32_t)b->hoisted.count + 1;
    return hmi_array_push(b->allocator, &b->hoisted, e);
}

static bool count_uses(hmi_array_code_builder *b, const hmi_expr *outputs, size_t count)
{
    for (size_t i = 0; i < b->walk.order.count; i++) {
        hmi_expr e = b->walk.order.data[i];
        for (int k = 0; k < hmi_op_arity(hmi_op_of(b->graph, e)); k++) {
            hmi_expr operand = hmi_operand(b->graph, e, k);
            b->uses.data[operand]++;
            if (!note_hoisted(b, operand))
                return false;
        }
    }
    for (size_t i = 0; i < count; i++)
        if (outputs[i] != HMI_NONE) {
            b->uses.data[outputs[i]]++;
            if (!note_hoisted(b, outputs[i]))
                return false;
        }
    return true;
}

/* ---- fixed places ---- */

static hm_status place_hoisted(hmi_array_code_builder *b)
{
    hmi_tape *prologue = &b->code->prologue;
    hm_status status = hmi_tape_compile(prologue, b->graph, b->hoisted.data, b->hoisted.count);
    for (size_t i = 0; i < b->hoisted.count && status == HM_OK; i++)
        b->place.data[b->hoisted.data[i]] = (uint32_t)(prologue->output_slot + i) + 1;
    b->fixed_end = (uint32_t)prologue->work_size;
    return status;
}

/* One run of places a kind, from its first symbol that occurs to its last. */
static bool place_inputs(hmi_array_code_builder *b, const hmi_array_code_options *options)
{
    uint32_t first[HMI_SYM_KIND_COUNT], end[HMI_SYM_KIND_COUNT] = {0}, slot[HMI_SYM_KIND_COUNT];
    for (int kind = 0; kind < HMI_SYM_KIND_COUNT; kind++) {
        end[kind] = (uint32_t)options->whole[kind];
        first[kind] = end[kind] ? 0 : UINT32_MAX;
    }
    for (size_t i = 0; i < b->walk.order.count; i++) {
        const hmi_node *node = hmi_node_at(b->graph, b->walk.order.data[i]);
        if (node->op != HMI_SYMBOL)
            continue;
        first[node->a] = node->b < first[node->a] ? node->b : first[node->a];
        end[node->a] = node->b >= end[node->a] ? node->b + 1 : end[node->a];
    }
    for (int kind = 0; kind < HMI_SYM_KIND_COUNT; kind++) {
        slot[kind] = b->fixed_end;
        if (end[kind] == 0)
            continue;
        const hmi_tape_input input = {(hmi_symbol_kind)kind, first[kind], end[kind] - first[kind],
                                      b->fixed_end};
        b->fixed_end += input.count;
        if (!hmi_array_push(b->allocator, &b->code->inputs, input))
            return false;
    }
    for (size_t i = 0; i < b->walk.order.count; i++) {
        hmi_expr e = b->walk.order.data[i];
        const hmi_node *node = hmi_node_at(b->graph, e);
        if (node->op == HMI_SYMBOL)
            b->place.data[e] = slot[node->a] + node->b - first[node->a] + 1;
    }
    return true;
}

/* ---- operations ---- */

/* x^2 counts as x*x: it rounds alike. */
static bool is_product(const hmi_graph *g, hmi_expr e)
{
    const hmi_node *node = hmi_node_at(g, e);
    return node->op == HMI_MUL || (node->op == HMI_POWI && hmi_constant_of(g, node->b)->value == 2);
}

static bool fusable(const hmi_array_code_builder *b, hmi_expr e)
{
    return is_product(b->graph, e) && b->uses.data[e] == 1 && !is_hoisted(b, e) &&
           !(b->state.data[e] & IS_OUTPUT);
}

/* A product whose only use is a sum or difference is computed with it. The late part must not take
 * a product from the early one, so both have to belong to the same. */
static void mark_fusions(hmi_array_code_builder *b)
{
    const uint16_t late = b->code->late;
    for (size_t i = 0; i < b->walk.order.count; i++) {
        const hmi_node *node = hmi_node_at(b->graph, b->walk.order.data[i]);
        if (node->op != HMI_ADD && node->op != HMI_SUB)
            continue;
        bool is_late = node->deps & late;
        if (fusable(b, node->b) && is_late == !!(hmi_deps(b->graph, node->b) & late))
            b->state.data[node->b] |= IS_FUSED;
        else if (node->a != node->b && fusable(b, node->a) &&
                 is_late == !!(hmi_deps(b->graph, node->a) & late))
            b->state.data[node->a] |= IS_FUSED;
    }
}

static void take_product(const hmi_array_code_builder *b, hmi_expr product, hmi_array_code_op *op)
{
    const hmi_node *node = hmi_node_at(b->graph, product);
    op->operand[0] = node->a;
    op->operand[1] = node->op == HMI_MUL ? node->b : node->a;
}

static void describe(const hmi_array_code_builder *b, hmi_expr e, hmi_array_code_op *op)
{
    const hmi_node *node = hmi_node_at(b->graph, e);
    bool sum = node->op == HMI_ADD || node->op == HMI_SUB;
    bool second = sum && (b->state.data[node->b] & IS_FUSED);
    if (second || (sum && (b->state.data[node->a] & IS_FUSED))) {
        take_product(b, second ? node->b : node->a, op);
        op->operand[2] = second ? node->a : node->b;
        op->op = node->op == HMI_ADD ? HMI_TAPE_MUL_ADD
                 : second            ? HMI_TAPE_SUB_MUL
                                     : HMI_TAPE_MUL_SUB;
    } else if (is_product(b->graph, e)) {
        take_product(b, e, op);
        op->op = HMI_TAPE_FIRST_OF_TABLE + HMI_MUL;
    } else {
        op->op = (uint8_t)(HMI_TAPE_FIRST_OF_TABLE + node->op);
        for (int k = 0; k < hmi_op_arity((hmi_op)node->op); k++)
            op->operand[k] = hmi_operand(b->graph, e, k);
    }
}

static uint32_t producer_of(const hmi_array_code_builder *b, hmi_expr e, bool late)
{
    if (late && b->late_op_of.count && b->late_op_of.data[e])
        return b->late_op_of.data[e];
    return b->op_of.data[e];
}

static bool add_op(hmi_array_code_builder *b, hmi_array_code_op op)
{
    for (int k = 0; k < 3 && op.operand[k] != HMI_NONE; k++) {
        uint32_t from = producer_of(b, op.operand[k], op.late);
        if (!from)
            continue;
        const hmi_array_code_op *producer = &b->ops.data[from - 1];
        if (producer->late == op.late && producer->level >= op.level)
            op.level = producer->level + 1;
    }
    if (!hmi_array_push(b->allocator, &b->ops, op))
        return false;
    if (op.result != HMI_NONE)
        *(op.recomputed ? &b->late_op_of.data[op.result]
                        : &b->op_of.data[op.result]) = (uint32_t)b->ops.count;
    return true;
}

static bool is_op(const hmi_array_code_builder *b, hmi_expr e)
{
    return hmi_op_of(b->graph, e) != HMI_SYMBOL && !(b->state.data[e] & IS_FUSED);
}

static void mark_operands(hmi_array_code_builder *b, hmi_expr e)
{
    hmi_array_code_op op = {.operand = {HMI_NONE, HMI_NONE, HMI_NONE}};
    describe(b, e, &op);
    for (int k = 0; k < 3 && op.operand[k] != HMI_NONE; k++)
        b->state.data[op.operand[k]] |= IS_NEEDED_LATE;
}

/* The late part reads what the early one computed. Where that is more than a cache holds, and little
 * work, it is computed a second time: arithmetic is cheaper than memory. */
static bool plan_recomputation(hmi_array_code_builder *b)
{
    size_t leaving = 0, cone = 0;
    const uint16_t late = b->code->late;
    for (size_t i = b->walk.order.count; i-- > 0;) {
        hmi_expr e = b->walk.order.data[i];
        bool is_late = hmi_deps(b->graph, e) & late;
        if (is_op(b, e) && is_late)
            mark_operands(b, e);
    }
    for (size_t i = b->walk.order.count; i-- > 0;) {
        hmi_expr e = b->walk.order.data[i];
        if (is_op(b, e) && !(hmi_deps(b->graph, e) & late))
            leaving += b->state.data[e] & IS_NEEDED_LATE ? 1 : 0;
    }
    for (size_t i = b->walk.order.count; i-- > 0 && leaving > HMI_ARRAY_CODE_CACHED;) {
        hmi_expr e = b->walk.order.data[i];
        bool recomputed = is_op(b, e) && !(hmi_deps(b->graph, e) & late) &&
                          (b->state.data[e] & IS_NEEDED_LATE);
        cone += recomputed;
        if (recomputed)
            mark_operands(b, e);
    }
    if (leaving <= HMI_ARRAY_CODE_CACHED || cone > 4 * leaving)
        return true;
    return FILL(b, late_place, b->graph->nodes.count) && FILL(b, late_op_of, b->graph->nodes.count);
}

static bool add_ops(hmi_array_code_builder *b, const hmi_expr *outputs, size_t count)
{
    const hmi_array_code_op none = {.operand = {HMI_NONE, HMI_NONE, HMI_NONE},
                                    .output = HMI_ARRAY_CODE_NO_OUTPUT,
                                    .result = HMI_NONE};
    for (size_t i = 0; i < b->walk.order.count; i++) {
        hmi_array_code_op op = none;
        op.result = b->walk.order.data[i];
        if (!is_op(b, op.result))
            continue;
        op.late = hmi_deps(b->graph, op.result) & b->code->late;
        describe(b, op.result, &op);
        if (!add_op(b, op))
            return false;
        op.recomputed = !op.late && b->late_place.count &&
                        (b->state.data[op.result] & IS_NEEDED_LATE);
        op.late = true;
        if (op.recomputed && !add_op(b, op))
            return false;
    }
    for (size_t i = 0; i < count; i++) {
        if (outputs[i] == HMI_NONE || is_hoisted(b, outputs[i]))
            continue;
        uint32_t from = b->op_of.data[outputs[i]];
        if (from && b->ops.data[from - 1].output == HMI_ARRAY_CODE_NO_OUTPUT) {
            b->ops.data[from - 1].output = (uint32_t)i;
            continue;
        }
        hmi_array_code_op copy = none; /* an input, or an output for the second time */
        copy.op = HMI_TAPE_COPY;
        copy.late = hmi_deps(b->graph, outputs[i]) & b->code->late;
        copy.operand[0] = outputs[i];
        copy.output = (uint32_t)i;
        if (!add_op(b, copy))
            return false;
    }
    return true;
}

/* ---- outputs that are constant ---- */

static bool copy_hoisted(hmi_array_code_builder *b, const hmi_expr *outputs, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        if (outputs[i] == HMI_NONE || !is_hoisted(b, outputs[i]))
            continue;
        const hmi_array_code_copy copy = {(uint32_t)(b->code->output_slot + i),
                                          b->place.data[outputs[i]] - 1};
        if (!hmi_array_push(b->allocator, &b->code->copies, copy))
            return false;
    }
    return true;
}

/* ---- the whole ---- */

static hm_status build(hmi_array_code_builder *b, const hmi_expr *outputs, size_t count,
                       const hmi_array_code_options *options)
{
    hm_status status = reach(b, outputs, count);
    if (status != HM_OK)
        return status;
    for (size_t i = 0; i < count; i++)
        if (outputs[i] != HMI_NONE)
            b->state.data[outputs[i]] |= IS_OUTPUT;
    if (!count_uses(b, outputs, count))
        return HM_ERR_NOMEM;
    status = place_hoisted(b);
    if (status != HM_OK)
        return status;
    if (!place_inputs(b, options))
        return HM_ERR_NOMEM;
    mark_fusions(b);
    if (!plan_recomputation(b) || !add_ops(b, outputs, count))
        return HM_ERR_NOMEM;
    b->code->output_count = count;
    b->code->operations = b->ops.count;
    status = hmi_array_code_find_runs(b);
    if (status == HM_OK)
        status = hmi_array_code_schedule(b);
    if (status != HM_OK)
        return status;
    if (!copy_hoisted(b, outputs, count))
        return HM_ERR_NOMEM;
    HMI_VERIFY(hmi_array_code_verify_values(b->code, b->graph, b->hoisted.data, outputs, count,
                                            &(hmi_violation){.text = ""}));
    return HM_OK;
}

static void release_builder(hmi_array_code_builder *b)
{
    hmi_walk_release(&b->walk);
    hmi_array_release(b->allocator, &b->place);
    hmi_array_release(b->allocator, &b->op_of);
    hmi_array_release(b->allocator, &b->late_place);
    hmi_array_release(b->allocator, &b->late_op_of);
    hmi_array_release(b->allocator, &b->uses);
    hmi_array_release(b->allocator, &b->state);
    hmi_array_release(b->allocator, &b->hoisted);
    hmi_array_release(b->allocator, &b->ops);
    hmi_array_release(b->allocator, &b->op_at);
    hmi_array_release(b->allocator, &b->run_at);
    hmi_array_release(b->allocator, &b->runs);
}

static bool has_wide_vectors(void)
{
#if defined(__GNUC__) && defined(__x86_64__)
    return __builtin_cpu_supports("avx2");
#else
    return false;
#endif
}

hm_status hmi_array_code_compile(hmi_array_code *code, const hmi_graph *graph,
                                 const hmi_expr *outputs, size_t count,
                                 const hmi_array_code_options *options)
{
    const hmi_array_code_options none = {0};
    *code = (hmi_array_code){.allocator = graph->allocator, .late = options ? options->late : 0};
    code->wide = has_wide_vectors();
    hmi_array_code_builder b = {.code = code, .graph = graph, .allocator = graph->allocator};
    hmi_walk_init(&b.walk, b.allocator);
    hm_status status = build(&b, outputs, count, options ? options : &none);
    release_builder(&b);
    return status;
}

void hmi_array_code_release(hmi_array_code *code)
{
    if (!code->allocator)
        return;
    hmi_tape_release(&code->prologue);
    hmi_array_release(code->allocator, &code->inputs);
    hmi_array_release(code->allocator, &code->code);
    hmi_array_release(code->allocator, &code->index);
    hmi_array_release(code->allocator, &code->copies);
}

bool hmi_array_code_pays(const hmi_array_code *code)
{
    return code->code.count > 0 && code->operations >= 6 * code->code.count;
}
