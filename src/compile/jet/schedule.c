/* What an instruction of jets reads, and the order of a segment's instructions for the interpreter:
 * independent ones, and among them equal ones, side by side. */
#include "compile/jet/code.h"

#include <string.h>

/* Takes out the places kept free that were not needed. */
static void compact(hmi_jet *jet, size_t first)
{
    size_t kept = first;
    for (size_t i = first; i < jet->code.count; i++)
        if (jet->code.data[i].op != HMI_JET_NOTHING)
            jet->code.data[kept++] = jet->code.data[i];
    jet->code.count = kept;
}

/* key[i] of instruction i: its level, one more than those of its operands at the same order, then
 * its kind. Operands that are written later are needed at lower orders only. Returns the number of
 * keys. */
static size_t find_levels(const hmi_jet *jet, size_t first, uint32_t *level, uint32_t *key)
{
    uint32_t most = 0;
    for (size_t i = first; i < jet->code.count; i++) {
        const hmi_jet_code *code = &jet->code.data[i];
        uint32_t l = level[code->a];
        l = level[code->b] > l ? level[code->b] : l;
        l = level[code->c] > l ? level[code->c] : l;
        l = level[code->dst] > l ? level[code->dst] : l; /* terms that are added to a row */
        key[i - first] = l * HMI_JET_OPS + code->op;
        level[code->dst] = l + 1;
        if (code->op == HMI_JET_SINCOS)
            level[code->c] = l + 1;
        most = key[i - first] > most ? key[i - first] : most;
    }
    return (size_t)most + 1;
}

/* Instructions of one level do not wait for each other: sorted by level (and kind, for long runs of
 * equal ones) they keep the processor busy; in the depth-first order of tapes each waits for the
 * one before. Counting sort, stable. */
static void schedule(hmi_jet *jet, size_t first)
{
    const hm_allocator *allocator = jet->allocator;
    size_t count = jet->code.count - first, rows = jet->constant.count, keys = 0;
    uint32_t *level = hmi_alloc(allocator, (rows + count + 1) * sizeof *level);
    hmi_jet_code *sorted = hmi_alloc(allocator, (count + 1) * sizeof *sorted);
    size_t *start = NULL;
    if (level && sorted) {
        memset(level, 0, (rows + count + 1) * sizeof *level);
        keys = find_levels(jet, first, level, level + rows);
        start = hmi_alloc(allocator, (keys + 1) * sizeof *start);
    }
    if (start) {
        const uint32_t *key = level + rows;
        memset(start, 0, (keys + 1) * sizeof *start);
        for (size_t i = 0; i < count; i++)
            start[key[i] + 1]++;
        for (size_t k = 0; k < keys; k++)
            start[k + 1] += start[k];
        for (size_t i = 0; i < count; i++)
            sorted[start[key[i]]++] = jet->code.data[first + i];
        if (count)
            memcpy(jet->code.data + first, sorted, count * sizeof *sorted);
    } else {
        jet->status = HM_ERR_NOMEM;
    }
    hmi_free(allocator, start, (keys + 1) * sizeof *start);
    hmi_free(allocator, sorted, (count + 1) * sizeof *sorted);
    hmi_free(allocator, level, (rows + count + 1) * sizeof *level);
}

/* ---- what an instruction reads ---- */

size_t hmi_jet_operands(const hmi_jet_code *c, uint32_t rows[3])
{
    rows[0] = c->a;
    rows[1] = c->b;
    rows[2] = c->c;
    switch ((hmi_jet_op)c->op) {
    case HMI_JET_TIMES:
    case HMI_JET_DIV:
        return 2;
    case HMI_JET_PRODUCT:
        return 3;
    case HMI_JET_INNER:
        return 0;
    case HMI_JET_INNER_PRODUCT:
        rows[0] = c->c;
        return 1;
    case HMI_JET_LINEAR:
    case HMI_JET_LINEAR_SUB:
    case HMI_JET_HALF_PRODUCT:
        rows[1] = c->c;
        return 2;
    case HMI_JET_CONST_DIV:
        rows[0] = c->b;
        return 1;
    case HMI_JET_CHAIN_ADD:
        rows[1] = c->dst;
        return 2;
    case HMI_JET_SELECT:
        rows[0] = c->b;
        rows[1] = c->c;
        return 2;
    default:
        return 1;
    }
}

size_t hmi_jet_factors(const hmi_jet_code *code, hmi_jet_pair pair[2])
{
    switch (code->op) {
    case HMI_JET_TIMES:
    case HMI_JET_PRODUCT:
    case HMI_JET_HALF:
    case HMI_JET_HALF_PRODUCT:
    case HMI_JET_INNER:
    case HMI_JET_INNER_PRODUCT:
    case HMI_JET_CHAIN:
    case HMI_JET_CHAIN_ADD:
        pair[0] = (hmi_jet_pair){code->a, code->b, 0};
        return 1;
    case HMI_JET_DIV:
    case HMI_JET_CONST_DIV:
        pair[0] = (hmi_jet_pair){code->b, code->dst, 0};
        return 1;
    case HMI_JET_SQRT:
        pair[0] = (hmi_jet_pair){code->dst, code->dst, 0};
        return 1;
    case HMI_JET_POWER:
        pair[0] = (hmi_jet_pair){code->c, code->dst, 0};
        pair[1] = (hmi_jet_pair){code->a, code->dst, 0};
        return 2;
    case HMI_JET_SINCOS:
        pair[0] = (hmi_jet_pair){code->a, code->c, 0};
        pair[1] = (hmi_jet_pair){code->a, code->dst, 0};
        return 2;
    default:
        return 0;
    }
}

void hmi_jet_convolve_code(hmi_jet *jet, hmi_jet_code *code)
{
    hmi_jet_pair pair[2];
    size_t count = hmi_jet_factors(code, pair);
    code->inner = (uint32_t)jet->pairs.count;
    for (size_t i = 0; i < count; i++)
        hmi_jet_convolve(jet, pair[i].x, pair[i].y);
}

void hmi_jet_schedule(hmi_jet *jet, size_t first)
{
    compact(jet, first);
    schedule(jet, first);
    for (size_t i = first; i < jet->code.count; i++)
        hmi_jet_convolve_code(jet, &jet->code.data[i]);
}
